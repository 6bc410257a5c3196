package distributiontenant_test

import (
	"fmt"
	"testing"
	"time"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// Reads may show a tenant as it was before an update. A domain that the update took from it has no tenant: its name must
// not be published again for what such a read shows, neither because a certificate is underway, nor because the spec has it
// again, whether the answer to the update came, or was lost, or the process ended before it was stored.
func TestANameIsNotPublishedForATenantAsItWas(t *testing.T) {
	t.Parallel()
	const one, two, proved = "one.example.com", "two.example.com", "three.example.net"
	lost := func(r *rig) {
		if _, err := r.Sim.AddFault(sim.Fault{Operation: "UpdateDistributionTenant", Kind: sim.AfterCommit, Effect: sim.EffectReset, Nth: 1, Times: 1}); err != nil {
			r.t.Fatal(err)
		}
	}
	type process struct{ before, after func(r *rig) }
	processes := map[string]process{
		"one process":                    {},
		"another process after it":       {after: func(r *rig) { r.Restart() }},
		"a process that gets no answer":  {before: lost},
		"none, and another one after it": {before: lost, after: func(r *rig) { r.Restart() }},
	}
	for n := 1; n <= 8; n++ {
		processes[fmt.Sprintf("a process that ends after write %d", n)] = process{before: func(r *rig) { r.CrashAt(n, true) }}
	}
	for by, p := range processes {
		for story, change := range map[string]struct{ drop, again edit }{
			"a certificate is underway":     {drop: all(domains(proved), managed(v1alpha1.ValidationTokenHostCloudFront))},
			"the spec has the domain again": {drop: domains(two), again: domains(one, two)},
		} {
			for _, later := range []time.Duration{0, 15 * time.Second, 70 * time.Second} {
				t.Run(fmt.Sprintf("%s, %s, %s later", by, story, later), func(t *testing.T) {
					t.Parallel()
					r := newRig(t, rigOptions{proves: []string{proved}})
					r.serving("alpha", withDNS(), domains(one, two))
					r.Sim.ChangeSwitches(func(s *sim.Switches) { s.UpdateLag = 100 * time.Second })
					if p.before != nil {
						p.before(r)
					}
					r.Edit("alpha", change.drop)
					for range 300 {
						if _, has := inAWS(t, r.World, "alpha").Domains[one]; !has {
							break
						}
						r.Advance(time.Second)
					}
					if _, has := inAWS(t, r.World, "alpha").Domains[one]; has {
						t.Fatalf("the tenant still has the domain\n%s", r.story())
					}
					if p.after != nil {
						p.after(r)
					}
					r.Advance(later)
					if change.again != nil {
						r.Edit("alpha", change.again)
					}
					r.Advance(30 * time.Minute)
					is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
				})
			}
		}
	}
}
