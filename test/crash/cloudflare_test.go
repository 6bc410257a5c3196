package crash_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/cloudflare"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/dnsserver"
)

// cloudflare is the provider of a lifecycle, and its calls as the journal names them.
const (
	cloudflare         = "cloudflare"
	changeAtCloudflare = "BatchRecords"
	listAtCloudflare   = "ListRecords"

	cloudflareToken = "crash-test-token"
)

// elsewhere is a Cloudflare with the zone example.com. Its methods for what is there may be called without one.
type elsewhere struct {
	stage   *stage
	sim     *sim.Sim
	servers *dnsserver.Server
	zone    sim.Zone
	// base are the records of other people.
	base []sim.Record

	// ending is closed when the name that moves is not watched any more, and polled once it is not.
	ending, polled chan struct{}

	mu sync.Mutex
	// led are the names that ever led to CloudFront here, and changes how many records were changed.
	led     map[string]bool
	changes int
}

func newElsewhere(s *stage) (*elsewhere, error) {
	e := &elsewhere{stage: s, led: map[string]bool{}, ending: make(chan struct{}), polled: make(chan struct{}), sim: sim.New(sim.Options{VisibleAfter: syncDelay, RequestLimit: 1_000_000})}
	e.sim.AddToken(sim.Token{Value: cloudflareToken, ReadsZones: true, EditsDNS: true})
	e.zone = e.sim.AddZone(sim.Zone{Name: "example.com"})
	ten := 10
	for _, r := range []sim.Record{
		{Name: "example.com", Type: "MX", Content: "mail.example.com", TTL: 300, Priority: &ten},
		{Name: "example.com", Type: "TXT", Content: `"v=spf1 -all"`, TTL: 300},
		{Name: "mail.example.com", Type: "A", Content: "192.0.2.25", TTL: 1, Proxied: true, Comment: "by hand"},
		{Name: "theirs.example.com", Type: "CNAME", Content: "elsewhere.example.net", TTL: 300},
		{Name: "_cf-challenge.theirs.example.com", Type: "TXT", Content: `"` + endpoint + `"`, TTL: 300},
	} {
		e.sim.PutRecord(e.zone.ID, r)
	}
	e.base = e.sim.Records(e.zone.ID)
	var err error
	if e.servers, err = e.sim.StartDNS(s.ctx, "127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("starting name servers: %w", err)
	}
	return e, nil
}

// pollEvery is well within the time for which a name can be gone before something else happens.
const pollEvery = 200 * time.Millisecond

// poll looks at a name that moves also while nothing is changed: what servers show changes later than what zones hold.
func (e *elsewhere) poll() {
	defer close(e.polled)
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for e.stage.lifecycle.moves != "" {
		select {
		case <-e.ending:
			return
		case <-ticker.C:
			e.watch("as time passes")
		}
	}
}

func (e *elsewhere) close() error {
	close(e.ending)
	<-e.polled
	return e.servers.Stop()
}

// accountsFile writes what the administrator says of the account, with a way out of its own.
func (r *replica) accountsFile() (string, error) {
	address, err := r.listen(dnsSide)
	if err != nil {
		return "", err
	}
	credentials := filepath.Join(r.dir, r.name+"-cloudflare")
	if err := os.MkdirAll(credentials, 0o700); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(credentials, "token"), []byte(cloudflareToken), 0o600); err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]any{"accounts": []any{map[string]any{
		"name": "main", "provider": cloudflare, "credentials": credentials, "rate": 100, "burst": 100,
		"nameServers": []string{r.stage.elsewhere.servers.Address},
		cloudflare:    map[string]any{"baseUrl": "http://" + address + "/client/v4"},
	}}})
	if err != nil {
		return "", err
	}
	file := filepath.Join(r.dir, r.name+"-accounts.yaml")
	return file, os.WriteFile(file, text, 0o600)
}

// ServeHTTP implements http.Handler. Names are looked at before and after each change.
func (e *elsewhere) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		e.sim.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	batch, answer := e.readBatch(body), httptest.NewRecorder()
	e.watch("before " + changeAtCloudflare)
	e.sim.ServeHTTP(answer, r)
	if answer.Code == http.StatusOK {
		e.mu.Lock()
		e.changes += len(batch.Changes)
		for _, c := range batch.Changes {
			if c.Action == "CREATE" && c.Set.Type == "CNAME" && strings.HasSuffix(c.record().value, ".cloudfront.net") {
				e.led[c.Set.Name] = true
			}
		}
		e.mu.Unlock()
	}
	e.watch(changeAtCloudflare)
	deliver(w, answer, answer.Body.Len())
}

// watch looks at all names.
func (e *elsewhere) watch(operation string) {
	domains := map[string]string{}
	for _, t := range e.stage.sim.Tenants("") {
		for name := range t.Domains {
			domains[name] = t.Name
		}
	}
	e.stage.checkRouting(operation, e.stage.sim.PublicRouting(), domains)
}

// readBatch reads a batch as one of Route 53, so that the same is asked of both.
func (e *elsewhere) readBatch(body []byte) (b sentBatch) {
	var sent struct {
		Deletes []struct{ ID string }
		Posts   []sim.Record
	}
	change := func(action string, r sim.Record) {
		c := sentChange{Action: action}
		c.Set.Name, c.Set.Type, c.Set.TTL, c.Set.Values = r.Name, r.Type, int64(r.TTL), []string{r.Content}
		b.Changes = append(b.Changes, c)
	}
	if err := json.Unmarshal(body, &sent); err != nil {
		change(err.Error(), sim.Record{})
	}
	all := e.sim.Records(e.zone.ID)
	for _, d := range sent.Deletes {
		if n := slices.IndexFunc(all, func(r sim.Record) bool { return r.ID == d.ID }); n >= 0 {
			change("DELETE", all[n])
		}
	}
	for _, p := range sent.Posts {
		change("CREATE", p)
	}
	return b
}

