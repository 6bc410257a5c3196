package awsresource

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// recallTargets takes over what is known of the customer targets without a call.
func (p *pass[O, R]) recallTargets(ctx context.Context, spec Spec) error {
	if p.status.Targets == nil {
		return nil
	}
	p.in.Desired.Targets, p.in.Memory.Targets = spec.Targets, convert.TargetLedgers(*p.status.Targets)
	names := p.in.TargetNames()
	p.in.World.Targets = make(map[string]distribution.Sight, len(names))
	if len(names) == 0 {
		return nil
	}
	for _, name := range names {
		var s distribution.Sight
		s.DeniedRole = p.deniedRole(name)
		if records := p.records(name, s); !p.in.Nudged {
			s.Zones, s.ZonesKnown = records.Known([]string{name})
		} else {
			p.Zones.Refresh(records.Owner)
		}
		p.in.World.Targets[name] = s
	}
	if err := p.tenantsOfTargets(ctx); err != nil {
		return err
	}
	return p.heirs(ctx)
}

func (p *pass[O, R]) deniedRole(name string) string {
	role := ""
	if spec, _ := p.in.Target(name); spec != nil {
		role = spec.RoleARN
	}
	for _, t := range *p.status.Targets {
		if t.Name == name {
			return p.Defaults.DeniedRole(role, t.Records)
		}
	}
	return p.Defaults.DeniedRole(role, nil)
}

// tenantsOfTargets finds the objects of tenants that have a target among their domains.
func (p *pass[O, R]) tenantsOfTargets(ctx context.Context) error {
	var list v1alpha1.DistributionTenantList
	if err := p.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	for n := range list.Items {
		o := &list.Items[n]
		for _, d := range o.Spec.Domains {
			if s, is := p.in.World.Targets[d.Domain]; is {
				s.Tenant = ownership.Owner{Namespace: o.Namespace, Name: o.Name}
				p.in.World.Targets[d.Domain] = s
			}
		}
	}
	return nil
}

// heirs finds the targets that another group of the namespace takes over from this one, and those that it leaves to it.
func (p *pass[O, R]) heirs(ctx context.Context) error {
	var list v1alpha1.ConnectionGroupList
	if err := p.Client.List(ctx, &list, client.InNamespace(p.object.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	for name, s := range p.in.World.Targets {
		spec, _ := p.in.Target(name)
		mine := spec != nil && p.in.DeletedAt.IsZero()
		for n := range list.Items {
			if list.Items[n].UID == p.object.GetUID() {
				continue
			}
			wants, has := convert.HasTarget(&list.Items[n], name)
			s.Given, s.Inherits = s.Given || !mine && wants, s.Inherits || mine && has && !wants
		}
		p.in.World.Targets[name] = s
	}
	return nil
}

func (p *pass[O, R]) records(name string, s distribution.Sight) Records {
	spec, _ := p.in.Target(name)
	return Records{
		Zones: p.Zones, Owner: targetOwner(p.object, name), Spec: spec, Ledger: p.in.Memory.Targets[name], Granted: p.granted, DeniedRole: s.DeniedRole,
	}
}

func targetOwner(o client.Object, target string) dns.Owner {
	return dns.Owner{Namespace: o.GetNamespace(), Name: o.GetName(), UID: string(o.GetUID()), Target: target}
}

// declareTargets tells the zones what the targets want and what their stored ledgers hold, and takes over what is known of
// both.
func (p *pass[O, R]) declareTargets(stored map[string][]dns.Entry) {
	names := p.in.TargetNames()
	for _, name := range names {
		s := p.in.World.Targets[name]
		rests := p.in.Rests() || s.Given
		claim := p.records(name, s).Claim(p.object, stored[name], rests)
		claim.Reclaims, claim.Correct = p.in.Rescued, p.in.Policy.Drift == resource.DriftEnforce && !rests
		if s.Inherits {
			claim.Inherits = []string{name}
		}
		if s.DNS.Records == nil {
			s.DNS = p.Zones.Seen(claim)
			p.in.World.Targets[name] = s
		}
		claim.Wants, claim.Extent = p.in.TargetWants(name)
		s.DNS = p.Zones.Declare(claim)
		p.in.World.Targets[name] = s
	}
	for _, name := range p.memory.targets {
		if !slices.Contains(names, name) {
			p.Zones.Forget(targetOwner(p.object, name))
		}
	}
	p.memory.targets = names
}

// lookZones reads the zones of a target.
func (p *pass[O, R]) lookZones(ctx context.Context, name string) error {
	s := p.in.World.Targets[name]
	zones, unlisted, err := p.records(name, s).Read(ctx)
	if err != nil {
		return err
	}
	s.Zones, s.ZonesKnown, s.Unlisted = zones, true, unlisted
	p.in.World.Targets[name] = s
	return nil
}

// forgetTargets takes back what an object that is gone has declared.
func (c *Controller[O, R]) forgetTargets(key client.ObjectKey, uid types.UID, m *memory) {
	for _, name := range m.targets {
		c.Zones.Forget(dns.Owner{Namespace: key.Namespace, Name: key.Name, UID: string(uid), Target: name})
	}
}

// siblings are the groups that wake others of their namespace: those between which a target moves.
func (c *Controller[O, R]) siblings() []reconcile.Related {
	if c.kind.Status(c.kind.New()).Targets == nil {
		return nil
	}
	return []reconcile.Related{{Object: &v1alpha1.ConnectionGroup{}, Wakes: c.sharing, Matters: func(before, after client.Object) bool {
		return before.GetGeneration() != after.GetGeneration() || before.GetDeletionTimestamp().IsZero() != after.GetDeletionTimestamp().IsZero()
	}}}
}

// sharing are the other groups of the namespace that have a target of this one.
func (c *Controller[O, R]) sharing(o client.Object) (keys []types.NamespacedName) {
	ctx := context.Background()
	var list v1alpha1.ConnectionGroupList
	if err := c.Client.List(ctx, &list, client.InNamespace(o.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		if !meta.IsNoMatchError(err) {
			ctrl.Log.Error(err, "Can't list the connection groups that share a target")
		}
		return nil
	}
	group, _ := o.(*v1alpha1.ConnectionGroup)
	for n := range list.Items {
		if other := &list.Items[n]; other.UID != group.UID && convert.ShareTarget(group, other) {
			keys = append(keys, client.ObjectKeyFromObject(other))
		}
	}
	return keys
}
