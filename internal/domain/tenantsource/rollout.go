package tenantsource

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
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
	// mostVersions is how many versions are remembered.
	mostVersions = 4
)

// Version is what a spec gives every tenant. Content is empty where it is not known.
type Version struct{ Revision, Content string }

// RolloutMemory is what status remembers of a rollout.
type RolloutMemory struct {
	// Revision is the version that the tenants get, Former the one that all of them had before. Either may be unknown.
	Revision, Former string
	// Complete says that the rollout has ended.
	Complete bool
	// Versions are those that tenants may have, that of the spec last.
	Versions []Version
	Progress rollout.Progress
}

// Next is the memory once the spec has that version. Where tenants have older ones of which none has reached all of
// them, that which did remains the one to return to.
func (m RolloutMemory) Next(spec Version, undo bool) RolloutMemory {
	if last := len(m.Versions) - 1; last < 0 || m.Versions[last].Revision != spec.Revision {
		m = m.changed(spec)
	}
	goal := spec.Revision
	if undo {
		goal = m.returns()
	}
	if goal != m.Revision {
		m.Revision, m.Complete, m.Progress = goal, false, rollout.Progress{}
	}
	return m
}

// changed takes a version that the spec did not have before.
func (m RolloutMemory) changed(spec Version) RolloutMemory {
	kept := slices.DeleteFunc(slices.Clone(m.Versions), func(v Version) bool {
		return v.Revision == spec.Revision || m.Complete && v.Revision != m.Revision
	})
	if m.Complete {
		m.Former = m.Revision
	}
	for len(kept) >= mostVersions {
		drop := slices.IndexFunc(kept, func(v Version) bool { return v.Revision != m.Former })
		kept = slices.Delete(kept, drop, drop+1)
	}
	m.Versions = append(kept, spec)
	return m
}

// returns is the version that undo returns to; empty where it is not known.
func (m RolloutMemory) returns() string {
	if m.Content(m.Former) == "" {
		return ""
	}
	return m.Former
}

// Content is that of a version; empty where it is not known.
func (m RolloutMemory) Content(revision string) string {
	for _, v := range m.Versions {
		if v.Revision == revision {
			return v.Content
		}
	}
	return ""
}

// Shapes are the versions of a spec in the form that makes objects, for a poll in the middle of a rollout.
type Shapes struct {
	// Goal is the version that tenants get, Former that of tenants of which nothing is known.
	Goal, Former string
	// Programs are those that are known, by revision.
	Programs map[string]*mapping.Program
	// Revision is that of the source's object of that name; false where there is none.
	Revision func(name string) (revision string, ours bool)
}

// staged is what the rollout will make of an object.
type staged struct {
	body         []byte
	harm, broken string
}

// Staged is a change that waits for the rollout.
type Staged struct {
	Change
	// Broken is why the row can't be what the new version says, Busy that its tenant has to become something else first.
	Broken string
	Busy   bool
}

// rolls takes the row of a tenant that has another version than the one that is rolled out. It keeps that until the
// rollout comes to it. false: the row has nothing to wait for.
func (p *Poll) rolls(row mapping.Row, goal mapping.Object, rejection *mapping.Rejection) (bool, error) {
	if p.Shapes == nil {
		return false, nil
	}
	name := goal.Name
	if rejection != nil {
		name = rejection.Name
	}
	revision, ours := p.Shapes.Revision(name)
	if !ours || p.Shapes.Goal != "" && rejection == nil && (revision == p.Shapes.Goal || p.fleet.Standing(goal).Applied) {
		return false, nil
	}
	own, known := p.owns(row, name, cmp.Or(revision, p.Shapes.Former))
	if !known && rejection != nil {
		return false, nil
	}
	next, err := p.stage(goal, name, rejection)
	if err != nil {
		return true, err
	}
	if !known {
		own = goal
	}
	p.countKey(own.Key)
	if err := p.add(own, rowName(row, own)); err != nil {
		return true, err
	}
	e := &p.entries[len(p.entries)-1]
	e.next, e.revision = next, cmp.Or(revision, p.Shapes.Former)
	if !known && e.refused == "" {
		// What it was is not known: it stays as it is.
		e.action, e.body, e.harm = "", nil, ""
	}
	return true, nil
}

