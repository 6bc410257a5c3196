package postgres_test

import (
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/postgres"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/rowsuite"
)

func TestConformance(t *testing.T) {
	rows := postgres.New(store.Config{Timeout: 30 * time.Second})
	rowsuite.Run(t, rows, database.Shared(t, mapping.Postgres))
	rowsuite.RunHints(t, rows, rows, database.Shared(t, mapping.Postgres))
	rowsuite.RunStates(t, rows, rows, database.Shared(t, mapping.Postgres))
}

func TestDocumentedWatch(t *testing.T) {
	rowsuite.RunPage(t, postgres.New(store.Config{}), database.Shared(t, mapping.Postgres), "postgresql.md")
}
