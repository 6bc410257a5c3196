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

// target is the namespace of the tenants, as a source reads and writes them.
type target struct {
	*Controller
	namespace string
	// labels mark the objects of the source. The fields that it sets are manager's, and disabler's where a row is gone.
	labels            map[string]string
	manager, disabler string
}

// tenants are the objects of the namespace as the cache has them. They are the cache's own, and are only read.
func (t target) tenants(ctx context.Context) ([]v1alpha1.DistributionTenant, error) {
	var list v1alpha1.DistributionTenantList
	if err := t.Client.List(ctx, &list, client.InNamespace(t.namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing the tenants in %s: %w", t.namespace, err)
	}
	return list.Items, nil
}

func (t target) fleet(ctx context.Context) (tenantsource.Fleet, error) {
	tenants, err := t.tenants(ctx)
	f := tenantsource.Fleet{Objects: make(map[string]tenantsource.Object, len(tenants)), Lead: t.lead(ctx)}
	for i := range tenants {
		f.Objects[tenants[i].Name] = object{&tenants[i], t.labels}
	}
	return f, err
}

// object is one of the cache's, as a source with these labels looks at it.
type object struct {
	*v1alpha1.DistributionTenant
	labels map[string]string
}

// Look implements tenantsource.Object.
func (o object) Look() tenantsource.Tenant { return tenantOf(o.DistributionTenant, o.labels) }

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

// ownerOf says whose an object is, for users, who see no source of another namespace.
func ownerOf(o *v1alpha1.DistributionTenant, labels map[string]string) string {
	if name := o.Labels[v1alpha1.LabelSource]; name != "" && o.Labels[v1alpha1.LabelSourceUID] != "" {
		if o.Labels[v1alpha1.LabelSourceNamespace] != labels[v1alpha1.LabelSourceNamespace] {
			return "it belongs to a TenantSource of another namespace"
		}
		return fmt.Sprintf("it belongs to the TenantSource %s/%s", o.Labels[v1alpha1.LabelSourceNamespace], name)
	}
	return "it has no labels of a TenantSource"
}

// tenantOf is what the source has to know of an object. It refers to the object, and copies little of it.
func tenantOf(o *v1alpha1.DistributionTenant, labels map[string]string) tenantsource.Tenant {
	t := tenantsource.Tenant{
		Relation: relation(o, labels), UID: string(o.UID), Version: o.ResourceVersion, Deleting: !o.DeletionTimestamp.IsZero(),
		Key: o.Annotations[v1alpha1.AnnotationSourceRowKey], Hash: o.Annotations[v1alpha1.AnnotationSourceHash],
		Disabled: o.Annotations[v1alpha1.AnnotationSourceDisabled] == v1alpha1.SourceDisabledTrue,
		Guarded:  controllerutil.ContainsFinalizer(o, v1alpha1.Finalizer), Labels: o.Labels, Annotations: o.Annotations, Domains: make([]string, len(o.Spec.Domains)),
		Parents: tenantsource.Parents{DistributionID: o.Status.DistributionID, ConnectionGroupID: o.Status.ConnectionGroupID},
		Spec: func() map[string]any {
			spec, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(&o.Spec) // fails for types that have no JSON alone
			return spec
		},
	}
	if mark := o.Annotations[v1alpha1.AnnotationSourceGone]; mark != "" {
		t.Marked, _ = time.Parse(time.RFC3339, mark) // a mark that can't be read is none
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

// onDemand is the fleet for a read of some rows: only their objects are looked for.
func (t target) onDemand(ctx context.Context) tenantsource.Fleet {
	return tenantsource.Fleet{
		Objects: map[string]tenantsource.Object{}, Lead: t.lead(ctx),
		Find: func(name string) tenantsource.Tenant {
			var o v1alpha1.DistributionTenant
			if err := t.Client.Get(ctx, client.ObjectKey{Namespace: t.namespace, Name: name}, &o); err != nil {
				return tenantsource.Tenant{}
			}
			return tenantOf(&o, t.labels)
		},
	}
}

// confirmEmpty looks past the cache before a deleted source loses its finalizer: with a watch that hangs, objects that
// the cache does not show yet would become orphans.
func (t target) confirmEmpty(ctx context.Context, policy tenantsource.Policy) error {
	var page metav1.PartialObjectMetadataList
	page.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("DistributionTenantList"))
	for {
		err := t.Live.List(ctx, &page, client.InNamespace(t.namespace), client.Limit(batchSize), client.Continue(page.Continue),
			client.MatchingLabels{v1alpha1.LabelSourceUID: t.labels[v1alpha1.LabelSourceUID]})
		if err != nil {
			return fmt.Errorf("listing the tenants in %s past the cache: %w", t.namespace, err)
		}
		for i := range page.Items {
			o := &v1alpha1.DistributionTenant{ObjectMeta: page.Items[i].ObjectMeta}
			if tenantOf(o, t.labels).Lives(policy) {
				return fmt.Errorf("the cache does not show the tenant %s", o.Name)
			}
		}
		if page.Continue == "" {
			return nil
		}
	}
}
