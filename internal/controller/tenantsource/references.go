package tenantsource

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/reference"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
)

// unresolved says which object that the source names its tenants can't use yet, and why.
func (p *pass) unresolved(ctx context.Context) string {
	references := convert.SourceReferences(p.object)
	for n, r := range references {
		references[n] = reference.LookUp(ctx, p.Client, r)
	}
	return references.Unresolvable()
}

// lead finds the IDs of objects that rows name, each of them once.
func (t target) lead(ctx context.Context) func(field, namespace, name string) string {
	known := map[distributiontenant.Reference]string{}
	return func(field, namespace, name string) string {
		r := distributiontenant.Reference{Field: distributiontenant.ReferenceField(field), Namespace: cmp.Or(namespace, t.namespace), Name: name}
		id, asked := known[r]
		if !asked {
			id = reference.LookUp(ctx, t.Client, r).ID
			known[r] = id
		}
		return id
	}
}

// naming are the sources that name an object, whose tenants may wait for it.
func (c *Controller) naming(o client.Object) (keys []types.NamespacedName) {
	var list v1alpha1.TenantSourceList
	if err := c.Client.List(context.Background(), &list, client.UnsafeDisableDeepCopy); err != nil {
		ctrl.Log.Error(err, "Can't list the sources that name an object that has changed")
	}
	to := reference.To(o)
	for n := range list.Items {
		names := func(r distributiontenant.Reference) bool {
			return r.Field == to.Field && r.Namespace == to.Namespace && r.Name == to.Name
		}
		if s := &list.Items[n]; slices.ContainsFunc(convert.SourceReferences(s), names) {
			keys = append(keys, client.ObjectKeyFromObject(s))
		}
	}
	return keys
}
