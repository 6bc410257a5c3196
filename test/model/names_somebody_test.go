package model_test

import (
	"fmt"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	r53 "github.com/aws/aws-sdk-go-v2/service/route53/types"
	"pgregory.net/rapid"

	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

const challenge = "_cf-challenge."

// zoneStates are the zones of the account, as they were last changed.
func (n *names) zoneStates() (out []sim.HostedZoneState) {
	for _, a := range n.Sim.State().Accounts {
		if a.ID == sim.DefaultAccount {
			out = a.HostedZones
		}
	}
	return out
}

func (n *names) anyZone(t *rapid.T) sim.HostedZoneState {
	zones := n.zoneStates()
	if len(zones) == 0 {
		t.Skip("no zone")
	}
	return zones[rapid.IntRange(0, len(zones)-1).Draw(t, "zone")]
}

// somebodyPublishes writes a record into a zone by hand: instead of ours, next to it, or where one of ours is to be.
func (n *names) somebodyPublishes(t *rapid.T) {
	zone := n.anyZone(t)
	inZone := slices.DeleteFunc(n.allDomains(), func(d string) bool { return d != zone.Name && !strings.HasSuffix(d, "."+zone.Name) })
	name := rapid.SampledFrom(inZone).Draw(t, "domain")
	set := r53.ResourceRecordSet{Name: &name, TTL: awssdk.Int64(300)}
	put := func(kind r53.RRType, value string) {
		set.Type, set.ResourceRecords = kind, []r53.ResourceRecord{{Value: &value}}
	}
	switch rapid.SampledFrom([]string{"equal", "equal", "ttl", "elsewhere", "address", "text", "mail", "alias", "challenge"}).Draw(t, "record") {
	case "equal":
		put(r53.RRTypeCname, mainEndpoint)
	case "ttl":
		put(r53.RRTypeCname, mainEndpoint)
		set.TTL = awssdk.Int64(77)
	case "elsewhere":
		put(r53.RRTypeCname, "elsewhere.example.edu")
	case "address":
		put(r53.RRTypeA, "192.0.2.7")
	case "text":
		put(r53.RRTypeTxt, `"theirs"`)
	case "mail":
		put(r53.RRTypeMx, "10 mail.example.edu")
	case "alias":
		set.Type, set.TTL = r53.RRTypeA, nil
		set.AliasTarget = &r53.AliasTarget{DNSName: awssdk.String(mainEndpoint), HostedZoneId: awssdk.String("Z2FDTNDATAQYW2")}
	case "challenge":
		set.Name = awssdk.String(challenge + strings.TrimPrefix(name, "*."))
		put(r53.RRTypeTxt, `"`+rapid.SampledFrom([]string{mainEndpoint, "theirs"}).Draw(t, "text")+`"`)
	}
	p := place{zone.ID, *set.Name, string(set.Type)}
	ours := n.isOurs(zone, p)
	before := n.loose[name]
	// They answer for the name from now on.
	n.loose[name] = true
	if err := n.changeZone(zone.ID, r53.ChangeActionUpsert, set); err != nil {
		n.loose[name] = before
		t.Skip("AWS refuses it")
	}
	n.loose[name] = before || strings.HasSuffix(valueOf(set), ".cloudfront.net")
	n.made[p] = true
	delete(n.records, p)
	if now, found := n.recordAt(p); found && !ours && !n.holdsEqual(p.zone, now) {
		n.records[p] = now
	}
}

func valueOf(set r53.ResourceRecordSet) string {
	if set.AliasTarget != nil {
		return *set.AliasTarget.DNSName
	}
	return *set.ResourceRecords[0].Value
}

// isOurs reports whether a write there changes a record of ours: it was published there, or is there this moment.
func (n *names) isOurs(zone sim.HostedZoneState, p place) bool {
	for _, e := range n.entries() {
		if !e.replacedBy(p) {
			continue
		}
		if e.state == "Published" || slices.ContainsFunc(zone.Records, func(r sim.RecordState) bool { return same(r, e.record) }) {
			return true
		}
	}
	return false
}

// holdsEqual reports whether a ledger names that very record.
func (n *names) holdsEqual(zone string, r sim.RecordState) bool {
	return slices.ContainsFunc(n.entries(), func(e entry) bool { return e.zone == zone && same(e.record, r) })
}

func (n *names) recordAt(p place) (sim.RecordState, bool) {
	zone, _ := n.Sim.HostedZone(p.zone)
	i := slices.IndexFunc(zone.Records, func(r sim.RecordState) bool { return r.Name == p.name && r.Type == p.kind })
	if i < 0 {
		return sim.RecordState{}, false
	}
	return zone.Records[i], true
}

// changeZone changes a record past the faults and delays that are meant for the operator.
func (n *names) changeZone(zone string, action r53.ChangeAction, sets ...r53.ResourceRecordSet) (err error) {
	var changes []r53.Change
	for _, s := range sets {
		changes = append(changes, r53.Change{Action: action, ResourceRecordSet: &s})
	}
	n.undisturbed(func() {
		delay := n.Sim.Switches().Route53ProcessingDelay
		n.Sim.ChangeSwitches(func(s *sim.Switches) { s.Route53ProcessingDelay = 0 })
		defer n.Sim.ChangeSwitches(func(s *sim.Switches) { s.Route53ProcessingDelay = delay })
		_, err = n.Route53().ChangeResourceRecordSets(n.t.Context(), &route53.ChangeResourceRecordSetsInput{
			HostedZoneId: &zone, ChangeBatch: &r53.ChangeBatch{Changes: changes},
		})
	})
	return err
}

// somebodyUnpublishes deletes any record, ours too.
func (n *names) somebodyUnpublishes(t *rapid.T) {
	zone := n.anyZone(t)
	sets := removable(zone)
	if len(sets) == 0 {
		t.Skip("an empty zone")
	}
	set := sets[rapid.IntRange(0, len(sets)-1).Draw(t, "record")]
	if err := n.changeZone(zone.ID, r53.ChangeActionDelete, set); err != nil {
		t.Skip("AWS refuses it")
	}
	delete(n.records, place{zone.ID, *set.Name, string(set.Type)})
}

// removable are the records of a zone but for those that make it one.
func removable(zone sim.HostedZoneState) (out []r53.ResourceRecordSet) {
	for _, r := range zone.Records {
		if r.Name == zone.Name && (r.Type == "NS" || r.Type == "SOA") {
			continue
		}
		set := r53.ResourceRecordSet{Name: awssdk.String(r.Name), Type: r53.RRType(r.Type)}
		if r.AliasTarget != "" {
			set.AliasTarget = &r53.AliasTarget{DNSName: awssdk.String(r.AliasTarget), HostedZoneId: awssdk.String("Z2FDTNDATAQYW2")}
		} else {
			set.TTL = awssdk.Int64(int64(r.TTL))
			for _, v := range r.Values {
				set.ResourceRecords = append(set.ResourceRecords, r53.ResourceRecord{Value: &v})
			}
		}
		out = append(out, set)
	}
	return out
}

func (n *names) somebodyDropsZone(t *rapid.T) {
	if rapid.IntRange(0, 2).Draw(t, "really") > 0 {
		t.Skip("not now")
	}
	zone := n.anyZone(t)
	var err error
	n.undisturbed(func() { err = dropZone(n.t, n.World, zone.ID) })
	if err != nil {
		t.Skip("AWS refuses it")
	}
	for p := range n.records {
		if p.zone == zone.ID {
			delete(n.records, p)
		}
	}
	if p := (place{n.parentOf(zone.Name), zone.Name, string(r53.RRTypeNs)}); n.made[p] {
		parent, _ := n.Sim.HostedZone(p.zone)
		for _, set := range removable(parent) {
			if *set.Name == p.name && string(set.Type) == p.kind && n.changeZone(p.zone, r53.ChangeActionDelete, set) == nil {
				delete(n.records, p)
			}
		}
	}
}

// dropZone deletes a zone with all that is in it. It fails, with nothing done, while the zone
// is busy with another change.
func dropZone(t world.TB, w *world.World, id string) error {
	zone, _ := w.Sim.HostedZone(id)
	var changes []r53.Change
	for _, set := range removable(zone) {
		changes = append(changes, r53.Change{Action: r53.ChangeActionDelete, ResourceRecordSet: &set})
	}
	delay := w.Sim.Switches().Route53ProcessingDelay
	w.Sim.ChangeSwitches(func(s *sim.Switches) { s.Route53ProcessingDelay = 0 })
	defer w.Sim.ChangeSwitches(func(s *sim.Switches) { s.Route53ProcessingDelay = delay })
	if len(changes) > 0 {
		_, err := w.Route53().ChangeResourceRecordSets(t.Context(), &route53.ChangeResourceRecordSetsInput{
			HostedZoneId: &id, ChangeBatch: &r53.ChangeBatch{Changes: changes},
		})
		if err != nil {
			return err
		}
	}
	_, err := w.Route53().DeleteHostedZone(t.Context(), &route53.DeleteHostedZoneInput{Id: &id})
	return err
}

// somebodyOpensZone recreates a zone that was dropped. It has another ID.
func (n *names) somebodyOpensZone(t *rapid.T) {
	name := rapid.SampledFrom([]string{"example.com", "shop.example.com", "example.net"}).Draw(t, "zone")
	if slices.ContainsFunc(n.zoneStates(), func(z sim.HostedZoneState) bool { return z.Name == name }) {
		t.Skip("it is there")
	}
	n.zones++
	id := fmt.Sprintf("ZNEW%d", n.zones)
	if err := n.Sim.Load(sim.Seed{HostedZones: []sim.SeedHostedZone{{ID: id, Name: name}}}); err != nil {
		n.t.Fatalf("opening a zone: %v", err)
	}
	n.adopt(id)
	if parent := n.parentOf(name); parent != "" && rapid.Bool().Draw(t, "delegated") {
		n.delegate(parent, name)
	}
}

// parentOf returns the zone that has to delegate one of that name; empty where there is none.
func (n *names) parentOf(name string) string {
	for _, z := range n.zoneStates() {
		if strings.HasSuffix(name, "."+z.Name) {
			return z.ID
		}
	}
	return ""
}

// delegate makes resolvers see the zone of that name below the parent, and not the records that the parent has there.
func (n *names) delegate(parent, name string) {
	set := r53.ResourceRecordSet{
		Name: &name, Type: r53.RRTypeNs, TTL: awssdk.Int64(300), ResourceRecords: []r53.ResourceRecord{{Value: awssdk.String("ns1.aws.test.")}},
	}
	if n.changeZone(parent, r53.ChangeActionCreate, set) != nil {
		return // it is delegated, or the zone is busy
	}
	p := place{parent, name, string(r53.RRTypeNs)}
	n.records[p], _ = n.recordAt(p)
	n.made[p] = true
}

// somebodyAttaches gives a tenant another certificate.
func (n *names) somebodyAttaches(t *rapid.T) {
	s := n.anyTenant(t)
	n.undisturbed(func() {
		_, err := n.AWS().UpdateDistributionTenant(n.t.Context(), &cloudfront.UpdateDistributionTenantInput{
			Id: &s.ID, IfMatch: &s.ETag, Customizations: &types.Customizations{Certificate: &types.Certificate{Arn: awssdk.String(broadCertificate)}},
		})
		if err != nil {
			n.t.Fatalf("attaching a certificate to %s: %v", s.Name, err)
		}
	})
}

// somebodyTakesTenant deletes a tenant. The records that lead to it are not the operator's doing.
func (n *names) somebodyTakesTenant(t *rapid.T) {
	s := n.anyTenant(t)
	for d := range s.Domains {
		n.loose[d] = true
	}
	n.deleteTenant(s)
}

// certificateChanges is what only AWS, or an authority, can do to a certificate.
func (n *names) certificateChanges(t *rapid.T) {
	managed := n.managedCertificates()
	if len(managed) == 0 {
		t.Skip("no managed certificate")
	}
	c := managed[rapid.IntRange(0, len(managed)-1).Draw(t, "certificate")]
	status := rapid.SampledFrom([]string{"FAILED", "VALIDATION_TIMED_OUT", "REVOKED", "EXPIRED", "ISSUED", "INACTIVE"}).Draw(t, "status")
	if err := n.Sim.ChangeCertificate(sim.CertificateChange{Certificate: c.ARN, Status: status}); err != nil {
		t.Skip("it does not follow")
	}
	n.blows++
}

func (n *names) managedCertificates() (out []sim.CertificateState) {
	for _, a := range n.Sim.State().Accounts {
		for _, c := range a.Certificates {
			if c.ManagedBy != "" {
				out = append(out, c)
			}
		}
	}
	return out
}
