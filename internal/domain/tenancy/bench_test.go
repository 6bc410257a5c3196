package tenancy_test

import (
	"slices"
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenancy"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/plans"
)

// BenchmarkQuietPass is what it costs to find out that a tenant has all that a full plan says. A restart does that for each.
func BenchmarkQuietPass(b *testing.B) {
	in := settledIn(b)
	b.ReportAllocs()
	for b.Loop() {
		d := tenancy.Decide(in)
		if d.Rule != "Idle" {
			b.Fatalf("there was something to do: %+v", d)
		}
		tenancy.Conclude(in, tenancy.Outcome{Decision: d}, nil)
	}
}

// settledIn is what is found of a tenant that has all of a full plan.
func settledIn(b *testing.B) tenancy.Input {
	b.Helper()
	t, plan := plans.Tenant(), plans.Compile(b, plans.Full())
	namespace, _ := tenancy.BuildNamespace(t, plan)
	mesh, err := tenancy.BuildMesh(t, plan)
	if err != nil {
		b.Fatal(err)
	}
	edge, err := tenancy.BuildEdge(t, plan)
	if err != nil {
		b.Fatal(err)
	}
	in := tenancy.Input{Now: time.Unix(0, 0), Tenant: t, Held: true, Attempts: tenancy.Attempts{}, Memory: tenancy.Memory{
		Namespace: t.Namespace, Plan: t.Plan, PlanUID: plan.UID, PlanGeneration: plan.Generation,
	}}
	in.World.Namespace = found(namespace.Marked())
	in.World.Follow = tenancy.Follow{Plan: plan, UID: plan.UID, Generation: plan.Generation, Tried: true}
	for _, o := range slices.Concat(tenancy.BuildLimits(t, plan), tenancy.BuildIsolation(t, plan), mesh, edge) {
		in.World.Children = append(in.World.Children, *found(o.Marked()))
	}
	return in
}
