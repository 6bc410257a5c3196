package crash_test

import (
	"bytes"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// oracleGrant objects to a write to AWS that carries what no grant allows.
const oracleGrant = "not granted"

// ungranted is the lifecycle in which an object asks for more than its grant allows.
const ungranted = "ungranted"

// narrowGrant is the grant of all namespaces: one distribution, and no other.
const narrowGrant = `{"kinds":["DistributionTenant"],"distributions":[{"id":"` + distribution + `"}],"domains":[{"suffix":"example.com"}]}`

// grantLifecycles are those in which grants are enforced.
func grantLifecycles() []*lifecycle {
	other := func(o *tenantObject) { o.Spec.DistributionID = otherDistribution }
	return []*lifecycle{{
		name: ungranted, about: "An object asks for a distribution that its grant does not allow, before it has a tenant and afterwards.",
		flags: []string{"--grants=Enforce", "--default-grant=" + narrowGrant},
		steps: []step{
			{makes(other), says(v1alpha1.ConditionReady, v1alpha1.ReasonNotGranted)},
			{edits(func(o *tenantObject) { o.Spec.DistributionID = distribution }), ready},
			{edits(other), says(v1alpha1.ConditionSynced, v1alpha1.ReasonNotGranted)},
			{edits(func(o *tenantObject) { o.Spec.DistributionID = distribution }), ready},
		},
	}}
}

// checkGrant looks at what a write to AWS carries.
func (s *stage) checkGrant(c call) {
	if s.lifecycle.name == ungranted && bytes.Contains(c.body, []byte(otherDistribution)) {
		s.violate(oracleGrant, "%s %s carries the distribution %s, which no grant allows", c.operation, c.target, otherDistribution)
	}
}
