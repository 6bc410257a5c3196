package resource

import (
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// The reasons. The api package carries the same words as its contract; a test keeps
// the two equal.
const (
	ReasonDeployed                chain.Reason = "Deployed"
	ReasonCreating                chain.Reason = "Creating"
	ReasonDeploying               chain.Reason = "Deploying"
	ReasonDisabling               chain.Reason = "Disabling"
	ReasonDisabled                chain.Reason = "Disabled"
	ReasonDeleting                chain.Reason = "Deleting"
	ReasonCertificateFailed       chain.Reason = "CertificateFailed"
	ReasonDomainConflict          chain.Reason = "DomainConflict"
	ReasonAccessDenied            chain.Reason = "AccessDenied"
	ReasonInvalidSpec             chain.Reason = "InvalidSpec"
	ReasonAWSError                chain.Reason = "AWSError"
	ReasonAWSUnavailable          chain.Reason = "AWSUnavailable"
	ReasonValidationFailed        chain.Reason = "ValidationFailed"
	ReasonDomainValidationPending chain.Reason = "DomainValidationPending"
	ReasonQuotaExceeded           chain.Reason = "QuotaExceeded"
	ReasonAdoptionRequired        chain.Reason = "AdoptionRequired"
	ReasonWrongAccount            chain.Reason = "WrongAccount"
	ReasonInSync                  chain.Reason = "InSync"
	ReasonDriftDetected           chain.Reason = "DriftDetected"
	ReasonDriftNotConverging      chain.Reason = "DriftNotConverging"
	ReasonUpdatePending           chain.Reason = "UpdatePending"
	ReasonPaused                  chain.Reason = "Paused"
	ReasonDeletionHeld            chain.Reason = "DeletionHeld"
	ReasonClusterMoved            chain.Reason = "ClusterMoved"
	ReasonClusterIDChanged        chain.Reason = "ClusterIDChanged"
)

// Alarming reports whether a reason for not being Ready needs attention.
func Alarming(r chain.Reason) bool {
	switch r {
	case ReasonCreating, ReasonDeploying, ReasonDisabling, ReasonDisabled, ReasonDeleting, ReasonDomainValidationPending, ReasonDeployed,
		ReasonUpdatePending, ReasonPaused, ReasonInSync:
		return false
	default:
		return true
	}
}

// ReasonOf is the reason that a failure of that kind has in a condition.
func ReasonOf(kind fault.Kind) chain.Reason {
	switch kind {
	case fault.Denied:
		return ReasonAccessDenied
	case fault.Quota:
		return ReasonQuotaExceeded
	case fault.Invalid:
		return ReasonInvalidSpec
	case fault.DomainUnverified:
		return ReasonDomainValidationPending
	case fault.DomainTaken:
		return ReasonDomainConflict
	case fault.Throttled, fault.Transient:
		return ReasonAWSUnavailable
	case fault.None, fault.Conflict, fault.Exists, fault.NotFound, fault.NotDisabled, fault.InUse:
		return ReasonAWSError
	}
	return ReasonAWSError
}

// IsRefusal reports whether a failed write says something about the world, so that it is decided on at once, instead of
// just being retried.
func IsRefusal(kind fault.Kind) bool {
	switch kind {
	case fault.Exists, fault.DomainTaken, fault.DomainUnverified, fault.Denied, fault.Quota,
		fault.Invalid, fault.NotDisabled, fault.InUse:
		return true
	case fault.None, fault.Throttled, fault.Transient, fault.Conflict, fault.NotFound:
		return false
	}
	return false
}
