package edge

import (
	"maps"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
)

// Difference is one field in which AWS and the spec disagree.
type Difference struct {
	// Field is the path below spec.
	Field string
	// Desired and Observed are the two values as text; empty means absent.
	Desired, Observed string
}

// certificateField is the one field that AWS and the operator write by themselves.
const certificateField = "customizations.certificate.arn"

// Diff lists the fields in which observed differs from desired, in a fixed order. Both
// must be normalised. A connection group that is not desired is not compared: AWS chose it.
func Diff(desired, observed Tenant) []Difference {
	var out []Difference
	add := func(field, want, have string) {
		if want != have {
			out = append(out, Difference{Field: field, Desired: want, Observed: have})
		}
	}
	add("distributionId", desired.DistributionID, observed.DistributionID)
	add("domains", setText(desired.Domains), setText(observed.Domains))
	add("enabled", boolText(desired.Enabled), boolText(observed.Enabled))
	if desired.ConnectionGroupID != "" {
		add("connectionGroupId", desired.ConnectionGroupID, observed.ConnectionGroupID)
	}
	for _, name := range unionKeys(desired.Parameters, observed.Parameters) {
		add("parameters["+name+"]", desired.Parameters[name], observed.Parameters[name])
	}
	d, o := desired.Customizations, observed.Customizations
	add("customizations.webAcl", d.WebACL.text(), o.WebACL.text())
	add(certificateField, d.CertificateARN, o.CertificateARN)
	add("customizations.geoRestrictions", d.Geo.text(), o.Geo.text())
	return out
}

// TagChange is what has to be set and removed so that the tags are as wanted.
type TagChange struct {
	Set    map[string]string
	Remove []string
}

// Empty reports whether nothing has to change.
func (c TagChange) Empty() bool { return len(c.Set) == 0 && len(c.Remove) == 0 }

// DiffTags compares the tags that are wanted with those that are there. Only keys that
// were applied before are ever removed: what somebody else added stays.
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

// AppliedKeys are the keys of users' tags on the resource that we have set: the wanted ones that are there, and
// those that were applied before and have not been removed yet. A step that fails, or a spec that changes again
// before the last step, must not make us forget a tag that is ours to remove.
func AppliedKeys(want, have map[string]string, applied []string) []string {
	var keys []string
	for _, k := range slices.Sorted(maps.Keys(have)) {
		if v, wanted := want[k]; wanted && v == have[k] || slices.Contains(applied, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// Differences renders the change for status and events.
func (c TagChange) Differences(have map[string]string) []Difference {
	var out []Difference
	for _, k := range slices.Sorted(maps.Keys(c.Set)) {
		out = append(out, Difference{Field: "tags[" + k + "]", Desired: c.Set[k], Observed: have[k]})
	}
	for _, k := range c.Remove {
		out = append(out, Difference{Field: "tags[" + k + "]", Observed: have[k]})
	}
	return out
}

// withInherited returns desired with every block that it lacks taken from observed. It
// is how an adopted tenant keeps what nobody has spoken about yet.
func withInherited(desired, observed Tenant) Tenant {
	if len(desired.Parameters) == 0 {
		desired.Parameters = observed.Parameters
	}
	c, o := &desired.Customizations, observed.Customizations
	if c.WebACL == (WebACL{}) {
		c.WebACL = o.WebACL
	}
	if c.CertificateARN == "" {
		c.CertificateARN = o.CertificateARN
	}
	if c.Geo.Type == "" {
		c.Geo = o.Geo
	}
	return desired
}

// Fields joins the names of the fields, for messages.
func Fields(diff []Difference) string {
	names := make([]string, len(diff))
	for i, d := range diff {
		names[i] = d.Field
	}
	return strings.Join(names, ", ")
}

func (w WebACL) text() string {
	if w.ARN == "" {
		return w.Action
	}
	return w.Action + " " + w.ARN
}

func (g Geo) text() string {
	if len(g.Locations) == 0 {
		return g.Type
	}
	return g.Type + " " + strings.Join(g.Locations, ",")
}

func boolText(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

func setText(list []string) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(list))), ",")
}

func unionKeys(a, b map[string]string) []string {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}
