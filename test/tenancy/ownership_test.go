package tenancy_test

import (
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
)

// quotaOf reads the plan's quota in a namespace.
func (s *scene) quotaOf(namespace string) *corev1.ResourceQuota {
	s.t.Helper()
	o := &corev1.ResourceQuota{ObjectMeta: in(namespace, "kleff-plan")}
	s.read(o)
	return o
}

func (s *scene) uid(name string) types.UID {
	s.t.Helper()
	o := namespace(name)
	s.read(o)
	return o.UID
}

func adoptBy(tenant string) func(*corev1.Namespace) {
	return func(o *corev1.Namespace) {
		if o.Annotations == nil {
			o.Annotations = map[string]string{}
		}
		o.Annotations[kleffv1.AnnotationAdoptBy] = tenant
	}
}

// A namespace that exists becomes a tenant's only where its annotation asks for it, and keeps what is in it.
func TestAdoption(t *testing.T) {
	t.Parallel()
	s := newScene(t, "adoption")
	s.plan("adoption", `resourceQuota: {hard: {pods: "3"}}`)
	ns := namespace("adoption-id")
	ns.Labels = map[string]string{"example.com/team": "shop", "kleff.io/tenant-username": "somebody"}
	s.create(ns)
	s.create(pod(ns.Name, "theirs"))
	o := s.tenant("adoption", "adoption")
	s.says(o, kleffv1.ConditionTenantReady, "False/NamespaceConflict", "kleff.io/adopt-by=adoption")
	change(s, ns, adoptBy("another"))
	s.keepsSaying(o, kleffv1.ConditionTenantReady, "False/NamespaceConflict")

	change(s, ns, adoptBy("adoption"))
	s.says(o, kleffv1.ConditionTenantReady, "True/Ready")
	s.hasLabels(o, ns.Name, map[string]string{"example.com/team": "shop", "istio-injection": "enabled", "kleff.io/tenant-plan": "adoption"})
	s.runs(ns.Name, "theirs")
	s.quotaOf(ns.Name)

	s.delete(o)
	s.gone(ns, o)
}

// The annotation does not take a namespace away from a customer who is still there.
func TestNoAdoptionOfALivingTenantsNamespace(t *testing.T) {
	t.Parallel()
	s := newScene(t, "living")
	s.plan("living", `resourceQuota: {hard: {pods: "3"}}`)
	owner := s.settled("living-owner", "living")
	thief := s.tenant("living-thief", "living", func(o *kleffv1.Tenant) { o.Spec.Namespace = "living-owner-id" })
	ns := namespace("living-owner-id")
	change(s, ns, adoptBy("living-thief"))
	s.says(thief, kleffv1.ConditionTenantReady, "False/NamespaceConflict", `belongs to the Tenant "living-owner"`)
	s.delete(thief)
	s.gone(thief)
	s.keepsSaying(owner, kleffv1.ConditionTenantReady, "True/Ready")
	s.hasLabels(owner, ns.Name, map[string]string{"istio-injection": "enabled", "kleff.io/tenant-plan": "living"})
}

// A namespace that is kept stays with all that is in it, belongs to no tenant, and can be given to another tenant,
// which gets what its own plan has.
func TestRetainAndTakeOver(t *testing.T) {
	t.Parallel()
	s := newScene(t, "retain")
	s.plan("retain-old", `{resourceQuota: {hard: {pods: "3"}}, networkIsolation: NamespaceAndIngress, podSecurity: {enforce: restricted}, labels: {example.com/tier: old}}`)
	s.plan("retain-new", `{resourceQuota: {hard: {pods: "7"}}, networkIsolation: Namespace}`)
	o := s.settled("retain", "retain-old", func(o *kleffv1.Tenant) { o.Spec.DeletionPolicy = kleffv1.DeletionRetain })
	s.create(pod("retain-id", "data", restricted))
	uid, quota := s.uid("retain-id"), s.quotaOf("retain-id")
	s.delete(o)
	s.gone(o)
	ns := namespace("retain-id")
	s.read(ns)
	if _, owned := ns.Labels[kleffv1.LabelTenantUID]; owned || ns.UID != uid || !ns.DeletionTimestamp.IsZero() {
		t.Errorf("the namespace that stays is %+v", ns.ObjectMeta)
	}
	if ns.Labels["pod-security.kubernetes.io/enforce"] != "restricted" || ns.Labels["example.com/tier"] != "old" {
		t.Errorf("it has lost what the plan gave it: %v", ns.Labels)
	}
	s.letsIn(ns.Name, "kleff-namespace", "kleff-ingress")
	s.runs(ns.Name, "data")

	heir := s.tenant("retain-heir", "retain-new", func(o *kleffv1.Tenant) { o.Spec.Namespace = "retain-id" })
	s.says(heir, kleffv1.ConditionTenantReady, "False/NamespaceConflict")
	change(s, ns, adoptBy("retain-heir"))
	s.says(heir, kleffv1.ConditionTenantReady, "True/Ready")
	s.letsIn(ns.Name, "kleff-namespace")
	after := s.quotaOf(ns.Name)
	if got := after.Spec.Hard[corev1.ResourcePods]; after.UID != quota.UID || got.String() != "7" || after.Labels[kleffv1.LabelTenantUID] != string(heir.UID) {
		t.Errorf("the quota is %+v", after)
	}
	s.runs(ns.Name, "data")
	if s.uid(ns.Name) != uid {
		t.Error("the namespace is another one")
	}
}

