package operator_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	clocktesting "k8s.io/utils/clock/testing"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cloud"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/zone"
)

// toy is a DNS provider as small as one can be: its zone begins without any record, ids of zones are not those of
// Route 53, and every server has a change at once.
type toy struct{ sets map[string]dns.RecordSet }

const toyZone = "0123456789abcdef"

// toyAt is where the records of the toy are.
var toyAt = dns.Provider{Service: "toy", Account: "main"}

func (p toy) As(dns.Access) port.Zones { return p }

func (toy) Traits() dns.Traits {
	return dns.Traits{Batch: dns.Limits{Records: 10, Characters: 1000}, PageSize: 10, ListZones: "zones", ListRecords: "records"}
}

func (toy) GetZone(context.Context, string) (dns.Zone, error) {
	return dns.Zone{ID: toyZone, Name: "example.com"}, nil
}

func (p toy) ListZones(ctx context.Context, _ string) ([]dns.Zone, string, error) {
	z, err := p.GetZone(ctx, toyZone)
	return []dns.Zone{z}, "", err
}

func (p toy) ListRecords(context.Context, string, string) ([]dns.RecordSet, string, error) {
	return slices.Collect(maps.Values(p.sets)), "", nil
}

func (p toy) ReadName(_ context.Context, _, name string) (found []dns.RecordSet, err error) {
	for _, s := range p.sets {
		if s.Name == name {
			found = append(found, s)
		}
	}
	return found, nil
}

func (p toy) Change(_ context.Context, _ string, changes []dns.Change) (string, error) {
	for _, c := range changes {
		if c.Action == dns.Delete {
			delete(p.sets, c.Set.Name+" "+c.Set.Type)
		} else {
			p.sets[c.Set.Name+" "+c.Set.Type] = c.Set
		}
	}
	return "change", nil
}

func (toy) InSync(context.Context, string, dns.Sent) (bool, error) { return true, nil }

// providers are Route 53 and the toy.
func providers(t *testing.T, p toy) zone.Providers {
	t.Helper()
	calls, err := aws.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	cloud := cloud.New(cloud.Options{Metrics: calls, Clock: clocktesting.NewFakeClock(time.Time{})})
	return zone.Providers{{}: cloud.Route53(), toyAt: p}
}

// A provider is one adapter: what spec.dns.provider names decides who is asked, for the zones, for the
// records and for their end.
func TestAProviderIsOneAdapter(t *testing.T) {
	p := toy{sets: map[string]dns.RecordSet{}}
	clock := clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	zones := zone.New(zone.Options{Providers: providers(t, p).Always(), Clock: clock, Random: func() float64 { return 0.5 }})

	object := &v1alpha1.DistributionTenant{}
	object.Namespace, object.Name = "web", "shop"
	object.Spec.DNS = &v1alpha1.DNS{Provider: "toy"}
	spec := convert.Desired(object, convert.Defaults{}).DNS
	access := dns.AccessFor(zones.WithAccount(spec.Provider), spec.RoleARN, object.Namespace)
	found, err := zones.List(t.Context(), access)
	if err != nil || len(found) != 1 {
		t.Fatalf("zones %v, error %v, want the one of the provider that spec names", found, err)
	}
	wants, err := dns.Wanted("a.example.com", found[0], dns.Options{Target: "d1.cloudfront.net", TTL: spec.TTL})
	if err != nil {
		t.Fatal(err)
	}
	claim := dns.Claim{Owner: dns.Owner{Namespace: "web", Name: "shop"}, Access: access, Wants: wants}
	passes := func() {
		for range 20 {
			view := zones.Declare(claim)
			claim.Ledger = dns.Advance(claim.Ledger, claim.Wants, view, dns.Policy{RoleARN: spec.RoleARN})
			claim.Version++
			zones.Declare(claim)
			zones.Step(t.Context())
			clock.Step(time.Second)
		}
	}
	passes()
	if wants[0].Provider != toyAt {
		t.Errorf("the record is at %s", wants[0].Provider)
	}
	want := []dns.Entry{{Record: wants[0], State: dns.Published}}
	if d := cmp.Diff(want, claim.Ledger); d != "" {
		t.Errorf("ledger (-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[string]dns.RecordSet{"a.example.com CNAME": wants[0].Set()}, p.sets); d != "" {
		t.Errorf("the provider's zone (-want +got):\n%s", d)
	}
	// The spec names no DNS any more: the ledger tells whose record has to go.
	claim.Wants, claim.Access = nil, dns.Access{}
	passes()
	if len(claim.Ledger) > 0 || len(p.sets) > 0 {
		t.Errorf("left behind: ledger %v, zone %v", claim.Ledger, p.sets)
	}
}

func TestAProviderThatIsMissingRefuses(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	zones := zone.New(zone.Options{Providers: providers(t, toy{}).Always(), Clock: clock, Random: func() float64 { return 0.5 }})
	access := dns.Access{Provider: dns.Provider{Service: "unheard-of"}}
	if found, err := zones.List(t.Context(), access); !fault.Is(err, fault.Invalid) {
		t.Errorf("zones %v, error %v, want a refusal", found, err)
	}
	r := dns.Record{Provider: access.Provider, ZoneID: "Z", Name: "a.example.com", Type: dns.CNAME, Value: "d1.cloudfront.net", TTL: 300}
	claim := dns.Claim{Owner: dns.Owner{Name: "shop"}, Access: access, Wants: []dns.Record{r}}
	zones.Declare(claim)
	for range 5 {
		zones.Step(t.Context())
		clock.Step(time.Second)
	}
	if got := zones.Declare(claim).Of(r); got.Phase != dns.Unknown || got.Err == nil {
		t.Errorf("%+v, want unknown, and why", got)
	}
}

// Route 53 has one name in memory, whether spec names it or a ledger of status that names none.
func TestRoute53IsTheProviderOfLedgersThatNameNone(t *testing.T) {
	object := &v1alpha1.DistributionTenant{}
	object.Spec.DNS = &v1alpha1.DNS{Provider: v1alpha1.DNSProviderRoute53}
	if got := convert.Desired(object, convert.Defaults{}).DNS.Provider; got != (dns.Provider{}) {
		t.Errorf("provider %s", got)
	}
	if _, ok := providers(t, toy{})[dns.Provider{}]; !ok {
		t.Error("the operator is without Route 53")
	}
}
