package tenant

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
)

// Woken are the tenants that were queued.
func (c *Controller) Woken() <-chan event.GenericEvent { return c.Queue() }

// OwnerOf is the owner of a namespace that the tenant with the UID finds.
func OwnerOf(ctx context.Context, c client.Client, uid types.UID, n *plan.Live) (string, error) {
	p := &pass{Controller: New(Options{Client: c}), object: &kleffv1.Tenant{ObjectMeta: metav1.ObjectMeta{UID: uid}}}
	return p.owner(ctx, n)
}
