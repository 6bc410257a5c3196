package v1alpha1

// Finalizer holds a deleted object until what the operator created for it in AWS is positively gone.
const Finalizer = GroupName + "/finalizer"

// Annotations. Users write Paused and ReconcileNow. The others are the operator's own memory. They are in metadata
// because they must be stored in one write with the finalizer, or on their own before a call to AWS whose answer may
// get lost.
const (
	// AnnotationPaused stops every write to AWS for an object while it is set to anything but "false". Write "true": with
	// another value Synced says so. Its reason is Paused. The tenant is still compared, and status kept up to date with
	// its drift.
	AnnotationPaused = GroupName + "/paused"

	// AnnotationReconcileNow makes the operator look at an object at once, also out of a long
	// wait, whenever its value changes. The value is any token, such as the time; status.reconcileToken
	// repeats the last one that was handled.
	AnnotationReconcileNow = GroupName + "/reconcile-now"

	// AnnotationAbandonDNS, with the value "true", lets an object be deleted although its DNS records can't: the
	// records in status.dns or status.customerTargets are left where they are and forgotten. Use it for a zone that no one
	// can reach any more. A record that is left leads to CloudFront without a tenant behind it, where a stranger may claim
	// the domain: remove it by hand.
	AnnotationAbandonDNS = GroupName + "/abandon-dns"

	// AnnotationAbandonDeletions, with a plan of the deletion budget as its value, lets a deleted object go and leaves
	// what it stands for in AWS, with its owner tags. An object of the same namespace and name that is created within 30
	// days takes it over again. It is set on the objects, or on the ConfigMap of the deletion budget for all of them.
	AnnotationAbandonDeletions = GroupName + "/abandon-deletions"

	// AnnotationCreatePending is the create mark: the RFC 3339 time at which the operator was about
	// to ask AWS for a creation. It is stored before the call, so that a creation whose answer got
	// lost is looked for and found.
	AnnotationCreatePending = GroupName + "/create-pending"

	// AnnotationAdoptedGeneration is the metadata.generation at which an existing AWS resource was adopted, behind the
	// UID of the object that adopted it. Until the spec changes after it, blocks that the spec doesn't have are
	// reported and not removed.
	AnnotationAdoptedGeneration = GroupName + "/adopted-generation"

	// AnnotationAccount is the AWS account in which something was about to be created or adopted, behind the UID of the
	// object, if it is not the operator's own account. It is stored before the call, for the same reason.
	AnnotationAccount = GroupName + "/account"
)

// AnnotationReleasedBy is on a DomainClaim that the operator has made, with the name of the object of spec.namespace that
// released the domain.
const AnnotationReleasedBy = GroupName + "/released-by"

// AnnotationMovedFrom is on a DomainClaim that kubectl cfdt move-domain has made, with the object that had the domain, as
// NAMESPACE/NAME. Such a claim is deleted at the end of the move, and no other is.
const AnnotationMovedFrom = GroupName + "/moved-from"

// Annotations of a TenantSource, both for users to write.
const (
	// AnnotationSyncNow makes the operator poll at once, whenever its value changes. The value is any
	// token, such as the time; status.syncToken repeats the last one that was handled. Such a poll does not
	// count as a confirmation that a row is gone.
	AnnotationSyncNow = GroupName + "/sync-now"

	// AnnotationApproveDeletions approves the deletions of exactly the plan whose hash
	// (status.heldDeletions.planHash) is its value. For any other plan it means nothing. On an object that the deletion
	// budget holds, or on the ConfigMap of the deletion budget, it approves the plan that the object's condition names.
	AnnotationApproveDeletions = GroupName + "/approve-deletions"
	// AnnotationReleaseRollout on the ConfigMap of the deletion budget lets the rest of a change go on at once. Its value
	// names the rollouts, as the messages of the tenants that wait do.
	AnnotationReleaseRollout = GroupName + "/release-rollout"

	// AnnotationAcceptCluster on the ConfigMap with the fingerprint of the cluster says that the cluster with the
	// fingerprint that is its value is the right one. An administrator sets it, with the command that the condition names.
	AnnotationAcceptCluster = GroupName + "/accept-cluster"
)

// Marks on the objects of a source. An object is a source's if it has all three labels; without them it is
// never changed nor deleted.
const (
	// LabelSource is the name of the TenantSource, or a hash of it where it is longer than a label may be.
	LabelSource = GroupName + "/source"
	// LabelSourceNamespace is its namespace.
	LabelSourceNamespace = GroupName + "/source-namespace"
	// LabelSourceUID is its UID. Objects of a TenantSource that is gone are taken over by one of the same
	// name and namespace, row by row.
	LabelSourceUID = GroupName + "/source-uid"

	// AnnotationSourceHash is a hash of what the source last applied, to find out that it no longer sets a field.
	AnnotationSourceHash = GroupName + "/source-hash"

	// AnnotationSourceRowKey is a hash of the column and the value that identify the row of the object, with spec.rowKey.
	AnnotationSourceRowKey = GroupName + "/source-row-key"

	// AnnotationSourceRow is the value of spec.rowKey in the row of the object, and AnnotationSourceRevision that of
	// spec.writeBack.revisionColumn. They exist only with spec.writeBack.
	AnnotationSourceRow      = GroupName + "/source-row"
	AnnotationSourceRevision = GroupName + "/source-revision"

	// AnnotationSourceGone is on an object whose row is gone, with the time from which its grace counts, until it is deleted
	// or its row is back.
	AnnotationSourceGone = GroupName + "/source-gone-since"

	// AnnotationSourceDisabled, with the value "true", is on an object whose row is gone and that was disabled for that.
	AnnotationSourceDisabled = GroupName + "/source-disabled"
)

// LabelTenantSource on a Secret offers it to the TenantSource of that name in its namespace. Without it no source reads the
// Secret, so that the right to write sources is not the right to use every connection string of the namespace.
const LabelTenantSource = GroupName + "/tenantsource"

// TenantSourceAny is the value of LabelTenantSource that offers a Secret to every TenantSource of its namespace. No source
// can have that name, which is not in lower case. A source whose name is longer than a label may be needs it.
const TenantSourceAny = "Any"

// Values of AnnotationPaused.
const (
	// PausedTrue pauses an object, and PausedFalse does not. Every other value pauses it too, and is reported.
	PausedTrue  = "true"
	PausedFalse = "false"
)

// Values of AnnotationSourceDisabled.
const (
	// SourceDisabledTrue is the only value of AnnotationSourceDisabled that has an effect.
	SourceDisabledTrue = "true"
)

// Values of AnnotationAbandonDNS.
const (
	// AbandonTrue is the only value of AnnotationAbandonDNS that has an effect.
	AbandonTrue = "true"
)
