package v1alpha1

// The types of a template have the field names of a DistributionTenant, and differ in what is asked of
// them: nothing is required, nothing has a default, and no rule compares two fields, since a row may
// bring the other. What a default would fill in here would be written over what users set.

// TemplateMetadata is the metadata of every tenant of a source.
//
// +kubebuilder:validation:MinProperties=0
type TemplateMetadata struct {
	// labels are put on the objects, at most 50. Those of the operator and of Kubernetes are reserved.
	// +kubebuilder:validation:MinProperties=0
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="!self.exists(k, !k.matches('^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[a-zA-Z0-9]([a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?$') || !self[k].matches('^([a-zA-Z0-9]([a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?)?$'))",messageExpression="'\"' + self.map(k, k).filter(k, !k.matches('^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[a-zA-Z0-9]([a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?$') || !self[k].matches('^([a-zA-Z0-9]([a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?)?$'))[0] + '\" or its value is none that Kubernetes takes in labels: use at most 63 letters, digits and inner - _ . and for a key, if wanted, a DNS name and a slash before it'",message="use keys and values that Kubernetes takes in labels: at most 63 letters, digits and inner - _ . and for a key an optional DNS name and a slash before it"
	// +kubebuilder:validation:XValidation:rule="!self.exists(k, k.matches('^([a-z0-9.-]*[.])?(cloudfront-tenant-operator[.]io|kleff[.]io|kubernetes[.]io|k8s[.]io)/'))",messageExpression="'\"' + self.map(k, k).filter(k, k.matches('^([a-z0-9.-]*[.])?(cloudfront-tenant-operator[.]io|kleff[.]io|kubernetes[.]io|k8s[.]io)/'))[0] + '\" has a prefix that is reserved for the operator or for Kubernetes: choose another key'",message="prefixes of cloudfront-tenant-operator.io, kleff.io, kubernetes.io and k8s.io are reserved: choose another key"
	// +optional
	Labels map[string]TemplateLabelValue `json:"labels,omitempty"`

	// annotations are put on the objects, at most 50. Those of the operator and of Kubernetes are reserved.
	// +kubebuilder:validation:MinProperties=0
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="!self.exists(k, !k.matches('^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[a-zA-Z0-9]([a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?$'))",messageExpression="'\"' + self.map(k, k).filter(k, !k.matches('^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[a-zA-Z0-9]([a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?$'))[0] + '\" is no key that Kubernetes takes: use at most 63 letters, digits and inner - _ . and, if wanted, a DNS name and a slash before it'",message="use keys that Kubernetes takes in annotations: at most 63 letters, digits and inner - _ . with an optional DNS name and a slash before it"
	// +kubebuilder:validation:XValidation:rule="!self.exists(k, k.matches('^([a-z0-9.-]*[.])?(cloudfront-tenant-operator[.]io|kleff[.]io|kubernetes[.]io|k8s[.]io)/'))",messageExpression="'\"' + self.map(k, k).filter(k, k.matches('^([a-z0-9.-]*[.])?(cloudfront-tenant-operator[.]io|kleff[.]io|kubernetes[.]io|k8s[.]io)/'))[0] + '\" has a prefix that is reserved for the operator or for Kubernetes: choose another key'",message="prefixes of cloudfront-tenant-operator.io, kleff.io, kubernetes.io and k8s.io are reserved: choose another key"
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

// TemplateSpec has the fields of a DistributionTenant's spec that many tenants share. Its domains and its name are those
// of the row alone.
//
// +kubebuilder:validation:MinProperties=0
type TemplateSpec struct {
	// distributionId is the ID of the multi-tenant distribution (connection mode tenant-only) that serves this
	// tenant. It may change: CloudFront moves the tenant without an interruption.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Z0-9]+$')",messageExpression="'\"' + self + '\" is not the ID of a distribution, which has capital letters and digits only, like E1A2B3C4D5E6F7: give the ID, not the ARN or the domain name'",message="must be the ID of a distribution: capital letters and digits only"
	// +optional
	DistributionID string `json:"distributionId,omitempty"`

	// enabled says whether the tenant answers requests. false keeps the tenant, its domains and its DNS
	// records, and refuses viewers.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// connectionGroupId is the ID of the connection group whose routing endpoint the tenant's DNS names point
	// at.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^cg_[A-Za-z0-9]+$')",messageExpression="'\"' + self + '\" is not the ID of a connection group, which is cg_ and then letters and digits: give the ID, not the name, the ARN or the routing endpoint'",message="must be the ID of a connection group: cg_ and then letters and digits"
	// +optional
	ConnectionGroupID string `json:"connectionGroupId,omitempty"`

	// parameters are values for the parameters that the distribution declares, at most 50. A required
	// parameter needs a value here; one that the distribution does not declare is reported as an error.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=50
	// +listType=map
	// +listMapKey=name
	// +optional
	Parameters []Parameter `json:"parameters,omitempty"`

	// customizations replace settings of the distribution for this tenant alone.
	// +optional
	Customizations *TemplateCustomizations `json:"customizations,omitempty"`

	// managedCertificateRequest asks CloudFront to obtain, validate and renew a certificate for the domains.
	// It can not be combined with a wildcard domain. The issued certificate is attached to the tenant and
	// reported in status.certificateArn; spec stays as it is.
	// +optional
	ManagedCertificateRequest *TemplateCertificateRequest `json:"managedCertificateRequest,omitempty"`

	// tags are put on the tenant in AWS, at most 46: AWS takes 50 and the operator needs four to mark what it
	// owns. A tag that was removed here is removed in AWS; tags that somebody else added there stay.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=46
	// +listType=map
	// +listMapKey=key
	// +optional
	Tags []Tag `json:"tags,omitempty"`

	// dns makes the operator publish a DNS record for every domain.
	// +optional
	DNS *TemplateDNS `json:"dns,omitempty"`

	// driftPolicy says what happens when somebody changes the tenant in AWS. enforce: the spec is written
	// again. report: the difference is listed in status.drift and nothing is written because of it. suspend:
	// no field is compared; a tenant that was deleted outside is not created again, and the conditions say so.
	// A change of the spec is applied under every policy.
	// +optional
	DriftPolicy DriftPolicy `json:"driftPolicy,omitempty"`

	// deletionPolicy says what becomes of the tenant in AWS when this object is deleted. Delete: it is
	// disabled and deleted. Retain: it is left as it is and the operator's owner tags are taken off.
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// adoptionPolicy says what happens when AWS already has a tenant of this name, or with one of these
	// domains, that does not carry this object's owner tags. Never: it is not touched, and the Ready condition
	// says how to adopt it. IfUnowned: it is adopted if it carries no owner tags, or those of an earlier
	// object of this namespace and name. Force: also if it belongs to another cluster or to a dead object, but
	// never if it belongs to a live object of this cluster. Adopting writes tags only. Fields that the spec
	// states are enforced then; blocks that it lacks are left until the spec changes next.
	// +optional
	AdoptionPolicy AdoptionPolicy `json:"adoptionPolicy,omitempty"`
}

// TemplateCustomizations are the settings of the distribution that every tenant of a source replaces.
//
// +kubebuilder:validation:MinProperties=0
type TemplateCustomizations struct {
	// webAcl replaces or switches off the web ACL of the distribution.
	// +optional
	WebACL *TemplateWebACL `json:"webAcl,omitempty"`

	// certificate replaces the certificate of the distribution.
	// +optional
	Certificate *CertificateCustomization `json:"certificate,omitempty"`

	// geoRestrictions replaces the geographic restrictions of the distribution.
	// +optional
	GeoRestrictions *TemplateGeoRestriction `json:"geoRestrictions,omitempty"`
}

// TemplateWebACL says which AWS WAF web ACL guards the tenants.
//
// +kubebuilder:validation:MinProperties=0
type TemplateWebACL struct {
	// action is override, for the web ACL that arn names instead of the distribution's, or disable, for none
	// at all.
	// +optional
	Action WebACLAction `json:"action,omitempty"`

	// arn is the ARN of an AWS WAF (WAFv2) web ACL of global scope, which AWS keeps in us-east-1. It must be
	// set with override and absent with disable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws(-[a-z]+)*:wafv2:us-east-1:[0-9]{12}:global/webacl/[^/]+/[^/]+$')",messageExpression="'\"' + self + '\" is not the ARN of a global web ACL: CloudFront takes WAFv2 web ACLs of scope CLOUDFRONT only, arn:aws:wafv2:us-east-1:<account>:global/webacl/<name>/<id>'",message="must be the ARN of a WAFv2 web ACL of scope CLOUDFRONT: arn:aws:wafv2:us-east-1:<account>:global/webacl/<name>/<id>"
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

	// locations are the countries that restrictionType speaks of, at most 300, in any order. At least one with
	// whitelist and blacklist, none with none.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=300
	// +listType=set
	// +optional
	Locations []CountryCode `json:"locations,omitempty"`
}

// TemplateCertificateRequest describes the certificates that the tenants ask CloudFront to obtain.
//
// +kubebuilder:validation:MinProperties=0
type TemplateCertificateRequest struct {
	// validationTokenHost says who answers the HTTP challenge that proves control of the domains. cloudfront:
	// CloudFront does, so DNS must point there before the tenant can be created. self-hosted: the present web
	// server of each domain does, by redirecting to what AWS asks for.
	// +optional
	ValidationTokenHost ValidationTokenHost `json:"validationTokenHost,omitempty"`

	// certificateTransparencyLoggingPreference says whether the certificate is recorded in public certificate
	// transparency logs; browsers warn of one that isn't.
	// +optional
	CertificateTransparencyLoggingPreference CertificateTransparencyLoggingPreference `json:"certificateTransparencyLoggingPreference,omitempty"`

	// deleteOnTenantDeletion says whether the certificates in status.managedCertificates are deleted in ACM
	// once the tenant is gone. AWS keeps them otherwise, and they count against the account's quota of
	// certificates. Only one that CloudFront manages and that nothing uses any more is deleted.
	// +optional
	DeleteOnTenantDeletion *bool `json:"deleteOnTenantDeletion,omitempty"`
}

// TemplateDNS says where and how the records of the domains are published.
//
// +kubebuilder:validation:MinProperties=0
type TemplateDNS struct {
	// provider is the DNS service that holds the zone: route53.
	// +optional
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

	// recordType says what is published for a domain. CNAME: a CNAME record, which can't stand at the apex of
	// a zone. Alias: alias records of type A, and AAAA where the connection group has IPv6, with the TXT
	// record _cf-challenge that CloudFront looks for beside an alias. Auto: Alias at the apex of the zone,
	// CNAME below it.
	// +optional
	RecordType RecordType `json:"recordType,omitempty"`

	// takeover lets a record that somebody else published in the place of one of ours be replaced, and an
	// equal one be adopted. From then on it counts as ours: it is deleted with the domain. A record that
	// another live object of this cluster publishes is never taken.
	// +optional
	Takeover *bool `json:"takeover,omitempty"`

	// ttl is the time to live of the records in seconds, 60 to 172800 (two days). Alias records have none.
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=172800
	// +optional
	TTL int32 `json:"ttl,omitempty"`

	// assumeRoleArn is the ARN of an IAM role that the operator assumes to read and change the zone, for a
	// zone in another AWS account. The administrator must have allowed it (--allowed-roles), and the role must
	// trust the operator under the external ID <cluster ID>/<namespace>.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=640
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws(-[a-z]+)*:iam::[0-9]{12}:role/[!-~]+$')",messageExpression="'\"' + self + '\" is not the ARN of an IAM role: give arn:aws:iam::<account>:role/<name>'",message="must be the ARN of an IAM role: arn:aws:iam::<account>:role/<name>"
	// +optional
	AssumeRoleARN string `json:"assumeRoleArn,omitempty"`
}
