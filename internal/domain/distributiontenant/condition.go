package distributiontenant

import (
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
)

// The conditions that only a tenant has.
const (
	CertificateReady                     = certificate.Ready
	DNSReady         chain.ConditionType = "DNSReady"
)

// The reasons that only a tenant has.
const (
	ReasonCertificateSANMismatch chain.Reason = "CertificateSANMismatch"
	ReasonMissingParameters      chain.Reason = "MissingParameters"
	ReasonMissingCertificate     chain.Reason = "MissingCertificate"
	ReasonDomainChangeHeld       chain.Reason = "DomainChangeHeld"
	ReasonReferenceNotReady      chain.Reason = "ReferenceNotReady"
	ReasonValidated                           = certificate.ReasonValidated
	ReasonPendingValidation                   = certificate.ReasonPendingValidation
	ReasonAttaching                           = certificate.ReasonAttaching
	ReasonNotConfigured          chain.Reason = "NotConfigured"
	ReasonDNSNotConfigured       chain.Reason = "DNSNotConfigured"
	ReasonDNSReady               chain.Reason = "DNSReady"
	ReasonDNSRecordCreating      chain.Reason = "DNSRecordCreating"
	ReasonDNSPropagating         chain.Reason = "DNSPropagating"
	ReasonDNSConflict            chain.Reason = "DNSConflict"
	ReasonDNSError               chain.Reason = "DNSError"
	ReasonZoneNotFound           chain.Reason = "ZoneNotFound"
	ReasonZoneAmbiguous          chain.Reason = "ZoneAmbiguous"
	ReasonRoleNotAllowed         chain.Reason = "RoleNotAllowed"
)
