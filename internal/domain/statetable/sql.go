package statetable

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Dialect is how a SQL database writes statements. The statements are fixed but for the name of the table, which is quoted.
type Dialect struct {
	quote       string
	placeholder func(n int) string
	types       map[Kind]string
	// accepts are the words that the server's catalogue has for types that take the values of a kind.
	accepts map[Kind]string
	// truth are the words for false and true, moment is the layout of times.
	truth  [2]string
	moment string
	// sourceType is for the one column that is longer than other IDs.
	sourceType string
	// upsert ends an INSERT: it replaces rows whose version is not higher.
	upsert func(table string, d Dialect) string
}

// The dialects.
var (
	Postgres = Dialect{
		quote: `"`, placeholder: func(n int) string { return fmt.Sprintf("$%d", n) }, sourceType: "text",
		types: map[Kind]string{ID: "text", Text: "text", Bool: "boolean", Number: "bigint", Time: "timestamptz", JSON: "jsonb"},
		accepts: map[Kind]string{
			ID: "text, character varying", Text: "text, character varying", Bool: "boolean", Number: "bigint, numeric",
			Time: "timestamp with time zone, timestamp without time zone", JSON: "jsonb, json",
		},
		truth: [2]string{"false", "true"}, moment: time.RFC3339,
		upsert: func(table string, d Dialect) string {
			set := make([]string, 0, len(Columns))
			for _, c := range Columns[2:] {
				set = append(set, fmt.Sprintf("%[1]s = EXCLUDED.%[1]s", d.Identifier(c.Name)))
			}
			return fmt.Sprintf("ON CONFLICT (%s, %s) DO UPDATE SET %s WHERE %s.%[5]s <= EXCLUDED.%[5]s", d.Identifier(ColumnSource),
				d.Identifier(ColumnKey), strings.Join(set, ", "), table, d.Identifier(ColumnVersion))
		},
	}
	MySQL = Dialect{
		quote: "`", placeholder: func(int) string { return "?" }, sourceType: fmt.Sprintf("varchar(%d) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", longestSource),
		types: map[Kind]string{
			ID: fmt.Sprintf("varchar(%d) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", LongestID), Text: "text CHARACTER SET utf8mb4",
			Bool: "boolean", Number: "bigint", Time: "datetime", JSON: "json",
		},
		// MariaDB calls its JSON longtext.
		accepts: map[Kind]string{
			ID: "varchar", Text: "text, mediumtext, longtext, varchar", Bool: "tinyint", Number: "bigint, decimal", Time: "datetime, timestamp", JSON: "json, longtext",
		},
		truth: [2]string{"0", "1"}, moment: time.DateTime,
		upsert: func(_ string, d Dialect) string {
			// The assignments take effect from left to right, and the version decides about all: it is the last.
			set := make([]string, 0, len(Columns))
			assign := func(name string) {
				set = append(set, fmt.Sprintf("%[1]s = IF(VALUES(%[2]s) >= %[2]s, VALUES(%[1]s), %[1]s)", d.Identifier(name), d.Identifier(ColumnVersion)))
			}
			for _, c := range Columns[2:] {
				if c.Name != ColumnVersion {
					assign(c.Name)
				}
			}
			assign(ColumnVersion)
			return "ON DUPLICATE KEY UPDATE " + strings.Join(set, ", ")
		},
	}
)

// Identifier quotes a name.
func (d Dialect) Identifier(name string) string {
	return d.quote + strings.ReplaceAll(name, d.quote, d.quote+d.quote) + d.quote
}

// Table quotes the name of a table, which may have that of its schema before a dot.
func (d Dialect) Table(name string) string {
	parts := strings.Split(name, ".")
	for i := range parts {
		parts[i] = d.Identifier(parts[i])
	}
	return strings.Join(parts, ".")
}

func (d Dialect) columns() string {
	names := make([]string, len(Columns))
	for i, c := range Columns {
		names[i] = d.Identifier(c.Name)
	}
	return strings.Join(names, ", ")
}

