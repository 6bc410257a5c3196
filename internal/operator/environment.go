package operator

import (
	"context"
	"maps"
	"math/rand/v2"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cloud"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/awsresource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/claims"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/halt"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/inventory"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/keyvalues"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/metrics"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/publicdns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/zone"
)

// The budget for STS, which is asked once a minute for the account and once an hour for each
// role and namespace.
const (
	stsRate  = 5
	stsBurst = 20
)

// environment is what the controllers share.
type environment struct {
	*cloud.Cloud

	sdk        awssdk.Config
	calls      *aws.Metrics
	reconciles *metrics.Reconciles
	// gauges are set before anything starts.
	gauges    metrics.Gauges
	publisher *publisher
	defaults  convert.Defaults
	// breaker is nil without a deletion budget.
	breaker *loss.Breaker
	// rollouts are nil where changes reach all tenants at once.
	rollouts *rollout.Rollouts
	// rolled wakes a TenantSource whose figures have changed. It is set before anything starts; nil where none is followed.
	rolled func(ctx context.Context, sources ...types.NamespacedName)
	// halt stops all writes to AWS.
	halt *halt.Switch
	// lease elects this process; nil without leader election.
	lease *leadership
	// grants say what namespaces may have; nil without grants.
	grants *grants.Registry
	// moved is called with the tenants that have moved in AWS.
	moved func(names []string)
	// freed are called with each tenant whose object is gone. They are complete before anything starts.
	freed []func(tenant string)
	// watcher looks in public DNS where the domains of customers lead; nil where that is not wanted or not possible.
	watcher *publicdns.Watcher
	// domains says who may have a domain; nil where every object may have every one.
	domains *claims.Registry
	// claimants wake the objects of a kind that may have their domains now, or no more. They are complete before anything
	// starts.
	claimants map[string]func(ctx context.Context, keys ...types.NamespacedName)
	// zones publish the records of all kinds, nil where no kind has any. publish wake all objects of a kind that does.
	zones   *zone.Zones
	stores  *keyvalues.Stores
	publish []func(ctx context.Context)
}

func newEnvironment(ctx context.Context, mgr ctrl.Manager, c config.Config, lease *leadership) (*environment, error) {
	sdk, err := aws.LoadConfig(ctx, aws.SDKConfig{Region: c.AWSRegion, Version: Version, Log: ctrl.Log.WithName("aws")})
	if err != nil {
		return nil, err
	}
	calls, err := aws.NewMetrics(ctrlmetrics.Registry)
	if err != nil {
		return nil, err
	}
	reconciles, err := metrics.NewReconciles(ctrlmetrics.Registry)
	if err != nil {
		return nil, err
	}
	wall := clock.RealClock{}
	publisher := newPublisher(mgr.GetClient(), wall)
	stop := halt.New()
	breaker, err := addBreaker(ctx, mgr, c, publisher, stop)
	if err != nil {
		return nil, err
	}
	env := &environment{
		claimants: map[string]func(context.Context, ...types.NamespacedName){},
		sdk:       sdk, calls: calls, reconciles: reconciles, publisher: publisher, breaker: breaker, halt: stop, lease: lease, grants: newGrants(mgr, c),
		defaults: convert.Defaults{DriftPolicy: resource.DriftPolicy(c.DriftPolicy), Tags: maps.Clone(c.DefaultTags), Allows: c.RolesAllowed().Allows},
	}
	c.TellGuardRails(ctrl.Log.WithName("guard-rails"))
	env.gauges.GuardRails = c.GuardRails()
	env.Cloud = cloud.New(cloud.Options{
		SDK: sdk, Metrics: calls, Clock: wall, ClusterID: c.ClusterID, AllowedRoles: c.RolesAllowed(),
		CloudFront: cloud.Limit{Rate: c.AWSRate, Burst: c.AWSBurst}, Invalidations: cloud.Limit{Rate: c.Invalidations.Rate, Burst: c.Invalidations.Burst}, ACM: cloud.Limit{Rate: c.ACMRate, Burst: c.ACMBurst},
		Route53: cloud.Limit{Rate: c.Route53Rate, Burst: c.Route53Burst}, STS: cloud.Limit{Rate: stsRate, Burst: stsBurst}, Halted: env.halted,
		Sweep: env.sweep(c.SweepInterval), Accesses: env.grants.Accesses,
	})
	env.grants.OnChange(func(ctx context.Context, _ func(string) bool) { env.Accounts.Prune(ctx) })
	return env, nil
}

// halted is why nothing may be changed outside of Kubernetes, nil while it may. It is asked before each request.
func (env *environment) halted() *chain.Halt {
	if h := env.halt.Now(); h != nil {
		return h
	}
	return env.lease.halted()
}

// sweep is what the inventory of each account is made from.
func (env *environment) sweep(interval time.Duration) inventory.Options {
	return inventory.Options{
		Interval: interval, Random: rand.Float64, OnChange: func(names []string) { env.moved(names) },
		OnFailure: func(err error) {
			ctrl.Log.WithName("inventory").Error(err, "Listing the account's tenants failed, so changes made in AWS are not detected until it works again")
		},
	}
}

// shared is what the controllers of all that has owner tags in AWS share.
func (env *environment) shared(mgr ctrl.Manager, c config.Config) awsresource.Shared {
	return awsresource.Shared{
		Client: mgr.GetClient(), Accounts: env.Accounts, Breaker: env.breaker, Halt: env.halt, Grants: env.grants, DomainClaims: env.domains,
		Clock: clock.RealClock{}, ClusterID: c.ClusterID, Defaults: env.defaults, Interval: c.SweepInterval, Random: rand.Float64,
	}
}

// drive makes the driver of a kind.
func drive[O client.Object](mgr ctrl.Manager, env *environment, kind reconcile.Kind[O]) *reconcile.Driver[O] {
	return &reconcile.Driver[O]{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Kind: kind, Failed: env.reconciles.Failed, Ignored: convert.IgnoredAnnotations,
		Publish:  func(o O, e reconcile.Event) { env.publisher.publish(o, e) },
		Nudges:   reconcile.NewNudges(clock.RealClock{}, v1alpha1.AnnotationReconcileNow, v1alpha1.AnnotationSyncNow, v1alpha1.AnnotationPaused),
		Replaced: reconcile.NewReplaced(clock.RealClock{}),
	}
}
