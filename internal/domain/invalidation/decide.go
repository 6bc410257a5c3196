package invalidation

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

type rule = chain.Rule[Input, Decision]

// The pauses of an object that waits.
const (
	// storePause is the pause before the step that has to wait for status to be stored.
	storePause = 10 * time.Millisecond
	// heldPause is for what wakes the object when it changes, in case the wake is lost.
	heldPause = 10 * time.Minute
	// keptPause is how often a finished object looks whether others have finished since.
	keptPause = 10 * time.Minute
	// FullPause is the pause after AWS had as many in progress as it takes.
	FullPause = time.Minute
)

// following is the schedule on which AWS is asked for the state: paths are usually gone within a minute or two, and
// sometimes much later.
var following = retry.Backoff{First: retry.FollowEvery, Last: 5 * time.Minute}

// Chains lists the rules in their order. An object that is being deleted needs none, as nothing has to be undone.
func Chains() (living, removal []chain.Entry) { return chain.List(rules()), nil }

func rules() []rule {
	return []rule{
		chain.Ask("Expired", "A finished object is deleted after spec.ttlAfterFinished, or when 20 others of the namespace have finished after it.", expired),
		chain.Ask("Finished", "What has finished is never requested again.", finished),
		chain.Ask("Stored", "The tenants are stored before anything is requested for them.", stored),
		chain.Ask("Refilled", "Of more than 100 tenants, the next ones are chosen before the others are all requested.", refilled),
		chain.Ask("Followed", "AWS is asked how far accepted invalidations are, less and less often.", followed),
		chain.Ask("Held", "Nothing is requested while the object is paused, its namespace has no right to, or all writes are stopped.", held),
		chain.Ask("Selected", "The spec selects at least one tenant that is in AWS. One that is not there yet is waited for, up to an hour.", selected),
		chain.Ask("Limited", "The namespace has not requested too many paths in the last 24 hours.", limited),
		chain.Ask("Chosen", "The tenants are chosen once. Tenants that come later are not included.", choose),
		chain.Ask("Lost", "A tenant that is gone or was created again is not requested.", lost),
		chain.Ask("Room", "The next request waits for a minute after AWS had too many invalidations in progress, and while the object alone has as many as AWS allows.", room),
		chain.Ask("Requested", "Each tenant is requested once, one after the other.", requested),
	}
}

// Decide picks the next step.
func Decide(in Input) Decision {
	d, name, fires := chain.Decide(rules(), in)
	if !fires {
		return Decision{Rule: "Idle", Step: Rest{After: in.nextLook()}}
	}
	d.Rule = name
	return d
}

func do(s Step) (Decision, bool) { return Decision{Step: s}, true }

func pass() (Decision, bool) { return Decision{}, false }

func wait(after time.Duration, reason chain.Reason, format string, args ...any) (Decision, bool) {
	return Decision{Step: Rest{After: after}, Problem: &chain.Problem{Reason: reason, Message: fmt.Sprintf(format, args...)}}, true
}

func fail(reason chain.Reason, format string, args ...any) (Decision, bool) {
	return do(Fail{Reason: reason, Message: fmt.Sprintf(format, args...)})
}

func expired(in Input) (Decision, bool) {
	if in.World.Deleted {
		return do(Rest{})
	}
	if in.finished() && !in.World.Unsaved && (in.World.Newer >= KeptObjects || !in.Now.Before(in.Memory.Finished.Add(in.TTL))) {
		return do(Expire{})
	}
	return pass()
}

func finished(in Input) (Decision, bool) {
	if !in.finished() {
		return pass()
	}
	return do(Rest{After: min(keptPause, in.Memory.Finished.Add(in.TTL).Sub(in.Now))})
}

func stored(in Input) (Decision, bool) {
	if in.World.Unsaved {
		return do(Rest{After: storePause})
	}
	return pass()
}

func followed(in Input) (Decision, bool) {
	if in.World.Looked >= looksInPass {
		return pass()
	}
	for _, t := range in.Memory.Tenants {
		if t.State == InProgress && !in.World.Looks[t.Name].Due.After(in.Now) {
			return do(Follow{Tenant: t})
		}
	}
	return pass()
}

