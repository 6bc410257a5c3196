package tenantplan

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// Held reports whether a deletion of the plan waits for its tenants.
func Held(o *kleffv1.TenantPlan) bool {
	return controllerutil.ContainsFinalizer(o, kleffv1.PlanFinalizer)
}

// Hold adds the finalizer to a plan before a tenant gets something from it: the plan's own pass may come later. Several
// tenants and that pass may do it at the same time. A plan that is gone, or another one by now, is left alone.
func Hold(ctx context.Context, c client.Client, name, uid string) error {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kleffv1.SchemeGroupVersion.WithKind("TenantPlan"))
	u.SetName(name)
	u.SetUID(types.UID(uid))
	u.SetFinalizers([]string{kleffv1.PlanFinalizer})
	err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(kleffv1.FieldManager))
	wrong, invalid := apierrors.StatusCause(err, metav1.CauseTypeFieldValueInvalid)
	switch {
	case apierrors.IsConflict(err), invalid && wrong.Field == "metadata.uid":
		return reconcile.ErrBehind
	case err != nil:
		return fmt.Errorf("adding the finalizer to the TenantPlan %q: %w", name, err)
	}
	return nil
}
