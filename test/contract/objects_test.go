package contract

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantplan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/plans"
)

// verdict is what a tool should conclude from an object.
type verdict string

const (
	underway    verdict = "underway"
	failed      verdict = "failed"
	done        verdict = "done"
	terminating verdict = "terminating"
	// suspended is done for tools that know no such state.
	suspended verdict = "suspended"
)

// specimen is an object in a state, and what a tool should conclude from it.
type specimen struct {
	object *unstructured.Unstructured
	want   verdict
}

// specimens are objects of each kind in each state.
func specimens(t *testing.T) map[string]specimen {
	t.Helper()
	out := map[string]specimen{}
	add := func(name string, o client.Object, want verdict) {
		tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := out[name]; twice {
			t.Fatalf("there are two of %s", name)
		}
		out[name] = specimen{&unstructured.Unstructured{Object: tree}, want}
	}
	for name, state := range tenantStates() {
		o := tenantAfter(state.changes...)
		add("DistributionTenant: "+name, o, verdictOnTenant(name, state, o))
	}
	addParents(add)
	addSources(add)
	addTenants(add)
	addPlans(add)
	for _, o := range unseen() {
		add(o.GetObjectKind().GroupVersionKind().Kind+": nothing has looked at it yet", o, underway)
	}
	for name, s := range out {
		if s.want == done {
			edited := s.object.DeepCopy()
			edited.SetGeneration(edited.GetGeneration() + 1)
			out[name+", before it was edited"] = specimen{edited, underway}
		}
	}
	return out
}

// verdictOnTenant follows from the contract, but for a row of a condition other than Ready.
func verdictOnTenant(name string, state tenantState, o *v1alpha1.DistributionTenant) verdict {
	ready := map[string]bool{
		"all is well": true, "AWS matches the spec": true, "drift that is only reported": true, "a managed certificate in use": true,
		"one that is wanted no more": true, "a record in sync": true, "no DNS": true,
	}
	switch {
	case o.DeletionTimestamp != nil:
		return terminating
	case chain.NeedsPerson(chain.Reason(parsed(state.row).reason)):
		return failed
	case ready[name]:
		return done
	}
	return underway
}

func typeOf(kind string) metav1.TypeMeta {
	version := v1alpha1.SchemeGroupVersion
	if kind == "Tenant" || kind == "TenantPlan" {
		version = kleffv1.SchemeGroupVersion
	}
	return metav1.TypeMeta{APIVersion: version.String(), Kind: kind}
}

func metaOf(generation int64) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "shop", Name: "acme", UID: "u1", Generation: generation, CreationTimestamp: metav1.NewTime(now.Add(-time.Hour))}
}

// unseen are new objects of all kinds, as the API server defaults them.
func unseen() []client.Object {
	return []client.Object{
		&v1alpha1.DistributionTenant{TypeMeta: typeOf("DistributionTenant"), ObjectMeta: metaOf(1), Status: v1alpha1.DistributionTenantStatus{ObservedGeneration: -1}},
		&v1alpha1.Distribution{TypeMeta: typeOf("Distribution"), ObjectMeta: metaOf(1), Status: v1alpha1.DistributionStatus{ResourceStatus: v1alpha1.ResourceStatus{ObservedGeneration: -1}}},
		&v1alpha1.ConnectionGroup{TypeMeta: typeOf("ConnectionGroup"), ObjectMeta: metaOf(1), Status: v1alpha1.ConnectionGroupStatus{ResourceStatus: v1alpha1.ResourceStatus{ObservedGeneration: -1}}},
		&v1alpha1.TenantSource{TypeMeta: typeOf("TenantSource"), ObjectMeta: metaOf(1), Status: v1alpha1.TenantSourceStatus{ObservedGeneration: -1}},
		&kleffv1.Tenant{TypeMeta: typeOf("Tenant"), ObjectMeta: metaOf(1), Status: kleffv1.TenantStatus{ObservedGeneration: -1}},
		&kleffv1.TenantPlan{TypeMeta: typeOf("TenantPlan"), ObjectMeta: metaOf(1), Status: kleffv1.TenantPlanStatus{ObservedGeneration: -1}},
	}
}

type adder = func(name string, o client.Object, want verdict)

