package tenantsource_test

import (
	"context"
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/sourceworld"
)

// busy is an API server that refuses, as long as they are set, to delete, to apply, and to store what a poll came to.
type busy struct{ deletes, applies, status bool }

func (b *busy) funcs() interceptor.Funcs {
	return interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			if b.deletes {
				return apierrors.NewTooManyRequests("busy", 1)
			}
			return c.Delete(ctx, o, opts...)
		},
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			if b.applies {
				return forbiddenToUs("")
			}
			return c.Apply(ctx, o, opts...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			if b.status {
				return errors.New("etcd is slow")
			}
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	}
}

// untilRead lets time pass until the table was read once more, and what follows from that is done. A poll that failed is
// tried again after ten seconds.
func untilRead(t *testing.T, w *sourceworld.World, table *memoryTable) {
	t.Helper()
	const look = 4 * time.Second
	before := len(table.reads)
	for range 10 * interval / look {
		if w.Advance(look); len(table.reads) > before {
			w.Advance(look)
			return
		}
	}
	t.Fatalf("the table is not read\n%s", w.Describe("customers"))
}

// The row of a customer is missing; a read sees it again, whatever else becomes of that read; then it is missing once
// more. The two looks that a deletion needs are two looks since then.
func TestARowThatWasSeenIsMissingFromItsBeginning(t *testing.T) {
	t.Parallel()
	const fleet = 3
	for title, c := range map[string]struct {
		// stuck is set where the row was missed twice, and its deletion was counted and not made; and died where
		// that was in another process.
		stuck, died bool
		// weather is that of the read which sees the row, refused is set where nothing can be written after it.
		weather string
		refused bool
		// untold is set where status can't tell of that read, dies where the process ends after it.
		untold, dies bool
	}{
		"a mistake":                             {weather: "enabled renamed"},
		"a read that broke off":                 {weather: "lost"},
		"a read with nothing written after":     {refused: true},
		"a mistake, while stuck":                {stuck: true, weather: "enabled renamed"},
		"a broken read, while stuck":            {stuck: true, weather: "lost"},
		"a refused read, while stuck":           {stuck: true, refused: true},
		"a mistake, after a restart":            {stuck: true, died: true, weather: "enabled renamed"},
		"a broken read, after a restart":        {stuck: true, died: true, weather: "lost"},
		"a refused read, after a restart":       {stuck: true, died: true, refused: true},
		"a mistake, between two restarts":       {stuck: true, died: true, weather: "enabled renamed", dies: true},
		"a refused read, between two restarts":  {stuck: true, died: true, refused: true, dies: true},
		"a good read that is not told":          {stuck: true, untold: true, dies: true},
		"a mistake that is not told":            {stuck: true, weather: "enabled renamed", untold: true, dies: true},
		"a good one untold, after two restarts": {stuck: true, died: true, untold: true, dies: true},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			b := &busy{deletes: c.stuck}
			w, table := inMemory(t, fleet, sourceworld.Options{Funcs: b.funcs()})
			table.rows = allRows(fleet - 1)
			untilRead(t, w, table)
			if c.stuck {
				untilRead(t, w, table)
			}
			if o, _ := w.Get("customers"); c.stuck != (len(o.Status.ClearedDeletions) == 1) {
				t.Fatalf("cleared: %v\n%s", o.Status.ClearedDeletions, w.Describe("customers"))
			}
			if c.died {
				w.Restart()
			}

			table.rows = allRows(fleet)
			if c.weather != "" {
				table.weather = []string{c.weather}
			}
			if c.refused {
				for i := range fleet - 1 {
					table.rows[i] = map[string]any{"name": name(i), "domain": name(i) + ".example.com, new-" + name(i) + ".example.com", "enabled": true}
				}
			}
			b.applies, b.status = c.refused, c.untold
			untilRead(t, w, table)
			if last := table.reads[len(table.reads)-1]; !last.names[name(fleet-1)] {
				t.Fatalf("the read has not seen the row: %+v", last)
			}
			if !c.untold && (c.refused || c.weather != "") && w.Condition("customers", v1alpha1.ConditionSynced) == "Synced=True/InSync" {
				t.Fatalf("the read was as good as any\n%s", w.Describe("customers"))
			}
			if c.dies {
				w.Restart()
			}

			*b, table.rows = busy{}, allRows(fleet-1)
			untilRead(t, w, table)
			if n := len(w.Living()); n != fleet {
				t.Fatalf("deleted after one look\n%s", w.Describe("customers"))
			}
			// A read soon after one that failed counts for nothing.
			w.Advance(2 * interval)
			if n := len(w.Living()); n != fleet-1 {
				t.Errorf("not deleted after two looks\n%s", w.Describe("customers"))
			}
			if o, _ := w.Get("customers"); len(o.Status.ClearedDeletions) > 0 {
				t.Errorf("cleared, and gone: %v", o.Status.ClearedDeletions)
			}
		})
	}
}

