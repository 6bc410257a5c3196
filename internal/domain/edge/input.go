package edge

import (
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/cadence"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/cert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
)

// DriftPolicy says what happens when AWS was changed behind our back.
type DriftPolicy string

// The drift policies.
const (
	DriftEnforce DriftPolicy = "enforce"
	DriftReport  DriftPolicy = "report"
	DriftSuspend DriftPolicy = "suspend"
)

// AdoptionPolicy says what happens when a tenant of our name is there already.
type AdoptionPolicy string

// The adoption policies.
const (
	AdoptNever     AdoptionPolicy = "Never"
	AdoptIfUnowned AdoptionPolicy = "IfUnowned"
	AdoptForce     AdoptionPolicy = "Force"
)

// Allows reports whether a resource of which the tags say that may be taken over. ownerAlive means that
// they name a live object of this cluster: two live objects would take it from each other for ever.
func (p AdoptionPolicy) Allows(relation ownership.Relation, ownerAlive bool) bool {
	if relation == ownership.Foreign && ownerAlive {
		return false
	}
	switch p {
	case AdoptForce:
		return true
	case AdoptIfUnowned:
		return relation == ownership.Unowned || relation == ownership.Former
	case AdoptNever:
		return false
	}
	return false
}

// Policy is what the user allows.
type Policy struct {
	Drift    DriftPolicy
	Adoption AdoptionPolicy
	// Retain keeps the tenant in AWS when the object goes.
	Retain bool
	// KeepCertificates keeps the managed certificates when the tenant goes.
	KeepCertificates bool
	// AbandonDNS lets the object go although its records stay.
	AbandonDNS bool
	// DeniedRole is a role that the object needs and the administrator has not granted. Empty:
	// there is none.
	DeniedRole string
}

// GracePeriod is how long after a create mark an absent tenant is not believed to be
// absent: reads may lag behind the create, and a finalizer dropped in that time would
// leak the tenant.
const GracePeriod = 2 * time.Minute

// ProofAge is how long tags that were read prove whose the tenant is. The list does not
// show when somebody else takes a tenant over (a second cluster, during a move), so that
// before a write they are read again when they are older.
const ProofAge = 5 * time.Minute

// MaxCorrections is how often a difference on one generation is corrected before it is
// taken for one that does not go away. StableFor is how long a correction must have
// held for the count to start anew.
const (
	MaxCorrections = 3
	StableFor      = 15 * time.Minute
)

// Input is everything that a decision is made from.
type Input struct {
	Now time.Time
	// Me is the owner that our tags name.
	Me         ownership.Owner
	Generation int64
	// Deleting is true from the deletion timestamp on.
	Deleting bool
	// Paused stops every write for this object.
	Paused bool
	// Held is true while our finalizer is on the object.
	Held bool
	// CreateMark is when a create was last announced. Zero: never.
	CreateMark time.Time
	// AdoptedGeneration is the generation of the spec for which a tenant was adopted.
	// While it is the present one, blocks that the spec lacks stay as they are.
	AdoptedGeneration int64
	// Nudged is true when a person asked to look again at once.
	Nudged bool

	Desired  Desired
	Policy   Policy
	Memory   Memory
	Attempts Attempts
	World    World
}

// Memory is what status remembers because it can't be observed cheaply or at all.
// Everything else in status is a report.
type Memory struct {
	// ID is the tenant's id in AWS. Empty: none was ever seen.
	ID string
	// Account is the AWS account of the tenant. Empty: none was ever seen.
	Account string
	// ETag is the one with which AWS was last known to equal the spec, or to differ
	// from it as reported.
	ETag string
	// AppliedGeneration is the generation that AWS was last made equal to.
	AppliedGeneration int64
	// Parents are those that AWS was last made equal to.
	Parents Parents
	// AppliedTagKeys are the keys of users' tags that we set.
	AppliedTagKeys []string
	// Certificate is the managed certificate as it was last reported.
	Certificate *cert.Managed
	// Certificates are the ARNs of all managed certificates that were ever seen for this tenant.
	Certificates []string
	// Requested is the request for a managed certificate that was last sent. Nil: none that is known.
	Requested *SentRequest
	// Ledger has the DNS records that are ours.
	Ledger  []dns.Entry
	Failure *Failure
	// RoutingEndpoint is where DNS was last said to have to point.
	RoutingEndpoint string
	// Conditions are those that stand in status now.
	Conditions map[ConditionType]Condition
}

// Failure remembers what is failing, for which generation, since when. It is written
// once per failure; the delay before the next try grows with its age.
type Failure struct {
	Reason     Reason
	Generation int64
	Since      time.Time
}

// NotConverging returns the memory if it is of corrections of that generation that did not take.
func (f *Failure) NotConverging(generation int64) *Failure {
	if f == nil || f.Generation != generation || f.Reason != ReasonDriftNotConverging {
		return nil
	}
	return f
}

