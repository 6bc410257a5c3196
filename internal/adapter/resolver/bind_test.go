package resolver_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/bind"
)

// between is a resolver that knows the zone test and asks the customer's name server about what is delegated to it. It
// keeps no answers, so that a change shows at once.
const between = `options {
	directory "";
	recursion yes;
	allow-recursion { any; };
	max-cache-ttl 0;
	max-ncache-ttl 0;
	servfail-ttl 0;
	minimal-responses yes;
};
zone "test" { type primary; file "test.zone"; };
zone "customer.test" { type forward; forward only; forwarders { 127.0.0.1 port %s; }; };
`

// A customer sets records at a real name server, wrong ones first, and a real resolver is asked about them.
func TestWhereByBIND(t *testing.T) {
	if os.Getenv("DNSSERVER_ASSETS") == "" {
		t.Skip("DNSSERVER_ASSETS is not set: BIND may be missing")
	}
	const zone, name, target = "customer.test", "shop.customer.test", "dmain.cloudfront.net"
	server := startBIND(t, bind.Options{Zones: []bind.Zone{{Name: zone}}})
	_, port, err := net.SplitHostPort(server.Address())
	if err != nil {
		t.Fatal(err)
	}
	r := newResolver(t, startBIND(t, bind.Options{
		Config: fmt.Sprintf(between, port), Zones: []bind.Zone{{Name: "test", Records: []string{"customer IN NS ns1.customer", "ns1.customer IN A 127.0.0.1"}}},
	}).Address())
	before := ""
	set := func(record string) func(context.Context) error {
		return func(ctx context.Context) error {
			if before != "" {
				if err := server.DeleteByHand(ctx, zone, before); err != nil {
					return err
				}
			}
			if before = record; record == "" {
				return nil
			}
			return server.AddByHand(ctx, zone, record)
		}
	}
	for _, step := range []struct {
		name string
		do   func(context.Context) error
		want onboarding.Sight
	}{
		{"nothing is set", set(""), onboarding.Sight{Way: onboarding.Nowhere}},
		{"a CNAME to another service", set(name + ". 300 CNAME old.customer.test."), onboarding.Sight{Way: onboarding.Elsewhere, Seen: []string{"old.customer.test"}}},
		{"an address", set(name + ". 300 A 192.0.2.1"), onboarding.Sight{Way: onboarding.Elsewhere, Seen: []string{"192.0.2.1"}}},
		{"a CNAME that leads to itself", set(name + ". 300 CNAME " + name + "."), onboarding.Sight{Way: onboarding.Circle, Seen: []string{name}}},
		{"the CNAME to the target", set(name + ". 300 CNAME " + target + "."), onboarding.Sight{Way: onboarding.Here}},
		{"the name server is down", func(context.Context) error { return server.Stop() }, onboarding.Sight{Way: onboarding.Failing}},
		{"and back", server.Start, onboarding.Sight{Way: onboarding.Here}},
	} {
		if err := step.do(t.Context()); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if diff := cmp.Diff(step.want, r.Where(t.Context(), name, []string{target})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
}

func startBIND(t *testing.T, o bind.Options) *bind.Server {
	t.Helper()
	s, err := bind.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
