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
		"a parameter nobody declared":                         {withParams("tenantId", "x", "color", "red"), 400, "InvalidArgument", "color"},
		"six parameters":                                      {withParams("tenantId", "1", "b", "2", "c", "3", "d", "4", "e", "5", "f", "6"), 400, "InvalidArgument", "5 parameters"},
		"a parameter given twice":                             {withParams("tenantId", "x", "tenantId", "y"), 400, "InvalidArgument", "twice"},
		"an empty parameter value":                            {withParams("tenantId", ""), 400, "InvalidArgument", "1 to 256"},
		"a parameter value of 257 characters":                 {withParams("tenantId", strings.Repeat("x", 257)), 400, "InvalidArgument", "1 to 256"},
		"a parameter name with a space":                       {withParams("tenant id", "x"), 400, "InvalidArgument", "name"},
		"a certificate in another region":                     {cert("arn:aws:acm:eu-west-1:111122223333:certificate/x"), 400, "InvalidArgument", "us-east-1"},
		"a certificate nobody issued":                         {cert("arn:aws:acm:us-east-1:111122223333:certificate/unknown"), 400, "InvalidArgument", "does not exist"},
		"a certificate of another account":                    {cert("arn:aws:acm:us-east-1:999988887777:certificate/foreign"), 400, "InvalidArgument", "does not exist"},
		"a certificate that is pending":                       {cert(certARN(3)), 400, "InvalidArgument", "PENDING_VALIDATION"},
		"a certificate that has expired":                      {cert(certARN(4)), 400, "InvalidArgument", "expired"},
		"something that is no certificate ARN":                {cert("arn:aws:iam::111122223333:server-certificate/x"), 400, "InvalidArgument", "ARN"},
		"a web ACL override without an ARN":                   {acl("override", ""), 400, "InvalidArgument", "ARN"},
		"a web ACL action nobody knows":                       {acl("allow", ""), 400, "InvalidArgument", "override or disable"},
		"a regional web ACL":                                  {acl("override", "arn:aws:wafv2:eu-west-1:111122223333:regional/webacl/x/y"), 400, "InvalidArgument", "web ACL"},
		"a WAF Classic id":                                    {acl("override", "a1b2c3d4-5678-90ab-cdef-EXAMPLE11111"), 400, "InvalidArgument", "web ACL"},
		"a country in lower case":                             {geo("whitelist", "de"), 400, "InvalidArgument", "country"},
		"a country that does not exist":                       {geo("blacklist", "XX"), 400, "InvalidArgument", "country"},
		"an allow list of no country":                         {geo("whitelist"), 400, "InvalidArgument", "locations"},
		"no restriction but locations":                        {geo("none", "DE"), 400, "InvalidArgument", "none"},
		"a restriction type nobody knows":                     {geo("maybe", "DE"), 400, "InvalidArgument", "restriction type"},
		"a managed certificate for a wildcard":                {managed("self-hosted", "", "*.customer.org"), 400, "InvalidArgument", "wildcard"},
		"a primary domain that is not a domain of the tenant": {managed("self-hosted", "other.customer.org", "shop.customer.org"), 400, "InvalidArgument", "primary"},
		"a token host nobody knows":                           {managed("domain", "", "shop.customer.org"), 400, "InvalidArgument", "ValidationTokenHost"},
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

