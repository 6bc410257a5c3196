package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Distribution is a CloudFront distribution: a multi-tenant one, which serves distribution tenants, or a
// standard one. One object stands for one distribution in AWS, from its creation to its deletion.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=cfd,categories=aws
// +kubebuilder:printcolumn:name="STATUS",type=string,JSONPath=`.status.deploymentStatus`,description="Deployment status in AWS"
// +kubebuilder:printcolumn:name="READY",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Deployed and ready for tenants"
// +kubebuilder:printcolumn:name="SYNCED",type=string,JSONPath=`.status.conditions[?(@.type=="Synced")].status`,description="AWS equals the spec"
// +kubebuilder:printcolumn:name="ID",type=string,JSONPath=`.status.id`,description="ID of the distribution in AWS"
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="REASON",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it is ready or not"
// +kubebuilder:printcolumn:name="MODE",type=string,priority=1,JSONPath=`.spec.connectionMode`,description="Whether it serves tenants or viewers"
// +kubebuilder:printcolumn:name="DOMAIN",type=string,priority=1,JSONPath=`.status.domainName`,description="Domain name that CloudFront gave the distribution"
type Distribution struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what the distribution should be. It belongs to its author: the operator never writes to it.
	// +required
	Spec DistributionSpec `json:"spec"`

	// status is what the operator found and learned.
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

// DistributionSpec is the desired distribution. A list is meant whole, and an absent block means AWS's
// default. What AWS offers and this kind has no field for (such as real-time logs) is left as it is in AWS.
//
// +kubebuilder:validation:XValidation:rule="has(self.distributionId) == has(oldSelf.distributionId)",messageExpression="'whether a distribution is created or adopted can not be changed, and distributionId was ' + (has(oldSelf.distributionId) ? '\"' + oldSelf.distributionId + '\"' : 'absent') + ': put that back, or delete this object (deletionPolicy Retain keeps the distribution) and create another'",message="whether a distribution is created or adopted can not be changed: put the former distributionId back, or delete this object (deletionPolicy Retain keeps the distribution) and create another",fieldPath=".distributionId"
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || !has(self.distributionId) || !has(self.adoptionPolicy) || self.adoptionPolicy != 'Never'",messageExpression="'distributionId names the distribution \"' + self.distributionId + '\", which is in AWS already, and adoptionPolicy Never takes over nothing: set adoptionPolicy to IfUnowned, or to Force if another cluster owns it, or remove distributionId to have a distribution created'",message="distributionId names a distribution that is in AWS already, and adoptionPolicy Never takes over nothing: set adoptionPolicy to IfUnowned, or to Force if another cluster owns it, or remove distributionId to have a distribution created",fieldPath=".adoptionPolicy",optionalOldSelf=true
// +kubebuilder:validation:MinProperties=0
type DistributionSpec struct {
	DistributionConfig `json:",inline"`
	ResourcePolicies   `json:",inline"`

	// distributionId is the ID of a distribution that is in AWS already and is to be adopted, as
	// adoptionPolicy allows: a new object with distributionId needs another policy than Never. It can't be
	// changed, added or removed. Absent means that the operator creates one.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Z0-9]+$')",messageExpression="'\"' + self + '\" is not the ID of a distribution, which has capital letters and digits only, like E1A2B3C4D5E6F7: give the ID, not the ARN or the domain name'",message="must be the ID of a distribution: capital letters and digits only"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",messageExpression="'\"' + self + '\" is another distribution than \"' + oldSelf + '\", and an object stands for one for life: put that ID back, or create another object'",message="an object stands for one distribution for life: put the former ID back, or create another object"
	// +optional
	DistributionID string `json:"distributionId,omitempty"`
}

