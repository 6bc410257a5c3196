package grant

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/identity"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// Thing is what an object may want.
type Thing int

// The things.
const (
	// AKind is the object itself.
	AKind Thing = iota
	// ADistribution and AGroup are IDs, or objects of other namespaces as "namespace/name".
	ADistribution
	AGroup
	// AParameter is a value for the parameter Name of the distribution Of.
	AParameter
	ADomain
	// AnAlias and ATarget are domains that can't be proven.
	AnAlias
	ATarget
	ACertificate
	AWebACL
	NoWebACL
	AGeoRestriction
	// AKeyValueStore is one of that ARN, AKey the key Value in the store Of, and AKeyTakeover a replacement there: of the key
	// Name or, where it is empty, of those of the domains.
	AKeyValueStore
	AKey
	AKeyTakeover
	// AnOrigin and those after it are what a distribution uses.
	AnOrigin
	AVPCOrigin
	AnAccessControl
	AFunction
	AKeyGroup
	// ATrustStore is granted with the key groups: both say whose keys are trusted.
	ATrustStore
	AnEncryption
	// ALogBucket and ALogConfig are where logs go.
	ALogBucket
	ALogConfig
	// Records are DNS records, in the zone Value of Route 53 or, where it is empty, in the ones that have the domains.
	Records
	// RecordsAt are DNS records at another provider, in the zones that have the domains.
	RecordsAt
	ATakeover
	ARole
	ATable
	AStateTable
	AHost
	// ALogin is one to a database with a token of IAM.
	ALogin
	// AnAdoption is the right to adopt the resource of that name. Forced is one from its owner.
	AnAdoption
	AForcedAdoption
)

// Want is one thing that an object wants, with the field that says so. The whole object has none.
type Want struct {
	Thing        Thing
	Field, Value string
	// Fixed means that the field can't be changed.
	Fixed bool
	// Name and Of are those of AParameter and AKeyTakeover, Of that of AKey.
	Name, Of string
	// Provider is that of RecordsAt.
	Provider dns.Provider
}

// Crosses reports whether it is an object of another namespace.
func (w Want) Crosses() bool {
	return (w.Thing == ADistribution || w.Thing == AGroup) && strings.Contains(w.Value, "/")
}

// term is how one thing is judged, and told.
type term struct {
	// noun is followed by the value, unless it says where that is.
	noun string
	// allows reports whether the grant has it; list is what it has instead.
	allows func(*Grant, Want) bool
	list   func(*Grant, Want) []string
}

