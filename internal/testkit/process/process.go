// Package process runs programs as children that end with us, however we end:
// in order with Stop, by the kernel or the guard when we are killed.
package process

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
)

const (
	// stopTimeout is how long a child may usually take to end when it is asked to.
	stopTimeout = 5 * time.Second
	// killTimeout is how long the kernel may take with one that was killed: a loaded machine takes its time with the
	// memory of a big one.
	killTimeout = 2 * time.Minute
	// outputTimeout is how long grandchildren may keep a child's output open after its end.
	outputTimeout = 2 * time.Second
)

// Command says what to run.
type Command struct {
	// Name is used in errors; the file name of Path if empty.
	Name string
	Path string
	Args []string
	// Dir is where it runs; here if empty.
	Dir string
	// Env is its whole environment; ours if nil.
	Env []string
	// Stdin is empty if nil.
	Stdin io.Reader
	// LogFile is created and takes all output, unless it is empty.
	LogFile string
	// Stdout and Stderr take the output when there is no LogFile.
	Stdout, Stderr io.Writer
	// Credential is the user it runs as; ours if nil.
	Credential *syscall.Credential
	// StopTimeout is how long it may take to end when it is asked to; 5 s if zero.
	StopTimeout time.Duration
}

// Group is a set of children. Its methods are safe for concurrent use.
type Group struct {
	guard *Guard
	// spawn runs functions on one thread. On Linux a child dies with the thread
	// that started it and not with the process, so that thread has to stay.
	spawn chan func()

	mu      sync.Mutex
	stopped bool
	running []*Child
	ports   Ports
}

// NewGroup returns a group without children. The guard may be nil.
func NewGroup(guard *Guard) *Group {
	g := &Group{guard: guard, spawn: make(chan func())}
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for start := range g.spawn {
			start()
		}
	}()
	return g
}

// Child is a process of a group.
type Child struct {
	name, logFile string
	cmd           *exec.Cmd
	// leads is whether it leads a process group of its own.
	leads       bool
	stopTimeout time.Duration
	// ended is closed when the process is gone; err says how, and is set before.
	ended chan struct{}
	err   error
}

// Start starts a child. It ends with Stop.
func (g *Group) Start(c Command) (*Child, error) {
	child := &Child{name: c.Name, logFile: c.LogFile, stopTimeout: cmp.Or(c.StopTimeout, stopTimeout), ended: make(chan struct{})}
	if child.name == "" {
		child.name = filepath.Base(c.Path)
	}
	// No caller's context: a child ends with Stop, in order.
	child.cmd = exec.CommandContext(context.Background(), c.Path, c.Args...)
	child.cmd.Dir, child.cmd.Env = c.Dir, c.Env
	child.cmd.Stdin, child.cmd.Stdout, child.cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	child.cmd.SysProcAttr, child.cmd.WaitDelay = attributes(g.guard != nil), outputTimeout
	child.cmd.SysProcAttr.Credential = c.Credential
	child.leads = child.cmd.SysProcAttr.Setpgid
	if c.LogFile != "" {
		log, err := os.Create(c.LogFile)
		if err != nil {
			return nil, fmt.Errorf("making the log of %s: %w", child.name, err)
		}
		defer log.Close()
		child.cmd.Stdout, child.cmd.Stderr = log, log
	}

	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped {
		return nil, fmt.Errorf("starting %s: its group was stopped", child.name)
	}
	started := make(chan error)
	g.spawn <- func() { started <- child.cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", child.name, err)
	}
	if child.leads {
		g.guard.watch(child.cmd.Process.Pid)
	}
	g.running = append(g.running, child)
	go g.wait(child)
	return child, nil
}

func (g *Group) wait(child *Child) {
	child.err = child.cmd.Wait()
	if child.err != nil && portInUse.MatchString(child.LogTail(inUseLines)) {
		child.err = fmt.Errorf("%w: %w", syscall.EADDRINUSE, child.err)
	}
	g.guard.forget(child.cmd.Process.Pid)
	close(child.ended)
}

