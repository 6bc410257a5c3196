// Package awsresource is the one controller for the kinds that distribution tenants use, and has what it shares with the
// controller of tenants. All decisions are made in domain/distribution; this package observes and carries them out. Each
// kind adds what is specific to it.
package awsresource

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/account"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/zone"
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
	Class    loss.Class
	Policies *v1alpha1.ResourcePolicies
	// Aliases are the domains that the resource is to serve itself.
	Aliases []string
	// Targets are the names of the platform's own that lead to the resource.
	Targets []distribution.Target
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
	// Targets points at the records of targets, nil for a kind that has none.
	Targets *[]v1alpha1.CustomerTargetStatus
}

// Options configure a controller.
type Options struct {
	Shared

	Observer Observer
	// Zones publish the targets of a kind that has them.
	Zones *zone.Zones
	// Claimant is what claims for domains call the kind.
	Claimant string
	// Objects names the objects of this cluster that manage tenants of those names.
	Objects func(tenants []string) []types.NamespacedName
}

// Observer is told what metrics count.
type Observer interface {
	// DriftDetected counts a resource that was found changed.
	DriftDetected()
}

// Controller implements reconcile.Kind.
type Controller[O client.Object, R any] struct {
	Options
	*reconcile.Known[memory]

	// kind is that of the operator's own account, kindIn makes that of another.
	kind   Kind[O, R]
	kindIn func(*account.Account) Kind[O, R]

	// adopting is held from the look at the tags to the write of ours.
	adopting sync.Mutex
}

// memory is what the process remembers of one object.
type memory struct {
	tries resource.Tries
	// tags are those of the resource arn as they were last read.
	arn      string
	tags     map[string]string
	tagsRead time.Time
	// tenants are those that the deletion was last seen to wait for, one page of them.
	tenants map[string]struct{}
	// aliases are those that the resource was last seen with, nil until it was read.
	aliases []string
	// targets are those that the zones were told of.
	targets []string
}

// New makes a controller of the kind, which is made for each AWS account.
func New[O client.Object, R any](in func(*account.Account) Kind[O, R], o Options) *Controller[O, R] {
	return &Controller[O, R]{Options: o, Known: reconcile.NewKnown[memory](nil), kind: in(o.Accounts.Own()), kindIn: in}
}

// New implements reconcile.Kind.
func (c *Controller[O, R]) New() O { return c.kind.New() }

// Finalizer implements reconcile.Kind.
func (c *Controller[O, R]) Finalizer() string { return v1alpha1.Finalizer }

// Status implements reconcile.Kind.
func (c *Controller[O, R]) Status(o O) any { return c.kind.Status(o).Whole }

// Forget implements reconcile.Kind.
func (c *Controller[O, R]) Forget(key client.ObjectKey) {
	if uid, m := c.Drop(key); m != nil {
		c.Grants.Forget(string(uid))
		c.forgetTargets(key, uid, m)
	}
	c.DomainClaims.Forget(c.claimKey(key))
}

// Freed is told of each tenant whose object is gone, and names the objects whose deletion waits for no other known
// tenant. Looking after each tenant would cost more calls than the tenants' own deletions. A tenant that is deleted
// during the very look that finds it is missed; then the object looks again on its own schedule.
func (c *Controller[O, R]) Freed(tenant string) (out []types.NamespacedName) {
	c.Each(func(key types.NamespacedName, m *memory) {
		if _, waited := m.tenants[tenant]; !waited {
			return
		}
		if delete(m.tenants, tenant); len(m.tenants) == 0 {
			out = append(out, key)
		}
	})
	return out
}

// Watch says what wakes the objects: changes of their own, and Wake.
func (c *Controller[O, R]) Watch(name string, workers int) reconcile.Watch {
	return reconcile.Watch{
		Name: name, Workers: workers, Wake: c.Queue(), Related: c.siblings(), Ready: c.DomainClaims.Learn,
		Annotations: []string{
			v1alpha1.AnnotationPaused, v1alpha1.AnnotationReconcileNow, v1alpha1.AnnotationAbandonDNS, v1alpha1.AnnotationApproveDeletions, v1alpha1.AnnotationAbandonDeletions,
		},
	}
}
