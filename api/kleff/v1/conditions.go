package v1

// Condition types of a Tenant. Every condition has the generation that it refers to.
const (
	// ConditionTenantReady is True when all other conditions are True. Its reason is Ready, or that of the first condition
	// that is not True, in the order NamespaceReady, PlanApplied, MeshReady, PolicyReady, EdgeReady. The condition Ready
	// is the same.
	ConditionTenantReady = "TenantReady"

	// ConditionStalled is True while manual action is needed, with the reason and the message of the condition that needs
	// attention. Otherwise it is absent. A TenantPlan has it too.
	ConditionStalled = "Stalled"

	// ConditionNamespaceReady is True when the namespace exists and belongs to the tenant.
	ConditionNamespaceReady = "NamespaceReady"

	// ConditionPlanApplied is True when the labels, quota, limits, network isolation and owner of the plan are applied.
	ConditionPlanApplied = "PlanApplied"

	// ConditionMeshReady is True when the Istio objects of the plan are applied.
	ConditionMeshReady = "MeshReady"

	// ConditionPolicyReady is True when the Gatekeeper constraints of the plan are applied. A TenantPlan has it too.
	ConditionPolicyReady = "PolicyReady"

	// ConditionEdgeReady is the state of the DistributionTenant of the plan.
	ConditionEdgeReady = "EdgeReady"
)

// Condition types of a TenantPlan.
const (
	// ConditionReady is True when every tenant has the current version of the plan and its constraints are applied. For a
	// Tenant, it is the same as TenantReady.
	ConditionReady = "Ready"

	// ConditionRolledOut is the progress of the rollout of a change.
	ConditionRolledOut = "RolledOut"
)

// Reasons of TenantReady in addition to those of the other conditions.
const (
	// ReasonReady (True): the namespace matches the plan.
	ReasonReady = "Ready"
	// ReasonDeletionProtected (False): the object was deleted while spec.deletionProtection is true. Nothing was deleted.
	// Fix: set spec.deletionProtection to false to continue with the deletion. A deletion cannot be undone: to keep the namespace, first set spec.deletionPolicy to Retain, and adopt the namespace with a new Tenant later.
	ReasonDeletionProtected = "DeletionProtected"
	// ReasonDeletionHeld (False): more Tenants were deleted than the deletion budget allows. Nothing was deleted.
	// Fix: see [Deletion budget](../deletion-budget.md). The message has the commands to approve the deletions and to keep the namespaces.
	ReasonDeletionHeld = "DeletionHeld"
)

// Reasons of NamespaceReady.
const (
	// ReasonProvisioned (True): the namespace exists and belongs to this tenant.
	ReasonProvisioned = "Provisioned"
	// ReasonCreating (False): the namespace is about to be created.
	// Fix: wait. If this does not change, the message contains the error of the API server.
	ReasonCreating = "Creating"
	// ReasonNamespaceConflict (False): the namespace exists and does not belong to this tenant. It is not changed.
	// Fix: use another name in a new Tenant. To let this tenant adopt the namespace with everything in it, set its annotation kleff.io/adopt-by to the name of the Tenant.
	ReasonNamespaceConflict = "NamespaceConflict"
	// ReasonInvalidName (False): the namespace is one that tenants may not have, or a name in the spec is not a valid namespace name or label value.
	// Fix: correct the field that the message names. A valid namespace name cannot be changed later: delete this object and create another one, or let tenants have the name, as the message says.
	ReasonInvalidName = "InvalidName"
	// ReasonTerminating (False): the namespace is being deleted.
	// Fix: wait. The message says what the namespace waits for. Objects with finalizers are deleted only after their finalizers are removed.
	ReasonTerminating = "Terminating"
)

// Reasons of PlanApplied.
const (
	// ReasonApplied (True): the namespace matches the plan.
	ReasonApplied = "Applied"
	// ReasonPlanNotFound (False): there is no TenantPlan with this name. The namespace keeps what it has from an earlier plan. In a namespace that was created without a plan, no pods start.
	// Fix: create the TenantPlan, or correct spec.plan. The plan is applied as soon as it exists.
	ReasonPlanNotFound = "PlanNotFound"
	// ReasonPlanInvalid (False): the plan is invalid, for all tenants or for this one. Nothing of it was applied to namespaces, but valid constraints were. If only the role of the plan cannot be bound, new tenants get everything else.
	// Fix: correct the field of the TenantPlan, or of the Tenant, that the message names.
	ReasonPlanInvalid = "PlanInvalid"
	// ReasonPartiallyApplied (False): some objects of the plan, or the labels of the namespace, could not be created or updated.
	// Fix: the message names the object and contains the error of the API server. The operator retries automatically.
	ReasonPartiallyApplied = "PartiallyApplied"
)

// Reasons of MeshReady, PolicyReady and EdgeReady in addition to Applied. EdgeReady also has the reasons of the
// DistributionTenant's Ready condition.
const (
	// ReasonNotConfigured (True): the plan does not configure this feature.
	ReasonNotConfigured = "NotConfigured"
	// ReasonCRDMissing (False): the cluster does not have the CRD that the message names.
	// Fix: install Istio, or Gatekeeper and the ConstraintTemplate. The operator detects it automatically.
	ReasonCRDMissing = "CRDMissing"
	// ReasonError (False): an object could not be created or updated.
	// Fix: the message names the object and contains the error of the API server. The operator retries automatically.
	ReasonError = "Error"
)

// Reasons of RolledOut and Ready of a TenantPlan.
const (
	// ReasonRolledOut (True): all tenants that have a usable namespace have the current version of the plan, or no tenant uses it yet.
	ReasonRolledOut = "RolledOut"
	// ReasonRollingOut (False): a change of the plan is being rolled out, or is about to be checked.
	// Fix: wait. status.applied shows the progress.
	ReasonRollingOut = "RollingOut"
	// ReasonRolloutPaused (False): spec.rollout.paused is set, so a change of the plan reaches no more tenants.
	// Fix: remove spec.rollout.paused to continue.
	ReasonRolloutPaused = "RolloutPaused"
	// ReasonRolloutStopped (False): the plan could not be applied to too many tenants, so the rollout is stopped.
	// Fix: the message names the first of these tenants and its error. Correct the plan, or the cause of the error: the rollout continues automatically when these tenants succeed.
	ReasonRolloutStopped = "RolloutStopped"
	// ReasonTenantsFailed (False): the plan was tried for all tenants, and could not be applied to some of them.
	// Fix: the message names the first of these tenants and its error. The operator retries automatically.
	ReasonTenantsFailed = "TenantsFailed"
	// ReasonInUse (False): the plan was deleted, but tenants still reference it. They keep what they have from it.
	// Fix: give these tenants another plan, or delete them. The deletion then continues automatically.
	ReasonInUse = "InUse"
)