// records are all that there are now.
func (e *elsewhere) records() []sim.Record {
	if e == nil {
		return nil
	}
	return e.sim.Records(e.zone.ID)
}

// changed is how many records were changed.
func (e *elsewhere) changed() int {
	if e == nil {
		return 0
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.changes
}

// route adds the names that lead to CloudFront here: by what the zone holds, or by what its name servers still show.
func (e *elsewhere) route(routed map[string]string) map[string]string {
	if e == nil {
		return routed
	}
	out := maps.Clone(routed)
	for _, r := range e.records() {
		if r.Type == "CNAME" && strings.HasSuffix(r.Content, ".cloudfront.net") {
			out[r.Name] = r.Content
		}
	}
	e.mu.Lock()
	led := slices.Sorted(maps.Keys(e.led))
	e.mu.Unlock()
	for _, name := range led {
		if out[name] == "" && e.shows(name) {
			out[name] = endpoint
		}
	}
	return out
}

// shows reports whether name servers lead a name to CloudFront.
func (e *elsewhere) shows(name string) bool {
	if e == nil {
		return false
	}
	question := new(dns.Msg).SetQuestion(dns.Fqdn(name), dns.TypeA)
	answer, err := dns.ExchangeContext(e.stage.ctx, question, e.servers.Address)
	for tries := 0; err != nil && tries < 3; tries++ {
		answer, err = dns.ExchangeContext(e.stage.ctx, question, e.servers.Address)
	}
	if err != nil {
		if e.stage.ctx.Err() == nil {
			e.stage.violate("harness", "asking for %s: %v", name, err)
		}
		return false
	}
	return slices.ContainsFunc(answer.Answer, func(r dns.RR) bool {
		switch r := r.(type) {
		case *dns.CNAME:
			return strings.TrimSuffix(r.Target, ".") == endpoint
		case *dns.A:
			return r.A.String() == sim.FlattenedA
		}
		return false
	})
}

// routedFor is where the names of an object lead at the provider that it asks for.
func (s *stage) routedFor(o *tenantObject) map[string]string {
	if o.Spec.DNS.Provider != v1alpha1.DNSProviderCloudflare {
		return s.sim.PublicRouting()
	}
	out := map[string]string{}
	for _, d := range o.Spec.Domains {
		if s.elsewhere.shows(d.Domain) {
			out[d.Domain] = endpoint
		}
	}
	return out
}

// checkServed wants the name that moves to lead to CloudFront by one provider or the other, from the first time on. Callers
// hold the lock of the watch.
func (s *stage) checkServed(operation string, routed map[string]string) {
	name, w := s.lifecycle.moves, &s.routing
	if name == "" {
		return
	}
	served := routed[name] != "" || s.elsewhere.shows(name)
	if w.served && !served && s.ctx.Err() == nil {
		s.violate(oracleUnserved, "%s leads nowhere (%s)", name, operation)
	}
	w.served = w.served || served
}

// compare adds the records that other people have, and those that are there.
func (e *elsewhere) compare(want, got map[string][]string) {
	if e == nil {
		return
	}
	for _, r := range e.base {
		want[e.zone.ID] = append(want[e.zone.ID], cloudflareText(r))
	}
	for _, r := range e.records() {
		got[e.zone.ID] = append(got[e.zone.ID], cloudflareText(r))
	}
}

// wants adds the records of a domain.
func (e *elsewhere) wants(want map[string][]string, domain string) {
	add := func(name, kind, content string) {
		r := sim.Record{Name: name, Type: kind, Content: content, TTL: usualTTL}
		want[e.zone.ID] = append(want[e.zone.ID], cloudflareText(r))
	}
	add(domain, "CNAME", endpoint)
	if domain == e.zone.Name {
		add("_cf-challenge."+domain, "TXT", `"`+endpoint+`"`)
	}
}

func cloudflareText(r sim.Record) string {
	return fmt.Sprintf("%s %s %s %d proxied %t", r.Type, r.Name, r.Content, r.TTL, r.Proxied)
}

// lagsElsewhere has the name servers of Cloudflare show what is new late for a while.
func lagsElsewhere(d time.Duration) func(*stage) {
	return func(s *stage) {
		s.elsewhere.sim.SetVisibleAfter(d)
		s.gate.note("name servers lag")
		s.later(d, func() {
			s.gate.note("name servers lag no more")
			s.elsewhere.sim.SetVisibleAfter(syncDelay)
		})
	}
}

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
		c.operation = listAtCloudflare
	case key == "POST 4":
		c.operation, c.writes = changeAtCloudflare, true
	default:
		c.operation, c.writes = r.Method+" a record", r.Method != http.MethodGet
	}
}

// cloudflareError answers as Cloudflare words what the code means at AWS.
func cloudflareError(w http.ResponseWriter, status int, code string) {
	number := 10001
	switch code {
	case "Throttling":
		status, number = http.StatusTooManyRequests, 10013
		w.Header().Set("Retry-After", "1")
	case "AccessDenied":
		number = 10000
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"result":null,"success":false,"errors":[{"code":%d,"message":"This was not meant to be."}],"messages":[]}`, number)
}

// zoneIn is the zone that a call to Route 53 is about.
func zoneIn(c call) string {
	_, rest, _ := strings.Cut(c.target, "/2013-04-01/hostedzone/")
	zone, _, _ := strings.Cut(rest, "/")
	return zone
}
