package servicequotas_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/servicequotas"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/canned"
)

func newClient(t *testing.T, transport http.RoundTripper) *servicequotas.Client {
	t.Helper()
	metrics, err := aws.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	return servicequotas.New(servicequotas.Config{
		SDK: awssdk.Config{
			Region:       "eu-west-1",
			BaseEndpoint: awssdk.String("http://servicequotas.invalid"),
			Credentials:  credentials.NewStaticCredentialsProvider("AKIATEST", "secret", ""),
			HTTPClient:   &http.Client{Transport: transport},
		},
		Limiter: aws.NewLimiter(aws.LimiterConfig{API: "servicequotas", Rate: 10, Burst: 50, Clock: clock.RealClock{}, Metrics: metrics}),
		Metrics: metrics,
	})
}

func TestListQuotas(t *testing.T) {
	account := sim.New(sim.Options{PageSize: 1})
	account.SetQuotas(sim.Quotas{Certificates: 4_000})
	client := newClient(t, account.Transport())
	for name, tt := range map[string]struct {
		service  string
		defaults bool
		want     []port.Quota
	}{
		"of the account, which has one that was changed": {"acm", false, []port.Quota{{Name: "ACM certificates", Code: "L-F141DD1D", Value: 4_000}}},
		"defaults, page by page": {"acm", true, []port.Quota{
			{Name: "ACM certificates", Code: "L-F141DD1D", Value: 2_500}, {Name: "Domain names per ACM certificate", Code: "L-FB94F0B0", Value: 10},
		}},
		"of the account, which has none": {"cloudfront", false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []port.Quota
			marker := ""
			for {
				page, next, err := client.ListQuotas(t.Context(), tt.service, tt.defaults, marker)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, page...)
				if marker = next; next == "" {
					break
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// CloudFront's quotas, and those of the certificates that it uses, are in one region, whichever the operator is in.
func TestTheRegion(t *testing.T) {
	answer := &canned.Transport{Status: http.StatusOK, ContentType: "application/x-amz-json-1.1", Body: `{"Quotas": []}`}
	if _, _, err := newClient(t, answer).ListQuotas(t.Context(), "cloudfront", false, ""); err != nil {
		t.Fatal(err)
	}
	last, _ := answer.Last()
	if scope := last.Header.Get("Authorization"); !strings.Contains(scope, "/us-east-1/servicequotas/") {
		t.Errorf("signed as %s", scope)
	}
}

func TestFailures(t *testing.T) {
	for name, tt := range map[string]struct {
		status int
		body   string
		want   fault.Kind
	}{
		"a missing permission":       {400, `{"__type": "AccessDeniedException", "message": "no"}`, fault.Denied},
		"an unknown service":         {400, `{"__type": "NoSuchResourceException", "message": "no"}`, fault.NotFound},
		"an outage":                  {500, `{"__type": "ServiceException", "message": "no"}`, fault.Transient},
		"a quota without a value":    {200, `{"Quotas": [{"QuotaName": "ACM certificates"}]}`, fault.Transient},
		"a marker that stays itself": {200, `{"Quotas": [], "NextToken": "again"}`, fault.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				answer := &canned.Transport{Status: tt.status, Body: tt.body, ContentType: "application/x-amz-json-1.1"}
				_, _, err := newClient(t, answer).ListQuotas(t.Context(), "acm", false, "again")
				if got := fault.KindOf(err); got != tt.want {
					t.Errorf("kind %v of %v, want %v", got, err, tt.want)
				}
			})
		})
	}
}
