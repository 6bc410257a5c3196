package inventory_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// A thousand tenants of one distribution share one read of it.
func TestReferencesAreReadOnceAMinute(t *testing.T) {
	r := newRig(t, options{})
	cost := r.cost(func() {
		var readers sync.WaitGroup
		for range 20 {
			readers.Go(func() {
				d, err := r.references.Distribution(t.Context(), distributionID)
				if err != nil || !d.MultiTenant || d.CertificateARN != sim.DefaultCertificateARN {
					t.Errorf("got %+v, %v", d, err)
				}
				c, err := r.references.Certificate(t.Context(), sim.DefaultCertificateARN)
				if err != nil || c.Status != "ISSUED" || !cmp.Equal(c.Names, []string{"*.example.com"}) {
					t.Errorf("got %+v, %v", c, err)
				}
			})
		}
		readers.Wait()
	})
	want := map[string]int{"GetDistribution": 1, "DescribeCertificate": 1}
	if d := cmp.Diff(want, cost); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	again := func() {
		if _, err := r.references.Distribution(t.Context(), distributionID); err != nil {
			t.Error(err)
		}
		if _, err := r.references.Certificate(t.Context(), sim.DefaultCertificateARN); err != nil {
			t.Error(err)
		}
	}
	r.clock.Step(59 * time.Second)
	if cost := r.cost(again); len(cost) > 0 {
		t.Errorf("within a minute: %v", cost)
	}
	r.clock.Step(2 * time.Second)
	if d := cmp.Diff(want, r.cost(again)); d != "" {
		t.Errorf("after a minute (-want +got):\n%s", d)
	}
	r.clock.Step(9 * time.Minute)
	if cost := r.cost(func() {
		if d, known := r.references.KnownDistribution(distributionID); !known || !d.MultiTenant {
			t.Errorf("what was read ten minutes ago: %+v, known %t", d, known)
		}
		r.clock.Step(time.Minute)
		if _, known := r.references.KnownDistribution(distributionID); known {
			t.Error("what was read longer ago is still believed")
		}
	}); len(cost) > 0 {
		t.Errorf("asking what is known: %v", cost)
	}
	again()
	r.references.Forget(distributionID, sim.DefaultCertificateARN)
	if _, known := r.references.KnownDistribution(distributionID); known {
		t.Error("what was to be read again is still believed")
	}
	if d := cmp.Diff(want, r.cost(again)); d != "" {
		t.Errorf("after asking to look again (-want +got):\n%s", d)
	}
}

