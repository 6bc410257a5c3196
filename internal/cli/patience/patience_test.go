package patience_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/patience"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// skipping notes the waits, and does not wait.
type skipping struct {
	clock.RealClock
	waited []time.Duration
}

func (s *skipping) After(d time.Duration) <-chan time.Time {
	s.waited = append(s.waited, d)
	ended := make(chan time.Time, 1)
	ended <- time.Time{}
	return ended
}

func TestCall(t *testing.T) {
	t.Parallel()
	limited := &fault.Error{Kind: fault.Throttled, Code: aws.CodeLocalRateLimit, RetryAfter: 40 * time.Millisecond}
	lost := &fault.Error{Kind: fault.Transient}
	throttled := &fault.Error{Kind: fault.Throttled, Code: "Throttling", RetryAfter: 3 * time.Second}
	refused := &fault.Error{Kind: fault.Denied}
	for name, tt := range map[string]struct {
		answers []error
		want    error
		// asked is how often AWS has seen the call.
		asked  int
		waited []time.Duration
	}{
		"an answer is the end":                                  {[]error{nil}, nil, 1, nil},
		"a refusal is the end":                                  {[]error{refused}, refused, 1, nil},
		"the rate limit is waited for, and AWS was not asked":   {[]error{limited, limited, nil}, nil, 1, []time.Duration{40 * time.Millisecond, 40 * time.Millisecond}},
		"after a lost answer it waits longer each time":         {[]error{lost, lost, lost, nil}, nil, 4, []time.Duration{1 * time.Second, 2 * time.Second, 4 * time.Second}},
		"AWS may ask for a longer pause":                        {[]error{throttled, nil}, nil, 2, []time.Duration{3 * time.Second}},
		"it gives up when there is no answer for half a minute": {[]error{lost, lost, lost, lost, lost, lost}, lost, 6, []time.Duration{1 * time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, calls := 0, 0
			clock := &skipping{}
			c := patience.Caller{Clock: clock, Asked: func(string) { asked++ }}
			got := c.Call(t.Context(), "Read", "it", func(ctx context.Context) error {
				if mark := port.CallOf(ctx); mark.Key != "Read it" || mark.Class != port.Change {
					t.Errorf("the call is marked with %+v", mark)
				}
				calls++
				return tt.answers[calls-1]
			})
			if !errors.Is(got, tt.want) || calls != len(tt.answers) || asked != tt.asked {
				t.Errorf("ends with %v after %d calls, %d of which reached AWS", got, calls, asked)
			}
			if len(clock.waited) != len(tt.waited) {
				t.Fatalf("waited %v", clock.waited)
			}
			for i, d := range tt.waited {
				if clock.waited[i] != d {
					t.Errorf("wait %d took %v, want %v", i, clock.waited[i], d)
				}
			}
		})
	}
}

func TestACallThatIsInterruptedEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c := patience.Caller{Clock: clock.RealClock{}}
	err := c.Call(ctx, "Read", "it", func(context.Context) error {
		cancel()
		return &fault.Error{Kind: fault.Transient}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("ends with %v", err)
	}
}
