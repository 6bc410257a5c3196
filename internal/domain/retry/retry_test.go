package retry_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return start.Add(d) }

// The printed schedules show what is promised.
func TestSchedules(t *testing.T) {
	const s, m, h = time.Second, time.Minute, time.Hour
	tests := map[string]struct {
		schedule retry.Schedule
		want     []time.Duration
	}{
		"seconds first, half an hour at most": {retry.Usual, []time.Duration{
			5 * s, 10 * s, 20 * s, 40 * s, 80 * s, 160 * s, 320 * s, 640 * s, 1280 * s, 2560 * s,
			2560*s + 30*m, 2560*s + 60*m, 2560*s + 90*m, 2560*s + 120*m,
		}},
		"seconds first, five minutes at most": {retry.Proof, []time.Duration{
			5 * s, 10 * s, 20 * s, 40 * s, 80 * s, 160 * s, 320 * s, 620 * s, 920 * s,
		}},
		"five minutes first, half an hour at most": {retry.Republished, []time.Duration{
			5 * m, 10 * m, 20 * m, 40 * m, 70 * m, 100 * m,
		}},
		"ten minutes first, a day at most: no more than a dozen in the first four days": {retry.Certificates, []time.Duration{
			10 * m, 20 * m, 40 * m, 80 * m, 160 * m, 320 * m, 640 * m, 1280 * m, 2560 * m, 2560*m + 24*h, 2560*m + 48*h,
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []time.Duration
			for now := start; len(got) < len(test.want); {
				due := test.schedule.Next(start, now)
				got = append(got, due.Sub(start))
				now = due
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("tries after the first failure (-want +got):\n%s", d)
			}
		})
	}
}

func TestBackoff(t *testing.T) {
	b := retry.Backoff{First: 10 * time.Second, Last: time.Minute}
	var got []time.Duration
	for failures := range 7 {
		got = append(got, b.Delay(failures))
	}
	const s = time.Second
	if d := cmp.Diff([]time.Duration{10 * s, 10 * s, 20 * s, 40 * s, 60 * s, 60 * s, 60 * s}, got); d != "" {
		t.Errorf("pauses after 0, 1, 2 ... failures (-want +got):\n%s", d)
	}
	if got := b.Delay(1 << 40); got != time.Minute {
		t.Errorf("%s after very many failures", got)
	}
	if got := (retry.Backoff{First: time.Minute, Last: time.Second}).Delay(1); got != time.Second {
		t.Errorf("%s, want the last where the first is longer", got)
	}
}

func TestScheduleProperties(t *testing.T) {
	moments := rapid.Int64Range(-int64(time.Hour), int64(60*24*time.Hour))
	schedules := rapid.SampledFrom([]retry.Schedule{retry.Usual, retry.Proof, retry.Republished, retry.Certificates})
	rapid.Check(t, func(t *rapid.T) {
		s := schedules.Draw(t, "schedule")
		now := at(time.Duration(moments.Draw(t, "now")))
		later := now.Add(time.Duration(rapid.Int64Range(0, int64(3*time.Hour)).Draw(t, "later")))
		due, dueLater := s.Next(start, now), s.Next(start, later)
		if !due.After(now) {
			t.Fatalf("due at %s, which is not after %s", due, now)
		}
		if dueLater.Before(due) {
			t.Fatalf("asked later it is due earlier: %s, then %s", due, dueLater)
		}
		if later.Before(due) && !dueLater.Equal(due) {
			t.Fatalf("asking again before it is due moved it from %s to %s", due, dueLater)
		}
		if gap := due.Sub(now); now.After(start) && gap > s.Last {
			t.Fatalf("the next try is %s away", gap)
		}
		// Each pause is at least as long as the one before: the schedule never starts over.
		after := s.Next(start, due)
		third := s.Next(start, after)
		if third.Sub(after) < after.Sub(due) {
			t.Fatalf("the pause shrank from %s to %s", after.Sub(due), third.Sub(after))
		}
	})
}

