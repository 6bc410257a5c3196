package distributiontenant_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/miekg/dns"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/resolver"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/proof"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// resolving is public DNS as a test wants it.
type resolving func(name, target string) (bool, error)

func (f resolving) Leads(_ context.Context, name, target string) (bool, error) {
	return f(name, target)
}

func (resolving) LookForProof(context.Context, proof.Record) proof.Sight { return proof.Missing }

const resolvedName = "alpha.example.net"

func resolvedTenant(r *rig) {
	r.Apply(r.Tenant("alpha", withDNS(), managed(v1alpha1.ValidationTokenHostCloudFront), domains(resolvedName)))
}

// Resolvers that say no delay a create by five minutes at most, and those that fail not at all.
func TestResolversDelayAndNeverForbid(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer          resolving
		notYet, created time.Duration
	}{
		"they see it":   {func(string, string) (bool, error) { return true, nil }, 0, 2 * time.Minute},
		"they do not":   {func(string, string) (bool, error) { return false, nil }, 4 * time.Minute, 6*time.Minute + 30*time.Second},
		"they are down": {func(string, string) (bool, error) { return false, errors.New("no answer") }, 0, 2 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := map[string]string{}
			r := newRig(t, rigOptions{proves: []string{resolvedName}, options: world.Options{Resolver: resolving(func(name, target string) (bool, error) {
				asked[name] = target
				return tc.answer(name, target)
			})}})
			resolvedTenant(r)
			if tc.notYet > 0 {
				r.Advance(tc.notYet)
				tenants(t, r.World)
				is(t, r.World, "alpha", dnsReady)
				says(t, r.World, "alpha", "Ready", "public resolvers")
			}
			r.Advance(tc.created - tc.notYet)
			tenants(t, r.World, "alpha")
			if asked[resolvedName] != mainEndpoint {
				t.Errorf("the resolver was asked %v", asked)
			}
			r.Advance(10 * time.Minute)
			is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
			r.removed("alpha")
		})
	}
}

// A real resolver against the simulated zones: it sees what is in sync and propagated, so that
// no create comes too early.
func TestARealResolverSavesCreatesThatComeTooEarly(t *testing.T) {
	t.Parallel()
	socket, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	public, err := resolver.New([]string{socket.LocalAddr().String()})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, rigOptions{
		proves: []string{resolvedName}, options: world.Options{Resolver: public},
		switches: func(s *sim.Switches) { s.DNSPropagationDelay = 2 * time.Minute },
	})
	started := make(chan struct{})
	server := &dns.Server{PacketConn: socket, Handler: r.Sim.DNSHandler(), NotifyStartedFunc: func() { close(started) }}
	served := make(chan error, 1)
	go func() { served <- server.ActivateAndServe() }()
	<-started
	t.Cleanup(func() {
		if err := server.Shutdown(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	resolvedTenant(r)
	r.Advance(90 * time.Second)
	tenants(t, r.World)
	r.Advance(90 * time.Second)
	if n := r.Sim.Calls()["CreateDistributionTenant"]; n.Total != 1 || n.Committed != 1 {
		t.Errorf("%d creates, %d committed; want one that AWS takes at once", n.Total, n.Committed)
	}
	r.Advance(10 * time.Minute)
	is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
	r.removed("alpha")
}
