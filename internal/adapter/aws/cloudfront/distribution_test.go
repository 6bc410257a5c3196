package cloudfront_test

import (
	stdcmp "cmp"
	"context"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/cloudfront"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/specimen"
)

var (
	ownerTags = map[string]string{"owner": "uid-1"}
	modes     = []v1alpha1.ConnectionMode{v1alpha1.ConnectionModeTenantOnly, v1alpha1.ConnectionModeDirect}
)

// The resources that every new simulator holds, ETags included.
var seededDistribution, seededGroup = seeded()

func seeded() (port.Distribution, port.Group) {
	metrics, err := aws.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		panic(err)
	}
	client := cloudfront.New(cloudfront.Config{
		SDK: awssdk.Config{
			Region: "eu-west-1", BaseEndpoint: awssdk.String("http://cloudfront.invalid"),
			Credentials: credentials.NewStaticCredentialsProvider("AKIATEST", "secret", ""),
			HTTPClient:  &http.Client{Transport: newSim().Transport()},
		},
		Limiter: aws.NewLimiter(aws.LimiterConfig{API: "cloudfront", Rate: 10, Burst: 10, Clock: clock.RealClock{}, Metrics: metrics}),
		Metrics: metrics,
	})
	d, err := client.ReadDistribution(context.Background(), distributionID)
	if err != nil {
		panic(err)
	}
	g, err := client.ReadGroup(context.Background(), "second")
	if err != nil {
		panic(err)
	}
	return d, g
}

// plain is a distribution with nothing but what it needs, normalised.
func plain(mode v1alpha1.ConnectionMode) v1alpha1.DistributionConfig {
	return convert.NormalizeDistribution(v1alpha1.DistributionConfig{
		ConnectionMode: mode,
		Origins: []v1alpha1.Origin{{
			ID: "app", DomainName: "app.example.net", CustomOriginConfig: &v1alpha1.CustomOriginConfig{},
		}},
		DefaultCacheBehavior: &v1alpha1.CacheBehaviorSettings{
			TargetOriginID: "app", ViewerProtocolPolicy: "redirect-to-https", CachePolicyID: "658327ea-f89d-4fab-a63d-7e88639e58f6",
		},
	})
}

// sdkFor is the SDK without the operator, as other tools use it.
func sdkFor(transport http.RoundTripper) *sdk.Client {
	return sdk.NewFromConfig(awssdk.Config{
		Region: "us-east-1", BaseEndpoint: awssdk.String("http://cloudfront.invalid"),
		Credentials: credentials.NewStaticCredentialsProvider("AKIATEST", "secret", ""),
		HTTPClient:  &http.Client{Transport: transport},
	})
}

// raw is the configuration as AWS has it.
func (w world) raw(t *testing.T, id string) *types.DistributionConfig {
	t.Helper()
	out, err := sdkFor(w.Transport()).GetDistributionConfig(t.Context(), &sdk.GetDistributionConfigInput{Id: &id})
	if err != nil {
		t.Fatal(err)
	}
	return out.DistributionConfig
}

// edit changes a distribution behind the operator's back.
func (w world) edit(t *testing.T, id string, change func(*types.DistributionConfig)) {
	t.Helper()
	out, err := sdkFor(w.Transport()).GetDistributionConfig(t.Context(), &sdk.GetDistributionConfigInput{Id: &id})
	if err != nil {
		t.Fatal(err)
	}
	change(out.DistributionConfig)
	if _, err := sdkFor(w.Transport()).UpdateDistribution(t.Context(), &sdk.UpdateDistributionInput{
		Id: &id, IfMatch: out.ETag, DistributionConfig: out.DistributionConfig,
	}); err != nil {
		t.Fatal(err)
	}
}

