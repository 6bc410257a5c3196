package externaldns_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/externaldns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	realdns "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/externaldns"
)

// Without the kind no object can be seen, and no tenant is released. Once it is there again what was lost is made again.
func testTheKindIsMissing(t *testing.T, all *servers) {
	t.Helper()
	r := all.rig(t)
	leaves, stays := r.tenant("leaves"), r.tenant("stays")
	r.run(15 * time.Minute)
	crd, err := realdns.CRD()
	must(t, err)
	must(t, admin.Delete(t.Context(), crd))
	r.stalled = true // it fails, and changes nothing
	await(t, func() bool {
		_, _, err := r.dns.ListRecords(t.Context(), r.zone, "")
		return err != nil
	})
	r.want(leaves)
	r.run(30 * time.Minute)
	if _, _, err := r.dns.ListRecords(t.Context(), r.zone, ""); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "install the CustomResourceDefinition") {
		t.Errorf("error %v is %s, want %s", err, fault.KindOf(err), fault.Denied)
	}
	if leaves.state() != dns.Retracting || stays.state() != dns.Published {
		t.Errorf("ledgers: %v, %v", leaves.Ledger, stays.Ledger)
	}
	r.restart()
	r.run(30 * time.Minute)
	if s := r.standing(leaves); leaves.state() != dns.Retracting || s.Err == nil || s.Err.Kind != fault.Denied {
		t.Errorf("the ledger has %v, and the tenant is told %+v", leaves.Ledger, s)
	}
	must(t, realdns.InstallCRD(plane.RESTConfig()))
	r.stalled = false
	r.run(4 * time.Hour)
	r.wantPublished(stays)
	if leaves.state() != "" {
		t.Errorf("the ledger has %v, %+v", leaves.Ledger, r.standing(leaves))
	}
}

func await(t *testing.T, is func() bool) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for range 200 {
		if is() {
			return
		}
		<-tick.C
	}
	t.Fatal("it never happens")
}

// Refusals of the API server are reported with the fix.
func testRefusals(t *testing.T, all *servers) {
	t.Helper()
	r := all.rig(t)
	must(t, admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.namespace + "-leaving"}}))
	held := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace + "-leaving", Name: "held", Finalizers: []string{"example.com/held"}}}
	must(t, admin.Create(t.Context(), held))
	must(t, admin.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.namespace + "-leaving"}}))
	created := []dns.Change{{Action: dns.Create, Set: r.cname("www", target).Set()}}
	status := func(code int, reason metav1.StatusReason) func(*externaldns.Config) {
		return func(*externaldns.Config) {
			r.wire.fails = func(q *http.Request) *http.Response {
				if q.Method == http.MethodGet {
					return nil
				}
				return status(q, code, reason)
			}
		}
	}
	for says, c := range map[string]struct {
		config func(*externaldns.Config)
		kind   fault.Kind
		text   string
	}{
		"the namespace is being deleted": {func(c *externaldns.Config) {
			c.Namespace = r.namespace + "-leaving"
			r.wire.as("")
		}, fault.Denied, "is being deleted"},
		"the namespace does not exist": {func(c *externaldns.Config) {
			c.Namespace = "nowhere"
			r.wire.as("")
		}, fault.Denied, "the namespace nowhere does not exist"},
		"there is no right to it":              {func(*externaldns.Config) { r.wire.as("a-stranger") }, fault.Denied, "check its Role"},
		"the API server fails":                 {status(500, metav1.StatusReasonInternalError), fault.Transient, "the API server failed"},
		"it asks for a slower pace":            {status(429, metav1.StatusReasonTooManyRequests), fault.Throttled, "slower pace"},
		"another has created it meanwhile":     {status(409, metav1.StatusReasonAlreadyExists), fault.Exists, "exists already"},
		"it does not take the object as it is": {status(422, metav1.StatusReasonInvalid), fault.Invalid, ""},
	} {
		client := r.adapter(c.config)
		_, err := client.Change(t.Context(), r.zone, created)
		if !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: error %v is %s, want %s with %q", says, err, fault.KindOf(err), c.kind, c.text)
		}
	}
	if left := r.endpoints(); len(left) > 0 {
		t.Errorf("there are objects: %v", left)
	}
	held.Finalizers = nil
	must(t, admin.Update(t.Context(), held))
}

// Records that ExternalDNS would publish and never delete, or never publish, are refused before anything is written.
func testWhatIsNotWritten(t *testing.T, all *servers) {
	t.Helper()
	r := all.rig(t)
	set := func(name, kind, value string) dns.RecordSet {
		return dns.RecordSet{Key: dns.Key{Name: name, Type: kind}, TTL: 300, Values: []string{value}}
	}
	for says, c := range map[string]struct {
		changes []dns.Change
		kind    fault.Kind
		text    string
	}{
		"nothing":                    {nil, fault.Invalid, "nothing to change"},
		"a text":                     {[]dns.Change{{Action: dns.Create, Set: set("a."+r.zone, dns.TXT, "text")}}, fault.Invalid, "only CNAME"},
		"a label of 58 characters":   {[]dns.Change{{Action: dns.Create, Set: r.cname(strings.Repeat("a", 58), target).Set()}}, fault.Invalid, "at most 57"},
		"a name in another zone":     {[]dns.Change{{Action: dns.Create, Set: set("www.example.org", dns.CNAME, target)}}, fault.Invalid, "not in the zone"},
		"a name that is none":        {[]dns.Change{{Action: dns.Create, Set: set("a..b."+r.zone, dns.CNAME, target)}}, fault.Invalid, "not a domain name"},
		"a deletion without object":  {[]dns.Change{{Action: dns.Delete, Set: r.cname("a", target).Set()}}, fault.Conflict, "delete it where it was made"},
		"a replacement of another's": {[]dns.Change{{Action: dns.Delete, Set: r.cname("a", "elsewhere.example.net").Set()}, {Action: dns.Create, Set: r.cname("a", target).Set()}}, fault.Invalid, "delete it where it was made"},
	} {
		_, err := r.dns.Change(t.Context(), r.zone, c.changes)
		if !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: error %v is %s, want %s with %q", says, err, fault.KindOf(err), c.kind, c.text)
		}
	}
	// Of two names the first is done, and the answer says that it may be.
	_, err := r.dns.Change(t.Context(), r.zone, []dns.Change{
		{Action: dns.Create, Set: r.cname("a", target).Set()}, {Action: dns.Delete, Set: r.cname("b", target).Set()},
	})
	if !fault.Is(err, fault.Transient) || len(r.endpoints()) != 1 {
		t.Errorf("error %v is %s with %d objects, want %s with one", err, fault.KindOf(err), len(r.endpoints()), fault.Transient)
	}
}

func TestErrors(t *testing.T) {
	rows := []struct {
		says string
		play func(*testing.T, *servers)
	}{
		{"refusals", testRefusals},
		{"what is not written", testWhatIsNotWritten},
		{"the kind is missing", testTheKindIsMissing},
	}
	all := newServers(t, len(rows))
	for _, row := range rows {
		t.Run(row.says, func(t *testing.T) { row.play(t, all) })
	}
}
