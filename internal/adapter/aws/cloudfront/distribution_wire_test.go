package cloudfront

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
)

// fillSDK sets every member, those that this version of the SDK has and those of the next.
// Texts are numbers, for members that are numbers written as text.
func fillSDK(v reflect.Value, next *int) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillSDK(v.Elem(), next)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fillSDK(v.Field(i), next)
			}
		}
		if quantity := v.FieldByName("Quantity"); quantity.IsValid() {
			quantity.Elem().SetInt(int64(v.FieldByName("Items").Len()))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fillSDK(v.Index(i), next)
		}
	case reflect.String:
		*next++
		v.SetString(fmt.Sprint(*next))
	case reflect.Bool:
		v.SetBool(true)
	default:
		*next++
		v.SetInt(int64(*next))
	}
}

// flat is every value by its path.
func flat(v reflect.Value, path string, out map[string]string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			flat(v.Elem(), path, out)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				flat(v.Field(i), path+"."+field.Name, out)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			flat(v.Index(i), fmt.Sprintf("%s[%d]", path, i), out)
		}
	default:
		out[path] = fmt.Sprint(v)
	}
}

var place = regexp.MustCompile(`\[\d+\]`)

// An update that changes nothing sends back what was read, to the last member. The exceptions are listed here.
func TestAnUpdateSendsBackWhatItHasNoFieldFor(t *testing.T) {
	behavior := []string{".DefaultTTL", ".ForwardedValues", ".MaxTTL", ".MinTTL"}
	both := []string{
		// An access control replaces an identity.
		".Origins.Items.S3OriginConfig.OriginAccessIdentity",
	}
	tests := map[v1alpha1.ConnectionMode]struct{ behavior, top []string }{
		"direct":      {behavior, append(both, ".TenantConfig")},
		"tenant-only": {behavior, both},
	}
	for mode, want := range tests {
		t.Run(string(mode), func(t *testing.T) {
			var raw types.DistributionConfig
			next := 100
			fillSDK(reflect.ValueOf(&raw).Elem(), &next)
			raw.ConnectionMode = types.ConnectionMode(mode)
			before := map[string]string{}
			flat(reflect.ValueOf(raw), "", before)

			sent := wireDistribution(raw, convert.NormalizeDistribution(readDistribution(&raw)))

			after, untouched := map[string]string{}, map[string]string{}
			flat(reflect.ValueOf(*sent), "", after)
			flat(reflect.ValueOf(raw), "", untouched)
			if diff := cmp.Diff(before, untouched); diff != "" {
				t.Errorf("what was read has changed:\n%s", diff)
			}
			var allowed []*regexp.Regexp
			for _, path := range want.top {
				allowed = append(allowed, regexp.MustCompile(`^`+regexp.QuoteMeta(path)+`(\.|$)`))
			}
			for _, path := range want.behavior {
				allowed = append(allowed, regexp.MustCompile(`^\.(DefaultCacheBehavior|CacheBehaviors\.Items)`+regexp.QuoteMeta(path)+`(\.|$)`))
			}
			used := map[*regexp.Regexp]bool{}
			both := maps.Clone(before)
			maps.Copy(both, after)
			for _, path := range slices.Sorted(maps.Keys(both)) {
				if before[path] == after[path] {
					continue
				}
				i := slices.IndexFunc(allowed, func(re *regexp.Regexp) bool { return re.MatchString(place.ReplaceAllString(path, "")) })
				if i < 0 {
					t.Errorf("%s was %q and is sent as %q", path, before[path], after[path])
					continue
				}
				used[allowed[i]] = true
			}
			for _, re := range allowed {
				if !used[re] {
					t.Errorf("%s is sent back after all", re)
				}
			}
		})
	}
}

