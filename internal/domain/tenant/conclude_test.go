package tenant_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/plans"
)

// reports are the cases of what a pass says; the words are reasons, with a + where the condition is True.
type reportCase struct {
	in  tenant.Input
	err error
	// before are conditions of an earlier pass.
	before []chain.Condition
	says   map[string]string
	// message is part of that of TenantReady.
	message string
	settled bool
	memory  func(*tenant.Memory)
}

// ofPlan is what a tenant says whose plan has neither mesh, policy nor edge.
func ofPlan(applied string, root string) map[string]string {
	return map[string]string{
		plan.ConditionNamespaceReady: "+Provisioned", plan.ConditionPlanApplied: applied, plan.ConditionMeshReady: "+NotConfigured",
		plan.ConditionPolicyReady: "+NotConfigured", plan.ConditionEdgeReady: "+NotConfigured", plan.ConditionTenantReady: root,
	}
}

func short(namespace, root string) map[string]string {
	return map[string]string{plan.ConditionNamespaceReady: namespace, plan.ConditionTenantReady: root}
}

func withPlan(namespace, planName, root string) map[string]string {
	out := short(namespace, root)
	out[plan.ConditionPlanApplied] = planName
	return out
}

func reportCases() map[string]reportCase {
	quota := quiet().World.Children[0].Object
	kept := func(*tenant.Memory) {}
	noAnswer := plans.Refusal(fault.Transient, "no answer")
	trueBefore := []chain.Condition{{Type: plan.ConditionPlanApplied, Status: true, Reason: plan.ReasonApplied}}
	heldBack := func(in *tenant.Input) {
		o := plan.BuildLimits(in.Tenant, nil)[0].Marked()
		failing(o, o.Hash(), 1, 0)(in)
	}
	return map[string]reportCase{
		"all is well": {in: quiet(), says: ofPlan("+Applied", "+Ready"), settled: true, message: `The namespace "user-12345" matches the TenantPlan "basic"`},
		"an object could not be made": {
			in: changed(quiet(), without("kleff-plan"), failing(quota, quota.Hash(), 1, 0)), says: ofPlan("PartiallyApplied", "PartiallyApplied"),
			message: `The ResourceQuota "kleff-plan": not allowed`,
		},
		"an object is being deleted": {
			in: changed(quiet(), childDeleting), says: ofPlan("PartiallyApplied", "PartiallyApplied"),
			message: `The ResourceQuota "kleff-plan" is being deleted, and is created again afterwards`,
		},
		"a kind is missing that is always there": {
			in:   changed(quiet(), func(in *tenant.Input) { in.World.Missing = []plan.Kind{plan.KindNetworkPolicy} }),
			says: ofPlan("PartiallyApplied", "PartiallyApplied"), message: "The cluster has no NetworkPolicy of networking.k8s.io/v1",
		},
		"a pass that failed has not applied what the plan says": {
			in: changed(quiet(), untried, without("kleff-plan"), newcomer), err: noAnswer, says: withPlan("+Provisioned", "PartiallyApplied", "PartiallyApplied"),
			message: "no answer", memory: func(m *tenant.Memory) { *m = tenant.Memory{Namespace: "user-12345"} },
		},
		"a tenant that waits for the rollout reports what it reported before": {in: changed(quiet(), waiting), before: trueBefore, says: short("+Provisioned", "+Ready")},
		"but not of a suspension that failed": {
			in: changed(quiet(), waiting, suspended, heldBack), before: trueBefore, says: short("+Provisioned", "PartiallyApplied"), message: `The ResourceQuota "kleff-suspended": not allowed`,
		},
		"nor of a pass that failed": {in: changed(quiet(), waiting, suspended), err: noAnswer, before: trueBefore, says: short("+Provisioned", "PartiallyApplied")},
		"a suspended tenant is reported": {
			in: changed(quiet(), suspended, func(in *tenant.Input) {
				in.World.Children = append(in.World.Children, plan.Live{Object: plan.BuildLimits(in.Tenant, nil)[0].Marked()})
			}),
			says: ofPlan("+Applied", "+Ready"), settled: true, message: "the tenant is suspended, so no new pods start",
		},
		"there is no plan": {
			in: changed(quiet(), planless), says: withPlan("+Provisioned", "PlanNotFound", "PlanNotFound"),
			message: `spec.plan: there is no TenantPlan "basic"; create it, or use another plan; the namespace keeps what it has from the plan "basic"`,
		},
		"there is none at all": {
			in: changed(quiet(), planless, noPlans, newcomer), says: withPlan("+Provisioned", "+NotConfigured", "+Ready"), message: "the cluster has no TenantPlan, so the namespace has no limits",
			memory: func(m *tenant.Memory) { *m = tenant.Memory{Namespace: "user-12345"} },
		},
		"there is none any more, and a tenant had one": {
			in: changed(quiet(), planless, noPlans), says: withPlan("+Provisioned", "PlanNotFound", "PlanNotFound"),
			message: `the namespace keeps what it has from the plan "basic"`,
		},
		"there never was one": {
			in: changed(quiet(), planless, newcomer), says: withPlan("+Provisioned", "PlanNotFound", "PlanNotFound"),
			message: `create it, or use another plan`, memory: func(m *tenant.Memory) { *m = tenant.Memory{Namespace: "user-12345"} },
		},
		"a namespace was created without its plan": {
			in: changed(quiet(), provisional, planless), says: withPlan("+Provisioned", "PlanNotFound", "PlanNotFound"),
			message: `create it, or use another plan; until then no pods start in the namespace, which has the pod security level "restricted" and is isolated from all other namespaces`,
			memory:  func(m *tenant.Memory) { *m = tenant.Memory{Namespace: "user-12345"} },
		},
		"and status remembers what the one before had": {
			in: changed(quiet(), provisional, planless, func(in *tenant.Input) { in.Memory = quiet().Memory }), says: withPlan("+Provisioned", "PlanNotFound", "PlanNotFound"),
			message: `until then no pods start in the namespace`, memory: func(m *tenant.Memory) { *m = tenant.Memory{Namespace: "user-12345"} },
		},
		"and its isolation can't be created": {
			in: changed(quiet(), provisional, planless, without("kleff-namespace"), func(in *tenant.Input) {
				o := childrenOf(in.Tenant, plan.Floor())[1].Object
				failing(o, o.Hash(), 1, 0)(in)
			}),
			says:    withPlan("+Provisioned", "PlanNotFound", "PlanNotFound"),
			message: `its protection is incomplete: the NetworkPolicy "kleff-namespace": not allowed`,
			memory:  func(m *tenant.Memory) { *m = tenant.Memory{Namespace: "user-12345"} },
		},
		"a namespace that is being deleted is not ready, also if it could not be read again": {
			in: changed(quiet(), provisional, planless, func(in *tenant.Input) { in.Memory, in.World.Namespace.Deleting = quiet().Memory, true }), err: noAnswer,
			says: short("Terminating", "Terminating"), message: `The namespace "user-12345" is being deleted`,
			memory: func(m *tenant.Memory) { *m = tenant.Memory{Namespace: "user-12345"} },
		},
		"the plan is being deleted, and is another than before": {
			in: changed(quiet(), newcomer, func(in *tenant.Input) {
				in.World.Follow.Going = true
				in.World.Namespace = namespaceOf(in.Tenant, nil)
			}),
			says: withPlan("+Provisioned", "PlanNotFound", "PlanNotFound"), message: `the TenantPlan "basic" is being deleted; use another plan`,
			memory: func(m *tenant.Memory) { *m = tenant.Memory{Namespace: "user-12345"} },
		},
		"the plan can't be": {
			in: changed(quiet(), invalid), says: withPlan("+Provisioned", "PlanInvalid", "PlanInvalid"),
			message: `The TenantPlan "basic" can't be applied: spec.x is wrong; the namespace keeps what it has from the plan "basic"`,
		},
		"another plan than before can't be": {
			in:   changed(quiet(), invalid, func(in *tenant.Input) { in.Memory.Plan, in.Memory.PlanUID = "gold", "p0" }),
			says: withPlan("+Provisioned", "PlanInvalid", "PlanInvalid"), message: `the namespace keeps what it has from the plan "gold"`,
			memory: func(m *tenant.Memory) { m.PlanUID = plans.UID },
		},
		"a new generation that can't be was tried": {
			in:   changed(quiet(), invalid, func(in *tenant.Input) { in.World.Follow.Generation, in.World.Follow.Released = 3, true }),
			says: withPlan("+Provisioned", "PlanInvalid", "PlanInvalid"), memory: func(m *tenant.Memory) { m.PlanGeneration = 3 },
		},
		"a new generation whose labels are refused was tried": {
			in: changed(quiet(), released, refusedBy(fault.Denied)), says: withPlan("+Provisioned", "PartiallyApplied", "PartiallyApplied"),
			message: `The namespace "user-12345": said the API server`, memory: func(m *tenant.Memory) { m.PlanGeneration = 3 },
		},
		"so it is for a tenant that waits for the next": {
			in: changed(quiet(), waiting, refusedBy(fault.Denied)), before: trueBefore, says: short("+Provisioned", "PartiallyApplied"), message: "said the API server",
		},
		"a tenant that comes from another plan still has that one": {
			in:      changed(quiet(), refusedBy(fault.Denied), func(in *tenant.Input) { in.Memory.Plan, in.Memory.PlanUID = "gold", "p0" }),
			says:    withPlan("+Provisioned", "PartiallyApplied", "PartiallyApplied"),
			message: "said the API server",
		},
		"a refusal is told where there is no plan, too": {
			in: changed(quiet(), planless, refusedBy(fault.Denied)), says: withPlan("+Provisioned", "PlanNotFound", "PlanNotFound"),
			message: `keeps what it has from the plan "basic"; the namespace "user-12345": said the API server`,
		},
		"the namespace may be another one by now": {in: changed(quiet(), released, refusedBy(fault.Conflict)), says: short("Creating", "Creating")},
		"the namespace belongs to someone else":   {in: changed(quiet(), foreign), says: short("NamespaceConflict", "NamespaceConflict")},
		"it is not looked for yet":                {in: changed(quiet(), absent), err: noAnswer, says: short("Creating", "Creating"), message: "no answer"},
		"a deletion that could not look says what it is about": {
			in: changed(quiet(), absent, deleted), err: noAnswer, says: short("Terminating", "Terminating"), message: "no answer", memory: kept,
		},
		"it is protected": {
			in:   changed(quiet(), deleted, func(in *tenant.Input) { in.Protected = true }),
			says: map[string]string{plan.ConditionTenantReady: "DeletionProtected"}, memory: kept,
		},
	}
}

