package invalidation

import (
	"fmt"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// Answer is what AWS says of an invalidation.
type Answer struct {
	ID   string
	Done bool
}

// Choose takes the tenants over. They have to be stored before anything is requested.
func (in *Input) Choose(s Choose) {
	in.Memory.Started, in.Memory.Tenants, in.World.Unsaved = in.Now, s.Tenants, true
	in.Memory.Total, in.Memory.Expected = s.Total, s.Expected
}

// Refill takes the next tenants over, like Choose. Those that have ended make room: all that are completed, and failed ones
// after the first.
func (in *Input) Refill(s Refill) {
	if len(s.Tenants) == 0 {
		in.Memory.Total, in.World.Unsaved = in.chosen(), true
		in.end()
		return
	}
	failures := 0
	in.Memory.Tenants = slices.DeleteFunc(in.Memory.Tenants, func(t Tenant) bool {
		if t.State == Failed {
			failures++
		}
		leaves := t.State == Completed || t.State == Failed && failures > keptFailures
		if leaves {
			in.Memory.Left = in.Memory.Left.plus(Counts([]Tenant{t}))
			delete(in.World.Looks, t.Name)
		}
		return leaves
	})
	in.Memory.Tenants, in.World.Unsaved = append(in.Memory.Tenants, s.Tenants...), true
	// Tenants have become able to be invalidated since the beginning, and others have gone.
	in.Memory.Total = in.chosen() + s.More
}

// GiveUp marks tenants as failed.
func (in *Input) GiveUp(s GiveUp) {
	for name, message := range s.Messages {
		in.fail(name, message)
	}
	in.end()
}

// Fail ends the invalidation.
func (in *Input) Fail() { in.Memory.Finished, in.World.Unsaved = in.Now, true }

// Requested takes over the answer to a request. An error that it returns says nothing of the tenant.
func (in *Input) Requested(name string, a Answer, err error) error {
	switch fault.KindOf(err) {
	case fault.None:
		in.set(name, func(t *Tenant) { t.State, t.InvalidationID = InProgress, a.ID })
		in.look(name, Look{Due: in.Now.Add(following.First)})
		if a.Done {
			in.set(name, func(t *Tenant) { t.State = Completed })
		}
	case fault.Quota:
		in.World.FullUntil = in.Now.Add(FullPause)
	case fault.NotFound:
		in.fail(name, "The tenant does not exist in AWS any more.")
	case fault.Exists, fault.Invalid, fault.InUse, fault.NotDisabled, fault.DomainTaken, fault.DomainUnverified:
		in.fail(name, "AWS refused the invalidation: "+err.Error())
	case fault.Throttled, fault.Transient, fault.Conflict, fault.Denied:
		return err
	}
	in.end()
	return nil
}

// Disowned marks a tenant whose tags in AWS don't name its object.
func (in *Input) Disowned(name string) {
	in.fail(name, "The owner tags of the tenant in AWS don't name this DistributionTenant, so that it was not changed.")
	in.end()
}

// Followed takes over the answer to a look. An error that it returns says nothing of the tenant.
func (in *Input) Followed(t Tenant, a Answer, err error) error {
	kind := fault.KindOf(err)
	if kind == fault.Throttled && fault.CodeOf(err) != "" && fault.RetryAfter(err) > 0 {
		// It was our own limiter, and the place in its queue is kept by asking again in time.
		return err
	}
	in.World.Looked++
	look := in.World.Looks[t.Name]
	look.Count++
	look.Due, look.Failure = in.Now.Add(following.Delay(look.Count)), nil
	if kind != fault.NotFound && alarming(err) {
		look.Failure = &chain.Problem{Reason: resource.ReasonOf(kind), Message: err.Error()}
	}
	in.look(t.Name, look)
	switch {
	case err == nil && a.Done:
		in.set(t.Name, func(t *Tenant) { t.State = Completed })
	case kind == fault.NotFound && in.World.gone(t) != "":
		in.fail(t.Name, "The tenant was deleted before the invalidation was completed.")
	case kind == fault.NotFound && in.Now.Sub(in.Memory.Started) >= lostAfter && look.Count >= lostLooks:
		in.fail(t.Name, fmt.Sprintf("AWS does not know the invalidation %s of the tenant any more.", t.InvalidationID))
	case kind == fault.NotFound:
		// Reads of AWS may lag behind its writes.
		return nil
	case err != nil:
		return err
	}
	in.end()
	return nil
}

// fail marks a tenant as failed.
func (in *Input) fail(name, message string) {
	in.set(name, func(t *Tenant) { t.State, t.Message = Failed, prose.Fit(message, longestMessage) })
}

// longestMessage is what status takes.
const longestMessage = 512

func (in *Input) set(name string, change func(*Tenant)) {
	for i := range in.Memory.Tenants {
		if in.Memory.Tenants[i].Name == name {
			change(&in.Memory.Tenants[i])
		}
	}
}

func (in *Input) look(name string, l Look) {
	if in.World.Looks == nil {
		in.World.Looks = map[string]Look{}
	}
	in.World.Looks[name] = l
}

// end notes that the last tenant has ended.
func (in *Input) end() {
	if in.finished() || !in.started() || in.chosen() < in.Memory.Total || slices.ContainsFunc(in.Memory.Tenants, func(t Tenant) bool { return !t.Ended() }) {
		return
	}
	in.Memory.Finished, in.World.Unsaved = in.Now, true
}

// SpentBy is what an object counts for, zero before its tenants are chosen.
func SpentBy(started time.Time, tenants, paths int) Spend {
	if started.IsZero() {
		return Spend{}
	}
	return Spend{At: started, Paths: tenants * paths}
}
