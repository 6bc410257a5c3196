package tenancy_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/tenantplan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// A tenant can be there before its plan: it gets its namespace, in which nothing starts, and what the plan says when there is one.
func TestPlanThatComesLater(t *testing.T) {
	t.Parallel()
	s := newScene(t, "later")
	o := s.tenant("later", "later")
	s.says(o, kleffv1.ConditionPlanApplied, "False/PlanNotFound", `"later"`, "create it")
	s.says(o, kleffv1.ConditionTenantReady, "False/PlanNotFound")
	s.says(o, kleffv1.ConditionNamespaceReady, "True/Provisioned")
	s.closed(o, "later")
	s.plan("later", guarded)
	s.says(o, kleffv1.ConditionTenantReady, "True/Ready")
	s.isGuarded(o, "later")
	ns := namespace("later-id")
	if s.read(ns); ns.Annotations[kleffv1.AnnotationWithoutPlan] != "" {
		t.Errorf("the namespace has a plan, and its annotations are %v", ns.Annotations)
	}
}

// closed wants the namespace of a tenant to be one that waits for its plan.
func (s *scene) closed(o *kleffv1.Tenant, plan string) {
	s.t.Helper()
	ns := o.Spec.UserID
	s.says(o, kleffv1.ConditionPlanApplied, "False/PlanNotFound", "until then no pods start in the namespace", "restricted", "isolated")
	s.hasLabels(o, ns, map[string]string{
		"istio-injection": "enabled", "kleff.io/tenant-plan": plan,
		"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/enforce-version": "latest",
	})
	s.letsIn(ns, "kleff-namespace")
	s.counted(ns, "kleff-plan")
	s.refuses(privileged(ns), "violates PodSecurity")
	s.refuses(pod(ns, "early", restricted), "exceeded quota: kleff-plan")
}

// isGuarded wants the namespace of a tenant to have what the plan says that is called guarded here.
func (s *scene) isGuarded(o *kleffv1.Tenant, plan string) {
	s.t.Helper()
	ns := o.Spec.UserID
	s.hasLabels(o, ns, map[string]string{
		"istio-injection": "enabled", "kleff.io/tenant-plan": plan, "example.com/tier": "small",
		"pod-security.kubernetes.io/enforce": "baseline", "pod-security.kubernetes.io/enforce-version": "latest",
	})
	s.counted(ns, "kleff-plan")
	if pods := s.quotaOf(ns).Spec.Hard[corev1.ResourcePods]; pods.IsZero() {
		s.t.Errorf("the quota of %s admits no pods", ns)
	}
	s.letsIn(ns, "kleff-namespace", "kleff-ingress")
	s.refuses(privileged(ns), "violates PodSecurity")
}

// exchanged deletes the namespace of a tenant, and waits for the next one.
func (s *scene) exchanged(o *kleffv1.Tenant) {
	s.t.Helper()
	uid := s.uid(o.Spec.UserID)
	s.delete(namespace(o.Spec.UserID))
	s.eventually(func(g gomega.Gomega) {
		ns := namespace(o.Spec.UserID)
		g.Expect(kube.Get(s.t.Context(), client.ObjectKeyFromObject(ns), ns)).To(gomega.Succeed())
		g.Expect(ns.UID).NotTo(gomega.Equal(uid))
		g.Expect(ns.DeletionTimestamp).To(gomega.BeNil())
	})
}

// A namespace that is deleted while its plan is being deleted, or while the tenant names one that does not exist, has the same
// protection when it is created again.
func TestNamespaceThatIsExchangedKeepsItsProtection(t *testing.T) {
	t.Parallel()
	s := newScene(t, "guards")
	p := s.plan("guards", guarded)
	o := s.settled("guards", "guards")
	s.exchanged(o)
	s.says(o, kleffv1.ConditionTenantReady, "True/Ready")
	s.isGuarded(o, "guards")

	change(s, o, func(o *kleffv1.Tenant) { o.Spec.Plan = "guards-typo" })
	s.says(o, kleffv1.ConditionTenantReady, "False/PlanNotFound")
	s.exchanged(o)
	s.isGuarded(o, "guards")
	s.says(o, kleffv1.ConditionTenantReady, "False/PlanNotFound", `the namespace keeps what it has from the plan "guards"`)
	change(s, o, func(o *kleffv1.Tenant) { o.Spec.Plan = "guards" })
	s.says(o, kleffv1.ConditionTenantReady, "True/Ready")

	s.delete(p)
	s.says(p, kleffv1.ConditionReady, "False/InUse")
	s.exchanged(o)
	s.says(o, kleffv1.ConditionTenantReady, "True/Ready", `matches the TenantPlan "guards"`)
	s.isGuarded(o, "guards")

	// Someone removes its finalizer: what it said is not known any more.
	change(s, p, func(p *kleffv1.TenantPlan) { p.Finalizers = nil })
	s.gone(p)
	s.says(o, kleffv1.ConditionTenantReady, "False/PlanNotFound", `the namespace keeps what it has from the plan "guards"`)
	s.isGuarded(o, "guards")
	s.exchanged(o)
	s.closed(o, "guards")
}