func TestFollowDelay(t *testing.T) {
	const quiet = 5 * time.Minute
	tests := map[string]struct {
		age, usual, quiet, want time.Duration
	}{
		"a new flight is looked at often":                       {0, 0, quiet, retry.FollowEvery},
		"for two minutes":                                       {2 * time.Minute, 0, quiet, retry.FollowEvery},
		"and then less and less often":                          {6 * time.Minute, 0, quiet, time.Minute},
		"down to the pace of the sweep":                         {3 * time.Hour, 0, quiet, quiet},
		"which it never falls behind":                           {0, 0, time.Second, time.Second},
		"a flight from the future is a new one":                 {-time.Hour, 0, quiet, retry.FollowEvery},
		"one that usually takes a minute is not looked at soon": {0, time.Minute, quiet, 54 * time.Second},
		"nor sooner when it is looked at by chance":             {20 * time.Second, time.Minute, quiet, 34 * time.Second},
		"and often when it should land":                         {54 * time.Second, time.Minute, quiet, 5400 * time.Millisecond},
		"as any other when it is late":                          {91 * time.Second, time.Minute, quiet, retry.FollowEvery},
		"the sweep comes before a usual flight that is longer":  {0, time.Hour, quiet, quiet},
		"what lands within a second is not looked at each time": {500 * time.Millisecond, time.Second, quiet, 2 * time.Second},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := retry.FollowDelay(test.age, test.usual, test.quiet); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestFollowDelayGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "age"))
		b := a + time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "more"))
		if before, after := retry.FollowDelay(a, 0, 5*time.Minute), retry.FollowDelay(b, 0, 5*time.Minute); after < before || before <= 0 {
			t.Fatalf("%s at age %s, %s at age %s", before, a, after, b)
		}
	})
}

// Whatever is known of earlier flights, one is looked at, and not all the time.
func TestFollowDelayIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		age := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "age"))
		usual := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "usual"))
		if got := retry.FollowDelay(age, usual, 5*time.Minute); got < 2*time.Second || got > 5*time.Minute {
			t.Fatalf("%s at age %s where %s is usual", got, age, usual)
		}
	})
}

func TestFollowPause(t *testing.T) {
	for name, test := range map[string]struct {
		pages     int
		took      time.Duration
		launching bool
		want      time.Duration
	}{
		"a few pages are listed often while all is landing":    {3, time.Second, false, 2 * time.Second},
		"and less often while more is launched":                {3, time.Second, true, retry.FollowEvery},
		"many pages cost time":                                 {100, time.Second, false, 20 * time.Second},
		"which is the same whether more is launched meanwhile": {100, time.Second, true, 20 * time.Second},
		"a listing that had to wait leaves launches as long":   {100, 40 * time.Second, true, 40 * time.Second},
		"and is repeated soon when there are none":             {100, 40 * time.Second, false, 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			if got := retry.FollowPause(test.pages, test.took, test.launching); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// The usual duration is learned from below: a look that came late tells little.
func TestUsualFlight(t *testing.T) {
	usual := retry.UsualFlight(0, 40*time.Second)
	usual = retry.UsualFlight(usual, 31*time.Second)
	if usual != 31*time.Second {
		t.Errorf("after flights of 40 and 31 seconds %s is usual", usual)
	}
	if got := retry.UsualFlight(usual, 40*time.Second); got <= usual || got > 32*time.Second {
		t.Errorf("one flight of 40 seconds makes %s usual", got)
	}
	for range 1000 {
		usual = retry.UsualFlight(usual, 5*time.Minute)
	}
	if usual < 290*time.Second {
		t.Errorf("after a thousand flights of five minutes %s is usual", usual)
	}
}

func TestJitterStaysWithinATenth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, int64(24*time.Hour)).Draw(t, "delay"))
		got := retry.Jitter(d, rapid.Float64Range(0, 0.999).Draw(t, "random"))
		if diff := (got - d).Abs(); diff > d/10+1 {
			t.Fatalf("%s became %s", d, got)
		}
	})
}
