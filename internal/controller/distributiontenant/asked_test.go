package distributiontenant_test

import (
	"fmt"
	"testing"
	"time"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
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
