package cloudfront

import (
	"errors"
	"maps"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// wireUpdate has what the tenant is to have otherwise than it was seen. CloudFront keeps what an update leaves out. An empty
// block is there only to take something away. The connection group has no value for "whichever you choose".
func wireUpdate(seen distributiontenant.Observed, t distributiontenant.Tenant, request *certificate.Request) sdk.UpdateDistributionTenantInput {
	have := seen.Normalize()
	in := sdk.UpdateDistributionTenantInput{Id: &seen.ID, IfMatch: &seen.ETag, ManagedCertificateRequest: wireRequest(request)}
	if t.DistributionID != have.DistributionID {
		in.DistributionId = &t.DistributionID
	}
	if t.ConnectionGroupID != have.ConnectionGroupID {
		in.ConnectionGroupId = optional(t.ConnectionGroupID)
	}
	if t.Enabled != have.Enabled {
		in.Enabled = &t.Enabled
	}
	if !slices.Equal(slices.Sorted(slices.Values(t.Domains)), slices.Sorted(slices.Values(have.Domains))) {
		in.Domains = wireDomains(t.Domains)
	}
	if !maps.Equal(t.Parameters, have.Parameters) {
		in.Parameters = wireParameters(t.Parameters)
	}
	if !t.Customizations.Equals(have.Customizations) {
		in.Customizations = wireCustomizations(t.Customizations)
	}
	return in
}

// withoutEmptyBlocks returns an update without its empty blocks, if it has some and anything else.
func withoutEmptyBlocks(in sdk.UpdateDistributionTenantInput) (rest sdk.UpdateDistributionTenantInput, some bool) {
	rest = in
	if len(rest.Parameters) == 0 {
		rest.Parameters = nil
	}
	if emptyBlock(rest.Customizations) {
		rest.Customizations = nil
	}
	emptied := in.Parameters != nil && rest.Parameters == nil || in.Customizations != nil && rest.Customizations == nil
	left := rest.DistributionId != nil || rest.ConnectionGroupId != nil || rest.Enabled != nil || rest.Domains != nil ||
		rest.Parameters != nil || rest.Customizations != nil || rest.ManagedCertificateRequest != nil
	return rest, emptied && left
}

// explained adds to the refusal of an update that only empties blocks what the spec can ask for instead.
func explained(seen distributiontenant.Observed, in sdk.UpdateDistributionTenantInput, err error) error {
	var refusal *fault.Error
	if !errors.As(err, &refusal) || refusal.Kind != fault.Invalid {
		return err
	}
	var instead []string
	if emptyBlock(in.Customizations) {
		c := seen.Customizations
		if c.Geo.Type != "" {
			instead = append(instead, "set customizations.geoRestrictions.restrictionType to none")
		}
		if c.WebACL.Action != "" {
			instead = append(instead, "set customizations.webAcl.action to disable, which needs a permission of its own")
		}
		if c.CertificateARN != "" {
			instead = append(instead, "name this or another certificate in customizations.certificate")
		}
	}
	if in.Parameters != nil && len(in.Parameters) == 0 {
		instead = append(instead, "name one of the parameters")
	}
	if len(instead) == 0 {
		return err
	}
	said := *refusal
	said.Message = strings.TrimSuffix(said.Message, ".") +
		". AWS may refuse to remove the last parameter or customization of a tenant. In the spec, " + strings.Join(instead, ", or ") + "."
	return &said
}

func observed(operation string, t *types.DistributionTenant, etag *string) (distributiontenant.Observed, error) {
	if err := present(operation, "the tenant", t); err != nil {
		return distributiontenant.Observed{}, err
	}
	o := distributiontenant.Observed{
		Tenant: distributiontenant.Tenant{
			Name:              awssdk.ToString(t.Name),
			DistributionID:    awssdk.ToString(t.DistributionId),
			ConnectionGroupID: awssdk.ToString(t.ConnectionGroupId),
			Enabled:           awssdk.ToBool(t.Enabled),
			Domains:           domainNames(t.Domains),
			Parameters:        parameters(t.Parameters),
			Customizations:    customizations(t.Customizations),
		}.Normalize(),
		ID: awssdk.ToString(t.Id), ARN: awssdk.ToString(t.Arn), ETag: awssdk.ToString(etag),
		Status:       awssdk.ToString(t.Status),
		DomainStates: domainStates(t.Domains),
		Created:      awssdk.ToTime(t.CreatedTime), Modified: awssdk.ToTime(t.LastModifiedTime),
	}
	// Get does not tell the tags although its shape has them: that there are none here
	// says nothing about the tenant.
	if t.Tags != nil && len(t.Tags.Items) > 0 {
		o.Tags = tags(t.Tags)
	}
	return o, complete(operation, o)
}

// summarised builds on the same conversion: a summary is a tenant without parameters
// and tags, but with its ETag inside.
func summarised(operation string, s types.DistributionTenantSummary) (distributiontenant.Observed, error) {
	return observed(operation, &types.DistributionTenant{
		Id: s.Id, Arn: s.Arn, Name: s.Name, DistributionId: s.DistributionId, ConnectionGroupId: s.ConnectionGroupId,
		Enabled: s.Enabled, Status: s.Status, Domains: s.Domains, Customizations: s.Customizations,
		CreatedTime: s.CreatedTime, LastModifiedTime: s.LastModifiedTime,
	}, s.ETag)
}

// complete refuses a tenant that can't be told from another or can't be written.
func complete(operation string, o distributiontenant.Observed) error {
	for _, part := range []struct{ what, value string }{
		{"the tenant's id", o.ID}, {"the tenant's name", o.Name}, {"the tenant's ARN", o.ARN}, {"the ETag", o.ETag},
	} {
		if part.value == "" {
			return aws.Unreadable(operation, part.what)
		}
	}
	return nil
}

// wireDomains is never nil.
func wireDomains(domains []string) []types.DomainItem {
	items := make([]types.DomainItem, len(domains))
	for i, d := range domains {
		items[i].Domain = awssdk.String(d)
	}
	return items
}

func domainNames(domains []types.DomainResult) []string {
	var names []string
	for _, d := range domains {
		if d.Domain != nil {
			names = append(names, *d.Domain)
		}
	}
	return names
}

// domainStates are keyed by the names in the form in which tenants are compared.
func domainStates(domains []types.DomainResult) map[string]string {
	states := make(map[string]string, len(domains))
	for _, d := range domains {
		if d.Domain != nil {
			states[strings.ToLower(strings.TrimSuffix(*d.Domain, "."))] = string(d.Status)
		}
	}
	return states
}

// wireParameters is never nil: the empty element is what takes parameters away.
func wireParameters(parameters map[string]string) []types.Parameter {
	items := make([]types.Parameter, 0, len(parameters))
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		items = append(items, types.Parameter{Name: awssdk.String(name), Value: awssdk.String(parameters[name])})
	}
	return items
}

