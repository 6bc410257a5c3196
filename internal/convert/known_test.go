package convert_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// Only a tenant that was given the same values lately says something about those that are to get them.
func TestKnown(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	changes := []resource.Difference{{Field: "parameters[tier]", Desired: "gold"}, {Field: "distributionId", Desired: "E2"}}
	object := func(change func(o *v1alpha1.DistributionTenant)) *v1alpha1.DistributionTenant {
		modified := metav1.NewTime(now.Add(-time.Hour))
		o := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a", UID: "u", Generation: 3}}
		o.Spec.Parameters = []v1alpha1.Parameter{{Name: "tier", Value: "gold"}, {Name: "origin", Value: "own"}}
		o.Status.ID, o.Status.AppliedGeneration, o.Status.DistributionID, o.Status.LastModifiedTime = "dt_1", new(int64(3)), "E2", &modified
		o.Status.Conditions = []metav1.Condition{
			{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonDeployed},
			{Type: v1alpha1.ConditionSynced, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonInSync},
		}
		change(o)
		return o
	}
	ago := func(o *v1alpha1.DistributionTenant, d time.Duration) {
		at := metav1.NewTime(now.Add(-d))
		o.Status.LastModifiedTime = &at
	}
	unready := func(o *v1alpha1.DistributionTenant) {
		o.Status.Conditions[0] = metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: "DNSConflict", Message: "No."}
	}
	for name, tt := range map[string]struct {
		change func(o *v1alpha1.DistributionTenant)
		want   rollout.State
	}{
		"it is Ready with them":           {func(*v1alpha1.DistributionTenant) {}, rollout.Applied},
		"it was given them just now":      {func(o *v1alpha1.DistributionTenant) { unready(o); ago(o, time.Minute) }, rollout.InFlight},
		"it never became Ready with them": {unready, rollout.Failed},
		"it has had them for long":        {func(o *v1alpha1.DistributionTenant) { ago(o, 48*time.Hour) }, rollout.Exempt},
		"its spec has changed since":      {func(o *v1alpha1.DistributionTenant) { o.Generation++ }, rollout.Exempt},
		"it asks for another value":       {func(o *v1alpha1.DistributionTenant) { o.Spec.Parameters[0].Value = "basic" }, rollout.Exempt},
		"it has another distribution":     {func(o *v1alpha1.DistributionTenant) { o.Status.DistributionID = "E1" }, rollout.Exempt},
		"it waits itself":                 {func(o *v1alpha1.DistributionTenant) { o.Status.Conditions[1].Status = metav1.ConditionFalse }, rollout.Exempt},
		"it is disabled":                  {func(o *v1alpha1.DistributionTenant) { o.Spec.Enabled = new(false) }, rollout.Exempt},
		"it is being deleted":             {func(o *v1alpha1.DistributionTenant) { o.DeletionTimestamp = &metav1.Time{Time: now} }, rollout.Exempt},
		"there is no tenant of it":        {func(o *v1alpha1.DistributionTenant) { o.Status.LastModifiedTime = nil }, rollout.Exempt},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, has := convert.Known(object(tt.change), convert.Defaults{}, changes, now)
			if has != (tt.want != rollout.Exempt) || k.State != tt.want {
				t.Errorf("it is known (%t) in state %d, want %d", has, k.State, tt.want)
			}
			if (k.Failure != "") != (tt.want == rollout.Failed) {
				t.Errorf("its failure is %q", k.Failure)
			}
		})
	}
}

// A canary that has not been given its spec is waited for.
func TestOpenCanary(t *testing.T) {
	t.Parallel()
	labels := map[string]string{"ring": "canary"}
	for name, tt := range map[string]struct {
		change func(o *v1alpha1.DistributionTenant)
		want   bool
	}{
		"its spec is not applied":   {func(*v1alpha1.DistributionTenant) {}, true},
		"its spec is applied":       {func(o *v1alpha1.DistributionTenant) { o.Generation = 1 }, false},
		"it has other labels":       {func(o *v1alpha1.DistributionTenant) { o.Labels = nil }, false},
		"it has no tenant yet":      {func(o *v1alpha1.DistributionTenant) { o.Status.ID = "" }, false},
		"it is about to be deleted": {func(o *v1alpha1.DistributionTenant) { o.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Generation: 2, Labels: labels}}
			o.Status.ID, o.Status.AppliedGeneration = "dt_1", new(int64(1))
			tt.change(o)
			if k, is := convert.OpenCanary(o, labels); is != tt.want || is && (k.State != rollout.Held || !k.Canary) {
				t.Errorf("it is %+v, %t", k, is)
			}
		})
	}
}
