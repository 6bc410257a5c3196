package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DistributionTenantStatus is the observed state.
//
// +kubebuilder:validation:MinProperties=0
type DistributionTenantStatus struct {
	// conditions are Ready, Synced, CertificateReady (only while a managed certificate is requested) and
	// DNSReady.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the metadata.generation that the conditions refer to. It is not increased while Ready is True
	// for the previous generation and a change is waiting to be sent. -1 means that the object has not been processed
	// yet.
	// +kubebuilder:validation:Minimum=-1
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// appliedGeneration is the last metadata.generation that was applied in AWS. If absent, it is observedGeneration, as
	// in a status written by an earlier version.
	// +kubebuilder:validation:Minimum=0
	// +optional
	AppliedGeneration *int64 `json:"appliedGeneration,omitempty"`

	// id is the ID that AWS assigned to the tenant.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +optional
	ID string `json:"id,omitempty"`

	// arn is the ARN of the tenant.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	ARN string `json:"arn,omitempty"`

	// tenantName is the name of the tenant in AWS.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	TenantName string `json:"tenantName,omitempty"`

	// distributionId is the ID of the distribution in the spec that was last applied, by distributionId or by
	// distributionRef.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +optional
	DistributionID string `json:"distributionId,omitempty"`

	// connectionGroupId is the ID of the connection group in the spec that was last applied. If absent, the spec had
	// none.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +optional
	ConnectionGroupID string `json:"connectionGroupId,omitempty"`

	// eTag is the version of the tenant that the operator last saw, which makes its next write conditional.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +optional
	ETag string `json:"eTag,omitempty"`

	// distributionTenantStatus is the deployment status as reported by AWS: InProgress or Deployed.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +optional
	DistributionTenantStatus string `json:"distributionTenantStatus,omitempty"`

	// createdTime is when the tenant was created in AWS.
	// +optional
	CreatedTime *metav1.Time `json:"createdTime,omitempty"`

	// lastModifiedTime is when the tenant was last changed in AWS.
	// +optional
	LastModifiedTime *metav1.Time `json:"lastModifiedTime,omitempty"`

	// domainResults say for each domain whether CloudFront serves it.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=domain
	// +optional
	DomainResults []DomainResult `json:"domainResults,omitempty"`

	// domains say for each domain of the spec, and for one that is leaving, what it needs to be live: its state, who has to
	// act next, and the records that have to be set. This is what a platform shows to its customer.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=200
	// +listType=map
	// +listMapKey=domain
	// +optional
	Domains []DomainStatus `json:"domains,omitempty"`

	// certificateArn is the ARN of the certificate that the tenant uses or, if one is requested, of the issued managed
	// certificate, which is attached or about to be attached.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	CertificateARN string `json:"certificateArn,omitempty"`

	// certificate is the certificate with which CloudFront answers for the domains, as ACM last showed it: the tenant's own
	// or, if it has none, that of its distribution, which certificateArn does not name. It is only updated when ACM shows
	// a renewal or another certificate is used. Absent while its expiry is not known.
	// +optional
	Certificate *ServedCertificate `json:"certificate,omitempty"`

	// managedCertificates are the certificates in ACM that CloudFront obtained for this tenant, including superseded
	// ones, latest last, at most 50. Only these certificates are ever deleted with the tenant.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=2048
	// +listType=set
	// +optional
	ManagedCertificates []string `json:"managedCertificates,omitempty"`

	// certificateRequest is the request for a managed certificate that was last sent. It is sent again only if it
	// changes, if domains were added, or if its certificate failed.
	// +optional
	CertificateRequest *SentCertificateRequest `json:"certificateRequest,omitempty"`

	// managedCertificateStatus is the state of the managed certificate as reported by AWS, such as pending-validation or
	// issued. Absent if none is requested.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +optional
	ManagedCertificateStatus string `json:"managedCertificateStatus,omitempty"`

	// driftDetected says whether the tenant in AWS differs from the spec that was last applied. Absent means no.
	// +optional
	DriftDetected bool `json:"driftDetected,omitempty"`

	// drift lists the first 20 fields that differ.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=20
	// +listType=map
	// +listMapKey=field
	// +optional
	Drift []DriftedField `json:"drift,omitempty"`

	// lastDriftCheckTime is when spec and tenant were last compared. It is only updated together with other changes of
	// status.
	// +optional
	LastDriftCheckTime *metav1.Time `json:"lastDriftCheckTime,omitempty"`

	// dnsTarget is the routing endpoint that the domains must point to in DNS. It is known before the tenant exists.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	DNSTarget string `json:"dnsTarget,omitempty"`

	// dns lists the DNS records that the operator publishes for this tenant.
	// +optional
	DNS *DNSStatus `json:"dns,omitempty"`

	// dnsChangeId is the ID of the last change of DNS records for this tenant.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +optional
	DNSChangeID string `json:"dnsChangeId,omitempty"`

	// keyValues are the keys in key value stores that belong to this tenant, are about to be written, or about to be
	// deleted, at most 200. Values are not shown.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=200
	// +listType=atomic
	// +optional
	KeyValues []OwnedKey `json:"keyValues,omitempty"`

	// appliedTagKeys are the keys of the tags that the operator put on the tenant for spec.tags and its default tags, at
	// most 50. Only these tags are ever removed.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	// +listType=set
	// +optional
	AppliedTagKeys []string `json:"appliedTagKeys,omitempty"`

	// failure is the current failure. If absent, there is none. It may remain for up to half an hour after AWS has
	// finally kept a value.
	// +optional
	Failure *Failure `json:"failure,omitempty"`

	// reconcileToken is the value of the annotation cloudfront-tenant-operator.io/reconcile-now that was last handled,
	// truncated after 256 characters.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +optional
	ReconcileToken string `json:"reconcileToken,omitempty"`
}

