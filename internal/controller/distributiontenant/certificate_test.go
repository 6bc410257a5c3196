package distributiontenant_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// kindsOfIssuing are the ways in which AWS may tell, or not tell, of an issued certificate.
func kindsOfIssuing() map[string]func(*sim.Switches) {
	kinds := kindsOfAWS()
	kinds["the certificate moves no ETag"] = movesETag(false)
	kinds["AWS attaches automatically"] = attachesByItself
	kinds["AWS attaches automatically, late"] = func(s *sim.Switches) { s.AttachesByItself, s.UpdateLag, s.ListLag = true, 40*time.Second, time.Minute }
	kinds["updates merge customizations"] = func(s *sim.Switches) { s.CustomizationsMerge = true }
	kinds["the certificate moves no ETag and everything lags"] = func(s *sim.Switches) {
		kinds["everything moves and lags"](s)
		s.CertificateMovesETag = false
	}
	return kinds
}

// In every kind of AWS the certificate is requested once, attached once, and takes nothing
// else with it; the spec stays as its owner wrote it.
func TestCertIsRequestedAndAttachedInEveryKindOfAWS(t *testing.T) {
	t.Parallel()
	for name, change := range kindsOfIssuing() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := certWorld(t, change)
			applyAs(t, w, "gitops", w.Tenant("shop", furnishedShop))
			before := get(t, w, "shop")
			w.Advance(2 * issueSoon)
			arn := requests(t, w, 1)[0]
			s := serves(t, w, "shop", arn)
			want := sim.CustomizationState{
				WebACLAction: "override", WebACLARN: webACL, CertificateARN: arn,
				GeoRestrictionType: "whitelist", GeoLocations: []string{"DE", "FR"},
			}
			if d := cmp.Diff(want, s.Customizations); d != "" {
				t.Errorf("customizations (-want +got):\n%s", d)
			}
			if d := cmp.Diff(map[string]string{"tier": "gold", "origin": "shop"}, s.Parameters); d != "" {
				t.Errorf("parameters (-want +got):\n%s", d)
			}
			wantTags := w.Owner(before).Tags()
			wantTags["team"], wantTags["cost"] = "web", "42"
			if d := cmp.Diff(wantTags, s.Tags); d != "" {
				t.Errorf("tags (-want +got):\n%s", d)
			}
			specOf(t, w, "gitops", before)
			if o := get(t, w, "shop"); !cmp.Equal(o.Status.ManagedCertificates, []string{arn}) || o.Status.CertificateRequest == nil || o.Status.Failure != nil {
				t.Errorf("status: %+v", o.Status)
			}
			told := []string{"Created"}
			if !strings.HasPrefix(name, "AWS attaches") {
				told = append(told, "Updated")
			}
			if d := cmp.Diff(told, w.Reasons("shop")); d != "" {
				t.Errorf("events (-want +got):\n%s", d)
			}
			quiet(t, w)

			w.Delete("shop")
			w.Advance(20 * time.Minute)
			gone(t, w, "shop")
			requests(t, w, 0)
		})
	}
}

// Where the ETag moves with the certificate, a tenant costs a create, a read of the details and the update that
// attaches, in addition to what a fleet shares.
func TestCertCostsThreeCalls(t *testing.T) {
	t.Parallel()
	w := certWorld(t)
	const fleet = 5
	for n := range fleet {
		w.Apply(w.Tenant(fmt.Sprintf("shop-%d", n), plainShop, domains(fmt.Sprintf("shop-%d.customer.test", n))))
	}
	w.Advance(issueSoon)
	for n := range fleet {
		is(t, w, fmt.Sprintf("shop-%d", n), readyTrue, validated)
	}
	want := map[string]int{
		"CreateDistributionTenant": fleet, "GetManagedCertificateDetails": fleet, "UpdateDistributionTenant": fleet,
		// The first tenant of an account makes its connection group, which is looked for before and after.
		"GetDistribution": 1, "ListConnectionGroups": 2,
	}
	// Following what is being deployed is part of the sweeps.
	calls := without(w.Calls(), "ListDistributionTenants", "GetDistributionTenant")
	for operation, n := range calls {
		if n > want[operation] {
			t.Errorf("%d calls of %s, want %d at most: %v", n, operation, want[operation], calls)
		}
	}
	if per := float64(w.KubeWrites()) / fleet; per > 5 {
		t.Errorf("%.1f writes to Kubernetes for each", per)
	}
	t.Logf("calls %v, %d writes to Kubernetes", w.Calls(), w.KubeWrites())
}

