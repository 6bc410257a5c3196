package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
)

// nodeModule is where the programs of a node are built. A module of its own leaves the version of the control plane as
// it is.
const nodeModule = "../node"

// ofNode are the programs of a node, the small one first.
var ofNode = []string{"pause", "kube-proxy", "kube-scheduler", "kubelet"}

// ensureNode returns the folder of a node's programs next to the control plane's, after building them if need be.
func ensureNode(controlPlane string, progress io.Writer) (string, error) {
	kubernetes, _, err := readVersion()
	if err != nil {
		return "", fmt.Errorf("reading what to build: %w", err)
	}
	root, digest := filepath.Dir(controlPlane), sha256.New()
	if err := digestModule(digest, nodeModule); err != nil {
		return "", fmt.Errorf("reading what to build: %w", err)
	}
	flags := buildFlags(kubernetes)
	fmt.Fprint(digest, flags)
	dir := filepath.Join(root, fmt.Sprintf("node-%s-%s-%s-%x", kubernetes, runtime.GOOS, runtime.GOARCH, digest.Sum(nil)[:6]))
	if has(dir, ofNode) {
		return dir, nil
	}
	locked, err := lock(root, progress)
	if err != nil {
		return "", fmt.Errorf("locking the cache folder: %w", err)
	}
	defer locked.Close()
	if has(dir, ofNode) { // another process may have built just this
		return dir, nil
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	fmt.Fprintf(progress, "Building the programs of a node, %s, which takes about 3 minutes on 2 idle cores.\n", kubernetes)
	temp := filepath.Join(root, "building-node")
	return dir, fill(dir, temp, func() error { return compileAll(ctx, nodeModule, temp, ofNode, flags, progress) })
}
