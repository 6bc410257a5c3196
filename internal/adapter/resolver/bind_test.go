package resolver_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/nameserver"
)

// between is a resolver that knows the zones test and cloudfront.net, and asks the customer's name server about what is delegated to it.
const between = `options {
	directory "";
	recursion yes;
	allow-recursion { any; };
	servfail-ttl 0;
};
zone "test" { type primary; file "test.zone"; };
zone "cloudfront.net" { type primary; file "cloudfront.net.zone"; };
zone "customer.test" { type forward; forward only; forwarders { 127.0.0.1 port %s; }; };
`

// Customers set records at a real name server, and a real resolver is asked about them. It keeps its answers, so each
// question is about another name.
func TestWhereByBIND(t *testing.T) {
	if os.Getenv("DNSSERVER_ASSETS") == "" {
		t.Skip("DNSSERVER_ASSETS is not set: BIND may be missing")
	}
	const zone, target = "customer.test", "dmain.cloudfront.net"
	server := startBIND(t, nameserver.Options{Zones: []nameserver.Zone{{Name: zone}}})
	_, port, err := net.SplitHostPort(server.Address())
	if err != nil {
		t.Fatal(err)
	}
	r := newResolver(t, startBIND(t, nameserver.Options{
		Config: fmt.Sprintf(between, port), Zones: []nameserver.Zone{
			{Name: "test", Records: []string{"customer IN NS ns1.customer", "ns1.customer IN A 127.0.0.1"}},
			{Name: "cloudfront.net", Records: []string{"dmain IN A 192.0.2.9"}},
		},
	}).Address())
	set := func(records ...string) func(context.Context) error {
		return func(ctx context.Context) error { return server.AddByHand(ctx, zone, records...) }
	}
	for at, step := range []struct {
		name string
		do   func(context.Context) error
		want onboarding.Sight
	}{
		{"nothing is set", func(context.Context) error { return nil }, onboarding.Sight{Way: onboarding.Nowhere}},
		{"a CNAME to another service", set("n1.customer.test. 300 CNAME old.customer.test."), onboarding.Sight{Way: onboarding.Elsewhere, Seen: []string{"old.customer.test"}}},
		{"an address", set("n2.customer.test. 300 A 192.0.2.1"), onboarding.Sight{Way: onboarding.Elsewhere, Seen: []string{"192.0.2.1"}}},
		{"an address with the target's challenge", set("n3.customer.test. 300 A 192.0.2.1", `_cf-challenge.n3.customer.test. 300 TXT "dmain.cloudfront.net"`), onboarding.Sight{Way: onboarding.Here}},
		{"a CNAME that leads to itself", set("n4.customer.test. 300 CNAME n4.customer.test."), onboarding.Sight{Way: onboarding.Circle, Seen: []string{"n4.customer.test"}}},
		{"the CNAME to the target", set("n5.customer.test. 300 CNAME dmain.cloudfront.net."), onboarding.Sight{Way: onboarding.Here}},
		{"the name server is down", func(context.Context) error { return server.Stop() }, onboarding.Sight{Way: onboarding.Failing}},
		{"and back", server.Start, onboarding.Sight{Way: onboarding.Nowhere}},
	} {
		if err := step.do(t.Context()); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if diff := cmp.Diff(step.want, r.Where(t.Context(), fmt.Sprintf("n%d.%s", at, zone), []string{target})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
}

func startBIND(t *testing.T, o nameserver.Options) *nameserver.Server {
	t.Helper()
	s, err := nameserver.Start(t.Context(), o)
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
