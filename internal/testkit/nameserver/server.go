// Package nameserver starts real name servers for tests: BIND 9, Knot DNS or PowerDNS, a process of this one on a free
// loopback port, with the primaries of some zones in a temporary folder. Zones are changed by hand with a key that may do
// everything, as the operator would with a key that an update policy binds. A secondary has the zones as well, and takes them
// over when it is told to.
package nameserver

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

const (
	// startTimeout is far above the second that a start takes, because tests of several packages start servers at once on
	// small machines.
	startTimeout = time.Minute
	stopTimeout  = 10 * time.Second
)

// DefaultPolicy is what the operator's key may do in a zone that names no other policy. It is the policy of the docs:
// records below the zone's name, of the types that the operator publishes and those that it can replace.
const DefaultPolicy = "grant " + KeyName + " wildcard *.%s. CNAME TXT A AAAA;"

// KeyName is the name of the operator's key.
const KeyName = "operator-key"

const adminKeyName = "admin-key"

// Key signs messages.
type Key struct {
	// Name has no dot at its end, and Algorithm is such as hmac-sha256.
	Name, Algorithm string
	// Secret is in base64.
	Secret string
}

func newKey(name string) Key {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // it never fails
	return Key{Name: name, Algorithm: "hmac-sha256", Secret: base64.StdEncoding.EncodeToString(secret)}
}

// Zone is a zone of which the server is the primary.
type Zone struct {
	// Name is without a dot at its end.
	Name string
	// Policy is what the operator's key may do, as the statements of BIND's update-policy; DefaultPolicy if empty. Knot has
	// the same rights for it, and PowerDNS none that are less than all. The administrator's key may do everything.
	Policy string
	// Records are lines of the zone's file, in addition to its SOA and NS records.
	Records []string
	// Signed is true where the server signs the zone with keys of its own.
	Signed bool
	// ClosedToTransfers is true where the operator's key may not transfer the zone.
	ClosedToTransfers bool
}

// Options say what a server has. The zero value is one without zones.
type Options struct {
	// Software is the program.
	Software Software
	Zones    []Zone
	// Config is a whole configuration, as in the docs, instead of what follows from the zones. Only folders and the port are
	// the server's own. It has no keys but those in it, and the file of a zone is its name with .zone.
	Config string
	// Files are more files in the server's folder, by name.
	Files map[string]string
	// Commands are those of the docs that complete it, each with its arguments. They run in the server's folder.
	Commands [][]string
	// Guard, if there is one, kills the process should we be killed. Linux does that without one.
	Guard *process.Guard
}

// Server is a name server, running or stopped. Its methods are safe for concurrent use.
type Server struct {
	options Options
	dir     string
	release func()
	software
	// program is its file, and credential whom it runs as, nil for us.
	program    string
	credential *syscall.Credential
	port       int
	operator   Key
	admin      Key
	// primary is whose zones it copies; nil for a primary itself.
	primary *Server

	mu        sync.Mutex
	processes *process.Group
	closed    bool
	dependent []interface{ Close() error }
}

// Start starts a server and returns when it serves its zones. The context bounds only the start: it ends with Close, or
// with this process.
func Start(ctx context.Context, o Options) (*Server, error) {
	return create(ctx, o, nil)
}

// StartSecondary starts a BIND that copies the zones of this one, once now and then whenever Refresh tells it to. It
// ends with this one.
func (s *Server) StartSecondary(ctx context.Context) (*Server, error) {
	secondary, err := create(ctx, s.options, s)
	if err == nil {
		s.depend(secondary)
	}
	return secondary, err
}

func (s *Server) depend(on interface{ Close() error }) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dependent = append(s.dependent, on)
}

