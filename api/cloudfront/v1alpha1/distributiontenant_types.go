package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DistributionTenant is a CloudFront distribution tenant: a set of domains with settings of their own,
// served by one multi-tenant distribution. One object stands for one tenant in AWS, from its creation
// to its deletion.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=cfdt,categories=aws
// +kubebuilder:printcolumn:name="STATUS",type=string,JSONPath=`.status.distributionTenantStatus`,description="Deployment status in AWS"
// +kubebuilder:printcolumn:name="READY",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Deployed and serving"
// +kubebuilder:printcolumn:name="SYNCED",type=string,JSONPath=`.status.conditions[?(@.type=="Synced")].status`,description="AWS equals the spec"
// +kubebuilder:printcolumn:name="DOMAIN",type=string,JSONPath=`.spec.domains[0].domain`,description="First domain that the tenant serves"
// +kubebuilder:printcolumn:name="ID",type=string,JSONPath=`.status.id`,description="ID of the tenant in AWS"
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="REASON",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it is ready or not"
// +kubebuilder:printcolumn:name="DISTRIBUTION",type=string,priority=1,JSONPath=`.status.distributionId`,description="ID of the multi-tenant distribution that the tenant uses"
// +kubebuilder:validation:XValidation:rule="has(self.spec.tenantName) || (size(self.metadata.name) >= 3 && size(self.metadata.name) <= 128)",messageExpression="'metadata.name \"' + self.metadata.name + '\" is also the name of the tenant in AWS, which takes 3 to 128 characters: set spec.tenantName'",message="metadata.name is also the name of the tenant in AWS, which takes 3 to 128 characters: set spec.tenantName",fieldPath=".spec.tenantName"
// +kubebuilder:validation:XValidation:rule="(has(self.spec.tenantName) ? self.spec.tenantName : self.metadata.name) == (has(oldSelf.spec.tenantName) ? oldSelf.spec.tenantName : oldSelf.metadata.name)",messageExpression="'the name of a tenant in AWS can not be changed and is \"' + (has(oldSelf.spec.tenantName) ? oldSelf.spec.tenantName : oldSelf.metadata.name) + '\": put that value back, or delete this object and create another'",message="the name of a tenant in AWS can not be changed: put the former value back, or delete this object and create another",fieldPath=".spec.tenantName"
type DistributionTenant struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata. Its name is also the name of the tenant in AWS, unless
	// spec.tenantName gives another.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what the tenant should be. It belongs to its author: the operator never writes to it.
	// +required
	Spec DistributionTenantSpec `json:"spec"`

	// status is what the operator found and learned.
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

