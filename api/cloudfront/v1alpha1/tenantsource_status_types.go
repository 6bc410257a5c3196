package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TenantSourceStatus is what the last poll found and did.
//
// +kubebuilder:validation:MinProperties=0
type TenantSourceStatus struct {
	// conditions are Ready and Synced.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the last metadata.generation that was seen and judged: what the conditions say holds for
	// it. -1 means that the object was not looked at yet.
	// +kubebuilder:validation:Minimum=-1
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// appliedGeneration is the metadata.generation of the spec that the last poll worked with. Absent means that it is
	// observedGeneration, as in a status of an earlier version.
	// +kubebuilder:validation:Minimum=0
	// +optional
	AppliedGeneration *int64 `json:"appliedGeneration,omitempty"`

	// lastPollTime is when the last poll began, whatever came of it.
	// +optional
	LastPollTime *metav1.Time `json:"lastPollTime,omitempty"`

	// lastCompleteTime is when the last poll began that read the table completely. What follows speaks of it.
	// +optional
	LastCompleteTime *metav1.Time `json:"lastCompleteTime,omitempty"`

	// tenantsDiscovered is how many rows are tenants. Rejected rows are not counted.
	// +kubebuilder:validation:Minimum=0
	// +optional
	TenantsDiscovered *int32 `json:"tenantsDiscovered,omitempty"`

	// tenantsCreated is how many objects the last poll created.
	// +kubebuilder:validation:Minimum=0
	// +optional
	TenantsCreated *int32 `json:"tenantsCreated,omitempty"`

	// tenantsUpdated is how many objects it changed.
	// +kubebuilder:validation:Minimum=0
	// +optional
	TenantsUpdated *int32 `json:"tenantsUpdated,omitempty"`

	// tenantsDeleted is how many objects it deleted, or disabled with deletionPolicy Disable.
	// +kubebuilder:validation:Minimum=0
	// +optional
	TenantsDeleted *int32 `json:"tenantsDeleted,omitempty"`

	// pendingChanges are the first 20 changes that are planned and not made: with dryRun all of them, else deletions
	// that wait to be confirmed or approved.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=20
	// +listType=map
	// +listMapKey=tenantName
	// +optional
	PendingChanges []PendingChange `json:"pendingChanges,omitempty"`

	// pendingChangesTotal is how many they are in all. Absent means none.
	// +kubebuilder:validation:Minimum=1
	// +optional
	PendingChangesTotal int32 `json:"pendingChangesTotal,omitempty"`

	// rejectedRows are the first 20 rows that are no tenant as they stand. A tenant that such a row had before
	// stays as it is.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=20
	// +listType=atomic
	// +optional
	RejectedRows []RejectedRow `json:"rejectedRows,omitempty"`

	// rejectedRowsTotal is how many they are in all. Absent means none.
	// +kubebuilder:validation:Minimum=1
	// +optional
	RejectedRowsTotal int32 `json:"rejectedRowsTotal,omitempty"`

	// heldDeletions is the plan of deletions that needs a person's approval. Absent means that none does.
	// +optional
	HeldDeletions *HeldDeletions `json:"heldDeletions,omitempty"`

	// deletionsInWindow is how many tenants were deleted or disabled in the guard's window.
	// +kubebuilder:validation:Minimum=1
	// +optional
	DeletionsInWindow int32 `json:"deletionsInWindow,omitempty"`

	// recentDeletions are when those were, so that a restart of the operator forgets none. They are counted before
	// they are made.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	RecentDeletions []RecentDeletions `json:"recentDeletions,omitempty"`

	// clearedDeletions are the UIDs of the first 1000 tenants that the guard has let go, and that are counted, until
	// they are deleted or their rows are seen again. An operator that restarts meanwhile confirms them again, and
	// counts none twice.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=1000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=set
	// +optional
	ClearedDeletions []string `json:"clearedDeletions,omitempty"`

	// columns are the columns that are used and were seen, the first 200. One that goes missing, changes its type, or
	// loses all of many values is taken for a mistake: nothing is changed until the spec is, or the change is approved.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=200
	// +listType=map
	// +listMapKey=name
	// +optional
	Columns []SourceColumn `json:"columns,omitempty"`

	// syncToken is the last value of the annotation cloudfront-tenant-operator.io/sync-now that was handled.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +optional
	SyncToken string `json:"syncToken,omitempty"`
}

// PendingChange is a change that is planned and not made.
type PendingChange struct {
	// action is Create, Update, Delete, Disable or Enable.
	// +required
	Action ChangeAction `json:"action,omitempty"`

	// tenantName is the name of the DistributionTenant object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	TenantName string `json:"tenantName,omitempty"`

	// description says what would change, or what it waits for.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Description string `json:"description,omitempty"`
}

// ChangeAction is what is done to a tenant.
// +kubebuilder:validation:Enum=Create;Update;Delete;Disable;Enable
type ChangeAction string

// RejectedRow is a row that is no tenant as it stands.
type RejectedRow struct {
	// row is its key or name, or its number where it has neither.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Row string `json:"row,omitempty"`

	// reason names the column or field, the value, what is wrong with it, and what to do.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +required
	Reason string `json:"reason,omitempty"`
}

// HeldDeletions is a plan of deletions that nobody has approved.
type HeldDeletions struct {
	// count is how many tenants would be deleted or disabled.
	// +kubebuilder:validation:Minimum=1
	// +required
	Count int32 `json:"count,omitempty"`

	// planHash stands for exactly these tenants. The annotation cloudfront-tenant-operator.io/approve-deletions with
	// this value approves them.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +required
	PlanHash string `json:"planHash,omitempty"`

	// names are the first 20 of them.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=set
	// +optional
	Names []string `json:"names,omitempty"`
}

// RecentDeletions counts the deletions of some time.
type RecentDeletions struct {
	// time is when the last of them was.
	// +required
	Time metav1.Time `json:"time"`

	// count is how many they were.
	// +kubebuilder:validation:Minimum=1
	// +required
	Count int32 `json:"count,omitempty"`
}

// SourceColumn is a column that was seen.
type SourceColumn struct {
	// name is the name of the column, or attribute.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +required
	Name string `json:"name,omitempty"`

	// type is string, number, boolean, time, list, object, other, or mixed where rows differ or the database does
	// not tell.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16
	// +required
	Type string `json:"type,omitempty"`

	// rows is how many rows have a value in it.
	// +kubebuilder:validation:Minimum=1
	// +optional
	Rows int32 `json:"rows,omitempty"`
}
