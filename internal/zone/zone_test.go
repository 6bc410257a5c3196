package zone_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

const lineA = "a.example.com CNAME d1.cloudfront.net (TTL 300)"

// The life of a record: read, intended, sent, in sync, published, retracted, gone.
func TestARecordComesAndGoes(t *testing.T) {
	r := newRig(t)
	a := cname("a")
	o := r.object(1, a)
	if got := o.view.Of(a); got.Phase != dns.Unknown || len(o.Ledger) > 0 {
		t.Errorf("before the zone was read: %v, ledger %v", got, o.Ledger)
	}
	r.run(100 * time.Millisecond)
	r.wantLedger(o, "CNAME a.example.com Intended")
	r.wantZone()
	r.run(time.Second)
	r.wantZone(lineA)
	r.wantPhase(o, a, dns.Coming)
	if o.view.ChangeID != "C1" {
		t.Errorf("change %q, want C1", o.view.ChangeID)
	}
	r.run(40 * time.Second)
	r.wantPhase(o, a, dns.There)
	r.wantLedger(o, "CNAME a.example.com Published")
	if len(r.took) != 1 || r.took[0] < 30*time.Second || r.took[0] > 45*time.Second {
		t.Errorf("propagation observed: %v, want one of some 30 s", r.took)
	}

	o.Wants = nil
	r.pass(o)
	r.wantLedger(o, "CNAME a.example.com Retracting")
	r.run(5 * time.Second)
	r.wantZone()
	r.wantPhase(o, a, dns.Leaving)
	r.wantLedger(o, "CNAME a.example.com Retracting")
	r.run(40 * time.Second)
	r.wantLedger(o)
	if o.writes != 4 {
		t.Errorf("%d writes, want intended, published, retracting, gone", o.writes)
	}
	if got := r.Stats(); got.Zones != 0 {
		t.Errorf("%+v, want no worker for a zone without records", got)
	}
	if d := cmp.Diff([]string{"1 None", "1 None"}, r.results); d != "" {
		t.Errorf("batches observed (-want +got):\n%s", d)
	}
}

func TestWhatIsThereIsUsedAndLeftAlone(t *testing.T) {
	r := newRig(t)
	a := cname("a")
	r.provider.put(zoneID, a.Set())
	o := r.object(1, a)
	r.run(time.Minute)
	r.wantPhase(o, a, dns.There)
	r.wantLedger(o)
	o.Wants = nil
	r.pass(o)
	r.run(time.Hour)
	r.wantZone(lineA)
}

func TestAForeignRecordIsAConflict(t *testing.T) {
	r := newRig(t)
	a := cname("a")
	other := a
	other.Value = "other.example.net"
	r.provider.put(zoneID, other.Set())
	o := r.object(1, a)
	r.run(time.Minute)
	if got := r.wantPhase(o, a, dns.Blocked); got.Found != "CNAME other.example.net (TTL 300)" {
		t.Errorf("found %q", got.Found)
	}
	r.wantLedger(o)
	if r.conflicts != 1 {
		t.Errorf("%d conflicts observed, want 1", r.conflicts)
	}
	// Someone makes room. The next listing sees it.
	r.provider.remove(zoneID, other.Key())
	r.run(20 * time.Minute)
	r.wantZone(lineA)
	r.wantLedger(o, "CNAME a.example.com Published")
}

func TestTakeoverReplacesWhatIsThere(t *testing.T) {
	r := newRig(t)
	a := cname("a")
	r.provider.put(zoneID, dns.RecordSet{Key: dns.Key{Name: a.Name, Type: "A"}, TTL: 60, Values: []string{"192.0.2.1"}})
	o := r.object(1, a)
	r.run(time.Minute)
	before := r.provider.state(zoneID)
	o.Takeover = true
	r.pass(o)
	r.run(time.Minute)
	r.wantZone(lineA)
	r.wantLedger(o, "CNAME a.example.com Published")
	// It comes back in the batch that deletes ours.
	o.Wants = nil
	r.provider.before = func(c call) error {
		if c.operation == "Change" && len(c.changes) != 2 {
			t.Errorf("a batch of %d changes, want both at once", len(c.changes))
		}
		return nil
	}
	r.pass(o)
	r.run(time.Minute)
	r.wantZone(before...)
	r.wantLedger(o)
}

// A new target replaces the old in one batch, and the name is never without either.
func TestANewTargetIsSwappedAtOnce(t *testing.T) {
	r := newRig(t)
	a := cname("a")
	o := r.object(1, a)
	r.run(time.Minute)
	moved := a
	moved.Value = "d2.cloudfront.net"
	o.Wants = []dns.Record{moved}
	r.provider.before = func(c call) error {
		if c.operation == "Change" && len(c.changes) != 2 {
			t.Errorf("a batch of %d changes, want both at once", len(c.changes))
		}
		return nil
	}
	r.pass(o)
	r.run(time.Minute)
	r.wantZone("a.example.com CNAME d2.cloudfront.net (TTL 300)")
	r.wantLedger(o, "CNAME a.example.com Published")
}

