package distributiontenant_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	r53types "github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// The world of DNS: a certificate covers example.com and what is below it, and nothing
// covers example.net, whose names need a managed one.
const (
	coveredZone = "ZCOVERED"
	openZone    = "ZOPEN"

	mainGroup      = "cg_default"
	mainEndpoint   = "dmain.cloudfront.net"
	secondEndpoint = "dsecond.cloudfront.net"
	noIPv6Group    = "cg_v4"
	noIPv6Endpoint = "dfour.cloudfront.net"

	broadCertificate = "arn:aws:acm:us-east-1:111122223333:certificate/00000000-0000-4000-8000-00000000000b"

	syncDelay = 20 * time.Second
	dnsReady  = "DNSReady=True/DNSReady"
	noDNS     = "DNSReady=True/DNSNotConfigured"
)

// strangers are records of others, of every kind that could be damaged.
func strangers(zone string) []sim.SeedRecord {
	return []sim.SeedRecord{
		{Name: zone, Type: "MX", TTL: 3600, Values: []string{"10 mail." + zone}},
		{Name: zone, Type: "TXT", TTL: 60, Values: []string{`"v=spf1 -all" "a \"quote\""`, `"site-verification=1"`}},
		{Name: "other." + zone, Type: "CNAME", TTL: 77, Values: []string{"elsewhere.example.org"}},
		{Name: "*.wild." + zone, Type: "A", TTL: 5, Values: []string{"192.0.2.1", "192.0.2.2"}},
		{Name: "_cf-challenge.other." + zone, Type: "TXT", Values: []string{`"` + mainEndpoint + `"`}},
		{Name: "_dmarc." + zone, Type: "TXT", Values: []string{`"v=DMARC1; p=none"`}},
	}
}

func dnsSeed() sim.Seed {
	s := world.Seed()
	s.Certificates = append(s.Certificates, sim.SeedCertificate{
		ARN: broadCertificate, Names: []string{"example.com", "*.example.com", "*.shop.example.com", "xn--bcher-kva.example.com"},
	})
	s.Distributions[0].CertificateARN = broadCertificate
	without := false
	s.ConnectionGroups = []sim.SeedConnectionGroup{
		{ID: mainGroup, Default: true, RoutingEndpoint: mainEndpoint},
		{ID: secondGroup, Name: "second", RoutingEndpoint: secondEndpoint},
		{ID: noIPv6Group, Name: "four", RoutingEndpoint: noIPv6Endpoint, IPv6: &without},
	}
	s.HostedZones = []sim.SeedHostedZone{
		{ID: coveredZone, Name: "example.com", Records: strangers("example.com")},
		{ID: openZone, Name: "example.net", Records: strangers("example.net")},
	}
	s.KeyValueStores = []sim.SeedKeyValueStore{{ARN: storeARN, Values: theirs()}, {ARN: otherStoreARN}}
	return s
}

// rig is a world with zones that are watched all the time: no name may lead to CloudFront
// without a tenant that holds it, and no record of others may change.
type rig struct {
	*world.World

	t *testing.T
	// base are the records of others, by zone.
	base map[string][]sim.RecordState
	// exempt are the names that someone else points to CloudFront.
	exempt map[string]bool
	// held is when a tenant was last seen to hold a name.
	held map[string]time.Time
	// provesFirst are the names that CloudFront proves by DNS: they lead there before their
	// tenant is created.
	provesFirst map[string]bool
	dangling    []string
	// sampled is shown AWS too; it may be nil.
	sampled func(sim.View)
	// patience is for how long resolvers may show what is not in the zone any more.
	patience time.Duration
}

// rigOptions say how a rig differs from the usual one.
type rigOptions struct {
	seed     func(*sim.Seed)
	switches func(*sim.Switches)
	options  world.Options
	// proves are the names that lead to CloudFront before a tenant is created for them.
	proves []string
	// served gives the world an API server.
	served bool
	// unwatched leaves dangling names to the test.
	unwatched bool
}

func newRig(t *testing.T, o rigOptions) *rig {
	t.Helper()
	seed, switches := dnsSeed(), sim.DefaultSwitches()
	switches.Route53SyncDelay = syncDelay
	if o.seed != nil {
		o.seed(&seed)
	}
	if o.switches != nil {
		o.switches(&switches)
	}
	r := &rig{t: t, base: map[string][]sim.RecordState{}, exempt: map[string]bool{}, held: map[string]time.Time{}, provesFirst: map[string]bool{}, patience: switches.DNSPropagationDelay}
	for _, name := range o.proves {
		r.provesFirst[name] = true
	}
	for _, z := range seed.HostedZones {
		for _, record := range z.Records {
			r.exempt[record.Name] = true
		}
	}
	o.options.Seed, o.options.Switches, o.options.Watch = &seed, &switches, r.watch
	if o.served {
		r.World = world.New(t, kubeConfig, o.options)
	} else {
		r.World = world.NewOffline(t, o.options)
	}
	for _, z := range seed.HostedZones {
		if state, found := r.Sim.HostedZone(z.ID); found {
			r.base[z.ID] = state.Records
		}
	}
	t.Cleanup(func() {
		if len(r.dangling) > 0 && !o.unwatched {
			t.Errorf("names led to CloudFront without a tenant that holds them:\n%s", strings.Join(r.dangling, "\n"))
		}
		r.strangersUntouched()
	})
	return r
}

