package tenantsource

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// Perform implements reconcile.Pass.
func (p *pass) Perform(ctx context.Context, k reconcile.Keeper) error {
	switch p.decision.Step {
	case tenantsource.Read:
		return reading{p}.read(ctx)
	case tenantsource.ReadNamed:
		return byName{reading{p}}.readNamed(ctx, k)
	case tenantsource.Write, tenantsource.Remove:
		return p.change(ctx, k)
	case tenantsource.Rest, tenantsource.Count, tenantsource.LetGo:
	}
	return nil
}

// change makes changes for as long as they are those of the source's last poll.
func (p *pass) change(ctx context.Context, k reconcile.Keeper) error {
	if err := k.EnsureFinalizer(ctx, nil); err != nil {
		return err
	}
	if err := p.current(ctx); err != nil {
		if errors.Is(err, errOvertaken) {
			p.apply(tenantsource.Dropped{})
		}
		return err
	}
	if p.decision.Step == tenantsource.Write {
		return writing{p}.write(ctx)
	}
	return removal{p}.remove(ctx)
}

// errOvertaken means that another process leads, and has polled since.
var errOvertaken = fmt.Errorf("%w: another process has polled in the meantime", reconcile.ErrBehind)

// current fails where what is about to be written is no longer what the last poll has found.
func (p *pass) current(ctx context.Context) error {
	var now v1alpha1.TenantSource
	if err := p.Live.Get(ctx, p.key(), &now); err != nil {
		return fmt.Errorf("confirming the poll: %w", err)
	}
	if p.in.State.Overtaken(convert.SourceMemory(&now.Status).LastPoll) {
		return errOvertaken
	}
	return nil
}

// reading is a pass that reads the table.
type reading struct{ *pass }

// read reads the table, and asks what follows from it. A failure is a result like any other.
func (p reading) read(ctx context.Context) error {
	p.session.started = p.Clock.Now()
	p.session.stream.Seen()
	p.apply(tenantsource.Began{})
	fleet, err := p.target.fleet(ctx)
	if err != nil {
		p.apply(tenantsource.Dropped{})
		return err
	}
	p.noteDeletions(fleet)
	poll := tenantsource.NewPoll(p.session.program, fleet, p.MaxRows)
	poll.Refuse = func(o mapping.Object) string { return p.refusal(ctx, o) }
	ctx, cancel := p.whileWanted(ctx)
	defer cancel()
	if failure := p.readRows(ctx, poll, nil); failure != nil {
		if cause := context.Cause(ctx); errors.Is(cause, errStopping) || errors.Is(cause, errOutdated) {
			p.apply(tenantsource.Dropped{})
			return cause
		}
		log.FromContext(ctx).Info("Reading the table failed, so no tenant is changed", "reason", failure.Reason, "message", failure.Message)
		p.apply(tenantsource.Failed{Failure: failure, Seen: poll, Owned: fleet.Owned(p.in.Policy)})
		return nil
	}
	p.in.Now = p.Clock.Now()
	done := tenantsource.Completed{Harvest: poll.Finish(), Owned: fleet.Owned(p.in.Policy)}
	if p.in.RowKey && p.in.Watch != nil {
		done.Others = poll.OtherRows(p.in.Generation, done.Harvest)
	}
	p.apply(done)
	return nil
}

// refusal says why the namespace may not have the object of a row; empty where it may.
func (p reading) refusal(ctx context.Context, o mapping.Object) string {
	if p.Grants.Mode() != grants.Enforce {
		return ""
	}
	wants, err := convert.RowWants(o, p.target.namespace)
	if err != nil {
		return err.Error()
	}
	v, err := p.Grants.Judge(ctx, grants.Asker{Namespace: p.target.namespace, Wants: wants})
	switch {
	case err != nil:
		return err.Error()
	case v.Refused != nil:
		return v.Refused.Message
	}
	return ""
}

// A read that is broken off tells nothing of the table.
var (
	errStopping = fmt.Errorf("%w: the operator is stopping", reconcile.ErrBehind)
	errOutdated = fmt.Errorf("%w: the source has changed while its table was read", reconcile.ErrBehind)
)

// lookEvery is how often a read looks whether it is still wanted.
const lookEvery = time.Second

