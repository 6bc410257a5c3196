package v1alpha1

// Condition types. Every CRD has Ready and Synced, and Stalled while manual action is needed. CertificateReady belongs to a
// DistributionTenant, DNSReady to it and to a ConnectionGroup with customer targets, DeletionStalled to a Distribution or a
// ConnectionGroup. Every condition has the generation that it refers to. In the tables, "the resource" is the tenant, distribution or connection group in AWS.
const (
	// ConditionReady is True when the tenant is deployed and serves its domains as specified, including certificate and
	// DNS records if the spec requests them. If DNSReady or CertificateReady is not True, Ready has the reason of the
	// first of them. A Distribution or ConnectionGroup is ready when it is deployed and tenants can use it. A
	// TenantSource is ready when its table is read and its rows are applied, an Invalidation when all its tenants are
	// invalidated.
	ConditionReady = "Ready"

	// ConditionSynced is True when the resource in AWS matches the spec. For a TenantSource, it is True when the objects
	// match the rows of the table.
	ConditionSynced = "Synced"

	// ConditionStalled is True while manual action is needed, because retrying does not help. It has the reason and the
	// message of the condition that needs attention. Otherwise it is absent. Tenant and TenantPlan have it too.
	ConditionStalled = "Stalled"

	// ConditionCertificateReady is the state of a CloudFront-managed certificate. It exists only while the spec requests
	// one, and until the next change after the request was removed.
	ConditionCertificateReady = "CertificateReady"

	// ConditionDNSReady is True when the DNS records that spec.dns, or spec.customerTargets, requests are published.
	ConditionDNSReady = "DNSReady"

	// ConditionDeletionStalled is True when the deletion of a Distribution or ConnectionGroup takes longer than
	// spec.deletionTimeout. Its message says what you can do manually. The operator keeps trying.
	ConditionDeletionStalled = "DeletionStalled"

	// ConditionRolledOut is the progress of a change of a TenantSource's spec. It exists only with spec.rollout.
	ConditionRolledOut = "RolledOut"

	// ConditionGranted is False while an object asks for more than its EdgeGrant allows and grants are only audited. Nothing
	// is held then. Otherwise it is absent.
	ConditionGranted = "Granted"

	// ConditionWatching is True while the database of a TenantSource with spec.watch reports the changes of its table. If
	// it is False, the table is read every pollInterval. Without spec.watch, it is absent.
	ConditionWatching = "Watching"

	// ConditionStateWritten is True while the state table of a TenantSource with spec.writeBack says what the status of its
	// tenants says. Without spec.writeBack, or while spec.suspend, spec.dryRun, the grant or an invalid spec keeps it from being
	// written, it is absent.
	ConditionStateWritten = "StateWritten"
)

