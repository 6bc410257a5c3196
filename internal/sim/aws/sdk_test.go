package aws_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdkacm "github.com/aws/aws-sdk-go-v2/service/acm"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

const (
	wildcardARN = aws.DefaultCertificateARN
	multiTenant = "E2EXAMPLE1"
	plain       = "E2STANDARD"
	homeGroup   = "cg_home"
	otherGroup  = "cg_other"
	foreignKey  = "AKIAFOREIGN"
	foreignAcct = "999988887777"
)

// testClock stands still until it is told otherwise.
type testClock struct{ now time.Time }

func (c testClock) Now() time.Time { return c.now }

var startTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// seed is the world most tests start in: a multi-tenant distribution with a
// wildcard certificate, a required and an optional parameter, a standard
// distribution, groups, and a second account that holds a domain.
func seed() aws.Seed {
	return aws.Seed{
		Accounts: []aws.SeedAccount{
			{ID: aws.DefaultAccount, AccessKeys: []string{"AKIAHOME"}, Default: true},
			{ID: foreignAcct, AccessKeys: []string{foreignKey}},
		},
		Certificates: []aws.SeedCertificate{
			{ARN: wildcardARN, Names: []string{"*.example.com"}},
			{ARN: certARN(2), Names: []string{"shop.customer.test", "*.customer.test"}},
			{ARN: certARN(3), Names: []string{"pending.test"}, Status: "PENDING_VALIDATION"},
			{ARN: certARN(4), Names: []string{"expired.test"}, NotAfter: new(startTime.Add(-time.Hour))},
			{ARN: "arn:aws:acm:us-east-1:999988887777:certificate/foreign", Names: []string{"*.foreign.test"}},
		},
		Distributions: []aws.SeedDistribution{
			{ID: multiTenant, CertificateARN: wildcardARN, Parameters: []aws.SeedParameter{{Name: "tenantId", Required: true}, {Name: "tier", Default: "basic"}}},
			{ID: "E2NOPARAMS", CertificateARN: wildcardARN},
			{ID: plain, ConnectionMode: "direct", CertificateARN: wildcardARN, Aliases: []string{"www.example.com"}},
			{ID: "E2FOREIGN", Account: foreignAcct, CertificateARN: "arn:aws:acm:us-east-1:999988887777:certificate/foreign"},
		},
		ConnectionGroups: []aws.SeedConnectionGroup{
			{ID: homeGroup, Name: "home"},
			{ID: otherGroup, Name: "other", RoutingEndpoint: "dother.cloudfront.net"},
			{ID: "cg_off", Name: "off", Enabled: new(false)},
		},
		Tenants: []aws.SeedTenant{
			{Account: foreignAcct, ID: "dt_foreign", Name: "foreign", DistributionID: "E2FOREIGN", Domains: []string{"taken.example.com"}},
		},
		ResolvingDomains: []string{"live.customer.org", "*.wild.customer.org"},
	}
}

func certARN(n int) string {
	return "arn:aws:acm:us-east-1:111122223333:certificate/00000000-0000-4000-8000-00000000000" + string(rune('0'+n))
}

// newSim starts a simulator with the test seed, a clock that stands still and a
// deploy delay of ten seconds.
func newSim(t *testing.T, change ...func(*aws.Options)) *aws.Sim {
	t.Helper()
	world := seed()
	options := aws.Options{Clock: testClock{startTime}, RandomSeed: 7, DeployDelay: 10 * time.Second, Seed: &world}
	for _, c := range change {
		c(&options)
	}
	return aws.New(options)
}

// settle lets every change become Deployed.
// allowing takes what is doubtful, for tests of what it does then.
func allowing(sim *aws.Sim) *aws.Sim {
	sim.ChangeSwitches(func(sw *aws.Switches) { sw.Allowed = aws.AllAllowed() })
	return sim
}

func settle(sim *aws.Sim) { sim.Advance(time.Minute) }

// clientOptions are SDK options that reach the simulator without a socket and
// do not retry.
func cloudFrontClient(sim *aws.Sim, key string) *cloudfront.Client {
	return cloudfront.New(cloudfront.Options{
		Region:       "eu-west-1", // the simulator must not insist on us-east-1
		BaseEndpoint: sdk.String("http://sim.invalid"),
		Credentials:  credentials.NewStaticCredentialsProvider(key, "secret", ""),
		HTTPClient:   &http.Client{Transport: sim.Transport()},
		Retryer:      sdk.NopRetryer{},
	})
}

func client(sim *aws.Sim) *cloudfront.Client { return cloudFrontClient(sim, "AKIAHOME") }

func acmClient(sim *aws.Sim) *sdkacm.Client {
	return sdkacm.New(sdkacm.Options{
		Region:       "us-east-1",
		BaseEndpoint: sdk.String("http://sim.invalid"),
		Credentials:  credentials.NewStaticCredentialsProvider("AKIAHOME", "secret", ""),
		HTTPClient:   &http.Client{Transport: sim.Transport()},
		Retryer:      sdk.NopRetryer{},
	})
}

