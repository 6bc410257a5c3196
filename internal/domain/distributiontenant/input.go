package distributiontenant

import (
	"slices"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/proof"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// Policy is what the user allows.
type Policy struct {
	resource.Policy

	// RetainCertificates keeps the managed certificates when the tenant is deleted.
	RetainCertificates bool
	// AbandonDNS lets the object go although its records stay.
	AbandonDNS bool
	// Holds means that domains are held for the namespace when they leave AWS.
	Holds bool
	// Proofs are the domains of the spec that the grant wants to be proven.
	Proofs []string
	// DeniedRole is a role that the object needs and the administrator has not granted. Empty: no role is denied.
	DeniedRole string
}

// Input is everything that a decision is based on.
type Input struct {
	resource.Object

	// Deleting is true from the deletion timestamp on.
	Deleting bool

	// Spreads means that changes of what customers are served with reach tenants in steps.
	Spreads bool

	Desired  Desired
	Policy   Policy
	Memory   Memory
	Attempts Attempts
	World    World

	// facts is what judged has found. Decide and Conclude have an Input of their own, in which nothing changes any
	// more.
	facts *facts
}

// Memory is what status remembers because it can't be observed cheaply or at all.
// Everything else in status is a report.
type Memory struct {
	resource.Memory

	// ETag is the one with which AWS was last known to equal the spec, or to differ
	// from it as reported.
	ETag string
	// Modified is when the tenant was last modified as it was last seen, to the second.
	Modified time.Time
	// Parents are those that AWS was last made equal to.
	Parents Parents
	// Certificate is the managed certificate as it was last reported.
	Certificate *certificate.Managed
	// Certificates are the ARNs of all managed certificates that were ever seen for this tenant.
	Certificates []string
	// Requested is the request for a managed certificate that was last sent. Nil: none that is known.
	Requested *certificate.Sent
	// Served is the certificate that the tenant was last said to serve with. It is Inherited where it was the
	// distribution's.
	Served *Served
	// Ledger has the DNS records that are ours.
	Ledger []dns.Entry
	// RoutingEndpoint is where DNS was last said to have to point.
	RoutingEndpoint string
	// DomainStates has the domains that the tenant was last seen to have, with their states.
	DomainStates map[string]string
	// Proofs has the domains that are proven, or have to be.
	Proofs []proof.Entry
}

// Attempts is what the running process remembers of its own tries for a tenant.
type Attempts struct {
	resource.Tries
	// Led is what the references of the spec led to when they last led somewhere. Empty: never here.
	Led Parents
	// Wrote is when the tenant was last modified according to the answer to the last own write. Zero: status has it.
	Wrote time.Time
	// Doubted is when an update was last sent that may have taken effect unseen: its answer was lost, or another process
	// may have sent it. Zero: the tenant was read long enough after it, or written.
	Doubted time.Time
	// RoutedFor is the generation for which it was last looked up where DNS has to point.
	RoutedFor int64
	// DisableRefused means AWS refused a disable that sent nothing else.
	DisableRefused bool
	// CertificateSeen is when the managed certificate was last read, or asked for, and
	// CertificateETag the ETag that the tenant had then.
	CertificateSeen time.Time
	CertificateETag string
	Certificate     *certificate.Managed
	// CertificateBefore is the ARN of the one that the last request takes the place of.
	CertificateBefore string
	// InvisibleSince is when public DNS first failed to show records that are in sync.
	InvisibleSince time.Time
	// Proofs is when the records that prove domains were looked for, and what was seen.
	Proofs proof.Asked
}

// World is what was observed.
type World struct {
	resource.World

	// Tenant is set when Knowledge is Listed or Whole.
	Tenant *Observed
	// TenantFresh is true when the tenant was read in this pass.
	TenantFresh bool
	// SettlesFirst is true once AWS has refused to delete a tenant, whichever, because its
	// disable was still being deployed.
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
	// IPv6 says whether the connection group has it, if IPv6Known.
	IPv6      bool
	IPv6Known bool
	// Visible reports whether public DNS shows the records, if VisibleKnown. No resolver is queried where AsksResolvers
	// is false.
	AsksResolvers, Visible, VisibleKnown bool

	// Unheld are those of the domains that are about to leave AWS for which a claim has to be stored first, if
	// UnheldKnown. Unstored is why that failed.
	Unheld      []string
	UnheldKnown bool
	Unstored    string

	// Moves are the domains of the spec that are handed over to this object, and that another one has in AWS. Inherits are
	// all that are handed over.
	Moves, Inherits []string

	// ProofsKnown is true once the records that prove domains were looked for in this pass.
	ProofsKnown bool

	// Deleted is true when the tenant's deletion was accepted in this pass.
	Deleted bool
	// Holder is who holds a domain that we were refused, if HolderKnown and visible.
	Holder      *Holder
	HolderKnown bool

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

// moment is as long as it takes to get from one pass to the next, so that a disable and the delete that follows it
// share one proof.
const moment = 5 * time.Second

// view is what the shared rules are asked about.
func (in Input) view() *resource.View {
	v := &resource.View{
		Object: in.Object, Policy: in.Policy.Policy, Memory: in.Memory.Memory, World: in.World.World, Tries: in.Attempts.Tries,
		Noun: "distribution tenant", Present: in.World.present(), Desired: in.Desired.Tags, Deleting: in.Deleting,
		Applied: in.applied(), Retain: in.Policy.Retain, TrustsID: true, TrustsMark: true, Moment: moment,
		Weighs: in.Memory.ID != "" || !in.CreateMark.IsZero() || len(in.Memory.Ledger) > 0,
	}
	if t := in.World.Tenant; t != nil {
		v.ID, v.ARN = t.ID, t.ARN
	}
	v.Harm = in.harm(v)
	return v
}

// Harm says what the next write takes away from those who are served. Empty: nothing.
func (in Input) Harm() string { return in.proven().view().Harm }

// LostOwnership is the harm of a tenant that is not tagged as the object's any more.
const LostOwnership = "is no longer tagged as its own"

// harm says what the next write takes away from a tenant of ours, whether the spec has changed or AWS has.
func (in Input) harm(v *resource.View) string {
	t := in.World.Tenant
	switch {
	case in.inDoubt(v):
		return LostOwnership
	case in.Deleting, t == nil, !v.Mine(), v.Applied && (in.Policy.Drift != resource.DriftEnforce || in.Unresolved()):
		return ""
	}
	var out []string
	if t.Enabled && !in.Desired.Enabled {
		out = append(out, "disables the tenant")
	}
	if dropped := slices.DeleteFunc(slices.Clone(t.Domains), func(d string) bool {
		return slices.Contains(in.Desired.Domains, d) || t.DomainStates[d] != DomainActive
	}); len(dropped) > 0 {
		out = append(out, "removes "+prose.List(dropped))
	}
	if in.Desired.DNS == nil && slices.ContainsFunc(in.Memory.Ledger, func(e dns.Entry) bool { return e.State == dns.Published }) {
		out = append(out, "removes the DNS records")
	}
	return strings.Join(out, ", ")
}

// applied reports whether what the present generation asks for was the last that AWS was made equal to.
func (in Input) applied() bool { return in.reached(in.Memory.AppliedGeneration, in.Memory.Parents) }

// Pending reports whether what is asked for has not reached AWS yet.
func (in Input) Pending() bool { return !in.applied() }

// reached reports whether the generation is the present one, and the parents those that it leads to.
func (in Input) reached(generation int64, p Parents) bool {
	return generation == in.Generation && in.World.References.leadTo(p)
}

// trusted reports whether the list alone proves that nothing has moved since AWS was last seen to equal the spec, apart
// from domains that are not proven.
func (in Input) trusted() bool {
	synced := in.Memory.Conditions[chain.Synced]
	equal := in.facts.resource.Applied && (synced.Status || in.Memory.waitedForReference()) || in.stillUnproven()
	return equal && in.World.Knowledge == resource.Listed && in.Memory.ETag != "" &&
		in.World.Tenant.ETag == in.Memory.ETag && in.World.Tenant.ID == in.Memory.ID && synced.Generation == in.Generation
}
