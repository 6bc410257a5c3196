package keyvalue_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/keyvalue"
)

func key(name string) keyvalue.Key { return keyvalue.Key{StoreARN: storeARN, Name: name} }

func entry(name, value string, s keyvalue.State, before ...string) keyvalue.Entry {
	e := keyvalue.Entry{Key: key(name), Digest: keyvalue.Digest(value), State: s}
	for _, b := range before {
		e.Before = append(e.Before, keyvalue.Digest(b))
	}
	return e
}

func present(value string) keyvalue.Standing {
	return keyvalue.Standing{Phase: keyvalue.Present, Found: value}
}

// What the ledger says next of one key.
func TestAdvance(t *testing.T) {
	absent, unknown := keyvalue.Standing{Phase: keyvalue.Absent}, keyvalue.Standing{Phase: keyvalue.Unknown}
	taking := want("k", "a")
	taking.Takeover = true
	settled := keyvalue.Policy{Settled: true}
	type entries = []keyvalue.Entry
	for name, tt := range map[string]struct {
		ledger entries
		want   *keyvalue.Want
		seen   keyvalue.Standing
		policy keyvalue.Policy
		next   entries
	}{
		"an absent key is intended":                            {nil, new(want("k", "a")), absent, keyvalue.Policy{}, entries{entry("k", "a", keyvalue.Intended)}},
		"nothing is intended before the store was read":        {nil, new(want("k", "a")), unknown, keyvalue.Policy{}, nil},
		"a key of others is left alone":                        {nil, new(want("k", "a")), present("b"), keyvalue.Policy{}, nil},
		"an equal one is used, and stays theirs":               {nil, new(want("k", "a")), present("a"), keyvalue.Policy{}, nil},
		"an equal one that an object of the name left is ours": {nil, new(want("k", "a")), present("a"), keyvalue.Policy{Reclaims: true}, entries{entry("k", "a", keyvalue.Intended)}},
		"a takeover intends to replace it":                     {nil, &taking, present("b"), keyvalue.Policy{}, entries{entry("k", "a", keyvalue.Intended)}},
		"what is there is written":                             {entries{entry("k", "a", keyvalue.Intended)}, new(want("k", "a")), present("a"), settled, entries{entry("k", "a", keyvalue.Written)}},
		"a new value remembers the one before":                 {entries{entry("k", "a", keyvalue.Written)}, new(want("k", "b")), present("a"), settled, entries{entry("k", "b", keyvalue.Written, "a")}},
		"until it is there":                                    {entries{entry("k", "b", keyvalue.Written, "a")}, new(want("k", "b")), present("b"), settled, entries{entry("k", "b", keyvalue.Written)}},
		"three earlier values at most":                         {entries{entry("k", "d", keyvalue.Written, "c", "b", "a")}, new(want("k", "e")), present("a"), settled, entries{entry("k", "e", keyvalue.Written, "a", "d", "c")}},
		"an unwanted key stays while it may be used":           {entries{entry("k", "a", keyvalue.Written)}, nil, present("a"), keyvalue.Policy{}, entries{entry("k", "a", keyvalue.Written)}},
		"and is removed then":                                  {entries{entry("k", "a", keyvalue.Written)}, nil, present("a"), settled, entries{entry("k", "a", keyvalue.Removing)}},
		"it leaves the ledger once it is gone":                 {entries{entry("k", "a", keyvalue.Removing)}, nil, absent, settled, entries{}},
		"not before":                                           {entries{entry("k", "a", keyvalue.Removing)}, nil, unknown, settled, entries{entry("k", "a", keyvalue.Removing)}},
		"with an earlier value it is still ours":               {entries{entry("k", "b", keyvalue.Removing, "a")}, nil, present("a"), settled, entries{entry("k", "b", keyvalue.Removing, "a")}},
		"with a value of others it is theirs":                  {entries{entry("k", "a", keyvalue.Removing)}, nil, present("x"), settled, entries{}},
		"without a store there is no key":                      {entries{entry("k", "a", keyvalue.Removing)}, nil, keyvalue.Standing{Phase: keyvalue.NoStore}, settled, entries{}},
		"wanted again while it is removed":                     {entries{entry("k", "a", keyvalue.Removing)}, new(want("k", "a")), absent, settled, entries{entry("k", "a", keyvalue.Intended)}},
		"one that others have created is dropped":              {entries{entry("k", "a", keyvalue.Intended)}, new(want("k", "a")), keyvalue.Standing{Phase: keyvalue.Present, Found: "a", Theirs: true}, settled, entries{}},
		"another object has it":                                {entries{entry("k", "a", keyvalue.Intended)}, new(want("k", "a")), keyvalue.Standing{Phase: keyvalue.Occupied}, settled, entries{entry("k", "a", keyvalue.Removing)}},
	} {
		t.Run(name, func(t *testing.T) {
			var wants []keyvalue.Want
			if tt.want != nil {
				wants = []keyvalue.Want{*tt.want}
			}
			got := keyvalue.Advance(tt.ledger, wants, keyvalue.View{key("k"): tt.seen}, tt.policy)
			if len(got)+len(tt.next) > 0 && !cmp.Equal(tt.next, got) {
				t.Errorf("(-want +got):\n%s", cmp.Diff(tt.next, got))
			}
		})
	}
}

