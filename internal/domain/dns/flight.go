package dns

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

// flights are the batches that may not be at every server yet.
type flights struct {
	*ground

	rights *rights

	all []*flight
	// restored has what an earlier process may have sent.
	restored *flight
}

// flight is a batch that was accepted, and may not be at every server yet.
type flight struct {
	// id is empty where the provider's id of the change is not known: then time tells.
	id      string
	changes []Change
	access  Access
	// records are those created and deleted.
	records map[Record]bool
	sent    time.Time
	next    time.Time
	tries   int
	// until is when a batch without an id counts as in sync. Zero: the zone was not listed yet.
	until time.Time
	// err is why the provider does not tell how far the batch is.
	err *fault.Error
	// slow is true once it takes longer than usual.
	slow bool
	// units are what was sent. reread is true once names of theirs were read again that did not show it.
	units  []Unit
	reread bool
}

// slowAfter is how long a batch is on its way before the objects that wait for it are told. It would
// cost each of them a write to hear of a batch that is in sync a moment later.
const slowAfter = 45 * time.Second

// shownAfter is how long a server may take to show what it has accepted.
const shownAfter = 10 * time.Second

// propagation is how long a change may take to every server whose id is not known. It usually
// takes less.
const propagation = time.Minute

// The rhythm of asking whether a change is in sync.
const (
	pollEvery  = 2 * time.Second
	pollAtMost = 30 * time.Second
)

// pollAgain is the pause where the question is refused.
var pollAgain = retry.Backoff{First: 10 * time.Second, Last: 1280 * time.Second}

// at is when the batch is asked for next.
func (f *flight) at() time.Time {
	if f == nil {
		return time.Time{}
	}
	return f.next
}

// names are those of the records that the flight brings.
func (f *flight) names() (names []string) {
	for r := range f.records {
		names = append(names, r.Name)
	}
	return names
}

// with returns the batch that the record is on its way with, nil if there is none.
func (f *flights) with(r Record) *flight {
	for _, one := range slices.Backward(f.all) {
		if one.records[r] {
			return one
		}
	}
	return nil
}

// supersede takes out of earlier batches what a later one has changed: no server will show it any more.
func (f *flights) supersede(batch []Unit) {
	later := make(map[string][]Change, len(batch))
	for _, u := range batch {
		later[u.Name] = append(later[u.Name], u.Changes...)
	}
	for _, one := range f.all {
		one.changes = slices.DeleteFunc(slices.Clone(one.changes), func(c Change) bool {
			return slices.ContainsFunc(later[c.Set.Name], func(l Change) bool { return l.Set.Clashes(c.Set.Key) })
		})
	}
}

// due returns the batch to be asked for first.
func (f *flights) due() (first *flight) {
	for _, one := range f.all {
		if one.id != "" && (first == nil || one.next.Before(first.next)) {
			first = one
		}
	}
	return first
}

// followed counts the batches whose ids are known.
func (f *flights) followed() (n int) {
	for _, one := range f.all {
		if one.id != "" {
			n++
		}
	}
	return n
}

// restore adds a record that an earlier process may have sent.
func (f *flights) restore(r Record, until time.Time) {
	if f.restored == nil {
		f.restored = &flight{records: map[Record]bool{}, until: until}
		f.all = append(f.all, f.restored)
	}
	f.restored.records[r] = true
}

// noteVanished notes the records of ledgers that others have deleted since the name had these sets, if they were known:
// servers may show them for a while.
func (f *flights) noteVanished(name string, before []RecordSet, known bool) {
	one := &flight{records: map[Record]bool{}, until: f.at.Now.Add(propagation)}
	had, has := Place{Name: name, Sets: before}, f.place(name)
	for _, c := range f.claims.names[name] {
		for _, e := range c.Ledger {
			was := had.has(e.Record) || !known && e.State == Published
			if e.Name == name && was && !has.has(e.Record) && f.with(e.Record) == nil {
				one.records[e.Record] = true
			}
		}
	}
	if len(one.records) > 0 {
		f.all = append(f.all, one)
	}
}

func (f *flights) begin() {
	if one := f.due(); one != nil {
		one.changes = f.pending(one)
		f.effects.Call = AskSync{Access: one.access, Sent: Sent{ID: one.id, Changes: one.changes}, flight: one}
	}
}

