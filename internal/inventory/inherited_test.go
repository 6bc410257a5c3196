package inventory_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

func reads(t *testing.T, o options, changes ...func(*watch)) *watch {
	t.Helper()
	w := newWatch(t, o, append(changes, func(w *watch) { w.reads = true })...)
	w.sweep()
	return w
}

// renewed is the certificate with another end.
func (w *watch) renewed(certificate string, end time.Time) {
	w.t.Helper()
	if err := w.sim.Load(sim.Seed{Certificates: []sim.SeedCertificate{{ARN: certificate, Names: []string{"*.example.com"}, NotAfter: &end}}}); err != nil {
		w.t.Fatal(err)
	}
}

func ends(s *distributiontenant.Served) string {
	if s == nil {
		return "unknown"
	}
	return s.NotAfter.UTC().Format(time.DateOnly) + " " + s.Issuer
}

// Whatever the number of tenants, their distributions' certificates cost two calls an hour for each distribution.
func TestInheritedCertificatesCostNoCallPerTenant(t *testing.T) {
	w := reads(t, options{tenants: 300})
	spent := w.cost(func() { w.pass(6 * time.Hour) })
	// The first look is at once.
	if d := cmp.Diff(map[string]int{"GetDistribution": 7, "DescribeCertificate": 7}, spent); d != "" {
		t.Errorf("six hours (-want +got):\n%s", d)
	}
	if arn, known := w.references.Inherited(distributionID); !known || arn != sim.DefaultCertificateARN {
		t.Errorf("the distribution has the certificate %q, known %t", arn, known)
	}
	if got := ends(w.references.Served(sim.DefaultCertificateARN)); got != "2027-01-01 Amazon" {
		t.Errorf("the inherited certificate: %s", got)
	}
	if w.listings() != 0 {
		t.Errorf("%d listings for no certificate of a tenant's own", w.listings())
	}
}

// The tenants are woken once because of a certificate, a few at a time.
func TestRenewalsWakeTheirTenantsOnce(t *testing.T) {
	w := reads(t, options{tenants: 120, seed: seeded([]int{100}, map[int][]int{0: {0, 1}})})
	w.wokenNow()
	w.pass(time.Minute)
	if n := len(w.wokenNow()); n != 120 {
		t.Errorf("%d tenants woken once the certificates were known", n)
	}
	w.pass(5 * time.Hour)
	if got := w.wokenNow(); len(got) > 0 {
		t.Errorf("woken in a quiet time: %v", got)
	}

	w.renewed(sim.DefaultCertificateARN, days(600))
	var at []int
	for range 100 * 60 {
		w.pass(time.Second)
		if n := len(w.wokenNow()); n > 0 {
			at = append(at, n)
		}
	}
	if d := cmp.Diff([]int{50, 50, 18}, at); d != "" {
		t.Errorf("tenants woken at once because of a renewal (-want +got):\n%s", d)
	}
	w.renewed(arn(0), days(200))
	w.pass(2 * time.Hour)
	if d := cmp.Diff([]string{name(0), name(1)}, w.wokenNow()); d != "" {
		t.Errorf("woken because of a renewed certificate of their own (-want +got):\n%s", d)
	}
	if got := ends(w.references.Served(arn(0))); got != days(200).Format(time.DateOnly)+" Amazon" {
		t.Errorf("their certificate: %s", got)
	}
}

// A certificate that a pass has read is known at once, and the other objects still learn of it.
func TestWhatAPassReadsOfACertificateIsKnown(t *testing.T) {
	w := reads(t, options{tenants: 2, seed: seeded([]int{100}, map[int][]int{0: {0, 1}})})
	w.pass(time.Minute)
	w.wokenNow()
	w.renewed(arn(0), days(300))
	if _, err := w.references.Certificate(t.Context(), arn(0)); err != nil {
		t.Fatal(err)
	}
	if got := ends(w.references.Served(arn(0))); got != days(300).Format(time.DateOnly)+" Amazon" {
		t.Errorf("after a read: %s", got)
	}
	w.pass(2 * time.Hour)
	if d := cmp.Diff([]string{name(0), name(1)}, w.wokenNow()); d != "" {
		t.Errorf("woken (-want +got):\n%s", d)
	}
}

