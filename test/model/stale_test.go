package model_test

import (
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// An update is sent with the ETag that it was decided upon. With a fresher one it would undo changes made since, which
// the decision did not know.
func TestAnUpdateDecidedOnOldKnowledgeIsNotForced(t *testing.T) {
	seed := world.Seed()
	seed.ConnectionGroups = []sim.SeedConnectionGroup{{ID: "cg_main", Default: true}, {ID: otherGroup}}
	w := world.NewOffline(t, world.Options{Seed: &seed})
	w.Apply(w.Tenant("alpha"))
	w.Advance(3 * time.Minute)
	if got := w.Condition("alpha", v1alpha1.ConditionReady); got != "Ready=True/Deployed" {
		t.Fatal(got)
	}

	s, _ := w.InAWS("alpha")
	in := &cloudfront.UpdateDistributionTenantInput{Id: &s.ID, IfMatch: &s.ETag, ConnectionGroupId: awssdk.String(otherGroup)}
	if _, err := w.AWS().UpdateDistributionTenant(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	w.Edit("alpha", func(o *v1alpha1.DistributionTenant) {
		o.Spec.Parameters = []v1alpha1.Parameter{{Name: "tier", Value: "gold"}}
	})
	w.Advance(30 * time.Second)

	s, _ = w.InAWS("alpha")
	if s.ConnectionGroupID != otherGroup {
		t.Errorf("the choice of the group was undone: %s", s.ConnectionGroupID)
	}
	if s.Parameters["tier"] != "gold" {
		t.Errorf("the spec was not applied: %v", s.Parameters)
	}
	if n := w.Sim.Calls()["UpdateDistributionTenant"].Errors["PreconditionFailed"]; n != 1 {
		t.Errorf("%d updates were refused, want 1", n)
	}
}
