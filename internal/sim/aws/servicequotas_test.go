package aws_test

import (
	"net/http"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"
	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

func quotaClient(sim *aws.Sim) *servicequotas.Client {
	return servicequotas.NewFromConfig(sdk.Config{
		Region: "us-east-1", BaseEndpoint: sdk.String("http://aws.test"), Retryer: func() sdk.Retryer { return sdk.NopRetryer{} },
		Credentials: credentials.NewStaticCredentialsProvider("AKIAHOME", "secret", ""), HTTPClient: &http.Client{Transport: sim.Transport()},
	})
}

// The limits that are shown are those that are kept.
func TestServiceQuotas(t *testing.T) {
	sim := newSim(t)
	sim.SetQuotas(aws.Quotas{Tenants: 12, Certificates: 3, OriginGroups: 7})
	applied := map[string]float64{}
	for _, service := range []string{"cloudfront", "acm"} {
		pages := servicequotas.NewListServiceQuotasPaginator(quotaClient(sim), &servicequotas.ListServiceQuotasInput{ServiceCode: &service, MaxResults: sdk.Int32(1)})
		for pages.HasMorePages() {
			for _, q := range must[*servicequotas.ListServiceQuotasOutput](t)(pages.NextPage(t.Context())).Quotas {
				applied[*q.QuotaName] = *q.Value
			}
		}
	}
	if d := cmp.Diff(map[string]float64{"Maximum number of distribution tenants per AWS account": 12, "ACM certificates": 3}, applied); d != "" {
		t.Errorf("applied (-want +got):\n%s", d)
	}
	defaults := map[string]float64{}
	pages := servicequotas.NewListAWSDefaultServiceQuotasPaginator(quotaClient(sim), &servicequotas.ListAWSDefaultServiceQuotasInput{ServiceCode: sdk.String("cloudfront"), MaxResults: sdk.Int32(3)})
	for pages.HasMorePages() {
		for _, q := range must[*servicequotas.ListAWSDefaultServiceQuotasOutput](t)(pages.NextPage(t.Context())).Quotas {
			defaults[*q.QuotaName] = *q.Value
		}
	}
	if d := cmp.Diff(map[string]float64{
		"Distributions per AWS account": 500, "Maximum number of distribution tenants per AWS account": 10_000,
		"Maximum number of multi-tenant distributions per AWS account": 20, "Maximum number of connection groups per AWS account": 100,
		"Maximum number of aliases per distribution tenant":                                                                    100,
		"File invalidation: maximum number of files allowed in active invalidation requests, excluding wildcard invalidations": 3_000,
		"File invalidation: maximum number of active wildcard invalidations allowed":                                           15,
	}, defaults); d != "" {
		t.Errorf("defaults (-want +got):\n%s", d)
	}
}

func TestServiceQuotasRefuses(t *testing.T) {
	sim := newSim(t)
	for name, tc := range map[string]struct {
		in   servicequotas.ListServiceQuotasInput
		want string
	}{
		"a service that there is not": {servicequotas.ListServiceQuotasInput{ServiceCode: sdk.String("clodfront")}, "NoSuchResourceException"},
		"too large a page":            {servicequotas.ListServiceQuotasInput{ServiceCode: sdk.String("acm"), MaxResults: sdk.Int32(101)}, "IllegalArgumentException"},
		"a token of its own":          {servicequotas.ListServiceQuotasInput{ServiceCode: sdk.String("acm"), NextToken: sdk.String("next")}, "InvalidPaginationTokenException"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := quotaClient(sim).ListServiceQuotas(t.Context(), &tc.in)
			wantError(t, err, tc.want)
		})
	}
	_, err := quotaClient(sim).ListServices(t.Context(), &servicequotas.ListServicesInput{})
	wantError(t, err, "UnknownOperationException")
	if _, err := sim.AddFault(aws.Fault{Operation: "ListServiceQuotas", Nth: 1, Times: -1, Error: &aws.FaultError{Status: 400, Code: "AccessDeniedException", Message: "not authorized"}}); err != nil {
		t.Fatal(err)
	}
	_, err = quotaClient(sim).ListServiceQuotas(t.Context(), &servicequotas.ListServiceQuotasInput{ServiceCode: sdk.String("acm")})
	wantError(t, err, "AccessDeniedException")
}
