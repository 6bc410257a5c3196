package crash_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	r53types "github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// The oracles of DNS and certificates.
const (
	oracleDangling = "dangling name"
	oracleUnserved = "unserved name"
	oracleLedger   = "unledgered change"
	oracleSpec     = "spec written"
)

// sentBatch is a ChangeBatch as it is on the wire.
type sentBatch struct {
	Changes []sentChange `xml:"ChangeBatch>Changes>Change"`
}

type sentChange struct {
	Action string `xml:"Action"`
	Set    struct {
		Name   string   `xml:"Name"`
		Type   string   `xml:"Type"`
		TTL    int64    `xml:"TTL"`
		Alias  string   `xml:"AliasTarget>DNSName"`
		Values []string `xml:"ResourceRecords>ResourceRecord>Value"`
	} `xml:"ResourceRecordSet"`
}

func readBatch(body []byte) (b sentBatch) {
	if err := xml.Unmarshal(body, &b); err != nil {
		b.Changes = []sentChange{{Action: err.Error()}}
	}
	return b
}

func (b sentBatch) String() string {
	var parts []string
	for _, c := range b.Changes {
		parts = append(parts, c.Action+" "+c.record().String())
	}
	return strings.Join(parts, ", ")
}

// record is the change's record as a ledger has it.
func (c sentChange) record() ledgerRecord {
	value := c.Set.Alias
	if value == "" {
		value = strings.Join(c.Set.Values, " ")
	}
	return ledgerRecord{bareName(c.Set.Name), c.Set.Type, bareName(strings.Trim(value, `"`)), c.Set.TTL}
}

func bareName(name string) string {
	return strings.TrimSuffix(strings.ReplaceAll(name, `\052`, "*"), ".")
}

type ledgerRecord struct {
	name, kind, value string
	ttl               int64
}

func (r ledgerRecord) String() string {
	return fmt.Sprintf("%s %s %s %d", r.kind, r.name, r.value, r.ttl)
}

// checkSent looks at each write at the moment at which the operator sends it. Spec is never
// written, and the ledger that is stored in the API server is ahead of every batch.
func (s *stage) checkSent(c call) {
	s.checkParents()
	s.checkRowGone(c)
	s.checkLeader(c)
	switch {
	case c.side == kubeSide && (strings.HasPrefix(c.operation, "patch distribution") || strings.HasPrefix(c.operation, "patch connectiongroups")):
		var patch map[string]json.RawMessage
		if err := json.Unmarshal(c.body, &patch); err != nil || patch["spec"] != nil && !s.isApplied(c) {
			s.violate(oracleSpec, "%s", c.target)
		}
	case c.operation == moveDomain:
		s.checkMove(c)
	case c.operation == changeRecords:
		s.checkBatch(c, zoneIn(c), readBatch(c.body))
	case c.side == dnsSide && c.writes:
		s.checkBatch(c, s.elsewhere.zone(), s.elsewhere.batchOf(c))
	}
}

// checkLeader wants a leader that was frozen for longer than the lease lasts to write nothing to any side. What was on its way
// before may arrive.
func (s *stage) checkLeader(c call) {
	s.mu.Lock()
	former := s.former[c.process]
	s.mu.Unlock()
	if former {
		s.violate(oracleLeader, "%s was frozen for longer than its lease lasts, and sent %s %s", c.process, c.operation, c.target)
	}
}