// Where the ETag does not move, only reading tells: after a minute at first, growing to five.
func TestCertPendingIsReadRarer(t *testing.T) {
	t.Parallel()
	w := certWorld(t, movesETag(false), neverIssued)
	w.Apply(w.Tenant("shop", plainShop))
	w.Advance(time.Minute)
	// read counts the reads in the next span of time.
	read := func(d time.Duration) int {
		before := w.Calls()["GetManagedCertificateDetails"]
		w.Advance(d)
		return w.Calls()["GetManagedCertificateDetails"] - before
	}
	if n := read(10 * time.Minute); n < 3 || n > 6 {
		t.Errorf("%d reads in the first ten minutes", n)
	}
	for hour := 1; hour <= 3; hour++ {
		if n := read(time.Hour); n < 11 || n > 14 {
			t.Errorf("%d reads in hour %d", n, hour)
		}
	}
	is(t, w, "shop", "Ready=False/PendingValidation", pendingProof, syncedTrue)

	w.Sim.ChangeSwitches(func(s *sim.Switches) { s.CertificateIssueDelay = 0 })
	w.Advance(7 * time.Minute)
	serves(t, w, "shop", requests(t, w, 1)[0])
}

// Once it was seen that the ETag tells, the fallback is the net below it and no more.
func TestCertPendingIsLeftToTheSweepWhereTheETagTells(t *testing.T) {
	t.Parallel()
	w := certWorld(t)
	w.Apply(w.Tenant("first", plainShop))
	w.Advance(issueSoon)
	is(t, w, "first", readyTrue)
	neverIssue(w)
	before := w.Calls()["GetManagedCertificateDetails"]
	w.Apply(w.Tenant("second", plainShop, domains(shopMore)))
	w.Advance(time.Hour)
	if n := w.Calls()["GetManagedCertificateDetails"] - before; n > 13 {
		t.Errorf("%d reads in an hour", n)
	}
	is(t, w, "second", pendingProof)
}

// A policy that leaves drift alone does not leave a tenant without the certificate that was
// asked for, and nothing else is written with it.
func TestCertIsAttachedUnderEveryDriftPolicy(t *testing.T) {
	t.Parallel()
	for _, policy := range []v1alpha1.DriftPolicy{v1alpha1.DriftPolicyReport, v1alpha1.DriftPolicySuspend} {
		for kind, change := range map[string]func(*sim.Switches){
			"the ETag moves": movesETag(true), "no ETag moves": movesETag(false), "AWS attaches automatically": attachesByItself,
		} {
			t.Run(fmt.Sprintf("%s, %s", policy, kind), func(t *testing.T) {
				t.Parallel()
				w := certWorld(t, change, neverIssued)
				w.Apply(w.Tenant("shop", furnishedShop, drift(policy)))
				w.Advance(settle)
				is(t, w, "shop", pendingProof, syncedTrue)
				outOfBand(t, w, "shop", func(in *cloudfront.UpdateDistributionTenantInput) {
					in.Parameters = []types.Parameter{{Name: awssdk.String("tier"), Value: awssdk.String("theirs")}}
					in.Customizations = &types.Customizations{}
				})
				w.Advance(issueSoon)
				before := inAWS(t, w, "shop")
				w.Sim.ChangeSwitches(func(s *sim.Switches) { s.CertificateIssueDelay = 0 })
				w.Advance(issueSoon)
				after := inAWS(t, w, "shop")
				arn := requests(t, w, 1)[0]
				want := before
				want.Customizations.CertificateARN, want.Domains = arn, map[string]string{shop: "active"}
				want.ETag, want.LastModifiedTime = after.ETag, after.LastModifiedTime
				if d := cmp.Diff(want, after); d != "" {
					t.Errorf("apart from the certificate (-want +got):\n%s", d)
				}
				is(t, w, "shop", readyTrue, validated)
				if policy == v1alpha1.DriftPolicyReport {
					is(t, w, "shop", "Synced=False/DriftDetected")
				}
				quiet(t, w)
			})
		}
	}
}

