package cli_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli"
)

func TestRolloutText(t *testing.T) {
	t.Parallel()
	ten, four, one := int32(10), int32(4), int32(1)
	some := &v1alpha1.SourceRolloutStatus{Tenants: &ten, Applied: &four}
	for name, tt := range map[string]struct {
		rollout *v1alpha1.SourceRolloutStatus
		reason  string
		want    string
	}{
		"without a rollout there is nothing to tell": {nil, "", ""},
		"nor when it has ended":                      {nil, "RolledOut", ""},
		"it counts the tenants":                      {some, "RollingOut", "4 of 10 tenants have the change"},
		"the step and the failures": {
			&v1alpha1.SourceRolloutStatus{Tenants: &ten, Applied: &four, Failed: &one, RolloutProgress: v1alpha1.RolloutProgress{Step: 2, Target: 5}},
			"TenantsFailed", "4 of 10 tenants have the change, step 2 reaches 5, 1 failed",
		},
		"one that a person holds": {some, "RolloutPaused", "paused, 4 of 10 tenants have the change"},
		"one that has stopped":    {some, "RolloutStopped", "stopped, 4 of 10 tenants have the change"},
	} {
		o := &v1alpha1.TenantSource{Status: v1alpha1.TenantSourceStatus{
			Rollout: tt.rollout, Conditions: []metav1.Condition{{Type: "RolledOut", Reason: tt.reason}},
		}}
		if got := cli.RolloutText(o); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}
