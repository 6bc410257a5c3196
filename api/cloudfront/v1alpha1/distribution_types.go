package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Distribution is a CloudFront distribution: a multi-tenant one, which serves distribution tenants, or a standard one.
// One object represents one distribution in AWS.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=cfd,categories=aws
// +kubebuilder:printcolumn:name="STATUS",type=string,JSONPath=`.status.deploymentStatus`,description="Deployment status in AWS"
// +kubebuilder:printcolumn:name="READY",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Deployed and ready for tenants"
// +kubebuilder:printcolumn:name="SYNCED",type=string,JSONPath=`.status.conditions[?(@.type=="Synced")].status`,description="AWS matches the spec"
// +kubebuilder:printcolumn:name="ID",type=string,JSONPath=`.status.id`,description="ID of the distribution in AWS"
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="REASON",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it is ready or not"
// +kubebuilder:printcolumn:name="MODE",type=string,priority=1,JSONPath=`.spec.connectionMode`,description="Whether it serves tenants or viewers"
// +kubebuilder:printcolumn:name="DOMAIN",type=string,priority=1,JSONPath=`.status.domainName`,description="Domain name that CloudFront assigned to the distribution"
// +kubebuilder:printcolumn:name="CERT-EXPIRES",type=string,priority=1,JSONPath=`.status.certificate.notAfter`,description="When the certificate of the distribution expires"
type Distribution struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the desired state. The operator never writes to it.
	// +required
	Spec DistributionSpec `json:"spec"`

	// status is the observed state.
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status DistributionStatus `json:"status,omitzero"`
}

// DistributionList is a list of Distribution objects.
//
// +kubebuilder:object:root=true
type DistributionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	// items are the objects.
	Items []Distribution `json:"items"`
}

// DistributionSpec is the desired distribution. Lists are complete, and an omitted block means AWS's default, unless
// its field says otherwise. AWS settings without a field here (such as staging) are not changed.
//
// +kubebuilder:validation:XValidation:rule="has(self.distributionId) == has(oldSelf.distributionId)",messageExpression="'whether a distribution is created or adopted cannot be changed, and distributionId was ' + (has(oldSelf.distributionId) ? '\"' + oldSelf.distributionId + '\"' : 'absent') + ': restore that, or delete this object (deletionPolicy Retain keeps the distribution) and create a new one'",message="whether a distribution is created or adopted cannot be changed: restore the previous distributionId, or delete this object (deletionPolicy Retain keeps the distribution) and create a new one",fieldPath=".distributionId"
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || !has(self.distributionId) || !has(self.adoptionPolicy) || self.adoptionPolicy != 'Never'",messageExpression="'distributionId \"' + self.distributionId + '\" is an existing distribution, but adoptionPolicy Never adopts nothing: set adoptionPolicy to IfUnowned, or to Force if another cluster owns it, or remove distributionId to create a distribution'",message="distributionId is an existing distribution, but adoptionPolicy Never adopts nothing: set adoptionPolicy to IfUnowned, or to Force if another cluster owns it, or remove distributionId to create a distribution",fieldPath=".adoptionPolicy",optionalOldSelf=true
// +kubebuilder:validation:MinProperties=0
type DistributionSpec struct {
	DistributionConfig `json:",inline"`
	ResourcePolicies   `json:",inline"`

	// distributionId is the ID of an existing distribution to adopt. A new object with distributionId needs an
	// adoptionPolicy other than Never. It can't be changed, added or removed. If omitted, the operator creates one.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Z0-9]+$')",messageExpression="'\"' + self + '\" is not a distribution ID, which has only capital letters and digits, like E1A2B3C4D5E6F7: use the ID, not the ARN or the domain name'",message="must be the ID of a distribution: capital letters and digits only"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",messageExpression="'\"' + self + '\" differs from the distribution \"' + oldSelf + '\" of this object, which cannot be changed: restore that ID, or create a new object'",message="the distribution of an object cannot be changed: restore the previous ID, or create a new object"
	// +optional
	DistributionID string `json:"distributionId,omitempty"`
}

