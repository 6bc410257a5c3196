package tenantsource_test

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/sourceworld"
)

// serving are the names of the tenants that are enabled and stay.
func serving(w *sourceworld.World) []string {
	var out []string
	for _, o := range w.AllTenants() {
		if *o.Spec.Enabled && o.DeletionTimestamp.IsZero() {
			out = append(out, o.Name)
		}
	}
	return out
}

// One statement switches all customers off, others are gone, and one is new: one plan, and one word for it.
func TestChangesAndDeletionsAreOnePlan(t *testing.T) {
	t.Parallel()
	w, table := inMemory(t, 25, sourceworld.Options{})
	w.Advance(time.Second)
	table.rows = allRows(26)[2:]
	for i := range 23 {
		table.rows[i]["enabled"] = false
	}
	w.Advance(24 * interval)
	living(t, w, names(26))
	if n := len(serving(w)); n != 26 {
		t.Fatalf("%d of 26 customers are served\n%s", n, w.Describe("customers"))
	}
	expect(t, w, "Ready=False/DeletionHeld", "Synced=False/DeletionHeld")
	held, _ := w.Get("customers")
	if h := held.Status.HeldDeletions; h.Count != 25 || h.Changes != 23 || w.Held != 25 {
		t.Fatalf("%+v are held, and the metric says %d", h, w.Held)
	}
	before := w.Writes()
	w.Advance(interval)
	if after := w.Writes(); after.SourceStatus != before.SourceStatus+1 || after.Applied != before.Applied {
		t.Errorf("a poll that changes nothing writes %+v after %+v", after, before)
	}

	approve(t, w)
	w.Advance(2 * interval)
	living(t, w, names(26)[2:])
	if got := serving(w); len(got) != 1 || got[0] != name(25) {
		t.Errorf("%v are served, want the new one alone\n%s", got, w.Describe("customers"))
	}
	expect(t, w, "Ready=True/PollSucceeded")

	// That was for those changes. Another one is another plan.
	table.rows[23]["enabled"] = false
	w.Advance(interval)
	expect(t, w, "Ready=False/DeletionHeld")
	if got := serving(w); len(got) != 1 {
		t.Errorf("%v are served", got)
	}
}

// A plan that is approved and has grown meanwhile is another one.
func TestAnApprovalOfChangesIsForExactlyThose(t *testing.T) {
	t.Parallel()
	for title, edit := range map[string]func(rows []map[string]any){
		"one more":                 func(rows []map[string]any) { rows[20]["enabled"] = false },
		"one takes something else": func(rows []map[string]any) { rows[0]["domain"] = "new.example.com" },
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w, table := inMemory(t, 25, sourceworld.Options{})
			w.Advance(time.Second)
			for i := range 20 {
				table.rows[i]["enabled"] = false
			}
			w.Advance(interval)
			o, _ := w.Get("customers")
			edit(table.rows)
			w.Annotate("customers", v1alpha1.AnnotationApproveDeletions, o.Status.HeldDeletions.PlanHash)
			w.Advance(4 * interval)
			if n := len(serving(w)); n != 25 {
				t.Errorf("%d of 25 customers are served\n%s", n, w.Describe("customers"))
			}
			approve(t, w)
			w.Advance(interval)
			expect(t, w, "Ready=True/PollSucceeded")
		})
	}
}

// The row of a source that is made again takes its tenants over, and takes nothing away from too many at once.
func TestASourceThatIsMadeAgainIsGuardedToo(t *testing.T) {
	t.Parallel()
	w, table := inMemory(t, 25, sourceworld.Options{})
	w.Advance(time.Second)
	w.Edit("customers", func(o *v1alpha1.TenantSource) { o.Spec.DeletionPolicy = v1alpha1.SourceDeletionPolicyRetain })
	w.Delete("customers")
	w.Advance(interval)
	for i := range table.rows {
		table.rows[i]["enabled"] = false
	}
	w.Source("customers", mapping.Postgres, mapping.Query{SQL: mapping.SQLQuery{Query: "SELECT"}, Connection: mapping.NewSecret("memory")})
	w.Advance(interval)
	if n := len(serving(w)); n != 25 {
		t.Errorf("%d of 25 customers are served\n%s", n, w.Describe("customers"))
	}
	expect(t, w, "Ready=False/DeletionHeld")
	approve(t, w)
	w.Advance(interval)
	if n := len(serving(w)); n != 0 {
		t.Errorf("%d customers are served after the approval\n%s", n, w.Describe("customers"))
	}
}

// A source that keeps the tenants of rows that are gone guards against rows that change all the same.
func TestASourceThatRetainsGuardsAgainstChanges(t *testing.T) {
	t.Parallel()
	w, table := inMemory(t, 25, sourceworld.Options{})
	w.Advance(time.Second)
	w.Edit("customers", func(o *v1alpha1.TenantSource) { o.Spec.DeletionPolicy = v1alpha1.SourceDeletionPolicyRetain })
	w.Advance(interval)
	table.rows = allRows(20)
	for i := range table.rows {
		table.rows[i]["enabled"] = false
	}
	w.Advance(interval)
	if n := len(serving(w)); n != 25 {
		t.Errorf("%d of 25 customers are served\n%s", n, w.Describe("customers"))
	}
	if o, _ := w.Get("customers"); o.Status.HeldDeletions == nil || o.Status.HeldDeletions.Count != 20 || o.Status.HeldDeletions.Changes != 20 {
		t.Errorf("%+v are held, want 20 changes", o.Status.HeldDeletions)
	}
}

