package publicdns_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/publicdns"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	targets = []string{"dmain.cloudfront.net"}
	shop    = types.NamespacedName{Namespace: "team", Name: "shop"}
)

// guide shows what a function returns.
type guide func(ctx context.Context, name string) onboarding.Sight

func (g guide) Where(ctx context.Context, name string, _ []string) onboarding.Sight {
	return g(ctx, name)
}

func nowhere(context.Context, string) onboarding.Sight {
	return onboarding.Sight{Way: onboarding.Nowhere}
}

func owner(n int) types.NamespacedName {
	return types.NamespacedName{Namespace: "team", Name: fmt.Sprintf("t%05d", n)}
}

func waiting(name string, asked time.Time) onboarding.Name {
	return onboarding.Name{Name: name, Targets: targets, Asked: asked}
}

// played is a watcher whose looks are made one after the other, by a clock that the test moves.
type played struct {
	*publicdns.Watcher

	clock *clocktesting.FakeClock
	guide guide
	// looks are when each name was looked at, woken when each owner was told, and slow how long a look takes.
	looks map[string][]time.Time
	woken map[types.NamespacedName]int
	slow  time.Duration
}

func play(g guide) *played {
	p := &played{
		clock: clocktesting.NewFakeClock(time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)), guide: g,
		looks: map[string][]time.Time{}, woken: map[types.NamespacedName]int{},
	}
	p.Watcher = publicdns.New(publicdns.Options{
		Clock: p.clock, Random: rand.New(rand.NewPCG(1, 2)).Float64,
		Guide: guide(func(ctx context.Context, name string) onboarding.Sight {
			p.looks[name] = append(p.looks[name], p.clock.Now())
			p.clock.Step(p.slow)
			return p.guide(ctx, name)
		}),
		OnChange: func(_ context.Context, owners []types.NamespacedName) {
			for _, o := range owners {
				p.woken[o]++
			}
		},
	})
	return p
}

// run lets time pass.
func (p *played) run(ctx context.Context, d time.Duration) {
	for end := p.clock.Now().Add(d); p.clock.Now().Before(end); {
		p.clock.Step(min(p.Step(ctx), end.Sub(p.clock.Now())))
	}
}

func (p *played) count() (n int) {
	for _, at := range p.looks {
		n += len(at)
	}
	return n
}

