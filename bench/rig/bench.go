package rig

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

const (
	// poll is how often something is looked at.
	poll = 250 * time.Millisecond
	// Hang ends a run in which nothing moves any more.
	Hang = 2 * time.Hour
)

// The operator counts as quiet after this long without work, or more than next to no CPU time. One that polls is never
// quiet, and is measured until the time limit.
const (
	stillFor   = 8 * time.Second
	stillCPU   = 0.1
	impatience = 3 * time.Minute
)

// Bench is a run. The run stops everything that it has started. These may be nil.
type Bench struct {
	Host *stack.Host
	// Kube is the administrator's.
	Kube    client.WithWatch
	Stack   *stack.Stack
	Replica *stack.Operator
	Objects *stack.Objects
	Writes  *stack.Writes
}

// Stop ends what runs.
func (b *Bench) Stop() (err error) {
	if b.Objects != nil {
		b.Objects.Close()
	}
	if b.Writes != nil {
		b.Writes.Stop()
	}
	if b.Stack != nil {
		err = b.Stack.Stop()
	}
	return err
}

// Phases are what is done, by name. One without a function is left out.
type Phases map[string]func(context.Context) error

// Play goes through the phases in their order, to the last that is wanted. begin notes where the counters are, and
// returns what takes the figures at the end of a phase.
func (b *Bench) Play(ctx context.Context, order []string, last string, phases Phases, begin func(context.Context) (end func(context.Context, string) error, err error)) error {
	for _, name := range order {
		Say("%s", name)
		if phases[name] != nil {
			process.ForgetPeak(b.Replica.PID())
			end, err := begin(ctx)
			if err == nil {
				err = phases[name](ctx)
			}
			if err == nil {
				err = end(ctx, name)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		if name == last {
			break
		}
	}
	return nil
}

// Quiet waits where there is nothing to do.
func Quiet(ctx context.Context, d time.Duration) error {
	end := time.Now().Add(d)
	return Until(ctx, func(context.Context) (bool, error) { return time.Now().After(end), nil })
}

// Restart kills the operator, and returns how long a new one took to come to rest.
func (b *Bench) Restart(ctx context.Context, work Work) (seconds float64, err error) {
	if err := b.Replica.Kill(ctx); err != nil {
		return 0, err
	}
	begun := time.Now()
	if err := b.Replica.Start(ctx); err != nil {
		return 0, err
	}
	err = b.Settle(ctx, work)
	return time.Since(begun).Seconds() - stillFor.Seconds(), err
}

// Work is how much the operator has done so far: calls, writes.
type Work func(context.Context) (int, error)

// Settle waits until the operator rests.
func (b *Bench) Settle(ctx context.Context, work Work) error {
	begun := time.Now()
	last := b.mark()
	done, err := work(ctx)
	if err != nil {
		return err
	}
	since := last.at
	return Until(ctx, func(ctx context.Context) (bool, error) {
		now := b.mark()
		more, err := work(ctx)
		if err != nil {
			return false, err
		}
		cpu := (now.cpu[Operator] - last.cpu[Operator]) / max(now.at.Sub(last.at).Seconds(), 0.001)
		if more != done || cpu > stillCPU {
			since, done = now.at, more
		}
		last = now
		return now.at.Sub(since) > stillFor || now.at.Sub(begun) > impatience, nil
	})
}

// Until waits for a condition.
func Until(ctx context.Context, done wait.ConditionWithContextFunc) error {
	return wait.PollUntilContextTimeout(ctx, poll, Hang, true, done)
}

// The processes whose CPU time is counted.
const (
	Operator  = "operator"
	APIServer = "kube-apiserver"
	Etcd      = "etcd"
)

// Mark is where the counters of processes were.
type Mark struct {
	at  time.Time
	pid int
	cpu map[string]float64
}

// mark costs nothing.
func (b *Bench) mark() Mark {
	pid := b.Replica.PID()
	return Mark{at: time.Now(), pid: pid, cpu: map[string]float64{Operator: process.UsageOf(pid).CPU}}
}

// Mark notes the CPU time of the operator, and of some of the control plane, which costs some of it.
func (b *Bench) Mark(ctx context.Context, names ...string) (Mark, error) {
	m := b.mark()
	for _, name := range names {
		scrape := b.Host.APIServerMetrics
		if name == Etcd {
			scrape = b.Host.EtcdMetrics
		}
		sample, err := scrape(ctx)
		if err != nil {
			return m, err
		}
		m.cpu[name] = sample.Sum("process_cpu_seconds_total")
	}
	return m, nil
}

// Span is a phase, until nothing moved any more.
type Span struct {
	Phase   string  `json:"phase"`
	Seconds float64 `json:"seconds"`
}

// Spent is what processes used meanwhile.
type Spent struct {
	// CPU seconds by process.
	CPU map[string]float64 `json:"cpuSeconds"`
	// PeakBytes is the most memory that the operator had, ResidentBytes what it had at the end, and PrivateBytes the part
	// of that which is no file's.
	PeakBytes     float64 `json:"peakBytes"`
	ResidentBytes float64 `json:"residentBytes"`
	PrivateBytes  float64 `json:"privateBytes"`
}

// Since subtracts a mark.
func (m Mark) Since(phase string, before Mark) (Span, Spent) {
	usage := process.UsageOf(m.pid)
	spent := Spent{CPU: map[string]float64{}, PeakBytes: usage.Peak, ResidentBytes: usage.Resident, PrivateBytes: usage.Private}
	for name, total := range m.cpu {
		spent.CPU[name] = total - before.cpu[name]
	}
	if m.Restarted(before) {
		spent.CPU[Operator] = m.cpu[Operator]
	}
	return Span{Phase: phase, Seconds: m.at.Sub(before.at).Seconds()}, spent
}

// Restarted reports whether the operator is a new process since then.
func (m Mark) Restarted(before Mark) bool { return m.pid != before.pid }
