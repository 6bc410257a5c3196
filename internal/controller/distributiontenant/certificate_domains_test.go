package distributiontenant_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// names are the names of a certificate.
func names(t *testing.T, w *world.World, arn string) []string {
	t.Helper()
	for _, c := range managedIn(w) {
		if c.ARN == arn {
			return slices.Sorted(slices.Values(c.Names))
		}
	}
	t.Fatalf("there is no managed certificate %s", arn)
	return nil
}

// AWS works on one request of a tenant at a time: a change of domains waits for its end, is reported, and then made
// automatically.
func TestCertHoldsAChangeOfDomainsBack(t *testing.T) {
	t.Parallel()
	both := []string{shopMore, shop}
	for name, c := range map[string]struct {
		from, to []string
		// requests is how many it takes in all.
		requests int
	}{
		"one is added":                         {[]string{shop}, both, 2},
		"one is removed":                       {both, []string{shop}, 1},
		"one is removed and another one added": {both, []string{shop, "new.customer.test"}, 2},
		"all go and another one comes":         {[]string{shop}, []string{"new.customer.test"}, 2},
		"one is added and taken back":          {[]string{shop}, []string{shop}, 1},
		"the first of the list is removed":     {both, []string{shop}, 1},
	} {
		for _, moves := range []bool{true, false} {
			for _, ends := range []string{"ISSUED", "FAILED"} {
				t.Run(fmt.Sprintf("%s, it ends %s, the ETag moves %t", name, ends, moves), func(t *testing.T) {
					t.Parallel()
					w := certWorld(t, movesETag(moves), neverIssued)
					w.Apply(w.Tenant("shop", furnishedShop, domains(c.from...)))
					w.Advance(settle)
					is(t, w, "shop", pendingProof, syncedTrue)
					if slices.Equal(c.from, c.to) {
						w.Edit("shop", domains(both...))
						w.Advance(settle)
					}
					w.Edit("shop", func(o *v1alpha1.DistributionTenant) {
						domains(c.to...)(o)
						o.Spec.Parameters[0].Value = "silver"
					})
					w.Advance(time.Hour)
					// Everything else is changed meanwhile.
					if s := inAWS(t, w, "shop"); s.Parameters["tier"] != "silver" || !slices.Equal(sortedDomains(s), slices.Sorted(slices.Values(c.from))) {
						t.Errorf("while the request is pending: %+v", s)
					}
					if !slices.Equal(c.from, c.to) {
						is(t, w, "shop", "Ready=False/DomainChangeHeld", pendingProof, "Synced=False/UpdatePending")
						says(t, w, "shop", "Ready", "pending certificate request")
					}
					requests(t, w, 1)

					want := c.requests
					if ends == "FAILED" {
						becomes(t, w, "shop", ends)
						want = 2
					}
					w.Sim.ChangeSwitches(func(s *sim.Switches) { s.CertificateIssueDelay = 10 * time.Second })
					w.Advance(time.Hour)
					arns := requests(t, w, want)
					s := serves(t, w, "shop", arns[len(arns)-1])
					if !slices.Equal(sortedDomains(s), slices.Sorted(slices.Values(c.to))) {
						t.Errorf("domains %v, want %v", sortedDomains(s), c.to)
					}
					if want > 1 {
						if got := names(t, w, arns[1]); !slices.Equal(got, slices.Sorted(slices.Values(c.to))) {
							t.Errorf("the new certificate covers %v", got)
						}
					}
					quiet(t, w)
				})
			}
		}
	}
}

func sortedDomains(s sim.TenantState) []string {
	var out []string
	for d := range s.Domains {
		out = append(out, d)
	}
	slices.Sort(out)
	return out
}

// A domain that comes later needs a certificate of its own: a new one that covers all.
func TestCertGrowsWithItsDomains(t *testing.T) {
	t.Parallel()
	for _, moves := range []bool{true, false} {
		t.Run(fmt.Sprintf("the ETag moves %t", moves), func(t *testing.T) {
			t.Parallel()
			w := certWorld(t, movesETag(moves))
			w.Apply(w.Tenant("shop", furnishedShop))
			w.Advance(issueSoon)
			serves(t, w, "shop", requests(t, w, 1)[0])
			w.Edit("shop", domains(shop, shopMore))
			w.Advance(2 * time.Second)
			// Served domains stay served while the new certificate is pending.
			if s := inAWS(t, w, "shop"); s.Domains[shop] != "active" || s.Domains[shopMore] != "inactive" || s.Customizations.CertificateARN != requests(t, w, 2)[0] {
				t.Errorf("while the new one is pending: %+v", s)
			}
			w.Advance(issueSoon)
			arns := requests(t, w, 2)
			serves(t, w, "shop", arns[1])
			if got := get(t, w, "shop").Status.ManagedCertificates; !slices.Equal(got, arns) {
				t.Errorf("managedCertificates: %v", got)
			}
			// A domain that is removed needs none.
			w.Edit("shop", domains(shopMore))
			w.Advance(issueSoon)
			if s := serves(t, w, "shop", requests(t, w, 2)[1]); len(s.Domains) != 1 {
				t.Errorf("domains %v", s.Domains)
			}
			quiet(t, w)
		})
	}
}