// Reasons of the Ready condition.
const (
	// ReasonDeployed (True): deployed to every edge location and serving.
	ReasonDeployed = "Deployed"
	// ReasonCreating (False): the resource is about to be created, or is being deployed for the first time.
	// Fix: wait. CloudFront takes one to five minutes, longer if many new objects are waiting.
	ReasonCreating = "Creating"
	// ReasonDeploying (False): AWS is deploying the latest change.
	// Fix: wait, usually one to five minutes. Until then, tenants serve with either the old or the new settings.
	ReasonDeploying = "Deploying"
	// ReasonDisabling (False): the object was deleted. Its resource in AWS is being disabled first, or the change is being deployed.
	// Fix: wait. If a tenant takes longer than fifteen minutes, the message contains the error of AWS. If a distribution or connection group takes longer than spec.deletionTimeout, DeletionStalled says what you can do manually.
	ReasonDisabling = "Disabling"
	// ReasonDeleting (False): the object was deleted. Its DNS records, its resource in AWS or its certificates are being deleted.
	// Fix: wait. The object is removed when AWS confirms that the resource is deleted.
	ReasonDeleting = "Deleting"
	// ReasonInUse (False): the object was deleted, but its distribution or connection group still has tenants. It is not disabled, because that would take them offline. An EdgeGrant is in use while objects with something in AWS would have no grant without it, or objects ask for something that it refuses and the next grant would allow.
	// Fix: delete the tenants, or move them to another distribution or connection group. The message says how many there are, and which of them are objects of the same namespace. The deletion then continues automatically.
	ReasonInUse = "InUse"
	// ReasonDomainConflict (False): another CloudFront resource, in any AWS account, already uses a domain.
	// Fix: remove the domain from the resource that uses it, or move it with UpdateDomainAssociation. The message names the resource if it belongs to the same namespace, or if AWS tells of a distribution or of another account. Otherwise the log of the operator does. The operator retries automatically.
	ReasonDomainConflict = "DomainConflict"
	// ReasonAccessDenied (False): the operator's AWS identity does not have a required permission.
	// Fix: allow the operator's identity the action that the message names, see [IAM policies](iam.md).
	ReasonAccessDenied = "AccessDenied"
	// ReasonInvalidSpec (False): AWS rejected the request as invalid. The message contains the error of AWS.
	// Fix: correct the value that the message names.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonAWSError (False): AWS rejected the request for another reason, or the resource was deleted or disabled outside of Kubernetes and the drift policy does not allow a correction.
	// Fix: follow the message. If the resource was deleted or disabled outside of Kubernetes, change the spec, or set driftPolicy to enforce.
	ReasonAWSError = "AWSError"
	// ReasonAWSUnavailable (False): AWS fails or does not respond.
	// Fix: wait. The operator retries automatically and changes nothing until then.
	ReasonAWSUnavailable = "AWSUnavailable"
	// ReasonValidationFailed (False): the spec failed the operator's own check, before anything was sent to AWS: it contradicts the distribution that it references, or references one that does not exist in AWS.
	// Fix: correct the field that the message names.
	ReasonValidationFailed = "ValidationFailed"
	// ReasonCertificateSANMismatch (False): no name of the certificate covers a domain.
	// Fix: use a certificate that covers the domain, or remove the domain. The message lists the names that lead to the domain. A wildcard covers exactly one label.
	ReasonCertificateSANMismatch = "CertificateSANMismatch"
	// ReasonDomainValidationPending (False): CloudFront cannot verify a domain yet: it rejects the tenant for that reason, or the tenant is deployed and the domain is not active. If the operator publishes the domain, it retries every five minutes, more often at first. Otherwise, it asks AWS as soon as public DNS leads the domain to CloudFront, and every hour. The message of a domain whose DNS points to another distribution says so.
	// Fix: set the records that status.domains lists: point the domain to the routing endpoint of the tenant's connection group with a CNAME record, or give the tenant a certificate that covers it. status.dnsTarget has the endpoint; if it is empty, see [where to find it](../certificates.md#if-you-manage-dns-yourself).
	ReasonDomainValidationPending = "DomainValidationPending"
	// ReasonMissingParameters (False): the distribution requires parameters that the spec does not set.
	// Fix: add the parameters that the message names to spec.parameters.
	ReasonMissingParameters = "MissingParameters"
	// ReasonMissingCertificate (False): neither the tenant nor its distribution has a usable certificate.
	// Fix: set spec.customizations.certificate.arn, request a certificate with spec.managedCertificateRequest, or add one to the distribution.
	ReasonMissingCertificate = "MissingCertificate"
	// ReasonQuotaExceeded (False): a quota of the AWS account is used up.
	// Fix: raise the quota that the message names in Service Quotas, or delete resources that are no longer needed.
	ReasonQuotaExceeded = "QuotaExceeded"
	// ReasonAdoptionRequired (False): a resource with this name or ID already exists, does not belong to this object, and the adoption policy does not allow adopting it; or many tenants have lost their owner tags at the same time, and a plan waits for an approval.
	// Fix: if the message names a plan, restore the owner tags or approve it. Otherwise, to adopt it, set spec.adoptionPolicy to IfUnowned, or to Force if it belongs to another cluster. To use a different resource, delete the object, which does not affect the existing resource, and create one with another name or ID.
	ReasonAdoptionRequired = "AdoptionRequired"
	// ReasonWrongAccount (False): the operator's credentials, or the EdgeGrant of the namespace, belong to another AWS account than the resource. Synced has this reason too.
	// Fix: give the operator credentials, or the namespace a grant, for the account that the message names. Until then, the resource is not changed.
	ReasonWrongAccount = "WrongAccount"
	// ReasonDomainNotProven (False): the EdgeGrant of the namespace demands a proof of a domain, and its TXT record was not found yet. The tenant is not given the domain. Everything else is done.
	// Fix: create the TXT record that the message and status.domains name. The operator looks for it every ten minutes at least; the annotation reconcile-now makes it look at once.
	ReasonDomainNotProven = "DomainNotProven"
	// ReasonDomainChangeHeld (False): a change of domains waits until it can be made safely.
	// Fix: wait until the pending certificate request has ended. The message says what the change waits for. If the request can never succeed, delete the object and create it again.
	ReasonDomainChangeHeld = "DomainChangeHeld"
	// ReasonReferenceNotReady (False): an object that the spec references does not exist or is not ready.
	// Fix: wait until the object that the message names exists and has been created in AWS, or create it in the same namespace. The object then continues automatically. An Invalidation waits for an hour, and then fails.
	ReasonReferenceNotReady = "ReferenceNotReady"
	// ReasonDistributionDisabled (False): the distribution of the tenant is disabled, so CloudFront does not answer for the tenant's domains.
	// Fix: enable the distribution (spec.enabled of the Distribution, or in AWS), or let the tenant use another one. The tenant is then Ready again automatically, within ten minutes if the distribution is not an object of the cluster.
	ReasonDistributionDisabled = "DistributionDisabled"
	// ReasonDisabled (False): the distribution or connection group is deployed and disabled, as the spec requests, so CloudFront answers no request through it. Nothing is wrong if that is intended.
	// Fix: to have it serve requests, set spec.enabled to true.
	ReasonDisabled = "Disabled"
	// ReasonDeletionHeld (False): more objects are being deleted, or taken out of service, than the deletion budget allows. Nothing was changed in AWS. On a TenantSource: more tenants would be deleted or changed harmfully than its guard allows, or all of them.
	// Fix: see [Deletion budget](../deletion-budget.md). The message has the commands to approve the deletions and to keep the resources. For a TenantSource, check status.heldDeletions. If rows are missing or changed by mistake, restore them, and nothing is deleted or changed. If this is intended, set the annotation cloudfront-tenant-operator.io/approve-deletions to status.heldDeletions.planHash.
	ReasonDeletionHeld = "DeletionHeld"
	// ReasonNotGranted (False): the object asks for more than its namespace may have. Nothing is looked up or changed in AWS for it. If it already has a resource in AWS, that stays as it is, and only Synced has this reason.
	// Fix: change the field that the message names, or ask an administrator of the platform to extend the EdgeGrant, see [EdgeGrant](../spec/edgegrant.md).
	ReasonNotGranted = "NotGranted"
	// ReasonClaimNotStored (False): a domain stays in AWS, because the DomainClaim that holds it for the namespace after its release could not be stored.
	// Fix: give the operator the permissions on domainclaims that its chart has, or set --domain-hold and --domain-hold-customer to 0. The operator retries automatically.
	ReasonClaimNotStored = "ClaimNotStored"
)

