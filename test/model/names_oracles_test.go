package model_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// entry is a line of a ledger, as a zone would show it.
type entry struct {
	object, zone, state string
	record              sim.RecordState
}

// replacedBy reports whether a record at that place stands where the entry's own does: nothing is next to a CNAME.
func (e entry) replacedBy(p place) bool {
	return e.zone == p.zone && e.record.Name == p.name && (e.record.Type == p.kind || e.record.Type == "CNAME" || p.kind == "CNAME")
}

// entries are the ledgers of all objects.
func (n *names) entries() (out []entry) {
	for _, o := range n.objects() {
		out = append(out, ledger(o)...)
	}
	return out
}

func ledger(o v1alpha1.DistributionTenant) (out []entry) {
	if o.Status.DNS == nil {
		return nil
	}
	for _, r := range o.Status.DNS.Records {
		record := sim.RecordState{Name: r.Name, Type: r.Type, TTL: int(r.TTL), Values: []string{r.Value}}
		switch r.Type {
		case "A", "AAAA":
			record.TTL, record.Values, record.AliasTarget = 0, nil, r.Value
		case "TXT":
			record.Values = []string{`"` + r.Value + `"`}
		}
		out = append(out, entry{o.Name, r.ZoneID, string(r.State), record})
	}
	return out
}

