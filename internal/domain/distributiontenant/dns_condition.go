package distributiontenant

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// roleText says which role was not granted, and what to do about it.
func (in Input) roleText() string {
	role := in.Policy.DeniedRole
	if spec := in.Desired.DNS; spec != nil && spec.RoleARN == role {
		return fmt.Sprintf("The administrator has not granted the role %s: ask for it in --allowed-roles, or name another one in spec.dns.assumeRoleArn. No call was made with it.", role)
	}
	return fmt.Sprintf("The administrator has not granted the role %s, with which DNS records were published and have to be removed: ask for it in --allowed-roles. No call was made with it.", role)
}

// unlistedText says why the zones can't be read.
func (in Input) unlistedText() string {
	text := in.World.Unlisted.Error()
	if in.World.Unlisted.Kind == fault.Denied && in.Desired.DNS.RoleARN == "" {
		text = strings.TrimSuffix(text, ".") + ". If the zone is in another account, name a role of it in spec.dns.assumeRoleArn."
	}
	return text
}

// dnsCondition says how far the records are.
func (in Input) dnsCondition() chain.Condition {
	no := func(reason chain.Reason, message string) chain.Condition {
		return chain.Condition{Type: DNSReady, Reason: reason, Message: message}
	}
	switch {
	case in.Policy.DeniedRole != "":
		return no(ReasonRoleNotAllowed, in.roleText())
	case in.Desired.DNS == nil && len(in.nextLedger()) > 0:
		return chain.Condition{Type: DNSReady, Status: true, Reason: ReasonDNSNotConfigured, Message: "No DNS records are asked for; those that were published are being removed."}
	case in.Desired.DNS == nil:
		return chain.Condition{Type: DNSReady, Status: true, Reason: ReasonDNSNotConfigured, Message: "No DNS records are asked for."}
	case in.Deleting:
		return in.retractingCondition()
	case in.World.Unlisted != nil:
		return no(ReasonDNSError, in.unlistedText())
	}
	if before, had := in.Memory.Conditions[DNSReady]; had && before.Generation == in.Generation && (in.unread() || in.unjudged()) {
		return before
	}
	worst := chain.Condition{Type: DNSReady, Status: true, Reason: ReasonDNSReady, Message: fmt.Sprintf("Every domain leads to %s.", in.endpointText())}
	for _, d := range in.Desired.Domains {
		if c := in.domainCondition(d); !c.Status && severity(c.Reason) > severity(worst.Reason) {
			worst = c
		}
	}
	return worst
}

// dnsGeneration is the generation that the condition speaks of.
func (in Input) dnsGeneration() int64 {
	if before, had := in.Memory.Conditions[DNSReady]; had && in.unjudged() {
		return before.Generation
	}
	return in.Generation
}

// unjudged reports whether it was not found out what the present generation asks for: the object
// is paused, or something else stops the pass before. The ledger may be that of the generation
// before then; to call it enough would forget the change for ever.
func (in Input) unjudged() bool {
	return len(in.Memory.Ledger) > 0 && !in.Deleting && !in.knowsPlaces()
}

func (in Input) retractingCondition() chain.Condition {
	if len(in.nextLedger()) == 0 {
		return chain.Condition{Type: DNSReady, Status: true, Reason: ReasonDNSNotConfigured, Message: "No DNS record of this object is left."}
	}
	if in.Policy.Retain {
		return chain.Condition{Type: DNSReady, Status: true, Reason: ReasonDNSReady, Message: "The DNS records stay with the distribution tenant, as deletionPolicy Retain asks."}
	}
	return chain.Condition{Type: DNSReady, Reason: ReasonDNSPropagating, Message: "The DNS records are being removed."}
}

// unread reports whether a zone was not read yet by this process: it believes what the one before
// it saw, until it has seen for itself.
func (in Input) unread() bool {
	return slices.ContainsFunc(in.wants(), func(r dns.Record) bool {
		s := in.World.DNS.Of(r)
		return s.Phase == dns.Unknown && s.Err == nil
	})
}

// severity orders the reasons for DNS not being ready: what needs a person comes first.
func severity(r chain.Reason) int {
	return slices.Index([]chain.Reason{
		ReasonDNSReady, ReasonDNSPropagating, ReasonDNSRecordCreating, ReasonDNSError, ReasonDNSConflict, ReasonZoneAmbiguous, ReasonZoneNotFound,
	}, r)
}

// domainCondition says how far the records of one domain are.
func (in Input) domainCondition(domain string) chain.Condition {
	no := func(reason chain.Reason, format string, args ...any) chain.Condition {
		return chain.Condition{Type: DNSReady, Reason: reason, Message: fmt.Sprintf(format, args...)}
	}
	if in.World.ZonesKnown && in.endpoint() != "" {
		if _, problem := in.rendered(domain); problem != nil {
			return no(problem.Reason, "%s", problem.Message)
		}
	}
	if in.Unresolved() && !in.mayPublish(domain) {
		return no(ReasonDNSRecordCreating, "%s is published once what the spec names by its object is there.", domain)
	}
	if in.provesByDNS() && in.withdrawn(domain) {
		return no(ReasonDNSRecordCreating, "%s is published when the distribution tenant can have it.", domain)
	}
	if !in.mayPublish(domain) {
		return no(ReasonDNSRecordCreating, "%s is published once CloudFront answers for it.", domain)
	}
	records := in.wanted(domain)
	if len(records) == 0 {
		return in.unplaced(domain)
	}
	worst := chain.Condition{Type: DNSReady, Status: true, Reason: ReasonDNSReady}
	for _, r := range records {
		if c := in.recordCondition(r); !c.Status && severity(c.Reason) > severity(worst.Reason) {
			worst = c
		}
	}
	return worst
}

