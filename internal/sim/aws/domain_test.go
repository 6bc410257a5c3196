package aws_test

import (
	"fmt"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

func TestVerifyDNSConfiguration(t *testing.T) {
	sim := newSim(t)
	ctx, c := t.Context(), client(sim)
	mustCreate(t, sim, "acme", func(in *createInput) {
		in.Domains = domains("acme.example.com", "live.customer.org")
		in.ManagedCertificateRequest = &types.ManagedCertificateRequest{ValidationTokenHost: "cloudfront"}
	})
	verify := func(domain *string) map[string]string {
		out, err := c.VerifyDnsConfiguration(ctx, &cloudfront.VerifyDnsConfigurationInput{Identifier: sdk.String("acme"), Domain: domain})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, d := range out.DnsConfigurationList {
			got[*d.Domain] = string(d.Status)
		}
		return got
	}
	if diff := cmp.Diff(map[string]string{"acme.example.com": "invalid-configuration", "live.customer.org": "valid-configuration"}, verify(nil)); diff != "" {
		t.Errorf("all domains (-want +got):\n%s", diff)
	}
	sim.SetResolving(true, "acme.example.com")
	if diff := cmp.Diff(map[string]string{"acme.example.com": "valid-configuration"}, verify(sdk.String("acme.example.com"))); diff != "" {
		t.Errorf("one domain, after its record appeared (-want +got):\n%s", diff)
	}
	_, err := c.VerifyDnsConfiguration(ctx, &cloudfront.VerifyDnsConfigurationInput{Identifier: sdk.String("acme"), Domain: sdk.String("other.example.com")})
	wantRefusal(t, err, 400, "InvalidArgument")
	_, err = c.VerifyDnsConfiguration(ctx, &cloudfront.VerifyDnsConfigurationInput{Identifier: sdk.String("nobody")})
	wantRefusal(t, err, 404, "EntityNotFound")
}

func TestOwnershipFollowsDNS(t *testing.T) {
	sim := newSim(t)
	in := tenantInput("acme", func(in *createInput) {
		in.Domains = domains("new.customer.org")
		in.ManagedCertificateRequest = &types.ManagedCertificateRequest{ValidationTokenHost: "cloudfront"}
	})
	_, err := client(sim).CreateDistributionTenant(t.Context(), in)
	wantRefusal(t, err, 400, "InvalidArgument")
	sim.SetResolving(true, "new.customer.org")
	if _, err := client(sim).CreateDistributionTenant(t.Context(), in); err != nil {
		t.Errorf("the record is public now and the create is still refused: %v", err)
	}
}

// TestDNSOfAnotherDistribution refuses a new domain that leads to a standard distribution, as far as CloudFront can tell.
func TestDNSOfAnotherDistribution(t *testing.T) {
	for name, tc := range map[string]struct {
		mode, account string
		record        string
		challenge     bool
		refused       bool
	}{
		"a CNAME":                             {mode: "direct", record: "CNAME", refused: true},
		"to a distribution of others":         {mode: "direct", account: foreignAcct, record: "CNAME", refused: true},
		"an alias with its challenge":         {mode: "direct", record: "A", challenge: true, refused: true},
		"an alias alone tells nothing":        {mode: "direct", record: "A"},
		"a multi-tenant one serves no domain": {mode: "tenant-only", record: "CNAME"},
	} {
		t.Run(name, func(t *testing.T) {
			sim := newSim(t)
			if err := sim.Load(aws.Seed{Distributions: []aws.SeedDistribution{{ID: "E2OLD", Account: tc.account, ConnectionMode: tc.mode}}}); err != nil {
				t.Fatal(err)
			}
			endpoint := ""
			for _, a := range sim.State().Accounts {
				for _, d := range a.Distributions {
					if d.ID == "E2OLD" {
						endpoint = d.DomainName
					}
				}
			}
			leads := aws.SeedRecord{Name: "acme.example.com", Type: tc.record, AliasTarget: endpoint}
			if tc.record == "CNAME" {
				leads = aws.SeedRecord{Name: "acme.example.com", Type: tc.record, Values: []string{endpoint}}
			}
			zone := aws.SeedHostedZone{Name: "example.com", Records: []aws.SeedRecord{leads}}
			if tc.challenge {
				zone.Records = append(zone.Records, aws.SeedRecord{Name: "_cf-challenge.acme.example.com", Type: "TXT", Values: []string{`"` + endpoint + `"`}})
			}
			if err := sim.Load(aws.Seed{HostedZones: []aws.SeedHostedZone{zone}}); err != nil {
				t.Fatal(err)
			}
			_, err := client(sim).CreateDistributionTenant(t.Context(), tenantInput("acme"))
			if !tc.refused && err == nil {
				return
			}
			wantRefusal(t, err, 409, "CNAMEAlreadyExists")
			if !strings.Contains(err.Error(), "points to another CloudFront distribution ("+endpoint+")") {
				t.Errorf("the refusal does not say where DNS points: %v", err)
			}
		})
	}
}

func TestUpdateDomainAssociation(t *testing.T) {
	move := func(sim *aws.Sim, domain, target, etag string) (*cloudfront.UpdateDomainAssociationOutput, error) {
		in := &cloudfront.UpdateDomainAssociationInput{Domain: &domain, TargetResource: &types.DistributionResourceId{DistributionTenantId: &target}}
		if etag != "" {
			in.IfMatch = &etag
		}
		return client(sim).UpdateDomainAssociation(t.Context(), in)
	}
	t.Run("moves a domain between tenants of an account", func(t *testing.T) {
		sim := newSim(t)
		source, _ := mustCreate(t, sim, "source", func(in *createInput) { in.Domains = domains("a.example.com", "b.example.com") })
		target, etag := mustCreate(t, sim, "target")
		out, err := move(sim, "a.example.com", *target.Id, etag)
		if err != nil {
			t.Fatal(err)
		}
		after := get(t, sim, "target")
		if *out.ETag != *after.ETag || *out.ETag == etag || *out.ResourceId != *target.Id || *out.Domain != "a.example.com" {
			t.Errorf("answer %+v, ETag of the target is %s", out, *after.ETag)
		}
		got := map[string]map[string]string{}
		for _, name := range []string{"source", "target"} {
			state, _ := sim.Tenant("", name)
			got[name] = state.Domains
		}
		want := map[string]map[string]string{
			"source": {"b.example.com": "active"}, "target": {"target.example.com": "active", "a.example.com": "active"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("domains (-want +got):\n%s", diff)
		}
		byDomain, err := client(sim).GetDistributionTenantByDomain(t.Context(), &cloudfront.GetDistributionTenantByDomainInput{Domain: sdk.String("a.example.com")})
		if err != nil || *byDomain.DistributionTenant.Id != *target.Id {
			t.Errorf("by domain: %v, %v", byDomain, err)
		}
		_ = source
	})
	t.Run("moves an alias off a distribution", func(t *testing.T) {
		sim := newSim(t)
		target, _ := mustCreate(t, sim, "target")
		if _, err := move(sim, "www.example.com", *target.Id, ""); err != nil {
			t.Fatal(err)
		}
		config := must[*cloudfront.GetDistributionConfigOutput](t)(client(sim).GetDistributionConfig(t.Context(), &cloudfront.GetDistributionConfigInput{Id: sdk.String(plain)}))
		if got := sdk.ToInt32(config.DistributionConfig.Aliases.Quantity); got != 0 {
			t.Errorf("the distribution still has %d aliases", got)
		}
	})
	t.Run("moves an alias off an enabled distribution unless the switch wants it disabled", func(t *testing.T) {
		sim := newSim(t)
		sim.ChangeSwitches(func(sw *aws.Switches) { sw.MoveNeedsDisabledSource = true })
		target, etag := mustCreate(t, sim, "target")
		_, err := move(sim, "www.example.com", *target.Id, etag)
		wantRefusal(t, err, 400, "IllegalUpdate")
		if got := sim.State().Accounts[0].Distributions[2].Aliases; len(got) != 1 || *get(t, sim, "target").ETag != etag {
			t.Errorf("a refused move changed something: the distribution has %v", got)
		}
	})
	t.Run("refuses an alias that no certificate of the target covers", func(t *testing.T) {
		sim := newSim(t, func(o *aws.Options) {
			o.Seed.Distributions = append(o.Seed.Distributions, aws.SeedDistribution{
				ID: "E2SHOP", ConnectionMode: "direct", CertificateARN: certARN(2), Aliases: []string{"shop.customer.test"},
			})
		})
		target, _ := mustCreate(t, sim, "target")
		_, err := move(sim, "shop.customer.test", *target.Id, "")
		wantRefusal(t, err, 400, "InvalidArgument")
	})
	t.Run("moves a domain onto a distribution", func(t *testing.T) {
		sim := newSim(t)
		mustCreate(t, sim, "source", func(in *createInput) { in.Domains = domains("a.example.com", "b.example.com") })
		_, err := client(sim).UpdateDomainAssociation(t.Context(), &cloudfront.UpdateDomainAssociationInput{
			Domain: sdk.String("a.example.com"), TargetResource: &types.DistributionResourceId{DistributionId: sdk.String(plain)},
		})
		if err != nil {
			t.Fatal(err)
		}
		state := sim.State().Accounts[0].Distributions[2]
		if diff := cmp.Diff([]string{"www.example.com", "a.example.com"}, state.Aliases); diff != "" {
			t.Errorf("aliases (-want +got):\n%s", diff)
		}
	})
	t.Run("takes a domain of another account with a TXT proof once its holder is disabled", func(t *testing.T) {
		sim := newSim(t)
		target, _ := mustCreate(t, sim, "target")
		_, err := move(sim, "taken.example.com", *target.Id, "")
		wantRefusal(t, err, 400, "IllegalUpdate")
		foreign := cloudFrontClient(sim, foreignKey)
		holder := must[*cloudfront.GetDistributionTenantOutput](t)(foreign.GetDistributionTenant(t.Context(), &cloudfront.GetDistributionTenantInput{Identifier: sdk.String("foreign")}))
		if _, err := foreign.UpdateDistributionTenant(t.Context(), &cloudfront.UpdateDistributionTenantInput{Id: holder.DistributionTenant.Id, IfMatch: holder.ETag, Enabled: sdk.Bool(false)}); err != nil {
			t.Fatal(err)
		}
		_, err = move(sim, "taken.example.com", *target.Id, "")
		wantRefusal(t, err, 400, "InvalidArgument")
		sim.SetResolving(true, "_taken.example.com")
		if _, err := move(sim, "taken.example.com", *target.Id, ""); err != nil {
			t.Error(err)
		}
	})
	sim := newSim(t)
	target, etag := mustCreate(t, sim, "target")
	mustCreate(t, sim, "source", func(in *createInput) {
		in.Domains = domains("shop.customer.test")
		in.Customizations = &types.Customizations{Certificate: &types.Certificate{Arn: sdk.String(certARN(2))}}
	})
	for name, tc := range map[string]struct {
		domain, target, etag string
		status               int
		code                 string
	}{
		"a domain that no tenant has":            {"none.example.com", *target.Id, etag, 404, "EntityNotFound"},
		"a target that does not exist":           {"shop.customer.test", "dt_none", etag, 404, "EntityNotFound"},
		"a target without a fitting certificate": {"shop.customer.test", *target.Id, etag, 400, "InvalidArgument"},
		"a stale ETag of the target":             {"shop.customer.test", *target.Id, "ESTALE", 412, "PreconditionFailed"},
		"a malformed ETag":                       {"shop.customer.test", *target.Id, "x", 400, "InvalidIfMatchVersion"},
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			_, err := move(sim, tc.domain, tc.target, tc.etag)
			wantRefusal(t, err, tc.status, tc.code)
		})
	}
	for name, resource := range map[string]*types.DistributionResourceId{
		"neither target":              {},
		"both targets":                {DistributionId: sdk.String(plain), DistributionTenantId: target.Id},
		"a multi-tenant distribution": {DistributionId: sdk.String(multiTenant)},
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			_, err := client(sim).UpdateDomainAssociation(t.Context(), &cloudfront.UpdateDomainAssociationInput{Domain: sdk.String("shop.customer.test"), TargetResource: resource})
			wantRefusal(t, err, 400, "InvalidArgument")
		})
	}
}

