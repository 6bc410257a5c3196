package tenant_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenant"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/plans"
)

const (
	namespaceUID = "n1"
)

// quiet is a tenant that has all that its plan says.
func quiet() tenant.Input {
	t, p := plans.Tenant(), plans.Simple("10")
	return tenant.Input{
		Now: plans.Now, Tenant: t, HasFinalizer: true, Memory: tenant.Memory{Namespace: t.Namespace, Plan: "basic", PlanUID: plans.UID, PlanGeneration: 2}, Attempts: plan.Attempts{},
		World: tenant.World{
			Namespace: namespaceOf(t, p), Children: childrenOf(t, p),
			Follow: tenant.Follow{Plan: p, UID: plans.UID, Generation: 2, Tried: true, Held: true},
		},
	}
}

func namespaceOf(t plan.Tenant, p *plan.Plan) *plan.Live {
	o, _ := plan.BuildNamespace(t, p)
	return &plan.Live{Object: o.Marked(), UID: namespaceUID}
}

func childrenOf(t plan.Tenant, p *plan.Plan) []plan.Live {
	var out []plan.Live
	for _, o := range slices.Concat(plan.BuildLimits(t, p), plan.BuildIsolation(t, p)) {
		out = append(out, plan.Live{Object: o.Marked(), UID: o.Name})
	}
	return out
}

func changed(in tenant.Input, changes ...func(*tenant.Input)) tenant.Input {
	for _, change := range changes {
		change(&in)
	}
	return in
}

// The changes of an input that cases are made of.
func absent(in *tenant.Input) { in.World.Namespace, in.World.Children = nil, nil }

func unheldTenant(in *tenant.Input) { in.HasFinalizer = false }

func looked(in *tenant.Input) { in.World.Looked = true }

func deleted(in *tenant.Input) { in.Deleting = true }

func retained(in *tenant.Input) { in.Retain = true }

func suspended(in *tenant.Input) { in.Tenant.Suspended = true }

func terminates(in *tenant.Input) {
	in.World.Namespace.Deleting = true
	in.World.Namespace.Body = map[string]any{"status": map[string]any{"conditions": []any{
		map[string]any{"type": "B", "status": "True", "message": "Some content remains"}, map[string]any{"type": "A", "status": "True", "message": "Finalizers remain"},
		map[string]any{"type": "C", "status": "False", "message": "All is well"},
	}}}
}

func labelled(key, value string) func(*tenant.Input) {
	return func(in *tenant.Input) {
		in.World.Namespace.Labels = maps.Clone(in.World.Namespace.Labels)
		if in.World.Namespace.Labels[key] = value; value == "" {
			delete(in.World.Namespace.Labels, key)
		}
	}
}

func foreign(in *tenant.Input) { labelled(plan.LabelTenantUID, "")(in); in.World.Children = nil }

func given(to string) func(*tenant.Input) {
	return func(in *tenant.Input) {
		in.World.Namespace.Annotations = map[string]string{plan.AnnotationAdoptBy: to}
	}
}

func owned(in *tenant.Input) { labelled(plan.LabelTenantUID, "u9")(in); in.World.Owner = "other" }

func refusedBy(k fault.Kind) func(*tenant.Input) {
	return func(in *tenant.Input) { in.World.Refused = plans.Refusal(k, "said the API server") }
}

// unannotated removes what says that the namespace has no plan.
func unannotated(in *tenant.Input) {
	n := *in.World.Namespace
	n.Annotations = maps.Clone(n.Annotations)
	delete(n.Annotations, plan.AnnotationWithoutPlan)
	in.World.Namespace = &n
}

func planless(in *tenant.Input) { in.World.Follow = tenant.Follow{} }

func noPlans(in *tenant.Input) { in.World.Follow.NoneAtAll = true }

func invalid(in *tenant.Input) {
	in.World.Follow.Plan, in.World.Follow.Invalid = nil, "spec.x is wrong"
}

func going(in *tenant.Input) { in.World.Follow.Going = true }

func untried(in *tenant.Input) { in.World.Follow.Tried = false }

func unheldPlan(in *tenant.Input) { in.World.Follow.Held = false }

func newcomer(in *tenant.Input) { in.Memory = tenant.Memory{} }