func TestANameThatIsAskedFor(t *testing.T) {
	t.Parallel()
	p := play(nowhere)
	p.Watch(shop, []onboarding.Name{waiting("a.example.com", p.clock.Now())})
	if got := p.Sight("a.example.com", targets); got.Way != "" {
		t.Errorf("seen before the first look: %+v", got)
	}
	asked := p.clock.Now()
	p.run(t.Context(), time.Second)
	if d := cmp.Diff(onboarding.Sight{Way: onboarding.Nowhere, Since: asked, At: asked}, p.Sight("a.example.com", targets)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	p.run(t.Context(), time.Minute)
	if n := p.count(); n < 4 || n > 6 {
		t.Errorf("%d looks in the first minute", n)
	}
	p.guide = func(context.Context, string) onboarding.Sight { return onboarding.Sight{Way: onboarding.Here} }
	p.run(t.Context(), 15*time.Second)
	if got := p.Sight("a.example.com", targets); got.Way != onboarding.Here || p.woken[shop] != 2 {
		t.Errorf("%+v, told %d times", got, p.woken[shop])
	}
	if got := p.Sight("a.example.com", []string{"dother.cloudfront.net"}); got.Way != "" {
		t.Errorf("seen with targets that nobody asked about: %+v", got)
	}
}

// The same name of two objects is looked at once, and both are told. Each forgets it for itself.
func TestANameOfTwoObjects(t *testing.T) {
	t.Parallel()
	p := play(nowhere)
	names := []onboarding.Name{waiting("a.example.com", p.clock.Now())}
	p.Watch(owner(1), names)
	p.Watch(owner(2), names)
	p.run(t.Context(), time.Second)
	if p.count() != 1 || p.woken[owner(1)] != 1 || p.woken[owner(2)] != 1 {
		t.Errorf("%d looks, told %v", p.count(), p.woken)
	}
	p.Forget(owner(1))
	p.guide = func(context.Context, string) onboarding.Sight { return onboarding.Sight{Way: onboarding.Here} }
	p.run(t.Context(), time.Minute)
	if p.woken[owner(1)] != 1 || p.woken[owner(2)] != 2 {
		t.Errorf("told %v", p.woken)
	}
	p.Watch(owner(2), nil)
	looks := p.count()
	p.run(t.Context(), 24*time.Hour)
	if n := p.count() - looks; n != 0 || len(p.Stats()) != 0 {
		t.Errorf("%d looks at a name that nobody watches, %v", n, p.Stats())
	}
}

// Names that stay the same keep their time, and one that is asked for again is looked at again.
func TestNamesThatChange(t *testing.T) {
	t.Parallel()
	p := play(nowhere)
	old := p.clock.Now().Add(-48 * time.Hour)
	names := []onboarding.Name{waiting("a.example.com", old), waiting("b.example.com", old)}
	p.Watch(shop, names)
	p.run(t.Context(), 11*time.Minute)
	for range 100 {
		p.Watch(shop, names)
		p.run(t.Context(), time.Second)
	}
	if n := p.count(); n != 2 {
		t.Errorf("%d looks at two names in the first quarter of an hour", n)
	}
	names = []onboarding.Name{waiting("b.example.com", p.clock.Now()), waiting("c.example.com", p.clock.Now())}
	p.Watch(shop, names)
	p.run(t.Context(), time.Second)
	if got := []int{len(p.looks["a.example.com"]), len(p.looks["b.example.com"]), len(p.looks["c.example.com"])}; !slices.Equal(got, []int{1, 2, 1}) {
		t.Errorf("looks at a, b and c: %v", got)
	}
	if got := p.Sight("a.example.com", targets); got.Way != "" {
		t.Errorf("seen of a name that is not watched: %+v", got)
	}
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	p := play(nowhere)
	p.Watch(shop, []onboarding.Name{{Name: "a.example.com", Targets: targets, Live: true}})
	p.run(t.Context(), 11*time.Minute)
	p.Refresh(shop)
	p.run(t.Context(), time.Second)
	if n := p.count(); n != 2 {
		t.Errorf("%d looks, want the first and one at once", n)
	}
	for range 40 {
		p.Refresh(shop)
		p.run(t.Context(), 500*time.Millisecond)
	}
	if n := p.count(); n < 5 || n > 6 {
		t.Errorf("%d looks after 20 seconds of requests, want one every 5 seconds", n)
	}
	p.Refresh(owner(1))
	p.Forget(owner(1))

	// Other values, which are told once an hour, are told to a user who looks.
	values := 0
	p.guide = func(context.Context, string) onboarding.Sight {
		values++
		return onboarding.Sight{Way: onboarding.Elsewhere, Seen: []string{fmt.Sprintf("192.0.2.%d", values)}}
	}
	for range 4 {
		p.Refresh(shop)
		p.run(t.Context(), 6*time.Second)
	}
	if got := p.Sight("a.example.com", targets); got.Seen[0] != "192.0.2.4" {
		t.Errorf("%+v, want the fourth value", got)
	}
}

// After a restart all names are new to the operator: they are looked at by and by, and in time.
func TestARestartIsSpread(t *testing.T) {
	t.Parallel()
	p := play(nowhere)
	const n = 10_000
	for i := range n {
		p.Watch(owner(i), []onboarding.Name{waiting(fmt.Sprintf("n%d.example.com", i), p.clock.Now().Add(-48*time.Hour))})
	}
	for range 20 {
		before := p.count()
		p.run(t.Context(), time.Minute)
		if looks := p.count() - before; looks > 60*publicdns.DefaultRate+50 {
			t.Errorf("%d looks in a minute", looks)
		}
	}
	if len(p.looks) != n {
		t.Errorf("%d of %d names looked at", len(p.looks), n)
	}
	// A user who comes meanwhile does not wait for them.
	p = play(nowhere)
	for i := range n {
		p.Watch(owner(i), []onboarding.Name{waiting(fmt.Sprintf("n%d.example.com", i), p.clock.Now().Add(-48*time.Hour))})
	}
	p.run(t.Context(), 9*time.Minute)
	p.Watch(shop, []onboarding.Name{waiting("new.example.com", p.clock.Now())})
	p.run(t.Context(), time.Second)
	if len(p.looks["new.example.com"]) == 0 {
		t.Error("a new name waits for those of a restart")
	}
}

// With more fresh names than can be looked at, a new one is still looked at at once, and the others are not forgotten.
func TestFreshNamesAreManyAndFair(t *testing.T) {
	t.Parallel()
	p := play(nowhere)
	for i := range 3_000 {
		p.Watch(owner(i), []onboarding.Name{waiting(fmt.Sprintf("n%d.example.com", i), p.clock.Now())})
	}
	p.Watch(owner(10_000), []onboarding.Name{{Name: "live.example.com", Targets: targets, Live: true}})
	p.run(t.Context(), 11*time.Minute)
	if len(p.looks["live.example.com"]) == 0 {
		t.Error("a live name is not looked at while others are new")
	}
	p.Watch(shop, []onboarding.Name{waiting("new.example.com", p.clock.Now())})
	p.run(t.Context(), time.Second)
	if len(p.looks["new.example.com"]) == 0 {
		t.Error("a new name waits for fresh ones")
	}
	p.run(t.Context(), 10*time.Minute)
	for i := range 3_000 {
		if name := fmt.Sprintf("n%d.example.com", i); len(p.looks[name]) < 2 {
			t.Errorf("%d looks at %s", len(p.looks[name]), name)
		}
	}
}

// A live name that leads elsewhere is told at once, and again when it is lost: within a day.
func TestALostName(t *testing.T) {
	t.Parallel()
	p := play(func(context.Context, string) onboarding.Sight { return onboarding.Sight{Way: onboarding.Here} })
	p.Watch(shop, []onboarding.Name{{Name: "a.example.com", Targets: targets, Live: true}})
	p.run(t.Context(), 11*time.Minute)
	left := p.clock.Now()
	p.guide = nowhere
	for !p.Sight("a.example.com", targets).Lost() {
		p.run(t.Context(), time.Minute)
		if p.clock.Since(left) > 24*time.Hour {
			t.Fatalf("not lost after a day: %+v", p.Sight("a.example.com", targets))
		}
	}
	if p.clock.Since(left) < onboarding.LostAfter || p.woken[shop] != 3 {
		t.Errorf("lost after %s, told %d times: want that it leads here, that it does not, and that it is lost", p.clock.Since(left), p.woken[shop])
	}
	p.run(t.Context(), 48*time.Hour)
	if p.woken[shop] != 3 {
		t.Errorf("told %d times of one loss", p.woken[shop])
	}
}

// Whatever is seen: what objects are shown changes only when they are told, other values are told once an hour, and
// silence is told only if nothing else is known.
func TestObjectsAreToldWhatChanges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := play(nil)
		p.guide = func(context.Context, string) onboarding.Sight {
			s := onboarding.Sight{Way: rapid.SampledFrom([]onboarding.Way{onboarding.Here, onboarding.Elsewhere, onboarding.Elsewhere, onboarding.Nowhere, onboarding.Silent}).Draw(t, "way")}
			if s.Way == onboarding.Elsewhere {
				s.Seen = rapid.SampledFrom([][]string{{"192.0.2.1"}, {"192.0.2.2"}}).Draw(t, "seen")
			}
			return s
		}
		live := rapid.Bool().Draw(t, "live")
		p.Watch(shop, []onboarding.Name{{Name: "a.example.com", Targets: targets, Live: live, Asked: p.clock.Now()}})
		var shown onboarding.Sight
		var values []time.Time
		told := 0
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			p.clock.Step(p.Step(t.Context()))
			now := p.Sight("a.example.com", targets)
			news := p.woken[shop] - told
			told = p.woken[shop]
			lost := now.Lost() && !shown.Lost()
			if changed := !now.Same(shown) || lost; (news == 1) != changed || news > 1 {
				t.Fatalf("told %d times that %+v became %+v", news, shown, now)
			}
			if now.Way == onboarding.Silent && shown.Way.Known() {
				t.Fatalf("silence hides %+v", shown)
			}
			if news == 1 && now.Way == shown.Way && !lost {
				values = append(values, p.clock.Now())
			}
			shown = now
		}
		for n := range max(len(values)-1, 0) {
			if values[n+1].Sub(values[n]) < time.Hour {
				t.Fatalf("other values told at %s and %s", values[n], values[n+1])
			}
		}
	})
}

