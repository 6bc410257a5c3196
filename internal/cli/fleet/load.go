package fleet

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
)

// Kind is one of the operator's kinds.
type Kind struct {
	Name string
	// Names are what users call it, in lower case.
	Names []string
	// Cluster is true of a kind without namespaces.
	Cluster bool
	New     func() client.Object
	NewList func() client.ObjectList
}

// Kinds are all of them, in the order in which they are shown.
var Kinds = []Kind{
	{Name: "DistributionTenant", Names: []string{"cfdt", "distributiontenant", "distributiontenants"},
		New: func() client.Object { return &v1alpha1.DistributionTenant{} }, NewList: func() client.ObjectList { return &v1alpha1.DistributionTenantList{} }},
	{Name: "Distribution", Names: []string{"cfd", "distribution", "distributions"},
		New: func() client.Object { return &v1alpha1.Distribution{} }, NewList: func() client.ObjectList { return &v1alpha1.DistributionList{} }},
	{Name: "ConnectionGroup", Names: []string{"cfcg", "connectiongroup", "connectiongroups"},
		New: func() client.Object { return &v1alpha1.ConnectionGroup{} }, NewList: func() client.ObjectList { return &v1alpha1.ConnectionGroupList{} }},
	{Name: "TenantSource", Names: []string{"cfts", "tenantsource", "tenantsources"},
		New: func() client.Object { return &v1alpha1.TenantSource{} }, NewList: func() client.ObjectList { return &v1alpha1.TenantSourceList{} }},
	{Name: "Invalidation", Names: []string{"inv", "invalidation", "invalidations"},
		New: func() client.Object { return &v1alpha1.Invalidation{} }, NewList: func() client.ObjectList { return &v1alpha1.InvalidationList{} }},
	{Name: "EdgeGrant", Names: []string{"edgegrant", "edgegrants"}, Cluster: true,
		New: func() client.Object { return &v1alpha1.EdgeGrant{} }, NewList: func() client.ObjectList { return &v1alpha1.EdgeGrantList{} }},
	{Name: "DomainClaim", Names: []string{"domainclaim", "domainclaims"}, Cluster: true,
		New: func() client.Object { return &v1alpha1.DomainClaim{} }, NewList: func() client.ObjectList { return &v1alpha1.DomainClaimList{} }},
	{Name: "Tenant", Names: []string{"tenant", "tenants"}, Cluster: true,
		New: func() client.Object { return &kleffv1.Tenant{} }, NewList: func() client.ObjectList { return &kleffv1.TenantList{} }},
	{Name: "TenantPlan", Names: []string{"tenantplan", "tenantplans"}, Cluster: true,
		New: func() client.Object { return &kleffv1.TenantPlan{} }, NewList: func() client.ObjectList { return &kleffv1.TenantPlanList{} }},
}

// KindNamed is the kind that users call by that name.
func KindNamed(name string) (Kind, error) {
	name = strings.ToLower(name)
	for _, k := range Kinds {
		if slices.Contains(k.Names, name) {
			return k, nil
		}
	}
	var all []string
	for _, k := range Kinds {
		all = append(all, k.Names[0])
	}
	return Kind{}, fmt.Errorf("%q is not one of the operator's kinds: use %s", name, strings.Join(all, ", "))
}

// Gap is a kind that could not be read.
type Gap struct {
	Kind string
	// Missing is true where the cluster does not have the kind. Otherwise the user may not read it.
	Missing bool
	Err     error
}

// Fleet are the objects of a cluster, or of a namespace of it.
type Fleet struct {
	items map[string][]Item
	Gaps  []Gap
}

// Load reads the objects of some kinds in a namespace; empty: in all of them. A kind that the cluster lacks, or that the
// user may not read, is a gap. An error of another kind ends it.
func Load(ctx context.Context, c client.Reader, namespace string, kinds ...string) (*Fleet, error) {
	f := &Fleet{items: map[string][]Item{}}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	for _, k := range Kinds {
		if len(kinds) > 0 && !slices.Contains(kinds, k.Name) {
			continue
		}
		group.Go(func() error {
			items, err := k.list(ctx, c, namespace)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
				f.Gaps = append(f.Gaps, Gap{Kind: k.Name, Missing: true, Err: err})
			case apierrors.IsForbidden(err):
				f.Gaps = append(f.Gaps, Gap{Kind: k.Name, Err: err})
			case err != nil:
				return fmt.Errorf("listing the objects of kind %s: %w", k.Name, err)
			}
			f.items[k.Name] = items
			return nil
		})
	}
	err := group.Wait()
	slices.SortFunc(f.Gaps, func(a, b Gap) int { return strings.Compare(a.Kind, b.Kind) })
	return f, err
}

func (k Kind) list(ctx context.Context, c client.Reader, namespace string) ([]Item, error) {
	list := k.NewList()
	var options []client.ListOption
	if !k.Cluster {
		options = append(options, client.InNamespace(namespace))
	}
	// An answer from the API server's own cache is enough for a picture of the fleet, and spares etcd.
	options = append(options, fromCache{})
	if err := c.List(ctx, list, options...); err != nil {
		return nil, err
	}
	var out []Item
	err := meta.EachListItem(list, func(o runtime.Object) error {
		out = append(out, Of(o.(client.Object))) //nolint:forcetypeassert // a list of objects has objects
		return nil
	})
	return out, err
}

// fromCache lets the API server answer from its cache.
type fromCache struct{}

// ApplyToList implements client.ListOption.
func (fromCache) ApplyToList(o *client.ListOptions) {
	if o.Raw == nil {
		o.Raw = &metav1.ListOptions{}
	}
	o.Raw.ResourceVersion = "0"
}

// Kind are the objects of a kind, by namespace and name.
func (f *Fleet) Kind(name string) []Item { return f.items[name] }

// All are the objects of all kinds.
func (f *Fleet) All() (all []Item) {
	for _, k := range Kinds {
		all = append(all, f.items[k.Name]...)
	}
	return all
}

// Tenants are the DistributionTenants.
func (f *Fleet) Tenants() []*v1alpha1.DistributionTenant {
	return of[*v1alpha1.DistributionTenant](f, "DistributionTenant")
}

// Distributions are the Distributions.
func (f *Fleet) Distributions() []*v1alpha1.Distribution {
	return of[*v1alpha1.Distribution](f, "Distribution")
}

// Sources are the TenantSources.
func (f *Fleet) Sources() []*v1alpha1.TenantSource {
	return of[*v1alpha1.TenantSource](f, "TenantSource")
}

// Plans are the TenantPlans.
func (f *Fleet) Plans() []*kleffv1.TenantPlan { return of[*kleffv1.TenantPlan](f, "TenantPlan") }

func of[O client.Object](f *Fleet, kind string) []O {
	out := make([]O, 0, len(f.items[kind]))
	for _, i := range f.items[kind] {
		out = append(out, i.Object.(O)) //nolint:forcetypeassert // items are kept by their kind
	}
	return out
}
