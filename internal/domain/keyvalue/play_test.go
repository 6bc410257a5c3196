package keyvalue_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/keyvalue"
)

const storeARN = "arn:aws:cloudfront::111122223333:key-value-store/s1"

// aws is one store.
type aws struct {
	values  map[string]string
	version int
	calls   int
}

func (a *aws) info() keyvalue.Info {
	size := int64(0)
	for k, v := range a.values {
		size += int64(len(k) + len(v))
	}
	return keyvalue.Info{ETag: strconv.Itoa(a.version), Items: len(a.values), Bytes: size}
}

func (a *aws) update(u keyvalue.Update) error {
	if u.IfMatch != strconv.Itoa(a.version) {
		return fault.New(fault.Conflict, "UpdateKeys", "stale")
	}
	for _, p := range u.Puts {
		a.values[p.Name] = p.Value
	}
	for _, name := range u.Deletes {
		delete(a.values, name)
	}
	a.version++
	return nil
}

func (a *aws) set(name, value string) {
	a.version++
	if value == "" {
		delete(a.values, name)
		return
	}
	a.values[name] = value
}

// object is one with keys, and what is stored of it.
type object struct {
	owner    keyvalue.Owner
	wants    []keyvalue.Want
	ledger   []keyvalue.Entry
	version  uint64
	deleting bool
	// declared are the wants that the worker knows.
	declared []keyvalue.Want
	// taken are the keys of the ledger that were there before: it takes them over.
	taken map[string]bool
}

// names reports whether the ledger has an entry for the key that it may lose to others, or gets one by a takeover.
func (o *object) names(name string) bool {
	return slices.ContainsFunc(o.ledger, func(e keyvalue.Entry) bool { return e.Name == name && e.State != keyvalue.Written }) ||
		slices.ContainsFunc(o.declared, func(w keyvalue.Want) bool { return w.Name == name && w.Takeover })
}

// owns reports whether the value is one of the entry.
func owns(e keyvalue.Entry, value string) bool {
	return slices.Contains(append(e.Before, e.Digest), keyvalue.Digest(value))
}

// play is a world of one store, its worker, and objects.
type play struct {
	aws     *aws
	worker  *keyvalue.Store
	now     time.Time
	objects []*object
	// foreign are the keys of others. Uncertain are those of which it can't be told any more that others have created them:
	// they may be an object's, or stay.
	foreign, uncertain map[string]string
	// meanwhile happens between the look of a pass and its end. It may be nil.
	meanwhile func()
	// flying happens while an update is on its way. It may be nil.
	flying func()
	// trespass is a write over the key of another object.
	trespass string
}

func newPlay(objects int) *play {
	p := &play{aws: &aws{values: map[string]string{}}, now: time.Unix(0, 0), foreign: map[string]string{}, uncertain: map[string]string{}}
	p.restart()
	for i := range objects {
		p.objects = append(p.objects, &object{owner: keyvalue.Owner{Namespace: "ns", Name: fmt.Sprint("o", i), UID: fmt.Sprint(i)}, taken: map[string]bool{}})
	}
	return p
}

// restart starts a worker that has learned all ledgers, and knows nothing else.
func (p *play) restart() {
	p.worker = keyvalue.NewStore(keyvalue.StoreKey{ARN: storeARN})
	for _, o := range p.objects {
		p.worker.Declare(keyvalue.Claim{Owner: o.owner, Ledger: o.ledger, Still: true}, p.now)
		o.declared = nil
		for _, e := range o.ledger {
			p.doubt(e)
		}
	}
}

// concede gives the key of an entry to its object if it has a value of the entry.
func (p *play) concede(e keyvalue.Entry) (conceded bool) {
	value, theirs := p.foreign[e.Name]
	if theirs && owns(e, value) {
		delete(p.foreign, e.Name)
		return true
	}
	return false
}

// take gives the key of an entry to its object, which has seen its own value there. Others may have changed it since then:
// their value is corrected, or left once the object is gone.
func (p *play) take(e keyvalue.Entry) {
	if value, theirs := p.foreign[e.Name]; theirs && !owns(e, value) {
		p.uncertain[e.Name] = value
	}
	delete(p.foreign, e.Name)
}

// doubt leaves open whose the key of an entry is if it has a value of the entry.
func (p *play) doubt(e keyvalue.Entry) {
	if value := p.foreign[e.Name]; p.concede(e) {
		p.uncertain[e.Name] = value
	}
}

// pass is one of an object: it declares what is stored, and stores the next ledger, unless it is killed before.
func (p *play) pass(o *object, killed bool) {
	wants := o.wants
	if o.deleting {
		wants = nil
	}
	policy := keyvalue.Policy{Settled: true}
	claim := keyvalue.Claim{Owner: o.owner, Version: o.version, Wants: wants, Ledger: o.ledger, Correct: true, Policy: policy}
	p.worker.Declare(claim, p.now)
	o.declared = wants
	view := p.worker.View(claim)
	if p.meanwhile != nil {
		p.meanwhile()
	}
	next := keyvalue.Advance(o.ledger, wants, view, policy)
	if killed {
		return
	}
	p.takeOver(o, next, view)
	o.ledger = next
	o.version++
	claim.Version, claim.Ledger = o.version, next
	p.worker.Declare(claim, p.now)
}

