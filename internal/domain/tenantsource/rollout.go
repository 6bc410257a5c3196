package tenantsource

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/rollout"
)

// RolledOut is the condition of a source with a rollout.
const RolledOut chain.ConditionType = "RolledOut"

// The reasons of RolledOut.
const (
	AllRolledOut   chain.Reason = "RolledOut"
	RollingOut     chain.Reason = "RollingOut"
	RolloutPaused  chain.Reason = "RolloutPaused"
	RolloutStopped chain.Reason = "RolloutStopped"
	TenantsFailed  chain.Reason = "TenantsFailed"
	Undoing        chain.Reason = "Undoing"
	Undone         chain.Reason = "Undone"
	UndoImpossible chain.Reason = "UndoImpossible"
)

const (
	// inFlightAtMost is how long a tenant may take to be ready with a change before it counts as failed. A distribution
	// tenant is deployed in minutes.
	inFlightAtMost = 30 * time.Minute
	// countsEvery is how often figures that move are stored, while nothing else changes.
	countsEvery = 10 * time.Second
	// retriesRefused is the shortest pause after which a change that the API server refused is tried again.
	retriesRefused = time.Minute
)

// Look is what a rollout needs to know of an object.
type Look struct {
	Name, UID, Version, Revision string
	// Canary says that it has the labels of the canaries.
	Canary bool
	// Untouched says that its spec is the one that it was created with.
	Untouched bool
	// Ready and Stalled are those of its present spec, Failure what it says of itself. Since is since when it has not been
	// Ready.
	Ready, Stalled bool
	Failure        string
	Since          time.Time
	// Disabled says that the source has disabled it because it has no row.
	Disabled bool
}

// Rolling is a rollout on its way, as the process knows it.
type Rolling struct {
	Memory RolloutMemory
	// Staged are the changes that were not made when the table was last read, by UID.
	Staged map[string]Staged
	// Released are those that were made since, with the time; Landed are those that were seen to be ready with it.
	Released map[string]time.Time
	Landed   map[string]bool
	// Refused are those that the API server refused.
	Refused map[string]Refusal
	// Rows are the names of which the table had rows, Settled those of objects that are as the version says without having
	// got it.
	Rows, Settled map[string]bool
	// Began are those that had the version when the rollout began, nil until they are known.
	Began map[string]bool
	// Counted is when the figures were last stored.
	Counted time.Time
}

// Refusal is that of a change.
type Refusal struct {
	Reason string
	At     time.Time
	body   []byte
}

// Refuse notes that the API server refused what was to be made of an object.
func (r *Rolling) Refuse(uid, reason string, now time.Time) {
	r.Refused[uid] = Refusal{Reason: reason, At: now, body: r.Staged[uid].body}
}

// Going reports whether the rollout needs to know what becomes of the objects.
func (r *Rolling) Going() bool { return r != nil && (!r.Memory.Complete || r.Memory.Failing) }

// RolloutSpec is what the spec says of a rollout.
type RolloutSpec struct {
	Limits rollout.Limits
	Undo   bool
	// Version is that of the spec.
	Version Version
}

// rolloutMemory is what the process knows, or else status.
func (in Input) rolloutMemory() RolloutMemory {
	if r := in.Session.Rolling; r != nil {
		return r.Memory
	}
	return in.Memory.Rollout
}

// NextRollout is the memory of the rollout that a poll of this spec belongs to.
func (in Input) NextRollout() RolloutMemory {
	return in.rolloutMemory().Next(in.Rollout.Version, in.Rollout.Undo)
}

// roll takes what a read has left to the rollout. Tenants with an older version whose rows are back are a rollout again.
func (in Input) roll(h *Harvest) *Rolling {
	if in.Rollout == nil || in.DryRun {
		return nil
	}
	r := &Rolling{Memory: in.NextRollout(), Staged: make(map[string]Staged, len(h.Staged)), Released: map[string]time.Time{}, Landed: map[string]bool{}, Refused: map[string]Refusal{}}
	for _, s := range h.Staged {
		r.Staged[s.UID] = s
	}
	if r.Memory.Complete && len(r.Staged) > 0 {
		r.Memory.reopen()
	}
	if r.Going() {
		r.Rows, r.Settled = h.present, h.settled
	}
	in.goOn(r)
	return r
}

