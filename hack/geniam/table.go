package main

// Feature is a part of the operator that can be used on its own, with a policy of its own.
type Feature string

// The features.
const (
	Tenants             Feature = "tenants"
	Preflight           Feature = "preflight"
	ManagedCertificates Feature = "managed-certificates"
	DNS                 Feature = "dns"
	CrossAccountDNS     Feature = "cross-account-dns"
	VPCOrigins          Feature = "vpc-origins"
	WebACLs             Feature = "web-acls"
	TenantSources       Feature = "tenant-sources"
	TableStreams        Feature = "table-streams"
	StateTables         Feature = "state-tables"
	DatabaseLogins      Feature = "database-logins"
	Distributions       Feature = "distributions"
	ConnectionGroups    Feature = "connection-groups"
	EdgeFunctions       Feature = "edge-functions"
	AccessLogs          Feature = "access-logs"
	Invalidations       Feature = "invalidations"
	KeyValues           Feature = "key-values"
	// Standard is made of the usual features.
	Standard Feature = "standard"
	// ReadOnly is made of the reads of the others.
	ReadOnly Feature = "read-only"
)

// standard are the usual features: those that need nothing but tenants, their distributions and their zones.
var standard = []Feature{Tenants, Preflight, ManagedCertificates, DNS, Distributions, ConnectionGroups, Invalidations}

// features says what each policy is for, in the order of the page.
var features = []struct {
	Feature    Feature
	Title, For string
}{
	{Standard, "Standard", "The usual features in one policy: [tenants](#tenants), [preflight](#preflight), [managed certificates](#managed-certificates), [DNS](#dns), " +
		"[distributions](#distributions), [connection groups](#connection-groups) and [invalidations](#invalidations)."},
	{Tenants, "Tenants", "Always required: creating, following, updating, adopting and deleting distribution tenants."},
	{Preflight, "Preflight", "Recommended. The operator also works without these permissions, but with less specific messages: with them, it checks a spec before it calls AWS, " +
		"and finds the cause of a rejected request."},
	{ManagedCertificates, "Managed certificates", "Required if objects have a `managedCertificateRequest`."},
	{DNS, "DNS", "Required if objects have `spec.dns`: for the operator's own identity if the zones are in its account, and for the role in " +
		"`spec.dns.assumeRoleArn` if they are in another account."},
	{CrossAccountDNS, "Cross-account DNS", "Required if objects have `spec.dns.assumeRoleArn`, a TenantSource has `assumeRoleArn`, or an EdgeGrant has `spec.account.roleArn`. The resource is an example: replace it with the roles in the operator's " +
		"`--allowed-roles` and those of grants."},
	{Distributions, "Distributions", "Required only for `Distribution` objects. Without this policy, the operator cannot create, change or delete a distribution. " +
		"AWS documents no permission for the certificate of a distribution. Updates and deletions can be restricted to resources that the operator owns with the condition key " +
		"`aws:ResourceTag/cloudfront-tenant-operator.io/cluster`, whose value is the cluster ID."},
	{ConnectionGroups, "Connection groups", "Required only for `ConnectionGroup` objects."},
	{Invalidations, "Invalidations", "Required only for `Invalidation` objects."},
	{KeyValues, "Key values", "Required if tenants have `spec.keyValues`. The resource stands for all key value stores: replace it with yours, " +
		"or every tenant that its grant allows to can write into any."},
	{VPCOrigins, "VPC origins", "Required if the multi-tenant distribution of tenants, or a `Distribution`, has VPC origins."},
	{WebACLs, "Web ACLs", "Required if tenants have `customizations.webAcl`, or a `Distribution` has `webACLId`."},
	{EdgeFunctions, "Edge functions", "Required if a `Distribution` has `lambdaFunctionAssociations`: CloudFront uses the permissions of the caller that associates a Lambda@Edge function. " +
		"CloudFront functions need no permissions. The resources are examples: replace them with your functions."},
	{AccessLogs, "Access logs", "Required if a `Distribution` has `logging`: CloudFront uses the permissions of the caller to grant itself access to the bucket. The resource is an example: replace it with your buckets."},
	{TenantSources, "Tenant sources", "Required if a `TenantSource` reads DynamoDB: for the operator's own identity, or for the role in `spec.dynamodb.assumeRoleArn`. " +
		"The resource is an example: replace it with your tables. A table that is encrypted with a customer managed key also needs `kms:Decrypt` on that key."},
	{TableStreams, "Table streams", "Required if a `TenantSource` that reads DynamoDB has `spec.watch`, in addition to [tenant sources](#tenant-sources) and for the same identity. " +
		"The resources are examples: replace them with your tables. A table that is encrypted with a customer managed key also needs `kms:Decrypt` on that key."},
	{StateTables, "State tables", "Required if a `TenantSource` that reads DynamoDB has `spec.writeBack`: for the operator's own identity, or for the role in `spec.writeBack.assumeRoleArn`, " +
		"by default the one in `spec.dynamodb.assumeRoleArn`. The resource is an example: replace it with your state tables, and never allow these actions on the table of customers. " +
		"A table that is encrypted with a customer managed key also needs `kms:Decrypt` on that key."},
	{DatabaseLogins, "Database logins", "Required if a `TenantSource` has an `iam` block, in `spec.postgres`, `spec.mysql`, `spec.redis` or `spec.writeBack`: for the operator's own identity, or for the role in its " +
		"`assumeRoleArn`. The resources are examples: replace them with your database users and caches. A policy for all of them would let the operator log in as any user."},
	{ReadOnly, "Read-only", "**Instead of the others**, for an operator that runs with `--drift-policy report` and must not be able to change anything: " +
		"it reports drift of the tenants that it owns. Every write is rejected with `AccessDenied`."},
}

