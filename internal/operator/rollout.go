package operator

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"time"

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

// Rollout is how changes of what customers are served with reach tenants whose source says nothing of it.
type Rollout struct {
	Enabled                    bool
	Canaries, MaxFailedPercent int
	Pause                      time.Duration
}

func (c *Config) bindRollout(f *flag.FlagSet) {
	r := &c.Rollout
	f.BoolVar(&r.Enabled, "rollout", true, "Let a change of what customers are served with reach a few tenants first, and the others in steps, whatever the cause of the change. A TenantSource can have its own rollout.")
	f.IntVar(&r.Canaries, "rollout-canaries", 0, "Number of tenants that a change reaches first. 0 means one where all get the same value, and up to five where each gets its own.")
	f.DurationVar(&r.Pause, "rollout-pause", 0, "Time after each step of a change in which it reaches no other tenant.")
	f.IntVar(&r.MaxFailedPercent, "rollout-max-failed-percent", 10, "Percentage of the tenants that a change has reached so far that may fail before it stops. A single tenant that fails stops nothing, unless it is 0.")
}

func (c *Config) validateRollout() error {
	switch r := c.Rollout; {
	case r.Canaries < 0 || r.Canaries > 1_000_000:
		return fmt.Errorf("--rollout-canaries=%d: use a number from 0 to 1000000", r.Canaries)
	case r.MaxFailedPercent < 0 || r.MaxFailedPercent > 100:
		return fmt.Errorf("--rollout-max-failed-percent=%d: use a number from 0 to 100", r.MaxFailedPercent)
	case r.Pause < 0:
		return fmt.Errorf("--rollout-pause=%s: use a time that is not negative", r.Pause)
	}
	return nil
}

func (r Rollout) limits() domain.Limits {
	return domain.Limits{Canaries: r.Canaries, Strict: r.Canaries > 0, Pause: r.Pause, MaxFailedPercent: r.MaxFailedPercent}
}

// addRollouts adds the order of changes; nil where they reach all tenants at once.
func addRollouts(ctx context.Context, mgr ctrl.Manager, c Config, env *environment, wake func(context.Context, ...client.ObjectKey)) (*rollout.Rollouts, error) {
	if !c.Rollout.Enabled {
		return nil, nil
	}
	fleet := distributiontenant.Fleet{
		Client: mgr.GetClient(), Clock: clock.RealClock{}, Defaults: env.defaults, Sources: slices.Contains(c.Controllers, config.TenantSource),
	}
	o := rollout.Options{
		Clock: clock.RealClock{}, Default: c.Rollout.limits(), Fleet: fleet.Known, SourceOf: fleet.SourceOf, Source: fleet.Source, Wake: wake, Gather: gather,
		WakeSource: func(ctx context.Context, source client.ObjectKey) {
			if env.rolled != nil {
				env.rolled(ctx, source)
			}
		},
	}
	remembers := c.Budget.Enabled && c.budgetKey().Namespace != ""
	if key := c.budgetKey(); remembers {
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

// releaseText says how to let the rest of a group go on at once. The command is ready to copy.
func releaseText(configMap client.ObjectKey, group string) string {
	return fmt.Sprintf(" To release the rest at once, run as an administrator: kubectl -n %s annotate configmap %s %s=%s --overwrite.",
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
