// Package dnsserver serves DNS over UDP and TCP on one port, for simulators and tests.
package dnsserver

import (
	"context"
	"errors"
	"net"

	"github.com/miekg/dns"
)

// tries is how many ports are tried until one is free for both protocols.
const tries = 10

// Server answers queries until it is stopped.
type Server struct {
	// Address is where it listens, as host:port.
	Address string

	servers []*dns.Server
	ended   chan error
}

// Start listens on an address and answers there. With port 0 it finds a port.
func Start(ctx context.Context, address string, handler dns.Handler) (*Server, error) {
	packets, streams, err := listen(ctx, address)
	if err != nil {
		return nil, err
	}
	s := &Server{
		Address: packets.LocalAddr().String(),
		servers: []*dns.Server{{PacketConn: packets, Handler: handler}, {Listener: streams, Handler: handler}},
	}
	s.ended = make(chan error, len(s.servers))
	for _, server := range s.servers {
		started := make(chan struct{})
		server.NotifyStartedFunc = func() { close(started) }
		go func() { s.ended <- server.ActivateAndServe() }()
		<-started
	}
	return s, nil
}

// Stop ends the server and waits for it.
func (s *Server) Stop() error {
	var failures []error
	for _, server := range s.servers {
		failures = append(failures, server.Shutdown())
	}
	for range s.servers {
		failures = append(failures, <-s.ended)
	}
	return errors.Join(failures...)
}

// listen takes one port for both protocols. The port 0 that the system picks is free for UDP, and may be taken for TCP.
func listen(ctx context.Context, address string) (net.PacketConn, net.Listener, error) {
	var config net.ListenConfig
	var failures []error
	for range tries {
		packets, err := config.ListenPacket(ctx, "udp", address)
		if err != nil {
			return nil, nil, err
		}
		streams, err := config.Listen(ctx, "tcp", packets.LocalAddr().String())
		if err == nil {
			return packets, streams, nil
		}
		failures = append(failures, err, packets.Close())
	}
	return nil, nil, errors.Join(failures...)
}
