package module_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/module"
)

// asTest makes the test a child of itself, which runs as one of those that build the operator.
const asTest = "MODULE_TEST_DEPEND_ON"

func TestACachedResultDependsOnTheSources(t *testing.T) {
	root, err := module.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv(asTest) != "" {
		module.DependOn(root)
		return
	}
	log := filepath.Join(t.TempDir(), "log")
	// In such a file "go test" reads what a cached result depends on.
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.testlogfile="+log)
	child.Env = append(os.Environ(), asTest+"=1")
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"open " + filepath.Join(root, "internal", "domain", "dns"),
		"open " + filepath.Join(root, "charts", "cloudfront-tenant-operator", "templates"),
		"open " + filepath.Join(root, "cmd", "operator"),
		"stat " + filepath.Join(root, "go.mod"),
		"getenv OPERATOR_RACE",
	} {
		if !strings.Contains(string(text), want+"\n") {
			t.Errorf("the result does not depend on this: %s", want)
		}
	}
}

func TestNotInACheckout(t *testing.T) {
	t.Chdir(t.TempDir())
	if root, err := module.Root(t.Context()); err == nil || !strings.Contains(err.Error(), "not in a checkout") {
		t.Errorf("the module is found in %q: %v", root, err)
	}
}

// A program is kept as it was built. Nothing is kept of a build that fails, nor what it found.
func TestReuse(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // on Linux
	t.Setenv("HOME", t.TempDir())
	path := filepath.Join(t.TempDir(), "program")
	build := func(want, made string, result error) {
		t.Helper()
		err := module.Reuse("program", path, func() error {
			if before, _ := os.ReadFile(path); string(before) != want {
				t.Errorf("the build finds %q, want %q", before, want)
			}
			if err := os.WriteFile(path, []byte(made), 0o755); err != nil {
				t.Fatal(err)
			}
			return result
		})
		if !errors.Is(err, result) {
			t.Errorf("the build says %v, want %v", err, result)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	build("", "first", nil)
	build("first", "second", nil)
	build("second", "half", errors.New("killed"))
	build("", "third", nil)
}
