package postgres

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// kind is what is made of the values of a type.
type kind struct {
	column mapping.Type
	value  func(text string) any
}

var (
	document = kind{mapping.TypeObject, store.JSON} // it may be an object, a list, or less
	moment   = kind{mapping.TypeTime, instant}
	floating = kind{mapping.TypeNumber, float}
	number   = kind{mapping.TypeNumber, store.Number}
	textual  = kind{mapping.TypeString, func(s string) any { return store.Text(s, "text that is not UTF-8") }}
)

// kinds are those of PostgreSQL's own types by name, and of all types by category. All others are texts.
var kinds = map[string]kind{
	"json": document, "jsonb": document, "timestamp": moment, "timestamptz": moment, "float4": floating, "float8": floating, "money": textual,
	"bytea": {mapping.TypeOther, func(string) any { return mapping.Unsupported("bytea") }},
	"B":     {mapping.TypeBoolean, func(s string) any { return s == "t" }},
	"N":     number,
}

// of makes a value of the server's text, if it is not NULL.
func (k kind) of(text []byte) any {
	if text == nil {
		return nil
	}
	return k.value(string(text))
}

func kindOf(name, category string) kind {
	for _, key := range []string{name, category} {
		if k, ok := kinds[key]; ok {
			return k
		}
	}
	return textual
}

// types asks for the types of a result. A type that users made counts by its category only, whatever its name. The result's description
// names the base type of a domain, but an array's element may still be one.
const types = `
SELECT t.oid, CASE WHEN t.oid < 16384 THEN t.typname ELSE '' END AS name, t.typcategory AS category,
  CASE WHEN b.oid < 16384 THEN b.typname ELSE '' END AS element, coalesce(e.typcategory::text, '') AS element_category
FROM pg_catalog.pg_type t
LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem
LEFT JOIN pg_catalog.pg_type b ON b.oid = CASE WHEN e.typbasetype <> 0 THEN e.typbasetype ELSE e.oid END
WHERE t.oid = ANY('{%s}'::pg_catalog.oid[])`

func (srv *server) kindsOf(ctx context.Context, fields []pgconn.FieldDescription) ([]kind, error) {
	oids := make([]string, len(fields))
	for i, field := range fields {
		oids[i] = strconv.FormatUint(uint64(field.DataTypeOID), 10)
	}
	rows, err := srv.Ask(ctx, fmt.Sprintf(types, strings.Join(oids, ",")))
	if err != nil {
		return nil, err
	}
	all := slices.Repeat([]kind{textual}, len(fields))
	for _, row := range rows {
		k := kindOf(row["name"], row["category"])
		// int2vector and oidvector are arrays by their category, and not by their text.
		if row["category"] == "A" && !strings.HasSuffix(row["name"], "vector") {
			k = kind{mapping.TypeList, func(s string) any { return list(s, row["element"], row["element_category"]) }}
		}
		for i, oid := range oids {
			if oid == row["oid"] {
				all[i] = k
			}
		}
	}
	return all, nil
}

// float keeps what JSON has no number for as text.
func float(text string) any {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return text
	}
	return f
}

// instant leaves what no calendar in Go has, such as infinity and the years before Christ, as text.
func instant(text string) any {
	t, err := time.ParseInLocation("2006-01-02 15:04:05.999999999", strings.TrimSuffix(text, "+00"), time.UTC)
	if err != nil {
		return text
	}
	return t
}

// list takes an array apart.
func list(text, name, category string) any {
	var array pgtype.Array[*string]
	// The elements are taken as texts whatever they are, and made values of here.
	if err := pgtype.NewMap().Scan(pgtype.TextArrayOID, pgtype.TextFormatCode, []byte(text), &array); err != nil {
		return mapping.Unsupported("array of category " + category)
	}
	values := make([]any, len(array.Elements))
	for i, element := range array.Elements {
		if element != nil {
			values[i] = kindOf(name, category).value(*element)
		}
	}
	// The elements of a matrix follow each other row by row; the innermost lists are closed first.
	for i := len(array.Dims) - 1; i > 0; i-- {
		values = grouped(values, int(array.Dims[i].Length))
	}
	return values
}

func grouped(values []any, size int) []any {
	var groups []any
	for ; size > 0 && len(values) >= size; values = values[size:] {
		groups = append(groups, values[:size:size])
	}
	return groups
}
