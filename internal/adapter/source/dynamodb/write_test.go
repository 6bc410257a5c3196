package dynamodb_test

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/dynamodb"
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

// stateTable is an empty table of the real server with these attributes as its key.
func stateTable(t *testing.T, hash, sort string) (*dynamodb.Tables, statetable.Target) {
	t.Helper()
	engine := database.Shared(t, mapping.DynamoDB)
	name, endpoint := "states-"+strings.ToLower(strings.ReplaceAll(t.Name(), "/", "-")), engine.Endpoint()
	text := types.ScalarAttributeTypeS
	owner := sdk.New(sdk.Options{
		Region: "us-east-1", BaseEndpoint: &endpoint, Credentials: credentials.NewStaticCredentialsProvider("AKIATEST", "secret", ""),
		HTTPClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	})
	if _, err := owner.CreateTable(t.Context(), &sdk.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: &hash, AttributeType: text}, {AttributeName: &sort, AttributeType: text}},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: &hash, KeyType: types.KeyTypeHash}, {AttributeName: &sort, KeyType: types.KeyTypeRange},
		},
	}); err != nil {
		t.Fatal(err)
	}
	if err := sdk.NewTableExistsWaiter(owner, func(o *sdk.TableExistsWaiterOptions) { o.MinDelay = 5 * time.Millisecond }).
		Wait(t.Context(), &sdk.DescribeTableInput{TableName: &name}, time.Minute); err != nil {
		t.Fatal(err)
	}
	query := mapping.Query{Namespace: "shop", DynamoDB: mapping.DynamoDBQuery{Region: "us-east-1"}}
	return conforming(t, engine), statetable.Target{Query: query, Table: name, Source: stateSource}
}

// states returns the rows of a source by their keys.
func states(t *testing.T, tables *dynamodb.Tables, to statetable.Target) map[string]mapping.Row {
	t.Helper()
	var found collected
	if err := tables.Read(t.Context(), to.Reading(mapping.DynamoDB), &found); err != nil {
		t.Fatal(err)
	}
	rows := map[string]mapping.Row{}
	for _, row := range found.rows {
		rows[statetable.KeyOf(row)] = row
	}
	return rows
}

func write(t *testing.T, tables *dynamodb.Tables, to statetable.Target, changes ...statetable.Change) {
	t.Helper()
	if refused, err := tables.Write(t.Context(), to, changes); err != nil || len(refused) != 0 {
		t.Fatalf("refused %v, error %v", refused, err)
	}
}

func TestStatesAreReadBackAsTheyWereWritten(t *testing.T) {
	tables, to := stateTable(t, "source", "row_key")
	odd := state(`a "quoted" \ key.with$ 🙂 and 'more'`, math.MaxInt64)
	odd.Message, odd.Ready, odd.Domains, odd.Since = "line\nline\x00 é 🙂 \"'`\\ ☃", false, `[]`, time.Time{}
	empty := statetable.Row{Source: to.Source, Key: "empty"}
	strange := state("strange", 7)
	strange.Domains, strange.CertificateExpires, strange.Generation = "null", time.Unix(1_800_000_000, 0), math.MaxInt64
	want := []statetable.Row{state("plain", 1), odd, empty, strange}
	for i := range 500 {
		want = append(want, state(fmt.Sprint("t", i), int64(i+1)))
	}
	for range 2 {
		write(t, tables, to, puts(want...)...)
		slices.Reverse(want)
	}
	found := states(t, tables, to)
	if len(found) != len(want) {
		t.Errorf("%d rows, want %d", len(found), len(want))
	}
	for _, row := range want {
		if got := found[row.Key]; statetable.DigestOf(got) != row.Digest() || statetable.VersionOf(got) != row.Version {
			t.Errorf("%q was read back as %v", row.Key, got.Values)
		}
	}
}

func TestALaterStateStays(t *testing.T) {
	tables, to := stateTable(t, "source", "row_key")
	other := to
	other.Source = "c2/shop/customers"
	foreign := state("a", 1)
	foreign.Source = other.Source
	write(t, tables, other, puts(foreign)...)

	write(t, tables, to, puts(state("a", math.MaxInt64), state("b", 5), state("c", 5))...)
	older, newer, same := state("a", math.MaxInt64-1), state("b", 6), state("c", 5)
	older.State, newer.State, same.State = "Older", "Newer", "Same"
	write(t, tables, to, puts(older, newer, same)...)
	write(t, tables, to,
		statetable.Change{Row: state("a", math.MaxInt64-1), Remove: true}, statetable.Change{Row: state("c", 5), Remove: true},
		statetable.Change{Row: state("none", 5), Remove: true})

	got := map[string]string{}
	for key, row := range states(t, tables, to) {
		got[key] = row.Values["state"].(string)
	}
	if diff := cmp.Diff(map[string]string{"a": "Live", "b": "Newer"}, got); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	if got := states(t, tables, other); statetable.DigestOf(got["a"]) != foreign.Digest() {
		t.Errorf("the row of the other source is %v", got)
	}
}

func TestATableWithAnotherKeyIsNotWritten(t *testing.T) {
	tables, to := stateTable(t, "row_key", "source")
	refused, err := tables.Write(t.Context(), to, puts(state("a", 1)))
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "partition key source") || refused != nil {
		t.Errorf("got %v, %v", refused, err)
	}
	if got := states(t, tables, to); len(got) != 0 {
		t.Errorf("found %v", got)
	}
	to.Table = "none"
	if _, err := tables.Write(t.Context(), to, puts(state("a", 1))); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "source ddl") {
		t.Errorf("got %v", err)
	}
}

func TestAnItemThatIsTooLargeIsRefused(t *testing.T) {
	tables, to := stateTable(t, "source", "row_key")
	large := state("large", 1)
	large.Message = strings.Repeat("x", 410*1024)
	refused, err := tables.Write(t.Context(), to, puts(state("a", 1), large, state("b", 1)))
	if err != nil || len(refused) != 1 || refused[0].Key != "large" || refused[0].Failure.Kind != fault.Invalid {
		t.Errorf("refused %v, error %v", refused, err)
	}
	if got := len(states(t, tables, to)); got != 2 {
		t.Errorf("%d rows", got)
	}
}

func TestWritesThatAreRefused(t *testing.T) {
	const described = `{"Table": {"TableName": "states", "KeySchema": [{"AttributeName": "source", "KeyType": "HASH"}, {"AttributeName": "row_key", "KeyType": "RANGE"}]}}`
	for name, tt := range map[string]struct {
		described, written string
		want               fault.Kind
		refused            []string
	}{
		"all is well":                           {described, "", fault.None, nil},
		"a later row is there":                  {described, "ConditionalCheckFailedException", fault.None, nil},
		"no right to describe the table":        {code("AccessDeniedException"), "", fault.None, nil},
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
