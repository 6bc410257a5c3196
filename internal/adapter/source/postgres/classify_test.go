package postgres

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/sqldb"
)

// The database is called like its table, and no name of the connection string may be shown.
func TestAHintThatWouldLoseAPieceIsLeftOut(t *testing.T) {
	for hint, want := range map[string]string{
		`Perhaps you meant to reference the column "tenants.plan".`:   `column "pla" does not exist`,
		`Perhaps you meant to reference the column "customers.plan".`: `column "pla" does not exist (Perhaps you meant to reference the column "customers.plan".)`,
		"": `column "pla" does not exist`,
	} {
		srv := &server{redact: sqldb.NewRedactor("s3cr3t", "reader", "tenants")}
		if got := srv.text(&sqldb.Session{}, &pgconn.PgError{Code: "42703", Message: `column "pla" does not exist`, Hint: hint}); got != want {
			t.Errorf("got %s", got)
		}
	}
}
