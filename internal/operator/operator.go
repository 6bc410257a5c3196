package operator

import (
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube/access"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cloud"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/claims"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/halt"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/inventory"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/metrics"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// leaderElectionID is the name of the lease.
const leaderElectionID = "cloudfront-tenant-operator"

// shutdownTimeout is how long a stopping operator waits for the passes in flight. It is
// above what one pass may take from its last call on, and below the 30 s that Kubernetes
// gives a pod.
const shutdownTimeout = 25 * time.Second

// The budget for STS, which is asked once a minute for the account and once an hour for each
// role and namespace.
const (
	stsRate  = 5
	stsBurst = 20
)

// Version is stamped by the build.
var Version = "dev"

// Scheme knows every kind that the operator handles.
func Scheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme, kleffv1.AddToScheme} {
		if err := add(s); err != nil {
			return nil, fmt.Errorf("building the scheme: %w", err)
		}
	}
	return s, nil
}

// Run runs the operator until the context ends.
func Run(ctx context.Context, c Config, kube *rest.Config) error {
	log := ctrl.Log.WithName("operator")
	mgr, err := assemble(ctx, &c, kube)
	if err != nil && ctx.Err() != nil {
		log.Info("Asked to end before the start", "error", err.Error())
		return nil //nolint:nilerr // the process was asked to end, and does
	}
	if err != nil {
		return err
	}
	log.Info("Starting", "version", Version, "clusterID", c.ClusterID, "driftPolicy", c.DriftPolicy, "sweepInterval", c.SweepInterval.String())
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("running the manager: %w", err)
	}
	return nil
}

// assemble makes the manager with all that it runs. It finds out the cluster's ID if the configuration has none.
func assemble(ctx context.Context, c *Config, kube *rest.Config) (ctrl.Manager, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c.saveMemory()
	scheme, err := Scheme()
	if err != nil {
		return nil, err
	}
	if err := checkRights(ctx, *c, kube); err != nil {
		return nil, err
	}
	lease, err := newLeadership(*c, kube)
	if err != nil {
		return nil, err
	}
	options := c.managerOptions(scheme)
	lease.elects(&options)
	mgr, err := ctrl.NewManager(kube, options)
	if err != nil {
		return nil, fmt.Errorf("creating the manager: %w", err)
	}
	lease.tell(mgr)
	if c.ClusterID, err = clusterID(ctx, mgr.GetAPIReader(), c.ClusterID); err != nil {
		return nil, err
	}
	if err := addProbes(mgr); err != nil {
		return nil, err
	}
	env, err := newEnvironment(ctx, mgr, *c)
	if err != nil {
		return nil, err
	}
	env.lease = lease
	if err := addClusterCheck(ctx, mgr, *c, env); err != nil {
		return nil, err
	}
	if err := c.addControllers(ctx, mgr, env); err != nil {
		return nil, err
	}
	return mgr, c.addWebhook(ctx, mgr, env)
}

// addControllers adds those that --controllers names.
func (c Config) addControllers(ctx context.Context, mgr ctrl.Manager, env *environment) error {
	if err := addGrants(ctx, mgr, c, env); err != nil {
		return err
	}
	if err := addDomainClaims(ctx, mgr, c, env); err != nil {
		return err
	}
	// Without the controller of tenants it is not known which objects belong to them.
	objectsOf := func([]string) []types.NamespacedName { return nil }
	if slices.Contains(c.Controllers, config.DistributionTenant) {
		tenants, err := addDistributionTenants(ctx, mgr, c, env)
		if err != nil {
			return err
		}
		objectsOf = tenants.ObjectsOf
	}
	if slices.Contains(c.Controllers, config.TenantSource) {
		if err := addSources(ctx, mgr, c, env); err != nil {
			return err
		}
	}
	if slices.Contains(c.Controllers, config.Tenant) {
		if err := addTenantsAndPlans(ctx, mgr, c, env); err != nil {
			return err
		}
	}
	invalidates, err := addInvalidations(mgr, c, env)
	if err != nil {
		return err
	}
	if err := addDistributionsAndGroups(ctx, mgr, c, env, objectsOf); err != nil {
		return err
	}
	g := &env.gauges
	g.Reader, g.Elected, g.Clock, g.Controllers = mgr.GetCache(), mgr.Elected(), clock.RealClock{}, c.running(env, invalidates)
	g.Breaker, g.Claims, g.Grants, g.Halt, g.Rollouts = env.breaker, env.domains, env.grants, env.halt, env.rollouts
	return g.Register(ctrlmetrics.Registry)
}

