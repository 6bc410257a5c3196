package aws_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

func addFault(t *testing.T, sim *aws.Sim, f aws.Fault) string {
	t.Helper()
	return must[string](t)(sim.AddFault(f))
}

// TestFaults runs every kind and effect over both transports and looks at what
// the client got and what became of the world.
func TestFaults(t *testing.T) {
	gaveUp := func(err error) bool { return errors.Is(err, context.Canceled) }
	internal := &aws.FaultError{Status: 500, Code: "InternalError", Message: "boom"}
	for name, tc := range map[string]struct {
		fault     aws.Fault
		committed bool
		code      string // in the journal
		check     func(error) bool
	}{
		"before, an error":               {aws.Fault{Error: internal}, false, "InternalError", func(err error) bool { return refusalOf(err) == refusal{500, "InternalError"} }},
		"before, without an error named": {aws.Fault{Kind: aws.BeforeCommit}, false, "ServiceUnavailable", func(err error) bool { return refusalOf(err) == refusal{503, "ServiceUnavailable"} }},
		"before, a hang":                 {aws.Fault{Effect: aws.EffectHang}, false, "hang", gaveUp},
		"before, a reset":                {aws.Fault{Effect: aws.EffectReset}, false, "reset", func(err error) bool { return errors.Is(err, syscall.ECONNRESET) }},
		"after commit, an error":         {aws.Fault{Kind: aws.AfterCommit, Error: internal}, true, "InternalError", func(err error) bool { return refusalOf(err) == refusal{500, "InternalError"} }},
		"after commit, a hang":           {aws.Fault{Kind: aws.AfterCommit, Effect: aws.EffectHang}, true, "hang", gaveUp},
		"after commit, a reset":          {aws.Fault{Kind: aws.AfterCommit, Effect: aws.EffectReset}, true, "reset", func(err error) bool { return errors.Is(err, syscall.ECONNRESET) }},
		"after commit, a truncated body": {aws.Fault{Kind: aws.AfterCommit, Effect: aws.EffectTruncate}, true, "truncate", func(err error) bool {
			// Over a socket, Go's transport may notice the end before its reader does, and close the connection.
			return errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(err.Error(), "EOF") || errors.Is(err, net.ErrClosed)
		}},
		"instead, another error":                 {aws.Fault{Kind: aws.Instead, Error: &aws.FaultError{Status: 412, Code: "PreconditionFailed"}}, false, "PreconditionFailed", func(err error) bool { return refusalOf(err) == refusal{412, "PreconditionFailed"} }},
		"a latency the client does not wait for": {aws.Fault{Latency: time.Minute}, false, "ClientGone", gaveUp},
		"the same after the commit":              {aws.Fault{Kind: aws.AfterCommit, Latency: time.Minute}, true, "OK", gaveUp},
		"a latency the client does wait for":     {aws.Fault{Latency: time.Millisecond}, true, "OK", func(err error) bool { return err == nil }},
	} {
		for transport, overSocket := range map[string]bool{"round tripper": false, "socket": true} {
			t.Run(name+"/"+transport, func(t *testing.T) {
				sim := newSim(t)
				c := client(sim)
				if overSocket {
					c, _ = socketClient(t, sim)
				}
				tc.fault.Operation = "CreateDistributionTenant"
				addFault(t, sim, tc.fault)
				ctx := t.Context()
				if tc.fault.Effect == aws.EffectHang || tc.fault.Latency > time.Second {
					ctx = untilStruck(t, sim, func() bool {
						_, there := sim.Tenant("", "acme")
						return there == tc.committed
					})
				}
				_, err := c.CreateDistributionTenant(ctx, tenantInput("acme"))
				if !tc.check(err) {
					t.Errorf("the client got %v", err)
				}
				waitForCalls(t, sim, 1)
				if _, there := sim.Tenant("", "acme"); there != tc.committed {
					t.Errorf("the tenant is there: %v, want %v", there, tc.committed)
				}
				entry := sim.Journal()[0]
				if entry.Code != tc.code || entry.Committed != tc.committed {
					t.Errorf("journal: code %s, committed %v; want %s, %v", entry.Code, entry.Committed, tc.code, tc.committed)
				}
				if len(sim.Faults()) != 0 {
					t.Errorf("a fault without times struck once and is still armed: %+v", sim.Faults())
				}
			})
		}
	}
}

