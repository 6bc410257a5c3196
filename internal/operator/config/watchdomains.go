package config

import (
	"errors"
	"fmt"
	"net"

	wire "github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/resolver"
)

// resolvConf names the DNS servers of the pod.
const resolvConf = "/etc/resolv.conf"

// Guide asks the DNS servers of --dns-resolvers or, if there are none, those of the pod where public DNS leads names. It
// is nil where that is not wanted.
func (c *Config) Guide() (*resolver.Resolver, error) { return c.guide(resolvConf) }

func (c *Config) guide(file string) (*resolver.Resolver, error) {
	if !c.WatchDomains {
		return nil, nil
	}
	if len(c.DNSResolvers) > 0 {
		return resolver.New(c.DNSResolvers)
	}
	servers, err := podServers(file)
	if err != nil {
		return nil, err
	}
	return resolver.New(servers)
}

// podServers are those of a resolv.conf, each once.
func podServers(file string) (servers []string, err error) {
	pod, err := wire.ClientConfigFromFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the DNS servers of the pod: %w", err)
	}
	known := map[string]bool{}
	for _, server := range pod.Servers {
		if s := net.JoinHostPort(server, pod.Port); !known[s] {
			known[s], servers = true, append(servers, s)
		}
	}
	if len(servers) == 0 {
		return nil, errors.New("the pod has no DNS servers")
	}
	return servers, nil
}
