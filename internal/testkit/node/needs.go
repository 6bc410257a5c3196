//go:build linux

package node

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// assets names the folder with the programs that hack/node.sh builds.
const assets = "NODE_ASSETS"

// plugins is where Debian puts the network plugins of containers.
const plugins = "/usr/lib/cni"

// Missing says in words what the machine lacks for a node; nothing if it has everything.
func Missing() []string {
	var out []string
	if os.Geteuid() != 0 {
		out = append(out, "the rights of root")
	}
	if filesystems, _ := os.ReadFile("/proc/filesystems"); !strings.Contains(string(filesystems), "\toverlay\n") {
		out = append(out, "overlayfs: modprobe overlay")
	}
	for _, need := range []struct{ program, install string }{
		{"containerd", "the package containerd"},
		{"ctr", "the package containerd"},
		{"runc", "the package runc"},
		{"iptables", "the package iptables"},
		{"ip", "the package iproute2"},
		{filepath.Join(plugins, "bridge"), "the package containernetworking-plugins"},
		{filepath.Join(os.Getenv(assets), "kubelet"), "hack/node.sh, and " + assets + " set to the folder that it prints"},
	} {
		if _, err := exec.LookPath(need.program); err != nil {
			out = append(out, fmt.Sprintf("%s: %s", need.program, need.install))
		}
	}
	return out
}
