// Package dns decides which DNS records an object needs, which of them are ours, and
// what has to change in a zone; ZoneState is the life of the records of one zone. It is pure:
// it knows no client, no clock and no Kubernetes type.
//
// The records that are ours are in the ledger of each object and nowhere else: an entry is stored
// before the record is published, and a record is deleted only because an entry names it
// with the very value that it has.
package dns

import (
	"cmp"
	"strings"
	"time"
)

// Record is one record that we publish. It is comparable, and equal records are the same
// record: another value or TTL is another record.
type Record struct {
	// Provider has the zone, and ZoneID is its id of the zone.
	Provider Provider
	ZoneID   string
	// Name is a full name in lower case, in punycode, without a dot at its end.
	Name string
	// Type is CNAME, TXT, or A and AAAA, which are always aliases.
	Type string
	// Value is the name that a CNAME or an alias leads to, without a dot at its end, or
	// the text of a TXT record without quotes.
	Value string
	// TTL is in seconds. An alias has none.
	TTL int64
}

// The types of the records that we publish.
const (
	CNAME = "CNAME"
	A     = "A"
	AAAA  = "AAAA"
	TXT   = "TXT"
)

// Key is what a zone holds at most one record set for.
type Key struct{ Name, Type string }

// Zone returns the zone of the record.
func (r Record) Zone() ZoneKey { return ZoneKey{Provider: r.Provider, ID: r.ZoneID} }

// Key returns the place of the record in its zone.
func (r Record) Key() Key { return Key{Name: r.Name, Type: r.Type} }

// IsAlias reports whether the record is an alias, which resolves to the addresses of another name.
func (r Record) IsAlias() bool { return r.Type == A || r.Type == AAAA }

// Plausible reports whether the record is one that Wanted makes: it points to CloudFront, or is the TXT record next to
// an alias that does. Anything else in a ledger was never published by us, and must not be deleted or published because
// the ledger names it: more people can write status than can change zones.
func (r Record) Plausible() bool {
	switch r.Type {
	case CNAME, A, AAAA:
		return isEndpoint(r.Value)
	case TXT:
		return isEndpoint(r.Value) && strings.HasPrefix(r.Name, challengeLabel)
	}
	return false
}

// isEndpoint reports whether the name is a host of CloudFront.
func isEndpoint(name string) bool {
	host, ok := strings.CutSuffix(name, ".cloudfront.net")
	return ok && host != ""
}

// RecordSet is all that a zone holds for one name and type.
type RecordSet struct {
	Key
	// TTL is in seconds, zero for an alias.
	TTL int64
	// Values are sorted; those of TXT records are without quotes. Empty for an alias.
	Values []string
	// Exact are the values as the provider shows them, nil where it shows them just as this
	// package writes them. Deleting a set needs them to the letter: a deletion has the very set
	// that was read.
	Exact []string
	// Alias is where an alias leads to, without a dot at its end; empty for other sets.
	Alias string
	// Routed is true when the set is one of several of its name and type, told apart by a
	// routing policy, or has another property that we never write. Such a set is never ours.
	Routed bool
	// Fixed is true when the provider has no way to delete the set: it is another's, and no takeover replaces it.
	Fixed bool
	// Leaving is true when the set was deleted, and the provider says that servers may still show it. It is there for what has
	// to be deleted, and makes room for what has to be created.
	Leaving bool
}

// State is how far an entry of a ledger has come.
type State string

// The states of an entry.
const (
	// Intended means that the record may be published, and may be there already.
	Intended State = "Intended"
	// Published means that the record was seen in the zone, in sync.
	Published State = "Published"
	// Retracting means that the record has to go, and may be gone already.
	Retracting State = "Retracting"
)

// Entry is a line of a ledger: a record that is ours.
type Entry struct {
	Record
	State State
	// RoleARN is the role with which the record was published and has to be deleted, on behalf
	// of the object's namespace; empty for the operator's own identity. It stays when the spec
	// names another role, or no DNS at all any more.
	RoleARN string
	// Replaced is what the records of the ledger at this name have replaced. It is restored when they are deleted. One
	// entry of the name has it.
	Replaced Replaced
}