func (w world) createDistribution(t *testing.T, reference string, c v1alpha1.DistributionConfig) port.Distribution {
	t.Helper()
	d, err := w.client.CreateDistribution(t.Context(), reference, c, ownerTags)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (w world) read(t *testing.T, id string) port.Distribution {
	t.Helper()
	d, err := w.client.ReadDistribution(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestCreateDistribution(t *testing.T) {
	w := newWorld(t)
	created := w.createDistribution(t, "uid-1", plain("tenant-only"))
	want := distribution.Observed{
		ID: created.ID, ARN: "arn:aws:cloudfront::" + sim.DefaultAccount + ":distribution/" + created.ID, ETag: created.ETag,
		Status: "InProgress", Enabled: true, Modified: created.Modified,
	}
	if diff := cmp.Diff(want, created.Observed); diff != "" || created.ID == "" || created.ETag == "" || created.Modified.IsZero() {
		t.Errorf("created %+v (-want +got):\n%s", created.Observed, diff)
	}
	if created.CallerReference != "uid-1" || created.DomainName == "" {
		t.Errorf("caller reference %q, domain %q", created.CallerReference, created.DomainName)
	}
	tags, err := w.client.ListTags(t.Context(), created.ARN)
	if diff := cmp.Diff(ownerTags, tags); diff != "" || err != nil {
		t.Errorf("error %v, tags (-want +got):\n%s", err, diff)
	}
	if _, err := w.client.CreateDistribution(t.Context(), "uid-1", plain("tenant-only"), ownerTags); !fault.Is(err, fault.Exists) {
		t.Errorf("the same caller reference again: %v, want Exists", err)
	}
	calls := len(w.Journal())
	if _, err := w.client.CreateDistribution(t.Context(), "uid-2", plain("tenant-only"), nil); !fault.Is(err, fault.Invalid) {
		t.Errorf("without tags: %v, want Invalid", err)
	}
	if n := len(w.Journal()) - calls; n != 0 {
		t.Errorf("%d calls for a distribution without tags", n)
	}
}

func TestDeleteDistribution(t *testing.T) {
	w := newWorld(t)
	d := w.createDistribution(t, "uid-1", plain("tenant-only"))
	remove := func(etag string) error { return w.client.DeleteDistribution(t.Context(), d.ID, etag) }
	w.Advance(time.Hour)
	if err := remove(d.ETag); !fault.Is(err, fault.NotDisabled) {
		t.Errorf("an enabled one: %v, want NotDisabled", err)
	}
	disabled, err := w.client.DisableDistribution(t.Context(), d)
	if err != nil || disabled.Enabled || disabled.Settled() || disabled.ETag == d.ETag {
		t.Fatalf("disabled %+v, error %v", disabled.Observed, err)
	}
	if err := remove(disabled.ETag); !fault.Is(err, fault.NotDisabled) {
		t.Errorf("before the disable has settled: %v, want NotDisabled", err)
	}
	w.Advance(time.Hour)
	if err := remove(d.ETag); !fault.Is(err, fault.Conflict) {
		t.Errorf("with an old ETag: %v, want Conflict", err)
	}
	if err := remove(w.read(t, d.ID).ETag); err != nil {
		t.Fatal(err)
	}
	if _, err := w.client.ReadDistribution(t.Context(), d.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("reading it afterwards: %v, want NotFound", err)
	}
	if err := remove(disabled.ETag); !fault.Is(err, fault.NotFound) {
		t.Errorf("deleting it again: %v, want NotFound", err)
	}
	if _, err := w.client.UpdateDistribution(t.Context(), disabled, plain("tenant-only")); !fault.Is(err, fault.NotFound) {
		t.Errorf("updating it: %v, want NotFound", err)
	}
}

func TestAStaleDistributionIsNotChanged(t *testing.T) {
	w := newWorld(t)
	d := w.createDistribution(t, "uid-1", plain("direct"))
	w.edit(t, d.ID, func(c *types.DistributionConfig) { c.Comment = awssdk.String("someone else") })
	if _, err := w.client.UpdateDistribution(t.Context(), d, plain("direct")); !fault.Is(err, fault.Conflict) {
		t.Errorf("update: %v, want Conflict", err)
	}
	if _, err := w.client.DisableDistribution(t.Context(), d); !fault.Is(err, fault.Conflict) {
		t.Errorf("disable: %v, want Conflict", err)
	}
	if got := w.read(t, d.ID); got.Config.Comment != "someone else" || !got.Enabled {
		t.Errorf("comment %q, enabled %t", got.Config.Comment, got.Enabled)
	}
}

// Without what was read an update would remove whatever the kind has no field for.
func TestWhatWasNotReadIsNotChanged(t *testing.T) {
	w := newWorld(t)
	d := w.createDistribution(t, "uid-1", plain("direct"))
	calls := len(w.Journal())
	for name, seen := range map[string]port.Distribution{
		"nothing was read": {Observed: d.Observed}, "the ETag is unknown": {Observed: distribution.Observed{ID: d.ID}, Raw: d.Raw},
	} {
		if _, err := w.client.UpdateDistribution(t.Context(), seen, plain("direct")); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: update %v, want Invalid", name, err)
		}
		if _, err := w.client.DisableDistribution(t.Context(), seen); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: disable %v, want Invalid", name, err)
		}
	}
	if n := len(w.Journal()) - calls; n != 0 {
		t.Errorf("%d calls", n)
	}
}

// Whatever is created or changed is read back as it was meant, however AWS answers.
func TestDistributionsSurviveTheRoundTrip(t *testing.T) {
	for _, mode := range modes {
		generated := specimen.Distributions(mode, certificateARN)
		t.Run(string(mode), func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				w := newWorld(t)
				w.ChangeSwitches(func(s *sim.Switches) {
					s.UnsupportedEchoed = rapid.Bool().Draw(r, "AWS shows what is not supported")
					s.SetsReordered = rapid.Bool().Draw(r, "AWS reorders sets")
				})
				check := func(what string, desired v1alpha1.DistributionConfig, d port.Distribution, err error) {
					if err != nil {
						r.Fatalf("%s: %v", what, err)
					}
					again, err := w.client.ReadDistribution(t.Context(), d.ID)
					if err != nil {
						r.Fatal(err)
					}
					for source, got := range map[string]port.Distribution{"the answer": d, "a read": again} {
						if diff := convert.DistributionDifferences(desired, got.Config); diff != nil {
							r.Fatalf("%s, by %s: differences %+v", what, source, diff)
						}
					}
				}
				first, second := generated.Draw(r, "first"), generated.Draw(r, "second")
				dropSilent(&second)
				created, err := w.client.CreateDistribution(t.Context(), "uid-1", convert.NormalizeDistribution(first), ownerTags)
				check("created", first, created, err)
				updated, err := w.client.UpdateDistribution(t.Context(), created, convert.NormalizeDistribution(second))
				check("updated", second, updated, err)
				disabled, err := w.client.DisableDistribution(t.Context(), updated)
				second.Enabled = new(false)
				check("disabled", second, disabled, err)
			})
		})
	}
}

