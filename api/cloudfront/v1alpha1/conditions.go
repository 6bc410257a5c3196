package v1alpha1

// Condition types. Every kind has Ready, Synced, and Stalled while a person has to act; CertificateReady and DNSReady are those of a DistributionTenant, DeletionStalled that of a
// Distribution and a ConnectionGroup, the parents of tenants. Every condition carries the generation it speaks of.
const (
	// ConditionReady is True when the tenant is deployed and serves its domains as the spec asks,
	// certificate and DNS included where they were asked for. Where CertificateReady or DNSReady
	// holds it back, it takes the reason of the first of DNSReady, CertificateReady that isn't True.
	// A Distribution or ConnectionGroup is ready when it is deployed and tenants can use it. A TenantSource is
	// ready when its table is read and followed.
	ConditionReady = "Ready"

	// ConditionSynced is True when the tenant or parent in AWS equals the spec. That of a TenantSource is True when
	// the objects equal the table, row by row.
	ConditionSynced = "Synced"

	// ConditionStalled is True while a person has to act: to try again can't help. It has the reason and the message of
	// what they have to act on, and is absent otherwise. Tenant and TenantPlan have it, too.
	ConditionStalled = "Stalled"

	// ConditionCertificateReady tells how far a CloudFront-managed certificate has come. It exists
	// only while one is requested, and for one change after the request was removed.
	ConditionCertificateReady = "CertificateReady"

	// ConditionDNSReady tells whether the DNS records that spec.dns asks for are published.
	ConditionDNSReady = "DNSReady"

	// ConditionDeletionStalled is True when the deletion of a Distribution or ConnectionGroup takes longer than
	// spec.deletionTimeout. Its message says what can be done by hand; the operator goes on all the same.
	ConditionDeletionStalled = "DeletionStalled"
)

// Reasons of the Ready condition.
const (
	// ReasonDeployed (True): deployed at every edge location and serving.
	ReasonDeployed = "Deployed"
	// ReasonCreating (False): the tenant or parent is about to be created, or is being deployed for the first time.
	// Cure: wait. CloudFront takes one to five minutes, and a long queue of new objects takes its turn.
	ReasonCreating = "Creating"
	// ReasonDeploying (False): AWS is rolling out the latest change.
	// Cure: wait, usually one to five minutes. Tenants serve with old or new settings meanwhile.
	ReasonDeploying = "Deploying"
	// ReasonDisabling (False): the object was deleted, and its tenant or parent is being disabled first, or its disable is being deployed.
	// Cure: wait. If a tenant takes longer than fifteen minutes, the message says what AWS answers; if a parent takes longer than spec.deletionTimeout, DeletionStalled says what can be done by hand.
	ReasonDisabling = "Disabling"
	// ReasonDeleting (False): the object was deleted, and its DNS records, its tenant or parent, or its certificates are on their way out.
	// Cure: wait. The object goes when AWS says that the tenant or parent is gone.
	ReasonDeleting = "Deleting"
	// ReasonInUse (False): the object was deleted, and its distribution or connection group still has tenants. It is not disabled: they would stop serving.
	// Cure: delete the tenants, or move them to another parent. The message says how many there are, and which objects of this cluster are among them. The deletion then goes on by itself.
	ReasonInUse = "InUse"
	// ReasonDomainConflict (False): another CloudFront resource, in any account, holds a domain.
	// Cure: remove the domain where the message says that it is attached, or move it with UpdateDomainAssociation. It is tried again by itself.
	ReasonDomainConflict = "DomainConflict"
	// ReasonAccessDenied (False): the operator's AWS identity lacks a permission.
	// Cure: allow the action that the message names to the operator's identity, see [IAM policies](iam.md).
	ReasonAccessDenied = "AccessDenied"
	// ReasonInvalidSpec (False): AWS rejected the request as invalid; its own message is kept.
	// Cure: change what AWS's message names.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonAWSError (False): AWS refused in another way, or the tenant or parent was deleted or disabled outside and the drift policy leaves it so.
	// Cure: do what the message says. If the tenant or parent was deleted or disabled outside, decide: change the spec, or set driftPolicy to enforce.
	ReasonAWSError = "AWSError"
	// ReasonAWSUnavailable (False): AWS fails or does not answer.
	// Cure: wait. It is tried again automatically, and nothing is concluded from it meanwhile.
	ReasonAWSUnavailable = "AWSUnavailable"
	// ReasonValidationFailed (False): the spec failed the operator's own check, before anything was sent to AWS: it contradicts the distribution that it names, or names one that AWS does not have.
	// Cure: change the field that the message names.
	ReasonValidationFailed = "ValidationFailed"
	// ReasonCertificateSANMismatch (False): no name of the certificate covers a domain.
	// Cure: use a certificate that covers the domain, or remove the domain. The message lists the names at hand; a wildcard covers one label.
	ReasonCertificateSANMismatch = "CertificateSANMismatch"
	// ReasonDomainValidationPending (False): CloudFront can't verify a domain yet: it refuses the tenant for that, or the tenant is deployed and the domain is not active. It is tried again every five minutes, sooner at first.
	// Cure: point the domain at status.dnsTarget with a CNAME record, or give the tenant a certificate that covers it.
	ReasonDomainValidationPending = "DomainValidationPending"
	// ReasonMissingParameters (False): the distribution requires parameters that the spec lacks.
	// Cure: add the parameters that the message names to spec.parameters.
	ReasonMissingParameters = "MissingParameters"
	// ReasonMissingCertificate (False): neither the tenant nor its distribution has a certificate that can be used.
	// Cure: set spec.customizations.certificate.arn, request one with spec.managedCertificateRequest, or give the distribution one.
	ReasonMissingCertificate = "MissingCertificate"
	// ReasonQuotaExceeded (False): an AWS account quota is used up.
	// Cure: raise the quota that the message names in Service Quotas, or delete tenants or parents that nobody needs.
	ReasonQuotaExceeded = "QuotaExceeded"
	// ReasonAdoptionRequired (False): a tenant or parent of this name or ID exists that is not ours, and the
	// adoption policy does not let us take it.
	// Cure: set spec.adoptionPolicy to IfUnowned (Force for what belongs to another cluster) to take it over, or choose another spec.tenantName. For a Distribution or ConnectionGroup, which can't be renamed, delete the object, which leaves the other's resource untouched, and create another.
	ReasonAdoptionRequired = "AdoptionRequired"
	// ReasonWrongAccount (False): the operator's credentials belong to another AWS account than the
	// tenant or parent. Synced takes it too.
	// Cure: give the operator the credentials of the account that the message names; nothing happens to the tenant or parent until then.
	ReasonWrongAccount = "WrongAccount"
	// ReasonDomainChangeHeld (False): a change of domains waits until it can be made safely.
	// Cure: wait until the pending certificate request has ended; the message says what it waits for. To cut a request short that can't end well, delete the object and create it anew.
	ReasonDomainChangeHeld = "DomainChangeHeld"
	// ReasonReferenceNotReady (False): something that the spec names is missing or not ready.
	// Cure: wait until the Distribution or ConnectionGroup that the message names is there and has been created in AWS, or create that object in the tenant's namespace. The tenant goes on by itself.
	ReasonReferenceNotReady = "ReferenceNotReady"
)

