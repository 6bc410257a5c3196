package inventory_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/acm"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/inventory"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// watch is a watch over certificates on a rig.
type watch struct {
	*rig
	expiry *inventory.Expiry
	// rate and burst are those of ACM's limiter, transport is the way there.
	rate      float64
	burst     int
	transport http.RoundTripper
	// reads makes it tell references, and look at the certificates of distributions.
	reads  bool
	found  []inventory.AttachedCertificate
	failed []fault.Kind
}

// born is when the rig's clock starts.
var born = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func days(n int) time.Time { return born.AddDate(0, 0, n) }

func arn(n int) string {
	return fmt.Sprintf("arn:aws:acm:us-east-1:%s:certificate/11111111-0000-4000-8000-%012d", sim.DefaultAccount, n)
}

// seeded are certificates with those spans in days, number n for the tenants of of[n].
func seeded(spans []int, of map[int][]int) func(*sim.Seed) {
	return func(s *sim.Seed) {
		for n, span := range spans {
			end := days(span)
			s.Certificates = append(s.Certificates, sim.SeedCertificate{ARN: arn(n), Names: []string{"*.example.com"}, NotAfter: &end})
			for _, tenant := range of[n] {
				s.Tenants[tenant].CertificateARN = arn(n)
			}
		}
	}
}

func newWatch(t *testing.T, o options, changes ...func(*watch)) *watch {
	t.Helper()
	w := &watch{rig: newRig(t, o), rate: 1e6, burst: 1e6}
	w.transport = w.sim.Transport()
	for _, change := range changes {
		change(w)
	}
	var clk clock.WithTicker = w.clock
	if o.clock != nil {
		clk = o.clock
	}
	metrics, err := aws.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	var references *inventory.References
	if w.reads {
		references = w.references
	}
	w.expiry = inventory.NewExpiry(inventory.ExpiryOptions{
		Inventory: w.Inventory, References: references, Clock: clk, Random: func() float64 { return 0.5 },
		Certificates: acm.New(acm.Config{
			SDK: w.sdk(w.transport), Metrics: metrics,
			Limiter: aws.NewLimiter(aws.LimiterConfig{API: "acm", Rate: w.rate, Burst: w.burst, Clock: clk, Metrics: metrics}),
		}),
		OnFound:   func(found []inventory.AttachedCertificate) { w.found = append(w.found, found...) },
		OnFailure: func(err error) { w.failed = append(w.failed, fault.KindOf(err)) },
	})
	return w
}

// pass makes the watch's steps for so long.
func (w *watch) pass(d time.Duration) {
	w.t.Helper()
	end := w.clock.Now().Add(d)
	for range 1000 {
		next := w.clock.Now().Add(w.expiry.Step(w.t.Context()))
		if next.After(end) {
			w.clock.SetTime(end)
			return
		}
		w.clock.SetTime(next)
	}
	w.t.Fatal("the watch does not come to rest")
}

// fault makes ListCertificates fail until the answer is called.
func (w *watch) fault(code string) (end func()) {
	w.t.Helper()
	id, err := w.sim.AddFault(sim.Fault{Operation: "ListCertificates", Nth: 1, Times: -1, Error: &sim.FaultError{Status: 400, Code: code, Message: "no"}})
	if err != nil {
		w.t.Fatal(err)
	}
	return func() { w.sim.RemoveFault(id) }
}

func (w *watch) listings() int { return w.calls()["ListCertificates"] }

// tally is a report in numbers.
type tally struct {
	Known, Attached, Unusable, Unlisted int
	// Within are the certificates that expire in 7, 14, 30 and 60 days.
	Within [4]int
	First  time.Time
}

func (w *watch) tally() tally {
	w.t.Helper()
	r := w.expiry.Report()
	if r == nil {
		w.t.Fatal("there is no report")
	}
	out := tally{Attached: r.Attached, Unusable: r.Unusable, Unlisted: r.Unlisted}
	if !r.Listed.IsZero() {
		out.Known = 1
	}
	for n, d := range []int{7, 14, 30, 60} {
		out.Within[n] = r.ExpiringBy(w.clock.Now().AddDate(0, 0, d))
	}
	if first, some := r.Soonest(); some {
		out.First = first.UTC()
	}
	return out
}

func (w *watch) want(when string, want tally) {
	w.t.Helper()
	if d := cmp.Diff(want, w.tally()); d != "" {
		w.t.Errorf("%s (-want +got):\n%s", when, d)
	}
}

