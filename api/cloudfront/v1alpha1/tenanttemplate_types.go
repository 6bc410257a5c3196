package v1alpha1

// The types of a template have the field names of a DistributionTenant, and differ in what is asked of
// them: nothing is required, nothing has a default, and no rule compares two fields, since a row may
// bring the other. What a default would fill in here would be written over what users set.

// TemplateMetadata is the metadata of every tenant of a source.
//
// +kubebuilder:validation:MinProperties=0
type TemplateMetadata struct {
	// labels are set on the objects, at most 50. Labels of the operator and of Kubernetes are reserved.
	// +kubebuilder:validation:MinProperties=0
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="!self.exists(k, !k.matches('^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[a-zA-Z0-9]([a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?$') || !self[k].matches('^([a-zA-Z0-9]([a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?)?$'))",messageExpression="'\"' + self.map(k, k).filter(k, !k.matches('^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[a-zA-Z0-9]([a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?$') || !self[k].matches('^([a-zA-Z0-9]([a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?)?$'))[0] + '\" or its value is not valid in a label: use at most 63 letters, digits and inner - _ . and, for a key, an optional prefix of a DNS name and a slash'",message="use valid label keys and values: at most 63 letters, digits and inner - _ . and, for a key, an optional prefix of a DNS name and a slash"
	// +kubebuilder:validation:XValidation:rule="!self.exists(k, k.matches('^([a-z0-9.-]*[.])?(cloudfront-tenant-operator[.]io|kleff[.]io|kubernetes[.]io|k8s[.]io)/'))",messageExpression="'\"' + self.map(k, k).filter(k, k.matches('^([a-z0-9.-]*[.])?(cloudfront-tenant-operator[.]io|kleff[.]io|kubernetes[.]io|k8s[.]io)/'))[0] + '\" has a prefix that is reserved for the operator or for Kubernetes: use another key'",message="prefixes of cloudfront-tenant-operator.io, kleff.io, kubernetes.io and k8s.io are reserved: use another key"
	// +optional
	Labels map[string]TemplateLabelValue `json:"labels,omitempty"`

	// annotations are set on the objects, at most 50. Annotations of the operator and of Kubernetes are reserved.
	// +kubebuilder:validation:MinProperties=0
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="!self.exists(k, !k.matches('^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[a-zA-Z0-9]([a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?$'))",messageExpression="'\"' + self.map(k, k).filter(k, !k.matches('^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[a-zA-Z0-9]([a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?$'))[0] + '\" is not a valid annotation key: use at most 63 letters, digits and inner - _ . and an optional prefix of a DNS name and a slash'",message="use valid annotation keys: at most 63 letters, digits and inner - _ . with an optional prefix of a DNS name and a slash"
	// +kubebuilder:validation:XValidation:rule="!self.exists(k, k.matches('^([a-z0-9.-]*[.])?(cloudfront-tenant-operator[.]io|kleff[.]io|kubernetes[.]io|k8s[.]io)/'))",messageExpression="'\"' + self.map(k, k).filter(k, k.matches('^([a-z0-9.-]*[.])?(cloudfront-tenant-operator[.]io|kleff[.]io|kubernetes[.]io|k8s[.]io)/'))[0] + '\" has a prefix that is reserved for the operator or for Kubernetes: use another key'",message="prefixes of cloudfront-tenant-operator.io, kleff.io, kubernetes.io and k8s.io are reserved: use another key"
	// +optional
	Annotations map[string]TemplateAnnotationValue `json:"annotations,omitempty"`
}

// TemplateLabelValue is the value of a label.
// +kubebuilder:validation:MinLength=0
// +kubebuilder:validation:MaxLength=63
type TemplateLabelValue string

// TemplateAnnotationValue is the value of an annotation.
// +kubebuilder:validation:MinLength=0
// +kubebuilder:validation:MaxLength=4096
type TemplateAnnotationValue string

