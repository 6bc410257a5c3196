package metrics

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
)

const (
	// shownObjects is how many objects of a kind have series of their own. Usually there are few, and an alert should say
	// which; but a user who may create objects must not be able to fill Prometheus.
	shownObjects = 1000
	// shownStalled is how many stalled objects of a kind have series of their own. More can't be worked
	// through, and when a right is taken from the operator, every object stalls.
	shownStalled = 100
	// noReason is shown of an object that has not been looked at yet.
	noReason = "Unknown"
)

// counts are numbers of objects by the values of two labels.
type counts map[[2]string]int

func (c counts) emit(emit emitter, name string) {
	for labels, n := range c {
		emit(name, float64(n), labels[:]...)
	}
}

// reasonOf is the reason of a condition.
func reasonOf(conditions []metav1.Condition, kind string) string {
	if c := meta.FindStatusCondition(conditions, kind); c != nil {
		return cmp.Or(c.Reason, noReason)
	}
	return noReason
}

// tenants counts the objects of tenants, and their domains. There are thousands of them, and a handful of reasons.
func (g *Gauges) tenants(ctx context.Context, emit emitter) error {
	var list v1alpha1.DistributionTenantList
	err := g.list(ctx, config.DistributionTenant, &list)
	n, domains := counts{}, counts{}
	for i := range list.Items {
		o := &list.Items[i]
		n[[2]string{o.Namespace, reasonOf(o.Status.Conditions, v1alpha1.ConditionReady)}]++
		for _, d := range o.Status.Domains {
			domains[[2]string{o.Namespace, string(d.State)}]++
		}
	}
	n.emit(emit, "tenants_total")
	domains.emit(emit, "domains")
	return err
}

// customers counts the customers that have a namespace.
func (g *Gauges) customers(ctx context.Context, emit emitter) error {
	var list kleffv1.TenantList
	err := g.list(ctx, config.Tenant, &list)
	n := counts{}
	for i := range list.Items {
		o := &list.Items[i]
		n[[2]string{o.Spec.Plan, reasonOf(o.Status.Conditions, kleffv1.ConditionTenantReady)}]++
	}
	n.emit(emit, "customers")
	return err
}

// plans tells how far the current version of each plan has come. A platform has a handful of plans.
func (g *Gauges) plans(ctx context.Context, emit emitter) error {
	var list kleffv1.TenantPlanList
	err := g.list(ctx, config.Tenant, &list)
	for i := range list.Items {
		p := &list.Items[i]
		if p.Status.Tenants == nil {
			continue
		}
		applied, failed := ptr.Deref(p.Status.Applied, 0), ptr.Deref(p.Status.Failed, 0)
		emit("plan_tenants", float64(applied), p.Name, "applied")
		emit("plan_tenants", float64(failed), p.Name, "failed")
		emit("plan_tenants", float64(max(*p.Status.Tenants-applied-failed, 0)), p.Name, "waiting")
	}
	return err
}

// invalidations counts the objects of invalidations, and tells how old the oldest is that has not finished. One that is expected to
// take long is as old as it is late.
func (g *Gauges) invalidations(ctx context.Context, emit emitter) error {
	var list v1alpha1.InvalidationList
	err := g.list(ctx, config.Invalidation, &list)
	n, oldest := counts{}, map[[2]string]time.Time{}
	for i := range list.Items {
		o := &list.Items[i]
		k := [2]string{o.Namespace, reasonOf(o.Status.Conditions, v1alpha1.ConditionReady)}
		n[k]++
		from := o.CreationTimestamp.Time
		if e := o.Status.ExpectedCompletionTime; e != nil && e.After(from) {
			from = e.Time
		}
		if first, has := oldest[k]; o.Status.CompletionTime == nil && (!has || from.Before(first)) {
			oldest[k] = from
		}
	}
	n.emit(emit, "invalidation_objects")
	for k, from := range oldest {
		emit("invalidation_age_seconds", max(g.Clock.Since(from).Seconds(), 0), k[:]...)
	}
	return err
}

// shownKind is one whose objects are shown one by one.
type shownKind struct {
	controller, name string
	list             client.ObjectList
	show             func(o runtime.Object) object
}

// object is what is shown of an object of any kind.
type object struct {
	metav1.Object

	conditions []metav1.Condition
}

// shown is a kind whose lists have objects of the type O.
func shown[O metav1.Object](controller, name string, list client.ObjectList, conditions func(o O) []metav1.Condition) shownKind {
	return shownKind{controller, name, list, func(o runtime.Object) object {
		of := o.(O) //nolint:forcetypeassert // it is in the list
		return object{of, conditions(of)}
	}}
}

