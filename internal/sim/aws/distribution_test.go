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

// distributionConfig is a valid multi-tenant configuration.
func distributionConfig(ref string, changes ...func(*types.DistributionConfig)) *types.DistributionConfig {
	config := &types.DistributionConfig{
		CallerReference: sdk.String(ref),
		Comment:         sdk.String("shared"),
		Enabled:         sdk.Bool(true),
		ConnectionMode:  types.ConnectionModeTenantOnly,
		Origins: &types.Origins{Quantity: sdk.Int32(1), Items: []types.Origin{{
			Id: sdk.String("app"), DomainName: sdk.String("{{tenantId}}.origin.example.com"), OriginPath: sdk.String("/{{tier}}"),
			CustomOriginConfig: &types.CustomOriginConfig{HTTPPort: sdk.Int32(80), HTTPSPort: sdk.Int32(443), OriginProtocolPolicy: types.OriginProtocolPolicyHttpsOnly},
		}}},
		DefaultCacheBehavior: &types.DefaultCacheBehavior{
			TargetOriginId: sdk.String("app"), ViewerProtocolPolicy: types.ViewerProtocolPolicyRedirectToHttps, CachePolicyId: sdk.String("658327ea-f89d-4fab-a63d-7e88639e58f6"),
		},
		ViewerCertificate: &types.ViewerCertificate{ACMCertificateArn: sdk.String(wildcardARN), SSLSupportMethod: types.SSLSupportMethodSniOnly, MinimumProtocolVersion: types.MinimumProtocolVersionTLSv122021},
		TenantConfig: &types.TenantConfig{ParameterDefinitions: []types.ParameterDefinition{
			{Name: sdk.String("tenantId"), Definition: &types.ParameterDefinitionSchema{StringSchema: &types.StringSchemaConfig{Required: sdk.Bool(true)}}},
			{Name: sdk.String("tier"), Definition: &types.ParameterDefinitionSchema{StringSchema: &types.StringSchemaConfig{Required: sdk.Bool(false), DefaultValue: sdk.String("basic")}}},
		}},
	}
	for _, change := range changes {
		change(config)
	}
	return config
}

// direct turns the configuration into a standard one.
func direct(c *types.DistributionConfig) {
	c.ConnectionMode, c.TenantConfig = types.ConnectionModeDirect, nil
	c.Origins.Items[0].DomainName, c.Origins.Items[0].OriginPath = sdk.String("origin.example.com"), nil
}

func createDistribution(t *testing.T, sim *aws.Sim, config *types.DistributionConfig) *cloudfront.CreateDistributionOutput {
	t.Helper()
	return must[*cloudfront.CreateDistributionOutput](t)(client(sim).CreateDistribution(t.Context(), &cloudfront.CreateDistributionInput{DistributionConfig: config}))
}