// addParents adds distributions and connection groups.
func addParents(add adder) {
	for name, state := range map[string]struct {
		change func(*distribution.Input)
		want   verdict
	}{
		"all is well": {func(*distribution.Input) {}, done},
		"a new object": {func(in *distribution.Input) {
			in.Generation, in.Memory, in.World.Resource, in.World.Knowledge = 1, distribution.Memory{}, nil, resource.Nothing
		}, underway},
		"a change on its way":        {func(in *distribution.Input) { in.World.Resource.Status = "InProgress" }, underway},
		"a change that AWS rejects":  {refusedParent(fault.Invalid), failed},
		"a missing permission":       {refusedParent(fault.Denied), failed},
		"a change that was not sent": {func(in *distribution.Input) { in.Generation++; in.World.Differences = parentDifference() }, underway},
		"a deleted object":           {func(in *distribution.Input) { in.Generation, in.DeletedAt = 3, now.Add(-time.Minute) }, terminating},
		"a deletion that AWS refuses": {func(in *distribution.Input) {
			in.Generation, in.DeletedAt, in.World.Dependents = 3, now.Add(-time.Minute), &distribution.Dependents{}
			in.World.Refused = &fault.Error{Kind: fault.Denied, Operation: "UpdateDistribution"}
		}, terminating},
	} {
		for _, kind := range []string{"Distribution", "ConnectionGroup"} {
			in := quietParent()
			state.change(&in)
			object := metaOf(in.Generation)
			if !in.DeletedAt.IsZero() {
				object.DeletionTimestamp = &metav1.Time{Time: in.DeletedAt}
			}
			status := v1alpha1.ResourceStatus{ObservedGeneration: in.Memory.AppliedGeneration}
			convert.ResourceReport(&status, distribution.Conclude(in, distribution.Outcome{Decision: distribution.Decide(in)}), now)
			if kind == "Distribution" {
				add(kind+": "+name, &v1alpha1.Distribution{TypeMeta: typeOf(kind), ObjectMeta: object, Status: v1alpha1.DistributionStatus{ResourceStatus: status}}, state.want)
				continue
			}
			add(kind+": "+name, &v1alpha1.ConnectionGroup{TypeMeta: typeOf(kind), ObjectMeta: object, Status: v1alpha1.ConnectionGroupStatus{ResourceStatus: status}}, state.want)
		}
	}
}

func parentDifference() []resource.Difference {
	return []resource.Difference{{Field: "comment", Desired: "shop", Observed: "lead"}}
}

func refusedParent(kind fault.Kind) func(*distribution.Input) {
	return func(in *distribution.Input) {
		in.Generation++
		in.World.Differences, in.World.Refused = parentDifference(), &fault.Error{Kind: kind, Operation: "UpdateDistribution", Message: "No."}
	}
}

// quietParent is a distribution that is deployed and equals its spec.
func quietParent() distribution.Input {
	return distribution.Input{
		Object:  resource.Object{Now: now, Me: me, Generation: 2, HasFinalizer: true},
		Desired: distribution.Desired{Words: distribution.Words{Noun: "distribution", Object: "acme"}, Enabled: true, Numbered: true},
		Policy:  distribution.Policy{Policy: resource.Policy{Drift: resource.DriftEnforce, Adoption: resource.AdoptNever}, Timeout: time.Hour},
		Memory:  distribution.Memory{Memory: resource.Memory{ID: "E1", AppliedGeneration: 2}},
		World: distribution.World{
			Fresh:    true,
			Resource: &distribution.Observed{ID: "E1", ARN: "arn:aws:cloudfront::111122223333:distribution/E1", ETag: "V1", Status: distribution.Deployed, Enabled: true, Modified: now.Add(-time.Hour)},
			World:    resource.World{Knowledge: resource.Whole, Tags: me.Tags(), TagsKnown: true, TagsRead: now, TagsFresh: true},
		},
	}
}

func addSources(add adder) {
	round := func(change func(*tenantsource.Round)) tenantsource.Input {
		r := &tenantsource.Round{Began: now, Generation: 2, Harvest: &tenantsource.Harvest{Rows: 3, Tenants: 3}}
		change(r)
		return tenantsource.Input{View: tenantsource.View{Now: now}, State: tenantsource.State{Round: r}}
	}
	failing := func(reason chain.Reason) func(*tenantsource.Round) {
		return func(r *tenantsource.Round) { r.Failure = &tenantsource.Failure{Reason: reason, Message: "No."} }
	}
	held := func(r *tenantsource.Round) {
		r.Verdict.Pending = &tenantsource.PendingPlan{Hash: "0123456789abcdef", Names: []string{"acme"}}
	}
	for name, state := range map[string]struct {
		in   tenantsource.Input
		want verdict
	}{
		"all is well":                         {round(func(*tenantsource.Round) {}), done},
		"a database that does not answer":     {round(failing(tenantsource.PollFailed)), underway},
		"a table that is gone":                {round(failing(tenantsource.SourceError)), failed},
		"deletions that wait for approval":    {round(held), failed},
		"a Secret that can't be used":         {sourceOf(tenantsource.Spec{Invalid: "spec.connection: no"}), failed},
		"a deleted source":                    {deletingSource(tenantsource.Input{State: tenantsource.State{Round: &tenantsource.Round{Fleet: 2}}}), terminating},
		"a deletion that waits for approval":  {deletingSource(round(held)), terminating},
		"a source that people have suspended": {sourceOf(tenantsource.Spec{Suspended: true}), suspended},
	} {
		o := &v1alpha1.TenantSource{TypeMeta: typeOf("TenantSource"), ObjectMeta: metaOf(2)}
		o.Status.ObservedGeneration, o.Status.Conditions = 1, []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: "PollSucceeded"}}
		o.Spec.Suspend = state.in.Suspended
		if state.in.Deleting {
			o.DeletionTimestamp = &metav1.Time{Time: now}
		}
		convert.SourceStatus(&o.Status, o.Generation, tenantsource.Conclude(state.in, tenantsource.Decision{Step: tenantsource.Rest}), now)
		add("TenantSource: "+name, o, state.want)
	}
}

