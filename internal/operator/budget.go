package operator

import (
	"context"
	"flag"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube/budget"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	limits "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/budget"
	domain "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/halt"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// budgetConfigMap is the name of the ConfigMap with the memory of the deletion budget.
const budgetConfigMap = budget.Name

// gather is how long passes that ask the breaker are gathered.
const gather = 200 * time.Millisecond

// eventDeletionHeld (Warning; ConfigMap): deletions were held, because they are more than the deletion budget allows.
const eventDeletionHeld = "DeletionHeld"

// Budget is how many deletions a window allows.
type Budget struct {
	Enabled                   bool
	Settle, SettleMax, Window time.Duration
	Ceiling                   int
	Cluster                   Share
	Namespace                 Share
	Tenants                   Share
}

// Share is a limit: the larger of a number and a share of the objects.
type Share struct{ Max, Percent int }

func (s Share) limit() limits.Limit { return limits.Limit{Max: s.Max, Percent: s.Percent} }

func (c *Config) bindBudget(f *flag.FlagSet) {
	b := &c.Budget
	f.BoolVar(&b.Enabled, "deletion-budget", true, "Hold deletions, and changes that take tenants out of service, that are more than the deletion budget allows, until they are approved.")
	f.DurationVar(&b.Settle, "deletion-budget-settle", 10*time.Second, "Time without another deletion after which a burst of deletions is judged.")
	f.DurationVar(&b.SettleMax, "deletion-budget-settle-max", time.Minute, "Maximum time until a burst of deletions is judged.")
	f.DurationVar(&b.Window, "deletion-budget-window", time.Hour, "Time for which a deletion counts.")
	f.IntVar(&b.Cluster.Max, "deletion-budget-max", 10, "Number of objects of a kind that may be deleted in a window, or more if deletion-budget-max-percent allows more.")
	f.IntVar(&b.Cluster.Percent, "deletion-budget-max-percent", 5, "Percentage of the objects of a kind that may be deleted in a window.")
	f.IntVar(&b.Ceiling, "deletion-budget-ceiling-percent", 50, "Percentage of the objects of a kind that no other setting exceeds, if there are more than three.")
	f.IntVar(&b.Namespace.Max, "deletion-budget-namespace-max", 10, "Number of objects of a kind that may be deleted in a namespace in a window, or more if deletion-budget-namespace-max-percent allows more.")
	f.IntVar(&b.Namespace.Percent, "deletion-budget-namespace-max-percent", 50, "Percentage of the objects of a kind in a namespace that may be deleted in a window.")
	f.IntVar(&b.Tenants.Max, "deletion-budget-tenants-max", 3, "Number of Tenants, with their namespaces, that may be deleted in a window, or more if deletion-budget-tenants-max-percent allows more.")
	f.IntVar(&b.Tenants.Percent, "deletion-budget-tenants-max-percent", 2, "Percentage of the Tenants that may be deleted in a window.")
}

func (c *Config) validateBudget() error {
	b := c.Budget
	for _, f := range []struct {
		name  string
		value int
		most  int
	}{
		{"max", b.Cluster.Max, 1_000_000}, {"max-percent", b.Cluster.Percent, 100}, {"ceiling-percent", b.Ceiling, 100},
		{"namespace-max", b.Namespace.Max, 1_000_000}, {"namespace-max-percent", b.Namespace.Percent, 100},
		{"tenants-max", b.Tenants.Max, 1_000_000}, {"tenants-max-percent", b.Tenants.Percent, 100},
	} {
		if f.value < 0 || f.value > f.most {
			return fmt.Errorf("--deletion-budget-%s=%d: use a number from 0 to %d", f.name, f.value, f.most)
		}
	}
	switch {
	case b.Settle < 0:
		return fmt.Errorf("--deletion-budget-settle=%s: use a time that is not negative", b.Settle)
	case b.SettleMax < b.Settle:
		return fmt.Errorf("--deletion-budget-settle-max=%s: use at least --deletion-budget-settle, which is %s", b.SettleMax, b.Settle)
	case b.Window < time.Minute:
		return fmt.Errorf("--deletion-budget-window=%s: use at least 1m", b.Window)
	}
	return nil
}

// Policy is that of the breaker.
func (b Budget) Policy() domain.Policy {
	namespace := b.Namespace.limit()
	objects := domain.Budget{Cluster: b.Cluster.limit(), Namespace: &namespace}
	return domain.Policy{
		Settle: b.Settle, SettleMax: b.SettleMax, Window: b.Window, Ceiling: b.Ceiling,
		Budgets: map[domain.Class]domain.Budget{
			convert.ClassDistributionTenant: objects, convert.ClassDistribution: objects, convert.ClassOwnership: objects,
			convert.ClassTenant: {Cluster: b.Tenants.limit()},
			// No customer is lost with a parent without an approval.
			convert.ClassSharedDistribution: {}, convert.ClassConnectionGroup: {},
		},
	}
}

func (c Config) budgetKey() client.ObjectKey {
	return client.ObjectKey{Namespace: c.leaseNamespace(), Name: budgetConfigMap}
}

// cacheBudget lets the cache follow the one ConfigMap.
func (c Config) cacheBudget(o *cache.Options) {
	if !c.Budget.Enabled || c.leaseNamespace() == "" {
		return
	}
	key := c.budgetKey()
	o.ByObject = map[client.Object]cache.ByObject{&corev1.ConfigMap{}: {Namespaces: map[string]cache.Config{
		key.Namespace: {FieldSelector: fields.OneTermEqualSelector("metadata.name", key.Name)},
	}}}
}

// addBreaker adds the breaker; nil without a deletion budget.
func addBreaker(ctx context.Context, mgr ctrl.Manager, c Config, publish *publisher, stop *halt.Switch) (*loss.Breaker, error) {
	if !c.Budget.Enabled {
		return nil, nil
	}
	key := c.budgetKey()
	if key.Namespace == "" {
		return nil, fmt.Errorf("--deletion-budget needs a namespace for its ConfigMap: set --leader-election-namespace, run the operator in a pod, or turn the deletion budget off with --deletion-budget=false")
	}
	b := loss.New(loss.Options{
		Policy: c.Budget.Policy(), Clock: clock.RealClock{}, Gather: gather,
		Store: budget.Store{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Key: key},
		Annotations: domain.Annotations{
			Approve: v1alpha1.AnnotationApproveDeletions, Abandon: v1alpha1.AnnotationAbandonDeletions,
			Namespace: key.Namespace, ConfigMap: key.Name,
		},
		Began: func(_ context.Context, _ domain.Hold, text string) {
			about := &corev1.ConfigMap{}
			about.Namespace, about.Name = key.Namespace, key.Name
			publish.publish(about, reconcile.Event{Warning: true, Reason: eventDeletionHeld, Message: text})
			ctrl.Log.WithName("breaker").Info("Deletions are held", "message", text)
		},
	})
	informer, err := mgr.GetCache().GetInformer(ctx, &corev1.ConfigMap{})
	if err != nil {
		return nil, fmt.Errorf("watching the ConfigMap %s: %w", key, err)
	}
	changed := func(o any) {
		if m, ok := o.(*corev1.ConfigMap); ok {
			freeze(ctx, stop, m)
			b.Changed(m.ResourceVersion)
		}
	}
	// Before anything starts: the cache tells it too late.
	var now corev1.ConfigMap
	if err := mgr.GetAPIReader().Get(ctx, key, &now); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("reading the ConfigMap %s: %w", key, err)
	}
	freeze(ctx, stop, &now)
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: changed, UpdateFunc: func(_, o any) { changed(o) }, DeleteFunc: func(any) {
			freeze(ctx, stop, &corev1.ConfigMap{})
			b.Changed("")
		},
	}); err != nil {
		return nil, fmt.Errorf("watching the ConfigMap %s: %w", key, err)
	}
	if err := mgr.Add(b); err != nil {
		return nil, fmt.Errorf("adding the deletion budget: %w", err)
	}
	return b, nil
}

