package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// watchParents ends us when the processes are gone that could end us: "go run" passes no
// SIGTERM on and leaves us running when it is killed, and so does make.
func watchParents(ctx context.Context, cancel context.CancelCauseFunc, pid int) {
	parent := os.Getppid()
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		switch {
		case os.Getppid() != parent:
			cancel(fmt.Errorf("%w: the process that started the playground has ended", errInterrupted))
		case pid != 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH):
			cancel(fmt.Errorf("%w: process %d has ended", errInterrupted, pid))
		}
	}
}
