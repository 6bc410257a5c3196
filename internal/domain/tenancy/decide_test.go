package tenancy_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenancy"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/plans"
)

const (
	namespaceUID = "n1"
)

// quiet is a tenant that has all that its plan says.
func quiet() tenancy.Input {
	t, p := plans.Tenant(), plans.Simple("10")
	return tenancy.Input{
		Now: plans.Now, Tenant: t, Held: true, Memory: tenancy.Memory{Namespace: t.Namespace, Plan: "basic", PlanUID: plans.UID, PlanGeneration: 2}, Attempts: tenancy.Attempts{},
		World: tenancy.World{
			Namespace: namespaceOf(t, p), Children: childrenOf(t, p),
			Follow: tenancy.Follow{Plan: p, UID: plans.UID, Generation: 2, Tried: true},
		},
	}
}

func namespaceOf(t tenancy.Tenant, p *tenancy.Plan) *tenancy.Live {
	o, _ := tenancy.BuildNamespace(t, p)
	return &tenancy.Live{Object: o.Marked(), UID: namespaceUID}
}

func childrenOf(t tenancy.Tenant, p *tenancy.Plan) []tenancy.Live {
	var out []tenancy.Live
	for _, o := range slices.Concat(tenancy.BuildLimits(t, p), tenancy.BuildIsolation(t, p)) {
		out = append(out, tenancy.Live{Object: o.Marked(), UID: o.Name})
	}
	return out
}

func changed(in tenancy.Input, changes ...func(*tenancy.Input)) tenancy.Input {
	for _, change := range changes {
		change(&in)
	}
	return in
}

// The changes of an input that cases are made of.
func absent(in *tenancy.Input) { in.World.Namespace, in.World.Children = nil, nil }

func unheldTenant(in *tenancy.Input) { in.Held = false }

func looked(in *tenancy.Input) { in.World.Looked = true }

func deleted(in *tenancy.Input) { in.Deleting = true }

func retained(in *tenancy.Input) { in.Retain = true }

func suspended(in *tenancy.Input) { in.Tenant.Suspended = true }

func terminates(in *tenancy.Input) {
	in.World.Namespace.Deleting = true
	in.World.Namespace.Body = map[string]any{"status": map[string]any{"conditions": []any{
		map[string]any{"type": "B", "status": "True", "message": "Some content remains"}, map[string]any{"type": "A", "status": "True", "message": "Finalizers remain"},
		map[string]any{"type": "C", "status": "False", "message": "All is well"},
	}}}
}

func labelled(key, value string) func(*tenancy.Input) {
	return func(in *tenancy.Input) {
		in.World.Namespace.Labels = maps.Clone(in.World.Namespace.Labels)
		if in.World.Namespace.Labels[key] = value; value == "" {
			delete(in.World.Namespace.Labels, key)
		}
	}
}

func foreign(in *tenancy.Input) { labelled(tenancy.LabelTenantUID, "")(in); in.World.Children = nil }

func given(to string) func(*tenancy.Input) {
	return func(in *tenancy.Input) {
		in.World.Namespace.Annotations = map[string]string{tenancy.AnnotationAdoptBy: to}
	}
}

func owned(in *tenancy.Input) { labelled(tenancy.LabelTenantUID, "u9")(in); in.World.Owner = "other" }

func refusedBy(k fault.Kind) func(*tenancy.Input) {
	return func(in *tenancy.Input) { in.World.Refused = plans.Refusal(k, "said the API server") }
}

func planless(in *tenancy.Input) { in.World.Follow = tenancy.Follow{} }

func invalid(in *tenancy.Input) {
	in.World.Follow.Plan, in.World.Follow.Invalid = nil, "spec.x is wrong"
}

func untried(in *tenancy.Input) { in.World.Follow.Tried = false }

func newcomer(in *tenancy.Input) { in.Memory = tenancy.Memory{} }

// waiting is a tenant to which the present generation has not come.
func waiting(in *tenancy.Input) {
	in.World.Follow.Plan, in.World.Follow.Generation, in.World.Follow.Tried = plans.Simple("99"), 3, true
}

func released(in *tenancy.Input) { waiting(in); in.World.Follow.Released = true }

func former(in *tenancy.Input) { in.World.Follow.Former = plans.Simple("10") }

func without(name string) func(*tenancy.Input) {
	return func(in *tenancy.Input) {
		in.World.Children = slices.DeleteFunc(slices.Clone(in.World.Children), func(l tenancy.Live) bool { return l.Name == name })
	}
}

