package aws

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"syscall"

	"github.com/aws/smithy-go"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// longestMessage bounds what reaches status and events, in runes and without the ellipsis.
const longestMessage = 511

// unstable matches what changes in AWS's texts from try to try. Other identifiers stay:
// the name of a certificate looks just like a request id.
var unstable = []*regexp.Regexp{
	regexp.MustCompile(`(?i)https response error StatusCode: \d+,\s*`),
	regexp.MustCompile(`(?i)[\s,;(\[]*\b(x-amzn?-)?request[ -]?id\s*[:=]\s*[\w-]*[)\]]?`),
	regexp.MustCompile(`(?i)[\s,;(\[]*\bhost[ -]?id\s*[:=]\s*[\w+/=-]*[)\]]?`),
	// IAM encodes the whole request context again each time.
	regexp.MustCompile(`(?i)\s*Encoded authorization failure message:\s*[\w+/=-]+`),
	// A refused signature is explained with the request's headers, its date among them.
	regexp.MustCompile(`(?is)\s*The Canonical String for this request should have been.*`),
	regexp.MustCompile(`\b\d{8}T\d{6}Z\b`),
}

// session matches the name of a session behind the role that it is of. It is that of the Pod, or of EKS's own making.
var session = regexp.MustCompile(`(:assumed-role/[\w+=,.@-]+)/[\w+=,.@-]+`)

var spaces = regexp.MustCompile(`\s+`)

// message renders an error so that the same failure reads the same at every try.
func message(err error) string {
	text := serviceText(err)
	if code, _ := serviceCode(err); code == "" || code == unknownError {
		text = transportText(err)
	}
	for _, re := range unstable {
		text = re.ReplaceAllString(text, "")
	}
	text = session.ReplaceAllString(text, "$1")
	text = strings.TrimSpace(spaces.ReplaceAllString(strings.ToValidUTF8(text, ""), " "))
	return prose.Shorten(text, longestMessage)
}

// serviceText is the text that the service sent, empty when it sent none.
func serviceText(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) && api.ErrorMessage() != unknownError {
		return api.ErrorMessage()
	}
	return ""
}

// transportText describes a failure without an answer in fixed words. The texts of the
// libraries below name ports and addresses that differ each time.
func transportText(err error) string {
	var (
		params        smithy.InvalidParamsError
		serialization *smithy.SerializationError
		response      interface{ HTTPStatusCode() int }
		unreadable    *smithy.DeserializationError
		dns           *net.DNSError
		untrusted     *tls.CertificateVerificationError
		authority     x509.UnknownAuthorityError
		network       net.Error
	)
	switch {
	case errors.As(err, &params):
		return params.Error()
	case errors.As(err, &serialization):
		return "could not build the request: " + serialization.Err.Error()
	case errors.Is(err, context.Canceled):
		return "the call was cancelled"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return "no response within the time limit"
	case errors.As(err, &dns):
		return "could not resolve the host name of the endpoint"
	case errors.As(err, &untrusted), errors.As(err, &authority):
		return "the certificate of the endpoint is not trusted"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the endpoint refused the connection"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the connection was reset"
	case errors.As(err, &response) && response.HTTPStatusCode() >= http.StatusBadRequest:
		return fmt.Sprintf("a response with status %d and no error code", response.HTTPStatusCode())
	case errors.As(err, &unreadable):
		return "the response could not be read"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed before the response was complete"
	}
	if _, answered := serviceCode(err); !answered {
		return "there are no usable credentials"
	}
	return "no response"
}
