package acm_test

import (
	"fmt"
	"io"
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
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/acm"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/edge"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

func newClient(t *testing.T, transport http.RoundTripper, burst int) *acm.Client {
	t.Helper()
	metrics, err := aws.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	return acm.New(acm.Config{
		SDK: awssdk.Config{
			Region:       "eu-west-1",
			BaseEndpoint: awssdk.String("http://acm.invalid"),
			Credentials:  credentials.NewStaticCredentialsProvider("AKIATEST", "secret", ""),
			HTTPClient:   &http.Client{Transport: transport},
		},
		Limiter: aws.NewLimiter(aws.LimiterConfig{
			API: "acm", Rate: 10, Burst: burst, Clock: clock.RealClock{}, Metrics: metrics,
		}),
		Metrics: metrics,
	})
}

// canned answers every request with the same document, and keeps the last request.
type canned struct {
	status   int
	body     string
	requests int
	last     *http.Request
}

func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	c.requests++
	c.last = r
	return &http.Response{
		StatusCode: c.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.1"}},
		Body:   io.NopCloser(strings.NewReader(c.body)), ContentLength: int64(len(c.body)), Request: r,
	}, nil
}

func TestDescribe(t *testing.T) {
	seed := sim.DefaultSeed()
	pending := strings.Replace(sim.DefaultCertificateARN, "000001", "000002", 1)
	seed.Certificates = append(seed.Certificates, sim.SeedCertificate{
		ARN: pending, Names: []string{"b.example.net", "a.example.net"}, Status: "PENDING_VALIDATION",
	})
	client := newClient(t, sim.New(sim.Options{Seed: &seed}).Transport(), 50)
	for _, want := range []edge.Certificate{
		{ARN: sim.DefaultCertificateARN, Status: "ISSUED", Names: []string{"*.example.com"}},
		{ARN: pending, Status: "PENDING_VALIDATION", Names: []string{"a.example.net", "b.example.net"}},
	} {
		got, err := client.DescribeCertificate(t.Context(), want.ARN)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("certificate (-want +got):\n%s", diff)
		}
	}
	absent := strings.Replace(sim.DefaultCertificateARN, "000001", "00000f", 1)
	if _, err := client.DescribeCertificate(t.Context(), absent); !fault.Is(err, fault.NotFound) {
		t.Errorf("absent certificate: %v, want NotFound", err)
	}
}

func TestNamesAreUniqueLowerCaseAndSorted(t *testing.T) {
	answer := &canned{status: http.StatusOK, body: `{"Certificate": {"CertificateArn": "arn:a", "Status": "ISSUED",
		"DomainName": "B.example.com", "SubjectAlternativeNames": ["b.example.com", "*.A.example.com"]}}`}
	got, err := newClient(t, answer, 50).DescribeCertificate(t.Context(), sim.DefaultCertificateARN)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"*.a.example.com", "b.example.com"}, got.Names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if scope := answer.last.Header.Get("Authorization"); !strings.Contains(scope, "/us-east-1/acm/") {
		t.Errorf("signed as %s, want us-east-1: CloudFront uses no certificate of another region", scope)
	}
}

func TestFailures(t *testing.T) {
	code := func(c string) string { return fmt.Sprintf(`{"__type": %q, "message": "text"}`, c) }
	tests := []struct {
		name   string
		status int
		body   string
		want   fault.Kind
		sends  int
	}{
		{"an absent certificate", 400, code("ResourceNotFoundException"), fault.NotFound, 1},
		{"an ARN of something else", 400, code("InvalidArnException"), fault.Invalid, 1},
		{"an ARN that is none", 400, code("ValidationException"), fault.Invalid, 1},
		{"a missing permission", 400, code("AccessDeniedException"), fault.Denied, 1},
		{"a throttle", 400, code("ThrottlingException"), fault.Throttled, 1},
		{"a quota, which the SDK by itself would retry", 400, code("LimitExceededException"), fault.Quota, 1},
		{"a code that nobody knows", 400, code("BrandNewException"), fault.Transient, 1},
		{"a server that breaks", 500, code("InternalFailure"), fault.Transient, 2},
		{"a page that says not found", 404, "<html>", fault.Transient, 1},
		{"an empty answer", 200, "", fault.Transient, 1},
		{"an answer without a certificate", 200, "{}", fault.Transient, 1},
		{"a certificate without an ARN", 200, `{"Certificate": {"Status": "ISSUED"}}`, fault.Transient, 1},
		{"a certificate without a status", 200, `{"Certificate": {"CertificateArn": "arn:a"}}`, fault.Transient, 1},
		{"an answer that breaks off", 200, `{"Certificate": {"Cert`, fault.Transient, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				answer := &canned{status: tt.status, body: tt.body}
				_, err := newClient(t, answer, 50).DescribeCertificate(t.Context(), sim.DefaultCertificateARN)
				if got := fault.KindOf(err); got != tt.want {
					t.Errorf("kind %v of %v, want %v", got, err, tt.want)
				}
				// A page instead of JSON can't be read, which is worth a second try, and so
				// its number of tries is no contract.
				if answer.requests != tt.sends && tt.body != "<html>" {
					t.Errorf("sent %d times, want %d", answer.requests, tt.sends)
				}
			})
		})
	}
}

func TestALocalDenialMakesNoRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := &canned{status: http.StatusInternalServerError}
		client := newClient(t, answer, 2)
		for range 3 {
			_, _ = client.DescribeCertificate(t.Context(), sim.DefaultCertificateARN)
		}
		if answer.requests != 1 {
			t.Errorf("%d requests with room for one", answer.requests)
		}
	})
}
