package distributiontenant

import (
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// configuration is the tenant as it should be.
type configuration struct {
	// target is the spec and what was learned.
	target Tenant
	// effective is the target as far as it can be reached now: with what an adopted tenant
	// keeps, and without the changes of domains that have to wait.
	effective Tenant
	// diff is what an update would change. It is empty while the tenant is only trusted.
	diff []resource.Difference
	// open is everything that differs from the spec as it is, including inherited blocks.
	open []resource.Difference
}

// configured compares the tenant with what it should be.
func (in Input) configured() configuration {
	f, have := in.facts, in.World.Tenant
	t := in.Desired.Tenant
	if f.certificate.Request != nil && have != nil {
		t.Customizations.CertificateARN = f.certificate.ARN
	}
	c := configuration{target: t.Normalize()}
	c.effective = c.target
	if have == nil {
		return c
	}
	if f.resource.Inheriting() {
		c.effective = withInherited(c.effective, have.Tenant)
	}
	c.effective.Domains = in.reachableDomains()
	if in.World.Knowledge == resource.Whole {
		c.diff, c.open = Diff(c.effective, have.Tenant), Diff(c.target, have.Tenant)
	}
	return c
}

// reachableDomains are the domains that the tenant can be given now: those that it should
// have, without those that have to wait, and with those that are still in DNS. A tenant has one
// at least.
func (in Input) reachableDomains() []string {
	waiting, leaving := in.facts.publication.Waiting, in.facts.publication.Leaving
	out := slices.DeleteFunc(slices.Clone(in.Desired.Domains), func(d string) bool { return slices.Contains(waiting, d) })
	if out = append(out, leaving...); len(out) == 0 {
		return in.World.Tenant.Domains
	}
	return out
}
