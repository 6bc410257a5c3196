package convert

import (
	"cmp"
	"slices"
	"strings"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// The numbers that AWS uses where a configuration names none.
const (
	defaultHTTPPort           = 80
	defaultHTTPSPort          = 443
	defaultReadTimeout        = 30
	defaultKeepaliveTimeout   = 5
	defaultConnectionAttempts = 3
	defaultConnectionTimeout  = 10
	defaultErrorCachingMinTTL = 10
)

// NormalizeDistribution returns the configuration with AWS's defaults wherever it is silent,
// and with everything in order that AWS takes in any order. Values that are absent then are absent in AWS as well.
func NormalizeDistribution(c v1alpha1.DistributionConfig) v1alpha1.DistributionConfig {
	c = *c.DeepCopy()
	c.ConnectionMode = cmp.Or(c.ConnectionMode, v1alpha1.ConnectionModeTenantOnly)
	c.Enabled = cmp.Or(c.Enabled, new(true))
	// AWS has written it in capital letters.
	c.HTTPVersion = cmp.Or(v1alpha1.HTTPVersion(strings.ToLower(string(c.HTTPVersion))), v1alpha1.HTTPVersion2)
	normalizeOrigins(&c)
	normalizeBehavior(c.DefaultCacheBehavior)
	for i := range c.CacheBehaviors {
		normalizeBehavior(&c.CacheBehaviors[i].CacheBehaviorSettings)
	}
	c.CacheBehaviors = orNil(c.CacheBehaviors)
	for i := range c.CustomErrorResponses {
		r := &c.CustomErrorResponses[i]
		r.ErrorCachingMinTTL = cmp.Or(r.ErrorCachingMinTTL, new(int32(defaultErrorCachingMinTTL)))
	}
	c.CustomErrorResponses = sorted(c.CustomErrorResponses, func(r v1alpha1.CustomErrorResponse) v1alpha1.ErrorCode { return r.ErrorCode })
	if v := c.ViewerCertificate; v != nil && v.CloudFrontDefaultCertificate != nil && !*v.CloudFrontDefaultCertificate {
		v.CloudFrontDefaultCertificate = nil
	}
	if v := c.ViewerCertificate; v != nil && v.CloudFrontDefaultCertificate == nil {
		v.MinimumProtocolVersion = cmp.Or(v.MinimumProtocolVersion, v1alpha1.MinimumProtocolTLS12)
		v.SSLSupportMethod = cmp.Or(v.SSLSupportMethod, v1alpha1.SSLSupportSNIOnly)
	}
	c.Restrictions = normalRestrictions(c.Restrictions)
	if m := c.ViewerMTLSConfig; m != nil && m.TrustStoreConfig != nil {
		t := m.TrustStoreConfig
		t.AdvertiseTrustStoreCANames = cmp.Or(t.AdvertiseTrustStoreCANames, new(false))
		t.IgnoreCertificateExpiry = cmp.Or(t.IgnoreCertificateExpiry, new(false))
	}
	normalizeMode(&c)
	return c
}

// normalizeMode handles members that only one of the two kinds of distributions has. AWS may show a
// multi-tenant distribution with members that it would not take for one.
func normalizeMode(c *v1alpha1.DistributionConfig) {
	if c.ConnectionMode == v1alpha1.ConnectionModeTenantOnly {
		c.Aliases, c.PriceClass, c.IPv6Enabled, c.Logging = nil, "", nil, nil
		c.TenantConfig = cmp.Or(c.TenantConfig, &v1alpha1.TenantConfig{})
		c.TenantConfig.ParameterDefinitions = sorted(c.TenantConfig.ParameterDefinitions,
			func(p v1alpha1.ParameterDefinition) string { return p.Name })
		return
	}
	for i, alias := range c.Aliases {
		c.Aliases[i] = strings.ToLower(alias)
	}
	c.Aliases = set(c.Aliases)
	c.PriceClass = cmp.Or(c.PriceClass, v1alpha1.PriceClassAll)
	c.IPv6Enabled = cmp.Or(c.IPv6Enabled, new(false))
	if l := c.Logging; l != nil {
		l.IncludeCookies = cmp.Or(l.IncludeCookies, new(false))
	}
}

func normalizeOrigins(c *v1alpha1.DistributionConfig) {
	for i := range c.Origins {
		normalizeOrigin(&c.Origins[i])
	}
	c.Origins = sorted(c.Origins, func(o v1alpha1.Origin) string { return o.ID })
	for i := range c.OriginGroups {
		g := &c.OriginGroups[i]
		g.SelectionCriteria = cmp.Or(g.SelectionCriteria, v1alpha1.OriginSelectionDefault)
		if f := g.FailoverCriteria; f != nil {
			f.StatusCodes = set(f.StatusCodes)
		}
	}
	c.OriginGroups = sorted(c.OriginGroups, func(g v1alpha1.OriginGroup) string { return g.ID })
}

func normalizeOrigin(o *v1alpha1.Origin) {
	o.CustomHeaders = sorted(o.CustomHeaders, func(h v1alpha1.CustomHeader) string { return h.Name })
	o.ConnectionAttempts = cmp.Or(o.ConnectionAttempts, defaultConnectionAttempts)
	o.ConnectionTimeout = cmp.Or(o.ConnectionTimeout, defaultConnectionTimeout)
	if s := o.CustomOriginConfig; s != nil {
		s.OriginProtocolPolicy = cmp.Or(s.OriginProtocolPolicy, v1alpha1.OriginProtocolHTTPSOnly)
		s.HTTPPort = cmp.Or(s.HTTPPort, defaultHTTPPort)
		s.HTTPSPort = cmp.Or(s.HTTPSPort, defaultHTTPSPort)
		s.OriginSSLProtocols = orThese(set(s.OriginSSLProtocols), v1alpha1.SSLProtocolTLS12)
		s.OriginReadTimeout = cmp.Or(s.OriginReadTimeout, defaultReadTimeout)
		s.OriginKeepaliveTimeout = cmp.Or(s.OriginKeepaliveTimeout, defaultKeepaliveTimeout)
		s.IPAddressType = cmp.Or(s.IPAddressType, v1alpha1.IPAddressTypeIPv4)
	}
	if s := o.S3OriginConfig; s != nil {
		s.OriginReadTimeout = cmp.Or(s.OriginReadTimeout, defaultReadTimeout)
	}
	if s := o.VPCOriginConfig; s != nil {
		s.OriginReadTimeout = cmp.Or(s.OriginReadTimeout, defaultReadTimeout)
		s.OriginKeepaliveTimeout = cmp.Or(s.OriginKeepaliveTimeout, defaultKeepaliveTimeout)
	}
}

func normalizeBehavior(b *v1alpha1.CacheBehaviorSettings) {
	if b == nil {
		return
	}
	b.AllowedMethods = orThese(set(b.AllowedMethods), v1alpha1.MethodGet, v1alpha1.MethodHead)
	b.CachedMethods = orThese(set(b.CachedMethods), v1alpha1.MethodGet, v1alpha1.MethodHead)
	b.Compress = cmp.Or(b.Compress, new(false))
	b.FunctionAssociations = sorted(b.FunctionAssociations,
		func(f v1alpha1.FunctionAssociation) v1alpha1.FunctionEventType { return f.EventType })
	for i := range b.LambdaFunctionAssociations {
		f := &b.LambdaFunctionAssociations[i]
		f.IncludeBody = cmp.Or(f.IncludeBody, new(false))
	}
	b.LambdaFunctionAssociations = sorted(b.LambdaFunctionAssociations,
		func(f v1alpha1.LambdaFunctionAssociation) v1alpha1.LambdaEventType { return f.EventType })
	b.TrustedKeyGroups = set(b.TrustedKeyGroups)
	b.GRPCConfig = cmp.Or(b.GRPCConfig, &v1alpha1.GRPCConfig{})
	b.GRPCConfig.Enabled = cmp.Or(b.GRPCConfig.Enabled, new(false))
}

func normalRestrictions(r *v1alpha1.Restrictions) *v1alpha1.Restrictions {
	if r == nil || r.GeoRestriction == nil {
		r = &v1alpha1.Restrictions{GeoRestriction: &v1alpha1.GeoRestriction{}}
	}
	g := r.GeoRestriction
	g.RestrictionType = cmp.Or(g.RestrictionType, v1alpha1.GeoRestrictionNone)
	g.Locations = set(g.Locations)
	return r
}

// CompactDistribution returns the configuration with AWS's defaults, as a user may write it: a default that changes later
// must not change the distribution. Only empty blocks are left out.
func CompactDistribution(c v1alpha1.DistributionConfig) v1alpha1.DistributionConfig {
	c = NormalizeDistribution(c)
	if t := c.TenantConfig; t != nil && len(t.ParameterDefinitions) == 0 {
		c.TenantConfig = nil
	}
	behaviors := []*v1alpha1.CacheBehaviorSettings{c.DefaultCacheBehavior}
	for i := range c.CacheBehaviors {
		behaviors = append(behaviors, &c.CacheBehaviors[i].CacheBehaviorSettings)
	}
	for _, b := range behaviors {
		if b != nil && !*b.GRPCConfig.Enabled {
			b.GRPCConfig = nil
		}
	}
	if c.Restrictions.GeoRestriction.RestrictionType == v1alpha1.GeoRestrictionNone {
		c.Restrictions = nil
	}
	return c
}

// NormalizeGroup returns the configuration with AWS's defaults wherever it is silent.
func NormalizeGroup(c v1alpha1.ConnectionGroupConfig) v1alpha1.ConnectionGroupConfig {
	c = *c.DeepCopy()
	c.Enabled = cmp.Or(c.Enabled, new(true))
	c.IPv6Enabled = cmp.Or(c.IPv6Enabled, new(true))
	return c
}

// DistributionDifferences lists the fields in which AWS differs from what is desired, in the
// order in which the kind has them.
func DistributionDifferences(desired, observed v1alpha1.DistributionConfig) []resource.Difference {
	desired, observed = NormalizeDistribution(desired), NormalizeDistribution(observed)
	inheritOwners(desired.Origins, observed.Origins)
	if desired.ViewerCertificate == nil {
		// A spec that is silent keeps the certificate that there is, which tenants may be served with.
		desired.ViewerCertificate = observed.ViewerCertificate
	}
	keepSilent(&desired, observed)
	hideHeaders(desired.Origins, observed.Origins)
	return differences(desired, observed)
}

// GroupDifferences lists the fields in which AWS differs from what is desired.
func GroupDifferences(desired, observed v1alpha1.ConnectionGroupConfig) []resource.Difference {
	return differences(NormalizeGroup(desired), NormalizeGroup(observed))
}

// inheritOwners accepts the owner that AWS shows of a VPC origin where the spec names none:
// the ID of a VPC origin belongs to one account.
func inheritOwners(desired, observed []v1alpha1.Origin) {
	for _, d := range desired {
		i := slices.IndexFunc(observed, func(o v1alpha1.Origin) bool { return o.ID == d.ID })
		if i < 0 || d.VPCOriginConfig == nil || observed[i].VPCOriginConfig == nil {
			continue
		}
		want, have := d.VPCOriginConfig, observed[i].VPCOriginConfig
		if want.OwnerAccountID == "" && want.VPCOriginID == have.VPCOriginID {
			want.OwnerAccountID = have.OwnerAccountID
		}
	}
}

// keepSilent takes over the blocks of AWS on which the spec is silent. They are younger than their settings in AWS, so an
// older spec says nothing of what was set there by hand.
func keepSilent(desired *v1alpha1.DistributionConfig, observed v1alpha1.DistributionConfig) {
	desired.CacheTagConfig = kept(desired.CacheTagConfig, observed.CacheTagConfig)
	desired.ViewerMTLSConfig = kept(desired.ViewerMTLSConfig, observed.ViewerMTLSConfig)
	desired.ConnectionFunctionAssociation = kept(desired.ConnectionFunctionAssociation, observed.ConnectionFunctionAssociation)
	for _, d := range desired.Origins {
		i := slices.IndexFunc(observed.Origins, func(o v1alpha1.Origin) bool { return o.ID == d.ID })
		if c := d.CustomOriginConfig; c != nil {
			var has *v1alpha1.OriginMTLSConfig
			if i >= 0 && observed.Origins[i].CustomOriginConfig != nil {
				has = observed.Origins[i].CustomOriginConfig.OriginMTLSConfig
			}
			c.OriginMTLSConfig = kept(c.OriginMTLSConfig, has)
		}
	}
	if d, o := desired.DefaultCacheBehavior, observed.DefaultCacheBehavior; d != nil && o != nil {
		d.RealtimeLogConfigARN = kept(d.RealtimeLogConfigARN, o.RealtimeLogConfigARN)
	}
	for n := range desired.CacheBehaviors {
		d := &desired.CacheBehaviors[n]
		var has *string
		if i := slices.IndexFunc(observed.CacheBehaviors, func(o v1alpha1.CacheBehavior) bool { return o.PathPattern == d.PathPattern }); i >= 0 {
			has = observed.CacheBehaviors[i].RealtimeLogConfigARN
		}
		d.RealtimeLogConfigARN = kept(d.RealtimeLogConfigARN, has)
	}
}

// kept is the wanted block: that of AWS where the spec is silent, and none where it is empty.
func kept[T comparable](desired, observed *T) *T {
	var empty T
	switch {
	case desired == nil:
		return observed
	case *desired == empty:
		return nil
	}
	return desired
}

// The text that replaces the value of a custom header.
const (
	headerHidden      = "(not shown)"
	otherHeaderHidden = "(another value, not shown)"
)

// hideHeaders takes the values out of custom headers, but not whether they differ: such a
// value is often the secret by which an origin knows CloudFront, and more people read status
// and events than may read the spec.
func hideHeaders(desired, observed []v1alpha1.Origin) {
	values := map[[2]string]string{}
	for _, o := range desired {
		for i, h := range o.CustomHeaders {
			values[[2]string{o.ID, h.Name}] = h.Value
			o.CustomHeaders[i].Value = headerHidden
		}
	}
	for _, o := range observed {
		for i, h := range o.CustomHeaders {
			value, wanted := values[[2]string{o.ID, h.Name}]
			o.CustomHeaders[i].Value = headerHidden
			if wanted && value != h.Value {
				o.CustomHeaders[i].Value = otherHeaderHidden
			}
		}
	}
}

// sorted puts a list into the order of its keys, and makes an empty one nil.
func sorted[T any, K cmp.Ordered](list []T, key func(T) K) []T {
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(key(a), key(b)) })
	return orNil(list)
}

// set puts a list into order, without what is in it twice, and makes an empty one nil.
func set[T cmp.Ordered](list []T) []T {
	slices.Sort(list)
	return orNil(slices.Compact(list))
}

func orNil[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

func orThese[T any](list []T, values ...T) []T {
	if len(list) == 0 {
		return values
	}
	return list
}

// GroupName is the effective name of the object's connection group in AWS.
func GroupName(o *v1alpha1.ConnectionGroup) string {
	if o.Spec.Name != "" {
		return o.Spec.Name
	}
	return o.Name
}
