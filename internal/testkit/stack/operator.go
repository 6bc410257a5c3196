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
	// AsInstalled leaves out the flags that differ from the chart's for the sake of tests.
	AsInstalled bool
	// Program, if any, is run instead of the installation's.
	Program *Program
}

// Program is an operator that is run with nothing of the chart, as the administrator.
type Program struct {
	Path string
	// Arguments returns its arguments and the URL that answers when it is ready, if any, for two addresses.
	Arguments func(probes, metrics string) (arguments []string, probe string, err error)
}

// Operator is one replica: the same flags and addresses, in one process after another.
type Operator struct {
	stack           *Stack
	options         OperatorOptions
	probes, metrics string
	// number is which of the stack's it is, from 0.
	number, starts int
	child          *process.Child
}

// StartOperator starts an operator and returns when it is ready.
func (s *Stack) StartOperator(ctx context.Context, o OperatorOptions) (*Operator, error) {
	if o.Installation == nil {
		o.Installation = s.host.Installation
	}
	op := &Operator{stack: s, options: o, number: len(s.operators)}
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
	if o.options.Program != nil {
		return o.startProgram(ctx, o.options.Program)
	}
	// In addition to the addresses, databases are at loopback, metrics are scraped without a token, and the DNS servers of
	// this machine know nothing of the names of a test: one that is about them sets the flag, with --dns-resolvers.
	ours := []string{
		"--health-probe-bind-address=" + o.probes, "--metrics-bind-address=" + o.metrics, "--metrics-secure=false", "--tenantsource-allow-dial=127.0.0.0/8",
		"--watch-domains=false",
	}
	if !o.options.AsInstalled {
		// No process waits for the lease of one that was killed, and the operators of tests that run at the same time do not
		// share the one ConfigMap of the deletion budget, nor who has a domain: each stack has an AWS of its own. A test that
		// is about one of these sets the flag.
		ours = append(ours, "--leader-elect=false", "--deletion-budget=false", "--domain-claims=false")
	}
	flags := slices.Concat(o.options.Installation.Args(), ours, o.options.Flags)
	if err := o.run(o.stack.host.Binary("operator"), flags, o.stack.env(o.options.Installation, o.options.Env)); err != nil {
		return err
	}
	if err := await(ctx, o.child, o.ProbeURL("readyz")); err != nil {
		return err
	}
	// The server of the metrics starts at the same time, and may be later.
	return awaitListener(ctx, o.child, o.metrics)
}

func (o *Operator) startProgram(ctx context.Context, p *Program) error {
	arguments, probe, err := p.Arguments(o.probes, o.metrics)
	if err != nil {
		return err
	}
	// The chart's limit of memory is ours alone.
	env := o.stack.Env(map[string]string{"KUBECONFIG": o.stack.host.ControlPlane.Kubeconfig(), "GOMEMLIMIT": ""})
	if err := o.run(p.Path, arguments, env); err != nil || probe == "" {
		return err
	}
	return await(ctx, o.child, probe)
}

// run starts a process, with a log of its own.
func (o *Operator) run(path string, arguments, env []string) error {
	o.starts++
	child, err := o.stack.processes.Start(process.Command{
		Path: path, Args: arguments, Env: env, LogFile: o.logFile(o.starts),
	})
	if err != nil {
		return err // the one before is still the child
	}
	o.child = child
	return nil
}

// logFile is that of one of its processes, counted from 1.
func (o *Operator) logFile(start int) string {
	name := "operator.log"
	if o.number > 0 || start > 1 {
		name = fmt.Sprintf("operator-%d-%d.log", o.number+1, start)
	}
	return filepath.Join(o.stack.options.LogDir, name)
}

// ProbeURL is the address of healthz or readyz.
func (o *Operator) ProbeURL(probe string) string { return "http://" + o.probes + "/" + probe }

// MetricsURL is where metrics are, without the scheme.
func (o *Operator) MetricsURL() string { return o.metrics + "/metrics" }

// Signal sends a signal to the process.
func (o *Operator) Signal(signal syscall.Signal) error { return o.child.Signal(signal) }

// Child is the process.
func (o *Operator) Child() *process.Child { return o.child }

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
		text, err := os.ReadFile(o.logFile(n + 1))
		if err != nil {
			return "", fmt.Errorf("reading the operator's log: %w", err)
		}
		all.Write(text)
	}
	return all.String(), nil
}

// Flags adds flags for the next start, which win over the previous ones.
func (o *Operator) Flags(flags ...string) { o.options.Flags = slices.Concat(o.options.Flags, flags) }
