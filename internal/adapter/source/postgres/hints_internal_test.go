package postgres

import (
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
)

// muteServer logs in every client, and then takes what it is sent without an answer, as a pooler without a free
// connection does.
func muteServer(_ context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	go func() {
		backend := pgproto3.NewBackend(server, server)
		if _, err := backend.ReceiveStartupMessage(); err != nil {
			return
		}
		backend.Send(&pgproto3.AuthenticationOk{})
		backend.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		for err := backend.Flush(); err == nil; {
			_, err = backend.Receive()
		}
	}()
	return client, nil
}

func TestAListenerWhoseServerDoesNotAnswerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, err := parse("postgres://u@db.example.com/d?sslmode=disable")
		if err != nil {
			t.Fatal(err)
		}
		srv.config.OnNotification = func(*pgconn.PgConn, *pgconn.Notification) {}
		s := New(store.Config{}).Session(t.Context(), srv)
		s.Dial = muteServer
		if err := s.Connect(); err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		began := time.Now()
		err = listen(s, "customers")
		if took := time.Since(began); err == nil || !strings.Contains(err.Error(), "db.example.com:5432: no response within the time limit") || took != 10*time.Second {
			t.Errorf("after %s: %v", took, err)
		}
	})
}
