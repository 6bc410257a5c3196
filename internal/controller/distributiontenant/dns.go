package distributiontenant

import (
	"context"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/awsresource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// tellZones is the last of what is observed: a zone starts to work on what it is told.
func (p *pass) tellZones() {
	if p.in.Nudged {
		p.Zones.Refresh(p.owner())
	}
	p.declare(p.in.Memory.Ledger)
	if p.in.Delegated() {
		// The zone that has the domain now may be younger than the list.
		p.in.World.Zones, p.in.World.ZonesKnown = nil, false
	}
}

// declare tells the zones what the object wants and what its stored ledger holds, and takes
// over what is known of both.
func (p *pass) declare(stored []dns.Entry) {
	if p.in.Desired.DNS == nil && len(stored) == 0 {
		p.Zones.Forget(p.owner())
		return
	}
	rests := p.in.Rests()
	claim := p.records().Claim(p.object, stored, rests)
	claim.Reclaims, claim.Inherits = p.in.Rescued, p.in.World.Inherits
	claim.Correct = p.in.Policy.Drift == resource.DriftEnforce && !rests && !p.in.Unresolved()
	if p.in.World.DNS.Records == nil {
		// The zone of a domain depends on the state of its present records.
		p.in.World.DNS = p.Zones.Seen(claim)
	}
	claim.Wants, claim.Extent = p.in.Wants()
	p.in.World.DNS = p.Zones.Declare(claim)
}

// records are those of the object. Nothing is written for a paused object, while everything is halted or while it is in
// doubt whose the tenant is.
func (p *pass) records() awsresource.Records {
	return awsresource.Records{
		Zones: p.Zones, Owner: p.owner(), Spec: p.in.Desired.DNS, Ledger: p.in.Memory.Ledger, Granted: p.granted, DeniedRole: p.in.Policy.DeniedRole,
	}
}

func (p *pass) owner() dns.Owner {
	return dns.Owner{Namespace: p.object.Namespace, Name: p.object.Name, UID: string(p.object.UID)}
}

// knownZones are the zones that the object may publish in, as far as they were read before.
func (p *pass) knownZones() ([]dns.Zone, bool) {
	if p.in.Nudged {
		return nil, false
	}
	return p.records().Known(p.in.ProvenDomains())
}

// zones reads them.
func (p look) zones(ctx context.Context) error {
	zones, unlisted, err := p.records().Read(ctx)
	if err != nil {
		return err
	}
	p.in.World.ZonesKnown, p.in.World.Unlisted = true, unlisted
	if unlisted == nil {
		p.in.World.Zones = zones
	}
	return nil
}

// visible asks public DNS for a few of the domains. Resolvers that fail to answer delay
// nothing, and those that say no delay for a few minutes at most.
func (p look) visible(ctx context.Context) {
	w, a := &p.in.World, &p.in.Attempts
	w.VisibleKnown, w.Visible = true, true
	domains := p.in.ProvenDomains()
	for _, domain := range domains[:min(len(domains), askedDomains)] {
		seen, err := p.Resolver.Leads(ctx, domain, w.RoutingEndpoint)
		if err != nil || seen {
			continue
		}
		if a.InvisibleSince.IsZero() {
			a.InvisibleSince = p.in.Now
		}
		w.Visible = p.in.Now.Sub(a.InvisibleSince) > distributiontenant.VisiblePatience
	}
}

// askedDomains bounds the questions to public DNS in one pass: what was published in one
// batch is seen at one time.
const askedDomains = 3
