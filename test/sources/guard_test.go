package sources_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/sourceworld"
)

// guards are cases of what may be deleted when. The guard knows nothing of engines, so that one is enough.
var guards = map[string]struct {
	setup setup
	test  func(*cell)
}{
	"above the budget everything is held, for as long as it takes": {setup: setup{interval: time.Hour}, test: testHeldWhole},
	"an approved plan goes at once":                                {test: testApproved},
	"a statement that switches all customers off is held":          {setup: setup{interval: time.Hour}, test: testSwitchedOff},
	"and so is one that moves them to other domains":               {test: testOtherDomains},
	"no budget allows more than half": {
		setup: setup{source: guard(v1alpha1.DeletionGuard{Grace: &metav1.Duration{}, MaxDeletes: new(int32(1000)), MaxDeletePercent: new(int32(100))})}, test: testCeiling,
	},
	"the hash of another plan approves nothing": {test: testOtherHash},
	"an approval ends with its plan":            {test: testApprovalEnds},
	"the budget is one of a day":                {setup: setup{interval: time.Hour}, test: testWindow},
	"the budget grows with the fleet": {
		setup: setup{rows: usual(0, 60), source: guard(v1alpha1.DeletionGuard{Grace: &metav1.Duration{}, MaxDeletes: new(int32), MaxDeletePercent: new(int32(20))})}, test: testPercent,
	},
	"with a budget of nothing every deletion is held": {
		setup: setup{source: guard(v1alpha1.DeletionGuard{Grace: &metav1.Duration{}, MaxDeletes: new(int32), MaxDeletePercent: new(int32)})}, test: testNoBudget,
	},
	"more confirmations take more polls": {
		setup: setup{source: guard(v1alpha1.DeletionGuard{Grace: &metav1.Duration{}, ConfirmPolls: 5})}, test: testFivePolls,
	},
	"polls out of turn confirm nothing and shift nothing": {test: testOutOfTurn},
	"a poll that failed confirms nothing":                 {test: testFailedBetween},
	"a restart between polls asks for all confirmations":  {test: testRestart},
	"a restart keeps what was counted and what was held":  {test: testRestartKeeps},
	"a changed spec asks for all confirmations":           {test: testChangedSpec},
	"with Disable tenants go dark and come back":          {setup: setup{source: policy(v1alpha1.SourceDeletionPolicyDisable)}, test: testDisable},
	"with Disable the guard holds, too":                   {setup: setup{source: policy(v1alpha1.SourceDeletionPolicyDisable)}, test: testDisableHeld},
	"with Retain tenants stay":                            {setup: setup{source: policy(v1alpha1.SourceDeletionPolicyRetain)}, test: testRetain},
	"a dry run writes the plan and nothing else":          {test: testDryRun},
	"a suspended source reads nothing":                    {test: testSuspend},
}

// fleet is more than twice of what a source may delete in a day.
const fleet = 25

func TestGuard(t *testing.T) {
	for caseName, tt := range guards {
		t.Run(caseName, func(t *testing.T) {
			t.Parallel()
			tt.setup.rows = tt.setup.rowsOr(usual(0, fleet))
			engines["postgres"].play(t, tt.setup, tt.test)
		})
	}
}

func guard(g v1alpha1.DeletionGuard) func(*database.Table, *v1alpha1.TenantSource) {
	return func(_ *database.Table, o *v1alpha1.TenantSource) { o.Spec.DeletionGuard = &g }
}

func policy(p v1alpha1.SourceDeletionPolicy) func(*database.Table, *v1alpha1.TenantSource) {
	return func(_ *database.Table, o *v1alpha1.TenantSource) { o.Spec.DeletionPolicy = p }
}

// deletedAre compares how many deletions were made, and how many are counted in the window.
func (c *cell) deletedAre(made, counted int) {
	c.t.Helper()
	if n := c.w.Writes().Deleted; n != made {
		c.t.Errorf("the operator deleted %d objects, want %d\n%s", n, made, c.w.Describe(customers))
	}
	if n := int(c.status().DeletionsInWindow); n != counted {
		c.t.Errorf("%d deletions are counted, want %d", n, counted)
	}
}

