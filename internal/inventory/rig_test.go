package inventory_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdkcloudfront "github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/acm"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/cloudfront"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/sts"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/inventory"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	distributionID = "E2EXAMPLE1"
	interval       = 5 * time.Minute
	deployDelay    = time.Minute
)

// rig is an inventory with the real adapter and SDK over the simulated AWS.
type rig struct {
	*inventory.Inventory
	t          *testing.T
	sim        *sim.Sim
	clock      *clocktesting.FakeClock
	references *inventory.References
	// after, if set, is called with each answer before the inventory sees it.
	after func(operation string, body []byte) []byte

	mu    sync.Mutex
	woken []string
}

type options struct {
	tenants  int
	pageSize int
	rate     float64
	burst    int
	switches func(*sim.Switches)
	// seed changes the simulated account before it is made.
	seed  func(*sim.Seed)
	clock clock.WithTicker
	// random is what spreads things; always 0.5 if nil.
	random func() float64
}

func newRig(t *testing.T, o options) *rig {
	t.Helper()
	r := &rig{t: t, clock: clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))}
	if o.clock == nil {
		o.clock = r.clock
	}
	if o.rate == 0 {
		o.rate, o.burst = 1e6, 1e6
	}
	if o.random == nil {
		o.random = func() float64 { return 0.5 }
	}
	seed := sim.DefaultSeed()
	seed.Distributions = []sim.SeedDistribution{{ID: distributionID, CertificateARN: sim.DefaultCertificateARN}}
	seed.ConnectionGroups = []sim.SeedConnectionGroup{{ID: "cg_main", RoutingEndpoint: "dmain.cloudfront.net", Default: true}}
	for n := range o.tenants {
		seed.Tenants = append(seed.Tenants, sim.SeedTenant{Name: name(n), DistributionID: distributionID, Domains: []string{name(n) + ".example.com"}})
	}
	if o.seed != nil {
		o.seed(&seed)
	}
	switches := sim.DefaultSwitches()
	if o.switches != nil {
		o.switches(&switches)
	}
	r.sim = sim.New(sim.Options{Clock: o.clock, Seed: &seed, Switches: &switches, PageSize: o.pageSize, DeployDelay: deployDelay})
	metrics, err := aws.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	limiter := aws.NewLimiter(aws.LimiterConfig{API: "cloudfront", Rate: o.rate, Burst: o.burst, Clock: o.clock, Metrics: metrics})
	acmLimiter := aws.NewLimiter(aws.LimiterConfig{API: "acm", Rate: 1e6, Burst: 1e6, Clock: o.clock, Metrics: metrics})
	client := cloudfront.New(cloudfront.Config{SDK: r.sdk(roundTripper(r.roundTrip)), Limiter: limiter, Metrics: metrics})
	r.Inventory = inventory.New(inventory.Options{
		Tenants: client, Clock: o.clock, Interval: interval, OnChange: r.wake, Random: o.random,
	})
	r.references = inventory.NewReferences(client, acm.New(acm.Config{SDK: r.sdk(r.sim.Transport()), Limiter: acmLimiter, Metrics: metrics}),
		sts.New(sts.Config{SDK: r.sdk(r.sim.Transport()), Limiter: acmLimiter, Metrics: metrics}), o.clock)
	return r
}

func name(n int) string { return fmt.Sprintf("tenant-%03d", n) }

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (r *rig) sdk(transport http.RoundTripper) awssdk.Config {
	return awssdk.Config{
		Region: "us-east-1", BaseEndpoint: awssdk.String("http://aws.test"),
		Credentials: credentials.NewStaticCredentialsProvider("AKIATEST", "secret", ""),
		HTTPClient:  &http.Client{Transport: transport},
	}
}

// roundTrip lets a test do something between AWS's answer and the inventory's reading it.
func (r *rig) roundTrip(request *http.Request) (*http.Response, error) {
	answer, err := r.sim.Transport().RoundTrip(request)
	if err != nil || r.after == nil {
		return answer, err
	}
	operation := "other"
	switch {
	case strings.HasSuffix(request.URL.Path, "/distribution-tenants"):
		operation = "List"
	case request.Method == http.MethodGet && strings.Contains(request.URL.Path, "/distribution-tenant/"):
		operation = "Get"
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	body = r.after(operation, body)
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	answer.Header.Del("Content-Length")
	return answer, nil
}

// once runs do with the first answer of the operation.
func (r *rig) once(operation string, do func()) {
	r.after = func(got string, body []byte) []byte {
		if got == operation {
			r.after = nil
			do()
		}
		return body
	}
}

func (r *rig) wake(names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.woken = append(r.woken, names...)
}

// wokenNow returns who was woken since it was asked last.
func (r *rig) wokenNow() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := slices.Compact(slices.Sorted(slices.Values(r.woken)))
	r.woken = nil
	return out
}