// completed adds to the configuration of distributionConfig what the service
// says although it was not sent.
func completed(c *types.DistributionConfig) {
	c.DefaultRootObject, c.WebACLId, c.HttpVersion = sdk.String(""), sdk.String(""), types.HttpVersionHttp2
	c.OriginGroups = &types.OriginGroups{Quantity: sdk.Int32(0)}
	c.CacheBehaviors = &types.CacheBehaviors{Quantity: sdk.Int32(0)}
	c.CustomErrorResponses = &types.CustomErrorResponses{Quantity: sdk.Int32(0)}
	c.Restrictions = &types.Restrictions{GeoRestriction: &types.GeoRestriction{RestrictionType: types.GeoRestrictionTypeNone, Quantity: sdk.Int32(0)}}
	c.ViewerCertificate.Certificate, c.ViewerCertificate.CertificateSource = c.ViewerCertificate.ACMCertificateArn, types.CertificateSourceAcm //nolint:staticcheck // the service answers with deprecated members
	c.ViewerCertificate.CloudFrontDefaultCertificate = sdk.Bool(false)
	c.Logging = &types.LoggingConfig{Enabled: sdk.Bool(false), IncludeCookies: sdk.Bool(false), Bucket: sdk.String(""), Prefix: sdk.String("")}
	origin := &c.Origins.Items[0]
	origin.CustomHeaders = &types.CustomHeaders{Quantity: sdk.Int32(0)}
	origin.ConnectionAttempts, origin.ConnectionTimeout = sdk.Int32(3), sdk.Int32(10)
	origin.OriginShield, origin.OriginAccessControlId = &types.OriginShield{Enabled: sdk.Bool(false)}, sdk.String("")
	custom := origin.CustomOriginConfig
	custom.OriginReadTimeout, custom.OriginKeepaliveTimeout, custom.IpAddressType = sdk.Int32(30), sdk.Int32(5), types.IpAddressTypeIpv4
	custom.OriginSslProtocols = &types.OriginSslProtocols{Quantity: sdk.Int32(3), Items: []types.SslProtocol{"TLSv1", "TLSv1.1", "TLSv1.2"}}
	b := c.DefaultCacheBehavior
	methods := []types.Method{types.MethodHead, types.MethodGet}
	b.AllowedMethods = &types.AllowedMethods{Quantity: sdk.Int32(2), Items: methods, CachedMethods: &types.CachedMethods{Quantity: sdk.Int32(2), Items: methods}}
	b.Compress, b.FieldLevelEncryptionId, b.GrpcConfig = sdk.Bool(false), sdk.String(""), &types.GrpcConfig{Enabled: sdk.Bool(false)}
	b.LambdaFunctionAssociations = &types.LambdaFunctionAssociations{Quantity: sdk.Int32(0)}
	b.FunctionAssociations = &types.FunctionAssociations{Quantity: sdk.Int32(0)}
	b.TrustedKeyGroups = &types.TrustedKeyGroups{Enabled: sdk.Bool(false), Quantity: sdk.Int32(0)}
}