// Too many rows are missing and held; a read that is a mistake sees them all. A user approves what status had shown
// before it, and the rows are missing again.
func TestAnApprovalOutlivesNoReadThatSawTheRows(t *testing.T) {
	t.Parallel()
	for _, weather := range []string{"enabled renamed", "lost"} {
		for before, forget := range map[string]func(*sourceworld.World){
			"in one process": func(*sourceworld.World) {},
			"a restart":      func(w *sourceworld.World) { w.Restart() },
			"an edited spec": func(w *sourceworld.World) {
				w.Edit("customers", func(o *v1alpha1.TenantSource) {
					o.Spec.PollInterval = &metav1.Duration{Duration: interval + time.Second}
				})
			},
		} {
			t.Run(before+" and "+weather, func(t *testing.T) {
				t.Parallel()
				w, table := inMemory(t, 25, sourceworld.Options{})
				table.rows = allRows(5)
				w.Advance(interval)
				expect(t, w, "Ready=False/DeletionHeld")
				held, _ := w.Get("customers")

				table.rows, table.weather = allRows(25), []string{weather}
				forget(w)
				untilRead(t, w, table)
				if o, _ := w.Get("customers"); o.Status.HeldDeletions != nil || w.Held != 0 {
					t.Errorf("status still holds %+v, the metric says %d", o.Status.HeldDeletions, w.Held)
				}
				table.rows = allRows(5)
				w.Annotate("customers", v1alpha1.AnnotationApproveDeletions, held.Status.HeldDeletions.PlanHash)
				w.Advance(4 * interval)
				expect(t, w, "Ready=False/DeletionHeld")
				living(t, w, names(25))
			})
		}
	}
}

// One row of a held plan is seen, and vanishes again: the plan is what it was, and still another one.
func TestThePlanThatWasReplacedCanNotBeApproved(t *testing.T) {
	t.Parallel()
	for _, weather := range []string{"good", "enabled renamed", "lost"} {
		t.Run(weather, func(t *testing.T) {
			t.Parallel()
			w, table := inMemory(t, 25, sourceworld.Options{})
			table.rows = allRows(5)
			w.Advance(interval)
			held, _ := w.Get("customers")
			table.rows, table.weather = allRows(6), []string{weather}
			untilRead(t, w, table)
			if o, _ := w.Get("customers"); o.Status.HeldDeletions == nil || o.Status.HeldDeletions.Count != 19 {
				t.Fatalf("%+v are held", o.Status.HeldDeletions)
			}
			w.Annotate("customers", v1alpha1.AnnotationApproveDeletions, held.Status.HeldDeletions.PlanHash)
			w.Advance(time.Second)
			table.rows = allRows(5)
			w.Advance(4 * interval)
			expect(t, w, "Ready=False/DeletionHeld")
			living(t, w, names(25))
		})
	}
}

// The plan that a broken read leaves has no objects that are gone.
func TestAPlanAfterABrokenReadIsOfLivingTenants(t *testing.T) {
	t.Parallel()
	w, table := inMemory(t, 25, sourceworld.Options{})
	table.rows = allRows(5)
	w.Advance(interval)
	for _, o := range w.AllTenants()[20:] {
		must(t, w.Kube.Delete(t.Context(), &o))
	}
	w.Bury()
	table.rows, table.weather = allRows(6), []string{"lost"}
	untilRead(t, w, table)
	if o, _ := w.Get("customers"); o.Status.HeldDeletions == nil || o.Status.HeldDeletions.Count != 14 {
		t.Errorf("%+v are held, want 14", o.Status.HeldDeletions)
	}
}

// A user changes the third tenant.
func changed(t *testing.T, w *sourceworld.World, change func(*v1alpha1.DistributionTenant)) {
	t.Helper()
	o := w.AllTenants()[2]
	base := o.DeepCopy()
	change(&o)
	must(t, w.Kube.Patch(t.Context(), &o, client.MergeFrom(base)))
}

