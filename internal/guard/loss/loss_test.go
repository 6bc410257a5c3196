package loss_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/budget"
	domain "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

const class = domain.Class("DistributionTenant")

var errDown = errors.New("the API server is down")

// store is a ConfigMap for several processes.
type store struct {
	stored  port.Deletions
	version int
	writes  int
	// readErr and writeErr make it fail; lost stores the memory and loses the answer.
	readErr, writeErr error
	lost              bool
}

func (s *store) Load(context.Context) (port.Deletions, error) {
	out := s.stored
	out.Version = fmt.Sprint(s.version)
	return out, s.readErr
}

func (s *store) Save(_ context.Context, m domain.Memory, version string) (string, error) {
	switch {
	case s.writeErr != nil:
		return "", s.writeErr
	case version != fmt.Sprint(s.version):
		return "", port.ErrStale
	}
	s.stored.Memory = m
	s.version++
	s.writes++
	if s.lost {
		return "", errDown
	}
	return fmt.Sprint(s.version), nil
}

// world is a cluster of objects.
type world struct {
	store   *store
	clock   *clocktesting.FakeClock
	living  domain.Counts
	waiting []domain.Item
	woken   []types.NamespacedName
	removed int
}

func newWorld() *world {
	return &world{store: &store{}, clock: clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), living: domain.Counts{"shop": 100}}
}

// process starts an operator.
func (w *world) process() *loss.Breaker {
	b := loss.New(loss.Options{
		Policy: domain.Policy{
			Settle: 10 * time.Second, SettleMax: time.Minute, Window: time.Hour, Ceiling: 50,
			Budgets: map[domain.Class]domain.Budget{class: {Cluster: budget.Limit{Max: 10}, Namespace: &budget.Limit{Max: 10}}},
		},
		Store: w.store, Clock: w.clock, Annotations: domain.Annotations{Approve: "approve", Abandon: "abandon", Namespace: "ops", ConfigMap: "budget"},
	})
	b.Add(loss.Class{
		Name: class, Words: domain.Words{Many: "distribution tenants", Resource: "distributiontenants", Namespaced: true},
		List: func(context.Context) (domain.Counts, []domain.Item, error) { return w.living, w.waiting, nil },
		Wake: func(_ context.Context, keys ...types.NamespacedName) { w.woken = append(w.woken, keys...) },
	})
	return b
}

// remove deletes n objects.
func (w *world) remove(n int) {
	for range n {
		w.removed++
		uid := fmt.Sprintf("uid-%d", w.removed)
		w.waiting = append(w.waiting, domain.Item{Class: class, UID: uid, Weight: 1, Namespace: "shop", Name: uid, Since: w.clock.Now()})
		w.living["shop"]--
	}
}

