package specimen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// CertificateNames is the wildcard name that the certificate of generated distributions has
// to cover.
const CertificateNames = "*.example.com"

// Distributions generates distributions of a connection mode that the API server and AWS both
// accept, where the certificate covers CertificateNames. Every field is set in some of them
// and absent from others.
func Distributions(mode v1alpha1.ConnectionMode, certificateARN string) *rapid.Generator[v1alpha1.DistributionConfig] {
	return rapid.Custom(func(t *rapid.T) v1alpha1.DistributionConfig {
		g := generator{T: t, tenants: mode == v1alpha1.ConnectionModeTenantOnly}
		c := v1alpha1.DistributionConfig{
			ConnectionMode:    mode,
			Enabled:           g.flag("enabled"),
			Comment:           g.one("comment", "", "a shop", "ünïcode & <angles>"),
			WebACLID:          g.one("web ACL", "", "arn:aws:wafv2:us-east-1:111122223333:global/webacl/main/0a1b2c3d"),
			HTTPVersion:       pick[v1alpha1.HTTPVersion](g, "HTTP", "", "http1.1", "http2", "http3", "http2and3"),
			DefaultRootObject: g.one("root", "", "index.html", "start/page.htm"),
		}
		if g.tenants {
			c.TenantConfig = g.tenantConfig()
		}
		c.Origins = g.origins(c.TenantConfig)
		c.OriginGroups = g.originGroups(c.Origins)
		c.DefaultCacheBehavior = new(g.behavior(c))
		for _, pattern := range g.some("patterns", "/images/*.jpg", "api/*", "/*.css", "/a?c") {
			c.CacheBehaviors = append(c.CacheBehaviors, v1alpha1.CacheBehavior{PathPattern: pattern, CacheBehaviorSettings: g.behavior(c)})
		}
		for _, code := range g.numbers("errors", 400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504) {
			c.CustomErrorResponses = append(c.CustomErrorResponses, g.errorResponse(code))
		}
		c.ViewerCertificate = g.certificate(certificateARN)
		c.Restrictions = g.restrictions()
		g.connections(&c)
		if !g.tenants {
			g.standard(&c)
		}
		return c
	})
}

// Groups generates connection groups.
func Groups() *rapid.Generator[v1alpha1.ConnectionGroupConfig] {
	return rapid.Custom(func(t *rapid.T) v1alpha1.ConnectionGroupConfig {
		g := generator{T: t}
		return v1alpha1.ConnectionGroupConfig{
			Enabled: g.flag("enabled"), IPv6Enabled: g.flag("IPv6"), AnycastIPListID: g.one("list", "", "aip_1", "aip_2"),
		}
	})
}

type generator struct {
	*rapid.T

	tenants bool
}

func (g generator) standard(c *v1alpha1.DistributionConfig) {
	c.PriceClass = pick[v1alpha1.PriceClass](g, "price", "", "PriceClass_100", "PriceClass_200", "PriceClass_All")
	c.IPv6Enabled = g.flag("IPv6")
	if c.ViewerCertificate != nil && c.ViewerCertificate.ACMCertificateARN != "" {
		c.Aliases = g.some("aliases", "a.example.com", "b.example.com", "c.example.com")
	}
	if g.yes("logging") {
		c.Logging = &v1alpha1.Logging{
			Bucket: "logs.s3.amazonaws.com", Prefix: g.one("prefix", "", "shop/"), IncludeCookies: g.flag("cookies"),
		}
	}
}

