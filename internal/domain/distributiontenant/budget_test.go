package distributiontenant_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/keyvalue"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

func guarded(in *distributiontenant.Input) { in.Guarded = true }

// answered is what the breaker says.
func answered(s loss.State) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) {
		in.Guarded, in.World.BudgetKnown = true, true
		in.World.Budget = loss.Answer{State: s, Message: "Too many."}
		in.World.BudgetHarm = in.Harm()
	}
}

// harmful is what the answer was about.
func harmful(harm string) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) { in.World.BudgetHarm = harm }
}

func TestWithinBudget(t *testing.T) {
	for name, q := range union(budgetCases(true), budgetCases(false)) {
		t.Run(name, func(t *testing.T) { ask(t, q) })
	}
}

func budgetCases(removal bool) map[string]question {
	const rule = "WithinBudget"
	look := distributiontenant.Look{At: distributiontenant.LookBudget}
	wait, held := distributiontenant.Rest{After: resource.AskAgain, KeepConditions: true}, distributiontenant.Rest{}
	off := func(in *distributiontenant.Input) { in.Generation, in.Desired.Enabled = in.Generation+1, false }
	fewer := func(in *distributiontenant.Input) {
		in.Generation++
		in.World.Tenant.Domains = append(in.World.Tenant.Domains, "dropped.example.com")
		in.World.Tenant.DomainStates["dropped.example.com"] = distributiontenant.DomainActive
	}
	outside := func(in *distributiontenant.Input) { in.Desired.Enabled = false }
	given := func(in *distributiontenant.Input) { has(alphaName, betaName)(in) }
	disabled := quiet().World.Tenant.Tenant
	disabled.Enabled = false
	never := func(in *distributiontenant.Input) {
		in.Memory.ID, in.Memory.Account, in.World.Tenant, in.World.Knowledge = "", "", nil, resource.Nothing
	}
	if removal {
		return map[string]question{
			"a deletion is asked for before anything is looked up": {in: with(dying(), unknown, guarded), rule: rule, step: look},
			"it waits until the burst is seen whole":               {in: with(dying(), answered(loss.Waiting)), rule: rule, step: wait},
			"one too many is held":                                 {in: with(dying(), answered(loss.Held)), rule: rule, step: held, reason: resource.ReasonDeletionHeld},
			"what is to stay is let go as it is":                   {in: with(dying(), answered(loss.Stay)), rule: rule, step: distributiontenant.LetGo{Left: tenantID, Abandons: true}},
			"what may go on goes on":                               {in: with(dying(), absent, answered(loss.Go)), rule: "Gone", step: distributiontenant.LetGo{}},
			"an object that never had a tenant is released":        {in: with(dying(), never, guarded), rule: "Located", step: distributiontenant.Look{At: distributiontenant.LookTenant}},
			"a tenant that is retained costs nothing":              {in: with(dying(), guarded, func(in *distributiontenant.Input) { in.Policy.Retain = true }), rule: "Retained", step: distributiontenant.Untag{ARN: quiet().World.Tenant.ARN, Keys: ownership.Keys(), Release: true}},
			"a paused object is not counted":                       {in: with(dying(), guarded, func(in *distributiontenant.Input) { in.Paused = true }), rule: "Paused", step: held},
			"where nothing is guarded, a deletion goes on":         {in: with(dying(), absent), rule: "Gone", step: distributiontenant.LetGo{}},
		}
	}
	return map[string]question{
		"a tenant that is to be disabled is asked for":                 {in: with(quiet(), off, guarded), rule: rule, step: look},
		"and held if that is one too many":                             {in: with(quiet(), off, answered(loss.Held)), rule: rule, step: held, reason: resource.ReasonDeletionHeld},
		"a served domain that is dropped is asked for":                 {in: with(quiet(), fewer, guarded), rule: rule, step: look},
		"key values that are removed are asked for":                    {in: with(quiet(), edited, keyThere, owns("gold", keyvalue.Written), guarded), rule: rule, step: look},
		"a tenant that was enabled outside of Kubernetes is asked for": {in: with(quiet(), outside, guarded), rule: rule, step: look},
		"so is a domain that it was given outside":                     {in: with(quiet(), given, guarded), rule: rule, step: look},
		"and held if that is one too many, however it came about":      {in: with(quiet(), outside, answered(loss.Held), harmful("disables the tenant")), rule: rule, step: held, reason: resource.ReasonDeletionHeld},
		"it is disabled once that may be": {
			in: with(quiet(), outside, answered(loss.Go), harmful("disables the tenant")), rule: "InSync",
			step: fromSeen(quiet(), distributiontenant.Update{
				ID: tenantID, ETag: "E-1", Tenant: disabled, Drift: []resource.Difference{{Field: "enabled", Desired: "false", Observed: "true"}},
			}),
		},
		"drift that is only reported takes nothing away": {in: with(quiet(), outside, guarded, drift(resource.DriftReport)), rule: "Idle", step: distributiontenant.Rest{}},
		"an answer is for what was asked":                {in: with(quiet(), off, answered(loss.Go), harmful("removes dropped.example.com")), rule: rule, step: look},

		"a tenant without its owner tags is counted before anything follows from that": {in: with(quiet(), tagged(nil), freshTags, guarded), rule: "Owned", step: look},
		"and left alone if many are": {
			in: with(quiet(), tagged(nil), freshTags, adoption(resource.AdoptIfUnowned), answered(loss.Held), harmful(distributiontenant.LostOwnership)), rule: "Owned",
			step: held, reason: resource.ReasonAdoptionRequired, stuck: true,
		},
		"a single one is adopted as its policy says": {
			in: with(quiet(), tagged(nil), freshTags, adoption(resource.AdoptIfUnowned), answered(loss.Go), harmful(distributiontenant.LostOwnership)), rule: "Owned",
			step: distributiontenant.Adopt{ARN: quiet().World.Tenant.ARN, Tags: me.Tags()},
		},
	}
}

