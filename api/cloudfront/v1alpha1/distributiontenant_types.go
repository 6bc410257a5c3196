package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DistributionTenant is a CloudFront distribution tenant: a set of domains with settings of their own, served by one
// multi-tenant distribution. One object represents one tenant in AWS.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=cfdt,categories=aws
// +kubebuilder:printcolumn:name="STATUS",type=string,JSONPath=`.status.distributionTenantStatus`,description="Deployment status in AWS"
// +kubebuilder:printcolumn:name="READY",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Deployed and serving"
// +kubebuilder:printcolumn:name="SYNCED",type=string,JSONPath=`.status.conditions[?(@.type=="Synced")].status`,description="AWS matches the spec"
// +kubebuilder:printcolumn:name="DOMAIN",type=string,JSONPath=`.spec.domains[0].domain`,description="First domain that the tenant serves"
// +kubebuilder:printcolumn:name="ID",type=string,JSONPath=`.status.id`,description="ID of the tenant in AWS"
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="REASON",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it is ready or not"
// +kubebuilder:printcolumn:name="DISTRIBUTION",type=string,priority=1,JSONPath=`.status.distributionId`,description="ID of the multi-tenant distribution that the tenant uses"
// +kubebuilder:printcolumn:name="CERT-EXPIRES",type=string,priority=1,JSONPath=`.status.certificate.notAfter`,description="When the certificate that the tenant serves with expires"
// +kubebuilder:validation:XValidation:rule="has(self.spec.tenantName) || (size(self.metadata.name) >= 3 && size(self.metadata.name) <= 128)",messageExpression="'metadata.name \"' + self.metadata.name + '\" is also the name of the tenant in AWS, which must have 3 to 128 characters: set spec.tenantName'",message="metadata.name is also the name of the tenant in AWS, which must have 3 to 128 characters: set spec.tenantName",fieldPath=".spec.tenantName"
// +kubebuilder:validation:XValidation:rule="(has(self.spec.tenantName) ? self.spec.tenantName : self.metadata.name) == (has(oldSelf.spec.tenantName) ? oldSelf.spec.tenantName : oldSelf.metadata.name)",messageExpression="'the name of a tenant in AWS cannot be changed and is \"' + (has(oldSelf.spec.tenantName) ? oldSelf.spec.tenantName : oldSelf.metadata.name) + '\": restore that value, or delete this object and create a new one'",message="the name of a tenant in AWS cannot be changed: restore the previous value, or delete this object and create a new one",fieldPath=".spec.tenantName"
type DistributionTenant struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata. Its name is also the name of the tenant in AWS, unless spec.tenantName is
	// set.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the desired state. The operator never writes to it.
	// +required
	Spec DistributionTenantSpec `json:"spec"`

	// status is the observed state.
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status DistributionTenantStatus `json:"status,omitzero"`
}

// DistributionTenantList is a list of DistributionTenant objects.
//
// +kubebuilder:object:root=true
type DistributionTenantList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	// items are the objects.
	Items []DistributionTenant `json:"items"`
}

