package reconcile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

func TestTurn(t *testing.T) {
	t.Parallel()
	ready := func(status metav1.ConditionStatus, reason string) []metav1.Condition {
		return []metav1.Condition{
			{Type: "Other", Status: "False", Reason: reason + "Other"},
			{Type: "Ready", Status: status, Reason: reason, Message: "It is so."},
		}
	}
	told := func(warning bool, reason string) []reconcile.Event {
		return []reconcile.Event{{Warning: warning, Reason: reason, Message: "It is so."}}
	}
	for name, c := range map[string]struct {
		before, after []metav1.Condition
		want          []reconcile.Event
	}{
		"a condition that is new is told":             {nil, ready("False", "Broken"), told(true, "Broken")},
		"and so is one with another reason":           {ready("False", "Broken"), ready("False", "Worse"), told(true, "Worse")},
		"one that is True again is no warning":        {ready("False", "Broken"), ready("True", "Fine"), told(false, "Fine")},
		"neither is a reason that is calm":            {ready("True", "Fine"), ready("False", "Waiting"), told(false, "Waiting")},
		"the same reason is told once":                {ready("False", "Broken"), ready("False", "Broken"), nil},
		"a condition that is gone has nothing to say": {ready("False", "Broken"), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(c.want, reconcile.Turn(c.before, c.after, "Ready", "Waiting")); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
