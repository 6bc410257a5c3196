package tenantsource

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
)

// tenants are the objects of the target namespace as the cache has them. They are the cache's own, and are only read.
func (p *pass) tenants(ctx context.Context) ([]v1alpha1.DistributionTenant, error) {
	var list v1alpha1.DistributionTenantList
	if err := p.Client.List(ctx, &list, client.InNamespace(p.target), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing the tenants in %s: %w", p.target, err)
	}
	return list.Items, nil
}

func (p *pass) fleet(ctx context.Context) (tenantsource.Fleet, error) {
	tenants, err := p.tenants(ctx)
	f := tenantsource.Fleet{Tenants: make(map[string]tenantsource.Tenant, len(tenants))}
	for i := range tenants {
		f.Tenants[tenants[i].Name] = tenantOf(&tenants[i], p.labels)
	}
	return f, err
}

// relation says whose the object is.
func relation(o *v1alpha1.DistributionTenant, labels map[string]string) tenantsource.Relation {
	switch {
	case o.Labels[v1alpha1.LabelSource] != labels[v1alpha1.LabelSource],
		o.Labels[v1alpha1.LabelSourceNamespace] != labels[v1alpha1.LabelSourceNamespace],
		o.Labels[v1alpha1.LabelSourceUID] == "":
		return tenantsource.Foreign
	case o.Labels[v1alpha1.LabelSourceUID] != labels[v1alpha1.LabelSourceUID]:
		// Of one namespace and name there is one object at a time, and that is we.
		return tenantsource.Earlier
	}
	return tenantsource.Ours
}

// ownerOf says whose an object is, for people, who see no source of another namespace.
func ownerOf(o *v1alpha1.DistributionTenant, labels map[string]string) string {
	if name := o.Labels[v1alpha1.LabelSource]; name != "" && o.Labels[v1alpha1.LabelSourceUID] != "" {
		if o.Labels[v1alpha1.LabelSourceNamespace] != labels[v1alpha1.LabelSourceNamespace] {
			return "it belongs to a TenantSource of another namespace"
		}
		return fmt.Sprintf("it belongs to the TenantSource %s/%s", o.Labels[v1alpha1.LabelSourceNamespace], name)
	}
	return "it has no labels of a TenantSource"
}

// tenantOf is what the source has to know of an object. It refers to the object, and copies nothing of it: a hundred thousand
// copies with each poll would cost more than everything else.
func tenantOf(o *v1alpha1.DistributionTenant, labels map[string]string) tenantsource.Tenant {
	marked, _ := time.Parse(time.RFC3339, o.Annotations[v1alpha1.AnnotationSourceGone]) // a mark that can't be read is none
	t := tenantsource.Tenant{
		Relation: relation(o, labels), UID: string(o.UID), Version: o.ResourceVersion, Deleting: !o.DeletionTimestamp.IsZero(),
		Key: o.Annotations[v1alpha1.AnnotationSourceRowKey], Hash: o.Annotations[v1alpha1.AnnotationSourceHash],
		Disabled: o.Annotations[v1alpha1.AnnotationSourceDisabled] == v1alpha1.SourceDisabledTrue, Marked: marked,
		Guarded: controllerutil.ContainsFinalizer(o, v1alpha1.Finalizer), Labels: o.Labels, Annotations: o.Annotations, Domains: make([]string, len(o.Spec.Domains)),
		Spec: func() map[string]any {
			spec, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(&o.Spec) // fails for types that have no JSON alone
			return spec
		},
	}
	for i := range o.Spec.Domains {
		t.Domains[i] = o.Spec.Domains[i].Domain
	}
	for k, v := range labels {
		t.Guarded = t.Guarded && o.Labels[k] == v
	}
	if t.Relation == tenantsource.Foreign {
		t.Owner = ownerOf(o, labels)
	}
	return t
}

// confirmEmpty looks past the cache before a deleted source loses its finalizer: with a watch that hangs, objects that
// the cache does not show yet would become orphans.
func (p *pass) confirmEmpty(ctx context.Context) error {
	var page metav1.PartialObjectMetadataList
	page.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("DistributionTenantList"))
	for {
		err := p.Live.List(ctx, &page, client.InNamespace(p.target), client.Limit(batchSize), client.Continue(page.Continue),
			client.MatchingLabels{v1alpha1.LabelSourceUID: p.labels[v1alpha1.LabelSourceUID]})
		if err != nil {
			return fmt.Errorf("listing the tenants in %s past the cache: %w", p.target, err)
		}
		for i := range page.Items {
			o := &v1alpha1.DistributionTenant{ObjectMeta: page.Items[i].ObjectMeta}
			if tenantOf(o, p.labels).Lives(p.in.Policy) {
				return fmt.Errorf("the cache does not show the tenant %s", o.Name)
			}
		}
		if page.Continue == "" {
			return nil
		}
	}
}
