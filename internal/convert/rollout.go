package convert

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/rollout"
)

// The defaults of the schema, for objects that were stored before it had them.
const (
	defaultConcurrent    = 10
	defaultFailedPercent = 10
)

// PlanLimits are how gently a change of a plan goes through its tenants.
func PlanLimits(o *kleffv1.TenantPlan) rollout.Limits {
	r := o.Spec.Rollout
	if r == nil {
		r = &kleffv1.Rollout{}
	}
	return rolloutLimits(v1alpha1.SourceRollout{
		Canary: r.Canary, Step: r.Step, Pause: r.Pause, Paused: r.Paused, MaxConcurrent: r.MaxConcurrent, MaxFailedPercent: r.MaxFailedPercent,
	})
}

// SourceLimits are how gently a change of a source goes through its tenants.
func SourceLimits(r *v1alpha1.SourceRollout) rollout.Limits { return rolloutLimits(*r) }

func rolloutLimits(r v1alpha1.SourceRollout) rollout.Limits {
	l := rollout.Limits{MaxConcurrent: defaultConcurrent, MaxFailedPercent: defaultFailedPercent, Paused: r.Paused, Swift: r.Undo}
	if r.MaxConcurrent > 0 {
		l.MaxConcurrent = int(r.MaxConcurrent)
	}
	if r.MaxFailedPercent != nil {
		l.MaxFailedPercent = int(*r.MaxFailedPercent)
	}
	if r.Canary != nil {
		l.Canaries, l.Strict = int(r.Canary.Count), true
	}
	if r.Step != nil {
		l.Step, l.StepPercent = int(r.Step.Count), int(r.Step.Percent)
	}
	if r.Pause != nil {
		l.Pause = r.Pause.Duration
	}
	return l
}

// IsCanary reports whether an object with these labels is one of those that get a change first.
func IsCanary(c *v1alpha1.RolloutCanary, labels map[string]string) bool {
	if c == nil || len(c.MatchLabels) == 0 {
		return false
	}
	for key, value := range c.MatchLabels {
		if have, ok := labels[key]; !ok || have != value {
			return false
		}
	}
	return true
}

func planCanary(o *kleffv1.TenantPlan, labels map[string]string) bool {
	return o.Spec.Rollout != nil && IsCanary(o.Spec.Rollout.Canary, labels)
}

// PlanProgress is how far the roll-out of the plan as it is now has come, as its status has it.
func PlanProgress(o *kleffv1.TenantPlan) rollout.Progress {
	if o.Status.Rollout == nil || o.Status.ObservedGeneration != o.Generation {
		return rollout.Progress{}
	}
	return progressMemory(*o.Status.Rollout)
}

func progressMemory(p v1alpha1.RolloutProgress) rollout.Progress {
	out := rollout.Progress{Step: int(p.Step), Target: int(p.Target)}
	if p.Since != nil {
		out.Settled = p.Since.Time
	}
	return out
}

func rolloutProgress(p rollout.Progress) v1alpha1.RolloutProgress {
	out := v1alpha1.RolloutProgress{Step: int32(p.Step), Target: int32(p.Target)}
	if !p.Settled.IsZero() {
		since := metav1.NewTime(p.Settled.Truncate(time.Second))
		out.Since = &since
	}
	return out
}