// Provider is a DNS service as one of the operator's accounts there reaches it. The zero value is Route 53: stored ledgers
// don't name it, and the identities there are roles.
type Provider struct {
	Service Service
	// Account is the name of the account in the operator's configuration. Route 53 has none.
	Account string
}

// Compare orders providers.
func (p Provider) Compare(o Provider) int {
	return cmp.Or(cmp.Compare(p.Service, o.Service), cmp.Compare(p.Account, o.Account))
}

// String is the provider as messages and metrics show it, for example cloudflare/main.
func (p Provider) String() string {
	if p.Account == "" {
		return p.Service.String()
	}
	return p.Service.String() + "/" + p.Account
}

// Service names a DNS service.
type Service string

// The services.
const (
	Route53    Service = ""
	Cloudflare Service = "cloudflare"
	Azure      Service = "azure"
	RFC2136    Service = "rfc2136"
	// ExternalDNS is whatever ExternalDNS has its records at.
	ExternalDNS Service = "externaldns"
)

// String is the name of the service as a spec has it.
func (s Service) String() string { return cmp.Or(string(s), "route53") }

// ZoneKey says which zone: two providers may give the same id.
type ZoneKey struct {
	Provider Provider
	ID       string
}

// Compare orders zones.
func (k ZoneKey) Compare(o ZoneKey) int {
	return cmp.Or(k.Provider.Compare(o.Provider), cmp.Compare(k.ID, o.ID))
}

// Zone is a zone of a provider.
type Zone struct {
	Provider Provider
	ID       string
	// Name is in lower case, in punycode, without a dot at its end.
	Name    string
	Private bool
	// Apex is how the name of the zone itself can lead to CloudFront.
	Apex Apex
}

// Key says which zone this is.
func (z Zone) Key() ZoneKey { return ZoneKey{Provider: z.Provider, ID: z.ID} }

// Owner is the object that a ledger belongs to. A ConnectionGroup has one ledger for each of its targets, which it names.
// Target is empty for a DistributionTenant.
type Owner struct{ Namespace, Name, UID, Target string }

// Access is the identity with which zones are read and changed.
type Access struct {
	Provider Provider
	// RoleARN is the role to assume; empty for the operator's own identity.
	RoleARN string
	// Namespace is the one on whose behalf the role is assumed; empty without a role.
	Namespace string
}

// AccessFor returns the identity that acts at a provider for the objects of a namespace.
func AccessFor(p Provider, roleARN, namespace string) Access {
	if roleARN == "" {
		return Access{Provider: p}
	}
	return Access{Provider: p, RoleARN: roleARN, Namespace: namespace}
}

// Extent is how much an object knows of the records that are due.
type Extent int

// The extents.
const (
	// Whole is a claim for all of them.
	Whole Extent = iota
	// Partial says that there may be more.
	Partial
	// Blind says that nothing is known of the tenant.
	Blind
)

// Claim is what one object asks of zones and what it holds there.
type Claim struct {
	Owner Owner
	// Version grows with every change of the object; an older claim never replaces a newer one.
	Version uint64
	// Since is when the object was created: of two that want one record the older has it.
	Since  time.Time
	Access Access
	// Wants are the records that are due to be published, as far as the object knows them. A claim never replaces one
	// that knows more: a claim that is given up for a moment loses its place, and with the last claim in a zone, all that
	// is known of the zone is lost.
	Wants  []Record
	Extent Extent
	// Ledger is as it is stored. The worker publishes and deletes what is in it, and nothing else.
	Ledger []Entry
	// Takeover allows foreign records that are where ours belong to be replaced.
	Takeover bool
	// Spares keeps a takeover from records that do not lead to CloudFront.
	Spares bool
	// Reclaims makes equal records this object's, which left them when it was deleted.
	Reclaims bool
	// Inherits are the domains whose records other objects hand over to this one.
	Inherits []string
	// Still keeps everything as it is: the claim keeps its places, and nothing is done for it.
	Still bool
	// Correct allows published records to be restored when they were changed or deleted.
	Correct bool
	// Barred is set by the worker when the provider lets the claim's identity change nothing: a claim that can't change
	// a zone must not block others from it.
	Barred bool
}
