package rollout_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
)

// usual is the operator's own policy.
var usual = rollout.Policy{Limits: rollout.Limits{MaxFailedPercent: 10}}

// customer is a tenant as the played order sees it.
type customer struct {
	rollout.Ask

	policy rollout.Policy
	// has is the value in AWS, ready whether it is Ready with it, and fails that it never is.
	has          string
	ready, fails bool
	flying       bool
	step         int
	group        string
}

// town is a cluster in which customers change.
type town struct {
	now       time.Time
	order     *rollout.Order
	customers map[string]*customer
	fail      func(format string, args ...any)
	// released says that an administrator has let a group go.
	released bool
}

func newTown(fail func(string, ...any)) *town {
	return &town{now: epoch, order: rollout.NewOrder(), customers: map[string]*customer{}, fail: fail}
}

func wanted(c *customer) string { return strings.Join(c.Values, ",") }

// change gives a customer another value, and asks.
func (w *town) change(p rollout.Policy, namespace, name, value string, fields ...string) *customer {
	if len(fields) == 0 {
		fields = []string{"parameters"}
	}
	c := w.customers[name]
	if c == nil {
		c = &customer{}
		w.customers[name] = c
	}
	c.Ask = rollout.Ask{UID: name, Namespace: namespace, Name: name, Fields: fields, Values: []string{value}, Canary: c.Canary}
	if c.policy = p; c.has != value {
		c.flying, c.ready = false, false
	}
	w.ask(c)
	return c
}

// many change to what value says.
func (w *town) many(p rollout.Policy, namespace, prefix string, n int, value func(int) string) {
	for i := range n {
		w.change(p, namespace, fmt.Sprintf("%s%03d", prefix, i), value(i))
	}
}

func same(int) string     { return "v" }
func own(i int) string    { return fmt.Sprint("v", i) }
func (w *town) size() int { return len(w.list()) }
func (w *town) sorted() []*customer {
	var out []*customer
	for _, name := range slices.Sorted(maps.Keys(w.customers)) {
		out = append(out, w.customers[name])
	}
	return out
}

// ask is a pass of a customer that does not have its value.
func (w *town) ask(c *customer) {
	if c.has == wanted(c) {
		w.order.Tell(c.UID, rollout.Outcome{Settled: true, Ready: c.ready})
		return
	}
	before := w.flying()
	var known []rollout.Known
	if w.order.Begins(c.policy, c.Ask) {
		known = w.known(c)
	}
	a := w.order.Ask(w.now, c.policy, c.Ask, known...)
	c.group = a.Group
	if !a.Go {
		return
	}
	c.has, c.flying, c.step = wanted(c), true, w.stepOf(a.Group)
	w.check(c, before)
}

func (w *town) stepOf(name string) int {
	for _, g := range w.order.Groups() {
		if g.Name == name {
			return g.Progress.Step
		}
	}
	return 0
}

// list are those that are in flight.
func (w *town) list() (out []*customer) {
	for _, c := range w.sorted() {
		if c.flying {
			out = append(out, c)
		}
	}
	return out
}

func (w *town) flying() map[string]int {
	n := map[string]int{}
	for _, c := range w.list() {
		n[c.group+wanted(c)]++
	}
	return n
}

// check holds what must be true of every release, whatever decided on it.
func (w *town) check(c *customer, before map[string]int) {
	if l := c.policy.Limits; l.Canaries+l.Step+l.StepPercent > 0 || l.Strict || w.released {
		return
	}
	ready := 0
	for _, other := range w.customers {
		if other.ready && other.has == wanted(c) {
			ready++
		}
		if other.flying && other.step < c.step && other.group == c.group {
			w.fail("%s is released in step %d, and %s of step %d is still in flight", c.Name, c.step, other.Name, other.step)
		}
	}
	if flying := before[c.group+wanted(c)]; flying > ready {
		w.fail("%s is released with %d in flight and %d Ready with its value", c.Name, flying, ready)
	}
}