// A listing during which others have changed the store is none.
func TestATornListingIsDiscarded(t *testing.T) {
	p := newPlay(1)
	p.aws.values["k"] = "mine"
	o := p.objects[0]
	o.wants, o.ledger = []keyvalue.Want{want("k", "mine")}, []keyvalue.Entry{entry("k", "mine", keyvalue.Written)}
	p.pass(o, false)
	p.step(works) // the version
	first, _, _ := p.worker.Next(p.now)
	p.worker.Listed(nil, "", nil, p.now) // a page that lacks the key
	if s := p.worker.View(keyvalue.Claim{Owner: o.owner, Ledger: o.ledger}).Of(key("k")); s.Phase != keyvalue.Unknown {
		t.Errorf("after a page alone (%+v) the key is %s", first, s.Phase)
	}
	p.step(works) // the version again, with another number of keys
	if s := p.worker.View(keyvalue.Claim{Owner: o.owner, Ledger: o.ledger}).Of(key("k")); s.Phase != keyvalue.Unknown {
		t.Errorf("after a listing that lacks a key it is %s", s.Phase)
	}
	p.settle()
	if s := p.worker.View(keyvalue.Claim{Owner: o.owner, Ledger: o.ledger}).Of(key("k")); !s.Has("mine") {
		t.Errorf("in the end the key is %+v", s)
	}
}

// A value that changes while its predecessor is there is still the object's when the object goes.
func TestAValueBetweenTwoWrites(t *testing.T) {
	p := newPlay(1)
	o := p.objects[0]
	o.wants = []keyvalue.Want{want("k", "a")}
	p.settle()
	o.wants = []keyvalue.Want{want("k", "b")}
	p.pass(o, false) // it is stored, and not written yet
	o.deleting = true
	p.restart()
	p.settle()
	if len(p.aws.values) > 0 || len(o.ledger) > 0 {
		t.Errorf("left: %v, %+v", p.aws.values, o.ledger)
	}
}

// One value that AWS refuses does not keep the others.
func TestOneRefusedValueOfMany(t *testing.T) {
	p := newPlay(1)
	o := p.objects[0]
	for i := range 30 {
		o.wants = append(o.wants, want(fmt.Sprintf("k%02d", i), "v"))
	}
	o.wants[17].Value = "bad"
	p.pass(o, false)
	for range 400 {
		call, wait, _ := p.worker.Next(p.now)
		if u := call.Update; wait <= 0 && u != nil && strings.Contains(fmt.Sprint(u.Puts), "bad") {
			p.worker.Updated(*u, keyvalue.Info{}, fault.New(fault.Invalid, "UpdateKeys", "bad"), p.now)
		} else if wait < time.Minute {
			p.step(works)
		}
		p.pass(o, false)
	}
	if len(p.aws.values) != 29 {
		t.Errorf("%d of 29 keys are written", len(p.aws.values))
	}
	s := p.worker.View(keyvalue.Claim{Owner: o.owner, Wants: o.wants, Ledger: o.ledger})
	if err := s.Of(key("k17")).Err; err == nil || s.Of(key("k16")).Err != nil {
		t.Errorf("the refused one says %v, its neighbour %v", err, s.Of(key("k16")).Err)
	}
}

