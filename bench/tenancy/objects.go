package main

import (
	"context"
	_ "embed" // for the plan
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// writers is how many objects are created or deleted at a time.
const writers = 8

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

func (b *bench) each(ctx context.Context, do func(context.Context, *kleffv1.Tenant) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for n := range b.Tenants {
		group.Go(func() error {
			o := tenant(n)
			if err := do(ctx, o); err != nil {
				return fmt.Errorf("writing %s: %w", o.Name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// fleet is what a watch has seen of the tenants.
type fleet struct {
	stop func()

	mu sync.Mutex
	// seen are those that there are, and ready when each was seen ready with the plan's generation.
	seen       map[string]bool
	begun      map[string]time.Time
	generation int64
	ready      map[string]time.Time
}

func (b *bench) watchTenants(ctx context.Context) (*fleet, error) {
	f := &fleet{seen: map[string]bool{}, begun: map[string]time.Time{}}
	f.expect(1)
	all, err := cache.New(b.host.RESTConfig(), cache.Options{Scheme: b.kube.Scheme(), DefaultTransform: cache.TransformStripManagedFields()})
	if err != nil {
		return nil, fmt.Errorf("creating a cache of tenants: %w", err)
	}
	informer, err := all.GetInformer(ctx, &kleffv1.Tenant{}, cache.BlockUntilSynced(false))
	if err == nil {
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { f.see(o, false) },
			UpdateFunc: func(_, o any) { f.see(o, false) },
			DeleteFunc: func(o any) { f.see(o, true) },
		})
	}
	if err != nil {
		return nil, fmt.Errorf("watching tenants: %w", err)
	}
	watching, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = all.Start(watching) // without it no tenant is ever ready
	}()
	f.stop = func() {
		cancel()
		<-ended
	}
	return f, nil
}

// expect forgets who is ready, and waits for another generation of the plan.
func (f *fleet) expect(generation int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.generation, f.ready = generation, map[string]time.Time{}
}

func (f *fleet) see(object any, gone bool) {
	if last, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = last.Obj
	}
	o, ok := object.(*kleffv1.Tenant)
	if !ok {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if gone {
		delete(f.seen, o.Name)
		return
	}
	f.seen[o.Name] = true
	if _, known := f.ready[o.Name]; !known && o.Status.PlanGeneration == f.generation && meta.IsStatusConditionTrue(o.Status.Conditions, kleffv1.ConditionTenantReady) {
		f.ready[o.Name] = time.Now()
	}
}

// begin notes that a tenant is about to be created.
func (f *fleet) begin(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.begun[name] = time.Now()
}

// counts are how many there are, and how many of these are ready.
func (f *fleet) counts() (seen, ready int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.seen), len(f.ready)
}

// took is how long each needed from its creation until it was ready.
func (f *fleet) took() []time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []time.Duration
	for name, at := range f.ready {
		out = append(out, at.Sub(f.begun[name]))
	}
	return out
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
	err := b.kube.Get(ctx, client.ObjectKey{Name: planName}, &kleffv1.TenantPlan{})
	return err != nil && client.IgnoreNotFound(err) == nil, client.IgnoreNotFound(err)
}
