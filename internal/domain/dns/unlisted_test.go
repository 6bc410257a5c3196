package dns_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// unlisted is a worker of a provider whose listings are empty, whatever servers show, which is what reading a name tells.
type unlisted struct {
	*worker
	// reads counts the names that were read.
	reads int
}

func newUnlisted(shown ...dns.Record) *unlisted {
	w := &unlisted{worker: newWorker(memory{})}
	for _, r := range shown {
		w.zone[r.Key()] = r.Set()
	}
	t := traits
	t.Unlisted = true
	w.state = dns.NewZoneState(t, w.now)
	return w
}

// run does what is due within so long.
func (w *unlisted) run(d time.Duration) {
	end := w.now.Add(d)
	for {
		due, _ := w.state.Due(w.now)
		if due.After(end) {
			w.now = end
			return
		}
		switch call := w.begin().(type) {
		case nil:
		case dns.ListPage:
			w.apply(dns.PageListed{Call: call})
		case dns.ReadName:
			w.reads++
			w.apply(w.perform(call))
		default:
			w.apply(w.perform(call))
		}
	}
}

// Where a listing may leave out what servers show, a record of a ledger that it does not have is looked for before it counts
// as absent.
func TestANameThatIsNotListedIsRead(t *testing.T) {
	a := cname("a.example.com", target)
	for says, c := range map[string]struct {
		shown []dns.Record
		state dns.State
		// late is true where the object is declared after the zone was listed.
		late bool
		want dns.Phase
	}{
		"what servers show is not gone":                           {[]dns.Record{a}, dns.Retracting, false, dns.Refused},
		"what servers show is not gone for an object that is new": {[]dns.Record{a}, dns.Retracting, true, dns.Refused},
		"what no server shows is gone":                            {nil, dns.Retracting, false, dns.Absent},
		"a published record that servers show is there":           {[]dns.Record{a}, dns.Published, false, dns.There},
		"a published record that no server shows is absent":       {nil, dns.Published, true, dns.Absent},
	} {
		t.Run(says, func(t *testing.T) {
			w := newUnlisted(c.shown...)
			w.answer = func(call dns.Call) error {
				if _, sends := call.(dns.SendBatch); sends {
					return refusal(fault.Conflict)
				}
				return nil
			}
			claim := dns.Claim{Owner: owner(1), Ledger: []dns.Entry{entry(a, c.state)}}
			if c.late {
				w.declare(dns.Claim{Owner: owner(2), Wants: []dns.Record{cname("b.example.com", target)}})
				w.run(5 * time.Minute)
			}
			if got := standingOf(w.worker, claim).Phase; got == dns.Absent {
				t.Errorf("it is %s before anything was read", got)
			}
			w.run(5 * time.Minute)
			if got := standingOf(w.worker, claim).Phase; got != c.want {
				t.Errorf("it is %s, want %s", got, c.want)
			}
			w.reads = 0
			w.run(time.Hour)
			if w.reads > 10 {
				t.Errorf("the name is read %d times in an hour", w.reads)
			}
		})
	}
}

// A record that servers still show after its object was lost is not another's: it is not given up because it can't be created.
func TestAPublishedRecordThatServersStillShowIsNotForeign(t *testing.T) {
	a := cname("a.example.com", target)
	w := newUnlisted()
	claim := dns.Claim{Owner: owner(1), Wants: []dns.Record{a}, Ledger: []dns.Entry{entry(a, dns.Published)}, Correct: true}
	w.declare(claim)
	w.answer = func(call dns.Call) error {
		if _, sends := call.(dns.SendBatch); sends {
			w.zone[a.Key()] = a.Set()
			return refusal(fault.Exists)
		}
		return nil
	}
	w.run(5 * time.Minute)
	claim.Ledger[0].State, claim.Wants, claim.Version = dns.Retracting, nil, 1
	if got := standingOf(w.worker, claim); got.Phase != dns.There {
		t.Errorf("it is %+v, want %s: it has to be deleted", got, dns.There)
	}
}

// A provider is not asked for ever whether servers show what others have deleted before they did.
func TestACreationThatOthersUndoIsNotAwaited(t *testing.T) {
	a := cname("a.example.com", target)
	w := newWorker(memory{})
	claim := dns.Claim{Owner: owner(1), Ledger: []dns.Entry{entry(a, dns.Intended)}}
	w.declare(claim)
	w.until(t, dns.Polling)
	delete(w.zone, a.Key())
	claim.Ledger[0].State, claim.Version = dns.Retracting, 1
	asked := 0
	w.answer = func(call dns.Call) error {
		if call, asks := call.(dns.AskSync); asks {
			if asked++; len(call.Sent.Changes) > 0 {
				return refusal(fault.Transient) // it never shows
			}
		}
		return nil
	}
	w.now = w.now.Add(20 * time.Minute)
	w.until(t, dns.Listing)
	w.step()
	w.declare(claim)
	for range 100 {
		w.step()
	}
	if got := standingOf(w, claim).Phase; got != dns.Absent || asked == 0 {
		t.Errorf("it is %s after %d questions, want %s: %s", got, asked, dns.Absent, strings.Join(w.sent, ", "))
	}
}
