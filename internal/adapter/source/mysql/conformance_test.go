package mysql_test

import (
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/mysql"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/rowsuite"
)

func TestConformance(t *testing.T) {
	rows := mysql.New(mysql.Config{Timeout: 30 * time.Second})
	rowsuite.Run(t, rows, database.Shared(t, mapping.MySQL))
	rowsuite.RunHints(t, rows, rows, database.Shared(t, mapping.MySQL))
}

func TestDocumentedWatch(t *testing.T) {
	rowsuite.RunPage(t, mysql.New(mysql.Config{}), database.Shared(t, mapping.MySQL), "mysql.md")
}
