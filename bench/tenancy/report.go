package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/bench/rig"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// report are the figures of a run.
type report struct {
	Config            config           `json:"config"`
	AllReadySeconds   float64          `json:"allReadySeconds"`
	Ready             rig.Distribution `json:"timeToReady"`
	RestartSeconds    float64          `json:"restartSeconds"`
	AllChangedSeconds float64          `json:"allChangedSeconds"`
	MostInFlight      int              `json:"mostInFlight"`
	AllGoneSeconds    float64          `json:"allGoneSeconds"`
	Left              int              `json:"left"`
	Phases            []span           `json:"phases"`
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

// span is what was spent in a phase, until nothing moved any more.
type span struct {
	rig.Span

	Writes writes `json:"writes"`
	// Requests are the operator's, by method and status.
	Requests map[string]float64 `json:"requests"`
	rig.Spent
}

type mark struct {
	rig.Mark

	writes   writes
	requests map[string]float64
}

// requestSeries has the code of the answers and the method.
var requestSeries = regexp.MustCompile(`^rest_client_requests_total{code="([^"]*)",.*method="([^"]*)"`)

// work is what etcd has seen of the operator.
func (b *bench) work(ctx context.Context) (int, error) {
	w, err := b.written(ctx)
	return w.ours() + w.Events, err
}

// written are the operator's writes so far. Writes of the controller manager are left out: the end of a namespace with
// all that is in it, and the status of quotas.
func (b *bench) written(ctx context.Context) (w writes, err error) {
	count := func(kind schema.GroupResource) (t stack.Tally) {
		if err == nil {
			t, err = b.Writes.Kind(ctx, kind)
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
		t, err = b.Writes.Tally(ctx, "default")
	}
	w.Events = t.Events
	return w, err
}

func (b *bench) mark(ctx context.Context) (m mark, err error) {
	if m.Mark, err = b.Mark(ctx, rig.APIServer); err != nil {
		return m, err
	}
	if m.writes, err = b.written(ctx); err != nil {
		return m, err
	}
	sample, err := b.Replica.Metrics(ctx)
	m.requests = map[string]float64{}
	for series, count := range sample {
		if parts := requestSeries.FindStringSubmatch(series); parts != nil {
			m.requests[parts[2]+" "+parts[1]] += count
		}
	}
	return m, err
}

// begin notes where the counters are, and returns what adds a phase to the report.
func (b *bench) begin(ctx context.Context) (func(context.Context, string) error, error) {
	before, err := b.mark(ctx)
	return func(ctx context.Context, phase string) error {
		now, err := b.mark(ctx)
		if err != nil {
			return err
		}
		if now.Restarted(before.Mark) {
			clear(before.requests)
		}
		s := span{Writes: now.writes.since(before.writes), Requests: map[string]float64{}}
		s.Span, s.Spent = now.Since(phase, before.Mark)
		for method, total := range now.requests {
			s.Requests[method] = total - before.requests[method]
		}
		b.report.Phases = append(b.report.Phases, s)
		return nil
	}, err
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
	edge := ""
	if r.Config.Edge {
		edge = ", a DistributionTenant"
	}
	rig.PrintTimes(out, func(line func(string, bool, string, ...any)) {
		line("tenants", true, "%d, each with a namespace, limits, isolation, an owner, a mesh%s", r.Config.Tenants, edge)
		line("a tenant is ready after", r.AllReadySeconds > 0, "p50 %.1f s, p99 %.1f s", r.Ready.P50, r.Ready.P99)
		line("all are ready after", r.AllReadySeconds > 0, "%.1f s", r.AllReadySeconds)
		line("idle after kill -9 and restart", r.RestartSeconds > 0, "%.1f s", r.RestartSeconds)
		line("a change of the plan is rolled out after", r.AllChangedSeconds > 0, "%.1f s, with at most %d tenants at the same time (limit %d)",
			r.AllChangedSeconds, r.MostInFlight, r.Config.MaxConcurrent)
		line("all are deleted after", r.AllGoneSeconds > 0, "%.1f s, %d objects left", r.AllGoneSeconds, r.Left)
	})
}

// printPhases writes a line for each phase; values per tenant are marked.
func (r *report) printPhases(out io.Writer) {
	table := rig.Table(out)
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
			requests, requests/n, 1000*s.CPU[rig.Operator]/n, 1000*s.CPU[rig.APIServer]/n, s.PeakBytes/rig.Mebibyte, s.ResidentBytes/rig.Mebibyte)
	}
}