func create(ctx context.Context, o Options, primary *Server) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var s *Server
	err := process.RetryInUse(func() (err error) {
		s, err = prepare(o, primary)
		if err != nil {
			return err
		}
		ports, err := process.HoldPorts(ctx, 1)
		if err != nil {
			return errors.Join(err, s.Close())
		}
		s.port, s.release = ports[0], after(ports.Release, s.release)
		if err := s.configure(ctx, s); err != nil {
			return errors.Join(err, s.Close())
		}
		if err := s.Start(ctx); err != nil {
			return errors.Join(err, s.Close())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

func after(first, then func()) func() { return func() { first(); then() } }

// prepare makes a server that has a folder and no port yet.
func prepare(o Options, primary *Server) (*Server, error) {
	kind := softwares[o.Software]
	if primary != nil {
		kind = softwares[BIND]
	}
	program, err := find(kind.program, kind.packages)
	if err != nil {
		return nil, err
	}
	dir, release, err := process.TempDir("cloudfront-tenant-operator-dns-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for %s: %w", kind.title, err)
	}
	s := &Server{
		options: o, dir: dir, release: release, software: kind, program: program, primary: primary,
		operator: newKey(KeyName), admin: newKey(adminKeyName),
	}
	if primary != nil {
		s.operator, s.admin = primary.operator, primary.admin
	}
	o.Guard.Folder(dir)
	if s.credential, err = process.Unprivileged(dir); err == nil {
		err = s.unconfine()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// find looks for a program on the PATH, and then where Debian puts it.
func find(program, packages string) (string, error) {
	if path, err := exec.LookPath(program); err == nil {
		return path, nil
	}
	debian := "/usr/sbin/" + program
	if _, err := os.Stat(debian); err != nil {
		return "", fmt.Errorf("%s is not installed: run hack/dnsservers.sh as root, or install %s", program, packages)
	}
	return debian, nil
}

// unconfine copies the program where AppArmor is in use: the profile in the package is bound to the path, and lets it read no
// temporary folder.
func (s *Server) unconfine() error {
	enabled, _ := os.ReadFile("/sys/module/apparmor/parameters/enabled") // absent on other systems
	if strings.TrimSpace(string(enabled)) != "Y" {
		return nil
	}
	content, err := os.ReadFile(s.program)
	if err != nil {
		return fmt.Errorf("copying %s: %w", s.title, err)
	}
	s.program = filepath.Join(s.dir, filepath.Base(s.program))
	return os.WriteFile(s.program, content, 0o755)
}

// Start starts the server after Stop, at the same address and with the zones as they were, and returns when it serves.
func (s *Server) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.processes != nil {
		return fmt.Errorf("starting %s: it was closed, or runs", s.title)
	}
	processes := process.NewGroup(s.options.Guard)
	child, err := processes.Start(process.Command{
		Name: s.title, Path: s.program, Args: s.args(s.dir), Dir: s.dir,
		LogFile: filepath.Join(s.dir, "log"), Credential: s.credential, StopTimeout: stopTimeout,
	})
	if err == nil {
		err = s.await(ctx, child)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("starting %s: %w", s.title, err), processes.Stop())
	}
	s.processes = processes
	return nil
}

// await returns when the server serves all zones.
func (s *Server) await(ctx context.Context, child *process.Child) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		failure := s.serves(ctx)
		if failure == nil {
			return nil
		}
		select {
		case <-child.Ended():
			tail := child.LogTail(15)
			if strings.Contains(strings.ToLower(tail), "address already in use") || strings.Contains(tail, "address in use") {
				return fmt.Errorf("%w: %s", syscall.EADDRINUSE, tail)
			}
			return fmt.Errorf("it ended, and did not serve: %w; its last lines were:\n%s", errors.Join(failure, child.Err()), tail)
		case <-ctx.Done():
			return fmt.Errorf("waiting: %w; its last lines were:\n%s", failure, child.LogTail(15))
		case <-tick.C:
		}
	}
}

func (s *Server) serves(ctx context.Context) error {
	for _, z := range s.options.Zones {
		if _, err := s.Serial(ctx, z.Name); err != nil {
			return err
		}
	}
	return nil
}

// Stop ends the process. The zones stay as they are.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stop()
}

func (s *Server) stop() error {
	if s.processes == nil {
		return nil
	}
	err := s.processes.Stop()
	s.processes = nil
	return err
}

// Close ends the process, and what depends on it, and removes its data. Calling it again does nothing.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	var errs []error
	for _, d := range s.dependent {
		errs = append(errs, d.Close())
	}
	errs = append(errs, s.stop(), os.RemoveAll(s.dir))
	s.release()
	return errors.Join(errs...)
}

// Address is where the server answers, over UDP and TCP.
func (s *Server) Address() string { return process.Loopback(s.port) }

// Key is the one that zones are transferred and changed with under the update policy.
func (s *Server) Key() Key { return s.operator }

// AdminKey is the one that zones are transferred and changed with as by hand. No update policy binds it.
func (s *Server) AdminKey() Key { return s.admin }
