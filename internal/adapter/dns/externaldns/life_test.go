package externaldns_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/externaldns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/nameserver"
)

// wantGone checks that nothing of any tenant is left.
func (r *rig) wantGone() {
	r.t.Helper()
	for _, o := range r.tenants {
		if o.state() != "" {
			r.t.Errorf("%s: the ledger has %v, %+v", o.record.Name, o.Ledger, r.standing(o))
		}
	}
	if left, records := r.endpoints(), r.records(); len(left) > 0 || len(records) > 0 {
		r.t.Errorf("the namespace keeps %v, and the zone %v", left, records)
	}
}

// wantPublished checks that the record of a tenant is published as it is wanted.
func (r *rig) wantPublished(o *tenant) {
	r.t.Helper()
	if got := r.shows(o); o.state() != dns.Published || len(o.Ledger) != 1 || !slices.Equal(got, []string{o.Wants[0].Value}) {
		r.t.Errorf("%s: the ledger has %v, and servers show %v: %+v", o.record.Name, o.Ledger, got, r.standing(o))
	}
}

// Whenever the operator is killed, the next one continues where it was.
func testKilledBetweenCalls(t *testing.T, all *servers) {
	t.Helper()
	r := all.rig(t)
	r.interval = 2 * time.Minute
	const calls = 6 // a listing, and what it takes to publish or delete a record
	kill := func(n int, committed bool) {
		r.wire.die(n, committed)
		r.run(time.Minute)
		r.wire.die(-1, false)
		r.restart()
	}
	for n := range calls {
		for _, committed := range []bool{false, n > 0} {
			o := r.tenant(fmt.Sprintf("k%d%v", n, committed))
			kill(n, committed)
			r.run(5 * time.Minute)
			r.wantPublished(o)
			r.want(o)
			kill(n, committed)
		}
	}
	r.run(20 * time.Minute)
	r.wantGone()
}

// While ExternalDNS is down nothing is released, and nothing is written again. Whatever is wanted by then holds in the end.
func testExternalDNSIsDown(t *testing.T, all *servers) {
	t.Helper()
	r := all.rig(t)
	leaves, returns, moves := r.tenant("leaves"), r.tenant("returns"), r.tenant("moves")
	r.run(15 * time.Minute)
	r.stalled = true
	for _, o := range r.tenants {
		r.want(o)
	}
	mutating, _ := r.wire.calls()
	r.run(time.Hour)
	if now, _ := r.wire.calls(); now-mutating != len(r.tenants) {
		t.Errorf("%d writes in an hour, want one for each of the %d objects", now-mutating, len(r.tenants))
	}
	for _, o := range r.tenants {
		if o.state() != dns.Retracting || len(r.shows(o)) != 1 {
			t.Errorf("%s: the ledger has %v, and servers show %v", o.record.Name, o.Ledger, r.shows(o))
		}
	}
	r.want(returns, returns.record)
	r.want(moves, r.cname("moves", otherTarget))
	r.run(10 * time.Minute)
	if moves.state() == dns.Published || r.standing(moves).Phase == dns.There {
		t.Errorf("%s counts as published, and servers show %v", moves.record.Name, r.shows(moves))
	}
	r.restart()
	r.run(10 * time.Minute)
	r.stalled = false
	r.run(30 * time.Minute)
	r.wantPublished(returns)
	r.wantPublished(moves)
	if leaves.state() != "" || len(r.shows(leaves)) > 0 {
		t.Errorf("the ledger has %v, and servers show %v", leaves.Ledger, r.shows(leaves))
	}
	r.want(returns)
	r.want(moves)
	r.run(30 * time.Minute)
	r.wantGone()
}

// A record counts as published, and as gone, when all servers that respond say so.
func testOneOfTwoServersIsStale(t *testing.T, all *servers) {
	t.Helper()
	var stale *nameserver.Server
	r := all.rig(t, func(c *externaldns.Config) {
		var err error
		stale, err = nameserver.Start(t.Context(), nameserver.Options{Zones: []nameserver.Zone{{Name: c.Domains[0]}}})
		must(t, err)
		c.NameServers = append(c.NameServers, stale.Address())
	})
	t.Cleanup(func() { must(t, stale.Close()) })
	o := r.tenant("www")
	line := o.record.Name + ". 300 IN CNAME " + target + "."
	r.run(15 * time.Minute)
	if s := r.standing(o); o.state() != dns.Intended || s.Phase != dns.Coming {
		t.Errorf("one server does not have it: the ledger has %v, %+v", o.Ledger, s)
	}
	must(t, stale.AddByHand(t.Context(), r.zone, line))
	r.run(5 * time.Minute)
	r.wantPublished(o)
	r.want(o)
	r.run(30 * time.Minute)
	if s := r.standing(o); o.state() != dns.Retracting || s.Phase != dns.Leaving || r.object(o.record.Name) == nil {
		t.Errorf("one server still has it: the ledger has %v, %+v", o.Ledger, s)
	}
	// A record that one server shows at a name without an object is not gone.
	r.deleteEndpoint(o.record.Name)
	r.restart()
	r.run(30 * time.Minute)
	if o.state() != dns.Retracting {
		t.Errorf("one server still has it: the ledger has %v", o.Ledger)
	}
	must(t, stale.DeleteByHand(t.Context(), r.zone, line))
	r.run(time.Hour)
	r.wantGone()
}

