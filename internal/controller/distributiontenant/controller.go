// Package distributiontenant keeps CloudFront distribution tenants as their objects ask.
// All that is decided is decided in domain/distributiontenant; here is how it is observed and done.
package distributiontenant

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/awsresource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/instant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/keyvalue"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/keyvalues"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/zone"
)

// Observer is told what metrics count.
type Observer interface {
	// DriftDetected counts a tenant that was found changed.
	DriftDetected()
	// BecameReady takes the time from the creation of a DistributionTenant to its first Ready.
	BecameReady(d time.Duration)
}

// Options configure the controller.
type Options struct {
	awsresource.Shared

	// Live reads past the cache.
	Live  client.Reader
	Zones *zone.Zones
	// KeyValues are the key value stores.
	KeyValues *keyvalues.Stores
	// Resolver queries public DNS; nil where it is not to be queried.
	Resolver port.Resolver
	// Watcher looks at the domains of customers in public DNS; nil where it is not to.
	Watcher Watcher
	// Rollouts spread changes of what customers are served with in steps; without them all happen at once.
	Rollouts *rollout.Rollouts
	Observer Observer
	// Gone is told the name in AWS of each tenant whose object is gone; may be nil.
	Gone func(tenant string)
}

// Watcher looks at names in public DNS, and wakes their owners when they lead somewhere else.
type Watcher interface {
	// Watch replaces the names of an owner, Forget takes them away, and Refresh has them looked at now.
	Watch(owner types.NamespacedName, names []onboarding.Name)
	Forget(owner types.NamespacedName)
	Refresh(owner types.NamespacedName)
	// Sight is what was last seen of a name that may lead to the targets.
	Sight(name string, targets []string) onboarding.Sight
}

// Controller implements reconcile.Kind for DistributionTenant.
type Controller struct {
	Options
	*reconcile.Known[memory]

	// settlesFirst and certificateMovesETag are what edge.World says of AWS.
	settlesFirst, certificateMovesETag atomic.Bool

	// mu guards the two indexes, and what they need of the memories: account and names.
	mu sync.Mutex
	// objects are those that had a pass, by their tenant's name in AWS. An index of the
	// cache would take ten times the memory.
	objects map[string][]types.NamespacedName
	// referrers are the tenants that name an object.
	referrers map[referent]map[types.NamespacedName]struct{}
}

// memory is what the process remembers of one object, and of its own tries for it.
type memory struct {
	tenant string
	// account is the AWS account of the tenant, empty for the operator's own.
	account string
	usual   usual
	// rest are the attempts without what is usual. It is nil for most objects: with it the memory would be as large as
	// the object.
	rest *distributiontenant.Attempts
	// names are the objects that the tenant names.
	names []referent
}

// usual is what the attempts of an object at rest, or after a write, have in them.
type usual struct {
	led                         distributiontenant.Parents
	acceptedFor                 int64
	accepted                    resource.Write
	createdAt, announced, wrote instant.Instant
}

func (m *memory) attempts() (a distributiontenant.Attempts) {
	if m.rest != nil {
		a = *m.rest
	}
	u := m.usual
	a.Led, a.AcceptedFor, a.Accepted = u.led, u.acceptedFor, u.accepted
	a.CreatedAt, a.Announced, a.Wrote = u.createdAt.Time(), u.announced.Time(), u.wrote.Time()
	return a
}

func (m *memory) remember(a distributiontenant.Attempts) {
	m.usual = usual{
		led: a.Led, acceptedFor: a.AcceptedFor, accepted: a.Accepted,
		createdAt: instant.Of(a.CreatedAt), announced: instant.Of(a.Announced), wrote: instant.Of(a.Wrote),
	}
	a.Led, a.AcceptedFor, a.Accepted = distributiontenant.Parents{}, 0, 0
	a.CreatedAt, a.Announced, a.Wrote = time.Time{}, time.Time{}, time.Time{}
	m.rest = nil
	if !reflect.ValueOf(a).IsZero() {
		m.rest = &a
	}
}

// New makes a controller.
func New(o Options) *Controller {
	return &Controller{
		Options: o, Known: reconcile.NewKnown[memory](nil),
		objects: map[string][]types.NamespacedName{}, referrers: map[referent]map[types.NamespacedName]struct{}{},
	}
}

// New implements reconcile.Kind.
func (c *Controller) New() *v1alpha1.DistributionTenant { return &v1alpha1.DistributionTenant{} }

// Finalizer implements reconcile.Kind.
func (c *Controller) Finalizer() string { return v1alpha1.Finalizer }

// Status implements reconcile.Kind.
func (c *Controller) Status(o *v1alpha1.DistributionTenant) any { return &o.Status }