// takeOver notes which keys of the next ledger the object takes over, and gives it those that it has seen with its value.
func (p *play) takeOver(o *object, next []keyvalue.Entry, view keyvalue.View) {
	for _, e := range next {
		had := slices.ContainsFunc(o.ledger, func(b keyvalue.Entry) bool { return b.Key == e.Key })
		takes := slices.ContainsFunc(o.declared, func(w keyvalue.Want) bool { return w.Key == e.Key && w.Takeover })
		s := view.Of(e.Key)
		o.taken[e.Name] = had && o.taken[e.Name] || takes && s.Phase != keyvalue.Absent && !s.Theirs
		switch {
		case o.taken[e.Name] && s.Phase == keyvalue.Present && !s.Theirs && owns(e, s.Found):
			p.take(e)
		case o.taken[e.Name]:
			p.doubt(e)
		}
	}
}

// fate is what becomes of a call.
type fate int

const (
	works fate = iota
	isLost
	isLate
)

// step makes one call of the worker, if one is due within a minute.
func (p *play) step(f fate) bool {
	call, wait, _ := p.worker.Next(p.now)
	if wait > 0 {
		p.now = p.now.Add(min(wait, time.Minute))
		return wait < time.Minute
	}
	p.aws.calls++
	lost := fault.New(fault.Transient, "", "lost")
	takers := p.takers()
	if call.Update != nil && p.flying != nil {
		p.flying()
	}
	if call.Update != nil && f != works {
		p.forget(*call.Update)
	}
	switch {
	case f == isLate:
		p.answer(call, keyvalue.Info{}, nil, lost)
	case call.Update != nil:
		err := p.aws.update(*call.Update)
		if err == nil {
			p.wrote(*call.Update, takers)
		}
		if f == isLost {
			err = lost
		}
		p.answer(call, p.aws.info(), nil, err)
	case f == isLost:
		p.answer(call, keyvalue.Info{}, nil, lost)
	default:
		p.answer(call, p.aws.info(), p.page(call), nil)
	}
	return true
}

// forget is what an update without an answer makes uncertain.
func (p *play) forget(u keyvalue.Update) {
	for _, put := range u.Puts {
		for _, o := range p.objects {
			for _, e := range o.ledger {
				if e.Name == put.Name {
					p.doubt(e)
				}
			}
		}
	}
}

// takers are the keys that objects may take over, as far as the worker knows.
func (p *play) takers() map[string]bool {
	takers := map[string]bool{}
	for _, o := range p.objects {
		for _, w := range o.declared {
			takers[w.Name] = takers[w.Name] || w.Takeover
		}
	}
	return takers
}

// wrote looks at what an update has replaced. Only a takeover replaces a key of others, and nothing that of another object.
func (p *play) wrote(u keyvalue.Update, takers map[string]bool) {
	for _, put := range u.Puts {
		delete(p.uncertain, put.Name)
		if takers[put.Name] {
			delete(p.foreign, put.Name)
		}
		for _, o := range p.objects {
			for _, e := range o.ledger {
				if e.Name == put.Name && e.State == keyvalue.Written && !owns(e, put.Value) {
					p.trespass = fmt.Sprintf("%s of %s became %q", e.Name, o.owner.Name, put.Value)
				}
			}
		}
	}
}

func (p *play) page(call keyvalue.Call) (page []keyvalue.Pair) {
	if call.Page == nil {
		return nil
	}
	// A marker that counts shows a key twice, or not at all, when others change the store meanwhile.
	names, from := slices.Sorted(maps.Keys(p.aws.values)), 0
	_, _ = fmt.Sscan(*call.Page, &from)
	for _, name := range names[min(from, len(names)):min(from+2, len(names))] {
		page = append(page, keyvalue.Pair{Name: name, Value: p.aws.values[name]})
	}
	return page
}

func (p *play) answer(call keyvalue.Call, i keyvalue.Info, page []keyvalue.Pair, err error) {
	switch {
	case call.Describe:
		p.worker.Described(i, err, p.now)
	case call.Update != nil:
		p.worker.Updated(*call.Update, i, err, p.now)
	default:
		next := ""
		if len(page) == 2 {
			from := 0
			_, _ = fmt.Sscan(*call.Page, &from)
			next = strconv.Itoa(from + 2)
		}
		p.worker.Listed(page, next, err, p.now)
	}
}

// settle lets everything come to rest.
func (p *play) settle() {
	for range 12 {
		for _, o := range p.objects {
			p.pass(o, false)
		}
		for range 60 {
			p.step(works)
		}
		p.worker.Refresh()
	}
}

