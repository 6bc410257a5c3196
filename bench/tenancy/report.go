package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// report are the figures of a run.
type report struct {
	Config            config       `json:"config"`
	AllReadySeconds   float64      `json:"allReadySeconds"`
	Ready             distribution `json:"timeToReady"`
	RestartSeconds    float64      `json:"restartSeconds"`
	AllChangedSeconds float64      `json:"allChangedSeconds"`
	MostInFlight      int          `json:"mostInFlight"`
	AllGoneSeconds    float64      `json:"allGoneSeconds"`
	Left              int          `json:"left"`
	Phases            []span       `json:"phases"`
}

// writes are those of the operator, by what they are for.
type writes struct {
	// Finalizer is setting and removing those of tenants, Status the tenants' status.
	Finalizer, Status int
	// Namespace and Children are what tenants have.
	Namespace, Children int
	// Plan is all that is written to the plan and its constraints, Edge what the edge's controller writes to its own objects.
	Plan, Edge int
	Events     int
}

// ours are all but events.
func (w writes) ours() int {
	return w.Finalizer + w.Status + w.Namespace + w.Children + w.Plan + w.Edge
}

func (w writes) since(before writes) writes {
	return writes{
		Finalizer: w.Finalizer - before.Finalizer, Status: w.Status - before.Status, Namespace: w.Namespace - before.Namespace,
		Children: w.Children - before.Children, Plan: w.Plan - before.Plan, Edge: w.Edge - before.Edge, Events: w.Events - before.Events,
	}
}

// span is what was spent in a phase, until all was still again.
type span struct {
	Phase   string  `json:"phase"`
	Seconds float64 `json:"seconds"`
	Writes  writes  `json:"writes"`
	// Requests are the operator's, by method and status.
	Requests map[string]float64 `json:"requests"`
	// CPU seconds by process.
	CPU           map[string]float64 `json:"cpuSeconds"`
	PeakBytes     float64            `json:"peakBytes"`
	ResidentBytes float64            `json:"residentBytes"`
}

type mark struct {
	at       time.Time
	writes   writes
	requests map[string]float64
	cpu      map[string]float64
	pid      int
}

const operatorCPU = "operator"

// requestSeries has the code of the answers and the method.
var requestSeries = regexp.MustCompile(`^rest_client_requests_total{code="([^"]*)",.*method="([^"]*)"`)

// mark notes where the counters are that cost nothing.
func (b *bench) mark(ctx context.Context) (m mark, err error) {
	m = mark{at: time.Now(), pid: b.operator.PID()}
	m.cpu = map[string]float64{operatorCPU: process.UsageOf(m.pid).CPU}
	m.writes, err = b.written(ctx)
	return m, err
}

// written are the operator's writes so far. What the controller manager writes is left out: the end of a namespace with
// all that is in it, and the status of quotas.
func (b *bench) written(ctx context.Context) (w writes, err error) {
	count := func(kind schema.GroupResource) (t stack.Tally) {
		if err == nil {
			t, err = b.writes.Kind(ctx, kind)
		}
		return t
	}
	t := count(tenants)
	w.Finalizer, w.Status = t.Metadata+t.Gone, t.Status
	t = count(namespaces)
	w.Namespace = t.Created + t.Spec + t.Metadata + t.Deletion
	for _, kind := range children {
		t = count(kind)
		w.Children += t.Created + t.Spec
		if kind == edges {
			w.Edge = t.Ours()
		} else {
			w.Children += t.Metadata
		}
	}
	t = count(plans)
	w.Plan = t.Ours()
	t = count(constraints)
	w.Plan += t.Created + t.Spec + t.Metadata + t.Gone
	if err == nil {
		// Events of what is in no namespace are in this one.
		t, err = b.writes.Tally(ctx, "default")
	}
	w.Events = t.Events
	return w, err
}

// markAll notes the others, too.
func (b *bench) markAll(ctx context.Context) (mark, error) {
	m, err := b.mark(ctx)
	if err != nil {
		return m, err
	}
	sample, err := b.operator.Metrics(ctx)
	if err != nil {
		return m, err
	}
	m.requests = map[string]float64{}
	for series, count := range sample {
		if parts := requestSeries.FindStringSubmatch(series); parts != nil {
			m.requests[parts[2]+" "+parts[1]] += count
		}
	}
	if sample, err = b.host.APIServerMetrics(ctx); err != nil {
		return m, err
	}
	m.cpu["kube-apiserver"] = sample.Sum("process_cpu_seconds_total")
	return m, nil
}

