package operator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
)

// leaderElectionID is the name of the lease.
const leaderElectionID = "cloudfront-tenant-operator"

// leadership is the lease by which one replica is elected, as this process holds it. A manager may act before it
// notices that another one leads: a process that was frozen would publish records that were retracted since.
type leadership struct {
	*resourcelock.LeaseLock

	mu sync.Mutex
	// ours is true when the lease named this process when it was last read.
	ours bool
}

var _ resourcelock.Interface = (*leadership)(nil)

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
	return &leadership{LeaseLock: &resourcelock.LeaseLock{
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
	return record, raw, err
}

// errNotHeld keeps the lease of another replica.
var errNotHeld = errors.New("the lease is held by another replica, and is not released")

// Update implements resourcelock.Interface. The library releases a lease on the basis of what it has seen last: a
// process that was frozen would take it from the one that holds it by now, and a third would be elected in addition.
func (l *leadership) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	l.mu.Lock()
	releases := record.HolderIdentity == ""
	refused := releases && !l.ours
	l.mu.Unlock()
	if refused {
		return errNotHeld
	}
	return l.LeaseLock.Update(ctx, record)
}

// confirm returns what is asked before records are changed: it fails when the lease can't be read, or does not name this
// process. A batch of a thousand records costs one read. It is nil without leader election.
func (l *leadership) confirm() func(context.Context) error {
	if l == nil {
		return nil
	}
	return func(ctx context.Context) error {
		// Past Get, which is the elector's.
		lease, err := l.Client.Leases(l.LeaseMeta.Namespace).Get(ctx, l.LeaseMeta.Name, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading the lease: %w", err)
		}
		if holder := lease.Spec.HolderIdentity; holder == nil || *holder != l.Identity() {
			return fmt.Errorf("the lease %s does not name this replica: another one leads", l.Describe())
		}
		return nil
	}
}
