package edge_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/edge"
)

// Events tell transitions. The happy path has one, and no poll ever repeats one.
func TestEvents(t *testing.T) {
	wasReady := func(status bool, reason edge.Reason) func(*edge.Input) {
		return func(in *edge.Input) {
			in.Memory.Conditions = map[edge.ConditionType]edge.Condition{
				edge.Ready:  {Type: edge.Ready, Status: status, Reason: reason, Generation: in.Generation},
				edge.Synced: {Type: edge.Synced, Status: true, Reason: edge.ReasonInSync, Generation: in.Generation},
			}
		}
	}
	difference := []edge.Difference{{Field: "enabled", Desired: "true", Observed: "false"}}
	tests := map[string]struct {
		in   edge.Input
		done []edge.Step
		want []edge.Event
	}{
		"nothing happened": {in: quiet()},
		"it became ready": {
			in:   with(quiet(), wasReady(false, edge.ReasonCreating)),
			want: []edge.Event{{Reason: "Deployed", Message: "Deployed to CloudFront's edge locations and serving every domain."}},
		},
		"a deployment is no news":      {in: with(quiet(), inProgress)},
		"a creation is no news":        {in: unborn(), done: []edge.Step{edge.Create{}}},
		"a re-creation is":             {in: with(quiet(), absent), done: []edge.Step{edge.Create{Tenant: spec().Tenant}}, want: []edge.Event{{Warning: true, Reason: "ExternalDeletion", Message: `The distribution tenant "alpha" (dt_1) was deleted outside of Kubernetes and is created again.`}}},
		"a correction is":              {in: quiet(), done: []edge.Step{edge.Update{Drift: difference}}, want: []edge.Event{{Warning: true, Reason: "DriftCorrected", Message: `Set back what was changed in AWS: enabled "false" instead of "true".`}}},
		"an update by the spec is not": {in: quiet(), done: []edge.Step{edge.Update{}}},
		"an adoption is":               {in: quiet(), done: []edge.Step{edge.Adopt{}}, want: []edge.Event{{Reason: "Adopted", Message: `Took over the distribution tenant "alpha". It had no owner.`}}},
		"with the owner before":        {in: quiet(), done: []edge.Step{edge.Adopt{Previous: "shop/beta"}}, want: []edge.Event{{Reason: "Adopted", Message: `Took over the distribution tenant "alpha". It belonged to shop/beta.`}}},
		"a tenant that stays is":       {in: dying(), done: []edge.Step{edge.LetGo{Left: "alpha (dt_1)"}}, want: []edge.Event{{Reason: "Retained", Message: "The distribution tenant alpha (dt_1) stays in AWS."}}},
		"drift that is only reported is, with its values": {
			in: with(quiet(), drifted, drift(edge.DriftReport)),
			want: []edge.Event{{Warning: true, Reason: "DriftDetected",
				Message: `Changed in AWS and left so by driftPolicy report: parameters[tier]. parameters[tier] "lead" instead of "gold"`}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			out := edge.Outcome{Decision: edge.Decide(test.in), Done: test.done}
			if d := cmp.Diff(test.want, edge.Events(test.in, out, edge.Conclude(test.in, out))); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
