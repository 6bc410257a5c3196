package dns

import (
	"cmp"
	"reflect"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

// doubts are the names on which more has to be known before anything else is sent for them.
type doubts struct {
	// lost are the names of batches whose answer was lost, with when (in seq) that was.
	lost map[string]uint64
	// rechecks are the units that were refused alone: before anything is concluded the name
	// is read.
	rechecks map[string]recheck
	// unlisted are the names of ledgers that the listing does not have, where that says nothing: see Traits.
	unlisted  map[string]bool
	readAfter time.Time
}

// recheck is a unit that was refused alone, on whose name more has to be known.
type recheck struct {
	unit Unit
	err  *fault.Error
}

// The pauses before a name is read: after an answer was lost, and after a reading failed.
const (
	unansweredFor = time.Second
	readPause     = 5 * time.Second
)

func (d *doubts) about(name string) bool {
	_, lost := d.lost[name]
	_, rechecked := d.rechecks[name]
	return lost || rechecked || d.unlisted[name]
}

// next is the name to be read first, empty if there is none.
func (d *doubts) next() string {
	return cmp.Or(least(d.rechecks), least(d.unlisted), least(d.lost))
}

// missing notes a name of a claim's ledger that the listing does not have.
func (z *ZoneState) missing(c *declared) {
	for _, e := range c.Ledger {
		if z.traits.Unlisted && z.contents.sets != nil && len(z.contents.sets[e.Name]) == 0 {
			z.doubts.unlisted[e.Name] = true
			z.touch(e.Name)
		}
	}
}

// least returns the first name of a map, empty if there is none.
func least[V any](m map[string]V) (least string) {
	for name := range m {
		if least == "" || name < least {
			least = name
		}
	}
	return least
}

// doubt notes that a batch may have been carried out.
func (z *ZoneState) doubt(batch []Unit) {
	now := z.at.Now
	z.outbox.failures++
	z.outbox.after = now.Add(retry.LookAgain(z.outbox.failures))
	// An answer that was lost may be ahead of what it answered.
	z.doubts.readAfter = later(z.doubts.readAfter, now.Add(unansweredFor))
	for _, u := range batch {
		z.doubts.lost[u.Name] = z.tick()
		if c := z.claims.owners[u.Owner]; c != nil {
			for _, r := range u.Publishes {
				note(&c.maybe, r)
			}
		}
	}
	if z.relisting() {
		z.listings.current, z.listings.next = nil, z.doubts.readAfter
	}
}

// readDue says when a single name has to be read.
func (z *ZoneState) readDue() (time.Time, bool) {
	if len(z.doubts.rechecks)+len(z.doubts.unlisted) > 0 {
		return z.doubts.readAfter, true
	}
	if len(z.doubts.lost) == 0 || z.contents.sets == nil || z.relisting() {
		return time.Time{}, false
	}
	return z.doubts.readAfter, true
}

// relisting reports whether a listing resolves the doubts with fewer calls than reading each name.
func (z *ZoneState) relisting() bool {
	return z.listings.failures == 0 && len(z.doubts.lost) > z.contents.records/z.traits.PageSize+1
}

func (z *ZoneState) beginName() {
	name := z.doubts.next()
	access, some := z.rights.reader(z.at.Now)
	switch {
	case !some:
		z.doubts.readAfter = z.at.Now.Add(readPause)
	case name != "":
		z.effects.Call = ReadName{Access: access, Name: name}
	}
}

func (e NameRead) happen(z *ZoneState) {
	now, name := z.at.Now, e.Call.Name
	switch {
	case e.Err == nil:
		z.readable(e.Call.Access)
		before, known := z.contents.sets[name], z.contents.sets != nil
		z.note(name, e.Sets)
		z.vanished(name, before, known)
		delete(z.doubts.unlisted, name)
		z.resolve(name)
		z.conclude(name)
	case fault.Is(e.Err, fault.Invalid):
		// There can't be anything at a name that the provider does not even read. It says nothing of the zone.
		delete(z.doubts.unlisted, name)
		z.touch(name)
		z.resolve(name)
		z.conclude(name)
	case comeBack(e.Err) > 0:
		z.doubts.readAfter = now.Add(comeBack(e.Err))
	case fault.Is(e.Err, fault.Throttled, fault.Transient):
		z.doubts.readAfter = now.Add(retry.Jitter(readPause, z.at.Random))
	default:
		z.unreadable(e.Call.Access, e.Err)
	}
}

// resolve ends the doubt about a name that was read after the answer was lost. Whatever was
// carried out may still be on its way.
func (z *ZoneState) resolve(name string) {
	if _, doubtful := z.doubts.lost[name]; !doubtful {
		return
	}
	delete(z.doubts.lost, name)
	z.touch(name)
	f := &flight{records: map[Record]bool{}, until: z.at.Now.Add(propagation)}
	for _, c := range z.claims.names[name] {
		for _, e := range c.Ledger {
			if e.Name == name && e.State != Published {
				f.records[e.Record] = true
			}
		}
	}
	if len(f.records) > 0 {
		z.flights.all = append(z.flights.all, f)
	}
}

// conclude judges a unit that was refused alone by the records that exist at its name.
func (z *ZoneState) conclude(name string) {
	r, ok := z.doubts.rechecks[name]
	if !ok {
		return
	}
	delete(z.doubts.rechecks, name)
	z.touch(name)
	c := z.claims.owners[r.unit.Owner]
	if c == nil {
		return
	}
	p := z.place(name)
	if r.err.Kind == fault.Exists {
		for _, record := range r.unit.Publishes {
			state := c.StateOf(record)
			if state == Published && z.traits.Unlisted {
				continue // it is what servers still show of ours
			}
			if p.has(record) && state != "" && !c.maybe[record] {
				note(&c.foreign, record)
			}
		}
	}
	for _, u := range z.units(name) {
		if u.Owner == r.unit.Owner && reflect.DeepEqual(u.Changes, r.unit.Changes) {
			z.impossible(u, r.err)
		}
	}
}
