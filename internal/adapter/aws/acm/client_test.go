package acm_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/acm"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/canned"
)

const contentType = "application/x-amz-json-1.1"

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

const (
	pendingARN = "arn:aws:acm:us-east-1:" + sim.DefaultAccount + ":certificate/00000000-0000-4000-8000-000000000002"
	managedARN = "arn:aws:acm:us-east-1:" + sim.DefaultAccount + ":certificate/00000000-0000-4000-8000-000000000003"
	absentARN  = "arn:aws:acm:us-east-1:" + sim.DefaultAccount + ":certificate/00000000-0000-4000-8000-00000000000f"
)

var expiry = time.Date(2030, time.March, 1, 12, 0, 0, 0, time.UTC)

// newSim has three certificates. The first is that of a distribution. The last has a key that ACM's list leaves out by
// default.
func newSim(pageSize int) *sim.Sim {
	seed := sim.DefaultSeed()
	seed.Certificates[0].NotAfter, seed.Certificates[0].Type, seed.Certificates[0].Issuer = &expiry, "IMPORTED", "Example CA"
	seed.Certificates = append(seed.Certificates,
		sim.SeedCertificate{ARN: pendingARN, Names: []string{"b.example.net", "a.example.net"}, Status: "PENDING_VALIDATION"},
		sim.SeedCertificate{
			ARN: managedARN, Names: []string{"shop.example.net"}, NotAfter: &expiry,
			KeyAlgorithm: "EC_prime256v1", ManagedBy: "CLOUDFRONT",
		})
	seed.Distributions = []sim.SeedDistribution{{ID: "E2TENANTS", CertificateARN: sim.DefaultCertificateARN}}
	return sim.New(sim.Options{Seed: &seed, PageSize: pageSize})
}

// certificates are those of newSim, as they are read.
func certificates() []distributiontenant.Certificate {
	return []distributiontenant.Certificate{
		{ARN: sim.DefaultCertificateARN, Status: "ISSUED", Names: []string{"*.example.com"}, NotAfter: expiry, InUse: true, Type: "IMPORTED"},
		{ARN: pendingARN, Status: "PENDING_VALIDATION", Names: []string{"a.example.net", "b.example.net"}, Type: "AMAZON_ISSUED"},
		{ARN: managedARN, Status: "ISSUED", Names: []string{"shop.example.net"}, NotAfter: expiry, CloudFrontManaged: true, Type: "AMAZON_ISSUED"},
	}
}

// untilIssued leaves out the expiry of what was not issued: whether AWS tells one is unknown.
var untilIssued = cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".NotAfter" },
	cmp.Comparer(func(a, b time.Time) bool { return a.IsZero() || b.IsZero() || a.Equal(b) }))

func TestDescribe(t *testing.T) {
	client := newClient(t, newSim(1000).Transport(), 50)
	for _, want := range certificates() {
		// A list does not show it.
		want.Issuer = map[string]string{"IMPORTED": "Example CA", "AMAZON_ISSUED": "Amazon"}[want.Type]
		got, err := client.DescribeCertificate(t.Context(), want.ARN)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, untilIssued); diff != "" {
			t.Errorf("certificate (-want +got):\n%s", diff)
		}
	}
	if _, err := client.DescribeCertificate(t.Context(), absentARN); !fault.Is(err, fault.NotFound) {
		t.Errorf("absent certificate: %v, want NotFound", err)
	}
}

