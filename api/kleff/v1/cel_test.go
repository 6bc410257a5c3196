package v1_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/limits"
)

var kinds = map[string]limits.Kind{
	"Tenant": {
		Least: `{plan: basic, userId: user-12345, username: exampleuser}`,
		Cases: limits.Merged(tenantCases, tenantBounds()),
	},
	"TenantPlan": {
		Least: `{}`,
		Cases: limits.Merged(planCases, planBounds(), coreCases, quantityCases()),
		// They are those of a TenantSource, where each limit of theirs is shown.
		Elsewhere: []string{"spec.distributionTenant.template", "spec.distributionTenant.mapping[]", "spec.distributionTenant.expressions[]"},
	},
}

func TestValidation(t *testing.T) {
	crds := limits.CRDs(t, crdFolder, kleffv1.GroupName)
	for kind := range crds {
		if _, ok := kinds[kind]; !ok {
			t.Errorf("the limits of %s are not tested: add it to kinds", kind)
		}
	}
	for kind := range kinds {
		t.Run(kind, func(t *testing.T) { tested(kind).Show(t, kube, "", crds[kind]) })
	}
}

func tested(kind string) limits.Kind {
	k := kinds[kind]
	k.GroupVersionKind = kleffv1.SchemeGroupVersion.WithKind(kind)
	return k
}

// A plan describes edge tenants in the language of sources: a source can be copied into a plan.
func TestEdgeTenantsAreWrittenAsThoseOfASource(t *testing.T) {
	spec := func(crd *apiextensionsv1.CustomResourceDefinition) apiextensionsv1.JSONSchemaProps {
		return crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	}
	source := spec(limits.CRDs(t, crdFolder, v1alpha1.GroupName)["TenantSource"])
	edge := spec(limits.CRDs(t, crdFolder, kleffv1.GroupName)["TenantPlan"]).Properties["distributionTenant"]
	for _, field := range []string{"template", "mapping", "expressions"} {
		want, got := source.Properties[field], edge.Properties[field]
		want.Description, got.Description = "", ""
		if len(want.Properties) == 0 && want.Items == nil {
			t.Fatalf("a source has no %s", field)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s differs (-source +plan):\n%s", field, diff)
		}
	}
}

// tenantCases are the rules of a Tenant. Which names a namespace and a label may have is the operator's to judge, not the API server's:
// manifests that were written for other operators are taken as they are.
var tenantCases = map[string]limits.Case{
	"a namespace that userId names can't be changed": {
		Stored:   `{userId: user-12345}`,
		Accepted: `{userId: user-12345, plan: pro, username: other, suspended: true, deletionPolicy: Retain, deletionProtection: true}`,
		Refused:  `{userId: user-67890}`,
		Says:     []string{"spec.namespace", `cannot be changed and is "user-12345"`, "set spec.namespace to it, or delete this object and create a new one"},
	},
	"a namespace that userId names can be named by namespace instead": {
		Stored:   `{userId: user-12345}`,
		Accepted: `{userId: "auth0|5f7c", namespace: user-12345}`,
		Refused:  `{userId: user-12345, namespace: customer}`,
		Says:     []string{"spec.namespace", `is "user-12345"`},
	},
	"a namespace that is named can be named by userId instead": {
		Stored:   `{userId: "auth0|5f7c", namespace: customer}`,
		Accepted: `{userId: customer}`,
		Refused:  `{userId: "auth0|5f7c"}`,
		Says:     []string{"spec.namespace", `is "customer"`, "set spec.namespace to it"},
	},
	"a namespace that is named can't be changed": {
		Stored:   `{namespace: customer}`,
		Accepted: `{namespace: customer, userId: user-67890}`,
		Refused:  `{namespace: other}`,
		Says:     []string{"spec.namespace", `is "customer"`},
	},
	"a userId that is no name of a namespace is fixed by namespace, and the name stays from then on": {
		Stored:   `{userId: "auth0|5f7c", namespace: customer}`,
		Accepted: `{userId: "auth0|6a8d", namespace: customer}`,
		Refused:  `{userId: "auth0|5f7c", namespace: null}`,
		Says:     []string{"spec.namespace", `is "customer"`},
	},
	"a name of 63 characters is one that can't be changed": {
		Stored:   `{userId: ` + strings.Repeat("a", 63) + `}`,
		Accepted: `{userId: x, namespace: ` + strings.Repeat("a", 63) + `}`,
		Refused:  `{userId: x}`,
		Says:     []string{"spec.namespace", "cannot be changed"},
	},
	"a plan is required":     {Accepted: `plan: basic`, Refused: `plan: null`, Says: []string{"spec.plan", "Required"}},
	"a userId is required":   {Accepted: `userId: user-12345`, Refused: `{userId: null, namespace: customer}`, Says: []string{"spec.userId", "Required"}},
	"a username is required": {Accepted: `username: exampleuser`, Refused: `username: null`, Says: []string{"spec.username", "Required"}},
	"what is not of the kind is refused": {
		Accepted: `{}`,
		Refused:  `userID: user-12345`,
		Says:     []string{`unknown field "spec.userID"`},
	},
}