// watch is shown AWS before and after every change.
func (r *rig) watch(v sim.View) {
	if r.sampled != nil {
		r.sampled(v)
	}
	held := v.Domains()
	routed := v.PublicRouting()
	for name := range r.held {
		if routed[name] == "" {
			delete(r.held, name)
		}
	}
	for name := range held {
		r.held[name] = v.Now
	}
	for name, endpoint := range routed {
		last, ever := r.held[name]
		switch {
		case held[name] != "", r.exempt[name], !ever && r.provesFirst[name], ever && v.Now.Sub(last) < r.patience:
			continue
		}
		r.dangling = append(r.dangling, fmt.Sprintf("%s leads to %s at %s, at %s (after it: %t)",
			name, endpoint, v.Now.Format(time.TimeOnly), v.Operation, v.After))
	}
}

// strangersUntouched checks that the records of others are to the letter what they were.
func (r *rig) strangersUntouched() {
	r.t.Helper()
	for id, before := range r.base {
		now, found := r.Sim.HostedZone(id)
		if !found {
			continue
		}
		for _, record := range before {
			if record.Type == "SOA" || record.Type == "NS" {
				continue
			}
			if !slices.ContainsFunc(now.Records, func(n sim.RecordState) bool { return cmp.Equal(n, record) }) {
				r.t.Errorf("a foreign record was changed or deleted in %s: %+v", id, record)
			}
		}
	}
}

// ours are the records that the zone has in addition to those of others, each as "TYPE name value", followed by the TTL
// where there is one.
func (r *rig) ours(zone string) []string {
	r.t.Helper()
	state, found := r.Sim.HostedZone(zone)
	if !found {
		return []string{"the zone is gone"}
	}
	out := []string{}
	for _, record := range state.Records {
		if !slices.ContainsFunc(r.base[zone], func(b sim.RecordState) bool { return cmp.Equal(b, record) }) {
			out = append(out, rendered(record))
		}
	}
	slices.Sort(out)
	return out
}

func rendered(record sim.RecordState) string {
	text := record.Type + " " + record.Name + " "
	if record.AliasTarget != "" {
		return text + "alias " + record.AliasTarget
	}
	return fmt.Sprintf("%s%s %d", text, strings.Join(record.Values, ","), record.TTL)
}

// has checks which records the zone has in addition to those of others.
func (r *rig) has(zone string, records ...string) {
	r.t.Helper()
	slices.Sort(records)
	if records == nil {
		records = []string{}
	}
	if d := cmp.Diff(records, r.ours(zone)); d != "" {
		r.t.Errorf("our records in %s (-want +got):\n%s", zone, d)
	}
}

// ledger are the records in the status of an object, each as "State TYPE name value TTL".
func (r *rig) ledger(name string) []string {
	r.t.Helper()
	o, _ := r.Get(name)
	out := []string{}
	if o.Status.DNS != nil {
		for _, e := range o.Status.DNS.Records {
			out = append(out, fmt.Sprintf("%s %s %s %s %d", e.State, e.Type, e.Name, e.Value, e.TTL))
		}
	}
	return out
}

func (r *rig) hasLedger(name string, entries ...string) {
	r.t.Helper()
	if entries == nil {
		entries = []string{}
	}
	if d := cmp.Diff(entries, r.ledger(name)); d != "" {
		r.t.Errorf("the ledger of %s (-want +got):\n%s", name, d)
	}
}

// serving makes an object and waits until it is Ready.
func (r *rig) serving(name string, change ...edit) *v1alpha1.DistributionTenant {
	r.t.Helper()
	r.Apply(r.Tenant(name, change...))
	r.Advance(10 * time.Minute)
	is(r.t, r.World, name, readyTrue, syncedTrue, dnsReady)
	return get(r.t, r.World, name)
}

// removed deletes an object and checks that neither it, nor its tenant, nor a record is left.
func (r *rig) removed(name string) {
	r.t.Helper()
	r.Delete(name)
	r.Advance(15 * time.Minute)
	gone(r.t, r.World, name)
	r.has(coveredZone)
	r.has(openZone)
}