// Members that a spec does not mention stay as they were read, and members that it removes are sent as empty.
func TestWhatASpecIsSilentAboutStays(t *testing.T) {
	off := &types.LoggingConfig{Enabled: new(false), IncludeCookies: new(true), Bucket: new(""), Prefix: new("")}
	policy := &types.ViewerCertificate{CloudFrontDefaultCertificate: new(false), MinimumProtocolVersion: "TLSv1.2_2021", SSLSupportMethod: "sni-only"}
	issued := &types.ViewerCertificate{
		CloudFrontDefaultCertificate: new(false), ACMCertificateArn: new("arn:1"), MinimumProtocolVersion: "TLSv1.2_2021", SSLSupportMethod: "sni-only",
		CertificateSource: "acm", Certificate: new("arn:1"), //nolint:staticcheck // AWS shows deprecated members
	}
	own := &types.ViewerCertificate{CloudFrontDefaultCertificate: new(true)}
	named := func(arn string) *v1alpha1.ViewerCertificate {
		return &v1alpha1.ViewerCertificate{ACMCertificateARN: arn}
	}
	for name, tt := range map[string]struct {
		base types.DistributionConfig
		spec v1alpha1.DistributionConfig
		want types.DistributionConfig
	}{
		"logging that is off": {
			types.DistributionConfig{Logging: off}, v1alpha1.DistributionConfig{}, types.DistributionConfig{Logging: off, ViewerCertificate: own},
		},
		"a security policy without a certificate": {
			types.DistributionConfig{ViewerCertificate: policy}, v1alpha1.DistributionConfig{}, types.DistributionConfig{ViewerCertificate: policy},
		},
		"a certificate": {
			types.DistributionConfig{ViewerCertificate: issued}, v1alpha1.DistributionConfig{}, types.DistributionConfig{ViewerCertificate: issued},
		},
		"the same certificate": {
			types.DistributionConfig{ViewerCertificate: issued}, v1alpha1.DistributionConfig{ViewerCertificate: named("arn:1")}, types.DistributionConfig{ViewerCertificate: issued},
		},
		"another certificate takes nothing over": {
			types.DistributionConfig{ViewerCertificate: issued}, v1alpha1.DistributionConfig{ViewerCertificate: named("arn:2")},
			types.DistributionConfig{ViewerCertificate: &types.ViewerCertificate{
				CloudFrontDefaultCertificate: new(false), ACMCertificateArn: new("arn:2"), MinimumProtocolVersion: "TLSv1.2_2021", SSLSupportMethod: "sni-only",
			}},
		},
		"a certificate that is taken away": {
			types.DistributionConfig{ViewerCertificate: issued}, v1alpha1.DistributionConfig{ViewerCertificate: &v1alpha1.ViewerCertificate{CloudFrontDefaultCertificate: new(true)}},
			types.DistributionConfig{ViewerCertificate: own},
		},
		"parameters that are none": {
			types.DistributionConfig{TenantConfig: &types.TenantConfig{}}, v1alpha1.DistributionConfig{}, types.DistributionConfig{TenantConfig: &types.TenantConfig{}, ViewerCertificate: own},
		},
		"nothing about parameters": {types.DistributionConfig{}, v1alpha1.DistributionConfig{}, types.DistributionConfig{ViewerCertificate: own}},
	} {
		t.Run(name, func(t *testing.T) {
			sent := wireDistribution(tt.base, convert.NormalizeDistribution(tt.spec))
			got := types.DistributionConfig{Logging: sent.Logging, ViewerCertificate: sent.ViewerCertificate, TenantConfig: sent.TenantConfig}
			if diff := cmp.Diff(tt.want, got, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
		})
	}
	for name, tt := range map[string]struct{ base, want *types.OriginShield }{
		"a shield that is not there": {nil, nil},
		"a shield that is off":       {&types.OriginShield{Enabled: new(false), OriginShieldRegion: new("eu-west-1")}, &types.OriginShield{Enabled: new(false), OriginShieldRegion: new("eu-west-1")}},
		"a shield that is on":        {&types.OriginShield{Enabled: new(true), OriginShieldRegion: new("eu-west-1")}, &types.OriginShield{Enabled: new(false)}},
	} {
		got := wireOrigin(types.Origin{OriginShield: tt.base}, v1alpha1.Origin{ID: "app"}, false).OriginShield
		if diff := cmp.Diff(tt.want, got, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A change to what was read must not change what is sent back.
func TestAReadSharesNothingWithWhatAWSSaid(t *testing.T) {
	var raw, again types.DistributionConfig
	for _, d := range []*types.DistributionConfig{&raw, &again} {
		next := 100
		fillSDK(reflect.ValueOf(d).Elem(), &next)
	}
	config := readDistribution(&raw)
	scribble(reflect.ValueOf(&config).Elem())
	if diff := cmp.Diff(again, raw, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
		t.Errorf("what AWS said has changed:\n%s", diff)
	}
}

// scribble changes every value that can be reached.
func scribble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			scribble(v.Elem())
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			scribble(field)
		}
	case reflect.Slice:
		for i := range v.Len() {
			scribble(v.Index(i))
		}
	case reflect.String:
		v.SetString("scribble")
	default:
		v.SetZero()
	}
}

func TestTheKindOfAnOriginCanChange(t *testing.T) {
	base := types.Origin{
		Id: new("app"), CustomOriginConfig: &types.CustomOriginConfig{HTTPPort: new(int32(80))},
	}
	got := wireOrigin(base, v1alpha1.Origin{ID: "app", VPCOriginConfig: &v1alpha1.VPCOriginConfig{VPCOriginID: "vo_1"}}, true)
	if got.CustomOriginConfig != nil || got.VpcOriginConfig == nil {
		t.Errorf("origin %+v", got)
	}
}

func TestWhatIsCarriedOverToAnOrigin(t *testing.T) {
	const identity = "origin-access-identity/cloudfront/E1"
	s3 := types.Origin{S3OriginConfig: &types.S3OriginConfig{OriginAccessIdentity: new(identity)}}
	vpc := types.Origin{VpcOriginConfig: &types.VpcOriginConfig{VpcOriginId: new("vo_1"), OwnerAccountId: new("1")}}
	bucket := v1alpha1.Origin{S3OriginConfig: &v1alpha1.S3OriginConfig{}}
	signed := v1alpha1.Origin{S3OriginConfig: &v1alpha1.S3OriginConfig{}, OriginAccessControlID: "E2"}
	private := func(id, owner string) v1alpha1.Origin {
		return v1alpha1.Origin{VPCOriginConfig: &v1alpha1.VPCOriginConfig{VPCOriginID: id, OwnerAccountID: owner}}
	}
	tests := map[string]struct {
		base     types.Origin
		origin   v1alpha1.Origin
		standard bool
		want     string
	}{
		"an identity stays":                                    {s3, bucket, true, identity},
		"an identity gives way to an access control":           {s3, signed, true, ""},
		"a multi-tenant distribution has no identity":          {s3, bucket, false, ""},
		"a bucket that is new has no identity":                 {types.Origin{}, bucket, true, ""},
		"the owner that AWS shows stays":                       {vpc, private("vo_1", ""), true, "1"},
		"the owner that the spec names counts":                 {vpc, private("vo_1", "2"), true, "2"},
		"another VPC origin has another owner":                 {vpc, private("vo_2", ""), true, ""},
		"a VPC origin that is new has the owner that is named": {types.Origin{}, private("vo_2", "2"), true, "2"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			out := wireOrigin(tt.base, tt.origin, tt.standard)
			got := valueOf(valueOf(out.VpcOriginConfig).OwnerAccountId)
			if out.S3OriginConfig != nil {
				got = valueOf(out.S3OriginConfig.OriginAccessIdentity)
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
