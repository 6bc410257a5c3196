package tenancy_test

import (
	"testing"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
)

// Users of the operator before this one have no plans: theirs are labels of namespaces. From the first plan on a name has
// to be that of one. It runs alone, before any other test has made a plan.
func TestWithoutAnyPlanItsNameIsALabel(t *testing.T) {
	s := emptyScene(t, "label")
	o := s.tenant("label", "gold")
	s.says(o, kleffv1.ConditionPlanApplied, "True/NotConfigured", `"gold" is only a label`, "the namespace has no limits")
	s.says(o, kleffv1.ConditionTenantReady, "True/Ready", "the namespace has no limits")
	s.hasLabels(o, "label-id", map[string]string{"istio-injection": "enabled", "kleff.io/tenant-plan": "gold"})

	first := s.plan("label-first", "{}")
	s.says(o, kleffv1.ConditionTenantReady, "False/PlanNotFound", `there is no TenantPlan "gold"`)
	s.delete(first)
	s.says(o, kleffv1.ConditionTenantReady, "True/Ready", "the namespace has no limits")

	s.plan("gold", guarded)
	s.says(o, kleffv1.ConditionTenantReady, "True/Ready", `matches the TenantPlan "gold"`)
	s.quotaOf("label-id")
}
