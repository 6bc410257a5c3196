package mysql_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/mysql"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

// A replica lets some users write, such as this one.
func TestAReplicaIsNotWritten(t *testing.T) {
	table, err := database.Shared(t, mapping.MySQL).NewStateTable(t.Context())
	must(t, err)
	t.Cleanup(table.Close)
	must(t, table.Exec(t.Context(), "GRANT READ_ONLY ADMIN ON *.* TO "+user(table.Table)+"; SET GLOBAL read_only = 1"))
	t.Cleanup(func() { must(t, table.Exec(context.WithoutCancel(t.Context()), "SET GLOBAL read_only = 0")) })
	to := table.Target("source")
	row := statetable.Row{Source: to.Source, Key: "key", Domains: "[]"}
	_, err = mysql.New(store.Config{}).Write(t.Context(), to, []statetable.Change{{Row: row}})
	expectNoSecret(t, err)
	if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "connect to the primary") {
		t.Errorf("got %v", err)
	}
	rows, err := table.Rows(t.Context())
	if err != nil || len(rows) > 0 {
		t.Errorf("the table has %v, and %v", rows, err)
	}
}

// A server's own modes would cut what is too long, and its time is not that of the rows.
func TestTheModesOfTheServerPlayNoPart(t *testing.T) {
	table, err := database.Shared(t, mapping.MySQL).NewStateTable(t.Context())
	must(t, err)
	t.Cleanup(table.Close)
	must(t, table.Exec(t.Context(), "SET GLOBAL sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES', GLOBAL time_zone = '+05:00', GLOBAL autocommit = 0; "+
		"SET GLOBAL TRANSACTION READ ONLY"))
	t.Cleanup(func() {
		must(t, table.Exec(context.WithoutCancel(t.Context()), "SET GLOBAL sql_mode = DEFAULT, GLOBAL time_zone = DEFAULT, GLOBAL autocommit = 1; "+
			"SET GLOBAL TRANSACTION READ WRITE"))
	})
	// It is moved by the time zone of the session.
	must(t, table.Exec(t.Context(), "ALTER TABLE "+table.Name()+" MODIFY since timestamp NULL"))
	to := table.Target("source")
	moment := time.Date(2026, 11, 29, 10, 20, 30, 0, time.UTC)
	row := statetable.Row{Source: to.Source, Key: `\' "`, Domains: "[]", Since: moment, Updated: moment}
	long := row
	long.Key = strings.Repeat("k", statetable.LongestID+1)
	refused, err := mysql.New(store.Config{}).Write(t.Context(), to, []statetable.Change{{Row: row}, {Row: long}})
	must(t, err)
	if len(refused) != 1 || refused[0].Key != long.Key || refused[0].Failure.Kind != fault.Invalid {
		t.Errorf("the refusals are %v, want the long key", refused)
	}
	rows, err := table.Rows(t.Context())
	must(t, err)
	if len(rows) != 1 || rows[0][statetable.ColumnKey] != row.Key || rows[0][statetable.ColumnUpdated] != "2026-11-29 10:20:30" {
		t.Errorf("the table has %v", rows)
	}
	var back sink
	must(t, mysql.New(store.Config{}).Read(t.Context(), to.Reading(mapping.MySQL), &back))
	if len(back.rows) != 1 || statetable.DigestOf(back.rows[0]) != row.Digest() {
		t.Errorf("the table reads back as %v", back.rows)
	}
}