// A store has room for so much, and its limit is told before anything is sent.
func TestAFullStore(t *testing.T) {
	s := keyvalue.NewStore(keyvalue.StoreKey{ARN: storeARN})
	now, first := time.Unix(0, 0), keyvalue.Info{ETag: "1", Bytes: keyvalue.MaxStoreBytes - 3}
	w := want("key", "value")
	claim := keyvalue.Claim{Owner: keyvalue.Owner{Name: "o"}, Wants: []keyvalue.Want{w}, Ledger: []keyvalue.Entry{entry("key", "value", keyvalue.Intended)}}
	s.Declare(claim, now)
	s.Described(first, nil, now)
	s.Listed(nil, "", nil, now)
	s.Described(first, nil, now)
	now = now.Add(time.Second)
	call, _, woken := s.Next(now)
	if call.Update != nil {
		t.Errorf("sent: %+v", call.Update)
	}
	if d := cmp.Diff([]keyvalue.Owner{claim.Owner}, woken); d != "" {
		t.Errorf("woken (-want +got):\n%s", d)
	}
	if err := s.View(claim).Of(w.Key).Err; fault.KindOf(err) != fault.Quota || !strings.Contains(err.Error(), "no room") {
		t.Errorf("said: %v", err)
	}
}

// A store that can't be reached keeps what was known of it, and is tried again less and less often.
func TestAStoreThatCannotBeReached(t *testing.T) {
	p := newPlay(1)
	o := p.objects[0]
	o.wants = []keyvalue.Want{want("k", "a")}
	p.settle()
	p.now = p.now.Add(keyvalue.CheckEvery)
	var waits []time.Duration
	for range 4 {
		if call, _, _ := p.worker.Next(p.now); !call.Describe {
			t.Fatalf("due: %+v", call)
		}
		p.worker.Described(keyvalue.Info{}, errors.New("no answer"), p.now)
		_, wait, _ := p.worker.Next(p.now)
		waits = append(waits, wait)
		p.now = p.now.Add(wait)
	}
	if d := cmp.Diff([]time.Duration{5 * time.Second, 5 * time.Second, 10 * time.Second, 20 * time.Second}, waits); d != "" {
		t.Errorf("pauses (-want +got):\n%s", d)
	}
	s := p.worker.View(keyvalue.Claim{Owner: o.owner, Wants: o.wants}).Of(key("k"))
	if !s.Has("a") || s.Err != nil {
		t.Errorf("the key is %+v", s)
	}
}

// An outage of AWS is told once it lasts, and forgotten with the first write.
func TestAnOutageIsTold(t *testing.T) {
	p := newPlay(1)
	o := p.objects[0]
	o.wants = []keyvalue.Want{want("k", "a")}
	since, told := time.Time{}, time.Duration(0)
	for range 200 {
		p.pass(o, false)
		call, wait, _ := p.worker.Next(p.now)
		switch u := call.Update; {
		case wait > 0:
			p.now = p.now.Add(min(wait, time.Second))
		case u == nil:
			p.step(works)
		default:
			if since.IsZero() {
				since = p.now
			}
			p.worker.Updated(*u, keyvalue.Info{}, fault.New(fault.Transient, "UpdateKeys", "ServiceUnavailable"), p.now)
		}
		if s := p.worker.View(keyvalue.Claim{Owner: o.owner, Wants: o.wants, Ledger: o.ledger}).Of(key("k")); s.Err != nil && told == 0 {
			told = p.now.Sub(since)
		}
	}
	if told < 20*time.Second || told > time.Minute {
		t.Errorf("the outage is told after %s", told)
	}
	p.settle()
	if s := p.worker.View(keyvalue.Claim{Owner: o.owner, Wants: o.wants, Ledger: o.ledger}).Of(key("k")); s.Err != nil || !s.Has("a") {
		t.Errorf("after it the key is %+v", s)
	}
}

// A key that others create while an object is about to write it stays theirs, even with the value that the object wants.
func TestOthersAreFirst(t *testing.T) {
	p := newPlay(1)
	o := p.objects[0]
	o.wants = []keyvalue.Want{want("other", "a")}
	p.settle()
	o.wants = append(o.wants, want("k", "a"))
	p.aws.set("k", "a")
	p.pass(o, false) // the store was read before that
	if len(o.ledger) != 2 {
		t.Fatalf("the ledger is %+v", o.ledger)
	}
	p.settle()
	if d := cmp.Diff([]keyvalue.Entry{entry("other", "a", keyvalue.Written)}, o.ledger); d != "" {
		t.Errorf("the ledger (-want +got):\n%s", d)
	}
	o.deleting = true
	p.settle()
	if d := cmp.Diff(map[string]string{"k": "a"}, p.aws.values); d != "" {
		t.Errorf("left (-want +got):\n%s", d)
	}
}

