package metrics

import (
	"context"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/inventory"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
)

// quotas tells how much of its quotas each account uses.
func (g *Gauges) quotas(ctx context.Context, emit emitter) error {
	all := g.accounts()
	if len(all) == 0 {
		return nil
	}
	paths := g.paths(ctx, all)
	for _, a := range all {
		r := a.Capacity.Report()
		if r == nil {
			continue
		}
		for _, quota := range slices.Sorted(maps.Keys(r.Limits)) {
			limit := r.Limits[quota]
			emit("quota_limit", limit.Value, a.ID, string(quota), string(limit.Source))
			n, known := a.used(quota, r)
			if of, has := pathQuotas[quota]; has {
				n, known = of(paths[a.ID]), paths != nil
			}
			if known {
				emit("quota_used", float64(n), a.ID, string(quota))
			}
		}
	}
	return nil
}

// used is what the account has of a quota, as far as is known.
func (a Account) used(quota inventory.Quota, r *inventory.CapacityReport) (n int, known bool) {
	switch quota {
	case inventory.QuotaTenants:
		s := a.Inventory.Stats()
		return s.Tenants, !s.LastSweep.IsZero()
	case inventory.QuotaCertificates:
		e := a.Expiry.Report()
		if e == nil || e.Listed.IsZero() {
			return 0, false
		}
		return e.Account, true
	case inventory.QuotaDomains:
		return a.Inventory.MostDomains(), !a.Inventory.Stats().LastSweep.IsZero()
	case inventory.QuotaWebACLs:
		return a.Inventory.MostOfAWebACL(), !a.Inventory.Stats().LastSweep.IsZero()
	case inventory.QuotaConnectionGroups, inventory.QuotaDistributions, inventory.QuotaInvalidationPaths, inventory.QuotaInvalidationWildcards:
	}
	n, known = r.Used[quota]
	return n, known
}

// pathCount counts paths without and with a star, of which CloudFront has quotas of their own.
type pathCount struct{ plain, starred int }

func (p pathCount) plus(q pathCount) pathCount {
	return pathCount{p.plain + q.plain, p.starred + q.starred}
}

// pathQuotas are those of invalidations in progress.
var pathQuotas = map[inventory.Quota]func(pathCount) int{
	inventory.QuotaInvalidationPaths:     func(n pathCount) int { return n.plain },
	inventory.QuotaInvalidationWildcards: func(n pathCount) int { return n.starred },
}

// paths are the paths that AWS is removing from caches for the objects in the cache, by the label of the AWS account of
// their tenants, nil if they are not known. The ID of the operator's own account is not known here: what is in no other
// account is in that.
func (g *Gauges) paths(ctx context.Context, all []Account) map[string]pathCount {
	if !slices.Contains(g.Controllers, config.Invalidation) {
		return nil
	}
	var list v1alpha1.InvalidationList
	if err := g.Reader.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	out := map[string]pathCount{}
	for i := range list.Items {
		o := &list.Items[i]
		each := countPaths(convert.InvalidatedItems(o))
		for _, t := range o.Status.Tenants {
			if t.State != v1alpha1.InvalidationInProgress {
				continue
			}
			id := g.accountOfTenant(ctx, client.ObjectKey{Namespace: o.Namespace, Name: t.Name})
			if !slices.ContainsFunc(all, func(a Account) bool { return a.ID == id }) {
				id = ""
			}
			out[id] = out[id].plus(each)
		}
	}
	return out
}

func countPaths(paths []string) (n pathCount) {
	for _, path := range paths {
		if strings.HasSuffix(path, "*") {
			n.starred++
		} else {
			n.plain++
		}
	}
	return n
}

// accountOfTenant is empty for a tenant whose object is gone.
func (g *Gauges) accountOfTenant(ctx context.Context, key client.ObjectKey) string {
	var o v1alpha1.DistributionTenant
	if err := g.Reader.Get(ctx, key, &o); err != nil {
		return ""
	}
	return convert.RecordedAccount(&o, o.Status.ARN)
}