// changeRecord changes a zone out of band, as in the console.
func (r *rig) changeRecord(zone string, action r53types.ChangeAction, set r53types.ResourceRecordSet) {
	r.t.Helper()
	_, err := r.Route53().ChangeResourceRecordSets(r.t.Context(), &route53.ChangeResourceRecordSetsInput{
		HostedZoneId: &zone, ChangeBatch: &r53types.ChangeBatch{Changes: []r53types.Change{{Action: action, ResourceRecordSet: &set}}},
	})
	if err != nil {
		r.t.Fatalf("changing %s %s out of band: %v", set.Type, *set.Name, err)
	}
	if action != r53types.ChangeActionDelete && strings.HasSuffix(value(set), ".cloudfront.net") {
		r.exempt[*set.Name] = true
	}
}

func value(set r53types.ResourceRecordSet) string {
	if set.AliasTarget != nil {
		return *set.AliasTarget.DNSName
	}
	return *set.ResourceRecords[0].Value
}

// plain is a record set with one value.
func plain(kind r53types.RRType, name, value string, ttl int64) r53types.ResourceRecordSet {
	return r53types.ResourceRecordSet{Name: &name, Type: kind, TTL: &ttl, ResourceRecords: []r53types.ResourceRecord{{Value: &value}}}
}

// dropZone deletes a zone with all that is in it, past the operator.
func (r *rig) dropZone(zone string) {
	r.t.Helper()
	state, _ := r.Sim.HostedZone(zone)
	var changes []r53types.Change
	for _, s := range state.Records {
		if s.Name == state.Name && (s.Type == "NS" || s.Type == "SOA") {
			continue
		}
		set := r53types.ResourceRecordSet{Name: awssdk.String(s.Name), Type: r53types.RRType(s.Type)}
		if s.AliasTarget != "" {
			set.AliasTarget = &r53types.AliasTarget{DNSName: awssdk.String(s.AliasTarget), HostedZoneId: awssdk.String("Z2FDTNDATAQYW2")}
		} else {
			set.TTL = awssdk.Int64(int64(s.TTL))
			for _, v := range s.Values {
				set.ResourceRecords = append(set.ResourceRecords, r53types.ResourceRecord{Value: awssdk.String(v)})
			}
		}
		changes = append(changes, r53types.Change{Action: r53types.ChangeActionDelete, ResourceRecordSet: &set})
	}
	if len(changes) > 0 {
		_, err := r.Route53().ChangeResourceRecordSets(r.t.Context(), &route53.ChangeResourceRecordSetsInput{
			HostedZoneId: &zone, ChangeBatch: &r53types.ChangeBatch{Changes: changes},
		})
		if err != nil {
			r.t.Fatalf("emptying %s: %v", zone, err)
		}
	}
	if _, err := r.Route53().DeleteHostedZone(r.t.Context(), &route53.DeleteHostedZoneInput{Id: &zone}); err != nil {
		r.t.Fatalf("deleting %s: %v", zone, err)
	}
}

// withDNS asks for records.
func withDNS(change ...func(*v1alpha1.DNS)) edit {
	return func(o *v1alpha1.DistributionTenant) {
		o.Spec.DNS = &v1alpha1.DNS{Provider: v1alpha1.DNSProviderRoute53}
		for _, c := range change {
			c(o.Spec.DNS)
		}
	}
}

func withoutDNS(o *v1alpha1.DistributionTenant) { o.Spec.DNS = nil }

func inGroup(id string) edit {
	return func(o *v1alpha1.DistributionTenant) { o.Spec.ConnectionGroupID = id }
}

// all makes one edit of several.
func all(edits ...edit) edit {
	return func(o *v1alpha1.DistributionTenant) {
		for _, e := range edits {
			e(o)
		}
	}
}

// route53Calls are the calls that a zone costs, by operation.
func route53Calls(counts map[string]int) map[string]int {
	out := map[string]int{}
	for _, o := range slices.Sorted(maps.Keys(counts)) {
		if slices.Contains([]string{"ChangeResourceRecordSets", "GetChange", "ListResourceRecordSets", "ListHostedZones", "GetHostedZone"}, o) {
			out[o] = counts[o]
		}
	}
	return out
}

// story tells what was changed in AWS, for tests that fail.
func (r *rig) story() string {
	var b strings.Builder
	for _, e := range r.Sim.Journal() {
		if e.Mutating {
			fmt.Fprintf(&b, "%s %s %s %v %s\n", e.Time.Format(time.TimeOnly), e.Operation, e.Name, e.Records, e.Code)
		}
	}
	return b.String()
}
