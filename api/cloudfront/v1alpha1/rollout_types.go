package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RolloutCanary selects the tenants that get a change first.
//
// +kubebuilder:validation:MinProperties=0
// +kubebuilder:validation:XValidation:rule="has(self.count) != has(self.matchLabels)",message="set exactly one of count and matchLabels"
type RolloutCanary struct {
	// count is the number of tenants that get a change first, 1 to 1000. They are a different choice for each change.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	// +optional
	Count int32 `json:"count,omitempty"`

	// matchLabels selects them by the labels of their objects. If no tenant has these labels, one tenant is first.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=10
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 317 && size(self[k]) <= 63)",message="a key of a label has at most 317 characters, and a value at most 63"
	// +optional
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
}

// RolloutStep is how many more tenants get a change in each step after the canaries.
//
// +kubebuilder:validation:MinProperties=0
// +kubebuilder:validation:XValidation:rule="has(self.count) != has(self.percent)",message="set exactly one of count and percent"
type RolloutStep struct {
	// count is a number of tenants, 1 to 100000.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	// +optional
	Count int32 `json:"count,omitempty"`

	// percent is a percentage of all tenants that the change is for, 1 to 100, at least one tenant.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +optional
	Percent int32 `json:"percent,omitempty"`
}

// SourceRollout says how changes of the source's tenants reach AWS, whatever causes them: the spec, the rows, or an edit of
// their objects. The objects change at once. New tenants don't wait.
//
// +kubebuilder:validation:MinProperties=0
type SourceRollout struct {
	// canary selects the tenants that get a change first. Default: one tenant.
	// +optional
	Canary *RolloutCanary `json:"canary,omitempty"`

	// step is how many more tenants get it in each step after them. Default: as many more as have succeeded.
	// +optional
	Step *RolloutStep `json:"step,omitempty"`

	// pause is how long no other tenant gets it after the canaries, and after each step, 1s to 168h (7 days). It begins
	// when all tenants of the step are ready, or have failed. Default: none.
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(h|m|s|ms))+$') && duration(self) >= duration('1s') && duration(self) <= duration('168h')",messageExpression="'\"' + self + '\" is not a duration of 1s to 168h: write it like 30m'",message="use a duration of 1s to 168h, like 30m"
	// +kubebuilder:validation:Type=string
	// +optional
	Pause *metav1.Duration `json:"pause,omitempty"`

	// paused holds the change: no other tenant gets it until this is removed.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// maxConcurrent is the maximum number of tenants that are changed at the same time. Default: 10.
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	// +optional
	MaxConcurrent int32 `json:"maxConcurrent,omitempty"`

	// maxFailedPercent is the percentage of the tenants tried so far that may fail before the rollout is stopped. A
	// single failure does not count, unless this is 0 or the tenant is one of the canaries that canary selects. Default: 10.
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	MaxFailedPercent *int32 `json:"maxFailedPercent,omitempty"`
}

// SourceRolloutStatus is how far a change of the tenants has come.
//
// +kubebuilder:validation:MinProperties=0
type SourceRolloutStatus struct {
	// tenants is the number of tenants that the change is for.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Tenants *int32 `json:"tenants,omitempty"`

	// applied is the number of them that have it and are ready.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Applied *int32 `json:"applied,omitempty"`

	// failed is the number of them that have it and are not ready for a reason that does not pass.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Failed *int32 `json:"failed,omitempty"`

	// waiting is the number of the others.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Waiting *int32 `json:"waiting,omitempty"`

	RolloutProgress `json:",inline"`
}

// RolloutProgress is the step of a rollout.
//
// +kubebuilder:validation:MinProperties=0
type RolloutProgress struct {
	// step is the step of the rollout: 1 for the canaries.
	// +kubebuilder:validation:Minimum=1
	// +optional
	Step int32 `json:"step,omitempty"`

	// target is how many tenants the steps so far reach. If absent, more follow as tenants succeed.
	// +kubebuilder:validation:Minimum=1
	// +optional
	Target int32 `json:"target,omitempty"`

	// since is when all of these tenants had been tried, which starts the pause. If absent, some have not.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
}
