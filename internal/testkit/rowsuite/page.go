package rowsuite

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

// RunPage does what the page of a provider tells people to do before a table is watched, with the statements of the page,
// and wants a change to be told. The table customers of the page is one of the engine's.
func RunPage(t *testing.T, hints port.Hints, engine *database.Engine, page string) {
	t.Helper()
	s := &suite{hints: hints, engine: engine}
	table := s.newTable(t, database.TableOptions{}, customers(1)...)
	statements, watch := documented(t, page, table.Name())
	must(t, table.Exec(t.Context(), statements))
	q := table.Query()
	q.Watch = &watch
	l := s.listen(t, q)
	l.becomesReady(t)
	must(t, table.Remove(t.Context(), "customer-00000"))
	l.hears(t, "of the deletion", func(hints [][]string) bool { return len(hints) > 0 })
}

var block = regexp.MustCompile("(?s)```(sql|yaml)\n(.*?)```")

// documented are the statements of a page and its spec.watch, for a table of that name.
func documented(t *testing.T, page, table string) (statements string, watch mapping.Watch) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "tenantsource", page))
	must(t, err)
	_, section, found := strings.Cut(string(text), "\n## Watch for changes\n")
	if !found {
		t.Fatalf("%s does not say how a table is watched", page)
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
