package model_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudfront"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// The stories of this file were found by the random ones, and cut down.

func newNamesWorld(t *testing.T) *world.World {
	t.Helper()
	seed := namesSeed()
	w := world.NewOffline(t, world.Options{Seed: &seed})
	w.Clock.Step(time.Hour)
	return w
}

// withDNS makes an object whose domains are published.
func withDNS(w *world.World, name string, host v1alpha1.ValidationTokenHost, domains ...string) *v1alpha1.DistributionTenant {
	return w.Tenant(name, func(o *v1alpha1.DistributionTenant) {
		o.Spec.Domains = nil
		for _, d := range domains {
			o.Spec.Domains = append(o.Spec.Domains, v1alpha1.TenantDomain{Domain: d})
		}
		o.Spec.DNS = &v1alpha1.DNS{Provider: v1alpha1.DNSProviderRoute53, TTL: 300}
		if host != "" {
			o.Spec.ManagedCertificateRequest = &v1alpha1.ManagedCertificateRequest{ValidationTokenHost: host}
		}
	})
}

func recordIn(w *world.World, zone, name string) (out sim.RecordState) {
	state, _ := w.Sim.HostedZone(zone)
	for _, r := range state.Records {
		if r.Name == name {
			out = r
		}
	}
	return out
}

// A change of spec.dns that is made while the object is paused is made up for afterwards: what
// the paused passes saw in the ledger was the state of the spec before.
func TestAChangeOfDNSMadeWhilePausedIsMadeUpFor(t *testing.T) {
	// A new process looks up no zone for a paused object, an old one knows them.
	for name, restart := range map[string]struct{ before, after bool }{
		"restarted before the change": {before: true},
		"restarted after the change":  {after: true},
		"not restarted":               {},
	} {
		t.Run(name, func(t *testing.T) {
			w := newNamesWorld(t)
			w.Apply(withDNS(w, "alpha", "", "a.example.com"))
			w.Advance(10 * time.Minute)
			w.Edit("alpha", func(o *v1alpha1.DistributionTenant) {
				o.Annotations = map[string]string{v1alpha1.AnnotationPaused: v1alpha1.PausedTrue}
			})
			if restart.before {
				w.Restart()
			}
			w.Edit("alpha", func(o *v1alpha1.DistributionTenant) { o.Spec.DNS.TTL = 60 })
			w.Advance(10 * time.Minute)
			if restart.after {
				w.Restart()
				w.Advance(10 * time.Minute)
			}
			w.Edit("alpha", func(o *v1alpha1.DistributionTenant) { delete(o.Annotations, v1alpha1.AnnotationPaused) })
			w.Advance(10 * time.Minute)
			if got := recordIn(w, coveredZone, "a.example.com"); got.TTL != 60 {
				t.Errorf("the record has a TTL of %d seconds, the spec asks for 60\n%s", got.TTL, w.Describe("alpha"))
			}
			if o, _ := w.Get("alpha"); o.Status.Conditions[0].ObservedGeneration != o.Generation {
				t.Errorf("the conditions do not speak of the change:\n%s", w.Describe("alpha"))
			}
		})
	}
}

// A refused create whose cause is gone does not count against an object that waits for something else.
func TestWhatHoldsBackACreateNowIsNamed(t *testing.T) {
	w := newNamesWorld(t)
	o := withDNS(w, "alpha", v1alpha1.ValidationTokenHostCloudFront, "a.example.net")
	id, err := w.Sim.AddFault(sim.Fault{Operation: "CreateDistributionTenant", Times: -1, Kind: sim.Instead, Error: &sim.FaultError{Status: 400, Code: "EntityLimitExceeded", Message: "Too many"}})
	if err != nil {
		t.Fatal(err)
	}
	w.Apply(o)
	w.Advance(10 * time.Minute)
	if got := w.Condition("alpha", v1alpha1.ConditionReady); got != "Ready=False/QuotaExceeded" {
		t.Fatal(got)
	}
	w.Sim.RemoveFault(id)
	if err := dropZone(t, w, openZone); err != nil {
		t.Fatal(err)
	}
	w.Advance(2 * time.Hour)
	if got := w.Condition("alpha", v1alpha1.ConditionReady); got != "Ready=False/ZoneNotFound" {
		t.Errorf("the zone is gone, and the object says %s\n%s", got, w.Describe("alpha"))
	}
}

