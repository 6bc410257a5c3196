package rollout_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
)

var epoch = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// in are members in a state.
func in(s rollout.State, names ...string) []rollout.Member {
	var out []rollout.Member
	for _, name := range names {
		m := rollout.Member{Name: name, UID: name, State: s}
		if s == rollout.Failed {
			m.Failure = "broken"
		}
		out = append(out, m)
	}
	return out
}

// names are n of them.
func names(prefix string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint(prefix, i)
	}
	return out
}

// canaries marks members.
func canaries(list []rollout.Member) []rollout.Member {
	for i := range list {
		list[i].Canary = true
	}
	return list
}

func TestAdvance(t *testing.T) {
	t.Parallel()
	type outcome struct {
		Released        int
		Stopped, Paused bool
		Step            int
		Again           time.Duration
	}
	limits := func(change func(*rollout.Limits)) rollout.Limits {
		l := rollout.Limits{MaxConcurrent: 4, MaxFailedPercent: 10}
		change(&l)
		return l
	}
	plain := limits(func(*rollout.Limits) {})
	two := limits(func(l *rollout.Limits) { l.Canaries, l.Strict = 2, true })
	labelled := limits(func(l *rollout.Limits) { l.Strict = true })
	stepwise := limits(func(l *rollout.Limits) { l.Step, l.Pause = 3, time.Hour })
	for name, tt := range map[string]struct {
		members  []rollout.Member
		limits   rollout.Limits
		progress rollout.Progress
		want     outcome
	}{
		"it begins with one":                                 {in(rollout.Waiting, "a", "b", "c"), plain, rollout.Progress{}, outcome{Released: 1, Step: 1}},
		"or with as many canaries as are asked for":          {in(rollout.Waiting, "a", "b", "c"), two, rollout.Progress{}, outcome{Released: 2, Step: 1}},
		"never more than may be in flight":                   {slices.Concat(in(rollout.Applied, "a", "b", "c", "d", "e", "f"), in(rollout.InFlight, "g"), in(rollout.Waiting, "h", "i", "j", "k")), plain, rollout.Progress{}, outcome{Released: 3, Step: 2}},
		"all canaries with labels are first":                 {slices.Concat(canaries(in(rollout.Waiting, "a", "b")), in(rollout.Waiting, "c", "d")), plain, rollout.Progress{}, outcome{Released: 2, Step: 1}},
		"and are waited for":                                 {slices.Concat(canaries(in(rollout.InFlight, "a", "b")), in(rollout.Waiting, "c", "d")), plain, rollout.Progress{}, outcome{Step: 1}},
		"those that are held are waited for, too":            {slices.Concat(canaries(in(rollout.Held, "a")), canaries(in(rollout.Applied, "b")), in(rollout.Waiting, "c", "d")), labelled, rollout.Progress{Step: 1, Target: 1}, outcome{Step: 1}},
		"also where the progress is lost, and without steps": {slices.Concat(canaries(in(rollout.Held, "a")), in(rollout.Waiting, "c", "d")), plain, rollout.Progress{}, outcome{Step: 1}},
		"after the first step they are not":                  {slices.Concat(canaries(in(rollout.Held, "a")), canaries(in(rollout.Applied, "b")), in(rollout.Waiting, "c", "d", "e")), labelled, rollout.Progress{Step: 2}, outcome{Released: 2, Step: 2}},
		"one that goes away while it is held leaves no gap":  {slices.Concat(canaries(in(rollout.Exempt, "a")), canaries(in(rollout.Applied, "b")), in(rollout.Waiting, "c")), limits(func(l *rollout.Limits) { l.Strict, l.Pause = true, time.Hour }), rollout.Progress{Step: 1, Target: 1}, outcome{Step: 1, Again: time.Hour}},
		"a canary with labels that is unfit stops it":        {slices.Concat(canaries(in(rollout.Unfit, "a")), canaries(in(rollout.Applied, "b")), in(rollout.Waiting, names("c", 30)...)), labelled, rollout.Progress{Step: 1, Target: 1}, outcome{Stopped: true, Step: 1}},
		"unless as many of the canaries may be":              {slices.Concat(canaries(in(rollout.Unfit, "a")), canaries(in(rollout.Waiting, "b")), in(rollout.Waiting, names("c", 30)...)), limits(func(l *rollout.Limits) { l.Strict, l.MaxFailedPercent = true, 50 }), rollout.Progress{}, outcome{Released: 1, Step: 1}},
		"and then no other takes its place":                  {slices.Concat(canaries(in(rollout.Unfit, "a")), canaries(in(rollout.Applied, "b")), in(rollout.Waiting, names("c", 30)...)), limits(func(l *rollout.Limits) { l.Strict, l.MaxFailedPercent, l.Pause = true, 50, time.Hour }), rollout.Progress{Step: 1, Target: 1}, outcome{Step: 1, Again: time.Hour}},
		"unless there are no other canaries":                 {slices.Concat(canaries(in(rollout.Unfit, "a")), in(rollout.Waiting, names("c", 30)...)), limits(func(l *rollout.Limits) { l.Strict, l.MaxFailedPercent = true, 100 }), rollout.Progress{}, outcome{Released: 1, Step: 1}},
		"an unfit canary does not stop the steps after":      {slices.Concat(canaries(in(rollout.Unfit, "a")), canaries(in(rollout.Applied, "b")), in(rollout.Waiting, names("c", 30)...)), labelled, rollout.Progress{Step: 2}, outcome{Released: 2, Step: 2}},
		"a canary that was asked for may not fail":           {slices.Concat(in(rollout.Failed, "a"), in(rollout.Applied, "b"), in(rollout.Waiting, "c")), two, rollout.Progress{}, outcome{Stopped: true}},
		"nor while the pause after it lasts":                 {slices.Concat(in(rollout.Failed, "a"), in(rollout.Applied, "b", "c"), in(rollout.Waiting, "d")), limits(func(l *rollout.Limits) { l.Canaries, l.Strict, l.Step, l.Pause = 1, true, 1, time.Hour }), rollout.Progress{Step: 1, Target: 1, Settled: epoch}, outcome{Stopped: true, Step: 1}},
		"tenants that come with the change do not help it":   {slices.Concat(in(rollout.Failed, "a"), in(rollout.Applied, "new", "newer"), in(rollout.Waiting, "c")), limits(func(l *rollout.Limits) { l.Canaries, l.Strict = 1, true }), rollout.Progress{Step: 1, Target: 1}, outcome{Stopped: true, Step: 1}},
		"once the canaries are well, one alone may fail":     {slices.Concat(in(rollout.Failed, "a"), in(rollout.Applied, "b", "c"), in(rollout.Waiting, "d", "e", "f")), two, rollout.Progress{Step: 2}, outcome{Released: 3, Step: 2}},
		"a few that are unfit are no canaries":               {slices.Concat(in(rollout.Unfit, "a", "b"), in(rollout.Waiting, names("c", 30)...)), two, rollout.Progress{}, outcome{Released: 2, Step: 1}},
		"too many that are unfit stop it":                    {slices.Concat(in(rollout.Unfit, "a", "b"), in(rollout.Waiting, names("c", 10)...)), plain, rollout.Progress{}, outcome{Stopped: true, Step: 1}},
		"another tenant may fail alone":                      {slices.Concat(in(rollout.Failed, "a"), in(rollout.Waiting, "c")), plain, rollout.Progress{}, outcome{Released: 1, Step: 2}},
		"a step is followed by a pause":                      {slices.Concat(in(rollout.Applied, "a"), in(rollout.Waiting, "b", "c")), stepwise, rollout.Progress{Step: 1, Target: 1}, outcome{Step: 1, Again: time.Hour}},
		"after which the next step comes":                    {slices.Concat(in(rollout.Applied, "a"), in(rollout.Waiting, "b", "c", "d", "e")), stepwise, rollout.Progress{Step: 1, Target: 1, Settled: epoch.Add(-time.Hour)}, outcome{Released: 3, Step: 2}},
		"a share of the fleet is at least one":               {slices.Concat(in(rollout.Applied, "a"), in(rollout.Waiting, "b", "c", "d", "e")), limits(func(l *rollout.Limits) { l.StepPercent = 1 }), rollout.Progress{Step: 1, Target: 1}, outcome{Released: 1, Step: 2}},
		"a pause without a step doubles":                     {slices.Concat(in(rollout.Applied, "a", "b"), in(rollout.Waiting, "c", "d", "e")), limits(func(l *rollout.Limits) { l.Pause = time.Hour }), rollout.Progress{Step: 2, Target: 2, Settled: epoch.Add(-time.Hour)}, outcome{Released: 2, Step: 3}},
		"lost progress counts from those that were reached":  {slices.Concat(in(rollout.Applied, "a", "b"), in(rollout.Waiting, "c")), stepwise, rollout.Progress{}, outcome{Step: 1, Again: time.Hour}},
		"a person holds it":                                  {in(rollout.Waiting, "a"), limits(func(l *rollout.Limits) { l.Paused = true }), rollout.Progress{}, outcome{Paused: true, Step: 1}},
		"what is held is not released":                       {in(rollout.Held, "a"), plain, rollout.Progress{}, outcome{Step: 1}},
		"the way back stops for nothing":                     {slices.Concat(in(rollout.Failed, "a", "b"), in(rollout.Waiting, "c", "d", "e", "f", "g")), limits(func(l *rollout.Limits) { l.Swift = true }), rollout.Progress{}, outcome{Released: 4}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rollout.Advance(epoch, "r", tt.members, tt.limits, tt.progress)
			got := outcome{Released: len(r.Release), Stopped: r.Stopped, Paused: r.Paused, Step: r.Progress.Step, Again: r.Again}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// fleet plays a change in a fleet.
type fleet struct {
	now      time.Time
	limits   rollout.Limits
	members  []rollout.Member
	fails    map[string]bool
	progress rollout.Progress
}

// look lets the rollout release what it will, and checks that.
func (f *fleet) look(t *rapid.T) rollout.Rollout {
	first := f.progress.Step <= 1
	r := rollout.Advance(f.now, "r", f.members, f.limits, f.progress)
	f.progress = r.Progress
	flying, waitingCanaries, canaries, unfitCanaries := 0, 0, 0, 0
	for i := range f.members {
		m := &f.members[i]
		if slices.Contains(r.Release, m.UID) {
			if m.State != rollout.Waiting {
				t.Fatalf("%s is released in state %d", m.Name, m.State)
			}
			m.State = rollout.InFlight
		}
		if m.State == rollout.InFlight {
			flying++
		}
		if m.Canary {
			canaries++
		}
		switch {
		case m.Canary && (m.State == rollout.Waiting || m.State == rollout.Held):
			waitingCanaries++
		case m.Canary && m.State == rollout.Unfit:
			unfitCanaries++
		}
	}
	if flying > f.limits.MaxConcurrent {
		t.Fatalf("%d in flight, and %d may be", flying, f.limits.MaxConcurrent)
	}
	if (r.Stopped || r.Paused) && len(r.Release) > 0 {
		t.Fatalf("%v are released after the stop", r.Release)
	}
	if share := f.limits.MaxFailedPercent * canaries; first && f.limits.Strict && !f.limits.Swift && unfitCanaries*100 > share && len(r.Release) > 0 {
		t.Fatalf("%v are released although %d of %d canaries are unfit", r.Release, unfitCanaries, canaries)
	}
	for _, m := range f.members {
		if slices.Contains(r.Release, m.UID) && !m.Canary && waitingCanaries > 0 && f.limits.Canaries == 0 {
			t.Fatalf("%s is released before the canaries", m.Name)
		}
	}
	return r
}

// land tells what became of one in flight.
func (f *fleet) land(t *rapid.T) bool {
	var flying []int
	for i, m := range f.members {
		if m.State == rollout.InFlight {
			flying = append(flying, i)
		}
	}
	if len(flying) == 0 {
		return false
	}
	m := &f.members[rapid.SampledFrom(flying).Draw(t, "lands")]
	if m.State = rollout.Applied; f.fails[m.UID] {
		m.State, m.Failure = rollout.Failed, "it fails"
	}
	return true
}

// free lets the first go that is held. It reports whether there was one.
func (f *fleet) free() bool {
	at := slices.IndexFunc(f.members, func(m rollout.Member) bool { return m.State == rollout.Held })
	if at >= 0 {
		f.members[at].State = rollout.Waiting
	}
	return at >= 0
}

// run plays until nothing happens any more. A restart may forget the progress at any point.
func (f *fleet) run(t *rapid.T) rollout.Rollout {
	for range 10_000 {
		r := f.look(t)
		if rapid.IntRange(0, 9).Draw(t, "restarts") == 0 {
			f.progress = rollout.Progress{}
		}
		switch {
		case f.land(t):
		case r.Again > 0:
			f.now = f.now.Add(r.Again)
		case f.free():
		case len(r.Release) == 0 && r.Progress == f.progress:
			return r
		}
	}
	t.Fatalf("it does not end: %+v", f.progress)
	return rollout.Rollout{}
}

func TestEveryRolloutEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := &fleet{now: epoch, fails: map[string]bool{}, limits: rollout.Limits{
			MaxConcurrent: rapid.IntRange(1, 6).Draw(t, "at a time"), MaxFailedPercent: rapid.SampledFrom([]int{0, 10, 50, 100}).Draw(t, "may fail"),
			Canaries: rapid.IntRange(0, 4).Draw(t, "canaries"), Strict: rapid.Bool().Draw(t, "strict"), Step: rapid.IntRange(0, 5).Draw(t, "step"),
			StepPercent: rapid.SampledFrom([]int{0, 0, 30}).Draw(t, "percent"), Pause: rapid.SampledFrom([]time.Duration{0, time.Minute}).Draw(t, "pause"),
		}}
		for i := range rapid.IntRange(0, 20).Draw(t, "tenants") {
			m := in(rollout.Waiting, fmt.Sprintf("t%02d", i))[0]
			m.Canary = f.limits.Canaries == 0 && rapid.IntRange(0, 4).Draw(t, "canary") == 0
			if rapid.IntRange(0, 7).Draw(t, "fails") == 0 {
				f.fails[m.UID] = true
			}
			m.State = rapid.SampledFrom([]rollout.State{rollout.Waiting, rollout.Waiting, rollout.Waiting, rollout.Waiting, rollout.Held, rollout.Unfit}).Draw(t, "state")
			f.members = append(f.members, m)
		}
		if r := f.run(t); !r.Stopped && r.Waiting > 0 {
			t.Fatalf("it stands still: %+v", r)
		}
		// Failed objects succeed in the end, unfit ones are corrected, and a stopped rollout continues.
		clear(f.fails)
		for i := range f.members {
			switch f.members[i].State {
			case rollout.Failed:
				f.members[i].State = rollout.Applied
			case rollout.Unfit:
				f.members[i].State = rollout.Waiting
			default:
			}
		}
		if r := f.run(t); !r.Done() || r.Applied != len(f.members) {
			t.Fatalf("no tenant fails any more, and it ends with %+v", r)
		}
		// Undo takes it back from all of them, whatever fails.
		f.limits.Swift, f.progress = true, rollout.Progress{}
		for i := range f.members {
			f.members[i].State, f.members[i].Canary = rollout.Waiting, false
			f.fails[f.members[i].UID] = rapid.Bool().Draw(t, "fails on the way back")
		}
		if r := f.run(t); r.Waiting > 0 {
			t.Fatalf("undo ends with %+v", r)
		}
	})
}

// The end of a pause is a time, and not the rest of it: a message that changes all the time is a write each time.
func TestNextStep(t *testing.T) {
	t.Parallel()
	members := slices.Concat(in(rollout.Applied, "a"), in(rollout.Waiting, "b"))
	for after, want := range map[time.Duration]string{
		time.Minute:      ", and pauses until 2026-01-01T01:00:00Z",
		59 * time.Minute: ", and pauses until 2026-01-01T01:00:00Z",
		time.Hour:        "",
	} {
		began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		now := began.Add(after)
		r := rollout.Advance(now, "r", members, rollout.Limits{MaxConcurrent: 1, Pause: time.Hour}, rollout.Progress{Step: 1, Target: 1, Settled: began})
		if got := r.NextStep(now); got != want {
			t.Errorf("after %s: %q, want %q", after, got, want)
		}
	}
}
