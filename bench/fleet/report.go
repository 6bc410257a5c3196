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

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// report are the figures of a run.
type report struct {
	Config       config       `json:"config"`
	Ready        distribution `json:"timeToReady"`
	FloorSeconds float64      `json:"floorSeconds"`
	Create       span         `json:"create"`
	Quiet        span         `json:"quiet"`
	Restart      span         `json:"restart"`
	Drift        distribution `json:"driftCorrected"`
	Delete       span         `json:"delete"`
	PeakBytes    float64      `json:"peakBytes"`
	SteadyBytes  float64      `json:"steadyBytes"`
	Goroutines   float64      `json:"goroutines"`
	Leaked       int          `json:"leaked"`
}

// span is what was spent between two marks.
type span struct {
	Seconds   float64        `json:"seconds"`
	Calls     map[string]int `json:"calls"`
	Throttled int            `json:"throttled"`
	Writes    stack.Tally    `json:"writes"`
	// CPU seconds by process.
	CPU map[string]float64 `json:"cpuSeconds"`
}

type mark struct {
	at     time.Time
	calls  stack.Calls
	writes stack.Tally
	cpu    map[string]float64
}

const operatorCPU = "operator"

// mark notes where the counters are.
func (b *bench) mark(ctx context.Context) (mark, error) {
	m := mark{at: time.Now(), cpu: map[string]float64{}}
	var err error
	if m.calls, err = b.stack.AWS.Calls(ctx); err != nil {
		return m, err
	}
	if m.writes, err = b.writes.Tally(ctx, namespace); err != nil {
		return m, err
	}
	sources := map[string]func(context.Context) (stack.Metrics, error){"kube-apiserver": b.host.APIServerMetrics, "etcd": b.host.EtcdMetrics}
	if b.operator.Running() {
		sources[operatorCPU] = b.operator.Metrics
	}
	for name, scrape := range sources {
		sample, err := scrape(ctx)
		if err != nil {
			return m, err
		}
		m.cpu[name] = sample.Sum("process_cpu_seconds_total")
	}
	return m, nil
}

// since subtracts a mark.
func (b *bench) since(ctx context.Context, before mark) (span, error) {
	now, err := b.mark(ctx)
	s := span{
		Seconds: now.at.Sub(before.at).Seconds(), Calls: now.calls.Since(before.calls),
		Throttled: now.calls.Throttled() - before.calls.Throttled(), Writes: now.writes.Since(before.writes), CPU: map[string]float64{},
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
	return fmt.Sprintf("p50 %.1f s, p99 %.1f s, max %.1f s", d.P50, d.P99, d.Max)
}

// print writes a table of the phases that came to their end.
func (r *report) print(out io.Writer) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	defer table.Flush()
	line := func(name, format string, args ...any) {
		fmt.Fprintf(table, "%s\t"+format+"\n", append([]any{name}, args...)...)
	}
	c, n := r.Config, float64(r.Config.Tenants)
	line("fleet", "%d tenants, --aws-rate %g, --aws-burst %d, --sweep-interval %s; AWS deploys for %s, allows %s",
		c.Tenants, c.AWSRate, c.AWSBurst, c.SweepInterval, c.DeployDelay, limitText(c.Throttle))
	if s := r.Create; s.Seconds > 0 {
		line("time to Ready", "%s", r.Ready)
		line("all Ready after", "%.1f s; the floor is %.1f s, so %.0f %% of the possible", s.Seconds, r.FloorSeconds, 100*r.FloorSeconds/s.Seconds)
		line("AWS calls to Ready", "%.3f per tenant: %s", float64(stack.Sum(s.Calls))/n, callsText(s.Calls))
		line("throttled by AWS", "%.2f %%", 100*float64(s.Throttled)/float64(max(1, stack.Sum(s.Calls))))
		w := s.Writes
		line("writes to Ready", "%.2f per tenant: metadata %.2f, status %.2f; events %.2f",
			float64(w.Ours())/n, float64(w.Metadata)/n, float64(w.Status)/n, float64(w.Events)/n)
		line("CPU to Ready", "operator %.1f s (%.1f ms per tenant), kube-apiserver %.1f s, etcd %.1f s",
			s.CPU[operatorCPU], 1000*s.CPU[operatorCPU]/n, s.CPU["kube-apiserver"], s.CPU["etcd"])
	}
	if s := r.Quiet; s.Seconds > 0 {
		hour := 3600 / s.Seconds
		line("quiet, per hour", "%.0f calls (%s in %.0f s), %.0f writes, operator CPU %.1f s",
			float64(stack.Sum(s.Calls))*hour, callsText(s.Calls), s.Seconds, float64(s.Writes.Ours())*hour, s.CPU[operatorCPU]*hour)
		line("memory of the operator", "peak %.0f MB, steady %.0f MB, %.0f goroutines", r.PeakBytes/1e6, r.SteadyBytes/1e6, r.Goroutines)
	}
	if s := r.Restart; s.Seconds > 0 {
		line("restart", "%.1f s, %d calls (%s), %d writes, operator CPU %.1f s",
			s.Seconds, stack.Sum(s.Calls), callsText(s.Calls), s.Writes.Ours(), s.CPU[operatorCPU])
		line("drift corrected after", "%s", r.Drift)
	}
	if s := r.Delete; s.Seconds > 0 {
		line("all deleted after", "%.1f s, %.3f calls per tenant (%s), %.2f writes per tenant, %d tenants left in AWS",
			s.Seconds, float64(stack.Sum(s.Calls))/n, callsText(s.Calls), float64(s.Writes.Ours())/n, r.Leaked)
	}
}

func limitText(rate float64) string {
	if rate == 0 {
		return "everything"
	}
	return fmt.Sprintf("%g calls per second", rate)
}

func callsText(calls map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, calls[name]))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