// DistributionTenantSpec is the desired tenant. What is absent is meant to be absent in AWS as well,
// unless a field says otherwise.
//
// +kubebuilder:validation:XValidation:rule="has(self.distributionId) || has(self.distributionRef)",message="a tenant needs a multi-tenant distribution: name a Distribution object of this namespace in distributionRef, or give an ID of AWS in distributionId",fieldPath=".distributionId"
// +kubebuilder:validation:XValidation:rule="!has(self.distributionId) || !has(self.distributionRef)",messageExpression="'the distribution is named twice, by distributionId \"' + self.distributionId + '\" and by distributionRef \"' + self.distributionRef.name + '\": remove one of the two'",message="the distribution is named twice: remove distributionId or distributionRef",fieldPath=".distributionRef"
// +kubebuilder:validation:XValidation:rule="!has(self.connectionGroupId) || !has(self.connectionGroupRef)",messageExpression="'the connection group is named twice, by connectionGroupId \"' + self.connectionGroupId + '\" and by connectionGroupRef \"' + self.connectionGroupRef.name + '\": remove one of the two'",message="the connection group is named twice: remove connectionGroupId or connectionGroupRef",fieldPath=".connectionGroupRef"
// +kubebuilder:validation:XValidation:rule="!has(self.managedCertificateRequest) || !has(self.managedCertificateRequest.primaryDomainName) || self.domains.exists(d, d.domain == self.managedCertificateRequest.primaryDomainName)",messageExpression="'\"' + self.managedCertificateRequest.primaryDomainName + '\" is not one of spec.domains: add it there, or leave primaryDomainName out'",message="primaryDomainName must be one of spec.domains: add it there, or leave it out",fieldPath=".managedCertificateRequest.primaryDomainName"
// +kubebuilder:validation:XValidation:rule="!has(self.managedCertificateRequest) || self.domains.all(d, !d.domain.startsWith('*'))",message="CloudFront validates managed certificates over HTTP, which can not prove a wildcard domain: remove the wildcard from spec.domains, or use customizations.certificate.arn with a certificate of your own instead of a managed one",fieldPath=".managedCertificateRequest"
type DistributionTenantSpec struct {
	// distributionId is the ID of the multi-tenant distribution (connection mode tenant-only) that
	// serves this tenant. Exactly one of distributionId and distributionRef is needed. It may change:
	// CloudFront moves the tenant without an interruption.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Z0-9]+$')",messageExpression="'\"' + self + '\" is not the ID of a distribution, which has capital letters and digits only, like E1A2B3C4D5E6F7: give the ID, not the ARN or the domain name'",message="must be the ID of a distribution: capital letters and digits only"
	// +optional
	DistributionID string `json:"distributionId,omitempty"`

	// distributionRef names the Distribution object of this namespace whose distribution serves this
	// tenant, in place of distributionId. The tenant waits until that distribution exists, and moves when
	// the object comes to stand for another one.
	// +optional
	DistributionRef *LocalReference `json:"distributionRef,omitempty"`

	// domains are the domains that this tenant serves, 1 to 100. Any one domain belongs to at most one
	// CloudFront resource of all AWS accounts. AWS accepts a domain only when a certificate covers it.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=domain
	// +required
	Domains []TenantDomain `json:"domains,omitempty"`

	// enabled says whether the tenant answers requests. false keeps the tenant, its domains and its DNS
	// records, and refuses viewers. Absent means true.
	// +kubebuilder:default=true
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// connectionGroupId is the ID of the connection group whose routing endpoint the tenant's DNS names
	// point at. Absent means that the operator does not touch the choice: CloudFront takes its default
	// group for a new tenant and keeps the present one afterwards. At most one of connectionGroupId and
	// connectionGroupRef can be set.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^cg_[A-Za-z0-9]+$')",messageExpression="'\"' + self + '\" is not the ID of a connection group, which is cg_ and then letters and digits: give the ID, not the name, the ARN or the routing endpoint'",message="must be the ID of a connection group: cg_ and then letters and digits"
	// +optional
	ConnectionGroupID string `json:"connectionGroupId,omitempty"`

	// connectionGroupRef names the ConnectionGroup object of this namespace whose connection group the
	// tenant is in, in place of connectionGroupId.
	// +optional
	ConnectionGroupRef *LocalReference `json:"connectionGroupRef,omitempty"`

	// parameters are values for the parameters that the distribution declares, at most 50. A required
	// parameter needs a value here; one that the distribution does not declare is reported as an error.
	// Absent means none: optional parameters take the default of the distribution.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=50
	// +listType=map
	// +listMapKey=name
	// +optional
	Parameters []Parameter `json:"parameters,omitempty"`

	// customizations replace settings of the distribution for this tenant alone. Absent means that the
	// settings of the distribution hold.
	// +optional
	Customizations *Customizations `json:"customizations,omitempty"`

	// managedCertificateRequest asks CloudFront to obtain, validate and renew a certificate for the
	// domains. It can not be combined with a wildcard domain. The issued certificate is attached to the
	// tenant and reported in status.certificateArn; spec stays as it is. Absent means that no managed
	// certificate is wanted.
	// +optional
	ManagedCertificateRequest *ManagedCertificateRequest `json:"managedCertificateRequest,omitempty"`

	// tags are put on the tenant in AWS, at most 46: AWS takes 50 and the operator needs four to mark
	// what it owns. A tag that was removed here is removed in AWS; tags that somebody else added there
	// stay.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=46
	// +listType=map
	// +listMapKey=key
	// +optional
	Tags []Tag `json:"tags,omitempty"`

	// dns makes the operator publish a DNS record for every domain. Absent means that DNS is somebody
	// else's job.
	// +optional
	DNS *DNS `json:"dns,omitempty"`

	// tenantName is the name of the tenant in AWS, unique in the AWS account: 3 to 128 letters, digits,
	// hyphens and dots, with a letter or a digit at both ends. Absent means metadata.name, which has to
	// fit then. The resulting name can't be changed.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-zA-Z0-9][a-zA-Z0-9.-]{1,126}[a-zA-Z0-9]$')",messageExpression="'\"' + self + '\" is not a name that CloudFront takes for a tenant: use 3 to 128 letters, digits, hyphens and dots, with a letter or a digit at both ends'",message="use 3 to 128 letters, digits, hyphens and dots, with a letter or a digit at both ends"
	// +optional
	TenantName string `json:"tenantName,omitempty"`

	// driftPolicy says what happens when somebody changes the tenant in AWS. enforce: the spec is written
	// again. report: the difference is listed in status.drift and nothing is written because of it.
	// suspend: no field is compared; a tenant that was deleted outside is not created again, and the
	// conditions say so. A change of the spec is applied under every policy. Absent means what the operator
	// was started with (--drift-policy, enforce by default).
	// +optional
	DriftPolicy DriftPolicy `json:"driftPolicy,omitempty"`

	// deletionPolicy says what becomes of the tenant in AWS when this object is deleted. Delete: it is
	// disabled and deleted. Retain: it is left as it is and the operator's owner tags are taken off.
	// Absent means Delete.
	// +kubebuilder:default=Delete
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// adoptionPolicy says what happens when AWS already has a tenant of this name, or with one of these
	// domains, that does not carry this object's owner tags. Never: it is not touched, and the Ready
	// condition says how to adopt it. IfUnowned: it is adopted if it carries no owner tags, or those of an
	// earlier object of this namespace and name. Force: also if it belongs to another cluster or to a dead
	// object, but never if it belongs to a live object of this cluster. Adopting writes tags only. Fields
	// that the spec states are enforced then; blocks that it lacks are left until the spec changes next.
	// Absent means Never.
	// +kubebuilder:default=Never
	// +optional
	AdoptionPolicy AdoptionPolicy `json:"adoptionPolicy,omitempty"`
}