// stay is for a while in which nothing may be deleted.
func (c *cell) stay(d time.Duration) {
	c.t.Helper()
	before := c.w.Living()
	c.w.Advance(d)
	c.living(before)
}

func testHeldWhole(c *cell) {
	before := c.objects()
	c.remove(names(0, 11)...)
	c.stay(25 * time.Hour)
	c.untouched(before)
	c.nothingDeleted()
	c.expect("Ready=False/DeletionHeld", "Synced=False/DeletionHeld")
	c.says("11 tenants no longer have a row", "The guard allows 10 deletions in 24h", "so nothing is deleted")
	if held := c.status().HeldDeletions; held.Count != 11 || !slices.Equal(held.Names, names(0, 11)) {
		c.t.Errorf("held: %s", dump(c.t, held))
	}
	// New and changed rows are still applied.
	more := "changed.example.com " + name(12) + ".example.com"
	c.put(row(fleet), with(row(12), "domain", more))
	c.poll()
	c.living(names(0, fleet+1))
	c.domainsAre(name(12), more)
	// One row back makes it a plan that fits the budget.
	c.put(row(0))
	c.poll()
	c.living(append([]string{name(0)}, names(11, fleet+1)...))
	c.deletedAre(10, 10)
}

func testApproved(c *cell) {
	c.remove(names(0, 20)...)
	c.poll()
	c.approve()
	c.settle()
	// The poll for the approval is out of turn: the second confirmation is that of the next one.
	c.living(names(0, fleet))
	c.expect("Ready=True/PollSucceeded", "Synced=False/DeletionPending")
	c.poll()
	c.living(names(20, fleet))
	c.deletedAre(20, 20)
	c.expect("Ready=True/PollSucceeded", "Synced=True/InSync")
}

// statement runs one on the table of PostgreSQL.
func (c *cell) statement(format string) {
	c.t.Helper()
	must(c.t, c.table.Exec(c.t.Context(), fmt.Sprintf(format, c.table.Name())))
}

func testSwitchedOff(c *cell) {
	before := c.objects()
	c.statement("UPDATE %s SET enabled = false")
	c.stay(25 * time.Hour)
	c.untouched(before)
	c.expect("Ready=False/DeletionHeld", "Synced=False/DeletionHeld")
	c.says(fmt.Sprintf("%d changed rows take something away from their tenants", fleet), "disables the tenant", "The guard allows 10 deletions and harmful changes in 24h", "so these tenants stay as they are")
	if held := c.status().HeldDeletions; held.Count != fleet || held.Changes != fleet || !slices.Equal(held.Names, names(0, 20)) {
		c.t.Errorf("held: %s", dump(c.t, held))
	}
	// Changes that take nothing away are made, and missing rows join the plan.
	c.put(row(fleet))
	c.remove(name(24))
	c.poll()
	c.living(names(0, fleet+1))
	old := c.status().HeldDeletions.PlanHash
	c.remove(name(23))
	c.w.Annotate(customers, v1alpha1.AnnotationApproveDeletions, old)
	c.stay(2 * time.Hour)
	c.says("2 tenants no longer have a row, and 23 changed rows take something away from their tenants")

	c.approve()
	c.settle()
	c.living(append(names(0, 23), name(fleet)))
	want := map[string]bool{name(fleet): true}
	for _, name := range names(0, 23) {
		want[name] = false
	}
	c.enabledAre(want)
	c.deletedAre(2, 2)
	c.expect("Ready=True/PollSucceeded", "Synced=True/InSync")

	// That word was for that plan. The customers come back without one, and the same statement needs another.
	c.statement("UPDATE %s SET enabled = true")
	c.poll()
	c.enabledAre(map[string]bool{name(0): true, name(22): true})
	c.statement("UPDATE %s SET enabled = false")
	c.stay(2 * time.Hour)
	c.enabledAre(map[string]bool{name(0): true, name(22): true, name(fleet): true})
	c.expect("Ready=False/DeletionHeld")
}

