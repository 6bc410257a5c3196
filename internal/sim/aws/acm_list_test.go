package aws_test

import (
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	sdkacm "github.com/aws/aws-sdk-go-v2/service/acm"
	acmtypes "github.com/aws/aws-sdk-go-v2/service/acm/types"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

func wantError(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v, want an error that mentions %q", err, text)
	}
}

// listedCertificates reads every page.
func listedCertificates(t *testing.T, sim *aws.Sim, in *sdkacm.ListCertificatesInput) []acmtypes.CertificateSummary {
	t.Helper()
	var all []acmtypes.CertificateSummary
	pages := sdkacm.NewListCertificatesPaginator(acmClient(sim), in)
	for pages.HasMorePages() {
		page := must[*sdkacm.ListCertificatesOutput](t)(pages.NextPage(t.Context()))
		all = append(all, page.CertificateSummaryList...)
	}
	return all
}

func TestListCertificates(t *testing.T) {
	sim := newSim(t)
	if err := sim.Load(aws.Seed{Certificates: []aws.SeedCertificate{
		{ARN: certARN(5), Names: []string{"curve.test"}, KeyAlgorithm: "EC_prime256v1"},
		{ARN: certARN(6), Names: []string{"orphan.test"}, ManagedBy: "CLOUDFRONT"},
	}}); err != nil {
		t.Fatal(err)
	}
	mustCreate(t, sim, "acme", asksFor(types.ValidationTokenHostSelfHosted, "a.customer.org", "b.customer.org"))
	managed := *managedDetails(t, sim, "acme").CertificateArn
	for name, tc := range map[string]struct {
		in   sdkacm.ListCertificatesInput
		want []string
	}{
		"without a filter those with RSA_2048": {sdkacm.ListCertificatesInput{}, []string{wildcardARN, certARN(2), certARN(3), certARN(4), certARN(6), managed}},
		"page by page":                         {sdkacm.ListCertificatesInput{MaxItems: sdk.Int32(2)}, []string{wildcardARN, certARN(2), certARN(3), certARN(4), certARN(6), managed}},
		"by key":                               {sdkacm.ListCertificatesInput{Includes: &acmtypes.Filters{KeyTypes: []acmtypes.KeyAlgorithm{acmtypes.KeyAlgorithmEcPrime256v1}}}, []string{certARN(5)}},
		"by manager":                           {sdkacm.ListCertificatesInput{Includes: &acmtypes.Filters{ManagedBy: acmtypes.CertificateManagedByCloudfront}}, []string{certARN(6), managed}},
		"by state":                             {sdkacm.ListCertificatesInput{CertificateStatuses: []acmtypes.CertificateStatus{"EXPIRED", "PENDING_VALIDATION"}}, []string{certARN(3), certARN(4), managed}},
		"by manager and state":                 {sdkacm.ListCertificatesInput{CertificateStatuses: []acmtypes.CertificateStatus{"ISSUED"}, Includes: &acmtypes.Filters{ManagedBy: acmtypes.CertificateManagedByCloudfront}}, []string{certARN(6)}},
		"a page that ends where the certificates do": {sdkacm.ListCertificatesInput{MaxItems: sdk.Int32(6)}, []string{wildcardARN, certARN(2), certARN(3), certARN(4), certARN(6), managed}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, c := range listedCertificates(t, sim, &tc.in) {
				got = append(got, *c.CertificateArn)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("certificates (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("an entry", func(t *testing.T) {
		got := listedCertificates(t, sim, &sdkacm.ListCertificatesInput{CertificateStatuses: []acmtypes.CertificateStatus{"PENDING_VALIDATION"}})[1]
		if got.ManagedBy != acmtypes.CertificateManagedByCloudfront || !*got.InUse || *got.DomainName != "a.customer.org" ||
			len(got.SubjectAlternativeNameSummaries) != 2 || *got.HasAdditionalSubjectAlternativeNames || !got.CreatedAt.Equal(startTime) || got.NotAfter != nil {
			t.Errorf("%+v", got)
		}
	})
	for name, tc := range map[string]struct {
		in   sdkacm.ListCertificatesInput
		code string
	}{
		"a page of nothing":              {sdkacm.ListCertificatesInput{MaxItems: sdk.Int32(0)}, "ValidationException"},
		"a page of too much":             {sdkacm.ListCertificatesInput{MaxItems: sdk.Int32(1001)}, "ValidationException"},
		"a token that was made up":       {sdkacm.ListCertificatesInput{NextToken: sdk.String("page 2")}, "InvalidArgsException"},
		"a state no certificate is in":   {sdkacm.ListCertificatesInput{CertificateStatuses: []acmtypes.CertificateStatus{"issued"}}, "ValidationException"},
		"a manager that does not manage": {sdkacm.ListCertificatesInput{Includes: &acmtypes.Filters{ManagedBy: "NOBODY"}}, "ValidationException"},
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			_, err := acmClient(sim).ListCertificates(t.Context(), &tc.in)
			wantRefusal(t, err, 400, tc.code)
		})
	}
}

