package distributiontenant_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/keyvalue"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

const storeARN = "arn:aws:cloudfront::111122223333:key-value-store/s"

var alphaKey = keyvalue.Key{StoreARN: storeARN, Name: alphaName}

// keyed asks for a value for each domain.
func keyed(in *distributiontenant.Input) {
	in.Desired.KeyValues = &keyvalue.Spec{StoreARN: storeARN, Value: "gold"}
}

// keyedAs asks for a value for that key, or for each domain if it is empty.
func keyedAs(key, store string) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) {
		in.Desired.KeyValues = &keyvalue.Spec{StoreARN: store, Key: key, Value: "gold"}
	}
}

func keyStands(s keyvalue.Standing) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) { in.World.Keys = keyvalue.View{alphaKey: s} }
}

func owns(value string, s keyvalue.State) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) {
		in.Memory.Keys = []keyvalue.Entry{{Key: alphaKey, Digest: keyvalue.Digest(value), State: s}}
	}
}

func ownsKey(name, value string) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) {
		in.Memory.Keys = []keyvalue.Entry{{Key: keyvalue.Key{StoreARN: storeARN, Name: name}, Digest: keyvalue.Digest(value), State: keyvalue.Written}}
	}
}

func pausedKeys(in *distributiontenant.Input) { in.Paused = true }

var (
	keyAbsent  = keyStands(keyvalue.Standing{Phase: keyvalue.Absent})
	keyThere   = keyStands(keyvalue.Standing{Phase: keyvalue.Present, Found: "gold"})
	keyForeign = keyStands(keyvalue.Standing{Phase: keyvalue.Present, Found: "theirs"})
)

// keyFails is a store at which calls fail like that.
func keyFails(kind fault.Kind) func(*distributiontenant.Input) {
	return keyStands(keyvalue.Standing{Phase: keyvalue.Unknown, Err: &fault.Error{Kind: kind, Operation: "UpdateKeys"}})
}

// livingKeyCases are those of the chain for an object that lives.
func livingKeyCases() map[string]question {
	finalized := func(in *distributiontenant.Input) { in.HasFinalizer = true }
	create := distributiontenant.Decide(unborn()).Step
	waits := func(in distributiontenant.Input, reason chain.Reason) question {
		return question{in: in, rule: "KeyValuesWritten", step: distributiontenant.Rest{Keys: true}, reason: reason}
	}
	return map[string]question{
		"an object gets its finalizer before a key is written": {in: with(unborn(), keyed, keyAbsent), rule: "KeyValuesWritten", step: distributiontenant.EnsureFinalizer{}},
		"a tenant waits for its keys":                          waits(with(unborn(), finalized, keyed, keyAbsent), distributiontenant.ReasonKeyValuesPending),
		"for a store that was not read":                        waits(with(unborn(), finalized, keyed), distributiontenant.ReasonKeyValuesPending),
		"for a store that is being created":                    waits(with(unborn(), finalized, keyed, keyFails(fault.Conflict)), distributiontenant.ReasonKeyValuesPending),
		"for a permission":                                     waits(with(unborn(), finalized, keyed, keyFails(fault.Denied)), resource.ReasonAccessDenied),
		"for room":                                             waits(with(unborn(), finalized, keyed, keyFails(fault.Quota)), resource.ReasonQuotaExceeded),
		"for a store that does not exist":                      waits(with(unborn(), finalized, keyed, keyFails(fault.NotFound)), resource.ReasonInvalidSpec),
		"while a key is someone else's":                        waits(with(unborn(), finalized, keyed, keyForeign), distributiontenant.ReasonKeyValueConflict),
		"while a key is another object's":                      waits(with(unborn(), finalized, keyed, keyStands(keyvalue.Standing{Phase: keyvalue.Occupied})), distributiontenant.ReasonKeyValueConflict),
		"then it is created":                                   {in: with(unborn(), keyed, keyThere), rule: "TenantPresent", step: create},
		"a mistake in the spec is reported before a key is written": {
			in:   with(unborn(), keyed, keyAbsent, func(in *distributiontenant.Input) { in.Desired.Parameters = map[string]string{"no": "such"} }),
			rule: "KeyValuesWritten", step: distributiontenant.Rest{}, reason: resource.ReasonValidationFailed, stuck: true,
		},
		"a changed tenant waits for its keys": waits(with(quiet(), edited, keyed, keyAbsent), distributiontenant.ReasonKeyValuesPending),
	}
}

