package nameserver

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// settings are what every server has in its folder, and nothing that it would find elsewhere.
const settings = `	directory "%[1]s";
	listen-on port %[2]d { 127.0.0.1; };
	listen-on-v6 { none; };
	pid-file none;
	session-keyfile "%[1]s/session.key";
	managed-keys-directory "%[1]s";
	recursion no;
	dnssec-validation no;
	empty-zones-enable no;
	allow-query { any; };
	notify no;
	serial-query-rate 1000;
	transfers-in 100;
	transfers-out 200;
	transfers-per-ns 100;
	max-cache-size 2m;
`

const controls = "controls {};\n"

const keyStatement = `key "%s" { algorithm %s; secret "%s"; };
`

// primaryZone lets the administrator's key do everything, because its statement is the first that matches.
const primaryZone = `zone "%[1]s" {
	type primary;
	file "%[1]s.zone";
	%[4]supdate-policy { grant %[2]s zonesub ANY; %[3]s };
	allow-transfer { %[5]s };
};
`

const secondaryZone = `zone "%[1]s" {
	type secondary;
	file "%[1]s.copy";
	primaries { 127.0.0.1 port %[2]d key "%[3]s"; };
	allow-transfer { key "%[3]s"; };
};
`

// given is the configuration that the options have as a whole, in the server's folder and at its port.
func (s *Server) given() string {
	var own strings.Builder
	for line := range strings.Lines(fmt.Sprintf(settings, s.dir, s.port)) {
		option, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if option == "directory" || !strings.Contains(s.options.Config, "\t"+option+" ") {
			own.WriteString(line)
		}
	}
	directory := regexp.MustCompile(`(?m)^\tdirectory .*\n`)
	return directory.ReplaceAllLiteralString(s.options.Config, own.String()) + controls
}

// configureBIND puts the configuration and the zones into the folder.
func configureBIND(_ context.Context, s *Server) error {
	if s.options.Config != "" {
		return errors.Join(s.putZones(), s.put("named.conf", s.given()))
	}
	var config strings.Builder
	fmt.Fprintf(&config, "options {\n"+settings+"};\n"+controls, s.dir, s.port)
	for _, k := range []Key{s.operator, s.admin} {
		fmt.Fprintf(&config, keyStatement, k.Name, k.Algorithm, k.Secret)
	}
	for _, z := range s.options.Zones {
		if s.primary != nil {
			fmt.Fprintf(&config, secondaryZone, z.Name, s.primary.port, s.admin.Name)
			continue
		}
		policy, signing, transfers := z.Policy, "", fmt.Sprintf("key %q; key %q;", s.admin.Name, s.operator.Name)
		if policy == "" {
			policy = fmt.Sprintf(DefaultPolicy, z.Name)
		}
		if z.Signed {
			signing = "dnssec-policy default;\n\tinline-signing no;\n\t"
		}
		if z.ClosedToTransfers {
			transfers = fmt.Sprintf("key %q;", s.admin.Name)
		}
		fmt.Fprintf(&config, primaryZone, z.Name, s.admin.Name, policy, signing, transfers)
	}
	return errors.Join(s.putZones(), s.put("named.conf", config.String()))
}
