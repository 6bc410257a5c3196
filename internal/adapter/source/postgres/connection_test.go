package postgres

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

const canary = "c4n4ry"

func TestConnectionStrings(t *testing.T) {
	for name, tt := range map[string]struct {
		text                                string
		host, user, password, database, tls string
		port                                uint16
		fallbacks                           int
	}{
		"a URL": {
			text: "postgres://u:p@db.example.com/d?sslmode=disable",
			host: "db.example.com", port: 5432, user: "u", password: "p", database: "d",
		},
		"the other scheme, a port and verified TLS": {
			text: "postgresql://u:p@db.example.com:6432/d?sslmode=verify-full&sslrootcert=system",
			host: "db.example.com", port: 6432, user: "u", password: "p", database: "d", tls: "db.example.com",
		},
		"an encoded password": {
			text: "postgres://u:p%40%2F%3A%3F%27%5C%25@h/d?sslmode=disable",
			host: "h", port: 5432, user: "u", password: `p@/:?'\%`, database: "d",
		},
		"a password with a raw @, which is none of the host": {
			text: "postgres://u:p@ss@h/d?sslmode=disable",
			host: "h", port: 5432, user: "u", password: "p@ss", database: "d",
		},
		"an IPv6 address": {
			text: "postgres://u:p@[::1]:5433/d?sslmode=disable",
			host: "::1", port: 5433, user: "u", password: "p", database: "d",
		},
		"several hosts": {
			text: "postgres://u:p@a:1,b:2/d?target_session_attrs=primary&sslmode=disable",
			host: "a", port: 1, user: "u", password: "p", database: "d", fallbacks: 1,
		},
		"keywords": {
			text: `host=h port=5433 dbname=d user='a b' password='it\'s \\ one' sslmode = disable`,
			host: "h", port: 5433, user: "a b", password: `it's \ one`, database: "d",
		},
		"parameters that are ignored": {
			text: "postgres://u:p@h/d?application_name=x&connect_timeout=600&gssencmode=disable&sslmode=disable",
			host: "h", port: 5432, user: "u", password: "p", database: "d",
		},
		"TLS if there is TLS, by default": {
			text: "postgres://u:p@h/d",
			host: "h", port: 5432, user: "u", password: "p", database: "d", tls: "h", fallbacks: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parse(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			c := got.config
			if c.Host != tt.host || c.Port != tt.port || c.User != tt.user || c.Password != tt.password || c.Database != tt.database ||
				len(c.Fallbacks) != tt.fallbacks {
				t.Errorf("got %s:%d %q %q %q and %d fallbacks", c.Host, c.Port, c.User, c.Password, c.Database, len(c.Fallbacks))
			}
			if name := serverName(c); name != tt.tls {
				t.Errorf("TLS is for %q, want %q", name, tt.tls)
			}
			if c.RuntimeParams["application_name"] != "cloudfront-tenant-operator" || c.ConnectTimeout.Seconds() != 10 {
				t.Errorf("got %v, timeout %s", c.RuntimeParams, c.ConnectTimeout)
			}
		})
	}
}

func serverName(c *pgconn.Config) string {
	if c.TLSConfig == nil {
		return ""
	}
	return c.TLSConfig.ServerName
}

func TestConnectionStringsThatAreRefused(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"nothing":                             {"", "no host"},
		"no host":                             {"user=u dbname=d", "no host"},
		"no user":                             {"host=h dbname=d", "no user"},
		"a socket in the URL's host":          {"postgres://u:c4n4ry@%2Fvar%2Frun/d", "socket"},
		"a socket as a parameter":             {"postgres://u:c4n4ry@/d?host=/var/run/c4n4ry", "socket"},
		"a socket behind a host":              {"host=db,/tmp user=u", "socket"},
		"an abstract socket":                  {"host=@c4n4ry user=u", "socket"},
		"a folder of Windows":                 {`host='C:\\c4n4ry' user=u`, "neither a name nor an address"},
		"an empty host among others":          {"host=a,,b user=u", "no host"},
		"a client certificate":                {"postgres://u@h/d?sslcert=/c4n4ry&sslkey=/c4n4ry", "sslcert"},
		"a key":                               {"host=h user=u sslkey=/c4n4ry", "sslkey"},
		"an authority in a file":              {"postgres://u@h/d?sslrootcert=/c4n4ry", "sslrootcert=system"},
		"an authority in a file, encoded":     {"postgres://u@h/d?sslroot%63ert=%2Fc4n4ry", "sslrootcert=system"},
		"a password file":                     {"host=h user=u passfile=/c4n4ry", "passfile"},
		"a service":                           {"service=c4n4ry user=u host=h", "service"},
		"a service file":                      {"postgres://u@h/d?servicefile=/c4n4ry", "servicefile"},
		"an unknown parameter has no name":    {"postgres://u@h/d?c4n4ry=1", "unknown parameter"},
		"a password with a blank has no text": {"host=h user=u password=a c4n4ry=b", "unknown parameter"},
		"a replication connection":            {"host=h user=u replication=database", "unknown parameter"},
		"a port that is a password":           {"postgres://u:c4n4/ry@h/d", "an @ after the host"},
		"a port that is none":                 {"postgres://u@h:c4n4ry/d", "port"},
		"a host in a password with a blank":   {"host=h user=u password=a host=c4n4ry", "duplicate parameter"},
		"a port out of range":                 {"host=h user=u port=65536", "port"},
		"ports that don't go with the hosts":  {"host=a,b user=u port=1,2,3", "ports"},
		"an unknown mode":                     {"host=h user=u sslmode=c4n4ry", "sslmode"},
		"an open quotation mark":              {"host=h user=u password='c4n4ry", "quotation mark"},
		"no form at all":                      {"c4n4ry", "neither"},
		"another URL":                         {"mysql://u:c4n4ry@h/d", "a scheme other than postgres://"},
		"another URL with a parameter":        {"mysql://u:c4n4ry@h/d?tls=true", "a scheme other than postgres://"},
		"another URL, as Java writes it":      {"jdbc:postgresql://h/d?user=u&password=c4n4ry", "a scheme other than postgres://"},
		"the word of MySQL for TLS":           {"postgres://u:c4n4ry@h/d?tls=true", "the parameter tls, which PostgreSQL does not have: use sslmode=verify-full"},
		"the mode of MySQL":                   {"postgres://u:c4n4ry@h/d?sslmode=VERIFY_IDENTITY", "use sslmode=verify-full"},
		"a wrong encoding":                    {"postgres://u:c4n4ry%zz@h/d", "percent-encoding"},
		"a NUL":                               {"host=h\x00 user=u", "NUL"},
		"a parameter twice":                   {"postgres://u@h/d?sslmode=disable&sslmode=require", "duplicate parameter"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(tt.text)
			expectRefusal(t, err)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want something about %q", err, tt.want)
			}
		})
	}
}

