package awsresource_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// A replica that was frozen while another one led wakes up with the objects of long ago. Its outdated view of them must
// not reach AWS.
func TestAnOldViewOfAnObjectChangesNothingInAWS(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for name, meanwhile := range map[string]func(t *testing.T, w *world.World, o client.Object, r thing){
			"a newer spec, applied by another replica, is no drift": func(t *testing.T, w *world.World, o client.Object, r thing) {
				t.Helper()
				edit(t, w, o, func(o client.Object) { k.setMark(o, true) })
				k.change(t, w, r.ID, marking)
			},
			"what is paused by now is not corrected": func(t *testing.T, w *world.World, o client.Object, r thing) {
				t.Helper()
				pause(t, w, o, "true")
				k.change(t, w, r.ID, marking)
			},
			"what is being deleted by now is not enabled again": func(t *testing.T, w *world.World, o client.Object, r thing) {
				t.Helper()
				remove(t, w, o)
				k.change(t, w, r.ID, disable)
			},
			"what was deleted with its object is not created again": func(t *testing.T, w *world.World, o client.Object, r thing) {
				t.Helper()
				remove(t, w, o)
				k.destroy(t, w, r.ID)
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := world.New(t, kubeConfig, world.Options{})
				o := k.ready(t, w, "shop")
				status(t, w, o)
				w.FreezeCache(o)
				w.Restart()
				meanwhile(t, w, o, k.only(t, w))
				w.Clock.Step(2 * world.DeployDelay)
				before, calls := k.all(w), k.mutations(w.Calls())
				w.Advance(2 * time.Minute)
				if d := cmp.Diff(before, k.all(w)); d != "" {
					t.Errorf("AWS before and after two minutes with the old view (-want +got):\n%s", d)
				}
				if d := cmp.Diff(calls, k.mutations(w.Calls())); d != "" {
					t.Errorf("changes in AWS (-want +got):\n%s", d)
				}
				w.ThawCache()
				w.Advance(aLook)
				if s := w.ParentStatus(o); s != nil {
					is(t, w, o, readyTrue)
				} else {
					k.none(t, w)
				}
			})
		}
	})
}

// With the old view of an object that is being deleted, nothing is deleted that a newer object of the name has.
func TestAnOldDeletionDoesNotReachANewObject(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		w := world.New(t, kubeConfig, world.Options{})
		old := k.ready(t, w, "shop")
		remove(t, w, old)
		w.Advance(10 * time.Second)
		status(t, w, old)
		w.FreezeCache(old)
		// Another replica finishes the deletion, and the object is applied again.
		k.destroy(t, w, k.only(t, w).ID)
		w.ThawCache()
		w.Advance(time.Minute)
		released(t, w, old)
		again := k.ready(t, w, "shop")
		r := k.only(t, w)
		w.FreezeCache(old)
		w.Restart()
		w.Advance(time.Minute)
		k.untouched(t, w, r)
		w.ThawCache()
		w.Advance(aLook)
		is(t, w, again, readyTrue, syncedTrue)
		k.untouched(t, w, r)
	})
}