// A name that can't be used never got a namespace, so it may be fixed.
func TestANameThatCanNotBeIsCured(t *testing.T) {
	for name, tc := range map[string]struct{ from, to string }{
		"by a namespace":                    {`{userId: "auth0|5f7c"}`, `{userId: "auth0|5f7c", namespace: customer}`},
		"by another userId":                 {`{userId: User_12345}`, `{userId: user-12345}`},
		"by another namespace":              {`{namespace: Customer}`, `{namespace: customer}`},
		"by taking the namespace away":      {`{namespace: "a.b"}`, `{}`},
		"of 64 characters":                  {`{userId: ` + strings.Repeat("a", 64) + `}`, `{userId: a}`},
		"that begins with a hyphen":         {`{userId: -a}`, `{userId: a}`},
		"that ends with a hyphen":           {`{userId: a-}`, `{userId: a}`},
		"by one that can't be just as well": {`{userId: "a b"}`, `{userId: "a c"}`},
	} {
		t.Run(name, func(t *testing.T) {
			if err := tested("Tenant").Try(t, kube, "", limits.Case{Stored: tc.from}, tc.to); err != nil {
				t.Error(err)
			}
		})
	}
}

// Names that other operators of this kind took are taken; the operator says in a condition what is wrong with them.
func TestNamesAreTheOperatorsToJudge(t *testing.T) {
	for _, fields := range []string{
		`{userId: kube-system}`, `{userId: default}`, `{userId: "auth0|5f7c"}`, `{userId: Jane Doe}`, `{username: "Jane Döe"}`,
		`{username: ` + strings.Repeat("u", 253) + `}`, `{plan: "Basic plan"}`, `{namespace: kube-public}`, `{namespace: No_Namespace}`,
	} {
		t.Run(fields, func(t *testing.T) {
			if err := tested("Tenant").Try(t, kube, "", limits.Case{}, fields); err != nil {
				t.Error(err)
			}
		})
	}
}

func tenantBounds() map[string]limits.Case {
	return limits.Merged(
		limits.Texts(
			limits.TextBound{Field: "plan", Set: limits.In("plan: %s").Text, Longest: 253, Shortest: "b"},
			limits.TextBound{Field: "userId", Set: limits.In("userId: %s").Text, Longest: 253, Shortest: "u"},
			limits.TextBound{Field: "username", Set: limits.In("username: %s").Text, Longest: 253, Shortest: "e"},
			limits.TextBound{Field: "namespace", Set: limits.In("namespace: %s").Text, Longest: 253, Shortest: "n"},
		),
		limits.Choices(limits.Choice("deletionPolicy", limits.In("deletionPolicy: %s"), []string{"Delete", "Retain"}, "Orphan")),
	)
}

