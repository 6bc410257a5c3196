package tenantsource

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/tenantsource/writer"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
)

// How many calls to state tables are made at the same time, and how many of them for one namespace: a database that hangs holds
// its slot for most of a minute.
const (
	stateSlots      = 8
	namespacesSlots = 2
)

// lastWrites is how long the last states of a source that is gone are tried to be written.
const lastWrites = time.Minute

// keeping is the writer of a session, or none. table and hosts are those that it was made for.
type keeping struct {
	*writer.Writer

	table convert.StateTable
	hosts []string
	stop  func()
}

// keep keeps the writer of the source as the spec wants it, and says what is known of the state table.
func (p *pass) keep() *statetable.Verdict {
	k := &p.session.keeping
	if !p.in.KeepsStates() {
		p.replace(keeping{})
		p.Observer.Written(p.key(), nil)
		return nil
	}
	hosts, table := p.hosts(), convert.StateTableOf(p.object, p.ClusterID)
	if k.Writer == nil || !reflect.DeepEqual(k.table, table) || !sameHosts(k.hosts, hosts) {
		p.replace(p.keeper(p.object.DeepCopy(), table, hosts))
	}
	return k.Verdict()
}

// replace ends the writer of the session for another one, which begins. Events find the writer at any time.
func (p *pass) replace(by keeping) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session.keeping.Writer != nil {
		p.session.keeping.stop()
	}
	if p.session.keeping = by; by.Writer == nil {
		return
	}
	if stop := p.finishing[p.key()]; stop != nil {
		stop()
	}
	ctx, stop := context.WithCancel(context.Background())
	p.session.keeping.stop = stop
	go func() {
		select {
		case <-p.Stopped:
			stop()
		case <-ctx.Done():
		}
	}()
	go by.Run(ctx)
}

// keeper makes a writer. It lives longer than the pass, and must keep nothing of it.
func (p *pass) keeper(o *v1alpha1.TenantSource, table convert.StateTable, hosts []string) keeping {
	c, key := p.Controller, client.ObjectKeyFromObject(o)
	fleet := stateFleet{target{Controller: c, namespace: convert.TargetNamespace(o), labels: convert.SourceLabels(o)}, table.Target.Source}
	k := keeping{table: table, hosts: hosts}
	current := func() bool { // a writer that was replaced, or whose source is gone, has nothing to tell
		now, _ := c.writerOf(key)
		return now == k.Writer
	}
	k.Writer = writer.New(writer.Options{
		Source: table.Target.Source, Namespace: fleet.namespace, Removes: table.Removes, MaxRows: c.MaxRows,
		Fleet: fleet, Table: stateTable{c, o, table, hosts}, Now: c.Clock.Now,
		Enter: func(ctx context.Context) (func(), error) { return c.writes.enter(ctx, o.Namespace) },
		Tell: func(v statetable.Verdict, news bool) {
			if !current() {
				return
			}
			if c.Observer.Written(key, &v); news {
				c.Wake(context.Background(), key)
			}
		},
		Wrote: func(rows int) {
			if current() {
				c.Observer.Wrote(key, rows)
			}
		},
	})
	return k
}

// unkeep ends the writer of a previous source of the name.
func (s *session) unkeep() {
	if s != nil && s.keeping.Writer != nil {
		s.keeping.stop()
	}
}

// finish has the writer of a source that is gone write what it still has to, unless there is another source of the name by then.
func (c *Controller) finish(key client.ObjectKey, s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := s.keeping
	if k.Writer == nil {
		return
	}
	c.finishing[key] = k.stop
	k.Finish()
	time.AfterFunc(lastWrites, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		k.stop()
		delete(c.finishing, key)
	})
}

// stateTurns give out the turns of calls to state tables.
type stateTurns struct {
	all *semaphore.Weighted

	mu          sync.Mutex
	ofNamespace map[string]*semaphore.Weighted
}

func newStateTurns() *stateTurns {
	return &stateTurns{all: semaphore.NewWeighted(stateSlots), ofNamespace: map[string]*semaphore.Weighted{}}
}

