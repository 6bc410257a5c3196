package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// ofRelease are the binaries that a release of Kubernetes brings along. The others come from the usual control plane.
var ofRelease = []string{"kube-apiserver", "kube-controller-manager"}

// ensureRelease returns a folder with the API server and the controller manager of a release and, as links, the rest of
// the usual control plane in base, which has a release of its own.
func ensureRelease(release, base string, progress io.Writer) (string, error) {
	if !regexp.MustCompile(`^v1\.\d+\.\d+$`).MatchString(release) {
		return "", fmt.Errorf("--kubernetes %q is not a release: write it like v1.30.14", release)
	}
	if strings.HasPrefix(filepath.Base(base), release+"-") {
		return base, nil
	}
	digest := sha256.New()
	for _, name := range ofRelease {
		content, err := os.ReadFile(mainOf(".", name))
		if err != nil {
			return "", fmt.Errorf("reading what to build: %w", err)
		}
		digest.Write(content)
	}
	fmt.Fprint(digest, buildFlags(release))
	root := filepath.Dir(base)
	dir := filepath.Join(root, fmt.Sprintf("release-%s-%s-%s-%x", release, runtime.GOOS, runtime.GOARCH, digest.Sum(nil)[:6]))
	if has(dir, binaries) {
		return dir, nil
	}
	locked, err := lock(root, progress)
	if err != nil {
		return "", fmt.Errorf("locking the cache folder: %w", err)
	}
	defer locked.Close()
	if !has(dir, ofRelease) {
		fmt.Fprintf(progress, "Building the API server of Kubernetes %s, which takes about 3 minutes on 2 idle cores.\n", release)
		if err := buildRelease(release, dir, progress); err != nil {
			return "", err
		}
	}
	return dir, linkOthers(dir, base)
}

// linkOthers links what a release does not bring along to the usual control plane; links that lead nowhere any more are
// replaced.
func linkOthers(dir, base string) error {
	for _, name := range binaries {
		if slices.Contains(ofRelease, name) {
			continue
		}
		link := filepath.Join(dir, name)
		if err := os.Remove(link); err != nil && !os.IsNotExist(err) {
			return err
		}
		if err := os.Symlink(filepath.Join(base, name), link); err != nil {
			return err
		}
	}
	return nil
}

// buildRelease fills a folder in the cache and renames it, so that dir is complete or absent.
func buildRelease(release, dir string, progress io.Writer) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	temp := filepath.Join(filepath.Dir(dir), "building-release")
	for _, stale := range []string{temp, dir} {
		if err := os.RemoveAll(stale); err != nil {
			return fmt.Errorf("removing what is incomplete: %w", err)
		}
	}
	defer os.RemoveAll(temp)
	module, bin := filepath.Join(temp, "module"), filepath.Join(temp, "bin")
	if err := writeModule(ctx, release, module); err != nil {
		return fmt.Errorf("writing a module for %s: %w", release, err)
	}
	// The module has no go.sum: the last of two -mod flags counts, and lets the go command write one.
	if err := compileAll(ctx, module, bin, ofRelease, append(buildFlags(release), "-mod=mod"), progress); err != nil {
		return err
	}
	return os.Rename(bin, dir)
}

// writeModule writes a module that builds the programs of another release. The go command checks what it downloads
// against the checksum database, as for any new dependency.
func writeModule(ctx context.Context, release, module string) error {
	for _, name := range ofRelease {
		content, err := os.ReadFile(mainOf(".", name))
		if err != nil {
			return err
		}
		target := mainOf(module, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(target, content, 0o644); err != nil {
			return err
		}
	}
	staging, err := stagingModules(ctx, release)
	if err != nil {
		return err
	}
	var gomod strings.Builder
	fmt.Fprintf(&gomod, "module release\n\ngo %s\n\nrequire k8s.io/kubernetes %s\n\n", strings.TrimPrefix(runtime.Version(), "go"), release)
	for _, path := range staging {
		fmt.Fprintf(&gomod, "replace %s => %[1]s v0.%s\n", path, strings.TrimPrefix(release, "v1."))
	}
	return os.WriteFile(filepath.Join(module, "go.mod"), []byte(gomod.String()), 0o644)
}

// stagingModules returns the modules that a release names v0.0.0, because its own source replaces them by folders.
func stagingModules(ctx context.Context, release string) ([]string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", "k8s.io/kubernetes@"+release)
	cmd.Stderr = os.Stderr
	output, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("downloading k8s.io/kubernetes@%s: %w", release, err)
	}
	var downloaded struct{ GoMod string }
	if err := json.Unmarshal(output, &downloaded); err != nil {
		return nil, err
	}
	content, err := os.ReadFile(downloaded.GoMod)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, m := range regexp.MustCompile(`(?m)^\t(k8s\.io/\S+) v0\.0\.0( //.*)?$`).FindAllSubmatch(content, -1) {
		paths = append(paths, string(m[1]))
	}
	return paths, nil
}

func mainOf(module, name string) string { return filepath.Join(module, "cmd", name, "main.go") }
