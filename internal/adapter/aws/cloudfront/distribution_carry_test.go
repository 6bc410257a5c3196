package cloudfront_test

import (
	"slices"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
)

// ignoreSerde skips what the SDK puts into each of its structs.
var ignoreSerde = cmp.FilterPath(func(p cmp.Path) bool {
	return p.Last().String() == ".noSmithyDocumentSerde"
}, cmp.Ignore())

// withTwoOfEach has an origin of a server and one of a bucket, and two behaviors.
func withTwoOfEach(mode v1alpha1.ConnectionMode) v1alpha1.DistributionConfig {
	c := plain(mode)
	c.Origins = append(c.Origins, v1alpha1.Origin{
		ID: "files", DomainName: "files.s3.eu-central-1.amazonaws.com", S3OriginConfig: &v1alpha1.S3OriginConfig{},
	})
	for _, pattern := range []string{"/a/*", "/b/*"} {
		c.CacheBehaviors = append(c.CacheBehaviors, v1alpha1.CacheBehavior{PathPattern: pattern, CacheBehaviorSettings: *c.DefaultCacheBehavior.DeepCopy()})
	}
	return convert.NormalizeDistribution(c)
}

// foreign are settings that the spec is silent about, made in the console.
func foreign(standard bool) func(*types.DistributionConfig) {
	return func(c *types.DistributionConfig) {
		c.CacheTagConfig = &types.CacheTagConfig{HeaderName: awssdk.String("Cache-Tag")}
		c.ConnectionFunctionAssociation = &types.ConnectionFunctionAssociation{Id: awssdk.String("cf_1")}
		c.ViewerMtlsConfig = &types.ViewerMtlsConfig{
			Mode: "optional", TrustStoreConfig: &types.TrustStoreConfig{TrustStoreId: awssdk.String("ts_1"), AdvertiseTrustStoreCaNames: new(true)},
		}
		c.DefaultCacheBehavior.RealtimeLogConfigArn = awssdk.String("arn:default")
		c.CacheBehaviors.Items[0].RealtimeLogConfigArn = awssdk.String("arn:a")
		c.CacheBehaviors.Items[1].RealtimeLogConfigArn = awssdk.String("arn:b")
		app := originOf(c, "app")
		app.CustomOriginConfig.OriginMtlsConfig = &types.OriginMtlsConfig{ClientCertificateArn: awssdk.String("arn:client")}
		if !standard {
			return
		}
		c.Staging = new(true)
		c.AnycastIpListId = awssdk.String("aip_1")
		c.ContinuousDeploymentPolicyId = awssdk.String("cdp_1")
		c.Logging.IncludeCookies = new(true)
		c.DefaultCacheBehavior.SmoothStreaming = new(true)
		c.DefaultCacheBehavior.TrustedSigners = &types.TrustedSigners{Enabled: new(true), Quantity: awssdk.Int32(1), Items: []string{"self"}}
		originOf(c, "files").S3OriginConfig.OriginAccessIdentity = awssdk.String("origin-access-identity/cloudfront/E1")
	}
}

func originOf(c *types.DistributionConfig, id string) *types.Origin {
	i := slices.IndexFunc(c.Origins.Items, func(o types.Origin) bool { return *o.Id == id })
	return &c.Origins.Items[i]
}

func TestForeignSettingsSurvive(t *testing.T) {
	for _, mode := range modes {
		t.Run(string(mode), func(t *testing.T) {
			w := newWorld(t)
			d := w.createDistribution(t, "uid-1", withTwoOfEach(mode))
			w.edit(t, d.ID, foreign(mode == "direct"))
			seen := w.read(t, d.ID)
			if diff := convert.DistributionDifferences(withTwoOfEach(mode), seen.Config); diff != nil {
				t.Errorf("what the spec is silent about is a difference: %+v", diff)
			}

			// Everything moves: one more origin before the others, and the behaviors the other way round.
			next := withTwoOfEach(mode)
			next.Comment = "changed"
			next.Origins = append([]v1alpha1.Origin{{ID: "aaa", DomainName: "aaa.example.net", CustomOriginConfig: &v1alpha1.CustomOriginConfig{}}}, next.Origins...)
			slices.Reverse(next.CacheBehaviors)
			next = convert.NormalizeDistribution(next)
			want := w.raw(t, d.ID)
			updated, err := w.client.UpdateDistribution(t.Context(), seen, next)
			if err != nil {
				t.Fatal(err)
			}
			got := w.raw(t, d.ID)
			if len(got.Origins.Items) != 3 || originOf(got, "aaa").CustomOriginConfig.OriginMtlsConfig != nil {
				t.Errorf("origins %+v", got.Origins.Items)
			}
			want.Comment = awssdk.String("changed")
			want.Origins.Items, want.Origins.Quantity = append([]types.Origin{*originOf(got, "aaa")}, want.Origins.Items...), awssdk.Int32(3)
			slices.Reverse(want.CacheBehaviors.Items)
			if diff := cmp.Diff(want, got, ignoreSerde); diff != "" {
				t.Errorf("after an update (-want +got):\n%s", diff)
			}

			if _, err := w.client.DisableDistribution(t.Context(), updated); err != nil {
				t.Fatal(err)
			}
			got.Enabled = new(false)
			if diff := cmp.Diff(got, w.raw(t, d.ID), ignoreSerde); diff != "" {
				t.Errorf("after a disable (-want +got):\n%s", diff)
			}
		})
	}
}

