package clone_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	domain "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/cluster"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/clone"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/halt"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// memory is a store in which another replica may be first.
type memory struct {
	stored  *domain.Stored
	version int
	writes  int
	// place is true where there is an empty one already.
	place bool
	// first stores something before the next write.
	first *domain.Stored
	fails error
}

func (m *memory) Load(context.Context) (*domain.Stored, string, error) {
	if m.fails != nil {
		return nil, "", m.fails
	}
	if m.stored == nil && m.place {
		return nil, strconv.Itoa(m.version), nil
	}
	if m.stored == nil {
		return nil, "", nil
	}
	stored := *m.stored
	return &stored, strconv.Itoa(m.version), nil
}

func (m *memory) Save(_ context.Context, i domain.Identity, version string) error {
	if m.first != nil {
		m.stored, m.first, m.version = m.first, nil, m.version+1
	}
	if now := strconv.Itoa(m.version); m.stored != nil && version != now || m.stored == nil && version != "" && !m.place {
		return port.ErrClusterStale
	}
	accepted := ""
	if m.stored != nil {
		accepted = m.stored.Accepted
	}
	m.stored = &domain.Stored{Identity: i, Accepted: accepted}
	m.version++
	m.writes++
	return nil
}

// rig is a check in a cluster.
type rig struct {
	*clone.Check

	store  memory
	copy   memory
	here   domain.Identity
	halt   *halt.Switch
	clock  *clocktesting.FakeClock
	failed error
	told   []chain.Reason
}

func newRig() *rig {
	r := &rig{copy: memory{place: true}, here: domain.Identity{ID: "c1", Issuer: "https://a", Keys: []string{"k1"}}, halt: halt.New(), clock: clocktesting.NewFakeClock(time.Now())}
	r.restart()
	return r
}

func (r *rig) restart() {
	r.Check = clone.New(clone.Options{
		Identify: func(context.Context) (domain.Identity, error) { return r.here, r.failed },
		Store:    &r.store, Copy: &r.copy, Place: domain.Place{Namespace: "ns", ConfigMap: "cm", Annotation: "accept"},
		Halt: r.halt, Clock: r.clock, Halted: func(h chain.Halt) { r.told = append(r.told, h.Reason) },
	})
}

func (r *rig) halted() bool { return r.halt.Now() != nil }