// terms has one for each thing.
var terms = map[Thing]term{
	AKind: {"objects of the kind", func(g *Grant, w Want) bool { return slices.Contains(g.Kinds, w.Value) },
		func(g *Grant, _ Want) []string { return g.Kinds }},
	ADistribution: {"the distribution", func(g *Grant, w Want) bool { return len(g.distributions(w.Value)) > 0 },
		func(g *Grant, _ Want) []string {
			return each(g.Distributions, func(d Distribution) string { return d.Is })
		}},
	AGroup: {"the connection group", func(g *Grant, w Want) bool { return anyIs(g.Groups, w.Value) },
		func(g *Grant, _ Want) []string { return g.Groups }},
	AParameter: {"the value", func(g *Grant, w Want) bool { return g.allowsParameter(w) }, (*Grant).parameterValues},
	ADomain: {"the domain", func(g *Grant, w Want) bool { return g.allowsDomain(w.Value) },
		func(g *Grant, _ Want) []string { return each(g.Domains, Domain.String) }},
	AnAlias:      {"the alias", (*Grant).allowsUnproven, (*Grant).unprovenDomains},
	ATarget:      {"the customer target", (*Grant).allowsUnproven, (*Grant).unprovenDomains},
	ACertificate: listed("the certificate", func(g *Grant) []string { return g.Certificates }),
	AWebACL:      listed("the web ACL", func(g *Grant) []string { return g.WebACLs }),
	NoWebACL:     {"disabling the web ACL", func(g *Grant, _ Want) bool { return g.NoWebACL }, nothing},
	AGeoRestriction: {"overriding the geographic restrictions of the distribution",
		func(g *Grant, _ Want) bool { return g.GeoRestrictions }, nothing},
	AKeyValueStore: {"the key value store", func(g *Grant, w Want) bool { return len(g.stores(w.Value)) > 0 },
		func(g *Grant, _ Want) []string { return each(g.Stores, func(s Store) string { return s.ARN }) }},
	AKey: {"the key", func(g *Grant, w Want) bool { return anyMatches(g.keys(w), w.Value) }, (*Grant).keys},
	AKeyTakeover: {"replacing existing keys", func(g *Grant, w Want) bool {
		return slices.ContainsFunc(g.stores(w.Of), func(s Store) bool {
			return s.Takeover && (w.Name == "" || anyMatches(s.Keys, w.Name))
		})
	}, nothing},
	AnOrigin: {"the origin", func(g *Grant, w Want) bool { return len(g.Origins) == 0 || anyMatches(g.Origins, w.Value) },
		func(g *Grant, _ Want) []string { return g.Origins }},
	AVPCOrigin:      listed("the VPC origin", func(g *Grant) []string { return g.VPCOrigins }),
	AnAccessControl: listed("the origin access control", func(g *Grant) []string { return g.AccessControls }),
	AFunction:       listed("the function", func(g *Grant) []string { return g.Functions }),
	AKeyGroup:       listed("the key group", func(g *Grant) []string { return g.KeyGroups }),
	ATrustStore:     listed("the trust store", func(g *Grant) []string { return g.KeyGroups }),
	AnEncryption:    listed("the field-level encryption", func(g *Grant) []string { return g.Encryptions }),
	ALogBucket:      listed("the log bucket", func(g *Grant) []string { return g.LogBuckets }),
	ALogConfig:      listed("the real-time log configuration", func(g *Grant) []string { return g.LogBuckets }),

	Records:     {"DNS records in the hosted zone", func(g *Grant, w Want) bool { return g.publishes(dns.Provider{}, w.Value) }, (*Grant).zoneTexts},
	RecordsAt:   {"DNS records at the provider", func(g *Grant, w Want) bool { return g.publishes(w.Provider, "") }, (*Grant).zoneTexts},
	ATakeover:   {"replacing existing DNS records", func(g *Grant, _ Want) bool { return g.Takeover() != TakeoverNever }, nothing},
	ARole:       {"the role", func(g *Grant, w Want) bool { return g.Roles.Allows(w.Value) }, nothing},
	ATable:      listed("the table", func(g *Grant) []string { return g.Tables }),
	AStateTable: listed("the state table", func(g *Grant) []string { return g.WriteTables }),
	AHost: {"the host", func(g *Grant, w Want) bool { return AllowsHost(g.Hosts, w.Value) },
		func(g *Grant, _ Want) []string { return g.Hosts }},
	ALogin: listed("the login", func(g *Grant) []string { return g.Logins }),
	AnAdoption: {"adopting", func(g *Grant, w Want) bool { return g.adoptable(w.Value, false) },
		func(g *Grant, _ Want) []string { return g.adoptables() }},
	AForcedAdoption: {"adopting %s with Force", func(g *Grant, w Want) bool { return g.adoptable(w.Value, true) },
		func(g *Grant, _ Want) []string { return g.adoptables() }},
}

// listed is a thing of which the grant has a list of patterns.
func listed(noun string, patterns func(*Grant) []string) term {
	return term{noun, func(g *Grant, w Want) bool { return anyMatches(patterns(g), w.Value) },
		func(g *Grant, _ Want) []string { return patterns(g) }}
}

func nothing(*Grant, Want) []string { return nil }

// is reports whether the entry of a grant stands for the value. "*" stands for every ID, but for no object of another
// namespace: those are named.
func is(entry, value string) bool {
	return entry == value || entry == every && !strings.Contains(value, "/")
}

func anyIs(entries []string, value string) bool {
	return slices.ContainsFunc(entries, func(e string) bool { return is(e, value) })
}

func anyMatches(patterns []string, value string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return identity.Matches(p, value) })
}

func each[T any](items []T, text func(T) string) []string {
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = text(item)
	}
	return out
}

// distributions are the entries for that one.
func (g *Grant) distributions(one string) []Distribution {
	return slices.DeleteFunc(slices.Clone(g.Distributions), func(d Distribution) bool { return !is(d.Is, one) })
}

// allowsParameter reports whether an entry for the distribution allows the value.
func (g *Grant) allowsParameter(w Want) bool {
	return slices.ContainsFunc(g.distributions(w.Of), func(d Distribution) bool {
		values, limited := d.Parameters[w.Name]
		return !limited || anyMatches(values, w.Value)
	})
}

// stores are the entries for the key value store.
func (g *Grant) stores(arn string) []Store {
	return slices.DeleteFunc(slices.Clone(g.Stores), func(s Store) bool { return !identity.Matches(s.ARN, arn) })
}

// keys are those that may be named in the store of a want.
func (g *Grant) keys(w Want) (out []string) {
	for _, s := range g.stores(w.Of) {
		out = append(out, s.Keys...)
	}
	return out
}

func (g *Grant) parameterValues(w Want) (out []string) {
	for _, d := range g.distributions(w.Of) {
		out = append(out, d.Parameters[w.Name]...)
	}
	return out
}

// wildcard starts a domain that covers all names below one.
const wildcard = "*."

func (g *Grant) allowsDomain(domain string) bool {
	host, isWildcard := strings.CutPrefix(domain, wildcard)
	if isWildcard && !g.Wildcards {
		return false
	}
	return slices.ContainsFunc(g.Domains, func(d Domain) bool { return d.has(host, isWildcard) })
}

