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
	ended := &v1alpha1.SourceRolloutStatus{Complete: true, Tenants: &ten, Applied: &ten}
	for name, tt := range map[string]struct {
		rollout *v1alpha1.SourceRolloutStatus
		reason  string
		undo    bool
		want    string
	}{
		"without a rollout there is nothing to tell": {nil, "", false, ""},
		"nor when it has ended":                      {ended, "RolledOut", false, ""},
		"it counts the tenants":                      {some, "RollingOut", false, "4 of 10 tenants have the change"},
		"the step and the failures": {
			&v1alpha1.SourceRolloutStatus{Tenants: &ten, Applied: &four, Failed: &one, RolloutProgress: v1alpha1.RolloutProgress{Step: 2, Target: 5}},
			"TenantsFailed", false, "4 of 10 tenants have the change, step 2 reaches 5, 1 failed",
		},
		"one that a person holds":             {some, "RolloutPaused", false, "paused, 4 of 10 tenants have the change"},
		"one that has stopped":                {some, "RolloutStopped", false, "stopped, 4 of 10 tenants have the change"},
		"the way back":                        {some, "Undoing", true, "undoing, 4 of 10 tenants have the former version"},
		"the end of the way back":             {ended, "Undone", true, "undone"},
		"a way back that nothing is known of": {&v1alpha1.SourceRolloutStatus{}, "UndoImpossible", true, "undo is impossible"},
	} {
		o := &v1alpha1.TenantSource{
			Spec:   v1alpha1.TenantSourceSpec{Rollout: &v1alpha1.SourceRollout{Undo: tt.undo}},
			Status: v1alpha1.TenantSourceStatus{Rollout: tt.rollout, Conditions: []metav1.Condition{{Type: "RolledOut", Reason: tt.reason}}},
		}
		if got := cli.RolloutText(o); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}
