package tenantsource_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
)

// said renders conditions for readers.
func said(conditions []chain.Condition) []string {
	var out []string
	for _, c := range conditions {
		status := "False"
		if c.Status {
			status = "True"
		}
		out = append(out, fmt.Sprintf("%s=%s/%s: %s", c.Type, status, c.Reason, c.Message))
	}
	return out
}

// rejections are n rows that are refused.
func rejections(n int) []mapping.Rejection {
	var out []mapping.Rejection
	for i := range n {
		out = append(out, mapping.Rejection{Row: fmt.Sprintf("row %d", i+1), Reason: "no domain", Name: fmt.Sprintf("r%03d", i)})
	}
	return out
}

func harvest(change ...func(*tenantsource.Harvest)) func(*tenantsource.Round) {
	return func(r *tenantsource.Round) {
		r.Harvest = &tenantsource.Harvest{Rows: 25, Tenants: 25}
		for _, c := range change {
			c(r.Harvest)
		}
		r.Changes = r.Harvest.Changes
		r.Written = len(r.Changes)
	}
}

func withHeld(n int, change func(*tenantsource.Verdict)) func(*tenantsource.Round) {
	return func(r *tenantsource.Round) {
		v := tenantsource.Verdict{Budget: 10, Pending: &tenantsource.PendingPlan{Hash: "0123456789abcdef", Names: absent(n, 1).Names()}}
		change(&v)
		r.Verdict = v
	}
}

func harmOf(names []string) map[string]string {
	out := map[string]string{}
	for _, name := range names {
		out[name] = "disables the tenant"
	}
	return out
}

func withWaiting(n, reads int) func(*tenantsource.Round) {
	return func(r *tenantsource.Round) {
		a := absent(n, reads)
		for _, name := range a.Names() {
			r.Verdict.Waiting = append(r.Verdict.Waiting, a[name])
		}
	}
}

