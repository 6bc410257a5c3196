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
)

// provider is a DNS service other than Route 53 at which a lifecycle has records.
type provider struct {
	// name is what a spec says, prefix begins the names of lifecycles, and title is what people say.
	name          v1alpha1.DNSProvider
	prefix, title string
	// changes are the calls that change records, the one that publishes them first. Reads are those without which nothing is
	// published, and listing the one that comes back as time passes.
	changes, reads []string
	listing        string
	// apex means that the name of the zone itself can lead to CloudFront: by a CNAME and a proof of it. Its name servers answer
	// for it with the address.
	apex    bool
	address string
	// start starts the service of a case.
	start func(s *stage) (service, error)
	// listen makes a way of a replica to the service, through the gate.
	listen func(r *replica) (address string, err error)
	// understand names the operation of a call.
	understand func(c *call, r *http.Request)
	// inCluster picks the calls to the provider from those to the API server. Nil means that none are there.
	inCluster func(r *http.Request) bool
	// short is how many cases "make test" plays.
	short int
}

// providers in a fixed order: the numbers of cases follow from it.
func providers() []*provider {
	return []*provider{cloudflareProvider(), azureProvider(), bindProvider(), externalDNSProvider()}
}

// named reports whether the lifecycles of the provider have the prefix, which is empty for those without one.
func (p *provider) named(prefix string) bool {
	return p == nil && prefix == "" || p != nil && p.prefix == prefix
}

// publishing is the call that publishes records.
func (p *provider) publishing() string { return p.changes[0] }

// service is a provider in one case, with the zone example.com. As a handler it carries out the calls of the operator.
type service interface {
	http.Handler
	// zone is the ID of the zone, and records are those that it holds now.
	zone() string
	records() []placed
	// wants are the records that lead a domain of an object to CloudFront.
	wants(domain string, o *tenantObject) []placed
	// batch is what a call changes where the zone holds these records.
	batch(c call, now []placed) sentBatch
	// refuse answers a call as the service words what the code means at AWS.
	refuse(x *exchange, status int, code string)
	// account is what the administrator's file says of the account if the service is at the address, and the keys of its Secret.
	account(address string) (entry map[string]any, secret map[string]string)
	// server is the name server that is the last to know of a change.
	server() string
	// lag has name servers show what is new only later, by so much or as usual where that is zero.
	lag(d time.Duration)
	close() error
}

// placed is a record in a zone.
type placed struct {
	name, kind, value string
	ttl               int64
	// note is what else is said of it, and version differs from that of any other record at its place.
	note, version string
}

// String is all but the version.
func (p placed) String() string {
	return fmt.Sprintf("%s %s %s %d %s", p.kind, p.name, p.value, p.ttl, p.note)
}

func (p placed) change(action string) sentChange {
	c := sentChange{Action: action}
	c.Set.Name, c.Set.Type, c.Set.TTL, c.Set.Values = p.name, p.kind, p.ttl, []string{p.value}
	return c
}

func (p placed) leads() bool {
	return (p.kind == "CNAME" || p.kind == endpointKind) && strings.HasSuffix(p.value, ".cloudfront.net")
}

// ownerNote is what a provider keeps with a record of an object.
func ownerNote(o *tenantObject) string {
	return fmt.Sprintf("cloudfront-tenant-operator cluster=%s object=%s/%s", clusterID, o.Namespace, o.Name)
}

// elsewhere is the service of a case, and what oracles ask of it. Its methods for what is there may be called without one.
type elsewhere struct {
	service

	stage    *stage
	provider *provider
	// base are the records of other people.
	base []placed

	// ending is closed when the name that moves is not watched any more, and polled once it is not.
	ending, polled chan struct{}

	mu sync.Mutex
	// led are the names that ever led to CloudFront here, and changes how many records were changed.
	led     map[string]bool
	changes int
}

func newElsewhere(s *stage) (*elsewhere, error) {
	e := &elsewhere{stage: s, provider: s.lifecycle.provider, led: map[string]bool{}, ending: make(chan struct{}), polled: make(chan struct{})}
	var err error
	if e.service, err = e.provider.start(s); err != nil {
		return nil, fmt.Errorf("starting %s: %w", e.provider.title, err)
	}
	e.base = e.records()
	return e, nil
}

// pollEvery is well within the time for which a name can be gone before something else happens.
const pollEvery = 200 * time.Millisecond

