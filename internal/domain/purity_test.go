package domain_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The domain decides and does nothing else, so nothing that could do something may be linked into it. The
// linter sees import blocks only; this sees what a dependency drags in.
func TestDomainDependsOnNothingThatActs(t *testing.T) {
	const module = "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/"
	allowed := []string{
		module + "internal/domain", "golang.org/x/net", "golang.org/x/text",
		// CEL, for the expressions of a source, and what it is made of. It computes and does nothing else.
		"github.com/google/cel-go", "cel.dev/expr", "github.com/antlr4-go/antlr", "github.com/stoewer/go-strcase", "golang.org/x/exp",
		"google.golang.org/genproto/googleapis", "google.golang.org/protobuf", "go.yaml.in/yaml/v3",
	}
	forbidden := []string{"net/http", "database/sql", "os/exec", "plugin"}

	// What the go command reads is unknown to the cache of test results, what the test itself looks at is not.
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		_, failed := os.Stat(path)
		return errors.Join(err, failed)
	})
	if _, failed := os.Stat(filepath.Join("..", "..", "go.mod")); err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{.Standard}} {{.ImportPath}}", "./...")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("listing the dependencies of the domain: %v\n%s", err, stderr.String())
	}

	within := func(path string) func(string) bool {
		return func(root string) bool { return path == root || strings.HasPrefix(path, root+"/") }
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		standard, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		// The standard library carries its own copy of what it needs of golang.org/x.
		if standard == "true" {
			if slices.ContainsFunc(forbidden, within(path)) {
				t.Errorf("internal/domain depends on %s; `go list -deps` of its packages tells which one brings it in", path)
			}
			continue
		}
		seen++
		if !slices.ContainsFunc(allowed, within(path)) {
			t.Errorf("internal/domain depends on %s, allowed are the standard library and %s", path, strings.Join(allowed, ", "))
		}
	}
	if seen == 0 {
		t.Error("no package of the domain was listed, so nothing was checked")
	}
}
