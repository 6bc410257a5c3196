package tenant_test

import (
	"slices"
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/plans"
)

// BenchmarkQuietPass is what it costs to find out that a tenant has all that a full plan says. A restart does that for each.
func BenchmarkQuietPass(b *testing.B) {
	in := settledIn(b)
	b.ReportAllocs()
	for b.Loop() {
		d := tenant.Decide(in)
		if d.Rule != "Idle" {
			b.Fatalf("there was something to do: %+v", d)
		}
		tenant.Conclude(in, tenant.Outcome{Decision: d}, nil)
	}
}

// settledIn is what is found of a tenant that has all of a full plan.
func settledIn(b *testing.B) tenant.Input {
	b.Helper()
	t, compiled := plans.Tenant(), plans.Compile(b, plans.Full())
	namespace, _ := plan.BuildNamespace(t, compiled)
	mesh, err := plan.BuildMesh(t, compiled)
	if err != nil {
		b.Fatal(err)
	}
	edge, err := plan.BuildEdge(t, compiled)
	if err != nil {
		b.Fatal(err)
	}
	in := tenant.Input{Now: time.Unix(0, 0), Tenant: t, HasFinalizer: true, Attempts: plan.Attempts{}, Memory: tenant.Memory{
		Namespace: t.Namespace, Plan: t.Plan, PlanUID: compiled.UID, PlanGeneration: compiled.Generation,
	}}
	in.World.Namespace = &plan.Live{Object: namespace.Marked()}
	in.World.Follow = tenant.Follow{Plan: compiled, UID: compiled.UID, Generation: compiled.Generation, Tried: true, Held: true}
	for _, o := range slices.Concat(plan.BuildLimits(t, compiled), plan.BuildIsolation(t, compiled), mesh, edge) {
		in.World.Children = append(in.World.Children, plan.Live{Object: o.Marked()})
	}
	return in
}