// DistributionTenantSpec is the desired tenant. Settings that are omitted are removed in AWS as well, unless a field
// says otherwise.
//
// +kubebuilder:validation:XValidation:rule="has(self.distributionId) || has(self.distributionRef)",message="a tenant needs a multi-tenant distribution: set distributionRef to a Distribution object in this namespace, or distributionId to an ID in AWS",fieldPath=".distributionId"
// +kubebuilder:validation:XValidation:rule="!has(self.distributionId) || !has(self.distributionRef)",messageExpression="'the distribution is set twice, by distributionId \"' + self.distributionId + '\" and by distributionRef \"' + self.distributionRef.name + '\": remove one of the two'",message="the distribution is set twice: remove distributionId or distributionRef",fieldPath=".distributionRef"
// +kubebuilder:validation:XValidation:rule="!has(self.connectionGroupId) || !has(self.connectionGroupRef)",messageExpression="'the connection group is set twice, by connectionGroupId \"' + self.connectionGroupId + '\" and by connectionGroupRef \"' + self.connectionGroupRef.name + '\": remove one of the two'",message="the connection group is set twice: remove connectionGroupId or connectionGroupRef",fieldPath=".connectionGroupRef"
// +kubebuilder:validation:XValidation:rule="!has(self.managedCertificateRequest) || !has(self.managedCertificateRequest.primaryDomainName) || self.domains.exists(d, d.domain == self.managedCertificateRequest.primaryDomainName)",messageExpression="'\"' + self.managedCertificateRequest.primaryDomainName + '\" is not one of spec.domains: add it there, or remove primaryDomainName'",message="primaryDomainName must be one of spec.domains: add it there, or remove it",fieldPath=".managedCertificateRequest.primaryDomainName"
// +kubebuilder:validation:XValidation:rule="!has(self.managedCertificateRequest) || self.domains.all(d, !d.domain.startsWith('*'))",message="CloudFront validates managed certificates over HTTP, which is not possible for wildcard domains: remove the wildcard from spec.domains, or use your own certificate in customizations.certificate.arn",fieldPath=".managedCertificateRequest"
type DistributionTenantSpec struct {
	// distributionId is the ID of the multi-tenant distribution (connection mode tenant-only) that serves this tenant.
	// Exactly one of distributionId and distributionRef is required. It can be changed: CloudFront moves the tenant
	// without interruption.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Z0-9]+$')",messageExpression="'\"' + self + '\" is not a distribution ID, which has only capital letters and digits, like E1A2B3C4D5E6F7: use the ID, not the ARN or the domain name'",message="must be the ID of a distribution: capital letters and digits only"
	// +optional
	DistributionID string `json:"distributionId,omitempty"`

	// distributionRef names the Distribution object whose distribution serves this tenant, instead of distributionId. The tenant waits until that distribution exists in AWS, and is moved if the object gets another
	// distribution.
	// +optional
	DistributionRef *ObjectReference `json:"distributionRef,omitempty"`

	// domains are the domains that this tenant serves, 1 to 100. A domain can belong to only one CloudFront resource
	// across all AWS accounts. AWS accepts a domain only if a certificate covers it.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=domain
	// +required
	Domains []TenantDomain `json:"domains,omitempty"`

	// enabled says whether the tenant serves requests. If false, the tenant, its domains and its DNS records are kept,
	// but requests are rejected. Default: true.
	// +kubebuilder:default=true
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// connectionGroupId is the ID of the connection group whose routing endpoint the tenant's DNS names point to. If
	// omitted, CloudFront uses its default group for a new tenant, and the operator does not change the group afterwards.
	// At most one of connectionGroupId and connectionGroupRef can be set.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^cg_[A-Za-z0-9]+$')",messageExpression="'\"' + self + '\" is not a connection group ID, which is cg_ followed by letters and digits: use the ID, not the name, the ARN or the routing endpoint'",message="must be the ID of a connection group: cg_ followed by letters and digits"
	// +optional
	ConnectionGroupID string `json:"connectionGroupId,omitempty"`

	// connectionGroupRef names the ConnectionGroup object whose connection group the tenant uses, instead of
	// connectionGroupId.
	// +optional
	ConnectionGroupRef *ObjectReference `json:"connectionGroupRef,omitempty"`

	// parameters are values for the parameters that the distribution declares, at most 50. A required parameter must have
	// a value here. A parameter that the distribution does not declare is an error. Default: none. Optional parameters
	// then have the default value of the distribution.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=50
	// +listType=map
	// +listMapKey=name
	// +optional
	Parameters []Parameter `json:"parameters,omitempty"`

	// customizations override settings of the distribution for this tenant. If omitted, the settings of the distribution
	// apply.
	// +optional
	Customizations *Customizations `json:"customizations,omitempty"`

	// managedCertificateRequest asks CloudFront to obtain, validate and renew a certificate for the domains. It cannot be
	// combined with a wildcard domain. The issued certificate is attached to the tenant and reported in
	// status.certificateArn; spec is not changed. If omitted, no managed certificate is requested.
	// +optional
	ManagedCertificateRequest *ManagedCertificateRequest `json:"managedCertificateRequest,omitempty"`

	// tags are set on the tenant in AWS, at most 46: AWS allows 50 and the operator needs four as owner tags. A tag that
	// is removed here is removed in AWS. Tags that were added there by others are kept.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=46
	// +listType=map
	// +listMapKey=key
	// +optional
	Tags []Tag `json:"tags,omitempty"`

	// dns makes the operator publish a DNS record for every domain. If omitted, the operator does not manage DNS records.
	// +optional
	DNS *DNS `json:"dns,omitempty"`

	// keyValues makes the operator write a value for this tenant into a CloudFront key value store, which functions can
	// read. It is written before the tenant is created or changed, and deleted after the tenant. If omitted, the operator
	// writes none.
	// +optional
	KeyValues *KeyValues `json:"keyValues,omitempty"`

	// tenantName is the name of the tenant in AWS, unique in the AWS account: 3 to 128 letters, digits, hyphens and dots,
	// with a letter or a digit at both ends. Default: metadata.name, which must then meet these rules. The resulting name
	// can't be changed.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-zA-Z0-9][a-zA-Z0-9.-]{1,126}[a-zA-Z0-9]$')",messageExpression="'\"' + self + '\" is not a valid tenant name in CloudFront: use 3 to 128 letters, digits, hyphens and dots, with a letter or a digit at both ends'",message="use 3 to 128 letters, digits, hyphens and dots, with a letter or a digit at both ends"
	// +optional
	TenantName string `json:"tenantName,omitempty"`

	// driftPolicy says what to do when the tenant is changed in AWS. enforce: the spec is applied again. report: the
	// difference is listed in status.drift and not corrected. suspend: fields are not compared. With report and suspend,
	// a tenant that was deleted outside of Kubernetes is not created again, and the conditions report it. A change of the
	// spec is always applied. Default: the operator's --drift-policy flag, which defaults to enforce.
	// +optional
	DriftPolicy DriftPolicy `json:"driftPolicy,omitempty"`

	// deletionPolicy says what happens to the tenant in AWS when this object is deleted. Delete: it is disabled and
	// deleted. Retain: it is kept as it is, and only the operator's owner tags are removed. Default: Delete.
	// +kubebuilder:default=Delete
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// adoptionPolicy says what to do when AWS already has a tenant with this name, or with one of these domains, that
	// does not have this object's owner tags. Never: it is not changed, and the Ready condition says how to adopt it.
	// IfUnowned: it is adopted if it has no owner tags, or those of an earlier object with this namespace and name.
	// Force: it is also adopted if it belongs to another cluster or to a deleted object, but never if it belongs to an
	// existing object of this cluster. Adoption itself only writes tags. After that, fields that are set in the spec are
	// enforced. Blocks that are not in the spec are kept until the spec changes. Default: Never.
	// +kubebuilder:default=Never
	// +optional
	AdoptionPolicy AdoptionPolicy `json:"adoptionPolicy,omitempty"`
}

