package source_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/redis/go-redis/v9"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/child"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/mysql"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/postgres"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/redis"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

// readersOfChildren are those of the child processes of these tests.
func readersOfChildren(o child.Options) map[mapping.Provider]port.Rows {
	c := store.Config{Timeout: o.Timeout}
	return map[mapping.Provider]port.Rows{mapping.Postgres: postgres.New(c), mapping.MySQL: mysql.New(c), mapping.Redis: redis.New(c)}
}

// tokenServer is a real server whose user has a token of the operator for a password, as RDS and ElastiCache have it.
type tokenServer struct {
	query mapping.Query
	// takes makes the user's password.
	takes func(t *testing.T, password string)
}

// tokenServers start the servers, which speak TLS with a certificate.
var tokenServers = map[mapping.Provider]func(t *testing.T, signer authority) tokenServer{
	mapping.Postgres: func(t *testing.T, signer authority) tokenServer {
		t.Helper()
		table := usualTable(t, mapping.Postgres)
		return sqlTokenServer(t, table, func(address string) string { return inFrontOf(t, address, signer.server(t), true) }, "ALTER ROLE %s PASSWORD '%s'")
	},
	mapping.MySQL: func(t *testing.T, signer authority) tokenServer {
		t.Helper()
		certificate, key := signer.files(t)
		engine, err := database.Start(t.Context(), mapping.MySQL, database.Options{Arguments: []string{"--ssl-cert=" + certificate, "--ssl-key=" + key}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = engine.Stop() })
		return sqlTokenServer(t, tableOf(t, engine), func(address string) string { return address }, "ALTER USER %s@127.0.0.1 IDENTIFIED BY '%s'")
	},
	mapping.Redis: func(t *testing.T, signer authority) tokenServer {
		t.Helper()
		owner, err := sdk.ParseURL(database.Shared(t, mapping.Redis).Owner())
		if err != nil {
			t.Fatal(err)
		}
		client := sdk.NewClient(owner)
		t.Cleanup(func() { _ = client.Close() })
		if err := client.HSet(t.Context(), "customer:a", "name", "a", "domain", "a.example.com").Err(); err != nil {
			t.Fatal(err)
		}
		return tokenServer{
			mapping.Query{
				Redis: mapping.RedisQuery{KeyPattern: "customer:*"},
				Login: &mapping.Login{Host: inFrontOf(t, owner.Addr, signer.server(t), false), User: "tenant-source", Cache: "shop"},
			},
			func(t *testing.T, password string) {
				t.Helper()
				command := []any{"ACL", "SETUSER", "tenant-source", "on", "resetpass", ">" + password, "~customer:*", "+@read", "+@connection", "+info", "+role"}
				if err := client.Do(t.Context(), command...).Err(); err != nil {
					t.Fatal(err)
				}
			},
		}
	},
}

// sqlTokenServer has the user of a table log in with tokens. The statement gives it a password.
func sqlTokenServer(t *testing.T, table *database.Table, secured func(address string) string, statement string) tokenServer {
	t.Helper()
	q := table.Query()
	text := q.Connection.Reveal()
	if !strings.Contains(text, "://") { // MySQL's own form
		text = "mysql://" + strings.NewReplacer("tcp(", "", ")", "").Replace(text)
	}
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	q.Connection = mapping.Secret{}
	q.Login = &mapping.Login{Host: secured(u.Host), User: u.User.Username(), Database: strings.TrimPrefix(u.Path, "/")}
	return tokenServer{q, func(t *testing.T, password string) {
		t.Helper()
		if err := table.Exec(t.Context(), fmt.Sprintf(statement, q.Login.User, password)); err != nil {
			t.Fatal(err)
		}
	}}
}

// counting reads the table of a server, and returns the number of rows.
func (g tokenServer) counting(ctx context.Context, rows port.Rows) (int, error) {
	var sink counted
	err := rows.Read(ctx, g.query, &sink)
	return sink.rows, err
}

