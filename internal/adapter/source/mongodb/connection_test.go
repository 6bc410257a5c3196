package mongodb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// refusedString checks that a connection string is refused as one, without a piece of it.
func refusedString(t *testing.T, err error, says string) {
	t.Helper()
	failure, ok := errors.AsType[*fault.Error](err)
	if !ok || failure.Kind != fault.Invalid || failure.Code != mapping.CodeConnectionString {
		t.Fatalf("got %v", err)
	}
	if !strings.Contains(failure.Message, says) {
		t.Errorf("got %q, want %q in it", failure.Message, says)
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if strings.Contains(fmt.Sprintf("%v %+v", e, e), "canary") {
			t.Errorf("a secret is in %v", e)
		}
	}
}

func TestConnectionStringsThatAreRefused(t *testing.T) {
	const login = "mongodb://canaryuser:canarypassword@host"
	file := filepath.Join(t.TempDir(), "canary.pem")
	if err := os.WriteFile(file, []byte("canary"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ connection, says string }{
		"nothing":                           {"", "does not start with mongodb://"},
		"another scheme":                    {"postgres://canaryuser:canarypassword@host", "does not start with mongodb://"},
		"no host":                           {"mongodb://canaryuser:canarypassword@/", "not accepted by the driver"},
		"a colon in the password":           {"mongodb://canaryuser:canary:password@host/", "percent-encoded"},
		"a file of authorities":             {login + "/?tlsCAFile=" + file, "tlscafile: an unverified server"},
		"the same by its old name":          {login + "/?sslCertificateAuthorityFile=" + file, "sslcertificateauthorityfile"},
		"the same, encoded":                 {login + "/?tls%43AFile=" + file, "tlscafile"},
		"the same behind a semicolon":       {login + "/?tls=true;tlsCAFile=" + file, "tlscafile"},
		"a file with a key":                 {login + "/?tlsCertificateKeyFile=" + file, "refers to a file of the operator"},
		"a file with a certificate":         {login + "/?tlsCertificateFile=" + file, "refers to a file of the operator"},
		"a file with a private key":         {login + "/?tlsPrivateKeyFile=" + file, "refers to a file of the operator"},
		"the operator's identity in AWS":    {login + "/?authMechanism=MONGODB-AWS", "the operator's own identity"},
		"the operator's identity elsewhere": {login + "/?authMechanism=MONGODB-OIDC", "the operator's own identity"},
		"a ticket of Kerberos":              {login + "/?authMechanism=GSSAPI", "the operator's own identity"},
		"a certificate as identity":         {login + "/?authMechanism=MONGODB-X509", "the operator's own identity"},
		"properties of an identity":         {login + "/?authMechanismProperties=ENVIRONMENT:azure", "authmechanismproperties"},
		"a secondary":                       {login + "/?readPreference=secondaryPreferred", "use primary"},
		"a member with tags":                {login + "/?readPreferenceTags=dc:canary", "only the primary"},
		"a read that can be rolled back":    {login + "/?readConcernLevel=local", "use majority"},
		"an unverified certificate":         {login + "/?tlsInsecure=true", "SSL_CERT_FILE"},
		"a proxy":                           {login + "/?proxyHost=canary", "a source must not set"},
		"an unknown option":                 {login + "/?canary=1", "a source must not set"},
		"an option without a value":         {login + "/?canary", "not in the form name=value"},
		"the word of PostgreSQL for TLS":    {login + "/?sslmode=canary", "use tls=true or tls=false"},
		"a value that is none":              {login + "/?tls=canary", "not accepted by the driver"},
		"a socket":                          {"mongodb://canaryuser:canarypassword@%2Ftmp%2Fcanary.sock/", "socket"},
		"a socket among hosts":              {"mongodb://host,%2Ftmp%2Fcanary.sock/", "socket"},
		"a piece of a password":             {"mongodb://canaryuser:p@canary?word=canary", "a source must not set"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseConnection(t.Context(), tt.connection)
			refusedString(t, err, tt.says)
		})
	}
}

func TestConnectionStringsThatAreTaken(t *testing.T) {
	for name, text := range map[string]string{
		"a replica set as services write it": "mongodb://u:p%40ss@a:1,b:2/db?replicaSet=rs0&authSource=admin&retryWrites=true&w=majority&tls=true",
		"the primary and a majority":         "mongodb://a/?readPreference=primary&readConcernLevel=majority&retryReads=true&timeoutMS=1&tlsInsecure=false",
		"a password that is a question":      "mongodb://u:p?w@a/?directConnection=true",
		"spaces around":                      " mongodb://a\n",
	} {
		t.Run(name, func(t *testing.T) {
			c, err := parseConnection(t.Context(), text)
			if err != nil {
				t.Fatal(err)
			}
			o := c.options
			if *o.RetryReads || o.Timeout != nil || o.ReadPreference.Mode().String() != "primary" {
				t.Errorf("the connection string has the last word: %+v", o)
			}
			if strings.Contains(c.hosts, "@") {
				t.Errorf("hosts %q", c.hosts)
			}
		})
	}
}

// The driver asks DNS for mongodb+srv, and knows no context.
func TestNobodyWaitsForDNSInVain(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := parseConnection(ctx, "mongodb+srv://canaryuser:canarypassword@db.example.invalid/")
	if fault.KindOf(err) != fault.Transient || !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "canary") {
		t.Errorf("got %v", err)
	}
}

func FuzzConnectionString(f *testing.F) {
	for _, seed := range []string{
		"mongodb://u:p@h:1/d?tls=true&authSource=admin", "mongodb://%2Fs.sock", "mongodb://h/?tlsCAFile=/etc/passwd", "mongodb://a@b@c/?x=%", "mongodb://h;x/?;=;&",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.HasPrefix(strings.TrimSpace(text), "mongodb+srv") {
			t.Skip("asks DNS")
		}
		c, err := parseConnection(t.Context(), text)
		if err != nil {
			if failure, ok := errors.AsType[*fault.Error](err); !ok || failure.Code != mapping.CodeConnectionString {
				t.Errorf("got %v", err)
			}
			return
		}
		for _, host := range c.options.Hosts {
			if strings.Contains(host, "/") || strings.HasSuffix(host, ".sock") {
				t.Errorf("%q names the socket %s", text, host)
			}
		}
		if auth := c.options.Auth; auth != nil && strings.Contains("MONGODB-AWS MONGODB-OIDC MONGODB-X509 GSSAPI", auth.AuthMechanism) && auth.AuthMechanism != "" {
			t.Errorf("%q uses %s", text, auth.AuthMechanism)
		}
	})
}
