package tenantsource_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/postgres"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/sourceworld"
)

// streams are those of a server that are lost when something is sent to the channel.
type streams chan struct{}

// Listen implements port.Hints.
func (s streams) Listen(ctx context.Context, _ mapping.Query, sink port.HintSink) error {
	sink.Ready()
	select {
	case <-s:
		return &fault.Error{Kind: fault.Transient, Operation: "Listen", Message: "the connection was lost"}
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A stream that is lost, and one that is back, are told by an event and by the metric.
func TestAStreamThatIsLostIsTold(t *testing.T) {
	t.Parallel()
	lost := make(streams)
	w := sourceworld.New(t, kubeConfig, sourceworld.Options{
		Rows:  map[mapping.Provider]port.Rows{mapping.Postgres: postgres.New(postgres.Config{Timeout: time.Minute})},
		Hints: map[mapping.Provider]port.Hints{mapping.Postgres: lost},
	})
	told := 0
	expect := func(when, condition string, listening *bool, events ...reconcile.Event) {
		t.Helper()
		w.Advance(0)
		if got := w.Condition("customers", v1alpha1.ConditionWatching); got != condition {
			t.Errorf("%s the source says %s, want %s", when, got, condition)
		}
		if d := cmp.Diff(listening, w.Listening); d != "" {
			t.Errorf("%s the metric is (-want +got):\n%s", when, d)
		}
		var got []reconcile.Event
		for _, e := range w.Events[told:] {
			if e.Reason == v1alpha1.ReasonListening || e.Reason == v1alpha1.ReasonNotListening {
				got = append(got, e)
			}
		}
		told = len(w.Events)
		if d := cmp.Diff(events, got); d != "" {
			t.Errorf("%s the events are (-want +got):\n%s", when, d)
		}
	}
	listens := reconcile.Event{Reason: v1alpha1.ReasonListening, Message: "The database reports changes, and they are read at once."}

	w.Source("customers", mapping.Postgres, newTable(t, 1).Query(), func(o *v1alpha1.TenantSource) {
		o.Spec.Watch = &v1alpha1.SourceWatch{Channel: "customers"}
	})
	w.Advance(0)
	w.AwaitWake()
	expect("when it listens,", "Watching=True/Listening", new(true), listens)

	lost <- struct{}{}
	w.AwaitWake()
	expect("when the stream is lost,", "Watching=False/NotListening", new(false), reconcile.Event{
		Warning: true, Reason: v1alpha1.ReasonNotListening,
		Message: "Listen: the connection was lost. Until this is fixed, the table is only read every spec.pollInterval.",
	})
	w.Once("customers")
	expect("in the next pass,", "Watching=False/NotListening", new(false))

	w.Edit("customers", func(o *v1alpha1.TenantSource) { o.Spec.Watch.Channel = "others" })
	w.Advance(0)
	w.AwaitWake()
	expect("when it listens again,", "Watching=True/Listening", new(true), listens)

	w.Edit("customers", func(o *v1alpha1.TenantSource) { o.Spec.Watch = nil })
	expect("when it does not want to listen,", "Watching is not there", nil)
}