// DistributionConfig is the configuration of a distribution, with the field names of AWS.
//
// +kubebuilder:validation:XValidation:rule="self.connectionMode == oldSelf.connectionMode",messageExpression="'the connection mode of a distribution cannot be changed and is \"' + oldSelf.connectionMode + '\": restore that value, or create a new object'",message="the connection mode of a distribution cannot be changed: restore the previous value, or create a new object",fieldPath=".connectionMode"
// +kubebuilder:validation:XValidation:rule="self.connectionMode == 'direct' || !has(self.aliases) || size(self.aliases) == 0",message="a multi-tenant distribution has no aliases: remove them and add the domains to DistributionTenant objects, or use connectionMode direct",fieldPath=".aliases"
// +kubebuilder:validation:XValidation:rule="self.connectionMode == 'direct' || !has(self.priceClass)",messageExpression="'CloudFront does not support price classes for multi-tenant distributions: remove \"' + self.priceClass + '\", or use connectionMode direct'",message="CloudFront does not support price classes for multi-tenant distributions: remove priceClass, or use connectionMode direct",fieldPath=".priceClass"
// +kubebuilder:validation:XValidation:rule="self.connectionMode == 'direct' || !has(self.ipv6Enabled)",message="for multi-tenant distributions, IPv6 is a setting of the connection group: remove ipv6Enabled and set it on the ConnectionGroup, or use connectionMode direct",fieldPath=".ipv6Enabled"
// +kubebuilder:validation:XValidation:rule="self.connectionMode == 'direct' || !has(self.logging)",message="CloudFront does not support legacy standard logging for multi-tenant distributions: remove logging and use standard logging (v2) or real-time logs, or use connectionMode direct",fieldPath=".logging"
// +kubebuilder:validation:XValidation:rule="self.connectionMode == 'direct' || !has(self.viewerCertificate) || !has(self.viewerCertificate.iamCertificateId)",messageExpression="'\"' + self.viewerCertificate.iamCertificateId + '\" is an IAM certificate, which CloudFront does not support for multi-tenant distributions: use acmCertificateArn, or use connectionMode direct'",message="CloudFront does not support IAM certificates for multi-tenant distributions: use acmCertificateArn, or use connectionMode direct",fieldPath=".viewerCertificate.iamCertificateId"
// +kubebuilder:validation:XValidation:rule="self.connectionMode == 'direct' || !has(self.viewerCertificate) || !has(self.viewerCertificate.sslSupportMethod) || self.viewerCertificate.sslSupportMethod == 'sni-only'",messageExpression="'\"' + self.viewerCertificate.sslSupportMethod + '\" requires dedicated IP addresses, which CloudFront does not support for multi-tenant distributions: use sni-only, or use connectionMode direct'",message="CloudFront does not support dedicated IP addresses for multi-tenant distributions: use sni-only, or use connectionMode direct",fieldPath=".viewerCertificate.sslSupportMethod"
// +kubebuilder:validation:XValidation:rule="self.connectionMode == 'tenant-only' || !has(self.tenantConfig)",message="only multi-tenant distributions have parameters: remove tenantConfig, or use connectionMode tenant-only",fieldPath=".tenantConfig"
// +kubebuilder:validation:XValidation:rule="self.origins.exists(o, o.id == self.defaultCacheBehavior.targetOriginId) || (has(self.originGroups) && self.originGroups.exists(g, g.id == self.defaultCacheBehavior.targetOriginId))",messageExpression="'\"' + self.defaultCacheBehavior.targetOriginId + '\" is neither the id of an origin nor of an origin group: add it there, or use one that exists'",message="must be the id of one of origins or originGroups",fieldPath=".defaultCacheBehavior.targetOriginId"
// +kubebuilder:validation:XValidation:rule="!has(self.cacheBehaviors) || !self.cacheBehaviors.exists(b, !(self.origins.exists(o, o.id == b.targetOriginId) || (has(self.originGroups) && self.originGroups.exists(g, g.id == b.targetOriginId))))",messageExpression="self.cacheBehaviors.map(b, !(self.origins.exists(o, o.id == b.targetOriginId) || (has(self.originGroups) && self.originGroups.exists(g, g.id == b.targetOriginId))), '\"' + b.targetOriginId + '\", the targetOriginId of \"' + b.pathPattern + '\", is neither the id of an origin nor of an origin group: add it there, or use one that exists')[0]",message="each targetOriginId must be the id of one of origins or originGroups: add it there, or use one that exists",fieldPath=".cacheBehaviors"
// +kubebuilder:validation:XValidation:rule="!has(self.originGroups) || !self.originGroups.exists(g, !g.members.all(m, self.origins.exists(o, o.id == m.originId)))",messageExpression="self.originGroups.map(g, !g.members.all(m, self.origins.exists(o, o.id == m.originId)), '\"' + g.members.map(m, !self.origins.exists(o, o.id == m.originId), m.originId)[0] + '\", a member of the group \"' + g.id + '\", is not the id of one of origins: add it there, or use one that exists')[0]",message="each member must be the id of one of origins: add it there, or use one that exists",fieldPath=".originGroups"
// +kubebuilder:validation:XValidation:rule="!has(self.originGroups) || !self.originGroups.exists(g, self.origins.exists(o, o.id == g.id))",messageExpression="'\"' + self.originGroups.map(g, self.origins.exists(o, o.id == g.id), g.id)[0] + '\" is the id of both an origin and an origin group: rename one of them'",message="an origin and an origin group cannot have the same id: rename one of the two",fieldPath=".originGroups"
// +kubebuilder:validation:XValidation:rule="!has(self.originGroups) || !has(self.defaultCacheBehavior.allowedMethods) || !('POST' in self.defaultCacheBehavior.allowedMethods) || !self.originGroups.exists(g, g.id == self.defaultCacheBehavior.targetOriginId)",messageExpression="'requests to the origin group \"' + self.defaultCacheBehavior.targetOriginId + '\" can fail over, for which CloudFront supports only GET, HEAD and OPTIONS: remove the other methods, or set targetOriginId to an origin'",message="CloudFront supports only GET, HEAD and OPTIONS for an origin group: remove the other methods, or set targetOriginId to an origin",fieldPath=".defaultCacheBehavior.allowedMethods"
// +kubebuilder:validation:XValidation:rule="!has(self.originGroups) || !has(self.cacheBehaviors) || !self.cacheBehaviors.exists(b, has(b.allowedMethods) && 'POST' in b.allowedMethods && self.originGroups.exists(g, g.id == b.targetOriginId))",messageExpression="self.cacheBehaviors.map(b, has(b.allowedMethods) && 'POST' in b.allowedMethods && self.originGroups.exists(g, g.id == b.targetOriginId), 'requests for \"' + b.pathPattern + '\" go to the origin group \"' + b.targetOriginId + '\" and can fail over, for which CloudFront supports only GET, HEAD and OPTIONS: remove the other methods, or set targetOriginId to an origin')[0]",message="CloudFront supports only GET, HEAD and OPTIONS for an origin group: remove the other methods, or set targetOriginId to an origin",fieldPath=".cacheBehaviors"
// +kubebuilder:validation:XValidation:rule="!has(self.httpVersion) || self.httpVersion in ['http2', 'http2and3'] || !((has(self.defaultCacheBehavior.grpcConfig) && self.defaultCacheBehavior.grpcConfig.enabled) || (has(self.cacheBehaviors) && self.cacheBehaviors.exists(b, has(b.grpcConfig) && b.grpcConfig.enabled)))",messageExpression="'a behavior enables gRPC, which requires HTTP/2, but httpVersion is \"' + self.httpVersion + '\": use http2 or http2and3, or disable gRPC'",message="a behavior enables gRPC, which requires HTTP/2: use http2 or http2and3, or disable gRPC",fieldPath=".httpVersion"
// +kubebuilder:validation:XValidation:rule="self.connectionMode != 'direct' || !has(self.aliases) || size(self.aliases) == 0 || (has(self.viewerCertificate) && !has(self.viewerCertificate.cloudFrontDefaultCertificate))",messageExpression="'\"' + self.aliases[0] + '\" and all other aliases require a certificate that covers them: set viewerCertificate.acmCertificateArn'",message="aliases require a certificate that covers them: set viewerCertificate.acmCertificateArn",fieldPath=".viewerCertificate"
// +kubebuilder:validation:XValidation:rule="self.connectionMode == 'direct' || !self.origins.exists(o, [o.domainName.indexOf('{{'), o.domainName.lastIndexOf('{{')].exists(i, i >= 0 && !(has(self.tenantConfig) && has(self.tenantConfig.parameterDefinitions) && self.tenantConfig.parameterDefinitions.exists(d, o.domainName.substring(i).startsWith('{{' + d.name + '}}')))))",messageExpression="self.origins.map(o, [o.domainName.indexOf('{{'), o.domainName.lastIndexOf('{{')].exists(i, i >= 0 && !(has(self.tenantConfig) && has(self.tenantConfig.parameterDefinitions) && self.tenantConfig.parameterDefinitions.exists(d, o.domainName.substring(i).startsWith('{{' + d.name + '}}')))), '\"' + o.domainName + '\", the domainName of the origin \"' + o.id + '\", has a parameter that is not declared: add it to tenantConfig.parameterDefinitions, or correct its name')[0]",message="the domainName of an origin has a parameter that is not declared: add it to tenantConfig.parameterDefinitions, or correct its name",fieldPath=".origins"
// +kubebuilder:validation:XValidation:rule="self.connectionMode == 'direct' || !self.origins.exists(o, has(o.originPath) && [o.originPath.indexOf('{{'), o.originPath.lastIndexOf('{{')].exists(i, i >= 0 && !(has(self.tenantConfig) && has(self.tenantConfig.parameterDefinitions) && self.tenantConfig.parameterDefinitions.exists(d, o.originPath.substring(i).startsWith('{{' + d.name + '}}')))))",messageExpression="self.origins.map(o, has(o.originPath) && [o.originPath.indexOf('{{'), o.originPath.lastIndexOf('{{')].exists(i, i >= 0 && !(has(self.tenantConfig) && has(self.tenantConfig.parameterDefinitions) && self.tenantConfig.parameterDefinitions.exists(d, o.originPath.substring(i).startsWith('{{' + d.name + '}}')))), '\"' + o.originPath + '\", the originPath of the origin \"' + o.id + '\", has a parameter that is not declared: add it to tenantConfig.parameterDefinitions, or correct its name')[0]",message="the originPath of an origin has a parameter that is not declared: add it to tenantConfig.parameterDefinitions, or correct its name",fieldPath=".origins"
// +kubebuilder:validation:XValidation:rule="self.connectionMode == 'tenant-only' || !self.origins.exists(o, o.domainName.contains('{{') || (has(o.originPath) && o.originPath.contains('{{')))",messageExpression="'the origin \"' + self.origins.map(o, o.domainName.contains('{{') || (has(o.originPath) && o.originPath.contains('{{')), o.id)[0] + '\" has a parameter, but only multi-tenant distributions have parameters: write the value instead of the parameter, or use connectionMode tenant-only'",message="an origin has a parameter, but only multi-tenant distributions have parameters: write the value instead of the parameter, or use connectionMode tenant-only",fieldPath=".origins"
type DistributionConfig struct {
	// connectionMode says what the distribution serves. tenant-only: distribution tenants, each with its own domains (a
	// multi-tenant distribution). direct: viewers (a standard distribution). It can't be changed. Default: tenant-only.
	// +kubebuilder:default=tenant-only
	// +optional
	ConnectionMode ConnectionMode `json:"connectionMode,omitempty"`

	// enabled says whether the distribution serves requests. If false, requests to every tenant are rejected. Default:
	// true.
	// +kubebuilder:default=true
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// comment is a description of at most 128 characters. Default: empty.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +optional
	Comment string `json:"comment,omitempty"`

	// origins are the servers that CloudFront fetches content from, 1 to 250. AWS allows 100 until it
	// raises your quota.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=250
	// +listType=map
	// +listMapKey=id
	// +required
	Origins []Origin `json:"origins,omitempty"`

	// originGroups are pairs of origins, where the second takes over when the first fails, at most 100. AWS
	// allows 10 until it raises your quota. Default: none.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=id
	// +optional
	OriginGroups []OriginGroup `json:"originGroups,omitempty"`

	// defaultCacheBehavior handles requests that no other behavior matches.
	// +required
	DefaultCacheBehavior *CacheBehaviorSettings `json:"defaultCacheBehavior,omitempty"`

	// cacheBehaviors handle requests for specific paths, at most 250. The first one whose pathPattern matches is used.
	// AWS allows 75, with the default behavior, until it raises your quota. Default: none.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=250
	// +kubebuilder:validation:XValidation:rule="size(self) > 100 || self.all(b, self.exists_one(c, c.pathPattern == b.pathPattern))",messageExpression="'\"' + self.map(b, !self.exists_one(c, c.pathPattern == b.pathPattern), b.pathPattern)[0] + '\" is the pathPattern of two behaviors, so the second would never be used: remove one of them'",message="two behaviors have the same pathPattern, so the second would never be used: remove one of them"
	// +listType=atomic
	// +optional
	CacheBehaviors []CacheBehavior `json:"cacheBehaviors,omitempty"`

	// customErrorResponses replace error responses, one for each status code. Default: none.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=11
	// +listType=map
	// +listMapKey=errorCode
	// +optional
	CustomErrorResponses []CustomErrorResponse `json:"customErrorResponses,omitempty"`

	// viewerCertificate is the certificate for viewers. Tenants without their own certificate also use it. If omitted,
	// the distribution keeps its current certificate. A new distribution then has CloudFront's default certificate, which
	// covers only CloudFront's own domain and allows TLSv1 and later.
	// +optional
	ViewerCertificate *ViewerCertificate `json:"viewerCertificate,omitempty"`

	// restrictions say from which countries the distribution can be reached. Default: all countries.
	// +optional
	Restrictions *Restrictions `json:"restrictions,omitempty"`

	// webACLId is the ARN of an AWS WAF (WAFv2) web ACL of global scope, which AWS keeps in us-east-1. Default: none.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws(-[a-z]+)*:wafv2:us-east-1:[0-9]{12}:global/webacl/[^/]+/[^/]+$')",messageExpression="'\"' + self + '\" is not the ARN of a global web ACL: CloudFront accepts only WAFv2 web ACLs with scope CLOUDFRONT, arn:aws:wafv2:us-east-1:<account>:global/webacl/<name>/<id>; WAF Classic web ACLs are not supported'",message="must be the ARN of a WAFv2 web ACL with scope CLOUDFRONT: arn:aws:wafv2:us-east-1:<account>:global/webacl/<name>/<id>"
	// +optional
	WebACLID string `json:"webACLId,omitempty"`

	// httpVersion is the highest version of HTTP that viewers can use: http1.1, http2, http3, or http2and3. Default:
	// http2.
	// +optional
	HTTPVersion HTTPVersion `json:"httpVersion,omitempty"`

	// defaultRootObject is the object for requests of the root path, such as index.html: at most 255 characters, without
	// a leading slash. If omitted, the origin decides.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('/')",messageExpression="'\"' + self + '\" starts with a slash, but the default root object must not: use \"' + self.substring(1) + '\"'",message="remove the slash at the beginning"
	// +optional
	DefaultRootObject string `json:"defaultRootObject,omitempty"`

	// tenantConfig declares the parameters of tenants. Only with connectionMode tenant-only. Default: none.
	// +optional
	TenantConfig *TenantConfig `json:"tenantConfig,omitempty"`

	// cacheTagConfig names the header with which the origin tags its responses, so that an Invalidation can remove them from
	// the caches by their tags. If omitted, the distribution keeps what it has; {} removes it.
	// +optional
	CacheTagConfig *CacheTagConfig `json:"cacheTagConfig,omitempty"`

	// viewerMtlsConfig makes viewers identify themselves by a certificate (mutual TLS). If omitted, the distribution keeps
	// what it has; {} removes it.
	// +optional
	ViewerMTLSConfig *ViewerMTLSConfig `json:"viewerMtlsConfig,omitempty"`

	// connectionFunctionAssociation runs a connection function when a viewer connects with mutual TLS. If omitted, the
	// distribution keeps what it has; {} removes it.
	// +optional
	ConnectionFunctionAssociation *ConnectionFunctionAssociation `json:"connectionFunctionAssociation,omitempty"`

	// aliases are the domains of a standard distribution, at most 500. AWS allows 100 until it raises your quota. Only with
	// connectionMode direct. Default: none in addition to CloudFront's own domain.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=500
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.all(a, a.matches('^([*][.])?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?[.])+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$'))",messageExpression="'\"' + self.map(a, !a.matches('^([*][.])?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?[.])+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$'), a)[0] + '\" is not a fully qualified domain name like shop.example.com in lower case: no scheme, port, path or dot at its end; an internationalized name in punycode'",message="must be a fully qualified domain name like shop.example.com, in lower case"
	// +listType=set
	// +optional
	Aliases []string `json:"aliases,omitempty"`

	// priceClass says which edge locations serve a standard distribution. Only with connectionMode direct. Default:
	// PriceClass_All.
	// +optional
	PriceClass PriceClass `json:"priceClass,omitempty"`

	// ipv6Enabled says whether a standard distribution has IPv6 addresses. Only with connectionMode direct; for tenants,
	// this is a setting of their connection group. Default: false.
	// +optional
	IPv6Enabled *bool `json:"ipv6Enabled,omitempty"`

	// logging makes a standard distribution write its access logs to a bucket (legacy standard logging). Only with
	// connectionMode direct. Default: no logs.
	// +optional
	Logging *Logging `json:"logging,omitempty"`
}

