package crash_test

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// parentLifecycles are those of each kind that tenants refer to, and of fleets of all kinds.
func parentLifecycles() (list []*lifecycle) {
	for _, k := range []*parentKind{distributions, groups} {
		list = append(list, k.lifecycles()...)
	}
	list = append(list, fleetLifecycles()...)
	for _, l := range list {
		l.parents = true
	}
	return list
}

func (k *parentKind) lifecycles() []*lifecycle {
	return []*lifecycle{
		{name: k.name + "-create", about: "An object with tags.", steps: []step{{k.makes(), k.isReady}}},
		{name: k.name + "-edit", about: "The configuration is changed, tags are changed, added and removed.", untags: true, prepare: k.prepared(), steps: []step{
			{k.edits, k.isReady},
		}},
		{name: k.name + "-delete", about: "The object is deleted, and its resource in two phases.", prepare: k.prepared(), parks: true, steps: []step{{k.deletes, k.isGone}}},
		{name: k.name + "-in-use", about: "The object is deleted while a tenant refers to it, and the tenant after it.", parks: true,
			prepare: func(s *stage) {
				k.prepared()(s)
				prepared(k.refer)(s)
			},
			steps: []step{
				{k.deletes, k.says(v1alpha1.ConditionReady, v1alpha1.ReasonInUse)},
				{deletes, func(s *stage) bool { return gone(s) && k.isGone(s) }},
			}},
		{name: k.name + "-recreate", about: "Someone deletes the resource in AWS, and it is created again.", meddles: true, parks: true, prepare: k.prepared(), steps: []step{
			{k.deleteOutside, k.isReady},
		}},
		{name: k.name + "-retain", about: "The object is deleted, and the resource stays.", retains: true, parks: true,
			prepare: k.prepared(func(p *v1alpha1.ResourcePolicies) { p.DeletionPolicy = v1alpha1.DeletionPolicyRetain }), steps: []step{{k.deletes, k.isGone}}},
		{name: k.name + "-create-delete", about: "The object is deleted before its resource is there.", slow: true, hasty: true, steps: []step{
			{k.makes(), func(s *stage) bool { return s.gate.seen(awsSide, k.create) > 0 }},
			{k.deletes, k.isGone},
		}},
	}
}

// fleetLifecycles have a distribution, a connection group and the tenants that refer to both.
func fleetLifecycles() []*lifecycle {
	return []*lifecycle{
		{name: "fleet-create", about: "Tenants, connection group and distribution are applied at once.", crowd: true, steps: []step{{(*stage).applyFleet, (*stage).fleetIsReady}}},
		{name: "fleet-delete", about: "All of them are deleted at once, in any order.", crowd: true, parks: true,
			prepare: func(s *stage) {
				s.applyFleet()
				s.await("the prepared fleet to be Ready", s.fleetIsReady)
			},
			steps: []step{{(*stage).deleteFleet, (*stage).fleetIsGone}}},
	}
}

// makes creates the object.
func (k *parentKind) makes(change ...func(*v1alpha1.ResourcePolicies)) func(*stage) {
	return func(s *stage) {
		o := parentOf(k.fresh())
		o.SetNamespace(s.namespace)
		o.SetName(k.object)
		for _, c := range change {
			c(o.policies)
		}
		s.add(o.Object)
	}
}

// prepared makes an object that is Ready before the first fault.
func (k *parentKind) prepared(change ...func(*v1alpha1.ResourcePolicies)) func(*stage) {
	return func(s *stage) {
		k.makes(change...)(s)
		s.await("the prepared "+k.object+" to be Ready", func() bool { return k.isReady(s) })
	}
}

func (k *parentKind) edits(s *stage) {
	o, found := s.parent(k)
	if !found {
		s.fatal("harness", "%s is not there to be edited", k.object)
	}
	base := copyOf(o.Object)
	k.change(o.Object)
	o.policies.Tags = []v1alpha1.Tag{{Key: "team", Value: "core"}, {Key: "stage", Value: "test"}}
	s.gate.note("a person edits %s", k.object)
	s.must("editing "+k.object, s.rig.kube.Patch(s.ctx, o.Object, client.MergeFrom(base)))
}

