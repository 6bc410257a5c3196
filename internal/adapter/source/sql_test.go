package source_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/mysql"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/postgres"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

// patience is far above what anything here takes, and far below a wait that would never end.
const patience = 2 * time.Minute

// sqlTables are a table in each SQL database.
func sqlTables(t *testing.T) map[mapping.Provider]sqlTable {
	t.Helper()
	tables := map[mapping.Provider]sqlTable{
		mapping.Postgres: {
			table: usualTable(t, mapping.Postgres), rows: func(c store.Config) port.Rows { return postgres.New(c) },
			sleep:   "SELECT pg_sleep(600)::text AS a",
			asleep:  "SELECT count(*) AS n FROM pg_stat_activity WHERE usename = current_user AND pid <> pg_backend_pid()",
			numbers: "SELECT generate_series(1, %d) AS n, repeat('x', 1000) AS x", // in FROM, all of it would be made first
		},
		mapping.MySQL: {
			table: usualTable(t, mapping.MySQL), rows: func(c store.Config) port.Rows { return mysql.New(c) },
			sleep:   "SELECT SLEEP(600) AS a",
			asleep:  "SELECT COUNT(*) AS n FROM information_schema.processlist WHERE info LIKE '%SLEEP(600)%' AND id <> CONNECTION_ID()",
			numbers: "SELECT seq AS n, REPEAT('x', 1000) AS x FROM seq_1_to_%d",
		},
	}
	table := tables[mapping.MySQL].table
	user, _, _ := strings.Cut(table.Query().Connection.Reveal(), ":")
	// A sequence takes rights on the whole database.
	if err := table.Exec(t.Context(), "GRANT SELECT ON * TO "+user+"@127.0.0.1"); err != nil {
		t.Fatal(err)
	}
	return tables
}

// sqlTable is a table, and what is asked of its database.
type sqlTable struct {
	table                  *database.Table
	rows                   func(store.Config) port.Rows
	sleep, asleep, numbers string
}

func (s sqlTable) read(ctx context.Context, c store.Config, statement string, each onRow) error {
	q := s.table.Query()
	q.SQL.Query = statement
	return s.rows(c).Read(ctx, q, each)
}

// onRow is a sink that is called with each row.
type onRow func(mapping.Row) error

func (onRow) Columns([]mapping.Column) error { return nil }

func (f onRow) Row(row mapping.Row) error { return f(row) }

func TestTimeout(t *testing.T) {
	for provider, s := range sqlTables(t) {
		t.Run(string(provider), func(t *testing.T) {
			err := s.read(t.Context(), store.Config{Timeout: time.Second}, s.sleep, nil)
			if !fault.Is(err, fault.Transient) || !strings.Contains(err.Error(), "took longer than the read timeout of 1s") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestCancelEndsTheQueryOnTheServer(t *testing.T) {
	for provider, s := range sqlTables(t) {
		t.Run(string(provider), func(t *testing.T) {
			until := func(want int64) {
				t.Helper()
				for began, running := time.Now(), want+1; running != want; {
					if time.Since(began) > patience {
						t.Fatalf("%d queries run, want %d", running, want)
					}
					if err := s.read(t.Context(), store.Config{}, s.asleep, func(row mapping.Row) error {
						running = row.Values["n"].(int64)
						return nil
					}); err != nil {
						t.Fatal(err)
					}
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- s.read(ctx, store.Config{}, s.sleep, nil) }()
			until(1)
			cancel()
			began := time.Now()
			if err := <-done; !fault.Is(err, fault.Transient) || !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			if took := time.Since(began); took > patience {
				t.Errorf("the read ended after %s", took)
			}
			until(0)
		})
	}
}

func TestTheErrorOfTheSinkEndsTheRead(t *testing.T) {
	for provider, s := range sqlTables(t) {
		t.Run(string(provider), func(t *testing.T) {
			enough, seen := errors.New("enough"), 0
			err := s.read(t.Context(), store.Config{}, fmt.Sprintf(s.numbers, 100_000_000), func(mapping.Row) error {
				if seen++; seen == 3 {
					return enough
				}
				return nil
			})
			if !errors.Is(err, enough) || seen != 3 {
				t.Errorf("got %v after %d rows", err, seen)
			}
		})
	}
}

// A hundred megabytes pass through; what is kept at a time is one row and a buffer.
func TestMemoryDoesNotGrowWithTheTable(t *testing.T) {
	for provider, s := range sqlTables(t) {
		t.Run(string(provider), func(t *testing.T) {
			var before, now runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			peak, seen := uint64(0), 0
			err := s.read(t.Context(), store.Config{}, fmt.Sprintf(s.numbers, 100_000), func(mapping.Row) error {
				if seen++; seen%10_000 == 0 {
					runtime.GC()
					runtime.ReadMemStats(&now)
					peak = max(peak, now.HeapAlloc)
				}
				return nil
			})
			if err != nil || seen != 100_000 {
				t.Fatalf("%d rows, %v", seen, err)
			}
			const most = 8 << 20
			if peak > before.HeapAlloc+most {
				t.Errorf("the heap grew from %d to %d bytes", before.HeapAlloc, peak)
			}
		})
	}
}

// Rows before the loss mean nothing: the read fails, and names the server.
func TestALostConnection(t *testing.T) {
	for provider, s := range sqlTables(t) {
		t.Run(string(provider), func(t *testing.T) {
			for name, lose := range map[string]func(*database.Wire){
				"cut in the rows":   func(w *database.Wire) { w.CutAfter(50_000) },
				"cut in the login":  func(w *database.Wire) { w.CutAfter(20) },
				"no server listens": func(w *database.Wire) { w.Refuse() },
			} {
				t.Run(name, func(t *testing.T) {
					lose(s.table.Wire())
					defer func() {
						if err := s.table.Wire().Heal(); err != nil {
							t.Error(err)
						}
					}()
					err := s.read(t.Context(), store.Config{}, fmt.Sprintf(s.numbers, 10_000), func(mapping.Row) error { return nil })
					if !fault.Is(err, fault.Transient) || !strings.Contains(err.Error(), "127.0.0.1:") || strings.Contains(err.Error(), database.Canary) {
						t.Errorf("got %v of kind %s", err, fault.KindOf(err))
					}
				})
			}
		})
	}
}
