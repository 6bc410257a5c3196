package rowsuite

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

// soon is long for a read that has to end, and short for one that doesn't.
const soon = 15 * time.Second

func (s *suite) faults() map[string]func(*testing.T) {
	tests := map[string]func(*testing.T){
		"a connection that is cut is never the end":  s.testCut,
		"a read that hangs ends with its context":    s.testHang,
		"a read ends when its context is cancelled":  s.testCancelled,
		"a server that is down may be up again soon": s.testDown,
		"rights that were revoked are denied":        s.testRevoked,
	}
	switch {
	case s.is(mapping.DynamoDB):
		tests["a throttled read is throttled"] = s.testThrottled
		tests["a page that was damaged is not the last"] = s.testDamaged
	default:
		tests["a wrong password is denied"] = s.testPassword
		tests["a database that is not there is no empty one"] = s.testDatabase
	}
	if s.sql() {
		tests["a statement that takes long ends with its context"] = s.testSlow
	}
	return tests
}

func (s *suite) testCut(t *testing.T) {
	rows := customers(3000)
	table := s.newTable(t, database.TableOptions{}, rows...)
	total := s.bytes(t, table)
	for _, percent := range []float64{0, 0.01, 1, 20, 50, 80, 95, 99.9} {
		t.Run(fmt.Sprintf("after %v percent", percent), func(t *testing.T) {
			n := int64(float64(total) * percent / 100)
			table.Wire().CutAfter(n)
			got, err := s.read(t, table, table.Query())
			must(t, table.Wire().Heal())
			// The last bytes are the store's goodbye: a reader that has everything does not need them.
			if err == nil && len(got.rows) == len(rows) && percent > 95 {
				return
			}
			wantFault(t, err, fault.Transient)
		})
	}
	exactlyOnce(t, s.mustRead(t, table, table.Query()), rows)
}

// bytes is how many reach the reader in a whole read.
func (s *suite) bytes(t *testing.T, table *database.Table) int64 {
	t.Helper()
	before := table.Wire().Sent()
	s.mustRead(t, table, table.Query())
	return table.Wire().Sent() - before
}

// endsSoon reads under a context, and says how it ended.
func (s *suite) endsSoon(ctx context.Context, t *testing.T, table *database.Table, q mapping.Query, into mapping.Sink) {
	t.Helper()
	start := time.Now()
	err := s.rows.Read(ctx, q, into)
	if took := time.Since(start); took > soon {
		t.Errorf("the read took %s", took)
	}
	noSecret(t, err)
	wantFault(t, err, fault.Transient)
	noConnection(t, table)
}

func (s *suite) testHang(t *testing.T) {
	table := s.newTable(t, database.TableOptions{}, customers(3000)...)
	total := s.bytes(t, table)
	for name, n := range map[string]int64{"at the start": 0, "in the middle": total / 2} {
		t.Run(name, func(t *testing.T) {
			table.Wire().HangAfter(n)
			ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
			defer cancel()
			s.endsSoon(ctx, t, table, table.Query(), &sink{})
			must(t, table.Wire().Heal())
		})
	}
}

func (s *suite) testCancelled(t *testing.T) {
	table := s.newTable(t, database.TableOptions{}, customers(3000)...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	into := &sink{onRow: func(number int) error {
		if number == 5 {
			cancel()
		}
		return nil
	}}
	// Part of the read is delayed, or it could be complete before the reader learns of the end.
	table.Wire().HangAfter(s.bytes(t, table) * 9 / 10)
	s.endsSoon(ctx, t, table, table.Query(), into)
	must(t, table.Wire().Heal())
	s.endsSoon(ctx, t, table, table.Query(), &sink{}) // one that is cancelled already
}

func (s *suite) testSlow(t *testing.T) {
	table := s.newTable(t, database.TableOptions{})
	q := table.Query()
	q.SQL.Query = map[mapping.Provider]string{mapping.Postgres: "SELECT pg_sleep(60)::text AS name", mapping.MySQL: "SELECT SLEEP(60) AS name"}[s.engine.Provider()]
	ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
	defer cancel()
	s.endsSoon(ctx, t, table, q, &sink{})
}

func (s *suite) testDown(t *testing.T) {
	table := s.newTable(t, database.TableOptions{}, customers(1)...)
	table.Wire().Refuse()
	_, err := s.read(t, table, table.Query())
	wantFault(t, err, fault.Transient)
	must(t, table.Wire().Heal())
	s.mustRead(t, table, table.Query())
}

func (s *suite) testRevoked(t *testing.T) {
	table := s.newTable(t, database.TableOptions{}, customers(10)...)
	must(t, table.Revoke(t.Context()))
	_, err := s.read(t, table, table.Query())
	wantFault(t, err, fault.Denied)
	must(t, table.Grant(t.Context()))
	exactlyOnce(t, s.mustRead(t, table, table.Query()), customers(10))
}

// change replaces a piece of the connection string.
func change(t *testing.T, q mapping.Query, from, to string) mapping.Query {
	t.Helper()
	text := q.Connection.Reveal()
	if !strings.Contains(text, from) {
		t.Fatalf("the connection string has no %q", from)
	}
	q.Connection = mapping.NewSecret(strings.Replace(text, from, to, 1))
	return q
}

func (s *suite) testPassword(t *testing.T) {
	table := s.newTable(t, database.TableOptions{}, customers(1)...)
	for name, q := range map[string]mapping.Query{
		"password": change(t, table.Query(), ":"+database.Canary, ":wrong_"+database.Canary),
		"user":     change(t, table.Query(), database.Canary+"_user", database.Canary+"_nobody"),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.read(t, table, q)
			wantFault(t, err, fault.Denied)
		})
	}
}

// testDatabase takes every failure: some stores don't tell a user without rights whether the database exists.
func (s *suite) testDatabase(t *testing.T) {
	table := s.newTable(t, database.TableOptions{}, customers(1)...)
	q := table.Query()
	switch {
	case s.sql():
		q = change(t, q, "/"+database.Canary, "/no_"+database.Canary)
	case s.is(mapping.MongoDB):
		q.MongoDB.Database = "no_" + q.MongoDB.Database
	default:
		text := q.Connection.Reveal()
		q = change(t, q, text[strings.LastIndex(text, "/"):], "/99999")
	}
	_, err := s.read(t, table, q)
	wantFault(t, err, fault.NotFound, fault.Denied, fault.Invalid)
}

func (s *suite) testThrottled(t *testing.T) {
	table := s.newTable(t, database.TableOptions{}, customers(10)...)
	must(t, table.Throttle(-1))
	_, err := s.read(t, table, table.Query())
	wantFault(t, err, fault.Throttled)
	must(t, table.Throttle(0))
	s.mustRead(t, table, table.Query())
}

func (s *suite) testDamaged(t *testing.T) {
	table := s.newTable(t, database.TableOptions{}, customers(3000)...)
	must(t, table.LoseLastKey(true))
	_, err := s.read(t, table, table.Query())
	wantFault(t, err, fault.Transient)
}
