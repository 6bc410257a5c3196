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

// tenantSpec is the tenant as AWS has it, but for its names. The certificate is there by its ARN, a managed one too: it stays
// attached, AWS renews it, and the operator neither requests nor deletes it.
func (b *builder) tenantSpec(t distributiontenant.Observed, tags map[string]string) v1alpha1.DistributionTenantSpec {
	s := convert.TenantSpec(t.Tenant)
	s.Tags, s.DeletionPolicy = manifestTags(tags), v1alpha1.DeletionPolicyRetain
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