func TestHowFarARenewalIs(t *testing.T) {
	seed, soon := sim.DefaultSeed(), time.Now().Add(10*24*time.Hour)
	seed.Distributions = []sim.SeedDistribution{{ID: "E2TENANTS"}}
	seed.ResolvingDomains = []string{"live.example.net"}
	seed.Tenants = []sim.SeedTenant{{
		Name: "shop", DistributionID: "E2TENANTS", Domains: []string{"live.example.net", "lost.example.net"},
		ManagedCertificate: &sim.SeedManagedCertificate{ARN: managedARN, NotAfter: &soon, Attached: true},
	}}
	s := sim.New(sim.Options{Seed: &seed})
	client := newClient(t, s.Transport(), 50)
	s.Advance(time.Hour)
	expect := func(want certificate.Renewal) {
		t.Helper()
		got, err := client.DescribeCertificate(t.Context(), managedARN)
		if diff := cmp.Diff(want, got.Renewal); diff != "" || err != nil {
			t.Errorf("error %v, renewal (-want +got):\n%s", err, diff)
		}
	}
	expect(certificate.Renewal{Status: certificate.RenewalWaiting, Pending: []string{"lost.example.net"}})
	s.SetResolving(true, "lost.example.net")
	s.Advance(time.Hour)
	expect(certificate.Renewal{Status: certificate.RenewalDone})
	s.SetResolving(false, "lost.example.net")
	s.Advance(199 * 24 * time.Hour)
	expect(certificate.Renewal{Status: certificate.RenewalFailed, Reason: "OTHER", Pending: []string{"lost.example.net"}})
}

// A renewal that ACM has just begun has validated no name yet.
func TestARenewalThatNeedsNothing(t *testing.T) {
	answer := &canned.Transport{Status: http.StatusOK, ContentType: contentType, Body: `{"Certificate": {"CertificateArn": "arn:a", "Status": "ISSUED",
		"RenewalSummary": {"RenewalStatus": "PENDING_AUTO_RENEWAL", "UpdatedAt": 1, "DomainValidationOptions": [
			{"DomainName": "B.example.com", "ValidationStatus": "PENDING_VALIDATION"}, {"DomainName": "a.example.com"}, {"ValidationStatus": "FAILED"},
			{"DomainName": "c.example.com", "ValidationStatus": "SUCCESS"}]}}}`}
	got, err := newClient(t, answer, 50).DescribeCertificate(t.Context(), sim.DefaultCertificateARN)
	want := certificate.Renewal{Status: certificate.RenewalAutomatic, Pending: []string{"a.example.com", "b.example.com"}}
	if diff := cmp.Diff(want, got.Renewal); diff != "" || err != nil {
		t.Errorf("error %v, renewal (-want +got):\n%s", err, diff)
	}
}

func TestWhyACertificateFailed(t *testing.T) {
	answer := &canned.Transport{Status: http.StatusOK, ContentType: contentType, Body: `{"Certificate": {"CertificateArn": "arn:a",
		"Status": "FAILED", "DomainName": "a.example.com", "FailureReason": "CAA_ERROR", "ManagedBy": "CLOUDFRONT"}}`}
	got, err := newClient(t, answer, 50).DescribeCertificate(t.Context(), sim.DefaultCertificateARN)
	want := distributiontenant.Certificate{
		ARN: "arn:a", Status: "FAILED", Names: []string{"a.example.com"}, FailureReason: "CAA_ERROR", CloudFrontManaged: true,
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v, certificate (-want +got):\n%s", err, diff)
	}
}

// The list has every certificate, whatever its key, page by page.
func TestList(t *testing.T) {
	for name, pageSize := range map[string]int{"in one page": 1000, "page by page": 1} {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, newSim(pageSize).Transport(), 50)
			var got []distributiontenant.Certificate
			for marker, pages := "", 0; ; {
				page, next, err := client.ListCertificates(t.Context(), marker)
				if pages++; err != nil || pages > 3 {
					t.Fatalf("page %d: %v", pages, err)
				}
				got = append(got, page...)
				if marker = next; next == "" {
					break
				}
			}
			if diff := cmp.Diff(certificates(), got, untilIssued); diff != "" {
				t.Errorf("certificates (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAListThatCanNotBeBelieved(t *testing.T) {
	for name, body := range map[string]string{
		"nothing":                      "",
		"no list":                      "{}",
		"an entry without an ARN":      `{"CertificateSummaryList": [{"Status": "ISSUED"}]}`,
		"the marker that was asked of": `{"CertificateSummaryList": [], "NextToken": "m"}`,
		"a part of one":                `{"CertificateSummaryList": [`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				answer := &canned.Transport{Status: http.StatusOK, Body: body, ContentType: contentType}
				page, _, err := newClient(t, answer, 50).ListCertificates(t.Context(), "m")
				if !fault.Is(err, fault.Transient) || page != nil {
					t.Errorf("page %v, error %v", page, err)
				}
			})
		})
	}
}