// planCases are the rules of a TenantPlan.
var planCases = map[string]limits.Case{
	"ingress comes from namespaces": {
		Accepted: `ingressNamespaces: [istio-ingress, gateways-2]`,
		Refused:  `ingressNamespaces: [istio-ingress, Istio_System]`,
		Says:     []string{"spec.ingressNamespaces", "must be names of namespaces"},
	},
	"a namespace is listed once": {
		Accepted: `ingressNamespaces: [a, b]`,
		Refused:  `ingressNamespaces: [a, a]`,
		Says:     []string{"spec.ingressNamespaces[1]", "Duplicate value"},
	},
	"labels of the operator are its own": {
		Accepted: `labels: {example.com/team: edge, cost-center: "42", mykleff.io/x: ""}`,
		Refused:  `labels: {kleff.io/tenant: other}`,
		Says:     []string{"spec.labels", "are set by the operator", "use podSecurity and istio"},
	},
	"pod security has fields of its own": {
		Accepted: `podSecurity: {enforce: restricted}`,
		Refused:  `labels: {pod-security.kubernetes.io/enforce: privileged}`,
		Says:     []string{"spec.labels", "use podSecurity and istio"},
	},
	"the label of injection has a field of its own": {
		Accepted: `istio: {injection: Disabled}`,
		Refused:  `labels: {istio-injection: disabled}`,
		Says:     []string{"spec.labels", "use podSecurity and istio"},
	},
	"a revision of Istio has a field of its own": {
		Accepted: `istio: {revision: canary}`,
		Refused:  `labels: {istio.io/rev: canary}`,
		Says:     []string{"spec.labels", "use podSecurity and istio"},
	},
	"ambient has a field of its own": {
		Accepted: `istio: {injection: Ambient}`,
		Refused:  `labels: {istio.io/dataplane-mode: ambient}`,
		Says:     []string{"spec.labels", "use podSecurity and istio"},
	},
	"who manages a namespace is not the plan's to say": {
		Accepted: `labels: {app.kubernetes.io/part-of: platform}`,
		Refused:  `labels: {app.kubernetes.io/managed-by: helm}`,
		Says:     []string{"spec.labels", "app.kubernetes.io/managed-by are set by the operator"},
	},
	"the label with a namespace's name is the API server's": {
		Accepted: `labels: {kubernetes.io/os: linux}`,
		Refused:  `labels: {kubernetes.io/metadata.name: default}`,
		Says:     []string{"spec.labels", "remove them"},
	},
	"a value of a label has a form": {
		Accepted: `labels: {team: A_b.c-9}`,
		Refused:  `labels: {team: "the edge"}`,
		Says:     []string{"spec.labels.team", "should match"},
	},
	"annotations of the operator are its own": {
		Accepted: `annotations: {example.com/contact: "edge@example.com, or 555"}`,
		Refused:  `annotations: {kleff.io/adopt-by: other}`,
		Says:     []string{"spec.annotations", "annotations with the prefix kleff.io/ are reserved for the operator: remove them"},
	},
	"pod security says something": {
		Accepted: `podSecurity: {warn: baseline}`,
		Refused:  `podSecurity: {}`,
		Says:     []string{"spec.podSecurity", "at least 1 properties"},
	},
	"a version of pod security is one of Kubernetes": {
		Accepted: `podSecurity: {enforce: baseline, version: v1.36}`,
		Refused:  `podSecurity: {enforce: baseline, version: "1.36"}`,
		Says:     []string{"spec.podSecurity.version", `"1.36" is not a pod security version`, "use latest, or a version such as v1.36"},
	},
	"the latest version of pod security": {
		Accepted: `podSecurity: {enforce: baseline, version: latest}`,
		Refused:  `podSecurity: {enforce: baseline, version: v1.036}`,
		Says:     []string{"spec.podSecurity.version", `"v1.036" is not a pod security version`},
	},
	"an owner has a role": {
		Accepted: `owner: {clusterRole: "edit"}`,
		Refused:  `owner: {}`,
		Says:     []string{"spec.owner.clusterRole", "Required"},
	},
	"a revision injects sidecars": {
		Accepted: `istio: {revision: canary, injection: Enabled}`,
		Refused:  `istio: {revision: canary, injection: Ambient}`,
		Says:     []string{"spec.istio.revision", "remove revision, or set injection to Enabled"},
	},
	"a revision is of no use without sidecars": {
		Accepted: `istio: {revision: canary}`,
		Refused:  `istio: {revision: canary, injection: Disabled}`,
		Says:     []string{"spec.istio.revision", "remove revision, or set injection to Enabled"},
	},
	"a revision has a name": {
		Accepted: `istio: {revision: 1-28-0}`,
		Refused:  `istio: {revision: 1.28.0}`,
		Says:     []string{"spec.istio.revision", `"1.28.0" is not a revision`, "use lower-case letters, digits and inner hyphens"},
	},
	"a gateway has a selector": {
		Accepted: gateway(`{}`),
		Refused:  gateway(`selector: null`),
		Says:     []string{"spec.istio.gateway.selector", "Required"},
	},
	"the selector of a gateway selects": {
		Accepted: gateway(`selector: {istio: ingressgateway}`),
		Refused:  gateway(`selector: {}`),
		Says:     []string{"spec.istio.gateway.selector", "at least 1 properties"},
	},
	"a gateway is selected by labels": {
		Accepted: gateway(`selector: {istio: ingress-gateway}`),
		Refused:  gateway(`selector: {istio: "ingress gateway"}`),
		Says:     []string{"spec.istio.gateway.selector.istio", "should match"},
	},
	"a gateway has hosts": {
		Accepted: gateway(`hosts: ["{{username}}.apps.example.com"]`),
		Refused:  gateway(`hosts: null`),
		Says:     []string{"spec.istio.gateway.hosts", "Required"},
	},
	"a host is listed once": {
		Accepted: gateway(`hosts: [a.example.com, b.example.com]`),
		Refused:  gateway(`hosts: [a.example.com, a.example.com]`),
		Says:     []string{"spec.istio.gateway.hosts[1]", "Duplicate value"},
	},
	"constraints are there": {
		Accepted: constraint(`{}`),
		Refused:  `gatekeeper: {}`,
		Says:     []string{"spec.gatekeeper.constraints", "Required"},
	},
	"a constraint has a kind": {
		Accepted: constraint(`{}`),
		Refused:  constraint(`kind: null`),
		Says:     []string{"spec.gatekeeper.constraints[0].kind", "Required"},
	},
	"a constraint has a name": {
		Accepted: constraint(`{}`),
		Refused:  constraint(`name: null`),
		Says:     []string{"spec.gatekeeper.constraints[0].name", "Required"},
	},
	"the kind of a constraint has a form": {
		Accepted: constraint(`kind: K8sAllowedRepos`),
		Refused:  constraint(`kind: k8sallowedrepos`),
		Says:     []string{"spec.gatekeeper.constraints[0].kind", `"k8sallowedrepos" is not a kind`, "use a capital letter"},
	},
	"the name of a constraint has a form": {
		Accepted: constraint(`name: basic.registries-1`),
		Refused:  constraint(`name: Basic`),
		Says:     []string{"spec.gatekeeper.constraints[0].name", `"Basic" is not an object name`, "use lower-case letters"},
	},
	"a constraint is listed once": {
		Accepted: `gatekeeper: {constraints: [{kind: A, name: a}, {kind: A, name: b}, {kind: B, name: a}]}`,
		Refused:  `gatekeeper: {constraints: [{kind: A, name: a}, {kind: A, name: a}]}`,
		Says:     []string{"spec.gatekeeper.constraints[1]", "Duplicate value"},
	},
	"parameters are an object, whatever is in it": {
		Accepted: constraint(`parameters: {registries: [registry.example.com/], nested: {deep: [1, 2.5, true]}}`),
		Refused:  constraint(`parameters: [registry.example.com/]`),
		Says:     []string{"spec.gatekeeper.constraints[0].parameters", "object"},
	},
	"kinds of objects have groups": {
		Accepted: constraint(`kinds: [{apiGroups: ["", apps], kinds: [Pod]}]`),
		Refused:  constraint(`kinds: [{kinds: [Pod]}]`),
		Says:     []string{"spec.gatekeeper.constraints[0].kinds[0].apiGroups", "Required"},
	},
	"a group is listed once": {
		Accepted: constraint(`kinds: [{apiGroups: ["", apps], kinds: ["*"]}]`),
		Refused:  constraint(`kinds: [{apiGroups: ["", ""], kinds: ["*"]}]`),
		Says:     []string{"spec.gatekeeper.constraints[0].kinds[0].apiGroups[1]", "Duplicate value"},
	},
	"kinds of objects are named": {
		Accepted: constraint(`kinds: [{apiGroups: ["*"], kinds: ["*"]}]`),
		Refused:  constraint(`kinds: [{apiGroups: ["*"]}]`),
		Says:     []string{"spec.gatekeeper.constraints[0].kinds[0].kinds", "Required"},
	},
	"a kind of objects is listed once": {
		Accepted: constraint(`kinds: [{apiGroups: [""], kinds: [Pod, Service]}]`),
		Refused:  constraint(`kinds: [{apiGroups: [""], kinds: [Pod, Pod]}]`),
		Says:     []string{"spec.gatekeeper.constraints[0].kinds[0].kinds[1]", "Duplicate value"},
	},
	"an edge tenant says something": {
		Accepted: `distributionTenant: {template: {spec: {distributionId: E2EXAMPLE1}}}`,
		Refused:  `distributionTenant: {}`,
		Says:     []string{"spec.distributionTenant", "at least 1 properties"},
	},
	"a field of an edge tenant is mapped once": {
		Accepted: `distributionTenant: {mapping: [{column: username, field: name}, {column: plan, field: "parameters[tier]"}]}`,
		Refused:  `distributionTenant: {mapping: [{column: username, field: name}, {column: plan, field: name}]}`,
		Says:     []string{"spec.distributionTenant.mapping[1]", "Duplicate value"},
	},
	"a field of an edge tenant is computed once": {
		Accepted: `distributionTenant: {expressions: [{field: domains, expression: row.username}]}`,
		Refused:  `distributionTenant: {expressions: [{field: domains, expression: row.username}, {field: domains, expression: row.plan}]}`,
		Says:     []string{"spec.distributionTenant.expressions[1]", "Duplicate value"},
	},
	"a share is a whole number": {
		Accepted: `rollout: {maxFailedPercent: 0}`,
		Refused:  `rollout: {maxFailedPercent: 10%}`,
		Says:     []string{"spec.rollout.maxFailedPercent", "integer"},
	},
}