func (k *parentKind) deletes(s *stage) {
	s.gate.note("a person deletes %s", k.object)
	o := k.empty()
	o.SetNamespace(s.namespace)
	o.SetName(k.object)
	s.must("deleting "+k.object, s.rig.kube.Delete(s.ctx, o))
}

// deleteOutside deletes the resource in AWS behind the operator's back.
func (k *parentKind) deleteOutside(s *stage) {
	o, _ := s.parent(k)
	r, _ := s.resourceOf(o)
	s.gate.note("a person deletes %s in AWS", r.ID)
	// No one may set back what is on its way out, or the deletion would depend on who is faster.
	s.sim.ChangeSwitches(func(sw *sim.Switches) { sw.DeployDelay = 0 })
	s.must("disabling "+r.ID, k.disable(s, r.ID, r.ETag))
	r, _ = s.resourceOf(o)
	s.must("deleting "+r.ID, k.destroy(s, r.ID, r.ETag))
	s.sim.ChangeSwitches(func(sw *sim.Switches) { sw.DeployDelay = deployDelay })
}

// isReady is when status says that all is done, of the present spec and of the resource that is there.
func (k *parentKind) isReady(s *stage) bool {
	if o, found := s.rig.views.seen(s.namespace, k.empty(), k.object); !found || !parentOf(o).claims() {
		return false
	}
	// Our view may be older than the last action of the user.
	o, found := s.parent(k)
	r, there := s.resourceOf(o)
	return found && there && o.claims() && o.status.ID == r.ID
}

func (k *parentKind) isGone(s *stage) bool {
	if _, found := s.rig.views.seen(s.namespace, k.empty(), k.object); found {
		return false
	}
	_, found := s.parent(k)
	return !found
}

// says is when a condition of the present generation has a reason.
func (k *parentKind) says(conditionType, reason string) func(*stage) bool {
	return func(s *stage) bool {
		o, found := s.parent(k)
		c := meta.FindStatusCondition(o.status.Conditions, conditionType)
		return found && c != nil && c.Reason == reason && c.ObservedGeneration == o.GetGeneration()
	}
}

// claims reports whether the object says that it is Ready and Synced as it stands.
func (o parentObject) claims() bool {
	isTrue := func(conditionType string) bool {
		c := meta.FindStatusCondition(o.status.Conditions, conditionType)
		return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == o.GetGeneration()
	}
	return isTrue(v1alpha1.ConditionReady) && isTrue(v1alpha1.ConditionSynced) &&
		o.status.ObservedGeneration == o.GetGeneration() && o.GetDeletionTimestamp() == nil
}

// fleetTenants refer to both parents.
var fleetTenants = []string{"acme", "beta"}

// applyFleet creates what needs others before those.
func (s *stage) applyFleet() {
	for _, name := range fleetTenants {
		s.create(name, distributions.refer, groups.refer)
	}
	groups.makes()(s)
	distributions.makes()(s)
}

func (s *stage) fleetIsReady() bool {
	for _, name := range fleetTenants {
		if !s.isReady(name) {
			return false
		}
	}
	return distributions.isReady(s) && groups.isReady(s)
}

// deleteFleet deletes everything at once.
func (s *stage) deleteFleet() {
	deletions := []func(){func() { distributions.deletes(s) }, func() { groups.deletes(s) }}
	for _, name := range fleetTenants {
		deletions = append(deletions, func() { s.remove(name) })
	}
	s.options.dice.Shuffle(len(deletions), func(a, b int) { deletions[a], deletions[b] = deletions[b], deletions[a] })
	for _, do := range deletions {
		do()
	}
}

func (s *stage) fleetIsGone() bool {
	for _, name := range fleetTenants {
		if !s.isGone(name) {
			return false
		}
	}
	return distributions.isGone(s) && groups.isGone(s)
}