// freeze stops all writes to AWS while the ConfigMap says so.
func freeze(ctx context.Context, stop *halt.Switch, c *corev1.ConfigMap) {
	if !budget.Frozen(c) {
		stop.Clear(ctx, v1alpha1.ReasonFrozen)
		return
	}
	stop.Set(ctx, v1alpha1.ReasonFrozen, fmt.Sprintf(
		"An administrator has frozen the operator, and nothing is changed in AWS. To go on, run: kubectl -n %s patch configmap %s --type merge -p '{\"data\":{\"%s\":null}}'.",
		c.Namespace, c.Name, budget.Freeze))
}

// budgetNamespaces are the words for Tenants.
var budgetNamespaces = domain.Words{Many: "Tenants", Resource: "tenants.kleff.kleff.io"}

// AddLosses lets a breaker watch over classes whose objects are in the cache.
func AddLosses(b *loss.Breaker, r client.Reader, wake func(ctx context.Context, keys ...types.NamespacedName), classes ...domain.Class) {
	for _, name := range classes {
		c := lossClass(name, r)
		c.Name, c.Wake = name, wake
		b.Add(c)
	}
}

func lossClass(name domain.Class, r client.Reader) loss.Class {
	tenants := domain.Words{Many: "distribution tenants", Resource: "distributiontenants", Namespaced: true}
	distributions := domain.Words{Many: "distributions", Resource: "distributions", Namespaced: true}
	switch name {
	case convert.ClassDistributionTenant:
		return loss.Class{Words: tenants, List: listTenants(r)}
	case convert.ClassOwnership:
		tenants.Change, tenants.Changes = "loss of owner tags", "losses of owner tags"
		tenants.Undo = "To undo it, restore the owner tags, or the previous controller.clusterID. An approval lets the adoption policies of the objects decide."
		return loss.Class{Words: tenants, List: changesOnly(listTenants(r))}
	case convert.ClassDistribution:
		return loss.Class{Words: distributions, List: listDistributions(r)}
	case convert.ClassSharedDistribution:
		distributions.Shared = true
		return loss.Class{Words: distributions, List: changesOnly(nil)}
	case convert.ClassConnectionGroup:
		return loss.Class{Words: domain.Words{Many: "connection groups", Resource: "connectiongroups", Namespaced: true, Shared: true}, List: changesOnly(nil)}
	}
	panic("no list of the class " + string(name))
}

