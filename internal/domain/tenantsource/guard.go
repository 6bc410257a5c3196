package tenantsource

import (
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/budget"
)

// Policy says what becomes of a tenant whose row is gone.
type Policy string

// The policies.
const (
	PolicyDelete  Policy = "Delete"
	PolicyDisable Policy = "Disable"
	PolicyRetain  Policy = "Retain"
)

// Word picks that of the policy.
func (p Policy) Word(deletes, disables string) string {
	if p == PolicyDisable {
		return disables
	}
	return deletes
}

// Guard limits what may be deleted, disabled or otherwise taken away without approval.
type Guard struct {
	// ConfirmPolls is in how many complete reads a row has to be absent, each at least Interval after the
	// one before.
	ConfirmPolls int
	Interval     time.Duration
	// MaxDeletes and MaxPercent are the budget of a Window: the larger of the two.
	MaxDeletes, MaxPercent int
	Window                 time.Duration
	// Grace is how long a tenant is marked, and serves on, before it is deleted or disabled. Zero: not at all.
	Grace time.Duration
}

// Owned is an object of the source.
type Owned struct {
	Name, UID string
	Domains   []string
	// Marked is since when it is marked, because its row is gone. Zero: it is not. A marked tenant was allowed and
	// counted.
	Marked time.Time
}

// Question is what the guard is asked.
type Question struct {
	Now    time.Time
	Losses Losses
	// Fleet is how many objects the source has, the absent ones included.
	Fleet   int
	History History
	// Empty is set when the read had no rows at all.
	Empty bool
	// Confirmed skips the confirmations: the source itself is deleted, and no row can come back.
	Confirmed bool
	// Since says since when approval is waited for, or would be: an approval of an earlier plan does not count for this
	// one.
	Since string
}

// Verdict is what the guard answers.
type Verdict struct {
	// Go are those that may be deleted now, or marked, by name, Changes those that may lose what their rows take away.
	Go, Changes []Loss
	// Grace are those that are marked and whose grace is not over.
	Grace []Loss
	// Waiting are those that more reads have to confirm.
	Waiting []Loss
	// Pending is the plan that needs approval; nil when none does.
	Pending *PendingPlan
	// Budget is how many tenants may be lost in the window, Used how many were. Capped is set where that is the ceiling.
	Budget, Used int
	Capped       bool
}

// New is how many of those that may happen are not counted in the history yet.
func (v Verdict) New() int {
	n := 0
	for _, l := range slices.Concat(v.Go, v.Changes) {
		if !l.allowed() {
			n++
		}
	}
	return n
}

// keys are those of all that may happen.
func (v Verdict) keys() []string {
	var out []string
	for _, l := range slices.Concat(v.Go, v.Changes) {
		out = append(out, l.key())
	}
	return out
}

// PendingPlan is a plan that is not approved.
type PendingPlan struct {
	Hash string
	// Names are those of all of its objects. Harm says what the rows take away from those that still have one.
	Names []string
	Harm  map[string]string
	// Empty is set when it needs approval because there were no rows at all.
	Empty bool
}

// Judge says what may happen. Every loss counts against the budget, confirmed or not, so that a wave is seen before its
// first tenant is deleted; over the budget, nothing happens at all.
func (g Guard) Judge(q Question) Verdict {
	recent := q.History.Within(q.Now, g.Window)
	open, left := 0, 0
	for _, l := range q.Losses {
		if l.open() {
			open++
		}
		if l.allowed() && l.Harm == "" {
			left++
		}
	}
	// Objects that are gone already belonged to the fleet of this window. Objects that are counted and not gone still
	// do.
	v := Verdict{Used: recent.Total()}
	limit := budget.Limit{Max: g.MaxDeletes, Percent: g.MaxPercent}
	v.Budget, v.Capped = limit.Allows(q.Fleet+max(recent.Vanished()-left, 0), budget.Ceiling)
	held := open > 0 && (q.Empty || v.Used+open > v.Budget)
	if held {
		v.Pending = &PendingPlan{Hash: q.Losses.planHash(q.Since), Harm: map[string]string{}, Empty: q.Empty}
	}
	for _, name := range q.Losses.Names() {
		l := q.Losses[name]
		switch {
		case held && l.open():
			v.Pending.add(l)
		case l.Harm != "":
			// A row that is there says what it means: there is nothing to confirm.
			v.Changes = append(v.Changes, l)
		case l.Reads < g.ConfirmPolls && !q.Confirmed:
			v.Waiting = append(v.Waiting, l)
		case q.Confirmed || l.Certain():
			v.Go = append(v.Go, l)
		case !l.Marked.IsZero() && q.Now.Before(l.Marked.Add(g.Grace)):
			v.Grace = append(v.Grace, l)
		default:
			l.Mark = g.Grace > 0 && l.Marked.IsZero()
			v.Go = append(v.Go, l)
		}
	}
	return v
}

func (p *PendingPlan) add(l Loss) {
	p.Names = append(p.Names, l.Name)
	if l.Harm != "" {
		p.Harm[l.Name] = l.Harm
	}
}

// freeze lets no more be deleted for now but the first ones, which are gone already.
func (v Verdict) freeze(gone int) Verdict {
	v.Waiting = slices.Concat(v.Waiting, v.Go[gone:])
	v.Go = v.Go[:gone]
	return v
}