// Reasons of the Granted condition.
const (
	// ReasonNotEnforced (False): the object asks for more than its EdgeGrant allows. Grants are only audited (--grants=Audit), so it is handled as if it were allowed.
	// Fix: change the field that the message names, or extend the EdgeGrant, before grants are enforced.
	ReasonNotEnforced = "NotEnforced"
)

// Reasons of an EdgeGrant's Ready condition. InvalidSpec is another: the field that the message names grants nothing, and the rest of the grant is in force.
const (
	// ReasonEnforced (True): objects that ask for more than the grant allows are not created or changed in AWS.
	ReasonEnforced = "Enforced"
	// ReasonAudited (True): objects that ask for more than the grant allows have the condition Granted, and nothing is held.
	ReasonAudited = "Audited"
	// ReasonGrantsOff (False): the operator runs with --grants=Off, so every namespace may use everything, except objects of other namespaces.
	// Fix: set the chart value grants.mode to Audit or Enforce.
	ReasonGrantsOff = "GrantsOff"
	// ReasonAmbiguous (False): another grant selects one of the namespaces equally, so that this namespace has none.
	// Fix: change spec.namespaces of one of the grants that the message names, so that only one selects the namespace.
	ReasonAmbiguous = "Ambiguous"
	// ReasonRoleRefused (False): AWS does not let the operator assume the role in spec.account. Objects of the grant that need it have the reason AccessDenied.
	// Fix: correct the trust policy of the role, or the operator's own policy, as the message says. The operator tries again after ten minutes at most.
	ReasonRoleRefused = "RoleRefused"
)

