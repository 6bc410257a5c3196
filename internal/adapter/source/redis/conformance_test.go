package redis_test

import (
	"os"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/redis"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/rowsuite"
)

func TestMain(m *testing.M) { os.Exit(database.RunTests(m)) }

func TestConformance(t *testing.T) {
	rowsuite.Run(t, redis.New(store.Config{}), database.Shared(t, mapping.Redis))
}

func TestHintsConformance(t *testing.T) {
	keys := redis.New(store.Config{})
	rowsuite.RunHints(t, keys, keys, database.Shared(t, mapping.Redis))
}

func TestStatesConformance(t *testing.T) {
	keys := redis.New(store.Config{})
	rowsuite.RunStates(t, keys, keys, database.Shared(t, mapping.Redis))
}
