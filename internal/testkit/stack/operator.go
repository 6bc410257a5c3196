package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

// OperatorOptions say how an operator is run.
type OperatorOptions struct {
	// Installation is who it is and how it is run; the host's if nil.
	Installation *install.Installation
	// Flags come after the chart's and ours, and win over them.
	Flags []string
	// Env comes on top of the stack's; an empty value removes.
	Env map[string]string
}

// Operator is one replica: the same flags and addresses, in one process after another.
type Operator struct {
	stack           *Stack
	options         OperatorOptions
	dir             string
	probes, metrics string
	starts          int
	child           *process.Child
}

// StartOperator starts an operator and returns when it is ready.
func (s *Stack) StartOperator(ctx context.Context, o OperatorOptions) (*Operator, error) {
	dir, err := os.MkdirTemp(s.dir, "operator-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for logs: %w", err)
	}
	if o.Installation == nil {
		o.Installation = s.host.Installation
	}
	op := &Operator{stack: s, options: o, dir: dir}
	s.operators = append(s.operators, op)
	return op, process.RetryInUse(func() error {
		ports, err := s.processes.Ports(ctx, 2)
		if err != nil {
			return err
		}
		op.probes, op.metrics = ports.Address(0), ports.Address(1)
		return op.Start(ctx)
	})
}

// Start starts the replica again after its process has ended.
func (o *Operator) Start(ctx context.Context) error {
	o.starts++
	// In addition to the addresses there are five differences from the chart: databases are at loopback, metrics are scraped without a token, no
	// process waits for the lease of one that was killed, and the operators of tests that run at the same time do not
	// share the one ConfigMap of the deletion budget, nor who has a domain: each stack has an AWS of its own. A test that
	// is about one of these sets the flag.
	ours := []string{
		"--health-probe-bind-address=" + o.probes, "--metrics-bind-address=" + o.metrics, "--metrics-secure=false", "--leader-elect=false",
		"--deletion-budget=false", "--domain-claims=false", "--tenantsource-allow-dial=127.0.0.0/8",
	}
	flags := slices.Concat(o.options.Installation.Args(), ours, o.options.Flags)
	child, err := o.stack.processes.Start(process.Command{
		Path: o.stack.host.Binary("operator"), Args: flags,
		Env: o.stack.env(o.options.Installation, o.options.Env), LogFile: filepath.Join(o.dir, fmt.Sprintf("%d.log", o.starts)),
	})
	if err != nil {
		return err
	}
	o.child = child
	if err := await(ctx, child, o.ProbeURL("readyz")); err != nil {
		return err
	}
	// The server of the metrics starts at the same time, and may be later.
	return awaitListener(ctx, child, o.metrics)
}

// ProbeURL is the address of healthz or readyz.
func (o *Operator) ProbeURL(probe string) string { return "http://" + o.probes + "/" + probe }

// MetricsURL is where metrics are, without the scheme.
func (o *Operator) MetricsURL() string { return o.metrics + "/metrics" }

// Signal sends a signal to the process.
func (o *Operator) Signal(signal syscall.Signal) error { return o.child.Signal(signal) }

// PID is the id of the process.
func (o *Operator) PID() int { return o.child.PID() }

// Wait waits for the end of the process and returns its exit status, -1 when it was killed.
func (o *Operator) Wait(ctx context.Context) (int, error) {
	select {
	case <-ctx.Done():
		return 0, fmt.Errorf("waiting for the operator to end: %w", context.Cause(ctx))
	case <-o.child.Ended():
	}
	exit, failed := errors.AsType[*exec.ExitError](o.child.Err())
	switch {
	case failed:
		return exit.ExitCode(), nil
	case o.child.Err() != nil:
		return 0, o.child.Err()
	}
	return 0, nil
}

// Stop ends the process as Kubernetes does, and returns its exit status.
func (o *Operator) Stop(ctx context.Context) (int, error) {
	if err := o.Signal(syscall.SIGTERM); err != nil {
		return 0, err
	}
	return o.Wait(ctx)
}

// Kill ends the process as a power cut does.
func (o *Operator) Kill(ctx context.Context) error {
	if err := o.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	_, err := o.Wait(ctx)
	return err
}

// Running reports whether there is a process.
func (o *Operator) Running() bool {
	select {
	case <-o.child.Ended():
		return false
	default:
		return true
	}
}

// Log returns what all processes of the replica have printed.
func (o *Operator) Log() (string, error) {
	var all strings.Builder
	for n := range o.starts {
		text, err := os.ReadFile(filepath.Join(o.dir, fmt.Sprintf("%d.log", n+1)))
		if err != nil {
			return "", fmt.Errorf("reading the operator's log: %w", err)
		}
		all.Write(text)
	}
	return all.String(), nil
}

// Flags adds flags for the next start, which win over the previous ones.
func (o *Operator) Flags(flags ...string) { o.options.Flags = slices.Concat(o.options.Flags, flags) }
