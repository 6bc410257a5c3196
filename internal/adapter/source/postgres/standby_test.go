package postgres_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/postgres"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

// servers run PostgreSQL from data folders of their own, which a shared engine hides.
type servers struct {
	t   *testing.T
	dir string
	as  *syscall.Credential
}

func newServers(t *testing.T) servers {
	t.Helper()
	// Finds the programs, or says what to install.
	database.Shared(t, mapping.Postgres)
	s := servers{t: t}
	var err error
	if s.dir, err = os.MkdirTemp("", "standby"); err != nil { //nolint:usetesting // another user could not enter that one
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(s.dir) })
	if os.Getuid() == 0 {
		// PostgreSQL refuses to be run by root.
		const nobody = 65534
		s.as = &syscall.Credential{Uid: nobody, Gid: nobody}
		if err := os.Chown(s.dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s servers) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	path, err := exec.LookPath(program)
	if err != nil {
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + program)
		if len(found) == 0 {
			s.t.Fatalf("%s is missing: install the package postgresql", program)
		}
		path = found[len(found)-1]
	}
	c := exec.CommandContext(ctx, path, args...)
	c.Dir = s.dir
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.as, Pdeathsig: syscall.SIGKILL}
	return c
}

func (s servers) run(program string, args ...string) {
	s.t.Helper()
	if out, err := s.command(s.t.Context(), program, args...).CombinedOutput(); err != nil {
		s.t.Fatalf("%s: %v\n%s", program, err, out)
	}
}

// start starts a server on the folder, and returns how to read from it and how to end it.
func (s servers) start(folder string) (mapping.Query, func()) {
	s.t.Helper()
	ports, err := process.HoldPorts(s.t.Context(), 1)
	if err != nil {
		s.t.Fatal(err)
	}
	c := s.command(context.WithoutCancel(s.t.Context()), "postgres", "-D", folder, "-p", strconv.Itoa(ports[0]), "-k", "",
		"-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "shared_buffers=16MB")
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := false
	stop := func() {
		if !ended {
			ended = true
			_ = c.Process.Signal(syscall.SIGQUIT)
			_ = c.Wait()
		}
	}
	s.t.Cleanup(func() {
		stop()
		ports.Release()
	})
	q := mapping.Query{
		Connection: mapping.NewSecret(fmt.Sprintf("host=127.0.0.1 port=%d user=test dbname=postgres sslmode=disable", ports[0])),
		SQL:        mapping.SQLQuery{Query: "SELECT pg_is_in_recovery() AS standby"},
	}
	return q, stop
}

// eventually reads until the outcome is as it should be.
func (s servers) eventually(q mapping.Query, good func(error) bool) {
	s.t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		err := postgres.New(store.Config{}).Read(s.t.Context(), q, &sink{})
		if good(err) {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("the last read: %v", err)
		}
	}
}

func TestStandby(t *testing.T) {
	s := newServers(t)
	primary := filepath.Join(s.dir, "primary")
	s.run("initdb", "-D", primary, "-U", "test", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
	readable := func(err error) bool { return err == nil }
	fromPrimary, stopPrimary := s.start(primary)
	s.eventually(fromPrimary, readable)

	host := strings.Fields(fromPrimary.Connection.Reveal())[1]
	_, port, _ := strings.Cut(host, "=")
	standby := filepath.Join(s.dir, "standby")
	s.run("pg_basebackup", "-h", "127.0.0.1", "-p", port, "-U", "test", "-D", standby, "-R", "--no-sync", "-c", "fast")
	fromStandby, stopStandby := s.start(standby)
	s.eventually(fromStandby, readable)
	to := statetable.Target{Query: fromStandby, Table: "edge_state", Source: "source"}
	if _, err := postgres.New(store.Config{}).Write(s.t.Context(), to, []statetable.Change{{}}); !fault.Is(err, fault.Denied) ||
		!strings.Contains(err.Error(), "connect to the primary") {
		t.Errorf("writing to a standby: %v", err)
	}

	// Cut off, and since its restart it knows of no transaction that it replayed: it may be behind by anything.
	stopPrimary()
	stopStandby()
	fromStandby, _ = s.start(standby)
	s.eventually(fromStandby, func(err error) bool {
		return fault.Is(err, fault.Transient) && strings.Contains(err.Error(), "receives no data from its primary")
	})
}
