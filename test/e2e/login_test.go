package e2e_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// A source without any Secret reads and writes with tokens of the operator's identity, once its grant has the logins.
func TestASourceThatLogsInWithIAM(t *testing.T) {
	t.Parallel()
	s := newStateScene(t, mapping.Postgres, few)
	rds := newRDS(t, s.AWS.Env(), s.table, s.states.Table)
	grant := func(logins ...string) string {
		return fmt.Sprintf(`{"hosts": ["127.0.0.1"], "writeTables": ["*"], "logins": ["%s"]}`, strings.Join(logins, `", "`))
	}
	s.op = s.operator(stack.OperatorOptions{
		Flags: []string{"--controllers=tenantsource", "--cluster-id=" + stateCluster, "--cluster-check=false", "--grants=Enforce", stateGrant(`{"hosts": ["*"], "writeTables": ["*"]}`)},
		Env:   map[string]string{"SSL_CERT_FILE": rds.authority},
	})
	s.follow(func(o *v1alpha1.TenantSource) {
		o.Spec.Postgres.ConnectionSecretRef, o.Spec.Postgres.IAM = nil, rds.login(s.table)
		o.Spec.WriteBack.ConnectionSecretRef, o.Spec.WriteBack.IAM = nil, rds.login(s.states.Table)
	})
	s.sourceReaches("False/NotGranted")
	s.says("spec.postgres.iam", "does not allow the login "+rds.named(s.table))
	s.grant(grant(rds.named(s.table)))
	s.sourceReaches("False/NotGranted")
	s.says("spec.writeBack.iam", "does not allow the login "+rds.named(s.states.Table))
	if n := rds.asked.Load(); n != 0 {
		t.Errorf("%d tokens were sent without a grant", n)
	}

	s.grant(grant(rds.named(s.table), rds.named(s.states.Table)))
	s.sourceReaches("True/PollSucceeded")
	s.follows(few)
	s.become("first", s.tenants()...)
	s.settles()
	s.has(few)

	rds.denies.Store(true)
	s.sourceReaches("False/SourceError")
	s.says("does not accept the IAM token of "+rds.user(s.table), "GRANT rds_iam", "allows rds-db:connect")
	rds.denies.Store(false)
	s.sourceReaches("True/PollSucceeded")
	s.follows(few)
	if log, err := s.op.Log(); err != nil || strings.Contains(log, "X-Amz-") {
		t.Errorf("the log tells of tokens (%v)", err)
	}
}

// says waits until the message of Ready has all these words, and wants nothing of a token in it.
func (s *scene) says(words ...string) {
	s.t.Helper()
	s.eventually(func(g gomega.Gomega) {
		c := meta.FindStatusCondition(s.getSource().Status.Conditions, v1alpha1.ConditionReady)
		for _, word := range words {
			g.Expect(c.Message).To(gomega.ContainSubstring(word))
		}
		g.Expect(c.Message).NotTo(gomega.ContainSubstring("X-Amz"))
	})
}

// rds is PostgreSQL as RDS has it: it takes TLS only, asks for the password as plain text, and checks that it is a token which
// the identity of the operator has signed for this server and user within the last 15 minutes.
type rds struct {
	address, authority string
	certificate        tls.Certificate
	credentials        awssdk.Credentials
	// real are the connection strings of users.
	real map[string]string
	// asked is how often a password was looked at. denies is set while IAM does not allow the connection.
	asked  atomic.Int64
	denies atomic.Bool
}

const region = "eu-west-1"

func newRDS(t *testing.T, environment []string, tables ...*database.Table) *rds {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	r := &rds{address: listener.Addr().String(), real: map[string]string{}}
	for _, entry := range environment {
		switch name, value, _ := strings.Cut(entry, "="); name {
		case "AWS_ACCESS_KEY_ID":
			r.credentials.AccessKeyID = value
		case "AWS_SECRET_ACCESS_KEY":
			r.credentials.SecretAccessKey = value
		}
	}
	for _, table := range tables {
		r.real[r.user(table)] = table.Query().Connection.Reveal()
	}
	r.certify(t)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				_ = r.serve(t.Context(), conn) // the operator tells what went wrong
			}()
		}
	}()
	return r
}

