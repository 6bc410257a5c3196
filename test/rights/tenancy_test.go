package rights_test

import (
	"context"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/thirdparty"
)

// idle says why a grant is there that a run of tenants does not use.
func (g grant) idle() string {
	switch g.Verb {
	case "list":
		return firstList
	case "bind":
		return "the API server itself asks for it when a RoleBinding is made"
	}
	return g.idleAtHome()
}

// fullPlan has an object of each kind.
const fullPlan = `
resourceQuota: {hard: {pods: "5"}}
limitRange: {limits: [{type: Container, default: {memory: 64Mi}}]}
networkIsolation: Namespace
owner: {clusterRole: edit}
istio:
  gateway: {selector: {istio: ingressgateway}, hosts: ["{{username}}.apps.example.com"]}
  authorizationPolicy: Namespace
  peerAuthentication: STRICT
gatekeeper:
  constraints:
  - {kind: KleffAllowedRegistries, name: NAME-registries, parameters: {registries: [registry.example.com]}}
  - {kind: KleffPodSecurity, name: NAME-security}
distributionTenant:
  template: {spec: {distributionId: ` + stack.DistributionID + `}}
  expressions: [{field: domains, expression: row.username + ".example.com"}]
`

// Tenants and plans are of the whole cluster, so that these tests follow one another.
func TestTenants(t *testing.T) {
	t.Parallel()
	installThirdParties(t)
	t.Run("use every right", tenantsUseEveryRight)
	t.Run("the chart's rights are those that are checked", func(t *testing.T) { compareRights(t, newTenancyRig(t, "checked").i) })
	t.Run("rights that are taken away", tenantsRightsTakenAway)
	t.Run("tell of a right that is lost", tenantsTellOfARightThatIsLost)
}

// In the lives of two tenants and their plans no request is refused, and each right is used.
func tenantsUseEveryRight(t *testing.T) {
	r := newTenancyRig(t, "used")
	op, err := r.stack.StartOperator(t.Context(), stack.OperatorOptions{Installation: r.i, Flags: asInstalled})
	if err != nil {
		t.Fatal(err)
	}
	r.scrapes(op, http.StatusOK)
	grantEverything(t, r.namespace)
	r.writesGrant()
	r.haveTenants()

	requests, err := host.ControlPlane.Audit(r.i.User())
	if err != nil {
		t.Fatal(err)
	}
	for _, request := range requests {
		if request.Forbidden || request.Code == http.StatusUnauthorized {
			t.Errorf("refused: %+v", request)
		}
		if request.Verb == "patch" && request.Code == http.StatusCreated {
			request.Verb = "create" // an apply that creates needs both rights
			requests = append(requests, request)
		}
	}
	for _, g := range grantsOf(t, r.i) {
		if g.idle() == "" && !slices.ContainsFunc(requests, g.covers) {
			t.Errorf("the chart grants %q in %s, and nothing uses it", g, g.Role)
		}
	}
}

// Without the right to make namespaces there is nothing to do, without that to make gateways there is.
func tenantsRightsTakenAway(t *testing.T) {
	r := newTenancyRig(t, "taken")
	for name, c := range map[string]struct {
		taken grant
		runs  bool
	}{
		"one that every tenant needs":       {grant{Resource: "namespaces", Verb: "create"}, false},
		"one that is for a mesh":            {grant{Group: "security.istio.io", Resource: "peerauthentications", Verb: "create"}, true},
		"one that is for all constraints":   {grant{Group: "constraints.gatekeeper.sh", Resource: "*", Verb: "watch"}, true},
		"one that is for noticing the mesh": {grant{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions", Verb: "watch"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := *r
			r.t = t
			r.takeAway(r.own(c.taken))
			op, err := r.stack.StartOperator(t.Context(), stack.OperatorOptions{Installation: r.i, Flags: asInstalled})
			r.logs(op, r.i.User()+" is not allowed to", `resources: [\"`+c.taken.Resource+`\"], verbs: [\"`+c.taken.Verb+`\"]`)
			if runs := err == nil; runs != c.runs {
				t.Errorf("it runs: %t, %v; want %t", runs, err, c.runs)
			}
			if status, err := op.Stop(t.Context()); c.runs && (err != nil || status != 0) {
				t.Errorf("stopping: status %d, %v", status, err)
			}
		})
	}
}

