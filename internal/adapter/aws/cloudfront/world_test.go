package cloudfront_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/cloudfront"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

const (
	distributionID = "E2TENANTS"
	groupID        = "cg_main"
	certificateARN = sim.DefaultCertificateARN
	arnPrefix      = "arn:aws:cloudfront::" + sim.DefaultAccount + ":distribution-tenant/"
)

// world is a simulated CloudFront with a client for it.
type world struct {
	*sim.Sim
	client   *cloudfront.Client
	limiter  *aws.Limiter
	registry *prometheus.Registry
}

func newSim(change ...func(*sim.Options)) *sim.Sim {
	seed := sim.DefaultSeed()
	seed.Certificates = append(seed.Certificates, sim.SeedCertificate{
		ARN: strings.Replace(certificateARN, "000001", "000002", 1), Names: []string{"*.other.test"},
	})
	seed.Distributions = []sim.SeedDistribution{
		{ID: distributionID, CertificateARN: certificateARN, Parameters: []sim.SeedParameter{
			{Name: "tier", Default: "basic"}, {Name: "origin"},
		}},
		{ID: "E2DIRECT", ConnectionMode: "direct"},
	}
	seed.ConnectionGroups = []sim.SeedConnectionGroup{
		{ID: groupID, Name: "main", RoutingEndpoint: "dmain.cloudfront.net", Default: true},
		{ID: "cg_second", Name: "second", RoutingEndpoint: "dsecond.cloudfront.net"},
		{ID: "cg_third", Name: "third", RoutingEndpoint: "dthird.cloudfront.net"},
	}
	seed.ResolvingDomains = []string{"live.customer.test"}
	options := sim.Options{RandomSeed: 1, Seed: &seed, DeployDelay: time.Minute}
	for _, c := range change {
		c(&options)
	}
	return sim.New(options)
}

// newWorld needs no socket, so it works in a bubble of fake time.
func newWorld(t *testing.T, change ...func(*sim.Options)) world {
	t.Helper()
	s := newSim(change...)
	client, limiter, registry := newClient(t, s.Transport(), 100)
	return world{Sim: s, client: client, limiter: limiter, registry: registry}
}

func newClient(t *testing.T, transport http.RoundTripper, burst int) (*cloudfront.Client, *aws.Limiter, *prometheus.Registry) {
	t.Helper()
	return clientFor(t, awssdk.Config{
		Region:       "eu-west-1",
		BaseEndpoint: awssdk.String("http://cloudfront.invalid"),
		Credentials:  credentials.NewStaticCredentialsProvider("AKIATEST", "secret", ""),
		HTTPClient:   &http.Client{Transport: transport},
	}, burst)
}

func clientFor(t *testing.T, config awssdk.Config, burst int) (*cloudfront.Client, *aws.Limiter, *prometheus.Registry) {
	t.Helper()
	registry := prometheus.NewRegistry()
	metrics, err := aws.NewMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	limiter := aws.NewLimiter(aws.LimiterConfig{
		API: "cloudfront", Rate: 10, Burst: burst, Clock: clock.RealClock{}, Metrics: metrics,
	})
	return cloudfront.New(cloudfront.Config{SDK: config, Limiter: limiter, Metrics: metrics}), limiter, registry
}

// calls is how often the simulated CloudFront was called.
func (w world) calls(operation string) int { return w.Calls()[operation].Total }

func (w world) inject(t *testing.T, f sim.Fault) {
	t.Helper()
	if _, err := w.AddFault(f); err != nil {
		t.Fatal(err)
	}
}

// create makes a tenant that is deployed.
func (w world) create(t *testing.T, name string) distributiontenant.Observed {
	t.Helper()
	o, err := w.client.CreateTenant(t.Context(), tenant(name), map[string]string{"team": "a"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.Advance(time.Hour)
	return o
}

func tenant(name string) distributiontenant.Tenant {
	return distributiontenant.Tenant{
		Name: name, DistributionID: distributionID, Enabled: true, Domains: []string{name + ".example.com"},
	}
}
