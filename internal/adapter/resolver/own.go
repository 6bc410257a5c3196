package resolver

import (
	"errors"
	"fmt"
	"net"
	"slices"

	wire "github.com/miekg/dns"
)

// OwnFile names the DNS servers of a machine or a pod.
const OwnFile = "/etc/resolv.conf"

// Own are the DNS servers that a file like OwnFile names, each once.
func Own(file string) (servers []string, err error) {
	config, err := wire.ClientConfigFromFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading which DNS servers to ask, which --dns-resolvers can name instead: %w", err)
	}
	for _, host := range config.Servers {
		if s := net.JoinHostPort(host, config.Port); !slices.Contains(servers, s) {
			servers = append(servers, s)
		}
	}
	if len(servers) == 0 {
		return nil, errors.New(file + " names no DNS servers: name some with --dns-resolvers")
	}
	return servers, nil
}
