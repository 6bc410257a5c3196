package sts_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/sts"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

func newClient(t *testing.T, accessKey string, transport http.RoundTripper) *sts.Client {
	t.Helper()
	metrics, err := aws.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	return sts.New(sts.Config{
		SDK: awssdk.Config{
			Region:       "eu-west-1",
			BaseEndpoint: awssdk.String("http://sts.invalid"),
			Credentials:  credentials.NewStaticCredentialsProvider(accessKey, "secret", ""),
			HTTPClient:   &http.Client{Transport: transport},
		},
		Limiter: aws.NewLimiter(aws.LimiterConfig{API: "sts", Rate: 10, Burst: 50, Clock: clock.RealClock{}, Metrics: metrics}),
		Metrics: metrics,
	})
}

// The account is that of the credentials.
func TestAccount(t *testing.T) {
	seed := sim.DefaultSeed()
	seed.Accounts = []sim.SeedAccount{{ID: sim.DefaultAccount, Default: true}, {ID: "444455556666", AccessKeys: []string{"AKIAOTHER"}}}
	aws := sim.New(sim.Options{Seed: &seed})
	for key, want := range map[string]string{"AKIAANY": sim.DefaultAccount, "AKIAOTHER": "444455556666"} {
		got, err := newClient(t, key, aws.Transport()).Account(t.Context())
		if err != nil || got != want {
			t.Errorf("%s belongs to %q (%v), want %q", key, got, err, want)
		}
	}
}

// canned answers every request with the same document.
type canned struct {
	status int
	body   string
}

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: c.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {"text/xml"}},
		Body: io.NopCloser(strings.NewReader(c.body)), ContentLength: int64(len(c.body)), Request: r,
	}, nil
}

// A failure is never an account.
func TestFailures(t *testing.T) {
	code := func(c string) string {
		return "<ErrorResponse><Error><Type>Sender</Type><Code>" + c + "</Code><Message>text</Message></Error></ErrorResponse>"
	}
	for name, tt := range map[string]struct {
		answer canned
		want   fault.Kind
	}{
		"credentials that have expired":     {canned{403, code("ExpiredToken")}, fault.Denied},
		"a key that does not exist":         {canned{403, code("InvalidClientTokenId")}, fault.Denied},
		"a throttle":                        {canned{400, code("Throttling")}, fault.Throttled},
		"a server that breaks":              {canned{500, code("InternalFailure")}, fault.Transient},
		"an answer without an account":      {canned{200, "<GetCallerIdentityResponse><GetCallerIdentityResult/></GetCallerIdentityResponse>"}, fault.Transient},
		"a page of a proxy":                 {canned{404, "<html>"}, fault.Transient},
		"an answer that breaks off midways": {canned{200, "<GetCallerIdentityResponse><GetCaller"}, fault.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				account, err := newClient(t, "AKIAANY", tt.answer).Account(t.Context())
				if fault.KindOf(err) != tt.want || account != "" {
					t.Errorf("account %q, error %v, want %v", account, err, tt.want)
				}
			})
		})
	}
}
