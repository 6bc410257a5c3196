package invalidation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/invalidation"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fresh is an object that was created a minute ago for a tenant that is there.
func fresh(change ...func(*invalidation.Input)) invalidation.Input {
	in := invalidation.Input{
		Now: now, Created: now.Add(-time.Minute), Generation: 1, Tenant: "shop", Paths: 3, Rate: 0.5, TTL: time.Hour,
		World: invalidation.World{Targets: []invalidation.Target{{Name: "shop", TenantID: "dt_1"}}, PathsPerDay: 100},
	}
	for _, c := range change {
		c(&in)
	}
	return in
}

// started is one whose tenants are chosen, with these states.
func started(states ...invalidation.State) func(*invalidation.Input) {
	return func(in *invalidation.Input) {
		in.Memory.Started, in.World.Targets = now.Add(-10*time.Second), nil
		for n, s := range states {
			t := invalidation.Tenant{Name: fmt.Sprintf("t%d", n), TenantID: fmt.Sprintf("dt_%d", n), State: s}
			if s != invalidation.Pending {
				t.InvalidationID = fmt.Sprintf("I%d", n)
			}
			in.Memory.Tenants = append(in.Memory.Tenants, t)
			in.World.Targets = append(in.World.Targets, invalidation.Target{Name: t.Name, TenantID: t.TenantID})
		}
		in.Memory.Total, in.Memory.Expected = len(states), now.Add(time.Hour)
	}
}

// more is an object that selects some more, which were looked up.
func more(total int, next ...string) func(*invalidation.Input) {
	return func(in *invalidation.Input) {
		in.Memory.Total, in.World.Listed = total, true
		for _, name := range next {
			in.World.Next = append(in.World.Next, invalidation.Target{Name: name, TenantID: "dt_" + name})
		}
	}
}

// repeated is a state many times.
func repeated(n int, s invalidation.State) []invalidation.State {
	return slices.Repeat([]invalidation.State{s}, n)
}

func starred(stars int) func(*invalidation.Input) {
	return func(in *invalidation.Input) { in.Paths, in.Stars = stars, stars }
}

func finished(ago time.Duration) func(*invalidation.Input) {
	return func(in *invalidation.Input) {
		started(invalidation.Completed)(in)
		in.Memory.Finished = now.Add(-ago)
	}
}

// unseen adds a tenant whose status does not tell anything.
func unseen(in *invalidation.Input) {
	in.World.Targets = append(in.World.Targets, invalidation.Target{Name: "beta", Unseen: true})
}

func targets(list ...invalidation.Target) func(*invalidation.Input) {
	return func(in *invalidation.Input) { in.World.Targets = list }
}

func selecting(n int) func(*invalidation.Input) {
	return func(in *invalidation.Input) {
		in.Tenant, in.World.Targets = "", nil
		for i := range n {
			in.World.Targets = append(in.World.Targets, invalidation.Target{Name: fmt.Sprintf("t%03d", n-i), TenantID: fmt.Sprintf("dt_%d", i)})
		}
	}
}

func held(in *invalidation.Input) { in.World.Hold = &chain.Halt{Reason: "Frozen", Message: "Stopped."} }

func unlimited(in *invalidation.Input) { in.Paths, in.World.PathsPerDay = 1, 0 }

// allLooked means that the next look is in a second.
func allLooked(in *invalidation.Input) {
	for _, t := range in.Memory.Tenants {
		looked(t.Name, time.Second)(in)
	}
}

// numbered are names that come after those of started.
func numbered(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("u%03d", i))
	}
	return names
}

func waited(in *invalidation.Input) { in.Created = now.Add(-time.Hour) }

// looked sets when a tenant is looked at next.
func looked(name string, in time.Duration) func(*invalidation.Input) {
	return func(i *invalidation.Input) {
		if i.World.Looks == nil {
			i.World.Looks = map[string]invalidation.Look{}
		}
		i.World.Looks[name] = invalidation.Look{Count: 1, Due: now.Add(in)}
	}
}

