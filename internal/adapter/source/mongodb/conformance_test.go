package mongodb_test

import (
	"os"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/mongodb"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/rowsuite"
)

func TestMain(m *testing.M) { os.Exit(database.RunTests(m)) }

func TestConformance(t *testing.T) {
	rowsuite.Run(t, mongodb.New(store.Config{}), database.Shared(t, mapping.MongoDB))
}

func TestHintsConformance(t *testing.T) {
	collections := mongodb.New(store.Config{})
	rowsuite.RunHints(t, collections, collections, database.Shared(t, mapping.MongoDB))
}

func TestStatesConformance(t *testing.T) {
	collections := mongodb.New(store.Config{})
	rowsuite.RunStates(t, collections, collections, database.Shared(t, mapping.MongoDB))
}
