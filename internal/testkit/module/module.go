// Package module finds the checkout that a test or a program runs in, and builds what is in it.
package module

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/lockedfile"
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

// Program builds cmd/NAME at path, with the race detector or as in a release.
func Program(ctx context.Context, root, name, path string, race bool) error {
	kept, args, env := name, []string{"-o", path}, []string{"CGO_ENABLED=0"}
	if race {
		kept, args, env = name+"-race", append(args, "-race"), []string{"CGO_ENABLED=1"}
	}
	err := Reuse(kept, path, func() error { return Build(ctx, root, env, append(args, "./cmd/"+name)...) })
	if err != nil {
		return fmt.Errorf("building cmd/%s: %w", name, err)
	}
	return nil
}

// Reuse puts the last build of a program at path, where go build sees whether it is up to date, and keeps what build makes
// there for the next time. Linking takes seconds, and several tests run the same programs: while one of them builds, the
// others wait for what it keeps. Without a cache folder, every build is the first one.
func Reuse(name, path string, build func() error) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return build()
	}
	kept := filepath.Join(cache, "cloudfront-tenant-operator", "programs", name)
	if err := os.MkdirAll(filepath.Dir(kept), 0o755); err != nil {
		return build()
	}
	unlock, err := lockedfile.MutexAt(kept + ".lock").Lock()
	if err != nil {
		return build()
	}
	defer unlock()
	last, err := os.ReadFile(kept)
	if err == nil {
		if err := os.WriteFile(path, last, 0o755); err != nil {
			return err
		}
	}
	if err := build(); err != nil {
		_ = os.Remove(kept) // go build does not replace a file that is not a program
		return err
	}
	if built, err := os.ReadFile(path); err == nil && !bytes.Equal(built, last) {
		_ = replace(kept, built)
	}
	return nil
}

// replace writes a file that others may be reading.
func replace(path string, content []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), "new-")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // it has another name by then, unless something failed
	_, err = file.Write(content)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// OperatorRaces reports whether the operator that a test runs is built with the race detector: if the test itself is, or
// if OPERATOR_RACE is set. The detector slows the test down as well, which often has no code of the operator in it.
func OperatorRaces() bool { return RaceDetector || os.Getenv("OPERATOR_RACE") != "" }

// used are the parts of the checkout from which the operator is built and installed.
var used = []string{"api", "charts", "cmd", "config", "internal", "go.mod", "go.sum"}

// DependOn makes the result of the test that runs now depend on the operator's sources. Go repeats a cached result until
// something changes that the test's own process has looked at; what it read before the first test, or what go build or
// helm read for it, does not count. Looking at a folder is enough for all files in it, and asking for a variable for what it
// is set to.
func DependOn(root string) {
	_ = OperatorRaces()
	look := func(string, fs.DirEntry, error) error { return nil }
	for _, part := range used {
		_ = filepath.WalkDir(filepath.Join(root, part), look)
	}
}
