package distributiontenant

import (
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

// publishes reports whether the operator publishes records for the object.
func (in Input) publishes() bool {
	return in.Desired.DNS != nil && in.Policy.DeniedRole == "" && !in.Deleting
}

// Wants are the records that are due now, and those that may stay in DNS after a deletion. The extent says how much that is
// of the records that are wanted: all of them, once it is known where they belong and lead, as far as that matters now.
// Before the tenant was looked for, that is not known, and at the end of an object not either which of its records may stay.
// The ledger stays as it is meanwhile, unless it is abandoned.
func (in Input) Wants() ([]dns.Record, dns.Extent) {
	p, extent := judge(in).publication, dns.Partial
	switch {
	case in.unlooked() && (in.Deleting && !in.Policy.AbandonDNS || !p.Placed):
		extent = dns.Blind
	case p.Placed:
		extent = dns.Whole
	}
	return p.Wants, extent
}

// publicationCase is what is known of the records.
func (in judged) publicationCase() publication.Case {
	w, v := in.World, in.resource
	c := publication.Case{
		Spec: in.Desired.DNS, Domains: in.Desired.Domains, Unproven: domainsOf(in.unproven), Namespace: in.Me.Namespace, Generation: in.Generation,
		Deleting: in.Deleting, Still: in.Still(), Held: v.Held() || in.awaitsKeys(), InDoubt: in.inDoubt(v), Reclaims: in.Rescued, Inherits: w.Inherits, HasFinalizer: in.HasFinalizer, Abandoned: in.Policy.AbandonDNS,
		Retained: in.retainsTenant(), Drift: in.Policy.Drift, DeniedRole: in.Policy.DeniedRole,
		Unresolved: in.Unresolved(), Blind: w.Unreadable != nil || !in.oriented(),
		Publishes: in.publishes(), First: in.first,
		Stays:    in.turn.waitsWith(dnsField),
		Requests: in.certificate.Request != nil, Underway: in.certificate.Stage == certificate.Underway, Refused: in.failure.refused,
		Zones: w.Zones, ZonesKnown: w.ZonesKnown, Unlisted: w.Unlisted, IPv6: w.IPv6, IPv6Known: w.IPv6Known,
		EndpointText: in.endpointText(), EndpointKnown: w.RoutingKnown || w.RoutingEndpoint != "",
		Routed: w.RoutingKnown, Ledger: in.Memory.Ledger, View: w.DNS,
		Tenant: publication.Tenant{
			Present: w.present(), Ours: v.Mine(), Unknown: w.Knowledge == resource.Nothing, Doubted: !in.Attempts.Doubted.IsZero(),
			Remembered: in.Memory.ID != "", Perhaps: in.Memory.ID != "" || !in.CreateMark.IsZero(),
		},
	}
	if c.Endpoint = w.RoutingEndpoint; !c.EndpointKnown && v.Applied {
		c.Endpoint = in.Memory.RoutingEndpoint
	}
	if before, had := in.Memory.Conditions[DNSReady]; had {
		c.Before = &before
	}
	if t := w.Tenant; t != nil {
		c.Tenant.Domains, c.Tenant.Settled = t.Domains, t.Status == Deployed
		for _, d := range append(slices.Clone(in.Desired.Domains), t.Domains...) {
			if in.serves(d) {
				c.Tenant.Served = append(c.Tenant.Served, d)
			}
		}
	}
	return c
}

// zonesKnown finds out which zones the domains of a tenant belong to.
func zonesKnown(in judged) (Decision, bool) {
	if !in.World.present() {
		return pass()
	}
	return placed(in)
}

// placed looks up what is still needed to know where the records belong.
func placed(in judged) (Decision, bool) {
	switch in.publication.Lacks {
	case publication.LacksZones:
		return do(Look{At: LookZones})
	case publication.LacksEndpoint:
		return do(Look{At: LookRouting})
	case publication.LacksIPv6:
		return do(Look{At: LookIPv6})
	case publication.LacksNothing:
	}
	return pass()
}

// publishedFirst delays a tenant whose domains CloudFront would refuse, until they lead to it. All other reasons for a
// refusal are checked before.
func publishedFirst(in judged) (Decision, bool) {
	if roleStopsCreate(in) {
		return rest(chain.Problem{Reason: publication.ReasonRoleNotAllowed, Message: publication.RoleText(in.Desired.DNS, in.Policy.DeniedRole), Of: DNSReady}, 0)
	}
	if in.World.present() || !in.first || in.failure.waiting || in.World.Refused != nil {
		return pass()
	}
	if d, fires := preflight(in); fires {
		return d, true
	}
	if d, fires := placed(in); fires {
		return d, true
	}
	if !in.HasFinalizer {
		// The ledger of an object that could go without being asked would be no ledger.
		return do(EnsureFinalizer{})
	}
	if !in.publication.Published {
		return awaitPublished(in)
	}
	return awaitVisible(in)
}

// awaitPublished waits for the records that come before the tenant.
func awaitPublished(in judged) (Decision, bool) {
	c := in.publication.Ready
	if c.Status {
		c.Reason, c.Message = publication.ReasonDNSRecordCreating, "The operator checks the DNS records before it creates the distribution tenant."
	}
	if in.failure.retrying && publication.Passes(c.Reason) {
		return do(Rest{KeepConditions: true})
	}
	return rest(chain.Problem{Reason: c.Reason, Message: c.Message, Detail: c.Detail, Of: DNSReady}, 0)
}

// roleStopsCreate reports whether CloudFront would refuse the tenant for domains that the
// operator may not lead to it.
func roleStopsCreate(in judged) bool {
	return !in.World.present() && in.ledFirst() && in.Desired.DNS != nil && in.Policy.DeniedRole != ""
}

// visibleEvery is the pause between two questions to public DNS, VisiblePatience how long its
// answer is waited for.
const (
	visibleEvery    = 10 * time.Second
	VisiblePatience = 5 * time.Minute
)

// awaitVisible asks public resolvers, where that was set up, whether they see the records
// that the provider says are in sync. It saves creates that AWS would refuse, and only ever
// delays: a resolver that lags for minutes must not keep a tenant from being created.
func awaitVisible(in judged) (Decision, bool) {
	switch {
	case !in.World.AsksResolvers, in.World.Visible:
		return pass()
	case !in.World.VisibleKnown:
		return do(Look{At: LookVisible})
	}
	return rest(chain.Problem{Reason: publication.ReasonDNSPropagating, Of: DNSReady, Message: "The DNS records are in sync. Waiting until public resolvers return them."}, visibleEvery)
}

// MissingPlace is the pause before a zone to publish in, or an endpoint to lead to, is looked for again: nothing else
// tells when there is one. Zero: none is missing.
func MissingPlace(in Input, r Report) time.Duration {
	unrouted := in.World.RoutingKnown && in.World.RoutingEndpoint == ""
	unplaced := slices.ContainsFunc(r.Conditions, func(c chain.Condition) bool {
		return c.Type == DNSReady && (c.Reason == publication.ReasonZoneNotFound || c.Reason == publication.ReasonZoneAmbiguous)
	})
	switch {
	case unplaced, unrouted && in.Desired.DNS != nil:
		return retry.Places.First
	case unrouted:
		// The permission to list connection groups is optional.
		return retry.Places.Next(in.Attempts.Unrouted, in.Now).Sub(in.Now)
	}
	return 0
}
