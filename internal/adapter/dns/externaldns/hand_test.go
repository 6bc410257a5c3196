package externaldns_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// edits are what people do to the DNSEndpoint of a name, by what one would say of it.
var edits = []struct {
	says string
	do   func(o *unstructured.Unstructured, name string)
	// writes is how many calls of the operator it takes to have it as it was.
	writes int
}{
	{"it is emptied", func(o *unstructured.Unstructured, _ string) { setEndpoints(o) }, 1},
	{"its target is changed", func(o *unstructured.Unstructured, name string) {
		setEndpoints(o, entry(name, 300, "elsewhere.example.net"))
	}, 1},
	{"its TTL is changed", func(o *unstructured.Unstructured, name string) { setEndpoints(o, entry(name, 60, target)) }, 1},
	{"it is for another name", func(o *unstructured.Unstructured, name string) { setEndpoints(o, entry("moved-"+name, 300, target)) }, 1},
	{"another name is added", func(o *unstructured.Unstructured, name string) {
		setEndpoints(o, entry(name, 300, target), entry("more-"+name, 300, target))
	}, 1},
	{"ExternalDNS's label is removed", func(o *unstructured.Unstructured, _ string) { unlabel(o, "edge") }, 1},
	{"its memory is removed", func(o *unstructured.Unstructured, _ string) { annotate(o, "published", "") }, 1},
	{"its memory can't be read", func(o *unstructured.Unstructured, _ string) { annotate(o, "published", "{") }, 1},
	{"its memory is of another name", func(o *unstructured.Unstructured, name string) {
		annotate(o, "published", `[{"dnsName":"x.`+name+`","recordType":"CNAME","recordTTL":300,"targets":["`+target+`"]}]`)
	}, 1},
	{"it is emptied, and its memory removed", func(o *unstructured.Unstructured, _ string) {
		setEndpoints(o)
		annotate(o, "published", "")
	}, 1},
	{"its target is changed, and its memory removed", func(o *unstructured.Unstructured, name string) {
		setEndpoints(o, entry(name, 300, "elsewhere.example.net"))
		annotate(o, "published", "")
	}, 1},
	{"a property is added that its service needs", func(o *unstructured.Unstructured, name string) {
		e, _ := entry(name, 300, target).(map[string]any)
		e["providerSpecific"] = []any{map[string]any{"name": "alias", "value": "false"}}
		setEndpoints(o, e)
	}, 0},
}

func label(n int) string { return "n" + string(rune('a'+n)) }

// publishAll has a tenant for each edit, all of them published.
func (r *rig) publishAll() {
	r.t.Helper()
	for n := range edits {
		r.tenant(label(n))
	}
	r.run(15 * time.Minute)
	for _, o := range r.tenants {
		if o.state() != dns.Published {
			r.t.Fatalf("%s is %s, want it published", o.record.Name, o.state())
		}
	}
}

// Changes that users make to a DNSEndpoint are undone, once, and with the record in place all the time where
// ExternalDNS is slow.
func testEditsAreUndone(t *testing.T, all *servers) {
	t.Helper()
	r := all.rig(t)
	r.publishAll()
	before := r.endpoints()
	r.stalled = true
	writes := 0
	for n, e := range edits {
		r.edit(r.tenants[n].record.Name, func(o *unstructured.Unstructured) { e.do(o, r.tenants[n].record.Name) })
		writes += e.writes
	}
	mutating, _ := r.wire.calls()
	r.run(25 * time.Minute)
	r.stalled = false
	r.run(time.Hour)
	if now, _ := r.wire.calls(); now-mutating != writes {
		t.Errorf("%d writes within an hour, want %d", now-mutating, writes)
	}
	for n, e := range edits {
		o := r.tenants[n]
		if got := r.shows(o); o.state() != dns.Published || !slices.Equal(got, []string{target}) {
			t.Errorf("%s: the ledger says %s, and servers show %v", e.says, o.state(), got)
		}
		was, is := before[n], r.object(o.record.Name)
		if e.writes == 0 {
			continue
		}
		want, _, _ := unstructured.NestedFieldNoCopy(was.Object, "spec")
		got, _, _ := unstructured.NestedFieldNoCopy(is.Object, "spec")
		if !equalJSON(want, got) || !equalJSON(was.GetLabels(), is.GetLabels()) || !equalJSON(was.GetAnnotations(), is.GetAnnotations()) {
			t.Errorf("%s: the object is %v, want it as it was: %v", e.says, is.Object, was.Object)
		}
	}
	if got := r.records(); len(got) != len(edits) {
		t.Errorf("the zone has %v, want a record of each of the %d tenants", got, len(edits))
	}
}

