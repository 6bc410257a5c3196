// Package database starts the real stores that a TenantSource reads: PostgreSQL, MariaDB, Redis, FerretDB
// for the wire protocol of MongoDB, and dynalite for DynamoDB. Each is a process of this one on a free
// loopback port, with its data in a temporary folder. Tables of customers in it can be spoiled in the ways
// that real ones fail: by the engine itself where it can, by a proxy before it where it can't.
package database

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.uber.org/goleak"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

// Canary is in every part of a connection string that must not be shown: user, password and database.
const Canary = "canary7secret"

// canaryDatabase is the database of all tables.
const canaryDatabase = Canary + "_tenants"

const (
	// startTimeout is far above the seconds that a start takes, because tests of several packages start
	// engines at once on small machines.
	startTimeout = 2 * time.Minute
	stopTimeout  = 5 * time.Second
)

// TB is what a shared engine needs of a test.
type TB interface {
	Helper()
	Context() context.Context
	Fatalf(format string, args ...any)
}

// Options say how an engine is run. The zero value is the usual one.
type Options struct {
	// Guard, if there is one, kills the process should we be killed. Linux does that without one.
	Guard *process.Guard
	// Arguments are further ones of the engine's program.
	Arguments []string
}

// Engine is a running store. Its methods are safe for concurrent use.
type Engine struct {
	provider  mapping.Provider
	dir       string
	processes *process.Group
	// credential is whom the engine runs as, nil for us.
	credential *syscall.Credential
	arguments  []string
	release    func()
	server     server
	tables     atomic.Int64
	stop       func() error
}

// server is what differs between the engines.
type server interface {
	// start starts the process and prepares it for tables.
	start(ctx context.Context, e *Engine) error
	// newTable makes an empty table and its reader.
	newTable(ctx context.Context, t *Table) (store, error)
	// close ends what start opened, but for the process.
	close()
}

var servers = map[mapping.Provider]func() server{
	mapping.Postgres: func() server { return &postgresServer{} },
	mapping.MySQL:    func() server { return &mysqlServer{} },
	mapping.Redis:    func() server { return &redisServer{} },
	mapping.MongoDB:  func() server { return &mongoServer{} },
	mapping.DynamoDB: func() server { return &dynamoServer{} },
}

// Start starts the engine of a provider and returns when it serves. The context bounds only the start:
// it ends with Stop, or with this process.
func Start(ctx context.Context, provider mapping.Provider, o Options) (*Engine, error) {
	newServer, ok := servers[provider]
	if !ok {
		return nil, fmt.Errorf("starting a database: there is none for the provider %q", provider)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var e *Engine
	err := process.RetryInUse(func() (err error) {
		e, err = start(ctx, provider, newServer(), o)
		return err
	})
	return e, err
}

func start(ctx context.Context, provider mapping.Provider, server server, o Options) (*Engine, error) {
	dir, release, err := process.TempDir("cloudfront-tenant-operator-" + string(provider) + "-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for %s: %w", provider, err)
	}
	e := &Engine{provider: provider, dir: dir, release: release, processes: process.NewGroup(o.Guard), arguments: o.Arguments, server: server}
	e.stop = sync.OnceValue(e.stopAll)
	o.Guard.Folder(dir)
	if err := e.server.start(ctx, e); err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", provider, err), e.Stop())
	}
	return e, nil
}

// Stop ends the process and removes its data. Calling it again does nothing and returns the same.
func (e *Engine) Stop() error { return e.stop() }

func (e *Engine) stopAll() error {
	e.server.close()
	err := e.processes.Stop()
	if removeErr := os.RemoveAll(e.dir); removeErr != nil {
		err = errors.Join(err, fmt.Errorf("removing the folder of %s: %w", e.provider, removeErr))
	}
	e.release()
	return err
}

// Provider is what the engine is to a TenantSource.
func (e *Engine) Provider() mapping.Provider { return e.provider }

// Endpoint is the URL of DynamoDB. Other engines are named by the connection string.
func (e *Engine) Endpoint() string {
	if s, ok := e.server.(*dynamoServer); ok {
		return s.endpoint()
	}
	return ""
}

// Owner is a connection string of PostgreSQL and MongoDB for a user who may do everything; empty with other engines.
func (e *Engine) Owner() string {
	if s, ok := e.server.(interface{ ownerURL() string }); ok {
		return s.ownerURL()
	}
	return ""
}

// run starts the engine's process, and waits until ready returns no error.
func (e *Engine) run(ctx context.Context, ready func(context.Context) error, path string, args ...string) error {
	child, err := e.processes.Start(process.Command{
		Path: path, Args: slices.Concat(args, e.arguments), Dir: e.dir, LogFile: filepath.Join(e.dir, "log"), Credential: e.credential, StopTimeout: stopTimeout,
	})
	if err != nil {
		return err
	}
	// Another process that listens on the port instead of an ended child may never answer.
	alive, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer cancel()
		select {
		case <-child.Ended():
		case <-alive.Done():
		}
	}()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		failure := ready(alive)
		if failure == nil && alive.Err() == nil {
			return nil
		}
		select {
		case <-child.Ended():
			return fmt.Errorf("%s ended, and did not serve: %w; its last lines were:\n%s", child.Name(), errors.Join(failure, child.Err()), child.LogTail(15))
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w; its last lines were:\n%s", child.Name(), failure, child.LogTail(15))
		case <-tick.C:
		}
	}
}

// prepare runs a command to its end, as run does.
func (e *Engine) prepare(ctx context.Context, path string, args ...string) error {
	log := filepath.Join(e.dir, filepath.Base(path)+".log")
	err := e.processes.Run(ctx, process.Command{Path: path, Args: args, Dir: e.dir, LogFile: log, Credential: e.credential})
	if err != nil {
		output, _ := os.ReadFile(log)
		return fmt.Errorf("%w:\n%s", err, output)
	}
	return nil
}

// shared are the engines of the tests of this package, by provider.
var shared = struct {
	sync.Mutex
	engines map[mapping.Provider]*Engine
}{engines: map[mapping.Provider]*Engine{}}

// Shared returns the one engine of the provider that the tests of a package share; the first call starts it. StopShared
// ends it, and RunTests calls that automatically.
func Shared(t TB, provider mapping.Provider) *Engine {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if e := shared.engines[provider]; e != nil {
		return e
	}
	e, err := Start(t.Context(), provider, Options{})
	if err != nil {
		t.Fatalf("%v", err)
	}
	shared.engines[provider] = e
	return e
}

// StopShared stops all engines that tests share.
func StopShared() error {
	shared.Lock()
	defer shared.Unlock()
	var errs []error
	for provider, e := range shared.engines {
		errs = append(errs, e.Stop())
		delete(shared.engines, provider)
	}
	return errors.Join(errs...)
}

// RunTests runs the tests of a package, stops the engines that they shared, and fails when a goroutine
// is left then. It is for TestMain:
//
//	func TestMain(m *testing.M) { os.Exit(database.RunTests(m)) }
func RunTests(m interface{ Run() int }) (code int) {
	code = m.Run()
	if err := errors.Join(StopShared(), goleak.Find()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}
