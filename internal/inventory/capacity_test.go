package inventory_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/cloudfront"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/servicequotas"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/inventory"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// limits is a watch over quotas on a rig that was swept.
type limits struct {
	*rig
	capacity *inventory.Capacity
	denied   int
}

func newLimits(t *testing.T) *limits {
	t.Helper()
	l := &limits{rig: newRig(t, options{tenants: 3, pageSize: 2, seed: func(s *sim.Seed) {
		s.Distributions = append(s.Distributions, sim.SeedDistribution{ID: "E2SECOND", CertificateARN: sim.DefaultCertificateARN},
			sim.SeedDistribution{ID: "E2DIRECT", ConnectionMode: "direct", CertificateARN: sim.DefaultCertificateARN})
	}})}
	metrics, err := aws.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	limiter := aws.NewLimiter(aws.LimiterConfig{API: "any", Rate: 1e6, Burst: 1e6, Clock: l.clock, Metrics: metrics})
	l.capacity = inventory.NewCapacity(inventory.CapacityOptions{
		Inventory: l.Inventory, Clock: l.clock, Random: func() float64 { return 0.5 }, OnDenied: func(error) { l.denied++ },
		Quotas: servicequotas.New(servicequotas.Config{SDK: l.sdk(l.sim.Transport()), Limiter: limiter, Metrics: metrics}),
		Counts: cloudfront.New(cloudfront.Config{SDK: l.sdk(l.sim.Transport()), Limiter: limiter, Metrics: metrics}),
	})
	return l
}

// pass makes the watch's steps for so long.
func (l *limits) pass(d time.Duration) {
	l.t.Helper()
	end := l.clock.Now().Add(d)
	for range 1000 {
		next := l.clock.Now().Add(l.capacity.Step(l.t.Context()))
		if next.After(end) {
			l.clock.SetTime(end)
			return
		}
		l.clock.SetTime(next)
	}
	l.t.Fatal("the watch does not come to rest")
}

// fails makes an operation fail until the answer is called.
func (l *limits) fails(operation string, status int, code string) (end func()) {
	l.t.Helper()
	id, err := l.sim.AddFault(sim.Fault{Operation: operation, Nth: 1, Times: -1, Error: &sim.FaultError{Status: status, Code: code, Message: "no"}})
	if err != nil {
		l.t.Fatal(err)
	}
	return func() { l.sim.RemoveFault(id) }
}

func (l *limits) want(when string, want inventory.CapacityReport) {
	l.t.Helper()
	got := l.capacity.Report()
	if got == nil {
		l.t.Fatalf("%s: there is no report", when)
	}
	if d := cmp.Diff(want, *got); d != "" {
		l.t.Errorf("%s (-want +got):\n%s", when, d)
	}
}

type (
	limitsOf = map[inventory.Quota]inventory.Limit
	usedOf   = map[inventory.Quota]int
)

func TestLimitsOfAnAccount(t *testing.T) {
	l := newLimits(t)
	l.sim.SetQuotas(sim.Quotas{Tenants: 30_000, Certificates: 5_000})
	l.pass(time.Hour)
	if l.capacity.Report() != nil {
		t.Error("limits were read before the tenants")
	}
	l.sweep()
	counted := usedOf{inventory.QuotaConnectionGroups: 1, inventory.QuotaDistributions: 2}
	read := inventory.CapacityReport{Used: counted, Limits: limitsOf{
		inventory.QuotaTenants: {Value: 30_000, Source: inventory.LimitApplied}, inventory.QuotaCertificates: {Value: 5_000, Source: inventory.LimitApplied},
		inventory.QuotaDistributions: {Value: 20, Source: inventory.LimitDefault}, inventory.QuotaConnectionGroups: {Value: 100, Source: inventory.LimitDefault},
		inventory.QuotaDomains: {Value: 100, Source: inventory.LimitDefault}, inventory.QuotaInvalidationPaths: {Value: 3_000, Source: inventory.LimitDefault},
		inventory.QuotaInvalidationWildcards: {Value: 15, Source: inventory.LimitDefault},
		inventory.QuotaWebACLs:               {Value: 100, Source: inventory.LimitDocumented},
	}}
	spent := l.cost(func() { l.pass(20 * time.Hour) })
	l.want("at first", read)
	// Pages have two here. ACM's only limit of interest is the account's own, so that its default is not asked for.
	want := map[string]int{"ListServiceQuotas": 2, "ListAWSDefaultServiceQuotas": 4, "ListConnectionGroups": 1, "ListDistributionsByConnectionMode": 1}
	if d := cmp.Diff(want, spent); d != "" {
		t.Errorf("calls of a day (-want +got):\n%s", d)
	}

	l.sim.SetQuotas(sim.Quotas{ConnectionGroups: 200})
	l.pass(10 * time.Hour)
	read.Limits[inventory.QuotaConnectionGroups] = inventory.Limit{Value: 200, Source: inventory.LimitApplied}
	l.want("on the next day", read)

	// The SDK does not try it again.
	end := l.fails("ListServiceQuotas", 400, "IllegalArgumentException")
	l.pass(30 * time.Hour)
	l.want("while AWS does not answer", read)
	end()
	l.sim.SetQuotas(sim.Quotas{Tenants: 40_000})
	l.pass(24 * time.Hour)
	read.Limits[inventory.QuotaTenants] = inventory.Limit{Value: 40_000, Source: inventory.LimitApplied}
	l.want("once it answers", read)
	if l.denied != 0 {
		t.Errorf("%d times something was said to be denied", l.denied)
	}
}

