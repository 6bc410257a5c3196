package migration

import (
	"maps"
	"slices"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

const (
	readyTrue  = "Ready=True/Deployed"
	syncedTrue = "Synced=True/InSync"
	webACL     = "arn:aws:wafv2:us-east-1:111122223333:global/webacl/edge/a1"
	// settle is long enough for a change to be noticed, sent and deployed.
	settle = 3 * time.Minute
)

type edit = func(*v1alpha1.DistributionTenant)

func adopting(o *v1alpha1.DistributionTenant) {
	o.Spec.AdoptionPolicy = v1alpha1.AdoptionPolicyIfUnowned
}

func tier(value string) edit {
	return func(o *v1alpha1.DistributionTenant) {
		o.Spec.Parameters = []v1alpha1.Parameter{{Name: "tier", Value: value}}
	}
}

// leave creates a tenant as the operator's predecessors leave it: deployed, with these tags.
func leave(t *testing.T, w *world.World, name string, tags map[string]string, change ...func(*cloudfront.CreateDistributionTenantInput)) sim.TenantState {
	t.Helper()
	in := &cloudfront.CreateDistributionTenantInput{
		Name: &name, DistributionId: awssdk.String(world.DistributionID), Enabled: awssdk.Bool(true),
		Domains:    []types.DomainItem{{Domain: awssdk.String(name + ".example.com")}},
		Parameters: []types.Parameter{{Name: awssdk.String("tier"), Value: awssdk.String("gold")}},
	}
	if len(tags) > 0 {
		in.Tags = &types.Tags{}
		for _, k := range slices.Sorted(maps.Keys(tags)) {
			in.Tags.Items = append(in.Tags.Items, types.Tag{Key: awssdk.String(k), Value: awssdk.String(tags[k])})
		}
	}
	for _, c := range change {
		c(in)
	}
	if _, err := w.AWS().CreateDistributionTenant(t.Context(), in); err != nil {
		t.Fatalf("creating the tenant %s: %v", name, err)
	}
	w.Clock.Step(2 * world.DeployDelay)
	return inAWS(t, w, name)
}

// attachWebACL gives a tenant a block that no spec of these tests has.
func attachWebACL(in *cloudfront.CreateDistributionTenantInput) {
	in.Customizations = &types.Customizations{WebAcl: &types.WebAclCustomization{Action: "override", Arn: awssdk.String(webACL)}}
}

func inAWS(t *testing.T, w *world.World, name string) sim.TenantState {
	t.Helper()
	s, found := w.InAWS(name)
	if !found {
		t.Fatalf("the tenant %s is not in AWS", name)
	}
	return s
}

func is(t *testing.T, w *world.World, name string, conditions ...string) {
	t.Helper()
	for _, c := range conditions {
		if got := w.Condition(name, conditionType(c)); got != c {
			t.Errorf("%s: got %s, want %s:\n%s", name, got, c, w.Describe(name))
		}
	}
}

func conditionType(condition string) string {
	for _, kind := range []string{v1alpha1.ConditionReady, v1alpha1.ConditionSynced, v1alpha1.ConditionDNSReady} {
		if len(condition) > len(kind) && condition[:len(kind)+1] == kind+"=" {
			return kind
		}
	}
	return condition
}

// untouched checks that a tenant is byte for byte what it was.
func untouched(t *testing.T, w *world.World, before sim.TenantState) {
	t.Helper()
	if d := cmp.Diff(before, inAWS(t, w, before.Name)); d != "" {
		t.Errorf("the tenant %s was changed (-before +after):\n%s", before.Name, d)
	}
}

// adopted checks that a tenant has our tags in addition to its own, and is otherwise unchanged.
func adopted(t *testing.T, w *world.World, object string, before sim.TenantState) {
	t.Helper()
	is(t, w, object, readyTrue)
	after := inAWS(t, w, before.Name)
	if d := cmp.Diff(before, after, cmpopts.IgnoreFields(sim.TenantState{}, "Tags")); d != "" {
		t.Errorf("adopting %s changed more than tags (-before +after):\n%s", before.Name, d)
	}
	o, _ := w.Get(object)
	want := w.Owner(o).Tags()
	maps.Copy(want, before.Tags)
	if d := cmp.Diff(want, after.Tags); d != "" {
		t.Errorf("tags of %s (-want +got):\n%s", before.Name, d)
	}
	if o.Status.ID != before.ID {
		t.Errorf("%s: status.id is %s, was %s", object, o.Status.ID, before.ID)
	}
	if !slices.Contains(w.Reasons(object), "Adopted") {
		t.Errorf("%s: events %v", object, w.Reasons(object))
	}
}

// writes counts all changes in AWS, by operation.
func writes(w *world.World) map[string]int {
	counts := map[string]int{}
	for operation, c := range w.Sim.Calls() {
		if c.Committed > 0 {
			counts[operation] = c.Committed
		}
	}
	return counts
}

// wrote checks what was changed in AWS since.
func wrote(t *testing.T, w *world.World, before map[string]int, want map[string]int) {
	t.Helper()
	if d := cmp.Diff(want, world.Since(before, writes(w)), cmpopts.EquateEmpty()); d != "" {
		t.Errorf("changes in AWS (-want +got):\n%s", d)
	}
}

// gone checks that the object and its tenant are.
func gone(t *testing.T, w *world.World, object, tenant string) {
	t.Helper()
	if _, found := w.Get(object); found {
		t.Errorf("the object %s is still there:\n%s", object, w.Describe(object))
	}
	if s, found := w.InAWS(tenant); found {
		t.Errorf("the tenant %s is still there: %+v", tenant, s)
	}
}