// Where reads lag, a tenant that someone deleted answers for a while, and its tags do not. Each pass then begins with
// nothing known: an object that gave up its claim to a name for that moment would close the zone, have it listed again,
// and be woken by it, forever.
func TestATenantThatIsGoneAndStillAnswersDoesNotSpin(t *testing.T) {
	for name, domains := range map[string][]string{
		"it is known where all records lead":              {"a.example.com"},
		"it is not known yet where that of an apex leads": {"a.example.com", "example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newNamesWorld(t)
			w.Sim.ChangeSwitches(func(s *sim.Switches) { s.DeleteLag, s.DeleteNeedsDeployed = 100*time.Second, false })
			w.Apply(withDNS(w, "alpha", "", domains...))
			w.Advance(2 * time.Second)
			deleteInAWS(t, w, "alpha")
			calls := w.Calls()
			w.Advance(2 * time.Minute)
			if n := world.Since(calls, w.Calls())["ListResourceRecordSets"]; n > 3 {
				t.Errorf("the zone was listed %d times in two minutes", n)
			}
			w.Advance(10 * time.Minute)
			if got := w.Condition("alpha", v1alpha1.ConditionReady); got != "Ready=True/Deployed" {
				t.Errorf("the tenant was not created again: %s\n%s", got, w.Describe("alpha"))
			}
		})
	}
}

// deleteInAWS deletes a tenant as someone else does, while the operator sees nothing of it.
func deleteInAWS(t *testing.T, w *world.World, name string) {
	t.Helper()
	s, _ := w.InAWS(name)
	off := false
	if _, err := w.AWS().UpdateDistributionTenant(t.Context(), &cloudfront.UpdateDistributionTenantInput{Id: &s.ID, IfMatch: &s.ETag, Enabled: &off}); err != nil {
		t.Fatal(err)
	}
	s, _ = w.InAWS(name)
	if _, err := w.AWS().DeleteDistributionTenant(t.Context(), &cloudfront.DeleteDistributionTenantInput{Id: &s.ID, IfMatch: &s.ETag}); err != nil {
		t.Fatal(err)
	}
}

// Of several domains that have to lead to CloudFront before their tenant is created one may be
// impossible. The others must not lead there meanwhile, without end.
func TestNoNameWaitsInDNSForAnotherThatCannotCome(t *testing.T) {
	w := newNamesWorld(t)
	w.Apply(withDNS(w, "alpha", "", "b.example.com"))
	w.Advance(10 * time.Minute)
	w.Apply(withDNS(w, "beta", v1alpha1.ValidationTokenHostCloudFront, "a.example.net", "b.example.com"))
	w.Advance(10 * time.Minute)
	if got := w.Condition("beta", v1alpha1.ConditionReady); got != "Ready=False/DNSConflict" {
		t.Errorf("beta says %s\n%s", got, w.Describe("beta"))
	}
	if endpoint := w.Sim.PublicRouting()["a.example.net"]; endpoint != "" {
		t.Errorf("a.example.net leads to %s, and no tenant will hold it", endpoint)
	}
	w.Delete("alpha")
	w.Advance(10 * time.Minute)
	if got := w.Condition("beta", v1alpha1.ConditionReady); got != "Ready=True/Deployed" {
		t.Errorf("the conflict is over, and beta says %s\n%s", got, w.Describe("beta"))
	}
}

// Two objects want one domain. One has the tenant that serves it; the other publishes the name
// for each try of a create that AWS refuses. Between the tries the name is the first one's.
func TestANameGoesToWhoServesIt(t *testing.T) {
	w := newNamesWorld(t)
	w.Apply(withDNS(w, "beta", "", "a.example.com"))
	w.Advance(3 * time.Second)
	w.Apply(withDNS(w, "alpha", v1alpha1.ValidationTokenHostCloudFront, "a.example.com"))
	w.Advance(20 * time.Minute)
	if got := w.Condition("beta", v1alpha1.ConditionReady); got != "Ready=True/Deployed" {
		t.Errorf("beta serves the domain, and says %s\n%s%s", got, w.Describe("beta"), w.Describe("alpha"))
	}
	if got := recordIn(w, coveredZone, "a.example.com"); got.Type != "CNAME" {
		t.Errorf("the domain is not published: %v", got)
	}
}

