package convert_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)

func report() distributiontenant.Report {
	return distributiontenant.Report{
		Tenant: &distributiontenant.Observed{
			Tenant: distributiontenant.Tenant{
				Name: "alpha", Domains: []string{"b.example.com", "a.example.com"},
				Customizations: distributiontenant.Customizations{CertificateARN: "arn:cert"},
			},
			ID: "dt_1", ARN: "arn:dt_1", ETag: "E-1", Status: distributiontenant.Deployed,
			DomainStates: map[string]string{"a.example.com": "active", "b.example.com": "inactive"},
			Created:      now.Add(-time.Hour), Modified: now.Add(-time.Minute),
		},
		ETag: "E-1", AppliedGeneration: 3, AppliedTagKeys: []string{"team"}, RoutingEndpoint: "d1.cloudfront.net",
		Parents: distributiontenant.Parents{DistributionID: "E1", ConnectionGroupID: "cg_1"},
		Conditions: []chain.Condition{
			{Type: chain.Ready, Status: true, Reason: resource.ReasonDeployed, Message: "Deployed.", Generation: 3},
			{Type: chain.Synced, Status: true, Reason: resource.ReasonInSync, Message: "Equal.", Generation: 3},
		},
	}
}

func TestStatus(t *testing.T) {
	var s v1alpha1.DistributionTenantStatus
	convert.Status(&s, "alpha", report(), now)
	if s.ID != "dt_1" || s.ARN != "arn:dt_1" || s.ETag != "E-1" || s.TenantName != "alpha" || s.DistributionTenantStatus != "Deployed" ||
		s.ObservedGeneration != 3 || s.CertificateARN != "arn:cert" || s.DNSTarget != "d1.cloudfront.net" || s.DriftDetected {
		t.Errorf("got %+v", s)
	}
	if d := cmp.Diff([]v1alpha1.DomainResult{{Domain: "a.example.com", Status: "active"}, {Domain: "b.example.com", Status: "inactive"}}, s.DomainResults); d != "" {
		t.Errorf("domains are sorted (-want +got):\n%s", d)
	}
	if s.CreatedTime.Nanosecond() != 0 || s.LastModifiedTime.Nanosecond() != 0 {
		t.Error("a time keeps more than the API server does")
	}

	// A pass that knows nothing of the tenant leaves what is known.
	blind := report()
	blind.Tenant, blind.RoutingEndpoint = nil, ""
	blind.Conditions[0] = chain.Condition{Type: chain.Ready, Reason: resource.ReasonAWSError, Message: "No answer.", Generation: 4}
	blind.Failure = &resource.Failure{Reason: resource.ReasonAWSError, Generation: 4, Since: now}
	later := now.Add(time.Hour)
	convert.Status(&s, "alpha", blind, later)
	if s.ID != "dt_1" || len(s.DomainResults) != 2 || s.DNSTarget == "" || s.Failure == nil {
		t.Errorf("a blind pass forgot: %+v", s)
	}
	ready, synced := meta.FindStatusCondition(s.Conditions, "Ready"), meta.FindStatusCondition(s.Conditions, "Synced")
	if !ready.LastTransitionTime.Equal(ptr(later)) || !synced.LastTransitionTime.Equal(ptr(now)) {
		t.Errorf("transition times: Ready %s, Synced %s", ready.LastTransitionTime, synced.LastTransitionTime)
	}

	// A condition that is not reported any more goes, and so does a failure that is over.
	calm := report()
	calm.Conditions = calm.Conditions[:1]
	convert.Status(&s, "alpha", calm, later)
	if len(s.Conditions) != 1 || s.Failure != nil {
		t.Errorf("got %+v", s)
	}
}

// An object that waits for its turn, about which nothing but its target in DNS is known, costs no write.
func TestNothingToSayIsNothingWritten(t *testing.T) {
	var s v1alpha1.DistributionTenantStatus
	convert.Status(&s, "alpha", distributiontenant.Report{RoutingEndpoint: "d1.cloudfront.net"}, now)
	if d := cmp.Diff(v1alpha1.DistributionTenantStatus{}, s); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestDriftStandsInStatus(t *testing.T) {
	for reason, want := range map[chain.Reason]bool{
		resource.ReasonDriftDetected: true, resource.ReasonDriftNotConverging: true, resource.ReasonInSync: false, resource.ReasonUpdatePending: false,
	} {
		r := report()
		r.Conditions[1].Reason = reason
		var s v1alpha1.DistributionTenantStatus
		convert.Status(&s, "alpha", r, now)
		if s.DriftDetected != want {
			t.Errorf("driftDetected is %t for %s", s.DriftDetected, reason)
		}
	}
}

// The managed certificate's ARN is told before the tenant carries it.
func TestCertificateInStatus(t *testing.T) {
	r := report()
	r.Tenant.Customizations.CertificateARN = ""
	r.Certificate = &certificate.Managed{ARN: "arn:managed", State: certificate.Issued}
	var s v1alpha1.DistributionTenantStatus
	convert.Status(&s, "alpha", r, now)
	if s.CertificateARN != "arn:managed" || s.ManagedCertificateStatus != "issued" {
		t.Errorf("got %q in the state %q", s.CertificateARN, s.ManagedCertificateStatus)
	}
}

// A status that breaks a bound of the schema is refused whole, and one that comes back
// otherwise than it was written would be written forever.
func TestStatusIsBoundedAndComesBackAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.StringN(0, 3000, -1),
			rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 3000), func(b []byte) string { return string(b) }),
			rapid.Map(rapid.IntRange(0, 1100), func(n int) string { return strings.Repeat("ü", n) }),
		)
		r := report()
		for i := range r.Conditions {
			r.Conditions[i].Message = text.Draw(t, "message")
		}
		for range rapid.IntRange(0, 30).Draw(t, "differences") {
			r.Drift = append(r.Drift, resource.Difference{Field: "domains", Desired: text.Draw(t, "desired"), Observed: text.Draw(t, "observed")})
		}
		r.Failure = &resource.Failure{Reason: resource.ReasonAWSError, Generation: 3, Since: now}
		var s v1alpha1.DistributionTenantStatus
		convert.Status(&s, "alpha", r, now)

		if len(s.Drift) > 20 {
			t.Fatalf("%d differences", len(s.Drift))
		}
		for _, c := range s.Conditions {
			bounded(t, c.Message)
		}
		for _, d := range s.Drift {
			bounded(t, d.Desired)
			bounded(t, d.Observed)
		}
		raw, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var stored v1alpha1.DistributionTenantStatus
		if err := json.Unmarshal(raw, &stored); err != nil {
			t.Fatal(err)
		}
		again := stored.DeepCopy()
		convert.Status(again, "alpha", r, now.Add(time.Minute))
		if !equality.Semantic.DeepEqual(&stored, again) {
			t.Fatalf("the same report is written twice:\n%s", cmp.Diff(&stored, again))
		}
	})
}