// coreCases are those of the core API's own specs: what a quantity is, and what has to be there.
var coreCases = map[string]limits.Case{
	"a quota has quantities": {
		Accepted: `resourceQuota: {hard: {requests.cpu: "4", limits.memory: 8Gi, pods: 20, count/deployments.apps: "5"}}`,
		Refused:  `resourceQuota: {hard: {requests.cpu: four}}`,
		Says:     []string{"spec.resourceQuota.hard.requests.cpu", "four", "should match"},
	},
	"a scope of a quota has a name": {
		Accepted: `resourceQuota: {scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [low]}]}}`,
		Refused:  `resourceQuota: {scopeSelector: {matchExpressions: [{operator: In, values: [low]}]}}`,
		Says:     []string{"spec.resourceQuota.scopeSelector.matchExpressions[0].scopeName", "Required"},
	},
	"a scope of a quota has an operator": {
		Accepted: `resourceQuota: {scopeSelector: {matchExpressions: [{scopeName: BestEffort, operator: Exists}]}}`,
		Refused:  `resourceQuota: {scopeSelector: {matchExpressions: [{scopeName: BestEffort}]}}`,
		Says:     []string{"spec.resourceQuota.scopeSelector.matchExpressions[0].operator", "Required"},
	},
	"limits are there": {
		Accepted: `limitRange: {limits: []}`,
		Refused:  `limitRange: {}`,
		Says:     []string{"spec.limitRange.limits", "Required"},
	},
	"limits are of a type": {
		Accepted: `limitRange: {limits: [{type: Pod, max: {cpu: "2"}}]}`,
		Refused:  `limitRange: {limits: [{max: {cpu: "2"}}]}`,
		Says:     []string{"spec.limitRange.limits[0].type", "Required"},
	},
}

