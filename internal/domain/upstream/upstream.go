// Package upstream says what a distribution asks of its tenants, and in which words a tenant that does not fit it is
// refused.
package upstream

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// Parameter declares a parameter of a distribution.
type Parameter struct {
	Name     string
	Required bool
	Default  string
}

// Missing says that the distribution, as the spec names it, does not exist.
func Missing(named string) string {
	return named + ": there is no such distribution in this AWS account. Use a multi-tenant distribution."
}

// NotMultiTenant says that the distribution, as the spec names it, can't have tenants.
func NotMultiTenant(named string) string {
	return named + ": the distribution's connection mode is not tenant-only, so it can't have tenants. Use a multi-tenant distribution."
}

// Lacking says which parameters the distribution requires and the tenant does not have; empty if there are none.
func Lacking(distribution string, have map[string]string, declared []Parameter) string {
	var missing []string
	for _, p := range declared {
		if _, ok := have[p.Name]; p.Required && !ok {
			missing = append(missing, p.Name)
		}
	}
	if len(missing) == 0 {
		return ""
	}
	slices.Sort(missing)
	return fmt.Sprintf("spec.parameters must include %s, which distribution %s requires. Add it with a value.", prose.List(missing), distribution)
}

// Undeclared says which parameters the tenant has and the distribution does not declare; empty if there are none.
func Undeclared(distribution string, have map[string]string, declared []Parameter) string {
	var names []string
	for _, p := range declared {
		names = append(names, p.Name)
	}
	unknown := slices.DeleteFunc(slices.Sorted(maps.Keys(have)), func(name string) bool { return slices.Contains(names, name) })
	if len(unknown) == 0 {
		return ""
	}
	list := "none"
	if len(names) > 0 {
		slices.Sort(names)
		list = prose.List(names)
	}
	return fmt.Sprintf("spec.parameters includes %s, which distribution %s does not declare. It declares: %s.", prose.List(unknown), distribution, list)
}
