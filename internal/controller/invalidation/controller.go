// Package invalidation carries Invalidations out. All that is decided is decided in domain/invalidation; here is how it is
// observed and done.
package invalidation

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/account"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/invalidation"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/halt"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// Observer is told what metrics count.
type Observer interface {
	// PathsRequested counts the paths of one tenant that AWS has accepted.
	PathsRequested(n int)
	// InvalidationEnded counts a tenant that was completed, or has failed.
	InvalidationEnded(completed bool)
	// InvalidationTook is how long an object took to have all its tenants completed.
	InvalidationTook(d time.Duration)
}

// Options configure the controller.
type Options struct {
	Client client.Client
	// Accounts are the AWS accounts in which tenants are.
	Accounts *account.Registry
	// Halt stops all writes; a nil one none.
	Halt *halt.Switch
	// Grants say what namespaces may have; nil grants everything.
	Grants *grants.Registry
	Clock  clock.PassiveClock
	// ClusterID is part of the owner tags.
	ClusterID string
	// PathsPerDay is how many paths a namespace may request in 24 hours; 0: any number.
	PathsPerDay int
	// Rate is how many invalidations may be requested in a second; 0: any number. It only tells how long an object will take.
	Rate     float64
	Observer Observer
}

// Controller implements reconcile.Kind for Invalidation.
type Controller struct {
	Options
	*reconcile.Known[memory]

	spent *ledger
}

// memory is what the process remembers of one object.
type memory struct {
	// waits means that its tenants are not chosen yet.
	waits     bool
	looks     map[string]invalidation.Look
	fullUntil time.Time
}

// New makes a controller.
func New(o Options) *Controller {
	return &Controller{Options: o, Known: reconcile.NewKnown[memory](nil), spent: newLedger()}
}

// New implements reconcile.Kind.
func (c *Controller) New() *v1alpha1.Invalidation { return &v1alpha1.Invalidation{} }

// Finalizer implements reconcile.Kind. No object has it: nothing in AWS has to be undone.
func (c *Controller) Finalizer() string { return v1alpha1.Finalizer }

// Status implements reconcile.Kind.
func (c *Controller) Status(o *v1alpha1.Invalidation) any { return &o.Status }

// Forget implements reconcile.Kind. The requests of the object still count for its namespace.
func (c *Controller) Forget(key client.ObjectKey) {
	if uid, m := c.Drop(key); m != nil {
		c.Grants.Forget(string(uid))
	}
}

// recall returns a copy of what is remembered of the object.
func (c *Controller) recall(o *v1alpha1.Invalidation) memory {
	m := *c.Recall(o, func(*memory) memory {
		return memory{waits: o.Status.StartTime == nil && o.Status.CompletionTime == nil}
	})
	m.looks = maps.Clone(m.looks)
	return m
}

// Watch says what wakes the objects: changes of their own, and those tenants that they wait for.
func (c *Controller) Watch(workers int) reconcile.Watch {
	return reconcile.Watch{
		Name: "invalidation", Workers: workers, Wake: c.Queue(), Annotations: []string{v1alpha1.AnnotationPaused},
		Related: []reconcile.Related{{Object: &v1alpha1.DistributionTenant{}, Wakes: c.waiting, Matters: matters}},
	}
}

// waiting are the objects of a tenant's namespace that have not chosen their tenants yet.
func (c *Controller) waiting(tenant client.Object) (keys []types.NamespacedName) {
	c.Each(func(key types.NamespacedName, m *memory) {
		if m.waits && key.Namespace == tenant.GetNamespace() {
			keys = append(keys, key)
		}
	})
	return keys
}

// matters tells whether another tenant may be chosen after a change.
func matters(before, after client.Object) bool {
	a, okA := before.(*v1alpha1.DistributionTenant)
	b, okB := after.(*v1alpha1.DistributionTenant)
	return okA && okB && (convert.InvalidationTarget(a) != convert.InvalidationTarget(b) || !maps.Equal(a.Labels, b.Labels))
}
