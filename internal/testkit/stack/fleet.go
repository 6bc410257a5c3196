package stack

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// Fleet is a number of like tenants in one namespace.
type Fleet struct {
	*Objects

	// Shape, if any, changes each object before it is created.
	Shape func(o *v1alpha1.DistributionTenant)

	namespace, prefix string
}

// NewFleet watches the namespace, whose objects are named prefix and a number.
func NewFleet(ctx context.Context, kube client.WithWatch, namespace, prefix string, size int) (f *Fleet, err error) {
	f = &Fleet{namespace: namespace, prefix: prefix}
	f.Objects, err = Watch(ctx, kube, Kind{
		Size: size, Build: f.build, List: &v1alpha1.DistributionTenantList{}, Namespace: namespace, Once: true,
		Ready: func(o client.Object) (int64, bool) {
			t, ok := o.(*v1alpha1.DistributionTenant)
			return o.GetGeneration(), ok && meta.IsStatusConditionTrue(t.Status.Conditions, v1alpha1.ConditionReady)
		},
	})
	return f, err
}

// Name returns the name of the n-th tenant, from 0.
func (f *Fleet) Name(n int) string { return fmt.Sprintf("%s%05d", f.prefix, n) }

func (f *Fleet) build(n int) (client.Object, error) {
	o := &v1alpha1.DistributionTenant{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: f.Name(n)},
		Spec: v1alpha1.DistributionTenantSpec{
			DistributionID: DistributionID,
			Domains:        []v1alpha1.TenantDomain{{Domain: f.Name(n) + ".example.com"}},
		},
	}
	if f.Shape != nil {
		f.Shape(o)
	}
	return o, nil
}