// dropSilent makes a spec ask for nothing where it is silent, so that it keeps nothing of what was there before.
func dropSilent(c *v1alpha1.DistributionConfig) {
	c.CacheTagConfig = stdcmp.Or(c.CacheTagConfig, &v1alpha1.CacheTagConfig{})
	c.ViewerMTLSConfig = stdcmp.Or(c.ViewerMTLSConfig, &v1alpha1.ViewerMTLSConfig{})
	c.ConnectionFunctionAssociation = stdcmp.Or(c.ConnectionFunctionAssociation, &v1alpha1.ConnectionFunctionAssociation{})
	c.DefaultCacheBehavior.RealtimeLogConfigARN = stdcmp.Or(c.DefaultCacheBehavior.RealtimeLogConfigARN, new(""))
	for i := range c.CacheBehaviors {
		c.CacheBehaviors[i].RealtimeLogConfigARN = stdcmp.Or(c.CacheBehaviors[i].RealtimeLogConfigARN, new(""))
	}
	for _, o := range c.Origins {
		if o.CustomOriginConfig != nil {
			o.CustomOriginConfig.OriginMTLSConfig = stdcmp.Or(o.CustomOriginConfig.OriginMTLSConfig, &v1alpha1.OriginMTLSConfig{})
		}
	}
}

