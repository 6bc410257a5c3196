package azure

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// The operations, as Azure's API description calls them.
const (
	opGetZone          = "Zones_Get"
	opListZones        = "Zones_List"
	opListZonesOfGroup = "Zones_ListByResourceGroup"
	opListRecords      = "RecordSets_ListAllByDnsZone"
	opGetRecord        = "RecordSets_Get"
	opPutRecord        = "RecordSets_CreateOrUpdate"
	opDeleteRecord     = "RecordSets_Delete"
	opToken            = "GetToken"
)

// The codes that say what is not there.
const (
	codeNoRecord       = "NotFound"
	codeNoResource     = "ResourceNotFound"
	codeNoParent       = "ParentResourceNotFound"
	codeNoGroup        = "ResourceGroupNotFound"
	codeNoSubscription = "SubscriptionNotFound"
)

// codePrecondition says that the condition of a write was not met.
const codePrecondition = "PreconditionFailed"

// codes classifies Azure's error codes. Those of details win over the one that they belong to: Conflict alone says little.
var codes = map[string]fault.Kind{
	"AuthenticationFailed":             fault.Denied,
	"AuthorizationFailed":              fault.Denied,
	"ExpiredAuthenticationToken":       fault.Denied,
	"InvalidAuthenticationToken":       fault.Denied,
	"InvalidAuthenticationTokenTenant": fault.Denied,
	"LinkedAuthorizationFailed":        fault.Denied,
	"MissingSubscriptionRegistration":  fault.Denied,
	"ReadOnlyDisabledSubscription":     fault.Denied,
	"RequestDisallowedByPolicy":        fault.Denied,
	"ScopeLocked":                      fault.Denied,
	"SubscriptionNotRegistered":        fault.Denied,

	// A mistake in the account must not look as if its zones were gone: their records would be given up.
	"InvalidSubscriptionId": fault.Denied,
	codeNoSubscription:      fault.Denied,

	codeNoRecord:   fault.NotFound,
	codeNoResource: fault.NotFound,
	codeNoParent:   fault.NotFound,
	codeNoGroup:    fault.NotFound,

	"MaximumNumberOfRecordSetsReached": fault.Quota,
	"QuotaExceeded":                    fault.Quota,

	codePrecondition: fault.Conflict,
	"CannotCreateRecordDueToCNameNamingRestriction": fault.Exists,

	"AnotherOperationInProgress":    fault.Throttled,
	"ResourceRequestsThrottled":     fault.Throttled,
	"SubscriptionRequestsThrottled": fault.Throttled,
	"TooManyRequests":               fault.Throttled,
}

// operations overrides codes where one means something else.
var operations = map[string]map[string]fault.Kind{
	// Only a CNAME next to other sets, and other sets next to a CNAME, end in a conflict, and not every such answer has a
	// detail.
	opPutRecord: {"Conflict": fault.Exists},
	// A list of all zones is never absent.
	opListZonesOfGroup: {codeNoGroup: fault.Denied},
}

// statuses classifies errors whose code is not listed. An error that is not here either is transient: nothing is
// concluded from it.
var statuses = map[int]fault.Kind{
	http.StatusBadRequest:          fault.Invalid,
	http.StatusUnauthorized:        fault.Denied,
	http.StatusForbidden:           fault.Denied,
	http.StatusConflict:            fault.Conflict,
	http.StatusPreconditionFailed:  fault.Conflict,
	http.StatusUnprocessableEntity: fault.Invalid,
	http.StatusTooManyRequests:     fault.Throttled,
}

// hints say what to do about a denial.
var hints = map[string]string{
	"AuthorizationFailed":   "give the operator's identity the role DNS Zone Contributor on the zone, and Reader on what lists the zones",
	"InvalidSubscriptionId": "correct subscriptionId",
	codeNoGroup:             "correct resourceGroup",
	codeNoSubscription:      "correct subscriptionId, or give the operator's identity the role Reader there",
	"ScopeLocked":           "remove the lock from the zone or its resource group",
}