func extra(in *tenancy.Input) {
	in.World.Children = append(slices.Clone(in.World.Children), tenancy.Live{Object: tenancy.Object{Kind: tenancy.KindNetworkPolicy, Namespace: in.Tenant.Namespace, Name: "kleff-old"}, UID: "x"})
}

func childDeleting(in *tenancy.Input) {
	in.World.Children = slices.Clone(in.World.Children)
	in.World.Children[0].Deleting = true
}

// failing is an object that could not be made, so and so long ago.
func failing(o tenancy.Object, hash string, count int, ago time.Duration) func(*tenancy.Input) {
	return func(in *tenancy.Input) {
		in.Attempts = tenancy.Attempts{o.Key(): {Hash: hash, Count: count, At: plans.Now.Add(-ago), Err: plans.Refusal(fault.Denied, "not allowed")}}
	}
}

// question is one case of a chain: what is the world, which rule speaks, what comes next.
type question struct {
	in   tenancy.Input
	rule string
	step tenancy.Step
	// reason is of the problem that stands in the way; empty: none does. says is its message, where a case is about it.
	reason chain.Reason
	says   string
}

func ask(t *testing.T, q question) {
	t.Helper()
	d := tenancy.Decide(q.in)
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
	fresh, _ := tenancy.BuildNamespace(t, nil)
	full, _ := tenancy.BuildNamespace(t, p)
	conflict := func(in tenancy.Input, says string) question {
		return question{in: in, rule: "Conflict", step: tenancy.Rest{After: lookedAtAgain}, reason: tenancy.ReasonNamespaceConflict, says: says}
	}
	adopt := tenancy.ApplyNamespace{Object: full.Marked(), UID: namespaceUID, Adopts: true}
	return map[string]question{
		"a quiet world asks for nothing":                     {in: quiet(), rule: "Idle", step: tenancy.Rest{}},
		"a finalizer that somebody took off is stored again": {in: changed(quiet(), unheldTenant), rule: "Held", step: tenancy.EnsureFinalizer{}},
		"also where the names can't be any more": {
			in: changed(quiet(), unheldTenant, func(in *tenancy.Input) { in.Problem = "spec.username is wrong" }), rule: "Held", step: tenancy.EnsureFinalizer{},
		},
		"but not before there is a namespace": {in: changed(quiet(), unheldTenant, absent), rule: "Look", step: tenancy.Look{}},
		"names that can't be stop everything": {
			in: changed(quiet(), absent, func(in *tenancy.Input) { in.Problem = "spec.username is wrong" }), rule: "Names", step: tenancy.Rest{},
			reason: tenancy.ReasonInvalidName, says: "spec.username is wrong",
		},
		"an absence in the cache is not believed":           {in: changed(quiet(), absent), rule: "Look", step: tenancy.Look{}},
		"a namespace that is positively absent is made":     {in: changed(quiet(), absent, looked, newcomer), rule: "Create", step: tenancy.CreateNamespace{Object: full.Marked()}},
		"without a plan it has the defaults":                {in: changed(quiet(), absent, looked, newcomer, planless), rule: "Create", step: tenancy.CreateNamespace{Object: fresh.Marked()}},
		"nor has it what was not accepted":                  {in: changed(quiet(), absent, looked, newcomer, untried), rule: "Create", step: tenancy.CreateNamespace{Object: fresh.Marked()}},
		"what a former plan gave is gone with it":           {in: changed(quiet(), absent, looked, planless), rule: "Create", step: tenancy.CreateNamespace{Object: fresh.Marked()}},
		"somebody else's is left alone":                     conflict(changed(quiet(), foreign), `the namespace "user-12345" exists and is not this tenant's: delete this Tenant and create one with a spec.namespace of its own; or, to give it to this tenant with all that is in it, annotate the namespace with kleff.io/adopt-by=example-tenant`),
		"one that is given to another tenant too":           conflict(changed(quiet(), foreign, given("somebody")), ""),
		"so is that of a tenant who is gone":                conflict(changed(quiet(), labelled(tenancy.LabelTenantUID, "u9")), ""),
		"and that of a living tenant, even if it is given":  conflict(changed(quiet(), owned, given("example-tenant"), looked), `the namespace "user-12345" is that of the Tenant "other": delete this Tenant and create one with a spec.namespace of its own`),
		"where the spec gave the name, it can't be changed": conflict(changed(quiet(), owned, func(in *tenancy.Input) { in.Tenant.Explicit = true }), `the namespace "user-12345" is that of the Tenant "other": delete this Tenant and create one with another spec.namespace`),
		"one that is on its way out can't be adopted":       conflict(changed(quiet(), foreign, given("example-tenant"), terminates, looked), `the namespace "user-12345" is not this tenant's, and is being deleted: it is made anew when it is gone`),
		"before an adoption the namespace is read":          {in: changed(quiet(), foreign, given("example-tenant")), rule: "Look", step: tenancy.Look{}},
		"one that is given is adopted":                      {in: changed(quiet(), foreign, given("example-tenant"), looked), rule: "Namespace", step: adopt},
		"also that of a tenant who is gone":                 {in: changed(quiet(), labelled(tenancy.LabelTenantUID, "u9"), given("example-tenant"), looked), rule: "Namespace", step: adopt},
		"one that is being deleted is waited for, with the reasons of Kubernetes": {
			in: changed(quiet(), terminates), rule: "Terminating", step: tenancy.Rest{After: lookedAtAgain}, reason: tenancy.ReasonTerminating,
			says: `the namespace "user-12345" is being deleted, and waits: Finalizers remain; Some content remains`,
		},
		"a write that was refused is tried later": {
			in: changed(quiet(), absent, looked, refusedBy(fault.Denied)), rule: "Refused", step: tenancy.Rest{After: 30 * time.Second}, reason: tenancy.ReasonCreating,
			says: `the namespace "user-12345": Applying: said the API server`,
		},
		"a label that was taken off comes back":         {in: changed(quiet(), labelled("tier", "")), rule: "Namespace", step: tenancy.ApplyNamespace{Object: full.Marked(), UID: namespaceUID}},
		"one that contradicts the plan's goes":          {in: changed(quiet(), labelled("istio.io/rev", "old")), rule: "Namespace", step: tenancy.ApplyNamespace{Object: full.Marked(), UID: namespaceUID, Drop: []string{"istio.io/rev"}}},
		"one that is somebody's and contradicts nobody": {in: changed(quiet(), labelled("their", "x")), rule: "Idle", step: tenancy.Rest{}},
	}
}

