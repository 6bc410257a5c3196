package crash_test

import (
	"maps"
	"net/http"
	"strings"

	gocmp "github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// oracleKeys wants a store to have what the objects ask for, before their tenants are created, and nothing else of ours.
const oracleKeys = "keys"

const keyStore = "arn:aws:cloudfront::111122223333:key-value-store/crash"

// theirKeys are those of other people. One has the value that the object asks for, and one lies between its keys.
func theirKeys() map[string]string {
	return map[string]string{"acme.example.com.theirs": "gold", "default": `{"tier":"free"}`, "zzz": "last"}
}

func withStore(seed *sim.Seed) {
	seed.KeyValueStores = append(seed.KeyValueStores, sim.SeedKeyValueStore{ARN: keyStore, Values: theirKeys()})
}

func valued(value string) func(*tenantObject) {
	return func(o *tenantObject) { o.Spec.KeyValues = &v1alpha1.KeyValues{StoreARN: keyStore, Value: value} }
}

// keyLifecycles are those in which functions read something for tenants.
func keyLifecycles() []*lifecycle {
	return []*lifecycle{{
		name: "keys", about: "A tenant has a key for each of its domains. Its value and its domains change, and it is deleted.", keyed: true, seed: withStore,
		steps: []step{
			{makes(valued("gold")), ready},
			{edits(func(o *tenantObject) {
				valued("silver")(o)
				setDomains(o, "acme.example.com", "new.example.com")
			}), ready},
			{edits(func(o *tenantObject) { setDomains(o, "new.example.com") }), ready},
			{deletes, gone},
		},
	}}
}

// keyMutations are mistakes about keys.
func keyMutations() []mutation {
	return []mutation{{
		name:         "keys are forgotten with the tenant",
		replacements: []replacement{{tenantRules, "keysDeleted", passes, nil}},
		cases:        []string{"reference/keys/undisturbed"},
		oracles:      []string{oracleKeys},
	}, {
		name:         "the tenant does not wait for its keys",
		replacements: []replacement{{tenantRules, "keysWritten", passes, nil}},
		cases:        []string{"reference/keys/undisturbed"},
		oracles:      []string{oracleKeys},
	}}
}

// storeOperation knows an operation of the data of key value stores by its path.
func storeOperation(r *http.Request) string {
	switch keys := strings.HasSuffix(r.URL.Path, "/keys"); {
	case keys && r.Method == http.MethodPost:
		return "UpdateKeys"
	case keys:
		return "ListKeys"
	}
	return "DescribeKeyValueStore"
}

// checkKeysFirst wants a tenant's keys to be there when it is created.
func (s *stage) checkKeysFirst(c call) {
	if !s.lifecycle.keyed || c.operation != "CreateDistributionTenant" {
		return
	}
	if value := s.sim.KeyValues(keyStore)["acme.example.com"]; value == "" {
		s.violate(oracleKeys, "the tenant is created before its key")
	}
}

// checkKeys compares the store with what the objects ask for.
func (s *stage) checkKeys() {
	if !s.lifecycle.keyed {
		return
	}
	want := theirKeys()
	for _, o := range s.objects() {
		for _, d := range o.Spec.Domains {
			want[d.Domain] = o.Spec.KeyValues.Value
		}
	}
	got := s.sim.KeyValues(keyStore)
	for name, value := range theirKeys() {
		if got[name] != value {
			s.violate(oracleForeign, "the key %s of other people has %q, and had %q", name, got[name], value)
		}
	}
	if d := gocmp.Diff(want, maps.Clone(got)); d != "" {
		s.violate(oracleKeys, "the store differs from what the objects ask for (-want +got):\n%s", d)
	}
}
