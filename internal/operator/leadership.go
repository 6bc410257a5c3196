package operator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/bootclock"
	clusteradapter "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube/cluster"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
)

// leaderElectionID is the name of the lease.
const leaderElectionID = clusteradapter.Lease

// leadership is the lease by which one replica is elected, and what this process knows of it without a call.
//
// A process that was paused for longer than the lease lasts does not notice that another one leads: it would carry out
// decisions that are no longer true, in addition to the new leader. So nothing is written once the last renewal is too
// old, and the process ends as soon as it reads that another one holds the lease.
type leadership struct {
	*resourcelock.LeaseLock

	// now is a clock that continues while the machine is suspended.
	now func() time.Time
	// lost is closed when another replica has taken the lease of this one.
	lost chan struct{}
	lose func()

	mu sync.Mutex
	// ours is true when the lease named this process when it was last read, led from its election on, and released once it has
	// given the lease back.
	ours, led, released bool
	// until is when others may take the lease, unless it is renewed before.
	until time.Time
}

var _ resourcelock.Interface = (*leadership)(nil)

// leaseMargin is how long before others may take the lease this process stops to write: a request takes its time, too.
const leaseMargin = 2 * time.Second

// leaseTimeout is for one call. A manager that can't renew its lease for ten seconds gives up, so a call that is not
// answered must not take all of that.
const leaseTimeout = 5 * time.Second

// newLeadership returns the lease, nil without leader election. It makes no call.
func newLeadership(c config.Config, kube *rest.Config) (*leadership, error) {
	namespace := c.LeaseNamespace()
	if !c.LeaderElect || namespace == "" {
		return nil, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("reading the host name for the leader election lease: %w", err)
	}
	kube = rest.AddUserAgent(rest.CopyConfig(kube), "leader-election")
	kube.Timeout = leaseTimeout
	leases, err := coordinationclient.NewForConfig(kube)
	if err != nil {
		return nil, fmt.Errorf("creating a client for the leader election lease: %w", err)
	}
	lost := make(chan struct{})
	return &leadership{now: bootclock.Now, lost: lost, lose: sync.OnceFunc(func() { close(lost) }), LeaseLock: &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: namespace, Name: leaderElectionID}, Client: leases,
		LockConfig: resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())},
	}}, nil
}

// elects has the manager use the lease.
func (l *leadership) elects(o *ctrl.Options) {
	if l != nil {
		o.LeaderElectionResourceLockInterface = l
	}
}

// tell has elections recorded as events.
func (l *leadership) tell(mgr ctrl.Manager) {
	if l != nil {
		l.LockConfig.EventRecorder = mgr.GetEventRecorderFor(l.Identity()) //nolint:staticcheck // the lock takes no other
	}
}

// Get implements resourcelock.Interface.
func (l *leadership) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.LeaseLock.Get(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ours = err == nil && record.HolderIdentity == l.Identity()
	if err == nil && !l.ours && l.led && !l.released {
		l.until = time.Time{}
		l.lose()
	}
	return record, raw, err
}

// errNotHeld keeps the lease of another replica.
var errNotHeld = errors.New("the lease is held by another replica, and is neither taken nor released")

// Create implements resourcelock.Interface.
func (l *leadership) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.store(ctx, record, l.LeaseLock.Create)
}

// Update implements resourcelock.Interface. The library releases a lease on the basis of what it has seen last: a
// process that was frozen would take it from the one that holds it by now, and a third would be elected in addition.
func (l *leadership) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity == "" && !l.release() {
		return errNotHeld
	}
	return l.store(ctx, record, l.LeaseLock.Update)
}

// release ends the leadership before another replica may take the lease. It reports whether there was one.
func (l *leadership) release() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ours {
		l.released, l.until = true, time.Time{}
	}
	return l.ours
}

// store writes the lease, but not once it was lost: the process ends. A lease lasts from before the request, as others count
// from when they see it.
func (l *leadership) store(
	ctx context.Context, record resourcelock.LeaderElectionRecord, write func(context.Context, resourcelock.LeaderElectionRecord) error,
) error {
	if l.isLost() {
		return errNotHeld
	}
	sent := l.now()
	err := write(ctx, record)
	if err == nil && record.HolderIdentity == l.Identity() {
		l.mu.Lock()
		l.led, l.until = true, sent.Add(time.Duration(record.LeaseDurationSeconds)*time.Second)
		l.mu.Unlock()
	}
	return err
}

func (l *leadership) isLost() bool {
	select {
	case <-l.lost:
		return true
	default:
		return false
	}
}

// standing reports whether this process was elected, and whether it may write.
func (l *leadership) standing() (led, holds bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.led, l.now().Before(l.until.Add(-leaseMargin))
}

// halted is why this process may change nothing outside of Kubernetes, nil while it may.
func (l *leadership) halted() *chain.Halt {
	if l == nil {
		return nil
	}
	if _, holds := l.standing(); holds {
		return nil
	}
	return &chain.Halt{Message: l.notHolding()}
}

func (l *leadership) notHolding() string {
	return fmt.Sprintf("this replica does not hold the lease %s, or has not renewed it in time", l.Describe())
}

// fence returns a configuration with which nothing is written to Kubernetes while a leader is not known to be the leader any
// longer. What a replica writes that was never elected is made for several that write it.
func (l *leadership) fence(kube *rest.Config) *rest.Config {
	if l == nil {
		return kube
	}
	kube = rest.CopyConfig(kube)
	kube.Wrap(func(next http.RoundTripper) http.RoundTripper { return fence{l, next} })
	return kube
}

type fence struct {
	lease *leadership
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (f fence) RoundTrip(r *http.Request) (*http.Response, error) {
	led, holds := f.lease.standing()
	if !led || holds || r.Method == http.MethodGet || strings.HasPrefix(r.URL.Path, "/apis/auth") { // reviews of tokens and of access store nothing
		return f.next.RoundTrip(r)
	}
	if r.Body != nil {
		_ = r.Body.Close()
	}
	return nil, errors.New(f.lease.notHolding())
}

// writesUntil is when this process stops to write unless it renews the lease, by bootclock. It is never without leader election.
func (l *leadership) writesUntil() time.Time {
	if l == nil {
		return time.Time{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until.Add(-leaseMargin)
}

// await runs until it ends, or returns why it has to be ended at once.
func (l *leadership) await(run func() error) error {
	var lost chan struct{}
	if l != nil {
		lost = l.lost
	}
	ended := make(chan error, 1)
	go func() { ended <- run() }()
	select {
	case err := <-ended:
		return err
	case <-lost:
		return fmt.Errorf("another replica holds the lease %s now: this one was paused, or did not reach the API server in time", l.Describe())
	}
}