// held does not stop what AWS has accepted.
func held(in Input) (Decision, bool) {
	_, pending := in.pending()
	if in.started() && !pending {
		return pass()
	}
	switch h := in.World.Hold; {
	case h != nil:
		return Decision{Step: Rest{After: in.sooner(heldPause)}, Problem: &chain.Problem{Reason: h.Reason, Message: h.Message, Detail: h.Detail}}, true
	case in.Paused:
		return wait(in.sooner(heldPause), ReasonPaused, "Nothing is requested while the annotation cloudfront-tenant-operator.io/paused is set. Remove it to go on.%s", in.PausedNote)
	}
	return pass()
}

func selected(in Input) (Decision, bool) {
	if in.started() {
		return pass()
	}
	ready := in.ready()
	switch left := in.Created.Add(patience).Sub(in.Now); {
	case in.World.Invalid != "":
		return fail(ReasonValidationFailed, "spec.selector: %s. Create another Invalidation with a valid selector.", prose.Fit(in.World.Invalid, longestMessage))
	case len(ready) > 0 && in.unseen() != "" && left > 0:
		return wait(left, ReasonReferenceNotReady, "The status of the DistributionTenant %s does not tell yet whether it is in AWS. The invalidation waits until it does.", in.unseen())
	case len(ready) > 0:
		return pass()
	case left <= 0:
		return fail(ReasonInvalidationFailed, "%s Create another Invalidation if it is still needed.", in.missing())
	default:
		return wait(left, ReasonReferenceNotReady, "%s The invalidation waits for an hour.", in.missing())
	}
}

// ready are the tenants that may be invalidated now.
func (in Input) ready() []Target { return able(in.World.Targets) }

func able(targets []Target) []Target {
	return slices.DeleteFunc(slices.Clone(targets), func(t Target) bool { return t.TenantID == "" || t.Refused != "" })
}

// unseen is a tenant of which it is not known yet whether it is there. Empty: none.
func (in Input) unseen() string {
	for _, t := range in.World.Targets {
		if t.Unseen {
			return t.Name
		}
	}
	return ""
}

// missing says what there is no tenant for.
func (in Input) missing() string {
	if in.Tenant == "" {
		return "spec.selector: it selects no DistributionTenant that is in AWS."
	}
	switch targets := in.World.Targets; {
	case len(targets) == 0:
		return fmt.Sprintf("spec.tenantRef: there is no DistributionTenant %s in this namespace.", in.Tenant)
	case targets[0].Refused != "":
		return fmt.Sprintf("spec.tenantRef: the DistributionTenant %s has the reason %s, so that its tenant in AWS is not changed.", in.Tenant, targets[0].Refused)
	}
	return fmt.Sprintf("spec.tenantRef: the DistributionTenant %s is not in AWS yet.", in.Tenant)
}

// limited keeps the paths of a namespace within what it may request in a day.
func limited(in Input) (Decision, bool) {
	limit := in.World.PathsPerDay
	if in.started() || limit <= 0 {
		return pass()
	}
	wants := in.Paths * len(in.ready())
	if wants > limit {
		return fail(ReasonValidationFailed, "spec.paths: the invalidation would request %s (%d for each of %s), and a namespace may request %d in 24 hours (--invalidation-paths-per-day). Use fewer paths, such as /* for everything, or fewer tenants.",
			prose.Count(wants, "path", "paths"), in.Paths, prose.Count(len(in.ready()), "tenant", "tenants"), limit)
	}
	free := roomAt(in.World.Spent, wants, limit, in.Now)
	if !free.After(in.Now) {
		return pass()
	}
	return wait(free.Sub(in.Now), ReasonPathLimitReached, "The namespace may request %d paths in 24 hours (--invalidation-paths-per-day), and this invalidation needs %d. It goes on at %s.",
		limit, wants, free.UTC().Format(time.RFC3339))
}

