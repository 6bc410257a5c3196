package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// TenantPlan defines the namespaces of its tenants: limits, network isolation, Istio, Gatekeeper policies, and a
// DistributionTenant. Changes are rolled out to a few tenants at a time.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster
// +kubebuilder:printcolumn:name="TENANTS",type=integer,JSONPath=`.status.tenants`,description="Tenants that reference the plan"
// +kubebuilder:printcolumn:name="APPLIED",type=integer,JSONPath=`.status.applied`,description="Tenants with the current version of the plan"
// +kubebuilder:printcolumn:name="FAILED",type=integer,JSONPath=`.status.failed`,description="Tenants to which the plan could not be applied"
// +kubebuilder:printcolumn:name="READY",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Every tenant has the current version of the plan"
// +kubebuilder:printcolumn:name="REASON",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it is ready or not"
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
type TenantPlan struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the desired state of the namespaces. The operator never writes to it.
	// +required
	Spec TenantPlanSpec `json:"spec"`

	// status is the observed state.
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

// TenantPlanSpec is the desired state of the namespaces of a plan. Anything that is omitted is removed from them.
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

	// networkIsolation says who can reach the pods of a namespace: Namespace allows its own pods, NamespaceAndIngress
	// also pods in spec.ingressNamespaces, None everyone. It becomes NetworkPolicies, which the cluster's network plugin
	// must enforce. Default: None.
	// +kubebuilder:default=None
	// +optional
	NetworkIsolation Isolation `json:"networkIsolation,omitempty"`

	// ingressNamespaces are the namespaces whose pods bring traffic from outside, for networkIsolation and
	// istio.authorizationPolicy. No Tenant can have one of them. Default: istio-system and istio-ingress.
	// +kubebuilder:default={istio-system,istio-ingress}
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.all(n, n.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'))",message="must be names of namespaces: lower-case letters, digits and inner hyphens"
	// +listType=set
	// +optional
	IngressNamespaces []string `json:"ingressNamespaces,omitempty"`

	// owner gives the customer permissions in the namespace.
	// +optional
	Owner *Owner `json:"owner,omitempty"`

	// labels are set on each namespace, in addition to the operator's own, at most 50.
	// +kubebuilder:validation:MinProperties=0
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('kleff.io/') && !k.startsWith('pod-security.kubernetes.io/') && !(k in ['istio-injection', 'istio.io/rev', 'istio.io/dataplane-mode', 'kubernetes.io/metadata.name', 'app.kubernetes.io/managed-by']))",message="labels with the prefix kleff.io/, labels of pod security and Istio injection, and app.kubernetes.io/managed-by are set by the operator: remove them, and use podSecurity and istio"
	// +optional
	Labels map[string]LabelValue `json:"labels,omitempty"`

	// annotations are set on each namespace, at most 50.
	// +kubebuilder:validation:MinProperties=0
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('kleff.io/'))",message="annotations with the prefix kleff.io/ are reserved for the operator: remove them"
	// +optional
	Annotations map[string]AnnotationValue `json:"annotations,omitempty"`

	// istio configures Istio for the namespaces. If omitted, only sidecar injection is enabled, with the label
	// istio-injection.
	// +optional
	Istio *Istio `json:"istio,omitempty"`

	// gatekeeper are policies for all namespaces of the plan.
	// +optional
	Gatekeeper *Gatekeeper `json:"gatekeeper,omitempty"`

	// distributionTenant creates a DistributionTenant in each namespace.
	// +optional
	DistributionTenant *EdgeTemplate `json:"distributionTenant,omitempty"`

	// rollout says how changes of this plan are rolled out.
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

// Isolation says who can reach a namespace.
//
// +kubebuilder:validation:Enum=None;Namespace;NamespaceAndIngress
type Isolation string

// The kinds of isolation.
const (
	IsolationNone                Isolation = "None"
	IsolationNamespace           Isolation = "Namespace"
	IsolationNamespaceAndIngress Isolation = "NamespaceAndIngress"
)

// PodSecurity configures pod security admission for a namespace.
//
// +kubebuilder:validation:MinProperties=1
type PodSecurity struct {
	// enforce is the level that pods must comply with, or they are rejected. A level below that of the chart value
	// tenancy.minPodSecurity, which is baseline by default, makes the plan invalid. Default: the level of that value.
	// +optional
	Enforce PodSecurityLevel `json:"enforce,omitempty"`

	// audit is the level whose violations are recorded in the API server's audit log.
	// +optional
	Audit PodSecurityLevel `json:"audit,omitempty"`

	// warn is the level whose violations produce a warning for the user.
	// +optional
	Warn PodSecurityLevel `json:"warn,omitempty"`

	// version is the Kubernetes version that defines the levels, such as v1.36, or latest. Default: latest.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="self.matches('^(latest|v1[.](0|[1-9][0-9]*))$')",messageExpression="'\"' + self + '\" is not a pod security version: use latest, or a version such as v1.36'",message="use latest, or a version such as v1.36"
	// +optional
	Version string `json:"version,omitempty"`
}