// judged lets the burst settle, and has it judged.
func (w *world) judged(t *testing.T, b *loss.Breaker) {
	t.Helper()
	w.clock.Step(10 * time.Second)
	if _, err := b.Judge(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (w *world) states(b *loss.Breaker) map[domain.State]int {
	out := map[domain.State]int{}
	for _, i := range w.waiting {
		out[b.Ask(i).State]++
	}
	return out
}

func TestOneWriteForABurst(t *testing.T) {
	for name, test := range map[string]struct {
		n    int
		want domain.State
	}{
		"within the budget": {10, domain.Go},
		"above it":          {50, domain.Held},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			b := w.process()
			w.remove(test.n)
			w.judged(t, b)
			if d := cmp.Diff(map[domain.State]int{test.want: test.n}, w.states(b)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if len(w.woken) != test.n || w.store.writes != 1 {
				t.Errorf("%d of %d were woken, with %d writes, want 1", len(w.woken), test.n, w.store.writes)
			}
			// A quiet fleet costs nothing.
			w.judged(t, b)
			if len(w.woken) != test.n || w.store.writes != 1 {
				t.Errorf("nothing happens, and %d more are woken, with %d more writes", len(w.woken)-test.n, w.store.writes-1)
			}
		})
	}
}

// Cleared items are stored before they act, so that none counts twice or is asked about again.
func TestAProcessTakesOverFromTheOneBefore(t *testing.T) {
	w := newWorld()
	w.remove(10)
	w.judged(t, w.process())
	w.waiting = w.waiting[5:] // five have ended before the process did
	second := w.process()
	w.remove(3)
	w.judged(t, second)
	if d := cmp.Diff(map[domain.State]int{domain.Go: 5, domain.Held: 3}, w.states(second)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestAPlanOutlivesTheProcess(t *testing.T) {
	w := newWorld()
	first := w.process()
	w.remove(50)
	w.judged(t, first)
	second := w.process()
	w.judged(t, second)
	if d := cmp.Diff(first.Ask(w.waiting[0]), second.Ask(w.waiting[0])); d != "" {
		t.Errorf("what the second process says (-first +second):\n%s", d)
	}
	w.store.stored.Approved = []string{first.Holds()[0].Plan}
	w.store.version++
	second.Changed(fmt.Sprint(w.store.version))
	w.judged(t, second)
	if d := cmp.Diff(map[domain.State]int{domain.Go: 50}, w.states(second)); d != "" {
		t.Errorf("approved (-want +got):\n%s", d)
	}
}

// Two processes that both take themselves for the leader spend one budget.
func TestTwoLeadersSpendOneBudget(t *testing.T) {
	w := newWorld()
	first, second := w.process(), w.process()
	w.judged(t, first)
	w.judged(t, second)
	w.remove(8)
	w.judged(t, first)
	w.remove(8)
	w.clock.Step(10 * time.Second)
	if _, err := second.Judge(t.Context()); !errors.Is(err, port.ErrStale) {
		t.Fatalf("the second leader gets %v, want %v", err, port.ErrStale)
	}
	w.judged(t, second)
	if d := cmp.Diff(map[domain.State]int{domain.Go: 8, domain.Held: 8}, w.states(second)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// While the memory can't be read or written, nothing is cleared, and the message says so.
func TestItIsClosedWithoutItsMemory(t *testing.T) {
	for name, fails := range map[string]func(*store){
		"unreadable":    func(s *store) { s.readErr = errDown },
		"unwritable":    func(s *store) { s.writeErr = errDown },
		"a lost answer": func(s *store) { s.lost = true },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			b := w.process()
			w.remove(1)
			fails(w.store)
			w.clock.Step(10 * time.Second)
			if _, err := b.Judge(t.Context()); !errors.Is(err, errDown) {
				t.Fatalf("judging fails with %v, want %v", err, errDown)
			}
			a := b.Ask(w.waiting[0])
			if a.State != domain.Held || !strings.Contains(a.Message, errDown.Error()) || !strings.Contains(a.Message, "ops/budget") {
				t.Errorf("it says %+v", a)
			}
			w.store.readErr, w.store.writeErr, w.store.lost = nil, nil, false
			w.judged(t, b)
			if a := b.Ask(w.waiting[0]); a.State != domain.Go {
				t.Errorf("with its memory it says %+v", a)
			}
		})
	}
}

func TestAChangeIsWithdrawn(t *testing.T) {
	w := newWorld()
	b := w.process()
	for n := range 12 {
		b.Ask(domain.Item{Class: class, UID: fmt.Sprint(n), Weight: 1, Namespace: "shop", Name: fmt.Sprint(n), Harm: "disables it", Generation: 2, Since: w.clock.Now()})
	}
	w.judged(t, b)
	if holds := b.Holds(); len(holds) != 1 || holds[0].Changes != 12 {
		t.Fatalf("12 changes are no plan: %+v", holds)
	}
	b.Withdraw("0")
	w.judged(t, b)
	if holds := b.Holds(); len(holds) != 1 || holds[0].Count != 11 {
		t.Errorf("one is withdrawn, which leaves %+v", holds)
	}
	for n := range 12 {
		b.Withdraw(fmt.Sprint(n))
	}
	w.judged(t, b)
	if holds := b.Holds(); len(holds) > 0 {
		t.Errorf("all were withdrawn, and a plan is left: %+v", holds)
	}
}

// Deletions that a user has approved for a source are stored before the source deletes anything, once.
func TestASourceIsApproved(t *testing.T) {
	w := newWorld()
	b := w.process()
	w.remove(50)
	for range 2 {
		if err := b.Approve(t.Context(), w.waiting); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(map[domain.State]int{domain.Go: 50}, w.states(b)); d != "" || w.store.writes != 1 {
		t.Errorf("%d writes (-want +got):\n%s", w.store.writes, d)
	}
	w.store.writeErr = errDown
	if err := b.Approve(t.Context(), []domain.Item{{Class: class, UID: "another"}}); !errors.Is(err, errDown) {
		t.Errorf("what can't be stored is approved: %v", err)
	}
}

// A source knows which spec a user has approved, and not in which words its tenant tells what that takes away.
func TestAChangeThatASourceHasApprovedGoesOnInAnyWords(t *testing.T) {
	w := newWorld()
	b := w.process()
	var approved, asked []domain.Item
	for n := range 20 {
		i := domain.Item{Class: class, UID: fmt.Sprint(n), Weight: 1, Namespace: "shop", Name: fmt.Sprint(n), Harm: domain.AnyHarm, Generation: 2, Since: w.clock.Now()}
		approved = append(approved, i)
		i.Harm = "removes " + i.Name
		asked = append(asked, i)
		b.Ask(i)
	}
	w.judged(t, b)
	if holds := b.Holds(); len(holds) != 1 {
		t.Fatalf("20 changes are no plan: %+v", holds)
	}
	if err := b.Approve(t.Context(), approved); err != nil {
		t.Fatal(err)
	}
	w.judged(t, b)
	for _, i := range asked {
		if a := b.Ask(i); a.State != domain.Go {
			t.Errorf("%s: %+v", i.Name, a)
		}
		b.Withdraw(i.UID)
	}
	w.judged(t, b)
	if holds := b.Holds(); len(holds) > 0 {
		t.Errorf("what was approved is still held: %+v", holds)
	}
	other := asked[0]
	if other.Generation++; b.Ask(other).State == domain.Go {
		t.Error("another spec than the approved one goes on")
	}
	other = asked[0]
	if other.Harm, other.Generation = "", 0; b.Ask(other).State == domain.Go {
		t.Error("the deletion of an object goes on whose change was approved")
	}
}

func TestWithoutABudgetAllGoesOn(t *testing.T) {
	var none *loss.Breaker
	for name, b := range map[string]*loss.Breaker{"no breaker": none, "no budget for the class": newWorld().process()} {
		if a := b.Ask(domain.Item{Class: "ConnectionGroup", UID: "x"}); a.State != domain.Go {
			t.Errorf("%s: it says %+v", name, a)
		}
	}
	none.Withdraw("x")
	if none.Rescued(class, "a", "b") || none.Approve(t.Context(), []domain.Item{{}}) != nil {
		t.Error("no breaker remembers")
	}
}
