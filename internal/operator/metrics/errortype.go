package metrics

import (
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// unknownError is the type of an error that has none of its own.
const unknownError = "unknown"

// errorTypeNames are the values of the label error_type, which dashboards know.
var errorTypeNames = map[fault.Kind]string{
	fault.Throttled: "throttling", fault.Transient: "retryable", fault.Conflict: "conflict", fault.Exists: "already_exists",
	fault.NotFound: "not_found", fault.NotDisabled: "not_disabled", fault.InUse: "in_use", fault.DomainTaken: "domain_conflict",
	fault.DomainUnverified: "domain_validation_pending", fault.Denied: "access_denied", fault.Quota: "quota_exceeded",
	fault.Invalid: "invalid_spec",
}

// dnsErrorTypeNames are those of batches of DNS changes.
var dnsErrorTypeNames = map[fault.Kind]string{
	fault.Throttled: "dns_throttling", fault.Transient: "dns_retryable", fault.Conflict: "dns_retryable",
	fault.NotFound: "dns_zone_not_found", fault.Denied: "dns_access_denied", fault.Invalid: "dns_invalid_input",
}

// dnsError is the type of a failed batch that has none of its own.
const dnsError = "dns_error"

func errorType(kind fault.Kind) string {
	if name, ok := errorTypeNames[kind]; ok {
		return name
	}
	return unknownError
}

func dnsErrorType(kind fault.Kind) string {
	if name, ok := dnsErrorTypeNames[kind]; ok {
		return name
	}
	return dnsError
}

// errorTypes lists them all.
func errorTypes() []string {
	out := []string{unknownError, dnsError}
	for _, names := range []map[fault.Kind]string{errorTypeNames, dnsErrorTypeNames} {
		for _, name := range names {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
