package cloudfront

import (
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

func managedCertificate(d *types.ManagedCertificateDetails) certificate.Managed {
	managed := certificate.Managed{
		ARN: awssdk.ToString(d.CertificateArn), State: certificate.State(d.CertificateStatus), Host: string(d.ValidationTokenHost),
	}
	for _, t := range d.ValidationTokenDetails {
		if t.Domain == nil {
			continue
		}
		managed.Tokens = append(managed.Tokens, certificate.Token{
			Domain:       strings.ToLower(strings.TrimSuffix(*t.Domain, ".")),
			RedirectFrom: withoutScheme(t.RedirectFrom), RedirectTo: withoutScheme(t.RedirectTo),
		})
	}
	slices.SortFunc(managed.Tokens, func(a, b certificate.Token) int { return strings.Compare(a.Domain, b.Domain) })
	return managed
}

// withoutScheme cuts off the http:// that CloudFront leaves out and ACM, whose tokens these
// are, does not.
func withoutScheme(url *string) string {
	text := awssdk.ToString(url)
	if _, rest, ok := strings.Cut(text, "://"); ok {
		return rest
	}
	return text
}

func distributionOf(d *types.Distribution) distributiontenant.Distribution {
	config := d.DistributionConfig
	out := distributiontenant.Distribution{
		ID:          awssdk.ToString(d.Id),
		MultiTenant: config.ConnectionMode == types.ConnectionModeTenantOnly,
		Disabled:    config.Enabled != nil && !*config.Enabled,
	}
	if v := config.ViewerCertificate; v != nil {
		out.CertificateARN = awssdk.ToString(v.ACMCertificateArn)
	}
	if config.TenantConfig == nil {
		return out
	}
	for _, p := range config.TenantConfig.ParameterDefinitions {
		definition := distributiontenant.ParameterDefinition{Name: awssdk.ToString(p.Name)}
		if p.Definition != nil && p.Definition.StringSchema != nil {
			definition.Required = awssdk.ToBool(p.Definition.StringSchema.Required)
			definition.Default = awssdk.ToString(p.Definition.StringSchema.DefaultValue)
		}
		out.Parameters = append(out.Parameters, definition)
	}
	return out
}

func connectionGroup(g types.ConnectionGroupSummary) (port.ConnectionGroup, error) {
	if awssdk.ToString(g.Id) == "" {
		return port.ConnectionGroup{}, aws.Unreadable(opListGroups, "a connection group's id")
	}
	return port.ConnectionGroup{
		ID: *g.Id, Name: awssdk.ToString(g.Name),
		RoutingEndpoint: awssdk.ToString(g.RoutingEndpoint), IsDefault: awssdk.ToBool(g.IsDefault),
	}, nil
}