// The resources that policies name. CloudFront is global: its ARNs have no region.
const (
	anything      = "*"
	tenants       = "arn:aws:cloudfront::*:distribution-tenant/*"
	distributions = "arn:aws:cloudfront::*:distribution/*"
	vpcOrigins    = "arn:aws:cloudfront::*:vpcorigin/*"
	groups        = "arn:aws:cloudfront::*:connection-group/*"
	anycastLists  = "arn:aws:cloudfront::*:anycast-ip-list/*"
	stores        = "arn:aws:cloudfront::*:key-value-store/*"
	// The ARNs of Route 53 have neither a region nor an account.
	zones   = "arn:aws:route53:::hostedzone/*"
	changes = "arn:aws:route53:::change/*"
	// A policy for any role would leave everything to the trust policies of others.
	roles = "arn:aws:iam::*:role/tenant-dns-*"
	// CloudFront takes certificates and web ACLs from us-east-1 only.
	certificates = "arn:aws:acm:us-east-1:*:certificate/*"
	webACLs      = "arn:aws:wafv2:us-east-1:*:global/webacl/*/*"
	// The service-linked role with which Lambda replicates a function to the edge.
	replicator = "arn:aws:iam::*:role/aws-service-role/replicator.lambda.amazonaws.com/*"
	// The one with which CloudFront writes the logs of a function.
	logger = "arn:aws:iam::*:role/aws-service-role/logger.cloudfront.amazonaws.com/*"
	// Policies for all functions and all buckets would let anyone who writes a Distribution look into any.
	functions = "arn:aws:lambda:us-east-1:*:function:edge-*"
	buckets   = "arn:aws:s3:::my-access-logs"
	// A policy for all tables would let anyone who writes a TenantSource look into any.
	tables       = "arn:aws:dynamodb:*:*:table/customers"
	tableStreams = "arn:aws:dynamodb:*:*:table/customers/stream/*"
	stateTables  = "arn:aws:dynamodb:*:*:table/edge_state"
	// A database user of RDS and Aurora is one of a server, whose resource ID is like db-ABC or cluster-ABC.
	databaseUsers = "arn:aws:rds-db:*:*:dbuser:cluster-EXAMPLE/tenant_source"
	caches        = "arn:aws:elasticache:*:*:replicationgroup:customers"
	cacheUsers    = "arn:aws:elasticache:*:*:user:tenant-source"
)

