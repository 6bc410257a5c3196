package distributiontenant_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// How long the worlds of these tests hold what is released.
const (
	holdOwn      = 72 * time.Hour
	holdCustomer = 720 * time.Hour
)

const refusedHere = "Synced=False/DomainClaimed"

// claiming is a world in which it is judged who may have a domain. Claims are in no namespace, so that each test has
// domains of its own below claims.example.com.
type claiming struct {
	*world.World

	t *testing.T
	// other is a second namespace.
	other string
}

func newClaiming(t *testing.T, holds world.Holds, watch func(sim.View)) *claiming {
	t.Helper()
	seed := world.Seed()
	seed.Certificates = append(seed.Certificates, sim.SeedCertificate{
		ARN: broadCertificate, Names: []string{"*.example.com", "*.claims.example.com", "*.name-first.claims.example.com", "*.wildcard-first.claims.example.com"},
	})
	seed.Distributions[0].CertificateARN = broadCertificate
	c := &claiming{t: t, World: world.New(t, kubeConfig, world.Options{Seed: &seed, Claims: &holds, Watch: watch})}
	c.other = c.AddNamespace()
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		var list v1alpha1.DomainClaimList
		if err := c.Kube.List(ctx, &list); err != nil {
			t.Error(err)
		}
		for _, o := range list.Items {
			if o.Spec.Namespace == c.Namespace || o.Spec.Namespace == c.other {
				if err := c.Kube.Delete(ctx, &o); err != nil {
					t.Error(err)
				}
			}
		}
	})
	return c
}

func held() world.Holds { return world.Holds{Own: holdOwn, Customer: holdCustomer} }

// in puts an object into the other namespace.
func (c *claiming) in(namespace string) edit {
	return func(o *v1alpha1.DistributionTenant) { o.Namespace = namespace }
}

// theirs makes an object of the other namespace.
func (c *claiming) theirs(name string, change ...edit) string {
	c.Apply(c.Tenant(name, append(change, c.in(c.other))...))
	return c.other + "/" + name
}

// claims renders those for the world's namespaces.
func (c *claiming) claims() (out []string) {
	for _, o := range c.DomainClaims() {
		from := ""
		if o.Status.From != nil {
			from = " from " + o.Status.From.Name
		}
		out = append(out, fmt.Sprintf("%s %s%s", o.Spec.Domain, o.Status.Phase, from))
	}
	slices.Sort(out)
	return out
}

func (c *claiming) claimed(want ...string) {
	c.t.Helper()
	if got := c.claims(); !slices.Equal(got, want) {
		c.t.Errorf("the claims are %q, want %q", got, want)
	}
}

func (c *claiming) reserve(domain, namespace string, change ...func(*v1alpha1.DomainClaim)) *v1alpha1.DomainClaim {
	c.t.Helper()
	name := domain
	if domain[0] == '*' {
		name = "0wildcard" + domain[1:]
	}
	o := &v1alpha1.DomainClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.DomainClaimSpec{Domain: domain, Namespace: namespace}}
	for _, how := range change {
		how(o)
	}
	if err := c.Kube.Create(c.t.Context(), o); err != nil {
		c.t.Fatal(err)
	}
	return o
}

// holder is the name of the tenant in AWS that has the domain.
func (c *claiming) holder(domain string) string {
	for _, s := range c.AllInAWS() {
		if _, has := s.Domains[domain]; has {
			return s.Name
		}
	}
	return ""
}

// A namespace deletes and creates its object again and again, while another one asks for the domain all the time: it never
// gets it. The first takes it back each time, and no claim is left while it serves.
func TestADomainIsKeptForItsNamespaceAcrossDeleteAndCreate(t *testing.T) {
	t.Parallel()
	const domain = "race.claims.example.com"
	c := newClaiming(t, held(), nil)
	ready(t, c.World, "alpha", domains(domain))
	greedy := c.theirs("greedy", domains(domain))
	for round := 0; round < 20; round += 3 {
		c.Delete("alpha")
		for range 4 + round {
			nudge(c.World, greedy, fmt.Sprint(round, c.Clock.Now()))
			c.Advance(20 * time.Second)
			if holder := c.holder(domain); holder == "greedy" {
				t.Fatalf("in round %d, the other namespace has got the domain", round)
			}
		}
		c.Advance(settle)
		gone(t, c.World, "alpha")
		c.claimed(domain + " Held from alpha")
		is(t, c.World, greedy, refusedHere, "Ready=False/DomainClaimed", "Stalled=True/DomainClaimed")
		ready(t, c.World, "alpha", domains(domain))
		c.claimed()
	}
	if _, found := c.InAWS("greedy"); found {
		t.Error("the other namespace has a tenant")
	}
}

