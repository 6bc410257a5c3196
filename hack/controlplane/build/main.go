// Command build builds the binaries of the local control plane once per user and
// version. Run it in hack/controlplane; "make controlplane" does. With --kubernetes it
// builds the API server and the controller manager of another release, which
// "make test-matrix" tests against.
package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"flag"
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
	"time"
)

// heartbeat is how long a build may be silent before a reader assumes that it hangs.
const heartbeat = 15 * time.Second

// binaries in the order they are built: the small one shows early that the toolchain works.
var binaries = []string{"etcd", "kube-apiserver", "kube-controller-manager", "kubectl", "helm", "helm3"}

// elsewhere are the programs that are built as they are.
var elsewhere = map[string]string{"helm3": "helm.sh/helm/v3/cmd/helm"}

func main() {
	printDir := flag.Bool("print-dir", false, "print only the folder of the binaries on stdout, progress on stderr")
	download := flag.Bool("download", false, "download finished programs instead of building them if the network allows it: enough for a demo, not for tests")
	release := flag.String("kubernetes", "", "build the API server and the controller manager of this release, such as v1.30.14, instead of the one in go.mod")
	node := flag.Bool("node", false, "build the programs of a node, and name their folder instead of the control plane's")
	flag.Parse()
	var progress io.Writer = os.Stdout
	if *printDir {
		progress = os.Stderr
	}
	var finished *downloader
	// Tests with another release need more than a demo.
	if *download && *release == "" && arePublished {
		finished = newDownloader()
	}
	dir, err := ensure(finished, build, progress)
	if err == nil && *release != "" {
		dir, err = ensureRelease(*release, dir, progress)
	}
	if err == nil && *node {
		dir, err = ensureNode(dir, progress)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(1)
	}
	if *printDir {
		fmt.Println(dir)
	} else {
		fmt.Println("the binaries are in", dir)
	}
}

// builder fills a folder in another one with programs.
type builder func(ctx context.Context, root, dir string, flags []string, progress io.Writer) error

// ensure returns the folder that holds all binaries, after building them if need be. Unless finished is nil and if
// nothing was built before, it is the folder of downloaded ones where that is possible.
func ensure(finished *downloader, build builder, progress io.Writer) (string, error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	kubernetes, version, err := readVersion()
	if err != nil {
		return "", fmt.Errorf("reading what to build: %w", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the cache directory: %w", err)
	}
	root := filepath.Join(cache, "cloudfront-tenant-operator", "controlplane")
	dir := filepath.Join(root, version)
	current := filepath.Join(root, fmt.Sprintf("current-%s-%s-%s", kubernetes, runtime.GOOS, runtime.GOARCH))
	target, _ := os.Readlink(current)
	if has(dir, binaries) && target == version {
		return dir, nil
	}
	if finished.has(root) {
		return finished.dir(root), nil
	}
	locked, err := lock(root, progress)
	if err != nil {
		return "", fmt.Errorf("locking the cache directory: %w", err)
	}
	defer locked.Close()
	if !has(dir, binaries) { // another process may have built just this
		if finished != nil {
			if taken, err := finished.take(ctx, root, progress); taken || err != nil {
				return finished.dir(root), err
			}
		}
		if err := build(ctx, root, dir, buildFlags(kubernetes), progress); err != nil {
			return "", err
		}
	}
	// The link is how internal/testkit/controlplane finds the binaries; a rename replaces it in one step.
	_ = os.Remove(current + ".new")
	if err := os.Symlink(version, current+".new"); err != nil {
		return "", fmt.Errorf("linking the binaries: %w", err)
	}
	return dir, os.Rename(current+".new", current)
}

// has reports whether a folder has every one of the programs.
func has(dir string, programs []string) bool {
	return !slices.ContainsFunc(programs, func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err != nil
	})
}

// readVersion returns the Kubernetes version and a name that changes with everything that goes into the binaries.
func readVersion() (kubernetes, version string, err error) {
	digest, etcd := sha256.New(), ""
	if err := digestModule(digest, "."); err != nil {
		return "", "", err
	}
	content, err := os.ReadFile("go.mod")
	if err != nil {
		return "", "", err
	}
	for _, m := range regexp.MustCompile(`\t(k8s\.io/kubernetes|go\.etcd\.io/etcd/server/v3) (v\d\S+)`).FindAllSubmatch(content, -1) {
		if string(m[1]) == "k8s.io/kubernetes" {
			kubernetes = string(m[2])
		} else {
			etcd = string(m[2])
		}
	}
	fmt.Fprint(digest, buildFlags(kubernetes))
	return kubernetes, fmt.Sprintf("%s-etcd-%s-%s-%s-%x", kubernetes, etcd, runtime.GOOS, runtime.GOARCH, digest.Sum(nil)[:6]), nil
}

