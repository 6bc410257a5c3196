package aws_test

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

type (
	configChange = func(*types.DistributionConfig)
	refusedCase  struct {
		change configChange
		status int
		code   string
		text   string
	}
)

// fullOrigins are three origins, one of each kind, and a group of two of them.
func fullOrigins(c *types.DistributionConfig) {
	c.Origins = &types.Origins{Quantity: sdk.Int32(3), Items: []types.Origin{
		{
			Id: sdk.String("app"), DomainName: sdk.String("{{tenantId}}.origin.example.com"), OriginPath: sdk.String("/{{tier}}/v1"),
			CustomHeaders: headers("X-Tenant-Key", "s3cret"), ConnectionAttempts: sdk.Int32(2), ConnectionTimeout: sdk.Int32(4), ResponseCompletionTimeout: sdk.Int32(90),
			OriginShield: &types.OriginShield{Enabled: sdk.Bool(true), OriginShieldRegion: sdk.String("eu-central-1")},
			CustomOriginConfig: &types.CustomOriginConfig{
				HTTPPort: sdk.Int32(8080), HTTPSPort: sdk.Int32(8443), OriginProtocolPolicy: types.OriginProtocolPolicyMatchViewer,
				OriginReadTimeout: sdk.Int32(60), OriginKeepaliveTimeout: sdk.Int32(20), IpAddressType: types.IpAddressTypeDualStack,
				OriginSslProtocols: &types.OriginSslProtocols{Quantity: sdk.Int32(1), Items: []types.SslProtocol{types.SslProtocolTLSv12}},
			},
		},
		{
			Id: sdk.String("bucket"), DomainName: sdk.String("assets.s3.eu-central-1.amazonaws.com"), OriginAccessControlId: sdk.String("E1OAC"),
			S3OriginConfig: &types.S3OriginConfig{OriginAccessIdentity: sdk.String("")},
		},
		{
			Id: sdk.String("private"), DomainName: sdk.String("internal-alb.eu-central-1.elb.amazonaws.com"),
			VpcOriginConfig: &types.VpcOriginConfig{VpcOriginId: sdk.String("vo_1"), OwnerAccountId: sdk.String(foreignAcct)},
		},
	}}
	c.OriginGroups = &types.OriginGroups{Quantity: sdk.Int32(1), Items: []types.OriginGroup{{
		Id:               sdk.String("pair"),
		FailoverCriteria: &types.OriginGroupFailoverCriteria{StatusCodes: &types.StatusCodes{Quantity: sdk.Int32(2), Items: []int32{500, 503}}},
		Members: &types.OriginGroupMembers{Quantity: sdk.Int32(2), Items: []types.OriginGroupMember{
			{OriginId: sdk.String("app")}, {OriginId: sdk.String("private")},
		}},
	}}}
}

func headers(pairs ...string) *types.CustomHeaders {
	out := &types.CustomHeaders{Quantity: sdk.Int32(int32(len(pairs) / 2))}
	for i := 0; i < len(pairs); i += 2 {
		out.Items = append(out.Items, types.OriginCustomHeader{HeaderName: &pairs[i], HeaderValue: &pairs[i+1]})
	}
	return out
}

func methods(names ...types.Method) *types.AllowedMethods {
	return &types.AllowedMethods{Quantity: sdk.Int32(int32(len(names))), Items: names}
}

var allMethods = []types.Method{"GET", "HEAD", "OPTIONS", "PUT", "PATCH", "POST", "DELETE"}

// withBehavior adds a behavior for /api/*, changed.
func withBehavior(changes ...func(*types.CacheBehavior)) configChange {
	return func(c *types.DistributionConfig) {
		if c.CacheBehaviors == nil {
			c.CacheBehaviors = &types.CacheBehaviors{Quantity: sdk.Int32(0)}
		}
		b := types.CacheBehavior{
			PathPattern: sdk.String("/api/*"), TargetOriginId: sdk.String("app"), ViewerProtocolPolicy: types.ViewerProtocolPolicyHttpsOnly,
			CachePolicyId: sdk.String("4135ea2d-6df8-44a3-9df3-4b5a84be39ad"), OriginRequestPolicyId: sdk.String("216adef6-5c7f-47e4-b989-5492eafa07d3"),
		}
		for _, change := range changes {
			change(&b)
		}
		c.CacheBehaviors.Items = append(c.CacheBehaviors.Items, b)
		c.CacheBehaviors.Quantity = sdk.Int32(int32(len(c.CacheBehaviors.Items)))
	}
}

func fullBehavior(b *types.CacheBehavior) {
	b.TargetOriginId = sdk.String("pair")
	b.AllowedMethods = methods(allMethods...)
	b.AllowedMethods.CachedMethods = &types.CachedMethods{Quantity: sdk.Int32(3), Items: []types.Method{"GET", "HEAD", "OPTIONS"}}
	b.FunctionAssociations = functions("viewer-request", "viewer-response")
	b.LambdaFunctionAssociations = lambdas(types.EventTypeOriginRequest)
	b.LambdaFunctionAssociations.Items[0].IncludeBody = sdk.Bool(true)
	b.TrustedKeyGroups = &types.TrustedKeyGroups{Enabled: sdk.Bool(true), Quantity: sdk.Int32(1), Items: []string{"kg-1"}}
	b.GrpcConfig = &types.GrpcConfig{Enabled: sdk.Bool(true)}
	b.Compress, b.FieldLevelEncryptionId, b.ResponseHeadersPolicyId = sdk.Bool(true), sdk.String("FLE1"), sdk.String("67f7725c-6f97-4210-82d7-5512b31e9d03")
}

func functions(events ...types.EventType) *types.FunctionAssociations {
	out := &types.FunctionAssociations{Quantity: sdk.Int32(int32(len(events)))}
	for _, event := range events {
		out.Items = append(out.Items, types.FunctionAssociation{EventType: event, FunctionARN: sdk.String("arn:aws:cloudfront::111122223333:function/rewrite")})
	}
	return out
}

func lambdas(events ...types.EventType) *types.LambdaFunctionAssociations {
	out := &types.LambdaFunctionAssociations{Quantity: sdk.Int32(int32(len(events)))}
	for _, event := range events {
		out.Items = append(out.Items, types.LambdaFunctionAssociation{EventType: event, LambdaFunctionARN: sdk.String("arn:aws:lambda:us-east-1:111122223333:function:edge:7")})
	}
	return out
}

