package resource_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

var (
	now     = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	me      = ownership.Owner{Cluster: "c", Namespace: "ns", Name: "shop", UID: "u-1"}
	another = ownership.Owner{Cluster: "other", Namespace: "ns", Name: "shop", UID: "u-2"}
)

const account = "111122223333"

// ours is a resource that is as the spec asks, and that fresh tags prove ours.
func ours(changes ...func(*resource.View)) *resource.View {
	v := &resource.View{
		Object: resource.Object{Now: now, Me: me, Generation: 2, HasFinalizer: true},
		Policy: resource.Policy{Drift: resource.DriftEnforce, Adoption: resource.AdoptIfUnowned},
		Memory: resource.Memory{ID: "R1", Account: account, AppliedGeneration: 2},
		World: resource.World{
			Knowledge: resource.Whole, TagsKnown: true, TagsFresh: true, TagsRead: now,
			Tags: ownership.Merge(map[string]string{"team": "web"}, me),
		},
		Noun: "thing", Present: true, ID: "R1", ARN: "arn:aws:cloudfront::" + account + ":thing/R1",
		Desired: map[string]string{"team": "web"}, Applied: true,
	}
	for _, change := range changes {
		change(v)
	}
	return v
}

func absent(v *resource.View) {
	v.Present, v.ID, v.ARN, v.World.Knowledge, v.World.Tags, v.World.TagsKnown = false, "", "", resource.Absent, nil, false
}

func tags(t map[string]string) func(*resource.View) {
	return func(v *resource.View) { v.World.Tags = t }
}

func refused(kind fault.Kind) func(*resource.View) {
	return func(v *resource.View) { v.World.Refused = &fault.Error{Kind: kind} }
}

func stale(v *resource.View) { v.World.TagsFresh = false }

func untagged(v *resource.View) {
	v.World.Tags, v.World.TagsKnown, v.World.TagsFresh = nil, false, false
}