// enter waits for a turn, first among the tables of the namespace and then among all.
func (t *stateTurns) enter(ctx context.Context, namespace string) (leave func(), err error) {
	t.mu.Lock()
	own := t.ofNamespace[namespace]
	if own == nil {
		own = semaphore.NewWeighted(namespacesSlots)
		t.ofNamespace[namespace] = own
	}
	t.mu.Unlock()
	if err := own.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("waiting for other state tables of the namespace: %w", err)
	}
	if err := t.all.Acquire(ctx, 1); err != nil {
		own.Release(1)
		return nil, fmt.Errorf("waiting for other state tables: %w", err)
	}
	return func() { t.all.Release(1); own.Release(1) }, nil
}

// rowIndex finds objects by the key of their row.
const rowIndex = "source-row"

// FollowStates tells writers which objects change. What changes before a writer is there, or while the operator does not run, is
// found by its first comparison.
func (c *Controller) FollowStates(ctx context.Context, from cache.Cache) error {
	err := from.IndexField(ctx, &v1alpha1.DistributionTenant{}, rowIndex, func(o client.Object) []string {
		if key := o.GetAnnotations()[v1alpha1.AnnotationSourceRow]; key != "" {
			return []string{key}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("indexing the objects of sources: %w", err)
	}
	informer, err := from.GetInformer(ctx, &v1alpha1.DistributionTenant{})
	if err == nil {
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			UpdateFunc: func(before, after any) { c.differs(ctx, tenantIn(before), tenantIn(after)) },
			DeleteFunc: func(o any) { c.differs(ctx, tenantIn(o), nil) },
		})
	}
	if err != nil {
		return fmt.Errorf("watching the objects of sources: %w", err)
	}
	return nil
}

// tenantIn is the object of an event, also of one that the watch has missed; nil if there is none.
func tenantIn(o any) *v1alpha1.DistributionTenant {
	if missed, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
		o = missed.Obj
	}
	tenant, _ := o.(*v1alpha1.DistributionTenant)
	return tenant
}

// differs tells the writers of an object that it has changed. after is nil for one that is gone.
func (c *Controller) differs(ctx context.Context, before, after *v1alpha1.DistributionTenant) {
	if before == nil {
		return
	}
	if after == nil {
		if c.tellWriter(before) {
			c.Wake(ctx, sourceOf(before))
		}
		return
	}
	w, _ := c.writerOf(sourceOf(before))
	now, _ := c.writerOf(sourceOf(after))
	if w == nil && now == nil || before.UID == after.UID && says(before) == says(after) && sourceOf(before) == sourceOf(after) {
		return
	}
	c.tellWriter(before)
	c.tellWriter(after)
}

// tellWriter tells the writer of an object that its row may differ, and reports whether the source waits for its last objects.
func (c *Controller) tellWriter(o *v1alpha1.DistributionTenant) (leaving bool) {
	w, leaving := c.writerOf(sourceOf(o))
	if key, known := convert.StateKey(o); known {
		w.Differ(key, o.Name)
	}
	return leaving
}

// says stands for what the row of an object says.
func says(o *v1alpha1.DistributionTenant) (digest statetable.Digest) {
	if row, known := convert.StateRow(o, ""); known {
		digest = row.Digest()
	}
	return digest
}

func sourceOf(o *v1alpha1.DistributionTenant) types.NamespacedName {
	return types.NamespacedName{Namespace: o.Labels[v1alpha1.LabelSourceNamespace], Name: o.Labels[v1alpha1.LabelSource]}
}

// writerOf is the writer of a source, nil if it has none. leaving is set while the source waits for its deleted objects.
func (c *Controller) writerOf(key types.NamespacedName) (w *writer.Writer, leaving bool) {
	_, s := c.Of(key)
	c.mu.Lock()
	defer c.mu.Unlock()
	if s == nil {
		return nil, false
	}
	return s.keeping.Writer, s.leaving
}

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
