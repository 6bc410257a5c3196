package aws_test

import (
	"fmt"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	sdkroute53 "github.com/aws/aws-sdk-go-v2/service/route53"
	r53types "github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// TestCertificateFollowsTheZone goes the whole way with the real clients: the
// tenant is there first, then its record, then its certificate.
func TestCertificateFollowsTheZone(t *testing.T) {
	for name, tc := range map[string]struct {
		domain  string
		records []r53types.Change
		issued  bool
	}{
		"a CNAME":                                 {"shop.test.example", []r53types.Change{create(recordOf("shop.test.example", "CNAME", homeEndpoint))}, true},
		"a CNAME to another group's endpoint":     {"shop.test.example", []r53types.Change{create(recordOf("shop.test.example", "CNAME", "dother.cloudfront.net"))}, false},
		"the apex with its alias and challenge":   {"test.example", []r53types.Change{create(aliasOf("test.example", "A", homeEndpoint)), create(recordOf("_cf-challenge.test.example", "TXT", `"`+homeEndpoint+`"`))}, true},
		"the apex with its alias alone":           {"test.example", []r53types.Change{create(aliasOf("test.example", "A", homeEndpoint))}, false},
		"a challenge that names another endpoint": {"test.example", []r53types.Change{create(aliasOf("test.example", "A", homeEndpoint)), create(recordOf("_cf-challenge.test.example", "TXT", `"dother.cloudfront.net"`))}, false},
	} {
		t.Run(name, func(t *testing.T) {
			sim, zones := newZoneSim(t)
			sim.ChangeSwitches(func(sw *aws.Switches) { sw.Route53SyncDelay, sw.DNSPropagationDelay = 30*time.Second, 30*time.Second })
			mustCreate(t, sim, "acme", asksFor(types.ValidationTokenHostSelfHosted, tc.domain), func(in *createInput) { in.ConnectionGroupId = sdk.String(homeGroup) })
			mustChange(t, zones, tc.records...)
			sim.Advance(time.Minute)
			if got := managedDetails(t, sim, "acme").CertificateStatus; got != types.ManagedCertificateStatusPendingValidation {
				t.Errorf("when the record appears the certificate is %s", got)
			}
			sim.Advance(issueDelay)
			if got := managedDetails(t, sim, "acme").CertificateStatus; (got == types.ManagedCertificateStatusIssued) != tc.issued {
				t.Errorf("after the delay the certificate is %s", got)
			}
		})
	}
}

// TestCertificateFollowsTheGroup moves a tenant whose DNS is where it was.
func TestCertificateFollowsTheGroup(t *testing.T) {
	sim, zones := newZoneSim(t)
	mustCreate(t, sim, "acme", asksFor(types.ValidationTokenHostSelfHosted, "shop.test.example"), func(in *createInput) { in.ConnectionGroupId = sdk.String(otherGroup) })
	mustChange(t, zones, create(recordOf("shop.test.example", "CNAME", homeEndpoint)))
	sim.Advance(time.Hour)
	if got := managedDetails(t, sim, "acme").CertificateStatus; got != types.ManagedCertificateStatusPendingValidation {
		t.Errorf("with DNS at another group the certificate is %s", got)
	}
	found := get(t, sim, "acme")
	update(t, sim, &cloudfront.UpdateDistributionTenantInput{Id: found.DistributionTenant.Id, IfMatch: found.ETag, ConnectionGroupId: sdk.String(homeGroup)})
	sim.Advance(issueDelay)
	if got := managedDetails(t, sim, "acme").CertificateStatus; got != types.ManagedCertificateStatusIssued {
		t.Errorf("with DNS at its group the certificate is %s", got)
	}
}

// TestRoleReachesTheZone changes records in another account.
func TestRoleReachesTheZone(t *testing.T) {
	sim, _ := newZoneSim(t)
	if err := sim.Load(aws.Seed{Roles: []aws.SeedRole{{ARN: dnsRole, ExternalID: "cluster/team"}}}); err != nil {
		t.Fatal(err)
	}
	who, _ := assumed(t, sim, dnsRole, "tenants", 900)
	as := func(o *sdkroute53.Options) { o.Credentials = who }
	batch := create(recordOf("shop.foreign.example", "CNAME", homeEndpoint))
	_, err := changeZone(t, route53Client(sim, "AKIAHOME"), "ZFOREIGN", batch)
	wantRefusal(t, err, 403, "AccessDenied")
	if _, err := changeZone(t, route53Client(sim, "", as), "ZFOREIGN", batch); err != nil {
		t.Error(err)
	}
	sim.Advance(time.Hour)
	_, err = changeZone(t, route53Client(sim, "", as), "ZFOREIGN", remove(batch.ResourceRecordSet))
	wantRefusal(t, err, 403, "ExpiredToken")
}

// BenchmarkLookAtManyPending measures two looks at nine thousand certificates
// that wait, each with a record in a zone.
func BenchmarkLookAtManyPending(b *testing.B) {
	const count = 9_000 // what fits into one zone
	fleet := aws.DefaultSeed()
	fleet.Quotas = &aws.Quotas{Certificates: count + 100}
	fleet.Distributions = []aws.SeedDistribution{{ID: "E2FLEET"}}
	fleet.ConnectionGroups = []aws.SeedConnectionGroup{{ID: homeGroup, Name: "home", RoutingEndpoint: homeEndpoint}}
	zone := aws.SeedHostedZone{Name: "fleet.example"}
	for i := range count {
		name := fmt.Sprintf("t%05d.fleet.example", i)
		zone.Records = append(zone.Records, aws.SeedRecord{Name: name, Type: "CNAME", Values: []string{homeEndpoint}})
		fleet.Tenants = append(fleet.Tenants, aws.SeedTenant{
			Name: fmt.Sprintf("t%05d", i), DistributionID: "E2FLEET", ConnectionGroupID: homeGroup, Domains: []string{name},
			ManagedCertificate: &aws.SeedManagedCertificate{Status: "PENDING_VALIDATION"},
		})
	}
	fleet.HostedZones = []aws.SeedHostedZone{zone}
	sim := aws.New(aws.Options{Clock: testClock{startTime}, Seed: &fleet})
	sim.ChangeSwitches(func(sw *aws.Switches) { sw.CertificateIssueDelay = 1000 * time.Hour })
	b.ResetTimer()
	for b.Loop() {
		sim.Advance(0)
	}
}
