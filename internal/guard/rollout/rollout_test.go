package rollout_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	domain "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/rollout"
)

var (
	customers = types.NamespacedName{Namespace: "shop", Name: "customers"}
	changes   = []resource.Difference{{Field: "parameters[tier]", Desired: "gold"}}
)

// rig is an order with what it tells.
type rig struct {
	*rollout.Rollouts

	t       *testing.T
	clock   *clocktesting.FakeClock
	source  domain.Limits
	known   []domain.Known
	woken   []types.NamespacedName
	sources int
	stopped []string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, clock: clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), source: domain.Limits{MaxConcurrent: 10, MaxFailedPercent: 10}}
	r.start()
	return r
}

func (r *rig) start() {
	source := func() rollout.Source {
		return rollout.Source{Key: customers, Limits: r.source, Canaries: map[string]string{"ring": "canary"}}
	}
	r.Rollouts = rollout.New(rollout.Options{
		Clock: r.clock, Default: domain.Limits{MaxFailedPercent: 10},
		SourceOf: func(_ context.Context, labels map[string]string) (rollout.Source, bool) {
			return source(), labels["source"] != ""
		},
		Source: func(_ context.Context, key types.NamespacedName) (rollout.Source, bool) {
			return source(), key == customers
		},
		Fleet: func(context.Context, string, []resource.Difference) []domain.Known { return r.known },
		Wake:  func(_ context.Context, keys ...types.NamespacedName) { r.woken = append(r.woken, keys...) },
		WakeSource: func(_ context.Context, key types.NamespacedName) {
			if key != customers {
				r.t.Errorf("%s is woken", key)
			}
			r.sources++
		},
		Stopped: func(_ context.Context, g domain.Group) { r.stopped = append(r.stopped, g.Fields) },
		Release: func(group string) string { return " Release " + group + "." },
	})
}

func (r *rig) ask(name string, labels map[string]string) bool {
	turn := r.Ask(r.t.Context(), labels, domain.Ask{UID: name, Namespace: "shop", Name: name, Fields: []string{"parameters"}, Values: []string{"gold"}}, changes)
	if (turn.Release == "") != turn.Go {
		r.t.Errorf("%s goes (%t), and is told how to be released: %q", name, turn.Go, turn.Release)
	}
	return turn.Go
}

func (r *rig) step() time.Duration { return r.Step(r.t.Context()) }

var ready = domain.Outcome{Settled: true, Ready: true}

// One that asks alone gets its turn at once; the next one is woken when it is Ready.
func TestTheNextOneIsWoken(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if !r.ask("a", nil) || r.ask("b", nil) {
		t.Fatal("not the first one alone goes on at once")
	}
	if wait := r.step(); wait != domain.InFlightAtMost || len(r.woken) > 0 {
		t.Errorf("it looks again after %s, and has woken %v", wait, r.woken)
	}
	r.Tell("a", ready)
	r.step()
	if d := cmp.Diff([]types.NamespacedName{{Namespace: "shop", Name: "b"}}, r.woken); d != "" {
		t.Errorf("woken (-want +got):\n%s", d)
	}
	if !r.ask("b", nil) {
		t.Error("it has its turn, and may not go")
	}
}

// A new process counts those that are Ready with the value, and those that are in flight, and asks its caches for that.
func TestAYoungProcessLooksAround(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.known = []domain.Known{{UID: "z", Namespace: "shop", Name: "z", State: domain.InFlight, Since: r.clock.Now()}}
	if r.ask("a", nil) {
		t.Error("it goes on although another is in flight with the value")
	}
	r.known = nil
	for i := range 7 {
		r.known = append(r.known, domain.Known{UID: fmt.Sprint("k", i), Namespace: "shop", Name: fmt.Sprint("k", i), State: domain.Applied})
	}
	r.start()
	for i := range 20 {
		r.ask(fmt.Sprint("b", i), nil)
	}
	r.step()
	if n := len(r.woken); n != 8 {
		t.Errorf("%d have their turn after 7 that are Ready", n)
	}
}

// Objects of a source follow its rollout, which may change meanwhile, and it is told of what becomes of them.
func TestASource(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.source.Paused = true
	mine := map[string]string{"source": "customers"}
	if r.ask("a", mine) || !r.ask("other", nil) {
		t.Fatal("the source is paused, and only that")
	}
	r.step()
	sum, found := r.Progress(customers)
	if d := cmp.Diff(domain.Rollout{Tenants: 1, Waiting: 1, Paused: true, Progress: domain.Progress{Step: 1}}, sum); d != "" || !found {
		t.Errorf("progress (-want +got):\n%s", d)
	}
	before := r.sources
	r.source.Paused = false
	r.Changed()
	r.step()
	if len(r.woken) != 1 || r.sources == before {
		t.Errorf("after the pause %v are woken, and the source %d times", r.woken, r.sources-before)
	}
	r.Tell("a", ready)
	r.step()
	if sum, _ := r.Progress(customers); sum.Applied != 1 || sum.Waiting != 0 {
		t.Errorf("in the end there is %+v", sum)
	}
	if _, found := r.Progress(types.NamespacedName{Namespace: "shop", Name: "others"}); found {
		t.Error("there is progress of a source that has none")
	}
}

// A change that stops is told once, and an administrator can release it.
func TestAStop(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for i := range 5 {
		r.ask(fmt.Sprint("a", i), nil)
	}
	r.step()
	r.Tell("a0", domain.Outcome{Failure: "x"})
	r.step()
	second := r.woken[0].Name
	r.ask(second, nil)
	r.Tell(second, domain.Outcome{Failure: "x"})
	r.step()
	r.step()
	if d := cmp.Diff([]string{"parameters"}, r.stopped); d != "" || len(r.woken) != 1 {
		t.Errorf("told of (-want +got):\n%s\nand woken are %v", d, r.woken)
	}
	r.Released([]string{"another", r.Groups()[0].Name})
	r.step()
	if len(r.woken) != 4 {
		t.Errorf("after the release %v are woken", r.woken)
	}
}

// The order does not wait for objects that are gone, and looks through nothing if nothing has happened.
func TestForget(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ask("a", nil)
	r.ask("b", nil)
	r.step()
	r.Forget("a")
	r.step()
	if len(r.woken) != 1 {
		t.Errorf("%v are woken", r.woken)
	}
	r.Forget("b")
	r.step()
	if groups := r.Groups(); len(groups) > 0 {
		t.Errorf("there is still %+v", groups)
	}
}

// Where there is no order, everything is let go.
func TestWithoutAnOrder(t *testing.T) {
	t.Parallel()
	var none *rollout.Rollouts
	none.Tell("a", ready)
	none.Forget("a")
	none.Released(nil)
	none.Changed()
	if _, found := none.Progress(customers); found || none.Spreads() {
		t.Error("no order spreads changes")
	}
}

// It runs until it is stopped, and gives turns without being asked.
func TestStart(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	turns := make(chan types.NamespacedName, 1)
	r.Wake = func(_ context.Context, keys ...types.NamespacedName) { turns <- keys[0] }
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Start(ctx) }()
	r.ask("a", nil)
	r.ask("b", nil)
	r.Tell("a", ready)
	for waiting := true; waiting; {
		select {
		case key := <-turns:
			waiting = false
			if key.Name != "b" {
				t.Errorf("%s has its turn", key)
			}
		default:
			r.clock.Step(time.Second)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