// sids name statements by their resource.
var sids = map[string]string{
	anything: "NoResource", tenants: "DistributionTenants", distributions: "Distributions",
	groups: "ConnectionGroups", stores: "KeyValueStores", anycastLists: "AnycastLists", zones: "HostedZones", changes: "Changes", roles: "Roles",
	vpcOrigins: "VPCOrigins", certificates: "Certificates", webACLs: "WebACLs", tables: "Tables", tableStreams: "TableStreams",
	stateTables: "StateTables", databaseUsers: "DatabaseUsers", caches: "Caches", cacheUsers: "CacheUsers", replicator: "Replicator", logger: "Logger", functions: "Functions", buckets: "Buckets",
}

// free are the calls that AWS answers for every caller, so that no policy has to allow them.
var free = map[Call]bool{"sts:GetCallerIdentity": true}

// Permission is an IAM action that a feature needs.
type Permission struct {
	Action string
	// Call is the call that the code makes, where the action has another name.
	Call     Call
	Feature  Feature
	Resource string
	// Read is true when the action changes nothing.
	Read bool
	// Implied is true for what AWS asks for behind a call of another name.
	Implied bool
	// For says what it is used for, Without what does not work without it.
	For, Without string
}

// The actions that AWS itself documents with a star.
const (
	replication    = "lambda:EnableReplication*"
	replicationEnd = "lambda:DisableReplication*"
)

// noStream is what a source does that can't follow the stream of its table.
const noStream = "The source reports that it does not watch the table. Its polls find the changes."

// noLogin is what a source does whose token is refused.
const noLogin = "The source reports `SourceError`, and for a state table `StateWritten` is False. Its tenants are not changed."

// noState is what a source does that can't write its state table.
const noState = "The condition `StateWritten` is False. State waits until the permission is there, and the tenants are not affected."

