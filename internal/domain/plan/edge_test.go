package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/plans"
)

func TestEveryColumnOfATenant(t *testing.T) {
	compiled := plans.Compile(t, plan.Spec{Edge: plans.Edge(func(c *mapping.Config) {
		c.Mapping = nil
		for _, column := range []string{"name", "userId", "username", "namespace", "plan"} {
			c.Mapping = append(c.Mapping, mapping.Mapping{Column: column, Field: "parameters[" + column + "]"})
		}
	})})
	tenant := plan.Tenant{Name: "t-1", UID: "uid-1", Namespace: "ns-1", UserID: "User 1", Username: "Jane", Plan: "gold"}
	objects, err := plan.BuildEdge(tenant, compiled)
	if err != nil {
		t.Fatal(err)
	}
	want := []any{
		map[string]any{"name": "name", "value": "t-1"}, map[string]any{"name": "namespace", "value": "ns-1"}, map[string]any{"name": "plan", "value": "gold"},
		map[string]any{"name": "userId", "value": "User 1"}, map[string]any{"name": "username", "value": "Jane"},
	}
	if diff := cmp.Diff(want, objects[0].Body["spec"].(plans.Tree)["parameters"]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestThePlanMayNameTheEdgeTenant(t *testing.T) {
	compiled := plans.Compile(t, plan.Spec{Edge: plans.Edge(func(c *mapping.Config) {
		c.Expressions = append(c.Expressions, mapping.Expression{Field: "name", Expression: `"edge-" + row.namespace`})
	})})
	objects, err := plan.BuildEdge(plans.Tenant(), compiled)
	if err != nil || objects[0].Name != "edge-user-12345" {
		t.Errorf("%+v, %v", objects, err)
	}
}

func TestATenantThatCanHaveNoEdgeTenant(t *testing.T) {
	for name, tt := range map[string]struct {
		tenant func(*plan.Tenant)
		edge   func(*mapping.Config)
		want   string
	}{
		"a name that is too short for AWS": {
			tenant: func(t *plan.Tenant) { t.Name = "ab" },
			want:   `column "name": "ab" has 2 characters, but the name of a tenant in AWS must have 3 to 128: set tenantName as well, or use an expression, such as "t-" + row.name`,
		},
		"a domain that is none": {
			tenant: func(t *plan.Tenant) { t.Username = "jane_doe" },
			want: `the expression for domains: "jane_doe.example.com" is not a domain name: write names like shop.example.com or *.example.com, ` +
				`without scheme, port, path, underscore or brackets`,
		},
		"a user who would be a wildcard": {
			tenant: func(t *plan.Tenant) { t.UserID = "*" },
			edge:   func(c *mapping.Config) { c.Expressions[0].Expression = `row.userId + ".example.com"` },
			want:   `spec.userId "*" has a star, and the domain "*.example.com" would be a wildcard: change it to lower-case letters, digits and inner hyphens`,
		},
		"an expression that finds nothing": {
			edge: func(c *mapping.Config) { c.Expressions[0].Expression = `row.username == "x" ? "x.example.com" : ""` },
			want: `the expression for domains is empty, and nothing else sets domains: give the tenant a value, or set it in spec.distributionTenant.template`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			config, tenant := plans.Edge(), plans.Tenant()
			if tt.edge != nil {
				tt.edge(config)
			}
			if tt.tenant != nil {
				tt.tenant(&tenant)
			}
			objects, err := plan.BuildEdge(tenant, plans.Compile(t, plan.Spec{Edge: config}))
			if err == nil || err.Error() != tt.want || len(objects) > 0 {
				t.Errorf("got  %v, %+v\nwant %s", err, objects, tt.want)
			}
		})
	}
}