// untilStruck is the context of a client that gives up when all faults have struck, and done reports it as well.
func untilStruck(t *testing.T, sim *aws.Sim, done func() bool) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for len(sim.Faults()) > 0 || !done() {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx
}

// waitForCalls waits until a server goroutine, whose client may have given up,
// has written its call down.
func waitForCalls(t *testing.T, sim *aws.Sim, n int) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for len(sim.Journal()) < n {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("the call is not in the journal")
		}
	}
}

// outcomes makes n Gets of each name in turn and writes down which succeeded.
func outcomes(t *testing.T, sim *aws.Sim, n int, names ...string) string {
	t.Helper()
	var out strings.Builder
	for range n {
		for _, name := range names {
			_, err := client(sim).GetDistributionTenant(t.Context(), &cloudfront.GetDistributionTenantInput{Identifier: &name})
			out.WriteString(map[bool]string{true: ".", false: "x"}[err == nil])
		}
	}
	return out.String()
}

func TestFaultMatching(t *testing.T) {
	for name, tc := range map[string]struct {
		fault aws.Fault
		want  string // six calls, alternating between two tenants
	}{
		"the next call":                    {aws.Fault{}, "x....."},
		"the third call":                   {aws.Fault{Nth: 3}, "..x..."},
		"the third call and two more":      {aws.Fault{Nth: 3, Times: 3}, "..xxx."},
		"from the fourth call on":          {aws.Fault{Nth: 4, Times: -1}, "...xxx"},
		"another operation":                {aws.Fault{Operation: "CreateDistributionTenant"}, "......"},
		"one resource, by name":            {aws.Fault{Resource: "two", Times: -1}, ".x.x.x"},
		"the second call for one resource": {aws.Fault{Resource: "two", Nth: 2}, "...x.."},
		"one resource, by its ARN's id":    {aws.Fault{Resource: "ID-OF-TWO", Times: -1}, ".x.x.x"},
		"a certainty":                      {aws.Fault{Probability: 1}, "xxxxxx"},
		"a certainty, twice":               {aws.Fault{Probability: 1, Times: 2}, "xx...."},
	} {
		t.Run(name, func(t *testing.T) {
			sim := newSim(t)
			mustCreate(t, sim, "one")
			two, _ := mustCreate(t, sim, "two")
			if tc.fault.Resource == "ID-OF-TWO" {
				tc.fault.Resource = *two.Id
			}
			addFault(t, sim, tc.fault)
			if got := outcomes(t, sim, 3, "one", "two"); got != tc.want {
				t.Errorf("calls went %s, want %s", got, tc.want)
			}
		})
	}
	t.Run("a probability hits some and the seed decides which", func(t *testing.T) {
		run := func(seed uint64) string {
			sim := newSim(t, func(o *aws.Options) { o.RandomSeed = seed })
			mustCreate(t, sim, "one")
			addFault(t, sim, aws.Fault{Probability: 0.3})
			return outcomes(t, sim, 100, "one")
		}
		first := run(1)
		if hits := strings.Count(first, "x"); hits < 15 || hits > 45 {
			t.Errorf("0.3 of 100 hit %d times", hits)
		}
		if first != run(1) || first == run(2) {
			t.Error("the same seed differs, or another seed does not")
		}
	})
	t.Run("the first of two that match strikes, the other waits", func(t *testing.T) {
		sim := newSim(t)
		mustCreate(t, sim, "one")
		addFault(t, sim, aws.Fault{Error: &aws.FaultError{Status: 500, Code: "First"}})
		addFault(t, sim, aws.Fault{Error: &aws.FaultError{Status: 500, Code: "Second"}})
		if got := outcomes(t, sim, 3, "one"); got != "xx." {
			t.Errorf("calls went %s", got)
		}
		if diff := cmp.Diff(map[string]int{"First": 1, "Second": 1}, sim.Calls()["GetDistributionTenant"].Errors); diff != "" {
			t.Errorf("errors (-want +got):\n%s", diff)
		}
	})
	t.Run("a fault can be removed", func(t *testing.T) {
		sim := newSim(t)
		mustCreate(t, sim, "one")
		id := addFault(t, sim, aws.Fault{Times: -1})
		if !sim.RemoveFault(id) || sim.RemoveFault(id) {
			t.Error("removing tells wrongly whether it was there")
		}
		addFault(t, sim, aws.Fault{Times: -1})
		sim.ClearFaults()
		if got := outcomes(t, sim, 1, "one"); got != "." {
			t.Error("a fault that was removed struck")
		}
	})
}