// An update without an answer may have written the key.
func TestALostAnswerIsNoOthers(t *testing.T) {
	p := newPlay(1)
	o := p.objects[0]
	o.wants = []keyvalue.Want{want("k", "a")}
	p.pass(o, false)
	for len(o.ledger) == 0 {
		p.step(works)
		p.pass(o, false)
	}
	p.now = p.now.Add(time.Minute)
	p.step(isLost)
	if !cmp.Equal(p.aws.values, map[string]string{"k": "a"}) {
		t.Fatalf("the store is %v", p.aws.values)
	}
	o.deleting = true
	p.settle()
	if len(p.aws.values) > 0 {
		t.Errorf("left: %v", p.aws.values)
	}
}

// Of two objects that want a key, one that may write nothing now, and has not written it, does not keep it from the other.
func TestAnObjectAtRestHoldsNoKey(t *testing.T) {
	s := keyvalue.NewStore(keyvalue.StoreKey{ARN: storeARN})
	older := keyvalue.Claim{Owner: keyvalue.Owner{Name: "older"}, Born: 1, Wants: []keyvalue.Want{want("k", "a")}}
	younger := keyvalue.Claim{Owner: keyvalue.Owner{Name: "younger"}, Born: 2, Wants: []keyvalue.Want{want("k", "b")}}
	phases := func() (out [2]keyvalue.Phase) {
		return [2]keyvalue.Phase{s.View(older).Of(key("k")).Phase, s.View(younger).Of(key("k")).Phase}
	}
	s.Declare(younger, time.Unix(0, 0))
	for name, tt := range map[string]struct {
		still  bool
		ledger []keyvalue.Entry
		want   [2]keyvalue.Phase
	}{
		"the older one has it":            {false, nil, [2]keyvalue.Phase{keyvalue.Unknown, keyvalue.Occupied}},
		"not while it rests":              {true, nil, [2]keyvalue.Phase{keyvalue.Occupied, keyvalue.Unknown}},
		"unless it has written it before": {true, []keyvalue.Entry{entry("k", "a", keyvalue.Written)}, [2]keyvalue.Phase{keyvalue.Unknown, keyvalue.Occupied}},
	} {
		t.Run(name, func(t *testing.T) {
			older.Still, older.Ledger = tt.still, tt.ledger
			s.Declare(older, time.Unix(0, 0))
			if got := phases(); got != tt.want {
				t.Errorf("the phases are %v, want %v", got, tt.want)
			}
		})
	}
}

// A refusal that ends while writes back off causes no calls.
func TestARefusalThatEndsWhileWritesRest(t *testing.T) {
	p := newPlay(1)
	o := p.objects[0]
	o.wants = []keyvalue.Want{want("bad", "v"), want("good", "v")}
	p.pass(o, false)
	refuse := func(u *keyvalue.Update) {
		kind := fault.Denied
		if strings.Contains(fmt.Sprint(u.Puts), "bad") {
			kind = fault.Invalid
		}
		p.worker.Updated(*u, keyvalue.Info{}, fault.New(kind, "UpdateKeys", "refused"), p.now)
	}
	calls := 0
	for end := p.now.Add(6 * keyvalue.RefusedFor); p.now.Before(end) && calls < 1000; calls++ {
		call, wait, _ := p.worker.Next(p.now)
		switch {
		case wait > 0:
			p.now = p.now.Add(wait)
		case call.Update != nil:
			refuse(call.Update)
		default:
			p.step(works)
		}
		p.pass(o, false)
	}
	if calls == 1000 {
		t.Errorf("%d calls and pauses in %v", calls, p.now.Sub(time.Unix(0, 0)))
	}
}

// A store that changes during each listing says so.
func TestAStoreThatNeverRests(t *testing.T) {
	p := newPlay(1)
	o := p.objects[0]
	o.wants = []keyvalue.Want{want("k", "a")}
	p.pass(o, false)
	var woken []keyvalue.Owner
	for range 4 {
		for call, _, _ := p.worker.Next(p.now); call.Page != nil; call, _, _ = p.worker.Next(p.now) {
			p.step(works)
		}
		p.aws.set("busy", fmt.Sprint(p.aws.version))
		woken = append(woken, p.worker.Described(p.aws.info(), nil, p.now)...)
	}
	if d := cmp.Diff([]keyvalue.Owner{o.owner}, woken); d != "" {
		t.Errorf("woken (-want +got):\n%s", d)
	}
	view := func() keyvalue.Standing {
		return p.worker.View(keyvalue.Claim{Owner: o.owner, Wants: o.wants}).Of(key("k"))
	}
	if err := view().Err; fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "faster than it can be listed") {
		t.Errorf("said: %v", err)
	}
	p.settle()
	if s := view(); !s.Has("a") || s.Err != nil {
		t.Errorf("in the end the key is %+v", s)
	}
}
