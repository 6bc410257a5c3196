package postgres

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/sqldb"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// lookEvery is how often a silent connection is asked whether it still listens.
const lookEvery = 30 * time.Second

// rdsProxy are endpoints of RDS Proxy. It pins a session that listens, so that the session looks as if it were one with the
// server, but users report that notifications do not arrive.
var rdsProxy = regexp.MustCompile(`\.proxy-[a-z0-9]+\.[a-z0-9-]+\.rds\.amazonaws\.com(\.cn)?:\d+$`)

var _ port.Hints = (*Rows)(nil)

// Listen implements port.Hints with LISTEN. The payload of a notification is the key of a row; without one, any row may have
// changed.
func (r *Rows) Listen(ctx context.Context, q mapping.Query, sink port.HintSink) error {
	srv, err := parse(q.Connection.Reveal())
	if err != nil {
		return err
	}
	if q.Watch == nil || q.Watch.Channel == "" {
		return sqldb.NotSent("there is no channel to listen to: set spec.watch.channel")
	}
	if slices.ContainsFunc(srv.endpoints, rdsProxy.MatchString) {
		return sqldb.NotSent("notifications do not arrive through RDS Proxy: connect to the endpoint of the server itself; without spec.watch, polls find the changes")
	}
	hinter := store.NewHinter(sink)
	defer hinter.Close()
	srv.config.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) {
		switch {
		case n.Channel != q.Watch.Channel:
		case n.Payload == "":
			hinter.Add()
		default:
			hinter.Add(n.Payload)
		}
	}
	s := r.Session(ctx, srv)
	defer s.Close()
	if err := s.Connect(); err != nil {
		return err
	}
	if err := listen(s, q.Watch.Channel); err != nil {
		return err
	}
	sink.Ready()
	for {
		if err := srv.wait(ctx); err != nil {
			return s.Fault(err)
		}
		if err := s.Soon(checkListening(q.Watch.Channel)); err != nil {
			return err
		}
	}
}

// listen has the connection listen. A pooler without a free connection to the server may not answer for as long as it likes.
func listen(s *sqldb.Session, channel string) error {
	if err := s.Soon(func(s *sqldb.Session) error { return s.Exec("LISTEN " + identifier(channel)) }); err != nil {
		return err
	}
	return s.Soon(checkListening(channel))
}

// checkListening fails where the connection does not listen to the channel: a pooler may have given it to another
// client.
func checkListening(channel string) func(*sqldb.Session) error {
	return func(s *sqldb.Session) error {
		channels, err := s.Ask("SELECT name FROM pg_catalog.pg_listening_channels() AS name")
		if err == nil && !slices.ContainsFunc(channels, func(row map[string]string) bool { return row["name"] == channel }) {
			return sqldb.Refused("the connection does not keep listening, as with a pooler that shares connections between transactions: connect to the server itself")
		}
		return err
	}
}

// wait takes notifications until the connection was silent for a while.
func (srv *server) wait(ctx context.Context) error {
	for {
		silence, cancel := context.WithTimeout(ctx, lookEvery)
		err := srv.conn.WaitForNotification(silence)
		silent := silence.Err() != nil && ctx.Err() == nil
		cancel()
		switch {
		case err != nil && silent && !srv.conn.IsClosed():
			return nil
		case err != nil:
			return err
		}
	}
}

// identifier quotes a name as it is, with its capitals.
func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
