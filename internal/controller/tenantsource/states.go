package tenantsource

import (
	"context"
	"errors"
	"fmt"
	"time"

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

// StateSlots is how many state tables are written at the same time.
const StateSlots = 4

// lastWrites is how long the last states of a source that is gone are tried to be written.
const lastWrites = time.Minute

// keeping is the writer of a session, or none. generation and hosts are those that it was made for.
type keeping struct {
	*writer.Writer

	generation int64
	hosts      []string
	stop       func()
}

// keep keeps the writer of the source as the spec wants it, and says what is known of the state table.
func (p *pass) keep() *statetable.Verdict {
	k := &p.session.keeping
	if !p.in.KeepsStates() {
		p.replace(keeping{})
		p.Observer.Written(p.key(), nil)
		return nil
	}
	hosts := p.hosts()
	if k.Writer == nil || k.generation != p.object.Generation && !p.in.Deleting || !sameHosts(k.hosts, hosts) {
		p.replace(p.keeper(p.object.DeepCopy(), hosts))
	}
	return k.Verdict()
}

// replace ends the writer of the session for another one. Events find the writer at any time.
func (p *pass) replace(by keeping) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session.keeping.Writer != nil {
		p.session.keeping.stop()
	}
	p.session.keeping = by
}

// keeper starts a writer. It lives longer than the pass, and must keep nothing of it.
func (p *pass) keeper(o *v1alpha1.TenantSource, hosts []string) keeping {
	c, key, ctx, stop := p.Controller, client.ObjectKeyFromObject(o), context.Background(), func() {}
	ctx, stop = context.WithCancel(ctx)
	t := target{Controller: c, namespace: convert.TargetNamespace(o), labels: convert.SourceLabels(o)}
	table := stateTable{Controller: c, source: o, hosts: hosts}
	w := writer.New(writer.Options{
		Source: table.target(mapping.Secret{}).Source, Namespace: t.namespace, Removes: convert.StateRemoves(o),
		Fleet: stateFleet{t, table.target(mapping.Secret{}).Source}, Table: table, Now: c.Clock.Now, Slots: c.writes,
		Tell: func(v statetable.Verdict, news bool) {
			if c.Observer.Written(key, &v); news {
				c.Wake(ctx, key)
			}
		},
		Wrote: func(rows int) { c.Observer.Wrote(key, rows) },
	})
	go func() {
		select {
		case <-c.Stopped:
			stop()
		case <-ctx.Done():
		}
	}()
	go w.Run(ctx)
	return keeping{Writer: w, generation: o.Generation, hosts: hosts, stop: stop}
}

// unkeep ends the writer of a previous source of the name.
func (s *session) unkeep() {
	if s != nil && s.keeping.Writer != nil {
		s.keeping.stop()
	}
}

// finish has the writer of a source that is gone write what it still has to.
func (s *session) finish() {
	if k := s.keeping; k.Writer != nil {
		k.Finish()
		time.AfterFunc(lastWrites, k.stop)
	}
}

// FollowStates tells writers which objects change. What changes before a writer is there, or while the operator does not run, is
// found by its first comparison.
func (c *Controller) FollowStates(ctx context.Context, from cache.Informers) error {
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
	if after != nil && before.UID == after.UID && says(before) == says(after) && sourceOf(before) == sourceOf(after) {
		return
	}
	for _, o := range []*v1alpha1.DistributionTenant{before, after} {
		if o == nil {
			continue
		}
		w, leaving := c.writerOf(sourceOf(o))
		if key, known := convert.StateKey(o); known {
			w.Differ(key, o.Name)
		}
		if leaving && after == nil {
			c.Wake(ctx, sourceOf(o))
		}
	}
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
	return writer.Object{Found: true, Ours: relation(o, f.labels) != tenantsource.Foreign, Known: known, Row: row}
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

// One implements writer.Fleet.
func (f stateFleet) One(ctx context.Context, name string) (writer.Object, error) {
	var o v1alpha1.DistributionTenant
	err := f.Client.Get(ctx, client.ObjectKey{Namespace: f.namespace, Name: name}, &o)
	switch {
	case apierrors.IsNotFound(err):
		return writer.Object{}, nil
	case err != nil:
		return writer.Object{}, fmt.Errorf("looking at the tenant %s: %w", name, err)
	}
	return f.look(&o), nil
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
	hosts  []string
}

func (t stateTable) target(connection mapping.Secret) statetable.Target {
	to := convert.StateTarget(t.source, t.ClusterID, connection)
	to.Hosts = t.hosts
	return to
}

// connected is the table with the connection string, which is read each time: it may have been rotated.
func (t stateTable) connected(ctx context.Context) (statetable.Target, error) {
	if problem := convert.StateProblem(t.source); problem != "" {
		return statetable.Target{}, errors.New(problem)
	}
	reading, cancel := context.WithTimeout(ctx, secretTimeout)
	defer cancel()
	connection, failure := t.connection(reading, t.source, convert.StateSecretOf(t.source))
	if failure != nil {
		return statetable.Target{}, errors.New(failure.Message)
	}
	return t.target(connection), nil
}

// Read implements writer.Table.
func (t stateTable) Read(ctx context.Context, sink mapping.Sink) error {
	to, err := t.connected(ctx)
	if err != nil {
		return err
	}
	provider := mapping.Provider(t.source.Spec.Provider)
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
	return t.States[mapping.Provider(t.source.Spec.Provider)].Write(ctx, to, changes)
}