// A customer writes a name that is none: their tenant stays, and those of others go.
func TestARowWithABadNameKeepsItsOwnTenantAlone(t *testing.T) {
	t.Parallel()
	w, table := inMemory(t, 25, sourceworld.Options{}, func(o *v1alpha1.TenantSource) { o.Spec.RowKey = "domain" })
	w.Advance(time.Second)
	expect(t, w, "Ready=True/PollSucceeded", "Synced=True/InSync")
	before := w.Writes()
	w.Advance(interval)
	if after := w.Writes(); after.Applied != before.Applied {
		t.Errorf("a poll that changes nothing applies %d objects", after.Applied-before.Applied)
	}
	table.rows = allRows(24)
	table.rows[3]["name"] = "☠"
	w.Advance(3 * interval)
	living(t, w, names(24))
	if o, _ := w.Get("customers"); o.Status.RejectedRowsTotal != 1 {
		t.Errorf("%d rows are rejected, want 1\n%s", o.Status.RejectedRowsTotal, w.Describe("customers"))
	}

	// Without the key it is unknown again whose the row is, and the objects keep no mark of it.
	w.Edit("customers", func(o *v1alpha1.TenantSource) { o.Spec.RowKey = "" })
	table.rows = table.rows[:23]
	w.Advance(4 * interval)
	living(t, w, names(24))
	for i, o := range w.AllTenants() {
		if _, marked := o.Annotations[v1alpha1.AnnotationSourceRowKey]; marked && i < 23 && i != 3 {
			t.Errorf("%s keeps the key of its row", o.Name)
		}
	}
}

// Tenants whose rows are gone serve on for a day, with a mark. One row is back in time, and the operator restarts.
func TestATenantServesOnInItsGrace(t *testing.T) {
	t.Parallel()
	const interval, grace = time.Hour, 30 * time.Hour
	for policy, stays := range map[v1alpha1.SourceDeletionPolicy]int{v1alpha1.SourceDeletionPolicyDelete: 23, v1alpha1.SourceDeletionPolicyDisable: 25} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			w, table := inMemory(t, 25, sourceworld.Options{}, func(o *v1alpha1.TenantSource) {
				o.Spec.DeletionPolicy, o.Spec.PollInterval = policy, &metav1.Duration{Duration: interval}
				o.Spec.DeletionGuard = &v1alpha1.DeletionGuard{Grace: &metav1.Duration{Duration: grace}}
			})
			marked := func() int {
				n := 0
				for _, o := range w.AllTenants() {
					if o.Annotations[v1alpha1.AnnotationSourceGone] != "" && o.DeletionTimestamp.IsZero() {
						n++
					}
				}
				return n
			}
			table.rows = allRows(21)
			w.Advance(2 * interval)
			if marked() != 4 || len(serving(w)) != 25 {
				t.Fatalf("%d are marked, want 4; %d serve\n%s", marked(), len(serving(w)), w.Describe("customers"))
			}
			before := w.Writes()
			w.Advance(interval)
			if after := w.Writes(); after.Applied != before.Applied || after.SourceStatus != before.SourceStatus+1 {
				t.Errorf("a poll in the grace writes %+v after %+v", after, before)
			}
			expect(t, w, "Ready=True/PollSucceeded", "Synced=False/DeletionPending")

			// One row is back, another one too, but with a domain that is none.
			table.rows = append(allRows(22), map[string]any{"name": name(22), "domain": "_", "enabled": true})
			w.Advance(interval)
			if marked() != 2 {
				t.Errorf("%d are marked, want 2\n%s", marked(), w.Describe("customers"))
			}
			w.Restart()
			w.Advance(grace - 5*interval)
			if marked() != 2 || len(serving(w)) != 25 {
				t.Errorf("%d are marked, want 2; %d serve\n%s", marked(), len(serving(w)), w.Describe("customers"))
			}
			w.Advance(3 * interval)
			if marked() != 0 || len(serving(w)) != 23 || len(w.Living()) != stays {
				t.Errorf("%d are marked, %d serve, want 23, and %d live, want %d\n%s", marked(), len(serving(w)), len(w.Living()), stays, w.Describe("customers"))
			}
		})
	}
}

// A customer whose row was replaced is not made to wait for the end of a grace: the new tenant has a domain of the one before.
func TestAReplacedRowHasNoGrace(t *testing.T) {
	t.Parallel()
	const interval = time.Hour
	w, table := inMemory(t, 25, sourceworld.Options{}, func(o *v1alpha1.TenantSource) {
		o.Spec.PollInterval, o.Spec.DeletionGuard = &metav1.Duration{Duration: interval}, nil
	})
	table.rows = append(allRows(24), map[string]any{"name": "renamed", "domain": name(24) + ".example.com", "enabled": true})
	table.rows = append(table.rows[:3], table.rows[4:]...)
	w.Advance(3 * interval)
	if got := serving(w); slices.Contains(got, name(24)) || !slices.Contains(got, "renamed") || !slices.Contains(got, name(3)) {
		t.Errorf("%s serve; want renamed to have replaced %s, and %s in its grace\n%s", got, name(24), name(3), w.Describe("customers"))
	}
	w.Advance(24 * interval)
	if got := serving(w); slices.Contains(got, name(3)) || len(got) != 24 {
		t.Errorf("%d serve: %s; want 24, %s no longer", len(got), got, name(3))
	}
}
