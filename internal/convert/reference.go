package convert

import (
	"cmp"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
)

// References are the objects that the spec of a tenant names, as if none of them existed.
func References(o *v1alpha1.DistributionTenant) []distributiontenant.Reference {
	return references(o.Namespace, "", o.Spec.DistributionRef, o.Spec.ConnectionGroupRef)
}

// SourceReferences are the objects that a source names for all tenants whose row names none.
func SourceReferences(o *v1alpha1.TenantSource) distributiontenant.References {
	distribution := o.Spec.DistributionRef
	var out distributiontenant.References
	if t := o.Spec.Template; t != nil && t.Spec != nil {
		if out = references(o.Namespace, "template.spec.", t.Spec.DistributionRef, t.Spec.ConnectionGroupRef); t.Spec.DistributionID != "" || t.Spec.DistributionRef != nil {
			distribution = nil
		}
	}
	return append(references(o.Namespace, "", distribution, nil), out...)
}

func references(namespace, block string, distribution, group *v1alpha1.ObjectReference) []distributiontenant.Reference {
	var out []distributiontenant.Reference
	if r := distribution; r != nil {
		out = append(out, distributiontenant.Reference{Block: block, Field: distributiontenant.DistributionRef, Kind: "Distribution", Namespace: cmp.Or(r.Namespace, namespace), Name: r.Name})
	}
	if r := group; r != nil {
		out = append(out, distributiontenant.Reference{Block: block, Field: distributiontenant.ConnectionGroupRef, Kind: "ConnectionGroup", Namespace: cmp.Or(r.Namespace, namespace), Name: r.Name})
	}
	return out
}

// DistributionReference is a distribution as the tenants see it that name it.
func DistributionReference(o *v1alpha1.Distribution) distributiontenant.Reference {
	r := found(o, &o.Status.ResourceStatus, o.Spec.Enabled)
	r.Field, r.Kind = distributiontenant.DistributionRef, "Distribution"
	r.Direct = o.Spec.ConnectionMode == v1alpha1.ConnectionModeDirect
	return r
}

// ConnectionGroupReference is a connection group as the tenants see it that name it.
func ConnectionGroupReference(o *v1alpha1.ConnectionGroup) distributiontenant.Reference {
	r := found(o, &o.Status.ResourceStatus, o.Spec.Enabled)
	r.Field, r.Kind = distributiontenant.ConnectionGroupRef, "ConnectionGroup"
	r.Endpoint = o.Status.RoutingEndpoint
	return r
}

// found takes the ID from status, where it stands only once the resource is proven the object's own. Of the
// conditions it takes what matters until then: later each change of them would wake every tenant.
func found(o metav1.Object, s *v1alpha1.ResourceStatus, wanted *bool) distributiontenant.Reference {
	enabled := cmp.Or(s.Enabled, wanted) // which is a guess before AWS was seen
	r := distributiontenant.Reference{
		Namespace: o.GetNamespace(), Name: o.GetName(), Found: true, Deleting: !o.GetDeletionTimestamp().IsZero(), ID: s.ID,
		Disabled: enabled != nil && !*enabled,
	}
	if c := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionReady); c != nil && c.Status != metav1.ConditionTrue && s.ID == "" {
		r.NotReady = chain.Reason(c.Reason)
	}
	return r
}
