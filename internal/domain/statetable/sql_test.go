package statetable_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

var dialects = map[string]statetable.Dialect{"postgres": statetable.Postgres, "mysql": statetable.MySQL}

// The statements are what users and their databases see: a change of them is one of the interface.
func TestStatements(t *testing.T) {
	for name, d := range dialects {
		t.Run(name, func(t *testing.T) {
			const table = `edge.st"a` + "`" + `te`
			got := strings.Join([]string{d.Definition(table), d.Select(table), d.Upsert(table, 2), d.Delete(table)}, "\n\n") + "\n"
			file := filepath.Join("testdata", name+".sql")
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", file, diff)
			}
		})
	}
}

func TestParameters(t *testing.T) {
	text := func(s string) *string { return &s }
	moment := time.Date(2026, 11, 29, 12, 20, 30, 5, time.FixedZone("", 2*3600))
	for name, tt := range map[string]struct {
		value           any
		postgres, mysql *string
	}{
		"a text":          {"a'b", text("a'b"), text("a'b")},
		"an empty text":   {"", text(""), text("")},
		"true":            {true, text("true"), text("1")},
		"false":           {false, text("false"), text("0")},
		"a number":        {int64(-7), text("-7"), text("-7")},
		"a time, in UTC":  {moment, text("2026-11-29T10:20:30Z"), text("2026-11-29 10:20:30")},
		"no time is NULL": {time.Time{}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff([]*string{tt.postgres, tt.mysql}, []*string{statetable.Postgres.Parameter(tt.value), statetable.MySQL.Parameter(tt.value)}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// described is a table that can be written.
func described(d statetable.Dialect) map[string]statetable.Described {
	types := map[statetable.Kind]string{
		statetable.ID: "text", statetable.Text: "text", statetable.Bool: "boolean", statetable.Number: "bigint", statetable.Time: "timestamp with time zone",
		statetable.JSON: "jsonb",
	}
	if d.Identifier("") == "``" {
		types = map[statetable.Kind]string{
			statetable.ID: "varchar", statetable.Text: "text", statetable.Bool: "tinyint", statetable.Number: "bigint", statetable.Time: "datetime", statetable.JSON: "json",
		}
	}
	all := map[string]statetable.Described{}
	for i, c := range statetable.Columns {
		one := statetable.Described{Name: c.Name, Type: types[c.Kind]}
		if i < 2 {
			one.Key = statetable.PrimaryKey
		}
		all[c.Name] = one
	}
	return all
}

func TestProblem(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(map[string]statetable.Described)
		want   string
	}{
		"a table as it has to be":       {func(map[string]statetable.Described) {}, ""},
		"a column more does no harm":    {func(c map[string]statetable.Described) { c["mine"] = statetable.Described{Name: "mine", Type: "blob"} }, ""},
		"no table":                      {func(c map[string]statetable.Described) { clear(c) }, "has no column source"},
		"a column is missing":           {func(c map[string]statetable.Described) { delete(c, "since") }, "has no column since"},
		"a name of other letters":       {change("since", func(d *statetable.Described) { d.Name = "SINCE" }), "has no column since"},
		"a key of half the columns":     {change("row_key", func(d *statetable.Described) { d.Key = "" }), "does not have the primary key (source, row_key)"},
		"a key of more columns":         {change("name", func(d *statetable.Described) { d.Key = statetable.PrimaryKey }), "does not have the primary key (source, row_key)"},
		"another column must be unique": {change("name", func(d *statetable.Described) { d.Key = statetable.OtherKey }), "has a unique index other than the primary key, with the column name"},
		"a version that is a text":      {change("version", func(d *statetable.Described) { d.Type = "text" }), "has the column version with the type text, but it has to be bigint"},
	} {
		for dialect, d := range dialects {
			t.Run(dialect+": "+name, func(t *testing.T) {
				columns := described(d)
				tt.change(columns)
				var all []statetable.Described
				for _, c := range columns {
					all = append(all, c)
				}
				if got := d.Problem(all); got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		}
	}
}

func change(column string, how func(*statetable.Described)) func(map[string]statetable.Described) {
	return func(all map[string]statetable.Described) {
		one := all[column]
		how(&one)
		all[column] = one
	}
}
