// Package grant decides what the objects of a namespace may use in AWS. It knows an object only by what it wants, and it
// knows nothing of what exists.
package grant

import (
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/identity"
)

// NotGranted is the reason of an object that asks for more than its namespace may have. The api package has the same word
// as its contract; a test keeps the two equal.
const NotGranted chain.Reason = "NotGranted"

// Default is the name of the grant of all namespaces that no EdgeGrant selects. No object can have it.
const Default = "(default)"

// Grant is what some namespaces may use. Nothing that it does not name is granted. In lists a star stands for any
// text.
type Grant struct {
	Name string
	// Version is another one whenever the grant has changed.
	Version    string
	Namespaces Namespaces
	// Account is the AWS account in which everything of the namespaces is. RoleRefused means that AWS was last seen to
	// refuse its role.
	Account     Account
	RoleRefused bool

	Kinds         []string
	Distributions []Distribution
	// Groups are the connection groups, by ID or as "namespace/name".
	Groups       []string
	Domains      []Domain
	Wildcards    bool
	DNS          *DNS
	Roles        identity.RolePatterns
	Certificates []string
	WebACLs      []string
	// Stores are the key value stores that may be written into.
	Stores []Store
	// NoWebACL lets a tenant do without the web ACL of its distribution.
	NoWebACL bool
	// GeoRestrictions lets a tenant override those of its distribution.
	GeoRestrictions bool
	// Origins are the domain names of origins. Empty: any. All others of these lists are for what distributions may use.
	Origins        []string
	VPCOrigins     []string
	AccessControls []string
	Functions      []string
	KeyGroups      []string
	Encryptions    []string
	LogBuckets     []string

	Tables []string
	// WriteTables are the state tables that may be written.
	WriteTables []string
	Hosts       []string
	// Logins are those with the operator's identity.
	Logins   []string
	Adoption *Adoption
	Limits   Limits
}

// Account is an AWS account, and how it is reached. The zero value is the operator's own.
type Account struct {
	ID string
	// RoleARN is the role that is assumed there. Empty: the operator's own credentials, which have to be of that account.
	RoleARN string
}

// Access is an account as a grant gives access to it.
type Access struct {
	Account
	Grant string
	// Refused means that AWS was last seen to refuse the role.
	Refused bool
}

// Distribution is one that may be used, with what its parameters may be.
type Distribution struct {
	// Is its ID, or its object as "namespace/name".
	Is string
	// Parameters are the values by the name of the parameter. One that is not listed may have any.
	Parameters map[string][]string
}

// Store is a key value store, with the keys that an object may name.
type Store struct {
	ARN      string
	Keys     []string
	Takeover bool
}

// Domain is a domain with all below it, but for the exceptions and all below those. The suffix "*" is every domain.
type Domain struct {
	Suffix string
	Except []string
	// Proven means that a namespace has to prove each of these domains before it is served.
	Proven bool
}

// DNS is what records may be made in and replaced.
type DNS struct {
	Zones []Zone
	// Takeover is which records may be replaced.
	Takeover Takeover
}

// Zone is a zone in which records may be made.
type Zone struct {
	// Provider has the zone. Without an account, it is any account of the service.
	Provider dns.Provider
	// ID "*" is every zone.
	ID string
}

// String is the zone as messages show it.
func (z Zone) String() string {
	if z.Provider == (dns.Provider{}) {
		return z.ID
	}
	return z.Provider.String() + ":" + z.ID
}

// at reports whether the zone may be one of the provider, of which a spec may leave out the account.
func (z Zone) at(p dns.Provider) bool {
	return z.Provider.Service == p.Service && (z.Provider.Account == "" || p.Account == "" || z.Provider.Account == p.Account)
}

// Takeover is which records may be replaced that the operator did not create.
type Takeover string

// The takeovers.
const (
	TakeoverNever      Takeover = "Never"
	TakeoverCloudFront Takeover = "CloudFront"
	TakeoverAny        Takeover = "Any"
)

// Adoption is what may be adopted.
type Adoption struct {
	// Force allows to adopt what belongs to one of the clusters, too.
	Force        bool
	Names        []string
	FromClusters []string
	// Until is when it ends. Zero: never.
	Until time.Time
}

// Over reports whether nothing may be adopted any more.
func (a *Adoption) Over(now time.Time) bool { return !a.Until.IsZero() && !now.Before(a.Until) }

// Limits are how much the namespaces may have together. Nil: any number.
type Limits struct{ Tenants, Domains, Sources *int }
