package inventory_test

import (
	"context"
	"errors"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdkcloudfront "github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/inventory"
)

// orphanage is a search on a rig, in a cluster where some objects live.
type orphanage struct {
	*rig
	search  *inventory.Orphans
	claimed map[string]bool
	// alive says of each UID whether its object exists; a UID that is missing can't be looked up.
	alive map[string]bool
	found []string
}

func newOrphanage(t *testing.T, tenants int) *orphanage {
	t.Helper()
	o := &orphanage{rig: newRig(t, options{tenants: tenants, pageSize: 100}), claimed: map[string]bool{}, alive: map[string]bool{}}
	o.search = inventory.NewOrphans(inventory.OrphansOptions{
		Inventory: o.Inventory, Clock: o.clock, ClusterID: "here",
		Claimed: func(name string) bool { return o.claimed[name] },
		Alive: func(_ context.Context, owner ownership.Owner) (bool, error) {
			alive, known := o.alive[owner.UID]
			if !known {
				return false, errors.New("forbidden")
			}
			return alive, nil
		},
		OnFound: func(found inventory.Orphan) { o.found = append(o.found, found.Name) },
	})
	return o
}

// own tags a tenant for an object of a cluster.
func (o *orphanage) own(n int, cluster, uid string) {
	o.t.Helper()
	s := o.inAWS(n)
	in := &sdkcloudfront.TagResourceInput{Resource: &s.ARN, Tags: &types.Tags{}}
	for key, value := range (ownership.Owner{Cluster: cluster, Namespace: "shop", Name: name(n), UID: uid}).Tags() {
		in.Tags.Items = append(in.Tags.Items, types.Tag{Key: awssdk.String(key), Value: awssdk.String(value)})
	}
	if _, err := o.console().TagResource(o.t.Context(), in); err != nil {
		o.t.Fatal(err)
	}
}

func (o *orphanage) list() []string {
	var names []string
	for _, orphan := range o.search.List() {
		names = append(names, orphan.Name)
	}
	return names
}

func TestAnOrphanIsATenantOfThisClusterWhoseObjectIsGone(t *testing.T) {
	o := newOrphanage(t, 6)
	o.own(0, "here", "gone")
	o.own(1, "here", "living") // Its object lives, though under another tenant's name.
	o.own(2, "elsewhere", "gone")
	// Number 3 has no owner.
	o.own(4, "here", "unknown") // Its object may not be looked up.
	o.own(5, "here", "gone")    // An object claims the name: its conditions tell the rest.
	o.alive["gone"], o.alive["living"], o.claimed[name(5)] = false, true, true
	o.run(time.Second)
	o.clock.Step(time.Hour)
	before := o.calls()["ListTagsForResource"]
	for range 5 {
		o.search.Step(t.Context())
	}
	if d := cmp.Diff([]string{name(0)}, o.list()); d != "" {
		t.Errorf("orphans (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{name(0)}, o.found); d != "" {
		t.Errorf("told of (-want +got):\n%s", d)
	}
	if n := o.calls()["ListTagsForResource"] - before; n != 5 {
		t.Errorf("%d reads of tags in five steps, want one for each tenant without an owner", n)
	}
	o.claimed[name(0)] = true
	o.search.Step(t.Context())
	if left := o.list(); len(left) != 0 {
		t.Errorf("orphans after an object claimed it: %v", left)
	}
}

// An account full of strangers' tenants is looked through slowly, and each only once a day.
func TestTheSearchForOrphansIsSlow(t *testing.T) {
	o := newOrphanage(t, 50)
	o.run(time.Second)
	o.clock.Step(time.Hour)
	before := o.calls()["ListTagsForResource"]
	for step, want := range []int{20, 40, 50, 50} {
		o.search.Step(t.Context())
		if n := o.calls()["ListTagsForResource"] - before; n != want {
			t.Errorf("%d reads after step %d, want %d", n, step+1, want)
		}
	}
}

// A tenant that was created a moment ago may belong to an object that is not seen yet.
func TestAYoungTenantIsNoOrphan(t *testing.T) {
	o := newOrphanage(t, 1)
	o.own(0, "here", "gone")
	o.alive["gone"] = false
	o.run(time.Second)
	o.search.Step(t.Context())
	if got := o.list(); len(got) != 0 {
		t.Errorf("orphans: %v", got)
	}
	o.clock.Step(3 * time.Minute)
	o.search.Step(t.Context())
	if d := cmp.Diff([]string{name(0)}, o.list()); d != "" {
		t.Errorf("orphans three minutes later (-want +got):\n%s", d)
	}
}
