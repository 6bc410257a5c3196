package distributiontenant_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// tenants draws from so few values that two of them often agree.
func tenants() *rapid.Generator[distributiontenant.Tenant] {
	return rapid.Custom(func(t *rapid.T) distributiontenant.Tenant {
		domain := rapid.SampledFrom([]string{"a.example.com", "B.example.com", "b.example.com.", "*.example.org", "c.example.com"})
		words := rapid.SampledFrom([]string{"x", "y"})
		out := distributiontenant.Tenant{
			Name: "alpha", DistributionID: rapid.SampledFrom([]string{"E1", "E2"}).Draw(t, "distribution"),
			ConnectionGroupID: rapid.SampledFrom([]string{"", "cg_1", "cg_2"}).Draw(t, "group"),
			Enabled:           rapid.Bool().Draw(t, "enabled"),
			Domains:           rapid.SliceOfN(domain, 0, 4).Draw(t, "domains"),
			Parameters:        rapid.MapOfN(rapid.SampledFrom([]string{"tier", "origin"}), words, 0, 2).Draw(t, "parameters"),
		}
		out.Customizations = distributiontenant.Customizations{
			WebACL:         distributiontenant.WebACL{Action: rapid.SampledFrom([]string{"", "disable", "override"}).Draw(t, "acl")},
			CertificateARN: rapid.SampledFrom([]string{"", ownARN}).Draw(t, "certificate"),
			Geo:            distributiontenant.Geo{Type: rapid.SampledFrom([]string{"", "none", "whitelist"}).Draw(t, "geo")},
		}
		if out.Customizations.WebACL.Action == "override" {
			out.Customizations.WebACL.ARN = "arn:acl"
		}
		if out.Customizations.Geo.Type == "whitelist" {
			out.Customizations.Geo.Locations = rapid.SliceOfN(rapid.SampledFrom([]string{"AT", "ch", "CH", "de"}), 1, 4).Draw(t, "locations")
		}
		return out
	})
}

func TestNormalizeIsIdempotentAndPure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := tenants().Draw(t, "tenant")
		before := slices.Clone(raw.Domains)
		once := raw.Normalize()
		if d := cmp.Diff(once, once.Normalize()); d != "" {
			t.Fatalf("normalising twice (-once +twice):\n%s", d)
		}
		if d := cmp.Diff(before, raw.Domains); d != "" {
			t.Fatalf("the original was changed:\n%s", d)
		}
	})
}

func TestDiffOfEqualIsEmpty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := tenants().Draw(t, "tenant").Normalize()
		if diff := distributiontenant.Diff(a, a); len(diff) > 0 {
			t.Fatalf("a tenant differs from itself: %v", diff)
		}
	})
}

func TestApplyingTheDesiredLeavesNoDiff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		desired, observed := tenants().Draw(t, "desired").Normalize(), tenants().Draw(t, "observed").Normalize()
		before := distributiontenant.Diff(desired, observed)
		// This is what an update does: it sends all blocks whole, except for a group that was not chosen.
		applied := desired
		if applied.ConnectionGroupID == "" {
			applied.ConnectionGroupID = observed.ConnectionGroupID
		}
		if after := distributiontenant.Diff(desired, applied.Normalize()); len(after) > 0 {
			t.Fatalf("after the update %v, before it %v", after, before)
		}
	})
}

func TestDiffIgnoresOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		desired, observed := tenants().Draw(t, "desired"), tenants().Draw(t, "observed")
		shuffled := observed
		shuffled.Domains = rapid.Permutation(observed.Domains).Draw(t, "shuffled domains")
		shuffled.Customizations.Geo.Locations = rapid.Permutation(observed.Customizations.Geo.Locations).Draw(t, "shuffled locations")
		want, got := distributiontenant.Diff(desired.Normalize(), observed.Normalize()), distributiontenant.Diff(desired.Normalize(), shuffled.Normalize())
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("the order mattered:\n%s", d)
		}
		if !slices.IsSortedFunc(got, func(a, b resource.Difference) int { return fieldOrder(a.Field) - fieldOrder(b.Field) }) {
			t.Fatalf("the fields are not in the order of the spec: %s", resource.SomeFields(got))
		}
	})
}

func fieldOrder(field string) int {
	for i, prefix := range []string{"distributionId", "domains", "enabled", "connectionGroupId", "parameters", "customizations.webAcl", "customizations.certificate", "customizations.geo"} {
		if strings.HasPrefix(field, prefix) {
			return i
		}
	}
	return -1
}

// Every field that an update sends is compared, with both values as text.
func TestDiffNamesEveryField(t *testing.T) {
	a := distributiontenant.Tenant{
		Name: "alpha", DistributionID: "E1", ConnectionGroupID: "cg_1", Enabled: true, Domains: []string{"a.example.com"},
		Parameters: map[string]string{"tier": "x", "origin": "o"},
		Customizations: distributiontenant.Customizations{
			WebACL: distributiontenant.WebACL{Action: "override", ARN: "arn:acl"}, CertificateARN: ownARN, Geo: distributiontenant.Geo{Type: "whitelist", Locations: []string{"AT", "CH"}},
		},
	}
	want := []resource.Difference{
		{Field: "distributionId", Desired: "E1"},
		{Field: "domains", Desired: "a.example.com"},
		{Field: "enabled", Desired: "true", Observed: "false"},
		{Field: "connectionGroupId", Desired: "cg_1"},
		{Field: "parameters[origin]", Desired: "o"},
		{Field: "parameters[tier]", Desired: "x"},
		{Field: "customizations.webAcl", Desired: "override arn:acl"},
		{Field: "customizations.certificate.arn", Desired: ownARN},
		{Field: "customizations.geoRestrictions", Desired: "whitelist AT,CH"},
	}
	if d := cmp.Diff(want, distributiontenant.Diff(a.Normalize(), distributiontenant.Tenant{}.Normalize())); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func tagMaps() *rapid.Generator[map[string]string] {
	keys := rapid.SampledFrom([]string{"team", "cost", "aws:created", ownership.UIDKey, ownership.Prefix + "later"})
	return rapid.MapOfN(keys, rapid.SampledFrom([]string{"x", "y"}), 0, 4)
}

func TestTagChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want, have := tagMaps().Draw(t, "want"), tagMaps().Draw(t, "have")
		applied := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"team", "cost", ownership.UIDKey, "gone"}), rapid.ID[string]).Draw(t, "applied")
		change := resource.DiffTags(want, have, applied)

		for _, k := range change.Remove {
			if !slices.Contains(applied, k) {
				t.Fatalf("tag %s is removed although we never set it", k)
			}
			if strings.HasPrefix(k, ownership.Prefix) {
				t.Fatalf("owner tag %s is removed as if it were a user's", k)
			}
		}
		after := maps.Clone(have)
		maps.Copy(after, change.Set)
		for _, k := range change.Remove {
			delete(after, k)
		}
		if again := resource.DiffTags(want, after, applied); !again.Empty() {
			t.Fatalf("after the change there is another: %+v", again)
		}
		for k, v := range have {
			_, wanted := want[k]
			if !wanted && !slices.Contains(applied, k) && after[k] != v {
				t.Fatalf("the foreign tag %s was changed", k)
			}
		}
	})
}
