package policies_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// team is the namespace of the users who try, and there is one more.
const team, otherTeam = "team", "other-team"

const (
	tenantOf = `{apiVersion: cloudfront-tenant-operator.io/v1alpha1, kind: DistributionTenant, metadata: {name: acme, namespace: team},
  spec: {distributionId: E2EXAMPLE1, domains: [{domain: acme.example.com}]%s}}`
	groupOf        = `{apiVersion: cloudfront-tenant-operator.io/v1alpha1, kind: ConnectionGroup, metadata: {name: shared, namespace: team}, spec: {enabled: true%s}}`
	distributionOf = `{apiVersion: cloudfront-tenant-operator.io/v1alpha1, kind: Distribution, metadata: {name: shop, namespace: team}, spec: {
  origins: [{id: app, domainName: app.example.com, customOriginConfig: {}}],
  defaultCacheBehavior: {targetOriginId: app, viewerProtocolPolicy: redirect-to-https, cachePolicyId: 4135ea2d-6df8-44a3-9df3-4b5a84be39ad}%s}}`
	sourceOf = `{apiVersion: cloudfront-tenant-operator.io/v1alpha1, kind: TenantSource, metadata: {name: customers, namespace: team},
  spec: {provider: dynamodb, distributionId: E2EXAMPLE1, dynamodb: {tableName: customers, region: eu-central-1}%s}}`
	planOf     = `{apiVersion: kleff.kleff.io/v1, kind: TenantPlan, metadata: {name: basic}, spec: {networkIsolation: Namespace%s}}`
	customerOf = `{apiVersion: kleff.kleff.io/v1, kind: Tenant, metadata: {name: customer}, spec: {plan: basic, userId: customer-1, username: customer%s}}`
)

// action is a verb, with what asks for it and what is close to it.
type action struct {
	verb, resource string
	// asks and harmless have manifests, and with asks the text that names the field and its value.
	asks     map[string]string
	harmless []string
}

func with(manifest, spec string) string { return fmt.Sprintf(manifest, spec) }

var actions = []action{
	{"adopt", "distributiontenants", map[string]string{
		with(tenantOf, ", adoptionPolicy: IfUnowned"):                                                           "adoptionPolicy IfUnowned",
		with(tenantOf, ", adoptionPolicy: Force"):                                                               "adoptionPolicy Force",
		with(sourceOf, ", template: {spec: {adoptionPolicy: Force}}"):                                           "adoptionPolicy Force",
		with(sourceOf, ", mapping: [{field: adoptionPolicy, column: policy}]"):                                  "adoptionPolicy lets",
		with(sourceOf, `, expressions: [{field: adoptionPolicy, expression: '"Force"'}]`):                       "adoptionPolicy lets",
		with(planOf, ", distributionTenant: {template: {spec: {adoptionPolicy: IfUnowned}}}"):                   "in all namespaces",
		with(planOf, ", distributionTenant: {expressions: [{field: adoptionPolicy, expression: '\"Force\"'}]}"): "kubectl create clusterrolebinding adopt --clusterrole=cloudfront-tenant-operator-adopt",
	}, []string{
		with(tenantOf, ""), with(tenantOf, ", adoptionPolicy: Never"), with(sourceOf, ", template: {spec: {adoptionPolicy: Never}}"),
		with(sourceOf, ", mapping: [{field: tenantName, column: policy}]"), with(planOf, ""), with(planOf, ", distributionTenant: {template: {spec: {enabled: true}}}"),
	}},
	{"adopt", "distributions", map[string]string{
		with(distributionOf, ", adoptionPolicy: Force"):                                 "adoptionPolicy Force",
		with(distributionOf, ", distributionId: E2EXAMPLE1, adoptionPolicy: IfUnowned"): "spec.distributionId",
	}, []string{with(distributionOf, "")}},
	{"adopt", "connectiongroups", map[string]string{with(groupOf, ", adoptionPolicy: IfUnowned"): "adoptionPolicy IfUnowned"}, []string{with(groupOf, "")}},
	{"takeover", "distributiontenants", map[string]string{
		with(tenantOf, ", dns: {provider: route53, takeover: true}"):                                                              "dns.takeover true replaces DNS records",
		with(sourceOf, ", template: {spec: {dns: {provider: route53, takeover: true}}}"):                                          "dns.takeover true",
		with(sourceOf, ", mapping: [{field: dns.takeover, column: t}]"):                                                           "dns.takeover replaces",
		with(planOf, ", distributionTenant: {template: {spec: {dns: {takeover: true}}}}"):                                         "dns.takeover true",
		with(tenantOf, ", keyValues: {storeArn: 'arn:aws:cloudfront::111122223333:key-value-store/a', value: v, takeover: true}"): "keyValues.takeover true replaces values",
		with(sourceOf, ", mapping: [{field: keyValues.takeover, column: t}]"):                                                     "keyValues.takeover replaces",
	}, []string{with(tenantOf, ", dns: {provider: route53, takeover: false}"), with(tenantOf, ", dns: {provider: route53}"), with(sourceOf, ", mapping: [{field: dns.ttl, column: t}]")}},
	{"disablewebacl", "distributiontenants", map[string]string{
		with(tenantOf, ", customizations: {webAcl: {action: disable}}"):                                         "customizations.webAcl.action disable",
		with(sourceOf, ", template: {spec: {customizations: {webAcl: {action: disable}}}}"):                     "customizations.webAcl.action disable",
		with(sourceOf, ", expressions: [{field: customizations.webAcl.action, expression: row.w}]"):             "customizations.webAcl.action serves",
		with(planOf, ", distributionTenant: {template: {spec: {customizations: {webAcl: {action: disable}}}}}"): "customizations.webAcl.action disable",
	}, []string{
		with(tenantOf, ", customizations: {webAcl: {action: override, arn: 'arn:aws:wafv2:us-east-1:111122223333:global/webacl/a/b'}}"),
		with(tenantOf, ", customizations: {geoRestrictions: {restrictionType: none}}"), with(tenantOf, ", customizations: {}"),
	}},
}