// Without a hold, an object that waits gets the domain when it is free. It never belongs to both.
func TestTwoNamespacesTakeTurns(t *testing.T) {
	t.Parallel()
	const domain = "turns.claims.example.com"
	c := newClaiming(t, world.Holds{}, nil)
	has := "first"
	c.Apply(c.Tenant(has, domains(domain)))
	for round := range 20 {
		c.Advance(settle)
		is(t, c.World, has, readyTrue, syncedTrue)
		name := fmt.Sprintf("waits-%d", round)
		waits := c.other + "/" + name
		if round%2 == 0 {
			c.theirs(name, domains(domain))
		} else {
			waits = name
			c.Apply(c.Tenant(name, domains(domain)))
		}
		c.Advance(settle)
		is(t, c.World, waits, refusedHere)
		c.Delete(has)
		c.Advance(settle)
		has = waits
	}
	c.claimed()
}

func TestAWildcardAndANameItCovers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ first, second string }{
		"the wildcard comes first": {"*.wildcard-first.claims.example.com", "shop.wildcard-first.claims.example.com"},
		"the name comes first":     {"shop.name-first.claims.example.com", "*.name-first.claims.example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClaiming(t, world.Holds{}, nil)
			ready(t, c.World, "alpha", domains(test.first))
			second := c.theirs("beta", domains(test.second))
			c.Advance(settle)
			is(t, c.World, second, refusedHere)
			says(t, c.World, second, "Synced", "spec.domains", test.second)
			c.Restart()
			c.Advance(settle)
			is(t, c.World, second, refusedHere)
			c.Delete("alpha")
			c.Advance(2 * settle)
			is(t, c.World, second, readyTrue, syncedTrue)
		})
	}
}

// An administrator who leaves the names below a wildcard to others says so with a claim for the wildcard.
func TestAClaimForAWildcardFreesTheNamesBelow(t *testing.T) {
	t.Parallel()
	c := newClaiming(t, held(), nil)
	c.reserve("*.claims.example.com", c.Namespace)
	ready(t, c.World, "alpha", domains("*.claims.example.com"))
	c.theirs("beta", domains("below.claims.example.com"))
	c.Advance(settle)
	is(t, c.World, c.other+"/beta", readyTrue, syncedTrue)
	c.claimed("*.claims.example.com Reserved")
}

// A domain that is held is free when its time has passed, and who waits is woken.
func TestAHoldPasses(t *testing.T) {
	t.Parallel()
	const domain = "passes.claims.example.com"
	c := newClaiming(t, world.Holds{Customer: 24 * time.Hour}, nil)
	ready(t, c.World, "alpha", domains(domain))
	waits := c.theirs("beta", domains(domain))
	c.Delete("alpha")
	c.Advance(2 * settle)
	c.claimed(domain + " Held from alpha")
	c.Advance(23 * time.Hour)
	is(t, c.World, waits, refusedHere)
	c.claimed(domain + " Held from alpha")
	c.Advance(time.Hour + settle)
	is(t, c.World, waits, readyTrue, syncedTrue)
	c.claimed()
}

// An administrator frees a held domain by deleting its claim.
func TestADeletedClaimFreesItsDomain(t *testing.T) {
	t.Parallel()
	const domain = "freed.claims.example.com"
	c := newClaiming(t, held(), nil)
	ready(t, c.World, "alpha", domains(domain))
	waits := c.theirs("beta", domains(domain))
	c.Delete("alpha")
	c.Advance(2 * settle)
	is(t, c.World, waits, refusedHere)
	if err := c.Kube.Delete(t.Context(), c.DomainClaims()[0]); err != nil {
		t.Fatal(err)
	}
	c.Advance(settle)
	is(t, c.World, waits, readyTrue, syncedTrue)
}

// A reservation refuses other namespaces. A domain that is served when it comes stays, and a refused object can be
// deleted.
func TestAReservation(t *testing.T) {
	t.Parallel()
	const domain, live = "reserved.claims.example.com", "live.claims.example.com"
	c := newClaiming(t, held(), nil)
	ready(t, c.World, "alpha", domains(live))
	c.reserve(domain, c.other)
	c.reserve(live, c.other)
	c.Apply(c.Tenant("beta", domains(domain)))
	c.Advance(settle)
	is(t, c.World, "beta", refusedHere, "Ready=False/DomainClaimed")
	c.Edit("alpha", params("tier", "gold"))
	c.Advance(settle)
	is(t, c.World, "alpha", readyTrue, syncedTrue)
	c.Delete("beta")
	c.Advance(settle)
	gone(t, c.World, "beta")
	c.theirs("beta", domains(domain))
	c.Advance(settle)
	is(t, c.World, c.other+"/beta", readyTrue, syncedTrue)
}

