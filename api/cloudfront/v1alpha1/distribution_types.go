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
// +kubebuilder:validation:XValidation:rule="self.connectionMode != 'direct' || !has(self.aliases) || size(self.aliases) == 0 || has(self.viewerCertificate)",messageExpression="'\"' + self.aliases[0] + '\" and all other aliases need a certificate that covers them: set viewerCertificate.acmCertificateArn'",message="aliases need a certificate that covers them: set viewerCertificate.acmCertificateArn",fieldPath=".viewerCertificate"
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
	// Absent means CloudFront's own, which covers no domain but CloudFront's.
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

// Origin is a server that CloudFront fetches content from.
//
// +kubebuilder:validation:XValidation:rule="[has(self.customOriginConfig), has(self.s3OriginConfig), has(self.vpcOriginConfig)].filter(x, x).size() == 1",messageExpression="'the origin \"' + self.id + (has(self.customOriginConfig) || has(self.s3OriginConfig) || has(self.vpcOriginConfig) ? '\" has more than one' : '\" has none') + ' of customOriginConfig, s3OriginConfig ({} is enough) and vpcOriginConfig, and is of exactly one kind: set one of them'",message="an origin is of exactly one kind: set one of customOriginConfig, s3OriginConfig ({} is enough) and vpcOriginConfig"
// +kubebuilder:validation:XValidation:rule="!has(self.responseCompletionTimeout) || self.responseCompletionTimeout >= self.?customOriginConfig.?originReadTimeout.orValue(self.?s3OriginConfig.?originReadTimeout.orValue(self.?vpcOriginConfig.?originReadTimeout.orValue(30)))",messageExpression="'the whole answer of the origin \"' + self.id + '\" is given less time than originReadTimeout (30 seconds where it is absent) gives a part of it: raise the one, or lower the other'",message="the whole answer is given less time than originReadTimeout (30 seconds where it is absent) gives a part of it: raise the one, or lower the other",fieldPath=".responseCompletionTimeout"
type Origin struct {
	// id is how the origin is named in this object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +required
	ID string `json:"id,omitempty"`

	// domainName is the DNS name of the server, or of the bucket. For a multi-tenant distribution it may have
	// up to two parameters, as in {{region}}.origin.example.com.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z0-9._-]|[{][{][^{}]*[}][}])+$')",messageExpression="'\"' + self + '\" is not the DNS name of an origin: no scheme, port or path; a parameter is written {{name}}'",message="must be a DNS name, without scheme, port or path; a parameter is written {{name}}"
	// +kubebuilder:validation:XValidation:rule="!self.matches('[{][{].*[{][{].*[{][{]')",messageExpression="'\"' + self + '\" has more than two parameters, and CloudFront takes at most two in a domainName: remove one'",message="CloudFront takes at most two parameters in a domainName: remove one"
	// +required
	DomainName string `json:"domainName,omitempty"`

	// originPath is put before the path of each request: it starts with a slash and does not end with one,
	// at most 255 characters. For a multi-tenant distribution it may have up to two parameters, as in
	// /customers/{{tenant}}. Absent means nothing.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.startsWith('/') && !self.endsWith('/')",messageExpression="'\"' + self + '\" is no origin path: start it with a slash, and end it without one'",message="start the path with a slash, and end it without one"
	// +kubebuilder:validation:XValidation:rule="!self.matches('[{][{].*[{][{].*[{][{]')",messageExpression="'\"' + self + '\" has more than two parameters, and CloudFront takes at most two in an originPath: remove one'",message="CloudFront takes at most two parameters in an originPath: remove one"
	// +optional
	OriginPath string `json:"originPath,omitempty"`

	// customHeaders are sent to the origin with every request, at most 30. They stand in this object for
	// everybody to read who may read it. Absent means none.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=30
	// +kubebuilder:validation:XValidation:rule="self.all(h, self.exists_one(o, o.name.lowerAscii() == h.name.lowerAscii()))",messageExpression="'\"' + self.map(h, !self.exists_one(o, o.name.lowerAscii() == h.name.lowerAscii()), h.name)[0] + '\" is given twice, for capital and small letters are one in the name of a header: remove one'",message="a header is given twice, for capital and small letters are one in its name: remove one"
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

	// originAccessControlId is the ID of the origin access control with which CloudFront signs its requests.
	// Absent means that it does not sign.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_-]+$')",messageExpression="'\"' + self + '\" is not the ID of an origin access control: give the ID, not the ARN or the name'",message="must be the ID of an origin access control, not its ARN or name"
	// +optional
	OriginAccessControlID string `json:"originAccessControlId,omitempty"`

	// originShield puts one more cache before the origin. Absent means none.
	// +optional
	OriginShield *OriginShield `json:"originShield,omitempty"`

	// connectionAttempts is how often CloudFront tries to connect, 1 to 3. Absent means 3.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3
	// +optional
	ConnectionAttempts int32 `json:"connectionAttempts,omitempty"`

	// connectionTimeout is how many seconds CloudFront waits for a connection, 1 to 10. Absent means 10.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	// +optional
	ConnectionTimeout int32 `json:"connectionTimeout,omitempty"`

	// responseCompletionTimeout is how many seconds the whole answer may take, at least originReadTimeout.
	// Absent means no limit.
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
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9!#$%&*+.^_|~-]+$')",messageExpression="'\"' + self + '\" is no header name: use letters, digits and hyphens'",message="use letters, digits and hyphens"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^(?i)(cache-control|connection|content-length|cookie|host|if-match|if-modified-since|if-none-match|if-range|if-unmodified-since|max-forwards|pragma|proxy-authenticate|proxy-authorization|proxy-connection|range|request-range|te|trailer|transfer-encoding|upgrade|via|x-real-ip|x-amz-.*|x-edge-.*)$')",messageExpression="'\"' + self + '\" is a header that CloudFront does not let a distribution set: remove it, or forward that of the viewer with an origin request policy'",message="CloudFront does not let a distribution set this header: remove it, or forward that of the viewer with an origin request policy"
	// +required
	Name string `json:"name,omitempty"`

	// value is its value, at most 1783 characters.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1783
	// +required
	Value string `json:"value,omitempty"`
}

