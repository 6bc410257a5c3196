package crash_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/azuredns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/dnsserver"
)

const (
	changeAtAzure = "PutRecord"

	azureGroup  = "dns"
	azureZone   = "example.com"
	azureClient = "33333333-3333-3333-3333-333333333333"
	azureSecret = "crash-test-secret"
)

func azureProvider() *provider {
	return &provider{
		name: v1alpha1.DNSProviderAzure, prefix: "az", title: "Azure DNS",
		changes: []string{changeAtAzure, "DeleteRecord"}, reads: []string{"GetToken", "GetRecord"}, listing: "ListRecords",
		start: newAzure, listen: (*replica).listenTLS, understand: understandAzure, short: 3,
	}
}

// azure is a simulated Azure: the Resource Manager, what issues tokens, and name servers.
type azure struct {
	*sim.Sim

	servers *dnsserver.Server
}

func newAzure(s *stage) (service, error) {
	a := &azure{Sim: sim.New(sim.Options{
		VisibleAfter: syncDelay,
		Principals: []sim.Principal{{
			ClientID: azureClient, Secret: azureSecret,
			Grants: []sim.Grant{{Role: sim.DNSZoneContributor, Scope: "/subscriptions/" + sim.DefaultSubscription}},
		}},
		Zones: []sim.Zone{{ResourceGroup: azureGroup, Name: azureZone, Records: []sim.Record{
			{Name: "@", Type: "MX", TTL: 300, Values: []string{"10 mail.example.com"}},
			{Name: "@", Type: "TXT", TTL: 300, Texts: [][]string{{"v=spf1 -all"}}},
			{Name: "mail", Type: "A", TTL: 300, Values: []string{"192.0.2.25"}, Metadata: map[string]string{"team": "mail"}},
			{Name: "theirs", Type: "CNAME", TTL: 300, Values: []string{"elsewhere.example.net"}},
			{Name: "_cf-challenge.theirs", Type: "TXT", TTL: 300, Texts: [][]string{{endpoint}}},
		}}},
	})}
	var err error
	if a.servers, err = dnsserver.Start(s.ctx, "127.0.0.1:0", a.DNSHandler()); err != nil {
		return nil, fmt.Errorf("starting name servers: %w", err)
	}
	return a, nil
}

func (a *azure) zone() string   { return azureGroup + "/" + azureZone }
func (a *azure) server() string { return a.servers.Address }
func (a *azure) close() error   { return a.servers.Stop() }

func (a *azure) account(address string) (entry map[string]any, secret map[string]string) {
	return map[string]any{"nameServers": []string{a.servers.Address}, "azure": map[string]any{
		"subscriptionId": sim.DefaultSubscription, "resourceGroup": azureGroup, "tenantId": sim.DefaultTenant, "clientId": azureClient,
		"credential": "ClientSecret", "resourceManagerEndpoint": "https://" + address, "authorityHost": "https://" + address,
		"audience": "https://management.azure.com",
	}}, map[string]string{"clientSecret": azureSecret}
}

func (a *azure) records() (out []placed) {
	for _, r := range a.Records(azureGroup, azureZone) {
		value := strings.Join(r.Values, " ")
		for _, t := range r.Texts {
			value += `"` + strings.Join(t, "") + `"`
		}
		out = append(out, placed{fullName(r.Name), r.Type, value, r.TTL, fmt.Sprint(r.Metadata), r.ETag})
	}
	return out
}

func fullName(relative string) string {
	if relative == "@" {
		return azureZone
	}
	return relative + "." + azureZone
}

func (a *azure) wants(domain string, o *tenantObject) []placed {
	return []placed{{name: domain, kind: "CNAME", value: endpoint, ttl: usualTTL, note: fmt.Sprint(map[string]string{"owner": ownerNote(o)})}}
}

// batch is of one set: what is there goes, and what the call carries comes.
func (a *azure) batch(c call, now []placed) (b sentBatch) {
	parts := strings.Split(pathOf(c), "/")
	name, kind := fullName(parts[len(parts)-1]), parts[len(parts)-2]
	if n := slices.IndexFunc(now, func(r placed) bool { return r.name == name && r.kind == kind }); n >= 0 {
		b.Changes = append(b.Changes, now[n].change("DELETE"))
	}
	if c.operation != changeAtAzure {
		return b
	}
	var body struct {
		Properties struct {
			TTL         int64
			CNAMERecord struct{ CNAME string }
		}
	}
	if err := json.Unmarshal(c.body, &body); err != nil {
		return sentBatch{Changes: []sentChange{{Action: err.Error()}}}
	}
	made := placed{name: name, kind: kind, value: body.Properties.CNAMERecord.CNAME, ttl: body.Properties.TTL}
	b.Changes = append(b.Changes, made.change("CREATE"))
	return b
}

func (a *azure) lag(d time.Duration) { a.Stall(d > 0) }

// understandAzure names an operation by its path. A request for a token is one, too.
func understandAzure(c *call, r *http.Request) {
	c.counted = true
	_, path, manager := strings.Cut(strings.ToLower(r.URL.Path), "/dnszones")
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	switch key := fmt.Sprint(r.Method, " ", len(parts)); {
	case !manager && r.Method == http.MethodPost:
		c.operation = "GetToken"
	case !manager:
		c.operation = "GetAuthority"
	case key == "GET 0":
		c.operation = "ListZones"
	case key == "GET 1":
		c.operation = "GetZone"
	case key == "GET 2":
		c.operation = "ListRecords"
	case key == "GET 3":
		c.operation = "GetRecord"
	case key == "PUT 3":
		c.operation, c.writes = changeAtAzure, true
	case key == "DELETE 3":
		c.operation, c.writes = "DeleteRecord", true
	default:
		c.operation, c.writes = r.Method+" "+r.URL.Path, r.Method != http.MethodGet
	}
}

func (a *azure) refuse(x *exchange, status int, code string) {
	name := "InternalServerError"
	switch code {
	case "Throttling":
		status, name = http.StatusTooManyRequests, "ResourceRequestsThrottled"
		x.w.Header().Set("Retry-After", "1")
	case "AccessDenied":
		name = "AuthorizationFailed"
	}
	x.w.Header().Set("Content-Type", "application/json")
	if x.call.operation == "GetToken" {
		if code == "AccessDenied" {
			status = http.StatusUnauthorized
		}
		x.w.WriteHeader(status)
		fmt.Fprint(x.w, `{"error":"invalid_client","error_description":"AADSTS7000215: This was not meant to be.","error_codes":[7000215]}`)
		return
	}
	x.w.WriteHeader(status)
	fmt.Fprintf(x.w, `{"error":{"code":%q,"message":"This was not meant to be."}}`, name)
}