func sourceOf(spec tenantsource.Spec) tenantsource.Input {
	return tenantsource.Input{View: tenantsource.View{Now: now, Spec: spec}}
}

func deletingSource(in tenantsource.Input) tenantsource.Input {
	in.Deleting = true
	return in
}

func addTenants(add adder) {
	for name, state := range map[string]struct {
		change func(*tenant.Input)
		want   verdict
	}{
		"all is well":          {func(*tenant.Input) {}, done},
		"a new object":         {func(in *tenant.Input) { in.World.Namespace, in.World.Children = nil, nil }, underway},
		"an unknown plan":      {func(in *tenant.Input) { in.World.Follow = tenant.Follow{} }, failed},
		"a plan that can't be": {func(in *tenant.Input) { in.World.Follow.Invalid = "spec.x is wrong" }, failed},
		"a namespace of another owner": {func(in *tenant.Input) {
			in.World.Namespace, in.World.Looked = &plan.Live{Object: plan.Object{Kind: plan.KindNamespace, Name: in.Tenant.Namespace}}, true
		}, failed},
		"a deleted object":   {func(in *tenant.Input) { in.Deleting, in.World.Namespace.Deleting = true, true }, terminating},
		"a protected object": {func(in *tenant.Input) { in.Deleting, in.Protected = true, true }, terminating},
	} {
		in := quietCustomer()
		state.change(&in)
		o := &kleffv1.Tenant{TypeMeta: typeOf("Tenant"), ObjectMeta: metaOf(2)}
		if in.Deleting {
			o.DeletionTimestamp = &metav1.Time{Time: now}
		}
		convert.TenantStatus(&o.Status, o.Generation, tenant.Conclude(in, tenant.Outcome{Decision: tenant.Decide(in)}, nil), now)
		add("Tenant: "+name, o, state.want)
	}
}

// quietCustomer is a tenant that has all that its plan says.
func quietCustomer() tenant.Input {
	customer, p := plans.Tenant(), plans.Simple("10")
	namespace, _ := plan.BuildNamespace(customer, p)
	in := tenant.Input{
		Now: now, Tenant: customer, HasFinalizer: true, Attempts: plan.Attempts{},
		Memory: tenant.Memory{Namespace: customer.Namespace, Plan: "basic", PlanUID: plans.UID, PlanGeneration: 2},
		World: tenant.World{
			Namespace: &plan.Live{Object: namespace.Marked(), UID: "n1"},
			Follow:    tenant.Follow{Plan: p, UID: plans.UID, Generation: 2, Tried: true},
		},
	}
	for _, o := range append(plan.BuildLimits(customer, p), plan.BuildIsolation(customer, p)...) {
		in.World.Children = append(in.World.Children, plan.Live{Object: o.Marked(), UID: o.Name})
	}
	return in
}

func addPlans(add adder) {
	behind := tenantplan.Follower{Name: "a", UID: "a", Generation: 1, Named: true, Able: true}
	broken := behind
	broken.Generation, broken.Failure = 2, "Error: no"
	for name, state := range map[string]struct {
		change func(*tenantplan.Input)
		want   verdict
	}{
		"all is well":                   {func(*tenantplan.Input) {}, done},
		"a change on its way":           {func(in *tenantplan.Input) { in.Followers = []tenantplan.Follower{behind} }, underway},
		"a plan that can't be":          {func(in *tenantplan.Input) { in.Invalid = "spec.x is wrong" }, failed},
		"a roll-out that stopped":       {func(in *tenantplan.Input) { in.Followers = []tenantplan.Follower{broken, broken, behind} }, failed},
		"a deleted plan":                {func(in *tenantplan.Input) { in.Deleting = true; in.Followers = []tenantplan.Follower{behind} }, terminating},
		"tenants that could not get it": {func(in *tenantplan.Input) { in.Followers = []tenantplan.Follower{broken} }, underway},
	} {
		in := tenantplan.Input{
			Now: now, Plan: plans.Simple("10"), Name: "basic", UID: plans.UID, Generation: 2, HasFinalizer: true, Tried: true,
			Limits: rollout.Limits{MaxConcurrent: 2, MaxFailedPercent: 10}, Attempts: plan.Attempts{},
		}
		state.change(&in)
		o := &kleffv1.TenantPlan{TypeMeta: typeOf("TenantPlan"), ObjectMeta: metaOf(2)}
		if in.Deleting {
			o.DeletionTimestamp = &metav1.Time{Time: now}
		}
		convert.PlanStatus(&o.Status, o, tenantplan.Conclude(in, tenantplan.Outcome{Decision: tenantplan.Decide(in)}), now)
		add("TenantPlan: "+name, o, state.want)
	}
}
