package importing

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// tenantSpec is the tenant as AWS has it, but for its names.
func (b *builder) tenantSpec(t distributiontenant.Observed, tags map[string]string) v1alpha1.DistributionTenantSpec {
	s := v1alpha1.DistributionTenantSpec{
		Customizations: manifestCustomizations(t.Customizations), Tags: manifestTags(tags),
		DeletionPolicy: v1alpha1.DeletionPolicyRetain,
	}
	if b.distribution.object != "" {
		s.DistributionRef = &v1alpha1.ObjectReference{Name: b.distribution.object}
	} else {
		s.DistributionID = t.DistributionID
	}
	if g, known := b.groups[t.ConnectionGroupID]; known && g.object != "" {
		s.ConnectionGroupRef = &v1alpha1.ObjectReference{Name: g.object}
	} else if known {
		s.ConnectionGroupID = g.id
	}
	for _, d := range t.Domains {
		s.Domains = append(s.Domains, v1alpha1.TenantDomain{Domain: d})
	}
	if !t.Enabled {
		s.Enabled = new(false)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Parameters)) {
		s.Parameters = append(s.Parameters, v1alpha1.Parameter{Name: name, Value: t.Parameters[name]})
	}
	return s
}

// tenantNotes are what the manifest can't say of the tenant.
func (b *builder) tenantNotes(t distributiontenant.Observed) []string {
	m, waits := b.reader.pending[t.ARN]
	if !waits {
		return nil
	}
	return []string{fmt.Sprintf(
		"A managed certificate was requested and is not attached (%s). The manifest does not request it: a request would start another one. When it is issued, attach it by its ARN in spec.customizations.certificate.arn.",
		m.State)}
}

// manifestCustomizations is nil where the tenant has everything from its distribution. The certificate is there by its ARN,
// a managed one too: it stays attached, AWS renews it, and the operator neither requests nor deletes it.
func manifestCustomizations(c distributiontenant.Customizations) *v1alpha1.Customizations {
	if c.Equals(distributiontenant.Customizations{}) {
		return nil
	}
	out := &v1alpha1.Customizations{}
	if c.WebACL != (distributiontenant.WebACL{}) {
		out.WebACL = &v1alpha1.WebACLCustomization{Action: v1alpha1.WebACLAction(c.WebACL.Action), ARN: c.WebACL.ARN}
	}
	if c.CertificateARN != "" {
		out.Certificate = &v1alpha1.CertificateCustomization{ARN: c.CertificateARN}
	}
	if c.Geo.Type != "" {
		g := &v1alpha1.GeoRestrictionCustomization{RestrictionType: v1alpha1.GeoRestrictionType(c.Geo.Type)}
		for _, l := range c.Geo.Locations {
			g.Locations = append(g.Locations, v1alpha1.CountryCode(l))
		}
		out.GeoRestrictions = g
	}
	return out
}

// manifestTags are those of users: AWS keeps its own to itself, the operator writes the owner tags, and those of ACK stay
// as they are.
func manifestTags(tags map[string]string) []v1alpha1.Tag {
	var out []v1alpha1.Tag
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if strings.HasPrefix(strings.ToLower(key), "aws:") || strings.HasPrefix(key, ownership.Prefix) || strings.HasPrefix(key, tagOfACK) {
			continue
		}
		out = append(out, v1alpha1.Tag{Key: key, Value: tags[key]})
	}
	return out
}

func policies(tags map[string]string, adoption v1alpha1.AdoptionPolicy) v1alpha1.ResourcePolicies {
	return v1alpha1.ResourcePolicies{
		Tags: manifestTags(tags), AdoptionPolicy: adoption, DeletionPolicy: v1alpha1.DeletionPolicyRetain,
	}
}

// manifestConfig is the distribution as AWS has it, defaults included: a default that changes later must not change the
// distribution. Only empty blocks are left out.
func manifestConfig(c v1alpha1.DistributionConfig) v1alpha1.DistributionConfig {
	c = convert.NormalizeDistribution(c)
	if t := c.TenantConfig; t != nil && len(t.ParameterDefinitions) == 0 {
		c.TenantConfig = nil
	}
	behaviors := []*v1alpha1.CacheBehaviorSettings{c.DefaultCacheBehavior}
	for i := range c.CacheBehaviors {
		behaviors = append(behaviors, &c.CacheBehaviors[i].CacheBehaviorSettings)
	}
	for _, b := range behaviors {
		if b != nil && b.GRPCConfig != nil && b.GRPCConfig.Enabled != nil && !*b.GRPCConfig.Enabled {
			b.GRPCConfig = nil
		}
	}
	if r := c.Restrictions; r != nil && r.GeoRestriction != nil && r.GeoRestriction.RestrictionType == v1alpha1.GeoRestrictionNone {
		c.Restrictions = nil
	}
	return c
}

func manifestGroup(c v1alpha1.ConnectionGroupConfig) v1alpha1.ConnectionGroupConfig {
	return convert.NormalizeGroup(c)
}

// distributionName is a name by which users know the distribution.
func (b *builder) distributionName(d port.Distribution, tags map[string]string, kept string) string {
	names := b.newNames(kindDistribution)
	for _, name := range []string{kept, b.Name, slug(tags["Name"])} {
		if name != "" && !names.taken[name] {
			return name
		}
	}
	names.assign([]string{d.ID}, nil)
	return names.given[d.ID]
}

// distributionNotes are what the manifest can't say, and what should not be seen by everyone.
func (b *builder) distributionNotes() []string {
	var notes []string
	for _, name := range b.reader.unmanaged {
		notes = append(notes, fmt.Sprintf(
			"%s: the kind has no field for it. The operator keeps it as it is in AWS; a distribution that is created from this manifest does not have it.", name))
	}
	var origins []string
	for _, o := range b.reader.distribution.Config.Origins {
		if len(o.CustomHeaders) > 0 {
			origins = append(origins, o.ID)
		}
	}
	if len(origins) > 0 {
		notes = append(notes, fmt.Sprintf(
			"The manifest has the values of the custom headers of the origins %s. If one is the secret by which an origin knows CloudFront, keep the file out of places that others read.",
			prose.List(origins)))
	}
	return notes
}
