package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Invalidation removes paths, or what is tagged, of distribution tenants from the caches of CloudFront, once. One object represents one
// invalidation for each tenant in AWS. It is deleted automatically a while after it has finished.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=inv,categories=aws
// +kubebuilder:printcolumn:name="READY",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="All tenants are invalidated"
// +kubebuilder:printcolumn:name="REASON",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it is ready or not"
// +kubebuilder:printcolumn:name="TENANTS",type=integer,JSONPath=`.status.total`,description="Tenants whose caches are invalidated"
// +kubebuilder:printcolumn:name="COMPLETED",type=integer,JSONPath=`.status.completed`,description="Tenants whose caches no longer have the paths"
// +kubebuilder:printcolumn:name="FAILED",type=integer,JSONPath=`.status.failed`,description="Tenants that could not be invalidated"
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="EXPECTED",type=string,priority=1,JSONPath=`.status.expectedCompletionTime`,description="When it will be finished at the rate that AWS documents"
// +kubebuilder:printcolumn:name="STARTED",type=date,priority=1,JSONPath=`.status.startTime`,description="When the tenants were chosen"
// +kubebuilder:printcolumn:name="FINISHED",type=date,priority=1,JSONPath=`.status.completionTime`,description="When the last tenant was completed or had failed"
type Invalidation struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec says which paths of which tenants are invalidated. It can't be changed.
	// +required
	Spec InvalidationSpec `json:"spec"`

	// status is the observed state.
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status InvalidationStatus `json:"status,omitzero"`
}

// InvalidationList is a list of Invalidation objects.
//
// +kubebuilder:object:root=true
type InvalidationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	// items are the objects.
	Items []Invalidation `json:"items"`
}

// InvalidationSpec says which paths of which tenants are invalidated.
//
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="an invalidation is carried out once, so its spec cannot be changed: create another Invalidation"
// +kubebuilder:validation:XValidation:rule="has(self.tenantRef) != has(self.selector)",message="say once which tenants are invalidated: set tenantRef for one, or selector for several",fieldPath=".tenantRef"
// +kubebuilder:validation:XValidation:rule="!has(self.selector) || has(self.selector.matchLabels) && size(self.selector.matchLabels) > 0 || has(self.selector.matchExpressions) && size(self.selector.matchExpressions) > 0",message="an empty selector would select every tenant of the namespace: set matchLabels or matchExpressions",fieldPath=".selector"
// +kubebuilder:validation:XValidation:rule="has(self.paths) && size(self.paths) > 0 || has(self.tags) && size(self.tags) > 0",message="say what is removed from the caches: set paths, such as /* for everything, or tags"
// +kubebuilder:validation:MinProperties=0
type InvalidationSpec struct {
	// tenantRef is a DistributionTenant of the same namespace. If it is not in AWS yet, the invalidation waits for an hour.
	// +optional
	TenantRef *InvalidationTenantReference `json:"tenantRef,omitempty"`

	// selector selects DistributionTenants of the same namespace by their labels, any number. Those that exist at the
	// beginning are invalidated, and none that are created later.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`

	// paths are what is removed from the caches, such as /images/logo.png or /images/*. Each begins with a slash. A star is
	// only allowed at the end, and stands for any text; /* is everything. At most 15 paths may have one. AWS compares paths
	// with the URLs of viewers, with upper and lower case and with query strings. At least one path or tag is required.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=300
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.all(p, p.startsWith('/'))",messageExpression="'\"' + self.filter(p, !p.startsWith('/'))[0] + '\" does not begin with a slash: write it as a path, like /images/logo.png, without the domain' + (self.exists(p, p.startsWith('#')) ? ', or as a tag in spec.tags, without the #' : '')",message="each path must begin with a slash, like /images/logo.png"
	// +kubebuilder:validation:XValidation:rule="self.all(p, p.indexOf('*') < 0 || p.indexOf('*') == size(p) - 1)",messageExpression="'\"' + self.filter(p, p.indexOf('*') >= 0 && p.indexOf('*') != size(p) - 1)[0] + '\" has a star before its end: CloudFront takes one only as the last character, like /images/*'",message="a star is only allowed as the last character of a path, like /images/*"
	// +kubebuilder:validation:XValidation:rule="self.all(p, p.matches('^[!-~]+$'))",messageExpression="'\"' + self.filter(p, !p.matches('^[!-~]+$'))[0] + '\" has a space or a character outside ASCII: encode it, like %20 for a space'",message="encode spaces and characters outside ASCII in paths, like %20 for a space"
	// +kubebuilder:validation:XValidation:rule="self.filter(p, p.endsWith('*')).size() <= 15",message="CloudFront takes at most 15 paths with a star at the same time: use fewer, such as /* for everything"
	// +listType=set
	// +optional
	Paths []string `json:"paths,omitempty"`

	// tags remove what the origin has tagged with one of them, in the header of the distribution's cacheTagConfig. Each has
	// up to 256 visible ASCII characters, without commas and stars. AWS does not distinguish upper and lower case.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.all(t, !t.startsWith('#'))",messageExpression="'\"' + self.filter(t, t.startsWith('#'))[0] + '\" begins with #, which the operator adds: write the tag as the origin does, without it'",message="write tags without the # at the beginning"
	// +kubebuilder:validation:XValidation:rule="self.all(t, t.matches('^[!-~]+$') && !t.contains(',') && !t.contains('*'))",messageExpression="'\"' + self.filter(t, !t.matches('^[!-~]+$') || t.contains(',') || t.contains('*'))[0] + '\" has a comma, a star, a space or a character outside ASCII, which no tag may have'",message="a tag has visible ASCII characters, without commas and stars"
	// +listType=set
	// +optional
	Tags []string `json:"tags,omitempty"`

	// ttlAfterFinished is how long the object is kept after it has finished, 1m to 720h (30 days). Default: 24h. It is
	// deleted earlier if 20 others of the namespace have finished after it.
	// +kubebuilder:default="24h"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(h|m|s|ms))+$') && duration(self) >= duration('1m') && duration(self) <= duration('720h')",messageExpression="'\"' + self + '\" is not a duration of 1m to 720h: write it like 24h'",message="use a duration of 1m to 720h, like 24h"
	// +kubebuilder:validation:Type=string
	// +optional
	TTLAfterFinished *metav1.Duration `json:"ttlAfterFinished,omitempty"`
}

