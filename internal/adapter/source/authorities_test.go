package source_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/child"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

func TestMain(m *testing.M) {
	child.Serve(readersOfChildren)
	os.Exit(database.RunTests(m))
}

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return authority{certificate, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})}
}

// server makes a certificate for this machine.
func (a authority) server(t *testing.T) tls.Certificate {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	raw, err := x509.CreateCertificate(rand.Reader, template, a.certificate, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: a.key}
}

// files are a certificate for this machine and its key, in files that everyone may read.
func (a authority) files(t *testing.T) (certificate, key string) {
	t.Helper()
	made := a.server(t)
	raw, err := x509.MarshalECPrivateKey(a.key)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "certificate-") //nolint:usetesting // the server runs as another user, who may not look into the folder of a test
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"tls.crt": {Type: "CERTIFICATE", Bytes: made.Certificate[0]}, "tls.key": {Type: "EC PRIVATE KEY", Bytes: raw}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
}

// inFrontOf speaks TLS for a database that does not, and returns where. PostgreSQL is asked for TLS in the clear first.
func inFrontOf(t *testing.T, database string, certificate tls.Certificate, asked bool) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = client.Close() }()
				if asked {
					if _, err := io.ReadFull(client, make([]byte, 8)); err != nil {
						return
					}
					if _, err := client.Write([]byte("S")); err != nil {
						return
					}
				}
				forward(t.Context(), tls.Server(client, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}), database)
			}()
		}
	}()
	return listener.Addr().String()
}

func forward(ctx context.Context, client net.Conn, address string) {
	server, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	_, _ = io.Copy(client, server)
}

// secured are connection strings that insist on TLS and on the server's name.
var secured = map[mapping.Provider]func(*url.URL){
	mapping.Postgres: func(u *url.URL) { u.RawQuery = "sslmode=verify-full" },
	mapping.MongoDB: func(u *url.URL) {
		q := u.Query()
		q.Set("tls", "true")
		u.RawQuery = q.Encode()
	},
	mapping.Redis: func(u *url.URL) { u.Scheme = "rediss" },
}

// asProcess is what a process of its own is told, as a process reads the system's authorities only once.
const asProcess = "TEST_READ_WITH_AUTHORITIES"

type order struct {
	Provider   mapping.Provider
	Connection string
	SQL        mapping.SQLQuery
	MongoDB    mapping.MongoDBQuery
	Redis      mapping.RedisQuery
}

// The operator trusts the system's authorities and those that the chart mounts, as caBundle says. The folder looks as
// a volume does: names are links to links.
func TestAuthoritiesOfTheChart(t *testing.T) {
	if text := os.Getenv(asProcess); text != "" {
		readAsOrdered(t, text)
		return
	}
	system, mounted, strange := newAuthority(t), newAuthority(t), newAuthority(t)
	systemDir, volume := t.TempDir(), t.TempDir()
	write(t, filepath.Join(systemDir, "ca-certificates.crt"), system.pem)
	if err := os.Mkdir(filepath.Join(volume, "..2026_01_01"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(volume, "..2026_01_01", "global-bundle.pem"), mounted.pem)
	for link, to := range map[string]string{"..data": "..2026_01_01", "global-bundle.pem": "..data/global-bundle.pem"} {
		if err := os.Symlink(to, filepath.Join(volume, link)); err != nil {
			t.Fatal(err)
		}
	}
	for provider, secure := range secured {
		table := usualTable(t, provider)
		for name, tt := range map[string]struct {
			signer authority
			want   string
		}{
			"one that is mounted": {mounted, "1 rows, error <nil>"},
			"one of the system":   {system, "1 rows, error <nil>"},
			"an unknown one":      {strange, "make the operator trust its CA (chart value caBundle)"},
		} {
			t.Run(string(provider)+" with "+name, func(t *testing.T) {
				q := table.Query()
				connection, err := url.Parse(q.Connection.Reveal())
				if err != nil {
					t.Fatal(err)
				}
				connection.Host = inFrontOf(t, connection.Host, tt.signer.server(t), provider == mapping.Postgres)
				secure(connection)
				text, err := json.Marshal(order{provider, connection.String(), q.SQL, q.MongoDB, q.Redis})
				if err != nil {
					t.Fatal(err)
				}
				child := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^TestAuthoritiesOfTheChart$")
				child.Env = []string{asProcess + "=" + string(text), "SSL_CERT_DIR=" + systemDir + ":" + volume, "HOME=" + t.TempDir()}
				if out, err := child.CombinedOutput(); !strings.Contains(string(out), tt.want) {
					t.Errorf("want %q (%v):\n%s", tt.want, err, out)
				}
			})
		}
	}
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func usualTable(t *testing.T, provider mapping.Provider) *database.Table {
	t.Helper()
	return tableOf(t, database.Shared(t, provider))
}

// tableOf is a table with one row.
func tableOf(t *testing.T, engine *database.Engine) *database.Table {
	t.Helper()
	table, err := engine.NewTable(t.Context(), database.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := table.Put(t.Context(), map[string]any{"name": "a", "domain": "a.example.com"}); err != nil {
		t.Fatal(err)
	}
	return table
}

// counted counts rows.
type counted struct{ rows int }

func (*counted) Columns([]mapping.Column) error { return nil }

func (c *counted) Row(mapping.Row) error {
	c.rows++
	return nil
}

func readAsOrdered(t *testing.T, text string) {
	t.Helper()
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	var sink counted
	err := forms()[strings.ToLower(string(o.Provider))].rows.Read(t.Context(), mapping.Query{
		Connection: mapping.NewSecret(o.Connection), SQL: o.SQL, MongoDB: o.MongoDB, Redis: o.Redis,
	}, &sink)
	t.Logf("%d rows, error %v", sink.rows, err)
}