// changesOnly is for a class whose deletions are not budgeted. living has the customers that changes are measured by; nil: none.
func changesOnly(living func(context.Context) (domain.Counts, []domain.Item, error)) func(context.Context) (domain.Counts, []domain.Item, error) {
	return func(ctx context.Context) (domain.Counts, []domain.Item, error) {
		if living == nil {
			return nil, nil, nil
		}
		counts, _, err := living(ctx)
		return counts, nil, err
	}
}

// budgeted counts the customers of a kind in the cache itself, which must not be changed.
func budgeted[L client.ObjectList, O any, P interface {
	*O
	client.Object
}](r client.Reader, class domain.Class, finalizer string, list func() L, items func(L) []O, weighs func(P) bool, customers func(P) int,
) func(ctx context.Context) (domain.Counts, []domain.Item, error) {
	return func(ctx context.Context) (domain.Counts, []domain.Item, error) {
		all := list()
		if err := r.List(ctx, all, client.UnsafeDisableDeepCopy); err != nil {
			return nil, nil, err
		}
		living, waiting := domain.Counts{}, []domain.Item(nil)
		objects := items(all)
		for n := range objects {
			o := P(&objects[n])
			switch {
			case !weighs(o):
			case o.GetDeletionTimestamp().IsZero():
				living[o.GetNamespace()] += customers(o)
			case controllerutil.ContainsFinalizer(o, finalizer):
				waiting = append(waiting, convert.BudgetItem(class, o, customers(o), "", time.Time{}))
			}
		}
		return living, waiting, nil
	}
}

func listTenants(r client.Reader) func(context.Context) (domain.Counts, []domain.Item, error) {
	return budgeted(r, convert.ClassDistributionTenant, v1alpha1.Finalizer,
		func() *v1alpha1.DistributionTenantList { return &v1alpha1.DistributionTenantList{} },
		func(l *v1alpha1.DistributionTenantList) []v1alpha1.DistributionTenant { return l.Items }, convert.WeighsTenant, convert.Customers)
}

func listDistributions(r client.Reader) func(context.Context) (domain.Counts, []domain.Item, error) {
	return budgeted(r, convert.ClassDistribution, v1alpha1.Finalizer,
		func() *v1alpha1.DistributionList { return &v1alpha1.DistributionList{} },
		func(l *v1alpha1.DistributionList) []v1alpha1.Distribution { return l.Items }, convert.WeighsDistribution, convert.One)
}

// listNamespaces also says which namespaces are deleted with the Tenants that wait.
func listNamespaces(r client.Reader, find func(ctx context.Context, k plan.Kind, namespace, name string) (*plan.Live, error),
) func(context.Context) (domain.Counts, []domain.Item, error) {
	list := budgeted(r, convert.ClassTenant, kleffv1.NamespaceFinalizer,
		func() *kleffv1.TenantList { return &kleffv1.TenantList{} },
		func(l *kleffv1.TenantList) []kleffv1.Tenant { return l.Items }, convert.WeighsNamespace, convert.One)
	return func(ctx context.Context) (domain.Counts, []domain.Item, error) {
		living, waiting, err := list(ctx)
		for n := range waiting {
			var t kleffv1.Tenant
			if err := r.Get(ctx, client.ObjectKey{Name: waiting[n].Name}, &t); client.IgnoreNotFound(err) != nil {
				return nil, nil, fmt.Errorf("reading the Tenant %s: %w", waiting[n].Name, err)
			}
			if string(t.UID) != waiting[n].UID {
				continue // it has ended meanwhile
			}
			namespace, err := find(ctx, plan.KindNamespace, "", convert.TenantNamespace(&t))
			if err != nil {
				return nil, nil, fmt.Errorf("looking for the namespace of the Tenant %s in the cache: %w", t.Name, err)
			}
			waiting[n].Owns = convert.OwnedNamespace(&t, namespace)
		}
		return living, waiting, err
	}
}