// running are the controllers that run: what --controllers names, without a kind that is not installed, and that of grants.
func (c Config) running(env *environment, invalidates bool) []string {
	running := slices.DeleteFunc(slices.Clone(c.Controllers), func(name string) bool { return name == config.Invalidation && !invalidates })
	if env.grants != nil {
		running = append(running, config.EdgeGrant)
	}
	return running
}

func (c Config) managerOptions(scheme *runtime.Scheme) ctrl.Options {
	timeout := shutdownTimeout
	o := ctrl.Options{
		Scheme:                        scheme,
		Metrics:                       c.metricsOptions(),
		HealthProbeBindAddress:        c.ProbeAddress,
		PprofBindAddress:              c.PprofAddress,
		LeaderElection:                c.LeaderElect,
		LeaderElectionID:              leaderElectionID,
		LeaderElectionNamespace:       c.LeaderElectionNamespace,
		LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout:       &timeout,
		Cache:                         cache.Options{DefaultTransform: newSlimmer().slim},
	}
	c.cacheBudget(&o.Cache)
	if len(c.WatchNamespaces) > 0 {
		o.Cache.DefaultNamespaces = map[string]cache.Config{}
		for _, ns := range c.WatchNamespaces {
			o.Cache.DefaultNamespaces[ns] = cache.Config{}
		}
	}
	return o
}

func (c Config) metricsOptions() metricsserver.Options {
	o := metricsserver.Options{
		BindAddress: c.MetricsAddress, SecureServing: c.MetricsSecure,
		CertDir: c.MetricsCertPath, CertName: c.MetricsCertName, KeyName: c.MetricsCertKey,
	}
	if c.MetricsSecure {
		o.FilterProvider = access.Filter
	}
	if !c.EnableHTTP2 {
		// HTTP/2 has let strangers exhaust servers (CVE-2023-44487); a scraper needs none.
		o.TLSOpts = append(o.TLSOpts, func(t *tls.Config) { t.NextProtos = []string{"http/1.1"} })
	}
	return o
}

// clusterID defaults to the one id that a cluster keeps for its whole life.
func clusterID(ctx context.Context, r client.Reader, given string) (string, error) {
	if given != "" {
		return given, nil
	}
	var ns corev1.Namespace
	if err := r.Get(ctx, client.ObjectKey{Name: "kube-system"}, &ns); err != nil {
		return "", fmt.Errorf("reading the kube-system namespace to get the cluster ID (alternatively, set --cluster-id): %w", err)
	}
	return string(ns.UID), nil
}

func addProbes(mgr ctrl.Manager) error {
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("adding the health check: %w", err)
	}
	synced := func(r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), time.Second)
		defer cancel()
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return fmt.Errorf("the cache of Kubernetes objects is not synced yet")
		}
		return nil
	}
	if err := mgr.AddReadyzCheck("cache", synced); err != nil {
		return fmt.Errorf("adding the readiness check: %w", err)
	}
	return nil
}

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
	rolled func(ctx context.Context, source types.NamespacedName)
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
	// domains says who may have a domain; nil where every object may have every one.
	domains *claims.Registry
	// claimants wake the objects of a kind that may have their domains now, or no more. They are complete before anything
	// starts.
	claimants map[string]func(ctx context.Context, keys []claim.Key)
}

