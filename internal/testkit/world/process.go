package world

import (
	"context"
	"maps"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/account"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cloud"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/awsresource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	domain "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	rollouts "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/keyvalue"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/claims"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/inventory"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/keyvalues"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/publicdns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/zone"
)

// Process is what the clients of a process are made from.
type Process struct {
	Clock *clocktesting.FakeClock
	// Transport counts the requests that change something, and is where the process ends in a crash.
	Transport func(next http.RoundTripper) http.RoundTripper
}

// process is the part that dies in a crash.
type process struct {
	*cloud.Cloud
	inventory  *inventory.Inventory
	controller *distributiontenant.Controller
	zones      *zone.Zones
	stores     *keyvalues.Stores
	rollouts   *rollout.Rollouts
	breaker    *loss.Breaker
	claims     *claims.Registry
	driver     *reconcile.Driver[*v1alpha1.DistributionTenant]
	// distributions and groups are the controllers of what tenants refer to.
	distributions *awsresource.Controller[*v1alpha1.Distribution, port.Distribution]
	groups        *awsresource.Controller[*v1alpha1.ConnectionGroup, port.Group]
	workers       []*worker
	kinds         []kind
	// freed are called with each tenant whose object is gone.
	freed []func(tenant string)
}

func (p *process) gone(tenant string) {
	for _, free := range p.freed {
		free(tenant)
	}
}

// worker is a shared worker that runs in addition to the passes, a step at a time.
type worker struct {
	step func(context.Context) time.Duration
	next time.Time
}

func (p *process) nextWork() time.Time {
	next := p.workers[0].next
	for _, w := range p.workers {
		if w.next.Before(next) {
			next = w.next
		}
	}
	return next
}

// rouse lets every worker look whether it has something to do.
func (p *process) rouse(now time.Time) {
	for _, w := range p.workers {
		if w.next.After(now) {
			w.next = now
		}
	}
}

// start starts a process that remembers nothing.
func (w *World) start() {
	w.t.Helper()
	metrics, err := aws.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		w.t.Fatalf("making the metrics: %v", err)
	}
	none, half := cloud.Limit{Rate: 1e6, Burst: 1e6}, func() float64 { return 0.5 }
	requests := none
	if w.options.InvalidationRate > 0 {
		requests = cloud.Limit{Rate: w.options.InvalidationRate, Burst: 5}
	}
	p := &process{Cloud: cloud.New(cloud.Options{
		SDK:     w.sdk(w.AccessKey, w.gate.transport(w.announcing(w.Sim.Transport()))),
		Metrics: metrics, Clock: w.Clock, ClusterID: ClusterID, AllowedRoles: w.options.AllowedRoles,
		CloudFront: cloud.Limit{Rate: w.options.Rate, Burst: w.options.Burst}, Invalidations: requests, ACM: none, Route53: none, STS: none, Halted: w.Halt.Now,
		Sweep: inventory.Options{Interval: SweepInterval, OnChange: w.wake, Random: half}, Accesses: w.Grants.Accesses,
	})}
	p.OnOpen(func(a *account.Account) {
		p.workers = append(p.workers, &worker{step: a.Inventory.Step, next: w.Clock.Now()})
	})
	p.zones = zone.New(zone.Options{Providers: w.providers(p.Route53()), Clock: w.Clock, OnChange: w.wakeOwners, Observer: zoneObserver{w: w}, Random: half})
	p.stores = keyvalues.New(keyvalues.Options{Of: p.Accounts.KeyValues, Clock: w.Clock, OnChange: w.wakeKeyOwners, Observer: keyObserver{w: w}})
	own := p.Accounts.Own()
	p.inventory = own.Inventory
	p.claims = w.claims()
	p.rollouts = w.rollouts()
	p.breaker = w.breaker()
	options := distributiontenant.Options{
		Shared: w.shared(p), Live: w.Kube, Zones: p.zones, KeyValues: p.stores, Resolver: w.options.Resolver, Observer: observer{w}, Gone: p.gone, Rollouts: p.rollouts,
	}
	var watcher *publicdns.Watcher
	if w.options.Guide != nil {
		watcher = publicdns.New(publicdns.Options{Guide: w.options.Guide, Clock: w.Clock, Random: half, OnChange: func(ctx context.Context, owners []types.NamespacedName) { w.due("")(ctx, owners...) }})
		options.Watcher = watcher
	}
	p.controller = distributiontenant.New(options)
	p.driver = &reconcile.Driver[*v1alpha1.DistributionTenant]{
		Client: w.kube, Live: w.Kube, Kind: p.controller, Failed: w.failed,
		Publish: func(o *v1alpha1.DistributionTenant, e reconcile.Event) {
			w.Events = append(w.Events, Event{Object: o.Name, Warning: e.Warning, Reason: e.Reason, Message: e.Message})
		},
	}
	p.kinds = append(w.parents(p), w.invalidations(p), kind{list: w.tenants, reconcile: p.driver.Reconcile, watch: p.controller.Watch(1)})
	p.workers = []*worker{{step: p.inventory.Step, next: w.Clock.Now()}, {step: p.zones.Step, next: w.Clock.Now()}, {step: p.stores.Step, next: w.Clock.Now()}}
	if watcher != nil {
		p.workers = append(p.workers, &worker{step: watcher.Step, next: w.Clock.Now()})
	}
	if w.options.Expiry {
		expiry := inventory.NewExpiry(inventory.ExpiryOptions{Inventory: p.inventory, Certificates: own.Certificates, References: own.References, Clock: w.Clock, Random: half})
		p.workers = append(p.workers, &worker{step: expiry.Step, next: w.Clock.Now()})
	}
	if w.options.Capacity {
		capacity := inventory.NewCapacity(inventory.CapacityOptions{Inventory: p.inventory, Quotas: own.Quotas, Counts: own.CloudFront, Clock: w.Clock, Random: half})
		p.workers = append(p.workers, &worker{step: capacity.Step, next: w.Clock.Now()})
	}
	if p.breaker != nil {
		operator.AddLosses(p.breaker, w.kube, w.due(""), convert.ClassDistributionTenant, convert.ClassOwnership)
		p.workers = append(p.workers, &worker{step: whenAsked(p.breaker.Step), next: w.Clock.Now()})
	}
	if p.rollouts != nil {
		p.workers = append(p.workers, &worker{step: p.rollouts.Step, next: w.Clock.Now()})
	}
	if p.claims != nil {
		p.workers = append(p.workers, &worker{step: p.claims.Step, next: w.Clock.Now()})
	}
	w.process = p
	w.learnDomains()
}

