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

type createInput = cloudfront.CreateDistributionTenantInput

func domains(names ...string) []types.DomainItem {
	items := []types.DomainItem{}
	for _, name := range names {
		items = append(items, types.DomainItem{Domain: sdk.String(name)})
	}
	return items
}

func params(pairs ...string) []types.Parameter {
	items := []types.Parameter{}
	for i := 0; i < len(pairs); i += 2 {
		items = append(items, types.Parameter{Name: sdk.String(pairs[i]), Value: sdk.String(pairs[i+1])})
	}
	return items
}

func update(t *testing.T, sim *aws.Sim, in *cloudfront.UpdateDistributionTenantInput) *cloudfront.UpdateDistributionTenantOutput {
	t.Helper()
	return must[*cloudfront.UpdateDistributionTenantOutput](t)(client(sim).UpdateDistributionTenant(t.Context(), in))
}

func TestTenantLifecycle(t *testing.T) {
	for name, overSocket := range map[string]bool{"over the round tripper": false, "over a socket": true} {
		t.Run(name, func(t *testing.T) {
			sim := newSim(t)
			c := client(sim)
			if overSocket {
				c, _ = socketClient(t, sim)
			}
			created, err := c.CreateDistributionTenant(t.Context(), tenantInput("acme", func(in *createInput) {
				in.Tags = &types.Tags{Items: []types.Tag{{Key: sdk.String("team"), Value: sdk.String("edge")}}}
			}))
			if err != nil {
				t.Fatalf("creating: %v", err)
			}
			tenant := created.DistributionTenant
			if got := sdk.ToString(tenant.Status); got != "InProgress" {
				t.Errorf("status after create = %q, want InProgress", got)
			}
			if tenant.Tags == nil || len(tenant.Tags.Items) != 1 {
				t.Errorf("create did not echo the tags: %+v", tenant.Tags)
			}
			settle(sim)
			got, err := c.GetDistributionTenant(t.Context(), &cloudfront.GetDistributionTenantInput{Identifier: tenant.Arn})
			if err != nil {
				t.Fatalf("getting: %v", err)
			}
			want := &types.DistributionTenant{
				Id: tenant.Id, Arn: tenant.Arn, Name: sdk.String("acme"), DistributionId: sdk.String(multiTenant),
				Domains:           []types.DomainResult{{Domain: sdk.String("acme.example.com"), Status: types.DomainStatusActive}},
				Parameters:        params("tenantId", "acme"),
				ConnectionGroupId: tenant.ConnectionGroupId, Enabled: sdk.Bool(true), Status: sdk.String("Deployed"),
				CreatedTime: sdk.Time(startTime), LastModifiedTime: sdk.Time(startTime),
			}
			if diff := cmp.Diff(want, got.DistributionTenant, cmpSDK); diff != "" {
				t.Errorf("tenant (-want +got):\n%s", diff)
			}
			updated, err := c.UpdateDistributionTenant(t.Context(), &cloudfront.UpdateDistributionTenantInput{Id: tenant.Id, IfMatch: got.ETag, Enabled: sdk.Bool(false)})
			if err != nil {
				t.Fatalf("disabling: %v", err)
			}
			if sdk.ToString(updated.DistributionTenant.Status) != "InProgress" {
				t.Errorf("disabling did not go through InProgress")
			}
			settle(sim)
			if _, err := c.DeleteDistributionTenant(t.Context(), &cloudfront.DeleteDistributionTenantInput{Id: tenant.Id, IfMatch: updated.ETag}); err != nil {
				t.Fatalf("deleting: %v", err)
			}
			_, err = c.GetDistributionTenant(t.Context(), &cloudfront.GetDistributionTenantInput{Identifier: tenant.Id})
			wantRefusal(t, err, 404, "EntityNotFound")
		})
	}
}

