// Package plan compiles a TenantPlan, and builds what a tenant with it has: the objects of its namespace, and the
// constraints of the plan. It also knows objects: what makes no difference between two forms, and when one that could not
// be made is tried again.
package plan

import (
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// Labels and annotations, as package v1 of the API documents them.
const (
	prefix                = "kleff.io/"
	LabelTenant           = prefix + "tenant"
	LabelTenantUID        = prefix + "tenant-uid"
	LabelTenantPlan       = prefix + "tenant-plan"
	LabelTenantUsername   = prefix + "tenant-username"
	LabelPlan             = prefix + "plan"
	LabelPlanUID          = prefix + "plan-uid"
	LabelManagedBy        = "app.kubernetes.io/managed-by"
	ManagedBy             = "cloudfront-tenant-operator"
	AnnotationAdoptBy     = prefix + "adopt-by"
	AnnotationWithoutPlan = prefix + "without-plan"
	AnnotationApplied     = prefix + "applied"
)

// Tenant is a customer as the spec of their object says.
type Tenant struct {
	// Name and UID are those of the Tenant.
	Name, UID string
	// Namespace is the effective name of the namespace.
	Namespace              string
	UserID, Username, Plan string
	Suspended              bool
	// Explicit says that spec.namespace gives the name, and not spec.userId.
	Explicit bool
	// MinPodSecurity is the lowest level that the namespace enforces; empty for any.
	MinPodSecurity string
}

// Spec is what a TenantPlan says.
type Spec struct {
	// ResourceQuota and LimitRange are the specs of the core API in the form of JSON; nil for none.
	ResourceQuota, LimitRange map[string]any
	PodSecurity               PodSecurity
	NetworkIsolation          Isolation
	IngressNamespaces         []string
	// OwnerClusterRole is empty for none.
	OwnerClusterRole    string
	Labels, Annotations map[string]string
	Istio               Istio
	Constraints         []Constraint
	// Edge says how the DistributionTenant is built, with the tenant instead of a row; nil for none.
	Edge *mapping.Config
}

// Isolation says who gets in.
type Isolation string

// The kinds of isolation. The empty one means None.
const (
	IsolationNone                Isolation = "None"
	IsolationNamespace           Isolation = "Namespace"
	IsolationNamespaceAndIngress Isolation = "NamespaceAndIngress"
)

// Istio says how a namespace takes part in the mesh.
type Istio struct {
	Injection Injection
	Revision  string
	// Gateway is nil for none.
	Gateway             *Gateway
	AuthorizationPolicy Isolation
	// PeerAuthentication is a mode of mTLS, empty for none.
	PeerAuthentication string
}

// Injection says how pods join the mesh. The empty one is Enabled.
type Injection string

// The ways to join.
const (
	InjectionEnabled  Injection = "Enabled"
	InjectionDisabled Injection = "Disabled"
	InjectionAmbient  Injection = "Ambient"
)

// Gateway serves the hosts of a customer. Hosts and TLSSecret may have placeholders.
type Gateway struct {
	Selector  map[string]string
	Hosts     []string
	TLSSecret string
}

// Constraint is one policy of Gatekeeper.
type Constraint struct {
	Kind, Name string
	// Parameters may be nil.
	Parameters        map[string]any
	EnforcementAction string
	// Kinds are those that it looks at; none means all.
	Kinds []MatchKinds
}

// MatchKinds are kinds in Gatekeeper's form.
type MatchKinds struct{ APIGroups, Kinds []string }

// Plan is a TenantPlan, checked and ready to build what its tenants have.
type Plan struct {
	Name, UID  string
	Generation int64

	spec Spec
	// edge is nil where the plan does not configure a DistributionTenant.
	edge *mapping.Program
}

// HasConstraints reports whether the plan has constraints of Gatekeeper.
func (p *Plan) HasConstraints() bool { return len(p.spec.Constraints) > 0 }
