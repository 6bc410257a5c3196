package rowsuite

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

// RunPage does what the page of a provider tells users to do before a table is watched, with the statements of the
// page, and wants a change to be told: any in a small table, that of a row in a large one. The table customers of the
// page is one of the engine's.
func RunPage(t *testing.T, hints port.Hints, engine *database.Engine, page string) {
	t.Helper()
	s := &suite{hints: hints, engine: engine}
	t.Run("a small table", func(t *testing.T) {
		table, l := s.documentedTable(t, page, "Watch for changes")
		must(t, table.Remove(t.Context(), "customer-00000"))
		l.hears(t, "of the deletion", func(hints [][]string) bool { return len(hints) > 0 })
	})
	t.Run("a large table", func(t *testing.T) {
		table, l := s.documentedTable(t, page, "Watch a large table")
		must(t, table.Exec(t.Context(), "UPDATE "+table.Name()+" SET plan = 'changed' WHERE name = 'customer-00001'"))
		if keys, _ := l.next(t, 0, "the change"); !slices.Equal(keys, []string{"customer-00001"}) {
			t.Errorf("the change was told as %q", keys)
		}
	})
}

// documentedTable is a table of which a section of the page says how it is watched, and a listener that is ready.
func (s *suite) documentedTable(t *testing.T, page, section string) (*database.Table, *listener) {
	t.Helper()
	table := s.newTable(t, database.TableOptions{}, customers(3)...)
	statements, watch := Documented(t, page, section, table.Name())
	must(t, table.Exec(t.Context(), statements))
	q := table.Query()
	q.Watch = &watch
	l := s.listen(t, q)
	l.becomesReady(t)
	return table, l
}

var block = regexp.MustCompile("(?s)```(sql|yaml)\n(.*?)```")

// Documented are the statements of a section of a page and its spec.watch, for a table of that name.
func Documented(t *testing.T, page, title, table string) (statements string, watch mapping.Watch) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "tenantsource", page))
	must(t, err)
	_, section, found := strings.Cut(string(text), "\n## "+title+"\n")
	if !found {
		t.Fatalf("%s has no section %q", page, title)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var example struct{ Spec struct{ Watch mapping.Watch } }
	for _, b := range block.FindAllStringSubmatch(section, -1) {
		if b[1] == "sql" {
			statements = b[2]
			continue
		}
		must(t, yaml.Unmarshal([]byte(b[2]), &example))
	}
	name := func(text string) string { return strings.ReplaceAll(text, "customers", table) }
	watch = mapping.Watch{Channel: name(example.Spec.Watch.Channel), Query: name(example.Spec.Watch.Query)}
	if statements == "" || watch == (mapping.Watch{}) {
		t.Fatalf("%s has no statements, or no spec.watch", page)
	}
	return name(statements), watch
}
