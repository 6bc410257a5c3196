//go:build linux

package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

const (
	roleVariable = "CLOUDFRONT_TENANT_OPERATOR_NODE"
	roleInside   = "inside"
	roleProbe    = "probe"
	roleWatcher  = "watcher"

	// ownerVariable is the id of a process with which the node has to end, in addition to the one that started ours.
	ownerVariable = "NODE_OWNER"

	// home belongs to the one node that a machine has at a time. The lock in it stays.
	home = "/var/tmp/cloudfront-tenant-operator-node"
	// scratch holds what the watcher has to know, and all files of the node.
	scratch = home + "/scratch"
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
	case roleProbe:
		if err = errors.Join(enter(), try()); err == nil {
			return 0
		}
	case roleInside:
		if err = enter(); err == nil {
			return run()
		}
	default:
		go endWithOwners()
		return run()
	}
	fmt.Fprintln(os.Stderr, "node:", err)
	return 1
}

// endWithOwners ends this process when those that wait for it were killed: the kernel tells nothing of that. The node ends
// as it does whenever this process is killed.
func endWithOwners() {
	parent := os.Getppid()
	owner, _ := strconv.Atoi(os.Getenv(ownerVariable)) // 0, which is our process group, without one
	for range time.Tick(time.Second) {
		if os.Getppid() != parent || errors.Is(syscall.Kill(owner, 0), syscall.ESRCH) {
			fmt.Fprintln(os.Stderr, "node: the process that waited for this one has ended")
			os.Exit(1)
		}
	}
}

// Run runs this program with other arguments inside new namespaces, and returns when it has ended and nothing of it is
// left on the machine. A second run on the machine waits for the first.
func Run(ctx context.Context, out io.Writer, args ...string) error {
	if err := run(ctx, out, roleInside, args...); err != nil {
		return fmt.Errorf("running inside the node: %w", err)
	}
	return nil
}

func run(ctx context.Context, out io.Writer, role string, args ...string) (err error) {
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
	cmd := command(ctx, role, args...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		Pdeathsig:  syscall.SIGKILL, Setpgid: true,
	}
	return cmd.Run()
}

// command runs this program again, in a part.
func command(ctx context.Context, role string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	return cmd
}

// prepare takes the machine, removes what another run may have left, and notes what has to be restored.
func prepare() (lock *os.File, err error) {
	if lock, err = takeLock(); err != nil {
		return nil, err
	}
	if err := clean(); err != nil {
		return nil, errors.Join(fmt.Errorf("removing what another node left: %w", err), lock.Close())
	}
	if err := note(); err != nil {
		return nil, errors.Join(err, clean(), lock.Close())
	}
	return lock, nil
}

func takeLock() (*os.File, error) {
	if err := ownHome(); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(home+"/lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		return lock, nil
	}
	fmt.Fprintln(os.Stderr, "node: another node is running; waiting for it")
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("waiting for another node: %w", err), lock.Close())
	}
	return lock, nil
}

// ownHome makes the folder, and refuses one that another user has made: all may write into the folder above.
func ownHome() error {
	if err := os.Mkdir(home, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(home)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || stat.Uid != uint32(os.Geteuid()) || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s is no folder that belongs to this user alone", home)
	}
	return nil
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
	_, _ = io.Copy(io.Discard, pipe)
	return clean()
}
