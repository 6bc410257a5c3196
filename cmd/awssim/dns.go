package main

import (
	"context"
	"fmt"
	"io"
	"net"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/dnsserver"
)

// serveDNS answers queries over UDP and TCP on one port until it is stopped.
func serveDNS(ctx context.Context, address string, sim *aws.Sim, stdout io.Writer) (stop func() error, err error) {
	server, err := dnsserver.Start(ctx, address, sim.DNSHandler())
	if err != nil {
		return nil, fmt.Errorf("listening on --dns-listen %s: %w", address, err)
	}
	host, port, err := net.SplitHostPort(server.Address)
	if err != nil {
		host, port = server.Address, ""
	}
	fmt.Fprintf(stdout, "simulated DNS ready: dig @%s -p %s www.example.com\n", host, port)
	return server.Stop, nil
}
