package postgres

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/sqlrows"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// lookEvery is how often a silent connection is asked whether it still listens.
const lookEvery = 30 * time.Second

var _ port.Hints = (*Rows)(nil)

// Listen implements port.Hints with LISTEN. The payload of a notification is the key of a row; without one, any row may have
// changed.
func (r *Rows) Listen(ctx context.Context, q mapping.Query, sink port.HintSink) error {
	target, err := parse(q.Connection.Reveal())
	if err != nil {
		return err
	}
	if q.Watch == nil || q.Watch.Channel == "" {
		return sqlrows.NotSent("there is no channel to listen to: set spec.watch.channel")
	}
	hinter := store.NewHinter(sink)
	defer hinter.Close()
	target.config.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) {
		switch {
		case n.Channel != q.Watch.Channel:
		case n.Payload == "":
			hinter.Add()
		default:
			hinter.Add(n.Payload)
		}
	}
	s := &session{ctx: ctx, caller: ctx, target: target, timeout: r.timeout, wires: wires{guard: r.guard}, listening: true}
	defer s.close()
	if err := s.connect(); err != nil {
		return err
	}
	if err := s.listen(q.Watch.Channel); err != nil {
		return err
	}
	if err := s.listens(q.Watch.Channel); err != nil {
		return err
	}
	sink.Ready()
	for {
		if err := s.wait(); err != nil {
			return err
		}
		if err := s.listens(q.Watch.Channel); err != nil {
			return err
		}
	}
}

// listen has the connection listen. A pooler without a free connection to the server may not answer for as long as it likes.
func (s *session) listen(channel string) error {
	ctx, cancel := context.WithTimeout(s.ctx, sqlrows.ConnectTimeout)
	defer cancel()
	if _, err := s.conn.Exec(ctx, "LISTEN "+identifier(channel)).ReadAll(); err != nil {
		return s.queryFault(err, noTime)
	}
	return nil
}

// wait takes notifications until the connection was silent for a while.
func (s *session) wait() error {
	for {
		ctx, cancel := context.WithTimeout(s.ctx, lookEvery)
		err := s.conn.WaitForNotification(ctx)
		silent := ctx.Err() != nil && s.ctx.Err() == nil
		cancel()
		switch {
		case err != nil && silent && !s.conn.IsClosed():
			return nil
		case err != nil:
			return s.queryFault(err, noTime)
		}
	}
}

// listens fails where the connection does not listen to the channel: a pooler may have given it to another client.
func (s *session) listens(channel string) error {
	ctx, cancel := context.WithTimeout(s.ctx, sqlrows.ConnectTimeout)
	defer cancel()
	result := s.conn.ExecParams(ctx, "SELECT FROM pg_catalog.pg_listening_channels() AS c WHERE c = $1", [][]byte{[]byte(channel)}, nil, nil, nil).Read()
	switch {
	case result.Err != nil:
		return s.queryFault(result.Err, noTime)
	case len(result.Rows) == 0:
		return sqlrows.Refused("the connection does not keep listening, as with a pooler that shares connections between transactions: connect to the server itself")
	}
	return nil
}

// identifier quotes a name as it is, with its capitals.
func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