// texts replace what Azure says where that changes from try to try.
var texts = map[string]string{
	"AuthorizationFailed":           "the operator's identity has no role that allows this",
	"ExpiredAuthenticationToken":    "the access token has expired: check the clock of the node",
	"ResourceRequestsThrottled":     "Azure limits how often this may be called",
	"SubscriptionRequestsThrottled": "Azure limits how often the subscription may be called",
	"TooManyRequests":               "Azure limits how often this may be called",
}

// longestMessage bounds what reaches status and events.
const longestMessage = 511

// body is an error of Azure. The DNS service has it bare, the Resource Manager wrapped.
type body struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Details []struct {
		Code string `json:"code"`
	} `json:"details"`
}

// classify says what a failure means. Each error is classified here, once.
func classify(operation string, err error) error {
	if err == nil {
		return nil
	}
	if known, ok := errors.AsType[*fault.Error](err); ok {
		// From the source of tokens: it says better what is wrong.
		copied := *known
		copied.Operation = operation
		return &copied
	}
	answer, ok := errors.AsType[*azcore.ResponseError](err)
	if !ok {
		return &fault.Error{Kind: fault.Transient, Operation: operation, Message: transportText(err), Err: err}
	}
	said := read(answer)
	code := cmp.Or(said.Code, answer.ErrorCode)
	failure := &fault.Error{Kind: kindOf(operation, answer.StatusCode, said, code), Operation: operation, Code: code, Err: err}
	if failure.Kind == fault.Throttled {
		failure.RetryAfter = retryAfter(answer.RawResponse)
	}
	failure.Message = message(said, code, failure.Kind)
	return failure
}

func read(answer *azcore.ResponseError) body {
	var wrapped struct {
		body

		Error body `json:"error"`
	}
	if answer.RawResponse == nil {
		return body{}
	}
	payload, err := runtime.Payload(answer.RawResponse)
	if err != nil || json.Unmarshal(payload, &wrapped) != nil {
		return body{}
	}
	if wrapped.Error.Code != "" {
		return wrapped.Error
	}
	return wrapped.body
}

func kindOf(operation string, status int, said body, code string) fault.Kind {
	for _, d := range said.Details {
		if kind, ok := codes[d.Code]; ok {
			return kind
		}
	}
	if kind, ok := operations[operation][code]; ok {
		return kind
	}
	if kind, ok := codes[code]; ok {
		return kind
	}
	if kind, ok := statuses[status]; ok {
		return kind
	}
	return fault.Transient
}

// spaces and instants are what changes in texts that mean the same.
var (
	spaces   = regexp.MustCompile(`\s+`)
	instants = regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?`)
	requests = regexp.MustCompile(`(?i)[\s.,;(]*\b(trace|correlation|request|activity|tracking)[ -]?id\s*[:=]\s*'?[\w-]+'?\)?|\s*timestamp:\s*$`)
)

// message is stable from try to try.
func message(said body, code string, kind fault.Kind) string {
	text := cmp.Or(texts[code], stable(said.Message), "Azure did not say why")
	if hint := hints[code]; hint != "" && kind != fault.Throttled {
		text = strings.TrimSuffix(text, ".") + ": " + hint
	}
	return prose.Fit(text, longestMessage)
}

// stable leaves out of a text what changes from try to try.
func stable(text string) string {
	text = spaces.ReplaceAllString(text, " ")
	text = instants.ReplaceAllString(text, "")
	return strings.TrimSpace(requests.ReplaceAllString(strings.TrimSpace(text), ""))
}

// transportText describes a failure without an answer in fixed words.
func transportText(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "Azure did not respond in time"
	case errors.Is(err, context.Canceled):
		return "the call was canceled"
	}
	return "Azure could not be reached, or its answer could not be read"
}

func retryAfter(answer *http.Response) time.Duration {
	if answer == nil {
		return 0
	}
	seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// unreadable is an answer that lacks what every such answer has. Nothing is concluded from it.
func unreadable(operation, what string) error {
	return fault.New(fault.Transient, operation, "the answer of Azure does not have %s", what)
}
