// Command fleet measures what a fleet of tenants costs: it runs a built operator against a
// real control plane and the simulated AWS through the whole life of the fleet, and prints
// figures of time, AWS calls, writes to etcd, CPU and memory. README.md says how to measure
// another operator in the same rig.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/bench/rig"
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
	Quiet         time.Duration `json:"quietNanoseconds"`
	Drifted       int           `json:"drifted"`
	SingleChanges int           `json:"singleChanges"`
	DNS           bool          `json:"dns"`
	Grants        int           `json:"grants"`
	Accounts      int           `json:"accounts"`
	LastPhase     string        `json:"lastPhase"`

	Operator  string   `json:"operator,omitempty"`
	Arguments listFlag `json:"arguments"`
	CRDs      string   `json:"crds,omitempty"`
	Manifest  string   `json:"manifest,omitempty"`
	Ready     string   `json:"ready"`
	Probe     string   `json:"probe,omitempty"`

	jsonFile string
}

// listFlag is a flag that may be given several times.
type listFlag []string

// String implements flag.Value.
func (l *listFlag) String() string { return strings.Join(*l, " ") }

// Set implements flag.Value.
func (l *listFlag) Set(text string) error {
	*l = append(*l, text)
	return nil
}

func main() { rig.Main("fleet", parse, run) }

func parse(args []string) (config, error) {
	var c config
	flags := flag.NewFlagSet("fleet", flag.ContinueOnError)
	flags.IntVar(&c.Tenants, "tenants", 1000, "number of tenants to create")
	flags.Float64Var(&c.AWSRate, "aws-rate", 1000, "AWS calls per second that the operator may make; the default is not a limit in practice")
	flags.IntVar(&c.AWSBurst, "aws-burst", 1000, "AWS calls that the operator may make in a burst")
	flags.DurationVar(&c.DeployDelay, "deploy-delay", 30*time.Second, "how long AWS takes to deploy a change")
	flags.Float64Var(&c.Throttle, "throttle", 0, "calls per second that AWS allows, with a burst of twice that number; 0 means no limit")
	flags.DurationVar(&c.SweepInterval, "sweep-interval", 5*time.Minute, "the operator's --sweep-interval")
	flags.DurationVar(&c.Quiet, "quiet", 5*time.Minute, "how long to watch the fleet while there is nothing to do")
	flags.IntVar(&c.Drifted, "drifted", 0, "number of tenants to change in AWS, until the operator has corrected them")
	flags.IntVar(&c.SingleChanges, "single-changes", 0, "number of tenants to change one by one while the others are created; each is timed until AWS has the update")
	flags.BoolVar(&c.DNS, "dns", false, "give every tenant a managed certificate and a DNS record, all in one zone, with the limits of Route 53")
	flags.IntVar(&c.Grants, "grants", 0, "spread the tenants over this number of namespaces, each with an EdgeGrant that is enforced; 0: one namespace and no grants")
	flags.IntVar(&c.Accounts, "accounts", 1, "spread the grants over this number of AWS accounts, the operator's own included")
	flags.StringVar(&c.LastPhase, "last-phase", phaseDelete, "last phase to run: "+strings.Join(phaseNames, ", "))
	flags.StringVar(&c.Operator, "operator", "", "binary of another operator; empty: this repository's operator")
	flags.Var(&c.Arguments, "operator-arg", "argument for --operator, a template; can be repeated")
	flags.StringVar(&c.CRDs, "crds", "", "file or directory with the CRDs of the other operator")
	flags.StringVar(&c.Manifest, "manifest", "", "file with the template of a tenant object of the other operator")
	flags.StringVar(&c.Ready, "ready", ourReady, "JSONPATH=VALUE that is true for an object whose tenant is ready")
	flags.StringVar(&c.Probe, "probe", "", "URL, a template, that returns 200 when the other operator is ready; empty: do not wait")
	flags.StringVar(&c.jsonFile, "json", "", "file to write the raw results to")
	if err := rig.ParseFlags(flags, args); err != nil {
		return c, err
	}
	return c, c.validate()
}

func (c config) validate() error {
	switch {
	case c.Tenants < 1:
		return fmt.Errorf("--tenants=%d: use at least 1", c.Tenants)
	case c.Drifted < 0 || c.Drifted > c.Tenants:
		return fmt.Errorf("--drifted=%d: use 0 to --tenants", c.Drifted)
	case c.SingleChanges < 0 || c.SingleChanges > c.Tenants:
		return fmt.Errorf("--single-changes=%d: use 0 to --tenants", c.SingleChanges)
	case c.Grants < 0 || c.Grants > 999 || c.Grants > 0 && c.Operator != "":
		return fmt.Errorf("--grants=%d: use 0 to 999, for this repository's operator only", c.Grants)
	case c.Accounts < 1 || c.Accounts > max(1, min(c.Grants, 99)):
		return fmt.Errorf("--accounts=%d: use 1 to --grants, at most 99", c.Accounts)
	case c.Accounts > 1 && (c.Drifted > 0 || c.DNS):
		return fmt.Errorf("--accounts=%d: leave --drifted and --dns out, which are for the operator's own account", c.Accounts)
	case !slices.Contains(phaseNames, c.LastPhase):
		return fmt.Errorf("--last-phase=%s: use one of %s", c.LastPhase, strings.Join(phaseNames, ", "))
	case c.Throttle < 0 || !(c.AWSRate > 0):
		return fmt.Errorf("--throttle=%g --aws-rate=%g: use numbers above 0", c.Throttle, c.AWSRate)
	case c.Operator == "" && (len(c.Arguments) > 0 || c.CRDs != "" || c.Manifest != "" || c.Probe != ""):
		return errors.New("--operator-arg, --crds, --manifest and --probe describe another operator: set --operator to its binary")
	case c.Operator != "" && (c.CRDs == "" || c.Manifest == ""):
		return fmt.Errorf("--operator=%s: also set --crds and --manifest", c.Operator)
	}
	return nil
}

func run(ctx context.Context, c config, out io.Writer) error {
	subject, err := subjectOf(c)
	if err != nil {
		return err
	}
	return rig.OnHost(ctx, func(host *stack.Host) error {
		b := &bench{config: c, subject: subject, Bench: rig.Bench{Host: host}, report: report{Config: c}}
		failure := b.measure(ctx)
		b.report.print(out) // what was measured before something failed is worth having
		return errors.Join(failure, rig.Save(c.jsonFile, &b.report))
	})
}