func TestDriftIsPutBackWhereThatIsAllowed(t *testing.T) {
	r := newRig(t)
	kept, left := r.object(1, cname("a")), r.object(2, cname("b"))
	left.Correct = false
	r.pass(left)
	r.run(time.Minute)
	for _, name := range []string{"a", "b"} {
		changed := cname(name)
		changed.Value = "other.example.net"
		r.provider.put(zoneID, changed.Set())
	}
	var classes []port.Class
	r.provider.before = func(c call) error {
		if c.operation == "Change" {
			classes = append(classes, c.class)
		}
		return nil
	}
	r.run(20 * time.Minute)
	r.wantZone(lineA, "b.example.com CNAME other.example.net (TTL 300)")
	r.wantPhase(kept, cname("a"), dns.There)
	r.wantPhase(left, cname("b"), dns.Blocked)
	if d := cmp.Diff([]port.Class{port.Correct}, classes); d != "" {
		t.Errorf("urgency (-want +got):\n%s", d)
	}
	found := cname("a")
	found.Value = "other.example.net"
	told := []dns.Correction{{Owner: kept.Owner, Restores: []dns.Record{cname("a")}, Replaces: []dns.RecordSet{found.Set()}}}
	if d := cmp.Diff(told, r.corrections); d != "" {
		t.Errorf("corrections (-want +got):\n%s", d)
	}
}

// Between the listing and the batch someone created the very same record by hand.
func TestAnEqualRecordThatWeDidNotMakeIsNeverOurs(t *testing.T) {
	r := newRig(t)
	a := cname("a")
	r.provider.before = func(c call) error {
		if c.operation == "Change" {
			r.provider.put(zoneID, a.Set())
			r.provider.before = nil
		}
		return nil
	}
	o := r.object(1, a)
	r.run(2 * time.Minute)
	r.wantPhase(o, a, dns.There)
	r.wantLedger(o)
	o.Wants = nil
	r.pass(o)
	r.run(time.Hour)
	r.wantZone(lineA)
}

// The object is deleted at the very moment at which its intent turns out to be another's: a record that is stored as
// retracting is released, and not deleted.
func TestAForeignRecordSurvivesADeletionMeanwhile(t *testing.T) {
	r := newRig(t)
	a := cname("a")
	o := r.object(1, a)
	r.provider.before = func(c call) error {
		if c.operation == "Change" {
			r.provider.put(zoneID, a.Set())
			o.Wants = nil
			r.pass(o)
			r.provider.before = nil
		}
		return nil
	}
	r.run(time.Hour)
	r.wantZone(lineA)
	r.wantLedger(o)
}

func TestALostAnswerIsLookedAfter(t *testing.T) {
	for name, test := range map[string]struct {
		carriedOut bool
	}{
		"the batch was carried out": {true},
		"the batch never arrived":   {false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			a := cname("a")
			times := 0
			if test.carriedOut {
				r.provider.lost = func(call) bool { times++; return times == 1 }
			} else {
				r.provider.before = func(c call) error {
					if c.operation == "Change" {
						if times++; times == 1 {
							return failure(fault.Transient, "Change", "connection reset")
						}
					}
					return nil
				}
			}
			o := r.object(1, a)
			r.run(5 * time.Second)
			r.wantPhase(o, a, dns.Coming)
			r.run(2 * time.Minute)
			r.wantZone(lineA)
			r.wantLedger(o, "CNAME a.example.com Published")
			o.Wants = nil
			r.pass(o)
			r.run(2 * time.Minute)
			r.wantZone()
			r.wantLedger(o)
		})
	}
}

// The answer to the creation is lost, the record is not visible yet when it is looked for, and
// the second creation is refused: it is ours nevertheless.
func TestACreationThatShowsLateIsOurs(t *testing.T) {
	r := newRig(t)
	a := cname("a")
	changes := 0
	r.provider.before = func(c call) error {
		if c.operation != "Change" {
			return nil
		}
		if changes++; changes == 1 {
			return failure(fault.Transient, "Change", "connection reset")
		}
		if changes == 2 {
			r.provider.put(zoneID, a.Set())
		}
		return nil
	}
	o := r.object(1, a)
	r.run(3 * time.Minute)
	r.wantLedger(o, "CNAME a.example.com Published")
}

// Thousands of names in doubt are read by a listing, few are read one by one.
func TestDoubtsAreResolvedTheCheaperWay(t *testing.T) {
	for name, test := range map[string]struct {
		objects int
		want    map[string]int
	}{
		"a single name":  {1, map[string]int{"Change": 1, "ReadName": 1}},
		"a hundred ones": {100, map[string]int{"Change": 1, "ListRecords": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			for n := range test.objects {
				r.object(n, cname(fmt.Sprintf("n%03d", n)))
			}
			r.provider.lost = func(call) bool { return true }
			r.run(100 * time.Millisecond)
			got := r.cost(func() { r.run(30 * time.Second) })
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("calls (-want +got):\n%s", d)
			}
			r.run(2 * time.Minute)
			r.wantLedger(r.objects[owner(0)], "CNAME n000.example.com Published")
		})
	}
}

