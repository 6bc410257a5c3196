package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/dnsserver"
)

// publicDNS serves a zone as a playground does, and returns the address.
func publicDNS(t *testing.T) string {
	t.Helper()
	seed := sim.DefaultSeed()
	seed.HostedZones = []sim.SeedHostedZone{{Name: "example.net", Records: []sim.SeedRecord{
		{Name: "shop.example.net", Type: "CNAME", Values: []string{"www.example.net"}},
		{Name: "www.example.net", Type: "A", TTL: 60, Values: []string{"192.0.2.80"}},
	}}}
	server, err := dnsserver.Start(t.Context(), "127.0.0.1:0", sim.New(sim.Options{Seed: &seed}).DNSHandler())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server.Address
}

func TestLookup(t *testing.T) {
	server := publicDNS(t)
	for name, test := range map[string]struct {
		args           []string
		server         string
		status         int
		stdout, stderr string
	}{
		"the records of an answer stand in columns": {
			[]string{"shop.example.net"}, server, 0,
			"shop.example.net.   300   IN   CNAME   www.example.net.\nwww.example.net.    60    IN   A       192.0.2.80\n", "",
		},
		"another type is asked for, however it is written": {
			[]string{"shop.example.net.", "cname"}, server, 0, "shop.example.net.   300   IN   CNAME   www.example.net.\n", "",
		},
		"a name that does not exist is said to":     {[]string{"gone.example.net"}, server, 0, "gone.example.net: NXDOMAIN\n", ""},
		"a name without such a record, too":         {[]string{"www.example.net", "TXT"}, server, 0, "www.example.net: no TXT record\n", ""},
		"a type that does not exist is refused":     {[]string{"www.example.net", "ALIAS"}, server, 1, "", "unknown record type ALIAS; use A, AAAA, CNAME, TXT or MX"},
		"without a name it says what it takes":      {nil, server, 2, "", "such as: lookup www.example.net CNAME"},
		"without a world it says how to start one":  {[]string{"www.example.net"}, "", 2, "", "$PLAYGROUND_DNS is empty: start the playground with make playground"},
		"with too many arguments it takes no guess": {[]string{"a.example.net", "A", "b"}, server, 2, "", "takes a name and an optional record type"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if status := runLookup(test.args, []string{"", test.server}, &stdout, &stderr); status != test.status {
				t.Errorf("status %d, want %d", status, test.status)
			}
			if diff := cmp.Diff(test.stdout, stdout.String()); diff != "" {
				t.Errorf("stdout (-want +got):\n%s", diff)
			}
			if !strings.Contains(stderr.String(), test.stderr) || (test.stderr == "") != (stderr.Len() == 0) {
				t.Errorf("it says %q, want %q", &stderr, test.stderr)
			}
		})
	}
}

// The proof that nothing is left counts lines as grep does.
func TestCountLines(t *testing.T) {
	text := "one two\ntwo\nthree\n"
	if got := countLines(text, []string{"one", "two"}); got != 2 {
		t.Errorf("%d lines, want 2", got)
	}
	if got := countLines(text, []string{"four"}); got != 0 {
		t.Errorf("%d lines, want none", got)
	}
}
