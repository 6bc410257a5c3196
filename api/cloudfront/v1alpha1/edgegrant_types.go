package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EdgeGrant says what the objects of some namespaces may use in AWS: distributions, domains, hosted zones, certificates,
// tables. It gives rights in AWS, so only administrators of the platform should be allowed to write it. Each namespace
// has exactly one grant, or none.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=cfeg
// +kubebuilder:printcolumn:name="READY",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="The grant is valid and in force"
// +kubebuilder:printcolumn:name="NAMESPACES",type=integer,JSONPath=`.status.namespaces`,description="Namespaces that have this grant and objects of the operator"
// +kubebuilder:printcolumn:name="TENANTS",type=integer,JSONPath=`.status.tenants`,description="DistributionTenants in these namespaces"
// +kubebuilder:printcolumn:name="VIOLATIONS",type=integer,JSONPath=`.status.violations`,description="Objects that ask for more than the grant allows"
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="ACCOUNT",type=string,priority=1,JSONPath=`.spec.account.id`,description="The AWS account of the objects, if it is not the operator's own"
// +kubebuilder:printcolumn:name="REASON",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it is ready or not"
type EdgeGrant struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what is granted, and to whom. The operator never writes to it.
	// +required
	Spec EdgeGrantSpec `json:"spec"`

	// status is the observed state.
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status EdgeGrantStatus `json:"status,omitzero"`
}

// EdgeGrantList is a list of EdgeGrant objects.
//
// +kubebuilder:object:root=true
type EdgeGrantList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	// items are the objects.
	Items []EdgeGrant `json:"items"`
}

// EdgeGrantSpec is what is granted, and to whom. What is omitted is not granted. In lists of IDs, names and ARNs, a star
// stands for any text.
//
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.account) || has(self.account) && self.account.id == oldSelf.account.id",message="what the namespaces have in an AWS account stays there, so the account of a grant can't change: create another grant for other namespaces",fieldPath=".account"
type EdgeGrantSpec struct {
	// namespaces are those that have this grant.
	// +required
	Namespaces GrantedNamespaces `json:"namespaces"`

	// account is the AWS account in which the objects of the namespaces have everything in CloudFront and ACM. It can't be
	// changed later. DNS records are not in it: spec.dns of tenants names their zones. Default: the operator's own account.
	// +optional
	Account *GrantedAccount `json:"account,omitempty"`

	// kinds are those of the objects that the namespaces may have. Default: DistributionTenant.
	// +kubebuilder:default={DistributionTenant}
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=5
	// +listType=atomic
	// +optional
	Kinds []GrantedKind `json:"kinds,omitempty"`

	// distributions are those that tenants may use, and those that Distributions may adopt if adopt allows it. A
	// Distribution object of the same namespace may always be used by spec.distributionRef.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +optional
	Distributions []GrantedDistribution `json:"distributions,omitempty"`

	// connectionGroups are those that tenants may use. A ConnectionGroup object of the same namespace may always be used
	// by spec.connectionGroupRef, and a tenant that names no group uses the default group of CloudFront.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +optional
	ConnectionGroups []GrantedConnectionGroup `json:"connectionGroups,omitempty"`

	// domains are those that tenants and Distributions may serve.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=256
	// +listType=atomic
	// +optional
	Domains []GrantedDomain `json:"domains,omitempty"`

	// wildcards says whether wildcard domains such as *.shop.example.com are allowed below the granted domains. Default:
	// false.
	// +optional
	Wildcards *bool `json:"wildcards,omitempty"`

	// dns is what spec.dns of tenants may use. If omitted, tenants can't have DNS records.
	// +optional
	DNS *GrantedDNS `json:"dns,omitempty"`

	// roles are patterns of the IAM roles that spec.dns.assumeRoleArn and spec.dynamodb.assumeRoleArn may name, such as
	// arn:aws:iam::111122223333:role/shop-*. A star matches any text between two slashes. The flag --allowed-roles of the
	// operator must allow them too.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=2048
	// +listType=atomic
	// +optional
	Roles []string `json:"roles,omitempty"`

	// certificates are the ARNs of the ACM certificates that objects may name, for viewers and for origins, and the IDs of
	// server certificates in IAM that Distributions may name.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=2048
	// +listType=atomic
	// +optional
	Certificates []string `json:"certificates,omitempty"`

	// webAcls is how tenants may change the web ACL of their distribution, and which ones Distributions may have. If
	// omitted, tenants have the web ACL of their distribution.
	// +optional
	WebACLs *GrantedWebACLs `json:"webAcls,omitempty"`

	// keyValueStores are the CloudFront key value stores that tenants may write keys into. If omitted, they can't.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	KeyValueStores []GrantedKeyValueStore `json:"keyValueStores,omitempty"`

	// geoRestrictions says whether tenants may override the geographic restrictions of their distribution. With none or a
	// list of their own, they can lift an embargo. Default: false.
	// +optional
	GeoRestrictions *bool `json:"geoRestrictions,omitempty"`

	// origins are what the origins of Distributions may be. If omitted, they may have any domain name, but no VPC origin
	// and no origin access control.
	// +optional
	Origins *GrantedOrigins `json:"origins,omitempty"`

	// functions are the ARNs of the CloudFront functions and of the versions of Lambda functions that Distributions may
	// run, such as arn:aws:cloudfront::111122223333:function/shop-*, and the IDs of connection functions.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=2048
	// +listType=atomic
	// +optional
	Functions []string `json:"functions,omitempty"`

	// keyGroups are the IDs of the key groups whose signatures Distributions may trust, and of the trust stores for the
	// certificates of viewers.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	// +listType=atomic
	// +optional
	KeyGroups []string `json:"keyGroups,omitempty"`

	// fieldLevelEncryptions are the IDs of the configurations of field-level encryption that Distributions may use.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	// +listType=atomic
	// +optional
	FieldLevelEncryptions []string `json:"fieldLevelEncryptions,omitempty"`

	// logBuckets are the domain names of the buckets that Distributions may write access logs to, in lower case, such as
	// shop-*.s3.amazonaws.com, and the ARNs of real-time log configurations.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=atomic
	// +optional
	LogBuckets []string `json:"logBuckets,omitempty"`

	// sources are the tables that TenantSources may read.
	// +optional
	Sources *GrantedSources `json:"sources,omitempty"`

	// adopt allows objects to adopt what exists in AWS. If omitted, they can't, whatever their adoptionPolicy is.
	// +optional
	Adopt *GrantedAdoption `json:"adopt,omitempty"`

	// limits are how much the namespaces may have together.
	// +optional
	Limits *GrantLimits `json:"limits,omitempty"`
}

