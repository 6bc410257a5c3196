package crash_test

import (
	"slices"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// dnsLifecycle is what is special about a lifecycle with DNS.
type dnsLifecycle struct {
	// proves means that names lead to CloudFront before their tenant is there: CloudFront
	// proves the domains by that.
	proves bool
	// reverses means that what the first batch does is undone by a later one. If the first were
	// on its way for all that time it would do it again, which no design survives.
	reverses bool
	// shared means that a name leads to CloudFront for the next object already when the tenant of
	// the first goes.
	shared bool
}

const (
	coveredZone = "Z0COVERED" // example.com, for which there is a certificate
	openZone    = "Z0OPEN"    // example.org, for which there is none
	remoteZone  = "Z0REMOTE"  // example.com in another account

	remoteAccount = "444455556666"
	remoteRole    = "arn:aws:iam::444455556666:role/zones/example"

	endpoint = "d1crashtest1.cloudfront.net"
	// theirManaged is a certificate that CloudFront manages for a tenant that is gone.
	theirManaged = "arn:aws:acm:us-east-1:111122223333:certificate/00000000-0000-4000-8000-000000000003"
)

// withZones seeds zones in which other people have records already.
func withZones(seed *sim.Seed) {
	seed.ConnectionGroups = append(seed.ConnectionGroups, sim.SeedConnectionGroup{Default: true, RoutingEndpoint: endpoint})
	seed.Certificates = append(seed.Certificates, sim.SeedCertificate{ARN: theirManaged, Names: []string{"acme.example.com"}, ManagedBy: "CLOUDFRONT"})
	seed.HostedZones = append(seed.HostedZones, zoneWithRecords(coveredZone, "example.com"), zoneWithRecords(openZone, "example.org"))
}

func zoneWithRecords(id, name string) sim.SeedHostedZone {
	return sim.SeedHostedZone{ID: id, Name: name, Records: []sim.SeedRecord{
		{Name: name, Type: "MX", Values: []string{"10 mail." + name}},
		{Name: name, Type: "TXT", Values: []string{`"v=spf1 -all"`}},
		{Name: "mail." + name, Type: "A", Values: []string{"192.0.2.25"}},
		{Name: "theirs." + name, Type: "CNAME", Values: []string{"elsewhere.example.net"}},
		{Name: "_cf-challenge.theirs." + name, Type: "TXT", Values: []string{`"` + endpoint + `"`}},
	}}
}

// withEqualRecord seeds the very record that the operator would publish.
func withEqualRecord(seed *sim.Seed) {
	withZones(seed)
	zone := &seed.HostedZones[0]
	zone.Records = append(zone.Records, sim.SeedRecord{Name: "acme.example.com", Type: "CNAME", Values: []string{endpoint}})
}

// withRemoteZone seeds a zone that only a role of another account can change.
func withRemoteZone(seed *sim.Seed) {
	seed.ConnectionGroups = append(seed.ConnectionGroups, sim.SeedConnectionGroup{Default: true, RoutingEndpoint: endpoint})
	seed.Accounts = append(seed.Accounts, sim.SeedAccount{ID: remoteAccount})
	seed.Roles = append(seed.Roles, sim.SeedRole{ARN: remoteRole})
	zone := zoneWithRecords(remoteZone, "example.com")
	zone.Account = remoteAccount
	seed.HostedZones = append(seed.HostedZones, zone)
}

func publishes(o *tenantObject) { o.Spec.DNS = &v1alpha1.DNS{Provider: v1alpha1.DNSProviderRoute53} }

func publishesNothing(o *tenantObject) { o.Spec.DNS = nil }

func asksToLook(o *tenantObject) {
	if o.Annotations == nil {
		o.Annotations = map[string]string{}
	}
	o.Annotations[v1alpha1.AnnotationReconcileNow] = "now"
}

// managed asks for domains that CloudFront has to prove by DNS.
func managed(domains ...string) func(*tenantObject) {
	return func(o *tenantObject) {
		publishes(o)
		setDomains(o, domains...)
		o.Spec.ManagedCertificateRequest = &v1alpha1.ManagedCertificateRequest{ValidationTokenHost: v1alpha1.ValidationTokenHostCloudFront}
	}
}

// dnsLifecycles are those in which records are published. Where the tenant is deleted after
// a long life, its create mark is old.
func dnsLifecycles() []*lifecycle {
	covered, proven := &dnsLifecycle{}, &dnsLifecycle{proves: true}
	coveredAgain, provenAgain := &dnsLifecycle{reverses: true}, &dnsLifecycle{proves: true, reverses: true}
	shared := &dnsLifecycle{proves: true, reverses: true, shared: true}
	return []*lifecycle{
		{name: "publish", about: "A living tenant gets DNS records, and loses them.", dns: coveredAgain, seed: withZones, prepare: prepared(), steps: []step{
			{edits(publishes), published}, {edits(publishesNothing), published},
		}},
		{name: "managed", about: "CloudFront proves the domain by its DNS record, and obtains the certificate.", dns: proven, seed: withZones, steps: []step{
			{makes(managed("acme.example.org")), published},
		}},
		{name: "managed-early", about: "The object is deleted when its record is there, and its tenant is not.", dns: provenAgain, seed: withZones, slow: true, hasty: true, uncounted: true, steps: []step{
			{makes(managed("acme.example.org")), func(s *stage) bool { return s.gate.seen(awsSide, changeRecords) > 0 }},
			{deletes, gone},
		}},
		{name: "managed-domains", about: "Of two domains with a managed certificate one goes, and another comes.", dns: proven, seed: withZones,
			prepare: prepared(managed("acme.example.org", "old.example.org")), steps: []step{
				{edits(func(o *tenantObject) { setDomains(o, "acme.example.org", "new.example.org") }), published},
			}},
		{name: "managed-delete", about: "The object is deleted: record, tenant and certificate.", dns: proven, seed: withZones, parks: true,
			prepare: prepared(managed("acme.example.org")), steps: []step{{deletes, gone}}},
		{name: "apex-delete", about: "The same with aliases at the apex of the zone.", dns: proven, seed: withZones, parks: true,
			prepare: prepared(managed("example.org", "www.example.org")), steps: []step{{deletes, gone}}},
		{name: "role", about: "The zone is in another account.", dns: coveredAgain, seed: withRemoteZone, flags: []string{"--allowed-roles=" + remoteRole}, steps: []step{
			{makes(func(o *tenantObject) {
				publishes(o)
				o.Spec.DNS.AssumeRoleARN = remoteRole
			}), published},
			{edits(publishesNothing), published},
		}},
		{name: "equal-record", about: "The record is there already and the certificate is the user's own: both outlive the object.", dns: covered, seed: withEqualRecord, parks: true,
			prepare: prepared(publishes, func(o *tenantObject) {
				o.Spec.Customizations = &v1alpha1.Customizations{Certificate: &v1alpha1.CertificateCustomization{ARN: theirManaged}}
			}),
			steps: []step{{deletes, gone}}},
		{name: "taken-record", about: "Someone points the name elsewhere, and the object is deleted: their record stays.", dns: covered, seed: withZones, parks: true, meddles: true,
			prepare: prepared(publishes, func(o *tenantObject) { o.Spec.DriftPolicy = v1alpha1.DriftPolicyReport }),
			steps: []step{
				{func(s *stage) { s.leadElsewhere("acme.example.com") }, func(*stage) bool { return true }},
				{deletes, gone},
			}},
		{name: "rivals", about: "Two objects ask for one name; the second gets it when the first is deleted and a person asks to look again.", dns: shared, seed: withZones, parks: true, uncounted: true,
			prepare: prepared(managed("shared.example.org")), steps: []step{
				{func(s *stage) { s.create("rival", managed("shared.example.org")) }, saysOf("rival", v1alpha1.ConditionDNSReady, v1alpha1.ReasonDNSConflict)},
				{deletes, gone},
				{func(s *stage) { s.edit("rival", asksToLook) }, func(s *stage) bool { return s.isReady("rival") && s.misplaced() == "" }},
			}},
		{name: "zone-gone", about: "The zone is deleted. Another domain waits for it, and the object can be deleted all the same.", dns: proven, seed: withZones, parks: true, meddles: true,
			prepare: prepared(managed("acme.example.org")), steps: []step{
				{func(s *stage) {
					s.deleteZone(openZone)
					s.edit("acme", func(o *tenantObject) { setDomains(o, "acme.example.org", "new.example.org") })
				}, says(v1alpha1.ConditionDNSReady, v1alpha1.ReasonZoneNotFound)},
				{deletes, gone},
			}},
	}
}

// published is when status says that all is done, and the zones hold the records that the
// spec asks for, and no other of ours.
func published(s *stage) bool { return ready(s) && s.ledgerIsDone() && s.misplaced() == "" }

// ledgerIsDone reports whether status has nothing on its way in DNS.
func (s *stage) ledgerIsDone() bool {
	o, _ := s.get("acme")
	return o.Status.DNS == nil || o.Spec.DNS != nil && !slices.ContainsFunc(o.Status.DNS.Records, func(r v1alpha1.DNSRecord) bool {
		return r.State != "Published"
	})
}
