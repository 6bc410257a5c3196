// Package rowsuite tests what every adapter of port.Rows has to do, on a real store.
package rowsuite

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

// suite is an adapter with the store that it reads.
type suite struct {
	rows   port.Rows
	hints  port.Hints
	states port.States
	engine *database.Engine
}

// Run runs the whole suite.
func Run(t *testing.T, rows port.Rows, engine *database.Engine) {
	t.Helper()
	s := &suite{rows: rows, engine: engine}
	s.newTable(t, database.TableOptions{}, customers(1)...) // the owner of the engine connects
	for _, group := range []struct {
		name  string
		tests map[string]func(*testing.T)
	}{{"values", s.values()}, {"tables", s.tables()}, {"faults", s.faults()}, {"connection strings", s.connectionStrings()}, {"read only", s.readOnly()}} {
		s.run(t, group.name, group.tests)
	}
}

// run runs a group of tests.
func (s *suite) run(t *testing.T, group string, tests map[string]func(*testing.T)) {
	t.Helper()
	t.Run(group, func(t *testing.T) {
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				leavesNothing(t)
				test(t)
			})
		}
	})
}

// leavesNothing fails the test when a goroutine is left after it, and after its own clean-up.
func leavesNothing(t *testing.T) {
	t.Helper()
	options := []goleak.Option{goleak.IgnoreCurrent()}
	// The owner of the engine keeps connections for its next use.
	for _, function := range []string{
		"net/http.(*persistConn).readLoop", "net/http.(*persistConn).writeLoop", "net/http.(*conn).serve",
	} {
		options = append(options, goleak.IgnoreAnyFunction(function))
	}
	t.Cleanup(func() { goleak.VerifyNone(t, options...) })
}

func (s *suite) is(providers ...mapping.Provider) bool {
	for _, p := range providers {
		if s.engine.Provider() == p {
			return true
		}
	}
	return false
}

func (s *suite) sql() bool { return s.is(mapping.Postgres, mapping.MySQL) }

func (s *suite) newTable(t *testing.T, o database.TableOptions, rows ...map[string]any) *database.Table {
	t.Helper()
	table, err := s.engine.NewTable(t.Context(), o)
	must(t, err)
	t.Cleanup(table.Close)
	must(t, table.Put(t.Context(), rows...))
	return table
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sink keeps what a read gives.
type sink struct {
	described bool
	columns   []mapping.Column
	rows      []mapping.Row
	// onRow is called before a row is kept, if there is one.
	onRow func(number int) error
}

func (s *sink) Columns(columns []mapping.Column) error {
	if s.described {
		return errors.New("the columns came twice")
	}
	if len(s.rows) > 0 {
		return errors.New("the columns came after a row")
	}
	s.described, s.columns = true, columns
	return nil
}

func (s *sink) Row(row mapping.Row) error {
	if s.onRow != nil {
		if err := s.onRow(len(s.rows) + 1); err != nil {
			return err
		}
	}
	s.rows = append(s.rows, row)
	return nil
}

// values are those of a column by the name in the row.
func (s *sink) values(column string) map[string]any {
	out := map[string]any{}
	for _, row := range s.rows {
		if value, ok := row.Values[column]; ok {
			out[fmt.Sprint(row.Values["name"])] = value
		}
	}
	return out
}

// read reads, and looks at what every read has to leave: no secret in the error, no connection.
func (s *suite) read(t *testing.T, table *database.Table, q mapping.Query) (*sink, error) {
	t.Helper()
	into := &sink{}
	return into, s.readInto(t, table, q, into)
}

func (s *suite) readInto(t *testing.T, table *database.Table, q mapping.Query, into mapping.Sink) error {
	t.Helper()
	err := s.rows.Read(t.Context(), q, into)
	noSecret(t, err)
	noConnection(t, table)
	return err
}

// mustRead reads a table that nothing is wrong with.
func (s *suite) mustRead(t *testing.T, table *database.Table, q mapping.Query) *sink {
	t.Helper()
	got, err := s.read(t, table, q)
	must(t, err)
	if s.sql() && !got.described {
		t.Error("the columns of a table with a schema were not told")
	}
	return got
}

// noSecret looks at every error of the tree.
func noSecret(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if text := fmt.Sprintf("%v %+v", err, err); strings.Contains(strings.ToLower(text), database.Canary) {
		t.Errorf("the error tells a piece of the connection string: %s", text)
	}
	switch e := err.(type) { //nolint:errorlint // a walk through the whole tree
	case interface{ Unwrap() error }:
		noSecret(t, e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, below := range e.Unwrap() {
			noSecret(t, below)
		}
	}
}

// noConnection gives the other side of the wire a moment to learn that a connection was closed.
func noConnection(t *testing.T, table *database.Table) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.Now().Add(5 * time.Second)
	for table.Wire().Open() > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("%d connections were left open", table.Wire().Open())
		}
		<-tick.C
	}
}

func wantFault(t *testing.T, err error, kinds ...fault.Kind) {
	t.Helper()
	switch {
	case err == nil:
		t.Fatalf("the call succeeded, want a fault of %v", kinds)
	case !fault.Classified(err):
		t.Errorf("the error has no kind, want %v: %v", kinds, err)
	case !fault.Is(err, kinds...):
		t.Errorf("the fault is %v, want %v: %v", fault.KindOf(err), kinds, err)
	}
}

// customers are n rows with about a thousand bytes each, so that a read of some thousands takes several
// pages, batches and packets.
func customers(n int) []map[string]any {
	out := make([]map[string]any, n)
	for i := range out {
		name := fmt.Sprintf("customer-%05d", i)
		out[i] = map[string]any{
			"name": name, "domain": name + "." + strings.Repeat("x", 1000) + ".example.net", "enabled": true,
			"connection_group_id": "cg_1", "plan": "pro", "slug": name,
		}
	}
	return out
}

// exactlyOnce compares the names of the rows with those that were put.
func exactlyOnce(t *testing.T, got *sink, want []map[string]any) {
	t.Helper()
	seen := map[any]int{}
	for _, row := range got.rows {
		seen[row.Values["name"]]++
	}
	missing, repeated := 0, 0
	for _, row := range want {
		switch n := seen[row["name"]]; {
		case n == 0:
			missing++
		case n > 1:
			repeated++
		}
	}
	if missing+repeated > 0 {
		t.Errorf("of %d rows %d did not arrive, and %d more than once", len(want), missing, repeated)
	}
}
