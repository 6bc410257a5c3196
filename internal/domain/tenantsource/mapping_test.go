package tenantsource_test

import (
	"maps"

	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

type tree = map[string]any

// config is one with the default columns of a store.
func config(change ...func(*mapping.Config)) mapping.Config {
	c := mapping.Config{
		DistributionID: "E1",
		Defaults: []mapping.Mapping{
			{Column: "name", Field: "name"},
			{Column: "domain", Field: "domains"},
			{Column: "enabled", Field: "enabled", Optional: true},
			{Column: "connection_group_id", Field: "connectionGroupId", Optional: true},
		},
	}
	for _, f := range change {
		f(&c)
	}
	return c
}

func mapped(column, field string) func(*mapping.Config) {
	return func(c *mapping.Config) {
		c.Mapping = append(c.Mapping, mapping.Mapping{Column: column, Field: field})
	}
}

func expression(field, text string) func(*mapping.Config) {
	return func(c *mapping.Config) {
		c.Expressions = append(c.Expressions, mapping.Expression{Field: field, Expression: text})
	}
}

func template(spec tree) func(*mapping.Config) {
	return func(c *mapping.Config) { c.Template.Spec = spec }
}

func compile(t rapid.TB, c mapping.Config) *mapping.Program {
	t.Helper()
	p, err := mapping.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// acme is a row that is a tenant, with more columns.
func acme(more tree) mapping.Row {
	values := tree{"name": "acme", "domain": "acme.example.com"}
	maps.Copy(values, more)
	return mapping.Row{Values: values}
}
