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
}

// play is a world of one store, its worker, and objects.
type play struct {
	aws     *aws
	worker  *keyvalue.Store
	now     time.Time
	objects []*object
}

func newPlay(objects int) *play {
	p := &play{aws: &aws{values: map[string]string{}}, now: time.Unix(0, 0)}
	p.restart()
	for i := range objects {
		p.objects = append(p.objects, &object{owner: keyvalue.Owner{Namespace: "ns", Name: fmt.Sprint("o", i), UID: fmt.Sprint(i)}})
	}
	return p
}

func (p *play) restart() { p.worker = keyvalue.NewStore(keyvalue.StoreKey{ARN: storeARN}) }

// pass is one of an object: it declares what is stored, and stores the next ledger, unless it is killed before.
func (p *play) pass(o *object, killed bool) {
	wants := o.wants
	if o.deleting {
		wants = nil
	}
	policy := keyvalue.Policy{Settled: true}
	claim := keyvalue.Claim{Owner: o.owner, Version: o.version, Wants: wants, Ledger: o.ledger, Correct: true, Policy: policy}
	p.worker.Declare(claim, p.now)
	next := keyvalue.Advance(o.ledger, wants, p.worker.View(claim), policy)
	if killed {
		return
	}
	o.ledger = next
	o.version++
	claim.Version, claim.Ledger = o.version, next
	p.worker.Declare(claim, p.now)
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
	call, wait := p.worker.Next(p.now)
	if wait > 0 {
		p.now = p.now.Add(min(wait, time.Minute))
		return wait < time.Minute
	}
	p.aws.calls++
	lost := fault.New(fault.Transient, "", "lost")
	switch {
	case f == isLate:
		p.answer(call, keyvalue.Info{}, nil, lost)
	case call.Update != nil:
		err := p.aws.update(*call.Update)
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

// others change a key of theirs, or create one where nothing is and no object has written.
func (p *play) others(rt *rapid.T, foreign map[string]string) {
	name, value := rapid.SampledFrom([]string{"a", "k0", "k1", "k2", "x"}).Draw(rt, "theirs"), "theirs"
	_, theirs := foreign[name]
	_, present := p.aws.values[name]
	written := slices.ContainsFunc(p.objects, func(o *object) bool {
		return slices.ContainsFunc(o.ledger, func(e keyvalue.Entry) bool { return e.Name == name && e.State != keyvalue.Intended })
	})
	switch {
	case theirs && rapid.Bool().Draw(rt, "deleted"):
		delete(foreign, name)
		p.aws.set(name, "")
	case theirs || !present && !written:
		foreign[name] = value
		p.aws.set(name, value)
	}
}

// judge compares the store with what the objects want. Of two that want one key, either may have it.
func (p *play) judge(rt *rapid.T, foreign map[string]string) {
	wanted := maps.Clone(foreign)
	for _, o := range p.objects {
		for _, w := range o.wants {
			_, theirs := foreign[w.Name]
			if _, other := wanted[w.Name]; !theirs && (!other || p.aws.values[w.Name] == w.Value) {
				wanted[w.Name] = w.Value
			}
		}
	}
	if diff := cmp.Diff(wanted, p.aws.values); diff != "" {
		rt.Fatalf("the store differs from what is wanted (-want +got):\n%s", diff)
	}
}

// Whatever users, others and crashes do: a key of others keeps its value, the store has what the objects want in the end,
// and nothing is left when they are gone.
func TestLedgerLeavesNothingBehind(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newPlay(2)
		foreign := map[string]string{"f0": "theirs", "f1": "a"}
		maps.Copy(p.aws.values, foreign)
		names, values := []string{"k0", "k1", "k2", "f0", "f1"}, []string{"a", "b", "c"}
		for range rapid.IntRange(5, 60).Draw(rt, "steps") {
			o := rapid.SampledFrom(p.objects).Draw(rt, "object")
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0, 1:
				name := rapid.SampledFrom(names).Draw(rt, "name")
				o.wants = slices.DeleteFunc(slices.Clone(o.wants), func(w keyvalue.Want) bool { return w.Name == name })
				if rapid.Bool().Draw(rt, "wanted") {
					o.wants = append(o.wants, want(name, rapid.SampledFrom(values).Draw(rt, "value")))
				}
				o.version++
			case 2:
				p.pass(o, true)
				p.restart()
			case 3, 4, 5:
				p.pass(o, false)
			case 6:
				p.others(rt, foreign)
			default:
				p.step(fate(rapid.IntRange(0, 2).Draw(rt, "fate")))
			}
		}
		if rapid.Bool().Draw(rt, "rests") {
			p.settle()
			p.judge(rt, foreign)
		}
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
		if diff := cmp.Diff(foreign, p.aws.values); diff != "" {
			rt.Fatalf("what is left differs from what others have (-want +got):\n%s", diff)
		}
	})
}
