package convert

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/keyvalue"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// The bounds of text and lists in status. They equal those of the schema: a status that
// breaks one is refused whole.
const (
	maxMessage = 1024
	maxValue   = 1024
	maxDrift   = 20
)

// Status writes a report into status. now stamps transitions only.
func Status(s *v1alpha1.DistributionTenantStatus, name string, r distributiontenant.Report, now time.Time) {
	if t := r.Tenant; t != nil {
		s.ID, s.ARN, s.TenantName = t.ID, t.ARN, t.Name
		s.DistributionTenantStatus = t.Status
		s.CreatedTime, s.LastModifiedTime = timeOf(t.Created), timeOf(t.Modified)
		s.DomainResults = domainResults(*t)
		s.CertificateARN, s.Certificate = t.Customizations.CertificateARN, servedStatus(r.Served)
	}
	if r.Absent {
		s.DistributionTenantStatus = ""
	}
	// Where there is nothing to say, as for an object that waits for its turn, status stays as it
	// is: its name, its domains and its target in DNS alone are not worth a write.
	if len(r.Conditions) > 0 {
		s.Domains = domainStatus(s.Domains, r.Domains, now)
		s.TenantName = cmp.Or(s.TenantName, name)
		if r.RoutingEndpoint != "" || r.Unrouted {
			s.DNSTarget = r.RoutingEndpoint
		}
	}
	s.ETag = r.ETag
	setGenerations(&s.ObservedGeneration, &s.AppliedGeneration, judged(r.Conditions), r.AppliedGeneration)
	s.AppliedTagKeys = r.AppliedTagKeys
	s.DistributionID, s.ConnectionGroupID = r.Parents.DistributionID, r.Parents.ConnectionGroupID
	certificates(s, r)
	s.DNS, s.KeyValues = dnsStatus(r.Ledger), keyStatus(r.Keys)
	if r.ChangeID != "" {
		s.DNSChangeID = r.ChangeID
	}
	s.Drift = driftedFields(r.Drift)
	s.Failure = failureStatus(r.Failure)
	setConditions(&s.Conditions, r.Conditions, now)
	synced := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionSynced)
	s.DriftDetected = synced != nil && (synced.Reason == v1alpha1.ReasonDriftDetected || synced.Reason == v1alpha1.ReasonDriftNotConverging)
}

// keyStatus is the ledger of keys.
func keyStatus(ledger []keyvalue.Entry) (out []v1alpha1.OwnedKey) {
	for _, e := range ledger {
		out = append(out, v1alpha1.OwnedKey{
			StoreARN: e.StoreARN, Key: e.Name, Digest: e.Digest, Before: e.Before, State: v1alpha1.KeyState(e.State),
		})
	}
	return out
}

// maxCertificates bounds the list of managed certificates. The latest are at its end.
const maxCertificates = 50

func certificates(s *v1alpha1.DistributionTenantStatus, r distributiontenant.Report) {
	s.ManagedCertificates = r.Certificates[max(0, len(r.Certificates)-maxCertificates):]
	s.ManagedCertificateStatus = ""
	if m := r.Certificate; m != nil {
		s.ManagedCertificateStatus = string(m.State)
		if s.CertificateARN == "" {
			s.CertificateARN = m.ARN
		}
	}
	s.CertificateRequest = nil
	if sent := r.Requested; sent != nil {
		s.CertificateRequest = &v1alpha1.SentCertificateRequest{
			ValidationTokenHost: v1alpha1.ValidationTokenHost(sent.ValidationTokenHost), PrimaryDomainName: sent.PrimaryDomainName,
			CertificateTransparencyLoggingPreference: v1alpha1.CertificateTransparencyLoggingPreference(sent.TransparencyLoggingPref),
			Time:                                     metav1.NewTime(sent.At.Truncate(time.Second)),
		}
	}
}

// maxIssuer is the bound of the schema for the issuer of a certificate.
const maxIssuer = 256

// certificateTypes are ACM's types of certificates. CloudFront's own are of the first one.
var certificateTypes = map[string]v1alpha1.CertificateType{
	"AMAZON_ISSUED": v1alpha1.CertificateTypeIssued, "IMPORTED": v1alpha1.CertificateTypeImported, "PRIVATE": v1alpha1.CertificateTypePrivate,
}

