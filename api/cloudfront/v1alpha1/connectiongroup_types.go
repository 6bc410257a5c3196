package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConnectionGroup is a CloudFront connection group: the routing endpoint that the domains of distribution tenants
// point to. One object represents one connection group in AWS.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=cfcg,categories=aws
// +kubebuilder:printcolumn:name="STATUS",type=string,JSONPath=`.status.deploymentStatus`,description="Deployment status in AWS"
// +kubebuilder:printcolumn:name="READY",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Deployed and ready for tenants"
// +kubebuilder:printcolumn:name="SYNCED",type=string,JSONPath=`.status.conditions[?(@.type=="Synced")].status`,description="AWS matches the spec"
// +kubebuilder:printcolumn:name="ID",type=string,JSONPath=`.status.id`,description="ID of the connection group in AWS"
// +kubebuilder:printcolumn:name="ENDPOINT",type=string,JSONPath=`.status.routingEndpoint`,description="Target of the DNS records"
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="REASON",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it is ready or not"
// +kubebuilder:validation:XValidation:rule="has(self.spec.name) || size(self.metadata.name) <= 128",message="metadata.name is also the name of the connection group in AWS, which must have at most 128 characters: set spec.name",fieldPath=".spec.name"
// +kubebuilder:validation:XValidation:rule="(has(self.spec.name) ? self.spec.name : self.metadata.name) == (has(oldSelf.spec.name) ? oldSelf.spec.name : oldSelf.metadata.name)",messageExpression="'the name of a connection group in AWS cannot be changed and is \"' + (has(oldSelf.spec.name) ? oldSelf.spec.name : oldSelf.metadata.name) + '\": restore that value, or delete this object and create a new one'",message="the name of a connection group in AWS cannot be changed: restore the previous value, or delete this object and create a new one",fieldPath=".spec.name"
type ConnectionGroup struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata. Its name is also the name of the connection group in AWS, unless
	// spec.name is set.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the desired state. The operator never writes to it.
	// +required
	Spec ConnectionGroupSpec `json:"spec"`

	// status is the observed state.
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

	// name is the name of the connection group in AWS, unique in the AWS account. The account's default group can be
	// adopted by its name, and is never deleted. Default: metadata.name. The resulting name can't be changed.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[!-~]+$')",messageExpression="'\"' + self + '\" is not a connection group name: use up to 128 ASCII characters without spaces'",message="use up to 128 ASCII characters without spaces"
	// +optional
	Name string `json:"name,omitempty"`

	// customerTargets are names of your own that lead to the routing endpoint, at most 16. The operator publishes them, and
	// customers are told to point their domains at the first one instead of the endpoint, which you can then change without
	// them. Default: none.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	// +optional
	CustomerTargets []CustomerTarget `json:"customerTargets,omitempty"`
}

// CustomerTarget is a name of the platform's own that leads to the routing endpoint of a connection group.
type CustomerTarget struct {
	// name is a fully qualified domain name in a zone of yours, in lower case, without a dot at the end. It must be no domain
	// of a tenant.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?[.])+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$')",messageExpression="'\"' + self + '\" is not a fully qualified domain name like cname.shop.example: two or more labels of 1 to 63 lower-case letters, digits and inner hyphens, joined by dots; no wildcard, underscore or dot at the end'",message="must be a fully qualified domain name like cname.shop.example, in lower case and without a wildcard"
	// +kubebuilder:validation:XValidation:rule="!self.endsWith('.cloudfront.net')",messageExpression="'\"' + self + '\" is a name of CloudFront, so it would lead to itself: use a name in a zone of your own'",message="use a name in a zone of your own, not one of CloudFront"
	// +required
	Name string `json:"name,omitempty"`

	// dns says where and how the record of the name is published.
	// +required
	DNS *DNS `json:"dns,omitempty"`
}

// ConnectionGroupConfig is the configuration of a connection group in AWS.
//
// +kubebuilder:validation:MinProperties=0
type ConnectionGroupConfig struct {
	// enabled says whether the routing endpoint serves requests. A group that tenants use can't be disabled. Default:
	// true.
	// +kubebuilder:default=true
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// ipv6Enabled says whether the routing endpoint has IPv6 addresses in addition to IPv4. Default: true.
	// +kubebuilder:default=true
	// +optional
	IPv6Enabled *bool `json:"ipv6Enabled,omitempty"`

	// anycastIpListId is the ID of the Anycast static IP list from which the routing endpoint takes its addresses.
	// Default: none. CloudFront then chooses the addresses.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_-]+$')",messageExpression="'\"' + self + '\" is not the ID of an Anycast static IP list: use the ID (letters, digits, hyphens and underscores), not the ARN'",message="must be the ID of an Anycast static IP list, not the ARN"
	// +optional
	AnycastIPListID string `json:"anycastIpListId,omitempty"`
}

// ConnectionGroupStatus is the observed state.
//
// +kubebuilder:validation:MinProperties=0
type ConnectionGroupStatus struct {
	ResourceStatus `json:",inline"`

	// name is the name of the connection group in AWS.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Name string `json:"name,omitempty"`

	// routingEndpoint is the DNS name that the domains of the tenants must point to.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	RoutingEndpoint string `json:"routingEndpoint,omitempty"`

	// isDefault says whether this is the account's default group, which tenants use unless they set a group. It is never
	// disabled or deleted. Default: no.
	// +optional
	IsDefault bool `json:"isDefault,omitempty"`

	// customerTargets have the DNS records of each customer target: those of the spec, and those that are being removed. The
	// operator needs it as its record of what it has published.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=name
	// +optional
	CustomerTargets []CustomerTargetStatus `json:"customerTargets,omitempty"`
}

// CustomerTargetStatus is what was published for a customer target.
type CustomerTargetStatus struct {
	// name is that of the target.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name,omitempty"`

	// records are the records that are published, about to be published, or about to be deleted, at most 16.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	// +required
	Records []DNSRecord `json:"records,omitempty"`
}
