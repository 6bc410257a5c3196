package main

import (
	"context"
	_ "embed" // for the plan
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

//go:embed plan.yaml
var planText []byte

// plan is the only one.
func (b *bench) plan() (*kleffv1.TenantPlan, error) {
	p := &kleffv1.TenantPlan{}
	if err := yaml.UnmarshalStrict(planText, p); err != nil {
		return nil, fmt.Errorf("reading the plan: %w", err)
	}
	p.Spec.Rollout = &kleffv1.Rollout{MaxConcurrent: int32(b.MaxConcurrent)}
	if b.Edge {
		p.Spec.DistributionTenant = &kleffv1.EdgeTemplate{
			Template:    &v1alpha1.TenantTemplate{Spec: &v1alpha1.TemplateSpec{DistributionID: stack.DistributionID}},
			Expressions: []v1alpha1.FieldExpression{{Field: "domains", Expression: `row.username + ".example.com"`}},
		}
	}
	return p, nil
}

// planName is that of plan.yaml.
const planName = "bench"

// tenant is the n-th. Its namespace has the same name.
func tenant(n int) *kleffv1.Tenant {
	name := fmt.Sprintf("tenant-%05d", n)
	return &kleffv1.Tenant{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       kleffv1.TenantSpec{Plan: planName, UserID: name, Username: name},
	}
}

// watch begins to watch the tenants. They are wanted at a generation of the plan.
func (b *bench) watch(ctx context.Context) (*stack.Objects, error) {
	return stack.Watch(ctx, b.Kube, stack.Kind{
		Size: b.Tenants, List: &kleffv1.TenantList{}, Once: true,
		Build: func(n int) (client.Object, error) { return tenant(n), nil },
		Ready: func(o client.Object) (int64, bool) {
			t, ok := o.(*kleffv1.Tenant)
			if !ok {
				return 0, false
			}
			return t.Status.PlanGeneration, meta.IsStatusConditionTrue(t.Status.Conditions, kleffv1.ConditionTenantReady)
		},
	})
}

// flights counts, from the writes in their order, how many tenants are changing at the same time: from the first
// write to something of theirs to that of their status.
type flights struct {
	mu   sync.Mutex
	open map[string]bool
	most int
}

func (f *flights) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open, f.most = map[string]bool{}, 0
}

func (f *flights) peak() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.most
}

func (f *flights) observe(w stack.Write) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case w.Resource == tenants && w.Change.Status > 0:
		delete(f.open, w.Name)
	case slices.Contains(children, w.Resource) && w.Change.Spec+w.Change.Created > 0:
		f.open[w.Namespace] = true
		f.most = max(f.most, len(f.open))
	}
}

// planGone reports whether the plan, which was deleted, is gone.
func (b *bench) planGone(ctx context.Context) (bool, error) {
	err := b.Kube.Get(ctx, client.ObjectKey{Name: planName}, &kleffv1.TenantPlan{})
	return err != nil && client.IgnoreNotFound(err) == nil, client.IgnoreNotFound(err)
}