// beforeAWS sees every call of the operator before AWS does: no record is changed for an object that is paused.
func (n *names) beforeAWS(r *http.Request, writes bool) {
	n.beforeCall(r, writes)
	path, batch := strings.CutSuffix(strings.TrimSuffix(r.URL.Path, "/"), "/rrset")
	if !writes || !batch {
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		n.t.Fatalf("reading a batch: %v", err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	for _, found := range nameInBatch.FindAllSubmatch(body, -1) {
		name := strings.TrimSuffix(string(found[1]), ".")
		concerned := slices.DeleteFunc(n.objects(), func(o v1alpha1.DistributionTenant) bool {
			return !slices.ContainsFunc(ledger(o), func(e entry) bool { return strings.HasSuffix(path, e.zone) && e.record.Name == name })
		})
		if len(concerned) > 0 && !slices.ContainsFunc(concerned, func(o v1alpha1.DistributionTenant) bool { return !n.rests(o) }) {
			n.t.Fatalf("a record of %s is changed although its object %s is paused:\n%s", name, concerned[0].Name, body)
		}
	}
}

var nameInBatch = regexp.MustCompile(`<Name>([^<]+)</Name>`)

func same(a, b sim.RecordState) bool { return cmp.Equal(a, b) }

// noteEdit remembers what a user wrote.
func (n *names) noteEdit(name string) {
	o, _ := n.Get(name)
	l := n.born[string(o.UID)]
	if l == nil {
		l = &life{}
		n.born[string(o.UID)] = l
	}
	l.last = *o
	l.edits++
	proves := o.Spec.ManagedCertificateRequest != nil && o.Spec.ManagedCertificateRequest.ValidationTokenHost == v1alpha1.ValidationTokenHostCloudFront
	for _, d := range o.Spec.Domains {
		n.proves[d.Domain] = n.proves[d.Domain] || proves && o.Spec.DNS != nil
		n.replaceable[d.Domain] = n.replaceable[d.Domain] || o.Spec.DNS != nil && o.Spec.DNS.Takeover
	}
}

// check is what has to hold at every moment.
func (n *names) check() {
	n.checkTheirs()
	if len(n.dangling) > 0 {
		n.t.Fatalf("names led to CloudFront without a tenant that holds them:\n%s\n%s", strings.Join(n.dangling, "\n"), n.story())
	}
	for p, before := range n.records {
		now, _ := n.recordAt(p)
		if same(now, before) {
			continue
		}
		if !n.replaceable[strings.TrimPrefix(p.name, challenge)] {
			n.t.Fatalf("a record of someone else was changed in %s (-before +after):\n%s\n%s", p.zone, cmp.Diff(before, now), n.story())
		}
		delete(n.records, p)
	}
	for _, o := range n.objects() {
		l := n.born[string(o.UID)]
		if d := cmp.Diff(l.last.Spec, o.Spec); d != "" {
			n.t.Fatalf("the spec of %s was written (-person +now):\n%s", o.Name, d)
		}
		l.last = o
		for _, arn := range o.Status.ManagedCertificates {
			if !slices.Contains(l.certificates, arn) {
				l.certificates = append(l.certificates, arn)
			}
		}
		if !o.DeletionTimestamp.IsZero() && leaves(o) {
			n.loosen(o)
		}
	}
}

// leaves reports whether the records of an object may outlive it.
func leaves(o v1alpha1.DistributionTenant) bool {
	return o.Spec.DeletionPolicy == v1alpha1.DeletionPolicyRetain || o.Annotations[v1alpha1.AnnotationAbandonDNS] == v1alpha1.AbandonTrue
}

// loosen releases the names of an object whose records will not be retracted.
func (n *names) loosen(o v1alpha1.DistributionTenant) {
	for _, e := range ledger(o) {
		n.made[place{e.zone, e.record.Name, e.record.Type}] = true
		n.loose[strings.TrimPrefix(e.record.Name, challenge)] = true
	}
}

// checkTruth checks that each object is Ready, or says why not with a reason that is true.
func (n *names) checkTruth() {
	if slices.ContainsFunc(n.objects(), func(o v1alpha1.DistributionTenant) bool { return n.untrue(o) != "" }) {
		// A try of something that failed hours ago may be on its way this very minute.
		n.Advance(20 * time.Minute)
	}
	for _, o := range n.objects() {
		problem := n.untrue(o)
		for _, c := range o.Status.Conditions {
			// A pass that stops before it knows what DNS is asked for leaves the condition as it was.
			unjudged := c.Type == v1alpha1.ConditionDNSReady && !meta.IsStatusConditionTrue(o.Status.Conditions, v1alpha1.ConditionSynced)
			want := o.Generation
			if c.Type == v1alpha1.ConditionReady && c.Status == metav1.ConditionTrue {
				want = convert.Memory(&o.Status).AppliedGeneration
			}
			if c.ObservedGeneration != want && !unjudged && problem == "" {
				problem = fmt.Sprintf("%s speaks of generation %d, not of %d", c.Type, c.ObservedGeneration, want)
			}
		}
		if problem != "" {
			n.t.Fatalf("%s: %s\n%s%s", o.Name, problem, n.Describe(o.Name), n.story())
		}
	}
}

func (n *names) untrue(o v1alpha1.DistributionTenant) string {
	ready := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionReady)
	s, found := n.InAWS(convert.DistributionTenantName(&o))
	owner, owned := n.ownerOf(s)
	ours := found && owned && owner.UID == o.UID
	switch {
	case ready == nil:
		return "says nothing"
	case !o.DeletionTimestamp.IsZero():
		return n.stillThere(o, ready.Reason)
	case ready.Status == "True" && !ours:
		return "is Ready without a tenant"
	case ready.Status == "True":
		return n.notServing(o, s)
	}
	if !n.reasons(o, s, ours)[ready.Reason] {
		return "says " + ready.Reason + ", which is not so"
	}
	return ""
}

// stillThere says why the deletion of an object should be over.
func (n *names) stillThere(o v1alpha1.DistributionTenant, reason string) string {
	denied := o.Spec.DNS != nil && (o.Spec.DNS.AssumeRoleARN == deniedRole || o.Spec.DNS.AssumeRoleARN == forbiddenRole)
	if len(ledger(o)) > 0 && denied {
		return ""
	}
	inUse := slices.ContainsFunc(n.managedCertificates(), func(c sim.CertificateState) bool {
		return slices.Contains(o.Status.ManagedCertificates, c.ARN) && len(c.InUseBy) > 0
	})
	if inUse && reason == v1alpha1.ReasonDeleting {
		return ""
	}
	return "was deleted long ago and is still there"
}

// notServing says what is wrong with a tenant that is said to be Ready.
func (n *names) notServing(o v1alpha1.DistributionTenant, s sim.TenantState) string {
	var lacks []string
	for _, d := range o.Spec.Domains {
		if *o.Spec.Enabled && s.Domains[d.Domain] != "active" {
			lacks = append(lacks, d.Domain)
		}
	}
	switch {
	case len(lacks) > 0:
		return fmt.Sprintf("is Ready, and CloudFront does not serve %v", lacks)
	case s.Status != "Deployed":
		return "is Ready, and the tenant is " + s.Status
	case s.Enabled != *o.Spec.Enabled:
		return "is Ready, and the tenant is not as enabled as the spec asks"
	case convert.Memory(&o.Status).AppliedGeneration == o.Generation && o.Spec.DriftPolicy == "" && len(s.Domains) != len(o.Spec.Domains):
		return fmt.Sprintf("is Ready, and the tenant has %v", s.Domains)
	}
	if o.Spec.DNS != nil {
		for _, d := range o.Spec.Domains {
			if problem := n.unpublished(o, d.Domain); problem != "" {
				return "is Ready, and " + problem
			}
		}
	}
	return n.badCertificate(o, s)
}

// badCertificate says what is wrong with what a request has come to.
func (n *names) badCertificate(o v1alpha1.DistributionTenant, s sim.TenantState) string {
	arn := s.Customizations.CertificateARN
	if o.Spec.ManagedCertificateRequest == nil || arn == broadCertificate {
		return ""
	}
	for _, c := range n.managedCertificates() {
		switch {
		case c.ARN == arn && c.Status != "ISSUED":
			return "is Ready, and its certificate is " + c.Status
		case c.ARN == s.ManagedCertificate && c.Status == "ISSUED" && arn != c.ARN && o.Spec.Customizations == nil:
			return "is Ready, and its certificate is issued and not attached"
		case c.ARN == s.ManagedCertificate && c.Status != "ISSUED" && arn != "":
			return "is Ready, and its last request is " + c.Status
		}
	}
	return ""
}

// zonesFor are the zones that an object's domain may belong to, the nearest first.
func (n *names) zonesFor(o v1alpha1.DistributionTenant, domain string) (out []sim.HostedZoneState) {
	spec, account := o.Spec.DNS, sim.DefaultAccount
	if spec.AssumeRoleARN != "" {
		account = awayAccount
	}
	for _, a := range n.Sim.State().Accounts {
		for _, z := range a.HostedZones {
			fits := domain == z.Name || strings.HasSuffix(domain, "."+z.Name)
			named := (spec.HostedZoneID == "" || spec.HostedZoneID == z.ID) && (spec.ZoneName == "" || spec.ZoneName == z.Name)
			if a.ID == account && fits && named {
				out = append(out, z)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b sim.HostedZoneState) int { return len(b.Name) - len(a.Name) })
	return out
}

// zoneFor is the zone that an object's domain belongs to; empty where none fits.
func (n *names) zoneFor(o v1alpha1.DistributionTenant, domain string) (id, apex string) {
	for _, z := range n.zonesFor(o, domain) {
		return z.ID, z.Name
	}
	return "", ""
}

// wantedRecords are the records that a domain needs in a zone, computed without the operator's code.
func (n *names) wantedRecords(o v1alpha1.DistributionTenant, domain, apex string) (out []sim.RecordState) {
	group := o.Spec.ConnectionGroupID
	if s, found := n.InAWS(convert.DistributionTenantName(&o)); found && group == "" {
		group = s.ConnectionGroupID
	}
	target := endpoints[group]
	kind := o.Spec.DNS.RecordType
	if domain == apex && kind == v1alpha1.RecordTypeCNAME {
		return nil
	}
	if kind == v1alpha1.RecordTypeCNAME || kind == v1alpha1.RecordTypeAuto && domain != apex {
		return []sim.RecordState{{Name: domain, Type: "CNAME", TTL: int(o.Spec.DNS.TTL), Values: []string{target}}}
	}
	out = append(out, sim.RecordState{Name: domain, Type: "A", AliasTarget: target})
	if group != withoutIPv6 {
		out = append(out, sim.RecordState{Name: domain, Type: "AAAA", AliasTarget: target})
	}
	if !strings.HasPrefix(domain, "*") {
		out = append(out, sim.RecordState{Name: challenge + domain, Type: "TXT", TTL: int(o.Spec.DNS.TTL), Values: []string{`"` + target + `"`}})
	}
	return out
}

// unpublished says which record of a domain is not there. It may be in a zone above the nearest one, if that was opened
// later and is not delegated.
func (n *names) unpublished(o v1alpha1.DistributionTenant, domain string) (problem string) {
	problem = "has no place in DNS"
	for i, z := range n.zonesFor(o, domain) {
		missing := n.missing(z, n.wantedRecords(o, domain, z.Name))
		if delegates(z, domain) {
			missing = "is delegated by " + z.ID
		}
		if missing == "" {
			return ""
		}
		if i == 0 {
			problem = missing
		}
	}
	return domain + " " + problem
}

// delegates reports whether a zone has NS records for the domain, or for a name above it.
func delegates(zone sim.HostedZoneState, domain string) bool {
	return slices.ContainsFunc(zone.Records, func(r sim.RecordState) bool {
		return r.Type == "NS" && r.Name != zone.Name && (domain == r.Name || strings.HasSuffix(domain, "."+r.Name))
	})
}

// missing says which of those records a zone does not have.
func (n *names) missing(zone sim.HostedZoneState, wanted []sim.RecordState) string {
	if len(wanted) == 0 {
		return "has no place in DNS"
	}
	for _, want := range wanted {
		if now, _ := n.recordAt(place{zone.ID, want.Name, want.Type}); !same(now, want) {
			return fmt.Sprintf("has in DNS (-wanted +there):\n%s", cmp.Diff(want, now))
		}
	}
	return ""
}

// reasons are those for not being Ready that hold for an object.
func (n *names) reasons(o v1alpha1.DistributionTenant, s sim.TenantState, ours bool) map[string]bool {
	found := s.ID != ""
	out := map[string]bool{
		v1alpha1.ReasonDomainConflict:   n.holderOfADomain(o) != "",
		v1alpha1.ReasonAdoptionRequired: found && !ours,
	}
	routed := n.Sim.PublicRouting()
	for _, d := range o.Spec.Domains {
		uncovered := slices.Contains(openDomains, d.Domain)
		out[v1alpha1.ReasonCertificateSANMismatch] = out[v1alpha1.ReasonCertificateSANMismatch] || uncovered && (o.Spec.ManagedCertificateRequest == nil || o.Spec.Customizations != nil)
		if s.Domains[d.Domain] != "active" && uncovered && (o.Spec.DNS == nil || routed[d.Domain] == "") {
			out[v1alpha1.ReasonDomainValidationPending] = true
			// Domains that CloudFront does not answer for are not published.
			out[v1alpha1.ReasonDNSRecordCreating] = ours
		}
		if o.Spec.DNS == nil {
			continue
		}
		role := o.Spec.DNS.AssumeRoleARN
		zone, apex := n.zoneFor(o, d.Domain)
		out[v1alpha1.ReasonRoleNotAllowed] = role == forbiddenRole
		out[v1alpha1.ReasonZoneNotFound] = out[v1alpha1.ReasonZoneNotFound] || zone == ""
		out[v1alpha1.ReasonDNSError] = out[v1alpha1.ReasonDNSError] || role == deniedRole || d.Domain == apex && o.Spec.DNS.RecordType == v1alpha1.RecordTypeCNAME
		_, has := s.Domains[d.Domain]
		contested := zone != "" && n.contestedAt(o, d.Domain)
		// The record that is there may be as this object wants it, and another one's.
		out[v1alpha1.ReasonDomainChangeHeld] = out[v1alpha1.ReasonDomainChangeHeld] || ours && !has && (contested || n.unpublished(o, d.Domain) != "")
		out[v1alpha1.ReasonDNSConflict] = out[v1alpha1.ReasonDNSConflict] || contested
	}
	for _, c := range n.managedCertificates() {
		switch {
		case !ours || c.ARN != s.ManagedCertificate || c.Status == "ISSUED":
		case c.Status != "PENDING_VALIDATION":
			out[v1alpha1.ReasonCertificateFailed] = true
		default:
			// The customers have served all tokens: what waits is for CloudFront to prove.
			waits := slices.ContainsFunc(c.Names, func(d string) bool { return !n.leads(d, s) })
			out[v1alpha1.ReasonPendingValidation] = waits
			out[v1alpha1.ReasonDomainChangeHeld] = out[v1alpha1.ReasonDomainChangeHeld] || waits
		}
	}
	if ours && s.ManagedCertificate == "" && slices.ContainsFunc(o.Spec.Domains, func(d v1alpha1.TenantDomain) bool { return s.Domains[d.Domain] != "active" }) {
		// The request was lost, and AWS takes none for what does not lead to CloudFront.
		out[v1alpha1.ReasonCertificateFailed] = out[v1alpha1.ReasonDomainValidationPending]
	}
	if ours && s.ManagedCertificate == "" && o.Spec.ManagedCertificateRequest != nil && o.Annotations[v1alpha1.AnnotationAdoptedGeneration] != "" {
		// An adopted tenant is left as it is until the spec changes: nothing was requested.
		out[v1alpha1.ReasonPendingValidation] = true
	}
	if out[v1alpha1.ReasonCertificateSANMismatch] {
		out[v1alpha1.ReasonInvalidSpec], out[v1alpha1.ReasonDomainValidationPending] = true, true
	}
	if r := o.Spec.ManagedCertificateRequest; r != nil && slices.Contains(coveredDomains, r.PrimaryDomainName) {
		// The simulator takes no primary domain that has the certificate of the distribution, where others need one.
		out[v1alpha1.ReasonInvalidSpec] = true
	}
	if o.Spec.DriftPolicy == v1alpha1.DriftPolicyReport && convert.Memory(&o.Status).AppliedGeneration == o.Generation {
		out[v1alpha1.ReasonAWSError] = !found || s.Enabled != *o.Spec.Enabled
	}
	return out
}

// leads reports whether public DNS proves that a domain leads to its tenant.
func (n *names) leads(domain string, s sim.TenantState) bool {
	endpoint := endpoints[s.ConnectionGroupID]
	if _, held := s.Domains[domain]; !held || n.Sim.PublicRouting()[domain] != endpoint {
		return false
	}
	for _, z := range n.zoneStates() {
		cname, _ := n.recordAt(place{z.ID, domain, "CNAME"})
		text, _ := n.recordAt(place{z.ID, challenge + domain, "TXT"})
		if len(cname.Values) > 0 || slices.Contains(text.Values, `"`+endpoint+`"`) {
			return true
		}
	}
	return false
}

// contestedAt reports whether something else is where the records of a domain belong, or whether they are missing where
// drift is only reported.
func (n *names) contestedAt(o v1alpha1.DistributionTenant, domain string) bool {
	zone, _ := n.zoneFor(o, domain)
	if state, _ := n.Sim.HostedZone(zone); delegates(state, domain) {
		return true
	}
	others := slices.ContainsFunc(n.entries(), func(e entry) bool {
		return e.object != o.Name && e.zone == zone && strings.TrimPrefix(e.record.Name, challenge) == domain
	})
	if o.Spec.DriftPolicy != "" {
		return others || n.unpublished(o, domain) != ""
	}
	// Our records that were changed are restored; only records that were never ours are in the way.
	theirs := slices.ContainsFunc(slices.Collect(maps.Keys(n.made)), func(p place) bool {
		_, there := n.recordAt(p)
		return there && p.zone == zone && strings.TrimPrefix(p.name, challenge) == domain && !slices.ContainsFunc(ledger(o), func(e entry) bool {
			return e.replacedBy(p) && e.state == "Published"
		})
	})
	return others || theirs
}

// checkZones checks that ledgers and zones agree: what a ledger has is there, and what no one else wrote is in a
// ledger. Deleted objects left nothing.
func (n *names) checkZones() {
	ledgers := map[place]bool{}
	for _, o := range n.objects() {
		for _, e := range ledger(o) {
			p := place{e.zone, e.record.Name, e.record.Type}
			ledgers[p] = true
			now, _ := n.recordAt(p)
			_, zone := n.Sim.HostedZone(e.zone)
			if zone && e.state == "Published" && !same(now, e.record) && o.Spec.DriftPolicy == "" && reason(o, v1alpha1.ConditionDNSReady) == v1alpha1.ReasonDNSReady {
				n.t.Fatalf("the ledger of %s has what the zone %s has not (-ledger +zone):\n%s\n%s%s", o.Name, e.zone, cmp.Diff(e.record, now), n.Describe(o.Name), n.story())
			}
		}
	}
	for _, a := range n.Sim.State().Accounts {
		for _, z := range a.HostedZones {
			for _, r := range z.Records {
				if p := (place{z.ID, r.Name, r.Type}); !ledgers[p] && !n.made[p] {
					n.t.Fatalf("the zone %s has a record that stands in no ledger: %+v\n%s", z.ID, r, n.story())
				}
			}
		}
	}
}

// checkCertificates checks that requests are bounded, and that deleted objects left none.
func (n *names) checkCertificates() {
	there := map[string]sim.CertificateState{}
	count := map[string]int{}
	for _, c := range n.managedCertificates() {
		there[c.ARN] = c
		count[c.RequestedBy]++
	}
	most := 1 + n.blows
	for _, l := range n.born {
		most += l.edits
	}
	for id, c := range count {
		if c > most {
			n.t.Fatalf("%d certificates were requested for %s after %d edits and %d blows\n%s", c, id, most-1-n.blows, n.blows, n.story())
		}
	}
	alive := map[string]bool{}
	for _, o := range n.objects() {
		alive[string(o.UID)] = true
	}
	for uid, l := range n.born {
		spec := l.last.Spec
		r := spec.ManagedCertificateRequest
		if alive[uid] || spec.DeletionPolicy == v1alpha1.DeletionPolicyRetain || r != nil && r.DeleteOnTenantDeletion != nil && !*r.DeleteOnTenantDeletion {
			continue
		}
		for _, arn := range l.certificates {
			if c, left := there[arn]; left && len(c.InUseBy) == 0 && c.Status != "PENDING_VALIDATION" {
				n.t.Fatalf("%s is gone, and left the certificate %s\n%s", l.last.Name, arn, n.story())
			}
		}
	}
}

// sweeps are the calls by which a quiet fleet is watched, and those for what all objects share, which is read again
// once an hour: also a zone that a spec names by its ID, if records of others lead a domain where it should, which no ledger
// tells the zone of.
var sweeps = []string{
	"ListDistributionTenants", "ListTagsForResource", "ListCertificates", "ListResourceRecordSets", "ListHostedZones", "AssumeRole",
	"GetHostedZone", "ListConnectionGroups", "GetConnectionGroup",
}

// hourly are the reads that show when the certificates of distributions expire, which all tenants share. Each is bounded by
// mostHourly.
var hourly = []string{"GetDistribution", "DescribeCertificate"}

// mostHourly is what an hour has room for, with the jitter of two hourly looks.
const mostHourly = 2

// checkQuiet checks that nothing happens in an hour once all is well.
func (n *names) checkQuiet() {
	restless := slices.ContainsFunc(n.objects(), func(o v1alpha1.DistributionTenant) bool {
		return !meta.IsStatusConditionTrue(o.Status.Conditions, v1alpha1.ConditionReady)
	})
	calls, writes, events := n.Calls(), n.KubeWrites(), len(n.Events)
	n.Advance(time.Hour)
	spent := world.Since(calls, n.Calls())
	maps.DeleteFunc(spent, func(operation string, n int) bool {
		return slices.Contains(sweeps, operation) || slices.Contains(hourly, operation) && n <= mostHourly
	})
	written := n.KubeWrites() - writes
	if !restless && (written > 0 || len(spent) > 0 || len(n.Events) > events) {
		n.t.Fatalf("a quiet hour made %d writes to Kubernetes, the events %v and the calls %v\n%s", written, n.Events[events:], spent, n.story())
	}
	if written > 30*len(n.objects()) || world.Sum(spent) > 200*len(n.objects()) {
		n.t.Fatalf("an hour with an object that is not Ready made %d writes to Kubernetes and the calls %v\n%s", written, spent, n.story())
	}
}

// story tells what was changed in AWS, for cases that fail.
func (n *names) story() string {
	var b strings.Builder
	for _, o := range n.objects() {
		fmt.Fprintf(&b, "%s: %+v\n", o.Name, ledger(o))
	}
	for _, e := range n.Sim.Journal() {
		if e.Mutating {
			fmt.Fprintf(&b, "%s %s %s %v %s\n", e.Time.Format(time.TimeOnly), e.Operation, e.Name, e.Records, e.Code)
		}
	}
	return b.String()
}
