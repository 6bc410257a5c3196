package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DeletionStep is the current step of the deletion of a resource.
// +kubebuilder:validation:Enum=InUse;Disabling;Settling;Deleting
type DeletionStep string

const (
	// DeletionStepInUse waits until the resource has no tenants.
	DeletionStepInUse DeletionStep = "InUse"
	// DeletionStepDisabling is about to disable the resource.
	DeletionStepDisabling DeletionStep = "Disabling"
	// DeletionStepSettling waits until the disable is deployed everywhere.
	DeletionStepSettling DeletionStep = "Settling"
	// DeletionStepDeleting deletes the resource, and waits until AWS no longer shows it.
	DeletionStepDeleting DeletionStep = "Deleting"
)

// DeletionProgress is the progress of the deletion of a resource.
type DeletionProgress struct {
	// step is the current step: InUse, Disabling, Settling or Deleting.
	// +required
	Step DeletionStep `json:"step,omitempty"`

	// since is when that step started.
	// +required
	Since metav1.Time `json:"since"`
}

// ResourceStatus is the observed state that a Distribution and a ConnectionGroup have in common.
//
// +kubebuilder:validation:MinProperties=0
type ResourceStatus struct {
	// conditions are Ready and Synced, and DeletionStalled once a deletion takes longer than
	// spec.deletionTimeout.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the metadata.generation that the conditions refer to. It is not increased while Ready is True
	// for the previous generation and a change is waiting to be sent. -1 means that the object has not been processed
	// yet.
	// +kubebuilder:validation:Minimum=-1
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// appliedGeneration is the last metadata.generation that was applied in AWS. If absent, it is observedGeneration, as
	// in a status written by an earlier version.
	// +kubebuilder:validation:Minimum=0
	// +optional
	AppliedGeneration *int64 `json:"appliedGeneration,omitempty"`

	// id is the ID that AWS assigned to the resource.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +optional
	ID string `json:"id,omitempty"`

	// arn is the ARN of the resource.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	ARN string `json:"arn,omitempty"`

	// eTag is the version of the resource that the operator last saw.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +optional
	ETag string `json:"eTag,omitempty"`

	// deploymentStatus is the deployment status as reported by AWS: InProgress or Deployed.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +optional
	DeploymentStatus string `json:"deploymentStatus,omitempty"`

	// enabled is whether the resource is enabled in AWS. It follows spec.enabled once AWS has accepted the change, which may
	// be held for an approval.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// lastModifiedTime is when the resource was last changed in AWS.
	// +optional
	LastModifiedTime *metav1.Time `json:"lastModifiedTime,omitempty"`

	// deletion is the progress of the deletion. Absent while the object is not being deleted.
	// +optional
	Deletion *DeletionProgress `json:"deletion,omitempty"`

	// driftDetected says whether the resource in AWS differs from the spec that was last applied. Default: no.
	// +optional
	DriftDetected bool `json:"driftDetected,omitempty"`

	// drift lists the first 20 fields that differ.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=20
	// +listType=map
	// +listMapKey=field
	// +optional
	Drift []DriftedField `json:"drift,omitempty"`

	// appliedTagKeys are the keys of the tags that the operator put on the resource for spec.tags and its default tags,
	// at most 50. Only these tags are ever removed.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	// +listType=set
	// +optional
	AppliedTagKeys []string `json:"appliedTagKeys,omitempty"`

	// failure is the current failure. If absent, there is none.
	// +optional
	Failure *Failure `json:"failure,omitempty"`

	// reconcileToken is the value of the annotation cloudfront-tenant-operator.io/reconcile-now that was last handled,
	// truncated after 256 characters.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +optional
	ReconcileToken string `json:"reconcileToken,omitempty"`
}

// ResourcePolicies are the policies that a Distribution and a ConnectionGroup have in common.
//
// +kubebuilder:validation:MinProperties=0
type ResourcePolicies struct {
	// tags are set on the resource in AWS, at most 46: AWS allows 50 and the operator needs four as owner tags. A tag
	// that is removed here is removed in AWS. Tags that were added there by others are kept.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=46
	// +listType=map
	// +listMapKey=key
	// +optional
	Tags []Tag `json:"tags,omitempty"`

	// driftPolicy says what to do when the resource is changed in AWS. enforce: the spec is applied again. report: the
	// difference is listed in status.drift and not corrected. suspend: fields are not compared. With report and suspend,
	// a resource that was deleted outside of Kubernetes is not created again, and the conditions report it. A change of
	// the spec is always applied. Default: the operator's --drift-policy flag, which defaults to enforce.
	// +optional
	DriftPolicy DriftPolicy `json:"driftPolicy,omitempty"`

	// deletionPolicy says what happens to the resource in AWS when this object is deleted. Delete: it is disabled and,
	// after that is deployed everywhere, deleted. Retain: it is kept as it is, and only the operator's owner tags are
	// removed. Default: Delete.
	// +kubebuilder:default=Delete
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// deletionTimeout is how long a deletion may take before the DeletionStalled condition and an event say what you can
	// do manually, at least one minute. The operator keeps trying after that. Default: 30m.
	// +kubebuilder:default="30m"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(h|m|s|ms))+$') && duration(self) >= duration('1m') && duration(self) <= duration('168h')",messageExpression="'\"' + self + '\" is not a duration of 1m to 168h: write it like 30m'",message="use a duration of 1m to 168h, like 30m"
	// +kubebuilder:validation:Type=string
	// +optional
	DeletionTimeout *metav1.Duration `json:"deletionTimeout,omitempty"`

	// adoptionPolicy says what to do when the resource already exists in AWS and does not have this object's owner tags.
	// Never: it is not changed, and the Ready condition says how to adopt it. IfUnowned: it is adopted if it has no owner
	// tags, or those of an earlier object with this namespace and name. Force: it is also adopted if it belongs to
	// another cluster or to a deleted object, but never if it belongs to an existing object of this cluster. Adoption
	// only writes tags. Other differences are listed in status.drift, and are applied with the next change of the spec.
	// Default: Never.
	// +kubebuilder:default=Never
	// +optional
	AdoptionPolicy AdoptionPolicy `json:"adoptionPolicy,omitempty"`
}
