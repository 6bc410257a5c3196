package cli

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// rolloutText tells how far a change of a source's tenants has come; empty where none is on its way.
func rolloutText(o *v1alpha1.TenantSource) string {
	r, state := o.Status.Rollout, rolloutState(o.Status.Conditions)
	if r == nil || r.Tenants == nil {
		return state
	}
	text := fmt.Sprintf("%d of %d tenants have the change", amount(r.Applied), *r.Tenants)
	if r.Step > 0 && r.Target > 0 {
		text += fmt.Sprintf(", step %d reaches %d", r.Step, r.Target)
	}
	if n := amount(r.Failed); n > 0 {
		text += fmt.Sprintf(", %d failed", n)
	}
	if state != "" {
		text = state + ", " + text
	}
	return text
}

// rolloutState is what the condition RolledOut of a source or a plan says of a rollout that is not simply in progress.
func rolloutState(conditions []metav1.Condition) string {
	c := meta.FindStatusCondition(conditions, v1alpha1.ConditionRolledOut)
	if c == nil || c.Reason != v1alpha1.ReasonRolloutPaused && c.Reason != v1alpha1.ReasonRolloutStopped {
		return ""
	}
	return strings.ToLower(strings.TrimPrefix(c.Reason, "Rollout"))
}

func amount(n *int32) int32 {
	if n == nil {
		return 0
	}
	return *n
}