// goOn takes over what is known of the rollout, unless it has just begun. One that had ended well begins again.
func (in Input) goOn(r *Rolling) {
	before, was := in.rolloutMemory(), in.Session.Rolling
	switch {
	case before.Revision != r.Memory.Revision || before.Complete && !before.Failing && !r.Memory.Complete:
	case was != nil:
		r.Released, r.Landed, r.Began, r.Counted = was.Released, was.Landed, was.Began, was.Counted
		r.retry(was.Refused)
	default:
		// Of those that have the version, it is not known whether they had it before.
		r.Began = map[string]bool{}
	}
}

// retry keeps refusals of what is still to be made of the objects.
func (r *Rolling) retry(refused map[string]Refusal) {
	for uid, refusal := range refused {
		if s, waits := r.Staged[uid]; waits && bytes.Equal(s.body, refusal.body) {
			r.Refused[uid] = refusal
		}
	}
}

// again are at most so many of those whose change was refused, those that wait longest first. They have failed until a new
// try succeeds.
func (r *Rolling) again(now time.Time, most int) []string {
	var uids []string
	for uid, refusal := range r.Refused {
		if now.Sub(refusal.At) >= retriesRefused && !r.Staged[uid].Busy {
			uids = append(uids, uid)
		}
	}
	slices.SortFunc(uids, func(a, b string) int {
		return cmp.Or(r.Refused[a].At.Compare(r.Refused[b].At), strings.Compare(a, b))
	})
	return uids[:min(len(uids), max(most, 0))]
}

// Rolls reports whether a rollout is on its way that needs to know what becomes of the objects.
func (s *Session) Rolls() bool { return s.Rolling.Going() }

// waiting are the names of those objects of the rows that wait for the rollout. What it will make of them was found out with the
// poll before: if a row changes until then, that has to be found out again.
func (r *Rolling) waiting(h *Harvest, now time.Time) map[string]bool {
	names := map[string]bool{}
	for _, s := range h.Staged {
		names[s.Name] = true
	}
	if r == nil {
		return names
	}
	for uid, s := range r.Staged {
		if h.present[s.Name] && !r.given(uid, now) {
			names[s.Name] = true
		}
	}
	return names
}

// given reports whether the rollout has made its change of the object, and will not try it again. One that has left no trace
// in time is tried again.
func (r *Rolling) given(uid string, now time.Time) bool {
	at, released := r.Released[uid]
	_, refused := r.Refused[uid]
	return released && !refused && now.Sub(at) < inFlightAtMost
}

// Wrote notes that an object of that name was written as its row wants it, since the poll that the rollout belongs to.
func (r *Rolling) Wrote(name string) {
	if r.Going() && r.Rows != nil {
		r.Rows[name] = true
	}
}

// members are the tenants, most of which a rollout may have nothing to do with. left is how many have an older version, and
// no usable row that says what they would be.
func (in Input) members() (out []rollout.Member, left int) {
	r := in.Session.Rolling
	in.begin()
	for _, l := range in.Looks {
		m := in.member(l)
		out = append(out, m)
		if _, waits := r.Staged[l.UID]; m.State == rollout.Exempt && !waits && !in.has(l) && !r.Settled[l.Name] {
			left++
		}
	}
	return out, left
}

// has reports whether a tenant has the version.
func (in Input) has(l Look) bool {
	goal := in.Session.Rolling.Memory.Revision
	return goal != "" && l.Revision == goal
}

// begin notes which tenants have the version before the rollout has given it to any.
func (in Input) begin() {
	r := in.Session.Rolling
	if r.Began != nil {
		return
	}
	r.Began = map[string]bool{}
	for _, l := range in.Looks {
		if in.has(l) {
			r.Began[l.UID] = true
		}
	}
}

