// Package sourceworld is the operator's half of a TenantSource in a test: the real API server, the real controller and
// driver, and whatever reads the table. Only time is not real: nothing runs in the background, and Advance plays what a
// manager would do.
package sourceworld

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube"
	controller "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/tenantsource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/noting"
)

// DistributionID is the distribution that sources of this world name.
const DistributionID = "E2EXAMPLE1"

// TB is what a world needs of a test; a property test has it too.
type TB interface {
	Helper()
	Context() context.Context
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Options say how a world differs from the usual one.
type Options struct {
	// Rows reads the tables, by provider.
	Rows map[mapping.Provider]port.Rows
	// Hints tell of changes of the tables, by provider. They run in real time: see AwaitWake.
	Hints map[mapping.Provider]port.Hints
	// FollowWakes has Advance play the passes for which the process wakes its sources. Otherwise AwaitWake does.
	FollowWakes bool
	// Grant is the administrator's; nil lets every source have its own namespace only.
	Grant func(from, to string) error
	// MaxRows is how many rows a table may have; zero for no limit.
	MaxRows int
	// LargeTable is from how many rows on the ones that a database names are read alone; zero for the usual number.
	LargeTable int
	// Progress tells how far changes of the tenants of a source have come; nil where nothing is known.
	Progress func(source types.NamespacedName) (rollout.Rollout, bool)
	// Stopped is closed when the operator is to stop.
	Stopped <-chan struct{}
	// ReadTimeout bounds one read, in real time; zero for a minute.
	ReadTimeout time.Duration
	// Funcs stand between the operator and the API server.
	Funcs interceptor.Funcs
}

// World is one test's cluster.
type World struct {
	Clock     *clocktesting.FakeClock
	Namespace string
	// Kube writes as a user would.
	Kube client.WithWatch
	// Events are those that the operator published, oldest first.
	Events []reconcile.Event
	// Polls are the reports of the polls that are over.
	Polls []tenantsource.Report
	// Held is how many deletions wait for approval, and Listening whether the table's changes are told, as metrics tell.
	Held      int
	Listening *bool

	t       TB
	options Options
	driver  *reconcile.Driver[*v1alpha1.TenantSource]
	counted sync.Mutex
	writes  Writes
	gate    *gate
	due     map[string]time.Time
	// wakes tells the changes of a source that wake it, seen are the sources as the watch last showed them.
	wakes func(before, after client.Object) bool
	seen  map[string]client.Object
	// unread says that a source may have changed since the watch last looked.
	unread atomic.Bool
	// woken are the sources that the process itself wakes.
	woken <-chan event.GenericEvent
	wake  func(ctx context.Context, sources ...types.NamespacedName)
	// related are the watches of other kinds.
	related []reconcile.Related
	failing map[string]int
}

// Writes counts what the operator wrote.
type Writes struct{ Sources, SourceStatus, Applied, Deleted int }

// New makes a world on the API server.
func New(t TB, config *rest.Config, o Options) *World {
	t.Helper()
	scheme, err := operator.Scheme()
	if err != nil {
		t.Fatalf("making the scheme: %v", err)
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatalf("creating a client: %v", err)
	}
	w := &World{
		Clock: clocktesting.NewFakeClock(time.Now().Truncate(time.Second)), t: t, options: o,
		gate: &gate{}, due: map[string]time.Time{}, seen: map[string]client.Object{}, failing: map[string]int{},
	}
	w.Kube = w.noting(c)
	w.Namespace = w.AddNamespace()
	w.Restart()
	return w
}

// AddNamespace gives the cluster one namespace more.
func (w *World) AddNamespace() string {
	w.t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "source-"}}
	if err := w.Kube.Create(w.t.Context(), ns); err != nil {
		w.t.Fatalf("creating a namespace: %v", err)
	}
	return ns.Name
}

// Freeze returns the process that runs, as if it was stopped in the middle of a round, and starts a second one.
func (w *World) Freeze() *reconcile.Driver[*v1alpha1.TenantSource] {
	w.t.Helper()
	frozen := w.driver
	w.Restart()
	return frozen
}

// Restart ends the process between two passes and starts another one, which remembers nothing.
func (w *World) Restart() {
	w.gate.revive()
	grant := w.options.Grant
	if grant == nil {
		grant = func(from, to string) error {
			if from != to {
				return fmt.Errorf("not granted")
			}
			return nil
		}
	}
	c := interceptor.NewClient(w.gate.around(w.counting()), w.options.Funcs)
	reconciler := controller.New(controller.Options{
		Client: c, Live: c, AnswerOf: kube.AnswerOf, Rows: w.options.Rows, Hints: w.options.Hints, MaxWatches: maxWatches, Clock: w.Clock, Grant: grant,
		MaxRows: w.options.MaxRows, LargeTable: w.options.LargeTable, ReadTimeout: cmp.Or(w.options.ReadTimeout, time.Minute), Observer: observer{w}, Stopped: w.options.Stopped,
		Progress: w.options.Progress,
	})
	w.driver = &reconcile.Driver[*v1alpha1.TenantSource]{
		Client: c, Live: c, Kind: reconciler, Timeout: 2 * time.Minute,
		Publish: func(_ *v1alpha1.TenantSource, e reconcile.Event) { w.Events = append(w.Events, e) },
	}
	watch := reconciler.Watch(1)
	w.related, w.woken, w.wake = watch.Related, watch.Wake, reconciler.Wake
	w.wakes = func(before, after client.Object) bool { return watch.Wakes(reconciler.Finalizer(), before, after) }
	clear(w.seen)
	w.unread.Store(true)
}