// known are those that have the value of a customer already.
func (w *town) known(like *customer) (out []rollout.Known) {
	for _, c := range w.sorted() {
		k := rollout.Known{UID: c.UID, Namespace: c.Namespace, Name: c.Name, Since: w.now, State: rollout.InFlight}
		switch {
		case c.has != wanted(like) || c.has != wanted(c):
			continue
		case c.ready:
			k.State = rollout.Applied
		case !c.flying:
			k.State, k.Failure = rollout.Failed, "Broken"
		}
		out = append(out, k)
	}
	return out
}

// advance gives turns, and lets the objects whose turn it is ask again.
func (w *town) advance() int {
	for uid, _, found := w.order.Unlooked(); found; uid, _, found = w.order.Unlooked() {
		w.order.Know(w.now, uid, w.known(w.customers[uid]))
	}
	turns, _ := w.order.Advance(w.now)
	for _, turn := range turns {
		if c := w.customers[turn.Name]; c != nil {
			w.ask(c)
			if !c.flying {
				w.fail("%s has its turn, and may not go", c.Name)
			}
		}
	}
	return len(turns)
}

// land tells what became of one in flight.
func (w *town) land(c *customer) {
	c.flying, c.ready = false, !c.fails
	told := rollout.Outcome{Settled: true, Ready: c.ready}
	if c.fails {
		told.Failure = "Broken"
	}
	w.order.Tell(c.UID, told)
}

// wave lets all in flight land, and gives the next turns. It returns how many are in flight then.
func (w *town) wave() int {
	for _, c := range w.list() {
		w.land(c)
	}
	w.now = w.now.Add(time.Minute)
	w.advance()
	return w.size()
}

// waves are the sizes of all that follow.
func (w *town) waves() (sizes []int) {
	w.advance()
	for n := w.size(); n > 0; n = w.wave() {
		sizes = append(sizes, n)
	}
	return sizes
}

