// Package world is a whole operator in a test: the real API server, the real AWS SDK against the simulated AWS, and the
// real inventory, controller and driver. Only time is not real: nothing runs in the background, and Advance plays what a
// manager would do.
package world

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdkcloudfront "github.com/aws/aws-sdk-go-v2/service/cloudfront"
	sdkroute53 "github.com/aws/aws-sdk-go-v2/service/route53"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	losses "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/identity"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/halt"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
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
