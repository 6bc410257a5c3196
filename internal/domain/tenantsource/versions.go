package tenantsource

import (
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/rollout"
)

// mostContents is of how many versions the content is remembered, mostVersions how many are known by name.
const mostContents, mostVersions = 4, 16

// Version is what a spec gives every tenant. Content is empty where it is not known.
type Version struct{ Revision, Content string }

// RolloutMemory is what status remembers of a rollout.
type RolloutMemory struct {
	// Revision is the version that the tenants get, Former the one that all of them had before. Either may be unknown.
	Revision, Former string
	// Complete says that all tenants have the version, Failing that some of them are not well with it. Left is how many have
	// an older one, because they have no usable row.
	Complete, Failing bool
	Left              int
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
		m.Revision = goal
		m.reopen()
	}
	return m
}

// reopen lets the rollout begin again.
func (m *RolloutMemory) reopen() {
	m.Complete, m.Failing, m.Progress = false, false, rollout.Progress{}
}

// changed takes a version that the spec did not have before. Once all tenants have the version, older ones are forgotten.
func (m RolloutMemory) changed(spec Version) RolloutMemory {
	kept := slices.DeleteFunc(slices.Clone(m.Versions), func(v Version) bool {
		return v.Revision == spec.Revision || m.Complete && m.Left == 0 && v.Revision != m.Revision
	})
	if m.Complete {
		m.Former = m.Revision
	}
	m.Versions = append(m.forget(kept), spec)
	return m
}

// forget makes room for one more version. Those whose content is forgotten are still known by name, so that their tenants
// are not taken for those of the former version.
func (m RolloutMemory) forget(kept []Version) []Version {
	oldest := func(has func(Version) bool) int {
		return slices.IndexFunc(kept, func(v Version) bool { return v.Revision != m.Former && has(v) })
	}
	contents := 0
	for _, v := range kept {
		contents += min(1, len(v.Content))
	}
	for ; contents >= mostContents; contents-- {
		kept[oldest(func(v Version) bool { return v.Content != "" })].Content = ""
	}
	for len(kept) >= mostVersions {
		drop := oldest(func(Version) bool { return true })
		kept = slices.Delete(kept, drop, drop+1)
	}
	return kept
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
