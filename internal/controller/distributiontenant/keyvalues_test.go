package distributiontenant_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

const (
	storeARN      = "arn:aws:cloudfront::111122223333:key-value-store/aaaa"
	otherStoreARN = "arn:aws:cloudfront::111122223333:key-value-store/bbbb"
)

// theirs are the keys that others have in the store.
func theirs() map[string]string {
	return map[string]string{"default": `{"tier":"free"}`, "taken": "theirs"}
}

func storeWorld(t *testing.T) *world.World {
	t.Helper()
	seed := dnsSeed()
	return world.New(t, kubeConfig, world.Options{Seed: &seed, AtOnce: true})
}

func withKeys(change ...func(*v1alpha1.KeyValues)) edit {
	return func(o *v1alpha1.DistributionTenant) {
		o.Spec.KeyValues = &v1alpha1.KeyValues{StoreARN: storeARN, Value: "gold"}
		for _, c := range change {
			c(o.Spec.KeyValues)
		}
	}
}

func valued(value string) func(*v1alpha1.KeyValues) {
	return func(k *v1alpha1.KeyValues) { k.Value = value }
}

func keyed(key string) func(*v1alpha1.KeyValues) {
	return func(k *v1alpha1.KeyValues) { k.Key = key }
}

// stored checks what the store has besides what others have there.
func stored(t *testing.T, w *world.World, keys map[string]string) {
	t.Helper()
	want := theirs()
	maps.Copy(want, keys)
	if d := cmp.Diff(want, w.Sim.KeyValues(storeARN)); d != "" {
		t.Errorf("the store (-want +got):\n%s", d)
	}
}

// keyOperations are the calls to the service.
func keyOperations(calls map[string]int) (n int) {
	return calls["DescribeKeyValueStore"] + calls["ListKeys"] + calls["UpdateKeys"]
}

// A tenant's key is written before the tenant is created, changed before a changed tenant is, and deleted after it.
func TestKeysSurroundTheTenant(t *testing.T) {
	t.Parallel()
	w := storeWorld(t)
	ready(t, w, "alpha", domains("alpha.example.com", "www-alpha.example.com"), withDNS(), withKeys())
	stored(t, w, map[string]string{"alpha.example.com": "gold", "www-alpha.example.com": "gold"})

	w.Edit("alpha", func(o *v1alpha1.DistributionTenant) {
		domains("alpha.example.com", "new.example.com")(o)
		o.Spec.KeyValues.Value = "silver"
	})
	w.Advance(settle)
	is(t, w, "alpha", readyTrue, syncedTrue)
	stored(t, w, map[string]string{"alpha.example.com": "silver", "new.example.com": "silver"})

	w.Delete("alpha")
	w.Advance(2 * settle)
	gone(t, w, "alpha")
	stored(t, w, nil)

	var order []string
	for _, e := range w.Sim.Journal() {
		switch e.Operation {
		case "UpdateKeys", "CreateDistributionTenant", "UpdateDistributionTenant", "DeleteDistributionTenant", "ChangeResourceRecordSets":
			if e.Committed {
				order = append(order, strings.Join(append([]string{e.Operation}, e.Records...), " "))
			}
		}
	}
	text := strings.Join(order, "\n")
	for _, pair := range [][2]string{
		{"UpdateKeys PUT alpha.example.com", "CreateDistributionTenant"},
		{"PUT new.example.com", "UpdateDistributionTenant"},
		{"DeleteDistributionTenant", "UpdateKeys DELETE alpha.example.com"},
	} {
		if first, second := strings.Index(text, pair[0]), strings.Index(text, pair[1]); first < 0 || second < first {
			t.Errorf("%q does not come before %q:\n%s", pair[0], pair[1], text)
		}
	}
}

// Without the field, the service is not called at all; a quiet store costs a call every five minutes.
func TestWhatKeysCost(t *testing.T) {
	t.Parallel()
	w := storeWorld(t)
	ready(t, w, "plain")
	if n := keyOperations(w.Calls()); n != 0 {
		t.Errorf("%d calls for a tenant without keys", n)
	}
	const many = 120
	for i := range many {
		w.Apply(w.Tenant(fmt.Sprint("tenant", i), withKeys()))
	}
	w.Advance(settle)
	is(t, w, fmt.Sprint("tenant", many-1), readyTrue)
	if n := keyOperations(w.Calls()); n > many/10 {
		t.Errorf("%d calls for %d tenants that are created together", n, many)
	} else {
		t.Logf("%d calls for %d tenants", n, many)
	}
	before, writes := w.Calls(), w.KubeWrites()
	w.Advance(time.Hour)
	if n := keyOperations(world.Since(before, w.Calls())); n > 13 {
		t.Errorf("a quiet hour took %d calls", n)
	}
	if n := w.KubeWrites() - writes; n != 0 {
		t.Errorf("a quiet hour took %d Kubernetes writes", n)
	}
}