// socketClient reaches the simulator over TCP.
func socketClient(t *testing.T, sim *aws.Sim) (*cloudfront.Client, string) {
	t.Helper()
	server := httptest.NewServer(sim)
	t.Cleanup(server.Close)
	return cloudfront.New(cloudfront.Options{
		Region:       "us-east-1",
		BaseEndpoint: sdk.String(server.URL),
		Credentials:  credentials.NewStaticCredentialsProvider("AKIAHOME", "secret", ""),
		HTTPClient:   awshttp.NewBuildableClient(),
		Retryer:      sdk.NopRetryer{},
	}), server.URL
}

// tenantInput is a valid create; changes make it something else.
func tenantInput(name string, changes ...func(*cloudfront.CreateDistributionTenantInput)) *cloudfront.CreateDistributionTenantInput {
	in := &cloudfront.CreateDistributionTenantInput{
		Name:           sdk.String(name),
		DistributionId: sdk.String(multiTenant),
		Domains:        []types.DomainItem{{Domain: sdk.String(name + ".example.com")}},
		Enabled:        sdk.Bool(true),
		Parameters:     []types.Parameter{{Name: sdk.String("tenantId"), Value: sdk.String(name)}},
	}
	for _, change := range changes {
		change(in)
	}
	return in
}

// mustCreate creates a tenant and returns it with its ETag.
func mustCreate(t *testing.T, sim *aws.Sim, name string, changes ...func(*cloudfront.CreateDistributionTenantInput)) (*types.DistributionTenant, string) {
	t.Helper()
	out, err := client(sim).CreateDistributionTenant(t.Context(), tenantInput(name, changes...))
	if err != nil {
		t.Fatalf("creating tenant %s: %v", name, err)
	}
	return out.DistributionTenant, sdk.ToString(out.ETag)
}

// refusal is the code and the HTTP status of an error.
type refusal struct {
	Status int
	Code   string
}

func refusalOf(err error) refusal {
	var out refusal
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		out.Code = api.ErrorCode()
	}
	if response, ok := errors.AsType[*awshttp.ResponseError](err); ok {
		out.Status = response.HTTPStatusCode()
	}
	return out
}

func wantRefusal(t *testing.T, err error, status int, code string) {
	t.Helper()
	if err == nil {
		t.Fatalf("got no error, want %d %s", status, code)
	}
	if diff := cmp.Diff(refusal{status, code}, refusalOf(err)); diff != "" {
		t.Fatalf("refusal (-want +got):\n%s\n%v", diff, err)
	}
}

func must[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func get(t *testing.T, sim *aws.Sim, identifier string) *cloudfront.GetDistributionTenantOutput {
	t.Helper()
	return must[*cloudfront.GetDistributionTenantOutput](t)(client(sim).GetDistributionTenant(t.Context(), &cloudfront.GetDistributionTenantInput{Identifier: &identifier}))
}

func list(t *testing.T, sim *aws.Sim) []types.DistributionTenantSummary {
	t.Helper()
	return listWith(t.Context(), t, client(sim), &cloudfront.ListDistributionTenantsInput{})
}

func listWith(ctx context.Context, t *testing.T, c *cloudfront.Client, in *cloudfront.ListDistributionTenantsInput) []types.DistributionTenantSummary {
	t.Helper()
	var all []types.DistributionTenantSummary
	pages := cloudfront.NewListDistributionTenantsPaginator(c, in)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			t.Fatalf("listing tenants: %v", err)
		}
		all = append(all, page.DistributionTenantList...)
	}
	return all
}

// cmpSDK compares SDK shapes without the SDK's metadata.
var cmpSDK = cmpopts.IgnoreUnexported(
	types.DistributionTenant{}, types.DomainResult{}, types.Parameter{}, types.Tags{}, types.Tag{},
	types.Customizations{}, types.WebAclCustomization{}, types.Certificate{}, types.GeoRestrictionCustomization{},
	types.DistributionTenantSummary{}, types.ConnectionGroup{}, types.ConnectionGroupSummary{}, types.DomainConflict{},
	types.DnsConfiguration{}, types.ManagedCertificateDetails{}, types.ValidationTokenDetail{},
)

// raw sends a request no SDK would send and returns status and body.
func raw(t *testing.T, sim *aws.Sim, method, target, body string, headers ...string) (int, string) {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	recorder := httptest.NewRecorder()
	sim.ServeHTTP(recorder, request)
	return recorder.Code, recorder.Body.String()
}

// cmpDistribution does the same for configurations of distributions.
var cmpDistribution = cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".noSmithyDocumentSerde" }, cmp.Ignore())

type httpRequest = http.Request

func newRequest(t *testing.T, method, url string) (*http.Request, error) {
	t.Helper()
	return http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
}

// errorAs finds an error of a type.
func errorAs[E error](err error) (E, bool) { return errors.AsType[E](err) }
