package tenantsource_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
)

// version is the one of that name. Those with names in lower case are too large to be kept, and the content of those after
// a minus is forgotten.
func version(name string) tenantsource.Version {
	if forgotten, ok := strings.CutPrefix(name, "-"); ok {
		return tenantsource.Version{Revision: forgotten}
	}
	v := tenantsource.Version{Revision: name}
	if name == strings.ToUpper(name) {
		v.Content = "content of " + name
	}
	return v
}

// spec is what becomes of the memory of a source.
type spec struct {
	tenantsource.RolloutMemory
	version string
	undo    bool
}

// takes plays a step: undo and redo set and remove spec.rollout.undo, done ends the rollout, left does so without a tenant,
// and all else is a version.
func (s *spec) takes(step string) {
	switch step {
	case "undo", "redo":
		s.undo = step == "undo"
	case "done", "left":
		s.Complete, s.Left = true, 0
		if step == "left" {
			s.Left = 1
		}
		return
	default:
		s.version = step
	}
	s.RolloutMemory = s.Next(version(s.version), s.undo)
}

func TestNextRollout(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		steps, revision, former, versions string
		complete                          bool
		left                              int
	}{
		"the first version has nothing to return to":                    {steps: "A", revision: "A", versions: "A"},
		"a change returns to what all tenants have":                     {steps: "A done B", revision: "B", former: "A", versions: "A B"},
		"a second change returns to that, too":                          {steps: "A done B C", revision: "C", former: "A", versions: "A B C"},
		"and so does one that takes the first back":                     {steps: "A done B A", revision: "A", former: "A", versions: "B A"},
		"what no tenant has is forgotten":                               {steps: "A done B done C", revision: "C", former: "B", versions: "B C"},
		"of more than four, the one to return to is kept":               {steps: "A done B C D E F", revision: "F", former: "A", versions: "A -B -C D E F"},
		"what tenants without a row have is not forgotten":              {steps: "A done B left C", revision: "C", former: "B", versions: "A B C", left: 1},
		"the same version is no change":                                 {steps: "A done B done B", revision: "B", former: "A", versions: "A B", complete: true},
		"undo gives the former version back":                            {steps: "A done B undo", revision: "A", former: "A", versions: "A B"},
		"undo gives it back when all tenants have the change":           {steps: "A done B done undo", revision: "A", former: "A", versions: "A B"},
		"a change meanwhile waits":                                      {steps: "A done B undo C", revision: "A", former: "A", versions: "A B C"},
		"without undo the change begins from the start":                 {steps: "A done B undo done redo", revision: "B", former: "A", versions: "A B"},
		"a change that was undone and taken back is over":               {steps: "A done B undo done A redo", revision: "A", former: "A", versions: "A", complete: true},
		"the first version can't be undone":                             {steps: "A undo", versions: "A"},
		"neither can a change of a version that was too large":          {steps: "a done B undo", former: "a", versions: "a B"},
		"without undo, what can't be undone goes on":                    {steps: "a done B undo redo", revision: "B", former: "a", versions: "a B"},
		"a version that is too large is rolled out like others":         {steps: "A done b", revision: "b", former: "A", versions: "A b"},
		"a version that tenants still have is not remembered two times": {steps: "A done B C B", revision: "B", former: "A", versions: "A C B"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s spec
			for step := range strings.FieldsSeq(c.steps) {
				s.takes(step)
			}
			want := tenantsource.RolloutMemory{Revision: c.revision, Former: c.former, Complete: c.complete, Left: c.left}
			for name := range strings.FieldsSeq(c.versions) {
				want.Versions = append(want.Versions, version(name))
			}
			if d := cmp.Diff(want, s.RolloutMemory); d != "" {
				t.Errorf("after %s (-want +got):\n%s", c.steps, d)
			}
		})
	}
}