// A field that reaches further than its object needs a verb, whether the object has it or a template of objects.
func TestRestrictedFieldsNeedAVerb(t *testing.T) {
	createNamespace(t, team)
	createNamespace(t, otherTeam)
	editor, holder := people(t, team)
	local := "local-" + holder // who has the verbs in one namespace only
	bindEditors(t, local)
	for _, verb := range verbs {
		bind(t, team, "cloudfront-tenant-operator-"+verb, local)
	}
	for _, a := range actions {
		for manifest, says := range a.asks {
			o := object(t, manifest)
			name := a.verb + ": " + o.GetKind() + " with " + says
			must := []string{says, "needs the verb " + a.verb + " on " + a.resource + ".cloudfront-tenant-operator.io", editor + " does not have", "--clusterrole=cloudfront-tenant-operator-" + a.verb + " --user=" + editor}
			eventually(t, name, func() error { return refused(doCreate(t, as(t, editor), o)(), must...) })
			if o.GetKind() == "TenantPlan" {
				eventually(t, name+", by one who may in a namespace", func() error { return refused(doCreate(t, as(t, local), o)(), "in all namespaces") })
			} else {
				eventually(t, name+", by one who may in this namespace", doCreate(t, as(t, local), o))
			}
			eventually(t, name+", with the verb", doCreate(t, as(t, holder), o))
			judge(t, name+", by the operator", doCreate(t, as(t, chart.User()), o), "")
		}
		for _, manifest := range a.harmless {
			eventually(t, a.verb+": harmless: "+manifest, doCreate(t, as(t, editor), object(t, manifest)))
		}
	}

	// The verb counts where tenants are made.
	elsewhere := object(t, with(sourceOf, ", targetNamespace: other-team, template: {spec: {adoptionPolicy: Force}}"))
	eventually(t, "a source with tenants elsewhere", func() error {
		return refused(doCreate(t, as(t, local), elsewhere)(), "in the namespace other-team")
	})
	eventually(t, "a source with tenants elsewhere, with the verb there", doCreate(t, as(t, holder), elsewhere))
}

