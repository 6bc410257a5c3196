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

// strangeWords are words and phrases that are correct and that no engineer searches for, with what to write instead.
type strangeWords struct {
	words   *regexp.Regexp
	instead string
}

// strange are those that no text has.
var strange = []strangeWords{
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

// strangeInComments are further ones that comments are free of. The comments of API types are texts for users.
var strangeInComments = []strangeWords{
	{regexp.MustCompile(`(?i)\bgo(es|ing)? on\b`), "continue"},
	{regexp.MustCompile(`(?i)\bso many\b`), "n, that many"},
	{regexp.MustCompile(`(?i)\b(they|those|them) who\b`), "those that, or a noun such as callers"},
	{regexp.MustCompile(`(?i)\bbe it\b`), "whether"},
	{regexp.MustCompile(`(?i)\b(hold|holds|held|holding) (\w+ )?back\b`), "delay, stop"},
	{regexp.MustCompile(`(?i)\b(anybody|everybody|whosever)\b`), "anyone, everyone, or a noun such as users"},
	{regexp.MustCompile(`\bpersons?\b`), "someone, a user, an administrator"},
	{regexp.MustCompile(`(?i)\b(take|takes|taken|taking|took) the place of\b`), "replace"},
	{regexp.MustCompile(`(?i)\bin vain\b`), "for nothing"},
}

// TestPlainWords reads what users read: the pages, the chart, the CRDs, the samples, and the texts in the program. It
// also reads the comments of the program.
func TestPlainWords(t *testing.T) {
	for _, name := range readable(t) {
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(content), "\n") {
			reportStrange(t, strange, name, i+1, line)
		}
	}
	for _, dir := range []string{"api", "bench", "cmd", "hack", "internal"} {
		walk(t, dir, func(name string) {
			if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return
			}
			inLiterals, inComments := strange, slices.Concat(strange, strangeInComments)
			switch {
			case dir == "api":
				inComments = strange
			case strings.Contains(name, "/testkit/"):
				inLiterals = nil
			}
			textsOf(t, name, func(line int, text string) { reportStrange(t, inLiterals, name, line, text) },
				func(line int, text string) { reportStrange(t, inComments, name, line, text) })
		})
	}
}

func reportStrange(t *testing.T, words []strangeWords, name string, line int, text string) {
	t.Helper()
	for _, s := range words {
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

// textsOf visits the string literals of a Go file, and the lines of its comments.
func textsOf(t *testing.T, name string, literal, comment func(line int, text string)) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, filepath.Join(root, name), nil, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range file.Comments {
		for _, c := range group.List {
			comment(files.Position(c.Pos()).Line, c.Text)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if l, is := n.(*ast.BasicLit); is && l.Kind == token.STRING {
			if text, err := strconv.Unquote(l.Value); err == nil {
				literal(files.Position(l.Pos()).Line, text)
			}
		}
		return true
	})
}