// Reasons of an Invalidation's Ready condition. Others are ReferenceNotReady, ValidationFailed, AccessDenied, AWSUnavailable, WrongAccount, NotGranted, Paused, ClusterMoved, ClusterIDChanged and Frozen.
const (
	// ReasonCompleted (True): AWS has removed the paths of all tenants from its caches.
	ReasonCompleted = "Completed"
	// ReasonPending (False): the invalidation is about to be requested from AWS.
	// Fix: wait. AWS accepts about one invalidation in two seconds, for all namespaces together.
	ReasonPending = "Pending"
	// ReasonInProgress (False): AWS has accepted the invalidation of all tenants and is removing the paths from its caches.
	// Fix: wait, usually one to five minutes.
	ReasonInProgress = "InProgress"
	// ReasonTooManyInvalidations (False): as many paths, or paths with a star, are being invalidated as the AWS account may have at the same time.
	// Fix: wait. The operator tries again every minute. To use fewer paths with a star at the same time, replace several by a shorter one.
	ReasonTooManyInvalidations = "TooManyInvalidations"
	// ReasonPathLimitReached (False): the objects of the namespace have requested as many paths in the last 24 hours as the operator allows (--invalidation-paths-per-day).
	// Fix: wait until the time in the message, or ask an administrator of the platform for a higher limit. A path with a star counts as one.
	ReasonPathLimitReached = "PathLimitReached"
	// ReasonInvalidationFailed (False): the invalidation has finished, and at least one tenant was not invalidated.
	// Fix: read the messages in status.tenants, and create another Invalidation for these tenants.
	ReasonInvalidationFailed = "InvalidationFailed"
)

// Reasons of a TenantSource's Ready condition. Deleting, DeletionHeld and ReferenceNotReady are others.
const (
	// ReasonPollSucceeded (True): the table was read completely, and its rows are applied.
	ReasonPollSucceeded = "PollSucceeded"
	// ReasonDryRunComplete (True): the table was read completely, and status.pendingChanges lists what would be changed.
	ReasonDryRunComplete = "DryRunComplete"
	// ReasonPollFailed (False): the table could not be read completely, or the objects could not be written. Nothing is deleted because of it.
	// Fix: wait if the message reports a failed connection or an unavailable service: the operator retries automatically. Tenants keep serving.
	ReasonPollFailed = "PollFailed"
	// ReasonSourceError (False): the database responds, but does not return what the spec asks for.
	// Fix: correct what the message names: the table, a column, the query, or the permissions of the database user. If the message contains a hash and the change of the table is intended, set the annotation cloudfront-tenant-operator.io/approve-deletions to the hash.
	ReasonSourceError = "SourceError"
	// ReasonConflict (False): rows have the names of existing objects that do not belong to this source.
	// Fix: rename the row, or delete the object that status.rejectedRows names. All other rows are applied.
	ReasonConflict = "Conflict"
	// ReasonInvalidConfig (False): the spec, or the Secret that it references, is invalid, or the Secret is not offered to the source. Nothing was read.
	// Fix: correct the field or the Secret that the message names. The message also says if the administrator must allow a role, a namespace, or reading Secrets.
	ReasonInvalidConfig = "InvalidConfig"
)

