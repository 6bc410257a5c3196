package plan

import (
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
)

// The types of conditions, as package v1 of the API documents them.
const (
	ConditionTenantReady    = "TenantReady"
	ConditionNamespaceReady = "NamespaceReady"
	ConditionPlanApplied    = "PlanApplied"
	ConditionMeshReady      = "MeshReady"
	ConditionPolicyReady    = "PolicyReady"
	ConditionEdgeReady      = "EdgeReady"
	ConditionReady          = "Ready"
	ConditionRolledOut      = "RolledOut"
	ConditionStalled        = "Stalled"
)

// The reasons, as package v1 of the API documents them. EdgeReady takes those of the DistributionTenant as well.
const (
	ReasonReady             chain.Reason = "Ready"
	ReasonDeletionProtected chain.Reason = "DeletionProtected"
	ReasonDeletionHeld      chain.Reason = "DeletionHeld"
	ReasonProvisioned       chain.Reason = "Provisioned"
	ReasonCreating          chain.Reason = "Creating"
	ReasonNamespaceConflict chain.Reason = "NamespaceConflict"
	ReasonInvalidName       chain.Reason = "InvalidName"
	ReasonTerminating       chain.Reason = "Terminating"
	ReasonApplied           chain.Reason = "Applied"
	ReasonPlanNotFound      chain.Reason = "PlanNotFound"
	ReasonPlanInvalid       chain.Reason = "PlanInvalid"
	ReasonPartiallyApplied  chain.Reason = "PartiallyApplied"
	ReasonNotConfigured     chain.Reason = "NotConfigured"
	ReasonCRDMissing        chain.Reason = "CRDMissing"
	ReasonError             chain.Reason = "Error"
	ReasonRolledOut         chain.Reason = "RolledOut"
	ReasonRollingOut        chain.Reason = "RollingOut"
	ReasonRolloutPaused     chain.Reason = "RolloutPaused"
	ReasonRolloutStopped    chain.Reason = "RolloutStopped"
	ReasonTenantsFailed     chain.Reason = "TenantsFailed"
	ReasonInUse             chain.Reason = "InUse"
)
