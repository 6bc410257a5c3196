package tenantsource

import (
	"maps"
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// Shapes are the versions of a spec in the form that makes objects, for a poll while tenants may have several.
type Shapes struct {
	// Goal is the version that tenants get, Former that of tenants of which nothing else is known. Over says that all tenants
	// with a usable row had got it.
	Goal, Former string
	Over         bool
	// Programs are those that are known, by revision, Lost those of which only the name is.
	Programs map[string]*mapping.Program
	Lost     map[string]bool
	// Revision is that of the source's object of that name; false where there is none.
	Revision func(name string) (revision string, ours bool)
}

// of is the version that an object with that revision has. Those that are not remembered left the object as the former one
// made it.
func (s *Shapes) of(revision string) string {
	if s.Programs[revision] == nil && !s.Lost[revision] {
		return s.Former
	}
	return revision
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
	if p.Shapes == nil || p.Shapes.Over && rejection != nil {
		return false, nil
	}
	name := goal.Name
	if rejection != nil {
		name = rejection.Name
	}
	revision, ours := p.Shapes.Revision(name)
	if !ours || p.Shapes.Goal != "" && rejection == nil && revision == p.Shapes.Goal {
		return false, nil
	}
	if p.Shapes.Goal != "" && rejection == nil && p.fleet.Standing(goal).Applied {
		p.settled[name] = true
		return false, nil
	}
	revision = p.Shapes.of(revision)
	own, known := p.owns(row, name, revision)
	if !known && rejection != nil || p.Shapes.Over && known && own.Hash() == goal.Hash() {
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
	p.entries[len(p.entries)-1].waits(next, revision, known)
	return true, nil
}

// waits lets a row keep what it is until the rollout comes to it. Where that is not known, its object stays as it is.
func (e *entry) waits(next *staged, revision string, known bool) {
	e.next, e.revision = next, revision
	if !known && e.refused == "" {
		e.action, e.body, e.harm = "", nil, ""
	}
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