// dyingKeyCases are those of the chain for an object that is being deleted.
func dyingKeyCases() map[string]question {
	waits := distributiontenant.Rest{Keys: true}
	abandoned := func(in *distributiontenant.Input) { in.Policy.AbandonDNS = true }
	return map[string]question{
		"the keys go after the tenant":       {in: with(dying(), absent, keyThere, owns("gold", keyvalue.Written)), rule: "KeyValuesDeleted", step: waits, reason: resource.ReasonDeleting},
		"a refusal is reported":              {in: with(dying(), absent, keyFails(fault.Denied), owns("gold", keyvalue.Removing)), rule: "KeyValuesDeleted", step: waits, reason: resource.ReasonAccessDenied},
		"without keys nothing is waited for": {in: with(dying(), absent, keyed), rule: "Gone", step: distributiontenant.LetGo{}},
		"they can be abandoned":              {in: with(dying(), absent, abandoned, owns("gold", keyvalue.Written)), rule: "Gone", step: distributiontenant.LetGo{}},
		"the tenant is deleted before them":  {in: with(dying(), keyThere, owns("gold", keyvalue.Written)), rule: "Disabled", step: distributiontenant.Disable{ID: tenantID, ETag: "E-1"}},
	}
}

func TestKeyChains(t *testing.T) {
	for name, q := range union(livingKeyCases(), dyingKeyCases()) {
		t.Run(name, func(t *testing.T) { ask(t, q) })
	}
}

// What becomes of the ledger in a pass, and what is said of the keys.
func TestKeyReports(t *testing.T) {
	report := func(r func(*distributiontenant.Input)) func(*distributiontenant.Input) { return r }
	for name, tt := range map[string]struct {
		in    distributiontenant.Input
		state keyvalue.State
		ready string
		drift bool
	}{
		"a new object intends its key":                {with(unborn(), keyed, keyAbsent, func(in *distributiontenant.Input) { in.HasFinalizer = true }), keyvalue.Intended, "KeyValuesPending", false},
		"without a finalizer it intends none":         {with(unborn(), keyed, keyAbsent), "", "Creating", false},
		"a key that is there is written":              {with(quiet(), keyed, keyThere, owns("gold", keyvalue.Intended)), keyvalue.Written, "Deployed", false},
		"a key that is no longer wanted is removed":   {with(quiet(), keyThere, owns("gold", keyvalue.Written)), keyvalue.Removing, "Deployed", false},
		"not before the spec is applied":              {with(quiet(), edited, listed, keyThere, owns("gold", keyvalue.Written)), keyvalue.Written, "", false},
		"nor while the object is paused":              {with(quiet(), pausedKeys, keyThere, owns("gold", keyvalue.Written)), keyvalue.Written, "", false},
		"nor while the tenant of a deletion is there": {with(dying(), keyThere, owns("gold", keyvalue.Written)), keyvalue.Written, "Disabling", false},
		"it is removed after the tenant":              {with(dying(), absent, keyThere, owns("gold", keyvalue.Written)), keyvalue.Removing, "Deleting", false},
		"a changed key is drift":                      {with(quiet(), keyed, keyForeign, owns("gold", keyvalue.Written)), keyvalue.Written, "Deployed", true},
		"that is reported where it is not corrected": {
			with(quiet(), keyed, keyForeign, owns("gold", keyvalue.Written), report(func(in *distributiontenant.Input) { in.Policy.Drift = resource.DriftReport })),
			keyvalue.Written, "KeyValueConflict", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := distributiontenant.Conclude(tt.in, distributiontenant.Outcome{Decision: distributiontenant.Decide(tt.in)})
			var state keyvalue.State
			if len(r.Keys) > 0 {
				state = r.Keys[0].State
			}
			ready := ""
			for _, c := range r.Conditions {
				if c.Type == chain.Ready {
					ready = string(c.Reason)
				}
			}
			if state != tt.state || tt.ready != "" && ready != tt.ready {
				t.Errorf("the key is %q, want %q; Ready is %s, want %s", state, tt.state, ready, tt.ready)
			}
			if drift := len(r.Drift) > 0; drift != tt.drift {
				t.Errorf("drift: %+v", r.Drift)
			}
			for _, d := range r.Drift {
				if strings.Contains(d.Desired+d.Observed, "gold") || strings.Contains(d.Observed, "theirs") {
					t.Errorf("drift shows a value: %+v", d)
				}
			}
		})
	}
}