func planCases() map[string]question {
	t, p := plans.Tenant(), plans.Simple("10")
	want := func(p *tenancy.Plan) map[string]tenancy.Object {
		out := map[string]tenancy.Object{}
		for _, l := range childrenOf(t, p) {
			out[l.Name] = l.Object
		}
		return out
	}
	quota, policy := want(p)["kleff-plan"], want(p)["kleff-namespace"]
	more := tenancy.Update{Object: want(plans.Simple("99"))["kleff-plan"], UID: "kleff-plan"}
	held := t
	held.Suspended = true
	suspension := tenancy.BuildLimits(held, nil)[0].Marked()
	identity := namespaceOf(t, p)
	identity.Labels[tenancy.LabelTenantUsername] = "newname"
	renamed := func(in *tenancy.Input) { in.Tenant.Username = "newname" }
	create := func(o ...tenancy.Object) tenancy.Apply { return tenancy.Apply{Changes: tenancy.Changes{Create: o}} }
	sooner := func(after time.Duration) tenancy.Rest { return tenancy.Rest{After: after} }
	return map[string]question{
		"a child that is missing is made":                   {in: changed(quiet(), without("kleff-plan"), looked), rule: "Apply", step: create(quota)},
		"and one that nobody wants goes":                    {in: changed(quiet(), extra, looked), rule: "Apply", step: tenancy.Apply{Changes: tenancy.Changes{Prune: changed(quiet(), extra).World.Children[2:]}}},
		"one that is being deleted is waited for":           {in: changed(quiet(), childDeleting), rule: "Idle", step: tenancy.Rest{}},
		"what was not accepted is tried first":              {in: changed(quiet(), untried, without("kleff-plan")), rule: "Try", step: tenancy.Try{Objects: []tenancy.Object{quota}}},
		"what is there is not tried":                        {in: changed(quiet(), untried), rule: "Try", step: tenancy.Try{}},
		"a change comes in its turn":                        {in: changed(quiet(), released, looked), rule: "Apply", step: tenancy.Apply{Changes: tenancy.Changes{Update: []tenancy.Update{more}}}},
		"and not before":                                    {in: changed(quiet(), waiting), rule: "Idle", step: tenancy.Rest{}},
		"who waits keeps what nobody says any more":         {in: changed(quiet(), waiting, extra), rule: "Idle", step: tenancy.Rest{}},
		"and gets back what it had":                         {in: changed(quiet(), waiting, former, without("kleff-plan"), looked), rule: "Apply", step: create(quota)},
		"unless nobody knows what that was":                 {in: changed(quiet(), waiting, without("kleff-plan")), rule: "Idle", step: tenancy.Rest{}},
		"a newcomer does not wait":                          {in: changed(quiet(), waiting, newcomer, without("kleff-plan"), without("kleff-namespace"), looked), rule: "Apply", step: create(more.Object, policy)},
		"nor does who had another plan":                     {in: changed(quiet(), waiting, func(in *tenancy.Input) { in.Memory.Plan, in.Memory.PlanUID = "other", "p0" }, looked), rule: "Apply", step: tenancy.Apply{Changes: tenancy.Changes{Update: []tenancy.Update{more}}}},
		"but who had one of that name that is gone":         {in: changed(quiet(), waiting, func(in *tenancy.Input) { in.Memory.PlanUID = "p0" }, looked), rule: "Idle", step: tenancy.Rest{}},
		"a plan that goes is given to nobody":               {in: changed(quiet(), newcomer, without("kleff-plan"), func(in *tenancy.Input) { in.World.Follow.Going = true }), rule: "Namespace", step: dropped(t)},
		"who has it keeps it":                               {in: changed(quiet(), without("kleff-plan"), func(in *tenancy.Input) { in.World.Follow.Going = true }, looked), rule: "Apply", step: create(quota)},
		"a plan that is gone leaves what it gave":           {in: changed(quiet(), planless), rule: "Idle", step: tenancy.Rest{}},
		"so does one that can't be":                         {in: changed(quiet(), invalid), rule: "Idle", step: tenancy.Rest{}},
		"a suspension needs no plan":                        {in: changed(quiet(), planless, suspended, looked), rule: "Apply", step: create(suspension)},
		"and no turn":                                       {in: changed(quiet(), waiting, suspended, looked), rule: "Apply", step: create(suspension)},
		"nor does its end":                                  {in: changed(quiet(), planless, func(in *tenancy.Input) { in.World.Children = []tenancy.Live{{Object: suspension}} }, looked), rule: "Apply", step: tenancy.Apply{Changes: tenancy.Changes{Prune: []tenancy.Live{{Object: suspension}}}}},
		"before a namespace keeps its labels they are read": {in: changed(quiet(), planless, renamed), rule: "Namespace", step: tenancy.Look{}},
		"it keeps them all":                                 {in: changed(quiet(), planless, renamed, looked), rule: "Namespace", step: tenancy.ApplyNamespace{Object: identity.Marked(), UID: namespaceUID}},
		"before a child is written the namespace is read":   {in: changed(quiet(), without("kleff-plan")), rule: "Apply", step: tenancy.Look{}},
		"what failed waits":                                 {in: changed(quiet(), without("kleff-plan"), failing(quota, quota.Hash(), 1, 4*time.Second)), rule: "Idle", step: sooner(6 * time.Second)},
		"the longer the more often it failed":               {in: changed(quiet(), without("kleff-plan"), failing(quota, quota.Hash(), 3, 4*time.Second)), rule: "Idle", step: sooner(36 * time.Second)},
		"but never longer than five minutes":                {in: changed(quiet(), without("kleff-plan"), failing(quota, quota.Hash(), 40, 0)), rule: "Idle", step: sooner(lookedAtAgain)},
		"it is tried when it is due":                        {in: changed(quiet(), without("kleff-plan"), failing(quota, quota.Hash(), 1, 10*time.Second), looked), rule: "Apply", step: create(quota)},
		"another form of it is tried at once":               {in: changed(quiet(), without("kleff-plan"), failing(quota, "another", 1, 0), looked), rule: "Apply", step: create(quota)},
		"and the rest does not wait for it":                 {in: changed(quiet(), without("kleff-plan"), without("kleff-namespace"), failing(quota, quota.Hash(), 1, 0), looked), rule: "Apply", step: create(policy)},
		"a removal that failed waits too":                   {in: changed(quiet(), extra, failing(changed(quiet(), extra).World.Children[2].Object, "", 1, 0)), rule: "Idle", step: sooner(10 * time.Second)},
		"a kind that nobody can read is looked at again": {
			in: changed(quiet(), func(in *tenancy.Input) {
				in.World.Unreadable = map[tenancy.Kind]*fault.Error{tenancy.KindNetworkPolicy: plans.Refusal(fault.Transient, "broken")}
			}, without("kleff-namespace")),
			rule: "Idle", step: sooner(time.Minute),
		},
		"a kind that the cluster lacks is waited for": {
			in: changed(quiet(), func(in *tenancy.Input) { in.World.Missing = []tenancy.Kind{tenancy.KindNetworkPolicy} }, without("kleff-namespace")), rule: "Idle", step: tenancy.Rest{},
		},
		"a quota whose scopes changed is made anew": {
			in: changed(quiet(), func(in *tenancy.Input) {
				in.World.Children[0].Body = map[string]any{"spec": map[string]any{"hard": map[string]any{"pods": "10"}, "scopes": []any{"Terminating"}}}
			}, looked),
			rule: "Apply", step: tenancy.Apply{Changes: tenancy.Changes{Replace: []tenancy.Update{{Object: quota, UID: "kleff-plan"}}}},
		},
	}
}

