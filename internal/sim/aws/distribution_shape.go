package aws

// The shapes of a distribution's configuration, member by member. Required members are those of the API's model;
// further ones for updates are in [neededForUpdate].

var distributionShape = fields(
	need("CallerReference", anyText),
	may("Aliases", counted(anyText, "CNAME")),
	may("DefaultRootObject", anyText),
	need("Origins", fields(need("Quantity", number), need("Items", listOf(originShape, "Origin")))),
	may("OriginGroups", counted(originGroupShape, "OriginGroup")),
	need("DefaultCacheBehavior", fields(behaviorMembers...)),
	may("CacheBehaviors", counted(fields(append([]member{need("PathPattern", anyText)}, behaviorMembers...)...), "CacheBehavior")),
	may("CustomErrorResponses", counted(errorResponseShape, "CustomErrorResponse")),
	need("Comment", anyText),
	may("Logging", fields(may("Enabled", flag), may("IncludeCookies", flag), may("Bucket", anyText), may("Prefix", anyText))),
	may("PriceClass", oneOf("PriceClass_100", "PriceClass_200", "PriceClass_All", "None")),
	need("Enabled", flag),
	may("ViewerCertificate", viewerCertificateShape),
	may("Restrictions", fields(need("GeoRestriction", counted(anyText, "Location", need("RestrictionType", oneOf("blacklist", "whitelist", "none")))))),
	may("WebACLId", anyText),
	may("HttpVersion", oneOf("http1.1", "http2", "http3", "http2and3")),
	may("IsIPV6Enabled", flag),
	may("ContinuousDeploymentPolicyId", anyText),
	may("Staging", flag),
	may("AnycastIpListId", anyText),
	may("TenantConfig", fields(may("ParameterDefinitions", listOf(parameterShape, "member", "ParameterDefinition")))),
	may("ConnectionMode", oneOf(modeDirect, modeTenantOnly)),
	may("ViewerMtlsConfig", fields(may("Mode", oneOf("required", "optional", "passthrough")),
		may("TrustStoreConfig", fields(need("TrustStoreId", anyText), may("AdvertiseTrustStoreCaNames", flag), may("IgnoreCertificateExpiry", flag))))),
	may("ConnectionFunctionAssociation", fields(need("Id", anyText))),
	may("CacheTagConfig", fields(need("HeaderName", anyText))),
)

var originShape = fields(
	need("Id", anyText),
	need("DomainName", anyText),
	may("OriginPath", anyText),
	may("CustomHeaders", counted(fields(need("HeaderName", anyText), need("HeaderValue", anyText)), "OriginCustomHeader")),
	may("S3OriginConfig", fields(need("OriginAccessIdentity", anyText), may("OriginReadTimeout", number))),
	may("CustomOriginConfig", fields(
		need("HTTPPort", number),
		need("HTTPSPort", number),
		need("OriginProtocolPolicy", oneOf("http-only", "match-viewer", "https-only")),
		may("OriginSslProtocols", fields(need("Quantity", number), need("Items", listOf(oneOf("SSLv3", "TLSv1", "TLSv1.1", "TLSv1.2"), "SslProtocol")))),
		may("OriginReadTimeout", number),
		may("OriginKeepaliveTimeout", number),
		may("IpAddressType", oneOf("ipv4", "ipv6", "dualstack")),
		may("OriginMtlsConfig", fields(need("ClientCertificateArn", anyText))),
	)),
	may("VpcOriginConfig", fields(need("VpcOriginId", anyText), may("OwnerAccountId", anyText), may("OriginReadTimeout", number), may("OriginKeepaliveTimeout", number))),
	may("ConnectionAttempts", number),
	may("ConnectionTimeout", number),
	may("ResponseCompletionTimeout", number),
	may("OriginShield", fields(need("Enabled", flag), may("OriginShieldRegion", anyText))),
	may("OriginAccessControlId", anyText),
)

