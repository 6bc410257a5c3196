// Package distributiontenant keeps CloudFront distribution tenants as their objects ask.
// All that is decided is decided in domain/distributiontenant; here is how it is observed and done.
package distributiontenant

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/account"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/instant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/claims"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/halt"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/zone"
)

// Observer is told what metrics count.
type Observer interface {
	// DriftDetected counts a tenant that was found changed.
	DriftDetected()
	// BecameReady takes the time from the creation of an object to its first Ready.
	BecameReady(d time.Duration)
}

// Options configure the controller.
type Options struct {
	Client client.Client
	// Live reads past the cache.
	Live client.Reader
	// Accounts are the AWS accounts in which tenants are.
	Accounts *account.Registry
	Zones    *zone.Zones
	// Resolver queries public DNS; nil where it is not to be queried.
	Resolver port.Resolver
	// Breaker clears deletions; nil clears all.
	Breaker *loss.Breaker
	// Rollouts spread changes of what customers are served with in steps; without them all happen at once.
	Rollouts *rollout.Rollouts
	// Halt stops all writes; a nil one none.
	Halt *halt.Switch
	// Grants say what namespaces may have; nil grants everything.
	Grants *grants.Registry
	// DomainClaims says who may have a domain; a nil one lets every object have every domain.
	DomainClaims *claims.Registry
	Clock        clock.PassiveClock
	// ClusterID is part of the owner tags.
	ClusterID string
	Defaults  convert.Defaults
	// Interval is that of the sweep.
	Interval time.Duration
	Observer Observer
	// Gone is told the name in AWS of each tenant whose object is gone; may be nil.
	Gone func(tenant string)
	// Random is in [0, 1).
	Random func() float64
}

// Controller implements reconcile.Kind for DistributionTenant.
type Controller struct {
	Options
	waker *reconcile.Waker
	// settlesFirst and certificateMovesETag are what edge.World says of AWS.
	settlesFirst, certificateMovesETag atomic.Bool

	mu       sync.Mutex
	attempts map[types.NamespacedName]*memory
	// objects are those that had a pass, by their tenant's name in AWS. An index of the
	// cache would take ten times the memory.
	objects map[string][]types.NamespacedName
	// referrers are the tenants that name an object.
	referrers map[referent]map[types.NamespacedName]struct{}
}

// memory is what the process remembers of one object, and of its own tries for it.
type memory struct {
	uid    types.UID
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
		Options: o, waker: reconcile.NewWaker(nil), attempts: map[types.NamespacedName]*memory{},
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
	c.mu.Lock()
	m := c.attempts[key]
	if m != nil {
		c.unname(key, m.tenant)
		c.unfollow(key, m)
		delete(c.attempts, key)
	}
	c.mu.Unlock()
	c.DomainClaims.Forget(claimKey(key))
	if m == nil {
		return
	}
	c.Breaker.Withdraw(string(m.uid))
	c.Rollouts.Forget(string(m.uid))
	c.Grants.Forget(string(m.uid))
	c.forgetZones(key, m.uid)
	if c.Gone != nil {
		c.Gone(m.tenant)
	}
}

// forgetZones takes back what an object has declared to the zones. That wakes others, which may
// take a while: no lock may be held.
func (c *Controller) forgetZones(key client.ObjectKey, uid types.UID) {
	c.Zones.Forget(dns.Owner{Namespace: key.Namespace, Name: key.Name, UID: string(uid)})
}

// Begin implements reconcile.Kind.
func (c *Controller) Begin(ctx context.Context, o *v1alpha1.DistributionTenant) (reconcile.Pass, error) {
	return c.observe(ctx, o)
}

// recall returns what is remembered of the tries for the object. A new object of the same name starts from scratch.
// From now on the object is woken when its tenant moves.
func (c *Controller) recall(o *v1alpha1.DistributionTenant) distributiontenant.Attempts {
	key, name := client.ObjectKeyFromObject(o), convert.DistributionTenantName(o)
	c.mu.Lock()
	m := c.attempts[key]
	if m != nil && m.uid == o.UID && m.tenant == name {
		defer c.mu.Unlock()
		return m.attempts()
	}
	if m != nil {
		c.unname(key, m.tenant)
		c.unfollow(key, m)
	}
	c.objects[name] = append(c.objects[name], key)
	var met distributiontenant.Attempts
	if before := convert.Memory(&o.Status); before.ID != "" && before.AppliedGeneration != o.Generation {
		// The process before this one may have sent an update, and not have seen its end.
		met.Doubted = c.Clock.Now()
	}
	fresh := &memory{uid: o.UID, tenant: name}
	fresh.remember(met)
	c.attempts[key] = fresh
	c.mu.Unlock()
	if m != nil && m.uid != o.UID {
		// The previous object was never seen to be gone; its claims would keep this one out.
		c.forgetZones(key, m.uid)
	}
	return met
}

// Claims reports whether an object is known for the tenant of that name in an AWS account.
func (c *Controller) Claims(account, name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.objects[name], func(key types.NamespacedName) bool {
		m := c.attempts[key]
		return m != nil && m.account == account
	})
}

// placed notes in which account the object's tenant is.
func (c *Controller) placed(o *v1alpha1.DistributionTenant, account string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.attempts[client.ObjectKeyFromObject(o)]; m != nil && m.uid == o.UID {
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
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.attempts[client.ObjectKeyFromObject(o)]; m != nil && m.uid == o.UID {
		m.remember(a)
	}
}

// Watch says what wakes the objects: changes of their own and of those that they name, and the inventory through Wake.
func (c *Controller) Watch(workers int) reconcile.Watch {
	return reconcile.Watch{
		Name: "distributiontenant", Workers: workers, Wake: c.waker.Queue(), Related: c.related(), Ready: c.DomainClaims.Learn,
		Annotations: []string{
			v1alpha1.AnnotationPaused, v1alpha1.AnnotationReconcileNow, v1alpha1.AnnotationAbandonDNS,
			v1alpha1.AnnotationApproveDeletions, v1alpha1.AnnotationAbandonDeletions,
		},
	}
}

// Wake queues the objects behind the tenants of those names. It is the inventory's
// OnChange. An object that had no pass yet has one before it, and needs no waking.
func (c *Controller) Wake(ctx context.Context, names []string) {
	c.waker.Wake(ctx, c.ObjectsOf(names)...)
}

// WakeKeys queues objects. It is the breaker's Wake.
func (c *Controller) WakeKeys(ctx context.Context, keys ...types.NamespacedName) {
	c.waker.Wake(ctx, keys...)
}

// WakeAll queues all objects that have had a pass. It is what a halt calls.
func (c *Controller) WakeAll(ctx context.Context) {
	c.WakeNamespaces(ctx, func(string) bool { return true })
}

// WakeNamespaces queues the objects of some namespaces that have had a pass. It is what a change of grants calls.
func (c *Controller) WakeNamespaces(ctx context.Context, which func(namespace string) bool) {
	c.mu.Lock()
	keys := slices.Collect(maps.Keys(c.attempts))
	c.mu.Unlock()
	c.waker.Wake(ctx, slices.DeleteFunc(keys, func(k types.NamespacedName) bool { return !which(k.Namespace) })...)
}

// WakeOwners queues objects whose DNS records have moved. It is the zones' OnChange.
func (c *Controller) WakeOwners(ctx context.Context, owners []dns.Owner) {
	keys := make([]types.NamespacedName, len(owners))
	for i, o := range owners {
		keys[i] = types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
	}
	c.waker.Wake(ctx, keys...)
}