// member is a tenant as the rollout sees it. What was created with the version is Exempt, also once its row changes.
func (in Input) member(l Look) rollout.Member {
	r := in.Session.Rolling
	m := rollout.Member{Name: l.Name, UID: l.UID, Canary: l.Canary, Uneasy: !l.Ready}
	s, waits := r.Staged[l.UID]
	at, released := r.Released[l.UID]
	refusal, refused := r.Refused[l.UID]
	switch {
	case in.has(l) && !released && (l.Untouched || r.Began[l.UID]):
		r.Began[l.UID] = true
	case in.has(l):
		m.State, m.Failure = in.judgeTried(l)
	case !waits && !r.Rows[l.Name] && in.removes(l):
		m.State = rollout.Held
	case !waits:
	case s.Broken != "":
		m.State, m.Failure = rollout.Unfit, s.Broken
	case refused:
		m.State, m.Failure, m.Lacks = rollout.Failed, refusal.Reason, true
	case released && in.Now.Sub(at) < inFlightAtMost:
		m.State = rollout.InFlight
	case s.Busy || len(s.body) == 0:
		m.State = rollout.Held
	default:
		m.State = rollout.Waiting
	}
	return m
}

// removes reports whether a tenant without a row is to be deleted or disabled, which the guard may still hold.
func (in Input) removes(l Look) bool {
	return in.Policy == PolicyDelete || in.Policy == PolicyDisable && !l.Disabled
}

// judgeTried says what became of a tenant with the change. Once it was ready, a row that changes later is its own matter.
func (in Input) judgeTried(l Look) (rollout.State, string) {
	r := in.Session.Rolling
	switch {
	case l.Ready:
		r.Landed[l.UID] = true
		return rollout.Applied, ""
	case l.Stalled:
		return rollout.Failed, l.Failure
	case r.Landed[l.UID]:
		return rollout.Applied, ""
	}
	since, known := r.Released[l.UID]
	if !known {
		// The process before this one has released it, not after that.
		since = in.Now
		if !l.Since.IsZero() && l.Since.Before(since) {
			since = l.Since
		}
		r.Released[l.UID] = since
	}
	if in.Now.Sub(since) >= inFlightAtMost {
		return rollout.Failed, fmt.Sprintf("not ready after %s. %s", span(inFlightAtMost), l.Failure)
	}
	return rollout.InFlight, ""
}

// rolls reports whether the rollout may go on between two polls. A failed poll changes nothing, and neither does a
// rollout after it.
func (in Input) rolls() bool {
	s := in.Session
	return in.Rollout != nil && !in.DryRun && s.Round == nil && s.Rolls() && s.Failures == 0 && s.Generation == in.Generation
}

// advance is how far the rollout has come. left is how many tenants it leaves out.
func (in Input) advance() (a rollout.Rollout, left int) {
	r := in.Session.Rolling
	limits := in.Rollout.Limits
	limits.Paused = limits.Paused || r.Memory.Revision == ""
	members, left := in.members()
	return rollout.Advance(in.Now, r.Memory.Revision, members, limits, r.Memory.Progress), left
}

// rolled brings the change to the next tenants. The rows are those of the last complete read.
func (in Input) rolled() (Decision, bool) {
	if !in.rolls() {
		return pass()
	}
	// It is later than now, or another rule had read.
	read := in.looks().Sub(in.Now)
	if in.Early > 0 {
		return Decision{Step: Rest, After: min(in.Early, read)}, true
	}
	a, _ := in.advance()
	if limits := in.Rollout.Limits; !limits.Paused {
		a.Release = append(a.Release, in.Session.Rolling.again(in.Now, limits.MaxConcurrent-a.InFlight-len(a.Release))...)
	}
	if len(a.Release) > 0 {
		return Decision{Step: Release, Release: a.Release, Progress: a.Progress}, true
	}
	after := rollout.Soonest(read, a.Again)
	if a.InFlight > 0 {
		after = min(after, inFlightAtMost)
	}
	return Decision{Step: Rest, After: after}, true
}

