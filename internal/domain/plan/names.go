package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/kubename"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// Namespaces says which namespaces tenants may have.
type Namespaces struct {
	// Allowed are the only names that tenants get; none for any.
	Allowed Patterns
	// Reserved are the names that no tenant gets, also where they are allowed.
	Reserved Patterns
	// MinPodSecurity is the lowest level of pod security that they enforce; empty for any.
	MinPodSecurity string
}

// Patterns are names of namespaces.
type Patterns struct{ all, names, prefixes []string }

// ParsePatterns reads patterns, each the name of a namespace, or the beginning of names with a * after it.
func ParsePatterns(patterns []string) (Patterns, error) {
	p := Patterns{all: slices.Clone(patterns)}
	var mistakes []error
	for _, pattern := range patterns {
		text, isPrefix := strings.CutSuffix(pattern, "*")
		switch {
		case pattern == "*":
			mistakes = append(mistakes, errors.New(`the pattern "*" matches every name: use a prefix, such as kube-*`))
		case isPrefix && kubename.IsNamespace(text+"x"):
			p.prefixes = append(p.prefixes, text)
		case !isPrefix && kubename.IsNamespace(text):
			p.names = append(p.names, text)
		default:
			mistakes = append(mistakes, fmt.Errorf("the pattern %s does not match any valid namespace name: use a name such as default, or a prefix such as kube-*", prose.Quote(pattern)))
		}
	}
	if len(mistakes) > 0 {
		return Patterns{}, errors.Join(mistakes...)
	}
	return p, nil
}

// Match reports whether a name is one of them.
func (p Patterns) Match(name string) bool {
	return slices.Contains(p.names, name) ||
		slices.ContainsFunc(p.prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// refusal is why no tenant may have a namespace, and what can be done about that other than another namespace. ingressOf
// is the plan that has the namespace in its spec.ingressNamespaces, if there is one: everything that runs there reaches
// every customer of that plan.
func (n Namespaces) refusal(name, ingressOf string) (why, orElse string) {
	switch {
	case n.Reserved.Match(name):
		return "is a reserved namespace name", ""
	case ingressOf != "":
		return fmt.Sprintf("is an ingress namespace of the TenantPlan %s", prose.Quote(ingressOf)), ", or change spec.ingressNamespaces of that plan"
	case len(n.Allowed.all) > 0 && !n.Allowed.Match(name):
		return fmt.Sprintf("is not a namespace name that tenants may have (%s)", prose.Fit(strings.Join(n.Allowed.all, ", "), longestList)),
			", or add it to --tenant-namespaces (chart value tenancy.namespaces)"
	}
	return "", ""
}

// longestList is how much of the names that tenants may have is told.
const longestList = 300

// Problem says why the names of a tenant are not possible: field, value, reason and fix of each. It is empty where they
// are. ingressOf is the plan whose ingress namespace the tenant's namespace is, if there is one.
func (t Tenant) Problem(n Namespaces, ingressOf string) string {
	problems := []string{t.namespaceProblem(n, ingressOf)}
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

// namespaceProblem speaks of what gives the name. A name that is not legal can be edited; a legal one can't, even if no
// namespace was made of it.
func (t Tenant) namespaceProblem(n Namespaces, ingressOf string) string {
	field, change := "spec.userId", "set spec.namespace to one"
	if t.Explicit {
		field, change = "spec.namespace", "change it to one"
	}
	if !kubename.IsNamespace(t.Namespace) {
		return fmt.Sprintf("%s %s is not a valid namespace name (1 to %d lower-case letters, digits and inner hyphens): %s",
			field, prose.Quote(t.Namespace), kubename.LongestLabel, change)
	}
	why, orElse := n.refusal(t.Namespace, ingressOf)
	if why == "" {
		return ""
	}
	return fmt.Sprintf("%s %s %s and can't be changed later: delete this Tenant and create one with another name in spec.namespace%s",
		field, prose.Quote(t.Namespace), why, orElse)
}