// CertificateType says where a certificate in ACM comes from.
// +kubebuilder:validation:Enum=Managed;Issued;Imported;Private
type CertificateType string

// The types of a certificate. CloudFront renews Managed ones and ACM Issued and Private ones; Imported ones have to be
// imported again.
const (
	CertificateTypeManaged  CertificateType = "Managed"
	CertificateTypeIssued   CertificateType = "Issued"
	CertificateTypeImported CertificateType = "Imported"
	CertificateTypePrivate  CertificateType = "Private"
)

// ServedCertificate is the certificate that a tenant or a distribution serves with.
type ServedCertificate struct {
	// arn is the ARN of the certificate.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +required
	ARN string `json:"arn,omitempty"`

	// notAfter is when the certificate expires. The operator notices a renewal within about an hour and a half.
	// +required
	NotAfter metav1.Time `json:"notAfter"`

	// issuer is the name of the certificate authority: Amazon, or that of an imported certificate if it is known.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +optional
	Issuer string `json:"issuer,omitempty"`

	// type says where the certificate comes from: Managed (CloudFront requested it and renews it), Issued (ACM issued it),
	// Imported or Private (a private certificate authority issued it).
	// +optional
	Type CertificateType `json:"type,omitempty"`
}

// DomainResult is the state of one domain in AWS.
type DomainResult struct {
	// domain is the name of the domain.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Domain string `json:"domain,omitempty"`

	// status is active or inactive, as reported by AWS.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Status string `json:"status,omitempty"`
}

// SentCertificateRequest is a request for a managed certificate as it was sent.
type SentCertificateRequest struct {
	// validationTokenHost is that of the request.
	// +required
	ValidationTokenHost ValidationTokenHost `json:"validationTokenHost,omitempty"`

	// primaryDomainName is that of the request.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	PrimaryDomainName string `json:"primaryDomainName,omitempty"`

	// certificateTransparencyLoggingPreference is that of the request.
	// +optional
	CertificateTransparencyLoggingPreference CertificateTransparencyLoggingPreference `json:"certificateTransparencyLoggingPreference,omitempty"`

	// time is when it was sent.
	// +required
	Time metav1.Time `json:"time"`
}

// DNSStatus lists the DNS records that the operator owns. A record that is not listed here is never changed or
// deleted.
//
// +kubebuilder:validation:MinProperties=0
type DNSStatus struct {
	// records are the records that are published, about to be published, or about to be deleted, at most 400.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=400
	// +listType=atomic
	// +optional
	Records []DNSRecord `json:"records,omitempty"`
}

