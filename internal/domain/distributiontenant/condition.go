package distributiontenant

import (
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
)

// The conditions that only a tenant has.
const (
	CertificateReady = certificate.Ready
	DNSReady         = publication.Ready
)

// The reasons that only a tenant has.
const (
	ReasonCertificateSANMismatch chain.Reason = "CertificateSANMismatch"
	ReasonMissingParameters      chain.Reason = "MissingParameters"
	ReasonMissingCertificate     chain.Reason = "MissingCertificate"
	ReasonDomainChangeHeld       chain.Reason = "DomainChangeHeld"
	ReasonReferenceNotReady      chain.Reason = "ReferenceNotReady"
	ReasonNotConfigured          chain.Reason = "NotConfigured"
)

// The reasons of its certificate and its records.
const (
	ReasonValidated         = certificate.ReasonValidated
	ReasonPendingValidation = certificate.ReasonPendingValidation
	ReasonAttaching         = certificate.ReasonAttaching
	ReasonDNSNotConfigured  = publication.ReasonDNSNotConfigured
	ReasonDNSReady          = publication.ReasonDNSReady
	ReasonDNSRecordCreating = publication.ReasonDNSRecordCreating
	ReasonDNSPropagating    = publication.ReasonDNSPropagating
	ReasonDNSConflict       = publication.ReasonDNSConflict
	ReasonDNSError          = publication.ReasonDNSError
	ReasonZoneNotFound      = publication.ReasonZoneNotFound
	ReasonZoneAmbiguous     = publication.ReasonZoneAmbiguous
	ReasonRoleNotAllowed    = publication.ReasonRoleNotAllowed
)
