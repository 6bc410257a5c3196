package v1alpha1

// Origin is a server that CloudFront fetches content from.
//
// +kubebuilder:validation:XValidation:rule="[has(self.customOriginConfig), has(self.s3OriginConfig), has(self.vpcOriginConfig)].filter(x, x).size() == 1",messageExpression="'the origin \"' + self.id + (has(self.customOriginConfig) || has(self.s3OriginConfig) || has(self.vpcOriginConfig) ? '\" has more than one' : '\" has none') + ' of customOriginConfig, s3OriginConfig ({} is enough) and vpcOriginConfig: set exactly one of them'",message="set exactly one of customOriginConfig, s3OriginConfig ({} is enough) and vpcOriginConfig"
// +kubebuilder:validation:XValidation:rule="!has(self.responseCompletionTimeout) || self.responseCompletionTimeout >= self.?customOriginConfig.?originReadTimeout.orValue(self.?s3OriginConfig.?originReadTimeout.orValue(self.?vpcOriginConfig.?originReadTimeout.orValue(30)))",messageExpression="'responseCompletionTimeout of the origin \"' + self.id + '\" is less than originReadTimeout (30 seconds if not set): raise it, or lower originReadTimeout'",message="responseCompletionTimeout is less than originReadTimeout (30 seconds if not set): raise it, or lower originReadTimeout",fieldPath=".responseCompletionTimeout"
type Origin struct {
	// id is the name of the origin in this object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +required
	ID string `json:"id,omitempty"`

	// domainName is the DNS name of the server, or of the bucket. For a multi-tenant distribution it may have
	// parameters, as in {{region}}.origin.example.com: two, until AWS raises your quota.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z0-9._-]|[{][{][^{}]*[}][}])+$')",messageExpression="'\"' + self + '\" is not the DNS name of an origin: no scheme, port or path; a parameter is written {{name}}'",message="must be a DNS name, without scheme, port or path; a parameter is written {{name}}"
	// +required
	DomainName string `json:"domainName,omitempty"`

	// originPath is prepended to the path of each request. It starts with a slash and does not end with one, at most 255
	// characters. For a multi-tenant distribution it may have parameters, as in /customers/{{tenant}}: two, until AWS
	// raises your quota. Default: none.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.startsWith('/') && !self.endsWith('/')",messageExpression="'\"' + self + '\" is not an origin path: it must start with a slash and not end with one'",message="the path must start with a slash and not end with one"
	// +optional
	OriginPath string `json:"originPath,omitempty"`

	// customHeaders are sent to the origin with every request, at most 50. AWS allows 30 until it raises your quota.
	// Anyone who can read this object can read them. Default: none.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=50
	// +listType=map
	// +listMapKey=name
	// +optional
	CustomHeaders []CustomHeader `json:"customHeaders,omitempty"`

	// customOriginConfig is for a web server.
	// +optional
	CustomOriginConfig *CustomOriginConfig `json:"customOriginConfig,omitempty"`

	// s3OriginConfig is for an S3 bucket. {} is enough; originAccessControlId lets CloudFront read a private
	// bucket.
	// +optional
	S3OriginConfig *S3OriginConfig `json:"s3OriginConfig,omitempty"`

	// vpcOriginConfig is for a server in a private subnet.
	// +optional
	VPCOriginConfig *VPCOriginConfig `json:"vpcOriginConfig,omitempty"`

	// originAccessControlId is the ID of the origin access control with which CloudFront signs its requests. If omitted,
	// requests are not signed.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_-]+$')",messageExpression="'\"' + self + '\" is not the ID of an origin access control: use the ID, not the ARN or the name'",message="must be the ID of an origin access control, not its ARN or name"
	// +optional
	OriginAccessControlID string `json:"originAccessControlId,omitempty"`

	// originShield adds another cache in front of the origin. Default: none.
	// +optional
	OriginShield *OriginShield `json:"originShield,omitempty"`

	// connectionAttempts is the number of connection attempts, 1 to 3. Default: 3.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3
	// +optional
	ConnectionAttempts int32 `json:"connectionAttempts,omitempty"`

	// connectionTimeout is how many seconds CloudFront waits for a connection, 1 to 10. Default: 10.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	// +optional
	ConnectionTimeout int32 `json:"connectionTimeout,omitempty"`

	// responseCompletionTimeout is how many seconds the complete response may take, at least originReadTimeout. Default:
	// no limit.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	// +optional
	ResponseCompletionTimeout int32 `json:"responseCompletionTimeout,omitempty"`
}

