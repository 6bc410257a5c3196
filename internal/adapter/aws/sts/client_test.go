package sts_test

import (
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
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/canned"
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
		client := newClient(t, key, aws.Transport())
		got, err := client.Account(t.Context())
		if err != nil || got != want {
			t.Errorf("%s belongs to %q (%v), want %q", key, got, err, want)
		}
		if _, arn, err := client.Caller(t.Context()); err != nil || !strings.HasPrefix(arn, "arn:aws:") || !strings.Contains(arn, want) {
			t.Errorf("%s is %q (%v)", key, arn, err)
		}
	}
}

// A failure is never an account.
func TestFailures(t *testing.T) {
	code := func(c string) string {
		return "<ErrorResponse><Error><Type>Sender</Type><Code>" + c + "</Code><Message>text</Message></Error></ErrorResponse>"
	}
	for name, tt := range map[string]struct {
		status int
		body   string
		want   fault.Kind
	}{
		"credentials that have expired":     {403, code("ExpiredToken"), fault.Denied},
		"a key that does not exist":         {403, code("InvalidClientTokenId"), fault.Denied},
		"a throttle":                        {400, code("Throttling"), fault.Throttled},
		"a server that breaks":              {500, code("InternalFailure"), fault.Transient},
		"an answer without an account":      {200, "<GetCallerIdentityResponse><GetCallerIdentityResult/></GetCallerIdentityResponse>", fault.Transient},
		"a page of a proxy":                 {404, "<html>", fault.Transient},
		"an answer that breaks off midways": {200, "<GetCallerIdentityResponse><GetCaller", fault.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				account, err := newClient(t, "AKIAANY", &canned.Transport{Status: tt.status, Body: tt.body, ContentType: "text/xml"}).Account(t.Context())
				if fault.KindOf(err) != tt.want || account != "" {
					t.Errorf("account %q, error %v, want %v", account, err, tt.want)
				}
			})
		})
	}
}
