// Package reconcile is the one driver behind every controller: load the object, observe,
// decide, act, conclude. A kind brings its passes; the driver alone writes to the
// Kubernetes API, and at most once to status in a pass.
package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// The time that a pass may take, if its kind needs no longer. The world outside gets less than
// the whole, so that a hanging service can't also prevent the report about it.
const (
	outsideTimeout = 45 * time.Second
	reportTimeout  = 15 * time.Second
)

// maxSteps bounds the steps of a pass. A chain looks at a handful of things before it
// writes; one that never ends is a mistake, and must not spin.
const maxSteps = 16

// The delays after a pass that could not finish.
const (
	again         = 10 * time.Millisecond
	conflictDelay = time.Second
	behindDelay   = 5 * time.Second
	throttleDelay = 5 * time.Second
)

// ErrBehind ends a pass over an object that has changed since it was cached: nothing is reported of it, and the object is
// looked at again.
var ErrBehind = errors.New("the cache is behind the API server")

// Kind is what the driver needs to know of a kind of object.
type Kind[O client.Object] interface {
	// New returns an empty object.
	New() O
	// Finalizer is the name of the kind's finalizer.
	Finalizer() string
	// Begin starts a pass over the object with what is known of the world: from memory, from caches and, where those
	// may not be trusted, from the API server. It writes to no API, and makes no call to what the object represents.
	// It tells the workers that objects share what the object has and wants, and hears what they know: a zone that is
	// told starts to work on it. After an error there is no pass: nothing is reported of the object, and the error ends
	// in a delay as any other does.
	Begin(ctx context.Context, o O) (Pass, error)
	// Forget drops what is remembered of an object that is gone, or that only the finalizers of others keep. It may be
	// called again.
	Forget(key client.ObjectKey)
	// Status returns a pointer to the object's status.
	Status(o O) any
}

// Pass is one reconcile of one object.
type Pass interface {
	// Decide picks the next step from what the pass knows, and says what the step does. It has no effect of its own.
	Decide() chain.Effect
	// Perform carries the step out. An error ends the pass.
	Perform(ctx context.Context, k Keeper) error
	// Conclude writes the report into the object in memory.
	Conclude(err error) Conclusion
}

// Keeper stands between a pass and its first write to the world outside.
type Keeper interface {
	// EnsureFinalizer makes sure that the object is as the pass knows it, with the finalizer and the
	// annotations stored: by one write, or by a live read when all of them are there. It
	// fails when the object has changed.
	EnsureFinalizer(ctx context.Context, annotations map[string]string) error
}

// Conclusion is what is left to do after a pass.
type Conclusion struct {
	// After is when to look again; zero leaves it to events.
	After time.Duration
	// Acts tell what the pass has changed outside. They are logged and published even if the status can't be stored:
	// no later pass tells of them.
	Acts []Event
	// Noted tell what has changed outside as well, where the status is what shows it: once that is stored.
	Noted []Event
	// Events are published once the status is stored.
	Events []Event
	// Details go to the log when the status changes: they concern other namespaces, whose names no status has.
	Details []string
	// Stored, if any, is called once the status is stored as the pass left it in the object,
	// or needed no storing.
	Stored func()
	// Refused is the kind of a refusal that the pass has reported. It is counted like a failure that ended the pass.
	Refused fault.Kind
}

// Event is a transition that users should see.
type Event struct {
	Warning         bool
	Reason, Message string
	// ID is that of the resource in AWS that was changed, if any was.
	ID string
}

// Told are events as a domain tells them.
func Told(events []chain.Event) (out []Event) {
	for _, e := range events {
		out = append(out, Event(e))
	}
	return out
}

// Driver reconciles the objects of one kind.
type Driver[O client.Object] struct {
	Client client.Client
	// Live reads past the cache.
	Live client.Reader
	Kind Kind[O]
	// Publish sends an event about the object.
	Publish func(o O, e Event)
	// Ignored says which annotations have no effect on an object of a kind that heeds those. It may be nil.
	Ignored func(annotations map[string]string, heeded []string) []string
	// Timeout bounds what a pass asks of the world outside. Zero means 45 seconds.
	Timeout time.Duration
	// Failed counts a pass that ended with a failure, or with a refusal that it has reported. It may be nil.
	Failed func(kind fault.Kind)
	// Nudges bound the passes that annotations ask for. It may be nil.
	Nudges *Nudges
	// Replaced keeps passes away from versions that the driver itself has replaced. It may be nil.
	Replaced *Replaced
}

