package awsresource_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

func TestFromCreationToDeletion(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		a := auditedServed(t, k, world.Options{}, tags("team", "web"))
		w, o := a.w, a.o
		apply(t, w, o)
		w.Advance(5 * time.Second)
		is(t, w, o, "Ready=False/Creating", syncedTrue)
		w.Advance(2 * time.Minute)
		is(t, w, o, readyTrue, syncedTrue)
		r, s := k.only(t, w), status(t, w, o)
		if s.ID != r.ID || s.ARN != r.ARN || s.ETag != r.ETag || s.DeploymentStatus != "Deployed" {
			t.Errorf("status has %+v, AWS %+v", s, r)
		}
		wanted := owner(o).Tags()
		wanted["team"] = "web"
		if d := cmp.Diff(wanted, r.Tags); d != "" {
			t.Errorf("tags (-want +got):\n%s", d)
		}
		if d := cmp.Diff(map[string]int{k.create: 1}, k.mutations(w.Calls())); d != "" {
			t.Errorf("changes in AWS (-want +got):\n%s", d)
		}

		edit(t, w, o, func(o client.Object) { k.setMark(o, true) })
		w.Advance(5 * time.Second)
		is(t, w, o, "Ready=False/Deploying", syncedTrue)
		w.Advance(2 * time.Minute)
		is(t, w, o, readyTrue, syncedTrue)
		if r := k.only(t, w); !r.Marked {
			t.Errorf("after the edit AWS has %+v", r)
		}

		calls := w.Calls()
		remove(t, w, o)
		w.Advance(5 * time.Second)
		is(t, w, o, "Ready=False/Disabling", "Synced=False/UpdatePending")
		atStep(t, w, o, v1alpha1.DeletionStepSettling)
		w.Advance(2 * time.Minute)
		k.gone(t, w, o)
		spent := world.Since(calls, w.Calls())
		if d := cmp.Diff(map[string]int{k.update: 1, k.delete: 1}, k.mutations(spent)); d != "" {
			t.Errorf("changes in AWS of the deletion (-want +got):\n%s", d)
		}
		if d := cmp.Diff([]string{"Created", "Deployed", "Updated", "Deployed", "Disabled", "Settling", "Deleted"}, w.Reasons("shop")); d != "" {
			t.Errorf("events (-want +got):\n%s", d)
		}
	})
}