// CustomOriginConfig says how CloudFront speaks to a web server.
//
// +kubebuilder:validation:MinProperties=0
type CustomOriginConfig struct {
	// originProtocolPolicy is https-only, http-only, or match-viewer (the protocol that the viewer uses).
	// Absent means https-only.
	// +kubebuilder:default=https-only
	// +optional
	OriginProtocolPolicy OriginProtocolPolicy `json:"originProtocolPolicy,omitempty"`

	// httpPort is the port for HTTP: 80, 443, or 1024 to 65535. Absent means 80.
	// +kubebuilder:validation:Minimum=80
	// +kubebuilder:validation:Maximum=65535
	// +kubebuilder:validation:XValidation:rule="self == 80 || self == 443 || self >= 1024",message="CloudFront connects to the ports 80, 443 and 1024 to 65535 only: use one of these"
	// +optional
	HTTPPort int32 `json:"httpPort,omitempty"`

	// httpsPort is the port for HTTPS: 80, 443, or 1024 to 65535. Absent means 443.
	// +kubebuilder:validation:Minimum=80
	// +kubebuilder:validation:Maximum=65535
	// +kubebuilder:validation:XValidation:rule="self == 80 || self == 443 || self >= 1024",message="CloudFront connects to the ports 80, 443 and 1024 to 65535 only: use one of these"
	// +optional
	HTTPSPort int32 `json:"httpsPort,omitempty"`

	// originSslProtocols are the versions of TLS that CloudFront may use. Absent means TLSv1.2 alone.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	// +listType=set
	// +optional
	OriginSSLProtocols []SSLProtocol `json:"originSslProtocols,omitempty"`

	// originReadTimeout is how many seconds CloudFront waits for the answer, 1 to 180. More than AWS
	// grants the account, 120 as a rule, needs a raised quota. Absent means 30.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=180
	// +optional
	OriginReadTimeout int32 `json:"originReadTimeout,omitempty"`

	// originKeepaliveTimeout is how many seconds an idle connection is kept, 1 to 180. More than AWS
	// grants the account, 120 as a rule, needs a raised quota. Absent means 5.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=180
	// +optional
	OriginKeepaliveTimeout int32 `json:"originKeepaliveTimeout,omitempty"`

	// ipAddressType says over which addresses CloudFront connects: ipv4, ipv6, or dualstack. Absent means
	// ipv4.
	// +optional
	IPAddressType IPAddressType `json:"ipAddressType,omitempty"`
}

