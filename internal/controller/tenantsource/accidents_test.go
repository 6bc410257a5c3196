package tenantsource_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/sourceworld"
)

func allRows(n int) (out []map[string]any) {
	for i := range n {
		out = append(out, storyRow(i))
	}
	return out
}

func disabled(w *sourceworld.World) (n int) {
	for _, o := range w.AllTenants() {
		if o.Annotations[v1alpha1.AnnotationSourceDisabled] != "" {
			n++
		}
	}
	return n
}

// The annotation is left standing, as GitOps does; later the table is empty by mistake.
func TestAnApprovalOfDisablingIsGoodOnce(t *testing.T) {
	w, table := inMemory(t, 25, sourceworld.Options{}, func(o *v1alpha1.TenantSource) { o.Spec.DeletionPolicy = v1alpha1.SourceDeletionPolicyDisable })
	table.rows = nil
	w.Advance(2 * interval)
	o, _ := w.Get("customers")
	w.Annotate("customers", v1alpha1.AnnotationApproveDeletions, o.Status.HeldDeletions.PlanHash)
	w.Advance(2 * interval)
	if disabled(w) != 25 {
		t.Fatalf("%d", disabled(w))
	}
	table.rows = allRows(25)
	w.Advance(2 * interval)
	if disabled(w) != 0 {
		t.Fatalf("%d", disabled(w))
	}
	w.Advance(time.Hour)
	table.rows = nil
	w.Advance(3 * interval)
	if n := disabled(w); n != 0 {
		t.Errorf("%d of 25 were disabled with no new word of a person\n%s", n, w.Describe("customers"))
	}
}

// approvedInVain is a source whose empty table was approved, and whose rows came back before anything was
// deleted. The approval still stands.
func approvedInVain(t *testing.T) (*sourceworld.World, *memoryTable) {
	t.Helper()
	w, table := inMemory(t, 25, sourceworld.Options{})
	table.rows = nil
	w.Advance(interval)
	o, _ := w.Get("customers")
	w.Annotate("customers", v1alpha1.AnnotationApproveDeletions, o.Status.HeldDeletions.PlanHash)
	table.rows = allRows(25)
	w.Advance(3 * interval)
	living(t, w, names(25))
	return w, table
}

func TestAnApprovalOfADeletionIsGoodOnce(t *testing.T) {
	w, table := approvedInVain(t)
	w.Advance(time.Hour)
	table.rows = nil
	w.Advance(3 * interval)
	if n := len(w.Living()); n != 25 {
		t.Errorf("%d of 25 are left: an empty table was believed on an old word\n%s", n, w.Describe("customers"))
	}
}

// Deletions are cleared and stuck when a user makes the guard stricter, and the first poll after that fails.
func TestWhatAnotherSpecHadClearedIsJudgedAnew(t *testing.T) {
	stop := true
	w, table := inMemory(t, 6, sourceworld.Options{Funcs: interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			if stop {
				return apierrors.NewTooManyRequests("busy", 1)
			}
			return c.Delete(ctx, o, opts...)
		},
	}})
	table.rows = table.rows[:3]
	w.Advance(2*interval + time.Second)
	living(t, w, names(6))
	if o, _ := w.Get("customers"); len(o.Status.ClearedDeletions) != 3 {
		t.Fatalf("cleared: %v", o.Status.ClearedDeletions)
	}
	zero := int32(0)
	table.weather = []string{"refused"}
	w.Edit("customers", func(o *v1alpha1.TenantSource) {
		o.Spec.DeletionGuard = &v1alpha1.DeletionGuard{Grace: &metav1.Duration{}, ConfirmPolls: 100, MaxDeletes: &zero, MaxDeletePercent: &zero}
	})
	stop = false
	w.Advance(time.Minute)
	living(t, w, names(6))
}