// Each read logs in with a token of its own, made at that time.
func TestLoginWithIAM(t *testing.T) {
	signer := newAuthority(t)
	trusted := filepath.Join(t.TempDir(), "authorities.pem")
	write(t, trusted, signer.pem)
	t.Setenv("SSL_CERT_FILE", trusted)
	for provider, start := range tokenServers {
		t.Run(string(provider), func(t *testing.T) {
			now := clocktesting.NewFakePassiveClock(time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC))
			tokens := aws.Tokens{
				SDK:   awssdk.Config{Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "secretcanary", "sessioncanary")},
				Clock: now,
			}
			rows := child.New(provider, child.Options{Timeout: time.Minute, Memory: 64 << 20, Tokens: tokens})
			g := start(t, signer)
			// The server takes the token of the present alone. A token of 16 minutes ago has expired.
			for range 3 {
				token, err := tokens.Token(t.Context(), *g.query.Login, "shop")
				if err != nil {
					t.Fatal(err)
				}
				g.takes(t, token)
				if n, err := g.counting(t.Context(), rows); n != 1 || err != nil {
					t.Fatalf("read %d rows (%v), want 1", n, err)
				}
				now.SetTime(now.Now().Add(16 * time.Minute))
			}
			_, err := g.counting(t.Context(), rows)
			checkRefusedToken(t, err, provider)

			strange := start(t, newAuthority(t))
			_, err = strange.counting(t.Context(), rows)
			if err == nil || !strings.Contains(err.Error(), "certificate is not trusted") {
				t.Errorf("the token went to a server that nobody vouches for: %v", err)
			}
		})
	}
}

// checkRefusedToken wants advice, and no word of the token.
func checkRefusedToken(t *testing.T, err error, provider mapping.Provider) {
	t.Helper()
	action := "rds-db:connect"
	if provider == mapping.Redis {
		action = "elasticache:Connect"
	}
	if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "does not accept the IAM token") || !strings.Contains(err.Error(), action) {
		t.Errorf("the server has refused the token: %v", err)
	}
	for _, piece := range []string{"canary;", "sessioncanary", "X-Amz", "AKIDEXAMPLE"} {
		if strings.Contains(fmt.Sprintf("%+v", err), piece) {
			t.Errorf("the failure tells of the token: %v", err)
		}
	}
}

// A server without TLS never sees the token.
func TestNoTokenWithoutTLS(t *testing.T) {
	tokens := aws.Tokens{
		SDK:   awssdk.Config{Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "secret", "")},
		Clock: clocktesting.NewFakePassiveClock(time.Now()),
	}
	for _, provider := range []mapping.Provider{mapping.Postgres, mapping.MySQL, mapping.Redis} {
		t.Run(string(provider), func(t *testing.T) {
			connection := usualTable(t, provider).Query().Connection.Reveal()
			wire := tapped(t, regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(connection))
			q := mapping.Query{
				SQL: mapping.SQLQuery{Query: "SELECT 1"}, Redis: mapping.RedisQuery{KeyPattern: "*"},
				Login: &mapping.Login{Host: wire.address, User: "u", Database: "d"},
			}
			if provider == mapping.Redis {
				q.Login = &mapping.Login{Host: wire.address, User: "u", Cache: "shop"}
			}
			err := child.New(provider, child.Options{Timeout: time.Minute, Memory: 64 << 20, Tokens: tokens}).Read(t.Context(), q, &counted{})
			if said := wire.said(); err == nil || strings.Contains(said, "X-Amz") {
				t.Errorf("the server was told %q, and the read ended with %v", said, err)
			}
		})
	}
}

// tap forwards to a server, and keeps what it is told.
type tap struct {
	address string
	mu      sync.Mutex
	heard   []byte
}

func tapped(t *testing.T, server string) *tap {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	heard := &tap{address: listener.Addr().String()}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = client.Close() }()
				forward(t.Context(), tee{client, heard}, server)
			}()
		}
	}()
	return heard
}

func (h *tap) said() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.heard)
}

// tee is a connection of which everything that is read is kept.
type tee struct {
	net.Conn
	heard *tap
}

func (c tee) Read(into []byte) (int, error) {
	n, err := c.Conn.Read(into)
	c.heard.mu.Lock()
	defer c.heard.mu.Unlock()
	c.heard.heard = append(c.heard.heard, into[:n]...)
	return n, err
}
