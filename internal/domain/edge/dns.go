package edge

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
)

// The order of DNS and tenant depends on how a domain is proven.
//
//	a certificate covers it:  tenant, domain active, deployed, then DNS
//	CloudFront validates it:  DNS, in sync, then the tenant; withdrawn when AWS refuses that for good
//	the user's host does:     tenant, issued, attached, deployed, then DNS
//
// The first and the last are one rule: what CloudFront answers for is published. On the
// way back there is one order: out of DNS, in sync, and only then out of the tenant.

// publishes reports whether DNS records are asked for.
func (in Input) publishes() bool {
	return in.Desired.DNS != nil && !in.Policy.RoleDenied && !in.Deleting
}

// provesByDNS reports whether DNS comes before the tenant: CloudFront itself proves the
// domains, and takes none that does not lead to it.
func (in Input) provesByDNS() bool {
	r := in.request()
	return r != nil && r.ValidationTokenHost != SelfHosted && in.publishes()
}

// endpoint is where the records have to lead; empty while unknown.
func (in Input) endpoint() string {
	if in.World.RoutingEndpoint != "" || in.World.RoutingKnown || !in.applied() {
		return in.World.RoutingEndpoint
	}
	return in.Memory.RoutingEndpoint
}

// ofDomain reports whether an entry of the ledger belongs to the domain.
func ofDomain(e dns.Entry, domain string) bool { return dns.Domain(e.Name) == domain }

// entries are the records of the domain that are in the ledger to stay.
func (in Input) entries(domain string) []dns.Entry {
	var out []dns.Entry
	for _, e := range in.Memory.Ledger {
		if e.State != dns.Retracting && ofDomain(e, domain) {
			out = append(out, e)
		}
	}
	return out
}

// mayPublish reports whether the domain may lead to CloudFront now.
func (in Input) mayPublish(domain string) bool {
	switch {
	case !in.publishes() || in.withdrawn(domain):
		return false
	case len(in.entries(domain)) > 0, in.provesByDNS():
		return true
	}
	return in.serves(domain) && in.World.Tenant.Status == Deployed
}

// withdrawn reports whether the tenant can't be given the domain for a while: AWS has refused
// that, or works on another certificate first, which may take days. Until then the name must not
// lead to CloudFront, where a stranger could claim it.
func (in Input) withdrawn(domain string) bool {
	if in.holds(domain) {
		return false
	}
	return in.refused() || in.mine() && in.provesByDNS() && in.stage() == underway
}

// refused reports whether AWS has refused what the spec asks for, other than for a domain that
// it does not see yet, and it is not time for the next try.
func (in Input) refused() bool {
	return in.waiting() && in.Memory.Failure.Reason != ReasonDomainValidationPending
}

// Wants are the records that are due now.
func (in Input) Wants() []dns.Record {
	var out []dns.Record
	for _, d := range append(in.requestedDomains(), in.Desired.Domains...) {
		if in.mayPublish(d) {
			out = append(out, in.wanted(d)...)
		}
	}
	return out
}

// wanted are the records of a domain as they should be, or as they are while that can't be
// told.
func (in Input) wanted(domain string) []dns.Record {
	if in.World.ZonesKnown && in.endpoint() != "" {
		records, problem := in.rendered(domain)
		told := in.World.IPv6Known || !slices.ContainsFunc(records, dns.Record.IsAlias)
		if problem == nil && told {
			return records
		}
	}
	var out []dns.Record
	for _, e := range in.entries(domain) {
		out = append(out, e.Record)
	}
	return out
}

// rendered are the records of a domain in the zone that it belongs to.
func (in Input) rendered(domain string) ([]dns.Record, *Problem) {
	spec := in.Desired.DNS
	problem := func(reason Reason, err error) *Problem {
		return &Problem{Reason: reason, Message: "spec.dns: " + err.Error() + ".", Of: DNSReady}
	}
	zone, err := spec.Zone.Match(domain, in.World.Zones)
	if mismatch, ok := errors.AsType[*dns.MatchError](err); ok && mismatch.Mismatch == dns.Ambiguous {
		return nil, problem(ReasonZoneAmbiguous, err)
	}
	if err != nil {
		return nil, problem(ReasonZoneNotFound, err)
	}
	records, err := dns.Wanted(domain, zone, dns.Options{Target: in.endpoint(), IPv6: in.World.IPv6, TTL: spec.TTL, Type: spec.Type})
	if err != nil {
		return nil, problem(ReasonDNSError, err)
	}
	return records, nil
}