// A process is frozen between counting and deleting. Another one leads and has seen that the row is back, when the first has one
// pass more before it hears that it lost its lease.
func TestAReplicaThatThawsDeletesNothing(t *testing.T) {
	frozen := false
	w, table := inMemory(t, 3, sourceworld.Options{Funcs: interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			if frozen {
				return apierrors.NewTooManyRequests("busy", 1) // stands for the moment before the delete
			}
			return c.Delete(ctx, o, opts...)
		},
	}})
	table.rows = table.rows[:2]
	frozen = true
	w.Advance(2*interval + time.Second)
	living(t, w, names(3))
	old := w.Freeze()
	frozen = false
	// The row is back, and the new leader has polled twice, and said so.
	table.rows = allRows(3)
	w.Advance(2 * interval)
	expect(t, w, "Ready=True/PollSucceeded", "Synced=True/InSync")
	living(t, w, names(3))
	_, err := old.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: w.Namespace, Name: "customers"}})
	must(t, err)
	living(t, w, names(3))
}

// The same in the middle of a batch.
func TestAReplicaThatThawsBetweenTwoDeletionsMakesNoOther(t *testing.T) {
	var (
		w      *sourceworld.World
		table  *memoryTable
		freeze bool
	)
	w, table = inMemory(t, 3, sourceworld.Options{Funcs: interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if freeze && key.Name == name(2) {
				freeze = false
				w.Freeze()
				table.rows = allRows(3)
				w.Advance(2 * interval)
			}
			return c.Get(ctx, key, o, opts...)
		},
	}})
	table.rows = table.rows[:2]
	w.Advance(interval + time.Second)
	freeze = true
	w.Advance(interval)
	if freeze {
		t.Fatal("no deletion was about to be made")
	}
	living(t, w, names(3))
}

// A process is frozen just before it applies a row. Another one leads, and has read and applied what the row says by now,
// when the write of the first arrives.
func TestAReplicaThatThawsAppliesNoOlderRow(t *testing.T) {
	var (
		w          *sourceworld.World
		table      *memoryTable
		freeze     bool
		generation int64
	)
	w, table = inMemory(t, 3, sourceworld.Options{Funcs: applying(func(string) error {
		if freeze {
			freeze = false
			w.Freeze()
			table.rows[0]["domain"] = "newer.example.com"
			w.Advance(2 * interval)
			generation = w.AllTenants()[0].Generation
		}
		return nil
	})})
	table.rows[0]["domain"] = "older.example.com"
	freeze = true
	w.Advance(interval + time.Second)
	o := w.AllTenants()[0]
	if generation == 0 || o.Generation != generation || o.Spec.Domains[0].Domain != "newer.example.com" {
		t.Errorf("generation %d, then %d with the domain %s", generation, o.Generation, o.Spec.Domains[0].Domain)
	}
}

// A quota is used up; one customer leaves, and one comes.
func TestAFullQuotaStopsNobodyFromGoing(t *testing.T) {
	var w *sourceworld.World
	w, table := inMemory(t, 5, sourceworld.Options{Funcs: interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			n := o.(interface{ GetName() string }).GetName()
			if w != nil && n == name(5) && len(w.Living()) >= 5 {
				return apierrors.NewForbidden(schema.GroupResource{Group: "cloudfront-tenant-operator.io", Resource: "distributiontenants"}, n,
					errors.New("exceeded quota: tenants, requested: count/distributiontenants.cloudfront-tenant-operator.io=1, used: count/distributiontenants.cloudfront-tenant-operator.io=5, limited: count/distributiontenants.cloudfront-tenant-operator.io=5"))
			}
			return c.Apply(ctx, o, opts...)
		},
	}})
	table.rows = allRows(6)[1:]
	w.Advance(time.Hour)
	living(t, w, names(6)[1:])
}

func TestAReadMayTakeLongerThanItsResultIsGood(t *testing.T) {
	w, table := inMemory(t, 3, sourceworld.Options{})
	table.slow = func() { w.Clock.Step(31 * time.Minute) }
	for range 100 {
		table.weather = append(table.weather, "slow")
	}
	table.rows = table.rows[:2]
	w.Advance(12 * time.Hour)
	living(t, w, names(2))
}

func TestTheMetricOfHeldDeletionsOutlivesAFailedPoll(t *testing.T) {
	w, table := inMemory(t, 25, sourceworld.Options{})
	table.rows = nil
	w.Advance(interval)
	if w.Held != 25 {
		t.Fatal(w.Held)
	}
	table.weather = []string{"refused", "refused", "refused"}
	w.Advance(interval)
	o, _ := w.Get("customers")
	if o.Status.HeldDeletions == nil || w.Held != 25 {
		t.Errorf("status says %+v, metric says %d\n%s", o.Status.HeldDeletions, w.Held, w.Describe("customers"))
	}
}