// CustomHeader is a header that CloudFront adds to requests to an origin.
type CustomHeader struct {
	// name is the name of the header.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9!#$%&*+.^_|~-]+$')",messageExpression="'\"' + self + '\" is not a header name: use letters, digits and hyphens'",message="use letters, digits and hyphens"
	// +kubebuilder:validation:XValidation:rule="!(self.lowerAscii() in ['cache-control', 'connection', 'content-length', 'cookie', 'host', 'if-match', 'if-modified-since', 'if-none-match', 'if-range', 'if-unmodified-since', 'max-forwards', 'pragma', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'range', 'request-range', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'via', 'x-real-ip'] || self.lowerAscii().startsWith('x-amz-') || self.lowerAscii().startsWith('x-edge-'))",messageExpression="'\"' + self + '\" is a header that CloudFront does not allow a distribution to set: remove it, or forward the header of the viewer with an origin request policy'",message="CloudFront does not allow a distribution to set this header: remove it, or forward the header of the viewer with an origin request policy"
	// +required
	Name string `json:"name,omitempty"`

	// value is the value of the header, at most 1783 characters.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1783
	// +required
	Value string `json:"value,omitempty"`
}

// CustomOriginConfig says how CloudFront connects to a web server.
//
// +kubebuilder:validation:MinProperties=0
type CustomOriginConfig struct {
	// originProtocolPolicy is https-only, http-only, or match-viewer (the protocol that the viewer uses). Default:
	// https-only.
	// +kubebuilder:default=https-only
	// +optional
	OriginProtocolPolicy OriginProtocolPolicy `json:"originProtocolPolicy,omitempty"`

	// httpPort is the port for HTTP: 80, 443, or 1024 to 65535. Default: 80.
	// +kubebuilder:validation:Minimum=80
	// +kubebuilder:validation:Maximum=65535
	// +kubebuilder:validation:XValidation:rule="self == 80 || self == 443 || self >= 1024",message="CloudFront connects only to the ports 80, 443 and 1024 to 65535: use one of these"
	// +optional
	HTTPPort int32 `json:"httpPort,omitempty"`

	// httpsPort is the port for HTTPS: 80, 443, or 1024 to 65535. Default: 443.
	// +kubebuilder:validation:Minimum=80
	// +kubebuilder:validation:Maximum=65535
	// +kubebuilder:validation:XValidation:rule="self == 80 || self == 443 || self >= 1024",message="CloudFront connects only to the ports 80, 443 and 1024 to 65535: use one of these"
	// +optional
	HTTPSPort int32 `json:"httpsPort,omitempty"`

	// originSslProtocols are the versions of TLS that CloudFront may use. Default: only TLSv1.2.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	// +listType=set
	// +optional
	OriginSSLProtocols []SSLProtocol `json:"originSslProtocols,omitempty"`

	// originReadTimeout is how many seconds CloudFront waits for a response, 1 to 180. Values above the quota of the
	// account, usually 120, require a quota increase. Default: 30.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=180
	// +optional
	OriginReadTimeout int32 `json:"originReadTimeout,omitempty"`

	// originKeepaliveTimeout is how many seconds an idle connection is kept, 1 to 180. Values above the quota of the
	// account, usually 120, require a quota increase. Default: 5.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=180
	// +optional
	OriginKeepaliveTimeout int32 `json:"originKeepaliveTimeout,omitempty"`

	// ipAddressType is the type of addresses that CloudFront connects to: ipv4, ipv6, or dualstack. Default: ipv4.
	// +optional
	IPAddressType IPAddressType `json:"ipAddressType,omitempty"`

	// originMtlsConfig makes CloudFront identify itself to the server by a certificate (mutual TLS). If omitted, the origin
	// keeps what it has; {} removes it.
	// +optional
	OriginMTLSConfig *OriginMTLSConfig `json:"originMtlsConfig,omitempty"`
}

// OriginMTLSConfig names the certificate that CloudFront shows to a server.
//
// +kubebuilder:validation:MinProperties=0
type OriginMTLSConfig struct {
	// clientCertificateArn is the ARN of a client certificate in AWS Certificate Manager, in us-east-1.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws(-[a-z]+)*:acm:us-east-1:[0-9]{12}:certificate/[A-Za-z0-9-]+$')",messageExpression="'\"' + self + '\" is not the ARN of an ACM certificate in us-east-1: request or import the client certificate there and use its ARN'",message="must be the ARN of an ACM certificate in us-east-1"
	// +optional
	ClientCertificateARN string `json:"clientCertificateArn,omitempty"`
}

// S3OriginConfig says how CloudFront reads a bucket.
//
// +kubebuilder:validation:MinProperties=0
type S3OriginConfig struct {
	// originReadTimeout is how many seconds CloudFront waits for a response, 1 to 180. Default: 30.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=180
	// +optional
	OriginReadTimeout int32 `json:"originReadTimeout,omitempty"`
}