// parentKinds are those that tenants refer to, and stallingKinds those whose objects can be Stalled.
var (
	parentKinds = []shownKind{
		shown(config.Distribution, "Distribution", &v1alpha1.DistributionList{}, func(o *v1alpha1.Distribution) []metav1.Condition { return o.Status.Conditions }),
		shown(config.ConnectionGroup, "ConnectionGroup", &v1alpha1.ConnectionGroupList{}, func(o *v1alpha1.ConnectionGroup) []metav1.Condition { return o.Status.Conditions }),
	}
	stallingKinds = append([]shownKind{
		shown(config.DistributionTenant, "DistributionTenant", &v1alpha1.DistributionTenantList{}, func(o *v1alpha1.DistributionTenant) []metav1.Condition { return o.Status.Conditions }),
		shown(config.Invalidation, "Invalidation", &v1alpha1.InvalidationList{}, func(o *v1alpha1.Invalidation) []metav1.Condition { return o.Status.Conditions }),
		shown(config.TenantSource, "TenantSource", &v1alpha1.TenantSourceList{}, func(o *v1alpha1.TenantSource) []metav1.Condition { return o.Status.Conditions }),
		shown(config.Tenant, "Tenant", &kleffv1.TenantList{}, func(o *kleffv1.Tenant) []metav1.Condition { return o.Status.Conditions }),
		shown(config.Tenant, "TenantPlan", &kleffv1.TenantPlanList{}, func(o *kleffv1.TenantPlan) []metav1.Condition { return o.Status.Conditions }),
		shown(config.EdgeGrant, "EdgeGrant", &v1alpha1.EdgeGrantList{}, func(o *v1alpha1.EdgeGrant) []metav1.Condition { return o.Status.Conditions }),
	}, parentKinds...)
)

// objects reads the objects of a kind.
func (g *Gauges) objects(ctx context.Context, k shownKind) (out []object, err error) {
	list := k.list.DeepCopyObject().(client.ObjectList) //nolint:forcetypeassert // a copy has the same type
	if err := g.list(ctx, k.controller, list); err != nil {
		return nil, err
	}
	err = meta.EachListItem(list, func(o runtime.Object) error {
		out = append(out, k.show(o))
		return nil
	})
	return out, err
}

// parents shows the conditions of what tenants refer to, object by object.
func (g *Gauges) parents(ctx context.Context, emit emitter) error {
	var errs []error
	for _, k := range parentKinds {
		objects, err := g.objects(ctx, k)
		errs = append(errs, err)
		k.showConditions(emit, objects)
	}
	return errors.Join(errs...)
}

// showConditions shows first the objects that are not Ready.
func (k shownKind) showConditions(emit emitter, objects []object) {
	if len(objects) > shownObjects {
		slices.SortFunc(objects, func(a, b object) int { return cmp.Or(cmp.Compare(one(a.ready()), one(b.ready())), byName(a, b)) })
	}
	others := map[[3]string]int{}
	for i, o := range objects {
		for _, c := range o.conditions {
			if i < shownObjects {
				emit("parent_condition", 1, k.name, o.GetNamespace(), o.GetName(), c.Type, string(c.Status), c.Reason)
			} else {
				others[[3]string{c.Type, string(c.Status), c.Reason}]++
			}
		}
	}
	for c, n := range others {
		emit("parent_condition", float64(n), k.name, "", "", c[0], c[1], c[2])
	}
}

func (o object) ready() bool {
	return meta.IsStatusConditionTrue(o.conditions, v1alpha1.ConditionReady)
}

func byName(a, b metav1.Object) int {
	return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
}

// stalled shows the objects for which someone has to act, one by one, and those whose rollout has stopped: Stalled has
// only one reason, which may be another one.
func (g *Gauges) stalled(ctx context.Context, emit emitter) error {
	if !g.elected() {
		return nil
	}
	if n := g.stoppedGroups(); n > 0 {
		emit("rollout_stopped", float64(n), "DistributionTenant", "", "")
	}
	var errs []error
	for _, k := range stallingKinds {
		objects, err := g.objects(ctx, k)
		errs = append(errs, err)
		showLongest(objects, func(c metav1.Condition) bool {
			return c.Type == v1alpha1.ConditionStalled && c.Status == metav1.ConditionTrue
		}, func(value float64, namespace, name, reason string) {
			emit("stalled", value, k.name, namespace, name, reason)
		})
		showLongest(objects, func(c metav1.Condition) bool {
			return c.Type == v1alpha1.ConditionRolledOut && c.Reason == v1alpha1.ReasonRolloutStopped
		}, func(value float64, namespace, name, _ string) {
			emit("rollout_stopped", value, k.name, namespace, name)
		})
	}
	return errors.Join(errs...)
}

// affected is an object with the condition that it is shown for.
type affected struct {
	object

	is metav1.Condition
}

// showLongest shows the objects that have such a condition. Those that have it the longest come first, and stay there;
// more than may be shown are counted.
func showLongest(objects []object, such func(metav1.Condition) bool, show func(value float64, namespace, name, reason string)) {
	var all []affected
	for _, o := range objects {
		if at := slices.IndexFunc(o.conditions, such); at >= 0 {
			all = append(all, affected{o, o.conditions[at]})
		}
	}
	slices.SortFunc(all, func(a, b affected) int {
		return cmp.Or(a.is.LastTransitionTime.Compare(b.is.LastTransitionTime.Time), byName(a, b))
	})
	shown := min(len(all), shownStalled)
	for _, o := range all[:shown] {
		show(1, o.GetNamespace(), o.GetName(), o.is.Reason)
	}
	if more := len(all) - shown; more > 0 {
		show(float64(more), "", "", "")
	}
}
