package aws

import (
	"errors"
	"strings"

	"github.com/aws/smithy-go"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// Table classifies the errors of one service by their code. A code that is not listed
// is fault.Transient: it is tried again, and nothing is concluded from it.
type Table struct {
	// Codes holds the codes of the service.
	Codes map[string]fault.Kind
	// Prefixes classifies the codes that begin like this and are not listed, for services that
	// have a code for everything.
	Prefixes map[string]fault.Kind
	// Operations overrides Codes where a code means something else.
	Operations map[string]map[string]fault.Kind
	// Texts decides between kinds that share a code. It is the last resort, for codes
	// that AWS uses for too much.
	Texts []Text
}

// Text is a piece of an error message, in lower case, that decides the kind of a code.
type Text struct {
	Code, Contains string
	Kind           fault.Kind
}

// throttles are the codes for "too fast" that the services of AWS use.
var throttles = map[string]bool{
	"BandwidthLimitExceeded":                 true,
	"EC2ThrottledException":                  true,
	"PriorRequestNotComplete":                true,
	"ProvisionedThroughputExceededException": true,
	"RequestLimitExceeded":                   true,
	"RequestThrottled":                       true,
	"RequestThrottledException":              true,
	"SlowDown":                               true,
	"ThrottledException":                     true,
	"Throttling":                             true,
	"ThrottlingException":                    true,
	"TooManyRequestsException":               true,
}

// denials are the codes with which any service of AWS refuses a caller.
var denials = map[string]bool{
	"AccessDenied":                        true,
	"AccessDeniedException":               true,
	"AuthFailure":                         true,
	"ExpiredToken":                        true,
	"ExpiredTokenException":               true,
	"IDPRejectedClaim":                    true,
	"IncompleteSignature":                 true,
	"InvalidClientTokenId":                true,
	"InvalidIdentityToken":                true,
	"InvalidSignatureException":           true,
	"MissingAuthenticationToken":          true,
	"MissingAuthenticationTokenException": true,
	"NotAuthorized":                       true,
	"OptInRequired":                       true,
	"RegionDisabledException":             true,
	"SignatureDoesNotMatch":               true,
	"UnauthorizedOperation":               true,
	"UnrecognizedClientException":         true,
}

// unknownError is the SDK's stand-in for an error answer without a code.
const unknownError = "UnknownError"

// Classify turns any error of a call into a *fault.Error, and nil into nil.
func (t Table) Classify(operation string, err error) error {
	if err == nil {
		return nil
	}
	if known, ok := errors.AsType[*fault.Error](err); ok {
		return known
	}
	code, _ := serviceCode(err)
	if code == unknownError {
		code = ""
	}
	return &fault.Error{
		Kind: t.kind(operation, err), Operation: operation, Code: code, Message: message(err), Err: err,
	}
}

func (t Table) kind(operation string, err error) fault.Kind {
	code, answered := serviceCode(err)
	if !answered {
		return unansweredKind(code, err)
	}
	if isThrottle(err) {
		return fault.Throttled
	}
	for _, text := range t.Texts {
		if text.Code == code && strings.Contains(strings.ToLower(serviceText(err)), text.Contains) {
			return text.Kind
		}
	}
	if kind, ok := t.Operations[operation][code]; ok {
		return kind
	}
	if kind, ok := t.Codes[code]; ok {
		return kind
	}
	switch {
	case denials[code]:
		return fault.Denied
	case strings.HasPrefix(code, "TooMany"):
		return fault.Quota
	}
	for prefix, kind := range t.Prefixes {
		if strings.HasPrefix(code, prefix) {
			return kind
		}
	}
	// A status alone proves nothing: a proxy's 404 page is not AWS saying "not there".
	return fault.Transient
}

// unansweredKind classifies what failed before the service answered. Nothing was sent
// then if the SDK refused the request, or if there were no credentials to sign it with.
func unansweredKind(code string, err error) fault.Kind {
	var params smithy.InvalidParamsError
	var serialization *smithy.SerializationError
	switch {
	case errors.As(err, &params), errors.As(err, &serialization):
		return fault.Invalid
	case denials[code]:
		return fault.Denied
	case throttles[code]:
		return fault.Throttled
	}
	return fault.Transient
}

// Unreadable is the error for an answer without what every answer has. It counts as
// no answer: whether the call was carried out is unknown.
func Unreadable(operation, what string) error {
	return &fault.Error{
		Kind: fault.Transient, Operation: operation, Message: "the response does not contain " + what,
	}
}
