package crash_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// The oracles: what has to hold whatever happened.
const (
	oracleLeak         = "leak"
	oracleDuplicate    = "duplicate"
	oracleForeign      = "foreign touch"
	oracleDelete       = "unauthorised delete"
	oracleLiveness     = "liveness"
	oracleQuiescence   = "quiescence"
	oracleHonesty      = "honest status"
	oracleDifferential = "differential"
	oracleCalls        = "bounded calls"
	oracleCrash        = "crash"
	oracleLeader       = "one leader"
)

// The keys of the owner tags, as the documentation promises them.
const (
	clusterTag   = "cloudfront-tenant-operator.io/cluster"
	namespaceTag = "cloudfront-tenant-operator.io/namespace"
	nameTag      = "cloudfront-tenant-operator.io/name"
	uidTag       = "cloudfront-tenant-operator.io/uid"
)

var tenantID = regexp.MustCompile(`dt_[A-Za-z0-9]+`)

// checkWrite looks at each write to AWS before AWS does: what is changed has to be ours,
// and what is deleted has to belong to an object that was deleted.
func (s *stage) checkWrite(c call) {
	s.checkGrant(c)
	s.checkKeysFirst(c)
	if c.operation == requestInvalidation {
		s.checkInvalidationRequest(c)
	}
	if c.operation == deleteCertificate {
		s.checkCertificateDelete(c)
		return
	}
	if r, found := s.parentIn(c.target); found {
		s.checkParentWrite(c, r)
		return
	}
	id := tenantID.FindString(c.target)
	t, found := s.sim.Tenant("", id)
	if id == "" || !found {
		return // A create, which AWS itself refuses for a name that is taken; or something that is gone.
	}
	uid := types.UID(t.Tags[uidTag])
	s.meet(t.Tags[nameTag])
	s.mu.Lock()
	name, ours := s.uids[uid]
	orphan := s.orphans[uid]
	ours = ours && t.Tags[clusterTag] == clusterID
	if ours {
		s.ours[id] = true
	}
	s.mu.Unlock()
	s.checkMass(name, c)
	mayTake := t.Name == "acme" && (orphan || uid == "" && s.lifecycle.adopts == t.Name)
	switch {
	case c.operation == "TagResource" && mayTake && s.wantsAdoption():
	case c.operation == "UntagResource" && uid == "" && s.options.replicas > 1 && s.wasOurs(id):
		// The other replica released it between this one's proof and its call; nothing is left to remove.
	case !ours || orphan:
		s.violate(oracleForeign, "%s: %s %s belongs to someone else: %v", c.target, t.Name, t.ID, t.Tags)
	case c.operation == "DeleteDistributionTenant":
		o, found := s.get(name)
		if !found || o.UID != uid || o.DeletionTimestamp.IsZero() || o.Spec.DeletionPolicy == v1alpha1.DeletionPolicyRetain {
			s.violate(oracleDelete, "%s: the object of %s was not deleted", c.target, t.Name)
		}
	}
}

// wasOurs reports whether the operator wrote to the tenant while it was ours.
func (s *stage) wasOurs(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ours[id]
}

// wantsAdoption reports whether a living object asks to take the tenant over.
func (s *stage) wantsAdoption() bool {
	o, found := s.get("acme")
	return found && o.Spec.AdoptionPolicy == v1alpha1.AdoptionPolicyIfUnowned
}

// checkHonest looks at an object as soon as it changes: its status has to be true, and has to stay true while nothing
// is changed.
func (s *stage) checkHonest(o *tenantObject) {
	if s.lifecycle.meddles || s.isLosing(o) {
		return
	}
	if !claims(o) {
		if s.tookBack(o) {
			s.violate(oracleHonesty, "%s was Ready and Synced at generation %d, and says so no longer: %s", o.Name, o.Generation, brief(o.Status))
		}
		return
	}
	s.mu.Lock()
	s.claimed[o.UID] = o.Generation
	s.mu.Unlock()
	problem := s.dishonest(o)
	if problem == "" {
		return
	}
	// We may be late: a user may have changed since what was true then.
	now := &tenantObject{}
	if err := s.rig.kube.Get(s.ctx, client.ObjectKeyFromObject(o), now); err != nil || now.Generation != o.Generation || !now.DeletionTimestamp.IsZero() {
		return
	}
	s.violate(oracleHonesty, "%s says it is Ready and Synced at generation %d, but %s", o.Name, o.Generation, problem)
}

