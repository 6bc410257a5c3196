package distributiontenant_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	wire "github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/cloudflare"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	cfsim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/cloudflare"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/zone"
)

const (
	cfToken = "test-token"
	// visibleAfter is how long Cloudflare's name servers lag.
	visibleAfter = 15 * time.Second
)

// mainAccount is the account that exists from the start.
var mainAccount = dns.Provider{Service: dns.Cloudflare, Account: "main"}

// cfRig is a rig with a Cloudflare that has a zone of the same name as one at Route 53. Both are looked at before and after
// every change of either.
type cfRig struct {
	*rig

	cf         *cfsim.Sim
	zone       cfsim.Zone
	api, names string
	// accounts are those that the administrator has configured.
	accounts map[dns.Provider]bool
	further  zone.Providers
	cfBase   []cfsim.Record
	// always are names that have to be served at all times, and unserved is when they were not.
	always   []string
	unserved []string
}

// newCFRig makes a rig with one account. further are other providers.
func newCFRig(t *testing.T, o rigOptions, further zone.Providers) *cfRig {
	t.Helper()
	r := &cfRig{accounts: map[dns.Provider]bool{mainAccount: true}, further: further}
	o.options.Providers = r.providers
	r.rig = newRig(t, o)
	r.sampled = func(v sim.View) { r.sample(v.Operation, v.PublicRouting(), v.Domains()) }
	r.cf = cfsim.New(cfsim.Options{Now: r.Clock.Now, VisibleAfter: visibleAfter})
	r.cf.AddToken(cfsim.Token{Value: cfToken, ReadsZones: true, EditsDNS: true})
	r.zone = r.cf.AddZone(cfsim.Zone{Name: "example.com"})
	ten := 10
	for _, s := range []cfsim.Record{
		{Name: "example.com", Type: "MX", Content: "mail.example.com", TTL: 3600, Priority: &ten},
		{Name: "example.com", Type: "TXT", Content: `"v=spf1 -all"`, TTL: 60},
		{Name: "other.example.com", Type: "CNAME", Content: "elsewhere.example.org", TTL: 1, Proxied: true, Comment: "not the operator's"},
		{Name: "_cf-challenge.other.example.com", Type: "TXT", Content: `"` + mainEndpoint + `"`, TTL: 1},
	} {
		r.cf.PutRecord(r.zone.ID, s)
	}
	r.cfBase = r.cf.Records(r.zone.ID)
	r.serve()
	t.Cleanup(r.check)
	return r
}

// serve starts the API and the name servers.
func (r *cfRig) serve() {
	r.t.Helper()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.Method == http.MethodGet {
			r.cf.ServeHTTP(w, q)
			return
		}
		r.sampleNow("before a change at Cloudflare")
		r.cf.ServeHTTP(w, q)
		r.sampleNow("after a change at Cloudflare")
	}))
	r.t.Cleanup(api.Close)
	server, err := r.cf.StartDNS(r.t.Context(), "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			r.t.Error(err)
		}
	})
	r.api, r.names = api.URL+"/client/v4", server.Address
}

// providers makes the clients of a process, which follow the accounts.
func (r *cfRig) providers(p world.Process) func() zone.Providers {
	clients := zone.Providers{}
	return func() zone.Providers {
		out := zone.Providers{}
		for name := range r.accounts {
			if clients[name] == nil {
				clients[name] = r.client(p, name)
			}
			out[name] = clients[name]
		}
		maps.Copy(out, r.further)
		return out
	}
}

