package tenancy_test

import (
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
)

const guarded = `
resourceQuota: {hard: {pods: "3"}}
limitRange: {limits: [{type: Container, default: {memory: 64Mi}}]}
podSecurity: {enforce: baseline}
networkIsolation: NamespaceAndIngress
owner: {clusterRole: view}
labels: {example.com/tier: small}
`

// A change to something of ours is reverted, and what belongs to others stays.
func TestDriftIsCorrected(t *testing.T) {
	t.Parallel()
	s := newScene(t, "drift")
	s.plan("drift", guarded)
	o := s.settled("drift", "drift")
	ns := "drift-id"
	quota := &corev1.ResourceQuota{ObjectMeta: in(ns, "kleff-plan")}
	limits := &corev1.LimitRange{ObjectMeta: in(ns, "kleff-plan")}
	ingress := &networkingv1.NetworkPolicy{ObjectMeta: in(ns, "kleff-ingress")}
	binding := &rbacv1.RoleBinding{ObjectMeta: in(ns, "kleff-owner-view")}
	theirs := &networkingv1.NetworkPolicy{ObjectMeta: in(ns, "theirs"), Spec: networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{"Egress"}}}
	s.create(theirs)
	all := []client.Object{quota, limits, ingress, binding, namespace(ns)}
	want := s.specs(all)

	change(s, namespace(ns), func(o *corev1.Namespace) {
		o.Labels["pod-security.kubernetes.io/enforce"] = "privileged"
		o.Labels["istio.io/rev"] = "old"
		o.Labels["kleff.io/tenant-plan"] = "another"
		delete(o.Labels, "example.com/tier")
		o.Labels["example.com/theirs"] = "stays"
	})
	change(s, quota, func(o *corev1.ResourceQuota) {
		o.Spec.Hard[corev1.ResourcePods] = resource.MustParse("100")
		o.Labels["example.com/theirs"] = "stays"
	})
	change(s, limits, func(o *corev1.LimitRange) { o.Spec.Limits = nil })
	change(s, ingress, func(o *networkingv1.NetworkPolicy) {
		o.Spec.Ingress = append(o.Spec.Ingress, networkingv1.NetworkPolicyIngressRule{})
	})
	change(s, binding, func(o *rbacv1.RoleBinding) {
		o.Subjects = append(o.Subjects, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "intruder"})
	})
	s.eventually(func(g gomega.Gomega) { g.Expect(s.specs(all)).To(gomega.Equal(want)) })
	s.hasLabels(o, ns, map[string]string{
		"istio-injection": "enabled", "kleff.io/tenant-plan": "drift", "example.com/tier": "small", "example.com/theirs": "stays",
		"pod-security.kubernetes.io/enforce": "baseline", "pod-security.kubernetes.io/enforce-version": "latest",
	})
	s.eventually(func(g gomega.Gomega) { g.Expect(s.may("intruder", "list", ns)).To(gomega.BeFalse()) })
	for _, reverted := range []string{"Namespace " + ns, "ResourceQuota kleff-plan", "LimitRange kleff-plan", "NetworkPolicy kleff-ingress", "RoleBinding kleff-owner-view"} {
		s.told(o, "DriftCorrected", reverted)
	}
	if s.read(quota); quota.Labels["example.com/theirs"] != "stays" {
		t.Error("a label of someone else's is gone")
	}

	for _, gone := range all[:4] {
		uid := gone.GetUID()
		s.delete(gone)
		s.eventually(func(g gomega.Gomega) {
			g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(gone), gone)).To(gomega.Succeed())
			g.Expect(gone.GetUID()).NotTo(gomega.Equal(uid))
		})
	}
	s.told(o, "Updated", "Created ResourceQuota kleff-plan")
	// An object that no longer says whose it is isn't in the operator's cache, and is its own all the same.
	change(s, quota, func(o *corev1.ResourceQuota) {
		delete(o.Labels, kleffv1.LabelManagedBy)
		o.Spec.Hard[corev1.ResourcePods] = resource.MustParse("100")
	})
	s.eventually(func(g gomega.Gomega) { g.Expect(s.specs(all)).To(gomega.Equal(want)) })
	s.read(theirs)
	s.says(o, kleffv1.ConditionTenantReady, "True/Ready")
}

// specs are what we say in the objects, as they are now.
func (s *scene) specs(objects []client.Object) (out []any) {
	s.t.Helper()
	for _, o := range objects {
		s.read(o)
		switch o := o.(type) {
		case *corev1.ResourceQuota:
			pods := o.Spec.Hard[corev1.ResourcePods]
			out = append(out, pods.String(), o.Labels[kleffv1.LabelManagedBy])
		case *corev1.LimitRange:
			out = append(out, len(o.Spec.Limits))
		case *networkingv1.NetworkPolicy:
			out = append(out, o.Spec)
		case *rbacv1.RoleBinding:
			out = append(out, o.Subjects, o.RoleRef)
		case *corev1.Namespace:
			out = append(out, o.Labels["pod-security.kubernetes.io/enforce"], o.Labels["istio.io/rev"], o.Labels["kleff.io/tenant-plan"], o.Labels["example.com/tier"])
		}
	}
	return out
}

