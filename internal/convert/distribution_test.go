package convert_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/specimen"
)

const certificateARN = "arn:aws:acm:us-east-1:111122223333:certificate/1"

var modes = []v1alpha1.ConnectionMode{v1alpha1.ConnectionModeTenantOnly, v1alpha1.ConnectionModeDirect}

// minimal has what the schema requires.
func minimal(mode v1alpha1.ConnectionMode) v1alpha1.DistributionConfig {
	return v1alpha1.DistributionConfig{
		ConnectionMode: mode,
		Origins:        []v1alpha1.Origin{{ID: "app", DomainName: "app.example.net", CustomOriginConfig: &v1alpha1.CustomOriginConfig{}}},
		DefaultCacheBehavior: &v1alpha1.CacheBehaviorSettings{
			TargetOriginID: "app", ViewerProtocolPolicy: "https-only", CachePolicyID: "p",
		},
	}
}

func TestNormalizeDistributionStatesTheDefaults(t *testing.T) {
	want := v1alpha1.DistributionConfig{
		ConnectionMode: "direct", Enabled: new(true), HTTPVersion: "http2", PriceClass: "PriceClass_All", IPv6Enabled: new(false),
		Origins: []v1alpha1.Origin{{
			ID: "app", DomainName: "app.example.net", ConnectionAttempts: 3, ConnectionTimeout: 10,
			CustomOriginConfig: &v1alpha1.CustomOriginConfig{
				OriginProtocolPolicy: "https-only", HTTPPort: 80, HTTPSPort: 443, OriginSSLProtocols: []v1alpha1.SSLProtocol{"TLSv1.2"},
				OriginReadTimeout: 30, OriginKeepaliveTimeout: 5, IPAddressType: "ipv4",
			},
		}},
		DefaultCacheBehavior: &v1alpha1.CacheBehaviorSettings{
			TargetOriginID: "app", ViewerProtocolPolicy: "https-only", CachePolicyID: "p", Compress: new(false),
			AllowedMethods: []v1alpha1.Method{"GET", "HEAD"}, CachedMethods: []v1alpha1.Method{"GET", "HEAD"},
			GRPCConfig: &v1alpha1.GRPCConfig{Enabled: new(false)},
		},
		Restrictions: &v1alpha1.Restrictions{GeoRestriction: &v1alpha1.GeoRestriction{RestrictionType: "none"}},
	}
	if diff := cmp.Diff(want, convert.NormalizeDistribution(minimal("direct"))); diff != "" {
		t.Errorf("a standard distribution (-want +got):\n%s", diff)
	}
	want.ConnectionMode, want.PriceClass, want.IPv6Enabled = "tenant-only", "", nil
	want.TenantConfig = &v1alpha1.TenantConfig{}
	if diff := cmp.Diff(want, convert.NormalizeDistribution(minimal(""))); diff != "" {
		t.Errorf("a multi-tenant distribution (-want +got):\n%s", diff)
	}
}

