// Package module finds the checkout that a test or a program runs in, and builds what is in it.
package module

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Root returns the folder of the checkout that the working directory is in.
func Root(ctx context.Context) (string, error) {
	gomod, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("finding the module: %w", err)
	}
	path := strings.TrimSpace(string(gomod))
	if path == "" || path == os.DevNull {
		return "", errors.New("finding the module: the working directory is not in a checkout")
	}
	return filepath.Dir(path), nil
}

// Build runs go build in the checkout, with more environment variables than ours. Without debug information linking is
// twice as fast.
func Build(ctx context.Context, root string, env []string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-ldflags=-s -w"}, args...)...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w:\n%s", err, out)
	}
	return nil
}

// used are the parts of the checkout from which the operator is built and installed.
var used = []string{"api", "charts", "cmd", "config", "internal", "go.mod", "go.sum"}

// DependOn makes the result of the test that runs now depend on the operator's sources. Go repeats a cached result until
// something changes that the test's own process has looked at; what it read before the first test, or what go build or
// helm read for it, does not count. Looking at a folder is enough for all files in it.
func DependOn(root string) {
	look := func(string, fs.DirEntry, error) error { return nil }
	for _, part := range used {
		_ = filepath.WalkDir(filepath.Join(root, part), look)
	}
}
