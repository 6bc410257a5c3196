package crash_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/cloudflare"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/dnsserver"
)

const cloudflareToken = "crash-test-token"

func cloudflareProvider() *provider {
	return &provider{
		name: v1alpha1.DNSProviderCloudflare, prefix: "cf", title: "Cloudflare",
		changes: []string{"BatchRecords"}, reads: []string{"ListRecords", "ListZones"}, listing: "ListRecords",
		apex: true, address: sim.FlattenedA,
		start: newCloudflare, listen: func(r *replica) (string, error) { return r.listen(dnsSide) }, understand: understandCloudflare, short: 6,
	}
}

// cloudflare is a simulated Cloudflare.
type cloudflare struct {
	*sim.Sim

	servers *dnsserver.Server
	domain  sim.Zone
}

func newCloudflare(s *stage) (service, error) {
	c := &cloudflare{Sim: sim.New(sim.Options{VisibleAfter: syncDelay, RequestLimit: 1_000_000})}
	c.AddToken(sim.Token{Value: cloudflareToken, ReadsZones: true, EditsDNS: true})
	c.domain = c.AddZone(sim.Zone{Name: "example.com"})
	ten := 10
	for _, r := range []sim.Record{
		{Name: "example.com", Type: "MX", Content: "mail.example.com", TTL: 300, Priority: &ten},
		{Name: "example.com", Type: "TXT", Content: `"v=spf1 -all"`, TTL: 300},
		{Name: "mail.example.com", Type: "A", Content: "192.0.2.25", TTL: 1, Proxied: true, Comment: "by hand"},
		{Name: "theirs.example.com", Type: "CNAME", Content: "elsewhere.example.net", TTL: 300},
		{Name: "_cf-challenge.theirs.example.com", Type: "TXT", Content: `"` + endpoint + `"`, TTL: 300},
	} {
		c.PutRecord(c.domain.ID, r)
	}
	var err error
	if c.servers, err = c.StartDNS(s.ctx, "127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("starting name servers: %w", err)
	}
	return c, nil
}

func (c *cloudflare) zone() string   { return c.domain.ID }
func (c *cloudflare) server() string { return c.servers.Address }
func (c *cloudflare) close() error   { return c.servers.Stop() }

func (c *cloudflare) account(address string) (entry map[string]any, secret map[string]string) {
	return map[string]any{
		"nameServers": []string{c.servers.Address}, "cloudflare": map[string]any{"baseUrl": "http://" + address + "/client/v4"},
	}, map[string]string{"token": cloudflareToken}
}

func (c *cloudflare) records() (out []placed) {
	for _, r := range c.Records(c.domain.ID) {
		out = append(out, placed{r.Name, r.Type, r.Content, int64(r.TTL), cloudflareNote(r.Proxied, r.Comment), r.ID + r.ModifiedOn.String()})
	}
	return out
}

func cloudflareNote(proxied bool, comment string) string {
	return fmt.Sprintf("proxied %t %s", proxied, comment)
}

func (c *cloudflare) wants(domain string, o *tenantObject) []placed {
	note := cloudflareNote(false, ownerNote(o))
	out := []placed{{name: domain, kind: "CNAME", value: endpoint, ttl: usualTTL, note: note}}
	if domain == c.domain.Name {
		out = append(out, placed{name: "_cf-challenge." + domain, kind: "TXT", value: `"` + endpoint + `"`, ttl: usualTTL, note: note})
	}
	return out
}

func (c *cloudflare) batch(sent call, now []placed) (b sentBatch) {
	var body struct {
		Deletes []struct{ ID string }
		Posts   []sim.Record
	}
	if err := json.Unmarshal(sent.body, &body); err != nil {
		b.Changes = append(b.Changes, sentChange{Action: err.Error()})
	}
	for _, d := range body.Deletes {
		if n := slices.IndexFunc(now, func(r placed) bool { return strings.HasPrefix(r.version, d.ID) }); n >= 0 {
			b.Changes = append(b.Changes, now[n].change("DELETE"))
		}
	}
	for _, p := range body.Posts {
		b.Changes = append(b.Changes, placed{name: p.Name, kind: p.Type, value: p.Content, ttl: int64(p.TTL)}.change("CREATE"))
	}
	return b
}

func (c *cloudflare) lag(d time.Duration) { c.SetVisibleAfter(max(d, syncDelay)) }

// understandCloudflare names an operation by its path.
func understandCloudflare(c *call, r *http.Request) {
	c.counted = true
	parts := strings.Split(strings.Trim(strings.TrimPrefix(r.URL.Path, "/client/v4/"), "/"), "/")
	switch key := fmt.Sprint(r.Method, " ", len(parts)); {
	case parts[0] != "zones":
		c.operation = r.Method + " " + r.URL.Path
	case key == "GET 1":
		c.operation = "ListZones"
	case key == "GET 2":
		c.operation = "GetZone"
	case key == "GET 3":
		c.operation = "ListRecords"
	case key == "POST 4":
		c.operation, c.writes = "BatchRecords", true
	default:
		c.operation, c.writes = r.Method+" a record", r.Method != http.MethodGet
	}
}

func (c *cloudflare) refuse(x *exchange, status int, code string) {
	number := 10001
	switch code {
	case "Throttling":
		status, number = http.StatusTooManyRequests, 10013
		x.w.Header().Set("Retry-After", "1")
	case "AccessDenied":
		number = 10000
	}
	x.w.Header().Set("Content-Type", "application/json")
	x.w.WriteHeader(status)
	fmt.Fprintf(x.w, `{"result":null,"success":false,"errors":[{"code":%d,"message":"This was not meant to be."}],"messages":[]}`, number)
}