func TestWaves(t *testing.T) {
	t.Parallel()
	source := func(change func(*rollout.Limits)) rollout.Policy {
		p := rollout.Policy{Source: "shop/customers", Limits: rollout.Limits{MaxConcurrent: 10, MaxFailedPercent: 10}}
		change(&p.Limits)
		return p
	}
	for name, tt := range map[string]struct {
		play func(w *town)
		want []int
	}{
		"a single change passes at once":                  {func(w *town) { w.many(usual, "a", "c", 1, same) }, []int{1}},
		"where all get the same value it begins with one": {func(w *town) { w.many(usual, "a", "c", 40, same) }, []int{1, 2, 4, 8, 16, 9}},
		"where each gets its own it begins with five":     {func(w *town) { w.many(usual, "a", "c", 40, own) }, []int{5, 6, 12, 17}},
		"a group is not an object, a name or a namespace": {func(w *town) { w.many(usual, "a", "c", 4, same); w.many(usual, "b", "d", 3, same) }, []int{1, 2, 4}},
		"other fields are another group":                  {func(w *town) { w.many(usual, "a", "c", 4, same); w.change(usual, "a", "x", "v", "dns") }, []int{2, 2, 1}},
		"a source begins as it says": {func(w *town) {
			w.many(source(func(l *rollout.Limits) { l.Canaries, l.Strict = 3, true }), "a", "c", 12, same)
		}, []int{3, 4, 5}},
		"and goes on as it says": {func(w *town) {
			w.many(source(func(l *rollout.Limits) { l.Canaries, l.Strict, l.Step = 2, true, 4 }), "a", "c", 12, same)
		}, []int{2, 4, 4, 2}},
		"or in shares of the tenants": {func(w *town) { w.many(source(func(l *rollout.Limits) { l.StepPercent = 50 }), "a", "c", 12, same) }, []int{1, 6, 5}},
		"no more are in flight than it allows": {func(w *town) {
			w.many(source(func(l *rollout.Limits) { l.Step, l.MaxConcurrent = 6, 2 }), "a", "c", 8, same)
		}, []int{1, 2, 2, 2, 1}},
		"a policy that pauses changes nothing": {func(w *town) { w.many(source(func(l *rollout.Limits) { l.Paused = true }), "a", "c", 8, same) }, nil},
		"an administrator releases the rest":   {func(w *town) { w.many(usual, "a", "c", 8, same); w.release() }, []int{8}},
		"and what comes while it is on its way": {func(w *town) {
			w.many(usual, "a", "c", 8, same)
			w.release()
			w.many(usual, "a", "d", 5, same)
		}, []int{13}},
		"two that fail stop their namespace": {func(w *town) { w.many(usual, "a", "c", 9, same); w.breaks("c") }, []int{1, 1}},
		"one alone does not":                 {func(w *town) { w.many(usual, "a", "c", 9, same); w.customers["c000"].fails = true }, []int{1, 1, 2, 4, 1}},
		"those of another namespace go on":   {func(w *town) { w.many(usual, "a", "c", 9, own); w.breaks("c"); w.many(usual, "b", "d", 9, own) }, []int{5, 5, 4}},
		"failures of two namespaces stop all": {func(w *town) {
			w.many(usual, "a", "c", 3, same)
			w.many(usual, "b", "d", 3, same)
			w.many(usual, "x", "e", 9, same)
			w.breaks("c")
			w.breaks("d")
			w.breaks("e")
		}, []int{1, 1}},
		"one that came back begins small, however far others": {func(w *town) {
			w.many(usual, "a", "c", 60, same)
			w.wave()
			w.wave()
			w.wave()
			w.wave()
			w.many(usual, "a", "c", 60, func(int) string { return "w" })
		}, []int{1, 2, 4, 8, 16, 29}},
		"and so does another change in the same fields": {func(w *town) {
			w.many(usual, "a", "c", 60, own)
			w.wave()
			w.wave()
			w.wave()
			w.many(usual, "b", "d", 40, func(i int) string { return fmt.Sprint("w", i) })
		}, []int{24, 18, 6, 12, 17}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTown(t.Fatalf)
			tt.play(w)
			if d := cmp.Diff(tt.want, w.waves()); d != "" {
				t.Errorf("waves (-want +got):\n%s", d)
			}
		})
	}
}

// breaks lets all of that prefix fail.
func (w *town) breaks(prefix string) {
	for name, c := range w.customers {
		c.fails = c.fails || strings.HasPrefix(name, prefix)
	}
}

// However changes, failures, restarts, pauses and deletions come together: no wave begins before the one before is over,
// no object gets a value before as many are Ready with it, and in the end all have theirs.
func TestTheOrderEndsWell(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, paused := newTown(t.Fatalf), false
		policy := func() rollout.Policy {
			p := usual
			p.Paused = paused
			return p
		}
		names, values := rapid.IntRange(0, 29), rapid.SampledFrom([]string{"v", "v", "w", ""})
		for range rapid.IntRange(1, 150).Draw(t, "moves") {
			switch rapid.IntRange(0, 11).Draw(t, "move") {
			case 0, 1, 2, 3:
				n := names.Draw(t, "name")
				value := values.Draw(t, "value")
				if value == "" {
					value = fmt.Sprint("own", n)
				}
				w.change(policy(), fmt.Sprint("ns", n%3), fmt.Sprintf("c%02d", n), value)
			case 4, 5, 6:
				if flying := w.list(); len(flying) > 0 {
					w.land(rapid.SampledFrom(flying).Draw(t, "lands"))
				}
			case 7:
				if c := w.customers[fmt.Sprintf("c%02d", names.Draw(t, "breaks"))]; c != nil {
					c.fails = !c.fails
				}
			case 8:
				w.restart()
			case 9:
				paused = rapid.Bool().Draw(t, "paused")
				w.order.Bound(policy())
			case 10:
				if c := w.customers[fmt.Sprintf("c%02d", names.Draw(t, "deleted"))]; c != nil {
					w.order.Forget(c.UID)
					delete(w.customers, c.Name)
				}
			default:
				w.now = w.now.Add(time.Minute)
			}
			w.advance()
		}
		paused = false
		w.order.Bound(policy())
		for _, c := range w.customers {
			c.fails, c.policy = false, policy()
		}
		for range 100 {
			for _, c := range w.sorted() {
				if !c.flying && !c.ready && c.has == wanted(c) {
					w.land(c) // it recovers
				}
				w.ask(c)
			}
			w.wave()
		}
		for _, c := range w.sorted() {
			if c.has != wanted(c) || !c.ready {
				t.Fatalf("%s has %q and wants %q, ready %v: %+v", c.Name, c.has, wanted(c), c.ready, w.order.Groups())
			}
		}
		if sum, _ := rollout.Sum(w.order.Groups(), ""); sum.Waiting+sum.Failed+sum.InFlight > 0 {
			t.Fatalf("in the end there is %+v", sum)
		}
	})
}

