package route53

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// The operations, as the SDK and IAM call them.
const (
	opGetZone     = "GetHostedZone"
	opListZones   = "ListHostedZones"
	opListRecords = "ListResourceRecordSets"
	opChange      = "ChangeResourceRecordSets"
	opGetChange   = "GetChange"
)

// errorTable classifies Route 53's error codes. A code that is not listed is transient. An earlier
// change that is still worked on counts as a throttle, as for every service.
var errorTable = aws.Table{
	Codes: map[string]fault.Kind{
		"NoSuchHostedZone": fault.NotFound,
		"NoSuchChange":     fault.NotFound,

		"NotAuthorizedException": fault.Denied,

		"LimitsExceeded": fault.Quota,

		"InvalidChangeBatch": fault.Invalid,
		"InvalidInput":       fault.Invalid,
		"InvalidArgument":    fault.Invalid,
		"InvalidDomainName":  fault.Invalid,
		"MalformedXML":       fault.Invalid,
		"NoSuchHealthCheck":  fault.Invalid,
		"ValidationError":    fault.Invalid,
	},
	Operations: map[string]map[string]fault.Kind{
		// A list of all zones is never absent.
		opListZones: {"NoSuchHostedZone": fault.Transient},
	},
}

func classify(operation string, err error) error { return errorTable.Classify(operation, err) }

// present refuses a pointer that the SDK left nil because its element was missing.
func present[T any](operation, what string, value *T) error {
	if value == nil {
		return aws.Unreadable(operation, what)
	}
	return nil
}

// classifyChange classifies a refused batch by all that Route 53 says of it. In one form of
// the answer that is in a single text, between brackets; in the other each change has
// its own, and the text of the error is the SDK's.
func classifyChange(err error) error {
	refused, ok := errors.AsType[*types.InvalidChangeBatch](err)
	if !ok {
		return classify(opChange, err)
	}
	if len(refused.Messages) > 0 {
		messages := slices.Sorted(slices.Values(refused.Messages))
		text := strings.Join(slices.Compact(messages), ", ")
		refused.Message = &text
	}
	text := refused.ErrorMessage()
	failure, ok := errors.AsType[*fault.Error](classify(opChange, err))
	if ok && failure.Kind == fault.Invalid && onlyExists(text) {
		failure.Kind = fault.Exists
	}
	return failure
}

var (
	// exists matches what Route 53 says of one set that it can't create because it is there.
	exists = regexp.MustCompile(`Tried to create resource record set (\[[^\[\]]*\]|[^,\[\]]* type \w+,?) but it already exists`)
	// separators are all that may stand around it.
	separators = regexp.MustCompile(`^[\s,\[\].]*$`)
)

// onlyExists reports whether a text says of every change that it refuses that the set is
// there, and nothing else.
func onlyExists(text string) bool {
	return exists.MatchString(text) && separators.MatchString(exists.ReplaceAllString(text, ""))
}
