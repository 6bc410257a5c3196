package store_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
)

func TestNumber(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want any
	}{
		"zero":                                  {"0", int64(0)},
		"there is one zero":                     {"-0.00", int64(0)},
		"an integer":                            {"-42", int64(-42)},
		"an integer with an exponent":           {"1.5E+2", int64(150)},
		"an integer with a fraction of nothing": {"7.000", int64(7)},
		"the greatest integer":                  {"9223372036854775807", int64(math.MaxInt64)},
		"the smallest integer":                  {"-9223372036854775808", int64(math.MinInt64)},
		"a fraction":                            {"0.1", 0.1},
		"a small one":                           {"-1e-7", -1e-7},
		"a great one that a float has exactly":  {"1e300", 1e300},
		"one more than the greatest integer":    {"9223372036854775808", "9223372036854775808"},
		"more digits than a float keeps":        {"0.12345678901234567890123", "0.12345678901234567890123"},
		"one that is too great for a float":     {"1e400", "1e400"},
		"one that is too small for a float":     {"1e-400", "1e-400"},
		"an exponent that would fill memory":    {"1e-2000000000", "1e-2000000000"},
		"an exponent that is none":              {"1e99999999999", "1e99999999999"},
		"no number":                             {"NaN", "NaN"},
		"nothing":                               {"", ""},
		"a dot":                                 {".", "."},
		"two signs":                             {"--1", "--1"},
		"hexadecimal digits":                    {"0x10", "0x10"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := store.Number(tt.text); got != tt.want {
				t.Errorf("%s is %T %v, want %T %v", tt.text, got, got, tt.want, tt.want)
			}
		})
	}
}

// Whatever type a number gets, it is the same number.
func TestANumberStaysTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?[0-9]{1,25}(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "text")
		want, _ := new(big.Rat).SetString(text)
		var again string
		switch n := store.Number(text).(type) {
		case int64:
			again = strconv.FormatInt(n, 10)
		case float64:
			again = strconv.FormatFloat(n, 'g', -1, 64)
		case string:
			again = n
			if want.IsInt() && want.Num().IsInt64() {
				t.Fatalf("%s is an int64", text)
			}
		default:
			t.Fatalf("%s is a %T", text, n)
		}
		if got, ok := new(big.Rat).SetString(again); !ok || got.Cmp(want) != 0 {
			t.Fatalf("%s became %s", text, again)
		}
	})
}

func FuzzNumber(f *testing.F) {
	for _, seed := range []string{"1", "-1.5e3", "1e-2000000000", "é", "1e", "+.e1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, ok := store.Number(text).(string); ok && s != text {
			t.Errorf("%q became %q", text, s)
		}
	})
}

func TestUnanswered(t *testing.T) {
	for want, err := range map[string]error{
		"the server refused the connection": &net.OpError{Op: "dial", Addr: &net.TCPAddr{Port: 4711}, Err: syscall.ECONNREFUSED},
		"the connection was lost":           fmt.Errorf("reading from 10.0.0.1:4711: %w", syscall.ECONNRESET),
		"could not resolve the host name":   &net.DNSError{Err: "no such host", Name: "db.example"},
		"no response within the time limit": fmt.Errorf("reading: %w", context.DeadlineExceeded),
		"the call was cancelled":            fmt.Errorf("reading: %w", context.Canceled),
		"no response":                       errors.New("something with 10.0.0.1:4711"),
	} {
		if got := store.Unanswered(err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}

func TestMessage(t *testing.T) {
	if got := store.Message(" a\n b\xff ", "canary", ""); got != "a b" {
		t.Errorf("got %q", got)
	}
	if got := store.Message("\x1b]0;owned\a\x1b[2Jno such\u202e table"); got != "]0;owned[2Jno such table" {
		t.Errorf("got %q", got)
	}
	if got := store.Message("user can\x00ary may not", "canary"); got != "" {
		t.Errorf("a secret came through behind a control character: %q", got)
	}
	if got := store.Message("user Canary may not", "canary"); got != "" {
		t.Errorf("a secret came through: %q", got)
	}
	if got := store.Message(strings.Repeat("é", 600)); utf8.RuneCountInString(got) != 512 {
		t.Errorf("%d runes", utf8.RuneCountInString(got))
	}
}
