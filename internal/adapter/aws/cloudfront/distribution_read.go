package cloudfront

import (
	"math"
	"strconv"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// wholeDistribution refuses a distribution that can't be told from another, can't be written,
// or about which nothing is said.
func wholeDistribution(operation string, d *types.Distribution, etag *string) (port.Distribution, error) {
	if err := present(operation, "the distribution", d); err != nil {
		return port.Distribution{}, err
	}
	config := d.DistributionConfig
	if err := present(operation, "the distribution's configuration", config); err != nil {
		return port.Distribution{}, err
	}
	for _, part := range []struct {
		what  string
		there bool
	}{
		{"the distribution's id", awssdk.ToString(d.Id) != ""},
		{"the distribution's ARN", awssdk.ToString(d.ARN) != ""},
		{"the ETag", awssdk.ToString(etag) != ""},
		{"the distribution's status", awssdk.ToString(d.Status) != ""},
		{"the distribution's caller reference", awssdk.ToString(config.CallerReference) != ""},
		{"whether the distribution is enabled", config.Enabled != nil},
		{"the distribution's origins", config.Origins != nil},
		{"the distribution's default cache behavior", config.DefaultCacheBehavior != nil},
	} {
		if !part.there {
			return port.Distribution{}, aws.Unreadable(operation, part.what)
		}
	}
	return port.Distribution{
		Observed: distribution.Observed{
			ID: *d.Id, ARN: *d.ARN, ETag: *etag, Status: *d.Status, Enabled: *config.Enabled,
			Modified: awssdk.ToTime(d.LastModifiedTime),
		},
		CallerReference: *config.CallerReference,
		DomainName:      awssdk.ToString(d.DomainName),
		Config:          readDistribution(config),
		Raw:             config,
	}, nil
}

// readDistribution shares nothing with what it reads from, which has to stay as CloudFront sent it.
func readDistribution(d *types.DistributionConfig) v1alpha1.DistributionConfig {
	out := v1alpha1.DistributionConfig{
		ConnectionMode:       v1alpha1.ConnectionMode(d.ConnectionMode),
		Enabled:              copied(d.Enabled),
		Comment:              awssdk.ToString(d.Comment),
		Origins:              each(valueOf(d.Origins).Items, readOrigin),
		OriginGroups:         each(valueOf(d.OriginGroups).Items, readOriginGroup),
		CustomErrorResponses: each(valueOf(d.CustomErrorResponses).Items, readErrorResponse),
		ViewerCertificate:    readCertificate(valueOf(d.ViewerCertificate)),
		Restrictions:         readRestrictions(d.Restrictions),
		WebACLID:             awssdk.ToString(d.WebACLId),
		HTTPVersion:          v1alpha1.HTTPVersion(d.HttpVersion),
		DefaultRootObject:    awssdk.ToString(d.DefaultRootObject),
		Aliases:              converted[string](valueOf(d.Aliases).Items),
		PriceClass:           v1alpha1.PriceClass(d.PriceClass),
		IPv6Enabled:          copied(d.IsIPV6Enabled),
	}
	if out.ConnectionMode == "" {
		// The member is younger than standard distributions.
		out.ConnectionMode = v1alpha1.ConnectionModeDirect
	}
	if b := d.DefaultCacheBehavior; b != nil {
		out.DefaultCacheBehavior = new(readBehavior(sameMembers[types.CacheBehavior](*b)))
	}
	for _, b := range valueOf(d.CacheBehaviors).Items {
		out.CacheBehaviors = append(out.CacheBehaviors, v1alpha1.CacheBehavior{
			PathPattern: awssdk.ToString(b.PathPattern), CacheBehaviorSettings: readBehavior(b),
		})
	}
	if definitions := valueOf(d.TenantConfig).ParameterDefinitions; len(definitions) > 0 {
		out.TenantConfig = &v1alpha1.TenantConfig{ParameterDefinitions: each(definitions, readDefinition)}
	}
	if l := valueOf(d.Logging); awssdk.ToBool(l.Enabled) {
		out.Logging = &v1alpha1.Logging{
			Bucket: awssdk.ToString(l.Bucket), Prefix: awssdk.ToString(l.Prefix), IncludeCookies: copied(l.IncludeCookies),
		}
	}
	return out
}

func readOrigin(o types.Origin) v1alpha1.Origin {
	out := v1alpha1.Origin{
		ID:                        awssdk.ToString(o.Id),
		DomainName:                awssdk.ToString(o.DomainName),
		OriginPath:                awssdk.ToString(o.OriginPath),
		OriginAccessControlID:     awssdk.ToString(o.OriginAccessControlId),
		ConnectionAttempts:        awssdk.ToInt32(o.ConnectionAttempts),
		ConnectionTimeout:         awssdk.ToInt32(o.ConnectionTimeout),
		ResponseCompletionTimeout: awssdk.ToInt32(o.ResponseCompletionTimeout),
	}
	for _, h := range valueOf(o.CustomHeaders).Items {
		out.CustomHeaders = append(out.CustomHeaders, v1alpha1.CustomHeader{
			Name: awssdk.ToString(h.HeaderName), Value: awssdk.ToString(h.HeaderValue),
		})
	}
	if s := valueOf(o.OriginShield); awssdk.ToBool(s.Enabled) {
		out.OriginShield = &v1alpha1.OriginShield{OriginShieldRegion: awssdk.ToString(s.OriginShieldRegion)}
	}
	if s := o.CustomOriginConfig; s != nil {
		out.CustomOriginConfig = &v1alpha1.CustomOriginConfig{
			OriginProtocolPolicy:   v1alpha1.OriginProtocolPolicy(s.OriginProtocolPolicy),
			HTTPPort:               awssdk.ToInt32(s.HTTPPort),
			HTTPSPort:              awssdk.ToInt32(s.HTTPSPort),
			OriginSSLProtocols:     converted[v1alpha1.SSLProtocol](valueOf(s.OriginSslProtocols).Items),
			OriginReadTimeout:      awssdk.ToInt32(s.OriginReadTimeout),
			OriginKeepaliveTimeout: awssdk.ToInt32(s.OriginKeepaliveTimeout),
			IPAddressType:          v1alpha1.IPAddressType(s.IpAddressType),
		}
	}
	if s := o.S3OriginConfig; s != nil {
		out.S3OriginConfig = &v1alpha1.S3OriginConfig{OriginReadTimeout: awssdk.ToInt32(s.OriginReadTimeout)}
	}
	if s := o.VpcOriginConfig; s != nil {
		out.VPCOriginConfig = &v1alpha1.VPCOriginConfig{
			VPCOriginID:            awssdk.ToString(s.VpcOriginId),
			OwnerAccountID:         awssdk.ToString(s.OwnerAccountId),
			OriginReadTimeout:      awssdk.ToInt32(s.OriginReadTimeout),
			OriginKeepaliveTimeout: awssdk.ToInt32(s.OriginKeepaliveTimeout),
		}
	}
	return out
}

func readOriginGroup(g types.OriginGroup) v1alpha1.OriginGroup {
	codes := valueOf(valueOf(g.FailoverCriteria).StatusCodes).Items
	return v1alpha1.OriginGroup{
		ID:                awssdk.ToString(g.Id),
		SelectionCriteria: v1alpha1.OriginSelectionCriteria(g.SelectionCriteria),
		FailoverCriteria:  &v1alpha1.FailoverCriteria{StatusCodes: numbers[v1alpha1.FailoverStatusCode](codes)},
		Members: each(valueOf(g.Members).Items, func(m types.OriginGroupMember) v1alpha1.OriginGroupMember {
			return v1alpha1.OriginGroupMember{OriginID: awssdk.ToString(m.OriginId)}
		}),
	}
}

func readBehavior(b types.CacheBehavior) v1alpha1.CacheBehaviorSettings {
	out := v1alpha1.CacheBehaviorSettings{
		TargetOriginID:          awssdk.ToString(b.TargetOriginId),
		ViewerProtocolPolicy:    v1alpha1.ViewerProtocolPolicy(b.ViewerProtocolPolicy),
		CachePolicyID:           awssdk.ToString(b.CachePolicyId),
		OriginRequestPolicyID:   awssdk.ToString(b.OriginRequestPolicyId),
		ResponseHeadersPolicyID: awssdk.ToString(b.ResponseHeadersPolicyId),
		AllowedMethods:          converted[v1alpha1.Method](valueOf(b.AllowedMethods).Items),
		CachedMethods:           converted[v1alpha1.Method](valueOf(valueOf(b.AllowedMethods).CachedMethods).Items),
		Compress:                copied(b.Compress),
		FieldLevelEncryptionID:  awssdk.ToString(b.FieldLevelEncryptionId),
	}
	for _, f := range valueOf(b.FunctionAssociations).Items {
		out.FunctionAssociations = append(out.FunctionAssociations, v1alpha1.FunctionAssociation{
			EventType: v1alpha1.FunctionEventType(f.EventType), FunctionARN: awssdk.ToString(f.FunctionARN),
		})
	}
	for _, f := range valueOf(b.LambdaFunctionAssociations).Items {
		out.LambdaFunctionAssociations = append(out.LambdaFunctionAssociations, v1alpha1.LambdaFunctionAssociation{
			EventType: v1alpha1.LambdaEventType(f.EventType), LambdaFunctionARN: awssdk.ToString(f.LambdaFunctionARN),
			IncludeBody: copied(f.IncludeBody),
		})
	}
	if k := valueOf(b.TrustedKeyGroups); awssdk.ToBool(k.Enabled) {
		out.TrustedKeyGroups = converted[string](k.Items)
	}
	if b.GrpcConfig != nil {
		out.GRPCConfig = &v1alpha1.GRPCConfig{Enabled: copied(b.GrpcConfig.Enabled)}
	}
	return out
}

func readErrorResponse(r types.CustomErrorResponse) v1alpha1.CustomErrorResponse {
	out := v1alpha1.CustomErrorResponse{
		ErrorCode:        v1alpha1.ErrorCode(awssdk.ToInt32(r.ErrorCode)),
		ResponsePagePath: awssdk.ToString(r.ResponsePagePath),
	}
	// A text that is not a number is the empty text of a response without a code.
	if code, err := strconv.ParseInt(awssdk.ToString(r.ResponseCode), 10, 32); err == nil {
		out.ResponseCode = v1alpha1.ResponseCode(code)
	}
	if ttl := r.ErrorCachingMinTTL; ttl != nil {
		out.ErrorCachingMinTTL = new(int32(min(*ttl, math.MaxInt32)))
	}
	return out
}

// readCertificate returns nil where no certificate is named, neither CloudFront's own nor another. The settings that are shown
// of its own have no effect.
func readCertificate(v types.ViewerCertificate) *v1alpha1.ViewerCertificate {
	out := v1alpha1.ViewerCertificate{
		ACMCertificateARN: awssdk.ToString(v.ACMCertificateArn), IAMCertificateID: awssdk.ToString(v.IAMCertificateId),
	}
	if awssdk.ToBool(v.CloudFrontDefaultCertificate) {
		out.CloudFrontDefaultCertificate = new(true)
	}
	switch {
	case out.ACMCertificateARN != "" || out.IAMCertificateID != "":
		out.MinimumProtocolVersion = v1alpha1.MinimumProtocolVersion(v.MinimumProtocolVersion)
		out.SSLSupportMethod = v1alpha1.SSLSupportMethod(v.SSLSupportMethod)
	case out.CloudFrontDefaultCertificate == nil:
		return nil
	}
	return &out
}

func readRestrictions(r *types.Restrictions) *v1alpha1.Restrictions {
	if r == nil || r.GeoRestriction == nil {
		return nil
	}
	return &v1alpha1.Restrictions{GeoRestriction: &v1alpha1.GeoRestriction{
		RestrictionType: v1alpha1.GeoRestrictionType(r.GeoRestriction.RestrictionType),
		Locations:       converted[v1alpha1.CountryCode](r.GeoRestriction.Items),
	}}
}

func readDefinition(d types.ParameterDefinition) v1alpha1.ParameterDefinition {
	out := v1alpha1.ParameterDefinition{Name: awssdk.ToString(d.Name)}
	if s := valueOf(d.Definition).StringSchema; s != nil {
		out.Definition = &v1alpha1.ParameterSchema{StringSchema: &v1alpha1.StringSchema{
			Required: copied(s.Required), DefaultValue: awssdk.ToString(s.DefaultValue), Comment: awssdk.ToString(s.Comment),
		}}
	}
	return out
}

func each[From, To any](list []From, read func(From) To) []To {
	var out []To
	for _, item := range list {
		out = append(out, read(item))
	}
	return out
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}
