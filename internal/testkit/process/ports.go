package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
)

// Ports are loopback ports that no other process of ours takes as long as they are held.
type Ports []int

// The range is below the one from which the kernel hands out client ports: a while passes until a process listens,
// and meanwhile connections of others must not take its port.
const (
	lowestPort = 20000
	portCount  = 12000
	portTries  = 200
)

// HoldPorts picks ports on which nothing listens, and holds them until Release or the end of this process.
func HoldPorts(ctx context.Context, wanted int) (Ports, error) {
	var found Ports
	for range portTries {
		if len(found) == wanted {
			return found, nil
		}
		port := lowestPort + rand.IntN(portCount)
		switch held, err := holder.hold(port); {
		case err != nil:
			found.Release()
			return nil, fmt.Errorf("holding a port: %w", err)
		case !held:
		case listens(ctx, port):
			holder.release(port)
		default:
			found = append(found, port)
		}
	}
	found.Release()
	return nil, fmt.Errorf("finding free ports: none is left between %d and %d", lowestPort, lowestPort+portCount)
}

// listens reports whether the port can't be listened on.
func listens(ctx context.Context, port int) bool {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", Loopback(port))
	if err != nil {
		return true
	}
	return listener.Close() != nil
}

// Loopback is the address of a port.
func Loopback(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

// Address is that of the i-th port.
func (p Ports) Address(i int) string { return Loopback(p[i]) }

// Release gives the ports back.
func (p Ports) Release() {
	for _, port := range p {
		holder.release(port)
	}
}

// RetryInUse starts something again, with other ports, as long as that fails because a port is in use: processes that
// are not ours don't know which ports we hold. The start leaves nothing running when it fails.
func RetryInUse(start func() error) error {
	const tries = 5
	for range tries - 1 {
		if err := start(); !errors.Is(err, syscall.EADDRINUSE) {
			return err
		}
	}
	return start()
}

// portHolder holds ports for this process, and against others of the same user by locks on one file, a byte for each
// port. The kernel drops them with the process.
type portHolder struct {
	mu   sync.Mutex
	file *os.File
	ours map[int]bool
}

var holder = portHolder{ours: map[int]bool{}}

func (h *portHolder) hold(port int) (held bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ours[port] {
		return false, nil
	}
	if h.file == nil {
		if h.file, err = openPortsFile(); err != nil {
			return false, err
		}
	}
	err = h.lock(port, syscall.F_WRLCK)
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) {
		return false, nil
	}
	if err == nil {
		h.ours[port] = true
	}
	return err == nil, err
}

func (h *portHolder) release(port int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ours[port] {
		delete(h.ours, port)
		_ = h.lock(port, syscall.F_UNLCK)
	}
}

func (h *portHolder) lock(port int, kind int16) error {
	return syscall.FcntlFlock(h.file.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: kind, Whence: io.SeekStart, Start: int64(port), Len: 1})
}

// openPortsFile opens the file that all our processes lock, in the user's cache folder: temporary folders differ from
// process to process. It is never closed: the first close would drop all locks.
func openPortsFile() (*os.File, error) {
	file, err := openIn(os.UserCacheDir())
	if err != nil {
		return openIn(filepath.Join(os.TempDir(), strconv.Itoa(os.Getuid())), nil)
	}
	return file, nil
}

func openIn(dir string, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	dir = filepath.Join(dir, "cloudfront-tenant-operator")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return os.OpenFile(filepath.Join(dir, "ports"), os.O_RDWR|os.O_CREATE, 0o600)
}