// servedStatus is nil while it is not known when the certificate expires.
func servedStatus(c *distributiontenant.Served) *v1alpha1.ServedCertificate {
	if c == nil {
		return nil
	}
	out := &v1alpha1.ServedCertificate{
		ARN: c.ARN, NotAfter: metav1.NewTime(c.NotAfter.Truncate(time.Second)), Issuer: prose.Fit(c.Issuer, maxIssuer), Type: certificateTypes[c.Type],
	}
	if c.CloudFrontManaged {
		out.Type = v1alpha1.CertificateTypeManaged
	}
	return out
}

// served reads it back.
func served(c *v1alpha1.ServedCertificate) *distributiontenant.Served {
	if c == nil {
		return nil
	}
	out := &distributiontenant.Served{ARN: c.ARN, NotAfter: c.NotAfter.Time, Issuer: c.Issuer, CloudFrontManaged: c.Type == v1alpha1.CertificateTypeManaged}
	for word, t := range certificateTypes {
		if t == c.Type || out.CloudFrontManaged && t == v1alpha1.CertificateTypeIssued {
			out.Type = word
		}
	}
	return out
}

// DistributionCertificate is what status says of the certificate that a distribution has, of which ACM last showed seen.
// If nothing was seen of it, status keeps what it has of the same certificate.
func DistributionCertificate(before *v1alpha1.ServedCertificate, arn string, seen *distributiontenant.Served) *v1alpha1.ServedCertificate {
	if seen != nil {
		c := seen.Completed(served(before))
		return servedStatus(&c)
	}
	if before != nil && before.ARN == arn {
		return before
	}
	return nil
}

// dnsStatus is the ledger; nil when there is none, so that nothing is written about it.
func dnsStatus(ledger []dns.Entry) *v1alpha1.DNSStatus {
	if len(ledger) == 0 {
		return nil
	}
	out := &v1alpha1.DNSStatus{}
	for _, e := range ledger {
		out.Records = append(out.Records, v1alpha1.DNSRecord{
			Provider: v1alpha1.DNSProvider(e.Provider.Service), Account: e.Provider.Account,
			ZoneID: e.ZoneID, Name: e.Name, Type: e.Type, Value: e.Value, TTL: e.TTL,
			State: v1alpha1.RecordState(e.State), AssumeRoleARN: e.RoleARN, Replaced: replacedStatus(e),
		})
	}
	return out
}

// replacedStatus are the record sets that a record has replaced.
func replacedStatus(e dns.Entry) (out []v1alpha1.ReplacedRecord) {
	for _, s := range e.Replaced.Sets(e.Name) {
		r := v1alpha1.ReplacedRecord{Type: s.Type, Values: s.Values, ExactValues: s.Exact, AliasTarget: s.Alias}
		if s.Alias == "" {
			r.TTL = new(s.TTL)
		}
		out = append(out, r)
	}
	return out
}

// failureStatus is nil when nothing fails.
func failureStatus(f *resource.Failure) *v1alpha1.Failure {
	if f == nil {
		return nil
	}
	return &v1alpha1.Failure{Reason: string(f.Reason), Generation: f.Generation, Since: metav1.NewTime(f.Since.Truncate(time.Second))}
}

// failureMemory reads it back.
func failureMemory(f *v1alpha1.Failure) *resource.Failure {
	if f == nil {
		return nil
	}
	return &resource.Failure{Reason: chain.Reason(f.Reason), Generation: f.Generation, Since: f.Since.Time}
}

func domainResults(t distributiontenant.Observed) []v1alpha1.DomainResult {
	out := make([]v1alpha1.DomainResult, 0, len(t.Domains))
	for _, d := range slices.Sorted(slices.Values(t.Domains)) {
		out = append(out, v1alpha1.DomainResult{Domain: d, Status: t.DomainStates[d]})
	}
	return out
}

func driftedFields(diff []resource.Difference) []v1alpha1.DriftedField {
	var out []v1alpha1.DriftedField
	for _, d := range diff[:min(len(diff), maxDrift)] {
		out = append(out, v1alpha1.DriftedField{Field: d.Field, Desired: prose.Fit(d.Desired, maxValue), Observed: prose.Fit(d.Observed, maxValue)})
	}
	return out
}

// timeOf keeps whole seconds: that is what the API server keeps, and what it dropped
// would look like a change forever.
func timeOf(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	m := metav1.NewTime(t.Truncate(time.Second))
	return &m
}
