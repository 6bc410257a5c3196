package convert_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
)

// The certificate in use is read back as it was written, so that this changes nothing.
func TestServedCertificate(t *testing.T) {
	end := now.Truncate(time.Second)
	for name, c := range map[string]struct {
		served distributiontenant.Served
		want   v1alpha1.CertificateType
	}{
		"one that CloudFront manages": {distributiontenant.Served{ARN: "arn:cert", NotAfter: end, Issuer: "Amazon", Type: "AMAZON_ISSUED", CloudFrontManaged: true}, v1alpha1.CertificateTypeManaged},
		"one that ACM issued":         {distributiontenant.Served{ARN: "arn:cert", NotAfter: end, Issuer: "Amazon", Type: "AMAZON_ISSUED"}, v1alpha1.CertificateTypeIssued},
		"an imported one":             {distributiontenant.Served{ARN: "arn:cert", NotAfter: end, Type: "IMPORTED"}, v1alpha1.CertificateTypeImported},
		"a private one":               {distributiontenant.Served{ARN: "arn:cert", NotAfter: end, Issuer: "Our CA", Type: "PRIVATE"}, v1alpha1.CertificateTypePrivate},
		"the distribution's":          {distributiontenant.Served{ARN: "arn:other", NotAfter: end, Issuer: "Amazon", Type: "AMAZON_ISSUED", Inherited: true}, v1alpha1.CertificateTypeIssued},
	} {
		t.Run(name, func(t *testing.T) {
			r := report()
			r.Served = &c.served
			var s v1alpha1.DistributionTenantStatus
			convert.Status(&s, "alpha", r, now)
			want := &v1alpha1.ServedCertificate{ARN: c.served.ARN, NotAfter: metav1.NewTime(end), Issuer: c.served.Issuer, Type: c.want}
			if d := cmp.Diff(want, s.Certificate); d != "" {
				t.Errorf("status (-want +got):\n%s", d)
			}
			if d := cmp.Diff(&c.served, convert.Memory(&s).Served); d != "" {
				t.Errorf("read back (-written +read):\n%s", d)
			}
			blind := report()
			blind.Tenant = nil
			convert.Status(&s, "alpha", blind, now)
			if s.Certificate == nil {
				t.Error("a pass that knows nothing of the tenant forgot its certificate")
			}
			convert.Status(&s, "alpha", report(), now)
			if s.Certificate != nil {
				t.Errorf("a certificate that is not in use any more stays: %+v", s.Certificate)
			}
		})
	}
	r := report()
	r.Served = &distributiontenant.Served{ARN: "arn:cert", NotAfter: now, Issuer: strings.Repeat("x", 300), Type: "OF_ANOTHER_TIME"}
	var s v1alpha1.DistributionTenantStatus
	convert.Status(&s, "alpha", r, now)
	if c := s.Certificate; len(c.Issuer) > 256 || c.Type != "" || c.NotAfter.Nanosecond() != 0 {
		t.Errorf("the schema takes no such certificate: %+v", c)
	}
}

func TestDistributionCertificate(t *testing.T) {
	end := now.Truncate(time.Second)
	at := func(arn, issuer string) *v1alpha1.ServedCertificate {
		return &v1alpha1.ServedCertificate{ARN: arn, NotAfter: metav1.NewTime(end), Issuer: issuer, Type: v1alpha1.CertificateTypeImported}
	}
	seen := func(issuer string) *distributiontenant.Served {
		return &distributiontenant.Served{ARN: "arn:cert", NotAfter: end, Issuer: issuer, Type: "IMPORTED"}
	}
	for name, c := range map[string]struct {
		before *v1alpha1.ServedCertificate
		seen   *distributiontenant.Served
		want   *v1alpha1.ServedCertificate
	}{
		"what ACM shows":                              {nil, seen("Our CA"), at("arn:cert", "Our CA")},
		"ACM shows it in place of another":            {at("arn:other", "Their CA"), seen(""), at("arn:cert", "")},
		"a list of ACM does not show the issuer":      {at("arn:cert", "Our CA"), seen(""), at("arn:cert", "Our CA")},
		"nothing was seen since a restart":            {at("arn:cert", "Our CA"), nil, at("arn:cert", "Our CA")},
		"nothing was seen of the one that it has now": {at("arn:other", "Our CA"), nil, nil},
		"nothing is known":                            {nil, nil, nil},
	} {
		if d := cmp.Diff(c.want, convert.DistributionCertificate(c.before, "arn:cert", c.seen)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