func TestSharedRules(t *testing.T) {
	owned := func(v *resource.View) resource.Verdict {
		return v.Owned(func(r ownership.Relation) string { return "advice" })
	}
	awaits := func(v *resource.View) resource.Verdict { return v.AwaitCreate(resource.Missing) }
	edited := func(v *resource.View) { v.Applied, v.Generation = false, 3 }
	applied := func(keys ...string) func(*resource.View) {
		return func(v *resource.View) { v.Memory.AppliedTagKeys = keys }
	}
	many := make([]string, 49)
	full := me.Tags()
	for n := range many {
		many[n] = fmt.Sprint("key", n)
		full[many[n]] = "x"
	}
	in := func(id string) func(*resource.View) {
		return func(v *resource.View) { v.World.Account = id }
	}
	for name, test := range map[string]struct {
		rule   func(*resource.View) resource.Verdict
		view   *resource.View
		want   resource.Act
		reason chain.Reason
	}{
		"all may go on":                           {(*resource.View).Stopped, ours(), resource.Pass, ""},
		"but for what is paused":                  {(*resource.View).Stopped, ours(func(v *resource.View) { v.Paused = true }), resource.Rest, ""},
		"a failed read is reported":               {(*resource.View).Readable, ours(func(v *resource.View) { v.World.Unreadable = &fault.Error{Kind: fault.Denied} }), resource.Rest, resource.ReasonAccessDenied},
		"the account is ours":                     {(*resource.View).SameAccount, ours(), resource.Pass, ""},
		"it is another one":                       {(*resource.View).SameAccount, ours(func(v *resource.View) { v.Memory.Account = "9" }), resource.Rest, resource.ReasonWrongAccount},
		"what is absent may be elsewhere":         {(*resource.View).SameAccount, ours(absent), resource.LookAccount, ""},
		"it is":                                   {(*resource.View).SameAccount, ours(absent, in("9")), resource.Rest, resource.ReasonWrongAccount},
		"it is not":                               {(*resource.View).SameAccount, ours(absent, in(account)), resource.Pass, ""},
		"tags prove it ours":                      {owned, ours(), resource.Pass, ""},
		"without them they are read":              {owned, ours(untagged), resource.LookTags, ""},
		"but where the ID is enough":              {owned, ours(untagged, func(v *resource.View) { v.TrustsID = true }), resource.Pass, ""},
		"and none asks for them":                  {owned, ours(untagged, func(v *resource.View) { v.TrustsID, v.Nudged = true, true }), resource.LookTags, ""},
		"one without an owner is adopted":         {owned, ours(tags(nil)), resource.Adopt, ""},
		"on fresh proof":                          {owned, ours(tags(nil), stale), resource.LookTags, ""},
		"not while paused":                        {owned, ours(tags(nil), func(v *resource.View) { v.Paused = true }), resource.Rest, ""},
		"a refusal is told":                       {owned, ours(tags(nil), refused(fault.Denied)), resource.Tell, ""},
		"another's is left alone":                 {owned, ours(tags(another.Tags())), resource.Rest, resource.ReasonAdoptionRequired},
		"the finalizer is there":                  {(*resource.View).Finalized, ours(), resource.Pass, ""},
		"or comes":                                {(*resource.View).Finalized, ours(func(v *resource.View) { v.HasFinalizer = false }), resource.EnsureFinalizer, ""},
		"tags are as they should be":              {(*resource.View).TagsInSync, ours(), resource.Pass, ""},
		"one is missing":                          {(*resource.View).TagsInSync, ours(tags(me.Tags()), applied("team")), resource.Tag, ""},
		"status has the key of a new one first":   {(*resource.View).TagsInSync, ours(tags(me.Tags())), resource.Announce, ""},
		"not that of one whose value is replaced": {(*resource.View).TagsInSync, ours(tags(ownership.Merge(map[string]string{"team": "old"}, me))), resource.Tag, ""},
		"nor more than it has room for":           {(*resource.View).TagsInSync, ours(tags(full), applied(many...), func(v *resource.View) { v.Desired["cost"] = "42" }), resource.Tag, ""},
		"it is only reported":                     {(*resource.View).TagsInSync, ours(tags(me.Tags()), func(v *resource.View) { v.Policy.Drift = resource.DriftReport }), resource.Pass, ""},
		"but for an edit":                         {(*resource.View).TagsInSync, ours(tags(me.Tags()), applied("team"), edited, func(v *resource.View) { v.Policy.Drift = resource.DriftReport }), resource.Tag, ""},
		"one that was ours is too many":           {(*resource.View).TagsInSync, ours(func(v *resource.View) { v.Desired, v.Memory.AppliedTagKeys = nil, []string{"team"} }), resource.Untag, ""},
		"old proof is not enough":                 {(*resource.View).TagsInSync, ours(tags(me.Tags()), func(v *resource.View) { v.World.TagsRead = now.Add(-resource.ProofAge - 1) }), resource.LookTags, ""},
		"AWS does not keep them":                  {(*resource.View).TagsInSync, ours(tags(me.Tags()), func(v *resource.View) { v.Tries.AcceptedFor, v.Tries.Corrections, v.Tries.LastCorrection = 2, 3, now }), resource.Rest, resource.ReasonDriftNotConverging},
		"proof of this pass is certain":           {(*resource.View).Certain, ours(), resource.Pass, ""},
		"that of an earlier one is not":           {(*resource.View).Certain, ours(stale), resource.LookTags, ""},
		"but for a moment":                        {(*resource.View).Certain, ours(stale, func(v *resource.View) { v.Moment = time.Second }), resource.Pass, ""},
		"what is not kept is deleted":             {(*resource.View).Retained, ours(), resource.Pass, ""},
		"what is loses the tags":                  {(*resource.View).Retained, ours(func(v *resource.View) { v.Retain = true }), resource.Release, ""},
		"on proof":                                {(*resource.View).Retained, ours(stale, func(v *resource.View) { v.Retain = true }), resource.LookTags, ""},
		"no create is on its way":                 {awaits, ours(absent), resource.Pass, ""},
		"one was announced":                       {awaits, ours(absent, func(v *resource.View) { v.CreateMark = now.Add(-time.Minute) }), resource.Rest, resource.ReasonDeleting},
		"long ago, but accepted just now":         {awaits, ours(absent, func(v *resource.View) { v.CreateMark, v.Tries.CreatedAt = now.Add(-time.Hour), now }), resource.Rest, resource.ReasonDeleting},
		"a create that was long ago has appeared": {awaits, ours(absent, func(v *resource.View) { v.CreateMark = now.Add(-resource.GracePeriod) }), resource.Pass, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := test.rule(test.view)
			var reason chain.Reason
			if got.Problem != nil {
				reason = got.Problem.Reason
			}
			if got.Do != test.want || reason != test.reason {
				t.Errorf("%d for %q, want %d for %q", got.Do, reason, test.want, test.reason)
			}
		})
	}
}