// roomAt is when n paths fit into the limit.
func roomAt(spent []Spend, wants, limit int, now time.Time) time.Time {
	counted := slices.DeleteFunc(slices.Clone(spent), func(s Spend) bool { return !s.At.Add(window).After(now) })
	slices.SortFunc(counted, func(a, b Spend) int { return a.At.Compare(b.At) })
	used := 0
	for _, s := range counted {
		used += s.Paths
	}
	free := now
	for _, s := range counted {
		if used+wants <= limit {
			break
		}
		used -= s.Paths
		free = s.At.Add(window)
	}
	return free
}

func choose(in Input) (Decision, bool) {
	if in.started() {
		return pass()
	}
	rest := in.rest(in.ready())
	total := len(rest)
	return do(Choose{Tenants: rest[:min(MostTenants, total)], Total: total, Expected: in.Now.Add(in.expected(total)).Truncate(time.Second)})
}

// refilled works through a selection in the order of names: the last name in the list is how far it has come.
func refilled(in Input) (Decision, bool) {
	if !in.World.Listed || !in.Refills() {
		return pass()
	}
	rest := in.rest(able(in.World.Next))
	taken := min(in.free(), len(rest))
	return do(Refill{Tenants: rest[:taken], More: len(rest) - taken})
}

// rest are the targets whose names come after those in the list.
func (in Input) rest(targets []Target) (rest []Tenant) {
	for _, t := range targets {
		if len(in.Memory.Tenants) == 0 || t.Name > in.Memory.Tenants[len(in.Memory.Tenants)-1].Name {
			rest = append(rest, Tenant{Name: t.Name, TenantID: t.TenantID, State: Pending})
		}
	}
	slices.SortFunc(rest, func(a, b Tenant) int { return cmp.Compare(a.Name, b.Name) })
	return rest
}

func lost(in Input) (Decision, bool) {
	messages := map[string]string{}
	for _, t := range in.Memory.Tenants {
		if t.State != Pending {
			continue
		}
		if why := in.World.gone(t); why != "" {
			messages[t.Name] = why
		}
	}
	if len(messages) == 0 {
		return pass()
	}
	return do(GiveUp{Messages: messages})
}

// gone says why nothing can be requested for a tenant that was chosen.
func (w World) gone(t Tenant) string {
	for _, target := range w.Targets {
		switch {
		case target.Name != t.Name:
		case target.TenantID != t.TenantID:
			return "The tenant was deleted in AWS, or created again, before the invalidation was requested."
		case target.Refused != "":
			return fmt.Sprintf("The DistributionTenant has the reason %s, so that its tenant in AWS is not changed.", target.Refused)
		default:
			return ""
		}
	}
	return "The DistributionTenant was deleted before the invalidation was requested."
}

func room(in Input) (Decision, bool) {
	_, pending := in.pending()
	switch {
	case !pending:
		return pass()
	case in.count(InProgress) >= in.room():
		return do(Rest{After: in.nextLook()})
	case !in.World.FullUntil.After(in.Now):
		return pass()
	}
	return wait(in.sooner(in.World.FullUntil.Sub(in.Now)), ReasonTooManyInvalidations,
		"The AWS account has as many paths, or paths with a star, in progress as CloudFront allows. The operator tries again every minute.")
}

func requested(in Input) (Decision, bool) {
	if t, pending := in.pending(); pending {
		return do(Request{Tenant: t})
	}
	return pass()
}

// nextLook is the time to the next look that is due, or to the next choice, zero without one.
func (in Input) nextLook() (next time.Duration) {
	if in.Refills() {
		return storePause
	}
	for _, t := range in.Memory.Tenants {
		if t.State != InProgress {
			continue
		}
		if left := max(in.World.Looks[t.Name].Due.Sub(in.Now), storePause); next == 0 || left < next {
			next = left
		}
	}
	return next
}

// sooner is the pause, or the time to the next look if that is shorter.
func (in Input) sooner(pause time.Duration) time.Duration {
	if next := in.nextLook(); next > 0 {
		return min(pause, next)
	}
	return pause
}
