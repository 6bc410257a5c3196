package resource

import (
	"maps"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// SomeFields names what differs, the first few of it.
func SomeFields(diff []Difference) string {
	names := make([]string, len(diff))
	for i, d := range diff {
		names[i] = d.Field
	}
	return prose.List(names)
}

// Difference is one field in which AWS and the spec disagree.
type Difference struct {
	// Field is the path below spec.
	Field string
	// Desired and Observed are the two values as text; empty means absent.
	Desired, Observed string
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

// appliedKeys are the keys of users' tags on the resource that we have set: the wanted ones that are there, and
// those that were applied before, as long as they are there or wanted. A step that fails, or a spec that changes again
// before the last step, must not make us forget a tag that is ours to remove.
func appliedKeys(want, have map[string]string, applied []string) []string {
	var keys []string
	for k, v := range have {
		if wanted, ok := want[k]; ok && wanted == v {
			keys = append(keys, k)
		}
	}
	for _, k := range applied {
		_, there := have[k]
		_, wanted := want[k]
		if there || wanted {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// UserKeys are the keys of users' tags among those of a resource, sorted.
func UserKeys(tags map[string]string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(tags)), func(k string) bool { return strings.HasPrefix(k, ownership.Prefix) })
}

// newKeys are the keys of users' tags that are wanted, and neither there nor applied before.
func newKeys(want, have map[string]string, applied []string) []string {
	var keys []string
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if _, there := have[k]; !there && !slices.Contains(applied, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// Differences renders the change for status and events.
func (c TagChange) differences(have map[string]string) []Difference {
	var out []Difference
	for _, k := range slices.Sorted(maps.Keys(c.Set)) {
		out = append(out, Difference{Field: "tags[" + k + "]", Desired: c.Set[k], Observed: have[k]})
	}
	for _, k := range c.Remove {
		out = append(out, Difference{Field: "tags[" + k + "]", Observed: have[k]})
	}
	return out
}

// someItems bounds lists in messages.
const someItems = 5
