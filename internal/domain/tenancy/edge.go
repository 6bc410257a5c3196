package tenancy

import (
	"errors"
	"maps"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/source"
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
	made, rejection := p.edge.Build(0, source.Row{Key: t.Name, Values: values})
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