// owns is the object of the row as the version says that its tenant has.
func (p *Poll) owns(row mapping.Row, name, revision string) (mapping.Object, bool) {
	program := p.Shapes.Programs[revision]
	if program == nil {
		return mapping.Object{}, false
	}
	o, rejection := program.Build(p.rows, row)
	return o, rejection == nil && o.Name == name
}

// stage is what the rollout makes of the object.
func (p *Poll) stage(goal mapping.Object, name string, rejection *mapping.Rejection) (*staged, error) {
	switch {
	case p.Shapes.Goal == "":
		return nil, nil
	case rejection != nil:
		return &staged{broken: rejection.Reason}, nil
	}
	e, err := p.judge(goal, name)
	switch {
	case err != nil:
		return nil, err
	case e.refused != "":
		return &staged{broken: e.refused}, nil
	case e.action == "":
		return nil, nil
	}
	return &staged{body: e.body, harm: e.harm}, nil
}

// stagedOf is what waits for the rollout, or nil.
func (p *Poll) stagedOf(e entry) *Staged {
	if e.next == nil || e.twin || e.refused != "" {
		return nil
	}
	s := &Staged{
		Change: Change{Action: Update, Name: e.name, UID: e.uid, Version: e.version, Row: e.row, Harm: e.next.harm, Revision: p.Shapes.Goal, body: e.next.body},
		Broken: e.next.broken,
	}
	if e.harm != "" || e.disabled {
		s.Busy, s.Harm = true, ""
	}
	return s
}

// Look is what a rollout needs to know of it.
type Look struct {
	Name, UID, Version, Revision string
	// Canary says that it has the labels of the canaries.
	Canary bool
	// Untouched says that its spec is the one that it was created with.
	Untouched bool
	// Ready and Stalled are those of its present spec, Failure what it says of itself.
	Ready, Stalled bool
	Failure        string
}

// Rolling is a rollout on its way, as the process knows it.
type Rolling struct {
	Memory RolloutMemory
	// Staged are the changes that were not made when the table was last read, by UID.
	Staged map[string]Staged
	// Released are those that were made since, with the time; Landed are those that were seen to be ready with it.
	Released map[string]time.Time
	Landed   map[string]bool
	// Refused is why the API server refused one.
	Refused map[string]string
	// Counted is when the figures were last stored.
	Counted time.Time
}

// RolloutSpec is what the spec says of a rollout.
type RolloutSpec struct {
	Limits rollout.Limits
	Undo   bool
	// Version is that of the spec.
	Version Version
}

// NextRollout is the memory of the rollout that a poll of this spec belongs to.
func (in Input) NextRollout() RolloutMemory {
	m := in.Memory.Rollout
	if r := in.Session.Rolling; r != nil {
		m = r.Memory
	}
	return m.Next(in.Rollout.Version, in.Rollout.Undo)
}

// roll takes what a read has left to the rollout.
func (in Input) roll(h *Harvest) *Rolling {
	if in.Rollout == nil || in.DryRun {
		return nil
	}
	r := &Rolling{Memory: in.NextRollout(), Released: map[string]time.Time{}, Landed: map[string]bool{}, Refused: map[string]string{}}
	if was := in.Session.Rolling; was != nil && was.Memory.Revision == r.Memory.Revision && !was.Memory.Complete {
		r.Released, r.Landed, r.Counted = was.Released, was.Landed, was.Counted
	}
	r.Staged = make(map[string]Staged, len(h.Staged))
	for _, s := range h.Staged {
		r.Staged[s.UID] = s
	}
	return r
}

