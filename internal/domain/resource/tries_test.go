package resource_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

func TestMarked(t *testing.T) {
	t.Parallel()
	born := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	noon, doubted := born.Add(time.Hour), born.Add(30*time.Minute)
	for name, tc := range map[string]struct {
		mark string
		// before is when a mark that can't be true was first seen.
		before, want time.Time
	}{
		"a mark is believed":                       {"2026-03-01T12:59:00Z", time.Time{}, noon.Add(-time.Minute)},
		"one of a clock that is a little ahead":    {"2026-03-01T13:00:05Z", time.Time{}, noon.Add(5 * time.Second)},
		"one from long before the object is not":   {"2026-02-01T12:00:00Z", time.Time{}, noon},
		"one from the future is not":               {"2027-03-01T12:00:00Z", time.Time{}, noon},
		"what is no time is not":                   {"yesterday", time.Time{}, noon},
		"an empty one is not":                      {"", time.Time{}, noon},
		"what was doubted before stays as old":     {"yesterday", doubted, doubted},
		"what was doubted before is believed once": {"2026-03-01T12:59:00Z", doubted, noon.Add(-time.Minute)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tries := resource.Tries{MarkDoubted: tc.before}
			if got := tries.Marked(tc.mark, born, noon); !got.Equal(tc.want) {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

func TestEnded(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	failure, stuck := &resource.Failure{Reason: resource.ReasonAccessDenied}, &chain.Problem{Stuck: true}
	transient, conflict := &fault.Error{Kind: fault.Transient}, &fault.Error{Kind: fault.Conflict}
	for name, tc := range map[string]struct {
		before  resource.Tries
		nudged  bool
		failure *resource.Failure
		problem *chain.Problem
		err     error
		want    resource.Tries
	}{
		"failures after which nothing is known are counted": {
			before: resource.Tries{Transients: 1}, err: transient, want: resource.Tries{Transients: 2},
		},
		"a failure of no kind is not": {
			before: resource.Tries{Transients: 1}, err: errors.New("the API server is away"), want: resource.Tries{Transients: 1},
		},
		"what changed meanwhile is counted apart": {
			before: resource.Tries{Transients: 1, Conflicts: 1}, err: conflict, want: resource.Tries{Transients: 1, Conflicts: 2},
		},
		"a pass that ends well ends both series": {
			before: resource.Tries{Transients: 3, Conflicts: 2}, want: resource.Tries{},
		},
		"what a person asks for is remembered while a failure stands": {
			nudged: true, failure: failure, err: transient, want: resource.Tries{Transients: 1, Asked: true},
		},
		"until it was tried, and failed": {
			before: resource.Tries{Asked: true}, failure: failure, problem: stuck, want: resource.Tries{Last: noon},
		},
		"a pass that was cut short has tried nothing": {
			before: resource.Tries{Asked: true}, failure: failure, problem: stuck, err: transient, want: resource.Tries{Transients: 1, Asked: true},
		},
		"or until no failure stands": {
			before: resource.Tries{Asked: true}, nudged: true, want: resource.Tries{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := tc.before
			got.Ended(resource.Object{Now: noon, Nudged: tc.nudged, Generation: 1}, resource.Memory{Failure: tc.failure}, tc.problem, tc.err)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Resources that may still appear after creates, as one process knows it. Marks and answers come in the order of the
// fields.
func TestWhatMayStillAppear(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	lost, refused := &fault.Error{Kind: fault.Transient}, &fault.Error{Kind: fault.Invalid}
	// try is one create: the mark that it found, its own, and how it ended.
	type try struct {
		before, mark time.Duration
		err          error
	}
	const none = -time.Hour
	for name, tc := range map[string]struct {
		tries   []try
		mark    time.Duration
		deleted time.Duration
		want    bool
	}{
		"what no process announced is not known":         {nil, 0, 0, true},
		"what was refused":                               {[]try{{none, 0, refused}}, 0, 0, false},
		"what was refused twice under one mark":          {[]try{{none, 0, refused}, {0, 0, refused}}, 0, 0, false},
		"what was accepted may not show yet":             {[]try{{none, 0, nil}}, 0, 0, true},
		"what was accepted and then deleted":             {[]try{{none, 0, nil}}, 0, time.Minute, false},
		"what was accepted after a deletion":             {[]try{{none, 0, nil}, {0, 2 * time.Minute, nil}}, 2 * time.Minute, time.Minute, true},
		"an answer that was lost":                        {[]try{{none, 0, lost}}, 0, 0, true},
		"a lost answer is not made good by the next one": {[]try{{none, 0, lost}, {0, 5 * time.Second, refused}}, 5 * time.Second, 0, true},
		"nor by a deletion":                              {[]try{{none, 0, lost}, {0, 5 * time.Second, nil}}, 5 * time.Second, time.Minute, true},
		"but by time":                                    {[]try{{none, 0, lost}, {0, 2 * time.Minute, refused}}, 2 * time.Minute, 0, false},
		"a mark of another process that is fresh":        {[]try{{0, time.Minute, refused}}, time.Minute, 0, true},
		"one that is old":                                {[]try{{0, 2 * time.Minute, refused}}, 2 * time.Minute, 0, false},
		"a mark of another process after ours":           {[]try{{none, 0, refused}}, time.Minute, 0, true},
		"a mark that a read shows late":                  {[]try{{none, 0, refused}, {0, time.Minute, refused}}, 0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := func(d time.Duration) time.Time {
				if d == none {
					return time.Time{}
				}
				return noon.Add(d + 300*time.Millisecond)
			}
			v := &resource.View{Object: resource.Object{Now: noon.Add(time.Minute), CreateMark: noon.Add(tc.mark)}, TrustsMark: true}
			for _, e := range tc.tries {
				v.Tries.Announce(at(e.before).Truncate(time.Second), at(e.mark))
				v.Tries.CreateEnded(e.err, at(e.mark), nil)
			}
			if tc.deleted > 0 {
				v.Tries.DeletedAt = at(tc.deleted)
			}
			if got := v.AwaitCreate(resource.Missing).Do == resource.Rest; got != tc.want {
				t.Errorf("it may appear: %t, want %t", got, tc.want)
			}
		})
	}
}

// A user edits the object while it is created, so that the status with the tags of the create can't be stored: those
// that the spec drops are removed all the same. Tags that others set later stay.
func TestTagsOfACreateAreOurs(t *testing.T) {
	t.Parallel()
	v := ours(func(v *resource.View) { v.Generation, v.Applied, v.Memory.AppliedGeneration = 2, false, 0 })
	sent := resource.UserKeys(ownership.Merge(map[string]string{"team": "core", "cost": "4711"}, me))
	v.Tries.CreateEnded(&fault.Error{Kind: fault.Exists}, now, []string{"theirs"}) // a refused create sets nothing
	v.Tries.CreateEnded(&fault.Error{Kind: fault.Transient}, now, sent[:1])
	v.Tries.CreateEnded(nil, now, sent[1:])
	v.World.Tags = ownership.Merge(map[string]string{"team": "core", "cost": "4711", "theirs": "x"}, me)
	v.Desired = map[string]string{"team": "core"}
	if got := v.Tags().Change().Remove; !slices.Equal(got, []string{"cost"}) {
		t.Errorf("removed are %v, want cost alone", got)
	}
	if got := v.Tags().Keys(nil); !slices.Equal(got, []string{"cost", "team"}) {
		t.Errorf("status remembers %v, want cost and team: another process has to know", got)
	}
	v.Tries.Ended(v.Object, v.Memory, nil, nil)
	if got := v.Tags().Change().Remove; len(got) != 1 {
		t.Errorf("removed are %v once a pass has ended that did not get that far, want cost", got)
	}
	v.Memory.AppliedTagKeys = []string{"cost", "team"}
	if got := v.Tags().Change().Remove; !slices.Equal(got, []string{"cost"}) {
		t.Errorf("removed are %v once status has them, too, want cost once", got)
	}
	v.Memory.AppliedGeneration, v.Memory.AppliedTagKeys = 2, []string{"team"}
	v.Tries.Ended(v.Object, v.Memory, nil, nil)
	if got := v.Tags().Change().Remove; len(got) != 0 {
		t.Errorf("removed are %v, want none: status knew all, and a tag that comes later is someone else's", got)
	}
}

// A deletion that AWS has confirmed proves that the resource is gone only if no create can have come after it.
func TestWhatADeletionProves(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	deleted := resource.Tries{DeletedAt: noon, Confirmed: true}
	announced := func(err error) resource.Tries {
		tries := resource.Tries{}
		tries.Announce(time.Time{}, noon.Add(-time.Minute))
		tries.CreateEnded(err, noon.Add(-time.Minute), nil)
		tries.DeletedAt, tries.Confirmed = noon, true
		return tries
	}
	for name, tc := range map[string]struct {
		tries resource.Tries
		mark  time.Time
		want  bool
	}{
		"nothing was deleted":                              {resource.Tries{}, time.Time{}, false},
		"what was to be deleted was not found":             {resource.Tries{DeletedAt: noon}, time.Time{}, false},
		"an object without a mark":                         {deleted, time.Time{}, true},
		"a create of long before":                          {deleted, noon.Add(-resource.GracePeriod), true},
		"a create of another process, shortly before":      {deleted, noon.Add(-time.Minute), false},
		"a create of another process after it":             {deleted, noon.Add(time.Second), false},
		"an own create shortly before, which was answered": {announced(nil), noon.Add(-time.Minute), true},
		"an own create whose answer was lost":              {announced(&fault.Error{Kind: fault.Transient}), noon.Add(-time.Minute), false},
		"a mark of another process after the own one":      {announced(nil), noon.Add(time.Second), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tc.tries.Removed(tc.mark); got != tc.want {
				t.Errorf("the deletion proves it gone: %t, want %t", got, tc.want)
			}
		})
	}
}

// A token is answered when the try that it asked for has come to its end, and asks for one try only.
func TestATokenIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	failure := &resource.Failure{Reason: resource.ReasonDomainConflict}
	var tries resource.Tries
	if tries.Wants("", "") || tries.Wants("now", "now") || !tries.Wants("now", "") || !tries.Wants("again", "now") {
		t.Error("a token asks for a try unless it is absent, or answered")
	}
	tries.Ended(resource.Object{Now: noon, Nudged: true, Token: "now"}, resource.Memory{Failure: failure}, nil, nil)
	if tries.Answered(failure) || tries.Wants("now", "") {
		t.Error("a try that is under way counts as answered, or is requested again")
	}
	if !tries.Wants("again", "") {
		t.Error("a request during a try is not noticed")
	}
	if !tries.Answered(nil) {
		t.Error("a try after which nothing fails any more is not answered")
	}
	moved := resource.Tries{Asked: true}
	if !moved.Wants("now", "") {
		t.Error("a request during a try for another reason is not noticed")
	}
	tries.Ended(resource.Object{Now: noon}, resource.Memory{Failure: failure}, &chain.Problem{Stuck: true}, nil)
	if !tries.Answered(failure) || !tries.Wants("now", "") {
		t.Error("a try that has failed is not answered")
	}
}