// PodSecurityLevel is one of the levels of the Pod Security Standards.
//
// +kubebuilder:validation:Enum=privileged;baseline;restricted
type PodSecurityLevel string

// Owner defines the permissions of the customer's user in the namespace.
type Owner struct {
	// clusterRole is the ClusterRole that is bound to the user spec.userId in the namespace, such as edit. The operator
	// can bind only the roles in the chart value tenancy.ownerClusterRoles.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	ClusterRole string `json:"clusterRole,omitempty"`
}

// Istio configures Istio for a namespace.
//
// +kubebuilder:validation:MinProperties=0
// +kubebuilder:validation:XValidation:rule="!has(self.revision) || !has(self.injection) || self.injection == 'Enabled'",message="a revision requires sidecar injection: remove revision, or set injection to Enabled",fieldPath=".revision"
type Istio struct {
	// injection says how pods join the mesh. Enabled: with a sidecar, using the label istio-injection, or istio.io/rev if
	// a revision is set. Ambient: without a sidecar, using the label istio.io/dataplane-mode. Disabled: they do not join.
	// Default: Enabled.
	// +optional
	Injection Injection `json:"injection,omitempty"`

	// revision is the revision or tag of the control plane whose sidecars are injected. The label istio.io/rev is then
	// used instead of istio-injection.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",messageExpression="'\"' + self + '\" is not a revision: use lower-case letters, digits and inner hyphens'",message="use lower-case letters, digits and inner hyphens"
	// +optional
	Revision string `json:"revision,omitempty"`

	// gateway becomes the Gateway kleff-gateway of each namespace.
	// +optional
	Gateway *Gateway `json:"gateway,omitempty"`

	// authorizationPolicy says whose requests the pods of a namespace accept: Namespace allows its own workloads,
	// NamespaceAndIngress also those in spec.ingressNamespaces, None everyone. Clients are identified by mTLS, so
	// requests without mTLS are rejected. It becomes the AuthorizationPolicy kleff-tenant. Default: None.
	// +optional
	AuthorizationPolicy Isolation `json:"authorizationPolicy,omitempty"`

	// peerAuthentication is the mode of mTLS for requests to the namespace. It becomes the PeerAuthentication
	// kleff-tenant. If omitted, the setting of the mesh applies.
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

// PeerAuthenticationMode is a mode of mTLS, as in Istio.
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

	// hosts are the names that are served, at most 32. In them, {{username}}, {{userId}}, {{name}}, {{namespace}} and
	// {{plan}} are replaced by the values of the Tenant, as in {{username}}.apps.example.com. Each value must be one label
	// of a DNS name. With the prefix ./ only routes in the customer's own namespace can use the name. Without it, routes
	// in any namespace can, as usual in Istio.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	// +listType=set
	// +required
	Hosts []string `json:"hosts,omitempty"`

	// tlsSecret is the name of the Secret with the certificate of the hosts, in the namespace of the gateway's pods. It
	// may contain placeholders like hosts. The hosts are then served over HTTPS, and HTTP is redirected. Default: HTTP
	// only.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	TLSSecret string `json:"tlsSecret,omitempty"`
}

// Gatekeeper are the constraints of a plan.
type Gatekeeper struct {
	// constraints are policies of Gatekeeper, at most 32. Each is one cluster-scoped object that selects the namespaces
	// of the plan by their label kleff.io/tenant-plan.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=kind
	// +listMapKey=name
	// +required
	Constraints []Constraint `json:"constraints,omitempty"`
}

