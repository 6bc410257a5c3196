// Command tenancy measures what customers' namespaces cost: it runs the built operator with the chart's rights on a real control
// plane that has the kinds of Istio and Gatekeeper, takes tenants with a full plan through their whole life, and prints figures of
// time, writes to etcd, requests to the API server, CPU and memory.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/bench/rig"
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

func main() { rig.Main("tenancy", parse, run) }

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
	if err := rig.ParseFlags(flags, args); err != nil {
		return c, err
	}
	switch {
	case c.Tenants < 1:
		return c, fmt.Errorf("--tenants=%d: use at least 1", c.Tenants)
	case c.MaxConcurrent < 1 || c.MaxConcurrent > 100:
		return c, fmt.Errorf("--max-concurrent=%d: use 1 to 100", c.MaxConcurrent)
	case !slices.Contains(phaseNames, c.LastPhase):
		return c, fmt.Errorf("--last-phase=%s: use one of %s", c.LastPhase, strings.Join(phaseNames, ", "))
	}
	return c, nil
}

func run(ctx context.Context, c config, out io.Writer) error {
	return rig.OnHost(ctx, func(host *stack.Host) error {
		b := &bench{config: c, Bench: rig.Bench{Host: host}, report: report{Config: c}, flights: flights{open: map[string]bool{}}}
		failure := b.measure(ctx)
		b.report.print(out) // what was measured before something failed is worth having
		return errors.Join(failure, rig.Save(c.jsonFile, &b.report), b.saveLog())
	})
}

func (b *bench) saveLog() error {
	if b.logFile == "" || b.Replica == nil {
		return nil
	}
	text, err := b.Replica.Log()
	if err != nil {
		return err
	}
	return os.WriteFile(b.logFile, []byte(text), 0o600)
}
