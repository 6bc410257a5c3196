package crash_test

import (
	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// apexCertificate is for the name of the zone itself.
const apexCertificate = "arn:aws:acm:us-east-1:111122223333:certificate/00000000-0000-4000-8000-000000000004"

// withApex seeds the zones at Route 53, and a certificate for an apex.
func withApex(seed *sim.Seed) {
	withZones(seed)
	seed.Certificates = append(seed.Certificates, sim.SeedCertificate{ARN: apexCertificate, Names: []string{"example.com", "*.example.com"}})
}

func atTheApex(o *tenantObject) {
	setDomains(o, "acme.example.com", "example.com")
	o.Spec.Customizations = &v1alpha1.Customizations{Certificate: &v1alpha1.CertificateCustomization{ARN: apexCertificate}}
}

func withTwoNames(o *tenantObject) { setDomains(o, "acme.example.com", "shop.example.com") }

// providerLifecycles are those in which records are at another provider than Route 53.
func providerLifecycles() (list []*lifecycle) {
	for _, p := range providers() {
		list = append(list, p.lifecycles()...)
	}
	return list
}

// lifecycles are those with records at the provider.
func (p *provider) lifecycles() []*lifecycle {
	covered, coveredAgain := &dnsLifecycle{}, &dnsLifecycle{reverses: true}
	names, seed := withTwoNames, withZones
	if p.apex {
		names, seed = atTheApex, withApex
	}
	publishesHere := func(o *tenantObject) { o.Spec.DNS = &v1alpha1.DNS{Provider: p.name} }
	list := []*lifecycle{
		{name: "create", about: "An object whose record is at " + p.title + ".", dns: covered, seed: withZones, steps: []step{
			{makes(publishesHere), published},
		}},
		{name: "publish", about: "A living tenant gets records at " + p.title + ", also at the apex where that is possible, and loses them.", dns: coveredAgain, seed: seed,
			prepare: prepared(names), steps: []step{
				{edits(publishesHere), published}, {edits(publishesNothing), published},
			}},
		{name: "delete", about: "The object is deleted: record and tenant.", dns: covered, seed: withZones, parks: true,
			prepare: prepared(publishesHere), steps: []step{{deletes, gone}}},
		{name: "move", about: "The records move from Route 53 to " + p.title + ".", dns: covered, seed: withZones, moves: "acme.example.com",
			prepare: prepared(publishes), steps: []step{{edits(publishesHere), published}}},
		{name: "move-back", about: "The records move from " + p.title + " to Route 53.", dns: covered, seed: withZones, moves: "acme.example.com",
			prepare: prepared(publishesHere), steps: []step{{edits(publishes), published}}},
	}
	for _, l := range list {
		l.movesBack = l.name == "move-back"
		l.name, l.provider = p.prefix+"-"+l.name, p
	}
	return list
}

// publishes is the operation with which the lifecycle publishes records.
func (l *lifecycle) publishes() string {
	if l.provider == nil || l.movesBack {
		return changeRecords
	}
	return l.provider.publishing()
}
