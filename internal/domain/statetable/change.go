package statetable

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// The states of a row that no domain has.
const (
	// Gone is the state of a tenant whose object does not exist any more, or is no longer that of the source.
	Gone = "Gone"
	// Pending is the state of a tenant of whose domains nothing is known yet.
	Pending = "Pending"
)

// Target says where a state table is, and whose rows are written.
type Target struct {
	// Query says how the database is reached, and as whom; what it reads plays no part.
	mapping.Query
	// Table is the name of the table or collection; Source names the source in all clusters.
	Table, Source string
}

// Change is one row that differs.
type Change struct {
	Row Row
	// Remove takes the row of that key and at most that version out of the table. Otherwise the row is written, unless the table has a
	// higher version of it.
	Remove bool
}

// Refusal is a row that the database refuses while it takes others.
type Refusal struct {
	Key     string
	Failure *fault.Error
}

// Reading is the query for all rows that the table has of the source.
func (t Target) Reading(provider mapping.Provider) mapping.Query {
	q := t.Query
	q.Watch, q.Columns, q.Keys = nil, nil, nil
	switch provider {
	case mapping.Postgres:
		q.SQL, q.Keys = mapping.SQLQuery{Query: Postgres.Select(t.Table), Key: ColumnSource}, []string{t.Source}
	case mapping.MySQL:
		q.SQL, q.Keys = mapping.SQLQuery{Query: MySQL.Select(t.Table), Key: ColumnSource}, []string{t.Source}
	case mapping.MongoDB:
		source, _ := json.Marshal(t.Source) // texts always marshal
		q.MongoDB.Collection, q.MongoDB.Filter = t.Table, fmt.Sprintf(`{%q: %s}`, ColumnSource, source)
	case mapping.DynamoDB:
		q.DynamoDB.TableName, q.DynamoDB.Filter = t.Table, "#source = :source"
		q.DynamoDB.Names, q.DynamoDB.Values = map[string]string{"#source": ColumnSource}, map[string]any{":source": t.Source}
		q.DynamoDB.ConsistentRead, q.DynamoDB.Segments = true, 1
	case mapping.Redis:
		q.Redis.KeyPattern = globbed.Replace(t.RedisKey("")) + "*"
	}
	return q
}

// globbed takes the characters of a pattern as they are.
var globbed = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`)

// colonless takes the colons out of the name of a source, so that keys of two sources are never the same.
var colonless = strings.NewReplacer("%", "%25", ":", "%3A")

// RedisKey is the key of the hash that has a row.
func (t Target) RedisKey(key string) string {
	return t.Table + ":" + colonless.Replace(t.Source) + ":" + key
}