// connections adds tags of responses and mutual TLS. Viewers who have to show a certificate use HTTPS and at most HTTP/2,
// and an origin that sees one gets neither gRPC nor functions of its own.
func (g generator) connections(c *v1alpha1.DistributionConfig) {
	if g.yes("cache tags") {
		c.CacheTagConfig = &v1alpha1.CacheTagConfig{HeaderName: g.one("tag header", "cache-tag", "X-Tags")}
	}
	if g.yes("connection function") {
		c.ConnectionFunctionAssociation = &v1alpha1.ConnectionFunctionAssociation{ID: g.one("which function", "cf_1", "cf_2")}
	}
	behaviors := []v1alpha1.CacheBehaviorSettings{*c.DefaultCacheBehavior}
	for _, b := range c.CacheBehaviors {
		behaviors = append(behaviors, b.CacheBehaviorSettings)
	}
	http := slices.ContainsFunc(behaviors, func(b v1alpha1.CacheBehaviorSettings) bool { return b.ViewerProtocolPolicy == "allow-all" })
	if !http && !strings.HasSuffix(string(c.HTTPVersion), "3") && g.yes("viewer mTLS") {
		c.ViewerMTLSConfig = &v1alpha1.ViewerMTLSConfig{Mode: "passthrough"}
		if g.yes("trust store") {
			c.ViewerMTLSConfig = &v1alpha1.ViewerMTLSConfig{
				Mode: pick[v1alpha1.ViewerMTLSMode](g, "mode", "required", "optional"),
				TrustStoreConfig: &v1alpha1.TrustStoreConfig{
					TrustStoreID: "ts_1", AdvertiseTrustStoreCANames: g.flag("names"), IgnoreCertificateExpiry: g.flag("expiry"),
				},
			}
		}
	}
	refused := slices.ContainsFunc(behaviors, func(b v1alpha1.CacheBehaviorSettings) bool {
		return b.GRPCConfig != nil && *b.GRPCConfig.Enabled || len(b.LambdaFunctionAssociations) > 0
	})
	for i := range c.Origins {
		if o := &c.Origins[i]; o.CustomOriginConfig != nil && !refused && g.yes("origin mTLS") {
			o.CustomOriginConfig.OriginMTLSConfig = &v1alpha1.OriginMTLSConfig{
				ClientCertificateARN: "arn:aws:acm:us-east-1:111122223333:certificate/" + g.one("client", "c1", "c2"),
			}
		}
	}
}

func (g generator) tenantConfig() *v1alpha1.TenantConfig {
	if !g.yes("tenant config") {
		return nil
	}
	config := &v1alpha1.TenantConfig{}
	for _, name := range g.some("parameters", "tenant", "region", "tier") {
		schema := &v1alpha1.StringSchema{Required: new(g.yes("required")), Comment: g.one("parameter's comment", "", "which one")}
		if !*schema.Required {
			schema.DefaultValue = g.one("default", "", "eu", "gold")
		}
		config.ParameterDefinitions = append(config.ParameterDefinitions, v1alpha1.ParameterDefinition{
			Name: name, Definition: &v1alpha1.ParameterSchema{StringSchema: schema},
		})
	}
	return config
}

func (g generator) origins(tenants *v1alpha1.TenantConfig) []v1alpha1.Origin {
	parameters := []string{""}
	if tenants != nil {
		for _, p := range tenants.ParameterDefinitions {
			parameters = append(parameters, "{{"+p.Name+"}}")
		}
	}
	ids := append([]string{"main"}, g.some("origins", "app", "assets", "backup")...)
	var out []v1alpha1.Origin
	for _, id := range ids {
		out = append(out, g.origin(id, g.one("parameter", parameters...)))
	}
	return rapid.Permutation(out).Draw(g.T, "order")
}

func (g generator) origin(id, parameter string) v1alpha1.Origin {
	o := v1alpha1.Origin{
		ID: id, DomainName: parameter + id + ".origin.example.net",
		ConnectionAttempts: g.number("attempts", 0, 1, 3), ConnectionTimeout: g.number("timeout", 0, 1, 10),
		ResponseCompletionTimeout: g.number("completion", 0, 120, 600),
	}
	if g.yes("path") {
		o.OriginPath = "/" + id + parameter
	}
	for _, name := range g.some("headers", "X-Secret", "X-Tenant", "X-Origin") {
		o.CustomHeaders = append(o.CustomHeaders, v1alpha1.CustomHeader{Name: name, Value: g.one("value", "1", "a <b> & c")})
	}
	if g.yes("shield") {
		o.OriginShield = &v1alpha1.OriginShield{OriginShieldRegion: g.one("region", "eu-central-1", "us-east-2")}
	}
	read, keep := g.number("read timeout", 0, 1, 30, 90), g.number("keepalive", 0, 1, 5, 90)
	switch g.one("kind", "custom", "S3", "VPC") {
	case "custom":
		o.CustomOriginConfig = &v1alpha1.CustomOriginConfig{
			OriginProtocolPolicy: pick[v1alpha1.OriginProtocolPolicy](g, "policy", "", "https-only", "http-only", "match-viewer"),
			HTTPPort:             g.number("port", 0, 80, 8080), HTTPSPort: g.number("TLS port", 0, 443, 8443),
			OriginSSLProtocols: texts[v1alpha1.SSLProtocol](g.some("protocols", "SSLv3", "TLSv1", "TLSv1.1", "TLSv1.2")),
			OriginReadTimeout:  read, OriginKeepaliveTimeout: keep,
			IPAddressType: pick[v1alpha1.IPAddressType](g, "addresses", "", "ipv4", "ipv6", "dualstack"),
		}
	case "S3":
		o.DomainName = id + ".s3.eu-central-1.amazonaws.com"
		o.OriginAccessControlID = g.one("access control", "", "E3ACCESSCONTROL")
		o.S3OriginConfig = &v1alpha1.S3OriginConfig{OriginReadTimeout: read}
	default:
		o.VPCOriginConfig = &v1alpha1.VPCOriginConfig{
			VPCOriginID: g.one("VPC origin", "vo_1", "vo_2"), OwnerAccountID: g.one("owner", "", "444455556666"),
			OriginReadTimeout: read, OriginKeepaliveTimeout: keep,
		}
	}
	return o
}