func testOtherDomains(c *cell) {
	before := c.objects()
	c.statement("UPDATE %s SET domain = 'staging-' || domain")
	c.stay(2 * time.Hour)
	c.untouched(before)
	c.says(fmt.Sprintf("%d changed rows take something away from their tenants", fleet), "removes customer-000.example.com")
	c.approve()
	c.settle()
	c.domainsAre(name(3), "staging-"+name(3)+".example.com")
	c.expect("Ready=True/PollSucceeded", "Synced=True/InSync")
}

func testCeiling(c *cell) {
	c.remove(names(0, 13)...)
	c.stay(2 * time.Hour)
	c.says("The guard allows 12 deletions (never more than half of the tenants) in 24h")
	c.nothingDeleted()
	c.put(row(0))
	c.poll()
	c.deletedAre(12, 12)
}

func testOtherHash(c *cell) {
	c.remove(names(0, 11)...)
	c.poll()
	old := c.status().HeldDeletions.PlanHash
	c.remove(name(11))
	c.w.Annotate(customers, v1alpha1.AnnotationApproveDeletions, old)
	c.stay(2 * time.Hour)
	c.w.Annotate(customers, v1alpha1.AnnotationApproveDeletions, "yes")
	c.stay(2 * time.Hour)
	c.expect("Ready=False/DeletionHeld")
	c.nothingDeleted()
	c.approve()
	c.settle()
	c.living(names(12, fleet))
}

func testApprovalEnds(c *cell) {
	c.remove(names(0, 11)...)
	c.poll()
	c.poll()
	c.approve()
	c.settle()
	c.living(names(11, fleet))
	c.w.Bury()
	// The same names again are other tenants: the old approval is none for them.
	c.put(usual(0, 11)...)
	c.poll()
	c.living(names(0, fleet))
	c.remove(names(0, 11)...)
	c.stay(2 * time.Hour)
	c.expect("Ready=False/DeletionHeld")
	c.deletedAre(11, 11)
}

func testWindow(c *cell) {
	c.remove(names(0, 6)...)
	c.w.Advance(2 * c.interval)
	c.living(names(6, fleet))
	c.deletedAre(6, 6)
	c.remove(names(6, 12)...)
	c.stay(23*time.Hour + 30*time.Minute)
	c.expect("Ready=False/DeletionHeld")
	c.says("6 tenants no longer have a row", "The guard allows 10 deletions in 24h, of which 6 are used")
	c.w.Advance(c.interval)
	c.living(names(12, fleet))
	c.deletedAre(12, 6)
	c.expect("Ready=True/PollSucceeded")
	c.w.Advance(25 * time.Hour)
	c.deletedAre(12, 0)
}

func testPercent(c *cell) {
	c.remove(names(0, 13)...)
	c.stay(time.Hour)
	c.expect("Ready=False/DeletionHeld")
	c.says("The guard allows 12 deletions in 24h")
	c.put(row(0))
	c.poll()
	c.deletedAre(12, 12)
}

func testNoBudget(c *cell) {
	c.remove(name(3))
	c.stay(time.Hour)
	c.expect("Ready=False/DeletionHeld")
	c.nothingDeleted()
	c.approve()
	c.settle()
	c.deletedAre(1, 1)
}

func testFivePolls(c *cell) {
	c.remove(name(3))
	for range 4 {
		c.poll()
		c.living(names(0, fleet))
	}
	c.poll()
	c.deletedAre(1, 1)
}

func testOutOfTurn(c *cell) {
	start := c.w.Clock.Now()
	c.remove(name(3))
	for i := range 4 {
		c.w.Annotate(customers, v1alpha1.AnnotationSyncNow, fmt.Sprint("first ", i))
		c.w.Advance(time.Minute)
		c.living(names(0, fleet))
	}
	c.expect("Synced=False/DeletionPending")
	if token := c.status().SyncToken; token != "first 3" {
		c.t.Errorf("the token that was handled is %q", token)
	}
	c.w.Advance(time.Minute) // the first regular poll, at its usual time
	if polled := c.status().LastPollTime.Time; !polled.Equal(start.Add(interval - time.Second)) {
		c.t.Errorf("polled at %s, want %s", polled, start.Add(interval-time.Second))
	}
	for i := range 4 {
		c.w.Annotate(customers, v1alpha1.AnnotationSyncNow, fmt.Sprint("second ", i))
		c.w.Advance(time.Minute)
		c.living(names(0, fleet))
	}
	c.nothingDeleted()
	c.w.Advance(time.Minute)
	c.deletedAre(1, 1)
}

