package mysql

import (
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"fmt"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/sqldb"
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
	srv, err := parse(q.Connection.Reveal())
	if err != nil {
		return err
	}
	if q.Watch == nil || q.Watch.Query == "" {
		return sqldb.NotSent("there is no query that watches the table: set spec.watch.query")
	}
	if err := onlyReads(q.Watch.Query); err != nil {
		return err
	}
	s := r.Session(ctx, srv)
	s.Timeout = lookTimeout
	defer s.Close()
	if err := s.Connect(); err != nil {
		return err
	}
	if err := s.Soon(srv.prepare); err != nil {
		return err
	}
	return srv.follow(s, q, sink)
}

// follow compares the results of one run after the other.
func (srv *server) follow(s *sqldb.Session, q mapping.Query, sink port.HintSink) error {
	hinter := store.NewHinter(sink)
	defer hinter.Close()
	pause := time.NewTicker(lookEvery)
	defer pause.Stop()
	before, err := srv.look(s, q)
	if err != nil {
		return err
	}
	sink.Ready()
	for {
		select {
		case <-s.Ctx.Done():
			return s.Fault(s.Ctx.Err())
		case <-pause.C:
		}
		now, err := srv.look(s, q)
		if err != nil {
			return err
		}
		if !slices.Equal(now.rows, before.rows) {
			hinter.Add(now.since(before)...)
		}
		before = now
	}
}

// seen are the rows that a run has returned, by their sums, and their keys; none without the column of the keys.
type seen struct {
	rows [][sha256.Size]byte
	keys []string
}

// since are the keys of the rows that have changed; none if any row may have. The rows that changed last come first. So where the
// last row is a new one, there may be more changes than the query returns.
func (n seen) since(before seen) []string {
	known := map[[sha256.Size]byte]bool{}
	for _, row := range before.rows {
		known[row] = true
	}
	if len(n.keys) == 0 || !known[n.rows[len(n.rows)-1]] {
		return nil
	}
	var keys []string
	for i, row := range n.rows {
		if !known[row] {
			keys = append(keys, n.keys[i])
		}
	}
	if slices.Contains(keys, "") {
		return nil
	}
	return keys
}

// look runs the query.
func (srv *server) look(s *sqldb.Session, q mapping.Query) (seen, error) {
	s, cancel := s.Within(lookTimeout + sqldb.Grace)
	defer cancel()
	if err := srv.start(s); err != nil {
		return seen{}, err
	}
	found, err := srv.digest(s.Ctx, q)
	if err != nil {
		return seen{}, s.Fault(err)
	}
	return found, s.Exec("ROLLBACK")
}

func (srv *server) digest(ctx context.Context, q mapping.Query) (seen, error) {
	rows, err := srv.conn.QueryContext(ctx, q.Watch.Query, nil)
	if err != nil {
		return seen{}, err
	}
	key, found := slices.Index(rows.Columns(), q.SQL.Key), seen{}
	for values, err := range results(rows) {
		if err != nil {
			return seen{}, err
		}
		if len(found.rows) == mostRows {
			return seen{}, sqldb.Refused("the query that watches the table returns more than %d rows: add ORDER BY with the time of the last change, and LIMIT 100", mostRows)
		}
		var row []byte
		for _, value := range values {
			row = fmt.Appendf(row, "%t %q ", value == nil, text(value))
		}
		found.rows = append(found.rows, sha256.Sum256(row))
		if key >= 0 {
			found.keys = append(found.keys, text(values[key]))
		}
	}
	return found, rows.Close()
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