// Quotas that can't be raised have no value of the account: they alone are no reason to ask for defaults every day.
func TestQuotasThatCannotBeRaisedCostNoCall(t *testing.T) {
	l := newLimits(t)
	l.sim.SetQuotas(sim.Quotas{Tenants: 30_000, Certificates: 5_000, MultiTenantDistributions: 30, ConnectionGroups: 200, DomainsPerTenant: 200})
	l.sweep()
	if n := l.cost(func() { l.pass(20 * time.Hour) })["ListAWSDefaultServiceQuotas"]; n != 0 {
		t.Errorf("%d calls", n)
	}
	wanted := limitsOf{
		inventory.QuotaDomains:               {Value: 200, Source: inventory.LimitApplied},
		inventory.QuotaInvalidationPaths:     {Value: 3_000, Source: inventory.LimitDocumented},
		inventory.QuotaInvalidationWildcards: {Value: 15, Source: inventory.LimitDocumented},
		inventory.QuotaWebACLs:               {Value: 100, Source: inventory.LimitDocumented},
	}
	for quota, want := range wanted {
		if got := l.capacity.Report().Limits[quota]; got != want {
			t.Errorf("%s is %v, want %v", quota, got, want)
		}
	}
}

// Without the right the documented defaults are shown, and said to be just that.
func TestLimitsThatMayNotBeRead(t *testing.T) {
	l := newLimits(t)
	l.sim.SetQuotas(sim.Quotas{Tenants: 30_000})
	l.sweep()
	var end []func()
	for _, operation := range []string{"ListServiceQuotas", "ListAWSDefaultServiceQuotas", "ListDistributionsByConnectionMode"} {
		end = append(end, l.fails(operation, 400, "AccessDeniedException"))
	}
	spent := l.cost(func() { l.pass(80 * time.Hour) })
	l.want("while it is denied", inventory.CapacityReport{Used: usedOf{inventory.QuotaConnectionGroups: 1}, Limits: limitsOf{
		inventory.QuotaTenants: {Value: 10_000, Source: inventory.LimitDocumented}, inventory.QuotaCertificates: {Value: 2_500, Source: inventory.LimitDocumented},
		inventory.QuotaDistributions: {Value: 20, Source: inventory.LimitDocumented}, inventory.QuotaConnectionGroups: {Value: 100, Source: inventory.LimitDocumented},
		inventory.QuotaDomains: {Value: 100, Source: inventory.LimitDocumented}, inventory.QuotaInvalidationPaths: {Value: 3_000, Source: inventory.LimitDocumented},
		inventory.QuotaInvalidationWildcards: {Value: 15, Source: inventory.LimitDocumented},
		inventory.QuotaWebACLs:               {Value: 100, Source: inventory.LimitDocumented},
	}})
	if n := spent["ListServiceQuotas"]; n > 10 {
		t.Errorf("%d calls that are denied in three days", n)
	}
	if l.denied != 1 {
		t.Errorf("it was said %d times", l.denied)
	}
	for _, allow := range end {
		allow()
	}
	l.pass(25 * time.Hour)
	if got := l.capacity.Report().Limits[inventory.QuotaTenants]; got != (inventory.Limit{Value: 30_000, Source: inventory.LimitApplied}) {
		t.Errorf("once it is allowed: %+v", got)
	}
}
