package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
)

// stopTimeout is how long a component may take to end by itself. The API server
// would wait a minute for open watches; killing it loses nothing, as its data
// are thrown away.
const stopTimeout = 2 * time.Second

// processes are children that end with us, however we end.
type processes struct {
	// spawn runs functions on one thread. On Linux a child dies with the thread
	// that started it and not with the process, so that thread has to stay.
	spawn chan func()

	mu      sync.Mutex
	running []*process
}

type process struct {
	name, logFile string
	cmd           *exec.Cmd
	// ended is closed when the process is gone; err says how, and is set before.
	ended chan struct{}
	err   error
}

func newProcesses() *processes {
	p := &processes{spawn: make(chan func())}
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for start := range p.spawn {
			start()
		}
	}()
	return p
}

func (p *processes) start(binary string, flags []string, dir, logDir string) (*process, error) {
	name := filepath.Base(binary)
	child := &process{name: name, logFile: filepath.Join(logDir, name+".log"), ended: make(chan struct{})}
	log, err := os.Create(child.logFile)
	if err != nil {
		return nil, fmt.Errorf("making the log of %s: %w", name, err)
	}
	defer log.Close()
	// No caller's context: a child ends with stop, in order.
	child.cmd = exec.CommandContext(context.Background(), binary, flags...)
	child.cmd.Dir, child.cmd.Stdout, child.cmd.Stderr = dir, log, log
	child.cmd.SysProcAttr = childAttributes()

	started := make(chan error)
	p.spawn <- func() { started <- child.cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go func() {
		child.err = child.cmd.Wait()
		close(child.ended)
	}()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = append(p.running, child)
	return child, nil
}

// stop ends the children, last started first: none should wait for one that it
// needs and that is gone.
func (p *processes) stop() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, child := range slices.Backward(p.running) {
		errs = append(errs, child.stop())
	}
	p.running = nil
	close(p.spawn)
	return errors.Join(errs...)
}

func (c *process) stop() error {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		select {
		case <-c.ended:
			return nil
		default:
		}
		if err := c.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("stopping %s: %w", c.name, err)
		}
		select {
		case <-c.ended:
			return nil
		case <-time.After(stopTimeout):
		}
	}
	return fmt.Errorf("stopping %s: process %d is still there", c.name, c.cmd.Process.Pid)
}

// logTail returns the last lines of the child's log.
func (c *process) logTail() string {
	const lines = 15
	content, err := os.ReadFile(c.logFile)
	if err != nil {
		return err.Error()
	}
	all := bytes.Split(bytes.TrimSpace(content), []byte("\n"))
	return string(bytes.Join(all[max(0, len(all)-lines):], []byte("\n")))
}
