package tenantsource_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/postgres"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
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
		Rows:  map[mapping.Provider]port.Rows{mapping.Postgres: postgres.New(store.Config{Timeout: time.Minute})},
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

// logins are those of a server that lets every client in: the connection strings of clients that have come, and gone.
type logins struct{ come, gone chan string }

// Listen implements port.Hints.
func (l logins) Listen(ctx context.Context, q mapping.Query, sink port.HintSink) error {
	l.come <- q.Connection.Reveal()
	sink.Ready()
	<-ctx.Done()
	l.gone <- q.Connection.Reveal()
	return ctx.Err()
}

// A stream that stands has no reason of its own to look at its Secret again.
func TestAStreamFollowsItsSecret(t *testing.T) {
	t.Parallel()
	server := logins{come: make(chan string, 2), gone: make(chan string, 2)}
	w, _ := inMemory(t, 1, sourceworld.Options{Hints: map[mapping.Provider]port.Hints{mapping.Postgres: server}, FollowWakes: true},
		func(o *v1alpha1.TenantSource) { o.Spec.Watch = &v1alpha1.SourceWatch{Channel: "customers"} })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	expect := func(what string, from chan string, want string) {
		t.Helper()
		select {
		case got := <-from:
			if got != want {
				t.Errorf("%s with %q, want %q", what, got, want)
			}
		case <-ctx.Done():
			t.Fatalf("not %s with %q", what, want)
		}
	}
	expect("logged in", server.come, "memory")

	w.Secret("customers", "new")
	w.Advance(interval)
	expect("logged out", server.gone, "memory")
	expect("logged in", server.come, "new")

	relabel(t, w, nil)
	w.Advance(interval)
	expect("logged out", server.gone, "new")
	for w.Condition("customers", v1alpha1.ConditionWatching) != "Watching=False/NotListening" {
		w.AwaitWake()
		w.Advance(0)
	}
	if message := w.Message("customers", v1alpha1.ConditionWatching); !strings.Contains(message, v1alpha1.LabelTenantSource) {
		t.Errorf("the source says of its stream: %s", message)
	}
	w.Edit("customers", func(o *v1alpha1.TenantSource) { o.Spec.Watch = nil })
	w.Advance(0) // which ends the stream
}
