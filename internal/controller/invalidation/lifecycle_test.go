package invalidation_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// One tenant is asked for once, followed less and less often, reported, and forgotten after a while.
func TestTheLifeOfAnInvalidation(t *testing.T) {
	w := tenants(t, world.New(t, kubeConfig, world.Options{PathsPerDay: 1000}), "shop", "other")
	calls, writes := w.Calls(), w.KubeWrites()
	apply(t, w, w.Invalidation("first", "shop"))
	w.Advance(5 * time.Second)
	is(t, w, "first", "False/InProgress")
	inAWS(t, w, "shop /index.html")
	w.Advance(settle)
	is(t, w, "first", "True/Completed")
	s := w.InvalidationStatus("first")
	if len(s.Tenants) != 1 || *s.Total != 1 || *s.Requested != 1 || *s.Completed != 1 || *s.Failed != 0 || s.ObservedGeneration != 1 {
		t.Errorf("status is %+v", s)
	}
	tenant, _ := w.Get("shop")
	invalidation := w.Sim.Invalidations("")[0]
	want := v1alpha1.InvalidatedTenant{Name: "shop", TenantID: tenant.Status.ID, State: v1alpha1.InvalidationCompleted, InvalidationID: invalidation.ID}
	if diff := cmp.Diff(want, s.Tenants[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	spent := world.Since(calls, w.Calls())
	delete(spent, "ListDistributionTenants")
	if diff := cmp.Diff(map[string]int{create: 1, follow: 4, tags: 1}, spent); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if n := w.KubeWrites() - writes; n != 3 {
		t.Errorf("%d writes to Kubernetes: the tenants, the ID of the invalidation, and its end are 3", n)
	}
	if diff := cmp.Diff([]string{"Created", "Completed"}, w.Reasons("first")); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if w.Paths != 1 || w.Ended[true] != 1 || w.Ended[false] != 0 {
		t.Errorf("counted %d paths, %v ended", w.Paths, w.Ended)
	}
	writes = w.KubeWrites()
	w.Advance(24*time.Hour - 10*time.Minute)
	is(t, w, "first", "True/Completed")
	if n := w.KubeWrites() - writes; n != 0 {
		t.Errorf("%d writes after its end", n)
	}
	w.Advance(20 * time.Minute)
	is(t, w, "first", "object is gone")
	inAWS(t, w, "shop /index.html")
}

// A selector is resolved once: a tenant that is labelled later is not included.
func TestASelectorIsResolvedOnce(t *testing.T) {
	w := tenants(t, world.New(t, kubeConfig, world.Options{InvalidationRate: 0.5}), "one", "two", "three")
	w.Edit("three", func(o *v1alpha1.DistributionTenant) { o.Labels = nil })
	w.Advance(time.Minute)
	apply(t, w, w.Invalidation("gold", "", ofGold))
	w.Advance(100 * time.Millisecond)
	w.Edit("three", func(o *v1alpha1.DistributionTenant) { o.Labels = map[string]string{"tier": "gold"} })
	w.Advance(settle)
	is(t, w, "gold", "True/Completed")
	inAWS(t, w, "one /index.html", "two /index.html")
}

// A selector of a hundred tenants costs a hundred requests, at the pace that AWS allows.
func TestTheCostOfAHundredTenants(t *testing.T) {
	var names []string
	for n := range 100 {
		names = append(names, fmt.Sprintf("tenant%d", n))
	}
	w := offline(t, world.Options{InvalidationRate: 0.5}, names...)
	calls, writes, began := w.Calls(), w.KubeWrites(), w.Clock.Now()
	apply(t, w, w.Invalidation("all", "", ofGold))
	for range 60 {
		if ready, _ := w.InvalidationReady("all"); ready == "True/Completed" {
			break
		}
		w.Advance(time.Minute)
	}
	is(t, w, "all", "True/Completed")
	if n := len(w.Invalidated()); n != 100 {
		t.Errorf("%d invalidations in AWS", n)
	}
	spent, stored := world.Since(calls, w.Calls()), w.KubeWrites()-writes
	t.Logf("a hundred tenants took %s, %v and %d writes to Kubernetes", w.Clock.Now().Sub(began), spent, stored)
	if spent[create] != 100 || spent[tags] != 100 || spent[follow] > 400 || stored > 220 {
		t.Errorf("calls %v, and %d writes", spent, stored)
	}
}

// A tenant that is not there yet is waited for, and no longer than an hour.
func TestATenantIsWaitedFor(t *testing.T) {
	w := offline(t, world.Options{})
	apply(t, w, w.Invalidation("early", "shop"))
	w.Advance(10 * time.Minute)
	is(t, w, "early", "False/ReferenceNotReady", "there is no DistributionTenant shop in this namespace")
	tenants(t, w, "shop")
	w.Advance(settle)
	is(t, w, "early", "True/Completed")
	inAWS(t, w, "shop /index.html")

	apply(t, w, w.Invalidation("never", "ghost"))
	w.Advance(61 * time.Minute)
	is(t, w, "never", "False/InvalidationFailed", "there is no DistributionTenant ghost")
	if s := w.InvalidationStatus("never"); s.CompletionTime == nil {
		t.Error("it has not finished")
	}
	tenants(t, w, "ghost")
	w.Advance(time.Hour)
	inAWS(t, w, "shop /index.html")
}

// How long an invalidation took is measured once, and only of one that removed its paths from all caches.
func TestItIsMeasuredOnce(t *testing.T) {
	w := offline(t, world.Options{}, "shop")
	apply(t, w, w.Invalidation("first", "shop"))
	apply(t, w, w.Invalidation("never", "ghost"))
	w.Advance(2 * time.Hour)
	is(t, w, "first", "True/Completed")
	is(t, w, "never", "False/InvalidationFailed")
	if len(w.Took) != 1 || w.Took[0] < 10*time.Second || w.Took[0] > settle {
		t.Errorf("measured %v", w.Took)
	}
}

// Finished objects of a namespace don't pile up.
func TestFinishedObjectsAreDeleted(t *testing.T) {
	w := offline(t, world.Options{}, "shop")
	for n := range 25 {
		apply(t, w, w.Invalidation(fmt.Sprintf("i%d", n), "shop", paths(fmt.Sprintf("/%d", n))))
		w.Advance(time.Minute)
	}
	w.Advance(30 * time.Minute)
	left := 0
	for n := range 25 {
		if w.InvalidationStatus(fmt.Sprintf("i%d", n)) != nil {
			left++
		}
	}
	if left != 20 || w.InvalidationStatus("i4") != nil || w.InvalidationStatus("i5") == nil {
		t.Errorf("%d objects are left", left)
	}
	if n := len(w.Invalidated()); n != 25 {
		t.Errorf("%d invalidations in AWS", n)
	}
}