// tookBack reports whether an object no longer claims what it claimed of the same spec. Where
// reads lag, or status was taken away, that is how it has to be; and of two operators one may
// not have seen yet that a deployment has ended. That a zone may not be read is said, too, and that a parent
// is being deleted.
func (s *stage) tookBack(o *tenantObject) bool {
	if c := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionDNSReady); c != nil && c.Reason == v1alpha1.ReasonDNSError {
		return false
	}
	if c := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionSynced); c != nil &&
		(c.Reason == v1alpha1.ReasonPaused || c.Reason == v1alpha1.ReasonReferenceNotReady && s.parentIsGoing(o)) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.claimed[o.UID] == o.Generation && o.DeletionTimestamp.IsZero() && !s.wiped && s.options.switches == nil && len(s.replicas) == 1
}

func (s *stage) dishonest(o *tenantObject) string {
	t, found := s.tenant(o.Name)
	switch {
	case !found:
		return "AWS has no such tenant"
	case t.Tags[uidTag] != string(o.UID):
		return fmt.Sprintf("the tenant belongs to %q", t.Tags[uidTag])
	case t.Status != "Deployed":
		return "it is not deployed yet"
	}
	for name, state := range t.Domains {
		if state != "active" && t.Enabled {
			return name + " is not served"
		}
	}
	if d := s.unlike(o, t); d != "" {
		return "AWS differs (-spec +AWS):\n" + d
	}
	if o.Spec.DNS != nil {
		routed := s.routedFor(o)
		for _, d := range o.Spec.Domains {
			if routed[d.Domain] != endpoint {
				return fmt.Sprintf("%s leads to %q in DNS", d.Domain, routed[d.Domain])
			}
		}
	}
	return ""
}

// unlike compares what the spec decides with AWS, without any of the operator's code.
func (s *stage) unlike(o *tenantObject, t sim.TenantState) string {
	type config struct {
		Distribution     string
		Group            string
		Domains          []string
		Enabled          bool
		Parameters, Tags map[string]string
		Custom           sim.CustomizationState
	}
	want := config{
		Distribution: s.distributionOf(o), Enabled: o.Spec.Enabled == nil || *o.Spec.Enabled, Parameters: map[string]string{},
		Tags: map[string]string{clusterTag: clusterID, namespaceTag: o.Namespace, nameTag: o.Name, uidTag: string(o.UID)},
	}
	if want.Group = t.ConnectionGroupID; o.Spec.ConnectionGroupRef != nil {
		want.Group = s.idOf(o.Spec.ConnectionGroupRef.Name)
	}
	for _, d := range o.Spec.Domains {
		want.Domains = append(want.Domains, d.Domain)
	}
	slices.Sort(want.Domains)
	for _, p := range o.Spec.Parameters {
		want.Parameters[p.Name] = p.Value
	}
	for _, tag := range o.Spec.Tags {
		want.Tags[tag.Key] = tag.Value
	}
	if o.Spec.ManagedCertificateRequest != nil {
		want.Custom.CertificateARN = cmp.Or(t.ManagedCertificate, "a managed certificate")
	}
	if c := o.Spec.Customizations; c != nil {
		if c.Certificate != nil {
			want.Custom.CertificateARN = c.Certificate.ARN
		}
		if g := c.GeoRestrictions; g != nil {
			want.Custom.GeoRestrictionType = string(g.RestrictionType)
			for _, l := range g.Locations {
				want.Custom.GeoLocations = append(want.Custom.GeoLocations, string(l))
			}
		}
	}
	got := config{
		Distribution: t.DistributionID, Group: t.ConnectionGroupID, Enabled: t.Enabled, Parameters: t.Parameters, Custom: t.Customizations,
		Domains: slices.Sorted(maps.Keys(t.Domains)), Tags: maps.Clone(t.Tags),
	}
	if got.Tags["team"] == "legacy" {
		delete(got.Tags, "team") // Tags of other people stay.
	}
	return gocmp.Diff(want, got, cmpopts.EquateEmpty())
}