// NextTry says when the next try is due, for somebody who asks at now or last tried then.
func (f Failure) NextTry(now time.Time) time.Time {
	if f.Since.After(now) {
		// A clock that is ahead, or a person, wrote it: nothing waits for a time that is yet to come.
		f.Since = now
	}
	switch f.Reason {
	case ReasonCertificateFailed:
		return cadence.Certificates.Next(f.Since, now)
	case ReasonDomainValidationPending:
		return cadence.Proof.Next(f.Since, now)
	default:
		return cadence.Usual.Next(f.Since, now)
	}
}

// Tries is what the running process remembers of what it tried for a resource of any kind. Losing
// it in a restart costs a call or two, never correctness.
type Tries struct {
	// Last is when something was last tried that then failed. Zero: never here.
	Last time.Time
	// Asked means that a person asked for a try which has not come to an answer yet: where names
	// are published first it takes more than one pass.
	Asked bool
	// AcceptedFor is the generation that AWS last accepted a write for, Accepted the kinds of
	// writes for it. Corrections counts those that were sent for it once more.
	AcceptedFor    int64
	Accepted       Write
	Corrections    int
	LastCorrection time.Time
	// CreatedAt is when a create was last accepted.
	CreatedAt time.Time
	// MarkDoubted is when a create mark that can't be true was first seen.
	MarkDoubted time.Time
	// DeleteRefused is the ETag with which a deletion was refused.
	DeleteRefused string
	// DeletedAt is when a deletion was accepted.
	DeletedAt time.Time
	// Transients counts the failures in a row after which nothing is known.
	Transients int
	// Conflicts counts those in a row after which only that something has changed is known.
	Conflicts int
}

// Attempts is what the running process remembers of its own tries for a tenant.
type Attempts struct {
	Tries
	// Led is what the references of the spec led to when they last led somewhere. Empty: never here.
	Led Parents
	// DisableRefused means AWS refused a disable that sent nothing else.
	DisableRefused bool
	// CertificateSeen is when the managed certificate was last read, or asked for, and
	// CertificateETag the ETag that the tenant had then.
	CertificateSeen time.Time
	CertificateETag string
	Certificate     *cert.Managed
	// CertificateBefore is the ARN of the one that the last request takes the place of.
	CertificateBefore string
	// InvisibleSince is when public DNS first failed to show records that are in sync.
	InvisibleSince time.Time
}

// Write is a set of kinds of writes. One edit of a spec may need one of each.
type Write uint8

// The kinds of writes.
const (
	WroteTenant Write = 1 << iota
	WroteTags
	RemovedTags
)

// Sent notes that AWS accepted a write for the generation. Each further one of its kind
// corrects what did not stay; a count that has held for a while starts anew. A write that was
// only a part of what the generation asks for is of no kind.
func (a *Tries) Sent(generation int64, w Write, now time.Time) {
	if a.AcceptedFor != generation {
		a.Accepted = 0
	}
	if a.AcceptedFor != generation || now.Sub(a.LastCorrection) > StableFor {
		a.Corrections = 0
	}
	if a.Accepted&w != 0 {
		a.Corrections++
		a.LastCorrection = now
	}
	a.AcceptedFor, a.Accepted = generation, a.Accepted|w
}

// Fruitless reports whether that generation was corrected often enough to know that AWS does not keep
// it, or that somebody else keeps changing it back. Once the failure that stands in status says so, one
// correction goes at each time that the schedule of failures names, or when a person asks.
func (a *Tries) Fruitless(generation int64, failure *Failure, nudged bool, now time.Time) bool {
	if f := failure.NotConverging(generation); f != nil {
		last := a.LastCorrection
		if last.IsZero() {
			last = a.Last
		}
		if nudged && now.Sub(last) >= cadence.FirstRetry {
			return false
		}
		return now.Before(f.NextTry(last))
	}
	return a.AcceptedFor == generation && a.Corrections >= MaxCorrections && now.Sub(a.LastCorrection) < StableFor
}

// Knowledge says how much is known of the tenant in AWS.
type Knowledge int

const (
	// Nothing is known.
	Nothing Knowledge = iota
	// Absent means a read of this very tenant, in this pass, found none.
	Absent
	// Listed means the list has it: all but parameters and tags.
	Listed
	// Whole means it was read, and nothing has moved since.
	Whole
)

