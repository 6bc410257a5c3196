package claim

import (
	"fmt"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// The reasons of the conditions.
const (
	ReasonDomainClaimed  chain.Reason = "DomainClaimed"
	ReasonClaimNotStored chain.Reason = "ClaimNotStored"
)

// Claim says that only one namespace may have a domain, or only one object of it.
type Claim struct {
	// UID and Version are those of the object that it is stored in. Empty: it is not stored.
	UID, Version string
	Domain       string
	Namespace    string
	// Subdomains extends it to everything below the domain.
	Subdomains bool
	// HandOver takes the domain from the object that serves it, in favor of the namespace.
	HandOver bool
	// Receiver is the name of the only object of the namespace to which the domain is handed over. Empty: to any of them.
	Receiver string
	// FromDistribution is the ID of the standard distribution that the domain is moved from, instead of from an object.
	FromDistribution string
	// Until is when it ends. Zero: never.
	Until time.Time
	// Since is when it was made.
	Since time.Time
	// ReleasedBy is the name of the object that has released the domain. Empty: an administrator made the claim.
	ReleasedBy string
	// Reported is true where status says all this.
	Reported bool
}

// Held reports whether the operator has made the claim, for a domain that was released.
func (c Claim) Held() bool { return c.ReleasedBy != "" }

// The phases of a claim.
const (
	Reserved = "Reserved"
	HandOver = "HandOver"
	Held     = "Held"
)

// Phase says what the claim is for.
func (c Claim) Phase() string {
	switch {
	case c.Held():
		return Held
	case c.HandOver:
		return HandOver
	}
	return Reserved
}

// Ended reports whether its time is over.
func (c Claim) Ended(now time.Time) bool { return !c.Until.IsZero() && !now.Before(c.Until) }

// Covers reports whether the claim is about a domain: its own, one below it, or one that can't belong to another namespace.
func (c Claim) Covers(domain string) bool {
	return meet(domain, c.Domain) || c.Subdomains && strings.HasSuffix(domain, "."+strings.TrimPrefix(c.Domain, wildcardLabel))
}

// reaches reports whether it is for a domain other than its own, which is below it.
func (c Claim) reaches(domain string) bool {
	// While a wildcard is held, what it served is.
	return c.Subdomains || c.Held() && covers(c.Domain, domain)
}

// For reports whether the claim lets the object have a domain that it decides on. A receiver is named for the claim's own
// domain: what is below it is the namespace's.
func (c Claim) For(key Key, domain string) bool {
	return c.Namespace == key.Namespace && (!c.names(domain) || c.Receiver == key.Name && key.Kind == "")
}

// names reports whether one object alone gets the domain, also from others of its namespace.
func (c Claim) names(domain string) bool {
	return c.HandOver && c.Receiver != "" && c.Domain == domain
}

// Key names an object. Kind is empty for a DistributionTenant.
type Key struct{ Kind, Namespace, Name string }

// The kinds of a Distribution, whose domains are its aliases, and of a ConnectionGroup, whose are its targets.
const (
	KindDistribution    = "Distribution"
	KindConnectionGroup = "ConnectionGroup"
)

// field is the one of the spec that has the domains.
func (k Key) field() string {
	switch k.Kind {
	case KindDistribution:
		return "spec.aliases"
	case KindConnectionGroup:
		return "spec.customerTargets"
	}
	return "spec.domains"
}

// Object is an object with domains.
type Object struct {
	Key
	UID     string
	Created time.Time
}

// Stake is what an object has of a domain. The larger one wins.
type Stake int

// The stakes.
const (
	// Unproven is that of an object that has to prove the domain before it may ask for it.
	Unproven Stake = iota - 1
	// Wants is that of an object that only asks for the domain.
	Wants
	// Admitted is that of one that was let have it, and is on its way.
	Admitted
	// InAWS is that of one whose tenant has the domain, and does not serve it.
	InAWS
	// Recorded is that of one in whose ledger the domain is.
	Recorded
	// Serves is that of one for which CloudFront answers on the domain.
	Serves
)

// Domain is a domain that an object has, or wants.
type Domain struct {
	Name  string
	Stake Stake
	// Wanted is true where the object asks for it.
	Wanted bool
}

// Refusal is why an object may not have a domain.
type Refusal struct {
	Domain string
	// field is the one of the spec that has the domain.
	field string
	// to is the object of the same namespace to which the domain is handed over. Empty: another namespace has it.
	to string
	// claim or holder is what has it.
	claim  *Claim
	holder *holding
}

// Halt is what stops the object. It names nothing of another namespace, and the detail does.
func (r Refusal) Halt() *chain.Halt {
	if r.to != "" {
		return &chain.Halt{Reason: ReasonDomainClaimed, Alone: true, Message: fmt.Sprintf(
			"%s has %s, which is handed over to the DistributionTenant %s of this namespace. Nothing is changed in AWS for this object. Remove the domain from the spec as soon as %s is Ready, or ask the platform team to delete the DomainClaim %s.",
			r.field, r.Domain, r.to, r.to, Name(r.Domain))}
	}
	h := &chain.Halt{Reason: ReasonDomainClaimed, Alone: true, Message: fmt.Sprintf(
		"%s has %s, which is taken or reserved outside of this namespace. Nothing is changed in AWS for this object. Remove the domain from the spec, or ask the platform team for it: it is available once it has been released, or with a DomainClaim for this namespace.", r.field, r.Domain)}
	switch {
	case r.claim != nil:
		h.Detail = fmt.Sprintf("%s is refused by the DomainClaim %s, which is for the namespace %s.", r.Domain, Name(r.claim.Domain), r.claim.Namespace)
	case r.holder != nil:
		h.Detail = fmt.Sprintf("%s is refused because of %s of the object %s/%s.", r.Domain, r.holder.domain, r.holder.of.Namespace, r.holder.of.Name)
	}
	return h
}

// NotStored is what an object says whose domains stay in AWS, because a claim for them could not be stored.
func NotStored(domains []string, why string) string {
	return fmt.Sprintf("%s stays in AWS until a DomainClaim holds it for this namespace, which could not be stored: %s", prose.List(domains), why)
}