// One impossible record among 500: 499 are published, and one explains itself.
func TestOneImpossibleRecordFailsAlone(t *testing.T) {
	r := newRig(t)
	for n := range 500 {
		name := fmt.Sprintf("n%03d", n)
		if n == 321 {
			name = "impossible"
		}
		r.object(n, cname(name))
	}
	calls := r.cost(func() { r.run(time.Minute) })
	if got := len(r.provider.state(zoneID)); got != 499 {
		t.Errorf("%d records, want 499", got)
	}
	for _, o := range r.objects {
		s := r.phase(o, o.Wants[0])
		if o.Owner == owner(321) {
			if s.Phase != dns.Refused || !strings.Contains(s.Err.Error(), "impossible.example.com is impossible") {
				t.Errorf("the impossible one is %s (%v)", s.Phase, s.Err)
			}
			continue
		}
		if s.Phase != dns.There {
			t.Errorf("%s is %s (%v)", o.Wants[0].Name, s.Phase, s.Err)
		}
	}
	if calls["Change"] > 30 {
		t.Errorf("%d batches to find one of 500", calls["Change"])
	}
	// It is tried again ever more rarely, and alone.
	calls = r.cost(func() { r.run(2 * time.Hour) })
	if calls["Change"] < 4 || calls["Change"] > 12 {
		t.Errorf("%d tries in two hours", calls["Change"])
	}
	// A change of the object is tried at once.
	o := r.objects[owner(321)]
	o.Wants = []dns.Record{cname("possible")}
	r.pass(o)
	r.run(time.Minute)
	r.wantPhase(o, cname("possible"), dns.There)
}

// Someone deletes what we are about to delete.
func TestARetractionThatIsOvertaken(t *testing.T) {
	r := newRig(t)
	o := r.object(1, cname("a"))
	r.run(time.Minute)
	r.provider.remove(zoneID, cname("a").Key())
	o.Wants = nil
	r.pass(o)
	r.run(2 * time.Minute)
	r.wantLedger(o)
}

func TestBatchesGather(t *testing.T) {
	r := newRig(t)
	next := 0
	// An object each 100 ms, for 30 s; a batch takes 30 s to be in sync.
	for range 300 {
		r.object(next, cname(fmt.Sprintf("n%04d", next)))
		next++
		r.run(100 * time.Millisecond)
	}
	r.run(time.Minute)
	if got := len(r.provider.state(zoneID)); got != 300 {
		t.Errorf("%d records, want 300", got)
	}
	if got := len(r.provider.batches); got > 5 {
		t.Errorf("300 records in %d batches (%v), want one after a second and then one each ten", got, r.provider.batches)
	}
}

func TestAFullBatchDoesNotWait(t *testing.T) {
	r := newRig(t)
	r.object(0, cname("first"))
	r.run(5 * time.Second) // it is on its way
	for n := range 1500 {
		r.object(n+1, cname(fmt.Sprintf("n%04d", n)))
	}
	r.run(100 * time.Millisecond)
	if d := cmp.Diff([]int{1, 1000}, r.provider.batches); d != "" {
		t.Errorf("batches (-want +got):\n%s", d)
	}
	r.run(11 * time.Second)
	if d := cmp.Diff([]int{1, 1000, 500}, r.provider.batches); d != "" {
		t.Errorf("batches (-want +got):\n%s", d)
	}
}

func TestThrottledBatchesComeBack(t *testing.T) {
	r := newRig(t)
	times := 0
	r.provider.before = func(c call) error {
		if c.operation != "Change" {
			return nil
		}
		switch times++; times {
		case 1:
			return &fault.Error{Kind: fault.Throttled, Operation: "Change", RetryAfter: 3 * time.Second}
		case 2, 3: // PriorRequestNotComplete names no delay
			return &fault.Error{Kind: fault.Throttled, Operation: "Change"}
		}
		return nil
	}
	o := r.object(1, cname("a"))
	r.run(3 * time.Second)
	r.wantZone()
	r.run(time.Minute)
	r.wantPhase(o, cname("a"), dns.There)
	if d := cmp.Diff([]string{"1 Throttled", "1 Throttled", "1 None"}, r.results); d != "" {
		t.Errorf("batches observed, without our own limiter's (-want +got):\n%s", d)
	}
}

// A change that never gets in sync keeps its records on their way, and holds up no others.
func TestAChangeThatNeverGetsInSync(t *testing.T) {
	r := newRig(t)
	r.provider.syncAfter = 1000 * time.Hour
	first := r.object(1, cname("a"))
	r.run(5 * time.Second)
	r.provider.syncAfter = 0
	second := r.object(2, cname("b"))
	calls := r.cost(func() { r.run(time.Hour) })
	r.wantPhase(first, cname("a"), dns.Coming)
	r.wantPhase(second, cname("b"), dns.There)
	if calls["InSync"] > 150 {
		t.Errorf("asked %d times in an hour", calls["InSync"])
	}
}

