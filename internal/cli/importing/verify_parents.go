package importing

import (
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/awsresource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/connectiongroup"
	controller "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

func (b *builder) verifyDistribution(e *Entry, o *v1alpha1.Distribution, seen port.Distribution, tags map[string]string) {
	verifyParent(b, e, controller.Kind{}, o, seen, tags)
}

func (b *builder) verifyGroup(e *Entry, o *v1alpha1.ConnectionGroup, seen port.Group, tags map[string]string) {
	verifyParent(b, e, connectiongroup.Kind{}, o, seen, tags)
}

// verifyParent does for a distribution or connection group what verifyTenant does for a tenant. Where they differ, an
// adopted one stays as it is until the spec changes.
func verifyParent[O client.Object, R any](b *builder, e *Entry, kind awsresource.Kind[O, R], o O, seen R, tags map[string]string) {
	spec, observed := kind.Spec(o), kind.Observe(seen)
	in := distribution.Input{
		Object: b.newObject(o),
		Desired: distribution.Desired{
			Words: spec.Words, Adopts: spec.Adopts, Enabled: spec.Enabled, Direct: spec.Direct,
			Numbered: kind.Status(o).Creations != nil, Tags: convert.ResourceTags(spec.Policies, b.Defaults),
		},
		Policy: convert.ResourcePolicy(spec.Policies, b.Defaults),
	}
	v := verifier{entry: e, seen: tags, object: &in.Object, tags: &in.World.Tags, tries: &in.Attempts}
	e.Differences = kind.Differences(o, seen)
	for range maxSteps {
		d := distribution.Decide(in)
		switch step := d.Step.(type) {
		case distribution.Look:
			switch step.At {
			case distribution.LookResource:
				in.World.Resource, in.World.Knowledge, in.World.Fresh = &observed, resource.Whole, true
				in.World.Differences = kind.Differences(o, seen)
			case distribution.LookTags:
				in.World.Tags, in.World.TagsKnown, in.World.TagsFresh, in.World.TagsRead = tags, true, true, b.now()
			default:
				v.act(d.Rule)
				return
			}
		case distribution.Create:
			if in.World.Refused != nil {
				v.act(d.Rule)
				return
			}
			// A connection group is found because AWS refuses to create it again.
			in.World.Refused = &fault.Error{Kind: fault.Exists}
		case distribution.EnsureFinalizer:
			in.HasFinalizer = true
		case distribution.Adopt:
			v.adopt()
			in.AdoptedID = observed.ID
		case distribution.Tag:
			v.setTags(step.Tags)
		case distribution.Rest:
			if len(step.Announced) == 0 {
				v.rest(d.Problem)
				return
			}
			in.Memory.AppliedTagKeys = slices.Concat(in.Memory.AppliedTagKeys, step.Announced)
		default:
			v.act(d.Rule)
			return
		}
	}
	v.act("")
}
