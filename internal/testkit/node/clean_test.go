//go:build linux

package node

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A node enables controllers that it uses and that the kernel has, and later disables no others.
func TestEnabling(t *testing.T) {
	for name, c := range map[string]struct {
		available, enabled string
		want               []string
	}{
		"some are enabled":           {"cpu memory pids cpuset rdma\n", "cpu pids\n", []string{"cpuset", "memory"}},
		"all are enabled":            {"cpu memory\n", "memory cpu\n", nil},
		"none is enabled":            {"cpu\n", "\n", []string{"cpu"}},
		"the kernel has no others":   {"rdma misc\n", "", nil},
		"the kernel has none at all": {"", "", nil},
	} {
		if got := enabling(c.available, c.enabled); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Cgroups are removed with those in them, the deepest first, and it is no error that they are gone.
func TestRemoveCgroups(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, cgroupRoot)
	if err := os.MkdirAll(filepath.Join(root, "kubepods", "burstable", "pod1", "container"), 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := removeCgroups(dir); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(root); !os.IsNotExist(err) {
			t.Errorf("the cgroup is still there (%v)", err)
		}
	}
}