// echo answers as if AWS had taken every configuration as it was sent.
type echo struct {
	// without matches what is missing in the answer.
	without string
	etag    string
	// sent is the last configuration.
	sent string
}

var sentConfig = regexp.MustCompile(`(?s)<DistributionConfig(?: [^>]*)?>.*</DistributionConfig>`)

func (e *echo) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		e.sent = sentConfig.FindString(string(body))
	}
	answer := `<Distribution><Id>E1</Id><ARN>arn:aws:cloudfront::1:distribution/E1</ARN><Status>Deployed</Status>` +
		`<LastModifiedTime>2026-01-02T03:04:05Z</LastModifiedTime><DomainName>d1.cloudfront.net</DomainName>` + e.sent + `</Distribution>`
	if e.without != "" {
		answer = regexp.MustCompile("(?s)"+e.without).ReplaceAllString(answer, "")
	}
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Etag": {e.etag}}, Body: io.NopCloser(strings.NewReader(answer)), Request: r,
	}, nil
}

// No field is forgotten on the way to AWS or back: whichever is changed there shows.
func TestEveryFieldSurvivesTheWire(t *testing.T) {
	standardOnly := []string{"aliases", "priceClass", "ipv6Enabled", "logging"}
	for _, mode := range modes {
		build := func() v1alpha1.DistributionConfig {
			c := specimen.Distribution(mode)
			if mode == v1alpha1.ConnectionModeDirect {
				c.TenantConfig = nil
			}
			return c
		}
		for _, change := range specimen.Changes(build) {
			root, _, _ := strings.Cut(change.Field, ".")
			if root == "connectionMode" || mode == v1alpha1.ConnectionModeTenantOnly && slices.Contains(standardOnly, root) {
				continue
			}
			t.Run(string(mode)+": "+change.Field, func(t *testing.T) {
				client, _, _ := newClient(t, &echo{etag: "E1"}, 10)
				got, err := client.CreateDistribution(t.Context(), "uid-1", convert.NormalizeDistribution(change.Value), ownerTags)
				if err != nil && strings.Contains(err.Error(), "missing required field") {
					return // by the schema it can't be taken away
				}
				if err != nil {
					t.Fatal(err)
				}
				if diff := convert.DistributionDifferences(change.Value, got.Config); diff != nil {
					t.Errorf("it came back with the differences %+v", diff)
				}
				named := slices.ContainsFunc(convert.DistributionDifferences(build(), got.Config), func(d resource.Difference) bool {
					return strings.HasPrefix(d.Field, change.Field) || strings.HasPrefix(change.Field, d.Field)
				})
				if !named {
					t.Error("the difference goes unnoticed")
				}
			})
		}
	}
}