// pending are the changes of a flight without the creations that others have undone since. Servers may never show
// these, where they are not created again.
func (f *flights) pending(one *flight) []Change {
	absent := map[Key][]Record{}
	for r := range one.records {
		if !f.place(r.Name).shows(r) {
			absent[r.Key()] = append(absent[r.Key()], r)
		}
	}
	return slices.DeleteFunc(slices.Clone(one.changes), func(c Change) bool {
		undone := slices.ContainsFunc(absent[c.Set.Key], c.Set.Is)
		if c.Owner == (Owner{}) { // it was put back
			undone = !slices.ContainsFunc(f.contents.sets[c.Set.Name], c.Set.equals)
		}
		return c.Action == Create && undone
	})
}

func (e SyncAnswered) happen(z *ZoneState) {
	f, now := e.Call.flight, z.at.Now
	age := now.Sub(f.sent)
	f.next = now.Add(min(max(pollEvery, age/4), pollAtMost))
	if age >= slowAfter && !f.slow {
		f.slow = true
		z.touch(f.names()...)
	}
	done := e.Done
	left, isLeft := errors.AsType[*LeftOut](e.Err)
	switch wait := comeBack(e.Err); {
	case wait > 0:
		f.next = now.Add(wait)
		return
	case isLeft:
		z.leftOut(f, left)
		return
	case fault.Is(e.Err, fault.NotFound):
		// The provider forgets changes that were made long ago.
		done = true
	case fault.Is(e.Err, fault.Throttled, fault.Transient):
		return
	case e.Err != nil:
		// Someone has to allow the question first.
		f.tries++
		f.err, f.next = asFault(e.Err), now.Add(retry.Jitter(pollAgain.Delay(f.tries), z.at.Random))
		z.touch(f.names()...)
		return
	default:
		f.err = nil
	}
	if done {
		z.effects.Propagated = append(z.effects.Propagated, age)
		z.outbox.shown(f)
		z.flights.end(f)
	}
}

// leftOut has names read that don't show what was created: what is not there is created again, or refused. If it is there
// nevertheless, the objects that wait for it are told.
func (z *ZoneState) leftOut(f *flight, left *LeftOut) {
	switch {
	case z.at.Now.Sub(f.sent) < shownAfter:
		return
	case f.reread:
		f.err = left.fault
		z.touch(f.names()...)
		return
	}
	f.reread = true
	for _, u := range f.units {
		if !slices.Contains(left.Names, u.Name) {
			continue
		}
		z.mayHaveSent(u)
		if !z.outbox.busy(u.Name) {
			z.doubts.rechecks[u.Name] = recheck{unit: u, err: left.fault}
		}
		z.touch(u.Name)
	}
}

// end ends a flight.
func (f *flights) end(one *flight) {
	f.all = slices.DeleteFunc(f.all, func(o *flight) bool { return o == one })
	if f.restored == one {
		f.restored = nil
	}
	f.touch(one.names()...)
}

// unidentified stands for the id of a change that is not known, where the provider needs none.
const unidentified = "unidentified"

// land ends the flights whose time is over, or has the provider asked about them.
func (f *flights) land() {
	for _, one := range slices.Clone(f.all) {
		if one.id == "" && !one.until.IsZero() && !f.at.Now.Before(one.until) && !f.follow(one) {
			f.end(one)
		}
	}
}

// follow has the provider asked about a flight without an id, if it can be and there is something to see. It reports
// whether that is so.
func (f *flights) follow(one *flight) bool {
	if !f.traits.Anonymous {
		return false
	}
	for r := range one.records {
		if f.place(r.Name).shows(r) {
			one.changes = append(one.changes, Change{Action: Create, Set: r.Set()})
		}
	}
	if len(one.changes) == 0 {
		return false
	}
	access, some := f.rights.reader(f.at.Now)
	if !some {
		one.changes, one.until = nil, f.at.Now.Add(propagation)
		return true
	}
	one.access = access
	slices.SortFunc(one.changes, func(a, b Change) int { return cmp.Compare(a.Set.Name, b.Set.Name) })
	one.id, one.sent, one.next = unidentified, f.at.Now, f.at.Now
	return true
}
