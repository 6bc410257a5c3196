package cloudfront_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/verdict"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/canned"
)

const (
	oldID          = "E2OLD"
	foreignAccount = "999988887777"
)

// migration has a standard distribution with two aliases, a tenant of another account, and zones of domains.
func migration(o *sim.Options) {
	o.Seed.Accounts = append(o.Seed.Accounts, sim.SeedAccount{ID: foreignAccount})
	theirs := strings.Replace(certificateARN, sim.DefaultAccount, foreignAccount, 1)
	o.Seed.Certificates = append(o.Seed.Certificates, sim.SeedCertificate{ARN: theirs, Names: []string{"*.example.com"}})
	o.Seed.Distributions = append(o.Seed.Distributions,
		sim.SeedDistribution{
			ID: oldID, ConnectionMode: "direct", CertificateARN: certificateARN, Aliases: []string{"www.example.com", "app.example.com"},
		},
		sim.SeedDistribution{ID: "E2THEIRS", Account: foreignAccount, CertificateARN: theirs})
	o.Seed.Tenants = append(o.Seed.Tenants, sim.SeedTenant{
		Account: foreignAccount, ID: "dt_theirs", Name: "theirs", DistributionID: "E2THEIRS", Domains: []string{"taken.example.com"},
	})
}

// point makes public DNS of a domain in example.com lead to a host.
func (w world) point(t *testing.T, records map[string]string) {
	t.Helper()
	zone := sim.SeedHostedZone{Name: "example.com"}
	for domain, target := range records {
		zone.Records = append(zone.Records, sim.SeedRecord{Name: domain, Type: "CNAME", Values: []string{target}})
	}
	if err := w.Load(sim.Seed{HostedZones: []sim.SeedHostedZone{zone}}); err != nil {
		t.Fatal(err)
	}
}

func TestVerifyDNS(t *testing.T) {
	w := newWorld(t)
	two := tenant("shop")
	two.ConnectionGroupID = groupID
	two.Domains = []string{"shop.example.com", "app.example.com"}
	o, err := w.client.CreateTenant(t.Context(), two, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.point(t, map[string]string{"shop.example.com": "dmain.cloudfront.net", "app.example.com": "dsecond.cloudfront.net"})
	want := []verdict.DNS{
		{Domain: "app.example.com", Status: verdict.Invalid, Reason: "No DNS record leads from the domain to the routing endpoint of the connection group."},
		{Domain: "shop.example.com", Status: verdict.Valid},
	}
	all, err := w.client.VerifyDNS(t.Context(), o.ID, "")
	slices.SortFunc(all, func(a, b verdict.DNS) int { return strings.Compare(a.Domain, b.Domain) })
	if diff := cmp.Diff(want, all); diff != "" || err != nil {
		t.Errorf("all domains: %v, (-want +got):\n%s", err, diff)
	}
	one, err := w.client.VerifyDNS(t.Context(), o.ID, "shop.example.com")
	if diff := cmp.Diff(want[1:], one); diff != "" || err != nil {
		t.Errorf("one domain: %v, (-want +got):\n%s", err, diff)
	}
	if _, err := w.client.VerifyDNS(t.Context(), "dt_absent", ""); !fault.Is(err, fault.NotFound) {
		t.Errorf("an absent tenant: %v, want NotFound", err)
	}
}

// The reason is AWS's own text, of which nothing is known.
func TestTheReasonIsFitForAMessage(t *testing.T) {
	body := `<R><DnsConfigurationList><DnsConfiguration><Domain>Shop.example.com.</Domain><Status>unknown-configuration</Status><Reason> it&#10;failed&#x202E;` +
		strings.Repeat("x", 1000) + `</Reason></DnsConfiguration></DnsConfigurationList></R>`
	client, _, _ := newClient(t, &canned.Transport{Status: http.StatusOK, Body: body}, 100)
	got, err := client.VerifyDNS(t.Context(), "dt_1", "shop.example.com")
	if err != nil || len(got) != 1 || got[0].Domain != "shop.example.com" || got[0].Status != verdict.Unknown {
		t.Fatalf("got %+v, %v", got, err)
	}
	if reason := got[0].Reason; !strings.HasPrefix(reason, "it failedx") || len(reason) > 512 {
		t.Errorf("%d bytes: %q", len(reason), reason)
	}
}

func TestDomainConflicts(t *testing.T) {
	w := newWorld(t, migration)
	o := w.create(t, "shop")
	wild := tenant("wild")
	wild.Domains = []string{"*.example.com"}
	above, err := w.client.CreateTenant(t.Context(), wild, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	wildcard := verdict.Conflict{Domain: "*.example.com", Type: verdict.Tenant, ID: above.ID, Account: sim.DefaultAccount}
	tests := map[string]struct {
		domain, provenBy string
		want             []verdict.Conflict
	}{
		"a distribution of this account": {"www.example.com", o.ID, []verdict.Conflict{
			{Domain: "www.example.com", Type: verdict.Distribution, ID: oldID, Account: sim.DefaultAccount}, wildcard,
		}},
		"a tenant of another account, masked": {"taken.example.com", o.ID, []verdict.Conflict{
			{Domain: "taken.example.com", Type: verdict.Tenant, ID: "***theirs", Account: "******887777"}, wildcard,
		}},
		"a distribution may prove it as well": {"app.example.com", distributionID, []verdict.Conflict{
			{Domain: "app.example.com", Type: verdict.Distribution, ID: oldID, Account: sim.DefaultAccount}, wildcard,
		}},
		"what asks is no conflict": {"free.example.com", above.ID, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := w.client.DomainConflicts(t.Context(), test.domain, test.provenBy)
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("error %v, conflicts (-want +got):\n%s", err, diff)
			}
		})
	}
	if _, err := w.client.DomainConflicts(t.Context(), "shop.customer.test", o.ID); !fault.Is(err, fault.Invalid) {
		t.Errorf("without a certificate: %v, want Invalid", err)
	}
}

