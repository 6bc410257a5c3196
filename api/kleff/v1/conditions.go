package v1

// Condition types of a Tenant. Every condition carries the generation it speaks of.
const (
	// ConditionTenantReady is True when all others are. Its reason is Ready, or that of the first one that isn't True,
	// in the order NamespaceReady, PlanApplied, MeshReady, PolicyReady, EdgeReady.
	// Ready says the same.
	ConditionTenantReady = "TenantReady"

	// ConditionStalled is True while a person has to act, with the reason and the message of what they have to act on.
	// It is absent otherwise. A TenantPlan has it too.
	ConditionStalled = "Stalled"

	// ConditionNamespaceReady tells whether the namespace is there, with its labels.
	ConditionNamespaceReady = "NamespaceReady"

	// ConditionPlanApplied tells whether the namespace has the quota, the limits, the isolation and the owner of the plan.
	ConditionPlanApplied = "PlanApplied"

	// ConditionMeshReady tells whether the namespace has the Istio objects of the plan.
	ConditionMeshReady = "MeshReady"

	// ConditionPolicyReady tells whether the constraints of the plan are in force. A TenantPlan has it too.
	ConditionPolicyReady = "PolicyReady"

	// ConditionEdgeReady tells how far the DistributionTenant of the plan is.
	ConditionEdgeReady = "EdgeReady"
)

// Condition types of a TenantPlan.
const (
	// ConditionReady is True when every tenant has the plan as it is now, and its constraints are in force. That of a
	// Tenant says the same as TenantReady.
	ConditionReady = "Ready"

	// ConditionRolledOut tells how far a change of the plan has come.
	ConditionRolledOut = "RolledOut"
)

// Reasons of TenantReady beside those of the others.
const (
	// ReasonReady (True): the namespace has all that the plan says.
	ReasonReady = "Ready"
	// ReasonDeletionProtected (False): the object was deleted while spec.deletionProtection is true. Nothing was torn down.
	// Cure: set spec.deletionProtection to false if the customer is to go. An object that has been deleted can't be taken back: to keep the namespace set spec.deletionPolicy to Retain before that, and adopt it with a new Tenant.
	ReasonDeletionProtected = "DeletionProtected"
)

// Reasons of NamespaceReady.
const (
	// ReasonProvisioned (True): the namespace is there, and this tenant's.
	ReasonProvisioned = "Provisioned"
	// ReasonCreating (False): the namespace is about to be made.
	// Cure: wait. If it stays, the message says what the API server answers.
	ReasonCreating = "Creating"
	// ReasonNamespaceConflict (False): the namespace exists and is not this tenant's. It is not touched.
	// Cure: choose another name in a new Tenant. If the namespace is meant to become this tenant's, with all that is in it: annotate it with kleff.io/adopt-by and the name of the Tenant.
	ReasonNamespaceConflict = "NamespaceConflict"
	// ReasonInvalidName (False): a name in the spec is reserved, or no legal name of a namespace or value of a label.
	// Cure: change the field that the message names. A name of a namespace that is legal and reserved can't be changed any more: delete this object and create another.
	ReasonInvalidName = "InvalidName"
	// ReasonTerminating (False): the namespace is being deleted.
	// Cure: wait. The message says what the namespace waits for; what has a finalizer goes only when somebody takes care of it.
	ReasonTerminating = "Terminating"
)

// Reasons of PlanApplied.
const (
	// ReasonApplied (True): the namespace has what the plan says.
	ReasonApplied = "Applied"
	// ReasonPlanNotFound (False): there is no TenantPlan of that name. What a former plan gave the namespace stays.
	// Cure: create the TenantPlan, or correct spec.plan. The plan is applied when it appears.
	ReasonPlanNotFound = "PlanNotFound"
	// ReasonPlanInvalid (False): the plan says something that can't be, for all tenants or for this one. Nothing of it was applied to namespaces; constraints that can be are.
	// Cure: correct the field of the TenantPlan, or of the Tenant, that the message names.
	ReasonPlanInvalid = "PlanInvalid"
	// ReasonPartiallyApplied (False): some objects of the plan could not be made.
	// Cure: the message names the object and what the API server answers. It is tried again by itself.
	ReasonPartiallyApplied = "PartiallyApplied"
)

// Reasons of MeshReady, PolicyReady and EdgeReady beside Applied. EdgeReady repeats those of the DistributionTenant's Ready condition as well.
const (
	// ReasonNotConfigured (True): the plan asks for nothing of the sort.
	ReasonNotConfigured = "NotConfigured"
	// ReasonCRDMissing (False): the cluster lacks the kind that the message names.
	// Cure: install Istio, or Gatekeeper and the ConstraintTemplate. It is noticed by itself.
	ReasonCRDMissing = "CRDMissing"
	// ReasonError (False): an object could not be made.
	// Cure: the message names the object and what the API server answers. It is tried again by itself.
	ReasonError = "Error"
)

// Reasons of RolledOut and Ready of a TenantPlan.
const (
	// ReasonRolledOut (True): no tenant waits for a change of the plan.
	ReasonRolledOut = "RolledOut"
	// ReasonRollingOut (False): a change is on its way through the tenants.
	// Cure: wait. status.applied says how far it has come.
	ReasonRollingOut = "RollingOut"
	// ReasonRolloutStopped (False): too many tenants could not get the plan, so that no more are changed.
	// Cure: the message names the first of them and its reason. Correct the plan, or what keeps these tenants from it: it goes on by itself when they succeed.
	ReasonRolloutStopped = "RolloutStopped"
	// ReasonTenantsFailed (False): every tenant was tried, and some could not get the plan.
	// Cure: the message names the first of them and its reason. They are tried again by themselves.
	ReasonTenantsFailed = "TenantsFailed"
	// ReasonInUse (False): the plan was deleted, and tenants still name it. They keep what it gives them.
	// Cure: give these tenants another plan, or delete them. The deletion then goes on by itself.
	ReasonInUse = "InUse"
)
