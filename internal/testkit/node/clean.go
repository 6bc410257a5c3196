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
	noted = scratch + "/noted.json"
	// cleanPatience bounds the wait for the kernel to end the last processes.
	cleanPatience = time.Minute
)

// sysctls are those that the kubelet sets for the whole machine.
var sysctls = []string{
	"/proc/sys/vm/overcommit_memory", "/proc/sys/vm/panic_on_oom", "/proc/sys/kernel/panic", "/proc/sys/kernel/panic_on_oops",
	"/proc/sys/kernel/keys/root_maxkeys", "/proc/sys/kernel/keys/root_maxbytes",
}

// controllers are those of cgroup v2 that the kubelet uses.
var controllers = []string{"cpu", "cpuset", "hugetlb", "io", "memory", "pids"}

// state is what has to be restored.
type state struct {
	// Sysctls are the values before the node.
	Sysctls map[string]string
	// Enabled are the controllers that were enabled for the node.
	Enabled []string
}

// note makes the folder, with what the machine is like before the node, and the cgroups of the node.
func note() error {
	before, err := observe()
	if err != nil {
		return err
	}
	content, err := json.Marshal(before)
	if err != nil {
		return err
	}
	if err := os.Mkdir(scratch, 0o755); err != nil {
		return err
	}
	// It has its name once it is complete: this process may be killed at any time.
	if err := os.WriteFile(noted+".new", content, 0o600); err != nil {
		return err
	}
	if err := os.Rename(noted+".new", noted); err != nil {
		return err
	}
	for _, controller := range before.Enabled {
		// The kubelet says which it can't do without.
		_ = set(enabledControllers, "+"+controller)
	}
	for _, hierarchy := range hierarchies() {
		// With version 1 a hierarchy can have several names.
		if err := os.Mkdir(filepath.Join(hierarchy, cgroupRoot), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("making a cgroup: %w", err)
		}
	}
	return nil
}

// observe reads the state before a node.
func observe() (state, error) {
	out := state{Sysctls: map[string]string{}}
	for _, path := range sysctls {
		value, err := os.ReadFile(path)
		if ignoreMissing(err) != nil {
			return out, err
		}
		if err == nil {
			out.Sysctls[path] = strings.TrimSpace(string(value))
		}
	}
	if unified() {
		available, err := os.ReadFile(cgroups + "/cgroup.controllers")
		enabled, enabledErr := os.ReadFile(enabledControllers)
		out.Enabled = enabling(string(available), string(enabled))
		return out, errors.Join(err, enabledErr)
	}
	return out, nil
}

// enabling are the controllers that have to be enabled.
func enabling(available, enabled string) (out []string) {
	for _, controller := range controllers {
		if slices.Contains(strings.Fields(available), controller) && !slices.Contains(strings.Fields(enabled), controller) {
			out = append(out, controller)
		}
	}
	return out
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
func clean() error {
	var before state
	content, err := os.ReadFile(noted)
	if err == nil {
		err = json.Unmarshal(content, &before)
	}
	errs := []error{ignoreMissing(err)}
	for path, value := range before.Sysctls {
		if now, err := os.ReadFile(path); err != nil || strings.TrimSpace(string(now)) != value {
			errs = append(errs, set(path, value))
		}
	}
	errs = append(errs, removeCgroups(hierarchies()...))
	for _, controller := range before.Enabled {
		// Another may have come to use it.
		if err := set(enabledControllers, "-"+controller); !errors.Is(err, syscall.EBUSY) {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err // with what was noted still there for the next attempt
	}
	return soon(func() error { return os.RemoveAll(scratch) })
}

// removeCgroups removes the node's cgroups from hierarchies, the deepest first.
func removeCgroups(hierarchies ...string) error {
	return soon(func() error {
		var found []string
		var errs []error
		add := func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				found = append(found, path)
				err = thaw(path)
			}
			return ignoreMissing(err)
		}
		for _, hierarchy := range hierarchies {
			errs = append(errs, filepath.WalkDir(filepath.Join(hierarchy, cgroupRoot), add))
		}
		for _, path := range slices.Backward(found) {
			errs = append(errs, ignoreMissing(syscall.Rmdir(path)))
		}
		return errors.Join(errs...)
	})
}

// thaw lets the processes of a cgroup run, with version 1 or 2: one that is frozen does not end when it is killed.
func thaw(cgroup string) error {
	return errors.Join(
		ignoreMissing(set(filepath.Join(cgroup, "freezer.state"), "THAWED")),
		ignoreMissing(set(filepath.Join(cgroup, "cgroup.freeze"), "0")),
	)
}

// set changes what the kernel shows as a file.
func set(path, value string) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(value)
	return errors.Join(err, file.Close())
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