// A namespace whose UID label was removed belongs to no tenant, until the annotation gives it back.
func TestNamespaceThatLostItsOwner(t *testing.T) {
	t.Parallel()
	s := newScene(t, "lost")
	s.plan("lost", guarded)
	o := s.settled("lost", "lost")
	ns := namespace("lost-id")
	change(s, ns, func(o *corev1.Namespace) { delete(o.Labels, kleffv1.LabelTenantUID) })
	s.says(o, kleffv1.ConditionTenantReady, "False/NamespaceConflict", "kleff.io/adopt-by=lost")
	change(s, ns, adoptBy("lost"))
	s.says(o, kleffv1.ConditionTenantReady, "True/Ready")
}

// A quota of that name that someone else created is theirs. Everything else is applied, and the quota once its name is
// free.
func TestForeignObjectOfTheSameName(t *testing.T) {
	t.Parallel()
	s := newScene(t, "foreign")
	p := s.plan("foreign", `{networkIsolation: Namespace}`)
	o := s.settled("foreign", "foreign")
	theirs := &corev1.ResourceQuota{ObjectMeta: in("foreign-id", "kleff-plan"), Spec: corev1.ResourceQuotaSpec{
		Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("99")},
	}}
	s.create(theirs)
	s.replan("foreign", guarded)
	s.says(o, kleffv1.ConditionPlanApplied, "False/PartiallyApplied", `ResourceQuota "kleff-plan"`, "did not create", "delete or rename")
	s.says(o, kleffv1.ConditionTenantReady, "False/PartiallyApplied")
	s.says(p, kleffv1.ConditionReady, "False/TenantsFailed", `"foreign"`)
	s.letsIn("foreign-id", "kleff-namespace", "kleff-ingress")
	s.read(&corev1.LimitRange{ObjectMeta: in("foreign-id", "kleff-plan")})
	s.eventually(func(g gomega.Gomega) { g.Expect(s.may("foreign-id", "list", "foreign-id")).To(gomega.BeTrue()) })
	now := s.quotaOf("foreign-id")
	if pods := now.Spec.Hard[corev1.ResourcePods]; pods.String() != "99" || len(now.Labels) > 0 {
		t.Errorf("their quota is %+v", now)
	}
	s.delete(theirs)
	s.says(o, kleffv1.ConditionTenantReady, "True/Ready")
	s.says(p, kleffv1.ConditionReady, "True/RolledOut")
	if pods := s.quotaOf("foreign-id").Spec.Hard[corev1.ResourcePods]; pods.String() != "3" {
		t.Errorf("the quota has %s pods", pods.String())
	}
}

// A namespace that someone deletes is recreated, with all its content, once it is gone. Until then the status shows
// what it waits for.
func TestNamespaceDeletedByHand(t *testing.T) {
	t.Parallel()
	s := newScene(t, "byhand")
	s.plan("byhand", guarded)
	o := s.settled("byhand", "byhand", func(o *kleffv1.Tenant) { o.Spec.Suspended = true })
	ns := namespace("byhand-id")
	uid := s.uid(ns.Name)
	let := s.stuck(ns.Name)
	s.delete(ns)
	for _, kind := range []string{kleffv1.ConditionNamespaceReady, kleffv1.ConditionTenantReady} {
		s.says(o, kind, "False/Terminating", "example.com/stuck", "Kubernetes reports")
	}
	let()
	s.says(o, kleffv1.ConditionTenantReady, "True/Ready")
	if s.uid(ns.Name) == uid {
		t.Error("the namespace is the former one")
	}
	s.hasLabels(o, ns.Name, map[string]string{
		"istio-injection": "enabled", "kleff.io/tenant-plan": "byhand", "example.com/tier": "small",
		"pod-security.kubernetes.io/enforce": "baseline", "pod-security.kubernetes.io/enforce-version": "latest",
	})
	s.quotaOf(ns.Name)
	s.read(&corev1.ResourceQuota{ObjectMeta: in(ns.Name, "kleff-suspended")})
	s.read(&corev1.LimitRange{ObjectMeta: in(ns.Name, "kleff-plan")})
	s.read(&rbacv1.RoleBinding{ObjectMeta: in(ns.Name, "kleff-owner-view")})
	s.letsIn(ns.Name, "kleff-namespace", "kleff-ingress")
}