// Forget implements reconcile.Kind.
func (c *Controller) Forget(key client.ObjectKey) {
	uid, m := c.drop(key)
	c.DomainClaims.Forget(claimKey(key))
	c.forgetZones(key, uid)
	if m == nil {
		return
	}
	c.Breaker.Withdraw(string(uid))
	c.Rollouts.Forget(string(uid))
	c.Grants.Forget(string(uid))
	if c.Watcher != nil {
		c.Watcher.Forget(key)
	}
	if c.Gone != nil {
		c.Gone(m.tenant)
	}
}

// drop forgets an object, and takes it out of the indexes.
func (c *Controller) drop(key client.ObjectKey) (types.UID, *memory) {
	uid, m := c.Drop(key)
	if m != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.unname(key, m.tenant)
		c.unfollow(key, m)
	}
	return uid, m
}

// forgetZones takes back what an object has declared to the zones and the key value stores. That wakes others, which may
// take a while: no lock may be held.
func (c *Controller) forgetZones(key client.ObjectKey, uid types.UID) {
	c.Zones.Forget(dns.Owner{Namespace: key.Namespace, Name: key.Name, UID: string(uid)})
	c.KeyValues.Forget(keyvalue.Owner{Namespace: key.Namespace, Name: key.Name, UID: string(uid)})
}

// Begin implements reconcile.Kind.
func (c *Controller) Begin(ctx context.Context, o *v1alpha1.DistributionTenant) (reconcile.Pass, error) {
	return c.observe(ctx, o)
}

// recall returns what is remembered of the tries for the object. A new object of the same name starts from scratch.
// From now on the object is woken when its tenant moves.
func (c *Controller) recall(o *v1alpha1.DistributionTenant) distributiontenant.Attempts {
	key, name := client.ObjectKeyFromObject(o), convert.DistributionTenantName(o)
	uid, m := c.Of(key)
	if m != nil && uid == o.UID && m.tenant == name {
		return m.attempts()
	}
	c.drop(key)
	var met distributiontenant.Attempts
	if before := convert.Memory(&o.Status); before.ID != "" && before.AppliedGeneration != o.Generation {
		// The process before this one may have sent an update, and not have seen its end.
		met.Doubted = c.Clock.Now()
	}
	fresh := memory{tenant: name}
	fresh.remember(met)
	c.Remember(o, fresh)
	c.mu.Lock()
	c.objects[name] = append(c.objects[name], key)
	c.mu.Unlock()
	if m != nil && uid != o.UID {
		// The previous object was never seen to be gone; its claims would keep this one out.
		c.forgetZones(key, uid)
	}
	return met
}

// Claims reports whether an object is known for the tenant of that name in an AWS account.
func (c *Controller) Claims(account, name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.objects[name], func(key types.NamespacedName) bool {
		_, m := c.Of(key)
		return m != nil && m.account == account
	})
}

// placed notes in which account the object's tenant is.
func (c *Controller) placed(o *v1alpha1.DistributionTenant, account string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if uid, m := c.Of(client.ObjectKeyFromObject(o)); m != nil && uid == o.UID {
		m.account = account
	}
}

// ObjectsOf names the objects behind the tenants of those names, as far as they had a pass.
func (c *Controller) ObjectsOf(tenants []string) []types.NamespacedName {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []types.NamespacedName
	for _, name := range tenants {
		out = append(out, c.objects[name]...)
	}
	return out
}

// unname needs the lock.
func (c *Controller) unname(key client.ObjectKey, tenant string) {
	rest := slices.DeleteFunc(c.objects[tenant], func(k client.ObjectKey) bool { return k == key })
	if len(rest) == 0 {
		delete(c.objects, tenant)
		return
	}
	c.objects[tenant] = rest
}

func (c *Controller) remember(o *v1alpha1.DistributionTenant, a distributiontenant.Attempts) {
	if uid, m := c.Of(client.ObjectKeyFromObject(o)); m != nil && uid == o.UID {
		m.remember(a)
	}
}

// Watch says what wakes the objects: changes of their own and of those that they name, and the inventory through
// WakeTenants.
func (c *Controller) Watch(workers int) reconcile.Watch {
	return reconcile.Watch{
		Name: "distributiontenant", Workers: workers, Wake: c.Queue(), Related: c.related(), Ready: c.ready,
		Annotations: []string{
			v1alpha1.AnnotationPaused, v1alpha1.AnnotationReconcileNow, v1alpha1.AnnotationAbandonDNS,
			v1alpha1.AnnotationApproveDeletions, v1alpha1.AnnotationAbandonDeletions,
		},
	}
}

// WakeTenants queues the objects behind the tenants of those names. It is the inventory's OnChange.
func (c *Controller) WakeTenants(ctx context.Context, names []string) {
	c.Wake(ctx, c.ObjectsOf(names)...)
}