// checkBatch wants every record that is created to be in a ledger, and every record that is
// deleted to stand there as one that has to go, or to make room for a published one. Any ledger counts that was stored
// since the batch arrived: the operator may have stored the next one since.
func (s *stage) checkBatch(c call, zone string, batch sentBatch) {
	var list v1alpha1.DistributionTenantList
	if err := s.rig.kube.List(s.ctx, &list, client.InNamespace(s.namespace)); err != nil {
		return // The case is over.
	}
	s.mu.Lock()
	wiped := s.wiped
	s.mu.Unlock()
	states, names := map[ledgerRecord][]v1alpha1.RecordState{}, map[string]bool{}
	for _, o := range append(s.rig.views.since(s.namespace, c.at), pointers(list.Items)...) {
		if o.Status.DNS == nil {
			continue
		}
		for _, r := range o.Status.DNS.Records {
			if r.ZoneID != zone {
				continue
			}
			key := ledgerRecord{r.Name, r.Type, r.Value, r.TTL}
			states[key] = append(states[key], r.State)
			names[r.Name] = names[r.Name] || r.State == "Published"
		}
	}
	for _, change := range batch.Changes {
		r := change.record()
		fine := len(states[r]) > 0
		if change.Action == "DELETE" {
			fine = slices.Contains(states[r], "Retracting") || names[r.name] && batch.creates(r.name)
		}
		if !fine && !wiped {
			s.violate(oracleLedger, "%s of %s was sent, and no stored ledger says so: %v", change.Action, r, states)
		}
	}
}

func pointers[T any](list []T) (out []*T) {
	for n := range list {
		out = append(out, &list[n])
	}
	return out
}

func (b sentBatch) creates(name string) bool {
	return slices.ContainsFunc(b.Changes, func(c sentChange) bool { return c.Action == "CREATE" && c.record().name == name })
}

// routingWatch follows which names lead to CloudFront, and which of them have a tenant.
type routingWatch struct {
	mu sync.Mutex
	// theirs are the names that other people lead to CloudFront.
	theirs map[string]string
	// held are the names that a tenant had while they led to CloudFront.
	held, told map[string]bool
	// served is true once the name that moves led to CloudFront.
	served bool
}

// watchRouting looks at the world before and after each change. A name that leads to CloudFront
// without a tenant is a name that a stranger may claim.
func (s *stage) watchRouting(v sim.View) {
	if s.lifecycle.dns == nil {
		return
	}
	s.checkRouting(v.Operation, v.PublicRouting(), v.Domains())
}

// checkRouting looks at where names lead in public DNS, and which names tenants have.
func (s *stage) checkRouting(operation string, routed, domains map[string]string) {
	w := &s.routing
	w.mu.Lock()
	defer w.mu.Unlock()
	s.checkServed(operation, routed)
	routed = s.elsewhere.route(routed)
	if w.held == nil {
		w.held, w.told = map[string]bool{}, map[string]bool{}
	}
	maps.DeleteFunc(w.held, func(name string, _ bool) bool { return routed[name] == "" })
	for _, name := range slices.Sorted(maps.Keys(routed)) {
		_, has := domains[name]
		switch {
		case w.theirs[name] != "", w.told[name]:
		case has:
			w.held[name] = true
		case w.held[name] && !s.lifecycle.dns.shared:
			w.told[name] = true
			s.violate(oracleDangling, "%s leads to CloudFront, and its tenant is gone (%s)", name, operation)
		case !s.lifecycle.dns.proves:
			w.told[name] = true
			s.violate(oracleDangling, "%s was published before a tenant has it (%s)", name, operation)
		}
	}
}

// zoneRecords are the records of all zones.
func (s *stage) zoneRecords() map[string][]sim.RecordState {
	out := map[string][]sim.RecordState{}
	for _, a := range s.sim.State().Accounts {
		for _, z := range a.HostedZones {
			out[z.ID] = z.Records
		}
	}
	return out
}

// misplaced compares the zones with the records of other people and those that the specs ask
// for, without any of the operator's code. It is empty when they are the same.
func (s *stage) misplaced() string {
	want, got := map[string][]string{}, map[string][]string{}
	for id, records := range s.zoneRecords() {
		for _, r := range records {
			got[id] = append(got[id], text(r))
		}
	}
	s.elsewhere.compare(want, got)
	s.mu.Lock()
	for id, records := range s.foreign {
		for _, r := range records {
			want[id] = append(want[id], text(r))
		}
	}
	s.mu.Unlock()
	for _, o := range s.objects() {
		if o.Spec.DNS == nil || !o.DeletionTimestamp.IsZero() {
			continue
		}
		for _, d := range o.Spec.Domains {
			if o.Spec.DNS.Provider != v1alpha1.DNSProviderRoute53 {
				s.elsewhere.demand(want, d.Domain, &o)
				continue
			}
			id, apex := s.zoneOf(d.Domain)
			for _, r := range recordsOf(d.Domain, apex) {
				if t := text(r); !slices.Contains(want[id], t) {
					want[id] = append(want[id], t)
				}
			}
		}
	}
	for _, all := range []map[string][]string{want, got} {
		for _, records := range all {
			slices.Sort(records)
		}
	}
	return cmp.Diff(want, got)
}

