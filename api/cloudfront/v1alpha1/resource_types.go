package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DeletionStep is how far the deletion of a resource has come.
// +kubebuilder:validation:Enum=InUse;Disabling;Settling;Deleting
type DeletionStep string

const (
	// DeletionStepInUse waits for the tenants that hang on the resource to go.
	DeletionStepInUse DeletionStep = "InUse"
	// DeletionStepDisabling is about to disable the resource.
	DeletionStepDisabling DeletionStep = "Disabling"
	// DeletionStepSettling waits until the disable is deployed everywhere.
	DeletionStepSettling DeletionStep = "Settling"
	// DeletionStepDeleting deletes the resource, and waits until AWS no longer shows it.
	DeletionStepDeleting DeletionStep = "Deleting"
)

// DeletionProgress tells how far the deletion of a resource has come.
type DeletionProgress struct {
	// step is what the operator is at: InUse, Disabling, Settling or Deleting.
	// +required
	Step DeletionStep `json:"step,omitempty"`

	// since is when that step began.
	// +required
	Since metav1.Time `json:"since"`
}

// ResourceStatus is what a Distribution and a ConnectionGroup report alike: what the operator found in AWS,
// and the little it has to remember.
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

	// observedGeneration is the last metadata.generation that was seen and judged: what the conditions say holds for
	// it. It stays behind while Ready is True for the generation before and a change waits to be sent. -1 means that
	// the object was not looked at yet.
	// +kubebuilder:validation:Minimum=-1
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// appliedGeneration is the last metadata.generation that AWS was made equal to. Absent means that it is
	// observedGeneration, as in a status of an earlier version.
	// +kubebuilder:validation:Minimum=0
	// +optional
	AppliedGeneration *int64 `json:"appliedGeneration,omitempty"`

	// id is the ID that AWS gave the resource.
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

	// deploymentStatus is the deployment status as AWS gives it: InProgress or Deployed.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +optional
	DeploymentStatus string `json:"deploymentStatus,omitempty"`

	// lastModifiedTime is when the resource was last changed in AWS.
	// +optional
	LastModifiedTime *metav1.Time `json:"lastModifiedTime,omitempty"`

	// deletion tells how far the deletion has come. Absent while the object is not being deleted.
	// +optional
	Deletion *DeletionProgress `json:"deletion,omitempty"`

	// driftDetected tells whether the resource in AWS differs from the spec that was last applied. Absent
	// means no.
	// +optional
	DriftDetected bool `json:"driftDetected,omitempty"`

	// drift lists what differs, field by field: the first 20 of them.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=20
	// +listType=map
	// +listMapKey=field
	// +optional
	Drift []DriftedField `json:"drift,omitempty"`

	// appliedTagKeys are the keys of the tags that the operator put on the resource for spec.tags and its
	// default tags, at most 50. Only these are ever removed.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	// +listType=set
	// +optional
	AppliedTagKeys []string `json:"appliedTagKeys,omitempty"`

	// failure is the memory of the failure that is present. Absent means that there is none.
	// +optional
	Failure *Failure `json:"failure,omitempty"`

	// reconcileToken is the value of the annotation cloudfront-tenant-operator.io/reconcile-now that was
	// last handled, cut off after 256 characters.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +optional
	ReconcileToken string `json:"reconcileToken,omitempty"`
}

// ResourcePolicies are the choices that a Distribution and a ConnectionGroup leave to their author alike.
//
// +kubebuilder:validation:MinProperties=0
type ResourcePolicies struct {
	// tags are put on the resource in AWS, at most 46: AWS takes 50 and the operator needs four to mark
	// what it owns. A tag that was removed here is removed in AWS; tags that somebody else added there
	// stay.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=46
	// +listType=map
	// +listMapKey=key
	// +optional
	Tags []Tag `json:"tags,omitempty"`

	// driftPolicy says what happens when somebody changes the resource in AWS. enforce: the spec is written
	// again. report: the difference is listed in status.drift and nothing is written because of it.
	// suspend: no field is compared; a resource that was deleted outside is not created again, and the
	// conditions say so. A change of the spec is applied under every policy. Absent means what the operator
	// was started with (--drift-policy, enforce by default).
	// +optional
	DriftPolicy DriftPolicy `json:"driftPolicy,omitempty"`

	// deletionPolicy says what becomes of the resource in AWS when this object is deleted. Delete: it is
	// disabled and, when that has settled everywhere, deleted. Retain: it is left as it is and the
	// operator's owner tags are taken off. Absent means Delete.
	// +kubebuilder:default=Delete
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// deletionTimeout is how long a deletion may take before the DeletionStalled condition and an event say
	// what can be done by hand, at least one minute. The operator never gives up: it goes on afterwards.
	// Absent means 30m.
	// +kubebuilder:default="30m"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(h|m|s|ms))+$') && duration(self) >= duration('1m') && duration(self) <= duration('168h')",messageExpression="'\"' + self + '\" is not a duration of 1m to 168h: write it like 30m'",message="write a duration of 1m to 168h, like 30m"
	// +kubebuilder:validation:Type=string
	// +optional
	DeletionTimeout *metav1.Duration `json:"deletionTimeout,omitempty"`

	// adoptionPolicy says what happens when the resource is in AWS already and does not carry this object's
	// owner tags. Never: it is not touched, and the Ready condition says how to adopt it. IfUnowned: it is
	// adopted if it carries no owner tags, or those of an earlier object of this namespace and name. Force:
	// also if it belongs to another cluster or to a dead object, but never if it belongs to a live object of
	// this cluster. Adopting writes tags only; what the spec asks for is written with its next change, and
	// listed in status.drift until then. Absent means Never.
	// +kubebuilder:default=Never
	// +optional
	AdoptionPolicy AdoptionPolicy `json:"adoptionPolicy,omitempty"`
}