// Rolls reports whether a rollout is on its way that needs to know what becomes of the objects.
func (s *Session) Rolls() bool { return s.Rolling != nil && !s.Rolling.Memory.Complete }

// members are the tenants of the rollout: those that have the version, and those that wait for it. What was created with
// it is not among them.
func (in Input) members() []rollout.Member {
	r := in.Session.Rolling
	var out []rollout.Member
	for _, l := range in.Looks {
		m := rollout.Member{Name: l.Name, UID: l.UID, Canary: l.Canary, Uneasy: !l.Ready}
		s, waits := r.Staged[l.UID]
		at, released := r.Released[l.UID]
		switch {
		case l.Revision == r.Memory.Revision && l.Revision != "":
			if l.Untouched && !released {
				continue
			}
			m.State, m.Failure = in.judgeTried(l)
		case !waits:
			continue
		case s.Broken != "" || r.Refused[l.UID] != "":
			m.State, m.Failure = rollout.Failed, cmp.Or(s.Broken, r.Refused[l.UID])
		case released && in.Now.Sub(at) < inFlightAtMost:
			m.State = rollout.InFlight
		case s.Busy || len(s.body) == 0 || released:
			m.State = rollout.Held
		default:
			m.State = rollout.Waiting
		}
		out = append(out, m)
	}
	return out
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
		since, r.Released[l.UID] = in.Now, in.Now
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

func (in Input) advance() rollout.Rollout {
	r := in.Session.Rolling
	limits := in.Rollout.Limits
	limits.Paused = limits.Paused || r.Memory.Revision == ""
	return rollout.Advance(in.Now, r.Memory.Revision, in.members(), limits, r.Memory.Progress)
}

// rolled brings the change to the next tenants. The rows are those of the last complete read.
func (in Input) rolled() (Decision, bool) {
	if !in.rolls() {
		return pass()
	}
	if in.Early > 0 {
		return Decision{Step: Rest, After: min(in.Early, max(in.due().Sub(in.Now), lookAgain))}, true
	}
	a := in.advance()
	if len(a.Release) > 0 {
		return Decision{Step: Release, Release: a.Release, Progress: a.Progress}, true
	}
	after := rollout.Soonest(max(in.due().Sub(in.Now), lookAgain), a.Again)
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
	a := in.advance()
	m := s.Rolling.Memory
	m.Progress, m.Complete = a.Progress, a.Done() && m.Revision != ""
	if m.Complete {
		m.Progress = rollout.Progress{}
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
	case a.Stopped:
		return say(RolloutStopped, "%d of the first %d tenants failed with the change, so the rollout is stopped. %s", a.Failed, a.Failed+a.Applied, a.First)
	case in.Rollout.Undo && a.Waiting > 0:
		return say(Undoing, "the tenants are given the former version of the spec back")
	case a.Paused:
		return say(RolloutPaused, "spec.rollout.paused is set, so the change of the spec reaches no more tenants. Remove it to continue")
	case a.Waiting > 0:
		return say(RollingOut, "a change of the spec is being rolled out")
	case a.Failed > 0:
		return say(TenantsFailed, "%s failed with the change. %s", prose.Count(a.Failed, "tenant", "tenants"), a.First)
	}
	c.Status = true
	return say(AllRolledOut, "all tenants have the current version of the spec")
}

// Wait is how long figures that move are not stored yet.
func (r *Rolling) Wait(now time.Time) time.Duration { return countsEvery - now.Sub(r.Counted) }

// Wants are the columns that the poll uses, those of former versions included; nil for all.
func (p *Poll) Wants() []string {
	programs := []*mapping.Program{p.program}
	if p.Shapes != nil {
		programs = slices.AppendSeq(programs, maps.Values(p.Shapes.Programs))
	}
	var out []string
	for _, program := range programs {
		required, optional, all := program.Columns()
		if all {
			return nil
		}
		out = slices.Concat(out, required, optional)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