// fullConfig uses whatever a multi-tenant distribution can have.
func fullConfig(c *types.DistributionConfig) {
	fullOrigins(c)
	withBehavior(fullBehavior)(c)
	c.DefaultRootObject, c.HttpVersion = sdk.String("index.html"), types.HttpVersionHttp2and3
	c.WebACLId = sdk.String("arn:aws:wafv2:us-east-1:111122223333:global/webacl/shared/a1b2")
	c.CustomErrorResponses = errorResponses(
		types.CustomErrorResponse{ErrorCode: sdk.Int32(404), ResponseCode: sdk.String("200"), ResponsePagePath: sdk.String("/index.html"), ErrorCachingMinTTL: sdk.Int64(0)},
		types.CustomErrorResponse{ErrorCode: sdk.Int32(502), ErrorCachingMinTTL: sdk.Int64(3)},
	)
	c.Restrictions = &types.Restrictions{GeoRestriction: &types.GeoRestriction{RestrictionType: types.GeoRestrictionTypeWhitelist, Quantity: sdk.Int32(3), Items: []string{"DE", "AT", "CH"}}}
}

func errorResponses(list ...types.CustomErrorResponse) *types.CustomErrorResponses {
	return &types.CustomErrorResponses{Quantity: sdk.Int32(int32(len(list))), Items: list}
}

func originChange(index int, change func(*types.Origin)) configChange {
	return func(c *types.DistributionConfig) {
		fullOrigins(c)
		change(&c.Origins.Items[index])
	}
}

func groupChange(change func(*types.OriginGroup)) configChange {
	return func(c *types.DistributionConfig) {
		fullOrigins(c)
		change(&c.OriginGroups.Items[0])
	}
}

func certificate(change func(*types.ViewerCertificate)) configChange {
	return func(c *types.DistributionConfig) { change(c.ViewerCertificate) }
}

func TestDistributionOriginRefusals(t *testing.T) {
	refuseAll(t, map[string]refusedCase{
		"no origins": {func(c *types.DistributionConfig) {
			c.Origins = &types.Origins{Quantity: sdk.Int32(0), Items: []types.Origin{}}
		}, 400, "MalformedInput", ""},
		"an origin without an id":            {originChange(0, func(o *types.Origin) { o.Id = sdk.String("") }), 400, "InvalidArgument", "Id"},
		"two origins with one id":            {originChange(0, func(o *types.Origin) { o.Id = sdk.String("bucket") }), 400, "InvalidArgument", "twice"},
		"a domain with a scheme":             {originChange(0, func(o *types.Origin) { o.DomainName = sdk.String("https://o.example.com") }), 400, "InvalidArgument", "domain name"},
		"an IP address":                      {originChange(0, func(o *types.Origin) { o.DomainName = sdk.String("192.0.2.1") }), 400, "InvalidArgument", "domain name"},
		"an empty domain":                    {originChange(0, func(o *types.Origin) { o.DomainName = sdk.String("") }), 400, "InvalidArgument", "domain name"},
		"a path without a slash":             {originChange(0, func(o *types.Origin) { o.OriginPath = sdk.String("v1") }), 400, "InvalidRelativePath", "v1"},
		"a path that ends with one":          {originChange(0, func(o *types.Origin) { o.OriginPath = sdk.String("/v1/") }), 400, "InvalidRelativePath", "/v1/"},
		"braces that refer to nothing":       {originChange(0, func(o *types.Origin) { o.OriginPath = sdk.String("/{{tier}") }), 400, "InvalidArgument", "braces"},
		"two kinds of origin in one":         {originChange(1, func(o *types.Origin) { o.VpcOriginConfig = &types.VpcOriginConfig{VpcOriginId: sdk.String("vo_1")} }), 400, "InvalidOrigin", "2"},
		"an S3 origin that is no bucket":     {originChange(1, func(o *types.Origin) { o.DomainName = sdk.String("www.example.com") }), 400, "InvalidOrigin", "bucket"},
		"the website of a bucket":            {originChange(1, func(o *types.Origin) { o.DomainName = sdk.String("assets.s3-website.eu-central-1.example.com") }), 400, "InvalidOrigin", "bucket"},
		"access control on a web server":     {originChange(0, func(o *types.Origin) { o.OriginAccessControlId = sdk.String("E1OAC") }), 400, "InvalidDomainNameForOriginAccessControl", ""},
		"a VPC origin without an id":         {originChange(2, func(o *types.Origin) { o.VpcOriginConfig.VpcOriginId = sdk.String("") }), 400, "InvalidArgument", "VpcOriginId"},
		"an owner that is no account":        {originChange(2, func(o *types.Origin) { o.VpcOriginConfig.OwnerAccountId = sdk.String("me") }), 400, "InvalidArgument", "OwnerAccountId"},
		"port 81":                            {originChange(0, func(o *types.Origin) { o.CustomOriginConfig.HTTPPort = sdk.Int32(81) }), 400, "InvalidArgument", "HTTPPort"},
		"port 65536":                         {originChange(0, func(o *types.Origin) { o.CustomOriginConfig.HTTPSPort = sdk.Int32(65536) }), 400, "InvalidArgument", "HTTPSPort"},
		"an unknown protocol":                {originChange(0, func(o *types.Origin) { o.CustomOriginConfig.OriginProtocolPolicy = "gopher-only" }), 400, "MalformedXML", "originProtocolPolicy"},
		"a version of TLS that is none":      {originChange(0, func(o *types.Origin) { o.CustomOriginConfig.OriginSslProtocols.Items[0] = "TLSv9" }), 400, "MalformedXML", "originSslProtocols"},
		"an address type that is none":       {originChange(0, func(o *types.Origin) { o.CustomOriginConfig.IpAddressType = "ipv5" }), 400, "MalformedXML", "ipAddressType"},
		"a read timeout of 0":                {originChange(0, func(o *types.Origin) { o.CustomOriginConfig.OriginReadTimeout = sdk.Int32(0) }), 400, "InvalidOriginReadTimeout", ""},
		"a read timeout above the quota":     {originChange(2, func(o *types.Origin) { o.VpcOriginConfig.OriginReadTimeout = sdk.Int32(121) }), 400, "InvalidOriginReadTimeout", "120"},
		"a keep-alive timeout above it":      {originChange(0, func(o *types.Origin) { o.CustomOriginConfig.OriginKeepaliveTimeout = sdk.Int32(121) }), 400, "InvalidOriginKeepaliveTimeout", "120"},
		"completion before the read timeout": {originChange(0, func(o *types.Origin) { o.ResponseCompletionTimeout = sdk.Int32(59) }), 400, "InvalidArgument", "ResponseCompletionTimeout"},
		"four attempts":                      {originChange(0, func(o *types.Origin) { o.ConnectionAttempts = sdk.Int32(4) }), 400, "InvalidArgument", "ConnectionAttempts"},
		"eleven seconds to connect":          {originChange(0, func(o *types.Origin) { o.ConnectionTimeout = sdk.Int32(11) }), 400, "InvalidArgument", "ConnectionTimeout"},
		"a shield without a region":          {originChange(0, func(o *types.Origin) { o.OriginShield.OriginShieldRegion = nil }), 400, "InvalidArgument", "OriginShieldRegion"},
		"a shield in no region":              {originChange(0, func(o *types.Origin) { o.OriginShield.OriginShieldRegion = sdk.String("Frankfurt") }), 400, "InvalidArgument", "OriginShieldRegion"},
		"a header that is CloudFront's":      {originChange(0, func(o *types.Origin) { o.CustomHeaders = headers("Host", "x") }), 400, "InvalidArgument", "Host"},
		"a header of AWS's":                  {originChange(0, func(o *types.Origin) { o.CustomHeaders = headers("X-Amz-Key", "x") }), 400, "InvalidArgument", "X-Amz-Key"},
		"a header of the edge's":             {originChange(0, func(o *types.Origin) { o.CustomHeaders = headers("x-edge-key", "x") }), 400, "InvalidArgument", "x-edge-key"},
		"one header twice":                   {originChange(0, func(o *types.Origin) { o.CustomHeaders = headers("X-Key", "x", "x-key", "y") }), 400, "InvalidArgument", "twice"},
		"a header name with a space":         {originChange(0, func(o *types.Origin) { o.CustomHeaders = headers("X Key", "x") }), 400, "InvalidArgument", "X Key"},
		"a header without a value":           {originChange(0, func(o *types.Origin) { o.CustomHeaders = headers("X-Key", "") }), 400, "InvalidArgument", "X-Key"},
		"a value that is too long":           {originChange(0, func(o *types.Origin) { o.CustomHeaders = headers("X-Key", strings.Repeat("x", 1784)) }), 400, "InvalidArgument", "X-Key"},
		"a parameter in a header":            {originChange(0, func(o *types.Origin) { o.CustomHeaders = headers("X-Tenant", "{{tenantId}}") }), 400, "InvalidArgument", "HeaderValue"},
		"a parameter in an id":               {func(c *types.DistributionConfig) { c.DefaultRootObject = sdk.String("{{tier}}") }, 400, "InvalidDefaultRootObject", "tier"},
		"a parameter in a path pattern":      {withBehavior(func(b *types.CacheBehavior) { b.PathPattern = sdk.String("/{{tier}}/*") }), 400, "InvalidArgument", "PathPattern"},
		"a parameter of a standard one":      {func(c *types.DistributionConfig) { direct(c); c.Origins.Items[0].OriginPath = sdk.String("/{{tier}}") }, 400, "InvalidArgument", "multi-tenant"},
		"an access identity and control": {func(c *types.DistributionConfig) {
			direct(c)
			oai(c)
			c.Origins.Items[0].OriginAccessControlId = sdk.String("E1OAC")
		}, 400, "IllegalOriginAccessConfiguration", ""},
		"an access identity that is none": {func(c *types.DistributionConfig) {
			direct(c)
			oai(c)
			c.Origins.Items[0].S3OriginConfig.OriginAccessIdentity = sdk.String("E1OAI")
		}, 400, "InvalidOriginAccessIdentity", "E1OAI"},
		"a group of one":                   {groupChange(func(g *types.OriginGroup) { g.Members.Items, g.Members.Quantity = g.Members.Items[:1], sdk.Int32(1) }), 400, "InvalidArgument", "two members"},
		"a group with an unknown origin":   {groupChange(func(g *types.OriginGroup) { g.Members.Items[1].OriginId = sdk.String("nope") }), 404, "NoSuchOrigin", "nope"},
		"a group with one origin twice":    {groupChange(func(g *types.OriginGroup) { g.Members.Items[1].OriginId = sdk.String("app") }), 400, "InvalidArgument", "same"},
		"a group with the id of an origin": {groupChange(func(g *types.OriginGroup) { g.Id = sdk.String("bucket") }), 400, "InvalidArgument", "bucket"},
		"a group without status codes": {groupChange(func(g *types.OriginGroup) {
			g.FailoverCriteria.StatusCodes = &types.StatusCodes{Quantity: sdk.Int32(0), Items: []int32{}}
		}), 400, "MalformedInput", ""},
		"a group that fails over on 200":   {groupChange(func(g *types.OriginGroup) { g.FailoverCriteria.StatusCodes.Items[0] = 200 }), 400, "InvalidArgument", "200"},
		"a group with a status code twice": {groupChange(func(g *types.OriginGroup) { g.FailoverCriteria.StatusCodes.Items[0] = 503 }), 400, "InvalidArgument", "twice"},
		"a selection that is none":         {groupChange(func(g *types.OriginGroup) { g.SelectionCriteria = "random" }), 400, "MalformedXML", "selectionCriteria"},
		"a group that counts wrong":        {groupChange(func(g *types.OriginGroup) { g.Members.Quantity = sdk.Int32(3) }), 400, "InconsistentQuantities", "Members"},
		"headers that count wrong":         {originChange(0, func(o *types.Origin) { o.CustomHeaders.Quantity = sdk.Int32(0) }), 400, "InconsistentQuantities", "CustomHeaders"},
		"a default that a tenant can't leave": {func(c *types.DistributionConfig) {
			c.TenantConfig.ParameterDefinitions[1].Definition.StringSchema.DefaultValue = sdk.String("")
		}, 400, "InvalidArgument", "tier"},
		"a definition without a schema": {func(c *types.DistributionConfig) {
			c.TenantConfig.ParameterDefinitions[1].Definition.StringSchema = nil
		}, 400, "InvalidArgument", "StringSchema"},
	})
}

