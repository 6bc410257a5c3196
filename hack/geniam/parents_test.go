package main

import (
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// parentKind is a kind that tenants refer to, played through its one object shop.
type parentKind struct {
	name   string
	object func(w *world.World, change ...func(*v1alpha1.ResourcePolicies)) client.Object
	// edit changes what is written by an update.
	edit func(client.Object)
	// state is what AWS has.
	state func(w *world.World) (enabled, found bool)
	// The calls of its own.
	create, read, update, delete string
}

var parentKinds = []parentKind{
	{
		name: "Distribution",
		object: func(w *world.World, change ...func(*v1alpha1.ResourcePolicies)) client.Object {
			o := w.Distribution("shop")
			for _, c := range change {
				c(&o.Spec.ResourcePolicies)
			}
			return o
		},
		edit: func(o client.Object) { o.(*v1alpha1.Distribution).Spec.Comment = "changed" },
		state: func(w *world.World) (enabled, found bool) {
			for _, d := range w.Sim.Distributions("") {
				if d.ID != world.DistributionID {
					return d.Enabled, true
				}
			}
			return false, false
		},
		create: "CreateDistributionWithTags", read: "GetDistribution", update: "UpdateDistribution", delete: "DeleteDistribution",
	},
	{
		name: "ConnectionGroup",
		object: func(w *world.World, change ...func(*v1alpha1.ResourcePolicies)) client.Object {
			o := w.ConnectionGroup("shop")
			for _, c := range change {
				c(&o.Spec.ResourcePolicies)
			}
			return o
		},
		edit: func(o client.Object) { o.(*v1alpha1.ConnectionGroup).Spec.IPv6Enabled = new(false) },
		state: func(w *world.World) (enabled, found bool) {
			for _, g := range w.Sim.ConnectionGroups("") {
				if !g.Default {
					return g.Enabled, true
				}
			}
			return false, false
		},
		create: "CreateConnectionGroup", read: "GetConnectionGroup", update: "UpdateConnectionGroup", delete: "DeleteConnectionGroup",
	},
}

// parentRig is a world with the object.
type parentRig struct {
	*world.World

	t *testing.T
	o client.Object
}

func (r parentRig) apply() {
	r.t.Helper()
	if err := r.Kube.Create(r.t.Context(), r.o); err != nil {
		r.t.Fatal(err)
	}
}

func (r parentRig) remove() {
	r.t.Helper()
	if err := r.Kube.Delete(r.t.Context(), r.o); err != nil {
		r.t.Fatal(err)
	}
}

func (r parentRig) edit(change func(client.Object)) {
	r.t.Helper()
	if r.ParentStatus(r.o) == nil {
		r.t.Fatal("the object is gone")
	}
	base := r.o.DeepCopyObject().(client.Object)
	change(r.o)
	if err := r.Kube.Patch(r.t.Context(), r.o, client.MergeFrom(base)); err != nil {
		r.t.Fatal(err)
	}
}

// lose makes the answers of an operation get lost after it did its work.
func (r parentRig) lose(operation string) {
	r.t.Helper()
	if _, err := r.Sim.AddFault(sim.Fault{Operation: operation, Kind: sim.AfterCommit, Effect: sim.EffectReset}); err != nil {
		r.t.Fatal(err)
	}
}

func tagged(p *v1alpha1.ResourcePolicies) { p.Tags = []v1alpha1.Tag{{Key: "team", Value: "web"}} }

func retained(p *v1alpha1.ResourcePolicies) { p.DeletionPolicy = v1alpha1.DeletionPolicyRetain }

func untag(o client.Object) {
	switch o := o.(type) {
	case *v1alpha1.Distribution:
		o.Spec.Tags = nil
	case *v1alpha1.ConnectionGroup:
		o.Spec.Tags = nil
	}
}

// liveParents plays the life of both kinds, in a world that lives on.
func liveParents(t *testing.T, w *world.World) {
	t.Helper()
	for _, k := range parentKinds {
		r := parentRig{World: w, t: t, o: k.object(w, tagged)}
		r.lose(k.create)
		r.apply()
		w.Advance(10 * time.Minute)
		r.edit(untag)
		r.edit(k.edit)
		w.Advance(10 * time.Minute)
		r.remove()
		w.Advance(time.Hour)
		if _, found := k.state(w); found || w.ParentStatus(r.o) != nil {
			t.Errorf("the %s is not gone: %s", k.name, w.ParentConditions(r.o))
		}
	}
}

// parentStory is what the page says of a permission, played with one object.
type parentStory struct {
	operation string
	change    []func(*v1alpha1.ResourcePolicies)
	// before is played with the permission, after without it.
	before, after func(parentRig)
	// wants is what Ready has to be.
	wants string
	// enabled and found are what AWS has in the end.
	enabled, found bool
}

func (k parentKind) stories() map[string]parentStory {
	create, remove := parentRig.apply, parentRig.remove
	edit := func(r parentRig) { r.edit(k.edit) }
	return map[string]parentStory{
		"creating":                {operation: k.create, after: create, wants: denied},
		"reading":                 {operation: k.read, before: create, after: edit, wants: denied, enabled: true, found: true},
		"reading at the end":      {operation: k.read, before: create, after: remove, wants: denied, enabled: true, found: true},
		"updating":                {operation: k.update, before: create, after: edit, wants: denied, enabled: true, found: true},
		"disabling":               {operation: k.update, before: create, after: remove, wants: denied, enabled: true, found: true},
		"deleting":                {operation: k.delete, before: create, after: remove, wants: denied, found: true},
		"proof for a creation":    {operation: "ListTagsForResource", after: create, wants: ready, enabled: true, found: true},
		"proof for a deletion":    {operation: "ListTagsForResource", before: create, after: remove, wants: denied, enabled: true, found: true},
		"tags of a creation":      {operation: "TagResource", after: create, wants: ready, enabled: true, found: true},
		"removing a tag":          {operation: "UntagResource", change: []func(*v1alpha1.ResourcePolicies){tagged}, before: create, after: func(r parentRig) { r.edit(untag) }, wants: denied, enabled: true, found: true},
		"retaining":               {operation: "UntagResource", change: []func(*v1alpha1.ResourcePolicies){retained}, before: create, after: remove, wants: denied, enabled: true, found: true},
		"looking for tenants":     {operation: "ListDistributionTenants", before: create, after: remove, wants: denied, enabled: true, found: true},
		"no other is looked for":  {operation: "ListDistributionTenants", after: create, wants: ready, enabled: true, found: true},
		"finding a lost creation": k.lostCreation(),
	}
}

// lostCreation is about the list for a distribution. A connection group is read by its name.
func (k parentKind) lostCreation() parentStory {
	s := parentStory{operation: k.read, after: func(r parentRig) { r.lose(k.create); r.apply() }, wants: denied, enabled: true, found: true}
	if k.create == "CreateDistributionWithTags" {
		s.operation = "ListDistributionsByConnectionMode"
	}
	return s
}

func TestWhatStopsForParentsWithoutAPermission(t *testing.T) {
	t.Parallel()
	for _, k := range parentKinds {
		for name, s := range k.stories() {
			t.Run(k.name+"/"+s.operation+": "+name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				r := parentRig{World: w, t: t, o: k.object(w, s.change...)}
				w.Advance(time.Second)
				if s.before != nil {
					s.before(r)
					w.Advance(10 * time.Minute)
				}
				deny(t, w, s.operation)
				s.after(r)
				w.Advance(time.Hour)
				if got := w.ParentCondition(r.o, v1alpha1.ConditionReady); got != s.wants {
					t.Errorf("got %s, want %s:\n%s", got, s.wants, w.ParentConditions(r.o))
				}
				if s.wants == denied && !strings.Contains(w.ParentConditions(r.o), s.operation) {
					t.Errorf("no condition names %s:\n%s", s.operation, w.ParentConditions(r.o))
				}
				enabled, found := k.state(w)
				if enabled != s.enabled || found != s.found {
					t.Errorf("in AWS: found %t, enabled %t; want %t, %t", found, enabled, s.found, s.enabled)
				}
			})
		}
	}
}

// ofParents are the operations that those stories are about.
func ofParents() map[string]bool {
	out := map[string]bool{}
	for _, k := range parentKinds {
		for _, s := range k.stories() {
			out[s.operation] = true
		}
	}
	return out
}