// A certificate that many tenants have counts once, and one that no tenant has does not count.
func TestWhatIsAttachedIsCounted(t *testing.T) {
	for name, pageSize := range map[string]int{"in one page": 1000, "page by page": 1} {
		t.Run(name, func(t *testing.T) {
			w := newWatch(t, options{tenants: 8, pageSize: pageSize, seed: seeded(
				[]int{3, 7, 10, 45, 59, 90, 1},
				map[int][]int{0: {0, 1, 2}, 1: {3}, 2: {4}, 3: {5}, 5: {6}})})
			if w.expiry.Report() != nil {
				t.Error("there is a report before anything was looked at")
			}
			w.sweep()
			if cost := w.cost(func() { w.pass(time.Second) }); cost["ListCertificates"] != (8+pageSize-1)/pageSize || len(cost) != 1 {
				t.Errorf("listing eight certificates made the calls %v", cost)
			}
			w.clock.SetTime(born)
			w.want("after a listing", tally{Known: 1, Attached: 5, Within: [4]int{2, 3, 3, 4}, First: days(3)})
			w.clock.SetTime(days(4))
			w.want("with nothing but time gone by", tally{Known: 1, Attached: 5, Within: [4]int{3, 3, 3, 4}, First: days(3)})
		})
	}
}

func TestTheListIsReadOnceAnHourAndOnlyForACertificate(t *testing.T) {
	w := newWatch(t, options{tenants: 2, seed: seeded([]int{90}, nil)})
	w.pass(time.Hour)
	if w.expiry.Report() != nil || w.listings() != 0 {
		t.Errorf("report %v and %d listings before the tenants were ever listed", w.expiry.Report(), w.listings())
	}
	w.sweep()
	w.pass(3 * time.Hour)
	w.want("with nothing attached", tally{})
	if n := w.listings(); n != 0 {
		t.Errorf("%d listings with nothing attached", n)
	}
	w.attach(0, arn(0))
	w.pass(time.Minute)
	if n := w.listings(); n != 1 {
		t.Errorf("%d listings in the minute after the first certificate was attached, want 1", n)
	}
	w.want("with one attached", tally{Known: 1, Attached: 1, First: days(90)})
	w.pass(10 * time.Hour)
	if n := w.listings(); n != 11 {
		t.Errorf("%d listings after ten more hours, want 11", n)
	}
	w.attach(0, "")
	w.pass(2 * time.Hour)
	w.want("with it detached", tally{})
	if n := w.listings(); n != 11 {
		t.Errorf("%d listings after it was detached, want none more than 11", n)
	}
}

// attach gives a tenant a certificate, through the inventory.
func (w *watch) attach(n int, arn string) {
	w.t.Helper()
	s := w.inAWS(n)
	tenant := distributiontenant.Tenant{Name: s.Name, DistributionID: s.DistributionID, Enabled: true, Domains: []string{s.Name + ".example.com"}}
	w.sim.ChangeSwitches(func(s *sim.Switches) { s.Allowed.EmptyBlocks = true })
	seen := tenant
	seen.Customizations.CertificateARN, tenant.Customizations.CertificateARN = s.Customizations.CertificateARN, arn
	if _, err := w.Update(w.t.Context(), distributiontenant.Update{ID: s.ID, ETag: s.ETag, Seen: seen, Tenant: tenant}); err != nil {
		w.t.Fatal(err)
	}
}

// Certificates that may not be read are unknown, not absent.
func TestADeniedListIsToldOnceAndLeavesNothingKnown(t *testing.T) {
	w := newWatch(t, options{tenants: 1, seed: seeded([]int{5}, map[int][]int{0: {0}})})
	w.sweep()
	allow := w.fault("AccessDeniedException")
	w.pass(10 * time.Hour)
	w.want("denied", tally{Attached: 1})
	if n := w.listings(); n > 11 {
		t.Errorf("%d calls in ten hours, want one an hour", n)
	}
	if d := cmp.Diff([]fault.Kind{fault.Denied}, w.failed); d != "" {
		t.Errorf("failures told (-want +got):\n%s", d)
	}
	allow()
	w.pass(time.Hour)
	w.want("allowed", tally{Known: 1, Attached: 1, Within: [4]int{1, 1, 1, 1}, First: days(5)})
	w.fault("AccessDeniedException")
	w.pass(time.Hour)
	w.want("denied again", tally{Attached: 1})
	if n := len(w.failed); n != 2 {
		t.Errorf("%d failures told, want a second one after it had worked", n)
	}
}