func want(name, value string) keyvalue.Want {
	return keyvalue.Want{Key: keyvalue.Key{StoreARN: storeARN, Name: name}, Value: value}
}

// others change a key of theirs, or create one where nothing is and no object has written. The value may be one that an
// object wants, unless it can't be told then who has written it.
func (p *play) others(rt *rapid.T) {
	name := rapid.SampledFrom([]string{"a", "k0", "k1", "k2", "x"}).Draw(rt, "theirs")
	value := rapid.SampledFrom([]string{"theirs", "a", "b", "c"}).Draw(rt, "value")
	_, theirs := p.foreign[name]
	_, present := p.aws.values[name]
	if (present || p.worker.Doubts()) && slices.ContainsFunc(p.objects, func(o *object) bool { return o.names(name) }) {
		value = "theirs"
	}
	written := slices.ContainsFunc(p.objects, func(o *object) bool {
		return slices.ContainsFunc(o.ledger, func(e keyvalue.Entry) bool { return e.Name == name && e.State != keyvalue.Intended })
	})
	switch {
	case theirs && rapid.Bool().Draw(rt, "deleted"):
		delete(p.foreign, name)
		p.aws.set(name, "")
	case theirs || !present && !written:
		p.foreign[name] = value
		p.aws.set(name, value)
	}
}

// judge compares the store with what the objects want. Of two that want one key, either may have it.
func (p *play) judge(rt *rapid.T) {
	wanted := maps.Clone(p.foreign)
	for _, o := range p.objects {
		for _, w := range o.wants {
			_, theirs := p.foreign[w.Name]
			if _, other := wanted[w.Name]; !theirs && (!other || p.aws.values[w.Name] == w.Value) {
				wanted[w.Name] = w.Value
			}
		}
	}
	if diff := cmp.Diff(wanted, p.aws.values); diff != "" {
		rt.Fatalf("the store differs from what is wanted (-want +got):\n%s", diff)
	}
}

// Whatever users, others and crashes do: a key of others keeps its value unless it is taken over, that of an object is never
// replaced for another one, the store has what the objects want in the end, and nothing is left when they are gone.
func TestLedgerLeavesNothingBehind(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newPlay(2)
		p.foreign = map[string]string{"f0": "theirs", "f1": "a"}
		maps.Copy(p.aws.values, p.foreign)
		p.meanwhile = func() {
			for range rapid.IntRange(0, 3).Draw(rt, "meanwhile") {
				if rapid.Bool().Draw(rt, "others") {
					p.others(rt)
				}
				p.step(works)
			}
		}
		names, values := []string{"k0", "k1", "k2", "f0", "f1"}, []string{"a", "b", "c"}
		p.flying = func() {
			meanwhile := p.meanwhile
			p.meanwhile = nil
			for range rapid.IntRange(0, 2).Draw(rt, "flying") {
				p.pass(rapid.SampledFrom(p.objects).Draw(rt, "passes"), false)
			}
			p.meanwhile = meanwhile
		}
		for range rapid.IntRange(5, 60).Draw(rt, "steps") {
			o := rapid.SampledFrom(p.objects).Draw(rt, "object")
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0, 1:
				name := rapid.SampledFrom(names).Draw(rt, "name")
				o.wants = slices.DeleteFunc(slices.Clone(o.wants), func(w keyvalue.Want) bool { return w.Name == name })
				if rapid.Bool().Draw(rt, "wanted") {
					w := want(name, rapid.SampledFrom(values).Draw(rt, "value"))
					w.Takeover = rapid.IntRange(0, 3).Draw(rt, "takeover") == 0
					o.wants = append(o.wants, w)
				}
				o.version++
			case 2:
				p.pass(o, true)
				p.restart()
			case 3, 4, 5:
				p.pass(o, false)
			case 6:
				p.others(rt)
			default:
				p.step(fate(rapid.IntRange(0, 2).Draw(rt, "fate")))
			}
		}
		if rapid.Bool().Draw(rt, "rests") {
			p.meanwhile, p.flying = nil, nil
			p.settle()
			p.judge(rt)
		}
		p.meanwhile, p.flying = nil, nil
		for _, o := range p.objects {
			o.deleting = true
			o.version++
		}
		p.settle()
		for _, o := range p.objects {
			if len(o.ledger) > 0 {
				rt.Fatalf("%s still has %+v", o.owner.Name, o.ledger)
			}
		}
		if p.trespass != "" {
			rt.Fatal(p.trespass)
		}
		for name, value := range p.uncertain {
			if _, theirs := p.foreign[name]; !theirs && p.aws.values[name] == value {
				p.foreign[name] = value
			}
		}
		if diff := cmp.Diff(p.foreign, p.aws.values); diff != "" {
			rt.Fatalf("what is left differs from what others have (-want +got):\n%s", diff)
		}
	})
}