func newEnvironment(ctx context.Context, mgr ctrl.Manager, c Config) (*environment, error) {
	sdk, err := aws.LoadConfig(ctx, aws.SDKConfig{Region: c.AWSRegion, Version: Version})
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
		claimants: map[string]func(context.Context, []claim.Key){},
		sdk:       sdk, calls: calls, reconciles: reconciles, publisher: publisher, breaker: breaker, halt: stop, grants: newGrants(mgr, c),
		defaults: convert.Defaults{DriftPolicy: resource.DriftPolicy(c.DriftPolicy), Tags: maps.Clone(c.DefaultTags), Allows: c.allowedRoles().Allows},
	}
	env.gauges.GuardRails = c.tellGuardRails(ctrl.Log.WithName("guard-rails"))
	env.Cloud = cloud.New(cloud.Options{
		SDK: sdk, Metrics: calls, Clock: wall, ClusterID: c.ClusterID, AllowedRoles: c.allowedRoles(),
		CloudFront: cloud.Limit{Rate: c.AWSRate, Burst: c.AWSBurst}, Invalidations: cloud.Limit{Rate: c.Invalidations.Rate, Burst: c.Invalidations.Burst}, ACM: cloud.Limit{Rate: c.ACMRate, Burst: c.ACMBurst},
		Route53: cloud.Limit{Rate: c.Route53Rate, Burst: c.Route53Burst}, STS: cloud.Limit{Rate: stsRate, Burst: stsBurst}, Halted: stop.Now,
		Sweep: env.sweep(c.SweepInterval), Accesses: env.grants.Accesses,
	})
	env.grants.OnChange(func(ctx context.Context, _ func(string) bool) { env.Accounts.Prune(ctx) })
	return env, nil
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

// drive makes the driver of a kind.
func drive[O client.Object](mgr ctrl.Manager, env *environment, kind reconcile.Kind[O]) *reconcile.Driver[O] {
	return &reconcile.Driver[O]{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Kind: kind, Failed: env.reconciles.Failed, Ignored: convert.IgnoredAnnotations,
		Publish:  func(o O, e reconcile.Event) { env.publisher.publish(o, e) },
		Nudges:   reconcile.NewNudges(clock.RealClock{}, v1alpha1.AnnotationReconcileNow, v1alpha1.AnnotationSyncNow, v1alpha1.AnnotationPaused),
		Replaced: reconcile.NewReplaced(clock.RealClock{}),
	}
}

// addDistributionTenants adds the inventory and the controller for DistributionTenant.
func addDistributionTenants(ctx context.Context, mgr ctrl.Manager, c Config, env *environment) (*distributiontenant.Controller, error) {
	wall := clock.RealClock{}
	var controller *distributiontenant.Controller
	dnsAccounts, err := addDNSAccounts(mgr, c, env, func() { controller.WakeAll(ctx) })
	if err != nil {
		return nil, err
	}
	zones, err := addZones(mgr, env, dnsProviders(env.Route53(), dnsAccounts), func(owners []dns.Owner) { controller.WakeOwners(ctx, owners) })
	if err != nil {
		return nil, err
	}
	env.moved = func(names []string) { controller.Wake(ctx, names) }
	rollouts, err := addRollouts(ctx, mgr, c, env, func(ctx context.Context, keys ...client.ObjectKey) { controller.WakeKeys(ctx, keys...) })
	if err != nil {
		return nil, err
	}
	env.rollouts = rollouts
	controller = distributiontenant.New(distributiontenant.Options{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Accounts: env.Accounts,
		Zones: zones, Resolver: c.resolver(), Breaker: env.breaker, Halt: env.halt, Grants: env.grants, Clock: wall, ClusterID: c.ClusterID, Interval: c.SweepInterval, Observer: env.reconciles, Random: rand.Float64,
		Defaults: env.defaults, DomainClaims: env.domains, Rollouts: rollouts,
		Gone: func(tenant string) {
			for _, free := range env.freed {
				free(tenant)
			}
		},
	})
	AddLosses(env.breaker, mgr.GetClient(), controller.WakeKeys, convert.ClassDistributionTenant, convert.ClassOwnership)
	env.halt.OnChange(controller.WakeAll)
	env.grants.OnChange(controller.WakeNamespaces)
	env.domains.OnLearn(controller.LearnAll)
	env.claimants[""] = controller.WakeDomains
	if err := reconcile.Setup(mgr, drive(mgr, env, controller), controller.Watch(c.Workers)); err != nil {
		return nil, err
	}
	return controller, addAccounts(ctx, mgr, c, env, controller.Claims)
}
