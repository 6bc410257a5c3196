package metrics_test

import (
	"fmt"
	"math"
	"net/http"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/acm"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/cloudfront"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/servicequotas"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/inventory"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/metrics"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// certificates is a watch over the certificates of a simulated account, and its metrics.
type certificates struct {
	t        *testing.T
	clock    *clocktesting.FakeClock
	sim      *sim.Sim
	inv      *inventory.Inventory
	watch    *inventory.Expiry
	capacity *inventory.Capacity
	registry *prometheus.Registry
}

// newCertificates has a tenant for each span in days, whose certificate lasts as long.
func newCertificates(t *testing.T, spans ...int) *certificates {
	t.Helper()
	c := &certificates{t: t, clock: clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), registry: prometheus.NewRegistry()}
	seed := sim.DefaultSeed()
	seed.Distributions = []sim.SeedDistribution{{ID: "E1EXAMPLE", CertificateARN: sim.DefaultCertificateARN}}
	for n, span := range spans {
		arn, end := fmt.Sprintf("arn:aws:acm:us-east-1:%s:certificate/%d", sim.DefaultAccount, n), c.clock.Now().AddDate(0, 0, span)
		seed.Certificates = append(seed.Certificates, sim.SeedCertificate{ARN: arn, Names: []string{"*.example.com"}, NotAfter: &end})
		seed.Tenants = append(seed.Tenants, sim.SeedTenant{
			Name: fmt.Sprintf("tenant-%d", n), DistributionID: "E1EXAMPLE", Domains: []string{fmt.Sprintf("t%d.example.com", n)}, CertificateARN: arn,
		})
	}
	c.sim = sim.New(sim.Options{Clock: c.clock, Seed: &seed})
	sdk := awssdk.Config{
		Region: "us-east-1", BaseEndpoint: awssdk.String("http://aws.test"),
		Credentials: credentials.NewStaticCredentialsProvider("AKIATEST", "secret", ""), HTTPClient: &http.Client{Transport: c.sim.Transport()},
	}
	calls, err := aws.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	limiter := aws.NewLimiter(aws.LimiterConfig{API: "any", Rate: 1e6, Burst: 1e6, Clock: c.clock, Metrics: calls})
	front := cloudfront.New(cloudfront.Config{SDK: sdk, Limiter: limiter, Metrics: calls})
	c.inv = inventory.New(inventory.Options{Tenants: front, Clock: c.clock, Interval: time.Minute})
	c.capacity = inventory.NewCapacity(inventory.CapacityOptions{
		Inventory: c.inv, Quotas: servicequotas.New(servicequotas.Config{SDK: sdk, Limiter: limiter, Metrics: calls}), Counts: front, Clock: c.clock,
	})
	c.watch = inventory.NewExpiry(inventory.ExpiryOptions{
		Inventory: c.inv, Certificates: acm.New(acm.Config{SDK: sdk, Limiter: limiter, Metrics: calls}), Clock: c.clock,
		OnFound: func([]inventory.AttachedCertificate) {}, OnFailure: func(error) {},
	})
	gauges := metrics.Gauges{Accounts: c.accounts, Clock: c.clock}
	if err := gauges.RegisterOnly(c.registry, "certificates"); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *certificates) accounts() []metrics.Account {
	return []metrics.Account{{Inventory: c.inv, Expiry: c.watch, Capacity: c.capacity}}
}

// look lists tenants and certificates.
func (c *certificates) look() {
	c.t.Helper()
	for range 2 {
		c.inv.Step(c.t.Context())
	}
	c.watch.Step(c.t.Context())
}

// want compares the series, their labels behind the name, to a tenth.
func (c *certificates) want(when string, want map[string]float64) {
	c.t.Helper()
	families, err := c.registry.Gather()
	if err != nil {
		c.t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()[len("cloudfront_tenant_operator_"):]
			for _, l := range m.GetLabel() {
				if l.GetValue() != "" { // as Prometheus has it: the operator's own account has no label
					name += " " + l.GetName() + "=" + l.GetValue()
				}
			}
			got[name] = math.Round(m.GetGauge().GetValue()*10) / 10
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		c.t.Errorf("%s (-want +got):\n%s", when, d)
	}
}

func TestCertificateMetrics(t *testing.T) {
	c := newCertificates(t, 90, 10, 30)
	c.want("where nothing was looked at", map[string]float64{})
	c.look()
	if err := c.sim.ChangeCertificate(sim.CertificateChange{Certificate: "arn:aws:acm:us-east-1:" + sim.DefaultAccount + ":certificate/0", Status: "REVOKED"}); err != nil {
		t.Fatal(err)
	}
	c.clock.Step(2 * time.Hour)
	c.look()
	c.clock.Step(12 * time.Hour)
	c.want("half a day after a listing", map[string]float64{
		"certificates state=issued": 2, "certificates state=unusable": 1, "certificates state=unlisted": 0,
		"certificates_expiring within_days=7": 0, "certificates_expiring within_days=14": 1,
		"certificates_expiring within_days=30": 2, "certificates_expiring within_days=60": 2,
		"certificate_expiry_days": 9.4, "certificates_age_seconds": 12 * 3600,
	})
	if _, err := c.sim.AddFault(sim.Fault{Operation: "ListCertificates", Error: &sim.FaultError{Status: 400, Code: "AccessDeniedException"}}); err != nil {
		t.Fatal(err)
	}
	c.look()
	c.want("where the list is denied", map[string]float64{"certificates_age_seconds": -1})
}

func TestCertificateMetricsWithNothingAttached(t *testing.T) {
	c := newCertificates(t)
	c.look()
	c.want("with nothing attached", map[string]float64{
		"certificates state=issued": 0, "certificates state=unusable": 0, "certificates state=unlisted": 0,
		"certificates_expiring within_days=7": 0, "certificates_expiring within_days=14": 0,
		"certificates_expiring within_days=30": 0, "certificates_expiring within_days=60": 0,
	})
}
