package tenantplan_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/tenantplan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// silent is a cluster that answers no dry run, as where a webhook is down, until it does.
type silent struct {
	port.Children

	answers bool
	asked   int
}

func (s *silent) Served(plan.Kind) bool { return false }

func (s *silent) Try(_ context.Context, o plan.Object) error {
	s.asked++
	if s.answers {
		return nil
	}
	return &fault.Error{Kind: fault.Transient, Operation: "Try" + o.Kind.Kind}
}

// A plan is tried until the API server answers, but not for ever: a webhook that is asked about the namespace of the dry run need
// not be asked about those of tenants. An answer ends the count.
func TestADryRunWithoutAnAnswerIsGivenUp(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := kleffv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	children, plans := &silent{}, tenantplan.NewPlans("")
	c := tenantplan.New(tenantplan.Options{
		Children: children, Plans: plans, Clock: clocktesting.NewFakePassiveClock(time.Unix(0, 0)), Active: make(chan struct{}),
		Client: fake.NewClientBuilder().WithScheme(scheme).
			WithIndex(&kleffv1.Tenant{}, tenantplan.IndexPlan, func(client.Object) []string { return nil }).Build(),
	})
	o := &kleffv1.TenantPlan{ObjectMeta: metav1.ObjectMeta{Name: "basic", UID: "p1", Generation: 1, Finalizers: []string{kleffv1.PlanFinalizer}}}
	o.Spec.ResourceQuota = &corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"pods": resource.MustParse("5")}}
	passes := func() (failed int) {
		for ; failed < 20; failed++ {
			pass, err := c.Begin(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if pass.Decide() != chain.Read {
				t.Fatal("the plan is not tried")
			}
			if err := pass.Perform(t.Context(), nil); err == nil {
				return failed
			} else if !fault.Is(err, fault.Transient) || plans.State(o).Tried {
				t.Fatalf("pass %d: %v, and the plan counts as tried: %t", failed, err, plans.State(o).Tried)
			}
		}
		return failed
	}
	if failed := passes(); failed != 5 || !plans.State(o).Tried {
		t.Errorf("%d passes failed for want of an answer, want 5, and tried is %t", failed, plans.State(o).Tried)
	}
	o.Generation = 2
	if failed := passes(); failed != 5 {
		t.Errorf("of the next generation, %d passes failed, want 5", failed)
	}
	o.Generation, children.answers, children.asked = 3, true, 0
	if failed := passes(); failed != 0 || children.asked == 0 || !plans.State(o).Tried {
		t.Errorf("with an answer %d passes failed, and %d objects were asked about", failed, children.asked)
	}
}
