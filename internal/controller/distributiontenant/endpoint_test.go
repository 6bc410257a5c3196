package distributiontenant_test

import (
	"testing"
	"time"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// endpoint is that of the connection group with the ID, and of the account's default one if it is empty.
func endpoint(t *testing.T, w *world.World, id string) string {
	t.Helper()
	for _, g := range w.Sim.ConnectionGroups(sim.DefaultAccount) {
		if g.ID == id || id == "" && g.Default {
			return g.RoutingEndpoint
		}
	}
	t.Fatalf("AWS has no connection group %q", id)
	return ""
}

// A customer who manages the DNS of a domain has to create the record before CloudFront takes the tenant. The object alone
// says where the record has to lead.
func TestTheEndpointIsKnownBeforeTheTenantExists(t *testing.T) {
	t.Parallel()
	const requestedLater = "The managed certificate is requested when the distribution tenant is created."
	for name, tt := range map[string]struct {
		group  string
		change func(group string) edit
		ready  string
		says   []string
	}{
		"in the default group": {
			change: func(string) edit { return func(*v1alpha1.DistributionTenant) {} }, ready: "Ready=False/DomainValidationPending", says: []string{"its DNS does not point at "},
		},
		"in a group by its ID": {
			group: "static", ready: "Ready=False/DomainValidationPending", says: []string{"its DNS does not point at "},
			change: func(group string) edit {
				return func(o *v1alpha1.DistributionTenant) { o.Spec.ConnectionGroupID = group }
			},
		},
		"in a group by its object": {
			group: "static", ready: "Ready=False/DomainValidationPending", says: []string{"its DNS does not point at "},
			change: func(string) edit { return in("static") },
		},
		"while the distribution does not exist": {change: func(string) edit { return on("missing") }, ready: waitsForReference},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := parentless(t)
			// The default group has a tenant.
			ready(t, w, "bystander")
			id := ""
			if tt.group != "" {
				id = group(t, w, tt.group)
				put(t, w, w.ConnectionGroup(tt.group), id)
			}
			calls := w.Calls()
			w.Apply(w.Tenant("alpha", plainShop, tt.change(id)))
			w.Apply(w.Tenant("beta", plainShop, domains(shopMore), tt.change(id)))
			w.Advance(time.Minute)
			want := endpoint(t, w, id)
			if got := get(t, w, "alpha").Status.DNSTarget; got != want {
				t.Errorf("status.dnsTarget is %q, want %q", got, want)
			}
			is(t, w, "alpha", tt.ready, pendingProof)
			for _, text := range tt.says {
				says(t, w, "alpha", "Ready", text+want)
			}
			says(t, w, "alpha", "CertificateReady", requestedLater, "every domain must point to "+want+".")
			tenants(t, w, "bystander")
			if n := world.Since(calls, w.Calls())["ListConnectionGroups"]; n > 1 {
				t.Errorf("two tenants took %d lists of connection groups", n)
			}
		})
	}
}
