package awsresource_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

const (
	alias      = "www.example.com"
	otherAlias = "shop.example.com"
)

// claiming is a world in which it is judged who may have a domain.
type claiming struct {
	*world.World

	// other is a second namespace.
	other string
}

func newClaiming(t *testing.T) claiming {
	t.Helper()
	w := world.NewOffline(t, world.Options{Claims: &world.Holds{Own: 72 * time.Hour, Customer: 720 * time.Hour}})
	return claiming{w, w.AddNamespace()}
}

// standard is a distribution that serves the domains itself.
func (c claiming) standard(name, namespace string, aliases ...string) *v1alpha1.Distribution {
	return c.Distribution(name, func(o *v1alpha1.Distribution) {
		o.Namespace, o.Spec.ConnectionMode, o.Spec.Aliases = namespace, v1alpha1.ConnectionModeDirect, aliases
		o.Spec.ViewerCertificate = &v1alpha1.ViewerCertificate{ACMCertificateARN: sim.DefaultCertificateARN}
	})
}

// claims renders those for the world's namespaces.
func (c claiming) claims() (out []string) {
	for _, o := range c.DomainClaims() {
		out = append(out, fmt.Sprintf("%s for %s", o.Spec.Domain, o.Spec.Namespace))
	}
	slices.Sort(out)
	return out
}

func (c claiming) claimed(t *testing.T, domains ...string) {
	t.Helper()
	var want []string
	for _, d := range domains {
		want = append(want, d+" for "+c.Namespace)
	}
	if got := c.claims(); !slices.Equal(got, want) {
		t.Errorf("the claims are %q, want %q", got, want)
	}
}

// An alias that is not to be had is refused before AWS is asked, and had as soon as it is free.
func TestAnAliasIsAskedFor(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		about string
		taken func(t *testing.T, c claiming) (free func())
	}{
		"reserved": {"An administrator has reserved it for another namespace.", func(t *testing.T, c claiming) func() {
			claim := &v1alpha1.DomainClaim{ObjectMeta: metav1.ObjectMeta{Name: "example.com"}, Spec: v1alpha1.DomainClaimSpec{Domain: "example.com", Namespace: c.other, Subdomains: true}}
			apply(t, c.World, claim)
			return func() { remove(t, c.World, claim) }
		}},
		"a tenant's": {"A tenant of another namespace serves it.", func(t *testing.T, c claiming) func() {
			o := c.Tenant("acme", func(o *v1alpha1.DistributionTenant) {
				o.Namespace, o.Spec.Domains = c.other, []v1alpha1.TenantDomain{{Domain: alias}}
			})
			apply(t, c.World, o)
			c.Advance(settle)
			return func() {
				remove(t, c.World, o)
				c.Advance(settle)
				for _, claim := range c.DomainClaims() {
					remove(t, c.World, claim)
				}
			}
		}},
		"another distribution's": {"A distribution of another namespace serves it.", func(t *testing.T, c claiming) func() {
			o := c.standard("theirs", c.other, alias)
			apply(t, c.World, o)
			c.Advance(settle)
			is(t, c.World, o, readyTrue, syncedTrue)
			// A fresh process learns of it before it judges anything.
			c.Restart()
			return func() {
				remove(t, c.World, o)
				c.Advance(settle)
				for _, claim := range c.DomainClaims() {
					remove(t, c.World, claim)
				}
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Log(test.about)
			c := newClaiming(t)
			free := test.taken(t, c)
			o, calls := c.standard("mine", c.Namespace, alias), c.Calls()
			apply(t, c.World, o)
			c.Advance(settle)
			is(t, c.World, o, "Ready=False/DomainClaimed", "Synced=False/DomainClaimed")
			says(t, c.World, o, "Ready", "spec.aliases has "+alias, "taken or reserved outside of this namespace")
			if n := world.Since(calls, c.Calls())["CreateDistributionWithTags"]; n > 0 {
				t.Errorf("AWS was asked %d times to create it", n)
			}
			free()
			c.Advance(2 * settle)
			is(t, c.World, o, readyTrue, syncedTrue)
		})
	}
}

// An alias that leaves a distribution is held for its namespace, from before AWS is free of it.
func TestAnAliasThatLeavesIsHeld(t *testing.T) {
	t.Parallel()
	c := newClaiming(t)
	o := c.standard("mine", c.Namespace, alias, otherAlias)
	apply(t, c.World, o)
	c.Advance(settle)
	is(t, c.World, o, readyTrue, syncedTrue)
	c.claimed(t)

	edit(t, c.World, o, func(client.Object) { o.Spec.Aliases = []string{alias} })
	c.Advance(settle)
	is(t, c.World, o, readyTrue, syncedTrue)
	c.claimed(t, otherAlias)

	theirs := c.Tenant("greedy", func(o *v1alpha1.DistributionTenant) {
		o.Namespace, o.Spec.Domains = c.other, []v1alpha1.TenantDomain{{Domain: otherAlias}}
	})
	apply(t, c.World, theirs)
	c.Advance(settle)
	if id := theirs.Status.ID; id != "" || len(c.AllInAWS()) > 0 {
		t.Errorf("another namespace has taken the alias: %s", id)
	}

	remove(t, c.World, o)
	c.Advance(2 * settle)
	released(t, c.World, o)
	c.claimed(t, otherAlias, alias)
}

// A spec that asks for an alias of another namespace changes nothing of what is served.
func TestADistributionKeepsWhatItServes(t *testing.T) {
	t.Parallel()
	c := newClaiming(t)
	o := c.standard("mine", c.Namespace, alias)
	apply(t, c.World, o)
	c.Advance(settle)
	apply(t, c.World, &v1alpha1.DomainClaim{ObjectMeta: metav1.ObjectMeta{Name: otherAlias}, Spec: v1alpha1.DomainClaimSpec{Domain: otherAlias, Namespace: c.other}})
	c.Advance(settle)
	is(t, c.World, o, readyTrue, syncedTrue)
	edit(t, c.World, o, func(client.Object) { o.Spec.Aliases = []string{otherAlias} })
	c.Advance(settle)
	is(t, c.World, o, readyTrue, "Synced=False/DomainClaimed")
	c.Restart()
	c.Advance(settle)
	is(t, c.World, o, readyTrue, "Synced=False/DomainClaimed")
	remove(t, c.World, o)
	c.Advance(2 * settle)
	released(t, c.World, o)
}
