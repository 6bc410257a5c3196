// Package invalidation decides what becomes of an Invalidation: which tenants it is for, when each is requested from AWS,
// how it is followed, and when the object is deleted.
package invalidation

import (
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
)

// The reasons. The api package carries the same words as its contract; a test keeps the two equal.
const (
	ReasonCompleted            chain.Reason = "Completed"
	ReasonPending              chain.Reason = "Pending"
	ReasonInProgress           chain.Reason = "InProgress"
	ReasonTooManyInvalidations chain.Reason = "TooManyInvalidations"
	ReasonPathLimitReached     chain.Reason = "PathLimitReached"
	ReasonInvalidationFailed   chain.Reason = "InvalidationFailed"
	ReasonReferenceNotReady    chain.Reason = "ReferenceNotReady"
	ReasonValidationFailed     chain.Reason = "ValidationFailed"
	ReasonPaused               chain.Reason = "Paused"
)

const (
	// MostTenants is how many tenants are in status at the same time. Of more, the next ones replace those that have ended.
	MostTenants = 100
	// keptFailures are how many failed tenants stay in status, with their messages, when others need the room.
	keptFailures = 20
	// refilledBelow is the number of waiting tenants below which the next ones are chosen, so that requests never stop, if
	// there is room for as many.
	refilledBelow = 20
	// mostPaths and mostStars are AWS's quotas of paths, without and with a star, that may be in progress in an account.
	mostPaths, mostStars = 3_000, 15
	// usual is how long a tenant is expected to be in progress: a minute in AWS, and the time until that is noticed.
	usual = 75 * time.Second
	// KeptObjects is how many finished objects of a namespace are kept.
	KeptObjects = 20
	// patience is how long an object waits for its tenants to be in AWS.
	patience = time.Hour
	// window is the time over which the paths of a namespace are counted.
	window = 24 * time.Hour
	// looksInPass bounds the reads of one pass, so that it ends in time.
	looksInPass = 8
	// lostAfter and lostLooks are how long an invalidation may be unknown to AWS after it was accepted: eight looks take
	// twenty minutes.
	lostAfter, lostLooks = time.Hour, 8
)

// State says how far the invalidation of one tenant is.
type State string

// The states.
const (
	Pending    State = "Pending"
	InProgress State = "InProgress"
	Completed  State = "Completed"
	Failed     State = "Failed"
)

// Tenant is one that was chosen, and what has become of its invalidation.
type Tenant struct {
	Name, TenantID string
	State          State
	InvalidationID string
	Message        string
}

// Ended reports whether nothing is left to do for the tenant.
func (t Tenant) Ended() bool { return t.State == Completed || t.State == Failed }

// Target is a DistributionTenant as it is now.
type Target struct {
	Name string
	// TenantID is its ID in AWS, empty while it is not there.
	TenantID string
	// Refused is the reason for which the tenant in AWS is not the object's, or is not to be changed for it.
	Refused chain.Reason
	// Unseen says that the tenant may be there, and that its status does not tell yet.
	Unseen bool
}

// Spend are the paths that an object has requested.
type Spend struct {
	At    time.Time
	Paths int
}

// Look is when AWS is next asked for the state of an invalidation, and how often it was asked.
type Look struct {
	Count int
	Due   time.Time
	// Failure is why the last look failed, nil if it did not. The condition keeps it until the next look.
	Failure *chain.Problem
}

// Totals count tenants: how many AWS has accepted an invalidation for, and how many have ended.
type Totals struct{ Requested, Completed, Failed int }

// Memory is what status has.
type Memory struct {
	Started, Expected, Finished time.Time
	// Tenants are those that are worked on, in the order of their names, and Total is the number of all. Left counts those that
	// were in the list.
	Tenants []Tenant
	Total   int
	Left    Totals
	// Ready is the condition, with an empty reason while there is none.
	Ready chain.Condition
}