// Ports picks free ports for children, and holds them until Stop: a child that is started again finds them free.
func (g *Group) Ports(ctx context.Context, wanted int) (Ports, error) {
	ports, err := HoldPorts(ctx, wanted)
	g.mu.Lock()
	defer g.mu.Unlock()
	if err == nil && g.stopped {
		ports.Release()
		return nil, errors.New("holding ports: the group was stopped")
	}
	g.ports = append(g.ports, ports...)
	return ports, err
}

// Run runs a command to its end. When the context ends first, the command and
// what it started are interrupted as by Ctrl-C.
func (g *Group) Run(ctx context.Context, c Command) error {
	child, err := g.Start(c)
	if err != nil {
		return err
	}
	defer g.drop(child)
	select {
	case <-child.ended:
		if child.err != nil {
			return fmt.Errorf("running %s: %w", child.name, child.err)
		}
		return nil
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("running %s: %w", child.name, context.Cause(ctx)), child.end(syscall.SIGINT, syscall.SIGKILL))
	}
}

func (g *Group) drop(child *Child) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running = slices.DeleteFunc(g.running, func(c *Child) bool { return c == child })
}

// Stop ends the children, last started first: none should wait for one that it
// needs and that is gone. Calling it again does nothing.
func (g *Group) Stop() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped {
		return nil
	}
	g.stopped = true
	var errs []error
	for _, child := range slices.Backward(g.running) {
		errs = append(errs, child.end(syscall.SIGTERM, syscall.SIGKILL))
	}
	g.running = nil
	g.ports.Release()
	close(g.spawn)
	return errors.Join(errs...)
}

// end sends the signals one by one until the child is gone.
func (c *Child) end(signals ...syscall.Signal) error {
	for _, signal := range signals {
		select {
		case <-c.ended:
			return nil
		default:
		}
		if err := c.Signal(signal); err != nil {
			return fmt.Errorf("stopping %s: %w", c.name, err)
		}
		patience := c.stopTimeout
		if signal == syscall.SIGKILL {
			patience = killTimeout
		}
		select {
		case <-c.ended:
			return nil
		case <-time.After(patience):
		}
	}
	return fmt.Errorf("stopping %s: process %d is still there", c.name, c.cmd.Process.Pid)
}

// Signal sends a signal to the child and what it started. One that is gone gets none.
func (c *Child) Signal(signal syscall.Signal) error {
	select {
	case <-c.ended:
		return nil
	default:
	}
	pid := c.cmd.Process.Pid
	if c.leads {
		pid = -pid
	}
	if err := syscall.Kill(pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("sending %s a signal: %w", c.name, err)
	}
	return nil
}

// PID is the child's process id.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Name returns what errors call the child.
func (c *Child) Name() string { return c.name }

// Ended is closed when the child is gone.
func (c *Child) Ended() <-chan struct{} { return c.ended }

// Err says how a child ended that is gone; nil means with status 0. It is syscall.EADDRINUSE as well where the end of the
// child's log shows it.
func (c *Child) Err() error {
	select {
	case <-c.ended:
		return c.err
	default:
		return nil
	}
}

// portInUse is what programs print that can't listen, whatever they are written in.
var portInUse = regexp.MustCompile(`(?i)address already in use|EADDRINUSE`)

// inUseLines is how far from the end of a log that can be: a program that gives up says more before it ends.
const inUseLines = 30

// LogTail returns the last lines of the child's log file.
func (c *Child) LogTail(lines int) string {
	if c.logFile == "" {
		return ""
	}
	content, err := os.ReadFile(c.logFile)
	if err != nil {
		return err.Error()
	}
	all := bytes.Split(bytes.TrimSpace(content), []byte("\n"))
	return string(bytes.Join(all[max(0, len(all)-lines):], []byte("\n")))
}
