package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DomainState says how far a domain is on its way to being served.
// +kubebuilder:validation:Enum=AwaitingProof;AwaitingDNS;Validating;Issuing;Deploying;Live;Lost;Disabled;Leaving;Refused
type DomainState string

// The states of a domain. docs/reference/domain-states.md has the facts from which each follows.
const (
	DomainAwaitingProof DomainState = "AwaitingProof"
	DomainAwaitingDNS   DomainState = "AwaitingDNS"
	DomainValidating    DomainState = "Validating"
	DomainIssuing       DomainState = "Issuing"
	DomainDeploying     DomainState = "Deploying"
	DomainLive          DomainState = "Live"
	DomainLost          DomainState = "Lost"
	DomainDisabled      DomainState = "Disabled"
	DomainLeaving       DomainState = "Leaving"
	DomainRefused       DomainState = "Refused"
)

// Party is who has to act next.
// +kubebuilder:validation:Enum=customer;platform;operator;aws
type Party string

// The parties: the customer, who owns the domain; the platform, which wrote the object; the operator; and AWS.
const (
	PartyCustomer Party = "customer"
	PartyPlatform Party = "platform"
	PartyOperator Party = "operator"
	PartyAWS      Party = "aws"
)

// DomainStatus is what a domain needs to be live.
type DomainStatus struct {
	// domain is the name of the domain.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Domain string `json:"domain,omitempty"`

	// state says how far the domain is: AwaitingProof (a TXT record has to prove whose it is), AwaitingDNS (it does not lead
	// to CloudFront yet), Validating (CloudFront checks it), Issuing (its certificate is being issued), Deploying, Live, Lost
	// (it was live, and points elsewhere), Disabled (the spec disables the tenant), Leaving (it is being removed) or Refused
	// (a mistake or a conflict has to be fixed first).
	// +required
	State DomainState `json:"state,omitempty"`

	// since is when the domain came into this state.
	// +required
	Since metav1.Time `json:"since"`

	// waitsFor is who has to act next: the customer, the platform, the operator or AWS. Absent if nothing is left to do.
	// +optional
	WaitsFor Party `json:"waitsFor,omitempty"`

	// message says what happens next, and what has to be done.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Message string `json:"message,omitempty"`

	// records are what has to be in DNS, or on the web server of the domain, and who sets it.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=8
	// +listType=atomic
	// +optional
	Records []DomainRecord `json:"records,omitempty"`
}

// RecordPurpose says what a record is for.
// +kubebuilder:validation:Enum=Routing;Challenge;Proof;HTTP
type RecordPurpose string

// The purposes: Routing points the domain to CloudFront, Challenge tells CloudFront to which endpoint addresses belong, Proof
// proves to the platform whose the domain is, and HTTP is a redirect that the web server of the domain has to answer with.
const (
	PurposeRouting   RecordPurpose = "Routing"
	PurposeChallenge RecordPurpose = "Challenge"
	PurposeProof     RecordPurpose = "Proof"
	PurposeHTTP      RecordPurpose = "HTTP"
)

// SeenState says what was seen of a record.
// +kubebuilder:validation:Enum=Missing;Wrong;Present;Unknown
type SeenState string

// The states of a record.
const (
	RecordMissing SeenState = "Missing"
	RecordWrong   SeenState = "Wrong"
	RecordPresent SeenState = "Present"
	RecordUnknown SeenState = "Unknown"
)

// DomainRecord is a record that a domain needs.
type DomainRecord struct {
	// purpose says what the record is for.
	// +required
	Purpose RecordPurpose `json:"purpose,omitempty"`

	// type is CNAME, ALIAS (an alias, ANAME or flattened CNAME, whatever the DNS provider calls it), A, AAAA, TXT or
	// REDIRECT, which is not a DNS record: a request for http://name has to be redirected to https://value.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16
	// +required
	Type string `json:"type,omitempty"`

	// name is the full name of the record, or the URL that is requested, without its scheme.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +required
	Name string `json:"name,omitempty"`

	// value is what the record has to contain, or the URL of the redirect, without its scheme. Absent while it is not known.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Value string `json:"value,omitempty"`

	// publishedBy says who sets the record: the operator or the customer.
	// +required
	PublishedBy Party `json:"publishedBy,omitempty"`

	// state is Missing, Wrong (something else is there), Present or Unknown (it was not looked at, or no resolver answered).
	// +required
	State SeenState `json:"state,omitempty"`

	// seen is what was found instead.
	// +kubebuilder:validation:MinItems=0
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=atomic
	// +optional
	Seen []string `json:"seen,omitempty"`
}
