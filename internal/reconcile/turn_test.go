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

func TestSameReasons(t *testing.T) {
	t.Parallel()
	is := metav1.Condition{Type: "Ready", Status: "False", Reason: "Waiting", Message: "2 of 4.", ObservedGeneration: 1}
	with := func(change func(*metav1.Condition)) []metav1.Condition {
		c := is
		change(&c)
		return []metav1.Condition{c}
	}
	for name, c := range map[string]struct {
		after []metav1.Condition
		want  bool
	}{
		"another message says the same":      {with(func(c *metav1.Condition) { c.Message = "3 of 4." }), true},
		"another reason does not":            {with(func(c *metav1.Condition) { c.Reason = "Broken" }), false},
		"neither does another status":        {with(func(c *metav1.Condition) { c.Status = "True" }), false},
		"nor one of another spec":            {with(func(c *metav1.Condition) { c.ObservedGeneration = 2 }), false},
		"a condition that is gone is missed": {nil, false},
	} {
		if got := reconcile.SameReasons([]metav1.Condition{is}, c.after); got != c.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
