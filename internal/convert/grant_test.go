package convert_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
)

// Everything that a distribution or tenant names in AWS is asked for, by the field that names it, and an empty grant of the
// kind refuses each of these but the domain names of origins.
func TestWhatAnObjectAsksFor(t *testing.T) {
	t.Parallel()
	sample, err := os.ReadFile("../../config/samples/distribution/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	full := &v1alpha1.Distribution{}
	if err := yaml.UnmarshalStrict(sample, full); err != nil {
		t.Fatal(err)
	}
	full.Spec.DefaultCacheBehavior.FieldLevelEncryptionID = "EFLE1"
	full.Spec.Aliases, full.Spec.Logging = []string{"Shop.example.com"}, &v1alpha1.Logging{Bucket: "Logs.s3.amazonaws.com"}
	full.Spec.ViewerCertificate.IAMCertificateID = "ASCA1"
	full.Spec.ViewerMTLSConfig = &v1alpha1.ViewerMTLSConfig{Mode: "required", TrustStoreConfig: &v1alpha1.TrustStoreConfig{TrustStoreID: "ts_1"}}
	full.Spec.ConnectionFunctionAssociation = &v1alpha1.ConnectionFunctionAssociation{ID: "cf_1"}
	full.Spec.DefaultCacheBehavior.RealtimeLogConfigARN = new("arn:log")
	full.Spec.Origins[0].CustomOriginConfig.OriginMTLSConfig = &v1alpha1.OriginMTLSConfig{ClientCertificateARN: "arn:client"}
	tenant := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "acme"}, Spec: v1alpha1.DistributionTenantSpec{
		DistributionID: "E1", Customizations: &v1alpha1.Customizations{GeoRestrictions: &v1alpha1.GeoRestrictionCustomization{RestrictionType: v1alpha1.GeoRestrictionNone}},
	}}
	login := func(host string) *v1alpha1.IAMLogin {
		return &v1alpha1.IAMLogin{Host: host, User: "u", CacheName: "shop", AssumeRoleARN: "arn:aws:iam::111122223333:role/r"}
	}
	source := &v1alpha1.TenantSource{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "customers"}, Spec: v1alpha1.TenantSourceSpec{
		Provider: v1alpha1.SourceProviderRedis, Redis: &v1alpha1.RedisSource{IAM: login("cache")}, WriteBack: &v1alpha1.SourceWriteBack{Table: "edge_state", IAM: login("states:1")},
	}}
	refers := &v1alpha1.TenantSource{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "customers"}, Spec: v1alpha1.TenantSourceSpec{
		DistributionRef: &v1alpha1.ObjectReference{Name: "main", Namespace: "platform"},
		Template:        &v1alpha1.TenantTemplate{Spec: &v1alpha1.TemplateSpec{ConnectionGroupRef: &v1alpha1.ObjectReference{Name: "static", Namespace: "edge"}}},
	}}
	for name, c := range map[string]struct {
		object any
		kind   string
		want   []string
	}{
		"a source that logs in with the operator's identity": {source, "TenantSource", []string{
			"spec.redis.iam u@cache:6379/shop", "spec.redis.iam.host cache:6379", "spec.redis.iam.assumeRoleArn arn:aws:iam::111122223333:role/r",
			"spec.writeBack.iam u@states:1/shop", "spec.writeBack.iam.host states:1", "spec.writeBack.iam.assumeRoleArn arn:aws:iam::111122223333:role/r",
			"spec.writeBack.table edge_state",
		}},
		"a source that names objects of other namespaces": {refers, "TenantSource", []string{
			"spec.distributionRef platform/main", "spec.template.spec.connectionGroupRef edge/static",
		}},
		"a distribution": {full, "Distribution", []string{
			"spec.aliases[0] shop.example.com",
			"spec.viewerCertificate.acmCertificateArn arn:aws:acm:us-east-1:111122223333:certificate/00000000-0000-4000-8000-000000000001",
			"spec.viewerCertificate.iamCertificateId ASCA1",
			"spec.webACLId arn:aws:wafv2:us-east-1:111122223333:global/webacl/shops/00000000-0000-4000-8000-000000000002",
			"spec.origins[0].customOriginConfig.originMtlsConfig.clientCertificateArn arn:client",
			"spec.origins[1].originAccessControlId E2EXAMPLEOAC1",
			"spec.origins[2].originAccessControlId E2EXAMPLEOAC1",
			"spec.origins[3].vpcOriginConfig.vpcOriginId vo_2EXAMPLEvpcOrigin0001",
			"spec.defaultCacheBehavior.functionAssociations[0].functionArn arn:aws:cloudfront::111122223333:function/tenant-headers",
			"spec.defaultCacheBehavior.fieldLevelEncryptionId EFLE1",
			"spec.defaultCacheBehavior.realtimeLogConfigArn arn:log",
			"spec.cacheBehaviors[0].lambdaFunctionAssociations[0].lambdaFunctionArn arn:aws:lambda:us-east-1:111122223333:function:tenant-files:7",
			"spec.cacheBehaviors[1].trustedKeyGroups[0] 00000000-0000-4000-8000-000000000003",
			"spec.viewerMtlsConfig.trustStoreConfig.trustStoreId ts_1",
			"spec.connectionFunctionAssociation.id cf_1",
			"spec.logging.bucket logs.s3.amazonaws.com",
		}},
		"a tenant": {tenant, "DistributionTenant", []string{"spec.distributionId E1", "spec.customizations.geoRestrictions"}},
	} {
		empty := grant.Standing{Grant: &grant.Grant{Name: "shop", Kinds: []string{c.kind}}}
		var got []string
		for _, w := range convert.Wants(c.object) {
			if refusal := empty.Judge("shop", []grant.Want{w}, metav1.Now().Time); refusal != nil {
				got = append(got, strings.TrimSpace(refusal.Field+" "+w.Value))
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The JSON of the default grant says what it grants, and to which namespaces if not to all.
func TestTheDefaultGrant(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, fails string
		names       []string
	}{
		"every namespace that no other selects":  {text: `{"kinds":["Distribution"]}`},
		"some of them":                           {text: `{"namespaces":{"names":["play","dev-*"]}}`, names: []string{"play", "dev-*"}},
		"none is a mistake":                      {text: `{"namespaces":{"names":[]}}`, fails: "namespaces: it selects none"},
		"so is nothing at all":                   {text: `{"namespaces":{}}`, fails: "namespaces: it selects none"},
		"and what can't be a name":               {text: `{"namespaces":{"names":["*-shop"]}}`, fails: `namespaces.names: "*-shop" is neither`},
		"only an EdgeGrant can name an account":  {text: `{"account":{"id":"111122223333"}}`, fails: "account: only an EdgeGrant"},
		"what a grant does not have is no field": {text: `{"zones":[]}`, fails: "unknown field"},
	} {
		g, err := convert.DefaultGrant(c.text)
		switch {
		case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)):
			t.Errorf("%s: %v", name, err)
		case c.fails == "" && (err != nil || !cmp.Equal(g.Namespaces.Names, c.names)):
			t.Errorf("%s: %+v, %v", name, g, err)
		}
	}
}