// oai makes the only origin a bucket with an access identity.
func oai(c *types.DistributionConfig) {
	c.Origins.Items[0].CustomOriginConfig = nil
	c.Origins.Items[0].DomainName = sdk.String("assets.s3.amazonaws.com")
	c.Origins.Items[0].S3OriginConfig = &types.S3OriginConfig{OriginAccessIdentity: sdk.String("origin-access-identity/cloudfront/E1OAI")}
}

func TestMutualTLSRefusals(t *testing.T) {
	viewer := func(mode types.ViewerMtlsMode, change configChange) configChange {
		return func(c *types.DistributionConfig) {
			c.ViewerMtlsConfig = &types.ViewerMtlsConfig{Mode: mode, TrustStoreConfig: &types.TrustStoreConfig{TrustStoreId: sdk.String("ts_1")}}
			change(c)
		}
	}
	origin := func(change func(*types.CacheBehavior)) configChange {
		return func(c *types.DistributionConfig) {
			c.Origins.Items[0].CustomOriginConfig.OriginMtlsConfig = &types.OriginMtlsConfig{ClientCertificateArn: sdk.String(certARN(1))}
			withBehavior(change)(c)
		}
	}
	refuseAll(t, map[string]refusedCase{
		"no trust store": {viewer("optional", func(c *types.DistributionConfig) { c.ViewerMtlsConfig.TrustStoreConfig = nil }), 400, "InvalidArgument", "trust store"},
		"HTTP/3":         {viewer("required", func(c *types.DistributionConfig) { c.HttpVersion = "http2and3" }), 400, "InvalidArgument", "HTTP/3"},
		"a behavior that takes HTTP": {
			viewer("passthrough", withBehavior(func(b *types.CacheBehavior) { b.ViewerProtocolPolicy = "allow-all" })), 400, "InvalidArgument", "viewer protocol policy",
		},
		"gRPC to the origin": {origin(func(b *types.CacheBehavior) {
			b.AllowedMethods, b.GrpcConfig = methods(allMethods...), &types.GrpcConfig{Enabled: sdk.Bool(true)}
		}), 400, "InvalidArgument", "gRPC"},
		"Lambda@Edge at the origin": {origin(func(b *types.CacheBehavior) { b.LambdaFunctionAssociations = lambdas("origin-request") }), 400, "InvalidArgument", "Lambda@Edge"},
	})
}

