package distributiontenant_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/identity"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// sample reads one of the manifests that newcomers apply.
func sample(t *testing.T, w *world.World, file string) *v1alpha1.DistributionTenant {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "config", "samples", file))
	if err != nil {
		t.Fatal(err)
	}
	o := &v1alpha1.DistributionTenant{}
	if err := yaml.UnmarshalStrict(data, o); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	o.Namespace = w.Namespace
	return o
}

// sampleWorld is the world that the samples are written for, with whatever stands in their seed.
func sampleWorld(t *testing.T) *world.World {
	t.Helper()
	file := filepath.Join("..", "..", "..", "cmd", "playground", "seed.yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	seed, err := sim.ParseSeed(file, data)
	if err != nil {
		t.Fatal(err)
	}
	roles, err := identity.ParseRolePatterns([]string{seed.Roles[0].ARN})
	if err != nil {
		t.Fatal(err)
	}
	w := world.New(t, kubeConfig, world.Options{Seed: &seed, AllowedRoles: roles})
	// The role trusts another cluster and another namespace than this test's.
	role := sim.SeedRole{ARN: seed.Roles[0].ARN, ExternalID: world.ClusterID + "/" + w.Namespace}
	if err := w.Sim.Load(sim.Seed{Roles: []sim.SeedRole{role}}); err != nil {
		t.Fatal(err)
	}
	platform(t, w)
	return w
}

// platform applies what the tenants of the samples refer to, and waits for it.
func platform(t *testing.T, w *world.World) {
	t.Helper()
	for file, o := range map[string]client.Object{"distribution.yaml": &v1alpha1.Distribution{}, "connection-group.yaml": &v1alpha1.ConnectionGroup{}} {
		data, err := os.ReadFile(filepath.Join("..", "..", "..", "config", "samples", "platform", file))
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.UnmarshalStrict(data, o); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		o.SetNamespace(w.Namespace)
		if err := w.Kube.Create(t.Context(), o); err != nil {
			t.Fatalf("applying %s: %v", file, err)
		}
	}
	w.Advance(settle)
}

// belongings are the certificates, zones and records of all accounts.
func belongings(w *world.World) map[string]any {
	out := map[string]any{}
	for _, a := range w.Sim.State().Accounts {
		for n := range a.Certificates {
			a.Certificates[n].InUseBy = nil
		}
		out[a.ID] = []any{a.Certificates, a.HostedZones}
	}
	return out
}

func TestSamples(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file       string
		conditions []string
		tenant     string
		check      func(t *testing.T, s sim.TenantState)
	}{
		"the least is deployed and serves its domain": {
			file: "minimal.yaml", tenant: "minimal",
			conditions: []string{readyTrue, syncedTrue, "DNSReady=True/DNSNotConfigured"},
		},
		"the full one has every block in AWS": {
			file: "full.yaml", tenant: "full-example",
			conditions: []string{readyTrue, syncedTrue},
			check: func(t *testing.T, s sim.TenantState) {
				t.Helper()
				if d := cmp.Diff(map[string]string{"tier": "gold", "origin": "full"}, s.Parameters); d != "" {
					t.Errorf("parameters:\n%s", d)
				}
				want := sim.CustomizationState{
					CertificateARN: sim.DefaultCertificateARN, GeoRestrictionType: "whitelist", GeoLocations: []string{"DE", "FR", "GB"},
				}
				if d := cmp.Diff(want, s.Customizations); d != "" {
					t.Errorf("customizations:\n%s", d)
				}
				if s.Tags["team"] != "edge" || s.Tags["cost-center"] != "4711" {
					t.Errorf("tags: %v", s.Tags)
				}
			},
		},
		"the disabled one is Ready as it is, because that is what the spec asks": {
			file: "disabled.yaml", tenant: "disabled",
			conditions: []string{readyTrue, syncedTrue},
			check: func(t *testing.T, s sim.TenantState) {
				t.Helper()
				if s.Enabled {
					t.Error("it is enabled in AWS")
				}
			},
		},
		"one that a certificate covers gets its DNS record": {
			file: "with-dns.yaml", tenant: "with-dns",
			conditions: []string{readyTrue, syncedTrue, "DNSReady=True/DNSReady"},
		},
		"a managed certificate is issued and attached, and DNS leads to the tenant": {
			file: "managed-certificate.yaml", tenant: "managed-certificate",
			conditions: []string{readyTrue, syncedTrue, "DNSReady=True/DNSReady", "CertificateReady=True/Validated"},
		},
		"so is one for the apex of a zone": {
			file: "apex.yaml", tenant: "apex",
			conditions: []string{readyTrue, syncedTrue, "DNSReady=True/DNSReady", "CertificateReady=True/Validated"},
		},
		"and one whose zone is in another account": {
			file: "cross-account.yaml", tenant: "cross-account",
			conditions: []string{readyTrue, syncedTrue, "DNSReady=True/DNSReady", "CertificateReady=True/Validated"},
		},
		"a self-hosted validation ends honestly at PendingValidation": {
			file: "self-hosted.yaml", tenant: "self-hosted",
			conditions: []string{"Ready=False/PendingValidation", "CertificateReady=False/PendingValidation", syncedTrue},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := sampleWorld(t)
			before := belongings(w)
			o := w.Apply(sample(t, w, c.file))
			w.Advance(settle)
			is(t, w, o.Name, c.conditions...)
			s := inAWS(t, w, c.tenant)
			if c.check != nil {
				c.check(t, s)
			}
			for _, condition := range get(t, w, o.Name).Status.Conditions {
				if condition.ObservedGeneration != 1 {
					t.Errorf("%s speaks of generation %d", condition.Type, condition.ObservedGeneration)
				}
			}
			w.Delete(o.Name)
			w.Advance(settle)
			gone(t, w, o.Name)
			tenants(t, w)
			if d := cmp.Diff(before, belongings(w)); d != "" {
				t.Errorf("certificates and zones (-before +after):\n%s", d)
			}
		})
	}
}

