// Package store is what the adapters for stores of customers share: where they may connect to, what a connection string may
// say, exact numbers, and texts of failures that are stable and tell no secret.
package store

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// Config is what a reader of a store is made of.
type Config struct {
	// Timeout is how long a query may take. The meaning of zero depends on the store.
	Timeout time.Duration
	// Guard is asked before each connection; nil allows all.
	Guard *Guard
}

// Program is the name by which a server knows the operator.
const Program = "cloudfront-tenant-operator"

// Text is the value of a textual column or field, or a word for what is no text after all.
func Text(text string, otherwise mapping.Unsupported) any {
	if !utf8.ValidString(text) {
		return otherwise
	}
	return text
}

// JSON is the value of a JSON document. A text that is not JSON stays a text.
func JSON(text string) any {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return text
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return text
	}
	return exact(value)
}

func exact(value any) any {
	switch v := value.(type) {
	case json.Number:
		return Number(v.String())
	case []any:
		for i := range v {
			v[i] = exact(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = exact(v[key])
		}
	}
	return value
}

// Number gives a decimal number the type in which a row has it: int64 or float64 where that is
// the same number, and else the text itself.
func Number(text string) any {
	written, ok := parseDecimal(text)
	if !ok {
		return text
	}
	if n, ok := written.integer(); ok {
		return n
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	// A float is the number if it is written with the same digits.
	if kept, ok := parseDecimal(strconv.FormatFloat(f, 'e', -1, 64)); !ok || kept != written {
		return text
	}
	return f
}

// decimal is ±0.digits times a power of ten, without zeros at either end of the digits.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

// The exponents are compared, and never carried out: a text can name one that fills all memory.
func parseDecimal(text string) (decimal, bool) {
	var d decimal
	rest, negative := strings.CutPrefix(text, "-")
	if !negative {
		rest = strings.TrimPrefix(rest, "+")
	}
	mantissa := rest
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		exponent, err := strconv.ParseInt(rest[i+1:], 10, 32)
		if err != nil {
			return d, false
		}
		mantissa, d.exponent = rest[:i], int(exponent)
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	all := whole + fraction
	if all == "" || strings.Trim(all, "0123456789") != "" {
		return d, false
	}
	d.exponent += len(whole)
	significant := strings.TrimLeft(all, "0")
	d.exponent -= len(all) - len(significant)
	d.digits = strings.TrimRight(significant, "0")
	if d.digits == "" {
		return decimal{}, true
	}
	d.negative = negative
	return d, true
}

func (d decimal) integer() (int64, bool) {
	const longest = 19
	if len(d.digits) > d.exponent && d.digits != "" || d.exponent > longest {
		return 0, false
	}
	text := d.digits + strings.Repeat("0", d.exponent-len(d.digits))
	if d.digits == "" {
		text = "0"
	}
	if d.negative {
		text = "-" + text
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// Unanswered describes in fixed words why there was no answer. The texts of the libraries below
// name ports and addresses that differ each time.
func Unanswered(err error) string {
	refused, isRefused := errors.AsType[RefusedError](err)
	network, isNetwork := errors.AsType[net.Error](err)
	switch {
	case isRefused:
		return refused.Error()
	case errors.Is(err, context.Canceled):
		return "the call was cancelled"
	case errors.Is(err, context.DeadlineExceeded), isNetwork && network.Timeout():
		return "no response within the time limit"
	case is[*net.DNSError](err):
		return "could not resolve the host name"
	case is[x509.HostnameError](err):
		return "the server's certificate is not valid for this host name: connect with a name that the certificate contains"
	case is[x509.UnknownAuthorityError](err):
		return "the server's certificate is not trusted: make the operator trust its CA (chart value caBundle)"
	case is[*tls.CertificateVerificationError](err):
		return "the server's certificate is not trusted"
	case is[tls.RecordHeaderError](err):
		return "the server does not speak TLS"
	case is[tls.AlertError](err):
		return "the server rejected the TLS handshake"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the server refused the connection"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "there is no route to the server"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, net.ErrClosed),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was lost"
	}
	return "no response"
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// longestMessage bounds what reaches status and events, in runes and without the ellipsis.
const longestMessage = 511

// Message makes the text of a server fit for a status: one plain line of bounded length. A text with
// any piece of the connection string in it is dropped as a whole.
func Message(text string, secrets ...string) string {
	plain := func(s string) string { return prose.Plain(strings.ToValidUTF8(s, "")) }
	text = plain(text)
	for _, s := range secrets {
		// A character that is dropped later must not hide a secret.
		if s = plain(s); s != "" && strings.Contains(strings.ToLower(text), strings.ToLower(s)) {
			return ""
		}
	}
	return prose.Shorten(strings.Join(strings.Fields(text), " "), longestMessage)
}