// A customer who is given a plan that does not exist keeps everything, pod security above all.
func TestPlanThatDoesNotExistTakesNothingAway(t *testing.T) {
	t.Parallel()
	s := newScene(t, "keeps")
	s.plan("keeps", guarded)
	o := s.settled("keeps", "keeps")
	want := map[string]string{
		"istio-injection": "enabled", "kleff.io/tenant-plan": "keeps", "example.com/tier": "small",
		"pod-security.kubernetes.io/enforce": "baseline", "pod-security.kubernetes.io/enforce-version": "latest",
	}
	change(s, o, func(o *kleffv1.Tenant) { o.Spec.Plan = "keeps-typo" })
	s.says(o, kleffv1.ConditionTenantReady, "False/PlanNotFound", `"keeps-typo"`, `the namespace keeps what it has from the plan "keeps"`)
	s.hasLabels(o, "keeps-id", want)
	s.quotaOf("keeps-id")
	s.letsIn("keeps-id", "kleff-namespace", "kleff-ingress")
	if o.Status.Plan != "keeps" {
		t.Errorf("status.plan is %q", o.Status.Plan)
	}
	s.refuses(privileged("keeps-id"), "violates PodSecurity")

	// It is suspended nevertheless.
	change(s, o, func(o *kleffv1.Tenant) { o.Spec.Suspended = true })
	s.counted("keeps-id", "kleff-suspended")
	s.refuses(pod("keeps-id", "late"), "exceeded quota: kleff-suspended")
	s.hasLabels(o, "keeps-id", want)
}

// Objects that a plan no longer has are removed from its tenants.
func TestPlanThatSaysLess(t *testing.T) {
	t.Parallel()
	s := newScene(t, "less")
	p := s.plan("less", guarded)
	o := s.settled("less", "less")
	theirs := &networkingv1.NetworkPolicy{ObjectMeta: in("less-id", "theirs"), Spec: networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{"Egress"}}}
	s.create(theirs)
	s.replan("less", `{istio: {revision: stable}}`)
	s.gone(
		&corev1.ResourceQuota{ObjectMeta: in("less-id", "kleff-plan")}, &corev1.LimitRange{ObjectMeta: in("less-id", "kleff-plan")},
		&rbacv1.RoleBinding{ObjectMeta: in("less-id", "kleff-owner-view")},
	)
	s.letsIn("less-id")
	s.read(theirs)
	s.says(o, kleffv1.ConditionTenantReady, "True/Ready")
	s.says(p, kleffv1.ConditionReady, "True/RolledOut")
	s.hasLabels(o, "less-id", map[string]string{"istio.io/rev": "stable", "kleff.io/tenant-plan": "less"})
}

