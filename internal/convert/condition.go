package convert

import (
	"cmp"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// Conditions are the conditions of status, as the domain compares them.
func Conditions(list []metav1.Condition) []chain.Condition {
	var out []chain.Condition
	for _, c := range list {
		if c.Type == string(chain.Stalled) {
			// It is no memory: it follows from the others.
			continue
		}
		out = append(out, chain.Condition{
			Type: chain.ConditionType(c.Type), Status: c.Status == metav1.ConditionTrue, Reason: chain.Reason(c.Reason),
			Message: c.Message, Generation: c.ObservedGeneration,
		})
	}
	return out
}

// conditionMemory has them by their type.
func conditionMemory(list []metav1.Condition) map[chain.ConditionType]chain.Condition {
	out := map[chain.ConditionType]chain.Condition{}
	for _, c := range Conditions(list) {
		out[c.Type] = c
	}
	return out
}

// setConditions replaces all conditions, keeping the transition time of those whose status stays.
func setConditions(conditions *[]metav1.Condition, list []chain.Condition, now time.Time) {
	wanted := map[string]bool{}
	for _, c := range list {
		wanted[string(c.Type)] = true
		setCondition(conditions, c, c.Generation, now)
	}
	wanted[string(chain.Stalled)] = true
	*conditions = slices.DeleteFunc(*conditions, func(c metav1.Condition) bool { return !wanted[c.Type] })
	setStalled(conditions, now)
	sortConditions(*conditions)
}

// mergeConditions sets those conditions, and leaves the others.
func mergeConditions(conditions *[]metav1.Condition, list []chain.Condition, generation int64, now time.Time) {
	for _, c := range list {
		setCondition(conditions, c, generation, now)
	}
	setStalled(conditions, now)
	sortConditions(*conditions)
}

// setStalled keeps Stalled in step with the other conditions.
func setStalled(conditions *[]metav1.Condition, now time.Time) {
	stalled, has := chain.StalledBy(Conditions(*conditions))
	if !has {
		meta.RemoveStatusCondition(conditions, string(chain.Stalled))
		return
	}
	setCondition(conditions, stalled, stalled.Generation, now)
}

func setCondition(conditions *[]metav1.Condition, c chain.Condition, generation int64, now time.Time) {
	status := metav1.ConditionFalse
	if c.Status {
		status = metav1.ConditionTrue
	}
	meta.SetStatusCondition(conditions, metav1.Condition{
		Type: string(c.Type), Status: status, Reason: string(c.Reason), Message: prose.Fit(c.Message, maxMessage),
		ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now.Truncate(time.Second)),
	})
}

func sortConditions(list []metav1.Condition) {
	slices.SortFunc(list, func(a, b metav1.Condition) int { return strings.Compare(a.Type, b.Type) })
}

// StoreFailure says why an object could not be stored. The text is stable, and tells nothing of the operator's own namespace.
func StoreFailure(err error) string {
	return cmp.Or(string(apierrors.ReasonForError(err)), "the API server did not answer")
}