// waiting is a tenant to which the present generation has not come.
func waiting(in *tenant.Input) {
	in.World.Follow.Plan, in.World.Follow.Generation, in.World.Follow.Tried = plans.Simple("99"), 3, true
}

func released(in *tenant.Input) { waiting(in); in.World.Follow.Released = true }

// provisional is a tenant whose namespace was created without its plan.
func provisional(in *tenant.Input) {
	newcomer(in)
	in.World.Namespace, in.World.Children = namespaceOf(in.Tenant, plan.Floor()), childrenOf(in.Tenant, plan.Floor())
}

func former(in *tenant.Input) { in.World.Follow.Former = plans.Simple("10") }

func without(name string) func(*tenant.Input) {
	return func(in *tenant.Input) {
		in.World.Children = slices.DeleteFunc(slices.Clone(in.World.Children), func(l plan.Live) bool { return l.Name == name })
	}
}

func extra(in *tenant.Input) {
	in.World.Children = append(slices.Clone(in.World.Children), plan.Live{Object: plan.Object{Kind: plan.KindNetworkPolicy, Namespace: in.Tenant.Namespace, Name: "kleff-old"}, UID: "x"})
}

func childDeleting(in *tenant.Input) {
	in.World.Children = slices.Clone(in.World.Children)
	in.World.Children[0].Deleting = true
}

// failing is an object that could not be made, so and so long ago.
func failing(o plan.Object, hash string, count int, ago time.Duration) func(*tenant.Input) {
	return func(in *tenant.Input) {
		in.Attempts = plan.Attempts{o.Key(): {Hash: hash, Count: count, At: plans.Now.Add(-ago), Err: plans.Refusal(fault.Denied, "not allowed")}}
	}
}

// question is one case of a chain: what is the world, which rule speaks, what comes next.
type question struct {
	in   tenant.Input
	rule string
	step tenant.Step
	// reason is of the problem that stands in the way; empty: none does. says is its message, where a case is about it.
	reason chain.Reason
	says   string
}

func ask(t *testing.T, q question) {
	t.Helper()
	d := tenant.Decide(q.in)
	plans.Answered(t, d.Rule, d.Step, d.Problem, q.rule, q.step, q.reason, q.says)
}

func TestKeepChain(t *testing.T) {
	for name, q := range keepCases() {
		t.Run(name, func(t *testing.T) { ask(t, q) })
	}
}

func TestRemoveChain(t *testing.T) {
	for name, q := range removeCases() {
		q.in.Deleting = true
		t.Run(name, func(t *testing.T) { ask(t, q) })
	}
}

const lookedAtAgain = 5 * time.Minute

func keepCases() map[string]question {
	all := namespaceCases()
	maps.Copy(all, planCases())
	return all
}