// Each field about distributions grants one thing, and nothing else.
func TestAGrantOfWhatDistributionsUse(t *testing.T) {
	t.Parallel()
	o := &v1alpha1.EdgeGrant{}
	if err := json.Unmarshal([]byte(`{"geoRestrictions":true,"origins":{"domains":["a"],"vpcOrigins":["b"],"accessControls":["c"]},
		"functions":["d"],"keyGroups":["e"],"fieldLevelEncryptions":["f"],"logBuckets":["g"]}`), &o.Spec); err != nil {
		t.Fatal(err)
	}
	g, err := convert.Grant(o)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for thing, value := range map[grant.Thing]string{
		grant.AnOrigin: "a", grant.AVPCOrigin: "b", grant.AnAccessControl: "c", grant.AFunction: "d", grant.AKeyGroup: "e",
		grant.ATrustStore: "e", grant.AnEncryption: "f", grant.ALogBucket: "g", grant.ALogConfig: "g", grant.AGeoRestriction: "",
	} {
		for _, v := range []string{value, "other"} {
			refused := grant.Standing{Grant: &g}.Judge("shop", []grant.Want{{Thing: thing, Field: "f", Value: v}}, metav1.Now().Time) != nil
			if refused != (v == "other" && thing != grant.AGeoRestriction) {
				got = append(got, v)
			}
		}
	}
	if len(got) > 0 {
		t.Errorf("wrong for %q", got)
	}
}