// restart loses all but what is in AWS. Only objects whose value is looked up are known to be in flight.
func (w *town) restart() {
	w.order = rollout.NewOrder()
	for _, c := range w.sorted() {
		c.step, c.group = 0, ""
		w.ask(c)
	}
}

// A trickle of changes that never ends does not let a change of all begin large.
func TestATrickleGrowsNoWave(t *testing.T) {
	t.Parallel()
	w := newTown(t.Fatalf)
	for n := range 200 {
		for i := range 3 {
			w.change(usual, "a", fmt.Sprintf("t%d-%d", n, i), fmt.Sprintf("v%d-%d", n, i))
		}
		if size := w.wave(); size > 5 {
			t.Fatalf("after %d changes a wave has %d", 3*n, size)
		}
	}
	w.change(usual, "a", "last", "last")
	w.many(usual, "b", "all", 100, own)
	if size := w.size(); size > 5 {
		t.Errorf("the first wave of a change of all has %d", size)
	}
}

// A value that fails in one tenant after another is noticed, also where each of them changes alone.
func TestAFailingTrickleStops(t *testing.T) {
	t.Parallel()
	w := newTown(t.Fatalf)
	for n := range 20 {
		w.change(usual, fmt.Sprint("ns", n), fmt.Sprint("c", n), "bad").fails = true
		w.wave()
	}
	reached := 0
	for _, c := range w.customers {
		if c.has != "" {
			reached++
		}
	}
	if reached != 2 {
		t.Errorf("%d are reached", reached)
	}
	if a := w.change(usual, "ns1", "another", "good"); a.has != "good" {
		t.Error("the change of another has to wait for them")
	}
}

// A process that begins continues where the previous one was, if all get the same.
func TestARestartKeepsWhatIsReady(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		value func(int) string
		want  []int
	}{
		"the same value":   {same, []int{32, 37}},
		"one for each":     {own, []int{5, 6}},
		"none is known of": {func(i int) string { return fmt.Sprint("v", i/2) }, []int{5, 7}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTown(t.Fatalf)
			w.many(usual, "a", "c", 100, tt.value)
			for range 4 {
				w.wave()
			}
			for _, c := range w.list() {
				w.land(c)
			}
			w.restart()
			w.advance()
			got := []int{w.size()}
			got = append(got, w.wave())
			if got[0] > tt.want[0] || got[1] > tt.want[1] {
				t.Errorf("waves of %v, want at most %v", got, tt.want)
			}
		})
	}
}

// The next process waits for the objects that were in flight when the previous one ended.
func TestARestartWaitsForWhatIsInFlight(t *testing.T) {
	t.Parallel()
	w := newTown(t.Fatalf)
	w.many(usual, "a", "c", 100, same)
	for range 3 {
		w.wave()
	}
	before := w.size()
	for range 10 {
		w.restart()
		w.advance()
	}
	if n := w.size(); n > before+10 {
		t.Errorf("%d are in flight, and before the restarts there were %d", n, before)
	}
}

