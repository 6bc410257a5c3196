package distributiontenant_test

import (
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// Credentials of another account must not make a tenant look gone or foreign.
func TestNothingIsConcludedFromAnotherAccount(t *testing.T) {
	for _, deleting := range []bool{false, true} {
		for name, q := range accountCases(deleting) {
			t.Run(name, func(t *testing.T) { ask(t, q) })
		}
	}
}

func accountCases(deleting bool) map[string]question {
	const mine, theirs = "111122223333", "444455556666"
	remembered := func(in *distributiontenant.Input) { in.Memory.Account = mine }
	caller := func(account string) func(*distributiontenant.Input) {
		return func(in *distributiontenant.Input) { in.World.Account = account }
	}
	of := func(account string) func(*distributiontenant.Input) {
		return func(in *distributiontenant.Input) {
			change(in, func(t *distributiontenant.Observed) {
				t.ARN = "arn:aws:cloudfront::" + account + ":distribution-tenant/dt_1"
			})
		}
	}
	look := distributiontenant.Look{At: distributiontenant.LookAccount}
	wrong := func(in distributiontenant.Input) question {
		return question{in: in, rule: "SameAccount", step: distributiontenant.Rest{}, reason: resource.ReasonWrongAccount, stuck: true}
	}
	if deleting {
		return map[string]question{
			"before an object is released, the account is looked up": {in: with(dying(), absent, remembered), rule: "SameAccount", step: look},
			"an object whose tenant was never seen is released":      {in: with(dying(), absent), rule: "Gone", step: distributiontenant.LetGo{}},
			"in the right account an absence is believed":            {in: with(dying(), absent, remembered, caller(mine)), rule: "Gone", step: distributiontenant.LetGo{}},
			"in another one no object is released":                   wrong(with(dying(), absent, remembered, caller(theirs))),
			"a stranger's tenant of that name frees no object":       wrong(with(dying(), remembered, of(theirs), taggedFor(other))),
		}
	}
	return map[string]question{
		"before a tenant is created again, the account is looked up": {in: with(quiet(), absent, remembered), rule: "SameAccount", step: look},
		"in another account it is not created again":                 wrong(with(quiet(), absent, remembered, caller(theirs))),
		"a tenant of that name in another account is not ours":       wrong(with(quiet(), remembered, of(theirs))),
		"a tenant in the right account is quiet":                     {in: with(quiet(), remembered, of(mine)), rule: "Idle", step: distributiontenant.Rest{}},
	}
}

// Credentials of another account see no tenant, and status forgets none for that.
func TestStatusForgetsNoTenantOfAnotherAccount(t *testing.T) {
	managed := &certificate.Managed{ARN: "arn:cert", State: certificate.Issued}
	absentFor := func(account string) distributiontenant.Report {
		in := with(quiet(), absent, func(in *distributiontenant.Input) {
			in.Memory.Account, in.Memory.Certificate, in.World.Account = "111122223333", managed, account
		})
		return distributiontenant.Conclude(in, distributiontenant.Outcome{Decision: distributiontenant.Decide(in)})
	}
	if r := absentFor("444455556666"); r.Absent || r.Certificate != managed {
		t.Errorf("by credentials of another account the tenant is reported absent (%t), its certificate as %v", r.Absent, r.Certificate)
	}
	if r := absentFor("111122223333"); !r.Absent || r.Certificate != nil {
		t.Errorf("by its own account's credentials a lost tenant is reported absent: %t, its certificate as %v", r.Absent, r.Certificate)
	}
}

// Only a whole ARN names an account.
func TestAccountOf(t *testing.T) {
	for arn, want := range map[string]string{
		"arn:aws:cloudfront::111122223333:distribution-tenant/dt_1":    "111122223333",
		"arn:aws-cn:cloudfront::444455556666:distribution-tenant/dt:1": "444455556666",
		"arn:dt_1": "",
		"":         "",
	} {
		if got := resource.AccountOf(arn); got != want {
			t.Errorf("%q: %q, want %q", arn, got, want)
		}
	}
}