// DistributionConfig is the configuration of a distribution, in AWS's words.
//
// +kubebuilder:validation:XValidation:rule="self.connectionMode == oldSelf.connectionMode",messageExpression="'the connection mode of a distribution can not be changed and is \"' + oldSelf.connectionMode + '\": put that value back, or create another object'",message="the connection mode of a distribution can not be changed: put the former value back, or create another object",fieldPath=".connectionMode"
// +kubebuilder:validation:XValidation:rule="self.connectionMode == 'direct' || !has(self.aliases) || size(self.aliases) == 0",message="a multi-tenant distribution has no domains of its own, its tenants have: remove aliases and give the domains to DistributionTenant objects, or choose connectionMode direct",fieldPath=".aliases"
// +kubebuilder:validation:XValidation:rule="self.connectionMode == 'direct' || !has(self.priceClass)",messageExpression="'CloudFront does not support price classes for multi-tenant distributions: remove \"' + self.priceClass + '\", or choose connectionMode direct'",message="CloudFront does not support price classes for multi-tenant distributions: remove priceClass, or choose connectionMode direct",fieldPath=".priceClass"
// +kubebuilder:validation:XValidation:rule="self.connectionMode == 'direct' || !has(self.ipv6Enabled)",message="for a multi-tenant distribution IPv6 is a setting of the connection group: remove ipv6Enabled and set it on the ConnectionGroup, or choose connectionMode direct",fieldPath=".ipv6Enabled"
// +kubebuilder:validation:XValidation:rule="self.connectionMode == 'direct' || !has(self.logging)",message="CloudFront does not support legacy standard logging for multi-tenant distributions: remove logging and use standard logging (v2) or real-time logs, or choose connectionMode direct",fieldPath=".logging"
// +kubebuilder:validation:XValidation:rule="self.connectionMode == 'direct' || !has(self.viewerCertificate) || !has(self.viewerCertificate.iamCertificateId)",messageExpression="'\"' + self.viewerCertificate.iamCertificateId + '\" is a certificate in IAM, which CloudFront does not support for multi-tenant distributions: use acmCertificateArn, or choose connectionMode direct'",message="CloudFront does not support IAM certificates for multi-tenant distributions: use acmCertificateArn, or choose connectionMode direct",fieldPath=".viewerCertificate.iamCertificateId"
// +kubebuilder:validation:XValidation:rule="self.connectionMode == 'direct' || !has(self.viewerCertificate) || !has(self.viewerCertificate.sslSupportMethod) || self.viewerCertificate.sslSupportMethod == 'sni-only'",messageExpression="'\"' + self.viewerCertificate.sslSupportMethod + '\" asks for dedicated IP addresses, which CloudFront does not support for multi-tenant distributions: use sni-only, or choose connectionMode direct'",message="CloudFront does not support dedicated IP addresses for multi-tenant distributions: use sni-only, or choose connectionMode direct",fieldPath=".viewerCertificate.sslSupportMethod"
// +kubebuilder:validation:XValidation:rule="self.connectionMode == 'tenant-only' || !has(self.tenantConfig)",message="only a multi-tenant distribution has parameters for its tenants: remove tenantConfig, or choose connectionMode tenant-only",fieldPath=".tenantConfig"
// +kubebuilder:validation:XValidation:rule="self.origins.exists(o, o.id == self.defaultCacheBehavior.targetOriginId) || (has(self.originGroups) && self.originGroups.exists(g, g.id == self.defaultCacheBehavior.targetOriginId))",messageExpression="'\"' + self.defaultCacheBehavior.targetOriginId + '\" is the id of neither an origin nor an origin group: add it there, or name one that exists'",message="must be the id of one of origins or originGroups",fieldPath=".defaultCacheBehavior.targetOriginId"
// +kubebuilder:validation:XValidation:rule="!has(self.cacheBehaviors) || !self.cacheBehaviors.exists(b, !(self.origins.exists(o, o.id == b.targetOriginId) || (has(self.originGroups) && self.originGroups.exists(g, g.id == b.targetOriginId))))",messageExpression="self.cacheBehaviors.map(b, !(self.origins.exists(o, o.id == b.targetOriginId) || (has(self.originGroups) && self.originGroups.exists(g, g.id == b.targetOriginId))), '\"' + b.targetOriginId + '\", the targetOriginId of \"' + b.pathPattern + '\", is the id of neither an origin nor an origin group: add it there, or name one that exists')[0]",message="each targetOriginId must be the id of one of origins or originGroups: add it there, or name one that exists",fieldPath=".cacheBehaviors"
// +kubebuilder:validation:XValidation:rule="!has(self.originGroups) || !self.originGroups.exists(g, !g.members.all(m, self.origins.exists(o, o.id == m.originId)))",messageExpression="self.originGroups.map(g, !g.members.all(m, self.origins.exists(o, o.id == m.originId)), '\"' + g.members.map(m, !self.origins.exists(o, o.id == m.originId), m.originId)[0] + '\", a member of the group \"' + g.id + '\", is not the id of one of origins: add it there, or name one that exists')[0]",message="each member must be the id of one of origins: add it there, or name one that exists",fieldPath=".originGroups"
// +kubebuilder:validation:XValidation:rule="!has(self.originGroups) || !self.originGroups.exists(g, self.origins.exists(o, o.id == g.id))",messageExpression="'\"' + self.originGroups.map(g, self.origins.exists(o, o.id == g.id), g.id)[0] + '\" is the id of an origin and of an origin group, and a behavior could mean either: rename one of the two'",message="an origin and an origin group can not have the same id: rename one of the two",fieldPath=".originGroups"
// +kubebuilder:validation:XValidation:rule="!has(self.originGroups) || !has(self.defaultCacheBehavior.allowedMethods) || !('POST' in self.defaultCacheBehavior.allowedMethods) || !self.originGroups.exists(g, g.id == self.defaultCacheBehavior.targetOriginId)",messageExpression="'requests to the origin group \"' + self.defaultCacheBehavior.targetOriginId + '\" can fail over, and CloudFront takes GET, HEAD and OPTIONS only for these: remove the other methods, or name an origin in targetOriginId'",message="CloudFront takes GET, HEAD and OPTIONS only for an origin group: remove the other methods, or name an origin in targetOriginId",fieldPath=".defaultCacheBehavior.allowedMethods"
// +kubebuilder:validation:XValidation:rule="!has(self.originGroups) || !has(self.cacheBehaviors) || !self.cacheBehaviors.exists(b, has(b.allowedMethods) && 'POST' in b.allowedMethods && self.originGroups.exists(g, g.id == b.targetOriginId))",messageExpression="self.cacheBehaviors.map(b, has(b.allowedMethods) && 'POST' in b.allowedMethods && self.originGroups.exists(g, g.id == b.targetOriginId), 'requests for \"' + b.pathPattern + '\" go to the origin group \"' + b.targetOriginId + '\" and can fail over, and CloudFront takes GET, HEAD and OPTIONS only for these: remove the other methods, or name an origin in targetOriginId')[0]",message="CloudFront takes GET, HEAD and OPTIONS only for an origin group: remove the other methods, or name an origin in targetOriginId",fieldPath=".cacheBehaviors"
// +kubebuilder:validation:XValidation:rule="!has(self.httpVersion) || self.httpVersion in ['http2', 'http2and3'] || !((has(self.defaultCacheBehavior.grpcConfig) && self.defaultCacheBehavior.grpcConfig.enabled) || (has(self.cacheBehaviors) && self.cacheBehaviors.exists(b, has(b.grpcConfig) && b.grpcConfig.enabled)))",messageExpression="'a behavior lets gRPC through, which needs HTTP/2, and \"' + self.httpVersion + '\" is without: use http2 or http2and3, or switch gRPC off'",message="a behavior lets gRPC through, which needs HTTP/2: use http2 or http2and3, or switch gRPC off",fieldPath=".httpVersion"
// +kubebuilder:validation:XValidation:rule="self.connectionMode != 'direct' || !has(self.aliases) || size(self.aliases) == 0 || (has(self.viewerCertificate) && !has(self.viewerCertificate.cloudFrontDefaultCertificate))",messageExpression="'\"' + self.aliases[0] + '\" and all other aliases need a certificate that covers them: set viewerCertificate.acmCertificateArn'",message="aliases need a certificate that covers them: set viewerCertificate.acmCertificateArn",fieldPath=".viewerCertificate"
// +kubebuilder:validation:XValidation:rule="self.connectionMode == 'direct' || !self.origins.exists(o, [o.domainName.indexOf('{{'), o.domainName.lastIndexOf('{{')].exists(i, i >= 0 && !(has(self.tenantConfig) && has(self.tenantConfig.parameterDefinitions) && self.tenantConfig.parameterDefinitions.exists(d, o.domainName.substring(i).startsWith('{{' + d.name + '}}')))))",messageExpression="self.origins.map(o, [o.domainName.indexOf('{{'), o.domainName.lastIndexOf('{{')].exists(i, i >= 0 && !(has(self.tenantConfig) && has(self.tenantConfig.parameterDefinitions) && self.tenantConfig.parameterDefinitions.exists(d, o.domainName.substring(i).startsWith('{{' + d.name + '}}')))), '\"' + o.domainName + '\", the domainName of the origin \"' + o.id + '\", has a parameter that is not declared: add it to tenantConfig.parameterDefinitions, or correct its name')[0]",message="the domainName of an origin has a parameter that is not declared: add it to tenantConfig.parameterDefinitions, or correct its name",fieldPath=".origins"
// +kubebuilder:validation:XValidation:rule="self.connectionMode == 'direct' || !self.origins.exists(o, has(o.originPath) && [o.originPath.indexOf('{{'), o.originPath.lastIndexOf('{{')].exists(i, i >= 0 && !(has(self.tenantConfig) && has(self.tenantConfig.parameterDefinitions) && self.tenantConfig.parameterDefinitions.exists(d, o.originPath.substring(i).startsWith('{{' + d.name + '}}')))))",messageExpression="self.origins.map(o, has(o.originPath) && [o.originPath.indexOf('{{'), o.originPath.lastIndexOf('{{')].exists(i, i >= 0 && !(has(self.tenantConfig) && has(self.tenantConfig.parameterDefinitions) && self.tenantConfig.parameterDefinitions.exists(d, o.originPath.substring(i).startsWith('{{' + d.name + '}}')))), '\"' + o.originPath + '\", the originPath of the origin \"' + o.id + '\", has a parameter that is not declared: add it to tenantConfig.parameterDefinitions, or correct its name')[0]",message="the originPath of an origin has a parameter that is not declared: add it to tenantConfig.parameterDefinitions, or correct its name",fieldPath=".origins"
// +kubebuilder:validation:XValidation:rule="self.connectionMode == 'tenant-only' || !self.origins.exists(o, o.domainName.contains('{{') || (has(o.originPath) && o.originPath.contains('{{')))",messageExpression="'the origin \"' + self.origins.map(o, o.domainName.contains('{{') || (has(o.originPath) && o.originPath.contains('{{')), o.id)[0] + '\" has a parameter, and only a multi-tenant distribution has tenants that give it a value: write the value in its place, or choose connectionMode tenant-only'",message="an origin has a parameter, and only a multi-tenant distribution has tenants that give it a value: write the value in its place, or choose connectionMode tenant-only",fieldPath=".origins"
type DistributionConfig struct {
	// connectionMode says what the distribution serves. tenant-only: distribution tenants, each with domains of
	// its own (a multi-tenant distribution). direct: viewers (a standard distribution). It can't be changed.
	// Absent means tenant-only.
	// +kubebuilder:default=tenant-only
	// +optional
	ConnectionMode ConnectionMode `json:"connectionMode,omitempty"`

	// enabled says whether the distribution answers requests. false refuses the viewers of every tenant.
	// Absent means true.
	// +kubebuilder:default=true
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// comment is a description of at most 128 characters. Absent means the empty one.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +optional
	Comment string `json:"comment,omitempty"`

	// origins are the servers that CloudFront fetches content from, 1 to 25.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=25
	// +listType=map
	// +listMapKey=id
	// +required
	Origins []Origin `json:"origins,omitempty"`

	// originGroups are pairs of origins of which the second takes over when the first fails, at most 10.
	// Absent means none.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=10
	// +listType=map
	// +listMapKey=id
	// +optional
	OriginGroups []OriginGroup `json:"originGroups,omitempty"`

	// defaultCacheBehavior says how requests are handled that no other behavior matches.
	// +required
	DefaultCacheBehavior *CacheBehaviorSettings `json:"defaultCacheBehavior,omitempty"`

	// cacheBehaviors say how requests for some paths are handled, at most 25. The first whose pathPattern
	// matches counts. Absent means none.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=25
	// +kubebuilder:validation:XValidation:rule="self.all(b, self.exists_one(c, c.pathPattern == b.pathPattern))",messageExpression="'\"' + self.map(b, !self.exists_one(c, c.pathPattern == b.pathPattern), b.pathPattern)[0] + '\" is the pathPattern of two behaviors, of which the second would never be used: remove one'",message="a pathPattern stands in two behaviors, of which the second would never be used: remove one"
	// +listType=atomic
	// +optional
	CacheBehaviors []CacheBehavior `json:"cacheBehaviors,omitempty"`

	// customErrorResponses replace what viewers see of an error, one for each status. Absent means none.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=11
	// +listType=map
	// +listMapKey=errorCode
	// +optional
	CustomErrorResponses []CustomErrorResponse `json:"customErrorResponses,omitempty"`

	// viewerCertificate is the certificate that viewers see; tenants without one of their own use it, too.
	// Absent means that the distribution keeps the one it has; a new one has CloudFront's own, which covers no
	// domain but CloudFront's and allows connections from TLSv1 on.
	// +optional
	ViewerCertificate *ViewerCertificate `json:"viewerCertificate,omitempty"`

	// restrictions say from which countries the distribution can be reached. Absent means from all.
	// +optional
	Restrictions *Restrictions `json:"restrictions,omitempty"`

	// webACLId is the ARN of an AWS WAF (WAFv2) web ACL of global scope, which AWS keeps in us-east-1. Absent
	// means none.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws(-[a-z]+)*:wafv2:us-east-1:[0-9]{12}:global/webacl/[^/]+/[^/]+$')",messageExpression="'\"' + self + '\" is not the ARN of a global web ACL: CloudFront takes WAFv2 web ACLs of scope CLOUDFRONT only, arn:aws:wafv2:us-east-1:<account>:global/webacl/<name>/<id>; web ACLs of WAF Classic are not supported'",message="must be the ARN of a WAFv2 web ACL of scope CLOUDFRONT: arn:aws:wafv2:us-east-1:<account>:global/webacl/<name>/<id>"
	// +optional
	WebACLID string `json:"webACLId,omitempty"`

	// httpVersion is the highest version of HTTP that viewers can use: http1.1, http2, http3, or http2and3.
	// Absent means http2.
	// +optional
	HTTPVersion HTTPVersion `json:"httpVersion,omitempty"`

	// defaultRootObject is the object that a request for the root gets, such as index.html: at most 255
	// characters, without a slash before it. Absent means that the origin decides.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('/')",messageExpression="'\"' + self + '\" starts with a slash, but the default root object is given without one: write \"' + self.substring(1) + '\"'",message="remove the slash at the beginning"
	// +optional
	DefaultRootObject string `json:"defaultRootObject,omitempty"`

	// tenantConfig declares what tenants can be given. Only with connectionMode tenant-only. Absent means
	// nothing.
	// +optional
	TenantConfig *TenantConfig `json:"tenantConfig,omitempty"`

	// aliases are the domains of a standard distribution, at most 100. Only with connectionMode direct.
	// Absent means none but CloudFront's own.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.all(a, a.matches('^([*][.])?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?[.])+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$'))",messageExpression="'\"' + self.map(a, !a.matches('^([*][.])?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?[.])+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$'), a)[0] + '\" is not a fully qualified domain name like shop.example.com in lower case: no scheme, port, path or dot at its end; an internationalized name in punycode'",message="must be a fully qualified domain name like shop.example.com, in lower case"
	// +listType=set
	// +optional
	Aliases []string `json:"aliases,omitempty"`

	// priceClass says which edge locations serve a standard distribution. Only with connectionMode direct.
	// Absent means PriceClass_All.
	// +optional
	PriceClass PriceClass `json:"priceClass,omitempty"`

	// ipv6Enabled says whether a standard distribution has IPv6 addresses. Only with connectionMode direct;
	// tenants' addresses are those of their connection group. Absent means false.
	// +optional
	IPv6Enabled *bool `json:"ipv6Enabled,omitempty"`

	// logging makes a standard distribution write its access logs to a bucket (legacy standard logging). Only
	// with connectionMode direct. Absent means no logs.
	// +optional
	Logging *Logging `json:"logging,omitempty"`
}

