package tenant_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/tenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/tenantplan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	domain "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantplan"
)

// index is a cache that knows tenants by the names of their namespaces, and nothing else.
type index struct {
	client.Client

	tenants map[string][]string
}

func (i index) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	o := (&client.ListOptions{}).ApplyOptions(options)
	list, ok := into.(*kleffv1.TenantList)
	if !ok || o.FieldSelector == nil {
		return errors.New("only tenants are found, by their namespace")
	}
	name, _ := o.FieldSelector.RequiresExactMatch(tenant.IndexNamespace)
	for _, t := range i.tenants[name] {
		list.Items = append(list.Items, kleffv1.Tenant{ObjectMeta: metav1.ObjectMeta{Name: t}})
	}
	return nil
}

func TestObjectsWakeWhoeverWantsTheirNamespace(t *testing.T) {
	known := index{tenants: map[string][]string{"user-1": {"one", "another-one"}, "user-2": {"two"}}}
	live := func(k plan.Kind, namespace, name string, labels map[string]string) plan.Live {
		return plan.Live{Object: plan.Object{Kind: k, Namespace: namespace, Name: name, Labels: labels}}
	}
	ofTwo := map[string]string{plan.LabelTenant: "two", plan.LabelTenantUID: "u2"}
	for about, c := range map[string]struct {
		changed plan.Live
		want    []string
	}{
		"a namespace":   {live(plan.KindNamespace, "", "user-1", nil), []string{"one", "another-one"}},
		"what is in it": {live(plan.KindResourceQuota, "user-2", "kleff-plan", nil), []string{"two"}},
		"what a customer labels as another's stays his": {live(plan.KindNetworkPolicy, "user-1", "mine", ofTwo), []string{"one", "another-one"}},
		"what is in an unwanted namespace":              {live(plan.KindNetworkPolicy, "else", "mine", ofTwo), nil},
		"what is in no namespace":                       {live(plan.ConstraintKind("KleffPodSecurity"), "", "user-1", nil), nil},
	} {
		active := make(chan struct{})
		close(active)
		tenants := tenant.New(tenant.Options{Client: known, Active: active})
		tenants.ChildChanged(t.Context(), c.changed)
		var got []string
		for range len(tenants.Woken()) {
			e := <-tenants.Woken()
			got = append(got, e.Object.GetName())
		}
		if d := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s (-want +got):\n%s", about, d)
		}
	}
}

// A replica that waits for its turn looks at nothing: it looks at everything when its turn comes.
func TestNobodyWakesBeforeTheTurn(t *testing.T) {
	tenants := tenant.New(tenant.Options{Active: make(chan struct{})})
	tenants.ChildChanged(t.Context(), plan.Live{Object: plan.Object{Kind: plan.KindNamespace, Name: "user-1"}})
	if len(tenants.Woken()) != 0 {
		t.Error("a tenant was woken")
	}
}

// cache has tenants by the plans that they name, and plans.
type cache struct {
	client.Client

	tenants map[string]string
	plans   []string
}

func (c cache) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	o := (&client.ListOptions{}).ApplyOptions(options)
	switch list := into.(type) {
	case *kleffv1.TenantPlanList:
		for _, name := range c.plans {
			list.Items = append(list.Items, kleffv1.TenantPlan{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}
	case *kleffv1.TenantList:
		for name, plan := range c.tenants {
			t := kleffv1.Tenant{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: kleffv1.TenantSpec{Plan: plan}}
			if o.FieldSelector != nil && !o.FieldSelector.Matches(fields.Set{tenantplan.IndexPlan: plan, tenant.IndexNamespace: "for-" + name}) {
				continue
			}
			list.Items = append(list.Items, t)
		}
	}
	return nil
}

// A plan wakes the tenants that name it. Tenants whose plan does not exist are woken by every plan, because what
// applies to them depends on whether there is any: two plans that are created at once are both in the cache before the
// first of them wakes anything.
func TestPlansWakeThoseToWhomTheyMatter(t *testing.T) {
	for about, c := range map[string]struct {
		plans   []string
		changed string
		ingress string
		want    []string
	}{
		"one of several":                                              {[]string{"basic", "gold"}, "gold", "", []string{"of-gold", "of-nothing"}},
		"the first, while another one comes":                          {[]string{"other", "silver"}, "silver", "", []string{"of-basic", "of-gold", "of-nothing"}},
		"one of several that is gone":                                 {[]string{"basic"}, "gold", "", []string{"of-gold", "of-nothing"}},
		"one that takes a tenant's namespace as an ingress namespace": {[]string{"basic", "gold"}, "gold", "for-of-basic", []string{"of-basic", "of-gold", "of-nothing"}},
		"the last, which is gone":                                     {nil, "gold", "", []string{"of-basic", "of-gold", "of-nothing"}},
	} {
		tenants := tenant.New(tenant.Options{Client: cache{
			tenants: map[string]string{"of-basic": "basic", "of-gold": "gold", "of-nothing": "platinum"}, plans: c.plans,
		}})
		var got []string
		changed := &kleffv1.TenantPlan{ObjectMeta: metav1.ObjectMeta{Name: c.changed}}
		if c.ingress != "" {
			changed.Spec.IngressNamespaces = []string{c.ingress}
		}
		for _, key := range tenants.Watch(1).Related[0].Wakes(changed) {
			got = append(got, key.Name)
		}
		slices.Sort(got)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", about, d)
		}
	}
}

