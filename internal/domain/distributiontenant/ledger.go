package distributiontenant

import (
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// dnsRemoved keeps what is being torn down until no name leads to it any more.
func dnsRemoved(in judged) (Decision, bool) {
	if p := in.publication.Awaits; p != nil {
		return rest(*p, 0)
	}
	return pass()
}

// retainsTenant reports whether the tenant outlives the object, and its records with it. One that
// is gone or someone else's does not count; one without an owner was just released.
func (in judged) retainsTenant() bool {
	theirs := in.World.present() && in.resource.Relation() == ownership.Foreign
	return in.Policy.Retain && in.World.Knowledge != resource.Absent && !theirs
}

// inDoubt reports whether it is in doubt whose the tenant of a living object is. An object that is deleted takes back
// what leads to its tenant, even if another object owns the tenant now.
func (in Input) inDoubt(v *resource.View) bool { return !in.Deleting && v.InDoubt() }

// Rests reports whether nothing is changed in DNS for the object for now.
func (in Input) Rests() bool { return in.Still() || in.inDoubt(in.view()) }

// Delegated reports whether a zone delegates a domain of the object that is or would be published in it, and another zone
// may be listed for it.
func (in Input) Delegated() bool {
	if in.Deleting || in.Desired.DNS == nil || in.Desired.DNS.Zone != (dns.Selector{}) {
		return false
	}
	for _, s := range in.World.DNS.Records {
		if s.Delegated != "" {
			return true
		}
	}
	return false
}

// unlooked reports whether a tenant that may exist was not looked for yet. At the end of an object, one whose create may be
// on its way counts as well: what leads to it is deleted once it was looked for.
func (in Input) unlooked() bool {
	return in.World.Knowledge == resource.Nothing && (in.Memory.ID != "" || in.Deleting && !in.CreateMark.IsZero())
}

// oriented reports whether enough is known of the tenant to change what leads to it: where it is
// not known yet, or the credentials are of another account, nothing is concluded.
func (in Input) oriented() bool {
	caller := in.World.Account
	switch {
	case in.World.present():
		caller = resource.AccountOf(in.World.Tenant.ARN)
	case in.World.Knowledge == resource.Nothing:
		return !in.unlooked()
	}
	return in.Memory.Account == "" || caller == in.Memory.Account
}