// text is a record, byte for byte.
func text(r sim.RecordState) string {
	out, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	return string(out)
}

func (s *stage) zoneOf(domain string) (id string, apex bool) {
	longest := ""
	for _, a := range s.sim.State().Accounts {
		for _, z := range a.HostedZones {
			if (domain == z.Name || strings.HasSuffix(domain, "."+z.Name)) && len(z.Name) > len(longest) {
				id, longest = z.ID, z.Name
			}
		}
	}
	return id, domain == longest
}

// usualTTL is that of a spec that names none.
const usualTTL = 300

// recordsOf are the records that lead a domain to the endpoint.
func recordsOf(domain string, apex bool) []sim.RecordState {
	if !apex {
		return []sim.RecordState{{Name: domain, Type: "CNAME", TTL: usualTTL, Values: []string{endpoint}}}
	}
	return []sim.RecordState{
		{Name: domain, Type: "A", AliasTarget: endpoint}, {Name: domain, Type: "AAAA", AliasTarget: endpoint},
		{Name: "_cf-challenge." + domain, Type: "TXT", TTL: usualTTL, Values: []string{`"` + endpoint + `"`}},
	}
}

// checkZones wants the records of other people to be as they left them, ours to be those that
// are asked for, and no name to lead to CloudFront without a tenant.
func (s *stage) checkZones() {
	if s.lifecycle.dns == nil {
		return
	}
	if d := s.misplaced(); d != "" {
		s.violate(oracleLeak, "the zones differ at the end (-wanted +there):\n%s", d)
	}
	held := map[string]bool{}
	for _, t := range s.sim.Tenants("") {
		for name := range t.Domains {
			held[name] = true
		}
	}
	for name, leads := range s.elsewhere.route(s.sim.PublicRouting()) {
		if !held[name] && s.routing.theirs[name] == "" {
			s.violate(oracleDangling, "at the end %s leads to %s, and no tenant has it", name, leads)
		}
	}
}

// checkCertificates wants every managed certificate to be of a tenant that lives, and those of
// other people to stay.
func (s *stage) checkCertificates() {
	living, theirs := map[string]bool{}, false
	for _, t := range s.sim.Tenants("") {
		living[t.ID] = true
	}
	for _, a := range s.sim.State().Accounts {
		for _, c := range a.Certificates {
			theirs = theirs || c.ARN == theirManaged
			if c.RequestedBy != "" && !living[c.RequestedBy] {
				s.violate(oracleLeak, "the managed certificate %s of %v (%s) is left of the tenant %s", c.ARN, c.Names, c.Status, c.RequestedBy)
			}
		}
	}
	if s.lifecycle.dns != nil && s.seeded[theirManaged] && !theirs {
		s.violate(oracleDelete, "the certificate %s of other people was deleted", theirManaged)
	}
}

// checkCertificateDelete looks at each deletion of a certificate before AWS does. One that is gone can't be deleted: a call
// that arrives late may come after its object.
func (s *stage) checkCertificateDelete(c call) {
	var in struct{ CertificateArn string }
	if err := json.Unmarshal(c.body, &in); err != nil {
		s.violate("harness", "reading %s: %v", c.target, err)
	}
	if !s.hasCertificate(in.CertificateArn) {
		return
	}
	for _, o := range s.objects() {
		if !o.DeletionTimestamp.IsZero() && slices.Contains(o.Status.ManagedCertificates, in.CertificateArn) {
			return
		}
	}
	s.violate(oracleDelete, "%s: no deleted object has it in status.managedCertificates", c.target)
}

func (s *stage) hasCertificate(arn string) bool {
	for _, a := range s.sim.State().Accounts {
		for _, c := range a.Certificates {
			if c.ARN == arn {
				return true
			}
		}
	}
	return false
}