// whileWanted ends a read with the operator, which may not have the time that Kubernetes gives a pod, and when its
// source is changed, suspended or deleted: no one should wait minutes for a query that was just corrected. The watch
// can't tell, since one object has one pass at a time.
func (p reading) whileWanted(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, end := context.WithTimeout(ctx, p.ReadTimeout)
	ctx, cancel := context.WithCancelCause(ctx)
	// The object itself is the pass's, which continues while a last look is under way.
	key, uid, generation := p.key(), p.object.UID, p.object.Generation
	go func() {
		look := time.NewTicker(lookEvery)
		defer look.Stop()
		for {
			select {
			case <-p.Stopped:
				cancel(errStopping)
			case <-look.C:
				if p.outdated(ctx, key, uid, generation) {
					cancel(errOutdated)
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, func() { cancel(nil); end() }
}

// outdated asks the cache.
func (c *Controller) outdated(ctx context.Context, key client.ObjectKey, uid types.UID, generation int64) bool {
	var now v1alpha1.TenantSource
	err := c.Client.Get(ctx, key, &now)
	return apierrors.IsNotFound(err) || err == nil && (now.UID != uid || now.Generation != generation)
}

// readRows reads the rows of these keys; nil for the whole table.
func (p reading) readRows(ctx context.Context, poll *tenantsource.Poll, keys []string) *tenantsource.Failure {
	rows := p.Rows[mapping.Provider(p.object.Spec.Provider)]
	if rows == nil {
		return &tenantsource.Failure{Reason: tenantsource.InvalidConfig, Message: fmt.Sprintf("spec.provider: this operator does not support %q", p.object.Spec.Provider)}
	}
	connection, failure := p.connection(ctx, p.object, convert.SecretOf(p.object))
	p.session.stream.Compare(connection, failure)
	if failure != nil {
		return failure
	}
	query := convert.SourceQuery(p.object, connection, poll.Wants())
	query.Keys, query.Hosts = keys, p.hosts()
	if err := promptly(ctx, p.FirstRowTimeout, rows, query, poll); err != nil {
		if failure := p.late(err); failure != nil {
			return failure
		}
		failure := tenantsource.FailureOf(err)
		if failure.Connection {
			ref := convert.SecretOf(p.object)
			failure.Message = fmt.Sprintf("%s: the key %s of the Secret %q can't be used. %s", ref.Field, connectionKey, ref.Name, failure.Message)
		}
		return failure
	}
	return nil
}

// connectionKey is the key of the Secret under which the connection string is.
const connectionKey = "connectionString"

// connection reads the connection string in every pass: it may have been rotated, or no longer be offered, and it is not
// kept.
func (c *Controller) connection(ctx context.Context, o *v1alpha1.TenantSource, ref convert.SecretRef) (mapping.Secret, *tenantsource.Failure) {
	name := ref.Name
	if name == "" {
		return mapping.Secret{}, nil
	}
	var secret corev1.Secret
	err := c.Live.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: name}, &secret)
	invalid := func(format string, args ...any) (mapping.Secret, *tenantsource.Failure) {
		return mapping.Secret{}, &tenantsource.Failure{Reason: tenantsource.InvalidConfig, Message: ref.Field + ": " + fmt.Sprintf(format, args...)}
	}
	refusal := convert.SecretRefusal(o, name, secret.Labels)
	switch {
	case apierrors.IsNotFound(err):
		return invalid("there is no Secret %q in namespace %q: create it, with the key %s and the label %s",
			name, o.Namespace, connectionKey, convert.SecretOffer(o))
	case apierrors.IsForbidden(err):
		return invalid("the operator is not allowed to read Secrets in namespace %q: add the namespace to the chart value rbac.secretNamespaces", o.Namespace)
	case err != nil:
		return mapping.Secret{}, &tenantsource.Failure{Reason: tenantsource.PollFailed, Message: fmt.Sprintf("Reading the Secret %q failed: %s", name, apierrors.ReasonForError(err))}
	case refusal != "":
		return invalid("%s", refusal)
	case len(secret.Data[connectionKey]) == 0:
		return invalid("the Secret %q has no key %s, or the key is empty: store the connection string there", name, connectionKey)
	}
	return mapping.NewSecret(string(secret.Data[connectionKey])), nil
}

// The writes of one pass, and how many of them are under way at a time.
const (
	batchSize   = 500
	atOnce      = 16
	batchBudget = 30 * time.Second
)

// WriteTimeout is the time that a pass needs in addition to the read.
const WriteTimeout = 45 * time.Second

// outcome is what became of one write.
type outcome struct {
	done     bool
	refused  string
	conflict bool
	// denied is set where the refusal may be meant for every object.
	denied bool
	// item is what the breaker need not hold, where a user has approved it.
	item *loss.Item
	// version is that of the object where it has changed since it was looked at, and is still the source's.
	version string
	err     error
}

// writing is a pass that writes the objects of rows.
type writing struct{ *pass }

// write writes the next changes. A refusal of one object is reported for its row; a failure of all of several objects
// ends the poll. A single object may be refused for its own sake, and must not stop the others.
func (p writing) write(ctx context.Context) error {
	batch := p.in.State.Round.Next(batchSize)
	results := inParallel(ctx, len(batch), func(ctx context.Context, i int) outcome { return p.writeOne(ctx, batch[i]) })
	// Before any of them is left behind: a change that could not be reported is written, and reported, once more.
	if err := p.approveChanges(ctx, results); err != nil {
		return err
	}
	denied := 0
	for i, r := range results {
		if r.err != nil {
			// The next pass over the same change finds the written objects to be equal.
			return fmt.Errorf("applying the tenant %s: %w", batch[i].Name, r.err)
		}
		p.apply(tenantsource.Written{Done: r.done, Refused: r.refused, Conflict: r.conflict})
		if r.denied {
			denied++
		}
	}
	if denied > 1 && denied == len(results) {
		message := "The API server rejects every change: " + results[0].refused
		p.apply(tenantsource.Failed{Failure: &tenantsource.Failure{Reason: tenantsource.PollFailed, Message: message}})
	}
	return nil
}

// removal is a pass that deletes or disables the objects whose rows are gone.
type removal struct{ *pass }

// remove deletes or disables the next objects that the guard has allowed.
func (p removal) remove(ctx context.Context) error {
	batch := p.in.State.Round.Going(batchSize)
	if err := p.approveDeletions(ctx, batch); err != nil {
		return err
	}
	p.noteOwn(batch)
	results := inParallel(ctx, len(batch), func(ctx context.Context, i int) outcome { return p.removeOne(ctx, batch[i]) })
	if err := p.approveChanges(ctx, results); err != nil {
		return err
	}
	for i, r := range results {
		if r.err != nil {
			return fmt.Errorf("deleting the tenant %s: %w", batch[i].Name, r.err)
		}
		p.apply(tenantsource.Removed{Done: r.done, Refused: r.refused})
	}
	return nil
}

// approveDeletions tells the breaker which of the deletions a user has approved, before they are made.
func (p removal) approveDeletions(ctx context.Context, batch []tenantsource.Loss) error {
	var items []loss.Item
	for _, o := range batch {
		if p.in.Policy != tenantsource.PolicyDisable && o.Approved && !o.Mark {
			items = append(items, loss.Item{Class: convert.ClassDistributionTenant, UID: o.UID, Weight: 1, Namespace: p.target.namespace, Name: o.Name})
		}
	}
	return p.Breaker.Approve(ctx, items)
}

// approveChanges does the same for objects that were disabled, or lost something else. Which change of theirs that was is
// known afterwards; until then the breaker waits for more.
func (p *pass) approveChanges(ctx context.Context, results []outcome) error {
	var items []loss.Item
	for _, r := range results {
		if r.item != nil {
			items = append(items, *r.item)
		}
	}
	return p.Breaker.Approve(ctx, items)
}

// approvedChange is the harm that the spec of that generation does, which a user has approved.
func (p *pass) approvedChange(name, uid string, generation int64) *loss.Item {
	return &loss.Item{
		Class: convert.ClassDistributionTenant, UID: uid, Weight: 1, Namespace: p.target.namespace, Name: name, Harm: loss.AnyHarm, Generation: generation,
	}
}

// tries is how often an object that keeps changing is looked at before the next pass has its turn.
const tries = 3

// removeOne deletes or disables one object.
func (p removal) removeOne(ctx context.Context, o tenantsource.Loss) (r outcome) {
	for range tries {
		if r = p.tryRemove(ctx, o); !apierrors.IsConflict(r.err) {
			return r
		}
	}
	return r
}

// tryRemove looks at the object before it removes it, and asks for exactly the version that it saw: with
// a label taken away in the last moment the object is no longer the source's. A batch takes long enough for another process
// to lead meanwhile, and to see that the row is back.
func (p removal) tryRemove(ctx context.Context, o tenantsource.Loss) outcome {
	var live v1alpha1.DistributionTenant
	err := p.Live.Get(ctx, client.ObjectKey{Namespace: p.target.namespace, Name: o.Name}, &live)
	if apierrors.IsNotFound(err) {
		return outcome{}
	}
	if err != nil {
		return outcome{err: err}
	}
	t := tenantOf(&live, p.target.labels)
	if t.UID != o.UID || !t.Lives(tenantsource.PolicyDelete) {
		return outcome{}
	}
	if err := p.current(ctx); err != nil {
		return outcome{err: err}
	}
	var disabled *loss.Item
	switch isMarked := !t.Marked.IsZero(); {
	case o.Mark && isMarked, p.in.Guard.Grace > 0 && !p.in.Deleting && !o.Certain() && !o.Mark && !isMarked:
		// Others have marked it, or have taken the mark off, and the cache does not show it yet.
		return outcome{}
	case o.Mark:
		err = p.target.mark(ctx, &live)
	case p.in.Policy == tenantsource.PolicyDisable:
		var generation int64
		if generation, err = p.target.disable(ctx, &live); o.Approved {
			disabled = p.approvedChange(o.Name, o.UID, generation)
		}
	default:
		err = p.Client.Delete(ctx, &live, client.Preconditions{UID: &live.UID, ResourceVersion: &live.ResourceVersion})
	}
	switch {
	case err == nil:
		return outcome{done: true, item: disabled}
	case apierrors.IsNotFound(err):
		return outcome{}
	}
	answer, message := p.AnswerOf(err)
	return refusedOr(err, answer, message)
}
