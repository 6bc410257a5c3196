package plan

import (
	"errors"
	"maps"
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// BuildEdge returns the DistributionTenant of the plan. The error says why the tenant gets none.
func BuildEdge(t Tenant, p *Plan) ([]Object, error) {
	if p == nil || p.edge == nil {
		return nil, nil
	}
	values := make(map[string]any, len(columns))
	for _, c := range columns {
		values[c.name] = c.value(t)
	}
	made, rejection := p.edge.Build(0, mapping.Row{Key: t.Name, Values: values})
	if rejection != nil {
		return nil, errors.New(rejection.Reason)
	}
	o := t.object(KindDistributionTenant, made.Name, made.Spec)
	o.Annotations = made.Annotations
	// The tenant's own come last: no template may say whose the object is.
	labels := maps.Clone(made.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, o.Labels)
	o.Labels = labels
	return []Object{o}, nil
}

const pathEdge = "spec.distributionTenant"

// edgeWords are those of the messages of package source, with the tenant instead of a row.
var edgeWords = mapping.Words{Path: pathEdge, Row: "tenant", Elsewhere: "in the spec of the Tenant", ID: "row.name"}

// compileEdge leaves the checks to the language of sources, but for what a table shows only when it is read, and is known of a
// tenant: its columns.
func (c *compiler) compileEdge(config *mapping.Config) *mapping.Program {
	if config == nil {
		return nil
	}
	edge := *config
	edge.Words = edgeWords
	if len(edge.Defaults) == 0 {
		edge.Defaults = []mapping.Mapping{{Column: "name", Field: "name"}}
	}
	program, err := mapping.Compile(edge)
	if err != nil {
		c.mistakes = append(c.mistakes, err)
		return nil
	}
	required, optional, _ := program.Columns()
	for _, name := range slices.Concat(required, optional) {
		if findColumn(name) == nil {
			c.mistake("%s: mapping or expressions use the column %s, which does not exist for tenants: use one of %s", pathEdge, prose.Quote(name), columnNames())
		}
	}
	return program
}
