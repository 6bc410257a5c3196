//go:build linux

package node

import (
	"os"
	"path/filepath"
	"testing"
)

// Controllers that a node has enabled are disabled, and no others.
func TestDisabling(t *testing.T) {
	for name, c := range map[string]struct{ now, before, want string }{
		"the runtime added two":          {"cpu memory pids cpuset hugetlb\n", "cpu memory pids", "-cpuset -hugetlb"},
		"nothing was added":              {"cpu memory\n", "memory cpu", ""},
		"nothing was enabled before":     {"cpu\n", "", "-cpu"},
		"one was disabled by another":    {"cpu\n", "cpu memory", ""},
		"there are none, before and now": {"", "", ""},
	} {
		if got := disabling(c.now, c.before); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Cgroups are removed with those in them, the deepest first, and it is no error that they are gone.
func TestRemoveCgroups(t *testing.T) {
	root := filepath.Join(t.TempDir(), "node")
	if err := os.MkdirAll(filepath.Join(root, "kubepods", "burstable", "pod1", "container"), 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := removeCgroups(root); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(root); !os.IsNotExist(err) {
			t.Errorf("the cgroup is still there (%v)", err)
		}
	}
}