// permissions are those of every call, and those that AWS requires in addition.
var permissions = []Permission{
	{
		Action: "cloudfront:CreateDistributionTenant", Feature: Tenants, Resource: anything,
		For:     "Creating a resource. CloudFront supports no resource-level permissions for it.",
		Without: "New objects report `AccessDenied`. Existing tenants are not affected.",
	},
	{
		Action: "cloudfront:GetDistributionTenant", Feature: Tenants, Resource: tenants, Read: true,
		For:     "Reading a tenant whose list entry has changed, and one whose deletion AWS has not confirmed.",
		Without: "New tenants still become Ready, and tenants are deleted with their objects. A changed tenant can't be compared (`AccessDenied`).",
	},
	{
		Action: "cloudfront:ListDistributionTenants", Feature: Tenants, Resource: anything, Read: true,
		For:     "Listing all tenants to find changes: one call per 100 tenants.",
		Without: "Changes of the spec still work. Changes made in AWS are not detected, and the log reports it at every interval.",
	},
	{
		Action: "cloudfront:UpdateDistributionTenant", Feature: Tenants, Resource: tenants,
		For:     "Changing a tenant, correcting drift, and disabling before a deletion.",
		Without: "A changed spec is not applied (`AccessDenied`). A deleted object waits, and its tenant keeps serving.",
	},
	{
		Action: "cloudfront:UpdateDomainAssociation", Feature: Tenants, Resource: tenants,
		For:     "Handing a domain over to another tenant, from a tenant or a standard distribution.",
		Without: "A domain that a DomainClaim hands over stays where it is, and the object that is to get it reports `AccessDenied`.",
	},
	{
		Action: "cloudfront:UpdateDomainAssociation", Feature: Tenants, Resource: distributions,
		For:     "Taking a domain from a standard distribution that a DomainClaim names.",
		Without: "The domain stays on the distribution, which serves it, and the tenant that is to get it reports `AccessDenied`.",
	},
	{
		Action: "cloudfront:DeleteDistributionTenant", Feature: Tenants, Resource: tenants,
		For:     "Deleting a tenant that was disabled.",
		Without: "A deleted object waits with `AccessDenied`. Its tenant is disabled but not deleted.",
	},
	{
		Action: "cloudfront:ListTagsForResource", Feature: Tenants, Resource: tenants, Read: true,
		For:     "Checking the owner tags of a tenant before each change.",
		Without: "Creating works. Updates, adoption and deletion, which check ownership first, report `AccessDenied`.",
	},
	{
		Action: "cloudfront:TagResource", Feature: Tenants, Resource: tenants,
		For:     "Setting owner tags and your tags. Creating also requires it, because the tags are part of the create call.",
		Without: "No tenant can be created or adopted: `AccessDenied`.",
	},
	{
		Action: "cloudfront:UntagResource", Feature: Tenants, Resource: tenants,
		For:     "Removing tags that are no longer in the spec, and the owner tags with `deletionPolicy: Retain`.",
		Without: "An object with a removed tag reports `AccessDenied`. An object with `deletionPolicy: Retain` can't be deleted.",
	},
	{
		Action: "cloudfront:GetDistribution", Feature: Preflight, Resource: distributions, Read: true,
		For:     "Checking parameters, the connection mode and the certificate before a create or an update.",
		Without: "Mistakes are only found by AWS: the condition has the AWS error instead of the name of the field.",
	},
	{
		Action: "acm:DescribeCertificate", Feature: Preflight, Resource: certificates, Read: true,
		For:     "Checking that a certificate is issued and covers every domain, and when a distribution's expires.",
		Without: "Mistakes are only found by AWS: the condition has the AWS error instead of the names that the certificate covers. `status.certificate` is missing where the certificate is the distribution's, and neither a metric nor an alert shows when that expires.",
	},
	{
		Action: "cloudfront:ListConnectionGroups", Feature: Preflight, Resource: anything, Read: true,
		For:     "Finding the endpoint that DNS must point to.",
		Without: "`status.dnsTarget` stays empty.",
	},
	{
		Action: "cloudfront:GetDistributionTenantByDomain", Feature: Preflight, Resource: tenants, Read: true,
		For:     "Finding the tenant that already uses a domain.",
		Without: "`DomainConflict` can't always name the other tenant. A domain that a DomainClaim hands over stays where it is.",
	},
	{
		Action: "cloudfront:VerifyDnsConfiguration", Feature: Preflight, Resource: tenants, Read: true,
		For:     "Asking AWS where the DNS of a domain leads that is not served.",
		Without: "The message about such a domain does not contain AWS's own explanation.",
	},
	{
		Action: "cloudfront:ListDomainConflicts", Feature: Preflight, Resource: anything, Read: true,
		For:     "Finding the resource that already uses a domain, in any account, if a certificate covers the domain. It is [not clear](../contributing/aws-behaviour.md#permissions) whether AWS accepts ARNs here.",
		Without: "`DomainConflict` does not name a distribution, or a resource of another account.",
	},
	{
		Action: "cloudfront:GetConnectionGroup", Feature: Preflight, Resource: groups, Read: true,
		For:     "Checking whether a routing endpoint has IPv6 addresses, for alias records, and which Anycast static IP list it has.",
		Without: "Alias records of type AAAA are not published; those of type A are. Customers are not told the addresses of the list.",
	},
	{
		Action: "cloudfront:GetAnycastIpList", Feature: Preflight, Resource: anycastLists, Read: true,
		For:     "Reading the addresses of the Anycast static IP list of a connection group, for domains at the apex of a zone.",
		Without: "`status.domains` recommends an ALIAS record for such a domain, not the addresses.",
	},
	{
		Action: "acm:ListCertificates", Feature: Preflight, Resource: anything, Read: true,
		For:     "Checking when the certificates of tenants expire: one call per 1,000 certificates. ACM supports no resource-level permissions for it.",
		Without: "No metric and no log line reports a certificate that was not renewed, and `status.certificate` does not follow renewals.",
	},
	{
		Action: "servicequotas:ListServiceQuotas", Feature: Preflight, Resource: anything, Read: true,
		For:     "Reading the account's limits for metrics, once a day: one call each for CloudFront and ACM.",
		Without: "`cloudfront_tenant_operator_quota_limit` shows the documented defaults, also where yours were raised.",
	},
	{
		Action: "servicequotas:ListAWSDefaultServiceQuotas", Feature: Preflight, Resource: anything, Read: true,
		For:     "Reading AWS's default of a limit that has no value of the account, once a day.",
		Without: "`cloudfront_tenant_operator_quota_limit` shows the documented default of such a limit.",
	},
	{
		Action: "cloudfront-keyvaluestore:DescribeKeyValueStore", Call: "cloudfrontkeyvaluestore:DescribeKeyValueStore", Feature: KeyValues, Resource: stores, Read: true,
		For:     "Reading the version of a key value store: before a write, and every five minutes to find out whether others have changed it.",
		Without: "Objects with `spec.keyValues` report `AccessDenied`, and a tenant that does not exist is not created.",
	},
	{
		Action: "cloudfront-keyvaluestore:ListKeys", Call: "cloudfrontkeyvaluestore:ListKeys", Feature: KeyValues, Resource: stores, Read: true,
		For:     "Reading the keys of a store whose version has changed, 50 in a call.",
		Without: "As without `cloudfront-keyvaluestore:DescribeKeyValueStore`.",
	},
	{
		Action: "cloudfront-keyvaluestore:UpdateKeys", Call: "cloudfrontkeyvaluestore:UpdateKeys", Feature: KeyValues, Resource: stores,
		For:     "Writing and deleting keys, up to 50 in a call.",
		Without: "Objects with `spec.keyValues` report `AccessDenied`. A new tenant is not created, and a deleted one keeps its object until its keys are deleted.",
	},
	{
		Action: "cloudfront:GetManagedCertificateDetails", Feature: ManagedCertificates, Resource: tenants, Read: true,
		For:     "Following a managed certificate until it is issued.",
		Without: "Objects with a `managedCertificateRequest` report `AccessDenied` once they are deployed.",
	},
	{
		Action: "acm:RequestCertificate", Feature: ManagedCertificates, Resource: anything, Implied: true,
		For:     "CloudFront requests the certificate with the permissions of the caller that creates the tenant. ACM supports no resource-level permissions for it.",
		Without: "Creates and updates with a request report `AccessDenied`, or the tenant has no certificate and the object reports `CertificateFailed`. The operator retries until it works.",
	},
	{
		Action: "acm:AddTagsToCertificate", Feature: ManagedCertificates, Resource: anything, Implied: true,
		For: "CloudFront tags the requested certificate with the permissions of the caller that creates the tenant. AWS does not document this, but some accounts reject the request without it. " +
			"A certificate that is being requested has no ARN yet.",
		Without: "As without `acm:RequestCertificate`.",
	},
	{
		Action: "acm:DescribeCertificate", Feature: ManagedCertificates, Resource: certificates, Read: true,
		For:     "Checking that a certificate of a deleted tenant is managed by CloudFront and not in use, before it is deleted.",
		Without: "A deleted object waits with `AccessDenied`. Its tenant is deleted, but its certificate is not.",
	},
	{
		Action: "acm:DeleteCertificate", Feature: ManagedCertificates, Resource: certificates,
		For:     "Deleting the managed certificates of a deleted tenant, unless `deleteOnTenantDeletion` is false.",
		Without: "A deleted object waits with `AccessDenied`. Its tenant is deleted, but its certificate is not.",
	},
	{
		Action: "route53:ListHostedZones", Feature: DNS, Resource: anything, Read: true,
		For:     "Finding the zone of a domain if `spec.dns` has no `hostedZoneId`. Route 53 supports no resource-level permissions for it.",
		Without: "Objects whose `spec.dns` has no `hostedZoneId` report `DNSError`.",
	},
	{
		Action: "route53:GetHostedZone", Feature: DNS, Resource: zones, Read: true,
		For:     "Reading the name of the zone in `hostedZoneId`.",
		Without: "Objects whose `spec.dns` has a `hostedZoneId` report `DNSError`, unless the list of zones contains it.",
	},
	{
		Action: "route53:ListResourceRecordSets", Feature: DNS, Resource: zones, Read: true,
		For:     "Reading the records of a zone, to find conflicts and drift, and to delete records with their exact values.",
		Without: "Nothing is published: objects report `DNSError`.",
	},
	{
		Action: "route53:ChangeResourceRecordSets", Feature: DNS, Resource: zones,
		For:     "Publishing and deleting records in batches.",
		Without: "Nothing is published: objects report `DNSError`. A deleted object waits, and its tenant keeps serving.",
	},
	{
		Action: "route53:GetChange", Feature: DNS, Resource: changes, Read: true,
		For:     "Checking that every Route 53 server has a change, before the operator relies on it.",
		Without: "Records are published, but it is unknown whether they are in sync: objects report `DNSError`.",
	},
	{
		Action: "sts:AssumeRole", Feature: CrossAccountDNS, Resource: roles, Implied: true,
		For:     "Assuming the role in `spec.dns.assumeRoleArn`, or the role of an EdgeGrant.",
		Without: "Objects with a `spec.dns.assumeRoleArn` report `DNSError`, with the external ID that the role must trust. Objects in the account of a grant report `AccessDenied`.",
	},
	{
		Action: "sts:TagSession", Feature: CrossAccountDNS, Resource: roles, Implied: true,
		For:     "Passing session tags to the role: credentials from EKS Pod Identity have tags that AWS passes on to every assumed role.",
		Without: "With EKS Pod Identity: as without `sts:AssumeRole`, unless the association has `disableSessionTags`. Other credentials have no tags and don't need it.",
	},
	{
		Action: "cloudfront:GetVpcOrigin", Feature: VPCOrigins, Resource: vpcOrigins, Read: true, Implied: true,
		For:     "Required for creates and updates of tenants of such a distribution.",
		Without: "Creates and updates report `AccessDenied`.",
	},
	{
		Action: "cloudfront:CreateDistribution", Call: "cloudfront:CreateDistributionWithTags", Feature: Distributions, Resource: anything,
		For:     "Creating a distribution, with all tags in the same call. CloudFront supports no resource-level permissions for it.",
		Without: "New objects report `AccessDenied`. Existing distributions are not affected.",
	},
	{
		Action: "cloudfront:CreateConnectionGroup", Feature: Distributions, Resource: anything, Implied: true,
		For:     "AWS documents it as required to create a distribution with tags.",
		Without: "A create may report `AccessDenied`.",
	},
	{
		Action: "cloudfront:GetDistribution", Feature: Distributions, Resource: distributions, Read: true,
		For:     "Reading a distribution before each change, following its deployment, and checking that it is deleted.",
		Without: "Objects report `AccessDenied`. A deleted object waits, and its distribution is not changed.",
	},
	{
		Action: "cloudfront:ListDistributionsByConnectionMode", Feature: Distributions, Resource: anything, Read: true,
		For:     "Finding the created distribution if the response of a create call was lost. CloudFront supports no resource-level permissions for it.",
		Without: "After a lost response, the object reports `AccessDenied`, and can't be deleted either.",
	},
	{
		Action: "cloudfront:UpdateDistribution", Feature: Distributions, Resource: distributions,
		For:     "Changing a distribution, correcting drift, and disabling before a deletion.",
		Without: "A changed spec is not applied (`AccessDenied`). A deleted object waits with its distribution enabled, until you disable it manually.",
	},
	{
		Action: "cloudfront:DeleteDistribution", Feature: Distributions, Resource: distributions,
		For:     "Deleting a distribution that is disabled at every edge location.",
		Without: "A deleted object waits with `AccessDenied`. Its distribution is disabled but not deleted.",
	},
	{
		Action: "cloudfront:ListTagsForResource", Feature: Distributions, Resource: distributions, Read: true,
		For:     "Checking the owner tags of a distribution before each change.",
		Without: "Creating works. Adoption, updates and deletion report `AccessDenied`.",
	},
	{
		Action: "cloudfront:TagResource", Feature: Distributions, Resource: distributions,
		For:     "Setting owner tags and your tags. Creating also requires it, because the tags are part of the create call.",
		Without: "No distribution can be created or adopted: `AccessDenied`.",
	},
	{
		Action: "cloudfront:UntagResource", Feature: Distributions, Resource: distributions,
		For:     "Removing tags that are no longer in the spec, and the owner tags with `deletionPolicy: Retain`.",
		Without: "An object with a removed tag reports `AccessDenied`. An object with `deletionPolicy: Retain` can't be deleted.",
	},
	{
		Action: "cloudfront:ListDistributionTenants", Feature: Distributions, Resource: anything, Read: true,
		For:     "Checking that a distribution has no tenants before it is disabled.",
		Without: "A deleted object waits with `AccessDenied`. Its distribution is not changed.",
	},
	{
		Action: "cloudfront:CreateConnectionGroup", Feature: ConnectionGroups, Resource: anything,
		For:     "Creating a resource. CloudFront supports no resource-level permissions for it.",
		Without: "New objects report `AccessDenied`. Existing groups are not affected.",
	},
	{
		Action: "cloudfront:GetConnectionGroup", Feature: ConnectionGroups, Resource: groups, Read: true,
		For:     "Reading a group before each change, following its deployment, and checking that it is deleted.",
		Without: "Objects report `AccessDenied`. A deleted object waits, and its group is not changed.",
	},
	{
		Action: "cloudfront:UpdateConnectionGroup", Feature: ConnectionGroups, Resource: groups,
		For:     "Changing a group, correcting drift, and disabling before a deletion.",
		Without: "A changed spec is not applied (`AccessDenied`). A deleted object waits with its group enabled, until you disable it manually.",
	},
	{
		Action: "cloudfront:DeleteConnectionGroup", Feature: ConnectionGroups, Resource: groups,
		For:     "Deleting a group that is disabled at every edge location.",
		Without: "A deleted object waits with `AccessDenied`. Its group is disabled but not deleted.",
	},
	{
		Action: "cloudfront:ListTagsForResource", Feature: ConnectionGroups, Resource: groups, Read: true,
		For:     "Checking the owner tags of a group before each change.",
		Without: "Creating works. Adoption, updates and deletion report `AccessDenied`.",
	},
	{
		Action: "cloudfront:TagResource", Feature: ConnectionGroups, Resource: groups,
		For:     "Setting owner tags and your tags. Creating also requires it, because the tags are part of the create call.",
		Without: "No group can be created or adopted: `AccessDenied`.",
	},
	{
		Action: "cloudfront:UntagResource", Feature: ConnectionGroups, Resource: groups,
		For:     "Removing tags that are no longer in the spec, and the owner tags with `deletionPolicy: Retain` or of the default group.",
		Without: "An object with a removed tag reports `AccessDenied`. An object with `deletionPolicy: Retain` can't be deleted.",
	},
	{
		Action: "cloudfront:ListDistributionTenants", Feature: ConnectionGroups, Resource: anything, Read: true,
		For:     "Checking that a group has no tenants before it is disabled.",
		Without: "A deleted object waits with `AccessDenied`. Its group is not changed.",
	},
	{
		Action: "cloudfront:CreateInvalidationForDistributionTenant", Feature: Invalidations, Resource: anything,
		For:     "Requesting an invalidation of a tenant. It is [not clear](../contributing/aws-behaviour.md#permissions) whether AWS accepts the ARNs of tenants here.",
		Without: "An `Invalidation` reports `AccessDenied`, and nothing is invalidated.",
	},
	{
		Action: "cloudfront:GetInvalidationForDistributionTenant", Feature: Invalidations, Resource: anything, Read: true,
		For:     "Following an invalidation until AWS has completed it.",
		Without: "The paths are invalidated, but the `Invalidation` reports `AccessDenied` and never completes.",
	},
	{
		Action: "cloudfront:ListTagsForResource", Feature: Invalidations, Resource: tenants, Read: true,
		For:     "Checking the owner tags of a tenant before an invalidation is requested.",
		Without: "An `Invalidation` reports `AccessDenied`, and nothing is invalidated.",
	},
	{
		Action: "lambda:GetFunction", Feature: EdgeFunctions, Resource: functions, Read: true, Implied: true,
		For:     "CloudFront reads the function in a create or update.",
		Without: "Creates and updates with a new function report `AccessDenied`.",
	},
	{
		Action: replication, Feature: EdgeFunctions, Resource: functions, Implied: true,
		For:     "Lambda allows its replication to read the function. The action must be written with a star at the end.",
		Without: "Creates and updates with a new function report `AccessDenied`.",
	},
	{
		Action: replicationEnd, Feature: EdgeFunctions, Resource: functions, Implied: true,
		For:     "Lambda ends the replication of a function that is no longer associated.",
		Without: "Updates that remove or replace a function, and deletions of the distribution, report `AccessDenied`.",
	},
	{
		Action: "iam:CreateServiceLinkedRole", Feature: EdgeFunctions, Resource: replicator, Implied: true,
		For:     "The first associated function of an account creates the service-linked role for the replication.",
		Without: "The first create or update with a function reports `AccessDenied`. Not needed once the role exists.",
	},
	{
		Action: "iam:CreateServiceLinkedRole", Feature: EdgeFunctions, Resource: logger, Implied: true,
		For:     "The first associated function of an account creates the service-linked role for the logs of functions.",
		Without: "The first create or update with a function may report `AccessDenied`. Not needed once the role exists.",
	},
	{
		Action: "s3:GetBucketAcl", Feature: AccessLogs, Resource: buckets, Read: true, Implied: true,
		For:     "CloudFront reads the ACL of the bucket.",
		Without: "Creates and updates with a new `logging` report `AccessDenied`.",
	},
	{
		Action: "s3:PutBucketAcl", Feature: AccessLogs, Resource: buckets, Implied: true,
		For:     "CloudFront grants itself write access to the bucket, which must have ACLs enabled.",
		Without: "Creates and updates with a new `logging` report `AccessDenied`.",
	},
	{
		Action: "dynamodb:Scan", Feature: TenantSources, Resource: tables, Read: true,
		For:     "Reading the table.",
		Without: "The source reports `SourceError`. Its tenants are not changed.",
	},
	{
		Action: "dynamodb:DescribeTable", Feature: TableStreams, Resource: tables, Read: true,
		For:     "Finding the stream of the table and the names of its key attributes.",
		Without: noStream,
	},
	{
		Action: "dynamodb:DescribeStream", Call: "dynamodbstreams:DescribeStream", Feature: TableStreams, Resource: tableStreams, Read: true,
		For:     "Finding the shards of the stream.",
		Without: noStream,
	},
	{
		Action: "dynamodb:GetShardIterator", Call: "dynamodbstreams:GetShardIterator", Feature: TableStreams, Resource: tableStreams, Read: true,
		For:     "Finding the place in a shard from which to read.",
		Without: noStream,
	},
	{
		Action: "dynamodb:GetRecords", Call: "dynamodbstreams:GetRecords", Feature: TableStreams, Resource: tableStreams, Read: true,
		For:     "Reading the keys of the items that have changed: one call per shard and second, two while there are changes.",
		Without: noStream,
	},
	{
		Action: "dynamodb:Query", Feature: TableStreams, Resource: tables, Read: true,
		For:     "Reading the items that have changed, one by one.",
		Without: "The items that have changed are read by the next poll of the whole table.",
	},
	{
		Action: "rds-db:connect", Feature: DatabaseLogins, Resource: databaseUsers, Implied: true,
		For:     "Logging in to RDS and Aurora: the server asks IAM when it gets the token.",
		Without: noLogin,
	},
	{
		Action: "elasticache:Connect", Feature: DatabaseLogins, Resource: caches, Implied: true,
		For:     "Logging in to a cache of ElastiCache.",
		Without: noLogin,
	},
	{
		Action: "elasticache:Connect", Feature: DatabaseLogins, Resource: cacheUsers, Implied: true,
		For:     "Logging in to a cache of ElastiCache as that user.",
		Without: noLogin,
	},
	{
		Action: "dynamodb:Scan", Feature: StateTables, Resource: stateTables, Read: true,
		For:     "Comparing the table with the tenants: after a start, and once a day.",
		Without: noState,
	},
	{
		Action: "dynamodb:PutItem", Feature: StateTables, Resource: stateTables,
		For:     "Writing the row of a tenant, unless the table has a later one.",
		Without: noState,
	},
	{
		Action: "dynamodb:DeleteItem", Feature: StateTables, Resource: stateTables,
		For:     "Deleting the row of a deleted tenant with `deleted: Remove`, and rows from before the data of the API server was restored.",
		Without: "Rows are written, but none is deleted: the condition `StateWritten` is False.",
	},
	{
		Action: "dynamodb:DescribeTable", Feature: StateTables, Resource: stateTables, Read: true,
		For:     "Checking that the table has the key of a state table before anything is written.",
		Without: "Nothing stops. With a table of another definition, the condition `StateWritten` has the error of AWS instead of the cause.",
	},
	{
		Action: "wafv2:GetWebACL", Feature: WebACLs, Resource: webACLs, Read: true, Implied: true,
		For:     "CloudFront reads the web ACL in a create or update.",
		Without: "Creates and updates with a web ACL report `AccessDenied`.",
	},
}
