//go:build linux

package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
)

const (
	roleVariable = "CLOUDFRONT_TENANT_OPERATOR_NODE"
	roleInside   = "inside"
	roleWatcher  = "watcher"
)

// Inside reports whether this process is in the namespaces of a node.
func Inside() bool { return os.Getenv(roleVariable) == roleInside }

// Main plays the part of this process. It is for TestMain:
//
//	func TestMain(m *testing.M) { os.Exit(node.Main(m.Run)) }
func Main(run func() int) int {
	var err error
	switch os.Getenv(roleVariable) {
	case roleWatcher:
		if err = watch(os.Stdin); err == nil {
			return 0
		}
	case roleInside:
		if err = enter(); err == nil {
			return run()
		}
	default:
		return run()
	}
	fmt.Fprintln(os.Stderr, "node:", err)
	return 1
}

// Run runs this program with other arguments inside new namespaces, and returns when it has ended and nothing of it is
// left on the machine. A second run on the machine waits for the first.
func Run(ctx context.Context, out io.Writer, args ...string) (err error) {
	lock, err := prepare()
	if err != nil {
		return fmt.Errorf("preparing a node: %w", err)
	}
	defer lock.Close()
	dismiss, err := startWatcher(lock)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dismiss()) }()
	// The kernel ends the process inside with the thread that started it, and not with this process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := command(ctx, roleInside, args...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		Pdeathsig:  syscall.SIGKILL, Setpgid: true,
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("running inside the node: %w", err)
	}
	return nil
}

// command runs this program again, in a part.
func command(ctx context.Context, role string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	return cmd
}

// scratch is the folder of the one node that a machine has at a time. It holds what the watcher has to know, and all
// files of the node.
func scratch() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the cache folder: %w", err)
	}
	return filepath.Join(cache, "cloudfront-tenant-operator", "node"), nil
}

// prepare takes the machine, removes what another run may have left, and notes what has to be restored.
func prepare() (lock *os.File, err error) {
	dir, err := scratch()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, err
	}
	if lock, err = os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			lock.Close()
		}
	}()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return nil, fmt.Errorf("waiting for another node: %w", err)
	}
	if err := clean(dir); err != nil {
		return nil, fmt.Errorf("removing what another node left: %w", err)
	}
	return lock, note(dir)
}

// startWatcher starts the process that cleans up when this one has ended or dismisses it. It holds the lock until then.
func startWatcher(lock *os.File) (dismiss func() error, err error) {
	// No caller's context: it has to outlive us. It has our output, so that who reads that hears of its end.
	cmd := command(context.Background(), roleWatcher)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = os.Stdout, os.Stderr, []*os.File{lock}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a Ctrl-C at the terminal does not reach it
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the watcher: %w", err)
	}
	return func() error {
		if err := errors.Join(pipe.Close(), cmd.Wait()); err != nil {
			return fmt.Errorf("cleaning up after the node: %w", err)
		}
		return nil
	}, nil
}

// watch waits until the other end of the pipe is closed, and cleans up.
func watch(pipe io.Reader) error {
	dir, err := scratch()
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, pipe)
	return clean(dir)
}
