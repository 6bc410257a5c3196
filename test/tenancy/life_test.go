package tenancy_test

import (
	"context"
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

const smallPlan = `
resourceQuota: {hard: {pods: "2"}}
limitRange: {limits: [{type: Container, default: {memory: 64Mi}}]}
podSecurity: {enforce: baseline}
networkIsolation: NamespaceAndIngress
owner: {clusterRole: edit}
labels: {example.com/tier: small}
annotations: {example.com/support: desk}
distributionTenant:
  template: {spec: {distributionId: ` + stack.DistributionID + `}}
  expressions: [{field: domains, expression: row.username + ".example.com"}]
`

const largePlan = `
resourceQuota: {hard: {pods: "5"}}
podSecurity: {enforce: restricted}
networkIsolation: Namespace
owner: {clusterRole: view}
labels: {example.com/tier: large}
`

// A customer from the first day to the last. The cluster really does what the plan says.
func TestLifeOfACustomer(t *testing.T) {
	t.Parallel()
	s := newScene(t, "life")
	s.plan("life-small", smallPlan)
	s.plan("life-large", largePlan)
	o := s.settled("life", "life-small")
	ns := "life-id"
	s.hasLabels(o, ns, map[string]string{
		"istio-injection": "enabled", "kleff.io/tenant-plan": "life-small", "example.com/tier": "small",
		"pod-security.kubernetes.io/enforce": "baseline", "pod-security.kubernetes.io/enforce-version": "latest",
	})
	s.says(o, kleffv1.ConditionEdgeReady, "True/Deployed")
	s.servedForLong(ns, "life")
	if got := s.inAWS()["life"].Domains; got == nil || len(got) != 1 {
		t.Errorf("AWS serves %v, want life.example.com", got)
	}

	s.runsAtMost(ns, 2)
	s.refuses(privileged(ns), "violates PodSecurity")
	s.letsIn(ns, "kleff-namespace", "kleff-ingress")
	s.belongsTo(ns, "life-id", "create")
	s.actsAs("life-id", ns)

	change(s, o, func(o *kleffv1.Tenant) { o.Spec.Plan = "life-large" })
	s.eventually(func(g gomega.Gomega) {
		s.read(o)
		g.Expect(o.Status.Plan).To(gomega.Equal("life-large"))
	})
	s.says(o, kleffv1.ConditionTenantReady, "True/Ready", "life-large")
	if o.Status.ObservedGeneration != o.Generation || o.Status.Namespace != ns {
		t.Errorf("status is %+v", o.Status)
	}
	s.hasLabels(o, ns, map[string]string{
		"istio-injection": "enabled", "kleff.io/tenant-plan": "life-large", "example.com/tier": "large",
		"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/enforce-version": "latest",
	})
	s.letsIn(ns, "kleff-namespace")
	s.gone(&corev1.LimitRange{ObjectMeta: in(ns, "kleff-plan")}, &v1alpha1.DistributionTenant{ObjectMeta: in(ns, "life")})
	if _, there := s.inAWS()["life"]; there {
		t.Error("AWS has an edge tenant that the plan no longer says")
	}
	s.eventually(func(g gomega.Gomega) { g.Expect(s.may("life-id", "create", ns)).To(gomega.BeFalse()) })
	s.belongsTo(ns, "life-id", "list")

	change(s, o, func(o *kleffv1.Tenant) { o.Spec.Suspended = true })
	s.says(o, kleffv1.ConditionTenantReady, "True/Ready", "suspended")
	s.counted(ns, "kleff-suspended")
	s.refuses(pod(ns, "late", restricted), "exceeded quota: kleff-suspended")
	s.runs(ns, "first", "second")
	change(s, o, func(o *kleffv1.Tenant) { o.Spec.Suspended = false })
	s.gone(&corev1.ResourceQuota{ObjectMeta: in(ns, "kleff-suspended")})
	s.eventually(func(g gomega.Gomega) {
		g.Expect(client.IgnoreAlreadyExists(kube.Create(t.Context(), pod(ns, "late", restricted)))).To(gomega.Succeed())
	})

	s.delete(o)
	s.gone(namespace(ns), o)
}

// An edge tenant of the plan goes with the namespace, in AWS as well.
func TestEdgeGoesWithTheNamespace(t *testing.T) {
	t.Parallel()
	s := newScene(t, "edge")
	s.plan("edge", smallPlan)
	o := s.settled("edge", "edge")
	s.servedForLong("edge-id", "edge")
	if _, there := s.inAWS()["edge"]; !there {
		t.Fatal("AWS has no edge tenant")
	}
	s.delete(o)
	s.gone(o)
	if _, there := s.inAWS()["edge"]; there {
		t.Error("the customer is gone, and AWS still has the edge tenant")
	}
	s.gone(namespace("edge-id"))
}

// servedForLong lets the operator take an edge tenant for an older one: whether one that was created in the last two minutes is
// gone is not believed at once, since AWS may be late to show it.
func (s *scene) servedForLong(namespace, name string) {
	s.t.Helper()
	change(s, &v1alpha1.DistributionTenant{ObjectMeta: in(namespace, name)}, func(o *v1alpha1.DistributionTenant) {
		delete(o.Annotations, v1alpha1.AnnotationCreatePending)
	})
}

// hasLabels compares all labels of a namespace, but for what the API server sets. Where a plan says no level of pod security,
// it is the lowest that the chart allows.
func (s *scene) hasLabels(o *kleffv1.Tenant, name string, want map[string]string) {
	s.t.Helper()
	want = maps.Clone(want)
	if want["pod-security.kubernetes.io/enforce"] == "" {
		want["pod-security.kubernetes.io/enforce"], want["pod-security.kubernetes.io/enforce-version"] = "baseline", "latest"
	}
	maps.Copy(want, map[string]string{
		"app.kubernetes.io/managed-by": "cloudfront-tenant-operator", "kleff.io/tenant": o.Name, "kleff.io/tenant-uid": string(o.UID),
		"kleff.io/tenant-username": o.Spec.Username, "kubernetes.io/metadata.name": name,
	})
	ns := namespace(name)
	s.read(ns)
	if diff := cmp.Diff(want, ns.Labels); diff != "" {
		s.t.Errorf("labels of the namespace (-want +got):\n%s", diff)
	}
}

// counted waits until Kubernetes counts for a quota.
func (s *scene) counted(namespace, name string) {
	s.t.Helper()
	o := &corev1.ResourceQuota{ObjectMeta: in(namespace, name)}
	s.appears(o)
	s.eventually(func(g gomega.Gomega) {
		s.read(o)
		g.Expect(o.Status.Hard).To(gomega.Equal(o.Spec.Hard))
	})
}

// runsAtMost starts as many pods as the plan allows, and then one more.
func (s *scene) runsAtMost(namespace string, most int64) {
	s.t.Helper()
	o := &corev1.ResourceQuota{ObjectMeta: in(namespace, "kleff-plan")}
	s.counted(namespace, o.Name)
	s.read(o)
	if got := o.Spec.Hard[corev1.ResourcePods]; got.Cmp(*resource.NewQuantity(most, resource.DecimalSI)) != 0 {
		s.t.Errorf("the quota has %s pods, want %d", got.String(), most)
	}
	for _, name := range []string{"first", "second"}[:most] {
		s.create(pod(namespace, name, restricted))
	}
	s.refuses(pod(namespace, "third", restricted), "exceeded quota: kleff-plan")
}

// refuses wants the API server to refuse a pod, and to say why. Its admission has a cache of its own, which may not have a
// quota yet whose status says that it is counted.
func (s *scene) refuses(o *corev1.Pod, why string) {
	s.t.Helper()
	s.eventually(func(g gomega.Gomega) {
		err := kube.Create(s.t.Context(), o.DeepCopy(), client.DryRunAll)
		g.Expect(apierrors.IsForbidden(err)).To(gomega.BeTrue(), "creating the pod %s: %v, want a refusal", o.Name, err)
		g.Expect(err.Error()).To(gomega.ContainSubstring(why))
	})
	if err := kube.Create(s.t.Context(), o); !apierrors.IsForbidden(err) {
		s.t.Errorf("creating the pod %s: %v, want a refusal", o.Name, err)
	}
}

// runs wants pods to be there.
func (s *scene) runs(namespace string, names ...string) {
	s.t.Helper()
	for _, name := range names {
		o := pod(namespace, name)
		s.read(o)
		if !o.DeletionTimestamp.IsZero() {
			s.t.Errorf("the pod %s is being deleted", name)
		}
	}
}

func privileged(namespace string) *corev1.Pod {
	return pod(namespace, "privileged", func(p *corev1.Pod) {
		yes := true
		p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: &yes}
	})
}

