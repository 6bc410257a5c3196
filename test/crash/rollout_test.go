package crash_test

import (
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// oracleRollout wants a change to reach as many tenants at the same time as the spec allows, and all of them in the end.
const oracleRollout = "roll-out"

// rolledConcurrently is how many tenants a change may reach at the same time.
const rolledConcurrently = 2

// The parameter that a change gives another value, and its values before and after.
const (
	rolledParameter = "tier"
	rolledFrom      = "basic"
	rolledTo        = "gold"
)

// sourceRollout is the lifecycle of a change of a source's template, which its tenants get in steps, and which is taken back in
// between.
func sourceRollout() *lifecycle {
	becomes := func(value string) step {
		return step{func(s *stage) { s.editSource(rollsTo(value)) }, func(s *stage) bool { return s.haveValue(value) }}
	}
	return &lifecycle{
		name: "source-rollout", about: "The template of a source changes, and the change is rolled out, taken back, and rolled out again.", rollsOut: true,
		prepare: func(s *stage) {
			s.followTable(crowd, rollsTo(rolledFrom), func(o *v1alpha1.TenantSource) {
				o.Spec.Rollout = &v1alpha1.SourceRollout{
					MaxConcurrent: rolledConcurrently, Canary: &v1alpha1.RolloutCanary{Count: 1}, Step: &v1alpha1.RolloutStep{Count: rolledConcurrently},
				}
			})
			s.await("the source to say that its tenants have it", s.isRolledOut)
		},
		steps: []step{becomes(rolledTo), becomes(rolledFrom), becomes(rolledTo)},
	}
}

// rollsTo is the change of a template.
func rollsTo(value string) func(*v1alpha1.TenantSource) {
	return func(o *v1alpha1.TenantSource) {
		o.Spec.Template = &v1alpha1.TenantTemplate{Spec: &v1alpha1.TemplateSpec{Parameters: []v1alpha1.Parameter{{Name: rolledParameter, Value: value}}}}
	}
}

func (s *stage) editSource(change func(*v1alpha1.TenantSource)) {
	o := s.sourceObject()
	base := o.DeepCopy()
	change(o)
	s.gate.note("a person edits the source")
	s.must("editing the source", s.rig.kube.Patch(s.ctx, o, client.MergeFrom(base)))
}

// isRolledOut is when the source says that all have the change, and they are well.
func (s *stage) isRolledOut() bool {
	return s.follows() && s.sourceCondition(v1alpha1.ConditionRolledOut) == v1alpha1.ReasonRolledOut
}

// haveValue is when the source says so, and it is that value that they have.
func (s *stage) haveValue(value string) bool {
	lacks := func(o tenantObject) bool { return !hasValue(&o, value) }
	return s.isRolledOut() && !slices.ContainsFunc(s.objects(), lacks)
}

// hasValue reports whether the spec of a tenant has the value of the parameter.
func hasValue(o *tenantObject, value string) bool {
	return slices.Contains(o.Spec.Parameters, v1alpha1.Parameter{Name: rolledParameter, Value: value})
}

// checkConcurrency counts at each change of an object which tenants have the change in AWS and do not say yet what became of it.
func (s *stage) checkConcurrency() {
	s.mu.Lock()
	wiped := s.wiped
	s.mu.Unlock()
	if !s.lifecycle.rollsOut || wiped || len(s.replicas) > 1 && !s.options.elect {
		return // Without a status none says so; and two that do not know of each other each have their own count.
	}
	var underway []string
	for _, o := range s.rig.views.of(s.namespace) {
		t, _ := s.tenant(o.Name)
		if hasValue(o, rolledTo) && t.Parameters[rolledParameter] == rolledTo && !claims(o) && !isTrue(o, v1alpha1.ConditionStalled) {
			underway = append(underway, o.Name)
		}
	}
	if len(underway) > rolledConcurrently {
		s.violate(oracleRollout, "the change is under way in %v at the same time, %d are allowed", underway, rolledConcurrently)
	}
}

// checkRolledOut wants all tenants to have the change at the end, in their specs and in AWS.
func (s *stage) checkRolledOut() {
	if !s.lifecycle.rollsOut {
		return
	}
	for _, o := range s.objects() {
		t, found := s.tenant(o.Name)
		if !hasValue(&o, rolledTo) || !found || t.Parameters[rolledParameter] != rolledTo {
			s.violate(oracleRollout, "at the end %s has the parameters %v in its spec, and %v in AWS", o.Name, o.Spec.Parameters, t.Parameters)
		}
	}
}

// rolloutMutations are mistakes about how a change is rolled out.
func rolloutMutations() []mutation {
	return []mutation{{
		name:         "a change reaches all tenants at once",
		replacements: []replacement{{rolloutRules, "(*group).admits", `return e.state == Waiting`, nil}},
		cases:        []string{"reference/source-rollout/undisturbed"},
		oracles:      []string{oracleRollout},
	}}
}