func TestDistributionBehaviorRefusals(t *testing.T) {
	old := func(least, usual, most int64) configChange {
		return func(c *types.DistributionConfig) {
			direct(c)
			b := c.DefaultCacheBehavior
			b.CachePolicyId = nil
			b.ForwardedValues = &types.ForwardedValues{QueryString: sdk.Bool(false), Cookies: &types.CookiePreference{Forward: "none"}} //nolint:staticcheck // deprecated members are simulated too
			if least >= 0 {
				b.MinTTL = &least //nolint:staticcheck // as above
			}
			b.DefaultTTL, b.MaxTTL = &usual, &most //nolint:staticcheck // as above
		}
	}
	arns := func(function, lambda string) func(*types.CacheBehavior) {
		return func(b *types.CacheBehavior) {
			if function != "" {
				b.FunctionAssociations = functions("viewer-request")
				b.FunctionAssociations.Items[0].FunctionARN = &function
			}
			if lambda != "" {
				b.LambdaFunctionAssociations = lambdas("origin-request")
				b.LambdaFunctionAssociations.Items[0].LambdaFunctionARN = &lambda
			}
		}
	}
	refuseAll(t, map[string]refusedCase{
		"a path pattern twice": {func(c *types.DistributionConfig) {
			withBehavior()(c)
			withBehavior(func(b *types.CacheBehavior) { b.PathPattern = sdk.String("api/*") })(c)
		}, 400, "InvalidArgument", "twice"},
		"an empty path pattern":                {withBehavior(func(b *types.CacheBehavior) { b.PathPattern = sdk.String("") }), 400, "InvalidArgument", "PathPattern"},
		"a path pattern with a space":          {withBehavior(func(b *types.CacheBehavior) { b.PathPattern = sdk.String("/a b") }), 400, "InvalidArgument", "PathPattern"},
		"a path pattern of 256 characters":     {withBehavior(func(b *types.CacheBehavior) { b.PathPattern = sdk.String("/" + strings.Repeat("x", 255)) }), 400, "InvalidArgument", "PathPattern"},
		"a target that is not there":           {withBehavior(func(b *types.CacheBehavior) { b.TargetOriginId = sdk.String("nope") }), 404, "NoSuchOrigin", "nope"},
		"a protocol policy that is none":       {withBehavior(func(b *types.CacheBehavior) { b.ViewerProtocolPolicy = "any" }), 400, "MalformedXML", "viewerProtocolPolicy"},
		"no cache policy":                      {withBehavior(func(b *types.CacheBehavior) { b.CachePolicyId = nil }), 400, "InvalidArgument", "CachePolicyId"},
		"the name of a cache policy":           {withBehavior(func(b *types.CacheBehavior) { b.CachePolicyId = sdk.String("Managed CachingOptimized") }), 404, "NoSuchCachePolicy", "Managed"},
		"the name of an origin request policy": {withBehavior(func(b *types.CacheBehavior) { b.OriginRequestPolicyId = sdk.String("All Viewers") }), 404, "NoSuchOriginRequestPolicy", "All"},
		"the name of a headers policy":         {withBehavior(func(b *types.CacheBehavior) { b.ResponseHeadersPolicyId = sdk.String("Simple CORS") }), 404, "NoSuchResponseHeadersPolicy", "CORS"},
		"GET alone":                            {withBehavior(func(b *types.CacheBehavior) { b.AllowedMethods = methods("GET") }), 400, "InvalidArgument", "AllowedMethods"},
		"GET, HEAD and POST":                   {withBehavior(func(b *types.CacheBehavior) { b.AllowedMethods = methods("GET", "HEAD", "POST") }), 400, "InvalidArgument", "AllowedMethods"},
		"GET twice":                            {withBehavior(func(b *types.CacheBehavior) { b.AllowedMethods = methods("GET", "GET") }), 400, "InvalidArgument", "AllowedMethods"},
		"a method that is none":                {withBehavior(func(b *types.CacheBehavior) { b.AllowedMethods = methods("GET", "HEAD", "BREW") }), 400, "MalformedXML", "BREW"},
		"POST is cached":                       {withBehavior(cached("GET", "HEAD", "POST")), 400, "InvalidArgument", "CachedMethods"},
		"OPTIONS is cached and not allowed":    {withBehavior(cached("GET", "HEAD", "OPTIONS")), 400, "InvalidArgument", "CachedMethods"},
		"a function at the origin":             {withBehavior(func(b *types.CacheBehavior) { b.FunctionAssociations = functions("origin-request") }), 400, "InvalidFunctionAssociation", "origin-request"},
		"two functions at one event":           {withBehavior(func(b *types.CacheBehavior) { b.FunctionAssociations = functions("viewer-request", "viewer-request") }), 400, "InvalidFunctionAssociation", "two"},
		"a function that is a Lambda":          {withBehavior(arns("arn:aws:lambda:us-east-1:111122223333:function:edge:7", "")), 400, "InvalidFunctionAssociation", "ARN"},
		"an event that is none":                {withBehavior(func(b *types.CacheBehavior) { b.FunctionAssociations = functions("teardown") }), 400, "MalformedXML", "teardown"},
		"$LATEST":                              {withBehavior(arns("", "arn:aws:lambda:us-east-1:111122223333:function:edge:$LATEST")), 400, "InvalidLambdaFunctionAssociation", "LATEST"},
		"a Lambda of another region":           {withBehavior(arns("", "arn:aws:lambda:eu-central-1:111122223333:function:edge:7")), 400, "InvalidLambdaFunctionAssociation", "eu-central-1"},
		"two Lambdas at one event": {withBehavior(func(b *types.CacheBehavior) {
			b.LambdaFunctionAssociations = lambdas("origin-request", "origin-request")
		}), 400, "InvalidLambdaFunctionAssociation", "two"},
		"both kinds at the viewer": {withBehavior(func(b *types.CacheBehavior) {
			b.FunctionAssociations, b.LambdaFunctionAssociations = functions("viewer-request"), lambdas("viewer-response")
		}), 400, "InvalidLambdaFunctionAssociation", "viewer-response"},
		"the body of a response": {withBehavior(func(b *types.CacheBehavior) {
			b.LambdaFunctionAssociations = lambdas("origin-response")
			b.LambdaFunctionAssociations.Items[0].IncludeBody = sdk.Bool(true)
		}), 400, "InvalidLambdaFunctionAssociation", "origin-response"},
		"a key group that can't be":        {withBehavior(keyGroups("a b")), 400, "TrustedKeyGroupDoesNotExist", "a b"},
		"a key group twice":                {withBehavior(keyGroups("a", "a")), 400, "InvalidArgument", "twice"},
		"five key groups":                  {withBehavior(keyGroups("a", "b", "c", "d", "e")), 400, "TooManyKeyGroupsAssociatedToDistribution", "4"},
		"key groups that are switched off": {withBehavior(keyGroups("a"), func(b *types.CacheBehavior) { b.TrustedKeyGroups.Enabled = sdk.Bool(false) }), 400, "InvalidArgument", "TrustedKeyGroups"},
		"gRPC without POST":                {withBehavior(func(b *types.CacheBehavior) { b.GrpcConfig = &types.GrpcConfig{Enabled: sdk.Bool(true)} }), 400, "InvalidArgument", "gRPC"},
		"gRPC without HTTP/2":              {func(c *types.DistributionConfig) { fullConfig(c); c.HttpVersion = types.HttpVersionHttp3 }, 400, "InvalidArgument", "gRPC"},
		"field-level encryption over HTTP": {withBehavior(func(b *types.CacheBehavior) {
			b.FieldLevelEncryptionId, b.ViewerProtocolPolicy = sdk.String("FLE1"), "allow-all"
		}), 400, "IllegalFieldLevelEncryptionConfigAssociationWithCacheBehavior", "FLE1"},
		"standard: a policy and old settings": {func(c *types.DistributionConfig) {
			old(0, 1, 2)(c)
			c.DefaultCacheBehavior.CachePolicyId = sdk.String("p")
		}, 400, "InvalidArgument", "ForwardedValues"},
		"standard: a policy and an old TTL":     {func(c *types.DistributionConfig) { direct(c); c.DefaultCacheBehavior.MaxTTL = sdk.Int64(5) }, 400, "InvalidArgument", "MaxTTL"}, //nolint:staticcheck // as above
		"standard: old settings without MinTTL": {old(-1, 1, 2), 400, "InvalidArgument", "MinTTL"},
		"standard: TTLs that fall":              {old(3, 2, 1), 400, "InvalidTTLOrder", ""},
		"functions that count wrong": {withBehavior(func(b *types.CacheBehavior) {
			b.FunctionAssociations = functions("viewer-request")
			b.FunctionAssociations.Quantity = sdk.Int32(2)
		}), 400, "InconsistentQuantities", "FunctionAssociations"},
	})
}

