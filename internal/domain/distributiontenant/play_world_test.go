package distributiontenant_test

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/truth"
)

// How long things take in the played world.
const (
	deploys    = 30 * time.Second
	propagates = 20 * time.Second
	validates  = time.Minute
	timesOut   = 72 * time.Hour
)

const (
	endpoint   = "d1.cloudfront.net"
	playedZone = "Z1"
)

// playedCertificate is a certificate that CloudFront manages, as AWS has it.
type playedCertificate struct {
	certificate.Managed
	domains []string
	at      time.Time
}

// playedTenant is a tenant as AWS has it.
type playedTenant struct {
	distributiontenant.Observed
	tags    map[string]string
	managed *playedCertificate
	// changed is when it was last written.
	changed time.Time
}

// playedRecord is one of our records in the zone. It leads to CloudFront until it is gone
// everywhere.
type playedRecord struct {
	phase dns.Phase
	at    time.Time
	// early means that it came before the tenant had its domain.
	early bool
}

// play is a small world with one object, played by hand: AWS, a zone and its worker, and an
// operator that is made of nothing but this package's decisions.
type play struct {
	now  time.Time
	fail func(format string, args ...any)

	// The object, and those that it refers to.
	in         distributiontenant.Input
	gone       bool
	references []distributiontenant.Reference

	// AWS.
	tenant *playedTenant
	acm    map[string]*playedCertificate
	zone   map[dns.Record]*playedRecord
	// claims has the domains that are held for the object's namespace.
	claims  map[string]bool
	foreign map[string]bool
	refuses fault.Kind
	// turn says that changes of the service may reach the tenant.
	turn         bool
	losesRequest bool
	movesETag    bool
	attaches     bool
	serial       int

	// The process.
	attempts distributiontenant.Attempts
	seen     *distributiontenant.Observed
	whole    bool
	swept    bool
	tagsRead time.Time
	zoneRead bool
	loses    bool

	// requests are the accepted ones in the order of their coming, excused when something had
	// happened since the one before that allows another at once.
	lastRequest time.Time
	excused     bool
}

func newPlay(desired distributiontenant.Desired, fail func(string, ...any)) *play {
	p := &play{
		now: now, fail: fail, acm: map[string]*playedCertificate{}, zone: map[dns.Record]*playedRecord{},
		foreign: map[string]bool{}, claims: map[string]bool{}, swept: true, zoneRead: true, excused: true,
	}
	p.in = distributiontenant.Input{
		Object: resource.Object{Me: me, Generation: 1}, Desired: desired,
		Memory: distributiontenant.Memory{Memory: resource.Memory{Conditions: map[chain.ConditionType]chain.Condition{}}},
		Policy: distributiontenant.Policy{Policy: resource.Policy{Drift: resource.DriftEnforce, Adoption: resource.AdoptNever}, Holds: true},
	}
	return p
}

func (p *play) edit(how func(*distributiontenant.Desired)) {
	how(&p.in.Desired)
	p.in.Generation++
	p.excused = true
}

func (p *play) restart() {
	p.attempts, p.seen, p.whole, p.swept, p.zoneRead, p.tagsRead = distributiontenant.Attempts{}, nil, false, false, false, time.Time{}
	p.excused = true
}

// refer makes the spec name its parents by objects.
func (p *play) refer(references ...distributiontenant.Reference) {
	p.references = references
	for _, r := range references {
		switch r.Field {
		case distributiontenant.DistributionRef:
			p.in.Desired.DistributionID = ""
		case distributiontenant.ConnectionGroupRef:
			p.in.Desired.ConnectionGroupID = ""
		}
	}
}

// parent is the object behind the n-th reference, to which something happens. The tenant may request again what it was
// refused with another parent.
func (p *play) parent(n int, how func(*distributiontenant.Reference)) {
	if n < len(p.references) {
		p.references = slices.Clone(p.references)
		how(&p.references[n])
		p.excused = true
	}
}

// usable is an object that nothing is wrong with.
func (p *play) usable(r *distributiontenant.Reference) {
	id := r.ID
	if id == "" {
		id = p.next("P")
	}
	*r = distributiontenant.Reference{Field: r.Field, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name, Found: true, ID: id}
}

// inAWS is what a write to the tenant changes.
func (p *play) inAWS() string {
	if p.tenant == nil {
		return "nothing"
	}
	return fmt.Sprint(p.tenant.ID, " ", p.tenant.ETag, " ", p.tenant.tags)
}

// sweep lists the tenants and reads the zone.
func (p *play) sweep() {
	p.swept, p.zoneRead = true, true
	switch {
	case p.tenant == nil:
		p.seen, p.whole = nil, false
	case p.seen == nil || p.seen.ETag != p.tenant.ETag:
		p.see(false)
	default:
		p.see(p.whole)
	}
}

// see takes over the tenant as AWS shows it now.
func (p *play) see(whole bool) {
	t := p.tenant.Observed
	t.DomainStates, t.Domains = maps.Clone(t.DomainStates), slices.Clone(t.Domains)
	if !whole {
		t.Parameters = nil
	}
	p.seen, p.whole = &t, whole
}

