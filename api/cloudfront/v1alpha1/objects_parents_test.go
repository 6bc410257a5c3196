package v1alpha1_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/kubectl"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/specimen"
)

// newDistribution stores the least valid one.
func newDistribution(t *testing.T) *v1alpha1.Distribution {
	t.Helper()
	obj := newObject(t, "Distribution", newNamespace(t), "shared", "{}")
	if err := kube.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	typed := &v1alpha1.Distribution{}
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(obj), typed); err != nil {
		t.Fatal(err)
	}
	return typed
}

func newGroup(t *testing.T) *v1alpha1.ConnectionGroup {
	t.Helper()
	obj := &v1alpha1.ConnectionGroup{ObjectMeta: metav1.ObjectMeta{Name: "static", Namespace: newNamespace(t)}}
	if err := kube.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

// conditionsOf are Ready with that reason, and Synced.
func conditionsOf(reason string, now metav1.Time) []metav1.Condition {
	return []metav1.Condition{
		{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: reason, LastTransitionTime: now},
		{Type: v1alpha1.ConditionSynced, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonInSync, LastTransitionTime: now},
	}
}

func TestHowKubectlShowsDistributions(t *testing.T) {
	obj := newDistribution(t)
	obj.Status = v1alpha1.DistributionStatus{
		ResourceStatus: v1alpha1.ResourceStatus{
			ID: "E2EXAMPLE1", DeploymentStatus: "InProgress", Conditions: conditionsOf(v1alpha1.ReasonCreating, metav1.Now()),
		},
		DomainName:  "d111111abcdef8.cloudfront.net",
		Certificate: &v1alpha1.ServedCertificate{ARN: "arn:cert", NotAfter: metav1.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)},
	}
	if err := kube.Status().Update(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	checkTable(t, obj.Namespace, "distributions",
		[]string{"Name", "STATUS", "READY", "SYNCED", "ID", "AGE"}, []string{"REASON", "MODE", "DOMAIN", "CERT-EXPIRES"},
		[]any{"shared", "InProgress", "False", "True", "E2EXAMPLE1", nil, "Creating", "tenant-only", "d111111abcdef8.cloudfront.net", "2027-01-02T03:04:05Z"})
}

func TestHowKubectlShowsConnectionGroups(t *testing.T) {
	obj := newGroup(t)
	obj.Status = v1alpha1.ConnectionGroupStatus{
		ResourceStatus: v1alpha1.ResourceStatus{
			ID: "cg_1", DeploymentStatus: "Deployed", Conditions: conditionsOf(v1alpha1.ReasonInUse, metav1.Now()),
		},
		RoutingEndpoint: "d222222abcdef8.cloudfront.net",
	}
	if err := kube.Status().Update(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	checkTable(t, obj.Namespace, "connectiongroups",
		[]string{"Name", "STATUS", "READY", "SYNCED", "ID", "ENDPOINT", "AGE"}, []string{"REASON"},
		[]any{"static", "Deployed", "False", "True", "cg_1", "d222222abcdef8.cloudfront.net", nil, "InUse"})
}

// checkTable compares what kubectl prints of the only object of a namespace; a cell that is nil is not looked at.
func checkTable(t *testing.T, namespace, resource string, narrow, wide []string, cells []any) {
	t.Helper()
	table := kubectl.Table(t, restConfig, v1alpha1.SchemeGroupVersion, namespace, resource)
	gotNarrow, gotWide := kubectl.Columns(table)
	if diff := cmp.Diff(narrow, gotNarrow); diff != "" {
		t.Errorf("columns of kubectl get (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wide, gotWide); diff != "" {
		t.Errorf("further columns of kubectl get -o wide (-want +got):\n%s", diff)
	}
	if len(table.Rows) != 1 || len(table.Rows[0].Cells) != len(cells) {
		t.Fatalf("got %d rows, want 1 of %d cells", len(table.Rows), len(cells))
	}
	got := table.Rows[0].Cells
	for i := range cells {
		if cells[i] == nil {
			got[i] = nil
		}
	}
	if diff := cmp.Diff(cells, got); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
}

// largestOfResource is the status that both kinds share in which every list is full and every text as long as may be.
func largestOfResource() v1alpha1.ResourceStatus {
	now := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	s := v1alpha1.ResourceStatus{
		ObservedGeneration: 1, ID: long(128, 0), ARN: long(2048, 0), ETag: long(256, 0), DeploymentStatus: long(64, 0),
		LastModifiedTime: &now, DriftDetected: true, ReconcileToken: long(256, 0),
		Deletion: &v1alpha1.DeletionProgress{Step: v1alpha1.DeletionStepSettling, Since: now},
		Failure:  &v1alpha1.Failure{Reason: long(128, 0), Generation: 1, Since: now},
	}
	for n := range 16 {
		s.Conditions = append(s.Conditions, metav1.Condition{
			Type: fmt.Sprintf("Type%d", n), Status: metav1.ConditionFalse, Reason: "Reason", Message: long(1024, n), LastTransitionTime: now,
		})
	}
	for n := range 20 {
		s.Drift = append(s.Drift, v1alpha1.DriftedField{Field: long(512, n), Desired: long(1024, n), Observed: long(1024, n)})
	}
	for n := range 50 {
		s.AppliedTagKeys = append(s.AppliedTagKeys, long(128, n))
	}
	return s
}

// The texts of AWS, and the longest of the operator, have to fit into status.
func TestTheLargestStatusOfAParentFits(t *testing.T) {
	t.Run("Distribution", func(t *testing.T) {
		obj := newDistribution(t)
		obj.Status = v1alpha1.DistributionStatus{ResourceStatus: largestOfResource(), DomainName: long(253, 0), Creations: 1_000_000_000}
		checkStatusFits(t, obj, &obj.Status)
	})
	t.Run("ConnectionGroup", func(t *testing.T) {
		obj := newGroup(t)
		obj.Status = v1alpha1.ConnectionGroupStatus{
			ResourceStatus: largestOfResource(), Name: long(253, 0), RoutingEndpoint: long(253, 0), IsDefault: true,
		}
		checkStatusFits(t, obj, &obj.Status)
	})
}

// checkStatusFits writes the status of the object, and compares what was stored.
func checkStatusFits(t *testing.T, obj client.Object, status any) {
	t.Helper()
	want, err := json.Marshal(status)
	if err != nil {
		t.Fatal(err)
	}
	if err := kube.Status().Update(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(status)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("the API server stored another status (-want +got):\n%s", diff)
	}
}

// The operator can report every step of a deletion, and no other word.
func TestStepsOfADeletion(t *testing.T) {
	steps := map[v1alpha1.DeletionStep]bool{
		v1alpha1.DeletionStepInUse: true, v1alpha1.DeletionStepDisabling: true, v1alpha1.DeletionStepSettling: true, v1alpha1.DeletionStepDeleting: true,
		"Waiting": false, "": false,
	}
	for step, taken := range steps {
		t.Run(string(step), func(t *testing.T) {
			obj := newGroup(t)
			obj.Status.Deletion = &v1alpha1.DeletionProgress{Step: step, Since: metav1.Now()}
			if err := kube.Status().Update(t.Context(), obj); (err == nil) != taken {
				t.Errorf("writing status: %v", err)
			}
		})
	}
}

func TestTheNameOfAGroupIsFixed(t *testing.T) {
	cases := map[string]struct {
		from, to string // spec, YAML; the object is called "static"
		taken    bool
	}{
		"a default can be spelled out later":     {from: "{}", to: "name: static", taken: true},
		"a name that equals the default can go":  {from: "name: static", to: "{}", taken: true},
		"a default can't be replaced":            {from: "{}", to: "name: moving"},
		"a name can't be replaced":               {from: "name: a", to: "name: b"},
		"a name that isn't the default can't go": {from: "name: a", to: "{}"},
		"a name stays while the rest changes":    {from: "name: a", to: "{name: a, enabled: false, ipv6Enabled: false, anycastIpListId: aip_1}", taken: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			obj := newObject(t, "ConnectionGroup", newNamespace(t), "static", tc.from)
			if err := kube.Create(t.Context(), obj); err != nil {
				t.Fatal(err)
			}
			obj.Object["spec"] = newObject(t, "ConnectionGroup", "", "", tc.to).Object["spec"]
			if err := kube.Update(t.Context(), obj); (err == nil) != tc.taken {
				t.Errorf("changing: %v", err)
			}
		})
	}
}

// Members that CloudFront can change in place may be changed.
func TestTheRestOfADistributionMayChange(t *testing.T) {
	obj := newDistribution(t)
	obj.Spec.Origins = []v1alpha1.Origin{{ID: "other", DomainName: "b.s3.amazonaws.com", S3OriginConfig: &v1alpha1.S3OriginConfig{}}}
	obj.Spec.DefaultCacheBehavior.TargetOriginID = "other"
	obj.Spec.Enabled = new(false)
	obj.Spec.AdoptionPolicy = v1alpha1.AdoptionPolicyForce
	obj.Spec.DeletionPolicy = v1alpha1.DeletionPolicyRetain
	if err := kube.Update(t.Context(), obj); err != nil {
		t.Errorf("changing: %v", err)
	}
}

// No rule refuses what CloudFront takes: these are the configurations that the adapter sends to the simulator and reads back.
func TestEveryConfigurationThatCloudFrontTakesIsTaken(t *testing.T) {
	namespace := newNamespace(t)
	meta := metav1.ObjectMeta{Name: "any", Namespace: namespace}
	for _, mode := range []v1alpha1.ConnectionMode{v1alpha1.ConnectionModeTenantOnly, v1alpha1.ConnectionModeDirect} {
		distributions := specimen.Distributions(mode, certificate)
		t.Run(string(mode), rapid.MakeCheck(func(rt *rapid.T) {
			obj := &v1alpha1.Distribution{ObjectMeta: meta, Spec: v1alpha1.DistributionSpec{DistributionConfig: distributions.Draw(rt, "distribution")}}
			if err := kube.Create(t.Context(), obj, client.DryRunAll); err != nil {
				rt.Fatal(err)
			}
		}))
	}
	groups := specimen.Groups()
	t.Run("ConnectionGroup", rapid.MakeCheck(func(rt *rapid.T) {
		obj := &v1alpha1.ConnectionGroup{ObjectMeta: meta, Spec: v1alpha1.ConnectionGroupSpec{ConnectionGroupConfig: groups.Draw(rt, "group")}}
		if err := kube.Create(t.Context(), obj, client.DryRunAll); err != nil {
			rt.Fatal(err)
		}
	}))
}
