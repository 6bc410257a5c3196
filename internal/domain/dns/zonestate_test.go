package dns_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// traits are those of a provider with tiny pages and batches.
var traits = dns.Traits{Batch: dns.Limits{Records: 10, Characters: 2000}, PageSize: 3, ListZones: "zones", ListRecords: "records"}

// syncAfter is how long a change takes to every server.
const syncAfter = 30 * time.Second

// worker plays what the worker of a zone does: it makes the calls that the state asks for, to a zone in memory.
type worker struct {
	state *dns.ZoneState
	now   time.Time
	zone  memory
	woken []dns.Owner
	// answer, if set, is the error that a call is answered with instead of being made.
	answer func(dns.Call) error
	// lost, if set, reports whether the answer to a batch gets lost after it was carried out.
	lost func() bool
	// synced is when each change is at every server.
	synced []time.Time
	// everywhere is when every server shows what was last done to a set, which is rendered with its name.
	everywhere map[string]time.Time
	sent       []string
}

func newWorker(zone memory) *worker {
	w := &worker{now: born, zone: zone, everywhere: map[string]time.Time{}}
	w.restart()
	return w
}

// restart loses what was known.
func (w *worker) restart() { w.state, w.woken = dns.NewZoneState(traits, w.now), nil }

func (w *worker) apply(e dns.Event) dns.Effects {
	effects := w.state.Apply(dns.Moment{Now: w.now, Random: 0.5}, e)
	w.woken = append(w.woken, effects.Woken...)
	return effects
}

// declare declares a claim and returns how its records stand.
func (w *worker) declare(c dns.Claim) dns.View {
	c.Wants, c.Ledger = slices.Clone(c.Wants), slices.Clone(c.Ledger)
	w.apply(dns.Declared{Claim: c})
	view := dns.View{Records: map[dns.Record]dns.Standing{}}
	w.state.Answer(c, &view)
	return view
}

// begin lets time pass until something is due, and begins it.
func (w *worker) begin() dns.Call {
	due, job := w.state.Due(w.now)
	if due.After(w.now) {
		w.now = due
	}
	return w.apply(dns.Begun{Job: job}).Call
}

// step does what is due next.
func (w *worker) step() {
	if call := w.begin(); call != nil {
		w.apply(w.perform(call))
	}
}

// perform makes a call.
func (w *worker) perform(call dns.Call) dns.Event {
	var err error
	if w.answer != nil {
		err = w.answer(call)
	}
	switch c := call.(type) {
	case dns.ReadName:
		sets := slices.DeleteFunc(w.zone.sets(), func(s dns.RecordSet) bool { return s.Name != c.Name })
		return dns.NameRead{Call: c, Sets: sets, Err: err}
	case dns.ListPage:
		page, next := w.page(c.Marker)
		return dns.PageListed{Call: c, Page: page, Next: next, Err: err}
	case dns.AskSync:
		return dns.SyncAnswered{Call: c, Done: !w.now.Before(w.synced[len(c.Sent.ID)-1]), Err: err}
	case dns.SendBatch:
		if err == nil {
			err = w.change(c.Changes)
		}
		// The id of the nth change has n letters.
		return dns.BatchAnswered{Call: c, ChangeID: strings.Repeat("c", len(w.synced)), Err: err}
	}
	return nil
}

// page has the sets from a marker on, which is a name and type.
func (w *worker) page(marker string) (page []dns.RecordSet, next string) {
	for _, s := range w.zone.sets() {
		switch at := s.Name + " " + s.Type; {
		case at < marker:
		case len(page) == traits.PageSize:
			return page, at
		default:
			page = append(page, s)
		}
	}
	return page, ""
}

func (w *worker) change(changes []dns.Change) error {
	if err := w.zone.change(changes); err != nil {
		kind := fault.Invalid
		if strings.HasSuffix(err.Error(), "already exists") {
			kind = fault.Exists
		}
		return refusal(kind)
	}
	for _, c := range changes {
		w.everywhere[c.Set.Name+" "+c.Set.String()] = w.now.Add(syncAfter)
		w.sent = append(w.sent, string(c.Action)+" "+c.Set.Name)
	}
	w.synced = append(w.synced, w.now.Add(syncAfter))
	if w.lost != nil && w.lost() {
		return refusal(fault.Transient)
	}
	return nil
}