// Who edits what an administrator has made needs no verb for what they leave as it was.
func TestUpdatesThatLeaveARestrictedFieldPass(t *testing.T) {
	const namespace = "updates"
	createNamespace(t, namespace)
	editor, _ := people(t, namespace)
	for manifest, changes := range map[string]map[string]string{
		with(tenantOf, ", adoptionPolicy: IfUnowned, dns: {provider: route53, takeover: true}, customizations: {webAcl: {action: disable}}"): {
			`{"spec":{"enabled":false}}`: "", `{"metadata":{"labels":{"a":"b"}}}`: "",
			`{"spec":{"adoptionPolicy":"Force"}}`: "adoptionPolicy Force", `{"spec":{"adoptionPolicy":"Never"}}`: "",
			`{"spec":{"dns":{"takeover":false}}}`: "", `{"spec":{"dns":{"ttl":60}}}`: "", `{"spec":{"customizations":null}}`: "",
		},
		with(sourceOf, ", mapping: [{field: adoptionPolicy, column: policy}]"): {
			`{"spec":{"suspend":true}}`: "", `{"spec":{"mapping":null}}`: "", `{"spec":{"mapping":[{"field":"adoptionPolicy","column":"policy"},{"field":"tags[a]","column":"b"}]}}`: "",
			`{"spec":{"mapping":[{"field":"adoptionPolicy","column":"other"}]}}`: "adoptionPolicy lets", `{"spec":{"template":{"spec":{"adoptionPolicy":"Force"}}}}`: "adoptionPolicy",
			`{"spec":{"mapping":[{"field":"adoptionPolicy","column":"policy"},{"field":"dns.takeover","column":"t"}]}}`: "dns.takeover replaces",
		},
		with(distributionOf, ", distributionId: E2EXAMPLE1, adoptionPolicy: IfUnowned"): {
			`{"spec":{"comment":"x"}}`: "", `{"spec":{"adoptionPolicy":"Never"}}`: "", `{"spec":{"adoptionPolicy":"Force"}}`: "needs the verb adopt on distributions",
		},
		with(planOf, ", distributionTenant: {template: {spec: {dns: {takeover: true}}}}"): {
			`{"spec":{"networkIsolation":"None"}}`: "", `{"spec":{"distributionTenant":null}}`: "", `{"spec":{"distributionTenant":{"template":{"spec":{"adoptionPolicy":"Force"}}}}}`: "in all namespaces",
		},
	} {
		o := object(t, manifest)
		if o.GetNamespace() != "" {
			o.SetNamespace(namespace)
		}
		create(t, o)
		for patch, says := range changes {
			judge(t, o.GetKind()+" "+patch, doPatch(t, as(t, editor), o, patch), says)
		}
	}
}

const (
	finalizer = "cloudfront-tenant-operator.io/finalizer"
	memory    = `{"metadata":{"annotations":{"cloudfront-tenant-operator.io/%s":%s}}}`
)

