package distributiontenant_test

import (
	"fmt"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// otherDistribution is a second one that tenants can move to.
const otherDistribution = "E2EXAMPLE2"

const (
	waitsForReference = "Ready=False/ReferenceNotReady"
	heldByReference   = "Synced=False/ReferenceNotReady"
)

// parentless is a world in which the test says what becomes of Distribution and ConnectionGroup objects.
func parentless(t *testing.T) *world.World {
	t.Helper()
	s := world.Seed()
	other := s.Distributions[0]
	other.ID = otherDistribution
	s.Distributions = append(s.Distributions, other)
	return world.New(t, kubeConfig, world.Options{Seed: &s, WithoutParents: true})
}

// put creates a parent that stands for what has that ID in AWS; for nothing where it is empty.
func put(t *testing.T, w *world.World, o client.Object, id string) {
	t.Helper()
	o.SetFinalizers([]string{v1alpha1.Finalizer})
	if err := w.Kube.Create(t.Context(), o); err != nil {
		t.Fatalf("creating %s: %v", o.GetName(), err)
	}
	if id != "" {
		report(t, w, o, func(s *v1alpha1.ResourceStatus) { s.ID = id })
	}
}

// report writes the status of a parent.
func report(t *testing.T, w *world.World, o client.Object, change func(*v1alpha1.ResourceStatus)) {
	t.Helper()
	base := o.DeepCopyObject().(client.Object)
	switch o := o.(type) {
	case *v1alpha1.Distribution:
		change(&o.Status.ResourceStatus)
	case *v1alpha1.ConnectionGroup:
		change(&o.Status.ResourceStatus)
	}
	if err := w.Kube.Status().Patch(t.Context(), o, client.MergeFrom(base)); err != nil {
		t.Fatalf("writing the status of %s: %v", o.GetName(), err)
	}
}

// remove deletes a parent, which stays for as long as its finalizer does; drop takes that off.
func remove(t *testing.T, w *world.World, o client.Object) {
	t.Helper()
	if err := w.Kube.Delete(t.Context(), o); err != nil {
		t.Fatalf("deleting %s: %v", o.GetName(), err)
	}
}

func drop(t *testing.T, w *world.World, o client.Object) {
	t.Helper()
	base := o.DeepCopyObject().(client.Object)
	o.SetFinalizers(nil)
	if err := w.Kube.Patch(t.Context(), o, client.MergeFrom(base)); err != nil {
		t.Fatalf("dropping %s: %v", o.GetName(), err)
	}
}

// on names the distribution by its object.
func on(name string) edit {
	return func(o *v1alpha1.DistributionTenant) {
		o.Spec.DistributionID, o.Spec.DistributionRef = "", &v1alpha1.ObjectReference{Name: name}
	}
}

// in names the connection group by its object.
func in(name string) edit {
	return func(o *v1alpha1.DistributionTenant) {
		o.Spec.ConnectionGroupID, o.Spec.ConnectionGroupRef = "", &v1alpha1.ObjectReference{Name: name}
	}
}

// group makes a connection group in AWS.
func group(t *testing.T, w *world.World, name string) (id string) {
	t.Helper()
	out, err := w.AWS().CreateConnectionGroup(t.Context(), &cloudfront.CreateConnectionGroupInput{Name: &name, Enabled: awssdk.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	return *out.ConnectionGroup.Id
}

// moment is enough for the passes that an event wakes, and not for anything that is due later.
const moment = 2 * time.Second

func TestATenantWaitsForItsDistribution(t *testing.T) {
	t.Parallel()
	w := parentless(t)
	w.Apply(w.Tenant("alpha", on("main")))
	w.Advance(moment)
	is(t, w, "alpha", waitsForReference, "Synced=False/UpdatePending")
	says(t, w, "alpha", "Ready", "spec.distributionRef", "Distribution "+w.Namespace+"/main", "does not exist")

	writes := w.Writes()
	w.Advance(2 * time.Hour)
	if n := w.Writes() - writes; n != 0 {
		t.Errorf("waiting for two hours made %d writes", n)
	}
	// The endpoint was looked for once.
	if d := cmp.Diff(map[string]int{"ListConnectionGroups": 1}, without(w.Calls(), "ListDistributionTenants")); d != "" {
		t.Errorf("calls while waiting (-want +got):\n%s", d)
	}

	main := w.Distribution("main")
	put(t, w, main, "")
	w.Advance(moment)
	says(t, w, "alpha", "Ready", "does not exist in AWS yet")
	report(t, w, main, func(s *v1alpha1.ResourceStatus) {
		meta.SetStatusCondition(&s.Conditions, metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonQuotaExceeded})
	})
	w.Advance(moment)
	says(t, w, "alpha", "Ready", "does not exist in AWS yet", v1alpha1.ReasonQuotaExceeded)
	tenants(t, w)

	// It need not be deployed.
	report(t, w, main, func(s *v1alpha1.ResourceStatus) { s.ID, s.DeploymentStatus = world.DistributionID, "InProgress" })
	w.Advance(moment)
	if got := inAWS(t, w, "alpha").DistributionID; got != world.DistributionID {
		t.Errorf("the tenant is on %s", got)
	}
	w.Advance(settle)
	is(t, w, "alpha", readyTrue, syncedTrue)
	if got := get(t, w, "alpha").Status.DistributionID; got != world.DistributionID {
		t.Errorf("status.distributionId is %q", got)
	}
	if d := cmp.Diff([]string{"Created"}, w.Reasons("alpha")); d != "" {
		t.Errorf("waiting for a parent is no news (-want +got):\n%s", d)
	}
}

// A mistake that was reported of one parent must not keep the tenant from another one.
func TestADistributionThatIsNoneForTenants(t *testing.T) {
	t.Parallel()
	w := parentless(t)
	standard := w.Distribution("main", func(o *v1alpha1.Distribution) { o.Spec.ConnectionMode = v1alpha1.ConnectionModeDirect })
	put(t, w, standard, world.DistributionID)
	w.Apply(w.Tenant("alpha", on("main")))
	w.Advance(time.Hour)
	is(t, w, "alpha", "Ready=False/ValidationFailed")
	says(t, w, "alpha", "Ready", "spec.distributionRef", "/main", "connectionMode direct", "tenant-only")
	tenants(t, w)
	remove(t, w, standard)
	drop(t, w, standard)
	put(t, w, w.Distribution("main"), world.DistributionID)
	w.Advance(moment)
	tenants(t, w, "alpha")
}

// A parent that is deleted, or lost, leaves its tenants as they are: in AWS, and in what is reported about them.
func TestATenantWhoseParentIsLostStaysAsItIs(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*testing.T, *world.World, *v1alpha1.Distribution){
		"deleted, and still there": func(t *testing.T, w *world.World, o *v1alpha1.Distribution) { t.Helper(); remove(t, w, o) },
		"gone": func(t *testing.T, w *world.World, o *v1alpha1.Distribution) {
			t.Helper()
			remove(t, w, o)
			drop(t, w, o)
		},
		"without its status": func(t *testing.T, w *world.World, o *v1alpha1.Distribution) {
			t.Helper()
			report(t, w, o, func(s *v1alpha1.ResourceStatus) { *s = v1alpha1.ResourceStatus{} })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := parentless(t)
			main := w.Distribution("main")
			put(t, w, main, world.DistributionID)
			ready(t, w, "alpha", on("main"), params("tier", "gold"), tags("team", "web"))
			before := inAWS(t, w, "alpha")
			lose(t, w, main)
			w.Advance(moment)
			is(t, w, "alpha", readyTrue, heldByReference)
			says(t, w, "alpha", "Synced", "Distribution "+w.Namespace+"/main", "the distribution tenant is not changed")

			// Nothing is written, neither for an edit nor because of drift, and not after a restart.
			w.Edit("alpha", params("tier", "silver"))
			w.Edit("alpha", tags("team", "api"))
			w.Advance(time.Hour)
			untouched(t, w, before)
			outOfBand(t, w, "alpha", func(in *cloudfront.UpdateDistributionTenantInput) {
				in.Parameters = []types.Parameter{{Name: awssdk.String("tier"), Value: awssdk.String("lead")}}
			})
			w.Clock.Step(2 * world.DeployDelay)
			before = inAWS(t, w, "alpha")
			w.Restart()
			nudge(w, "alpha", "now")
			w.Advance(time.Hour)
			untouched(t, w, before)
			is(t, w, "alpha", readyTrue, heldByReference)

			// Ready says what becomes of the tenant meanwhile.
			outOfBand(t, w, "alpha", func(in *cloudfront.UpdateDistributionTenantInput) { in.Enabled = awssdk.Bool(false) })
			w.Advance(10 * time.Minute)
			is(t, w, "alpha", "Ready=False/AWSError", heldByReference)

			// By its ID the distribution is the same, and all that had to wait is done.
			w.Edit("alpha", func(o *v1alpha1.DistributionTenant) {
				o.Spec.DistributionRef, o.Spec.DistributionID = nil, world.DistributionID
			})
			w.Advance(settle)
			is(t, w, "alpha", readyTrue, syncedTrue)
			after := inAWS(t, w, "alpha")
			if after.Parameters["tier"] != "silver" || after.Tags["team"] != "api" || !after.Enabled {
				t.Errorf("in AWS: %+v", after)
			}
		})
	}
}