// The one that AWS refuses is the older, and does not look up for its alias records between the tries what it would need to
// publish them. They are out of DNS then, and must not keep the name from the other all the same.
func TestANameIsNotKeptForATryThatIsNotDue(t *testing.T) {
	w := newNamesWorld(t)
	o := withDNS(w, "alpha", v1alpha1.ValidationTokenHostCloudFront, "a.example.com")
	o.Spec.DNS.RecordType = v1alpha1.RecordTypeAlias
	w.Apply(o)
	w.Advance(time.Second)
	w.Apply(withDNS(w, "beta", "", "a.example.com"))
	w.Advance(4 * time.Minute)
	if got := w.Condition("alpha", v1alpha1.ConditionReady); got != "Ready=False/DomainConflict" {
		t.Fatalf("beta has the domain, and alpha says %s\n%s", got, w.Describe("alpha"))
	}
	for _, wait := range []time.Duration{0, 20 * time.Minute} {
		w.Advance(wait)
		if got := w.Condition("beta", v1alpha1.ConditionReady); got != "Ready=True/Deployed" {
			t.Errorf("beta serves the domain, and says %s\n%s%s", got, w.Describe("beta"), w.Describe("alpha"))
		}
		if got := recordIn(w, coveredZone, "a.example.com"); got.Type != "CNAME" {
			t.Errorf("the domain is not published: %v", got)
		}
	}
}

// An edit removes the request of the certificate that a domain needs, while reads lag and after a crash. The pass stops
// before it knows what DNS is asked for: what was published stays, and the condition about it stays as it was judged.
func TestWhatIsPublishedStaysWhileNoCertificateCoversIt(t *testing.T) {
	w := newNamesWorld(t)
	w.Sim.ChangeSwitches(func(s *sim.Switches) {
		s.AttachesByItself = false
		s.DNSPropagationDelay = 90 * time.Second
		s.GetLag, s.ListLag, s.UpdateLag, s.DeleteLag, s.DeployDelay = 100*time.Second, 20*time.Second, 100*time.Second, 100*time.Second, 4*time.Minute
	})
	o := withDNS(w, "gamma", v1alpha1.ValidationTokenHostCloudFront, "b.example.net")
	o.Spec.ManagedCertificateRequest.PrimaryDomainName = "b.example.net"
	w.Apply(o)
	w.Advance(3 * time.Minute)
	w.CrashAt(4, true)
	w.Advance(2*time.Minute + 70*time.Second)
	w.Edit("gamma", func(o *v1alpha1.DistributionTenant) { o.Spec.ManagedCertificateRequest = nil })
	w.Advance(3 * time.Hour)
	if got := w.Condition("gamma", v1alpha1.ConditionReady); got != "Ready=False/CertificateSANMismatch" {
		t.Errorf("no certificate covers the domain, and the object says %s\n%s", got, w.Describe("gamma"))
	}
	if got := w.Condition("gamma", v1alpha1.ConditionDNSReady); got != "DNSReady=True/DNSReady" {
		t.Errorf("the domain leads to CloudFront as before, and the object says %s\n%s", got, w.Describe("gamma"))
	}
	if got := recordIn(w, openZone, "b.example.net"); got.Type != "CNAME" {
		t.Errorf("the domain is not published any more: %v", got)
	}
}

// While a tenant is being deployed, AWS refuses a domain that its spec has got meanwhile. The refusal is not forgotten for
// the deployment: the update would be sent again with each pass, and each would wake the next.
func TestADomainThatIsRefusedDuringADeploymentDoesNotSpin(t *testing.T) {
	w := newNamesWorld(t)
	w.Sim.ChangeSwitches(func(s *sim.Switches) { s.DeployDelay = 10 * time.Minute })
	w.Apply(withDNS(w, "alpha", v1alpha1.ValidationTokenHostSelfHosted, "a.example.net"))
	w.Advance(time.Minute)
	w.Apply(withDNS(w, "beta", "", "b.example.com"))
	w.Advance(10 * time.Second)
	w.Edit("beta", func(o *v1alpha1.DistributionTenant) {
		o.Spec = withDNS(w, "beta", v1alpha1.ValidationTokenHostCloudFront, "b.example.com", "a.example.net").Spec
	})
	calls := w.Calls()
	w.Advance(5 * time.Minute)
	if n := world.Since(calls, w.Calls())["UpdateDistributionTenant"]; n == 0 || n > 8 {
		t.Errorf("the update was tried %d times in five minutes", n)
	}
	if got := w.Condition("beta", v1alpha1.ConditionReady); got != "Ready=False/DomainConflict" {
		t.Errorf("another tenant has the domain, and the object says %s\n%s", got, w.Describe("beta"))
	}
}
