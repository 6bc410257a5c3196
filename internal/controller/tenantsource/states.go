package tenantsource

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/tenantsource/writer"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
)

// stateFleet are the objects of a source as its writer looks at them.
type stateFleet struct {
	target

	source string
}

func (f stateFleet) look(o *v1alpha1.DistributionTenant) writer.Object {
	row, known := convert.StateRow(o, f.source)
	if !known {
		key, _ := convert.StateKey(o)
		row = statetable.Row{Key: key, Name: o.Name}
	}
	row.Version = convert.ResourceVersion(o.ResourceVersion)
	return writer.Object{
		Found: true, Ours: relation(o, f.labels) != tenantsource.Foreign, Known: known, Rank: rankOf(o), Created: o.CreationTimestamp.Time, Row: row,
	}
}

// rankOf puts an object that serves before one whose row is gone, and that before one that is being deleted.
func rankOf(o *v1alpha1.DistributionTenant) int {
	_, marked := o.Annotations[v1alpha1.AnnotationSourceGone]
	switch {
	case !o.DeletionTimestamp.IsZero():
		return 0
	case marked, o.Annotations[v1alpha1.AnnotationSourceDisabled] == v1alpha1.SourceDisabledTrue:
		return 1
	}
	return 2
}

// All implements writer.Fleet.
func (f stateFleet) All(ctx context.Context) ([]writer.Object, error) {
	tenants, err := f.tenants(ctx)
	var all []writer.Object
	for i := range tenants {
		if o := f.look(&tenants[i]); o.Ours {
			all = append(all, o)
		}
	}
	return all, err
}

// One implements writer.Fleet. Of an object that is renamed, or disabled because its row has another name, there is another one
// with its key.
func (f stateFleet) One(ctx context.Context, key, name string) (best writer.Object, err error) {
	if key != name {
		if best, err = f.ofRow(ctx, key); err != nil || best.Found {
			return best, err
		}
	}
	var o v1alpha1.DistributionTenant
	err = f.Client.Get(ctx, client.ObjectKey{Namespace: f.namespace, Name: name}, &o)
	switch {
	case apierrors.IsNotFound(err):
		return writer.Object{}, nil
	case err != nil:
		return writer.Object{}, fmt.Errorf("looking at the tenant %s: %w", name, err)
	}
	return f.look(&o), nil
}

// ofRow is the object of the source that the row of a key is about.
func (f stateFleet) ofRow(ctx context.Context, key string) (best writer.Object, err error) {
	var list v1alpha1.DistributionTenantList
	if err := f.Client.List(ctx, &list, client.InNamespace(f.namespace), client.MatchingFields{rowIndex: key}, client.UnsafeDisableDeepCopy); err != nil {
		return best, fmt.Errorf("looking for the tenants of a row: %w", err)
	}
	for i := range list.Items {
		if o := f.look(&list.Items[i]); o.Ours && (!best.Found || o.Before(best)) {
			best = o
		}
	}
	return best, nil
}

// Missed implements writer.Fleet. A list has a version also where it is empty.
func (f stateFleet) Missed(ctx context.Context, name string) (version int64, missed bool, err error) {
	var page metav1.PartialObjectMetadataList
	page.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("DistributionTenantList"))
	options := []client.ListOption{client.InNamespace(f.namespace), client.Limit(1)}
	if name != "" {
		options = append(options, client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("metadata.name", name)})
	}
	if err := f.Live.List(ctx, &page, options...); err != nil {
		return 0, false, fmt.Errorf("looking for the tenant %s past the cache: %w", name, err)
	}
	return convert.ResourceVersion(page.ResourceVersion), len(page.Items) == 0, nil
}

// stateTable is the state table of a source as its writer reads and writes it.
type stateTable struct {
	*Controller

	source *v1alpha1.TenantSource
	table  convert.StateTable
	hosts  []string
}

// connected is the table with the connection string, which is read each time: it may have been rotated.
func (t stateTable) connected(ctx context.Context) (to statetable.Target, err error) {
	provider := t.table.Provider
	switch {
	case t.table.Problem != "":
		return to, errors.New(t.table.Problem)
	case t.States[provider] == nil || t.Rows[provider] == nil:
		return to, fmt.Errorf("spec.provider: this operator does not support %q", provider)
	}
	reading, cancel := context.WithTimeout(ctx, secretTimeout)
	defer cancel()
	connection, failure := t.connection(reading, t.source, t.table.Secret)
	if failure != nil {
		return to, errors.New(failure.Message)
	}
	to = t.table.Target
	to.Connection, to.Hosts = connection, t.hosts
	return to, nil
}

// Read implements writer.Table.
func (t stateTable) Read(ctx context.Context, sink mapping.Sink) error {
	to, err := t.connected(ctx)
	if err != nil {
		return err
	}
	provider := t.table.Provider
	ctx, cancel := context.WithTimeout(ctx, t.ReadTimeout)
	defer cancel()
	err = t.Rows[provider].Read(ctx, to.Comparing(provider), sink)
	if provider == mapping.MongoDB && fault.Is(err, fault.NotFound) { // the first write makes the collection
		return nil
	}
	return err
}

// Write implements writer.Table.
func (t stateTable) Write(ctx context.Context, changes []statetable.Change) ([]statetable.Refusal, error) {
	to, err := t.connected(ctx)
	if err != nil {
		return nil, err
	}
	return t.States[t.table.Provider].Write(ctx, to, changes)
}
