package distributiontenant_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

func holds(in *distributiontenant.Input) { in.Policy.Holds = true }

// unheld are the domains for which a claim is needed.
func unheld(domains ...string) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) { in.World.Unheld, in.World.UnheldKnown = domains, true }
}

func unstored(in *distributiontenant.Input) { in.World.Unstored = "Forbidden" }

// twoDomains has one domain more in AWS than the spec.
func twoDomains(in *distributiontenant.Input) {
	edited(in)
	change(in, func(t *distributiontenant.Observed) { t.Domains = []string{"alpha.example.com", "old.example.com"} })
}

func claimCases() map[string]question {
	return map[string]question{
		"before a tenant is deleted, the claims of its domains are looked at": {
			in: with(dying(), holds), rule: "Claimed",
			step: distributiontenant.Look{At: distributiontenant.LookClaims, Domains: []string{"alpha.example.com"}},
		},
		"those that are missing are stored": {
			in: with(dying(), holds, unheld("alpha.example.com")), rule: "Claimed", step: distributiontenant.Claim{Domains: []string{"alpha.example.com"}},
		},
		"then the deletion goes on": {in: with(dying(), holds, unheld()), rule: "Disabled", step: distributiontenant.Disable{ID: tenantID, ETag: "E-1"}},
		"while they can't be stored, nothing is taken out of service": {
			in: with(dying(), holds, unheld("alpha.example.com"), unstored), rule: "Claimed", step: distributiontenant.Rest{}, reason: claim.ReasonClaimNotStored, stuck: true,
		},
		"a tenant that is kept keeps its domains": {
			in:   with(dying(), holds, func(in *distributiontenant.Input) { in.Policy.Retain, in.World.TagsFresh = true, false }),
			rule: "Retained", step: distributiontenant.Look{At: distributiontenant.LookTags},
		},
		"another object's tenant is not claimed for us": {in: with(dying(), holds, oldTags), rule: "Proven", step: distributiontenant.Look{At: distributiontenant.LookTags}},
	}
}

func TestClaimBeforeADeletion(t *testing.T) {
	for name, q := range claimCases() {
		t.Run(name, func(t *testing.T) { ask(t, q) })
	}
}

func TestClaimBeforeAnUpdateThatDropsDomains(t *testing.T) {
	for name, q := range map[string]question{
		"the claims of what is dropped are looked at first": {
			in: with(quiet(), holds, twoDomains), rule: "InSync",
			step: distributiontenant.Look{At: distributiontenant.LookClaims, Domains: []string{"old.example.com"}},
		},
		"then they are stored": {
			in: with(quiet(), holds, twoDomains, unheld("old.example.com")), rule: "InSync", step: distributiontenant.Claim{Domains: []string{"old.example.com"}},
		},
		"or else nothing is dropped": {
			in: with(quiet(), holds, twoDomains, unheld("old.example.com"), unstored), rule: "InSync", step: distributiontenant.Rest{}, reason: claim.ReasonClaimNotStored, stuck: true,
		},
	} {
		t.Run(name, func(t *testing.T) { ask(t, q) })
	}
	// Whatever drops nothing asks for nothing.
	d := distributiontenant.Decide(with(quiet(), holds, edited, drifted))
	if _, updates := d.Step.(distributiontenant.Update); !updates {
		t.Errorf("an update that drops no domain became %T", d.Step)
	}
	d = distributiontenant.Decide(with(quiet(), holds, twoDomains, unheld()))
	if _, updates := d.Step.(distributiontenant.Update); !updates {
		t.Errorf("an update whose domain is held became %T", d.Step)
	}
}

// The domains of an object are those of its spec, of its tenant and of its ledger, each with what it is to the object.
func TestDomainsOfAnObject(t *testing.T) {
	in := quiet()
	in.Desired.Domains = []string{"new.example.com", "alpha.example.com"}
	in.Memory.Ledger = []dns.Entry{{Record: dns.Record{Name: "_cf-challenge.old.example.com"}}}
	remembered := with(in, unknown, func(in *distributiontenant.Input) {
		in.Memory.DomainStates = map[string]string{"alpha.example.com": "inactive"}
	})
	strange := with(in, taggedFor(other))
	for name, test := range map[string]struct {
		in   distributiontenant.Input
		want []claim.Domain
	}{
		"seen": {in, []claim.Domain{
			{Name: "new.example.com", Wanted: true}, {Name: "alpha.example.com", Wanted: true},
			{Name: "old.example.com", Stake: claim.Recorded}, {Name: "alpha.example.com", Stake: claim.Serves},
		}},
		"remembered": {remembered, []claim.Domain{
			{Name: "new.example.com", Wanted: true}, {Name: "alpha.example.com", Wanted: true},
			{Name: "old.example.com", Stake: claim.Recorded}, {Name: "alpha.example.com", Stake: claim.InAWS},
		}},
		"of a tenant that is another's": {strange, []claim.Domain{
			{Name: "new.example.com", Wanted: true}, {Name: "alpha.example.com", Wanted: true}, {Name: "old.example.com", Stake: claim.Recorded},
		}},
		"of an object that is deleted": {with(dying(), func(in *distributiontenant.Input) { in.Memory.Ledger = nil }), []claim.Domain{
			{Name: "alpha.example.com", Stake: claim.Serves},
		}},
		"of an object that asks for more than is granted": {with(in, func(in *distributiontenant.Input) {
			in.Ungranted, in.Memory.Ledger = &chain.Halt{Reason: "NotGranted"}, nil
		}), []claim.Domain{{Name: "alpha.example.com", Stake: claim.Serves}}},
		"of one that is only audited": {with(dying(), func(in *distributiontenant.Input) {
			in.Ungranted, in.Audited, in.Deleting = &chain.Halt{Reason: "NotGranted"}, true, false
		}), []claim.Domain{{Name: "alpha.example.com", Wanted: true}, {Name: "alpha.example.com", Stake: claim.Serves}}},
		"once it is gone": {with(dying(), absent), nil},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(test.want, test.in.Stakes()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// An object that is halted alone says why in Ready, too, as long as it has no tenant.
func TestAnObjectThatIsHaltedAloneSaysSo(t *testing.T) {
	halted := func(in *distributiontenant.Input) {
		in.Halt = &chain.Halt{Reason: claim.ReasonDomainClaimed, Message: "Taken.", Detail: "By another.", Alone: true}
	}
	for name, test := range map[string]struct {
		in    distributiontenant.Input
		ready chain.Reason
	}{
		"a new object":         {with(unborn(), halted), claim.ReasonDomainClaimed},
		"one that has its own": {with(quiet(), halted), resource.ReasonDeployed},
	} {
		t.Run(name, func(t *testing.T) {
			d := distributiontenant.Decide(test.in)
			r := distributiontenant.Conclude(test.in, distributiontenant.Outcome{Decision: d})
			got := map[chain.ConditionType]chain.Reason{}
			for _, c := range r.Conditions {
				got[c.Type] = c.Reason
			}
			if got[chain.Ready] != test.ready || got[chain.Synced] != claim.ReasonDomainClaimed || d.Rule != "Paused" {
				t.Errorf("rule %s, conditions %v", d.Rule, got)
			}
			if diff := cmp.Diff([]string{"By another."}, r.Details); diff != "" {
				t.Errorf("details (-want +got):\n%s", diff)
			}
		})
	}
}