func TestFaultRefusals(t *testing.T) {
	for name, f := range map[string]aws.Fault{
		"an unknown operation":       {Operation: "CreateTenant"},
		"a negative count":           {Nth: -1},
		"a probability above one":    {Probability: 1.5},
		"both nth and probability":   {Nth: 1, Probability: 0.5},
		"an unknown kind":            {Kind: "during"},
		"an unknown effect":          {Effect: "explode"},
		"instead without an error":   {Kind: aws.Instead},
		"instead with a hang":        {Kind: aws.Instead, Effect: aws.EffectHang, Error: &aws.FaultError{Status: 500, Code: "X"}},
		"an error that is a success": {Error: &aws.FaultError{Status: 200, Code: "OK"}},
		"an error without a code":    {Error: &aws.FaultError{Status: 500}},
		"a negative latency":         {Latency: -time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := newSim(t).AddFault(f); err == nil {
				t.Error("it was accepted")
			}
		})
	}
}

// TestFaultsInSyncTest shows what the round tripper is for: hangs, latencies
// and the SDK's own back-off in fake time.
func TestFaultsInSyncTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := aws.New(aws.Options{DeployDelay: time.Minute})
		c := cloudfront.New(cloudfront.Options{
			Region: "us-east-1", BaseEndpoint: sdk.String("http://sim.invalid"),
			Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
			HTTPClient:  &http.Client{Transport: sim.Transport()},
		})
		started := time.Now()
		addFault(t, sim, aws.Fault{Operation: "ListDistributionTenants", Effect: aws.EffectHang})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		_, err := c.ListDistributionTenants(ctx, &cloudfront.ListDistributionTenantsInput{})
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(started) != time.Hour {
			t.Errorf("a hang ended after %s with %v", time.Since(started), err)
		}
		addFault(t, sim, aws.Fault{Operation: "ListDistributionTenants", Times: 2, Error: &aws.FaultError{Status: 400, Code: "Throttling", Message: "Rate exceeded"}})
		if _, err := c.ListDistributionTenants(t.Context(), &cloudfront.ListDistributionTenantsInput{}); err != nil {
			t.Errorf("the SDK gave up after two throttles: %v", err)
		}
		if got := sim.Calls()["ListDistributionTenants"]; got.Total != 4 || got.OK != 1 {
			t.Errorf("calls: %+v", got)
		}
	})
}

func TestClearFaultsReleasesHangs(t *testing.T) {
	sim := newSim(t)
	addFault(t, sim, aws.Fault{Effect: aws.EffectHang})
	done := make(chan error, 1)
	go func() {
		_, err := client(sim).GetDistributionTenant(t.Context(), &cloudfront.GetDistributionTenantInput{Identifier: sdk.String("x")})
		done <- err
	}()
	waitForCalls(t, sim, 1)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		sim.ClearFaults()
		select {
		case err := <-done:
			if !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("a released hang ended with %v", err)
			}
			return
		case <-tick.C:
		}
	}
}