// Whatever people do to a DNSEndpoint, its tenant is released when the record is gone, and the object is deleted then.
func testEditsKeepNothingFromLeaving(t *testing.T, all *servers) {
	t.Helper()
	r := all.rig(t)
	r.publishAll()
	r.stalled = true
	for n, e := range edits {
		r.edit(r.tenants[n].record.Name, func(o *unstructured.Unstructured) { e.do(o, r.tenants[n].record.Name) })
		r.want(r.tenants[n])
	}
	mutating, _ := r.wire.calls()
	r.run(time.Hour)
	if now, _ := r.wire.calls(); now-mutating > len(edits) {
		t.Errorf("%d writes while ExternalDNS is down, want one for each of the %d objects", now-mutating, len(edits))
	}
	for n, e := range edits {
		if o := r.tenants[n]; o.state() != dns.Retracting || r.object(o.record.Name) == nil {
			t.Errorf("%s: the ledger is %v while servers show the record", e.says, o.Ledger)
		}
	}
	r.restart()
	r.run(20 * time.Minute)
	r.stalled = false
	r.run(2 * time.Hour)
	for n, e := range edits {
		if o := r.tenants[n]; o.state() != "" {
			t.Errorf("%s: %+v", e.says, r.standing(o))
		}
	}
	if left, records := r.endpoints(), r.records(); len(left) > 0 || len(records) > 0 {
		t.Errorf("the namespace keeps %v, and the zone %v", left, records)
	}
}

// An object that was emptied waits for ExternalDNS, whatever people do to it meanwhile.
func testEditsWhileLeaving(t *testing.T, all *servers) {
	t.Helper()
	r := all.rig(t)
	r.publishAll()
	r.stalled = true
	for _, o := range r.tenants {
		r.want(o)
	}
	r.run(15 * time.Minute)
	for n, e := range edits {
		r.edit(r.tenants[n].record.Name, func(o *unstructured.Unstructured) { e.do(o, r.tenants[n].record.Name) })
	}
	r.run(30 * time.Minute)
	r.stalled = false
	r.run(2 * time.Hour)
	for n, e := range edits {
		if o := r.tenants[n]; o.state() != "" {
			t.Errorf("%s: %+v", e.says, r.standing(o))
		}
	}
	if left, records := r.endpoints(), r.records(); len(left) > 0 || len(records) > 0 {
		t.Errorf("the namespace keeps %v, and the zone %v", left, records)
	}
}

// An object that does not say that it is this operator's is left alone, and so is its record. The tenant is told.
func testAnObjectThatIsNotOursIsLeftAlone(t *testing.T, all *servers) {
	t.Helper()
	r := all.rig(t)
	disown := []func(o *unstructured.Unstructured){
		func(o *unstructured.Unstructured) { unlabel(o, "app.kubernetes.io/managed-by") },
		func(o *unstructured.Unstructured) { annotate(o, "cluster-id", "another") },
		func(o *unstructured.Unstructured) { annotate(o, "zone", "") },
		func(o *unstructured.Unstructured) { annotate(o, "dns-name", "other."+r.zone) },
	}
	for n := range disown {
		r.tenant(label(n))
	}
	r.run(15 * time.Minute)
	for n, o := range r.tenants {
		r.edit(o.record.Name, disown[n])
	}
	r.run(20 * time.Minute)
	mutating, _ := r.wire.calls()
	for n, o := range r.tenants {
		if got := r.shows(o); o.state() != dns.Published || !slices.Equal(got, []string{target}) {
			t.Errorf("case %d: the ledger says %s, and servers show %v", n, o.state(), got)
		}
		r.want(o)
	}
	r.run(time.Hour)
	if now, _ := r.wire.calls(); now != mutating || len(r.endpoints()) != len(disown) {
		t.Errorf("%d writes, want none, and %d objects", now-mutating, len(r.endpoints()))
	}
	for n, o := range r.tenants {
		s := r.standing(o)
		if s.Phase != dns.Refused || s.Err == nil || !strings.Contains(s.Err.Message, "is not the operator's: delete it") {
			t.Errorf("case %d: the tenant is told %+v, want whose object to delete", n, s)
		}
		r.deleteEndpoint(o.record.Name)
	}
	r.run(2 * time.Hour)
	r.wantGone()
}

// A DNSEndpoint that is deleted by hand is created again once ExternalDNS has taken its record away. While servers show that,
// no tenant is released.
func testObjectsAreDeletedByHand(t *testing.T, all *servers) {
	t.Helper()
	r := all.rig(t)
	stays, leaves, gone := r.tenant("stays"), r.tenant("leaves"), r.tenant("gone")
	r.run(15 * time.Minute)
	r.stalled = true
	for _, o := range r.tenants {
		r.deleteEndpoint(o.record.Name)
	}
	r.want(leaves)
	r.run(30 * time.Minute)
	r.restart()
	r.run(30 * time.Minute)
	r.want(gone)
	r.run(time.Hour)
	for _, o := range []*tenant{leaves, gone} {
		s := r.standing(o)
		if o.state() != dns.Retracting || s.Phase != dns.Refused || !strings.Contains(s.Err.Message, "delete it where it was made") {
			t.Errorf("%s: the ledger has %v, and the tenant is told %+v", o.record.Name, o.Ledger, s)
		}
	}
	r.stalled = false
	mutating, _ := r.wire.calls()
	r.run(3 * time.Hour)
	if now, _ := r.wire.calls(); now-mutating != 1 {
		t.Errorf("%d writes, want the one that creates the object that stays", now-mutating)
	}
	if leaves.state() != "" || gone.state() != "" || stays.state() != dns.Published || !slices.Equal(r.shows(stays), []string{target}) {
		t.Errorf("ledgers: %v (%+v), %v, %v, want only the last to have its record", leaves.Ledger, r.standing(leaves), gone.Ledger, stays.Ledger)
	}
	if got := len(r.endpoints()); got != 1 {
		t.Errorf("there are %d objects, want the one that stays", got)
	}
}

