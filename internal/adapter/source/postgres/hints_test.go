package postgres_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/postgres"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/rowsuite"
)

// The trigger of the page names the rows of each statement by their keys: after a change of a key, by both of them.
func TestTheTriggerOfThePage(t *testing.T) {
	table := newTable(t, database.TableOptions{})
	statements, watch := rowsuite.Documented(t, "postgresql.md", "Watch a large table", table.Name())
	if err := table.Exec(t.Context(), statements); err != nil {
		t.Fatal(err)
	}
	q := table.Query()
	q.Watch = &watch
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sink := rowsuite.Listen(ctx, postgres.New(store.Config{Timeout: time.Minute}), q)
	<-sink.Listens
	for _, c := range []struct {
		statement string
		want      []string
	}{
		{"INSERT INTO customers (name) VALUES ('a'), ('b')", []string{"a", "b"}},
		{"UPDATE customers SET plan = 'pro' WHERE name = 'a'", []string{"a"}},
		{"UPDATE customers SET name = 'c' WHERE name = 'a'", []string{"a", "c"}},
		{"DELETE FROM customers WHERE name = 'b'", []string{"b"}},
		{"TRUNCATE customers", nil},
	} {
		if err := table.Exec(t.Context(), strings.ReplaceAll(c.statement, "customers", table.Name())); err != nil {
			t.Fatal(err)
		}
		select {
		case keys := <-sink.Keys:
			slices.Sort(keys)
			if diff := cmp.Diff(c.want, keys); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.statement, diff)
			}
		case err := <-sink.Ended:
			t.Fatalf("the listener ended: %v", err)
		}
	}
}

// A session behind RDS Proxy looks as if it listened.
func TestNothingIsListenedToThroughRDSProxy(t *testing.T) {
	for host, refused := range map[string]bool{
		"shop.proxy-abc123.eu-west-1.rds.amazonaws.com":                  true,
		"readers.endpoint.proxy-abc123.eu-west-1.rds.amazonaws.com:6432": true,
		"shop.proxy-abc123.cn-north-1.rds.amazonaws.com.cn":              true,
		"proxy-shop.cluster-abc123.eu-west-1.rds.amazonaws.com":          false,
		"shop.abc123.eu-west-1.rds.amazonaws.com":                        false,
		"shop.proxy-abc123.eu-west-1.rds.amazonaws.com.example.com":      false,
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		q := mapping.Query{Connection: mapping.NewSecret("postgres://u@" + host + "/d"), Watch: &mapping.Watch{Channel: "c"}}
		err := postgres.New(store.Config{}).Listen(ctx, q, rowsuite.NewHinted())
		if got := fault.Is(err, fault.Invalid) && strings.Contains(err.Error(), "RDS Proxy"); got != refused {
			t.Errorf("%s: %v", host, err)
		}
	}
}
