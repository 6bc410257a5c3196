package cloudfront

import (
	"math"
	"reflect"
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
			Modified: awssdk.ToTime(d.LastModifiedTime), Aliases: converted[string](valueOf(config.Aliases).Items),
		},
		CallerReference: *config.CallerReference,
		DomainName:      awssdk.ToString(d.DomainName),
		Config:          readDistribution(config),
		Raw:             config,
	}, nil
}

// readDistribution shares nothing with what it reads from, which has to stay as CloudFront
// said it.
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
	readConnections(&out, d)
	return out
}

// readConnections reads the blocks that a spec may leave out to keep them, nil for those that are not there.
func readConnections(out *v1alpha1.DistributionConfig, d *types.DistributionConfig) {
	if t := d.CacheTagConfig; t != nil {
		out.CacheTagConfig = &v1alpha1.CacheTagConfig{HeaderName: awssdk.ToString(t.HeaderName)}
	}
	if f := d.ConnectionFunctionAssociation; f != nil {
		out.ConnectionFunctionAssociation = &v1alpha1.ConnectionFunctionAssociation{ID: awssdk.ToString(f.Id)}
	}
	m := d.ViewerMtlsConfig
	if m == nil {
		return
	}
	out.ViewerMTLSConfig = &v1alpha1.ViewerMTLSConfig{Mode: v1alpha1.ViewerMTLSMode(m.Mode)}
	if s := m.TrustStoreConfig; s != nil {
		out.ViewerMTLSConfig.TrustStoreConfig = &v1alpha1.TrustStoreConfig{
			TrustStoreID:               awssdk.ToString(s.TrustStoreId),
			AdvertiseTrustStoreCANames: copied(s.AdvertiseTrustStoreCaNames),
			IgnoreCertificateExpiry:    copied(s.IgnoreCertificateExpiry),
		}
	}
}

// wireConnections leaves out a block that the spec wants empty, and keeps those on which it is silent.
func wireConnections(out *types.DistributionConfig, c v1alpha1.DistributionConfig) {
	if t := c.CacheTagConfig; t != nil {
		out.CacheTagConfig = nil
		if t.HeaderName != "" {
			out.CacheTagConfig = &types.CacheTagConfig{HeaderName: &t.HeaderName}
		}
	}
	if f := c.ConnectionFunctionAssociation; f != nil {
		out.ConnectionFunctionAssociation = nil
		if f.ID != "" {
			out.ConnectionFunctionAssociation = &types.ConnectionFunctionAssociation{Id: &f.ID}
		}
	}
	m := c.ViewerMTLSConfig
	if m == nil {
		return
	}
	out.ViewerMtlsConfig = nil
	if m.Mode == "" {
		return
	}
	out.ViewerMtlsConfig = &types.ViewerMtlsConfig{Mode: types.ViewerMtlsMode(m.Mode)}
	if s := m.TrustStoreConfig; s != nil {
		out.ViewerMtlsConfig.TrustStoreConfig = &types.TrustStoreConfig{
			TrustStoreId:               &s.TrustStoreID,
			AdvertiseTrustStoreCaNames: s.AdvertiseTrustStoreCANames,
			IgnoreCertificateExpiry:    s.IgnoreCertificateExpiry,
		}
	}
}

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
	wireConnections(&out, c)
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

func readDefinition(d types.ParameterDefinition) v1alpha1.ParameterDefinition {
	out := v1alpha1.ParameterDefinition{Name: awssdk.ToString(d.Name)}
	if s := valueOf(d.Definition).StringSchema; s != nil {
		out.Definition = &v1alpha1.ParameterSchema{StringSchema: &v1alpha1.StringSchema{
			Required: copied(s.Required), DefaultValue: awssdk.ToString(s.DefaultValue), Comment: awssdk.ToString(s.Comment),
		}}
	}
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

func readErrorResponse(r types.CustomErrorResponse) v1alpha1.CustomErrorResponse {
	out := v1alpha1.CustomErrorResponse{
		ErrorCode:        v1alpha1.ErrorCode(awssdk.ToInt32(r.ErrorCode)),
		ResponsePagePath: awssdk.ToString(r.ResponsePagePath),
	}
	// What is no number is the empty text of a response without a code.
	if code, err := strconv.ParseInt(awssdk.ToString(r.ResponseCode), 10, 32); err == nil {
		out.ResponseCode = v1alpha1.ResponseCode(code)
	}
	if ttl := r.ErrorCachingMinTTL; ttl != nil {
		out.ErrorCachingMinTTL = new(int32(min(*ttl, math.MaxInt32)))
	}
	return out
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

func wireRestrictions(r *v1alpha1.Restrictions) *types.Restrictions {
	out := &types.GeoRestriction{RestrictionType: types.GeoRestrictionTypeNone, Quantity: awssdk.Int32(0)}
	if r != nil && r.GeoRestriction != nil {
		out.RestrictionType = types.GeoRestrictionType(r.GeoRestriction.RestrictionType)
		out.Items = converted[string](r.GeoRestriction.Locations)
		out.Quantity = quantity(out.Items)
	}
	return &types.Restrictions{GeoRestriction: out}
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