// running starts a watcher in a bubble; it ends with the test.
func running(t *testing.T, g guide, onChange func(context.Context, []types.NamespacedName)) (w *publicdns.Watcher, stop func()) {
	t.Helper()
	w = publicdns.New(publicdns.Options{Guide: g, Clock: clock.RealClock{}, Random: rand.Float64, OnChange: onChange})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Start(ctx) }()
	return w, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func ignored(context.Context, []types.NamespacedName) {}

// Names whose servers never answer take a few looks, and no more time than one may have.
func TestSlowNamesDelayNoOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, stop := running(t, func(ctx context.Context, name string) onboarding.Sight {
			if name[0] == 's' {
				<-ctx.Done()
				return onboarding.Sight{Way: onboarding.Silent}
			}
			return onboarding.Sight{Way: onboarding.Here}
		}, ignored)
		defer stop()
		if !w.NeedLeaderElection() {
			t.Error("a replica that does not lead would ask, too")
		}
		began := time.Now()
		for i := range 7 {
			w.Watch(owner(i), []onboarding.Name{waiting(fmt.Sprintf("slow%d.example.com", i), began)})
		}
		for i := range 13 {
			w.Watch(owner(100+i), []onboarding.Name{waiting(fmt.Sprintf("n%d.example.com", i), began)})
		}
		synctest.Wait()
		for i := range 13 {
			if got := w.Sight(fmt.Sprintf("n%d.example.com", i), targets); got.Way != onboarding.Here {
				t.Errorf("name %d after %s: %+v", i, time.Since(began), got)
			}
		}
		<-time.NewTimer(5 * time.Second).C
		synctest.Wait()
		if got := w.Sight("slow0.example.com", targets); got.Way != onboarding.Silent {
			t.Errorf("a slow name: %+v", got)
		}
		want := map[onboarding.Way]int{onboarding.Silent: 7, onboarding.Here: 13}
		if d := cmp.Diff(want, w.Stats()); d != "" {
			t.Errorf("ways (-want +got)\n%s", d)
		}
	})
}