// changedRecords counts the records that AWS carried changes out of. How they were put into
// batches depends on the clock.
func (s *stage) changedRecords() (n int) {
	for _, e := range s.sim.Journal() {
		if e.Committed && e.Operation == changeRecords {
			n += len(e.Records)
		}
	}
	return n
}

// The changes of users to zones.

// publishSame creates the records that are on their way, just before they arrive. It waits until they are in sync: for
// a change that is not ours this can't be asked.
func (s *stage) publishSame(x *exchange) {
	zone, _, _ := strings.Cut(strings.TrimPrefix(x.r.URL.Path, "/2013-04-01/hostedzone/"), "/")
	for _, c := range readBatch(x.call.body).Changes {
		if r := c.record(); c.Action == "CREATE" && r.kind == "CNAME" {
			s.routing.mu.Lock()
			s.routing.theirs[r.name] = r.value
			s.routing.mu.Unlock()
			s.changeByHand(zone, r53types.ChangeActionCreate, sim.RecordState{Name: r.name, Type: r.kind, TTL: int(r.ttl), Values: []string{r.value}})
		}
	}
	s.pause(syncDelay * 5 / 4)
}

// leadElsewhere changes where a name leads behind the operator's back.
func (s *stage) leadElsewhere(name string) {
	id, _ := s.zoneOf(name)
	s.changeByHand(id, r53types.ChangeActionUpsert, sim.RecordState{Name: name, Type: "CNAME", TTL: usualTTL, Values: []string{"elsewhere.example.net"}})
}

// deleteZone deletes all records of a zone, and the zone.
func (s *stage) deleteZone(id string) {
	s.gate.note("a person deletes the zone %s", id)
	s.mu.Lock()
	delete(s.foreign, id)
	s.mu.Unlock()
	for _, r := range s.zoneRecords()[id] {
		if r.Type != "NS" && r.Type != "SOA" {
			s.changeByHand(id, r53types.ChangeActionDelete, r)
		}
	}
	_, err := s.zones().DeleteHostedZone(s.ctx, &route53.DeleteHostedZoneInput{Id: &id})
	s.must("deleting the zone", err)
}

// changeByHand changes a record, which is then no longer ours.
func (s *stage) changeByHand(zone string, action r53types.ChangeAction, r sim.RecordState) {
	s.gate.note("a person changes the zone %s: %s %s", zone, action, text(r))
	set := &r53types.ResourceRecordSet{Name: &r.Name, Type: r53types.RRType(r.Type)}
	if r.AliasTarget != "" {
		set.AliasTarget = &r53types.AliasTarget{DNSName: &r.AliasTarget, HostedZoneId: awssdk.String("Z2FDTNDATAQYW2")}
	} else {
		set.TTL = awssdk.Int64(int64(r.TTL))
	}
	for _, v := range r.Values {
		set.ResourceRecords = append(set.ResourceRecords, r53types.ResourceRecord{Value: &v})
	}
	_, err := s.zones().ChangeResourceRecordSets(s.ctx, &route53.ChangeResourceRecordSetsInput{
		HostedZoneId: &zone, ChangeBatch: &r53types.ChangeBatch{Changes: []r53types.Change{{Action: action, ResourceRecordSet: set}}},
	})
	if err != nil {
		s.violate("harness", "changing %s: %v", text(r), err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if records, watched := s.foreign[zone]; watched && action != r53types.ChangeActionDelete {
		s.foreign[zone] = append(slices.Clone(records), r)
	}
}

// neverInSync keeps what is accepted from now on out of public DNS for a while.
func neverInSync(d time.Duration) func(*stage) {
	return func(s *stage) {
		s.sim.ChangeSwitches(func(sw *sim.Switches) { sw.Route53NeverInSync = true })
		s.gate.note("nothing gets in sync")
		s.later(d, func() {
			s.gate.note("all gets in sync")
			s.sim.ChangeSwitches(func(sw *sim.Switches) { sw.Route53NeverInSync = false })
		})
	}
}
