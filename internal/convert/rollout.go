package convert

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
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

// SourceLimits are how gently changes of the objects of a source spread, and the labels of those that come first; false
// where the source has no rollout.
func SourceLimits(o *v1alpha1.TenantSource) (l rollout.Limits, canaries map[string]string, has bool) {
	r := o.Spec.Rollout
	if r == nil {
		return l, nil, false
	}
	if r.Canary != nil {
		canaries = r.Canary.MatchLabels
	}
	return rolloutLimits(*r), canaries, true
}

// SourceReading tells specs apart that differ in more than how gently changes spread; empty where that can't be told.
func SourceReading(o *v1alpha1.TenantSource) string {
	spec := o.Spec
	spec.Rollout = nil
	content, err := json.Marshal(spec)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:revisionBytes])
}

// revisionBytes is how much of a hash tells specs apart.
const revisionBytes = 8

// Behind reports whether AWS does not have the spec of a tenant yet, and no one has to act on that. One that is new is
// not behind.
func Behind(o *v1alpha1.DistributionTenant) bool {
	stalled := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionStalled)
	paused, _ := Paused(o.Annotations)
	held := paused || stalled != nil && stalled.Status == metav1.ConditionTrue && stalled.ObservedGeneration == o.Generation
	return !held && o.Generation > 1 && appliedGeneration(o.Status.ObservedGeneration, o.Status.AppliedGeneration) != o.Generation
}

// sourceRollout writes what is new of a rollout. Status shows one that is on its way.
func sourceRollout(s *v1alpha1.TenantSourceStatus, r tenantsource.Report) {
	if r.Unrolled {
		meta.RemoveStatusCondition(&s.Conditions, v1alpha1.ConditionRolledOut)
	}
	switch a := r.Rollout; {
	case r.Unrolled, a != nil && a.Done():
		s.Rollout = nil
	case a != nil:
		s.Rollout = &v1alpha1.SourceRolloutStatus{
			Tenants: number(a.Applied + a.Failed + a.Waiting), Applied: number(a.Applied), Failed: number(a.Failed), Waiting: number(a.Waiting),
			RolloutProgress: rolloutProgress(a.Progress),
		}
	}
}

func rolloutLimits(r v1alpha1.SourceRollout) rollout.Limits {
	l := rollout.Limits{MaxConcurrent: defaultConcurrent, MaxFailedPercent: defaultFailedPercent, Paused: r.Paused}
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
	began := o.Status.ObservedGeneration
	if remembersContent(&o.Status) {
		began = o.Status.Content.Generation
	}
	if o.Status.Rollout == nil || began != PlanGeneration(o) {
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