// certify makes a certificate that signs itself.
func (r *rds) certify(t *testing.T) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	r.certificate = tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}
	r.authority = filepath.Join(t.TempDir(), "authority.pem")
	if err := os.WriteFile(r.authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (r *rds) user(table *database.Table) string {
	_, rest, _ := strings.Cut(table.Query().Connection.Reveal(), "://")
	user, _, _ := strings.Cut(rest, ":")
	return user
}

// login is that of the user of a table.
func (r *rds) login(table *database.Table) *v1alpha1.IAMLogin {
	u, err := url.Parse(table.Query().Connection.Reveal())
	if err != nil {
		panic(err)
	}
	return &v1alpha1.IAMLogin{Host: r.address, User: r.user(table), Database: strings.TrimPrefix(u.Path, "/"), Region: region}
}

// named is the login as a grant has it.
func (r *rds) named(table *database.Table) string { return r.user(table) + "@" + r.address }

func (r *rds) serve(ctx context.Context, conn net.Conn) error {
	if _, err := pgproto3.NewBackend(conn, conn).ReceiveStartupMessage(); err != nil { // the request for TLS
		return err
	}
	if _, err := conn.Write([]byte("S")); err != nil {
		return err
	}
	secure := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{r.certificate}, MinVersion: tls.VersionTLS12})
	client := pgproto3.NewBackend(secure, secure)
	user, password, err := introduced(client)
	if err != nil {
		return err
	}
	r.asked.Add(1)
	if err := r.check(ctx, user, password); err != nil {
		client.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "28000", Message: "PAM authentication failed for user " + user})
		return errors.Join(err, client.Flush())
	}
	return r.relay(ctx, client, secure, user)
}

// introduced asks a client for its user and its password.
func introduced(client *pgproto3.Backend) (user, password string, err error) {
	first, err := client.ReceiveStartupMessage()
	if err != nil {
		return "", "", err
	}
	client.Send(&pgproto3.AuthenticationCleartextPassword{})
	if err := errors.Join(client.Flush(), client.SetAuthType(pgproto3.AuthTypeCleartextPassword)); err != nil {
		return "", "", err
	}
	second, err := client.Receive()
	if err != nil {
		return "", "", err
	}
	startup, started := first.(*pgproto3.StartupMessage)
	answer, answered := second.(*pgproto3.PasswordMessage)
	if !started || !answered {
		return "", "", fmt.Errorf("the client sends %T and %T", first, second)
	}
	return startup.Parameters["user"], answer.Password, nil
}

// check signs the request of a token again.
func (r *rds) check(ctx context.Context, user, token string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+token, http.NoBody)
	if err != nil {
		return err
	}
	q := request.URL.Query()
	made, err := time.Parse("20060102T150405Z", q.Get("X-Amz-Date"))
	if age := time.Since(made); err != nil || r.denies.Load() || age > 15*time.Minute || age < -time.Minute {
		return fmt.Errorf("a token of %s ago: %w", age, err)
	}
	wanted := url.Values{"Action": {"connect"}, "DBUser": {user}, "X-Amz-Expires": {"900"}}
	request.URL.Host, request.Host, request.URL.RawQuery = r.address, r.address, wanted.Encode()
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	signed, _, err := v4.NewSigner().PresignHTTP(ctx, r.credentials, request, empty, "rds-db", region, made)
	if err != nil || signed != "https://"+token {
		return fmt.Errorf("the token is not one for %s at %s: %w", user, r.address, err)
	}
	return nil
}

// relay lets a client talk to the server itself, as the user that has a password there.
func (r *rds) relay(ctx context.Context, client *pgproto3.Backend, secure net.Conn, user string) error {
	connection, err := pgconn.Connect(ctx, r.real[user])
	if err != nil {
		return err
	}
	server, err := connection.Hijack()
	if err != nil {
		return err
	}
	defer func() { _ = server.Conn.Close() }()
	client.Send(&pgproto3.AuthenticationOk{})
	for name, value := range server.ParameterStatuses {
		client.Send(&pgproto3.ParameterStatus{Name: name, Value: value})
	}
	client.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	if err := client.Flush(); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(server.Conn, secure)
		_ = server.Conn.Close()
	}()
	_, err = io.Copy(secure, server.Conn)
	return err
}