// World is what was observed.
type World struct {
	Knowledge Knowledge
	// Tenant is set when Knowledge is Listed or Whole.
	Tenant *Observed
	// TenantFresh is true when the tenant was read in this pass.
	TenantFresh bool
	// SettlesFirst is true once AWS has refused to delete a tenant, whichever, because its
	// disable was still being deployed.
	SettlesFirst bool
	// Swept is true once the inventory has tried to list the account.
	Swept bool

	// Tags are the tenant's tags if TagsKnown. TagsDue asks for a fresh look.
	Tags      map[string]string
	TagsKnown bool
	TagsDue   bool
	// TagsFresh is true when they were read in this pass, TagsRead when that last was.
	TagsFresh bool
	TagsRead  time.Time
	// OwnerAlive is true when the foreign owner in the tags is a live object of this cluster.
	OwnerAlive bool

	// References are the objects that the spec names; none while the object is being deleted.
	References []Reference

	// Distribution and Certificates are nil until they were looked up.
	Distribution *Distribution
	Certificates map[string]Certificate

	// Managed is set if ManagedKnown and CloudFront manages a certificate.
	Managed      *cert.Managed
	ManagedKnown bool
	// CertificateMovesETag is true once the progress of a managed certificate was seen to move
	// its tenant's ETag, so that the sweep tells of it.
	CertificateMovesETag bool
	// CertificateUnusable means that ACM shows the attached certificate in any state but issued.
	CertificateUnusable bool

	// Zones are the zones of the provider if ZonesKnown; Unlisted is why they can't be read.
	Zones      []dns.Zone
	ZonesKnown bool
	Unlisted   *fault.Error
	// DNS is what is known of the records of this object.
	DNS dns.View
	// IPv6 says whether the connection group has it, if IPv6Known.
	IPv6      bool
	IPv6Known bool
	// Visible reports whether public DNS shows the records, if VisibleKnown. Nobody is asked
	// where AsksResolvers is false.
	AsksResolvers, Visible, VisibleKnown bool

	// Account is the AWS account of the operator's credentials, empty until it was looked up.
	Account string

	// Unreadable is why something could not be read that a decision needs.
	Unreadable *fault.Error
	// Deleted is true when the tenant's deletion was accepted in this pass.
	Deleted bool
	// Refused is how the last write of this pass was refused, nil when it was not.
	Refused *fault.Error
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
	// Owner is who its tags name. Zero: nobody, or unreadable.
	Owner ownership.Owner
}

// present reports whether a tenant of our name is known to exist.
func (w World) present() bool { return w.Tenant != nil }

// relation says whose the tenant is, Unknown while its tags were not read.
func (in Input) relation() ownership.Relation {
	if !in.World.TagsKnown {
		return ownership.Unknown
	}
	return ownership.Relate(in.Me, in.World.Tags)
}

// proven reports whether the tags were read lately enough to write on the strength of them.
func (in Input) proven() bool {
	return in.World.TagsKnown && in.Now.Sub(in.World.TagsRead) <= ProofAge
}

// applied reports whether what the present generation asks for was the last that AWS was made equal to.
func (in Input) applied() bool { return in.reached(in.Memory.AppliedGeneration, in.Memory.Parents) }

// Pending reports whether what is asked for has not reached AWS yet.
func (in Input) Pending() bool { return !in.applied() }

// reached reports whether the generation is the present one, and the parents those that it leads to.
func (in Input) reached(generation int64, p Parents) bool {
	return generation == in.Generation && in.ledTo(p)
}

// inheriting reports whether blocks that the spec lacks are left as the adopted tenant has them.
func (in Input) inheriting() bool {
	return in.AdoptedGeneration != 0 && in.AdoptedGeneration == in.Generation
}

// trusted reports whether the list alone proves that nothing has moved since AWS was
// last seen to equal the spec.
func (in Input) trusted() bool {
	synced := in.Memory.Conditions[Synced]
	return in.World.Knowledge == Listed && in.applied() && in.Memory.ETag != "" &&
		in.World.Tenant.ETag == in.Memory.ETag && in.World.Tenant.ID == in.Memory.ID &&
		(synced.Status || in.heldBack()) && synced.Generation == in.Generation
}

// target is the tenant as it should be: the spec and what was learned.
func (in Input) target() Tenant {
	t := in.Desired.Tenant
	if in.request() != nil && in.World.present() {
		t.Customizations.CertificateARN = in.learnedCertificate()
	}
	return t.Normalize()
}

// effective is the target as far as it can be reached now: with what an adopted tenant
// keeps, and without the changes of domains that have to wait.
func (in Input) effective() Tenant {
	t := in.target()
	if !in.World.present() {
		return t
	}
	if in.inheriting() {
		t = withInherited(t, in.World.Tenant.Tenant)
	}
	t.Domains = in.reachableDomains()
	return t
}

// wantedTags are the user's tags and ours.
func (in Input) wantedTags() map[string]string {
	return ownership.Merge(in.Desired.Tags, in.Me)
}

// diff is what an update would change. It is empty while the tenant is only trusted.
func (in Input) diff() []Difference {
	if in.World.Knowledge != Whole {
		return nil
	}
	return Diff(in.effective(), in.World.Tenant.Tenant)
}

// openDiff is what differs from the spec as it stands, inherited blocks included.
func (in Input) openDiff() []Difference {
	if in.World.Knowledge != Whole {
		return nil
	}
	return Diff(in.target(), in.World.Tenant.Tenant)
}

// tagChange is what has to change in the tags, empty while they were not read.
func (in Input) tagChange() TagChange {
	if !in.World.TagsKnown {
		return TagChange{}
	}
	return DiffTags(in.wantedTags(), in.World.Tags, in.Memory.AppliedTagKeys)
}
