package zone_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// refuseRole answers as the credentials of a role that may not be assumed: with a pause.
func refuseRole(role string, operations ...string) func(call) error {
	return func(c call) error {
		for _, operation := range operations {
			if c.operation == operation && c.access.RoleARN == role {
				return &fault.Error{Kind: fault.Denied, Operation: "AssumeRole", Message: "the role can't be assumed", RetryAfter: 10 * time.Minute}
			}
		}
		return nil
	}
}

// A role that may not be assumed for one namespace must not stop the zone of all.
func TestARoleThatIsNotGivenStopsNobodyElse(t *testing.T) {
	r := newRig(t)
	r.provider.before = refuseRole(roleX, "ListRecords", "ReadName", "Change", "InSync")
	x := r.objectAs(roleX, 1, cname("x"))
	y := r.objectAs(roleY, 2, cname("y"))
	r.run(2 * time.Minute)
	r.wantPhase(y, cname("y"), dns.There)
	if s := r.phase(x, cname("x")); s.Err == nil || s.Err.Kind != fault.Denied {
		t.Errorf("x is %s with the error %v, want it to be told of the role", s.Phase, s.Err)
	}
}

// An object that is alone in its zone is told why the zone can't be read, and why the state of its change is unknown.
func TestARoleThatIsNotGivenAnyMoreIsSaid(t *testing.T) {
	for name, operations := range map[string][]string{
		"before the zone was read": {"ListRecords"},
		"after a change was sent":  {"InSync"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.provider.before = refuseRole(roleX, operations...)
			x := r.objectAs(roleX, 1, cname("x"))
			r.run(time.Minute)
			if s := r.phase(x, cname("x")); s.Err == nil || s.Err.Kind != fault.Denied {
				t.Errorf("%s with the error %v", s.Phase, s.Err)
			}
		})
	}
}

// forbid answers as a policy that allows all names but some.
func forbid(part string) func(call) error {
	return func(c call) error {
		for _, change := range c.changes {
			if strings.Contains(change.Set.Name, part) {
				return failure(fault.Denied, c.operation, "the identity may not change the record")
			}
		}
		return nil
	}
}

// A policy may forbid names: an object that asks for them must not keep the others from the zone.
func TestANameThatIsForbiddenFailsAlone(t *testing.T) {
	r := newRig(t)
	r.provider.before = forbid("forbidden")
	for n := range 200 {
		name := fmt.Sprintf("n%03d", n)
		if n%40 == 0 {
			name = fmt.Sprintf("forbidden%03d", n)
		}
		r.object(n, cname(name))
	}
	calls := r.cost(func() { r.run(3 * time.Minute) })
	for n := range 200 {
		o := r.objects[owner(n)]
		s := r.phase(o, o.Wants[0])
		if n%40 == 0 {
			if s.Err == nil || s.Err.Kind != fault.Denied {
				t.Errorf("%s is %s (%v)", o.Wants[0].Name, s.Phase, s.Err)
			}
		} else if s.Phase != dns.There {
			t.Errorf("%s is %s (%v)", o.Wants[0].Name, s.Phase, s.Err)
		}
	}
	if calls["Change"] > 120 {
		t.Errorf("%d batches to find 5 of 200", calls["Change"])
	}
	// Later neither side gets into the other's way.
	late := r.object(201, cname("late"))
	r.run(time.Minute)
	r.wantPhase(late, cname("late"), dns.There)
}

// If a zone is full, a record that leaves must not wait for records that want to come.
func TestAFullZoneIsLeft(t *testing.T) {
	r := newRig(t)
	leaves := r.object(1, cname("leaves"))
	r.run(time.Minute)
	const room = 1
	r.provider.before = func(c call) error {
		creates, deletes := 0, 0
		for _, change := range c.changes {
			if change.Action == dns.Create {
				creates++
			} else {
				deletes++
			}
		}
		if len(r.provider.state(zoneID))+creates-deletes > room {
			return failure(fault.Quota, c.operation, "the zone holds as many records as it may")
		}
		return nil
	}
	first, second := r.object(2, cname("a")), r.object(3, cname("b"))
	leaves.Wants = nil
	r.pass(leaves)
	r.run(10 * time.Minute)
	r.wantLedger(leaves)
	for _, o := range []*object{first, second} {
		if s := r.wantPhase(o, o.Wants[0], dns.Refused); s.Err == nil || s.Err.Kind != fault.Quota {
			t.Errorf("%s has the error %v", o.Wants[0].Name, s.Err)
		}
	}
}

// A listing whose only reader leaves, with no other that may read, keeps no one busy.
func TestAListingWithoutAReaderRests(t *testing.T) {
	r := newRig(t)
	r.provider.pageSize = 1
	r.provider.put(zoneID, dns.RecordSet{Key: dns.Key{Name: "foreign.example.com", Type: "TXT"}, TTL: 60, Values: []string{"x"}})
	r.provider.before = deny("ListRecords", roleX)
	r.objectAs(roleX, 1, cname("x"))
	r.Step(t.Context())
	y := r.objectAs(roleY, 2, cname("y"))
	r.Step(t.Context())
	r.Forget(y.Owner)
	delete(r.objects, y.Owner)
	// The rig gives up when the workers do not come to rest.
	r.run(20 * time.Minute)
}

// An object with as many domains as it may have can be given another target: at no moment is
// one of the names without its records, although the ledger has no room for all at once.
func TestManyAliasesAreSwappedWithoutAGap(t *testing.T) {
	r := newRig(t)
	wants := func(target string) (out []dns.Record) {
		for n := range 100 {
			records, err := dns.Wanted(fmt.Sprintf("n%03d.example.com", n), dns.Zone{ID: zoneID, Name: "example.com"},
				dns.Options{Target: target, IPv6: true, TTL: 300, Type: dns.Alias})
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, records...)
		}
		return out
	}
	o := r.object(1, wants(target)...)
	r.run(2 * time.Minute)
	r.provider.before = func(c call) error {
		if got := len(r.provider.state(zoneID)); got != 300 {
			t.Errorf("before %s there are %d records of 300", c.operation, got)
		}
		return nil
	}
	o.Wants = wants("d2.cloudfront.net")
	r.pass(o)
	r.run(30 * time.Minute)
	r.pass(o)
	for _, want := range o.Wants {
		if got := o.view.Of(want); got.Phase != dns.There {
			t.Errorf("%s is %s (%v), want %s", want.Name, got.Phase, got.Err, dns.There)
		}
	}
	if len(o.Ledger) != 300 {
		t.Errorf("%d entries", len(o.Ledger))
	}
}
