package operator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// leadership knows under which identity this process holds the lease. What a manager does
// until it notices that another one leads can't be taken back: a process that was frozen would
// publish what was retracted since.
type leadership struct {
	live client.Reader
	key  client.ObjectKey
	// prefix starts the identity of every process on this host; the rest is random for each process and never shown.
	prefix string

	mu sync.Mutex
	// identity is the one of this process, empty before it was elected.
	identity string
}

// addLeadership returns what is asked before records are changed: whether the lease still names this process. A batch
// of a thousand records costs one read. It is nil without leader election.
func addLeadership(mgr ctrl.Manager, c Config) (confirm func(context.Context) error, err error) {
	namespace := c.leaseNamespace()
	if !c.LeaderElect || namespace == "" {
		return nil, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("reading the host name for the leader election lease: %w", err)
	}
	l := &leadership{live: mgr.GetAPIReader(), key: client.ObjectKey{Namespace: namespace, Name: leaderElectionID}, prefix: host + "_"}
	if err := mgr.Add(l); err != nil {
		return nil, fmt.Errorf("adding the lease watch: %w", err)
	}
	return l.confirm, nil
}

// NeedLeaderElection says that Start is called when this process was elected.
func (l *leadership) NeedLeaderElection() bool { return true }

// askAgain is the pause after the lease could not be read.
const askAgain = time.Second

// Start learns the identity under which this process was elected a moment ago. Learned later,
// it could be that of another process on this host.
func (l *leadership) Start(ctx context.Context) error {
	err := wait.PollUntilContextCancel(ctx, askAgain, true, func(ctx context.Context) (bool, error) {
		holder, err := l.holder(ctx)
		if err != nil || !strings.HasPrefix(holder, l.prefix) {
			return false, nil
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.identity = holder
		return true, nil
	})
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the process is stopping
	}
	return err
}

// errUnelected is given until this process has seen itself elected.
var errUnelected = errors.New("this replica has not yet seen that it was elected")

// confirm fails when the lease can't be read, or names another process.
func (l *leadership) confirm(ctx context.Context) error {
	l.mu.Lock()
	identity := l.identity
	l.mu.Unlock()
	if identity == "" {
		return errUnelected
	}
	holder, err := l.holder(ctx)
	if err != nil {
		return err
	}
	if holder != identity {
		return fmt.Errorf("the lease %s is held by %q: another replica leads", l.key, holder)
	}
	return nil
}

func (l *leadership) holder(ctx context.Context) (string, error) {
	var lease coordinationv1.Lease
	if err := l.live.Get(ctx, l.key, &lease); err != nil {
		return "", fmt.Errorf("reading the lease: %w", err)
	}
	return ptr.Deref(lease.Spec.HolderIdentity, ""), nil
}
