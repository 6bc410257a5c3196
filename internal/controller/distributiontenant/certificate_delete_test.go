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

// stranded is a managed certificate without a tenant; users is a certificate that a user requested.
const (
	stranded = "arn:aws:acm:us-east-1:111122223333:certificate/00000000-0000-4000-8000-0000000000aa"
	users    = "arn:aws:acm:us-east-1:111122223333:certificate/00000000-0000-4000-8000-0000000000bb"
)

// deletionWorld has certificates that must not be touched.
func deletionWorld(t *testing.T, change ...func(*sim.Switches)) *world.World {
	t.Helper()
	w := certWorld(t, change...)
	err := w.Sim.Load(sim.Seed{Certificates: []sim.SeedCertificate{
		{ARN: stranded, Names: []string{"left.customer.test"}, ManagedBy: "CLOUDFRONT"},
		{ARN: users, Names: []string{"*.customer.test"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// left checks which managed certificates exist in addition to the one that existed before, and that the user's own is
// untouched.
func left(t *testing.T, w *world.World, want ...string) {
	t.Helper()
	var got []string
	for _, c := range managedIn(w) {
		if c.ARN != stranded {
			got = append(got, c.ARN)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("managed certificates %v are left, want %v", got, want)
	}
	for _, arn := range []string{stranded, users, sim.DefaultCertificateARN} {
		if !inACM(w, arn) {
			t.Errorf("the certificate %s is gone, which is not the operator's", arn)
		}
	}
}

// whichever they are, those that were made for the tenant go with it, and no others.
func TestCertsGoWithTheirTenant(t *testing.T) {
	t.Parallel()
	keep := func(o *v1alpha1.DistributionTenant) {
		o.Spec.ManagedCertificateRequest.DeleteOnTenantDeletion = new(bool)
	}
	for name, c := range map[string]struct {
		change []edit
		before func(t *testing.T, w *world.World)
		// kept are how many stay, the first of them.
		kept     int
		inAWS    bool
		switches func(*sim.Switches)
	}{
		"an attached one":                   {},
		"an attached one, seen by no ETag":  {switches: movesETag(false)},
		"one that AWS attached":             {switches: attachesByItself},
		"a pending one":                     {switches: neverIssued},
		"a pending one, seen by no ETag":    {switches: func(s *sim.Switches) { neverIssued(s); s.CertificateMovesETag = false }},
		"nothing, where there was no right": {switches: requestLost},
		"superseded ones too": {before: func(t *testing.T, w *world.World) {
			t.Helper()
			w.Edit("shop", domains(shop, shopMore))
			w.Advance(issueSoon)
			requests(t, w, 3)
		}},
		"failed ones too": {before: func(t *testing.T, w *world.World) {
			t.Helper()
			becomes(t, w, "shop", "REVOKED")
			w.Advance(time.Hour)
			requests(t, w, 3)
		}},
		"one that was requested a moment ago": {before: func(t *testing.T, w *world.World) {
			t.Helper()
			neverIssue(w)
			w.Edit("shop", domains(shop, shopMore))
			w.Advance(time.Second)
			requests(t, w, 3)
		}},
		"one that moved while no operator ran": {switches: neverIssued, before: func(_ *testing.T, w *world.World) {
			w.Sim.ChangeSwitches(func(s *sim.Switches) { s.CertificateIssueDelay = 0 })
			w.Clock.Step(time.Hour)
			w.Restart()
		}},
		"one whose request the spec has dropped": {before: func(t *testing.T, w *world.World) {
			t.Helper()
			w.Edit("shop", func(o *v1alpha1.DistributionTenant) {
				o.Spec.ManagedCertificateRequest = nil
				o.Spec.Customizations = &v1alpha1.Customizations{Certificate: &v1alpha1.CertificateCustomization{ARN: users}}
			})
			w.Advance(issueSoon)
		}},
		"not one that the spec names": {kept: 1, before: func(t *testing.T, w *world.World) {
			t.Helper()
			arn := get(t, w, "shop").Status.CertificateARN
			w.Edit("shop", func(o *v1alpha1.DistributionTenant) {
				o.Spec.Customizations = &v1alpha1.Customizations{Certificate: &v1alpha1.CertificateCustomization{ARN: arn}}
			})
			w.Advance(settle)
		}},
		"one that ACM shows late": {switches: func(s *sim.Switches) { s.CertificateLag = 90 * time.Second }, before: func(t *testing.T, w *world.World) {
			t.Helper()
			neverIssue(w)
			w.Edit("shop", func(o *v1alpha1.DistributionTenant) {
				domains(shop, shopMore)(o)
				o.Spec.Enabled = new(bool)
			})
			w.Advance(time.Second)
			requests(t, w, 3)
		}},
		"not under Retain":                    {kept: 1, change: []edit{retain}, inAWS: true},
		"not with deleteOnTenantDeletion off": {kept: 1, change: []edit{keep}},
		"nor with both":                       {kept: 1, change: []edit{keep, retain}, inAWS: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := deletionWorld(t, func(s *sim.Switches) {
				if c.switches != nil {
					c.switches(s)
				}
			})
			w.Apply(w.Tenant("shop", append([]edit{plainShop}, c.change...)...))
			w.Advance(issueSoon)
			if c.before != nil {
				c.before(t, w)
			}
			all := requestedFor(w)
			w.Delete("shop")
			w.Advance(20 * time.Minute)
			if _, found := w.Get("shop"); found {
				t.Errorf("the object is still there:\n%s", w.Describe("shop"))
			}
			if _, found := w.InAWS("shop"); found != c.inAWS {
				t.Errorf("the tenant is in AWS: %t", found)
			}
			left(t, w, all[:c.kept]...)
		})
	}
}

// Right after a request AWS may have nothing to show of it. A tenant that is deleted then takes its certificate along.
func TestCertThatCloudFrontShowsLateGoesWithItsTenant(t *testing.T) {
	t.Parallel()
	w := deletionWorld(t, neverIssued, func(s *sim.Switches) { s.DeleteNeedsDeployed = false })
	w.Apply(w.Tenant("shop", plainShop, func(o *v1alpha1.DistributionTenant) { o.Spec.Enabled = new(bool) }))
	w.Advance(time.Second)
	if n := len(requestedFor(w)); n != 1 {
		t.Fatalf("%d certificates are requested", n)
	}
	shows := refusing(t, w, "GetManagedCertificateDetails", http.StatusNotFound, "EntityNotFound", "no")
	w.Delete("shop")
	w.Advance(30 * time.Second)
	shows()
	w.Advance(20 * time.Minute)
	gone(t, w, "shop")
	left(t, w)
}

// requestedFor are the managed certificates but the one that was there before.
func requestedFor(w *world.World) []string {
	var out []string
	for _, c := range managedIn(w) {
		if c.ARN != stranded {
			out = append(out, c.ARN)
		}
	}
	return out
}

// A list in status that was tampered with deletes nothing that is not a managed certificate.
func TestCertsOfUsersAreNeverDeleted(t *testing.T) {
	t.Parallel()
	w := deletionWorld(t)
	w.Apply(w.Tenant("shop", plainShop))
	w.Advance(issueSoon)
	o := get(t, w, "shop")
	o.Status.ManagedCertificates = append(o.Status.ManagedCertificates, users, sim.DefaultCertificateARN)
	if err := w.Kube.Status().Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	w.Delete("shop")
	w.Advance(20 * time.Minute)
	gone(t, w, "shop")
	left(t, w)
}

// ACM counts a certificate as in use for a while, or another resource now uses it. The deletion waits, and reports what
// it waits for.
func TestCertInUseIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := deletionWorld(t)
	w.Apply(w.Tenant("shop", plainShop))
	w.Advance(issueSoon)
	arn := requestedFor(w)[0]
	foreign(t, w, "borrower", func(in *cloudfront.CreateDistributionTenantInput) {
		in.Customizations = &types.Customizations{Certificate: &types.Certificate{Arn: &arn}}
	})
	w.Delete("shop")
	w.Advance(20 * time.Minute)
	if _, found := w.InAWS("shop"); found {
		t.Error("the tenant waits for its certificate")
	}
	is(t, w, "shop", "Ready=False/Deleting")
	says(t, w, "shop", "Ready", arn, "in use")
	left(t, w, arn)
	writes, calls := w.Writes(), world.Sum(w.Calls())
	w.Advance(time.Hour)
	if n := w.Writes() - writes; n != 0 {
		t.Errorf("waiting made %d writes", n)
	}
	if n := world.Sum(w.Calls()) - calls; n > 60 {
		t.Errorf("an hour of waiting made %d calls", n)
	}
	outOfBand(t, w, "borrower", func(in *cloudfront.UpdateDistributionTenantInput) { in.Customizations = &types.Customizations{} })
	w.Advance(40 * time.Minute)
	gone(t, w, "shop")
	left(t, w)
	if s := inAWS(t, w, "borrower"); !s.Enabled {
		t.Error("the borrower was touched")
	}
}

// A deletion that ACM does not allow is reported with the fix, and done once it is allowed or no longer asked for. The
// tenant is deleted meanwhile.
func TestCertThatMayNotBeDeleted(t *testing.T) {
	t.Parallel()
	const off = "spec.managedCertificateRequest.deleteOnTenantDeletion"
	for _, operation := range []string{"DeleteCertificate", "DescribeCertificate"} {
		for name, cured := range map[string]func(w *world.World, allow func()){
			"allowed later": func(_ *world.World, allow func()) { allow() },
			"not asked for any more": func(w *world.World, _ func()) {
				w.Edit("shop", func(o *v1alpha1.DistributionTenant) {
					o.Spec.ManagedCertificateRequest.DeleteOnTenantDeletion = new(bool)
				})
			},
		} {
			t.Run(fmt.Sprintf("%s, %s", operation, name), func(t *testing.T) {
				t.Parallel()
				w := deletionWorld(t)
				w.Apply(w.Tenant("shop", plainShop))
				w.Advance(issueSoon)
				arn := requestedFor(w)[0]
				allow := refusing(t, w, operation, http.StatusBadRequest, "AccessDeniedException", "User is not authorized to perform: acm:"+operation)
				w.Delete("shop")
				w.Advance(20 * time.Minute)
				if _, found := w.InAWS("shop"); found {
					t.Error("the tenant waits for its certificate")
				}
				is(t, w, "shop", "Ready=False/AccessDenied")
				says(t, w, "shop", "Ready", arn, "acm:"+operation, off)
				if got := warned(w, "shop", "AccessDenied"); len(got) != 1 {
					t.Errorf("warnings: %v", got)
				}
				left(t, w, arn)
				cured(w, allow)
				w.Advance(45 * time.Minute)
				gone(t, w, "shop")
				if name == "allowed later" {
					left(t, w)
				} else {
					left(t, w, arn)
				}
			})
		}
	}
}

// A certificate that was deleted already is no obstacle.
func TestCertThatIsGoneAlready(t *testing.T) {
	t.Parallel()
	w := deletionWorld(t)
	w.Apply(w.Tenant("shop", plainShop))
	w.Advance(issueSoon)
	old := requestedFor(w)[0]
	o := get(t, w, "shop")
	o.Status.ManagedCertificates = append([]string{"arn:aws:acm:us-east-1:111122223333:certificate/00000000-0000-4000-8000-0000000000cc"}, old)
	if err := w.Kube.Status().Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	w.Delete("shop")
	w.Advance(20 * time.Minute)
	gone(t, w, "shop")
	left(t, w)
}

// An object that never had a tenant of its own deletes no certificate of the tenant's owner.
func TestCertsOfAForeignTenantStay(t *testing.T) {
	t.Parallel()
	w := deletionWorld(t)
	before := foreign(t, w, "shop", func(in *cloudfront.CreateDistributionTenantInput) {
		in.Domains = []types.DomainItem{{Domain: awssdk.String(shop)}}
		in.ManagedCertificateRequest = &types.ManagedCertificateRequest{ValidationTokenHost: types.ValidationTokenHostCloudFront}
	})
	w.Apply(w.Tenant("shop", plainShop))
	w.Advance(issueSoon)
	is(t, w, "shop", "Ready=False/AdoptionRequired")
	theirs := requestedFor(w)
	if len(theirs) != 1 || len(get(t, w, "shop").Status.ManagedCertificates) != 0 {
		t.Errorf("the certificates of the foreign tenant: %v; in status: %v", theirs, get(t, w, "shop").Status.ManagedCertificates)
	}
	w.Delete("shop")
	w.Advance(20 * time.Minute)
	left(t, w, theirs...)
	if s := inAWS(t, w, "shop"); s.ID != before.ID || !s.Enabled || s.Customizations.CertificateARN != before.Customizations.CertificateARN {
		t.Errorf("the foreign tenant was changed: %+v", s)
	}
}

// An object that adopts a tenant adopts its managed certificate, too: it is not requested a second time, and is deleted
// with the tenant.
func TestCertOfAnAdoptedTenant(t *testing.T) {
	t.Parallel()
	for _, attached := range []bool{false, true} {
		t.Run(fmt.Sprintf("attached %t", attached), func(t *testing.T) {
			t.Parallel()
			w := deletionWorld(t)
			foreign(t, w, "shop", func(in *cloudfront.CreateDistributionTenantInput) {
				in.Domains = []types.DomainItem{{Domain: awssdk.String(shop)}}
				in.ManagedCertificateRequest = &types.ManagedCertificateRequest{ValidationTokenHost: types.ValidationTokenHostCloudFront}
			})
			arn := requestedFor(w)[0]
			if attached {
				w.Clock.Step(world.DeployDelay)
				outOfBand(t, w, "shop", func(in *cloudfront.UpdateDistributionTenantInput) {
					in.Customizations = &types.Customizations{Certificate: &types.Certificate{Arn: &arn}}
				})
				w.Clock.Step(2 * world.DeployDelay)
			}
			w.Apply(w.Tenant("shop", plainShop, adoption(v1alpha1.AdoptionPolicyIfUnowned)))
			w.Advance(issueSoon)
			serves(t, w, "shop", arn)
			left(t, w, arn)
			quiet(t, w)
			w.Delete("shop")
			w.Advance(20 * time.Minute)
			gone(t, w, "shop")
			left(t, w)
		})
	}
}

// A certificate that another one keeps waiting is deleted all the same.
func TestCertInUseKeepsNoOtherOne(t *testing.T) {
	t.Parallel()
	w := deletionWorld(t)
	w.Apply(w.Tenant("shop", plainShop))
	w.Advance(issueSoon)
	w.Edit("shop", domains(shop, shopMore))
	w.Advance(issueSoon)
	old := requestedFor(w)[0]
	foreign(t, w, "borrower", func(in *cloudfront.CreateDistributionTenantInput) {
		in.Domains = []types.DomainItem{{Domain: awssdk.String("third.example.com")}}
		in.Customizations = &types.Customizations{Certificate: &types.Certificate{Arn: &old}}
	})
	w.Delete("shop")
	w.Advance(20 * time.Minute)
	is(t, w, "shop", "Ready=False/Deleting")
	says(t, w, "shop", "Ready", old, "in use")
	left(t, w, old)
}