func TestTenantIdentifiers(t *testing.T) {
	sim := newSim(t)
	tenant, etag := mustCreate(t, sim, "acme")
	ctx, c := t.Context(), client(sim)
	for name, identifier := range map[string]*string{"id": tenant.Id, "name": tenant.Name, "ARN": tenant.Arn} {
		t.Run("reads take the "+name, func(t *testing.T) {
			out, err := c.GetDistributionTenant(ctx, &cloudfront.GetDistributionTenantInput{Identifier: identifier})
			if err != nil {
				t.Fatal(err)
			}
			if got := sdk.ToString(out.ETag); got != etag {
				t.Errorf("ETag = %q, want that of the create, %q", got, etag)
			}
			if _, err := c.VerifyDnsConfiguration(ctx, &cloudfront.VerifyDnsConfigurationInput{Identifier: identifier}); err != nil {
				t.Errorf("verifying DNS by %s: %v", name, err)
			}
			_, err = c.GetManagedCertificateDetails(ctx, &cloudfront.GetManagedCertificateDetailsInput{Identifier: identifier})
			wantRefusal(t, err, 404, "EntityNotFound") // it has none, but it is found
		})
	}
	for name, identifier := range map[string]*string{"name": tenant.Name, "ARN": tenant.Arn} {
		t.Run("writes do not take the "+name, func(t *testing.T) {
			_, err := c.UpdateDistributionTenant(ctx, &cloudfront.UpdateDistributionTenantInput{Id: identifier, IfMatch: &etag})
			wantRefusal(t, err, 404, "EntityNotFound")
			_, err = c.DeleteDistributionTenant(ctx, &cloudfront.DeleteDistributionTenantInput{Id: identifier, IfMatch: &etag})
			wantRefusal(t, err, 404, "EntityNotFound")
		})
	}
	t.Run("an ARN of another kind finds nothing", func(t *testing.T) {
		wrong := strings.Replace(*tenant.Arn, "distribution-tenant", "connection-group", 1)
		_, err := c.GetDistributionTenant(ctx, &cloudfront.GetDistributionTenantInput{Identifier: &wrong})
		wantRefusal(t, err, 404, "EntityNotFound")
	})
	t.Run("by domain, exactly", func(t *testing.T) {
		out, err := c.GetDistributionTenantByDomain(ctx, &cloudfront.GetDistributionTenantByDomainInput{Domain: sdk.String("acme.example.com")})
		if err != nil || *out.DistributionTenant.Id != *tenant.Id {
			t.Fatalf("got %v, %v", out, err)
		}
		for _, other := range []string{"other.example.com", "taken.example.com", "www.example.com"} {
			_, err = c.GetDistributionTenantByDomain(ctx, &cloudfront.GetDistributionTenantByDomainInput{Domain: &other})
			wantRefusal(t, err, 404, "EntityNotFound")
		}
	})
}