// The labels of the tenant are off while a read that breaks off sees its row.
func TestARowThatWasSeenWhileItsTenantWasReleased(t *testing.T) {
	t.Parallel()
	w, table := inMemory(t, 3, sourceworld.Options{})
	table.rows = allRows(2)
	untilRead(t, w, table)
	changed(t, w, func(o *v1alpha1.DistributionTenant) { o.Labels = nil })
	table.rows, table.weather = allRows(3), []string{"lost"}
	untilRead(t, w, table)
	changed(t, w, func(o *v1alpha1.DistributionTenant) { o.Labels = w.AllTenants()[0].Labels })
	table.rows = allRows(2)
	untilRead(t, w, table)
	living(t, w, names(3))
}

// A tenant is disabled; a read that breaks off sees its row; a user enables it by hand.
func TestADisabledTenantThatWasSeenIsDisabledLikeAnyOther(t *testing.T) {
	t.Parallel()
	w, table := inMemory(t, 3, sourceworld.Options{}, func(o *v1alpha1.TenantSource) { o.Spec.DeletionPolicy = v1alpha1.SourceDeletionPolicyDisable })
	table.rows = allRows(2)
	untilRead(t, w, table)
	untilRead(t, w, table)
	if disabled(w) != 1 {
		t.Fatal("not disabled")
	}
	table.rows, table.weather = allRows(3), []string{"lost"}
	untilRead(t, w, table)
	changed(t, w, func(o *v1alpha1.DistributionTenant) {
		delete(o.Annotations, v1alpha1.AnnotationSourceDisabled)
		enabled := true
		o.Spec.Enabled = &enabled
	})
	table.rows = allRows(2)
	untilRead(t, w, table)
	if disabled(w) != 0 {
		t.Errorf("disabled after one look\n%s", w.Describe("customers"))
	}
	w.Advance(2 * interval)
	if o, _ := w.Get("customers"); disabled(w) != 1 || o.Status.DeletionsInWindow != 2 {
		t.Errorf("%d disabled, %d counted; want 1 and 2", disabled(w), o.Status.DeletionsInWindow)
	}
}

// A process is frozen after its first look. Another one leads, and sees the row; the first has some passes more before it hears that
// it lost its lease.
func TestTheLooksOfAReplicaThatThawsCountForNothing(t *testing.T) {
	t.Parallel()
	for title, reported := range map[string]bool{"after a poll that it told of": true, "before any": false} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			b := &busy{}
			w, table := inMemory(t, 3, sourceworld.Options{Funcs: b.funcs()})
			if !reported {
				w.Restart()
			}
			table.rows, b.status = allRows(2), !reported
			untilRead(t, w, table)
			b.status = false
			old := w.Freeze()
			table.rows = allRows(3)
			w.Advance(2 * interval)
			expect(t, w, "Ready=True/PollSucceeded", "Synced=True/InSync")
			table.rows = allRows(2)
			w.Clock.Step(interval)
			for range 4 {
				_, err := old.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: w.Namespace, Name: "customers"}})
				must(t, err)
			}
			living(t, w, names(3))
		})
	}
}

// Deletions are counted in status, and the answer to that write is lost, again and again.
func TestDeletionsAreCountedOnceWhenAnswersAreLost(t *testing.T) {
	t.Parallel()
	lost := 0
	w, table := inMemory(t, 12, sourceworld.Options{Funcs: interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			err := c.SubResource(sub).Patch(ctx, o, p, opts...)
			if s := o.(*v1alpha1.TenantSource); err == nil && lost < 3 && len(s.Status.ClearedDeletions) > 0 {
				lost++
				return errors.New("timeout")
			}
			return err
		},
	}})
	table.rows = allRows(8)
	w.Advance(3 * interval)
	living(t, w, names(8))
	if o, _ := w.Get("customers"); lost == 0 || o.Status.DeletionsInWindow != 4 {
		t.Errorf("%d answers were lost, %d deletions are counted; want 4", lost, o.Status.DeletionsInWindow)
	}
}

