// Package world is a whole operator in a test: the real API server, the real AWS SDK against the simulated AWS, and the
// real inventory, controller and driver. Only time is not real: nothing runs in the background, and Advance plays what a
// manager would do.
package world

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdkcloudfront "github.com/aws/aws-sdk-go-v2/service/cloudfront"
	sdkroute53 "github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/account"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cloud"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/awsresource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	losses "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
	rollouts "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/identity"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/claims"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/halt"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/inventory"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/publicdns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/zone"
)

// The objects that every world starts with.
const (
	ClusterID      = "test-cluster"
	DistributionID = "E2EXAMPLE1"
	DeployDelay    = 60 * time.Second
	SweepInterval  = 5 * time.Minute
)

// personKey is the access key of other users of the default account.
const personKey = "AKIATEST"

// attemptTimeout bounds a call that hangs, as the operator's own HTTP client does.
const attemptTimeout = 20 * time.Second

// Options say how a world differs from the usual one.
type Options struct {
	Seed     *sim.Seed
	Switches *sim.Switches
	Defaults convert.Defaults
	// AllowedRoles are those that objects may name; none by default.
	AllowedRoles identity.RolePatterns
	// Resolver is public DNS, where the operator is to ask it.
	Resolver port.Resolver
	// Guide tells where public DNS leads the domains of customers, where the operator is to look at them.
	Guide port.Guide
	// WithoutParents leaves Distribution and ConnectionGroup objects to the test: no controller reconciles them.
	WithoutParents bool
	// Grants is how EdgeGrants are meant, and Granted are those that there are at first. Empty: everything is granted.
	Grants  grants.Mode
	Granted []grant.Grant
	// Shared says that the test writes with other clients than the world's, such as kubectl. Objects are then read each time
	// that time passes, and not only when the world's clients have written.
	Shared bool
	// Expiry makes the operator watch when certificates expire, and Capacity how much of its quotas the account uses.
	Expiry, Capacity bool
	// Claims makes the operator judge who may have a domain, and hold what is released for so long; nil: it does not.
	Claims *Holds
	// Rate and Burst are the operator's own limits; none by default.
	Rate  float64
	Burst int
	// InvalidationRate is that of requests for invalidations; without limit by default. PathsPerDay is how many paths a
	// namespace may request; any number by default.
	InvalidationRate float64
	PathsPerDay      int
	// BeforeAWS is called with every request of the operator, and whether it would change
	// something, just before AWS sees it.
	BeforeAWS func(r *http.Request, writes bool)
	// Losses is how many customers may be lost; nil: any number.
	Losses *losses.Policy
	// AtOnce lets changes of what customers are served with reach all tenants at once.
	AtOnce bool
	// Watch is shown AWS before and after every change of it.
	Watch func(sim.View)
	// Providers makes the DNS services in addition to Route 53, for each process that starts. It may be nil.
	Providers func(Process) func() zone.Providers
}

// Process is what the clients of a process are made from.
type Process struct {
	Clock *clocktesting.FakeClock
	// Transport counts the requests that change something, and is where the process ends in a crash.
	Transport func(next http.RoundTripper) http.RoundTripper
}

// Holds say how long released domains are held: those whose DNS records are the operator's, and the others.
type Holds struct{ Own, Customer time.Duration }

