package cloudflare

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// kinds classifies Cloudflare's error codes. A code that is not listed counts by the status of the answer.
var kinds = map[int]fault.Kind{
	1000:  fault.Denied, // Invalid API Token
	6003:  fault.Denied, // Invalid request headers, which means the token's form
	6111:  fault.Denied,
	9103:  fault.Denied,
	9106:  fault.Denied,
	9109:  fault.Denied,
	10000: fault.Denied,
	10001: fault.Denied,

	971:   fault.Throttled,
	10013: fault.Throttled,

	1001: fault.NotFound, // Invalid zone identifier
	7000: fault.NotFound,
	7003: fault.NotFound,

	// A record that was to be deleted is not there.
	81044: fault.Conflict,

	81053: fault.Exists,
	81054: fault.Exists,
	81055: fault.Exists,
	81056: fault.Exists,
	81057: fault.Exists,
	81058: fault.Exists,

	81045: fault.Quota,
}

// severity decides which kind an answer with several errors has: a record that exists must not hide another that is
// impossible.
var severity = []fault.Kind{fault.Throttled, fault.Denied, fault.Transient, fault.NotFound, fault.Quota, fault.Invalid, fault.Conflict, fault.Exists}

const (
	// longestMessage keeps what is stored in status small.
	longestMessage = 300
	// largestAnswer bounds an answer: 5,000 records are some megabytes.
	largestAnswer = 64 << 20
)

// apiError is one error of an answer. The chain has the findings of a validation.
type apiError struct {
	Code    int        `json:"code"`
	Message string     `json:"message"`
	Chain   []apiError `json:"error_chain"`
}

// refusal is an answer that says no.
type refusal struct {
	status     int
	errors     []apiError
	retryAfter time.Duration
}

// Error implements error.
func (r *refusal) Error() string { return fmt.Sprintf("status %d: %s", r.status, r.message()) }

// readAnswer reads an answer whole, and decodes it if it doesn't say no, with whatever status.
func readAnswer(answer *http.Response, into any) error {
	body, err := io.ReadAll(io.LimitReader(answer.Body, largestAnswer))
	_ = answer.Body.Close()
	if err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	var said struct {
		Success bool       `json:"success"`
		Errors  []apiError `json:"errors"`
	}
	err = json.Unmarshal(body, &said)
	if answer.StatusCode >= http.StatusBadRequest || err == nil && !said.Success {
		return &refusal{status: answer.StatusCode, errors: flatten(said.Errors), retryAfter: retryAfter(answer.Header)}
	}
	if err != nil {
		return fmt.Errorf("decoding the answer: %w", err)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("decoding the answer: %w", err)
	}
	return nil
}

// flatten replaces errors that only announce others by these.
func flatten(errs []apiError) (out []apiError) {
	for _, e := range errs {
		if len(e.Chain) > 0 {
			out = append(out, flatten(e.Chain)...)
			continue
		}
		out = append(out, e)
	}
	return out
}

// retryAfter reads how long to wait; Cloudflare says it in seconds.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.ParseFloat(h.Get("Retry-After"), 64)
	if err != nil || math.IsNaN(seconds) || seconds <= 0 || seconds > time.Hour.Seconds() {
		return 0
	}
	return time.Duration(seconds * float64(time.Second))
}

// kind is what an answer means.
func (r *refusal) kind() fault.Kind {
	usual := ofStatus(r.status)
	if usual == fault.Throttled || usual == fault.Transient {
		return usual
	}
	var all []fault.Kind
	for _, e := range r.errors {
		k, ok := kinds[e.Code]
		if !ok {
			k = usual
		}
		all = append(all, k)
	}
	for _, k := range severity {
		if slices.Contains(all, k) {
			return k
		}
	}
	return usual
}

func ofStatus(status int) fault.Kind {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return fault.Denied
	case status == http.StatusTooManyRequests:
		return fault.Throttled
	case status >= http.StatusInternalServerError, status == http.StatusRequestTimeout, status < http.StatusBadRequest:
		return fault.Transient
	}
	return fault.Invalid
}

// code is the first of Cloudflare's codes, or the status where there is none.
func (r *refusal) code() string {
	if len(r.errors) > 0 && r.errors[0].Code != 0 {
		return strconv.Itoa(r.errors[0].Code)
	}
	return "HTTP" + strconv.Itoa(r.status)
}

// message is what Cloudflare says of all errors, each once.
func (r *refusal) message() string {
	var texts []string
	for _, e := range r.errors {
		if text := strings.TrimSpace(e.Message); text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return http.StatusText(r.status)
	}
	return prose.Fit(strings.Join(texts, "; "), longestMessage)
}

// classify makes the error of a call a fault.
func classify(operation string, err error) error {
	if err == nil {
		return nil
	}
	refused, ok := errors.AsType[*refusal](err)
	if !ok {
		return &fault.Error{Kind: fault.Transient, Operation: operation, Message: "Cloudflare did not answer, or not readably", Err: err}
	}
	f := &fault.Error{Kind: refused.kind(), Operation: operation, Code: refused.code(), Message: refused.message(), Err: err}
	switch f.Kind {
	case fault.Throttled:
		f.RetryAfter = refused.retryAfter
	case fault.Denied:
		f.Message += " (the API token needs the permissions Zone:Read and DNS:Edit for the zone)"
	case fault.NotFound:
		if operation == opListZones { // a list of all zones is never absent
			f.Kind = fault.Transient
		}
	default:
	}
	return f
}

// unreadable is an answer that says less than it has to.
func unreadable(operation, what string) error {
	return fault.New(fault.Transient, operation, "Cloudflare's answer lacks %s", what)
}