// The operator's memory in metadata is its own.
func TestMemoryNeedsTheVerbAbandon(t *testing.T) {
	const namespace = "memories"
	createNamespace(t, namespace)
	editor, holder := people(t, namespace)
	operator := as(t, chart.User())
	keys := []string{"create-pending", "adopted-generation", "source-hash", "source-disabled"}
	labels := []string{"source", "source-namespace", "source-uid"}

	try := func(name string, o *unstructured.Unstructured, patch, says string) {
		t.Helper()
		what := o.GetKind() + ": " + name
		if says == "" {
			judge(t, what, doPatch(t, as(t, editor), o, patch), "")
			return
		}
		eventually(t, what, func() error {
			return refused(doPatch(t, as(t, editor), o, patch)(), says, "needs the verb abandon on ", editor+" does not have", "--clusterrole=cloudfront-tenant-operator-abandon --user="+editor)
		})
		eventually(t, what+", with the verb", doPatch(t, as(t, holder), o, patch))
		judge(t, what+", by the operator", doPatch(t, operator, o, patch), "")
	}
	for manifest, own := range map[string]string{
		with(tenantOf, ""): finalizer, with(groupOf, ""): finalizer, with(distributionOf, ""): finalizer, with(sourceOf, ""): finalizer,
		with(customerOf, ""): "kleff.io/namespace-finalizer", with(planOf, ""): "kleff.io/plan-finalizer",
	} {
		o := object(t, manifest)
		if o.GetNamespace() != "" {
			o.SetNamespace(namespace)
		} else {
			o.SetName("memory")
		}
		o.SetFinalizers([]string{own, "example.com/theirs"})
		create(t, o)
		try("removing the finalizers", o, `{"metadata":{"finalizers":null}}`, "the finalizer "+own)
		try("removing the operator's", o, `{"metadata":{"finalizers":["example.com/theirs"]}}`, "the finalizer "+own)
		try("removing another finalizer", o, `{"metadata":{"finalizers":["`+own+`"]}}`, "")
	}

	o := object(t, with(tenantOf, ""))
	o.SetNamespace(namespace)
	o.SetName("remembered")
	notes := map[string]string{"note": "x"}
	for _, key := range keys {
		notes["cloudfront-tenant-operator.io/"+key] = "x"
	}
	marks := map[string]string{}
	for _, key := range labels {
		marks["cloudfront-tenant-operator.io/"+key] = "x"
	}
	o.SetAnnotations(notes)
	o.SetLabels(marks)
	theirs := o.DeepCopy()
	create(t, o)
	for _, key := range keys {
		try("changing "+key, o, fmt.Sprintf(memory, key, `"y"`), "the annotation cloudfront-tenant-operator.io/"+key)
		try("removing "+key, o, fmt.Sprintf(memory, key, "null"), "the annotation cloudfront-tenant-operator.io/"+key)
	}
	for _, key := range labels {
		patch := strings.ReplaceAll(memory, "annotations", "labels")
		try("changing "+key, o, fmt.Sprintf(patch, key, `"y"`), "the label cloudfront-tenant-operator.io/"+key)
		try("removing "+key, o, fmt.Sprintf(patch, key, "null"), "the label cloudfront-tenant-operator.io/"+key)
	}
	for _, patch := range []string{
		`{"metadata":{"annotations":{"note":"y"},"labels":{"team":"edge"}}}`, `{"spec":{"enabled":false}}`,
		fmt.Sprintf(memory, "paused", `"true"`), fmt.Sprintf(memory, "reconcile-now", `"1"`), fmt.Sprintf(memory, "approve-deletions", `"x"`),
	} {
		try("what is the users' own", o, patch, "")
	}

	theirs.SetName("forged")
	judge(t, "creating what looks like a source's", doCreate(t, as(t, editor), theirs), "needs the verb abandon")
	judge(t, "creating it with the verb", doCreate(t, as(t, holder), theirs), "")
	all := &unstructured.UnstructuredList{}
	all.SetGroupVersionKind(o.GroupVersionKind())
	if err := kube.List(t.Context(), all, client.InNamespace(namespace)); err != nil || len(all.Items) != 2 {
		t.Errorf("%d tenants, %v; want the two that were made", len(all.Items), err)
	}
}

// people are an editor without verbs, and one who has them all.
func people(t *testing.T, namespace string) (editor, holder string) {
	t.Helper()
	editor, holder = "editor-"+namespace, "holder-"+namespace
	bindEditors(t, editor, holder)
	for _, verb := range verbs {
		if err := bindCluster(t.Context(), "cloudfront-tenant-operator-"+verb, holder); err != nil {
			t.Fatal(err)
		}
	}
	return editor, holder
}

var verbs = []string{"adopt", "takeover", "disablewebacl", "abandon"}

// bindEditors gives users the chart's roles for editors.
func bindEditors(t *testing.T, users ...string) {
	t.Helper()
	for _, role := range []string{"distributiontenants", "tenantsources", "distributions", "tenants", "tenantplans"} {
		if err := bindCluster(t.Context(), "cloudfront-tenant-operator-"+role+"-editor", users...); err != nil {
			t.Fatal(err)
		}
	}
}