// run makes steps for so long, with time jumping from one to the next.
func (r *rig) run(d time.Duration) {
	r.t.Helper()
	end := r.clock.Now().Add(d)
	for range 10_000 {
		next := r.clock.Now().Add(r.Step(r.t.Context()))
		if next.After(end) {
			r.clock.SetTime(end)
			return
		}
		r.clock.SetTime(next)
	}
	r.t.Fatal("the inventory does not come to rest")
}

// sweep runs the sweep that is due next to its end.
func (r *rig) sweep() {
	r.t.Helper()
	before := r.Stats().LastSweep
	for range 10_000 {
		wait := r.Step(r.t.Context())
		if r.Stats().LastSweep.After(before) {
			return
		}
		r.clock.Step(max(wait, 0))
	}
	r.t.Fatal("no sweep came to an end")
}

func (r *rig) calls() map[string]int {
	out := map[string]int{}
	for operation, c := range r.sim.Calls() {
		out[operation] = c.Total
	}
	return out
}

// cost is the calls that do makes.
func (r *rig) cost(do func()) map[string]int {
	before := r.calls()
	do()
	out := map[string]int{}
	for operation, n := range r.calls() {
		if n > before[operation] {
			out[operation] = n - before[operation]
		}
	}
	return out
}

func (r *rig) read(n int) distributiontenant.Observed {
	r.t.Helper()
	o, err := r.Read(r.t.Context(), name(n))
	if err != nil {
		r.t.Fatalf("reading %s: %v", name(n), err)
	}
	return o
}

func (r *rig) inAWS(n int) sim.TenantState {
	r.t.Helper()
	s, found := r.sim.Tenant("", name(n))
	if !found {
		r.t.Fatalf("%s is not in AWS", name(n))
	}
	return s
}

// console is a client for other users of the account.
func (r *rig) console() *sdkcloudfront.Client {
	return sdkcloudfront.NewFromConfig(r.sdk(r.sim.Transport()))
}

// edit changes a tenant past the inventory.
func (r *rig) edit(n int) {
	r.t.Helper()
	s := r.inAWS(n)
	in := &sdkcloudfront.UpdateDistributionTenantInput{Id: &s.ID, IfMatch: &s.ETag, Customizations: &types.Customizations{
		GeoRestrictions: &types.GeoRestrictionCustomization{RestrictionType: "none"},
	}}
	if _, err := r.console().UpdateDistributionTenant(r.t.Context(), in); err != nil {
		r.t.Fatalf("editing %s: %v", s.Name, err)
	}
}

// remove deletes a tenant past the inventory.
func (r *rig) remove(n int) {
	r.t.Helper()
	s := r.inAWS(n)
	r.sim.ChangeSwitches(func(sw *sim.Switches) { sw.DeleteNeedsDeployed = false })
	out, err := r.console().UpdateDistributionTenant(r.t.Context(), &sdkcloudfront.UpdateDistributionTenantInput{Id: &s.ID, IfMatch: &s.ETag, Enabled: awssdk.Bool(false)})
	if err != nil {
		r.t.Fatalf("disabling %s: %v", s.Name, err)
	}
	if _, err := r.console().DeleteDistributionTenant(r.t.Context(), &sdkcloudfront.DeleteDistributionTenantInput{Id: &s.ID, IfMatch: out.ETag}); err != nil {
		r.t.Fatalf("deleting %s: %v", s.Name, err)
	}
}

// update writes a tenant through the inventory.
func (r *rig) update(n int, enabled bool) distributiontenant.Observed {
	r.t.Helper()
	s := r.inAWS(n)
	seen := distributiontenant.Tenant{Enabled: s.Enabled}
	o, err := r.Update(r.t.Context(), distributiontenant.Update{ID: s.ID, ETag: s.ETag, Seen: seen, Tenant: distributiontenant.Tenant{
		Name: s.Name, DistributionID: s.DistributionID, Enabled: enabled, Domains: []string{s.Name + ".example.com"},
	}})
	if err != nil {
		r.t.Fatalf("updating %s: %v", s.Name, err)
	}
	return o
}

func (r *rig) create(tenant string) distributiontenant.Observed {
	r.t.Helper()
	o, err := r.Create(r.t.Context(), distributiontenant.Create{
		Tenant: distributiontenant.Tenant{Name: tenant, DistributionID: distributionID, Enabled: true, Domains: []string{tenant + ".example.com"}},
		Tags:   map[string]string{"team": "web"},
	})
	if err != nil {
		r.t.Fatalf("creating %s: %v", tenant, err)
	}
	return o
}

func wireCreate(t distributiontenant.Tenant) *sdkcloudfront.CreateDistributionTenantInput {
	return &sdkcloudfront.CreateDistributionTenantInput{
		Name: &t.Name, DistributionId: &t.DistributionID, Domains: []types.DomainItem{{Domain: &t.Domains[0]}},
	}
}
