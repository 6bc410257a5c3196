package aws_test

import (
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	sdkacm "github.com/aws/aws-sdk-go-v2/service/acm"
	acmtypes "github.com/aws/aws-sdk-go-v2/service/acm/types"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

func TestManagedCertificateDetails(t *testing.T) {
	sim := newSim(t)
	ctx, c := t.Context(), client(sim)
	tenant, _ := mustCreate(t, sim, "acme", func(in *createInput) {
		in.Domains = domains("a.customer.org", "b.customer.org")
		in.ManagedCertificateRequest = &types.ManagedCertificateRequest{ValidationTokenHost: "self-hosted", PrimaryDomainName: sdk.String("b.customer.org")}
	})
	out, err := c.GetManagedCertificateDetails(ctx, &cloudfront.GetManagedCertificateDetailsInput{Identifier: tenant.Arn})
	if err != nil {
		t.Fatal(err)
	}
	details := out.ManagedCertificateDetails
	if details.CertificateStatus != types.ManagedCertificateStatusPendingValidation || details.ValidationTokenHost != types.ValidationTokenHostSelfHosted {
		t.Errorf("details: %+v", details)
	}
	var got []string
	for _, d := range details.ValidationTokenDetails {
		got = append(got, *d.Domain)
		if !strings.HasPrefix(*d.RedirectFrom, *d.Domain+"/.well-known/pki-validation/") ||
			!strings.HasPrefix(*d.RedirectTo, "validation.us-east-1.acm-validations.aws/111122223333/.well-known/pki-validation/") ||
			!strings.HasSuffix(*d.RedirectTo, ".txt") {
			t.Errorf("token: %s -> %s", *d.RedirectFrom, *d.RedirectTo)
		}
	}
	if diff := cmp.Diff([]string{"b.customer.org", "a.customer.org"}, got); diff != "" {
		t.Errorf("tokens (-want +got):\n%s", diff)
	}
	for _, identifier := range []string{*tenant.Id, *tenant.Name, *tenant.Arn} {
		if got := managedDetails(t, sim, identifier); *got.CertificateArn != *details.CertificateArn {
			t.Errorf("by %s: %+v", identifier, got)
		}
	}
	t.Run("ACM knows the certificate", func(t *testing.T) {
		described, err := acmClient(sim).DescribeCertificate(ctx, &sdkacm.DescribeCertificateInput{CertificateArn: details.CertificateArn})
		if err != nil {
			t.Fatal(err)
		}
		cert := described.Certificate
		if cert.Status != acmtypes.CertificateStatusPendingValidation || cert.ManagedBy != acmtypes.CertificateManagedByCloudfront ||
			*cert.DomainName != "b.customer.org" || len(cert.DomainValidationOptions) != 2 {
			t.Errorf("certificate: %+v", cert)
		}
	})
	t.Run("a pending certificate cannot be attached", func(t *testing.T) {
		found := get(t, sim, "acme")
		_, err := c.UpdateDistributionTenant(ctx, &cloudfront.UpdateDistributionTenantInput{
			Id: tenant.Id, IfMatch: found.ETag, Customizations: &types.Customizations{Certificate: &types.Certificate{Arn: details.CertificateArn}},
		})
		wantRefusal(t, err, 400, "InvalidArgument")
	})
	t.Run("an update can ask as well", func(t *testing.T) {
		plain, etag := mustCreate(t, sim, "later")
		_, err := c.GetManagedCertificateDetails(ctx, &cloudfront.GetManagedCertificateDetailsInput{Identifier: plain.Id})
		wantRefusal(t, err, 404, "EntityNotFound")
		update(t, sim, &cloudfront.UpdateDistributionTenantInput{
			Id: plain.Id, IfMatch: &etag, Domains: domains("later.example.com", "later.customer.org"),
			ManagedCertificateRequest: &types.ManagedCertificateRequest{ValidationTokenHost: "self-hosted"},
		})
		if _, err := c.GetManagedCertificateDetails(ctx, &cloudfront.GetManagedCertificateDetailsInput{Identifier: plain.Id}); err != nil {
			t.Error(err)
		}
	})
	t.Run("a tenant that is not there", func(t *testing.T) {
		_, err := c.GetManagedCertificateDetails(ctx, &cloudfront.GetManagedCertificateDetailsInput{Identifier: sdk.String("nobody")})
		wantRefusal(t, err, 404, "EntityNotFound")
	})
}

func TestDescribeCertificate(t *testing.T) {
	describe := func(sim *aws.Sim, arn string) (*acmtypes.CertificateDetail, error) {
		out, err := acmClient(sim).DescribeCertificate(t.Context(), &sdkacm.DescribeCertificateInput{CertificateArn: &arn})
		if err != nil {
			return nil, err
		}
		return out.Certificate, nil
	}
	sim := newSim(t)
	t.Run("a seeded one", func(t *testing.T) {
		cert, err := describe(sim, certARN(2))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"shop.customer.test", "*.customer.test"}, cert.SubjectAlternativeNames); diff != "" {
			t.Errorf("names (-want +got):\n%s", diff)
		}
		if cert.Status != acmtypes.CertificateStatusIssued || cert.Type != acmtypes.CertificateTypeAmazonIssued || !cert.NotAfter.Equal(startTime.AddDate(1, 0, 0)) {
			t.Errorf("certificate: %+v", cert)
		}
	})
	t.Run("one that distributions use", func(t *testing.T) {
		cert, err := describe(sim, wildcardARN)
		if err != nil || len(cert.InUseBy) != 3 {
			t.Errorf("in use by %v, %v", cert.InUseBy, err)
		}
	})
	for name, tc := range map[string]struct{ arn, code string }{
		"an unknown one":              {certARN(9), "ResourceNotFoundException"},
		"one of another account":      {"arn:aws:acm:us-east-1:999988887777:certificate/foreign", "ResourceNotFoundException"},
		"something that is no ARN":    {"certificate-of-some-kind-or-other", "InvalidArnException"},
		"something that is too short": {"x", "ValidationException"},
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			_, err := describe(sim, tc.arn)
			wantRefusal(t, err, 400, tc.code)
		})
	}
	t.Run("without a seed there is a wildcard for example.com", func(t *testing.T) {
		cert, err := describe(aws.New(aws.Options{}), aws.DefaultCertificateARN)
		if err != nil || cert.SubjectAlternativeNames[0] != "*.example.com" {
			t.Errorf("%+v, %v", cert, err)
		}
	})
	t.Run("an operation that is not simulated", func(t *testing.T) {
		_, err := acmClient(sim).GetAccountConfiguration(t.Context(), &sdkacm.GetAccountConfigurationInput{})
		wantRefusal(t, err, 400, "UnknownOperationException")
	})
}