// The API server is busy for longer than the window, and one row after the other is missing.
func TestWhatIsStuckForLongerThanTheWindowIsJudgedAgain(t *testing.T) {
	t.Parallel()
	b := &busy{deletes: true}
	one, zero := int32(1), int32(0)
	w, table := inMemory(t, 4, sourceworld.Options{Funcs: b.funcs()}, func(o *v1alpha1.TenantSource) {
		o.Spec.DeletionGuard = &v1alpha1.DeletionGuard{Grace: &metav1.Duration{}, MaxDeletes: &one, MaxDeletePercent: &zero, Window: &metav1.Duration{Duration: time.Hour}}
	})
	for n := 3; n > 0; n-- {
		table.rows = allRows(n)
		w.Advance(90 * time.Minute)
	}
	b.deletes = false
	w.Advance(10 * time.Minute)
	expect(t, w, "Ready=False/DeletionHeld")
	if n := len(w.Living()); n < 3 {
		t.Errorf("%d were deleted within minutes, and the guard lets 1 go in an hour\n%s", 4-n, w.Describe("customers"))
	}
}

// Losses that status has counted are confirmed by the next process as well, and counted once.
func TestWhatWasClearedIsConfirmedAgainAfterARestart(t *testing.T) {
	t.Parallel()
	b := &busy{}
	w, table := inMemory(t, 3, sourceworld.Options{Funcs: b.funcs()})
	table.rows = allRows(2)
	b.deletes = true
	w.Advance(2*interval + time.Second)
	w.Restart()
	b.deletes = false
	untilRead(t, w, table)
	living(t, w, names(3))
	untilRead(t, w, table)
	living(t, w, names(2))
	if o, _ := w.Get("customers"); o.Status.DeletionsInWindow != 1 {
		t.Errorf("%d deletions are counted", o.Status.DeletionsInWindow)
	}
}

// The same mistake in a real table.
func TestARowThatAMistakeHasSeenIsMissingFromItsBeginning(t *testing.T) {
	t.Parallel()
	w, table := newWorld(t, 3)
	w.Advance(time.Second)
	must(t, table.Remove(t.Context(), name(2)))
	w.Advance(interval)
	must(t, table.Put(t.Context(), row(2)))
	must(t, table.Exec(t.Context(), "UPDATE "+table.Name()+" SET enabled = NULL"))
	w.Advance(interval)
	expect(t, w, "Ready=False/SourceError")
	must(t, table.Exec(t.Context(), "UPDATE "+table.Name()+" SET enabled = true"))
	must(t, table.Remove(t.Context(), name(2)))
	w.Advance(interval)
	living(t, w, names(3))
	w.Advance(interval)
	living(t, w, names(2))
}

// budget lets n tenants go in an hour.
func budget(n int32) func(*v1alpha1.TenantSource) {
	return func(o *v1alpha1.TenantSource) {
		none := int32(0)
		o.Spec.DeletionGuard = &v1alpha1.DeletionGuard{Grace: &metav1.Duration{}, MaxDeletes: &n, MaxDeletePercent: &none, Window: &metav1.Duration{Duration: time.Hour}}
	}
}

// One deletion is stuck until its count has left the window. Others were counted since: with it they would be too many.
func TestWhatIsStuckIsCountedWhenItGoes(t *testing.T) {
	t.Parallel()
	for title, meanwhile := range map[string]func(*sourceworld.World){
		"in one process": func(w *sourceworld.World) { w.Advance(10 * time.Minute) },
		"a restart": func(w *sourceworld.World) {
			w.Advance(4 * time.Minute)
			w.Restart()
			w.Advance(15 * time.Minute)
		},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			stuck := true
			w, table := inMemory(t, 6, sourceworld.Options{Funcs: interceptor.Funcs{
				Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
					if stuck && o.GetName() == name(5) {
						return apierrors.NewTooManyRequests("busy", 1)
					}
					return c.Delete(ctx, o, opts...)
				},
			}}, budget(2))
			table.rows = allRows(5)
			w.Advance(45 * time.Minute)
			table.rows = allRows(4)
			w.Advance(20 * time.Minute)
			meanwhile(w)
			stuck = false
			w.Advance(6 * time.Minute)
			table.rows = allRows(3)
			w.Advance(15 * time.Minute)
			if n := len(w.Living()); n == 3 {
				t.Errorf("3 tenants were deleted within an hour, and the guard lets 2 go\n%s", w.Describe("customers"))
			}
		})
	}
}

