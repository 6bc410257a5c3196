//go:build linux

package node

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// assets names the folder with the programs that hack/node.sh builds.
const assets = "NODE_ASSETS"

// plugins is where Debian puts the network plugins of containers.
const plugins = "/usr/lib/cni"

// needed are the capabilities without which there is no node, with their numbers.
var needed = map[string]uint{"CAP_NET_ADMIN": 12, "CAP_SYS_CHROOT": 18, "CAP_SYS_PTRACE": 19, "CAP_SYS_ADMIN": 21, "CAP_MKNOD": 27}

// capabilities are those of this process, a bit for each.
func capabilities() uint64 {
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(status), "\nCapEff:\t")
	text, _, _ := strings.Cut(rest, "\n")
	bits, _ := strconv.ParseUint(text, 16, 64) // none if it can't be read
	return bits
}

// Missing says in words what the machine lacks for a node; nothing if it has everything.
func Missing() []string {
	var out []string
	if os.Geteuid() != 0 {
		out = append(out, "the rights of root")
	}
	effective := capabilities()
	for name, bit := range needed {
		if effective>>bit&1 == 0 {
			out = append(out, "the capability "+name)
		}
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
	slices.Sort(out)
	return out
}