// poll looks at a name that moves also while nothing is changed: what servers show changes later than what zones hold. It
// looks at all names where the operator does not change the zone itself.
func (e *elsewhere) poll() {
	defer close(e.polled)
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for e.stage.lifecycle.moves != "" || e.provider.inCluster != nil {
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
	return e.service.close()
}

// accountsFile writes what the administrator says of the account, with a way out of its own.
func (r *replica) accountsFile() (string, error) {
	e := r.stage.elsewhere
	address, err := e.provider.listen(r)
	if err != nil {
		return "", err
	}
	entry, secret := e.account(address)
	entry["name"], entry["provider"], entry["rate"], entry["burst"] = "main", e.provider.name, 100, 100
	credentials := filepath.Join(r.dir, r.name+"-secret")
	if len(secret) > 0 {
		entry["credentials"] = credentials
	}
	if err := os.MkdirAll(credentials, 0o700); err != nil {
		return "", err
	}
	for key, value := range secret {
		if err := os.WriteFile(filepath.Join(credentials, key), []byte(value), 0o600); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"accounts": []any{entry}})
	if err != nil {
		return "", err
	}
	file := filepath.Join(r.dir, r.name+"-accounts.yaml")
	return file, os.WriteFile(file, text, 0o600)
}

// ServeHTTP implements http.Handler. Names are looked at before and after each change.
func (e *elsewhere) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := e.stage.gate.understand(dnsSide, r)
	if !c.writes {
		e.service.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body, c.body = io.NopCloser(bytes.NewReader(body)), body
	batch, answer := e.batchOf(c), httptest.NewRecorder()
	e.watch("before " + c.operation)
	e.service.ServeHTTP(answer, r)
	if answer.Code < http.StatusMultipleChoices {
		e.mu.Lock()
		e.changes += len(batch.Changes)
		for _, c := range batch.Changes {
			r := c.record()
			e.led[r.name] = e.led[r.name] || c.Action == "CREATE" && placed{kind: r.kind, value: r.value}.leads()
		}
		e.mu.Unlock()
	}
	e.watch(c.operation)
	deliver(w, answer, answer.Body.Len())
}

// batchOf reads what a call changes as a batch of Route 53, so that the same is asked of both.
func (e *elsewhere) batchOf(c call) sentBatch { return e.batch(c, e.records()) }

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

// state are all records that there are now, with their versions.
func (e *elsewhere) state() (out []string) {
	if e == nil {
		return nil
	}
	for _, r := range e.records() {
		out = append(out, r.String()+" "+r.version)
	}
	return out
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
		if r.leads() {
			out[r.name] = r.value
		}
	}
	e.mu.Lock()
	led := maps.Clone(e.led)
	e.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(led)) {
		if led[name] && out[name] == "" && e.shows(name) {
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
	answer, err := dns.ExchangeContext(e.stage.ctx, question, e.server())
	for tries := 0; err != nil && tries < 3; tries++ {
		answer, err = dns.ExchangeContext(e.stage.ctx, question, e.server())
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
			return r.A.String() == e.provider.address
		}
		return false
	})
}

// routedFor is where the names of an object lead at the provider that it asks for.
func (s *stage) routedFor(o *tenantObject) map[string]string {
	if o.Spec.DNS.Provider == v1alpha1.DNSProviderRoute53 {
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
		want[e.zone()] = append(want[e.zone()], r.String())
	}
	for _, r := range e.records() {
		got[e.zone()] = append(got[e.zone()], r.String())
	}
}

// demand adds the records of a domain.
func (e *elsewhere) demand(want map[string][]string, domain string, o *tenantObject) {
	for _, r := range e.wants(domain, o) {
		want[e.zone()] = append(want[e.zone()], r.String())
	}
}

// lagsElsewhere has the name servers of the provider show what is new late for a while.
func lagsElsewhere(d time.Duration) func(*stage) {
	return func(s *stage) {
		s.elsewhere.lag(d)
		s.gate.note("name servers lag")
		s.later(d, func() {
			s.gate.note("name servers lag no more")
			s.elsewhere.lag(0)
		})
	}
}

// zoneIn is the zone that a call to Route 53 is about.
func zoneIn(c call) string {
	_, rest, _ := strings.Cut(c.target, "/2013-04-01/hostedzone/")
	zone, _, _ := strings.Cut(rest, "/")
	return zone
}

// pathOf is the path of a call.
func pathOf(c call) string {
	fields := strings.Fields(c.target)
	if len(fields) < 2 {
		return ""
	}
	path, _, _ := strings.Cut(fields[1], "?")
	return path
}