func refusal(kind fault.Kind) *fault.Error {
	return &fault.Error{Kind: kind, Operation: "change", Message: "because"}
}

// until does what is due until that is a job.
func (w *worker) until(t *testing.T, want dns.Job) {
	t.Helper()
	for range 50 {
		if _, job := w.state.Due(w.now); job == want {
			return
		}
		w.step()
	}
	t.Fatalf("job %d is never due", want)
}

func standingOf(w *worker, c dns.Claim) dns.Standing { return w.declare(c).Of(c.Ledger[0].Record) }

func TestANewZoneIsListedFirst(t *testing.T) {
	w := newWorker(memory{})
	a := cname("a.example.com", target)
	c := dns.Claim{Owner: owner(1), Wants: []dns.Record{a}}
	if got := w.declare(c).Of(a); got.Phase != dns.Unknown {
		t.Errorf("%+v, want unknown", got)
	}
	if due, job := w.state.Due(w.now); job != dns.Listing || !due.Equal(w.now) {
		t.Errorf("job %d at %s, want a listing now", job, due)
	}
	w.step()
	if d := cmp.Diff([]dns.Owner{owner(1)}, w.woken); d != "" {
		t.Errorf("woken (-want +got):\n%s", d)
	}
	if got := w.declare(c).Of(a); got.Phase != dns.Absent {
		t.Errorf("%+v, want absent: the zone is empty", got)
	}
	if due, job := w.state.Due(w.now); job != dns.Idle && job != dns.Listing || due.Sub(w.now) < time.Minute {
		t.Errorf("job %d at %s, want nothing for a while: nothing is intended", job, due)
	}
}

// The consequences of the answer to a batch of one record: the state of the record, and the next call.
func TestAnswersToABatch(t *testing.T) {
	throttled := refusal(fault.Throttled)
	throttled.RetryAfter = 7 * time.Second
	for sentence, test := range map[string]struct {
		err   error
		phase dns.Phase
		why   bool
		next  dns.Job
		after time.Duration
	}{
		"accepted, it is on its way":                          {nil, dns.Coming, false, dns.Polling, 2 * time.Second},
		"a limiter only postpones it":                         {throttled, dns.Absent, false, dns.Sending, 7 * time.Second},
		"a throttle postpones it too":                         {refusal(fault.Throttled), dns.Absent, false, dns.Sending, time.Second},
		"a lost answer may have been a yes: the name is read": {refusal(fault.Transient), dns.Coming, false, dns.Reading, time.Second},
		"so it is after a refusal of what exists":             {refusal(fault.Exists), dns.Coming, false, dns.Reading, 0},
		"and of what is not valid":                            {refusal(fault.Invalid), dns.Coming, false, dns.Reading, 0},
		"a quota is tried again":                              {refusal(fault.Quota), dns.Refused, true, dns.Expiring, 5 * time.Second},
		"an identity that may change nothing waits":           {refusal(fault.Denied), dns.Unknown, true, dns.Expiring, 5 * time.Second},
		"a zone that is gone takes all with it":               {refusal(fault.NotFound), dns.NoZone, false, dns.Expiring, 5 * time.Second},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := newWorker(memory{})
			c := dns.Claim{Owner: owner(1), Ledger: []dns.Entry{entry(cname("a.example.com", target), dns.Intended)}}
			w.declare(c)
			w.until(t, dns.Sending)
			call := w.begin()
			batch, ok := call.(dns.SendBatch)
			if !ok || len(batch.Changes) != 1 {
				t.Fatalf("call %+v, want a batch of one change", call)
			}
			w.apply(dns.BatchAnswered{Call: batch, ChangeID: "c", Err: test.err})
			if got := standingOf(w, c); got.Phase != test.phase || (got.Err != nil) != test.why {
				t.Errorf("it stands %+v, want %s", got, test.phase)
			}
			due, job := w.state.Due(w.now)
			if job != test.next || due.Sub(w.now) != test.after {
				t.Errorf("job %d in %s, want %d in %s", job, due.Sub(w.now), test.next, test.after)
			}
		})
	}
}