func testFailedBetween(c *cell) {
	c.remove(name(3))
	c.poll()
	must(c.t, c.table.Revoke(c.t.Context()))
	c.stay(time.Hour)
	c.expect("Ready=False/SourceError")
	must(c.t, c.table.Grant(c.t.Context()))
	c.w.Advance(interval)
	c.deletedAre(1, 1)
}

func testRestart(c *cell) {
	c.remove(name(3))
	for range 3 {
		c.poll()
		c.w.Restart()
		c.settle()
		c.living(names(0, fleet))
	}
	c.nothingDeleted()
	c.poll()
	c.living(names(0, fleet))
	c.poll()
	c.deletedAre(1, 1)
}

func testRestartKeeps(c *cell) {
	c.remove(names(0, 6)...)
	c.w.Advance(2 * interval)
	c.deletedAre(6, 6)
	c.w.Restart()
	c.remove(names(6, 12)...)
	c.stay(2 * time.Hour)
	c.expect("Ready=False/DeletionHeld")
	c.says("of which 6 are used")
	hash := c.status().HeldDeletions.PlanHash
	c.w.Restart()
	c.w.Annotate(customers, v1alpha1.AnnotationApproveDeletions, hash)
	c.settle()
	c.w.Advance(2 * interval)
	c.living(names(12, fleet))
	c.deletedAre(12, 12)
}

func testChangedSpec(c *cell) {
	c.remove(name(3))
	c.poll()
	c.w.Edit(customers, func(o *v1alpha1.TenantSource) { o.Spec.Postgres.Query += " WHERE true" })
	c.settle()
	c.living(names(0, fleet))
	c.nothingDeleted()
	c.poll()
	c.deletedAre(1, 1)
}

// byHand changes a tenant as a user would.
func (c *cell) byHand(name string, change func(*v1alpha1.DistributionTenant)) {
	c.t.Helper()
	o := c.tenant(name)
	base := o.DeepCopy()
	change(&o)
	must(c.t, c.w.Kube.Patch(c.t.Context(), &o, client.MergeFrom(base), client.FieldOwner("somebody")))
}

// enabledAre compares what spec.enabled is; what is absent is true.
func (c *cell) enabledAre(want map[string]bool) {
	c.t.Helper()
	for name, enabled := range want {
		o := c.tenant(name)
		if got := o.Spec.Enabled == nil || *o.Spec.Enabled; got != enabled {
			c.t.Errorf("%s: enabled is %t, want %t\n%s", name, got, enabled, c.w.Describe(customers))
		}
	}
}

func testDisable(c *cell) {
	c.put(with(row(2), "enabled", nil), with(row(3), "enabled", nil))
	c.poll()
	off := false
	c.byHand(name(3), func(o *v1alpha1.DistributionTenant) { o.Spec.Enabled = &off })
	c.byHand(name(4), func(o *v1alpha1.DistributionTenant) { o.Labels["mine"] = "yes" })
	c.poll()
	c.enabledAre(map[string]bool{name(1): true, name(2): true, name(3): false, name(4): true})

	c.remove(names(1, 5)...)
	c.poll()
	c.enabledAre(map[string]bool{name(1): true, name(2): true, name(4): true})
	c.poll()
	c.enabledAre(map[string]bool{name(0): true, name(1): false, name(2): false, name(3): false, name(4): false})
	c.deletedAre(0, 4)
	c.expect("Ready=True/PollSucceeded", "Synced=True/InSync")
	if n := *c.status().TenantsDeleted; n != 4 {
		c.t.Errorf("%d tenants were disabled, want 4", n)
	}
	before := c.objects()
	c.stay(time.Hour)
	c.untouched(before)

	c.put(row(1), with(row(2), "enabled", nil), with(row(3), "enabled", nil), row(4))
	c.poll()
	c.expect("Ready=True/PollSucceeded", "Synced=True/InSync")
	c.enabledAre(map[string]bool{name(1): true, name(2): true, name(3): false, name(4): true})
	if o := c.tenant(name(4)); o.Labels["mine"] != "yes" || o.Annotations[v1alpha1.AnnotationSourceDisabled] != "" {
		c.t.Errorf("%s has the labels %v and the annotations %v", o.Name, o.Labels, o.Annotations)
	}
	before = c.objects()
	c.poll()
	c.untouched(before)
	c.living(names(0, fleet))
}

