package child_test

import (
	"context"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/child"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/badserver"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

var databases = []mapping.Provider{mapping.Postgres, mapping.MySQL, mapping.MongoDB, mapping.Redis}

func from(connection string) mapping.Query {
	return mapping.Query{
		Connection: mapping.NewSecret(connection), SQL: mapping.SQLQuery{Query: "SELECT name FROM customers"},
		MongoDB: mapping.MongoDBQuery{Database: "db", Collection: "customers"}, Redis: mapping.RedisQuery{KeyPattern: "customer:*"},
	}
}

// forgetful is a sink that keeps nothing but what of the rows was text.
type forgetful struct{ rows, texts int }

func (f *forgetful) Columns([]mapping.Column) error { return nil }

func (f *forgetful) Row(row mapping.Row) error {
	f.rows++
	if _, ok := row.Values["name"].(string); ok {
		f.texts++
	}
	return nil
}

// Whatever a server does, the read of its table fails within its time, says why, and takes next to nothing of the memory of
// the process that asked for it.
func TestHostileServers(t *testing.T) {
	// The hostile server is in this process too, and has buffers of its own.
	const bound, patience, grown = time.Second, time.Minute, 64 << 20
	// The test measures the memory that a read holds, and not how late a busy machine collects garbage.
	usual := debug.SetGCPercent(20)
	t.Cleanup(func() { debug.SetGCPercent(usual) })
	for _, provider := range databases {
		for _, harm := range badserver.Harms(provider) {
			t.Run(string(provider)+", "+string(harm), func(t *testing.T) {
				connection := badserver.Start(t, provider, harm)
				ctx, cancel := context.WithTimeout(t.Context(), bound)
				defer cancel()
				var sink forgetful
				process.ForgetPeak(os.Getpid())
				before, begin := process.UsageOf(os.Getpid()), time.Now()
				err := child.New(provider, child.Options{Timeout: time.Minute, Memory: memory}).Read(ctx, from(connection), &sink)
				took, after := time.Since(begin), process.UsageOf(os.Getpid())
				t.Logf("%d rows after %v, %.0f MiB more: %v", sink.rows, took.Round(time.Millisecond), (after.Peak-before.Resident)/(1<<20), err)
				if !fault.Classified(err) || strings.Contains(err.Error(), "password") {
					t.Errorf("it has the error %v", err)
				}
				if took > patience {
					t.Errorf("it took %v", took)
				}
				if more := after.Peak - before.Resident; more > grown && !raceDetector {
					t.Errorf("the process has %.0f MiB more", more/(1<<20))
				}
				if harm == badserver.Fat && sink.texts > 0 {
					t.Errorf("%d values of 1 MiB came through", sink.texts)
				}
			})
		}
	}
}
