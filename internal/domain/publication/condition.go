package publication

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// Ready is the condition of the records.
const Ready chain.ConditionType = "DNSReady"

// The reasons of Ready.
const (
	ReasonDNSNotConfigured  chain.Reason = "DNSNotConfigured"
	ReasonDNSReady          chain.Reason = "DNSReady"
	ReasonDNSRecordCreating chain.Reason = "DNSRecordCreating"
	ReasonDNSPropagating    chain.Reason = "DNSPropagating"
	ReasonDNSConflict       chain.Reason = "DNSConflict"
	ReasonDNSError          chain.Reason = "DNSError"
	ReasonDNSUnavailable    chain.Reason = "DNSUnavailable"
	ReasonZoneNotFound      chain.Reason = "ZoneNotFound"
	ReasonZoneAmbiguous     chain.Reason = "ZoneAmbiguous"
	ReasonRoleNotAllowed    chain.Reason = "RoleNotAllowed"
)

// ReasonOf tells a DNS service that fails or does not answer, which is only waited for, from one that refuses.
func ReasonOf(kind fault.Kind) chain.Reason {
	switch kind {
	case fault.Throttled, fault.Transient, fault.Conflict:
		return ReasonDNSUnavailable
	default:
		return ReasonDNSError
	}
}

// RoleText says that the role was not granted, and what to do about it.
func RoleText(spec *Spec, role string) string {
	if spec != nil && spec.RoleARN == role {
		return fmt.Sprintf("The role %s is not in --allowed-roles. Ask the administrator to add it, or use another role in spec.dns.assumeRoleArn. The operator did not use the role.", role)
	}
	return fmt.Sprintf("The role %s is not in --allowed-roles, but it is needed to remove DNS records that were published with it. Ask the administrator to add it. The operator did not use the role.", role)
}

// unlistedText says why the zones can't be read.
func (j *judge) unlistedText() string {
	text := j.Unlisted.Error()
	if j.Unlisted.Kind == fault.Denied && j.Spec.RoleARN == "" && j.Spec.Provider.Service == dns.Route53 {
		text = strings.TrimSuffix(text, ".") + ". If the zone is in another account, set spec.dns.assumeRoleArn to a role in that account."
	}
	return text
}

// condition says how far the records are.
func (j *judge) condition() chain.Condition {
	no := func(reason chain.Reason, message string) chain.Condition {
		return chain.Condition{Type: Ready, Reason: reason, Message: message}
	}
	switch {
	case j.DeniedRole != "":
		return no(ReasonRoleNotAllowed, RoleText(j.Spec, j.DeniedRole))
	case j.Spec == nil && len(j.ledger) > 0:
		return chain.Condition{Type: Ready, Status: true, Reason: ReasonDNSNotConfigured, Message: "The spec requests no DNS records. Records published earlier are being removed."}
	case j.Spec == nil:
		return chain.Condition{Type: Ready, Status: true, Reason: ReasonDNSNotConfigured, Message: "The spec requests no DNS records."}
	case j.Deleting:
		return j.retractingCondition()
	case j.Unlisted != nil:
		return no(ReasonOf(j.Unlisted.Kind), j.unlistedText())
	}
	if b := j.Before; b != nil && b.Generation == j.Generation && (j.InDoubt || j.unread() || j.unjudged() && !j.delegated()) {
		return *b
	}
	worst := chain.Condition{Type: Ready, Status: true, Reason: ReasonDNSReady, Message: fmt.Sprintf("Every domain points to %s.", j.EndpointText)}
	j.domains = make(map[string]Domain, len(j.Domains))
	for _, d := range j.Domains {
		c := j.domainCondition(d)
		j.domains[d] = Domain{Condition: c, Records: j.recordsOf(d)}
		if !c.Status && Severity(c.Reason) > Severity(worst.Reason) {
			worst = c
		}
	}
	if worst.Status && len(j.Unproven) > 0 {
		return no(ReasonDNSRecordCreating, fmt.Sprintf("%s is published once it is proven.", prose.List(j.Unproven)))
	}
	if left := j.strangers(); worst.Status && len(left) > 0 {
		worst.Message += fmt.Sprintf(" In DNS before this object, and left there when it is deleted: %s. To have the operator own and delete such records, set spec.dns.takeover to true.", prose.List(left))
	}
	return worst
}