// Reasons of a TenantSource's Ready condition. Deleting is one too.
const (
	// ReasonPollSucceeded (True): the table was read completely, and the objects follow it.
	ReasonPollSucceeded = "PollSucceeded"
	// ReasonDryRunComplete (True): the table was read completely, and status.pendingChanges lists what would be done.
	ReasonDryRunComplete = "DryRunComplete"
	// ReasonPollFailed (False): the table could not be read to its end, or the objects not be written. Nothing is concluded from it.
	// Cure: wait if the message tells of a failing connection or service; it is tried again by itself. Tenants keep serving meanwhile.
	ReasonPollFailed = "PollFailed"
	// ReasonSourceError (False): the database answers, and not with what the spec asks for.
	// Cure: correct what the message names: the table, a column, the query, or the rights of the database user. Where it names a hash and the change of the table is meant, set the annotation cloudfront-tenant-operator.io/approve-deletions to the hash.
	ReasonSourceError = "SourceError"
	// ReasonConflict (False): objects of the name of a row exist that are not this source's.
	// Cure: rename the row, or delete or rename the object that status.rejectedRows names. All other rows are followed.
	ReasonConflict = "Conflict"
	// ReasonInvalidConfig (False): the spec, or the Secret that it names, can't be used as it is. Nothing was read.
	// Cure: change the field that the message names, or the Secret. What the administrator has to grant (a role, a namespace, the right to read Secrets) says so.
	ReasonInvalidConfig = "InvalidConfig"
	// ReasonDeletionHeld (False): more tenants would be deleted than the guard lets go, or all of them.
	// Cure: look at status.heldDeletions. If the rows are missing by mistake, bring them back and nothing happens. If the deletions are meant, set the annotation cloudfront-tenant-operator.io/approve-deletions to status.heldDeletions.planHash.
	ReasonDeletionHeld = "DeletionHeld"
)

// Reasons of the Synced condition.
const (
	// ReasonInSync (True): AWS equals the spec.
	ReasonInSync = "InSync"
	// ReasonDriftDetected (False): somebody changed the tenant or parent in AWS; status.drift lists what.
	// Cure: read status.drift. Put the change into the spec if it is to stay, or set driftPolicy to enforce if not.
	ReasonDriftDetected = "DriftDetected"
	// ReasonDriftNotConverging (False): AWS keeps a value other than the one that was written.
	// Cure: find out who else writes to it (CloudTrail knows), or give up the value that AWS does not keep.
	ReasonDriftNotConverging = "DriftNotConverging"
	// ReasonUpdatePending (False): a change of the spec has not reached AWS yet. While one that AWS has accepted is being deployed, Synced is True and Ready says Deploying.
	// Cure: wait, or look at Ready: what holds the change up stands there.
	ReasonUpdatePending = "UpdatePending"
	// ReasonPaused (False): AnnotationPaused is set; nothing is written, drift is still listed.
	// Cure: remove the annotation cloudfront-tenant-operator.io/paused.
	ReasonPaused = "Paused"
)

