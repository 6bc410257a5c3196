package operator_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator"
)

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// full is an object as the API server would send it.
func full(t *testing.T, name string) *v1alpha1.DistributionTenant {
	t.Helper()
	since := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	arn := "arn:aws:cloudfront::111122223333:distribution-tenant/dt_" + name
	data, err := json.Marshal(&v1alpha1.DistributionTenant{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "fleet", Name: name, UID: "4c9c2d9e-9d3b-4e0c-a7d0-0a2c1a4f7f11", Generation: 2, ResourceVersion: "7",
			Labels: map[string]string{"team": "edge"}, Finalizers: []string{v1alpha1.Finalizer},
			Annotations: map[string]string{lastApplied: `{"spec":{}}`, v1alpha1.AnnotationCreatePending: "2026-01-01T00:00:00Z"},
			ManagedFields: []metav1.ManagedFieldsEntry{
				{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1("{}")},
			},
		},
		Spec: v1alpha1.DistributionTenantSpec{
			DistributionID: "E2EXAMPLE1", ConnectionGroupRef: &v1alpha1.ObjectReference{Name: "static"}, DriftPolicy: v1alpha1.DriftPolicyEnforce,
			Domains:    []v1alpha1.TenantDomain{{Domain: name + ".example.com"}, {Domain: "www." + name + ".example.com"}},
			Parameters: []v1alpha1.Parameter{{Name: "tier", Value: "gold"}}, Tags: []v1alpha1.Tag{{Key: "team", Value: "edge"}},
		},
		Status: v1alpha1.DistributionTenantStatus{
			ID: "dt_" + name, ARN: arn, TenantName: name, ETag: "E1", DistributionTenantStatus: "Deployed", ObservedGeneration: 2,
			DistributionID: "E2EXAMPLE1", ConnectionGroupID: "cg_1",
			CreatedTime: &since, AppliedTagKeys: []string{"team"}, CertificateARN: "arn:aws:acm:us-east-1:111122223333:certificate/1",
			Certificate:   &v1alpha1.ServedCertificate{ARN: "arn:aws:acm:us-east-1:111122223333:certificate/1", NotAfter: since, Issuer: "Amazon", Type: v1alpha1.CertificateTypeManaged},
			DomainResults: []v1alpha1.DomainResult{{Domain: name + ".example.com", Status: "active"}, {Domain: "www." + name + ".example.com", Status: "inactive"}},
			Conditions:    []metav1.Condition{{Type: "Ready", Status: "True", Reason: "Deployed", Message: "It serves.", ObservedGeneration: 2, LastTransitionTime: since}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var o v1alpha1.DistributionTenant
	if err := json.Unmarshal(data, &o); err != nil {
		t.Fatal(err)
	}
	return &o
}

func slimmed(t *testing.T, o *v1alpha1.DistributionTenant) *v1alpha1.DistributionTenant {
	t.Helper()
	out, err := operator.Slim(o)
	if err != nil {
		t.Fatal(err)
	}
	return out.(*v1alpha1.DistributionTenant)
}

// The cache keeps the whole object, except for what is never read.
func TestSlimObjectsAreWhole(t *testing.T) {
	want, got := full(t, "acme"), slimmed(t, full(t, "acme"))
	want.ManagedFields = nil
	delete(want.Annotations, lastApplied)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("an object in the cache (-sent +kept):\n%s", diff)
	}
	bare := slimmed(t, &v1alpha1.DistributionTenant{})
	if diff := cmp.Diff(&v1alpha1.DistributionTenant{}, bare); diff != "" {
		t.Errorf("an empty object in the cache (-sent +kept):\n%s", diff)
	}
}

// The difference to a slim object is the difference to the whole one, so that a patch takes
// nothing away that the cache does not show.
func TestPatchesOfSlimObjectsTakeNothingAway(t *testing.T) {
	change := func(o *v1alpha1.DistributionTenant) string {
		base := o.DeepCopy()
		o.Finalizers = append(o.Finalizers, "example.com/other")
		o.Annotations = maps.Clone(o.Annotations)
		o.Annotations[v1alpha1.AnnotationReconcileNow] = "1"
		o.Status.Conditions[0].Reason = "Deploying"
		data, err := client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}).Data(o)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if diff := cmp.Diff(change(full(t, "acme")), change(slimmed(t, full(t, "acme")).DeepCopy())); diff != "" {
		t.Errorf("a patch (-of the whole object +of the slim one):\n%s", diff)
	}
}

func TestSlimObjectsShareTheirText(t *testing.T) {
	a, b := slimmed(t, full(t, "a")), slimmed(t, full(t, "b"))
	for what, pair := range map[string][2]string{
		"a condition's message":   {a.Status.Conditions[0].Message, b.Status.Conditions[0].Message},
		"the distribution":        {a.Spec.DistributionID, b.Spec.DistributionID},
		"the distribution in use": {a.Spec.DistributionID, b.Status.DistributionID},
		"the group":               {a.Status.ConnectionGroupID, b.Status.ConnectionGroupID},
		"the group's object":      {a.Spec.ConnectionGroupRef.Name, b.Spec.ConnectionGroupRef.Name},
		"the finalizer":           {a.Finalizers[0], b.Finalizers[0]},
		"its own name":            {a.Name, a.Status.TenantName},
	} {
		if unsafe.StringData(pair[0]) != unsafe.StringData(pair[1]) {
			t.Errorf("%s %q is in memory twice", what, pair[0])
		}
	}
	if n := cap(a.Status.Conditions); n != 1 {
		t.Errorf("one condition takes the room of %d", n)
	}
}

// Times of the same second are in memory once.
func TestSlimObjectsShareWhatIsTheSame(t *testing.T) {
	a, b := slimmed(t, full(t, "a")), slimmed(t, full(t, "b"))
	for what, same := range map[string]bool{
		"annotations":       reflect.ValueOf(a.Annotations).Pointer() == reflect.ValueOf(b.Annotations).Pointer(),
		"finalizers":        &a.Finalizers[0] == &b.Finalizers[0],
		"conditions":        &a.Status.Conditions[0] == &b.Status.Conditions[0],
		"the time of birth": a.Status.CreatedTime == b.Status.CreatedTime,
		"the certificate":   a.Status.Certificate == b.Status.Certificate,
	} {
		if !same {
			t.Errorf("%s of two objects are in memory twice", what)
		}
	}
	later := full(t, "c")
	later.Status.Conditions[0].LastTransitionTime = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 1, 0, time.UTC))
	want := later.Status.DeepCopy()
	if diff := cmp.Diff(want.Conditions, slimmed(t, later).Status.Conditions); diff != "" {
		t.Errorf("conditions that are not the same (-sent +kept):\n%s", diff)
	}
}

// A watch that is begun again brings objects that are slim already. Other goroutines read the shared values meanwhile:
// the race detector sees a write to them.
func TestSlimObjectsAreNotWrittenTo(t *testing.T) {
	a, b := slimmed(t, full(t, "a")), slimmed(t, full(t, "b"))
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for range 100 {
				if b.DeepCopy().Name != "b" {
					t.Error("another object")
				}
			}
		})
	}
	for range 100 {
		slimmed(t, a)
	}
	readers.Wait()
}