// A key of others is never touched, and the tenant waits.
func TestKeysOfOthers(t *testing.T) {
	t.Parallel()
	w := storeWorld(t)
	w.Apply(w.Tenant("alpha", withKeys(keyed("taken"))))
	w.Advance(settle)
	is(t, w, "alpha", "Ready=False/KeyValueConflict")
	says(t, w, "alpha", "Ready", "spec.keyValues", "taken", "takeover")
	tenants(t, w)
	stored(t, w, nil)

	// An equal value is used, and stays.
	w.Apply(w.Tenant("beta", withKeys(keyed("default"), valued(theirs()["default"]))))
	w.Advance(settle)
	is(t, w, "beta", readyTrue)
	w.Delete("beta")
	w.Advance(settle)
	gone(t, w, "beta")
	stored(t, w, nil)

	// A takeover replaces it, and deletes it in the end.
	w.Edit("alpha", func(o *v1alpha1.DistributionTenant) { o.Spec.KeyValues.Takeover = true })
	w.Advance(settle)
	is(t, w, "alpha", readyTrue)
	stored(t, w, map[string]string{"taken": "gold"})
	w.Delete("alpha")
	w.Advance(2 * settle)
	gone(t, w, "alpha")
	if _, there := w.Sim.KeyValues(storeARN)["taken"]; there {
		t.Error("the key that was taken over is still there")
	}
}

// Of two tenants that want a key, the first has it until it gives it up.
func TestTwoTenantsWantAKey(t *testing.T) {
	t.Parallel()
	w := storeWorld(t)
	ready(t, w, "alpha", withKeys(keyed("shared")))
	w.Apply(w.Tenant("beta", withKeys(keyed("shared"), valued("silver"))))
	w.Advance(settle)
	is(t, w, "beta", "Ready=False/KeyValueConflict")
	says(t, w, "beta", "Ready", "alpha")
	stored(t, w, map[string]string{"shared": "gold"})
	w.Edit("alpha", func(o *v1alpha1.DistributionTenant) { o.Spec.KeyValues = nil })
	w.Advance(2 * settle)
	is(t, w, "beta", readyTrue)
	stored(t, w, map[string]string{"shared": "silver"})
}

// What others change is restored, or reported.
func TestKeyDrift(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		policy v1alpha1.DriftPolicy
		value  *string
		ready  string
		left   map[string]string
		// edit comes then, and a change of others after it is not restored either.
		edit edit
		then map[string]string
	}{
		"a changed value is restored":      {v1alpha1.DriftPolicyEnforce, new("bronze"), readyTrue, map[string]string{"k": "gold"}, nil, nil},
		"a deleted key is restored":        {v1alpha1.DriftPolicyEnforce, nil, readyTrue, map[string]string{"k": "gold"}, nil, nil},
		"a changed value is only reported": {v1alpha1.DriftPolicyReport, new("bronze"), "Ready=False/KeyValueConflict", map[string]string{"k": "bronze"}, nil, nil},
		"a new value replaces what is reported": {
			v1alpha1.DriftPolicyReport, new("bronze"), "Ready=False/KeyValueConflict", map[string]string{"k": "bronze"},
			withKeys(keyed("k"), valued("silver")), map[string]string{"k": "silver"},
		},
		"any other edit restores it": {
			v1alpha1.DriftPolicySuspend, nil, "Ready=False/KeyValueConflict", nil,
			domains("alpha.example.com", "www-alpha.example.com"), map[string]string{"k": "gold"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := storeWorld(t)
			ready(t, w, "alpha", withKeys(keyed("k")), func(o *v1alpha1.DistributionTenant) { o.Spec.DriftPolicy = tt.policy })
			w.Sim.SetKeyValue(storeARN, "k", tt.value)
			w.Advance(12 * time.Minute)
			is(t, w, "alpha", tt.ready)
			stored(t, w, tt.left)
			if tt.policy == v1alpha1.DriftPolicyReport {
				is(t, w, "alpha", "Synced=False/DriftDetected")
			} else if tt.policy == v1alpha1.DriftPolicyEnforce && !strings.Contains(strings.Join(w.Reasons("alpha"), " "), "DriftCorrected") {
				t.Errorf("events: %v", w.Reasons("alpha"))
			}
			if tt.edit == nil {
				return
			}
			w.Edit("alpha", tt.edit)
			w.Advance(settle)
			is(t, w, "alpha", readyTrue, syncedTrue)
			stored(t, w, tt.then)
			w.Sim.SetKeyValue(storeARN, "k", new("copper"))
			w.Advance(12 * time.Minute)
			stored(t, w, map[string]string{"k": "copper"})
		})
	}
}

