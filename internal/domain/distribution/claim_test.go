package distribution_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// The stake of an object in its aliases depends on what is known of the resource.
func TestAliasesAreObserved(t *testing.T) {
	t.Parallel()
	wanted, served := claim.Domain{Name: "a.example.com", Wanted: true}, claim.Domain{Name: "a.example.com", Stake: claim.Serves}
	before := claim.Domain{Name: "b.example.com", Stake: claim.Serves}
	for name, test := range map[string]struct {
		about string
		in    func(*distribution.Input)
		want  []claim.Domain
	}{
		"new":     {"A new object only wants them.", func(*distribution.Input) {}, []claim.Domain{wanted}},
		"applied": {"A fresh process takes those that were applied for served.", func(in *distribution.Input) { in.Memory.ID, in.Memory.AppliedGeneration = "E1", 1 }, []claim.Domain{wanted, served}},
		"seen": {"Those that were seen last are served.", func(in *distribution.Input) {
			in.Memory.ID, in.World.Aliases = "E1", []string{"b.example.com"}
		}, []claim.Domain{wanted, before}},
		"read": {"What is read counts.", func(in *distribution.Input) {
			in.Memory.ID, in.World.Aliases = "E1", []string{"c.example.com"}
			in.World.Knowledge, in.World.Resource = resource.Whole, &distribution.Observed{ID: "E1", Aliases: []string{"b.example.com"}}
		}, []claim.Domain{wanted, before}},
		"absent": {"Nothing is served by what is gone.", func(in *distribution.Input) {
			in.Memory.ID, in.Memory.AppliedGeneration, in.World.Knowledge = "E1", 1, resource.Absent
		}, []claim.Domain{wanted}},
		"another's": {"Nor by what belongs to another.", func(in *distribution.Input) {
			in.World.Knowledge, in.World.Resource = resource.Whole, &distribution.Observed{ID: "E2", Aliases: []string{"b.example.com"}}
		}, []claim.Domain{wanted}},
	} {
		in := distribution.Input{Object: resource.Object{Generation: 1}, Desired: distribution.Desired{Aliases: []string{"a.example.com"}}}
		test.in(&in)
		if d := cmp.Diff(test.want, in.Stakes()); d != "" {
			t.Errorf("%s %s (-want +got):\n%s", name, test.about, d)
		}
	}
}

// with aliases in AWS, of which the spec has the first.
func aliased(in *distribution.Input) {
	in.Policy.Holds, in.Desired.Aliases, in.World.Resource.Aliases = true, []string{"a.example.com"}, []string{"A.example.com", "b.example.com"}
}

func unheld(domains ...string) func(*distribution.Input) {
	return func(in *distribution.Input) { in.World.Unheld, in.World.UnheldKnown = domains, true }
}

func unclaimable(in *distribution.Input) { in.World.Unstored = "Forbidden" }

func notHeld(in *distribution.Input) { in.Policy.Holds = false }

const notStored = "b.example.com stays in AWS until a DomainClaim holds it for this namespace, which could not be stored: Forbidden"

func claimKept() map[string]question {
	leaving := with(quiet(), drifted, edited, aliased)
	return map[string]question{
		"it is asked which of the aliases that leave are held": {in: leaving, rule: "InSync", step: distribution.Look{At: distribution.LookClaims, Domains: []string{"b.example.com"}}},
		"those that are not are claimed":                       {in: with(leaving, unheld("b.example.com")), rule: "InSync", step: distribution.Claim{Domains: []string{"b.example.com"}}},
		"then they leave":                                      {in: with(leaving, unheld()), rule: "InSync", step: distribution.Update{}},
		"they stay while they can't be claimed":                {in: with(leaving, unheld("b.example.com"), unclaimable), rule: "InSync", step: distribution.Rest{}, reason: claim.ReasonClaimNotStored, stuck: true, says: notStored},
		"without a hold they leave at once":                    {in: with(leaving, notHeld), rule: "InSync", step: distribution.Update{}},
	}
}

func claimRemoved() map[string]question {
	off := with(dying(), disabled, aliased)
	return map[string]question{
		"all aliases of a resource that is deleted are held": {in: off, rule: "Claimed", step: distribution.Look{At: distribution.LookClaims, Domains: []string{"A.example.com", "b.example.com"}}},
		"those that are not held are claimed first":          {in: with(off, unheld("b.example.com")), rule: "Claimed", step: distribution.Claim{Domains: []string{"b.example.com"}}},
		"then it is deleted":                                 {in: with(off, unheld()), rule: "Deleted", step: distribution.Delete{}},
		"it is not while they can't be claimed":              {in: with(off, unheld("b.example.com"), unclaimable), rule: "Claimed", step: distribution.Rest{}, reason: claim.ReasonClaimNotStored, stuck: true, says: notStored},
	}
}

func TestAliasesAreClaimedBeforeTheyLeave(t *testing.T) {
	for name, q := range together(claimKept(), claimRemoved()) {
		t.Run(name, func(t *testing.T) { ask(t, q) })
	}
}