// TB is what a world needs of a test; a property test has it too.
type TB interface {
	Helper()
	Context() context.Context
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// World is one test's cluster and cloud.
type World struct {
	Sim       *sim.Sim
	Clock     *clocktesting.FakeClock
	Namespace string
	// Kube writes as a user would: past the operator's counters.
	Kube client.Client
	// AccessKey is that of the operator, from its next start on. It decides the account.
	AccessKey string
	// Events are those that the operator published, oldest first.
	Events []Event
	// Ready are the times to Ready that were observed, Drift how often drift was.
	Ready []time.Duration
	Drift int
	// Woken is how often a tenant was woken because of what it refers to.
	Woken int
	// Halt stops all writes to AWS.
	Halt *halt.Switch
	// Grants say what namespaces may have.
	Grants *grants.Registry
	// Failures are those that passes ended with, and the refusals that they reported.
	Failures map[fault.Kind]int
	// Paths are those of invalidations that were counted as requested, Ended how often one was counted as completed or not.
	Paths int
	Ended map[bool]int
	// Took is how long each invalidation took that was completed.
	Took []time.Duration

	t       TB
	options Options
	// written are the kinds that were written to: where nothing was there is nothing to watch.
	writtenMu sync.Mutex
	written   map[string]bool
	// namespaces are those whose objects the operator sees, Namespace first.
	namespaces []string
	gate       *gate
	kube       client.Client
	process    *process
	objects    map[ID]*scheduled
	// lost is what the breakers of all processes have stored.
	lost lostCustomers
	// lag is nil with a real API server.
	lag *lagging
}

// Event is an event that was published about an object.
type Event struct {
	Object  string
	Warning bool
	Reason  string
	Message string
}

// TenantController is that of the running process.
func (w *World) TenantController() *distributiontenant.Controller { return w.process.controller }

// process is the part that dies in a crash.
type process struct {
	*cloud.Cloud
	inventory  *inventory.Inventory
	controller *distributiontenant.Controller
	zones      *zone.Zones
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

// Seed is the usual seed: one multi-tenant distribution with a certificate for
// *.example.com and two optional parameters.
func Seed() sim.Seed {
	s := sim.DefaultSeed()
	s.Distributions = []sim.SeedDistribution{{
		ID: DistributionID, CertificateARN: sim.DefaultCertificateARN,
		Parameters: []sim.SeedParameter{{Name: "tier", Default: "basic"}, {Name: "origin", Default: "app"}},
	}}
	return s
}

// New makes a world on the API server.
func New(t TB, config *rest.Config, o Options) *World {
	t.Helper()
	kube := connect(t, config)
	// Objects get their creation time from the API server, so that both clocks start together.
	clk := clocktesting.NewFakeClock(time.Now().Truncate(time.Second))
	return build(t, clk, kube, kube, o)
}

// connections are the clients by the API server that they reach: what one has found out about
// it, all worlds share.
var connections sync.Map

func connect(t TB, config *rest.Config) client.WithWatch {
	t.Helper()
	if kube, ok := connections.Load(config); ok {
		return kube.(client.WithWatch) //nolint:forcetypeassert // nothing else is stored there
	}
	kube, err := client.NewWithWatch(config, client.Options{Scheme: scheme(t)})
	if err != nil {
		t.Fatalf("creating a client: %v", err)
	}
	connections.Store(config, kube)
	return kube
}

func scheme(t TB) *runtime.Scheme {
	t.Helper()
	s, err := operator.Scheme()
	if err != nil {
		t.Fatalf("making the scheme: %v", err)
	}
	return s
}

// build makes a world in which users and the operator have clients of their own.
func build(t TB, clk *clocktesting.FakeClock, person, operators client.WithWatch, o Options) *World {
	t.Helper()
	if o.Seed == nil {
		s := Seed()
		o.Seed = &s
	}
	if o.Defaults.DriftPolicy == "" {
		o.Defaults.DriftPolicy = resource.DriftEnforce
	}
	if o.Rate == 0 {
		o.Rate, o.Burst = 1e6, 1e6
	}
	w := &World{
		Sim:   sim.New(sim.Options{Clock: clk, DeployDelay: DeployDelay, Seed: o.Seed, Switches: o.Switches, Watch: o.Watch}),
		Clock: clk, AccessKey: personKey,
		t: t, options: o, gate: &gate{}, objects: map[ID]*scheduled{}, written: map[string]bool{},
	}
	w.Halt = halt.New()
	w.Halt.OnChange(w.wakeAll)
	w.Grants = grants.New(grants.Options{
		Mode: o.Grants, Clock: clk, Objects: w.granted,
		Grants: func(context.Context) ([]grant.Grant, error) { return slices.Clone(w.options.Granted), nil },
	})
	w.Kube, w.kube = w.noting(person), w.gate.kube(w.noting(operators))
	w.Namespace = w.AddNamespace()
	w.start()
	return w
}

// AddNamespace gives the cluster one namespace more.
func (w *World) AddNamespace() string {
	w.t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "world-"}}
	if err := w.Kube.Create(w.t.Context(), ns); err != nil {
		w.t.Fatalf("creating a namespace: %v", err)
	}
	w.namespaces = append(w.namespaces, ns.Name)
	return ns.Name
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
	p.zones = zone.New(zone.Options{Providers: w.providers(p.Route53()), Clock: w.Clock, OnChange: w.wakeOwners, Observer: zoneObserver{w: w}, Random: half, Confirm: w.Halt.Confirm(nil)})
	own := p.Accounts.Own()
	p.inventory = own.Inventory
	p.claims = w.claims()
	p.rollouts = w.rollouts()
	p.breaker = w.breaker()
	options := distributiontenant.Options{
		Shared: w.shared(p), Live: w.Kube, Zones: p.zones, Resolver: w.options.Resolver, Observer: observer{w}, Gone: p.gone, Rollouts: p.rollouts,
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
	p.workers = []*worker{{step: p.inventory.Step, next: w.Clock.Now()}, {step: p.zones.Step, next: w.Clock.Now()}}
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

// WakeAll queues all objects, as the operator does when its DNS accounts have changed.
func (w *World) WakeAll() { w.wakeAll(w.t.Context()) }

// Grant replaces all grants.
func (w *World) Grant(all ...grant.Grant) {
	w.options.Granted = all
	w.Grants.Changed()
	w.wakeAll(w.t.Context())
}

// granted are the objects that limits count.
func (w *World) granted(context.Context) (out []grants.Object, err error) {
	for _, o := range w.list() {
		out = append(out, grants.Object{Namespace: o.Namespace, UID: string(o.UID), Present: convert.InAWS(o), Account: convert.RecordedAccount(o, o.Status.ARN), Usage: convert.TenantUsage(o)})
	}
	return out, nil
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

func (o observer) DriftDetected()              { o.w.Drift++ }
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

func (w *World) sdk(accessKey string, transport http.RoundTripper) awssdk.Config {
	return awssdk.Config{
		Region: "us-east-1", BaseEndpoint: awssdk.String("http://aws.test"),
		Credentials: credentials.NewStaticCredentialsProvider(accessKey, "secret", ""),
		HTTPClient:  &http.Client{Transport: patient(transport)},
	}
}

// patient gives up on a call that hangs. The timeout of an http.Client would leave a
// goroutine behind where a process ends in the middle of a call.
func patient(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		ctx, cancel := context.WithTimeout(r.Context(), attemptTimeout)
		defer cancel()
		return next.RoundTrip(r.WithContext(ctx))
	})
}

// Route53 is a client for other users of the account.
func (w *World) Route53() *sdkroute53.Client {
	return sdkroute53.NewFromConfig(w.sdk(personKey, w.Sim.Transport()))
}

// AWS is a client for other users of the account.
func (w *World) AWS() *sdkcloudfront.Client {
	return sdkcloudfront.NewFromConfig(w.sdk(personKey, w.Sim.Transport()))
}

// Restart ends the process between two passes and starts another.
func (w *World) Restart() {
	w.t.Helper()
	w.start()
	for _, s := range w.objects {
		s.due = w.Clock.Now()
	}
}

// Owner is who the operator's tags name for an object.
func (w *World) Owner(o *v1alpha1.DistributionTenant) ownership.Owner {
	return ownership.Owner{Cluster: ClusterID, Namespace: o.Namespace, Name: o.Name, UID: string(o.UID)}
}

// reconcileOnce runs one pass. crashed is true when the process died in it.
func (w *World) reconcileOnce(ctx context.Context, id ID) (result ctrl.Result, crashed bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(crash); !ok {
				panic(r)
			}
			crashed = true
		}
	}()
	for _, k := range w.process.kinds {
		if k.name == id.Kind {
			result, err = k.reconcile(ctx, ctrl.Request{NamespacedName: id.ObjectKey})
		}
	}
	return result, false, err
}

// Zones are the figures of the zones' workers.
func (w *World) Zones() zone.Stats { return w.process.zones.Stats() }