// World is what is known of everything else.
type World struct {
	// Targets are the tenants that the spec selects and, once they are chosen, those that have not ended.
	Targets []Target
	// Next are the tenants that the selector selects now, of those that existed when it was resolved. They are only looked up
	// when some have to be chosen, and then Listed is set.
	Next   []Target
	Listed bool
	// Invalid says what is wrong with the selector.
	Invalid string
	// Spent are what other objects of the namespace have requested, PathsPerDay how many may be; 0: any number.
	Spent       []Spend
	PathsPerDay int
	// Newer are how many objects of the namespace have finished after this one.
	Newer int
	// Hold says why nothing may be requested; nil while it may.
	Hold *chain.Halt
	// Looks are by the names of tenants. One that is missing is due.
	Looks map[string]Look
	// Looked are how many looks this pass had.
	Looked int
	// FullUntil is when it is worth asking again, after AWS had as many in progress as it takes.
	FullUntil time.Time
	// Audited is what Hold would be if grants were enforced.
	Audited *chain.Halt
	// Unsaved means that the tenants were chosen in this pass, or that the last of them has ended.
	Unsaved bool
	// Deleted means that the object was deleted in this pass.
	Deleted bool
}

// Input is all that a decision depends on.
type Input struct {
	Now        time.Time
	Created    time.Time
	Generation int64
	// Tenant is the name of the only tenant, empty where a selector selects several.
	Tenant string
	// Paths are how many paths and tags are invalidated, and Stars how many of them have a star.
	Paths, Stars int
	// Rate is how many tenants are requested in a second; 0: any number.
	Rate float64
	// TTL is how long the object is kept once it has finished.
	TTL    time.Duration
	Paused bool
	// PausedNote is what there is to say of the value of the annotation; usually nothing.
	PausedNote string
	Memory     Memory
	World      World
}

// finished reports whether the object has reached its end.
func (in Input) finished() bool { return !in.Memory.Finished.IsZero() }

// AllCompleted reports whether the object has reached its end with every tenant completed.
func (in Input) AllCompleted() bool {
	return in.finished() && in.Memory.Total > 0 && in.Totals().Completed == in.Memory.Total
}

// started reports whether its tenants are chosen.
func (in Input) started() bool { return !in.Memory.Started.IsZero() }

// pending is the first tenant that is to be requested.
func (in Input) pending() (Tenant, bool) {
	for _, t := range in.Memory.Tenants {
		if t.State == Pending {
			return t, true
		}
	}
	return Tenant{}, false
}

// Totals count all tenants, also those that are no longer in the list.
func (in Input) Totals() Totals {
	return in.Memory.Left.plus(Counts(in.Memory.Tenants))
}

// Counts count the tenants of a list.
func Counts(tenants []Tenant) (n Totals) {
	for _, t := range tenants {
		if t.InvalidationID != "" {
			n.Requested++
		}
		switch t.State {
		case Completed:
			n.Completed++
		case Failed:
			n.Failed++
		case Pending, InProgress:
		}
	}
	return n
}

func (n Totals) plus(m Totals) Totals {
	return Totals{n.Requested + m.Requested, n.Completed + m.Completed, n.Failed + m.Failed}
}

// Minus is the difference of two counts.
func (n Totals) Minus(m Totals) Totals {
	return Totals{n.Requested - m.Requested, n.Completed - m.Completed, n.Failed - m.Failed}
}

// chosen is how many tenants were chosen so far.
func (in Input) chosen() int {
	return in.Memory.Left.Completed + in.Memory.Left.Failed + len(in.Memory.Tenants)
}

// Refills reports whether it is time to choose the next tenants.
func (in Input) Refills() bool {
	return in.started() && !in.finished() && in.chosen() < in.Memory.Total && in.count(Pending) < refilledBelow && in.free() >= refilledBelow
}

// free is how many tenants there is room for once those that have ended make room.
func (in Input) free() int {
	return MostTenants - in.count(Pending) - in.count(InProgress) - min(in.count(Failed), keptFailures)
}

func (in Input) count(s State) (n int) {
	for _, t := range in.Memory.Tenants {
		if t.State == s {
			n++
		}
	}
	return n
}
