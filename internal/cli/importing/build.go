package importing

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// Entry is an object that is written.
type Entry struct {
	Object client.Object
	Kind   string
	// Subject is its name in AWS, ID and ARN are those of AWS.
	Subject, ID, ARN string

	// Differences are those between AWS and the manifest, owner tags not included. At once means that the
	// operator would change AWS when the object is applied, and not only when its spec changes.
	Differences []resource.Difference
	AtOnce      bool
	// Problem is why the object would not become Ready. Nil: it would, once AWS has deployed what is on its way.
	Problem *chain.Problem
	// Notes are what the user should know of it.
	Notes []string
}

// Clean reports whether applying the object changes nothing but owner tags, now and with the next change of its spec.
func (e *Entry) Clean() bool { return len(e.Differences) == 0 }

// builder makes manifests of what was read.
type builder struct {
	Options
	reader  *reader
	schemas *schemas
	fleet   *Fleet
	// existing are the objects of the cluster.
	existing existing
	// references are how tenants name the distribution, and the groups by their IDs.
	distribution reference
	groups       map[string]reference
}

// reference is a parent as tenants name it: by the object if it has a name, or else by the ID in AWS. None of the two:
// tenants don't name it.
type reference struct {
	object string
	id     string
}

func (b *builder) build(ctx context.Context) (*Fleet, error) {
	b.existing = b.Cluster.index()
	if err := b.buildDistribution(ctx); err != nil {
		return nil, err
	}
	if err := b.buildGroups(ctx); err != nil {
		return nil, err
	}
	if err := b.buildTenants(ctx); err != nil {
		return nil, err
	}
	for _, name := range b.reader.gone {
		b.skip(Skipped{Kind: kindTenant, Name: name, Cause: Gone, Reason: "It was deleted in AWS after it was listed."})
	}
	b.fleet.Grant, b.fleet.Tools = b.grant(), b.tools()
	return b.fleet, nil
}

func (b *builder) skip(s Skipped) { b.fleet.Skipped = append(b.fleet.Skipped, s) }

// skipInvalid skips an object that the API server would refuse, and reports whether it did.
func (b *builder) skipInvalid(ctx context.Context, e *Entry) (skipped bool, err error) {
	refusals, err := b.schemas.refusals(ctx, e.Object)
	if err != nil || len(refusals) == 0 {
		return false, err
	}
	b.skip(Skipped{Kind: e.Kind, Name: e.Subject, Cause: Invalid, Reason: strings.Join(refusals, "; ")})
	return true, nil
}

// meta are the metadata of an object.
func (b *builder) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: b.Namespace}
}

func (b *builder) found(kind, subject, arn string) found {
	return found{kind: kind, subject: subject, account: resource.AccountOf(arn), tags: b.reader.tags[arn]}
}

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: apiVersion, Kind: kind}
}

func (b *builder) buildDistribution(ctx context.Context) error {
	d := b.reader.distribution
	b.distribution = reference{id: d.ID}
	tags := b.reader.tags[d.ARN]
	v := b.judge(b.found(kindDistribution, d.ID, d.ARN))
	if v.skip != nil {
		b.skip(*v.skip)
		if v.by != nil && v.by.Namespace == b.Namespace && !b.ByID {
			b.distribution.object = v.by.Name
		}
		return nil
	}
	o := &v1alpha1.Distribution{TypeMeta: typeMeta(kindDistribution), ObjectMeta: b.meta(b.distributionName(d, tags, v.name))}
	o.Spec.DistributionID = d.ID
	o.Spec.DistributionConfig = convert.CompactDistribution(d.Config)
	o.Spec.ResourcePolicies = policies(tags, v.policy)
	e := &Entry{Object: o, Kind: kindDistribution, Subject: d.ID, ID: d.ID, ARN: d.ARN, Notes: b.distributionNotes()}
	if skipped, err := b.skipInvalid(ctx, e); err != nil || skipped {
		return err
	}
	b.verifyDistribution(e, o, d, tags)
	b.fleet.Distribution = e
	if !b.ByID {
		b.distribution.object = o.Name
	}
	return nil
}

