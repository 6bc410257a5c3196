package distributiontenant

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/reference"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// referent is an object that tenants name.
type referent struct {
	field distributiontenant.ReferenceField
	key   types.NamespacedName
}

func referentOf(r distributiontenant.Reference) referent {
	return referent{field: r.Field, key: types.NamespacedName{Namespace: r.Namespace, Name: r.Name}}
}

// resolve finds out what the references of the spec lead to. A deletion looks at none of them: the state of the parents
// must not prevent the deletion of a tenant.
func (p *pass) resolve(ctx context.Context) {
	if p.in.Deleting {
		p.follow(p.object, nil)
		return
	}
	references := convert.References(p.object)
	// First followed, then read: no change in between is missed.
	p.follow(p.object, references)
	for n, r := range references {
		references[n] = reference.LookUp(ctx, p.Client, r)
	}
	p.in.Refer(references)
}

// confirmReferences asks the API server whether the references lead to what the pass knows, as the driver does for
// the object itself: behind a cache that is late a tenant would be moved back to where it was before.
func (p act) confirmReferences(ctx context.Context) error {
	for _, r := range p.in.World.References {
		if reference.LookUp(ctx, p.Live, r) != r {
			return fmt.Errorf("confirming spec.%s: %w", r.Field, reconcile.ErrBehind)
		}
	}
	return nil
}

// follow notes which objects the tenant names from now on.
func (c *Controller) follow(o *v1alpha1.DistributionTenant, references []distributiontenant.Reference) {
	key := client.ObjectKeyFromObject(o)
	c.mu.Lock()
	defer c.mu.Unlock()
	_, m := c.Of(key)
	if m == nil || slices.EqualFunc(m.names, references, func(a referent, b distributiontenant.Reference) bool { return a == referentOf(b) }) {
		return
	}
	c.unfollow(key, m)
	for _, r := range references {
		to := referentOf(r)
		if c.referrers[to] == nil {
			c.referrers[to] = map[types.NamespacedName]struct{}{}
		}
		c.referrers[to][key] = struct{}{}
		m.names = append(m.names, to)
	}
}

// unfollow needs the lock.
func (c *Controller) unfollow(key types.NamespacedName, m *memory) {
	for _, to := range m.names {
		delete(c.referrers[to], key)
		if len(c.referrers[to]) == 0 {
			delete(c.referrers, to)
		}
	}
	m.names = nil
}

// referrersOf are the tenants that name the object. One that had no pass yet has one before it, and needs no waking.
func (c *Controller) referrersOf(r distributiontenant.Reference) []types.NamespacedName {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.SortedFunc(maps.Keys(c.referrers[referentOf(r)]), func(a, b types.NamespacedName) int {
		return strings.Compare(a.String(), b.String())
	})
}

// related are the kinds of objects that tenants name.
func (c *Controller) related() []reconcile.Related {
	return []reconcile.Related{
		{Object: &v1alpha1.Distribution{}, Wakes: c.wakes, Matters: reference.Matters},
		{Object: &v1alpha1.ConnectionGroup{}, Wakes: c.wakes, Matters: reference.Matters},
		{Object: &v1alpha1.ConnectionGroup{}, Wakes: c.told, Matters: toldOther},
	}
}

// told are the tenants whose customers are told the targets of a connection group.
func (c *Controller) told(o client.Object) (keys []types.NamespacedName) {
	group, is := o.(*v1alpha1.ConnectionGroup)
	if !is || len(convert.PublishedTargets(group)) == 0 {
		return nil
	}
	var list v1alpha1.DistributionTenantList
	if err := c.Client.List(context.Background(), &list, client.UnsafeDisableDeepCopy); err != nil {
		ctrl.Log.Error(err, "Can't list the tenants whose customer targets have changed")
	}
	for n := range list.Items {
		if t := &list.Items[n]; t.Status.DNSTarget == group.Status.RoutingEndpoint {
			keys = append(keys, client.ObjectKeyFromObject(t))
		}
	}
	return keys
}

// toldOther reports whether a change of a connection group changes what its customers are told. Both objects are asked
// whom that concerns.
func toldOther(before, after client.Object) bool {
	a, _ := before.(*v1alpha1.ConnectionGroup)
	b, _ := after.(*v1alpha1.ConnectionGroup)
	return !slices.Equal(convert.PublishedTargets(a), convert.PublishedTargets(b)) || a.Status.RoutingEndpoint != b.Status.RoutingEndpoint
}

func (c *Controller) wakes(o client.Object) []types.NamespacedName {
	return c.referrersOf(reference.To(o))
}
