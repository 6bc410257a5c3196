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
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/proof"
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
	told := onboarding.Domain{Domain: "a.example.com", State: onboarding.Validating, WaitsFor: onboarding.Customer, Message: "Wait.", Records: []onboarding.Record{
		{Purpose: onboarding.Proof, Type: "TXT", Name: "_proof.a.example.com", Value: "x", By: onboarding.Customer, State: onboarding.Present},
		{Purpose: onboarding.Routing, Type: "CNAME", Name: "a.example.com", Value: "d1.cloudfront.net", By: onboarding.Customer, State: onboarding.Wrong, Seen: []string{"b.example.net"}},
		{Purpose: onboarding.HTTP, Type: "REDIRECT", Name: "a.example.com/x", Value: "validation/x", By: onboarding.Customer, State: onboarding.Unknown},
	}}
	r.Domains = []onboarding.Domain{told}
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
		Domains: map[string]distributiontenant.DomainMemory{"a.example.com": {Domain: told, Since: now.Truncate(time.Second)}},
		Proofs:  []proof.Entry{{Domain: "a.example.com", Record: proof.Record{Name: "_proof.a.example.com", Value: "x"}, Found: true}},
	}
	if d := cmp.Diff(want, convert.Memory(&s)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func ptr(t time.Time) *metav1.Time {
	m := metav1.NewTime(t.Truncate(time.Second))
	return &m
}

// spoken are the conditions of a pass that has something to say.
var spoken = []chain.Condition{{Type: chain.Ready, Reason: resource.ReasonCreating}}

// An object that waits for its turn costs no write, and its domains none either.
func TestDomainsAreToldWithConditions(t *testing.T) {
	var s v1alpha1.DistributionTenantStatus
	convert.Status(&s, "alpha", distributiontenant.Report{Domains: []onboarding.Domain{{Domain: "a.example.com", State: onboarding.Deploying}}}, now)
	if s.Domains != nil {
		t.Errorf("status has %+v", s.Domains)
	}
}

// Whatever AWS and DNS servers answer, status has to be one that the schema takes and the store has room for.
func TestDomainsThatTheSchemaWouldRefuse(t *testing.T) {
	long := strings.Repeat("x", 2000)
	var told []onboarding.Domain
	for n := range 300 {
		d := onboarding.Domain{Domain: fmt.Sprintf("d%03d.example.com", n), State: onboarding.AwaitingDNS, Message: long}
		for range 20 {
			d.Records = append(d.Records, onboarding.Record{Purpose: onboarding.Routing, Type: "CNAME", Name: d.Domain, Value: "t.example.com", By: onboarding.Customer, State: onboarding.Wrong, Seen: []string{long, long, long, long, long}})
		}
		told = append(told, d)
	}
	var s v1alpha1.DistributionTenantStatus
	convert.Status(&s, "alpha", distributiontenant.Report{Domains: told, Conditions: spoken}, now)
	if n := len(s.Domains); n != 200 {
		t.Errorf("status has %d domains", n)
	}
	text, err := json.Marshal(s)
	if err != nil || len(text) > 600_000 {
		t.Errorf("status has %d bytes: %v", len(text), err)
	}
	for _, d := range s.Domains {
		if len(d.Message) > 1024 || len(d.Records) != 8 || len(d.Records[0].Seen) > 4 {
			t.Errorf("%+v", d)
		}
	}
	if last := s.Domains[199]; last.Records[0].Value != "t.example.com" {
		t.Errorf("the last domain lost its record: %+v", last)
	}
}

// The state of a domain stands since it began.
func TestSinceWhenADomainIsAsItIs(t *testing.T) {
	now := now.Truncate(time.Second)
	var s v1alpha1.DistributionTenantStatus
	say := func(state onboarding.State, at time.Time) {
		convert.Status(&s, "alpha", distributiontenant.Report{Domains: []onboarding.Domain{{Domain: "a.example.com", State: state}}, Conditions: spoken}, at)
	}
	say(onboarding.AwaitingDNS, now)
	say(onboarding.AwaitingDNS, now.Add(time.Hour))
	if got := s.Domains[0].Since.Time; !got.Equal(now) {
		t.Errorf("it is so since %s, want %s", got, now)
	}
	say(onboarding.Live, now.Add(2*time.Hour))
	if got := s.Domains[0].Since.Time; !got.Equal(now.Add(2 * time.Hour)) {
		t.Errorf("it is live since %s", got)
	}
}

func TestPlace(t *testing.T) {
	for domain, want := range map[string]onboarding.Place{
		"shop.customer.example":  {Zone: "customer.example"},
		"customer.example":       {Zone: "customer.example", Apex: true},
		"customer.co.uk":         {Zone: "customer.co.uk", Apex: true},
		"www.customer.co.uk":     {Zone: "customer.co.uk"},
		"co.uk":                  {Zone: "co.uk", Suffix: true},
		"com":                    {Zone: "com", Suffix: true},
		"customer.github.io":     {Zone: "github.io"},
		"*.customer.example":     {Zone: "customer.example"},
		"a.b.c.customer.example": {Zone: "customer.example"},
	} {
		if diff := cmp.Diff(want, convert.Place(domain)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", domain, diff)
		}
	}
}
