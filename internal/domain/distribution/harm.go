package distribution

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// Harm says what the next write takes away from the customers that are served. Empty: nothing.
func (in Input) Harm() string { return in.view().Harm }

// Customers is how many customers are served through the resource, as far as is known: at least one if it has tenants.
func (in Input) Customers() int {
	switch d := in.World.Dependents; {
	case in.Desired.Direct:
		return 1
	case d != nil:
		return cmp.Or(in.World.Serving, d.Count)
	}
	return in.World.Serving
}

// harm says what the next write takes away, whether the spec has changed or AWS has.
func (in Input) harm(v *resource.View) string {
	r := in.World.Resource
	if in.deleting() || r == nil || !v.Mine() {
		return ""
	}
	out := in.takenTargets()
	if v.Inheriting() && r.ID == in.AdoptedID || v.Applied && in.Policy.Drift != resource.DriftEnforce {
		return strings.Join(out, ", ")
	}
	if r.Enabled && !in.Desired.Enabled {
		out = append(out, "disables it")
	}
	if !in.Desired.Direct {
		out = append(out, takenAway(in.World.Differences)...)
	}
	return strings.Join(out, ", ")
}

// takenAway is what the next write takes from the tenants that depend on it: the certificate that they inherit, and the
// parameters that they set.
func takenAway(differences []resource.Difference) []string {
	var out []string
	for _, d := range differences {
		switch {
		case d.Observed == "":
		case d.Field == "viewerCertificate", d.Field == "viewerCertificate.acmCertificateArn":
			out = append(out, "replaces its certificate")
		case strings.HasPrefix(d.Field, "tenantConfig") && d.Desired == "":
			out = append(out, "removes "+d.Field)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// counted finds out how many tenants depend on what the next write takes away.
func counted(in Input) (Decision, bool) {
	if in.view().Budgeted() && !in.Desired.Direct && in.World.Dependents == nil {
		return do(Look{At: LookDependents})
	}
	return pass()
}

// reach says how many customers a change of a shared resource concerns: AWS applies it to all of them.
func (in Input) reach() string {
	if in.Desired.Direct || in.World.Serving == 0 {
		return ""
	}
	return fmt.Sprintf(" It concerns %s.", prose.Count(in.World.Serving, "customer", "customers"))
}