// strangers names the records that are as wanted, but in no ledger: nothing removes them with the object.
func (j *judge) strangers() []string {
	if !j.HasFinalizer {
		return nil
	}
	var names []string
	for _, r := range j.wants {
		if j.View.Of(r).Phase == dns.There && !slices.ContainsFunc(j.ledger, func(e dns.Entry) bool { return e.Record == r }) {
			names = append(names, r.Type+" "+r.Name)
		}
	}
	return names
}

// unjudged reports whether it was not found out what the present generation asks for: the object
// is paused, or something else stops the pass before. The ledger may be that of the generation
// before then; if it counted as enough, the change would be forgotten forever.
func (j *judge) unjudged() bool {
	return len(j.Ledger) > 0 && !j.Deleting && !j.placed()
}

// delegated reports whether a zone leaves a record of the ledger to other servers: that is so whatever the spec asks for.
func (j *judge) delegated() bool {
	return slices.ContainsFunc(j.Ledger, func(e dns.Entry) bool { return j.View.Of(e.Record).Delegated != "" })
}

func (j *judge) retractingCondition() chain.Condition {
	if j.rests() && j.wasReady() {
		return *j.Before
	}
	if len(j.ledger) == 0 {
		return chain.Condition{Type: Ready, Status: true, Reason: ReasonDNSNotConfigured, Message: "All DNS records of this object are removed."}
	}
	switch {
	case !j.Retained:
		return chain.Condition{Type: Ready, Reason: ReasonDNSPropagating, Message: "The DNS records are being removed."}
	case j.Tenant.Unknown:
		return chain.Condition{Type: Ready, Reason: ReasonDNSPropagating, Message: "The DNS records are kept if the distribution tenant is (deletionPolicy Retain). It has not been read yet."}
	}
	return chain.Condition{Type: Ready, Status: true, Reason: ReasonDNSReady, Message: "The DNS records are kept with the distribution tenant (deletionPolicy Retain)."}
}

// unread reports whether a zone was not read yet by this process: it believes what the one before
// it saw, until it has seen for itself.
func (j *judge) unread() bool {
	return slices.ContainsFunc(j.wants, func(r dns.Record) bool {
		s := j.View.Of(r)
		return s.Phase == dns.Unknown && s.Err == nil
	})
}

// Severity orders the reasons of the condition: a reason that resolves without a user is mild, and one that it does not
// know, such as an answer of AWS, is the most severe.
func Severity(r chain.Reason) int {
	order := []chain.Reason{
		ReasonDNSNotConfigured, ReasonDNSReady, ReasonDNSPropagating, ReasonDNSRecordCreating,
		ReasonDNSUnavailable, ReasonDNSError, ReasonDNSConflict, ReasonZoneAmbiguous, ReasonZoneNotFound, ReasonRoleNotAllowed,
	}
	if i := slices.Index(order, r); i >= 0 {
		return i
	}
	return len(order)
}

// Passes reports whether a reason resolves without a user.
func Passes(r chain.Reason) bool { return Severity(r) <= Severity(ReasonDNSRecordCreating) }

