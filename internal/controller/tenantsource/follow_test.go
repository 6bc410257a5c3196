package tenantsource_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/postgres"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/sourceworld"
)

// interval is the poll interval of the sources here.
const interval = 5 * time.Minute

// newWorld is a world with a table in PostgreSQL that has n customers, and a source that follows it.
func newWorld(t *testing.T, n int, change ...func(*v1alpha1.TenantSource)) (*sourceworld.World, *database.Table) {
	t.Helper()
	table := newTable(t, n)
	w := sourceworld.New(t, kubeConfig, sourceworld.Options{
		Rows: map[mapping.Provider]port.Rows{mapping.Postgres: postgres.New(store.Config{Timeout: time.Minute})},
	})
	w.Source("customers", mapping.Postgres, table.Query(), change...)
	return w, table
}

func newTable(t *testing.T, n int) *database.Table {
	t.Helper()
	table, err := database.Shared(t, mapping.Postgres).NewTable(t.Context(), database.TableOptions{})
	must(t, err)
	for i := range n {
		must(t, table.Put(t.Context(), row(i)))
	}
	return table
}

func name(i int) string { return fmt.Sprintf("customer-%03d", i) }

func row(i int) map[string]any {
	return map[string]any{"name": name(i), "domain": name(i) + ".example.com", "enabled": true}
}

func names(n int) []string {
	out := []string{}
	for i := range n {
		out = append(out, name(i))
	}
	return out
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, w *sourceworld.World, conditions ...string) {
	t.Helper()
	for _, want := range conditions {
		kind := v1alpha1.ConditionReady
		if want[:len("Synced")] == "Synced" {
			kind = v1alpha1.ConditionSynced
		}
		if got := w.Condition("customers", kind); got != want {
			t.Errorf("the source says %s, want %s\n%s", got, want, w.Describe("customers"))
		}
	}
}

func living(t *testing.T, w *sourceworld.World, want []string) {
	t.Helper()
	if diff := cmp.Diff(want, w.Living()); diff != "" {
		t.Errorf("tenants (-want +got):\n%s%s", diff, w.Describe("customers"))
	}
}

func TestTheTenantsFollowTheTable(t *testing.T) {
	w, table := newWorld(t, 25)
	w.Advance(time.Second)
	living(t, w, names(25))
	expect(t, w, "Ready=True/PollSucceeded", "Synced=True/InSync")

	before := w.Writes()
	w.Advance(interval)
	after := w.Writes()
	if diff := cmp.Diff(sourceworld.Writes{SourceStatus: before.SourceStatus + 1, Sources: before.Sources, Applied: before.Applied}, after); diff != "" {
		t.Errorf("writes of a poll that changes nothing (-want +got):\n%s", diff)
	}

	must(t, table.Put(t.Context(), row(25)))
	must(t, table.Put(t.Context(), map[string]any{"name": name(3), "domain": "new.example.com", "enabled": false}))
	must(t, table.Remove(t.Context(), name(7)))
	w.Advance(interval)
	living(t, w, names(26))
	expect(t, w, "Ready=True/PollSucceeded", "Synced=False/DeletionPending")
	changed := w.AllTenants()[3]
	if changed.Spec.Domains[0].Domain != "new.example.com" || len(changed.Spec.Domains) != 1 || *changed.Spec.Enabled {
		t.Errorf("the changed row became %+v", changed.Spec)
	}

	w.Advance(interval)
	want := append(names(7), names(26)[8:]...)
	living(t, w, want)
	w.Bury()
	w.Advance(interval)
	expect(t, w, "Ready=True/PollSucceeded", "Synced=True/InSync")
	if o, _ := w.Get("customers"); o.Status.DeletionsInWindow != 1 || o.Status.ChangesInWindow != 1 {
		t.Errorf("in the window: %d deletions, %d harmful changes", o.Status.DeletionsInWindow, o.Status.ChangesInWindow)
	}
}

func TestAnEmptyTableDeletesNothing(t *testing.T) {
	t.Parallel()
	w, table := newWorld(t, 25)
	w.Edit("customers", func(o *v1alpha1.TenantSource) { o.Spec.PollInterval = &metav1.Duration{Duration: time.Hour} })
	w.Advance(time.Second)
	must(t, table.Truncate(t.Context()))
	w.Advance(25 * time.Hour)
	living(t, w, names(25))
	expect(t, w, "Ready=False/DeletionHeld", "Synced=False/DeletionHeld")

	o, _ := w.Get("customers")
	w.Annotate("customers", v1alpha1.AnnotationApproveDeletions, o.Status.HeldDeletions.PlanHash)
	w.Advance(time.Second)
	living(t, w, []string{})
	expect(t, w, "Ready=True/PollSucceeded")
}

func TestDeletingTheSourceWaitsForTheGuard(t *testing.T) {
	w, _ := newWorld(t, 25)
	w.Advance(time.Second)
	w.Delete("customers")
	w.Advance(time.Hour)
	living(t, w, names(25))
	expect(t, w, "Ready=False/DeletionHeld")
	if w.Held != 25 {
		t.Errorf("metrics tell of %d held deletions, want 25", w.Held)
	}
	o, _ := w.Get("customers")
	w.Annotate("customers", v1alpha1.AnnotationApproveDeletions, o.Status.HeldDeletions.PlanHash)
	w.Advance(time.Minute)
	living(t, w, []string{})
	if _, found := w.Get("customers"); found {
		t.Errorf("the source is still there\n%s", w.Describe("customers"))
	}
}
