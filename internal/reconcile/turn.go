package reconcile

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Turn tells of a condition that has another reason than before. That is a warning unless the condition is True, or the
// reason is one of the calm ones.
func Turn(before, after []metav1.Condition, kind string, calm ...string) []Event {
	was, is := meta.FindStatusCondition(before, kind), meta.FindStatusCondition(after, kind)
	if is == nil || was != nil && was.Reason == is.Reason {
		return nil
	}
	warning := is.Status != metav1.ConditionTrue && !slices.Contains(calm, is.Reason)
	return []Event{{Warning: warning, Reason: is.Reason, Message: is.Message}}
}

// SameReasons reports whether conditions differ in nothing but their messages.
func SameReasons(before, after []metav1.Condition) bool {
	return slices.EqualFunc(before, after, func(x, y metav1.Condition) bool {
		return x.Type == y.Type && x.Status == y.Status && x.Reason == y.Reason && x.ObservedGeneration == y.ObservedGeneration
	})
}