// Another distribution under the same name is a change of what is asked for: it is applied, under every drift policy,
// and it is no drift.
func TestATenantMovesWithItsReference(t *testing.T) {
	t.Parallel()
	for _, policy := range []v1alpha1.DriftPolicy{v1alpha1.DriftPolicyEnforce, v1alpha1.DriftPolicyReport, v1alpha1.DriftPolicySuspend} {
		for name, restart := range map[string]bool{"": false, ", after a restart": true} {
			t.Run(string(policy)+name, func(t *testing.T) {
				t.Parallel()
				w := parentless(t)
				main := w.Distribution("main")
				put(t, w, main, world.DistributionID)
				before := ready(t, w, "alpha", on("main"), drift(policy))
				remove(t, w, main)
				drop(t, w, main)
				put(t, w, w.Distribution("main"), otherDistribution)
				if restart {
					w.Restart()
				}
				w.Advance(10 * time.Minute)
				is(t, w, "alpha", readyTrue, syncedTrue)
				after := get(t, w, "alpha")
				if got := inAWS(t, w, "alpha"); got.DistributionID != otherDistribution || got.ID != before.Status.ID {
					t.Errorf("the tenant %s is on %s", got.ID, got.DistributionID)
				}
				if after.Status.DistributionID != otherDistribution || after.Status.ObservedGeneration != after.Generation || w.Drift > 0 {
					t.Errorf("status %+v, drift was counted %d times", after.Status, w.Drift)
				}
				if n := w.Calls()["UpdateDistributionTenant"]; n != 1 {
					t.Errorf("%d updates", n)
				}
			})
		}
	}
}

