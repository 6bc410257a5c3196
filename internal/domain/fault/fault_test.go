package fault_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

func TestKindOf(t *testing.T) {
	denied := &fault.Error{Kind: fault.Denied, Operation: "GetDistributionTenant"}
	tests := map[string]struct {
		err  error
		want fault.Kind
	}{
		"no error":                                        {nil, fault.None},
		"a classified error":                              {denied, fault.Denied},
		"a classified error below others":                 {fmt.Errorf("reading: %w", denied), fault.Denied},
		"an unclassified error proves nothing":            {errors.New("reset"), fault.Transient},
		"the cause of a classified error does not matter": {&fault.Error{Kind: fault.Invalid, Err: denied}, fault.Invalid},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := fault.KindOf(test.err); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if !fault.Is(test.err, fault.Quota, test.want) || fault.Is(test.err, fault.Quota) {
				t.Error("Is does not agree")
			}
		})
	}
}

func TestErrorText(t *testing.T) {
	tests := map[string]struct {
		err  fault.Error
		want string
	}{
		"all parts":       {fault.Error{Operation: "Op", Code: "Code", Message: "text"}, "Op: Code: text"},
		"no answer":       {fault.Error{Operation: "Op", Message: "connection reset"}, "Op: connection reset"},
		"no text":         {fault.Error{Operation: "Op", Code: "Code"}, "Op: Code"},
		"the operation":   {fault.Error{Operation: "Op"}, "Op"},
		"never the cause": {fault.Error{Operation: "Op", Err: errors.New("request id 1234")}, "Op"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := test.err.Error(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestRetryAfterIsFoundBelowOthers(t *testing.T) {
	err := fmt.Errorf("creating: %w", &fault.Error{Kind: fault.Throttled, RetryAfter: time.Second})
	if got := fault.RetryAfter(err); got != time.Second {
		t.Errorf("got %s", got)
	}
	if got := fault.RetryAfter(errors.New("reset")); got != 0 {
		t.Errorf("an unclassified error asks for %s", got)
	}
}

// Only a lost answer leaves open whether the change was made.
func TestOnlyTransientIsAmbiguous(t *testing.T) {
	for k := fault.None; k <= fault.Invalid; k++ {
		var err error
		if k != fault.None {
			err = &fault.Error{Kind: k}
		}
		if got := fault.Ambiguous(err); got != (k == fault.Transient) {
			t.Errorf("%s is ambiguous: %t", k, got)
		}
		if strings.HasPrefix(k.String(), "Kind(") {
			t.Errorf("kind %d has no name", int(k))
		}
	}
	if got := fault.Kind(99).String(); got != "Kind(99)" {
		t.Errorf("an unknown kind is called %s", got)
	}
}
