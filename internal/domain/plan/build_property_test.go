package plan_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/plans"
)

// anyTenant is one whose names can be.
func anyTenant(t *rapid.T) plan.Tenant {
	name := func(what string) string { return rapid.StringMatching(`[a-z]([a-z0-9-]{0,60}[a-z0-9])?`).Draw(t, what) }
	tenant := plan.Tenant{
		Name: name("name") + "-t", UID: rapid.StringMatching(`[0-9a-f]{8}-[0-9a-f]{4}`).Draw(t, "uid"), Namespace: name("namespace"),
		UserID:   rapid.StringMatching(`[A-Za-z0-9@.:_-]{1,40}`).Draw(t, "userId"),
		Username: rapid.StringMatching(`[A-Za-z0-9]([A-Za-z0-9_.-]{0,30}[A-Za-z0-9])?`).Draw(t, "username"),
		Plan:     "basic", Suspended: rapid.Bool().Draw(t, "suspended"), Explicit: true,
	}
	if len(tenant.Name) > 63 {
		tenant.Name = tenant.Name[2:]
	}
	return tenant
}

// anyPlan has some of what a plan can have; nil for none.
func anyPlan(t *rapid.T) *plan.Plan {
	if rapid.IntRange(0, 9).Draw(t, "plan") == 0 {
		return nil
	}
	var spec plan.Spec
	full := plans.Full()
	isolation := rapid.SampledFrom([]plan.Isolation{"", plan.IsolationNone, plan.IsolationNamespace, plan.IsolationNamespaceAndIngress})
	some := func(what string) bool { return rapid.Bool().Draw(t, what) }
	if some("a quota") {
		spec.ResourceQuota = full.ResourceQuota
	}
	if some("limits") {
		spec.LimitRange = full.LimitRange
	}
	if some("pod security") {
		spec.PodSecurity = full.PodSecurity
	}
	spec.NetworkIsolation = isolation.Draw(t, "network isolation")
	if some("ingress") {
		spec.IngressNamespaces = full.IngressNamespaces
	}
	// The name of a ClusterRole may be as long as that of any object.
	spec.OwnerClusterRole = rapid.OneOf(rapid.Just(""), rapid.StringMatching(`[a-z:A-Z]{1,20}`), rapid.StringMatching(`[a-z:]{230,253}`)).Draw(t, "role")
	if some("labels") {
		// The schema refuses what the operator sets itself. Should one get by, it must do no harm.
		spec.Labels = map[string]string{"example.com/tier": "basic", plan.LabelTenantUID: "another", "istio-injection": "maybe", "istio.io/rev": "1"}
		spec.Annotations = full.Annotations
	}
	spec.Istio.Injection = rapid.SampledFrom([]plan.Injection{"", plan.InjectionEnabled, plan.InjectionDisabled, plan.InjectionAmbient}).Draw(t, "injection")
	if spec.Istio.Injection == "" && some("a revision") {
		spec.Istio.Revision = "1-29"
	}
	if some("a gateway") {
		spec.Istio.Gateway = &plan.Gateway{Selector: map[string]string{"istio": "x"}, Hosts: []string{"{{username}}.example.com", "{{namespace}}.example.com"}, TLSSecret: "{{name}}-tls"}
	}
	spec.Istio.AuthorizationPolicy = isolation.Draw(t, "authorization")
	spec.Istio.PeerAuthentication = rapid.SampledFrom([]string{"", "STRICT"}).Draw(t, "mTLS")
	if some("constraints") {
		spec.Constraints = full.Constraints
	}
	if some("an edge tenant") {
		spec.Edge = plans.Edge(func(c *mapping.Config) { c.Template.Annotations = nil })
	}
	return plans.Compile(t, spec)
}

// built is what a tenant and a plan have, without what fails for the tenant.
func built(tenant plan.Tenant, compiled *plan.Plan) (namespace plan.Object, drop []string, children, constraints []plan.Object) {
	namespace, drop = plan.BuildNamespace(tenant, compiled)
	mesh, _ := plan.BuildMesh(tenant, compiled)
	edge, _ := plan.BuildEdge(tenant, compiled)
	children = slices.Concat(plan.BuildLimits(tenant, compiled), plan.BuildIsolation(tenant, compiled), mesh, edge)
	return namespace, drop, children, plan.BuildPolicy(compiled)
}