func namespaceCases() map[string]question {
	t, p := plans.Tenant(), plans.Simple("10")
	fresh, _ := plan.BuildNamespace(t, nil)
	full, _ := plan.BuildNamespace(t, p)
	conflict := func(in tenant.Input, says string) question {
		return question{in: in, rule: "Conflict", step: tenant.Rest{After: lookedAtAgain}, reason: plan.ReasonNamespaceConflict, says: says}
	}
	adopt := tenant.ApplyNamespace{Object: full.Marked(), UID: namespaceUID, Adopts: true}
	guarded, _ := plan.BuildNamespace(t, plan.Floor())
	waited, _ := plan.BuildNamespace(t, plans.Simple("99"))
	create := func(in tenant.Input, o plan.Object, m tenant.Memory) question {
		return question{in: in, rule: "Create", step: tenant.CreateNamespace{Object: o.Marked(), Memory: m}}
	}
	return map[string]question{
		"a quiet world asks for nothing":     {in: quiet(), rule: "Idle", step: tenant.Rest{}},
		"a removed finalizer is added again": {in: changed(quiet(), unheldTenant), rule: "Finalized", step: tenant.EnsureFinalizer{}},
		"also where the names can't be any more": {
			in: changed(quiet(), unheldTenant, func(in *tenant.Input) { in.Problem = "spec.username is wrong" }), rule: "Finalized", step: tenant.EnsureFinalizer{},
		},
		"but not before there is a namespace": {in: changed(quiet(), unheldTenant, absent), rule: "Look", step: tenant.Look{}},
		"names that can't be stop everything": {
			in: changed(quiet(), absent, func(in *tenant.Input) { in.Problem = "spec.username is wrong" }), rule: "Names", step: tenant.Rest{},
			reason: plan.ReasonInvalidName, says: "spec.username is wrong",
		},
		"an absence in the cache is not believed":            {in: changed(quiet(), absent), rule: "Look", step: tenant.Look{}},
		"a namespace that is positively absent is made":      create(changed(quiet(), absent, looked, newcomer), full, tenant.Memory{}),
		"in a cluster without plans it has the defaults":     create(changed(quiet(), absent, looked, newcomer, planless, noPlans), fresh, tenant.Memory{}),
		"without its plan nothing starts in it":              create(changed(quiet(), absent, looked, newcomer, planless), guarded, tenant.Memory{}),
		"nor before its plan is accepted":                    create(changed(quiet(), absent, looked, newcomer, untried), guarded, tenant.Memory{}),
		"nor with a plan that can't be":                      create(changed(quiet(), absent, looked, newcomer, invalid), guarded, tenant.Memory{}),
		"nor with one that is being deleted":                 create(changed(quiet(), absent, looked, newcomer, going), guarded, tenant.Memory{}),
		"nor if it is unknown what its former plan gave":     create(changed(quiet(), absent, looked, planless), guarded, tenant.Memory{}),
		"nor if that was the only plan of the cluster":       create(changed(quiet(), absent, looked, planless, noPlans), guarded, tenant.Memory{}),
		"what a former plan gave is given again":             create(changed(quiet(), absent, looked, planless, former), full, quiet().Memory),
		"also while the plan that follows can't be":          create(changed(quiet(), absent, looked, invalid, former), full, quiet().Memory),
		"a plan that is being deleted still says what it is": create(changed(quiet(), absent, looked, going), full, quiet().Memory),
		"a namespace that is new waits for no rollout":       create(changed(quiet(), absent, looked, waiting), waited, tenant.Memory{Namespace: t.Namespace, Plan: "basic", PlanUID: plans.UID, PlanGeneration: 3}),
		"a foreign namespace is left alone":                  conflict(changed(quiet(), foreign), `the namespace "user-12345" exists and does not belong to this tenant: delete this Tenant and create one with another name in spec.namespace; or, to let this tenant adopt it with everything in it, annotate the namespace with kleff.io/adopt-by=example-tenant`),
		"one that is given to another tenant too":            conflict(changed(quiet(), foreign, given("somebody")), ""),
		"so is that of a tenant who is gone":                 conflict(changed(quiet(), labelled(plan.LabelTenantUID, "u9")), ""),
		"and that of a living tenant, even if it is given":   conflict(changed(quiet(), owned, given("example-tenant"), looked), `the namespace "user-12345" belongs to the Tenant "other": delete this Tenant and create one with another name in spec.namespace`),
		"where the spec gave the name, it can't be changed":  conflict(changed(quiet(), owned, func(in *tenant.Input) { in.Tenant.Explicit = true }), `the namespace "user-12345" belongs to the Tenant "other": delete this Tenant and create one with another spec.namespace`),
		"one that is on its way out can't be adopted":        conflict(changed(quiet(), foreign, given("example-tenant"), terminates, looked), `the namespace "user-12345" does not belong to this tenant and is being deleted; it is created again afterwards`),
		"before an adoption the namespace is read":           {in: changed(quiet(), foreign, given("example-tenant")), rule: "Look", step: tenant.Look{}},
		"one that is given is adopted":                       {in: changed(quiet(), foreign, given("example-tenant"), looked), rule: "Namespace", step: adopt},
		"also that of a tenant who is gone":                  {in: changed(quiet(), labelled(plan.LabelTenantUID, "u9"), given("example-tenant"), looked), rule: "Namespace", step: adopt},
		"one that is being deleted is waited for, with the reasons of Kubernetes": {
			in: changed(quiet(), terminates), rule: "Terminating", step: tenant.Rest{After: lookedAtAgain}, reason: plan.ReasonTerminating,
			says: `the namespace "user-12345" is being deleted. Kubernetes reports: Finalizers remain; Some content remains`,
		},
		"a write that was refused is tried later": {
			in: changed(quiet(), absent, looked, refusedBy(fault.Denied)), rule: "Refused", step: tenant.Rest{After: 30 * time.Second}, reason: plan.ReasonCreating,
			says: `the namespace "user-12345": Applying: said the API server`,
		},
		"also a change of the tenant's own, which stands in the way of nothing": {
			in: changed(quiet(), looked, refusedBy(fault.Denied)), rule: "Refused", step: tenant.Rest{After: 30 * time.Second},
		},
		"unless it may be another one by now": {
			in: changed(quiet(), looked, refusedBy(fault.Conflict)), rule: "Refused", step: tenant.Rest{After: 30 * time.Second}, reason: plan.ReasonCreating,
		},
		"a label that was removed is restored":              {in: changed(quiet(), labelled("tier", "")), rule: "Namespace", step: tenant.ApplyNamespace{Object: full.Marked(), UID: namespaceUID}},
		"one that contradicts the plan's is removed":        {in: changed(quiet(), labelled("istio.io/rev", "old")), rule: "Namespace", step: tenant.ApplyNamespace{Object: full.Marked(), UID: namespaceUID, Drop: []string{"istio.io/rev"}}},
		"a foreign label that conflicts with nothing stays": {in: changed(quiet(), labelled("their", "x")), rule: "Idle", step: tenant.Rest{}},
	}
}

