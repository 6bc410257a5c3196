// Command tenancy measures what customers' namespaces cost: it runs the built operator with the chart's rights on a real control
// plane that has the kinds of Istio and Gatekeeper, takes tenants with a full plan through their whole life, and prints figures of
// time, writes to etcd, requests to the API server, CPU and memory.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// config is what the command line says.
type config struct {
	Tenants       int           `json:"tenants"`
	Quiet         time.Duration `json:"quietNanoseconds"`
	MaxConcurrent int           `json:"maxConcurrent"`
	Edge          bool          `json:"edge"`
	LastPhase     string        `json:"lastPhase"`

	jsonFile, logFile string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctrl.SetLogger(zap.New(zap.WriteTo(io.Discard))) // the libraries' own log is of no interest here
	c, err := parse(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "tenancy:", err)
		os.Exit(2) //nolint:gocritic // nothing is left to clean up
	}
	if err := run(ctx, c, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tenancy:", err)
		os.Exit(1)
	}
}

func parse(args []string) (config, error) {
	var c config
	flags := flag.NewFlagSet("tenancy", flag.ContinueOnError)
	flags.IntVar(&c.Tenants, "tenants", 1000, "number of tenants to create")
	flags.DurationVar(&c.Quiet, "quiet", 5*time.Minute, "how long to watch the tenants while there is nothing to do")
	flags.IntVar(&c.MaxConcurrent, "max-concurrent", 10, "spec.rollout.maxConcurrent of the plan")
	flags.BoolVar(&c.Edge, "edge", false, "also give every tenant a DistributionTenant")
	flags.StringVar(&c.LastPhase, "last-phase", phaseDelete, "last phase to run: "+strings.Join(phaseNames, ", "))
	flags.StringVar(&c.jsonFile, "json", "", "file to write the raw results to")
	flags.StringVar(&c.logFile, "log", "", "file to write the log of the operator to")
	if err := flags.Parse(args); err != nil {
		return c, err
	}
	switch {
	case flags.NArg() > 0:
		return c, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case c.Tenants < 1:
		return c, fmt.Errorf("--tenants=%d: use at least 1", c.Tenants)
	case c.MaxConcurrent < 1 || c.MaxConcurrent > 100:
		return c, fmt.Errorf("--max-concurrent=%d: use 1 to 100", c.MaxConcurrent)
	case !slices.Contains(phaseNames, c.LastPhase):
		return c, fmt.Errorf("--last-phase=%s: use one of %s", c.LastPhase, strings.Join(phaseNames, ", "))
	}
	return c, nil
}

func run(ctx context.Context, c config, out io.Writer) (err error) {
	say("building the binaries and starting a control plane")
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
	b := &bench{config: c, host: host, flights: flights{open: map[string]bool{}}}
	r, failure := b.measure(ctx)
	r.print(out) // what was measured before something failed is worth having
	return errors.Join(failure, save(c.jsonFile, r), b.saveLog())
}

func save(file string, r *report) error {
	if file == "" {
		return nil
	}
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	return os.WriteFile(file, append(raw, '\n'), 0o600)
}

func (b *bench) saveLog() error {
	if b.logFile == "" || b.operator == nil {
		return nil
	}
	text, err := b.operator.Log()
	if err != nil {
		return err
	}
	return os.WriteFile(b.logFile, []byte(text), 0o600)
}

// say tells on stderr how far we are, so that stdout has the figures only.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s "+format+"\n", append([]any{time.Now().Format(time.TimeOnly)}, args...)...)
}
