package distributiontenant

import (
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
)

// zonesKnown finds out which zones the domains of a tenant belong to.
func zonesKnown(in Input) (Decision, bool) {
	if !in.World.present() {
		return pass()
	}
	return placed(in)
}

// placed looks up what is still needed to know where the records belong.
func placed(in Input) (Decision, bool) {
	switch in.facts.publication.Lacks {
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

// publishedFirst holds a tenant back whose domains CloudFront would refuse, until they lead
// to it. What else AWS could refuse is asked before.
func publishedFirst(in Input) (Decision, bool) {
	if roleStopsCreate(in) {
		return rest(chain.Problem{Reason: publication.ReasonRoleNotAllowed, Message: publication.RoleText(in.Desired.DNS, in.Policy.DeniedRole), Of: DNSReady}, 0)
	}
	if in.World.present() || !in.facts.first || in.facts.waiting || in.World.Refused != nil {
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
	if !in.facts.publication.Published {
		return awaitPublished(in)
	}
	return awaitVisible(in)
}

// awaitPublished waits for the records that come before the tenant.
func awaitPublished(in Input) (Decision, bool) {
	c := in.facts.publication.Ready
	if c.Status {
		c.Reason, c.Message = publication.ReasonDNSRecordCreating, "The operator checks the DNS records before it creates the distribution tenant."
	}
	if in.facts.retrying && publication.Passes(c.Reason) {
		return do(Rest{KeepConditions: true})
	}
	return rest(chain.Problem{Reason: c.Reason, Message: c.Message, Detail: c.Detail, Of: DNSReady}, 0)
}

// roleStopsCreate reports whether CloudFront would refuse the tenant for domains that the
// operator may not lead to it.
func roleStopsCreate(in Input) bool {
	r := in.facts.certificate.Request
	return !in.World.present() && r != nil && r.ValidationTokenHost != certificate.SelfHosted && in.Desired.DNS != nil && in.Policy.DeniedRole != ""
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
func awaitVisible(in Input) (Decision, bool) {
	switch {
	case !in.World.AsksResolvers, in.World.Visible:
		return pass()
	case !in.World.VisibleKnown:
		return do(Look{At: LookVisible})
	}
	return rest(chain.Problem{Reason: publication.ReasonDNSPropagating, Of: DNSReady, Message: "The DNS records are in sync. Waiting until public resolvers return them."}, visibleEvery)
}

// MissesPlace reports whether there is no zone to publish in, or nothing known to lead to: nothing else tells when
// there is.
func MissesPlace(in Input, r Report) bool {
	if in.Desired.DNS != nil && in.World.RoutingKnown && in.World.RoutingEndpoint == "" {
		return true
	}
	return slices.ContainsFunc(r.Conditions, func(c chain.Condition) bool {
		return c.Type == DNSReady && (c.Reason == publication.ReasonZoneNotFound || c.Reason == publication.ReasonZoneAmbiguous)
	})
}
