package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConnectionGroup is a CloudFront connection group: the routing endpoint that the DNS names of distribution
// tenants point at. One object stands for one connection group in AWS, from its creation to its deletion.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=cfcg,categories=aws
// +kubebuilder:printcolumn:name="STATUS",type=string,JSONPath=`.status.deploymentStatus`,description="Deployment status in AWS"
// +kubebuilder:printcolumn:name="READY",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Deployed and ready for tenants"
// +kubebuilder:printcolumn:name="SYNCED",type=string,JSONPath=`.status.conditions[?(@.type=="Synced")].status`,description="AWS equals the spec"
// +kubebuilder:printcolumn:name="ID",type=string,JSONPath=`.status.id`,description="ID of the connection group in AWS"
// +kubebuilder:printcolumn:name="ENDPOINT",type=string,JSONPath=`.status.routingEndpoint`,description="Where DNS has to point"
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="REASON",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it is ready or not"
// +kubebuilder:validation:XValidation:rule="has(self.spec.name) || size(self.metadata.name) <= 128",message="metadata.name is also the name of the connection group in AWS, which takes at most 128 characters: set spec.name",fieldPath=".spec.name"
// +kubebuilder:validation:XValidation:rule="(has(self.spec.name) ? self.spec.name : self.metadata.name) == (has(oldSelf.spec.name) ? oldSelf.spec.name : oldSelf.metadata.name)",messageExpression="'the name of a connection group in AWS can not be changed and is \"' + (has(oldSelf.spec.name) ? oldSelf.spec.name : oldSelf.metadata.name) + '\": put that value back, or delete this object and create another'",message="the name of a connection group in AWS can not be changed: put the former value back, or delete this object and create another",fieldPath=".spec.name"
type ConnectionGroup struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata. Its name is also the name of the connection group in AWS,
	// unless spec.name gives another.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what the connection group should be. It belongs to its author: the operator never writes to it.
	// +required
	Spec ConnectionGroupSpec `json:"spec"`

	// status is what the operator found and learned.
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status ConnectionGroupStatus `json:"status,omitzero"`
}

// ConnectionGroupList is a list of ConnectionGroup objects.
//
// +kubebuilder:object:root=true
type ConnectionGroupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	// items are the objects.
	Items []ConnectionGroup `json:"items"`
}

// ConnectionGroupSpec is the desired connection group.
//
// +kubebuilder:validation:MinProperties=0
type ConnectionGroupSpec struct {
	ConnectionGroupConfig `json:",inline"`
	ResourcePolicies      `json:",inline"`

	// name is the name of the connection group in AWS, unique in the AWS account. The default group has one
	// as well and can be adopted by it; it is never deleted. Absent means metadata.name. The resulting name
	// can't be changed.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[!-~]+$')",messageExpression="'\"' + self + '\" is no name for a connection group: use up to 128 ASCII characters without spaces'",message="use up to 128 ASCII characters without spaces"
	// +optional
	Name string `json:"name,omitempty"`
}

// ConnectionGroupConfig is what can be chosen of a connection group in AWS.
//
// +kubebuilder:validation:MinProperties=0
type ConnectionGroupConfig struct {
	// enabled says whether the routing endpoint answers. A group that tenants use can't be disabled.
	// Absent means true.
	// +kubebuilder:default=true
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// ipv6Enabled says whether the routing endpoint has IPv6 addresses beside the IPv4 ones. Absent means
	// true.
	// +kubebuilder:default=true
	// +optional
	IPv6Enabled *bool `json:"ipv6Enabled,omitempty"`

	// anycastIpListId is the ID of the Anycast static IP list from which the routing endpoint takes its
	// addresses. Absent means none: the endpoint has the addresses that CloudFront chooses.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_-]+$')",messageExpression="'\"' + self + '\" is not the ID of an Anycast static IP list: give the ID, letters, digits, hyphens and underscores, and not the ARN'",message="must be the ID of an Anycast static IP list, not the ARN"
	// +optional
	AnycastIPListID string `json:"anycastIpListId,omitempty"`
}

// ConnectionGroupStatus is what the operator found in AWS, and the little it has to remember.
//
// +kubebuilder:validation:MinProperties=0
type ConnectionGroupStatus struct {
	ResourceStatus `json:",inline"`

	// name is the name of the connection group in AWS.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Name string `json:"name,omitempty"`

	// routingEndpoint is the DNS name that the tenants' domains have to point at.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	RoutingEndpoint string `json:"routingEndpoint,omitempty"`

	// isDefault tells whether this is the account's default group, which tenants without a group of their
	// own use. It is never disabled or deleted. Absent means no.
	// +optional
	IsDefault bool `json:"isDefault,omitempty"`
}
