package world

import (
	"context"
	"slices"
	"strconv"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	losses "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// lostCustomers is the store of the breakers: the operator's is a ConfigMap.
type lostCustomers struct {
	stored  port.Deletions
	version int
}

// Load implements port.DeletionStore.
func (l *lostCustomers) Load(context.Context) (port.Deletions, error) {
	out := l.stored
	out.Version = strconv.Itoa(l.version)
	return out, nil
}

// Save implements port.DeletionStore.
func (l *lostCustomers) Save(_ context.Context, m losses.Memory, version string) (string, error) {
	if version != strconv.Itoa(l.version) {
		return "", port.ErrStale
	}
	l.stored.Memory = m
	l.version++
	return strconv.Itoa(l.version), nil
}

// ApproveLosses approves a plan, as an administrator does.
func (w *World) ApproveLosses(plan string) {
	w.lost.stored.Approved = append(slices.Clone(w.lost.stored.Approved), plan)
	w.lost.version++
	w.process.breaker.Changed(strconv.Itoa(w.lost.version))
	w.process.rouse(w.Clock.Now())
}

// HeldLosses are the plans that wait for an approval.
func (w *World) HeldLosses() []losses.Hold { return w.process.breaker.Holds() }

// breaker is that of a process; nil where any number may be lost.
func (w *World) breaker() *loss.Breaker {
	if w.options.Losses == nil {
		return nil
	}
	return loss.New(loss.Options{
		Policy: *w.options.Losses, Store: &w.lost, Clock: w.Clock,
		Annotations: losses.Annotations{Approve: "approve", Abandon: "abandon", Namespace: "operator", ConfigMap: "budget"},
	})
}

// due queues objects of a kind.
func (w *World) due(kind string) func(ctx context.Context, keys ...client.ObjectKey) {
	return func(_ context.Context, keys ...client.ObjectKey) {
		for _, key := range keys {
			if s := w.objects[ID{Kind: kind, ObjectKey: key}]; s != nil {
				s.due = w.Clock.Now()
			}
		}
	}
}

// whenAsked is the step of a worker that rests until something asks, which each pass does.
func whenAsked(step func(context.Context) time.Duration) func(context.Context) time.Duration {
	return func(ctx context.Context) time.Duration {
		if next := step(ctx); next > 0 {
			return next
		}
		return 24 * time.Hour
	}
}

// SetDriftPolicy is the operator's policy from its next start on.
func (w *World) SetDriftPolicy(p resource.DriftPolicy) { w.options.Defaults.DriftPolicy = p }