// Where the operator publishes the records, a domain is held for a shorter time than where a customer's may still lead to
// CloudFront.
func TestHowLongADomainIsHeld(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{options: world.Options{Claims: &world.Holds{Own: holdOwn, Customer: holdCustomer}}})
	r.serving("alpha", withDNS())
	ready(t, r.World, "beta")
	before := r.Clock.Now()
	r.Delete("alpha")
	r.Delete("beta")
	r.Advance(10 * time.Minute)
	for _, o := range r.DomainClaims() {
		want := map[string]time.Duration{"alpha": holdOwn, "beta": holdCustomer}[o.Status.From.Name]
		if d := o.Spec.Until.Sub(before); d < want || d > want+10*time.Minute {
			t.Errorf("%s is held for %s, want %s", o.Spec.Domain, d, want)
		}
	}
	if n := len(r.DomainClaims()); n != 2 {
		t.Errorf("%d claims, want 2", n)
	}
}

// A change that takes no domain from a namespace costs no claim.
func TestWhatCostsNoClaim(t *testing.T) {
	t.Parallel()
	for name, play := range map[string]func(t *testing.T, c *world.World){
		"live domains": func(t *testing.T, w *world.World) {
			t.Helper()
			for n := range 50 {
				w.Apply(w.Tenant(fmt.Sprintf("tenant-%d", n)))
			}
			w.Advance(settle)
			if n := len(w.AllInAWS()); n != 50 {
				t.Errorf("%d tenants in AWS", n)
			}
		},
		"a deletion with Retain": func(t *testing.T, w *world.World) {
			t.Helper()
			ready(t, w, "alpha", retain)
			w.Delete("alpha")
			w.Advance(settle)
			if _, found := w.Get("alpha"); found {
				t.Error("the object is still there")
			}
		},
		"a domain that never reached AWS": func(t *testing.T, w *world.World) {
			t.Helper()
			refusing(t, w, "CreateDistributionTenant", 403, "AccessDenied", "no")
			w.Apply(w.Tenant("alpha"))
			w.Advance(settle)
			w.Delete("alpha")
			w.Advance(30 * time.Minute)
			gone(t, w, "alpha")
		},
		"a move within the namespace": func(t *testing.T, w *world.World) {
			t.Helper()
			ready(t, w, "alpha", domains("alpha.example.com", "moves.example.com"))
			w.Apply(w.Tenant("beta", domains("moves.example.com")))
			w.Advance(settle)
			w.Edit("alpha", domains("alpha.example.com"))
			w.Advance(30 * time.Minute)
			is(t, w, "beta", readyTrue, syncedTrue)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.NewOffline(t, world.Options{Claims: &world.Holds{Own: holdOwn, Customer: holdCustomer}})
			creates := 0
			w.AroundKubeWrites(func(_ int, write func() error) error {
				before := len(w.DomainClaims())
				err := write()
				creates += max(len(w.DomainClaims())-before, 0)
				return err
			})
			play(t, w)
			if creates != 0 {
				t.Errorf("%d claims were made", creates)
			}
		})
	}
}

// An update that drops a domain stores the claim first. When it can't be stored, the domain stays in AWS and the object
// says so; everything continues when it can.
func TestADroppedDomainWaitsForItsClaim(t *testing.T) {
	t.Parallel()
	const stays, drops = "stays.claims.example.com", "drops.claims.example.com"
	c := newClaiming(t, held(), nil)
	ready(t, c.World, "alpha", domains(stays, drops))
	var broken error
	c.AroundKubeWrites(func(_ int, write func() error) error {
		before := len(c.DomainClaims())
		if broken == nil {
			return write()
		}
		if err := write(); err != nil || len(c.DomainClaims()) == before {
			return err
		}
		// Claims that were stored nevertheless are removed.
		if err := c.Kube.Delete(t.Context(), c.DomainClaims()[0]); err != nil {
			return err
		}
		return broken
	})
	broken = errors.New("no claims today")
	c.Edit("alpha", domains(stays))
	c.Advance(30 * time.Minute)
	if c.holder(drops) != "alpha" {
		t.Error("the domain has left AWS without a claim")
	}
	is(t, c.World, "alpha", "Ready=False/ClaimNotStored", "Stalled=True/ClaimNotStored")
	says(t, c.World, "alpha", "Ready", drops)
	c.Delete("alpha")
	c.Advance(30 * time.Minute)
	is(t, c.World, "alpha", "Ready=False/ClaimNotStored")
	if c.holder(stays) != "alpha" {
		t.Error("the tenant is gone without a claim for its domain")
	}
	broken = nil
	c.Advance(time.Hour)
	gone(t, c.World, "alpha")
	c.claimed(drops+" Held from alpha", stays+" Held from alpha")
}

