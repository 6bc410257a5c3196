package tenantsource_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
)

// input is a source that was polled a minute ago, and rests.
func input(change ...func(*tenantsource.Input)) tenantsource.Input {
	in := tenantsource.Input{
		View: tenantsource.View{
			Now: noon, Spec: tenantsource.Spec{Generation: 1, Policy: tenantsource.PolicyDelete, Guard: usual},
			Memory: tenantsource.Memory{Generation: 1, LastPoll: noon.Add(-time.Minute)},
		},
		State: tenantsource.State{LastRegular: noon.Add(-time.Minute), Generation: 1, Polled: noon.Add(-time.Minute)},
	}
	for _, c := range change {
		c(&in)
	}
	return in
}

// apply lets something happen to a source.
func apply(in *tenantsource.Input, e tenantsource.Event) { in.State, _ = in.State.Apply(in.View, e) }

// inRound gives the input a round that has read something.
func inRound(change ...func(*tenantsource.Round)) func(*tenantsource.Input) {
	return func(in *tenantsource.Input) {
		r := &tenantsource.Round{Began: in.Now, Generation: in.Generation, Regular: true, Harvest: &tenantsource.Harvest{}}
		for _, c := range change {
			c(r)
		}
		in.State.Round = r
	}
}

func withChanges(n int) func(*tenantsource.Round) {
	return func(r *tenantsource.Round) { r.Changes = make([]tenantsource.Change, n) }
}

func withGo(n int) func(*tenantsource.Round) {
	return func(r *tenantsource.Round) { r.Verdict = tenantsource.Verdict{Go: tenantsource.LossesOf(ownedN(n))} }
}

func withFailure(r *tenantsource.Round) {
	r.Failure = &tenantsource.Failure{Reason: tenantsource.PollFailed, Message: "No answer"}
}