// checkEnd asks the oracles that look at the end of a case.
func (s *stage) checkEnd() {
	s.checkOwners()
	s.checkTheirs()
	s.checkParentsEnd()
	s.checkZones()
	s.checkCertificates()
	s.checkInvalidations()
	s.checkKeys()
	s.checkRows()
	s.checkStates()
	s.checkRolledOut()
	s.checkHandedOver()
	s.checkProcesses()
	for _, o := range s.objects() {
		if problem := s.dishonest(&o); claims(&o) && problem != "" {
			s.violate(oracleHonesty, "at the end %s says that all is done, but %s", o.Name, problem)
		}
	}
}

// checkOwners wants an object for each tenant of ours, and one tenant at most for each object.
func (s *stage) checkOwners() {
	alive := map[string]string{}
	for _, o := range s.objects() {
		alive[string(o.UID)] = o.Name
	}
	tenants := map[string]string{}
	for _, t := range s.sim.Tenants("") {
		uid := t.Tags[uidTag]
		if t.Tags[clusterTag] != clusterID {
			continue
		}
		if _, found := alive[uid]; !found {
			s.violate(oracleLeak, "the tenant %s %s has no object any more: %v", t.Name, t.ID, t.Tags)
		}
		if other, twice := tenants[uid]; twice {
			s.violate(oracleDuplicate, "%s has two tenants: %s and %s", alive[uid], other, t.Name)
		}
		tenants[uid] = t.Name
	}
}

// checkTheirs wants what other people made to be as they left it, to the ETag.
func (s *stage) checkTheirs() {
	for id, before := range s.theirs {
		if before.Name == s.lifecycle.adopts {
			continue
		}
		now, _ := s.sim.Tenant("", id)
		if d := gocmp.Diff(before, now); d != "" {
			s.violate(oracleForeign, "the tenant %s of someone else was changed (-before +after):\n%s", before.Name, d)
		}
		for _, e := range s.sim.Journal() {
			if e.Mutating && e.ID == id {
				s.violate(oracleForeign, "%s was sent %s", before.Name, e.Operation)
			}
		}
	}
}

// checkProcesses wants processes that end only when they are told to, and do so in time.
func (s *stage) checkProcesses() {
	for _, r := range s.replicas {
		r.mu.Lock()
		for _, reason := range r.ownEnds {
			s.violate(oracleCrash, "%s exited unexpectedly: %s", r.name, reason)
		}
		r.mu.Unlock()
	}
	s.mu.Lock()
	terminated := s.terminated
	s.mu.Unlock()
	for _, p := range terminated {
		if err := p.child.Err(); err != nil {
			s.violate(oracleCrash, "%s was asked to end and did so with %v: %s", p.name, err, p.child.LogTail(5))
		}
	}
	for name, text := range s.logs() {
		for _, alarm := range []string{"DATA RACE", "panic:", "Observed a panic"} {
			if strings.Contains(text, alarm) {
				s.violate(oracleCrash, "%s has %q in it", name, alarm)
			}
		}
	}
}

