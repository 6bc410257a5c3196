package distributiontenant

import (
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// aim is the tenant as it should be.
type aim struct {
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

// aimed is the tenant as it should be, before it is known which changes have to wait.
func (in judged) aimed() aim {
	t, have := in.Desired.Tenant, in.World.Tenant
	if in.certificate.Request != nil && have != nil {
		t.Customizations.CertificateARN = in.certificate.ARN
	}
	a := aim{target: t.Normalize()}
	a.effective = a.target
	if have != nil && in.resource.Inheriting() {
		a.effective = withInherited(a.effective, have.Tenant)
	}
	return a
}

// compared is the aim without the changes that have to wait, compared with the tenant.
func (in judged) compared() aim {
	a, have := in.aim, in.World.Tenant
	if have == nil {
		return a
	}
	if in.turn.waits {
		a.effective = in.asServed(a.effective)
	}
	a.effective.Domains = in.reachableDomains()
	if in.World.Knowledge == resource.Whole {
		a.diff, a.open = Diff(a.effective, have.Tenant), Diff(a.target, have.Tenant)
	}
	return a
}

// reachableDomains are the domains that the tenant can be given now: those that it should
// have, without those that have to wait, and with those that are still in DNS. A tenant has one
// at least.
func (in judged) reachableDomains() []string {
	waiting, leaving := in.publication.Waiting, in.publication.Leaving
	bare, have := in.bareUntilTurn(), in.World.Tenant.Domains
	out := slices.DeleteFunc(slices.Clone(in.Desired.Domains), func(d string) bool {
		return slices.Contains(waiting, d) || slices.Contains(in.departing, d) || bare && !slices.Contains(have, d)
	})
	if out = append(out, leaving...); len(out) == 0 {
		return have
	}
	return out
}

// Preview is what a pass would do for an object whose tenant and tags were read, if nothing stopped it.
type Preview struct {
	// Owned means that the tags name the object, Adoptable that it may adopt the tenant.
	Owned, Adoptable bool
	// Changes are what an update would write, tags included. Kept are the other differences from the spec: what an adopted
	// tenant keeps until the spec changes, and domains that have to wait.
	Changes, Kept []resource.Difference
}

// Preview compares the tenant in AWS with what it should be.
func (in Input) Preview() Preview {
	j := judge(in)
	v := j.resource
	p := Preview{Owned: v.Mine(), Adoptable: v.Adoptable(), Changes: slices.Concat(j.aim.diff, v.Tags().Differences())}
	for _, d := range j.aim.open {
		if !slices.ContainsFunc(p.Changes, func(c resource.Difference) bool { return c.Field == d.Field }) {
			p.Kept = append(p.Kept, d)
		}
	}
	return p
}