// A server that says that all went well, and has left out what it was to create, is noticed long before the zone is listed
// again. What the record was to replace is put back in the end.
func TestWhatIsLeftOutIsCreatedAgain(t *testing.T) {
	for says, tt := range map[string]struct {
		times int
		phase dns.Phase
	}{
		"where other records were deleted": {1, dns.There},
		"however often it is sent":         {1000, dns.Refused},
	} {
		t.Run(says, func(t *testing.T) {
			r := newRig(t)
			address := dns.RecordSet{Key: dns.Key{Name: cname("a").Name, Type: dns.A}, TTL: 60, Values: []string{"192.0.2.1"}}
			r.provider.put(zoneID, address)
			left := tt.times
			r.provider.leavesOut = func(call) bool { left--; return left >= 0 }
			o := r.object(1)
			o.Takeover, o.Wants = true, []dns.Record{cname("a")}
			r.pass(o)
			r.run(3 * time.Minute)
			if s := r.wantPhase(o, cname("a"), tt.phase); tt.phase == dns.Refused && !strings.Contains(s.Err.Error(), "does not show what it created") {
				t.Errorf("the object is told %v", s.Err)
			}
			calls := r.cost(func() { r.run(2 * time.Hour) })
			if calls["Change"] > 12 {
				t.Errorf("%d tries in two hours", calls["Change"])
			}
			left = 0
			r.run(2 * time.Hour)
			r.wantPhase(o, cname("a"), dns.There)
			o.Wants = nil
			r.pass(o)
			r.run(time.Hour)
			if d := cmp.Diff([]string{address.Name + " " + address.String()}, r.provider.state(zoneID)); d != "" {
				t.Errorf("zone (-want +got):\n%s", d)
			}
		})
	}
}

// Whichever part of a change is carried out, the name has in the end what was there before it was taken over.
func TestWhatIsReplacedComesBackAfterAPartOfAChange(t *testing.T) {
	name := cname("a").Name
	v4 := dns.RecordSet{Key: dns.Key{Name: name, Type: dns.A}, TTL: 60, Values: []string{"192.0.2.1"}}
	v6 := dns.RecordSet{Key: dns.Key{Name: name, Type: dns.AAAA}, TTL: 60, Values: []string{"2001:db8::1"}}
	text := dns.RecordSet{Key: dns.Key{Name: name, Type: dns.TXT}, TTL: 60, Values: []string{"theirs"}}
	elsewhere := dns.RecordSet{Key: v4.Key, TTL: 60, Values: []string{"203.0.113.1"}}
	for says, tt := range map[string]struct {
		before []dns.RecordSet
		// parts are how many parts of the first changes are carried out. Later ones are carried out whole.
		parts []int
		// givesUp is true where the record is given up at once after the first change, added is what others add then.
		givesUp bool
		added   []dns.RecordSet
		want    []dns.RecordSet
	}{
		"the deletion of ours":                            {[]dns.RecordSet{v4}, []int{9, 1}, false, nil, []dns.RecordSet{v4}},
		"the deletion of ours, twice":                     {[]dns.RecordSet{v4}, []int{9, 1, 0}, false, nil, []dns.RecordSet{v4}},
		"half of what is put back":                        {[]dns.RecordSet{v4, v6}, []int{9, 2}, false, nil, []dns.RecordSet{v4, v6}},
		"half of what is replaced":                        {[]dns.RecordSet{v4, v6}, []int{1}, true, nil, []dns.RecordSet{v4, v6}},
		"the deletion, and others add text":               {[]dns.RecordSet{v4}, []int{1}, true, []dns.RecordSet{text}, []dns.RecordSet{v4, text}},
		"the deletion, and others lead it elsewhere":      {[]dns.RecordSet{v4, v6}, []int{2}, true, []dns.RecordSet{elsewhere}, []dns.RecordSet{elsewhere}},
		"the deletions, and others put a half of it back": {[]dns.RecordSet{v4, v6}, []int{2}, true, []dns.RecordSet{v6}, []dns.RecordSet{v4, v6}},
	} {
		t.Run(says, func(t *testing.T) {
			r := newRig(t)
			for _, s := range tt.before {
				r.provider.put(zoneID, s)
			}
			o := r.object(1)
			o.Takeover, o.Wants = true, []dns.Record{cname("a")}
			parts := tt.parts
			r.provider.stopsAfter = func(c call) int {
				if len(parts) == 0 {
					return len(c.changes)
				}
				n := parts[0]
				parts = parts[1:]
				return n
			}
			r.pass(o)
			if tt.givesUp {
				r.runUntil(func() bool { return len(parts) == 0 })
			} else {
				r.run(5 * time.Minute)
				r.wantZone(lineA)
			}
			for _, s := range tt.added {
				r.provider.put(zoneID, s)
			}
			o.Wants = nil
			r.pass(o)
			r.run(time.Hour)
			r.wantLedger(o)
			var want []string
			for _, s := range tt.want {
				want = append(want, s.Name+" "+s.String())
			}
			r.wantZone(want...)
		})
	}
}

