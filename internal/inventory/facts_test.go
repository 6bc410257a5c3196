package inventory_test

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/inventory"
)

func observations() *rapid.Generator[distributiontenant.Observed] {
	text := rapid.StringMatching(`[a-z]{0,6}`)
	some := rapid.MapOf(text, text)
	return rapid.Custom(func(t *rapid.T) distributiontenant.Observed {
		states := some.Draw(t, "domains")
		id := rapid.StringMatching(`dt_[a-z]{1,9}`).Draw(t, "id")
		return distributiontenant.Observed{
			Tenant: distributiontenant.Tenant{
				Name: text.Draw(t, "name"), DistributionID: text.Draw(t, "distribution"), ConnectionGroupID: text.Draw(t, "group"),
				Enabled: rapid.Bool().Draw(t, "enabled"), Domains: slices.Sorted(maps.Keys(states)), Parameters: some.Draw(t, "parameters"),
				Customizations: distributiontenant.Customizations{
					CertificateARN: text.Draw(t, "certificate"), Geo: distributiontenant.Geo{Type: text.Draw(t, "geo"), Locations: rapid.SliceOf(text).Draw(t, "locations")},
				},
			},
			ID: id, ARN: rapid.SampledFrom([]string{"arn/" + id, "arn/other"}).Draw(t, "arn"), ETag: text.Draw(t, "etag"),
			Status: text.Draw(t, "status"), DomainStates: states,
			Created: time.Unix(rapid.Int64Range(1, 1<<31).Draw(t, "created"), 0), Modified: time.Unix(rapid.Int64Range(1, 1<<31).Draw(t, "modified"), 0),
		}
	})
}

// Facts in their small form come back whole, whatever was remembered before.
func TestFactsComeBackWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, now := observations().Draw(t, "before"), observations().Draw(t, "now")
		if diff := cmp.Diff(now, inventory.Remembered(before, now), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("remembered (-observed +remembered):\n%s", diff)
		}
	})
}

func TestTagsComeBackWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		given := rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "tags")
		if diff := cmp.Diff(given, inventory.RememberedTags(given)); diff != "" {
			t.Errorf("remembered (-given +remembered):\n%s", diff)
		}
	})
}

// perTenant is what a tenant with one domain may take, tags and indexes included.
const perTenant = 1200

func TestMemoryPerTenant(t *testing.T) {
	const fleet = 5000
	r := newRig(t, options{})
	before := heap()
	for n := range fleet {
		r.Learn(tenantOf(n), tagsOf(n))
	}
	if got := (heap() - before) / fleet; got > perTenant {
		t.Errorf("a tenant takes %d bytes, want at most %d", got, perTenant)
	}
	if n := r.Stats().Tenants; n != fleet {
		t.Errorf("%d tenants are known, want %d", n, fleet)
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // text that is not shared any more is collected by the second
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// tenantOf has text of its own, as what was decoded has.
func tenantOf(n int) distributiontenant.Observed {
	id := fmt.Sprintf("dt_%027d", n)
	domain := fmt.Sprintf("tenant-%05d.example.com", n)
	return distributiontenant.Observed{
		Tenant: distributiontenant.Tenant{
			Name: fmt.Sprintf("tenant-%05d", n), DistributionID: fmt.Sprintf("E%dEXAMPLE", n%2), ConnectionGroupID: fmt.Sprintf("cg_%027d", n%2),
			Enabled: true, Domains: []string{domain},
		},
		ID: id, ARN: "arn:aws:cloudfront::111122223333:distribution-tenant/" + id, ETag: fmt.Sprintf("E%013d", n),
		Status: distributiontenant.Deployed, DomainStates: map[string]string{domain: distributiontenant.DomainActive},
	}
}

func tagsOf(n int) map[string]string {
	return map[string]string{
		"cloudfront-tenant-operator.io/cluster": fmt.Sprintf("%036d", 0), "cloudfront-tenant-operator.io/namespace": strings.Clone("fleet"),
		"cloudfront-tenant-operator.io/name": fmt.Sprintf("tenant-%05d", n), "cloudfront-tenant-operator.io/uid": fmt.Sprintf("%036d", n),
	}
}
