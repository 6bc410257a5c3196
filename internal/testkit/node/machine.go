//go:build linux

package node

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Machine is what a node could change on the machine: a line for each mount, cgroup, network interface, process, file and
// setting. What other programs do meanwhile is not in it.
type Machine map[string]bool

// places are those that the programs of a node write at unless told otherwise, and those that they are told.
var places = []string{
	scratch, "/etc/cni", "/opt/cni", "/opt/containerd", "/usr/libexec/kubernetes", "/sys/class/net/" + bridge,
	"/run/containerd", "/run/netns", "/run/xtables.lock", "/var/lib/cni", "/var/lib/containerd", "/var/lib/kubelet",
	"/var/log/containers", "/var/log/pods",
}

// Look returns what the machine is like now, seen from outside the node.
func Look() (Machine, error) {
	m := Machine{}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(mounts)) {
		if named(line) {
			m["mount "+strings.Fields(line)[4]] = true
		}
	}
	for _, path := range append([]string{enabledControllers}, sysctls...) {
		value, _ := os.ReadFile(path) // not all are there on every machine
		m[path+" is "+strings.TrimSpace(string(value))] = true
	}
	m.processes()
	paths := slices.Clone(places)
	for _, hierarchy := range hierarchies() {
		paths = append(paths, filepath.Join(hierarchy, cgroupRoot))
	}
	for _, path := range paths {
		if _, err := os.Lstat(path); err == nil {
			m[path] = true
		}
	}
	return m, nil
}

// named reports whether a text has a node's folder, cgroup or environment in it.
func named(text string) bool {
	return slices.ContainsFunc([]string{scratch, "/" + cgroupRoot, roleVariable + "="}, func(name string) bool {
		return strings.Contains(text, name)
	})
}

// processes are those of a node, by how they were started or by their cgroup.
func (m Machine) processes() {
	found, _ := filepath.Glob("/proc/[0-9]*") // the pattern is valid
	for _, dir := range found {
		read := func(name string) string {
			content, _ := os.ReadFile(filepath.Join(dir, name)) // it may have ended
			return strings.ReplaceAll(string(content), "\x00", " ")
		}
		if command := read("cmdline"); command != "" && named(command+read("environ")+read("cgroup")) {
			m[fmt.Sprintf("process %s: %s", filepath.Base(dir), command)] = true
		}
	}
}
