package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DomainClaim says which namespace may have a domain that no object serves: one that an administrator reserves, that was
// released a while ago, or that is handed over. A domain that is served needs none.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=cfdc
// +kubebuilder:printcolumn:name="PHASE",type=string,JSONPath=`.status.phase`,description="Reserved, HandOver or Held"
// +kubebuilder:printcolumn:name="NAMESPACE",type=string,JSONPath=`.spec.namespace`,description="The only namespace that may have the domain"
// +kubebuilder:printcolumn:name="SUBDOMAINS",type=boolean,JSONPath=`.spec.subdomains`,description="Whether it is for everything below the domain, too"
// +kubebuilder:printcolumn:name="UNTIL",type=string,JSONPath=`.spec.until`,description="When the claim ends"
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="FROM",type=string,priority=1,JSONPath=`.status.from.name`,description="Object that has released the domain"
// +kubebuilder:validation:XValidation:rule="!self.spec.domain.matches('^([*][.])?[a-z0-9.-]*[a-z0-9]$') || self.metadata.name == (self.spec.domain.startsWith('*.') ? '0wildcard.' + self.spec.domain.substring(2) : self.spec.domain)",messageExpression="'a claim has the name of its domain: set metadata.name to \"' + (self.spec.domain.startsWith('*.') ? '0wildcard.' + self.spec.domain.substring(2) : self.spec.domain) + '\"'",message="a claim has the name of its domain, or 0wildcard.example.com for *.example.com: set metadata.name to it",fieldPath=".spec.domain"
type DomainClaim struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata. Its name is spec.domain, or 0wildcard.example.com for *.example.com.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is who may have the domain.
	// +required
	Spec DomainClaimSpec `json:"spec"`

	// status is the observed state.
	// +optional
	Status DomainClaimStatus `json:"status,omitzero"`
}

// DomainClaimList is a list of DomainClaim objects.
//
// +kubebuilder:object:root=true
type DomainClaimList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	// items are the objects.
	Items []DomainClaim `json:"items"`
}