func TestEqualDistributions(t *testing.T) {
	tests := map[string]struct {
		mode              v1alpha1.ConnectionMode
		desired, observed func(*v1alpha1.DistributionConfig)
	}{
		"empty blocks are absent ones": {"tenant-only", func(c *v1alpha1.DistributionConfig) {
			c.OriginGroups, c.CacheBehaviors, c.CustomErrorResponses = []v1alpha1.OriginGroup{}, []v1alpha1.CacheBehavior{}, []v1alpha1.CustomErrorResponse{}
			c.TenantConfig, c.Restrictions = &v1alpha1.TenantConfig{}, &v1alpha1.Restrictions{}
			c.DefaultCacheBehavior.TrustedKeyGroups, c.DefaultCacheBehavior.AllowedMethods = []string{}, []v1alpha1.Method{}
			c.DefaultCacheBehavior.GRPCConfig = &v1alpha1.GRPCConfig{}
			c.Origins[0].CustomHeaders = []v1alpha1.CustomHeader{}
		}, nil},
		"AWS shows what a multi-tenant distribution has no use for": {"tenant-only", nil, func(c *v1alpha1.DistributionConfig) {
			c.PriceClass, c.IPv6Enabled, c.Aliases = "None", new(false), []string{}
		}},
		"capital letters": {
			"direct", func(c *v1alpha1.DistributionConfig) { c.Aliases = []string{"shop.example.com"} },
			func(c *v1alpha1.DistributionConfig) {
				c.Aliases, c.HTTPVersion = []string{"Shop.Example.com"}, "HTTP2"
			},
		},
		"any order": {
			"direct",
			func(c *v1alpha1.DistributionConfig) {
				c.Aliases = []string{"b.example.com", "a.example.com"}
				c.DefaultCacheBehavior.AllowedMethods = []v1alpha1.Method{"HEAD", "GET"}
				c.Origins = append(c.Origins, v1alpha1.Origin{ID: "aaa", CustomHeaders: []v1alpha1.CustomHeader{{Name: "b"}, {Name: "a"}}})
			},
			func(c *v1alpha1.DistributionConfig) {
				c.Aliases = []string{"a.example.com", "b.example.com"}
				c.Origins = append([]v1alpha1.Origin{{ID: "aaa", CustomHeaders: []v1alpha1.CustomHeader{{Name: "a"}, {Name: "b"}}}}, c.Origins...)
			},
		},
		"a spec that is silent about the certificate keeps whichever there is": {"tenant-only", nil, func(c *v1alpha1.DistributionConfig) {
			c.ViewerCertificate = &v1alpha1.ViewerCertificate{ACMCertificateARN: "arn:1", MinimumProtocolVersion: "TLSv1.3_2025"}
		}},
		"CloudFront's own certificate has no settings": {"direct", func(c *v1alpha1.DistributionConfig) {
			c.ViewerCertificate = &v1alpha1.ViewerCertificate{CloudFrontDefaultCertificate: new(true)}
		}, func(c *v1alpha1.DistributionConfig) {
			c.ViewerCertificate = &v1alpha1.ViewerCertificate{CloudFrontDefaultCertificate: new(true)}
		}},
		"AWS fills in the owner of a VPC origin": {
			"direct",
			func(c *v1alpha1.DistributionConfig) {
				c.Origins[0].VPCOriginConfig = &v1alpha1.VPCOriginConfig{VPCOriginID: "vo_1"}
			},
			func(c *v1alpha1.DistributionConfig) {
				c.Origins[0].VPCOriginConfig = &v1alpha1.VPCOriginConfig{VPCOriginID: "vo_1", OwnerAccountID: "111122223333"}
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			desired, observed := minimal(tt.mode), minimal(tt.mode)
			if tt.desired != nil {
				tt.desired(&desired)
			}
			if tt.observed != nil {
				tt.observed(&observed)
			}
			if got := convert.DistributionDifferences(desired, observed); got != nil {
				t.Errorf("differences %+v", got)
			}
		})
	}
}

