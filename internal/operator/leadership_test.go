package operator

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
)

// leaseServer is an API server that holds one lease.
type leaseServer struct {
	mu     sync.Mutex
	lease  coordinationv1.Lease
	broken bool
}

func (s *leaseServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	if r.Method == http.MethodPut {
		if err := json.NewDecoder(r.Body).Decode(&s.lease); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(s.lease)
}

func (s *leaseServer) hold(holder string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lease = coordinationv1.Lease{
		TypeMeta:   metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "home", Name: leaderElectionID}, Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder},
	}
}

func (s *leaseServer) holder() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.lease.Spec.HolderIdentity
}

func newLease(t *testing.T) (*leadership, *leaseServer) {
	t.Helper()
	api := &leaseServer{}
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	kube := &rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	l, err := newLeadership(config.Config{LeaderElect: true, LeaderElectionNamespace: "home"}, kube)
	if err != nil {
		t.Fatal(err)
	}
	return l, api
}

const another = "host_another"

// elected is a lease that this process holds for 15 s from the time of its clock.
func elected(t *testing.T) (*leadership, *leaseServer, *clocktesting.FakePassiveClock) {
	t.Helper()
	l, api := newLease(t)
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	l.now = clock.Now
	api.hold("")
	renew(t, l)
	return l, api, clock
}

// renew does it as the library does: it reads the lease, and writes it.
func renew(t *testing.T, l *leadership) {
	t.Helper()
	if err := try(t, l); err != nil {
		t.Fatal(err)
	}
}

func try(t *testing.T, l *leadership) error {
	t.Helper()
	if _, _, err := l.Get(t.Context()); err != nil {
		return err
	}
	return l.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: l.Identity(), LeaseDurationSeconds: 15})
}

// writes is what a process may do.
type writes struct{ Outside, Kubernetes bool }

