package onboarding_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
)

var start = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return start.Add(d) }

func TestPause(t *testing.T) {
	t.Parallel()
	waiting, live := onboarding.Name{Asked: start}, onboarding.Name{Asked: start, Live: true}
	for name, tt := range map[string]struct {
		name  onboarding.Name
		sight onboarding.Sight
		want  time.Duration
	}{
		"a user has just been told the record":          {waiting, onboarding.Sight{Way: onboarding.Nowhere, At: at(time.Minute)}, 15 * time.Second},
		"the user takes a while":                        {waiting, onboarding.Sight{Way: onboarding.Nowhere, At: at(15 * time.Minute)}, 30 * time.Second},
		"an hour later the pause grows":                 {waiting, onboarding.Sight{Way: onboarding.Nowhere, At: at(time.Hour)}, 30 * time.Second},
		"it is as long as the time since":               {waiting, onboarding.Sight{Way: onboarding.Elsewhere, At: at(80 * time.Minute)}, 20 * time.Minute},
		"and an hour at most":                           {waiting, onboarding.Sight{Way: onboarding.Nowhere, At: at(90 * 24 * time.Hour)}, time.Hour},
		"resolvers that are silent change nothing":      {waiting, onboarding.Sight{Way: onboarding.Silent, At: at(time.Minute)}, 15 * time.Second},
		"what leads to its target waits for CloudFront": {waiting, onboarding.Sight{Way: onboarding.Here, At: at(time.Minute)}, 5 * time.Minute},
		"what some resolvers do not see yet does not":   {waiting, onboarding.Sight{Way: onboarding.Partly, At: at(time.Minute)}, 15 * time.Second},
		"a live name":                                      {live, onboarding.Sight{Way: onboarding.Here, At: at(time.Hour)}, 12 * time.Hour},
		"a live name that is not known":                    {live, onboarding.Sight{Way: onboarding.Silent, At: at(time.Hour)}, 12 * time.Hour},
		"a live name that leads elsewhere":                 {live, onboarding.Sight{Way: onboarding.Elsewhere, At: at(time.Hour), Astray: at(time.Hour)}, time.Hour},
		"a live name that some resolvers lead elsewhere":   {live, onboarding.Sight{Way: onboarding.Partly, At: at(time.Hour)}, time.Hour},
		"a live name is looked at when it is to be lost":   {live, onboarding.Sight{Way: onboarding.Edge, At: at(10*time.Hour + 50*time.Minute), Astray: start}, 10 * time.Minute},
		"a lost name is looked at no more often than that": {live, onboarding.Sight{Way: onboarding.Edge, At: at(11 * time.Hour), Astray: start}, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tt.name.Pause(tt.sight); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

func TestFirst(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		name   onboarding.Name
		random float64
		want   time.Duration
	}{
		"a user may be waiting":                {onboarding.Name{Asked: at(-59 * time.Minute)}, 0.5, 0},
		"the clock of the API server is ahead": {onboarding.Name{Asked: at(time.Minute)}, 0.5, 0},
		"asked for long ago":                   {onboarding.Name{Asked: at(-time.Hour)}, 0.5, 5 * time.Minute},
		"live":                                 {onboarding.Name{Asked: start, Live: true}, 0.25, 150 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tt.name.First(start, tt.random); !got.Equal(at(tt.want)) {
				t.Errorf("%s, want %s", got, at(tt.want))
			}
		})
	}
}

func TestThen(t *testing.T) {
	t.Parallel()
	live, later := onboarding.Name{Live: true}, at(time.Hour)
	here := onboarding.Sight{Way: onboarding.Here, Since: start, At: start}
	stray := onboarding.Sight{Way: onboarding.Elsewhere, Seen: []string{"old.example.net"}, Since: start, At: start, Astray: start}
	for name, tt := range map[string]struct {
		name         onboarding.Name
		before, look onboarding.Sight
		want         onboarding.Sight
	}{
		"the first look": {
			onboarding.Name{}, onboarding.Sight{}, onboarding.Sight{Way: onboarding.Nowhere, At: later}, onboarding.Sight{Way: onboarding.Nowhere, Since: later, At: later},
		},
		"the same way": {live, here, onboarding.Sight{Way: onboarding.Here, At: later}, onboarding.Sight{Way: onboarding.Here, Since: start, At: later}},
		"another value on the same way": {
			live, stray, onboarding.Sight{Way: onboarding.Elsewhere, Seen: []string{"192.0.2.1"}, At: later},
			onboarding.Sight{Way: onboarding.Elsewhere, Seen: []string{"192.0.2.1"}, Since: start, At: later, Astray: start},
		},
		"a live name begins to stray": {
			live, here, onboarding.Sight{Way: onboarding.Nowhere, At: later}, onboarding.Sight{Way: onboarding.Nowhere, Since: later, At: later, Astray: later},
		},
		"it strays another way": {
			live, stray, onboarding.Sight{Way: onboarding.Circle, At: later}, onboarding.Sight{Way: onboarding.Circle, Since: later, At: later, Astray: start},
		},
		"some resolvers lead it back": {
			live, stray, onboarding.Sight{Way: onboarding.Partly, Seen: []string{"old.example.net"}, At: later},
			onboarding.Sight{Way: onboarding.Partly, Seen: []string{"old.example.net"}, Since: later, At: later},
		},
		"a name that is not live does not stray": {
			onboarding.Name{}, here, onboarding.Sight{Way: onboarding.Nowhere, At: later}, onboarding.Sight{Way: onboarding.Nowhere, Since: later, At: later},
		},
		"silence changes nothing":                                  {live, stray, onboarding.Sight{Way: onboarding.Silent, At: later}, stray},
		"a live name whose lookups fail stays as it was":           {live, here, onboarding.Sight{Way: onboarding.Failing, At: later}, here},
		"one that strays stays astray":                             {live, stray, onboarding.Sight{Way: onboarding.Failing, At: later}, stray},
		"a name that leads to its target stays so":                 {onboarding.Name{}, here, onboarding.Sight{Way: onboarding.Failing, At: later}, here},
		"a new name whose lookups fail is told so":                 {onboarding.Name{}, onboarding.Sight{}, onboarding.Sight{Way: onboarding.Failing, At: later}, onboarding.Sight{Way: onboarding.Failing, Since: later, At: later}},
		"after a restart the failures of a live name mean nothing": {live, onboarding.Sight{}, onboarding.Sight{Way: onboarding.Failing, At: later}, onboarding.Sight{Way: onboarding.Silent, Since: later, At: later}},
		"silence is all that is known":                             {live, onboarding.Sight{}, onboarding.Sight{Way: onboarding.Silent, At: later}, onboarding.Sight{Way: onboarding.Silent, Since: later, At: later}},
		"silence goes on": {
			live, onboarding.Sight{Way: onboarding.Silent, Since: start, At: start}, onboarding.Sight{Way: onboarding.Silent, At: later}, onboarding.Sight{Way: onboarding.Silent, Since: start, At: later},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(tt.want, tt.name.Then(tt.before, tt.look)); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

// A name is lost when, and only when, each look of the time before has shown it astray or has shown nothing.
func TestLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := onboarding.Name{Live: true, Asked: start}
		var known onboarding.Sight
		var astray time.Time
		now := start
		for range rapid.IntRange(1, 60).Draw(t, "looks") {
			look := onboarding.Sight{Way: rapid.SampledFrom(onboarding.Ways[1:]).Draw(t, "way"), At: now}
			known = name.Then(known, look)
			switch look.Way {
			case onboarding.Silent, onboarding.Failing:
			case onboarding.Here, onboarding.Partly:
				astray = time.Time{}
			default:
				if astray.IsZero() {
					astray = now
				}
				if got, want := known.Lost(), now.Sub(astray) >= onboarding.LostAfter; got != want {
					t.Fatalf("lost: %t, want %t, astray since %s, now %s", got, want, astray, now)
				}
			}
			if known.Lost() && astray.IsZero() {
				t.Fatalf("lost, though it leads %s", known.Way)
			}
			pause := name.Pause(onboarding.Sight{Way: known.Way, At: now, Astray: known.Astray})
			if pause <= 0 || pause > 12*time.Hour {
				t.Fatalf("a pause of %s", pause)
			}
			now = now.Add(pause)
		}
	})
}

func TestWays(t *testing.T) {
	t.Parallel()
	for _, w := range onboarding.Ways {
		if want := w != "" && w != onboarding.Silent; w.Known() != want {
			t.Errorf("%q is known: %t", w, w.Known())
		}
	}
	one := onboarding.Sight{Way: onboarding.Elsewhere, Seen: []string{"192.0.2.1"}, At: start}
	if other := (onboarding.Sight{Way: onboarding.Elsewhere, Seen: []string{"192.0.2.1"}, At: at(time.Hour)}); !one.Same(other) {
		t.Error("the time of a sight makes it another")
	}
	if one.Same(onboarding.Sight{Way: onboarding.Elsewhere, Seen: []string{"192.0.2.2"}}) || one.Same(onboarding.Sight{Way: onboarding.Edge, Seen: one.Seen}) {
		t.Error("another value or way is the same sight")
	}
}
