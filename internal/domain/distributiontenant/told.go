package distributiontenant

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/proof"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// tell says what each domain needs. Before the tenant was looked for, that is what was told before.
func (in Input) tell(r Report) (out []onboarding.Domain) {
	if in.World.Knowledge == resource.Nothing && in.Memory.ID != "" {
		for _, d := range in.toldOrder() {
			out = append(out, in.Memory.Domains[d].Domain)
		}
		return out
	}
	j, proofs, refused, stopped := judge(in), in.proofs(), refusedText(r.Conditions), in.stoppedText(r.Conditions)
	for _, d := range in.toldDomains() {
		if told, again := j.retold(d); again {
			out = append(out, told)
			continue
		}
		f := j.factsOf(d)
		f.Refused, f.Stopped = refused, stopped
		if i := slices.IndexFunc(proofs, func(e proof.Entry) bool { return e.Domain == d }); i >= 0 {
			f.Proof = &proofs[i]
		}
		out = append(out, in.unlessUnseen(f, onboarding.Judge(f)))
	}
	return out
}

// unlessUnseen is what is told of a domain, or what was told before if public DNS was not asked since the process began and
// nothing else is new.
func (in Input) unlessUnseen(f onboarding.Facts, now onboarding.Domain) onboarding.Domain {
	before, known := in.Memory.Domains[f.Domain]
	unseen := !f.Sight.Way.Known() || f.Place.Apex && !in.World.AddressesKnown
	if !known || !f.Watched || !unseen || before.State != now.State || !slices.EqualFunc(before.Records, now.Records, onboarding.Record.Same) {
		return now
	}
	return before.Domain
}

// retold is what was told of a domain whose records were not judged in this pass: their zone was not read yet, say.
func (in judged) retold(domain string) (onboarding.Domain, bool) {
	told, known := in.Memory.Domains[domain]
	if _, seen := in.publication.Of(domain); seen || !known || !in.publishes() || !slices.Contains(in.Desired.Domains, domain) {
		return onboarding.Domain{}, false
	}
	return told.Domain, true
}

