package externaldns

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// The operations, for messages and metrics.
const (
	opZone   = "SOA"
	opRead   = "QUERY"
	opList   = "ListDNSEndpoints"
	opGet    = "GetDNSEndpoint"
	opCreate = "CreateDNSEndpoint"
	opUpdate = "UpdateDNSEndpoint"
	opDelete = "DeleteDNSEndpoint"
)

const codeNoKind = "NoDNSEndpoints"

// longestMessage keeps what the API server says out of a status that has to stay short.
const longestMessage = 500

// failure classifies what the API server has said of a call.
func (d *DNS) failure(operation string, err error) error {
	if _, classified := errors.AsType[*fault.Error](err); err == nil || classified {
		return err
	}
	out := &fault.Error{Operation: operation, Code: string(apierrors.ReasonForError(err)), Err: err}
	var status apierrors.APIStatus
	switch {
	case meta.IsNoMatchError(err), apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) && apierrors.IsNotFound(err):
		// Without the kind no object can be seen. That is not to say that their records are gone.
		out.Kind, out.Code = fault.Denied, codeNoKind
		out.Message = "the cluster has no kind DNSEndpoint: install the CustomResourceDefinition of ExternalDNS"
	case apierrors.IsNotFound(err) && (operation == opCreate || operation == opList):
		out.Kind, out.Message = fault.Denied, fmt.Sprintf("the namespace %s does not exist: create it, or correct the account's", d.config.Namespace)
	case apierrors.IsNotFound(err):
		out.Kind, out.Message = fault.NotFound, "the DNSEndpoint does not exist"
	case apierrors.IsAlreadyExists(err):
		out.Kind, out.Message = fault.Exists, "the DNSEndpoint exists already"
	case apierrors.IsConflict(err):
		out.Kind, out.Message = fault.Conflict, "the DNSEndpoint was changed meanwhile"
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		out.Kind = fault.Denied
		out.Message = fmt.Sprintf("the operator may not do this in the namespace %s: check its Role for dnsendpoints, and admission policies", d.config.Namespace)
		if apierrors.HasStatusCause(err, "NamespaceTerminating") {
			out.Message = fmt.Sprintf("the namespace %s is being deleted", d.config.Namespace)
		}
	case apierrors.IsTooManyRequests(err):
		out.Kind, out.Message = fault.Throttled, "the API server asks for a slower pace"
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err):
		out.Kind, out.Message = fault.Invalid, prose.Fit(err.Error(), longestMessage)
	case errors.As(err, &status):
		out.Kind, out.Message = fault.Transient, "the API server failed"
	default:
		out.Kind, out.Message = fault.Transient, "the API server did not respond"
	}
	return out
}

func invalid(format string, args ...any) error {
	return fault.New(fault.Invalid, opUpdate, format, args...)
}

func conflict(format string, args ...any) error {
	return fault.New(fault.Conflict, opUpdate, format, args...)
}

func exists(s dns.RecordSet) error {
	return fault.New(fault.Exists, opCreate, "the name %s has %s already", s.Name, s)
}