func cached(names ...types.Method) func(*types.CacheBehavior) {
	return func(b *types.CacheBehavior) {
		b.AllowedMethods = methods("GET", "HEAD")
		b.AllowedMethods.CachedMethods = &types.CachedMethods{Quantity: sdk.Int32(int32(len(names))), Items: names}
	}
}

func keyGroups(ids ...string) func(*types.CacheBehavior) {
	return func(b *types.CacheBehavior) {
		b.TrustedKeyGroups = &types.TrustedKeyGroups{Enabled: sdk.Bool(true), Quantity: sdk.Int32(int32(len(ids))), Items: ids}
	}
}

func TestDistributionGeneralRefusals(t *testing.T) {
	response := func(code int32, sent, page string) configChange {
		return func(c *types.DistributionConfig) {
			c.CustomErrorResponses = errorResponses(types.CustomErrorResponse{ErrorCode: &code, ResponseCode: &sent, ResponsePagePath: &page})
		}
	}
	geo := func(kind types.GeoRestrictionType, codes ...string) configChange {
		return func(c *types.DistributionConfig) {
			c.Restrictions = &types.Restrictions{GeoRestriction: &types.GeoRestriction{RestrictionType: kind, Quantity: sdk.Int32(int32(len(codes))), Items: codes}}
		}
	}
	aliases := func(names ...string) configChange {
		return func(c *types.DistributionConfig) {
			direct(c)
			c.Aliases = &types.Aliases{Quantity: sdk.Int32(int32(len(names))), Items: names}
		}
	}
	refuseAll(t, map[string]refusedCase{
		"a root object with a slash":     {func(c *types.DistributionConfig) { c.DefaultRootObject = sdk.String("/index.html") }, 400, "InvalidDefaultRootObject", "slash"},
		"a root object with a space":     {func(c *types.DistributionConfig) { c.DefaultRootObject = sdk.String("a b") }, 400, "InvalidDefaultRootObject", ""},
		"a root object that is too long": {func(c *types.DistributionConfig) { c.DefaultRootObject = sdk.String(strings.Repeat("x", 256)) }, 400, "InvalidDefaultRootObject", ""},
		"an HTTP version that is none":   {func(c *types.DistributionConfig) { c.HttpVersion = "http4" }, 400, "MalformedXML", "httpVersion"},
		"a web ACL of another region": {func(c *types.DistributionConfig) {
			c.WebACLId = sdk.String("arn:aws:wafv2:eu-central-1:111122223333:regional/webacl/x/y")
		}, 400, "InvalidWebACLId", "eu-central-1"},
		"the name of a web ACL":            {func(c *types.DistributionConfig) { c.WebACLId = sdk.String("shared") }, 400, "InvalidWebACLId", "shared"},
		"an error that can't be replaced":  {response(418, "", ""), 400, "InvalidErrorCode", "418"},
		"an error that is replaced by 302": {response(404, "302", "/index.html"), 400, "InvalidResponseCode", "302"},
		"a page without a code":            {response(404, "", "/index.html"), 400, "InvalidArgument", "both"},
		"a code without a page":            {response(404, "200", ""), 400, "InvalidArgument", "both"},
		"a page without a slash":           {response(404, "200", "index.html"), 400, "InvalidRelativePath", "index.html"},
		"one error twice": {func(c *types.DistributionConfig) {
			c.CustomErrorResponses = errorResponses(types.CustomErrorResponse{ErrorCode: sdk.Int32(404)}, types.CustomErrorResponse{ErrorCode: sdk.Int32(404)})
		}, 400, "InvalidArgument", "twice"},
		"an error cached for minus one": {func(c *types.DistributionConfig) {
			c.CustomErrorResponses = errorResponses(types.CustomErrorResponse{ErrorCode: sdk.Int32(404), ErrorCachingMinTTL: sdk.Int64(-1)})
		}, 400, "InvalidArgument", "ErrorCachingMinTTL"},
		"a whitelist of nothing":         {geo("whitelist"), 400, "InvalidGeoRestrictionParameter", "whitelist"},
		"no restriction, with countries": {geo("none", "DE"), 400, "InvalidGeoRestrictionParameter", "none"},
		"a country that is none":         {geo("blacklist", "DE", "EU"), 400, "InvalidLocationCode", "EU"},
		"a restriction that is none":     {geo("graylist", "DE"), 400, "MalformedXML", "restrictionType"},
		"two certificates":               {certificate(func(v *types.ViewerCertificate) { v.CloudFrontDefaultCertificate = sdk.Bool(true) }), 400, "InvalidViewerCertificate", "2"},
		"no certificate in the block": {func(c *types.DistributionConfig) {
			c.ViewerCertificate = &types.ViewerCertificate{CloudFrontDefaultCertificate: sdk.Bool(false)}
		}, 400, "InvalidViewerCertificate", "0"},
		"no support method":               {certificate(func(v *types.ViewerCertificate) { v.SSLSupportMethod = "" }), 400, "InvalidViewerCertificate", "SSLSupportMethod"},
		"no minimum protocol":             {certificate(func(v *types.ViewerCertificate) { v.MinimumProtocolVersion = "" }), 400, "InvalidViewerCertificate", "MinimumProtocolVersion"},
		"a protocol version that is none": {certificate(func(v *types.ViewerCertificate) { v.MinimumProtocolVersion = "TLSv1.2" }), 400, "MalformedXML", "minimumProtocolVersion"},
		"a certificate of another region": {certificate(func(v *types.ViewerCertificate) {
			v.ACMCertificateArn = sdk.String("arn:aws:acm:eu-central-1:111122223333:certificate/x")
		}), 400, "InvalidViewerCertificate", "us-east-1"},
		"an expired certificate":             {certificate(func(v *types.ViewerCertificate) { v.ACMCertificateArn = sdk.String(certARN(4)) }), 400, "InvalidViewerCertificate", "expired"},
		"the old member says something else": {certificate(func(v *types.ViewerCertificate) { v.Certificate = sdk.String(certARN(2)) }), 400, "InvalidViewerCertificate", "Certificate"}, //nolint:staticcheck // a deprecated member
		"standard: SSLv3 with sni-only":      {func(c *types.DistributionConfig) { direct(c); c.ViewerCertificate.MinimumProtocolVersion = "SSLv3" }, 400, "InvalidProtocolSettings", "SSLv3"},
		"standard: a price class":            {func(c *types.DistributionConfig) { direct(c); c.PriceClass = "PriceClass_300" }, 400, "MalformedXML", "priceClass"},
		"standard: an alias twice":           {aliases("a.example.com", "a.example.com"), 400, "InvalidArgument", "twice"},
		"standard: an alias in capitals":     {aliases("A.example.com"), 400, "InvalidArgument", "A.example.com"},
		"standard: logs in no bucket": {func(c *types.DistributionConfig) {
			direct(c)
			c.Logging = &types.LoggingConfig{Enabled: sdk.Bool(true), Bucket: sdk.String("logs"), Prefix: sdk.String(""), IncludeCookies: sdk.Bool(false)}
		}, 400, "InvalidArgument", "Bucket"},
	})
}

