package keyvalue

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

// The times of a store.
const (
	// Gather is how long changes are collected before they are sent together.
	Gather = 500 * time.Millisecond
	// CheckEvery is how often the version of a quiet store is asked for. ListEvery is when it is listed although its version
	// has not moved.
	CheckEvery = 5 * time.Minute
	ListEvery  = 6 * time.Hour
	// RefusedFor is when a value that AWS has refused is tried again.
	RefusedFor = 10 * time.Minute
)

// Info is what AWS says of a store.
type Info struct {
	// ETag is its version: each change of a key moves it.
	ETag  string
	Items int
	Bytes int64
	// Unready is its status if that is not READY. Empty: it is.
	Unready string
}

// Pair is a key with its value.
type Pair struct{ Name, Value string }

// Update is a batch of changes, which AWS makes all or none of, and only if the store still has the version IfMatch.
type Update struct {
	IfMatch string
	Puts    []Pair
	Deletes []string
	// Restored are the owners of keys whose values others have changed.
	Restored []Restored
}

// Restored is a key that had been changed by others.
type Restored struct {
	Owner Owner
	Key   Key
	// Found is the value that it had. Gone means that it was deleted.
	Found string
	Gone  bool
}

// Call is what is due: one of Describe, Page and Update is set.
type Call struct {
	// Describe asks for the version, Page lists from that marker.
	Describe bool
	Page     *string
	Update   *Update
	// Awaited means that users wait for what is read.
	Awaited bool
}

// Store decides what is sent to one store. It is not safe for concurrent use, and knows no clock.
type Store struct {
	key    StoreKey
	claims map[Owner]*Claim
	names  map[string][]*Claim
	// answered is what each object knows.
	answered map[Owner]View

	// values are those of all keys, if read. They may be used for a write while they are fresh: as of etag.
	values      map[string]string
	read, fresh bool
	info        Info
	gone        bool
	listing     *listing
	checked     time.Time
	listed      time.Time

	// sending are the keys that an update is about to write, doubtful those that one without an answer may have written.
	sending, doubtful map[string]bool
	// theirs are the keys that others have created although an object has an entry for them, or stores one now.
	theirs map[intent]bool

	// due is when collected changes are sent.
	due time.Time
	// limit bounds a batch while a refused value is searched for.
	limit   int
	refused map[Pair]refusal
	full    map[string]*fault.Error

	// reading and writing are what does not work. A store that can be read may still refuse every write.
	reading, writing trouble
	// torn counts the listings that a change of others has made worthless.
	torn int
}

// trouble is why something has not worked since a time; it is not tried again before another one.
type trouble struct {
	err            *fault.Error
	since, retryAt time.Time
}

func (t *trouble) grow(now time.Time) {
	if t.since.IsZero() {
		t.since = now
	}
	t.retryAt = retry.Usual.Next(t.since, now)
}

// intent is what an object has in mind with a key that it has not written.
type intent struct {
	owner Owner
	name  string
}

type refusal struct {
	err   *fault.Error
	until time.Time
}

// listing is one that is underway, of the version that was described at its start.
type listing struct {
	info   Info
	values map[string]string
	marker *string
}

// NewStore returns what decides for a store of which nothing is known.
func NewStore(k StoreKey) *Store {
	return &Store{
		key: k, claims: map[Owner]*Claim{}, names: map[string][]*Claim{}, answered: map[Owner]View{},
		limit: MaxBatch, refused: map[Pair]refusal{}, full: map[string]*fault.Error{},
		sending: map[string]bool{}, doubtful: map[string]bool{}, theirs: map[intent]bool{},
	}
}

// Empty reports whether no object has a claim to the store.
func (s *Store) Empty() bool { return len(s.claims) == 0 }

// Declare takes over a claim, and returns whom that concerns.
func (s *Store) Declare(c Claim, now time.Time) (woken []Owner) {
	before := s.claims[c.Owner]
	if before != nil && c.Version < before.Version {
		return nil
	}
	others := s.sharing(&c)
	if before != nil {
		others = append(others, s.sharing(before)...)
		s.unname(before)
		s.acquit(before, c.Ledger)
	}
	s.claims[c.Owner] = &c
	for _, k := range c.keys() {
		s.names[k.Name] = append(s.names[k.Name], &c)
	}
	view := s.View(c)
	s.answered[c.Owner] = view
	if next := Advance(c.Ledger, c.Wants, view, c.Policy); before != nil && !slices.EqualFunc(next, c.Ledger, Entry.Equal) &&
		!slices.EqualFunc(before.Ledger, c.Ledger, Entry.Equal) {
		// An object that stores a ledger at the end of a pass does not look at the answer any more.
		woken = append(woken, c.Owner)
	}
	if s.due.IsZero() {
		s.due = now.Add(Gather)
	}
	return append(woken, s.changed(others)...)
}

