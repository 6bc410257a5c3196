package rights_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
)

// grant is the smallest part of what the chart gives the operator: one verb on one resource in
// one role.
type grant struct {
	// Namespace is empty for a ClusterRole.
	Role, Namespace             string
	Group, Resource, Verb, Name string
}

func (g grant) String() string {
	return strings.TrimRight(fmt.Sprintf("%s %s/%s %s", g.Verb, g.Group, g.Resource, g.Name), " ")
}

// grantsOf reads the roles that bindings of the chart give to its service account.
func grantsOf(t *testing.T, i *install.Installation) []grant {
	t.Helper()
	rules := map[string][]rbacv1.PolicyRule{}
	var clusterRoles []rbacv1.ClusterRole
	var roles []rbacv1.Role
	var clusterBindings []rbacv1.ClusterRoleBinding
	var bindings []rbacv1.RoleBinding
	for _, err := range []error{
		install.Select(i, "ClusterRole", &clusterRoles), install.Select(i, "Role", &roles),
		install.Select(i, "ClusterRoleBinding", &clusterBindings), install.Select(i, "RoleBinding", &bindings),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range clusterRoles {
		rules[r.Name] = r.Rules
	}
	for _, r := range roles {
		rules[r.Namespace+"/"+r.Name] = r.Rules
	}
	var out []grant
	for _, b := range clusterBindings {
		if isOperator(i, "", b.Subjects) {
			out = append(out, atoms(b.RoleRef.Name, "", rules[b.RoleRef.Name])...)
		}
	}
	for _, b := range bindings {
		if isOperator(i, b.Namespace, b.Subjects) {
			out = append(out, atoms(b.RoleRef.Name, b.Namespace, rules[b.Namespace+"/"+b.RoleRef.Name])...)
		}
	}
	// Rights that both controllers need are in the roles twice.
	seen := map[grant]bool{}
	out = slices.DeleteFunc(out, func(g grant) bool {
		again := seen[g]
		seen[g] = true
		return again
	})
	if len(out) < 10 {
		t.Fatalf("the chart gives the operator %d rights: its roles are bound in another way than this test reads", len(out))
	}
	return out
}

// ofSecrets reports whether the grant is the one that is known to be missing only when a source needs it.
func (g grant) ofSecrets() bool { return g.Group == "" && g.Resource == "secrets" }

// idleAtHome says why a grant is there for what the operator keeps in its own namespace that no run here uses.
func (g grant) idleAtHome() string {
	switch {
	case g.copied():
		return "the copy in kube-system belongs to all, and is only written where it is the installation's own"
	case !strings.HasSuffix(g.Role, "-own-namespace"):
		return ""
	case g.Verb == "list":
		return firstList
	case g.Verb == "create" && g.Group == eventsv1.GroupName:
		return "only held deletions and a copy of a cluster are events there"
	}
	return ""
}

// copied reports whether the grant is for the copy of the cluster's ConfigMap.
func (g grant) copied() bool {
	return g.Verb == "update" && strings.HasSuffix(g.Role, "-cluster-check")
}

// ofPlans reports whether the grant is one that is known to be missing only when a plan needs it.
func (g grant) ofPlans() bool {
	return g.Verb == "bind" || g.Group == "constraints.gatekeeper.sh" && !slices.Contains([]string{"get", "list", "watch"}, g.Verb)
}

func isOperator(i *install.Installation, namespace string, subjects []rbacv1.Subject) bool {
	return slices.ContainsFunc(subjects, func(s rbacv1.Subject) bool {
		if s.Namespace != "" {
			namespace = s.Namespace
		}
		return s.Kind == rbacv1.ServiceAccountKind && i.User() == "system:serviceaccount:"+namespace+":"+s.Name
	})
}

func atoms(role, namespace string, rules []rbacv1.PolicyRule) []grant {
	var out []grant
	for _, r := range rules {
		names := r.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range r.APIGroups {
			for _, resource := range r.Resources {
				for _, verb := range r.Verbs {
					for _, name := range names {
						out = append(out, grant{role, namespace, group, resource, verb, name})
					}
				}
			}
		}
	}
	return out
}

// covers reports whether the grant is what lets the request through.
func (g grant) covers(r controlplane.Request) bool {
	resource := r.Resource
	if r.Subresource != "" {
		resource += "/" + r.Subresource
	}
	return g.Group == r.APIGroup && (g.Resource == resource || g.Resource == "*") && g.Verb == r.Verb &&
		(g.Namespace == "" || g.Namespace == r.Namespace) && (g.Name == "" || g.Name == r.Object)
}

// withoutRepeated leaves out what a ClusterRole grants in all namespaces, too: taking that away takes nothing.
func withoutRepeated(all []grant) []grant {
	return slices.DeleteFunc(slices.Clone(all), func(g grant) bool {
		return g.Namespace != "" && slices.ContainsFunc(all, func(o grant) bool { return o.Namespace == "" && o.String() == g.String() })
	})
}

// without returns the rules of a grant's role, but not the grant.
func without(all []grant, out grant) []rbacv1.PolicyRule {
	var rules []rbacv1.PolicyRule
	for _, g := range all {
		if g == out || g.Role != out.Role || g.Namespace != out.Namespace {
			continue
		}
		r := rbacv1.PolicyRule{APIGroups: []string{g.Group}, Resources: []string{g.Resource}, Verbs: []string{g.Verb}}
		if g.Name != "" {
			r.ResourceNames = []string{g.Name}
		}
		rules = append(rules, r)
	}
	return rules
}