func quantityCases() map[string]limits.Case {
	cases := map[string]limits.Case{}
	for _, field := range []string{"default", "defaultRequest", "max", "maxLimitRequestRatio", "min"} {
		cases["limits have quantities: "+field] = limits.Case{
			Accepted: `limitRange: {limits: [{type: Container, ` + field + `: {cpu: 500m, memory: 1.5Gi}}]}`,
			Refused:  `limitRange: {limits: [{type: Container, ` + field + `: {cpu: half}}]}`,
			Says:     []string{"spec.limitRange.limits[0]." + field + ".cpu", "half", "should match"},
		}
	}
	return cases
}

// gateway is a plan with a gateway that has these fields.
func gateway(fields string) string {
	return "istio: {gateway: " + limits.Overlay(`{selector: {istio: ingressgateway}, hosts: [a.example.com]}`, fields) + "}"
}

// constraint is a plan with a constraint that has these fields.
func constraint(fields string) string {
	return "gatekeeper: {constraints: [" + limits.Overlay(`{kind: KleffAllowedRegistries, name: basic}`, fields) + "]}"
}

func planBounds() map[string]limits.Case {
	istio, inGateway, inConstraint := limits.In("istio: {%s}"), limits.Setter(gateway), limits.Setter(constraint)
	inKinds := inConstraint.Into("kinds: [%s]")
	levels := []string{"privileged", "baseline", "restricted"}
	isolation := []string{"None", "Namespace", "NamespaceAndIngress"}
	return limits.Merged(
		limits.Texts(
			limits.TextBound{Field: "ingressNamespaces[0]", Set: limits.In("ingressNamespaces: [%s]").Text, Longest: 63, Shortest: "a"},
			limits.TextBound{Field: "labels.team", Set: limits.In("labels: {team: %s}").Text, Longest: 63},
			limits.TextBound{Field: "annotations.contact", Set: limits.In("annotations: {contact: %s}").Text, Longest: 4096},
			limits.TextBound{Field: "podSecurity.version", Set: limits.In("podSecurity: {version: %s}").Text, Longest: 16, Start: "v1.1", Shortest: "v1.1"},
			limits.TextBound{Field: "owner.clusterRole", Set: limits.In("owner: {clusterRole: %s}").Text, Longest: 253, Shortest: "e"},
			limits.TextBound{Field: "istio.revision", Set: istio.Into("revision: %s").Text, Longest: 63, Shortest: "r"},
			limits.TextBound{Field: "istio.gateway.selector.istio", Set: inGateway.Into("selector: {istio: %s}").Text, Longest: 63},
			limits.TextBound{Field: "istio.gateway.hosts[0]", Set: inGateway.Into("hosts: [%s]").Text, Longest: 512, Shortest: "a"},
			limits.TextBound{Field: "istio.gateway.tlsSecret", Set: inGateway.Into("tlsSecret: %s").Text, Longest: 253, Shortest: "a"},
			limits.TextBound{Field: "gatekeeper.constraints[0].kind", Set: inConstraint.Into("kind: %s").Text, Longest: 63, Start: "K", Shortest: "K"},
			limits.TextBound{Field: "gatekeeper.constraints[0].name", Set: inConstraint.Into("name: %s").Text, Longest: 63, Shortest: "n"},
			limits.TextBound{Field: "gatekeeper.constraints[0].kinds[0].apiGroups[0]", Set: inKinds.Into("{kinds: [Pod], apiGroups: [%s]}").Text, Longest: 253},
			limits.TextBound{Field: "gatekeeper.constraints[0].kinds[0].kinds[0]", Set: inKinds.Into("{apiGroups: [''], kinds: [%s]}").Text, Longest: 63, Shortest: "*"},
		),
		limits.Rollouts(100),
		limits.Choices(
			limits.Choice("networkIsolation", limits.In("networkIsolation: %s"), isolation, "Cluster"),
			limits.Choice("podSecurity.enforce", limits.In("podSecurity: {enforce: %s}"), levels, "strict"),
			limits.Choice("podSecurity.audit", limits.In("podSecurity: {audit: %s}"), levels, "strict"),
			limits.Choice("podSecurity.warn", limits.In("podSecurity: {warn: %s}"), levels, "strict"),
			limits.Choice("istio.injection", istio.Into("injection: %s"), []string{"Enabled", "Disabled", "Ambient"}, "enabled"),
			limits.Choice("istio.authorizationPolicy", istio.Into("authorizationPolicy: %s"), isolation, "Cluster"),
			limits.Choice("istio.peerAuthentication", istio.Into("peerAuthentication: %s"), []string{"STRICT", "PERMISSIVE", "DISABLE"}, "strict"),
			limits.Choice("gatekeeper.constraints[0].enforcementAction", inConstraint.Into("enforcementAction: %s"), []string{"deny", "dryrun", "warn"}, "scoped"),
		),
		limits.Lists(
			limits.ListBound{Field: "ingressNamespaces", Set: limits.In("ingressNamespaces: %s"), Most: 16, Item: "n%d", Least: 1},
			limits.ListBound{Field: "istio.gateway.hosts", Set: inGateway.Into("hosts: %s"), Most: 32, Item: "h%d.example.com", Least: 1},
			limits.ListBound{Field: "gatekeeper.constraints", Set: limits.In("gatekeeper: {constraints: %s}"), Most: 32, Item: "{kind: K, name: n%d}", Least: 1},
			limits.ListBound{Field: "gatekeeper.constraints[0].kinds", Set: inConstraint.Into("kinds: %s"), Most: 16, Item: "{apiGroups: [g%d], kinds: [Pod]}", Least: 1},
			limits.ListBound{Field: "gatekeeper.constraints[0].kinds[0].apiGroups", Set: inKinds.Into("{kinds: [Pod], apiGroups: %s}"), Most: 16, Item: "g%d", Least: 1},
			limits.ListBound{Field: "gatekeeper.constraints[0].kinds[0].kinds", Set: inKinds.Into("{apiGroups: [''], kinds: %s}"), Most: 16, Item: "K%d", Least: 1},
			limits.ListBound{Field: "distributionTenant.mapping", Set: limits.In("distributionTenant: {mapping: %s}"), Most: 100, Item: "{column: plan, field: 'parameters[p%d]'}"},
			limits.ListBound{Field: "distributionTenant.expressions", Set: limits.In("distributionTenant: {expressions: %s}"), Most: 50, Item: "{expression: row.plan, field: 'parameters[p%d]'}"},
		),
		entries("labels", limits.In("labels: {%s}"), 50),
		entries("annotations", limits.In("annotations: {%s}"), 50),
		entries("istio.gateway.selector", inGateway.Into("selector: {%s}"), 16),
	)
}

// entries shows how many a map may have.
func entries(field string, set limits.Setter, most int) map[string]limits.Case {
	of := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = "k" + strings.Repeat("x", i) + ": v"
		}
		return set(strings.Join(list, ", "))
	}
	return map[string]limits.Case{
		field + " does not have too many entries": {Accepted: of(most), Refused: of(most + 1), Says: []string{"spec." + field, "Too many"}},
	}
}