// A server that says that all went well, and has left out what was to be put back, is told again.
func TestWhatIsLeftOutIsPutBack(t *testing.T) {
	r := newRig(t)
	address := dns.RecordSet{Key: dns.Key{Name: cname("a").Name, Type: dns.A}, TTL: 60, Values: []string{"192.0.2.1"}}
	r.provider.put(zoneID, address)
	left := 0
	r.provider.leavesOut = func(call) bool { left--; return left >= 0 }
	o := r.object(1)
	o.Takeover, o.Wants = true, []dns.Record{cname("a")}
	r.pass(o)
	r.run(5 * time.Minute)
	r.wantZone(lineA)
	left, o.Wants = 3, nil
	r.pass(o)
	r.run(30 * time.Second)
	r.wantZone()
	r.run(time.Hour)
	r.wantZone(address.Name + " " + address.String())
	r.wantLedger(o)
}

// Once a record was seen again after its correction had no answer, it is others who delete it, and the name is theirs.
func TestACorrectionWithoutAnAnswerIsForgotten(t *testing.T) {
	r := newRig(t)
	a := cname("a")
	r.provider.put(zoneID, dns.RecordSet{Key: dns.Key{Name: a.Name, Type: dns.A}, TTL: 60, Values: []string{"192.0.2.1"}})
	lost := 0
	r.provider.lost = func(call) bool { lost--; return lost == 0 }
	r.provider.leavesOut = func(call) bool { return false }
	o := r.object(1)
	o.Takeover, o.Wants = true, []dns.Record{a}
	r.pass(o)
	r.run(5 * time.Minute)
	r.provider.remove(zoneID, a.Key())
	lost = 1
	r.run(20 * time.Minute)
	r.wantZone(lineA)
	if lost > 0 {
		t.Error("there was no correction")
	}
	o.Correct = false
	r.pass(o)
	r.provider.remove(zoneID, a.Key())
	r.run(20 * time.Minute)
	o.Wants = nil
	r.pass(o)
	r.run(time.Hour)
	r.wantLedger(o)
	r.wantZone()
}

// A record that is in the zone, and that questions to the server don't show, is read once, and its object is told.
func TestAServerThatShowsNothing(t *testing.T) {
	r := newRig(t)
	r.provider.before = func(c call) error {
		if c.operation == "InSync" {
			return dns.NewLeftOut("InSync", []string{cname("a").Name})
		}
		return nil
	}
	o := r.object(1, cname("a"))
	calls := r.cost(func() { r.run(10 * time.Minute) })
	if s := r.wantPhase(o, cname("a"), dns.Coming); s.Err == nil || !strings.Contains(s.Err.Error(), "does not show what it created") {
		t.Errorf("error %v", s.Err)
	}
	if calls["ReadName"] != 1 || calls["Change"] != 1 {
		t.Errorf("calls %v", calls)
	}
	r.provider.before = nil
	r.run(time.Hour)
	r.wantPhase(o, cname("a"), dns.There)
}

func TestWhoMayNotAskForAChangeIsTold(t *testing.T) {
	r := newRig(t)
	r.provider.before = func(c call) error {
		if c.operation == "InSync" {
			return failure(fault.Denied, "InSync", "route53:GetChange is not allowed")
		}
		return nil
	}
	o := r.object(1, cname("a"))
	r.run(time.Minute)
	if s := r.wantPhase(o, cname("a"), dns.Coming); s.Err == nil || !strings.Contains(s.Err.Error(), "route53:GetChange") {
		t.Errorf("error %v", s.Err)
	}
	r.provider.before = nil
	r.run(time.Hour)
	r.wantPhase(o, cname("a"), dns.There)
}

func TestAListingThatFailsIsNoEmptyZone(t *testing.T) {
	for name, test := range map[string]struct {
		break_ func(r *rig)
		phase  dns.Phase
	}{
		"the second page never comes": {func(r *rig) {
			r.provider.before = func(c call) error {
				if c.operation == "ListRecords" && c.marker != "" {
					return failure(fault.Transient, "ListRecords", "no answer")
				}
				return nil
			}
		}, dns.Unknown},
		"the list is empty": {func(r *rig) { r.provider.zones[zoneID] = map[dns.Key]dns.RecordSet{} }, dns.Unknown},
		"no one may list": {func(r *rig) {
			r.provider.before = func(c call) error {
				if c.operation == "ListRecords" {
					return failure(fault.Denied, "ListRecords", "not authorized")
				}
				return nil
			}
		}, dns.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.provider.pageSize = 1
			o := r.object(1, cname("a"), cname("b"))
			r.run(2 * time.Minute)
			r.wantLedger(o, "CNAME a.example.com Published", "CNAME b.example.com Published")
			o.Wants = nil
			test.break_(r)
			r.restart()
			r.pass(o)
			calls := r.cost(func() { r.run(time.Hour) })
			if s := r.wantPhase(o, cname("b"), test.phase); s.Err == nil {
				t.Error("no word of why")
			}
			r.wantLedger(o, "CNAME a.example.com Retracting", "CNAME b.example.com Retracting")
			if calls["ListRecords"] > 150 {
				t.Errorf("%d tries in an hour", calls["ListRecords"])
			}
		})
	}
}

