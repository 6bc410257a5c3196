package crash_test

import (
	"bytes"
	"context"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

// oracleRows wants objects and rows to agree at the end, and no object to be deleted that has a row.
const oracleRows = "rows"

// pollInterval is the shortest that a source may have.
const pollInterval = 10 * time.Second

// customers is the name of the source.
const customers = "customers"

// deleteObject is what the operator asks of the API server for an object whose row is gone.
const deleteObject = "delete distributiontenants"

// pollReport is the write that reports a poll, which comes with each.
const pollReport = "patch tenantsources/status"

// sourced is the table of a lifecycle with a source.
type sourced struct {
	table *database.Table
	// states is the state table, and theirs are the rows of other sources that were there before, by source.
	states *database.StateTable
	theirs map[string]map[string]string

	mu sync.Mutex
	// rows are those in the table.
	rows map[string]bool
}

// theStore is the store of all tables. The first lifecycle that needs it starts it.
var theStore = sync.OnceValues(func() (*database.Engine, error) {
	e, err := database.Start(context.Background(), mapping.Redis, database.Options{})
	startedStore.Store(e)
	return e, err
})

var startedStore atomic.Pointer[database.Engine]

// sourceLifecycles are those in which tenants follow the rows of a table.
func sourceLifecycles() []*lifecycle {
	list := []*lifecycle{{
		name: "source-follow", about: "A row comes and another one changes; then a row goes.", polls: true,
		steps: []step{
			{func(s *stage) { s.putRow("delta", true); s.putRow("beta", false) }, func(s *stage) bool { return s.follows() && s.isSwitchedOff("beta") }},
			{func(s *stage) { s.removeRows("acme") }, (*stage).follows},
		},
	}, {
		name: "source-empty", about: "The table is empty, which deletes nothing; then its rows are back.",
		steps: []step{
			{func(s *stage) { s.emptyTable() }, (*stage).sourceHolds},
			{func(s *stage) { s.putRows("acme", "beta", "gamma") }, func(s *stage) bool { return s.follows() && s.sourceIsReady() }},
		},
	}}
	for _, l := range list {
		l.prepare = func(s *stage) { s.followTable([]string{"acme", "beta", "gamma"}) }
	}
	list = append(list, sourceRollout(), sourceWatch())
	for _, l := range list {
		l.sourced, l.slow, l.uncounted = true, true, true
		l.flags = []string{"--tenantsource-allow-dial=127.0.0.0/8"}
	}
	return list
}

// sourceWatch is the lifecycle in which polls are too rare to bring a change in time: the store tells of it.
func sourceWatch() *lifecycle {
	return &lifecycle{
		name: "source-watch", about: "The store tells of a row that comes and of two that change.",
		prepare: func(s *stage) { s.followTable([]string{"acme", "beta", "gamma"}, s.watchTable) },
		steps: []step{
			{func(s *stage) { s.putRow("delta", true); s.putRow("beta", false) }, func(s *stage) bool { return s.follows() && s.isSwitchedOff("beta") }},
			{func(s *stage) { s.putRow("beta", true) }, func(s *stage) bool { return s.follows() && !s.isSwitchedOff("beta") }},
		},
	}
}

// watchTable lets the source listen, and poll more rarely than a case lasts.
func (s *stage) watchTable(o *v1alpha1.TenantSource) {
	_, err := s.source.table.Watch(s.ctx)
	s.must("letting the store tell of changes", err)
	o.Spec.Watch = &v1alpha1.SourceWatch{}
	o.Spec.PollInterval = &metav1.Duration{Duration: 10 * time.Minute}
}

// following are the cases of the short selection.
func following(k *kase) bool {
	return k.lifecycle.name == "source-follow" && (k.family == "reference" || k.family == "kill" && strings.Contains(k.what, deleteObject))
}

// followTable creates a table with rows and the source that follows it, and waits for the tenants.
func (s *stage) followTable(names []string, change ...func(*v1alpha1.TenantSource)) {
	store, err := theStore()
	s.must("starting the store", err)
	table, err := store.NewTable(s.ctx, database.TableOptions{})
	s.must("making a table", err)
	s.source = &sourced{table: table, rows: map[string]bool{}}
	s.putRows(names...)
	q := table.Query()
	here := metav1.ObjectMeta{Namespace: s.namespace, Name: customers}
	offered := *here.DeepCopy()
	offered.Labels = map[string]string{v1alpha1.LabelTenantSource: customers}
	s.must("creating the Secret", s.rig.kube.Create(s.ctx, &corev1.Secret{ObjectMeta: offered, StringData: map[string]string{"connectionString": q.Connection.Reveal()}}))
	source := &v1alpha1.TenantSource{ObjectMeta: here, Spec: database.Source(mapping.Redis, q, customers)}
	source.Spec.DistributionID, source.Spec.PollInterval = distribution, &metav1.Duration{Duration: pollInterval}
	for _, c := range append(change, s.writeStates) {
		c(source)
	}
	s.must("creating the source", s.rig.kube.Create(s.ctx, source))
	s.await("the tenants of the prepared rows to be Ready", s.follows)
	s.await("the state table to have them", s.states)
}

// putRows puts rows of tenants that are on.
func (s *stage) putRows(names ...string) {
	for _, name := range names {
		s.putRow(name, true)
	}
}

func (s *stage) putRow(name string, enabled bool) {
	s.gate.note("the row %s is put", name)
	s.source.mu.Lock()
	s.source.rows[name] = true
	s.source.mu.Unlock()
	s.must("putting a row", s.source.table.Put(s.ctx, map[string]any{"name": name, "domain": name + ".example.com", "enabled": enabled}))
}

// removeRows removes rows that are meant to go. Only then their objects may be deleted.
func (s *stage) removeRows(names ...string) {
	s.gate.note("the rows %v are removed", names)
	s.must("removing rows", s.source.table.Remove(s.ctx, names...))
	s.source.mu.Lock()
	defer s.source.mu.Unlock()
	for _, name := range names {
		delete(s.source.rows, name)
	}
}

// emptyTable takes all rows away by mistake: their objects must stay.
func (s *stage) emptyTable() {
	s.gate.note("the table is emptied by mistake")
	s.must("emptying the table", s.source.table.Truncate(s.ctx))
}

// follows is when each row has an object that is Ready, and the source has no other.
func (s *stage) follows() bool {
	s.source.mu.Lock()
	rows := maps.Clone(s.source.rows)
	s.source.mu.Unlock()
	for _, o := range s.objects() {
		if o.Labels[v1alpha1.LabelSource] != customers {
			continue
		}
		if !rows[o.Name] || !s.isReady(o.Name) {
			return false
		}
		delete(rows, o.Name)
	}
	return len(rows) == 0
}

func (s *stage) isSwitchedOff(name string) bool {
	t, found := s.tenant(name)
	return found && !t.Enabled
}

func (s *stage) sourceIsReady() bool { return s.sourceSays(v1alpha1.ReasonPollSucceeded) }

func (s *stage) sourceHolds() bool { return s.sourceSays(v1alpha1.ReasonDeletionHeld) }

func (s *stage) sourceSays(reason string) bool {
	return s.sourceCondition(v1alpha1.ConditionReady) == reason
}

// sourceCondition is the reason of a condition of the source, if it speaks of the present spec.
func (s *stage) sourceCondition(name string) string {
	o := s.sourceObject()
	if c := meta.FindStatusCondition(o.Status.Conditions, name); c != nil && c.ObservedGeneration == o.Generation {
		return c.Reason
	}
	return ""
}

func (s *stage) sourceObject() *v1alpha1.TenantSource {
	o := &v1alpha1.TenantSource{}
	s.must("reading the source", s.rig.kube.Get(s.ctx, client.ObjectKey{Namespace: s.namespace, Name: customers}, o))
	return o
}

// know remembers an object that the source has made as one of this case.
func (s *stage) know(o *tenantObject) {
	if !s.lifecycle.sourced || o.Labels[v1alpha1.LabelSource] != customers {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uids[o.UID] = o.Name
}

// isApplied reports whether a patch is what a source applies: only that may have a spec.
func (s *stage) isApplied(c call) bool {
	return s.lifecycle.sourced && bytes.Contains(c.body, []byte(v1alpha1.LabelSource))
}

// checkRowGone wants an object that the operator deletes to have no row.
func (s *stage) checkRowGone(c call) {
	if c.operation != deleteObject || s.source == nil {
		return
	}
	path, _, _ := strings.Cut(c.target, "?")
	path, _, _ = strings.Cut(path, " {") // the body
	name := path[strings.LastIndex(path, "/")+1:]
	s.source.mu.Lock()
	defer s.source.mu.Unlock()
	if s.source.rows[name] {
		s.violate(oracleRows, "%s: the row of %s is there", c.target, name)
	}
}

// checkRows wants rows and objects to agree at the end.
func (s *stage) checkRows() {
	if s.source != nil && !s.follows() {
		s.violate(oracleRows, "at the end the objects are not those of the rows %v", s.source.rows)
	}
}

// leaveTable removes the source with its table.
func (s *stage) leaveTable(ctx context.Context) {
	if s.source == nil {
		return
	}
	s.source.table.Close()
	s.source.states.Close()
	o := &v1alpha1.TenantSource{}
	if err := s.rig.kube.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: customers}, o); err != nil {
		return
	}
	base := o.DeepCopy()
	o.Finalizers = nil
	_ = s.rig.kube.Patch(ctx, o, client.MergeFrom(base))
	_ = s.rig.kube.Delete(ctx, o)
}

// stopStore ends the store, if a lifecycle has started it.
func stopStore() {
	if e := startedStore.Load(); e != nil {
		_ = e.Stop()
	}
}

// meet knows the object of a row. The operator may have seen it before we did.
func (s *stage) meet(name string) {
	if !s.lifecycle.sourced || name == "" {
		return
	}
	if o, found := s.get(name); found {
		s.know(o)
	}
}