// refuseAll creates each configuration, and updates a distribution to it that
// uses whatever there is. Neither changes the world.
func refuseAll(t *testing.T, cases map[string]refusedCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			sim := newSim(t)
			before := sim.State()
			_, err := client(sim).CreateDistribution(t.Context(), &cloudfront.CreateDistributionInput{DistributionConfig: distributionConfig("new", tc.change)})
			wantRefusal(t, err, tc.status, tc.code)
			if !strings.Contains(err.Error(), tc.text) {
				t.Errorf("message %q does not mention %q", err, tc.text)
			}
			if diff := cmp.Diff(before, sim.State()); diff != "" {
				t.Errorf("a refused create changed the world:\n%s", diff)
			}
			config := distributionConfig("new", tc.change)
			first := distributionConfig("new")
			if config.ConnectionMode == types.ConnectionModeDirect {
				direct(first)
			}
			created := createDistribution(t, sim, first)
			before = sim.State()
			_, err = client(sim).UpdateDistribution(t.Context(), &cloudfront.UpdateDistributionInput{Id: created.Distribution.Id, IfMatch: created.ETag, DistributionConfig: config})
			wantRefusal(t, err, tc.status, tc.code)
			if diff := cmp.Diff(before, sim.State()); diff != "" {
				t.Errorf("a refused update changed the world:\n%s", diff)
			}
		})
	}
}

func TestDistributionQuotas(t *testing.T) {
	for name, tc := range map[string]struct {
		quotas aws.Quotas
		change configChange
		code   string
	}{
		"origins":         {aws.Quotas{Origins: 2}, fullConfig, "TooManyOrigins"},
		"origin groups":   {aws.Quotas{OriginGroups: 1}, func(c *types.DistributionConfig) { fullConfig(c); addGroup(c) }, "TooManyOriginGroupsPerDistribution"},
		"cache behaviors": {aws.Quotas{CacheBehaviors: 1}, fullConfig, "TooManyCacheBehaviors"},
		"custom headers":  {aws.Quotas{CustomHeaders: 1}, originChange(0, func(o *types.Origin) { o.CustomHeaders = headers("A", "a", "B", "b") }), "TooManyOriginCustomHeaders"},
		"aliases": {aws.Quotas{Aliases: 1}, func(c *types.DistributionConfig) {
			direct(c)
			c.Aliases = &types.Aliases{Quantity: sdk.Int32(2), Items: []string{"a.example.com", "b.example.com"}}
		}, "TooManyDistributionCNAMEs"},
	} {
		t.Run(name, func(t *testing.T) {
			sim := newSim(t)
			sim.SetQuotas(tc.quotas)
			_, err := client(sim).CreateDistribution(t.Context(), &cloudfront.CreateDistributionInput{DistributionConfig: distributionConfig("new", tc.change)})
			wantRefusal(t, err, 400, tc.code)
		})
	}
	t.Run("all of them are wide enough for a full one", func(t *testing.T) {
		createDistribution(t, newSim(t), distributionConfig("new", fullConfig))
	})
}

func addGroup(c *types.DistributionConfig) {
	another := c.OriginGroups.Items[0]
	another.Id = sdk.String("another")
	c.OriginGroups.Items, c.OriginGroups.Quantity = append(c.OriginGroups.Items, another), sdk.Int32(2)
}

