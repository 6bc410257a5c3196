package mapping_test

import (
	"strings"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// inOtherWords has tenants in place of the rows of a table.
func inOtherWords(c *mapping.Config) {
	c.Words = mapping.Words{Path: "spec.edge", Row: "tenant", Elsewhere: "in the tenant", ID: "row.name"}
}

func TestMistakesAreToldInTheWordsOfTheConfig(t *testing.T) {
	for name, tt := range map[string]struct {
		config mapping.Config
		want   string
	}{
		"a template":    {config(template(tree{"domain": "a"}), inOtherWords), `spec.edge.template.spec.domain: there is no such field, ...`},
		"its labels":    {config(func(c *mapping.Config) { c.Template.Labels = map[string]string{"a b": "c"} }, inOtherWords), `spec.edge.template.metadata.labels: ...`},
		"a mapping":     {config(mapped("plan", "plan"), inOtherWords), `spec.edge.mapping[plan]: ...`},
		"an expression": {config(expression("tags[a]", "1 +"), inOtherWords), `spec.edge.expressions[tags[a]]: ...`},
		"an expression that is too long": {
			config(expression("tags[a]", `"`+strings.Repeat("a", 5000)+`"`), inOtherWords), `spec.edge.expressions[tags[a]]: ...compute the value in the tenant`,
		},
		"nothing that fills the name": {
			mapping.Config{DistributionID: "E1", Words: mapping.Words{Path: "spec.edge", Row: "tenant"}},
			"spec.edge.mapping: nothing sets name, which every tenant needs: ...\nspec.edge: nothing sets domains, ...set it in spec.edge.template, ...",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := mapping.Compile(tt.config)
			if err == nil {
				t.Fatal("compiled")
			}
			if got := err.Error(); !resembles(got, tt.want) {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestRejectionsAreToldInTheWordsOfTheConfig(t *testing.T) {
	for name, tt := range map[string]struct {
		config mapping.Config
		row    mapping.Row
		want   string
	}{
		"no name":             {config(inOtherWords), acme(tree{"name": ""}), `column "name" is empty, but every tenant needs a name: add one, or leave the tenant out`},
		"a name that is none": {config(inOtherWords), acme(tree{"name": "a b"}), `...such as "t-" + row.name`},
		"capital letters":     {config(inOtherWords), acme(tree{"name": "Acme"}), `...; change the tenant, or use an expression ...`},
		"a short name":        {config(inOtherWords), acme(tree{"name": "ab"}), `...such as "t-" + row.name`},
		"no such column":      {config(mapped("x", "tags[x]"), inOtherWords), acme(nil), `column "x" for tags[x]: the tenant has no such column: ...`},
		"nothing that it needs": {
			config(inOtherWords), acme(tree{"domain": ""}),
			`column "domain" for domains is empty, and nothing else sets domains: give the tenant a value, or set it in spec.edge.template`,
		},
		"an expression that fails": {config(expression("tags[x]", "row.x"), inOtherWords), acme(nil), `the expression for tags[x]: ...: change the tenant, or ...`},
		"an expression that takes long": {
			config(expression("tags[x]", `string(row.list.all(a, row.list.all(b, a + b >= 0)))`), inOtherWords), acme(tree{"list": many(1000)}),
			`the expression for tags[x]: it takes too long for this tenant: make the expression simpler, or compute the value in the tenant`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, rejection := compile(t, tt.config).Build(1, tt.row)
			if rejection == nil {
				t.Fatal("built")
			}
			if !resembles(rejection.Reason, tt.want) {
				t.Errorf("got  %s\nwant %s", rejection.Reason, tt.want)
			}
		})
	}
}

// many is a long list of numbers.
func many(n int64) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = int64(i)
	}
	return list
}
