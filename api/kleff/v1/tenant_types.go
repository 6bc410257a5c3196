package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Tenant is a customer of the platform. The operator creates a namespace according to its plan, and deletes the
// namespace with the Tenant.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster
// +kubebuilder:printcolumn:name="NAMESPACE",type=string,JSONPath=`.status.namespace`,description="The customer's namespace"
// +kubebuilder:printcolumn:name="PLAN",type=string,JSONPath=`.spec.plan`,description="The plan in the spec"
// +kubebuilder:printcolumn:name="READY",type=string,JSONPath=`.status.conditions[?(@.type=="TenantReady")].status`,description="The namespace matches the plan"
// +kubebuilder:printcolumn:name="REASON",type=string,JSONPath=`.status.conditions[?(@.type=="TenantReady")].reason`,description="Why it is ready or not"
// +kubebuilder:printcolumn:name="SUSPENDED",type=boolean,priority=1,JSONPath=`.spec.suspended`,description="No new pods start"
// +kubebuilder:printcolumn:name="USERNAME",type=string,priority=1,JSONPath=`.spec.username`,description="The customer's name"
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="!(has(oldSelf.spec.__namespace__) ? oldSelf.spec.__namespace__ : oldSelf.spec.userId).matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$') || (has(self.spec.__namespace__) ? self.spec.__namespace__ : self.spec.userId) == (has(oldSelf.spec.__namespace__) ? oldSelf.spec.__namespace__ : oldSelf.spec.userId)",messageExpression="'the namespace of a tenant cannot be changed and is \"' + (has(oldSelf.spec.__namespace__) ? oldSelf.spec.__namespace__ : oldSelf.spec.userId) + '\": set spec.namespace to it, or delete this object and create a new one'",message="the namespace of a tenant cannot be changed: restore the previous spec.namespace, or delete this object and create a new one",fieldPath=".spec.namespace"
type Tenant struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the desired state. The operator never writes to it.
	// +required
	Spec TenantSpec `json:"spec"`

	// status is the observed state.
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

// TenantSpec is the desired state of a Tenant.
type TenantSpec struct {
	// plan is the name of the TenantPlan for the namespace. If there is no such plan, the namespace is still created, and
	// keeps what it has from an earlier plan. The name is used as a label value, so it must be a valid one.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Plan string `json:"plan,omitempty"`

	// userId is the customer's user name in the API server. The plan can give this user permissions in the namespace. It
	// is also the name of the namespace, unless spec.namespace is set.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	UserID string `json:"userId,omitempty"`

	// username is the customer's name. It is used as a label value of the namespace, so it must be a valid one: letters,
	// digits, and inner hyphens, underscores and dots, at most 63.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Username string `json:"username,omitempty"`

	// namespace is the name of the customer's namespace. Default: userId. A valid name can't be changed later. Names that
	// tenants may not have are rejected. An existing namespace is not adopted unless its annotation kleff.io/adopt-by is
	// set to the name of this tenant.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// suspended keeps new pods from starting in the namespace. Running pods keep running, and the namespace and its data
	// are kept. Default: false.
	// +optional
	Suspended bool `json:"suspended,omitempty"`

	// deletionPolicy says what happens to the namespace when this object is deleted. Delete: it is deleted with
	// everything in it. Retain: it is kept as it is, and no longer belongs to a tenant. Default: Delete.
	// +kubebuilder:default=Delete
	// +optional
	DeletionPolicy NamespaceDeletionPolicy `json:"deletionPolicy,omitempty"`

	// deletionProtection prevents the deletion of this object. The chart installs a policy that rejects the deletion.
	// Without the policy, the object keeps its finalizer, nothing is deleted, and TenantReady reports it, until this is
	// false. Default: false.
	// +optional
	DeletionProtection bool `json:"deletionProtection,omitempty"`
}

// NamespaceDeletionPolicy says what happens to a namespace when its Tenant is deleted.
//
// +kubebuilder:validation:Enum=Delete;Retain
type NamespaceDeletionPolicy string

// The deletion policies.
const (
	DeletionDelete NamespaceDeletionPolicy = "Delete"
	DeletionRetain NamespaceDeletionPolicy = "Retain"
)

// TenantStatus is the observed state.
//
// +kubebuilder:validation:MinProperties=0
type TenantStatus struct {
	// conditions are NamespaceReady, PlanApplied, MeshReady, PolicyReady, EdgeReady, and TenantReady, which summarizes
	// them. Ready is the same as TenantReady, for tools that only know that name.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the metadata.generation that the conditions refer to. -1 means that the object has not been
	// processed yet.
	// +kubebuilder:validation:Minimum=-1
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// appliedGeneration is the last metadata.generation that was applied to the namespace. If absent, it is
	// observedGeneration, as in a status written by an earlier version.
	// +kubebuilder:validation:Minimum=0
	// +optional
	AppliedGeneration *int64 `json:"appliedGeneration,omitempty"`

	// namespace is the customer's namespace, once it belongs to this tenant.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// plan is the name of the plan that was last applied. It differs from spec.plan if that plan does not exist.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Plan string `json:"plan,omitempty"`

	// planUID is the UID of the plan that was last tried.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +optional
	PlanUID string `json:"planUID,omitempty"`

	// planGeneration is the content of the plan that was last tried. It is lower than status.content.generation of the plan
	// until a change of the plan is rolled out to this tenant.
	// +kubebuilder:validation:Minimum=1
	// +optional
	PlanGeneration int64 `json:"planGeneration,omitempty"`
}
