package distributiontenant_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/identity"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

const (
	remoteAccount = "999988887777"
	remoteZone    = "ZREMOTE"
	remoteDomain  = "www.remote.example.com"
	remoteRecord  = "CNAME " + remoteDomain + " " + mainEndpoint + " 300"
	dnsRole       = "arn:aws:iam::" + remoteAccount + ":role/tenant-dns"
	otherRole     = "arn:aws:iam::" + remoteAccount + ":role/tenant-dns-two"
	strangeRole   = "arn:aws:iam::" + remoteAccount + ":role/admin"
)

func assuming(arn string) func(*v1alpha1.DNS) {
	return func(d *v1alpha1.DNS) { d.AssumeRoleARN = arn }
}

// remote is a rig whose zone is in another account. Objects may name the two roles for DNS,
// which trust the operator on behalf of the rig's namespace.
func remote(t *testing.T, switches func(*sim.Switches)) *rig {
	t.Helper()
	allowed, err := identity.ParseRolePatterns([]string{"arn:aws:iam::" + remoteAccount + ":role/tenant-dns*"})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, rigOptions{
		switches: switches, options: world.Options{AllowedRoles: allowed},
		seed: func(s *sim.Seed) {
			s.Accounts = append(s.Accounts, sim.SeedAccount{ID: remoteAccount})
			s.Certificates[1].Names = append(s.Certificates[1].Names, remoteDomain)
			s.HostedZones = append(s.HostedZones, sim.SeedHostedZone{
				ID: remoteZone, Name: "remote.example.com", Account: remoteAccount, Records: strangers("remote.example.com"),
			})
		},
	})
	r.trust(dnsRole, false)
	r.trust(otherRole, false)
	return r
}

// trust lets the role be assumed with the external ID of the rig's namespace, or by no one.
func (r *rig) trust(role string, denied bool) {
	r.t.Helper()
	err := r.Sim.Load(sim.Seed{Roles: []sim.SeedRole{{ARN: role, ExternalID: world.ClusterID + "/" + r.Namespace, Denied: denied}}})
	if err != nil {
		r.t.Fatal(err)
	}
}

// asked are the calls of an operation since then.
func (r *rig) asked(operation string) (out []sim.Entry) {
	for _, e := range r.Sim.Journal() {
		if e.Operation == operation {
			out = append(out, e)
		}
	}
	return out
}

func TestAZoneOfAnotherAccount(t *testing.T) {
	t.Parallel()
	r := remote(t, nil)
	r.serving("alpha", withDNS(assuming(dnsRole)), domains(remoteDomain))
	r.has(remoteZone, remoteRecord)
	r.has(coveredZone)
	assumed := r.asked("AssumeRole")
	if len(assumed) != 1 {
		t.Fatalf("%d assumptions of a role, want one for all calls", len(assumed))
	}
	e := assumed[0]
	if e.ID != dnsRole || e.Name != "cloudfront-tenant-operator@"+r.Namespace || e.ExternalID != world.ClusterID+"/"+r.Namespace {
		t.Errorf("assumed %s as %q with the external id %q", e.ID, e.Name, e.ExternalID)
	}
	for _, operation := range []string{"ChangeResourceRecordSets", "GetChange", "ListResourceRecordSets"} {
		for _, e := range r.asked(operation) {
			if want := "arn:aws:sts::" + remoteAccount + ":assumed-role/tenant-dns/cloudfront-tenant-operator@" + r.Namespace; e.Caller != want {
				t.Errorf("%s was called as %q, want %q", operation, e.Caller, want)
			}
		}
	}
	if d := get(t, r.World, "alpha").Status.DNS; d.Records[0].AssumeRoleARN != dnsRole {
		t.Errorf("the ledger has the role %q", d.Records[0].AssumeRoleARN)
	}
	// Credentials expire after an hour, and are renewed automatically.
	r.Advance(3 * time.Hour)
	is(t, r.World, "alpha", readyTrue, dnsReady)
	r.removed("alpha")
	r.has(remoteZone)
}

func TestARoleThatTheAdministratorDoesNotAllow(t *testing.T) {
	t.Parallel()
	r := remote(t, nil)
	r.trust(strangeRole, false)
	r.Apply(r.Tenant("alpha", withDNS(assuming(strangeRole)), domains(remoteDomain)))
	r.Advance(time.Hour)
	is(t, r.World, "alpha", "Ready=False/RoleNotAllowed", "DNSReady=False/RoleNotAllowed", syncedTrue)
	says(t, r.World, "alpha", "DNSReady", strangeRole, "--allowed-roles")
	calls := r.Calls()
	if n := world.Sum(route53Calls(calls)) + calls["AssumeRole"]; n != 0 {
		t.Errorf("%d calls with a role that is not allowed: %v", n, calls)
	}
	// It never published anything, so nothing holds its deletion.
	r.removed("alpha")
	r.has(remoteZone)
}