// Only so many names are looked at at the same time, and no look is longer than it may be.
func TestLooksAtTheSameTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var looking, most, all atomic.Int32
		w, stop := running(t, func(ctx context.Context, _ string) onboarding.Sight {
			all.Add(1)
			most.Store(max(most.Load(), looking.Add(1)))
			defer looking.Add(-1)
			<-ctx.Done()
			return onboarding.Sight{Way: onboarding.Silent}
		}, ignored)
		defer stop()
		const names, atOnce = 80, 32
		for i := range names {
			w.Watch(owner(i), []onboarding.Name{waiting(fmt.Sprintf("n%d.example.com", i), time.Now())})
		}
		<-time.NewTimer(14 * time.Second).C
		if most.Load() != atOnce || all.Load() < names {
			t.Errorf("%d looks, %d at the same time, want %d in less than 15 seconds and %d", all.Load(), most.Load(), names, atOnce)
		}
	})
}

// A name that is forgotten while it is looked at is not told, and the end does not wait for a look.
func TestForgetDuringALook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		told, looks := 0, 0
		w, stop := running(t, func(ctx context.Context, _ string) onboarding.Sight {
			looks++
			select {
			case <-answer:
			case <-ctx.Done():
			}
			return onboarding.Sight{Way: onboarding.Here}
		}, func(context.Context, []types.NamespacedName) { told++ })
		names := []onboarding.Name{waiting("a.example.com", time.Now())}
		w.Watch(shop, names)
		synctest.Wait()
		w.Refresh(shop)
		w.Forget(shop)
		close(answer)
		<-time.NewTimer(24 * time.Hour).C
		synctest.Wait()
		if told != 0 || looks != 1 || len(w.Stats()) != 0 {
			t.Errorf("told %d times of a name that was forgotten after %d looks, %v", told, looks, w.Stats())
		}
		answer = make(chan struct{})
		w.Watch(shop, names)
		synctest.Wait()
		stop()
		if got := w.Sight("a.example.com", targets); got.Way != "" || told != 0 {
			t.Errorf("a look that was cut off shows %+v", got)
		}
	})
}