func parameters(list []types.Parameter) map[string]string {
	out := make(map[string]string, len(list))
	for _, p := range list {
		if p.Name != nil {
			out[*p.Name] = awssdk.ToString(p.Value)
		}
	}
	return out
}

// wireCustomizations is never nil, for the same reason. CloudFront replaces the block
// whole, so a part that is not in it is taken away.
func wireCustomizations(c distributiontenant.Customizations) *types.Customizations {
	out := &types.Customizations{}
	if c.WebACL != (distributiontenant.WebACL{}) {
		out.WebAcl = &types.WebAclCustomization{
			Action: types.CustomizationActionType(c.WebACL.Action), Arn: optional(c.WebACL.ARN),
		}
	}
	if c.CertificateARN != "" {
		out.Certificate = &types.Certificate{Arn: awssdk.String(c.CertificateARN)}
	}
	if c.Geo.Type != "" {
		out.GeoRestrictions = &types.GeoRestrictionCustomization{
			RestrictionType: types.GeoRestrictionType(c.Geo.Type), Locations: c.Geo.Locations,
		}
	}
	return out
}

func customizations(c *types.Customizations) distributiontenant.Customizations {
	var out distributiontenant.Customizations
	if c == nil {
		return out
	}
	if c.WebAcl != nil {
		out.WebACL = distributiontenant.WebACL{Action: string(c.WebAcl.Action), ARN: awssdk.ToString(c.WebAcl.Arn)}
	}
	if c.Certificate != nil {
		out.CertificateARN = awssdk.ToString(c.Certificate.Arn)
	}
	if c.GeoRestrictions != nil {
		out.Geo = distributiontenant.Geo{Type: string(c.GeoRestrictions.RestrictionType), Locations: c.GeoRestrictions.Locations}
	}
	return out
}

func emptyBlock(c *types.Customizations) bool { return c != nil && *c == (types.Customizations{}) }

// wireTags returns nil for no tags: CloudFront refuses an empty set of them.
func wireTags(tags map[string]string) *types.Tags {
	if len(tags) == 0 {
		return nil
	}
	out := &types.Tags{}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		out.Items = append(out.Items, types.Tag{Key: awssdk.String(key), Value: awssdk.String(tags[key])})
	}
	return out
}

func tags(t *types.Tags) map[string]string {
	out := make(map[string]string, len(t.Items))
	for _, item := range t.Items {
		if item.Key != nil {
			out[*item.Key] = awssdk.ToString(item.Value)
		}
	}
	return out
}

func wireRequest(r *certificate.Request) *types.ManagedCertificateRequest {
	if r == nil {
		return nil
	}
	return &types.ManagedCertificateRequest{
		ValidationTokenHost:                      types.ValidationTokenHost(r.ValidationTokenHost),
		PrimaryDomainName:                        optional(r.PrimaryDomainName),
		CertificateTransparencyLoggingPreference: types.CertificateTransparencyLoggingPreference(r.TransparencyLoggingPref),
	}
}

// optional returns nil for what is empty: an empty element is not an absent one.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