func TestDecide(t *testing.T) {
	suspended := func(in *tenantsource.Input) { in.Suspended = true }
	dryRun := func(in *tenantsource.Input) { in.DryRun = true }
	invalid := func(in *tenantsource.Input) { in.Invalid = "spec.mapping is wrong" }
	ungranted := func(in *tenantsource.Input) { in.Ungranted = &chain.Halt{Reason: "NotGranted", Message: "Look here."} }
	audited := func(in *tenantsource.Input) { in.Audited = true }
	due := func(in *tenantsource.Input) { in.Now = noon.Add(time.Hour) }
	hinted := func(ago time.Duration) func(*tenantsource.Input) {
		return func(in *tenantsource.Input) {
			in.Watch = &tenantsource.Watch{Listening: true, Hinted: in.Now.Add(-ago)}
		}
	}
	justRead := func(in *tenantsource.Input) { in.State.LastRead = in.Now.Add(-400 * time.Millisecond) }
	failing := func(in *tenantsource.Input) { in.State.Failures, in.State.Retry = 1, in.Now.Add(10*time.Second) }
	deleting := func(in *tenantsource.Input) { in.Deleting, in.Owned = true, ownedN(3) }
	retain := func(in *tenantsource.Input) { in.Policy = tenantsource.PolicyRetain }
	reserved := func(r *tenantsource.Round) { r.Reserved = true }
	removed := func(n int) func(*tenantsource.Round) { return func(r *tenantsource.Round) { r.Removed = n } }
	written := func(n int) func(*tenantsource.Round) { return func(r *tenantsource.Round) { r.Written = n } }
	for name, c := range map[string]struct {
		in    tenantsource.Input
		rule  string
		step  tenantsource.Step
		after time.Duration
	}{
		"nothing is due: rest until it is": {in: input(), rule: "Idle", step: tenantsource.Rest, after: 4 * time.Minute},
		"a poll is due":                    {in: input(due), rule: "Read", step: tenantsource.Read},
		"a table that is watched and has not changed is not read": {
			in: input(func(in *tenantsource.Input) { in.Watch = &tenantsource.Watch{Listening: true} }), rule: "Idle", step: tenantsource.Rest, after: 4 * time.Minute,
		},
		"a change that the database reports is read at once": {in: input(hinted(0)), rule: "Read", step: tenantsource.Read},
		"but not twice in a second":                          {in: input(hinted(0), justRead), rule: "Idle", step: tenantsource.Rest, after: 600 * time.Millisecond},
		"a hint does not hurry a database that fails":        {in: input(hinted(0), failing), rule: "Idle", step: tenantsource.Rest, after: 10 * time.Second},
		"nor a round that is on its way":                     {in: input(hinted(0), inRound(withChanges(1))), rule: "Applied", step: tenantsource.Write},
		"a suspended source does not follow hints":           {in: input(hinted(0), suspended), rule: "Suspended", step: tenantsource.Rest},
		"suspended beats a poll that is due, and a round": {
			in: input(due, suspended, inRound(withChanges(1))), rule: "Suspended", step: tenantsource.Rest,
		},
		"suspended beats an invalid spec":      {in: input(due, suspended, invalid), rule: "Suspended", step: tenantsource.Rest},
		"an invalid spec is not read":          {in: input(due, invalid), rule: "Valid", step: tenantsource.Rest},
		"what is not granted is not read":      {in: input(due, ungranted, invalid), rule: "Granted", step: tenantsource.Rest},
		"unless it is only audited":            {in: input(due, ungranted, audited), rule: "Read", step: tenantsource.Read},
		"nor is its round gone on with":        {in: input(invalid, inRound(withChanges(1))), rule: "Valid", step: tenantsource.Rest},
		"a running round is not started again": {in: input(due, inRound(withChanges(2), written(1))), rule: "Applied", step: tenantsource.Write},
		"a failure ends the round": {
			in: input(inRound(withFailure, withChanges(2), withGo(2))), rule: "Failed", step: tenantsource.Rest, after: 10 * time.Second,
		},
		"with dryRun nothing is written": {
			in: input(dryRun, inRound(withChanges(2), withGo(2))), rule: "Planned", step: tenantsource.Rest, after: 5 * time.Minute,
		},
		"changes come before deletions": {in: input(inRound(withChanges(2), withGo(2))), rule: "Applied", step: tenantsource.Write},
		"deletions are counted before they are made": {
			in: input(inRound(withChanges(2), written(2), withGo(2))), rule: "Counted", step: tenantsource.Count,
		},
		"then made":                   {in: input(inRound(withGo(2), reserved)), rule: "Removed", step: tenantsource.Remove},
		"to the last one":             {in: input(inRound(withGo(2), reserved, removed(1))), rule: "Removed", step: tenantsource.Remove},
		"then the round is over":      {in: input(inRound(withGo(2), reserved, removed(2))), rule: "Removed", step: tenantsource.Rest, after: 5 * time.Minute},
		"a round without any is over": {in: input(inRound()), rule: "Removed", step: tenantsource.Rest, after: 5 * time.Minute},
		"a round that took longer than the interval is followed by the next": {
			in: input(inRound(), func(in *tenantsource.Input) { in.Now = noon.Add(20 * time.Minute) }), rule: "Removed", step: tenantsource.Rest, after: time.Second,
		},
		"a poll out of turn does not put the next one off": {
			in: input(inRound(func(r *tenantsource.Round) { r.Regular = false })), rule: "Removed", step: tenantsource.Rest, after: 4 * time.Minute,
		},

		"deleted with Retain: the objects stay":   {in: input(deleting, retain), rule: "Retained", step: tenantsource.LetGo},
		"deleted with dryRun: they stay":          {in: input(deleting, dryRun), rule: "Retained", step: tenantsource.LetGo},
		"deleted while suspended: they stay":      {in: input(deleting, suspended), rule: "Retained", step: tenantsource.LetGo},
		"deleted without objects: it is released": {in: input(deleting, func(in *tenantsource.Input) { in.Owned = nil }), rule: "Emptied", step: tenantsource.LetGo},
		"deleted, with a state table, and its last objects are on their way out: it waits": {
			in: input(deleting, func(in *tenantsource.Input) { in.Owned, in.Leaving = nil, true }), rule: "Left", step: tenantsource.Rest, after: 5 * time.Minute,
		},
		"deleted with an invalid target: it waits": {in: input(deleting, invalid, inRound(withGo(3))), rule: "Judged", step: tenantsource.Rest, after: 5 * time.Minute},
		"deleted and not judged yet: it waits":     {in: input(deleting), rule: "Judged", step: tenantsource.Rest, after: 5 * time.Minute},
		"deleted and held: it looks again, since nothing tells it that its objects are gone": {
			in: input(deleting, inRound(withGo(0))), rule: "Judged", step: tenantsource.Rest, after: 5 * time.Minute,
		},
		"deleted and failed: it waits":           {in: input(deleting, inRound(withGo(3), withFailure)), rule: "Judged", step: tenantsource.Rest, after: 5 * time.Minute},
		"deleted and allowed: it is counted":     {in: input(deleting, inRound(withGo(3))), rule: "Counted", step: tenantsource.Count},
		"then the objects go":                    {in: input(deleting, inRound(withGo(3), reserved)), rule: "Removed", step: tenantsource.Remove},
		"then it is seen whether there are more": {in: input(deleting, inRound(withGo(3), reserved, removed(3))), rule: "Removed", step: tenantsource.Rest, after: time.Second},
		"what something in the cluster keeps is not tried again at once": {
			in: input(deleting, inRound(withGo(3), reserved, removed(3), func(r *tenantsource.Round) {
				r.Undeleted = []tenantsource.Undeleted{{Owned: ownedN(1)[0], Reason: "a policy keeps it"}}
			})), rule: "Removed", step: tenantsource.Rest, after: 5 * time.Minute,
		},
		"a deleted source whose objects can't be seen is not taken for one without objects": {
			in: input(deleting, invalid, func(in *tenantsource.Input) { in.Owned = nil }), rule: "Judged", step: tenantsource.Rest, after: 5 * time.Minute,
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := tenantsource.Decision{Rule: c.rule, Step: c.step, After: c.after}
			if d := cmp.Diff(want, tenantsource.Decide(c.in)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestEveryRuleIsTold(t *testing.T) {
	keep, remove := tenantsource.Chains()
	for _, r := range slices.Concat(keep, remove) {
		if r.Name == "" || r.About == "" {
			t.Errorf("%+v says nothing", r)
		}
	}
	if len(keep) != 10 || len(remove) != 6 {
		t.Errorf("%d and %d rules", len(keep), len(remove))
	}
}

func TestStepsSayWhatTheyDo(t *testing.T) {
	for s, want := range map[tenantsource.Step]chain.Effect{
		tenantsource.Rest: chain.Rest, tenantsource.Read: chain.Read, tenantsource.Write: chain.Write, tenantsource.Count: chain.Rest,
		tenantsource.Remove: chain.Write, tenantsource.LetGo: chain.Release,
	} {
		if got := s.Effect(); got != want {
			t.Errorf("step %d: %v, want %v", s, got, want)
		}
	}
}

func TestWhenAPollIsDue(t *testing.T) {
	ago := func(d time.Duration) time.Time { return noon.Add(-d) }
	for name, c := range map[string]struct {
		change func(*tenantsource.Input)
		// after is how long it is until the poll; regular whether it confirms that rows are gone.
		after   time.Duration
		regular bool
	}{
		"an interval after the last one that was due": {
			change: func(in *tenantsource.Input) { in.State.LastRegular = ago(3 * time.Minute) }, after: 2 * time.Minute, regular: true,
		},
		"a new source at once": {
			change: func(in *tenantsource.Input) { in.Memory, in.State = tenantsource.Memory{}, tenantsource.State{} }, regular: true,
		},
		"a fresh process keeps to the rhythm": {
			change: func(in *tenantsource.Input) { in.State = tenantsource.State{} }, after: 4 * time.Minute, regular: true,
		},
		"a fresh process that comes late polls at once": {
			change: func(in *tenantsource.Input) {
				in.State = tenantsource.State{}
				in.Memory.LastPoll = ago(time.Hour)
			},
			regular: true,
		},
		"a fresh process waits for no time that a wrong clock has written": {
			change: func(in *tenantsource.Input) {
				in.State = tenantsource.State{}
				in.Memory.LastPoll = noon.AddDate(1, 0, 0)
			},
			regular: true,
		},
		"a token asks for one at once, which confirms nothing": {change: func(in *tenantsource.Input) { in.Token = "now" }},
		"the same token asks once": {
			change: func(in *tenantsource.Input) { in.Token, in.Memory.Token = "now", "now" }, after: 4 * time.Minute, regular: true,
		},
		"also before the cache shows that it was heard": {
			change: func(in *tenantsource.Input) { in.Token, in.Memory.Token, in.State.Token = "now", "before", "now" }, after: 4 * time.Minute, regular: true,
		},
		"another token asks again": {change: func(in *tenantsource.Input) { in.Token, in.Memory.Token, in.State.Token = "again", "now", "now" }},
		"a token that was taken away asks for nothing": {
			change: func(in *tenantsource.Input) { in.Memory.Token = "now" }, after: 4 * time.Minute, regular: true,
		},
		"a token at the time of a poll that is due is that poll": {
			change: func(in *tenantsource.Input) { in.Token, in.State.LastRegular = "now", ago(5*time.Minute) }, regular: true,
		},
		"tenants that waited for an object are looked at when it is ready": {change: func(in *tenantsource.Input) { in.Memory.Unresolved = true }},
		"but once, though the cache may still show that they wait": {
			change: func(in *tenantsource.Input) {
				in.Memory.Unresolved, in.State.Polled = true, in.Memory.LastPoll.Add(time.Second)
			}, after: 4 * time.Minute, regular: true,
		},
		"while they wait, a source keeps to its rhythm": {
			change: func(in *tenantsource.Input) { in.Memory.Unresolved, in.Unresolved = true, "It does not exist." }, after: 4 * time.Minute, regular: true,
		},
		"a new spec is read at once": {change: func(in *tenantsource.Input) { in.Generation = 2 }, regular: true},
		"one that only rolls out differently is read at once, which confirms nothing": {
			change: func(in *tenantsource.Input) { in.Generation, in.Reading, in.State.Reading = 2, "same", "same" },
		},
		"unless another process has made the last poll": {
			change: func(in *tenantsource.Input) {
				in.Generation, in.Memory.Generation, in.Reading, in.State.Reading = 3, 2, "same", "same"
			}, regular: true,
		},
		"but once, though the cache may not show it": {
			change: func(in *tenantsource.Input) { in.Generation, in.State.Generation = 2, 2 }, after: 4 * time.Minute, regular: true,
		},
		"the approval of the held plan asks for one":         {change: func(in *tenantsource.Input) { in.Approved, in.State.PendingHash = "aa", "aa" }},
		"the approval of columns asks for one":               {change: func(in *tenantsource.Input) { in.Approved, in.State.UpsetHash = "aa", "aa" }},
		"another approval does not":                          {change: func(in *tenantsource.Input) { in.Approved, in.State.PendingHash = "bb", "aa" }, after: 4 * time.Minute, regular: true},
		"nor does none where nothing is held":                {change: func(in *tenantsource.Input) {}, after: 4 * time.Minute, regular: true},
		"after a failure it is tried again before its turn":  {change: func(in *tenantsource.Input) { in.State.Failures, in.State.Retry = 1, noon.Add(10*time.Second) }, after: 10 * time.Second},
		"the retry that comes when a poll is due is regular": {change: func(in *tenantsource.Input) { in.State.Failures, in.State.Retry = 9, noon.Add(5*time.Minute) }, after: 5 * time.Minute, regular: true},
		"a token does not wait for the retry": {change: func(in *tenantsource.Input) {
			in.State.Failures, in.State.Retry, in.Token = 9, noon.Add(5*time.Minute), "now"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(c.change)
			d := tenantsource.Decide(in)
			if d.After != c.after || (d.Step == tenantsource.Read) != (c.after == 0) {
				t.Fatalf("%+v, want a poll in %s", d, c.after)
			}
			in.Now = in.Now.Add(c.after)
			if d := tenantsource.Decide(in); d.Step != tenantsource.Read {
				t.Fatalf("%s later: %+v", c.after, d)
			}
			apply(&in, tenantsource.Began{})
			if r := in.State.Round; r.Regular != c.regular || !r.Began.Equal(in.Now) || r.Generation != in.Generation || r.Token != in.Token {
				t.Errorf("%+v, want a regular round: %t", r, c.regular)
			}
		})
	}
}

func TestANewSpecForgetsWhatWasAbsent(t *testing.T) {
	in := input(func(in *tenantsource.Input) { in.State.Losses = absent(3, 1) })
	apply(&in, tenantsource.Began{})
	if len(in.State.Losses) != 3 {
		t.Error("the same spec forgot what was absent")
	}
	in.Generation++
	apply(&in, tenantsource.Began{})
	if len(in.State.Losses) != 0 {
		t.Error("another spec remembers what was absent")
	}
}

// The results of a read of another spec are forgotten, also if its round came to nothing and the former spec is back.
func TestARoundOfAnotherSpecThatCameToNothing(t *testing.T) {
	in := input(func(in *tenantsource.Input) { in.Generation, in.Reading, in.State.Reading = 2, "other", "former" })
	apply(&in, tenantsource.Began{})
	in.State.Losses = tenantsource.Losses{"acme": {Owned: tenantsource.Owned{Name: "acme", UID: "u1"}}}
	in.State.Round, in.Generation, in.Reading = nil, 3, "former"
	if apply(&in, tenantsource.Began{}); len(in.State.Losses) > 0 || !in.State.Round.Regular {
		t.Errorf("the losses are %v", in.State.Losses)
	}
}

func TestTheEndOfARound(t *testing.T) {
	t.Run("of a good one", func(t *testing.T) {
		in := input(inRound(func(r *tenantsource.Round) { r.Token, r.Verdict.Pending = "now", &tenantsource.PendingPlan{Hash: "aa"} }))
		in.State.Failures, in.State.PendingHash = 3, "bb"
		apply(&in, tenantsource.Ended{})
		want := tenantsource.State{LastRegular: noon, PendingHash: "aa", Generation: 1, Token: "now", Polled: noon}
		if d := cmp.Diff(want, in.State); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
	t.Run("of one out of turn, which leaves the rhythm as it is", func(t *testing.T) {
		in := input(inRound(func(r *tenantsource.Round) { r.Regular = false }))
		apply(&in, tenantsource.Ended{})
		if !in.State.LastRegular.Equal(noon.Add(-time.Minute)) {
			t.Errorf("%+v", in.State)
		}
	})
	t.Run("of a failed one, after which it is tried again with growing pauses", func(t *testing.T) {
		in := input()
		var pauses []time.Duration
		for range 8 {
			inRound(withFailure)(&in)
			after := tenantsource.Decide(in).After
			apply(&in, tenantsource.Ended{})
			if retry := in.State.Retry.Sub(in.Now); retry != after {
				t.Errorf("woken in %s for a try that is due in %s", after, retry)
			}
			pauses = append(pauses, after)
		}
		want := []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second, 5 * time.Minute, 5 * time.Minute, 5 * time.Minute}
		if d := cmp.Diff(want, pauses); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
		if !in.State.LastRegular.Equal(noon.Add(-time.Minute)) {
			t.Error("a failed poll was taken for one that was due")
		}
	})
	t.Run("of a failed one of a quick source, which is tried again at its usual pace", func(t *testing.T) {
		in := input(func(in *tenantsource.Input) { in.Guard.Interval, in.State.Failures = 15*time.Second, 5 }, inRound(withFailure))
		if after := tenantsource.Decide(in).After; after != 15*time.Second {
			t.Errorf("tried again after %s", after)
		}
	})
}

func TestSettle(t *testing.T) {
	rows := func(n int) *tenantsource.Harvest { return &tenantsource.Harvest{Rows: n} }
	confirmed := func(n int) func(*tenantsource.Input) {
		return func(in *tenantsource.Input) { in.State.Losses = absent(n, 1) }
	}
	later := func(in *tenantsource.Input) {
		in.Now = noon.Add(5 * time.Minute)
	}
	for name, c := range map[string]struct {
		in                  tenantsource.Input
		harvest             *tenantsource.Harvest
		owned               int
		goes, waiting, held int
	}{
		"the first read that misses a row lets it wait": {in: input(later), harvest: rows(1), owned: 1, waiting: 1},
		"the second one lets it go":                     {in: input(confirmed(1), later), harvest: rows(1), owned: 1, goes: 1},
		"one out of turn lets it wait":                  {in: input(confirmed(1)), harvest: rows(1), owned: 1, waiting: 1},
		"a row without a name may be anybody's":         {in: input(confirmed(1), later), harvest: &tenantsource.Harvest{Rows: 1, Nameless: 1}, owned: 1, waiting: 1},
		"and freezes what was confirmed before": {
			in: input(func(in *tenantsource.Input) { in.State.Losses = absent(1, 2) }, later), harvest: &tenantsource.Harvest{Rows: 1, Nameless: 1}, owned: 1, waiting: 1,
		},
		"too many are held":                      {in: input(confirmed(11), later), harvest: rows(1), owned: 11, held: 11},
		"an empty table is held":                 {in: input(confirmed(1), later), harvest: rows(0), owned: 1, held: 1},
		"Retain asks no guard":                   {in: input(confirmed(11), later, func(in *tenantsource.Input) { in.Policy = tenantsource.PolicyRetain }), harvest: rows(0), owned: 11},
		"a new spec starts over":                 {in: input(confirmed(1), later, func(in *tenantsource.Input) { in.Generation = 2 }), harvest: rows(1), owned: 1, waiting: 1},
		"an approval of an earlier hold is none": {in: input(confirmed(11), later, func(in *tenantsource.Input) { in.Approved = judgeAbsent(absent(11, 1)).Pending.Hash }), harvest: rows(0), owned: 11, held: 11},
		"what is approved is allowed": {in: input(confirmed(11), later, func(in *tenantsource.Input) {
			in.Approved = judgeAbsent(absent(11, 1)).Pending.Hash
			in.Memory.PendingHash = in.Approved
		}), harvest: rows(0), owned: 11, goes: 11},
	} {
		t.Run(name, func(t *testing.T) {
			v := settled(c.in, c.harvest, ownedN(c.owned)).State.Round.Verdict
			held := 0
			if v.Pending != nil {
				held = len(v.Pending.Names)
			}
			if len(v.Go) != c.goes || v.New() != c.goes || len(v.Waiting) != c.waiting || held != c.held {
				t.Errorf("%d go (%d new), %d wait, %d are held; want %d, %d, %d", len(v.Go), v.New(), len(v.Waiting), held, c.goes, c.waiting, c.held)
			}
		})
	}
}

// The count in status, the memory of the process, and the latest read may come in any order.
func TestWhatWasClearedAndSeenIsNoLongerCleared(t *testing.T) {
	owned := []tenantsource.Owned{{Name: "t", UID: "u"}}
	stuck := func(age time.Duration) *tenantsource.Input {
		in := input(func(in *tenantsource.Input) {
			in.Now = noon.Add(age)
			in.Memory.Cleared, in.Memory.History = []string{"u"}, tenantsource.History{{Time: noon, Count: 1}}
			in.State.Losses = tenantsource.Losses{"t": {Owned: owned[0], Reads: 2, Last: noon, Cleared: true, ClearedAt: noon}}
		})
		apply(&in, tenantsource.Began{})
		return &in
	}
	failed := func(in *tenantsource.Input, seen bool) []string {
		apply(in, tenantsource.Failed{Failure: &tenantsource.Failure{Reason: tenantsource.PollFailed}, Seen: tenantsource.Present(map[bool][]string{true: {"t"}}[seen]...), Owned: owned})
		return tenantsource.Conclude(*in, tenantsource.Decision{}).Cleared
	}
	if got := failed(stuck(time.Minute), false); len(got) != 1 {
		t.Errorf("after a read that has seen nothing %v is cleared, want it kept", got)
	}
	if got := failed(stuck(time.Minute), true); len(got) != 0 {
		t.Errorf("after a read that has seen its row %v is cleared", got)
	}
	behind := stuck(time.Minute)
	fresh := behind.Memory.Cleared
	behind.Memory.Cleared = nil
	failed(behind, true)
	if behind.Memory.Cleared = fresh; len(tenantsource.Conclude(*behind, tenantsource.Decision{}).Cleared) != 0 {
		t.Error("what the cache showed too late is cleared although its row was seen")
	}
	for name, got := range map[string][]string{
		"a failed read": failed(stuck(25*time.Hour), false),
		"a good one":    tenantsource.Conclude(settled(*stuck(25 * time.Hour), tenantsource.Present("other"), owned), tenantsource.Decision{}).Cleared,
	} {
		if len(got) != 0 {
			t.Errorf("after the window %s leaves %v cleared, and it counts no more", name, got)
		}
	}
}

func TestASourceThatRetainsHoldsNothing(t *testing.T) {
	in := settled(input(func(in *tenantsource.Input) { in.Policy, in.Memory.PendingHash = tenantsource.PolicyRetain, "a-b" }), tenantsource.Present("other"), ownedN(1))
	in.State.Round.Failure = &tenantsource.Failure{Reason: tenantsource.PollFailed}
	if r := tenantsource.Conclude(in, tenantsource.Decision{}); !r.PendingKnown || r.Pending != nil {
		t.Errorf("%+v is held", r.Pending)
	}
}

func TestADeletedSourceIsJudgedAsAWhole(t *testing.T) {
	deleted := func(n int, change ...func(*tenantsource.Input)) tenantsource.Input {
		in := input(change...)
		in.Deleting, in.Owned = true, ownedN(n)
		apply(&in, tenantsource.Judged{Owned: in.Owned})
		return in
	}
	if v := deleted(3).State.Round.Verdict; len(v.Go) != 3 || v.New() != 3 || v.Pending != nil {
		t.Errorf("within the budget: %+v", v)
	}
	if v := deleted(4).State.Round.Verdict; len(v.Go) > 0 || v.Pending == nil {
		t.Errorf("over the ceiling: %+v", v)
	}
	held := deleted(11).State.Round.Verdict
	if len(held.Go) > 0 || held.Pending == nil || len(held.Pending.Names) != 11 {
		t.Fatalf("over the budget: %+v", held)
	}
	used := deleted(4, func(in *tenantsource.Input) { in.Memory.History = tenantsource.History{{Time: noon, Count: 7}} }).State.Round.Verdict
	if len(used.Go) > 0 || used.Pending == nil {
		t.Errorf("with a budget that is used up: %+v", used)
	}
	approved := deleted(11, func(in *tenantsource.Input) { in.Approved = held.Pending.Hash }).State.Round
	if len(approved.Verdict.Go) != 11 || approved.Fleet != 11 {
		t.Errorf("approved: %+v", approved)
	}
}
