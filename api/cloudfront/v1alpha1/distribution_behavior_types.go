package v1alpha1

// CacheBehavior handles requests for specific paths.
type CacheBehavior struct {
	// pathPattern is the path that this behavior is for, such as /images/*.jpg: at most 255 characters, * matches any
	// number of characters and ? matches one.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_.*$/~@:+&?-]+$')",messageExpression="'\"' + self + '\" is not a path pattern: use letters, digits, _ - . * ? $ / ~ @ : + and &, without a query or spaces'",message="use letters, digits, _ - . * ? $ / ~ @ : + and &, without a query or spaces"
	// +required
	PathPattern string `json:"pathPattern,omitempty"`

	CacheBehaviorSettings `json:",inline"`
}

// CacheBehaviorSettings are the settings for handling requests.
//
// +kubebuilder:validation:XValidation:rule="!has(self.cachedMethods) || self.cachedMethods.all(m, has(self.allowedMethods) ? m in self.allowedMethods : m in ['GET','HEAD'])",messageExpression="'\"' + self.cachedMethods.filter(m, !(has(self.allowedMethods) ? m in self.allowedMethods : m in ['GET','HEAD']))[0] + '\" is not in allowedMethods, but only allowed methods can be cached: add it there, or remove it here'",message="only allowed methods can be cached: add the method to allowedMethods, or remove it here",fieldPath=".cachedMethods"
// +kubebuilder:validation:XValidation:rule="!has(self.grpcConfig) || !self.grpcConfig.enabled || (has(self.allowedMethods) && 'POST' in self.allowedMethods)",message="gRPC uses POST: add all seven methods to allowedMethods, or disable gRPC",fieldPath=".grpcConfig.enabled"
// +kubebuilder:validation:XValidation:rule="!has(self.functionAssociations) || size(self.functionAssociations) == 0 || !has(self.lambdaFunctionAssociations) || !self.lambdaFunctionAssociations.exists(l, l.eventType.startsWith('viewer-'))",messageExpression="'CloudFront functions and Lambda@Edge functions cannot both use viewer events, but a Lambda@Edge function uses \"' + self.lambdaFunctionAssociations.map(l, l.eventType.startsWith('viewer-'), l.eventType)[0] + '\": move it to an origin event, or remove functionAssociations'",message="CloudFront functions and Lambda@Edge functions cannot both use viewer events: move the Lambda@Edge function to an origin event, or remove functionAssociations",fieldPath=".lambdaFunctionAssociations"
type CacheBehaviorSettings struct {
	// targetOriginId is the id of the origin or origin group that requests go to.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +required
	TargetOriginID string `json:"targetOriginId,omitempty"`

	// viewerProtocolPolicy is redirect-to-https, https-only, or allow-all.
	// +required
	ViewerProtocolPolicy ViewerProtocolPolicy `json:"viewerProtocolPolicy,omitempty"`

	// cachePolicyId is the ID of the cache policy, one of AWS's or of your own.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9-]*[0-9][A-Za-z0-9-]*$')",messageExpression="'\"' + self + '\" is not the ID of a cache policy: use the ID, such as 658327ea-f89d-4fab-a63d-7e88639e58f6 for AWS managed CachingOptimized, not the name'",message="must be the ID of a cache policy, not its name"
	// +required
	CachePolicyID string `json:"cachePolicyId,omitempty"`

	// originRequestPolicyId is the ID of the origin request policy. Default: none.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9-]*[0-9][A-Za-z0-9-]*$')",messageExpression="'\"' + self + '\" is not the ID of an origin request policy: use the ID, not the name'",message="must be the ID of an origin request policy, not its name"
	// +optional
	OriginRequestPolicyID string `json:"originRequestPolicyId,omitempty"`

	// responseHeadersPolicyId is the ID of the response headers policy. Default: none.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9-]*[0-9][A-Za-z0-9-]*$')",messageExpression="'\"' + self + '\" is not the ID of a response headers policy: use the ID, not the name'",message="must be the ID of a response headers policy, not its name"
	// +optional
	ResponseHeadersPolicyID string `json:"responseHeadersPolicyId,omitempty"`

	// allowedMethods are the methods that reach the origin, one of three sets: GET and HEAD; these and OPTIONS; or all
	// seven. Default: GET and HEAD.
	// +kubebuilder:validation:MinItems=2
	// +kubebuilder:validation:MaxItems=7
	// +kubebuilder:validation:XValidation:rule="'GET' in self && 'HEAD' in self && (size(self) == 2 || size(self) == 7 || (size(self) == 3 && 'OPTIONS' in self))",messageExpression="'[' + self.join(', ') + '] is not one of the three sets of methods that CloudFront supports: use GET and HEAD; GET, HEAD and OPTIONS; or all seven'",message="use one of three sets of methods: GET and HEAD; GET, HEAD and OPTIONS; or all seven"
	// +listType=set
	// +optional
	AllowedMethods []Method `json:"allowedMethods,omitempty"`

	// cachedMethods are the methods whose responses are cached: GET and HEAD, or these and OPTIONS. Default: GET and
	// HEAD.
	// +kubebuilder:validation:MinItems=2
	// +kubebuilder:validation:MaxItems=3
	// +kubebuilder:validation:XValidation:rule="'GET' in self && 'HEAD' in self && (size(self) == 2 || 'OPTIONS' in self)",messageExpression="'[' + self.join(', ') + '] is not one of the two sets of methods that CloudFront can cache: use GET and HEAD, or GET, HEAD and OPTIONS'",message="use GET and HEAD, or GET, HEAD and OPTIONS"
	// +listType=set
	// +optional
	CachedMethods []Method `json:"cachedMethods,omitempty"`

	// compress lets CloudFront compress responses for viewers that support it. Default: false.
	// +optional
	Compress *bool `json:"compress,omitempty"`

	// functionAssociations are CloudFront functions, at most one for each event. Default: none.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=2
	// +listType=map
	// +listMapKey=eventType
	// +optional
	FunctionAssociations []FunctionAssociation `json:"functionAssociations,omitempty"`

	// lambdaFunctionAssociations are Lambda@Edge functions, at most one for each event. Default: none.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=4
	// +listType=map
	// +listMapKey=eventType
	// +optional
	LambdaFunctionAssociations []LambdaFunctionAssociation `json:"lambdaFunctionAssociations,omitempty"`

	// trustedKeyGroups are the IDs of the key groups whose keys sign URLs and cookies; only signed requests are then
	// allowed. At most 50; AWS allows 4 until it raises your quota. If omitted, all requests are allowed.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^[A-Za-z0-9_-]+$'))",messageExpression="'\"' + self.map(k, !k.matches('^[A-Za-z0-9_-]+$'), k)[0] + '\" is not the ID of a key group: use the ID, not the ARN or the name'",message="must be the ID of a key group, not its ARN or name"
	// +listType=set
	// +optional
	TrustedKeyGroups []string `json:"trustedKeyGroups,omitempty"`

	// fieldLevelEncryptionId is the ID of the field-level encryption configuration. Default: none.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_-]+$')",messageExpression="'\"' + self + '\" is not the ID of a field-level encryption configuration: use the ID, not the ARN or the name'",message="must be the ID of a field-level encryption configuration, not its ARN or name"
	// +optional
	FieldLevelEncryptionID string `json:"fieldLevelEncryptionId,omitempty"`

	// realtimeLogConfigArn is the ARN of the real-time log configuration for these requests. If omitted, the behavior keeps
	// what it has; an empty text removes it.
	// +kubebuilder:validation:MinLength=0
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^arn:aws(-[a-z]+)*:cloudfront::[0-9]{12}:realtime-log-config/[^/]+$')",messageExpression="'\"' + self + '\" is not the ARN of a real-time log configuration: use arn:aws:cloudfront::<account>:realtime-log-config/<name>'",message="must be the ARN of a real-time log configuration: arn:aws:cloudfront::<account>:realtime-log-config/<name>"
	// +optional
	RealtimeLogConfigARN *string `json:"realtimeLogConfigArn,omitempty"`

	// grpcConfig enables gRPC. Default: disabled.
	// +optional
	GRPCConfig *GRPCConfig `json:"grpcConfig,omitempty"`
}