// Plans can't use what the values don't name, and the tenant or the plan says which value it is.
func tenantsTellOfARightThatIsLost(t *testing.T) {
	r := newTenancyRig(t, "lost")
	if _, err := r.stack.StartOperator(t.Context(), stack.OperatorOptions{Installation: r.i, Flags: asInstalled}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		lost               grant
		condition, message string
	}{
		"role":  {grant{Group: rbacv1.GroupName, Resource: "clusterroles", Verb: "bind", Name: "edit"}, kleffv1.ConditionPlanApplied, "tenancy.ownerClusterRoles"},
		"mesh":  {grant{Group: "networking.istio.io", Resource: "gateways", Verb: "create"}, kleffv1.ConditionMeshReady, `cannot create resource "gateways"`},
		"rules": {grant{Group: "constraints.gatekeeper.sh", Resource: "kleffpodsecurity", Verb: "create"}, kleffv1.ConditionPolicyReady, `cannot create resource "kleffpodsecurity"`},
	} {
		t.Run(name, func(t *testing.T) {
			r := *r
			r.t = t
			r.takeAway(r.own(c.lost))
			r.plan(name)
			o := r.customer(name)
			r.says(o, c.condition, metav1.ConditionFalse, c.message)
			for _, other := range []string{kleffv1.ConditionPlanApplied, kleffv1.ConditionMeshReady, kleffv1.ConditionPolicyReady} {
				if other != c.condition {
					r.says(o, other, metav1.ConditionTrue, "")
				}
			}
		})
	}
}