// contents is how many of the versions are known.
func contents(versions []tenantsource.Version) (n int) {
	for _, v := range versions {
		n += min(1, len(v.Content))
	}
	return n
}

// Whatever a person does to a spec, the memory is of the versions that tenants may have, and undo returns to one that all
// of them had.
func TestNextRolloutRemembersWhatTenantsHave(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s spec
		s.takes("A")
		reached := []string{""}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			before := s.RolloutMemory
			before.Versions = slices.Clone(s.Versions)
			s.Progress = rollout.Progress{Step: 2, Target: 7}
			step := rapid.SampledFrom([]string{"A", "B", "C", "D", "E", "F", "done", "undo", "redo"}).Draw(t, "step")
			if step == "done" && s.Revision == "" {
				continue // nothing is changed where nothing is known to return to
			}
			was := s.Versions
			s.takes(step)
			if d := cmp.Diff(before.Versions, was); d != "" {
				t.Fatalf("%s changed the memory that it was given (-want +got):\n%s", step, d)
			}
			if step == "done" {
				reached = append(reached, s.Revision)
				continue
			}
			if moved := s.Revision != before.Revision; moved && (s.Complete || s.Progress != rollout.Progress{}) {
				t.Fatalf("a rollout begins where another one was: %+v", s.RolloutMemory)
			}
			if goal := s.version; !s.undo && s.Revision != goal || s.undo && s.Revision != s.Former {
				t.Fatalf("the tenants get %q, of the spec %q and the former %q", s.Revision, goal, s.Former)
			}
			if !slices.Contains(reached, s.Former) || s.Former != "" && s.Content(s.Former) == "" {
				t.Fatalf("it would return to %q: %+v", s.Former, s.RolloutMemory)
			}
			if last := s.Versions[len(s.Versions)-1].Revision; last != s.version || len(s.Versions) > 16 || contents(s.Versions) > 4 {
				t.Fatalf("the versions of a spec with %q are %+v", s.version, s.Versions)
			}
			if again := s.Next(version(s.version), s.undo); !cmp.Equal(again, s.RolloutMemory, cmpopts.EquateEmpty()) {
				t.Fatalf("the same spec again is a change (-first +second):\n%s", cmp.Diff(s.RolloutMemory, again))
			}
		}
	})
}

// A change that has left no trace of itself is made again: its writes may all have found the object changed.
func TestAReleaseWithoutATraceIsMadeAgain(t *testing.T) {
	t.Parallel()
	row := mapping.Row{Values: tree{"name": "acme", "domain": []any{"acme.example.com"}}}
	fleet := objects{"acme": {standing: tenantsource.Standing{Relation: tenantsource.Ours, UID: "u1", Key: "acme"}, domains: []string{"acme.example.com"}}}
	change := read(t, keyed(t), fleet, row).Harvest().Changes[0]
	for name, c := range map[string]struct {
		released time.Duration
		want     []string
	}{
		"it may still be on its way": {released: 29 * time.Minute},
		"it is lost":                 {released: 30 * time.Minute, want: []string{"u1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := input(func(in *tenantsource.Input) {
				in.Session.LastRegular, in.Guard.Interval = in.Now, time.Hour
				in.Rollout = &tenantsource.RolloutSpec{Limits: rollout.Limits{MaxConcurrent: 1}}
				in.Looks = []tenantsource.Look{{Name: "acme", UID: "u1", Revision: "before"}}
				in.Session.Rolling = &tenantsource.Rolling{
					Memory: tenantsource.RolloutMemory{Revision: "after"}, Staged: map[string]tenantsource.Staged{"u1": {Change: change}},
					Rows: map[string]bool{"acme": true}, Released: map[string]time.Time{"u1": in.Now.Add(-c.released)},
				}
			})
			if d := cmp.Diff(c.want, tenantsource.Decide(in).Release); d != "" {
				t.Errorf("released (-want +got):\n%s", d)
			}
		})
	}
}
