package plan

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/kubename"
)

const (
	nameOwnNamespace = "kleff-namespace"
	nameFromIngress  = "kleff-ingress"
	nameOwner        = "kleff-owner-"

	groupRBAC = "rbac.authorization.k8s.io"
	// labelNamespace is on every namespace; the API server ensures that it has the namespace's own name.
	labelNamespace = "kubernetes.io/metadata.name"
)

// BuildIsolation returns who gets in: the NetworkPolicies of the plan, and the owner's rights.
func BuildIsolation(t Tenant, p *Plan) []Object {
	if p == nil {
		return nil
	}
	out := p.networkPolicies(t)
	if p.spec.OwnerClusterRole != "" {
		out = append(out, p.ownerBinding(t))
	}
	return out
}

// networkPolicies add up: what one of them lets in gets in.
func (p *Plan) networkPolicies(t Tenant) []Object {
	own := t.networkPolicy(nameOwnNamespace, map[string]any{"podSelector": map[string]any{}})
	ingress := t.networkPolicy(nameFromIngress, map[string]any{"namespaceSelector": map[string]any{
		"matchExpressions": []any{map[string]any{"key": labelNamespace, "operator": "In", "values": anyList(p.spec.IngressNamespaces)}},
	}})
	switch p.spec.NetworkIsolation {
	case IsolationNamespace:
		return []Object{own}
	case IsolationNamespaceAndIngress:
		return []Object{own, ingress}
	case IsolationNone:
	}
	return nil
}

// networkPolicy lets the peer in to all pods of the namespace.
func (t Tenant) networkPolicy(name string, peer map[string]any) Object {
	return t.object(KindNetworkPolicy, name, map[string]any{
		"podSelector": map[string]any{},
		"policyTypes": []any{"Ingress"},
		"ingress":     []any{map[string]any{"from": []any{peer}}},
	})
}

// ownerBinding gives the tenant's user the role in the namespace.
func (p *Plan) ownerBinding(t Tenant) Object {
	role := p.spec.OwnerClusterRole
	o := t.object(KindRoleBinding, ownerName(role), nil)
	o.Body = map[string]any{
		"roleRef":  map[string]any{"apiGroup": groupRBAC, "kind": "ClusterRole", "name": role},
		"subjects": []any{map[string]any{"apiGroup": groupRBAC, "kind": "User", "name": t.UserID}},
	}
	return o
}

// ownerName has the role in it, as the role of a RoleBinding can't be changed: another role is another object. A name that
// is too long is cut, and ends in a hash of the whole.
func ownerName(role string) string {
	name := nameOwner + role
	if len(name) <= kubename.LongestName {
		return name
	}
	sum := sha256.Sum256([]byte(role))
	end := "-" + hex.EncodeToString(sum[:8])
	return name[:kubename.LongestName-len(end)] + end
}

func anyList(list []string) []any {
	out := make([]any, len(list))
	for i := range list {
		out[i] = list[i]
	}
	return out
}