func TestCreateTenantRefusals(t *testing.T) {
	many := make([]string, 0, 101)
	for i := range 101 {
		many = append(many, fmt.Sprintf("d%d.example.com", i))
	}
	cert := func(arn string) func(*createInput) {
		return func(in *createInput) {
			in.Customizations = &types.Customizations{Certificate: &types.Certificate{Arn: &arn}}
		}
	}
	acl := func(action types.CustomizationActionType, arn string) func(*createInput) {
		return func(in *createInput) {
			in.Customizations = &types.Customizations{WebAcl: &types.WebAclCustomization{Action: action}}
			if arn != "" {
				in.Customizations.WebAcl.Arn = &arn
			}
		}
	}
	geo := func(kind types.GeoRestrictionType, codes ...string) func(*createInput) {
		return func(in *createInput) {
			in.Customizations = &types.Customizations{GeoRestrictions: &types.GeoRestrictionCustomization{RestrictionType: kind, Locations: codes}}
		}
	}
	managed := func(host types.ValidationTokenHost, primary string, names ...string) func(*createInput) {
		return func(in *createInput) {
			in.Domains = domains(names...)
			in.ManagedCertificateRequest = &types.ManagedCertificateRequest{ValidationTokenHost: host}
			if primary != "" {
				in.ManagedCertificateRequest.PrimaryDomainName = &primary
			}
		}
	}
	tags := func(list ...types.Tag) func(*createInput) {
		return func(in *createInput) { in.Tags = &types.Tags{Items: list} }
	}
	tagOf := func(k, v string) types.Tag { return types.Tag{Key: &k, Value: &v} }
	named := func(name string) func(*createInput) { return func(in *createInput) { in.Name = &name } }
	withDomains := func(names ...string) func(*createInput) {
		return func(in *createInput) { in.Domains = domains(names...) }
	}
	withParams := func(pairs ...string) func(*createInput) {
		return func(in *createInput) { in.Parameters = params(pairs...) }
	}
	in := func(distribution string) func(*createInput) {
		return func(in *createInput) { in.DistributionId = &distribution }
	}
	group := func(id string) func(*createInput) { return func(in *createInput) { in.ConnectionGroupId = &id } }
	fifty := make([]types.Tag, 51)
	for i := range fifty {
		fifty[i] = tagOf(fmt.Sprintf("k%d", i), "v")
	}

	for name, tc := range map[string]struct {
		change func(*createInput)
		status int
		code   string
		text   string
	}{
		"a name of two characters is too short":               {named("ab"), 400, "InvalidArgument", "name"},
		"a name of 129 characters is too long":                {named(strings.Repeat("a", 129)), 400, "InvalidArgument", "name"},
		"a name must not begin with a dash":                   {named("-acme"), 400, "InvalidArgument", "name"},
		"a name must not contain an underscore":               {named("ac_me"), 400, "InvalidArgument", "name"},
		"a name is taken once per account":                    {named("first"), 409, "EntityAlreadyExists", "first"},
		"a distribution must exist":                           {in("ENOTHERE1"), 404, "EntityNotFound", "distribution"},
		"a distribution of another account does not exist":    {in("E2FOREIGN"), 404, "EntityNotFound", "distribution"},
		"a standard distribution has no tenants":              {in(plain), 409, "InvalidAssociation", "multi-tenant"},
		"a connection group must exist":                       {group("cg_nothere"), 404, "EntityNotFound", "connection group"},
		"a disabled connection group takes no tenants":        {group("cg_off"), 409, "InvalidAssociation", "disabled"},
		"no domain at all":                                    {withDomains(), 400, "InvalidArgument", "domain"},
		"101 domains":                                         {withDomains(many...), 400, "EntityLimitExceeded", "100"},
		"a domain listed twice":                               {withDomains("a.example.com", "a.example.com"), 400, "InvalidArgument", "twice"},
		"an upper-case domain":                                {withDomains("Acme.example.com"), 400, "InvalidArgument", "not valid"},
		"a domain of one label":                               {withDomains("localhost"), 400, "InvalidArgument", "not valid"},
		"a domain with an empty label":                        {withDomains("a..example.com"), 400, "InvalidArgument", "not valid"},
		"a wildcard in the middle":                            {withDomains("a.*.example.com"), 400, "InvalidArgument", "not valid"},
		"a domain longer than 253 characters":                 {withDomains(strings.Repeat("abcdefg.", 32) + "example.com"), 400, "InvalidArgument", "not valid"},
		"a domain of a tenant of the account":                 {withDomains("first.example.com"), 409, "CNAMEAlreadyExists", "first.example.com"},
		"a domain of a tenant of another account":             {withDomains("taken.example.com"), 409, "CNAMEAlreadyExists", "taken.example.com"},
		"a domain that is an alias of a distribution":         {withDomains("www.example.com"), 409, "CNAMEAlreadyExists", "www.example.com"},
		"a domain no certificate covers":                      {withDomains("shop.customer.org"), 400, "InvalidArgument", "verify Domain Name ownership"},
		"a wildcard covers one label only":                    {withDomains("a.b.example.com"), 400, "InvalidArgument", "verify Domain Name ownership"},
		"a wildcard does not cover the apex":                  {withDomains("example.com"), 400, "InvalidArgument", "verify Domain Name ownership"},
		"a resolving domain without a certificate":            {withDomains("live.customer.org"), 400, "InvalidArgument", "verify Domain Name ownership"},
		"a required parameter is missing":                     {withParams(), 400, "InvalidArgument", "tenantId"},
		"a parameter that is not declared":                    {withParams("tenantId", "x", "color", "red"), 400, "InvalidArgument", "color"},
		"six parameters":                                      {withParams("tenantId", "1", "b", "2", "c", "3", "d", "4", "e", "5", "f", "6"), 400, "InvalidArgument", "5 parameters"},
		"a parameter given twice":                             {withParams("tenantId", "x", "tenantId", "y"), 400, "InvalidArgument", "twice"},
		"an empty parameter value":                            {withParams("tenantId", ""), 400, "InvalidArgument", "1 to 256"},
		"a parameter value of 257 characters":                 {withParams("tenantId", strings.Repeat("x", 257)), 400, "InvalidArgument", "1 to 256"},
		"a parameter name with a space":                       {withParams("tenant id", "x"), 400, "InvalidArgument", "name"},
		"a certificate in another region":                     {cert("arn:aws:acm:eu-west-1:111122223333:certificate/x"), 400, "InvalidArgument", "us-east-1"},
		"a certificate that does not exist":                   {cert("arn:aws:acm:us-east-1:111122223333:certificate/unknown"), 400, "InvalidArgument", "does not exist"},
		"a certificate of another account":                    {cert("arn:aws:acm:us-east-1:999988887777:certificate/foreign"), 400, "InvalidArgument", "does not exist"},
		"a certificate that is pending":                       {cert(certARN(3)), 400, "InvalidArgument", "PENDING_VALIDATION"},
		"a certificate that has expired":                      {cert(certARN(4)), 400, "InvalidArgument", "expired"},
		"something that is no certificate ARN":                {cert("arn:aws:iam::111122223333:server-certificate/x"), 400, "InvalidArgument", "ARN"},
		"a web ACL override without an ARN":                   {acl("override", ""), 400, "InvalidArgument", "ARN"},
		"an unknown web ACL action":                           {acl("allow", ""), 400, "InvalidArgument", "override or disable"},
		"a regional web ACL":                                  {acl("override", "arn:aws:wafv2:eu-west-1:111122223333:regional/webacl/x/y"), 400, "InvalidArgument", "web ACL"},
		"a WAF Classic id":                                    {acl("override", "a1b2c3d4-5678-90ab-cdef-EXAMPLE11111"), 400, "InvalidArgument", "web ACL"},
		"a country in lower case":                             {geo("whitelist", "de"), 400, "InvalidArgument", "country"},
		"a country that does not exist":                       {geo("blacklist", "XX"), 400, "InvalidArgument", "country"},
		"an allow list of no country":                         {geo("whitelist"), 400, "InvalidArgument", "locations"},
		"no restriction but locations":                        {geo("none", "DE"), 400, "InvalidArgument", "none"},
		"an unknown restriction type":                         {geo("maybe", "DE"), 400, "InvalidArgument", "restriction type"},
		"a managed certificate for a wildcard":                {managed("self-hosted", "", "*.customer.org"), 400, "InvalidArgument", "wildcard"},
		"a primary domain that is not a domain of the tenant": {managed("self-hosted", "other.customer.org", "shop.customer.org"), 400, "InvalidArgument", "primary"},
		"an unknown token host":                               {managed("domain", "", "shop.customer.org"), 400, "InvalidArgument", "ValidationTokenHost"},
		"token at CloudFront but DNS leads elsewhere":         {managed("cloudfront", "", "shop.customer.org"), 400, "InvalidArgument", "verify Domain Name ownership"},
		"a tag key in the reserved space":                     {tags(tagOf("aws:x", "1")), 400, "InvalidTagging", "aws:"},
		"a tag key in the reserved space, upper case":         {tags(tagOf("AWS:x", "1")), 400, "InvalidTagging", "reserved"},
		"an empty tag key":                                    {tags(tagOf("", "1")), 400, "InvalidTagging", "128"},
		"a tag key of 129 characters":                         {tags(tagOf(strings.Repeat("k", 129), "1")), 400, "InvalidTagging", "128"},
		"a tag value of 257 characters":                       {tags(tagOf("k", strings.Repeat("v", 257))), 400, "InvalidTagging", "256"},
		"a tag with a character that is not allowed":          {tags(tagOf("k", "a<b")), 400, "InvalidTagging", "characters"},
		"a tag key given twice":                               {tags(tagOf("k", "1"), tagOf("k", "2")), 400, "InvalidTagging", "twice"},
		"51 tags":                                             {tags(fifty...), 400, "InvalidTagging", "50"},
	} {
		t.Run(name, func(t *testing.T) {
			sim := newSim(t)
			mustCreate(t, sim, "first")
			before := sim.State()
			_, err := client(sim).CreateDistributionTenant(t.Context(), tenantInput("acme", tc.change))
			wantRefusal(t, err, tc.status, tc.code)
			if !strings.Contains(err.Error(), tc.text) {
				t.Errorf("message %q does not mention %q", err, tc.text)
			}
			if diff := cmp.Diff(before, sim.State()); diff != "" {
				t.Errorf("a refused create changed the world (-before +after):\n%s", diff)
			}
		})
	}
}

