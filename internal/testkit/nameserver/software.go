package nameserver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Software is a program that serves zones.
type Software string

// The programs.
const (
	BIND     Software = ""
	Knot     Software = "knot"
	PowerDNS Software = "powerdns"
)

// String is the name of the program for people.
func (s Software) String() string { return softwares[s].title }

// software is how a program is configured and started.
type software struct {
	// title is its name for people, program that of its file, and packages those of Debian that have it.
	title, program, packages string
	configure                func(context.Context, *Server) error
	args                     func(dir string) []string
}

var softwares = map[Software]software{
	BIND: {
		title: "BIND", program: "named", packages: "bind9", configure: configureBIND,
		args: func(dir string) []string { return []string{"-g", "-n", "1", "-c", filepath.Join(dir, "named.conf")} },
	},
	Knot: {
		title: "Knot", program: "knotd", packages: "knot", configure: configureKnot,
		args: func(dir string) []string { return []string{"-c", filepath.Join(dir, "knot.conf")} },
	},
	PowerDNS: {
		title: "PowerDNS", program: "pdns_server", packages: "pdns-server, pdns-backend-sqlite3 and sqlite3", configure: configurePowerDNS,
		args: func(dir string) []string { return []string{"--config-dir=" + dir} },
	},
}

// The SOA has a secondary come back on its own only after an hour. The TTL of negative answers is short.
const zoneFile = `$TTL 300
@ IN SOA ns1 hostmaster 1 3600 3600 86400 60
@ IN NS ns1
ns1 IN A 127.0.0.1
%s
`

// putZones writes the files of the zones.
func (s *Server) putZones() error {
	for _, z := range s.options.Zones {
		if err := s.put(z.Name+".zone", fmt.Sprintf(zoneFile, strings.Join(z.Records, "\n"))); err != nil {
			return err
		}
	}
	return nil
}

// put writes a file that the server may read and replace.
func (s *Server) put(name, content string) error {
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		return fmt.Errorf("configuring %s: %w", s.title, err)
	}
	if s.credential == nil {
		return nil
	}
	if err := os.Chown(path, int(s.credential.Uid), int(s.credential.Gid)); err != nil {
		return fmt.Errorf("configuring %s: %w", s.title, err)
	}
	return nil
}
