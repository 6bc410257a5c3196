package fleet

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
)

// Grants is a registry that judges as the operator's does, by what the cluster has now. It counts nothing, so that limits
// don't refuse anything. fallback is the default grant of the chart, nil for none. It is nil where grants are off.
func Grants(kube client.Reader, mode grants.Mode, fallback *grant.Grant) *grants.Registry {
	return grants.New(grants.Options{
		Mode: mode, Default: fallback, Clock: clock.RealClock{},
		Grants: func(ctx context.Context) ([]grant.Grant, error) {
			var list v1alpha1.EdgeGrantList
			if err := kube.List(ctx, &list); err != nil {
				return nil, fmt.Errorf("listing the EdgeGrants: %w", err)
			}
			return convert.Grants(list.Items), nil
		},
		Labels: func(ctx context.Context, namespace string) (map[string]string, error) {
			var ns corev1.Namespace
			if err := kube.Get(ctx, client.ObjectKey{Name: namespace}, &ns); client.IgnoreNotFound(err) != nil {
				return nil, fmt.Errorf("reading the namespace %s: %w", namespace, err)
			}
			return ns.Labels, nil
		},
		Objects: func(context.Context) ([]grants.Object, error) { return nil, nil },
	})
}