// restricted makes a pod that every level of pod security takes.
func restricted(p *corev1.Pod) {
	yes, no := true, false
	p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{
		RunAsNonRoot: &yes, AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}

// letsIn wants the namespace to have these NetworkPolicies of ours, and no other.
func (s *scene) letsIn(namespace string, want ...string) {
	s.t.Helper()
	s.eventually(func(g gomega.Gomega) {
		var list networkingv1.NetworkPolicyList
		g.Expect(kube.List(s.t.Context(), &list, client.InNamespace(namespace), client.HasLabels{kleffv1.LabelTenantUID})).To(gomega.Succeed())
		var got []string
		for _, o := range list.Items {
			got = append(got, o.Name)
			g.Expect(o.Spec.PolicyTypes).To(gomega.ConsistOf(networkingv1.PolicyTypeIngress))
			g.Expect(o.Spec.PodSelector).To(gomega.BeZero(), "all pods")
		}
		g.Expect(got).To(gomega.ConsistOf(want))
	})
}

// belongsTo wants the user, and no one else, to have the right in this namespace, and in no other.
func (s *scene) belongsTo(ns, user, verb string) {
	s.t.Helper()
	s.eventually(func(g gomega.Gomega) { g.Expect(s.may(user, verb, ns)).To(gomega.BeTrue()) })
	for who, where := range map[string]string{"somebody-else": ns, user: "default"} {
		if s.may(who, verb, where) {
			s.t.Errorf("%s may %s pods in %s", who, verb, where)
		}
	}
	var list rbacv1.RoleBindingList
	if err := kube.List(s.t.Context(), &list, client.InNamespace(ns)); err != nil {
		s.t.Fatal(err)
	}
	if len(list.Items) != 1 {
		s.t.Errorf("there are %d RoleBindings, want one", len(list.Items))
	}
}

// actsAs does something as the user.
func (s *scene) actsAs(user, ns string) {
	s.t.Helper()
	c := s.as(user)
	for where, want := range map[string]bool{ns: true, "default": false} {
		err := c.Create(s.t.Context(), &corev1.ConfigMap{ObjectMeta: in(where, user)})
		if (err == nil) != want {
			s.t.Errorf("%s makes a ConfigMap in %s: %v", user, where, err)
		}
	}
}

// inAWS lists the tenants of AWS by name.
func (s *scene) inAWS() map[string]sim.TenantState {
	s.t.Helper()
	list, err := awsTenants(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return list
}

func awsTenants(ctx context.Context) (map[string]sim.TenantState, error) {
	list, err := aws.Tenants(ctx)
	out := map[string]sim.TenantState{}
	for _, one := range list {
		if _, twice := out[one.Name]; twice {
			return nil, fmt.Errorf("two tenants are named %s", one.Name)
		}
		out[one.Name] = one
	}
	return out, err
}
