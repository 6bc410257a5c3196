package kube

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// codeNoKind stands for a kind that the cluster does not have.
const codeNoKind = "NoKindMatch"

// longestMessage keeps a webhook's answer from filling a status; an ellipsis comes on top.
const longestMessage = 999

// classified is classify for an error that may be none.
func classified(operation string, o plan.Object, err error) error {
	if err == nil {
		return nil
	}
	return classify(operation, o, err)
}

// classify says what an error of the API server means for the object.
func classify(operation string, o plan.Object, err error) *fault.Error {
	f := &fault.Error{Operation: operation, Err: err}
	var status apierrors.APIStatus
	switch {
	case isKindMissing(err):
		f.Kind, f.Code, f.Message = fault.NotFound, codeNoKind, noKind(o)
	case errors.As(err, &status):
		f.Code = string(apierrors.ReasonForError(err))
		if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
			f.RetryAfter = time.Duration(seconds) * time.Second
		}
		f.Kind, f.Message = answer(o, err, status.Status())
		if text := roleDenied(o, status.Status()); text != "" {
			f.Kind, f.Code, f.Message = fault.Denied, plan.CodeMayNotBind, text
		}
	default:
		// The texts of what is below name ports that differ each time.
		f.Kind, f.Message = fault.Transient, "the API server did not answer"
	}
	f.Message = prose.Shorten(f.Message, longestMessage)
	return f
}

// answer is the table of the API server's answers.
func answer(o plan.Object, err error, s metav1.Status) (fault.Kind, string) {
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return fault.Conflict, fmt.Sprintf("the namespace %s is being deleted", o.Namespace)
	case deniedByAdmission(s):
		return fault.Denied, s.Message
	case apierrors.IsAlreadyExists(err):
		return fault.Exists, fmt.Sprintf("the %s already exists", o.Ref())
	case apierrors.IsConflict(err), aboutUID(s):
		// What it says names both UIDs.
		return fault.Conflict, fmt.Sprintf("the %s was changed or replaced since it was read", o.Ref())
	case s.Code == http.StatusForbidden, s.Code == http.StatusUnauthorized:
		return refusal(s)
	case s.Code == http.StatusNotFound:
		return fault.NotFound, s.Message
	case s.Code == http.StatusTooManyRequests:
		return fault.Throttled, s.Message
	case notOfTheSchema(s):
		return fault.Invalid, afterLast(s.Message, "): ", " to proper version: ", "Kind="+o.Kind.Kind+": ")
	case s.Code == http.StatusRequestTimeout, s.Code == http.StatusGone, s.Code >= http.StatusInternalServerError:
		return fault.Transient, s.Message
	}
	return fault.Invalid, mistakes(s)
}

// AnswerOf says what an error of the API server means for one of many objects that are written alike, and what it says of the
// object, without naming it again.
func AnswerOf(err error) (port.Answer, string) {
	var status apierrors.APIStatus
	if isKindMissing(err) {
		return port.KindMissing, ""
	}
	if !errors.As(err, &status) {
		return port.Passing, ""
	}
	s := status.Status()
	switch {
	case deniedByAdmission(s):
		return port.RefusedOne, mistakes(s)
	case apierrors.IsConflict(err), aboutUID(s):
		return port.Changed, mistakes(s)
	case apierrors.IsNotFound(err):
		return port.Missing, mistakes(s)
	case apierrors.IsTooManyRequests(err), apierrors.IsTimeout(err):
		return port.Passing, mistakes(s)
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), overQuota(s):
		return port.RefusedOne, mistakes(s)
	case apierrors.IsInternalError(err), s.Code/100 == 4:
		return port.RefusedAll, mistakes(s)
	}
	return port.Passing, mistakes(s)
}

// notOfTheSchema reports whether the object can't be read as one of its kind. For an apply the API server calls that a failure
// of its own (500), without a reason as its real ones have one.
func notOfTheSchema(s metav1.Status) bool {
	return s.Code == http.StatusInternalServerError && s.Reason == metav1.StatusReasonUnknown &&
		(strings.HasPrefix(s.Message, "failed to create typed patch object (") || strings.HasPrefix(s.Message, "failed to convert new object ("))
}

// deniedByAdmission reports whether a policy of the cluster does not want the object. Whatever code a webhook answers with, only the text
// that the API server puts before it tells it from the API server's own refusal.
func deniedByAdmission(s metav1.Status) bool {
	return s.Reason != metav1.StatusReasonInternalError &&
		(strings.Contains(s.Message, "denied the request") || strings.Contains(s.Message, "denied request"))
}

// aboutUID reports whether the object of that name is another one than was named.
func aboutUID(s metav1.Status) bool {
	return s.Details != nil && slices.ContainsFunc(s.Details.Causes, func(c metav1.StatusCause) bool { return c.Field == "metadata.uid" })
}

// refusal is a right that is missing, or a quota that is used up, for which the API server has the same code.
func refusal(s metav1.Status) (fault.Kind, string) {
	if overQuota(s) {
		return fault.Quota, s.Message
	}
	return fault.Denied, s.Message
}

// roleDenied says why the role of a binding may not be bound; empty where it may, or the answer speaks of something else.
func roleDenied(o plan.Object, s metav1.Status) string {
	switch {
	case strings.Contains(s.Message, "attempting to grant RBAC permissions not currently held"):
		// It continues with every single rule of the role.
		return bindAdvice(o)
	case s.Code == http.StatusNotFound && s.Details != nil && s.Details.Kind != "namespaces" && s.Details.Name != o.Name && s.Details.Name == roleOf(o)["name"]:
		// For a user that may not bind a role, the API server checks each right in the role, so it has to exist. It
		// names the role only, and calls it a binding.
		return bindAdvice(o) + " (there is no such role)"
	}
	return ""
}

// overQuota reports whether a ResourceQuota has no room for the object.
func overQuota(s metav1.Status) bool {
	return s.Code == http.StatusForbidden && strings.Contains(s.Message, "exceeded quota")
}

// bindAdvice says how to get the right to bind a role.
func bindAdvice(o plan.Object) string {
	role := roleOf(o)
	return fmt.Sprintf("the operator is not allowed to bind the %v %v: add it to the chart value tenancy.ownerClusterRoles", role["kind"], role["name"])
}

// roleOf is the role that a binding refers to.
func roleOf(o plan.Object) map[string]any {
	role, _ := o.Body["roleRef"].(map[string]any)
	return role
}

// isKindMissing reports whether the cluster does not have the kind of the object, or is about to lose it. Where a path is unknown
// to it, the API server does not answer with a status of its own, as it does where an object or a namespace does not exist.
func isKindMissing(err error) bool {
	return meta.IsNoMatchError(err) || apierrors.IsMethodNotSupported(err) ||
		apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

func noKind(o plan.Object) string {
	return fmt.Sprintf("the cluster has no CRD for %s of %s: install it", o.Kind.Kind, o.APIVersion())
}

// mistakes are the fields that the API server does not like, without naming the object again.
func mistakes(s metav1.Status) string {
	if s.Details == nil {
		return s.Message
	}
	var parts []string
	for _, cause := range s.Details.Causes {
		if cause.Field != "" {
			parts = append(parts, cause.Field+": "+cause.Message)
		}
	}
	if len(parts) == 0 {
		return s.Message
	}
	return strings.Join(parts, "; ")
}

// afterLast is the text after the last of several marks, where they are.
func afterLast(text string, marks ...string) string {
	for _, mark := range marks {
		if _, after, ok := strings.Cut(text, mark); ok {
			text = after
		}
	}
	return text
}