// domainCondition says how far the records of one domain are.
func (j *judge) domainCondition(domain string) chain.Condition {
	no := func(reason chain.Reason, format string, args ...any) chain.Condition {
		return chain.Condition{Type: Ready, Reason: reason, Message: fmt.Sprintf(format, args...)}
	}
	if j.ZonesKnown && j.Endpoint != "" {
		if _, problem := j.rendered(domain); problem != nil {
			return no(problem.Reason, "%s", problem.Message)
		}
	}
	if j.Unresolved && !j.mayPublish(domain) {
		return no(ReasonDNSRecordCreating, "%s is published once the objects that the spec references exist.", domain)
	}
	if j.First && j.withdrawn(domain) {
		return no(ReasonDNSRecordCreating, "%s is published once it can be added to the distribution tenant.", domain)
	}
	if j.doubted(domain) {
		return no(ReasonDNSRecordCreating, "%s is published once it is certain that the distribution tenant has it.", domain)
	}
	if !j.mayPublish(domain) {
		return no(ReasonDNSRecordCreating, "%s is published once CloudFront serves it.", domain)
	}
	records := j.wanted(domain)
	if len(records) == 0 {
		return j.unplaced(domain)
	}
	worst := chain.Condition{Type: Ready, Status: true, Reason: ReasonDNSReady}
	for _, r := range records {
		if c := j.recordCondition(r); !c.Status && Severity(c.Reason) > Severity(worst.Reason) {
			worst = c
		}
	}
	return worst
}

// unplaced says why nothing is known of where a domain's records belong.
func (j *judge) unplaced(domain string) chain.Condition {
	if j.ZonesKnown && j.Routed {
		return chain.Condition{Type: Ready, Reason: ReasonDNSError, Message: fmt.Sprintf(
			"The target of the DNS record for %s is unknown because AWS returned no connection group. Set spec.connectionGroupId, and allow the operator cloudfront:ListConnectionGroups.", domain)}
	}
	return chain.Condition{Type: Ready, Reason: ReasonDNSRecordCreating, Message: fmt.Sprintf("Looking up the hosted zone of %s.", domain)}
}

func (j *judge) recordCondition(r dns.Record) chain.Condition {
	no := func(reason chain.Reason, format string, args ...any) chain.Condition {
		return chain.Condition{Type: Ready, Reason: reason, Message: fmt.Sprintf(format, args...)}
	}
	s := j.View.Of(r)
	entry := slices.IndexFunc(j.Ledger, func(e dns.Entry) bool { return e.Record == r && e.State == dns.Published })
	fine := chain.Condition{Type: Ready, Status: true, Reason: ReasonDNSReady}
	switch s.Phase {
	case dns.There:
		return fine
	case dns.Unknown:
		switch {
		case s.Err != nil:
			return no(ReasonOf(s.Err.Kind), "%s %s: %s", r.Type, r.Name, s.Err.Error())
		case entry >= 0:
			return fine
		}
		return no(ReasonDNSRecordCreating, "Reading the hosted zone of %s before publishing records in it.", r.Name)
	case dns.Coming, dns.Leaving:
		if s.Err != nil {
			return no(ReasonOf(s.Err.Kind), "Could not check whether %s %s has reached every server of the DNS service: %s", r.Type, r.Name, s.Err.Error())
		}
		return no(ReasonDNSPropagating, "%s %s is being propagated to all servers of the DNS service.", r.Type, r.Name)
	case dns.Blocked:
		if entry < 0 && slices.Contains(j.Inherits, dns.Domain(r.Name)) && !s.Fixed {
			return no(ReasonDNSRecordCreating, "%s %s is about to replace %s, because the domain is handed over to this object.", r.Type, r.Name, s.Found)
		}
		if entry < 0 && j.Spec.Takeover && !s.Fixed {
			return no(ReasonDNSRecordCreating, "%s %s is about to replace %s because spec.dns.takeover is true.", r.Type, r.Name, s.Found)
		}
		if entry >= 0 && j.Drift == resource.DriftEnforce && !s.Fixed {
			return no(ReasonDNSRecordCreating, "%s was changed to %s outside of Kubernetes. The record %s is being restored.", r.Name, s.Found, r.Type)
		}
		return no(ReasonDNSConflict, "%s", j.conflictText(r, s, entry >= 0))
	case dns.Occupied:
		return j.occupied(r, s.Holder)
	case dns.Refused:
		return no(ReasonOf(s.Err.Kind), "%s %s was rejected: %s", r.Type, r.Name, s.Err.Error())
	case dns.NoZone:
		return no(ReasonZoneNotFound, "The hosted zone %s of %s does not exist.", r.ZoneID, r.Name)
	case dns.Absent:
	}
	if entry >= 0 && j.Drift != resource.DriftEnforce {
		return no(ReasonDNSConflict, "%s %s was deleted outside of Kubernetes. With driftPolicy %s it is not published again. Change the spec, or set spec.driftPolicy to enforce.", r.Type, r.Name, j.Drift)
	}
	return no(ReasonDNSRecordCreating, "%s %s is about to be published.", r.Type, r.Name)
}

