package nameserver

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
)

// powerDNSSettings are what every server has, and keep nothing for a moment: what changes is seen at once. The server does not
// write down which serial it has notified its secondaries of: an update that is carried out at that moment would fail.
const powerDNSSettings = `launch=gsqlite3
gsqlite3-database=%[1]s/pdns.sqlite3
gsqlite3-pragma-synchronous=0
gsqlite3-dnssec=yes
gsqlite3-update-serial-query=select id from domains where notified_serial=:serial and id=:domain_id
local-address=127.0.0.1
local-port=%[2]d
socket-dir=%[1]s
daemon=no
guardian=no
disable-syslog=yes
security-poll-suffix=
receiver-threads=1
distributor-threads=2
cache-ttl=0
query-cache-ttl=0
negquery-cache-ttl=0
zone-cache-refresh-interval=0
`

// powerDNSOwn is that the server is a primary that takes updates, where no configuration is given that says so.
const powerDNSOwn = `primary=yes
dnsupdate=yes
allow-dnsupdate-from=127.0.0.0/8
allow-axfr-ips=
`

const (
	powerDNSSchema = "/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql"
	// powerDNSMode has readers and a writer not wait for each other.
	powerDNSMode = "PRAGMA journal_mode=WAL;\n"
)

// configurePowerDNS puts the configuration into the folder, and the zones into a database there.
func configurePowerDNS(ctx context.Context, s *Server) error {
	config := s.options.Config
	if config == "" {
		config = powerDNSOwn
	}
	err := errors.Join(s.putZones(), s.put("pdns.conf", config+fmt.Sprintf(powerDNSSettings, s.dir, s.port)))
	for name, content := range s.options.Files {
		err = errors.Join(err, s.put(name, content))
	}
	if err != nil {
		return err
	}
	if err := s.run(ctx, powerDNSMode+".read "+powerDNSSchema+"\n", "sqlite3", "pdns.sqlite3"); err != nil {
		return err
	}
	load, sign := []string{"--config-dir=" + s.dir, "load-zone"}, []string{"--config-dir=" + s.dir, "secure-zone"}
	for _, z := range s.options.Zones {
		load = append(load, z.Name, z.Name+".zone")
		if z.Signed {
			sign = append(sign, z.Name)
		}
	}
	if len(s.options.Zones) > 0 {
		err = s.run(ctx, "", "pdnsutil", load...)
	}
	if err == nil && len(sign) > 2 {
		err = s.run(ctx, "", "pdnsutil", sign...)
	}
	if err == nil && s.options.Config == "" {
		err = s.run(ctx, s.powerDNSRights(), "sqlite3", "pdns.sqlite3")
	}
	for _, c := range s.options.Commands {
		err = errors.Join(err, s.Command(ctx, c))
	}
	return err
}

// Command runs a command of PowerDNS, with its arguments.
func (s *Server) Command(ctx context.Context, command []string) error {
	return s.run(ctx, "", command[0], append([]string{"--config-dir=" + s.dir}, command[1:]...)...)
}

// powerDNSRights are the keys, and that both may do everything in each zone.
func (s *Server) powerDNSRights() string {
	var sql strings.Builder
	for _, k := range []Key{s.operator, s.admin} {
		fmt.Fprintf(&sql, "INSERT INTO tsigkeys (name, algorithm, secret) VALUES ('%s', '%s', '%s');\n", k.Name, k.Algorithm, k.Secret)
		for _, right := range []string{"TSIG-ALLOW-AXFR", "TSIG-ALLOW-DNSUPDATE"} {
			fmt.Fprintf(&sql, "INSERT INTO domainmetadata (domain_id, kind, content) SELECT id, '%s', '%s' FROM domains;\n", right, k.Name)
		}
	}
	for _, z := range s.options.Zones {
		if z.ClosedToTransfers {
			fmt.Fprintf(&sql, "DELETE FROM domainmetadata WHERE kind = 'TSIG-ALLOW-AXFR' AND content = '%s' AND domain_id = (SELECT id FROM domains WHERE name = '%s');\n",
				s.operator.Name, z.Name)
		}
	}
	sql.WriteString("UPDATE domains SET type = 'MASTER';\n")
	return sql.String()
}

// run runs a command in the server's folder, as its user.
func (s *Server) run(ctx context.Context, input, name string, args ...string) error {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Stdin = s.dir, strings.NewReader(input)
	if s.credential != nil {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: s.credential}
	}
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("configuring %s: %s: %w: %s", s.title, name, err, out)
	}
	return nil
}