func testDisableHeld(c *cell) {
	before := c.objects()
	c.remove(names(0, 11)...)
	c.stay(time.Hour)
	c.untouched(before)
	c.expect("Ready=False/DeletionHeld")
	c.approve()
	c.settle()
	want := map[string]bool{name(11): true}
	for _, name := range names(0, 11) {
		want[name] = false
	}
	c.enabledAre(want)
	c.living(names(0, fleet))
}

func testRetain(c *cell) {
	before := c.objects()
	must(c.t, c.table.Truncate(c.t.Context()))
	c.stay(2 * time.Hour)
	c.untouched(before)
	c.nothingDeleted()
	c.expect("Ready=True/PollSucceeded", "Synced=True/InSync")
	c.put(with(row(3), "domain", "changed.example.com"))
	c.poll()
	c.domainsAre(name(3), "changed.example.com")
}

func testDryRun(c *cell) {
	before, writes := c.objects(), c.w.Writes()
	c.w.Edit(customers, func(o *v1alpha1.TenantSource) { o.Spec.DryRun = true })
	c.put(row(fleet), with(row(1), "domain", "changed.example.com"))
	c.remove(name(2))
	for range 4 {
		c.settle()
		c.poll()
	}
	c.untouched(before)
	if now := c.w.Writes(); now.Applied != writes.Applied || now.Deleted != writes.Deleted {
		c.t.Errorf("a dry run wrote: %+v, before %+v", now, writes)
	}
	c.expect("Ready=True/DryRunComplete", "Synced=False/DryRun")
	planned := map[string]v1alpha1.ChangeAction{}
	for _, p := range c.status().PendingChanges {
		planned[p.TenantName] = p.Action
	}
	if len(planned) != 3 || planned[name(fleet)] != "Create" || planned[name(1)] != "Update" || planned[name(2)] != "Delete" {
		c.t.Errorf("planned: %v", planned)
	}
	c.nothingDeleted()
	c.w.Edit(customers, func(o *v1alpha1.TenantSource) { o.Spec.DryRun = false })
	c.settle()
	c.living(names(0, fleet+1))
	c.domainsAre(name(1), "changed.example.com")
	c.poll()
	c.deletedAre(1, 1)
	c.expect("Ready=True/PollSucceeded", "Synced=True/InSync")
}

func testSuspend(c *cell) {
	before := c.objects()
	c.w.Edit(customers, func(o *v1alpha1.TenantSource) { o.Spec.Suspend = true })
	c.settle()
	read := c.table.Wire().Sent()
	c.put(row(fleet))
	c.remove(name(3))
	c.w.Annotate(customers, v1alpha1.AnnotationSyncNow, "now")
	c.stay(3 * time.Hour)
	c.untouched(before)
	c.expect("Synced=False/Suspended")
	if sent := c.table.Wire().Sent() - read; sent > 0 {
		c.t.Errorf("a suspended source read %d bytes", sent)
	}
	c.w.Edit(customers, func(o *v1alpha1.TenantSource) { o.Spec.Suspend = false })
	c.settle()
	c.living(names(0, fleet+1))
	c.poll()
	c.deletedAre(1, 1)
}

