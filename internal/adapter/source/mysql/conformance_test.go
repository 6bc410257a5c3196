package mysql_test

import (
	"database/sql"
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/mysql"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/rowsuite"
)

func TestConformance(t *testing.T) {
	rows := mysql.New(store.Config{Timeout: 30 * time.Second})
	rowsuite.Run(t, rows, database.Shared(t, mapping.MySQL))
	rowsuite.RunHints(t, rows, rows, database.Shared(t, mapping.MySQL))
	rowsuite.RunStates(t, rows, rows, database.Shared(t, mapping.MySQL))
}

func TestDocumentedWatch(t *testing.T) {
	rowsuite.RunPage(t, mysql.New(store.Config{}), database.Shared(t, mapping.MySQL), "mysql.md")
}

// A transaction may commit after one that began, and made its change, later.
func TestTheDocumentedWatchSeesCommitsInAnyOrder(t *testing.T) {
	table := newTable(t, database.TableOptions{Writable: true})
	must(t, table.Put(t.Context(), map[string]any{"name": "first"}, map[string]any{"name": "second"}))
	statements, watch := rowsuite.Documented(t, "mysql.md", "Watch for changes", table.Name())
	must(t, table.Exec(t.Context(), statements))
	q := table.Query()
	q.Watch = &watch
	writer, err := sql.Open("mysql", q.Connection.Reveal())
	must(t, err)
	defer writer.Close()
	change := func(name string) *sql.Tx {
		tx, err := writer.BeginTx(t.Context(), nil)
		must(t, err)
		_, err = tx.ExecContext(t.Context(), "UPDATE "+table.Name()+" SET plan = 'changed' WHERE name = ?", name)
		must(t, err)
		return tx
	}

	heard := rowsuite.Listen(t.Context(), mysql.New(store.Config{}), q)
	select {
	case <-heard.Listens:
	case err := <-heard.Ended:
		t.Fatal(err)
	}
	first, second := change("first"), change("second")
	for _, tx := range []*sql.Tx{second, first} {
		must(t, tx.Commit())
		select {
		case <-heard.Keys:
		case err := <-heard.Ended:
			t.Fatal(err)
		case <-time.After(patience):
			t.Fatal("a commit was not told")
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