// A store that can't be used says so, and the tenant continues when it can.
func TestStoresThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		seed   sim.SeedKeyValueStore
		arn    string
		reason string
	}{
		"a store that does not exist": {sim.SeedKeyValueStore{ARN: otherStoreARN}, otherStoreARN[:len(otherStoreARN)-1], "Ready=False/InvalidSpec"},
		"a store that is not ready":   {sim.SeedKeyValueStore{ARN: otherStoreARN, Status: "PROVISIONING"}, otherStoreARN, "Ready=False/KeyValuesPending"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := storeWorld(t)
			if err := w.Sim.Load(sim.Seed{KeyValueStores: []sim.SeedKeyValueStore{tt.seed}}); err != nil {
				t.Fatal(err)
			}
			w.Apply(w.Tenant("alpha", withKeys(func(k *v1alpha1.KeyValues) { k.StoreARN = tt.arn })))
			w.Advance(settle)
			is(t, w, "alpha", tt.reason)
			tenants(t, w)
			if err := w.Sim.Load(sim.Seed{KeyValueStores: []sim.SeedKeyValueStore{{ARN: tt.arn}}}); err != nil {
				t.Fatal(err)
			}
			w.Advance(20 * time.Minute)
			is(t, w, "alpha", readyTrue)
		})
	}
}

// Another store gets the keys before the first one loses them, and a store that is gone keeps no object.
func TestKeysMoveToAnotherStore(t *testing.T) {
	t.Parallel()
	w := storeWorld(t)
	ready(t, w, "alpha", withKeys(keyed("k")))
	w.Edit("alpha", withKeys(keyed("k"), func(k *v1alpha1.KeyValues) { k.StoreARN = otherStoreARN }))
	w.Advance(settle)
	is(t, w, "alpha", readyTrue)
	stored(t, w, nil)
	if d := cmp.Diff(map[string]string{"k": "gold"}, w.Sim.KeyValues(otherStoreARN)); d != "" {
		t.Errorf("the other store (-want +got):\n%s", d)
	}
	w.Sim.DeleteKeyValueStore(otherStoreARN)
	w.Delete("alpha")
	w.Advance(20 * time.Minute)
	gone(t, w, "alpha")
}

// A process may end at each of its writes: the store has what the spec says in the end, and nothing after the deletion.
func TestACrashBetweenIntentAndKeys(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		for n := 1; n <= 14; n++ {
			t.Run(fmt.Sprintf("write %d, after %v", n, after), func(t *testing.T) {
				t.Parallel()
				w := storeWorld(t)
				w.CrashAt(n, after)
				w.Apply(w.Tenant("alpha", withKeys(keyed("k"))))
				w.Advance(settle)
				w.Edit("alpha", func(o *v1alpha1.DistributionTenant) { o.Spec.KeyValues.Value = "silver" })
				w.Advance(settle)
				is(t, w, "alpha", readyTrue)
				stored(t, w, map[string]string{"k": "silver"})
				w.Delete("alpha")
				w.Advance(2 * settle)
				gone(t, w, "alpha")
				stored(t, w, nil)
			})
		}
	}
}

// After a restart, an object that may take keys over gets none of an object that had no pass yet.
func TestARestartGivesNoKeyAway(t *testing.T) {
	t.Parallel()
	w := storeWorld(t)
	ready(t, w, "beta", withKeys(keyed("shared")))
	w.Apply(w.Tenant("alpha", withKeys(keyed("shared"), valued("silver"), func(k *v1alpha1.KeyValues) { k.Takeover = true })))
	w.Advance(settle)
	w.Restart()
	w.Advance(settle)
	is(t, w, "alpha", "Ready=False/KeyValueConflict")
	is(t, w, "beta", readyTrue)
	stored(t, w, map[string]string{"shared": "gold"})
}
