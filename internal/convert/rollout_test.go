package convert_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
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
		"it is undone":                     {edit: func(o *v1alpha1.TenantSource) { o.Spec.Rollout.Undo = true }, changes: true},
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
			o := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Labels: tt.labels}}
			if got := convert.SourceLook(o, tt.canary).Canary; got != tt.want {
				t.Errorf("canary: %t, want %t", got, tt.want)
			}
		})
	}
}

// A tenant that keeps serving what it had before is neither ready with a change, nor out of sight when the change is stuck.
func TestHowARolloutSeesATenant(t *testing.T) {
	t.Parallel()
	type seen struct {
		Ready, Stalled bool
		Failure        string
	}
	condition := func(kind string, status metav1.ConditionStatus, reason string, generation int64) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: "Because.", ObservedGeneration: generation}
	}
	for name, tt := range map[string]struct {
		conditions []metav1.Condition
		applied    int64
		want       seen
	}{
		"nothing is known": {want: seen{}},
		"it has the change": {
			[]metav1.Condition{condition("Ready", metav1.ConditionTrue, "Deployed", 2)}, 2, seen{Ready: true, Failure: "Deployed: Because."},
		},
		"it serves what it had before": {
			[]metav1.Condition{condition("Ready", metav1.ConditionTrue, "Deployed", 1)}, 1, seen{Failure: "Deployed: Because."},
		},
		"an earlier version called it ready all the same": {
			[]metav1.Condition{condition("Ready", metav1.ConditionTrue, "Deployed", 2)}, 1, seen{Failure: "Deployed: Because."},
		},
		"it serves what it had before, and a person has to act": {
			[]metav1.Condition{condition("Ready", metav1.ConditionTrue, "Deployed", 1), condition("Stalled", metav1.ConditionTrue, "NotGranted", 2)}, 1,
			seen{Stalled: true, Failure: "NotGranted: Because."},
		},
		"a person had to act before the change": {
			[]metav1.Condition{condition("Ready", metav1.ConditionFalse, "InvalidSpec", 1), condition("Stalled", metav1.ConditionTrue, "InvalidSpec", 1)}, 0,
			seen{Failure: "InvalidSpec: Because."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
			o.Status.Conditions, o.Status.AppliedGeneration = tt.conditions, &tt.applied
			l := convert.SourceLook(o, nil)
			if d := cmp.Diff(tt.want, seen{l.Ready, l.Stalled, l.Failure}); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
