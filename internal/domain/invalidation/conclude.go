package invalidation

import (
	"fmt"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// Outcome is how a pass ended.
type Outcome struct {
	Decision Decision
	// Failed is set where the pass ended the invalidation before its tenants were chosen.
	Failed *Fail
	// Err is what ended the pass.
	Err error
}

// Conclude says what the conditions are after a pass. Those of an object that had finished before stay as they are.
func Conclude(in Input, out Outcome) []chain.Condition {
	list := []chain.Condition{ready(in, out)}
	if a := in.World.Audited; a != nil && !in.finished() {
		granted := chain.Audited(*a)
		granted.Generation = in.Generation
		list = append(list, granted)
	}
	return list
}

func ready(in Input, out Outcome) chain.Condition {
	c := chain.Condition{Type: chain.Ready, Generation: in.Generation}
	say := func(reason chain.Reason, message string) chain.Condition {
		c.Reason, c.Message = reason, message
		return c
	}
	problem := out.Decision.Problem
	switch {
	case out.Failed != nil:
		return say(out.Failed.Reason, out.Failed.Message)
	case in.finished() && !in.World.Unsaved:
		return in.Memory.Ready
	case in.finished():
		c.Status = in.failures() == ""
		if c.Status {
			return say(ReasonCompleted, "The paths are removed from the caches of CloudFront.")
		}
		return say(ReasonInvalidationFailed, in.failures())
	case alarming(out.Err):
		return say(resource.ReasonOf(fault.KindOf(out.Err)), out.Err.Error())
	case out.Err != nil && in.Memory.Ready.Reason != "":
		// Nothing new is known.
		return in.Memory.Ready
	case in.lookFailure() != nil:
		return say(in.lookFailure().Reason, in.lookFailure().Message)
	case problem != nil:
		return say(problem.Reason, problem.Message)
	}
	if _, pending := in.pending(); pending || !in.started() || in.chosen() < in.Memory.Total {
		return say(ReasonPending, in.progress())
	}
	return say(ReasonInProgress, "AWS is removing the paths from the caches of CloudFront.")
}

// progress says how far the requests are, and when the last tenant will be completed.
func (in Input) progress() string {
	if in.Memory.Total < 2 {
		return "The invalidation is about to be requested from AWS."
	}
	return fmt.Sprintf("%d of %d tenants are requested from AWS, as fast as it documents. The last is expected to be completed at %s.",
		in.Totals().Requested, in.Memory.Total, in.Memory.Expected.UTC().Format(time.RFC3339))
}

// alarming distinguishes problems that a user should see from problems that the next pass settles. An error that is not
// of AWS is one of the API server, and is in the log.
func alarming(err error) bool {
	switch fault.KindOf(err) {
	case fault.None, fault.Throttled, fault.Conflict, fault.NotFound:
		return false
	default:
		return fault.Classified(err)
	}
}

// lookFailure is why the last look at a tenant failed that is still followed.
func (in Input) lookFailure() *chain.Problem {
	for _, t := range in.Memory.Tenants {
		if f := in.World.Looks[t.Name].Failure; f != nil && t.State == InProgress {
			return f
		}
	}
	return nil
}

// failures says which tenants have failed, empty if none has.
func (in Input) failures() string {
	var names []string
	var first Tenant
	failed := in.Totals().Failed
	for _, t := range in.Memory.Tenants {
		if t.State != Failed {
			continue
		}
		if len(names) == 0 {
			first = t
		}
		names = append(names, t.Name)
	}
	switch failed {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("The tenant %s was not invalidated: %s", first.Name, first.Message)
	}
	if failed > len(names) {
		names = append(names, "others")
	}
	return fmt.Sprintf("%d of %d tenants were not invalidated: %s. status.tenants says why. The first: %s", failed, in.Memory.Total, prose.List(names), first.Message)
}

// Created tells which invalidations a pass has created in AWS. before are the tenants as status had them.
func Created(before, after []Tenant) []chain.Event {
	var created []string
	for _, t := range after {
		known := slices.ContainsFunc(before, func(b Tenant) bool { return b.Name == t.Name && b.InvalidationID == t.InvalidationID })
		if t.InvalidationID != "" && !known {
			created = append(created, fmt.Sprintf("%s (tenant %s)", t.InvalidationID, t.Name))
		}
	}
	if len(created) == 0 {
		return nil
	}
	return []chain.Event{{Reason: resource.EventCreated, Message: fmt.Sprintf("Created %s.", prose.List(created))}}
}

// Events tells how the invalidation has ended, and what a user has to see before that, once. before is the reason that
// Ready had.
func Events(before chain.Reason, ready chain.Condition) []chain.Event {
	if ready.Reason == before || quiet(ready.Reason) {
		return nil
	}
	return []chain.Event{{Warning: !ready.Status, Reason: string(ready.Reason), Message: prose.Sentence(ready.Message)}}
}

// quiet reports whether a reason passes without an action, or was asked for.
func quiet(r chain.Reason) bool {
	switch r {
	case ReasonPending, ReasonInProgress, ReasonReferenceNotReady, ReasonTooManyInvalidations, ReasonPaused:
		return true
	default:
		return false
	}
}

// Told are the reasons that become events.
func Told() (normal, alarms []chain.Reason) {
	return []chain.Reason{ReasonCompleted}, []chain.Reason{
		ReasonInvalidationFailed, ReasonPathLimitReached, ReasonValidationFailed, resource.ReasonAccessDenied, resource.ReasonAWSError, resource.ReasonAWSUnavailable,
		resource.ReasonWrongAccount, grant.NotGranted, resource.ReasonClusterMoved, resource.ReasonClusterIDChanged, frozen,
	}
}

// frozen is the reason of a halt that an administrator has asked for.
const frozen chain.Reason = "Frozen"
