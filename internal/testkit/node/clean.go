//go:build linux

package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	cgroups = "/sys/fs/cgroup"
	// cgroupRoot has the cgroups of all Pods in it.
	cgroupRoot = "cloudfront-tenant-operator-node"
	// enabledControllers are those of cgroup v2 that the children of the root have.
	enabledControllers = cgroups + "/cgroup.subtree_control"
	// noted is the file with the state that has to be restored.
	noted = "noted.json"
	// cleanPatience bounds the wait for the kernel to end the last processes.
	cleanPatience = time.Minute
)

// sysctls are those that the kubelet sets for the whole machine.
var sysctls = []string{
	"/proc/sys/vm/overcommit_memory", "/proc/sys/vm/panic_on_oom", "/proc/sys/kernel/panic", "/proc/sys/kernel/panic_on_oops",
	"/proc/sys/kernel/keys/root_maxkeys", "/proc/sys/kernel/keys/root_maxbytes",
}

// note makes the folder, with what the machine is like before the node, and the cgroups of the node.
func note(dir string) error {
	state := map[string]string{}
	for _, path := range append(slices.Clone(sysctls), enabledControllers) {
		value, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err == nil {
			state[path] = strings.TrimSpace(string(value))
		}
	}
	content, err := json.Marshal(state)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, noted), content, 0o600); err != nil {
		return err
	}
	if unified() {
		for _, controller := range []string{"cpu", "cpuset", "hugetlb", "io", "memory", "pids"} {
			// Not every kernel has each, and the kubelet says which it can't do without.
			_ = os.WriteFile(enabledControllers, []byte("+"+controller), 0o644)
		}
	}
	for _, hierarchy := range hierarchies() {
		if err := os.Mkdir(filepath.Join(hierarchy, cgroupRoot), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("making a cgroup: %w", err)
		}
	}
	return nil
}

// hierarchies are the mounts of cgroups: one with version 2, one for each controller with version 1.
func hierarchies() []string {
	found, _ := filepath.Glob(cgroups + "/*/cgroup.procs") // the pattern is valid
	if unified() {
		return []string{cgroups}
	}
	for i, path := range found {
		found[i] = filepath.Dir(path)
	}
	return found
}

// unified reports whether the machine has version 2 of cgroups.
func unified() bool {
	_, err := os.Stat(cgroups + "/cgroup.controllers")
	return err == nil
}

// clean removes everything of a node that has ended, and does nothing where that was done.
func clean(dir string) error {
	for _, hierarchy := range hierarchies() {
		if err := removeCgroups(filepath.Join(hierarchy, cgroupRoot)); err != nil {
			return err
		}
	}
	if err := restore(dir); err != nil {
		return err
	}
	return soon(func() error { return os.RemoveAll(dir) })
}

// removeCgroups removes a cgroup and those in it, the deepest first.
func removeCgroups(root string) error {
	return soon(func() error {
		var found []string
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				found = append(found, path)
			}
			return ignoreMissing(err)
		})
		for _, path := range slices.Backward(found) {
			err = errors.Join(err, ignoreMissing(syscall.Rmdir(path)))
		}
		return err
	})
}

// restore writes back what was noted.
func restore(dir string) error {
	content, err := os.ReadFile(filepath.Join(dir, noted))
	if err != nil {
		return ignoreMissing(err)
	}
	state := map[string]string{}
	if err := json.Unmarshal(content, &state); err != nil {
		return fmt.Errorf("reading what to restore: %w", err)
	}
	for path, want := range state {
		now, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if path == enabledControllers {
			want = disabling(string(now), want)
		}
		if want == "" || want == strings.TrimSpace(string(now)) {
			continue
		}
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			return fmt.Errorf("restoring a setting of the machine: %w", err)
		}
	}
	return nil
}

// disabling is what has to be written so that no more controllers than before are enabled.
func disabling(now, before string) string {
	var out []string
	for controller := range strings.FieldsSeq(now) {
		if !slices.Contains(strings.Fields(before), controller) {
			out = append(out, "-"+controller)
		}
	}
	return strings.Join(out, " ")
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// soon tries again until something succeeds: processes that were killed take a moment to end.
func soon(try func() error) error {
	deadline := time.Now().Add(cleanPatience)
	for {
		err := try()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}
