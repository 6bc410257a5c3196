package sourceworld

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

// Secret makes, or replaces, the Secret with a connection string, and offers it to the source of its name.
func (w *World) Secret(name, connectionString string) {
	w.t.Helper()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name}}
	data := map[string][]byte{"connectionString": []byte(connectionString)}
	err := w.Kube.Get(w.t.Context(), client.ObjectKeyFromObject(s), s)
	s.Data, s.Labels = data, map[string]string{v1alpha1.LabelTenantSource: name}
	if err != nil {
		err = w.Kube.Create(w.t.Context(), s)
	} else {
		err = w.Kube.Update(w.t.Context(), s)
	}
	if err != nil {
		w.t.Fatalf("writing the Secret %s: %v", name, err)
	}
}

// Source applies a source for the query, with a Secret of its name.
func (w *World) Source(name string, provider mapping.Provider, q mapping.Query, change ...func(*v1alpha1.TenantSource)) *v1alpha1.TenantSource {
	w.t.Helper()
	o := &v1alpha1.TenantSource{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name}, Spec: database.Source(provider, q, name)}
	o.Spec.DistributionID = DistributionID
	if dynamo := o.Spec.DynamoDB; dynamo != nil {
		dynamo.ConnectionGroupIDAttribute = "connection_group_id"
	}
	if provider != mapping.DynamoDB {
		w.Secret(name, q.Connection.Reveal())
	}
	for _, c := range change {
		c(o)
	}
	if err := w.Kube.Create(w.t.Context(), o); err != nil {
		w.t.Fatalf("creating the source %s: %v", name, err)
	}
	return o
}

// Get reads a source; found is false when it is gone.
func (w *World) Get(name string) (o *v1alpha1.TenantSource, found bool) {
	w.t.Helper()
	o = &v1alpha1.TenantSource{}
	err := w.Kube.Get(w.t.Context(), client.ObjectKey{Namespace: w.Namespace, Name: name}, o)
	if client.IgnoreNotFound(err) != nil {
		w.t.Fatalf("reading the source %s: %v", name, err)
	}
	return o, err == nil
}

// Edit changes a source as a user would.
func (w *World) Edit(name string, change func(*v1alpha1.TenantSource)) {
	w.t.Helper()
	o, found := w.Get(name)
	if !found {
		w.t.Fatalf("the source %s is gone", name)
	}
	base := o.DeepCopy()
	change(o)
	if err := w.Kube.Patch(w.t.Context(), o, client.MergeFrom(base)); err != nil {
		w.t.Fatalf("changing the source %s: %v", name, err)
	}
}

// Annotate sets an annotation of a source.
func (w *World) Annotate(name, key, value string) {
	w.t.Helper()
	w.Edit(name, func(o *v1alpha1.TenantSource) { metav1.SetMetaDataAnnotation(&o.ObjectMeta, key, value) })
}

// Delete deletes a source.
func (w *World) Delete(name string, options ...client.DeleteOption) {
	w.t.Helper()
	o, _ := w.Get(name)
	if err := w.Kube.Delete(w.t.Context(), o, options...); err != nil {
		w.t.Fatalf("deleting the source %s: %v", name, err)
	}
}

// Tenants are the names of all tenants in the namespace, the deleted ones that are still there among them.
func (w *World) Tenants() []string {
	w.t.Helper()
	var out []string
	for _, o := range w.AllTenants() {
		out = append(out, o.Name)
	}
	return out
}

// AllTenants are the tenants in the namespace, by name.
func (w *World) AllTenants() []v1alpha1.DistributionTenant {
	w.t.Helper()
	var list v1alpha1.DistributionTenantList
	if err := w.Kube.List(w.t.Context(), &list, client.InNamespace(w.Namespace)); err != nil {
		w.t.Fatalf("listing the tenants: %v", err)
	}
	return list.Items
}

// Living are the names of the tenants that were not deleted.
func (w *World) Living() []string {
	w.t.Helper()
	out := []string{}
	for _, o := range w.AllTenants() {
		if o.DeletionTimestamp.IsZero() {
			out = append(out, o.Name)
		}
	}
	return out
}

// Bury ends the deleted tenants, as the controller of tenants would when AWS has nothing of them any more.
func (w *World) Bury() {
	w.t.Helper()
	for _, o := range w.AllTenants() {
		if o.DeletionTimestamp.IsZero() {
			continue
		}
		base := o.DeepCopy()
		o.Finalizers = nil
		if err := w.Kube.Patch(w.t.Context(), &o, client.MergeFrom(base)); client.IgnoreNotFound(err) != nil {
			w.t.Fatalf("burying %s: %v", o.Name, err)
		}
	}
}