// A failed read changes nothing that is known.
func TestInheritedCertificatesThatCanNotBeRead(t *testing.T) {
	for _, operation := range []string{"GetDistribution", "DescribeCertificate", "ListCertificates"} {
		for _, code := range []string{"AccessDenied", "InternalError"} {
			t.Run(fmt.Sprint(operation, " ", code), func(t *testing.T) {
				w := reads(t, options{tenants: 3, seed: seeded([]int{100}, map[int][]int{0: {0}})})
				w.pass(time.Minute)
				known := func() []string {
					inherited, _ := w.references.Inherited(distributionID)
					return []string{inherited, ends(w.references.Served(arn(0))), ends(w.references.Served(inherited))}
				}
				before := known()
				if slices.Contains(before, "unknown") {
					t.Fatalf("at first: %v", before)
				}
				if _, err := w.sim.AddFault(sim.Fault{Operation: operation, Nth: 1, Times: -1, Error: &sim.FaultError{Status: 400, Code: code, Message: "no"}}); err != nil {
					t.Fatal(err)
				}
				w.wokenNow()
				w.pass(6 * time.Hour)
				if d := cmp.Diff(before, known()); d != "" {
					t.Errorf("(-before +after):\n%s", d)
				}
				if got := w.wokenNow(); len(got) > 0 {
					t.Errorf("woken: %v", got)
				}
			})
		}
	}
}

// One that is detached everywhere is not remembered for ever.
func TestShownCertificatesAreForgotten(t *testing.T) {
	w := reads(t, options{tenants: 2, seed: seeded([]int{100, 200}, map[int][]int{0: {0}, 1: {1}})})
	w.pass(time.Minute)
	w.remove(0)
	w.run(time.Hour)
	w.pass(2 * time.Hour)
	if got := []string{ends(w.references.Served(arn(0))), ends(w.references.Served(arn(1)))}; got[0] != "unknown" || got[1] == "unknown" {
		t.Errorf("known: %v", got)
	}
}

// The certificate of a distribution without tenants is read soon after it is asked for, and then once an hour for as long
// as it is.
func TestWatchedCertificates(t *testing.T) {
	w := reads(t, options{seed: seeded([]int{100}, nil)})
	w.pass(2 * time.Minute)
	if n := w.calls()["DescribeCertificate"]; n != 0 {
		t.Fatalf("%d reads of a certificate that nothing has", n)
	}
	if got := ends(w.references.Watched(arn(0))); got != "unknown" {
		t.Errorf("at first: %s", got)
	}
	w.pass(time.Minute)
	want := days(100).Format(time.DateOnly) + " Amazon"
	if got := ends(w.references.Watched(arn(0))); got != want {
		t.Errorf("a minute later: %s, want %s", got, want)
	}
	w.pass(time.Hour)
	w.references.Watched(arn(0))
	spent := w.cost(func() { w.pass(6 * time.Hour) })
	if d := cmp.Diff(map[string]int{"DescribeCertificate": 6}, spent); d != "" {
		t.Errorf("six hours (-want +got):\n%s", d)
	}
	for range 5 {
		w.pass(6 * time.Hour)
	}
	if spent := w.cost(func() { w.pass(6 * time.Hour) }); len(spent) > 0 {
		t.Errorf("calls for a certificate that nothing has asked for in a day: %v", spent)
	}
}

// A certificate that tenants inherit and a distribution asks for is read once. One that can't be read is tried each hour.
func TestWatchedCertificatesCostNothingTwice(t *testing.T) {
	w := reads(t, options{tenants: 3})
	w.references.Watched(sim.DefaultCertificateARN)
	spent := w.cost(func() { w.pass(6 * time.Hour) })
	if d := cmp.Diff(map[string]int{"GetDistribution": 7, "DescribeCertificate": 7}, spent); d != "" {
		t.Errorf("six hours (-want +got):\n%s", d)
	}
	if _, err := w.sim.AddFault(sim.Fault{Operation: "DescribeCertificate", Nth: 1, Times: -1, Error: &sim.FaultError{Status: 400, Code: "AccessDenied", Message: "no"}}); err != nil {
		t.Fatal(err)
	}
	w.renewed(arn(5), days(50))
	w.references.Watched(arn(5))
	spent = w.cost(func() { w.pass(3 * time.Hour) })
	if n := spent["DescribeCertificate"]; n > 1+2*3 {
		t.Errorf("%d tries in three hours", n)
	}
	if got := ends(w.references.Watched(sim.DefaultCertificateARN)); got != "2027-01-01 Amazon" {
		t.Errorf("what was known: %s", got)
	}
}
