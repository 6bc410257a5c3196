package stream

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/semaphore"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// played is a stream whose tries are played one after the other.
type played struct {
	*Stream
	// tries are when they began, woken how often the source was woken.
	tries []time.Duration
	woken int
	stop  func()
}

// later lets so much of a bubble's time pass.
func later(d time.Duration) { <-time.NewTimer(d).C }

func play(t *testing.T, try func(n int, sink port.HintSink)) *played {
	t.Helper()
	return playIn(t, semaphore.NewWeighted(1), func(_ context.Context, n int, s *Stream) { try(n, s) })
}

// playIn plays a stream that shares slots with others.
func playIn(t *testing.T, slots *semaphore.Weighted, try func(ctx context.Context, n int, s *Stream)) *played {
	t.Helper()
	began := time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	p := &played{stop: cancel}
	p.Stream = New(Options{Now: time.Now, Wake: func() { p.woken++ }, Slots: slots, Full: "No slot is free"}, func(ctx context.Context, s *Stream) *tenantsource.Failure {
		p.tries = append(p.tries, time.Since(began))
		try(ctx, len(p.tries), s)
		return &tenantsource.Failure{Message: "No answer"}
	})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return p
}

func TestAStreamThatIsLostIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := play(t, func(int, port.HintSink) {})
		later(20 * time.Minute)
		synctest.Wait()
		seconds := func(n int) time.Duration { return time.Duration(n) * time.Second }
		want := []time.Duration{0, seconds(2), seconds(6), seconds(14), seconds(30), seconds(62), seconds(126), seconds(254), seconds(510), seconds(810), seconds(1110)}
		if diff := cmp.Diff(want, p.tries); diff != "" {
			t.Errorf("tries (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(&tenantsource.Watch{Lost: "No answer"}, p.State()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestAStreamThatStoodIsTriedAgainSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := play(t, func(n int, sink port.HintSink) {
			if n == 4 {
				sink.Ready()
				later(30 * time.Minute)
			}
		})
		later(30*time.Minute + 20*time.Second)
		synctest.Wait()
		if diff := cmp.Diff([]time.Duration{14 * time.Second, 30*time.Minute + 16*time.Second}, p.tries[3:5]); diff != "" {
			t.Errorf("tries (-want +got):\n%s", diff)
		}
	})
}

// A server that takes connections and drops them costs no more polls than one that does not answer.
func TestAStreamThatFlapsIsTriedLessAndLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := play(t, func(_ int, sink port.HintSink) { sink.Ready() })
		later(time.Minute)
		synctest.Wait()
		want := []time.Duration{0, 2 * time.Second, 6 * time.Second, 14 * time.Second, 30 * time.Second}
		if diff := cmp.Diff(want, p.tries); diff != "" {
			t.Errorf("tries (-want +got):\n%s", diff)
		}
	})
}

// A busy table wakes its source once, until the source has begun to read.
func TestHintsWakeASourceOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hint func(...string)
		p := play(t, func(_ int, sink port.HintSink) {
			sink.Ready()
			hint = sink.Hint
			later(time.Hour)
		})
		synctest.Wait()
		first := time.Now()
		if diff := cmp.Diff(&tenantsource.Watch{Listening: true, Hinted: first}, p.State()); diff != "" {
			t.Errorf("what changed before has to be read (-want +got):\n%s", diff)
		}
		for range 1000 {
			later(time.Millisecond)
			hint("a key")
		}
		if p.woken != 1 || !p.State().Hinted.Equal(first) {
			t.Errorf("woken %d times, and hinted at %s", p.woken, p.State().Hinted)
		}
		p.Seen()
		if !p.State().Hinted.IsZero() {
			t.Error("a read that begins has not seen what was told before")
		}
		if hint(); p.woken != 2 {
			t.Errorf("a change after that has woken the source %d times, want 2", p.woken)
		}
	})
}

func TestWhichRowsAStreamNames(t *testing.T) {
	many := make([]string, mostKeys)
	for i := range many {
		many[i] = fmt.Sprintf("row-%04d", i)
	}
	for name, c := range map[string]struct {
		hints [][]string
		want  []string
		woken int
	}{
		"a row":                              {[][]string{{"b"}}, []string{"b"}, 1},
		"rows of several hints, once each":   {[][]string{{"b"}, {"a", "b"}, {"c"}}, []string{"a", "b", "c"}, 1},
		"any row":                            {[][]string{nil}, nil, 1},
		"a row, and any row, which is more":  {[][]string{{"a"}, nil, {"b"}}, nil, 2},
		"any row, and a row":                 {[][]string{nil, {"a"}}, nil, 1},
		"as many rows as can be read":        {[][]string{many}, many, 1},
		"more rows than can be read are any": {[][]string{many, {"another"}, {"one more"}}, nil, 2},
	} {
		t.Run(name, func(t *testing.T) {
			woken := 0
			s := New(Options{Now: time.Now, Wake: func() { woken++ }}, nil)
			for _, keys := range c.hints {
				s.Hint(keys...)
			}
			if diff := cmp.Diff(c.want, s.State().Keys); diff != "" || woken != c.woken || s.State().Hinted.IsZero() {
				t.Errorf("woken %d times, want %d; rows (-want +got):\n%s", woken, c.woken, diff)
			}
			if diff := cmp.Diff(c.want, s.Seen()); diff != "" {
				t.Errorf("a read is given (-want +got):\n%s", diff)
			}
			if w := s.State(); !w.Hinted.IsZero() || w.Keys != nil {
				t.Errorf("a read that begins leaves %+v", w)
			}
		})
	}
}