// Interrupted says nothing that the last pass did not say, but for what the error itself tells of a new object.
func TestInterrupted(t *testing.T) {
	ready := map[chain.ConditionType]chain.Condition{chain.Ready: {Type: chain.Ready, Status: true, Reason: resource.ReasonDeployed}}
	throttled := func(after time.Duration) error { return &fault.Error{Kind: fault.Throttled, RetryAfter: after} }
	transient := &fault.Error{Kind: fault.Transient, Message: "reset"}
	for name, test := range map[string]struct {
		before     map[chain.ConditionType]chain.Condition
		transients int
		applied    bool
		err        error
		want       chain.Reason
	}{
		"a short wait is no news":      {nil, 0, false, throttled(20 * time.Second), ""},
		"a long one is":                {nil, 0, false, throttled(21 * time.Second), resource.ReasonCreating},
		"unless something stands":      {ready, 0, true, throttled(time.Hour), resource.ReasonDeployed},
		"one failure is none":          {nil, 1, false, transient, ""},
		"two are":                      {nil, 2, false, transient, resource.ReasonAWSUnavailable},
		"not of what is and was ready": {ready, 9, true, transient, resource.ReasonDeployed},
		"but of an edit":               {ready, 2, false, transient, resource.ReasonAWSUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			v := ours(func(v *resource.View) {
				v.Memory.Conditions, v.Tries.Transients, v.Applied = test.before, test.transients, test.applied
			})
			var got chain.Reason
			for _, c := range v.Interrupted(v.Memory.Standing(), test.err) {
				got = c.Reason
			}
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestMessagesNameAFewFields(t *testing.T) {
	diff := make([]resource.Difference, 7)
	for i := range diff {
		diff[i].Field = string(rune('a' + i))
	}
	got := resource.NotConverging(diff).Problem.Message
	if d := cmp.Diff("AWS did not keep a, b, c, d, e and 2 more after 3 corrections", strings.SplitN(got, ":", 2)[0]); d != "" {
		t.Error(d)
	}
}

// Resources that many objects have lost at the same time are left alone, and the message says what is true of this one.
func TestLostOwnerTagsThatAreHeld(t *testing.T) {
	held := func(v *resource.View) {
		v.Guarded, v.Harm = true, "is no longer tagged as its own"
		v.World.Budget, v.World.BudgetHarm, v.World.BudgetKnown = loss.Answer{State: loss.Held, Message: "This is plan p."}, v.Harm, true
	}
	earlier := me
	earlier.UID = "u-0"
	granted := func(v *resource.View) { v.Policy.Adoption, v.Policy.Granted = resource.AdoptNever, true }
	const rest = " The operator does not change it or its DNS records. To adopt it again takes spec.adoptionPolicy "
	const approved = ", and an approval of the plan."
	for name, test := range map[string]struct {
		view *resource.View
		want string
	}{
		"they were removed": {ours(held, tags(nil)),
			"The owner tags of the thing R1 are gone." + rest + "IfUnowned" + approved + " This is plan p."},
		"the grant does not allow to adopt it": {ours(held, granted, tags(nil)),
			"The owner tags of the thing R1 are gone." + rest + "IfUnowned" + approved +
				" The grant of the namespace does not allow adopting this one: ask an administrator of the platform for an EdgeGrant whose spec.adopt does. This is plan p."},
		"they are those of an earlier object": {ours(held, tags(earlier.Tags())),
			"The owner tags of the thing R1 name an earlier object of this name (ns/shop (cluster c, uid u-0))." + rest + "IfUnowned" + approved + " This is plan p."},
		"they are those of another cluster": {ours(held, tags(another.Tags())),
			"The owner tags of the thing R1 name an object of another cluster (ask the platform team: the operator's log has the name)." + rest + "Force" + approved + " This is plan p."},
	} {
		t.Run(name, func(t *testing.T) {
			v := test.view.Owned(func(ownership.Relation) string { return "someone else's" })
			if v.Problem == nil || v.Problem.Reason != resource.ReasonAdoptionRequired {
				t.Fatalf("the verdict is %+v", v)
			}
			if d := cmp.Diff(test.want, v.Problem.Message); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
