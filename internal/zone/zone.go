package zone

import (
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

// zone is the worker of one zone. Its lock is never held during a call.
type zone struct {
	id     string
	opts   *Options
	traits dns.Traits
	poke   chan struct{}
	stop   chan struct{}

	mu         sync.Mutex
	claims     map[dns.Owner]*claim
	names      map[string][]*claim
	identities map[dns.Access]*identity

	// sets are what the zone holds, by name; nil until it was listed to its end.
	sets    map[string][]dns.RecordSet
	records int
	listing *listing
	// written are the names that were changed or read by themselves since the listing that is
	// under way began: a page that was requested before must not overwrite them.
	written      map[string]bool
	nextListing  time.Time
	listed       time.Time
	listFailures int
	listErr      error
	lastReader   dns.Access

	// ready are the names that have changes to send, in the order of their numbers.
	ready        map[string]pending
	readyRecords int
	// readySince is when the first of them became so, zero when that has to be found out.
	readySince time.Time
	// front are the parts of a refused batch. They are sent before anything else.
	front        [][]unitKey
	refused      map[unitKey]*refusal
	sendAfter    time.Time
	sendFailures int

	sending *flight
	flights []*flight
	// restored has what an earlier process may have sent.
	restored *flight
	settled  time.Time

	// doubts are the names of batches whose answer was lost, with when (in seq) that was.
	doubts map[string]uint64
	// rechecks are the units that were refused alone: before anything is concluded the name
	// is read.
	rechecks  map[string]recheck
	readAfter time.Time

	// seq orders listings and lost answers, and whose turn it is.
	seq uint64
	// touched are the names whose answers may have changed since they were last compared.
	touched map[string]bool
}

// claim is what one object has declared, with what the worker remembers of it.
type claim struct {
	dns.Claim
	// maybe are the intended records whose creation was sent with no answer, by this process
	// or perhaps the one before: if one is refused as existing it is ours all the same.
	maybe map[dns.Record]bool
	// foreign are the records in the ledger that are certainly not ours. They are neither
	// created nor deleted until the ledger has let them go.
	foreign map[dns.Record]bool
	// answered is the answer that the object was last given, or woken for.
	answered uint64
	// conflicted is true while a place is taken.
	conflicted bool
	// changeID is that of the last change that was sent for the claim, changedAt when.
	changeID  string
	changedAt time.Time
}

// pending is a name that has changes to send.
type pending struct {
	turn    uint64
	records int
	since   time.Time
}

// unitKey names what has to be done at one name for one object.
type unitKey struct {
	owner dns.Owner
	name  string
}

func newZone(at address, o *Options) *zone {
	return &zone{
		id: at.id, opts: o, traits: o.Providers.of(at.provider).Traits(), poke: make(chan struct{}, 1), stop: make(chan struct{}),
		claims: map[dns.Owner]*claim{}, names: map[string][]*claim{}, identities: map[dns.Access]*identity{},
		written: map[string]bool{}, nextListing: o.Clock.Now(), ready: map[string]pending{}, refused: map[unitKey]*refusal{},
		doubts: map[string]uint64{}, rechecks: map[string]recheck{}, touched: map[string]bool{},
	}
}

// declare takes a claim over and returns the other objects whose answer has changed by that.
func (z *zone) declare(part dns.Claim) []dns.Owner {
	z.mu.Lock()
	defer z.mu.Unlock()
	before, _ := z.earliest()
	c, again := z.claims[part.Owner]
	if !again {
		c = &claim{}
		z.claims[part.Owner] = c
	}
	for _, name := range c.changed(&part) {
		z.touched[name] = true
		delete(z.refused, unitKey{part.Owner, name})
	}
	z.unindex(c)
	formerly, stored := c.accesses(), again && !slices.Equal(c.Ledger, part.Ledger)
	c.Claim = part
	z.index(c)
	// The new ones first: what is known of an identity is lost with its last claim.
	z.admit(c.accesses())
	z.dismiss(formerly)
	if !again {
		z.restore(c)
	}
	c.forgetGone()
	c.Barred = z.identities[c.Access].barred
	// What this object is told now it need not be woken for.
	c.answered = z.digest(c)
	woken := z.settle()
	if stored && z.goesOn(c) {
		// Whoever stores a ledger at the end of a pass does not look at the answer any more.
		woken = append(woken, part.Owner)
	}
	if first, _ := z.earliest(); first.Before(before) {
		z.nudge()
	}
	return woken
}

// goesOn reports whether the ledger of a claim has to go on by what is known already.
func (z *zone) goesOn(c *claim) bool {
	view := dns.View{Records: map[dns.Record]dns.Standing{}}
	z.each(c, func(r dns.Record, s dns.Standing) { view.Records[r] = s })
	next := dns.Advance(c.Ledger, c.Wants, view, dns.Policy{Takeover: c.Takeover, RoleARN: c.Access.RoleARN, Provider: c.Access.Provider})
	return !slices.Equal(next, c.Ledger)
}

// nudge wakes the worker to look again what is due.
func (z *zone) nudge() {
	select {
	case z.poke <- struct{}{}:
	default:
	}
}

// changed names where the claim and its successor differ.
func (c *claim) changed(next *dns.Claim) []string {
	all := slices.Concat(c.Names(), next.Names())
	slices.Sort(all)
	all = slices.Compact(all)
	if c.Takeover != next.Takeover || c.Correct != next.Correct || c.Access != next.Access {
		return all
	}
	return slices.DeleteFunc(all, func(name string) bool { return sameAt(name, &c.Claim, next) })
}

func sameAt(name string, a, b *dns.Claim) bool {
	wants := func(c *dns.Claim) (out []dns.Record) {
		for _, r := range c.Wants {
			if r.Name == name {
				out = append(out, r)
			}
		}
		return out
	}
	entries := func(c *dns.Claim) (out []dns.Entry) {
		for _, e := range c.Ledger {
			if e.Name == name {
				out = append(out, e)
			}
		}
		return out
	}
	return slices.Equal(wants(a), wants(b)) && slices.Equal(entries(a), entries(b))
}

// restore notes what a process before this one may have sent for the object. Once it was
// declared here, whatever is sent is known.
func (z *zone) restore(c *claim) {
	now := z.opts.Clock.Now()
	for _, e := range c.Ledger {
		if e.State == dns.Published {
			continue
		}
		if e.State == dns.Intended {
			c.note(&c.maybe, e.Record)
		}
		if z.sets != nil && !now.Before(z.settled) {
			continue
		}
		if z.restored == nil {
			z.restored = &flight{records: map[dns.Record]bool{}, until: z.settled}
			z.flights = append(z.flights, z.restored)
		}
		z.restored.records[e.Record] = true
	}
}

func (c *claim) note(in *map[dns.Record]bool, r dns.Record) {
	if *in == nil {
		*in = map[dns.Record]bool{}
	}
	(*in)[r] = true
}

// forgetGone forgets what is remembered of records that have left the ledger.
func (c *claim) forgetGone() {
	for _, m := range []map[dns.Record]bool{c.maybe, c.foreign} {
		for r := range m {
			if c.StateOf(r) == "" {
				delete(m, r)
			}
		}
	}
}

func (z *zone) index(c *claim) {
	for _, name := range c.Names() {
		z.names[name] = append(z.names[name], c)
	}
}

func (z *zone) unindex(c *claim) {
	for _, name := range c.Names() {
		left := slices.DeleteFunc(z.names[name], func(o *claim) bool { return o == c })
		if len(left) == 0 {
			delete(z.names, name)
			continue
		}
		z.names[name] = left
	}
}

// admit counts a claim for its identities.
func (z *zone) admit(accesses map[dns.Access]bool) {
	for access := range accesses {
		i := z.identities[access]
		if i == nil {
			i = &identity{}
			z.identities[access] = i
			if z.sets == nil {
				// Whoever is new may be able to read what the others can't.
				z.nextListing = z.opts.Clock.Now()
			}
		}
		i.claims++
	}
}

// dismiss is the opposite of admit.
func (z *zone) dismiss(accesses map[dns.Access]bool) {
	for access := range accesses {
		if i := z.identities[access]; i != nil {
			if i.claims--; i.claims == 0 {
				delete(z.identities, access)
			}
		}
	}
}

// accesses are the identities that act for the claim.
func (c *claim) accesses() map[dns.Access]bool {
	if c.Owner == (dns.Owner{}) {
		return nil
	}
	out := map[dns.Access]bool{c.Access: true}
	for _, e := range c.Ledger {
		out[c.AccessOf(e)] = true
	}
	return out
}

// forget takes back what an object has declared, and reports whether nobody is left.
func (z *zone) forget(o dns.Owner) (woken []dns.Owner, empty bool) {
	z.mu.Lock()
	defer z.mu.Unlock()
	c := z.claims[o]
	if c == nil {
		return nil, len(z.claims) == 0
	}
	z.touch(c.Names()...)
	for _, name := range c.Names() {
		delete(z.refused, unitKey{o, name})
	}
	z.unindex(c)
	z.dismiss(c.accesses())
	delete(z.claims, o)
	return z.settle(), len(z.claims) == 0
}

func (z *zone) touch(names ...string) {
	for _, name := range names {
		z.touched[name] = true
	}
}

// touchAll marks every name that somebody has a claim to.
func (z *zone) touchAll() {
	for name := range z.names {
		z.touched[name] = true
	}
}

// update changes what is known, and wakes whom that concerns.
func (z *zone) update(do func()) {
	z.mu.Lock()
	do()
	woken := z.settle()
	z.mu.Unlock()
	if len(woken) > 0 {
		z.opts.OnChange(woken)
	}
}

// settle finds out what has to be done at the touched names, and returns the objects whose
// answer has changed. Callers hold the lock.
func (z *zone) settle() (woken []dns.Owner) {
	concerned := map[*claim]bool{}
	for name := range z.touched {
		z.review(name)
		for _, c := range z.names[name] {
			concerned[c] = true
		}
	}
	clear(z.touched)
	for c := range concerned {
		if d := z.digest(c); d != c.answered {
			c.answered = d
			woken = append(woken, c.Owner)
		}
	}
	return woken
}

// review notes whether the name has something to send.
func (z *zone) review(name string) {
	before, was := z.ready[name]
	records := 0
	for _, u := range z.units(name) {
		records += len(u.Changes)
	}
	z.readyRecords += records - before.records
	if records == 0 {
		delete(z.ready, name)
		if before.since.Equal(z.readySince) {
			z.readySince = time.Time{}
		}
		return
	}
	if !was {
		before.turn, before.since = z.tick(), z.opts.Clock.Now()
	}
	before.records = records
	z.ready[name] = before
}

// waitingSince is when the first of the names that are ready became so.
func (z *zone) waitingSince() time.Time {
	if z.readySince.IsZero() {
		for _, p := range z.ready {
			if z.readySince.IsZero() || p.since.Before(z.readySince) {
				z.readySince = p.since
			}
		}
	}
	return z.readySince
}

// units are the changes at a name that may be sent now.
func (z *zone) units(name string) []dns.Unit {
	if z.sets == nil || len(z.names[name]) == 0 || z.busy(name) {
		return nil
	}
	now := z.opts.Clock.Now()
	return slices.DeleteFunc(z.place(name).Plan(), func(u dns.Unit) bool { return z.heldBack(u, now) })
}

// busy reports whether a change of the name has no answer yet.
func (z *zone) busy(name string) bool {
	_, doubtful := z.doubts[name]
	_, rechecked := z.rechecks[name]
	return doubtful || rechecked || z.sending != nil && z.sending.names[name]
}

// heldBack reports whether a unit has to wait after it, or its identity, was refused.
func (z *zone) heldBack(u dns.Unit, now time.Time) bool {
	if r := z.refused[unitKey{u.Owner, u.Name}]; r != nil && now.Before(r.next) {
		return true
	}
	if i := z.identities[u.Access]; i != nil && i.changeErr != nil && now.Before(i.changeNext) {
		return true
	}
	foreign := z.claims[u.Owner].foreign
	return slices.ContainsFunc(slices.Concat(u.Publishes, u.Retracts), func(r dns.Record) bool { return foreign[r] })
}

func (z *zone) place(name string) dns.Place {
	p := dns.Place{Name: name, Sets: z.sets[name]}
	for _, c := range z.names[name] {
		p.Claims = append(p.Claims, &c.Claim)
	}
	return p
}

// answer adds how the records of a claim stand to a view.
func (z *zone) answer(part dns.Claim, view *dns.View) {
	z.mu.Lock()
	defer z.mu.Unlock()
	c := z.claims[part.Owner]
	if c == nil {
		c = &claim{}
	}
	// What is asked may be older than what is known.
	asked := &claim{Claim: part, maybe: c.maybe, foreign: c.foreign}
	asked.Barred = c.Barred
	z.each(asked, func(r dns.Record, s dns.Standing) { view.Records[r] = s })
	if c.changedAt.After(view.ChangedAt) {
		view.ChangeID, view.ChangedAt = c.changeID, c.changedAt
	}
}

// each tells how each record stands that the claim wants or holds.
func (z *zone) each(c *claim, do func(dns.Record, dns.Standing)) {
	var p dns.Place
	tell := func(r dns.Record) {
		if p.Name != r.Name {
			p = z.place(r.Name)
		}
		do(r, z.standing(c, p, r))
	}
	for _, r := range c.Wants {
		if c.StateOf(r) == "" {
			tell(r)
		}
	}
	for _, e := range c.Ledger {
		tell(e.Record)
	}
}

// seed makes the digests of this process.
var seed = maphash.MakeSeed()

// digest stands for the answer that the object would be given now.
func (z *zone) digest(c *claim) (sum uint64) {
	taken := false
	z.each(c, func(r dns.Record, s dns.Standing) {
		text := ""
		if s.Err != nil {
			text = s.Err.Error()
		}
		s.Phase, s.Err = z.told(c, r, s), nil
		sum += maphash.Comparable(seed, struct {
			r dns.Record
			s dns.Standing
			e string
		}{r, s, text})
		taken = taken || s.Foreign || s.Phase == dns.Blocked || s.Phase == dns.Held
	})
	if taken && !c.conflicted {
		z.opts.Observer.Conflict()
	}
	c.conflicted = taken
	return sum
}

// told is the phase that is worth telling of: what was sent a moment ago counts as it did before.
func (z *zone) told(c *claim, r dns.Record, s dns.Standing) dns.Phase {
	f := z.flying(r)
	if s.Err != nil || f != nil && f.slow {
		return s.Phase
	}
	switch state := c.StateOf(r); {
	case s.Phase == dns.Coming && state == dns.Intended:
		return dns.Absent
	case s.Phase == dns.Leaving && state == dns.Retracting:
		return dns.There
	}
	return s.Phase
}

// standing says how a record of the claim stands.
func (z *zone) standing(c *claim, p dns.Place, r dns.Record) dns.Standing {
	state := c.StateOf(r)
	access := c.Access
	for _, e := range c.Ledger {
		if e.Record == r {
			access = c.AccessOf(e)
		}
	}
	i := z.identities[access]
	if z.sets == nil {
		return z.unread(i)
	}
	if z.busy(r.Name) {
		return underway(state, p.Has(r))
	}
	s := p.Judge(&c.Claim, r)
	f := z.flying(r)
	switch {
	case c.foreign[r] && state == dns.Retracting:
		// It leaves the ledger without being touched.
		return dns.Standing{Phase: dns.Blocked, Found: r.Set().String()}
	case c.foreign[r] && state == dns.Intended:
		s.Foreign = true
		return s
	case f != nil && s.Phase == dns.There && state != dns.Retracting:
		return dns.Standing{Phase: dns.Coming, Err: f.err}
	case s.Phase == dns.Held && slices.Contains(c.Wants, r):
		// It leaves the ledger: another object's record comes, or is there.
		return s
	case f != nil && state == dns.Retracting && !p.Has(r):
		return dns.Standing{Phase: dns.Leaving, Err: f.err}
	}
	if !unsettled(c, state, s.Phase) {
		return s
	}
	if i != nil && i.changeErr != nil && (state != "" || !i.changeOver) {
		// Once it may try again, what has no intent yet gets one: or there would be nothing to try.
		return dns.Standing{Phase: dns.Unknown, Err: i.changeErr}
	}
	if refused := z.refused[unitKey{c.Owner, r.Name}]; refused != nil && refused.records[r] {
		return dns.Standing{Phase: dns.Refused, Err: refused.err}
	}
	return s
}

// underway is how a record stands while the answer to a change of its name is awaited.
func underway(state dns.State, there bool) dns.Standing {
	switch state {
	case dns.Intended:
		return dns.Standing{Phase: dns.Coming}
	case dns.Retracting:
		return dns.Standing{Phase: dns.Leaving}
	case dns.Published:
		if there {
			return dns.Standing{Phase: dns.There}
		}
		return dns.Standing{Phase: dns.Coming}
	}
	return dns.Standing{Phase: dns.Unknown}
}

// unsettled reports whether there is something that would have to be sent for a record.
func unsettled(c *claim, state dns.State, phase dns.Phase) bool {
	switch state {
	case dns.Retracting:
		return phase == dns.There
	case dns.Published:
		return c.Correct && (phase == dns.Absent || phase == dns.Blocked)
	case dns.Intended:
	}
	return phase == dns.Absent || phase == dns.Blocked && c.Takeover
}

func (z *zone) tick() uint64 {
	z.seq++
	return z.seq
}