// checkCalls wants each fault to cost one more try of a write at most: after a lost answer
// the operator looks, and does not simply send the write again.
func (s *stage) checkCalls(want *reference, faults int) {
	tries := map[string]int{}
	if s.lifecycle.uncounted || s.lifecycle.crowd {
		return
	}
	for _, b := range want.boundaries() {
		if b.side != kubeSide && isWrite(b) {
			tries[b.operation]++
		}
	}
	for operation, most := range tries {
		allowed := most + faults
		if operation == changeRecords || slices.Contains(s.lifecycle.changesElsewhere(), operation) {
			allowed += faults // Names whose tenant is refused are withdrawn before they are published again.
		}
		if strings.HasPrefix(operation, "Delete") {
			// A process sends deletions right after the disable until AWS has refused the first, which takes a moment: of all
			// objects at most. A process that ends forgets that it was refused.
			allowed += (faults + 1) * max(s.removals()-1, 0)
		}
		if operation == requestInvalidation {
			allowed += faults // Each of the two objects may have a request on its way when the process ends.
		}
		if n := s.gate.seen(awsSide, operation) + s.gate.seen(dnsSide, operation); n > allowed {
			s.violate(oracleCalls, "%s was sent %d times, undisturbed it is %d, and there were %d faults", operation, n, most, faults)
		}
	}
}

// checkRest wants no writes at all while the operator looks at everything once more, but for one to each object whose
// certificate it learns of.
func (s *stage) checkRest() {
	before, served := s.gate.written(), s.served()
	state, records := s.sim.State(), s.elsewhere.state()
	lists := s.sim.Calls()["ListDistributionTenants"].Total
	s.pause(longestSweep + s.options.quiet)
	if n := s.sim.Calls()["ListDistributionTenants"].Total - lists; n < len(s.replicas) && !s.options.elect || n == 0 {
		s.violate(oracleLiveness, "%d operators listed the account %d times in %s", len(s.replicas), n, longestSweep+s.options.quiet)
	}
	after := s.gate.written()
	for name, now := range s.served() {
		for _, side := range []side{kubeSide, tableSide} {
			if !equality.Semantic.DeepEqual(served[name], now) && after[side] > before[side] {
				after[side]--
			}
		}
	}
	if d := gocmp.Diff(before, after); d != "" {
		s.violate(oracleQuiescence, "a settled world was written to (-before +after):\n%s", d)
	}
	if d := gocmp.Diff(state.Accounts, s.sim.State().Accounts); d != "" {
		s.violate(oracleQuiescence, "AWS changed in a settled world:\n%s", d)
	}
	if d := gocmp.Diff(records, s.elsewhere.state()); d != "" {
		s.violate(oracleQuiescence, "%s changed in a settled world:\n%s", s.lifecycle.provider.title, d)
	}
}

// served has the certificate of each object as status shows it.
func (s *stage) served() map[string]*v1alpha1.ServedCertificate {
	out := map[string]*v1alpha1.ServedCertificate{}
	for _, o := range s.objects() {
		out[o.Name] = o.Status.Certificate
	}
	for _, p := range s.parents() {
		if d, ok := p.Object.(*v1alpha1.Distribution); ok {
			out["distribution "+d.Name] = d.Status.Certificate
		}
	}
	return out
}

// outcome is the end of a case without what differs from run to run.
type outcome struct {
	Tenants json.RawMessage `json:"tenants"`
	Objects []objectOutcome `json:"objects"`
	// Parents are the distributions and connection groups of ours.
	Parents json.RawMessage `json:"parents,omitempty"`
	// Invalidations are those in AWS, each as its tenant and its paths.
	Invalidations []string `json:"invalidations,omitempty"`
	// Committed counts the writes that AWS carried out.
	Committed map[string]int `json:"committed"`
}

