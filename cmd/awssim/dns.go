package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// portTries is how often a free port is looked for that both UDP and TCP have.
const portTries = 10

// serveDNS answers queries over UDP and TCP on one port until it is stopped.
func serveDNS(ctx context.Context, address string, sim *aws.Sim, stdout io.Writer) (stop func(), err error) {
	packets, streams, err := listenDNS(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("listening on --dns-listen %s: %w", address, err)
	}
	servers := []*dns.Server{{PacketConn: packets}, {Listener: streams}}
	ended := make(chan struct{}, len(servers))
	for _, server := range servers {
		started := make(chan struct{})
		server.Handler, server.NotifyStartedFunc = sim.DNSHandler(), func() { close(started) }
		go func() {
			defer func() { ended <- struct{}{} }()
			_ = server.ActivateAndServe() // ends when it is stopped, and for no other reason
		}()
		<-started
	}
	host, port, err := net.SplitHostPort(packets.LocalAddr().String())
	if err != nil {
		host, port = packets.LocalAddr().String(), ""
	}
	fmt.Fprintf(stdout, "simulated DNS ready: dig @%s -p %s www.example.com\n", host, port)
	return func() {
		for _, server := range servers {
			_ = server.Shutdown() // the sockets go with the process
		}
		for range servers {
			<-ended
		}
	}, nil
}

// listenDNS takes one port for both protocols. With port 0 the one that is free
// for UDP may be taken for TCP, so it tries again.
func listenDNS(ctx context.Context, address string) (net.PacketConn, net.Listener, error) {
	var config net.ListenConfig
	var failures error
	for range portTries {
		packets, err := config.ListenPacket(ctx, "udp", address)
		if err != nil {
			return nil, nil, err
		}
		streams, err := config.Listen(ctx, "tcp", packets.LocalAddr().String())
		if err == nil {
			return packets, streams, nil
		}
		failures = errors.Join(err, packets.Close())
	}
	return nil, nil, failures
}