type observer struct{ w *World }

func (o observer) Polled(_ client.ObjectKey, r tenantsource.Report, _ time.Duration) {
	o.w.Polls = append(o.w.Polls, r)
}
func (o observer) Held(_ client.ObjectKey, deletions int)      { o.w.Held = deletions }
func (o observer) RolledOut(client.ObjectKey, rollout.Rollout) {}
func (o observer) Watched(_ client.ObjectKey, w *tenantsource.Watch) {
	o.w.Listening = nil
	if w != nil {
		o.w.Listening = &w.Listening
	}
}
func (o observer) Wrote(client.ObjectKey, int)                   {}
func (o observer) Written(client.ObjectKey, *statetable.Verdict) {}
func (o observer) Forgotten(client.ObjectKey)                    {}

// maxWatches is enough for the one source that a test watches.
const maxWatches = 1

// maxPasses bounds how often one source is reconciled in one Advance: one that spins is a defect, and must
// not hang the test.
const maxPasses = 3000

// Advance plays d of the manager's life: every pass that is due, with time jumping from one to the next.
func (w *World) Advance(d time.Duration) {
	w.t.Helper()
	end := w.Clock.Now().Add(d)
	for passes := 0; ; passes++ {
		if passes > maxPasses {
			w.t.Fatalf("reconciled %d times in %s", passes, d)
		}
		if w.unread.Swap(false) {
			w.watch()
		}
		w.takeWakes()
		name, at := w.next()
		if name == "" || at.After(end) {
			break
		}
		if at.After(w.Clock.Now()) {
			w.Clock.SetTime(at)
		}
		w.pass(name)
	}
	// A slow read may have taken longer, and time does not go back.
	if end.After(w.Clock.Now()) {
		w.Clock.SetTime(end)
	}
}

// Deploy plays the deployment of all tenants: each is ready with its present spec, or stalled where fails says so.
func (w *World) Deploy(fails func(*v1alpha1.DistributionTenant) bool) {
	w.t.Helper()
	for _, o := range w.AllTenants() {
		before := o.DeepCopy()
		ready, reason := metav1.ConditionTrue, v1alpha1.ReasonDeployed
		if fails != nil && fails(&o) {
			ready, reason = metav1.ConditionFalse, v1alpha1.ReasonInvalidSpec
			meta.SetStatusCondition(&o.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionStalled, Status: metav1.ConditionTrue, Reason: reason, ObservedGeneration: o.Generation})
		} else {
			meta.RemoveStatusCondition(&o.Status.Conditions, v1alpha1.ConditionStalled)
		}
		meta.SetStatusCondition(&o.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionReady, Status: ready, Reason: reason, Message: "played", ObservedGeneration: o.Generation})
		if equality.Semantic.DeepEqual(before.Status, o.Status) {
			continue
		}
		o.Status.ObservedGeneration = o.Generation
		if err := w.Kube.Status().Update(w.t.Context(), &o); err != nil {
			w.t.Fatalf("storing the status of %s: %v", o.Name, err)
		}
	}
}

// ShowDeletions lets the watch of the tenants see all that are being deleted.
func (w *World) ShowDeletions(name string) {
	w.t.Helper()
	for _, o := range w.AllTenants() {
		before := o.DeepCopy()
		before.DeletionTimestamp = nil
		for _, related := range w.related {
			if related.Matters(before, &o) && len(related.Wakes(&o)) > 0 {
				w.due[name] = w.Clock.Now()
			}
		}
	}
}

// Show lets the watches of other kinds see an object that is new, or has changed.
func (w *World) Show(before, after client.Object) {
	w.t.Helper()
	for _, related := range w.related {
		if reflect.TypeOf(related.Object) != reflect.TypeOf(after) || before != nil && !related.Matters(before, after) {
			continue
		}
		for _, key := range related.Wakes(after) {
			w.due[key.Name] = w.Clock.Now()
		}
	}
}

// Progressed lets the source know that its Progress has changed.
func (w *World) Progressed(name string) {
	w.t.Helper()
	w.wake(w.t.Context(), client.ObjectKey{Namespace: w.Namespace, Name: name})
	w.AwaitWake()
}

// AwaitWake waits until the process itself wakes a source, which then is due.
func (w *World) AwaitWake() {
	w.t.Helper()
	select {
	case e := <-w.woken:
		w.due[e.Object.GetName()] = w.Clock.Now()
	case <-time.After(time.Minute):
		w.t.Fatalf("no source was woken in a minute")
	}
}

