package distributiontenant_test

import (
	"net/http"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/azure"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/rfc2136"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/azuredns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/dnsserver"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/nameserver"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/zone"
)

// otherService is a service with the zone example.com.
type otherService struct {
	provider dns.Provider
	// client makes its client, and records are those of a name, each as "TYPE value".
	client  func(world.Process) port.DNS
	records func(name string) []string
}

// withAzure is a simulated Azure.
func withAzure(t *testing.T) (s otherService) {
	t.Helper()
	const group, client, secret = "dns", "33333333-3333-3333-3333-333333333333", "right"
	s.provider = dns.Provider{Service: dns.Azure, Account: "main"}
	var service *azuredns.Sim
	s.client = func(p world.Process) port.DNS {
		service = azuredns.New(azuredns.Options{
			Clock: p.Clock, TokenLifetime: 10 * 365 * 24 * time.Hour, Zones: []azuredns.Zone{{ResourceGroup: group, Name: "example.com"}},
			Principals: []azuredns.Principal{{ClientID: client, Secret: secret, Grants: []azuredns.Grant{
				{Role: azuredns.DNSZoneContributor, Scope: "/subscriptions/" + azuredns.DefaultSubscription},
			}}},
		})
		server, err := dnsserver.Start(t.Context(), "127.0.0.1:0", service.DNSHandler())
		must(t, err)
		t.Cleanup(func() { must(t, server.Stop()) })
		d, err := azure.New(azure.Config{
			SubscriptionID: azuredns.DefaultSubscription, ClusterID: world.ClusterID, Clock: p.Clock, Gate: unlimited(t, p, s.provider),
			NameServers: []string{server.Address}, HTTPClient: &http.Client{Transport: service.Transport()},
			Credential: azure.Credential{
				Kind: azure.ClientSecret, TenantID: azuredns.DefaultTenant, ClientID: client, Secret: func() string { return secret },
			},
		})
		must(t, err)
		return d
	}
	s.records = func(name string) (out []string) {
		for _, r := range service.Records(group, "example.com") {
			if r.Name+".example.com" == name {
				out = append(out, r.Type)
			}
		}
		return out
	}
	return s
}

// withBIND is a real BIND.
func withBIND(t *testing.T) (s otherService) {
	t.Helper()
	s.provider = dns.Provider{Service: dns.RFC2136, Account: "main"}
	server, err := nameserver.Start(t.Context(), nameserver.Options{Zones: []nameserver.Zone{{Name: "example.com"}}})
	must(t, err)
	t.Cleanup(func() { must(t, server.Close()) })
	s.client = func(p world.Process) port.DNS {
		key := server.Key()
		d, err := rfc2136.New(rfc2136.Config{
			Server: server.Address(), Zones: []string{"example.com"}, ClusterID: world.ClusterID, Gate: unlimited(t, p, s.provider),
			// Signatures have the time, which has to be that of the server.
			Clock: clock.RealClock{},
			TSIG:  rfc2136.TSIG{Name: key.Name, Algorithm: key.Algorithm, Secret: func() string { return key.Secret }},
		})
		must(t, err)
		return d
	}
	s.records = func(name string) (out []string) {
		lines, err := server.Records(t.Context(), "example.com")
		must(t, err)
		for _, l := range lines {
			if len(l) > len(name) && l[:len(name)+1] == name+" " {
				out = append(out, l)
			}
		}
		return out
	}
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// rigOf is a rig with that service in addition to Route 53.
func (s otherService) rigOf(t *testing.T) *rig {
	t.Helper()
	return newRig(t, rigOptions{options: world.Options{Providers: func(p world.Process) func() zone.Providers {
		return zone.Providers{s.provider: s.client(p)}.Always()
	}}})
}

// Where a provider can't lead an apex to CloudFront, the condition says so and what to do, and other names work.
func TestAnApexThatAProviderCannotLead(t *testing.T) {
	t.Parallel()
	for name, service := range map[string]func(*testing.T) otherService{"Azure": withAzure, "a server with dynamic updates": withBIND} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := service(t)
			r := s.rigOf(t)
			r.Apply(r.Tenant("alpha", withDNS(at(s.provider)), domains("example.com")))
			r.Advance(10 * time.Minute)
			is(t, r.World, "alpha", "DNSReady=False/DNSError", syncedTrue)
			says(t, r.World, "alpha", "DNSReady", "example.com is the apex of its zone", string(s.provider.Service), "www.example.com")
			writes := r.KubeWrites()
			r.Advance(time.Hour)
			if n := r.KubeWrites() - writes; n != 0 {
				t.Errorf("%d writes while nothing moves", n)
			}
			r.Edit("alpha", domains("www.example.com"))
			r.Advance(10 * time.Minute)
			is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
			if len(s.records("www.example.com")) == 0 || len(s.records("example.com")) > 3 {
				t.Errorf("the zone has %v", s.records("www.example.com"))
			}
			r.removed("alpha")
			if left := s.records("www.example.com"); len(left) > 0 {
				t.Errorf("left in the zone: %v", left)
			}
		})
	}
}
