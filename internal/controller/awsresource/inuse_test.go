package awsresource_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// ours makes a tenant by an object of this cluster.
func (k kind) ours(w *world.World, r thing, name string) {
	w.Apply(w.Tenant(name, func(o *v1alpha1.DistributionTenant) {
		o.Spec.Customizations = &v1alpha1.Customizations{Certificate: &v1alpha1.CertificateCustomization{ARN: sim.DefaultCertificateARN}}
		if k.name == "distribution" {
			o.Spec.DistributionID = r.ID
		} else {
			o.Spec.ConnectionGroupID = r.ID
		}
	}))
}

// Disabling a parent takes its tenants offline, and deleting it is refused: neither is tried.
func TestAParentWithTenantsStaysAsItIs(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for name, c := range map[string]struct {
			ours, others int
			says         []string
		}{
			"one of ours":    {1, 0, []string{"has 1 distribution tenant,", "ours-0"}},
			"two of others'": {0, 2, []string{"has 2 distribution tenants", "None of them belongs to an object in this cluster"}},
			"some of both":   {2, 1, []string{"has 3 distribution tenants", "ours-0", "ours-1"}},
			"more than fit":  {7, 0, []string{"has 7 distribution tenants", "and 2 more"}},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				a := audited(t, k, world.Options{})
				w := a.w
				r := a.create(t)
				for n := range c.ours {
					k.ours(w, r, fmt.Sprintf("ours-%d", n))
				}
				for n := range c.others {
					k.tenant(t, w, r.ID, fmt.Sprintf("theirs-%d", n))
				}
				w.Advance(settle)
				r = k.only(t, w)
				calls := w.Calls()
				remove(t, w, a.o)
				w.Advance(10 * time.Second)
				is(t, w, a.o, "Ready=False/InUse", "Synced=False/UpdatePending")
				says(t, w, a.o, "Ready", c.says...)
				atStep(t, w, a.o, v1alpha1.DeletionStepInUse)
				said, kube := status(t, w, a.o), w.KubeWrites()
				w.Advance(10 * time.Minute)
				if d := cmp.Diff(said, status(t, w, a.o)); d != "" {
					t.Errorf("the status of what stands still moves (-before +after):\n%s", d)
				}
				if n := w.KubeWrites() - kube; n > 0 {
					t.Errorf("%d writes to Kubernetes", n)
				}
				k.untouched(t, w, r)
				if spent := k.mutations(world.Since(calls, w.Calls())); len(spent) > 0 {
					t.Errorf("changes were tried: %v", spent)
				}
				once(t, w, a.o, "InUse")

				for n := range c.ours {
					w.Delete(fmt.Sprintf("ours-%d", n))
				}
				for n := range c.others {
					noTenant(t, w, fmt.Sprintf("theirs-%d", n))
				}
				w.Advance(10 * time.Minute)
				k.gone(t, w, a.o)
				want := []v1alpha1.DeletionStep{v1alpha1.DeletionStepInUse, v1alpha1.DeletionStepSettling}
				if d := cmp.Diff(want, a.steps); d != "" {
					t.Errorf("steps (-want +got):\n%s", d)
				}
				if refused := k.refusals(w); len(refused) > 0 {
					t.Errorf("AWS had to refuse: %v", refused)
				}
			})
		}
	})
}

func TestTheNumberOfTenantsIsKeptUpToDate(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		a := audited(t, k, world.Options{})
		w := a.w
		r := a.create(t)
		k.tenant(t, w, r.ID, "first")
		remove(t, w, a.o)
		w.Advance(10 * time.Second)
		since := status(t, w, a.o).Deletion.Since
		says(t, w, a.o, "Ready", "has 1 distribution tenant,")
		k.tenant(t, w, r.ID, "second")
		w.Advance(2 * time.Minute)
		says(t, w, a.o, "Ready", "has 2 distribution tenants,")
		noTenant(t, w, "first")
		w.Advance(2 * time.Minute)
		says(t, w, a.o, "Ready", "has 1 distribution tenant,")
		if now := status(t, w, a.o).Deletion.Since; !now.Equal(&since) {
			t.Errorf("in use since %s, and now since %s", since, now)
		}
		once(t, w, a.o, "InUse")
	})
}

// More tenants than a page of the list holds are not all counted.
func TestManyTenantsAreNotAllCounted(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		a := audited(t, k, world.Options{})
		w := a.w
		r := a.create(t)
		for n := range 110 {
			k.tenant(t, w, r.ID, fmt.Sprintf("many-%d", n))
		}
		calls := w.Calls()
		remove(t, w, a.o)
		w.Advance(time.Second)
		is(t, w, a.o, "Ready=False/InUse")
		says(t, w, a.o, "Ready", "more than 100 distribution tenants")
		if n := world.Since(calls, w.Calls())["ListDistributionTenants"]; n != 1 {
			t.Errorf("%d lists", n)
		}
	})
}