func (r *cfRig) client(p world.Process, name dns.Provider) port.DNS {
	client, err := cloudflare.New(cloudflare.Config{
		Token: func() string { return cfToken }, BaseURL: r.api, NameServers: []string{r.names}, ClusterID: world.ClusterID, Clock: p.Clock,
		HTTPClient: &http.Client{Transport: p.Transport(http.DefaultTransport)}, Gate: unlimited(r.t, p, name),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return client
}

func unlimited(t *testing.T, p world.Process, name dns.Provider) *calls.Gate {
	t.Helper()
	metrics, err := calls.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	return calls.New(calls.Config{Provider: name, Rate: 1e6, Burst: 1e6, Clock: p.Clock, Metrics: metrics})
}

// configure is what the administrator does to the accounts.
func (r *cfRig) configure(accounts ...dns.Provider) {
	clear(r.accounts)
	for _, a := range accounts {
		r.accounts[a] = true
	}
	r.WakeAll()
}

// check looks at what has to be so in the end, whatever was played.
func (r *cfRig) check() {
	for _, u := range r.unserved {
		r.t.Error(u)
	}
	now := r.cf.Records(r.zone.ID)
	for _, b := range r.cfBase {
		if !slices.ContainsFunc(now, func(n cfsim.Record) bool { return cmp.Equal(n, b) }) {
			r.t.Errorf("a foreign record was changed or deleted at Cloudflare: %+v", b)
		}
	}
}

// sampleNow looks at both services. It must not be called by AWS.
func (r *cfRig) sampleNow(moment string) {
	held := map[string]string{}
	for _, s := range r.AllInAWS() {
		for name := range s.Domains {
			held[name] = s.Name
		}
	}
	r.sample(moment, r.Sim.PublicRouting(), held)
}

// sample wants names that lead to CloudFront to have a tenant, and those that are to be served always to be served.
func (r *cfRig) sample(moment string, routed, held map[string]string) {
	at := r.Clock.Now().Format(time.TimeOnly)
	published := map[string]bool{}
	for _, c := range r.cf.Records(r.zone.ID) {
		if c.Type != "CNAME" || !strings.HasSuffix(c.Content, ".cloudfront.net") {
			continue
		}
		published[c.Name] = true
		if held[c.Name] == "" && !r.exempt[c.Name] {
			r.dangling = append(r.dangling, fmt.Sprintf("%s leads to %s at Cloudflare, at %s (%s)", c.Name, c.Content, at, moment))
		}
	}
	for _, name := range r.always {
		if routed[name] == "" && !(published[name] && r.shown(name) != "") {
			r.unserved = append(r.unserved, fmt.Sprintf("%s led nowhere at %s (%s)", name, at, moment))
		}
	}
}

// shown is where a name leads by the word of Cloudflare's name servers; an address where the name is flattened.
func (r *cfRig) shown(name string) string {
	answer, err := wire.ExchangeContext(r.t.Context(), new(wire.Msg).SetQuestion(wire.Fqdn(name), wire.TypeA), r.names)
	if err != nil {
		r.t.Errorf("asking for %s: %v", name, err)
		return ""
	}
	for _, rr := range answer.Answer {
		switch rr := rr.(type) {
		case *wire.CNAME:
			return strings.TrimSuffix(rr.Target, ".")
		case *wire.A:
			return rr.A.String()
		}
	}
	return ""
}

// watched lets time pass, second by second.
func (r *cfRig) watched(d time.Duration) {
	r.t.Helper()
	for range d / time.Second {
		r.Advance(time.Second)
		r.sampleNow("as time passes")
	}
}

// atCF are our records at Cloudflare, each as "TYPE name content TTL".
func (r *cfRig) atCF() []string {
	out := []string{}
	for _, c := range r.cf.Records(r.zone.ID) {
		if !slices.ContainsFunc(r.cfBase, func(b cfsim.Record) bool { return b.ID == c.ID }) {
			out = append(out, fmt.Sprintf("%s %s %s %d", c.Type, c.Name, c.Content, c.TTL))
		}
	}
	return out
}

func (r *cfRig) cfHas(records ...string) {
	r.t.Helper()
	if records == nil {
		records = []string{}
	}
	slices.Sort(records)
	got := r.atCF()
	slices.Sort(got)
	if d := cmp.Diff(records, got); d != "" {
		r.t.Errorf("our records at Cloudflare (-want +got):\n%s", d)
	}
}

// served makes an object and waits until it is Ready.
func (r *cfRig) serving(name string, change ...edit) *v1alpha1.DistributionTenant {
	r.t.Helper()
	o := r.rig.serving(name, change...)
	if r.t.Failed() {
		r.t.Fatalf("%s\n%s", r.Describe(name), r.story())
	}
	return o
}

// at asks for records at another provider than Route 53.
func at(p dns.Provider) func(*v1alpha1.DNS) {
	return func(d *v1alpha1.DNS) { d.Provider, d.Account = v1alpha1.DNSProvider(p.Service), p.Account }
}

// atCloudflare asks for records there, with whichever account there is.
func atCloudflare(change ...func(*v1alpha1.DNS)) edit {
	return withDNS(append([]func(*v1alpha1.DNS){at(dns.Provider{Service: dns.Cloudflare})}, change...)...)
}