// Reconcile implements reconcile.Reconciler.
func (d *Driver[O]) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	// A shutdown must not cut a call in the middle: the pass runs to its end.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.timeout()+reportTimeout)
	defer cancel()
	o := d.Kind.New()
	if err := d.Client.Get(ctx, req.NamespacedName, o); err != nil {
		if apierrors.IsNotFound(err) {
			d.forget(req.NamespacedName)
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !o.GetDeletionTimestamp().IsZero() && !controllerutil.ContainsFinalizer(o, d.Kind.Finalizer()) {
		d.forget(req.NamespacedName) // others keep it, and no finalizer can be added any more
		return ctrl.Result{}, nil
	}
	if d.Replaced.has(o) {
		return ctrl.Result{RequeueAfter: replacedDelay}, nil
	}
	if wait := d.Nudges.wait(o); wait > 0 {
		return ctrl.Result{RequeueAfter: wait}, nil
	}
	outside, cancel := context.WithTimeout(ctx, d.timeout())
	defer cancel()
	pass, err := d.Kind.Begin(outside, o)
	if err != nil {
		return d.result(ctx, 0, err)
	}
	k := &keeper[O]{client: d.Client, live: d.Live, blank: d.Kind.New, object: o, finalizer: d.Kind.Finalizer(), replaced: d.Replaced}
	released, more, failure := d.run(outside, pass, k)
	switch {
	case released && failure == nil:
		c := pass.Conclude(nil)
		acts := slices.Concat(c.Acts, c.Noted)
		logActs(ctx, acts)
		d.publish(o, slices.Concat(acts, c.Events))
		return ctrl.Result{}, nil
	case errors.Is(failure, ErrBehind):
		return d.result(ctx, 0, failure)
	}
	return d.conclude(ctx, o, pass, more, failure)
}

func (d *Driver[O]) forget(key client.ObjectKey) {
	d.Kind.Forget(key)
	d.Nudges.forget(key)
}

func (d *Driver[O]) timeout() time.Duration {
	if d.Timeout > 0 {
		return d.Timeout
	}
	return outsideTimeout
}

// run decides and performs until a step rests, releases or fails. more means that the
// next step would have been a second write.
func (d *Driver[O]) run(ctx context.Context, pass Pass, k *keeper[O]) (released, more bool, err error) {
	wrote := false
	for range maxSteps {
		switch effect := pass.Decide(); effect {
		case chain.Rest:
			return false, false, nil
		case chain.Write:
			if wrote {
				return false, true, nil
			}
			wrote = true
			err = pass.Perform(ctx, k)
		case chain.Read, chain.Apply:
			err = pass.Perform(ctx, k)
		case chain.Release:
			if err := pass.Perform(ctx, k); err != nil {
				return false, false, err
			}
			return true, false, k.release(ctx)
		}
		if err != nil {
			return false, false, err
		}
	}
	return false, false, &fault.Error{Kind: fault.Transient, Operation: "Deciding", Message: fmt.Sprintf("not finished after %d steps", maxSteps)}
}

// conclude stores the report and turns the end of the pass into a result.
func (d *Driver[O]) conclude(ctx context.Context, o O, pass Pass, more bool, failure error) (ctrl.Result, error) {
	base, ok := o.DeepCopyObject().(O)
	if !ok {
		return ctrl.Result{}, errors.New("copying an object changed its type")
	}
	c := pass.Conclude(failure)
	// The log has the acts even if nothing else can be written any more.
	logActs(ctx, c.Acts)
	if !equality.Semantic.DeepEqual(d.Kind.Status(base), d.Kind.Status(o)) {
		// A merge patch replaces the list of conditions, so it must not meet another version.
		patch := client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
		if err := d.Client.Status().Patch(ctx, o, patch); err != nil {
			d.publish(o, c.Acts)
			return d.result(ctx, 0, fmt.Errorf("storing the status: %w", err))
		}
		d.Replaced.note(base, o)
		for _, detail := range c.Details {
			log.FromContext(ctx).Info("What the status leaves out, as it concerns others", "detail", detail)
		}
	}
	if c.Stored != nil {
		c.Stored()
	}
	if c.Refused != fault.None {
		d.count(c.Refused)
	}
	logActs(ctx, c.Noted)
	d.publish(o, slices.Concat(c.Acts, c.Noted, c.Events))
	if failure == nil && more {
		c.After = again
	}
	return d.result(ctx, c.After, failure)
}

func (d *Driver[O]) publish(o O, events []Event) {
	for _, e := range events {
		d.Publish(o, e)
	}
}

func logActs(ctx context.Context, acts []Event) {
	for _, a := range acts {
		LogAct(log.FromContext(ctx), a)
	}
}

// LogAct leaves the line in the log that each act has next to its event. The logger names the object.
func LogAct(to logr.Logger, act Event) {
	values := []any{"what", act.Reason, "change", act.Message}
	if act.ID != "" {
		values = append(values, "id", act.ID)
	}
	to.Info("Changed", values...)
}

// result is the one place where the end of a pass becomes a delay.
func (d *Driver[O]) result(ctx context.Context, after time.Duration, err error) (ctrl.Result, error) {
	switch {
	case err == nil:
		return ctrl.Result{RequeueAfter: after, Priority: priorityAfter(after)}, nil
	case errors.Is(err, ErrBehind):
		// The watch wakes the object when it brings the change; this is for a watch that hangs.
		log.FromContext(ctx).V(1).Info("Nothing was written", "reason", err.Error())
		return ctrl.Result{RequeueAfter: behindDelay}, nil
	case apierrors.IsNotFound(err):
		return ctrl.Result{}, nil
	case apierrors.IsConflict(err):
		log.FromContext(ctx).V(1).Info("The object changed in the meantime", "error", err.Error())
		return ctrl.Result{RequeueAfter: conflictDelay}, nil
	}
	kind := fault.KindOf(err)
	switch kind {
	case fault.Throttled:
		log.FromContext(ctx).V(1).Info("Waiting for the rate limit", "error", err.Error())
		if fault.CodeOf(err) != "" {
			// The service itself has said so, and not our own limiter.
			d.count(kind)
		}
		delay := fault.RetryAfter(err)
		if delay == 0 {
			delay = throttleDelay
		}
		return ctrl.Result{RequeueAfter: delay, Priority: new(turnPriority)}, nil
	case fault.Conflict, fault.NotFound:
		log.FromContext(ctx).V(1).Info("AWS or the DNS records changed in the meantime", "error", err.Error())
		return ctrl.Result{RequeueAfter: max(conflictDelay, after)}, nil
	case fault.None, fault.Transient, fault.Exists, fault.NotDisabled, fault.InUse, fault.DomainTaken,
		fault.DomainUnverified, fault.Denied, fault.Quota, fault.Invalid:
	}
	d.count(kind)
	return ctrl.Result{}, err
}

func (d *Driver[O]) count(kind fault.Kind) {
	if d.Failed != nil {
		d.Failed(kind)
	}
}

// keeper implements Keeper with merge patches under optimistic lock.
type keeper[O client.Object] struct {
	client    client.Client
	live      client.Reader
	blank     func() O
	object    O
	finalizer string
	replaced  *Replaced
}

func (k *keeper[O]) EnsureFinalizer(ctx context.Context, annotations map[string]string) error {
	missing := !controllerutil.ContainsFinalizer(k.object, k.finalizer)
	for key, value := range annotations {
		missing = missing || k.object.GetAnnotations()[key] != value
	}
	if !missing {
		return k.confirm(ctx)
	}
	return k.patch(ctx, "adding the finalizer", func() {
		controllerutil.AddFinalizer(k.object, k.finalizer)
		all := maps.Clone(k.object.GetAnnotations())
		if all == nil {
			all = map[string]string{}
		}
		maps.Copy(all, annotations)
		k.object.SetAnnotations(all)
	})
}

// confirm asks the API server whether the object is still the one that the pass knows. A
// cache may be behind by minutes: in a replica that was frozen and does not know yet that
// another one leads, or behind a watch that hangs. An older spec must not undo a newer one.
// The status may be older; a newer one costs a call at most. Of the
// annotations only our own count: the cache drops the others.
func (k *keeper[O]) confirm(ctx context.Context) error {
	now := k.blank()
	if err := k.live.Get(ctx, client.ObjectKeyFromObject(k.object), now); err != nil {
		return fmt.Errorf("confirming the object: %w", err)
	}
	same := now.GetUID() == k.object.GetUID() && now.GetGeneration() == k.object.GetGeneration() &&
		now.GetDeletionTimestamp().Equal(k.object.GetDeletionTimestamp()) &&
		maps.Equal(k.ours(now.GetAnnotations()), k.ours(k.object.GetAnnotations()))
	if !same {
		return ErrBehind
	}
	return nil
}

// ours are the annotations of the domain that the finalizer is of.
func (k *keeper[O]) ours(annotations map[string]string) map[string]string {
	domain, _, _ := strings.Cut(k.finalizer, "/")
	out := map[string]string{}
	for key, value := range annotations {
		if strings.HasPrefix(key, domain+"/") {
			out[key] = value
		}
	}
	return out
}

// release removes the finalizer. With the last one the object goes, and the API server answers with the version that it
// had.
func (k *keeper[O]) release(ctx context.Context) error {
	released := versionOf(k.object)
	err := k.patch(ctx, "removing the finalizer", func() { controllerutil.RemoveFinalizer(k.object, k.finalizer) })
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	k.replaced.add(released)
	return nil
}

func (k *keeper[O]) patch(ctx context.Context, doing string, change func()) error {
	base := k.object.DeepCopyObject().(O) //nolint:forcetypeassert // a copy has the type of its original
	change()
	if err := k.client.Patch(ctx, k.object, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	k.replaced.note(base, k.object)
	return nil
}