// say renders a decision.
func say(d invalidation.Decision) string {
	text := fmt.Sprintf("%s: ", d.Rule)
	switch s := d.Step.(type) {
	case invalidation.Choose:
		text += fmt.Sprintf("choose %d of %d by %s", len(s.Tenants), s.Total, s.Expected.Sub(now))
	case invalidation.Refill:
		text += fmt.Sprintf("refill %d, %d more", len(s.Tenants), s.More)
	case invalidation.GiveUp:
		text += fmt.Sprintf("give up %d", len(s.Messages))
	case invalidation.Request:
		text += "request " + s.Tenant.Name
	case invalidation.Follow:
		text += "follow " + s.Tenant.Name
	case invalidation.Expire:
		text += "expire"
	case invalidation.Fail:
		text += fmt.Sprintf("fail %s", s.Reason)
	case invalidation.Rest:
		text += fmt.Sprintf("rest %s", s.After)
	}
	if d.Problem != nil {
		text += fmt.Sprintf(" (%s)", d.Problem.Reason)
	}
	return text
}

func TestDecide(t *testing.T) {
	t.Parallel()
	const pending, progress, done, failed = invalidation.Pending, invalidation.InProgress, invalidation.Completed, invalidation.Failed
	for name, tc := range map[string]struct {
		in   invalidation.Input
		want string
	}{
		"the tenant is chosen before anything is requested":      {fresh(), "Chosen: choose 1 of 1 by 1m15s"},
		"what was chosen in this pass has to be stored":          {fresh(started(pending), func(in *invalidation.Input) { in.World.Unsaved = true }), "Stored: rest 10ms"},
		"then the first tenant is requested":                     {fresh(started(done, pending, pending)), "Requested: request t1"},
		"a look that is due goes first":                          {fresh(started(progress, pending)), "Followed: follow t0"},
		"and one that is not does not":                           {fresh(started(progress, pending), looked("t0", time.Second)), "Requested: request t1"},
		"a pass has eight looks":                                 {fresh(started(progress), func(in *invalidation.Input) { in.World.Looked = 8 }), "Idle: rest 10ms"},
		"the next look is waited for":                            {fresh(started(progress, progress), looked("t0", 20*time.Second), looked("t1", 9*time.Second)), "Idle: rest 9s"},
		"what has ended is not looked at":                        {fresh(started(done, failed)), "Idle: rest 0s"},
		"a tenant that is not there is waited for":               {fresh(targets()), "Selected: rest 59m0s (ReferenceNotReady)"},
		"also one that is not in AWS":                            {fresh(targets(invalidation.Target{Name: "shop"})), "Selected: rest 59m0s (ReferenceNotReady)"},
		"and one that is not the object's":                       {fresh(targets(invalidation.Target{Name: "shop", TenantID: "dt_1", Refused: "AdoptionRequired"})), "Selected: rest 59m0s (ReferenceNotReady)"},
		"also one of several of which nothing is known yet":      {fresh(selecting(2), unseen), "Selected: rest 59m0s (ReferenceNotReady)"},
		"but not for more than an hour":                          {fresh(selecting(2), unseen, waited), "Chosen: choose 2 of 2 by 1m17s"},
		"for an hour":                                            {fresh(targets(), waited), "Selected: fail InvalidationFailed"},
		"after an hour what is there is still taken":             {fresh(waited), "Chosen: choose 1 of 1 by 1m15s"},
		"a selector takes those that are in AWS":                 {fresh(selecting(2), func(in *invalidation.Input) { in.World.Targets[0].TenantID = "" }), "Chosen: choose 1 of 1 by 1m15s"},
		"a selector takes a hundred at once":                     {fresh(selecting(100), unlimited), "Chosen: choose 100 of 100 by 4m33s"},
		"and of more the first hundred":                          {fresh(selecting(5_000), unlimited), "Chosen: choose 100 of 5000 by 2h47m53s"},
		"paths with a star take longer":                          {fresh(selecting(5_000), unlimited, starred(1)), "Chosen: choose 100 of 5000 by 6h57m50s"},
		"the more of them, the longer":                           {fresh(selecting(10), unlimited, starred(15)), "Chosen: choose 10 of 10 by 12m30s"},
		"the next are chosen before the first are all requested": {fresh(started(repeated(19, pending)...), more(30, "t90", "t91")), "Refilled: refill 2, 0 more"},
		"but not earlier":                                        {fresh(started(repeated(20, pending)...), more(30, "t90", "t91")), "Requested: request t0"},
		"there is room for a hundred":                            {fresh(started(repeated(80, progress)...), allLooked, more(999, numbered(100)...)), "Refilled: refill 20, 80 more"},
		"few of them wait for more room":                         {fresh(started(repeated(81, progress)...), allLooked, more(999, numbered(100)...)), "Idle: rest 1s"},
		"those that come before in order had their turn":         {fresh(started(done), more(30, "a", "t0", "z")), "Refilled: refill 1, 0 more"},
		"those that are not in AWS have none": {fresh(started(done), more(30, "y", "z"), func(in *invalidation.Input) {
			in.World.Next[0].TenantID, in.World.Next[1].Refused = "", "WrongAccount"
		}), "Refilled: refill 0, 0 more"},
		"the next are looked up at once":                                     {fresh(started(done), more(30), func(in *invalidation.Input) { in.World.Listed = false }), "Idle: rest 10ms"},
		"an object has no more paths with a star in progress than AWS takes": {fresh(started(append(repeated(15, progress), pending)...), starred(1), allLooked), "Room: rest 1s"},
		"but as many":                                            {fresh(started(append(repeated(14, progress), pending)...), starred(1), allLooked), "Requested: request t14"},
		"nor more paths":                                         {fresh(started(append(repeated(10, progress), pending)...), func(in *invalidation.Input) { in.Paths = 300 }, allLooked), "Room: rest 1s"},
		"a selector that selects nothing waits":                  {fresh(selecting(0)), "Selected: rest 59m0s (ReferenceNotReady)"},
		"a selector that can't be read fails":                    {fresh(selecting(0), func(in *invalidation.Input) { in.World.Invalid = "bad" }), "Selected: fail ValidationFailed"},
		"nothing is chosen while writes are stopped":             {fresh(held), "Held: rest 10m0s (Frozen)"},
		"nothing is requested either":                            {fresh(started(pending), held), "Held: rest 10m0s (Frozen)"},
		"but what AWS has accepted is followed":                  {fresh(started(progress, pending), held), "Followed: follow t0"},
		"and looked at in time":                                  {fresh(started(progress, pending), looked("t0", time.Second), held), "Held: rest 1s (Frozen)"},
		"a halt is no problem of what is accepted":               {fresh(started(progress), looked("t0", time.Second), held), "Idle: rest 1s"},
		"a paused object requests nothing":                       {fresh(started(pending), func(in *invalidation.Input) { in.Paused = true }), "Held: rest 10m0s (Paused)"},
		"more paths than a day has are refused":                  {fresh(func(in *invalidation.Input) { in.Paths = 101 }), "Limited: fail ValidationFailed"},
		"a day that is full is waited for":                       {fresh(spent(98, 23*time.Hour)), "Limited: rest 1h0m0s (PathLimitReached)"},
		"a day that has room is not":                             {fresh(spent(97, 23*time.Hour)), "Chosen: choose 1 of 1 by 1m15s"},
		"what was requested before that day does not count":      {fresh(spent(98, 24*time.Hour)), "Chosen: choose 1 of 1 by 1m15s"},
		"the oldest make room first":                             {fresh(spent(2, 22*time.Hour), spent(50, 23*time.Hour), spent(48, time.Hour)), "Limited: rest 1h0m0s (PathLimitReached)"},
		"and the next one, if that is not enough":                {fresh(spent(49, 22*time.Hour), spent(1, 23*time.Hour), spent(50, time.Hour)), "Limited: rest 2h0m0s (PathLimitReached)"},
		"without a limit all fit":                                {fresh(spent(98, time.Hour), func(in *invalidation.Input) { in.World.PathsPerDay = 0 }), "Chosen: choose 1 of 1 by 1m15s"},
		"what is chosen already goes on":                         {fresh(spent(98, time.Hour), started(pending)), "Requested: request t0"},
		"a tenant that is gone is given up":                      {fresh(started(pending, pending), func(in *invalidation.Input) { in.World.Targets = in.World.Targets[:1] }), "Lost: give up 1"},
		"also one that has another ID":                           {fresh(started(pending), func(in *invalidation.Input) { in.World.Targets[0].TenantID = "dt_x" }), "Lost: give up 1"},
		"and one that is not the object's any more":              {fresh(started(pending), func(in *invalidation.Input) { in.World.Targets[0].Refused = "WrongAccount" }), "Lost: give up 1"},
		"what is in progress is followed although it is gone":    {fresh(started(progress), targets()), "Followed: follow t0"},
		"after AWS was full nothing is requested for a while":    {fresh(started(pending), func(in *invalidation.Input) { in.World.FullUntil = now.Add(time.Minute) }), "Room: rest 1m0s (TooManyInvalidations)"},
		"what has finished is kept":                              {fresh(finished(time.Minute)), "Finished: rest 10m0s"},
		"until its time":                                         {fresh(finished(59 * time.Minute)), "Finished: rest 1m0s"},
		"and is deleted then":                                    {fresh(finished(time.Hour)), "Expired: expire"},
		"or when twenty others have finished":                    {fresh(finished(time.Minute), func(in *invalidation.Input) { in.World.Newer = 20 }), "Expired: expire"},
		"not yet with nineteen":                                  {fresh(finished(time.Minute), func(in *invalidation.Input) { in.World.Newer = 19 }), "Finished: rest 10m0s"},
		"not before its end is stored":                           {fresh(finished(time.Hour), func(in *invalidation.Input) { in.World.Newer, in.World.Unsaved = 20, true }), "Finished: rest 0s"},
		"what was deleted is left alone":                         {fresh(finished(time.Hour), func(in *invalidation.Input) { in.World.Deleted = true }), "Expired: rest 0s"},
		"what has finished is not requested, whatever it was of": {fresh(started(pending), func(in *invalidation.Input) { in.Memory.Finished = now }), "Finished: rest 10m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := say(invalidation.Decide(tc.in)); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func spent(paths int, ago time.Duration) func(*invalidation.Input) {
	return func(in *invalidation.Input) {
		in.World.Spent = append(in.World.Spent, invalidation.Spend{At: now.Add(-ago), Paths: paths})
	}
}

func TestChosenTenantsAreInOrder(t *testing.T) {
	t.Parallel()
	in := fresh(selecting(3))
	choose, ok := invalidation.Decide(in).Step.(invalidation.Choose)
	if !ok {
		t.Fatal("nothing was chosen")
	}
	in.Choose(choose)
	want := []invalidation.Tenant{
		{Name: "t001", TenantID: "dt_2", State: invalidation.Pending}, {Name: "t002", TenantID: "dt_1", State: invalidation.Pending}, {Name: "t003", TenantID: "dt_0", State: invalidation.Pending},
	}
	if diff := cmp.Diff(want, in.Memory.Tenants); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !in.Memory.Started.Equal(now) || !in.World.Unsaved {
		t.Errorf("started %s, unsaved %t", in.Memory.Started, in.World.Unsaved)
	}
}

func fail(kind fault.Kind) error {
	return &fault.Error{Kind: kind, Operation: "Op", Code: "Code", Message: "text"}
}

// The meaning of the answer to a request, for the tenant and for the pass.
func TestRequested(t *testing.T) {
	t.Parallel()
	answer := invalidation.Answer{ID: "I9"}
	for name, tc := range map[string]struct {
		answer invalidation.Answer
		err    error
		state  invalidation.State
		says   string
		ends   bool // the pass
	}{
		"AWS has accepted it":             {answer: answer, state: invalidation.InProgress},
		"AWS has completed it already":    {answer: invalidation.Answer{ID: "I9", Done: true}, state: invalidation.Completed},
		"AWS has too many":                {err: fail(fault.Quota), state: invalidation.Pending},
		"the tenant is gone":              {err: fail(fault.NotFound), state: invalidation.Failed, says: "does not exist in AWS"},
		"AWS refuses it":                  {err: fail(fault.Invalid), state: invalidation.Failed, says: "AWS refused the invalidation: Op: Code: text"},
		"the reference belongs to others": {err: fail(fault.Exists), state: invalidation.Failed, says: "AWS refused"},
		"AWS does not answer":             {err: fail(fault.Transient), state: invalidation.Pending, ends: true},
		"AWS asks to come back":           {err: fail(fault.Throttled), state: invalidation.Pending, ends: true},
		"a permission is missing":         {err: fail(fault.Denied), state: invalidation.Pending, ends: true},
		"an error of an unknown kind":     {err: fmt.Errorf("other"), state: invalidation.Pending, ends: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := fresh(started(invalidation.Pending))
			err := in.Requested("t0", tc.answer, tc.err)
			if (err != nil) != tc.ends {
				t.Errorf("the pass ends with %v", err)
			}
			got := in.Memory.Tenants[0]
			if got.State != tc.state || !strings.Contains(got.Message, tc.says) || got.InvalidationID != tc.answer.ID {
				t.Errorf("got %+v", got)
			}
			if ended := !in.Memory.Finished.IsZero(); ended != got.Ended() {
				t.Errorf("finished: %t", ended)
			}
			if full := in.World.FullUntil.After(now); full != fault.Is(tc.err, fault.Quota) {
				t.Errorf("full: %t", full)
			}
		})
	}
}

// Looks become rarer, up to five minutes, also while they fail.
func TestFollowed(t *testing.T) {
	t.Parallel()
	in := fresh(started(invalidation.InProgress))
	tenant := in.Memory.Tenants[0]
	var pauses []time.Duration
	for n := range 8 {
		var err error
		if n == 2 {
			err = fail(fault.Transient)
		}
		if got := in.Followed(tenant, invalidation.Answer{ID: "I0"}, err); (got != nil) != (err != nil) {
			t.Errorf("look %d: %v", n, got)
		}
		pauses = append(pauses, in.World.Looks["t0"].Due.Sub(in.Now))
		in.Now = in.World.Looks["t0"].Due
	}
	want := []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second, 5 * time.Minute, 5 * time.Minute, 5 * time.Minute}
	if diff := cmp.Diff(want, pauses); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	_ = in.Followed(tenant, invalidation.Answer{ID: "I0", Done: true}, nil)
	if in.Memory.Tenants[0].State != invalidation.Completed || in.Memory.Finished.IsZero() {
		t.Errorf("got %+v", in.Memory)
	}
}