// TestCountedBeforeDeleted lets the API server fail in the middle of deletions, and the operator die there: what was
// counted stays counted, once.
func TestCountedBeforeDeleted(t *testing.T) {
	for caseName, restart := range map[string]bool{"and the operator goes on": false, "and the operator dies": true} {
		t.Run(caseName, func(t *testing.T) {
			t.Parallel()
			var broken atomic.Bool
			s := setup{rows: usual(0, fleet), world: sourceworld.Options{Funcs: interceptor.Funcs{
				Delete: func(ctx context.Context, k client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
					if broken.Load() && o.GetName() > name(2) {
						return errors.New("the API server is not there")
					}
					return k.Delete(ctx, o, opts...)
				},
			}}}
			engines["postgres"].play(t, s, func(c *cell) {
				c.remove(names(0, 8)...)
				c.poll()
				broken.Store(true)
				c.w.Advance(interval + 10*time.Second)
				if n := c.status().DeletionsInWindow; n != 8 {
					c.t.Errorf("%d deletions are counted, want all 8 before any is made", n)
				}
				c.living(names(3, fleet))
				broken.Store(false)
				if restart {
					c.w.Restart()
				}
				c.w.Advance(interval)
				c.living(names(8, fleet))
				c.expect("Ready=True/PollSucceeded", "Synced=True/InSync")
				if n := c.status().DeletionsInWindow; n != 8 {
					c.t.Errorf("%d deletions are counted, want 8", n)
				}
			})
		})
	}
}

// TestLabelTakenAwayAtTheLastMoment takes a tenant out of the source's hands between the operator's look at it and
// its deletion.
func TestLabelTakenAwayAtTheLastMoment(t *testing.T) {
	var c *cell
	s := setup{world: sourceworld.Options{Funcs: interceptor.Funcs{
		Delete: func(ctx context.Context, k client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			if c.tenant(o.GetName()).Labels[v1alpha1.LabelSourceUID] != "" {
				c.byHand(o.GetName(), func(o *v1alpha1.DistributionTenant) { delete(o.Labels, v1alpha1.LabelSourceUID) })
			}
			return k.Delete(ctx, o, opts...)
		},
	}}}
	engines["postgres"].play(t, s, func(played *cell) {
		c = played
		c.remove(name(3))
		c.stay(time.Hour)
		c.expect("Ready=True/PollSucceeded")
	})
}

// TestCreatedByAPersonInTheVeryMoment lets a user create an object between the operator's look and its apply.
func TestCreatedByAPersonInTheVeryMoment(t *testing.T) {
	var theirs atomic.Pointer[v1alpha1.DistributionTenant]
	var kube client.Client
	s := setup{world: sourceworld.Options{Funcs: interceptor.Funcs{
		Apply: func(ctx context.Context, k client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			if mine := theirs.Swap(nil); mine != nil {
				must(t, kube.Create(ctx, mine))
			}
			return k.Apply(ctx, o, opts...)
		},
	}}}
	engines["postgres"].play(t, s, func(c *cell) {
		kube = c.w.Kube
		before := c.objects()
		mine := c.somebodys(name(fleet), nil)
		theirs.Store(mine)
		c.put(row(fleet))
		c.poll()
		c.expect("Ready=False/Conflict", "Synced=False/RowsRejected")
		c.rejectedAre(map[string]string{name(fleet): "it has no labels of a TenantSource"})
		before[name(fleet)] = c.objects()[name(fleet)]
		c.domainsAre(name(fleet), "somebody.example.org")
		c.stay(time.Hour)
		c.untouched(before)
		c.expect("Ready=False/Conflict")
		must(t, c.w.Kube.Delete(t.Context(), mine))
		c.poll()
		c.domainsAre(name(fleet), name(fleet)+".example.com")
		c.expect("Ready=True/PollSucceeded", "Synced=True/InSync")
	})
}

// somebodys is a tenant that a user makes.
func (c *cell) somebodys(name string, labels map[string]string) *v1alpha1.DistributionTenant {
	o := &v1alpha1.DistributionTenant{Spec: v1alpha1.DistributionTenantSpec{
		DistributionID: sourceworld.DistributionID, Domains: []v1alpha1.TenantDomain{{Domain: "somebody.example.org"}},
	}}
	o.Namespace, o.Name, o.Labels = c.w.Namespace, name, labels
	return o
}