func TestWhatATenantSays(t *testing.T) {
	for name, tt := range reportCases() {
		t.Run(name, func(t *testing.T) {
			r := tenant.Conclude(tt.in, tenant.Outcome{Decision: tenant.Decide(tt.in), Err: tt.err}, tt.before)
			says := maps.Clone(tt.says)
			says[string(chain.Ready)] = says[plan.ConditionTenantReady] // the same under the name that all tools know
			plans.SaysOf(t, r.Conditions, says)
			if root := plans.ConditionOf(r.Conditions, plan.ConditionTenantReady); !strings.Contains(root.Message, tt.message) {
				t.Errorf("TenantReady says %q, want %q in it", root.Message, tt.message)
			}
			if r.Settled != tt.settled {
				t.Errorf("settled is %t", r.Settled)
			}
			want := tt.in.Memory
			if tt.memory != nil {
				tt.memory(&want)
			}
			if d := cmp.Diff(want, r.Memory); d != "" {
				t.Errorf("memory (-want +got):\n%s", d)
			}
		})
	}
}

// fullWorld is a tenant with mesh, policy and edge, all of it there.
func fullWorld(t *testing.T) tenant.Input {
	t.Helper()
	in := quiet()
	p := plans.Compile(t, plans.Full())
	mesh, err := plan.BuildMesh(in.Tenant, p)
	if err != nil {
		t.Fatal(err)
	}
	edges, err := plan.BuildEdge(in.Tenant, p)
	if err != nil {
		t.Fatal(err)
	}
	in.World.Namespace, in.World.Children, in.World.Follow.Plan = namespaceOf(in.Tenant, p), childrenOf(in.Tenant, p), p
	for _, o := range slices.Concat(mesh, edges) {
		o = o.Marked()
		if o.Kind == plan.KindDistributionTenant {
			o.Body["status"] = ready("True", "Ready")
		}
		in.World.Children = append(in.World.Children, plan.Live{Object: o, UID: o.Name})
	}
	in.World.Follow.Policy = &chain.Condition{Type: plan.ConditionPolicyReady, Status: true, Reason: plan.ReasonApplied, Message: "there"}
	return in
}

