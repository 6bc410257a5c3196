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
)

// muteServer logs in whoever connects, and then takes what it is sent without a word, as a pooler does that has no
// connection to give.
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
		target, err := parse("postgres://u@db.example.com/d?sslmode=disable")
		if err != nil {
			t.Fatal(err)
		}
		target.config.DialFunc = muteServer
		target.config.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil }
		s := &session{ctx: t.Context(), caller: t.Context(), target: target, listening: true}
		if s.conn, err = pgconn.ConnectConfig(t.Context(), target.config); err != nil {
			t.Fatal(err)
		}
		defer s.close()
		began := time.Now()
		err = s.listen("customers")
		if took := time.Since(began); err == nil || !strings.Contains(err.Error(), "db.example.com:5432: no response within the time limit") || took != 10*time.Second {
			t.Errorf("after %s: %v", took, err)
		}
	})
}
