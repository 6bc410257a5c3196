package aws_test

import (
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

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
			sim := allowing(newSim(t))
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
	sim := allowing(newSim(t))
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
