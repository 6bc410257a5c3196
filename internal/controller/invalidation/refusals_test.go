package invalidation_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// As many as AWS takes are in progress: that is waited for, and is no failure.
func TestTooManyInProgressIsWaitedFor(t *testing.T) {
	w := offline(t, world.Options{}, "shop")
	w.Sim.SetQuotas(sim.Quotas{InvalidationPaths: 10})
	apply(t, w, w.Invalidation("large", "shop", paths(numbered(10)...)))
	w.Advance(time.Second)
	apply(t, w, w.Invalidation("next", "shop"))
	w.Advance(10 * time.Second)
	is(t, w, "large", "False/InProgress")
	is(t, w, "next", "False/TooManyInvalidations", "tries again every minute")
	w.Advance(settle)
	is(t, w, "next", "True/Completed")
	if n := w.Calls()[create]; n != 3 {
		t.Errorf("%d requests, want 3: one was refused", n)
	}
	if len(w.Failures) != 0 || !slices.Equal(w.Reasons("next"), []string{"Created", "Completed"}) {
		t.Errorf("counted %v, events %v", w.Failures, w.Reasons("next"))
	}
}

// An invalidation that AWS refuses for good fails, and is not requested again.
func TestARefusalEndsTheInvalidation(t *testing.T) {
	w := offline(t, world.Options{}, "one", "two")
	inject(t, w, sim.Fault{Operation: create, Kind: sim.Instead, Error: &sim.FaultError{Status: 400, Code: "InvalidArgument", Message: "The path is not valid."}})
	apply(t, w, w.Invalidation("gold", "", ofGold))
	w.Advance(settle)
	is(t, w, "gold", "False/InvalidationFailed", "The tenant one was not invalidated", "InvalidArgument: The path is not valid.")
	if diff := cmp.Diff(map[string]string{"one": "Failed", "two": "Completed"}, states(w, "gold")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Created", "InvalidationFailed"}, w.Reasons("gold")); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	inAWS(t, w, "two /index.html")
}

// A permission that is missing is retried, and said.
func TestAMissingPermissionIsSaid(t *testing.T) {
	w := offline(t, world.Options{}, "shop")
	id := inject(t, w, sim.Fault{Operation: create, Kind: sim.Instead, Times: -1, Error: &sim.FaultError{Status: 403, Code: "AccessDenied", Message: "User op is not authorized to perform: cloudfront:" + create}})
	apply(t, w, w.Invalidation("first", "shop"))
	w.Advance(30 * time.Minute)
	is(t, w, "first", "False/AccessDenied", create)
	if n := w.Calls()[create]; n > 20 {
		t.Errorf("%d requests in half an hour", n)
	}
	w.Sim.RemoveFault(id)
	w.Advance(10 * time.Minute)
	is(t, w, "first", "True/Completed")
}

// A state that can't be read is said once, and read again.
func TestAMissingPermissionToFollowIsSaidOnce(t *testing.T) {
	w := offline(t, world.Options{InvalidationRate: 0.5}, "shop")
	id := inject(t, w, sim.Fault{Operation: follow, Kind: sim.Instead, Times: -1, Error: &sim.FaultError{Status: 403, Code: "AccessDenied", Message: "no"}})
	apply(t, w, w.Invalidation("first", "shop"))
	w.Advance(time.Minute)
	writes := w.KubeWrites()
	w.Advance(time.Hour)
	is(t, w, "first", "False/AccessDenied", follow)
	if n := w.KubeWrites() - writes; n != 0 || !slices.Equal(w.Reasons("first"), []string{"Created", "AccessDenied"}) {
		t.Errorf("%d writes, events %v", n, w.Reasons("first"))
	}
	w.Sim.RemoveFault(id)
	w.Advance(10 * time.Minute)
	is(t, w, "first", "True/Completed")
	inAWS(t, w, "shop /index.html")
}

// A tenant that is deleted in between is not asked for, and what was accepted for it ends.
func TestATenantIsDeletedInBetween(t *testing.T) {
	w := offline(t, world.Options{}, "one", "two")
	w.Sim.SetQuotas(sim.Quotas{InvalidationPaths: 1})
	apply(t, w, w.Invalidation("gold", "", ofGold))
	w.Advance(time.Second)
	if diff := cmp.Diff(map[string]string{"one": "InProgress", "two": "Pending"}, states(w, "gold")); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	w.Delete("two")
	w.Advance(2 * settle)
	is(t, w, "gold", "False/InvalidationFailed", "The tenant two was not invalidated")
	if diff := cmp.Diff(map[string]string{"one": "Completed", "two": "Failed"}, states(w, "gold")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	inAWS(t, w, "one /index.html")

	w.Delete("one")
	apply(t, w, w.Invalidation("late", "one"))
	w.Advance(30 * time.Minute)
	is(t, w, "late", "False/ReferenceNotReady")
	inAWS(t, w, "deleted /index.html")
}

// A halted operator requests nothing.
func TestNothingIsRequestedWhileHalted(t *testing.T) {
	w := offline(t, world.Options{}, "shop")
	w.Halt.Set(t.Context(), "Frozen", "An administrator has stopped all writes.")
	apply(t, w, w.Invalidation("first", "shop"))
	w.Advance(time.Minute)
	is(t, w, "first", "False/Frozen", "An administrator has stopped all writes.")
	inAWS(t, w)
	w.Halt.Clear(t.Context(), "Frozen")
	w.Advance(settle)
	is(t, w, "first", "True/Completed")
}

// A tenant that was deleted and created again has other caches.
func TestATenantIsCreatedAgainInBetween(t *testing.T) {
	w := offline(t, world.Options{}, "one", "two")
	w.Sim.SetQuotas(sim.Quotas{InvalidationPaths: 1})
	apply(t, w, w.Invalidation("gold", "", ofGold))
	w.Advance(time.Second)
	again, _ := w.Get("two")
	again.Status.ID, again.Status.ARN = "dt_again", "arn:aws:cloudfront::111122223333:distribution-tenant/dt_again"
	w.FreezeCache(again)
	w.Advance(settle)
	is(t, w, "gold", "False/InvalidationFailed", "deleted in AWS, or created again")
	inAWS(t, w, "one /index.html")
}

// Status proves nothing: the tags in AWS must name the object.
func TestATenantOfOthersIsNotInvalidated(t *testing.T) {
	for name, tc := range map[string]struct {
		forge func(s, victim *v1alpha1.DistributionTenantStatus)
		says  string
	}{
		"the ID of another tenant": {func(s, victim *v1alpha1.DistributionTenantStatus) { s.ID = victim.ID }, "owner tags"},
		"ID and ARN of another tenant": {func(s, victim *v1alpha1.DistributionTenantStatus) {
			s.ID, s.ARN = victim.ID, victim.ARN
		}, "owner tags"},
		"the ID of another tenant, which ends the ARN": {func(s, victim *v1alpha1.DistributionTenantStatus) {
			s.ID, s.ARN = victim.ID, s.ARN+"/"+victim.ID
		}, "does not exist in AWS"},
		"a tenant that does not exist": {func(s, _ *v1alpha1.DistributionTenantStatus) {
			s.ID, s.ARN = "dt_none", "arn:aws:cloudfront::111122223333:distribution-tenant/dt_none"
		}, "does not exist in AWS"},
	} {
		t.Run(name, func(t *testing.T) {
			w := offline(t, world.Options{}, "shop", "victim")
			victim, _ := w.Get("victim")
			shop, _ := w.Get("shop")
			tc.forge(&shop.Status, &victim.Status)
			w.FreezeCache(shop)
			apply(t, w, w.Invalidation("first", "shop"))
			w.Advance(10 * time.Second)
			is(t, w, "first", "False/InvalidationFailed", "The tenant shop was not invalidated", tc.says)
			inAWS(t, w)
		})
	}
}

// A tenant that its object does not own is not invalidated.
func TestATenantThatIsToBeAdoptedIsNotInvalidated(t *testing.T) {
	w := offline(t, world.Options{}, "shop")
	o, _ := w.Get("shop")
	for n := range o.Status.Conditions {
		if c := &o.Status.Conditions[n]; c.Type == v1alpha1.ConditionReady {
			c.Status, c.Reason = "False", v1alpha1.ReasonAdoptionRequired
		}
	}
	w.FreezeCache(o)
	apply(t, w, w.Invalidation("first", "shop"))
	w.Advance(10 * time.Second)
	is(t, w, "first", "False/ReferenceNotReady", "AdoptionRequired")
	inAWS(t, w)
	w.ThawCache()
	w.Advance(time.Hour + settle)
	is(t, w, "first", "True/Completed")
}

// The grant is asked before anything is called, also between two tenants.
func TestAGrantDecides(t *testing.T) {
	all := grant.Grant{
		Name: "all", Version: "1", Namespaces: grant.Namespaces{Names: []string{"*"}}, Kinds: []string{"DistributionTenant", "Invalidation"},
		Distributions: []grant.Distribution{{Is: "*"}}, Domains: []grant.Domain{{Suffix: "*"}},
	}
	narrow := all
	narrow.Version, narrow.Kinds = "2", []string{"DistributionTenant"}
	w := offline(t, world.Options{Grants: grants.Enforce, Granted: []grant.Grant{all}}, "one", "two")
	w.Sim.SetQuotas(sim.Quotas{InvalidationPaths: 1})
	apply(t, w, w.Invalidation("gold", "", ofGold))
	w.Advance(time.Second)
	w.Grant(narrow)
	w.Advance(settle)
	is(t, w, "gold", "False/NotGranted", "does not allow objects of the kind Invalidation")
	if diff := cmp.Diff(map[string]string{"one": "Completed", "two": "Pending"}, states(w, "gold")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	inAWS(t, w, "one /index.html")
	requests := w.Calls()[create]
	w.Advance(time.Hour)
	if n := w.Calls()[create] - requests; n != 0 {
		t.Errorf("%d requests without the right to", n)
	}
	w.Grant(all)
	w.Advance(settle)
	is(t, w, "gold", "True/Completed")
	inAWS(t, w, "one /index.html", "two /index.html")
}

// Paths cost money: a namespace has a limit for a day, which also counts what was deleted.
func TestPathsPerDay(t *testing.T) {
	w := offline(t, world.Options{PathsPerDay: 10}, "one", "two")
	apply(t, w, w.Invalidation("first", "", ofGold, paths(numbered(3)...)))
	w.Advance(settle)
	is(t, w, "first", "True/Completed")
	apply(t, w, w.Invalidation("second", "one", paths(numbered(5)...)))
	w.Advance(settle)
	is(t, w, "second", "False/PathLimitReached", "may request 10 paths in 24 hours", "needs 5", "It goes on at "+w.InvalidationStatus("first").StartTime.Add(24*time.Hour).UTC().Format(time.RFC3339))
	apply(t, w, w.Invalidation("third", "two", paths(numbered(4)...)))
	w.Advance(settle)
	is(t, w, "third", "True/Completed")
	apply(t, w, w.Invalidation("huge", "", ofGold, paths(numbered(6)...)))
	w.Advance(settle)
	is(t, w, "huge", "False/ValidationFailed", "would request 12 paths (6 for each of 2 tenants)")
	for _, name := range []string{"first", "third"} {
		if err := w.Kube.Delete(t.Context(), w.Invalidation(name, "one")); err != nil {
			t.Fatal(err)
		}
	}
	w.Advance(time.Hour)
	is(t, w, "second", "False/PathLimitReached")
	w.Advance(24 * time.Hour)
	is(t, w, "second", "True/Completed")
	if n := len(w.Invalidated()); n != 4 {
		t.Errorf("%d invalidations in AWS", n)
	}
}

// A paused object requests nothing.
func TestAPausedObjectWaits(t *testing.T) {
	w := offline(t, world.Options{}, "shop")
	apply(t, w, w.Invalidation("first", "shop", func(o *v1alpha1.Invalidation) { o.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"} }))
	w.Advance(settle)
	is(t, w, "first", "False/Paused")
	inAWS(t, w)
}

// An object that is deleted while AWS is at work is gone at once, and nothing else is requested for it.
func TestAnObjectIsDeletedInProgress(t *testing.T) {
	w := offline(t, world.Options{}, "one", "two")
	w.Sim.SetQuotas(sim.Quotas{InvalidationPaths: 1})
	o := w.Invalidation("gold", "", ofGold)
	apply(t, w, o)
	w.Advance(time.Second)
	if err := w.Kube.Delete(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	w.Advance(settle)
	is(t, w, "gold", "object is gone")
	inAWS(t, w, "one /index.html")
}
