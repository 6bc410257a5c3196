package database_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

func TestMain(m *testing.M) { os.Exit(database.RunTests(m)) }

var providers = []mapping.Provider{mapping.Postgres, mapping.MySQL, mapping.MongoDB, mapping.Redis, mapping.DynamoDB}

// names reads the names in a table with the plain client of its engine, as the reader of the table.
func names(ctx context.Context, e *database.Engine, q mapping.Query) (map[string]bool, error) {
	out := map[string]bool{}
	add := func(name any) { out[fmt.Sprint(name)] = true }
	switch e.Provider() {
	case mapping.Postgres:
		c, err := pgx.Connect(ctx, q.Connection.Reveal())
		if err != nil {
			return nil, err
		}
		defer c.Close(ctx)
		rows, err := c.Query(ctx, q.SQL.Query)
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			values, err := rows.Values()
			if err != nil {
				return nil, err
			}
			add(values[0])
		}
		return out, rows.Err()
	case mapping.MySQL:
		return mysqlNames(ctx, q, add, out)
	case mapping.MongoDB:
		c, err := mongo.Connect(options.Client().ApplyURI(q.Connection.Reveal()).SetServerSelectionTimeout(5 * time.Second))
		if err != nil {
			return nil, err
		}
		defer c.Disconnect(ctx) //nolint:errcheck // nothing was written
		found, err := c.Database(q.MongoDB.Database).Collection(q.MongoDB.Collection).Find(ctx, bson.M{})
		if err != nil {
			return nil, err
		}
		for found.Next(ctx) {
			add(found.Current.Lookup("name").StringValue())
		}
		return out, found.Err()
	case mapping.Redis:
		o, err := redis.ParseURL(q.Connection.Reveal())
		if err != nil {
			return nil, err
		}
		c := redis.NewClient(o)
		defer c.Close()
		keys := c.Scan(ctx, 0, q.Redis.KeyPattern, 1000).Iterator()
		for keys.Next(ctx) {
			add(strings.TrimPrefix(keys.Val(), "customer:"))
		}
		return out, keys.Err()
	default:
		c := dynamo(e)
		pages := dynamodb.NewScanPaginator(c, &dynamodb.ScanInput{TableName: &q.DynamoDB.TableName, ConsistentRead: aws.Bool(true)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, err
			}
			for _, item := range page.Items {
				add(item["name"].(*types.AttributeValueMemberS).Value)
			}
		}
		return out, nil
	}
}

func mysqlNames(ctx context.Context, q mapping.Query, add func(any), out map[string]bool) (map[string]bool, error) {
	config, err := mysql.ParseDSN(q.Connection.Reveal())
	if err != nil {
		return nil, err
	}
	config.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	rows, err := db.QueryContext(ctx, q.SQL.Query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name, new(any), new(any), new(any), new(any), new(any)); err != nil {
			return nil, err
		}
		add(name)
	}
	return out, rows.Err()
}

// dynamo is a client that keeps no connection and tries nothing twice.
func dynamo(e *database.Engine) *dynamodb.Client {
	endpoint := e.Endpoint()
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: &endpoint, RetryMaxAttempts: 1,
		HTTPClient:  &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
		Credentials: credentials.NewStaticCredentialsProvider("AKIAREADER", "reader", ""),
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func customers(n int) []map[string]any {
	out := make([]map[string]any, n)
	for i := range out {
		name := fmt.Sprintf("c%05d", i)
		out[i] = map[string]any{"name": name, "domain": name + ".example.net", "enabled": i%2 == 0, "plan": "pro"}
	}
	return out
}

func set(names ...string) map[string]bool {
	out := map[string]bool{}
	for _, name := range names {
		out[name] = true
	}
	return out
}

func TestTableIsWhatWasPutThere(t *testing.T) {
	for _, provider := range providers {
		t.Run(string(provider), func(t *testing.T) {
			ctx := t.Context()
			engine := database.Shared(t, provider)
			table, err := engine.NewTable(ctx, database.TableOptions{})
			must(t, err)
			expect := func(what string, want map[string]bool) {
				t.Helper()
				q := table.Query()
				q.SQL.Query = "SELECT * FROM " + table.Name() // whatever the columns are called by now
				got, err := names(ctx, engine, q)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%s (-want +got):\n%s", what, diff)
				}
			}
			expect("new", set())
			must(t, table.Put(ctx, customers(3)...))
			must(t, table.Put(ctx, customers(2)...))
			expect("put twice", set("c00000", "c00001", "c00002"))
			must(t, table.Remove(ctx, "c00001"))
			expect("one removed", set("c00000", "c00002"))
			must(t, table.HideRows(ctx))
			expect("hidden", set())
			must(t, table.ShowRows(ctx))
			expect("shown", set("c00000", "c00002"))
			must(t, table.Revoke(ctx))
			if _, err := names(ctx, engine, table.Query()); err == nil {
				t.Fatal("a reader without rights has read the table")
			}
			must(t, table.Grant(ctx))
			expect("granted", set("c00000", "c00002"))
			must(t, table.RenameColumn(ctx, "domain", "host"))
			expect("with a renamed column", set("c00000", "c00002"))
			must(t, table.Truncate(ctx))
			expect("emptied", set())
			must(t, table.Drop(ctx))
		})
	}
}

