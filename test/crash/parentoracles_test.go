package crash_test

import (
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// The oracles of distributions and connection groups.
const (
	oracleTwoPhases = "two phases"
	oracleOffline   = "tenants offline"
)

// checkParents looks at all distributions and connection groups of ours, at each write and after each answer: each
// belongs to an object that holds it, none is there twice, and none is disabled while it has tenants.
func (s *stage) checkParents() {
	if !s.lifecycle.parents {
		return
	}
	owners := map[string]parentResource{}
	for _, r := range s.ourParents() {
		uid := r.Tags[uidTag]
		if !s.isOurs(r) {
			if !s.lifecycle.retains {
				s.violate(oracleLeak, "%s %s of %s does not carry the tags of its owner: %v", r.kind.name, r.ID, r.Reference, r.Tags)
			}
			continue
		}
		if other, twice := owners[uid]; twice {
			s.violate(oracleDuplicate, "%s has two resources: %s and %s", r.Tags[nameTag], other.ID, r.ID)
		}
		owners[uid] = r
		if !r.Enabled && r.Tenants > 0 {
			s.violate(oracleOffline, "%s %s is disabled and has %d tenants", r.kind.name, r.ID, r.Tenants)
		}
	}
	s.checkHeld(owners)
}

// isOurs reports whether the tags name one of the case's objects as it is called. The operator may have seen the object
// before its creation was noted here.
func (s *stage) isOurs(r parentResource) bool {
	uid := types.UID(r.Tags[uidTag])
	s.mu.Lock()
	name, known := s.uids[uid]
	s.mu.Unlock()
	if o := r.kind.empty(); !known && s.rig.kube.Get(s.ctx, client.ObjectKey{Namespace: s.namespace, Name: r.Tags[nameTag]}, o) == nil {
		name, known = o.GetName(), o.GetUID() == uid
	}
	return known && r.Tags[clusterTag] == clusterID && r.Tags[namespaceTag] == s.namespace && r.Tags[nameTag] == name
}

// checkHeld wants the object of each resource to be there and to carry the finalizer.
func (s *stage) checkHeld(owners map[string]parentResource) {
	if len(owners) == 0 {
		return
	}
	held := map[string]bool{}
	for _, list := range objectLists()[1:] {
		if err := s.rig.kube.List(s.ctx, list, client.InNamespace(s.namespace)); err != nil {
			return // The case is over.
		}
		for _, o := range items(list) {
			held[string(o.GetUID())] = controllerutil.ContainsFinalizer(o, v1alpha1.Finalizer)
		}
	}
	for uid, r := range owners {
		// A released resource may be gone before we asked.
		if now, there := s.parentIn("/" + r.ID); there && now.Tags[uidTag] == uid && !held[uid] {
			s.violate(oracleLeak, "%s %s of %s has no object that holds it", r.kind.name, r.ID, r.Reference)
		}
	}
}

// checkAnswer remembers what a process was told of a resource.
func (s *stage) checkAnswer(c call, answer *httptest.ResponseRecorder) {
	s.checkParents()
	if c.operation != distributions.read && c.operation != groups.read || answer.Code != http.StatusOK {
		return
	}
	var read struct {
		ID      string `xml:"Id"`
		Status  string `xml:"Status"`
		Enabled bool   `xml:"Enabled"`
		Config  struct {
			Enabled bool `xml:"Enabled"`
		} `xml:"DistributionConfig"`
	}
	if err := xml.Unmarshal(answer.Body.Bytes(), &read); err != nil {
		s.violate("harness", "reading the answer to %s: %v", c.target, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settled[c.process+" "+read.ID] = !read.Enabled && !read.Config.Enabled && read.Status == "Deployed"
}

// checkParentWrite looks at each write to a distribution or a connection group before AWS does.
func (s *stage) checkParentWrite(c call, r parentResource) {
	if !s.isOurs(r) {
		if c.operation == "UntagResource" && s.options.replicas > 1 && r.Tags[uidTag] == "" {
			return // The other replica released it between this one's proof and its call.
		}
		s.violate(oracleForeign, "%s: %s %s belongs to someone else: %v", c.target, r.kind.name, r.ID, r.Tags)
		return
	}
	o, found := s.parent(r.kind)
	deleted := found && string(o.GetUID()) == r.Tags[uidTag] && o.GetDeletionTimestamp() != nil && o.policies.DeletionPolicy != v1alpha1.DeletionPolicyRetain
	switch c.operation {
	case r.kind.update:
		if !disables(c.body) {
			return
		}
		if !deleted {
			s.violate(oracleDelete, "%s: it disables, and the object of %s was not deleted", c.target, r.Reference)
		}
		if r.Tenants > 0 {
			s.violate(oracleOffline, "%s: it disables what has %d tenants", c.target, r.Tenants)
		}
	case r.kind.remove:
		if !deleted {
			s.violate(oracleDelete, "%s: the object of %s was not deleted", c.target, r.Reference)
		}
		s.mu.Lock()
		settled := s.settled[c.process+" "+r.ID]
		s.mu.Unlock()
		if !settled {
			s.violate(oracleTwoPhases, "%s: %s has not read that it is disabled and deployed", c.target, c.process)
		}
	}
}

// disables reports whether an update turns a resource off.
func disables(body []byte) bool {
	var sent struct {
		Enabled string `xml:"Enabled"`
	}
	return xml.Unmarshal(body, &sent) == nil && sent.Enabled == "false"
}

// checkParentHonest looks at an object as soon as it changes: what it claims has to be so, and so has what it says
// of its deletion.
func (s *stage) checkParentHonest(o parentObject) {
	if s.lifecycle.meddles {
		return
	}
	if problem := s.misstated(o); problem != "" {
		s.violate(oracleHonesty, "%s says that its deletion is at %s, but %s", o.GetName(), o.status.Deletion.Step, problem)
	}
	if !o.claims() {
		s.mu.Lock()
		before := s.claimed[o.GetUID()]
		tookBack := before == o.GetGeneration() && o.GetDeletionTimestamp() == nil && !s.wiped && s.options.switches == nil && len(s.replicas) == 1
		s.mu.Unlock()
		if tookBack {
			s.violate(oracleHonesty, "%s was Ready and Synced at generation %d, and says so no longer: %s", o.GetName(), o.GetGeneration(), o.brief())
		}
		return
	}
	s.mu.Lock()
	s.claimed[o.GetUID()] = o.GetGeneration()
	s.mu.Unlock()
	problem := s.dishonestParent(o)
	if problem == "" {
		return
	}
	// We may be late: a user may have changed since what was true then.
	if now, found := s.nowOf(o); found && now.GetGeneration() == o.GetGeneration() && now.GetDeletionTimestamp() == nil {
		s.violate(oracleHonesty, "%s says it is Ready and Synced at generation %d, but %s", o.GetName(), o.GetGeneration(), problem)
	}
}

// parentIsGoing reports whether an object that the tenant names is being deleted, or gone.
func (s *stage) parentIsGoing(o *tenantObject) bool {
	for kind, ref := range map[*parentKind]*v1alpha1.ObjectReference{distributions: o.Spec.DistributionRef, groups: o.Spec.ConnectionGroupRef} {
		if ref == nil {
			continue
		}
		named := parentOf(kind.empty())
		named.SetNamespace(o.Namespace)
		named.SetName(ref.Name)
		if now, found := s.nowOf(named); !found || now.GetDeletionTimestamp() != nil {
			return true
		}
	}
	return false
}

// nowOf reads the object as it is now; not found also when the case is over.
func (s *stage) nowOf(o parentObject) (parentObject, bool) {
	now := o.kind.empty()
	if err := s.rig.kube.Get(s.ctx, client.ObjectKeyFromObject(o.Object), now); err != nil {
		return parentObject{}, false
	}
	return parentOf(now), true
}

// misstated is what is wrong about the step that a deletion says it is at. Once a step is behind, it stays so: it
// does not matter how late we look. Where reads lag, AWS told the operator otherwise.
func (s *stage) misstated(o parentObject) string {
	d := o.status.Deletion
	if d == nil || s.options.switches != nil {
		return ""
	}
	r, there := s.resourceOf(o)
	done := d.Step == v1alpha1.DeletionStepSettling || d.Step == v1alpha1.DeletionStepDeleting
	switch {
	case !there:
		return ""
	case done && r.Enabled:
		return r.ID + " is enabled"
	case d.Step == v1alpha1.DeletionStepDeleting && r.Status != "Deployed":
		return r.ID + " is " + r.Status
	case d.Step == v1alpha1.DeletionStepInUse && !r.Enabled && r.Tenants > 0:
		return r.ID + " is disabled"
	}
	return ""
}

func (s *stage) dishonestParent(o parentObject) string {
	r, found := s.resourceOf(o)
	switch {
	case !found:
		return "AWS has no such resource"
	case o.status.ID != r.ID:
		return fmt.Sprintf("status.id is %s, and AWS has %s", o.status.ID, r.ID)
	case r.Status != "Deployed":
		return "it is not deployed yet"
	}
	want := map[string]string{clusterTag: clusterID, namespaceTag: o.GetNamespace(), nameTag: o.GetName(), uidTag: string(o.GetUID())}
	for _, tag := range o.policies.Tags {
		want[tag.Key] = tag.Value
	}
	if d := gocmp.Diff(want, maps.Clone(r.Tags)) + gocmp.Diff(o.kind.wanted(o.Object), r.Config, cmpopts.EquateEmpty()); d != "" {
		return "AWS differs (-spec +AWS):\n" + d
	}
	if !r.Enabled {
		return "it is disabled"
	}
	return ""
}

// checkParentsEnd asks the oracles that look at the end of a case: the account holds what living objects represent
// and what was there from the start.
func (s *stage) checkParentsEnd() {
	s.checkParents()
	for _, o := range s.parents() {
		if problem := s.dishonestParent(o); o.claims() && problem != "" {
			s.violate(oracleHonesty, "at the end %s says that all is done, but %s", o.GetName(), problem)
		}
	}
	now := map[string]parentResource{}
	for _, r := range s.parentResources() {
		now[r.ID] = r
	}
	for id, before := range s.theirParents {
		if d := gocmp.Diff(before, now[id], cmpopts.IgnoreFields(parentResource{}, "kind", "Tenants")); d != "" {
			s.violate(oracleForeign, "the %s %s of someone else was changed (-before +after):\n%s", before.kind.name, id, d)
		}
	}
}
