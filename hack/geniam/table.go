package main

// Feature is what somebody may want of the operator, with a policy of its own.
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
	Distributions       Feature = "distributions"
	ConnectionGroups    Feature = "connection-groups"
	EdgeFunctions       Feature = "edge-functions"
	AccessLogs          Feature = "access-logs"
	// ReadOnly is made of the reads of the others.
	ReadOnly Feature = "read-only"
)

// features says what each policy is for, in the order of the page.
var features = []struct {
	Feature    Feature
	Title, For string
}{
	{Tenants, "Tenants", "Everybody needs this one: creating, following, updating, adopting and deleting distribution tenants."},
	{Preflight, "Preflight", "Recommended. The operator works without each of these and then says less: it checks a spec before it asks AWS, " +
		"and finds out what stands behind a refusal."},
	{ManagedCertificates, "Managed certificates", "Needed where objects have a `managedCertificateRequest`."},
	{DNS, "DNS", "Needed where objects have a `spec.dns`: for the operator's own identity where the zones are in its account, and for the role that " +
		"`spec.dns.assumeRoleArn` names where they are in another."},
	{CrossAccountDNS, "Cross-account DNS", "Needed where objects have a `spec.dns.assumeRoleArn`, or a source a `spec.dynamodb.assumeRoleArn`. The resource is an example: write the roles that the operator's " +
		"`--allowed-roles` has."},
	{Distributions, "Distributions", "Needed where there are objects of the kind `Distribution`, and only there: without it the operator can neither create, change nor delete a distribution. " +
		"AWS names no permission for the certificate of a distribution. Updates and deletions can be narrowed to what the operator owns with the condition key " +
		"`aws:ResourceTag/cloudfront-tenant-operator.io/cluster`, whose value is the cluster ID."},
	{ConnectionGroups, "Connection groups", "Needed where there are objects of the kind `ConnectionGroup`, and only there."},
	{VPCOrigins, "VPC origins", "Needed where the multi-tenant distribution of tenants, or a `Distribution`, has VPC origins."},
	{WebACLs, "Web ACLs", "Needed where tenants have `customizations.webAcl`, or a `Distribution` a `webACLId`."},
	{EdgeFunctions, "Edge functions", "Needed where a `Distribution` has `lambdaFunctionAssociations`: what CloudFront does with a Lambda@Edge function it does in the name of who associates it. " +
		"CloudFront functions need nothing. The resources are examples: write the functions that there are."},
	{AccessLogs, "Access logs", "Needed where a `Distribution` has a `logging`: CloudFront lets itself write into the bucket in the name of who turns the logs on. The resource is an example: write the buckets that there are."},
	{TenantSources, "Tenant sources", "Needed where a `TenantSource` reads DynamoDB: for the operator's own identity, or for the role that `spec.dynamodb.assumeRoleArn` names. " +
		"The resource is an example: write the tables that there are. A table that is encrypted with a key of your own also needs `kms:Decrypt` on that key."},
	{ReadOnly, "Read-only", "**Instead of the others**, for an operator that runs with `--drift-policy report` and must not be able to change anything: " +
		"it reports drift of the tenants that it owns. Whatever it would have to write is answered by `AccessDenied`."},
}

// The resources that policies name. CloudFront is global: its ARNs have no region.
const (
	anything      = "*"
	tenants       = "arn:aws:cloudfront::*:distribution-tenant/*"
	distributions = "arn:aws:cloudfront::*:distribution/*"
	vpcOrigins    = "arn:aws:cloudfront::*:vpcorigin/*"
	groups        = "arn:aws:cloudfront::*:connection-group/*"
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
	// Policies for all functions and all buckets would let whoever writes a Distribution look into any.
	functions = "arn:aws:lambda:us-east-1:*:function:edge-*"
	buckets   = "arn:aws:s3:::my-access-logs"
	// A policy for all tables would let whoever writes a TenantSource look into any.
	tables = "arn:aws:dynamodb:*:*:table/customers"
)