// VPCOriginConfig says how CloudFront reaches a server in a private subnet.
type VPCOriginConfig struct {
	// vpcOriginId is the ID of the VPC origin.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_-]+$')",messageExpression="'\"' + self + '\" is not the ID of a VPC origin: use the ID, not the ARN or the name'",message="must be the ID of a VPC origin, not its ARN or name"
	// +required
	VPCOriginID string `json:"vpcOriginId,omitempty"`

	// ownerAccountId is the AWS account that owns the VPC origin. Default: the distribution's own.
	// +kubebuilder:validation:MinLength=12
	// +kubebuilder:validation:MaxLength=12
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]{12}$')",messageExpression="'\"' + self + '\" is not an AWS account ID, which has 12 digits'",message="an AWS account ID has 12 digits"
	// +optional
	OwnerAccountID string `json:"ownerAccountId,omitempty"`

	// originReadTimeout is how many seconds CloudFront waits for a response, 1 to 180. Default: 30.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=180
	// +optional
	OriginReadTimeout int32 `json:"originReadTimeout,omitempty"`

	// originKeepaliveTimeout is how many seconds an idle connection is kept, 1 to 180. Default: 5.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=180
	// +optional
	OriginKeepaliveTimeout int32 `json:"originKeepaliveTimeout,omitempty"`
}

// OriginShield is another cache in front of an origin.
type OriginShield struct {
	// originShieldRegion is the AWS region of the cache, ideally the one closest to the origin.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]{2}(-[a-z]+)+-[0-9]$')",messageExpression="'\"' + self + '\" is not an AWS region like eu-central-1'",message="must be an AWS region like eu-central-1"
	// +required
	OriginShieldRegion string `json:"originShieldRegion,omitempty"`
}

// OriginGroup is a pair of origins, where the second takes over when the first fails.
type OriginGroup struct {
	// id is the name of the group in this object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +required
	ID string `json:"id,omitempty"`

	// failoverCriteria say when the second origin takes over.
	// +required
	FailoverCriteria *FailoverCriteria `json:"failoverCriteria,omitempty"`

	// members are the primary and the secondary origin, in this order.
	// +kubebuilder:validation:MinItems=2
	// +kubebuilder:validation:MaxItems=2
	// +kubebuilder:validation:XValidation:rule="size(self) != 2 || self[0].originId != self[1].originId",messageExpression="'\"' + self[0].originId + '\" is used for both members: use two different origins'",message="the two members must be different origins"
	// +listType=atomic
	// +required
	Members []OriginGroupMember `json:"members,omitempty"`

	// selectionCriteria is default, or media-quality-based for the better of two media streams. Default: default.
	// +optional
	SelectionCriteria OriginSelectionCriteria `json:"selectionCriteria,omitempty"`
}

// FailoverCriteria say when an origin counts as failed.
type FailoverCriteria struct {
	// statusCodes are the status codes of the primary origin on which CloudFront uses the secondary one.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=9
	// +listType=set
	// +required
	StatusCodes []FailoverStatusCode `json:"statusCodes,omitempty"`
}

// FailoverStatusCode is a status code on which an origin group can fail over.
// +kubebuilder:validation:Enum=400;403;404;416;429;500;502;503;504
type FailoverStatusCode int32

// OriginGroupMember names an origin of a group.
type OriginGroupMember struct {
	// originId is the id of the origin.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +required
	OriginID string `json:"originId,omitempty"`
}

// OriginProtocolPolicy is the protocol for connections to a web server.
// +kubebuilder:validation:Enum=https-only;http-only;match-viewer
type OriginProtocolPolicy string

// OriginProtocolHTTPSOnly is HTTPS, the default.
const OriginProtocolHTTPSOnly OriginProtocolPolicy = "https-only"

// SSLProtocol is a version of TLS for connections with origins.
// +kubebuilder:validation:Enum=SSLv3;TLSv1;TLSv1.1;TLSv1.2
type SSLProtocol string

// SSLProtocolTLS12 is TLS 1.2, the default.
const SSLProtocolTLS12 SSLProtocol = "TLSv1.2"

// IPAddressType is the type of addresses for connections to an origin.
// +kubebuilder:validation:Enum=ipv4;ipv6;dualstack
type IPAddressType string

// IPAddressTypeIPv4 is IPv4, the default.
const IPAddressTypeIPv4 IPAddressType = "ipv4"

// OriginSelectionCriteria says how an origin group chooses.
// +kubebuilder:validation:Enum=default;media-quality-based
type OriginSelectionCriteria string

// OriginSelectionDefault fails over by status codes, the default.
const OriginSelectionDefault OriginSelectionCriteria = "default"