var originGroupShape = fields(
	need("Id", anyText),
	need("FailoverCriteria", fields(need("StatusCodes", fields(need("Quantity", number), need("Items", listOf(number, "StatusCode")))))),
	need("Members", fields(need("Quantity", number), need("Items", listOf(fields(need("OriginId", anyText)), "OriginGroupMember")))),
	may("SelectionCriteria", oneOf("default", "media-quality-based")),
)

// behaviorMembers are what the default cache behavior has; every other one has
// a path pattern too.
var behaviorMembers = []member{
	need("TargetOriginId", anyText),
	need("ViewerProtocolPolicy", oneOf("allow-all", "https-only", "redirect-to-https")),
	may("TrustedSigners", counted(anyText, "AwsAccountNumber", need("Enabled", flag))),
	may("TrustedKeyGroups", counted(anyText, "KeyGroup", need("Enabled", flag))),
	may("AllowedMethods", fields(need("Quantity", number), need("Items", listOf(httpMethod, "Method")),
		may("CachedMethods", fields(need("Quantity", number), need("Items", listOf(httpMethod, "Method")))))),
	may("SmoothStreaming", flag),
	may("Compress", flag),
	may("LambdaFunctionAssociations", counted(fields(need("LambdaFunctionARN", anyText), need("EventType", eventType), may("IncludeBody", flag)), "LambdaFunctionAssociation")),
	may("FunctionAssociations", counted(fields(need("FunctionARN", anyText), need("EventType", eventType)), "FunctionAssociation")),
	may("FieldLevelEncryptionId", anyText),
	may("RealtimeLogConfigArn", anyText),
	may("CachePolicyId", anyText),
	may("OriginRequestPolicyId", anyText),
	may("ResponseHeadersPolicyId", anyText),
	may("GrpcConfig", fields(need("Enabled", flag))),
	may("ForwardedValues", fields(
		need("QueryString", flag),
		need("Cookies", fields(need("Forward", oneOf("none", "whitelist", "all")), may("WhitelistedNames", counted(anyText, "Name")))),
		may("Headers", counted(anyText, "Name")),
		may("QueryStringCacheKeys", counted(anyText, "Name")),
	)),
	may("MinTTL", number),
	may("DefaultTTL", number),
	may("MaxTTL", number),
}

var (
	httpMethod = oneOf("GET", "HEAD", "POST", "PUT", "PATCH", "OPTIONS", "DELETE")
	eventType  = oneOf("viewer-request", "viewer-response", "origin-request", "origin-response")
)

var errorResponseShape = fields(
	need("ErrorCode", number),
	may("ResponsePagePath", anyText),
	may("ResponseCode", anyText),
	may("ErrorCachingMinTTL", number),
)

var viewerCertificateShape = fields(
	may("CloudFrontDefaultCertificate", flag),
	may("IAMCertificateId", anyText),
	may("ACMCertificateArn", anyText),
	may("SSLSupportMethod", oneOf("sni-only", "vip", "static-ip")),
	may("MinimumProtocolVersion", oneOf("SSLv3", "TLSv1", "TLSv1_2016", "TLSv1.1_2016", "TLSv1.2_2018", "TLSv1.2_2019",
		"TLSv1.2_2021", "TLSv1.3_2025", "TLSv1.2_2025")),
	may("Certificate", anyText),
	may("CertificateSource", oneOf("cloudfront", "iam", "acm")),
)

var parameterShape = fields(
	need("Name", anyText),
	need("Definition", fields(may("StringSchema", fields(need("Required", flag), may("DefaultValue", anyText), may("Comment", anyText))))),
)

// tagsShape is the tag set of requests that create something.
var tagsShape = fields(may("Items", listOf(fields(need("Key", anyText), may("Value", anyText)), "Tag")))

var distributionWithTagsShape = fields(need("DistributionConfig", distributionShape), need("Tags", tagsShape))

var (
	newGroupShape = fields(need("Name", anyText), may("Ipv6Enabled", flag), may("Tags", tagsShape), may("AnycastIpListId", anyText), may("Enabled", flag))
	groupShape    = fields(may("Ipv6Enabled", flag), may("AnycastIpListId", anyText), may("Enabled", flag))
)
