package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/bench/rig"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// report are the figures of a run.
type report struct {
	Config            config           `json:"config"`
	FloorSeconds      float64          `json:"floorSeconds"`
	AllReadySeconds   float64          `json:"allReadySeconds"`
	Ready             rig.Distribution `json:"timeToReady"`
	SingleChanges     int              `json:"singleChanges"`
	Single            rig.Distribution `json:"singleChange"`
	RestartSeconds    float64          `json:"restartSeconds"`
	AllChangedSeconds float64          `json:"allChangedSeconds"`
	Changed           rig.Distribution `json:"timeToChanged"`
	Drift             rig.Distribution `json:"driftCorrected"`
	AllGoneSeconds    float64          `json:"allGoneSeconds"`
	Leaked            int              `json:"leaked"`
	DNS               *dnsFigures      `json:"dns,omitempty"`
	Phases            []span           `json:"phases"`
}

// span is what was spent in a phase, until nothing moved any more.
type span struct {
	rig.Span

	Calls     map[string]int `json:"calls"`
	Throttled int            `json:"throttled"`
	Writes    stack.Tally    `json:"writes"`
	rig.Spent
}

type mark struct {
	rig.Mark

	calls  stack.Calls
	writes stack.Tally
}

func (b *bench) mark(ctx context.Context) (m mark, err error) {
	if m.Mark, err = b.Mark(ctx, rig.APIServer, rig.Etcd); err != nil {
		return m, err
	}
	if m.calls, err = b.Stack.AWS.Calls(ctx); err != nil {
		return m, err
	}
	m.writes, err = b.written(ctx)
	return m, err
}

// begin notes where the counters are, and returns what adds a phase to the report.
func (b *bench) begin(ctx context.Context) (func(context.Context, string) error, error) {
	before, err := b.mark(ctx)
	return func(ctx context.Context, phase string) error {
		now, err := b.mark(ctx)
		s := span{Calls: now.calls.Since(before.calls), Throttled: now.calls.Throttled() - before.calls.Throttled(), Writes: now.writes.Since(before.writes)}
		s.Span, s.Spent = now.Since(phase, before.Mark)
		b.report.Phases = append(b.report.Phases, s)
		return err
	}, err
}

// work is what AWS and etcd have seen of the operator.
func (b *bench) work(ctx context.Context) (int, error) {
	calls, err := b.Stack.AWS.Calls(ctx)
	if err != nil {
		return 0, err
	}
	writes, err := b.written(ctx)
	return stack.Sum(calls.Since(nil)) + writes.Ours() + writes.Events, err
}

// written are all writes to the operator's own resources, and those to events and leases as well.
func (b *bench) written(ctx context.Context) (stack.Tally, error) {
	// Leases are in the operator's namespace, which has objects where there are no teams.
	own, err := b.Writes.Tally(ctx, slices.Compact(append([]string{namespace}, b.namespaces()...))...)
	total := stack.Tally{Events: own.Events, Leases: own.Leases}
	for _, kind := range b.kinds {
		if err != nil {
			break
		}
		var tally stack.Tally
		tally, err = b.Writes.Kind(ctx, kind)
		total = total.Add(tally)
	}
	return total, err
}

// print writes what was measured before the end or a failure.
func (r *report) print(out io.Writer) {
	r.printSetting(out)
	fmt.Fprintln(out)
	r.printTimes(out)
	fmt.Fprintln(out)
	r.printPhases(out)
	fmt.Fprintln(out)
	for _, s := range r.Phases {
		fmt.Fprintf(out, "AWS calls, %s: %s\n", s.Phase, callsText(s.Calls, float64(r.Config.Tenants)))
	}
}