func ready(status, reason string) plans.Tree {
	return map[string]any{"conditions": []any{map[string]any{"type": "Synced", "status": "True"}, map[string]any{"type": "Ready", "status": status, "reason": reason, "message": "so it is"}}}
}

func ofKind(in *tenant.Input, k plan.Kind) *plan.Live {
	return &in.World.Children[slices.IndexFunc(in.World.Children, func(l plan.Live) bool { return l.Kind == k })]
}

func TestWhatMeshPolicyAndEdgeSay(t *testing.T) {
	spec := plans.Full()
	spec.Edge = nil
	edgeless := plans.Compile(t, spec)
	missing := func(k plan.Kind) func(*tenant.Input) {
		return func(in *tenant.Input) { in.World.Missing = []plan.Kind{k} }
	}
	for name, tt := range map[string]struct {
		change func(*tenant.Input)
		err    error
		// condition is the one that is not True, and so TenantReady; reason and says are of both.
		condition, reason, says string
	}{
		"all is well":                      {change: func(*tenant.Input) {}},
		"Istio is not installed":           {missing(plan.KindGateway), nil, plan.ConditionMeshReady, "CRDMissing", "Gateway of networking.istio.io/v1: install Istio"},
		"an object of Istio can't be made": {func(in *tenant.Input) { failedUpdate(in, plan.KindGateway) }, nil, plan.ConditionMeshReady, "Error", `The Gateway "kleff-gateway": not allowed`},
		"the name can't be a host":         {func(in *tenant.Input) { in.Tenant.Username = "no_host"; in.World.Follow.Plan = edgeless }, nil, plan.ConditionMeshReady, "Error", "no_host"},
		"the constraints are not made yet": {func(in *tenant.Input) { in.World.Follow.Policy = nil }, nil, plan.ConditionPolicyReady, "Error", "about to be created"},
		"Gatekeeper is not installed": {func(in *tenant.Input) {
			in.World.Follow.Policy.Status, in.World.Follow.Policy.Reason = false, "CRDMissing"
		}, nil, plan.ConditionPolicyReady, "CRDMissing", "There."},
		"the edge tenant is not ready": {func(in *tenant.Input) {
			ofKind(in, plan.KindDistributionTenant).Body["status"] = ready("False", "Creating")
		}, nil, plan.ConditionEdgeReady, "Creating", `The DistributionTenant "example-tenant": so it is`},
		"nothing is known of it":      {func(in *tenant.Input) { delete(ofKind(in, plan.KindDistributionTenant).Body, "status") }, nil, plan.ConditionEdgeReady, "Creating", "is being created"},
		"it can't be made":            {func(in *tenant.Input) { failedUpdate(in, plan.KindDistributionTenant) }, nil, plan.ConditionEdgeReady, "Error", "not allowed"},
		"the kind of it is not there": {missing(plan.KindDistributionTenant), nil, plan.ConditionEdgeReady, "CRDMissing", "install the operator's CRDs"},
		"the kind of it can't be read": {func(in *tenant.Input) {
			in.World.Unreadable = map[plan.Kind]*fault.Error{plan.KindDistributionTenant: plans.Refusal(fault.Transient, "broken")}
		}, nil, plan.ConditionEdgeReady, "Error", "broken"},
		"it is being deleted, and comes back": {func(in *tenant.Input) { ofKind(in, plan.KindDistributionTenant).Deleting = true }, nil, plan.ConditionEdgeReady, "Error", "created again"},
	} {
		t.Run(name, func(t *testing.T) {
			in := fullWorld(t)
			tt.change(&in)
			d := tenant.Decision{Step: tenant.Rest{}}
			r := tenant.Conclude(in, tenant.Outcome{Decision: d, Err: tt.err}, nil)
			if policy := tt.condition == plan.ConditionPolicyReady; r.Settled != (tt.condition == "" || policy || strings.HasPrefix(tt.says, "is being created") || tt.reason == "Creating") {
				t.Errorf("settled is %t", r.Settled)
			}
			for _, c := range r.Conditions {
				switch {
				case string(c.Type) != tt.condition && c.Type != plan.ConditionTenantReady && c.Type != chain.Ready || tt.condition == "":
					if !c.Status {
						t.Errorf("%s is %s: %s", c.Type, c.Reason, c.Message)
					}
				case c.Status || string(c.Reason) != tt.reason || !strings.Contains(c.Message, tt.says):
					t.Errorf("%s is %t, %s: %s, want %s: %s", c.Type, c.Status, c.Reason, c.Message, tt.reason, tt.says)
				}
			}
		})
	}
}

// failedUpdate is a foreign change that could not be corrected.
func failedUpdate(in *tenant.Input, k plan.Kind) {
	live := ofKind(in, k)
	want := live.Object
	body := map[string]any{"spec": want.Body["spec"]}
	want.Body = body
	live.Body = map[string]any{"spec": map[string]any{}, "status": live.Body["status"]}
	failing(want, want.Hash(), 1, 0)(in)
}

// A message names some of what failed, and how much more there is.
func TestManyFailuresMakeAShortMessage(t *testing.T) {
	in := fullWorld(t)
	in.Attempts = plan.Attempts{}
	for _, l := range in.World.Children {
		in.Attempts[l.Key()] = plan.Failure{Hash: l.Hash(), Count: 1, At: plans.Now, Err: &fault.Error{Kind: fault.Denied, Operation: "Applying"}}
	}
	in.World.Children = nil
	r := tenant.Conclude(in, tenant.Outcome{Decision: tenant.Decide(in)}, nil)
	want := `The ResourceQuota "kleff-plan": Applying; the LimitRange "kleff-plan": Applying; the NetworkPolicy "kleff-namespace": Applying; and 2 more.`
	if got := plans.ConditionOf(r.Conditions, plan.ConditionPlanApplied).Message; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