func TestDistributionLifecycle(t *testing.T) {
	sim := newSim(t)
	ctx, c := t.Context(), client(sim)
	created, err := c.CreateDistributionWithTags(ctx, &cloudfront.CreateDistributionWithTagsInput{DistributionConfigWithTags: &types.DistributionConfigWithTags{
		DistributionConfig: distributionConfig("one"),
		Tags:               &types.Tags{Items: []types.Tag{{Key: sdk.String("team"), Value: sdk.String("edge")}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	id := created.Distribution.Id
	if want := "https://cloudfront.amazonaws.com/2020-05-31/distribution/" + *id; sdk.ToString(created.Location) != want {
		t.Errorf("Location = %s, want %s", sdk.ToString(created.Location), want)
	}
	if sdk.ToString(created.Distribution.Status) != "InProgress" || sdk.ToString(created.Distribution.DomainName) == "" {
		t.Errorf("created: %+v", created.Distribution)
	}
	tags, err := c.ListTagsForResource(ctx, &cloudfront.ListTagsForResourceInput{Resource: created.Distribution.ARN})
	if err != nil || len(tags.Tags.Items) != 1 {
		t.Errorf("tags of the new distribution: %v, %v", tags, err)
	}
	settle(sim)

	t.Run("it takes tenants", func(t *testing.T) {
		mustCreate(t, sim, "acme", func(in *createInput) { in.DistributionId = id })
	})
	config, err := c.GetDistributionConfig(ctx, &cloudfront.GetDistributionConfigInput{Id: id})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("the configuration comes back as it was sent, with what it left out", func(t *testing.T) {
		want := distributionConfig("one")
		completed(want)
		if diff := cmp.Diff(want, config.DistributionConfig, cmpDistribution); diff != "" {
			t.Errorf("configuration (-want +got):\n%s", diff)
		}
	})
	t.Run("read, edit, write back", func(t *testing.T) {
		edited := config.DistributionConfig
		edited.Enabled = sdk.Bool(false)
		out, err := c.UpdateDistribution(ctx, &cloudfront.UpdateDistributionInput{Id: id, IfMatch: config.ETag, DistributionConfig: edited})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.DeleteDistribution(ctx, &cloudfront.DeleteDistributionInput{Id: id, IfMatch: out.ETag})
		wantRefusal(t, err, 409, "DistributionNotDisabled") // disabled, not settled
		settle(sim)
		_, err = c.DeleteDistribution(ctx, &cloudfront.DeleteDistributionInput{Id: id, IfMatch: out.ETag})
		wantRefusal(t, err, 409, "ResourceInUse")
		removeTenant(t, sim, "acme")
		if _, err = c.DeleteDistribution(ctx, &cloudfront.DeleteDistributionInput{Id: id, IfMatch: out.ETag}); err != nil {
			t.Fatal(err)
		}
		_, err = c.GetDistribution(ctx, &cloudfront.GetDistributionInput{Id: id})
		wantRefusal(t, err, 404, "NoSuchDistribution")
	})
}

// removeTenant disables and deletes a tenant.
func removeTenant(t *testing.T, sim *aws.Sim, name string) {
	t.Helper()
	found := get(t, sim, name)
	out := update(t, sim, &cloudfront.UpdateDistributionTenantInput{Id: found.DistributionTenant.Id, IfMatch: found.ETag, Enabled: sdk.Bool(false)})
	settle(sim)
	if _, err := client(sim).DeleteDistributionTenant(t.Context(), &cloudfront.DeleteDistributionTenantInput{Id: found.DistributionTenant.Id, IfMatch: out.ETag}); err != nil {
		t.Fatal(err)
	}
}

func TestCreateDistributionRefusals(t *testing.T) {
	behavior := func(change func(*types.DefaultCacheBehavior)) func(*types.DistributionConfig) {
		return func(c *types.DistributionConfig) { change(c.DefaultCacheBehavior) }
	}
	definitions := func(names ...string) func(*types.DistributionConfig) {
		return func(c *types.DistributionConfig) {
			for _, name := range names {
				c.TenantConfig.ParameterDefinitions = append(c.TenantConfig.ParameterDefinitions, types.ParameterDefinition{
					Name: sdk.String(name), Definition: &types.ParameterDefinitionSchema{StringSchema: &types.StringSchemaConfig{Required: sdk.Bool(false)}},
				})
			}
		}
	}
	for name, tc := range map[string]struct {
		change func(*types.DistributionConfig)
		status int
		code   string
		text   string
	}{
		"a caller reference is used once, also with equal content": {func(c *types.DistributionConfig) { *c = *distributionConfig("used") }, 409, "DistributionAlreadyExists", ""},
		"quantities and items disagree":                            {func(c *types.DistributionConfig) { c.Origins.Quantity = sdk.Int32(2) }, 400, "InconsistentQuantities", "Origins"},
		"a behavior targets an origin that is not there":           {behavior(func(b *types.DefaultCacheBehavior) { b.TargetOriginId = sdk.String("nope") }), 404, "NoSuchOrigin", "nope"},
		"an origin without a kind":                                 {func(c *types.DistributionConfig) { c.Origins.Items[0].CustomOriginConfig = nil }, 400, "InvalidOrigin", "app"},
		"an unknown certificate":                                   {func(c *types.DistributionConfig) { c.ViewerCertificate.ACMCertificateArn = sdk.String(certARN(9)) }, 400, "InvalidViewerCertificate", ""},
		"an unknown connection mode":                               {func(c *types.DistributionConfig) { c.ConnectionMode = "indirect" }, 400, "MalformedXML", "connectionMode"},
		"a comment of 129 characters":                              {func(c *types.DistributionConfig) { c.Comment = sdk.String(strings.Repeat("x", 129)) }, 400, "InvalidArgument", "Comment"},
		"an empty caller reference":                                {func(c *types.DistributionConfig) { c.CallerReference = sdk.String("") }, 400, "InvalidArgument", "CallerReference"},
		"no cache policy":                                          {behavior(func(b *types.DefaultCacheBehavior) { b.CachePolicyId = nil }), 400, "InvalidArgument", "CachePolicyId"},
		"an origin refers to an undefined parameter":               {func(c *types.DistributionConfig) { c.Origins.Items[0].OriginPath = sdk.String("/{{other}}") }, 400, "InvalidArgument", "other"},
		"three parameters in one field": {func(c *types.DistributionConfig) {
			c.Origins.Items[0].DomainName = sdk.String("{{tenantId}}{{tier}}{{tier}}.example.com")
		}, 400, "InvalidArgument", "at most 2"},
		"a definition given twice":                 {definitions("tier"), 400, "InvalidArgument", "tier"},
		"a definition with a bad name":             {definitions("a b"), 400, "InvalidArgument", "a b"},
		"six definitions":                          {definitions("c", "d", "e", "f"), 400, "EntityLimitExceeded", "5"},
		"a tenant configuration on a standard one": {func(c *types.DistributionConfig) { c.ConnectionMode = types.ConnectionModeDirect }, 400, "InvalidArgument", "TenantConfig"},
		"multi-tenant: aliases": {func(c *types.DistributionConfig) {
			c.Aliases = &types.Aliases{Quantity: sdk.Int32(1), Items: []string{"a.example.com"}}
		}, 400, "InvalidArgument", "Aliases"},
		"multi-tenant: a price class":         {func(c *types.DistributionConfig) { c.PriceClass = types.PriceClassPriceClass100 }, 400, "InvalidArgument", "PriceClass"},
		"multi-tenant: continuous deployment": {func(c *types.DistributionConfig) { c.ContinuousDeploymentPolicyId = sdk.String("x") }, 400, "InvalidArgument", "ContinuousDeployment"},
		"multi-tenant: staging":               {func(c *types.DistributionConfig) { c.Staging = sdk.Bool(true) }, 400, "InvalidArgument", "Staging"},
		"multi-tenant: IPv6 of its own":       {func(c *types.DistributionConfig) { c.IsIPV6Enabled = sdk.Bool(true) }, 400, "InvalidArgument", "connection group"},
		"multi-tenant: Anycast of its own":    {func(c *types.DistributionConfig) { c.AnycastIpListId = sdk.String("x") }, 400, "InvalidArgument", "connection group"},
		"multi-tenant: an IAM certificate":    {func(c *types.DistributionConfig) { c.ViewerCertificate.IAMCertificateId = sdk.String("x") }, 400, "InvalidArgument", "ACM"},
		"multi-tenant: a dedicated address":   {func(c *types.DistributionConfig) { c.ViewerCertificate.SSLSupportMethod = "vip" }, 400, "InvalidArgument", "sni-only"},
		"multi-tenant: SSLv3":                 {func(c *types.DistributionConfig) { c.ViewerCertificate.MinimumProtocolVersion = "SSLv3" }, 400, "InvalidArgument", "SSLv3"},
		"multi-tenant: a WAF Classic id":      {func(c *types.DistributionConfig) { c.WebACLId = sdk.String("a1b2c3d4-5678-90ab-cdef-000000011111") }, 400, "InvalidArgument", "WAF"},
		"multi-tenant: an old TTL":            {behavior(func(b *types.DefaultCacheBehavior) { b.MinTTL = sdk.Int64(0) }), 400, "InvalidArgument", "MinTTL"}, //nolint:staticcheck // deprecated members are what is refused
		"multi-tenant: smooth streaming":      {behavior(func(b *types.DefaultCacheBehavior) { b.SmoothStreaming = sdk.Bool(true) }), 400, "InvalidArgument", "SmoothStreaming"},
		"multi-tenant: trusted signers": {behavior(func(b *types.DefaultCacheBehavior) {
			b.TrustedSigners = &types.TrustedSigners{Enabled: sdk.Bool(true), Quantity: sdk.Int32(1), Items: []string{"self"}}
		}), 400, "InvalidArgument", "TrustedKeyGroups"},
		"multi-tenant: forwarded values": {behavior(func(b *types.DefaultCacheBehavior) {
			b.ForwardedValues = &types.ForwardedValues{QueryString: sdk.Bool(false), Cookies: &types.CookiePreference{Forward: "none"}} //nolint:staticcheck // deprecated members are what is refused
		}), 400, "InvalidArgument", "ForwardedValues"},
		"multi-tenant: legacy standard logging": {func(c *types.DistributionConfig) {
			c.Logging = &types.LoggingConfig{Enabled: sdk.Bool(true), Bucket: sdk.String("b")}
		}, 400, "InvalidArgument", "Logging"},
		"multi-tenant: an origin access identity": {func(c *types.DistributionConfig) {
			c.Origins.Items[0].CustomOriginConfig = nil
			c.Origins.Items[0].S3OriginConfig = &types.S3OriginConfig{OriginAccessIdentity: sdk.String("origin-access-identity/cloudfront/X")}
		}, 400, "InvalidArgument", "origin access control"},
		"standard: an alias that is taken": {func(c *types.DistributionConfig) {
			direct(c)
			c.Aliases = &types.Aliases{Quantity: sdk.Int32(1), Items: []string{"www.example.com"}}
		}, 409, "CNAMEAlreadyExists", "www.example.com"},
		"standard: an alias the certificate does not cover": {func(c *types.DistributionConfig) {
			direct(c)
			c.Aliases = &types.Aliases{Quantity: sdk.Int32(1), Items: []string{"www.customer.org"}}
		}, 400, "InvalidViewerCertificate", "www.customer.org"},
	} {
		t.Run(name, func(t *testing.T) {
			sim := newSim(t)
			createDistribution(t, sim, distributionConfig("used"))
			before := sim.State()
			_, err := client(sim).CreateDistribution(t.Context(), &cloudfront.CreateDistributionInput{DistributionConfig: distributionConfig("new", tc.change)})
			wantRefusal(t, err, tc.status, tc.code)
			if !strings.Contains(err.Error(), tc.text) {
				t.Errorf("message %q does not mention %q", err, tc.text)
			}
			if diff := cmp.Diff(before, sim.State()); diff != "" {
				t.Errorf("a refused create changed the world:\n%s", diff)
			}
		})
	}
	t.Run("zero values that tools send along ask for nothing", func(t *testing.T) {
		createDistribution(t, newSim(t), distributionConfig("zero", func(c *types.DistributionConfig) {
			c.Aliases = &types.Aliases{Quantity: sdk.Int32(0)}
			c.Staging, c.IsIPV6Enabled, c.WebACLId = sdk.Bool(false), sdk.Bool(false), sdk.String("")
			c.Logging = &types.LoggingConfig{Enabled: sdk.Bool(false), Bucket: sdk.String(""), Prefix: sdk.String("")}
			c.DefaultCacheBehavior.TrustedSigners = &types.TrustedSigners{Enabled: sdk.Bool(false), Quantity: sdk.Int32(0)}
		}))
	})
	t.Run("the quota of multi-tenant ones", func(t *testing.T) {
		sim := newSim(t, func(o *aws.Options) { o.Quotas = aws.Quotas{MultiTenantDistributions: 2} })
		_, err := client(sim).CreateDistribution(t.Context(), &cloudfront.CreateDistributionInput{DistributionConfig: distributionConfig("third")})
		wantRefusal(t, err, 400, "EntityLimitExceeded")
	})
	t.Run("the quota of standard ones", func(t *testing.T) {
		sim := newSim(t, func(o *aws.Options) { o.Quotas = aws.Quotas{Distributions: 1} })
		_, err := client(sim).CreateDistribution(t.Context(), &cloudfront.CreateDistributionInput{DistributionConfig: distributionConfig("second", direct)})
		wantRefusal(t, err, 400, "TooManyDistributions")
	})
}

func TestUpdateDistribution(t *testing.T) {
	start := func(t *testing.T) (*aws.Sim, *cloudfront.CreateDistributionOutput) {
		t.Helper()
		sim := newSim(t)
		return sim, createDistribution(t, sim, distributionConfig("one", func(c *types.DistributionConfig) { c.DefaultRootObject = sdk.String("index.html") }))
	}
	t.Run("nothing is merged", func(t *testing.T) {
		sim, created := start(t)
		config := distributionConfig("one", completed, func(c *types.DistributionConfig) {
			c.TenantConfig = nil
			c.Origins.Items[0].DomainName, c.Origins.Items[0].OriginPath = sdk.String("o.example.com"), nil
		})
		out, err := client(sim).UpdateDistribution(t.Context(), &cloudfront.UpdateDistributionInput{Id: created.Distribution.Id, IfMatch: created.ETag, DistributionConfig: config})
		if err != nil {
			t.Fatal(err)
		}
		got := out.Distribution.DistributionConfig
		if got.TenantConfig != nil || sdk.ToString(got.DefaultRootObject) != "" {
			t.Errorf("what was not sent is still there: %+v", got)
		}
		if *out.ETag == *created.ETag {
			t.Error("the ETag did not move")
		}
	})
	for name, tc := range map[string]struct {
		ref    string
		etag   string
		change func(*types.DistributionConfig)
		status int
		code   string
	}{
		"a stale ETag":                         {"one", "ESTALE0000000", func(*types.DistributionConfig) {}, 412, "PreconditionFailed"},
		"no ETag":                              {"one", "-", func(*types.DistributionConfig) {}, 400, "InvalidIfMatchVersion"},
		"another caller reference":             {"two", "", func(*types.DistributionConfig) {}, 400, "IllegalUpdate"},
		"another connection mode":              {"one", "", direct, 400, "IllegalUpdate"},
		"the connection mode left out":         {"one", "", func(c *types.DistributionConfig) { c.ConnectionMode = "" }, 400, "IllegalUpdate"},
		"what a multi-tenant one cannot have":  {"one", "", func(c *types.DistributionConfig) { c.PriceClass = "PriceClass_100" }, 400, "InvalidArgument"},
		"an undefined parameter in the origin": {"one", "", func(c *types.DistributionConfig) { c.TenantConfig = nil }, 400, "InvalidArgument"},
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			sim, created := start(t)
			etag := created.ETag
			switch tc.etag {
			case "":
			case "-":
				etag = nil
			default:
				etag = &tc.etag
			}
			_, err := client(sim).UpdateDistribution(t.Context(), &cloudfront.UpdateDistributionInput{
				Id: created.Distribution.Id, IfMatch: etag, DistributionConfig: distributionConfig(tc.ref, tc.change),
			})
			wantRefusal(t, err, tc.status, tc.code)
		})
	}
	t.Run("deleting needs an ETag and a disabled distribution", func(t *testing.T) {
		sim, created := start(t)
		settle(sim)
		_, err := client(sim).DeleteDistribution(t.Context(), &cloudfront.DeleteDistributionInput{Id: created.Distribution.Id})
		wantRefusal(t, err, 400, "InvalidIfMatchVersion")
		_, err = client(sim).DeleteDistribution(t.Context(), &cloudfront.DeleteDistributionInput{Id: created.Distribution.Id, IfMatch: created.ETag})
		wantRefusal(t, err, 409, "DistributionNotDisabled")
		_, err = client(sim).DeleteDistribution(t.Context(), &cloudfront.DeleteDistributionInput{Id: sdk.String("ENONE"), IfMatch: created.ETag})
		wantRefusal(t, err, 404, "NoSuchDistribution")
	})
}

func TestListDistributions(t *testing.T) {
	sim := newSim(t)
	ctx, c := t.Context(), client(sim)
	var ids []string
	pages := cloudfront.NewListDistributionsPaginator(c, &cloudfront.ListDistributionsInput{MaxItems: sdk.Int32(2)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range page.DistributionList.Items {
			ids = append(ids, *d.Id)
		}
	}
	if diff := cmp.Diff([]string{multiTenant, "E2NOPARAMS", plain}, ids); diff != "" {
		t.Errorf("distributions (-want +got):\n%s", diff)
	}
	for mode, want := range map[types.ConnectionMode]int{types.ConnectionModeTenantOnly: 2, types.ConnectionModeDirect: 1} {
		out, err := c.ListDistributionsByConnectionMode(ctx, &cloudfront.ListDistributionsByConnectionModeInput{ConnectionMode: mode})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(out.DistributionList.Items); got != want {
			t.Errorf("%d distributions are %s, want %d", got, mode, want)
		}
		d := out.DistributionList.Items[0]
		full := must[*cloudfront.GetDistributionOutput](t)(c.GetDistribution(ctx, &cloudfront.GetDistributionInput{Id: d.Id}))
		if d.ConnectionMode != mode || sdk.ToString(d.ETag) != sdk.ToString(full.ETag) || d.Aliases == nil || d.Origins == nil {
			t.Errorf("summary: %+v", d)
		}
	}
	_, err := c.ListDistributionsByConnectionMode(ctx, &cloudfront.ListDistributionsByConnectionModeInput{ConnectionMode: "both"})
	wantRefusal(t, err, 400, "InvalidArgument")
	_, err = c.ListDistributions(ctx, &cloudfront.ListDistributionsInput{Marker: sdk.String("!")})
	wantRefusal(t, err, 400, "InvalidArgument")
}