// observe is the input of a pass before any call.
func (p *play) observe() distributiontenant.Input {
	in := p.in
	in.Now, in.Attempts = p.now, p.attempts
	if in.Memory.Failure != nil && in.Attempts.Last.IsZero() {
		in.Attempts.Last = p.now
	}
	in.World = distributiontenant.World{
		Swept: p.swept, CertificateMovesETag: p.movesETag, Zones: []dns.Zone{{ID: playedZone, Name: "example.com"}}, ZonesKnown: p.zoneRead,
		RoutingEndpoint: endpoint, IPv6Known: true,
	}
	if in.Attempts.Removed(in.CreateMark) {
		in.World.Knowledge = resource.Absent
	}
	if p.seen != nil {
		t := *p.seen
		in.World.Tenant, in.World.Knowledge = &t, resource.Listed
		attached := p.acm[t.Customizations.CertificateARN]
		in.World.CertificateUnusable = attached != nil && attached.State != certificate.Issued
		if p.whole {
			in.World.Knowledge = resource.Whole
		}
		if p.tenant != nil && !p.tagsRead.IsZero() {
			in.World.Tags, in.World.TagsKnown, in.World.TagsRead = p.tenant.tags, true, p.tagsRead
		}
	}
	if !in.Deleting {
		in.Refer(p.references)
	}
	return in
}

// view is what the worker of the zone knows of the object's records.
func (p *play) view(in distributiontenant.Input) dns.View {
	v := dns.View{Records: map[dns.Record]dns.Standing{}}
	records, _ := in.Wants()
	for _, e := range p.in.Memory.Ledger {
		records = append(records, e.Record)
	}
	for _, r := range records {
		switch have, there := p.zone[r]; {
		case !p.zoneRead:
			v.Records[r] = dns.Standing{Phase: dns.Unknown}
		case there:
			v.Records[r] = dns.Standing{Phase: have.phase}
		case p.foreign[r.Name]:
			v.Records[r] = dns.Standing{Phase: dns.Blocked, Found: "CNAME other.example.net"}
		default:
			v.Records[r] = dns.Standing{Phase: dns.Absent}
		}
	}
	return v
}

// pass is one reconcile. It reports the rule that ended it. A crash forgets what was not stored.
func (p *play) pass(crashes bool) string {
	if p.gone {
		return "gone"
	}
	in := p.observe()
	if before := p.inAWS(); in.Unresolved() {
		defer func() {
			if after := p.inAWS(); after != before {
				p.fail("the tenant was changed from %s to %s while a reference leads nowhere", before, after)
			}
		}()
	}
	wrote := false
	for range 16 {
		in.Now, in.World.DNS = p.now, p.view(in)
		d := distributiontenant.Decide(in)
		writes := false
		switch d.Step.(type) {
		case distributiontenant.Rest:
			return p.conclude(in, distributiontenant.Outcome{Decision: d}, crashes)
		case distributiontenant.Look, distributiontenant.EnsureFinalizer:
		default:
			writes = true
		}
		if writes && wrote {
			return p.conclude(in, distributiontenant.Outcome{Decision: d}, crashes)
		}
		wrote = wrote || writes
		err := p.perform(&in, d.Step)
		if p.gone {
			return d.Rule
		}
		if err != nil {
			if resource.IsRefusal(err.Kind) {
				in.World.Refused = err
				continue
			}
			return p.conclude(in, distributiontenant.Outcome{Decision: d, Err: err}, crashes)
		}
		if crashes && writes {
			p.in.HasFinalizer = in.HasFinalizer
			p.restart()
			return d.Rule
		}
	}
	p.fail("a pass finds no end")
	return ""
}

func (p *play) conclude(in distributiontenant.Input, out distributiontenant.Outcome, crashes bool) string {
	if problem := out.Decision.Problem; problem != nil && problem.Stuck && out.Err == nil {
		in.Attempts.Last, in.Attempts.Asked = p.now, false
	}
	if in.Memory.Failure == nil {
		in.Attempts.Asked = false
	}
	in.World.DNS = p.view(in)
	r := distributiontenant.Conclude(in, out)
	if text := truth.Contradiction(r.Conditions); text != "" {
		p.fail("%s", text)
	}
	for _, c := range r.Conditions {
		if c.Type == distributiontenant.DNSReady && publication.Severity(c.Reason) == publication.Severity("unknown") {
			p.fail("the DNS condition has the reason %s, of which the order knows nothing", c.Reason)
		}
	}
	if fault.Is(out.Err, fault.Conflict) {
		p.attempts = in.Attempts
		return out.Decision.Rule
	}
	p.in.HasFinalizer, p.in.CreateMark = in.HasFinalizer, in.CreateMark
	if crashes {
		p.restart()
		return out.Decision.Rule
	}
	p.attempts = in.Attempts
	m := &p.in.Memory
	if r.Tenant != nil {
		m.ID, m.Certificate = r.Tenant.ID, remembered(r.Certificate)
	}
	if r.RoutingEndpoint != "" {
		m.RoutingEndpoint = r.RoutingEndpoint
	}
	m.ETag, m.AppliedGeneration, m.AppliedTagKeys, m.Failure = r.ETag, r.AppliedGeneration, r.AppliedTagKeys, r.Failure
	m.Certificates, m.Requested, m.Ledger, m.Parents = r.Certificates, r.Requested, r.Ledger, r.Parents
	m.Conditions = map[chain.ConditionType]chain.Condition{}
	for _, c := range r.Conditions {
		m.Conditions[c.Type] = c
	}
	p.work()
	return out.Decision.Rule
}

