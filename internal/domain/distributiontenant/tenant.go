// Package distributiontenant decides what happens to a CloudFront distribution tenant. It is pure: it knows no client,
// no clock and no Kubernetes type. Its input is what was read; its output is exactly one step and, afterwards, the
// report for the object's status.
package distributiontenant

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/keyvalue"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/upstream"
)

// Deployment states of a tenant, in CloudFront's spelling.
const (
	InProgress = "InProgress"
	Deployed   = "Deployed"
)

// DomainActive is the state of a domain that CloudFront answers for.
const DomainActive = "active"

// Tenant is the configuration of a distribution tenant, normalised: an empty block and
// an absent one are the same value, names are lower-case, and what AWS sorts is sorted.
type Tenant struct {
	Name           string
	DistributionID string
	// ConnectionGroupID is empty in a desired tenant that leaves the choice to AWS.
	ConnectionGroupID string
	Enabled           bool
	// Domains keeps the order of the spec for requests; it is compared as a set.
	Domains        []string
	Parameters     map[string]string
	Customizations Customizations
}

// Customizations are a tenant's deviations from its distribution. Every zero value
// means "as the distribution has it".
type Customizations struct {
	WebACL         WebACL
	CertificateARN string
	Geo            Geo
}

// WebACL overrides or disables the distribution's web ACL.
type WebACL struct {
	// Action is override or disable.
	Action string
	// ARN names the WAFv2 web ACL of an override.
	ARN string
}

// Geo restricts the countries that are served. Type none is not the zero value: it
// lifts a restriction that the distribution has.
type Geo struct {
	// Type is none, whitelist or blacklist.
	Type string
	// Locations are sorted two-letter country codes.
	Locations []string
}

// Desired is what an object's spec asks for.
type Desired struct {
	Tenant
	// Tags are the user's tags, the operator's default tags included, owner tags not.
	Tags map[string]string
	// Request is nil when no managed certificate is asked for.
	Request *certificate.Request
	// DNS is nil when no DNS records are asked for.
	DNS *publication.Spec
	// KeyValues is nil when no keys are asked for.
	KeyValues *keyvalue.Spec
}

// Observed is a tenant as AWS showed it.
type Observed struct {
	Tenant
	ID, ARN, ETag string
	// Status is InProgress or Deployed.
	Status string
	// DomainStates has the state of each domain (active, inactive).
	DomainStates map[string]string
	Created      time.Time
	Modified     time.Time
	// Tags is nil when this answer carried none, which says nothing about the tags.
	Tags map[string]string
}

// Normalize puts a tenant into the one form in which tenants are compared.
func (t Tenant) Normalize() Tenant {
	t.Domains = slices.Clone(t.Domains)
	for i, d := range t.Domains {
		t.Domains[i] = strings.ToLower(strings.TrimSuffix(d, "."))
	}
	if len(t.Domains) == 0 {
		t.Domains = nil
	}
	t.Parameters = maps.Clone(t.Parameters)
	if len(t.Parameters) == 0 {
		t.Parameters = nil
	}
	geo := &t.Customizations.Geo
	geo.Locations = slices.Clone(geo.Locations)
	for i, l := range geo.Locations {
		geo.Locations[i] = strings.ToUpper(l)
	}
	slices.Sort(geo.Locations)
	geo.Locations = slices.Compact(geo.Locations)
	if len(geo.Locations) == 0 {
		geo.Locations = nil
	}
	return t
}

// Distribution is what a tenant has to know of its distribution.
type Distribution struct {
	ID string
	// Unreadable means that the operator may not read the distribution: nothing is
	// known, and AWS itself has to judge.
	Unreadable bool
	// Missing means AWS knows no distribution of that id.
	Missing bool
	// MultiTenant reports whether tenants can be attached.
	MultiTenant bool
	// Disabled means that CloudFront answers for none of its tenants.
	Disabled bool
	// CertificateARN is empty for CloudFront's own default certificate.
	CertificateARN string
	Parameters     []ParameterDefinition
}

// ParameterDefinition declares a parameter of a distribution.
type ParameterDefinition = upstream.Parameter

// Certificate is what a tenant has to know of a certificate in ACM.
type Certificate struct {
	ARN        string
	Unreadable bool
	Missing    bool
	// Deleted means that ACM has just accepted its deletion.
	Deleted bool
	// Status is ACM's, for example ISSUED.
	Status string
	// Names are in lower case and sorted.
	Names []string
	// NotAfter is when the certificate expires, zero before it was issued.
	NotAfter time.Time
	// InUse reports whether some resource of AWS uses the certificate: then it can't be deleted.
	InUse bool
	// CloudFrontManaged reports whether CloudFront requested the certificate and renews it.
	CloudFrontManaged bool
	// Type is ACM's word for where the certificate comes from, for example IMPORTED. Issuer is the name of the authority
	// that signed it; a list does not show it.
	Type, Issuer string
	// FailureReason is ACM's word for why the certificate was not issued, for example
	// CAA_ERROR; empty when it has not failed.
	FailureReason string
	// Renewal is what ACM says of its renewal; a list does not show it.
	Renewal certificate.Renewal
}