// shared is what the controllers of a process share.
func (w *World) shared(p *process) awsresource.Shared {
	return awsresource.Shared{
		Client: w.kube, Accounts: p.Accounts, Breaker: p.breaker, Halt: w.Halt, Grants: w.Grants, DomainClaims: p.claims, Clock: w.Clock,
		ClusterID: ClusterID, Defaults: w.defaults(), Interval: SweepInterval, Random: func() float64 { return 0.5 },
	}
}

// rollouts are those of a process, as the operator has them with its default flags.
func (w *World) rollouts() *rollout.Rollouts {
	if w.options.AtOnce {
		return nil
	}
	return rollout.New(rollout.Options{
		Clock: w.Clock, Default: rollouts.Limits{MaxFailedPercent: 10},
		Fleet: func(_ context.Context, _ string, changes []resource.Difference) (out []rollouts.Known) {
			for _, o := range w.list() {
				if k, has := convert.Known(o, w.defaults(), changes, w.Clock.Now()); has {
					out = append(out, k)
				}
			}
			return out
		},
		Wake:    w.due(""),
		Release: func(group string) string { return " Release it with " + group + "." },
	})
}

// ReleaseRollouts lets groups of changes continue at once, as an administrator does.
func (w *World) ReleaseRollouts(names ...string) {
	w.process.rollouts.Released(names)
	w.process.rouse(w.Clock.Now())
}

// providers are the DNS services of a process.
func (w *World) providers(route53 port.DNS) func() zone.Providers {
	if w.options.Providers == nil {
		return zone.Providers{{}: route53}.Always()
	}
	further := w.options.Providers(Process{Clock: w.Clock, Transport: w.gate.transport})
	return func() zone.Providers {
		all := zone.Providers{{}: route53}
		maps.Copy(all, further())
		return all
	}
}

func (w *World) failed(kind fault.Kind) {
	if w.Failures == nil {
		w.Failures = map[fault.Kind]int{}
	}
	w.Failures[kind]++
}

func (w *World) defaults() convert.Defaults {
	d := w.options.Defaults
	d.Allows = w.options.AllowedRoles.Allows
	return d
}

// announcing tells the test of every call before it is made.
func (w *World) announcing(next http.RoundTripper) http.RoundTripper {
	if w.options.BeforeAWS == nil {
		return next
	}
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		w.options.BeforeAWS(r, mutating(r))
		return next.RoundTrip(r)
	})
}

type observer struct{ w *World }

func (o observer) DriftDetected() { o.w.Drift++ }

func (o observer) BecameReady(d time.Duration) { o.w.Ready = append(o.w.Ready, d) }

// zoneObserver publishes what the zones restore.
type zoneObserver struct {
	zone.Silent

	w *World
}

func (o zoneObserver) Corrected(corrections []dns.Correction) {
	for _, c := range corrections {
		e := publication.Corrected(c)
		o.w.Events = append(o.w.Events, Event{Object: c.Owner.Name, Warning: e.Warning, Reason: e.Reason, Message: e.Message})
	}
}

// keyObserver publishes what a key value store has restored.
type keyObserver struct {
	keyvalues.Silent

	w *World
}

// Restored implements keyvalues.Observer.
func (o keyObserver) Restored(keys []keyvalue.Restored) {
	for _, k := range keys {
		e := domain.KeyRestored(k)
		o.w.Events = append(o.w.Events, Event{Object: k.Owner.Name, Warning: e.Warning, Reason: e.Reason, Message: e.Message})
	}
}

// Restart ends the process between two passes and starts another.
func (w *World) Restart() {
	w.t.Helper()
	w.start()
	for _, s := range w.objects {
		s.due = w.Clock.Now()
	}
}
