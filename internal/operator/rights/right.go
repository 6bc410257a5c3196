package rights

import (
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
)

// Right is one thing that the operator has to be allowed to do in the cluster.
type Right struct {
	Group string
	// Resource may have a subresource, as in a role: distributiontenants/status.
	Resource, Verb string
	// Namespace is empty for what is in all of them, or in none.
	Namespace string
	// Name is that of the only object, if there is only one.
	Name string
	// For says what it is needed for.
	For string
	// Optional is a right without which everything else works.
	Optional bool
}

func (r Right) attributes() *authorizationv1.ResourceAttributes {
	resource, subresource, _ := strings.Cut(r.Resource, "/")
	return &authorizationv1.ResourceAttributes{
		Group: r.Group, Resource: resource, Subresource: subresource, Verb: r.Verb, Namespace: r.Namespace, Name: r.Name,
	}
}

// String says the right in words.
func (r Right) String() string {
	text := r.Verb + " " + r.Resource
	if r.Group != "" {
		text += " of " + r.Group
	}
	if r.Name != "" {
		text += " named " + r.Name
	}
	if r.Namespace != "" {
		text += " in namespace " + r.Namespace
	}
	return text
}

// rule is the right as an entry of a role's rules.
func (r Right) rule() string {
	name := ""
	if r.Name != "" {
		name = fmt.Sprintf(", resourceNames: [%q]", r.Name)
	}
	return fmt.Sprintf("- {apiGroups: [%q], resources: [%q], verbs: [%q]%s}", r.Group, r.Resource, r.Verb, name)
}