func TestARoleThatAWSDenies(t *testing.T) {
	t.Parallel()
	r := remote(t, nil)
	r.trust(dnsRole, true)
	r.Apply(r.Tenant("alpha", withDNS(assuming(dnsRole)), domains(remoteDomain)))
	r.Advance(10 * time.Minute)
	is(t, r.World, "alpha", "Ready=False/DNSError", "DNSReady=False/DNSError", syncedTrue)
	says(t, r.World, "alpha", "DNSReady", dnsRole)
	writes, assumed := r.KubeWrites(), len(r.asked("AssumeRole"))
	r.Advance(time.Hour)
	if n := r.KubeWrites() - writes; n != 0 {
		t.Errorf("%d Kubernetes writes while nothing moves", n)
	}
	if n := len(r.asked("AssumeRole")) - assumed; n > 62 {
		t.Errorf("%d assumptions of a role in an hour of denials", n)
	}
	r.trust(dnsRole, false)
	r.Advance(35 * time.Minute)
	is(t, r.World, "alpha", readyTrue, dnsReady)
	r.has(remoteZone, remoteRecord)
	r.removed("alpha")
	r.has(remoteZone)
}

// A role that loses its permissions while records exist keeps the tenant from being deleted, until the permissions are
// granted again or the records are given up.
func TestARoleThatIsDeniedWhileRecordsStand(t *testing.T) {
	t.Parallel()
	for name, abandon := range map[string]bool{"until the rights are back": false, "until the records are given up": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := remote(t, nil)
			r.serving("alpha", withDNS(assuming(dnsRole)), domains(remoteDomain))
			stop := refusing(t, r.World, "ChangeResourceRecordSets", http.StatusForbidden, "AccessDenied", "no")
			tenant := inAWS(t, r.World, "alpha")
			r.Delete("alpha")
			r.Advance(time.Hour)
			is(t, r.World, "alpha", "Ready=False/DNSError")
			says(t, r.World, "alpha", "Ready", "abandon-dns", remoteDomain)
			untouched(t, r.World, tenant)
			r.has(remoteZone, remoteRecord)
			if abandon {
				r.exempt[remoteDomain] = true
				annotate(r.World, "alpha", v1alpha1.AnnotationAbandonDNS, v1alpha1.AbandonTrue)
				r.Advance(10 * time.Minute)
				gone(t, r.World, "alpha")
				r.has(remoteZone, remoteRecord)
				return
			}
			stop()
			r.Advance(45 * time.Minute)
			gone(t, r.World, "alpha")
			r.has(remoteZone)
		})
	}
}

func TestAChangeOfRole(t *testing.T) {
	t.Parallel()
	r := remote(t, nil)
	r.serving("alpha", withDNS(assuming(dnsRole)), domains(remoteDomain))
	r.Edit("alpha", withDNS(assuming(otherRole), withTTL(60)))
	r.Advance(10 * time.Minute)
	is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
	r.has(remoteZone, "CNAME "+remoteDomain+" "+mainEndpoint+" 60")
	var roles []string
	for _, e := range r.asked("AssumeRole") {
		roles = append(roles, e.ID)
	}
	slices.Sort(roles)
	if d := cmp.Diff([]string{dnsRole, otherRole}, slices.Compact(roles)); d != "" {
		t.Errorf("assumed roles (-want +got):\n%s", d)
	}
	r.removed("alpha")
	r.has(remoteZone)
}

// The records go with the role that published them, which the ledger knows and the spec does not.
func TestRemovingDNSWithARole(t *testing.T) {
	t.Parallel()
	r := remote(t, nil)
	r.serving("alpha", withDNS(assuming(dnsRole)), domains(remoteDomain))
	r.Edit("alpha", withoutDNS)
	r.Advance(10 * time.Minute)
	is(t, r.World, "alpha", readyTrue, syncedTrue, noDNS)
	r.has(remoteZone)
	r.hasLedger("alpha")
	r.removed("alpha")
}

// Moving DNS to the operator's own account is a change of zone and of identity.
func TestMovingDNSBetweenAccounts(t *testing.T) {
	t.Parallel()
	r := remote(t, nil)
	r.serving("alpha", withDNS(assuming(dnsRole)), domains(remoteDomain))
	r.Edit("alpha", withDNS(inZone(coveredZone)))
	r.Advance(10 * time.Minute)
	is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
	r.has(remoteZone)
	r.has(coveredZone, remoteRecord)
	r.removed("alpha")
}
