package operator

import (
	"context"
	"fmt"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/edgegrant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// addGrants adds the controller for EdgeGrant, and tells the registry when a grant or the labels of a namespace change.
func addGrants(ctx context.Context, mgr ctrl.Manager, c config.Config, env *environment) error {
	if _, err := mgr.GetRESTMapper().RESTMapping(v1alpha1.SchemeGroupVersion.WithKind("EdgeGrant").GroupKind()); err != nil {
		if env.grants == nil {
			// Without grants the CRD need not be installed.
			return nil
		}
		return fmt.Errorf("--grants=%s needs the CRD of EdgeGrant: install the CRDs of this version: %w", c.Grants.Mode, err)
	}
	controller := edgegrant.New(edgegrant.Options{Grants: env.grants, RoleRefused: env.RoleRefused, Clock: clock.RealClock{}})
	if err := reconcile.Setup(mgr, drive(mgr, env, controller), controller.Watch()); err != nil {
		return err
	}
	if env.grants == nil {
		return nil
	}
	env.grants.OnChange(func(ctx context.Context, _ func(string) bool) { controller.WakeAll(ctx) })
	if err := mgr.Add(env.grants); err != nil {
		return fmt.Errorf("adding the registry of grants: %w", err)
	}
	return follow(ctx, mgr.GetCache(), &v1alpha1.EdgeGrant{}, grantsDiffer, func(client.Object) { env.grants.Changed() })
}

// grantsDiffer reports whether one of two versions of a grant gives something else than the other.
func grantsDiffer(a, b client.Object) bool {
	before, okA := a.(*v1alpha1.EdgeGrant)
	after, okB := b.(*v1alpha1.EdgeGrant)
	return okA && okB && (before.Generation != after.Generation || convert.RoleRefused(before) != convert.RoleRefused(after))
}