// That something is missing or out of sight is an answer. A failure is none, and is not
// remembered.
func TestReferencesTellAbsenceFromFailure(t *testing.T) {
	refusing := func(operation string, status int, code string) func(*rig) {
		return func(r *rig) {
			// A read is tried once more where the service fails.
			f := sim.Fault{Operation: operation, Times: 1 + status/500, Kind: sim.Instead, Error: &sim.FaultError{Status: status, Code: code}}
			if _, err := r.sim.AddFault(f); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	const get, describe, missing = "GetDistribution", "DescribeCertificate", "arn:aws:acm:us-east-1:111122223333:certificate/00000000-0000-4000-8000-00000000dead"
	t.Run("a distribution", func(t *testing.T) {
		r := newRig(t, options{})
		if d, err := r.references.Distribution(t.Context(), "E2NOBODY"); err != nil || !d.Missing {
			t.Errorf("missing: got %+v, %v", d, err)
		}
		refusing(get, 403, "AccessDenied")(r)
		if d, err := r.references.Distribution(t.Context(), "E2HIDDEN"); err != nil || !d.Unreadable {
			t.Errorf("hidden: got %+v, %v", d, err)
		}
		refusing(get, 500, "InternalError")(r)
		if _, err := r.references.Distribution(t.Context(), distributionID); !fault.Is(err, fault.Transient) {
			t.Errorf("failing: got %v", err)
		}
		if d, err := r.references.Distribution(t.Context(), distributionID); err != nil || !d.MultiTenant {
			t.Errorf("after the failure: got %+v, %v", d, err)
		}
	})
	t.Run("a certificate", func(t *testing.T) {
		r := newRig(t, options{})
		if c, err := r.references.Certificate(t.Context(), missing); err != nil || !c.Missing {
			t.Errorf("missing: got %+v, %v", c, err)
		}
		refusing(describe, 400, "AccessDeniedException")(r)
		if c, err := r.references.Certificate(t.Context(), sim.DefaultCertificateARN); err != nil || !c.Unreadable {
			t.Errorf("hidden: got %+v, %v", c, err)
		}
	})
}

// The routing endpoints of all groups are found with one call.
func TestEndpoints(t *testing.T) {
	r := newRig(t, options{})
	if got := r.references.KnownEndpoint("cg_main"); got != "" {
		t.Errorf("before anybody looked it is %q", got)
	}
	cost := r.cost(func() {
		for range 3 {
			if got, err := r.references.Endpoint(t.Context(), "cg_main"); err != nil || got != "dmain.cloudfront.net" {
				t.Errorf("got %q, %v", got, err)
			}
		}
		if got := r.references.KnownEndpoint("cg_main"); got != "dmain.cloudfront.net" {
			t.Errorf("known as %q", got)
		}
	})
	if d := cmp.Diff(map[string]int{"ListConnectionGroups": 1}, cost); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got, err := r.references.Endpoint(t.Context(), "cg_nobody"); err != nil || got != "" {
		t.Errorf("a group that does not exist: %q, %v", got, err)
	}
}

// AWS makes the default group with its first tenant, and its list may not show it at once.
func TestAGroupThatIsNotShownYetIsAskedForAgain(t *testing.T) {
	r := newRig(t, options{switches: func(sw *sim.Switches) { sw.ListLag = 15 * time.Second }})
	for _, step := range []struct {
		after time.Duration
		want  string
		calls int
	}{
		{0, "", 1},
		{30 * time.Second, "", 0},
		{time.Minute, "dmain.cloudfront.net", 1},
	} {
		r.clock.Step(step.after)
		cost := r.cost(func() {
			if got, err := r.references.Endpoint(t.Context(), "cg_main"); err != nil || got != step.want {
				t.Errorf("%s later it is %q, %v, want %q", step.after, got, err, step.want)
			}
		})
		if cost["ListConnectionGroups"] != step.calls {
			t.Errorf("%s later it takes %d calls, want %d", step.after, cost["ListConnectionGroups"], step.calls)
		}
	}
}

// The addresses of a group are those of its Anycast static IP list, and there are none where that may not be read.
func TestAddressesOfAGroup(t *testing.T) {
	listed := func(s *sim.Seed) { s.ConnectionGroups[0].AnycastIPListID = "aip_1" }
	for name, test := range map[string]struct {
		seed  func(*sim.Seed)
		fault string
		some  bool
		calls map[string]int
	}{
		"with a list":        {seed: listed, some: true, calls: map[string]int{"GetConnectionGroup": 1, "GetAnycastIpList": 1}},
		"without":            {seed: func(*sim.Seed) {}, calls: map[string]int{"GetConnectionGroup": 1}},
		"without permission": {seed: listed, fault: "GetAnycastIpList", calls: map[string]int{"GetConnectionGroup": 1, "GetAnycastIpList": 1}},
		"of a group unread":  {seed: listed, fault: "GetConnectionGroup", calls: map[string]int{"GetConnectionGroup": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, options{seed: test.seed})
			if test.fault != "" {
				f := sim.Fault{Operation: test.fault, Times: 1, Kind: sim.Instead, Error: &sim.FaultError{Status: 403, Code: "AccessDenied"}}
				if _, err := r.sim.AddFault(f); err != nil {
					t.Fatal(err)
				}
			}
			if _, known := r.references.KnownAddresses("cg_main"); known {
				t.Error("known before they were read")
			}
			var want []string
			if test.some {
				want = r.sim.AnycastAddresses("aip_1")
			}
			cost := r.cost(func() {
				for range 2 {
					got, err := r.references.Addresses(t.Context(), "cg_main")
					if d := cmp.Diff(want, got); d != "" || err != nil {
						t.Errorf("%v (-want +got):\n%s", err, d)
					}
				}
			})
			if d := cmp.Diff(test.calls, cost); d != "" {
				t.Errorf("calls (-want +got):\n%s", d)
			}
			if _, known := r.references.KnownAddresses("cg_main"); !known {
				t.Error("not known after they were read")
			}
		})
	}
}