// dropped takes the labels of a plan off that the tenant never had.
func dropped(t tenancy.Tenant) tenancy.Step {
	o, _ := tenancy.BuildNamespace(t, nil)
	return tenancy.ApplyNamespace{Object: o.Marked(), UID: namespaceUID}
}

func removeCases() map[string]question {
	gone := tenancy.LetGo{}
	kept := namespaceOf(plans.Tenant(), plans.Simple("10"))
	delete(kept.Labels, tenancy.LabelTenantUID)
	protected := func(in *tenancy.Input) { in.Protected = true }
	return map[string]question{
		"deletionProtection holds everything":              {in: changed(quiet(), looked, protected), rule: "Protected", step: tenancy.Rest{}, reason: tenancy.ReasonDeletionProtected},
		"also what is retained":                            {in: changed(quiet(), looked, protected, retained), rule: "Protected", step: tenancy.Rest{}, reason: tenancy.ReasonDeletionProtected},
		"a name that is none never led to a namespace":     {in: changed(quiet(), absent, func(in *tenancy.Input) { in.Tenant.Namespace = "No Name" }), rule: "NeverMade", step: gone},
		"nothing is deleted upon a cache":                  {in: quiet(), rule: "Look", step: tenancy.Look{}},
		"nor is an absence believed":                       {in: changed(quiet(), absent), rule: "Look", step: tenancy.Look{}},
		"but what is being deleted does not come back":     {in: changed(quiet(), terminates), rule: "Terminating", step: tenancy.Rest{After: 30 * time.Second}, reason: tenancy.ReasonTerminating},
		"unless it is somebody else's":                     {in: changed(quiet(), owned, terminates), rule: "Look", step: tenancy.Look{}},
		"once the namespace is gone, the object goes":      {in: changed(quiet(), absent, looked), rule: "Gone", step: gone},
		"and where it is somebody else's":                  {in: changed(quiet(), owned, looked), rule: "Gone", step: gone},
		"even if it was given to the tenant":               {in: changed(quiet(), foreign, given("example-tenant"), looked), rule: "Gone", step: gone},
		"a refused deletion is tried later":                {in: changed(quiet(), looked, refusedBy(fault.Denied)), rule: "Refused", step: tenancy.Rest{After: 30 * time.Second}, reason: tenancy.ReasonTerminating},
		"what is gone all the same is gone":                {in: changed(quiet(), absent, looked, refusedBy(fault.Denied)), rule: "Gone", step: gone},
		"what is retained loses the UID, and nothing else": {in: changed(quiet(), looked, retained), rule: "Retain", step: tenancy.ApplyNamespace{Object: kept.Marked(), UID: namespaceUID, Drop: []string{tenancy.LabelTenantUID}}},
		"unless somebody has deleted it":                   {in: changed(quiet(), looked, retained, terminates), rule: "Terminating", step: tenancy.Rest{After: 30 * time.Second}, reason: tenancy.ReasonTerminating},
		"one that is being deleted is watched": {
			in: changed(quiet(), looked, func(in *tenancy.Input) { in.World.Namespace.Deleting = true }), rule: "Terminating", step: tenancy.Rest{After: 30 * time.Second},
			reason: tenancy.ReasonTerminating, says: `the namespace "user-12345" is being deleted`,
		},
		"the one that was looked at is deleted":    {in: changed(quiet(), looked), rule: "Delete", step: tenancy.DeleteNamespace{Live: *quiet().World.Namespace}},
		"names that can't be any more stop no end": {in: changed(quiet(), looked, func(in *tenancy.Input) { in.Problem = "spec.username is wrong" }), rule: "Delete", step: tenancy.DeleteNamespace{Live: *quiet().World.Namespace}},
	}
}

// Every rule has a case in a table, so that none is dead, and one that is added without is noticed.
func TestEveryRuleHasACase(t *testing.T) {
	keep, remove := tenancy.Chains()
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
