package main

import (
	"context"
	"sync"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

// The metrics of a state table.
const (
	metricWritten = "cloudfront_tenant_operator_source_state_rows_written_total"
	metricWaiting = "cloudfront_tenant_operator_source_state_rows_waiting"
)

// figures are what a step costs.
type figures struct {
	at      time.Time
	seconds float64
	// rows are those that were written to the state table.
	rows float64
	// source and tenants are the operator's writes to the source and to its tenants.
	source, tenants int
	used            process.Usage
	// children is the most memory that one of the operator's children was seen with, in bytes.
	children float64
}

// meter notes where the counters are, and returns what takes the figures at the end.
func (b *bench) meter(ctx context.Context) (end func(context.Context) (figures, error), err error) {
	pid := b.operator.PID()
	process.ForgetPeak(pid)
	before, start, asked, patches := process.UsageOf(pid), time.Now(), b.asks, b.patches()
	sources, tenants, err := b.tallies(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := b.rowsWritten(ctx)
	children := b.watchChildren()
	return func(ctx context.Context) (f figures, err error) {
		f.at, f.children, f.used = time.Now(), children(), process.UsageOf(b.operator.PID())
		f.seconds = f.at.Sub(start).Seconds()
		if b.operator.PID() == pid {
			f.used.CPU, f.used.EndedCPU = f.used.CPU-before.CPU, f.used.EndedCPU-before.EndedCPU
		} else {
			rows = 0
		}
		sourcesNow, tenantsNow, err := b.tallies(ctx)
		if err != nil {
			return f, err
		}
		written := tenantsNow.Since(tenants)
		f.source = sourcesNow.Since(sources).Ours() - (b.asks - asked)
		f.tenants = written.Created + written.Spec + written.Deletion + written.Ours() - (b.patches() - patches)
		now, err := b.rowsWritten(ctx)
		f.rows = now - rows
		return f, err
	}, err
}

func (b *bench) rowsWritten(ctx context.Context) (float64, error) {
	m, err := b.operator.Metrics(ctx)
	return m.Sum(metricWritten), err
}

// patches is how many writes to tenants are the bench's own.
func (b *bench) patches() int {
	if b.states == nil {
		return 0
	}
	b.states.mu.Lock()
	defer b.states.mu.Unlock()
	return b.states.patches
}

// watchChildren looks at the children of the operator, and returns what ends that and tells the most memory that one had.
func (b *bench) watchChildren() (end func() float64) {
	var (
		watching sync.WaitGroup
		peak     float64
		over     = make(chan struct{})
		ticker   = time.NewTicker(200 * time.Millisecond)
	)
	watching.Go(func() {
		defer ticker.Stop()
		for {
			select {
			case <-over:
				return
			case <-ticker.C:
				for _, child := range process.Children(b.operator.PID()) {
					peak = max(peak, process.UsageOf(child).Peak)
				}
			}
		}
	})
	return func() float64 {
		close(over)
		watching.Wait()
		return peak
	}
}