// A tenant that was moved in AWS is drift: references lead where they did.
func TestATenantThatIsMovedInAWSIsDrift(t *testing.T) {
	t.Parallel()
	w := parentless(t)
	put(t, w, w.Distribution("main"), world.DistributionID)
	ready(t, w, "alpha", on("main"), drift(v1alpha1.DriftPolicyReport))
	outOfBand(t, w, "alpha", func(in *cloudfront.UpdateDistributionTenantInput) {
		in.DistributionId = awssdk.String(otherDistribution)
	})
	w.Advance(10 * time.Minute)
	is(t, w, "alpha", readyTrue, "Synced=False/DriftDetected")
	says(t, w, "alpha", "Synced", "distributionId")
	if got := inAWS(t, w, "alpha").DistributionID; got != otherDistribution {
		t.Errorf("the tenant was moved to %s", got)
	}
}

// From the ID to the object and back: where both lead to the same, AWS is not asked for a change.
func TestFromIDToReferenceAndBack(t *testing.T) {
	t.Parallel()
	w := parentless(t)
	put(t, w, w.Distribution("main"), world.DistributionID)
	put(t, w, w.Distribution("other"), otherDistribution)
	ready(t, w, "alpha")
	calls := mutations(w.Calls())
	w.Edit("alpha", on("main"))
	w.Advance(settle)
	is(t, w, "alpha", readyTrue, syncedTrue)
	if d := cmp.Diff(calls, mutations(w.Calls())); d != "" {
		t.Errorf("changes in AWS (-before +after):\n%s", d)
	}
	w.Edit("alpha", on("other"))
	w.Advance(settle)
	is(t, w, "alpha", readyTrue, syncedTrue)
	if got := inAWS(t, w, "alpha").DistributionID; got != otherDistribution {
		t.Errorf("the tenant is on %s", got)
	}
	w.Edit("alpha", func(o *v1alpha1.DistributionTenant) {
		o.Spec.DistributionRef, o.Spec.DistributionID = nil, world.DistributionID
	})
	w.Advance(settle)
	is(t, w, "alpha", readyTrue, syncedTrue)
	if got := inAWS(t, w, "alpha").DistributionID; got != world.DistributionID {
		t.Errorf("the tenant is on %s", got)
	}
}