// GrantedAccount is an AWS account.
//
// +kubebuilder:validation:XValidation:rule="!has(self.roleArn) || self.roleArn.split(':').size() < 5 || self.roleArn.split(':')[4] == self.id",messageExpression="'the role ' + self.roleArn + ' is not in the account ' + self.id + ': use a role of that account'",message="the role must be in the account",fieldPath=".roleArn"
type GrantedAccount struct {
	// id is the ID of the account.
	// +kubebuilder:validation:MinLength=12
	// +kubebuilder:validation:MaxLength=12
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]{12}$')",messageExpression="'\"' + self + '\" is not an AWS account ID, which has 12 digits'",message="an AWS account ID has 12 digits"
	// +required
	ID string `json:"id,omitempty"`

	// roleArn is the IAM role in the account that the operator assumes. Its trust policy must allow the operator with the
	// external ID "<cluster ID>/grant:<name of this EdgeGrant>". If omitted, the operator's own credentials must belong to
	// the account.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws(-[a-z]+)*:iam::[0-9]{12}:role/[!-~]+$')",messageExpression="'\"' + self + '\" is not the ARN of an IAM role: use arn:aws:iam::<account>:role/<name>'",message="must be the ARN of an IAM role: arn:aws:iam::<account>:role/<name>"
	// +optional
	RoleARN string `json:"roleArn,omitempty"`
}

// GrantedKind is a kind of objects that a grant allows.
//
// +kubebuilder:validation:Enum=DistributionTenant;Distribution;ConnectionGroup;TenantSource;Invalidation
type GrantedKind string

// The kinds.
const (
	GrantedDistributionTenants GrantedKind = "DistributionTenant"
	GrantedDistributionObjects GrantedKind = "Distribution"
	GrantedConnectionGroups    GrantedKind = "ConnectionGroup"
	GrantedTenantSources       GrantedKind = "TenantSource"
	GrantedInvalidations       GrantedKind = "Invalidation"
)

