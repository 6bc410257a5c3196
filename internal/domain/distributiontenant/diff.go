package distributiontenant

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// customizationsField begins the names of the fields of customizations.
const customizationsField = "customizations."

// certificateField is the one field that AWS and the operator write automatically.
const certificateField = customizationsField + "certificate.arn"

// Diff lists the fields in which observed differs from desired, in a fixed order. Both
// must be normalised. A connection group that is not desired is not compared: AWS chose it.
func Diff(desired, observed Tenant) []resource.Difference {
	var out []resource.Difference
	add := func(field, want, have string) {
		if want != have {
			out = append(out, resource.Difference{Field: field, Desired: want, Observed: have})
		}
	}
	add("distributionId", desired.DistributionID, observed.DistributionID)
	add("domains", setText(desired.Domains), setText(observed.Domains))
	add("enabled", strconv.FormatBool(desired.Enabled), strconv.FormatBool(observed.Enabled))
	if desired.ConnectionGroupID != "" {
		add("connectionGroupId", desired.ConnectionGroupID, observed.ConnectionGroupID)
	}
	for _, name := range unionKeys(desired.Parameters, observed.Parameters) {
		add("parameters["+name+"]", desired.Parameters[name], observed.Parameters[name])
	}
	d, o := desired.Customizations, observed.Customizations
	add(customizationsField+"webAcl", d.WebACL.text(), o.WebACL.text())
	add(certificateField, d.CertificateARN, o.CertificateARN)
	add(customizationsField+"geoRestrictions", d.Geo.text(), o.Geo.text())
	return out
}

// Equals reports whether two normalised customizations are the same.
func (c Customizations) Equals(o Customizations) bool {
	return len(Diff(Tenant{Customizations: c}, Tenant{Customizations: o})) == 0
}

// withInherited returns desired with every block that it does not have taken from observed. This is how an adopted
// tenant keeps everything that the spec does not mention yet.
func withInherited(desired, observed Tenant) Tenant {
	if len(desired.Parameters) == 0 {
		desired.Parameters = observed.Parameters
	}
	c, o := &desired.Customizations, observed.Customizations
	c.WebACL = cmp.Or(c.WebACL, o.WebACL)
	c.CertificateARN = cmp.Or(c.CertificateARN, o.CertificateARN)
	if c.Geo.Type == "" {
		c.Geo = o.Geo
	}
	return desired
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

func setText(list []string) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(list))), ",")
}

func unionKeys(a, b map[string]string) []string {
	all := map[string]string{}
	maps.Copy(all, a)
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}