// Select reads all rows of the table.
func (d Dialect) Select(table string) string {
	return fmt.Sprintf("SELECT %s FROM %s", d.columns(), d.Table(table))
}

// Upsert writes that many rows. Its parameters are the values of the rows, one after the other.
func (d Dialect) Upsert(table string, rows int) string {
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "INSERT INTO %s (%s) VALUES ", d.Table(table), d.columns())
	for n := range rows * len(Columns) {
		switch {
		case n == 0:
			b.WriteString("(")
		case n%len(Columns) == 0:
			b.WriteString("), (")
		default:
			b.WriteString(", ")
		}
		b.WriteString(d.placeholder(n + 1))
	}
	b.WriteString(") " + d.upsert(d.Table(table), d))
	return b.String()
}

// Delete removes one row. Its parameters are the source, the key, and the highest version that the row may have.
func (d Dialect) Delete(table string) string {
	return fmt.Sprintf("DELETE FROM %s WHERE %s = %s AND %s = %s AND %s <= %s", d.Table(table), d.Identifier(ColumnSource), d.placeholder(1),
		d.Identifier(ColumnKey), d.placeholder(2), d.Identifier(ColumnVersion), d.placeholder(3))
}

// Definition is the statement that makes the table.
func (d Dialect) Definition(table string) string {
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "CREATE TABLE %s (\n", d.Table(table))
	for _, c := range Columns {
		of, null := d.types[c.Kind], " NOT NULL"
		if c.Name == ColumnSource {
			of = d.sourceType
		}
		if c.Kind == Time && c.Name != ColumnUpdated {
			null = " NULL"
		}
		_, _ = fmt.Fprintf(&b, "  %s %s%s,\n", d.Identifier(c.Name), of, null)
	}
	_, _ = fmt.Fprintf(&b, "  PRIMARY KEY (%s, %s)\n);", d.Identifier(ColumnSource), d.Identifier(ColumnKey))
	return b.String()
}

// Parameter is the text of a value in a statement, nil for NULL.
func (d Dialect) Parameter(value any) *string {
	var text string
	switch v := value.(type) {
	case string:
		text = v
	case bool:
		if text = d.truth[0]; v {
			text = d.truth[1]
		}
	case int64:
		text = strconv.FormatInt(v, 10)
	case time.Time:
		if v.IsZero() {
			return nil
		}
		text = v.UTC().Format(d.moment)
	}
	return &text
}

// Described is a column of a table as the server's catalogue has it. Key is PrimaryKey, OtherKey, or empty.
type Described struct{ Name, Type, Key string }

// What makes rows unique.
const (
	PrimaryKey = "PRIMARY"
	// OtherKey is another index. Its columns have that of a row of another source where the database would replace that one.
	OtherKey = "UNIQUE"
)

// Problem says what is wrong with a table that has these columns; empty if it can be written.
func (d Dialect) Problem(columns []Described) string {
	var keys []string
	types := map[string]string{}
	for _, c := range columns {
		types[c.Name] = c.Type
		if c.Key == OtherKey {
			return fmt.Sprintf("has a unique index other than the primary key, with the column %s", c.Name)
		}
		if c.Key == PrimaryKey {
			keys = append(keys, c.Name)
		}
	}
	for _, c := range Columns {
		switch found, ok := types[c.Name]; {
		case !ok:
			return "has no column " + c.Name
		case !slices.Contains(strings.Split(d.accepts[c.Kind], ", "), found):
			return fmt.Sprintf("has the column %s with the type %s, but it has to be %s", c.Name, found, d.types[c.Kind])
		}
	}
	if want := []string{ColumnKey, ColumnSource}; !slices.Equal(slices.Sorted(slices.Values(keys)), want) {
		return fmt.Sprintf("does not have the primary key (%s, %s)", ColumnSource, ColumnKey)
	}
	return ""
}