// S3OriginConfig says how CloudFront reads a bucket.
//
// +kubebuilder:validation:MinProperties=0
type S3OriginConfig struct {
	// originReadTimeout is how many seconds CloudFront waits for the answer, 1 to 180. Absent means 30.
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
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_-]+$')",messageExpression="'\"' + self + '\" is not the ID of a VPC origin: give the ID, not the ARN or the name'",message="must be the ID of a VPC origin, not its ARN or name"
	// +required
	VPCOriginID string `json:"vpcOriginId,omitempty"`

	// ownerAccountId is the AWS account that owns the VPC origin. Absent means the distribution's own.
	// +kubebuilder:validation:MinLength=12
	// +kubebuilder:validation:MaxLength=12
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]{12}$')",messageExpression="'\"' + self + '\" is not the ID of an AWS account, which is 12 digits'",message="the ID of an AWS account is 12 digits"
	// +optional
	OwnerAccountID string `json:"ownerAccountId,omitempty"`

	// originReadTimeout is how many seconds CloudFront waits for the answer, 1 to 180. Absent means 30.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=180
	// +optional
	OriginReadTimeout int32 `json:"originReadTimeout,omitempty"`

	// originKeepaliveTimeout is how many seconds an idle connection is kept, 1 to 180. Absent means 5.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=180
	// +optional
	OriginKeepaliveTimeout int32 `json:"originKeepaliveTimeout,omitempty"`
}

// OriginShield is one more cache before an origin.
type OriginShield struct {
	// originShieldRegion is the AWS region of the cache, best the one closest to the origin.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]{2}(-[a-z]+)+-[0-9]$')",messageExpression="'\"' + self + '\" is no AWS region like eu-central-1'",message="must be an AWS region like eu-central-1"
	// +required
	OriginShieldRegion string `json:"originShieldRegion,omitempty"`
}

// OriginGroup is a pair of origins of which the second takes over when the first fails.
type OriginGroup struct {
	// id is how the group is named in this object.
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
	// +kubebuilder:validation:XValidation:rule="size(self) != 2 || self[0].originId != self[1].originId",messageExpression="'\"' + self[0].originId + '\" is both members, and can not take over from itself: name another origin'",message="the two members must be different origins: name another one"
	// +listType=atomic
	// +required
	Members []OriginGroupMember `json:"members,omitempty"`

	// selectionCriteria is default, or media-quality-based for the better of two media streams. Absent means
	// default.
	// +optional
	SelectionCriteria OriginSelectionCriteria `json:"selectionCriteria,omitempty"`
}

// FailoverCriteria say when an origin counts as failed.
type FailoverCriteria struct {
	// statusCodes are the answers of the primary origin on which the secondary is asked.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=9
	// +listType=set
	// +required
	StatusCodes []FailoverStatusCode `json:"statusCodes,omitempty"`
}

// FailoverStatusCode is a status on which an origin group can fail over.
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

// CacheBehavior says how requests for some paths are handled.
type CacheBehavior struct {
	// pathPattern is the path that this behavior is for, such as /images/*.jpg: at most 255 characters, * stands for
	// any number of characters and ? for one.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_.*$/~@:+&?-]+$')",messageExpression="'\"' + self + '\" is no path pattern: use letters, digits, _ - . * ? $ / ~ @ : + and &, and neither a query nor spaces'",message="use letters, digits, _ - . * ? $ / ~ @ : + and &, and neither a query nor spaces"
	// +required
	PathPattern string `json:"pathPattern,omitempty"`

	CacheBehaviorSettings `json:",inline"`
}

