package distribution_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// Events tell transitions, each once.
func TestEvents(t *testing.T) {
	was := func(status bool, reason chain.Reason) func(*distribution.Input) {
		return func(in *distribution.Input) {
			in.Memory.Conditions[chain.Ready] = chain.Condition{Type: chain.Ready, Status: status, Reason: reason, Generation: in.Generation}
		}
	}
	stalledBefore := func(in *distribution.Input) {
		in.Memory.Conditions[distribution.DeletionStalled] = chain.Condition{Type: distribution.DeletionStalled, Status: true, Reason: distribution.ReasonDeletionTimeout}
	}
	correct := []resource.Difference{{Field: "enabled", Desired: "true", Observed: "false"}}
	corrected := []chain.Event{{ID: "E1", Warning: true, Reason: "DriftCorrected", Message: `Reverted changes made in AWS: enabled "false" instead of "true".`}}
	const inUse = "The distribution still has 1 distribution tenant, so it is neither disabled nor deleted. None of them belongs to an object in this cluster. Delete the tenants, or move them to another distribution."
	for name, test := range map[string]struct {
		in   distribution.Input
		done []distribution.Step
		want []chain.Event
	}{
		"nothing happened":                {in: quiet()},
		"it became ready":                 {in: with(quiet(), was(false, resource.ReasonCreating)), want: []chain.Event{{Reason: "Deployed", Message: "Deployed to CloudFront's edge locations."}}},
		"a deployment is no news":         {in: with(quiet(), inProgress)},
		"a creation is":                   {in: quiet(), done: []distribution.Step{distribution.Create{}}, want: []chain.Event{{ID: "E1", Reason: "Created", Message: "Created the distribution E1."}}},
		"a correction is":                 {in: quiet(), done: []distribution.Step{distribution.Update{Drift: correct}}, want: corrected},
		"a corrected tag is":              {in: quiet(), done: []distribution.Step{distribution.Tag{Drift: correct}}, want: corrected},
		"an update by the spec is":        {in: quiet(), done: []distribution.Step{distribution.Update{Changes: correct}}, want: []chain.Event{{ID: "E1", Reason: "Updated", Message: `Updated the distribution E1: enabled from "false" to "true".`}}},
		"so are tags that it names":       {in: quiet(), done: []distribution.Step{distribution.Tag{Tags: map[string]string{"team": "edge"}}}, want: []chain.Event{{ID: "E1", Reason: "Updated", Message: "Set the tags team."}}},
		"and those that it names no more": {in: quiet(), done: []distribution.Step{distribution.Untag{Keys: []string{"team"}}}, want: []chain.Event{{ID: "E1", Reason: "Updated", Message: "Removed the tags team."}}},
		"an adoption is":                  {in: quiet(), done: []distribution.Step{distribution.Adopt{}}, want: []chain.Event{{ID: "E1", Reason: "Adopted", Message: "Adopted the distribution. It had no owner."}}},
		"with the owner before":           {in: quiet(), done: []distribution.Step{distribution.Adopt{Previous: ownership.Shown{Text: "shop/beta"}}}, want: []chain.Event{{ID: "E1", Reason: "Adopted", Message: "Adopted the distribution. It belonged to shop/beta."}}},
		"what AWS refuses is":             {in: with(quiet(), drifted, edited, refused(fault.Invalid)), want: []chain.Event{{Warning: true, Reason: "InvalidSpec", Message: "UpdateDistribution: SomeCode: said AWS."}}},
		"what was lost is, once":          {in: with(quiet(), absent), want: []chain.Event{{Warning: true, Reason: "ExternalDeletion", Message: "The distribution E1 was deleted outside of Kubernetes and is created again."}}},
		"drift that is left is":           {in: with(quiet(), drifted, drift(resource.DriftReport)), want: []chain.Event{{Warning: true, Reason: "DriftDetected", Message: "Changed outside of Kubernetes and not reverted (driftPolicy report): comment."}}},
		"tenants in the way are":          {in: with(dying(), usedBy(1, false)), want: []chain.Event{{Warning: true, Reason: "InUse", Message: inUse}}},
		"the same tenants are not":        {in: with(dying(), usedBy(1, false), at(distribution.StepInUse), was(false, distribution.ReasonInUse))},
		"the disable is":                  {in: with(dying(), at(distribution.StepInUse)), want: []chain.Event{{Reason: "Disabling", Message: "The distribution is being disabled, so that it can be deleted."}}},
		"its deployment is":               {in: with(dying(), disabled, inProgress, at(distribution.StepDisabling)), want: []chain.Event{{Reason: "Settling", Message: "The distribution is disabled. Waiting until the change is deployed to every edge location."}}},
		"the delete is":                   {in: with(dying(), disabled, at(distribution.StepSettling)), want: []chain.Event{{Reason: "Deleting", Message: "The distribution is disabled at every edge location and is being deleted."}}},
		"a step that goes on is not":      {in: with(dying(), disabled, at(distribution.StepDeleting))},
		"the end is":                      {in: with(dying(), absent, at(distribution.StepDeleting)), done: []distribution.Step{distribution.Delete{}, distribution.LetGo{}}, want: []chain.Event{{ID: "E1", Reason: "Deleted", Message: "Deleted the distribution E1."}}},
		"an absence that may not last is": {in: with(dying(), absent, marked(time.Minute)), want: nil},
		"an absence elsewhere is no end":  {in: with(dying(), absent, func(in *distribution.Input) { in.World.Account = "444455556666" }, was(false, resource.ReasonWrongAccount))},
		"what is kept is":                 {in: with(dying(), retain, tagged(nil)), done: []distribution.Step{distribution.Untag{}, distribution.LetGo{Left: "E1"}}, want: []chain.Event{{ID: "E1", Reason: "Retained", Message: "The distribution E1 stays in AWS."}}},
		"what is kept from the midst of a deletion is disabled": {
			in: with(dying(), retain, disabled, tagged(nil)), done: []distribution.Step{distribution.LetGo{Left: "E1"}},
			want: []chain.Event{{ID: "E1", Reason: "Retained", Message: "The distribution E1 stays in AWS. It is disabled. Enable it in AWS if it should serve requests again."}},
		},
		"a deletion that stalls is, once": {in: with(dying(), at(distribution.StepDisabling), deletedFor(time.Hour), stalledBefore)},
	} {
		t.Run(name, func(t *testing.T) {
			out := distribution.Outcome{Decision: distribution.Decide(test.in), Done: test.done}
			if d := cmp.Diff(test.want, append(distribution.Acts(test.in, out), distribution.Events(test.in, out, distribution.Conclude(test.in, out))...)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// A deletion that takes too long says what can be done by hand about the step that it is at, and when it is at none.
func TestStalled(t *testing.T) {
	late := deletedFor(30 * time.Minute)
	const since = "The deletion started at 2026-03-01T11:30:00Z and is taking longer than spec.deletionTimeout (30m0s)."
	step := func(name string) string {
		return since + " It has been in the step " + name + " since 2026-03-01T11:59:30Z. The operator keeps trying. To help manually: "
	}
	group := func(in *distribution.Input) { in.Desired.Words, in.Memory.ID = ofGroups(), "cg_1" }
	for name, test := range map[string]struct {
		in   distribution.Input
		want string
	}{
		"what lives does not stall":                 {in: quiet()},
		"nor what has time":                         {in: with(dying(), deletedFor(30*time.Minute-time.Second))},
		"nor what has all the time":                 {in: with(dying(), late, func(in *distribution.Input) { in.Policy.Timeout = 0 })},
		"tenants have to go":                        {with(dying(), late, usedBy(1, false), at(distribution.StepInUse)), step("InUse") + "delete the tenants that `aws cloudfront list-distribution-tenants --association-filter DistributionId=E1` lists."},
		"a disable can be done":                     {with(dying(), late, at(distribution.StepDisabling)), step("Disabling") + "check the Ready condition, and disable the distribution in the AWS console or with `aws cloudfront update-distribution`; the operator then continues."},
		"a deployment can be watched":               {with(dying(), late, disabled, inProgress, at(distribution.StepSettling)), step("Settling") + "`aws cloudfront get-distribution --id E1` shows the status. If it stays InProgress for hours, contact AWS Support."},
		"a delete can be done":                      {with(dying(), late, disabled, at(distribution.StepDeleting)), step("Deleting") + "check the Ready condition, and delete the distribution in the AWS console or with `aws cloudfront delete-distribution --id E1 --if-match <its ETag>`; the operator then removes the finalizer."},
		"a group's tenants have to go":              {with(dying(), late, group, usedBy(1, false), at(distribution.StepInUse)), step("InUse") + "delete the tenants that `aws cloudfront list-distribution-tenants --association-filter ConnectionGroupId=cg_1` lists."},
		"a group is read otherwise":                 {with(dying(), late, group, disabled, inProgress, at(distribution.StepSettling)), step("Settling") + "`aws cloudfront get-connection-group --identifier cg_1` shows the status. If it stays InProgress for hours, contact AWS Support."},
		"and deleted by its ID":                     {with(dying(), late, group, disabled, at(distribution.StepDeleting)), step("Deleting") + "check the Ready condition, and delete the connection group in the AWS console or with `aws cloudfront delete-connection-group --id cg_1 --if-match <its ETag>`; the operator then removes the finalizer."},
		"an ID that status does not have is seen":   {with(dying(), late, disabled, at(distribution.StepDeleting), func(in *distribution.Input) { in.Memory.ID = "" }), step("Deleting") + "check the Ready condition, and delete the distribution in the AWS console or with `aws cloudfront delete-distribution --id E1 --if-match <its ETag>`; the operator then removes the finalizer."},
		"a paused deletion is reported":             {with(dying(), late, paused, func(in *distribution.Input) { in.World.Fresh = false }, at(distribution.StepDisabling)), since + " It has been in the step Disabling since 2026-03-01T11:59:30Z. The object is paused: the deletion continues after its paused annotation is removed."},
		"a deletion that has not begun is reported": {with(dying(), late, unreadable, func(in *distribution.Input) { in.World.Fresh = false }), since + " The operator keeps trying. To help manually: check the Ready condition."},
	} {
		t.Run(name, func(t *testing.T) {
			r := conclude(test.in)
			if d := cmp.Diff(test.want, message(r, distribution.DeletionStalled)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			out := distribution.Outcome{Decision: distribution.Decide(test.in)}
			var told int
			for _, e := range distribution.Events(test.in, out, r) {
				if e.Reason == "DeletionStalled" && e.Warning && e.Message == test.want {
					told++
				}
			}
			if want := min(len(test.want), 1); told != want {
				t.Errorf("told by %d events, want %d", told, want)
			}
		})
	}
}
