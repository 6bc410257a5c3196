package cli_test

import (
	"testing"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli"
)

func TestRolloutText(t *testing.T) {
	t.Parallel()
	ten, four, one := int32(10), int32(4), int32(1)
	for name, tt := range map[string]struct {
		rollout *v1alpha1.SourceRolloutStatus
		want    string
	}{
		"without a rollout there is nothing to tell": {nil, ""},
		"nor when it has ended":                      {&v1alpha1.SourceRolloutStatus{Complete: true, Tenants: &ten, Applied: &ten}, ""},
		"it counts the tenants":                      {&v1alpha1.SourceRolloutStatus{Tenants: &ten, Applied: &four}, "4 of 10 tenants have the change"},
		"the step and the failures": {
			&v1alpha1.SourceRolloutStatus{Tenants: &ten, Applied: &four, Failed: &one, RolloutProgress: v1alpha1.RolloutProgress{Step: 2, Target: 5}},
			"4 of 10 tenants have the change, step 2 reaches 5, 1 failed",
		},
	} {
		if got := cli.RolloutText(tt.rollout); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}
