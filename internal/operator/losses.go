package operator

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	domain "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/loss"
)

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

// changesOnly is for a class whose deletions are not budgeted. living has the customers that changes are measured by;
// nil: none.
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