// A wildcard's record is neither taken for a record of the name, nor waited for.
func testBelowAWildcard(t *testing.T, all *servers) {
	t.Helper()
	r := all.rig(t)
	wild := r.tenant("*.w")
	r.run(15 * time.Minute)
	below := r.tenant("x.w")
	r.run(15 * time.Minute)
	r.wantPublished(wild)
	r.wantPublished(below)
	r.want(below)
	r.run(30 * time.Minute)
	if below.state() != "" || r.object(below.record.Name) != nil || len(r.records()) != 1 {
		t.Errorf("the ledger has %v, the zone %v, want the wildcard only", below.Ledger, r.records())
	}
	r.want(wild)
	r.run(30 * time.Minute)
	r.wantGone()
}

// A delegation that comes later hides the record, and keeps its tenant from nothing.
func testDelegatedLater(t *testing.T, all *servers) {
	t.Helper()
	r := all.rig(t)
	o := r.tenant("www.sub")
	r.run(15 * time.Minute)
	r.wantPublished(o)
	must(t, all.primary.AddByHand(t.Context(), r.zone, "sub."+r.zone+". 300 IN NS ns.example.net."))
	r.want(o)
	r.run(time.Hour)
	if o.state() != "" || len(r.endpoints()) > 0 {
		t.Errorf("the ledger has %v, the namespace %d objects: %+v", o.Ledger, len(r.endpoints()), r.standing(o))
	}
}

// While name servers say that they do not have the zone nothing is concluded.
func testNameServersDoNotHaveTheZone(t *testing.T, all *servers) {
	t.Helper()
	r := all.rig(t)
	stays, leaves := r.tenant("stays"), r.tenant("leaves")
	r.run(15 * time.Minute)
	r.front.Lead(r.empty.Address())
	r.want(leaves)
	next := r.tenant("next")
	r.run(30 * time.Minute)
	if leaves.state() != dns.Retracting || next.state() == dns.Published || stays.state() != dns.Published {
		t.Errorf("ledgers: %v, %v, %v", leaves.Ledger, next.Ledger, stays.Ledger)
	}
	r.front.Lead(all.primary.Address())
	r.run(2 * time.Hour)
	r.wantPublished(stays)
	r.wantPublished(next)
	if leaves.state() != "" {
		t.Errorf("the ledger has %v", leaves.Ledger)
	}
}

// Listings have pages, and begin again when they took too long. No record looks absent meanwhile.
func testPages(t *testing.T, all *servers) {
	t.Helper()
	r := all.rig(t)
	for n := range 5 {
		r.tenant(label(n))
	}
	r.run(15 * time.Minute)
	mutating, _ := r.wire.calls()
	r.wire.limit = "2"
	names := map[string]int{}
	pages := 0
	for marker := ""; pages == 0 || marker != ""; pages++ {
		page, next, err := r.dns.ListRecords(t.Context(), r.zone, marker)
		must(t, err)
		for _, s := range page {
			names[s.Name]++
		}
		marker = next
	}
	if pages != 3 || len(names) != 6 {
		t.Errorf("%d pages have %v, want three with the zone's own name and five others", pages, names)
	}
	for _, expired := range []int{1, 100} {
		r.wire.expired = expired
		r.restart()
		r.run(20 * time.Minute)
		r.wire.expired = 0
		r.run(20 * time.Minute)
		for _, o := range r.tenants {
			r.wantPublished(o)
		}
	}
	if now, _ := r.wire.calls(); now != mutating {
		t.Errorf("%d writes, want none", now-mutating)
	}
}

// An object that was made in another cluster comes with a backup. It is left alone.
func testBackupOfAnotherCluster(t *testing.T, all *servers) {
	t.Helper()
	r := all.rig(t)
	o := r.tenant("www")
	r.run(15 * time.Minute)
	r.wantPublished(o)
	r.dns = r.adapter(func(c *externaldns.Config) { c.ClusterID = "another" })
	r.restart()
	generation := r.object(o.record.Name).GetGeneration()
	r.run(30 * time.Minute)
	r.want(o)
	r.run(30 * time.Minute)
	if s := r.standing(o); s.Phase != dns.Refused || o.state() != dns.Retracting || s.Err == nil {
		t.Errorf("the ledger has %v, and the tenant is told %+v", o.Ledger, s)
	}
	if got := r.object(o.record.Name); got.GetGeneration() != generation || len(r.shows(o)) != 1 {
		t.Errorf("the object of another cluster was changed: %v", got)
	}
}

// Someone's finalizer keeps the object, and keeps nothing else.
func testSomeonesFinalizer(t *testing.T, all *servers) {
	t.Helper()
	r := all.rig(t)
	o := r.tenant("www")
	r.run(15 * time.Minute)
	r.edit(o.record.Name, func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"example.com/held"}) })
	r.want(o)
	r.run(30 * time.Minute)
	if o.state() != "" || len(r.records()) > 0 {
		t.Errorf("the ledger has %v, the zone %v", o.Ledger, r.records())
	}
	r.edit(o.record.Name, func(u *unstructured.Unstructured) { u.SetFinalizers(nil) })
	r.wantGone()
}

func TestLife(t *testing.T) {
	rows := []struct {
		says string
		play func(*testing.T, *servers)
	}{
		{"killed between calls", testKilledBetweenCalls},
		{"ExternalDNS is down", testExternalDNSIsDown},
		{"one of two servers is stale", testOneOfTwoServersIsStale},
		{"below a wildcard", testBelowAWildcard},
		{"delegated later", testDelegatedLater},
		{"name servers do not have the zone", testNameServersDoNotHaveTheZone},
		{"pages", testPages},
		{"a backup of another cluster", testBackupOfAnotherCluster},
		{"someone's finalizer", testSomeonesFinalizer},
	}
	all := newServers(t, len(rows))
	for _, row := range rows {
		t.Run(row.says, func(t *testing.T) { row.play(t, all) })
	}
}
