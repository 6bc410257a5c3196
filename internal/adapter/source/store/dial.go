package store

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// Guard keeps the operator from connecting to what only the operator can reach. It looks at the address to which a connection is
// about to be made, when names are resolved already: a name that resolves to another address the next time is no way around
// it. A nil Guard lets everything through.
type Guard struct {
	allowed   []netip.Prefix
	apiServer []netip.Addr
	// hosts are those that the namespace of the source may read from; nil for all.
	hosts []string
}

// resolveTimeout is for the API server's own name, which a pod does not even use.
const resolveTimeout = 5 * time.Second

// NewGuard makes a guard that allows what the administrator does, and knows the API server by its hosts.
func NewGuard(ctx context.Context, allowed []netip.Prefix, apiServer []string) *Guard {
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	g := &Guard{allowed: allowed}
	for _, host := range apiServer {
		// An address resolves to itself. A name that does not resolve is that of no server which answers.
		addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		if err != nil {
			continue
		}
		for _, address := range addresses {
			g.apiServer = append(g.apiServer, plain(address))
		}
	}
	return g
}

// Only limits a guard to hosts that a grant names. Names are compared as the connection string has them, before they are
// resolved. Nil are all hosts.
func (g *Guard) Only(hosts []string) *Guard {
	limited := Guard{hosts: hosts}
	if g != nil {
		limited.allowed, limited.apiServer = g.allowed, g.apiServer
	}
	return &limited
}

// RefusedError says why there must be no connection to a server, and what to do about it.
type RefusedError string

// Error implements error.
func (e RefusedError) Error() string { return string(e) }

// Admit says why there must be no connection to host:port. Every adapter asks before it dials.
func (g *Guard) Admit(address string) error {
	if g == nil || g.hosts == nil || grant.AllowsHost(g.hosts, address) {
		return nil
	}
	return RefusedError(fmt.Sprintf("the EdgeGrant of the namespace does not allow reading from %s: use another host, or ask an administrator "+
		"of the platform to add it to spec.sources.hosts of the grant", prose.Shorten(address, prose.LongestQuote)))
}

// DialContext connects to host:port if the guard allows it. A socket in the file system, which a server may name as its
// neighbor, is never dialled.
func (g *Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if network != "tcp" {
		return nil, net.UnknownNetworkError(network)
	}
	if err := g.Admit(address); err != nil {
		return nil, err
	}
	return g.Dialer().DialContext(ctx, network, address)
}

// Dialer makes a dialer whose connections the guard allows.
func (g *Guard) Dialer() *net.Dialer {
	d := &net.Dialer{}
	if g != nil {
		d.Control = func(_, address string, _ syscall.RawConn) error { return g.check(address) }
	}
	return d
}

func (g *Guard) check(address string) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("checking an address: %w", err)
	}
	a := plain(target.Addr())
	if slices.ContainsFunc(g.allowed, func(p netip.Prefix) bool { return p.Contains(a) }) {
		return nil
	}
	if is := g.special(a); is != "" {
		return RefusedError(fmt.Sprintf("its address %s is %s, to which the operator does not connect: use the address of a database, "+
			"or ask the administrator to add this one to --tenantsource-allow-dial", a, is))
	}
	return nil
}

// Networks that netip has no word for.
var (
	thisNetwork = netip.MustParsePrefix("0.0.0.0/8")
	broadcast   = netip.MustParseAddr("255.255.255.255")
	// metadata is where AWS has over IPv6 what it has at 169.254.0.0/16 over IPv4.
	metadata = netip.MustParsePrefix("fd00:ec2::/32")
	// translated are IPv4 addresses behind a gateway from IPv6 (RFC 6052).
	translated = netip.MustParsePrefix("64:ff9b::/96")
	// translatedLocally is for gateways of a network's own (RFC 8215), whose form is theirs.
	translatedLocally = netip.MustParsePrefix("64:ff9b:1::/48")
)

// special says what an address is that is no database's; empty for all others.
func (g *Guard) special(a netip.Addr) string {
	switch {
	case slices.Contains(g.apiServer, a):
		return "that of the Kubernetes API server"
	case a.IsLoopback():
		return "a loopback address"
	case a.IsUnspecified(), thisNetwork.Contains(a):
		return "an unspecified address"
	case a.IsLinkLocalUnicast(), metadata.Contains(a):
		return "a link-local address"
	case a.IsMulticast(), a == broadcast:
		return "a multicast address"
	case translatedLocally.Contains(a):
		return "behind a gateway to IPv4, which may lead anywhere"
	}
	return ""
}

// plain is the address that is meant: without a zone, and an IPv4 address as such in whatever form it is written.
func plain(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if translated.Contains(a) {
		bytes := a.As16()
		return netip.AddrFrom4([4]byte(bytes[12:]))
	}
	return a
}
