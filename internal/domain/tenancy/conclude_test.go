package tenancy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenancy"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/plans"
)

// reports are the cases of what a pass says; the words are reasons, with a + where the condition is True.
type reportCase struct {
	in  tenancy.Input
	err error
	// before are conditions of an earlier pass.
	before []chain.Condition
	says   map[string]string
	// message is part of that of TenantReady.
	message string
	settled bool
	memory  func(*tenancy.Memory)
}

// ofPlan is what a tenant says whose plan has neither mesh, policy nor edge.
func ofPlan(applied string, root string) map[string]string {
	return map[string]string{
		tenancy.ConditionNamespaceReady: "+Provisioned", tenancy.ConditionPlanApplied: applied, tenancy.ConditionMeshReady: "+NotConfigured",
		tenancy.ConditionPolicyReady: "+NotConfigured", tenancy.ConditionEdgeReady: "+NotConfigured", tenancy.ConditionTenantReady: root,
	}
}

func short(namespace, root string) map[string]string {
	return map[string]string{tenancy.ConditionNamespaceReady: namespace, tenancy.ConditionTenantReady: root}
}

func withPlan(namespace, plan, root string) map[string]string {
	out := short(namespace, root)
	out[tenancy.ConditionPlanApplied] = plan
	return out
}

func reportCases() map[string]reportCase {
	quota := quiet().World.Children[0].Object
	kept := func(*tenancy.Memory) {}
	noAnswer := plans.Refusal(fault.Transient, "no answer")
	trueBefore := []chain.Condition{{Type: tenancy.ConditionPlanApplied, Status: true, Reason: tenancy.ReasonApplied}}
	heldBack := func(in *tenancy.Input) {
		o := tenancy.BuildLimits(in.Tenant, nil)[0].Marked()
		failing(o, o.Hash(), 1, 0)(in)
	}
	return map[string]reportCase{
		"all is well": {in: quiet(), says: ofPlan("+Applied", "+Ready"), settled: true, message: `the namespace "user-12345" has all that the TenantPlan "basic" says`},
		"an object could not be made": {
			in: changed(quiet(), without("kleff-plan"), failing(quota, quota.Hash(), 1, 0)), says: ofPlan("PartiallyApplied", "PartiallyApplied"),
			message: `the ResourceQuota "kleff-plan": not allowed`,
		},
		"an object is being deleted": {
			in: changed(quiet(), childDeleting), says: ofPlan("PartiallyApplied", "PartiallyApplied"),
			message: `the ResourceQuota "kleff-plan" is being deleted, and is made anew when it is gone`,
		},
		"a kind is missing that is always there": {
			in:   changed(quiet(), func(in *tenancy.Input) { in.World.Missing = []tenancy.Kind{tenancy.KindNetworkPolicy} }),
			says: ofPlan("PartiallyApplied", "PartiallyApplied"), message: "the cluster has no NetworkPolicy of networking.k8s.io/v1",
		},
		"a pass that failed has not applied what the plan says": {
			in: changed(quiet(), untried, without("kleff-plan"), newcomer), err: noAnswer, says: withPlan("+Provisioned", "PartiallyApplied", "PartiallyApplied"),
			message: "no answer", memory: func(m *tenancy.Memory) { *m = tenancy.Memory{Namespace: "user-12345"} },
		},
		"who waits for the roll-out says what it said": {in: changed(quiet(), waiting), before: trueBefore, says: short("+Provisioned", "+Ready")},
		"but not of a suspension that failed": {
			in: changed(quiet(), waiting, suspended, heldBack), before: trueBefore, says: short("+Provisioned", "PartiallyApplied"), message: `the ResourceQuota "kleff-suspended": not allowed`,
		},
		"nor of a pass that failed": {in: changed(quiet(), waiting, suspended), err: noAnswer, before: trueBefore, says: short("+Provisioned", "PartiallyApplied")},
		"a suspended tenant says so": {
			in: changed(quiet(), suspended, func(in *tenancy.Input) {
				in.World.Children = append(in.World.Children, tenancy.Live{Object: tenancy.BuildLimits(in.Tenant, nil)[0].Marked()})
			}),
			says: ofPlan("+Applied", "+Ready"), settled: true, message: "it is suspended, so that no new pods start",
		},
		"there is no plan": {
			in: changed(quiet(), planless), says: withPlan("+Provisioned", "PlanNotFound", "PlanNotFound"),
			message: `spec.plan: there is no TenantPlan "basic": create it, or name another; what the plan "basic" gave the namespace stays`,
		},
		"there never was one": {
			in: changed(quiet(), planless, newcomer), says: withPlan("+Provisioned", "PlanNotFound", "PlanNotFound"),
			message: `create it, or name another`, memory: func(m *tenancy.Memory) { *m = tenancy.Memory{Namespace: "user-12345"} },
		},
		"the plan goes, and is another than before": {
			in: changed(quiet(), newcomer, func(in *tenancy.Input) {
				in.World.Follow.Going = true
				in.World.Namespace = namespaceOf(in.Tenant, nil)
			}),
			says: withPlan("+Provisioned", "PlanNotFound", "PlanNotFound"), message: `the TenantPlan "basic" is being deleted: name another`,
			memory: func(m *tenancy.Memory) { *m = tenancy.Memory{Namespace: "user-12345"} },
		},
		"the plan can't be": {
			in: changed(quiet(), invalid), says: withPlan("+Provisioned", "PlanInvalid", "PlanInvalid"),
			message: `the TenantPlan "basic" can't be applied: spec.x is wrong; what the plan "basic" gave the namespace stays`,
		},
		"another plan than before can't be": {
			in:   changed(quiet(), invalid, func(in *tenancy.Input) { in.Memory.Plan, in.Memory.PlanUID = "gold", "p0" }),
			says: withPlan("+Provisioned", "PlanInvalid", "PlanInvalid"), message: `what the plan "gold" gave the namespace stays`,
			memory: func(m *tenancy.Memory) { m.PlanUID = plans.UID },
		},
		"a new generation that can't be was tried": {
			in:   changed(quiet(), invalid, func(in *tenancy.Input) { in.World.Follow.Generation, in.World.Follow.Released = 3, true }),
			says: withPlan("+Provisioned", "PlanInvalid", "PlanInvalid"), memory: func(m *tenancy.Memory) { m.PlanGeneration = 3 },
		},
		"the namespace is somebody else's": {in: changed(quiet(), foreign), says: short("NamespaceConflict", "NamespaceConflict")},
		"it is not looked for yet":         {in: changed(quiet(), absent), err: noAnswer, says: short("Creating", "Creating"), message: "no answer"},
		"a deletion that could not look says what it is about": {
			in: changed(quiet(), absent, deleted), err: noAnswer, says: short("Terminating", "Terminating"), message: "no answer", memory: kept,
		},
		"it is protected": {
			in:   changed(quiet(), deleted, func(in *tenancy.Input) { in.Protected = true }),
			says: map[string]string{tenancy.ConditionTenantReady: "DeletionProtected"}, memory: kept,
		},
	}
}

