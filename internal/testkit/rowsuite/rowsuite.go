// Package rowsuite is what every adapter of port.Rows has to do, shown on a real store.
package rowsuite

import (
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

// Run runs the whole suite.
func Run(t *testing.T, rows port.Rows, engine *database.Engine) {
	t.Helper()
	t.Run("a small table arrives with its values and types", func(t *testing.T) { testSmall(t, rows, engine) })
}