// Reasons of a TenantSource's Synced condition. InSync is one too, and DeletionHeld, PollFailed and what else Ready says
// when the table could not be followed.
const (
	// ReasonRowsRejected (False): some rows are no tenants as they stand; status.rejectedRows says why. All others are followed.
	// Cure: correct the rows that status.rejectedRows names.
	ReasonRowsRejected = "RowsRejected"
	// ReasonDeletionPending (False): rows have vanished and the next polls have to confirm it.
	// Cure: wait, one or more poll intervals.
	ReasonDeletionPending = "DeletionPending"
	// ReasonDryRun (False): spec.dryRun is set; status.pendingChanges lists what would be done.
	// Cure: remove spec.dryRun to have it done.
	ReasonDryRun = "DryRun"
	// ReasonSuspended (False): spec.suspend is set; nothing is read and nothing changed.
	// Cure: remove spec.suspend.
	ReasonSuspended = "Suspended"
)

// Reasons of the CertificateReady condition.
const (
	// ReasonValidated (True): the managed certificate is issued and attached.
	ReasonValidated = "Validated"
	// ReasonPendingValidation (False): AWS has not validated the domains yet.
	// Cure: point every domain at status.dnsTarget; with the token host self-hosted, serve what status.validationTokens lists.
	ReasonPendingValidation = "PendingValidation"
	// ReasonAttaching (False): issued, and on its way onto the tenant.
	// Cure: wait, usually one to five minutes.
	ReasonAttaching = "Attaching"
	// ReasonCertificateFailed (False): the certificate failed, timed out, was revoked or expired.
	// Cure: find the cause in the message or in ACM (a CAA record, a domain that leads elsewhere) and remove it. A new request is sent by itself, after ten minutes and then ever later; at once after a change of the spec or with the annotation cloudfront-tenant-operator.io/reconcile-now.
	ReasonCertificateFailed = "CertificateFailed"
	// ReasonNotConfigured (False): no managed certificate is requested any more.
	// Cure: nothing, the condition goes with the next change.
	ReasonNotConfigured = "NotConfigured"
)

// Reasons of the DNSReady condition.
const (
	// ReasonDNSReady (True): every record is published and in sync.
	ReasonDNSReady = "DNSReady"
	// ReasonDNSNotConfigured (True): DNS is not the operator's job for this object.
	ReasonDNSNotConfigured = "DNSNotConfigured"
	// ReasonDNSRecordCreating (False): records are about to be published, or put back.
	// Cure: wait. The message says what comes first: the zone being read, the domain being active, or the turn of the next batch.
	ReasonDNSRecordCreating = "DNSRecordCreating"
	// ReasonDNSPropagating (False): the provider has accepted the records and distributes them.
	// Cure: wait, usually under a minute.
	ReasonDNSPropagating = "DNSPropagating"
	// ReasonDNSConflict (False): a record that is not ours stands in the place of one of ours, or delegates the name to other servers.
	// Cure: remove the record that the message names, or set spec.dns.takeover to replace it; where another object publishes the name, remove the domain from one of the two; where the name is delegated, name the zone of those servers in spec.dns.hostedZoneId.
	ReasonDNSConflict = "DNSConflict"
	// ReasonDNSError (False): the DNS service refuses.
	// Cure: change what the message names. It is tried again automatically.
	ReasonDNSError = "DNSError"
	// ReasonDNSUnavailable (False): the DNS service fails or does not answer.
	// Cure: wait. It is tried again automatically.
	ReasonDNSUnavailable = "DNSUnavailable"
	// ReasonZoneNotFound (False): there is no zone to publish in.
	// Cure: create a public hosted zone for the domain, or name the right one in spec.dns.hostedZoneId; for a zone in another account set spec.dns.assumeRoleArn.
	ReasonZoneNotFound = "ZoneNotFound"
	// ReasonZoneAmbiguous (False): more than one zone could be meant.
	// Cure: name the zone that is meant in spec.dns.hostedZoneId.
	ReasonZoneAmbiguous = "ZoneAmbiguous"
	// ReasonRoleNotAllowed (False): the administrator has not granted the role that the spec names.
	// Cure: ask the administrator to add the role to --allowed-roles, or name another one.
	ReasonRoleNotAllowed = "RoleNotAllowed"
)

// Reasons of the DeletionStalled condition.
const (
	// ReasonDeletionTimeout (True): the deletion takes longer than spec.deletionTimeout. It goes on.
	// Cure: do what the message says of the step that the deletion is at; see the pages of [distributions](../spec/distribution.md#deleting) and [connection groups](../spec/connectiongroup.md#deleting).
	ReasonDeletionTimeout = "DeletionTimeout"
)
