//go:build linux

package node

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// The addresses of the node. Pods have others of the same network.
const (
	Address = "10.88.0.1"
	// OtherAddress is where servers for Pods can be that must not be at an address of the API server.
	OtherAddress = "10.88.0.2"

	bridge    = "cfto0"
	network   = "10.88.0.0/16"
	firstPod  = "10.88.1.0"
	bridgeLen = "/16"
)

// enter prepares the namespaces that this process is the first in.
func enter() error {
	dir, err := scratch()
	if err != nil {
		return err
	}
	if err := mounts(dir); err != nil {
		return err
	}
	return errors.Join(os.Setenv("TMPDIR", "/tmp"), links())
}

// mounts hides the folders in which programs write at fixed places: what they write goes with the node.
func mounts(dir string) error {
	// Nothing that is mounted here appears outside; among themselves, the kubelet and the Pods share mounts.
	if err := syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("separating the mounts: %w", err)
	}
	if err := syscall.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("mounting /proc: %w", err)
	}
	if err := syscall.Mount("tmpfs", "/run", "tmpfs", 0, "mode=755"); err != nil {
		return fmt.Errorf("mounting /run: %w", err)
	}
	for _, path := range []string{"/var/lib", "/var/log", "/tmp"} {
		own := filepath.Join(dir, path)
		if err := errors.Join(os.MkdirAll(own, 0o755), os.Chmod(own, 0o777|os.ModeSticky)); err != nil {
			return err
		}
		if err := syscall.Mount(own, path, "", syscall.MS_BIND, ""); err != nil {
			return fmt.Errorf("mounting %s: %w", path, err)
		}
	}
	if err := syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_SHARED, ""); err != nil {
		return fmt.Errorf("sharing the mounts: %w", err)
	}
	return nil
}

// links makes the network: a bridge without a port, which is the node's interface and gets those of the Pods.
func links() error {
	for _, line := range []string{
		"link set lo up",
		"link add " + bridge + " type bridge",
		"addr add " + Address + bridgeLen + " dev " + bridge,
		"addr add " + OtherAddress + bridgeLen + " dev " + bridge,
		"link set " + bridge + " up",
		"route add default dev " + bridge,
	} {
		if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil { //nolint:noctx // it takes a moment
			return fmt.Errorf("ip %s: %w: %s", line, err, out)
		}
	}
	return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644)
}