// The tenant is changed between our look and our attaching.
func TestCertSurvivesAChangeAtTheSameMoment(t *testing.T) {
	t.Parallel()
	var w *world.World
	changes := 0
	w = certWorldWith(t, world.Options{BeforeAWS: func(r *http.Request, _ bool) {
		if r.Method == http.MethodPut && changes < 2 {
			changes++
			outOfBand(t, w, "shop", func(in *cloudfront.UpdateDistributionTenantInput) {
				in.Parameters = []types.Parameter{{Name: awssdk.String("tier"), Value: awssdk.String(fmt.Sprint("theirs", changes))}}
			})
		}
	}})
	w.Apply(w.Tenant("shop", furnishedShop))
	w.Advance(issueSoon)
	if changes != 2 {
		t.Fatalf("%d changes came in between", changes)
	}
	s := serves(t, w, "shop", requests(t, w, 1)[0])
	if d := cmp.Diff(map[string]string{"tier": "gold", "origin": "shop"}, s.Parameters); d != "" {
		t.Errorf("parameters (-want +got):\n%s", d)
	}
	if s.Customizations.WebACLARN != webACL {
		t.Errorf("customizations %+v", s.Customizations)
	}
}

// A new process finds in status what the one before it knew: it requests nothing a second
// time, and writes nothing when nothing has changed.
func TestCertSurvivesARestartAtEveryStage(t *testing.T) {
	t.Parallel()
	for _, moves := range []bool{true, false} {
		t.Run(fmt.Sprintf("the ETag moves %t", moves), func(t *testing.T) {
			t.Parallel()
			w := certWorld(t, movesETag(moves), neverIssued)
			restart := func(stage string, conditions ...string) {
				t.Helper()
				is(t, w, "shop", conditions...)
				learned, writes := len(get(t, w, "shop").Status.ManagedCertificates), w.Writes()
				w.Restart()
				w.Advance(20 * time.Second)
				// It looks at once, and may be the first to see which certificate it is.
				learned = len(get(t, w, "shop").Status.ManagedCertificates) - learned
				if n := w.Writes() - writes; n > learned {
					t.Errorf("a restart while %s made %d writes", stage, n)
				}
				is(t, w, "shop", conditions...)
				requests(t, w, 1)
			}
			w.Apply(w.Tenant("shop", furnishedShop))
			w.Advance(20 * time.Second)
			restart("creating", "Ready=False/Creating", pendingProof)
			w.Advance(settle)
			restart("pending", "Ready=False/PendingValidation", pendingProof)
			w.Sim.ChangeSwitches(func(s *sim.Switches) { s.CertificateIssueDelay = 0 })
			// Issued while no operator ran: the new process notices and attaches at once.
			w.Clock.Step(time.Minute)
			w.Restart()
			w.Advance(20 * time.Second)
			restart("attaching", "Ready=False/Deploying", validated)
			w.Advance(issueSoon)
			restart("ready", readyTrue, validated, syncedTrue)
			serves(t, w, "shop", requests(t, w, 1)[0])
			w.Restart()
			quiet(t, w)
		})
	}
}