func TestAnswersThatLackAPartOfADistribution(t *testing.T) {
	tests := map[string]echo{
		"the ETag":             {},
		"the id":               {etag: "E2", without: "<Id>E1</Id>"},
		"the ARN":              {etag: "E2", without: "<ARN>.*</ARN>"},
		"the status":           {etag: "E2", without: "<Status>.*</Status>"},
		"the caller reference": {etag: "E2", without: "<CallerReference>.*</CallerReference>"},
		"the configuration":    {etag: "E2", without: "<DistributionConfig.*</DistributionConfig>"},
		"the origins":          {etag: "E2", without: "<Origins>.*</Origins>"},
		"the default behavior": {etag: "E2", without: "<DefaultCacheBehavior>.*</DefaultCacheBehavior>"},
		"whether it is on":     {etag: "E2", without: "<Enabled>(true|false)</Enabled><HttpVersion>http2</HttpVersion>"},
		"anything":             {etag: "E2", without: ".*"},
	}
	for name, answer := range tests {
		t.Run(name, func(t *testing.T) {
			client, _, _ := newClient(t, &answer, 10)
			for operation, call := range map[string]func() error{
				"create": func() error {
					_, err := client.CreateDistribution(t.Context(), "uid-1", plain("direct"), ownerTags)
					return err
				},
				"update": func() error {
					_, err := client.UpdateDistribution(t.Context(), seededDistribution, plain("tenant-only"))
					return err
				},
				"disable": func() error {
					_, err := client.DisableDistribution(t.Context(), seededDistribution)
					return err
				},
				"read": func() error {
					_, err := client.ReadDistribution(t.Context(), distributionID)
					return err
				},
			} {
				if err := call(); !fault.Is(err, fault.Transient) {
					t.Errorf("%s: %v, want a transient error", operation, err)
				}
			}
		})
	}
	// The same answer is good when it is whole.
	client, _, _ := newClient(t, &echo{etag: "E2"}, 10)
	if _, err := client.CreateDistribution(t.Context(), "uid-1", plain("direct"), ownerTags); err != nil {
		t.Error(err)
	}
}

// A member that AWS leaves out and its default mean the same.
func TestAWSMayBeSilentAboutDefaults(t *testing.T) {
	for _, mode := range modes {
		sparse := &types.DistributionConfig{
			CallerReference: awssdk.String("console"), Comment: awssdk.String(""), Enabled: new(true),
			ConnectionMode: types.ConnectionMode(mode),
			Origins: &types.Origins{Quantity: awssdk.Int32(2), Items: []types.Origin{
				{Id: awssdk.String("app"), DomainName: awssdk.String("app.example.net"), CustomOriginConfig: &types.CustomOriginConfig{
					HTTPPort: awssdk.Int32(80), HTTPSPort: awssdk.Int32(443), OriginProtocolPolicy: "https-only",
					OriginSslProtocols: &types.OriginSslProtocols{Quantity: awssdk.Int32(1), Items: []types.SslProtocol{"TLSv1.2"}},
				}},
				{Id: awssdk.String("files"), DomainName: awssdk.String("files.s3.amazonaws.com"), S3OriginConfig: &types.S3OriginConfig{
					OriginAccessIdentity: awssdk.String(""),
				}},
			}},
			DefaultCacheBehavior: &types.DefaultCacheBehavior{
				TargetOriginId: awssdk.String("app"), ViewerProtocolPolicy: "redirect-to-https",
				CachePolicyId: awssdk.String("658327ea-f89d-4fab-a63d-7e88639e58f6"),
			},
		}
		spec := plain(mode)
		spec.Origins = append(spec.Origins, v1alpha1.Origin{ID: "files", DomainName: "files.s3.amazonaws.com", S3OriginConfig: &v1alpha1.S3OriginConfig{}})
		w := newWorld(t)
		for name, transport := range map[string]http.RoundTripper{"filled in": w.Transport(), "silent": &echo{etag: "E1"}} {
			t.Run(string(mode)+": "+name, func(t *testing.T) {
				client, _, _ := newClient(t, transport, 10)
				out, err := sdkFor(transport).CreateDistribution(t.Context(), &sdk.CreateDistributionInput{DistributionConfig: sparse})
				if err != nil {
					t.Fatal(err)
				}
				d, err := client.ReadDistribution(t.Context(), *out.Distribution.Id)
				if err != nil {
					t.Fatal(err)
				}
				if diff := convert.DistributionDifferences(spec, d.Config); diff != nil {
					t.Errorf("differences %+v", diff)
				}
			})
		}
	}
}
