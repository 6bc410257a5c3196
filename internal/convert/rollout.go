package convert

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/rollout"
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

// maxVersion is how large the content of a version may be in status.
const maxVersion = 128 << 10

// SourceRollout is what the source says of rollouts; nil where all tenants change at once.
func SourceRollout(o *v1alpha1.TenantSource, c mapping.Config) (*tenantsource.RolloutSpec, error) {
	r := o.Spec.Rollout
	if r == nil {
		return nil, nil
	}
	content, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("writing down the version of the spec: %w", err)
	}
	sum := sha256.Sum256(content)
	v := tenantsource.Version{Revision: hex.EncodeToString(sum[:revisionBytes])}
	if len(content) <= maxVersion {
		v.Content = string(content)
	}
	return &tenantsource.RolloutSpec{Limits: rolloutLimits(*r), Undo: r.Undo, Version: v}, nil
}

// SourceReading tells specs apart that differ in more than how gently a change is rolled out; empty where that can't be told.
// To undo a change is another thing to do.
func SourceReading(o *v1alpha1.TenantSource) string {
	spec := o.Spec
	if spec.Rollout = nil; o.Spec.Rollout != nil && o.Spec.Rollout.Undo {
		spec.Rollout = &v1alpha1.SourceRollout{Undo: true}
	}
	content, err := json.Marshal(spec)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:revisionBytes])
}

// revisionBytes is how much of a hash tells versions apart.
const revisionBytes = 8

// VersionConfig reads the content of a version back.
func VersionConfig(content string) (c mapping.Config, err error) {
	if err = json.Unmarshal([]byte(content), &c); err != nil {
		err = fmt.Errorf("reading a version of the spec in status.rollout.versions: %w", err)
	}
	return c, err
}

// SourceLook is an object of a source as a rollout sees it.
func SourceLook(o *v1alpha1.DistributionTenant, canary *v1alpha1.RolloutCanary) tenantsource.Look {
	l := tenantsource.Look{
		Name: o.Name, UID: string(o.UID), Version: o.ResourceVersion, Revision: o.Annotations[v1alpha1.AnnotationSourceRevision],
		Untouched: o.Generation <= 1, Canary: IsCanary(canary, o.Labels), Disabled: o.Annotations[v1alpha1.AnnotationSourceDisabled] == v1alpha1.SourceDisabledTrue,
	}
	ready, stalled := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionReady), meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionStalled)
	if ready == nil {
		return l
	}
	l.Failure = ready.Reason + ": " + ready.Message
	current := func(c *metav1.Condition) bool {
		return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == o.Generation
	}
	// A status of an earlier version is Ready also while the present spec is not in AWS.
	l.Ready = current(ready) && appliedGeneration(o.Status.ObservedGeneration, o.Status.AppliedGeneration) == o.Generation
	if ready.Status != metav1.ConditionTrue {
		l.Since = ready.LastTransitionTime.Time
	}
	// Ready goes on telling how the tenant is. What keeps the present spec from AWS can be another condition.
	if l.Stalled = !l.Ready && current(stalled); l.Stalled {
		l.Failure = stalled.Reason + ": " + stalled.Message
	}
	return l
}

func rolloutMemory(s *v1alpha1.SourceRolloutStatus) tenantsource.RolloutMemory {
	if s == nil {
		return tenantsource.RolloutMemory{}
	}
	m := tenantsource.RolloutMemory{Revision: s.Revision, Former: s.Former, Complete: s.Complete, Left: int(s.Left), Progress: progressMemory(s.RolloutProgress)}
	m.Failing = s.Failed != nil && *s.Failed > 0
	for _, v := range s.Versions {
		m.Versions = append(m.Versions, tenantsource.Version{Revision: v.Revision, Content: v.Content})
	}
	return m
}

// sourceRollout writes what is new of a rollout.
func sourceRollout(s *v1alpha1.TenantSourceStatus, r tenantsource.Report) {
	if r.Unrolled {
		s.Rollout = nil
		meta.RemoveStatusCondition(&s.Conditions, v1alpha1.ConditionRolledOut)
	}
	if r.Rollout == nil {
		return
	}
	if s.Rollout == nil {
		s.Rollout = &v1alpha1.SourceRolloutStatus{}
	}
	out, m := s.Rollout, r.Rollout.Memory
	out.Revision, out.Former, out.Complete, out.Left, out.RolloutProgress = m.Revision, m.Former, m.Complete, int32(m.Left), rolloutProgress(m.Progress)
	out.Versions = nil
	for _, v := range m.Versions {
		out.Versions = append(out.Versions, v1alpha1.SourceVersion{Revision: v.Revision, Content: v.Content})
	}
	if c := r.Rollout.Counts; c != nil {
		out.Tenants, out.Applied, out.Failed, out.Waiting = number(c.Applied+c.Failed+c.Waiting), number(c.Applied), number(c.Failed), number(c.Waiting)
		out.Message = prose.Fit(r.Rollout.Message, maxMessage)
	}
}

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