// stands listens until it is ended.
func stands(ctx context.Context, _ int, s *Stream) {
	s.Connecting(mapping.NewSecret("first"))
	s.Ready()
	<-ctx.Done()
}

// Only what is known to be wrong ends a stream that stands.
func TestAStreamEndsWithItsConnectionString(t *testing.T) {
	for name, c := range map[string]struct {
		offered string
		failure *tenantsource.Failure
		tries   int
	}{
		"it is the same":                 {"first", nil, 1},
		"it is another one":              {"second", nil, 2},
		"it may not be used any more":    {"", &tenantsource.Failure{Reason: tenantsource.InvalidConfig}, 2},
		"the API server does not answer": {"", &tenantsource.Failure{Reason: tenantsource.PollFailed}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := playIn(t, semaphore.NewWeighted(1), stands)
				synctest.Wait()
				p.Compare(mapping.NewSecret(c.offered), c.failure)
				synctest.Wait()
				if len(p.tries) != c.tries || !p.State().Listening {
					t.Errorf("tried %d times, want %d; it listens: %t", len(p.tries), c.tries, p.State().Listening)
				}
			})
		})
	}
}

// The fault of the old one need not be that of the new one.
func TestAPauseEndsWithTheConnectionString(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playIn(t, semaphore.NewWeighted(1), func(_ context.Context, _ int, s *Stream) { s.Connecting(mapping.NewSecret("first")) })
		synctest.Wait()
		p.Compare(mapping.NewSecret("second"), nil)
		later(time.Second)
		p.Compare(mapping.NewSecret("first"), nil)
		later(900 * time.Millisecond)
		if diff := cmp.Diff([]time.Duration{0, 0}, p.tries); diff != "" {
			t.Errorf("tries (-want +got):\n%s", diff)
		}
		(*Stream)(nil).Compare(mapping.NewSecret("second"), nil)
	})
}

// A server that is no longer the database of its host name may keep its connections.
func TestAStreamConnectsAgainAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playIn(t, semaphore.NewWeighted(1), stands)
		later(2*time.Hour + time.Minute)
		synctest.Wait()
		if diff := cmp.Diff([]time.Duration{0, time.Hour, 2 * time.Hour}, p.tries); diff != "" {
			t.Errorf("tries (-want +got):\n%s", diff)
		}
		if w := p.State(); !w.Listening || w.Lost != "" {
			t.Errorf("it shows %+v, but no stream was lost", w)
		}
	})
}

func TestAStreamThatPausesHasNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slots := semaphore.NewWeighted(1)
		failing := playIn(t, slots, func(ctx context.Context, n int, s *Stream) {
			if n == 2 {
				stands(ctx, n, s)
			}
		})
		synctest.Wait()
		other := playIn(t, slots, stands)
		later(time.Minute)
		synctest.Wait()
		if !other.State().Listening || len(failing.tries) != 1 || failing.State().Lost != "No slot is free" {
			t.Errorf("one stream shows %+v, the other was tried %d times and shows %+v", other.State(), len(failing.tries), failing.State())
		}
		other.stop()
		synctest.Wait()
		if !failing.State().Listening || failing.State().Lost != "" {
			t.Errorf("a stream that waited for a slot shows %+v once one is free", failing.State())
		}
	})
}

func TestAChangedStreamKeepsItsSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slots := semaphore.NewWeighted(1)
		p, other := playIn(t, slots, stands), (*played)(nil)
		synctest.Wait()
		other = playIn(t, slots, stands)
		synctest.Wait()
		changed := 0
		p.Change(func(ctx context.Context, s *Stream) *tenantsource.Failure {
			changed++
			stands(ctx, 1, s)
			return &tenantsource.Failure{}
		})
		if p.State().Listening {
			t.Error("a stream listens as another spec wants before it was tried")
		}
		synctest.Wait()
		if changed != 1 || !p.State().Listening || len(other.tries) > 0 {
			t.Errorf("it was tried %d times with the new spec, and another stream %d times in its slot", changed, len(other.tries))
		}
	})
}