func managed(host v1alpha1.ValidationTokenHost) edit {
	return func(o *v1alpha1.DistributionTenant) {
		o.Spec.ManagedCertificateRequest = &v1alpha1.ManagedCertificateRequest{ValidationTokenHost: host}
	}
}

// neverIssue keeps managed certificates pending.
func neverIssue(w *world.World) {
	w.Sim.ChangeSwitches(func(sw *sim.Switches) { sw.CertificateIssueDelay = 1000 * time.Hour })
}

func TestManagedCertificateWhoseDomainLeadsToCloudFrontIsRequestedOnce(t *testing.T) {
	t.Parallel()
	seed := world.Seed()
	seed.ResolvingDomains = []string{"shop.customer.test"}
	w := world.New(t, kubeConfig, world.Options{Seed: &seed})
	neverIssue(w)
	w.Apply(w.Tenant("managed", domains("shop.customer.test"), managed(v1alpha1.ValidationTokenHostCloudFront)))
	w.Advance(settle)
	is(t, w, "managed", "Ready=False/PendingValidation", "CertificateReady=False/PendingValidation", syncedTrue)
	says(t, w, "managed", "CertificateReady", "cloudfront.net")

	// A request that rides along with every update starts a new certificate each time.
	request := inAWS(t, w, "managed").ManagedCertificate
	w.Edit("managed", params("tier", "gold"))
	w.Advance(settle)
	is(t, w, "managed", "Ready=False/PendingValidation", syncedTrue)
	if s := inAWS(t, w, "managed"); s.ManagedCertificate != request || s.Parameters["tier"] != "gold" {
		t.Errorf("after an update AWS has the request %s (was %s) and parameters %v", s.ManagedCertificate, request, s.Parameters)
	}

	// Waiting must neither stop nor cost: the certificate moves without the tenant moving.
	calls, writes := w.Calls(), w.Writes()
	w.Advance(2 * time.Hour)
	diff := world.Since(calls, w.Calls())
	if n := diff["GetManagedCertificateDetails"]; n < 24 || n > 60 {
		t.Errorf("a pending certificate was read %d times in two hours", n)
	}
	if w.Writes() != writes {
		t.Errorf("waiting for a certificate made %d writes", w.Writes()-writes)
	}
}

func TestManagedCertificateWaitsForItsDomainToLeadToCloudFront(t *testing.T) {
	t.Parallel()
	w := world.New(t, kubeConfig, world.Options{})
	neverIssue(w)
	w.Apply(w.Tenant("managed", domains("shop.customer.test"), managed(v1alpha1.ValidationTokenHostCloudFront)))
	w.Advance(settle)
	is(t, w, "managed", "Ready=False/DomainValidationPending", "Synced=False/UpdatePending")
	says(t, w, "managed", "Ready", "shop.customer.test", "routing endpoint", "Could not verify Domain Name ownership")
	tenants(t, w)

	// AWS may accept tomorrow what it refuses today: no refusal is final.
	w.Sim.SetResolving(true, "shop.customer.test")
	w.Advance(10 * time.Minute)
	is(t, w, "managed", "Ready=False/PendingValidation", syncedTrue)
	tenants(t, w, "managed")
}

func TestStatusSpeaksOfTheTenantInAWS(t *testing.T) {
	t.Parallel()
	w := world.New(t, kubeConfig, world.Options{})
	o := ready(t, w, "alpha", rich)
	s := inAWS(t, w, "alpha")
	got := map[string]string{
		"id": o.Status.ID, "arn": o.Status.ARN, "eTag": o.Status.ETag, "status": o.Status.DistributionTenantStatus,
		"certificate": o.Status.CertificateARN, "name": o.Status.TenantName,
	}
	wanted := map[string]string{
		"id": s.ID, "arn": s.ARN, "eTag": s.ETag, "status": "Deployed", "certificate": sim.DefaultCertificateARN, "name": "alpha",
	}
	if d := cmp.Diff(wanted, got); d != "" {
		t.Errorf("status (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]v1alpha1.DomainResult{{Domain: "alpha.example.com", Status: "active"}}, o.Status.DomainResults); d != "" {
		t.Errorf("domains (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"cost", "team"}, o.Status.AppliedTagKeys); d != "" {
		t.Errorf("applied tag keys (-want +got):\n%s", d)
	}
	if o.Status.ObservedGeneration != 1 || o.Status.DNSTarget == "" || o.Status.CreatedTime == nil || o.Status.LastModifiedTime == nil {
		t.Errorf("status is incomplete: %+v", o.Status)
	}
	if o.Status.DriftDetected || o.Status.Failure != nil || len(o.Status.Drift) > 0 {
		t.Errorf("status tells of trouble: %+v", o.Status)
	}
	// The user's spec is the user's: no default of AWS and no state of ours appears in it.
	fresh := w.Tenant("alpha", rich)
	fresh.Spec.Enabled = o.Spec.Enabled
	if d := cmp.Diff(fresh.Spec.Domains, o.Spec.Domains); d != "" || o.Spec.ConnectionGroupID != "" || o.Generation != 1 {
		t.Errorf("the spec was changed: %+v", o.Spec)
	}
}