// Wherever the process ends between the claim and the release, no domain is ever out of AWS without its claim, and there
// is one in the end.
func TestACrashBetweenClaimAndRelease(t *testing.T) {
	t.Parallel()
	for name, release := range map[string]func(w *world.World){
		"delete": func(w *world.World) { w.Delete("alpha") },
		"drop":   func(w *world.World) { w.Edit("alpha", domains("alpha.example.com")) },
	} {
		for n := range 16 {
			for _, after := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, write %d, after it %t", name, n+1, after), func(t *testing.T) {
					t.Parallel()
					playCrash(t, release, n+1, after)
				})
			}
		}
	}
}

func playCrash(t *testing.T, release func(*world.World), n int, after bool) {
	t.Helper()
	const domain = "leaves.example.com"
	var w *world.World
	watching := false
	w = world.NewOffline(t, world.Options{
		Claims: &world.Holds{Own: holdOwn, Customer: holdCustomer},
		Watch: func(v sim.View) {
			if _, has := v.Domains()[domain]; watching && !has && !slices.ContainsFunc(w.DomainClaims(), func(o *v1alpha1.DomainClaim) bool { return o.Spec.Domain == domain }) {
				t.Error("the domain is out of AWS without a claim")
			}
		},
	})
	ready(t, w, "alpha", domains("alpha.example.com", domain))
	watching = true
	w.CrashAt(n, after)
	release(w)
	w.Advance(time.Hour)
	var have []string
	for _, o := range w.DomainClaims() {
		if have = append(have, o.Spec.Domain); o.Spec.Namespace != w.Namespace || o.Status.Phase != v1alpha1.DomainHeld {
			t.Errorf("the claim is %+v, %+v", o.Spec, o.Status)
		}
	}
	if !slices.Contains(have, domain) {
		t.Errorf("the claims are for %q", have)
	}
	for _, s := range w.AllInAWS() {
		if _, has := s.Domains[domain]; has {
			t.Errorf("%s is still in AWS", domain)
		}
	}
}

// An object that asks for more than its grant keeps no domain from objects that may have it, however old it is. Once it
// may have it, it is too late.
func TestAnObjectWithoutAGrantKeepsNoDomain(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{options: world.Options{Grants: grants.Enforce, Claims: &world.Holds{Own: holdOwn, Customer: holdCustomer}}})
	other := r.AddNamespace()
	r.Grant(granted(r.Namespace))
	squatter := other + "/squatter"
	r.Apply(r.Tenant("squatter", domains("alpha.example.com"), func(o *v1alpha1.DistributionTenant) { o.Namespace = other }))
	r.Advance(settle)
	is(t, r.World, squatter, notGranted)
	ready(t, r.World, "alpha")
	r.Grant(granted(r.Namespace, other))
	r.Advance(time.Hour)
	is(t, r.World, squatter, refusedHere)
	is(t, r.World, "alpha", readyTrue, syncedTrue)
}

// A fresh process judges as the one before it did, before it has looked at anything in AWS.
func TestAFreshProcessKnowsWhoHasWhat(t *testing.T) {
	t.Parallel()
	const domain = "fresh.claims.example.com"
	c := newClaiming(t, held(), nil)
	ready(t, c.World, "zulu", domains(domain))
	waits := c.theirs("alpha", domains(domain))
	c.Advance(settle)
	calls := c.Calls()
	c.Restart()
	c.Advance(settle)
	is(t, c.World, waits, refusedHere)
	if n := world.Since(calls, c.Calls())["CreateDistributionTenant"]; n != 0 {
		t.Errorf("%d creates", n)
	}
	var o v1alpha1.DistributionTenant
	if err := c.Kube.Get(t.Context(), client.ObjectKey{Namespace: c.other, Name: "alpha"}, &o); err != nil || o.Finalizers != nil {
		t.Errorf("the refused object has the finalizers %v: %v", o.Finalizers, err)
	}
}