func TestConnectionGroupsByReference(t *testing.T) {
	t.Parallel()
	w := parentless(t)
	first, second := group(t, w, "first"), group(t, w, "second")
	static := w.ConnectionGroup("static")
	put(t, w, static, first)
	report(t, w, static, func(s *v1alpha1.ResourceStatus) { s.Enabled = new(false) })
	// Meanwhile no message asks to point DNS at another group.
	w.Apply(w.Tenant("alpha", in("static"), published))
	w.Advance(moment)
	is(t, w, "alpha", waitsForReference)
	says(t, w, "alpha", "Ready", "spec.connectionGroupRef", "ConnectionGroup "+w.Namespace+"/static", "disabled in AWS")
	if got := get(t, w, "alpha").Status.DNSTarget; got != "" {
		t.Errorf("status.dnsTarget is %s", got)
	}
	tenants(t, w)

	report(t, w, static, func(s *v1alpha1.ResourceStatus) { s.Enabled = new(true) })
	w.Advance(moment)
	if got := inAWS(t, w, "alpha").ConnectionGroupID; got != first {
		t.Errorf("the tenant is in %s, want %s", got, first)
	}
	put(t, w, w.ConnectionGroup("other"), second)
	w.Advance(settle)
	w.Edit("alpha", in("other"))
	w.Advance(settle)
	is(t, w, "alpha", syncedTrue)
	if got := inAWS(t, w, "alpha").ConnectionGroupID; got != second {
		t.Errorf("the tenant is in %s, want %s", got, second)
	}
	if got := get(t, w, "alpha").Status.ConnectionGroupID; got != second {
		t.Errorf("status.connectionGroupId is %s, want %s", got, second)
	}
}

// published asks for DNS records, in a zone that does not exist.
func published(o *v1alpha1.DistributionTenant) {
	o.Spec.DNS = &v1alpha1.DNS{Provider: v1alpha1.DNSProviderRoute53}
}

// A lost reference does not stop the deletion of a tenant, whatever became of the parents.
func TestDeletionLooksAtNoReference(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]v1alpha1.DeletionPolicy{"delete": v1alpha1.DeletionPolicyDelete, "retain": v1alpha1.DeletionPolicyRetain} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := parentless(t)
			main, static := w.Distribution("main"), w.ConnectionGroup("static")
			put(t, w, main, world.DistributionID)
			put(t, w, static, group(t, w, "static"))
			ready(t, w, "alpha", on("main"), in("static"), func(o *v1alpha1.DistributionTenant) { o.Spec.DeletionPolicy = policy })
			for _, o := range []client.Object{main, static} {
				remove(t, w, o)
				drop(t, w, o)
			}
			w.Advance(moment)
			is(t, w, "alpha", readyTrue, heldByReference)
			w.Restart()
			w.Delete("alpha")
			w.Advance(15 * time.Minute)
			if policy == v1alpha1.DeletionPolicyDelete {
				gone(t, w, "alpha")
				return
			}
			if _, found := w.Get("alpha"); found {
				t.Errorf("the object is still there:\n%s", w.Describe("alpha"))
			}
			if left := inAWS(t, w, "alpha"); len(left.Tags) > 0 || !left.Enabled {
				t.Errorf("released, and in AWS is %+v", left)
			}
		})
	}
}

// A new tenant whose parent never came has nothing to clean up.
func TestATenantThatWaitedCanGo(t *testing.T) {
	t.Parallel()
	w := parentless(t)
	w.Apply(w.Tenant("alpha", on("main")))
	w.Advance(moment)
	w.Delete("alpha")
	w.Advance(moment)
	gone(t, w, "alpha")
	if n := w.Calls()["GetDistributionTenant"]; n != 0 {
		t.Errorf("%d reads for a tenant that was never asked for", n)
	}
}

// References stay in their namespace: the same name leads to each namespace's own.
func TestReferencesOfTwoNamespaces(t *testing.T) {
	t.Parallel()
	w := parentless(t)
	elsewhere := w.AddNamespace()
	theirs := w.Distribution("main")
	theirs.Namespace = elsewhere
	put(t, w, theirs, otherDistribution)
	w.Apply(w.Tenant("alpha", on("main")))
	beta := w.Tenant("beta", on("main"))
	beta.Namespace = elsewhere
	w.Apply(beta)
	w.Advance(moment)
	is(t, w, "alpha", waitsForReference)
	tenants(t, w, "beta")
	put(t, w, w.Distribution("main"), world.DistributionID)
	w.Advance(moment)
	got := map[string]string{"alpha": inAWS(t, w, "alpha").DistributionID, "beta": inAWS(t, w, "beta").DistributionID}
	if d := cmp.Diff(map[string]string{"alpha": world.DistributionID, "beta": otherDistribution}, got); d != "" {
		t.Errorf("distributions (-want +got):\n%s", d)
	}
}