func TestTheFirstStartStoresAndTheNextOnesWriteNothing(t *testing.T) {
	t.Parallel()
	r := newRig()
	for range 3 {
		if err := r.Now(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.restart()
	}
	if r.store.writes != 1 || r.halted() {
		t.Errorf("%d writes; halted: %v", r.store.writes, r.halted())
	}
}

// Of two replicas that start at once, one stores, and the other compares with what it finds.
func TestTheReplicaThatComesSecondComparesWithTheFirst(t *testing.T) {
	t.Parallel()
	r := newRig()
	r.store.first = &domain.Stored{Identity: r.here}
	if err := r.Now(t.Context()); err != nil || r.halted() || r.store.writes != 0 {
		t.Errorf("the same cluster: %v, halted %v, %d writes", err, r.halted(), r.store.writes)
	}
	r = newRig()
	r.store.first = &domain.Stored{Identity: domain.Identity{Issuer: "https://b"}}
	if err := r.Now(t.Context()); err != nil || !r.halted() || r.store.writes != 0 {
		t.Errorf("another cluster: %v, halted %v, %d writes", err, r.halted(), r.store.writes)
	}
}

// An installation into another namespace finds the copy, and one that has what is stored keeps the copy up to date.
func TestAnotherNamespaceFindsTheCopy(t *testing.T) {
	t.Parallel()
	r := newRig()
	reinstall := func() {
		t.Helper()
		r.store, r.halt = memory{}, halt.New()
		r.restart()
		if err := r.Now(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		reinstall()
		if r.halted() || r.copy.writes != 1 {
			t.Fatalf("in the same cluster: halted %v, %d writes of the copy", r.halted(), r.copy.writes)
		}
	}
	r.here = domain.Identity{ID: "c1", Issuer: "https://b", Keys: []string{"k9"}}
	reinstall()
	if !r.halted() || r.copy.stored.Issuer != "https://a" {
		t.Fatalf("in a copy of the cluster: halted %v, the copy is %+v", r.halted(), r.copy.stored)
	}
	r.store.stored.Accepted = r.here.Fingerprint()
	if err := r.Now(t.Context()); err != nil || r.halted() || r.copy.stored.Issuer != "https://b" {
		t.Errorf("accepted: %v, halted %v, the copy is %+v", err, r.halted(), r.copy.stored)
	}
}

// Where there is no place for a copy, nothing is created there. A copy that can't be read ends a first start, and no other.
func TestWithoutAPlaceForTheCopy(t *testing.T) {
	t.Parallel()
	r := newRig()
	r.copy.place = false
	if err := r.Now(t.Context()); err != nil || r.halted() || r.copy.writes != 0 || r.store.writes != 1 {
		t.Errorf("%v, halted %v, %d writes of the copy, %d writes", err, r.halted(), r.copy.writes, r.store.writes)
	}
	r.copy.fails = errors.New("timeout")
	if err := r.Now(t.Context()); err != nil || r.halted() {
		t.Errorf("a later start: %v, halted %v", err, r.halted())
	}
	r.store = memory{}
	if err := r.Now(t.Context()); !errors.Is(err, r.copy.fails) {
		t.Errorf("a first start ends with %v", err)
	}
}

// A failure to read ends the start: nothing is changed without knowledge of the cluster.
func TestAStartThatCanNotReadFails(t *testing.T) {
	t.Parallel()
	r, outage := newRig(), errors.New("timeout")
	r.failed = outage
	if err := r.Now(t.Context()); !errors.Is(err, outage) {
		t.Errorf("without an identity the start ends with %v", err)
	}
	r.failed, r.store.fails = nil, outage
	if err := r.Now(t.Context()); !errors.Is(err, outage) {
		t.Errorf("without the ConfigMap the start ends with %v", err)
	}
}

// A copy is told once, changes nothing, and continues within seconds of an administrator's answer, without a restart.
func TestACopyWaitsForAnAdministrator(t *testing.T) {
	t.Parallel()
	r := newRig()
	r.store.stored = &domain.Stored{Identity: domain.Identity{ID: "c1", Issuer: "https://production", Keys: []string{"k0"}}}
	if err := r.Now(t.Context()); err != nil {
		t.Fatal(err)
	}
	if h := r.halt.Now(); h == nil || h.Reason != resource.ReasonClusterMoved || !strings.Contains(h.Message, r.here.Fingerprint()) {
		t.Fatalf("the halt is %+v", h)
	}
	released := make(chan struct{})
	r.halt.OnChange(func(context.Context) { close(released) })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Start(ctx) }()
	for range 3 {
		r.wait(t)
		r.clock.Step(5 * time.Second)
	}
	r.wait(t)
	r.store.stored.Accepted = r.here.Fingerprint()
	r.clock.Step(5 * time.Second)
	<-released
	r.wait(t)
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if r.halted() || r.store.writes != 1 || r.store.stored.Issuer != r.here.Issuer || len(r.told) != 1 {
		t.Errorf("halted %v, %d writes, stored %+v, told %d times", r.halted(), r.store.writes, r.store.stored, len(r.told))
	}
}

// A start with another cluster ID halts before anything else starts, and one with the previous ID does not. Two causes
// are never shown for one problem.
func TestAnotherClusterIDHaltsUntilItIsRestored(t *testing.T) {
	t.Parallel()
	r := newRig()
	start := func(id string, want ...halt.Cause) {
		t.Helper()
		r.here.ID, r.halt = id, halt.New()
		r.restart()
		if err := r.Now(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, r.halt.Causes()); d != "" {
			t.Errorf("%s: causes (-want +got):\n%s", id, d)
		}
	}
	start("c1")
	start("c2", resource.ReasonClusterIDChanged)
	r.here.Issuer = "https://b"
	if err := r.Now(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]halt.Cause{resource.ReasonClusterMoved}, r.halt.Causes()); d != "" {
		t.Errorf("in another cluster (-want +got):\n%s", d)
	}
	r.here.Issuer = "https://a"
	start("c1")
	start("c2", resource.ReasonClusterIDChanged)
	r.store.stored.Accepted = r.here.Fingerprint()
	start("c2")
	start("c1", resource.ReasonClusterIDChanged)
	if d := cmp.Diff([]chain.Reason{resource.ReasonClusterIDChanged, resource.ReasonClusterMoved, resource.ReasonClusterIDChanged, resource.ReasonClusterIDChanged}, r.told); d != "" {
		t.Errorf("told (-want +got):\n%s", d)
	}
}

// While the operator runs, a rotation of the CA is seen in the hours in which both keys are shown.
func TestARotationIsFollowed(t *testing.T) {
	t.Parallel()
	r := newRig()
	for _, keys := range [][]string{{"k1"}, {"k1", "k2"}, {"k2"}, {"k2", "k3"}, {"k3"}} {
		r.here.Keys = keys
		if err := r.Now(t.Context()); err != nil || r.halted() {
			t.Fatalf("%v: %v, halted %v", keys, err, r.halted())
		}
	}
	r.here.Keys = []string{"k1"}
	if err := r.Now(t.Context()); err != nil || !r.halted() {
		t.Errorf("a key of long ago: %v, halted %v", err, r.halted())
	}
}

// wait waits until the check sleeps.
func (r *rig) wait(t *testing.T) {
	t.Helper()
	for !r.clock.HasWaiters() {
		select {
		case <-t.Context().Done():
			t.Fatal("the check does not wait")
		default:
		}
	}
}