type objectOutcome struct {
	Name        string            `json:"name"`
	Generation  int64             `json:"generation"`
	Deleted     bool              `json:"deleted,omitempty"`
	Finalizers  []string          `json:"finalizers,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Status      json.RawMessage   `json:"status"`
}

func (s *stage) outcome() outcome {
	out := outcome{Committed: map[string]int{}, Objects: []objectOutcome{}}
	names, tenants := []string{}, []sim.TenantState{}
	for _, o := range s.all() {
		names = append(names, string(o.GetUID()), "<uid>")
	}
	for _, r := range s.ourParents() {
		names = append(names, r.ID, "<"+r.kind.name+">", r.Endpoint, "<endpoint>")
	}
	for uid, name := range s.uids {
		names = append(names, string(uid), "<former uid of "+name+">")
	}
	for _, t := range s.sim.Tenants("") {
		if before, theirs := s.theirs[t.ID]; theirs && before.Name != s.lifecycle.adopts {
			continue
		}
		names = append(names, t.ID, "<id>", t.ConnectionGroupID, "<group>")
		t.ETag = ""
		t.CreatedTime, t.LastModifiedTime = time.Time{}, time.Time{}
		tenants = append(tenants, t)
	}
	for _, a := range s.sim.State().Accounts {
		for _, c := range a.Certificates {
			if c.RequestedBy != "" {
				names = append(names, c.ARN, "<certificate of "+strings.Join(c.Names, ", ")+">")
			}
		}
	}
	names = append(names, s.namespace, "<namespace>")
	clean := strings.NewReplacer(names...)
	for _, o := range s.objects() {
		a := objectOutcome{Name: o.Name, Generation: o.Generation, Deleted: !o.DeletionTimestamp.IsZero(), Finalizers: o.Finalizers, Annotations: map[string]string{}}
		for k, v := range o.Annotations {
			// The mark stays from any create that was tried, even if it failed.
			if k != v1alpha1.AnnotationCreatePending {
				a.Annotations[k] = clean.Replace(v)
			}
		}
		a.Status = json.RawMessage(clean.Replace(brief(o.Status)))
		out.Objects = append(out.Objects, a)
	}
	out.Parents, out.Invalidations = s.parentsOutcome(clean), s.invalidated()
	for _, o := range s.parents() {
		out.Objects = append(out.Objects, objectOutcome{
			Name: o.kind.name + " " + o.GetName(), Generation: o.GetGeneration(), Deleted: o.GetDeletionTimestamp() != nil,
			Finalizers: o.GetFinalizers(), Status: json.RawMessage(clean.Replace(o.brief())),
		})
	}
	slices.SortFunc(tenants, func(a, b sim.TenantState) int { return cmp.Compare(a.Name, b.Name) })
	out.Tenants = cleaned(clean, tenants)
	for operation, calls := range s.sim.Calls() {
		// A request that is repeated is answered with what the first one has made.
		if calls.Committed > 0 && operation != requestInvalidation {
			out.Committed[operation] = calls.Committed
		}
	}
	if n := s.changedRecords(); n > 0 {
		out.Committed[changeRecords] = n
	}
	if n := s.elsewhere.changed(); n > 0 {
		out.Committed[s.lifecycle.provider.publishing()] = n
	}
	return out
}

// cleaned is a value as JSON, its keys cleaned as well.
func cleaned(clean *strings.Replacer, value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return json.RawMessage(clean.Replace(string(text)))
}

// created reports whether any resource was made.
func (o outcome) created() bool {
	for operation := range o.Committed {
		if strings.HasPrefix(operation, "Create") {
			return true
		}
	}
	return false
}

// brief renders a status without times, versions and prose.
func brief(status v1alpha1.DistributionTenantStatus) string {
	st := status.DeepCopy()
	st.ETag, st.CreatedTime, st.LastModifiedTime, st.LastDriftCheckTime, st.DNSChangeID = "", nil, nil, nil, ""
	// The look that finds out when it expires comes once an hour, and at each start.
	st.Certificate = nil
	// They follow from the rest, and from what DNS shows at the moment.
	st.Domains = nil
	if st.CertificateRequest != nil {
		st.CertificateRequest.Time = metav1.Time{}
	}
	text, err := json.Marshal(struct {
		v1alpha1.DistributionTenantStatus `json:",inline"`
		Conditions                        []string `json:"conditions"`
	}{DistributionTenantStatus: *st, Conditions: conditionTexts(st.Conditions)})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func conditionTexts(conditions []metav1.Condition) (out []string) {
	for _, c := range conditions {
		out = append(out, fmt.Sprintf("%s=%s/%s@%d", c.Type, c.Status, c.Reason, c.ObservedGeneration))
	}
	return out
}