// CacheTagConfig says how responses are tagged.
//
// +kubebuilder:validation:MinProperties=0
type CacheTagConfig struct {
	// headerName is the header of the origin's responses that lists the tags, separated by commas, such as cache-tag. An
	// object that is in the caches when the header changes keeps the tags that it has.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9!#$%&*+.^_|~-]+$')",messageExpression="'\"' + self + '\" is not a header name: use letters, digits and hyphens'",message="use letters, digits and hyphens"
	// +optional
	HeaderName string `json:"headerName,omitempty"`
}

// ViewerMTLSConfig says whether viewers have to show a certificate.
//
// +kubebuilder:validation:XValidation:rule="!has(self.mode) || self.mode == 'passthrough' || has(self.trustStoreConfig)",messageExpression="'with mode \"' + self.mode + '\" CloudFront checks certificates against a trust store: set trustStoreConfig.trustStoreId'",message="CloudFront checks certificates against a trust store: set trustStoreConfig.trustStoreId",fieldPath=".trustStoreConfig"
// +kubebuilder:validation:XValidation:rule="!has(self.trustStoreConfig) || has(self.mode)",message="a trust store has no effect without a mode: set mode to required or optional, or remove trustStoreConfig",fieldPath=".mode"
// +kubebuilder:validation:MinProperties=0
type ViewerMTLSConfig struct {
	// mode is required (a viewer without a valid certificate can't connect), optional (it can, but an invalid one is
	// refused), or passthrough (the origin checks the certificate).
	// +optional
	Mode ViewerMTLSMode `json:"mode,omitempty"`

	// trustStoreConfig is what the certificates are checked against. It is required unless the mode is passthrough.
	// +optional
	TrustStoreConfig *TrustStoreConfig `json:"trustStoreConfig,omitempty"`
}