func TestWhatASourceSays(t *testing.T) {
	dryRun := func(in *tenantsource.Input) { in.DryRun = true }
	disable := func(in *tenantsource.Input) { in.Policy = tenantsource.PolicyDisable }
	deleting := func(in *tenantsource.Input) { in.Deleting, in.Owned = true, ownedN(3) }
	refused := func(n int) func(*tenantsource.Harvest) {
		return func(h *tenantsource.Harvest) { h.Rejected, h.Tenants = rejections(n), 25-n }
	}
	nothing := func(*tenantsource.Verdict) {}
	waiting := func(in *tenantsource.Input) {
		in.Unresolved = "spec.distributionRef: Distribution shop/main does not exist."
	}
	approve := "If this is intended, set the annotation cloudfront-tenant-operator.io/approve-deletions to 0123456789abcdef to approve it"
	for name, c := range map[string]struct {
		in   tenantsource.Input
		want []string
	}{
		"all is well": {in: input(inRound(harvest())), want: []string{
			"Ready=True/PollSucceeded: The table has 25 valid rows.",
			"Synced=True/InSync: The objects match the table.",
		}},
		"with one tenant": {in: input(inRound(harvest(func(h *tenantsource.Harvest) { h.Rows, h.Tenants = 1, 1 }))), want: []string{
			"Ready=True/PollSucceeded: The table has 1 valid row.",
			"Synced=True/InSync: The objects match the table.",
		}},
		"with none": {in: input(inRound(harvest(func(h *tenantsource.Harvest) { h.Rows, h.Tenants = 0, 0 }))), want: []string{
			"Ready=True/PollSucceeded: The table has 0 valid rows.",
			"Synced=True/InSync: The objects match the table.",
		}},
		"tenants wait for an object": {in: input(waiting, inRound(harvest())), want: []string{
			"Ready=False/ReferenceNotReady: spec.distributionRef: Distribution shop/main does not exist. New tenants of this source wait for it.",
			"Synced=True/InSync: The objects match the table.",
		}},
		"and nothing is changed": {in: input(waiting, dryRun, inRound(harvest())), want: []string{
			"Ready=False/ReferenceNotReady: spec.distributionRef: Distribution shop/main does not exist. New tenants of this source wait for it.",
			"Synced=True/InSync: The objects match the table.",
		}},
		"a row is refused": {in: input(inRound(harvest(refused(1)))), want: []string{
			"Ready=True/PollSucceeded: The table has 24 valid rows; 1 row is rejected (see status.rejectedRows).",
			"Synced=False/RowsRejected: 1 row is rejected: see status.rejectedRows. All other rows are applied.",
		}},
		"rows are refused, one of them by the API server": {
			in: input(inRound(harvest(refused(1)), func(r *tenantsource.Round) { r.Refused = rejections(1) })), want: []string{
				"Ready=True/PollSucceeded: The table has 23 valid rows; 2 rows are rejected (see status.rejectedRows).",
				"Synced=False/RowsRejected: 2 rows are rejected: see status.rejectedRows. All other rows are applied.",
			},
		},
		"a row conflicts with a foreign object": {in: input(inRound(harvest(refused(1), func(h *tenantsource.Harvest) { h.Conflicts = 1 }))), want: []string{
			"Ready=False/Conflict: 1 row has the name of an object that belongs to another owner: see status.rejectedRows. All other rows are applied.",
			"Synced=False/RowsRejected: 1 row is rejected: see status.rejectedRows. All other rows are applied.",
		}},
		"rows do, one of them only when it was written": {
			in: input(inRound(harvest(refused(1), func(h *tenantsource.Harvest) { h.Conflicts = 1 }), func(r *tenantsource.Round) { r.Refused, r.Conflicts = rejections(1), 1 })), want: []string{
				"Ready=False/Conflict: 2 rows have the names of objects that belong to another owner: see status.rejectedRows. All other rows are applied.",
				"Synced=False/RowsRejected: 2 rows are rejected: see status.rejectedRows. All other rows are applied.",
			},
		},
		"one object is being deleted": {in: input(inRound(harvest(func(h *tenantsource.Harvest) { h.Returning = 1 }))), want: []string{
			"Ready=True/PollSucceeded: The table has 25 valid rows.",
			"Synced=False/UpdatePending: 1 object is being deleted, and is created again once it is gone.",
		}},
		"all objects are being deleted": {in: input(inRound(harvest(func(h *tenantsource.Harvest) { h.Returning = 25 }))), want: []string{
			"Ready=True/PollSucceeded: The table has 25 valid rows.",
			"Synced=False/UpdatePending: 25 objects are being deleted, and are created again once they are gone.",
		}},
		"objects are being deleted, and a dry run creates none": {in: input(dryRun, inRound(harvest(func(h *tenantsource.Harvest) { h.Returning = 2 }))), want: []string{
			"Ready=True/DryRunComplete: The table has 25 valid rows; nothing would change.",
			"Synced=True/InSync: The objects match the table.",
		}},
		"objects have moved during the poll": {in: input(inRound(harvest(), func(r *tenantsource.Round) { r.Missed = 2 })), want: []string{
			"Ready=True/PollSucceeded: The table has 25 valid rows.",
			"Synced=False/UpdatePending: 2 objects were changed or deleted by others during the poll. The next poll applies the table again.",
		}},
		"objects were deleted since the last poll": {in: input(func(in *tenantsource.Input) { in.LostObjects, in.Memory.InSync = true, true }), want: []string{
			"Synced=False/UpdatePending: Objects of this source were deleted since the last poll. The polls that follow create them again as soon as they are gone.",
		}},
		"objects were deleted since the last poll, and the objects did not match before": {
			in: input(func(in *tenantsource.Input) { in.LostObjects = true }), want: nil,
		},
		"a deletion waits": {in: input(inRound(harvest(), withWaiting(1, 1))), want: []string{
			"Ready=True/PollSucceeded: The table has 25 valid rows; 1 deletion waits until more polls confirm that the row no longer exists.",
			"Synced=False/DeletionPending: 1 row no longer exists. The deletion waits until more polls confirm this.",
		}},
		"deletions wait": {in: input(inRound(harvest(), withWaiting(2, 1))), want: []string{
			"Ready=True/PollSucceeded: The table has 25 valid rows; 2 deletions wait until more polls confirm that the row no longer exists.",
			"Synced=False/DeletionPending: 2 rows no longer exist. The deletion waits until more polls confirm this.",
		}},
		"a row without a name freezes a deletion": {
			in: input(inRound(harvest(refused(1), func(h *tenantsource.Harvest) { h.Nameless = 1 }), withWaiting(1, 1)), func(in *tenantsource.Input) { in.State.Losses = absent(1, 1) }), want: []string{
				"Ready=True/PollSucceeded: The table has 24 valid rows; 1 row is rejected (see status.rejectedRows); 1 deletion waits until more polls confirm that the row no longer exists.",
				"Synced=False/RowsRejected: 1 row is rejected: see status.rejectedRows. All other rows are applied. 1 row has no usable name and could belong to any tenant, so 1 deletion waits until this is fixed.",
			},
		},
		"rows without names freeze deletions": {
			in: input(inRound(harvest(refused(2), func(h *tenantsource.Harvest) { h.Nameless = 2 })), func(in *tenantsource.Input) { in.State.Losses = absent(3, 1) }), want: []string{
				"Ready=True/PollSucceeded: The table has 23 valid rows; 2 rows are rejected (see status.rejectedRows).",
				"Synced=False/RowsRejected: 2 rows are rejected: see status.rejectedRows. All other rows are applied. 2 rows have no usable name and could belong to any tenant, so 3 deletions wait until this is fixed.",
			},
		},
		"too many rows take something away": {in: input(inRound(harvest(), withHeld(12, func(v *tenantsource.Verdict) { v.Pending.Harm = harmOf(v.Pending.Names) }))), want: []string{
			"Ready=False/DeletionHeld: 12 changed rows take something away from their tenants: the first, t000, disables the tenant. The guard allows 10 deletions and harmful changes in 24h, of which 0 are used, so these tenants stay as they are. " + approve + ".",
			"Synced=False/DeletionHeld: 12 changed rows take something away from their tenants: the first, t000, disables the tenant. The guard allows 10 deletions and harmful changes in 24h, of which 0 are used, so these tenants stay as they are. " + approve + ".",
		}},
		"and others are gone": {in: input(inRound(harvest(), withHeld(12, func(v *tenantsource.Verdict) { v.Pending.Harm = harmOf(v.Pending.Names[11:]) }))), want: []string{
			"Ready=False/DeletionHeld: 11 tenants no longer have a row, and 1 changed row takes something away from its tenant: the first, t011, disables the tenant. The guard allows 10 deletions and harmful changes in 24h, of which 0 are used, so these tenants stay as they are. " + approve + ".",
			"Synced=False/DeletionHeld: 11 tenants no longer have a row, and 1 changed row takes something away from its tenant: the first, t011, disables the tenant. The guard allows 10 deletions and harmful changes in 24h, of which 0 are used, so these tenants stay as they are. " + approve + ".",
		}},
		"too many rows are gone": {in: input(inRound(harvest(), withHeld(12, nothing))), want: []string{
			"Ready=False/DeletionHeld: 12 tenants no longer have a row. The guard allows 10 deletions in 24h, of which 0 are used, so nothing is deleted. " + approve + ".",
			"Synced=False/DeletionHeld: 12 tenants no longer have a row. The guard allows 10 deletions in 24h, of which 0 are used, so nothing is deleted. " + approve + ".",
		}},
		"one is too many": {
			in: input(inRound(harvest(), withHeld(1, func(v *tenantsource.Verdict) { v.Budget, v.Used = 1, 1 })), func(in *tenantsource.Input) { in.Guard.Window = 90 * time.Minute }), want: []string{
				"Ready=False/DeletionHeld: 1 tenant no longer has a row. The guard allows 1 deletion in 1h30m, of which 1 is used, so nothing is deleted. " + approve + ".",
				"Synced=False/DeletionHeld: 1 tenant no longer has a row. The guard allows 1 deletion in 1h30m, of which 1 is used, so nothing is deleted. " + approve + ".",
			},
		},
		"held says more than conflicts and refused rows": {
			in: input(inRound(harvest(refused(3), func(h *tenantsource.Harvest) { h.Conflicts = 2 }), withHeld(12, nothing))), want: []string{
				"Ready=False/DeletionHeld: 12 tenants no longer have a row. The guard allows 10 deletions in 24h, of which 0 are used, so nothing is deleted. " + approve + ".",
				"Synced=False/DeletionHeld: 12 tenants no longer have a row. The guard allows 10 deletions in 24h, of which 0 are used, so nothing is deleted. " + approve + ".",
			},
		},
		"with Disable nothing is disabled": {in: input(disable, inRound(harvest(), withHeld(12, nothing))), want: []string{
			"Ready=False/DeletionHeld: 12 tenants no longer have a row. The guard allows 10 deletions in 24h, of which 0 are used, so nothing is disabled. " + approve + ".",
			"Synced=False/DeletionHeld: 12 tenants no longer have a row. The guard allows 10 deletions in 24h, of which 0 are used, so nothing is disabled. " + approve + ".",
		}},
		"the table is empty": {
			in: input(inRound(harvest(func(h *tenantsource.Harvest) { h.Rows, h.Tenants = 0, 0 }), withHeld(25, func(v *tenantsource.Verdict) { v.Pending.Empty = true }))), want: []string{
				"Ready=False/DeletionHeld: The table has no rows, and 25 tenants had one. An empty table always needs approval, so nothing is deleted. " + approve + ".",
				"Synced=False/DeletionHeld: The table has no rows, and 25 tenants had one. An empty table always needs approval, so nothing is deleted. " + approve + ".",
			},
		},
		"a plan of one": {
			in: input(dryRun, inRound(harvest(func(h *tenantsource.Harvest) { h.Changes = make([]tenantsource.Change, 1) }))), want: []string{
				"Ready=True/DryRunComplete: The table has 25 valid rows; 1 change is planned (see status.pendingChanges) but not made.",
				"Synced=False/DryRun: spec.dryRun is set: 1 change is planned but not made, see status.pendingChanges.",
			},
		},
		"a plan": {
			in: input(dryRun, inRound(harvest(func(h *tenantsource.Harvest) { h.Changes = make([]tenantsource.Change, 25) }))), want: []string{
				"Ready=True/DryRunComplete: The table has 25 valid rows; 25 changes are planned (see status.pendingChanges) but not made.",
				"Synced=False/DryRun: spec.dryRun is set: 25 changes are planned but not made, see status.pendingChanges.",
			},
		},
		"a plan of nothing": {in: input(dryRun, inRound(harvest())), want: []string{
			"Ready=True/DryRunComplete: The table has 25 valid rows; nothing would change.",
			"Synced=True/InSync: The objects match the table.",
		}},
		"a poll that failed": {in: input(inRound(withFailure)), want: []string{"Ready=False/PollFailed: No answer.", "Synced=False/PollFailed: No answer."}},
		"a spec that can't be used": {
			in:   input(func(in *tenantsource.Input) { in.Invalid = "spec.targetNamespace: not granted" }),
			want: []string{"Ready=False/InvalidConfig: spec.targetNamespace: not granted.", "Synced=False/InvalidConfig: spec.targetNamespace: not granted."},
		},
		"suspended": {
			in:   input(func(in *tenantsource.Input) { in.Suspended = true }, inRound(withFailure)),
			want: []string{"Synced=False/Suspended: spec.suspend is set, so nothing is read and nothing is changed. Remove it to continue."},
		},
		"nothing new":        {in: input()},
		"a round on its way": {in: input(inRound(withChanges(3)))},

		"deleted, and its tenants go": {in: input(deleting, inRound(withGo(3), func(r *tenantsource.Round) { r.Fleet, r.Reserved, r.Removed = 3, true, 3 })), want: []string{
			"Ready=False/Deleting: 3 tenants are being deleted.",
			"Synced=False/Deleting: 3 tenants are being deleted.",
		}},
		"deleted, and its tenant is deleted": {in: input(deleting, inRound(withGo(1), func(r *tenantsource.Round) { r.Fleet, r.Reserved, r.Removed = 1, true, 1 })), want: []string{
			"Ready=False/Deleting: 1 tenant is being deleted.",
			"Synced=False/Deleting: 1 tenant is being deleted.",
		}},
		"deleted, and held": {in: input(deleting, inRound(withHeld(12, nothing))), want: []string{
			"Ready=False/DeletionHeld: This source was deleted, and 12 tenants would be deleted with it. The guard allows 10 deletions in 24h, of which 0 are used, so nothing is deleted. " + approve + ". To keep the tenants, set spec.deletionPolicy to Retain.",
			"Synced=False/DeletionHeld: This source was deleted, and 12 tenants would be deleted with it. The guard allows 10 deletions in 24h, of which 0 are used, so nothing is deleted. " + approve + ". To keep the tenants, set spec.deletionPolicy to Retain.",
		}},
		"deleted with Disable, and held": {in: input(deleting, disable, inRound(withHeld(1, func(v *tenantsource.Verdict) { v.Used = 10 }))), want: []string{
			"Ready=False/DeletionHeld: This source was deleted, and 1 tenant would be disabled with it. The guard allows 10 deletions in 24h, of which 10 are used, so nothing is disabled. " + approve + ". To keep the tenants, set spec.deletionPolicy to Retain.",
			"Synced=False/DeletionHeld: This source was deleted, and 1 tenant would be disabled with it. The guard allows 10 deletions in 24h, of which 10 are used, so nothing is disabled. " + approve + ". To keep the tenants, set spec.deletionPolicy to Retain.",
		}},
		"deleted where it is not granted": {in: input(deleting, func(in *tenantsource.Input) { in.Invalid = "spec.targetNamespace: not granted" }), want: []string{
			"Ready=False/InvalidConfig: spec.targetNamespace: not granted. Until this is fixed, its tenants are not deleted. To delete only the source, set spec.deletionPolicy to Retain.",
			"Synced=False/InvalidConfig: spec.targetNamespace: not granted. Until this is fixed, its tenants are not deleted. To delete only the source, set spec.deletionPolicy to Retain.",
		}},
		"deleted, and nothing known yet": {in: input(deleting)},
	} {
		t.Run(name, func(t *testing.T) {
			got := tenantsource.Conclude(c.in, tenantsource.Decide(c.in))
			if d := cmp.Diff(c.want, said(got.Conditions)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// An audit speaks of what a source asks for with each poll. When it is over, that is known between two polls as well.
func TestWhatAnAuditSays(t *testing.T) {
	refused := func(in *tenantsource.Input) { in.Ungranted = &chain.Halt{Reason: "NotGranted", Message: "Look here."} }
	audited := func(in *tenantsource.Input) { in.Audited = true }
	for name, c := range map[string]struct {
		in      tenantsource.Input
		said    bool
		granted bool
	}{
		"a poll of what is not granted":     {in: input(refused, audited, inRound(harvest())), said: true},
		"between two polls of it":           {in: input(refused, audited)},
		"between two polls, once it is":     {in: input(audited), granted: true},
		"a poll, once it is":                {in: input(audited, inRound(harvest())), granted: true},
		"the audit is over, and it is held": {in: input(refused), granted: true},
		"without any grants":                {in: input(), granted: true},
	} {
		t.Run(name, func(t *testing.T) {
			got := tenantsource.Conclude(c.in, tenantsource.Decide(c.in))
			said := slices.ContainsFunc(got.Conditions, func(c chain.Condition) bool { return c.Type == chain.Granted })
			if said != c.said || got.Granted != c.granted {
				t.Errorf("says Granted=False: %t, want %t; it is granted: %t, want %t", said, c.said, got.Granted, c.granted)
			}
		})
	}
}

func TestWhatStatusKeepsOfAPoll(t *testing.T) {
	met := mapping.Rejection{Row: "row 30", Name: "theirs", Reason: "an object is there", Conflict: true}
	in := input(inRound(harvest(func(h *tenantsource.Harvest) {
		h.Rejected, h.Tenants, h.Columns = rejections(24), 1, []tenantsource.SeenColumn{seenColumn("name", mapping.TypeString, 25)}
	}), func(r *tenantsource.Round) {
		r.Token, r.Created, r.Updated, r.Deleted, r.Removed, r.Reserved, r.Refused = "now", 1, 2, 3, 3, true, []mapping.Rejection{met}
		r.Verdict = tenantsource.Verdict{Go: tenantsource.LossesOf(ownedN(3))}
	}))
	in.Memory.History = tenantsource.History{{Time: noon.Add(-25 * time.Hour), Count: 9}, {Time: noon, Count: 3}}
	got := tenantsource.Conclude(in, tenantsource.Decide(in))
	if got.Polled == nil || !got.Polled.Equal(noon) || got.Generation != 1 || got.Token != "now" || !got.PendingKnown || got.Pending != nil {
		t.Errorf("%+v", got)
	}
	if d := cmp.Diff(tenantsource.History{{Time: noon, Count: 3}}, got.History); d != "" {
		t.Errorf("history (-want +got):\n%s", d)
	}
	want := &tenantsource.Result{
		Rows: 25, Tenants: 0, Created: 1, Updated: 2, Deleted: 3,
		// Rows that conditions mention come first, since the list has an end.
		Rejected: append([]mapping.Rejection{met}, rejections(19)...), RejectedTotal: 25,
		Columns: []tenantsource.SeenColumn{seenColumn("name", mapping.TypeString, 25)},
	}
	if d := cmp.Diff(want, got.Result); d != "" {
		t.Errorf("result (-want +got):\n%s", d)
	}
}

func TestAFailedPollLeavesWhatIsKnown(t *testing.T) {
	in := input(inRound(withFailure))
	in.Memory.History = tenantsource.History{{Time: noon, Count: 3}}
	got := tenantsource.Conclude(in, tenantsource.Decide(in))
	if got.Polled == nil || got.Result != nil || got.PendingKnown || got.History.Total() != 3 {
		t.Errorf("%+v", got)
	}
}

func TestDeletionsAreCountedBeforeTheyAreMade(t *testing.T) {
	in := input(inRound(harvest(), withGo(4)))
	in.Memory.History = tenantsource.History{{Time: noon.Add(-time.Hour), Count: 3}}
	got := tenantsource.Conclude(in, tenantsource.Decide(in))
	want := tenantsource.History{{Time: noon.Add(-time.Hour), Count: 3}, {Time: noon, Count: 4}}
	if d := cmp.Diff(want, got.History); d != "" || got.Polled != nil || got.Conditions != nil {
		t.Errorf("%+v (-want +got):\n%s", got, d)
	}
}

func TestPendingChanges(t *testing.T) {
	pending := func(action tenantsource.Action, name, description string) tenantsource.PendingChange {
		return tenantsource.PendingChange{Action: action, Name: name, Description: description}
	}
	planned := harvest(func(h *tenantsource.Harvest) {
		h.Changes = []tenantsource.Change{{Action: tenantsource.Create, Name: "acme", Row: "key:1"}, {Action: tenantsource.Update, Name: "beta", Row: "key:2"}}
	})
	for name, c := range map[string]struct {
		in   tenantsource.Input
		want []tenantsource.PendingChange
	}{
		"with dryRun all that would be done": {
			in: input(func(in *tenantsource.Input) { in.DryRun = true }, inRound(planned, withGo(1))),
			want: []tenantsource.PendingChange{
				pending(tenantsource.Create, "acme", "row key:1"), pending(tenantsource.Update, "beta", "row key:2"), pending(tenantsource.Delete, "t000", "its row no longer exists"),
			},
		},
		"without it what is done is not pending": {in: input(inRound(planned, withGo(1), func(r *tenantsource.Round) { r.Reserved, r.Removed = true, 1 }))},
		"what waits says for what": {
			in:   input(inRound(harvest(), withWaiting(1, 1))),
			want: []tenantsource.PendingChange{pending(tenantsource.Delete, "t000", "its row no longer exists; confirmed by 1 of 2 polls")},
		},
		"what is held is reported": {
			in:   input(inRound(harvest(), withHeld(1, func(*tenantsource.Verdict) {}))),
			want: []tenantsource.PendingChange{pending(tenantsource.Delete, "t000", "its row no longer exists; waiting for approval")},
		},
		"with Disable it would be disabled": {
			in:   input(func(in *tenantsource.Input) { in.Policy = tenantsource.PolicyDisable }, inRound(harvest(), withWaiting(1, 1))),
			want: []tenantsource.PendingChange{pending(tenantsource.Disable, "t000", "its row no longer exists; confirmed by 1 of 2 polls")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := tenantsource.Conclude(c.in, tenantsource.Decide(c.in)).Result
			if d := cmp.Diff(c.want, got.Pending); d != "" || got.PendingTotal != len(c.want) {
				t.Errorf("%d in all (-want +got):\n%s", got.PendingTotal, d)
			}
		})
	}
	t.Run("the first twenty are listed, and all counted", func(t *testing.T) {
		in := input(inRound(harvest(), withHeld(30, func(*tenantsource.Verdict) {})))
		got := tenantsource.Conclude(in, tenantsource.Decide(in)).Result
		if len(got.Pending) != 20 || got.PendingTotal != 30 {
			t.Errorf("%d of %d", len(got.Pending), got.PendingTotal)
		}
	})
}

func TestFailureOf(t *testing.T) {
	failure := func(kind fault.Kind, code string) error {
		return fmt.Errorf("reading: %w", &fault.Error{Kind: kind, Operation: "connecting", Code: code, Message: "no"})
	}
	for name, c := range map[string]struct {
		err  error
		want tenantsource.Failure
	}{
		"more tries may fix it":      {err: failure(fault.Transient, ""), want: tenantsource.Failure{Reason: tenantsource.PollFailed, Message: "Reading: connecting: no"}},
		"the store is busy":          {err: failure(fault.Throttled, "E1"), want: tenantsource.Failure{Reason: tenantsource.PollFailed, Message: "Reading: connecting: E1: no"}},
		"nothing is known of it":     {err: errors.New("broken pipe"), want: tenantsource.Failure{Reason: tenantsource.PollFailed, Message: "Broken pipe"}},
		"the password is wrong":      {err: failure(fault.Denied, ""), want: tenantsource.Failure{Reason: tenantsource.SourceError, Message: "Reading: connecting: no"}},
		"there is no table":          {err: failure(fault.NotFound, ""), want: tenantsource.Failure{Reason: tenantsource.SourceError, Message: "Reading: connecting: no"}},
		"the query is wrong":         {err: failure(fault.Invalid, ""), want: tenantsource.Failure{Reason: tenantsource.SourceError, Message: "Reading: connecting: no"}},
		"the connection string is":   {err: failure(fault.Invalid, mapping.CodeConnectionString), want: tenantsource.Failure{Reason: tenantsource.InvalidConfig, Connection: true, Message: "No"}},
		"the query was not sent":     {err: failure(fault.Invalid, mapping.CodeQuery), want: tenantsource.Failure{Reason: tenantsource.InvalidConfig, Message: "No"}},
		"the role was not allowed":   {err: failure(fault.Denied, mapping.CodeRoleNotAllowed), want: tenantsource.Failure{Reason: tenantsource.InvalidConfig, Message: "Reading: connecting: RoleNotAllowed: no"}},
		"an error without any words": {err: errors.New(""), want: tenantsource.Failure{Reason: tenantsource.PollFailed}},
		"an error in another script": {err: errors.New("ünwahrscheinlich"), want: tenantsource.Failure{Reason: tenantsource.PollFailed, Message: "Ünwahrscheinlich"}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, *tenantsource.FailureOf(c.err)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// anyInput is any state that a source can be in, with a round that has ended or not.
func anyInput(t *rapid.T) tenantsource.Input {
	n := func(label string, most int) int { return rapid.IntRange(0, most).Draw(t, label) }
	flag := func(label string) bool { return rapid.IntRange(0, 3).Draw(t, label) == 0 }
	in := input()
	in.DryRun, in.Suspended, in.Deleting = flag("dry run"), flag("suspended"), flag("deleting")
	in.Policy = rapid.SampledFrom([]tenantsource.Policy{tenantsource.PolicyDelete, tenantsource.PolicyDisable, tenantsource.PolicyRetain}).Draw(t, "policy")
	in.Invalid = rapid.SampledFrom([]string{"", "", "spec.mapping: wrong"}).Draw(t, "invalid")
	in.Owned = ownedN(n("owned", 30))
	in.State.Losses = absent(n("absent", 30), n("reads", 3))
	if rapid.Bool().Draw(t, "used") {
		in.Memory.History = tenantsource.History{{Time: noon.Add(-time.Hour), Count: n("used", 12)}}
	}
	if flag("without a round") {
		return in
	}
	h := &tenantsource.Harvest{Rows: n("rows", 40), Rejected: rejections(n("rejected", 30)), Nameless: n("nameless", 2), Conflicts: n("conflicts", 2), Changes: make([]tenantsource.Change, n("changes", 30))}
	for i := range h.Changes {
		h.Changes[i] = tenantsource.Change{Action: tenantsource.Create, Name: fmt.Sprintf("c%03d", i), Row: strings.Repeat("x", 300)}
	}
	apply(&in, tenantsource.Began{})
	apply(&in, tenantsource.Completed{Harvest: h, Owned: in.Owned})
	r := in.State.Round
	r.Written, r.Reserved = len(r.Changes), true
	r.Removed = len(r.Verdict.Go)
	if flag("failure") {
		r.Failure = &tenantsource.Failure{Reason: tenantsource.SourceError, Message: "Denied"}
	}
	return in
}

func TestReportsAreBoundedAndHoldStill(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput(t)
		d := tenantsource.Decide(in)
		report := tenantsource.Conclude(in, d)
		later := in
		later.Now = in.Now.Add(7 * time.Second)
		// The time of the look must not show: otherwise the report changes with every look, and is written again and
		// again.
		if diff := cmp.Diff(report, tenantsource.Conclude(later, d)); diff != "" && d.Step != tenantsource.Count {
			t.Fatalf("seven seconds later (-before +after):\n%s", diff)
		}
		if diff := cmp.Diff(report, tenantsource.Conclude(in, d)); diff != "" {
			t.Fatalf("asked again (-before +after):\n%s", diff)
		}
		for _, c := range report.Conditions {
			if c.Message == "" || len(c.Message) > 1024 || c.Reason == "" || c.Type != chain.Ready && c.Type != chain.Synced {
				t.Fatalf("%+v", c)
			}
			for _, wrong := range []string{" 1 rows", " 1 tenants", " 1 are ", " 1 deletions", " 1 changes", "  ", "..", "m0s"} {
				if strings.Contains(" "+c.Message, wrong) {
					t.Fatalf("%q in %q", wrong, c.Message)
				}
			}
		}
		if r := report.Result; r != nil && (len(r.Pending) > 20 || len(r.Pending) > r.PendingTotal || len(r.Rejected) > 20 || len(r.Rejected) > r.RejectedTotal) {
			t.Fatalf("%d of %d pending, %d of %d rejected", len(r.Pending), r.PendingTotal, len(r.Rejected), r.RejectedTotal)
		}
	})
}
