// Package awsresource is the one controller for the kinds that distribution tenants use. All decisions are made in
// domain/distribution; this package observes and carries them out. Each kind adds what is specific to it.
package awsresource

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/account"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	losses "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/claims"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/halt"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// Kind is what one kind brings. R is its resource as the port reads it.
type Kind[O client.Object, R any] interface {
	// New returns an empty object.
	New() O
	// Spec says what the object asks for.
	Spec(o O) Spec
	// Status returns the parts of the object's status.
	Status(o O) Status

	// Observe renders what was read as the domain sees it.
	Observe(r R) distribution.Observed
	// Differences compares the configuration in the spec with that in AWS.
	Differences(o O, r R) []resource.Difference
	// Report writes what only this kind shows of its resource into status; nil takes it out.
	Report(o O, r *R)

	// Read reads the resource of that ID.
	Read(ctx context.Context, id string) (R, error)
	// Find looks for what a create that was sent at that time or later has made.
	Find(ctx context.Context, o O, since time.Time) (R, error)
	// Create creates the resource with all its tags.
	Create(ctx context.Context, o O, tags map[string]string) (R, error)
	// Update makes the resource as the spec asks, if it is still as it was seen.
	Update(ctx context.Context, o O, seen R) (R, error)
	// Disable turns the resource off and changes nothing else, if it is still as it was seen.
	Disable(ctx context.Context, seen R) (R, error)
	// Delete deletes the resource, if it is still as it was seen.
	Delete(ctx context.Context, seen distribution.Observed) error
	// Tenants reads the names of tenants that use the resource, one page of them.
	Tenants(ctx context.Context, seen R) (names []string, more bool, err error)
}

// Spec is what an object asks for, as far as both kinds have it.
type Spec struct {
	Words distribution.Words
	// Adopts is the ID of the resource to adopt. Empty: one is created.
	Adopts  string
	Enabled bool
	// Direct means that no tenant keeps the resource from being deleted.
	Direct bool
	// Class is what the breaker calls the kind. Empty: it watches over no deletion of it.
	Class    losses.Class
	Policies *v1alpha1.ResourcePolicies
	// Aliases are the domains that the resource is to serve itself.
	Aliases []string
	// Wants is what the object wants to use, Name that by which a grant allows to adopt the resource.
	Wants []grant.Want
	Name  string
}

// Status points to an object's status.
type Status struct {
	// Whole points at the status.
	Whole any
	// Common points at what both kinds report.
	Common *v1alpha1.ResourceStatus
	// Creations points at the count of lost creations, nil for a kind that has no use for it.
	Creations *int32
}

// Options configure a controller.
type Options struct {
	Client client.Client
	// Accounts are the AWS accounts in which resources are.
	Accounts *account.Registry
	// Breaker clears deletions; nil clears all.
	Breaker *loss.Breaker
	// Halt stops all writes; a nil one none.
	Halt *halt.Switch
	// Grants say what namespaces may have; nil grants everything.
	Grants *grants.Registry
	// DomainClaims says who may have a domain as an alias; a nil one lets every object have every domain.
	DomainClaims *claims.Registry
	Clock        clock.PassiveClock
	// ClusterID is part of the owner tags.
	ClusterID string
	Defaults  convert.Defaults
	// Interval is that of drift detection.
	Interval time.Duration
	Observer Observer
	// Objects names the objects of this cluster that manage tenants of those names.
	Objects func(tenants []string) []types.NamespacedName
	// Random is in [0, 1).
	Random func() float64
}

// Observer is told what metrics count.
type Observer interface {
	// DriftDetected counts a resource that was found changed.
	DriftDetected()
}

// Controller implements reconcile.Kind.
type Controller[O client.Object, R any] struct {
	Options
	// kind is that of the operator's own account, kindIn makes that of another.
	kind   Kind[O, R]
	kindIn func(*account.Account) Kind[O, R]

	waker *reconcile.Waker

	// adopting is held from the look at the tags to the write of ours.
	adopting sync.Mutex

	mu     sync.Mutex
	memory map[types.NamespacedName]*memory
}