// TestUpdateNeedsTheWhole leaves out one member at a time that only updates need.
func TestUpdateNeedsTheWhole(t *testing.T) {
	both := map[string]configChange{
		"DefaultRootObject":          func(c *types.DistributionConfig) { c.DefaultRootObject = nil },
		"CacheBehaviors":             func(c *types.DistributionConfig) { c.CacheBehaviors = nil },
		"CustomErrorResponses":       func(c *types.DistributionConfig) { c.CustomErrorResponses = nil },
		"ViewerCertificate":          func(c *types.DistributionConfig) { c.ViewerCertificate = nil },
		"Restrictions":               func(c *types.DistributionConfig) { c.Restrictions = nil },
		"WebACLId":                   func(c *types.DistributionConfig) { c.WebACLId = nil },
		"HttpVersion":                func(c *types.DistributionConfig) { c.HttpVersion = "" },
		"AllowedMethods":             func(c *types.DistributionConfig) { c.DefaultCacheBehavior.AllowedMethods = nil },
		"Compress":                   func(c *types.DistributionConfig) { c.DefaultCacheBehavior.Compress = nil },
		"LambdaFunctionAssociations": func(c *types.DistributionConfig) { c.DefaultCacheBehavior.LambdaFunctionAssociations = nil },
		"FieldLevelEncryptionId":     func(c *types.DistributionConfig) { c.CacheBehaviors.Items[0].FieldLevelEncryptionId = nil },
		"OriginReadTimeout":          func(c *types.DistributionConfig) { c.Origins.Items[0].CustomOriginConfig.OriginReadTimeout = nil },
		"OriginKeepaliveTimeout":     func(c *types.DistributionConfig) { c.Origins.Items[0].CustomOriginConfig.OriginKeepaliveTimeout = nil },
		"custom error responses":     func(c *types.DistributionConfig) { c.CustomErrorResponses.Items[1].ResponseCode = nil },
	}
	standard := maps.Clone(both)
	standard["Aliases"] = func(c *types.DistributionConfig) { c.Aliases = nil }
	standard["Logging"] = func(c *types.DistributionConfig) { c.Logging = nil }
	standard["PriceClass"] = func(c *types.DistributionConfig) { c.PriceClass = "" }
	standard["SmoothStreaming"] = func(c *types.DistributionConfig) { c.DefaultCacheBehavior.SmoothStreaming = nil }
	for mode, tc := range map[string]struct {
		base  configChange
		cases map[string]configChange
	}{
		"multi-tenant": {fullConfig, both},
		"standard": {func(c *types.DistributionConfig) {
			fullConfig(c)
			direct(c)
		}, standard},
	} {
		for member, leaveOut := range tc.cases {
			t.Run(mode+"/"+member, func(t *testing.T) {
				sim := newSim(t)
				created := createDistribution(t, sim, distributionConfig("one", tc.base))
				config := created.Distribution.DistributionConfig
				leaveOut(config)
				in := &cloudfront.UpdateDistributionInput{Id: created.Distribution.Id, IfMatch: created.ETag, DistributionConfig: config}
				_, err := client(sim).UpdateDistribution(t.Context(), in)
				wantRefusal(t, err, 400, "IllegalUpdate")
				if !strings.Contains(err.Error(), member) {
					t.Errorf("message %q does not mention %s", err, member)
				}
				sim.ChangeSwitches(func(sw *aws.Switches) { sw.UpdateNeedsWhole = false })
				if _, err := client(sim).UpdateDistribution(t.Context(), in); err != nil {
					t.Errorf("with the switch off: %v", err)
				}
			})
		}
	}
}

// TestDistributionRoundTrip reads, writes back, and reads again: nothing moves
// but the ETag, whatever the switches are.
func TestDistributionRoundTrip(t *testing.T) {
	for name, base := range map[string]configChange{
		"the least":         func(*types.DistributionConfig) {},
		"everything":        fullConfig,
		"the own one":       func(c *types.DistributionConfig) { c.ViewerCertificate = nil },
		"a standard one":    func(c *types.DistributionConfig) { fullConfig(c); direct(c) },
		"a standard bucket": func(c *types.DistributionConfig) { direct(c); oai(c); c.ViewerCertificate = nil },
		"an IAM certificate": func(c *types.DistributionConfig) {
			direct(c)
			c.ViewerCertificate = &types.ViewerCertificate{IAMCertificateId: sdk.String("ASCA1"), SSLSupportMethod: "vip", MinimumProtocolVersion: "TLSv1"}
		},
	} {
		for _, echoed := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", with what it does not support"}[echoed], func(t *testing.T) {
				sim := newSim(t)
				sim.ChangeSwitches(func(sw *aws.Switches) { sw.UnsupportedEchoed = echoed })
				created := createDistribution(t, sim, distributionConfig("one", base))
				first := created.Distribution.DistributionConfig
				out, err := client(sim).UpdateDistribution(t.Context(), &cloudfront.UpdateDistributionInput{Id: created.Distribution.Id, IfMatch: created.ETag, DistributionConfig: first})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(first, out.Distribution.DistributionConfig, cmpDistribution); diff != "" {
					t.Errorf("writing back what was read (-before +after):\n%s", diff)
				}
				if echoed && (first.Aliases == nil || first.Logging == nil || first.PriceClass == "" || first.DefaultCacheBehavior.TrustedSigners == nil) {
					t.Errorf("what is not supported is not echoed: %+v", first)
				}
			})
		}
	}
}

func TestDistributionLogging(t *testing.T) {
	logging := func(on bool) configChange {
		return func(c *types.DistributionConfig) {
			direct(c)
			c.Logging = &types.LoggingConfig{Enabled: &on, Bucket: sdk.String("logs.s3.amazonaws.com"), Prefix: sdk.String("edge/"), IncludeCookies: sdk.Bool(true)}
		}
	}
	for on, want := range map[bool]types.LoggingConfig{
		true:  {Enabled: sdk.Bool(true), Bucket: sdk.String("logs.s3.amazonaws.com"), Prefix: sdk.String("edge/"), IncludeCookies: sdk.Bool(true)},
		false: {Enabled: sdk.Bool(false), Bucket: sdk.String(""), Prefix: sdk.String(""), IncludeCookies: sdk.Bool(true)},
	} {
		got := createDistribution(t, newSim(t), distributionConfig("one", logging(on))).Distribution.DistributionConfig.Logging
		if diff := cmp.Diff(&want, got, cmpDistribution); diff != "" {
			t.Errorf("on %v (-want +got):\n%s", on, diff)
		}
	}
}

// TestSetsReordered sends a configuration whose sets come back turned round.
func TestSetsReordered(t *testing.T) {
	sim := newSim(t)
	sim.ChangeSwitches(func(sw *aws.Switches) { sw.SetsReordered = true })
	created := createDistribution(t, sim, distributionConfig("one", fullConfig)).Distribution.DistributionConfig
	var ids []string
	for _, o := range created.Origins.Items {
		ids = append(ids, *o.Id)
	}
	if diff := cmp.Diff([]string{"private", "bucket", "app"}, ids); diff != "" {
		t.Errorf("origins (-want +got):\n%s", diff)
	}
	if got := *created.OriginGroups.Items[0].Members.Items[0].OriginId; got != "app" {
		t.Errorf("the primary origin of the group became %s", got)
	}
	if diff := cmp.Diff([]string{"AT", "CH", "DE"}, created.Restrictions.GeoRestriction.Items); diff != "" {
		t.Errorf("countries (-want +got):\n%s", diff)
	}
	want := []types.Method{"HEAD", "DELETE", "POST", "GET", "OPTIONS", "PUT", "PATCH"}
	if diff := cmp.Diff(want, created.CacheBehaviors.Items[0].AllowedMethods.Items); diff != "" {
		t.Errorf("methods (-want +got):\n%s", diff)
	}
}

