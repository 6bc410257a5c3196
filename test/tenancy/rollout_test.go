package tenancy_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
)

// round is a plan whose namespaces show which generation they have.
func round(n, concurrent int) string {
	return fmt.Sprintf(`{labels: {example.com/round: "%d"}, resourceQuota: {hard: {pods: "%d"}}, rollout: {maxConcurrent: %d}}`, n, n, concurrent)
}

// A plan's change reaches all of its tenants, never more than the limit at a time, and begins with one.
func TestRolloutReachesAllGently(t *testing.T) {
	t.Parallel()
	const tenants, concurrent = 30, 4
	s := newScene(t, "rollout")
	p := s.plan("rollout", round(1, concurrent))
	s.fleet("rollout", tenants)
	s.counts(p, tenants, tenants, 0)

	seen := s.follow("rollout", "2", p.Generation+1)
	s.replan("rollout", round(2, concurrent))
	s.counts(p, tenants, tenants, 0)
	s.says(p, kleffv1.ConditionReady, "True/RolledOut")
	s.eventually(func(g gomega.Gomega) { g.Expect(seen.done()).To(gomega.Equal(tenants)) })
	most, alone := seen.most()
	if most > concurrent {
		t.Errorf("%d tenants were changed at the same time, want %d at most", most, concurrent)
	}
	if !alone {
		t.Error("the change did not begin with one tenant")
	}
	for n := range tenants {
		if pods := s.quotaOf(fmt.Sprintf("rollout-%02d-id", n)).Spec.Hard[corev1.ResourcePods]; pods.String() != "2" {
			t.Errorf("tenant %d may have %s pods", n, pods.String())
		}
	}
}

// A rollout that too many tenants can't get stops, and continues automatically when they can.
func TestRolloutStopsAndGoesOn(t *testing.T) {
	t.Parallel()
	const tenants, concurrent = 12, 3
	s := newScene(t, "stops")
	p := s.plan("stops", round(1, concurrent))
	s.fleet("stops", tenants)
	s.counts(p, tenants, tenants, 0)
	// The cluster refuses the new quota in all namespaces but two.
	for n := 2; n < tenants; n++ {
		change(s, namespace(fmt.Sprintf("stops-%02d-id", n)), func(o *corev1.Namespace) { o.Labels["example.com/refuses"] = "nine" })
	}
	let := s.refuseNine("stops-02-id")

	s.replan("stops", round(9, concurrent))
	s.says(p, kleffv1.ConditionRolledOut, "False/RolloutStopped", "the rollout is stopped", `Tenant "stops-`, "not nine")
	// The order of the tenants is not specified. Two may succeed, and one that fails in between stops no other.
	var tried []string
	s.consistently(func(g gomega.Gomega) {
		var list corev1.NamespaceList
		g.Expect(kube.List(t.Context(), &list, client.MatchingLabels{"example.com/round": "9", kleffv1.LabelTenantPlan: "stops"})).To(gomega.Succeed())
		tried = nil
		for _, ns := range list.Items {
			tried = append(tried, ns.Labels[kleffv1.LabelTenant])
		}
		g.Expect(len(tried)).To(gomega.BeNumerically("<=", 2+1+concurrent), "tenants that got something of the change")
	})
	s.says(p, kleffv1.ConditionReady, "False/RolloutStopped")
	s.eventually(func(g gomega.Gomega) {
		s.read(p)
		g.Expect(*p.Status.Applied).To(gomega.BeNumerically("<=", 2))
		g.Expect(int(*p.Status.Applied + *p.Status.Failed)).To(gomega.Equal(len(tried)))
	})
	for n := 2; n < tenants; n++ {
		name := fmt.Sprintf("stops-%02d", n)
		want := "True/Ready"
		if slices.Contains(tried, name) {
			want = "False/PartiallyApplied"
		}
		s.says(tenant(name), kleffv1.ConditionTenantReady, want)
		if pods := s.quotaOf(name + "-id").Spec.Hard[corev1.ResourcePods]; pods.String() != "1" {
			t.Errorf("%s may have %s pods, whose quota of nine was refused", name, pods.String())
		}
	}

	let()
	s.counts(p, tenants, tenants, 0)
	s.says(p, kleffv1.ConditionReady, "True/RolledOut")
	s.says(tenant(tried[0]), kleffv1.ConditionTenantReady, "True/Ready")
}