// TemplateSpec has the fields of a DistributionTenant's spec that many tenants share. Domains and name come only from
// the row.
//
// +kubebuilder:validation:MinProperties=0
type TemplateSpec struct {
	// distributionId is the ID of the multi-tenant distribution (connection mode tenant-only) that serves this tenant. It
	// can be changed: CloudFront moves the tenant without interruption.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Z0-9]+$')",messageExpression="'\"' + self + '\" is not a distribution ID, which has only capital letters and digits, like E1A2B3C4D5E6F7: use the ID, not the ARN or the domain name'",message="must be the ID of a distribution: capital letters and digits only"
	// +optional
	DistributionID string `json:"distributionId,omitempty"`

	// enabled says whether the tenant serves requests. If false, the tenant, its domains and its DNS records are kept,
	// but requests are rejected.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// connectionGroupId is the ID of the connection group whose routing endpoint the tenant's DNS names point to.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^cg_[A-Za-z0-9]+$')",messageExpression="'\"' + self + '\" is not a connection group ID, which is cg_ followed by letters and digits: use the ID, not the name, the ARN or the routing endpoint'",message="must be the ID of a connection group: cg_ followed by letters and digits"
	// +optional
	ConnectionGroupID string `json:"connectionGroupId,omitempty"`

	// parameters are values for the parameters that the distribution declares, at most 50. A required parameter must have
	// a value here. A parameter that the distribution does not declare is an error.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=50
	// +listType=map
	// +listMapKey=name
	// +optional
	Parameters []Parameter `json:"parameters,omitempty"`

	// customizations override settings of the distribution for this tenant.
	// +optional
	Customizations *TemplateCustomizations `json:"customizations,omitempty"`

	// managedCertificateRequest asks CloudFront to obtain, validate and renew a certificate for the domains. It cannot be
	// combined with a wildcard domain. The issued certificate is attached to the tenant and reported in
	// status.certificateArn; spec is not changed.
	// +optional
	ManagedCertificateRequest *TemplateCertificateRequest `json:"managedCertificateRequest,omitempty"`

	// tags are set on the tenant in AWS, at most 46: AWS allows 50 and the operator needs four as owner tags. A tag that
	// is removed here is removed in AWS. Tags that were added there by others are kept.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=46
	// +listType=map
	// +listMapKey=key
	// +optional
	Tags []Tag `json:"tags,omitempty"`

	// dns makes the operator publish a DNS record for every domain.
	// +optional
	DNS *TemplateDNS `json:"dns,omitempty"`

	// driftPolicy says what to do when the tenant is changed in AWS. enforce: the spec is applied again. report: the
	// difference is listed in status.drift and not corrected. suspend: fields are not compared. With report and suspend,
	// a tenant that was deleted outside of Kubernetes is not created again, and the conditions report it. A change of the
	// spec is always applied.
	// +optional
	DriftPolicy DriftPolicy `json:"driftPolicy,omitempty"`

	// deletionPolicy says what happens to the tenant in AWS when this object is deleted. Delete: it is disabled and
	// deleted. Retain: it is kept as it is, and only the operator's owner tags are removed.
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// adoptionPolicy says what to do when AWS already has a tenant with this name, or with one of these domains, that
	// does not have this object's owner tags. Never: it is not changed, and the Ready condition says how to adopt it.
	// IfUnowned: it is adopted if it has no owner tags, or those of an earlier object with this namespace and name.
	// Force: it is also adopted if it belongs to another cluster or to a deleted object, but never if it belongs to an
	// existing object of this cluster. Adoption itself only writes tags. After that, fields that are set in the spec are
	// enforced. Blocks that are not in the spec are kept until the spec changes.
	// +optional
	AdoptionPolicy AdoptionPolicy `json:"adoptionPolicy,omitempty"`
}

// TemplateCustomizations are the settings of the distribution that every tenant of a source overrides.
//
// +kubebuilder:validation:MinProperties=0
type TemplateCustomizations struct {
	// webAcl overrides or disables the web ACL of the distribution.
	// +optional
	WebACL *TemplateWebACL `json:"webAcl,omitempty"`

	// certificate overrides the certificate of the distribution.
	// +optional
	Certificate *CertificateCustomization `json:"certificate,omitempty"`

	// geoRestrictions overrides the geographic restrictions of the distribution.
	// +optional
	GeoRestrictions *TemplateGeoRestriction `json:"geoRestrictions,omitempty"`
}