func TestWireFails(t *testing.T) {
	for _, provider := range providers {
		t.Run(string(provider), func(t *testing.T) {
			ctx := t.Context()
			engine := database.Shared(t, provider)
			table, err := engine.NewTable(ctx, database.TableOptions{})
			must(t, err)
			start := time.Now()
			must(t, table.Put(ctx, customers(10_000)...))
			t.Logf("10,000 rows put in %s", time.Since(start).Round(time.Millisecond))
			before := table.Wire().Sent()
			start = time.Now()
			got, err := names(ctx, engine, table.Query())
			must(t, err)
			t.Logf("and read in %s", time.Since(start).Round(time.Millisecond))
			if len(got) != 10_000 {
				t.Fatalf("%d rows, want 10,000", len(got))
			}
			total := table.Wire().Sent() - before
			for _, n := range []int64{0, total / 2, total * 9 / 10} {
				table.Wire().CutAfter(n)
				if _, err := names(ctx, engine, table.Query()); err == nil {
					t.Errorf("cut after %d of %d bytes, a read succeeded", n, total)
				}
				must(t, table.Wire().Heal())
			}
			table.Wire().HangAfter(total / 2)
			short, cancel := context.WithTimeout(ctx, time.Second)
			if _, err := names(short, engine, table.Query()); err == nil {
				t.Error("a read ended although the wire hangs")
			}
			cancel()
			table.Wire().Refuse()
			if _, err := names(ctx, engine, table.Query()); err == nil {
				t.Error("a read succeeded although no server listens")
			}
			must(t, table.Wire().Heal())
			if _, err := names(ctx, engine, table.Query()); err != nil {
				t.Errorf("after the wire has healed: %v", err)
			}
		})
	}
}

func TestReaderMayNotWrite(t *testing.T) {
	ctx := t.Context()
	for _, provider := range []mapping.Provider{mapping.Postgres, mapping.MySQL} {
		t.Run(string(provider), func(t *testing.T) {
			engine := database.Shared(t, provider)
			table, err := engine.NewTable(ctx, database.TableOptions{})
			must(t, err)
			must(t, table.Put(ctx, customers(1)...))
			q := table.Query()
			q.SQL.Query = "DELETE FROM " + table.Name()
			if _, err := names(ctx, engine, q); err == nil {
				t.Error("the reader has deleted rows")
			}
		})
	}
	t.Run("dynamodb", func(t *testing.T) {
		engine := database.Shared(t, mapping.DynamoDB)
		table, err := engine.NewTable(ctx, database.TableOptions{})
		must(t, err)
		name := table.Name()
		if _, err := dynamo(engine).DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &name}); err == nil || !strings.Contains(err.Error(), "AccessDeniedException") {
			t.Errorf("the reader has deleted the table: %v", err)
		}
	})
}

func TestStopLeavesNothing(t *testing.T) {
	engine, err := database.Start(t.Context(), mapping.Redis, database.Options{})
	must(t, err)
	table, err := engine.NewTable(t.Context(), database.TableOptions{})
	must(t, err)
	o, err := redis.ParseURL(table.Query().Connection.Reveal())
	must(t, err)
	must(t, engine.Stop())
	if conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", o.Addr); err == nil {
		_, err = io.ReadAll(conn)
		t.Errorf("a server still listens at %s: %v", o.Addr, err)
	}
	if err := engine.Stop(); err != nil {
		t.Errorf("stopping once more: %v", err)
	}
}