// A plan that customers have stays until none has it.
func TestPlanInUse(t *testing.T) {
	t.Parallel()
	s := newScene(t, "inuse")
	p := s.plan("inuse", guarded)
	s.plan("inuse-other", `{}`)
	moves, leaves := s.settled("inuse-moves", "inuse"), s.settled("inuse-leaves", "inuse")
	s.delete(p)
	s.says(p, kleffv1.ConditionReady, "False/InUse", "inuse-moves", "inuse-leaves", "give them another plan")
	late := s.tenant("inuse-late", "inuse")
	s.says(late, kleffv1.ConditionPlanApplied, "False/PlanNotFound", "being deleted", "use another plan")
	s.says(moves, kleffv1.ConditionTenantReady, "True/Ready")

	// Tenants that have it keep it: changes by others are still reverted.
	change(s, namespace("inuse-moves-id"), func(o *corev1.Namespace) { o.Labels["example.com/tier"] = "none" })
	s.eventually(func(g gomega.Gomega) {
		ns := namespace("inuse-moves-id")
		s.read(ns)
		g.Expect(ns.Labels).To(gomega.HaveKeyWithValue("example.com/tier", "small"))
	})
	s.delete(leaves)
	for _, o := range []*kleffv1.Tenant{moves, late} {
		change(s, o, func(o *kleffv1.Tenant) { o.Spec.Plan = "inuse-other" })
	}
	s.gone(p, leaves)
	s.says(moves, kleffv1.ConditionTenantReady, "True/Ready", "inuse-other")
	s.says(late, kleffv1.ConditionTenantReady, "True/Ready")
	s.gone(&corev1.ResourceQuota{ObjectMeta: in("inuse-moves-id", "kleff-plan")})
}

// A tenant that is the first to need a plan adds its finalizer, next to those of others, and to no other plan of the name.
func TestAPlanIsHeldByItsTenants(t *testing.T) {
	t.Parallel()
	s := newScene(t, "held")
	p := &kleffv1.TenantPlan{ObjectMeta: metav1.ObjectMeta{Name: "held", Finalizers: []string{"example.com/theirs"}}}
	s.create(p)
	for about, c := range map[string]struct {
		name, uid string
		want      error
	}{
		"the plan":                       {"held", string(p.UID), nil},
		"another plan of its name":       {"held", "d9607e19-f88f-11e6-a518-42010a800195", reconcile.ErrBehind},
		"a plan that does not exist":     {"held-gone", "d9607e19-f88f-11e6-a518-42010a800195", reconcile.ErrBehind},
		"the plan, as the next one does": {"held", string(p.UID), nil},
	} {
		if err := tenantplan.Hold(t.Context(), kube, c.name, c.uid); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", about, err, c.want)
		}
	}
	s.read(p)
	slices.Sort(p.Finalizers)
	if d := cmp.Diff([]string{"example.com/theirs", kleffv1.PlanFinalizer}, p.Finalizers); d != "" {
		t.Errorf("finalizers (-want +got):\n%s", d)
	}
	s.gone(plan("held-gone"))
	change(s, p, func(o *kleffv1.TenantPlan) { o.Finalizers = []string{kleffv1.PlanFinalizer} })
	s.delete(p)
	s.gone(p)
}

// A plan says what is wrong with it before any tenant has it, and leaves nothing behind where it was tried.
func TestPlanThatNoTenantHasIsTried(t *testing.T) {
	t.Parallel()
	s := newScene(t, "lonely")
	for name, c := range map[string]struct {
		spec  string
		texts []string
	}{
		"resource": {`resourceQuota: {hard: {podz: "3"}}`, []string{"spec.resourceQuota", "podz"}},
		"limits":   {`limitRange: {limits: [{type: Container, default: {cpu: "4"}, max: {cpu: "1"}}]}`, []string{"spec.limitRange", "default value 4 is greater than max value 1"}},
		"role":     {`owner: {clusterRole: cluster-admin}`, []string{"spec.owner", "not allowed to bind the ClusterRole cluster-admin", "tenancy.ownerClusterRoles"}},
		"no-role":  {`owner: {clusterRole: lonely-nobody}`, []string{"spec.owner", "ClusterRole lonely-nobody", "there is no such role"}},
	} {
		p := s.plan("lonely-"+name, c.spec)
		for _, kind := range []string{kleffv1.ConditionRolledOut, kleffv1.ConditionReady} {
			s.says(p, kind, "False/PlanInvalid", c.texts...)
		}
	}
	s.replan("lonely-resource", guarded)
	s.says(plan("lonely-resource"), kleffv1.ConditionReady, "True/RolledOut", "The plan is valid. No tenant uses it yet.")

	var quotas corev1.ResourceQuotaList
	if err := kube.List(t.Context(), &quotas, client.InNamespace("default")); err != nil || len(quotas.Items) != 0 {
		t.Errorf("in the namespace default there are %+v, %v", quotas.Items, err)
	}
}