// While pages are read, a batch is carried out. The page that was requested before shows the
// zone as it was.
func TestAPageDoesNotOverwriteAnOwnBatch(t *testing.T) {
	r := newRig(t)
	r.provider.pageSize = 1
	o := r.object(1, cname("a"), cname("z"))
	r.run(time.Minute)
	r.run(13 * time.Minute)
	armed := true
	r.provider.before = func(c call) error {
		if c.operation == "ListRecords" && strings.HasPrefix(c.marker, "z.") && armed {
			armed = false
			// a was listed by now
			o.Wants = []dns.Record{cname("z")}
			r.pass(o)
			return &fault.Error{Kind: fault.Throttled, Operation: "ListRecords", RetryAfter: 10 * time.Second}
		}
		return nil
	}
	r.run(5 * time.Minute)
	if armed {
		t.Fatal("there was no listing")
	}
	r.wantLedger(o, "CNAME z.example.com Published")
	r.wantZone("z.example.com CNAME d1.cloudfront.net (TTL 300)")
	if d := cmp.Diff([]string{"2 None", "1 None"}, r.results); d != "" {
		t.Errorf("batches observed, of which none was sent for what is gone (-want +got):\n%s", d)
	}
}

func TestTwoObjectsOneName(t *testing.T) {
	r := newRig(t)
	a := cname("a")
	younger := r.object(2, a)
	r.run(2 * time.Minute)
	older := r.object(1, a)
	r.run(time.Minute)
	// The one that has it keeps it, also from the older.
	r.wantLedger(younger, "CNAME a.example.com Published")
	if s := r.wantPhase(older, a, dns.Occupied); s.Holder != younger.Owner {
		t.Errorf("held by %v", s.Holder)
	}
	younger.Wants = nil
	r.pass(younger)
	r.run(3 * time.Minute)
	r.wantLedger(younger)
	r.wantLedger(older, "CNAME a.example.com Published")
	r.wantZone(lineA)
	if d := cmp.Diff([]string{"1 None", "1 None", "1 None"}, r.results); d != "" {
		t.Errorf("batches observed (-want +got):\n%s", d)
	}
}

// After a backup was restored two ledgers name one record. One gives way, and the record stays.
func TestTwoLedgersOneRecord(t *testing.T) {
	r := newRig(t)
	a := cname("a")
	r.provider.put(zoneID, a.Set())
	for n := range 2 {
		o := &object{Claim: dns.Claim{Owner: owner(n), Since: r.clock.Now().Add(time.Duration(n)), Wants: []dns.Record{a},
			Ledger: []dns.Entry{{Record: a, State: dns.Published}}}}
		r.objects[o.Owner] = o
		r.pass(o)
	}
	r.run(time.Hour)
	r.wantLedger(r.objects[owner(0)], "CNAME a.example.com Published")
	r.wantLedger(r.objects[owner(1)])
	r.wantZone(lineA)
}

func TestForgottenObjectsMakeRoom(t *testing.T) {
	r := newRig(t)
	a := cname("a")
	first, second := r.object(1, a), r.object(2, a)
	r.Forget(first.Owner)
	delete(r.objects, first.Owner)
	r.run(2 * time.Minute)
	r.wantPhase(second, a, dns.There)
	r.Forget(second.Owner)
	if got := r.Stats(); got.Zones != 0 {
		t.Errorf("%+v, want no worker", got)
	}
	r.wantZone(lineA) // forgetting deletes nothing
}

func TestAnOlderClaimIsIgnored(t *testing.T) {
	r := newRig(t)
	o := r.object(1, cname("a"))
	r.run(2 * time.Minute)
	stale := o.Claim
	stale.Version--
	stale.Ledger = []dns.Entry{{Record: cname("a"), State: dns.Retracting}}
	if got := r.Declare(stale).Of(cname("a")); got.Phase != dns.There {
		t.Errorf("the answer is %v", got)
	}
	r.run(time.Hour)
	r.wantZone(lineA)
}

func TestAPartialClaim(t *testing.T) {
	t.Run("it takes nothing away from a whole one", func(t *testing.T) {
		r := newRig(t)
		o := r.object(1, cname("a"))
		r.run(2 * time.Minute)
		partial := o.Claim
		partial.Version++
		partial.Extent, partial.Wants, partial.Ledger = dns.Partial, nil, []dns.Entry{{Record: cname("a"), State: dns.Retracting}}
		if got := r.Declare(partial).Of(cname("a")); got.Phase != dns.There {
			t.Errorf("the answer is %v", got)
		}
		r.run(time.Hour)
		r.wantZone(lineA)
	})
	t.Run("it is worked on where nothing else is known, and gives way to any other", func(t *testing.T) {
		r := newRig(t)
		o := r.object(1, cname("a"))
		r.run(2 * time.Minute)
		r.Forget(o.Owner)
		partial := o.Claim
		partial.Version, partial.Extent, partial.Wants = 9, dns.Partial, nil
		r.Declare(partial)
		r.run(2 * time.Minute)
		if got := r.Declare(partial).Of(cname("a")); got.Phase != dns.There {
			t.Errorf("the answer is %v", got)
		}
		o.Wants = []dns.Record{cname("b")}
		r.pass(o)
		r.run(time.Hour)
		r.wantLedger(o, "CNAME b.example.com Published")
	})
	t.Run("one that knows nothing takes nothing away from one that knows a part", func(t *testing.T) {
		r := newRig(t)
		part := dns.Claim{Owner: owner(1), Version: 1, Wants: []dns.Record{cname("a")}, Extent: dns.Partial}
		r.Declare(part)
		r.run(2 * time.Minute)
		blind := part
		blind.Version, blind.Extent, blind.Wants = 2, dns.Blind, nil
		calls := r.cost(func() {
			for range 10 {
				r.Declare(blind)
				r.run(time.Second)
				if got := r.Declare(part).Of(cname("a")); got.Phase != dns.Absent {
					t.Errorf("the answer is %v", got)
				}
			}
		})
		if calls["ListRecords"] > 0 {
			t.Errorf("the zone was given up, and read again: %v", calls)
		}
	})
}