// A tenant that leaves a namespace wakes the others that want it, also where nothing of the namespace changes with it.
func TestATenantThatLeavesWakesThoseThatWait(t *testing.T) {
	tenants := tenant.New(tenant.Options{Client: index{tenants: map[string][]string{"user-1": {"first", "second", "third"}}}})
	related := tenants.Watch(1).Related[1]
	has := func(namespace string) *kleffv1.Tenant {
		return &kleffv1.Tenant{ObjectMeta: metav1.ObjectMeta{Name: "first"}, Status: kleffv1.TenantStatus{Namespace: namespace}}
	}
	for about, c := range map[string]struct {
		tenant *kleffv1.Tenant
		want   []string
	}{
		"one that has the namespace that others want": {has("user-1"), []string{"second", "third"}},
		"one that has another namespace":              {has("user-2"), nil},
		"one that has none":                           {has(""), nil},
	} {
		var got []string
		for _, key := range related.Wakes(c.tenant) {
			got = append(got, key.Name)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", about, d)
		}
	}
	if !related.Matters(has("user-1"), has("user-2")) || related.Matters(has("user-1"), has("user-1")) {
		t.Error("only a change of the namespace matters")
	}
}

// The tenant whose UID the namespace has is its owner, whatever a tenant that is being deleted still has in its status.
func TestTheUIDDecidesWhoOwnsANamespace(t *testing.T) {
	leaving := kleffv1.Tenant{ObjectMeta: metav1.ObjectMeta{Name: "leaving", UID: "u1"}, Status: kleffv1.TenantStatus{Namespace: "user-1"}}
	taking := kleffv1.Tenant{ObjectMeta: metav1.ObjectMeta{Name: "taking", UID: "u2"}}
	for about, c := range map[string]struct {
		uid  string
		want string
	}{
		"its UID is that of one that came later":      {"u2", "taking"},
		"its UID was removed":                         {"", "leaving"},
		"its UID is that of the tenant that is asked": {"u3", "leaving"},
	} {
		namespace := &plan.Live{Object: plan.Object{Kind: plan.KindNamespace, Name: "user-1", Labels: map[string]string{plan.LabelTenantUID: c.uid}}}
		got, err := tenant.OwnerOf(t.Context(), listing{tenants: []kleffv1.Tenant{leaving, taking}}, "u3", namespace)
		if err != nil || got != c.want {
			t.Errorf("%s: the owner is %q, %v; want %q", about, got, err, c.want)
		}
	}
}

// listing lists the tenants that it has.
type listing struct {
	client.Client

	tenants []kleffv1.Tenant
}

func (l listing) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	list, ok := into.(*kleffv1.TenantList)
	if !ok {
		return errors.New("only tenants are listed")
	}
	list.Items = slices.Clone(l.tenants)
	return nil
}

// A plan wakes its tenants when they may get something else from it.
func TestWhatOfAPlanMattersToItsTenants(t *testing.T) {
	matters := tenant.New(tenant.Options{}).Watch(1).Related[0].Matters
	for about, c := range map[string]struct {
		change func(*kleffv1.TenantPlan)
		want   bool
	}{
		"another spec": {func(p *kleffv1.TenantPlan) {
			p.Generation++
			p.Spec.NetworkIsolation = kleffv1.IsolationNamespace
		}, true},
		"another plan of that name": {func(p *kleffv1.TenantPlan) { p.UID = "p2" }, true},
		"the finalizer":             {func(p *kleffv1.TenantPlan) { p.Finalizers = []string{kleffv1.PlanFinalizer} }, false},
		"another way of a rollout": {func(p *kleffv1.TenantPlan) {
			p.Generation++
			p.Spec.Rollout = &kleffv1.Rollout{Paused: true}
		}, false},
		"figures": {func(p *kleffv1.TenantPlan) { p.Status.Tenants = new(int32) }, false},
	} {
		before := &kleffv1.TenantPlan{ObjectMeta: metav1.ObjectMeta{Name: "gold", Generation: 1}}
		convert.PlanStatus(&before.Status, before, domain.Report{}, time.Unix(0, 0))
		after := before.DeepCopy()
		c.change(after)
		if got := matters(before, after); got != c.want {
			t.Errorf("%s matters: %t", about, got)
		}
	}
}
