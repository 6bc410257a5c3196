package operator

import (
	"cmp"
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
)

// noReason is shown of a tenant that has not been looked at yet.
const noReason = "Unknown"

// registerTenants adds what is computed when it is scraped.
func registerTenants(r prometheus.Registerer, reader client.Reader, elected <-chan struct{}) error {
	return registerAll(r, &rollouts{reader: reader, elected: elected, desc: prometheus.NewDesc(metricPrefix+"plan_tenants",
		"Tenants of each plan by how far the plan's current version has come: applied, failed or waiting. Only the active replica exports it.",
		[]string{"plan", "state"}, nil)}, &customers{reader: reader, elected: elected, desc: prometheus.NewDesc(metricPrefix+"customers",
		"Tenants by plan and reason of their TenantReady condition (Ready if ready). Only the active replica exports it.",
		[]string{"plan", "reason"}, nil)})
}

// customers counts the tenants in the cache. There are thousands of them, and a handful of plans and reasons.
type customers struct {
	reader  client.Reader
	elected <-chan struct{}
	desc    *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (c *customers) Describe(d chan<- *prometheus.Desc) { d <- c.desc }

// Collect implements prometheus.Collector.
func (c *customers) Collect(out chan<- prometheus.Metric) {
	select {
	case <-c.elected:
	default:
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	var list kleffv1.TenantList
	if err := c.reader.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		out <- prometheus.NewInvalidMetric(c.desc, fmt.Errorf("listing the tenants: %w", err))
		return
	}
	type key struct{ plan, reason string }
	counts := map[key]int{}
	for i := range list.Items {
		t := &list.Items[i]
		k := key{plan: t.Spec.Plan}
		if ready := meta.FindStatusCondition(t.Status.Conditions, kleffv1.ConditionTenantReady); ready != nil {
			k.reason = ready.Reason
		}
		k.reason = cmp.Or(k.reason, noReason)
		counts[k]++
	}
	for k, n := range counts {
		out <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, float64(n), k.plan, k.reason)
	}
}

// rollouts tells how far the current version of each plan has come. A platform has a handful of plans.
type rollouts struct {
	reader  client.Reader
	elected <-chan struct{}
	desc    *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (r *rollouts) Describe(d chan<- *prometheus.Desc) { d <- r.desc }

// Collect implements prometheus.Collector.
func (r *rollouts) Collect(out chan<- prometheus.Metric) {
	select {
	case <-r.elected:
	default:
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	var list kleffv1.TenantPlanList
	if err := r.reader.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		out <- prometheus.NewInvalidMetric(r.desc, fmt.Errorf("listing the plans: %w", err))
		return
	}
	for i := range list.Items {
		p := &list.Items[i]
		if p.Status.Tenants == nil {
			continue
		}
		applied, failed := value(p.Status.Applied), value(p.Status.Failed)
		for _, s := range []struct {
			state string
			n     int32
		}{{"applied", applied}, {"failed", failed}, {"waiting", max(*p.Status.Tenants-applied-failed, 0)}} {
			out <- prometheus.MustNewConstMetric(r.desc, prometheus.GaugeValue, float64(s.n), p.Name, s.state)
		}
	}
}

func value(n *int32) int32 {
	if n == nil {
		return 0
	}
	return *n
}
