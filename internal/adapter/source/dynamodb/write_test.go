package dynamodb_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

const stateSource = "c1/shop/customers"

func state(key string, version int64) statetable.Row {
	return statetable.Row{
		Source: stateSource, Key: key, Namespace: "shop", Name: key, State: "Live", Ready: true, Version: version,
		Domains: `[{"domain": "a.example", "records": [{"ttl": 300, "ok": true, "none": null}]}]`, Since: time.Unix(1_700_000_000, 0), Updated: time.Unix(1_700_000_001, 5e8),
	}
}

func puts(rows ...statetable.Row) []statetable.Change {
	changes := make([]statetable.Change, len(rows))
	for i := range rows {
		changes[i].Row = rows[i]
	}
	return changes
}

func TestAnItemThatIsTooLargeIsRefused(t *testing.T) {
	engine := database.Shared(t, mapping.DynamoDB)
	tables := conforming(t, engine)
	table, err := engine.NewStateTable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(table.Close)
	to := table.Target(stateSource)
	large := state("large", 1)
	large.Message = strings.Repeat("x", 410*1024)
	refused, err := tables.Write(t.Context(), to, puts(state("a", 1), large, state("b", 1)))
	if err != nil || len(refused) != 1 || refused[0].Key != "large" || refused[0].Failure.Kind != fault.Invalid {
		t.Errorf("refused %v, error %v", refused, err)
	}
	if rows, err := table.Rows(t.Context()); err != nil || len(rows) != 2 {
		t.Errorf("error %v, rows %v", err, rows)
	}
}

func TestWritesThatAreRefused(t *testing.T) {
	description := func(hash, sort, kind string) string {
		return fmt.Sprintf(`{"Table": {"KeySchema": [{"AttributeName": %q, "KeyType": "HASH"}, {"AttributeName": %q, "KeyType": "RANGE"}],
			"AttributeDefinitions": [{"AttributeName": %[1]q, "AttributeType": "S"}, {"AttributeName": %[2]q, "AttributeType": %[3]q}]}}`, hash, sort, kind)
	}
	described := description("source", "row_key", "S")
	for name, tt := range map[string]struct {
		described, written string
		want               fault.Kind
		refused            []string
	}{
		"all is well":                           {described, "", fault.None, nil},
		"a later row is there":                  {described, "ConditionalCheckFailedException", fault.None, nil},
		"no right to describe the table":        {code("AccessDeniedException"), "", fault.None, nil},
		"a table that is not there":             {code("ResourceNotFoundException"), "", fault.NotFound, nil},
		"a key the other way around":            {description("row_key", "source", "S"), "", fault.Invalid, nil},
		"a key that is a number":                {description("source", "row_key", "N"), "", fault.Invalid, nil},
		"a key without a sort key":              {`{"Table": {"KeySchema": [{"AttributeName": "source", "KeyType": "HASH"}]}}`, "", fault.Invalid, nil},
		"no right to write":                     {described, "AccessDeniedException", fault.Denied, nil},
		"a table that was deleted":              {described, "ResourceNotFoundException", fault.NotFound, nil},
		"throttled for ever":                    {described, "ThrottlingException", fault.Throttled, nil},
		"a server that breaks":                  {described, "BrandNewException", fault.Transient, nil},
		"rows that DynamoDB refuses":            {described, "ValidationException", fault.None, []string{"a", "b"}},
		"rows that a transaction writes":        {described, "TransactionConflictException", fault.None, []string{"a", "b"}},
		"a description that is none is no lead": {"{}", "", fault.None, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tables := newTables(t, wire(func(body map[string]any) (int, string, http.Header) {
					switch {
					case body["ConditionExpression"] == nil && strings.Contains(tt.described, "__type"):
						return 400, tt.described, nil
					case body["ConditionExpression"] == nil:
						return 200, tt.described, nil
					case tt.written != "":
						return 400, code(tt.written), nil
					}
					return 200, "{}", nil
				}))
				refused, err := tables.Write(t.Context(), statetable.Target{Table: "states", Source: stateSource}, puts(state("a", 1), state("b", 1)))
				var keys []string
				for _, r := range refused {
					keys = append(keys, r.Key)
				}
				if diff := cmp.Diff(tt.refused, keys); diff != "" || fault.KindOf(err) != tt.want {
					t.Errorf("got %v, refused (-want +got):\n%s", err, diff)
				}
			})
		})
	}
}

func TestATableThatRefusesAllRows(t *testing.T) {
	tables := newTables(t, wire(func(body map[string]any) (int, string, http.Header) {
		if body["ConditionExpression"] == nil {
			return 400, code("AccessDeniedException"), nil
		}
		return 400, code("ValidationException"), nil
	}))
	var rows []statetable.Row
	for i := range 30 {
		rows = append(rows, state(fmt.Sprint(i), 1))
	}
	refused, err := tables.Write(t.Context(), statetable.Target{Table: "states", Source: stateSource}, puts(rows...))
	if !fault.Is(err, fault.Invalid) || refused != nil {
		t.Errorf("got %v, %v", refused, err)
	}
}

// A halt also stops the items of a call that has begun.
func TestAHaltInTheMiddleOfAWrite(t *testing.T) {
	var written atomic.Int32
	tables := newTablesThat(t, wire(func(body map[string]any) (int, string, http.Header) {
		if body["ConditionExpression"] == nil {
			return 400, code("AccessDeniedException"), nil
		}
		written.Add(1)
		return 200, "{}", nil
	}), func() *chain.Halt {
		if written.Load() == 0 {
			return nil
		}
		return &chain.Halt{Message: "another replica may lead"}
	})
	var rows []statetable.Row
	for i := range 100 {
		rows = append(rows, state(fmt.Sprint(i), 1))
	}
	_, err := tables.Write(t.Context(), statetable.Target{Table: "states", Source: stateSource}, puts(rows...))
	if n := written.Load(); n > 50 || !fault.Is(err, fault.Throttled) || !strings.Contains(err.Error(), "another replica") {
		t.Errorf("%d items were written, error %v", n, err)
	}
}