// TrustStoreConfig names the trust store for the certificates of viewers.
type TrustStoreConfig struct {
	// trustStoreId is the ID of the trust store.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_-]+$')",messageExpression="'\"' + self + '\" is not the ID of a trust store: use the ID, not the ARN or the name'",message="must be the ID of a trust store, not its ARN or name"
	// +required
	TrustStoreID string `json:"trustStoreId,omitempty"`

	// advertiseTrustStoreCaNames tells viewers the names of the authorities in the trust store. Default: false.
	// +optional
	AdvertiseTrustStoreCANames *bool `json:"advertiseTrustStoreCaNames,omitempty"`

	// ignoreCertificateExpiry accepts expired certificates. Default: false.
	// +optional
	IgnoreCertificateExpiry *bool `json:"ignoreCertificateExpiry,omitempty"`
}

// ConnectionFunctionAssociation runs a connection function.
//
// +kubebuilder:validation:MinProperties=0
type ConnectionFunctionAssociation struct {
	// id is the ID of the connection function.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_-]+$')",messageExpression="'\"' + self + '\" is not the ID of a connection function: use the ID, not the ARN or the name'",message="must be the ID of a connection function, not its ARN or name"
	// +optional
	ID string `json:"id,omitempty"`
}

// CustomErrorResponse replaces an error response.
//
// +kubebuilder:validation:XValidation:rule="has(self.responseCode) == has(self.responsePagePath)",messageExpression="has(self.responseCode) ? 'responseCode is set without responsePagePath: add responsePagePath, or remove responseCode' : '\"' + self.responsePagePath + '\" is set as responsePagePath without responseCode: add responseCode, or remove responsePagePath'",message="responseCode and responsePagePath must be set together: set both, or none"
type CustomErrorResponse struct {
	// errorCode is the status code of the origin.
	// +required
	ErrorCode ErrorCode `json:"errorCode,omitempty"`

	// responseCode is the status code that viewers get instead. Default: errorCode.
	// +optional
	ResponseCode ResponseCode `json:"responseCode,omitempty"`

	// responsePagePath is the path of the page that viewers get, with a leading slash. Default: the response body of the
	// origin.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.startsWith('/')",messageExpression="'\"' + self + '\" is not a path: it must start with a slash'",message="the path must start with a slash"
	// +optional
	ResponsePagePath string `json:"responsePagePath,omitempty"`

	// errorCachingMinTTL is the minimum number of seconds for which the error is cached, 0 to 31536000 (a year). Default:
	// 10.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=31536000
	// +optional
	ErrorCachingMinTTL *int32 `json:"errorCachingMinTTL,omitempty"`
}

