package distributiontenant

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
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
	claim := dns.Claim{
		Owner: p.owner(), Version: version(p.object.ResourceVersion), Since: p.object.CreationTimestamp.Time,
		Access: p.access(), Ledger: p.unhindered(stored),
		Takeover: p.in.Desired.DNS != nil && p.in.Desired.DNS.Takeover, Spares: p.granted != nil && p.granted.Takeover() == grant.TakeoverCloudFront, Reclaims: p.in.Rescued, Inherits: p.in.World.Inherits, Still: rests, Correct: p.in.Policy.Drift == resource.DriftEnforce && !rests && !p.in.Unresolved(),
	}
	if p.in.World.DNS.Records == nil {
		// The zone of a domain depends on the state of its present records.
		p.in.World.DNS = p.Zones.Seen(claim)
	}
	claim.Wants, claim.Extent = p.in.Wants()
	p.in.World.DNS = p.Zones.Declare(claim)
}

// unhindered leaves out of a ledger what must not be worked on now: nothing is written for a paused object, while everything
// is halted or while it is in doubt whose the tenant is, and no call is made with a role that the administrator has not
// granted.
func (p *pass) unhindered(stored []dns.Entry) []dns.Entry {
	switch {
	case p.in.Policy.DeniedRole != "":
		return nil
	case p.in.Rests():
		return slices.DeleteFunc(slices.Clone(stored), func(e dns.Entry) bool { return e.State != dns.Published })
	}
	return stored
}

func (p *pass) owner() dns.Owner {
	return dns.Owner{Namespace: p.object.Namespace, Name: p.object.Name, UID: string(p.object.UID)}
}

// access is the identity with which the object's zones are looked up.
func (p *pass) access() dns.Access {
	var provider dns.Provider
	role := ""
	switch {
	case p.in.Desired.DNS != nil:
		provider, role = p.in.Desired.DNS.Provider, p.in.Desired.DNS.RoleARN
	case len(p.in.Memory.Ledger) > 0:
		provider, role = p.in.Memory.Ledger[0].Provider, p.in.Memory.Ledger[0].RoleARN
	}
	return dns.AccessFor(p.Zones.WithAccount(provider), role, p.object.Namespace)
}

// version orders the versions of an object. The API server promises that they are numbers.
func version(resourceVersion string) uint64 {
	v, err := strconv.ParseUint(resourceVersion, 10, 64)
	if err != nil {
		return 0
	}
	return v
}

// knownZones are the zones that the object may publish in, as far as they were read before
// and have a place for every domain.
func (p *pass) knownZones() ([]dns.Zone, bool) {
	spec := p.in.Desired.DNS
	if spec == nil || p.in.Policy.DeniedRole != "" || p.in.Nudged {
		return nil, false
	}
	zones, known := p.Zones.Known(p.access())
	if id := spec.Zone.ID; id != "" {
		zone, found := p.Zones.KnownZone(p.access(), id)
		zones, known = []dns.Zone{zone}, found
	}
	zones = p.grantedZones(zones)
	homeless := slices.ContainsFunc(p.in.ProvenDomains(), func(d string) bool {
		_, err := spec.Zone.Match(d, zones)
		return err != nil
	})
	return zones, known && !homeless
}

// zones reads them. A failure only delays DNS.
func (p look) zones(ctx context.Context) error {
	zones, err := p.readZones(ctx)
	if refusal, ok := errors.AsType[*fault.Error](err); ok && resource.IsRefusal(refusal.Kind) {
		p.in.World.ZonesKnown, p.in.World.Unlisted = true, refusal
		return nil
	}
	if err != nil {
		return err
	}
	p.in.World.Zones, p.in.World.ZonesKnown, p.in.World.Unlisted = p.grantedZones(zones), true, nil
	return nil
}

// grantedZones leaves out the zones that the namespace may not have records in, as if there were none.
func (p *pass) grantedZones(zones []dns.Zone) []dns.Zone {
	if p.granted == nil {
		return zones
	}
	return slices.DeleteFunc(slices.Clone(zones), func(z dns.Zone) bool { return !p.granted.Zone(z) })
}

func (p look) readZones(ctx context.Context) ([]dns.Zone, error) {
	id := p.in.Desired.DNS.Zone.ID
	if id == "" {
		return p.Zones.List(ctx, p.access())
	}
	zone, err := p.Zones.Get(ctx, p.access(), id)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	return []dns.Zone{zone}, err
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