// memory is what the process remembers of one object.
type memory struct {
	uid   types.UID
	tries resource.Tries
	// tags are those of the resource arn as they were last read.
	arn      string
	tags     map[string]string
	tagsRead time.Time
	// tenants are those that the deletion was last seen to wait for, one page of them.
	tenants map[string]struct{}
	// aliases are those that the resource was last seen with, nil until it was read.
	aliases []string
}

// New makes a controller of the kind, which is made for each AWS account.
func New[O client.Object, R any](in func(*account.Account) Kind[O, R], o Options) *Controller[O, R] {
	return &Controller[O, R]{Options: o, kind: in(o.Accounts.Own()), kindIn: in, waker: reconcile.NewWaker(nil), memory: map[types.NamespacedName]*memory{}}
}

// New implements reconcile.Kind.
func (c *Controller[O, R]) New() O { return c.kind.New() }

// Finalizer implements reconcile.Kind.
func (c *Controller[O, R]) Finalizer() string { return v1alpha1.Finalizer }

// Status implements reconcile.Kind.
func (c *Controller[O, R]) Status(o O) any { return c.kind.Status(o).Whole }

// Forget implements reconcile.Kind.
func (c *Controller[O, R]) Forget(key client.ObjectKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.memory[key]; m != nil {
		c.Grants.Forget(string(m.uid))
	}
	delete(c.memory, key)
	c.DomainClaims.Forget(claimKey(key))
}

// Begin implements reconcile.Kind.
func (c *Controller[O, R]) Begin(ctx context.Context, o O) (reconcile.Pass, error) {
	return c.observe(ctx, o)
}

// recall returns a copy of what is remembered of the object. A new object of the same name starts from scratch. From now
// on the object is woken with all others.
func (c *Controller[O, R]) recall(o O) memory {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.memory[client.ObjectKeyFromObject(o)]; m != nil && m.uid == o.GetUID() {
		return *m
	}
	m := memory{uid: o.GetUID()}
	c.memory[client.ObjectKeyFromObject(o)] = &m
	return m
}

func (c *Controller[O, R]) remember(o O, m memory) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.memory[client.ObjectKeyFromObject(o)] = &m
}

// Freed is told of each tenant whose object is gone, and names the objects whose deletion waits for no other known
// tenant. Looking after each tenant would cost more calls than the tenants' own deletions. A tenant that is deleted
// during the very look that finds it is missed; then the object looks again on its own schedule.
func (c *Controller[O, R]) Freed(tenant string) []types.NamespacedName {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []types.NamespacedName
	for key, m := range c.memory {
		if _, waited := m.tenants[tenant]; !waited {
			continue
		}
		if delete(m.tenants, tenant); len(m.tenants) == 0 {
			out = append(out, key)
		}
	}
	return out
}

// Wake queues objects.
func (c *Controller[O, R]) Wake(ctx context.Context, keys []types.NamespacedName) {
	c.waker.Wake(ctx, keys...)
}

// WakeAll queues all objects that have had a pass. It is what a halt calls.
func (c *Controller[O, R]) WakeAll(ctx context.Context) {
	c.WakeNamespaces(ctx, func(string) bool { return true })
}

// WakeNamespaces queues the objects of some namespaces that have had a pass. It is what a change of grants calls.
func (c *Controller[O, R]) WakeNamespaces(ctx context.Context, which func(namespace string) bool) {
	c.mu.Lock()
	keys := slices.Collect(maps.Keys(c.memory))
	c.mu.Unlock()
	c.waker.Wake(ctx, slices.DeleteFunc(keys, func(k types.NamespacedName) bool { return !which(k.Namespace) })...)
}

// Watch says what wakes the objects: changes of their own, and Wake.
func (c *Controller[O, R]) Watch(name string, workers int) reconcile.Watch {
	return reconcile.Watch{
		Name: name, Workers: workers, Wake: c.waker.Queue(), Ready: c.DomainClaims.Learn,
		Annotations: []string{
			v1alpha1.AnnotationPaused, v1alpha1.AnnotationReconcileNow, v1alpha1.AnnotationApproveDeletions, v1alpha1.AnnotationAbandonDeletions,
		},
	}
}