// Once reconciles a source once, whether that is due or not.
func (w *World) Once(name string) {
	w.t.Helper()
	w.pass(name)
}

func (w *World) next() (name string, at time.Time) {
	for n, due := range w.due {
		if name == "" || due.Before(at) || due.Equal(at) && n < name {
			name, at = n, due
		}
	}
	return name, at
}

// pass reconciles once.
func (w *World) pass(name string) {
	w.t.Helper()
	delete(w.due, name)
	result, err := w.driver.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: w.Namespace, Name: name}})
	switch {
	case w.gate.isDead():
		w.Restart()
	case err != nil:
		w.failing[name]++
		// The manager logs it, too.
		ctrl.Log.Error(err, "Reconciler error", "namespace", w.Namespace, "name", name)
		w.t.Logf("%s: %v", name, err)
		w.due[name] = w.Clock.Now().Add(min(time.Second<<min(w.failing[name], 10), 5*time.Minute))
	default:
		w.failing[name] = 0
		if result.RequeueAfter > 0 {
			w.due[name] = w.Clock.Now().Add(result.RequeueAfter)
		}
	}
}

// watch queues what a watch with the controller's predicates would let through.
func (w *World) watch() {
	w.t.Helper()
	var list v1alpha1.TenantSourceList
	if err := w.Kube.List(w.t.Context(), &list, client.InNamespace(w.Namespace)); err != nil {
		w.t.Fatalf("listing the sources: %v", err)
	}
	alive := map[string]bool{}
	for n := range list.Items {
		o := &list.Items[n]
		alive[o.Name] = true
		if before := w.seen[o.Name]; before == nil || before.GetUID() != o.UID || w.wakes(before, o) {
			w.due[o.Name], w.failing[o.Name] = w.Clock.Now(), 0
		}
		w.seen[o.Name] = o
	}
	for name := range w.seen {
		if !alive[name] {
			delete(w.seen, name)
			w.due[name] = w.Clock.Now()
		}
	}
}

// takeWakes queues the sources that the process itself has woken.
func (w *World) takeWakes() {
	for w.options.FollowWakes {
		select {
		case e := <-w.woken:
			w.due[e.Object.GetName()] = w.Clock.Now()
		default:
			return
		}
	}
}

// Condition renders a condition of the source of that name; see the function Condition.
func (w *World) Condition(name, conditionType string) string {
	w.t.Helper()
	o, found := w.Get(name)
	if !found {
		return "source is gone"
	}
	return Condition(o, conditionType)
}

// Condition renders a condition of a source as Type=Status/Reason, or says that there is none.
func Condition(o *v1alpha1.TenantSource, conditionType string) string {
	c := meta.FindStatusCondition(o.Status.Conditions, conditionType)
	if c == nil {
		return conditionType + " is not there"
	}
	return conditionType + "=" + string(c.Status) + "/" + c.Reason
}

// Message is that of a condition of a source; empty where there is none.
func (w *World) Message(name, conditionType string) string {
	w.t.Helper()
	o, _ := w.Get(name)
	if c := meta.FindStatusCondition(o.Status.Conditions, conditionType); c != nil {
		return c.Message
	}
	return ""
}

// Describe renders what a failing test should show.
func (w *World) Describe(name string) string {
	w.t.Helper()
	o, found := w.Get(name)
	if !found {
		return name + " is gone"
	}
	var b strings.Builder
	for _, c := range o.Status.Conditions {
		fmt.Fprintf(&b, "%s=%s/%s: %s\n", c.Type, c.Status, c.Reason, c.Message)
	}
	for _, r := range o.Status.RejectedRows {
		fmt.Fprintf(&b, "rejected %s: %s\n", r.Row, r.Reason)
	}
	for _, p := range o.Status.PendingChanges {
		fmt.Fprintf(&b, "pending %s %s: %s\n", p.Action, p.TenantName, p.Description)
	}
	return b.String()
}

// noting makes a client remember that it wrote a source. Only the operator writes a status, which wakes no source.
func (w *World) noting(c client.WithWatch) client.WithWatch {
	return noting.Client(c, func(o client.Object, subresource string) {
		if _, ok := o.(*v1alpha1.TenantSource); ok && subresource == "" {
			w.unread.Store(true)
		}
	})
}

// Writes are those of the operator since the world began.
func (w *World) Writes() Writes {
	w.counted.Lock()
	defer w.counted.Unlock()
	return w.writes
}

// count counts one write. Tenants are written side by side.
func (w *World) count(n *int) {
	w.counted.Lock()
	defer w.counted.Unlock()
	*n++
}

// counting counts the operator's writes.
func (w *World) counting() client.WithWatch {
	return interceptor.NewClient(w.Kube, interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			w.count(&w.writes.Applied)
			return c.Apply(ctx, o, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			w.count(&w.writes.Deleted)
			return c.Delete(ctx, o, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			w.count(&w.writes.Sources)
			return c.Patch(ctx, o, p, opts...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			w.count(&w.writes.SourceStatus)
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	})
}
