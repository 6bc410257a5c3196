package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TenantSourceStatus is the result of the last poll.
//
// +kubebuilder:validation:MinProperties=0
type TenantSourceStatus struct {
	// conditions are Ready and Synced, RolledOut with spec.rollout, Watching with spec.watch, and StateWritten with
	// spec.writeBack.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the metadata.generation that the conditions refer to. -1 means that the object has not been
	// processed yet.
	// +kubebuilder:validation:Minimum=-1
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// appliedGeneration is the metadata.generation that the last poll used. If absent, it is observedGeneration, as in a
	// status written by an earlier version.
	// +kubebuilder:validation:Minimum=0
	// +optional
	AppliedGeneration *int64 `json:"appliedGeneration,omitempty"`

	// lastPollTime is when the last poll started, whether it succeeded or not.
	// +optional
	LastPollTime *metav1.Time `json:"lastPollTime,omitempty"`

	// lastCompleteTime is when the last poll started that read the table completely. The following fields refer to that
	// poll.
	// +optional
	LastCompleteTime *metav1.Time `json:"lastCompleteTime,omitempty"`

	// tenantsDiscovered is the number of valid rows.
	// +kubebuilder:validation:Minimum=0
	// +optional
	TenantsDiscovered *int32 `json:"tenantsDiscovered,omitempty"`

	// tenantsCreated is the number of objects that the poll created.
	// +kubebuilder:validation:Minimum=0
	// +optional
	TenantsCreated *int32 `json:"tenantsCreated,omitempty"`

	// tenantsUpdated is the number of objects that it changed.
	// +kubebuilder:validation:Minimum=0
	// +optional
	TenantsUpdated *int32 `json:"tenantsUpdated,omitempty"`

	// tenantsDeleted is the number of objects that it deleted, or disabled with deletionPolicy Disable.
	// +kubebuilder:validation:Minimum=0
	// +optional
	TenantsDeleted *int32 `json:"tenantsDeleted,omitempty"`

	// pendingChanges are the first 20 changes that are planned but not made: with dryRun any change, otherwise deletions
	// that are waiting for confirmation or approval, and harmful changes that are waiting for approval.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=20
	// +listType=map
	// +listMapKey=tenantName
	// +optional
	PendingChanges []PendingChange `json:"pendingChanges,omitempty"`

	// pendingChangesTotal is the total number of pending changes. If absent, there are none.
	// +kubebuilder:validation:Minimum=1
	// +optional
	PendingChangesTotal int32 `json:"pendingChangesTotal,omitempty"`

	// rejectedRows are the first 20 invalid rows. If such a row already has a tenant, the tenant is not changed.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=20
	// +listType=atomic
	// +optional
	RejectedRows []RejectedRow `json:"rejectedRows,omitempty"`

	// rejectedRowsTotal is the total number of rejected rows. If absent, there are none.
	// +kubebuilder:validation:Minimum=1
	// +optional
	RejectedRowsTotal int32 `json:"rejectedRowsTotal,omitempty"`

	// heldDeletions are the deletions and the harmful changes that are waiting for approval. If absent, there are none.
	// +optional
	HeldDeletions *HeldDeletions `json:"heldDeletions,omitempty"`

	// deletionsInWindow is the number of tenants that were deleted or disabled in the window of the guard.
	// +kubebuilder:validation:Minimum=1
	// +optional
	DeletionsInWindow int32 `json:"deletionsInWindow,omitempty"`

	// changesInWindow is the number of harmful changes that were made in the window of the guard.
	// +kubebuilder:validation:Minimum=1
	// +optional
	ChangesInWindow int32 `json:"changesInWindow,omitempty"`

	// recentDeletions are the times of these deletions and changes, kept across restarts of the operator. They are
	// counted before they are carried out.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	RecentDeletions []RecentDeletions `json:"recentDeletions,omitempty"`

	// clearedDeletions are the UIDs of the first 1000 tenants whose deletion or harmful change the guard has allowed and
	// counted, until it is made or their rows no longer ask for it. A harmful change has a hash after the UID. After a
	// restart, the operator confirms these deletions again and does not count them twice.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=1000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=set
	// +optional
	ClearedDeletions []string `json:"clearedDeletions,omitempty"`

	// columns are the first 200 used columns of the table. If one of them is missing, changes its type, or loses all of
	// its many values, this is treated as a mistake: nothing is changed until the spec is changed or the change is
	// approved.
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

	// rollout is how far a change of the spec has come, with spec.rollout.
	// +optional
	Rollout *SourceRolloutStatus `json:"rollout,omitempty"`
}

// PendingChange is a change that is planned but not made.
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

// ChangeAction is a change of a tenant.
// +kubebuilder:validation:Enum=Create;Update;Delete;Disable;Enable
type ChangeAction string

// RejectedRow is an invalid row.
type RejectedRow struct {
	// row is its key or name, or its number if it has neither.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Row string `json:"row,omitempty"`

	// reason says which column or field is wrong, its value, and how to fix it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +required
	Reason string `json:"reason,omitempty"`
}

// HeldDeletions are deletions and harmful changes that are waiting for approval.
type HeldDeletions struct {
	// count is the number of tenants that would be deleted, disabled or changed harmfully.
	// +kubebuilder:validation:Minimum=1
	// +required
	Count int32 `json:"count,omitempty"`

	// changes is how many of them have a row that takes something away: it disables the tenant, removes a domain or the
	// DNS records, moves it to another distribution, connection group or zone, or no longer retains it in AWS. If absent,
	// there are none.
	// +kubebuilder:validation:Minimum=1
	// +optional
	Changes int32 `json:"changes,omitempty"`

	// planHash identifies exactly these tenants and changes. To approve all of them, set the annotation
	// cloudfront-tenant-operator.io/approve-deletions to this value.
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

// RecentDeletions counts the deletions and harmful changes in a period.
type RecentDeletions struct {
	// time is when the last of them was.
	// +required
	Time metav1.Time `json:"time"`

	// count is the number of deletions and harmful changes.
	// +kubebuilder:validation:Minimum=1
	// +required
	Count int32 `json:"count,omitempty"`

	// changes is how many of them were harmful changes. If absent, there were none.
	// +kubebuilder:validation:Minimum=1
	// +optional
	Changes int32 `json:"changes,omitempty"`
}

// SourceColumn is a column of the table.
type SourceColumn struct {
	// name is the name of the column, or attribute.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +required
	Name string `json:"name,omitempty"`

	// type is string, number, boolean, time, list, object, other, or mixed if rows differ or the database does not report
	// the type.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16
	// +required
	Type string `json:"type,omitempty"`

	// rows is the number of rows that have a value in this column.
	// +kubebuilder:validation:Minimum=1
	// +optional
	Rows int32 `json:"rows,omitempty"`
}
