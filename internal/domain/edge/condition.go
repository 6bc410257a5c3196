package edge

// ConditionType names a condition of the object.
type ConditionType string

// The conditions.
const (
	Ready            ConditionType = "Ready"
	Synced           ConditionType = "Synced"
	CertificateReady ConditionType = "CertificateReady"
	DNSReady         ConditionType = "DNSReady"
)

// Reason is the machine-readable cause of a condition.
type Reason string

// The reasons. The api package carries the same words as its contract; a test keeps
// the two equal.
const (
	ReasonDeployed                Reason = "Deployed"
	ReasonCreating                Reason = "Creating"
	ReasonDeploying               Reason = "Deploying"
	ReasonDisabling               Reason = "Disabling"
	ReasonDeleting                Reason = "Deleting"
	ReasonDomainConflict          Reason = "DomainConflict"
	ReasonAccessDenied            Reason = "AccessDenied"
	ReasonInvalidSpec             Reason = "InvalidSpec"
	ReasonAWSError                Reason = "AWSError"
	ReasonValidationFailed        Reason = "ValidationFailed"
	ReasonCertificateSANMismatch  Reason = "CertificateSANMismatch"
	ReasonDomainValidationPending Reason = "DomainValidationPending"
	ReasonMissingParameters       Reason = "MissingParameters"
	ReasonMissingCertificate      Reason = "MissingCertificate"
	ReasonQuotaExceeded           Reason = "QuotaExceeded"
	ReasonAdoptionRequired        Reason = "AdoptionRequired"
	ReasonWrongAccount            Reason = "WrongAccount"
	ReasonDomainChangeHeld        Reason = "DomainChangeHeld"
	ReasonReferenceNotReady       Reason = "ReferenceNotReady"

	ReasonInSync             Reason = "InSync"
	ReasonDriftDetected      Reason = "DriftDetected"
	ReasonDriftNotConverging Reason = "DriftNotConverging"
	ReasonUpdatePending      Reason = "UpdatePending"
	ReasonPaused             Reason = "Paused"

	ReasonValidated         Reason = "Validated"
	ReasonPendingValidation Reason = "PendingValidation"
	ReasonAttaching         Reason = "Attaching"
	ReasonCertificateFailed Reason = "CertificateFailed"
	ReasonNotConfigured     Reason = "NotConfigured"

	ReasonDNSNotConfigured  Reason = "DNSNotConfigured"
	ReasonDNSReady          Reason = "DNSReady"
	ReasonDNSRecordCreating Reason = "DNSRecordCreating"
	ReasonDNSPropagating    Reason = "DNSPropagating"
	ReasonDNSConflict       Reason = "DNSConflict"
	ReasonDNSError          Reason = "DNSError"
	ReasonZoneNotFound      Reason = "ZoneNotFound"
	ReasonZoneAmbiguous     Reason = "ZoneAmbiguous"
	ReasonRoleNotAllowed    Reason = "RoleNotAllowed"
)

// Condition is one statement about the object.
type Condition struct {
	Type    ConditionType
	Status  bool
	Reason  Reason
	Message string
	// Generation is the one that the statement speaks of.
	Generation int64
}