// A user takes the labels off while the table is read, and the row has changed.
func TestATenantThatIsLetGoDuringTheReadStaysLetGo(t *testing.T) {
	w, table := inMemory(t, 2, sourceworld.Options{})
	table.weather = []string{"slow"}
	table.slow = func() {
		o := w.AllTenants()[1]
		base := o.DeepCopy()
		o.Labels = nil
		must(t, w.Kube.Patch(t.Context(), &o, client.MergeFrom(base)))
	}
	table.rows[1] = map[string]any{"name": name(1), "domain": "new.example.com", "enabled": true}
	w.Advance(interval)
	if o := w.AllTenants()[1]; len(o.Labels) != 0 {
		t.Errorf("taken over: %v %v\n%s", o.Labels, o.Spec.Domains, w.Describe("customers"))
	}
}

// The namespace of its objects is not watched any more.
func TestADeletedSourceThatIsBlindSaysSo(t *testing.T) {
	granted := true
	w, _ := inMemory(t, 2, sourceworld.Options{
		Grant: func(string, string) error {
			if !granted {
				return errors.New("not granted")
			}
			return nil
		},
		Funcs: interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if !granted {
				return errors.New("unable to get: x because of unknown namespace for the cache")
			}
			return c.List(ctx, list, opts...)
		}},
	})
	granted = false
	w.Delete("customers")
	w.Advance(time.Hour)
	expect(t, w, "Ready=False/InvalidConfig")
}

func TestOneRefusedChangeStopsNoOther(t *testing.T) {
	for _, err := range []error{
		&apierrors.StatusError{ErrStatus: metav1.Status{Status: "Failure", Code: http.StatusInternalServerError, Message: `failed to create typed patch object: .spec.x: field not declared in schema`}},
		apierrors.NewRequestEntityTooLargeError("limit is 3145728"),
	} {
		t.Run(string(apierrors.ReasonForError(err)), func(t *testing.T) {
			on := false
			w, table := inMemory(t, 5, sourceworld.Options{Funcs: applying(func(n string) error {
				if on && n == name(2) {
					return err
				}
				return nil
			})})
			on = true
			table.rows[2] = map[string]any{"name": name(2), "domain": "new.example.com", "enabled": true}
			table.rows = append(table.rows[:4:4], storyRow(5))
			w.Advance(time.Hour)
			living(t, w, []string{name(0), name(1), name(2), name(3), name(5)})
		})
	}
}

// A refusal of the API server may pass. It is tried again soon, and ever more rarely if it does not.
func TestARefusedChangeIsTriedAgain(t *testing.T) {
	refuses := false
	w, table := inMemory(t, 3, sourceworld.Options{Funcs: applying(func(string) error {
		if refuses {
			return &apierrors.StatusError{ErrStatus: metav1.Status{Status: "Failure", Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError, Message: "etcdserver: leader changed"}}
		}
		return nil
	})}, func(o *v1alpha1.TenantSource) { o.Spec.PollInterval = &metav1.Duration{Duration: time.Hour} })
	change := func(domain string) {
		table.rows[1] = map[string]any{"name": name(1), "domain": domain, "enabled": true}
	}
	has := func(domain string) {
		t.Helper()
		for _, o := range w.AllTenants() {
			if o.Name == name(1) && o.Spec.Domains[0].Domain != domain {
				t.Errorf("the tenant has %s, want %s\n%s", o.Spec.Domains[0].Domain, domain, w.Describe("customers"))
			}
		}
	}
	refuses = true
	change("new.example.com")
	w.Advance(time.Hour + time.Second)
	expect(t, w, "Synced=False/RowsRejected")
	refuses = false
	w.Advance(15 * time.Second)
	has("new.example.com")
	expect(t, w, "Synced=True/InSync")

	refuses = true
	change("newer.example.com")
	before := len(w.Polls)
	w.Advance(20 * time.Hour)
	if polls := len(w.Polls) - before; polls < 20 || polls > 32 {
		t.Errorf("%d polls in 20 hours", polls)
	}
	refuses = false
	w.Advance(2 * time.Hour)
	has("newer.example.com")
}