func TestAZoneThatIsGone(t *testing.T) {
	r := newRig(t)
	o := r.object(1, cname("a"))
	r.run(2 * time.Minute)
	r.provider.removeZone(zoneID)
	r.run(20 * time.Minute)
	r.wantPhase(o, cname("a"), dns.NoZone)
	r.wantLedger(o, "CNAME a.example.com Published")
	calls := r.cost(func() { r.run(time.Hour) })
	if calls["ListRecords"] < 8 || calls["ListRecords"] > 16 {
		t.Errorf("looked for %d times in an hour, want once in five minutes", calls["ListRecords"])
	}
	o.Wants = nil
	r.pass(o)
	r.run(time.Second)
	r.wantLedger(o)
}

// A batch finds out that the zone is gone; then it comes back.
func TestAZoneThatComesBack(t *testing.T) {
	r := newRig(t)
	first := r.object(1, cname("a"))
	r.run(2 * time.Minute)
	r.provider.removeZone(zoneID)
	second := r.object(2, cname("b"))
	r.run(time.Minute)
	r.wantPhase(second, cname("b"), dns.NoZone)
	r.wantPhase(first, cname("a"), dns.NoZone)
	r.provider.addZone(zoneID, "example.com")
	r.run(10 * time.Minute)
	r.wantPhase(second, cname("b"), dns.There)
	r.wantPhase(first, cname("a"), dns.There)
}

const roleX, roleY = "arn:aws:iam::111122223333:role/x", "arn:aws:iam::111122223333:role/y"

func deny(operation, role string) func(call) error {
	return func(c call) error {
		if c.operation == operation && c.access.RoleARN == role {
			return failure(fault.Denied, operation, "%s is not authorized", role)
		}
		return nil
	}
}

func (r *rig) objectAs(role string, n int, wants ...dns.Record) *object {
	o := r.object(n)
	o.role, o.Wants = role, wants
	r.pass(o)
	return o
}

func TestARoleThatMayNotListLeavesThatToAnother(t *testing.T) {
	r := newRig(t)
	r.provider.before = deny("ListRecords", roleX)
	x := r.objectAs(roleX, 1, cname("x"))
	r.run(time.Minute)
	if s := r.wantPhase(x, cname("x"), dns.Unknown); s.Err == nil || s.Err.Kind != fault.Denied {
		t.Errorf("error %v", s.Err)
	}
	y := r.objectAs(roleY, 2, cname("y"))
	r.run(2 * time.Minute)
	r.wantPhase(y, cname("y"), dns.There)
	r.wantPhase(x, cname("x"), dns.There)
}

// A role that may not change the zone concerns only its own objects, and keeps no place.
func TestARoleThatMayNotChange(t *testing.T) {
	r := newRig(t)
	r.provider.before = deny("Change", roleX)
	x := r.objectAs(roleX, 1, cname("x"))
	y := r.objectAs(roleY, 2, cname("y"))
	both := r.objectAs(roleY, 3, cname("x"))
	calls := r.cost(func() { r.run(10 * time.Minute) })
	r.wantPhase(y, cname("y"), dns.There)
	r.wantPhase(both, cname("x"), dns.There)
	if calls["Change"] > 12 {
		t.Errorf("%d batches", calls["Change"])
	}
	r.wantPhase(x, cname("x"), dns.Occupied)
	other := r.objectAs(roleX, 4, cname("z"))
	r.run(time.Minute)
	if s := r.wantPhase(other, cname("z"), dns.Unknown); s.Err == nil || s.Err.Kind != fault.Denied {
		t.Errorf("error %v", s.Err)
	}
	r.provider.before = nil
	r.run(40 * time.Minute)
	r.wantPhase(other, cname("z"), dns.There)
}

// A role of another account does not see the zone; that does not make it gone.
func TestARoleThatDoesNotSeeTheZone(t *testing.T) {
	r := newRig(t)
	y := r.objectAs(roleY, 1, cname("y"))
	r.run(2 * time.Minute)
	r.provider.before = func(c call) error {
		if c.access.RoleARN == roleX {
			return failure(fault.NotFound, c.operation, "no such zone")
		}
		return nil
	}
	x := r.objectAs(roleX, 2, cname("x"))
	r.run(20 * time.Minute)
	r.wantPhase(y, cname("y"), dns.There)
	if s := r.wantPhase(x, cname("x"), dns.Unknown); s.Err == nil || s.Err.Kind != fault.NotFound {
		t.Errorf("error %v", s.Err)
	}
}

