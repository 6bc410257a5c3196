package aws

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

func newMetrics(t *testing.T) (*Metrics, *prometheus.Registry) {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	m, err := NewMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	return m, registry
}

// newLimiter returns one that lets ten calls a second go, and burst at once; a tenth of
// both is for following.
func newLimiter(t *testing.T, burst int) *Limiter {
	t.Helper()
	m, _ := newMetrics(t)
	return NewLimiter(LimiterConfig{API: "test", Rate: 10, Burst: burst, Clock: clock.RealClock{}, Metrics: m})
}

func asking(t *testing.T, class port.Class, key string) context.Context {
	t.Helper()
	return port.WithCall(t.Context(), port.Call{Key: key, Class: class})
}

func TestAdmissionIsGoodForOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 2)
		admitted, delay := l.Admit(asking(t, port.Change, "a"))
		if delay != 0 {
			t.Fatalf("a rested limiter asks to wait for %v", delay)
		}
		if err := l.take(admitted, "First"); err != nil {
			t.Errorf("the admitted call: %v", err)
		}
		err := l.take(admitted, "Second")
		if !fault.Is(err, fault.Throttled) || fault.RetryAfter(err) == 0 {
			t.Errorf("the second call on one admission: %v, want throttled with a delay", err)
		}
	})
}

func TestAdmissionIsForOneLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, other := newLimiter(t, 2), newLimiter(t, 2)
		admitted, _ := one.Admit(asking(t, port.Change, "a"))
		if err := other.take(admitted, "Call"); err != nil {
			t.Fatalf("the other limiter has room of its own: %v", err)
		}
		if err := other.take(admitted, "Call"); err == nil {
			t.Error("the other limiter honours a permission that it did not give")
		}
		if err := one.take(admitted, "Call"); err != nil {
			t.Errorf("the permission was spent elsewhere: %v", err)
		}
	})
}

func TestARefusedCallerComesBackAfterItsDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 2)
		ctx := asking(t, port.Change, "a")
		if _, delay := l.Admit(ctx); delay != 0 {
			t.Fatalf("first: %v", delay)
		}
		same, delay := l.Admit(ctx)
		if same != ctx || delay == 0 {
			t.Fatalf("second: admitted or changed the context, delay %v", delay)
		}
		<-time.After(delay)
		if _, again := l.Admit(ctx); again != 0 {
			t.Errorf("after %v: another %v", delay, again)
		}
	})
}

// A look that comes back with nothing but a place for the write behind it would be looked
// up again with that place, forever.
func TestAPassThatHasBegunIsNotHeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 2)
		pass := port.WithCall(t.Context(), port.Call{Key: "a", Class: port.Change, Pass: &port.Pass{}})
		for _, operation := range []string{"Look", "LookAgain", "Write"} {
			if err := l.take(pass, operation); err != nil {
				t.Errorf("%s: %v", operation, err)
			}
		}
		// The next caller pays back the two on credit: that is a third of a second.
		if _, delay := l.Admit(asking(t, port.Change, "b")); delay < 300*time.Millisecond {
			t.Errorf("the next caller waits for %v", delay)
		}
		late := port.WithCall(t.Context(), port.Call{Key: "c", Class: port.Change, Pass: &port.Pass{}})
		if err := l.take(late, "Look"); !fault.Is(err, fault.Throttled) {
			t.Errorf("a pass that has not begun: %v, want throttled", err)
		}
		other := newLimiter(t, 2)
		if _, delay := other.Admit(pass); delay != 0 {
			t.Fatalf("a rested limiter asks to wait for %v", delay)
		}
		if _, delay := other.Admit(port.WithCall(t.Context(), port.Call{Class: port.Change})); delay == 0 {
			t.Error("a pass that has begun elsewhere was let go on credit")
		}
	})
}

func TestARetryHoldsNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 2)
		ctx := asking(t, port.Change, "a")
		if !l.takeRetry(ctx) {
			t.Fatal("no retry although there is room")
		}
		if l.takeRetry(ctx) {
			t.Fatal("a retry although there is no room")
		}
		if n := l.bucket.Waiting(); n != 0 {
			t.Errorf("%d places held by a retry", n)
		}
	})
}