// While it is held, nothing that leads to the tenant is changed, and what was cleared is.
func TestTheLedgerRestsWhileHeld(t *testing.T) {
	record := dns.Record{ZoneID: "Z1", Name: "alpha.example.com", Type: dns.CNAME, Value: "d1.cloudfront.net"}
	ledger := []dns.Entry{{Record: record, State: dns.Published}}
	for name, test := range map[string]struct {
		in   distributiontenant.Input
		want dns.State
	}{
		"unasked":  {with(dying(), guarded), dns.Published},
		"waiting":  {with(dying(), answered(loss.Waiting)), dns.Published},
		"held":     {with(dying(), answered(loss.Held)), dns.Published},
		"rescued":  {with(dying(), answered(loss.Stay)), dns.Published},
		"let go":   {with(dying(), answered(loss.Go)), dns.Retracting},
		"unwanted": {with(quiet(), answered(loss.Held), func(in *distributiontenant.Input) { in.Generation, in.Desired.DNS = in.Generation+1, nil }), dns.Published},
	} {
		t.Run(name, func(t *testing.T) {
			in := test.in
			in.Memory.Ledger = ledger
			in.World.DNS = dns.View{Records: map[dns.Record]dns.Standing{record: {Phase: dns.There}}}
			r := distributiontenant.Conclude(in, distributiontenant.Outcome{Decision: distributiontenant.Decide(in)})
			if d := cmp.Diff([]dns.Entry{{Record: record, State: test.want}}, r.Ledger); d != "" {
				t.Errorf("ledger (-want +got):\n%s", d)
			}
		})
	}
}

// A tenant that was left for an object of that name is adopted without being asked for, and no other.
func TestARescuedTenantIsAdopted(t *testing.T) {
	former := ownership.Owner{Cluster: me.Cluster, Namespace: me.Namespace, Name: me.Name, UID: "the-former"}
	stranger := ownership.Owner{Cluster: "another", Namespace: me.Namespace, Name: me.Name, UID: "the-former"}
	rescued := func(in *distributiontenant.Input) { in.Rescued = true }
	fresh := func(in *distributiontenant.Input) { in.World.TagsFresh = true }
	for name, q := range map[string]question{
		"its own":          {in: with(quiet(), tagged(former.Tags()), fresh, rescued), rule: "Owned", step: distributiontenant.Adopt{ARN: quiet().World.Tenant.ARN, Tags: me.Tags(), Previous: ownership.Shown{Text: former.String()}}},
		"not unless":       {in: with(quiet(), tagged(former.Tags()), fresh), rule: "Owned", step: distributiontenant.Rest{}, reason: resource.ReasonAdoptionRequired, stuck: true},
		"another's":        {in: with(quiet(), tagged(stranger.Tags()), fresh, rescued), rule: "Owned", step: distributiontenant.Rest{}, reason: resource.ReasonAdoptionRequired, stuck: true},
		"without an owner": {in: with(quiet(), tagged(nil), fresh, rescued), rule: "Owned", step: distributiontenant.Rest{}, reason: resource.ReasonAdoptionRequired, stuck: true},
	} {
		t.Run(name, func(t *testing.T) { ask(t, q) })
	}
}
