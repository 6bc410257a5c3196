package operator

import (
	"cmp"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
)

// noReason is shown of a tenant that has not been looked at yet.
const noReason = "Unknown"

// registerTenants adds what is computed when it is scraped.
func registerTenants(r prometheus.Registerer, reader client.Reader, elected <-chan struct{}) error {
	return registerAll(r, computed{prometheus.NewDesc(metricPrefix+"plan_tenants",
		"Tenants of each plan by how far the plan's current version has come: applied, failed or waiting. Only the active replica exports it.",
		[]string{"plan", "state"}, nil), func(emit emitter) error { return emitPlans(elected, reader, emit) }}, computed{prometheus.NewDesc(metricPrefix+"customers",
		"Tenants by plan and reason of their TenantReady condition (Ready if ready). Only the active replica exports it.",
		[]string{"plan", "reason"}, nil), func(emit emitter) error { return emitCustomers(elected, reader, emit) }})
}

// emitCustomers counts the tenants in the cache. There are thousands of them, and a handful of plans and reasons.
func emitCustomers(elected <-chan struct{}, reader client.Reader, emit emitter) error {
	var list kleffv1.TenantList
	if listed, err := cached(elected, reader, &list); !listed {
		return err
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
		emit(float64(n), k.plan, k.reason)
	}
	return nil
}

// emitPlans tells how far the current version of each plan has come. A platform has a handful of plans.
func emitPlans(elected <-chan struct{}, reader client.Reader, emit emitter) error {
	var list kleffv1.TenantPlanList
	if listed, err := cached(elected, reader, &list); !listed {
		return err
	}
	for i := range list.Items {
		p := &list.Items[i]
		if p.Status.Tenants == nil {
			continue
		}
		applied, failed := value(p.Status.Applied), value(p.Status.Failed)
		emit(float64(applied), p.Name, "applied")
		emit(float64(failed), p.Name, "failed")
		emit(float64(max(*p.Status.Tenants-applied-failed, 0)), p.Name, "waiting")
	}
	return nil
}

func value(n *int32) int32 {
	if n == nil {
		return 0
	}
	return *n
}
