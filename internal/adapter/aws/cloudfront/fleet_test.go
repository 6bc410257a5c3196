package cloudfront_test

import (
	"slices"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/specimen"
)

// A member with a field in the kind is never called unmanaged, however AWS shows it.
func TestWhatTheKindHasAFieldForIsManaged(t *testing.T) {
	for _, mode := range modes {
		generated := specimen.Distributions(mode, certificateARN)
		t.Run(string(mode), func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				w := newWorld(t)
				w.ChangeSwitches(func(s *sim.Switches) {
					s.UnsupportedEchoed = rapid.Bool().Draw(r, "AWS shows what is not supported")
					s.SetsReordered = rapid.Bool().Draw(r, "AWS reorders sets")
				})
				created, err := w.client.CreateDistribution(t.Context(), "uid-1", convert.NormalizeDistribution(generated.Draw(r, "distribution")), ownerTags)
				if err != nil {
					r.Fatal(err)
				}
				if found := w.client.Unmanaged(w.read(t, created.ID)); len(found) > 0 {
					r.Fatalf("unmanaged: %v", found)
				}
			})
		})
	}
}

func TestWhatTheKindHasNoFieldForIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*types.DistributionConfig)
		want   []string
	}{
		"an origin access identity": {func(d *types.DistributionConfig) {
			d.Origins.Items[0].S3OriginConfig = &types.S3OriginConfig{OriginAccessIdentity: awssdk.String("origin-access-identity/cloudfront/E1")}
		}, []string{"Origins[app].S3OriginConfig.OriginAccessIdentity"}},
		"settings of the cache from before cache policies": {func(d *types.DistributionConfig) {
			b := d.DefaultCacheBehavior
			b.CachePolicyId, b.MaxTTL = nil, new(int64(60))                                                                                        //nolint:staticcheck // old distributions still have it
			b.DefaultTTL = new(int64(30))                                                                                                          //nolint:staticcheck // old distributions still have it
			b.ForwardedValues = &types.ForwardedValues{QueryString: new(true), Cookies: &types.CookiePreference{Forward: types.ItemSelectionNone}} //nolint:staticcheck // old distributions still have it
		}, []string{
			"DefaultCacheBehavior.DefaultTTL", "DefaultCacheBehavior.ForwardedValues.Cookies.Forward",
			"DefaultCacheBehavior.ForwardedValues.QueryString", "DefaultCacheBehavior.MaxTTL",
		}},
		"a key of real-time logs": {func(d *types.DistributionConfig) {
			d.DefaultCacheBehavior.RealtimeLogConfigArn = awssdk.String("arn:aws:cloudfront::111122223333:realtime-log-config/all")
		}, []string{"DefaultCacheBehavior.RealtimeLogConfigArn"}},
		"what is switched off": {func(d *types.DistributionConfig) {
			d.DefaultCacheBehavior.SmoothStreaming = new(false)
			d.DefaultCacheBehavior.TrustedSigners = &types.TrustedSigners{Enabled: new(false), Quantity: new(int32(0))}
			d.Logging = &types.LoggingConfig{Enabled: new(false), Bucket: new(""), Prefix: new(""), IncludeCookies: new(true)}
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			d := w.createDistribution(t, "uid-1", plain("direct"))
			raw := w.raw(t, d.ID)
			c.change(raw)
			// Not all of that can be made in the simulator.
			d.Raw = raw
			if diff := cmp.Diff(c.want, w.client.Unmanaged(d)); diff != "" {
				t.Errorf("unmanaged (-want +got):\n%s", diff)
			}
		})
	}
}

func TestListTenantsOf(t *testing.T) {
	w := newWorld(t)
	all, _, err := w.client.ListTenants(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, o := range all {
		if o.DistributionID == distributionID {
			want = append(want, o.Name)
		}
	}
	var got []string
	for marker, more := "", true; more; more = marker != "" {
		page, next, err := w.client.ListTenantsOf(t.Context(), distributionID, marker)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range page {
			got = append(got, o.Name)
		}
		marker = next
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tenants (-want +got):\n%s", diff)
	}
}
