package tenantsource

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// Relation says whose an object is.
type Relation int

// The relations.
const (
	// Absent: there is no object of that name.
	Absent Relation = iota
	// Ours: it carries the marks of this source.
	Ours
	// Earlier: it carries those of a source of the same name and namespace that is gone.
	Earlier
	// Foreign: it belongs to someone else, for instance a user.
	Foreign
)

// Object is an object of the target namespace. It is looked at where a question needs it: keeping what is seen of a hundred
// thousand objects would cost more than everything else.
type Object interface{ Look() Tenant }

// Tenant is an object of the target namespace as it was looked at. It refers to objects of the cache, which are only
// read.
type Tenant struct {
	Relation Relation
	// Owner names the owner, for messages, where it is Foreign.
	Owner        string
	UID, Version string
	// Key is that of the row that it was made from, Hash that of what was applied last; empty where that is not known.
	Key, Hash string
	// Deleting is set while it is on its way out.
	Deleting bool
	// Disabled is set where this source disabled it because its row was gone, Marked is since when it is marked for that.
	Disabled bool
	Marked   time.Time
	// Guarded is set where it has the finalizer, and the labels of this source.
	Guarded             bool
	Labels, Annotations map[string]string
	Domains             []string
	// Parents are what its references led to, when it was last applied.
	Parents Parents
	// Spec makes the spec in the form of its JSON: as many trees as there may be objects would cost more than everything else.
	Spec func() map[string]any
}

// Look implements Object.
func (t Tenant) Look() Tenant {
	return t
}

// Lives reports whether it is the source's and not on its way out. With Disable, it is on its way out once it is disabled.
func (t Tenant) Lives(policy Policy) bool {
	return t.Relation == Ours && !t.Deleting && (policy != PolicyDisable || !t.Disabled)
}

// compare reports whether it has every field as the row and the template set it, and nothing that they once set and do no
// more. Otherwise harm says what the row would take away from it, if anything.
func (f Fleet) compare(t Tenant, want mapping.Object) (same bool, harm string) {
	// The hash tells whether something that was once applied is no longer wanted; the rest, whether someone else has
	// changed it since.
	spec, changed := t.Spec(), t.Hash != want.Hash()
	if !changed && t.Guarded && t.Key == want.Key && within(want.Labels, t.Labels) && within(want.Annotations, t.Annotations) && mapping.Covers(spec, want) {
		return true, ""
	}
	t.Parents.Lead = f.Lead
	return false, HarmOf(spec, want, changed, t.Parents)
}

// Conflict tells the row of that name whose the object is.
func (t Tenant) Conflict(name string) string {
	return fmt.Sprintf("the DistributionTenant %q exists and does not belong to this source (%s): rename the row, or delete the object", name, t.Owner)
}

func within(some, all map[string]string) bool {
	for k, v := range some {
		if have, ok := all[k]; !ok || have != v {
			return false
		}
	}
	return true
}

// Fleet is the objects of the target namespace as they were when a read began, by name.
type Fleet struct {
	Objects map[string]Object
	// Find looks for one that is not among them, for a read of a few rows; nil where these are all.
	Find func(name string) Tenant
	// Lead is the ID of an object that a row or the template names, as in Parents.
	Lead func(field, namespace, name string) string
}

// lookUp is the object of that name.
func (f Fleet) lookUp(name string) Tenant {
	if o, known := f.Objects[name]; known {
		return o.Look()
	}
	if f.Find == nil {
		return Tenant{}
	}
	t := f.Find(name)
	f.Objects[name] = t
	return t
}

// serves reports whether the object of that name is this source's and has the domain.
func (f Fleet) serves(name, domain string) bool {
	t := f.lookUp(name)
	return t.Relation == Ours && slices.Contains(t.Domains, domain)
}

// byKey are the names of this source's objects by the keys that their rows had, empty where that is not known.
func (f Fleet) byKey() map[string][]string {
	out := map[string][]string{}
	for name, o := range f.Objects {
		if t := o.Look(); t.Relation == Ours {
			out[t.Key] = append(out[t.Key], name)
		}
	}
	return out
}

// Leaves reports whether objects of the source are being deleted.
func (f Fleet) Leaves() bool {
	for _, o := range f.Objects {
		if t := o.Look(); t.Relation == Ours && t.Deleting {
			return true
		}
	}
	return false
}

// Owned lists the objects that live.
func (f Fleet) Owned(policy Policy) []Owned {
	var out []Owned
	for _, name := range slices.Sorted(maps.Keys(f.Objects)) {
		if t := f.Objects[name].Look(); t.Lives(policy) {
			out = append(out, Owned{Name: strings.Clone(name), UID: t.UID, Domains: t.Domains, Marked: t.Marked})
		}
	}
	return out
}