// CustomErrorResponse replaces what viewers see of an error.
//
// +kubebuilder:validation:XValidation:rule="has(self.responseCode) == has(self.responsePagePath)",messageExpression="has(self.responseCode) ? 'responseCode is given without the page that is sent with it: add responsePagePath, or remove it' : '\"' + self.responsePagePath + '\" is given without the status that it is sent with: add responseCode, or remove it'",message="a page needs the status that it is sent with: set both of responseCode and responsePagePath, or none"
type CustomErrorResponse struct {
	// errorCode is the status that the origin answers with.
	// +required
	ErrorCode ErrorCode `json:"errorCode,omitempty"`

	// responseCode is the status that viewers get instead. Absent means the same.
	// +optional
	ResponseCode ResponseCode `json:"responseCode,omitempty"`

	// responsePagePath is the path of the page that viewers get, starting with a slash. Absent means the body
	// that the origin sent.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.startsWith('/')",messageExpression="'\"' + self + '\" is no path: start it with a slash'",message="start the path with a slash"
	// +optional
	ResponsePagePath string `json:"responsePagePath,omitempty"`

	// errorCachingMinTTL is how many seconds the error is cached at least, 0 to 31536000 (a year). Absent means
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

// ViewerCertificate is the certificate that viewers see.
//
// +kubebuilder:validation:XValidation:rule="!has(self.minimumProtocolVersion) || self.minimumProtocolVersion != 'SSLv3' || (has(self.sslSupportMethod) && self.sslSupportMethod != 'sni-only')",messageExpression="'\"' + self.minimumProtocolVersion + '\" does not know the names that sni-only goes by: use TLSv1.2_2021 or a later one'",message="SSLv3 does not know the names that sni-only goes by: use TLSv1.2_2021 or a later one",fieldPath=".minimumProtocolVersion"
// +kubebuilder:validation:XValidation:rule="!has(self.sslSupportMethod) || self.sslSupportMethod != 'vip' || has(self.minimumProtocolVersion)",messageExpression="'with sslSupportMethod \"' + self.sslSupportMethod + '\" CloudFront takes TLSv1 and SSLv3, and what AWS Support has allowed for the account, and not the default TLSv1.2_2021: name one of these, or use sni-only'",message="sslSupportMethod vip needs minimumProtocolVersion: CloudFront takes TLSv1 and SSLv3, and what AWS Support has allowed, and not the default; name one of these, or use sni-only",fieldPath=".minimumProtocolVersion"
// +kubebuilder:validation:XValidation:rule="[has(self.acmCertificateArn), has(self.iamCertificateId), has(self.cloudFrontDefaultCertificate)].filter(named, named).size() == 1",messageExpression="([has(self.acmCertificateArn), has(self.iamCertificateId), has(self.cloudFrontDefaultCertificate)].exists(named, named) ? 'two certificates are named, and' : 'no certificate is named, and') + ' a distribution has exactly one: name it in acmCertificateArn, or in iamCertificateId for a standard distribution, or set cloudFrontDefaultCertificate for the own one of CloudFront; without viewerCertificate it keeps the one that it has'",message="name exactly one certificate: acmCertificateArn, or iamCertificateId for a standard distribution, or cloudFrontDefaultCertificate; without viewerCertificate the distribution keeps the one that it has"
// +kubebuilder:validation:XValidation:rule="!has(self.cloudFrontDefaultCertificate) || !has(self.minimumProtocolVersion)",messageExpression="'with its own certificate CloudFront allows connections from TLSv1 on, whatever is set, and \"' + self.minimumProtocolVersion + '\" would have no effect: remove it, or name a certificate in acmCertificateArn'",message="with its own certificate CloudFront allows connections from TLSv1 on, whatever is set: remove minimumProtocolVersion, or name a certificate in acmCertificateArn",fieldPath=".minimumProtocolVersion"
// +kubebuilder:validation:XValidation:rule="!has(self.cloudFrontDefaultCertificate) || !has(self.sslSupportMethod)",messageExpression="'its own certificate CloudFront serves in one way only, and \"' + self.sslSupportMethod + '\" would have no effect: remove it, or name a certificate in acmCertificateArn'",message="CloudFront serves its own certificate in one way only: remove sslSupportMethod, or name a certificate in acmCertificateArn",fieldPath=".sslSupportMethod"
// +kubebuilder:validation:MinProperties=0
type ViewerCertificate struct {
	// acmCertificateArn is the ARN of an AWS Certificate Manager certificate in us-east-1, the only region
	// CloudFront takes certificates from.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws(-[a-z]+)*:acm:us-east-1:[0-9]{12}:certificate/[A-Za-z0-9-]+$')",messageExpression="'\"' + self + '\" is not the ARN of an ACM certificate in us-east-1, the only region that CloudFront takes certificates from: request or import the certificate there and give its ARN, arn:aws:acm:us-east-1:<account>:certificate/<id>'",message="must be the ARN of an ACM certificate in us-east-1: request or import the certificate there"
	// +optional
	ACMCertificateARN string `json:"acmCertificateArn,omitempty"`

	// iamCertificateId is the ID of a server certificate in IAM. Only with connectionMode direct.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_-]+$')",messageExpression="'\"' + self + '\" is not the ID of a server certificate in IAM: give the ID, not the ARN or the name'",message="must be the ID of a server certificate in IAM, not its ARN or name"
	// +optional
	IAMCertificateID string `json:"iamCertificateId,omitempty"`

	// cloudFrontDefaultCertificate takes CloudFront's own certificate, which covers no domain but CloudFront's. Connections
	// are then allowed from TLSv1 on. Only true.
	// +kubebuilder:validation:XValidation:rule="self",message="can only be true: name another certificate in its place"
	// +optional
	CloudFrontDefaultCertificate *bool `json:"cloudFrontDefaultCertificate,omitempty"`

	// minimumProtocolVersion is the security policy of connections with viewers. It needs a certificate other than
	// CloudFront's own. Absent means TLSv1.2_2021.
	// +optional
	MinimumProtocolVersion MinimumProtocolVersion `json:"minimumProtocolVersion,omitempty"`

	// sslSupportMethod is sni-only, or vip or static-ip for dedicated IP addresses, at a considerable price:
	// vip needs minimumProtocolVersion TLSv1 as a rule. Only sni-only with connectionMode tenant-only. Absent
	// means sni-only.
	// +optional
	SSLSupportMethod SSLSupportMethod `json:"sslSupportMethod,omitempty"`
}

// Restrictions say from where a distribution can be reached.
type Restrictions struct {
	// geoRestriction lists countries.
	// +required
	GeoRestriction *GeoRestriction `json:"geoRestriction,omitempty"`
}

// GeoRestriction says from which countries a distribution can be reached.
//
// +kubebuilder:validation:XValidation:rule="self.restrictionType != 'none' || !has(self.locations) || size(self.locations) == 0",message="restrictionType none restricts no country: remove locations, or choose whitelist or blacklist",fieldPath=".locations"
// +kubebuilder:validation:XValidation:rule="self.restrictionType == 'none' || (has(self.locations) && size(self.locations) > 0)",message="restrictionType whitelist and blacklist need at least one country in locations: add one, or choose none",fieldPath=".locations"
type GeoRestriction struct {
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

// TenantConfig declares what the tenants of a distribution can be given.
//
// +kubebuilder:validation:MinProperties=0
type TenantConfig struct {
	// parameterDefinitions are the parameters that tenants have values for, at most 50. A parameter is used as
	// {{name}} in an origin's domainName or originPath.
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

	// definition says what values it takes.
	// +required
	Definition *ParameterSchema `json:"definition,omitempty"`
}

// ParameterSchema says what values a parameter takes.
type ParameterSchema struct {
	// stringSchema is for a string, the only type there is.
	// +required
	StringSchema *StringSchema `json:"stringSchema,omitempty"`
}

// StringSchema says what values a parameter takes that is a string.
//
// +kubebuilder:validation:XValidation:rule="!self.required || !has(self.defaultValue)",messageExpression="'\"' + self.defaultValue + '\" is of no use, for every tenant has to give a value of its own to a required parameter: remove defaultValue, or set required to false'",message="a required parameter has no use for a default: every tenant gives a value; remove it, or set required to false",fieldPath=".defaultValue"
type StringSchema struct {
	// required says whether every tenant has to give a value.
	// +required
	Required *bool `json:"required,omitempty"`

	// defaultValue is the value of a tenant that gives none, 1 to 256 characters.
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
	// +kubebuilder:validation:XValidation:rule="self.endsWith('.amazonaws.com') || self.endsWith('.amazonaws.com.cn')",messageExpression="'\"' + self + '\" is not the domain name of a bucket: give <bucket>.s3.amazonaws.com'",message="must be the domain name of a bucket: <bucket>.s3.amazonaws.com"
	// +required
	Bucket string `json:"bucket,omitempty"`

	// prefix is put before the names of the log files. Absent means nothing.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +optional
	Prefix string `json:"prefix,omitempty"`

	// includeCookies puts cookies into the logs. Absent means false.
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

// DistributionStatus is what the operator found in AWS, and the little it has to remember.
//
// +kubebuilder:validation:MinProperties=0
type DistributionStatus struct {
	ResourceStatus `json:",inline"`

	// domainName is the domain name that CloudFront gave the distribution. A multi-tenant distribution can't
	// be reached by it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	DomainName string `json:"domainName,omitempty"`

	// creations counts the distributions that were created for this object and then deleted outside of
	// Kubernetes: AWS takes a caller reference only once, and this number makes the next one.
	// +kubebuilder:validation:Minimum=1
	// +optional
	Creations int32 `json:"creations,omitempty"`
}
