package plan_test

import (
	"strings"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/plans"
)

func TestCompileNamesMistakes(t *testing.T) {
	gateway := func(secret string, hosts ...string) plan.Spec {
		return plan.Spec{Istio: plan.Istio{Gateway: &plan.Gateway{Selector: map[string]string{"istio": "x"}, Hosts: hosts, TLSSecret: secret}}}
	}
	withEdge := func(f func(*mapping.Config)) plan.Spec { return plan.Spec{Edge: plans.Edge(f)} }
	const known = "use one of {{name}}, {{userId}}, {{username}}, {{namespace}}, {{plan}}"
	for name, tt := range map[string]struct {
		plan string
		spec plan.Spec
		want string
	}{
		"a name that is no label": {
			plan: strings.Repeat("p", 64),
			want: `metadata.name "` + strings.Repeat("p", 64) + `" is not a valid label value (1 to 63 letters, digits and inner - _ .): create the plan with another name`,
		},
		"a label whose key is none": {
			spec: plan.Spec{Labels: map[string]string{"my team": "a"}},
			want: `spec.labels: "my team" is not a valid key: use at most 63 letters, digits and inner - _ . , with an optional domain prefix, as in example.com/team`,
		},
		"a label whose value is none": {
			spec: plan.Spec{Labels: map[string]string{"team": "a b"}},
			want: `spec.labels[team] "a b" is not a valid label value: use at most 63 letters, digits and inner - _ . , or use an annotation`,
		},
		"an annotation whose domain is none": {
			spec: plan.Spec{Annotations: map[string]string{"Example.com/note": "a"}},
			want: `spec.annotations: "Example.com/note" is not a valid key: use at most 63 letters, digits and inner - _ . , with an optional domain prefix, as in example.com/team`,
		},
		"a key with nothing after the slash": {
			spec: plan.Spec{Annotations: map[string]string{"example.com/": "a"}},
			want: `spec.annotations: "example.com/" is not a valid key: use at most 63 letters, digits and inner - _ . , with an optional domain prefix, as in example.com/team`,
		},
		"a quota below zero": {
			spec: plan.Spec{ResourceQuota: map[string]any{"hard": map[string]any{"pods": "-1", "requests.cpu": "1"}}},
			want: `spec.resourceQuota.hard[pods] "-1" is negative: use a quantity of 0 or more`,
		},
		"a quota of something that can't be": {
			spec: plan.Spec{ResourceQuota: map[string]any{"hard": map[string]any{"cpu time": "1"}}},
			want: `spec.resourceQuota.hard: "cpu time" is not a valid resource name: use one such as cpu, requests.memory or example.com/gpu`,
		},
		"a limit below zero": {
			spec: plan.Spec{LimitRange: map[string]any{"limits": []any{map[string]any{"type": "Pod"}, map[string]any{"type": "Container", "defaultRequest": map[string]any{"cpu": "-100m"}}}}},
			want: `spec.limitRange.limits[1].defaultRequest[cpu] "-100m" is negative: use a quantity of 0 or more`,
		},
		"a limit of something that can't be": {
			spec: plan.Spec{LimitRange: map[string]any{"limits": []any{map[string]any{"type": "Container", "max": map[string]any{"": "1"}}}}},
			want: `spec.limitRange.limits[0].max: "" is not a valid resource name: use one such as cpu, requests.memory or example.com/gpu`,
		},
		"a role that is a path": {
			spec: plan.Spec{OwnerClusterRole: "a/b"},
			want: `spec.owner.clusterRole "a/b" is not a valid ClusterRole name, which has no / and no %: use one such as edit`,
		},
		"a revision without injection": {
			spec: plan.Spec{Istio: plan.Istio{Injection: plan.InjectionAmbient, Revision: "1-29"}},
			want: `spec.istio.revision "1-29" needs sidecar injection, but spec.istio.injection is Ambient: remove the revision, or set injection to Enabled`,
		},
		"a revision that is no label": {
			spec: plan.Spec{Istio: plan.Istio{Revision: "1 29"}},
			want: `spec.istio.revision "1 29" is not a valid label value: use the name of a revision or a tag of the control plane`,
		},
		"a selector with a key that is none": {
			spec: plan.Spec{Istio: plan.Istio{Gateway: &plan.Gateway{Selector: map[string]string{"a b": "x"}, Hosts: []string{"a.example.com"}}}},
			want: `spec.istio.gateway.selector: "a b" is not a valid key: use at most 63 letters, digits and inner - _ . , with an optional domain prefix, as in example.com/team`,
		},
		"an unknown placeholder": {
			spec: gateway("", "a.example.com", "{{ user }}.example.com"),
			want: `spec.istio.gateway.hosts[1]: "{{ user }}.example.com" has the unknown placeholder "{{ user }}": ` + known,
		},
		"a placeholder without a name": {
			spec: gateway("", "{{}}.example.com"), want: `spec.istio.gateway.hosts[0]: "{{}}.example.com" has the unknown placeholder "{{}}": ` + known,
		},
		"a placeholder in a placeholder": {
			spec: gateway("", "{{na{{me}}}}.a"), want: `spec.istio.gateway.hosts[0]: "{{na{{me}}}}.a" has the unknown placeholder "{{na{{me}}": ` + known,
		},
		"a placeholder in other capitals": {
			spec: gateway("{{Username}}-tls", "a.example.com"), want: `spec.istio.gateway.tlsSecret: "{{Username}}-tls" has the unknown placeholder "{{Username}}": ` + known,
		},
		"a placeholder that is not closed": {
			spec: gateway("", "{{username.example.com"),
			want: `spec.istio.gateway.hosts[0]: "{{username.example.com" has a {{ without a }} after it: use one of {{name}}, {{userId}}, {{username}}, {{namespace}}, {{plan}}`,
		},
		"a placeholder that is not opened": {
			spec: gateway("", "username}}.example.com"),
			want: `spec.istio.gateway.hosts[0]: "username}}.example.com" has a }} without a {{ before it: use one of {{name}}, {{userId}}, {{username}}, {{namespace}}, {{plan}}`,
		},
		"a host that no tenant makes right": {
			spec: gateway("", "-{{username}}.example.com"),
			want: `spec.istio.gateway.hosts[0] "-{{username}}.example.com" is not a valid DNS name for any tenant: use one such as {{username}}.apps.example.com`,
		},
		"a host that is everything": {
			spec: gateway("", "*"), want: `spec.istio.gateway.hosts[0] "*" is not a valid DNS name for any tenant: use one such as {{username}}.apps.example.com`,
		},
		"a wildcard that is no label": {
			spec: gateway("", "a*.example.com"), want: `spec.istio.gateway.hosts[0] "a*.example.com" is not a valid DNS name for any tenant: use one such as {{username}}.apps.example.com`,
		},
		"an address": {
			spec: gateway("", "10.0.0.1"), want: `spec.istio.gateway.hosts[0] "10.0.0.1" is not a valid DNS name for any tenant: use one such as {{username}}.apps.example.com`,
		},
		"a secret that no tenant makes right": {
			spec: gateway("a b", "a.example.com"), want: `spec.istio.gateway.tlsSecret "a b" is not a valid Secret name for any tenant: use one such as {{namespace}}-tls`,
		},
		"an edge tenant with a missing field": {
			spec: withEdge(func(c *mapping.Config) { c.Expressions = nil }),
			want: `spec.distributionTenant: nothing sets domains, which is required: set it in spec.distributionTenant.template, from a column or with an expression`,
		},
		"an edge tenant from a column that is none": {
			spec: withEdge(func(c *mapping.Config) { c.Mapping[0].Column = "tier" }),
			want: `spec.distributionTenant: mapping or expressions use the column "tier", which does not exist for tenants: use one of name, userId, username, namespace, plan`,
		},
		"an expression with a column that is none": {
			spec: withEdge(func(c *mapping.Config) { c.Expressions[1].Expression = `row.?email.orValue("")` }),
			want: `spec.distributionTenant: mapping or expressions use the column "email", which does not exist for tenants: use one of name, userId, username, namespace, plan`,
		},
		"an edge tenant with the operator's own label": {
			spec: withEdge(func(c *mapping.Config) { c.Template.Labels["kleff.io/tenant-uid"] = "x" }),
			want: `spec.distributionTenant.template.metadata.labels: "metadata.labels[kleff.io/tenant-uid]": the key "kleff.io/tenant-uid" is in kleff.io, which is reserved: use a key without a domain prefix, or with a domain of your own`,
		},
		"one that is filled": {
			spec: withEdge(func(c *mapping.Config) { c.Mapping[0].Field = "metadata.annotations[kleff.io/applied]" }),
			want: `spec.distributionTenant.mapping[plan]: "metadata.annotations[kleff.io/applied]": the key "kleff.io/applied" is in kleff.io, which is reserved: use a key without a domain prefix, or with a domain of your own`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.plan == "" {
				tt.plan = "basic"
			}
			plan, err := plan.Compile(tt.plan, "uid", 1, tt.spec)
			if err == nil || err.Error() != tt.want || plan != nil {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestCompileNamesAllMistakes(t *testing.T) {
	spec := plans.Full()
	spec.Labels["a b"] = "x"
	spec.ResourceQuota["hard"].(plans.Tree)["pods"] = "-1"
	spec.OwnerClusterRole = ".."
	spec.Istio.Gateway.Hosts = []string{"{{a}}", "{{b}}"}
	spec.Edge.Expressions[1].Expression = "1 +"
	_, err := plan.Compile("basic", "uid", 1, spec)
	if err == nil {
		t.Fatal("compiled")
	}
	for _, want := range []string{`"a b"`, "[pods]", "clusterRole", "{{a}}", "{{b}}", "spec.distributionTenant.expressions[tags[owner]]"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not in: %v", want, err)
		}
	}
}

func TestAPlanKnowsWhoseItIs(t *testing.T) {
	plan := plans.Compile(t, plans.Full())
	if plan.Name != "basic" || plan.UID != "uid-plan" || plan.Generation != 7 {
		t.Errorf("%+v", plan)
	}
}