// A read sees all rows of a held plan, and status can't tell of it.
func TestAnApprovalOutlivesNoReadThatWasNotTold(t *testing.T) {
	t.Parallel()
	for title, forget := range map[string]func(*sourceworld.World){
		"half an hour": func(w *sourceworld.World) { w.Advance(31 * time.Minute) },
		"an edited spec": func(w *sourceworld.World) {
			w.Edit("customers", func(o *v1alpha1.TenantSource) {
				o.Spec.PollInterval = &metav1.Duration{Duration: interval + time.Second}
			})
		},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			b := &busy{}
			w, table := inMemory(t, 25, sourceworld.Options{Funcs: b.funcs()})
			table.rows = allRows(5)
			w.Advance(interval)
			held, _ := w.Get("customers")
			b.status, table.rows = true, allRows(25)
			untilRead(t, w, table)
			table.rows = allRows(5)
			forget(w)
			w.Advance(10 * time.Second)
			b.status = false
			w.Annotate("customers", v1alpha1.AnnotationApproveDeletions, held.Status.HeldDeletions.PlanHash)
			w.Advance(6 * interval)
			living(t, w, names(25))
		})
	}
}

// forgetful is an API server that stores the end of a poll, and whose answer is lost, up to n times.
type forgetful struct {
	times, lost int
	last        time.Time
}

func (f *forgetful) funcs() interceptor.Funcs {
	return interceptor.Funcs{SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
		err := c.SubResource(sub).Patch(ctx, o, p, opts...)
		s := o.(*v1alpha1.TenantSource)
		if err == nil && f.lost < f.times && s.Status.LastPollTime != nil && s.Status.LastPollTime.Sub(f.last) > interval/2 {
			f.last = s.Status.LastPollTime.Time
			f.lost++
			return errors.New("timeout")
		}
		return err
	}}
}

// The answer to almost every write is lost, and deletions are made all the same.
func TestLostAnswersStarveNoDeletion(t *testing.T) {
	t.Parallel()
	f := &forgetful{}
	w, table := inMemory(t, 3, sourceworld.Options{Funcs: f.funcs()}, func(o *v1alpha1.TenantSource) {
		o.Spec.DeletionGuard = &v1alpha1.DeletionGuard{Grace: &metav1.Duration{}, ConfirmPolls: 3}
	})
	w.Advance(interval)
	table.rows, f.times = allRows(2), 1000
	w.Advance(12 * interval)
	living(t, w, names(2))
	if f.lost == 0 {
		t.Error("no answer was lost")
	}
}

// The answer to the write that tells of an approved plan is lost: the approval is good all the same.
func TestALostAnswerVoidsNoApproval(t *testing.T) {
	t.Parallel()
	f := &forgetful{}
	w, table := inMemory(t, 25, sourceworld.Options{Funcs: f.funcs()})
	table.rows = allRows(5)
	w.Advance(interval)
	f.times = 1
	approve(t, w)
	w.Advance(6 * interval)
	living(t, w, names(5))
	if f.lost == 0 {
		t.Error("no answer was lost")
	}
}

// The answer to the counting is lost, and status can't be read or written for longer than the read is good for.
func TestWhatWasCountedBeforeAnOutageIsCountedOnce(t *testing.T) {
	t.Parallel()
	lost, down := false, false
	w, table := inMemory(t, 3, sourceworld.Options{Funcs: interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			if down {
				return errors.New("down")
			}
			err := c.SubResource(sub).Patch(ctx, o, p, opts...)
			if s := o.(*v1alpha1.TenantSource); err == nil && !lost && len(s.Status.ClearedDeletions) > 0 {
				lost, down = true, true
				return errors.New("timeout")
			}
			return err
		},
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if _, is := o.(*v1alpha1.TenantSource); is && down {
				return errors.New("down")
			}
			return c.Get(ctx, key, o, opts...)
		},
	}}, budget(1))
	table.rows = allRows(2)
	for range 2 * interval / (10 * time.Second) {
		if w.Advance(10 * time.Second); down {
			break
		}
	}
	w.Advance(interval + time.Minute)
	down = false
	w.Advance(4 * interval)
	living(t, w, names(2))
	if o, _ := w.Get("customers"); !lost || o.Status.DeletionsInWindow != 1 {
		t.Errorf("an answer was lost: %t; %d deletions are counted, want 1", lost, o.Status.DeletionsInWindow)
	}
}
