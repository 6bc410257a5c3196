//go:build linux

package node

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Machine is what a node could change on the machine: a line for each mount, cgroup, network interface, process in a
// namespace of its own, setting and file of the node.
type Machine map[string]bool

// Look returns what the machine is like now, seen from outside the node.
func Look() (Machine, error) {
	m := Machine{}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(mounts)) {
		m["mount "+strings.Fields(line)[4]] = true
	}
	for _, path := range append([]string{enabledControllers}, sysctls...) {
		value, _ := os.ReadFile(path) // not all are there on every machine
		m[path+" is "+strings.TrimSpace(string(value))] = true
	}
	if err := m.processes(); err != nil {
		return nil, err
	}
	dir, err := scratch()
	if err != nil {
		return nil, err
	}
	patterns := []string{dir, "/sys/class/net/*", "/var/lib/*", "/var/log/*", "/run/*", "/etc/cni", "/opt/cni"}
	for _, hierarchy := range hierarchies() {
		patterns = append(patterns, hierarchy+"/*/") // those below are of services and sessions, too
	}
	for _, pattern := range patterns {
		found, _ := filepath.Glob(pattern) // the patterns are valid
		for _, path := range found {
			m[path] = true
		}
	}
	return m, nil
}

// processes are those that this process sees in other namespaces than its own.
func (m Machine) processes() error {
	own, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return err
	}
	found, _ := filepath.Glob("/proc/[0-9]*/ns/pid") // the pattern is valid
	for _, path := range found {
		namespace, err := os.Readlink(path)
		command, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "..", "cmdline"))
		if err != nil || namespace == own || len(command) == 0 {
			continue // it is one of the machine's, or has ended
		}
		m[fmt.Sprintf("process %s: %s", strings.Split(path, "/")[2], strings.ReplaceAll(string(command), "\x00", " "))] = true
	}
	return nil
}