func TestListDomainConflicts(t *testing.T) {
	sim := newSim(t, func(o *aws.Options) { o.PageSize = 2 })
	ctx, c := t.Context(), client(sim)
	for i := range 3 {
		mustCreate(t, sim, fmt.Sprintf("tenant-%d", i))
	}
	wild, _ := mustCreate(t, sim, "wild", func(in *createInput) { in.Domains = domains("*.example.com") })
	prove, _ := mustCreate(t, sim, "prove", func(in *createInput) { in.Domains = domains("prove.example.com") })
	conflicts := func(domain string) []string {
		var got []string
		pages := cloudfront.NewListDomainConflictsPaginator(c, &cloudfront.ListDomainConflictsInput{
			Domain: &domain, DomainControlValidationResource: &types.DistributionResourceId{DistributionTenantId: prove.Id},
		})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range page.DomainConflicts {
				got = append(got, strings.Join([]string{*d.Domain, string(d.ResourceType), *d.ResourceId, *d.AccountId}, " "))
			}
		}
		return got
	}
	t.Run("a name conflicts with itself and the wildcard above it", func(t *testing.T) {
		want := []string{
			"taken.example.com distribution-tenant ****oreign ******887777", // another account's, masked
			"*.example.com distribution-tenant " + *wild.Id + " 111122223333",
		}
		if diff := cmp.Diff(want, conflicts("taken.example.com")); diff != "" {
			t.Errorf("conflicts (-want +got):\n%s", diff)
		}
	})
	t.Run("a wildcard conflicts with everything it covers, page by page", func(t *testing.T) {
		var names []string
		for _, line := range conflicts("*.example.com") {
			names = append(names, strings.Fields(line)[0])
		}
		want := []string{"*.example.com", "taken.example.com", "tenant-0.example.com", "tenant-1.example.com", "tenant-2.example.com", "www.example.com"}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("conflicts (-want +got):\n%s", diff)
		}
	})
	t.Run("a free name has none but the wildcard", func(t *testing.T) {
		if got := conflicts("free.example.com"); len(got) != 1 {
			t.Errorf("conflicts: %v", got)
		}
	})
	for name, in := range map[string]*cloudfront.ListDomainConflictsInput{
		"a proof without a fitting certificate": {Domain: sdk.String("a.customer.org"), DomainControlValidationResource: &types.DistributionResourceId{DistributionTenantId: prove.Id}},
		"no proof":                              {Domain: sdk.String("a.example.com"), DomainControlValidationResource: &types.DistributionResourceId{}},
		"something that is no domain":           {Domain: sdk.String("A"), DomainControlValidationResource: &types.DistributionResourceId{DistributionTenantId: prove.Id}},
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			_, err := c.ListDomainConflicts(ctx, in)
			wantRefusal(t, err, 400, "InvalidArgument")
		})
	}
}