func TestCreateTenantAccepts(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*createInput)
		status types.DomainStatus
	}{
		"a domain the inherited certificate covers is served at once": {func(*createInput) {}, types.DomainStatusActive},
		"a wildcard domain the inherited certificate names": {func(in *createInput) {
			in.Domains = domains("*.example.com")
		}, types.DomainStatusActive},
		"a domain the tenant's own certificate covers": {func(in *createInput) {
			in.Domains = domains("shop.customer.test")
			in.Customizations = &types.Customizations{Certificate: &types.Certificate{Arn: sdk.String(certARN(2))}}
		}, types.DomainStatusActive},
		"a self-hosted request while DNS points elsewhere": {func(in *createInput) {
			in.Domains = domains("shop.customer.org")
			in.ManagedCertificateRequest = &types.ManagedCertificateRequest{ValidationTokenHost: "self-hosted", PrimaryDomainName: sdk.String("shop.customer.org")}
		}, types.DomainStatusInactive},
		"a request with the token at CloudFront once DNS leads there": {func(in *createInput) {
			in.Domains = domains("live.customer.org")
			in.ManagedCertificateRequest = &types.ManagedCertificateRequest{ValidationTokenHost: "cloudfront"}
		}, types.DomainStatusInactive},
		"the same for a name below a resolving wildcard": {func(in *createInput) {
			in.Domains = domains("a.wild.customer.org")
			in.ManagedCertificateRequest = &types.ManagedCertificateRequest{ValidationTokenHost: "cloudfront"}
		}, types.DomainStatusInactive},
		"a disabled tenant": {func(in *createInput) { in.Enabled = sdk.Bool(false) }, types.DomainStatusActive},
		"an optional parameter": {func(in *createInput) {
			in.Parameters = params("tenantId", "acme", "tier", "gold")
		}, types.DomainStatusActive},
		"a web ACL that is disabled": {func(in *createInput) {
			in.Customizations = &types.Customizations{WebAcl: &types.WebAclCustomization{Action: "disable"}}
		}, types.DomainStatusActive},
	} {
		t.Run(name, func(t *testing.T) {
			tenant, _ := mustCreate(t, newSim(t), "acme", tc.change)
			if got := tenant.Domains[0].Status; got != tc.status {
				t.Errorf("domain is %s, want %s", got, tc.status)
			}
		})
	}
}