// The chain waits for invalidations that AWS does not know (any more), unless they can't come.
func TestFollowedAndNotFound(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*invalidation.Input)
		state  invalidation.State
		says   string
	}{
		"reads lag behind": {func(*invalidation.Input) {}, invalidation.InProgress, ""},
		"but not for an hour": {func(in *invalidation.Input) {
			in.Memory.Started, in.World.Looks = now.Add(-time.Hour), map[string]invalidation.Look{"t0": {Count: 7}}
		}, invalidation.Failed, "does not know the invalidation I0"},
		"nor right after a request that comes late": {func(in *invalidation.Input) { in.Memory.Started = now.Add(-time.Hour) }, invalidation.InProgress, ""},
		"the tenant was deleted":                    {func(in *invalidation.Input) { in.World.Targets = nil }, invalidation.Failed, "deleted before the invalidation was completed"},
		"the tenant is another one":                 {func(in *invalidation.Input) { in.World.Targets[0].TenantID = "dt_x" }, invalidation.Failed, "deleted before"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := fresh(started(invalidation.InProgress), tc.change)
			if err := in.Followed(in.Memory.Tenants[0], invalidation.Answer{}, fail(fault.NotFound)); err != nil {
				t.Error(err)
			}
			if got := in.Memory.Tenants[0]; got.State != tc.state || !strings.Contains(got.Message, tc.says) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// A look that our own limiter puts off is no look.
func TestALookThatIsPutOff(t *testing.T) {
	t.Parallel()
	in := fresh(started(invalidation.InProgress))
	err := in.Followed(in.Memory.Tenants[0], invalidation.Answer{}, &fault.Error{Kind: fault.Throttled, Code: "LocalRateLimit", RetryAfter: time.Second})
	if err == nil || len(in.World.Looks) != 0 || in.World.Looked != 0 {
		t.Errorf("%v, %v", err, in.World.Looks)
	}
}

// Those that have ended make room for the next, and still count. The first failures stay.
func TestRefill(t *testing.T) {
	t.Parallel()
	states := slices.Concat(repeated(30, invalidation.Completed), repeated(25, invalidation.Failed), repeated(3, invalidation.InProgress), repeated(2, invalidation.Pending))
	in := fresh(started(states...), more(1_000, numbered(100)...))
	before := in.Totals()
	refill, ok := invalidation.Decide(in).Step.(invalidation.Refill)
	if !ok || len(refill.Tenants) != 75 {
		t.Fatalf("%d are chosen", len(refill.Tenants))
	}
	in.Refill(refill)
	// Some came to be selected since the beginning, when there were 1,000: 25 come after the next 75.
	if in.Memory.Total != 60+75+25 {
		t.Errorf("the total is %d", in.Memory.Total)
	}
	if got := in.Totals(); got != before || got != (invalidation.Totals{Requested: 58, Completed: 30, Failed: 25}) {
		t.Errorf("it counts %+v, and did %+v", got, before)
	}
	if n := invalidation.Counts(in.Memory.Tenants); len(in.Memory.Tenants) != 100 || n.Failed != 20 || n.Completed != 0 || !in.World.Unsaved {
		t.Errorf("%d tenants, %+v", len(in.Memory.Tenants), n)
	}

	// When no tenant is left, the total is corrected, and the end of the last is the end.
	in = fresh(started(invalidation.Completed, invalidation.Completed), more(5))
	in.Refill(invalidation.Refill{})
	if in.Memory.Total != 2 || in.Memory.Finished.IsZero() || !in.AllCompleted() {
		t.Errorf("%+v", in.Memory)
	}
}