// ObjectReference names an object.
type ObjectReference struct {
	// name is the name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$')",messageExpression="'\"' + self + '\" is not a valid object name: use the metadata.name of an object, with lower-case letters, digits, inner hyphens and dots'",message="must be the metadata.name of an object: lower-case letters, digits, inner hyphens and dots"
	// +required
	Name string `json:"name,omitempty"`

	// namespace is that of the object. Another namespace than that of this object requires an EdgeGrant that names the
	// object. Default: the namespace of this object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')",messageExpression="'\"' + self + '\" is not a valid namespace name: use lower-case letters, digits and inner hyphens'",message="must be a valid namespace name: lower-case letters, digits and inner hyphens"
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// TenantDomain is one domain of a tenant.
type TenantDomain struct {
	// domain is a fully qualified domain name of at most 253 characters, in lower case, without a dot at the end. Write
	// internationalized names in punycode. A wildcard matches exactly one label and must be the entire leftmost label, as
	// in *.example.com.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[ -~]*$')",messageExpression="'\"' + self + '\" has characters outside ASCII: write an internationalized domain name in punycode, with each such label as xn--...'",message="write an internationalized domain name in punycode, with each such label as xn--..."
	// +kubebuilder:validation:XValidation:rule="self == self.lowerAscii()",messageExpression="'\"' + self + '\" has capital letters, but CloudFront accepts only lower-case domain names' + (self.contains('/') ? '' : ': write \"' + self.lowerAscii() + '\"')",message="CloudFront accepts only lower-case domain names"
	// +kubebuilder:validation:XValidation:rule="!self.lowerAscii().endsWith('.cloudfront.net')",messageExpression="'\"' + self + '\" is a name of CloudFront itself: list the domain of the customer'",message="must be a domain of the customer, not a name of CloudFront itself"
	// +kubebuilder:validation:XValidation:rule="!self.endsWith('.')",messageExpression="'\"' + self + '\" ends with a dot, but CloudFront accepts domain names only without the root dot: remove it'",message="CloudFront accepts domain names only without the root dot: remove the dot at the end"
	// +kubebuilder:validation:XValidation:rule="!self.contains('*') || (self.startsWith('*.') && self.lastIndexOf('*') == 0)",messageExpression="'\"' + self + '\" has a wildcard that is not the entire leftmost label: write it as in *.example.com, or list each domain'",message="a wildcard must be the entire leftmost label, as in *.example.com"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[ -~]*$') || (self.contains('*') && !(self.startsWith('*.') && self.lastIndexOf('*') == 0)) || self.matches('^([*][.])?([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?[.])+[a-zA-Z]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?[.]?$')",messageExpression="'\"' + self + '\" is not a fully qualified domain name like shop.example.com: two or more labels of 1 to 63 letters, digits and inner hyphens, joined by dots; no scheme, port, path, underscore or IP address'",message="must be a fully qualified domain name like shop.example.com: two or more labels of 1 to 63 letters, digits and inner hyphens, joined by dots"
	// +required
	Domain string `json:"domain,omitempty"`
}

// Parameter is a value for a parameter that the distribution declares.
type Parameter struct {
	// name is the name of the parameter as the distribution declares it: 1 to 128 letters, digits,
	// hyphens and underscores.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-zA-Z0-9_-]+$')",messageExpression="'\"' + self + '\" is not a parameter name: use letters, digits, hyphens and underscores'",message="use letters, digits, hyphens and underscores"
	// +required
	Name string `json:"name,omitempty"`

	// value is the value for this tenant, 1 to 256 characters.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +required
	Value string `json:"value,omitempty"`
}

// Customizations are the settings of the distribution that a tenant can override. If a block is omitted, the setting
// of the distribution applies.
//
// +kubebuilder:validation:MinProperties=0
type Customizations struct {
	// webAcl overrides or disables the web ACL of the distribution.
	// +optional
	WebACL *WebACLCustomization `json:"webAcl,omitempty"`

	// certificate overrides the certificate of the distribution.
	// +optional
	Certificate *CertificateCustomization `json:"certificate,omitempty"`

	// geoRestrictions overrides the geographic restrictions of the distribution.
	// +optional
	GeoRestrictions *GeoRestrictionCustomization `json:"geoRestrictions,omitempty"`
}

// WebACLCustomization says which AWS WAF web ACL protects a tenant.
//
// +kubebuilder:validation:XValidation:rule="self.action != 'override' || has(self.arn)",message="action override requires a web ACL: set arn, or use action disable",fieldPath=".arn"
// +kubebuilder:validation:XValidation:rule="self.action != 'disable' || !has(self.arn)",message="action disable does not allow a web ACL: remove arn, or use action override",fieldPath=".arn"
type WebACLCustomization struct {
	// action is override, to use the web ACL in arn instead of that of the distribution, or disable, to use none.
	// +required
	Action WebACLAction `json:"action,omitempty"`

	// arn is the ARN of an AWS WAF (WAFv2) web ACL of global scope, which AWS keeps in us-east-1. It must
	// be set with override and absent with disable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws(-[a-z]+)*:wafv2:us-east-1:[0-9]{12}:global/webacl/[^/]+/[^/]+$')",messageExpression="'\"' + self + '\" is not the ARN of a global web ACL: CloudFront accepts only WAFv2 web ACLs with scope CLOUDFRONT, arn:aws:wafv2:us-east-1:<account>:global/webacl/<name>/<id>'",message="must be the ARN of a WAFv2 web ACL with scope CLOUDFRONT: arn:aws:wafv2:us-east-1:<account>:global/webacl/<name>/<id>"
	// +optional
	ARN string `json:"arn,omitempty"`
}

// CertificateCustomization says which certificate a tenant presents to viewers.
type CertificateCustomization struct {
	// arn is the ARN of an AWS Certificate Manager certificate in us-east-1, the only region whose certificates
	// CloudFront accepts. Its names must cover every domain of the tenant. A wildcard covers exactly one label.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws(-[a-z]+)*:acm:us-east-1:[0-9]{12}:certificate/[A-Za-z0-9-]+$')",messageExpression="'\"' + self + '\" is not the ARN of an ACM certificate in us-east-1, the only region whose certificates CloudFront accepts: request or import the certificate there and use its ARN, arn:aws:acm:us-east-1:<account>:certificate/<id>'",message="must be the ARN of an ACM certificate in us-east-1: request or import the certificate there"
	// +required
	ARN string `json:"arn,omitempty"`
}

// GeoRestrictionCustomization says from which countries a tenant can be reached.
//
// +kubebuilder:validation:XValidation:rule="self.restrictionType != 'none' || !has(self.locations) || size(self.locations) == 0",message="restrictionType none does not allow locations: remove locations, or use whitelist or blacklist",fieldPath=".locations"
// +kubebuilder:validation:XValidation:rule="self.restrictionType == 'none' || (has(self.locations) && size(self.locations) > 0)",message="restrictionType whitelist and blacklist need at least one country in locations: add one, or use none",fieldPath=".locations"
type GeoRestrictionCustomization struct {
	// restrictionType is none, whitelist (only the locations are served) or blacklist (all but the
	// locations are served).
	// +required
	RestrictionType GeoRestrictionType `json:"restrictionType,omitempty"`

	// locations are the countries of the whitelist or blacklist, at most 300, in any order. At least one with whitelist
	// and blacklist, none with none.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=300
	// +listType=set
	// +optional
	Locations []CountryCode `json:"locations,omitempty"`
}

// CountryCode is an ISO 3166-1 alpha-2 country code in capital letters, or XK, which is in common use
// for Kosovo.
//
// +kubebuilder:validation:MinLength=2
// +kubebuilder:validation:MaxLength=2
// +kubebuilder:validation:XValidation:rule="self in ['AD','AE','AF','AG','AI','AL','AM','AO','AQ','AR','AS','AT','AU','AW','AX','AZ','BA','BB','BD','BE','BF','BG','BH','BI','BJ','BL','BM','BN','BO','BQ','BR','BS','BT','BV','BW','BY','BZ','CA','CC','CD','CF','CG','CH','CI','CK','CL','CM','CN','CO','CR','CU','CV','CW','CX','CY','CZ','DE','DJ','DK','DM','DO','DZ','EC','EE','EG','EH','ER','ES','ET','FI','FJ','FK','FM','FO','FR','GA','GB','GD','GE','GF','GG','GH','GI','GL','GM','GN','GP','GQ','GR','GS','GT','GU','GW','GY','HK','HM','HN','HR','HT','HU','ID','IE','IL','IM','IN','IO','IQ','IR','IS','IT','JE','JM','JO','JP','KE','KG','KH','KI','KM','KN','KP','KR','KW','KY','KZ','LA','LB','LC','LI','LK','LR','LS','LT','LU','LV','LY','MA','MC','MD','ME','MF','MG','MH','MK','ML','MM','MN','MO','MP','MQ','MR','MS','MT','MU','MV','MW','MX','MY','MZ','NA','NC','NE','NF','NG','NI','NL','NO','NP','NR','NU','NZ','OM','PA','PE','PF','PG','PH','PK','PL','PM','PN','PR','PS','PT','PW','PY','QA','RE','RO','RS','RU','RW','SA','SB','SC','SD','SE','SG','SH','SI','SJ','SK','SL','SM','SN','SO','SR','SS','ST','SV','SX','SY','SZ','TC','TD','TF','TG','TH','TJ','TK','TL','TM','TN','TO','TR','TT','TV','TW','TZ','UA','UG','UM','US','UY','UZ','VA','VC','VE','VG','VI','VN','VU','WF','WS','YE','YT','ZA','ZM','ZW','XK']",messageExpression="'\"' + self + '\" is not an ISO 3166-1 alpha-2 country code: use two capital letters from that list, such as DE, GB or US'",message="must be an ISO 3166-1 alpha-2 country code: two capital letters from that list, such as DE, GB or US"
type CountryCode string

// ManagedCertificateRequest describes the certificate that CloudFront is asked to obtain.
type ManagedCertificateRequest struct {
	// validationTokenHost says who answers the HTTP challenge that validates the domains. cloudfront: CloudFront does, so
	// DNS must point to CloudFront before the tenant can be created. self-hosted: the current web server of each domain
	// does, with a redirect that AWS specifies.
	// +required
	ValidationTokenHost ValidationTokenHost `json:"validationTokenHost,omitempty"`

	// primaryDomainName is the common name of the certificate, one of spec.domains. If omitted, AWS chooses one.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	PrimaryDomainName string `json:"primaryDomainName,omitempty"`

	// certificateTransparencyLoggingPreference says whether the certificate is recorded in public certificate
	// transparency logs; browsers show a warning if it is not. Default: enabled (by AWS).
	// +optional
	CertificateTransparencyLoggingPreference CertificateTransparencyLoggingPreference `json:"certificateTransparencyLoggingPreference,omitempty"`

	// deleteOnTenantDeletion says whether the certificates in status.managedCertificates are deleted in ACM after the
	// tenant is deleted. Otherwise AWS keeps them, and they count against the certificate quota of the account. Only
	// certificates that CloudFront manages and that nothing uses any more are deleted. With deletionPolicy Retain nothing
	// is deleted. Default: true.
	// +kubebuilder:default=true
	// +optional
	DeleteOnTenantDeletion *bool `json:"deleteOnTenantDeletion,omitempty"`
}

// Tag is a key with a value on an AWS resource.
type Tag struct {
	// key is 1 to 128 letters, digits, spaces and _ . : / = + - @. The prefixes aws: and
	// cloudfront-tenant-operator.io/ are reserved, to AWS and to the operator.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[\\\\p{L}\\\\p{Z}\\\\p{N}_.:/=+@-]+$')",messageExpression="'\"' + self + '\" has a character that AWS does not allow in a tag key: use letters, digits, spaces and _ . : / = + - @'",message="use letters, digits, spaces and _ . : / = + - @"
	// +kubebuilder:validation:XValidation:rule="!self.lowerAscii().startsWith('aws:')",messageExpression="'\"' + self + '\" starts with aws:, which is reserved by AWS: use another key'",message="the prefix aws: is reserved by AWS: use another key"
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('cloudfront-tenant-operator.io/')",messageExpression="'\"' + self + '\" starts with cloudfront-tenant-operator.io/, which is reserved for the owner tags of the operator: use another key'",message="the prefix cloudfront-tenant-operator.io/ is reserved by the operator: use another key"
	// +required
	Key string `json:"key,omitempty"`

	// value is at most 256 letters, digits, spaces and _ . : / = + - @. Default: empty.
	// +kubebuilder:validation:MinLength=0
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^[\\\\p{L}\\\\p{Z}\\\\p{N}_.:/=+@-]*$')",messageExpression="'\"' + self + '\" has a character that AWS does not allow in a tag value: use letters, digits, spaces and _ . : / = + - @'",message="use letters, digits, spaces and _ . : / = + - @"
	// +optional
	Value string `json:"value,omitempty"`
}

// KeyValues is what a tenant has in a CloudFront key value store.
//
// +kubebuilder:validation:XValidation:rule="!has(self.key) || bytes(self.key).size() <= 512",message="CloudFront allows 512 bytes in a key: shorten it",fieldPath=".key"
// +kubebuilder:validation:XValidation:rule="bytes(self.value).size() <= 1024",message="CloudFront allows 1024 bytes in a value: shorten it",fieldPath=".value"
type KeyValues struct {
	// storeArn is the ARN of the key value store, which must exist in the AWS account of the tenant. A function reads it if
	// it is associated with it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws:cloudfront::[0-9]{12}:key-value-store/[A-Za-z0-9-]+$')",messageExpression="'\"' + self + '\" is not the ARN of a key value store: use arn:aws:cloudfront::<account>:key-value-store/<id>'",message="must be the ARN of a key value store: arn:aws:cloudfront::<account>:key-value-store/<id>"
	// +required
	StoreARN string `json:"storeArn,omitempty"`

	// key is the key that gets the value, at most 512 bytes. Default: each domain of spec.domains is a key.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Key string `json:"key,omitempty"`

	// value is what a function reads, at most 1024 bytes, for example JSON.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +required
	Value string `json:"value,omitempty"`

	// takeover lets the operator replace the value of a key that it did not create, and delete that key later. If it is not
	// true, such a key is left alone and the conditions report it, unless it has the same value. Default: false.
	// +optional
	Takeover bool `json:"takeover,omitempty"`
}

// DNS says where and how the records of the domains are published.
//
// +kubebuilder:validation:XValidation:rule="!has(self.hostedZoneId) || !has(self.zoneName)",message="hostedZoneId and zoneName cannot both be set: remove one of them",fieldPath=".zoneName"
// +kubebuilder:validation:XValidation:rule="!has(self.hostedZoneId) || self.provider == 'route53'",messageExpression="'hostedZoneId is a zone of Route 53, but provider is \"' + self.provider + '\": use zoneName, or change provider'",message="hostedZoneId is only possible with provider route53: use zoneName",fieldPath=".hostedZoneId"
// +kubebuilder:validation:XValidation:rule="!has(self.assumeRoleArn) || self.provider == 'route53'",messageExpression="'assumeRoleArn is a role of AWS, but provider is \"' + self.provider + '\": remove it, or change provider'",message="assumeRoleArn is only possible with provider route53: remove it",fieldPath=".assumeRoleArn"
// +kubebuilder:validation:XValidation:rule="!has(self.account) || self.provider != 'route53'",message="account is not possible with provider route53, whose zones in other accounts are reached with assumeRoleArn: remove it",fieldPath=".account"
// +kubebuilder:validation:XValidation:rule="!has(self.recordType) || self.recordType != 'Alias' || self.provider == 'route53'",messageExpression="'provider \"' + self.provider + '\" has no alias records: use recordType Auto or CNAME'",message="recordType Alias is only possible with provider route53: use Auto or CNAME",fieldPath=".recordType"
type DNS struct {
	// provider is the DNS service that holds the zone: route53, cloudflare, azure, rfc2136 (BIND and other servers with
	// dynamic updates) or externaldns (whatever ExternalDNS publishes at). All but route53 need an account that the administrator has configured.
	// +required
	Provider DNSProvider `json:"provider,omitempty"`

	// account is the name of the operator's account at the provider, as the administrator has configured it (dns.accounts of
	// the chart). Route 53 has none. Default: the only account of the provider.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')",messageExpression="'\"' + self + '\" is not the name of an account: use lower-case letters, digits and inner hyphens'",message="must be the name of an account: lower-case letters, digits and inner hyphens"
	// +optional
	Account string `json:"account,omitempty"`

	// hostedZoneId is the ID of the Route 53 hosted zone to publish in; for other providers, use zoneName. With neither
	// hostedZoneId nor zoneName, each domain is published in the public zone whose name is the longest match.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^Z[A-Z0-9]+$')",messageExpression="'\"' + self + '\" is not a hosted zone ID, which is Z followed by capital letters and digits: use it without the prefix /hostedzone/'",message="must be the ID of a hosted zone: Z followed by capital letters and digits, without the prefix /hostedzone/"
	// +optional
	HostedZoneID string `json:"hostedZoneId,omitempty"`

	// zoneName is the name of the public hosted zone to publish in, in lower case and without a dot at the end, for
	// example example.com. There must be exactly one public zone with this name.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?[.])*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$')",messageExpression="'\"' + self + '\" is not a zone name: write it in lower case, without a dot at the end, and internationalized names in punycode'",message="write the zone name in lower case, without a dot at the end, and internationalized names in punycode"
	// +optional
	ZoneName string `json:"zoneName,omitempty"`

	// recordType is the type of the published records. CNAME: a CNAME record, which is not possible at the apex of a
	// zone. Alias, only with route53: alias records of type A, also of type AAAA if the connection group has IPv6, and the
	// TXT record _cf-challenge that CloudFront requires with an alias. Auto: CNAME, and at the apex of the zone what the
	// provider has for it: Alias with route53, a flattened CNAME with cloudflare. Others can't publish an apex. Default:
	// Auto.
	// +kubebuilder:default=Auto
	// +optional
	RecordType RecordType `json:"recordType,omitempty"`

	// takeover allows the operator to replace existing records of a domain that it did not create, and to adopt equal
	// ones. What is replaced is kept in status.dns, and put back when the operator deletes its own records; an equal
	// record is deleted with the domain. A record that another object of this cluster publishes is never replaced.
	// Default: false. Then a different existing record is a conflict, an equal one is used, and neither is ever deleted.
	// +optional
	Takeover bool `json:"takeover,omitempty"`

	// ttl is the time to live of the records in seconds, 60 to 172800 (two days). It does not apply to alias records.
	// Default: 300.
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=172800
	// +optional
	TTL int32 `json:"ttl,omitempty"`

	// assumeRoleArn is the ARN of an IAM role that the operator assumes to read and change the zone, for a zone in
	// another AWS account. The administrator must allow it in --allowed-roles, and the role must trust the operator with
	// the external ID <cluster ID>/<namespace>. Default: the operator's own identity.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=640
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws(-[a-z]+)*:iam::[0-9]{12}:role/[!-~]+$')",messageExpression="'\"' + self + '\" is not the ARN of an IAM role: use arn:aws:iam::<account>:role/<name>'",message="must be the ARN of an IAM role: arn:aws:iam::<account>:role/<name>"
	// +optional
	AssumeRoleARN string `json:"assumeRoleArn,omitempty"`
}

// WebACLAction says whether a tenant overrides or disables the web ACL of its distribution.
// +kubebuilder:validation:Enum=override;disable
type WebACLAction string

const (
	// WebACLActionOverride uses another web ACL than the distribution.
	WebACLActionOverride WebACLAction = "override"
	// WebACLActionDisable uses none.
	WebACLActionDisable WebACLAction = "disable"
)

// GeoRestrictionType says how a list of countries is meant.
// +kubebuilder:validation:Enum=none;whitelist;blacklist
type GeoRestrictionType string

const (
	// GeoRestrictionNone restricts nothing.
	GeoRestrictionNone GeoRestrictionType = "none"
	// GeoRestrictionWhitelist serves the listed countries only.
	GeoRestrictionWhitelist GeoRestrictionType = "whitelist"
	// GeoRestrictionBlacklist serves all but the listed countries.
	GeoRestrictionBlacklist GeoRestrictionType = "blacklist"
)

// ValidationTokenHost says who answers the challenge for a managed certificate.
// +kubebuilder:validation:Enum=cloudfront;self-hosted
type ValidationTokenHost string

const (
	// ValidationTokenHostCloudFront leaves the challenge to CloudFront.
	ValidationTokenHostCloudFront ValidationTokenHost = "cloudfront"
	// ValidationTokenHostSelfHosted leaves it to the present web servers of the domains.
	ValidationTokenHostSelfHosted ValidationTokenHost = "self-hosted"
)

// CertificateTransparencyLoggingPreference says whether a certificate is logged publicly.
// +kubebuilder:validation:Enum=enabled;disabled
type CertificateTransparencyLoggingPreference string

const (
	// CertificateTransparencyLoggingEnabled logs it.
	CertificateTransparencyLoggingEnabled CertificateTransparencyLoggingPreference = "enabled"
	// CertificateTransparencyLoggingDisabled does not.
	CertificateTransparencyLoggingDisabled CertificateTransparencyLoggingPreference = "disabled"
)

// DNSProvider names a DNS service.
// +kubebuilder:validation:Enum=route53;cloudflare;azure;rfc2136;externaldns
type DNSProvider string

const (
	// DNSProviderRoute53 is Amazon Route 53.
	DNSProviderRoute53 DNSProvider = "route53"
	// DNSProviderCloudflare is Cloudflare DNS.
	DNSProviderCloudflare DNSProvider = "cloudflare"
	// DNSProviderAzure is Azure DNS.
	DNSProviderAzure DNSProvider = "azure"
	// DNSProviderRFC2136 is any server with dynamic updates, such as BIND.
	DNSProviderRFC2136 DNSProvider = "rfc2136"
	// DNSProviderExternalDNS is ExternalDNS, which publishes DNSEndpoint objects at whatever service it is configured for.
	DNSProviderExternalDNS DNSProvider = "externaldns"
)

// RecordType says what is published for a domain.
// +kubebuilder:validation:Enum=Auto;CNAME;Alias
type RecordType string

const (
	// RecordTypeAuto is an alias at the apex of the zone and a CNAME below it.
	RecordTypeAuto RecordType = "Auto"
	// RecordTypeCNAME is a CNAME everywhere.
	RecordTypeCNAME RecordType = "CNAME"
	// RecordTypeAlias is an alias everywhere.
	RecordTypeAlias RecordType = "Alias"
)

// DriftPolicy says what to do about changes made in AWS.
// +kubebuilder:validation:Enum=enforce;report;suspend
type DriftPolicy string

const (
	// DriftPolicyEnforce writes the spec again.
	DriftPolicyEnforce DriftPolicy = "enforce"
	// DriftPolicyReport lists them and writes nothing.
	DriftPolicyReport DriftPolicy = "report"
	// DriftPolicySuspend compares no field.
	DriftPolicySuspend DriftPolicy = "suspend"
)

// DeletionPolicy says what happens to an AWS resource when its object is deleted.
// +kubebuilder:validation:Enum=Delete;Retain
type DeletionPolicy string

const (
	// DeletionPolicyDelete deletes it.
	DeletionPolicyDelete DeletionPolicy = "Delete"
	// DeletionPolicyRetain leaves it and gives up its ownership.
	DeletionPolicyRetain DeletionPolicy = "Retain"
)

// AdoptionPolicy says when an existing AWS resource may be adopted.
// +kubebuilder:validation:Enum=Never;IfUnowned;Force
type AdoptionPolicy string

const (
	// AdoptionPolicyNever leaves it alone.
	AdoptionPolicyNever AdoptionPolicy = "Never"
	// AdoptionPolicyIfUnowned takes it without owner tags, or from an earlier object of this namespace and name.
	AdoptionPolicyIfUnowned AdoptionPolicy = "IfUnowned"
	// AdoptionPolicyForce also takes it from another cluster or a dead object, never from a live object of this cluster.
	AdoptionPolicyForce AdoptionPolicy = "Force"
)
