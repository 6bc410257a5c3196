// Package externaldns runs a real ExternalDNS for tests: a process of this one that publishes the DNSEndpoints of a
// control plane in a BIND. It does nothing on its own. Each round is asked for, so no test waits for one.
package externaldns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/nameserver"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

// startTimeout is far above the second that a start takes, because tests of several packages start processes at once on
// small machines.
const startTimeout = time.Minute

// logLines are how much of the log is in an error.
const logLines = 20

// Options say what ExternalDNS reads, and where it publishes.
type Options struct {
	// Config is how it reaches the control plane. The kind has to be there already: see Install.
	Config *rest.Config
	// Namespace has the DNSEndpoints; those of all namespaces count if empty.
	Namespace string
	// LabelFilter selects some of them, as a label selector.
	LabelFilter string
	// Server has the zones, and Zones are their names.
	Server *nameserver.Server
	Zones  []string
	// Address is the way to the server; its own address if empty.
	Address string
	// Key is what zones are transferred and changed with; the server's AdminKey if it has no name.
	Key nameserver.Key
	// WithoutTransfers is true where it does not read the zones, which is its default. It takes them for empty then.
	WithoutTransfers bool
	// Owner is what the TXT records of the registry call this instance; the default of ExternalDNS if empty.
	Owner string
	// Flags are further flags of ExternalDNS.
	Flags []string
	// Guard, if there is one, kills the process should we be killed. Linux does that without one.
	Guard *process.Guard
}

// ExternalDNS is a running instance. Its methods are safe for concurrent use.
type ExternalDNS struct {
	dir       string
	release   func()
	processes *process.Group
	child     *process.Child
	address   string
	client    *http.Client
	close     func() error
}

// Start starts an instance, and returns when rounds can be asked for. The context bounds only the start: it ends with
// Close, or with this process.
func Start(ctx context.Context, o Options) (*ExternalDNS, error) {
	program, err := asset("externaldns")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var e *ExternalDNS
	err = process.RetryInUse(func() (err error) {
		e, err = start(ctx, program, o)
		return err
	})
	return e, err
}

func start(ctx context.Context, program string, o Options) (*ExternalDNS, error) {
	dir, release, err := process.TempDir("cloudfront-tenant-operator-externaldns-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for ExternalDNS: %w", err)
	}
	// Kept connections would outlive us as goroutines.
	e := &ExternalDNS{dir: dir, release: release, processes: process.NewGroup(o.Guard), client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	e.close = sync.OnceValue(e.closeAll)
	o.Guard.Folder(dir)
	if err := e.run(ctx, program, o); err != nil {
		return nil, errors.Join(fmt.Errorf("starting ExternalDNS: %w", err), e.Close())
	}
	return e, nil
}

func (e *ExternalDNS) run(ctx context.Context, program string, o Options) error {
	kubeconfig := filepath.Join(e.dir, "kubeconfig")
	if err := controlplane.WriteKubeconfig(kubeconfig, o.Config); err != nil {
		return err
	}
	flags, err := o.flags(kubeconfig)
	if err != nil {
		return err
	}
	ports, err := e.processes.Ports(ctx, 1)
	if err != nil {
		return err
	}
	e.address = ports.Address(0)
	e.child, err = e.processes.Start(process.Command{
		Name: "ExternalDNS", Path: program, Args: append([]string{e.address}, flags...), Dir: e.dir, LogFile: filepath.Join(e.dir, "log"),
	})
	if err != nil {
		return err
	}
	return e.await(ctx)
}

// flags are those of ExternalDNS.
func (o Options) flags(kubeconfig string) ([]string, error) {
	host, port, err := net.SplitHostPort(cmp.Or(o.Address, o.Server.Address()))
	if err != nil {
		return nil, fmt.Errorf("reading the address of BIND: %w", err)
	}
	key := o.Key
	if key.Name == "" {
		key = o.Server.AdminKey()
	}
	flags := []string{
		"--source=crd", "--kubeconfig=" + kubeconfig, "--namespace=" + o.Namespace, "--label-filter=" + o.LabelFilter,
		"--provider=rfc2136", "--rfc2136-host=" + host, "--rfc2136-port=" + port,
		"--rfc2136-tsig-keyname=" + key.Name, "--rfc2136-tsig-secret=" + key.Secret, "--rfc2136-tsig-secret-alg=" + key.Algorithm,
		"--log-level=debug",
	}
	for _, zone := range o.Zones {
		flags = append(flags, "--rfc2136-zone="+zone)
	}
	if !o.WithoutTransfers {
		flags = append(flags, "--rfc2136-tsig-axfr")
	}
	if o.Owner != "" {
		flags = append(flags, "--txt-owner-id="+o.Owner)
	}
	return append(flags, o.Flags...), nil
}

// await returns when rounds can be asked for.
func (e *ExternalDNS) await(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		failure := e.ask(ctx, http.MethodGet, "ready")
		if failure == nil {
			return nil
		}
		select {
		case <-e.child.Ended():
			return fmt.Errorf("it ended, and did not serve: %w; its last lines were:\n%s", errors.Join(failure, e.child.Err()), e.child.LogTail(logLines))
		case <-ctx.Done():
			return fmt.Errorf("waiting: %w; its last lines were:\n%s", failure, e.child.LogTail(logLines))
		case <-tick.C:
		}
	}
}

// Round carries out a round and returns when it is finished: records are read, then objects, then records are changed.
// The error is what ExternalDNS would log. Rounds of one instance come one after another.
func (e *ExternalDNS) Round(ctx context.Context) error {
	if err := e.ask(ctx, http.MethodPost, "round"); err != nil {
		return fmt.Errorf("a round of ExternalDNS: %w", err)
	}
	return nil
}

func (e *ExternalDNS) ask(ctx context.Context, method, path string) error {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+e.address+"/"+path, nil)
	if err != nil {
		return err
	}
	response, err := e.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = errors.New(strings.TrimSpace(string(body)))
	}
	return err
}

// Log are the last lines of what it logged, for a test that fails.
func (e *ExternalDNS) Log(lines int) string { return e.child.LogTail(lines) }

// Close ends the process and removes its data. Calling it again does nothing and returns the same.
func (e *ExternalDNS) Close() error { return e.close() }

func (e *ExternalDNS) closeAll() error {
	err := errors.Join(e.processes.Stop(), os.RemoveAll(e.dir))
	e.release()
	return err
}