// Forget takes a claim back, and returns whom that concerns. Nothing is deleted.
func (s *Store) Forget(o Owner) []Owner {
	c := s.claims[o]
	if c == nil {
		return nil
	}
	others := s.sharing(c)
	s.unname(c)
	s.acquit(c, nil)
	delete(s.claims, o)
	delete(s.answered, o)
	return s.changed(others)
}

func (s *Store) unname(c *Claim) {
	for _, k := range c.keys() {
		rest := slices.DeleteFunc(s.names[k.Name], func(o *Claim) bool { return o == c })
		if s.names[k.Name] = rest; len(rest) == 0 {
			delete(s.names, k.Name)
			delete(s.full, k.Name)
		}
	}
}

// acquit forgets which keys others have created, except for those of entries that have to leave the ledger.
func (s *Store) acquit(c *Claim, ledger []Entry) {
	for _, k := range c.keys() {
		if e, entered := entryOf(ledger, k); !entered || e.State == Written {
			delete(s.theirs, intent{c.Owner, k.Name})
		}
	}
}

// accuse notes the keys that were absent and are there, if no update can have written them: they are not the objects', even
// with the same value.
func (s *Store) accuse(found map[string]string) {
	for name, claims := range s.names {
		_, was := s.values[name]
		if _, is := found[name]; was || !is || s.doubtful[name] {
			continue
		}
		for _, c := range claims {
			if e, _ := c.entry(Key{s.key.ARN, name}); e.State != Written {
				s.theirs[intent{c.Owner, name}] = true
			}
		}
	}
}

// sharing are the other objects with keys of the claim.
func (s *Store) sharing(c *Claim) (out []Owner) {
	for _, k := range c.keys() {
		for _, o := range s.names[k.Name] {
			if o.Owner != c.Owner {
				out = append(out, o.Owner)
			}
		}
	}
	return out
}

// changed are those of the owners that don't know yet how their keys stand.
func (s *Store) changed(owners []Owner) (out []Owner) {
	for _, o := range owners {
		c := s.claims[o]
		if c == nil || slices.Contains(out, o) {
			continue
		}
		if view := s.View(*c); !maps.EqualFunc(view, s.answered[o], Standing.same) {
			s.answered[o] = view
			out = append(out, o)
		}
	}
	return out
}

// anyChanged is changed for all owners, in order.
func (s *Store) anyChanged() []Owner {
	return s.changed(slices.SortedFunc(maps.Keys(s.claims), Owner.compare))
}

func (o Owner) compare(p Owner) int {
	return cmp.Or(cmp.Compare(o.Namespace, p.Namespace), cmp.Compare(o.Name, p.Name), cmp.Compare(o.UID, p.UID))
}

// View says how the keys of a claim stand.
func (s *Store) View(c Claim) View {
	view := View{}
	for _, k := range c.keys() {
		view[k] = s.standing(k, c)
	}
	return view
}

func (s *Store) standing(k Key, c Claim) Standing {
	if h := s.holder(k.Name); h != nil && h.Owner != c.Owner {
		return Standing{Phase: Occupied, Holder: h.Owner}
	}
	out := Standing{Phase: Unknown, Theirs: s.theirs[intent{c.Owner, k.Name}], Err: cmp.Or(s.reading.err, s.writing.err)}
	found, present := s.values[k.Name]
	switch {
	case s.gone:
		return Standing{Phase: NoStore, Err: s.reading.err}
	case !s.read:
	case s.sending[k.Name], s.doubtful[k.Name] && !s.fresh:
		// What was read may have been replaced.
	case present:
		out.Phase, out.Found = Present, found
	default:
		out.Phase = Absent
	}
	if w, wanted := c.want(k); wanted {
		if r, is := s.refused[Pair{k.Name, w.Value}]; is {
			out.Err = r.err
		} else if full := s.full[k.Name]; full != nil {
			out.Err = full
		}
	}
	return out
}

// holder is the claim that has a key: the one whose ledger has written it, else the one that may write it, else the oldest
// of those that may get it.
func (s *Store) holder(name string) *Claim {
	var best *Claim
	k := Key{s.key.ARN, name}
	for _, c := range s.names[name] {
		if _, entered := c.entry(k); c.Still && !entered {
			continue
		}
		if best == nil || c.before(best, k) {
			best = c
		}
	}
	return best
}

func (c *Claim) before(o *Claim, k Key) bool {
	return cmp.Or(cmp.Compare(o.rank(k), c.rank(k)), cmp.Compare(c.Born, o.Born), c.Owner.compare(o.Owner)) < 0
}

func (c *Claim) rank(k Key) int {
	e, entered := c.entry(k)
	switch {
	case !entered:
		return 0
	case e.State == Intended:
		return 1
	}
	return 2
}

