package rollout

import (
	"cmp"
	"fmt"
	"strings"
)

// Group is how far one change has come.
type Group struct {
	Rollout

	// Source is the policy's, Name that of the group, and Fields what changes.
	Source, Name, Fields string
}

// Groups are all that there are, in a fixed order.
func (o *Order) Groups() (out []Group) {
	for _, g := range o.sorted() {
		out = append(out, Group{g.rollout(), g.key.source, g.name, g.key.fields})
	}
	return out
}

// rollout counts the objects of a group.
func (g *group) rollout() Rollout {
	r := Rollout{
		Applied: g.done + g.counts[Applied], Failed: g.counts[Failed], InFlight: g.counts[InFlight],
		Waiting: g.counts[InFlight] + g.counts[Waiting] + g.counts[Held], Progress: Progress{Step: g.step, Settled: g.settled}, Again: g.again,
	}
	r.Tenants = r.Applied + r.Failed + r.Waiting
	open := g.counts[Waiting] > 0 && !g.released
	r.Paused, r.Stopped = g.limits.Paused && open, open && (g.stopped || g.waiting() == 0)
	var first *entry
	for _, e := range g.entries {
		if e.state == Failed && (first == nil || strings.Compare(e.Name, first.Name) < 0) {
			first = e
		}
	}
	if first != nil {
		r.First = fmt.Sprintf("Tenant %q: %s", first.Name, first.failure)
	}
	return r
}

// Sum is how far all changes of the objects of a source have come. It is false where none was seen.
func Sum(groups []Group, source string) (sum Rollout, found bool) {
	for _, g := range groups {
		if g.Source != source {
			continue
		}
		found = true
		sum.Tenants += g.Tenants
		sum.Applied += g.Applied
		sum.Failed += g.Failed
		sum.Waiting += g.Waiting
		sum.InFlight += g.InFlight
		sum.Stopped, sum.Paused = sum.Stopped || g.Stopped, sum.Paused || g.Paused
		sum.First, sum.Again = cmp.Or(sum.First, g.First), Soonest(sum.Again, g.Again)
		p := &sum.Progress
		p.Step, p.Target = max(p.Step, g.Progress.Step), p.Target+g.Progress.Target
		if at := g.Progress.Settled; !at.IsZero() && (p.Settled.IsZero() || at.Before(p.Settled)) {
			p.Settled = at
		}
	}
	return sum, found
}