// GRPCConfig says whether gRPC requests reach the origin.
type GRPCConfig struct {
	// enabled allows gRPC requests.
	// +required
	Enabled *bool `json:"enabled,omitempty"`
}

// FunctionAssociation runs a CloudFront function.
type FunctionAssociation struct {
	// eventType is viewer-request or viewer-response.
	// +required
	EventType FunctionEventType `json:"eventType,omitempty"`

	// functionArn is the ARN of the function.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=108
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws(-[a-z]+)*:cloudfront::[0-9]{12}:function/[a-zA-Z0-9_-]{1,64}$')",messageExpression="'\"' + self + '\" is not the ARN of a CloudFront function: use arn:aws:cloudfront::<account>:function/<name>'",message="must be the ARN of a CloudFront function: arn:aws:cloudfront::<account>:function/<name>"
	// +required
	FunctionARN string `json:"functionArn,omitempty"`
}

// LambdaFunctionAssociation runs a Lambda@Edge function.
//
// +kubebuilder:validation:XValidation:rule="!has(self.includeBody) || !self.includeBody || self.eventType.endsWith('-request')",messageExpression="'the event \"' + self.eventType + '\" cannot include the request body: remove includeBody, or use viewer-request or origin-request'",message="only viewer-request and origin-request can include the request body: remove includeBody, or use one of these",fieldPath=".includeBody"
type LambdaFunctionAssociation struct {
	// eventType is viewer-request, viewer-response, origin-request or origin-response.
	// +required
	EventType LambdaEventType `json:"eventType,omitempty"`

	// lambdaFunctionArn is the ARN of a version of a function in us-east-1, ending with the version number.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws(-[a-z]+)*:lambda:us-east-1:[0-9]{12}:function:[a-zA-Z0-9_-]{1,64}:[0-9]+$')",messageExpression="'\"' + self + '\" is not the ARN of a numbered version of a function in us-east-1: publish a version there and use its ARN, arn:aws:lambda:us-east-1:<account>:function:<name>:<version>; $LATEST and aliases are not supported'",message="must be the ARN of a numbered version of a function in us-east-1"
	// +required
	LambdaFunctionARN string `json:"lambdaFunctionArn,omitempty"`

	// includeBody passes the request body to the function. Default: false.
	// +optional
	IncludeBody *bool `json:"includeBody,omitempty"`
}

// ViewerProtocolPolicy says how to handle HTTP requests.
// +kubebuilder:validation:Enum=redirect-to-https;https-only;allow-all
type ViewerProtocolPolicy string

// Method is an HTTP method.
// +kubebuilder:validation:Enum=GET;HEAD;OPTIONS;PUT;PATCH;POST;DELETE
type Method string

// The methods that CloudFront allows and caches by default.
const (
	MethodGet  Method = "GET"
	MethodHead Method = "HEAD"
)

// FunctionEventType is when a CloudFront function runs.
// +kubebuilder:validation:Enum=viewer-request;viewer-response
type FunctionEventType string

// LambdaEventType is when a Lambda@Edge function runs.
// +kubebuilder:validation:Enum=viewer-request;viewer-response;origin-request;origin-response
type LambdaEventType string
