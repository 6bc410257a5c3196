// Package tenantsource makes DistributionTenant objects follow a table of customers. All that is decided is
// decided in domain/tenantsource; here is how it is observed and done.
package tenantsource

import (
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/reference"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// Observer is told what metrics count.
type Observer interface {
	// Polled takes the report of a poll that is over, and how long it took.
	Polled(key client.ObjectKey, r tenantsource.Report, d time.Duration)
	// Held takes how many deletions wait for an approval.
	Held(key client.ObjectKey, deletions int)
	// RolledOut takes how far changes of the tenants have come.
	RolledOut(key client.ObjectKey, r rollout.Rollout)
	// Watched takes what is known of the stream of the table's changes; nil where there is none.
	Watched(key client.ObjectKey, w *tenantsource.Watch)
	// Wrote takes how many rows of a state table were written at once, and Written what is known of the table; nil where there
	// is none.
	Wrote(key client.ObjectKey, rows int)
	Written(key client.ObjectKey, v *statetable.Verdict)
	// Forgotten takes a source that is gone.
	Forgotten(key client.ObjectKey)
}

// Options configure the controller.
type Options struct {
	Client client.Client
	// Live reads past the cache: Secrets are never cached, and what is about to be deleted is looked at.
	Live client.Reader
	// AnswerOf says what an error of the API server means for one object, and why it was refused.
	AnswerOf func(error) (port.Answer, string)
	// Rows reads the tables, by provider.
	Rows map[mapping.Provider]port.Rows
	// Hints tell of changes of the tables, by provider.
	Hints map[mapping.Provider]port.Hints
	// States write the state tables, by provider. ClusterID tells the rows of this cluster from those of others.
	States    map[mapping.Provider]port.States
	ClusterID string
	// MaxWatches is how many tables are listened to at the same time.
	MaxWatches int
	Clock      clock.PassiveClock
	// Grant says why the sources of a namespace may not have tenants in another one, or in their own; nil if they may.
	Grant func(from, to string) error
	// Grants say what namespaces may have; nil grants everything.
	Grants *grants.Registry
	// MaxRows is how many rows a table may have.
	MaxRows int
	// LargeTable is from how many rows on the ones that a database names are read alone; zero for the usual number.
	LargeTable int
	// ReadTimeout bounds one read.
	ReadTimeout time.Duration
	// FirstRowTimeout bounds the time to the first row, if it is not zero. A table without rows ends in that time, too.
	FirstRowTimeout time.Duration
	Observer        Observer
	// Progress tells how far changes of the tenants of a source have come, false where none is on its way. When that changes,
	// Wake is to be called. Nil: nothing is known.
	Progress func(source types.NamespacedName) (rollout.Rollout, bool)
	// Breaker is told what a user has approved for a source, and does not hold it a second time. It may be nil.
	Breaker *loss.Breaker
	// Stopped is closed when the operator stops.
	Stopped <-chan struct{}
}

// Controller implements reconcile.Kind for TenantSource.
type Controller struct {
	Options
	*reconcile.Known[session]

	// streams has a slot for each table that is listened to, and writes the turns of calls to state tables.
	streams *semaphore.Weighted
	writes  *stateTurns
	// mu guards what sessions know of deletions and of writers.
	mu sync.Mutex
	// finishing ends the writers of sources that are gone.
	finishing map[client.ObjectKey]func()
	// longNames are the names of sources by what their labels have for them, where that is something else.
	longNames map[types.NamespacedName]string
}

// session is what the process remembers of one source.
type session struct {
	tenantsource.State
	// program is compiled once for a generation; invalid says why it could not be. reading is the Reading of that spec.
	generation int64
	reading    string
	program    *mapping.Program
	invalid    string
	// counted is when the figures of a rollout were last stored.
	counted time.Time
	// going are the UIDs of its objects whose deletion is no news: a poll has seen it, or the source asks for it itself. It is nil before
	// the first poll. lost says that others have deleted objects since the last poll.
	going map[types.UID]bool
	lost  bool
	// stream tells of changes of the table, nil if nothing does. named counts what reads of single rows have changed since the
	// last poll.
	stream following
	named  named
	// keeping writes the state table. leaving says that the source waits for its deleted objects.
	keeping keeping
	leaving bool
	// started is when the round of the session began, for how long it took.
	started time.Time
}

// named counts tenants.
type named struct{ created, updated int }

// New makes a controller.
func New(o Options) *Controller {
	return &Controller{Options: o, Known: reconcile.NewKnown[session](nil), streams: semaphore.NewWeighted(int64(o.MaxWatches)), writes: newStateTurns(), finishing: map[client.ObjectKey]func(){}, longNames: map[types.NamespacedName]string{}}
}

// New implements reconcile.Kind.
func (c *Controller) New() *v1alpha1.TenantSource { return &v1alpha1.TenantSource{} }

// Finalizer implements reconcile.Kind.
func (c *Controller) Finalizer() string { return v1alpha1.Finalizer }

// Status implements reconcile.Kind.
func (c *Controller) Status(o *v1alpha1.TenantSource) any { return &o.Status }

// Forget implements reconcile.Kind.
func (c *Controller) Forget(key client.ObjectKey) {
	if uid, s := c.Drop(key); s != nil {
		s.unfollow()
		c.finish(key, s)
		c.Grants.Forget(string(uid))
		c.Observer.Forgotten(key)
	}
}

// recall returns what is remembered of the source.
func (c *Controller) recall(o *v1alpha1.TenantSource) *session {
	if label := convert.SourceLabels(o)[v1alpha1.LabelSource]; label != o.Name {
		c.mu.Lock()
		c.longNames[types.NamespacedName{Namespace: o.Namespace, Name: label}] = o.Name
		c.mu.Unlock()
	}
	return c.Recall(o, func(former *session) (s session) {
		former.unfollow()
		former.unkeep()
		if t := o.Status.LastPollTime; t != nil {
			s.Polled = t.Time
		}
		if held := o.Status.HeldDeletions; held != nil {
			s.PendingHash = held.PlanHash
		}
		return s
	})
}

// settled reports whether the table of the source was read, and what follows from that is not done yet. Such a pass reads
// nothing, and must not wait for others that do: the changes that a read allows may not be made much later.
func (c *Controller) settled(key types.NamespacedName) bool {
	_, s := c.Of(key)
	return s != nil && s.Round != nil
}

// Watch says what wakes the sources: changes of their own, of grants, of rollouts, of the objects that they name, and the
// first deletion of an object by others. Other changes of their objects are looked at with the next poll. As many sources are worked on at the same
// time as there are slots.
func (c *Controller) Watch(slots int) reconcile.Watch {
	return reconcile.Watch{
		Name: "tenantsource", Workers: slots + 1, Slots: slots, Short: c.settled, Wake: c.Queue(),
		Annotations: []string{v1alpha1.AnnotationSyncNow, v1alpha1.AnnotationApproveDeletions},
		Related: []reconcile.Related{
			{Object: &v1alpha1.DistributionTenant{}, Wakes: c.losing, Matters: deletionBegins},
			{Object: &v1alpha1.Distribution{}, Wakes: c.naming, Matters: reference.Matters},
			{Object: &v1alpha1.ConnectionGroup{}, Wakes: c.naming, Matters: reference.Matters},
		},
	}
}