// Constraint is a Gatekeeper constraint of a kind that a ConstraintTemplate in the cluster defines.
type Constraint struct {
	// kind is the kind of the constraint, such as KleffAllowedRegistries.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Z][A-Za-z0-9]*$')",messageExpression="'\"' + self + '\" is not a kind: use a capital letter followed by letters and digits'",message="must be a capital letter followed by letters and digits"
	// +required
	Kind string `json:"kind,omitempty"`

	// name is the name of the constraint, unique among all of its kind in the cluster.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",messageExpression="'\"' + self + '\" is not an object name: use lower-case letters, digits, and inner hyphens and dots'",message="use lower-case letters, digits, and inner hyphens and dots"
	// +required
	Name string `json:"name,omitempty"`

	// parameters are the parameters of the ConstraintTemplate.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	// +optional
	Parameters *runtime.RawExtension `json:"parameters,omitempty"`

	// enforcementAction says what to do about a violation. Default: deny.
	// +kubebuilder:default=deny
	// +optional
	EnforcementAction EnforcementAction `json:"enforcementAction,omitempty"`

	// kinds are the kinds of objects that the constraint checks. Default: all.
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

// MatchKinds are kinds of objects, as in Gatekeeper.
type MatchKinds struct {
	// apiGroups are the groups of the kinds; the empty group is the core group, and * means all.
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

// EdgeTemplate creates the DistributionTenant of a customer. It works as in a TenantSource, with the Tenant instead of
// a row of a table. Its columns are name, userId, username, namespace and plan.
//
// +kubebuilder:validation:MinProperties=1
type EdgeTemplate struct {
	// template has the values for every DistributionTenant of the plan that mapping and expressions do not set.
	// +optional
	Template *v1alpha1.TenantTemplate `json:"template,omitempty"`

	// mapping sets fields of the DistributionTenant from these columns, at most 100. Its name is that of the Tenant,
	// unless mapping or expressions set it.
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

// Rollout says how changes of a plan are rolled out. A rollout starts with one tenant, or with those that canary
// selects, and continues with more at a time as they succeed.
//
// +kubebuilder:validation:MinProperties=0
type Rollout struct {
	// canary selects the tenants that get a change first. Default: one tenant.
	// +optional
	Canary *v1alpha1.RolloutCanary `json:"canary,omitempty"`

	// step is how many more tenants get it in each step after them. Default: as many more as have succeeded.
	// +optional
	Step *v1alpha1.RolloutStep `json:"step,omitempty"`

	// pause is how long no other tenant gets it after the canaries, and after each step, 1s to 168h (7 days). It begins
	// when all tenants of the step have it, or have failed. Default: none.
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(h|m|s|ms))+$') && duration(self) >= duration('1s') && duration(self) <= duration('168h')",messageExpression="'\"' + self + '\" is not a duration of 1s to 168h: write it like 30m'",message="use a duration of 1s to 168h, like 30m"
	// +kubebuilder:validation:Type=string
	// +optional
	Pause *metav1.Duration `json:"pause,omitempty"`

	// paused holds the change: no other tenant gets it until this is removed.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// maxConcurrent is the maximum number of tenants that are changed at the same time. Default: 10.
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +optional
	MaxConcurrent int32 `json:"maxConcurrent,omitempty"`

	// maxFailedPercent is the percentage of the tenants tried so far that may fail before the rollout is stopped. A
	// single failure does not count, unless this is 0 or the tenant is one of the canaries that canary selects. Default: 10.
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	MaxFailedPercent *int32 `json:"maxFailedPercent,omitempty"`
}

// PlanContent identifies what a plan gives its tenants: everything in spec except rollout.
type PlanContent struct {
	// generation is the first metadata.generation with this content. Tenants that have it show it in
	// status.planGeneration.
	// +kubebuilder:validation:Minimum=1
	// +required
	Generation int64 `json:"generation,omitempty"`

	// observedGeneration is the last metadata.generation with this content that the operator has seen.
	// +kubebuilder:validation:Minimum=1
	// +required
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// hash is a hash of the content.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +required
	Hash string `json:"hash,omitempty"`
}

// TenantPlanStatus is the observed state.
//
// +kubebuilder:validation:MinProperties=0
type TenantPlanStatus struct {
	// conditions are RolledOut, PolicyReady, and Ready, which summarizes them.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the metadata.generation that the numbers and the conditions refer to. -1 means that the
	// object has not been processed yet.
	// +kubebuilder:validation:Minimum=-1
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// content identifies what the plan gives its tenants. If absent, it has been the same since observedGeneration, as in a
	// status written by an earlier version.
	// +optional
	Content *PlanContent `json:"content,omitempty"`

	// tenants is the number of tenants that reference the plan.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Tenants *int32 `json:"tenants,omitempty"`

	// applied is the number of them that have the current version of the plan.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Applied *int32 `json:"applied,omitempty"`

	// failed is the number of them to which it could not be applied.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Failed *int32 `json:"failed,omitempty"`

	// rollout is the step of a rollout that goes in steps.
	// +optional
	Rollout *v1alpha1.RolloutProgress `json:"rollout,omitempty"`
}