// unplaced says why nothing is known of where a domain's records belong.
func (in Input) unplaced(domain string) chain.Condition {
	if in.World.ZonesKnown && in.World.RoutingKnown {
		return chain.Condition{Type: DNSReady, Reason: ReasonDNSError, Message: fmt.Sprintf(
			"Where %s has to lead is unknown: AWS shows no connection group for it. Name one in spec.connectionGroupId, and allow the operator cloudfront:ListConnectionGroups.", domain)}
	}
	return chain.Condition{Type: DNSReady, Reason: ReasonDNSRecordCreating, Message: fmt.Sprintf("The zone of %s is looked up.", domain)}
}

func (in Input) recordCondition(r dns.Record) chain.Condition {
	no := func(reason chain.Reason, format string, args ...any) chain.Condition {
		return chain.Condition{Type: DNSReady, Reason: reason, Message: fmt.Sprintf(format, args...)}
	}
	s := in.World.DNS.Of(r)
	entry := slices.IndexFunc(in.Memory.Ledger, func(e dns.Entry) bool { return e.Record == r && e.State == dns.Published })
	fine := chain.Condition{Type: DNSReady, Status: true, Reason: ReasonDNSReady}
	switch s.Phase {
	case dns.There:
		return fine
	case dns.Unknown:
		switch {
		case s.Err != nil:
			return no(ReasonDNSError, "%s %s: %s", r.Type, r.Name, s.Err.Error())
		case entry >= 0:
			return fine
		}
		return no(ReasonDNSRecordCreating, "The zone of %s is read before anything is published in it.", r.Name)
	case dns.Coming, dns.Leaving:
		if s.Err != nil {
			return no(ReasonDNSError, "Whether every server of the DNS service has %s %s can't be told: %s", r.Type, r.Name, s.Err.Error())
		}
		return no(ReasonDNSPropagating, "%s %s is on its way to every server of the DNS service.", r.Type, r.Name)
	case dns.Blocked:
		if entry < 0 && in.Desired.DNS.Takeover && !s.Fixed {
			return no(ReasonDNSRecordCreating, "%s %s is about to replace %s, as spec.dns.takeover asks.", r.Type, r.Name, s.Found)
		}
		return no(ReasonDNSConflict, "%s", in.conflictText(r, s, entry >= 0))
	case dns.Held:
		return no(ReasonDNSConflict, "%s is published by the object %s/%s. Remove the domain from one of the two.", r.Name, s.Holder.Namespace, s.Holder.Name)
	case dns.Refused:
		return no(ReasonDNSError, "%s %s is refused: %s", r.Type, r.Name, s.Err.Error())
	case dns.NoZone:
		return no(ReasonZoneNotFound, "The hosted zone %s of %s does not exist.", r.ZoneID, r.Name)
	case dns.Absent:
	}
	if entry >= 0 && in.Policy.Drift != resource.DriftEnforce {
		return no(ReasonDNSConflict, "%s %s was deleted outside of Kubernetes, and driftPolicy %s publishes nothing. Change the spec, or set spec.driftPolicy to enforce.", r.Type, r.Name, in.Policy.Drift)
	}
	return no(ReasonDNSRecordCreating, "%s %s is about to be published.", r.Type, r.Name)
}

func (in Input) conflictText(r dns.Record, s dns.Standing, ours bool) string {
	text := fmt.Sprintf("%s is taken: the zone %s has %s.", r.Name, r.ZoneID, s.Found)
	switch {
	case ours && in.Policy.Drift != resource.DriftEnforce:
		return fmt.Sprintf("%s Somebody changed it, and driftPolicy %s leaves it so.", text, in.Policy.Drift)
	case s.Fixed:
		return text + " That is of a kind that no takeover replaces. Remove it, or take the domain out of spec.domains."
	case ours:
		return text + " Somebody changed it; it is put back."
	}
	return text + " It is not ours. Remove it, or set spec.dns.takeover to true to replace it."
}

// MissesZone reports whether a report says that there is no zone to publish in: nothing else
// tells when there is one.
func MissesZone(r Report) bool {
	return slices.ContainsFunc(r.Conditions, func(c chain.Condition) bool {
		return c.Type == DNSReady && (c.Reason == ReasonZoneNotFound || c.Reason == ReasonZoneAmbiguous)
	})
}

// dnsDrift lists the published records that somebody changed or deleted.
func (in Input) dnsDrift() []resource.Difference {
	var out []resource.Difference
	for _, e := range in.Memory.Ledger {
		s := in.World.DNS.Of(e.Record)
		if e.State != dns.Published || s.Phase != dns.Blocked && s.Phase != dns.Absent {
			continue
		}
		out = append(out, resource.Difference{Field: "dns[" + strings.ToLower(e.Type) + " " + e.Name + "]", Desired: e.Value, Observed: s.Found})
	}
	return out
}

// dnsWaits reports whether nothing but the tenant itself keeps DNS back: what keeps the
// tenant back says more then.
func (in Input) dnsWaits() bool {
	return in.publishes() && !in.provesByDNS() && !slices.ContainsFunc(in.Desired.Domains, in.mayPublish)
}
