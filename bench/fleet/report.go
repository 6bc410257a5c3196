package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// report are the figures of a run.
type report struct {
	Config            config       `json:"config"`
	FloorSeconds      float64      `json:"floorSeconds"`
	AllReadySeconds   float64      `json:"allReadySeconds"`
	Ready             distribution `json:"timeToReady"`
	SingleChanges     int          `json:"singleChanges"`
	Single            distribution `json:"singleChange"`
	RestartSeconds    float64      `json:"restartSeconds"`
	AllChangedSeconds float64      `json:"allChangedSeconds"`
	Changed           distribution `json:"timeToChanged"`
	Drift             distribution `json:"driftCorrected"`
	AllGoneSeconds    float64      `json:"allGoneSeconds"`
	Leaked            int          `json:"leaked"`
	DNS               *dnsFigures  `json:"dns,omitempty"`
	Phases            []span       `json:"phases"`
}

// span is what was spent in a phase, until all was still again.
type span struct {
	Phase     string         `json:"phase"`
	Seconds   float64        `json:"seconds"`
	Calls     map[string]int `json:"calls"`
	Throttled int            `json:"throttled"`
	Writes    stack.Tally    `json:"writes"`
	// CPU seconds by process.
	CPU map[string]float64 `json:"cpuSeconds"`
	// PeakBytes is the most memory that the operator had, ResidentBytes what it had at the
	// end, and PrivateBytes the part of that which is no file's.
	PeakBytes     float64 `json:"peakBytes"`
	ResidentBytes float64 `json:"residentBytes"`
	PrivateBytes  float64 `json:"privateBytes"`
}

type mark struct {
	at     time.Time
	calls  stack.Calls
	writes stack.Tally
	cpu    map[string]float64
	pid    int
}

const operatorCPU = "operator"

// mark notes where the counters are.
func (b *bench) mark(ctx context.Context) (mark, error) {
	m := mark{at: time.Now(), pid: b.operator.child.PID()}
	m.cpu = map[string]float64{operatorCPU: process.UsageOf(m.pid).CPU}
	var err error
	if m.calls, err = b.stack.AWS.Calls(ctx); err != nil {
		return m, err
	}
	m.writes, err = b.written(ctx)
	return m, err
}

// markAll notes the CPU time of the control plane too, which costs some of it.
func (b *bench) markAll(ctx context.Context) (mark, error) {
	m, err := b.mark(ctx)
	if err != nil {
		return m, err
	}
	for name, scrape := range map[string]func(context.Context) (stack.Metrics, error){
		"kube-apiserver": b.host.APIServerMetrics, "etcd": b.host.EtcdMetrics,
	} {
		sample, err := scrape(ctx)
		if err != nil {
			return m, err
		}
		m.cpu[name] = sample.Sum("process_cpu_seconds_total")
	}
	return m, nil
}

// written are all writes to the operator's own resources, and those to events and leases as well.
func (b *bench) written(ctx context.Context) (stack.Tally, error) {
	// Leases are in the operator's namespace, which has objects where there are no teams.
	own, err := b.writes.Tally(ctx, slices.Compact(append([]string{namespace}, b.namespaces()...))...)
	total := stack.Tally{Events: own.Events, Leases: own.Leases}
	for _, kind := range b.kinds {
		if err != nil {
			break
		}
		var tally stack.Tally
		tally, err = b.writes.Kind(ctx, kind)
		total = total.Add(tally)
	}
	return total, err
}

// since subtracts a mark.
func (b *bench) since(ctx context.Context, phase string, before mark) (span, error) {
	now, err := b.markAll(ctx)
	if now.pid != before.pid {
		before.cpu[operatorCPU] = 0 // a new process
	}
	u := process.UsageOf(now.pid)
	s := span{
		Phase: phase, Seconds: now.at.Sub(before.at).Seconds(), Calls: now.calls.Since(before.calls),
		Throttled: now.calls.Throttled() - before.calls.Throttled(), Writes: now.writes.Since(before.writes), CPU: map[string]float64{},
		PeakBytes: u.Peak, ResidentBytes: u.Resident, PrivateBytes: u.Private,
	}
	for name, total := range now.cpu {
		s.CPU[name] = total - before.cpu[name]
	}
	return s, err
}

// distribution are seconds.
type distribution struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

func distributionOf(d []time.Duration) distribution {
	if len(d) == 0 {
		return distribution{}
	}
	slices.Sort(d)
	at := func(share float64) float64 { return d[min(int(share*float64(len(d))), len(d)-1)].Seconds() }
	return distribution{P50: at(0.5), P99: at(0.99), Max: d[len(d)-1].Seconds()}
}

func (d distribution) String() string {
	return fmt.Sprintf("p50 %.1f s, p99 %.1f s, all %.1f s", d.P50, d.P99, d.Max)
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
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	defer table.Flush()
	line := func(name string, measured bool, format string, args ...any) {
		if measured {
			fmt.Fprintf(table, "%s\t"+format+"\n", append([]any{name}, args...)...)
		}
	}
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
}

// printPhases writes a line for each phase; values per tenant are marked.
func (r *report) printPhases(out io.Writer) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	defer table.Flush()
	fmt.Fprintln(table, "phase\tseconds\tAWS calls\t/tenant\tthrottled\twrites\t/tenant\tmetadata\tstatus\tgone\tevents\tleases\tCPU ms/tenant\tAPI server\tpeak MiB\tat end\tprivate\t")
	n := float64(r.Config.Tenants)
	for _, s := range r.Phases {
		calls, w := float64(stack.Sum(s.Calls)), s.Writes
		fmt.Fprintf(table, "%s\t%.0f\t%.0f\t%.3f\t%.2f %%\t%d\t%.3f\t%d\t%d\t%d\t%d\t%d\t%.1f\t%.1f\t%.0f\t%.0f\t%.0f\t\n",
			s.Phase, s.Seconds, calls, calls/n, 100*float64(s.Throttled)/max(1, calls), w.Ours(), float64(w.Ours())/n,
			w.Metadata, w.Status, w.Gone, w.Events, w.Leases, 1000*s.CPU[operatorCPU]/n, 1000*s.CPU["kube-apiserver"]/n,
			s.PeakBytes/mebibyte, s.ResidentBytes/mebibyte, s.PrivateBytes/mebibyte)
	}
}

const mebibyte = 1 << 20

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
