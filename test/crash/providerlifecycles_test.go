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

func publishesElsewhere(o *tenantObject) {
	o.Spec.DNS = &v1alpha1.DNS{Provider: v1alpha1.DNSProviderCloudflare}
}

// providerLifecycles are those in which records are at another provider than Route 53.
func providerLifecycles() []*lifecycle {
	covered, coveredAgain := &dnsLifecycle{}, &dnsLifecycle{reverses: true}
	list := []*lifecycle{
		{name: "cf-create", about: "An object whose record is at Cloudflare.", dns: covered, seed: withZones, steps: []step{
			{makes(publishesElsewhere), published},
		}},
		{name: "cf-publish", about: "A living tenant gets records at Cloudflare, also at the apex, and loses them.", dns: coveredAgain, seed: withApex,
			prepare: prepared(atTheApex), steps: []step{
				{edits(publishesElsewhere), published}, {edits(publishesNothing), published},
			}},
		{name: "cf-delete", about: "The object is deleted: record and tenant.", dns: covered, seed: withZones, parks: true,
			prepare: prepared(publishesElsewhere), steps: []step{{deletes, gone}}},
		{name: "cf-move", about: "The records move from Route 53 to Cloudflare.", dns: covered, seed: withZones, moves: "acme.example.com",
			prepare: prepared(publishes), steps: []step{{edits(publishesElsewhere), published}}},
		{name: "cf-move-back", about: "The records move from Cloudflare to Route 53.", dns: covered, seed: withZones, moves: "acme.example.com",
			prepare: prepared(publishesElsewhere), steps: []step{{edits(publishes), published}}},
	}
	for _, l := range list {
		l.provider = cloudflare
	}
	return list
}

// publishes is the operation with which the lifecycle publishes records.
func (l *lifecycle) publishes() string {
	if l.provider == "" || l.name == "cf-move-back" {
		return changeRecords
	}
	return changeAtCloudflare
}
