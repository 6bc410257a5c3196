package model_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/meta"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

var idInPath = regexp.MustCompile(`dt_[A-Za-z0-9]+`)

// beforeCall sees every call of the operator before AWS does.
func (m *model) beforeCall(r *http.Request, writes bool) {
	if m.raceAt--; m.raceAt == 0 && m.race != nil {
		race := m.race
		m.race = nil
		race()
	}
	if writes {
		m.checkWrite(r)
	}
}

// checkWrite looks at every write of the operator before AWS does. No foreign touch: what
// is changed carries the tags of an object that is there. No unauthorised deletion: what
// is deleted carries those of an object that was deleted and may take its tenant along.
func (m *model) checkWrite(r *http.Request) {
	m.writes++
	target, err := url.QueryUnescape(r.URL.String())
	if err != nil {
		m.t.Fatalf("reading %s: %v", r.URL, err)
	}
	id := idInPath.FindString(target)
	if id == "" {
		return // A create: AWS itself refuses a second one of the name.
	}
	s, found := m.InAWS(id)
	if !found {
		return
	}
	o, owned := m.ownerOf(s)
	switch {
	case owned && r.Method == http.MethodDelete && (o.DeletionTimestamp.IsZero() || o.Spec.DeletionPolicy == v1alpha1.DeletionPolicyRetain):
		m.t.Fatalf("%s is deleted although its object %s was not deleted", s.Name, o.Name)
	case owned && m.rests(o):
		m.t.Fatalf("%s %s although its object %s is paused", r.Method, target, o.Name)
	case owned:
		return
	case r.URL.Query().Get("Operation") == "Tag" && slices.ContainsFunc(m.objects(), func(o v1alpha1.DistributionTenant) bool { return m.mayAdopt(o, s) }):
		delete(m.theirs, id)
		return
	}
	if at, ours := m.takenOver[id]; ours && m.Clock.Now().Sub(at) <= resource.ProofAge {
		return // The tags are not read before every single write.
	}
	m.t.Fatalf("%s %s touches %s, whose tags are %v", r.Method, target, s.Name, s.Tags)
}

// rests reports whether an object is paused, for longer than it takes the pause to reach what was about to be sent.
func (m *model) rests(o v1alpha1.DistributionTenant) bool {
	at, paused := m.pausedAt[o.UID]
	return paused && m.Clock.Now().Sub(at) > time.Minute
}

// ownerOf is the object that the tags of a tenant name.
func (m *model) ownerOf(s sim.TenantState) (v1alpha1.DistributionTenant, bool) {
	for _, o := range m.objects() {
		// The UID proves it; the other parts may have been removed, but not exchanged.
		owner, _ := ownership.FromTags(s.Tags)
		if owner.UID == string(o.UID) && (owner.Cluster == "" || owner.Cluster == world.ClusterID) {
			return o, true
		}
	}
	return v1alpha1.DistributionTenant{}, false
}

// mayAdopt is what the adoption policies promise.
func (m *model) mayAdopt(o v1alpha1.DistributionTenant, s sim.TenantState) bool {
	if convert.DistributionTenantName(&o) != s.Name {
		return false
	}
	owner, owned := ownership.FromTags(s.Tags)
	former := owner.Cluster == world.ClusterID && owner.Namespace == o.Namespace && owner.Name == o.Name
	_, alive := m.ownerOf(s)
	switch o.Spec.AdoptionPolicy {
	case v1alpha1.AdoptionPolicyForce:
		return !alive
	case v1alpha1.AdoptionPolicyIfUnowned:
		return !owned || former
	case v1alpha1.AdoptionPolicyNever:
	}
	return false
}

// checkTheirs checks that what other people made is as they left it.
func (m *model) checkTheirs() {
	for _, id := range slices.Sorted(maps.Keys(m.theirs)) {
		now, found := m.InAWS(id)
		if !found {
			m.t.Fatalf("the tenant %s of someone else is gone", m.theirs[id].Name)
		}
		if d := cmp.Diff(m.theirs[id], now, cmpopts.IgnoreFields(sim.TenantState{}, "Status", "ETag")); d != "" {
			m.t.Fatalf("the tenant %s of someone else was changed (-before +after):\n%s", now.Name, d)
		}
	}
}