// GrantedNamespaces selects namespaces. A namespace that several grants select has the one that selects it by its exact
// name, else by the longest prefix, else by labels, else by "*". If two grants select it in the same way, it has none,
// and both say so.
//
// +kubebuilder:validation:MinProperties=0
// +kubebuilder:validation:XValidation:rule="has(self.names) && size(self.names) > 0 || has(self.selector)",message="a grant needs namespaces: set names, selector or both",fieldPath=".names"
type GrantedNamespaces struct {
	// names are names of namespaces, or prefixes followed by a star, such as shop-*. "*" selects every namespace that no
	// other grant selects.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.all(n, n.matches('^([a-z0-9]([a-z0-9-]*[a-z0-9])?|[a-z0-9][a-z0-9-]*[*]|[*])$'))",message="each must be the name of a namespace, or a prefix followed by a star, such as shop-*"
	// +listType=atomic
	// +optional
	Names []string `json:"names,omitempty"`

	// selector selects namespaces by labels. Anyone who can label a namespace can then give it this grant.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// GrantedObject names an object of another namespace.
type GrantedObject struct {
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

// GrantedDistribution is a distribution that may be used, by its ID or by its object.
//
// +kubebuilder:validation:MinProperties=0
// +kubebuilder:validation:XValidation:rule="has(self.id) != has(self.object)",message="name the distribution once: set id or object",fieldPath=".id"
type GrantedDistribution struct {
	// id is the ID of the distribution in AWS, for spec.distributionId. "*" stands for all.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Z0-9]+$|^[*]$')",messageExpression="'\"' + self + '\" is not a distribution ID, which has only capital letters and digits, like E1A2B3C4D5E6F7: use the ID, or * for all'",message="must be the ID of a distribution, or * for all"
	// +optional
	ID string `json:"id,omitempty"`

	// object is a Distribution object, for spec.distributionRef with its namespace.
	// +optional
	Object *GrantedObject `json:"object,omitempty"`

	// parameters limits the values that tenants of this distribution may give to parameters. A parameter that is not
	// listed may have any value.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=50
	// +listType=atomic
	// +optional
	Parameters []GrantedParameter `json:"parameters,omitempty"`
}

// GrantedParameter limits the values of a parameter.
type GrantedParameter struct {
	// name is the name of the parameter.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +required
	Name string `json:"name,omitempty"`

	// values are the values that are allowed. A star stands for any text.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	// +listType=atomic
	// +required
	Values []string `json:"values,omitempty"`
}

// GrantedConnectionGroup is a connection group that may be used, by its ID or by its object.
//
// +kubebuilder:validation:MinProperties=0
// +kubebuilder:validation:XValidation:rule="has(self.id) != has(self.object)",message="name the connection group once: set id or object",fieldPath=".id"
type GrantedConnectionGroup struct {
	// id is the ID of the connection group in AWS, for spec.connectionGroupId. "*" stands for all.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^cg_[A-Za-z0-9]+$|^[*]$')",messageExpression="'\"' + self + '\" is not a connection group ID, which is cg_ followed by letters and digits: use the ID, or * for all'",message="must be the ID of a connection group, or * for all"
	// +optional
	ID string `json:"id,omitempty"`

	// object is a ConnectionGroup object, for spec.connectionGroupRef with its namespace.
	// +optional
	Object *GrantedObject `json:"object,omitempty"`
}

// GrantedDomain is a domain with all domains below it.
type GrantedDomain struct {
	// suffix is a domain: it and all domains below it are granted. "*" stands for every domain.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == '*' || self.matches('^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?[.])*[a-z]([a-z0-9-]{0,61}[a-z0-9])?$')",messageExpression="'\"' + self + '\" is not a domain name like example.com: write it in lower case, in punycode, without a wildcard and without a dot at the end; or * for every domain'",message="must be a domain name like example.com, or * for every domain"
	// +required
	Suffix string `json:"suffix,omitempty"`

	// except are domains that this entry does not grant, with all domains below them. Another entry may.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=atomic
	// +optional
	Except []string `json:"except,omitempty"`

	// proof is how a namespace has to prove that a domain is its own, before a tenant is given it. TXT: by a TXT record,
	// which status.domains of the tenant names. Domains that a tenant serves already need no proof, nor do those for
	// which an administrator has created a DomainClaim. Distributions can't prove their aliases, so this entry does not
	// allow any. The operator needs two DNS servers in --dns-resolvers. If omitted, no proof is needed. Of several entries
	// for a domain, one without proof is enough.
	// +optional
	Proof DomainProof `json:"proof,omitempty"`
}

// DomainProof is how a domain is proven.
//
// +kubebuilder:validation:Enum=TXT
type DomainProof string

// DomainProofTXT is a proof by a TXT record.
const DomainProofTXT DomainProof = "TXT"

// GrantedDNS is what spec.dns of tenants may use.
type GrantedDNS struct {
	// zones are the zones, at any provider. Zones that are not listed are treated as if they did not exist.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +listType=atomic
	// +required
	Zones []GrantedZone `json:"zones,omitempty"`

	// takeover is which existing records spec.dns.takeover may replace. Never: none. CloudFront: records that lead to
	// CloudFront. Any: all that spec.dns.takeover can replace. Default: Never.
	// +kubebuilder:default=Never
	// +optional
	Takeover GrantedTakeover `json:"takeover,omitempty"`
}

// GrantedTakeover is which existing DNS records may be replaced.
//
// +kubebuilder:validation:Enum=Never;CloudFront;Any
type GrantedTakeover string

// The takeovers.
const (
	GrantedTakeoverNever      GrantedTakeover = "Never"
	GrantedTakeoverCloudFront GrantedTakeover = "CloudFront"
	GrantedTakeoverAny        GrantedTakeover = "Any"
)

// GrantedZone is a zone.
//
// +kubebuilder:validation:XValidation:rule="(has(self.provider) && self.provider != 'route53') || self.id.matches('^[A-Z0-9]+$|^[*]$')",messageExpression="'\"' + self.id + '\" is not the ID of a hosted zone of Route 53, which has only capital letters and digits: use the ID without /hostedzone/, or * for all'",message="must be the ID of a hosted zone without /hostedzone/, or * for all",fieldPath=".id"
// +kubebuilder:validation:XValidation:rule="!has(self.account) || (has(self.provider) && self.provider != 'route53')",message="account is not possible with provider route53: remove it, or set provider",fieldPath=".account"
type GrantedZone struct {
	// provider is the DNS service that has the zone. Default: route53.
	// +optional
	Provider DNSProvider `json:"provider,omitempty"`

	// account is the operator's account at the provider. Default: any of them. Route 53 has none.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Account string `json:"account,omitempty"`

	// id is the ID of the zone: that of a hosted zone of Route 53, the 32 digits of a Cloudflare zone, resource group/zone
	// for Azure, and the name of the zone for rfc2136 and externaldns. "*" stands for all zones of the provider.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=400
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_./()-]+$|^[*]$')",messageExpression="'\"' + self + '\" is not the ID of a zone: use letters, digits and . - _ / ( ), or * for all'",message="must be the ID of a zone, or * for all"
	// +required
	ID string `json:"id,omitempty"`
}

// GrantedWebACLs is how objects may choose a web ACL.
//
// +kubebuilder:validation:MinProperties=0
type GrantedWebACLs struct {
	// arns are the ARNs of the web ACLs that objects may name.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=2048
	// +listType=atomic
	// +optional
	ARNs []string `json:"arns,omitempty"`

	// disable says whether a tenant may disable the web ACL of its distribution. Default: false.
	// +optional
	Disable *bool `json:"disable,omitempty"`
}

// GrantedKeyValueStore is a key value store that tenants may write keys into.
type GrantedKeyValueStore struct {
	// arn is the ARN of the store.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	// +required
	ARN string `json:"arn,omitempty"`

	// keys are the keys that tenants may name, such as shop-*. Without any, the keys of a tenant are its domains.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	// +listType=atomic
	// +optional
	Keys []string `json:"keys,omitempty"`

	// takeover says whether a tenant may replace the values of keys that the operator did not create. Default: false.
	// +optional
	Takeover *bool `json:"takeover,omitempty"`
}

// GrantedOrigins are what the origins of Distributions may be.
//
// +kubebuilder:validation:MinProperties=1
type GrantedOrigins struct {
	// domains are the domain names of origins, in lower case, such as *.shop.example.com. Default: any.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=atomic
	// +optional
	Domains []string `json:"domains,omitempty"`

	// vpcOrigins are the IDs of VPC origins.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	// +listType=atomic
	// +optional
	VPCOrigins []string `json:"vpcOrigins,omitempty"`

	// accessControls are the IDs of origin access controls.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	// +listType=atomic
	// +optional
	AccessControls []string `json:"accessControls,omitempty"`
}

// GrantedSources are the tables that TenantSources may read and write.
//
// +kubebuilder:validation:MinProperties=0
type GrantedSources struct {
	// tables are names or ARNs of the DynamoDB tables that may be read.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=2048
	// +listType=atomic
	// +optional
	Tables []string `json:"tables,omitempty"`

	// writeTables are the state tables that may be written, as spec.writeBack.table names them. One of DynamoDB must be in
	// tables, too.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=2048
	// +listType=atomic
	// +optional
	WriteTables []string `json:"writeTables,omitempty"`

	// hosts are the database servers, each as host:port or as a host with any port, such as *.db.example.com:5432.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=300
	// +listType=atomic
	// +optional
	Hosts []string `json:"hosts,omitempty"`

	// logins are those with a token of AWS IAM (spec.postgres.iam and the others like it), each as user@host:port, and
	// with Redis as user@host:port/cacheName, such as tenant_source@shop.*.rds.amazonaws.com:5432. Their hosts must be in
	// hosts, too. Default: none, since the operator logs in with its own identity.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=400
	// +listType=atomic
	// +optional
	Logins []string `json:"logins,omitempty"`
}

// GrantedAdoption is what objects may adopt.
//
// +kubebuilder:validation:XValidation:rule="self.policy == 'Force' || !has(self.fromClusters) || size(self.fromClusters) == 0",message="only policy Force adopts from other clusters: set policy to Force, or remove fromClusters",fieldPath=".fromClusters"
// +kubebuilder:validation:XValidation:rule="self.policy != 'Force' || has(self.fromClusters) && size(self.fromClusters) > 0",message="policy Force needs the clusters that are adopted from: set fromClusters to their cluster IDs",fieldPath=".fromClusters"
type GrantedAdoption struct {
	// policy is the most that adoptionPolicy of an object may be: IfUnowned or Force.
	// +required
	Policy GrantedAdoptionPolicy `json:"policy,omitempty"`

	// names are the names of the tenants and connection groups, and the IDs of the distributions, that may be adopted. A
	// star stands for any text.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	// +listType=atomic
	// +required
	Names []string `json:"names,omitempty"`

	// fromClusters are the cluster IDs in the owner tags of what may be adopted with Force.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	// +listType=atomic
	// +optional
	FromClusters []string `json:"fromClusters,omitempty"`

	// until is when the permission to adopt ends. What was adopted before stays. Default: it does not end.
	// +optional
	Until *metav1.Time `json:"until,omitempty"`
}

// GrantedAdoptionPolicy is the most that adoptionPolicy of an object may be.
//
// +kubebuilder:validation:Enum=IfUnowned;Force
type GrantedAdoptionPolicy string

// The policies.
const (
	GrantedAdoptionIfUnowned GrantedAdoptionPolicy = "IfUnowned"
	GrantedAdoptionForce     GrantedAdoptionPolicy = "Force"
)

// GrantLimits are how much the namespaces of a grant may have together. What exists when a limit is lowered stays.
//
// +kubebuilder:validation:MinProperties=1
type GrantLimits struct {
	// tenants is the number of DistributionTenants in AWS.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Tenants *int32 `json:"tenants,omitempty"`

	// domains is the number of domains of all DistributionTenants in AWS.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Domains *int32 `json:"domains,omitempty"`

	// sources is the number of TenantSources.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Sources *int32 `json:"sources,omitempty"`
}

// EdgeGrantStatus is what the operator reports about a grant.
//
// +kubebuilder:validation:MinProperties=0
type EdgeGrantStatus struct {
	// conditions are Ready, and Stalled while manual action is needed.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=8
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that status describes. Default: -1, as long as status describes
	// none.
	// +kubebuilder:validation:Minimum=-1
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// namespaces is the number of namespaces that have this grant and objects of the operator.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Namespaces *int32 `json:"namespaces,omitempty"`

	// tenants is the number of DistributionTenants in these namespaces.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Tenants *int32 `json:"tenants,omitempty"`

	// violations is the number of objects that ask for more than the grant allows. Their own conditions say for what.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Violations *int32 `json:"violations,omitempty"`
}
