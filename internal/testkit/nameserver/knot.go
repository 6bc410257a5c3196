package nameserver

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// knotServer has the server in its folder.
const knotServer = `server:
    rundir: %[1]s
    listen: 127.0.0.1@%[2]d
    udp-workers: 1
    tcp-workers: 2
    background-workers: 2
    tcp-io-timeout: 30000
log:
  - target: stderr
    any: info
database:
    storage: %[1]s
    journal-db-max-size: 100M
    kasp-db-max-size: 20M
    timer-db-max-size: 10M
`

// knotRights are the keys, and what they may do. Of several statements the first that allows something counts.
const knotRights = `key:
  - id: %[1]s
    algorithm: %[2]s
    secret: %[3]s
  - id: %[4]s
    algorithm: %[5]s
    secret: %[6]s
acl:
  - id: everything
    key: %[4]s
    action: [transfer, update]
  - id: transfers
    key: %[1]s
    action: transfer
  - id: updates
    key: %[1]s
    action: update
    update-type: [CNAME, TXT, A, AAAA]
    update-owner: zone
    update-owner-match: sub
template:
  - id: default
    storage: %[7]s
    file: "%%s.zone"
    zonefile-sync: -1
zone:
`

// configureKnot puts the configuration and the zones into the folder.
func configureKnot(_ context.Context, s *Server) error {
	config := s.knotGiven()
	if s.options.Config == "" {
		config = s.knotZones()
	}
	return errors.Join(s.putZones(), s.put("knot.conf", config))
}

func (s *Server) knotZones() string {
	var config strings.Builder
	fmt.Fprintf(&config, knotServer, s.dir, s.port)
	o, a := s.operator, s.admin
	fmt.Fprintf(&config, knotRights, o.Name, o.Algorithm, o.Secret, a.Name, a.Algorithm, a.Secret, s.dir)
	for _, z := range s.options.Zones {
		signing, transfers := "off", "everything, transfers, updates"
		if z.Signed {
			signing = "on"
		}
		if z.ClosedToTransfers {
			transfers = "everything, updates"
		}
		fmt.Fprintf(&config, "  - domain: %s\n    acl: [%s]\n    dnssec-signing: %s\n", z.Name, transfers, signing)
	}
	return config.String()
}

// knotGiven is the configuration that the options have as a whole, with the server's own folders and port.
func (s *Server) knotGiven() string {
	sections := regexp.MustCompile(`(?m)^(server|database|log):\n(?:[ \t].*\n)*`)
	folders := regexp.MustCompile(`(?m)^( +storage:).*`)
	rest := folders.ReplaceAllString(sections.ReplaceAllString(s.options.Config, ""), "${1} "+s.dir)
	return fmt.Sprintf(knotServer, s.dir, s.port) + rest
}