var (
	childKinds = []plan.Kind{
		plan.KindResourceQuota, plan.KindLimitRange, plan.KindNetworkPolicy, plan.KindRoleBinding, plan.KindGateway,
		plan.KindAuthorizationPolicy, plan.KindPeerAuthentication, plan.KindDistributionTenant,
	}
	subdomain   = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	pathSegment = regexp.MustCompile(`^[^/%]+$`)
	labelValue  = regexp.MustCompile(`^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$`)
	labelKey    = regexp.MustCompile(`^([a-z0-9.-]{1,253}/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)
)

func TestWhateverTenantAndPlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tenant, compiled := anyTenant(t), anyPlan(t)
		namespace, drop, children, constraints := built(tenant, compiled)

		checkNamespace(t, tenant, namespace, drop)
		names := map[string]bool{}
		for _, o := range children {
			if !slices.Contains(childKinds, o.Kind) || o.Namespace != tenant.Namespace {
				t.Errorf("%s of kind %+v in the namespace %q", o.Ref(), o.Kind, o.Namespace)
			}
			checkLabels(t, o, map[string]string{plan.LabelTenant: tenant.Name, plan.LabelTenantUID: tenant.UID})
			names[o.Ref()] = true
		}
		for _, o := range constraints {
			if o.Group != "constraints.gatekeeper.sh" || o.Namespace != "" {
				t.Errorf("%s of kind %+v in the namespace %q", o.Ref(), o.Kind, o.Namespace)
			}
			checkLabels(t, o, map[string]string{plan.LabelPlan: compiled.Name, plan.LabelPlanUID: compiled.UID})
			names[o.Ref()] = true
		}
		if len(names) != len(children)+len(constraints) {
			t.Errorf("two objects of one kind have one name: %v", slices.Sorted(maps.Keys(names)))
		}
		if suspended := names["ResourceQuota kleff-suspended"]; suspended != tenant.Suspended {
			t.Errorf("suspended is %t, and the quota is there: %t", tenant.Suspended, suspended)
		}
	})
}

func checkNamespace(t *rapid.T, tenant plan.Tenant, o plan.Object, drop []string) {
	t.Helper()
	if o.Kind != plan.KindNamespace || o.Name != tenant.Namespace || o.Namespace != "" {
		t.Errorf("%+v", o)
	}
	checkLabels(t, o, map[string]string{
		plan.LabelTenant: tenant.Name, plan.LabelTenantUID: tenant.UID, plan.LabelTenantPlan: tenant.Plan, plan.LabelTenantUsername: tenant.Username,
	})
	// One and only one label says how pods join the mesh, and the others are dropped.
	var joins []string
	for _, label := range []string{"istio-injection", "istio.io/rev", "istio.io/dataplane-mode"} {
		if _, set := o.Labels[label]; set {
			joins = append(joins, label)
		}
	}
	if len(joins) != 1 || len(drop) != 2 || slices.Contains(drop, joins[0]) {
		t.Errorf("pods join the mesh by %v, and %v are dropped", joins, drop)
	}
}

// checkLabels looks at what makes an object ours, and at whether the API server would take its names and labels.
func checkLabels(t *rapid.T, o plan.Object, want map[string]string) {
	t.Helper()
	want[plan.LabelManagedBy] = plan.ManagedBy
	for key, value := range want {
		if o.Labels[key] != value {
			t.Errorf("%s has %s=%q, want %q", o.Ref(), key, o.Labels[key], value)
		}
	}
	for key, value := range o.Labels {
		if !labelKey.MatchString(key) || len(value) > 63 || !labelValue.MatchString(value) {
			t.Errorf("%s has the label %s=%q", o.Ref(), key, value)
		}
	}
	legal := subdomain
	if o.Kind == plan.KindRoleBinding {
		legal = pathSegment
	}
	if len(o.Name) > 253 || !legal.MatchString(o.Name) {
		t.Errorf("%s is no legal name", o.Ref())
	}
}

// The same tenant and plan give the same, whatever was done to what they gave before.
func TestBuildersShareNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tenant, compiled := anyTenant(t), anyPlan(t)
		all := func() []plan.Object {
			namespace, _, children, constraints := built(tenant, compiled)
			return slices.Concat([]plan.Object{namespace}, children, constraints)
		}
		var first []plan.Object
		for _, o := range all() {
			first = append(first, found(o).Object)
		}
		second := all()
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatalf("two builds differ:\n%s", diff)
		}
		for _, o := range second {
			for _, spoil := range changes(o) {
				spoil()
			}
		}
		if diff := cmp.Diff(first, all()); diff != "" {
			t.Fatalf("what was done to one build is seen in the next:\n%s", diff)
		}
	})
}

// The role of a RoleBinding can't be changed, so that no two roles may share one, also where the name is cut.
func TestRolesHaveNamesOfTheirOwn(t *testing.T) {
	ends := rapid.StringMatching(`[ab]{0,2}`)
	rapid.Check(t, func(t *rapid.T) {
		name := func(role string) string {
			return plan.BuildIsolation(plans.Tenant(), plans.Compile(t, plan.Spec{OwnerClusterRole: role}))[0].Name
		}
		begin := strings.Repeat("r", rapid.SampledFrom([]int{1, 239, 240, 241, 242, 250}).Draw(t, "length"))
		a, b := begin+ends.Draw(t, "an end"), begin+ends.Draw(t, "another")
		if (name(a) == name(b)) != (a == b) || len(name(a)) > 253 {
			t.Fatalf("%s and %s are bound by %s and %s", a, b, name(a), name(b))
		}
	})
}