// fleet makes tenants of the plan, and waits until they have it.
func (s *scene) fleet(plan string, size int) {
	s.t.Helper()
	var all []*kleffv1.Tenant
	for n := range size {
		all = append(all, s.tenant(fmt.Sprintf("%s-%02d", plan, n), plan))
	}
	for _, o := range all {
		s.says(o, kleffv1.ConditionTenantReady, "True/Ready")
	}
}

// counts waits until a plan has these figures for what it says now.
func (s *scene) counts(p *kleffv1.TenantPlan, tenants, applied, failed int32) {
	s.t.Helper()
	s.eventually(func(g gomega.Gomega) {
		s.read(p)
		g.Expect(p.Status.ObservedGeneration).To(gomega.Equal(p.Generation))
		g.Expect([]*int32{p.Status.Tenants, p.Status.Applied, p.Status.Failed}).To(gomega.Equal([]*int32{&tenants, &applied, &failed}))
	})
}

// refuseNine lets the API server refuse quotas of nine pods in namespaces that ask for it, and returns when it does.
func (s *scene) refuseNine(probe string) (let func()) {
	s.t.Helper()
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "no-quota-of-nine"},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"example.com/refuses": "nine"}},
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{"CREATE", "UPDATE"},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"resourcequotas"}},
				}}},
			},
			Validations: []admissionregistrationv1.Validation{{Expression: `object.spec.hard["pods"] != "9"`, Message: "not nine"}},
		},
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: policy.ObjectMeta,
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: policy.Name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}
	s.create(policy)
	s.create(binding)
	let = sync.OnceFunc(func() {
		for _, o := range []client.Object{binding, policy} {
			if err := kube.Delete(context.Background(), o); err != nil { // the test's own context has ended, where it failed
				s.t.Error(err)
			}
		}
	})
	s.t.Cleanup(let)
	s.eventually(func(g gomega.Gomega) {
		nine := &corev1.ResourceQuota{ObjectMeta: in(probe, "probe"), Spec: corev1.ResourceQuotaSpec{
			Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("9")},
		}}
		g.Expect(apierrors.IsInvalid(kube.Create(s.t.Context(), nine, client.DryRunAll))).To(gomega.BeTrue(), "it is not refused yet")
	})
	return let
}

// progress is what a watch has seen of a roll-out.
type progress struct {
	mu sync.Mutex
	// begun and ended are the versions at which a tenant got the first and the last of a change. Versions of one etcd can be compared
	// across kinds.
	begun, ended map[string]uint64
}

// follow watches the namespaces and the tenants of a plan.
func (s *scene) follow(plan, round string, generation int64) *progress {
	s.t.Helper()
	p := &progress{begun: map[string]uint64{}, ended: map[string]uint64{}}
	for _, list := range []client.ObjectList{&corev1.NamespaceList{}, &kleffv1.TenantList{}} {
		events, err := kube.Watch(s.t.Context(), list)
		if err != nil {
			s.t.Fatal(err)
		}
		var watching sync.WaitGroup
		watching.Go(func() {
			for e := range events.ResultChan() {
				switch o := e.Object.(type) {
				case *corev1.Namespace:
					if o.Labels["example.com/round"] == round && strings.HasPrefix(o.Name, plan+"-") {
						p.note(p.begun, o.Labels[kleffv1.LabelTenant], o.ResourceVersion)
					}
				case *kleffv1.Tenant:
					if o.Spec.Plan == plan && o.Status.PlanGeneration == generation {
						p.note(p.ended, o.Name, o.ResourceVersion)
					}
				}
			}
		})
		s.t.Cleanup(func() {
			events.Stop()
			watching.Wait()
		})
	}
	return p
}

func (p *progress) note(list map[string]uint64, tenant, version string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n, err := strconv.ParseUint(version, 10, 64); err == nil && list[tenant] == 0 {
		list[tenant] = n
	}
}

func (p *progress) done() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.ended)
}

// most is how many tenants were in change at the same time. alone says that the first was done before the second began.
func (p *progress) most() (most int, alone bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	type step struct {
		version uint64
		by      int
	}
	var steps []step
	for tenant, version := range p.begun {
		steps = append(steps, step{version, 1}, step{p.ended[tenant], -1})
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Compare(a.version, b.version) })
	now := 0
	for _, one := range steps {
		now += one.by
		most = max(most, now)
	}
	return most, len(steps) > 1 && steps[1].by < 0
}
