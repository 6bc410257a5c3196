package distributiontenant_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

var races = flag.Int("races", 60, "number of races of two namespaces for a domain")

// contender is one of two objects that can't both have their domains.
type contender struct{ namespace, name, domain string }

func (c contender) key() string { return c.namespace + "/" + c.name }

// race is one race, in a world that has seen those before it.
type race struct {
	*world.World

	t          *testing.T
	random     *rand.Rand
	contenders [2]contender
	// had are the contenders that have had their domain in AWS.
	had []string
}

// Two namespaces create, delete and re-create their objects at random times, and the process crashes now and then. Once
// the domain of one is in AWS, the other never gets its own, also while the first one is deleted. In the end one is ready
// without a claim, and the other one knows why it isn't.
func TestRacesForADomain(t *testing.T) {
	t.Parallel()
	pairs := map[string][2]string{
		"one name":                       {"race.claims.example.com", "race.claims.example.com"},
		"an internationalized name":      {"xn--bcher-kva.claims.example.com", "xn--bcher-kva.claims.example.com"},
		"a wildcard and a name under it": {"*.claims.example.com", "race.claims.example.com"},
		"a name and a wildcard over it":  {"race.claims.example.com", "*.claims.example.com"},
	}
	for name, pair := range pairs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := racing(t)
			other := w.AddNamespace()
			for n := range max(1, *races/len(pairs)) {
				r := race{t: t, World: w, random: rand.New(rand.NewPCG(uint64(n), uint64(len(name))))}
				r.contenders = [2]contender{{w.Namespace, "ours", pair[0]}, {other, "theirs", pair[1]}}
				r.run()
				if t.Failed() {
					t.Fatalf("in race %d", n)
				}
			}
		})
	}
}

func racing(t *testing.T) *world.World {
	t.Helper()
	seed := world.Seed()
	seed.Certificates = append(seed.Certificates, sim.SeedCertificate{ARN: broadCertificate, Names: []string{"*.claims.example.com"}})
	seed.Distributions[0].CertificateARN = broadCertificate
	return world.NewOffline(t, world.Options{Seed: &seed, Claims: &world.Holds{Own: holdOwn, Customer: holdCustomer}})
}

func (r *race) run() {
	r.t.Helper()
	for range 3 + r.random.IntN(6) {
		if r.random.IntN(4) == 0 {
			r.CrashAt(1+r.random.IntN(6), r.random.IntN(2) == 0)
		}
		r.move(r.contenders[r.random.IntN(2)])
		for range r.random.IntN(10) {
			r.pass(10 * time.Second)
		}
	}
	r.finish()
	r.judge()
	r.clear()
}

// move deletes what is there, and creates what is not.
func (r *race) move(c contender) {
	r.t.Helper()
	switch o, found := r.Get(c.key()); {
	case !found:
		r.Apply(r.Tenant(c.name, domains(c.domain), func(o *v1alpha1.DistributionTenant) { o.Namespace = c.namespace }))
	case o.DeletionTimestamp == nil:
		r.Delete(c.key())
	}
}

func (r *race) pass(d time.Duration) {
	r.t.Helper()
	r.Advance(d)
	for _, s := range r.AllInAWS() {
		if !slices.Contains(r.had, s.Name) {
			r.had = append(r.had, s.Name)
		}
	}
}

// finish lets deletions end, and has both objects created.
func (r *race) finish() {
	r.t.Helper()
	r.pass(4 * settle)
	for _, c := range r.contenders {
		if _, found := r.Get(c.key()); !found {
			r.move(c)
		}
	}
	r.pass(4 * settle)
}

func (r *race) judge() {
	r.t.Helper()
	var ready, refused []string
	for _, c := range r.contenders {
		switch synced := r.Condition(c.key(), "Synced"); {
		case r.Condition(c.key(), "Ready") == readyTrue:
			ready = append(ready, c.name)
		case synced == refusedHere:
			refused = append(refused, c.name)
		default:
			r.t.Errorf("%s is neither ready nor refused: %s", c.key(), synced)
		}
	}
	if len(ready) != 1 || len(refused) != 1 || !slices.Equal(r.had, ready) {
		r.t.Errorf("%q are ready and %q are refused; a tenant in AWS had %q", ready, refused, r.had)
	}
	if left := r.DomainClaims(); len(left) != 0 {
		r.t.Errorf("a claim is left while the domain is live: %+v", left[0].Spec)
	}
}

// clear takes everything away for the next race.
func (r *race) clear() {
	r.t.Helper()
	for _, c := range r.contenders {
		r.move(c)
	}
	r.Advance(4 * settle)
	for _, c := range r.contenders {
		gone(r.t, r.World, c.key())
	}
	for _, o := range r.DomainClaims() {
		if err := r.Kube.Delete(r.t.Context(), o); err != nil {
			r.t.Error(err)
		}
	}
	r.Advance(settle)
}

// Two thousand domains go live, are passed over again by a fresh process, and cost no claim.
func TestThousandsOfLiveDomainsCostNoClaim(t *testing.T) {
	t.Parallel()
	const tenants, each = 20, 100
	w := racing(t)
	writes := 0
	w.AroundKubeWrites(func(_ int, write func() error) error {
		before := len(w.DomainClaims())
		err := write()
		writes += max(len(w.DomainClaims())-before, 0)
		return err
	})
	for n := range tenants {
		var list []string
		for m := range each {
			list = append(list, fmt.Sprintf("shop-%d-%d.claims.example.com", n, m))
		}
		w.Apply(w.Tenant(fmt.Sprintf("tenant-%d", n), domains(list...)))
	}
	w.Advance(2 * settle)
	w.Restart()
	w.Advance(2 * settle)
	live := 0
	for _, s := range w.AllInAWS() {
		live += len(s.Domains)
	}
	if live != tenants*each || writes != 0 {
		t.Errorf("%d domains are live, and %d claims were made", live, writes)
	}
}