// A parent that flaps costs each tenant two writes to its status, and AWS nothing.
func TestAParentThatComesBackCostsNoCalls(t *testing.T) {
	t.Parallel()
	const many = 5
	w := parentless(t)
	main := w.Distribution("main")
	put(t, w, main, world.DistributionID)
	for n := range many {
		w.Apply(w.Tenant(fmt.Sprintf("tenant%d", n), on("main")))
	}
	w.Advance(settle)
	// Nothing but the list is known of them then.
	w.Restart()
	w.Advance(10 * time.Minute)
	calls, writes := w.Calls(), w.Writes()
	for _, id := range []string{"", world.DistributionID} {
		report(t, w, main, func(s *v1alpha1.ResourceStatus) { s.ID = id })
		w.Advance(20 * time.Minute)
	}
	for n := range many {
		is(t, w, fmt.Sprintf("tenant%d", n), readyTrue, syncedTrue)
	}
	if d := cmp.Diff(map[string]int{"ListDistributionTenants": 8}, world.Since(calls, w.Calls())); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
	if n := w.Writes() - writes; n != 2*many {
		t.Errorf("%d writes for %d tenants", n, many)
	}
}

// A change that a tenant can't see does not wake it.
func TestAParentThatOnlyReportsWakesNobody(t *testing.T) {
	t.Parallel()
	w := parentless(t)
	main := w.Distribution("main")
	put(t, w, main, world.DistributionID)
	ready(t, w, "alpha", on("main"))
	related := w.Woken
	for _, status := range []string{"InProgress", "Deployed"} {
		report(t, w, main, func(s *v1alpha1.ResourceStatus) {
			s.DeploymentStatus, s.ETag = status, "E-"+status
			meta.SetStatusCondition(&s.Conditions, metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonDeploying, Message: status})
		})
		w.Advance(moment)
	}
	if w.Woken != related {
		t.Errorf("woken %d times", w.Woken-related)
	}
	report(t, w, main, func(s *v1alpha1.ResourceStatus) { s.ID = otherDistribution })
	w.Advance(moment)
	if w.Woken != related+1 {
		t.Errorf("another ID woke %d tenants, want 1", w.Woken-related)
	}
}

// A replica that still sees the parent before it was replaced must not move the tenant back.
func TestACacheThatIsBehindMovesNoTenantBack(t *testing.T) {
	t.Parallel()
	w := parentless(t)
	main := w.Distribution("main")
	put(t, w, main, world.DistributionID)
	ready(t, w, "alpha", on("main"))
	w.FreezeCache(main)
	report(t, w, main, func(s *v1alpha1.ResourceStatus) { s.ID = otherDistribution })
	outOfBand(t, w, "alpha", func(in *cloudfront.UpdateDistributionTenantInput) {
		in.DistributionId = awssdk.String(otherDistribution)
	})
	w.Clock.Step(2 * world.DeployDelay)
	before := inAWS(t, w, "alpha")
	w.Advance(10 * time.Minute)
	untouched(t, w, before)
	w.ThawCache()
	w.Advance(10 * time.Minute)
	untouched(t, w, before)
	is(t, w, "alpha", readyTrue, syncedTrue)
}

// A tenant whose distribution is missing in AWS is told so by the name that its author knows.
func TestAReferenceToWhatAWSDoesNotHave(t *testing.T) {
	t.Parallel()
	w := parentless(t)
	main := w.Distribution("main")
	put(t, w, main, "EGONE")
	w.Apply(w.Tenant("alpha", on("main")))
	w.Advance(time.Hour)
	is(t, w, "alpha", "Ready=False/ValidationFailed")
	says(t, w, "alpha", "Ready", "spec.distributionRef main (EGONE)")
	// The distribution is recreated, and the tenant does not wait for a schedule of failures.
	report(t, w, main, func(s *v1alpha1.ResourceStatus) { s.ID = world.DistributionID })
	w.Advance(moment)
	tenants(t, w, "alpha")
}