// Reasons of the Synced condition.
const (
	// ReasonInSync (True): AWS matches the spec.
	ReasonInSync = "InSync"
	// ReasonDriftDetected (False): the resource was changed in AWS. status.drift lists the differences.
	// Fix: check status.drift. To keep the change, put it into the spec. To revert it, set driftPolicy to enforce.
	ReasonDriftDetected = "DriftDetected"
	// ReasonDriftNotConverging (False): AWS keeps returning another value than the one that was written.
	// Fix: find out what else changes the value (see CloudTrail), or remove the value that AWS does not keep from the spec.
	ReasonDriftNotConverging = "DriftNotConverging"
	// ReasonUpdatePending (False): a change of the spec has not been sent to AWS yet. While AWS deploys a change that it has accepted, Synced is True and Ready has the reason Deploying.
	// For a TenantSource: objects whose rows exist are being deleted, or were changed by others during a poll.
	// Fix: wait, or check the Ready condition, which says what delays the change.
	ReasonUpdatePending = "UpdatePending"
	// ReasonPaused (False): the paused annotation is set. Nothing is written, but drift is still listed.
	// Fix: remove the annotation cloudfront-tenant-operator.io/paused. Every value of it but "false" pauses the object.
	ReasonPaused = "Paused"
	// ReasonClusterMoved (False): the operator runs in another cluster than the one in which it was installed, for example in
	// a restored copy. Nothing is changed in AWS, but everything is still read.
	// Fix: as an administrator, follow the message. In a copy of a cluster that still runs, delete the copy.
	ReasonClusterMoved = "ClusterMoved"
	// ReasonClusterIDChanged (False): the operator was started with another cluster ID than the one under which it has created
	// what it has in AWS. Nothing is changed in AWS, but everything is still read.
	// Fix: set controller.clusterID to the value that the message names. If it was changed on purpose, follow the message as an administrator.
	ReasonClusterIDChanged = "ClusterIDChanged"
	// ReasonFrozen (False): an administrator has stopped all writes to AWS. Nothing is changed, and deployed tenants keep serving.
	// Fix: wait until the administrator lets the operator go on, see [Deletion budget](../deletion-budget.md#stop-everything).
	ReasonFrozen = "Frozen"
	// ReasonDomainClaimed (False): a domain of the spec is taken or reserved outside of this namespace, or handed over to another object of it. Nothing is changed in AWS for this object. What it serves already, it keeps.
	// Fix: remove the domain that the message names from the spec, or ask the platform team for it, see [DomainClaim](../spec/domainclaim.md). The object continues automatically when the domain is free.
	ReasonDomainClaimed = "DomainClaimed"
)

// Reasons that spec.keyValues of a DistributionTenant has.
const (
	// ReasonKeyValuesPending (False): a key value store does not have a key of the tenant yet. The tenant is created, or changed for a new spec, once it has.
	// Fix: wait. A store that is being created or changed in AWS can be used once its status is READY. If AWS fails, the operator tries again.
	ReasonKeyValuesPending = "KeyValuesPending"
	// ReasonKeyValueConflict (False): a key of the tenant has another value in the key value store, or belongs to another object.
	// Fix: use another key in spec.keyValues, or delete the existing one. With spec.keyValues.takeover the value is replaced. If the key was changed or deleted outside of Kubernetes, set spec.driftPolicy to enforce, or change the spec. See [Key values](../key-values.md).
	ReasonKeyValueConflict = "KeyValueConflict"
)

