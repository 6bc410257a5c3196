package cloudfront

import (
	"context"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/verdict"
)

const (
	opVerifyDNS = "VerifyDnsConfiguration"
	opConflicts = "ListDomainConflicts"
)

// longestReason bounds what AWS says of the DNS of a domain, in bytes.
const longestReason = 512

// tenantPrefix begins the ID of each tenant. That of a distribution has capital letters and digits only.
const tenantPrefix = "dt_"

// VerifyDNS implements port.TenantReader.
func (c *Client) VerifyDNS(ctx context.Context, tenantID, domain string) ([]verdict.DNS, error) {
	out, err := c.api.VerifyDnsConfiguration(ctx,
		&sdk.VerifyDnsConfigurationInput{Identifier: &tenantID, Domain: optional(domain)}, c.read)
	if err != nil {
		return nil, classify(opVerifyDNS, err)
	}
	var found []verdict.DNS
	for _, d := range out.DnsConfigurationList {
		if awssdk.ToString(d.Domain) == "" || d.Status == "" {
			return nil, aws.Unreadable(opVerifyDNS, "a domain with its status")
		}
		found = append(found, verdict.DNS{
			Domain: domainName(d.Domain), Status: verdict.Status(d.Status), Reason: shown(d.Reason, longestReason),
		})
	}
	return found, nil
}

// DomainConflicts implements port.TenantReader.
func (c *Client) DomainConflicts(ctx context.Context, domain, provenBy string) ([]verdict.Conflict, error) {
	proof := &types.DistributionResourceId{DistributionId: &provenBy}
	if strings.HasPrefix(provenBy, tenantPrefix) {
		proof = &types.DistributionResourceId{DistributionTenantId: &provenBy}
	}
	out, err := c.api.ListDomainConflicts(ctx, &sdk.ListDomainConflictsInput{
		Domain: &domain, DomainControlValidationResource: proof, MaxItems: awssdk.Int32(pageSize),
	}, c.read)
	if err != nil {
		return nil, classify(opConflicts, err)
	}
	var found []verdict.Conflict
	for _, d := range out.DomainConflicts {
		if awssdk.ToString(d.ResourceId) == "" {
			return nil, aws.Unreadable(opConflicts, "a resource's id")
		}
		found = append(found, verdict.Conflict{
			Domain: domainName(d.Domain), Type: shown((*string)(&d.ResourceType), longestName),
			ID: shown(d.ResourceId, longestName), Account: shown(d.AccountId, longestName),
		})
	}
	return found, nil
}

// longestName bounds the names of other resources, which are shown as they are, in bytes.
const longestName = 128

// shown makes a text of AWS fit for a message.
func shown(text *string, longest int) string {
	return strings.TrimSpace(prose.Fit(awssdk.ToString(text), longest))
}

// domainName is a domain in the form in which tenants are compared.
func domainName(name *string) string {
	return strings.ToLower(strings.TrimSuffix(shown(name, longestDomain), "."))
}

// longestDomain is how long a domain can be.
const longestDomain = 255
