package plan

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

// Changes bring objects to the wanted state. Each is independent: one that fails stops no other.
type Changes struct {
	Create []Object
	Update []Update
	// Replace are those that differ in what can't be changed: they are deleted and created again.
	Replace []Update
	Prune   []Live
}

// Update is an object over the one of that UID.
type Update struct {
	Object

	UID string
}

// Empty reports whether there is nothing to change.
func (c *Changes) Empty() bool {
	return len(c.Create)+len(c.Update)+len(c.Replace)+len(c.Prune) == 0
}

// Attempts are the objects that could not be made as they should be, by their key.
type Attempts map[string]Failure

// Failure is what is known of an object that could not be made.
type Failure struct {
	// Hash is that of the object that was tried: another one is tried at once.
	Hash  string
	Count int
	At    time.Time
	Err   *fault.Error
}

// Failed is an object that is still not as it should be.
type Failed struct {
	Failure

	Object Object
}

// Again is the pause before the next try of one object.
var Again = retry.Backoff{First: 10 * time.Second, Last: 5 * time.Minute}

// ReadRetry is the pause between two looks at a kind that can't be read.
const ReadRetry = time.Minute

// WatchDeletion is the pause between two looks at what is being deleted, in case an event gets lost.
const WatchDeletion = 30 * time.Second

func (f Failure) due() time.Time { return f.At.Add(Again.Delay(f.Count)) }

// Note remembers how an attempt ended: a failure, or that there is none any more.
func (a Attempts) Note(key, hash string, at time.Time, err error) {
	if err == nil {
		delete(a, key)
		return
	}
	count := 1
	if before, ok := a[key]; ok && before.Hash == hash {
		count = before.Count + 1
	}
	a[key] = Failure{Hash: hash, Count: count, At: at, Err: Fault(err)}
}

// Due takes out of the changes what has failed and is not due for another try.
func (a Attempts) Due(now time.Time, c Changes) Changes {
	waits := func(o *Object, hash string) bool {
		f, failed := a[o.Key()]
		return failed && f.Hash == hash && now.Before(f.due())
	}
	c.Create = slices.DeleteFunc(c.Create, func(o Object) bool { return waits(&o, o.Hash()) })
	c.Update = slices.DeleteFunc(c.Update, func(u Update) bool { return waits(&u.Object, u.Hash()) })
	c.Replace = slices.DeleteFunc(c.Replace, func(u Update) bool { return waits(&u.Object, u.Hash()) })
	c.Prune = slices.DeleteFunc(c.Prune, func(l Live) bool { return waits(&l.Object, "") })
	return c
}

// Of are the failures of what is still to be done, in a fixed order.
func (a Attempts) Of(todo Changes) []Failed {
	var out []Failed
	add := func(o Object, hash string) {
		if f, ok := a[o.Key()]; ok && f.Hash == hash {
			out = append(out, Failed{Object: o, Failure: f})
		}
	}
	for _, o := range todo.Create {
		add(o, o.Hash())
	}
	for _, u := range append(slices.Clone(todo.Update), todo.Replace...) {
		add(u.Object, u.Hash())
	}
	for _, l := range todo.Prune {
		add(l.Object, "")
	}
	return out
}

// NextTry is how long it is until the first of the failed objects is due; zero if none failed.
func NextTry(now time.Time, failures []Failed) time.Duration {
	var next time.Duration
	for _, f := range failures {
		if after := max(f.due().Sub(now), time.Second); next == 0 || after < next {
			next = after
		}
	}
	return next
}

// Fault is the failure in an error. One that is not classified may pass.
func Fault(err error) *fault.Error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	return &fault.Error{Kind: fault.Transient, Message: err.Error(), Err: err}
}

// InWords is what the API server says of an object, without the operation: that it could not be made is said already.
func InWords(err error) string {
	f := Fault(err)
	if f.Message != "" {
		return f.Message
	}
	return f.Error()
}

// Foreign is the failure for an object whose name is taken by an object of someone else.
func Foreign(o Object) *fault.Error {
	return &fault.Error{Kind: fault.Exists, Operation: "Creating", Message: fmt.Sprintf(
		"an object of this name exists that the operator did not create for this tenant or plan (%s): delete or rename it", o.Ref())}
}

// Unsettled is the failure of an object that is not as it was applied: admission takes another one than was sent.
func Unsettled(o Object) *fault.Error {
	return &fault.Error{Kind: fault.Denied, Operation: "Applying", Message: fmt.Sprintf(
		"it was applied, but something immediately changes it back (%s): look for a webhook that changes such objects", o.Ref())}
}

// FieldOf names the field of the plan that an object comes from.
func FieldOf(o Object) string {
	switch o.Kind {
	case KindResourceQuota:
		return "spec.resourceQuota"
	case KindLimitRange:
		return "spec.limitRange"
	case KindNetworkPolicy:
		return "spec.networkIsolation"
	case KindRoleBinding:
		return "spec.owner"
	}
	return o.Ref()
}
