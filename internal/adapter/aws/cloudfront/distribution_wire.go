package cloudfront

import (
	"reflect"
	"strconv"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// wireDistribution lays a normalised configuration over what CloudFront has. Members that the
// kind has a field for are set, an empty one as empty: CloudFront refuses an update
// that leaves out some of what it knows. Everything else stays as base has it. Nothing that
// base points at is changed.
func wireDistribution(base types.DistributionConfig, c v1alpha1.DistributionConfig) *types.DistributionConfig {
	standard := c.ConnectionMode == v1alpha1.ConnectionModeDirect
	out := base
	out.ConnectionMode = types.ConnectionMode(c.ConnectionMode)
	out.Enabled = c.Enabled
	out.Comment = &c.Comment
	out.DefaultRootObject = &c.DefaultRootObject
	out.WebACLId = &c.WebACLID
	out.HttpVersion = types.HttpVersion(c.HTTPVersion)
	out.Origins = wireOrigins(base.Origins, c.Origins, standard)
	out.OriginGroups = wireOriginGroups(base.OriginGroups, c.OriginGroups)
	if s := c.DefaultCacheBehavior; s != nil {
		behavior := wireBehavior(sameMembers[types.CacheBehavior](valueOf(base.DefaultCacheBehavior)), *s, standard)
		out.DefaultCacheBehavior = new(sameMembers[types.DefaultCacheBehavior](behavior))
	}
	out.CacheBehaviors = wireBehaviors(base.CacheBehaviors, c.CacheBehaviors, standard)
	out.CustomErrorResponses = wireErrorResponses(c.CustomErrorResponses)
	out.ViewerCertificate = wireCertificate(base.ViewerCertificate, c.ViewerCertificate)
	out.Restrictions = wireRestrictions(c.Restrictions)
	if standard {
		standardMembers(&out, c)
	} else {
		tenantMembers(&out, c)
	}
	return &out
}

func standardMembers(out *types.DistributionConfig, c v1alpha1.DistributionConfig) {
	out.Aliases = &types.Aliases{Quantity: quantity(c.Aliases), Items: converted[string](c.Aliases)}
	out.PriceClass = types.PriceClass(c.PriceClass)
	out.IsIPV6Enabled = c.IPv6Enabled
	out.TenantConfig = nil
	switch l := c.Logging; {
	case l != nil:
		out.Logging = &types.LoggingConfig{
			Enabled: new(true), Bucket: &l.Bucket, Prefix: &l.Prefix, IncludeCookies: new(awssdk.ToBool(l.IncludeCookies)),
		}
	case out.Logging == nil || awssdk.ToBool(out.Logging.Enabled):
		// A block that says already that there is no logging stays: its IncludeCookies also counts for
		// standard logging v2, which the kind has no field for.
		out.Logging = &types.LoggingConfig{Enabled: new(false), Bucket: new(""), Prefix: new(""), IncludeCookies: new(false)}
	}
}

// tenantMembers sends all other members as they were read: CloudFront shows the logging that a multi-tenant
// distribution can't have as switched off, and may require it.
func tenantMembers(out *types.DistributionConfig, c v1alpha1.DistributionConfig) {
	switch definitions := wireDefinitions(valueOf(c.TenantConfig).ParameterDefinitions); {
	case definitions != nil:
		out.TenantConfig = &types.TenantConfig{ParameterDefinitions: definitions}
	case len(valueOf(out.TenantConfig).ParameterDefinitions) > 0:
		// CloudFront refuses a list without items, but not a block without a list.
		out.TenantConfig = &types.TenantConfig{}
	}
}

func wireDefinitions(definitions []v1alpha1.ParameterDefinition) []types.ParameterDefinition {
	var out []types.ParameterDefinition
	for _, d := range definitions {
		item := types.ParameterDefinition{Name: new(d.Name)}
		if s := valueOf(d.Definition).StringSchema; s != nil {
			item.Definition = &types.ParameterDefinitionSchema{StringSchema: &types.StringSchemaConfig{
				Required: s.Required, DefaultValue: optional(s.DefaultValue), Comment: optional(s.Comment),
			}}
		}
		out = append(out, item)
	}
	return out
}

func wireOrigins(base *types.Origins, origins []v1alpha1.Origin, standard bool) *types.Origins {
	known := map[string]types.Origin{}
	for _, o := range valueOf(base).Items {
		known[awssdk.ToString(o.Id)] = o
	}
	items := make([]types.Origin, len(origins))
	for i, o := range origins {
		items[i] = wireOrigin(known[o.ID], o, standard)
	}
	return &types.Origins{Quantity: quantity(items), Items: items}
}

func wireOrigin(base types.Origin, o v1alpha1.Origin, standard bool) types.Origin {
	out := base
	out.Id = &o.ID
	out.DomainName = &o.DomainName
	out.OriginPath = &o.OriginPath
	out.OriginAccessControlId = &o.OriginAccessControlID
	out.ConnectionAttempts = positive(o.ConnectionAttempts)
	out.ConnectionTimeout = positive(o.ConnectionTimeout)
	out.ResponseCompletionTimeout = positive(o.ResponseCompletionTimeout)
	switch s := o.OriginShield; {
	case s != nil:
		out.OriginShield = &types.OriginShield{Enabled: new(true), OriginShieldRegion: &s.OriginShieldRegion}
	case awssdk.ToBool(valueOf(base.OriginShield).Enabled):
		out.OriginShield = &types.OriginShield{Enabled: new(false)}
	}
	var headers []types.OriginCustomHeader
	for _, h := range o.CustomHeaders {
		headers = append(headers, types.OriginCustomHeader{HeaderName: new(h.Name), HeaderValue: new(h.Value)})
	}
	out.CustomHeaders = &types.CustomHeaders{Quantity: quantity(headers), Items: headers}

	out.CustomOriginConfig, out.S3OriginConfig, out.VpcOriginConfig = nil, nil, nil
	if s := o.CustomOriginConfig; s != nil {
		out.CustomOriginConfig = wireCustomOrigin(valueOf(base.CustomOriginConfig), *s)
	}
	if s := o.S3OriginConfig; s != nil {
		out.S3OriginConfig = &types.S3OriginConfig{OriginAccessIdentity: new(""), OriginReadTimeout: positive(s.OriginReadTimeout)}
		// An identity is refused together with an access control, and in a multi-tenant distribution.
		if identity := valueOf(base.S3OriginConfig).OriginAccessIdentity; standard && o.OriginAccessControlID == "" && identity != nil {
			out.S3OriginConfig.OriginAccessIdentity = identity
		}
	}
	if s := o.VPCOriginConfig; s != nil {
		out.VpcOriginConfig = wireVPCOrigin(valueOf(base.VpcOriginConfig), *s)
	}
	return out
}

func wireCustomOrigin(base types.CustomOriginConfig, s v1alpha1.CustomOriginConfig) *types.CustomOriginConfig {
	out := base
	out.OriginProtocolPolicy = types.OriginProtocolPolicy(s.OriginProtocolPolicy)
	out.HTTPPort = positive(s.HTTPPort)
	out.HTTPSPort = positive(s.HTTPSPort)
	protocols := converted[types.SslProtocol](s.OriginSSLProtocols)
	out.OriginSslProtocols = &types.OriginSslProtocols{Quantity: quantity(protocols), Items: protocols}
	out.OriginReadTimeout = positive(s.OriginReadTimeout)
	out.OriginKeepaliveTimeout = positive(s.OriginKeepaliveTimeout)
	out.IpAddressType = types.IpAddressType(s.IPAddressType)
	return &out
}

// wireVPCOrigin keeps the owner that CloudFront shows of the same VPC origin where the spec
// names none.
func wireVPCOrigin(base types.VpcOriginConfig, s v1alpha1.VPCOriginConfig) *types.VpcOriginConfig {
	out := base
	if s.OwnerAccountID != "" || awssdk.ToString(base.VpcOriginId) != s.VPCOriginID {
		out.OwnerAccountId = optional(s.OwnerAccountID)
	}
	out.VpcOriginId = &s.VPCOriginID
	out.OriginReadTimeout = positive(s.OriginReadTimeout)
	out.OriginKeepaliveTimeout = positive(s.OriginKeepaliveTimeout)
	return &out
}

func wireOriginGroups(base *types.OriginGroups, groups []v1alpha1.OriginGroup) *types.OriginGroups {
	known := map[string]types.OriginGroup{}
	for _, g := range valueOf(base).Items {
		known[awssdk.ToString(g.Id)] = g
	}
	var items []types.OriginGroup
	for _, g := range groups {
		out := known[g.ID]
		out.Id = new(g.ID)
		out.SelectionCriteria = types.OriginGroupSelectionCriteria(g.SelectionCriteria)
		var members []types.OriginGroupMember
		for _, m := range g.Members {
			members = append(members, types.OriginGroupMember{OriginId: new(m.OriginID)})
		}
		out.Members = &types.OriginGroupMembers{Quantity: quantity(members), Items: members}
		var codes []int32
		if g.FailoverCriteria != nil {
			codes = numbers[int32](g.FailoverCriteria.StatusCodes)
		}
		out.FailoverCriteria = &types.OriginGroupFailoverCriteria{
			StatusCodes: &types.StatusCodes{Quantity: quantity(codes), Items: codes},
		}
		items = append(items, out)
	}
	return &types.OriginGroups{Quantity: quantity(items), Items: items}
}

func wireBehaviors(base *types.CacheBehaviors, behaviors []v1alpha1.CacheBehavior, standard bool) *types.CacheBehaviors {
	known := map[string]types.CacheBehavior{}
	for _, b := range valueOf(base).Items {
		known[awssdk.ToString(b.PathPattern)] = b
	}
	var items []types.CacheBehavior
	for _, b := range behaviors {
		out := wireBehavior(known[b.PathPattern], b.CacheBehaviorSettings, standard)
		out.PathPattern = new(b.PathPattern)
		items = append(items, out)
	}
	return &types.CacheBehaviors{Quantity: quantity(items), Items: items}
}

func wireBehavior(base types.CacheBehavior, s v1alpha1.CacheBehaviorSettings, standard bool) types.CacheBehavior {
	out := base
	out.TargetOriginId = &s.TargetOriginID
	out.ViewerProtocolPolicy = types.ViewerProtocolPolicy(s.ViewerProtocolPolicy)
	out.CachePolicyId = &s.CachePolicyID
	// CloudFront takes these or a cache policy.
	out.ForwardedValues, out.MinTTL, out.DefaultTTL, out.MaxTTL = nil, nil, nil, nil //nolint:staticcheck // what was there has to go
	if standard && out.SmoothStreaming == nil {
		out.SmoothStreaming = new(false) // CloudFront refuses an update without
	}
	out.OriginRequestPolicyId = optional(s.OriginRequestPolicyID)
	out.ResponseHeadersPolicyId = optional(s.ResponseHeadersPolicyID)
	allowed, cached := converted[types.Method](s.AllowedMethods), converted[types.Method](s.CachedMethods)
	out.AllowedMethods = &types.AllowedMethods{
		Quantity: quantity(allowed), Items: allowed,
		CachedMethods: &types.CachedMethods{Quantity: quantity(cached), Items: cached},
	}
	out.Compress = s.Compress
	out.FieldLevelEncryptionId = &s.FieldLevelEncryptionID
	out.TrustedKeyGroups = &types.TrustedKeyGroups{
		Enabled: new(len(s.TrustedKeyGroups) > 0), Quantity: quantity(s.TrustedKeyGroups),
		Items: converted[string](s.TrustedKeyGroups),
	}
	out.GrpcConfig = &types.GrpcConfig{Enabled: new(s.GRPCConfig != nil && awssdk.ToBool(s.GRPCConfig.Enabled))}
	var functions []types.FunctionAssociation
	for _, f := range s.FunctionAssociations {
		functions = append(functions, types.FunctionAssociation{
			EventType: types.EventType(f.EventType), FunctionARN: new(f.FunctionARN),
		})
	}
	out.FunctionAssociations = &types.FunctionAssociations{Quantity: quantity(functions), Items: functions}
	var lambdas []types.LambdaFunctionAssociation
	for _, f := range s.LambdaFunctionAssociations {
		lambdas = append(lambdas, types.LambdaFunctionAssociation{
			EventType: types.EventType(f.EventType), LambdaFunctionARN: new(f.LambdaFunctionARN), IncludeBody: f.IncludeBody,
		})
	}
	out.LambdaFunctionAssociations = &types.LambdaFunctionAssociations{Quantity: quantity(lambdas), Items: lambdas}
	return out
}

// wireErrorResponses sends empty members that CloudFront shows as empty: it refuses an update without them.
func wireErrorResponses(responses []v1alpha1.CustomErrorResponse) *types.CustomErrorResponses {
	var items []types.CustomErrorResponse
	for _, r := range responses {
		item := types.CustomErrorResponse{
			ErrorCode: new(int32(r.ErrorCode)), ResponseCode: new(""), ResponsePagePath: new(r.ResponsePagePath),
		}
		if r.ResponseCode != 0 {
			item.ResponseCode = new(strconv.Itoa(int(r.ResponseCode)))
		}
		if r.ErrorCachingMinTTL != nil {
			item.ErrorCachingMinTTL = new(int64(*r.ErrorCachingMinTTL))
		}
		items = append(items, item)
	}
	return &types.CustomErrorResponses{Quantity: quantity(items), Items: items}
}

// wireCertificate sends the certificate back as it was read where the spec is silent or says the same. For another
// certificate nothing of it is kept: the rest of the block is the old certificate in older members.
func wireCertificate(base *types.ViewerCertificate, v *v1alpha1.ViewerCertificate) *types.ViewerCertificate {
	switch {
	case base != nil && (v == nil || reflect.DeepEqual(readCertificate(*base), v)):
		return base
	case v == nil:
		return &types.ViewerCertificate{CloudFrontDefaultCertificate: new(true)}
	}
	return &types.ViewerCertificate{
		CloudFrontDefaultCertificate: new(awssdk.ToBool(v.CloudFrontDefaultCertificate)),
		ACMCertificateArn:            optional(v.ACMCertificateARN),
		IAMCertificateId:             optional(v.IAMCertificateID),
		MinimumProtocolVersion:       types.MinimumProtocolVersion(v.MinimumProtocolVersion),
		SSLSupportMethod:             types.SSLSupportMethod(v.SSLSupportMethod),
	}
}

func wireRestrictions(r *v1alpha1.Restrictions) *types.Restrictions {
	out := &types.GeoRestriction{RestrictionType: types.GeoRestrictionTypeNone, Quantity: awssdk.Int32(0)}
	if r != nil && r.GeoRestriction != nil {
		out.RestrictionType = types.GeoRestrictionType(r.GeoRestriction.RestrictionType)
		out.Items = converted[string](r.GeoRestriction.Locations)
		out.Quantity = quantity(out.Items)
	}
	return &types.Restrictions{GeoRestriction: out}
}

// sameMembers copies what two types of the SDK have under the same names. A default cache
// behavior is a cache behavior in everything but its type and a path pattern, also in members
// that an SDK of the future adds to both.
func sameMembers[To, From any](from From) To {
	var to To
	source, target := reflect.ValueOf(from), reflect.ValueOf(&to).Elem()
	for i := range target.NumField() {
		field := target.Type().Field(i)
		if member := source.FieldByName(field.Name); field.IsExported() && member.IsValid() {
			target.Field(i).Set(member)
		}
	}
	return to
}

// valueOf returns what a pointer points at, and something empty for nil.
func valueOf[T any](p *T) T {
	if p == nil {
		return *new(T)
	}
	return *p
}

// positive returns nil for a number that was not set.
func positive(n int32) *int32 {
	if n == 0 {
		return nil
	}
	return &n
}

func quantity[T any](items []T) *int32 { return awssdk.Int32(int32(len(items))) }

// converted returns nil for an empty list: CloudFront wants no Items with a Quantity of 0.
func converted[To, From ~string](list []From) []To {
	if len(list) == 0 {
		return nil
	}
	out := make([]To, 0, len(list))
	for _, item := range list {
		out = append(out, To(item))
	}
	return out
}

func numbers[To, From ~int32](list []From) []To {
	var out []To
	for _, n := range list {
		out = append(out, To(n))
	}
	return out
}
