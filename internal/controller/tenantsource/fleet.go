package tenantsource

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
)

// fleet is the target namespace as the cache has it. It implements source.Fleet. Its objects are the cache's own
// and are only read: a hundred thousand copies with each poll would cost more than everything else.
type fleet struct {
	objects map[string]*v1alpha1.DistributionTenant
	labels  map[string]string
	// find looks for an object that is not among the objects; nil where these are all of them.
	find func(name string) *v1alpha1.DistributionTenant
}

// of is the object of that name, nil if there is none.
func (f *fleet) of(name string) *v1alpha1.DistributionTenant {
	o, known := f.objects[name]
	if !known && f.find != nil {
		o = f.find(name)
		f.objects[name] = o
	}
	return o
}

func (p *pass) fleet(ctx context.Context) (*fleet, error) {
	var list v1alpha1.DistributionTenantList
	if err := p.Client.List(ctx, &list, client.InNamespace(p.target), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing the tenants in %s: %w", p.target, err)
	}
	f := &fleet{objects: make(map[string]*v1alpha1.DistributionTenant, len(list.Items)), labels: p.labels}
	for i := range list.Items {
		f.objects[list.Items[i].Name] = &list.Items[i]
	}
	return f, nil
}

// relation says whose the object is.
func relation(o *v1alpha1.DistributionTenant, labels map[string]string) tenantsource.Relation {
	switch {
	case o == nil:
		return tenantsource.Absent
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

// Standing implements source.Fleet.
func (f *fleet) Standing(want mapping.Object) tenantsource.Standing {
	o := f.of(want.Name)
	s := tenantsource.Standing{Relation: relation(o, f.labels)}
	if o == nil {
		return s
	}
	s.UID, s.Version, s.Deleting = string(o.UID), o.ResourceVersion, !o.DeletionTimestamp.IsZero()
	s.Key = o.Annotations[v1alpha1.AnnotationSourceRowKey]
	s.Disabled = o.Annotations[v1alpha1.AnnotationSourceDisabled] == v1alpha1.SourceDisabledTrue
	if s.Relation == tenantsource.Foreign {
		s.Owner = ownerOf(o, f.labels)
	}
	spec, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&o.Spec)
	if err != nil {
		return s
	}
	// The hash tells whether something that was once applied is no longer wanted; the rest, whether someone else has
	// changed it since.
	changed := o.Annotations[v1alpha1.AnnotationSourceHash] != want.Hash()
	if s.Equal = !changed && f.marked(o, want) && mapping.Covers(spec, want); !s.Equal {
		s.Harm = tenantsource.Harm(spec, want, changed)
	}
	return s
}

// marked reports whether the object has the metadata that is wanted.
func (f *fleet) marked(o *v1alpha1.DistributionTenant, want mapping.Object) bool {
	return controllerutil.ContainsFinalizer(o, v1alpha1.Finalizer) &&
		within(f.labels, o.Labels) && within(want.Labels, o.Labels) && within(want.Annotations, o.Annotations) &&
		o.Annotations[v1alpha1.AnnotationSourceRowKey] == want.Key
}

func within(some, all map[string]string) bool {
	for k, v := range some {
		if have, ok := all[k]; !ok || have != v {
			return false
		}
	}
	return true
}

// Serves implements source.Fleet.
func (f *fleet) Serves(name, domain string) bool {
	o := f.of(name)
	return relation(o, f.labels) == tenantsource.Ours && slices.ContainsFunc(o.Spec.Domains, func(d v1alpha1.TenantDomain) bool { return d.Domain == domain })
}

// Keys implements source.Fleet.
func (f *fleet) Keys() map[string][]string {
	out := map[string][]string{}
	for name, o := range f.objects {
		if relation(o, f.labels) == tenantsource.Ours {
			key := o.Annotations[v1alpha1.AnnotationSourceRowKey]
			out[key] = append(out[key], name)
		}
	}
	return out
}

// owned lists the objects that are this source's and not on their way out already. With Disable, those are on
// their way out that are disabled.
func (f *fleet) owned(policy tenantsource.Policy) []tenantsource.Owned {
	var out []tenantsource.Owned
	for _, name := range slices.Sorted(maps.Keys(f.objects)) {
		if o := f.objects[name]; owns(o, f.labels, policy) {
			out = append(out, tenantsource.Owned{Name: strings.Clone(name), UID: string(o.UID), Domains: domainsOf(o), Marked: marked(o)})
		}
	}
	return out
}

func domainsOf(o *v1alpha1.DistributionTenant) []string {
	out := make([]string, len(o.Spec.Domains))
	for i := range o.Spec.Domains {
		out[i] = o.Spec.Domains[i].Domain
	}
	return out
}

// marked is since when the object is marked. A mark that can't be read is none.
func marked(o *v1alpha1.DistributionTenant) time.Time {
	at, err := time.Parse(time.RFC3339, o.Annotations[v1alpha1.AnnotationSourceGone])
	if err != nil {
		return time.Time{}
	}
	return at
}

func owns(o *v1alpha1.DistributionTenant, labels map[string]string, policy tenantsource.Policy) bool {
	disabled := policy == tenantsource.PolicyDisable && o.Annotations[v1alpha1.AnnotationSourceDisabled] == v1alpha1.SourceDisabledTrue
	return relation(o, labels) == tenantsource.Ours && o.DeletionTimestamp.IsZero() && !disabled
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
			if owns(o, p.labels, p.in.Policy) {
				return fmt.Errorf("the cache does not show the tenant %s", o.Name)
			}
		}
		if page.Continue == "" {
			return nil
		}
	}
}

var _ tenantsource.Fleet = (*fleet)(nil)
