// Package advice says at admission what would otherwise be said by a condition some time later. It judges by what is
// known at that moment, and does not warn about anything unknown.
package advice

import (
	"fmt"
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/upstream"
)

// Check is one of the questions that are asked of a tenant.
type Check string

// The checks, in the order in which their warnings are given.
const (
	NotGranted          Check = "not-granted"
	DomainTaken         Check = "domain-taken"
	UnknownDistribution Check = "unknown-distribution"
	Parameters          Check = "parameters"
	DNS                 Check = "dns"
)

// Checks are all of them.
var Checks = []Check{NotGranted, DomainTaken, UnknownDistribution, Parameters, DNS}

// Warning is what one check has to say.
type Warning struct {
	Check   Check
	Message string
}

// Desired is what is known of the tenant from its object.
type Desired struct {
	Namespace string
	// DistributionID and DistributionRef are the two ways to name a distribution, of which one is empty.
	DistributionID, DistributionRef string
	Parameters                      map[string]string
	// Managed means that CloudFront is asked for a certificate, and Hosted that CloudFront answers its challenge.
	Managed, Hosted bool
	// Publishes means that the operator publishes the records of the domains.
	Publishes bool
}

// Holder is another object that has one of the domains.
type Holder struct{ Domain, Namespace, Name string }

// Distribution is what is known of the distribution.
type Distribution struct {
	// Known is false if nothing is.
	Known bool
	// Missing means that there is no such distribution in AWS, or no such object.
	Missing bool
	// MultiTenant reports whether it can have tenants.
	MultiTenant bool
	// Name is its ID, or that of its object before it has one.
	Name       string
	Parameters []upstream.Parameter
}

// Known is what is known besides the object.
type Known struct {
	// NotGranted says why the namespace may not have what the tenant asks for. Then nothing else is known, or said: what
	// others have is none of its business.
	NotGranted   string
	Holders      []Holder
	Distribution Distribution
	// Sights are what DNS shows of some of the domains.
	Sights []Sight
	// Target is the routing endpoint that the domains have to point to; empty if it is not known.
	Target string
}

// Of returns what is to be said of a tenant.
func Of(d Desired, k Known) []Warning {
	var out []Warning
	say := func(c Check, messages ...string) {
		for _, m := range messages {
			if m != "" {
				out = append(out, Warning{Check: c, Message: m})
			}
		}
	}
	if k.NotGranted != "" {
		say(NotGranted, k.NotGranted)
		return out
	}
	for _, h := range k.Holders {
		say(DomainTaken, h.text(d.Namespace))
	}
	say(UnknownDistribution, unknown(d, k.Distribution))
	if u := k.Distribution; u.Known && !u.Missing && u.MultiTenant {
		say(Parameters, upstream.Lacking(u.Name, d.Parameters, u.Parameters), upstream.Undeclared(u.Name, d.Parameters, u.Parameters))
	}
	for _, s := range k.Sights {
		say(DNS, s.unreachable(d, k.Target), s.forbidden(d))
	}
	return out
}

// Denied returns the warnings of the checks that deny.
func Denied(warnings []Warning, deny []Check) []Warning {
	var out []Warning
	for _, w := range warnings {
		if slices.Contains(deny, w.Check) {
			out = append(out, w)
		}
	}
	return out
}

// text names the object to users who may know of it: the objects of other namespaces are other teams' matter, and can't
// be changed by this one.
func (h Holder) text(namespace string) string {
	whose, fix := "a DistributionTenant in another namespace", "Remove it, or ask an administrator of the platform for it."
	if h.Namespace == namespace {
		whose, fix = "the DistributionTenant "+prose.Quote(h.Name)+" in this namespace", "Remove it from one of them."
	}
	return fmt.Sprintf("spec.domains: %s is already a domain of %s, and a domain can belong to only one tenant. %s", h.Domain, whose, fix)
}

func unknown(d Desired, u Distribution) string {
	named := "spec.distributionId " + d.DistributionID
	if d.DistributionRef != "" {
		named = "spec.distributionRef " + d.DistributionRef
	}
	switch {
	case !u.Known:
		return ""
	case u.Missing && d.DistributionRef != "":
		return named + ": there is no such Distribution object in this namespace. Create it, or correct the name."
	case u.Missing:
		return upstream.Missing(named)
	case !u.MultiTenant:
		return upstream.NotMultiTenant(named)
	}
	return ""
}
