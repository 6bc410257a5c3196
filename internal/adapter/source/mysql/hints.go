package mysql

import (
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"fmt"
	"io"
	"slices"
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

// Listen implements port.Hints with a query whose result changes with the table. Where it has the column of the keys, the rows of
// the result that are new tell which rows have changed.
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
	target.config.DialFunc = r.guard.DialContext
	s := &session{ctx: ctx, caller: ctx, target: target, timeout: lookTimeout}
	defer s.close()
	if err := s.connect(); err != nil {
		return err
	}
	if err := s.prepareSoon(); err != nil {
		return err
	}
	return s.follow(q, sink)
}

// prepareSoon gives a server that does not answer no longer than it has to connect.
func (s *session) prepareSoon() error {
	ctx, cancel := context.WithTimeout(s.ctx, sqlrows.ConnectTimeout)
	defer cancel()
	run := *s
	run.ctx = ctx
	err := run.prepare()
	s.id = run.id
	if err != nil && ctx.Err() != nil {
		return s.queryFault(ctx.Err()) // no query took too long
	}
	return err
}

// follow compares the results of one run after the other.
func (s *session) follow(q mapping.Query, sink port.HintSink) error {
	hinter := store.NewHinter(sink)
	defer hinter.Close()
	pause := time.NewTicker(lookEvery)
	defer pause.Stop()
	before, err := s.look(q)
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
		now, err := s.look(q)
		if err != nil {
			return err
		}
		if now.all != before.all {
			hinter.Add(now.since(before)...)
		}
		before = now
	}
}

// sum identifies a row, or a result.
type sum [sha256.Size]byte

// seen is what a run has returned.
type seen struct {
	all sum
	// keys are those of the rows; empty without the column of the keys. last is the last row.
	keys map[sum]string
	last sum
}

// since are the keys of the rows that have changed; none if any row may have. The rows that changed last come first. So where the
// last row is a new one, there may be more changes than the query returns.
func (n seen) since(before seen) []string {
	if _, known := before.keys[n.last]; !known {
		return nil
	}
	var keys []string
	for row, key := range n.keys {
		if _, known := before.keys[row]; !known {
			keys = append(keys, key)
		}
	}
	if slices.Contains(keys, "") {
		return nil
	}
	return keys
}

// look runs the query.
func (s *session) look(q mapping.Query) (seen, error) {
	run := *s
	var cancel context.CancelFunc
	run.ctx, cancel = context.WithTimeout(s.ctx, lookTimeout+sqlrows.Grace)
	defer cancel()
	if err := run.start(); err != nil {
		return seen{}, err
	}
	found, err := run.digest(q)
	if err != nil {
		return seen{}, err
	}
	return found, run.exec("ROLLBACK")
}

func (s *session) digest(q mapping.Query) (seen, error) {
	rows, err := s.conn.QueryContext(s.ctx, q.Watch.Query, nil)
	if err != nil {
		return seen{}, s.queryFault(err)
	}
	key := slices.Index(rows.Columns(), q.SQL.Key)
	found, all, values := seen{keys: map[sum]string{}}, sha256.New(), make([]driver.Value, len(rows.Columns()))
	for n := 0; ; n++ {
		switch err := rows.Next(values); {
		case err == io.EOF: //nolint:errorlint // the driver's contract: exactly this, and a wrapped one is another error
			all.Sum(found.all[:0])
			return found, s.closeRows(rows)
		case err != nil:
			return seen{}, s.queryFault(err)
		case n == mostRows:
			return seen{}, sqlrows.Refused("the query that watches the table returns more than %d rows: add ORDER BY with the time of the last change, and LIMIT 100", mostRows)
		}
		row := rowSum(values)
		_, _ = all.Write(row[:])
		if key >= 0 {
			found.keys[row], found.last = text(values[key]), row
		}
	}
}

func rowSum(values []driver.Value) (s sum) {
	h := sha256.New()
	for _, value := range values {
		_, _ = fmt.Fprintf(h, "%t %d %s ", value == nil, len(text(value)), text(value))
	}
	h.Sum(s[:0])
	return s
}

// text is a value as the server writes it. NULL is empty.
func text(value driver.Value) string {
	switch v := value.(type) {
	case nil:
		return ""
	case []byte:
		return string(v)
	default:
		return fmt.Sprint(v)
	}
}