// TestShapeKnowsTheModel sends every member that the SDK has. The simulator may refuse the values, but it knows all of
// the names.
func TestShapeKnowsTheModel(t *testing.T) {
	config := &types.DistributionConfig{}
	populate(reflect.ValueOf(config).Elem())
	_, err := client(newSim(t)).CreateDistribution(t.Context(), &cloudfront.CreateDistributionInput{DistributionConfig: config})
	wantRefusal(t, err, 400, "InvalidArgument")
	if !strings.Contains(err.Error(), "TenantConfig is not supported") {
		t.Errorf("refused for %v", err)
	}
}

// populate fills every field, lists with one item and enumerations with the
// first value there is.
func populate(v reflect.Value) {
	switch kind := v.Kind(); {
	case kind == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		populate(v.Elem())
	case kind == reflect.Struct:
		for _, field := range v.Fields() {
			if field.CanSet() {
				populate(field)
			}
		}
	case kind == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		populate(v.Index(0))
	case kind == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(1)
	case kind == reflect.String:
		v.SetString("x")
		if values := v.MethodByName("Values"); values.IsValid() {
			v.Set(values.Call(nil)[0].Index(0))
		}
	}
}

// TestDistributionWire sends what no SDK sends.
func TestDistributionWire(t *testing.T) {
	const config = `<DistributionConfig><CallerReference>raw</CallerReference><Comment></Comment><Enabled>true</Enabled><ConnectionMode>tenant-only</ConnectionMode>` +
		`<Origins><Quantity>1</Quantity><Items><Origin><Id>o</Id><DomainName>o.example.com</DomainName>` +
		`<CustomOriginConfig><HTTPPort>80</HTTPPort><HTTPSPort>443</HTTPSPort><OriginProtocolPolicy>https-only</OriginProtocolPolicy></CustomOriginConfig></Origin></Items></Origins>` +
		`<DefaultCacheBehavior><TargetOriginId>o</TargetOriginId><ViewerProtocolPolicy>https-only</ViewerProtocolPolicy><CachePolicyId>p</CachePolicyId></DefaultCacheBehavior></DistributionConfig>`
	edit := func(old, replacement string) string { return strings.Replace(config, old, replacement, 1) }
	for name, tc := range map[string]struct {
		body   string
		status int
		want   string
	}{
		"a configuration with nothing but what it needs":      {config, 201, "<Status>InProgress</Status>"},
		"a parameter definition by its name in the reference": {edit("<Origins>", "<TenantConfig><ParameterDefinitions><ParameterDefinition><Name>p</Name><Definition><StringSchema><Required>false</Required></StringSchema></Definition></ParameterDefinition></ParameterDefinitions></TenantConfig><Origins>"), 201, ""},
		"a member the format does not have":                   {edit("<Enabled>", "<Turbo>true</Turbo><Enabled>"), 400, "<Code>MalformedXML</Code>"},
		"one deep inside":                                     {edit("<HTTPPort>", "<QuicPort>443</QuicPort><HTTPPort>"), 400, "QuicPort"},
		"an item by another name":                             {strings.NewReplacer("<Origin>", "<member>", "</Origin>", "</member>").Replace(config), 400, "<Code>MalformedXML</Code>"},
		"a member twice":                                      {edit("<Enabled>true</Enabled>", "<Enabled>true</Enabled><Enabled>false</Enabled>"), 400, "twice"},
		"text where elements belong":                          {edit("<Origins>", "<Aliases>none</Aliases><Origins>"), 400, "<Code>MalformedXML</Code>"},
		"elements where text belongs":                         {edit("<Comment></Comment>", "<Comment><b>x</b></Comment>"), 400, "<Code>MalformedXML</Code>"},
		"a boolean that is none":                              {edit("<Enabled>true", "<Enabled>yes"), 400, "distributionConfig.enabled"},
		"a number that is none":                               {edit("<HTTPPort>80", "<HTTPPort>http"), 400, "distributionConfig.origins.items.1.member.customOriginConfig.hTTPPort"},
		"no comment":                                          {edit("<Comment></Comment>", ""), 400, "Value null at &#39;distributionConfig.comment&#39;"},
		"no origins":                                          {config[:strings.Index(config, "<Origins>")] + config[strings.Index(config, "<DefaultCacheBehavior>"):], 400, "distributionConfig.origins&#39;"},
		"no quantity":                                         {edit("<Quantity>1</Quantity>", ""), 400, "distributionConfig.origins.quantity"},
		"no id":                                               {edit("<Id>o</Id>", ""), 400, "distributionConfig.origins.items.1.member.id"},
		"no target":                                           {edit("<TargetOriginId>o</TargetOriginId>", ""), 400, "targetOriginId"},
		"no protocol policy":                                  {edit("<ViewerProtocolPolicy>https-only</ViewerProtocolPolicy>", ""), 400, "viewerProtocolPolicy"},
		"no port":                                             {edit("<HTTPSPort>443</HTTPSPort>", ""), 400, "hTTPSPort"},
		"an empty list":                                       {edit("<Origins>", "<Aliases><Quantity>0</Quantity><Items></Items></Aliases><Origins>"), 400, "<Code>MalformedInput</Code>"},
		"methods without items":                               {edit("<CachePolicyId>", "<AllowedMethods><Quantity>0</Quantity></AllowedMethods><CachePolicyId>"), 400, "allowedMethods.items"},
		"no body":                                             {"", 400, "<Code>MalformedXML</Code>"},
		"the root of the other operation":                     {"<DistributionConfigWithTags>" + config + "</DistributionConfigWithTags>", 400, "<Code>MalformedXML</Code>"},
		"no origin in the list that wants to have":            {edit(`<Quantity>1</Quantity>`, `<Quantity>2</Quantity>`), 400, "<Code>InconsistentQuantities</Code>"},
	} {
		t.Run(name, func(t *testing.T) {
			status, body := raw(t, newSim(t), "POST", "/2020-05-31/distribution", tc.body)
			if status != tc.status || !strings.Contains(body, tc.want) {
				t.Errorf("answered %d %s; want %d and %s", status, body, tc.status, tc.want)
			}
		})
	}
	t.Run("an empty list, where the service takes it", func(t *testing.T) {
		sim := newSim(t)
		sim.ChangeSwitches(func(sw *aws.Switches) { sw.EmptyItemsRefused = false })
		body := edit("<Origins>", "<CacheBehaviors><Quantity>0</Quantity><Items></Items></CacheBehaviors><Origins>")
		if status, answer := raw(t, sim, "POST", "/2020-05-31/distribution", body); status != 201 {
			t.Errorf("answered %d %s", status, answer)
		}
	})
	t.Run("with tags, and without the tags", func(t *testing.T) {
		for tags, want := range map[string]int{"": 400, "<Tags></Tags>": 201, "<Labels></Labels>": 400} {
			status, answer := raw(t, newSim(t), "POST", "/2020-05-31/distribution?WithTags", "<DistributionConfigWithTags>"+config+tags+"</DistributionConfigWithTags>")
			if status != want {
				t.Errorf("with %q answered %d %s", tags, status, answer)
			}
		}
	})
}