func (r *report) printSetting(out io.Writer) {
	c := r.Config
	name, shape := c.Operator, "the manifest "+c.Manifest
	if name == "" {
		name, shape = "from this repository", "one domain, the certificate of the distribution, owner tags in the create call"
		if c.DNS {
			shape = "one domain with a DNS record, a managed certificate, owner tags in the create call"
		}
	}
	fmt.Fprintf(out, "operator  %s; a tenant has %s\n", name, shape)
	if c.Grants > 0 {
		fmt.Fprintf(out, "teams     %d namespaces with a grant each, in %d AWS accounts\n", c.Grants, c.Accounts)
	}
	fmt.Fprintf(out, "fleet     %d tenants; the operator may make %g calls/s, burst %d; sweeps every %s\n", c.Tenants, c.AWSRate, c.AWSBurst, c.SweepInterval)
	fmt.Fprintf(out, "AWS       takes %s to deploy, allows %s\n", c.DeployDelay, limitText(c.Throttle))
}

func (r *report) printTimes(out io.Writer) {
	rig.PrintTimes(out, func(line func(string, bool, string, ...any)) {
		line("a tenant is Ready after", r.AllReadySeconds > 0, "%s", r.Ready)
		line("all are Ready after", r.AllReadySeconds > 0, "%.1f s, %.2f times the floor N/rate + deploy delay = %.1f s",
			r.AllReadySeconds, r.AllReadySeconds/r.FloorSeconds, r.FloorSeconds)
		line("a single change meanwhile is in AWS after", r.SingleChanges > 0, "%s; %d changes", r.Single, r.SingleChanges)
		line("idle after kill -9 and restart", r.RestartSeconds > 0, "%.1f s", r.RestartSeconds)
		line("a changed spec is Ready after", r.AllChangedSeconds > 0, "%s", r.Changed)
		line("all specs are changed after", r.AllChangedSeconds > 0, "%.1f s", r.AllChangedSeconds)
		line("drift is corrected after", r.Drift.Max > 0, "%s", r.Drift)
		line("all are deleted after", r.AllGoneSeconds > 0, "%.1f s, %d tenants left in AWS", r.AllGoneSeconds, r.Leaked)
		if r.DNS != nil {
			line("Route 53", true, "%s", r.DNS)
			line("left in the zone and in ACM", r.AllGoneSeconds > 0, "%d records, %d managed certificates", r.DNS.Records, r.DNS.Certificates)
		}
	})
}

// printPhases writes a line for each phase; values per tenant are marked.
func (r *report) printPhases(out io.Writer) {
	table := rig.Table(out)
	defer table.Flush()
	fmt.Fprintln(table, "phase\tseconds\tAWS calls\t/tenant\tthrottled\twrites\t/tenant\tmetadata\tstatus\tgone\tevents\tleases\tCPU ms/tenant\tAPI server\tpeak MiB\tat end\tprivate\t")
	n := float64(r.Config.Tenants)
	for _, s := range r.Phases {
		calls, w := float64(stack.Sum(s.Calls)), s.Writes
		fmt.Fprintf(table, "%s\t%.0f\t%.0f\t%.3f\t%.2f %%\t%d\t%.3f\t%d\t%d\t%d\t%d\t%d\t%.1f\t%.1f\t%.0f\t%.0f\t%.0f\t\n",
			s.Phase, s.Seconds, calls, calls/n, 100*float64(s.Throttled)/max(1, calls), w.Ours(), float64(w.Ours())/n,
			w.Metadata, w.Status, w.Gone, w.Events, w.Leases, 1000*s.CPU[rig.Operator]/n, 1000*s.CPU[rig.APIServer]/n,
			s.PeakBytes/rig.Mebibyte, s.ResidentBytes/rig.Mebibyte, s.PrivateBytes/rig.Mebibyte)
	}
}

func limitText(rate float64) string {
	if rate == 0 {
		return "everything"
	}
	return fmt.Sprintf("%g calls/s", rate)
}

func callsText(calls map[string]int, tenants float64) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		parts = append(parts, fmt.Sprintf("%s %d (%.3f)", name, calls[name], float64(calls[name])/tenants))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
