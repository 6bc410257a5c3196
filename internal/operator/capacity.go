package operator

import (
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/account"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/inventory"
)

// newCapacity is the watch over what an account may have.
func newCapacity(a *account.Account, clk clock.WithTicker) *inventory.Capacity {
	log := ctrl.Log.WithName("quotas")
	if a.ID != "" {
		log = log.WithValues("account", a.ID)
	}
	return inventory.NewCapacity(inventory.CapacityOptions{
		Inventory: a.Inventory, Quotas: a.Quotas, Counts: a.CloudFront, Clock: clk,
		OnDenied: func(err error) {
			log.Info("Not all limits of the account can be read, so metrics show the documented defaults, and lack what can't be counted", "reason", err.Error())
		},
	})
}

// capacity tells how much of its quotas each account uses.
type capacity struct {
	list func() []watch
	// inProgress are the paths of invalidations by the account of their tenants; nil where no controller requests any.
	inProgress  func() map[string]pathCount
	used, limit *prometheus.Desc
}

func registerCapacity(r prometheus.Registerer, list func() []watch, inProgress func() map[string]pathCount) error {
	const only = " Only the active replica exports it."
	return registerAll(r, &capacity{
		list: list, inProgress: inProgress,
		used: prometheus.NewDesc(metricPrefix+"quota_used",
			"What the AWS account has of a quota, including what is not the operator's: distribution_tenants, certificates (in ACM, as of the last list, which needs an attached certificate), connection_groups and multi_tenant_distributions (both counted once a day), domains_per_tenant (those of the tenant that has the most), invalidation_paths and invalidation_wildcards (without and with a star, in progress for the Invalidation objects of the cluster only). Not exported while it is not known."+only,
			[]string{accountLabel, "quota"}, nil),
		limit: prometheus.NewDesc(metricPrefix+"quota_limit",
			"What the AWS account may have of a quota. The source is account (Service Quotas has a value of the account), default (Service Quotas has a default only) or documented (AWS's documentation: Service Quotas can't be read, or lacks the quota). Read once a day."+only,
			[]string{accountLabel, "quota", "source"}, nil),
	})
}

// Describe implements prometheus.Collector.
func (c *capacity) Describe(d chan<- *prometheus.Desc) { d <- c.used; d <- c.limit }

// Collect implements prometheus.Collector.
func (c *capacity) Collect(out chan<- prometheus.Metric) {
	all := c.list()
	paths := c.paths(all)
	for _, w := range all {
		r := w.capacity.Report()
		if r == nil {
			continue
		}
		for _, quota := range slices.Sorted(maps.Keys(r.Limits)) {
			limit := r.Limits[quota]
			out <- prometheus.MustNewConstMetric(c.limit, prometheus.GaugeValue, limit.Value, w.account, string(quota), string(limit.Source))
			n, known := w.used(quota, r)
			if of, counts := pathQuotas[quota]; counts {
				n, known = of(paths[w.account]), paths != nil
			}
			if known {
				out <- prometheus.MustNewConstMetric(c.used, prometheus.GaugeValue, float64(n), w.account, string(quota))
			}
		}
	}
}

// pathQuotas are those of invalidations in progress.
var pathQuotas = map[inventory.Quota]func(pathCount) int{
	inventory.QuotaInvalidationPaths:     func(n pathCount) int { return n.plain },
	inventory.QuotaInvalidationWildcards: func(n pathCount) int { return n.starred },
}

// paths are the paths in progress by the label of their account, nil if they are not known. The ID of the operator's own
// account is not known here: what is in no other account is in that.
func (c *capacity) paths(all []watch) map[string]pathCount {
	if c.inProgress == nil {
		return nil
	}
	found := c.inProgress()
	if found == nil {
		return nil
	}
	out := map[string]pathCount{}
	for id, n := range found {
		if !slices.ContainsFunc(all, func(w watch) bool { return w.account == id }) {
			id = ""
		}
		out[id] = pathCount{out[id].plain + n.plain, out[id].starred + n.starred}
	}
	return out
}

// used is what the account has of a quota, as far as is known.
func (w watch) used(quota inventory.Quota, r *inventory.CapacityReport) (n int, known bool) {
	switch quota {
	case inventory.QuotaTenants:
		s := w.inventory.Stats()
		return s.Tenants, !s.LastSweep.IsZero()
	case inventory.QuotaCertificates:
		e := w.expiry.Report()
		if e == nil || e.Listed.IsZero() {
			return 0, false
		}
		return e.Account, true
	case inventory.QuotaDomains:
		return w.inventory.MostDomains(), !w.inventory.Stats().LastSweep.IsZero()
	case inventory.QuotaConnectionGroups, inventory.QuotaDistributions, inventory.QuotaInvalidationPaths, inventory.QuotaInvalidationWildcards:
	}
	n, known = r.Used[quota]
	return n, known
}
