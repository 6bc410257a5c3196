package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/plans"
)

// meshOf builds the mesh of a tenant whose plan has a gateway.
func meshOf(t *testing.T, tenant plan.Tenant, secret string, hosts ...string) ([]plan.Object, error) {
	t.Helper()
	gateway := plan.Gateway{Selector: map[string]string{"istio": "ingressgateway"}, Hosts: hosts, TLSSecret: secret}
	return plan.BuildMesh(tenant, plans.Compile(t, plan.Spec{Istio: plan.Istio{Gateway: &gateway, PeerAuthentication: "STRICT"}}))
}

func TestPlaceholders(t *testing.T) {
	tenant := plan.Tenant{Name: "t1", UID: "uid-1", Namespace: "ns1", UserID: "User-1", Username: "Jane-Doe", Plan: "gold"}
	for name, tt := range map[string]struct {
		hosts []string
		want  []any
	}{
		"each of them": {
			[]string{"{{name}}.a", "{{userId}}.a", "{{username}}.a", "{{namespace}}.a", "{{plan}}.a"},
			[]any{"t1.a", "user-1.a", "jane-doe.a", "ns1.a", "gold.a"},
		},
		"several in one":                 {[]string{"{{name}}-{{plan}}{{plan}}.a"}, []any{"t1-goldgold.a"}},
		"spaces inside the braces":       {[]string{"{{ name }}.a", "{{  plan}}.a"}, []any{"t1.a", "gold.a"}},
		"none":                           {[]string{"Www.Example.com"}, []any{"www.example.com"}},
		"a placeholder and nothing else": {[]string{"{{username}}"}, []any{"jane-doe"}},
		"a wildcard":                     {[]string{"*.{{name}}.a"}, []any{"*.t1.a"}},
		"a wildcard for routes of the same namespace": {[]string{"./*.{{name}}.a", "*/b.a", "{{namespace}}/c.a"}, []any{"./*.t1.a", "*/b.a", "ns1/c.a"}},
		"two that stand for the same":                 {[]string{"{{name}}.a", "b.a", "T1.a"}, []any{"t1.a", "b.a"}},
	} {
		t.Run(name, func(t *testing.T) {
			objects, err := meshOf(t, tenant, "", tt.hosts...)
			if err != nil {
				t.Fatal(err)
			}
			servers := objects[0].Body["spec"].(plans.Tree)["servers"].([]any)
			if diff := cmp.Diff(tt.want, servers[0].(plans.Tree)["hosts"]); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestWhatATenantSaysMayFitNoName(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*plan.Tenant)
		secret string
		hosts  []string
		want   string
	}{
		"a username with an underscore": {
			change: func(t *plan.Tenant) { t.Username = "Jane_Doe" }, hosts: []string{"{{username}}.apps.example.com"},
			want: `spec.istio.gateway.hosts[0] "{{username}}.apps.example.com" of the plan becomes "jane_doe.apps.example.com" for this tenant, which is not allowed, because spec.username "Jane_Doe" is not one label of a name in DNS: ` +
				`change it to lower-case letters, digits and inner hyphens, at most 63, or use another placeholder in the plan`,
		},
		"a user who is an address": {
			change: func(t *plan.Tenant) { t.UserID = "jane@example.com" }, hosts: []string{"a.example.com", "{{name}}.{{userId}}.{{userId}}"},
			want: `spec.istio.gateway.hosts[1] "{{name}}.{{userId}}.{{userId}}" of the plan becomes "example-tenant.jane@example.com.jane@example.com" for this tenant, which is not allowed, because spec.userId "jane@example.com" is not one label of a name in DNS: ` +
				`change it to lower-case letters, digits and inner hyphens, at most 63, or use another placeholder in the plan`,
		},
		"a user who would be a wildcard, and two names": {
			change: func(t *plan.Tenant) { t.UserID, t.Username = "*", "pay.checkout" }, hosts: []string{"{{userId}}.apps.example.com", "{{username}}.apps.example.com"},
			want: `spec.istio.gateway.hosts[0] "{{userId}}.apps.example.com" of the plan becomes "*.apps.example.com" for this tenant, which is not allowed, because spec.userId "*" is not one label of a name in DNS: ` +
				"change it to lower-case letters, digits and inner hyphens, at most 63, or use another placeholder in the plan\n" +
				`spec.istio.gateway.hosts[1] "{{username}}.apps.example.com" of the plan becomes "pay.checkout.apps.example.com" for this tenant, which is not allowed, because spec.username "pay.checkout" is not one label of a name in DNS: ` +
				`change it to lower-case letters, digits and inner hyphens, at most 63, or use another placeholder in the plan`,
		},
		"a user whose routes would be those of another namespace": {
			change: func(t *plan.Tenant) { t.UserID = "*/x" }, hosts: []string{"{{userId}}.apps.example.com"},
			want: `spec.istio.gateway.hosts[0] "{{userId}}.apps.example.com" of the plan becomes "*/x.apps.example.com" for this tenant, which is not allowed, because spec.userId "*/x" is not one label of a name in DNS: ` +
				`change it to lower-case letters, digits and inner hyphens, at most 63, or use another placeholder in the plan`,
		},
		"two that are too long together": {
			change: func(t *plan.Tenant) { t.Username = strings.Repeat("a", 60) }, hosts: []string{"{{username}}-{{name}}.a"},
			want: `spec.istio.gateway.hosts[0] "{{username}}-{{name}}.a" of the plan becomes "` + strings.Repeat("a", 60) + `-example-tenant.a" for this tenant, which is not a valid name in DNS: ` +
				`spec.username "` + strings.Repeat("a", 60) + `" with metadata.name "example-tenant" is too long, or leaves only a number at the end: use another placeholder in the plan`,
		},
		"a number where the top of the name is": {
			change: func(t *plan.Tenant) { t.Username = "12" }, hosts: []string{"10.0.0.{{username}}"},
			want: `spec.istio.gateway.hosts[0] "10.0.0.{{username}}" of the plan becomes "10.0.0.12" for this tenant, which is not a valid name in DNS: ` +
				`spec.username "12" is too long, or leaves only a number at the end: use another placeholder in the plan`,
		},
		"a secret and a host": {
			change: func(t *plan.Tenant) { t.Username = "a_b" }, hosts: []string{"{{username}}.a"}, secret: "{{username}}-tls",
			want: `spec.istio.gateway.hosts[0] "{{username}}.a" of the plan becomes "a_b.a" for this tenant, which is not allowed, because spec.username "a_b" is not one label of a name in DNS: ` +
				"change it to lower-case letters, digits and inner hyphens, at most 63, or use another placeholder in the plan\n" +
				`spec.istio.gateway.tlsSecret "{{username}}-tls" of the plan becomes "a_b-tls" for this tenant, which is not allowed, because spec.username "a_b" is not allowed in the name of a Secret: ` +
				`change it to lower-case letters, digits and inner hyphens, at most 63, or use another placeholder in the plan`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			tenant := plans.Tenant()
			tt.change(&tenant)
			objects, err := meshOf(t, tenant, tt.secret, tt.hosts...)
			if err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
			if len(objects) > 0 {
				t.Errorf("half of the mesh was built: %+v", objects)
			}
		})
	}
}
