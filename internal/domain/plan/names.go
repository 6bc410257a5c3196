package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/kubename"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// Reserved are the names of namespaces that no tenant gets.
type Reserved struct{ names, prefixes []string }

// ParseReserved reads patterns, each the name of a namespace, or the beginning of names with a * after it.
func ParseReserved(patterns []string) (Reserved, error) {
	var r Reserved
	var mistakes []error
	for _, pattern := range patterns {
		text, isPrefix := strings.CutSuffix(pattern, "*")
		switch {
		case pattern == "*":
			mistakes = append(mistakes, errors.New(`the pattern "*" reserves every name, so no tenant could have a namespace: use a prefix, such as kube-*`))
		case isPrefix && kubename.IsNamespace(text+"x"):
			r.prefixes = append(r.prefixes, text)
		case !isPrefix && kubename.IsNamespace(text):
			r.names = append(r.names, text)
		default:
			mistakes = append(mistakes, fmt.Errorf("the pattern %s does not match any valid namespace name: use a name such as default, or a prefix such as kube-*", prose.Quote(pattern)))
		}
	}
	if len(mistakes) > 0 {
		return Reserved{}, errors.Join(mistakes...)
	}
	return r, nil
}

// Has reports whether a name is reserved.
func (r Reserved) Has(name string) bool {
	return slices.Contains(r.names, name) ||
		slices.ContainsFunc(r.prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// Problem says why the names of a tenant are not possible: field, value, reason and fix of each. It is empty where they
// are.
func (t Tenant) Problem(r Reserved) string {
	problems := []string{t.namespaceProblem(r)}
	for _, f := range []struct{ field, value, cure string }{
		// The name of an object can't be changed.
		{"metadata.name", t.Name, "delete this Tenant and create a new one"},
		{"spec.plan", t.Plan, "change it, and the name of the TenantPlan"},
		{"spec.username", t.Username, "change it"},
	} {
		if f.value == "" || !kubename.IsLabelValue(f.value) {
			problems = append(problems, fmt.Sprintf("%s %s is not a valid label value (1 to %d letters, digits and inner - _ .): %s",
				f.field, prose.Quote(f.value), kubename.LongestLabel, f.cure))
		}
	}
	return strings.Join(slices.DeleteFunc(problems, func(p string) bool { return p == "" }), ". ")
}

// namespaceProblem speaks of what gives the name. What is no legal name can be edited; a legal one can't, even
// though no namespace was made of it.
func (t Tenant) namespaceProblem(r Reserved) string {
	field, change := "spec.userId", "set spec.namespace to one"
	if t.Explicit {
		field, change = "spec.namespace", "change it to one"
	}
	switch {
	case !kubename.IsNamespace(t.Namespace):
		return fmt.Sprintf("%s %s is not a valid namespace name (1 to %d lower-case letters, digits and inner hyphens): %s",
			field, prose.Quote(t.Namespace), kubename.LongestLabel, change)
	case r.Has(t.Namespace):
		return fmt.Sprintf("%s %s is a reserved namespace name and can't be changed later: delete this Tenant and create one with another name in spec.namespace",
			field, prose.Quote(t.Namespace))
	}
	return ""
}