// RolloutReport is what status says of a rollout.
type RolloutReport struct {
	Memory RolloutMemory
	// Counts are known where the objects were looked at.
	Counts  *rollout.Rollout
	Message string
}

// concludeRollout reports how far the rollout has come; nil where there is nothing new to say.
func (in Input) concludeRollout() (*RolloutReport, []chain.Condition) {
	s := in.Session
	if !in.rolls() || in.Early > 0 {
		return nil, nil
	}
	a, left := in.advance()
	m := s.Rolling.Memory
	m.Progress, m.Complete, m.Failing = a.Progress, m.Complete || a.Reached() && m.Revision != "", !a.Done()
	if m.Complete {
		m.Progress, m.Left = rollout.Progress{}, left
	}
	c := in.rolledOut(a, m)
	return &RolloutReport{Memory: m, Counts: &a, Message: c.Message}, []chain.Condition{c}
}

func (in Input) rolledOut(a rollout.Rollout, m RolloutMemory) chain.Condition {
	c := chain.Condition{Type: RolledOut}
	say := func(reason chain.Reason, format string, args ...any) chain.Condition {
		c.Reason, c.Message = reason, fmt.Sprintf(format, args...)
		return c
	}
	switch {
	case m.Revision == "":
		return say(UndoImpossible, "spec.rollout.undo is set, but the version that the tenants had before is not known. No tenant is changed: restore the former spec, and remove spec.rollout.undo")
	case in.Rollout.Undo && m.Complete:
		return say(Undone, "spec.rollout.undo is set, and all tenants have the former version of the spec. Correct the spec and remove spec.rollout.undo to roll it out")
	case m.Complete && a.Failed > 0:
		return say(TenantsFailed, "%s failed with the change. %s", prose.Count(a.Failed, "tenant", "tenants"), a.First)
	case m.Complete:
		c.Status = true
		return say(AllRolledOut, "%s", complete(m.Left))
	case a.Stopped:
		return say(RolloutStopped, "%s, so the rollout is stopped. %s", failures(a), a.First)
	case in.Rollout.Undo && a.Waiting > 0:
		return say(Undoing, "the tenants are given the former version of the spec back")
	case a.Paused:
		return say(RolloutPaused, "spec.rollout.paused is set, so the change of the spec reaches no more tenants. Remove it to continue")
	case a.Waiting > 0:
		return say(RollingOut, "a change of the spec is being rolled out%s", a.NextStep(in.Now))
	}
	return say(TenantsFailed, "%s failed with the change. %s", prose.Count(a.Failed, "tenant", "tenants"), a.First)
}

// complete says who has the version.
func complete(left int) string {
	if left == 0 {
		return "all tenants have the current version of the spec"
	}
	return fmt.Sprintf("all tenants with a usable row have the current version of the spec; %s an older one", prose.Count(left, "tenant has", "tenants have"))
}

// failures says how many have failed.
func failures(a rollout.Rollout) string {
	tried := fmt.Sprintf("%d of the first %d tenants failed with the change", a.Broken(), a.Tried())
	canaries := ""
	if a.UnfitCanaries > 0 {
		canaries = fmt.Sprintf(", with %s among them", prose.Count(a.UnfitCanaries, "canary", "canaries"))
	}
	switch {
	case a.Unfit == 0:
		return tried
	case a.Broken() == 0:
		return fmt.Sprintf("%d of %d tenants can't have the change%s", a.Unfit, a.Tenants, canaries)
	}
	return fmt.Sprintf("%s, and %s can't have it%s", tried, prose.Count(a.Unfit, "other", "others"), canaries)
}

// Wait is how long figures that move are not stored yet.
func (r *Rolling) Wait(now time.Time) time.Duration { return countsEvery - now.Sub(r.Counted) }
