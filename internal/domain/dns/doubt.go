package dns

import (
	"cmp"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

// doubts are the names on which more has to be known before anything else is sent for them.
type doubts struct {
	*ground

	rights  *rights
	flights *flights

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

// noteUnlisted notes a name of a claim's ledger that the listing does not have.
func (d *doubts) noteUnlisted(c *declared) {
	for _, e := range c.Ledger {
		if d.traits.Unlisted && d.contents.sets != nil && len(d.contents.sets[e.Name]) == 0 {
			d.unlisted[e.Name] = true
			d.touch(e.Name)
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

// due says when a single name has to be read.
func (d *doubts) due() (time.Time, bool) {
	if len(d.rechecks)+len(d.unlisted) > 0 {
		return d.readAfter, true
	}
	if len(d.lost) == 0 || d.contents.sets == nil || d.relisting() {
		return time.Time{}, false
	}
	return d.readAfter, true
}

// relisting reports whether a listing resolves the doubts with fewer calls than reading each name.
func (d *doubts) relisting() bool {
	return d.listings.failures == 0 && len(d.lost) > d.contents.records/d.traits.PageSize+1
}

func (d *doubts) begin() {
	name := d.next()
	access, some := d.rights.reader(d.at.Now)
	switch {
	case !some:
		d.readAfter = d.at.Now.Add(readPause)
	case name != "":
		d.effects.Call = ReadName{Access: access, Name: name}
	}
}

func (e NameRead) happen(z *ZoneState) {
	now, name := z.at.Now, e.Call.Name
	switch {
	case e.Err == nil:
		z.rights.allowRead(e.Call.Access)
		before, known := z.contents.sets[name], z.contents.sets != nil
		z.learn(name, e.Sets)
		z.flights.noteVanished(name, before, known)
		delete(z.doubts.unlisted, name)
		z.doubts.resolve(name)
		z.outbox.conclude(name)
	case fault.Is(e.Err, fault.Invalid):
		// There can't be anything at a name that the provider does not even read. It says nothing of the zone.
		delete(z.doubts.unlisted, name)
		z.touch(name)
		z.doubts.resolve(name)
		z.outbox.conclude(name)
	case comeBack(e.Err) > 0:
		z.doubts.readAfter = now.Add(comeBack(e.Err))
	case fault.Is(e.Err, fault.Throttled, fault.Transient):
		z.doubts.readAfter = now.Add(retry.Jitter(readPause, z.at.Random))
	default:
		z.denyRead(e.Call.Access, e.Err)
	}
}

// resolve ends the doubt about a name that was read after the answer was lost. Whatever was
// carried out may still be on its way.
func (d *doubts) resolve(name string) {
	if _, doubtful := d.lost[name]; !doubtful {
		return
	}
	delete(d.lost, name)
	d.touch(name)
	f := &flight{records: map[Record]bool{}, until: d.at.Now.Add(propagation)}
	for _, c := range d.claims.names[name] {
		for _, e := range c.Ledger {
			if e.Name == name && e.State != Published {
				f.records[e.Record] = true
			}
		}
	}
	if len(f.records) > 0 {
		d.flights.all = append(d.flights.all, f)
	}
}