// A disturbance neither spoils what is known nor makes a storm of calls.
func TestADisturbedListIsTriedAgain(t *testing.T) {
	w := newWatch(t, options{tenants: 1, pageSize: 1, seed: seeded([]int{5, 50}, map[int][]int{1: {0}})})
	w.sweep()
	w.pass(time.Second)
	known := tally{Known: 1, Attached: 1, Within: [4]int{0, 0, 0, 1}, First: days(50)}
	w.want("before", known)
	calm := w.fault("ThrottlingException")
	before := w.listings()
	w.pass(5 * time.Hour)
	w.want("disturbed", known)
	if n := w.listings() - before; n < 6 || n > 100 {
		t.Errorf("%d calls in five hours of throttling", n)
	}
	if d := cmp.Diff([]fault.Kind{fault.Throttled}, w.failed); d != "" {
		t.Errorf("failures told (-want +got):\n%s", d)
	}
	calm()
	if _, err := w.sim.AddFault(sim.Fault{Operation: "ListCertificates", Nth: 2}); err != nil {
		t.Fatal(err)
	}
	w.pass(2 * time.Hour)
	if age := w.clock.Since(w.expiry.Report().Listed); age > time.Hour+6*time.Minute {
		t.Errorf("the list is %s old although only one of its pages failed", age)
	}
	if n := len(w.failed); n != 1 {
		t.Errorf("%d failures told, want none for one page", n)
	}
}

// A list whose markers run in a circle has no end that anything could be concluded from.
func TestAListThatRepeatsItselfIsGivenUp(t *testing.T) {
	w := newWatch(t, options{tenants: 1, seed: seeded([]int{5}, map[int][]int{0: {0}})}, func(w *watch) {
		w.transport = roundTripper(func(r *http.Request) (*http.Response, error) {
			sent, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			next := "a"
			if bytes.Contains(sent, []byte(`"NextToken":"a"`)) {
				next = "b"
			}
			body := fmt.Sprintf(`{"CertificateSummaryList": [], "NextToken": %q}`, next)
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
		})
	})
	w.sweep()
	w.pass(time.Second)
	w.want("given up", tally{Attached: 1})
	if len(w.failed) != 1 {
		t.Errorf("failures told: %v", w.failed)
	}
}

// The limiter's delays only stretch a listing.
func TestAListWaitsForItsTurn(t *testing.T) {
	w := newWatch(t, options{tenants: 1, pageSize: 1, seed: seeded([]int{5, 6, 7, 8, 9, 10, 11, 12}, map[int][]int{7: {0}})},
		func(w *watch) { w.rate, w.burst = 1, 2 })
	w.sweep()
	start := w.clock.Now()
	w.pass(time.Minute)
	w.want("in the end", tally{Known: 1, Attached: 1, Within: [4]int{0, 1, 1, 1}, First: days(12)})
	if took := w.expiry.Report().Listed.Sub(start); took < 5*time.Second || len(w.failed) > 0 {
		t.Errorf("nine pages at one a second took %s; failures %v", took, w.failed)
	}
}

// CloudFront's list of tenants need not move when a certificate ends.
func TestWhoeverHasAnUnusableCertificateIsWoken(t *testing.T) {
	w := newWatch(t, options{tenants: 4, seed: seeded([]int{90, 90}, map[int][]int{0: {0, 1}, 1: {2}})})
	w.sweep()
	w.pass(time.Second)
	w.wokenNow()
	change := func(status string) {
		t.Helper()
		if err := w.sim.ChangeCertificate(sim.CertificateChange{Certificate: arn(0), Status: status}); err != nil {
			t.Fatal(err)
		}
	}
	for _, status := range []string{"INACTIVE", "ISSUED", "REVOKED"} {
		change(status)
		unusable := status != "ISSUED"
		for round, woken := range [][]string{{name(0), name(1)}, {name(0), name(1)}} {
			if !unusable && round > 0 {
				woken = nil // it is good again, and that was said
			}
			w.pass(time.Hour)
			if d := cmp.Diff(woken, w.wokenNow()); d != "" {
				t.Errorf("%s, listing %d: woken (-want +got):\n%s", status, round+1, d)
			}
		}
		for n, want := range []bool{unusable, unusable, false, false} {
			if got := w.Known(name(n)).CertificateUnusable; got != want {
				t.Errorf("%s: %s has an unusable certificate: %t, want %t", status, name(n), got, want)
			}
		}
	}
	w.want("in the end", tally{Known: 1, Attached: 2, Unusable: 1, First: days(90)})
	w.attach(0, arn(1))
	if w.Known(name(0)).CertificateUnusable || !w.Known(name(1)).CertificateUnusable {
		t.Error("what counts is the certificate that is attached now")
	}
}

