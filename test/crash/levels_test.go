package crash_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/overlay"
)

// levels are the groups of tests below this one, the cheapest first. CONTRIBUTING.md says what only each of them shows.
var levels = []struct {
	name     string
	packages []string
}{
	{"rules", []string{"./internal/domain/...", "./internal/convert/..."}},
	{"workers", []string{"./internal/zone/...", "./internal/inventory/...", "./internal/reconcile/...", "./internal/guard/..."}},
	{"wire", []string{"./internal/adapter/aws/...", "./internal/adapter/dns/..."}},
	{"model", []string{"./test/model"}},
	{"played", []string{"./internal/controller/..."}},
}

// verdicts are the first failed tests of each level, by mutation and level. An empty verdict is a level that notices nothing.
type verdicts map[string]map[string]string

// TestLevels builds each mistake into the tests of one level at a time, and tells which of them fail: a group of tests that
// notices nothing that the others miss has to have another reason to be there. It takes hours, and continues where its report
// ends. The mistakes that no cheaper level notices come first.
func TestLevels(t *testing.T) {
	if *levelsReport == "" {
		t.Skip("it takes hours: set -crash.levels to the file of its report")
	}
	found := verdicts{}
	if before, err := os.ReadFile(*levelsReport); err == nil {
		if err := json.Unmarshal(before, &found); err != nil {
			t.Fatalf("reading the report: %v", err)
		}
	}
	sound := map[string]bool{}
	for _, missed := range []bool{true, false} {
		for _, level := range levels {
			for _, m := range mutations() {
				if _, told := found[m.name][level.name]; told || !isNamed(m.name) || missed && found.noticed(m.name) {
					continue
				}
				if !sound[level.name] {
					if failed, err := failing(t.Context(), level.packages); err != nil || failed != "" {
						t.Fatalf("without a mistake, %s fails: %s %v", level.name, failed, err)
					}
					sound[level.name] = true
				}
				path, err := m.overlay(t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				failed, err := failing(t.Context(), level.packages, "-overlay", path)
				if err != nil {
					t.Fatalf("%s at the level %s: %v", m.name, level.name, err)
				}
				if found[m.name] == nil {
					found[m.name] = map[string]string{}
				}
				found[m.name][level.name] = failed
				if err := found.write(*levelsReport); err != nil {
					t.Fatal(err)
				}
				t.Logf("%-62s %-8s %s", m.name, level.name, failed)
			}
		}
	}
}

// noticed reports whether a level is known that notices the mistake.
func (v verdicts) noticed(mistake string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(v[mistake])), func(failed string) bool { return failed != "" })
}

// overlay writes the operator's sources with the mistake, and returns the file for go's -overlay.
func (m mutation) overlay(dir string) (string, error) {
	mistaken := overlay.Of(theRig.root)
	if err := m.apply(mistaken); err != nil {
		return "", err
	}
	return mistaken.Write(dir)
}

func (v verdicts) write(path string) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o600)
}

var failedTest = regexp.MustCompile(`(?m)^--- FAIL: (\S+)|^panic: (test timed out)|^FAIL\t(\S+)`)

// failing runs the tests of packages until one of each has failed, and names what failed. What does not depend on a mistake is
// not run again: go keeps its result.
func failing(ctx context.Context, packages []string, flags ...string) (string, error) {
	command := exec.CommandContext(ctx, "go", slices.Concat([]string{"test", "-vet=off", "-failfast", "-timeout=15m", "-p=2"}, flags, packages)...)
	command.Dir = theRig.root
	out, err := command.CombinedOutput()
	if err := forgetCounterexamples(); err != nil {
		return "", err
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "", nil
	case !errors.As(err, &exit) || strings.Contains(string(out), "[build failed]"):
		return "", fmt.Errorf("%w:\n%s", err, out)
	}
	var names []string
	for _, match := range failedTest.FindAllStringSubmatch(string(out), -1) {
		if name := match[1] + match[2]; name != "" {
			names = append(names, name)
		} else if len(names) == 0 {
			names = append(names, filepath.Base(match[3]))
		}
	}
	return strings.Join(names, " "), nil
}

// forgetCounterexamples removes what the properties keep of a mistake, or they would try it on the next one.
func forgetCounterexamples() (err error) {
	for _, packages := range []string{"internal/*/*", "test/*"} {
		kept, failure := filepath.Glob(filepath.Join(theRig.root, packages, "testdata", "rapid"))
		err = errors.Join(err, failure)
		for _, path := range kept {
			err = errors.Join(err, os.RemoveAll(path))
		}
	}
	return err
}
