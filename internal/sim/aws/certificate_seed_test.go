package aws_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// TestSeededManagedCertificates seeds tenants in every state of a certificate.
func TestSeededManagedCertificates(t *testing.T) {
	type world struct {
		Domain, Attached, Status string
		Users                    int
	}
	for name, tc := range map[string]struct {
		cert  aws.SeedManagedCertificate
		now   world
		later world // after an hour with DNS in place
	}{
		"attached": {
			aws.SeedManagedCertificate{Attached: true},
			world{"active", "yes", "ISSUED", 1}, world{"active", "yes", "ISSUED", 1},
		},
		"issued and not attached": {
			aws.SeedManagedCertificate{},
			world{"inactive", "", "ISSUED", 0}, world{"inactive", "", "ISSUED", 0},
		},
		"pending": {
			aws.SeedManagedCertificate{Status: "PENDING_VALIDATION"},
			world{"inactive", "", "PENDING_VALIDATION", 1}, world{"inactive", "", "ISSUED", 0},
		},
		"failed": {
			aws.SeedManagedCertificate{Status: "FAILED", FailureReason: "CAA_ERROR"},
			world{"inactive", "", "FAILED", 0}, world{"inactive", "", "FAILED", 0},
		},
		"about to end, and not renewed": {
			aws.SeedManagedCertificate{NotAfter: new(startTime.Add(time.Minute))},
			world{"inactive", "", "ISSUED", 0}, world{"inactive", "", "EXPIRED", 0},
		},
		"about to end, and renewed": {
			aws.SeedManagedCertificate{NotAfter: new(startTime.Add(time.Minute)), Attached: true},
			world{"active", "yes", "ISSUED", 1}, world{"active", "yes", "ISSUED", 1},
		},
		"revoked while attached": {
			aws.SeedManagedCertificate{Status: "REVOKED", Attached: true},
			world{"active", "yes", "REVOKED", 1}, world{"active", "yes", "REVOKED", 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			sim := newSim(t)
			err := sim.Load(aws.Seed{Tenants: []aws.SeedTenant{{
				Name: "seeded", DistributionID: "E2NOPARAMS", Domains: []string{"live.customer.org"}, ManagedCertificate: &tc.cert,
			}}})
			if err != nil {
				t.Fatal(err)
			}
			look := func() world {
				tenant, _ := sim.Tenant("", "seeded")
				cert := certificateState(t, sim, tenant.ManagedCertificate)
				got := world{Domain: tenant.Domains["live.customer.org"], Status: cert.Status, Users: len(cert.InUseBy)}
				if tenant.Customizations.CertificateARN == cert.ARN {
					got.Attached = "yes"
				}
				return got
			}
			if diff := cmp.Diff(tc.now, look()); diff != "" {
				t.Errorf("at first (-want +got):\n%s", diff)
			}
			sim.Advance(time.Hour)
			if diff := cmp.Diff(tc.later, look()); diff != "" {
				t.Errorf("an hour later (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCertificateSeedRefusals checks that a refusal names field, value and fix.
func TestCertificateSeedRefusals(t *testing.T) {
	tenant := func(cert aws.SeedManagedCertificate) aws.Seed {
		return aws.Seed{Tenants: []aws.SeedTenant{{Name: "seeded", DistributionID: "E2NOPARAMS", Domains: []string{"live.customer.org"}, ManagedCertificate: &cert}}}
	}
	for name, tc := range map[string]struct {
		seed aws.Seed
		want string
	}{
		"a role that is none":               {aws.Seed{Roles: []aws.SeedRole{{ARN: "dns"}}}, `roles[0].arn: "dns" is not the ARN of a role`},
		"an external id that is too short":  {aws.Seed{Roles: []aws.SeedRole{{ARN: dnsRole, ExternalID: "x"}}}, `roles[0].externalId: "x"`},
		"a manager that manages nothing":    {aws.Seed{Certificates: []aws.SeedCertificate{{ARN: certARN(9), Names: []string{"a.test"}, ManagedBy: "ME"}}}, `certificates[0].managedBy: "ME"`},
		"a managed certificate that exists": {tenant(aws.SeedManagedCertificate{ARN: wildcardARN}), `tenants[0].managedCertificate.arn`},
		"a state no certificate is in":      {tenant(aws.SeedManagedCertificate{Status: "issued"}), `managedCertificate.status: "issued"`},
		"a host of no tokens":               {tenant(aws.SeedManagedCertificate{ValidationTokenHost: "dns"}), `validationTokenHost: "dns"`},
		"a reason without a failure":        {tenant(aws.SeedManagedCertificate{FailureReason: "CAA_ERROR"}), `failureReason: "CAA_ERROR"`},
		"a reason ACM does not have":        {tenant(aws.SeedManagedCertificate{Status: "FAILED", FailureReason: "BAD_LUCK"}), "BAD_LUCK"},
		"a pending one that is attached":    {tenant(aws.SeedManagedCertificate{Status: "PENDING_VALIDATION", Attached: true}), "only one that was issued"},
		"a wildcard among the domains": {
			aws.Seed{Tenants: []aws.SeedTenant{{Name: "seeded", DistributionID: "E2NOPARAMS", Domains: []string{"*.customer.org"}, ManagedCertificate: &aws.SeedManagedCertificate{}}}},
			"no managed certificate covers one",
		},
	} {
		t.Run(name, func(t *testing.T) {
			wantError(t, newSim(t).Load(tc.seed), tc.want)
		})
	}
}
