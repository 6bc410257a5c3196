package resource

import (
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

// MaxCorrections is how often a difference on one generation is corrected before it counts as one that does not go
// away. StableFor is how long a correction must have held for the count to start over.
const (
	MaxCorrections = 3
	StableFor      = 15 * time.Minute
)

// Failure remembers what is failing, for which generation, since when. It is written
// once per failure; the delay before the next try grows with its age.
type Failure struct {
	Reason     chain.Reason
	Generation int64
	Since      time.Time
}

// of returns the failure if it is of that generation.
func (f *Failure) of(generation int64) *Failure {
	if f == nil || f.Generation != generation {
		return nil
	}
	return f
}

// notConverging returns the failure if it is of corrections of that generation that did not take.
func (f *Failure) notConverging(generation int64) *Failure {
	if f = f.of(generation); f == nil || f.Reason != ReasonDriftNotConverging {
		return nil
	}
	return f
}

// NextTry says when the next try is due, for a caller that asks at now or last tried then.
func (f Failure) NextTry(now time.Time) time.Time {
	if f.Since.After(now) {
		// A clock that is ahead, or a user, wrote it: nothing waits for a time that is yet to come.
		f.Since = now
	}
	switch f.Reason {
	case ReasonCertificateFailed:
		return retry.Certificates.Next(f.Since, now)
	case ReasonDomainValidationPending:
		return retry.Proof.Next(f.Since, now)
	default:
		return retry.Usual.Next(f.Since, now)
	}
}

// Tries is what the running process remembers of what it tried for a resource of any kind. Losing
// it in a restart costs a call or two, never correctness.
type Tries struct {
	// Last is when something was last tried that then failed. Zero: never here.
	Last time.Time
	// Asked means that a user asked for a try that has no answer yet: where names
	// are published first it takes more than one pass.
	Asked bool
	// Heard is the token with which a user last asked.
	Heard string
	// AcceptedFor is the generation that AWS last accepted a write for, Accepted the kinds of
	// writes for it. Corrections counts those that were sent for it once more.
	AcceptedFor    int64
	Accepted       Write
	Corrections    int
	LastCorrection time.Time
	// CreatedAt is when a create was last accepted.
	CreatedAt time.Time
	// Announced is the mark of the last create that this process announced, to the second. Unanswered is true while a
	// create of its grace period may still be on its way: one whose answer was lost, or one of another process.
	Announced  time.Time
	Unanswered bool
	// CreatedWith are the keys of users' tags that creates of this process may have set. Status has none of them until it is
	// stored, and the spec may drop one before. The tags of a resource that is adopted were there before.
	CreatedWith []string
	// MarkDoubted is when a create mark that can't be true was first seen.
	MarkDoubted time.Time
	// DeleteRefused is the ETag with which a deletion was refused.
	DeleteRefused string
	// DeletedAt is when a deletion was accepted. Confirmed means that AWS has deleted the resource then, and not just
	// failed to find it.
	DeletedAt time.Time
	Confirmed bool
	// Transients counts the failures in a row that said nothing.
	Transients int
	// Conflicts counts those in a row that only said that something has changed.
	Conflicts int
}

// Write is a set of kinds of writes. One edit of a spec may need one of each.
type Write uint8

// The kinds of writes.
const (
	WroteConfig Write = 1 << iota
	WroteTags
	RemovedTags
)

// Sent notes that AWS accepted a write for the generation. Each further one of its kind corrects what did not last; a
// count that has held for a while starts over. A write that was only a part of what the generation asks for is of no
// kind.
func (a *Tries) Sent(generation int64, w Write, now time.Time) {
	if a.AcceptedFor != generation {
		a.Accepted = 0
	}
	if a.AcceptedFor != generation || now.Sub(a.LastCorrection) > StableFor {
		a.Corrections = 0
	}
	if a.Accepted&w != 0 {
		a.Corrections++
		a.LastCorrection = now
	}
	a.AcceptedFor, a.Accepted = generation, a.Accepted|w
}

// Ended notes how a pass over the object ended, for the next one. problem is what stopped the pass.
func (a *Tries) Ended(o Object, m Memory, problem *chain.Problem, err error) {
	switch {
	case fault.Is(err, fault.Transient) && fault.Classified(err):
		a.Transients++
	case fault.Is(err, fault.Conflict, fault.NotFound):
		a.Conflicts++
	case err == nil:
		a.Transients, a.Conflicts = 0, 0
	}
	if o.Nudged {
		a.Asked, a.Heard = true, o.Token
	}
	if problem != nil && problem.Stuck && err == nil {
		a.Last, a.Asked = o.Now, false
	}
	if m.Failure == nil {
		a.Asked = false
	}
	if m.AppliedGeneration == o.Generation {
		// Keys that were created and are not wanted any more are gone, and status has the rest.
		a.CreatedWith = nil
	}
}

// Wants reports whether a user asks to look again: with a token that is not the one that status has as answered, and
// that no try is under way for. One that is new is heard while a try is under way, which may take days.
func (a *Tries) Wants(token, answered string) bool {
	underway := a.Asked && token == a.Heard
	return token != "" && token != answered && !underway
}

// Answered reports whether a look that a user asked for has ended, with that failure, if any. If it has not, the token
// must not be in status: another process would consider it answered.
func (a *Tries) Answered(failure *Failure) bool { return !a.Asked || failure == nil }

// Announce notes the mark under which a create is about to be sent, once it is stored: an object that was read from a cache
// may lack the mark of another process. before is the mark that the object had.
func (a *Tries) Announce(before, mark time.Time) {
	fresh := !before.IsZero() && mark.Sub(before) < GracePeriod
	own := before.Truncate(time.Second).Equal(a.Announced)
	a.Unanswered = fresh && (!own || a.Unanswered)
	a.Announced = mark.Truncate(time.Second)
}

// CreateEnded notes how a create that was announced, and sent with those keys of users' tags, ended. A refusal is an answer,
// too: nothing has the tags then.
func (a *Tries) CreateEnded(err error, sent time.Time, keys []string) {
	switch {
	case err == nil:
		a.CreatedAt = sent
	case fault.Is(err, fault.Transient):
		a.Unanswered = true
	default:
		return
	}
	a.CreatedWith = append(slices.Clone(a.CreatedWith), keys...)
}

// CreatedLately reports whether this process saw a create accepted so lately that AWS may not show it.
func (a *Tries) CreatedLately(now time.Time) bool {
	return !a.CreatedAt.IsZero() && now.Sub(a.CreatedAt) < GracePeriod
}

// MayAppear reports whether anything that was created under marks up to this one may still be on its way, or not show
// yet. A resource that was created and then deleted is gone for good.
func (a *Tries) MayAppear(mark time.Time) bool {
	known := !a.Announced.IsZero() && !mark.Truncate(time.Second).After(a.Announced) && !a.Unanswered
	deleted := !a.DeletedAt.IsZero() && !a.DeletedAt.Before(a.CreatedAt)
	return !known || !a.CreatedAt.IsZero() && !deleted
}

// Removed reports whether AWS has confirmed the deletion, and no create under marks up to this one can have taken effect
// after it.
func (a *Tries) Removed(mark time.Time) bool {
	return a.Confirmed && (a.DeletedAt.Sub(mark) >= GracePeriod || !a.MayAppear(mark))
}

// Marked is when a create was announced, according to the mark of an object that was created at born. A mark that can't
// be true, because it is not a time, or is in the future or before the object's creation, counts as set when it was
// first seen: a wait that is too long is better than a lost resource, or an object that is never deleted.
func (a *Tries) Marked(mark string, born, now time.Time) time.Time {
	t, err := time.Parse(time.RFC3339, mark)
	// The clocks of the API server and of another replica need not agree to the second.
	if err == nil && t.After(born.Add(-GracePeriod)) && t.Before(now.Add(GracePeriod)) {
		return t
	}
	if a.MarkDoubted.IsZero() {
		a.MarkDoubted = now
	}
	return a.MarkDoubted
}

// fruitless reports whether that generation was corrected often enough to know that AWS does not keep it, or that
// something else keeps changing it back. Once the failure in status reports this, one correction is sent at each time
// that the schedule of failures names, or when a user asks.
func (a *Tries) fruitless(generation int64, failure *Failure, nudged bool, now time.Time) bool {
	if f := failure.notConverging(generation); f != nil {
		last := a.LastCorrection
		if last.IsZero() {
			last = a.Last
		}
		if nudged && now.Sub(last) >= retry.FirstRetry {
			return false
		}
		return now.Before(f.NextTry(last))
	}
	return a.AcceptedFor == generation && a.Corrections >= MaxCorrections && now.Sub(a.LastCorrection) < StableFor
}