// InvalidationTenantReference names a DistributionTenant of the same namespace.
type InvalidationTenantReference struct {
	// name is the name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name,omitempty"`
}

// InvalidationStatus is the observed state.
//
// +kubebuilder:validation:MinProperties=0
type InvalidationStatus struct {
	// conditions are Ready, and Stalled while manual action is needed.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=8
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that status describes. Default: -1, as long as status describes
	// none.
	// +kubebuilder:validation:Minimum=-1
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// startTime is when the tenants were chosen. The paths count for the daily limit of the namespace from then on.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// completionTime is when the last tenant was completed or had failed. If absent, the invalidation has not finished.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// expectedCompletionTime is when the last tenant will be completed at the rate that AWS documents, if AWS takes a minute
	// for each and nothing else is invalidated. It is computed when the tenants are chosen.
	// +optional
	ExpectedCompletionTime *metav1.Time `json:"expectedCompletionTime,omitempty"`

	// total is the number of tenants.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Total *int32 `json:"total,omitempty"`

	// requested is the number of tenants for which AWS has accepted an invalidation.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Requested *int32 `json:"requested,omitempty"`

	// completed is the number of tenants for which AWS has completed it.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Completed *int32 `json:"completed,omitempty"`

	// failed is the number of tenants that could not be invalidated. Their messages say why.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Failed *int32 `json:"failed,omitempty"`

	// tenants are the tenants that were chosen. They are stored before AWS is called. Of more than 100, the next ones take
	// the places of completed ones, and of failed ones after the first 20.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=name
	// +optional
	Tenants []InvalidatedTenant `json:"tenants,omitempty"`
}

// InvalidatedTenant is what has become of the invalidation for one tenant.
type InvalidatedTenant struct {
	// name is the name of the DistributionTenant.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name,omitempty"`

	// tenantId is the ID of the tenant in AWS. A tenant that was deleted and created again has another one, and is not
	// invalidated.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +required
	TenantID string `json:"tenantId,omitempty"`

	// state is Pending, InProgress, Completed or Failed.
	// +required
	State InvalidationState `json:"state,omitempty"`

	// invalidationId is the ID that AWS assigned to the invalidation.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +optional
	InvalidationID string `json:"invalidationId,omitempty"`

	// message says why the tenant could not be invalidated.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Message string `json:"message,omitempty"`
}

// InvalidationState says how far the invalidation of a tenant is.
// +kubebuilder:validation:Enum=Pending;InProgress;Completed;Failed
type InvalidationState string

const (
	// InvalidationPending is the state before AWS has accepted the invalidation.
	InvalidationPending InvalidationState = "Pending"
	// InvalidationInProgress is the state until AWS has completed it.
	InvalidationInProgress InvalidationState = "InProgress"
	// InvalidationCompleted is the state once the caches don't have the paths any more.
	InvalidationCompleted InvalidationState = "Completed"
	// InvalidationFailed is the state if AWS has refused it, or the tenant is gone.
	InvalidationFailed InvalidationState = "Failed"
)
