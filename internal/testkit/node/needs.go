//go:build linux

package node

import (
	"bytes"
	"context"
	"errors"
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

// Possible tells why there can be no node on this machine. It enters namespaces and leaves them again.
func Possible(ctx context.Context) error {
	errs := []error{visible(ctx)}
	if os.Geteuid() != 0 {
		errs = append(errs, errors.New("it needs the rights of root"))
	}
	for _, need := range []struct{ program, install string }{
		{"containerd", "containerd"},
		{"ctr", "containerd"},
		{"runc", "runc"},
		{"iptables", "iptables"},
		{"ip", "iproute2"},
		{filepath.Join(plugins, "bridge"), "containernetworking-plugins"},
	} {
		if _, err := exec.LookPath(need.program); err != nil {
			errs = append(errs, fmt.Errorf("%w: install the package %s", err, need.install))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	var said bytes.Buffer
	if err := run(ctx, &said, roleProbe); err != nil {
		return fmt.Errorf("trying it: %w\n%s", err, &said)
	}
	return nil
}

// visible refuses what would be hidden inside.
func visible(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT", "GOMODCACHE", "GOCACHE").Output()
	if err != nil {
		return fmt.Errorf("finding Go: %w", err)
	}
	work, workErr := os.Getwd()
	cache, cacheErr := os.UserCacheDir()
	errs := []error{workErr, cacheErr}
	for _, path := range append(strings.Fields(string(out)), work, cache, home) {
		errs = append(errs, hidden(path))
	}
	return errors.Join(errs...)
}

// hidden refuses a path below a folder that is another one inside.
func hidden(path string) error {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	for _, folder := range append([]string{"/run", "/dev/shm"}, replaced...) {
		if path == folder || strings.HasPrefix(path, folder+"/") {
			return fmt.Errorf("%s is in %s, which a node replaces: move it", path, folder)
		}
	}
	return nil
}