// zonesKnown finds out which zones the domains of a tenant belong to.
func zonesKnown(in Input) (Decision, bool) {
	if !in.World.present() {
		return pass()
	}
	return in.placed()
}

// placed finds out which zones the domains belong to, and whether the connection group has IPv6,
// unless the ledger tells enough.
func (in Input) placed() (Decision, bool) {
	switch {
	case !in.publishes() || in.ledgerSuffices():
		return pass()
	case !in.World.ZonesKnown:
		return do(Look{At: LookZones})
	case !in.World.RoutingKnown && in.World.RoutingEndpoint == "":
		return do(Look{At: LookRouting})
	case !in.World.IPv6Known && in.wantsAlias():
		return do(Look{At: LookIPv6})
	}
	return pass()
}

func (in Input) wantsAlias() bool {
	return slices.ContainsFunc(in.Desired.Domains, func(d string) bool {
		records, _ := in.rendered(d)
		return slices.ContainsFunc(records, dns.Record.IsAlias)
	})
}

// ledgerSuffices reports whether all that the present spec asks for is published as it
// should be, so that no zone has to be looked up: the ledger of a quiet object.
func (in Input) ledgerSuffices() bool {
	c := in.Memory.Conditions[DNSReady]
	if !c.Status || c.Generation != in.Generation || c.Reason != ReasonDNSReady {
		return false
	}
	endpoint := in.endpoint()
	for _, d := range in.Desired.Domains {
		entries := in.entries(d)
		moved := func(e dns.Entry) bool { return endpoint != "" && e.Value != endpoint }
		if len(entries) == 0 || slices.ContainsFunc(entries, moved) {
			return false
		}
	}
	return true
}

// published reports whether public DNS, as far as the provider tells, leads all those
// domains to where they should lead.
func (in Input) published(domains []string) bool {
	for _, d := range domains {
		records := in.wanted(d)
		if len(records) == 0 || !in.mayPublish(d) {
			return false
		}
		for _, r := range records {
			if in.World.DNS.Of(r).Phase != dns.There {
				return false
			}
		}
	}
	return true
}

// publishedFirst holds a tenant back whose domains CloudFront would refuse, until they lead
// to it. What else AWS could refuse is asked before.
func publishedFirst(in Input) (Decision, bool) {
	if in.roleStopsCreate() {
		return rest(Problem{Reason: ReasonRoleNotAllowed, Message: in.roleText(), Of: DNSReady}, 0)
	}
	if in.World.present() || !in.provesByDNS() || in.waiting() || in.World.Refused != nil {
		return pass()
	}
	if d, fires := preflight(in); fires {
		return d, true
	}
	if d, fires := in.placed(); fires {
		return d, true
	}
	if !in.Held {
		// The ledger of an object that could go without being asked would be no ledger.
		return do(Hold{})
	}
	if !in.published(in.Desired.Domains) {
		return in.awaitPublished()
	}
	return in.awaitVisible()
}

// awaitPublished waits for the records that come before the tenant.
func (in Input) awaitPublished() (Decision, bool) {
	c := in.dnsCondition()
	if c.Status {
		c.Reason, c.Message = ReasonDNSRecordCreating, "The DNS records are looked at before the distribution tenant is created."
	}
	if in.retrying() && severity(c.Reason) <= severity(ReasonDNSRecordCreating) {
		return do(Rest{Hold: true})
	}
	return rest(Problem{Reason: c.Reason, Message: c.Message, Of: DNSReady}, 0)
}

// retrying reports whether DNS is only made ready for another try of what was refused: that stays
// the thing to say.
func (in Input) retrying() bool {
	f := in.Memory.Failure
	return f != nil && f.Generation == in.Generation && f.Reason != ReasonCertificateFailed
}