func expectRefusal(t *testing.T, err error) {
	t.Helper()
	refusal, ok := err.(*fault.Error) //nolint:errorlint // nothing may be wrapped around it, or hidden in it
	if !ok || refusal.Kind != fault.Invalid || refusal.Code != mapping.CodeConnectionString || refusal.Err != nil {
		t.Errorf("got %#v", err)
		return
	}
	if strings.Contains(refusal.Error(), canary) {
		t.Errorf("the text tells a piece of the string: %s", refusal)
	}
}

// The operator's own home directory says nothing about the databases of its users. Its environment a reader does not have.
func TestNothingComesFromTheOperatorsHome(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for name, text := range map[string]string{
		".pgpass":                    "*:*:*:*:" + canary,
		".pg_service.conf":           "[" + canary + "]\nhost=" + canary,
		".postgresql/root.crt":       canary,
		".postgresql/postgresql.crt": canary,
		".postgresql/postgresql.key": canary,
		"service":                    "[" + canary + "]\nhost=" + canary + "\npassword=" + canary,
		"pass":                       "*:*:*:*:" + canary,
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := parse("postgres://u@h")
	if err != nil {
		t.Fatal(err)
	}
	c := got.config
	if c.Host != "h" || c.Port != 5432 || c.User != "u" || c.Password != "" || c.Database != "" || c.RequireAuth != "" {
		t.Errorf("got %s:%d %q %q %q", c.Host, c.Port, c.User, c.Password, c.Database)
	}
	if len(c.RuntimeParams) != 1 {
		t.Errorf("got %v", c.RuntimeParams)
	}
	if c.TLSConfig == nil || c.TLSConfig.RootCAs != nil || len(c.TLSConfig.Certificates) != 0 {
		t.Error("TLS is not that of a connection string without a word on TLS")
	}
}

// Whatever is in a connection string: it is refused without a word of it, or leads to servers on the network.
// harmless are the names that a connection string may have, told once more than the code tells them.
var harmless = strings.Fields(`host port user password database sslmode sslrootcert sslnegotiation sslsni channel_binding require_auth
	target_session_attrs min_protocol_version max_protocol_version options search_path application_name fallback_application_name
	client_encoding connect_timeout gssencmode sslcompression sslcertmode tcp_user_timeout timezone datestyle keepalives
	keepalives_idle keepalives_interval keepalives_count`)

func FuzzConnectionString(f *testing.F) {
	for _, seed := range []string{
		"postgres://u:p@h:1,[::1]/d?sslmode=verify-full", "host=h user='a b' password=\\'", "postgres://u@%2Ftmp/d", "host=@x user=u",
		"host='/tmp' user=u", "postgres://u@h/d?sslrootcert=/etc/passwd", "user=u host=h service=x", "postgres://u@h/d?ho%73t=/tmp",
		"host=h user=u sslrootcert=system", "host=h user=u options='-c x=y'", "postgres://?user=u&host=h&port=1,2", "postgres://u:p@h/d%80",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parse(text)
		if err != nil {
			expectRefusal(t, err)
			return
		}
		hosts := []string{got.config.Host}
		for _, fallback := range got.config.Fallbacks {
			hosts = append(hosts, fallback.Host)
		}
		for _, host := range hosts {
			if network, _ := pgconn.NetworkAddress(host, 1); network != "tcp" || strings.ContainsAny(host, `/@\`) || host == "" {
				t.Errorf("%q leads to %q", text, host)
			}
		}
		if got.config.TLSConfig != nil && len(got.config.TLSConfig.Certificates) > 0 || got.config.KerberosSrvName != "" {
			t.Errorf("%q brings credentials of the operator's machine", text)
		}
		settings, err := split(text)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range settings {
			if !slices.Contains(harmless, name) || name == "sslrootcert" && value != "system" {
				t.Errorf("%q lets %s through", text, name)
			}
		}
	})
}
