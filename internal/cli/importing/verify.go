package importing

import (
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// The metadata of a new object: its first generation, and a UID that no tags name yet.
const (
	newGeneration = 1
	newUID        = "of the object that is applied"
)

// maxSteps bounds a play. The rules come to rest after five steps or so.
const maxSteps = 32

// newObject is what the rules are told of an object that was just applied.
func (o *Options) newObject(c client.Object) resource.Object {
	return resource.Object{
		Now: o.now(), Generation: newGeneration,
		Me: ownership.Owner{Cluster: o.Cluster.ClusterID(), Namespace: c.GetNamespace(), Name: c.GetName(), UID: newUID},
	}
}

// verifyTenant plays the operator's rules until they rest, with what was read in place of AWS.
func (b *builder) verifyTenant(e *Entry, o *v1alpha1.DistributionTenant, seen distributiontenant.Observed, tags map[string]string) {
	in := distributiontenant.Input{
		Object: b.newObject(o), Desired: convert.Desired(o, b.Defaults), Policy: convert.Policy(o, b.Defaults),
		World: distributiontenant.World{
			World: resource.World{
				Knowledge: resource.Whole, Tags: tags, TagsKnown: true, TagsFresh: true, TagsRead: b.now(),
			},
			Tenant: &seen, TenantFresh: true, Swept: true, RoutingKnown: true,
		},
	}
	in.Refer(b.resolved(o, seen))
	v := verifier{entry: e, seen: tags, object: &in.Object, tags: &in.World.Tags, tries: &in.Attempts.Tries}
	e.Differences = distributiontenant.Diff(in.Desired.Tenant, seen.Tenant)
	for range maxSteps {
		d := distributiontenant.Decide(in)
		switch step := d.Step.(type) {
		case distributiontenant.EnsureFinalizer:
			in.HasFinalizer = true
		case distributiontenant.Adopt:
			v.adopt()
		case distributiontenant.Tag:
			v.setTags(step.Tags)
		case distributiontenant.Rest:
			if len(step.Announced) == 0 {
				v.rest(d.Problem)
				return
			}
			in.Memory.AppliedTagKeys = slices.Concat(in.Memory.AppliedTagKeys, step.Announced)
		default:
			// Everything that is looked up now is only for a write.
			v.act(d.Rule)
			return
		}
	}
	v.act("")
}

// resolved are the references as they are once the parents are adopted.
func (b *builder) resolved(o *v1alpha1.DistributionTenant, seen distributiontenant.Observed) []distributiontenant.Reference {
	references := convert.References(o)
	for i := range references {
		r := &references[i]
		r.Found, r.ID = true, seen.DistributionID
		if r.Field == distributiontenant.ConnectionGroupRef {
			r.ID = seen.ConnectionGroupID
		}
	}
	return references
}

// verifier does to the input of the rules what their steps do to the world, and notes what a play shows.
type verifier struct {
	entry *Entry
	// seen are the tags before the play.
	seen    map[string]string
	adopted bool

	object *resource.Object
	tags   *map[string]string
	tries  *resource.Tries
}

// adopt lays the owner tags over those that there are.
func (v *verifier) adopt() {
	*v.tags = ownership.Merge(*v.tags, v.object.Me)
	v.object.AdoptedGeneration = v.object.Generation
	v.adopted = true
}

// setTags sets tags. Those of users are differences.
func (v *verifier) setTags(tags map[string]string) {
	all := map[string]string{}
	maps.Copy(all, *v.tags)
	maps.Copy(all, tags)
	*v.tags = all
	v.tries.Sent(v.object.Generation, resource.WroteTags, v.object.Now)
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if !strings.HasPrefix(key, ownership.Prefix) {
			v.entry.AtOnce = true
			v.entry.Differences = append(v.entry.Differences, resource.Difference{Field: "tags[" + key + "]", Desired: tags[key], Observed: v.seen[key]})
		}
	}
}

// act notes that the rule would change something else.
func (v *verifier) act(rule string) {
	v.entry.AtOnce = true
	if len(v.entry.Differences) == 0 {
		v.entry.Differences = []resource.Difference{{Field: "spec", Desired: "the rule " + rule + " acts"}}
	}
}

// rest keeps the problem that does not end with time.
func (v *verifier) rest(p *chain.Problem) {
	switch {
	case p != nil && p.Reason != resource.ReasonDeploying && p.Reason != resource.ReasonCreating:
		v.entry.Problem = p
	case !v.adopted && p == nil:
		v.entry.Problem = &chain.Problem{Reason: resource.ReasonAdoptionRequired, Message: prose.Sentence("the operator would not adopt it")}
	}
}