func (g generator) originGroups(origins []v1alpha1.Origin) []v1alpha1.OriginGroup {
	if len(origins) < 2 {
		return nil
	}
	var out []v1alpha1.OriginGroup
	for _, id := range g.some("groups", "failover", "media") {
		members := rapid.Permutation(origins).Draw(g.T, "members")
		codes := g.numbers("statuses", 403, 404, 416, 429, 500, 502, 503, 504)
		out = append(out, v1alpha1.OriginGroup{
			ID:                id,
			Members:           []v1alpha1.OriginGroupMember{{OriginID: members[0].ID}, {OriginID: members[1].ID}},
			FailoverCriteria:  &v1alpha1.FailoverCriteria{StatusCodes: append(ints[v1alpha1.FailoverStatusCode](codes), 400)},
			SelectionCriteria: pick[v1alpha1.OriginSelectionCriteria](g, "selection", "", "default", "media-quality-based"),
		})
	}
	return out
}

// behavior keeps to what goes together: an origin group takes no writes, gRPC needs POST and
// HTTP/2, a viewer's event has one kind of function, and encrypted fields need HTTPS.
func (g generator) behavior(c v1alpha1.DistributionConfig) v1alpha1.CacheBehaviorSettings {
	b := v1alpha1.CacheBehaviorSettings{
		ViewerProtocolPolicy:    pick[v1alpha1.ViewerProtocolPolicy](g, "viewers", "redirect-to-https", "https-only", "allow-all"),
		CachePolicyID:           g.one("cache policy", "658327ea-f89d-4fab-a63d-7e88639e58f6", "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"),
		OriginRequestPolicyID:   g.one("request policy", "", "216adef6-5c7f-47e4-b989-5492eafa07d3"),
		ResponseHeadersPolicyID: g.one("headers policy", "", "67f7725c-6f97-4210-82d7-5512b31e9d03"),
		Compress:                g.flag("compress"),
		TrustedKeyGroups:        g.some("key groups", "kg-1", "kg-2", "kg-3"),
	}
	methods := [][]v1alpha1.Method{
		nil, {"GET", "HEAD"}, {"OPTIONS", "GET", "HEAD"}, {"HEAD", "DELETE", "POST", "GET", "OPTIONS", "PUT", "PATCH"},
	}
	if len(c.OriginGroups) > 0 && g.yes("target is a group") {
		b.TargetOriginID = c.OriginGroups[0].ID
		methods = methods[:3]
	} else {
		b.TargetOriginID = rapid.SampledFrom(c.Origins).Draw(g.T, "target").ID
	}
	b.AllowedMethods = slices.Clone(rapid.SampledFrom(methods).Draw(g.T, "methods"))
	if g.yes("cached methods") {
		b.CachedMethods = slices.Clone(methods[min(2, max(1, len(b.AllowedMethods)-1))])
	}
	if g.yes("real-time logs") {
		b.RealtimeLogConfigARN = new("arn:aws:cloudfront::111122223333:realtime-log-config/" + g.one("log", "all", "some"))
	}
	if b.ViewerProtocolPolicy != "allow-all" {
		b.FieldLevelEncryptionID = g.one("encryption", "", "E4FIELDS")
	}
	if g.yes("gRPC") {
		possible := len(b.AllowedMethods) == 7 && c.HTTPVersion != "http1.1" && c.HTTPVersion != "http3"
		b.GRPCConfig = &v1alpha1.GRPCConfig{Enabled: new(possible && g.yes("gRPC is on"))}
	}
	events := []string{"origin-request", "origin-response"}
	if g.yes("functions") {
		for _, event := range g.some("events", "viewer-response", "viewer-request") {
			b.FunctionAssociations = append(b.FunctionAssociations, v1alpha1.FunctionAssociation{
				EventType:   v1alpha1.FunctionEventType(event),
				FunctionARN: "arn:aws:cloudfront::111122223333:function/" + g.one("function", "rewrite", "auth"),
			})
		}
	} else {
		events = append(events, "viewer-response", "viewer-request")
	}
	for _, event := range g.some("lambda events", events...) {
		f := v1alpha1.LambdaFunctionAssociation{
			EventType:         v1alpha1.LambdaEventType(event),
			LambdaFunctionARN: "arn:aws:lambda:us-east-1:111122223333:function:edge:" + g.one("version", "1", "42"),
		}
		if event == "origin-request" || event == "viewer-request" {
			f.IncludeBody = g.flag("body")
		}
		b.LambdaFunctionAssociations = append(b.LambdaFunctionAssociations, f)
	}
	return b
}

