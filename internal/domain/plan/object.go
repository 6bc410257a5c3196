package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Kind is a kind of Kubernetes objects.
type Kind struct{ Group, Version, Kind string }

// The kinds of what a customer has.
var (
	KindNamespace           = Kind{"", "v1", "Namespace"}
	KindResourceQuota       = Kind{"", "v1", "ResourceQuota"}
	KindLimitRange          = Kind{"", "v1", "LimitRange"}
	KindNetworkPolicy       = Kind{"networking.k8s.io", "v1", "NetworkPolicy"}
	KindRoleBinding         = Kind{"rbac.authorization.k8s.io", "v1", "RoleBinding"}
	KindGateway             = Kind{"networking.istio.io", "v1", "Gateway"}
	KindAuthorizationPolicy = Kind{"security.istio.io", "v1", "AuthorizationPolicy"}
	KindPeerAuthentication  = Kind{"security.istio.io", "v1", "PeerAuthentication"}
	KindDistributionTenant  = Kind{"cloudfront-tenant-operator.io", "v1alpha1", "DistributionTenant"}
)

// MeshKinds are those of Istio, which the cluster may not have.
func MeshKinds() []Kind { return []Kind{KindGateway, KindAuthorizationPolicy, KindPeerAuthentication} }

// ChildKinds are those of all that a tenant may have in its namespace.
func ChildKinds() []Kind {
	return append([]Kind{KindResourceQuota, KindLimitRange, KindNetworkPolicy, KindRoleBinding, KindDistributionTenant}, MeshKinds()...)
}

// ConstraintKind is a kind that one of the cluster's ConstraintTemplates defines.
func ConstraintKind(kind string) Kind { return Kind{"constraints.gatekeeper.sh", "v1beta1", kind} }

// APIVersion is the kind's group and version as objects carry it.
func (k Kind) APIVersion() string {
	if k.Group == "" {
		return k.Version
	}
	return k.Group + "/" + k.Version
}

// Object is a Kubernetes object as it is applied: exactly the fields that it is to have from us. Others' fields are
// left to them.
type Object struct {
	Kind
	// Namespace is empty for what is of the whole cluster.
	Namespace, Name     string
	Labels, Annotations map[string]string
	// Body is the rest of the object, spec above all, in the form of JSON: values are bool, int64, float64, string, []any
	// or map[string]any.
	Body map[string]any
}

// Live is an object as it was found.
type Live struct {
	Object

	UID, ResourceVersion string
	// Deleting says that it has been deleted, and waits for finalizers.
	Deleting bool
}

// Key names an object among those of its owner.
func (o *Object) Key() string { return o.Group + "/" + o.Kind.Kind + "/" + o.Name }

// Ref names an object in a message.
func (o *Object) Ref() string { return fmt.Sprintf("%s %s", o.Kind.Kind, o.Name) }

// Hash tells two forms of an object apart. It is stored in an annotation of the applied object, since a field that is
// no longer set can't be seen in the live object.
func (o *Object) Hash() string {
	annotations := maps.Clone(o.Annotations)
	delete(annotations, AnnotationApplied)
	text, err := json.Marshal([]any{o.APIVersion(), o.Kind.Kind, o.Labels, annotations, o.Body})
	if err != nil {
		// Only what JSON can't express fails, and nothing of that is ever in an object.
		panic(err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Marked is the object with the hash of itself.
func (o Object) Marked() Object {
	annotations := maps.Clone(o.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[AnnotationApplied] = o.Hash()
	o.Annotations = annotations
	return o
}

// UpToDate reports whether what was found has all that the object, with its mark, is to have.
func (l *Live) UpToDate(o Object) bool {
	body := comparison{closed: o.Closed(), omits: o.Kind == KindDistributionTenant}
	return comparison{}.covers(asAny(l.Labels), asAny(o.Labels)) && comparison{}.covers(asAny(l.Annotations), asAny(o.Annotations)) &&
		body.covers(ours(l.Body, o.Body), o.Body)
}

// Frozen reports whether the object differs in what the API server does not let change: the scopes of a ResourceQuota.
func (l *Live) Frozen(o *Object) bool {
	if o.Kind != KindResourceQuota {
		return false
	}
	have, _ := l.Body["spec"].(map[string]any)
	want, _ := o.Body["spec"].(map[string]any)
	whole := comparison{closed: true}
	for _, field := range []string{"scopes", "scopeSelector"} {
		if !whole.covers(have[field], want[field]) || !whole.covers(want[field], have[field]) {
			return true
		}
	}
	return false
}

// Closed reports whether additions by others to the object change what it means: with another selector a policy applies
// to fewer pods; with another port it allows more traffic. Defaults that the API server or a template's schema adds are
// only in objects of other kinds.
func (o *Object) Closed() bool {
	return slices.Contains([]Kind{KindNetworkPolicy, KindRoleBinding, KindGateway, KindAuthorizationPolicy, KindPeerAuthentication}, o.Kind)
}

// ours leaves out what of an object's top level is not ours, such as its status.
func ours(have, want map[string]any) map[string]any {
	out := map[string]any{}
	for key := range want {
		if value, ok := have[key]; ok {
			out[key] = value
		}
	}
	return out
}

// comparison says what makes no difference between what is there and what is wanted.
type comparison struct {
	// closed: there may be nothing that isn't wanted.
	closed bool
	// omits: a field that says no is left out of what is read.
	omits bool
}

// covers reports whether all of want is in have. Lists are compared element by element: those that we set are ours as a whole.
func (c comparison) covers(have, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		have, ok := have.(map[string]any)
		return (ok || len(want) == 0) && c.coversFields(have, want)
	case []any:
		have, ok := have.([]any)
		return (ok || len(want) == 0) && slices.EqualFunc(have, want, c.covers)
	default:
		return number(have) == number(want) || c.omits && have == nil && (want == "" || want == false || number(want) == float64(0))
	}
}

func (c comparison) coversFields(have, want map[string]any) bool {
	for key, value := range want {
		if !c.covers(have[key], value) {
			return false
		}
	}
	if !c.closed {
		return true
	}
	for key, value := range have {
		// Something empty is something: an empty selector of namespaces selects all of them.
		if want[key] == nil && value != nil {
			return false
		}
	}
	return true
}

// number makes numbers of one value equal: a decoder of JSON may give either type.
func number(v any) any {
	if whole, ok := v.(int64); ok {
		return float64(whole)
	}
	return v
}

func asAny(m map[string]string) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}
