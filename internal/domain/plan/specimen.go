package plan

import (
	"fmt"
)

// specimenName and specimenNamespace are those of objects that are never stored. Every cluster has the namespace.
const (
	specimenName      = "kleff-try"
	specimenNamespace = "default"
)

// Specimens are what the plan gives any tenant, so that the API server can be asked in a dry run whether it takes it, also where no
// tenant has the plan. The objects of mesh and edge differ from tenant to tenant, and have conditions of their own.
func Specimens(p *Plan) []Object {
	if p == nil {
		return nil
	}
	t := Tenant{Name: specimenName, UID: specimenName, Namespace: specimenNamespace, UserID: specimenName, Username: specimenName, Plan: p.Name}
	out := append(BuildLimits(t, p), BuildIsolation(t, p)...)
	for i := range out {
		out[i].Name = fmt.Sprintf("%s-%d", specimenName, i)
	}
	return out
}

// CodeMayNotBind is the code of the failure of a RoleBinding to a role that the operator may not bind. It is the same in every
// namespace.
const CodeMayNotBind = "MayNotBind"

// RefusalOf is what the API server says of an object, with the field of the plan that it comes from.
func RefusalOf(o Object, err error) string { return FieldOf(o) + ": " + InWords(err) }
