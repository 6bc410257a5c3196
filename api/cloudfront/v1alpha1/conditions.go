package v1alpha1

// Condition types of DistributionTenant. Every condition carries the generation it speaks of.
const (
	// ConditionReady is True when the tenant is deployed and serves its domains as the spec asks,
	// certificate and DNS included where they were asked for. Where CertificateReady or DNSReady
	// holds it back, it takes the reason of the first of DNSReady, CertificateReady that isn't True.
	ConditionReady = "Ready"

	// ConditionSynced is True when the tenant in AWS equals the spec.
	ConditionSynced = "Synced"

	// ConditionCertificateReady tells how far a CloudFront-managed certificate has come. It exists
	// only while one is requested, and for one change after the request was removed.
	ConditionCertificateReady = "CertificateReady"

	// ConditionDNSReady tells whether the DNS records that spec.dns asks for are published.
	ConditionDNSReady = "DNSReady"
)

// Reasons of the Ready condition.
const (
	// ReasonDeployed (True): deployed at every edge location and serving.
	ReasonDeployed = "Deployed"
	// ReasonCreating (False): the tenant is about to be created, or is being deployed for the first time.
	ReasonCreating = "Creating"
	// ReasonDeploying (False): AWS is rolling out the latest change.
	ReasonDeploying = "Deploying"
	// ReasonDisabling (False): the object was deleted, and its tenant is being disabled first.
	ReasonDisabling = "Disabling"
	// ReasonDeleting (False): the object was deleted and the tenant is on its way out.
	ReasonDeleting = "Deleting"
	// ReasonDomainConflict (False): another CloudFront resource, in any account, holds a domain.
	ReasonDomainConflict = "DomainConflict"
	// ReasonAccessDenied (False): the operator's AWS identity lacks a permission.
	ReasonAccessDenied = "AccessDenied"
	// ReasonInvalidSpec (False): the spec contradicts the distribution that it names.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonAWSError (False): AWS failed in a way that more tries may cure.
	ReasonAWSError = "AWSError"
	// ReasonValidationFailed (False): AWS refuses the request as it stands; its own message is kept.
	ReasonValidationFailed = "ValidationFailed"
	// ReasonCertificateSANMismatch (False): no name of the certificate covers a domain.
	ReasonCertificateSANMismatch = "CertificateSANMismatch"
	// ReasonDomainValidationPending (False): deployed, but a domain is not active yet.
	ReasonDomainValidationPending = "DomainValidationPending"
	// ReasonMissingParameters (False): the distribution requires parameters that the spec lacks.
	ReasonMissingParameters = "MissingParameters"
	// ReasonMissingCertificate (False): neither the tenant nor its distribution has a certificate that can be used.
	ReasonMissingCertificate = "MissingCertificate"
	// ReasonQuotaExceeded (False): an AWS account quota is used up.
	ReasonQuotaExceeded = "QuotaExceeded"
	// ReasonAdoptionRequired (False): a tenant of this name exists that is not ours, and the adoption
	// policy does not let us take it.
	ReasonAdoptionRequired = "AdoptionRequired"
	// ReasonWrongAccount (False): the operator's credentials belong to another AWS account than the
	// tenant. Synced takes it too.
	ReasonWrongAccount = "WrongAccount"
	// ReasonDomainChangeHeld (False): a change of domains waits until it can be made safely.
	ReasonDomainChangeHeld = "DomainChangeHeld"
	// ReasonReferenceNotReady (False): something that the spec names is missing or not ready.
	ReasonReferenceNotReady = "ReferenceNotReady"
)

// Reasons of the Synced condition.
const (
	// ReasonInSync (True): AWS equals the spec.
	ReasonInSync = "InSync"
	// ReasonDriftDetected (False): somebody changed the tenant in AWS; status.drift lists what.
	ReasonDriftDetected = "DriftDetected"
	// ReasonDriftNotConverging (False): AWS keeps a value other than the one that was written.
	ReasonDriftNotConverging = "DriftNotConverging"
	// ReasonUpdatePending (False): a change of the spec has not reached AWS yet.
	ReasonUpdatePending = "UpdatePending"
	// ReasonPaused (False): AnnotationPaused is set; nothing is written, drift is still listed.
	ReasonPaused = "Paused"
)

// Reasons of the CertificateReady condition.
const (
	// ReasonValidated (True): the managed certificate is issued and attached.
	ReasonValidated = "Validated"
	// ReasonPendingValidation (False): AWS has not validated the domains yet.
	ReasonPendingValidation = "PendingValidation"
	// ReasonAttaching (False): issued, and on its way onto the tenant.
	ReasonAttaching = "Attaching"
	// ReasonCertificateFailed (False): the certificate failed, timed out, was revoked or expired.
	ReasonCertificateFailed = "CertificateFailed"
	// ReasonNotConfigured (False): no managed certificate is requested any more.
	ReasonNotConfigured = "NotConfigured"
)

// Reasons of the DNSReady condition.
const (
	// ReasonDNSReady (True): every record is published and in sync.
	ReasonDNSReady = "DNSReady"
	// ReasonDNSNotConfigured (True): DNS is not the operator's job for this object.
	ReasonDNSNotConfigured = "DNSNotConfigured"
	// ReasonDNSRecordCreating (False): records are about to be published.
	ReasonDNSRecordCreating = "DNSRecordCreating"
	// ReasonDNSPropagating (False): the provider has accepted the records and distributes them.
	ReasonDNSPropagating = "DNSPropagating"
	// ReasonDNSConflict (False): a record that is not ours stands in the place of one of ours.
	ReasonDNSConflict = "DNSConflict"
	// ReasonDNSError (False): the provider refuses or fails.
	ReasonDNSError = "DNSError"
	// ReasonZoneNotFound (False): there is no zone to publish in.
	ReasonZoneNotFound = "ZoneNotFound"
	// ReasonZoneAmbiguous (False): more than one zone could be meant.
	ReasonZoneAmbiguous = "ZoneAmbiguous"
	// ReasonRoleNotAllowed (False): the administrator has not granted the role that the spec names.
	ReasonRoleNotAllowed = "RoleNotAllowed"
)
