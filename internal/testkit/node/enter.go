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
	if err := mounts(); err != nil {
		return err
	}
	return errors.Join(os.Setenv("TMPDIR", "/tmp"), links())
}

// replaced are the folders in which programs write at fixed places: what they write goes with the node.
var replaced = []string{"/var/lib", "/var/log", "/tmp"}

// mounts hides the machine's folders of these names, and its memory that processes share.
func mounts() error {
	// Nothing that is mounted here appears outside; among themselves, the kubelet and the Pods share mounts.
	if err := syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("separating the mounts: %w", err)
	}
	if err := syscall.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("mounting /proc: %w", err)
	}
	for path, mode := range map[string]string{"/run": "mode=755", "/dev/shm": "mode=1777"} {
		if err := syscall.Mount("tmpfs", path, "tmpfs", 0, mode); err != nil {
			return fmt.Errorf("mounting %s: %w", path, err)
		}
	}
	for _, path := range replaced {
		own := filepath.Join(scratch, path)
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
		if err := ip(line); err != nil {
			return err
		}
	}
	return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644)
}

func ip(line string) error {
	if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil { //nolint:noctx // it takes a moment
		return fmt.Errorf("ip %s: %w: %s", line, err, out)
	}
	return nil
}

// try does as a Pod's start does: it joins the network, and has layers of an image.
func try() error {
	var dirs [4]string
	for i, name := range []string{"lower", "upper", "work", "merged"} {
		dirs[i] = filepath.Join(scratch, name)
		if err := os.MkdirAll(dirs[i], 0o755); err != nil {
			return err
		}
	}
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", dirs[0], dirs[1], dirs[2])
	if err := syscall.Mount("overlay", dirs[3], "overlay", 0, options); err != nil {
		return fmt.Errorf("mounting an overlay in %s: %w", scratch, err)
	}
	return ip("link add cfto1 type veth peer name cfto2")
}
