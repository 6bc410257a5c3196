package mysql

import (
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"fmt"
	"io"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/sqlrows"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

const (
	// lookEvery is the pause between two runs of the query that watches a table.
	lookEvery = time.Second
	// lookTimeout is how long one run may take: a query that takes longer would keep the server busy all the time.
	lookTimeout = 5 * time.Second
	// mostRows is how many rows the query may return.
	mostRows = 1000
)

var _ port.Hints = (*Rows)(nil)

// Listen implements port.Hints with a query whose result changes with the table. Which rows have changed it does not tell.
func (r *Rows) Listen(ctx context.Context, q mapping.Query, sink port.HintSink) error {
	target, err := parse(q.Connection.Reveal())
	if err != nil {
		return err
	}
	if q.Watch == nil || q.Watch.Query == "" {
		return sqlrows.NotSent("there is no query that watches the table: set spec.watch.query")
	}
	if err := onlyReads(q.Watch.Query); err != nil {
		return err
	}
	target.config.DialFunc = r.guard.Dial
	s := &session{ctx: ctx, caller: ctx, target: target, timeout: lookTimeout}
	defer s.close()
	if err := s.connect(); err != nil {
		return err
	}
	if err := s.prepare(); err != nil {
		return err
	}
	return s.follow(q.Watch.Query, sink)
}

// follow compares the results of one run after the other.
func (s *session) follow(query string, sink port.HintSink) error {
	hinter := store.NewHinter(sink)
	defer hinter.Close()
	pause := time.NewTicker(lookEvery)
	defer pause.Stop()
	before, err := s.look(query)
	if err != nil {
		return err
	}
	sink.Ready()
	for {
		select {
		case <-s.ctx.Done():
			return s.queryFault(s.ctx.Err())
		case <-pause.C:
		}
		now, err := s.look(query)
		if err != nil {
			return err
		}
		if now != before {
			hinter.Add()
		}
		before = now
	}
}

// look is the digest of what the query returns.
func (s *session) look(query string) (digest [sha256.Size]byte, err error) {
	run := *s
	var cancel context.CancelFunc
	run.ctx, cancel = context.WithTimeout(s.ctx, lookTimeout+sqlrows.Grace)
	defer cancel()
	if err := run.start(); err != nil {
		return digest, err
	}
	if digest, err = run.digest(query); err != nil {
		return digest, err
	}
	return digest, run.exec("ROLLBACK")
}

func (s *session) digest(query string) (digest [sha256.Size]byte, err error) {
	rows, err := s.conn.QueryContext(s.ctx, query, nil)
	if err != nil {
		return digest, s.queryFault(err)
	}
	sum, values := sha256.New(), make([]driver.Value, len(rows.Columns()))
	for n := 0; ; n++ {
		switch err := rows.Next(values); {
		case err == io.EOF: //nolint:errorlint // the driver's contract: exactly this, and a wrapped one is another error
			sum.Sum(digest[:0])
			return digest, s.closeRows(rows)
		case err != nil:
			return digest, s.queryFault(err)
		case n == mostRows:
			return digest, sqlrows.Refused("the query that watches the table returns more than %d rows: add ORDER BY with the time of the last change, and LIMIT 100", mostRows)
		}
		for _, value := range values {
			text, isText := value.([]byte)
			if !isText {
				text = fmt.Append(nil, value)
			}
			_, _ = fmt.Fprintf(sum, "%t %d %s ", value == nil, len(text), text)
		}
	}
}