// Reasons of a TenantSource's RolledOut condition.
const (
	// ReasonRolledOut (True): the tenants have what their objects say, and no change waits for its turn.
	ReasonRolledOut = "RolledOut"
	// ReasonRollingOut (False): a change of the tenants is being rolled out. Synced of a DistributionTenant has this reason, too: what its customers are served with changes in steps, and it is not the turn of this tenant yet. It keeps serving as before.
	// Fix: wait. status.rollout of the source shows the progress. The message on a DistributionTenant has the command that releases the rest at once. See [Rollouts](../rollouts.md).
	ReasonRollingOut = "RollingOut"
	// ReasonRolloutPaused (False): spec.rollout.paused is set, so the change reaches no more tenants.
	// Fix: remove spec.rollout.paused to continue.
	ReasonRolloutPaused = "RolloutPaused"
	// ReasonRolloutStopped (False): too many tenants failed with the change, so the rollout is stopped.
	// Fix: the message names the first of these tenants and its error. Correct the spec, the rows, or the cause of the error: the rollout continues automatically when these tenants are ready. To undo the change, restore the previous spec or rows. See [Rollouts](../rollouts.md).
	ReasonRolloutStopped = "RolloutStopped"
	// ReasonTenantsFailed (False): all tenants were tried, and some of them failed with the change.
	// Fix: the message names the first of these tenants and its error. Correct its cause.
	ReasonTenantsFailed = "TenantsFailed"
)

// Reasons of a TenantSource's Synced condition. Others are InSync, UpdatePending, and the reasons of Ready when the table could not be
// applied, such as DeletionHeld and PollFailed.
const (
	// ReasonRowsRejected (False): some rows are rejected. status.rejectedRows says why. All other rows are applied.
	// Fix: correct the rows that status.rejectedRows names.
	ReasonRowsRejected = "RowsRejected"
	// ReasonDeletionPending (False): rows no longer exist, and the next polls have to confirm this.
	// Fix: wait for one or more poll intervals.
	ReasonDeletionPending = "DeletionPending"
	// ReasonDryRun (False): spec.dryRun is set. status.pendingChanges lists what would be changed.
	// Fix: remove spec.dryRun to make the changes.
	ReasonDryRun = "DryRun"
	// ReasonSuspended (False): spec.suspend is set. Nothing is read and nothing is changed.
	// Fix: remove spec.suspend.
	ReasonSuspended = "Suspended"
)

// Reasons of the Watching condition.
const (
	// ReasonListening (True): the database reports changes, and the table is read within seconds.
	ReasonListening = "Listening"
	// ReasonNotListening (False): the database does not report changes, or the connection was lost. The table is read every pollInterval.
	// Fix: follow the message. The operator tries again automatically, at least every five minutes, and immediately after a change of the spec.
	ReasonNotListening = "NotListening"
)

// Reasons of the StateWritten condition.
const (
	// ReasonUpToDate (True): the state table is up to date, or will be within seconds.
	ReasonUpToDate = "UpToDate"
	// ReasonWriteFailed (False): the state table cannot be written. The message says since when changes are waiting. Nothing is lost, and the tenants are not affected.
	// Fix: follow the message. The operator tries again automatically, at least every 15 seconds, and immediately after a change of the spec.
	ReasonWriteFailed = "WriteFailed"
	// ReasonStatesRefused (False): the database rejects the rows of some tenants. The other rows are up to date.
	// Fix: follow the message. Usually a trigger or a constraint of the state table rejects them, or another session holds a lock.
	ReasonStatesRefused = "StatesRefused"
	// ReasonStatesBehind (False): the database takes rows, but some have been waiting for more than a minute.
	// Fix: wait if many tenants have changed at once. Otherwise make the database faster, or look for what else it does.
	ReasonStatesBehind = "StatesBehind"
)

