package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

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
	if err := t.wildcard(made.Domains()); err != nil {
		return nil, err
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

// wildcard refuses a domain whose star is the tenant's: it would serve what other customers have not taken yet.
func (t Tenant) wildcard(domains []string) error {
	for _, c := range columns {
		if value := c.value(t); strings.Contains(value, "*") {
			if i := slices.IndexFunc(domains, func(d string) bool { return strings.Contains(d, "*") }); i >= 0 {
				return fmt.Errorf("%s %s has a star, and the domain %s would be a wildcard: change it to lower-case letters, digits and inner hyphens", c.field, prose.Quote(value), prose.Quote(domains[i]))
			}
		}
	}
	return nil
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
