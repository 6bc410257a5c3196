// Command fleet measures what a fleet of tenants costs: it runs the built operator against
// a real control plane and the simulated AWS through the whole life of the fleet, and
// prints figures of time, AWS calls, writes to etcd, CPU and memory.
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
	AWSRate       float64       `json:"awsRate"`
	AWSBurst      int           `json:"awsBurst"`
	DeployDelay   time.Duration `json:"deployDelayNanoseconds"`
	Throttle      float64       `json:"throttle"`
	SweepInterval time.Duration `json:"sweepIntervalNanoseconds"`
	Drifted       int           `json:"drifted"`
	jsonFile      string
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
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(2) //nolint:gocritic // nothing is left to clean up
	}
	if err := run(ctx, c, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

func parse(args []string) (config, error) {
	var c config
	flags := flag.NewFlagSet("fleet", flag.ContinueOnError)
	flags.IntVar(&c.Tenants, "tenants", 1000, "how many tenants to create")
	flags.Float64Var(&c.AWSRate, "aws-rate", 50, "the operator's --aws-rate")
	flags.IntVar(&c.AWSBurst, "aws-burst", 50, "the operator's --aws-burst")
	flags.DurationVar(&c.DeployDelay, "deploy-delay", 30*time.Second, "how long AWS deploys a change")
	flags.Float64Var(&c.Throttle, "throttle", 0, "calls per second that AWS allows, with a burst of twice as many; 0 sets no limit")
	flags.DurationVar(&c.SweepInterval, "sweep-interval", 30*time.Second, "the operator's --sweep-interval")
	flags.IntVar(&c.Drifted, "drifted", 10, "how many tenants to change behind the operator's back")
	flags.StringVar(&c.jsonFile, "json", "", "file for the raw figures")
	if err := flags.Parse(args); err != nil {
		return c, err
	}
	switch {
	case flags.NArg() > 0:
		return c, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case c.Tenants < 1:
		return c, fmt.Errorf("--tenants=%d: use at least 1", c.Tenants)
	case c.Drifted < 0 || c.Drifted > c.Tenants:
		return c, fmt.Errorf("--drifted=%d: use 0 to --tenants", c.Drifted)
	case c.Throttle < 0 || c.AWSRate <= 0:
		return c, fmt.Errorf("--throttle=%g --aws-rate=%g: use numbers above 0", c.Throttle, c.AWSRate)
	}
	return c, nil
}

func run(ctx context.Context, c config, out io.Writer) (err error) {
	say("building the binaries and starting a control plane")
	dir, err := os.MkdirTemp("", "cloudfront-tenant-operator-bench-")
	if err != nil {
		return fmt.Errorf("making a folder: %w", err)
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
	r, failure := measure(ctx, host, c)
	r.print(out) // what was measured before something failed is worth having
	if failure != nil || c.jsonFile == "" {
		return failure
	}
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the figures: %w", err)
	}
	return os.WriteFile(c.jsonFile, append(raw, '\n'), 0o600)
}

// say tells on stderr how far we are, so that stdout has the figures only.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s "+format+"\n", append([]any{time.Now().Format(time.TimeOnly)}, args...)...)
}
