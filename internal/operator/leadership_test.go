package operator

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

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

func TestOnlyTheElectedProcessConfirms(t *testing.T) {
	l, api := newLease(t)
	for name, test := range map[string]struct {
		holder string
		broken bool
		want   bool
	}{
		"the process that was elected may go on":    {holder: l.Identity(), want: true},
		"one that was frozen meanwhile may not":     {holder: another},
		"nor after it has given the lease up":       {},
		"nor when the lease can't be read":          {holder: l.Identity(), broken: true},
		"one on the same host has another name":     {holder: l.Identity()[:len(l.Identity())-1]},
		"one whose name begins alike is not it":     {holder: l.Identity() + "0"},
		"it may again when it is elected once more": {holder: l.Identity(), want: true},
	} {
		t.Run(name, func(t *testing.T) {
			api.hold(test.holder)
			api.mu.Lock()
			api.broken = test.broken
			api.mu.Unlock()
			if err := l.confirm()(t.Context()); (err == nil) != test.want {
				t.Errorf("confirm = %v, want it to be allowed: %t", err, test.want)
			}
		})
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
	if l != nil || err != nil || l.confirm() != nil {
		t.Errorf("%v, error %v", l, err)
	}
}