func planCases() map[string]question {
	t, p := plans.Tenant(), plans.Simple("10")
	want := func(p *plan.Plan) map[string]plan.Object {
		out := map[string]plan.Object{}
		for _, l := range childrenOf(t, p) {
			out[l.Name] = l.Object
		}
		return out
	}
	quota, policy := want(p)["kleff-plan"], want(p)["kleff-namespace"]
	more := plan.Update{Object: want(plans.Simple("99"))["kleff-plan"], UID: "kleff-plan"}
	held := t
	held.Suspended = true
	suspension := plan.BuildLimits(held, nil)[0].Marked()
	floored, _ := plan.BuildNamespace(t, plan.Floor())
	identity := namespaceOf(t, p)
	identity.Labels[plan.LabelTenantUsername] = "newname"
	renamed := func(in *tenant.Input) { in.Tenant.Username = "newname" }
	create := func(o ...plan.Object) tenant.Apply { return tenant.Apply{Changes: plan.Changes{Create: o}} }
	sooner := func(after time.Duration) tenant.Rest { return tenant.Rest{After: after} }
	return map[string]question{
		"a child that is missing is made":                           {in: changed(quiet(), without("kleff-plan"), looked), rule: "Apply", step: create(quota)},
		"and an unwanted child is deleted":                          {in: changed(quiet(), extra, looked), rule: "Apply", step: tenant.Apply{Changes: plan.Changes{Prune: changed(quiet(), extra).World.Children[2:]}}},
		"one that is being deleted is waited for":                   {in: changed(quiet(), childDeleting), rule: "Idle", step: tenant.Rest{}},
		"what was not accepted is tried first":                      {in: changed(quiet(), untried, without("kleff-plan")), rule: "Try", step: tenant.Try{Objects: []plan.Object{quota}}},
		"what is there is not tried":                                {in: changed(quiet(), untried), rule: "Try", step: tenant.Try{}},
		"a change comes in its turn":                                {in: changed(quiet(), released, looked), rule: "Apply", step: tenant.Apply{Changes: plan.Changes{Update: []plan.Update{more}}}},
		"and not before":                                            {in: changed(quiet(), waiting), rule: "Idle", step: tenant.Rest{}},
		"a tenant that waits keeps what its plan no longer has":     {in: changed(quiet(), waiting, extra), rule: "Idle", step: tenant.Rest{}},
		"and gets back what it had":                                 {in: changed(quiet(), waiting, former, without("kleff-plan"), looked), rule: "Apply", step: create(quota)},
		"unless it is unknown what that was":                        {in: changed(quiet(), waiting, without("kleff-plan")), rule: "Idle", step: tenant.Rest{}},
		"a newcomer does not wait":                                  {in: changed(quiet(), waiting, newcomer, without("kleff-plan"), without("kleff-namespace"), looked), rule: "Apply", step: create(more.Object, policy)},
		"nor does who had another plan":                             {in: changed(quiet(), waiting, func(in *tenant.Input) { in.Memory.Plan, in.Memory.PlanUID = "other", "p0" }, looked), rule: "Apply", step: tenant.Apply{Changes: plan.Changes{Update: []plan.Update{more}}}},
		"but who had one of that name that is gone":                 {in: changed(quiet(), waiting, func(in *tenant.Input) { in.Memory.PlanUID = "p0" }, looked), rule: "Idle", step: tenant.Rest{}},
		"a plan that is being deleted is not given to new tenants":  {in: changed(quiet(), newcomer, without("kleff-plan"), func(in *tenant.Input) { in.World.Follow.Going = true }), rule: "Namespace", step: dropped(t)},
		"who has it keeps it":                                       {in: changed(quiet(), without("kleff-plan"), func(in *tenant.Input) { in.World.Follow.Going = true }, looked), rule: "Apply", step: create(quota)},
		"a plan without a finalizer gets it first":                  {in: changed(quiet(), newcomer, unheldPlan, absent, looked), rule: "PlanHeld", step: tenant.HoldPlan{}},
		"also before a tenant of another plan gets it":              {in: changed(quiet(), unheldPlan, func(in *tenant.Input) { in.Memory.Plan, in.Memory.PlanUID = "other", "p0" }), rule: "PlanHeld", step: tenant.HoldPlan{}},
		"also before a namespace that is new gets its present form": {in: changed(quiet(), waiting, unheldPlan, func(in *tenant.Input) { in.Memory.PlanUID = "p0" }, absent, looked), rule: "PlanHeld", step: tenant.HoldPlan{}},
		"who has it already leaves that to the plan":                {in: changed(quiet(), unheldPlan), rule: "Idle", step: tenant.Rest{}},
		"who has only tried it has nothing of it yet":               {in: changed(quiet(), unheldPlan, func(in *tenant.Input) { in.Memory.Plan = "" }), rule: "PlanHeld", step: tenant.HoldPlan{}},
		"but not if the tenant waits for the rollout":               {in: changed(quiet(), waiting, unheldPlan), rule: "Idle", step: tenant.Rest{}},
		"nor if the plan is invalid":                                {in: changed(quiet(), invalid, unheldPlan), rule: "Idle", step: tenant.Rest{}},
		"nor while it is being deleted":                             {in: changed(quiet(), going, unheldPlan), rule: "Idle", step: tenant.Rest{}},
		"a plan that is gone leaves what it gave":                   {in: changed(quiet(), planless), rule: "Idle", step: tenant.Rest{}},
		"so does one that can't be":                                 {in: changed(quiet(), invalid), rule: "Idle", step: tenant.Rest{}},
		"a namespace without a plan is isolated and has no room":    {in: changed(quiet(), provisional, planless, without("kleff-plan"), without("kleff-namespace"), looked), rule: "Apply", step: create(want(plan.Floor())["kleff-plan"], policy)},
		"it keeps that when the last plan is deleted":               {in: changed(quiet(), provisional, planless, noPlans), rule: "Idle", step: tenant.Rest{}},
		"also when others remove the annotation, which is restored": {in: changed(quiet(), provisional, planless, unannotated, looked), rule: "Namespace", step: tenant.ApplyNamespace{Object: floored.Marked(), UID: namespaceUID}},
		"before its labels are restored it is read":                 {in: changed(quiet(), provisional, planless, labelled("pod-security.kubernetes.io/enforce", "privileged")), rule: "Namespace", step: tenant.Look{}},
		"the cache does not take a plan from a tenant":              {in: changed(quiet(), provisional, planless, func(in *tenant.Input) { in.Memory = quiet().Memory }), rule: "Look", step: tenant.Look{}},
		"its labels are restored":                                   {in: changed(quiet(), provisional, planless, labelled("pod-security.kubernetes.io/enforce", "privileged"), looked), rule: "Namespace", step: tenant.ApplyNamespace{Object: floored.Marked(), UID: namespaceUID}},
		"a plan takes the place of that":                            {in: changed(quiet(), provisional, looked), rule: "Namespace", step: tenant.ApplyNamespace{Object: namespaceOf(t, p).Object, UID: namespaceUID}},
		"a suspension needs no plan":                                {in: changed(quiet(), planless, suspended, looked), rule: "Apply", step: create(suspension)},
		"and no turn":                                               {in: changed(quiet(), waiting, suspended, looked), rule: "Apply", step: create(suspension)},
		"nor does its end":                                          {in: changed(quiet(), planless, func(in *tenant.Input) { in.World.Children = []plan.Live{{Object: suspension}} }, looked), rule: "Apply", step: tenant.Apply{Changes: plan.Changes{Prune: []plan.Live{{Object: suspension}}}}},
		"before a namespace keeps its labels they are read":         {in: changed(quiet(), planless, renamed), rule: "Namespace", step: tenant.Look{}},
		"it keeps them all":                                         {in: changed(quiet(), planless, renamed, looked), rule: "Namespace", step: tenant.ApplyNamespace{Object: identity.Marked(), UID: namespaceUID}},
		"before a child is written the namespace is read":           {in: changed(quiet(), without("kleff-plan")), rule: "Apply", step: tenant.Look{}},
		"what failed waits":                                         {in: changed(quiet(), without("kleff-plan"), failing(quota, quota.Hash(), 1, 4*time.Second)), rule: "Idle", step: sooner(6 * time.Second)},
		"the longer the more often it failed":                       {in: changed(quiet(), without("kleff-plan"), failing(quota, quota.Hash(), 3, 4*time.Second)), rule: "Idle", step: sooner(36 * time.Second)},
		"but never longer than five minutes":                        {in: changed(quiet(), without("kleff-plan"), failing(quota, quota.Hash(), 40, 0)), rule: "Idle", step: sooner(lookedAtAgain)},
		"it is tried when it is due":                                {in: changed(quiet(), without("kleff-plan"), failing(quota, quota.Hash(), 1, 10*time.Second), looked), rule: "Apply", step: create(quota)},
		"another form of it is tried at once":                       {in: changed(quiet(), without("kleff-plan"), failing(quota, "another", 1, 0), looked), rule: "Apply", step: create(quota)},
		"and the rest does not wait for it":                         {in: changed(quiet(), without("kleff-plan"), without("kleff-namespace"), failing(quota, quota.Hash(), 1, 0), looked), rule: "Apply", step: create(policy)},
		"a removal that failed waits too":                           {in: changed(quiet(), extra, failing(changed(quiet(), extra).World.Children[2].Object, "", 1, 0)), rule: "Idle", step: sooner(10 * time.Second)},
		"a kind that can't be read is looked at again": {
			in: changed(quiet(), func(in *tenant.Input) {
				in.World.Unreadable = map[plan.Kind]*fault.Error{plan.KindNetworkPolicy: plans.Refusal(fault.Transient, "broken")}
			}, without("kleff-namespace")),
			rule: "Idle", step: sooner(time.Minute),
		},
		"a kind that the cluster does not have is waited for": {
			in: changed(quiet(), func(in *tenant.Input) { in.World.Missing = []plan.Kind{plan.KindNetworkPolicy} }, without("kleff-namespace")), rule: "Idle", step: tenant.Rest{},
		},
		"a quota whose scopes changed is recreated": {
			in: changed(quiet(), func(in *tenant.Input) {
				in.World.Children[0].Body = map[string]any{"spec": map[string]any{"hard": map[string]any{"pods": "10"}, "scopes": []any{"Terminating"}}}
			}, looked),
			rule: "Apply", step: tenant.Apply{Changes: plan.Changes{Replace: []plan.Update{{Object: quota, UID: "kleff-plan"}}}},
		},
	}
}