// roleStopsCreate reports whether CloudFront would refuse the tenant for domains that the
// operator may not lead to it.
func (in Input) roleStopsCreate() bool {
	r := in.request()
	return !in.World.present() && r != nil && r.ValidationTokenHost != SelfHosted && in.Desired.DNS != nil && in.Policy.RoleDenied
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
func (in Input) awaitVisible() (Decision, bool) {
	switch {
	case !in.World.AsksResolvers, in.World.Visible:
		return pass()
	case !in.World.VisibleKnown:
		return do(Look{At: LookVisible})
	}
	return rest(Problem{Reason: ReasonDNSPropagating, Of: DNSReady, Message: "The DNS records are in sync; waiting until public resolvers show them."}, visibleEvery)
}

// reachableDomains are the domains that the tenant can be given now: those that it should
// have, without those that have to wait, and with those that are still in DNS. A tenant has one
// at least.
func (in Input) reachableDomains() []string {
	waiting, leaving := in.heldDomains()
	out := slices.DeleteFunc(slices.Clone(in.Desired.Domains), func(d string) bool { return slices.Contains(waiting, d) })
	if out = append(out, leaving...); len(out) == 0 {
		return in.World.Tenant.Domains
	}
	return out
}

// requestedDomains are those that the spec has dropped, and that have to stay as long as AWS is
// at work on a certificate for them: it would never be issued without.
func (in Input) requestedDomains() []string {
	if !in.mine() || in.Deleting || in.request() == nil || in.stage() != underway {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(in.World.Tenant.Domains), func(d string) bool { return slices.Contains(in.Desired.Domains, d) })
}

// heldDomains are the domains that can't be added yet, and those that can't be removed yet.
func (in Input) heldDomains() (waiting, leaving []string) {
	have := in.World.Tenant.Domains
	gone := func(d string) bool { return !slices.Contains(in.Desired.Domains, d) }
	if leaving = in.requestedDomains(); len(leaving) == 0 && slices.ContainsFunc(have, gone) {
		ledger := in.NextLedger()
		for _, d := range have {
			if gone(d) && slices.ContainsFunc(ledger, func(e dns.Entry) bool { return ofDomain(e, d) }) {
				leaving = append(leaving, d)
			}
		}
	}
	for _, d := range in.Desired.Domains {
		if !slices.Contains(have, d) && !in.addable(d, leaving) {
			waiting = append(waiting, d)
		}
	}
	return waiting, leaving
}

// addable reports whether AWS would take the domain now, with the certificate request that it
// needs: one for what the tenant has then, and only while none is underway.
func (in Input) addable(domain string, leaving []string) bool {
	switch {
	case in.request() == nil:
		return true
	case in.stage() == underway || len(leaving) > 0:
		return false
	}
	return !in.provesByDNS() || in.published([]string{domain})
}

func (in Input) holdsDomains() bool {
	if !in.World.present() || in.Deleting {
		return false
	}
	waiting, leaving := in.heldDomains()
	return len(waiting)+len(leaving) > 0
}

// domainsHeld says which changes of domains have to wait, and for what.
func domainsHeld(in Input) (Decision, bool) {
	if !in.World.present() {
		return pass()
	}
	waiting, leaving := in.heldDomains()
	held := func(why string) (Decision, bool) {
		return rest(Problem{Reason: ReasonDomainChangeHeld, Message: fmt.Sprintf("spec.domains: %s %s", joinSome(waiting), why)}, in.certificateWait())
	}
	const ended = "when the pending request for a managed certificate has ended; AWS works on one at a time."
	switch requested := in.requestedDomains(); {
	case len(waiting) > 0 && in.stage() == underway:
		return held("can be added " + ended)
	case len(requested) > 0:
		waiting = requested
		return held("can be removed " + ended)
	case len(waiting) > 0 && in.refused():
		return do(in.patience())
	case len(waiting) > 0 && len(leaving) == 0 && in.retrying() && severity(in.dnsCondition().Reason) <= severity(ReasonDNSRecordCreating):
		return do(Rest{Hold: true})
	case len(waiting) > 0 && len(leaving) > 0:
		return held(fmt.Sprintf("is added once %s is out of DNS: a certificate is requested for both otherwise.", joinSome(leaving)))
	case len(waiting) > 0:
		return held("is added once its DNS record leads to CloudFront. " + in.dnsCondition().Message)
	case len(leaving) > 0:
		return rest(Problem{Reason: ReasonUpdatePending, Of: Synced, Message: fmt.Sprintf(
			"%s is removed from the distribution tenant once its DNS record is gone: a name that leads to CloudFront must never be without a tenant.", joinSome(leaving))}, 0)
	}
	return pass()
}

// retracted keeps what is being torn down until no name leads to it any more.
func retracted(in Input) (Decision, bool) {
	if in.keepsTenant() {
		return pass()
	}
	left := in.NextLedger()
	if len(left) == 0 {
		return pass()
	}
	reason, message := ReasonDeleting, fmt.Sprintf("Waiting until %s is out of DNS: a name that leads to CloudFront must never be without a tenant.", recordNames(left))
	if in.Policy.RoleDenied {
		return rest(Problem{Reason: ReasonRoleNotAllowed, Message: message + " " + in.roleText()}, 0)
	}
	for _, e := range left {
		if s := in.World.DNS.Of(e.Record); s.Err != nil {
			return rest(Problem{Reason: ReasonDNSError, Message: fmt.Sprintf("%s %s. If nobody can reach the zone any more, set the annotation cloudfront-tenant-operator.io/abandon-dns to \"true\".", message, s.Err.Error())}, 0)
		}
	}
	return rest(Problem{Reason: reason, Message: message}, 0)
}

func recordNames(entries []dns.Entry) string {
	var names []string
	for _, e := range entries {
		if name := e.Type + " " + e.Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return joinSome(names)
}

// keepsTenant reports whether the tenant outlives the object, and its records with it. One that
// is gone or somebody else's does not count; one without an owner was just released.
func (in Input) keepsTenant() bool {
	theirs := in.World.present() && in.relation() == ownership.Foreign
	return in.Policy.Retain && in.World.Knowledge != Absent && !theirs
}

// oriented reports whether enough is known of the tenant to change what leads to it: where it is
// not known yet, or the credentials are of another account, nothing is concluded.
func (in Input) oriented() bool {
	caller := in.World.Account
	switch {
	case in.World.present():
		caller = AccountOf(in.World.Tenant.ARN)
	case in.World.Knowledge == Nothing:
		return in.Memory.ID == ""
	}
	return in.Memory.Account == "" || caller == in.Memory.Account
}

// NextLedger is the ledger as it should be stored next. It alone decides what is published and
// what is deleted: the worker does what the stored ledger says.
func (in Input) NextLedger() []dns.Entry {
	have := in.Memory.Ledger
	switch {
	case in.Paused, len(have) == 0 && in.Desired.DNS == nil:
		return have
	case in.Deleting && in.Policy.AbandonDNS:
		return nil
	case in.World.Unreadable != nil, in.Policy.RoleDenied, !in.oriented(), in.Deleting && in.keepsTenant():
		return have
	}
	policy := dns.Policy{}
	if spec := in.Desired.DNS; spec != nil {
		policy = dns.Policy{Takeover: spec.Takeover, RoleARN: spec.RoleARN}
	}
	next := dns.Advance(have, in.Wants(), in.World.DNS, policy)
	if in.Held {
		return next
	}
	// An object without our finalizer could go without being asked, and its ledger with it.
	return slices.DeleteFunc(next, func(e dns.Entry) bool {
		return !slices.ContainsFunc(have, func(h dns.Entry) bool { return h.Record == e.Record })
	})
}

func (in Input) roleText() string {
	role := ""
	if in.Desired.DNS != nil {
		role = in.Desired.DNS.RoleARN
	}
	return fmt.Sprintf("The administrator has not granted the role %s: ask for it in --allowed-roles, or name another one in spec.dns.assumeRoleArn. No call was made with it.", role)
}

// unlistedText says why the zones can't be read.
func (in Input) unlistedText() string {
	text := in.World.Unlisted.Error()
	if in.World.Unlisted.Kind == fault.Denied && in.Desired.DNS.RoleARN == "" {
		text += ". If the zone is in another account, name a role of it in spec.dns.assumeRoleArn."
	}
	return text
}

// dnsCondition says how far the records are.
func (in Input) dnsCondition() Condition {
	no := func(reason Reason, message string) Condition {
		return Condition{Type: DNSReady, Reason: reason, Message: message}
	}
	switch {
	case in.Desired.DNS == nil && len(in.NextLedger()) > 0:
		return Condition{Type: DNSReady, Status: true, Reason: ReasonDNSNotConfigured, Message: "No DNS records are asked for; those that were published are being removed."}
	case in.Desired.DNS == nil:
		return Condition{Type: DNSReady, Status: true, Reason: ReasonDNSNotConfigured, Message: "No DNS records are asked for."}
	case in.Policy.RoleDenied:
		return no(ReasonRoleNotAllowed, in.roleText())
	case in.Deleting:
		return in.retractingCondition()
	case in.World.Unlisted != nil:
		return no(ReasonDNSError, in.unlistedText())
	}
	if before, had := in.Memory.Conditions[DNSReady]; had && before.Generation == in.Generation && in.unread() {
		return before
	}
	worst := Condition{Type: DNSReady, Status: true, Reason: ReasonDNSReady, Message: fmt.Sprintf("Every domain leads to %s.", in.endpointText())}
	for _, d := range in.Desired.Domains {
		if c := in.domainCondition(d); !c.Status && severity(c.Reason) > severity(worst.Reason) {
			worst = c
		}
	}
	return worst
}

func (in Input) retractingCondition() Condition {
	if len(in.NextLedger()) == 0 {
		return Condition{Type: DNSReady, Status: true, Reason: ReasonDNSNotConfigured, Message: "No DNS record of this object is left."}
	}
	if in.Policy.Retain {
		return Condition{Type: DNSReady, Status: true, Reason: ReasonDNSReady, Message: "The DNS records stay with the distribution tenant, as deletionPolicy Retain asks."}
	}
	return Condition{Type: DNSReady, Reason: ReasonDNSPropagating, Message: "The DNS records are being removed."}
}

// unread reports whether a zone was not read yet by this process: it believes what the one before
// it saw, until it has seen for itself.
func (in Input) unread() bool {
	return slices.ContainsFunc(in.Wants(), func(r dns.Record) bool {
		s := in.World.DNS.Of(r)
		return s.Phase == dns.Unknown && s.Err == nil
	})
}

// severity orders the reasons for DNS not being ready: what needs a person comes first.
func severity(r Reason) int {
	return slices.Index([]Reason{
		ReasonDNSReady, ReasonDNSPropagating, ReasonDNSRecordCreating, ReasonDNSError, ReasonDNSConflict, ReasonZoneAmbiguous, ReasonZoneNotFound,
	}, r)
}

// domainCondition says how far the records of one domain are.
func (in Input) domainCondition(domain string) Condition {
	no := func(reason Reason, format string, args ...any) Condition {
		return Condition{Type: DNSReady, Reason: reason, Message: fmt.Sprintf(format, args...)}
	}
	if in.World.ZonesKnown && in.endpoint() != "" {
		if _, problem := in.rendered(domain); problem != nil {
			return no(problem.Reason, "%s", problem.Message)
		}
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
	worst := Condition{Type: DNSReady, Status: true, Reason: ReasonDNSReady}
	for _, r := range records {
		if c := in.recordCondition(r); !c.Status && severity(c.Reason) > severity(worst.Reason) {
			worst = c
		}
	}
	return worst
}

// unplaced says why nothing is known of where a domain's records belong.
func (in Input) unplaced(domain string) Condition {
	if in.World.ZonesKnown && in.World.RoutingKnown {
		return Condition{Type: DNSReady, Reason: ReasonDNSError, Message: fmt.Sprintf(
			"Where %s has to lead is unknown: AWS shows no connection group for it. Name one in spec.connectionGroupId, and allow the operator cloudfront:ListConnectionGroups.", domain)}
	}
	return Condition{Type: DNSReady, Reason: ReasonDNSRecordCreating, Message: fmt.Sprintf("The zone of %s is looked up.", domain)}
}

func (in Input) recordCondition(r dns.Record) Condition {
	no := func(reason Reason, format string, args ...any) Condition {
		return Condition{Type: DNSReady, Reason: reason, Message: fmt.Sprintf(format, args...)}
	}
	s := in.World.DNS.Of(r)
	entry := slices.IndexFunc(in.Memory.Ledger, func(e dns.Entry) bool { return e.Record == r && e.State == dns.Published })
	fine := Condition{Type: DNSReady, Status: true, Reason: ReasonDNSReady}
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
	if entry >= 0 && in.Policy.Drift != DriftEnforce {
		return no(ReasonDNSConflict, "%s %s was deleted outside of Kubernetes, and driftPolicy %s publishes nothing. Change the spec, or set spec.driftPolicy to enforce.", r.Type, r.Name, in.Policy.Drift)
	}
	return no(ReasonDNSRecordCreating, "%s %s is about to be published.", r.Type, r.Name)
}

func (in Input) conflictText(r dns.Record, s dns.Standing, ours bool) string {
	text := fmt.Sprintf("%s is taken: the zone %s has %s.", r.Name, r.ZoneID, s.Found)
	switch {
	case ours && in.Policy.Drift != DriftEnforce:
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
	return slices.ContainsFunc(r.Conditions, func(c Condition) bool {
		return c.Type == DNSReady && (c.Reason == ReasonZoneNotFound || c.Reason == ReasonZoneAmbiguous)
	})
}

// dnsDrift lists the published records that somebody changed or deleted.
func (in Input) dnsDrift() []Difference {
	var out []Difference
	for _, e := range in.Memory.Ledger {
		s := in.World.DNS.Of(e.Record)
		if e.State != dns.Published || s.Phase != dns.Blocked && s.Phase != dns.Absent {
			continue
		}
		out = append(out, Difference{Field: "dns[" + strings.ToLower(e.Type) + " " + e.Name + "]", Desired: e.Value, Observed: s.Found})
	}
	return out
}

// dnsWaits reports whether nothing but the tenant itself keeps DNS back: what keeps the
// tenant back says more then.
func (in Input) dnsWaits() bool {
	return in.publishes() && !in.provesByDNS() && !slices.ContainsFunc(in.Desired.Domains, in.mayPublish)
}