// A record that servers show without an object is not the operator's, and is neither replaced nor deleted.
func testRecordsOfOthers(t *testing.T, all *servers) {
	t.Helper()
	r := all.rig(t)
	line := func(name, rest string) string { return name + "." + r.zone + ". 300 IN " + rest }
	foreign := []string{
		line("equal", "CNAME "+target+"."), line("other", "CNAME elsewhere.example.net."), line("address", "A 192.0.2.1"),
		line("text", `TXT "text"`), line("mail", "MX 10 mx.example.net."), line("caa", `CAA 0 issue "ca.example.net"`),
		line("service", "SRV 1 1 443 host.example.net."), line("https", "HTTPS 1 . alpn=h2"), line("cut", "NS ns.example.net."),
	}
	must(t, all.primary.AddByHand(t.Context(), r.zone, foreign...))
	before, err := all.primary.Records(t.Context(), r.zone)
	must(t, err)
	for _, l := range foreign {
		r.tenant(strings.Split(l, ".")[0])
	}
	r.tenant("below.cut")
	r.run(2 * time.Hour)
	if after, err := all.primary.Records(t.Context(), r.zone); err != nil || !slices.Equal(before, after) || len(r.endpoints()) > 0 {
		t.Errorf("the zone has %v, error %v, want it as before: %v; objects: %d", after, err, before, len(r.endpoints()))
	}
	for _, o := range r.tenants {
		s := r.standing(o)
		if o.state() == dns.Published || s.Phase != dns.Blocked && s.Phase != dns.There && s.Phase != dns.Refused {
			t.Errorf("%s: the ledger has %v, and the tenant is told %+v", o.record.Name, o.Ledger, s)
		}
		if o.writes > 3 {
			t.Errorf("%s: the ledger was stored %d times", o.record.Name, o.writes)
		}
	}
	// The tenants are deleted, and the records stay.
	for _, o := range r.tenants {
		r.want(o)
	}
	r.run(time.Hour)
	for _, o := range r.tenants {
		if o.state() != "" {
			t.Errorf("%s: the ledger has %v", o.record.Name, o.Ledger)
		}
	}
	if mutating, _ := r.wire.calls(); mutating > 0 {
		t.Errorf("%d writes, want none", mutating)
	}
}

// An object of a user with the name that the operator's would have is left alone.
func testAPersonsObject(t *testing.T, all *servers) {
	t.Helper()
	r := all.rig(t)
	theirs := &unstructured.Unstructured{}
	name := "www." + r.zone
	setEndpoints(theirs, entry("theirs."+r.zone, 300, "elsewhere.example.net"))
	r.putEndpoint(theirs, name)
	o := r.tenant("www")
	r.run(time.Hour)
	s := r.standing(o)
	if o.state() != dns.Intended || s.Phase != dns.Refused || s.Err.Kind != fault.Exists || !strings.Contains(s.Err.Message, r.namespace+"/"+name+" is not the operator's") {
		t.Errorf("the ledger has %v, and the tenant is told %+v", o.Ledger, s)
	}
	if got := r.object(name); got == nil || got.GetGeneration() != 1 {
		t.Errorf("the person's object is %v", got)
	}
	r.want(o)
	r.run(10 * time.Minute)
	if o.state() != "" {
		t.Errorf("the ledger has %v, want nothing: nothing was published", o.Ledger)
	}
}

func TestByHand(t *testing.T) {
	rows := []struct {
		says string
		play func(*testing.T, *servers)
	}{
		{"edits are undone", testEditsAreUndone},
		{"edits keep nothing from leaving", testEditsKeepNothingFromLeaving},
		{"edits while leaving", testEditsWhileLeaving},
		{"an object that is not ours is left alone", testAnObjectThatIsNotOursIsLeftAlone},
		{"objects are deleted by hand", testObjectsAreDeletedByHand},
		{"records of others", testRecordsOfOthers},
		{"a person's object", testAPersonsObject},
	}
	all := newServers(t, len(rows))
	for _, row := range rows {
		t.Run(row.says, func(t *testing.T) { row.play(t, all) })
	}
}