// dropped takes the labels of a plan off that the tenant never had.
func dropped(t plan.Tenant) tenant.Step {
	o, _ := plan.BuildNamespace(t, nil)
	return tenant.ApplyNamespace{Object: o.Marked(), UID: namespaceUID}
}

func removeCases() map[string]question {
	gone := tenant.LetGo{}
	kept := namespaceOf(plans.Tenant(), plans.Simple("10"))
	delete(kept.Labels, plan.LabelTenantUID)
	protected := func(in *tenant.Input) { in.Protected = true }
	return map[string]question{
		"deletionProtection holds everything":                {in: changed(quiet(), looked, protected), rule: "Protected", step: tenant.Rest{}, reason: plan.ReasonDeletionProtected},
		"also what is retained":                              {in: changed(quiet(), looked, protected, retained), rule: "Protected", step: tenant.Rest{}, reason: plan.ReasonDeletionProtected},
		"a deletion is asked for before anything is read":    {in: changed(quiet(), guarded), rule: "WithinBudget", step: tenant.AskBudget{}},
		"it waits until the burst is seen whole":             {in: changed(quiet(), answered(loss.Waiting)), rule: "WithinBudget", step: tenant.Rest{After: resource.AskAgain, KeepConditions: true}},
		"one too many is held":                               {in: changed(quiet(), answered(loss.Held)), rule: "WithinBudget", step: tenant.Rest{}, reason: plan.ReasonDeletionHeld},
		"a namespace that is to stay is left as it is":       {in: changed(quiet(), answered(loss.Stay)), rule: "WithinBudget", step: gone},
		"what is retained is not counted":                    {in: changed(quiet(), guarded, retained), rule: "Look", step: tenant.Look{}},
		"what may go on goes on":                             {in: changed(quiet(), looked, answered(loss.Go)), rule: "Delete", step: tenant.DeleteNamespace{Live: *quiet().World.Namespace}},
		"a name that is none never led to a namespace":       {in: changed(quiet(), absent, func(in *tenant.Input) { in.Tenant.Namespace = "No Name" }), rule: "NeverCreated", step: gone},
		"nothing is deleted because of a cache":              {in: quiet(), rule: "Look", step: tenant.Look{}},
		"nor is an absence believed":                         {in: changed(quiet(), absent), rule: "Look", step: tenant.Look{}},
		"but what is being deleted does not come back":       {in: changed(quiet(), terminates), rule: "Terminating", step: tenant.Rest{After: 30 * time.Second}, reason: plan.ReasonTerminating},
		"unless it belongs to someone else":                  {in: changed(quiet(), owned, terminates), rule: "Look", step: tenant.Look{}},
		"once the namespace is gone, the object is released": {in: changed(quiet(), absent, looked), rule: "Gone", step: gone},
		"and where it belongs to someone else":               {in: changed(quiet(), owned, looked), rule: "Gone", step: gone},
		"even if it was given to the tenant":                 {in: changed(quiet(), foreign, given("example-tenant"), looked), rule: "Gone", step: gone},
		"a refused deletion is tried later":                  {in: changed(quiet(), looked, refusedBy(fault.Denied)), rule: "Refused", step: tenant.Rest{After: 30 * time.Second}, reason: plan.ReasonTerminating},
		"what is gone all the same is gone":                  {in: changed(quiet(), absent, looked, refusedBy(fault.Denied)), rule: "Gone", step: gone},
		"what is retained loses the UID, and nothing else":   {in: changed(quiet(), looked, retained), rule: "Retain", step: tenant.ApplyNamespace{Object: kept.Marked(), UID: namespaceUID, Drop: []string{plan.LabelTenantUID}}},
		"unless it has been deleted":                         {in: changed(quiet(), looked, retained, terminates), rule: "Terminating", step: tenant.Rest{After: 30 * time.Second}, reason: plan.ReasonTerminating},
		"one that is being deleted is watched": {
			in: changed(quiet(), looked, func(in *tenant.Input) { in.World.Namespace.Deleting = true }), rule: "Terminating", step: tenant.Rest{After: 30 * time.Second},
			reason: plan.ReasonTerminating, says: `the namespace "user-12345" is being deleted`,
		},
		"the one that was looked at is deleted":    {in: changed(quiet(), looked), rule: "Delete", step: tenant.DeleteNamespace{Live: *quiet().World.Namespace}},
		"names that can't be any more stop no end": {in: changed(quiet(), looked, func(in *tenant.Input) { in.Problem = "spec.username is wrong" }), rule: "Delete", step: tenant.DeleteNamespace{Live: *quiet().World.Namespace}},
	}
}

func guarded(in *tenant.Input) { in.Guarded = true }

// answered is what the breaker says.
func answered(s loss.State) func(*tenant.Input) {
	return func(in *tenant.Input) {
		in.Guarded, in.World.BudgetKnown = true, true
		in.World.Budget = loss.Answer{State: s, Message: "Too many."}
	}
}

// Every rule has a case in a table, so that none is dead, and one that is added without is noticed.
func TestEveryRuleHasACase(t *testing.T) {
	keep, remove := tenant.Chains()
	spoken := func(cases map[string]question) map[string]bool {
		out := map[string]bool{}
		for _, q := range cases {
			out[q.rule] = true
		}
		return out
	}
	plans.EveryRuleSpeaks(t, keep, spoken(keepCases()))
	plans.EveryRuleSpeaks(t, remove, spoken(removeCases()))
}
