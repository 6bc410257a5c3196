// Package edgegrant keeps the status of EdgeGrants, and tells the registry when they change. All that is decided is decided
// in domain/edgegrant and domain/grant.
package edgegrant

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/edgegrant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// countsEvery is how often the figures in status are counted, and stored if they have moved.
const countsEvery = time.Minute

// Options configure the controller.
type Options struct {
	// Grants is nil where grants are off.
	Grants *grants.Registry
	// RoleRefused says why AWS refuses the role of a grant: as far as is known or, if it asks, after a call.
	RoleRefused func(ctx context.Context, access grant.Access, asks bool) error
	Clock       clock.PassiveClock
}

// Controller implements reconcile.Kind for EdgeGrant.
type Controller struct {
	Options
	*reconcile.Known[struct{}]

	mu sync.Mutex
	// counts are those of all grants, at the time of counted: to count for each grant would be to look at all objects as
	// many times as there are grants.
	counts  map[string]grants.Census
	counted time.Time
	version uint64
}

// New makes a controller.
func New(o Options) *Controller {
	return &Controller{Options: o, Known: reconcile.NewKnown[struct{}](nil)}
}

// New implements reconcile.Kind.
func (c *Controller) New() *v1alpha1.EdgeGrant { return &v1alpha1.EdgeGrant{} }

// Finalizer implements reconcile.Kind.
func (c *Controller) Finalizer() string { return v1alpha1.Finalizer }

// Status implements reconcile.Kind.
func (c *Controller) Status(o *v1alpha1.EdgeGrant) any { return &o.Status }

// Watch says what wakes the grants: changes of their own, and of others. One that is new may select the namespaces of
// another.
func (c *Controller) Watch() reconcile.Watch {
	return reconcile.Watch{Name: "edgegrant", Workers: 1, Wake: c.Queue()}
}

// pass implements reconcile.Pass.
type pass struct {
	*Controller

	object *v1alpha1.EdgeGrant
	in     edgegrant.Input
	step   edgegrant.Step
	census grants.Census
}

// Begin implements reconcile.Kind.
func (c *Controller) Begin(ctx context.Context, o *v1alpha1.EdgeGrant) (reconcile.Pass, error) {
	c.Recall(o, nil)
	p := &pass{Controller: c, object: o}
	p.in = edgegrant.Input{
		InForce: inForce(c.Grants.Mode()), Deleting: !o.DeletionTimestamp.IsZero(), HasFinalizer: controllerutil.ContainsFinalizer(o, v1alpha1.Finalizer),
	}
	g, err := convert.Grant(o)
	if err != nil {
		p.in.Invalid = err.Error()
	}
	if c.Grants == nil {
		return p, nil
	}
	p.in.Refused, p.in.Open = c.refused(ctx, o, g), c.Grants.Open(ctx)
	if p.in.Deleting {
		need, err := c.Grants.Needed(ctx, o.Name)
		if err != nil {
			return nil, err
		}
		p.in.Needed, p.in.NeededBy, p.in.Widened, p.in.Instead = need.Objects, need.Namespaces, need.Widened, need.Instead
	}
	p.census, err = c.census(ctx, o.Name)
	p.in.Rivals, p.in.Contested = p.census.Rivals, p.census.Contested
	return p, err
}

// refused says why AWS refuses the role of the grant. AWS is asked about a role that is new, and until it allows it.
func (c *Controller) refused(ctx context.Context, o *v1alpha1.EdgeGrant, g grant.Grant) string {
	if g.Account.RoleARN == "" || !o.DeletionTimestamp.IsZero() {
		return ""
	}
	before, was := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionReady), convert.RoleRefused(o)
	err := c.RoleRefused(ctx, grant.Access{Account: g.Account, Grant: g.Name}, was || before == nil || before.ObservedGeneration != o.Generation)
	switch {
	case fault.Is(err, fault.Denied, fault.Invalid):
		return err.Error()
	case err != nil && was:
		// Nothing new is known.
		return before.Message
	}
	return ""
}

func inForce(m grants.Mode) chain.Reason {
	switch m {
	case grants.Enforce:
		return edgegrant.Enforced
	case grants.Audit:
		return edgegrant.Audited
	case grants.Off:
	}
	return edgegrant.Off
}

func (c *Controller) census(ctx context.Context, name string) (grants.Census, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, version := c.Clock.Now(), c.Grants.Version()
	if c.counts == nil || now.Sub(c.counted) >= countsEvery || version != c.version {
		counts, err := c.Grants.Counts(ctx)
		if err != nil {
			return grants.Census{}, err
		}
		c.counts, c.counted, c.version = counts, now, version
	}
	return c.counts[name], nil
}

// Decide implements reconcile.Pass.
func (p *pass) Decide() chain.Effect {
	p.step = edgegrant.Decide(p.in)
	return p.step.Effect()
}

// Perform implements reconcile.Pass.
func (p *pass) Perform(ctx context.Context, k reconcile.Keeper) error {
	if p.step != edgegrant.EnsureFinalizer {
		return nil
	}
	if err := k.EnsureFinalizer(ctx, nil); err != nil {
		return err
	}
	p.in.HasFinalizer = true
	return nil
}

// Conclude implements reconcile.Pass.
func (p *pass) Conclude(error) reconcile.Conclusion {
	var before chain.Reason
	if c := meta.FindStatusCondition(p.object.Status.Conditions, v1alpha1.ConditionReady); c != nil {
		before = chain.Reason(c.Reason)
	}
	ready := edgegrant.Conclude(p.in)
	convert.GrantStatus(&p.object.Status, p.object.Generation, ready, p.Clock.Now())
	if p.Grants == nil {
		return reconcile.Conclusion{}
	}
	events := reconcile.Told(edgegrant.Events(p.in, before, ready))
	convert.GrantCounts(&p.object.Status, p.census.Namespaces, p.census.Tenants, p.census.Violations)
	return reconcile.Conclusion{After: countsEvery, Events: events}
}