// LocalReference names an object in the namespace of the object that refers to it.
type LocalReference struct {
	// name is the name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$')",messageExpression="'\"' + self + '\" is no name that an object can have: give the metadata.name of an object of this namespace, which has lower case letters, digits, inner hyphens and dots'",message="must be the metadata.name of an object of this namespace: lower case letters, digits, inner hyphens and dots"
	// +required
	Name string `json:"name,omitempty"`
}

// TenantDomain is one domain of a tenant.
type TenantDomain struct {
	// domain is a fully qualified domain name of at most 253 characters, in lower case, without a dot at
	// its end. An internationalized name is written in punycode. A wildcard stands for exactly one label
	// and is the whole leftmost one, as in *.example.com.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[ -~]*$')",messageExpression="'\"' + self + '\" has characters outside ASCII: write an internationalized domain name in punycode, each such label as xn--...'",message="write an internationalized domain name in punycode, each such label as xn--..."
	// +kubebuilder:validation:XValidation:rule="self == self.lowerAscii()",messageExpression="'\"' + self + '\" has capital letters, but CloudFront takes domain names in lower case only: write \"' + self.lowerAscii() + '\"'",message="CloudFront takes domain names in lower case only"
	// +kubebuilder:validation:XValidation:rule="!self.endsWith('.')",messageExpression="'\"' + self + '\" ends with a dot, but CloudFront takes domain names without the root dot: remove it'",message="CloudFront takes domain names without the root dot: remove the dot at the end"
	// +kubebuilder:validation:XValidation:rule="!self.contains('*') || (self.startsWith('*.') && self.lastIndexOf('*') == 0)",messageExpression="'\"' + self + '\" has a wildcard that is not the whole leftmost label: write it as in *.example.com, or name each domain'",message="a wildcard must be the whole leftmost label, as in *.example.com"
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

// Customizations are the settings of the distribution that a tenant can replace. An absent block means
// that the setting of the distribution holds.
//
// +kubebuilder:validation:MinProperties=0
type Customizations struct {
	// webAcl replaces or switches off the web ACL of the distribution.
	// +optional
	WebACL *WebACLCustomization `json:"webAcl,omitempty"`

	// certificate replaces the certificate of the distribution.
	// +optional
	Certificate *CertificateCustomization `json:"certificate,omitempty"`

	// geoRestrictions replaces the geographic restrictions of the distribution.
	// +optional
	GeoRestrictions *GeoRestrictionCustomization `json:"geoRestrictions,omitempty"`
}

// WebACLCustomization says which AWS WAF web ACL guards a tenant.
//
// +kubebuilder:validation:XValidation:rule="self.action != 'override' || has(self.arn)",message="action override needs the web ACL to use: set arn, or choose action disable",fieldPath=".arn"
// +kubebuilder:validation:XValidation:rule="self.action != 'disable' || !has(self.arn)",message="action disable uses no web ACL: remove arn, or choose action override",fieldPath=".arn"
type WebACLCustomization struct {
	// action is override, for the web ACL that arn names instead of the distribution's, or disable, for
	// none at all.
	// +required
	Action WebACLAction `json:"action,omitempty"`

	// arn is the ARN of an AWS WAF (WAFv2) web ACL of global scope, which AWS keeps in us-east-1. It must
	// be set with override and absent with disable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws(-[a-z]+)*:wafv2:us-east-1:[0-9]{12}:global/webacl/[^/]+/[^/]+$')",messageExpression="'\"' + self + '\" is not the ARN of a global web ACL: CloudFront takes WAFv2 web ACLs of scope CLOUDFRONT only, arn:aws:wafv2:us-east-1:<account>:global/webacl/<name>/<id>'",message="must be the ARN of a WAFv2 web ACL of scope CLOUDFRONT: arn:aws:wafv2:us-east-1:<account>:global/webacl/<name>/<id>"
	// +optional
	ARN string `json:"arn,omitempty"`
}

// CertificateCustomization says which certificate a tenant presents to viewers.
type CertificateCustomization struct {
	// arn is the ARN of an AWS Certificate Manager certificate in us-east-1, the only region CloudFront
	// takes certificates from. Its names must cover every domain of the tenant; a wildcard name covers one label.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws(-[a-z]+)*:acm:us-east-1:[0-9]{12}:certificate/[A-Za-z0-9-]+$')",messageExpression="'\"' + self + '\" is not the ARN of an ACM certificate in us-east-1, the only region that CloudFront takes certificates from: request or import the certificate there and give its ARN, arn:aws:acm:us-east-1:<account>:certificate/<id>'",message="must be the ARN of an ACM certificate in us-east-1: request or import the certificate there"
	// +required
	ARN string `json:"arn,omitempty"`
}

// GeoRestrictionCustomization says from which countries a tenant can be reached.
//
// +kubebuilder:validation:XValidation:rule="self.restrictionType != 'none' || !has(self.locations) || size(self.locations) == 0",message="restrictionType none restricts no country: remove locations, or choose whitelist or blacklist",fieldPath=".locations"
// +kubebuilder:validation:XValidation:rule="self.restrictionType == 'none' || (has(self.locations) && size(self.locations) > 0)",message="restrictionType whitelist and blacklist need at least one country in locations: add one, or choose none",fieldPath=".locations"
type GeoRestrictionCustomization struct {
	// restrictionType is none, whitelist (only the locations are served) or blacklist (all but the
	// locations are served).
	// +required
	RestrictionType GeoRestrictionType `json:"restrictionType,omitempty"`

	// locations are the countries that restrictionType speaks of, at most 300, in any order. At least one
	// with whitelist and blacklist, none with none.
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
	// validationTokenHost says who answers the HTTP challenge that proves control of the domains.
	// cloudfront: CloudFront does, so DNS must point there before the tenant can be created.
	// self-hosted: the present web server of each domain does, by redirecting to what AWS asks for.
	// +required
	ValidationTokenHost ValidationTokenHost `json:"validationTokenHost,omitempty"`

	// primaryDomainName is the common name of the certificate, one of spec.domains. Absent leaves the
	// choice to AWS.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	PrimaryDomainName string `json:"primaryDomainName,omitempty"`

	// certificateTransparencyLoggingPreference says whether the certificate is recorded in public
	// certificate transparency logs; browsers warn of one that isn't. Absent means that AWS decides,
	// which is enabled.
	// +optional
	CertificateTransparencyLoggingPreference CertificateTransparencyLoggingPreference `json:"certificateTransparencyLoggingPreference,omitempty"`

	// deleteOnTenantDeletion says whether the certificates in status.managedCertificates are deleted in ACM
	// once the tenant is gone. AWS keeps them otherwise, and they count against the account's quota of
	// certificates. Only one that CloudFront manages and that nothing uses any more is deleted. Absent means
	// true; nothing is deleted with deletionPolicy Retain.
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
	// +kubebuilder:validation:XValidation:rule="self.matches('^[\\\\p{L}\\\\p{Z}\\\\p{N}_.:/=+@-]+$')",messageExpression="'\"' + self + '\" has a character that AWS does not take in a tag key: use letters, digits, spaces and _ . : / = + - @'",message="use letters, digits, spaces and _ . : / = + - @"
	// +kubebuilder:validation:XValidation:rule="!self.lowerAscii().startsWith('aws:')",messageExpression="'\"' + self + '\" starts with aws:, which AWS reserves for itself: choose another key'",message="the prefix aws: is reserved by AWS: choose another key"
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('cloudfront-tenant-operator.io/')",messageExpression="'\"' + self + '\" starts with cloudfront-tenant-operator.io/, which the operator uses to mark what it owns: choose another key'",message="the prefix cloudfront-tenant-operator.io/ is reserved by the operator: choose another key"
	// +required
	Key string `json:"key,omitempty"`

	// value is at most 256 letters, digits, spaces and _ . : / = + - @. Absent means the empty value.
	// +kubebuilder:validation:MinLength=0
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^[\\\\p{L}\\\\p{Z}\\\\p{N}_.:/=+@-]*$')",messageExpression="'\"' + self + '\" has a character that AWS does not take in a tag value: use letters, digits, spaces and _ . : / = + - @'",message="use letters, digits, spaces and _ . : / = + - @"
	// +optional
	Value string `json:"value,omitempty"`
}

// DNS says where and how the records of the domains are published.
//
// +kubebuilder:validation:XValidation:rule="!has(self.hostedZoneId) || !has(self.zoneName)",message="hostedZoneId names the zone already: remove zoneName, or hostedZoneId to look the zone up by its name",fieldPath=".zoneName"
type DNS struct {
	// provider is the DNS service that holds the zone: route53.
	// +required
	Provider DNSProvider `json:"provider,omitempty"`

	// hostedZoneId is the ID of the Route 53 hosted zone to publish in. With neither hostedZoneId nor zoneName
	// each domain goes to the one public zone whose name is the longest match for it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^Z[A-Z0-9]+$')",messageExpression="'\"' + self + '\" is not the ID of a hosted zone, which is Z and then capital letters and digits: give it without /hostedzone/ before it'",message="must be the ID of a hosted zone: Z and then capital letters and digits, without /hostedzone/ before it"
	// +optional
	HostedZoneID string `json:"hostedZoneId,omitempty"`

	// zoneName is the name of the public hosted zone to publish in, in lower case and without a dot at its
	// end, for example example.com. There must be one public zone of that name.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?[.])*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$')",messageExpression="'\"' + self + '\" is not the name of a zone: write it in lower case, an internationalized name in punycode, and without a dot at its end'",message="write the name of the zone in lower case, an internationalized name in punycode, and without a dot at its end"
	// +optional
	ZoneName string `json:"zoneName,omitempty"`

	// recordType says what is published for a domain. CNAME: a CNAME record, which can't stand at the apex
	// of a zone. Alias: alias records of type A, and AAAA where the connection group has IPv6, with the TXT
	// record _cf-challenge that CloudFront looks for beside an alias. Auto: Alias at the apex of the zone,
	// CNAME below it. Absent means Auto.
	// +kubebuilder:default=Auto
	// +optional
	RecordType RecordType `json:"recordType,omitempty"`

	// takeover lets a record that somebody else published in the place of one of ours be replaced, and an
	// equal one be adopted. From then on it counts as ours: it is deleted with the domain. A record that
	// another live object of this cluster publishes is never taken. Absent means false: another record in
	// the place is a conflict, an equal one is used, and both stay for ever.
	// +optional
	Takeover bool `json:"takeover,omitempty"`

	// ttl is the time to live of the records in seconds, 60 to 172800 (two days). Alias records have none.
	// Absent means 300.
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=172800
	// +optional
	TTL int32 `json:"ttl,omitempty"`

	// assumeRoleArn is the ARN of an IAM role that the operator assumes to read and change the zone, for a
	// zone in another AWS account. The administrator must have allowed it (--allowed-roles), and the role
	// must trust the operator under the external ID <cluster ID>/<namespace>. Absent means the operator's own
	// identity.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=640
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws(-[a-z]+)*:iam::[0-9]{12}:role/[!-~]+$')",messageExpression="'\"' + self + '\" is not the ARN of an IAM role: give arn:aws:iam::<account>:role/<name>'",message="must be the ARN of an IAM role: arn:aws:iam::<account>:role/<name>"
	// +optional
	AssumeRoleARN string `json:"assumeRoleArn,omitempty"`
}

// WebACLAction says what a tenant does with the web ACL of its distribution.
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
// +kubebuilder:validation:Enum=route53
type DNSProvider string

// DNSProviderRoute53 is Amazon Route 53.
const DNSProviderRoute53 DNSProvider = "route53"

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

// DriftPolicy says what happens to changes made behind the operator's back.
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

// DeletionPolicy says what becomes of an AWS resource when its object is deleted.
// +kubebuilder:validation:Enum=Delete;Retain
type DeletionPolicy string

const (
	// DeletionPolicyDelete deletes it.
	DeletionPolicyDelete DeletionPolicy = "Delete"
	// DeletionPolicyRetain leaves it and gives up its ownership.
	DeletionPolicyRetain DeletionPolicy = "Retain"
)

// AdoptionPolicy says when an AWS resource that already exists may be taken over.
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