// sids name statements by their resource.
var sids = map[string]string{
	anything: "NoResource", tenants: "DistributionTenants", distributions: "Distributions",
	groups: "ConnectionGroups", zones: "HostedZones", changes: "Changes", roles: "Roles",
	vpcOrigins: "VPCOrigins", certificates: "Certificates", webACLs: "WebACLs", tables: "Tables",
	replicator: "Replicator", logger: "Logger", functions: "Functions", buckets: "Buckets",
}

// free are the calls that AWS answers for everybody, so that no policy has to allow them.
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
	// For says what it is used for, Without what stops without it.
	For, Without string
}

// The actions that AWS itself documents with a star.
const (
	replication    = "lambda:EnableReplication*"
	replicationEnd = "lambda:DisableReplication*"
)

// permissions are those of every call, and those that AWS asks for beside.
var permissions = []Permission{
	{
		Action: "cloudfront:CreateDistributionTenant", Feature: Tenants, Resource: anything,
		For:     "Creating. CloudFront checks no resource for it.",
		Without: "New objects say `AccessDenied`. Existing tenants are not affected.",
	},
	{
		Action: "cloudfront:GetDistributionTenant", Feature: Tenants, Resource: tenants, Read: true,
		For:     "Reading a tenant whose list entry has changed, and making sure that it is gone.",
		Without: "New tenants still become Ready. A changed one can't be compared (`AccessDenied`), and a deleted object stays, because nothing proves that its tenant is gone.",
	},
	{
		Action: "cloudfront:ListDistributionTenants", Feature: Tenants, Resource: anything, Read: true,
		For:     "The sweep: one call for a hundred tenants.",
		Without: "Changes of the spec still work. Changes made in AWS go unnoticed, and the log says so at every sweep.",
	},
	{
		Action: "cloudfront:UpdateDistributionTenant", Feature: Tenants, Resource: tenants,
		For:     "Changing a tenant, correcting drift, and disabling before a deletion.",
		Without: "A changed spec says `AccessDenied` and stays out of AWS; a deleted object waits, with its tenant serving.",
	},
	{
		Action: "cloudfront:DeleteDistributionTenant", Feature: Tenants, Resource: tenants,
		For:     "Deleting a tenant that was disabled.",
		Without: "A deleted object waits with `AccessDenied`; its tenant is disabled and stays.",
	},
	{
		Action: "cloudfront:ListTagsForResource", Feature: Tenants, Resource: tenants, Read: true,
		For:     "Proving that a tenant is ours before each change.",
		Without: "Creating works. Whatever needs proof of ownership does not: updates, adoption and deletion say `AccessDenied`.",
	},
	{
		Action: "cloudfront:TagResource", Feature: Tenants, Resource: tenants,
		For:     "Owner tags and your tags. CloudFront asks for it at a create too, because tags are sent along.",
		Without: "No tenant can be created or adopted: `AccessDenied`.",
	},
	{
		Action: "cloudfront:UntagResource", Feature: Tenants, Resource: tenants,
		For:     "Removing tags that left the spec, and the owner tags under `deletionPolicy: Retain`.",
		Without: "An object whose tag was removed says `AccessDenied`; one that is to be retained can't be deleted.",
	},
	{
		Action: "cloudfront:GetDistribution", Feature: Preflight, Resource: distributions, Read: true,
		For:     "Checking parameters, the connection mode and the certificate before a create or an update.",
		Without: "AWS finds the mistakes; the condition has its words instead of the name of the field.",
	},
	{
		Action: "acm:DescribeCertificate", Feature: Preflight, Resource: certificates, Read: true,
		For:     "Checking that a certificate is issued and covers every domain.",
		Without: "AWS finds the mistakes; the condition has its words instead of the names that the certificate covers.",
	},
	{
		Action: "cloudfront:ListConnectionGroups", Feature: Preflight, Resource: anything, Read: true,
		For:     "Finding the endpoint that DNS has to point at.",
		Without: "`status.dnsTarget` stays empty.",
	},
	{
		Action: "cloudfront:GetDistributionTenantByDomain", Feature: Preflight, Resource: tenants, Read: true,
		For:     "Naming the tenant that holds a domain that AWS refused.",
		Without: "`DomainConflict` can't always name the holder.",
	},
	{
		Action: "cloudfront:GetConnectionGroup", Feature: Preflight, Resource: groups, Read: true,
		For:     "Finding out whether a routing endpoint has IPv6 addresses, for alias records.",
		Without: "Alias records of type AAAA are not published; those of type A are.",
	},
	{
		Action: "acm:ListCertificates", Feature: Preflight, Resource: anything, Read: true,
		For:     "Watching when the certificates that tenants use expire: one call for a thousand. ACM checks no resource for it.",
		Without: "No metric and no log line tells that a certificate was not renewed.",
	},
	{
		Action: "cloudfront:GetManagedCertificateDetails", Feature: ManagedCertificates, Resource: tenants, Read: true,
		For:     "Following the certificate until it is issued.",
		Without: "Objects with a `managedCertificateRequest` say `AccessDenied` once they are deployed.",
	},
	{
		Action: "acm:RequestCertificate", Feature: ManagedCertificates, Resource: anything, Implied: true,
		For:     "CloudFront requests the certificate in the name of whoever creates the tenant. ACM checks no resource for it.",
		Without: "Creates and updates with a request say `AccessDenied`, or the tenant is left without a certificate and the object says `PendingValidation`. The operator asks again until it works.",
	},
	{
		Action: "acm:AddTagsToCertificate", Feature: ManagedCertificates, Resource: anything, Implied: true,
		For: "CloudFront tags the certificate that it requests, in the name of whoever creates the tenant. AWS does not document it; accounts were seen that refuse the request without it. " +
			"A certificate that is just being requested has no ARN yet.",
		Without: "As without `acm:RequestCertificate`.",
	},
	{
		Action: "acm:DescribeCertificate", Feature: ManagedCertificates, Resource: certificates, Read: true,
		For:     "Making sure that a certificate of a deleted tenant is managed by CloudFront and used by nothing, before it is deleted.",
		Without: "A deleted object waits with `AccessDenied`; its tenant is gone, and its certificate stays in ACM.",
	},
	{
		Action: "acm:DeleteCertificate", Feature: ManagedCertificates, Resource: certificates,
		For:     "Deleting the managed certificates of a deleted tenant, unless `deleteOnTenantDeletion` is false.",
		Without: "A deleted object waits with `AccessDenied`; its tenant is gone, and its certificate stays in ACM.",
	},
	{
		Action: "route53:ListHostedZones", Feature: DNS, Resource: anything, Read: true,
		For:     "Finding the zone of a domain where `spec.dns` names none by its ID. Route 53 checks no resource for it.",
		Without: "Objects whose `spec.dns` has no `hostedZoneId` say `DNSError`.",
	},
	{
		Action: "route53:GetHostedZone", Feature: DNS, Resource: zones, Read: true,
		For:     "Reading the name of the zone that `hostedZoneId` names.",
		Without: "Objects whose `spec.dns` has a `hostedZoneId` say `DNSError`, unless the list of zones has shown it.",
	},
	{
		Action: "route53:ListResourceRecordSets", Feature: DNS, Resource: zones, Read: true,
		For:     "Reading what a zone has, to find conflicts and drift, and to delete records with their exact values.",
		Without: "Nothing is published: objects say `DNSError`.",
	},
	{
		Action: "route53:ChangeResourceRecordSets", Feature: DNS, Resource: zones,
		For:     "Publishing and deleting records, many in one call.",
		Without: "Nothing is published: objects say `DNSError`. A deleted object waits, with its tenant serving.",
	},
	{
		Action: "route53:GetChange", Feature: DNS, Resource: changes, Read: true,
		For:     "Making sure that every server of Route 53 has a change, before anything is done that relies on it.",
		Without: "Records are published and are never known to be in sync: objects say `DNSError`.",
	},
	{
		Action: "sts:AssumeRole", Feature: CrossAccountDNS, Resource: roles, Implied: true,
		For:     "Assuming the role that `spec.dns.assumeRoleArn` names.",
		Without: "Objects with a `spec.dns.assumeRoleArn` say `DNSError`, with the external ID that the role has to trust.",
	},
	{
		Action: "sts:TagSession", Feature: CrossAccountDNS, Resource: roles, Implied: true,
		For:     "Taking session tags along to the role: EKS Pod Identity gives the operator's credentials tags that AWS hands on to every role that is assumed with them.",
		Without: "With EKS Pod Identity, as without `sts:AssumeRole`, unless the association has `disableSessionTags`. Other credentials carry no tags and don't need it.",
	},
	{
		Action: "cloudfront:GetVpcOrigin", Feature: VPCOrigins, Resource: vpcOrigins, Read: true, Implied: true,
		For:     "CloudFront asks for it at creates and updates of tenants of such a distribution.",
		Without: "Creates and updates say `AccessDenied`.",
	},
	{
		Action: "cloudfront:CreateDistribution", Call: "cloudfront:CreateDistributionWithTags", Feature: Distributions, Resource: anything,
		For:     "Creating, with all tags in the same call. CloudFront checks no resource for it.",
		Without: "New objects say `AccessDenied`. Existing distributions are not affected.",
	},
	{
		Action: "cloudfront:CreateConnectionGroup", Feature: Distributions, Resource: anything, Implied: true,
		For:     "AWS lists it among what a create of a distribution with tags asks for.",
		Without: "A create may say `AccessDenied`.",
	},
	{
		Action: "cloudfront:GetDistribution", Feature: Distributions, Resource: distributions, Read: true,
		For:     "Reading a distribution before each change, following its deployment, and making sure that it is gone.",
		Without: "Objects say `AccessDenied`; a deleted one stays, with its distribution as it is.",
	},
	{
		Action: "cloudfront:ListDistributionsByConnectionMode", Feature: Distributions, Resource: anything, Read: true,
		For:     "Finding what a create has made whose answer was lost. CloudFront checks no resource for it.",
		Without: "After a lost answer the object says `AccessDenied`, and can't be deleted either.",
	},
	{
		Action: "cloudfront:UpdateDistribution", Feature: Distributions, Resource: distributions,
		For:     "Changing a distribution, correcting drift, and disabling before a deletion.",
		Without: "A changed spec says `AccessDenied` and stays out of AWS; a deleted object waits, with its distribution enabled, until somebody disables it by hand.",
	},
	{
		Action: "cloudfront:DeleteDistribution", Feature: Distributions, Resource: distributions,
		For:     "Deleting a distribution that was disabled, and whose disable is deployed everywhere.",
		Without: "A deleted object waits with `AccessDenied`; its distribution is disabled and stays.",
	},
	{
		Action: "cloudfront:ListTagsForResource", Feature: Distributions, Resource: distributions, Read: true,
		For:     "Proving that a distribution is ours before each change.",
		Without: "Creating works. Adoption, updates and deletion say `AccessDenied`.",
	},
	{
		Action: "cloudfront:TagResource", Feature: Distributions, Resource: distributions,
		For:     "Owner tags and your tags. CloudFront asks for it at a create too, because tags are sent along.",
		Without: "No distribution can be created or adopted: `AccessDenied`.",
	},
	{
		Action: "cloudfront:UntagResource", Feature: Distributions, Resource: distributions,
		For:     "Removing tags that left the spec, and the owner tags under `deletionPolicy: Retain`.",
		Without: "An object whose tag was removed says `AccessDenied`; one that is to be retained can't be deleted.",
	},
	{
		Action: "cloudfront:ListDistributionTenants", Feature: Distributions, Resource: anything, Read: true,
		For:     "Making sure that a distribution has no tenants before it is disabled.",
		Without: "A deleted object waits with `AccessDenied`; its distribution stays as it is.",
	},
	{
		Action: "cloudfront:CreateConnectionGroup", Feature: ConnectionGroups, Resource: anything,
		For:     "Creating. CloudFront checks no resource for it.",
		Without: "New objects say `AccessDenied`. Existing groups are not affected.",
	},
	{
		Action: "cloudfront:GetConnectionGroup", Feature: ConnectionGroups, Resource: groups, Read: true,
		For:     "Reading a group before each change, following its deployment, and making sure that it is gone.",
		Without: "Objects say `AccessDenied`; a deleted one stays, with its group as it is.",
	},
	{
		Action: "cloudfront:UpdateConnectionGroup", Feature: ConnectionGroups, Resource: groups,
		For:     "Changing a group, correcting drift, and disabling before a deletion.",
		Without: "A changed spec says `AccessDenied` and stays out of AWS; a deleted object waits, with its group enabled, until somebody disables it by hand.",
	},
	{
		Action: "cloudfront:DeleteConnectionGroup", Feature: ConnectionGroups, Resource: groups,
		For:     "Deleting a group that was disabled, and whose disable is deployed everywhere.",
		Without: "A deleted object waits with `AccessDenied`; its group is disabled and stays.",
	},
	{
		Action: "cloudfront:ListTagsForResource", Feature: ConnectionGroups, Resource: groups, Read: true,
		For:     "Proving that a group is ours before each change.",
		Without: "Creating works. Adoption, updates and deletion say `AccessDenied`.",
	},
	{
		Action: "cloudfront:TagResource", Feature: ConnectionGroups, Resource: groups,
		For:     "Owner tags and your tags. CloudFront asks for it at a create too, because tags are sent along.",
		Without: "No group can be created or adopted: `AccessDenied`.",
	},
	{
		Action: "cloudfront:UntagResource", Feature: ConnectionGroups, Resource: groups,
		For:     "Removing tags that left the spec, and the owner tags under `deletionPolicy: Retain` and of the default group.",
		Without: "An object whose tag was removed says `AccessDenied`; one that is to be retained can't be deleted.",
	},
	{
		Action: "cloudfront:ListDistributionTenants", Feature: ConnectionGroups, Resource: anything, Read: true,
		For:     "Making sure that a group has no tenants before it is disabled.",
		Without: "A deleted object waits with `AccessDenied`; its group stays as it is.",
	},
	{
		Action: "lambda:GetFunction", Feature: EdgeFunctions, Resource: functions, Read: true, Implied: true,
		For:     "CloudFront reads the function that a create or an update names.",
		Without: "Creates and updates with a new function say `AccessDenied`.",
	},
	{
		Action: replication, Feature: EdgeFunctions, Resource: functions, Implied: true,
		For:     "Lambda lets its replication read the function. AWS wants the action with the star at its end.",
		Without: "Creates and updates with a new function say `AccessDenied`.",
	},
	{
		Action: replicationEnd, Feature: EdgeFunctions, Resource: functions, Implied: true,
		For:     "Lambda ends the replication of a function that is no longer associated.",
		Without: "Updates that take a function away or replace it, and deletions of the distribution, say `AccessDenied`.",
	},
	{
		Action: "iam:CreateServiceLinkedRole", Feature: EdgeFunctions, Resource: replicator, Implied: true,
		For:     "The first function of an account that is associated makes the role with which Lambda replicates.",
		Without: "The first create or update with a function says `AccessDenied`. Once the role exists nothing needs it.",
	},
	{
		Action: "iam:CreateServiceLinkedRole", Feature: EdgeFunctions, Resource: logger, Implied: true,
		For:     "The first function of an account that is associated makes the role with which CloudFront writes the function's logs.",
		Without: "The first create or update with a function may say `AccessDenied`. Once the role exists nothing needs it.",
	},
	{
		Action: "s3:GetBucketAcl", Feature: AccessLogs, Resource: buckets, Read: true, Implied: true,
		For:     "CloudFront reads who may write into the bucket.",
		Without: "Creates and updates with a new `logging` say `AccessDenied`.",
	},
	{
		Action: "s3:PutBucketAcl", Feature: AccessLogs, Resource: buckets, Implied: true,
		For:     "CloudFront lets itself write logs into the bucket, which has to have ACLs enabled.",
		Without: "Creates and updates with a new `logging` say `AccessDenied`.",
	},
	{
		Action: "dynamodb:Scan", Feature: TenantSources, Resource: tables, Read: true,
		For:     "Reading a table of customers.",
		Without: "The source says `SourceError`; its tenants stay as they are.",
	},
	{
		Action: "wafv2:GetWebACL", Feature: WebACLs, Resource: webACLs, Read: true, Implied: true,
		For:     "CloudFront reads the web ACL that a create or an update names.",
		Without: "Creates and updates with a web ACL say `AccessDenied`.",
	},
}