// A batch of a previous process may still be on its way.
func TestARestartWaitsForWhatMayBeOnItsWay(t *testing.T) {
	r := newRig(t)
	coming, going, quiet := r.object(1, cname("a")), r.object(2, cname("b")), r.object(3, cname("c"))
	_ = quiet
	r.run(2 * time.Minute)
	going.Wants, going.Ledger = nil, []dns.Entry{{Record: cname("b"), State: dns.Retracting}}
	coming.Ledger[0].State = dns.Intended
	r.provider.remove(zoneID, cname("b").Key())
	r.restart()
	for n := range 3 {
		r.pass(r.objects[owner(n+1)])
	}
	r.run(30 * time.Second)
	r.wantPhase(coming, cname("a"), dns.Coming)
	r.wantPhase(going, cname("b"), dns.Leaving)
	r.wantPhase(quiet, cname("c"), dns.There)
	r.run(31 * time.Second)
	r.wantLedger(coming, "CNAME a.example.com Published")
	r.wantLedger(going)
}

// A crash after the intent was stored, or after the batch was accepted, leaves nothing behind.
func TestCrashes(t *testing.T) {
	for name, at := range map[string]func(r *rig) bool{
		"after the intent": func(r *rig) bool { return len(r.objects[owner(1)].Ledger) > 0 },
		"after the batch":  func(r *rig) bool { return len(r.provider.batches) > 0 },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			o := r.object(1, cname("a"))
			for range 100 {
				if at(r) {
					break
				}
				r.clock.Step(r.Step(t.Context()))
				r.passes()
			}
			r.restart()
			o.Wants = nil // and the object is deleted meanwhile
			r.pass(o)
			r.run(3 * time.Minute)
			r.wantLedger(o)
			r.wantZone()
		})
	}
}

func TestQuietZonesCostLittle(t *testing.T) {
	r := newRig(t)
	for n := range 1000 {
		r.object(n, cname(fmt.Sprintf("n%04d", n)))
	}
	r.run(5 * time.Minute)
	woken := 0
	r.asleep = true
	calls := r.cost(func() { r.run(time.Hour) })
	woken = len(r.woken)
	if woken > 0 {
		t.Errorf("%d objects were woken for nothing", woken)
	}
	if got := calls["ListRecords"]; got != 16 || len(calls) != 1 {
		t.Errorf("%v in an hour, want four listings of four pages", calls)
	}
	for _, o := range r.objects {
		if o.writes != 2 {
			t.Fatalf("%s was written %d times, want intended and published", o.Owner.Name, o.writes)
		}
	}
	if got := len(r.provider.batches); got != 1 {
		t.Errorf("batches %v, want one", r.provider.batches)
	}
}

// Two zones don't wait for each other, and an object may be in both.
func TestObjectsInTwoZones(t *testing.T) {
	r := newRig(t)
	r.provider.addZone("Z2", "example.org")
	other := dns.Record{ZoneID: "Z2", Name: "a.example.org", Type: dns.CNAME, Value: target, TTL: 300}
	r.provider.before = func(c call) error {
		if c.zone == "Z2" {
			return failure(fault.Transient, c.operation, "no answer")
		}
		return nil
	}
	o := r.object(1, cname("a"), other)
	r.run(2 * time.Minute)
	r.wantPhase(o, cname("a"), dns.There)
	r.wantPhase(o, other, dns.Unknown)
	r.provider.before = nil
	r.run(15 * time.Minute)
	r.wantPhase(o, other, dns.There)
	o.Wants = []dns.Record{other}
	r.pass(o)
	r.run(2 * time.Minute)
	r.wantZone()
	if got := r.Stats(); got.Zones != 1 || !slices.Equal(r.provider.state("Z2"), []string{"a.example.org CNAME d1.cloudfront.net (TTL 300)"}) {
		t.Errorf("%+v, %v", got, r.provider.state("Z2"))
	}
}

// Status has the id of the last change: it must not go back and forth between zones.
func TestOfTwoZonesTheLastChangeCounts(t *testing.T) {
	r := newRig(t)
	r.provider.addZone("Z2", "example.org")
	other := dns.Record{ZoneID: "Z2", Name: "a.example.org", Type: dns.CNAME, Value: target, TTL: 300}
	o := r.object(1, cname("a"), other)
	r.run(2 * time.Minute)
	for range 50 {
		r.pass(o)
		if o.view.ChangeID != "C1" {
			t.Fatalf("change %q, want C1: both were sent at once, and the first zone counts", o.view.ChangeID)
		}
	}
	o.Wants = append(o.Wants, dns.Record{ZoneID: "Z2", Name: "b.example.org", Type: dns.CNAME, Value: target, TTL: 300})
	r.pass(o)
	r.run(2 * time.Minute)
	for range 50 {
		r.pass(o)
		if o.view.ChangeID != "C3" {
			t.Fatalf("change %q, want C3, the last one", o.view.ChangeID)
		}
	}
}
