package distributiontenant

import (
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/keyvalue"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/verdict"
)

// World is what was observed.
type World struct {
	resource.World

	// Tenant is set when Knowledge is Listed or Whole.
	Tenant *Observed
	// TenantFresh is true when the tenant was read in this pass.
	TenantFresh bool
	// SettlesFirst is true once AWS has refused to delete any tenant because its disable was still being deployed.
	SettlesFirst bool
	// Swept is true once the inventory has tried to list the account.
	Swept bool

	// Turn is what the order of service changes answers, if TurnKnown.
	Turn      Turn
	TurnKnown bool

	// References are the objects that the spec names; none while the object is being deleted.
	References References

	// Distribution and Certificates are nil until they were looked up.
	Distribution *Distribution
	Certificates map[string]Certificate

	// Managed is set if ManagedKnown and CloudFront manages a certificate.
	Managed      *certificate.Managed
	ManagedKnown bool
	// CertificateMovesETag is true once the progress of a managed certificate was seen to move
	// its tenant's ETag, so that the sweep tells of it.
	CertificateMovesETag bool
	// CertificateUnusable means that ACM shows the attached certificate in any state but issued.
	CertificateUnusable bool

	// DistributionDisabled is true if the tenant's distribution was disabled when it was last seen, if
	// DistributionSeen.
	DistributionDisabled, DistributionSeen bool

	// Inherited is the ARN of the distribution's certificate as it was last read, if InheritedKnown.
	Inherited      string
	InheritedKnown bool
	// Served is the certificate that InUse names, as ACM last showed it. Nil: not known.
	Served *Served

	// Zones are the zones of the provider if ZonesKnown; Unlisted is why they can't be read.
	Zones      []dns.Zone
	ZonesKnown bool
	Unlisted   *fault.Error
	// DNS is what is known of the records of this object.
	DNS dns.View
	// Keys is what is known of the keys of this object in key value stores.
	Keys keyvalue.View
	// IPv6 says whether the connection group has it, if IPv6Known.
	IPv6      bool
	IPv6Known bool
	// Visible reports whether public DNS shows the records, if VisibleKnown. No resolver is queried where AsksResolvers
	// is false.
	AsksResolvers, Visible, VisibleKnown bool

	// Watched means that public DNS is looked at for the domains that the operator does not publish. Sights has what it shows.
	Watched bool
	Sights  map[string]onboarding.Sight
	// Places are where the domains stand among those that are registered.
	Places map[string]onboarding.Place
	// Targets are the names of the platform's own that lead to the tenant's connection group, and Addresses those of its
	// Anycast list, if AddressesKnown.
	Targets, Addresses []string
	AddressesKnown     bool

	// Unheld are those of the domains that are about to leave AWS for which a claim has to be stored first, if
	// UnheldKnown. Unstored is why that failed.
	Unheld      []string
	UnheldKnown bool
	Unstored    string

	// Moves are the domains of the spec that are handed over to this object, and that another one has in AWS, or that come
	// from a standard distribution. Inherits are all that are handed over.
	Moves, Inherits []string
	// Givers are the standard distributions that domains of Moves come from. Aliases are those of the distributions that
	// were read in this pass, by ID.
	Givers  map[string]claim.Giver
	Aliases map[string][]string

	// ProofsKnown is true once the records that prove domains were looked for in this pass.
	ProofsKnown bool

	// Deleted is true when the tenant's deletion was accepted in this pass.
	Deleted bool
	// Holder is who holds a domain that we were refused, if HolderKnown and visible.
	Holder      *Holder
	HolderKnown bool
	// Conflicts are the other resources that have the domain according to AWS, of which Holder names none.
	Conflicts []verdict.Conflict

	// RoutingEndpoint is where DNS has to point, empty while unknown. RoutingKnown is
	// true once it was looked up, found or not.
	RoutingEndpoint string
	RoutingKnown    bool
}

// Holder is a tenant that holds a domain that we want.
type Holder struct {
	ID, Name, Domain string
	// Owner is who its tags name. Zero: no owner, or the tags could not be read.
	Owner ownership.Owner
}

// present reports whether a tenant of our name is known to exist.
func (w World) present() bool { return w.Tenant != nil }

// blocked reports whether this pass's write was refused for a reason that still holds. The refusal of a name that is
// taken is explained as soon as the tenant of that name is seen.
func (w World) blocked() bool {
	return w.Refused != nil && (!w.present() || w.Refused.Kind != fault.Exists)
}