// checkNothingLost checks that every tenant with our tags belongs to an object that is
// there, and no object has two.
func (m *model) checkNothingLost() {
	m.checkTheirs()
	for _, id := range slices.Sorted(maps.Keys(m.groups)) {
		// No spec names a connection group, so that the choice is never the operator's.
		if s, found := m.InAWS(id); found && s.ConnectionGroupID != m.groups[id] {
			m.t.Fatalf("someone moved %s to the group %s, and the operator moved it to %s", s.Name, m.groups[id], s.ConnectionGroupID)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(m.theirTags)) {
		if s, found := m.InAWS(id); found && s.Tags["their"] != m.theirTags[id] {
			m.t.Fatalf("someone tagged %s, and the operator took the tag away: %v", s.Name, s.Tags)
		}
	}
	of := map[string]string{}
	for _, s := range m.AllInAWS() {
		owner, owned := ownership.FromTags(s.Tags)
		if !owned || owner.Cluster != world.ClusterID || owner.UID == "" {
			continue
		}
		if _, found := m.ownerOf(s); !found {
			m.t.Fatalf("the tenant %s of %s has no object any more", s.Name, owner)
		}
		if other, twice := of[owner.UID]; twice {
			m.t.Fatalf("%s has two tenants: %s and %s", owner, other, s.Name)
		}
		of[owner.UID] = s.Name
	}
}

// checkConverged checks that each object is where its spec asks it to be, or says honestly
// why it isn't.
func (m *model) checkConverged() {
	for _, o := range m.objects() {
		if !o.DeletionTimestamp.IsZero() {
			m.t.Fatalf("%s was deleted %s ago and is still there:\n%s", o.Name, settling, m.Describe(o.Name))
		}
		if problem := m.unsettled(o); problem != "" {
			m.t.Fatalf("%s: %s\n%s", o.Name, problem, m.Describe(o.Name))
		}
	}
}

// unsettled says what is wrong with an object after the noise.
func (m *model) unsettled(o v1alpha1.DistributionTenant) string {
	ready := reason(o, v1alpha1.ConditionReady)
	s, found := m.InAWS(convert.DistributionTenantName(&o))
	owner, owned := m.ownerOf(s)
	holder := m.holderOfADomain(o)
	if ready == v1alpha1.ReasonDomainConflict {
		if holder == "" {
			return "claims a conflict over domains that are free"
		}
		return ""
	}
	switch {
	case found && owned && owner.UID == o.UID:
		return m.unfaithful(o, s)
	case found && m.mayAdopt(o, s):
		return "did not adopt " + s.Name
	case found && ready != v1alpha1.ReasonAdoptionRequired:
		return fmt.Sprintf("a tenant of its name belongs to someone else (%v), and it says %s", s.Tags, ready)
	case !found && ready == v1alpha1.ReasonAWSError && o.Spec.DriftPolicy != "" && o.Status.ID != "":
		return "" // It was deleted outside, and the drift policy creates nothing.
	case !found && holder == "":
		return "has no tenant although nothing is in its way"
	case !found:
		return fmt.Sprintf("%s holds a domain, and it says %s", holder, ready)
	}
	return ""
}

// unfaithful compares a tenant with its object, and both with what status claims.
func (m *model) unfaithful(o v1alpha1.DistributionTenant, s sim.TenantState) string {
	ready, synced := m.Condition(o.Name, v1alpha1.ConditionReady), m.Condition(o.Name, v1alpha1.ConditionSynced)
	free := o.Spec.DriftPolicy != "" || convert.AdoptedGeneration(&o) == o.Generation
	switch serves := serving(o, s); {
	case serves && ready != "Ready=True/Deployed":
		return ready
	case !serves && !free:
		return "AWS does not serve what the spec asks for, and it says " + ready
	case !serves && ready != "Ready=False/AWSError" && ready != "Ready=False/DomainValidationPending":
		return "someone else took it out of service, and it says " + ready
	}
	if applied := convert.Memory(&o.Status).AppliedGeneration; o.Status.ObservedGeneration != o.Generation || applied != o.Generation {
		return fmt.Sprintf("generation %d is observed and %d applied, %d was written", o.Status.ObservedGeneration, applied, o.Generation)
	}
	diff := difference(o, m.Owner(&o), s)
	switch {
	case diff == "" && synced != "Synced=True/InSync":
		return "AWS matches the spec, and it says " + synced
	case diff != "" && !free:
		return "AWS differs from the spec (-spec +AWS):\n" + diff
	case diff != "" && o.Spec.DriftPolicy != v1alpha1.DriftPolicySuspend && synced != "Synced=False/DriftDetected":
		return "AWS differs from the spec, and it says " + synced + ":\n" + diff
	}
	return ""
}

// serving reports whether a tenant answers for every domain that the spec asks it to.
func serving(o v1alpha1.DistributionTenant, s sim.TenantState) bool {
	lacks := func(d v1alpha1.TenantDomain) bool { return s.Domains[d.Domain] != "active" }
	return !*o.Spec.Enabled || s.Enabled && !slices.ContainsFunc(o.Spec.Domains, lacks)
}

// difference compares the parts of a tenant that the spec decides on, without any of the
// operator's own code.
func difference(o v1alpha1.DistributionTenant, owner ownership.Owner, s sim.TenantState) string {
	type config struct {
		Distribution, Domains string
		Enabled               bool
		Parameters, Tags      map[string]string
		Customizations        sim.CustomizationState
	}
	want := config{Distribution: o.Spec.DistributionID, Enabled: *o.Spec.Enabled, Parameters: map[string]string{}, Tags: map[string]string{}}
	var domains []string
	for _, d := range o.Spec.Domains {
		domains = append(domains, d.Domain)
	}
	want.Domains = fmt.Sprint(slices.Sorted(slices.Values(domains)))
	for _, p := range o.Spec.Parameters {
		want.Parameters[p.Name] = p.Value
	}
	maps.Copy(want.Tags, owner.Tags())
	for _, t := range o.Spec.Tags {
		want.Tags[t.Key] = t.Value
	}
	if c := o.Spec.Customizations; c != nil {
		if c.WebACL != nil {
			want.Customizations.WebACLAction, want.Customizations.WebACLARN = string(c.WebACL.Action), c.WebACL.ARN
		}
		if c.Certificate != nil {
			want.Customizations.CertificateARN = c.Certificate.ARN
		}
		if g := c.GeoRestrictions; g != nil {
			want.Customizations.GeoRestrictionType = string(g.RestrictionType)
			for _, l := range g.Locations {
				want.Customizations.GeoLocations = append(want.Customizations.GeoLocations, string(l))
			}
		}
	}
	got := config{
		Distribution: s.DistributionID, Enabled: s.Enabled, Domains: fmt.Sprint(slices.Sorted(maps.Keys(s.Domains))),
		Parameters: s.Parameters, Customizations: s.Customizations, Tags: map[string]string{},
	}
	for key := range want.Tags {
		if v, there := s.Tags[key]; there {
			got.Tags[key] = v
		}
	}
	return cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.SortSlices(func(a, b string) bool { return a < b }))
}

