package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// strange are words and phrases that are correct and that no engineer searches for, with what to write instead.
var strange = []struct {
	words   *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?i)\b(nobody|somebody|whoever)\b`), "no one, another controller, anyone who ..."},
	{regexp.MustCompile(`(?i)\banew\b`), "again, recreate"},
	{regexp.MustCompile(`(?i)\b(mend(s|ed|ing)?|cure[sd]?)\b`), "fix"},
	{regexp.MustCompile(`(?i)\bshall\b`), "should"},
	{regexp.MustCompile(`(?i)\b(hangs?|hanging|hung) on\b`), "use, belong to, depend on"},
	{regexp.MustCompile(`(?i)\bbeside\b`), "next to, in addition to"},
	{regexp.MustCompile(`(?i)\bby (itself|themselves)\b`), "automatically"},
	{regexp.MustCompile(`(?i)\bin the place of\b`), "instead of"},
	{regexp.MustCompile(`(?i)\b(person's|your) word\b`), "approval"},
	{regexp.MustCompile(`(?i)\bwho only wants?\b`), "if you only want"},
}

// TestPlainWords reads what users read: the pages, the chart, the CRDs, the samples, and the texts in the program.
func TestPlainWords(t *testing.T) {
	for _, name := range readable(t) {
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(content), "\n") {
			reportStrange(t, name, i+1, line)
		}
	}
	for _, dir := range []string{"api", "bench", "cmd", "internal"} {
		walk(t, dir, func(name string) {
			if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "/testkit/") {
				return
			}
			stringsOf(t, name, func(line int, text string) { reportStrange(t, name, line, text) })
		})
	}
}

func reportStrange(t *testing.T, name string, line int, text string) {
	t.Helper()
	for _, s := range strange {
		if found := s.words.FindString(text); found != "" {
			t.Errorf("%s:%d says %q: write %s", name, line, found, s.instead)
		}
	}
}

// readable are the files that are written for users, and are not Go.
func readable(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, p := range pages(t) {
		names = append(names, p.name)
	}
	for _, dir := range []string{"charts", "config", "docs", ".github"} {
		walk(t, dir, func(name string) {
			if slices.Contains([]string{".yaml", ".yml", ".txt", ".tpl", ".json", ".lua", ".svg"}, filepath.Ext(name)) {
				names = append(names, name)
			}
		})
	}
	return names
}

func walk(t *testing.T, dir string, visit func(name string)) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			visit(strings.TrimPrefix(filepath.ToSlash(path), root+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// stringsOf visits the string literals of a Go file.
func stringsOf(t *testing.T, name string, visit func(line int, text string)) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, filepath.Join(root, name), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, is := n.(*ast.BasicLit); is && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				visit(files.Position(literal.Pos()).Line, text)
			}
		}
		return true
	})
}