// DomainClaimSpec is who may have a domain.
//
// +kubebuilder:validation:XValidation:rule="!has(self.tenantRef) || has(self.handOver) && self.handOver",messageExpression="'only a hand-over has a receiver: set handOver to true to move the domain to ' + self.tenantRef.name + ', or remove tenantRef to reserve it for every object of the namespace'",message="only a hand-over has a receiver: set handOver to true, or remove tenantRef",fieldPath=".tenantRef"
// +kubebuilder:validation:XValidation:rule="!has(self.fromDistributionId) || has(self.handOver) && self.handOver",messageExpression="'only a hand-over takes a domain from a distribution, and fromDistributionId is \"' + self.fromDistributionId + '\": set handOver to true to move the domain, or remove fromDistributionId to reserve it'",message="only a hand-over takes a domain from a distribution: set handOver to true, or remove fromDistributionId",fieldPath=".fromDistributionId"
type DomainClaimSpec struct {
	// domain is a fully qualified domain name of at most 253 characters, in lower case, without a dot at the end.
	// Internationalized names are in punycode. A wildcard is the entire leftmost label, as in *.example.com. It can't be
	// changed.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",messageExpression="'the domain of a claim cannot be changed and is \"' + oldSelf + '\": delete this claim and create another one'",message="the domain of a claim cannot be changed: delete this claim and create another one"
	// +kubebuilder:validation:XValidation:rule="self.matches('^[ -~]*$')",messageExpression="'\"' + self + '\" has characters outside ASCII: write an internationalized domain name in punycode, with each such label as xn--...'",message="write an internationalized domain name in punycode, with each such label as xn--..."
	// +kubebuilder:validation:XValidation:rule="self == self.lowerAscii()",messageExpression="'\"' + self + '\" has capital letters: write \"' + self.lowerAscii() + '\"'",message="write the domain in lower case"
	// +kubebuilder:validation:XValidation:rule="!self.endsWith('.')",messageExpression="'\"' + self + '\" ends with a dot: remove it'",message="remove the dot at the end of the domain"
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('0wildcard.')",messageExpression="'\"' + self + '\" begins with 0wildcard, which is only in the names of claims for wildcards: write *.' + self.substring(10)",message="0wildcard is only in the names of claims for wildcards: write the domain as in *.example.com"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[ -~]*$') || self.lowerAscii().matches('^([*][.])?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?[.])+[a-z]([a-z0-9-]{0,61}[a-z0-9])?[.]?$')",messageExpression="'\"' + self + '\" is not a fully qualified domain name like shop.example.com or *.example.com: two or more labels of 1 to 63 letters, digits and inner hyphens, joined by dots'",message="must be a fully qualified domain name like shop.example.com or *.example.com: two or more labels of 1 to 63 letters, digits and inner hyphens, joined by dots"
	// +required
	Domain string `json:"domain,omitempty"`

	// namespace is the only one whose objects may take the domain. Objects of other namespaces that serve it already
	// keep it, unless it is handed over.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')",messageExpression="'\"' + self + '\" is not the name of a namespace: use lower-case letters, digits and inner hyphens'",message="must be the name of a namespace: lower-case letters, digits and inner hyphens"
	// +required
	Namespace string `json:"namespace,omitempty"`

	// subdomains extends the claim to everything below the domain. A claim for a wildcard without it leaves the names below
	// to the first namespace that asks, also while the wildcard is served. Default: false.
	// +optional
	Subdomains bool `json:"subdomains,omitempty"`

	// handOver moves the domain to the object of the namespace that has it in its spec, while an object of another
	// namespace serves it, or any other object if tenantRef is set. It is moved in one step, so that it is always served, if
	// a certificate of the new tenant covers it, and its DNS record moves too. The previous object then reports DomainClaimed
	// until the domain is removed from its spec. Default: false.
	// +optional
	HandOver bool `json:"handOver,omitempty"`

	// tenantRef is the DistributionTenant of the namespace to which the domain is handed over. It is then taken from any
	// other object, also from one of the same namespace, and only the one that is named gets it. It needs handOver, and
	// does not limit what subdomains reserves below the domain. If omitted, any object of the namespace may take it.
	// +optional
	TenantRef *DomainClaimTenantReference `json:"tenantRef,omitempty"`

	// fromDistributionId is the ID of the standard distribution that has the domain as an alternate domain name now, in the
	// AWS account of the receiving tenant. The domain is moved from that distribution, and from nothing else, while it is
	// served. It needs handOver. If omitted, the domain is moved from a tenant of another object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Z0-9]+$')",messageExpression="'\"' + self + '\" is not a distribution ID, which has only capital letters and digits, like E1A2B3C4D5E6F7: use the ID, not the ARN or the domain name'",message="must be the ID of a distribution: capital letters and digits only"
	// +optional
	FromDistributionID string `json:"fromDistributionId,omitempty"`

	// until is when the claim ends. The operator then deletes it. If omitted, it stays until it is deleted.
	// +optional
	Until *metav1.Time `json:"until,omitempty"`
}

// DomainClaimTenantReference names a DistributionTenant of the claim's namespace.
type DomainClaimTenantReference struct {
	// name is the name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name,omitempty"`
}

// DomainHolder names a DistributionTenant.
type DomainHolder struct {
	// namespace is that of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +required
	Namespace string `json:"namespace,omitempty"`

	// name is that of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name,omitempty"`
}

// DomainClaimStatus is the observed state.
//
// +kubebuilder:validation:MinProperties=0
type DomainClaimStatus struct {
	// phase is Reserved for a claim of an administrator, HandOver for one that moves the domain, and Held for one that the operator has made when the domain was
	// released.
	// +optional
	Phase DomainClaimPhase `json:"phase,omitempty"`

	// since is when the claim was made.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`

	// from is the object that has released the domain.
	// +optional
	From *DomainHolder `json:"from,omitempty"`
}

// DomainClaimPhase says what a claim is for.
// +kubebuilder:validation:Enum=Reserved;HandOver;Held
type DomainClaimPhase string

const (
	// DomainReserved is the phase of a claim that an administrator has made.
	DomainReserved DomainClaimPhase = "Reserved"
	// DomainHandOver is the phase of a claim that moves the domain to another object.
	DomainHandOver DomainClaimPhase = "HandOver"
	// DomainHeld is the phase of a claim for a domain that was released.
	DomainHeld DomainClaimPhase = "Held"
)
