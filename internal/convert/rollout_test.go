package convert_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
)

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
