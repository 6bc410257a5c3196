package operator

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube/budget"
	domain "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/halt"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// budgetConfigMap is the name of the ConfigMap with the memory of the deletion budget.
const budgetConfigMap = budget.Name

// gather is how long passes that ask the breaker are gathered.
const gather = 200 * time.Millisecond

// eventDeletionHeld (Warning; ConfigMap): deletions were held, because they are more than the deletion budget allows.
const eventDeletionHeld = "DeletionHeld"

// budgetKey is that of the ConfigMap.
func budgetKey(c config.Config) client.ObjectKey {
	return client.ObjectKey{Namespace: c.LeaseNamespace(), Name: budgetConfigMap}
}

// cacheBudget lets the cache follow the one ConfigMap.
func cacheBudget(c config.Config, o *cache.Options) {
	if !c.Budget.Enabled || c.LeaseNamespace() == "" {
		return
	}
	key := budgetKey(c)
	o.ByObject = map[client.Object]cache.ByObject{&corev1.ConfigMap{}: {Namespaces: map[string]cache.Config{
		key.Namespace: {FieldSelector: fields.OneTermEqualSelector("metadata.name", key.Name)},
	}}}
}

// addBreaker adds the breaker; nil without a deletion budget.
func addBreaker(ctx context.Context, mgr ctrl.Manager, c config.Config, publish *publisher, stop *halt.Switch) (*loss.Breaker, error) {
	if !c.Budget.Enabled {
		return nil, nil
	}
	key := budgetKey(c)
	if key.Namespace == "" {
		return nil, fmt.Errorf("--deletion-budget needs a namespace for its ConfigMap: set --leader-election-namespace, run the operator in a pod, or turn the deletion budget off with --deletion-budget=false")
	}
	b := loss.New(loss.Options{
		Policy: c.Budget.Policy(), Clock: clock.RealClock{}, Gather: gather,
		Store: budget.Store{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Key: key},
		Annotations: domain.Annotations{
			Approve: v1alpha1.AnnotationApproveDeletions, Abandon: v1alpha1.AnnotationAbandonDeletions,
			Namespace: key.Namespace, ConfigMap: key.Name,
		},
		Began: func(_ context.Context, _ domain.Hold, text string) {
			about := &corev1.ConfigMap{}
			about.Namespace, about.Name = key.Namespace, key.Name
			publish.publish(about, reconcile.Event{Warning: true, Reason: eventDeletionHeld, Message: text})
			ctrl.Log.WithName("breaker").Info("Deletions are held", "message", text)
		},
	})
	informer, err := mgr.GetCache().GetInformer(ctx, &corev1.ConfigMap{})
	if err != nil {
		return nil, fmt.Errorf("watching the ConfigMap %s: %w", key, err)
	}
	changed := func(o any) {
		if m, ok := o.(*corev1.ConfigMap); ok {
			freeze(ctx, stop, m)
			b.Changed(m.ResourceVersion)
		}
	}
	// Before anything starts: the cache tells it too late.
	var now corev1.ConfigMap
	if err := mgr.GetAPIReader().Get(ctx, key, &now); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("reading the ConfigMap %s: %w", key, err)
	}
	freeze(ctx, stop, &now)
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: changed, UpdateFunc: func(_, o any) { changed(o) }, DeleteFunc: func(any) {
			freeze(ctx, stop, &corev1.ConfigMap{})
			b.Changed("")
		},
	}); err != nil {
		return nil, fmt.Errorf("watching the ConfigMap %s: %w", key, err)
	}
	if err := mgr.Add(b); err != nil {
		return nil, fmt.Errorf("adding the deletion budget: %w", err)
	}
	return b, nil
}

// freeze stops all writes to AWS while the ConfigMap says so.
func freeze(ctx context.Context, stop *halt.Switch, c *corev1.ConfigMap) {
	if !budget.Frozen(c) {
		stop.Clear(ctx, v1alpha1.ReasonFrozen)
		return
	}
	stop.Set(ctx, v1alpha1.ReasonFrozen, fmt.Sprintf(
		"An administrator has frozen the operator, and nothing is changed in AWS. To go on, run: kubectl -n %s patch configmap %s --type merge -p '{\"data\":{\"%s\":null}}'",
		c.Namespace, c.Name, budget.Freeze))
}