// The log names each certificate once for as long as it is in trouble, and who has it.
func TestTroubleIsNamedOnce(t *testing.T) {
	w := newWatch(t, options{tenants: 5, seed: seeded([]int{20, 13, 90, 12}, map[int][]int{0: {0}, 1: {1, 2}, 2: {3}})})
	w.sweep()
	w.pass(3 * time.Hour)
	first := inventory.AttachedCertificate{ARN: arn(1), Status: distributiontenant.CertificateIssued, NotAfter: days(13), Tenants: []string{name(1), name(2)}}
	if d := cmp.Diff([]inventory.AttachedCertificate{first}, w.found, utc); d != "" {
		t.Errorf("named (-want +got):\n%s", d)
	}
	w.found = nil
	if err := w.sim.ChangeCertificate(sim.CertificateChange{Certificate: arn(2), Status: "REVOKED"}); err != nil {
		t.Fatal(err)
	}
	w.pass(7 * 24 * time.Hour)
	want := []inventory.AttachedCertificate{
		{ARN: arn(2), Status: "REVOKED", NotAfter: days(90), Tenants: []string{name(3)}},
		{ARN: arn(0), Status: distributiontenant.CertificateIssued, NotAfter: days(20), Tenants: []string{name(0)}},
	}
	if d := cmp.Diff(want, w.found, utc); d != "" {
		t.Errorf("named within a week (-want +got):\n%s", d)
	}
}

var utc = cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })

// ACM's API learns of a certificate later than CloudFront.
func TestACertificateThatIsNotShownIsNeitherGoodNorBad(t *testing.T) {
	end := days(40)
	w := newWatch(t, options{
		tenants: 1, switches: func(s *sim.Switches) { s.CertificateLag = 2 * time.Hour },
		seed: func(s *sim.Seed) {
			s.Tenants[0].ManagedCertificate = &sim.SeedManagedCertificate{Attached: true, NotAfter: &end}
		},
	})
	w.sweep()
	w.pass(time.Minute)
	w.want("hidden", tally{Known: 1, Attached: 1, Unlisted: 1})
	if w.Known(name(0)).CertificateUnusable || len(w.found) > 0 {
		t.Error("a certificate that is not shown counts as unusable")
	}
	w.pass(3 * time.Hour)
	w.want("shown", tally{Known: 1, Attached: 1, Within: [4]int{0, 0, 0, 1}, First: end})
}

// Ten thousand tenants with a certificate each, among as many of others.
func TestAFleetsCertificatesTakeLittleMemory(t *testing.T) {
	const fleet, most = 10_000, 32
	w := newWatch(t, options{pageSize: 1000, seed: func(s *sim.Seed) {
		end := days(90)
		for n := range 2 * fleet {
			s.Certificates = append(s.Certificates, sim.SeedCertificate{ARN: arn(n), Names: []string{"*.example.com"}, NotAfter: &end})
		}
	}})
	w.sweep()
	for n := range fleet {
		o := distributiontenant.Observed{ID: name(n), ARN: "arn:" + name(n), ETag: "E", Tenant: distributiontenant.Tenant{Name: name(n)}}
		o.Customizations.CertificateARN = arn(n)
		w.Learn(o, nil)
	}
	w.pass(time.Second) // fills the pools of the client and the simulator
	allow := w.fault("AccessDeniedException")
	w.pass(time.Hour)
	w.want("forgotten", tally{Attached: fleet})
	allow()
	before := heap()
	w.pass(time.Hour)
	grown := float64(heap()) - float64(before)
	w.want("remembered", tally{Known: 1, Attached: fleet, First: days(90)})
	t.Logf("%.1f bytes a certificate", grown/fleet)
	if grown > most*fleet {
		t.Errorf("%.1f bytes a certificate, want at most %d", grown/fleet, most)
	}
}

// Start runs automatically what the other tests play step by step.
func TestTheWatchRunsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatch(t, options{tenants: 1, clock: clock.RealClock{}, seed: func(s *sim.Seed) { s.Tenants[0].CertificateARN = sim.DefaultCertificateARN }})
		if !w.expiry.NeedLeaderElection() {
			t.Error("a replica that does not lead would spend the leader's rate")
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		go func() { ended <- w.Start(ctx) }()
		go func() { ended <- w.expiry.Start(ctx) }()
		<-time.NewTimer(time.Minute).C
		if r := w.expiry.Report(); r == nil || r.Listed.IsZero() || r.Attached != 1 {
			t.Errorf("a minute after the start: %+v", r)
		}
		<-time.NewTimer(3 * time.Hour).C
		if n := w.listings(); n < 3 || n > 4 {
			t.Errorf("%d listings in three hours", n)
		}
		cancel()
		for range 2 {
			if err := <-ended; err != nil {
				t.Errorf("the end was %v", err)
			}
		}
	})
}