func bounded(t *rapid.T, s string) {
	if len(s) > 1024 || !utf8.ValidString(s) {
		t.Fatalf("%d bytes, valid text: %t", len(s), utf8.ValidString(s))
	}
}

// Memory reads back what Status wrote.
func TestMemoryReadsWhatStatusWrote(t *testing.T) {
	r := report()
	r.Failure = &resource.Failure{Reason: resource.ReasonAWSError, Generation: 3, Since: now.Truncate(time.Second)}
	r.Certificates = []string{"arn:superseded", "arn:managed"}
	r.Certificate = &certificate.Managed{
		ARN: "arn:managed", State: certificate.Pending, Host: certificate.SelfHosted,
		Tokens: []certificate.Token{{Domain: "a.example.com", RedirectFrom: "a.example.com/x", RedirectTo: "validation/x"}},
	}
	r.Requested = &certificate.Sent{
		At:      now.Truncate(time.Second),
		Request: certificate.Request{ValidationTokenHost: certificate.SelfHosted, PrimaryDomainName: "a.example.com", TransparencyLoggingPref: "enabled"},
	}
	r.Ledger = []dns.Entry{{
		Record: dns.Record{ZoneID: "Z1", Name: "a.example.com", Type: dns.CNAME, Value: "d1.cloudfront.net", TTL: 300},
		State:  dns.Intended, RoleARN: "arn:role",
		Replaced: dns.Replacing([]dns.RecordSet{
			{Key: dns.Key{Type: dns.A}, TTL: 0, Values: []string{"192.0.2.1", "192.0.2.2"}},
			{Key: dns.Key{Type: dns.CNAME}, TTL: 60, Values: []string{"other.example.net"}, Exact: []string{"Other.example.net."}},
			{Key: dns.Key{Type: dns.AAAA}, Alias: "d2.cloudfront.net"},
		}),
	}}
	var s v1alpha1.DistributionTenantStatus
	convert.Status(&s, "alpha", r, now)
	want := distributiontenant.Memory{
		Certificate: r.Certificate, Certificates: r.Certificates, Requested: r.Requested, Ledger: r.Ledger,
		Memory: resource.Memory{
			ID: "dt_1", AppliedGeneration: 3, AppliedTagKeys: []string{"team"}, Failure: r.Failure,
			Conditions: map[chain.ConditionType]chain.Condition{chain.Ready: r.Conditions[0], chain.Synced: r.Conditions[1]},
		},
		ETag: "E-1", Modified: r.Tenant.Modified.Truncate(time.Second), RoutingEndpoint: "d1.cloudfront.net", DomainStates: r.Tenant.DomainStates,
		Parents: distributiontenant.Parents{DistributionID: "E1", ConnectionGroupID: "cg_1"},
	}
	if d := cmp.Diff(want, convert.Memory(&s)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func ptr(t time.Time) *metav1.Time {
	m := metav1.NewTime(t.Truncate(time.Second))
	return &m
}

// Whatever AWS answers, status has to be one that the schema takes.
func TestTokensThatTheSchemaWouldRefuse(t *testing.T) {
	list := []certificate.Token{
		{Domain: "a.example.com", RedirectFrom: "a.example.com/first", RedirectTo: strings.Repeat("x", 2000)},
		{Domain: "a.example.com", RedirectFrom: "a.example.com/second"}, {RedirectFrom: "nowhere"},
	}
	for n := range 200 {
		list = append(list, certificate.Token{Domain: fmt.Sprintf("d%03d.example.com", n)})
	}
	var s v1alpha1.DistributionTenantStatus
	convert.Status(&s, "alpha", distributiontenant.Report{Certificate: &certificate.Managed{State: certificate.Pending, Host: certificate.SelfHosted, Tokens: list}}, now)
	seen := map[string]bool{}
	for _, token := range s.ValidationTokens {
		if token.Domain == "" || seen[token.Domain] || len(token.RedirectTo) > 1024 {
			t.Errorf("%+v", token)
		}
		seen[token.Domain] = true
	}
	if first := s.ValidationTokens[0]; first.RedirectFrom != "a.example.com/first" || len(s.ValidationTokens) != 100 {
		t.Errorf("the first of %d is %+v", len(s.ValidationTokens), first)
	}
}
