package awsresource_test

import (
	"testing"
	"time"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// A group that another process made a moment ago is gone before its object, and shows no state that it no longer has.
func TestAGroupThatIsGoneShowsNoStatus(t *testing.T) {
	w := world.NewOffline(t, world.Options{})
	o := w.ConnectionGroup("short")
	apply(t, w, o)
	w.Advance(5 * time.Second)
	w.Restart()
	remove(t, w, o)
	w.Advance(world.DeployDelay + 40*time.Second)
	atStep(t, w, o, v1alpha1.DeletionStepDeleting)
	if s := status(t, w, o); s.DeploymentStatus != "" {
		t.Errorf("the group is gone, and its status %s\n%s", s.DeploymentStatus, w.ParentConditions(o))
	}
	w.Advance(2 * time.Minute)
	if w.ParentStatus(o) != nil {
		t.Errorf("the object is still there:\n%s", w.ParentConditions(o))
	}
}

// No object waits for a resource that stays in AWS, however young it is.
func TestWhatIsKeptIsReleasedAtOnce(t *testing.T) {
	for name, object := range map[string]func(*world.World) *v1alpha1.ConnectionGroup{
		"a group with deletionPolicy Retain": func(w *world.World) *v1alpha1.ConnectionGroup {
			return w.ConnectionGroup("kept", func(o *v1alpha1.ConnectionGroup) { o.Spec.DeletionPolicy = v1alpha1.DeletionPolicyRetain })
		},
		"the default group": func(w *world.World) *v1alpha1.ConnectionGroup {
			return w.ConnectionGroup("default", func(o *v1alpha1.ConnectionGroup) {
				o.Spec.Name, o.Spec.AdoptionPolicy = "CreatedByCloudFront", v1alpha1.AdoptionPolicyIfUnowned
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			seed := world.Seed()
			seed.ConnectionGroups = append(seed.ConnectionGroups, sim.SeedConnectionGroup{ID: "cg_default", Name: "CreatedByCloudFront", Default: true})
			w := world.NewOffline(t, world.Options{Seed: &seed})
			o := object(w)
			apply(t, w, o)
			w.Advance(10 * time.Second)
			remove(t, w, o)
			w.Advance(10 * time.Second)
			if w.ParentStatus(o) != nil {
				t.Errorf("the object is still there:\n%s", w.ParentConditions(o))
			}
		})
	}
}

// A resource that this process has created and deleted can't come back.
func TestWhatWasCreatedAndDeletedByOneProcessIsReleasedAtOnce(t *testing.T) {
	for name, restart := range map[string]bool{"one process": false, "another one deletes": true} {
		t.Run(name, func(t *testing.T) {
			w := world.NewOffline(t, world.Options{})
			o := w.ConnectionGroup("short")
			apply(t, w, o)
			w.Advance(5 * time.Second)
			if restart {
				w.Restart()
			}
			remove(t, w, o)
			w.Advance(world.DeployDelay + 40*time.Second)
			if kept := w.ParentStatus(o) != nil; kept != restart {
				t.Errorf("the object is there: %t, want %t\n%s", kept, restart, w.ParentConditions(o))
			}
		})
	}
}