func TestLenientCertificates(t *testing.T) {
	arn := "arn:aws:acm:us-east-1:123456789012:certificate/from-some-sample"
	withCert := func(arn string) func(*createInput) {
		return func(in *createInput) {
			in.Customizations = &types.Customizations{Certificate: &types.Certificate{Arn: &arn}}
		}
	}
	sim := newSim(t, func(o *aws.Options) { o.LenientCertificates = true })
	mustCreate(t, sim, "acme", withCert(arn), func(in *createInput) { in.Domains = domains("example.com") })
	cert, err := acmClient(sim).DescribeCertificate(t.Context(), &sdkacm.DescribeCertificateInput{CertificateArn: &arn})
	if err != nil || cert.Certificate.Status != acmtypes.CertificateStatusIssued {
		t.Errorf("a lenient simulator does not describe what it accepts: %v, %v", cert, err)
	}
	for _, bad := range []string{"arn:aws:acm:eu-west-1:123456789012:certificate/x", certARN(3)} {
		_, err := client(sim).CreateDistributionTenant(t.Context(), tenantInput("other", withCert(bad)))
		wantRefusal(t, err, 400, "InvalidArgument")
	}
	_, err = client(newSim(t)).CreateDistributionTenant(t.Context(), tenantInput("other", withCert(arn)))
	wantRefusal(t, err, 400, "InvalidArgument")
}

func describeWildcard(t *testing.T, sim *aws.Sim) (*sdkacm.DescribeCertificateOutput, error) {
	t.Helper()
	return acmClient(sim).DescribeCertificate(t.Context(), &sdkacm.DescribeCertificateInput{CertificateArn: sdk.String(wildcardARN)})
}
