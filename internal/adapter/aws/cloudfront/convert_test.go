package cloudfront

import (
	"maps"
	"slices"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

func genTenant() *rapid.Generator[distributiontenant.Tenant] {
	return rapid.Custom(func(t *rapid.T) distributiontenant.Tenant {
		domain := rapid.StringMatching(`(\*\.)?[a-zA-Z]{1,5}\.example\.com\.?`)
		c := distributiontenant.Customizations{
			WebACL: rapid.SampledFrom([]distributiontenant.WebACL{
				{}, {Action: "disable"}, {Action: "override", ARN: "arn:aws:wafv2:us-east-1:1:global/webacl/a/b"},
			}).Draw(t, "web ACL"),
			CertificateARN: rapid.SampledFrom([]string{"", "arn:aws:acm:us-east-1:1:certificate/a"}).Draw(t, "certificate"),
		}
		if kind := rapid.SampledFrom([]string{"", "none", "whitelist"}).Draw(t, "geo"); kind != "" {
			c.Geo = distributiontenant.Geo{Type: kind}
			if kind != "none" {
				c.Geo.Locations = rapid.SliceOfN(rapid.StringMatching(`[a-zA-Z]{2}`), 1, 5).Draw(t, "locations")
			}
		}
		return distributiontenant.Tenant{
			Name:              rapid.StringMatching(`[a-z][a-z0-9.-]{1,10}[a-z]`).Draw(t, "name"),
			DistributionID:    rapid.StringMatching(`E[A-Z0-9]{5}`).Draw(t, "distribution"),
			ConnectionGroupID: rapid.SampledFrom([]string{"", "cg_a"}).Draw(t, "group"),
			Enabled:           rapid.Bool().Draw(t, "enabled"),
			Domains:           rapid.SliceOfN(domain, 0, 5).Draw(t, "domains"),
			Parameters:        rapid.MapOfN(rapid.StringMatching(`[a-z]{1,4}`), rapid.String(), 0, 4).Draw(t, "parameters"),
			Customizations:    c,
		}
	})
}

// answered is what CloudFront shows after it took a tenant's blocks as they were sent.
func answered(t distributiontenant.Tenant) *types.DistributionTenant {
	out := &types.DistributionTenant{
		Id: awssdk.String("dt_1"), Arn: awssdk.String("arn:tenant"), Name: awssdk.String(t.Name),
		DistributionId: awssdk.String(t.DistributionID), ConnectionGroupId: optional(t.ConnectionGroupID),
		Enabled: awssdk.Bool(t.Enabled), Parameters: wireParameters(t.Parameters),
		Customizations: wireCustomizations(t.Customizations),
	}
	for _, d := range wireDomains(t.Domains) {
		out.Domains = append(out.Domains, types.DomainResult{Domain: d.Domain, Status: types.DomainStatusActive})
	}
	return out
}

// merged is what CloudFront makes of a tenant by an update: what is not in it stays.
func merged(seen distributiontenant.Tenant, in sdk.UpdateDistributionTenantInput) distributiontenant.Tenant {
	out := seen
	if in.DistributionId != nil {
		out.DistributionID = *in.DistributionId
	}
	if in.ConnectionGroupId != nil {
		out.ConnectionGroupID = *in.ConnectionGroupId
	}
	if in.Enabled != nil {
		out.Enabled = *in.Enabled
	}
	if in.Domains != nil {
		out.Domains = nil
		for _, d := range in.Domains {
			out.Domains = append(out.Domains, *d.Domain)
		}
	}
	if in.Parameters != nil {
		out.Parameters = parameters(in.Parameters)
	}
	if in.Customizations != nil {
		out.Customizations = customizations(in.Customizations)
	}
	return out
}

// Whatever differs arrives, and whatever is equal is not sent. An empty block has something to remove.
func TestUpdatesHaveWhatDiffers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seen, want := genTenant().Draw(t, "seen").Normalize(), genTenant().Draw(t, "want").Normalize()
		for _, equal := range []func(){
			func() { want.DistributionID = seen.DistributionID }, func() { want.Enabled = seen.Enabled },
			func() { want.Domains = slices.Sorted(slices.Values(seen.Domains)) }, func() { want.Parameters = seen.Parameters },
			func() { want.Customizations = seen.Customizations }, func() { want.ConnectionGroupID = seen.ConnectionGroupID },
		} {
			if rapid.Bool().Draw(t, "something is equal") {
				equal()
			}
		}
		want.Name = seen.Name
		in := wireUpdate(distributiontenant.Observed{ID: "dt_1", ETag: "E1", Tenant: seen}, want, nil)
		got := merged(seen, in).Normalize()
		if diff := distributiontenant.Diff(want, got); len(diff) > 0 {
			t.Fatalf("an update leaves a difference: %+v", diff)
		}
		differs := func(field string) bool {
			return slices.ContainsFunc(distributiontenant.Diff(want, seen), func(d resource.Difference) bool { return strings.HasPrefix(d.Field, field) })
		}
		for field, sent := range map[string]bool{
			"distributionId": in.DistributionId != nil, "enabled": in.Enabled != nil, "domains": in.Domains != nil,
			"customizations": in.Customizations != nil,
		} {
			if sent != differs(field) {
				t.Fatalf("%s is sent: %t, and differs: %t", field, sent, differs(field))
			}
		}
		if sent := in.Parameters != nil; sent == maps.Equal(want.Parameters, seen.Parameters) {
			t.Fatalf("parameters are sent: %t, %v instead of %v", sent, want.Parameters, seen.Parameters)
		}
		rest, _ := withoutEmptyBlocks(in)
		if rest.Parameters != nil && len(rest.Parameters) == 0 || emptyBlock(rest.Customizations) {
			t.Fatalf("an empty block is left: %+v", rest)
		}
	})
}

