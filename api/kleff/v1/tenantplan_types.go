package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// TenantPlan says what the namespaces of the tenants that name it have: limits, isolation, mesh, policies, and
// an edge tenant. A change of a plan goes through its tenants a few at a time.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster
// +kubebuilder:printcolumn:name="TENANTS",type=integer,JSONPath=`.status.tenants`,description="Tenants that name the plan"
// +kubebuilder:printcolumn:name="APPLIED",type=integer,JSONPath=`.status.applied`,description="Tenants that have the plan as it is now"
// +kubebuilder:printcolumn:name="FAILED",type=integer,JSONPath=`.status.failed`,description="Tenants that could not get it"
// +kubebuilder:printcolumn:name="READY",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Every tenant has the plan as it is now"
// +kubebuilder:printcolumn:name="REASON",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it is ready or not"
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
type TenantPlan struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what the namespaces of the plan have. It belongs to its author: the operator never writes to it.
	// +required
	Spec TenantPlanSpec `json:"spec"`

	// status is what the operator found and did.
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status TenantPlanStatus `json:"status,omitzero"`
}

// TenantPlanList is a list of TenantPlan objects.
//
// +kubebuilder:object:root=true
type TenantPlanList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	// items are the objects.
	Items []TenantPlan `json:"items"`
}

// TenantPlanSpec is what the namespaces of a plan have. What is left out, they don't have.
//
// +kubebuilder:validation:MinProperties=0
type TenantPlanSpec struct {
	// resourceQuota becomes the ResourceQuota kleff-plan in each namespace.
	// +optional
	ResourceQuota *corev1.ResourceQuotaSpec `json:"resourceQuota,omitempty"`

	// limitRange becomes the LimitRange kleff-plan in each namespace.
	// +optional
	LimitRange *corev1.LimitRangeSpec `json:"limitRange,omitempty"`

	// podSecurity sets the labels of Kubernetes' pod security admission on each namespace.
	// +optional
	PodSecurity *PodSecurity `json:"podSecurity,omitempty"`

	// networkIsolation says who may reach the pods of a namespace: with Namespace its own pods, with
	// NamespaceAndIngress those of spec.ingressNamespaces as well, with None everybody. It becomes NetworkPolicies, which the
	// cluster's network has to enforce. Absent means None.
	// +kubebuilder:default=None
	// +optional
	NetworkIsolation Isolation `json:"networkIsolation,omitempty"`

	// ingressNamespaces are the namespaces whose pods bring traffic from outside, for networkIsolation and
	// istio.authorizationPolicy. Absent means istio-system and istio-ingress.
	// +kubebuilder:default={istio-system,istio-ingress}
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.all(n, n.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'))",message="must be names of namespaces: lower-case letters, digits and inner hyphens"
	// +listType=set
	// +optional
	IngressNamespaces []string `json:"ingressNamespaces,omitempty"`

	// owner gives the customer rights in the namespace.
	// +optional
	Owner *Owner `json:"owner,omitempty"`

	// labels are those of each namespace beside the operator's own, at most 50.
	// +kubebuilder:validation:MinProperties=0
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('kleff.io/') && !k.startsWith('pod-security.kubernetes.io/') && !(k in ['istio-injection', 'istio.io/rev', 'istio.io/dataplane-mode', 'kubernetes.io/metadata.name', 'app.kubernetes.io/managed-by']))",message="labels of kleff.io/, of pod security, of Istio's injection and app.kubernetes.io/managed-by are the operator's: remove them, and use podSecurity and istio"
	// +optional
	Labels map[string]LabelValue `json:"labels,omitempty"`

	// annotations are those of each namespace, at most 50.
	// +kubebuilder:validation:MinProperties=0
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('kleff.io/'))",message="annotations of kleff.io/ are the operator's: remove them"
	// +optional
	Annotations map[string]AnnotationValue `json:"annotations,omitempty"`

	// istio says how the namespaces take part in the mesh. Absent means injection by the label istio-injection, and nothing else.
	// +optional
	Istio *Istio `json:"istio,omitempty"`

	// gatekeeper are policies for all namespaces of the plan.
	// +optional
	Gatekeeper *Gatekeeper `json:"gatekeeper,omitempty"`

	// distributionTenant makes a DistributionTenant in each namespace.
	// +optional
	DistributionTenant *EdgeTemplate `json:"distributionTenant,omitempty"`

	// rollout says how a change of this plan goes through its tenants.
	// +kubebuilder:default={}
	// +optional
	Rollout *Rollout `json:"rollout,omitempty"`
}