func TestLimits(t *testing.T) {
	sim := newSim(t)
	mustCreate(t, sim, "one")
	if err := sim.SetLimits(aws.Limit{Operation: "GetDistributionTenant", Rate: 0.5, Burst: 3}); err != nil {
		t.Fatal(err)
	}
	if got := outcomes(t, sim, 5, "one"); got != "...xx" {
		t.Errorf("a burst of three let through %s", got)
	}
	_, err := client(sim).GetDistributionTenant(t.Context(), &cloudfront.GetDistributionTenantInput{Identifier: sdk.String("one")})
	wantRefusal(t, err, 400, "Throttling")
	if !strings.Contains(err.Error(), "Rate exceeded") {
		t.Errorf("message: %v", err)
	}
	sim.Advance(2 * time.Second)
	if got := outcomes(t, sim, 2, "one"); got != ".x" {
		t.Errorf("two seconds at half a call per second let through %s", got)
	}
	if _, err := cloudFrontClient(sim, foreignKey).GetDistributionTenant(t.Context(), &cloudfront.GetDistributionTenantInput{Identifier: sdk.String("foreign")}); err != nil {
		t.Errorf("another account shares the bucket: %v", err)
	}
	calls := sim.Calls()["GetDistributionTenant"]
	if calls.Throttled != 4 || calls.OK != 5 || calls.Errors["Throttling"] != 4 {
		t.Errorf("calls: %+v", calls)
	}
	t.Run("a bucket for everything", func(t *testing.T) {
		sim.ClearLimits()
		if err := sim.SetLimits(aws.Limit{Operation: "*", Burst: 2}); err != nil {
			t.Fatal(err)
		}
		if got := outcomes(t, sim, 3, "one"); got != "..x" {
			t.Errorf("a burst of two let through %s", got)
		}
		_, err := client(sim).CreateDistributionTenant(t.Context(), tenantInput("two"))
		wantRefusal(t, err, 400, "Throttling")
		if _, there := sim.Tenant("", "two"); there {
			t.Error("a throttled create was performed")
		}
	})
	t.Run("ACM throttles under its own code", func(t *testing.T) {
		_, err := describeWildcard(t, sim)
		wantRefusal(t, err, 400, "ThrottlingException")
	})
	for name, l := range map[string]aws.Limit{
		"no operation":     {Rate: 1, Burst: 1},
		"an unknown one":   {Operation: "Nope", Rate: 1, Burst: 1},
		"a negative rate":  {Operation: "*", Rate: -1, Burst: 1},
		"a negative burst": {Operation: "*", Rate: 1, Burst: -1},
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			if err := sim.SetLimits(l); err == nil {
				t.Error("it was accepted")
			}
		})
	}
}

func TestJournal(t *testing.T) {
	sim := newSim(t, func(o *aws.Options) { o.JournalSize = 5 })
	tenant, etag := mustCreate(t, sim, "acme")
	disable(t, sim, tenant.Id, etag)
	_, err := client(sim).DeleteDistributionTenant(t.Context(), &cloudfront.DeleteDistributionTenantInput{Id: tenant.Id, IfMatch: &etag})
	wantRefusal(t, err, 412, "PreconditionFailed")
	list(t, sim)
	type line struct {
		Seq                 uint64
		Operation, Name     string
		Code                string
		Status              int
		Mutating, Committed bool
	}
	var got []line
	for _, e := range sim.Journal() {
		if e.Account != aws.DefaultAccount || !e.Time.Equal(startTime) || e.RequestID == "" {
			t.Errorf("entry: %+v", e)
		}
		got = append(got, line{e.Seq, e.Operation, e.Name, e.Code, e.Status, e.Mutating, e.Committed})
	}
	want := []line{
		{1, "CreateDistributionTenant", "acme", "OK", 201, true, true},
		{2, "UpdateDistributionTenant", "acme", "OK", 200, true, true},
		{3, "DeleteDistributionTenant", "acme", "PreconditionFailed", 412, true, false},
		{4, "ListDistributionTenants", "", "OK", 200, false, false},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
	for range 4 {
		list(t, sim)
	}
	var seqs []string
	for _, e := range sim.Journal() {
		seqs = append(seqs, fmt.Sprint(e.Seq))
	}
	if got := strings.Join(seqs, " "); got != "4 5 6 7 8" {
		t.Errorf("a journal of five holds %s", got)
	}
	if got := sim.JournalSince(7); len(got) != 1 || got[0].Seq != 8 {
		t.Errorf("since 7: %+v", got)
	}
	if got := sim.JournalSince(100); len(got) != 0 {
		t.Errorf("since 100: %+v", got)
	}
}
