package sqldb

import (
	"context"
	"fmt"
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

// rowsAtOnce is how many rows one statement writes.
const rowsAtOnce = 200

// Writer is what a Server has for tables of states.
type Writer interface {
	Server

	// Dialect is how the database writes statements.
	Dialect() statetable.Dialect
	// BeginWrites prepares the connection for changes, each of which is a transaction of its own.
	BeginWrites(s *Session) error
	// Describe returns a statement whose rows are the columns of a table: "name", "type" in the words of the dialect, and "key",
	// the 1-based place in an index that makes rows unique, empty for a column outside it.
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
	return store.Write(changes, w.put)
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
	var rows []*statetable.Row
	for i := range changes {
		row := &changes[i].Row
		if !changes[i].Remove {
			rows = append(rows, row)
			continue
		}
		if err := w.run(w.server.Dialect().Delete(w.to.Table), []any{row.Source, row.Key, row.Version}); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(rows, rowsAtOnce) {
		values := make([]any, 0, len(some)*len(statetable.Columns))
		for _, row := range some {
			values = append(values, row.Values()...)
		}
		if err := w.run(w.server.Dialect().Upsert(w.to.Table, len(some)), values); err != nil {
			return err
		}
	}
	return nil
}

func (w writing) run(statement string, values []any) error {
	parameters := make([]*string, len(values))
	for i, value := range values {
		parameters[i] = w.server.Dialect().Parameter(value)
	}
	if err := w.server.Run(w.Ctx, statement, parameters); err != nil {
		return w.Fault(err)
	}
	return nil
}