func TestWhatATenantSays(t *testing.T) {
	for name, tt := range reportCases() {
		t.Run(name, func(t *testing.T) {
			r := tenancy.Conclude(tt.in, tenancy.Outcome{Decision: tenancy.Decide(tt.in), Err: tt.err}, tt.before)
			plans.SaysOf(t, r.Conditions, tt.says)
			if root := plans.ConditionOf(r.Conditions, tenancy.ConditionTenantReady); !strings.Contains(root.Message, tt.message) {
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
func fullWorld(t *testing.T) tenancy.Input {
	t.Helper()
	in := quiet()
	p := plans.Compile(t, plans.Full())
	mesh, err := tenancy.BuildMesh(in.Tenant, p)
	if err != nil {
		t.Fatal(err)
	}
	edges, err := tenancy.BuildEdge(in.Tenant, p)
	if err != nil {
		t.Fatal(err)
	}
	in.World.Namespace, in.World.Children, in.World.Follow.Plan = namespaceOf(in.Tenant, p), childrenOf(in.Tenant, p), p
	for _, o := range slices.Concat(mesh, edges) {
		o = o.Marked()
		if o.Kind == tenancy.KindDistributionTenant {
			o.Body["status"] = ready("True", "Ready")
		}
		in.World.Children = append(in.World.Children, tenancy.Live{Object: o, UID: o.Name})
	}
	in.World.Follow.Policy = &chain.Condition{Type: tenancy.ConditionPolicyReady, Status: true, Reason: tenancy.ReasonApplied, Message: "there"}
	return in
}

func ready(status, reason string) plans.Tree {
	return map[string]any{"conditions": []any{map[string]any{"type": "Synced", "status": "True"}, map[string]any{"type": "Ready", "status": status, "reason": reason, "message": "so it is"}}}
}

func ofKind(in *tenancy.Input, k tenancy.Kind) *tenancy.Live {
	return &in.World.Children[slices.IndexFunc(in.World.Children, func(l tenancy.Live) bool { return l.Kind == k })]
}

func TestWhatMeshPolicyAndEdgeSay(t *testing.T) {
	spec := plans.Full()
	spec.Edge = nil
	edgeless := plans.Compile(t, spec)
	missing := func(k tenancy.Kind) func(*tenancy.Input) {
		return func(in *tenancy.Input) { in.World.Missing = []tenancy.Kind{k} }
	}
	for name, tt := range map[string]struct {
		change func(*tenancy.Input)
		err    error
		// condition is the one that is not True, and so TenantReady; reason and says are of both.
		condition, reason, says string
	}{
		"all is well":                      {change: func(*tenancy.Input) {}},
		"Istio is not installed":           {missing(tenancy.KindGateway), nil, tenancy.ConditionMeshReady, "CRDMissing", "Gateway of networking.istio.io/v1: install Istio"},
		"an object of Istio can't be made": {func(in *tenancy.Input) { failedUpdate(in, tenancy.KindGateway) }, nil, tenancy.ConditionMeshReady, "Error", `the Gateway "kleff-gateway": not allowed`},
		"the name can't be a host":         {func(in *tenancy.Input) { in.Tenant.Username = "no_host"; in.World.Follow.Plan = edgeless }, nil, tenancy.ConditionMeshReady, "Error", "no_host"},
		"the constraints are not made yet": {func(in *tenancy.Input) { in.World.Follow.Policy = nil }, nil, tenancy.ConditionPolicyReady, "Error", "about to be made"},
		"Gatekeeper is not installed": {func(in *tenancy.Input) {
			in.World.Follow.Policy.Status, in.World.Follow.Policy.Reason = false, "CRDMissing"
		}, nil, tenancy.ConditionPolicyReady, "CRDMissing", "there"},
		"the edge tenant is not ready": {func(in *tenancy.Input) {
			ofKind(in, tenancy.KindDistributionTenant).Body["status"] = ready("False", "Creating")
		}, nil, tenancy.ConditionEdgeReady, "Creating", `the DistributionTenant "example-tenant": so it is`},
		"nothing is known of it":      {func(in *tenancy.Input) { delete(ofKind(in, tenancy.KindDistributionTenant).Body, "status") }, nil, tenancy.ConditionEdgeReady, "Creating", "is being made"},
		"it can't be made":            {func(in *tenancy.Input) { failedUpdate(in, tenancy.KindDistributionTenant) }, nil, tenancy.ConditionEdgeReady, "Error", "not allowed"},
		"the kind of it is not there": {missing(tenancy.KindDistributionTenant), nil, tenancy.ConditionEdgeReady, "CRDMissing", "install the operator's own kinds"},
		"the kind of it can't be read": {func(in *tenancy.Input) {
			in.World.Unreadable = map[tenancy.Kind]*fault.Error{tenancy.KindDistributionTenant: plans.Refusal(fault.Transient, "broken")}
		}, nil, tenancy.ConditionEdgeReady, "Error", "broken"},
		"it is being deleted, and comes back": {func(in *tenancy.Input) { ofKind(in, tenancy.KindDistributionTenant).Deleting = true }, nil, tenancy.ConditionEdgeReady, "Error", "made anew"},
	} {
		t.Run(name, func(t *testing.T) {
			in := fullWorld(t)
			tt.change(&in)
			d := tenancy.Decision{Step: tenancy.Rest{}}
			r := tenancy.Conclude(in, tenancy.Outcome{Decision: d, Err: tt.err}, nil)
			if policy := tt.condition == tenancy.ConditionPolicyReady; r.Settled != (tt.condition == "" || policy || strings.HasPrefix(tt.says, "is being made") || tt.reason == "Creating") {
				t.Errorf("settled is %t", r.Settled)
			}
			for _, c := range r.Conditions {
				switch {
				case string(c.Type) != tt.condition && c.Type != tenancy.ConditionTenantReady || tt.condition == "":
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

// failedUpdate is somebody's change that could not be put right.
func failedUpdate(in *tenancy.Input, k tenancy.Kind) {
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
	in.Attempts = tenancy.Attempts{}
	for _, l := range in.World.Children {
		in.Attempts[l.Key()] = tenancy.Failure{Hash: l.Hash(), Count: 1, At: plans.Now, Err: &fault.Error{Kind: fault.Denied, Operation: "Applying"}}
	}
	in.World.Children = nil
	r := tenancy.Conclude(in, tenancy.Outcome{Decision: tenancy.Decide(in)}, nil)
	want := `the ResourceQuota "kleff-plan": Applying; the LimitRange "kleff-plan": Applying; the NetworkPolicy "kleff-namespace": Applying; and 2 more`
	if got := plans.ConditionOf(r.Conditions, tenancy.ConditionPlanApplied).Message; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