func TestUpdateTenantMerges(t *testing.T) {
	locations := []string{"GB", "DE", "ES"}
	full := func(in *createInput) {
		in.ConnectionGroupId = sdk.String(homeGroup)
		in.Customizations = &types.Customizations{
			Certificate:     &types.Certificate{Arn: sdk.String(certARN(2))},
			WebAcl:          &types.WebAclCustomization{Action: "override", Arn: sdk.String("arn:aws:wafv2:us-east-1:111122223333:global/webacl/x/y")},
			GeoRestrictions: &types.GeoRestrictionCustomization{RestrictionType: "whitelist", Locations: locations},
		}
	}
	sorted := []string{"DE", "ES", "GB"}
	acl := aws.CustomizationState{WebACLAction: "override", WebACLARN: "arn:aws:wafv2:us-east-1:111122223333:global/webacl/x/y", CertificateARN: certARN(2), GeoRestrictionType: "whitelist", GeoLocations: sorted}
	type outcome struct {
		Domains map[string]string
		Params  map[string]string
		Group   string
		Enabled bool
		Custom  aws.CustomizationState
	}
	unchanged := outcome{map[string]string{"acme.example.com": "active"}, map[string]string{"tenantId": "acme"}, homeGroup, true, acl}
	with := func(change func(*outcome)) outcome {
		o := unchanged
		change(&o)
		return o
	}
	for name, tc := range map[string]struct {
		update cloudfront.UpdateDistributionTenantInput
		want   outcome
	}{
		"nothing sent keeps everything":        {cloudfront.UpdateDistributionTenantInput{}, unchanged},
		"only Enabled":                         {cloudfront.UpdateDistributionTenantInput{Enabled: sdk.Bool(false)}, with(func(o *outcome) { o.Enabled = false })},
		"parameters replace the list":          {cloudfront.UpdateDistributionTenantInput{Parameters: params("tier", "gold", "tenantId", "new")}, with(func(o *outcome) { o.Params = map[string]string{"tier": "gold", "tenantId": "new"} })},
		"domains replace the list":             {cloudfront.UpdateDistributionTenantInput{Domains: domains("b.example.com")}, with(func(o *outcome) { o.Domains = map[string]string{"b.example.com": "active"} })},
		"the group moves":                      {cloudfront.UpdateDistributionTenantInput{ConnectionGroupId: sdk.String(otherGroup)}, with(func(o *outcome) { o.Group = otherGroup })},
		"an empty Customizations clears all":   {cloudfront.UpdateDistributionTenantInput{Customizations: &types.Customizations{}}, with(func(o *outcome) { o.Custom = aws.CustomizationState{} })},
		"Customizations are replaced as whole": {cloudfront.UpdateDistributionTenantInput{Customizations: &types.Customizations{Certificate: &types.Certificate{Arn: sdk.String(wildcardARN)}}}, with(func(o *outcome) { o.Custom = aws.CustomizationState{CertificateARN: wildcardARN} })},
		"empty Parameters clear, with another distribution that requires none": {
			cloudfront.UpdateDistributionTenantInput{DistributionId: sdk.String("E2NOPARAMS"), Parameters: []types.Parameter{}},
			with(func(o *outcome) { o.Params = nil }),
		},
	} {
		t.Run(name, func(t *testing.T) {
			sim := newSim(t)
			tenant, etag := mustCreate(t, sim, "acme", full)
			tc.update.Id, tc.update.IfMatch = tenant.Id, &etag
			out := update(t, sim, &tc.update)
			if sdk.ToString(out.ETag) == etag {
				t.Error("the update did not give a new ETag")
			}
			got, _ := sim.Tenant("", "acme")
			if diff := cmp.Diff(tc.want, outcome{got.Domains, got.Parameters, got.ConnectionGroupID, got.Enabled, got.Customizations}); diff != "" {
				t.Errorf("tenant (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUpdateTenantRefusals(t *testing.T) {
	pending := func(in *createInput) {
		in.Domains = domains("shop.customer.org")
		in.ManagedCertificateRequest = &types.ManagedCertificateRequest{ValidationTokenHost: "self-hosted"}
	}
	for name, tc := range map[string]struct {
		create func(*createInput)
		update cloudfront.UpdateDistributionTenantInput
		status int
		code   string
	}{
		"no domains are left":                {nil, cloudfront.UpdateDistributionTenantInput{Domains: []types.DomainItem{}}, 400, "InvalidArgument"},
		"a domain of another tenant":         {nil, cloudfront.UpdateDistributionTenantInput{Domains: domains("first.example.com")}, 409, "CNAMEAlreadyExists"},
		"a new domain nothing covers":        {nil, cloudfront.UpdateDistributionTenantInput{Domains: domains("acme.example.com", "acme.org")}, 400, "InvalidArgument"},
		"a required parameter is dropped":    {nil, cloudfront.UpdateDistributionTenantInput{Parameters: []types.Parameter{}}, 400, "InvalidArgument"},
		"an undeclared parameter":            {nil, cloudfront.UpdateDistributionTenantInput{Parameters: params("tenantId", "x", "y", "z")}, 400, "InvalidArgument"},
		"a distribution that does not exist": {nil, cloudfront.UpdateDistributionTenantInput{DistributionId: sdk.String("ENONE")}, 404, "EntityNotFound"},
		"a standard distribution":            {nil, cloudfront.UpdateDistributionTenantInput{DistributionId: sdk.String(plain)}, 409, "InvalidAssociation"},
		"a group that does not exist":        {nil, cloudfront.UpdateDistributionTenantInput{ConnectionGroupId: sdk.String("cg_none")}, 404, "EntityNotFound"},
		"a group that is disabled":           {nil, cloudfront.UpdateDistributionTenantInput{ConnectionGroupId: sdk.String("cg_off")}, 409, "InvalidAssociation"},
		"an unknown certificate":             {nil, cloudfront.UpdateDistributionTenantInput{Customizations: &types.Customizations{Certificate: &types.Certificate{Arn: sdk.String(certARN(9))}}}, 400, "InvalidArgument"},
		"a second request while one is pending": {pending, cloudfront.UpdateDistributionTenantInput{
			ManagedCertificateRequest: &types.ManagedCertificateRequest{ValidationTokenHost: "self-hosted"},
		}, 400, "InvalidArgument"},
		"a further domain while a request is pending": {pending, cloudfront.UpdateDistributionTenantInput{Domains: domains("shop.customer.org", "two.customer.org")}, 400, "InvalidArgument"},
	} {
		t.Run(name, func(t *testing.T) {
			sim := newSim(t)
			mustCreate(t, sim, "first")
			create := tc.create
			if create == nil {
				create = func(*createInput) {}
			}
			tenant, etag := mustCreate(t, sim, "acme", create)
			before := sim.State()
			tc.update.Id, tc.update.IfMatch = tenant.Id, &etag
			_, err := client(sim).UpdateDistributionTenant(t.Context(), &tc.update)
			wantRefusal(t, err, tc.status, tc.code)
			if diff := cmp.Diff(before, sim.State()); diff != "" {
				t.Errorf("a refused update changed the world (-before +after):\n%s", diff)
			}
		})
	}
}

func TestDomainOnceActiveStaysActive(t *testing.T) {
	sim := newSim(t)
	tenant, etag := mustCreate(t, sim, "acme", func(in *createInput) {
		in.Domains = domains("shop.customer.test")
		in.Customizations = &types.Customizations{Certificate: &types.Certificate{Arn: sdk.String(certARN(2))}}
	})
	update(t, sim, &cloudfront.UpdateDistributionTenantInput{Id: tenant.Id, IfMatch: &etag, Customizations: &types.Customizations{}})
	got, _ := sim.Tenant("", "acme")
	if got.Domains["shop.customer.test"] != "active" {
		t.Errorf("the domain is %s after its certificate was taken off", got.Domains["shop.customer.test"])
	}
}

func TestTenantETagMatrix(t *testing.T) {
	type write func(c *cloudfront.Client, id, etag string) error
	writes := map[string]write{
		"update": func(c *cloudfront.Client, id, etag string) error {
			_, err := c.UpdateDistributionTenant(t.Context(), &cloudfront.UpdateDistributionTenantInput{Id: &id, IfMatch: &etag})
			return err
		},
		"delete": func(c *cloudfront.Client, id, etag string) error {
			_, err := c.DeleteDistributionTenant(t.Context(), &cloudfront.DeleteDistributionTenantInput{Id: &id, IfMatch: &etag})
			return err
		},
		"associate": func(c *cloudfront.Client, id, etag string) error {
			_, err := c.AssociateDistributionTenantWebACL(t.Context(), &cloudfront.AssociateDistributionTenantWebACLInput{
				Id: &id, IfMatch: &etag, WebACLArn: sdk.String("arn:aws:wafv2:us-east-1:111122223333:global/webacl/x/y"),
			})
			return err
		},
		"disassociate": func(c *cloudfront.Client, id, etag string) error {
			_, err := c.DisassociateDistributionTenantWebACL(t.Context(), &cloudfront.DisassociateDistributionTenantWebACLInput{Id: &id, IfMatch: &etag})
			return err
		},
	}
	for name, write := range writes {
		t.Run(name, func(t *testing.T) {
			sim := newSim(t)
			tenant, first := mustCreate(t, sim, "acme", func(in *createInput) { in.Enabled = sdk.Bool(false) })
			out := update(t, sim, &cloudfront.UpdateDistributionTenantInput{Id: tenant.Id, IfMatch: &first, Enabled: sdk.Bool(false)})
			settle(sim)
			wantRefusal(t, write(client(sim), *tenant.Id, first), 412, "PreconditionFailed")
			wantRefusal(t, write(client(sim), *tenant.Id, "not an etag"), 400, "InvalidIfMatchVersion")
			wantRefusal(t, write(client(sim), *tenant.Id, "*"), 400, "InvalidIfMatchVersion")
			wantRefusal(t, write(client(sim), "dt_gone", *out.ETag), 404, "EntityNotFound")
			if err := write(client(sim), *tenant.Id, `"`+*out.ETag+`"`); err != nil {
				t.Errorf("the current ETag in quotes is refused: %v", err)
			}
		})
	}
	t.Run("a missing If-Match is another refusal than a stale one", func(t *testing.T) {
		sim := newSim(t)
		tenant, _ := mustCreate(t, sim, "acme")
		for _, method := range []string{"PUT", "DELETE"} {
			status, body := raw(t, sim, method, "/2020-05-31/distribution-tenant/"+*tenant.Id, "")
			if status != 400 || !strings.Contains(body, "<Code>InvalidIfMatchVersion</Code>") {
				t.Errorf("%s without If-Match: %d %s", method, status, body)
			}
		}
	})
	t.Run("the web ACL calls do without one", func(t *testing.T) {
		sim := newSim(t)
		tenant, first := mustCreate(t, sim, "acme")
		arn := "arn:aws:wafv2:us-east-1:111122223333:global/webacl/x/y"
		associated, err := client(sim).AssociateDistributionTenantWebACL(t.Context(), &cloudfront.AssociateDistributionTenantWebACLInput{Id: tenant.Id, WebACLArn: &arn})
		if err != nil {
			t.Fatal(err)
		}
		if *associated.ETag == first || sdk.ToString(associated.WebACLArn) != arn || sdk.ToString(associated.Id) != *tenant.Id {
			t.Errorf("associate answered %+v", associated)
		}
		if got, _ := sim.Tenant("", "acme"); got.Customizations.WebACLARN != arn {
			t.Errorf("the web ACL is %q", got.Customizations.WebACLARN)
		}
		gone, err := client(sim).DisassociateDistributionTenantWebACL(t.Context(), &cloudfront.DisassociateDistributionTenantWebACLInput{Id: tenant.Id})
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := sim.Tenant("", "acme"); got.Customizations.WebACLARN != "" || *gone.ETag == *associated.ETag {
			t.Errorf("after disassociating: %+v", got)
		}
		_, err = client(sim).AssociateDistributionTenantWebACL(t.Context(), &cloudfront.AssociateDistributionTenantWebACLInput{Id: tenant.Id, WebACLArn: sdk.String("nonsense")})
		wantRefusal(t, err, 400, "InvalidArgument")
	})
}

func TestDeleteTenantRefusals(t *testing.T) {
	sim := newSim(t)
	tenant, etag := mustCreate(t, sim, "acme")
	settle(sim)
	remove := func(etag string) error {
		_, err := client(sim).DeleteDistributionTenant(t.Context(), &cloudfront.DeleteDistributionTenantInput{Id: tenant.Id, IfMatch: &etag})
		return err
	}
	wantRefusal(t, remove(etag), 409, "ResourceNotDisabled")
	out := update(t, sim, &cloudfront.UpdateDistributionTenantInput{Id: tenant.Id, IfMatch: &etag, Enabled: sdk.Bool(false)})
	wantRefusal(t, remove(*out.ETag), 409, "ResourceNotDisabled") // disabled, not settled
	settle(sim)
	if err := remove(*out.ETag); err != nil {
		t.Fatalf("deleting what is disabled and settled: %v", err)
	}
	wantRefusal(t, remove(*out.ETag), 404, "EntityNotFound")
}

func TestListTenants(t *testing.T) {
	sim := newSim(t, func(o *aws.Options) { o.PageSize = 4 })
	ctx, c := t.Context(), client(sim)
	for i := range 10 {
		mustCreate(t, sim, fmt.Sprintf("tenant-%d", i), func(in *createInput) {
			if i%2 == 0 {
				in.ConnectionGroupId = sdk.String(homeGroup)
			}
			if i == 3 {
				in.DistributionId, in.Parameters = sdk.String("E2NOPARAMS"), nil
			}
		})
	}
	t.Run("pages hold the cap and end without a marker", func(t *testing.T) {
		var sizes []int
		pages := cloudfront.NewListDistributionTenantsPaginator(c, &cloudfront.ListDistributionTenantsInput{MaxItems: sdk.Int32(1000)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				t.Fatal(err)
			}
			sizes = append(sizes, len(page.DistributionTenantList))
		}
		if diff := cmp.Diff([]int{4, 4, 2}, sizes); diff != "" {
			t.Errorf("page sizes (-want +got):\n%s", diff)
		}
	})
	t.Run("a summary has the ETag and no parameters", func(t *testing.T) {
		got := list(t, sim)[0]
		full := get(t, sim, "tenant-0")
		want := types.DistributionTenantSummary{
			Id: full.DistributionTenant.Id, Arn: full.DistributionTenant.Arn, Name: sdk.String("tenant-0"), ETag: full.ETag,
			DistributionId: sdk.String(multiTenant), ConnectionGroupId: sdk.String(homeGroup), Enabled: sdk.Bool(true), Status: sdk.String("InProgress"),
			Domains:     []types.DomainResult{{Domain: sdk.String("tenant-0.example.com"), Status: "active"}},
			CreatedTime: sdk.Time(startTime), LastModifiedTime: sdk.Time(startTime),
		}
		if diff := cmp.Diff(want, got, cmpSDK); diff != "" {
			t.Errorf("summary (-want +got):\n%s", diff)
		}
	})
	for name, tc := range map[string]struct {
		filter types.DistributionTenantAssociationFilter
		want   int
	}{
		"no filter":                   {types.DistributionTenantAssociationFilter{}, 10},
		"by distribution":             {types.DistributionTenantAssociationFilter{DistributionId: sdk.String("E2NOPARAMS")}, 1},
		"by group":                    {types.DistributionTenantAssociationFilter{ConnectionGroupId: sdk.String(homeGroup)}, 5},
		"by both, which means and":    {types.DistributionTenantAssociationFilter{DistributionId: sdk.String("E2NOPARAMS"), ConnectionGroupId: sdk.String(homeGroup)}, 0},
		"by something nobody belongs": {types.DistributionTenantAssociationFilter{ConnectionGroupId: sdk.String(otherGroup)}, 0},
	} {
		t.Run("filter "+name, func(t *testing.T) {
			if got := len(listWith(ctx, t, c, &cloudfront.ListDistributionTenantsInput{AssociationFilter: &tc.filter})); got != tc.want {
				t.Errorf("listed %d, want %d", got, tc.want)
			}
		})
	}
	t.Run("an account sees its own", func(t *testing.T) {
		got := listWith(ctx, t, cloudFrontClient(sim, foreignKey), &cloudfront.ListDistributionTenantsInput{})
		if len(got) != 1 || *got[0].Name != "foreign" {
			t.Errorf("the other account lists %d tenants", len(got))
		}
	})
	for name, in := range map[string]*cloudfront.ListDistributionTenantsInput{
		"a marker nobody gave":  {Marker: sdk.String("tenant-3")},
		"a page of no items":    {MaxItems: sdk.Int32(0)},
		"a page of minus items": {MaxItems: sdk.Int32(-1)},
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			_, err := c.ListDistributionTenants(ctx, in)
			wantRefusal(t, err, 400, "InvalidArgument")
		})
	}
	t.Run("a page goes on where it stopped although items went", func(t *testing.T) {
		first := must[*cloudfront.ListDistributionTenantsOutput](t)(c.ListDistributionTenants(ctx, &cloudfront.ListDistributionTenantsInput{}))
		victim := first.DistributionTenantList[3]
		out := update(t, sim, &cloudfront.UpdateDistributionTenantInput{Id: victim.Id, IfMatch: victim.ETag, Enabled: sdk.Bool(false)})
		settle(sim)
		if _, err := c.DeleteDistributionTenant(ctx, &cloudfront.DeleteDistributionTenantInput{Id: victim.Id, IfMatch: out.ETag}); err != nil {
			t.Fatal(err)
		}
		second := must[*cloudfront.ListDistributionTenantsOutput](t)(c.ListDistributionTenants(ctx, &cloudfront.ListDistributionTenantsInput{Marker: first.NextMarker}))
		if got := *second.DistributionTenantList[0].Name; got != "tenant-4" {
			t.Errorf("the second page begins with %s", got)
		}
	})
}

func TestListTenantsByCustomization(t *testing.T) {
	sim := newSim(t)
	arn := "arn:aws:wafv2:us-east-1:111122223333:global/webacl/x/y"
	mustCreate(t, sim, "acl", func(in *createInput) {
		in.Customizations = &types.Customizations{WebAcl: &types.WebAclCustomization{Action: "override", Arn: &arn}}
	})
	mustCreate(t, sim, "cert", func(in *createInput) {
		in.Customizations = &types.Customizations{Certificate: &types.Certificate{Arn: sdk.String(certARN(2))}}
	})
	for name, tc := range map[string]struct {
		in   cloudfront.ListDistributionTenantsByCustomizationInput
		want string
	}{
		"web ACL":     {cloudfront.ListDistributionTenantsByCustomizationInput{WebACLArn: &arn}, "acl"},
		"certificate": {cloudfront.ListDistributionTenantsByCustomizationInput{CertificateArn: sdk.String(certARN(2))}, "cert"},
	} {
		t.Run("by "+name, func(t *testing.T) {
			out, err := client(sim).ListDistributionTenantsByCustomization(t.Context(), &tc.in)
			if err != nil {
				t.Fatal(err)
			}
			if len(out.DistributionTenantList) != 1 || *out.DistributionTenantList[0].Name != tc.want {
				t.Errorf("listed %+v, want %s alone", out.DistributionTenantList, tc.want)
			}
		})
	}
	for name, in := range map[string]*cloudfront.ListDistributionTenantsByCustomizationInput{
		"neither": {},
		"both":    {WebACLArn: &arn, CertificateArn: sdk.String(certARN(2))},
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			_, err := client(sim).ListDistributionTenantsByCustomization(t.Context(), in)
			wantRefusal(t, err, 400, "InvalidArgument")
		})
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