// A domain that a distribution serves is handed over to a tenant while it is served and DNS leads to the distribution.
func TestADomainMovesOffADistribution(t *testing.T) {
	w := newWorld(t, migration)
	before, err := w.client.ReadDistribution(t.Context(), oldID)
	if err != nil {
		t.Fatal(err)
	}
	w.point(t, map[string]string{"www.example.com": before.DomainName})
	o := w.create(t, "shop")
	if err := w.client.MoveDomain(t.Context(), "www.example.com", o.ID, "ESTALE"); !fault.Is(err, fault.Conflict) {
		t.Errorf("with a stale ETag: %v, want Conflict", err)
	}
	if err := w.client.MoveDomain(t.Context(), "www.example.com", o.ID, o.ETag); err != nil {
		t.Fatal(err)
	}
	after, err := w.client.ReadDistribution(t.Context(), oldID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"app.example.com"}, after.Aliases); diff != "" || !after.Enabled {
		t.Errorf("enabled %t, aliases of the distribution (-want +got):\n%s", after.Enabled, diff)
	}
	if after.ETag == before.ETag || !after.Modified.After(before.Modified) {
		t.Errorf("ETag %s, modified %v; before %s, %v", after.ETag, after.Modified, before.ETag, before.Modified)
	}
	got, err := w.client.GetTenant(t.Context(), o.ID)
	if diff := cmp.Diff([]string{"shop.example.com", "www.example.com"}, got.Domains); diff != "" || err != nil {
		t.Errorf("error %v, domains of the tenant (-want +got):\n%s", err, diff)
	}
}

func TestADomainIsRefusedBecauseItsDNSLeadsElsewhere(t *testing.T) {
	w := newWorld(t, migration)
	old, err := w.client.ReadDistribution(t.Context(), oldID)
	if err != nil {
		t.Fatal(err)
	}
	// The tenant has the domain since before DNS leads to the distribution, so it keeps it.
	o := w.create(t, "shop")
	w.point(t, map[string]string{"shop.example.com": old.DomainName, "new.example.com": old.DomainName, "ours.example.com": "dmain.cloudfront.net"})
	elsewhere := func(err error) {
		t.Helper()
		if !fault.Is(err, fault.DomainTaken) || !fault.PointsElsewhere(err) || !strings.Contains(err.Error(), "new.example.com") {
			t.Errorf("error %v, want that the domain points elsewhere", err)
		}
	}
	request := &certificate.Request{ValidationTokenHost: "cloudfront"}
	_, err = w.client.CreateTenant(t.Context(), tenant("new"), nil, nil)
	elsewhere(err)
	_, err = w.client.CreateTenant(t.Context(), tenant("new"), nil, request)
	elsewhere(err)
	next := o.Tenant
	next.Domains = []string{"shop.example.com", "new.example.com"}
	_, err = w.client.UpdateTenant(t.Context(), o, next, nil)
	elsewhere(err)
	next.Domains = []string{"shop.example.com", "ours.example.com"}
	if _, err = w.client.UpdateTenant(t.Context(), o, next, nil); err != nil {
		t.Errorf("a domain that leads to a connection group: %v", err)
	}
	_, err = w.client.CreateTenant(t.Context(), tenant("taken"), nil, nil)
	if !fault.Is(err, fault.DomainTaken) || fault.PointsElsewhere(err) {
		t.Errorf("error %v, want a domain that is taken", err)
	}
}