// since subtracts a mark.
func (b *bench) since(ctx context.Context, phase string, before mark) (span, error) {
	now, err := b.markAll(ctx)
	if err != nil {
		return span{}, err
	}
	if now.pid != before.pid { // a new process
		before.cpu[operatorCPU] = 0
		clear(before.requests)
	}
	u := process.UsageOf(now.pid)
	s := span{
		Phase: phase, Seconds: now.at.Sub(before.at).Seconds(), Writes: now.writes.since(before.writes),
		Requests: map[string]float64{}, CPU: map[string]float64{}, PeakBytes: u.Peak, ResidentBytes: u.Resident,
	}
	for name, total := range now.cpu {
		s.CPU[name] = total - before.cpu[name]
	}
	for method, total := range now.requests {
		s.Requests[method] = total - before.requests[method]
	}
	return s, nil
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

// print writes what was measured before the end or a failure.
func (r *report) print(out io.Writer) {
	r.printTimes(out)
	fmt.Fprintln(out)
	r.printPhases(out)
	fmt.Fprintln(out)
	for _, s := range r.Phases {
		var parts []string
		for _, method := range slices.Sorted(maps.Keys(s.Requests)) {
			if n := s.Requests[method]; n > 0 {
				parts = append(parts, fmt.Sprintf("%s: %.0f (%.3f)", method, n, n/float64(r.Config.Tenants)))
			}
		}
		fmt.Fprintf(out, "requests, %s: %s\n", s.Phase, strings.Join(parts, ", "))
	}
}

func (r *report) printTimes(out io.Writer) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	defer table.Flush()
	line := func(name string, measured bool, format string, args ...any) {
		if measured {
			fmt.Fprintf(table, "%s\t"+format+"\n", append([]any{name}, args...)...)
		}
	}
	edge := ""
	if r.Config.Edge {
		edge = ", a DistributionTenant"
	}
	line("tenants", true, "%d, each with a namespace, limits, isolation, an owner, a mesh%s", r.Config.Tenants, edge)
	line("a tenant is ready after", r.AllReadySeconds > 0, "p50 %.1f s, p99 %.1f s", r.Ready.P50, r.Ready.P99)
	line("all are ready after", r.AllReadySeconds > 0, "%.1f s", r.AllReadySeconds)
	line("idle after kill -9 and restart", r.RestartSeconds > 0, "%.1f s", r.RestartSeconds)
	line("a change of the plan is rolled out after", r.AllChangedSeconds > 0, "%.1f s, with at most %d tenants at the same time (limit %d)",
		r.AllChangedSeconds, r.MostInFlight, r.Config.MaxConcurrent)
	line("all are deleted after", r.AllGoneSeconds > 0, "%.1f s, %d objects left", r.AllGoneSeconds, r.Left)
}

const mebibyte = 1 << 20

// printPhases writes a line for each phase; values per tenant are marked.
func (r *report) printPhases(out io.Writer) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	defer table.Flush()
	fmt.Fprintln(table, "phase\tseconds\twrites\t/tenant\tfinalizer\tnamespace\tchildren\tstatus\tplan\tedge\tevents\trequests\t/tenant\tCPU ms/tenant\tAPI server\tpeak MiB\tat end\t")
	n := float64(r.Config.Tenants)
	for _, s := range r.Phases {
		requests, w := 0.0, s.Writes
		for _, count := range s.Requests {
			requests += count
		}
		fmt.Fprintf(table, "%s\t%.0f\t%d\t%.3f\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.0f\t%.3f\t%.1f\t%.1f\t%.0f\t%.0f\t\n",
			s.Phase, s.Seconds, w.ours(), float64(w.ours())/n, w.Finalizer, w.Namespace, w.Children, w.Status, w.Plan, w.Edge, w.Events,
			requests, requests/n, 1000*s.CPU[operatorCPU]/n, 1000*s.CPU["kube-apiserver"]/n, s.PeakBytes/mebibyte, s.ResidentBytes/mebibyte)
	}
}