// ErrorCode is a status that a custom error response can replace.
// +kubebuilder:validation:Enum=400;403;404;405;414;416;500;501;502;503;504
type ErrorCode int32

// ResponseCode is a status that a custom error response can send.
// +kubebuilder:validation:Enum=200;400;403;404;405;414;416;500;501;502;503;504
type ResponseCode int32

// ViewerCertificate is the certificate for viewers.
//
// +kubebuilder:validation:XValidation:rule="!has(self.minimumProtocolVersion) || self.minimumProtocolVersion != 'SSLv3' || (has(self.sslSupportMethod) && self.sslSupportMethod != 'sni-only')",messageExpression="'\"' + self.minimumProtocolVersion + '\" does not support SNI: use TLSv1.2_2021 or later'",message="SSLv3 does not support SNI: use TLSv1.2_2021 or later",fieldPath=".minimumProtocolVersion"
// +kubebuilder:validation:XValidation:rule="!has(self.sslSupportMethod) || self.sslSupportMethod != 'vip' || has(self.minimumProtocolVersion)",messageExpression="'with sslSupportMethod \"' + self.sslSupportMethod + '\" CloudFront accepts TLSv1, SSLv3 and what AWS Support has allowed for the account, but not the default TLSv1.2_2021: set one of these, or use sni-only'",message="sslSupportMethod vip requires minimumProtocolVersion: with vip, CloudFront accepts TLSv1, SSLv3 and what AWS Support has allowed, but not the default; set one of these, or use sni-only",fieldPath=".minimumProtocolVersion"
// +kubebuilder:validation:XValidation:rule="[has(self.acmCertificateArn), has(self.iamCertificateId), has(self.cloudFrontDefaultCertificate)].filter(named, named).size() == 1",messageExpression="([has(self.acmCertificateArn), has(self.iamCertificateId), has(self.cloudFrontDefaultCertificate)].exists(named, named) ? 'two certificates are set, but' : 'no certificate is set, but') + ' a distribution has exactly one: set acmCertificateArn, or iamCertificateId for a standard distribution, or cloudFrontDefaultCertificate for the default certificate of CloudFront; without viewerCertificate it keeps the one that it has'",message="set exactly one certificate: acmCertificateArn, or iamCertificateId for a standard distribution, or cloudFrontDefaultCertificate; without viewerCertificate the distribution keeps its current certificate"
// +kubebuilder:validation:XValidation:rule="!has(self.cloudFrontDefaultCertificate) || !has(self.minimumProtocolVersion)",messageExpression="'with its default certificate, CloudFront always allows TLSv1 and later, so \"' + self.minimumProtocolVersion + '\" would have no effect: remove it, or set acmCertificateArn'",message="with its default certificate, CloudFront always allows TLSv1 and later: remove minimumProtocolVersion, or set acmCertificateArn",fieldPath=".minimumProtocolVersion"
// +kubebuilder:validation:XValidation:rule="!has(self.cloudFrontDefaultCertificate) || !has(self.sslSupportMethod)",messageExpression="'sslSupportMethod \"' + self.sslSupportMethod + '\" has no effect with the default certificate of CloudFront: remove it, or set acmCertificateArn'",message="sslSupportMethod has no effect with the default certificate of CloudFront: remove it, or set acmCertificateArn",fieldPath=".sslSupportMethod"
// +kubebuilder:validation:MinProperties=0
type ViewerCertificate struct {
	// acmCertificateArn is the ARN of an AWS Certificate Manager certificate in us-east-1, the only region whose
	// certificates CloudFront accepts.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws(-[a-z]+)*:acm:us-east-1:[0-9]{12}:certificate/[A-Za-z0-9-]+$')",messageExpression="'\"' + self + '\" is not the ARN of an ACM certificate in us-east-1, the only region whose certificates CloudFront accepts: request or import the certificate there and use its ARN, arn:aws:acm:us-east-1:<account>:certificate/<id>'",message="must be the ARN of an ACM certificate in us-east-1: request or import the certificate there"
	// +optional
	ACMCertificateARN string `json:"acmCertificateArn,omitempty"`

	// iamCertificateId is the ID of a server certificate in IAM. Only with connectionMode direct.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_-]+$')",messageExpression="'\"' + self + '\" is not the ID of a server certificate in IAM: use the ID, not the ARN or the name'",message="must be the ID of a server certificate in IAM, not its ARN or name"
	// +optional
	IAMCertificateID string `json:"iamCertificateId,omitempty"`

	// cloudFrontDefaultCertificate uses CloudFront's default certificate, which covers only CloudFront's own domain.
	// TLSv1 and later are then allowed. Can only be true.
	// +kubebuilder:validation:XValidation:rule="self",message="can only be true: to use another certificate, set that one instead"
	// +optional
	CloudFrontDefaultCertificate *bool `json:"cloudFrontDefaultCertificate,omitempty"`

	// minimumProtocolVersion is the security policy of connections with viewers. It requires a certificate other than
	// CloudFront's default certificate. Default: TLSv1.2_2021.
	// +optional
	MinimumProtocolVersion MinimumProtocolVersion `json:"minimumProtocolVersion,omitempty"`

	// sslSupportMethod is sni-only, or vip or static-ip for dedicated IP addresses, which cost extra. vip usually
	// requires minimumProtocolVersion TLSv1. With connectionMode tenant-only, only sni-only is possible. Default:
	// sni-only.
	// +optional
	SSLSupportMethod SSLSupportMethod `json:"sslSupportMethod,omitempty"`
}

