package distributiontenant_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/proof"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

const notProven = "Ready=False/DomainNotProven"

// publicTexts is public DNS with the TXT records that customers create.
type publicTexts struct {
	mu      sync.Mutex
	records map[proof.Record]bool
	asked   int
}

func (p *publicTexts) Leads(context.Context, string, string) (bool, error) { return true, nil }

func (p *publicTexts) LookForProof(_ context.Context, r proof.Record) proof.Sight {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	if p.records[r] {
		return proof.Shown
	}
	return proof.Missing
}

func (p *publicTexts) set(r proof.Record, there bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.records[r] = there
}

func (p *publicTexts) looks() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

// proving is a world whose grant demands proofs of all domains below proven.example.com.
type proving struct {
	*claiming

	dns *publicTexts
}

func provenGrant(demands bool, namespaces ...string) grant.Grant {
	g := granted(namespaces...)
	g.Domains = []grant.Domain{{Suffix: "example.com", Except: []string{"proven.example.com"}}, {Suffix: "proven.example.com", Proven: demands}}
	return g
}

func newProving(t *testing.T) *proving {
	t.Helper()
	texts := &publicTexts{records: map[proof.Record]bool{}}
	seed := world.Seed()
	seed.Certificates = append(seed.Certificates, sim.SeedCertificate{ARN: broadCertificate, Names: []string{"*.example.com", "*.proven.example.com"}})
	seed.Distributions[0].CertificateARN = broadCertificate
	holds := held()
	c := &claiming{t: t, World: world.New(t, kubeConfig, world.Options{Seed: &seed, Claims: &holds, Grants: grants.Enforce, Resolver: texts})}
	c.other = c.AddNamespace()
	p := &proving{claiming: c, dns: texts}
	p.demand(true)
	return p
}

func (p *proving) demand(demands bool) { p.Grant(provenGrant(demands, p.Namespace, p.other)) }

// prove creates the record with which a namespace proves a domain, or deletes it.
func (p *proving) prove(namespace, domain string, there bool) {
	p.dns.set(proof.For(world.ClusterID, namespace, domain), there)
}

// proofs are the domains in status, each with whether it is proven.
func (p *proving) proofs(name string) map[string]bool {
	p.t.Helper()
	out := map[string]bool{}
	for _, d := range get(p.t, p.World, name).Status.Domains {
		for _, r := range d.Records {
			if r.Purpose == v1alpha1.PurposeProof {
				out[d.Domain] = r.State == v1alpha1.RecordPresent
			}
		}
	}
	return out
}

// A new tenant waits for the record that status names, and for nothing else. The record is needed once.
func TestATenantIsCreatedOnceItsDomainIsProven(t *testing.T) {
	t.Parallel()
	for _, domain := range []string{"new.proven.example.com", "*.proven.example.com"} {
		t.Run(domain, func(t *testing.T) {
			t.Parallel()
			p := newProving(t)
			p.Apply(p.Tenant("alpha", domains(domain)))
			p.Advance(time.Hour)
			is(t, p.World, "alpha", notProven)
			tenants(t, p.World)
			status := get(t, p.World, "alpha").Status.Domains
			if len(status) != 1 || status[0].State != v1alpha1.DomainAwaitingProof || status[0].WaitsFor != v1alpha1.PartyCustomer {
				t.Fatalf("status has %v", status)
			}
			record := status[0].Records[0]
			says(t, p.World, "alpha", "Ready", record.Name, record.Value)
			if n := p.dns.looks(); n > 15 {
				t.Errorf("public DNS was asked %d times in an hour", n)
			}
			// The status is enough.
			p.dns.set(proof.Record{Name: record.Name, Value: record.Value}, true)
			p.Advance(15 * time.Minute)
			is(t, p.World, "alpha", readyTrue, syncedTrue)
			p.dns.set(proof.Record{Name: record.Name, Value: record.Value}, false)
			looks := p.dns.looks()
			p.Restart()
			p.Edit("alpha", params("tier", "gold"))
			removeOutOfBand(t, p.World, "alpha")
			p.Advance(time.Hour)
			is(t, p.World, "alpha", readyTrue, syncedTrue)
			if p.dns.looks() != looks {
				t.Error("the proof was looked for again")
			}
			// Another object has to prove it again.
			p.Delete("alpha")
			p.Advance(time.Hour)
			tenants(t, p.World)
			p.Apply(p.Tenant("alpha", domains(domain)))
			p.Advance(time.Hour)
			is(t, p.World, "alpha", notProven)
			tenants(t, p.World)
		})
	}
}