// A tenant can come at any time: where AWS still takes it, the deletion waits from there.
func TestATenantThatComesDuringADeletionIsNotLost(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for n := 1; ; n++ {
			acted, came := false, false
			t.Run(fmt.Sprintf("before call %d", n), func(t *testing.T) { acted, came = tenantComes(t, k, n) })
			if !acted {
				break
			}
			t.Logf("before call %d: AWS took the tenant: %t", n, came)
		}
	})
}

// tenantComes plays a deletion in which a tenant is made just before the n-th call.
func tenantComes(t *testing.T, k kind, n int) (acted, came bool) {
	t.Helper()
	a := audited(t, k, world.Options{})
	w := a.w
	r := a.create(t)
	from := a.calls
	a.before = func(call int, request *http.Request) {
		if call-from != n {
			return
		}
		acted = true
		// A change between the last look at tenants and the disable can't be prevented.
		a.racing = request.Method == http.MethodPut || strings.HasSuffix(request.URL.Path, "/tagging")
		now, found := k.find(w, r.ID)
		if !found || !now.Enabled && k.name == "connection group" {
			return // AWS takes no tenant any more
		}
		k.tenant(t, w, r.ID, "late")
		came = true
	}
	remove(t, w, a.o)
	w.Advance(10 * time.Minute)
	if came {
		atStep(t, w, a.o, v1alpha1.DeletionStepInUse)
		is(t, w, a.o, "Ready=False/InUse")
		says(t, w, a.o, "Ready", "1 distribution tenant,")
		if _, found := w.InAWS("late"); !found || len(k.all(w)) != 1 {
			t.Error("something is lost")
		}
		calls := w.Calls()
		w.Advance(10 * time.Minute)
		if spent := k.mutations(world.Since(calls, w.Calls())); len(spent) > 0 {
			t.Errorf("changes were tried: %v", spent)
		}
		noTenant(t, w, "late")
		w.Advance(10 * time.Minute)
	}
	k.gone(t, w, a.o)
	return acted, came
}

// A distribution that has tenants was disabled by hand: AWS refuses to delete it, and that is reported.
func TestADisabledDistributionWithTenantsIsInUse(t *testing.T) {
	t.Parallel()
	k := distributions()
	a := audited(t, k, world.Options{})
	w := a.w
	r := a.create(t)
	k.tenant(t, w, r.ID, "left")
	k.change(t, w, r.ID, disable)
	w.Clock.Step(2 * world.DeployDelay)
	remove(t, w, a.o)
	w.Advance(10 * time.Minute)
	is(t, w, a.o, "Ready=False/InUse")
	atStep(t, w, a.o, v1alpha1.DeletionStepInUse)
	calls := w.Calls()
	w.Advance(time.Hour)
	if spent := k.mutations(world.Since(calls, w.Calls())); len(spent) > 0 {
		t.Errorf("changes were tried: %v", spent)
	}
	noTenant(t, w, "left")
	w.Advance(10 * time.Minute)
	k.gone(t, w, a.o)
}

// That tenants can't be listed does not mean that they are gone.
func TestAListThatFailsDoesNotEndTheWaitForTenants(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for name, failure := range map[string]sim.FaultError{
			"throttled":    {Status: http.StatusBadRequest, Code: "Throttling", Message: "Rate exceeded"},
			"not allowed":  denied("ListDistributionTenants"),
			"out of order": {Status: http.StatusInternalServerError, Code: "InternalError", Message: "try again"},
		} {
			for seen, before := range map[string]time.Duration{"before it is first listed": 0, "later": 5 * time.Minute} {
				t.Run(name+" "+seen, func(t *testing.T) {
					t.Parallel()
					w := world.NewOffline(t, world.Options{})
					o := k.ready(t, w, "shop")
					k.tenant(t, w, k.only(t, w).ID, "one")
					if k.name == "distribution" && before > 0 {
						k.change(t, w, k.only(t, w).ID, disable)
					}
					w.Clock.Step(2 * world.DeployDelay)
					r := k.only(t, w)
					if before > 0 {
						remove(t, w, o)
						w.Advance(before)
						is(t, w, o, "Ready=False/InUse")
					}
					calls := w.Calls()
					allow := refusing(t, w, "ListDistributionTenants", failure)
					if before == 0 {
						remove(t, w, o)
					}
					w.Advance(5 * time.Minute)
					if d := status(t, w, o).Deletion; d != nil && d.Step != v1alpha1.DeletionStepInUse {
						t.Errorf("the deletion is at %s\n%s", d.Step, w.ParentConditions(o))
					}
					allow()
					w.Advance(20 * time.Minute)
					is(t, w, o, "Ready=False/InUse")
					once(t, w, o, "InUse")
					for _, reason := range w.Reasons("shop") {
						if reason == "Disabling" || reason == "Deleting" {
							t.Errorf("an event says %s", reason)
						}
					}
					if d := cmp.Diff(map[string]int{}, k.mutations(world.Since(calls, w.Calls()))); d != "" {
						t.Errorf("writes (-want +got):\n%s", d)
					}
					k.untouched(t, w, r)
				})
			}
		}
	})
}