// TemplateWebACL says which AWS WAF web ACL protects the tenants.
//
// +kubebuilder:validation:MinProperties=0
type TemplateWebACL struct {
	// action is override, to use the web ACL in arn instead of that of the distribution, or disable, to use none.
	// +optional
	Action WebACLAction `json:"action,omitempty"`

	// arn is the ARN of an AWS WAF (WAFv2) web ACL of global scope, which AWS keeps in us-east-1. It must be
	// set with override and absent with disable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws(-[a-z]+)*:wafv2:us-east-1:[0-9]{12}:global/webacl/[^/]+/[^/]+$')",messageExpression="'\"' + self + '\" is not the ARN of a global web ACL: CloudFront accepts only WAFv2 web ACLs with scope CLOUDFRONT, arn:aws:wafv2:us-east-1:<account>:global/webacl/<name>/<id>'",message="must be the ARN of a WAFv2 web ACL with scope CLOUDFRONT: arn:aws:wafv2:us-east-1:<account>:global/webacl/<name>/<id>"
	// +optional
	ARN string `json:"arn,omitempty"`
}

// TemplateGeoRestriction says from which countries the tenants can be reached.
//
// +kubebuilder:validation:MinProperties=0
type TemplateGeoRestriction struct {
	// restrictionType is none, whitelist (only the locations are served) or blacklist (all but the locations
	// are served).
	// +optional
	RestrictionType GeoRestrictionType `json:"restrictionType,omitempty"`

	// locations are the countries of the whitelist or blacklist, at most 300, in any order. At least one with whitelist
	// and blacklist, none with none.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=300
	// +listType=set
	// +optional
	Locations []CountryCode `json:"locations,omitempty"`
}

// TemplateCertificateRequest describes the managed certificates of the tenants.
//
// +kubebuilder:validation:MinProperties=0
type TemplateCertificateRequest struct {
	// validationTokenHost says who answers the HTTP challenge that validates the domains. cloudfront: CloudFront does, so
	// DNS must point to CloudFront before the tenant can be created. self-hosted: the current web server of each domain
	// does, with a redirect that AWS specifies.
	// +optional
	ValidationTokenHost ValidationTokenHost `json:"validationTokenHost,omitempty"`

	// certificateTransparencyLoggingPreference says whether the certificate is recorded in public certificate
	// transparency logs; browsers show a warning if it is not.
	// +optional
	CertificateTransparencyLoggingPreference CertificateTransparencyLoggingPreference `json:"certificateTransparencyLoggingPreference,omitempty"`

	// deleteOnTenantDeletion says whether the certificates in status.managedCertificates are deleted in ACM after the
	// tenant is deleted. Otherwise AWS keeps them, and they count against the certificate quota of the account. Only
	// certificates that CloudFront manages and that nothing uses any more are deleted.
	// +optional
	DeleteOnTenantDeletion *bool `json:"deleteOnTenantDeletion,omitempty"`
}

// TemplateDNS says where and how the records of the domains are published.
//
// +kubebuilder:validation:MinProperties=0
type TemplateDNS struct {
	// provider is the DNS service that holds the zone: route53, cloudflare, azure, rfc2136 (BIND and other servers with
	// dynamic updates) or externaldns (whatever ExternalDNS publishes at). All but route53 need an account that the administrator has configured.
	// +optional
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
	// provider has for it: Alias with route53, a flattened CNAME with cloudflare. Others can't publish an apex.
	// +optional
	RecordType RecordType `json:"recordType,omitempty"`

	// takeover allows the operator to replace existing records of a domain that it did not create, and to adopt equal
	// ones. These records are then deleted with the domain. A record that another object of this cluster publishes is
	// never replaced.
	// +optional
	Takeover *bool `json:"takeover,omitempty"`

	// ttl is the time to live of the records in seconds, 60 to 172800 (two days). It does not apply to alias records.
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=172800
	// +optional
	TTL int32 `json:"ttl,omitempty"`

	// assumeRoleArn is the ARN of an IAM role that the operator assumes to read and change the zone, for a zone in
	// another AWS account. The administrator must allow it in --allowed-roles, and the role must trust the operator with
	// the external ID <cluster ID>/<namespace>.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=640
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws(-[a-z]+)*:iam::[0-9]{12}:role/[!-~]+$')",messageExpression="'\"' + self + '\" is not the ARN of an IAM role: use arn:aws:iam::<account>:role/<name>'",message="must be the ARN of an IAM role: arn:aws:iam::<account>:role/<name>"
	// +optional
	AssumeRoleARN string `json:"assumeRoleArn,omitempty"`
}
