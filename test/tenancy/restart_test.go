package tenancy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime/schema"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
)

// A restart changes nothing where there is nothing to do: not a label, not a status, not a version. It runs alone, and so does
// the next.
func TestQuietRestart(t *testing.T) {
	s := newScene(t, "quiet")
	p := s.plan("quiet", smallPlan)
	for _, name := range []string{"quiet-one", "quiet-two"} {
		s.says(s.tenant(name, "quiet"), kleffv1.ConditionTenantReady, "True/Ready")
	}
	s.settled("quiet-suspended", "quiet", func(o *kleffv1.Tenant) { o.Spec.Suspended = true })
	s.says(s.tenant("quiet-waits", "quiet-none"), kleffv1.ConditionTenantReady, "False/PlanNotFound")
	s.says(s.tenant("quiet-conflict", "quiet", func(o *kleffv1.Tenant) { o.Spec.UserID = "quiet-one-id" }), kleffv1.ConditionTenantReady, "False/NamespaceConflict")
	s.counts(p, 4, 3, 0)

	before := s.steady(s.whole)
	if status, err := operator.Stop(t.Context()); err != nil || status != 0 {
		t.Fatalf("after SIGTERM the operator ended with status %d, %v", status, err)
	}
	s.start()
	s.consistently(func(g gomega.Gomega) { g.Expect(cmp.Diff(before, s.whole())).To(gomega.BeEmpty(), "-before +after") })
}

// The operator catches up on changes that happened while it was away.
func TestDeletionGoesOnAfterACrash(t *testing.T) {
	s := newScene(t, "crash")
	s.plan("crash", `{resourceQuota: {hard: {pods: "3"}}}`)
	under, asked, late := s.settled("crash-under", "crash"), s.settled("crash-asked", "crash"), s.settled("crash-late", "crash")
	let := s.stuck("crash-under-id")
	s.delete(under)
	s.says(under, kleffv1.ConditionTenantReady, "False/Terminating", "example.com/stuck")
	if err := operator.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	let()
	s.gone(namespace("crash-under-id"))
	s.delete(asked)
	// A plan's change that came in between reaches those that are left.
	s.replan("crash", `{resourceQuota: {hard: {pods: "4"}}}`)
	s.start()
	s.gone(under, asked, namespace("crash-asked-id"))
	s.says(plan("crash"), kleffv1.ConditionReady, "True/RolledOut")
	s.eventually(func(g gomega.Gomega) {
		s.read(late)
		g.Expect(late.Status.PlanGeneration).To(gomega.BeEquivalentTo(2))
	})
	if got := s.quotaOf("crash-late-id").Spec.Hard.Pods().String(); got != "4" {
		t.Errorf("the quota has %s pods", got)
	}
}

// start starts the operator again, and returns when it has looked at every tenant and plan.
func (s *scene) start() {
	s.t.Helper()
	if err := operator.Start(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	var tenants kleffv1.TenantList
	if err := kube.List(s.t.Context(), &tenants); err != nil {
		s.t.Fatal(err)
	}
	s.eventually(func(g gomega.Gomega) {
		m, err := operator.Metrics(s.t.Context())
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(m.Sum("controller_runtime_reconcile_total", `controller="tenant"`)).To(gomega.BeNumerically(">=", len(tenants.Items)))
		for _, controller := range []string{"tenant", "tenantplan", "distributiontenant"} {
			g.Expect(m.Sum("workqueue_depth", `controller="`+controller+`"`)).To(gomega.BeZero())
			g.Expect(m.Sum("controller_runtime_active_workers", `controller="`+controller+`"`)).To(gomega.BeZero())
		}
	})
}

// whole is all of the cluster, but for events and leases.
func (s *scene) whole() map[string]string {
	s.t.Helper()
	return s.list(func(r schema.GroupVersionResource) bool { return r.Resource != "events" && r.Resource != "leases" })
}
