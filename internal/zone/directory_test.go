package zone_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

func TestZonesAreListedOnceAMinuteAtMost(t *testing.T) {
	r := newRig(t)
	r.provider.pageSize = 2
	for n := range 4 {
		r.provider.addZone(fmt.Sprintf("ZX%d", n), fmt.Sprintf("x%d.example", n))
	}
	if _, ok := r.Known(dns.Access{}); ok {
		t.Error("zones are known that were not asked for")
	}
	list := func() []dns.Zone {
		zones, err := r.List(t.Context(), dns.Access{})
		if err != nil {
			t.Error(err)
		}
		return zones
	}
	if got := r.cost(func() { list() }); got["ListZones"] != 3 {
		t.Errorf("%v, want three pages", got)
	}
	if zones, ok := r.Known(dns.Access{}); !ok || len(zones) != 5 {
		t.Errorf("known are %v", zones)
	}
	r.provider.addZone("ZNEW", "new.example")
	if got := r.cost(func() { list() }); len(got) > 0 {
		t.Errorf("%v within the same minute", got)
	}
	r.clock.Step(time.Minute)
	if got := len(list()); got != 6 {
		t.Errorf("%d zones a minute later, want the new one too", got)
	}
	r.clock.Step(time.Hour)
	if _, ok := r.Known(dns.Access{}); ok {
		t.Error("the list is good for ever")
	}
}

// A listing that the rate limit interrupts continues where it was, and does not count as complete.
func TestAnInterruptedListOfZonesGoesOn(t *testing.T) {
	r := newRig(t)
	r.provider.pageSize = 1
	r.provider.addZone("Z2", "example.org")
	throttle := true
	r.provider.before = func(c call) error {
		if c.marker != "" && throttle {
			return &fault.Error{Kind: fault.Throttled, Operation: "ListZones", RetryAfter: time.Second}
		}
		return nil
	}
	if zones, err := r.List(t.Context(), dns.Access{}); !fault.Is(err, fault.Throttled) || len(zones) > 0 {
		t.Errorf("%v, %v", zones, err)
	}
	throttle = false
	var zones []dns.Zone
	cost := r.cost(func() { zones, _ = r.List(t.Context(), dns.Access{}) })
	if cost["ListZones"] != 1 || len(zones) != 2 {
		t.Errorf("%v for %v, want the second page only", cost, zones)
	}
}

func TestWhoMayNotListZonesIsNotAskedAllTheTime(t *testing.T) {
	r := newRig(t)
	denied := dns.Access{RoleARN: roleX, Namespace: "web"}
	r.provider.before = deny("ListZones", roleX)
	got := r.cost(func() {
		for range 10 {
			if _, err := r.List(t.Context(), denied); !fault.Is(err, fault.Denied) {
				t.Errorf("error %v", err)
			}
		}
	})
	if got["ListZones"] != 1 {
		t.Errorf("%v", got)
	}
	if _, err := r.List(t.Context(), dns.Access{}); err != nil {
		t.Errorf("another identity: %v", err)
	}
}

func TestOneZoneIsAskedForByItself(t *testing.T) {
	r := newRig(t)
	get := func(id string) func() {
		return func() {
			zone, err := r.Get(t.Context(), dns.Access{}, id)
			if id == zoneID && (err != nil || zone.Name != "example.com") || id != zoneID && !fault.Is(err, fault.NotFound) {
				t.Errorf("%v, %v", zone, err)
			}
		}
	}
	for _, id := range []string{zoneID, "ZNONE"} {
		if d := cmp.Diff(map[string]int{"GetZone": 1}, r.cost(get(id))); d != "" {
			t.Errorf("calls for %s (-want +got):\n%s", id, d)
		}
		if got := r.cost(get(id)); len(got) > 0 {
			t.Errorf("%v for %s again", got, id)
		}
	}
	if z, ok := r.KnownZone(dns.Access{}, zoneID); !ok || z.ID != zoneID {
		t.Errorf("known is %v", z)
	}
	if _, ok := r.KnownZone(dns.Access{RoleARN: roleX}, zoneID); ok {
		t.Error("what one identity sees another may not")
	}
	r.clock.Step(time.Minute)
	if got := r.cost(get("ZNONE")); got["GetZone"] != 1 {
		t.Errorf("%v a minute later", got)
	}
}