func TestDistributionDifferences(t *testing.T) {
	long := strings.Repeat("ü", 2000)
	tests := map[string]struct {
		desired, observed func(*v1alpha1.DistributionConfig)
		want              []resource.Difference
	}{
		"a field of an origin is found by the origin's id": {
			nil, func(c *v1alpha1.DistributionConfig) { c.Origins[0].OriginPath = "/v2" },
			[]resource.Difference{{Field: "origins[app].originPath", Observed: "/v2"}},
		},
		"an absent field shows its default": {
			nil, func(c *v1alpha1.DistributionConfig) { c.Origins[0].CustomOriginConfig.OriginReadTimeout = 60 },
			[]resource.Difference{{Field: "origins[app].customOriginConfig.originReadTimeout", Desired: "30", Observed: "60"}},
		},
		"a block that only one side has is shown whole": {
			func(c *v1alpha1.DistributionConfig) {
				c.ViewerCertificate = &v1alpha1.ViewerCertificate{ACMCertificateARN: "arn:<1>"}
			}, nil,
			[]resource.Difference{{Field: "viewerCertificate", Desired: `{"acmCertificateArn":"arn:<1>","minimumProtocolVersion":"TLSv1.2_2021","sslSupportMethod":"sni-only"}`}},
		},
		"so is an element": {
			nil, func(c *v1alpha1.DistributionConfig) {
				c.CustomErrorResponses = []v1alpha1.CustomErrorResponse{{ErrorCode: 404}}
			},
			[]resource.Difference{{Field: "customErrorResponses[404]", Observed: `{"errorCode":404,"errorCachingMinTTL":10}`}},
		},
		"behaviors are told apart by their place": {
			func(c *v1alpha1.DistributionConfig) {
				c.CacheBehaviors = []v1alpha1.CacheBehavior{{PathPattern: "/a"}, {PathPattern: "/b"}}
			},
			func(c *v1alpha1.DistributionConfig) {
				c.CacheBehaviors = []v1alpha1.CacheBehavior{
					{PathPattern: "/b"}, {PathPattern: "/b", CacheBehaviorSettings: v1alpha1.CacheBehaviorSettings{Compress: new(true)}},
				}
			},
			[]resource.Difference{
				{Field: "cacheBehaviors[0].pathPattern", Desired: "/a", Observed: "/b"},
				{Field: "cacheBehaviors[1].compress", Desired: "false", Observed: "true"},
			},
		},
		"a set is shown whole": {
			nil, func(c *v1alpha1.DistributionConfig) {
				c.DefaultCacheBehavior.AllowedMethods = []v1alpha1.Method{"OPTIONS", "HEAD", "GET"}
			},
			[]resource.Difference{{Field: "defaultCacheBehavior.allowedMethods", Desired: "GET,HEAD", Observed: "GET,HEAD,OPTIONS"}},
		},
		"the values of headers are secrets": {
			func(c *v1alpha1.DistributionConfig) {
				c.Origins[0].CustomHeaders = []v1alpha1.CustomHeader{{Name: "Key", Value: "hush"}, {Name: "Same", Value: "hush"}, {Name: "Gone", Value: "hush"}}
			},
			func(c *v1alpha1.DistributionConfig) {
				c.Origins[0].CustomHeaders = []v1alpha1.CustomHeader{{Name: "Key", Value: "whisper"}, {Name: "Same", Value: "hush"}, {Name: "New", Value: "whisper"}}
			},
			[]resource.Difference{
				{Field: "origins[app].customHeaders[Gone]", Desired: `{"name":"Gone","value":"(not shown)"}`},
				{Field: "origins[app].customHeaders[Key].value", Desired: "(not shown)", Observed: "(another value, not shown)"},
				{Field: "origins[app].customHeaders[New]", Observed: `{"name":"New","value":"(not shown)"}`},
			},
		},
		"another VPC origin has another owner": {
			func(c *v1alpha1.DistributionConfig) {
				c.Origins[0].VPCOriginConfig = &v1alpha1.VPCOriginConfig{VPCOriginID: "vo_1"}
			},
			func(c *v1alpha1.DistributionConfig) {
				c.Origins[0].VPCOriginConfig = &v1alpha1.VPCOriginConfig{VPCOriginID: "vo_2", OwnerAccountID: "1"}
			},
			[]resource.Difference{
				{Field: "origins[app].vpcOriginConfig.vpcOriginId", Desired: "vo_1", Observed: "vo_2"},
				{Field: "origins[app].vpcOriginConfig.ownerAccountId", Observed: "1"},
			},
		},
		"a long value is cut off": {
			nil, func(c *v1alpha1.DistributionConfig) { c.Comment = long },
			[]resource.Difference{{Field: "comment", Observed: long[:1020] + "…"}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			desired, observed := minimal("direct"), minimal("direct")
			if tt.desired != nil {
				tt.desired(&desired)
			}
			if tt.observed != nil {
				tt.observed(&observed)
			}
			got := convert.DistributionDifferences(desired, observed)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

// No field is forgotten: whichever is changed, the differences name it, and nothing else.
func TestEveryFieldIsCompared(t *testing.T) {
	// The fields that count in one connection mode only.
	meaningless := map[v1alpha1.ConnectionMode][]string{
		v1alpha1.ConnectionModeTenantOnly: {"aliases", "priceClass", "ipv6Enabled", "logging"},
	}
	for _, mode := range modes {
		build := func() v1alpha1.DistributionConfig { return specimen.Distribution(mode) }
		for _, change := range specimen.Changes(build) {
			t.Run(string(mode)+": "+change.Field, func(t *testing.T) {
				got := convert.DistributionDifferences(build(), change.Value)
				if slices.ContainsFunc(meaningless[mode], func(f string) bool { return strings.HasPrefix(change.Field, f) }) {
					if got != nil {
						t.Errorf("differences %+v in what AWS ignores", got)
					}
					return
				}
				if change.Field == "connectionMode" {
					change.Key = true // changes what counts
				}
				checkNamed(t, change.Field, change.Key, change.Block, got)
			})
		}
	}
	for _, change := range specimen.Changes(specimen.Group) {
		t.Run("group: "+change.Field, func(t *testing.T) {
			checkNamed(t, change.Field, change.Key, change.Block, convert.GroupDifferences(specimen.Group(), change.Value))
		})
	}
}

func checkNamed(t *testing.T, field string, key, block bool, got []resource.Difference) {
	t.Helper()
	named := func(d resource.Difference) bool {
		switch {
		case key:
			return strings.HasPrefix(field, d.Field)
		case block:
			return strings.HasPrefix(d.Field, field)
		}
		return d.Field == field
	}
	if !slices.ContainsFunc(got, named) {
		t.Errorf("differences %+v do not name the field", got)
	}
	for _, d := range got {
		if !key && !named(d) {
			t.Errorf("difference %+v in another field", d)
		}
		if d.Desired == d.Observed {
			t.Errorf("both sides of %s read %q", d.Field, d.Desired)
		}
	}
}

func TestNormalizeDistributionTwiceIsOnce(t *testing.T) {
	for _, mode := range modes {
		rapid.Check(t, func(t *rapid.T) {
			c := specimen.Distributions(mode, certificateARN).Draw(t, "distribution")
			before := *c.DeepCopy()
			once := convert.NormalizeDistribution(c)
			if diff := cmp.Diff(before, c); diff != "" {
				t.Fatalf("the argument was changed:\n%s", diff)
			}
			if diff := cmp.Diff(once, convert.NormalizeDistribution(once)); diff != "" {
				t.Fatalf("twice (-once +twice):\n%s", diff)
			}
			if got := convert.DistributionDifferences(c, once); got != nil {
				t.Fatalf("differences from itself %+v", got)
			}
		})
	}
}

// Only members without a default of AWS are absent after normalising.
func TestNormalizeGroup(t *testing.T) {
	want := v1alpha1.ConnectionGroupConfig{Enabled: new(true), IPv6Enabled: new(true)}
	if diff := cmp.Diff(want, convert.NormalizeGroup(v1alpha1.ConnectionGroupConfig{})); diff != "" {
		t.Errorf("group (-want +got):\n%s", diff)
	}
	off := v1alpha1.ConnectionGroupConfig{Enabled: new(false), IPv6Enabled: new(false), AnycastIPListID: "aip_1"}
	if diff := cmp.Diff(off, convert.NormalizeGroup(off)); diff != "" {
		t.Errorf("what is stated (-want +got):\n%s", diff)
	}
}

// The property tests speak of every field only if the generator does.
func TestGeneratedDistributionsHaveEveryField(t *testing.T) {
	seen := map[string]bool{}
	for _, mode := range modes {
		generated := specimen.Distributions(mode, certificateARN)
		for seed := range 500 {
			for field := range specimen.Fields(generated.Example(seed)) {
				seen[field] = true
			}
		}
	}
	for field := range specimen.Fields(specimen.Distribution("direct")) {
		if !seen[field] {
			t.Errorf("%s is never set", field)
		}
	}
}