// A tenant that was sent and is read again is the same tenant: otherwise every sweep would find a difference that no
// correction fixes.
func TestTenantSurvivesTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sent := genTenant().Draw(t, "tenant").Normalize()
		got, err := observed(opGet, answered(sent), awssdk.String("E1"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(sent, got.Tenant); diff != "" {
			t.Fatalf("tenant (-sent +observed):\n%s", diff)
		}
		for _, d := range sent.Domains {
			if got.DomainStates[d] != distributiontenant.DomainActive {
				t.Fatalf("state of %s is %q", d, got.DomainStates[d])
			}
		}
	})
}

func TestSummaryIsATenantWithoutParametersAndTags(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sent := genTenant().Draw(t, "tenant").Normalize()
		full := answered(sent)
		got, err := summarised(opList, types.DistributionTenantSummary{
			Id: full.Id, Arn: full.Arn, Name: full.Name, ETag: awssdk.String("E1"), DistributionId: full.DistributionId,
			ConnectionGroupId: full.ConnectionGroupId, Enabled: full.Enabled, Domains: full.Domains,
			Customizations: full.Customizations, Status: awssdk.String("Deployed"),
		})
		if err != nil {
			t.Fatal(err)
		}
		sent.Parameters = nil
		if diff := cmp.Diff(sent, got.Tenant); diff != "" {
			t.Fatalf("tenant (-sent +observed):\n%s", diff)
		}
		if got.ETag != "E1" || got.Status != distributiontenant.Deployed || got.Tags != nil {
			t.Fatalf("ETag %q, status %q, tags %v", got.ETag, got.Status, got.Tags)
		}
	})
}

func TestTagsSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sent := rapid.MapOfN(rapid.StringN(1, 8, -1), rapid.String(), 1, 6).Draw(t, "tags")
		if diff := cmp.Diff(sent, tags(wireTags(sent))); diff != "" {
			t.Fatalf("tags (-sent +read):\n%s", diff)
		}
	})
}

func TestObservedTags(t *testing.T) {
	tests := []struct {
		name string
		tags *types.Tags
		want map[string]string
	}{
		{"an answer without tags says nothing about them", nil, nil},
		{"an empty element in a tenant says nothing either", &types.Tags{}, nil},
		{"tags that are there count", &types.Tags{Items: []types.Tag{{Key: awssdk.String("a"), Value: awssdk.String("b")}}}, map[string]string{"a": "b"}},
		{"a tag without a value has the empty one", &types.Tags{Items: []types.Tag{{Key: awssdk.String("a")}}}, map[string]string{"a": ""}},
		{"a tag without a key is none", &types.Tags{Items: []types.Tag{{}}}, map[string]string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tenant := answered(distributiontenant.Tenant{Name: "a"})
			tenant.Tags = tt.tags
			got, err := observed(opGet, tenant, awssdk.String("E1"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Tags); diff != "" {
				t.Errorf("tags (-want +got):\n%s", diff)
			}
		})
	}
}

func TestIncompleteTenantsAreNoAnswer(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(*types.DistributionTenant)
		lacks string
	}{
		{"without an id it can't be written", func(d *types.DistributionTenant) { d.Id = nil }, "id"},
		{"without a name it can't be matched", func(d *types.DistributionTenant) { d.Name = nil }, "name"},
		{"without an ARN its owner can't be read", func(d *types.DistributionTenant) { d.Arn = awssdk.String("") }, "ARN"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tenant := answered(distributiontenant.Tenant{Name: "a"})
			tt.spoil(tenant)
			_, err := observed(opGet, tenant, awssdk.String("E1"))
			if !fault.Is(err, fault.Transient) || !strings.HasSuffix(err.Error(), tt.lacks) {
				t.Errorf("error %v, want a transient one that ends in %q", err, tt.lacks)
			}
		})
	}
	if _, err := observed(opGet, answered(distributiontenant.Tenant{Name: "a"}), nil); !fault.Is(err, fault.Transient) {
		t.Errorf("error %v without an ETag, want a transient one", err)
	}
}

func TestNilsInsideAnAnswerAreHarmless(t *testing.T) {
	tenant := answered(distributiontenant.Tenant{Name: "a"})
	tenant.Domains = []types.DomainResult{{}}
	tenant.Parameters = []types.Parameter{{}}
	tenant.Customizations = &types.Customizations{
		Certificate: &types.Certificate{}, WebAcl: &types.WebAclCustomization{},
		GeoRestrictions: &types.GeoRestrictionCustomization{},
	}
	got, err := observed(opGet, tenant, awssdk.String("E1"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(distributiontenant.Tenant{Name: "a"}, got.Tenant); diff != "" {
		t.Errorf("tenant (-want +got):\n%s", diff)
	}
	empty := distributionOf(&types.Distribution{DistributionConfig: &types.DistributionConfig{
		TenantConfig: &types.TenantConfig{ParameterDefinitions: []types.ParameterDefinition{{}}},
	}})
	if diff := cmp.Diff(distributiontenant.Distribution{Parameters: []distributiontenant.ParameterDefinition{{}}}, empty); diff != "" {
		t.Errorf("distribution (-want +got):\n%s", diff)
	}
}