func (g generator) errorResponse(code int32) v1alpha1.CustomErrorResponse {
	r := v1alpha1.CustomErrorResponse{ErrorCode: v1alpha1.ErrorCode(code)}
	if g.yes("page") {
		r.ResponseCode, r.ResponsePagePath = v1alpha1.ResponseCode(g.number("code", 200, 404, 503)), fmt.Sprintf("/errors/%d.html", code)
	}
	if g.yes("TTL") {
		r.ErrorCachingMinTTL = new(g.number("seconds", 0, 10, 31_536_000))
	}
	return r
}

func (g generator) certificate(arn string) *v1alpha1.ViewerCertificate {
	kinds := []string{"none", "ACM", "CloudFront's"}
	if !g.tenants {
		kinds = append(kinds, "IAM")
	}
	v := &v1alpha1.ViewerCertificate{
		MinimumProtocolVersion: pick[v1alpha1.MinimumProtocolVersion](g, "TLS", "", "TLSv1", "TLSv1_2016", "TLSv1.1_2016",
			"TLSv1.2_2018", "TLSv1.2_2019", "TLSv1.2_2021", "TLSv1.2_2025", "TLSv1.3_2025"),
		SSLSupportMethod: pick[v1alpha1.SSLSupportMethod](g, "method", "", "sni-only"),
	}
	if !g.tenants && g.yes("own addresses") {
		v.SSLSupportMethod = pick[v1alpha1.SSLSupportMethod](g, "which", "vip", "static-ip")
		// The default is for clients that send the name that they want.
		v.MinimumProtocolVersion = cmp.Or(v.MinimumProtocolVersion, "TLSv1")
	}
	switch g.one("certificate", kinds...) {
	case "none":
		return nil
	case "ACM":
		v.ACMCertificateARN = arn
	case "CloudFront's":
		return &v1alpha1.ViewerCertificate{CloudFrontDefaultCertificate: new(true)}
	default:
		v.IAMCertificateID = "ASCAEXAMPLE"
	}
	return v
}

func (g generator) restrictions() *v1alpha1.Restrictions {
	if !g.yes("restrictions") {
		return nil
	}
	geo := &v1alpha1.GeoRestriction{RestrictionType: v1alpha1.GeoRestrictionNone}
	if countries := g.some("countries", "DE", "AT", "CH"); len(countries) > 0 {
		geo.RestrictionType = pick[v1alpha1.GeoRestrictionType](g, "list", "whitelist", "blacklist")
		geo.Locations = texts[v1alpha1.CountryCode](countries)
	}
	return &v1alpha1.Restrictions{GeoRestriction: geo}
}

func (g generator) yes(label string) bool { return rapid.Bool().Draw(g.T, label) }

// flag is absent, true or false.
func (g generator) flag(label string) *bool {
	return rapid.SampledFrom([]*bool{nil, new(true), new(false)}).Draw(g.T, label)
}

func (g generator) one(label string, values ...string) string {
	return rapid.SampledFrom(values).Draw(g.T, label)
}

func (g generator) number(label string, values ...int32) int32 {
	return rapid.SampledFrom(values).Draw(g.T, label)
}

// some are any of the values, in any order, and none more often than not.
func (g generator) some(label string, values ...string) []string {
	if !g.yes(label) {
		return nil
	}
	return rapid.Permutation(values).Draw(g.T, label)[:rapid.IntRange(0, len(values)).Draw(g.T, label)]
}

func (g generator) numbers(label string, values ...int32) []int32 {
	if !g.yes(label) {
		return nil
	}
	return rapid.Permutation(values).Draw(g.T, label)[:rapid.IntRange(0, len(values)).Draw(g.T, label)]
}

func pick[T ~string](g generator, label string, values ...T) T {
	return rapid.SampledFrom(values).Draw(g.T, label)
}

func texts[T ~string](values []string) []T {
	var out []T
	for _, v := range values {
		out = append(out, T(v))
	}
	return out
}

func ints[T ~int32](values []int32) []T {
	var out []T
	for _, v := range values {
		out = append(out, T(v))
	}
	return out
}
