package tenantsource

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/tenantsource/writer"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

// rowIndex finds objects by the key of their row.
const rowIndex = "source-row"

// FollowStates tells writers which objects change. What changes before a writer is there, or while the operator does not run, is
// found by its first comparison.
func (c *Controller) FollowStates(ctx context.Context, from cache.Cache) error {
	err := from.IndexField(ctx, &v1alpha1.DistributionTenant{}, rowIndex, func(o client.Object) []string {
		if key := o.GetAnnotations()[v1alpha1.AnnotationSourceRow]; key != "" {
			return []string{key}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("indexing the objects of sources: %w", err)
	}
	informer, err := from.GetInformer(ctx, &v1alpha1.DistributionTenant{})
	if err == nil {
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			UpdateFunc: func(before, after any) { c.differs(ctx, tenantIn(before), tenantIn(after)) },
			DeleteFunc: func(o any) { c.differs(ctx, tenantIn(o), nil) },
		})
	}
	if err != nil {
		return fmt.Errorf("watching the objects of sources: %w", err)
	}
	return nil
}

// tenantIn is the object of an event, also of one that the watch has missed; nil if there is none.
func tenantIn(o any) *v1alpha1.DistributionTenant {
	if missed, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
		o = missed.Obj
	}
	tenant, _ := o.(*v1alpha1.DistributionTenant)
	return tenant
}

// differs tells the writers of an object that it has changed. after is nil for one that is gone.
func (c *Controller) differs(ctx context.Context, before, after *v1alpha1.DistributionTenant) {
	if before == nil {
		return
	}
	if after == nil {
		if c.tellWriter(before) {
			c.Wake(ctx, c.sourceOf(before))
		}
		return
	}
	w, _ := c.writerOf(c.sourceOf(before))
	now, _ := c.writerOf(c.sourceOf(after))
	if w == nil && now == nil || before.UID == after.UID && says(before) == says(after) && c.sourceOf(before) == c.sourceOf(after) {
		return
	}
	c.tellWriter(before)
	c.tellWriter(after)
}

// tellWriter tells the writer of an object that its row may differ, and reports whether the source waits for its last objects.
func (c *Controller) tellWriter(o *v1alpha1.DistributionTenant) (leaving bool) {
	w, leaving := c.writerOf(c.sourceOf(o))
	if key, known := convert.StateKey(o); known {
		w.Differ(key, o.Name)
	}
	return leaving
}

// says stands for what the row of an object says.
func says(o *v1alpha1.DistributionTenant) (digest statetable.Digest) {
	if row, known := convert.StateRow(o, ""); known {
		digest = row.Digest()
	}
	return digest
}

// writerOf is the writer of a source, nil if it has none. leaving is set while the source waits for its deleted objects.
func (c *Controller) writerOf(key types.NamespacedName) (w *writer.Writer, leaving bool) {
	_, s := c.Of(key)
	c.mu.Lock()
	defer c.mu.Unlock()
	if s == nil {
		return nil, false
	}
	return s.keeping.Writer, s.leaving
}