// remembered is what status keeps of a managed certificate: the challenge is of use to a host of
// the user's own only.
func remembered(m *certificate.Managed) *certificate.Managed {
	if m == nil || m.Host == certificate.SelfHosted {
		return m
	}
	return &certificate.Managed{ARN: m.ARN, State: m.State}
}

// work is what the worker of the zone makes of the stored ledger.
func (p *play) work() {
	if !p.zoneRead {
		return
	}
	for _, e := range p.in.Memory.Ledger {
		have := p.zone[e.Record]
		switch {
		case e.State == dns.Retracting && have != nil && have.phase != dns.Leaving:
			have.phase, have.at = dns.Leaving, p.now
		case e.State != dns.Retracting && have == nil && !p.foreign[e.Name]:
			p.zone[e.Record] = &playedRecord{phase: dns.Coming, at: p.now, early: !p.held(dns.Domain(e.Name))}
			if d := p.in.Desired; d.Request == nil || d.Request.ValidationTokenHost == certificate.SelfHosted {
				if !p.held(dns.Domain(e.Name)) {
					p.fail("%s is published before CloudFront answers for it", e.Name)
				}
			}
		}
	}
	for r := range p.zone {
		if !slices.ContainsFunc(p.in.Memory.Ledger, func(e dns.Entry) bool { return e.Record == r }) {
			p.fail("%s is in the zone and in no ledger", r.Name)
		}
	}
}

// held reports whether the tenant has the domain.
func (p *play) held(domain string) bool {
	return p.tenant != nil && slices.Contains(p.tenant.Domains, domain)
}

// proven reports whether CloudFront sees that the name leads to it. Without spec.dns the user
// sees to that.
func (p *play) proven(domain string) bool { return p.in.Desired.DNS == nil || p.leads(domain) }

// leads reports whether a record of ours leads every client to CloudFront.
func (p *play) leads(domain string) bool {
	for r, have := range p.zone {
		if r.Name == domain && have.phase != dns.Coming {
			return true
		}
	}
	return false
}

// safe checks that no name leads to CloudFront without a tenant, unless it came before it.
func (p *play) safe() {
	for r, have := range p.zone {
		held := p.held(dns.Domain(r.Name))
		if held {
			have.early = false
		}
		if !held && !have.early {
			p.fail("%s leads to CloudFront and no tenant holds it", r.Name)
		}
	}
}

// tick lets time go by.
func (p *play) tick(d time.Duration) {
	for end := p.now.Add(d); p.now.Before(end); {
		p.now = p.now.Add(min(end.Sub(p.now), max(10*time.Second, d/50)))
		for r, have := range p.zone {
			switch done := p.now.Sub(have.at) >= propagates; {
			case done && have.phase == dns.Leaving:
				delete(p.zone, r)
			case done:
				have.phase = dns.There
			}
		}
		if p.tenant != nil {
			p.moveTenant()
		}
	}
}

func (p *play) moveTenant() {
	t := p.tenant
	if p.now.Sub(t.changed) >= deploys {
		t.Status = distributiontenant.Deployed
		for _, d := range t.Domains {
			own := p.acm[t.Customizations.CertificateARN]
			if own != nil && own.State == certificate.Issued && slices.Contains(own.domains, d) || p.in.Desired.Request == nil {
				t.DomainStates[d] = distributiontenant.DomainActive
			}
		}
	}
	m := t.managed
	if m == nil || m.State != certificate.Pending || p.now.Sub(m.at) < validates {
		return
	}
	proven := m.Host == certificate.SelfHosted
	if !proven {
		proven = !slices.ContainsFunc(m.domains, func(d string) bool { return !p.proven(d) })
	}
	switch {
	case proven:
		m.State = certificate.Issued
		if p.attaches {
			t.Customizations.CertificateARN, t.Status, t.changed = m.ARN, distributiontenant.InProgress, p.now
			t.ETag = p.next("E")
		}
	case p.now.Sub(m.at) >= timesOut:
		m.State = certificate.TimedOut
	default:
		return
	}
	if p.movesETag {
		t.ETag = p.next("E")
	}
}

func (p *play) next(prefix string) string {
	p.serial++
	return fmt.Sprintf("%s-%d", prefix, p.serial)
}
