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
	rowsuite.Run(t, mysql.New(mysql.Config{Timeout: 30 * time.Second}), database.Shared(t, mapping.MySQL))
}
