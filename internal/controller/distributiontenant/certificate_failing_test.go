package distributiontenant_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// requestsAYear is what ACM grants to an account. One broken tenant must not use it up.
const requestsAYear = 5000

// Every way in which a certificate can end is reported with its cause, and is followed by one new request that fixes
// it.
func TestCertThatFailsIsRequestedAnew(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		// issued is true where the certificate was attached before.
		issued bool
		fail   func(t *testing.T, w *world.World)
		says   []string
	}{
		"not proven in 72 hours": {
			fail: func(_ *testing.T, w *world.World) {
				w.Sim.SetResolving(false, "*.customer.test")
				pass(w, 3*day-issueSoon)
			},
			says: []string{"timed out", "72 hours"},
		},
		"refused by CAA": {
			fail: func(t *testing.T, w *world.World) { t.Helper(); becomes(t, w, "shop", "FAILED") },
			says: []string{"failed", "CAA_ERROR", "CAA record"},
		},
		"revoked": {
			issued: true, says: []string{"revoked"},
			fail: func(t *testing.T, w *world.World) { t.Helper(); becomes(t, w, "shop", "REVOKED") },
		},
		"expired": {
			issued: true, says: []string{"expired", "renewal"},
			fail: func(t *testing.T, w *world.World) { t.Helper(); becomes(t, w, "shop", "EXPIRED") },
		},
		"inactive": {
			issued: true, says: []string{"no longer active"},
			fail: func(t *testing.T, w *world.World) { t.Helper(); becomes(t, w, "shop", "INACTIVE") },
		},
	} {
		for _, moves := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, the ETag moves %t", name, moves), func(t *testing.T) {
				t.Parallel()
				w := certWorldWith(t, world.Options{Expiry: true}, movesETag(moves))
				if !c.issued {
					neverIssue(w)
				}
				w.Apply(w.Tenant("shop", furnishedShop))
				w.Advance(issueSoon)
				old := requests(t, w, 1)[0]
				c.fail(t, w)
				noticed := 7 * time.Minute
				if c.issued && !moves {
					// ACM's list is read once an hour.
					noticed = 70 * time.Minute
				}
				for n := 0; n < int(noticed/time.Minute) && w.Condition("shop", "CertificateReady") != failed; n++ {
					w.Advance(time.Minute)
				}
				is(t, w, "shop", failed, "Ready=False/CertificateFailed", syncedTrue)
				says(t, w, "shop", "CertificateReady", append(c.says, old)...)
				if got := warned(w, "shop", "CertificateFailed"); len(got) != 1 {
					t.Errorf("warnings: %v", got)
				}
				w.Sim.ChangeSwitches(func(s *sim.Switches) { s.CertificateIssueDelay = 10 * time.Second })
				w.Sim.SetResolving(true, "*.customer.test")
				w.Advance(time.Hour)
				arns := requests(t, w, 2)
				s := serves(t, w, "shop", arns[1])
				if s.Customizations.WebACLARN != webACL || s.Parameters["tier"] != "gold" {
					t.Errorf("the new certificate took something else with it: %+v", s)
				}
				if got := get(t, w, "shop").Status.ManagedCertificates; !slices.Equal(got, arns) {
					t.Errorf("managedCertificates: %v, want %v", got, arns)
				}
				quiet(t, w)
				w.Delete("shop")
				w.Advance(20 * time.Minute)
				gone(t, w, "shop")
				requests(t, w, 0)
			})
		}
	}
}

// A certificate that fails each time is requested less and less often, across restarts.
func TestCertThatAlwaysFailsIsRequestedRarely(t *testing.T) {
	t.Parallel()
	for _, moves := range []bool{true, false} {
		t.Run(fmt.Sprintf("the ETag moves %t", moves), func(t *testing.T) {
			t.Parallel()
			w := certWorld(t, movesETag(moves), neverIssued)
			w.Apply(w.Tenant("shop", plainShop))
			w.Advance(settle)
			var perDay []int
			for d := range 6 {
				before := len(managedIn(w))
				for range 48 {
					if s := inAWS(t, w, "shop"); slices.ContainsFunc(managedIn(w), func(c sim.CertificateState) bool {
						return c.ARN == s.ManagedCertificate && c.Status == "PENDING_VALIDATION"
					}) {
						becomes(t, w, "shop", "FAILED")
					}
					w.Advance(30 * time.Minute)
				}
				perDay = append(perDay, len(managedIn(w))-before)
				if d%2 == 0 {
					w.Restart()
				}
			}
			t.Logf("requests a day: %v", perDay)
			total := 0
			for _, n := range perDay {
				total += n
			}
			if last := perDay[len(perDay)-1]; total > 20 || last > 2 || last*365 > requestsAYear/5 {
				t.Errorf("requests a day: %v", perDay)
			}
			if total < 5 {
				t.Errorf("only %d requests in all: it gave up", total)
			}
			// It delays none of the other changes.
			outOfBand(t, w, "shop", func(in *cloudfront.UpdateDistributionTenantInput) { in.Enabled = awssdk.Bool(false) })
			w.Advance(10 * time.Minute)
			if s := inAWS(t, w, "shop"); !s.Enabled {
				t.Error("drift is not corrected while the certificate fails")
			}
			// And status keeps still.
			writes := w.KubeWrites()
			w.Advance(6 * time.Hour)
			if n := w.KubeWrites() - writes; n > 6 {
				t.Errorf("six hours of failing made %d writes to Kubernetes", n)
			}
		})
	}
}

