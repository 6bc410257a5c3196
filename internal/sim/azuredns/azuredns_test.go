package azuredns_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/dns/armdns"
	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/azuredns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/dnsserver"
)

// Records are read back as the SDK wrote them, in lists and alone.
func TestRecordsOfAllTypes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ttl := to.Ptr[int64](60)
	for kind, p := range map[armdns.RecordType]*armdns.RecordSetProperties{
		"A": {ARecords: []*armdns.ARecord{{IPv4Address: new("192.0.2.1")}}}, "AAAA": {AaaaRecords: []*armdns.AaaaRecord{{IPv6Address: new("2001:db8::1")}}},
		"CNAME": {CnameRecord: &armdns.CnameRecord{Cname: new("a.example.net")}}, "TXT": {TxtRecords: []*armdns.TxtRecord{{Value: to.SliceOfPtrs("a", "b")}}},
		"MX":  {MxRecords: []*armdns.MxRecord{{Preference: to.Ptr[int32](10), Exchange: new("mail.example.net")}}},
		"NS":  {NsRecords: []*armdns.NsRecord{{Nsdname: new("ns.example.net")}}},
		"PTR": {PtrRecords: []*armdns.PtrRecord{{Ptrdname: new("p.example.net")}}},
		"SRV": {SrvRecords: []*armdns.SrvRecord{{Priority: to.Ptr[int32](1), Weight: to.Ptr[int32](2), Port: to.Ptr[int32](3), Target: new("s.example.net")}}},
		"CAA": {CaaRecords: []*armdns.CaaRecord{{Flags: to.Ptr[int32](0), Tag: new("issue"), Value: new("ca.example.net")}}},
	} {
		name := "r" + strings.ToLower(string(kind))
		p.TTL, p.Metadata = ttl, map[string]*string{"owner": new("us")}
		if _, err := w.put(t, name, kind, p, "", "*"); err != nil {
			t.Error(err)
			continue
		}
		got, err := w.records(t).Get(t.Context(), group, zone, name, kind, nil)
		if err != nil {
			t.Error(err)
			continue
		}
		p.Fqdn, p.ProvisioningState, p.TargetResource = new(name+"."+zone+"."), new("Succeeded"), &armdns.SubResource{}
		if d := cmp.Diff(p, got.Properties); d != "" {
			t.Errorf("%s (-want +got):\n%s", kind, d)
		}
	}
	page, err := w.records(t).NewListByTypePager(group, zone, "TXT", nil).NextPage(t.Context())
	if err != nil || len(page.Value) != 1 || *page.Value[0].Name != "rtxt" {
		t.Errorf("sets of one type: %v, error %v", page.Value, err)
	}
}

