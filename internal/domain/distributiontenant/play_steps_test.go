package distributiontenant_test

import (
	"maps"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

var lost = &fault.Error{Kind: fault.Transient, Operation: "Something", Message: "the answer was lost"}

// perform carries out a step and takes over what it shows.
func (p *play) perform(in *distributiontenant.Input, s distributiontenant.Step) *fault.Error {
	switch s := s.(type) {
	case distributiontenant.Look:
		p.look(in, s)
		return nil
	case distributiontenant.EnsureFinalizer:
		in.HasFinalizer = true
		return nil
	case distributiontenant.Claim:
		for _, d := range s.Domains {
			p.claims[d] = true
		}
		in.World.Unheld = nil
	case distributiontenant.Create:
		return p.create(in, s)
	case distributiontenant.Update:
		return p.update(in, s)
	case distributiontenant.Tag:
		p.tenant.tags = ownership.Merge(s.Tags, me)
		in.World.Tags = p.tenant.tags
		in.Attempts.Sent(in.Generation, resource.WroteTags, p.now)
	case distributiontenant.Untag:
		p.tenant.tags = maps.Clone(p.tenant.tags)
		for _, k := range s.Keys {
			delete(p.tenant.tags, k)
		}
		in.World.Tags = p.tenant.tags
	case distributiontenant.Disable:
		if err := p.stale(s.ETag); err != nil {
			return err
		}
		p.torn("disabled")
		p.tenant.Enabled = false
		p.touch()
		p.wrote(in)
	case distributiontenant.Delete:
		return p.delete(in, s)
	case distributiontenant.DeleteCertificate:
		p.deleteCertificate(s.ARN)
		in.World.Certificates[s.ARN] = distributiontenant.Certificate{ARN: s.ARN, Missing: true, Deleted: true}
	case distributiontenant.LetGo:
		if len(p.zone) > 0 {
			p.fail("the object is released and leaves records behind")
		}
		p.gone = true
	case distributiontenant.Move:
		p.fail("%s is moved, and nothing is handed over", s.Domain)
	case distributiontenant.Adopt, distributiontenant.Rest:
		p.fail("no controller performs %T", s)
	}
	return nil
}

func (p *play) look(in *distributiontenant.Input, s distributiontenant.Look) {
	w := &in.World
	switch s.At {
	case distributiontenant.LookAddresses, distributiontenant.LookWords, distributiontenant.LookRenewal, distributiontenant.LookGiver: // these plays have none
	case distributiontenant.LookTenant:
		if p.tenant == nil {
			w.Knowledge, w.Tenant, p.seen = resource.Absent, nil, nil
			return
		}
		p.see(true)
		t := *p.seen
		w.Knowledge, w.Tenant, w.TenantFresh = resource.Whole, &t, true
	case distributiontenant.LookTags:
		p.tagsRead = p.now
		if p.tenant != nil {
			w.Tags = p.tenant.tags
		}
		w.TagsKnown, w.TagsFresh, w.TagsRead = true, true, p.now
	case distributiontenant.LookDistribution:
		w.Distribution, w.DistributionSeen = quiet().World.Distribution, true
	case distributiontenant.LookCertificates:
		if w.Certificates == nil {
			w.Certificates = map[string]distributiontenant.Certificate{}
		}
		for _, arn := range s.ARNs {
			c := distributiontenant.Certificate{ARN: arn, Missing: p.acm[arn] == nil, CloudFrontManaged: true}
			if arn == distARN {
				c = distributiontenant.Certificate{ARN: arn, Status: distributiontenant.CertificateIssued, Names: []string{"*.example.com"}}
			}
			w.Certificates[arn] = c
		}
	case distributiontenant.LookManaged:
		w.ManagedKnown, w.Managed = true, nil
		if p.tenant != nil && p.tenant.managed != nil {
			m := p.tenant.managed.Managed
			for _, d := range p.tenant.managed.domains {
				m.Tokens = append(m.Tokens, certificate.Token{Domain: d})
			}
			w.Managed = &m
		}
		in.Attempts.CertificateSeen, in.Attempts.Certificate, in.Attempts.CertificateETag = p.now, w.Managed, w.Tenant.ETag
	case distributiontenant.LookRouting:
		w.RoutingEndpoint, w.RoutingKnown = endpoint, true
	case distributiontenant.LookIPv6:
		w.IPv6Known = true
	case distributiontenant.LookZones:
		w.ZonesKnown = true
	case distributiontenant.LookTurn:
		asks, _ := in.ServiceChange()
		w.Turn, w.TurnKnown = distributiontenant.Turn{Answer: rollout.Answer{Go: p.turn}, Values: asks.Values}, true
	case distributiontenant.LookBudget:
		w.BudgetKnown = true // the plays have no budget
	case distributiontenant.LookClaims:
		w.UnheldKnown = true
		w.Unheld = slices.DeleteFunc(slices.Clone(s.Domains), func(d string) bool { return p.claims[d] })
	case distributiontenant.LookProofs:
		w.ProofsKnown = true // the plays have no grants
	case distributiontenant.LookAccount, distributiontenant.LookHolder, distributiontenant.LookVisible:
		w.Account, w.HolderKnown, w.VisibleKnown, w.Visible = "111122223333", true, true, true
	}
}

// unproven reports whether AWS would refuse the new domains among those.
func (p *play) unproven(domains []string, r *certificate.Request) bool {
	return p.in.Desired.Request != nil && slices.ContainsFunc(domains, func(d string) bool {
		switch {
		case p.held(d):
			return false
		case r == nil:
			return true
		}
		return r.ValidationTokenHost != certificate.SelfHosted && !p.proven(d)
	})
}

func (p *play) create(in *distributiontenant.Input, s distributiontenant.Create) *fault.Error {
	in.HasFinalizer, in.CreateMark = true, p.now
	p.in.HasFinalizer, p.in.CreateMark = true, p.now
	switch {
	case p.tenant != nil:
		return &fault.Error{Kind: fault.Exists}
	case p.refuses != fault.None:
		return &fault.Error{Kind: p.refuses}
	case p.unproven(s.Tenant.Domains, s.Request):
		return &fault.Error{Kind: fault.DomainUnverified}
	}
	t := s.Tenant
	if t.ConnectionGroupID == "" {
		t.ConnectionGroupID = "cg_1"
	}
	id := p.next("dt")
	p.tenant = &playedTenant{tags: s.Tags, Observed: distributiontenant.Observed{Tenant: t, ID: id, ARN: "arn:" + id, Created: p.now, DomainStates: map[string]string{}}}
	p.ask(s.Request)
	p.touch()
	if p.loses {
		return lost
	}
	p.tagsRead = p.now
	p.wrote(in)
	in.World.Tags, in.World.TagsKnown, in.World.TagsRead = s.Tags, true, p.now
	in.Attempts.Sent(in.Generation, resource.WroteConfig|resource.WroteTags, p.now)
	in.Attempts.CreatedAt = p.now
	p.requested(in, s.Request)
	return nil
}

func (p *play) stale(etag string) *fault.Error {
	if p.tenant == nil || p.tenant.ETag != etag {
		p.seen = nil
		return &fault.Error{Kind: fault.Conflict}
	}
	return nil
}

func (p *play) update(in *distributiontenant.Input, s distributiontenant.Update) *fault.Error {
	switch err := p.stale(s.ETag); {
	case err != nil:
		return err
	case len(s.Tenant.Domains) == 0:
		p.fail("a tenant was to lose its last domain")
	case p.refuses != fault.None && !slices.Equal(slices.Sorted(slices.Values(s.Tenant.Domains)), slices.Sorted(slices.Values(p.tenant.Domains))):
		return &fault.Error{Kind: p.refuses}
	case p.unproven(s.Tenant.Domains, s.Request):
		return &fault.Error{Kind: fault.DomainUnverified}
	}
	if !s.Seen.Customizations.Equals(p.tenant.Customizations) || !slices.Equal(s.Seen.Domains, p.tenant.Domains) || s.Seen.Enabled != p.tenant.Enabled {
		p.fail("an update of a tenant that was seen as %+v, under an ETag under which it is %+v", s.Seen, p.tenant.Tenant)
	}
	emptied := s.Tenant.Customizations.Equals(distributiontenant.Customizations{})
	if s.Request != nil && !emptied && !s.Tenant.Customizations.Equals(p.tenant.Customizations) {
		p.fail("a request for a certificate together with a change of customizations: %+v", s)
	}
	for _, d := range p.tenant.Domains {
		if !slices.Contains(s.Tenant.Domains, d) && p.leads(d) {
			p.fail("%s was taken from the tenant while it leads to CloudFront", d)
		}
		if !slices.Contains(s.Tenant.Domains, d) {
			p.claimed(d)
		}
	}
	states := map[string]string{}
	for _, d := range s.Tenant.Domains {
		states[d] = p.tenant.DomainStates[d]
	}
	p.tenant.Tenant, p.tenant.DomainStates = s.Tenant, states
	p.ask(s.Request)
	p.touch()
	if p.loses {
		// As the inventory does: what the list showed before is not believed any more.
		p.seen = nil
		return lost
	}
	p.wrote(in)
	kind := resource.WroteConfig
	if s.Partial {
		kind = 0
	}
	in.Attempts.Sent(in.Generation, kind, p.now)
	p.requested(in, s.Request)
	return nil
}

// ask is what AWS makes of a request for a certificate.
func (p *play) ask(r *certificate.Request) {
	if r == nil {
		return
	}
	if m := p.tenant.managed; m != nil && m.State == certificate.Pending {
		p.fail("a certificate was requested while another is underway")
	}
	if since := p.now.Sub(p.lastRequest); !p.excused && since < firstCertificateRetry {
		p.fail("a certificate was requested %s after the last one", since)
	}
	p.lastRequest, p.excused = p.now, false
	if p.losesRequest {
		return
	}
	m := &playedCertificate{Managed: certificate.Managed{ARN: p.next("arn:cert"), State: certificate.Pending, Host: r.ValidationTokenHost}, domains: slices.Clone(p.tenant.Domains), at: p.now}
	p.tenant.managed, p.acm[m.ARN] = m, m
}

// requested notes what the process may assume after a request.
func (p *play) requested(in *distributiontenant.Input, r *certificate.Request) {
	if r == nil {
		return
	}
	a := &in.Attempts
	in.Memory.Requested = &certificate.Sent{Request: *r, At: p.now}
	in.World.ManagedKnown, in.World.Managed = false, nil
	a.Last, a.CertificateETag = p.now, in.World.Tenant.ETag
	a.CertificateSeen, a.Certificate = p.now, &certificate.Managed{State: certificate.Pending, Host: r.ValidationTokenHost}
	if r.ValidationTokenHost == certificate.SelfHosted {
		a.CertificateSeen, a.Certificate, in.Memory.Certificate = time.Time{}, nil, nil
	}
}

// touch is what every write does to a tenant.
func (p *play) touch() {
	t := p.tenant
	t.ETag, t.Status, t.changed, t.Modified = p.next("E"), distributiontenant.InProgress, p.now, p.now
}

// wrote takes over the answer to an own write.
func (p *play) wrote(in *distributiontenant.Input) {
	a := &in.Attempts
	if before := in.World.Tenant; in.ManagesCertificate() && (before == nil || a.CertificateETag == "" || a.CertificateETag == before.ETag) {
		a.CertificateETag = p.tenant.ETag
	}
	p.see(true)
	t := *p.seen
	in.World.Knowledge, in.World.Tenant = resource.Whole, &t
}

// torn checks that nothing leads to what is torn down.
func (p *play) torn(how string) {
	for _, d := range p.tenant.Domains {
		if p.leads(d) {
			p.fail("the tenant was %s while %s leads to it", how, d)
		}
	}
}

func (p *play) delete(in *distributiontenant.Input, s distributiontenant.Delete) *fault.Error {
	if err := p.stale(s.ETag); err != nil {
		return err
	}
	p.torn("deleted")
	if p.tenant.Enabled || p.tenant.Status != distributiontenant.Deployed {
		in.Attempts.DeleteRefused = s.ETag
		return &fault.Error{Kind: fault.NotDisabled}
	}
	if m := p.tenant.managed; m != nil && !slices.Contains(p.in.Memory.Certificates, m.ARN) {
		p.fail("the tenant was deleted before its certificate %s stood in status", m.ARN)
	}
	for _, d := range p.tenant.Domains {
		p.claimed(d)
	}
	p.tenant, p.seen = nil, nil
	in.Attempts.DeletedAt, in.Attempts.Confirmed, in.World.Deleted = p.now, true, true
	in.World.Knowledge, in.World.Tenant = resource.Absent, nil
	in.World.TagsKnown, in.World.TagsFresh, in.World.Tags = false, false, nil
	return nil
}

// claimed sees that a domain that leaves AWS was claimed before. Once it is back, that claim is over.
func (p *play) claimed(domain string) {
	if !p.claims[domain] {
		p.fail("%s has left AWS without a claim", domain)
	}
	delete(p.claims, domain)
}

func (p *play) deleteCertificate(arn string) {
	if p.tenant != nil || !slices.Contains(p.in.Memory.Certificates, arn) {
		p.fail("certificate %s was deleted, which is not known to be superfluous", arn)
	}
	delete(p.acm, arn)
}
