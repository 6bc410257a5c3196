package aws_test

import (
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// Whatever is doubtful is refused, and taken once it is allowed.
func TestDoubts(t *testing.T) {
	bare := func(in *createInput) { in.DistributionId, in.Parameters = sdk.String("E2NOPARAMS"), nil }
	certified := func(in *createInput) {
		in.Customizations = &types.Customizations{Certificate: &types.Certificate{Arn: sdk.String(certARN(2))}}
	}
	request := &types.ManagedCertificateRequest{ValidationTokenHost: "self-hosted"}
	tenantUpdate := func(create func(*createInput), change func(*cloudfront.UpdateDistributionTenantInput)) func(*testing.T, *aws.Sim) error {
		return func(t *testing.T, sim *aws.Sim) error {
			t.Helper()
			t.Helper()
			tenant, etag := mustCreate(t, sim, "acme", create)
			in := cloudfront.UpdateDistributionTenantInput{Id: tenant.Id, IfMatch: &etag}
			change(&in)
			_, err := client(sim).UpdateDistributionTenant(t.Context(), &in)
			return err
		}
	}
	for name, tc := range map[string]struct {
		allow func(*aws.Doubts)
		do    func(*testing.T, *aws.Sim) error
		code  string
	}{
		"an empty block that takes something away": {
			func(d *aws.Doubts) { d.EmptyBlocks = true },
			tenantUpdate(certified, func(in *cloudfront.UpdateDistributionTenantInput) { in.Customizations = &types.Customizations{} }),
			"InvalidArgument",
		},
		"empty customizations of a tenant without": {
			func(d *aws.Doubts) { d.EmptyBlocks, d.NeedlessEmptyBlocks = true, true },
			tenantUpdate(bare, func(in *cloudfront.UpdateDistributionTenantInput) { in.Customizations = &types.Customizations{} }),
			"InvalidArgument",
		},
		"empty parameters of a tenant without": {
			func(d *aws.Doubts) { d.EmptyBlocks, d.NeedlessEmptyBlocks = true, true },
			tenantUpdate(bare, func(in *cloudfront.UpdateDistributionTenantInput) { in.Parameters = []types.Parameter{} }),
			"InvalidArgument",
		},
		"empty parameters of a new tenant": {
			func(d *aws.Doubts) { d.EmptyBlocks, d.NeedlessEmptyBlocks = true, true },
			func(t *testing.T, sim *aws.Sim) error {
				t.Helper()
				_, err := client(sim).CreateDistributionTenant(t.Context(), tenantInput("acme", bare, func(in *createInput) { in.Parameters = []types.Parameter{} }))
				return err
			},
			"InvalidArgument",
		},
		"a tag in the invalidation of a tenant": {
			func(d *aws.Doubts) { d.TenantCacheTags = true },
			func(t *testing.T, sim *aws.Sim) error {
				t.Helper()
				tenant, _ := mustCreate(t, sim, "acme")
				_, err := invalidate(t, sim, tenant.Id, batch("x", "#product:7"))
				return err
			},
			"InvalidArgument",
		},
		"a certificate together with a request": {
			func(d *aws.Doubts) { d.CertificateWithRequest = true },
			tenantUpdate(certified, func(in *cloudfront.UpdateDistributionTenantInput) {
				in.Customizations = &types.Customizations{Certificate: &types.Certificate{Arn: sdk.String(certARN(2))}}
				in.ManagedCertificateRequest = request
			}),
			"InvalidArgument",
		},
		"a primary domain that is covered, next to one that is not": {
			func(d *aws.Doubts) { d.CoveredPrimaryDomain = true },
			func(t *testing.T, sim *aws.Sim) error {
				t.Helper()
				_, err := client(sim).CreateDistributionTenant(t.Context(), tenantInput("acme", func(in *createInput) {
					in.Domains = domains("acme.example.com", "elsewhere.customer.org")
					in.ManagedCertificateRequest = &types.ManagedCertificateRequest{ValidationTokenHost: "self-hosted", PrimaryDomainName: sdk.String("acme.example.com")}
				}))
				return err
			},
			"InvalidArgument",
		},
		"an empty Anycast list": {
			func(d *aws.Doubts) { d.EmptyAnycastIPList = true },
			func(t *testing.T, sim *aws.Sim) error {
				t.Helper()
				group := createGroup(t, sim, &cloudfront.CreateConnectionGroupInput{Name: sdk.String("one")})
				_, err := client(sim).UpdateConnectionGroup(t.Context(), &cloudfront.UpdateConnectionGroupInput{
					Id: group.ConnectionGroup.Id, IfMatch: group.ETag, AnycastIpListId: sdk.String(""),
				})
				return err
			},
			"InvalidArgument",
		},
		"an update without the logging that a multi-tenant distribution shows": {
			func(d *aws.Doubts) { d.UpdateWithoutLogging = true },
			func(t *testing.T, sim *aws.Sim) error {
				t.Helper()
				created := createDistribution(t, sim, distributionConfig("one"))
				config := *created.Distribution.DistributionConfig
				config.Logging = nil
				_, err := client(sim).UpdateDistribution(t.Context(), &cloudfront.UpdateDistributionInput{
					Id: created.Distribution.Id, IfMatch: created.ETag, DistributionConfig: &config,
				})
				return err
			},
			"IllegalUpdate",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for doubt, allowed := range map[string]bool{"refused": false, "allowed": true} {
				sim := newSim(t)
				sim.ChangeSwitches(func(sw *aws.Switches) {
					sw.Allowed = aws.Doubts{}
					if allowed {
						tc.allow(&sw.Allowed)
					}
				})
				switch err := tc.do(t, sim); {
				case !allowed:
					wantRefusal(t, err, 400, tc.code)
				case err != nil:
					t.Errorf("%s: %v", doubt, err)
				}
			}
		})
	}
	t.Run("a primary domain where every domain is covered", func(t *testing.T) {
		mustCreate(t, newSim(t), "acme", func(in *createInput) {
			in.ManagedCertificateRequest = &types.ManagedCertificateRequest{ValidationTokenHost: "self-hosted", PrimaryDomainName: sdk.String("acme.example.com")}
		})
	})
}
