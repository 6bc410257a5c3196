package operator

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube/budget"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/distributiontenant"
	domain "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// eventRolloutStopped (Warning; ConfigMap): a change reaches no more tenants, because too many of those that have it failed.
const eventRolloutStopped = "RolloutStopped"

// addRollouts adds the order of changes; nil where they reach all tenants at once.
func addRollouts(ctx context.Context, mgr ctrl.Manager, c config.Config, env *environment, wake func(context.Context, ...client.ObjectKey)) (*rollout.Rollouts, error) {
	if !c.Rollout.Enabled {
		return nil, nil
	}
	fleet := distributiontenant.Fleet{
		Client: mgr.GetClient(), Clock: clock.RealClock{}, Defaults: env.defaults, Sources: slices.Contains(c.Controllers, config.TenantSource),
	}
	o := rollout.Options{
		Clock: clock.RealClock{}, Default: c.Rollout.Limits(), Fleet: fleet.Known, SourceOf: fleet.SourceOf, Source: fleet.Source, Wake: wake, Gather: gather,
		WakeSource: func(ctx context.Context, source client.ObjectKey) {
			if env.rolled != nil {
				env.rolled(ctx, source)
			}
		},
	}
	remembers := c.Budget.Enabled && budgetKey(c).Namespace != ""
	if key := budgetKey(c); remembers {
		about := &corev1.ConfigMap{}
		about.Namespace, about.Name = key.Namespace, key.Name
		o.Release = func(group string) string { return releaseText(key, group) }
		o.Stopped = func(_ context.Context, g domain.Group) {
			text := fmt.Sprintf("A change of %s has reached %d tenants and failed in %d of them, so it reaches no more. %s%s", g.Fields, g.Tried(), g.Failed, g.First, releaseText(key, g.Name))
			env.publisher.publish(about, reconcile.Event{Warning: true, Reason: eventRolloutStopped, Message: text})
			ctrl.Log.WithName("rollout").Info("A change has stopped", "message", text)
		}
	}
	r := rollout.New(o)
	if err := followRollouts(ctx, mgr, r, remembers, fleet.Sources); err != nil {
		return nil, err
	}
	if err := mgr.Add(r); err != nil {
		return nil, fmt.Errorf("adding the order of changes: %w", err)
	}
	return r, nil
}

// releaseText says how to let the rest of a group continue at once. The command is ready to copy.
func releaseText(configMap client.ObjectKey, group string) string {
	return fmt.Sprintf(" To release the rest at once, run as an administrator: kubectl -n %s annotate configmap %s %s=%s --overwrite",
		configMap.Namespace, configMap.Name, v1alpha1.AnnotationReleaseRollout, group)
}

// followRollouts tells the order what administrators release, and when the rollout of a source has changed.
func followRollouts(ctx context.Context, mgr ctrl.Manager, r *rollout.Rollouts, remembers, sources bool) error {
	follow := func(o client.Object, handler toolscache.ResourceEventHandlerFuncs) error {
		informer, err := mgr.GetCache().GetInformer(ctx, o)
		if err == nil {
			_, err = informer.AddEventHandler(handler)
		}
		if err != nil {
			return fmt.Errorf("watching %T: %w", o, err)
		}
		return nil
	}
	if remembers {
		released := func(o any) {
			if m, ok := o.(*corev1.ConfigMap); ok {
				r.Released(budget.Released(m))
			}
		}
		if err := follow(&corev1.ConfigMap{}, toolscache.ResourceEventHandlerFuncs{AddFunc: released, UpdateFunc: func(_, o any) { released(o) }}); err != nil {
			return err
		}
	}
	if !sources {
		return nil
	}
	return follow(&v1alpha1.TenantSource{}, toolscache.ResourceEventHandlerFuncs{UpdateFunc: func(before, after any) {
		b, was := before.(*v1alpha1.TenantSource)
		a, is := after.(*v1alpha1.TenantSource)
		if was && is && b.Generation != a.Generation {
			r.Changed()
		}
	}})
}