// plan is what has to change, at most a batch of it.
func (s *Store) plan() Update {
	u := Update{IfMatch: s.info.ETag}
	size := s.info.Bytes
	for _, name := range slices.Sorted(maps.Keys(s.names)) {
		if len(u.Puts)+len(u.Deletes) == s.limit {
			break
		}
		delete(s.full, name)
		c, k := s.holder(name), Key{s.key.ARN, name}
		if c == nil || s.theirs[intent{c.Owner, name}] {
			continue
		}
		found, present := s.values[name]
		switch c.due(k, found, present) {
		case leave:
		case remove:
			u.Deletes = append(u.Deletes, name)
			size -= int64(len(name) + len(found))
		case put, restore:
			w, _ := c.want(k)
			if s.isRefused(Pair{name, w.Value}) || !s.fits(k, w.Value, &size) {
				continue
			}
			u.Puts = append(u.Puts, Pair{name, w.Value})
			if c.due(k, found, present) == restore {
				u.Restored = append(u.Restored, Restored{Owner: c.Owner, Key: k, Found: found, Gone: !present})
			}
		}
	}
	return u
}

// action is what a key needs.
type action int

const (
	leave action = iota
	put
	restore
	remove
)

// due says what a key needs that has the value, if it is present. Only what the stored ledger has is touched.
func (c *Claim) due(k Key, found string, present bool) action {
	e, entered := c.entry(k)
	w, wanted := c.want(k)
	mine := present && e.own(found)
	switch {
	case !entered || c.Still:
		return leave
	case e.State == Removing:
		if mine {
			return remove
		}
		return leave
	case !wanted || Digest(w.Value) != e.Digest || present && found == w.Value:
		return leave
	case mine, e.State == Intended && (!present || w.Takeover):
		return put
	case e.State == Written && c.Correct:
		return restore
	}
	return leave
}

// fits reports whether the store has room for a value, and counts it.
func (s *Store) fits(k Key, value string, size *int64) bool {
	grows := int64(len(k.Name) + len(value))
	if found, present := s.values[k.Name]; present {
		grows = int64(len(value) - len(found))
	}
	if grows > 0 && *size+grows > MaxStoreBytes {
		s.full[k.Name] = storeFull(k)
		return false
	}
	*size += grows
	return true
}

func storeFull(k Key) *fault.Error {
	return fault.New(fault.Quota, "UpdateKeys", "the key value store %s has no room for the key %s: AWS allows %d bytes of keys and values in a store. Delete keys that are not needed, or use another store", k.StoreARN, k.Name, MaxStoreBytes)
}

func (s *Store) isRefused(p Pair) bool {
	_, is := s.refused[p]
	return is
}

// Next is the call that is due, or how long to wait for one, and whom it concerns that a store is full, or that an earlier
// call is not made.
func (s *Store) Next(now time.Time) (Call, time.Duration, []Owner) {
	full, unsent := maps.Clone(s.full), len(s.sending) > 0
	clear(s.sending)
	call, wait := s.next(now)
	if u := call.Update; u != nil {
		for _, p := range u.Puts {
			s.sending[p.Name] = true
		}
	}
	if !unsent && maps.EqualFunc(full, s.full, func(*fault.Error, *fault.Error) bool { return true }) {
		return call, wait, nil
	}
	return call, wait, s.anyChanged()
}

func (s *Store) next(now time.Time) (Call, time.Duration) {
	maps.DeleteFunc(s.refused, func(_ Pair, r refusal) bool { return !now.Before(r.until) })
	if wait := s.reading.retryAt.Sub(now); wait > 0 {
		return Call{}, wait
	}
	awaited := !s.read || !s.due.IsZero()
	switch {
	case s.listing != nil && s.listing.marker != nil:
		return Call{Page: s.listing.marker, Awaited: awaited}, 0
	case !s.fresh:
		return Call{Describe: true, Awaited: awaited}, 0
	}
	wait := s.checked.Add(CheckEvery).Sub(now)
	from := s.writing.retryAt
	if s.due.After(from) {
		from = s.due
	}
	if from.After(now) {
		wait = min(wait, from.Sub(now))
	} else if u := s.plan(); len(u.Puts)+len(u.Deletes) > 0 {
		return Call{Update: &u}, 0
	} else {
		s.due, s.writing = time.Time{}, trouble{}
	}
	for _, r := range s.refused {
		wait = min(wait, r.until.Sub(now))
	}
	if wait > 0 {
		return Call{}, wait
	}
	return Call{Describe: true}, 0
}

// Refresh has the version of the store asked for now.
func (s *Store) Refresh() { s.checked = time.Time{} }

// Keys is how many keys the ledgers of all objects have.
func (s *Store) Keys() (n int) {
	for _, c := range s.claims {
		n += len(c.Ledger)
	}
	return n
}
