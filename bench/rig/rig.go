// Package rig is what the benchmarks share: how one is started and stopped, its phases, what a phase costs, and how that
// is printed.
package rig

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// Main runs a benchmark with what its command line says, and ends with its exit status.
func Main[C any](name string, parse func(args []string) (C, error), run func(ctx context.Context, c C, out io.Writer) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctrl.SetLogger(zap.New(zap.WriteTo(io.Discard))) // the libraries' own log is of no interest here
	c, err := parse(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(2) //nolint:gocritic // nothing is left to clean up
	}
	if err := run(ctx, c, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

// ParseFlags wants flags and nothing else.
func ParseFlags(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return nil
}

// OnHost lets a benchmark use a control plane of its own and the built binaries.
func OnHost(ctx context.Context, use func(*stack.Host) error) (err error) {
	Say("building the binaries and starting a control plane")
	dir, err := os.MkdirTemp("", "cloudfront-tenant-operator-bench-")
	if err != nil {
		return fmt.Errorf("creating a directory: %w", err)
	}
	defer os.RemoveAll(dir)
	cp, err := controlplane.Start(ctx, controlplane.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cp.Stop()) }()
	host, err := stack.NewHost(ctx, cp, dir, false)
	if err != nil {
		return err
	}
	return use(host)
}

// Save writes raw results to a file, if there is one.
func Save(file string, results any) error {
	if file == "" {
		return nil
	}
	raw, err := json.MarshalIndent(results, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	return os.WriteFile(file, append(raw, '\n'), 0o600)
}

// Say tells on stderr how far we are, so that stdout has the figures only.
func Say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s "+format+"\n", append([]any{time.Now().Format(time.TimeOnly)}, args...)...)
}