// Self-hosted: the message and status say what has to be served, until it was.
func TestCertSelfHosted(t *testing.T) {
	t.Parallel()
	for _, needs := range []bool{false, true} {
		for _, moves := range []bool{true, false} {
			t.Run(fmt.Sprintf("needs DNS %t, the ETag moves %t", needs, moves), func(t *testing.T) {
				t.Parallel()
				w := certWorld(t, movesETag(moves), func(s *sim.Switches) { s.SelfHostedNeedsDNS = needs })
				w.Apply(w.Tenant("shop", selfHosted, domains("live.elsewhere.test", "www.elsewhere.test")))
				w.Advance(settle)
				if needs {
					is(t, w, "shop", "Ready=False/DomainValidationPending")
					tenants(t, w)
					w.Sim.SetResolving(true, "live.elsewhere.test", "www.elsewhere.test")
					w.Advance(2 * issueSoon)
					serves(t, w, "shop", requests(t, w, 1)[0])
					return
				}
				is(t, w, "shop", "Ready=False/PendingValidation", pendingProof, syncedTrue)
				redirects := redirectsOf(t, w, "shop")
				if len(redirects) != 2 {
					t.Fatalf("redirects: %+v", redirects)
				}
				for _, r := range redirects {
					says(t, w, "shop", "CertificateReady", "http://"+r.Name, "https://"+r.Value)
				}
				writes := w.Writes()
				w.Advance(3 * time.Hour)
				w.Restart()
				w.Advance(10 * time.Minute)
				if n := w.Writes() - writes; n != 0 {
					t.Errorf("waiting made %d writes", n)
				}
				if err := w.Sim.ServeToken("live.elsewhere.test"); err != nil {
					t.Fatal(err)
				}
				w.Advance(issueSoon)
				is(t, w, "shop", pendingProof)
				if err := w.Sim.ServeToken("www.elsewhere.test"); err != nil {
					t.Fatal(err)
				}
				w.Advance(issueSoon)
				serves(t, w, "shop", requests(t, w, 1)[0])
				if left := redirectsOf(t, w, "shop"); len(left) != 0 {
					t.Errorf("redirects are left: %+v", left)
				}
				quiet(t, w)
			})
		}
	}
}

// A live tenant whose spec comes to ask for a managed certificate.
func TestCertRequestedLater(t *testing.T) {
	t.Parallel()
	for _, ignored := range []bool{false, true} {
		t.Run(fmt.Sprintf("what is covered is not requested %t", ignored), func(t *testing.T) {
			t.Parallel()
			w := certWorld(t, func(s *sim.Switches) { s.CoveredRequestIgnored = ignored })
			w.Sim.SetResolving(true, "alpha.example.com")
			ready(t, w, "alpha", params("tier", "gold"))
			w.Edit("alpha", managed(v1alpha1.ValidationTokenHostCloudFront))
			w.Advance(2 * issueSoon)
			if !ignored {
				serves(t, w, "alpha", requests(t, w, 1)[0])
				quiet(t, w)
				return
			}
			is(t, w, "alpha", readyTrue, syncedTrue, validated)
			requests(t, w, 0)
			if n := w.Calls()["UpdateDistributionTenant"]; n != 1 {
				t.Errorf("%d updates", n)
			}
			quiet(t, w)
		})
	}
}

// Who no longer asks for a managed certificate keeps service: what another certificate
// covers loses it, what nothing else covers does not.
func TestCertRequestRemovedLater(t *testing.T) {
	t.Parallel()
	drop := func(o *v1alpha1.DistributionTenant) { o.Spec.ManagedCertificateRequest = nil }
	t.Run("another certificate covers the domain", func(t *testing.T) {
		t.Parallel()
		w := certWorld(t)
		takesEmptyBlocks(w)
		w.Sim.SetResolving(true, "alpha.example.com")
		w.Apply(w.Tenant("alpha", managed(v1alpha1.ValidationTokenHostCloudFront)))
		w.Advance(issueSoon)
		arn := requests(t, w, 1)[0]
		serves(t, w, "alpha", arn)
		w.Edit("alpha", drop)
		w.Advance(issueSoon)
		is(t, w, "alpha", readyTrue, syncedTrue, "CertificateReady=False/NotConfigured")
		if s := inAWS(t, w, "alpha"); s.Customizations.CertificateARN != "" {
			t.Errorf("attached is still %s", s.Customizations.CertificateARN)
		}
		quiet(t, w)
		w.Edit("alpha", params("tier", "gold"))
		w.Advance(settle)
		is(t, w, "alpha", readyTrue)
		if got := w.Condition("alpha", "CertificateReady"); got != "CertificateReady is not there" {
			t.Error(got)
		}
		// It was made for this tenant all the same, and goes with it.
		w.Delete("alpha")
		w.Advance(issueSoon)
		gone(t, w, "alpha")
		requests(t, w, 0)
	})
	t.Run("nothing else covers the domain", func(t *testing.T) {
		t.Parallel()
		w := certWorld(t)
		w.Apply(w.Tenant("shop", plainShop))
		w.Advance(issueSoon)
		arn := requests(t, w, 1)[0]
		w.Edit("shop", drop)
		w.Advance(issueSoon)
		is(t, w, "shop", "Ready=False/CertificateSANMismatch", "Synced=False/UpdatePending")
		says(t, w, "shop", "Ready", shop)
		if s := inAWS(t, w, "shop"); s.Customizations.CertificateARN != arn || s.Domains[shop] != "active" {
			t.Errorf("the domain lost its service: %+v", s)
		}
	})
}

