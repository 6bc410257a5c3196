package rowsuite

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

// many is more than any page, batch or buffer holds.
const many = 10_000

func (s *suite) tables() map[string]func(*testing.T) {
	tests := map[string]func(*testing.T){
		"an empty table is no failure":                                        s.testEmpty,
		"ten thousand rows arrive exactly once":                               s.testMany,
		"rows that stay arrive exactly once while others come and go":         s.testMoving,
		"rows that are hidden are not there":                                  s.testHidden,
		"what the sink refuses ends the read":                                 s.testSinkRefuses,
		"tables are read at the same time":                                    s.testConcurrent,
		"a table that is gone is not found, where the store knows its tables": s.testDropped,
		"a renamed column shows":                                              s.testRenamed,
	}
	if s.is(mapping.Redis) {
		tests["ten thousand JSON values arrive exactly once"] = func(t *testing.T) { s.readMany(t, database.TableOptions{JSON: true}, 1) }
	}
	if s.is(mapping.DynamoDB) {
		tests["segments together are the table"] = func(t *testing.T) { s.readMany(t, database.TableOptions{}, 4) }
	}
	return tests
}

func (s *suite) testEmpty(t *testing.T) {
	table := s.newTable(t, database.TableOptions{})
	if got := s.mustRead(t, table, table.Query()); len(got.rows) != 0 {
		t.Errorf("%d rows, want none", len(got.rows))
	}
}

func (s *suite) testMany(t *testing.T) { s.readMany(t, database.TableOptions{}, 1) }

func (s *suite) readMany(t *testing.T, o database.TableOptions, segments int) {
	rows := customers(many)
	table := s.newTable(t, o, rows...)
	q := table.Query()
	q.DynamoDB.Segments = segments
	got := s.mustRead(t, table, q)
	exactlyOnce(t, got, rows)
	if len(got.rows) != many {
		t.Errorf("%d rows, want %d", len(got.rows), many)
	}
}

// testMoving changes most of a table in the middle of a read. A transaction sees what was there at its
// start; other stores promise only the rows that stay.
func (s *suite) testMoving(t *testing.T) {
	const size, staying = 4000, 1000
	rows := customers(size + 1000)
	table := s.newTable(t, database.TableOptions{}, rows[:size]...)
	var leaving []string
	for _, row := range rows[staying:size] {
		leaving = append(leaving, fmt.Sprint(row["name"]))
	}
	into := &sink{}
	into.onRow = func(number int) error {
		if number != 10 {
			return nil
		}
		return errors.Join(table.Remove(t.Context(), leaving...), table.Put(t.Context(), rows[size:]...))
	}
	must(t, s.readInto(t, table, table.Query(), into))
	exactlyOnce(t, into, rows[:staying])
	seen := map[any]bool{}
	for _, row := range into.rows {
		if name := row.Values["name"]; seen[name] {
			t.Fatalf("%v arrived twice", name)
		} else {
			seen[name] = true
		}
	}
	if s.sql() {
		exactlyOnce(t, into, rows[:size])
		if len(into.rows) != size {
			t.Errorf("%d rows, want the %d that were there at the start", len(into.rows), size)
		}
	}
}

func (s *suite) testHidden(t *testing.T) {
	table := s.newTable(t, database.TableOptions{}, customers(10)...)
	must(t, table.HideRows(t.Context()))
	if got := s.mustRead(t, table, table.Query()); len(got.rows) != 0 {
		t.Errorf("%d rows, want none", len(got.rows))
	}
	must(t, table.ShowRows(t.Context()))
	exactlyOnce(t, s.mustRead(t, table, table.Query()), customers(10))
}

func (s *suite) testSinkRefuses(t *testing.T) {
	refused := errors.New("that is enough")
	table := s.newTable(t, database.TableOptions{}, customers(3000)...)
	calls := 0
	err := s.readInto(t, table, table.Query(), &sink{onRow: func(number int) error {
		if calls++; number == 3 {
			return refused
		}
		return nil
	}})
	if !errors.Is(err, refused) {
		t.Errorf("got %v, want the error of the sink", err)
	}
	if calls != 3 {
		t.Errorf("the sink got %d rows, want none after the one that it refused", calls)
	}
}

func (s *suite) testConcurrent(t *testing.T) {
	rows := customers(500)
	tables := []*database.Table{s.newTable(t, database.TableOptions{}, rows...), s.newTable(t, database.TableOptions{}, rows[:100]...)}
	var sinks [4]sink
	var errs [4]error
	var reading sync.WaitGroup
	for i := range sinks {
		reading.Go(func() { errs[i] = s.rows.Read(t.Context(), tables[i%2].Query(), &sinks[i]) })
	}
	reading.Wait()
	for i := range sinks {
		if want := []int{500, 100}[i%2]; errs[i] != nil || len(sinks[i].rows) != want {
			t.Errorf("read %d: %d rows, want %d, and %v", i, len(sinks[i].rows), want, errs[i])
		}
	}
}

func (s *suite) testDropped(t *testing.T) {
	table := s.newTable(t, database.TableOptions{}, customers(10)...)
	must(t, table.Drop(t.Context()))
	got, err := s.read(t, table, table.Query())
	if s.is(mapping.Redis) { // it has keys and no tables
		must(t, err)
		if len(got.rows) != 0 {
			t.Errorf("%d rows, want none", len(got.rows))
		}
		return
	}
	wantFault(t, err, fault.NotFound)
}

func (s *suite) testRenamed(t *testing.T) {
	table := s.newTable(t, database.TableOptions{}, map[string]any{"name": "acme", "domain": "acme.example.net"})
	must(t, table.RenameColumn(t.Context(), "domain", "host"))
	q := table.Query()
	if s.sql() {
		_, err := s.read(t, table, q)
		wantFault(t, err, fault.NotFound)
		q.SQL.Query = "SELECT * FROM " + table.Name()
	}
	got := s.mustRead(t, table, q)
	if diff := cmp.Diff(map[string]any{"acme": "acme.example.net"}, got.values("host")); diff != "" {
		t.Errorf("host by name (-want +got):\n%s", diff)
	}
	if len(got.values("domain")) > 0 {
		t.Errorf("domain is %v, want none", got.values("domain"))
	}
	for _, column := range got.columns {
		if column.Name == "domain" {
			t.Errorf("there is still a column domain: %v", got.columns)
		}
	}
}
