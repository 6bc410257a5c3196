package postgres

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/sqlrows"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// kind is what is made of the values of a type.
type kind struct {
	// name is that of a type of PostgreSQL's own, and else of what it is like: a domain like its base type.
	name string
	// category is pg_type.typcategory.
	category string
	// element is that of the elements of an array.
	element *kind
}

// types asks for the types of a result. A type that users made counts by its category only, whatever its name. The result's description
// names the base type of a domain, but an array's element may still be one.
const types = `
SELECT t.oid, CASE WHEN t.oid < 16384 THEN t.typname ELSE '' END, t.typcategory,
  CASE WHEN b.oid < 16384 THEN b.typname ELSE '' END, coalesce(e.typcategory::text, '')
FROM pg_catalog.pg_type t
LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem
LEFT JOIN pg_catalog.pg_type b ON b.oid = CASE WHEN e.typbasetype <> 0 THEN e.typbasetype ELSE e.oid END
WHERE t.oid = ANY($1::pg_catalog.oid[])`

func (s *session) kinds(fields []pgconn.FieldDescription) ([]kind, error) {
	oids := make([]string, len(fields))
	for i, field := range fields {
		oids[i] = strconv.FormatUint(uint64(field.DataTypeOID), 10)
	}
	result := s.conn.ExecParams(s.ctx, types, [][]byte{[]byte("{" + strings.Join(oids, ",") + "}")}, nil, nil, nil).Read()
	if result.Err != nil {
		return nil, s.queryFault(result.Err, noTime)
	}
	byOID := make(map[string]kind, len(result.Rows))
	for _, row := range result.Rows {
		k := kind{name: string(row[1]), category: string(row[2])}
		// int2vector and oidvector are arrays by their category, and not by their text.
		if k.category == "A" && !strings.HasSuffix(k.name, "vector") {
			k.element = &kind{name: string(row[3]), category: string(row[4])}
		}
		byOID[string(row[0])] = k
	}
	all := make([]kind, len(fields))
	for i := range fields {
		all[i] = byOID[oids[i]]
	}
	return all, nil
}

// column is the type that the domain knows.
func (k kind) column() mapping.Type {
	switch {
	case k.element != nil:
		return mapping.TypeList
	case k.name == "json", k.name == "jsonb":
		// A document may be an object, a list, or less.
		return mapping.TypeObject
	case k.name == "bytea":
		return mapping.TypeOther
	case k.name == "timestamp", k.name == "timestamptz":
		return mapping.TypeTime
	case k.category == "N" && k.name != "money":
		return mapping.TypeNumber
	case k.category == "B":
		return mapping.TypeBoolean
	}
	return mapping.TypeString
}

// value makes a value of the server's text.
func (k kind) value(text []byte) any {
	if text == nil {
		return nil
	}
	s := string(text)
	switch k.column() {
	case mapping.TypeList:
		return k.list(s)
	case mapping.TypeObject:
		return sqlrows.JSON(s)
	case mapping.TypeOther:
		return mapping.Unsupported(k.name)
	case mapping.TypeTime:
		return instant(s)
	case mapping.TypeBoolean:
		return s == "t"
	case mapping.TypeNumber:
		if k.name == "float4" || k.name == "float8" {
			return float(s)
		}
		return store.Number(s)
	default:
		return sqlrows.Text(s, "text")
	}
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
func (k kind) list(text string) any {
	var array pgtype.Array[*string]
	// The elements are taken as texts whatever they are, and made values of here.
	if err := pgtype.NewMap().Scan(pgtype.TextArrayOID, pgtype.TextFormatCode, []byte(text), &array); err != nil {
		return mapping.Unsupported(fmt.Sprintf("array of category %s", k.element.category))
	}
	values := make([]any, len(array.Elements))
	for i, element := range array.Elements {
		if element != nil {
			values[i] = k.element.value([]byte(*element))
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