// A domain that the distribution's certificate covers may stand first: it is not named as the primary one.
func TestCertOfADomainBesideACoveredOne(t *testing.T) {
	t.Parallel()
	for name, allowed := range map[string]sim.Doubts{"AWS refuses a primary domain that is covered": {}, "AWS takes it": sim.AllAllowed()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := certWorld(t, func(s *sim.Switches) { s.Allowed = allowed })
			w.Sim.SetResolving(true, "alpha.example.com")
			w.Apply(w.Tenant("shop", furnishedShop, domains("alpha.example.com", shop)))
			w.Advance(issueSoon)
			serves(t, w, "shop", requests(t, w, 1)[0])
			quiet(t, w)
		})
	}
}

// A domain that comes together with a web ACL is never served without it, and AWS never gets a certificate together with a
// request for another one, whether it would take both or not.
func TestCertRequestComesAfterCustomizations(t *testing.T) {
	t.Parallel()
	for name, allowed := range map[string]sim.Doubts{"AWS refuses both in one update": {}, "AWS takes both": sim.AllAllowed()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := certWorld(t, func(s *sim.Switches) { s.Allowed = allowed })
			w.Apply(w.Tenant("shop", furnishedShop, func(o *v1alpha1.DistributionTenant) { o.Spec.Customizations = nil }))
			w.Advance(issueSoon)
			first := requests(t, w, 1)[0]
			serves(t, w, "shop", first)
			calls := w.Calls()["UpdateDistributionTenant"]
			w.Edit("shop", func(o *v1alpha1.DistributionTenant) {
				furnishedShop(o)
				domains(shop, shopMore)(o)
			})
			for range 20 {
				w.Advance(100 * time.Millisecond)
				s := inAWS(t, w, "shop")
				if _, has := s.Domains[shopMore]; has && s.Customizations.WebACLARN == "" {
					t.Fatalf("the new domain is there without the web ACL: %+v", s)
				}
			}
			if n := w.Calls()["UpdateDistributionTenant"] - calls; n != 2 {
				t.Errorf("%d updates: one for the customizations, one for the domain and the request", n)
			}
			w.Advance(issueSoon)
			s := serves(t, w, "shop", requests(t, w, 2)[1])
			if s.Customizations.WebACLARN == "" || s.Customizations.GeoRestrictionType == "" || len(s.Domains) != 2 {
				t.Errorf("in the end AWS has %+v", s)
			}
			quiet(t, w)
		})
	}
}

// Where AWS takes no empty block, a domain and its certificate still come when the last customization is taken away.
func TestCertRequestIsNotHeldUpByAnEmptyBlock(t *testing.T) {
	t.Parallel()
	for name, takes := range map[string]bool{"AWS refuses an empty block": false, "AWS takes it": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := certWorld(t, func(s *sim.Switches) { s.Allowed.EmptyBlocks = takes })
			uncertified := func(o *v1alpha1.DistributionTenant) { o.Spec.Customizations.Certificate = nil }
			w.Apply(w.Tenant("shop", rich, uncertified, domains("alpha.example.com")))
			w.Advance(issueSoon)
			is(t, w, "shop", readyTrue)
			w.Edit("shop", func(o *v1alpha1.DistributionTenant) {
				plainShop(o)
				domains("alpha.example.com", shop)(o)
				o.Spec.Customizations = nil
			})
			w.Advance(time.Second)
			requests(t, w, 1)
			s := inAWS(t, w, "shop")
			if _, has := s.Domains[shop]; !has || takes != (s.Customizations.WebACLARN == "") {
				t.Errorf("AWS has %+v", s)
			}
			if !takes {
				is(t, w, "shop", "Ready=False/InvalidSpec")
				says(t, w, "shop", "Ready", "Customizations is empty")
			}
		})
	}
}

// A request that changes is sent again: at once where the old one has ended, otherwise when it has.
func TestCertRequestChanged(t *testing.T) {
	t.Parallel()
	for _, pending := range []bool{false, true} {
		t.Run(fmt.Sprintf("while it is pending %t", pending), func(t *testing.T) {
			t.Parallel()
			w := certWorld(t)
			if pending {
				neverIssue(w)
			}
			w.Apply(w.Tenant("shop", furnishedShop, domains(shop, shopMore)))
			w.Advance(issueSoon)
			w.Edit("shop", func(o *v1alpha1.DistributionTenant) {
				o.Spec.ManagedCertificateRequest.PrimaryDomainName = shopMore
			})
			w.Advance(settle)
			if pending {
				is(t, w, "shop", pendingProof, syncedTrue)
				requests(t, w, 1)
				w.Sim.ChangeSwitches(func(s *sim.Switches) { s.CertificateIssueDelay = 0 })
			}
			w.Advance(2 * issueSoon)
			arns := requests(t, w, 2)
			serves(t, w, "shop", arns[1])
			if c := managedIn(w)[1]; c.Names[0] != shopMore {
				t.Errorf("the new one is for %v", c.Names)
			}
			quiet(t, w)
		})
	}
}