func TestDeleteCertificate(t *testing.T) {
	for name, tc := range map[string]struct{ arn, code string }{
		"one that is not in use":      {certARN(2), ""},
		"one a distribution uses":     {wildcardARN, "ResourceInUseException"},
		"one a tenant uses":           {certARN(6), "ResourceInUseException"},
		"one that is not there":       {certARN(9), "ResourceNotFoundException"},
		"one of another account":      {"arn:aws:acm:us-east-1:999988887777:certificate/foreign", "ResourceNotFoundException"},
		"something that is no ARN":    {"certificate-of-some-kind-or-other", "InvalidArnException"},
		"something that is too short": {"x", "ValidationException"},
	} {
		t.Run(name, func(t *testing.T) {
			sim := newSim(t)
			if err := sim.Load(aws.Seed{Certificates: []aws.SeedCertificate{{ARN: certARN(6), Names: []string{"acme.test"}}}}); err != nil {
				t.Fatal(err)
			}
			mustCreate(t, sim, "acme", func(in *createInput) {
				in.Customizations = &types.Customizations{Certificate: &types.Certificate{Arn: sdk.String(certARN(6))}}
			})
			before := len(sim.State().Accounts[0].Certificates)
			_, err := acmClient(sim).DeleteCertificate(t.Context(), &sdkacm.DeleteCertificateInput{CertificateArn: &tc.arn})
			gone := before - len(sim.State().Accounts[0].Certificates)
			if tc.code != "" {
				wantRefusal(t, err, 400, tc.code)
			} else if err != nil {
				t.Fatal(err)
			}
			if (gone == 1) != (tc.code == "") {
				t.Errorf("%d certificates are gone", gone)
			}
		})
	}
}

// TestSharedCertificateHasFewUsers keeps the answer small for a fleet.
func TestSharedCertificateHasFewUsers(t *testing.T) {
	sim := newSim(t)
	for _, name := range []string{"aaa", "bbb", "ccc"} {
		mustCreate(t, sim, name, func(in *createInput) {
			in.Customizations = &types.Customizations{Certificate: &types.Certificate{Arn: sdk.String(certARN(2))}}
		})
	}
	want := []string{"arn:aws:cloudfront::111122223333:distribution/" + multiTenant}
	if diff := cmp.Diff(want, describe(t, sim, certARN(2)).InUseBy); diff != "" {
		t.Errorf("in use by (-want +got):\n%s", diff)
	}
	for _, name := range []string{"aaa", "bbb", "ccc"} {
		removeTenant(t, sim, name)
	}
	if got := describe(t, sim, certARN(2)).InUseBy; len(got) != 0 {
		t.Errorf("in use by %v after all tenants are gone", got)
	}
}

func TestACMLimits(t *testing.T) {
	sim := newSim(t)
	if err := sim.SetLimits(aws.ACMLimits()...); err != nil {
		t.Fatal(err)
	}
	for range 8 {
		if _, err := acmClient(sim).ListCertificates(t.Context(), &sdkacm.ListCertificatesInput{}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := acmClient(sim).ListCertificates(t.Context(), &sdkacm.ListCertificatesInput{})
	wantRefusal(t, err, 400, "ThrottlingException")
	describe(t, sim, wildcardARN) // has a bucket of its own
	if got := sim.Calls()["ListCertificates"]; got.Throttled != 1 || got.OK != 8 {
		t.Errorf("calls: %+v", got)
	}
}