// digestModule adds everything that goes into the programs of a module.
func digestModule(digest io.Writer, module string) error {
	paths, _ := filepath.Glob(mainOf(module, "*")) // sorted; the pattern is valid
	for _, path := range append(paths, filepath.Join(module, "go.mod"), filepath.Join(module, "go.sum")) {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(digest, "%s %d\n%s", path, len(content), content); err != nil {
			return err
		}
	}
	return nil
}

// buildFlags stamps the version, without which kubectl and helm refuse the server. Nothing in the flags is
// of this machine or moment, so equal sources give equal binaries.
func buildFlags(kubernetes string) []string {
	parts, ldflags := strings.Split(strings.TrimPrefix(kubernetes, "v"), "."), "-s -w"
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		for _, set := range []string{
			"gitVersion=" + kubernetes, "gitMajor=" + parts[0], "gitMinor=" + parts[1],
			"gitCommit=", "gitTreeState=clean", "buildDate=1970-01-01T00:00:00Z",
		} {
			ldflags += " -X " + pkg + "." + set
		}
	}
	return []string{"-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", ldflags}
}

// lock makes a second build wait for the first, until the lock is closed; the kernel does it when this process ends.
func lock(root string, progress io.Writer) (io.Closer, error) {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(root, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		return file, nil
	}
	fmt.Fprintln(progress, "another build of the control plane is running; waiting for it")
	return file, syscall.Flock(int(file.Fd()), syscall.LOCK_EX)
}

// build compiles the control plane into dir.
func build(ctx context.Context, root, dir string, flags []string, progress io.Writer) error {
	temp, start := filepath.Join(root, "building"), time.Now()
	fmt.Fprintf(progress, "Building the control plane %s. %s\n", filepath.Base(dir), cost(runtime.NumCPU()))
	err := fill(dir, temp, func() error { return compileAll(ctx, ".", temp, binaries, flags, progress) })
	if err == nil {
		fmt.Fprintf(progress, "built in %s\n", time.Since(start).Round(time.Second))
	}
	return err
}

// fill has a folder temp filled, and renames it to dir, so that dir is complete or absent.
func fill(dir, temp string, compile func() error) error {
	for _, stale := range []string{temp, dir} { // left by a build that was killed, or damaged since
		if err := os.RemoveAll(stale); err != nil {
			return fmt.Errorf("removing an incomplete build: %w", err)
		}
	}
	defer os.RemoveAll(temp)
	if err := compile(); err != nil {
		return err
	}
	if err := os.Rename(temp, dir); err != nil {
		return fmt.Errorf("moving the binaries into place: %w", err)
	}
	return nil
}

// compileAll compiles the programs of a module into the folder output.
func compileAll(ctx context.Context, module, output string, programs, flags []string, progress io.Writer) error {
	for i, name := range programs {
		fmt.Fprintf(progress, "[%d/%d] %s\n", i+1, len(programs), name)
		if err := compile(ctx, module, name, filepath.Join(output, name), flags, progress); err != nil {
			return fmt.Errorf("building %s: %w", name, err)
		}
	}
	return nil
}

// cost says what the first build takes: some 20 minutes of one core, and never less than 3, since the linker and the
// download don't get faster with more of them.
func cost(cores int) string {
	unit := "cores"
	if cores == 1 {
		unit = "core"
	}
	return fmt.Sprintf("The first build takes about %d minutes with %d %s, and 3 GB for\n"+
		"downloads and Go's build cache; it happens once per user.", max(3, (20+cores-1)/cores), cores, unit)
}

// compile runs "go build", with a sign of life now and then and the compiler's output if it fails.
func compile(ctx context.Context, module, name, output string, flags []string, progress io.Writer) error {
	start, done := time.Now(), make(chan error, 1)
	elapsed := func() string { return time.Since(start).Round(time.Second).String() }
	var messages bytes.Buffer
	args := append([]string{"build", "-o", output}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, cmp.Or(elsewhere[name], "./cmd/"+name))...)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	cmd.Stderr = &messages
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	go func() { done <- cmd.Run() }()
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			fmt.Fprintf(progress, "      still building %s, %s\n", name, elapsed())
		case err := <-done:
			if err != nil {
				fmt.Fprint(progress, messages.String())
				return err
			}
			fmt.Fprintf(progress, "      %s is ready after %s\n", name, elapsed())
			return nil
		}
	}
}