// CacheBehaviorSettings say how requests are handled.
//
// +kubebuilder:validation:XValidation:rule="!has(self.cachedMethods) || self.cachedMethods.all(m, has(self.allowedMethods) ? m in self.allowedMethods : m in ['GET','HEAD'])",messageExpression="'\"' + self.cachedMethods.filter(m, !(has(self.allowedMethods) ? m in self.allowedMethods : m in ['GET','HEAD']))[0] + '\" is not among allowedMethods, and only what is allowed can be cached: add it there, or remove it here'",message="only a method that is allowed can be cached: add it to allowedMethods, or remove it here",fieldPath=".cachedMethods"
// +kubebuilder:validation:XValidation:rule="!has(self.grpcConfig) || !self.grpcConfig.enabled || (has(self.allowedMethods) && 'POST' in self.allowedMethods)",message="gRPC uses POST: add all seven methods to allowedMethods, or switch gRPC off",fieldPath=".grpcConfig.enabled"
// +kubebuilder:validation:XValidation:rule="!has(self.functionAssociations) || size(self.functionAssociations) == 0 || !has(self.lambdaFunctionAssociations) || !self.lambdaFunctionAssociations.exists(l, l.eventType.startsWith('viewer-'))",messageExpression="'CloudFront functions and Lambda@Edge functions can not share the events of viewers, and here is one for \"' + self.lambdaFunctionAssociations.map(l, l.eventType.startsWith('viewer-'), l.eventType)[0] + '\": move it to an event of the origin, or remove functionAssociations'",message="CloudFront functions and Lambda@Edge functions can not share the events of viewers: move the Lambda@Edge function to an event of the origin, or remove functionAssociations",fieldPath=".lambdaFunctionAssociations"
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
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9-]*[0-9][A-Za-z0-9-]*$')",messageExpression="'\"' + self + '\" is not the ID of a cache policy: give the ID, such as 658327ea-f89d-4fab-a63d-7e88639e58f6 for AWS managed CachingOptimized, and not the name'",message="must be the ID of a cache policy, not its name"
	// +required
	CachePolicyID string `json:"cachePolicyId,omitempty"`

	// originRequestPolicyId is the ID of the origin request policy. Absent means none.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9-]*[0-9][A-Za-z0-9-]*$')",messageExpression="'\"' + self + '\" is not the ID of an origin request policy: give the ID, and not the name'",message="must be the ID of an origin request policy, not its name"
	// +optional
	OriginRequestPolicyID string `json:"originRequestPolicyId,omitempty"`

	// responseHeadersPolicyId is the ID of the response headers policy. Absent means none.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9-]*[0-9][A-Za-z0-9-]*$')",messageExpression="'\"' + self + '\" is not the ID of a response headers policy: give the ID, and not the name'",message="must be the ID of a response headers policy, not its name"
	// +optional
	ResponseHeadersPolicyID string `json:"responseHeadersPolicyId,omitempty"`

	// allowedMethods are the methods that reach the origin, one of three sets: GET and HEAD; these and OPTIONS; or
	// all seven. Absent means GET and HEAD.
	// +kubebuilder:validation:MinItems=2
	// +kubebuilder:validation:MaxItems=7
	// +kubebuilder:validation:XValidation:rule="'GET' in self && 'HEAD' in self && (size(self) == 2 || size(self) == 7 || (size(self) == 3 && 'OPTIONS' in self))",messageExpression="'[' + self.join(', ') + '] is none of the three sets of methods that CloudFront takes: write GET and HEAD; GET, HEAD and OPTIONS; or all seven'",message="write one of three sets of methods: GET and HEAD; GET, HEAD and OPTIONS; or all seven"
	// +listType=set
	// +optional
	AllowedMethods []Method `json:"allowedMethods,omitempty"`

	// cachedMethods are the methods whose answers are cached: GET and HEAD, or these and OPTIONS. Absent means
	// GET and HEAD.
	// +kubebuilder:validation:MinItems=2
	// +kubebuilder:validation:MaxItems=3
	// +kubebuilder:validation:XValidation:rule="'GET' in self && 'HEAD' in self && (size(self) == 2 || 'OPTIONS' in self)",messageExpression="'[' + self.join(', ') + '] is none of the two sets of methods that CloudFront caches: write GET and HEAD, or GET, HEAD and OPTIONS'",message="write GET and HEAD, or GET, HEAD and OPTIONS"
	// +listType=set
	// +optional
	CachedMethods []Method `json:"cachedMethods,omitempty"`

	// compress lets CloudFront compress answers for viewers that can take it. Absent means false.
	// +optional
	Compress *bool `json:"compress,omitempty"`

	// functionAssociations are CloudFront functions, at most one for each event. Absent means none.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=2
	// +listType=map
	// +listMapKey=eventType
	// +optional
	FunctionAssociations []FunctionAssociation `json:"functionAssociations,omitempty"`

	// lambdaFunctionAssociations are Lambda@Edge functions, at most one for each event. Absent means none.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=4
	// +listType=map
	// +listMapKey=eventType
	// +optional
	LambdaFunctionAssociations []LambdaFunctionAssociation `json:"lambdaFunctionAssociations,omitempty"`

	// trustedKeyGroups are the IDs of the key groups whose keys sign URLs and cookies; only signed requests are
	// answered then. Absent means that all are.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^[A-Za-z0-9_-]+$'))",messageExpression="'\"' + self.map(k, !k.matches('^[A-Za-z0-9_-]+$'), k)[0] + '\" is not the ID of a key group: give the ID, not the ARN or the name'",message="must be the ID of a key group, not its ARN or name"
	// +listType=set
	// +optional
	TrustedKeyGroups []string `json:"trustedKeyGroups,omitempty"`

	// fieldLevelEncryptionId is the ID of the field-level encryption configuration. Absent means none.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_-]+$')",messageExpression="'\"' + self + '\" is not the ID of a field-level encryption configuration: give the ID, not the ARN or the name'",message="must be the ID of a field-level encryption configuration, not its ARN or name"
	// +optional
	FieldLevelEncryptionID string `json:"fieldLevelEncryptionId,omitempty"`

	// grpcConfig lets gRPC through. Absent means that it does not.
	// +optional
	GRPCConfig *GRPCConfig `json:"grpcConfig,omitempty"`
}