// An edit of deleteOnTenantDeletion, or any other edit, is no change of the request.
func TestCertIsNotRequestedForWhatDoesNotConcernIt(t *testing.T) {
	t.Parallel()
	w := certWorld(t)
	w.Apply(w.Tenant("shop", furnishedShop))
	w.Advance(issueSoon)
	for n, change := range []edit{
		func(o *v1alpha1.DistributionTenant) {
			o.Spec.ManagedCertificateRequest.DeleteOnTenantDeletion = new(bool)
		},
		func(o *v1alpha1.DistributionTenant) { o.Spec.ManagedCertificateRequest.PrimaryDomainName = shop },
		params("tier", "silver"), tags("team", "api"),
		func(o *v1alpha1.DistributionTenant) { o.Spec.Customizations = nil },
		func(o *v1alpha1.DistributionTenant) { o.Spec.Enabled = new(bool) },
	} {
		w.Edit("shop", change)
		w.Advance(settle)
		requests(t, w, 1)
		is(t, w, "shop", readyTrue, syncedTrue, validated)
		if s := inAWS(t, w, "shop"); s.Customizations.CertificateARN != requests(t, w, 1)[0] {
			t.Errorf("edit %d took the certificate off", n)
		}
	}
	quiet(t, w)
}

// Who learns that the domains can't lead to CloudFront yet asks for the other way of proving
// them. The pending request can't be taken back: what it waits for stays said.
func TestCertRequestChangedToSelfHostedWhilePending(t *testing.T) {
	t.Parallel()
	w := certWorld(t, neverIssued)
	w.Apply(w.Tenant("shop", plainShop))
	w.Advance(settle)
	w.Sim.SetResolving(false, "*.customer.test")
	w.Edit("shop", managed(v1alpha1.ValidationTokenHostSelfHosted))
	w.Advance(time.Hour)
	is(t, w, "shop", pendingProof)
	says(t, w, "shop", "CertificateReady", "cloudfront.net", "changed request")
	if tokens := redirectsOf(t, w, "shop"); len(tokens) != 0 {
		t.Errorf("the tokens %v are shown, and are of no use", tokens)
	}
	requests(t, w, 1)
	pass(w, 3*day)
	is(t, w, "shop", pendingProof)
	says(t, w, "shop", "CertificateReady", "redirect http://")
	requests(t, w, 2)
	w.Sim.ChangeSwitches(func(s *sim.Switches) { s.CertificateIssueDelay = 0 })
	if err := w.Sim.ServeToken(shop); err != nil {
		t.Fatal(err)
	}
	w.Advance(issueSoon)
	serves(t, w, "shop", requests(t, w, 2)[1])
}

// A domain that the spec drops while a certificate for it is underway stays in DNS too, or the certificate would never
// be issued; after that it is removed from DNS first.
func TestCertKeepsADroppedDomainInDNSWhilePending(t *testing.T) {
	t.Parallel()
	const zone = "ZCERT"
	seed, switches := world.Seed(), sim.DefaultSwitches()
	seed.HostedZones = []sim.SeedHostedZone{{ID: zone, Name: "customer.test"}}
	seed.ConnectionGroups = []sim.SeedConnectionGroup{{Default: true}}
	neverIssued(&switches)
	w := world.NewOffline(t, world.Options{Seed: &seed, Switches: &switches})
	published := func() []string {
		z, _ := w.Sim.HostedZone(zone)
		var out []string
		for _, r := range z.Records {
			if r.Type == "CNAME" {
				out = append(out, r.Name)
			}
		}
		slices.Sort(out)
		return out
	}
	w.Apply(w.Tenant("shop", plainShop, domains(shopMore, shop), func(o *v1alpha1.DistributionTenant) {
		o.Spec.DNS = &v1alpha1.DNS{Provider: "route53"}
	}))
	w.Advance(issueSoon)
	is(t, w, "shop", pendingProof, syncedTrue)
	w.Edit("shop", domains(shop))
	w.Advance(time.Hour)
	is(t, w, "shop", "Ready=False/DomainChangeHeld")
	if got := published(); !slices.Equal(got, []string{shopMore, shop}) {
		t.Errorf("published is %v", got)
	}
	w.Sim.ChangeSwitches(func(s *sim.Switches) { s.CertificateIssueDelay = 0 })
	w.Advance(time.Hour)
	s := serves(t, w, "shop", requests(t, w, 1)[0])
	if got := published(); !slices.Equal(got, []string{shop}) || len(s.Domains) != 1 {
		t.Errorf("published is %v, the tenant has %v", got, s.Domains)
	}
	quiet(t, w)
}