// While a change of key values waits for its turn, what functions read stays, and what is new is written before it is used.
func TestKeysThatWait(t *testing.T) {
	moved := storeARN + "2"
	betaKey, movedKey := keyvalue.Key{StoreARN: storeARN, Name: betaName}, keyvalue.Key{StoreARN: moved, Name: alphaName}
	there := func(k keyvalue.Key) func(*distributiontenant.Input) {
		return func(in *distributiontenant.Input) {
			in.World.Keys = maps.Clone(in.World.Keys)
			in.World.Keys[k] = keyvalue.Standing{Phase: keyvalue.Present, Found: "gold"}
			in.Memory.Keys = slices.Concat(in.Memory.Keys, []keyvalue.Entry{{Key: k, Digest: keyvalue.Digest("gold"), State: keyvalue.Intended}})
		}
	}
	missing := func(k keyvalue.Key) func(*distributiontenant.Input) {
		return func(in *distributiontenant.Input) { in.World.Keys[k] = keyvalue.Standing{Phase: keyvalue.Absent} }
	}
	// The value of the first domain was silver, and a domain is added.
	changed := with(quiet(), edited, keyed, keyStands(keyvalue.Standing{Phase: keyvalue.Present, Found: "silver"}), owns("silver", keyvalue.Written),
		wants(func(d *distributiontenant.Desired) { d.Domains = []string{alphaName, betaName} }), missing(betaKey))
	store := with(quiet(), edited, keyedAs("", moved), keyThere, owns("gold", keyvalue.Written), missing(movedKey))
	none := with(quiet(), edited, keyThere, owns("gold", keyvalue.Written))
	added := quiet().World.Tenant.Tenant
	added.Domains = []string{alphaName, betaName}
	entry := func(k keyvalue.Key, value string, s keyvalue.State) keyvalue.Entry {
		return keyvalue.Entry{Key: k, Digest: keyvalue.Digest(value), State: s}
	}
	silver, gold := entry(alphaKey, "silver", keyvalue.Written), entry(alphaKey, "gold", keyvalue.Written)
	pending, rest := distributiontenant.ReasonKeyValuesPending, distributiontenant.Rest{Keys: true}
	for name, tt := range map[string]struct {
		question
		keys []keyvalue.Entry
	}{
		"a new domain waits for its key": {
			question{in: with(changed, answers(false)), rule: "KeyValuesWritten", step: rest, reason: pending},
			[]keyvalue.Entry{silver, entry(betaKey, "gold", keyvalue.Intended)},
		},
		"and is added with it": {
			question{in: with(changed, there(betaKey), answers(false)), rule: "InSync", step: distributiontenant.Update{ID: tenantID, ETag: "E-1", Tenant: added, Partial: true}},
			[]keyvalue.Entry{silver, entry(betaKey, "gold", keyvalue.Written)},
		},
		"another store is filled": {
			question{in: with(store, answers(false)), rule: "KeyValuesWritten", step: rest, reason: pending},
			[]keyvalue.Entry{gold, entry(movedKey, "gold", keyvalue.Intended)},
		},
		"the former one keeps its key": {
			question{in: with(store, there(movedKey), answers(false)), rule: "Idle", step: distributiontenant.Rest{}},
			[]keyvalue.Entry{gold, entry(movedKey, "gold", keyvalue.Written)},
		},
		"a key that is not wanted any more stays": {
			question{in: with(none, answers(false)), rule: "Idle", step: distributiontenant.Rest{}}, []keyvalue.Entry{gold},
		},
		"until its turn": {
			question{in: with(none, answers(true)), rule: "Idle", step: distributiontenant.Rest{}}, []keyvalue.Entry{entry(alphaKey, "gold", keyvalue.Removing)},
		},
		"it stays while its removal is held": {
			question{in: with(none, answered(loss.Held)), rule: "WithinBudget", step: distributiontenant.Rest{}, reason: resource.ReasonDeletionHeld}, []keyvalue.Entry{gold},
		},
	} {
		t.Run(name, func(t *testing.T) {
			ask(t, tt.question)
			r := distributiontenant.Conclude(tt.in, distributiontenant.Outcome{Decision: distributiontenant.Decide(tt.in)})
			if d := cmp.Diff(tt.keys, r.Keys); d != "" {
				t.Errorf("the ledger (-want +got):\n%s", d)
			}
		})
	}
}

func TestKeyChanges(t *testing.T) {
	entry := func(s keyvalue.State) []keyvalue.Entry { return []keyvalue.Entry{{Key: alphaKey, State: s}} }
	for name, tt := range map[string]struct {
		before, after []keyvalue.Entry
		want          []string
	}{
		"a key that is there":    {entry(keyvalue.Intended), entry(keyvalue.Written), []string{distributiontenant.EventKeysWritten}},
		"a key that was deleted": {entry(keyvalue.Removing), nil, []string{distributiontenant.EventKeysDeleted}},
		"nothing new":            {entry(keyvalue.Written), entry(keyvalue.Written), nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, e := range distributiontenant.KeyChanges(tt.before, tt.after) {
				got = append(got, e.Reason)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("events (-want +got):\n%s", d)
			}
		})
	}
}
