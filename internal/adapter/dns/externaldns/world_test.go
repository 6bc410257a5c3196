package externaldns_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/externaldns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/dnssuite"
	realdns "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/externaldns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/nameserver"
)

const (
	clusterID = "test-cluster"
	otherZone = "other.example"
	user      = "system:serviceaccount:operator:operator"
)

// servers are what worlds have in common: a BIND with a zone for each of them, and one that has none.
type servers struct {
	primary, empty *nameserver.Server
	zones          []nameserver.Zone
	next           int
}

func newServers(t *testing.T, worlds int) *servers {
	t.Helper()
	s := &servers{zones: []nameserver.Zone{{Name: otherZone}}}
	for n := range worlds {
		s.zones = append(s.zones, nameserver.Zone{Name: "c" + string(rune('a'+n/26)) + string(rune('a'+n%26)) + ".example"})
	}
	var err error
	s.primary, err = nameserver.Start(t.Context(), nameserver.Options{Zones: s.zones})
	must(t, err)
	t.Cleanup(func() { must(t, s.primary.Close()) })
	s.empty, err = nameserver.Start(t.Context(), nameserver.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, s.empty.Close()) })
	return s
}

// worlds counts them: each has a namespace of its own.
var worlds int

// world is a namespace with DNSEndpoints, the ExternalDNS that publishes them in a zone of a BIND, and the adapter.
type world struct {
	t         testing.TB
	zone      string
	namespace string
	hand      dnssuite.Server
	front     *nameserver.Front
	empty     *nameserver.Server
	external  *realdns.ExternalDNS
	wire      *wire
	clock     *clocktesting.FakeClock
	// round is when ExternalDNS did something, and stalled keeps it from that.
	round   time.Time
	stalled bool
	// interval is how often it does.
	interval time.Duration
}

func (s *servers) world(t *testing.T) *world {
	t.Helper()
	s.next++
	w := &world{
		t: t, interval: time.Minute, zone: s.zones[s.next].Name, hand: dnssuite.Server{TB: t, Server: s.primary}, empty: s.empty,
		clock: clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)),
	}
	worlds++
	w.namespace = fmt.Sprintf("world-%d", worlds)
	must(t, admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}))
	w.allow()
	// A server keeps the address of a name server that is in the zone, and the suite's zones have nothing in them.
	must(t, s.primary.AddByHand(t.Context(), w.zone, w.zone+". 300 IN NS ns.example.net."))
	must(t, s.primary.DeleteByHand(t.Context(), w.zone, w.zone+". 300 IN NS ns1."+w.zone+"."))
	must(t, s.primary.DeleteByHand(t.Context(), w.zone, "ns1."+w.zone+". 300 IN A 127.0.0.1"))
	w.front = nameserver.NewFront(t, s.primary.Address())
	var err error
	w.external, err = realdns.Start(t.Context(), realdns.Options{
		Config: plane.RESTConfig(), Namespace: w.namespace, LabelFilter: "edge=true", Server: s.primary, Zones: []string{w.zone}, Owner: "test",
	})
	must(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("ExternalDNS:\n%s", w.external.Log(20))
		}
		must(t, w.external.Close())
	})
	return w
}

// allow gives the operator's user the rights that the chart gives.
func (w *world) allow() {
	w.t.Helper()
	meta := metav1.ObjectMeta{Namespace: w.namespace, Name: "operator"}
	must(w.t, admin.Create(w.t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{"externaldns.k8s.io"}, Resources: []string{"dnsendpoints"}, Verbs: []string{"get", "list", "create", "update", "delete"},
	}}}))
	must(w.t, admin.Create(w.t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "operator"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}))
}

// deny takes the right to change anything from the operator's user, or gives it back. Rights apply a moment later.
func (w *world) deny(denied bool) {
	w.t.Helper()
	w.wire.as(map[bool]string{false: user, true: "a-stranger"}[denied])
}

var access = dns.Access{Provider: dns.Provider{Service: dns.ExternalDNS, Account: "main"}}

