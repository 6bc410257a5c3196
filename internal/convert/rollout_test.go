package convert_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
)

// An edit of how gently a change is rolled out is not another spec.
func TestWhichEditsOfASourceChangeWhatItSays(t *testing.T) {
	t.Parallel()
	source := func() *v1alpha1.TenantSource {
		o := &v1alpha1.TenantSource{}
		o.Spec.DistributionID, o.Spec.Rollout = "E1", &v1alpha1.SourceRollout{MaxConcurrent: 5}
		return o
	}
	for name, tt := range map[string]struct {
		edit    func(*v1alpha1.TenantSource)
		changes bool
	}{
		"it is paused":                     {edit: func(o *v1alpha1.TenantSource) { o.Spec.Rollout.Paused = true }},
		"fewer change at a time":           {edit: func(o *v1alpha1.TenantSource) { o.Spec.Rollout.MaxConcurrent = 1 }},
		"the rest changes at once":         {edit: func(o *v1alpha1.TenantSource) { o.Spec.Rollout = nil }},
		"the tenants get something else":   {edit: func(o *v1alpha1.TenantSource) { o.Spec.DistributionID = "E2" }, changes: true},
		"the guard gets another allowance": {edit: func(o *v1alpha1.TenantSource) { o.Spec.DeletionGuard = &v1alpha1.DeletionGuard{ConfirmPolls: 9} }, changes: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, was := source(), source()
			tt.edit(o)
			if got := convert.SourceReading(o) != convert.SourceReading(was); got != tt.changes || *was.Spec.Rollout != *source().Spec.Rollout {
				t.Errorf("another spec: %t, want %t", got, tt.changes)
			}
		})
	}
}

// A canary has all labels that the spec asks for. Without labels there is none: then a number is meant.
func TestWhoIsACanary(t *testing.T) {
	t.Parallel()
	both := map[string]string{"ring": "canary", "tier": "free"}
	for name, tt := range map[string]struct {
		canary *v1alpha1.RolloutCanary
		labels map[string]string
		want   bool
	}{
		"nothing is asked for":         {labels: both},
		"a number is asked for":        {canary: &v1alpha1.RolloutCanary{Count: 2}, labels: both},
		"it has the label, and others": {canary: &v1alpha1.RolloutCanary{MatchLabels: map[string]string{"ring": "canary"}}, labels: both, want: true},
		"it has all labels":            {canary: &v1alpha1.RolloutCanary{MatchLabels: both}, labels: both, want: true},
		"one of them is missing":       {canary: &v1alpha1.RolloutCanary{MatchLabels: both}, labels: map[string]string{"ring": "canary"}},
		"one has another value":        {canary: &v1alpha1.RolloutCanary{MatchLabels: both}, labels: map[string]string{"ring": "canary", "tier": "paid"}},
		"an empty value is no absence": {canary: &v1alpha1.RolloutCanary{MatchLabels: map[string]string{"ring": ""}}, labels: nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := convert.IsCanary(tt.canary, tt.labels); got != tt.want {
				t.Errorf("canary: %t, want %t", got, tt.want)
			}
		})
	}
}

// A tenant that lacks the spec for a reason of its own, until someone acts, does not keep others waiting.
func TestWhoIsBehind(t *testing.T) {
	t.Parallel()
	stalled := func(generation int64) func(*v1alpha1.DistributionTenant) {
		return func(o *v1alpha1.DistributionTenant) {
			o.Status.Conditions = []metav1.Condition{{Type: "Stalled", Status: metav1.ConditionTrue, Reason: "InvalidSpec", ObservedGeneration: generation}}
		}
	}
	for name, tt := range map[string]struct {
		observed, applied int64
		change            func(*v1alpha1.DistributionTenant)
		want              bool
	}{
		"AWS has the spec":               {observed: 3, applied: 3},
		"the spec was not looked at yet": {observed: 2, applied: 2, want: true},
		"it waits for its turn":          {observed: 3, applied: 2, want: true},
		"it is new":                      {change: func(o *v1alpha1.DistributionTenant) { o.Generation = 1 }},
		"it is paused": {observed: 3, applied: 2, change: func(o *v1alpha1.DistributionTenant) {
			o.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"}
		}},
		"a person has to act":                      {observed: 3, applied: 2, change: stalled(3)},
		"a person had to act on the previous spec": {observed: 2, applied: 1, change: stalled(2), want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Generation: 3}}
			o.Status.ObservedGeneration, o.Status.AppliedGeneration = tt.observed, &tt.applied
			if tt.change != nil {
				tt.change(o)
			}
			if got := convert.Behind(o); got != tt.want {
				t.Errorf("behind: %t, want %t", got, tt.want)
			}
		})
	}
}