// Within a class namespaces take turns, for first calls and for retries.
func TestNamespacesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 3)
		call := func(key, namespace string) context.Context {
			return port.WithCall(t.Context(), port.Call{Key: key, Namespace: namespace, Class: port.Change})
		}
		for i := range 100 {
			l.Admit(call(strconv.Itoa(i), "crowd"))
		}
		if _, delay := l.Admit(call("x", "shop")); delay != 300*time.Millisecond {
			t.Errorf("behind the crowd of another namespace the delay is %v, want that of three calls", delay)
		}
		if _, delay := l.Admit(call("y", "crowd")); delay < 10*time.Second {
			t.Errorf("behind the crowd of its own namespace the delay is %v, want that of all of them", delay)
		}
	})
}

func TestThrottledAnswersSlowDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 50)
		sent := time.Now()
		<-time.After(time.Second)
		l.throttled(sent)
		l.throttled(sent)
		if got := l.rate(); got != 9 {
			t.Errorf("rate %v after two throttles of calls sent together, want 9", got)
		}
		<-time.After(20 * time.Second)
		if got := l.rate(); got != 10 {
			t.Errorf("rate %v after twenty clean seconds, want 10", got)
		}
	})
}

// Many workers at once get what the rate allows, and not more.
func TestConcurrentCallersShareTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 10)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		var went atomic.Int64
		var workers sync.WaitGroup
		for i := range 40 {
			workers.Go(func() {
				call := port.WithCall(ctx, port.Call{Key: string(rune('A' + i)), Class: port.Sweep})
				for ctx.Err() == nil {
					_, delay := l.Admit(call)
					if delay == 0 {
						went.Add(1)
						continue
					}
					select {
					case <-time.After(delay):
					case <-ctx.Done():
					}
				}
			})
		}
		workers.Wait()
		// The shared burst of 9, and for ten seconds the 10 a second that no one follows with.
		if n := went.Load(); n < 107 || n > 109 {
			t.Errorf("%d calls in ten seconds, want 109 or just below", n)
		}
	})
}

func TestLimiterMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, registry := newMetrics(t)
		l := NewLimiter(LimiterConfig{API: "cloudfront", Rate: 10, Burst: 2, Clock: clock.RealClock{}, Metrics: m})
		NewLimiter(LimiterConfig{API: "acm", Rate: 4, Burst: 2, Clock: clock.RealClock{}, Metrics: m})
		for _, class := range []port.Class{port.Change, port.Change, port.Follow, port.Follow, port.Correct, port.Sweep, port.Poll} {
			l.Admit(asking(t, class, ""))
		}
		<-time.After(time.Second)
		l.throttled(time.Now())
		want := map[string]float64{
			"rate acm": 4, "rate cloudfront": 9,
			// One delay for each class that was refused; the sweep has used the call that is for the background.
			"limiter_wait_seconds cloudfront change": 1, "limiter_wait_seconds cloudfront follow": 1,
			"limiter_wait_seconds cloudfront correct": 1, "limiter_wait_seconds cloudfront poll": 1,
		}
		if diff := cmp.Diff(want, gather(t, registry)); diff != "" {
			t.Errorf("metrics (-want +got):\n%s", diff)
		}
	})
}

// gather reads the metrics by name and label values: the value, or of a histogram how
// much was observed.
func gather(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			name := strings.TrimPrefix(family.GetName(), metricPrefix)
			for _, label := range m.GetLabel() {
				name += " " + label.GetValue()
			}
			values[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return values
}

func TestMetricsAreRegisteredOnce(t *testing.T) {
	registry := prometheus.NewRegistry()
	if _, err := NewMetrics(registry); err != nil {
		t.Fatal(err)
	}
	if _, err := NewMetrics(registry); err == nil {
		t.Error("registering twice succeeded: one of the two would count nothing")
	}
}

func TestClassNames(t *testing.T) {
	var got []string
	for c := port.Change; c <= port.Poll+1; c++ {
		got = append(got, className(c))
	}
	if diff := cmp.Diff([]string{"change", "follow", "correct", "sweep", "poll", "other"}, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}
