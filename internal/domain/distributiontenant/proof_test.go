package distributiontenant_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/proof"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

const provenName = "beta.example.com"

// demanded makes the grant demand proofs of domains.
func demanded(domains ...string) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) { in.Policy.Proofs = domains }
}

// sighted has looked for the record of a domain a second ago.
func sighted(domain string, s proof.Sight) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) {
		in.Attempts.Proofs = proof.Asked{Generation: in.Generation, Since: now.Add(-time.Second), Last: now.Add(-time.Second), Sights: map[string]proof.Sight{domain: s}}
	}
}

// stored has the entry for a domain in status.
func stored(domain string, found bool) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) {
		in.Memory.Proofs = append(in.Memory.Proofs, proof.Entry{Domain: domain, Record: proof.For(in.Me.Cluster, in.Me.Namespace, domain), Found: found})
	}
}

func proofCases() map[string]question {
	const alpha = "alpha.example.com"
	both := func(in *distributiontenant.Input) { edited(in); names(alpha, provenName)(in) }
	waits := distributiontenant.Rest{After: 9 * time.Second}
	waiting := with(quiet(), both, listed, demanded(provenName), stored(provenName, false), func(in *distributiontenant.Input) {
		in.Memory.Conditions[chain.Synced] = chain.Condition{Type: chain.Synced, Reason: proof.ReasonDomainNotProven, Generation: in.Generation}
	})
	return map[string]question{
		"a record is looked for before anything is created": {
			in: with(unborn(), demanded(alpha)), rule: "Proven", step: distributiontenant.Look{At: distributiontenant.LookProofs, Domains: []string{alpha}},
		},
		"a tenant without a domain that is proven is not created": {
			in: with(unborn(), demanded(alpha), sighted(alpha, proof.Missing)), rule: "Proven", step: waits, reason: proof.ReasonDomainNotProven,
		},
		"one whose domain is proven is": {
			in: with(unborn(), demanded(alpha), sighted(alpha, proof.Shown)), rule: "TenantPresent", step: distributiontenant.Decide(unborn()).Step,
		},
		"and one whose domain was proven earlier": {
			in: with(unborn(), demanded(alpha), stored(alpha, true)), rule: "TenantPresent", step: distributiontenant.Decide(unborn()).Step,
		},
		"what a tenant has needs no record": {in: with(quiet(), demanded(alpha)), rule: "Idle", step: distributiontenant.Rest{}},
		"nor what it had when it was last seen": {
			in:   with(quiet(), demanded(alpha), unknown, func(in *distributiontenant.Input) { in.Memory.DomainStates = map[string]string{alpha: "active"} }),
			rule: distributiontenant.Decide(with(quiet(), unknown)).Rule, step: distributiontenant.Decide(with(quiet(), unknown)).Step,
		},
		"a new domain waits": {
			in: with(quiet(), both, demanded(provenName), sighted(provenName, proof.Missing)), rule: "DomainsHeld", step: waits, reason: proof.ReasonDomainNotProven,
		},
		"and what else was changed does not": {
			in: with(quiet(), both, drifted, demanded(provenName), sighted(provenName, proof.Missing)), rule: "InSync",
			step: distributiontenant.Update{ID: tenantID, ETag: "E-1", Seen: with(quiet(), drifted).World.Tenant.Tenant, Tenant: target(quiet()), Partial: true},
		},
		"a tenant keeps its domains until the first of its new ones is proven": {
			in: with(quiet(), edited, names(provenName), demanded(provenName), sighted(provenName, proof.Missing)), rule: "DomainsHeld", step: waits, reason: proof.ReasonDomainNotProven,
		},
		"a person who asks is answered at once": {
			in: with(quiet(), both, demanded(provenName), sighted(provenName, proof.Missing), func(in *distributiontenant.Input) {
				in.Nudged, in.World.TenantFresh, in.World.TagsFresh = true, true, true
			}), rule: "Proven",
			step: distributiontenant.Look{At: distributiontenant.LookProofs, Domains: []string{provenName}},
		},
		"and once": {
			in: with(quiet(), both, demanded(provenName), sighted(provenName, proof.Missing), func(in *distributiontenant.Input) {
				in.Nudged, in.World.TenantFresh, in.World.TagsFresh, in.World.ProofsKnown = true, true, true, true
			}), rule: "DomainsHeld", step: waits, reason: proof.ReasonDomainNotProven,
		},
		"an object that follows a deployment looks for the record meanwhile": {
			in: with(quiet(), both, inProgress, demanded(provenName), sighted(provenName, proof.Missing)), rule: "Settled",
			step: distributiontenant.Rest{Follow: true, After: 9 * time.Second}, reason: resource.ReasonDeploying,
		},
		"the list is enough for one that waits for nothing else": {
			in: with(waiting, sighted(provenName, proof.Missing)), rule: "DomainsHeld", step: waits, reason: proof.ReasonDomainNotProven,
		},
		"but not for a certificate to attach": {
			in: with(waiting, sighted(provenName, proof.Missing), sent, managed(newARN, certificate.Issued)), rule: "Fresh", step: distributiontenant.Look{At: distributiontenant.LookTenant},
		},
		"and not for one whose domain was proven meanwhile": {
			in: with(waiting, sighted(provenName, proof.Shown)), rule: "Fresh", step: distributiontenant.Look{At: distributiontenant.LookTenant},
		},
		"an object that may not have it at all looks for nothing": {
			in: with(unborn(), demanded(alpha), func(in *distributiontenant.Input) { in.Ungranted = &chain.Halt{Reason: "NotGranted", Message: "Ask."} }), rule: "Granted", step: distributiontenant.Rest{}, reason: "NotGranted",
		},
	}
}

