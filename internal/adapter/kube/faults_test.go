package kube_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

func TestClassify(t *testing.T) {
	quotas := schema.GroupResource{Resource: "resourcequotas"}
	status := func(code int32, reason metav1.StatusReason, message string, causes ...metav1.StatusCause) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Code: code, Reason: reason, Message: message, Details: &metav1.StatusDetails{Name: "kleff-plan", Kind: "resourcequotas", Causes: causes},
		}}
	}
	tests := map[string]struct {
		err  error
		want fault.Error
	}{
		"no answer: neither ports nor addresses": {
			&url.Error{Op: "Patch", URL: "https://10.0.0.1", Err: errors.New("read tcp 10.0.0.2:54321: connection reset")},
			fault.Error{Kind: fault.Transient, Message: "the API server did not answer"},
		},
		"no response within the time limit": {context.DeadlineExceeded, fault.Error{Kind: fault.Transient, Message: "the API server did not answer"}},
		"an unknown kind, below others": {
			fmt.Errorf("finding: %w", &meta.NoKindMatchError{}),
			fault.Error{Kind: fault.NotFound, Code: "NoKindMatch", Message: "the cluster has no CRD for ResourceQuota of v1: install it"},
		},
		"a kind that has gone since it was found": {
			apierrors.NewGenericServerResponse(404, "patch", quotas, "", "404 page not found", 0, true),
			fault.Error{Kind: fault.NotFound, Code: "NoKindMatch", Message: "the cluster has no CRD for ResourceQuota of v1: install it"},
		},
		"a kind that has gone, asked for by the name of an object": {
			apierrors.NewGenericServerResponse(404, "patch", quotas, "kleff-plan", "404 page not found", 0, true),
			fault.Error{Kind: fault.NotFound, Code: "NoKindMatch", Message: "the cluster has no CRD for ResourceQuota of v1: install it"},
		},
		"an object that does not exist": {
			apierrors.NewNotFound(quotas, "kleff-plan"),
			fault.Error{Kind: fault.NotFound, Code: "NotFound", Message: `resourcequotas "kleff-plan" not found`},
		},
		"a namespace that does not exist": {
			apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "acme"),
			fault.Error{Kind: fault.NotFound, Code: "NotFound", Message: `namespaces "acme" not found`},
		},
		"a kind that is going": {
			apierrors.NewMethodNotSupported(quotas, "create"),
			fault.Error{Kind: fault.NotFound, Code: "NoKindMatch", Message: "the cluster has no CRD for ResourceQuota of v1: install it"},
		},
		"too much": {
			apierrors.NewTooManyRequests("too many requests", 7),
			fault.Error{Kind: fault.Throttled, Code: "TooManyRequests", Message: "too many requests", RetryAfter: 7 * time.Second},
		},
		"too slow":         {apierrors.NewTimeoutError("request did not complete", 0), fault.Error{Kind: fault.Transient, Code: "Timeout", Message: "Timeout: request did not complete"}},
		"starting":         {apierrors.NewServiceUnavailable("starting"), fault.Error{Kind: fault.Transient, Code: "ServiceUnavailable", Message: "starting"}},
		"a failure":        {status(500, metav1.StatusReasonInternalError, "etcd is unwell"), fault.Error{Kind: fault.Transient, Code: "InternalError", Message: "etcd is unwell"}},
		"an expired list":  {apierrors.NewResourceExpired("too old"), fault.Error{Kind: fault.Transient, Code: "Expired", Message: "too old"}},
		"expired identity": {apierrors.NewUnauthorized("Unauthorized"), fault.Error{Kind: fault.Denied, Code: "Unauthorized", Message: "Unauthorized"}},
		"another version":  {apierrors.NewConflict(quotas, "kleff-plan", errors.New("UID 1234")), fault.Error{Kind: fault.Conflict, Code: "Conflict", Message: "the ResourceQuota kleff-plan was changed or replaced since it was read"}},
		"another object":   {status(422, metav1.StatusReasonInvalid, "UID 1234", metav1.StatusCause{Field: "metadata.uid"}), fault.Error{Kind: fault.Conflict, Code: "Invalid", Message: "the ResourceQuota kleff-plan was changed or replaced since it was read"}},
		"a webhook that is down is no refusal": {
			status(500, metav1.StatusReasonInternalError, `failed calling webhook "x": denied the request`),
			fault.Error{Kind: fault.Transient, Code: "InternalError", Message: `failed calling webhook "x": denied the request`},
		},
		"a webhook's refusal, whatever its code": {
			status(400, metav1.StatusReasonBadRequest, `admission webhook "x" denied the request: [registries] not ours`),
			fault.Error{Kind: fault.Denied, Code: "BadRequest", Message: `admission webhook "x" denied the request: [registries] not ours`},
		},
		"a namespace that goes, as a conflict": {
			status(409, metav1.StatusReasonConflict, "unable to create new content", metav1.StatusCause{Type: corev1.NamespaceTerminatingCause}),
			fault.Error{Kind: fault.Conflict, Code: "Conflict", Message: "the namespace acme is being deleted"},
		},
		"mistakes by field": {
			status(422, metav1.StatusReasonInvalid, "all of it", metav1.StatusCause{Field: "spec.a", Message: "bad"}, metav1.StatusCause{Field: "spec.b", Message: "worse"}),
			fault.Error{Kind: fault.Invalid, Code: "Invalid", Message: "spec.a: bad; spec.b: worse"},
		},
		"a mistake without fields": {apierrors.NewBadRequest("unreadable"), fault.Error{Kind: fault.Invalid, Code: "BadRequest", Message: "unreadable"}},
		"too large":                {apierrors.NewRequestEntityTooLargeError("3 MB"), fault.Error{Kind: fault.Invalid, Code: "RequestEntityTooLarge", Message: "Request entity too large: 3 MB"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := kube.Classify("ApplyResourceQuota", quota("acme", "5"), test.err)
			if got.Kind != test.want.Kind || got.Code != test.want.Code || got.Message != test.want.Message || got.RetryAfter != test.want.RetryAfter {
				t.Errorf("got  %s %q %q %s\nwant %s %q %q %s", got.Kind, got.Code, got.Message, got.RetryAfter, test.want.Kind, test.want.Code, test.want.Message, test.want.RetryAfter)
			}
			if !errors.Is(got, test.err) || got.Operation != "ApplyResourceQuota" {
				t.Errorf("the cause or the operation is lost: %v", got)
			}
		})
	}
}

