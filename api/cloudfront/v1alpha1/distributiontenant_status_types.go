package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DistributionTenantStatus is what the operator found in AWS, and the little it has to remember.
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

	// observedGeneration is the last metadata.generation that was seen and judged: what the conditions say holds for
	// it. It stays behind while Ready is True for the generation before and a change waits to be sent. -1 means that
	// the object was not looked at yet.
	// +kubebuilder:validation:Minimum=-1
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// appliedGeneration is the last metadata.generation that AWS was made equal to. Absent means that it is
	// observedGeneration, as in a status of an earlier version.
	// +kubebuilder:validation:Minimum=0
	// +optional
	AppliedGeneration *int64 `json:"appliedGeneration,omitempty"`

	// id is the ID that AWS gave the tenant.
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

	// distributionId is the ID of the distribution that the spec asked for when it was last applied, by
	// distributionId or by distributionRef.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +optional
	DistributionID string `json:"distributionId,omitempty"`

	// connectionGroupId is the ID of the connection group that the spec asked for when it was last applied.
	// Absent means that it asked for none.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +optional
	ConnectionGroupID string `json:"connectionGroupId,omitempty"`

	// eTag is the version of the tenant that the operator last saw, which makes its next write conditional.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +optional
	ETag string `json:"eTag,omitempty"`

	// distributionTenantStatus is the deployment status as AWS gives it: InProgress or Deployed.
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

	// domainResults tell for each domain whether CloudFront serves it.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=domain
	// +optional
	DomainResults []DomainResult `json:"domainResults,omitempty"`

	// certificateArn is the ARN of the certificate that the tenant uses or, where one is requested, the
	// managed certificate that was issued for it and is attached or about to be.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	CertificateARN string `json:"certificateArn,omitempty"`

	// managedCertificates are the certificates in ACM that CloudFront obtained for this very tenant, those
	// that were superseded included, the latest last: at most 50. Only these are ever deleted with the tenant.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=2048
	// +listType=set
	// +optional
	ManagedCertificates []string `json:"managedCertificates,omitempty"`

	// certificateRequest is the request for a managed certificate that was last sent. It is sent again only
	// when it changes, when the domains outgrow it, or when its certificate failed.
	// +optional
	CertificateRequest *SentCertificateRequest `json:"certificateRequest,omitempty"`

	// validationTokens are what the web server of each domain has to serve for a self-hosted validation, while
	// it is pending.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=domain
	// +optional
	ValidationTokens []ValidationToken `json:"validationTokens,omitempty"`

	// managedCertificateStatus is the state of the managed certificate as AWS gives it, such as
	// pending-validation or issued. Absent where none is requested.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +optional
	ManagedCertificateStatus string `json:"managedCertificateStatus,omitempty"`

	// driftDetected tells whether the tenant in AWS differs from the spec that was last applied. Absent
	// means no.
	// +optional
	DriftDetected bool `json:"driftDetected,omitempty"`

	// drift lists what differs, field by field: the first 20 of them.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=20
	// +listType=map
	// +listMapKey=field
	// +optional
	Drift []DriftedField `json:"drift,omitempty"`

	// lastDriftCheckTime is when spec and tenant were last compared, as of the last other change of status:
	// it is never written for its own sake.
	// +optional
	LastDriftCheckTime *metav1.Time `json:"lastDriftCheckTime,omitempty"`

	// dnsTarget is the routing endpoint that the DNS names of the domains have to point at.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	DNSTarget string `json:"dnsTarget,omitempty"`

	// dns is what the operator publishes for this tenant.
	// +optional
	DNS *DNSStatus `json:"dns,omitempty"`

	// dnsChangeId is the ID of the last change of DNS records for this tenant.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +optional
	DNSChangeID string `json:"dnsChangeId,omitempty"`

	// appliedTagKeys are the keys of the tags that the operator put on the tenant for spec.tags and its
	// default tags, at most 50. Only these are ever removed.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	// +listType=set
	// +optional
	AppliedTagKeys []string `json:"appliedTagKeys,omitempty"`

	// failure is the memory of the failure that is present. Absent means that there is none. It may stay for
	// up to half an hour after a value that did not take was kept at last.
	// +optional
	Failure *Failure `json:"failure,omitempty"`

	// reconcileToken is the value of the annotation cloudfront-tenant-operator.io/reconcile-now that was
	// last handled, cut off after 256 characters.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +optional
	ReconcileToken string `json:"reconcileToken,omitempty"`
}

// DomainResult is what AWS says of one domain.
type DomainResult struct {
	// domain is the name of the domain.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Domain string `json:"domain,omitempty"`

	// status is active or inactive, as AWS gives it.
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

// ValidationToken is how control of a domain is proven to ACM: whoever asks for redirectFrom over HTTP has
// to be redirected to redirectTo.
type ValidationToken struct {
	// domain is the name of the domain.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Domain string `json:"domain,omitempty"`

	// redirectFrom is the address below the domain that ACM asks for, without the scheme.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	RedirectFrom string `json:"redirectFrom,omitempty"`

	// redirectTo is where it has to be redirected to, without the scheme.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	RedirectTo string `json:"redirectTo,omitempty"`
}

// DNSStatus is the ledger of the records that are ours. Nothing else tells: a record that is not listed
// here is never changed or deleted.
//
// +kubebuilder:validation:MinProperties=0
type DNSStatus struct {
	// records are the records that are published, about to be, or about to go, at most 400.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=400
	// +listType=atomic
	// +optional
	Records []DNSRecord `json:"records,omitempty"`
}

// DNSRecord is one record of the ledger, as it was published.
type DNSRecord struct {
	// zoneId is the ID of the hosted zone.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
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

	// value is the name that the record leads to, or the text of a TXT record.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +required
	Value string `json:"value,omitempty"`

	// ttl is the time to live in seconds. An alias has none.
	// +kubebuilder:validation:Minimum=1
	// +optional
	TTL int64 `json:"ttl,omitempty"`

	// state is Intended (about to be published, and perhaps there already), Published (seen in the zone) or
	// Retracting (about to be deleted, and perhaps gone already).
	// +required
	State RecordState `json:"state,omitempty"`

	// assumeRoleArn is the role with which the record was published and will be deleted. Absent means the
	// operator's own identity.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=640
	// +optional
	AssumeRoleARN string `json:"assumeRoleArn,omitempty"`
}

// RecordState is how far a record of the ledger has come.
// +kubebuilder:validation:Enum=Intended;Published;Retracting
type RecordState string

// DriftedField is one difference between the spec and AWS. Values are cut off after 1024 characters.
type DriftedField struct {
	// field is the path of the field in spec, such as parameters[tier] or customizations.webAcl.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +required
	Field string `json:"field,omitempty"`

	// desired is the value that the spec asks for. Absent means none.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Desired string `json:"desired,omitempty"`

	// observed is the value that AWS has. Absent means none.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Observed string `json:"observed,omitempty"`
}

// Failure remembers what failed, for which spec, and since when. The delay before the next try grows with
// its age, across restarts of the operator; a change of the spec ends it.
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

	// since is when it failed with this reason for the first time.
	// +required
	Since metav1.Time `json:"since"`
}