// adapter makes the one under test.
func (w *world) adapter(change ...func(*externaldns.Config)) *externaldns.DNS {
	w.t.Helper()
	config := plane.RESTConfig()
	config.QPS = -1 // as the operator has it
	w.wire = &wire{user: user, left: -1}
	config.WrapTransport = func(next http.RoundTripper) http.RoundTripper {
		w.wire.next = next
		return w.wire
	}
	kube, err := client.New(config, client.Options{})
	must(w.t, err)
	metrics, err := calls.NewMetrics(prometheus.NewRegistry())
	must(w.t, err)
	c := externaldns.Config{
		Client: kube, Namespace: w.namespace, Labels: map[string]string{"edge": "true"}, Domains: []string{w.zone, otherZone},
		NameServers: []string{w.front.Address()}, ClusterID: clusterID, Clock: w.clock,
		Gate: calls.New(calls.Config{Provider: access.Provider, Rate: 1000, Burst: 1000, Clock: w.clock, Metrics: metrics}),
	}
	for _, f := range change {
		f(&c)
	}
	d, err := externaldns.New(c)
	must(w.t, err)
	return d
}

// settle lets ExternalDNS do what it does from time to time.
func (w *world) settle() {
	w.t.Helper()
	if now := w.clock.Now(); !w.stalled && now.Sub(w.round) >= w.interval {
		w.round = now
		must(w.t, w.external.Round(w.t.Context()))
	}
}

// wire is what the operator's calls pass on their way to the API server.
type wire struct {
	next http.RoundTripper

	mu            sync.Mutex
	user          string
	before, after bool
	mutating, all int
	// left is how many calls are carried out until the process is killed; negative for no end. With committed the last of them
	// has no answer.
	left      int
	committed bool
	// limit replaces that of listings, and expired is how many of their later pages have expired.
	limit   string
	expired int
	// fails answers instead of the API server, if it has an answer.
	fails func(*http.Request) *http.Response
}

// die kills the process after n calls.
func (w *wire) die(after int, committed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left, w.committed = after, committed
}

func (w *wire) as(user string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.user = user
}

// identity is who calls; empty for the administrator.
func (w *wire) identity() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.user
}

func (w *wire) lose(after bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.before, w.after = !after, after
}

func (w *wire) calls() (mutating, all int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mutating, w.all
}

var errLost = errors.New("the connection is lost")

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.Contains(r.URL.Path, "/dnsendpoints") {
		return w.next.RoundTrip(r) // it finds out which kinds there are
	}
	r = r.Clone(r.Context())
	if user := w.identity(); user != "" {
		r.Header.Set("Impersonate-User", user)
	}
	before, after, instead := w.fate(r)
	switch {
	case before:
		return nil, errLost
	case instead != nil:
		return instead, nil
	}
	response, err := w.next.RoundTrip(r)
	if err == nil && after {
		_ = response.Body.Close()
		return nil, errLost
	}
	return response, err
}

// fate is what becomes of a call.
func (w *wire) fate(r *http.Request) (before, after bool, instead *http.Response) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all++
	if r.Method != http.MethodGet {
		w.mutating++
		before, after = w.before, w.after
		w.before, w.after = false, false
	}
	before = before || w.left == 0
	w.left = max(w.left-1, min(w.left, 0))
	after = after || w.left == 0 && w.committed
	query := r.URL.Query()
	if query.Has("limit") && w.limit != "" {
		query.Set("limit", w.limit)
		r.URL.RawQuery = query.Encode()
	}
	if query.Get("continue") != "" && w.expired > 0 {
		w.expired--
		instead = status(r, http.StatusGone, metav1.StatusReasonExpired)
	}
	if w.fails != nil && instead == nil {
		instead = w.fails(r)
	}
	return before, after, instead
}

// status is an answer of the API server that says that a call failed.
func status(r *http.Request, code int, reason metav1.StatusReason) *http.Response {
	body := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"message":"because","code":%d}`, reason, code)
	return &http.Response{
		StatusCode: code, Request: r, Header: http.Header{"Content-Type": []string{"application/json"}}, Body: io.NopCloser(strings.NewReader(body)),
	}
}
