package calls_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

type rig struct {
	*calls.Gate
	t        *testing.T
	clock    *clocktesting.FakeClock
	registry *prometheus.Registry
	halt     *chain.Halt
	sent     int
}

func newRig(t *testing.T, rate float64, burst int) *rig {
	t.Helper()
	r := &rig{t: t, clock: clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), registry: prometheus.NewRegistry()}
	metrics, err := calls.NewMetrics(r.registry)
	if err != nil {
		t.Fatal(err)
	}
	r.Gate = calls.New(calls.Config{
		Provider: dns.Provider{Service: dns.Cloudflare, Account: "main"}, Rate: rate, Burst: burst, Clock: r.clock, Metrics: metrics,
		Halted: func() *chain.Halt { return r.halt },
	})
	return r
}

func (r *rig) do(changes bool, answer error) error {
	return r.Do(r.t.Context(), calls.Call{Operation: "Batch", Changes: changes}, func(context.Context) error {
		r.sent++
		return answer
	})
}

func TestACallThatExceedsTheRateIsNotSent(t *testing.T) {
	r := newRig(t, 2, 4)
	refused := error(nil)
	for refused == nil {
		refused = r.do(false, nil)
	}
	if !fault.Is(refused, fault.Throttled) || fault.RetryAfter(refused) <= 0 || fault.CodeOf(refused) != calls.CodeLocalRateLimit {
		t.Errorf("the refusal is %v, want to come back later", refused)
	}
	if r.sent > 4 {
		t.Errorf("%d calls were sent at once, want at most 4", r.sent)
	}
	r.clock.Step(fault.RetryAfter(refused))
	if err := r.do(false, nil); err != nil {
		t.Errorf("after the delay that was asked for: %v", err)
	}
}

func TestAThrottleSlowsDown(t *testing.T) {
	steady := func(throttled bool) (sent int) {
		r := newRig(t, 10, 4)
		for range 600 {
			if err := r.do(false, nil); err == nil && throttled {
				_ = r.do(false, &fault.Error{Kind: fault.Throttled, Operation: "Batch", Code: "10013"})
				throttled = false
			}
			r.clock.Step(20 * time.Millisecond)
		}
		return r.sent
	}
	if slow, usual := steady(true), steady(false); slow >= usual {
		t.Errorf("%d calls after a throttle, %d without one", slow, usual)
	}
}

func TestNothingIsChangedWhileHalted(t *testing.T) {
	r := newRig(t, 10, 10)
	r.halt = &chain.Halt{Message: "An administrator has stopped all changes."}
	err := r.do(true, nil)
	if r.sent != 0 || fault.CodeOf(err) != calls.CodeHalted || !strings.Contains(err.Error(), r.halt.Message) {
		t.Errorf("%d calls were sent, error %v", r.sent, err)
	}
	if err := r.do(false, nil); err != nil {
		t.Errorf("a read while halted: %v", err)
	}
	if _, err := r.Errand(t.Context(), "Batch"); fault.CodeOf(err) != calls.CodeHalted {
		t.Errorf("the reads before a change would be made: %v", err)
	}
	r.halt = nil
	if err := r.do(true, nil); err != nil {
		t.Errorf("a change after the halt: %v", err)
	}
}

func TestCallsAreCounted(t *testing.T) {
	r := newRig(t, 10, 10)
	_ = r.do(true, nil)
	_ = r.do(true, &fault.Error{Kind: fault.Exists, Operation: "Batch", Code: "81053"})
	_ = r.do(true, &fault.Error{Kind: fault.Transient, Operation: "Batch"})
	want := `
# HELP cloudfront_tenant_operator_dns_api_calls_total Calls to DNS services other than Route 53, by provider, account, operation and result: OK, the service's error code, or NoAnswer (no response).
# TYPE cloudfront_tenant_operator_dns_api_calls_total counter
cloudfront_tenant_operator_dns_api_calls_total{account="main",code="81053",operation="Batch",provider="cloudflare"} 1
cloudfront_tenant_operator_dns_api_calls_total{account="main",code="NoAnswer",operation="Batch",provider="cloudflare"} 1
cloudfront_tenant_operator_dns_api_calls_total{account="main",code="OK",operation="Batch",provider="cloudflare"} 1
`
	if err := testutil.GatherAndCompare(r.registry, strings.NewReader(want), "cloudfront_tenant_operator_dns_api_calls_total"); err != nil {
		t.Error(err)
	}
}

// A change that takes several calls ends, however little of the rate is left, and later callers pay for it.
func TestAnErrandThatHasBegunEnds(t *testing.T) {
	r := newRig(t, 1, 2)
	do := func(ctx context.Context) error {
		return r.Do(port.WithCall(ctx, port.Call{Class: port.Change}), calls.Call{Operation: "Batch", Changes: true}, func(context.Context) error { return nil })
	}
	var waiting error
	for waiting == nil {
		waiting = do(calls.Errand(t.Context()))
	}
	r.clock.Step(fault.RetryAfter(waiting))
	errand := calls.Errand(t.Context())
	call := func() error { return do(errand) }
	for range 5 {
		if err := call(); err != nil {
			t.Fatalf("a call of an errand that has begun: %v", err)
		}
	}
	r.clock.Step(3 * time.Second)
	if err := do(calls.Errand(t.Context())); !fault.Is(err, fault.Throttled) {
		t.Errorf("the next caller does not wait for what the errand took: %v", err)
	}
	r.halt = &chain.Halt{Message: "stopped"}
	if err := call(); fault.CodeOf(err) != calls.CodeHalted {
		t.Errorf("an errand goes on while changes are halted: %v", err)
	}
}

// A call that is not answered ends, and each failure is classified.
func TestABoundedCall(t *testing.T) {
	r := newRig(t, 1, 2)
	denied := &fault.Error{Kind: fault.Denied}
	classify := func(operation string, err error) error {
		if operation != "Get" || !errors.Is(err, io.EOF) {
			t.Errorf("%s failed with %v", operation, err)
		}
		return denied
	}
	err := r.Bounded(t.Context(), calls.Call{Operation: "Get"}, classify, func(ctx context.Context) error {
		if _, bounded := ctx.Deadline(); !bounded {
			t.Error("the call has no end")
		}
		return io.EOF
	})
	if !errors.Is(err, denied) {
		t.Errorf("got %v, want %v", err, denied)
	}
}