// A live tenant continues with its other domains and with all changes, at no call to AWS while it waits.
func TestALiveTenantGoesOnWithoutADomainThatIsNotProven(t *testing.T) {
	t.Parallel()
	p := newProving(t)
	const domain, second = "vanity.proven.example.com", "second.proven.example.com"
	ready(t, p.World, "alpha", domains("alpha.example.com"))
	p.Edit("alpha", func(o *v1alpha1.DistributionTenant) {
		domains("alpha.example.com", domain, second)(o)
		params("tier", "gold")(o)
	})
	p.Advance(20 * time.Minute)
	is(t, p.World, "alpha", notProven, "Synced=False/DomainNotProven")
	state := inAWS(t, p.World, "alpha")
	if state.Parameters["tier"] != "gold" || state.Domains["alpha.example.com"] == "" || len(state.Domains) != 1 {
		t.Errorf("AWS has %+v", state)
	}
	before := p.Calls()
	p.Advance(2 * time.Hour)
	// The connection groups are listed once an hour for all tenants.
	if calls := without(anything(world.Since(before, p.Calls())), "ListConnectionGroups"); len(calls) > 0 {
		t.Errorf("waiting costs %v", calls)
	}
	p.prove(p.Namespace, domain, true)
	p.Advance(15 * time.Minute)
	is(t, p.World, "alpha", notProven)
	if state = inAWS(t, p.World, "alpha"); state.Domains[domain] == "" || len(state.Domains) != 2 {
		t.Errorf("AWS has %+v", state.Domains)
	}
	// A user who asks need not wait.
	p.prove(p.Namespace, second, true)
	nudge(p.World, "alpha", "now")
	p.Advance(3 * time.Minute)
	is(t, p.World, "alpha", readyTrue, syncedTrue)
	if got := p.proofs("alpha"); !got[domain] || !got[second] || len(got) != 2 {
		t.Errorf("status has %v", got)
	}
	// A domain that replaces all others is waited for.
	p.Edit("alpha", domains("third.proven.example.com"))
	p.Advance(20 * time.Minute)
	is(t, p.World, "alpha", notProven)
	if state = inAWS(t, p.World, "alpha"); len(state.Domains) != 3 {
		t.Errorf("AWS has %+v", state.Domains)
	}
	p.prove(p.Namespace, "third.proven.example.com", true)
	p.Advance(15 * time.Minute)
	is(t, p.World, "alpha", readyTrue, syncedTrue)
	if state = inAWS(t, p.World, "alpha"); len(state.Domains) != 1 {
		t.Errorf("AWS has %+v", state.Domains)
	}
}

// Domains that are served when a proof is first demanded stay, and are restored when they are changed outside. Domains
// that were released have to be proven.
func TestWhatIsServedNeedsNoProof(t *testing.T) {
	t.Parallel()
	p := newProving(t)
	const domain = "old.proven.example.com"
	p.demand(false)
	ready(t, p.World, "alpha", domains("alpha.example.com", domain))
	p.demand(true)
	p.Advance(20 * time.Minute)
	is(t, p.World, "alpha", readyTrue, syncedTrue)
	outOfBand(t, p.World, "alpha", func(in *cloudfront.UpdateDistributionTenantInput) {
		in.Domains = slices.DeleteFunc(in.Domains, func(i types.DomainItem) bool { return awssdk.ToString(i.Domain) == domain })
	})
	p.Advance(30 * time.Minute)
	is(t, p.World, "alpha", readyTrue, syncedTrue)
	if state := inAWS(t, p.World, "alpha"); state.Domains[domain] == "" {
		t.Errorf("AWS has %v", state.Domains)
	}
	p.Edit("alpha", domains("alpha.example.com"))
	p.Advance(20 * time.Minute)
	p.Edit("alpha", domains("alpha.example.com", domain))
	p.Advance(20 * time.Minute)
	is(t, p.World, "alpha", notProven)
	if state := inAWS(t, p.World, "alpha"); state.Domains[domain] != "" {
		t.Errorf("AWS has %v", state.Domains)
	}
	// The grant decides: without the demand it needs none.
	p.demand(false)
	p.Advance(20 * time.Minute)
	is(t, p.World, "alpha", readyTrue, syncedTrue)
}

// The record of one namespace is worth nothing to another one. Who is older and has no proof keeps no one from the domain.
func TestOnlyWhoProvesADomainGetsIt(t *testing.T) {
	t.Parallel()
	p := newProving(t)
	const domain = "contested.proven.example.com"
	p.Apply(p.Tenant("squatter", domains(domain)))
	p.Advance(time.Minute)
	owner := p.theirs("owner", domains(domain))
	p.prove(p.other, domain, true)
	p.Advance(20 * time.Minute)
	is(t, p.World, owner, readyTrue, syncedTrue)
	is(t, p.World, "squatter", notProven)
	if holder := p.holder(domain); holder != "owner" {
		t.Errorf("the domain is that of %q", holder)
	}
	// Two proofs, and the domain stays where it is.
	p.prove(p.Namespace, domain, true)
	p.Advance(20 * time.Minute)
	is(t, p.World, "squatter", refusedHere)
	is(t, p.World, owner, readyTrue, syncedTrue)
}

// An administrator's word is a proof, at once; that a domain was held after its release is none.
func TestAReservationIsAProof(t *testing.T) {
	t.Parallel()
	p := newProving(t)
	const domain = "reserved.proven.example.com"
	p.Apply(p.Tenant("alpha", domains(domain)))
	p.Advance(time.Hour)
	is(t, p.World, "alpha", notProven)
	p.reserve(domain, p.Namespace)
	p.Advance(3 * time.Minute)
	is(t, p.World, "alpha", readyTrue, syncedTrue)
	if got := p.proofs("alpha"); len(got) != 0 {
		t.Errorf("status has %v", got)
	}
}

// Wherever the process ends: the tenant is created once its domain is proven, and never before.
func TestProofsSurviveCrashes(t *testing.T) {
	t.Parallel()
	const domain = "crash.proven.example.com"
	for point := 1; point <= 5; point++ {
		for _, after := range []bool{false, true} {
			p := newProving(t)
			p.CrashAt(1, after)
			p.Apply(p.Tenant("alpha", domains(domain)))
			p.Advance(20 * time.Minute)
			tenants(t, p.World)
			p.prove(p.Namespace, domain, true)
			p.CrashAt(point, after)
			p.Advance(30 * time.Minute)
			is(t, p.World, "alpha", readyTrue, syncedTrue)
			if !p.proofs("alpha")[domain] {
				t.Errorf("crash %d %t: status has %v", point, after, p.proofs("alpha"))
			}
		}
	}
}