// LabelValue is a value of a label.
//
// +kubebuilder:validation:MinLength=0
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$`
type LabelValue string

// AnnotationValue is a value of an annotation.
//
// +kubebuilder:validation:MinLength=0
// +kubebuilder:validation:MaxLength=4096
type AnnotationValue string

// Isolation says who gets in.
//
// +kubebuilder:validation:Enum=None;Namespace;NamespaceAndIngress
type Isolation string

// The kinds of isolation.
const (
	IsolationNone                Isolation = "None"
	IsolationNamespace           Isolation = "Namespace"
	IsolationNamespaceAndIngress Isolation = "NamespaceAndIngress"
)

// PodSecurity is what pod security admission does with the pods of a namespace.
//
// +kubebuilder:validation:MinProperties=1
type PodSecurity struct {
	// enforce is the level that a pod has to keep, or it is refused.
	// +optional
	Enforce PodSecurityLevel `json:"enforce,omitempty"`

	// audit is the level whose violations are noted in the API server's audit log.
	// +optional
	Audit PodSecurityLevel `json:"audit,omitempty"`

	// warn is the level whose violations the user is told of.
	// +optional
	Warn PodSecurityLevel `json:"warn,omitempty"`

	// version is the version of Kubernetes whose definition of the levels holds, such as v1.36, or latest. Absent means latest.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="self.matches('^(latest|v1[.](0|[1-9][0-9]*))$')",messageExpression="'\"' + self + '\" is no version of pod security: use latest, or a version such as v1.36'",message="use latest, or a version such as v1.36"
	// +optional
	Version string `json:"version,omitempty"`
}

// PodSecurityLevel is one of the levels of the Pod Security Standards.
//
// +kubebuilder:validation:Enum=privileged;baseline;restricted
type PodSecurityLevel string

// Owner is what the customer's user may do in the namespace.
type Owner struct {
	// clusterRole is the ClusterRole that is bound to the user spec.userId in the namespace, such as edit. The operator may bind those that
	// the chart's tenancy.ownerClusterRoles names.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	ClusterRole string `json:"clusterRole,omitempty"`
}

// Istio says how a namespace takes part in the mesh.
//
// +kubebuilder:validation:MinProperties=0
// +kubebuilder:validation:XValidation:rule="!has(self.revision) || !has(self.injection) || self.injection == 'Enabled'",message="a revision means that sidecars are injected: remove revision, or set injection to Enabled",fieldPath=".revision"
type Istio struct {
	// injection says how pods join the mesh. Enabled: with a sidecar, by the label istio-injection, or istio.io/rev where a
	// revision is given. Ambient: without one, by the label istio.io/dataplane-mode. Disabled: they don't. Absent means Enabled.
	// +optional
	Injection Injection `json:"injection,omitempty"`

	// revision is the revision or tag of the control plane whose sidecars are injected. The label istio.io/rev takes
	// the place of istio-injection then.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",messageExpression="'\"' + self + '\" is no revision: use lower-case letters, digits and inner hyphens'",message="use lower-case letters, digits and inner hyphens"
	// +optional
	Revision string `json:"revision,omitempty"`

	// gateway becomes the Gateway kleff-gateway of each namespace.
	// +optional
	Gateway *Gateway `json:"gateway,omitempty"`

	// authorizationPolicy says whose requests the pods of a namespace take: with Namespace those of its own workloads,
	// with NamespaceAndIngress those of spec.ingressNamespaces as well, with None everybody's. Others are known by their mTLS
	// identity, so that requests without one are refused. It becomes the AuthorizationPolicy kleff-tenant. Absent means None.
	// +optional
	AuthorizationPolicy Isolation `json:"authorizationPolicy,omitempty"`

	// peerAuthentication is the mode of mTLS for requests to the namespace. It becomes the PeerAuthentication
	// kleff-tenant. Absent means that the mesh decides.
	// +optional
	PeerAuthentication PeerAuthenticationMode `json:"peerAuthentication,omitempty"`
}

// Injection says how pods join the mesh.
//
// +kubebuilder:validation:Enum=Enabled;Disabled;Ambient
type Injection string

// The ways to join.
const (
	InjectionEnabled  Injection = "Enabled"
	InjectionDisabled Injection = "Disabled"
	InjectionAmbient  Injection = "Ambient"
)

// PeerAuthenticationMode is a mode of mTLS, in Istio's own words.
//
// +kubebuilder:validation:Enum=STRICT;PERMISSIVE;DISABLE
type PeerAuthenticationMode string

// Gateway is an Istio Gateway that serves the hosts of a customer.
type Gateway struct {
	// selector are the labels of the pods of the gateway that serves the hosts, such as istio: ingressgateway.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	// +required
	Selector map[string]LabelValue `json:"selector,omitempty"`

	// hosts are the names that are served, at most 32. In them, {{username}}, {{userId}}, {{name}}, {{namespace}} and {{plan}} stand for what the Tenant
	// says, as in {{username}}.apps.example.com. With ./ before a name only routes of the customer's own namespace are served under it, and nobody
	// else's; without it those of every namespace are, as Istio has it.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	// +listType=set
	// +required
	Hosts []string `json:"hosts,omitempty"`

	// tlsSecret is the name of the Secret with the certificate of the hosts, in the namespace of the gateway's pods. It may have
	// placeholders as hosts do. The hosts are served over HTTPS then, and HTTP is redirected. Absent means HTTP.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	TLSSecret string `json:"tlsSecret,omitempty"`
}

// Gatekeeper are the constraints of a plan.
type Gatekeeper struct {
	// constraints are policies of Gatekeeper, at most 32. Each is one object of the cluster, that selects the namespaces of the plan
	// by their label kleff.io/tenant-plan.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=kind
	// +listMapKey=name
	// +required
	Constraints []Constraint `json:"constraints,omitempty"`
}

// Constraint is an object of one of the kinds that the cluster's ConstraintTemplates define.
type Constraint struct {
	// kind is the kind of the constraint, such as KleffAllowedRegistries.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Z][A-Za-z0-9]*$')",messageExpression="'\"' + self + '\" is no kind: it begins with a capital letter, and has letters and digits'",message="must begin with a capital letter, and have letters and digits"
	// +required
	Kind string `json:"kind,omitempty"`

	// name is the name of the constraint, unique among all of its kind in the cluster.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",messageExpression="'\"' + self + '\" is no name of an object: use lower-case letters, digits, and inner hyphens and dots'",message="use lower-case letters, digits, and inner hyphens and dots"
	// +required
	Name string `json:"name,omitempty"`

	// parameters are what the ConstraintTemplate takes.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	// +optional
	Parameters *runtime.RawExtension `json:"parameters,omitempty"`

	// enforcementAction says what is done about a violation. Absent means deny.
	// +kubebuilder:default=deny
	// +optional
	EnforcementAction EnforcementAction `json:"enforcementAction,omitempty"`

	// kinds are the kinds of objects that the constraint looks at. Absent means all.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	// +optional
	Kinds []MatchKinds `json:"kinds,omitempty"`
}

// EnforcementAction is what Gatekeeper does about a violation.
//
// +kubebuilder:validation:Enum=deny;dryrun;warn
type EnforcementAction string

// MatchKinds are kinds of objects, in Gatekeeper's own form.
type MatchKinds struct {
	// apiGroups are the groups of the kinds; the empty one is that of pods, and * means all.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=0
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=set
	// +required
	APIGroups []string `json:"apiGroups,omitempty"`

	// kinds are the kinds in these groups; * means all.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=set
	// +required
	Kinds []string `json:"kinds,omitempty"`
}

// EdgeTemplate makes the DistributionTenant of a customer. It is written as in a TenantSource, with the tenant in place of the row
// of a table: its columns are name, userId, username, namespace and plan.
//
// +kubebuilder:validation:MinProperties=1
type EdgeTemplate struct {
	// template is what every DistributionTenant of the plan has unless mapping or expressions say otherwise.
	// +optional
	Template *v1alpha1.TenantTemplate `json:"template,omitempty"`

	// mapping fills fields of the DistributionTenant from those columns, at most 100. Its name is that of the Tenant
	// unless mapping or expressions fill it.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=field
	// +optional
	Mapping []v1alpha1.FieldMapping `json:"mapping,omitempty"`

	// expressions compute fields of the DistributionTenant, such as row.username + '.example.com' for domains, at most 50.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=50
	// +listType=map
	// +listMapKey=field
	// +optional
	Expressions []v1alpha1.FieldExpression `json:"expressions,omitempty"`
}

// Rollout says how a change of a plan goes through its tenants. It begins with one of them, and takes more at a
// time as they succeed.
//
// +kubebuilder:validation:MinProperties=0
type Rollout struct {
	// maxConcurrent is how many tenants are changed at the same time at most. Absent means 10.
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +optional
	MaxConcurrent int32 `json:"maxConcurrent,omitempty"`

	// maxFailedPercent is the share of the tenants tried so far that may fail before no more are changed. A single
	// failed tenant doesn't stop a change unless this is 0. Absent means 10.
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	MaxFailedPercent *int32 `json:"maxFailedPercent,omitempty"`
}

// TenantPlanStatus is what the operator found and did.
//
// +kubebuilder:validation:MinProperties=0
type TenantPlanStatus struct {
	// conditions are RolledOut, PolicyReady, and Ready, which sums them up.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the metadata.generation that the figures and the conditions speak of. -1 means that the object
	// was not looked at yet.
	// +kubebuilder:validation:Minimum=-1
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// tenants is how many tenants name the plan.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Tenants *int32 `json:"tenants,omitempty"`

	// applied is how many of them have the plan as it is now.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Applied *int32 `json:"applied,omitempty"`

	// failed is how many of them could not get it.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Failed *int32 `json:"failed,omitempty"`
}
