package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Tenant is a customer of the platform. It gives them a namespace with what their plan says, and takes it down
// when the customer leaves.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster
// +kubebuilder:printcolumn:name="NAMESPACE",type=string,JSONPath=`.status.namespace`,description="The customer's namespace"
// +kubebuilder:printcolumn:name="PLAN",type=string,JSONPath=`.spec.plan`,description="The plan that the customer asks for"
// +kubebuilder:printcolumn:name="READY",type=string,JSONPath=`.status.conditions[?(@.type=="TenantReady")].status`,description="The namespace has all that the plan says"
// +kubebuilder:printcolumn:name="REASON",type=string,JSONPath=`.status.conditions[?(@.type=="TenantReady")].reason`,description="Why it is ready or not"
// +kubebuilder:printcolumn:name="SUSPENDED",type=boolean,priority=1,JSONPath=`.spec.suspended`,description="No new pods start"
// +kubebuilder:printcolumn:name="USERNAME",type=string,priority=1,JSONPath=`.spec.username`,description="The customer's name"
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="!(has(oldSelf.spec.__namespace__) ? oldSelf.spec.__namespace__ : oldSelf.spec.userId).matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$') || (has(self.spec.__namespace__) ? self.spec.__namespace__ : self.spec.userId) == (has(oldSelf.spec.__namespace__) ? oldSelf.spec.__namespace__ : oldSelf.spec.userId)",messageExpression="'the namespace of a tenant can not be changed and is \"' + (has(oldSelf.spec.__namespace__) ? oldSelf.spec.__namespace__ : oldSelf.spec.userId) + '\": set spec.namespace to it, or delete this object and create another'",message="the namespace of a tenant can not be changed: set spec.namespace to the former one, or delete this object and create another",fieldPath=".spec.namespace"
type Tenant struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what the customer should have. It belongs to its author: the operator never writes to it.
	// +required
	Spec TenantSpec `json:"spec"`

	// status is what the operator found and did.
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status TenantStatus `json:"status,omitzero"`
}

// TenantList is a list of Tenant objects.
//
// +kubebuilder:object:root=true
type TenantList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	// items are the objects.
	Items []Tenant `json:"items"`
}

// TenantSpec is what a customer should have.
type TenantSpec struct {
	// plan is the name of the TenantPlan that says what the namespace has. While there is no such plan, the
	// namespace is made all the same, and keeps what a former plan gave it. It becomes a label, so that it has
	// to be a legal value of one.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Plan string `json:"plan,omitempty"`

	// userId is the customer's user, as the API server knows them. The plan may give this user rights in the
	// namespace, and it is the name of the namespace unless spec.namespace gives another.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	UserID string `json:"userId,omitempty"`

	// username is the customer's name. It becomes a label of the namespace, so that it has to be a legal value of
	// one: letters, digits, and inner hyphens, underscores and dots, at most 63.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Username string `json:"username,omitempty"`

	// namespace is the name of the customer's namespace. Absent means userId. The resulting name can't be
	// changed once it is a legal one. Reserved names are refused, and a namespace that exists is not taken unless its annotation
	// kleff.io/adopt-by names this tenant.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// suspended keeps new pods from starting in the namespace. What runs goes on running, and the namespace
	// and its data stay. Absent means false.
	// +optional
	Suspended bool `json:"suspended,omitempty"`

	// deletionPolicy says what becomes of the namespace when this object is deleted. Delete: it is deleted
	// with all that is in it. Retain: it stays as it is, and is nobody's. Absent means Delete.
	// +kubebuilder:default=Delete
	// +optional
	DeletionPolicy NamespaceDeletionPolicy `json:"deletionPolicy,omitempty"`

	// deletionProtection keeps this object from being deleted. Where the cluster does not refuse the
	// deletion (the chart installs the policy for it), the object stays with its finalizer, nothing is torn down, and TenantReady says so, until
	// this is false. Absent means false.
	// +optional
	DeletionProtection bool `json:"deletionProtection,omitempty"`
}

// NamespaceDeletionPolicy says what becomes of a namespace whose Tenant is deleted.
//
// +kubebuilder:validation:Enum=Delete;Retain
type NamespaceDeletionPolicy string

// The deletion policies.
const (
	DeletionDelete NamespaceDeletionPolicy = "Delete"
	DeletionRetain NamespaceDeletionPolicy = "Retain"
)

// TenantStatus is what the operator found and did.
//
// +kubebuilder:validation:MinProperties=0
type TenantStatus struct {
	// conditions are NamespaceReady, PlanApplied, MeshReady, PolicyReady, EdgeReady, and TenantReady, which sums them up.
	// Ready repeats TenantReady for tools that know no other name.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the last metadata.generation that was seen and judged: what the conditions say holds for
	// it. -1 means that the object was not looked at yet.
	// +kubebuilder:validation:Minimum=-1
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// appliedGeneration is the last metadata.generation that the namespace was made equal to. Absent means that it is
	// observedGeneration, as in a status of an earlier version.
	// +kubebuilder:validation:Minimum=0
	// +optional
	AppliedGeneration *int64 `json:"appliedGeneration,omitempty"`

	// namespace is the customer's namespace, once it is this tenant's.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// plan is the name of the plan that was last applied. It differs from spec.plan while that one does not
	// exist.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Plan string `json:"plan,omitempty"`

	// planUID is the UID of the plan that was last tried.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +optional
	PlanUID string `json:"planUID,omitempty"`

	// planGeneration is the metadata.generation of the plan that was last tried. It lags behind the
	// plan's own while a change of the plan is on its way through the tenants.
	// +kubebuilder:validation:Minimum=1
	// +optional
	PlanGeneration int64 `json:"planGeneration,omitempty"`
}