// DNSRecord is one owned record, as it was published.
type DNSRecord struct {
	// provider is the DNS service that has the zone. If absent, it is route53.
	// +optional
	Provider DNSProvider `json:"provider,omitempty"`

	// account is the operator's account at the provider. Route 53 has none.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Account string `json:"account,omitempty"`

	// zoneId is the ID of the zone at its provider.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=400
	// +required
	ZoneID string `json:"zoneId,omitempty"`

	// name is the full name of the record.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=300
	// +required
	Name string `json:"name,omitempty"`

	// type is CNAME, TXT, or A and AAAA, which are aliases.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16
	// +required
	Type string `json:"type,omitempty"`

	// value is the target of the record, or the text of a TXT record.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +required
	Value string `json:"value,omitempty"`

	// ttl is the time to live in seconds. An alias has none.
	// +kubebuilder:validation:Minimum=1
	// +optional
	TTL int64 `json:"ttl,omitempty"`

	// state is Intended (about to be published, and possibly already in the zone), Published (seen in the zone) or
	// Retracting (about to be deleted, and possibly already deleted).
	// +required
	State RecordState `json:"state,omitempty"`

	// assumeRoleArn is the role with which the record was published and will be deleted. If absent, it is the operator's
	// own identity.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=640
	// +optional
	AssumeRoleARN string `json:"assumeRoleArn,omitempty"`

	// replaced are the records that the records of this name took the place of (spec.dns.takeover). They are put back when
	// the operator deletes its own. One entry of each name has them.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=8
	// +listType=atomic
	// +optional
	Replaced []ReplacedRecord `json:"replaced,omitempty"`
}

// ReplacedRecord is a record that the operator did not create, as it was before it was replaced. It has the name of the
// entry that lists it.
type ReplacedRecord struct {
	// type is the type of the record.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16
	// +required
	Type string `json:"type,omitempty"`

	// ttl is the time to live in seconds. An alias has none.
	// +kubebuilder:validation:Minimum=0
	// +optional
	TTL *int64 `json:"ttl,omitempty"`

	// values are the values of the record, those of a TXT record without quotes. An alias has none.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=0
	// +kubebuilder:validation:items:MaxLength=1024
	// +listType=atomic
	// +optional
	Values []string `json:"values,omitempty"`

	// exactValues are the values as the DNS service writes them, if it writes them differently.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=0
	// +kubebuilder:validation:items:MaxLength=1024
	// +listType=atomic
	// +optional
	ExactValues []string `json:"exactValues,omitempty"`

	// aliasTarget is the name that an alias leads to, which is one of CloudFront: no other alias is replaced.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	AliasTarget string `json:"aliasTarget,omitempty"`
}

// RecordState is the state of an owned record.
// +kubebuilder:validation:Enum=Intended;Published;Retracting
type RecordState string

// OwnedKey is a key in a key value store, as it was written.
type OwnedKey struct {
	// storeArn is the ARN of the store.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	// +required
	StoreARN string `json:"storeArn,omitempty"`

	// key is the key.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +required
	Key string `json:"key,omitempty"`

	// digest is the start of the SHA-256 of the value.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +required
	Digest string `json:"digest,omitempty"`

	// before are the digests of earlier values that may still be there.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=3
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	// +listType=atomic
	// +optional
	Before []string `json:"before,omitempty"`

	// state is Intended until the store has the value, then Written, and Removing until the key is deleted.
	// +required
	State KeyState `json:"state,omitempty"`
}

// KeyState is the state of an owned key.
// +kubebuilder:validation:Enum=Intended;Written;Removing
type KeyState string

// DriftedField is one difference between the spec and AWS. Values are truncated after 1024 characters.
type DriftedField struct {
	// field is the path of the field in spec, such as parameters[tier] or customizations.webAcl.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +required
	Field string `json:"field,omitempty"`

	// desired is the value in the spec. If absent, there is none.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Desired string `json:"desired,omitempty"`

	// observed is the value in AWS. If absent, there is none.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Observed string `json:"observed,omitempty"`
}

// Failure records what failed, for which spec, and since when. The delay before the next attempt grows with its age,
// also across restarts of the operator. A change of the spec resets it.
type Failure struct {
	// reason is the condition reason of the failure.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +required
	Reason string `json:"reason,omitempty"`

	// generation is the metadata.generation of the spec that failed.
	// +kubebuilder:validation:Minimum=1
	// +required
	Generation int64 `json:"generation,omitempty"`

	// since is when it first failed with this reason.
	// +required
	Since metav1.Time `json:"since"`
}