// A record that was refused as existing is ours if an answer may have been lost, and a stranger's otherwise.
func TestWhoseRecordItIsThatExists(t *testing.T) {
	a := cname("a.example.com", target)
	for sentence, test := range map[string]struct {
		lost, restarted bool
		want            dns.Standing
	}{
		"an answer was lost":               {lost: true, want: dns.Standing{Phase: dns.Coming}},
		"an earlier process may have sent": {restarted: true, want: dns.Standing{Phase: dns.Coming}},
		"no answer was ever lost":          {want: dns.Standing{Phase: dns.There, Foreign: true}},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := newWorker(memory{})
			c := dns.Claim{Owner: owner(1), Wants: []dns.Record{a}}
			if !test.restarted {
				w.declare(c)
				w.step()
			}
			c.Ledger = []dns.Entry{entry(a, dns.Intended)}
			w.declare(c)
			w.until(t, dns.Sending)
			w.lost = func() bool { return test.lost }
			if !test.lost {
				w.zone[a.Key()] = a.Set()
			}
			w.step()
			w.step()
			if d := cmp.Diff(test.want, standingOf(w, c)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// intending is a worker of an empty zone that is about to send a record for each name.
func intending(t *testing.T, names ...string) (*worker, []dns.Claim) {
	t.Helper()
	w := newWorker(memory{})
	var all []dns.Claim
	for n, name := range names {
		c := dns.Claim{Owner: owner(n), Ledger: []dns.Entry{entry(cname(name+".example.com", target), dns.Intended)}}
		all = append(all, c)
		w.declare(c)
	}
	w.until(t, dns.Sending)
	return w, all
}

func TestNothingMoreIsSentForANameBeforeTheAnswer(t *testing.T) {
	w, claims := intending(t, "a")
	call := w.begin()
	if got := standingOf(w, claims[0]); got.Phase != dns.Coming {
		t.Errorf("%+v, want coming: it may be there this very moment", got)
	}
	claims[0].Ledger[0].State = dns.Retracting
	w.declare(claims[0])
	if due, job := w.state.Due(w.now); job == dns.Sending {
		t.Errorf("another batch is due at %s", due)
	}
	w.apply(w.perform(call))
	w.until(t, dns.Sending)
}

func TestForgettingAClaimMakesRoomAtOnce(t *testing.T) {
	w, claims := intending(t, "a")
	second := dns.Claim{Owner: owner(1), Ledger: []dns.Entry{entry(cname("a.example.com", "other.example.com"), dns.Intended)}}
	w.declare(second)
	w.answer = func(dns.Call) error { return refusal(fault.Invalid) }
	w.step()
	w.answer = nil
	w.until(t, dns.Reading)
	w.step()
	if due, job := w.state.Due(w.now); job == dns.Sending && !due.After(w.now) {
		t.Fatal("the second is sent although the first, which waits for its next try, has the name")
	}
	if effects := w.apply(dns.Forgotten{Owner: claims[0].Owner}); !effects.Sooner {
		t.Error("the worker is not told that there is something to send")
	}
	if due, job := w.state.Due(w.now); job != dns.Sending || due.After(w.now.Add(time.Minute)) {
		t.Errorf("job %d at %s, want the second sent", job, due)
	}
}

// A page that was requested before a batch, or before its answer was lost, shows the zone as it was.
func TestAPageFromBeforeABatch(t *testing.T) {
	for sentence, test := range map[string]struct {
		err  error
		want dns.Job
	}{
		"does not hide what was accepted": {nil, dns.Polling},
		"does not end a doubt":            {refusal(fault.Transient), dns.Reading},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := newWorker(memory{})
			a := cname("a.example.com", target)
			c := dns.Claim{Owner: owner(1), Wants: []dns.Record{a}}
			w.declare(c)
			w.step()
			w.now = w.now.Add(time.Hour)
			page, ok := w.begin().(dns.ListPage)
			if !ok {
				t.Fatal("no listing after an hour")
			}
			c.Ledger = []dns.Entry{entry(a, dns.Intended)}
			w.declare(c)
			w.now = w.now.Add(time.Second)
			batch, ok := w.apply(dns.Begun{Job: dns.Sending}).Call.(dns.SendBatch)
			if !ok {
				t.Fatal("no batch")
			}
			w.apply(dns.BatchAnswered{Call: batch, ChangeID: "c", Err: test.err})
			w.apply(dns.PageListed{Call: page})
			if got := standingOf(w, c); got.Phase != dns.Coming {
				t.Errorf("%+v, want coming", got)
			}
			if _, job := w.state.Due(w.now); job != test.want {
				t.Errorf("job %d is due, want %d", job, test.want)
			}
		})
	}
}

// A record that others delete is shown by servers for a while, however the operator hears of that.
func TestARecordThatOthersDelete(t *testing.T) {
	a := cname("a.example.com", target)
	c := dns.Claim{Owner: owner(1), Ledger: []dns.Entry{entry(a, dns.Published)}}
	for sentence, lookAgain := range map[string]func(*worker){
		"is gone at the next listing":         func(w *worker) { w.now = w.now.Add(time.Hour); w.step() },
		"is gone when the operator starts":    func(w *worker) { w.restart(); w.declare(c); w.step() },
		"is gone when its name is read again": func(w *worker) { w.apply(dns.NameRead{Call: dns.ReadName{Name: a.Name}}) },
	} {
		t.Run(sentence, func(t *testing.T) {
			w := newWorker(memory{a.Key(): a.Set()})
			w.declare(c)
			w.step()
			delete(w.zone, a.Key())
			lookAgain(w)
			c := c
			c.Ledger = []dns.Entry{entry(a, dns.Retracting)}
			if got := standingOf(w, c); got.Phase != dns.Leaving {
				t.Errorf("%+v, want leaving", got)
			}
			w.now = w.now.Add(time.Minute)
			w.step()
			if got := standingOf(w, c); got.Phase != dns.Absent {
				t.Errorf("%+v a minute later, want absent", got)
			}
		})
	}
}

// The denials of an identity are forgotten once it has changed the zone.
func TestAnIdentityThatMayChangeTheZoneAgain(t *testing.T) {
	w, claims := intending(t, "a")
	w.answer = func(call dns.Call) error {
		if _, ok := call.(dns.SendBatch); ok {
			return refusal(fault.Denied)
		}
		return nil
	}
	w.step()
	other := dns.Claim{Owner: owner(9), Wants: []dns.Record{cname("z.example.com", target)}}
	if got := w.declare(other).Of(other.Wants[0]); got.Phase != dns.Unknown || got.Err == nil {
		t.Errorf("%+v of another object, want unknown, and why", got)
	}
	w.answer = nil
	for range 4 {
		w.step()
	}
	if got := w.declare(other).Of(other.Wants[0]); got.Phase != dns.Absent {
		t.Errorf("%+v of another object, want absent", got)
	}
	if got := standingOf(w, claims[0]); got.Phase != dns.Coming {
		t.Errorf("%+v, want coming", got)
	}
	other.Ledger = []dns.Entry{entry(other.Wants[0], dns.Intended)}
	if got := standingOf(w, other); got.Phase != dns.Absent || got.Err != nil {
		t.Errorf("%+v of what is about to be sent, want absent", got)
	}
}

// In a zone that is full what leaves does not wait for what needs room.
func TestWhatMakesRoomIsSentFirst(t *testing.T) {
	w, claims := intending(t, "comes", "leaves")
	w.step()
	w.now = w.now.Add(time.Minute)
	claims[1].Ledger[0].State = dns.Retracting
	w.declare(claims[1])
	more := dns.Claim{Owner: owner(3), Ledger: []dns.Entry{entry(cname("more.example.com", target), dns.Intended)}}
	w.declare(more)
	w.until(t, dns.Sending)
	w.answer = func(call dns.Call) error {
		if batch, ok := call.(dns.SendBatch); ok && slices.ContainsFunc(batch.Changes, func(c dns.Change) bool { return c.Action == dns.Create }) {
			return refusal(fault.Quota)
		}
		return nil
	}
	w.sent = nil
	w.step()
	if due, job := w.state.Due(w.now); job != dns.Sending || due.After(w.now) {
		t.Errorf("job %d at %s, want the rest of the batch now", job, due)
	}
	w.step()
	if d := cmp.Diff([]string{"DELETE leaves.example.com"}, w.sent); d != "" {
		t.Errorf("sent (-want +got):\n%s", d)
	}
	if got := standingOf(w, more); got.Phase != dns.Refused {
		t.Errorf("%+v, want refused", got)
	}
}

func TestABatchThatIsRefusedIsHalved(t *testing.T) {
	w, all := intending(t, "a", "b", "c", "d")
	w.answer = func(call dns.Call) error {
		batch, _ := call.(dns.SendBatch)
		for _, c := range batch.Changes {
			if c.Set.Name == "c.example.com" {
				return refusal(fault.Invalid)
			}
		}
		return nil
	}
	for range 12 {
		w.step()
	}
	slices.Sort(w.sent)
	if d := cmp.Diff([]string{"CREATE a.example.com", "CREATE b.example.com", "CREATE d.example.com"}, w.sent); d != "" {
		t.Errorf("carried out (-want +got):\n%s", d)
	}
	if got := standingOf(w, all[2]); got.Phase != dns.Refused || got.Err == nil {
		t.Errorf("%+v, want refused", got)
	}
}

// Nothing is concluded from pages that do not come to an end.
func TestAListThatRepeatsItselfIsNone(t *testing.T) {
	w := newWorker(memory{})
	c := dns.Claim{Owner: owner(1), Wants: []dns.Record{cname("a.example.com", target)}}
	w.declare(c)
	for range 20 {
		if page, ok := w.begin().(dns.ListPage); ok {
			w.apply(dns.PageListed{Call: page, Next: "again"})
		}
	}
	if got := w.declare(c).Of(c.Wants[0]); got.Phase != dns.Unknown || got.Err == nil {
		t.Errorf("%+v, want unknown, and why", got)
	}
}

func TestAnAnswerIsOfTheListingThatAskedForIt(t *testing.T) {
	w := newWorker(memory{})
	a := cname("a.example.com", target)
	c := dns.Claim{Owner: owner(1), Wants: []dns.Record{a}}
	w.declare(c)
	page, ok := w.begin().(dns.ListPage)
	if !ok {
		t.Fatal("no listing")
	}
	w.apply(dns.PageListed{Call: page})
	// The same answer once more belongs to no listing.
	w.apply(dns.PageListed{Call: page, Page: []dns.RecordSet{a.Set()}})
	if got := w.declare(c).Of(a); got.Phase != dns.Absent {
		t.Errorf("%+v, want absent", got)
	}
}

// Servers that are asked whether they show a change are not asked for what a later one has replaced: they never would.
func TestALaterChangeOfANameTakesItOutOfEarlierOnes(t *testing.T) {
	w := newWorker(memory{})
	a, b := cname("a.example.com", target), cname("b.example.com", target)
	claim := func(version uint64, state dns.State) dns.Claim {
		return dns.Claim{Owner: owner(1), Version: version, Ledger: []dns.Entry{entry(a, state), entry(b, dns.Intended)}}
	}
	w.declare(claim(1, dns.Intended))
	w.until(t, dns.Sending)
	w.step()
	w.declare(claim(2, dns.Retracting))
	asked := map[string][]string{}
	for range 50 {
		call := w.begin()
		if ask, ok := call.(dns.AskSync); ok {
			asked[ask.Sent.ID] = nil
			for _, c := range ask.Sent.Changes {
				asked[ask.Sent.ID] = append(asked[ask.Sent.ID], string(c.Action)+" "+c.Set.Name)
			}
			if len(w.sent) < 3 {
				delete(asked, ask.Sent.ID) // the second batch was not sent yet
				w.apply(dns.SyncAnswered{Call: ask})
				continue
			}
		}
		if call != nil {
			w.apply(w.perform(call))
		}
	}
	want := map[string][]string{"c": {"CREATE b.example.com"}, "cc": {"DELETE a.example.com"}}
	if d := cmp.Diff(want, asked); d != "" {
		t.Errorf("asked for (-want +got):\n%s", d)
	}
}