// After the cause is fixed, a user who asks does not wait for the schedule.
func TestCertThatFailedIsRequestedAtOnceWhenAsked(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(w *world.World){
		"by an edit":           func(w *world.World) { w.Edit("shop", params("tier", "silver", "origin", "shop")) },
		"by the annotation":    func(w *world.World) { nudge(w, "shop", "now") },
		"by an edited request": func(w *world.World) { w.Edit("shop", managed(v1alpha1.ValidationTokenHostSelfHosted)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := certWorld(t, neverIssued)
			w.Apply(w.Tenant("shop", furnishedShop))
			w.Advance(settle)
			becomes(t, w, "shop", "FAILED")
			w.Advance(6 * time.Minute)
			is(t, w, "shop", failed)
			requests(t, w, 1)
			w.Sim.ChangeSwitches(func(s *sim.Switches) { s.CertificateIssueDelay = 0 })
			ask(w)
			w.Advance(5 * time.Second)
			arns := requests(t, w, 2)
			w.Advance(issueSoon)
			serves(t, w, "shop", arns[1])
			requests(t, w, 2)
		})
	}
}

// CloudFront makes the tenant first and asks ACM then, with the caller's rights. Where that
// fails the tenant has no request, and only the operator can make one.
func TestCertWhoseRequestWasLost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lose func(t *testing.T, w *world.World) (allow func())
	}{
		"no permission": {func(_ *testing.T, w *world.World) func() {
			w.Sim.ChangeSwitches(requestLost)
			return func() { w.Sim.ChangeSwitches(func(s *sim.Switches) { s.RequestLost = false }) }
		}},
		"refused by a fault": {func(t *testing.T, w *world.World) func() {
			t.Helper()
			return refusing(t, w, "RequestCertificate", http.StatusForbidden, "AccessDeniedException", "no")
		}},
		"the quota of certificates": {func(_ *testing.T, w *world.World) func() {
			w.Sim.SetQuotas(sim.Quotas{Certificates: 1})
			return func() { w.Sim.SetQuotas(sim.Quotas{Certificates: 2500}) }
		}},
	} {
		for _, moves := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, the ETag moves %t", name, moves), func(t *testing.T) {
				t.Parallel()
				w := certWorld(t, movesETag(moves))
				allow := c.lose(t, w)
				w.Apply(w.Tenant("shop", furnishedShop))
				w.Advance(8 * time.Minute)
				is(t, w, "shop", "Ready=False/CertificateFailed", failed, syncedTrue)
				says(t, w, "shop", "CertificateReady", "acm:RequestCertificate")
				requests(t, w, 0)

				pass(w, 2*day)
				updates := w.Calls()["UpdateDistributionTenant"]
				pass(w, 2*day)
				if n := w.Calls()["UpdateDistributionTenant"] - updates; n == 0 || n > 100 {
					t.Errorf("%d requests in two days", n)
				}
				allow()
				nudge(w, "shop", "allowed")
				w.Advance(issueSoon)
				serves(t, w, "shop", requests(t, w, 1)[0])
				quiet(t, w)
			})
		}
	}
}

// The permission is granted, and the operator is not told.
func TestCertWhoseRequestWasLostIsRepairedByItself(t *testing.T) {
	t.Parallel()
	w := certWorld(t, requestLost)
	w.Apply(w.Tenant("shop", plainShop))
	w.Advance(time.Hour)
	is(t, w, "shop", failed)
	w.Sim.ChangeSwitches(func(s *sim.Switches) { s.RequestLost = false })
	w.Advance(2 * time.Hour)
	serves(t, w, "shop", requests(t, w, 1)[0])
}

// A request that was refused with the whole update, as where DNS does not lead to CloudFront
// any more, is nothing that AWS accepted.
func TestCertWhoseRenewedRequestIsRefused(t *testing.T) {
	t.Parallel()
	w := certWorld(t, neverIssued)
	w.Apply(w.Tenant("shop", furnishedShop))
	w.Advance(settle)
	w.Sim.SetResolving(false, "*.customer.test")
	becomes(t, w, "shop", "FAILED")
	pass(w, day)
	requests(t, w, 1)
	if got := w.Condition("shop", "Ready"); got != "Ready=False/DomainValidationPending" && got != "Ready=False/CertificateFailed" {
		t.Errorf("%s\n%s", got, w.Describe("shop"))
	}
	w.Sim.ChangeSwitches(func(s *sim.Switches) { s.CertificateIssueDelay = 0 })
	w.Sim.SetResolving(true, "*.customer.test")
	nudge(w, "shop", "mended")
	w.Advance(issueSoon)
	serves(t, w, "shop", requests(t, w, 2)[1])
	outOfBand(t, w, "shop", func(in *cloudfront.UpdateDistributionTenantInput) {
		in.Customizations = &types.Customizations{}
	})
	w.Advance(issueSoon)
	serves(t, w, "shop", requests(t, w, 2)[1])
}

// A missing permission to read is reported, and nothing is requested a second time meanwhile.
func TestCertThatMayNotBeLookedAt(t *testing.T) {
	t.Parallel()
	w := certWorld(t)
	allow := refusing(t, w, "GetManagedCertificateDetails", http.StatusForbidden, "AccessDenied",
		"User is not authorized to perform: cloudfront:GetManagedCertificateDetails")
	w.Apply(w.Tenant("shop", plainShop))
	pass(w, day)
	is(t, w, "shop", "Ready=False/AccessDenied")
	says(t, w, "shop", "Ready", "cloudfront:GetManagedCertificateDetails")
	requests(t, w, 1)
	allow()
	w.Advance(time.Hour)
	serves(t, w, "shop", requests(t, w, 1)[0])
}
