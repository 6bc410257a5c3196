package crash_test

import (
	"bytes"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// oracleGrant objects to a write to AWS that carries what no grant allows.
const oracleGrant = "not granted"

// ungranted is the lifecycle in which an object asks for more than its grant allows.
const ungranted = "ungranted"

// unproven is a domain that the grant allows to who proves it, which the object of the lifecycle never does.
const unproven = "unproven.example.com"

// narrowGrant is the grant of all namespaces: one distribution, and no other, and one domain that has to be proven.
const narrowGrant = `{"kinds":["DistributionTenant"],"distributions":[{"id":"` + distribution + `"}],` +
	`"domains":[{"suffix":"example.com","except":["` + unproven + `"]},{"suffix":"` + unproven + `","proof":"TXT"}]}`

// grantLifecycles are those in which grants are enforced.
func grantLifecycles() []*lifecycle {
	other := func(o *tenantObject) { o.Spec.DistributionID = otherDistribution }
	wants := func(proven ...v1alpha1.TenantDomain) func(o *tenantObject) {
		return func(o *tenantObject) { o.Spec.Domains = append(o.Spec.Domains[:1:1], proven...) }
	}
	return []*lifecycle{{
		name: ungranted, about: "An object asks for a distribution that its grant does not allow, before it has a tenant and afterwards, and for a domain that it does not prove.",
		flags: []string{"--grants=Enforce", "--default-grant=" + narrowGrant},
		steps: []step{
			{makes(other), says(v1alpha1.ConditionReady, v1alpha1.ReasonNotGranted)},
			{edits(func(o *tenantObject) { o.Spec.DistributionID = distribution }), ready},
			{edits(other), says(v1alpha1.ConditionSynced, v1alpha1.ReasonNotGranted)},
			{edits(func(o *tenantObject) { o.Spec.DistributionID = distribution }), ready},
			{edits(wants(v1alpha1.TenantDomain{Domain: unproven})), says(v1alpha1.ConditionReady, v1alpha1.ReasonDomainNotProven)},
			{edits(wants()), ready},
		},
	}}
}

// checkGrant looks at what a write to AWS carries.
func (s *stage) checkGrant(c call) {
	if s.lifecycle.name != ungranted {
		return
	}
	for _, never := range []string{otherDistribution, unproven} {
		if bytes.Contains(c.body, []byte(never)) {
			s.violate(oracleGrant, "%s %s carries %s, which no grant allows", c.operation, c.target, never)
		}
	}
}