// Reasons of the CertificateReady condition.
const (
	// ReasonValidated (True): the managed certificate is issued and attached.
	ReasonValidated = "Validated"
	// ReasonPendingValidation (False): AWS has not validated the domains yet.
	// Fix: point every domain to status.dnsTarget. With validationTokenHost self-hosted, serve the redirects that status.domains lists.
	ReasonPendingValidation = "PendingValidation"
	// ReasonAttaching (False): the certificate is issued and is being attached to the tenant.
	// Fix: wait, usually one to five minutes.
	ReasonAttaching = "Attaching"
	// ReasonCertificateFailed (False): the certificate request failed or timed out, or the certificate was revoked or has expired.
	// Fix: find the cause in the message or in ACM (a CAA record, a domain that points elsewhere) and fix it. The operator sends a new request after ten minutes, then with increasing delays. After a change of the spec, or of the annotation cloudfront-tenant-operator.io/reconcile-now, it sends one immediately.
	ReasonCertificateFailed = "CertificateFailed"
	// ReasonNotConfigured (False): the spec no longer requests a managed certificate.
	// Fix: nothing to do. The condition disappears with the next change.
	ReasonNotConfigured = "NotConfigured"
)

// Reasons of the DNSReady condition.
const (
	// ReasonDNSReady (True): every record is published and in sync.
	ReasonDNSReady = "DNSReady"
	// ReasonDNSNotConfigured (True): the spec requests no DNS records for this object.
	ReasonDNSNotConfigured = "DNSNotConfigured"
	// ReasonDNSRecordCreating (False): records are about to be published or restored.
	// Fix: wait. The message says what has to happen first: the zone is read, the domain becomes active, or the next batch is sent.
	ReasonDNSRecordCreating = "DNSRecordCreating"
	// ReasonDNSPropagating (False): the DNS service has accepted the records and is distributing them.
	// Fix: wait, usually less than a minute.
	ReasonDNSPropagating = "DNSPropagating"
	// ReasonDNSConflict (False): another record exists where a record should be published, or the name is delegated to other name servers.
	// Fix: remove the record that the message names, or set spec.dns.takeover to replace it. If another object publishes the name, remove the domain from one of the two. The message names the object if it is in the same namespace, otherwise the log of the operator does. If the name is delegated, set spec.dns.hostedZoneId to the delegated zone.
	ReasonDNSConflict = "DNSConflict"
	// ReasonDNSError (False): the DNS service rejects the request.
	// Fix: correct what the message names. The operator retries automatically.
	ReasonDNSError = "DNSError"
	// ReasonDNSUnavailable (False): the DNS service fails or does not respond.
	// Fix: wait. The operator retries automatically.
	ReasonDNSUnavailable = "DNSUnavailable"
	// ReasonZoneNotFound (False): there is no hosted zone for the domain.
	// Fix: create a public hosted zone for the domain, or set the correct one in spec.dns.hostedZoneId. For a zone in another account, set spec.dns.assumeRoleArn.
	ReasonZoneNotFound = "ZoneNotFound"
	// ReasonZoneAmbiguous (False): more than one hosted zone matches.
	// Fix: set spec.dns.hostedZoneId to the zone to use.
	ReasonZoneAmbiguous = "ZoneAmbiguous"
	// ReasonRoleNotAllowed (False): the role in the spec is not in --allowed-roles.
	// Fix: ask the administrator to add the role to --allowed-roles, or use another role.
	ReasonRoleNotAllowed = "RoleNotAllowed"
)

// Reasons of the DeletionStalled condition.
const (
	// ReasonDeletionTimeout (True): the deletion takes longer than spec.deletionTimeout. The operator keeps trying.
	// Fix: do what the message recommends for the current step; see [Distribution](../spec/distribution.md#deleting) and [ConnectionGroup](../spec/connectiongroup.md#deleting).
	ReasonDeletionTimeout = "DeletionTimeout"
)