func TestTenantNamesAndDomainsAreFreeAgainAfterDelete(t *testing.T) {
	sim := newSim(t)
	first, etag := mustCreate(t, sim, "acme", func(in *createInput) { in.Enabled = sdk.Bool(false) })
	settle(sim)
	if _, err := client(sim).DeleteDistributionTenant(t.Context(), &cloudfront.DeleteDistributionTenantInput{Id: first.Id, IfMatch: &etag}); err != nil {
		t.Fatal(err)
	}
	second, _ := mustCreate(t, sim, "acme")
	if *second.Id == *first.Id {
		t.Error("the second tenant of that name has the id of the first")
	}
}

func TestQuotas(t *testing.T) {
	arn := "arn:aws:wafv2:us-east-1:111122223333:global/webacl/x/y"
	withACL := func(in *createInput) {
		in.Customizations = &types.Customizations{WebAcl: &types.WebAclCustomization{Action: "override", Arn: &arn}}
	}
	for name, tc := range map[string]struct {
		quotas aws.Quotas
		change func(*createInput)
	}{
		"tenants":              {aws.Quotas{Tenants: 1}, func(*createInput) {}},
		"domains of a tenant":  {aws.Quotas{DomainsPerTenant: 1}, func(in *createInput) { in.Domains = domains("a.example.com", "b.example.com") }},
		"tenants of a web ACL": {aws.Quotas{WebACLAssociations: 1}, withACL},
	} {
		t.Run(name, func(t *testing.T) {
			sim := newSim(t)
			mustCreate(t, sim, "first", withACL)
			sim.SetQuotas(tc.quotas)
			_, err := client(sim).CreateDistributionTenant(t.Context(), tenantInput("second", tc.change))
			wantRefusal(t, err, 400, "EntityLimitExceeded")
		})
	}
}