// The certificate in spec.customizations.certificate.arn replaces a managed certificate.
func TestCertThatTheSpecNames(t *testing.T) {
	t.Parallel()
	naming := func(arn string) edit {
		return func(o *v1alpha1.DistributionTenant) {
			if o.Spec.Customizations == nil {
				o.Spec.Customizations = &v1alpha1.Customizations{}
			}
			o.Spec.Customizations.Certificate = &v1alpha1.CertificateCustomization{ARN: arn}
		}
	}
	t.Run("from the start: nothing is requested", func(t *testing.T) {
		t.Parallel()
		w := certWorld(t)
		w.Apply(w.Tenant("alpha", managed(v1alpha1.ValidationTokenHostCloudFront), naming(sim.DefaultCertificateARN)))
		w.Advance(settle)
		is(t, w, "alpha", readyTrue, syncedTrue, validated)
		requests(t, w, 0)
		quiet(t, w)
	})
	t.Run("the learned one: Validated, and not ours to delete any more", func(t *testing.T) {
		t.Parallel()
		w := certWorld(t)
		w.Apply(w.Tenant("shop", plainShop))
		w.Advance(issueSoon)
		arn := requests(t, w, 1)[0]
		updates := w.Calls()["UpdateDistributionTenant"]
		w.Edit("shop", naming(arn))
		w.Advance(settle)
		is(t, w, "shop", readyTrue, syncedTrue, validated)
		if n := w.Calls()["UpdateDistributionTenant"] - updates; n != 0 {
			t.Errorf("%d updates, though nothing differs", n)
		}
		quiet(t, w)
		w.Delete("shop")
		w.Advance(issueSoon)
		gone(t, w, "shop")
		requests(t, w, 1)
	})
	t.Run("another one: it wins", func(t *testing.T) {
		t.Parallel()
		w := certWorld(t)
		w.Sim.SetResolving(true, "alpha.example.com")
		w.Apply(w.Tenant("alpha", managed(v1alpha1.ValidationTokenHostCloudFront)))
		w.Advance(issueSoon)
		requests(t, w, 1)
		w.Edit("alpha", naming(sim.DefaultCertificateARN))
		w.Advance(settle)
		is(t, w, "alpha", readyTrue, syncedTrue, validated)
		if s := inAWS(t, w, "alpha"); s.Customizations.CertificateARN != sim.DefaultCertificateARN {
			t.Errorf("attached is %s", s.Customizations.CertificateARN)
		}
		quiet(t, w)
		w.Delete("alpha")
		w.Advance(issueSoon)
		gone(t, w, "alpha")
		requests(t, w, 0)
		if !inACM(w, sim.DefaultCertificateARN) {
			t.Error("the user's certificate was deleted")
		}
	})
}

// A certificate that may not be read in ACM cannot be checked against the domains. It is
// said, and AWS is left to judge.
func TestCertThatCannotBeReadIsOnlyWarnedOf(t *testing.T) {
	t.Parallel()
	w := certWorld(t)
	refusing(t, w, "DescribeCertificate", http.StatusBadRequest, "AccessDeniedException", "not authorized to perform acm:DescribeCertificate")
	w.Apply(w.Tenant("alpha", rich))
	w.Advance(settle)
	is(t, w, "alpha", readyTrue, syncedTrue)
	if got := warned(w, "alpha", "CertificateUnreadable"); len(got) != 1 {
		t.Errorf("warnings: %v", got)
	}
	quiet(t, w)
}
