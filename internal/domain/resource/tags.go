package resource

import (
	"maps"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
)

// maxTags is how many tags a resource has at most.
const maxTags = 50

// Tags are those of a resource, as they are and as they should be.
type Tags struct {
	// Wanted are the user's tags, the operator's default tags included, and ours; users are those without ours.
	Wanted, users map[string]string
	// have are those of the resource if known; mine says that status may speak of it.
	have        map[string]string
	known, mine bool
	// stored are the keys of users' tags that we have set and that status has. set has those of a create as well, which
	// status may not have yet.
	stored, set []string
}

// Tags are those of the resource.
func (v *View) Tags() Tags {
	set := slices.Concat(v.Memory.AppliedTagKeys, v.Tries.CreatedWith)
	slices.Sort(set)
	return Tags{
		Wanted: ownership.Merge(v.Desired, v.Me), users: v.Desired, have: v.World.Tags, known: v.World.TagsKnown, mine: v.Mine(),
		stored: v.Memory.AppliedTagKeys, set: slices.Compact(set),
	}
}

// Change is what has to change, empty while the tags were not read.
func (t Tags) Change() TagChange {
	if !t.known {
		return TagChange{}
	}
	return DiffTags(t.Wanted, t.have, t.set)
}

// Differences are the change as status and events list it.
func (t Tags) Differences() (out []Difference) {
	c := t.Change()
	for _, k := range slices.Sorted(maps.Keys(c.Set)) {
		out = append(out, Difference{Field: "tags[" + k + "]", Desired: c.Set[k], Observed: t.have[k]})
	}
	for _, k := range c.Remove {
		out = append(out, Difference{Field: "tags[" + k + "]", Observed: t.have[k]})
	}
	return out
}

// Keys are those of users' tags to remember as set by us: the wanted ones that are there, and those that we set before
// or have announced, as long as they are there or wanted. A step that fails, or a spec that changes again before the
// last step, must not make us forget a tag that is ours to remove.
func (t Tags) Keys(announced []string) []string {
	if !t.mine || !t.known {
		return t.stored
	}
	var keys []string
	for k, v := range t.have {
		if wanted, ok := t.users[k]; ok && wanted == v {
			keys = append(keys, k)
		}
	}
	for _, k := range slices.Concat(t.set, announced) {
		_, there := t.have[k]
		_, wanted := t.users[k]
		if there || wanted {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// unannounced are the keys of new tags that status does not have yet. A tag that is set before status has its key would
// be taken for someone else's if the answer is lost and the spec then drops it. More tags than status has room for are
// AWS's to refuse.
func (t Tags) unannounced() []string {
	var keys []string
	for _, k := range slices.Sorted(maps.Keys(t.users)) {
		if _, there := t.have[k]; !there && !slices.Contains(t.stored, k) {
			keys = append(keys, k)
		}
	}
	if len(t.Keys(keys)) > maxTags {
		return nil
	}
	return keys
}

// TagChange is what has to be set and removed so that the tags are as wanted.
type TagChange struct {
	Set    map[string]string
	Remove []string
}

// Empty reports whether nothing has to change.
func (c TagChange) Empty() bool { return len(c.Set) == 0 && len(c.Remove) == 0 }

// DiffTags compares the tags that are wanted with those that exist. Only keys that were applied before are ever
// removed: tags that others added stay.
func DiffTags(want, have map[string]string, applied []string) TagChange {
	change := TagChange{Set: map[string]string{}}
	for k, v := range want {
		if old, ok := have[k]; !ok || old != v {
			change.Set[k] = v
		}
	}
	for _, k := range applied {
		_, wanted := want[k]
		_, there := have[k]
		if there && !wanted && !strings.HasPrefix(k, ownership.Prefix) {
			change.Remove = append(change.Remove, k)
		}
	}
	slices.Sort(change.Remove)
	return change
}

// UserKeys are the keys of users' tags among those of a resource, sorted.
func UserKeys(tags map[string]string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(tags)), func(k string) bool { return strings.HasPrefix(k, ownership.Prefix) })
}