func TestProofs(t *testing.T) {
	for name, q := range proofCases() {
		t.Run(name, func(t *testing.T) { ask(t, q) })
	}
}

// An unproven object keeps no other from the domain, and is woken when a claim changes that.
func TestWhatIsNotProvenClaimsNothing(t *testing.T) {
	in := with(unborn(), demanded("alpha.example.com"))
	want := []claim.Domain{{Name: "alpha.example.com", Stake: claim.Unproven}}
	if d := cmp.Diff(want, in.Stakes()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	in = with(in, sighted("alpha.example.com", proof.Shown))
	if got := in.Stakes(); !slices.Equal(got, []claim.Domain{{Name: "alpha.example.com", Wanted: true}}) {
		t.Errorf("what is proven has %v", got)
	}
	adopting := with(quiet(), demanded("alpha.example.com"), tagged(nil))
	if got := adopting.Stakes(); !slices.Equal(got, []claim.Domain{{Name: "alpha.example.com", Wanted: true}}) {
		t.Errorf("what is about to be adopted has %v", got)
	}
}

// Status says which records are missing. A live tenant is in sync but for them, and its generation has not arrived.
func TestAReportOfWhatIsNotProven(t *testing.T) {
	in := with(quiet(), edited, names("alpha.example.com", provenName), demanded("alpha.example.com", provenName), sighted(provenName, proof.Other))
	r := conclude(in)
	states := map[string]onboarding.RecordState{}
	for _, d := range r.Domains {
		states[d.Domain] = d.Records[0].State
	}
	if states["alpha.example.com"] != onboarding.Present || states[provenName] != onboarding.Wrong {
		t.Errorf("the proofs are %v", states)
	}
	if r.AppliedGeneration == in.Generation {
		t.Error("the generation is said to have arrived")
	}
	for _, c := range r.Conditions {
		if (c.Type == chain.Ready || c.Type == chain.Synced) && c.Reason != proof.ReasonDomainNotProven {
			t.Errorf("%s has the reason %s", c.Type, c.Reason)
		}
	}
	if r = conclude(with(dying(), demanded("alpha.example.com"), stored("alpha.example.com", true))); r.Domains[0].State != onboarding.Leaving || len(r.Domains[0].Records) != 0 {
		t.Errorf("what is being deleted has %+v", r.Domains)
	}
}
