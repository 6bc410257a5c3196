package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// campaign is what the sources of test/crash have.
type campaign struct {
	// oracles are the names of the oracles, by their constants.
	oracles map[string]string
	// mutations have the names of the oracles that may detect them, by their own names.
	mutations map[string][]string
}

// readCampaign parses the sources: to run them takes a control plane.
func readCampaign(t *testing.T) campaign {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(root, "test", "crash", "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	c := campaign{oracles: map[string]string{}, mutations: map[string][]string{}}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, is := n.(*ast.ValueSpec); is && len(spec.Values) == len(spec.Names) {
				for i, name := range spec.Names {
					if text, is := textOf(spec.Values[i]); is && strings.HasPrefix(name.Name, "oracle") {
						c.oracles[name.Name] = text
					}
				}
			}
			return true
		})
	}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			list, is := n.(*ast.CompositeLit)
			if !is || !isMutations(list.Type) {
				return true
			}
			for _, element := range list.Elts {
				c.addMutation(t, element)
			}
			return false
		})
	}
	if len(c.oracles) < 20 || len(c.mutations) < 35 {
		t.Fatalf("test/crash has %d oracles and %d mutations only", len(c.oracles), len(c.mutations))
	}
	return c
}

// isMutations reports whether the type is []mutation.
func isMutations(e ast.Expr) bool {
	list, is := e.(*ast.ArrayType)
	if !is {
		return false
	}
	name, is := list.Elt.(*ast.Ident)
	return is && name.Name == "mutation"
}

func (c campaign) addMutation(t *testing.T, e ast.Expr) {
	t.Helper()
	literal, is := e.(*ast.CompositeLit)
	if !is {
		t.Fatalf("a mutation is a %T, and no literal", e)
	}
	name, oracles := "", []string(nil)
	for _, element := range literal.Elts {
		field, is := element.(*ast.KeyValueExpr)
		if !is {
			continue
		}
		switch field.Key.(*ast.Ident).Name {
		case "name":
			name, _ = textOf(field.Value)
		case "oracles":
			for _, oracle := range field.Value.(*ast.CompositeLit).Elts {
				oracles = append(oracles, c.oracles[oracle.(*ast.Ident).Name])
			}
		}
	}
	if name == "" || len(oracles) == 0 {
		t.Fatalf("the mutation %q has the oracles %q", name, oracles)
	}
	c.mutations[name] = oracles
}

// textOf is the value of a string literal.
func textOf(e ast.Expr) (text string, is bool) {
	literal, is := e.(*ast.BasicLit)
	if !is || literal.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(literal.Value)
	return text, err == nil
}

// rows are those of the first table after a heading, without the two that are its head.
func rows(t *testing.T, page, heading string) (out [][]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n"+heading+"\n")
	if !found {
		t.Fatalf("%s has no %q", page, heading)
	}
	for line := range strings.Lines(section) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "|"):
			cells := strings.Split(strings.Trim(line, "|"), "|")
			for i := range cells {
				cells[i] = strings.TrimSpace(strings.ReplaceAll(cells[i], "`", ""))
			}
			out = append(out, cells)
		case len(out) > 0 || strings.HasPrefix(line, "#"):
			return out[min(2, len(out)):]
		}
	}
	return out[min(2, len(out)):]
}

// The page names every oracle and every mutation of the campaign, and no others.
func TestTheCampaignIsDescribed(t *testing.T) {
	t.Parallel()
	const page = "docs/contributing/campaign.md"
	c := readCampaign(t)

	described := map[string]bool{}
	for _, row := range rows(t, page, "### Oracles") {
		described[row[0]] = true
	}
	for _, name := range c.oracles {
		if !described[name] {
			t.Errorf("%s: the table of oracles lacks %q", page, name)
		}
		delete(described, name)
	}
	for name := range described {
		t.Errorf("%s: test/crash has no oracle %q", page, name)
	}

	described = map[string]bool{}
	for _, row := range rows(t, page, "### Mutations") {
		described[row[0]] = true
		if may, known := c.mutations[row[0]]; known && !slices.Contains(may, row[1]) {
			t.Errorf("%s: %q is detected by %q, and in test/crash by one of %q", page, row[0], row[1], may)
		}
	}
	for name := range c.mutations {
		if !described[name] {
			t.Errorf("%s: the table of mutations lacks %q", page, name)
		}
		delete(described, name)
	}
	for name := range described {
		t.Errorf("%s: test/crash has no mutation %q", page, name)
	}
}