// The canaries that the policy selects come first, also those that have not asked yet, and none is replaced.
func TestCanariesWithLabels(t *testing.T) {
	t.Parallel()
	p := rollout.Policy{Source: "shop/customers", Limits: rollout.Limits{MaxConcurrent: 10, MaxFailedPercent: 10, Strict: true, Pause: time.Hour}}
	w := newTown(t.Fatalf)
	like := w.change(p, "a", "c1", "v")
	if like.has != "v" {
		t.Fatal("one that asks alone does not pass at once")
	}
	w.land(like)
	w.advance()
	w.customers["k1"] = &customer{Ask: rollout.Ask{Canary: true}}
	w.customers["k2"] = &customer{Ask: rollout.Ask{Canary: true}}
	w.change(p, "a", "k1", "w")
	w.change(p, "a", "c2", "w")
	w.order.Know(w.now, "k1", []rollout.Known{{UID: "k2", Namespace: "a", Name: "k2", State: rollout.Held, Canary: true}})
	w.advance()
	w.wave()
	if got := w.customers["c2"].has; got != "" {
		t.Fatalf("it has %q before the second canary has asked", got)
	}
	w.change(p, "a", "k2", "w")
	w.advance()
	if w.customers["k2"].has != "w" {
		t.Fatal("the second canary waits")
	}
	w.wave()
	if sum, _ := rollout.Sum(w.order.Groups(), p.Source); sum.Again != time.Hour || w.customers["c2"].has != "" {
		t.Fatalf("there is no pause after the canaries: %+v", sum)
	}
	w.now = w.now.Add(time.Hour)
	w.advance()
	if w.customers["c2"].has != "w" {
		t.Error("it does not go on after the pause")
	}
}

