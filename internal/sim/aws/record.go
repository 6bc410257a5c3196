package aws

import (
	"slices"
	"strconv"
	"time"
)

// meta is what every resource has in addition to its configuration. A resource is InProgress until ready, which is
// computed when it is read; nothing runs in the background.
type meta struct {
	etag     string
	settled  string // the ETag from ready on, where deploying moves it
	modified time.Time
	ready    time.Time
}

func (m meta) status(at time.Time) string {
	if at.Before(m.ready) {
		return statusInProgress
	}
	return statusDeployed
}

const (
	statusInProgress = "InProgress"
	statusDeployed   = "Deployed"
)

// version is a resource's value from a moment on. Values are never changed
// once they are stored, so they can be read without the lock.
type version[T any] struct {
	at    time.Time
	value *T
}

// record is one resource through its life. Old versions stay for as long as a
// configured lag can still show them.
type record[T any] struct {
	seq      uint64
	id       string
	name     string
	arn      string
	created  time.Time
	deleted  time.Time // zero while it exists
	rev      int
	versions []version[T]
	tags     []tag
}

func (r *record[T]) current() *T {
	return r.versions[len(r.versions)-1].value
}

// at returns the value as it was at a moment, the oldest known one if that
// moment is before what is kept.
func (r *record[T]) at(moment time.Time) *T {
	for i := len(r.versions) - 1; i > 0; i-- {
		if !r.versions[i].at.After(moment) {
			return r.versions[i].value
		}
	}
	return r.versions[0].value
}

// put stores a new value and forgets those that no lag can show any more.
func (r *record[T]) put(value *T, now time.Time, keep time.Duration) {
	r.versions = append(r.versions, version[T]{at: now, value: value})
	horizon := now.Add(-keep)
	first := len(r.versions) - 1
	for first > 0 && r.versions[first].at.After(horizon) {
		first--
	}
	if first > 0 {
		r.versions = slices.Clone(r.versions[first:])
	}
}

// table holds the resources of one kind in one account, in order of creation.
type table[T any] struct {
	nextSeq uint64
	order   []*record[T]
	live    map[string]*record[T] // by id
	names   map[string]*record[T]
	graves  []*record[T]   // deleted ones a lag may still show
	reborn  map[string]int // how often a name was deleted: part of the next id
	dead    int
	sweepAt int // the number of dead at which compacting is tried again
}

func newTable[T any]() *table[T] {
	return &table[T]{live: map[string]*record[T]{}, names: map[string]*record[T]{}, reborn: map[string]int{}}
}

// generation tells the lives of a name apart; ids are derived from it.
func (t *table[T]) generation(name string) string {
	return strconv.Itoa(t.reborn[name])
}

func (t *table[T]) add(r *record[T]) {
	t.nextSeq++
	r.seq = t.nextSeq
	t.order = append(t.order, r)
	t.live[r.id] = r
	if r.name != "" {
		t.names[r.name] = r
	}
}

// find returns the live resource with an id.
func (t *table[T]) find(id string) *record[T] {
	return t.live[id]
}

// resolve returns the live resource with an id, a name or an ARN.
func (t *table[T]) resolve(identifier string) *record[T] {
	if r := t.live[identifier]; r != nil {
		return r
	}
	if r := t.names[identifier]; r != nil {
		return r
	}
	if r := t.live[arnID(identifier)]; r != nil && r.arn == identifier {
		return r
	}
	return nil
}

// buried returns a deleted resource that answers to an identifier.
func (t *table[T]) buried(identifier string) *record[T] {
	for _, r := range slices.Backward(t.graves) {
		if r.id == identifier || r.arn == identifier || (r.name != "" && r.name == identifier) {
			return r
		}
	}
	return nil
}

func (t *table[T]) remove(r *record[T], now time.Time, keep time.Duration) {
	r.deleted = now
	delete(t.live, r.id)
	if t.names[r.name] == r {
		delete(t.names, r.name)
	}
	t.reborn[r.name]++
	t.dead++
	t.bury(r, now, keep)
	t.compact(now, keep)
}

func (t *table[T]) bury(r *record[T], now time.Time, keep time.Duration) {
	t.graves = slices.DeleteFunc(t.graves, func(g *record[T]) bool { return now.Sub(g.deleted) > keep })
	if keep > 0 {
		t.graves = append(t.graves, r)
	}
}

// compact keeps a walk over the order proportional to what exists.
func (t *table[T]) compact(now time.Time, keep time.Duration) {
	if t.dead < max(64, t.sweepAt) || t.dead*2 < len(t.order) {
		return
	}
	t.order = slices.DeleteFunc(t.order, func(r *record[T]) bool {
		return !r.deleted.IsZero() && now.Sub(r.deleted) > keep
	})
	t.dead = len(t.order) - len(t.live)
	t.sweepAt = t.dead * 2
}

// after returns the position of the first record created after seq.
func (t *table[T]) after(seq uint64) int {
	i, _ := slices.BinarySearchFunc(t.order, seq+1, func(r *record[T], want uint64) int {
		switch {
		case r.seq < want:
			return -1
		case r.seq > want:
			return 1
		}
		return 0
	})
	return i
}

// seen is a resource as a read shows it: a value and the moment it is of.
type seen[T any] struct {
	*record[T]

	value *T
	at    time.Time
}

// get applies the lags of single reads. A resource just created is absent, one
// just deleted still answers, and an update shows late.
func (t *table[T]) get(identifier string, now time.Time, sw *Switches) (seen[T], bool) {
	r := t.resolve(identifier)
	if r == nil || now.Sub(r.created) < sw.GetLag {
		r = t.buried(identifier)
		if r == nil || now.Sub(r.deleted) >= sw.DeleteLag {
			return seen[T]{}, false
		}
	}
	at := now.Add(-sw.UpdateLag)
	if at.Before(r.created) {
		at = r.created
	}
	return seen[T]{record: r, value: r.at(at), at: at}, true
}

// listed applies the lag of lists.
func (r *record[T]) listed(now time.Time, sw *Switches) (seen[T], bool) {
	at := now.Add(-sw.ListLag)
	switch {
	case r.created.After(at), now.Sub(r.created) < sw.GetLag:
		return seen[T]{}, false
	case !r.deleted.IsZero() && !r.deleted.After(at):
		return seen[T]{}, false
	}
	return seen[T]{record: r, value: r.at(at), at: at}, true
}

// arnID returns what follows the last slash of an ARN.
func arnID(arn string) string {
	for i := len(arn) - 1; i >= 0; i-- {
		if arn[i] == '/' {
			return arn[i+1:]
		}
	}
	return ""
}