// may tries both.
func may(t *testing.T, l *leadership) writes {
	t.Helper()
	sent := 0
	next := roundTripper(func(*http.Request) (*http.Response, error) {
		sent++
		return nil, http.ErrServerClosed
	})
	for _, method := range []string{http.MethodGet, http.MethodPatch} {
		r, err := http.NewRequestWithContext(t.Context(), method, "https://kubernetes", nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = (fence{l, next}).RoundTrip(r) //nolint:bodyclose // there is none
	}
	if sent == 0 {
		t.Error("nothing can be read any longer")
	}
	return writes{Outside: l.halted() == nil, Kubernetes: sent == 2}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestOnlyTheHolderOfTheLeaseWrites(t *testing.T) {
	everything, nothing := writes{true, true}, writes{}
	for name, c := range map[string]struct {
		after func(t *testing.T, l *leadership, api *leaseServer, clock *clocktesting.FakePassiveClock)
		want  writes
	}{
		"a leader writes": {func(*testing.T, *leadership, *leaseServer, *clocktesting.FakePassiveClock) {}, everything},
		"a leader that was paused for less than the lease lasts writes": {func(_ *testing.T, _ *leadership, _ *leaseServer, clock *clocktesting.FakePassiveClock) {
			clock.SetTime(clock.Now().Add(12 * time.Second))
		}, everything},
		"a leader that was paused for longer writes nothing": {func(_ *testing.T, _ *leadership, _ *leaseServer, clock *clocktesting.FakePassiveClock) {
			clock.SetTime(clock.Now().Add(13 * time.Second))
		}, nothing},
		"it writes again when it could renew the lease, which no other had": {func(t *testing.T, l *leadership, _ *leaseServer, clock *clocktesting.FakePassiveClock) {
			t.Helper()
			clock.SetTime(clock.Now().Add(time.Minute))
			renew(t, l)
		}, everything},
		"a renewal that the API server did not confirm counts for nothing": {func(t *testing.T, l *leadership, api *leaseServer, clock *clocktesting.FakePassiveClock) {
			t.Helper()
			clock.SetTime(clock.Now().Add(13 * time.Second))
			api.mu.Lock()
			api.broken = true
			api.mu.Unlock()
			if try(t, l) == nil {
				t.Error("the lease was renewed")
			}
		}, nothing},
		"a leader that reads of another one writes nothing, however fresh its renewal is": {func(t *testing.T, l *leadership, api *leaseServer, _ *clocktesting.FakePassiveClock) {
			t.Helper()
			api.hold(another)
			if _, _, err := l.Get(t.Context()); err != nil {
				t.Error(err)
			}
		}, nothing},
		"nor does it become the leader again": {func(t *testing.T, l *leadership, api *leaseServer, _ *clocktesting.FakePassiveClock) {
			t.Helper()
			api.hold(another)
			if try(t, l) == nil {
				t.Error("the lease of another replica was taken")
			}
			api.hold("")
			if try(t, l) == nil {
				t.Error("the lease was taken by a process that has lost it")
			}
		}, nothing},
		"a leader that has released the lease writes nothing": {func(t *testing.T, l *leadership, api *leaseServer, _ *clocktesting.FakePassiveClock) {
			t.Helper()
			if _, _, err := l.Get(t.Context()); err != nil {
				t.Error(err)
			}
			if err := l.Update(t.Context(), resourcelock.LeaderElectionRecord{LeaseDurationSeconds: 1}); err != nil || api.holder() != "" {
				t.Errorf("error %v, and the lease names %q", err, api.holder())
			}
			api.hold(another)
			if _, _, err := l.Get(t.Context()); err != nil || l.isLost() {
				t.Errorf("error %v, lost: %t, although it was given back", err, l.isLost())
			}
		}, nothing},
	} {
		t.Run(name, func(t *testing.T) {
			l, api, clock := elected(t)
			c.after(t, l, api, clock)
			if got := may(t, l); got != c.want {
				t.Errorf("the process may write: %+v, want %+v", got, c.want)
			}
		})
	}
}

// A replica that waits only writes what is made for several that write it.
func TestAReplicaThatWaitsLeavesWhatIsOutsideAlone(t *testing.T) {
	l, api := newLease(t)
	api.hold(another)
	if _, _, err := l.Get(t.Context()); err != nil || l.isLost() {
		t.Errorf("error %v, lost: %t", err, l.isLost())
	}
	if got := may(t, l); got != (writes{Kubernetes: true}) {
		t.Errorf("the process may write: %+v", got)
	}
}

// The process ends at once, and does not wait for what it is doing.
func TestTheProcessEndsWithItsLeadership(t *testing.T) {
	l, api, _ := elected(t)
	api.hold(another)
	if _, _, err := l.Get(t.Context()); err != nil {
		t.Error(err)
	}
	err := l.await(func() error {
		<-t.Context().Done()
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "another replica holds the lease") {
		t.Errorf("the manager ends with %v", err)
	}
}

// A process that was frozen, and stops, leaves the lease to the one that holds it by then.
func TestTheLeaseOfAnotherIsNotReleased(t *testing.T) {
	l, api := newLease(t)
	release := func() error {
		// As the library does it: it reads the lease, and writes what it has decided before.
		if _, _, err := l.Get(t.Context()); err != nil {
			return err
		}
		now := metav1.NewTime(time.Now())
		return l.Update(t.Context(), resourcelock.LeaderElectionRecord{LeaseDurationSeconds: 1, RenewTime: now, AcquireTime: now})
	}
	api.hold(another)
	if err := release(); err == nil || api.holder() != another {
		t.Errorf("error %v, and the lease names %q, want %q", err, api.holder(), another)
	}
	api.hold(l.Identity())
	if err := release(); err != nil || api.holder() != "" {
		t.Errorf("error %v, and the lease names %q: its own it gives back", err, api.holder())
	}
}

func TestWithoutElectionThereIsNoLease(t *testing.T) {
	l, err := newLeadership(config.Config{LeaderElectionNamespace: "home"}, &rest.Config{})
	if l != nil || err != nil || l.halted() != nil || !l.writesUntil().IsZero() {
		t.Errorf("%v, error %v", l, err)
	}
}