// holderOfADomain is another tenant that has a domain of the object.
func (m *model) holderOfADomain(o v1alpha1.DistributionTenant) string {
	for _, s := range m.AllInAWS() {
		for _, d := range o.Spec.Domains {
			if _, has := s.Domains[d.Domain]; has && s.Name != convert.DistributionTenantName(&o) {
				return s.Name
			}
		}
	}
	return ""
}

// checkRest checks that an unchanged world is left alone. Refused changes may be tried again now and then; nothing else
// may be written at all.
func (m *model) checkRest() {
	blocked := 0
	for _, o := range m.objects() {
		if reason(o, v1alpha1.ConditionReady) == v1alpha1.ReasonDomainConflict {
			blocked++
		}
	}
	before, kube, writes, status := m.Sim.State(), m.KubeWrites(), m.writes, m.objects()
	m.Advance(resting)
	if n := m.writes - writes; n > blocked {
		m.t.Fatalf("%d writes to AWS in a quiet half hour, %d objects are blocked", n, blocked)
	}
	if n := m.KubeWrites() - kube; n > blocked {
		m.t.Fatalf("%d writes to Kubernetes in a quiet half hour, %d objects are blocked:\n%s", n, blocked, cmp.Diff(status, m.objects()))
	}
	if d := cmp.Diff(before, m.Sim.State(), cmpopts.IgnoreTypes(time.Time{})); d != "" {
		m.t.Fatalf("AWS changed in a quiet half hour:\n%s", d)
	}
}

func reason(o v1alpha1.DistributionTenant, conditionType string) string {
	if c := meta.FindStatusCondition(o.Status.Conditions, conditionType); c != nil {
		return c.Reason
	}
	return ""
}
