package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// removeTimeout is how long the guard tries to remove a folder into which dying
// processes still write.
const removeTimeout = 10 * time.Second

// Guard is a process that outlives us when we are killed, and then kills what our
// children left running and removes our folders. It hears of them through a pipe;
// the kernel closes the pipe when we are gone. All methods do nothing on nil.
type Guard struct {
	cmd  *exec.Cmd
	pipe io.WriteCloser
}

// StartGuard starts a program that calls RunGuard with its standard input.
func StartGuard(path string, args ...string) (*Guard, error) {
	// No context: it ends on its own, and must not end before us.
	cmd := exec.CommandContext(context.Background(), path, args...)
	// In a process group of its own a Ctrl-C at the terminal doesn't reach it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Dir = os.TempDir() // it must not hold on to any other folder
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("making the guard's pipe: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the guard: %w", err)
	}
	return &Guard{cmd: cmd, pipe: pipe}, nil
}

// Folder makes the guard remove a folder when we are gone.
func (g *Guard) Folder(path string) { g.tell("folder", path) }

func (g *Guard) watch(pid int)  { g.tell("watch", strconv.Itoa(pid)) }
func (g *Guard) forget(pid int) { g.tell("forget", strconv.Itoa(pid)) }

// tell may fail only when the guard was killed; then we continue without one.
func (g *Guard) tell(what, value string) {
	if g != nil {
		_, _ = fmt.Fprintf(g.pipe, "%s %q\n", what, value) // one write, so lines don't mix
	}
}

// Dismiss ends the guard after it has done what is left to do.
func (g *Guard) Dismiss() error {
	if g == nil {
		return nil
	}
	if err := errors.Join(g.pipe.Close(), g.cmd.Wait()); err != nil {
		return fmt.Errorf("dismissing the guard: %w", err)
	}
	return nil
}

// RunGuard listens until the other end of the pipe is closed, and cleans up then.
func RunGuard(pipe io.Reader) error {
	groups, folders := map[int]bool{}, map[string]bool{}
	lines := bufio.NewScanner(pipe)
	for lines.Scan() {
		what, quoted, _ := strings.Cut(lines.Text(), " ")
		value, err := strconv.Unquote(quoted)
		if err != nil {
			continue // the last line of a process that was killed while writing it
		}
		pid, _ := strconv.Atoi(value)
		switch what {
		case "folder":
			folders[value] = true
		case "watch":
			groups[pid] = true
		case "forget":
			delete(groups, pid)
		}
	}
	for pid := range groups {
		if pid > 1 {
			_ = syscall.Kill(-pid, syscall.SIGKILL) // gone already, most of the time
		}
	}
	var errs []error
	for _, path := range slices.Sorted(maps.Keys(folders)) {
		errs = append(errs, removeSoon(path))
	}
	return errors.Join(errs...)
}

func removeSoon(path string) error {
	var last error
	err := wait.PollUntilContextTimeout(context.Background(), 50*time.Millisecond, removeTimeout, true, func(context.Context) (bool, error) {
		last = os.RemoveAll(path)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("removing %s: %w", path, last)
	}
	return nil
}