// Restrictions limit from where a distribution can be reached.
type Restrictions struct {
	// geoRestriction lists countries.
	// +required
	GeoRestriction *GeoRestriction `json:"geoRestriction,omitempty"`
}

// GeoRestriction says from which countries a distribution can be reached.
//
// +kubebuilder:validation:XValidation:rule="self.restrictionType != 'none' || !has(self.locations) || size(self.locations) == 0",message="restrictionType none does not allow locations: remove locations, or use whitelist or blacklist",fieldPath=".locations"
// +kubebuilder:validation:XValidation:rule="self.restrictionType == 'none' || (has(self.locations) && size(self.locations) > 0)",message="restrictionType whitelist and blacklist need at least one country in locations: add one, or use none",fieldPath=".locations"
type GeoRestriction struct {
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

// TenantConfig declares the parameters of the tenants of a distribution.
//
// +kubebuilder:validation:MinProperties=0
type TenantConfig struct {
	// parameterDefinitions are the parameters that tenants can set, at most 50. A parameter is used as {{name}} in an
	// origin's domainName or originPath.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=50
	// +listType=map
	// +listMapKey=name
	// +optional
	ParameterDefinitions []ParameterDefinition `json:"parameterDefinitions,omitempty"`
}

// ParameterDefinition declares a parameter.
type ParameterDefinition struct {
	// name is 1 to 128 letters, digits, hyphens and underscores.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-zA-Z0-9_-]+$')",messageExpression="'\"' + self + '\" is not a parameter name: use letters, digits, hyphens and underscores'",message="use letters, digits, hyphens and underscores"
	// +required
	Name string `json:"name,omitempty"`

	// definition says which values are allowed.
	// +required
	Definition *ParameterSchema `json:"definition,omitempty"`
}

// ParameterSchema says which values a parameter allows.
type ParameterSchema struct {
	// stringSchema is for strings, the only supported type.
	// +required
	StringSchema *StringSchema `json:"stringSchema,omitempty"`
}

// StringSchema describes a string parameter.
//
// +kubebuilder:validation:XValidation:rule="!self.required || !has(self.defaultValue)",messageExpression="'\"' + self.defaultValue + '\" has no effect, because every tenant must set a required parameter: remove defaultValue, or set required to false'",message="a required parameter cannot have a default value, because every tenant sets a value: remove it, or set required to false",fieldPath=".defaultValue"
type StringSchema struct {
	// required says whether every tenant must set a value.
	// +required
	Required *bool `json:"required,omitempty"`

	// defaultValue is the value for tenants that set none, 1 to 256 characters.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +optional
	DefaultValue string `json:"defaultValue,omitempty"`

	// comment is a description.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +optional
	Comment string `json:"comment,omitempty"`
}

// Logging makes a standard distribution write its access logs to a bucket.
type Logging struct {
	// bucket is the domain name of the bucket, such as logs.s3.amazonaws.com. It must allow ACLs.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.endsWith('.amazonaws.com') || self.endsWith('.amazonaws.com.cn')",messageExpression="'\"' + self + '\" is not the domain name of a bucket: use <bucket>.s3.amazonaws.com'",message="must be the domain name of a bucket: <bucket>.s3.amazonaws.com"
	// +required
	Bucket string `json:"bucket,omitempty"`

	// prefix is the prefix of the log file names. Default: none.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +optional
	Prefix string `json:"prefix,omitempty"`

	// includeCookies includes cookies in the logs. Default: false.
	// +optional
	IncludeCookies *bool `json:"includeCookies,omitempty"`
}

// ConnectionMode says what a distribution serves.
// +kubebuilder:validation:Enum=tenant-only;direct
type ConnectionMode string

const (
	// ConnectionModeTenantOnly serves distribution tenants.
	ConnectionModeTenantOnly ConnectionMode = "tenant-only"
	// ConnectionModeDirect serves viewers.
	ConnectionModeDirect ConnectionMode = "direct"
)

// ViewerMTLSMode says how certificates of viewers are checked.
// +kubebuilder:validation:Enum=required;optional;passthrough
type ViewerMTLSMode string

// HTTPVersion is the highest version of HTTP that viewers can use.
// +kubebuilder:validation:Enum=http1.1;http2;http3;http2and3
type HTTPVersion string

// HTTPVersion2 is HTTP/2, the default.
const HTTPVersion2 HTTPVersion = "http2"

// PriceClass says which edge locations serve a distribution.
// +kubebuilder:validation:Enum=PriceClass_100;PriceClass_200;PriceClass_All
type PriceClass string

// PriceClassAll is all of them, the default.
const PriceClassAll PriceClass = "PriceClass_All"

// MinimumProtocolVersion is a security policy of CloudFront.
// +kubebuilder:validation:Enum=SSLv3;TLSv1;TLSv1_2016;TLSv1.1_2016;TLSv1.2_2018;TLSv1.2_2019;TLSv1.2_2021;TLSv1.2_2025;TLSv1.3_2025
type MinimumProtocolVersion string

// MinimumProtocolTLS12 is the default.
const MinimumProtocolTLS12 MinimumProtocolVersion = "TLSv1.2_2021"

// SSLSupportMethod says how CloudFront tells the domains of one address apart.
// +kubebuilder:validation:Enum=sni-only;vip;static-ip
type SSLSupportMethod string

// SSLSupportSNIOnly is by the name that the viewer sends, the default.
const SSLSupportSNIOnly SSLSupportMethod = "sni-only"

// DistributionStatus is the observed state.
//
// +kubebuilder:validation:MinProperties=0
type DistributionStatus struct {
	ResourceStatus `json:",inline"`

	// domainName is the domain name that CloudFront assigned to the distribution. A multi-tenant distribution can't be
	// reached with it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	DomainName string `json:"domainName,omitempty"`

	// certificate is the certificate of the distribution, which tenants without their own inherit, as ACM last showed it.
	// It is only updated when ACM shows a renewal or the distribution has another certificate. Absent while its expiry is
	// not known, and with a certificate that is not in ACM.
	// +optional
	Certificate *ServedCertificate `json:"certificate,omitempty"`

	// creations counts the distributions that were created for this object and then deleted outside of Kubernetes: AWS
	// accepts a caller reference only once, and this number is part of the next one.
	// +kubebuilder:validation:Minimum=1
	// +optional
	Creations int32 `json:"creations,omitempty"`
}
