package distributiontenant_test

import (
	"fmt"
	"testing"
	"time"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// A try that a user asked for takes several passes where a name is published before its tenant is created. A process
// that ends meanwhile must not leave it as answered: the next one would wait for the time that the failure's age names.
func TestATryThatAPersonAskedForSurvivesARestart(t *testing.T) {
	t.Parallel()
	const name = "alpha.example.net"
	for _, after := range []time.Duration{0, time.Second, 5 * time.Second, 20 * time.Second} {
		t.Run(fmt.Sprint("restarted after ", after), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{proves: []string{name}})
			allow := refusing(t, r.World, "CreateDistributionTenant", 409, "CNAMEAlreadyExists", "taken")
			r.Apply(r.Tenant("alpha", withDNS(), managed(v1alpha1.ValidationTokenHostCloudFront), domains(name)))
			r.Advance(2 * time.Minute)
			is(t, r.World, "alpha", "Ready=False/DomainConflict")
			allow()
			nudge(r.World, "alpha", "now")
			r.Advance(after)
			if token := get(t, r.World, "alpha").Status.ReconcileToken; token != "" {
				t.Errorf("after %s the token %q is answered", after, token)
			}
			r.Restart()
			r.Advance(3 * time.Minute)
			is(t, r.World, "alpha", readyTrue)
			if token := get(t, r.World, "alpha").Status.ReconcileToken; token != "now" {
				t.Errorf("in the end the token is %q", token)
			}
		})
	}
}

// A list that AWS refused once is read again: the customer waits for the name that the domain has to point to.
func TestATargetThatCouldNotBeReadIsReadAgain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		apply []edit
		ready string
	}{
		"for a tenant that is ready":                    {ready: readyTrue},
		"for one that waits for its domains":            {[]edit{plainShop}, "Ready=False/DomainValidationPending"},
		"for one whose distribution does not exist yet": {[]edit{plainShop, on("missing")}, waitsForReference},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := parentless(t)
			ready(t, w, "bystander")
			w.Advance(time.Hour) // What was read for it is forgotten.
			w.Sim.ChangeSwitches(func(s *sim.Switches) { s.DeployDelay = time.Second })
			fault(t, w, sim.Fault{
				Operation: "ListConnectionGroups", Times: 1, Kind: sim.Instead,
				Error: &sim.FaultError{Status: 403, Code: "AccessDenied", Message: "no"},
			})
			w.Apply(w.Tenant("alpha", tt.apply...))
			w.Advance(30 * time.Second)
			if got := get(t, w, "alpha").Status.DNSTarget; got != "" {
				t.Fatalf("status.dnsTarget is %s before the list is read", got)
			}
			w.Advance(time.Minute)
			is(t, w, "alpha", tt.ready)
			if got, want := get(t, w, "alpha").Status.DNSTarget, endpoint(t, w, ""); got != want {
				t.Errorf("status.dnsTarget is %q, want %q", got, want)
			}
		})
	}
}

// A permission that was missing for a moment is noticed soon.
func TestAnEndpointThatCouldNotBeReadIsReadAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	allow := refusing(t, r.World, "ListConnectionGroups", 403, "AccessDenied", "no")
	r.Apply(r.Tenant("alpha", withDNS()))
	r.Advance(90 * time.Second)
	is(t, r.World, "alpha", "Ready=False/DNSError")
	allow()
	r.Advance(2 * time.Minute)
	is(t, r.World, "alpha", readyTrue, dnsReady)
}