func TestDelete(t *testing.T) {
	s := newSim(1000)
	client := newClient(t, s.Transport(), 50)
	if err := client.DeleteCertificate(t.Context(), managedARN); err != nil {
		t.Fatal(err)
	}
	for arn, want := range map[string]fault.Kind{
		managedARN: fault.NotFound, absentARN: fault.NotFound, sim.DefaultCertificateARN: fault.InUse,
	} {
		if err := client.DeleteCertificate(t.Context(), arn); !fault.Is(err, want) {
			t.Errorf("deleting %s: %v, want %v", arn, err, want)
		}
	}
	page, _, err := client.ListCertificates(t.Context(), "")
	if err != nil || len(page) != 2 {
		t.Errorf("left are %v, error %v", page, err)
	}
}

// No one knows whether the first call was carried out, and the answer to a second would hide it.
func TestADeletionIsSentOnce(t *testing.T) {
	answer := &canned.Transport{Status: http.StatusInternalServerError}
	err := newClient(t, answer, 50).DeleteCertificate(t.Context(), managedARN)
	if !fault.Is(err, fault.Transient) || answer.Requests() != 1 {
		t.Errorf("sent %d times, error %v", answer.Requests(), err)
	}
}

func TestNamesAreUniqueLowerCaseAndSorted(t *testing.T) {
	answer := &canned.Transport{Status: http.StatusOK, ContentType: contentType, Body: `{"Certificate": {"CertificateArn": "arn:a", "Status": "ISSUED",
		"DomainName": "B.example.com", "SubjectAlternativeNames": ["b.example.com", "*.A.example.com"]}}`}
	got, err := newClient(t, answer, 50).DescribeCertificate(t.Context(), sim.DefaultCertificateARN)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"*.a.example.com", "b.example.com"}, got.Names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	last, _ := answer.Last()
	if scope := last.Header.Get("Authorization"); !strings.Contains(scope, "/us-east-1/acm/") {
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
		{"a quota, which the SDK would retry by default", 400, code("LimitExceededException"), fault.Quota, 1},
		{"an unknown code", 400, code("BrandNewException"), fault.Transient, 1},
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
				answer := &canned.Transport{Status: tt.status, Body: tt.body, ContentType: contentType}
				_, err := newClient(t, answer, 50).DescribeCertificate(t.Context(), sim.DefaultCertificateARN)
				if got := fault.KindOf(err); got != tt.want {
					t.Errorf("kind %v of %v, want %v", got, err, tt.want)
				}
				// A page instead of JSON can't be read, which is worth a second try, and so
				// its number of tries is no contract.
				if answer.Requests() != tt.sends && tt.body != "<html>" {
					t.Errorf("sent %d times, want %d", answer.Requests(), tt.sends)
				}
			})
		})
	}
}

func TestALocalDenialMakesNoRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := &canned.Transport{Status: http.StatusInternalServerError}
		client := newClient(t, answer, 2)
		ctx := port.WithCall(t.Context(), port.Call{Class: port.Change})
		for range 3 {
			_, _ = client.DescribeCertificate(ctx, sim.DefaultCertificateARN)
		}
		if answer.Requests() != 1 {
			t.Errorf("%d requests with room for one", answer.Requests())
		}
	})
}