// DemandsProof reports whether the domain is granted only if the namespace proves it.
func (g *Grant) DemandsProof(domain string) bool {
	host, isWildcard := strings.CutPrefix(domain, wildcard)
	demands := false
	for _, d := range g.Domains {
		if !d.has(host, isWildcard) {
			continue
		}
		if !d.Proven {
			return false
		}
		demands = true
	}
	return demands
}

func (g *Grant) unprovenDomains(Want) (out []string) {
	for _, d := range g.Domains {
		if !d.Proven {
			out = append(out, d.String())
		}
	}
	return out
}

// has reports whether the entry is for the domain, or for all domains below it.
func (d Domain) has(host string, below bool) bool {
	if d.Suffix != every && !within(host, d.Suffix) {
		return false
	}
	return !slices.ContainsFunc(d.Except, func(except string) bool {
		_, parent, _ := strings.Cut(except, ".")
		// A wildcard covers an exception that is right below its host, as well.
		return within(host, except) || below && parent == host
	})
}

// within reports whether a name is the domain or below it.
func within(name, domain string) bool { return name == domain || strings.HasSuffix(name, "."+domain) }

// String is the domain as messages show it.
func (d Domain) String() string {
	text := d.Suffix
	if text == every {
		text = "all domains"
	}
	if len(d.Except) > 0 {
		text += " except " + prose.List(d.Except)
	}
	if d.Proven {
		text += " (if proven)"
	}
	return text
}

// allowsUnproven reports whether an object may have a domain that can't be proven.
func (g *Grant) allowsUnproven(w Want) bool {
	return g.allowsDomain(w.Value) && !g.DemandsProof(w.Value)
}

// Zone reports whether records may be in the zone.
func (g *Grant) Zone(z dns.Zone) bool { return g.publishes(z.Provider, z.ID) }

// publishes reports whether records may be in the zone of the provider, or, where the id is empty, in any.
func (g *Grant) publishes(p dns.Provider, id string) bool {
	return slices.ContainsFunc(g.zones(), func(z Zone) bool { return z.at(p) && (id == "" || z.ID == id || z.ID == every) })
}

func (g *Grant) zones() []Zone {
	if g.DNS == nil {
		return nil
	}
	return g.DNS.Zones
}

func (g *Grant) zoneTexts(Want) []string { return each(g.zones(), Zone.String) }

// Takeover is which records may be replaced.
func (g *Grant) Takeover() Takeover {
	if g.DNS == nil || g.DNS.Takeover == "" {
		return TakeoverNever
	}
	return g.DNS.Takeover
}

// AllowsHost reports whether tables may be read from host:port.
func AllowsHost(hosts []string, address string) bool {
	host := address
	if i := strings.LastIndex(address, ":"); i >= 0 {
		host = address[:i]
	}
	return slices.ContainsFunc(hosts, func(p string) bool {
		return identity.Matches(p, address) || !strings.Contains(p, ":") && identity.Matches(p, host)
	})
}

// Adopts reports whether the resource of that name may be adopted now; force means, from its owner.
func (g *Grant) Adopts(name string, force bool, now time.Time) bool {
	return g.adoptable(name, force) && !g.Adoption.Over(now)
}

func (g *Grant) adoptable(name string, force bool) bool {
	return g.Adoption != nil && (g.Adoption.Force || !force) && anyMatches(g.Adoption.Names, name)
}

func (g *Grant) adoptables() []string {
	if g.Adoption == nil {
		return nil
	}
	return g.Adoption.Names
}

// Usage is what the namespaces of a grant have together, and what one object would add.
type Usage struct{ Tenants, Domains, Sources int }

// Exceeds says which limit an object would exceed, nil for none.
func (g *Grant) Exceeds(has, adds Usage) *Refusal {
	for _, l := range []struct {
		field     string
		limit     *int
		has, adds int
	}{
		{"limits.tenants", g.Limits.Tenants, has.Tenants, adds.Tenants},
		{"limits.domains", g.Limits.Domains, has.Domains, adds.Domains},
		{"limits.sources", g.Limits.Sources, has.Sources, adds.Sources},
	} {
		if l.limit != nil && l.adds > 0 && l.has+l.adds > *l.limit {
			return &Refusal{"", fmt.Sprintf("%s has %s %d, and %d of them are used. Delete some, or ask an administrator of the platform to raise it.",
				g.Called(), l.field, *l.limit, l.has)}
		}
	}
	return nil
}

// Plus adds two.
func (u Usage) Plus(o Usage) Usage {
	return Usage{u.Tenants + o.Tenants, u.Domains + o.Domains, u.Sources + o.Sources}
}

// Minus takes one from the other.
func (u Usage) Minus(o Usage) Usage {
	return Usage{u.Tenants - o.Tenants, u.Domains - o.Domains, u.Sources - o.Sources}
}