// The reports of an object decide about the others.
func TestTell(t *testing.T) {
	t.Parallel()
	type counts struct{ Applied, Failed, Waiting, InFlight int }
	for name, tt := range map[string]struct {
		uid  string
		told []rollout.Outcome
		want counts
	}{
		"one that is Ready makes room":               {"c000", []rollout.Outcome{{Settled: true, Ready: true}}, counts{Applied: 1, Waiting: 2, InFlight: 2}},
		"one that is deployed only does not":         {"c000", []rollout.Outcome{{Settled: true}}, counts{Waiting: 3, InFlight: 1}},
		"one that is disabled shows nothing":         {"c000", []rollout.Outcome{{Settled: true, Unserved: true}}, counts{Waiting: 2, InFlight: 1}},
		"not even that it has recovered":             {"c000", []rollout.Outcome{{Failure: "x"}, {Settled: true, Unserved: true}}, counts{Failed: 1, Waiting: 2, InFlight: 1}},
		"once it has shown it, it may be disabled":   {"c000", []rollout.Outcome{{Settled: true, Ready: true}, {Settled: true, Unserved: true}}, counts{Applied: 1, Waiting: 2, InFlight: 2}},
		"one that is stuck has failed":               {"c000", []rollout.Outcome{{Failure: "x"}}, counts{Failed: 1, Waiting: 2, InFlight: 1}},
		"and may recover":                            {"c000", []rollout.Outcome{{Failure: "x"}, {Settled: true, Ready: true}}, counts{Applied: 1, Waiting: 2, InFlight: 2}},
		"one that fails later has failed":            {"c000", []rollout.Outcome{{Settled: true, Ready: true}, {Settled: true, Failure: "x"}}, counts{Failed: 1, Waiting: 2, InFlight: 1}},
		"one that is paused gives its turn back":     {"c000", []rollout.Outcome{{Still: true}}, counts{Waiting: 3, InFlight: 1}},
		"one that wants nothing any more leaves":     {"c001", []rollout.Outcome{{Settled: true, Ready: true}}, counts{Waiting: 2, InFlight: 1}},
		"one that has trouble while it waits, waits": {"c001", []rollout.Outcome{{Failure: "x"}}, counts{Waiting: 3, InFlight: 1}},
		"one that is not known tells nothing":        {"other", []rollout.Outcome{{Failure: "x"}}, counts{Waiting: 3, InFlight: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTown(t.Fatalf)
			w.many(usual, "a", "c", 3, same)
			for _, told := range tt.told {
				w.order.Tell(tt.uid, told)
			}
			w.order.Advance(w.now.Add(time.Minute))
			sum, _ := rollout.Sum(w.order.Groups(), "")
			if d := cmp.Diff(tt.want, counts{sum.Applied, sum.Failed, sum.Waiting, sum.InFlight}); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// One that is in flight for too long has failed, and the failure says so.
func TestInFlightTooLong(t *testing.T) {
	t.Parallel()
	w := newTown(t.Fatalf)
	w.many(usual, "a", "c", 2, same)
	if _, again := w.order.Advance(w.now); again != rollout.InFlightAtMost {
		t.Errorf("it is looked at again after %s", again)
	}
	if turns, _ := w.order.Advance(w.now.Add(rollout.InFlightAtMost)); len(turns) != 1 {
		t.Errorf("%d turns follow", len(turns))
	}
	sum, _ := rollout.Sum(w.order.Groups(), "")
	if want := `Tenant "c000": It was not Ready 30 minutes after the change.`; sum.First != want {
		t.Errorf("the failure is %q, want %q", sum.First, want)
	}
}

// An update that reaches AWS in parts is one turn.
func TestTheRestOfAChangeHasItsTurn(t *testing.T) {
	t.Parallel()
	o := rollout.NewOrder()
	whole := rollout.Ask{UID: "a", Fields: []string{"customizations.webAcl", "parameters"}, Values: []string{"p=1", "w=2"}}
	rest := rollout.Ask{UID: "a", Fields: []string{"parameters"}, Values: []string{"p=1"}}
	other := rollout.Ask{UID: "b", Fields: []string{"parameters"}, Values: []string{"p=1"}}
	if !o.Ask(epoch, usual, whole).Go || !o.Ask(epoch, usual, other).Go {
		t.Fatal("two different changes don't pass at once")
	}
	if !o.Ask(epoch, usual, rest).Go {
		t.Error("the rest of the change waits")
	}
	more := rollout.Ask{UID: "a", Fields: []string{"parameters"}, Values: []string{"p=1", "q=2"}}
	if o.Ask(epoch, usual, more).Go != true {
		t.Error("a different value waits although it is the first of its kind")
	}
}

// An object that has a change can go back at once, whatever the change waits for, and gets it again only in its turn.
func TestAnUndoneChangeDoesNotWait(t *testing.T) {
	t.Parallel()
	o, slow := rollout.NewOrder(), rollout.Policy{Limits: rollout.Limits{Pause: time.Hour, MaxFailedPercent: 10}}
	ask := func(uid, value, was string) bool {
		return o.Ask(epoch, slow, rollout.Ask{UID: uid, Fields: []string{"parameters"}, Values: []string{value}, Was: []string{was}}).Go
	}
	if !ask("a", "bad", "good") || ask("b", "bad", "good") || ask("c", "bad", "good") {
		t.Fatal("the change does not reach one alone")
	}
	o.Tell("a", rollout.Outcome{Settled: true, Ready: true})
	if turns, _ := o.Advance(epoch.Add(time.Minute)); len(turns) > 0 {
		t.Fatal("the pause is over")
	}
	if ask("a", "worse", "bad") {
		t.Error("another value passes in the pause")
	}
	o = rollout.NewOrder()
	ask("a", "bad", "good")
	ask("b", "bad", "good")
	o.Tell("a", rollout.Outcome{Settled: true, Ready: true})
	if !ask("a", "good", "bad") {
		t.Error("it does not get back what it had")
	}
	o.Tell("a", rollout.Outcome{Settled: true, Ready: true})
	if ask("a", "bad", "good") {
		t.Error("the change passes at once after it was undone")
	}
}

// release is what an administrator does.
func (w *town) release() {
	w.released = true
	if !w.order.Release([]string{w.customers["c000"].group}) {
		w.fail("there is no group of that name")
	}
}
