package zone_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/zone"
)

// Start runs automatically what the other tests play step by step: a worker for each zone, which ends with its last
// object.
func TestStartRunsAWorkerForEachZone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProvider(clock.RealClock{})
		var zones *zone.Zones
		queue := make(chan dns.Owner, 10_000)
		zones = zone.New(zone.Options{Providers: zone.Providers{{}: p}.Always(), Clock: clock.RealClock{}, OnChange: func(owners []dns.Owner) {
			for _, o := range owners {
				queue <- o
			}
		}})
		if !zones.NeedLeaderElection() {
			t.Error("a replica that does not lead would change zones")
		}
		claims := map[dns.Owner]*dns.Claim{}
		for n := range 60 {
			id := fmt.Sprintf("Z%d", n%3)
			if n < 3 {
				p.addZone(id, "example.com")
			}
			r := cname(fmt.Sprintf("n%02d", n))
			r.ZoneID = id
			claims[owner(n)] = &dns.Claim{Owner: owner(n), Wants: []dns.Record{r}}
		}
		var mu sync.Mutex
		pass := func(o dns.Owner) {
			mu.Lock()
			c := *claims[o]
			mu.Unlock()
			next := dns.Advance(c.Ledger, c.Wants, zones.Declare(c), dns.Policy{})
			c.Ledger, c.Version = next, c.Version+1
			mu.Lock()
			claims[o] = &c
			mu.Unlock()
			zones.Declare(c)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		for o := range claims { // some declare before the workers start
			if o.UID < "3" {
				pass(o)
			}
		}
		go func() { ended <- zones.Start(ctx) }()
		go func() {
			for {
				select {
				case <-ctx.Done():
					return
				case o := <-queue:
					pass(o)
				}
			}
		}()
		for n := range 60 {
			queue <- owner(n)
		}
		wait := func(d time.Duration) { <-time.NewTimer(d).C }
		wait(2 * time.Minute)
		for id := range 3 {
			if got := len(p.state(fmt.Sprintf("Z%d", id))); got != 20 {
				t.Errorf("%d records in zone %d, want 20", got, id)
			}
		}
		if got := zones.Stats(); got.Zones != 3 || got.Records != 63 || got.Waiting != 0 || got.Propagating != 0 {
			t.Errorf("%+v", got)
		}
		mu.Lock()
		for o, c := range claims {
			gone := *c
			gone.Wants = nil
			claims[o] = &gone
		}
		mu.Unlock()
		for n := range 60 {
			queue <- owner(n)
		}
		wait(2 * time.Minute)
		if got := zones.Stats(); got.Zones != 0 {
			t.Errorf("%+v after the last record is gone", got)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// The cost of ten thousand objects over one zone, its ten thousand records included.
func TestMemoryOfALargeZone(t *testing.T) {
	const objects, limit = 10_000, 1500
	c := clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	p := newProvider(c)
	p.addZone(zoneID, "example.com")
	claims := make([]dns.Claim, objects)
	for n := range claims {
		r := cname(fmt.Sprintf("n%05d", n))
		p.zones[zoneID][r.Key()] = r.Set()
		claims[n] = dns.Claim{Owner: owner(n), Wants: []dns.Record{r}, Ledger: []dns.Entry{{Record: r, State: dns.Published}}}
	}
	zones := zone.New(zone.Options{Providers: zone.Providers{{}: p}.Always(), Clock: c})
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for _, claim := range claims {
		zones.Declare(claim)
	}
	for range 100 {
		zones.Step(t.Context())
	}
	if got := zones.Stats().Records; got != objects+1 {
		t.Fatalf("%d records", got)
	}
	each := (heap() - before) / objects
	t.Logf("%d bytes for each object with its record", each)
	if each > limit {
		t.Errorf("%d bytes for each object with its record, want at most %d", each, limit)
	}
	runtime.KeepAlive(claims)
	runtime.KeepAlive(zones)
}

func BenchmarkDeclare(b *testing.B) {
	c := clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	p := newProvider(c)
	p.addZone(zoneID, "example.com")
	zones := zone.New(zone.Options{Providers: zone.Providers{{}: p}.Always(), Clock: c})
	claims := make([]dns.Claim, 10_000)
	for n := range claims {
		r := cname(fmt.Sprintf("n%05d", n))
		claims[n] = dns.Claim{Owner: owner(n), Wants: []dns.Record{r}, Ledger: []dns.Entry{{Record: r, State: dns.Intended}}}
		zones.Declare(claims[n])
	}
	zones.Step(b.Context())
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		zones.Declare(claims[n%len(claims)])
	}
}
