package aws

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

func TestMessageIsTheSameAtEveryTry(t *testing.T) {
	send := func(err error) error {
		return &answer{&smithyhttp.RequestSendError{Err: &url.Error{Op: "Put", URL: "https://host/path", Err: err}}}
	}
	api := func(text string) error { return &answer{&smithy.GenericAPIError{Code: "Some", Message: text}} }
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"AWS's own text is kept", api("The domain is taken."), "The domain is taken."},
		{"a certificate's name looks like a request id and stays",
			api("No certificate arn:aws:acm:us-east-1:1:certificate/00000000-0000-4000-8000-000000000001."),
			"No certificate arn:aws:acm:us-east-1:1:certificate/00000000-0000-4000-8000-000000000001."},
		{"a request id at the end goes", api("Slow down (Request ID: 9f3c-11)"), "Slow down"},
		{"a request id in the middle goes, the sentence stays",
			api("https response error StatusCode: 409, RequestID: 9f3c-11, EntityAlreadyExists: taken"),
			", EntityAlreadyExists: taken"},
		{"a host id goes", api("Denied; x-amzn-RequestId: abc, HostId: a/b+c="), "Denied"},
		{"IAM's encoded context goes", api("Not allowed. Encoded authorization failure message: xY_z-12"), "Not allowed."},
		{"the explanation of a signature goes", api("Bad signature.\n\nThe Canonical String for this request should have been\n'GET\n/'"), "Bad signature."},
		{"times of requests go", api("Expired: 20260101T000000Z is before 20260101T001500Z"), "Expired: is before"},
		{"the name of a session goes, which is another one every hour, and its role stays",
			api("User: arn:aws:sts::111122223333:assumed-role/tenants/1767225600000000000 is not authorized to perform: sts:AssumeRole"),
			"User: arn:aws:sts::111122223333:assumed-role/tenants is not authorized to perform: sts:AssumeRole"},
		{"line breaks become spaces", api("one\n\ttwo"), "one two"},
		{"a reset names no port", send(&net.OpError{Op: "read", Err: syscall.ECONNRESET}), "the connection was reset"},
		{"a refusal names no address", send(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), "the endpoint refused the connection"},
		{"a timeout", send(context.DeadlineExceeded), "no response within the time limit"},
		{"a cancelled call", &smithy.CanceledError{Err: context.Canceled}, "the call was cancelled"},
		{"an unknown host", send(&net.DNSError{Err: "no such host", Name: "x"}), "could not resolve the host name of the endpoint"},
		{"anything else on the way", send(errors.New("strange 127.0.0.1:4711")), "no response"},
		{"credentials that are missing", errors.New("get identity: no providers"), "there are no usable credentials"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := message(tt.err); got != tt.want {
				t.Errorf("message %q, want %q", got, tt.want)
			}
		})
	}
}

func TestMessageIsBounded(t *testing.T) {
	long := message(&answer{&smithy.GenericAPIError{Code: "Some", Message: strings.Repeat("ü", 2000)}})
	if n := utf8.RuneCountInString(long); n != 512 || !utf8.ValidString(long) {
		t.Errorf("%d runes, valid %v, want 512 valid ones", n, utf8.ValidString(long))
	}
}

func TestErrorsOfTheWayToTheService(t *testing.T) {
	table := Table{Codes: map[string]fault.Kind{"ResourceNotFoundException": fault.NotFound}}
	api := func(code string) error { return &smithy.GenericAPIError{Code: code, Message: "text"} }
	tests := []struct {
		name string
		err  error
		want fault.Kind
	}{
		{"the service says not found", &answer{api("ResourceNotFoundException")}, fault.NotFound},
		{"a service for credentials says not found, which is not about the tenant", api("ResourceNotFoundException"), fault.Transient},
		{"a service for credentials denies", fmt.Errorf("get identity: %w", api("AccessDenied")), fault.Denied},
		{"a service for credentials throttles", api("Throttling"), fault.Throttled},
		{"the SDK misses a member", smithy.InvalidParamsError{}, fault.Invalid},
		{"the SDK can't put a member into a request", &smithy.SerializationError{Err: errors.New("empty")}, fault.Invalid},
		{"the context ended before anything was sent", context.Canceled, fault.Transient},
		{"what is classified stays", &fault.Error{Kind: fault.Quota}, fault.Quota},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := fault.KindOf(table.Classify("Op", tt.err)); got != tt.want {
				t.Errorf("kind %v, want %v", got, tt.want)
			}
		})
	}
	if table.Classify("Op", nil) != nil {
		t.Error("no error became one")
	}
}