// installThirdParties makes the kinds of Istio and Gatekeeper.
func installThirdParties(t *testing.T) {
	t.Helper()
	crds := thirdparty.IstioCRDs(t)
	for _, template := range []string{"kleffallowedregistries", "kleffpodsecurity"} {
		text, err := os.ReadFile(host.Path("charts", "cloudfront-tenant-operator", "files", "constrainttemplates", template+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		crds = append(crds, thirdparty.ConstraintCRD(t, text))
	}
	thirdparty.Install(t, host.RESTConfig(), crds...)
}

// newTenancyRig installs the chart for tenants and nothing else.
func newTenancyRig(t *testing.T, name string) *rig {
	t.Helper()
	// Each release would keep what is in tenants' namespaces from the operators of the others.
	i, err := host.Install(t.Context(), install.Options{
		Release: "tenants-" + name, Namespace: "tenants-" + name + "-home", Values: []string{"tenancy.enabled=true", "tenancy.objectProtection.enabled=false", "restrictedActions.abandon.enabled=false", "controller.controllers=null"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { forgetTenants(t) })
	return newRig(t, i, newNamespace(t))
}

// forgetTenants removes what no operator takes care of any more: the next one would.
func forgetTenants(t *testing.T) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // which has ended
	var tenants kleffv1.TenantList
	var plans kleffv1.TenantPlanList
	var spaces corev1.NamespaceList
	for list, option := range map[client.ObjectList]client.ListOption{
		&tenants: &client.ListOptions{}, &plans: &client.ListOptions{}, &spaces: client.HasLabels{kleffv1.LabelTenantUID},
	} {
		if err := kube.List(ctx, list, option); err != nil {
			t.Error(err)
		}
	}
	r := &rig{t: t}
	for n := range tenants.Items {
		r.remove(ctx, &tenants.Items[n])
	}
	for n := range plans.Items {
		r.remove(ctx, &plans.Items[n])
	}
	for n := range spaces.Items {
		if err := client.IgnoreNotFound(kube.Delete(ctx, &spaces.Items[n])); err != nil {
			t.Error(err)
		}
	}
}

// own is a grant of the operator's ClusterRole.
func (r *rig) own(g grant) grant {
	r.t.Helper()
	for _, candidate := range grantsOf(r.t, r.i) {
		if g.Role = candidate.Role; candidate == g {
			return g
		}
	}
	r.t.Fatalf("the chart does not grant %q", g)
	return g
}

// haveTenants does everything that needs a right: a first tenant gets all that a plan can say and loses it again, a second finds that
// all names are taken, and both go.
func (r *rig) haveTenants() {
	t := r.t
	t.Helper()
	applied := r.plan("first")
	first := r.customer("first")
	for _, condition := range []string{kleffv1.ConditionPlanApplied, kleffv1.ConditionMeshReady, kleffv1.ConditionPolicyReady} {
		r.says(first, condition, metav1.ConditionTrue, "")
	}
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "second-id", Annotations: map[string]string{kleffv1.AnnotationAdoptBy: "second"}}}
	if err := kube.Create(t.Context(), space); err != nil {
		t.Fatal(err)
	}
	kinds := plan.ChildKinds()
	for _, kind := range kinds {
		r.copyForeign(kind, "first-id", "second-id")
	}
	for _, kind := range constraintKinds {
		r.copyForeign(kind, "", "")
	}
	r.plan("second")
	second := r.customer("second")
	for _, condition := range []string{kleffv1.ConditionPlanApplied, kleffv1.ConditionMeshReady, kleffv1.ConditionPolicyReady, kleffv1.ConditionEdgeReady} {
		r.says(second, condition, metav1.ConditionFalse, "")
	}

	base := applied.DeepCopy()
	applied.Spec = kleffv1.TenantPlanSpec{}
	if err := kube.Patch(t.Context(), applied, client.MergeFrom(base)); err != nil {
		t.Fatal(err)
	}
	for _, kind := range slices.Concat(kinds, constraintKinds) {
		r.eventually(func(g gomega.Gomega) {
			g.Expect(r.objects(kind, "first-id")).To(gomega.BeEmpty(), "the plan no longer says it")
		})
	}
	for _, o := range []client.Object{first, second, applied} {
		if err := kube.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		r.gone(o)
	}
	r.gone(space)
}

// constraintKinds are those of the chart's templates.
var constraintKinds = []plan.Kind{plan.ConstraintKind("KleffAllowedRegistries"), plan.ConstraintKind("KleffPodSecurity")}

// objects are those of the first tenant and the first plan.
func (r *rig) objects(kind plan.Kind, namespace string) []unstructured.Unstructured {
	r.t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(kind.APIVersion())
	list.SetKind(kind.Kind + "List")
	if err := kube.List(r.t.Context(), list, client.InNamespace(namespace), client.MatchingLabels{kleffv1.LabelManagedBy: kleffv1.ManagedBy}); err != nil {
		r.t.Fatal(err)
	}
	return slices.DeleteFunc(list.Items, func(o unstructured.Unstructured) bool {
		return o.GetLabels()[kleffv1.LabelTenant] != "first" && o.GetLabels()[kleffv1.LabelPlan] != "first"
	})
}

// copyForeign creates objects that belong to no tenant and have the names that the second tenant and the second plan
// want.
func (r *rig) copyForeign(kind plan.Kind, from, to string) {
	r.t.Helper()
	objects := r.objects(kind, from)
	if len(objects) == 0 {
		r.t.Fatalf("the first tenant has no %s", kind.Kind)
	}
	for _, o := range objects {
		delete(o.Object, "status")
		name := strings.Replace(o.GetName(), "first", "second", 1)
		o.Object["metadata"] = map[string]any{"name": name}
		o.SetNamespace(to)
		if err := kube.Create(r.t.Context(), &o); err != nil {
			r.t.Fatal(err)
		}
	}
}

// plan makes a plan that says all that a plan can.
func (r *rig) plan(name string) *kleffv1.TenantPlan {
	r.t.Helper()
	o := &kleffv1.TenantPlan{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := yaml.UnmarshalStrict([]byte(strings.ReplaceAll(fullPlan, "NAME", name)), &o.Spec); err != nil {
		r.t.Fatal(err)
	}
	if err := kube.Create(r.t.Context(), o); err != nil {
		r.t.Fatal(err)
	}
	return o
}

// customer makes a tenant of the plan of that name.
func (r *rig) customer(name string) *kleffv1.Tenant {
	r.t.Helper()
	o := &kleffv1.Tenant{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: kleffv1.TenantSpec{Plan: name, UserID: name + "-id", Username: name}}
	if err := kube.Create(r.t.Context(), o); err != nil {
		r.t.Fatal(err)
	}
	return o
}

// says waits until a condition of the tenant has a status, and that text in its message.
func (r *rig) says(o *kleffv1.Tenant, condition string, status metav1.ConditionStatus, text string) {
	r.t.Helper()
	r.eventually(func(g gomega.Gomega) {
		g.Expect(kube.Get(r.t.Context(), client.ObjectKeyFromObject(o), o)).To(gomega.Succeed())
		c := meta.FindStatusCondition(o.Status.Conditions, condition)
		g.Expect(c).NotTo(gomega.BeNil(), condition)
		g.Expect(c.Status).To(gomega.Equal(status), "%s: %s", condition, c.Message)
		g.Expect(c.Message).To(gomega.ContainSubstring(text))
	})
}
