package sqldb

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

// rowsAtOnce and bytesAtOnce are how much one statement writes. The least that servers take by default is 1 MiB.
const (
	rowsAtOnce  = 200
	bytesAtOnce = 512 << 10
)

// Writer is what a Server has for tables of states.
type Writer interface {
	Server

	// Dialect is how the database writes statements.
	Dialect() statetable.Dialect
	// BeginWrites prepares the connection for changes, each of which is a transaction of its own.
	BeginWrites(s *Session) error
	// Describe returns a statement whose rows are the columns of a table: "name", "type" and "key" of statetable.Described.
	Describe(table string) string
	// Run runs one statement with the texts of its parameters, nil for NULL.
	Run(ctx context.Context, statement string, parameters []*string) error
}

// Write implements port.States.
func (r *Reader) Write(ctx context.Context, provider mapping.Provider, to statetable.Target, changes []statetable.Change) ([]statetable.Refusal, error) {
	server, err := r.server(to.Reading(provider))
	if err != nil {
		return nil, err
	}
	s, cancel := r.Session(ctx, server).Within(store.WriteTimeout)
	defer cancel()
	defer s.Close()
	s.Timeout, s.Writes = store.StatementTimeout, true
	w := writing{Session: s, server: server.(Writer), to: to} //nolint:forcetypeassert // every Server is one
	if err := s.Connect(); err != nil {
		return nil, err
	}
	if err := w.server.BeginWrites(s); err != nil {
		return nil, err
	}
	if err := w.check(); err != nil {
		return nil, err
	}
	// Two writers that take the locks of rows in the same order don't wait for each other.
	sorted := slices.SortedStableFunc(slices.Values(changes), func(a, b statetable.Change) int { return cmp.Compare(a.Row.Key, b.Row.Key) })
	return store.Write(sorted, w.put)
}

// writing is a session that writes a table.
type writing struct {
	*Session

	server Writer
	to     statetable.Target
}

// check compares the table with its definition.
func (w writing) check() error {
	rows, err := w.Ask(w.server.Describe(w.to.Table))
	if err != nil {
		return err
	}
	columns := make([]statetable.Described, len(rows))
	for i, row := range rows {
		columns[i] = statetable.Described{Name: row["name"], Type: row["type"], Key: row["key"]}
	}
	if len(columns) == 0 {
		return &fault.Error{Kind: fault.NotFound, Operation: operationWrite, Message: fmt.Sprintf(
			"there is no table %s that the user may see: create it with the statement that \"kubectl cfdt source ddl\" prints, and grant the user SELECT, INSERT, UPDATE and DELETE on it", w.to.Table)}
	}
	if problem := w.server.Dialect().Problem(columns); problem != "" {
		return &fault.Error{Kind: fault.Invalid, Operation: operationWrite, Message: fmt.Sprintf(
			"the table %s %s: it has to be a table of its own, as \"kubectl cfdt source ddl\" prints it", w.to.Table, problem)}
	}
	return nil
}

// put makes changes, in as many statements as they need.
func (w writing) put(changes []statetable.Change) error {
	var next batch
	for i := range changes {
		row := &changes[i].Row
		if changes[i].Remove {
			values := w.texts([]any{row.Source, row.Key, row.Version})
			if err := w.run(w.server.Dialect().Delete(w.to.Table), values); err != nil {
				return err
			}
			continue
		}
		values := w.texts(row.Values())
		if !next.fits(values) {
			if err := w.upsert(next); err != nil {
				return err
			}
			next = batch{}
		}
		next.add(values)
	}
	return w.upsert(next)
}

// batch has the values of the rows of one statement.
type batch struct {
	rows, bytes int
	values      []*string
}

// fits reports whether there is room for a row. There always is for the first.
func (b *batch) fits(values []*string) bool {
	return b.rows == 0 || b.rows < rowsAtOnce && b.bytes+size(values) <= bytesAtOnce
}

func (b *batch) add(values []*string) {
	b.rows, b.bytes, b.values = b.rows+1, b.bytes+size(values), append(b.values, values...)
}

func size(values []*string) (bytes int) {
	for _, value := range values {
		if value != nil {
			bytes += len(*value)
		}
	}
	return bytes
}

func (w writing) upsert(b batch) error {
	if b.rows == 0 {
		return nil
	}
	return w.run(w.server.Dialect().Upsert(w.to.Table, b.rows), b.values)
}

// texts are those of values in a statement.
func (w writing) texts(values []any) []*string {
	texts := make([]*string, len(values))
	for i, value := range values {
		texts[i] = w.server.Dialect().Parameter(value)
	}
	return texts
}

func (w writing) run(statement string, values []*string) error {
	w.began = time.Now()
	if err := w.server.Run(w.Ctx, statement, values); err != nil {
		return w.Fault(err)
	}
	return nil
}
