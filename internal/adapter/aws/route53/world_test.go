package route53_test

import (
	"net/http/httptest"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/route53"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/identity"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

const (
	zoneID    = "ZHOME"
	privateID = "ZPRIVATE"
	foreignID = "ZFOREIGN"
	zoneName  = "test.example"
	target    = "dmain.cloudfront.net"

	foreignAccount = "444455556666"
	roleARN        = "arn:aws:iam::" + foreignAccount + ":role/tenant-dns"
	clusterID      = "test-cluster"
	namespace      = "shop"
)

// world is a simulated Route 53 behind a real socket, with our client and the plain SDK.
type world struct {
	*sim.Sim
	port.Zones
	dns      *route53.DNS
	plain    *sdk.Client
	config   awssdk.Config
	registry *prometheus.Registry
}

func newWorld(t *testing.T, change ...func(*sim.Options)) world {
	t.Helper()
	seed := sim.DefaultSeed()
	seed.Accounts = append(seed.Accounts, sim.SeedAccount{ID: foreignAccount, AccessKeys: []string{"AKIAFOREIGN"}})
	seed.HostedZones = []sim.SeedHostedZone{
		{ID: zoneID, Name: zoneName, Records: []sim.SeedRecord{
			{Name: "odd." + zoneName, Type: "CNAME", TTL: 77, Values: []string{"Old.Example.NET."}},
			{Name: "text." + zoneName, Type: "TXT", TTL: 60, Values: []string{`"second" "half"`, `"plain"`}},
			{Name: "text." + zoneName, Type: "A", Values: []string{"192.0.2.2", "192.0.2.1"}},
			{Name: `\052.wild.` + zoneName, Type: "CNAME", Values: []string{target}},
		}},
		{ID: privateID, Name: "private.example", Private: true},
		{ID: foreignID, Name: "foreign.example", Account: foreignAccount},
	}
	seed.Roles = []sim.SeedRole{{ARN: roleARN, ExternalID: clusterID + "/" + namespace}}
	options := sim.Options{RandomSeed: 1, Seed: &seed}
	for _, c := range change {
		c(&options)
	}
	w := world{Sim: sim.New(options)}
	server := httptest.NewServer(w.Sim)
	t.Cleanup(server.Close)
	config := awssdk.Config{
		Region:       "eu-west-1",
		BaseEndpoint: &server.URL,
		Credentials:  credentials.NewStaticCredentialsProvider("AKIATEST", "secret", ""),
		HTTPClient:   server.Client(),
		Retryer:      func() awssdk.Retryer { return awssdk.NopRetryer{} },
	}
	w.config = config
	w.dns, w.registry = newDNS(t, config, clock.RealClock{})
	w.Zones = w.dns.As(dns.Access{})
	w.plain = sdk.NewFromConfig(config)
	return w
}

func newDNS(t *testing.T, config awssdk.Config, c clock.PassiveClock) (*route53.DNS, *prometheus.Registry) {
	t.Helper()
	registry := prometheus.NewRegistry()
	metrics, err := aws.NewMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	allowed, err := identity.ParseRolePatterns([]string{"arn:aws:iam::" + foreignAccount + ":role/tenant-*"})
	if err != nil {
		t.Fatal(err)
	}
	limiters := aws.NewLimiters(aws.LimiterConfig{API: "route53", Rate: 100, Burst: 200, Clock: c, Metrics: metrics})
	roles := aws.NewRoles(aws.RolesConfig{
		SDK: config, ClusterID: clusterID, Allowed: allowed, Clock: c, Metrics: metrics,
		Limiter: aws.NewLimiter(aws.LimiterConfig{API: "sts", Rate: 100, Burst: 100, Clock: c, Metrics: metrics}),
	})
	return route53.New(route53.Config{SDK: config, Roles: roles, Limiters: limiters, Metrics: metrics, Clock: c}), registry
}

func (w world) inject(t *testing.T, f sim.Fault) {
	t.Helper()
	if _, err := w.AddFault(f); err != nil {
		t.Fatal(err)
	}
}

// calls is how often the simulated AWS was called.
func (w world) calls(operation string) int { return w.Calls()[operation].Total }

// rate is what the limiter of that name allows, as the metric shows it.
func (w world) rate(t *testing.T, api string) float64 {
	t.Helper()
	families, err := w.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "cloudfront_tenant_operator_aws_rate" && m.GetLabel()[0].GetValue() == api {
				return m.GetGauge().GetValue()
			}
		}
	}
	t.Fatalf("no rate of %s", api)
	return 0
}

// change makes a change that has to work.
func (w world) change(t *testing.T, changes ...dns.Change) string {
	t.Helper()
	id, err := w.Change(t.Context(), zoneID, changes)
	if err != nil {
		t.Fatal(err)
	}
	// Long enough for the zone to take the next.
	w.Advance(time.Hour)
	return id
}

// name reads what a name has, which has to work.
func (w world) name(t *testing.T, name string) []dns.RecordSet {
	t.Helper()
	sets, err := w.ReadName(t.Context(), zoneID, name)
	if err != nil {
		t.Fatal(err)
	}
	return sets
}

func cname(name, to string) dns.RecordSet {
	return dns.RecordSet{Key: dns.Key{Name: name + "." + zoneName, Type: dns.CNAME}, TTL: 300, Values: []string{to}}
}

func alias(name, kind string) dns.RecordSet {
	return dns.RecordSet{Key: dns.Key{Name: name, Type: kind}, Alias: target}
}

func text(name string, values ...string) dns.RecordSet {
	return dns.RecordSet{Key: dns.Key{Name: name + "." + zoneName, Type: dns.TXT}, TTL: 300, Values: values}
}

func create(sets ...dns.RecordSet) (changes []dns.Change) {
	for _, s := range sets {
		changes = append(changes, dns.Change{Action: dns.Create, Set: s})
	}
	return changes
}

func remove(sets ...dns.RecordSet) (changes []dns.Change) {
	for _, s := range sets {
		changes = append(changes, dns.Change{Action: dns.Delete, Set: s})
	}
	return changes
}

// as writes a set as another client would.
func (w world) as(t *testing.T, set *types.ResourceRecordSet) {
	t.Helper()
	_, err := w.plain.ChangeResourceRecordSets(t.Context(), &sdk.ChangeResourceRecordSetsInput{
		HostedZoneId: awssdk.String(zoneID),
		ChangeBatch:  &types.ChangeBatch{Changes: []types.Change{{Action: types.ChangeActionCreate, ResourceRecordSet: set}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Advance(time.Hour)
}