// A look that is asked for during another one follows it.
func TestRefreshDuringALook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan onboarding.Way)
		w, stop := running(t, func(ctx context.Context, _ string) onboarding.Sight {
			select {
			case way := <-answers:
				return onboarding.Sight{Way: way}
			case <-ctx.Done():
				return onboarding.Sight{Way: onboarding.Silent}
			}
		}, ignored)
		defer stop()
		w.Watch(shop, []onboarding.Name{{Name: "a.example.com", Targets: targets, Live: true}})
		<-time.NewTimer(10 * time.Minute).C
		answers <- onboarding.Nowhere
		w.Refresh(shop)
		<-time.NewTimer(5 * time.Second).C
		w.Refresh(shop)
		answers <- onboarding.Here
		<-time.NewTimer(5 * time.Second).C
		answers <- onboarding.Here
		synctest.Wait()
		if got := w.Sight("a.example.com", targets); got.Way != onboarding.Here {
			t.Errorf("%+v", got)
		}
	})
}

// A watcher that is off is asked like any other.
func TestNoWatcher(t *testing.T) {
	t.Parallel()
	var w *publicdns.Watcher
	w.Watch(shop, []onboarding.Name{waiting("a.example.com", time.Time{})})
	w.Refresh(shop)
	w.Forget(shop)
	if got := w.Sight("a.example.com", targets); got.Way != "" || w.Stats() != nil {
		t.Errorf("%+v, %v", got, w.Stats())
	}
}

// BenchmarkTenThousandNames measures what ten thousand customers cost who have not set their record: the memory, and the
// looks a second once all have been asked for long ago. A name that does not exist takes one question.
func BenchmarkTenThousandNames(b *testing.B) {
	const n = 10_000
	for b.Loop() {
		p := play(nil)
		looks := 0
		p.Watcher = publicdns.New(publicdns.Options{
			Clock: p.clock, Random: rand.Float64, OnChange: func(context.Context, []types.NamespacedName) {},
			Guide: guide(func(context.Context, string) onboarding.Sight {
				looks++
				return onboarding.Sight{Way: onboarding.Elsewhere, Seen: []string{fmt.Sprintf("192.0.2.%d", looks)}}
			}),
		})
		names := make([]string, n)
		owners := make([]types.NamespacedName, n)
		for i := range n {
			names[i], owners[i] = fmt.Sprintf("customer-%d.shop.example.com", i), owner(i)
		}
		before := heap()
		for i := range n {
			p.Watch(owners[i], []onboarding.Name{waiting(names[i], p.clock.Now().Add(-48*time.Hour))})
		}
		p.run(b.Context(), 2*time.Hour)
		b.ReportMetric(float64(heap()-before)/n, "B/name")
		looks = 0
		const day = 24 * time.Hour
		p.run(b.Context(), day)
		b.ReportMetric(float64(looks)/day.Seconds(), "looks/s")
		runtime.KeepAlive(p)
		runtime.KeepAlive(names)
		runtime.KeepAlive(owners)
	}
}

func heap() uint64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}