// A tenant that went by force leaves a namespace that bears its UID. The next one of the same name neither takes nor deletes it.
func TestAnotherTenantOfTheSameName(t *testing.T) {
	t.Parallel()
	s := newScene(t, "again")
	s.plan("again", `resourceQuota: {hard: {pods: "3"}}`)

	t.Run("its namespace is being deleted", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, "again-going")
		former := s.settled("again-going", "again")
		uid := s.uid("again-going-id")
		let := s.stuck("again-going-id")
		s.delete(former)
		s.says(former, kleffv1.ConditionTenantReady, "False/Terminating", "example.com/stuck")
		s.force(former)
		o := s.tenant("again-going", "again")
		s.says(o, kleffv1.ConditionTenantReady, "False/NamespaceConflict", "being deleted", "created again")
		let()
		s.says(o, kleffv1.ConditionTenantReady, "True/Ready")
		if s.uid("again-going-id") == uid {
			t.Error("the namespace is the former one")
		}
		s.quotaOf("again-going-id")
	})

	t.Run("its namespace stands", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, "again-stands")
		former := s.settled("again-stands", "again", func(o *kleffv1.Tenant) { o.Spec.DeletionProtection = true })
		uid := s.uid("again-stands-id")
		s.delete(former)
		s.says(former, kleffv1.ConditionTenantReady, "False/DeletionProtected")
		s.force(former)
		o := s.tenant("again-stands", "again")
		s.says(o, kleffv1.ConditionTenantReady, "False/NamespaceConflict", "kleff.io/adopt-by=again-stands")
		s.delete(o)
		s.gone(o)
		s.consistently(func(g gomega.Gomega) {
			ns := namespace("again-stands-id")
			s.read(ns)
			g.Expect(ns.UID).To(gomega.Equal(uid))
			g.Expect(ns.DeletionTimestamp.IsZero()).To(gomega.BeTrue())
			g.Expect(ns.Labels).To(gomega.HaveKeyWithValue(kleffv1.LabelTenantUID, string(former.UID)))
		})
		s.quotaOf("again-stands-id")
	})
}

// force takes the finalizer off a deleted tenant, as people do who lose patience.
func (s *scene) force(o *kleffv1.Tenant) {
	s.t.Helper()
	change(s, o, func(o *kleffv1.Tenant) { o.Finalizers = nil })
	s.gone(tenant(o.Name))
}

// A protected tenant whose deletion the cluster did not refuse waits, with everything in place, and goes when it may.
func TestDeletionProtection(t *testing.T) {
	t.Parallel()
	s := newScene(t, "protected")
	s.plan("protected", `{resourceQuota: {hard: {pods: "3"}}, networkIsolation: Namespace}`)
	o := s.settled("protected", "protected", func(o *kleffv1.Tenant) { o.Spec.DeletionProtection = true })
	s.create(pod("protected-id", "data"))
	s.delete(o)
	s.says(o, kleffv1.ConditionTenantReady, "False/DeletionProtected", "spec.deletionProtection", "set it to false")
	s.consistently(func(g gomega.Gomega) {
		ns := namespace("protected-id")
		s.read(ns)
		g.Expect(ns.DeletionTimestamp.IsZero()).To(gomega.BeTrue())
		g.Expect(kube.Get(t.Context(), types.NamespacedName{Namespace: ns.Name, Name: "kleff-namespace"}, &networkingv1.NetworkPolicy{})).To(gomega.Succeed())
	})
	s.quotaOf("protected-id")
	s.runs("protected-id", "data")
	change(s, o, func(o *kleffv1.Tenant) { o.Spec.DeletionProtection = false })
	s.gone(namespace("protected-id"), o)
}