func (b *builder) buildGroups(ctx context.Context) error {
	b.groups = map[string]reference{}
	named, verdicts, kept := map[string]port.Group{}, map[string]verdict{}, map[string]string{}
	var subjects []string
	for _, g := range b.reader.groups {
		if g.Default {
			// A tenant that names no group is in this one, and stays where it is.
			b.groups[g.ID] = reference{}
			b.skip(Skipped{Kind: kindGroup, Name: g.Name, Cause: DefaultGroup,
				Reason: "CloudFront uses it for tenants that name no group. The manifests of its tenants name none."})
			continue
		}
		b.groups[g.ID] = reference{id: g.ID}
		v := b.judge(b.found(kindGroup, g.Name, g.ARN))
		if v.skip != nil {
			b.skip(*v.skip)
			if v.by != nil && v.by.Namespace == b.Namespace && !b.ByID {
				b.groups[g.ID] = reference{id: g.ID, object: v.by.Name}
			}
			continue
		}
		subjects, named[g.Name], verdicts[g.Name], kept[g.Name] = append(subjects, g.Name), g, v, v.name
	}
	names := b.newNames(kindGroup)
	names.assign(subjects, kept)
	for _, subject := range slices.Sorted(slices.Values(subjects)) {
		if err := b.buildGroup(ctx, named[subject], names.given[subject], verdicts[subject]); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) buildGroup(ctx context.Context, g port.Group, name string, v verdict) error {
	tags := b.reader.tags[g.ARN]
	o := &v1alpha1.ConnectionGroup{TypeMeta: typeMeta(kindGroup), ObjectMeta: b.meta(name)}
	o.Spec.ConnectionGroupConfig = convert.NormalizeGroup(g.Config)
	o.Spec.ResourcePolicies = policies(tags, v.policy)
	if name != g.Name {
		o.Spec.Name = g.Name
	}
	e := &Entry{Object: o, Kind: kindGroup, Subject: g.Name, ID: g.ID, ARN: g.ARN}
	if skipped, err := b.skipInvalid(ctx, e); err != nil || skipped {
		return err
	}
	b.verifyGroup(e, o, g, tags)
	b.fleet.Groups = append(b.fleet.Groups, e)
	// CloudFront takes no tenant into a group that is disabled, so that the operator would hold those that name it.
	if !b.ByID && g.Enabled {
		b.groups[g.ID] = reference{id: g.ID, object: name}
	}
	return nil
}

func (b *builder) buildTenants(ctx context.Context) error {
	verdicts, kept := map[string]verdict{}, map[string]string{}
	var subjects []string
	var written []distributiontenant.Observed
	for _, t := range b.reader.tenants {
		v := b.judge(b.found(kindTenant, t.Name, t.ARN))
		if v.skip != nil {
			b.skip(*v.skip)
			continue
		}
		subjects, written = append(subjects, t.Name), append(written, t)
		verdicts[t.Name], kept[t.Name] = v, v.name
	}
	names := b.newNames(kindTenant)
	names.assign(subjects, kept)
	for _, t := range written {
		if err := b.buildTenant(ctx, t, names.given[t.Name], verdicts[t.Name]); err != nil {
			return fmt.Errorf("the tenant %s: %w", t.Name, err)
		}
	}
	return nil
}

func (b *builder) buildTenant(ctx context.Context, t distributiontenant.Observed, name string, v verdict) error {
	tags := b.reader.tags[t.ARN]
	o := &v1alpha1.DistributionTenant{TypeMeta: typeMeta(kindTenant), ObjectMeta: b.meta(name)}
	o.Spec = b.tenantSpec(t, tags)
	o.Spec.AdoptionPolicy = v.policy
	if name != t.Name {
		o.Spec.TenantName = t.Name
	}
	e := &Entry{Object: o, Kind: kindTenant, Subject: t.Name, ID: t.ID, ARN: t.ARN, Notes: b.tenantNotes(t)}
	if skipped, err := b.skipInvalid(ctx, e); err != nil || skipped {
		return err
	}
	b.verifyTenant(e, o, t, tags)
	b.fleet.Tenants = append(b.fleet.Tenants, e)
	return nil
}