// GRPCConfig says whether gRPC requests reach the origin.
type GRPCConfig struct {
	// enabled lets them through.
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
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws(-[a-z]+)*:cloudfront::[0-9]{12}:function/[a-zA-Z0-9_-]{1,64}$')",messageExpression="'\"' + self + '\" is not the ARN of a CloudFront function: give arn:aws:cloudfront::<account>:function/<name>'",message="must be the ARN of a CloudFront function: arn:aws:cloudfront::<account>:function/<name>"
	// +required
	FunctionARN string `json:"functionArn,omitempty"`
}

// LambdaFunctionAssociation runs a Lambda@Edge function.
//
// +kubebuilder:validation:XValidation:rule="!has(self.includeBody) || !self.includeBody || self.eventType.endsWith('-request')",messageExpression="'the event \"' + self.eventType + '\" has no body of a request: remove includeBody, or choose viewer-request or origin-request'",message="only viewer-request and origin-request have the body of a request: remove includeBody, or choose one of these",fieldPath=".includeBody"
type LambdaFunctionAssociation struct {
	// eventType is viewer-request, viewer-response, origin-request or origin-response.
	// +required
	EventType LambdaEventType `json:"eventType,omitempty"`

	// lambdaFunctionArn is the ARN of a version of a function in us-east-1, with the number of the version at
	// its end.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws(-[a-z]+)*:lambda:us-east-1:[0-9]{12}:function:[a-zA-Z0-9_-]{1,64}:[0-9]+$')",messageExpression="'\"' + self + '\" is not the ARN of a numbered version of a function in us-east-1: publish a version there and give its ARN, arn:aws:lambda:us-east-1:<account>:function:<name>:<version>; $LATEST and aliases are not taken'",message="must be the ARN of a numbered version of a function in us-east-1"
	// +required
	LambdaFunctionARN string `json:"lambdaFunctionArn,omitempty"`

	// includeBody gives the function the body of the request. Absent means false.
	// +optional
	IncludeBody *bool `json:"includeBody,omitempty"`
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
// +kubebuilder:validation:XValidation:rule="has(self.acmCertificateArn) != has(self.iamCertificateId)",messageExpression="(has(self.acmCertificateArn) ? 'two certificates are named, and' : 'no certificate is named, and') + ' a distribution has exactly one: name it in acmCertificateArn, or in iamCertificateId for a standard distribution; without viewerCertificate CloudFront uses its own'",message="name exactly one certificate: acmCertificateArn, or iamCertificateId for a standard distribution; without viewerCertificate CloudFront uses its own"
// +kubebuilder:validation:MinProperties=0
type ViewerCertificate struct {
	// acmCertificateArn is the ARN of an AWS Certificate Manager certificate in us-east-1, the only region
	// CloudFront takes certificates from, of any partition.
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

	// minimumProtocolVersion is the security policy of connections with viewers. Absent means TLSv1.2_2021.
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

// OriginProtocolPolicy says how CloudFront speaks to a web server.
// +kubebuilder:validation:Enum=https-only;http-only;match-viewer
type OriginProtocolPolicy string

// OriginProtocolHTTPSOnly is HTTPS, the default.
const OriginProtocolHTTPSOnly OriginProtocolPolicy = "https-only"

// SSLProtocol is a version of TLS for connections with origins.
// +kubebuilder:validation:Enum=SSLv3;TLSv1;TLSv1.1;TLSv1.2
type SSLProtocol string

// SSLProtocolTLS12 is TLS 1.2, the default.
const SSLProtocolTLS12 SSLProtocol = "TLSv1.2"

// IPAddressType says over which addresses CloudFront connects to an origin.
// +kubebuilder:validation:Enum=ipv4;ipv6;dualstack
type IPAddressType string

// IPAddressTypeIPv4 is IPv4, the default.
const IPAddressTypeIPv4 IPAddressType = "ipv4"

// OriginSelectionCriteria says how an origin group chooses.
// +kubebuilder:validation:Enum=default;media-quality-based
type OriginSelectionCriteria string

// OriginSelectionDefault fails over by status codes, the default.
const OriginSelectionDefault OriginSelectionCriteria = "default"

// ViewerProtocolPolicy says what becomes of requests over HTTP.
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