// occupied says that another object has the place of a record, and which one to users who may see that.
func (j *judge) occupied(r dns.Record, holder dns.Owner) chain.Condition {
	named := fmt.Sprintf("%s is already published by the object %s/%s.", r.Name, holder.Namespace, holder.Name)
	c := chain.Condition{Type: Ready, Reason: ReasonDNSConflict}
	if holder.Namespace == j.Namespace {
		c.Message = named + " Remove the domain from one of the two objects."
	} else {
		c.Message = r.Name + " is already published by an object of another namespace. Remove the domain from spec.domains, or ask the platform team: the operator's log has the name."
		c.Detail = named
	}
	return c
}

// elsewhere names the fields that lead records to another zone.
func elsewhere(p dns.Provider) string {
	if p.Service == dns.Route53 {
		return "with spec.dns.hostedZoneId and spec.dns.assumeRoleArn"
	}
	return "with spec.dns.zoneName and spec.dns.account"
}

func (j *judge) conflictText(r dns.Record, s dns.Standing, ours bool) string {
	if s.Delegated != "" {
		return fmt.Sprintf("%s is delegated: the zone %s has %s at %s, so resolvers query other name servers and never see records of this zone. Publish it in the delegated zone, %s, or remove the NS records.", r.Name, r.ZoneID, s.Found, s.Delegated, elsewhere(r.Provider))
	}
	text := fmt.Sprintf("%s already has another record: the zone %s contains %s.", r.Name, r.ZoneID, s.Found)
	switch {
	case ours && j.Drift != resource.DriftEnforce:
		return fmt.Sprintf("%s It was changed outside of Kubernetes, and with driftPolicy %s it is not restored.", text, j.Drift)
	case s.Unkept:
		return text + " spec.dns.takeover replaces only records that status has room to keep, so that they can be put back: at most 20 values with 1,024 characters for each record, and 65,536 characters in all. Remove the record, or remove the domain from spec.domains."
	case s.Spared:
		return text + " The EdgeGrant of the namespace allows spec.dns.takeover to replace only records that lead to CloudFront. Remove the record, or ask an administrator of the platform."
	case s.Fixed:
		return text + " spec.dns.takeover does not replace such a record. Remove the record, or remove the domain from spec.domains."
	}
	return text + " The operator did not create it. Remove it, or set spec.dns.takeover to true to replace it."
}

// drift lists the published records that were changed or deleted outside. Other servers answer for delegated names,
// whether the records are still in the zone or not, and nothing is restored there. A record that moves is in two zones.
func (j *judge) drift() []resource.Difference {
	var out []resource.Difference
	for _, e := range j.Ledger {
		s := j.View.Of(e.Record)
		if e.State != dns.Published || s.Delegated != "" || s.Phase != dns.Blocked && s.Phase != dns.Absent {
			continue
		}
		d := resource.Difference{Field: "dns[" + strings.ToLower(e.Type) + " " + e.Name + "]", Desired: e.Value, Observed: s.Found}
		if !slices.ContainsFunc(out, func(other resource.Difference) bool { return other.Field == d.Field }) {
			out = append(out, d)
		}
	}
	return out
}

// recordsOf are the records of a domain: those in the ledger or, before there are any, those that will be.
func (j *judge) recordsOf(domain string) (out []dns.Entry) {
	for _, e := range j.ledger {
		if ofDomain(e, domain) {
			out = append(out, e)
		}
	}
	if len(out) > 0 || !j.ZonesKnown || j.Endpoint == "" {
		return out
	}
	records, _ := j.rendered(domain)
	for _, r := range records {
		out = append(out, dns.Entry{Record: r, State: dns.Intended})
	}
	return out
}