func TestAnswerOf(t *testing.T) {
	tenants := schema.GroupResource{Group: "cloudfront-tenant-operator.io", Resource: "distributiontenants"}
	status := func(code int32, reason metav1.StatusReason, message string, causes ...metav1.StatusCause) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Code: code, Reason: reason, Message: message, Details: &metav1.StatusDetails{Causes: causes}}}
	}
	tests := map[string]struct {
		err     error
		want    port.Answer
		message string
	}{
		"no response":           {errors.New("connection reset"), port.Passing, ""},
		"too many requests":     {apierrors.NewTooManyRequests("slow down", 7), port.Passing, "slow down"},
		"too slow":              {apierrors.NewTimeoutError("late", 0), port.Passing, "Timeout: late"},
		"starting":              {apierrors.NewServiceUnavailable("starting"), port.Passing, "starting"},
		"another version":       {apierrors.NewConflict(tenants, "a", errors.New("changed")), port.Changed, `Operation cannot be fulfilled on distributiontenants.cloudfront-tenant-operator.io "a": changed`},
		"another object":        {status(422, metav1.StatusReasonInvalid, "UID", metav1.StatusCause{Field: "metadata.uid", Message: "mismatch"}), port.Changed, "metadata.uid: mismatch"},
		"no namespace":          {apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "b"), port.Missing, `namespaces "b" not found`},
		"no kind":               {apierrors.NewGenericServerResponse(404, "patch", tenants, "a", "404 page not found", 0, true), port.KindMissing, ""},
		"no kind, as found":     {fmt.Errorf("finding: %w", &meta.NoKindMatchError{}), port.KindMissing, ""},
		"a kind that goes":      {apierrors.NewMethodNotSupported(tenants, "create"), port.KindMissing, ""},
		"mistakes by field":     {status(422, metav1.StatusReasonInvalid, "all", metav1.StatusCause{Field: "spec.a", Message: "bad"}), port.RefusedOne, "spec.a: bad"},
		"a mistake":             {apierrors.NewBadRequest("unreadable"), port.RefusedOne, "unreadable"},
		"a quota that is full":  {status(403, metav1.StatusReasonForbidden, "exceeded quota: tenants"), port.RefusedOne, "exceeded quota: tenants"},
		"a policy's refusal":    {status(403, metav1.StatusReasonForbidden, `admission webhook "x" denied the request: no`), port.RefusedOne, `admission webhook "x" denied the request: no`},
		"a policy in CEL":       {status(422, metav1.StatusReasonInvalid, "ValidatingAdmissionPolicy 'x' with binding 'y' denied request: no"), port.RefusedOne, "ValidatingAdmissionPolicy 'x' with binding 'y' denied request: no"},
		"a webhook that fails":  {status(500, metav1.StatusReasonInternalError, `failed calling webhook "x": denied the request`), port.RefusedAll, `failed calling webhook "x": denied the request`},
		"a right that is gone":  {status(403, metav1.StatusReasonForbidden, "may not"), port.RefusedAll, "may not"},
		"an expired identity":   {apierrors.NewUnauthorized("who?"), port.RefusedAll, "who?"},
		"a namespace that ends": {status(403, metav1.StatusReasonForbidden, "it ends", metav1.StatusCause{Type: corev1.NamespaceTerminatingCause, Field: "metadata.namespace", Message: "is being terminated"}), port.RefusedAll, "metadata.namespace: is being terminated"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got, message := kube.AnswerOf(test.err); got != test.want || message != test.message {
				t.Errorf("got %d %q, want %d %q", got, message, test.want, test.message)
			}
		})
	}
}

func TestMessagesAreBounded(t *testing.T) {
	err := kube.Classify("ApplyResourceQuota", quota("acme", "5"), apierrors.NewBadRequest(strings.Repeat("ü", 5000)))
	if n := utf8.RuneCountInString(err.Message); n != 1000 {
		t.Errorf("a message has %d characters", n)
	}
}
