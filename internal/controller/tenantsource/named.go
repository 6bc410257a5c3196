package tenantsource

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// namedTimeout bounds a read of single rows. One that takes longer is slower than a poll should have to wait for.
const namedTimeout = 10 * time.Second

// byName is a pass that reads the rows that the database has reported as changed.
type byName struct{ reading }

// readNamed reads the rows that the database has reported as changed, and applies what concerns no others. It is no poll: it
// writes no status, and proves nothing about a row that is not there. Everything else is left to a poll, which follows
// at once.
func (p byName) readNamed(ctx context.Context, k reconcile.Keeper) error {
	p.apply(tenantsource.NamedBegan{})
	poll, err := p.applyNamed(ctx, k, p.session.stream.Seen())
	if poll || err != nil {
		p.session.stream.Hint()
	}
	p.in.Watch = p.session.stream.State()
	return err
}

// applyNamed reports whether a poll has to follow.
func (p byName) applyNamed(ctx context.Context, k reconcile.Keeper, keys []string) (poll bool, err error) {
	if len(keys) == 0 {
		return true, nil // it was told meanwhile that any row may have changed
	}
	changes, poll, err := p.judgeNamed(ctx, keys)
	if len(changes) == 0 || err != nil {
		return poll, err
	}
	if err := k.EnsureFinalizer(ctx, nil); err != nil {
		return true, err
	}
	if err := p.unpolled(ctx); err != nil {
		return true, err
	}
	// An object that has changed since it was looked at may lose something by the change that did not harm it before.
	results := inParallel(ctx, len(changes), func(ctx context.Context, i int) outcome { return writing{p.pass}.tryWrite(ctx, changes[i]) })
	left, err := p.tallyNamed(changes, results)
	return poll || left, err
}

// judgeNamed reads the rows, and finds out what may be done at once. poll says that there is more to do.
func (p byName) judgeNamed(ctx context.Context, keys []string) (changes []tenantsource.Change, poll bool, err error) {
	fleet := p.target.onDemand(ctx)
	read := tenantsource.NewPoll(p.session.program, fleet, p.MaxRows)
	read.Refuse = func(o mapping.Object) string {
		if p.session.Others.Concern(fleet, o) {
			return "other rows have a say in it"
		}
		return p.refusal(ctx, o)
	}
	ctx, cancel := p.whileWanted(ctx)
	defer cancel()
	ctx, end := context.WithTimeout(ctx, namedTimeout)
	defer end()
	if failure := p.readRows(ctx, read, keys); failure != nil {
		if cause := context.Cause(ctx); errors.Is(cause, errStopping) || errors.Is(cause, errOutdated) {
			return nil, false, cause
		}
		log.FromContext(ctx).Info("Reading the rows that have changed failed, so the whole table is read", "reason", failure.Reason, "message", failure.Message)
		p.apply(tenantsource.NamedFailed{Reason: failure.Reason})
		return nil, true, nil
	}
	changes, poll = p.in.State.Named(p.in.View, read.Finish())
	return changes, poll, nil
}

// tallyNamed remembers the changes that were made. left says that some were not.
func (p byName) tallyNamed(changes []tenantsource.Change, results []outcome) (left bool, err error) {
	for i, r := range results {
		switch o, unread := changes[i].Object(); {
		case r.err != nil:
			err = errors.Join(err, fmt.Errorf("applying the tenant %s: %w", changes[i].Name, r.err))
		case unread != nil:
			err = errors.Join(err, unread)
		case !r.done:
			left = true // it is refused, or has moved: a poll reports how
		case changes[i].Action == tenantsource.Create:
			p.session.Others.Learn(o)
			p.session.named.created++
		default:
			p.session.Others.Learn(o)
			p.session.named.updated++
		}
	}
	return left || len(results) < len(changes), err
}

// unpolled fails where another process has polled since this one did.
func (p byName) unpolled(ctx context.Context) error {
	var now v1alpha1.TenantSource
	if err := p.Live.Get(ctx, p.key(), &now); err != nil {
		return fmt.Errorf("confirming that no other process has polled: %w", err)
	}
	if t := now.Status.LastPollTime; now.UID != p.object.UID || now.Generation != p.object.Generation || t == nil || !t.Time.Equal(p.session.Polled) {
		return fmt.Errorf("%w: the source has changed, or another process has polled", reconcile.ErrBehind)
	}
	return nil
}
