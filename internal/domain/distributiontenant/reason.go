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
	ReasonDistributionDisabled   chain.Reason = "DistributionDisabled"
	ReasonNotConfigured          chain.Reason = "NotConfigured"
	ReasonKeyValuesPending       chain.Reason = "KeyValuesPending"
	ReasonKeyValueConflict       chain.Reason = "KeyValueConflict"
	ReasonRollingOut             chain.Reason = "RollingOut"
)
