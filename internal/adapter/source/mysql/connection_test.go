package mysql

import (
	"strings"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

const canary = "c4n4ry"

func TestConnectionStrings(t *testing.T) {
	for name, tt := range map[string]struct{ text, address, user, password, database, tls string }{
		"a DSN":                          {"u:p@tcp(h:3307)/d", "h:3307", "u", "p", "d", "false"},
		"a DSN without a port":           {"u:p@tcp(db.example.com)/d?parseTime=true&loc=Local", "db.example.com:3306", "u", "p", "d", "false"},
		"a DSN with an odd password":     {"u:p@:/?(x@tcp(h)/d?tls=true", "h:3306", "u", "p@:/?(x", "d", "true"},
		"a DSN with an IPv6 address":     {"u:p@tcp([::1]:3307)/d", "[::1]:3307", "u", "p", "d", "false"},
		"a DSN that switches things off": {"u:p@tcp(h)/d?multiStatements=false&allowAllFiles=0", "h:3306", "u", "p", "d", "false"},
		"a URL":                          {"mysql://u:p@h:3307/d?tls=skip-verify", "h:3307", "u", "p", "d", "skip-verify"},
		"a URL of MariaDB":               {"mariadb://u:p%40%2F@h/d", "h:3306", "u", "p@/", "d", "false"},
		"a URL with the words of others": {"mysql://u:p@h/d?ssl-mode=REQUIRED", "h:3306", "u", "p", "d", "skip-verify"},
		"a URL with all of TLS":          {"mysql://u:p@h/d?ssl-mode=VERIFY_IDENTITY", "h:3306", "u", "p", "d", "true"},
		"a DSN that looks like a URL":    {"u://p@tcp(h)/d", "h:3306", "u", "//p", "d", "false"},
		"clear text to a known server":   {"u:p@tcp(h)/d?allowCleartextPasswords=true&tls=true", "h:3306", "u", "p", "d", "true"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parse(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			c := got.config
			if c.Addr != tt.address || c.User != tt.user || c.Passwd != tt.password || c.DBName != tt.database || c.TLSConfig != tt.tls {
				t.Errorf("got %s %q %q %q, TLS %s", c.Addr, c.User, c.Passwd, c.DBName, c.TLSConfig)
			}
			expectHarmless(t, got)
		})
	}
}

func expectHarmless(t *testing.T, got *server) {
	t.Helper()
	c := got.config
	if c.Net != "tcp" || strings.ContainsAny(c.Addr, "/@") || c.AllowAllFiles || c.MultiStatements || c.AllowOldPasswords || c.InterpolateParams ||
		c.AllowFallbackToPlaintext || c.ServerPubKey != "" || len(c.Params) > 0 || c.User == "" {
		t.Errorf("got %+v", c)
	}
	if c.AllowCleartextPasswords && c.TLSConfig != "true" {
		t.Error("the password is sent to any server that answers")
	}
	switch c.TLSConfig {
	case "true", "false", "preferred", "skip-verify":
	default:
		t.Errorf("TLS is %q", c.TLSConfig)
	}
}

func TestConnectionStringsThatAreRefused(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"nothing":                          {"", "slash"},
		"no user":                          {"tcp(h)/d", "no user"},
		"no database":                      {"u:c4n4ry@tcp(h)/", "no database"},
		"no host":                          {"u:c4n4ry@tcp()/d", "no host"},
		"no address":                       {"u:c4n4ry@/d", "tcp(host:port)"},
		"a socket":                         {"u:c4n4ry@unix(/c4n4ry)/d", "tcp(host:port)"},
		"a socket behind tcp":              {"u:c4n4ry@tcp(/c4n4ry)/d", "no host"},
		"a socket in a URL":                {"mysql://u:c4n4ry@%2Fc4n4ry/d", "socket"},
		"a network of the process":         {"u:c4n4ry@c4n4ry(h)/d", "tcp(host:port)"},
		"files of the operator":            {"u@tcp(h)/d?allowAllFiles=true", "allowAllFiles"},
		"files of the operator in a URL":   {"mysql://u@h/d?allowAllFiles=true", "allowAllFiles"},
		"files of the operator, encoded":   {"mysql://u@h/d?allow%41llFiles=t", "allowAllFiles"},
		"several statements":               {"u@tcp(h)/d?multiStatements=true", "multiStatements"},
		"old passwords":                    {"u@tcp(h)/d?allowOldPasswords=1", "allowOldPasswords"},
		"a key of the process":             {"u@tcp(h)/d?serverPubKey=c4n4ry", "serverPubKey"},
		"TLS of the process":               {"u@tcp(h)/d?tls=c4n4ry", "tls"},
		"clear text to an unknown server":  {"u@tcp(h)/d?allowCleartextPasswords=true", "allowCleartextPasswords"},
		"clear text to an unverified host": {"u@tcp(h)/d?allowCleartextPasswords=true&tls=skip-verify", "allowCleartextPasswords"},
		"a variable of the server":         {"u@tcp(h)/d?c4n4ry=1", "unknown parameter"},
		"a parameter the driver panics at": {"u@tcp(h)/d?strict=true", "unknown parameter"},
		"several hosts":                    {"mysql://u@a,b/d", "several hosts"},
		"a port that is none":              {"mysql://u@h:c4n4ry/d", "port"},
		"a wrong encoding":                 {"mysql://u:c4n4ry%zz@h/d", "percent-encoding"},
		"a parameter without a value":      {"u@tcp(h)/d?c4n4ry", "without a value"},
		"a NUL":                            {"u@tcp(h)/d%00", "NUL"},
		"another URL":                      {"postgres://u:c4n4ry@h/d?sslmode=disable", "a scheme other than mysql://"},
		"another URL, as Java writes it":   {"jdbc:mysql://h:3306/d?user=u&password=c4n4ry", "a scheme other than mysql://"},
		"the word of Java for TLS":         {"mysql://u:c4n4ry@h/d?useSSL=true", "the unknown parameter useSSL: use tls=true"},
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

// Whatever is in a connection string: it is refused without a word of it, or leads to a server on the network.
func FuzzConnectionString(f *testing.F) {
	for _, seed := range []string{
		"u:p@tcp(h:1)/d?tls=true", "u@unix(/tmp/x)/d", "mysql://u:p@h/d?ssl-mode=REQUIRED", "u@tcp(h)/d?strict=1", "u@tcp(@x)/d",
		"u:p@tcp([::1])/d%2F?allowAllFiles=1", "mysql://u@%2Ftmp/d", "u@tcp(h)/d?allowCleartextPasswords=1&tls=1", "u@tcp(h?x)/d",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parse(text)
		if err != nil {
			expectRefusal(t, err)
			return
		}
		expectHarmless(t, got)
	})
}

func TestOnlyReads(t *testing.T) {
	for query, want := range map[string]bool{
		"SELECT 1":                           true,
		"  select(1)":                        true,
		"(SELECT 1) UNION (SELECT 2)":        true,
		"WITH a AS (SELECT 1) SELECT 1":      true,
		"/* why */ -- really\n# yes\nSELECT": true,
		"VALUES (1)":                         true,
		"TABLE t":                            true,
		"":                                   false,
		"CALL p()":                           false,
		"SELECTED":                           false,
		"BEGIN NOT ATOMIC COMMIT; END":       false,
		"EXECUTE IMMEDIATE 'COMMIT'":         false,
		"/*! CALL p() */":                    false,
		"/*M!100000 CALL p() */":             false,
		"/* a */ /*!50000 CALL p() */":       false,
		"/* SELECT":                          false,
		"--CALL":                             false,
		"SHOW TABLES":                        false,
		"DELETE FROM t":                      false,
		"SET autocommit = 1":                 false,
		"-- SELECT":                          false,
	} {
		err := onlyReads(query)
		if (err == nil) != want || err != nil && (!fault.Is(err, fault.Invalid) || fault.CodeOf(err) != mapping.CodeQuery) {
			t.Errorf("%q: %v", query, err)
		}
	}
}

func TestLimit(t *testing.T) {
	for version, want := range map[string]string{
		"8.0.36":                           "SET SESSION max_execution_time = 1500",
		"10.11.6-MariaDB-0+deb12u1":        "SET SESSION max_statement_time = 1.500",
		"5.5.5-10.5.8-mariadb":             "SET SESSION max_statement_time = 1.500",
		"8.0.11-TiDB-v7.5.0":               "SET SESSION max_execution_time = 1500",
		"8.0.mysql_aurora.3.04.0 (8.0.28)": "SET SESSION max_execution_time = 1500",
	} {
		if got := limit(version, 1500); got != want {
			t.Errorf("%s: %s", version, got)
		}
	}
}

func TestLag(t *testing.T) {
	for name, tt := range map[string]struct {
		channel map[string]string
		want    string
	}{
		"MySQL 8.4 that follows": {
			map[string]string{"Replica_IO_Running": "Yes", "Replica_SQL_Running": "Yes", "Seconds_Behind_Source": "2"}, "",
		},
		"MariaDB that follows": {
			map[string]string{"Slave_IO_Running": "Yes", "Slave_SQL_Running": "Yes", "Seconds_Behind_Master": "60"}, "",
		},
		"one that is far behind": {
			map[string]string{"Slave_IO_Running": "Yes", "Slave_SQL_Running": "Yes", "Seconds_Behind_Master": "61"}, "is more than 1m0s behind its primary",
		},
		"one that looks for its primary": {
			map[string]string{"Replica_IO_Running": "Connecting", "Replica_SQL_Running": "Yes"}, "receives no data from its primary",
		},
		"one that stumbled": {
			map[string]string{"Replica_IO_Running": "Yes", "Replica_SQL_Running": "No"}, "does not apply the data that it receives from its primary",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := lag(tt.channel); got != tt.want {
				t.Errorf("got %q", got)
			}
		})
	}
}