func TestWhatMayNotGoCostsOneWriteInEachPoll(t *testing.T) {
	w, table := inMemory(t, 3, sourceworld.Options{Funcs: interceptor.Funcs{
		Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error {
			return deniedByWebhook(http.StatusForbidden, metav1.StatusReasonForbidden)
		},
	}})
	table.rows = table.rows[:2]
	w.Advance(5 * interval)
	before := w.Writes()
	w.Advance(10 * interval)
	if n := w.Writes().SourceStatus - before.SourceStatus; n != 10 {
		t.Errorf("%d status writes in 10 polls", n)
	}
}

// A tenant is deleted, and its row comes back and makes another one, while no status can be stored; then the row flaps.
func TestWhatWasClearedIsAnObjectAndNoName(t *testing.T) {
	dead := false
	w, table := inMemory(t, 3, sourceworld.Options{Funcs: interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			s := o.(*v1alpha1.TenantSource)
			if dead && len(s.Status.ClearedDeletions) == 0 {
				return errors.New("etcd is slow")
			}
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	}})
	table.rows = allRows(2)
	dead = true // from now on the end of a poll is not stored
	w.Advance(interval)
	dead = false
	w.Advance(time.Minute)
	dead = true
	w.Advance(interval)
	w.Bury()
	table.rows = allRows(3)
	w.Restart()
	w.Advance(6 * interval) // the row is back, and its tenant recreated; the status is not stored
	living(t, w, names(3))
	table.rows = allRows(2)
	dead = false
	reads := len(table.reads)
	w.Restart()
	w.Advance(time.Minute)
	if o, _ := w.Get("customers"); len(w.Living()) != 3 {
		t.Errorf("deleted after %d reads, %d are counted", len(table.reads)-reads, o.Status.DeletionsInWindow)
	}
}

// An approval is left standing, and the source is deleted by mistake.
func TestAnApprovalOfRowsIsNoneOfTheDeletedSource(t *testing.T) {
	w, _ := approvedInVain(t)
	w.Delete("customers")
	w.Advance(time.Minute)
	if n := len(w.Living()); n != 25 {
		t.Errorf("%d left", n)
	}
}

// The API server is busy when the deletion is due, and the row is back before it has time.
func TestNothingIsDeletedOnAnOldRead(t *testing.T) {
	stop := true
	w, table := inMemory(t, 3, sourceworld.Options{Funcs: interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			if stop {
				return apierrors.NewTooManyRequests("busy", 1)
			}
			return c.Delete(ctx, o, opts...)
		},
	}})
	table.rows = allRows(2)
	w.Advance(2*interval + time.Minute)
	table.rows = allRows(3)
	reads := len(table.reads)
	w.Advance(20 * time.Minute)
	stop = false
	w.Advance(3 * time.Minute)
	if n := len(w.Living()); n != 3 {
		t.Errorf("deleted on a read of 20 minutes ago, with an interval of 5; reads meanwhile: %d", len(table.reads)-reads)
	}
}

func TestAnApprovalOfAColumnIsGoodOnce(t *testing.T) {
	w, table := inMemory(t, 25, sourceworld.Options{})
	for i := range table.rows {
		table.rows[i]["enabled"] = false
	}
	w.Advance(interval)
	approve(t, w)
	w.Advance(interval)
	table.weather = []string{"enabled renamed", "enabled renamed", "enabled renamed"}
	w.Advance(interval)
	m := w.Message("customers", v1alpha1.ConditionReady)
	_, after, _ := strings.Cut(m, "approve-deletions to ")
	w.Annotate("customers", v1alpha1.AnnotationApproveDeletions, after[:16])
	w.Advance(3 * interval)
	// The column is back: it switches all customers off, and that is another plan.
	approve(t, w)
	w.Advance(time.Hour)
	expect(t, w, "Ready=True/PollSucceeded")
	if *w.AllTenants()[0].Spec.Enabled {
		t.Fatal("enabled")
	}
	table.weather = []string{"enabled renamed"}
	w.Advance(interval)
	if *w.AllTenants()[0].Spec.Enabled {
		t.Errorf("customers that were switched off are served, on an old word")
	}
}