func TestPointsElsewhere(t *testing.T) {
	const code = "CNAMEAlreadyExists"
	tests := map[string]struct {
		code, message string
		want          bool
	}{
		"in the words of a refused alias":     {code, "One or more aliases specified for the distribution includes an incorrectly configured DNS record that points to another CloudFront distribution. You must update the DNS record to correct the problem.", true},
		"in other letters":                    {code, "a DNS record that Points To Another cloudfront distribution", true},
		"a conflict":                          {code, "One or more of the CNAMEs you provided are already associated with a different resource.", false},
		"words that are not known":            {code, "The DNS of the CNAME is not yours.", false},
		"no words":                            {code, "", false},
		"the same words under another code":   {"InvalidArgument", "points to another CloudFront distribution", false},
		"words that are no refusal of a name": {"EntityAlreadyExists", "points to another CloudFront distribution", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			body := "<ErrorResponse><Error><Code>" + test.code + "</Code><Message>" + test.message + "</Message></Error></ErrorResponse>"
			client, _, _ := newClient(t, &canned.Transport{Status: http.StatusConflict, Body: body}, 100)
			err := call(t, client, "CreateDistributionTenant")
			if got := fault.PointsElsewhere(err); got != test.want {
				t.Errorf("%v: points elsewhere %t, want %t", err, got, test.want)
			}
			if test.code == code && !fault.Is(err, fault.DomainTaken) {
				t.Errorf("kind %v, want DomainTaken", fault.KindOf(err))
			}
		})
	}
}

// An apex can't have a CNAME: it leads to the addresses of an Anycast list.
func TestTheAddressesOfAnAnycastListLeadToItsGroup(t *testing.T) {
	const endpoint = "danycast.cloudfront.net"
	w := newWorld(t, func(o *sim.Options) {
		o.Seed.ConnectionGroups = append(o.Seed.ConnectionGroups, sim.SeedConnectionGroup{
			ID: "cg_anycast", Name: "anycast", RoutingEndpoint: endpoint, AnycastIPListID: "aip_1",
		})
	})
	in := tenant("apex")
	in.ConnectionGroupID, in.Domains = "cg_anycast", []string{"customer.test"}
	request := &certificate.Request{ValidationTokenHost: "cloudfront"}
	if _, err := w.client.CreateTenant(t.Context(), in, nil, request); !fault.Is(err, fault.DomainUnverified) {
		t.Fatalf("without a record: %v, want DomainUnverified", err)
	}
	if err := w.Load(sim.Seed{HostedZones: []sim.SeedHostedZone{{Name: "customer.test", Records: []sim.SeedRecord{
		{Name: "customer.test", Type: "A", Values: w.AnycastAddresses("aip_1")},
		{Name: "_cf-challenge.customer.test", Type: "TXT", Values: []string{`"` + endpoint + `"`}},
	}}}}); err != nil {
		t.Fatal(err)
	}
	o, err := w.client.CreateTenant(t.Context(), in, nil, request)
	if err != nil {
		t.Fatal(err)
	}
	got, err := w.client.VerifyDNS(t.Context(), o.ID, "customer.test")
	if diff := cmp.Diff([]verdict.DNS{{Domain: "customer.test", Status: verdict.Valid}}, got); diff != "" || err != nil {
		t.Errorf("error %v, verdict (-want +got):\n%s", err, diff)
	}
}
