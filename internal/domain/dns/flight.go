package dns

import (
	"cmp"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

// flights are the batches that may not be at every server yet.
type flights struct {
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
}

// slowAfter is how long a batch is on its way before those who wait for it are told. It would
// cost each of them a write to hear of a batch that is in sync a moment later.
const slowAfter = 45 * time.Second

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
	names := make(map[string]bool, len(batch))
	for _, u := range batch {
		names[u.Name] = true
	}
	for _, one := range f.all {
		one.changes = slices.DeleteFunc(slices.Clone(one.changes), func(c Change) bool { return names[c.Set.Name] })
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

// vanished notes the records of ledgers that others have deleted since the name had these sets, if they were known: servers
// may show them for a while.
func (z *ZoneState) vanished(name string, before []RecordSet, known bool) {
	f := &flight{records: map[Record]bool{}, until: z.at.Now.Add(propagation)}
	had, has := Place{Name: name, Sets: before}, z.place(name)
	for _, c := range z.claims.names[name] {
		for _, e := range c.Ledger {
			was := had.has(e.Record) || !known && e.State == Published
			if e.Name == name && was && !has.has(e.Record) && z.flights.with(e.Record) == nil {
				f.records[e.Record] = true
			}
		}
	}
	if len(f.records) > 0 {
		z.flights.all = append(z.flights.all, f)
	}
}

func (z *ZoneState) beginPoll() {
	if f := z.flights.due(); f != nil {
		f.changes = z.pending(f)
		z.effects.Call = AskSync{Access: f.access, Sent: Sent{ID: f.id, Changes: f.changes}, flight: f}
	}
}

// pending are the changes of a flight without the creations that others have undone since. To wait until servers show these
// would be to wait for ever, where they are not created again.
func (z *ZoneState) pending(f *flight) []Change {
	absent := map[Key][]Record{}
	for r := range f.records {
		if !z.place(r.Name).shows(r) {
			absent[r.Key()] = append(absent[r.Key()], r)
		}
	}
	return slices.DeleteFunc(slices.Clone(f.changes), func(c Change) bool {
		return c.Action == Create && slices.ContainsFunc(absent[c.Set.Key], c.Set.Is)
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
	switch wait := comeBack(e.Err); {
	case wait > 0:
		f.next = now.Add(wait)
		return
	case fault.Is(e.Err, fault.NotFound):
		// The provider forgets changes that were made long ago.
		done = true
	case fault.Is(e.Err, fault.Throttled, fault.Transient):
		return
	case e.Err != nil:
		// A person has to allow the question first.
		f.tries++
		f.err, f.next = asFault(e.Err), now.Add(retry.Jitter(pollAgain.Delay(f.tries), z.at.Random))
		z.touch(f.names()...)
		return
	default:
		f.err = nil
	}
	if done {
		z.effects.Propagated = append(z.effects.Propagated, age)
		z.arrived(f)
	}
}

// arrived ends a flight.
func (z *ZoneState) arrived(f *flight) {
	z.flights.all = slices.DeleteFunc(z.flights.all, func(o *flight) bool { return o == f })
	if z.flights.restored == f {
		z.flights.restored = nil
	}
	z.touch(f.names()...)
}

// unidentified stands for the id of a change that is not known, where the provider needs none.
const unidentified = "unidentified"

// land ends the flights whose time is over, or has the provider asked about them.
func (z *ZoneState) land() {
	for _, f := range slices.Clone(z.flights.all) {
		if f.id == "" && !f.until.IsZero() && !z.at.Now.Before(f.until) && !z.follow(f) {
			z.arrived(f)
		}
	}
}

// follow has the provider asked about a flight without an id, if it can be and there is something to see. It reports
// whether that is so.
func (z *ZoneState) follow(f *flight) bool {
	if !z.traits.Anonymous {
		return false
	}
	for r := range f.records {
		if z.place(r.Name).shows(r) {
			f.changes = append(f.changes, Change{Action: Create, Set: r.Set()})
		}
	}
	if len(f.changes) == 0 {
		return false
	}
	access, some := z.rights.reader(z.at.Now)
	if !some {
		f.changes, f.until = nil, z.at.Now.Add(propagation)
		return true
	}
	f.access = access
	slices.SortFunc(f.changes, func(a, b Change) int { return cmp.Compare(a.Set.Name, b.Set.Name) })
	f.id, f.sent, f.next = unidentified, z.at.Now, z.at.Now
	return true
}
