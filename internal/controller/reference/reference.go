// Package reference reads the Distribution and ConnectionGroup objects that others name.
package reference

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
)

// LookUp is the reference as the cluster shows it.
func LookUp(ctx context.Context, kube client.Reader, r distributiontenant.Reference) distributiontenant.Reference {
	var o client.Object = &v1alpha1.Distribution{}
	if r.Field == distributiontenant.ConnectionGroupRef {
		o = &v1alpha1.ConnectionGroup{}
	}
	err := kube.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: r.Name}, o)
	if err == nil {
		found := To(o)
		found.Block = r.Block
		return found
	}
	// An object that can't be read is not missing.
	r.Unread = !apierrors.IsNotFound(err)
	return r
}

// Matters reports whether a change of an object shows to those that name it.
func Matters(before, after client.Object) bool { return To(before) != To(after) }

// To is the reference to an object.
func To(o client.Object) distributiontenant.Reference {
	switch o := o.(type) {
	case *v1alpha1.Distribution:
		return convert.DistributionReference(o)
	case *v1alpha1.ConnectionGroup:
		return convert.ConnectionGroupReference(o)
	}
	return distributiontenant.Reference{}
}
