package tenantsource_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/sourceworld"
)

// byName lets a source name its distribution by its object.
func byName(name string) func(*v1alpha1.TenantSource) {
	return func(o *v1alpha1.TenantSource) {
		o.Spec.DistributionID, o.Spec.DistributionRef = "", &v1alpha1.ObjectReference{Name: name}
	}
}

func byID(o *v1alpha1.TenantSource) {
	o.Spec.DistributionID, o.Spec.DistributionRef = sourceworld.DistributionID, nil
}

// distribution creates an object, which has an ID in AWS if one is given.
func distribution(t *testing.T, w *sourceworld.World, name, id string) *v1alpha1.Distribution {
	t.Helper()
	o := &v1alpha1.Distribution{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name},
		Spec: v1alpha1.DistributionSpec{DistributionConfig: v1alpha1.DistributionConfig{
			Origins:              []v1alpha1.Origin{{ID: "app", DomainName: "origin.example.com", CustomOriginConfig: &v1alpha1.CustomOriginConfig{}}},
			DefaultCacheBehavior: &v1alpha1.CacheBehaviorSettings{TargetOriginID: "app", ViewerProtocolPolicy: "redirect-to-https", CachePolicyID: "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"},
		}},
	}
	must(t, w.Kube.Create(t.Context(), o))
	if id != "" {
		hasID(t, w, o, id)
	}
	return o
}

func hasID(t *testing.T, w *sourceworld.World, o *v1alpha1.Distribution, id string) {
	t.Helper()
	o.Status.ID = id
	must(t, w.Kube.Status().Update(t.Context(), o))
}

// A source is created before its distribution. Its objects wait with it, none is deleted meanwhile, and the source says so
// until the distribution has an ID.
func TestASourceWaitsForItsDistribution(t *testing.T) {
	t.Parallel()
	w, _ := inMemory(t, 12, sourceworld.Options{}, byName("main"))
	w.Advance(4 * interval)
	living(t, w, names(12))
	for _, o := range w.AllTenants() {
		if ref := o.Spec.DistributionRef; ref == nil || *ref != (v1alpha1.ObjectReference{Name: "main"}) || o.Spec.DistributionID != "" {
			t.Errorf("%s names its distribution by %+v and %q", o.Name, ref, o.Spec.DistributionID)
		}
	}
	expect(t, w, "Ready=False/ReferenceNotReady", "Synced=True/InSync")
	says := func(want string) {
		t.Helper()
		if m := w.Message("customers", v1alpha1.ConditionReady); !strings.HasPrefix(m, "spec.distributionRef: Distribution "+w.Namespace+"/main "+want) {
			t.Errorf("the source says %q, want %q", m, want)
		}
	}
	says("does not exist. Create it, or reference another one. New tenants of this source wait for it.")

	main := distribution(t, w, "main", "")
	w.Show(nil, main)
	w.Advance(interval)
	expect(t, w, "Ready=False/ReferenceNotReady")
	says("does not exist in AWS yet.")

	before, writes, polls := main.DeepCopy(), w.Writes(), len(w.Polls)
	hasID(t, w, main, sourceworld.DistributionID)
	w.Show(before, main)
	w.Advance(time.Second)
	expect(t, w, "Ready=True/PollSucceeded", "Synced=True/InSync")
	if n := len(w.Polls) - polls; n != 1 || w.Writes().Applied != writes.Applied {
		t.Errorf("%d polls, and writes %+v after %+v: want one poll that writes no object", n, w.Writes(), writes)
	}
	living(t, w, names(12))
}

// The ID and the object of one distribution mean the same: each object is written once, and the guard, which would hold as
// many moves, holds nothing. A real move is held, and one to an object without an ID.
func TestFromTheIDToTheObjectAndBack(t *testing.T) {
	t.Parallel()
	w, _ := inMemory(t, 25, sourceworld.Options{})
	distribution(t, w, "main", sourceworld.DistributionID)
	distribution(t, w, "other", "E2OTHER")
	tenants := w.AllTenants()
	for i := range tenants {
		tenants[i].Status.DistributionID = sourceworld.DistributionID
		must(t, w.Kube.Status().Update(t.Context(), &tenants[i]))
	}
	for n, step := range []struct {
		edit    func(*v1alpha1.TenantSource)
		applied int
		ready   string
	}{
		{byName("main"), 25, "Ready=True/PollSucceeded"},
		{byID, 25, "Ready=True/PollSucceeded"},
		{byName("other"), 0, "Ready=False/DeletionHeld"},
		{byName("typo"), 0, "Ready=False/DeletionHeld"},
		{byName("main"), 25, "Ready=True/PollSucceeded"},
		{byName("other"), 0, "Ready=False/DeletionHeld"},
	} {
		before := w.Writes().Applied
		w.Edit("customers", step.edit)
		w.Advance(3 * interval)
		expect(t, w, step.ready)
		if got := w.Writes().Applied - before; got != step.applied {
			t.Errorf("step %d: %d objects were written, want %d", n+1, got, step.applied)
		}
	}
	living(t, w, names(25))
}