// toldOrder are the domains of memory, those of the spec first.
func (in Input) toldOrder() []string {
	out := slices.DeleteFunc(slices.Clone(in.Desired.Domains), func(d string) bool { _, told := in.Memory.Domains[d]; return !told })
	for _, d := range slices.Sorted(maps.Keys(in.Memory.Domains)) {
		if !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	return out
}

// toldDomains are those of the spec, and then those that are leaving: the tenant has them, or they are in DNS.
func (in Input) toldDomains() []string {
	out := slices.Clone(in.Desired.Domains)
	leaving := slices.Sorted(maps.Keys(in.states()))
	for _, e := range in.Memory.Ledger {
		leaving = append(leaving, dns.Domain(e.Name))
	}
	for _, d := range leaving {
		if !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	return out
}

// refusedText is why a manual action is needed before a domain is served, as the condition says it. Empty: none is.
func refusedText(conditions []chain.Condition) string {
	i := slices.IndexFunc(conditions, func(c chain.Condition) bool { return c.Type == chain.Ready })
	if i < 0 || conditions[i].Status {
		return ""
	}
	switch c := conditions[i]; c.Reason {
	case resource.ReasonAWSError, resource.ReasonAWSUnavailable, publication.ReasonDNSConflict, publication.ReasonDNSError, publication.ReasonDNSUnavailable,
		publication.ReasonZoneNotFound, publication.ReasonZoneAmbiguous, publication.ReasonRoleNotAllowed, resource.ReasonPaused:
		return "" // those of DNS are told of the domains that they hold
	default:
		if !Alarming(c.Reason) {
			return ""
		}
		return c.Message
	}
}

// stoppedText is why the operator changes nothing at the moment, as the condition says it. Empty: it does.
func (in Input) stoppedText(conditions []chain.Condition) string {
	for _, c := range conditions {
		if c.Type == chain.Synced && (in.Halt != nil || in.Paused || c.Reason == ReasonReferenceNotReady) {
			return c.Message
		}
	}
	return ""
}

// factsOf are what the state of a domain follows from.
func (in judged) factsOf(domain string) onboarding.Facts {
	departs := slices.Contains(in.departing, domain)
	f := onboarding.Facts{
		Domain: domain, Place: in.World.Places[domain], Before: in.Memory.Domains[domain].State, ProofSight: in.Attempts.Proofs.Sights[domain],
		Leaving: in.Deleting || !in.wants(domain),
		Watched: in.watches(), Sight: in.World.Sights[domain], Addresses: in.World.Addresses,
		First: in.ledFirst() && !departs, Departs: departs, Enabled: in.Desired.Enabled,
	}
	if endpoint := cmp.Or(in.World.RoutingEndpoint, in.Memory.RoutingEndpoint); endpoint != "" {
		f.Targets = append(slices.Clone(in.World.Targets), endpoint)
	} else if in.looked() {
		f.Untargeted = prose.Sentence(in.endpointText())
	}
	if t := in.World.Tenant; t != nil && in.resource.Mine() {
		f.Has, f.Served, f.Settled = slices.Contains(t.Domains, domain), in.serves(domain), t.Status == Deployed
		f.Off = in.off()
	}
	f.Word = in.word(domain, f.Has)
	f.Others = !f.Has && len(in.unled) > 0 && !slices.Contains(in.unled, domain)
	f.Certificate, f.Redirect = in.certificateOf(domain)
	if f.Served {
		f.Renewal = in.renewalOf(domain)
	}
	in.publishedFacts(&f)
	return f
}

// off is why CloudFront answers for none of the tenant's domains. Empty: it does.
func (in judged) off() string {
	if p := in.distributionDisabled(); p != nil {
		return p.Message
	}
	if in.Desired.Enabled && !in.World.Tenant.Enabled {
		return "The distribution tenant was disabled outside of Kubernetes: CloudFront does not answer for the domain."
	}
	return ""
}

// wants reports whether the spec has the domain, proven or not.
func (in judged) wants(domain string) bool {
	return slices.Contains(in.Desired.Domains, domain) || slices.Contains(domainsOf(in.unproven), domain) || slices.Contains(in.unled, domain) || slices.Contains(in.departing, domain)
}

// publishedFacts adds what is known of the records that the operator publishes.
func (in judged) publishedFacts(f *onboarding.Facts) {
	if f.Publishes = in.Desired.DNS != nil && !in.Deleting; !f.Publishes {
		return
	}
	known, _ := in.publication.Of(f.Domain)
	f.InDNS, f.Held = known.Condition.Status, known.Condition.Message
	f.Blocked = !publication.Passes(known.Condition.Reason) && known.Condition.Reason != publication.ReasonDNSUnavailable
	for _, r := range known.Records {
		record := onboarding.Record{Purpose: onboarding.Routing, Type: r.Type, Name: r.Name, Value: r.Value, By: onboarding.Operator, State: onboarding.Missing}
		if r.Name != f.Domain {
			record.Purpose = onboarding.Challenge
		}
		if r.State == dns.Published {
			record.State = onboarding.Present
		}
		f.Published = append(f.Published, record)
	}
}

// certificateOf says how far the certificate of a domain is, and what its web server has to answer with.
func (in judged) certificateOf(domain string) (onboarding.Stage, *onboarding.Redirect) {
	c := in.certificate
	if c.Request == nil {
		if in.serves(domain) {
			return onboarding.Covered, nil
		}
		return onboarding.Uncovered, nil
	}
	if m := c.Managed; m != nil && m.State == certificate.Pending && m.Host == certificate.SelfHosted {
		if i := slices.IndexFunc(m.Tokens, func(t certificate.Token) bool { return t.Domain == domain && t.RedirectFrom != "" }); i >= 0 {
			return onboarding.Requested, &onboarding.Redirect{From: m.Tokens[i].RedirectFrom, To: m.Tokens[i].RedirectTo}
		}
	}
	if c.Stage == certificate.Obtained {
		return onboarding.Issued, nil
	}
	return onboarding.Requested, nil
}

// renewalOf says what keeps the renewal of the domain's certificate up. Empty: nothing.
func (in judged) renewalOf(domain string) string {
	s := in.World.Served
	if s == nil || !slices.Contains(in.Attempts.Unrenewed, domain) {
		return ""
	}
	return fmt.Sprintf("Its certificate expires on %s and can't be renewed until the domain points to CloudFront.", s.NotAfter.Format(time.DateOnly))
}

// EventDomainLost (Warning; DistributionTenant): a domain that was live has led elsewhere for hours. CloudFront still serves
// it, but its customers no longer arrive there, and its certificate will not be renewed.
const EventDomainLost = "DomainLost"

// EventDomainLive (Normal; DistributionTenant): a domain that was lost leads to CloudFront again.
const EventDomainLive = "DomainLive"

// domainEvents tell of domains that were lost, and of those that came back.
func domainEvents(in Input, r Report) (events []chain.Event) {
	for _, d := range r.Domains {
		switch before := in.Memory.Domains[d.Domain].State; {
		case d.State == onboarding.Lost && before != onboarding.Lost:
			events = append(events, chain.Event{Warning: true, Reason: EventDomainLost, Message: d.Domain + ": " + prose.Sentence(d.Message)})
		case d.State == onboarding.Live && before == onboarding.Lost:
			events = append(events, chain.Event{Reason: EventDomainLive, Message: d.Domain + ": the domain points to CloudFront again."})
		}
	}
	return events
}
