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

// What a new object has: its first generation, and a UID that no tags name yet.
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
	now := b.now()
	in := distributiontenant.Input{
		Object: b.newObject(o), Desired: convert.Desired(o, b.Defaults), Policy: convert.Policy(o, b.Defaults),
		World: distributiontenant.World{
			World: resource.World{
				Knowledge: resource.Whole, Tags: tags, TagsKnown: true, TagsFresh: true, TagsRead: now,
			},
			Tenant: &seen, TenantFresh: true, Swept: true, RoutingKnown: true,
		},
	}
	in.Refer(b.resolved(o, seen))
	v := verifier{entry: e, seen: tags}
	e.Differences = distributiontenant.Diff(in.Desired.Tenant, seen.Tenant)
	for range maxSteps {
		d := distributiontenant.Decide(in)
		switch step := d.Step.(type) {
		case distributiontenant.EnsureFinalizer:
			in.HasFinalizer = true
		case distributiontenant.Adopt:
			in.World.Tags = ownership.Merge(in.World.Tags, in.Me)
			in.AdoptedGeneration = in.Generation
			v.adopted = true
		case distributiontenant.Tag:
			v.tags(step.Tags)
			in.World.Tags = merged(in.World.Tags, step.Tags)
			in.Attempts.Sent(in.Generation, resource.WroteTags, now)
		case distributiontenant.Rest:
			v.rests(d.Problem)
			return
		default:
			// What is looked up now is for a write alone.
			v.acts(d.Rule)
			return
		}
	}
	v.acts("")
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

// verifier notes what a play shows.
type verifier struct {
	entry   *Entry
	seen    map[string]string
	adopted bool
}

// tags are those that would be set, besides owner tags.
func (v *verifier) tags(set map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(set)) {
		if !strings.HasPrefix(key, ownership.Prefix) {
			v.entry.AtOnce = true
			v.entry.Differences = append(v.entry.Differences, resource.Difference{Field: "tags[" + key + "]", Desired: set[key], Observed: v.seen[key]})
		}
	}
}

// acts means that the rule would change something else.
func (v *verifier) acts(rule string) {
	v.entry.AtOnce = true
	if len(v.entry.Differences) == 0 {
		v.entry.Differences = []resource.Difference{{Field: "spec", Desired: "the rule " + rule + " acts"}}
	}
}

// rests keeps the problem that does not end with time.
func (v *verifier) rests(p *chain.Problem) {
	switch {
	case p != nil && p.Reason != resource.ReasonDeploying && p.Reason != resource.ReasonCreating:
		v.entry.Problem = p
	case !v.adopted && p == nil:
		v.entry.Problem = &chain.Problem{Reason: resource.ReasonAdoptionRequired, Message: prose.Sentence("the operator would not adopt it")}
	}
}

// merged lays tags over others.
func merged(tags, over map[string]string) map[string]string {
	out := maps.Clone(tags)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, over)
	return out
}
