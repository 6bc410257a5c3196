package convert

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
)

// PlanGeneration is the generation of what the plan gives its tenants: the first one with the present content. A change of
// spec.rollout is not one of the content, so it starts no rollout.
//
// It depends on the object alone, and storing the status of an object does not change it: the plan and its tenants, which look
// at the object at different times, agree on it. Two contents of a plan never have the same generation. A content that was there
// before and comes back is a new one, unless the operator has stored no status in between.
func PlanGeneration(o *kleffv1.TenantPlan) int64 {
	c := o.Status.Content
	switch {
	case !remembersContent(&o.Status), c.Generation > c.ObservedGeneration, c.ObservedGeneration > o.Generation:
		// Nothing is stored, or that of another object, as after a restore from a backup.
		return o.Generation
	case c.ObservedGeneration == o.Generation:
		// Its hash can be another one only because this version of the operator, or of the schema, writes the content differently.
		return c.Generation
	case c.Hash == planHash(o):
		return c.Generation
	}
	return o.Generation
}

// remembersContent reports whether the content in status is of the same pass as the rest. An earlier version of the operator, which
// rolled out every generation, leaves it as it was.
func remembersContent(s *kleffv1.TenantPlanStatus) bool {
	return s.Content != nil && s.Content.ObservedGeneration == s.ObservedGeneration
}

// planContent is what status remembers of the content.
func planContent(o *kleffv1.TenantPlan) *kleffv1.PlanContent {
	return &kleffv1.PlanContent{Generation: PlanGeneration(o), ObservedGeneration: o.Generation, Hash: planHash(o)}
}

// planHash is a hash of what the plan gives its tenants.
func planHash(o *kleffv1.TenantPlan) string {
	spec := o.Spec
	spec.Rollout = nil
	content, err := json.Marshal(spec)
	if err != nil {
		// The API server does not store this: invalid raw JSON.
		return "generation-" + strconv.FormatInt(o.Generation, 10)
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:revisionBytes])
}
