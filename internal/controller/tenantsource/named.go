package tenantsource

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// glanced counts what a read of single rows has changed.
type glanced struct{ created, updated int }

// readNamed reads the rows that the database has reported as changed, and applies what concerns no others. It is no poll: it tells
// nothing in status, and proves nothing of a row that is not there. Whatever else there is to do is left to a poll, which follows
// at once.
func (p *pass) readNamed(ctx context.Context, k reconcile.Keeper) error {
	p.in.Glance()
	whole, err := p.applyNamed(ctx, k, p.session.stream.seen())
	if whole || err != nil {
		p.session.stream.Hint()
	}
	p.in.Watch = p.session.stream.shows()
	return err
}

// applyNamed reports whether the whole table has to be read.
func (p *pass) applyNamed(ctx context.Context, k reconcile.Keeper, keys []string) (whole bool, err error) {
	fleet := p.glimpse(ctx)
	poll := p.newPoll(fleet)
	poll.Refuse = func(o mapping.Object) string {
		if p.session.Others.Concern(fleet, o) {
			return "other rows have a say in it"
		}
		return p.refusal(ctx, o)
	}
	reading, cancel := p.whileWanted(ctx)
	defer cancel()
	if failure := p.readRows(reading, poll, keys); failure != nil {
		log.FromContext(ctx).Info("Reading the rows that have changed failed, so the whole table is read", "reason", failure.Reason, "message", failure.Message)
		p.in.Together(failure)
		return true, nil
	}
	changes, doubt := p.in.Glimpse(poll.Harvest())
	if len(changes) == 0 {
		return doubt, nil
	}
	if err := k.EnsureFinalizer(ctx, nil); err != nil {
		return true, err
	}
	if err := p.unpolled(ctx); err != nil {
		return true, err
	}
	results := inParallel(ctx, len(changes), func(ctx context.Context, i int) outcome { return p.write(ctx, changes[i]) })
	for i, r := range results {
		if r.err != nil {
			return true, fmt.Errorf("applying the tenant %s: %w", changes[i].Name, r.err)
		}
		if !r.done {
			doubt = true // it is refused, or has moved: a poll reports how
			continue
		}
		if err := p.wrote(changes[i]); err != nil {
			return true, err
		}
	}
	return doubt || len(results) < len(changes), nil
}

// wrote remembers a change that was made.
func (p *pass) wrote(c tenantsource.Change) error {
	o, err := c.Object()
	if err != nil {
		return err
	}
	p.session.Others.Add(o.Domains())
	if c.Action == tenantsource.Create {
		p.glanced.created++
	} else {
		p.glanced.updated++
	}
	return nil
}

// glimpse is the fleet for a read of some rows: only their objects are looked for.
func (p *pass) glimpse(ctx context.Context) *fleet {
	return &fleet{
		objects: map[string]*v1alpha1.DistributionTenant{}, labels: p.labels,
		find: func(name string) *v1alpha1.DistributionTenant {
			var o v1alpha1.DistributionTenant
			if err := p.Client.Get(ctx, client.ObjectKey{Namespace: p.target, Name: name}, &o); err != nil {
				return nil
			}
			return &o
		},
	}
}