// Pages are followed to the end, whatever is written between them.
func TestPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *sim.Options) {
		o.PageSize = 10
		for n := range 25 {
			o.Zones = append(o.Zones, sim.Zone{ResourceGroup: "many", Name: fmt.Sprintf("z%02d.example", n)})
			o.Zones[0].Records = append(o.Zones[0].Records, sim.Record{Name: fmt.Sprintf("n%02d", n), Type: "A", TTL: 60, Values: []string{"192.0.2.1"}})
		}
	})
	names := map[string]int{}
	pager := w.records(t).NewListAllByDNSZonePager(group, zone, nil)
	for pager.More() {
		page, err := pager.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Value {
			names[*r.Name+*r.Type]++
		}
		w.RemoveRecord(group, zone, *page.Value[len(page.Value)-1].Name, "A")
	}
	if len(names) != 27 || names["@Microsoft.Network/dnszones/SOA"] != 1 {
		t.Errorf("%d sets: %v", len(names), names)
	}
	count := 0
	for list := w.zones(t, sim.DefaultSubscription).NewListByResourceGroupPager("many", nil); list.More(); {
		page, err := list.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		count += len(page.Value)
	}
	if count != 25 || w.Calls(sim.ListZonesOfGroup) != 3 {
		t.Errorf("%d zones in %d calls", count, w.Calls(sim.ListZonesOfGroup))
	}
	cut, err := w.records(t).NewListAllByDNSZonePager(group, zone, &armdns.RecordSetsClientListAllByDNSZoneOptions{Top: to.Ptr[int32](5)}).NextPage(t.Context())
	if err != nil || len(cut.Value) != 5 || cut.NextLink != nil {
		t.Errorf("with $top: %d sets, link %v, error %v", len(cut.Value), cut.NextLink, err)
	}
	for _, top := range []int32{0, 1001} {
		_, err := w.records(t).NewListAllByDNSZonePager(group, zone, &armdns.RecordSetsClientListAllByDNSZoneOptions{Top: &top}).NextPage(t.Context())
		refused(t, err, 400, "BadRequest")
	}
	if _, err := w.records(t).NewListByDNSZonePager(group, zone, nil).NextPage(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestZones(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page, err := w.zones(t, sim.DefaultSubscription).NewListPager(nil).NextPage(t.Context())
	if err != nil || len(page.Value) != 2 {
		t.Fatalf("zones %v, error %v", page.Value, err)
	}
	got, err := w.zones(t, sim.DefaultSubscription).Get(t.Context(), strings.ToUpper(group), zone, nil)
	if err != nil || *got.Properties.ZoneType != armdns.ZoneTypePublic || len(got.Properties.NameServers) != 4 || *got.ID != (sim.Zone{ResourceGroup: group, Name: zone}).ID() {
		t.Errorf("zone %+v, error %v", got.Properties, err)
	}
}

// Each kind of credential gets a token for what it shows, and nothing else.
func TestCredentials(t *testing.T) {
	t.Parallel()
	const subject, pod, node = "system:serviceaccount:operator:operator", "55555555-5555-5555-5555-555555555555", "66666666-6666-6666-6666-666666666666"
	w := newWorld(t, func(o *sim.Options) {
		o.Principals = append(o.Principals, sim.Principal{ClientID: pod, Subject: subject}, sim.Principal{ClientID: node, Managed: true},
			sim.Principal{ClientID: "old", Secret: secret, SecretExpired: true})
	})
	assertion := func(token string) azcore.TokenCredential {
		file := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := azidentity.NewWorkloadIdentityCredential(&azidentity.WorkloadIdentityCredentialOptions{
			ClientOptions: w.options, ClientID: pod, TenantID: sim.DefaultTenant, TokenFilePath: file, DisableInstanceDiscovery: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	managed := func(id string) azcore.TokenCredential {
		options := w.options
		options.Transport = &http.Client{Transport: w.Transport()}
		c, err := azidentity.NewManagedIdentityCredential(&azidentity.ManagedIdentityCredentialOptions{ClientOptions: options, ID: azidentity.ClientID(id)})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	later, earlier := w.clock.Now().Add(time.Hour), w.clock.Now().Add(-time.Hour)
	for says, tt := range map[string]struct {
		credential azcore.TokenCredential
		want       string
	}{
		"the secret":                        {w.credential(t, client, secret), ""},
		"another secret":                    {w.credential(t, client, "wrong"), "AADSTS7000215"},
		"an old secret":                     {w.credential(t, "old", secret), "AADSTS7000222"},
		"an application that is not there":  {w.credential(t, "absent", secret), "AADSTS700016"},
		"a token of the service account":    {assertion(sim.FederatedToken(subject, later)), ""},
		"a token of another one":            {assertion(sim.FederatedToken(subject+"x", later)), "AADSTS700213"},
		"a token whose time is over":        {assertion(sim.FederatedToken(subject, earlier)), "AADSTS700024"},
		"a token that is none":              {assertion("token"), "AADSTS50027"},
		"the identity of the node":          {managed(node), ""},
		"an identity that the node has not": {managed(client), "Identity not found"},
	} {
		_, err := tt.credential.GetToken(t.Context(), policy.TokenRequestOptions{Scopes: []string{"https://management.core.windows.net//.default"}})
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", says, err, tt.want)
		}
	}
	_, err := w.credential(t, client, secret).GetToken(t.Context(), policy.TokenRequestOptions{Scopes: []string{"https://graph.microsoft.com/.default"}})
	if err == nil || !strings.Contains(err.Error(), "AADSTS70011") {
		t.Errorf("a token for something else: %v", err)
	}
}

func TestFaultsAndLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *sim.Options) {
		o.Limits = []sim.Limit{{Operation: sim.GetRecord, Calls: 2, Per: 5 * time.Minute}}
	})
	w.AddFault(sim.Fault{Operation: sim.PutRecord, When: sim.AfterCommit, Drop: true})
	w.AddFault(sim.Fault{Operation: sim.DeleteRecord, When: sim.Instead, Status: 418, Code: "Teapot"})
	w.AddFault(sim.Fault{Operation: sim.GetZone, Skip: 1, Times: 2})
	if _, err := w.put(t, "a", "A", address("192.0.2.1"), "", "*"); err == nil {
		t.Error("an answer that was to be lost arrived")
	}
	if len(w.Records(group, zone)) != 3 {
		t.Error("what was answered was not carried out")
	}
	refused(t, w.remove(t, "a", "A", "*"), 418, "Teapot")
	for _, status := range []int{0, 503, 503, 0} {
		_, err := w.zones(t, sim.DefaultSubscription).Get(t.Context(), group, zone, nil)
		if status == 0 && err != nil {
			t.Error(err)
		} else if status != 0 {
			refused(t, err, status, "ServiceUnavailable")
		}
	}
	for range 2 {
		if _, err := w.records(t).Get(t.Context(), group, zone, "a", "A", nil); err != nil {
			t.Error(err)
		}
	}
	w.clock.step(time.Minute)
	_, err := w.records(t).Get(t.Context(), group, zone, "a", "A", nil)
	refused(t, err, 429, "ResourceRequestsThrottled")
	var answer *azcore.ResponseError
	if errors.As(err, &answer) && answer.RawResponse.Header.Get("Retry-After") != "240" {
		t.Errorf("Retry-After %q", answer.RawResponse.Header.Get("Retry-After"))
	}
	w.clock.step(4 * time.Minute)
	if _, err := w.records(t).Get(t.Context(), group, zone, "a", "A", nil); err != nil {
		t.Error(err)
	}
	var committed []string
	for _, e := range w.Journal() {
		if e.Committed {
			committed = append(committed, e.Operation)
		}
	}
	if d := cmp.Diff([]string{sim.PutRecord}, committed); d != "" {
		t.Errorf("committed (-want +got):\n%s", d)
	}
}

// The name servers know a change a while after Azure has accepted it.
func TestNameServers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *sim.Options) {
		o.VisibleAfter = time.Minute
		o.Zones[0].Records = []sim.Record{{Name: "*.wild", Type: "CNAME", TTL: 60, Values: []string{"a.example.net"}}}
	})
	server, err := dnsserver.Start(t.Context(), "127.0.0.1:0", w.DNSHandler())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	ask := func(name string, kind uint16) *dns.Msg {
		answer, err := dns.ExchangeContext(t.Context(), new(dns.Msg).SetQuestion(name, kind), server.Address)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	if _, err := w.put(t, "a", "TXT", text("one ", "text"), "", "*"); err != nil {
		t.Fatal(err)
	}
	if got := ask("a.test.example.", dns.TypeTXT); got.Rcode != dns.RcodeNameError || len(got.Ns) != 1 {
		t.Errorf("before its time: %v", got)
	}
	w.clock.step(time.Minute)
	w.Stall(true)
	if got := ask("a.test.example.", dns.TypeTXT); got.Rcode != dns.RcodeNameError {
		t.Errorf("while changes are kept: %v", got)
	}
	w.Stall(false)
	if got := ask("a.test.example.", dns.TypeTXT); len(got.Answer) != 1 {
		t.Errorf("in time: %v", got)
	}
	if got := ask("x.wild.test.example.", dns.TypeCNAME); len(got.Answer) != 1 {
		t.Errorf("below a wildcard: %v", got)
	}
	if got := ask("wild.test.example.", dns.TypeCNAME); got.Rcode != dns.RcodeSuccess || len(got.Answer) != 0 {
		t.Errorf("above a wildcard: %v", got)
	}
	for _, name := range []string{"a.private.example.", "example.org."} {
		if got := ask(name, dns.TypeA); got.Rcode != dns.RcodeRefused {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The SDK for JavaScript refuses a tenant's configuration without the place of its keys.
func TestTheConfigurationOfATenantIsComplete(t *testing.T) {
	t.Parallel()
	client := &http.Client{Transport: newWorld(t).Transport()}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://login.microsoftonline.com/"+sim.DefaultTenant+"/v2.0/.well-known/openid-configuration", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var configuration map[string]string
	if err := json.NewDecoder(response.Body).Decode(&configuration); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"authorization_endpoint", "issuer", "jwks_uri", "token_endpoint"} {
		if !strings.HasPrefix(configuration[field], "https://login.microsoftonline.com/"+sim.DefaultTenant+"/") {
			t.Errorf("%s is %q", field, configuration[field])
		}
	}
}