// An empty block removes what a spec that is silent keeps.
func TestEmptyBlocksRemoveWhatSilenceKeeps(t *testing.T) {
	w := newWorld(t)
	d := w.createDistribution(t, "uid-1", withTwoOfEach("tenant-only"))
	w.edit(t, d.ID, foreign(false))
	seen, next := w.read(t, d.ID), withTwoOfEach("tenant-only")
	dropSilent(&next)
	var fields []string
	for _, diff := range convert.DistributionDifferences(next, seen.Config) {
		fields = append(fields, diff.Field)
	}
	want := []string{
		"origins[app].customOriginConfig.originMtlsConfig", "defaultCacheBehavior.realtimeLogConfigArn",
		"cacheBehaviors[0].realtimeLogConfigArn", "cacheBehaviors[1].realtimeLogConfigArn", "cacheTagConfig", "viewerMtlsConfig", "connectionFunctionAssociation",
	}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	updated, err := w.client.UpdateDistribution(t.Context(), seen, convert.NormalizeDistribution(next))
	if err != nil {
		t.Fatal(err)
	}
	if diff := convert.DistributionDifferences(next, updated.Config); diff != nil {
		t.Errorf("differences after the update: %+v", diff)
	}
	raw := w.raw(t, d.ID)
	if raw.CacheTagConfig != nil || raw.ViewerMtlsConfig != nil || raw.ConnectionFunctionAssociation != nil ||
		raw.DefaultCacheBehavior.RealtimeLogConfigArn != nil || raw.CacheBehaviors.Items[0].RealtimeLogConfigArn != nil ||
		originOf(raw, "app").CustomOriginConfig.OriginMtlsConfig != nil {
		t.Errorf("AWS has %+v", raw)
	}
}

// CloudFront takes a cache policy or the settings from before there were policies.
func TestOldCacheSettingsGiveWayToThePolicy(t *testing.T) {
	w := newWorld(t)
	spec := withTwoOfEach("direct")
	d := w.createDistribution(t, "uid-1", spec)
	w.edit(t, d.ID, func(c *types.DistributionConfig) {
		b := c.DefaultCacheBehavior
		b.CachePolicyId = nil
		//nolint:staticcheck // what older distributions have
		b.ForwardedValues, b.MinTTL = &types.ForwardedValues{QueryString: new(true), Cookies: &types.CookiePreference{Forward: "none"}}, awssdk.Int64(60)
	})
	seen := w.read(t, d.ID)
	diff := convert.DistributionDifferences(spec, seen.Config)
	if len(diff) != 1 || diff[0].Field != "defaultCacheBehavior.cachePolicyId" {
		t.Errorf("differences %+v", diff)
	}
	disabled, err := w.client.DisableDistribution(t.Context(), seen)
	if err != nil || w.raw(t, d.ID).DefaultCacheBehavior.CachePolicyId != nil {
		t.Fatalf("disabling: %v, or it brought a cache policy", err)
	}
	updated, err := w.client.UpdateDistribution(t.Context(), disabled, spec)
	if err != nil {
		t.Fatal(err)
	}
	if diff := convert.DistributionDifferences(spec, updated.Config); diff != nil {
		t.Errorf("differences %+v", diff)
	}
}

// Members that leave the spec are removed in AWS.
func TestAnUpdateEmptiesWhatIsNotDesired(t *testing.T) {
	for _, mode := range modes {
		t.Run(string(mode), func(t *testing.T) {
			w := newWorld(t)
			full := withTwoOfEach(mode)
			full.Comment, full.DefaultRootObject = "c", "index.html"
			full.Origins[0].OriginPath = "/v1"
			full.CustomErrorResponses = []v1alpha1.CustomErrorResponse{{ErrorCode: 404, ResponseCode: 200, ResponsePagePath: "/x"}}
			full.ViewerCertificate = &v1alpha1.ViewerCertificate{ACMCertificateARN: certificateARN}
			full.Restrictions = &v1alpha1.Restrictions{GeoRestriction: &v1alpha1.GeoRestriction{RestrictionType: "whitelist", Locations: []v1alpha1.CountryCode{"DE"}}}
			if mode == "direct" {
				full.Aliases = []string{"shop.example.com"}
				full.Logging = &v1alpha1.Logging{Bucket: "logs.s3.amazonaws.com"}
			} else {
				full.TenantConfig = &v1alpha1.TenantConfig{ParameterDefinitions: []v1alpha1.ParameterDefinition{{
					Name: "tier", Definition: &v1alpha1.ParameterSchema{StringSchema: &v1alpha1.StringSchema{Required: new(true)}},
				}}}
			}
			d := w.createDistribution(t, "uid-1", convert.NormalizeDistribution(full))
			if diff := convert.DistributionDifferences(full, d.Config); diff != nil {
				t.Fatalf("differences after the create %+v", diff)
			}
			if _, err := w.client.UpdateDistribution(t.Context(), d, plain(mode)); err != nil {
				t.Fatal(err)
			}
			if diff := convert.DistributionDifferences(plain(mode), w.read(t, d.ID).Config); diff != nil {
				t.Errorf("differences after the update %+v", diff)
			}
		})
	}
}
