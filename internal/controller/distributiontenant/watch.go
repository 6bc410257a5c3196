package distributiontenant

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/verdict"
)

// watchDomains has the domains that the operator does not publish looked at in public DNS, and takes over what was seen.
func (p *pass) watchDomains() {
	w := &p.in.World
	w.Places = make(map[string]onboarding.Place, len(p.in.Desired.Domains))
	for _, d := range p.in.Desired.Domains {
		w.Places[d] = convert.Place(d)
	}
	endpoint := cmp.Or(w.RoutingEndpoint, p.in.Memory.RoutingEndpoint)
	w.Targets = p.targets[endpoint]
	if p.Watcher == nil {
		return
	}
	key := client.ObjectKeyFromObject(p.object)
	w.Watched = true
	if p.in.Deleting || p.in.Desired.DNS != nil || endpoint == "" {
		p.Watcher.Forget(key)
		return
	}
	targets := append(slices.Clone(w.Targets), endpoint)
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

// recallTargets finds the customer targets of all connection groups. A tenant that may not use its group is told none, and
// none is a domain of its own.
func (p *pass) recallTargets(ctx context.Context) error {
	if p.in.Deleting || p.in.Frozen() {
		return nil
	}
	var list v1alpha1.ConnectionGroupList
	switch err := p.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); {
	case meta.IsNoMatchError(err):
		return nil // a cluster without the kind
	case err != nil:
		return err
	}
	p.targets = map[string][]string{}
	for n := range list.Items {
		g := &list.Items[n]
		targets := slices.DeleteFunc(convert.PublishedTargets(g), func(t string) bool {
			return slices.Contains(p.in.Desired.Domains, t)
		})
		if len(targets) > 0 {
			p.targets[g.Status.RoutingEndpoint] = targets
		}
	}
	return nil
}

// words asks AWS what it thinks of the DNS of the domains. If it can't tell, that hides nothing else.
func (p look) words(ctx context.Context, domains []string) error {
	p.in.Attempts.Verified = p.Clock.Now()
	one := ""
	if len(domains) == 1 {
		one = domains[0]
	}
	said, err := p.account.Inventory.VerifyDNS(ctx, p.in.World.Tenant.ID, one)
	if err != nil {
		return unlessRefused(err)
	}
	words := map[string]string{}
	for _, v := range said {
		if v.Status != verdict.Valid && v.Reason != "" && slices.Contains(domains, v.Domain) {
			words[v.Domain] = v.Reason
		}
	}
	p.in.Attempts.Words = words
	return nil
}

// renewal asks ACM which domains keep the renewal of a certificate up.
func (p look) renewal(ctx context.Context, arn string) error {
	p.in.Attempts.RenewalSeen = p.Clock.Now()
	p.account.References.Forget(arn)
	c, err := p.account.References.Certificate(ctx, arn)
	if err != nil {
		return unlessRefused(err)
	}
	p.in.Attempts.Unrenewed = c.Renewal.Pending
	return nil
}

// conflicts asks AWS who has a domain that no tenant of the account has, where a certificate proves that it may be told.
func (p look) conflicts(ctx context.Context, domain string) error {
	provenBy := p.in.Desired.DistributionID
	if t := p.in.World.Tenant; t != nil {
		provenBy = t.ID
	}
	found, err := p.account.Inventory.DomainConflicts(ctx, domain, provenBy)
	if err != nil {
		return unlessRefused(err)
	}
	p.in.World.Conflicts = slices.DeleteFunc(found, func(c verdict.Conflict) bool { return c.ID == provenBy })
	return nil
}

// unlessRefused leaves out what AWS does not want to tell, or not to this operator.
func unlessRefused(err error) error {
	if fault.Is(err, fault.Denied, fault.Invalid, fault.NotFound) {
		return nil
	}
	return err
}
