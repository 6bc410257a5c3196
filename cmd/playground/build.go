package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/module"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

// build gets the binaries that are missing: the control plane's into the user's
// cache folder, where they are found again, and ours into the temporary folder.
func (w *world) build(ctx context.Context) error {
	w.say.heading("Getting missing binaries")
	var err error
	if w.root, err = moduleRoot(ctx); err != nil {
		return err
	}
	// A download waits for the network, and a compiler for the processor.
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		if w.binaries, err = w.getControlPlane(ctx); err == nil {
			w.say.line("Kubernetes control plane: %s", w.binaries)
		}
		return err
	})
	group.Go(func() error { return w.buildPrograms(ctx) })
	return group.Wait()
}

// buildPrograms builds what is ours.
func (w *world) buildPrograms(ctx context.Context) error {
	began := time.Now()
	if err := os.Mkdir(w.bin(), 0o700); err != nil {
		return fmt.Errorf("creating a directory for the binaries: %w", err)
	}
	programs := []string{"cmd/awssim", "cmd/operator"}
	if w.config.command == "up" {
		programs = append(programs, "examples/"+pageProgram)
	}
	for _, program := range programs {
		name := filepath.Base(program)
		path := filepath.Join(w.bin(), name)
		err := module.Reuse("playground-"+name, path, func() error {
			// Without debug information linking is twice as fast.
			return w.goTool(ctx, w.say, "-C", w.root, "build", "-ldflags=-s -w", "-o", path, "./"+program)
		})
		if err != nil {
			return fmt.Errorf("building %s: %w", program, err)
		}
		w.say.line("%s: built in %s", program, since(began))
		began = time.Now()
	}
	return nil
}

// moduleRoot finds the checkout from any folder inside it.
func moduleRoot(ctx context.Context) (string, error) {
	if _, err := goPath(); err != nil {
		return "", err
	}
	root, err := module.Root(ctx)
	if err == nil {
		_, err = os.Stat(filepath.Join(root, "hack", "controlplane"))
	}
	if err != nil {
		return "", fmt.Errorf("run the playground in a checkout of the operator: %w", err)
	}
	return root, nil
}

// assetsVariable names a folder with a control plane that is used instead of one of our own.
const assetsVariable = "KUBEBUILDER_ASSETS"

// needed are the programs of a control plane that the playground starts.
var needed = []string{"etcd", "kube-apiserver", "kube-controller-manager", "kubectl", "helm"}

// givenControlPlane returns the folder of that name if it has all that is needed, or else what is missing there. The
// folders that other tools fill have no controller manager.
func givenControlPlane(dir string) (folder string, missing []string) {
	folder, err := filepath.Abs(dir)
	if err != nil {
		return "", needed
	}
	for _, name := range needed {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return "", missing
	}
	return folder, nil
}

// getControlPlane downloads etcd, Kubernetes and Helm, or builds them, unless they are there already. The program that
// does it shows its progress on stderr and the folder on stdout.
func (w *world) getControlPlane(ctx context.Context) (string, error) {
	if given := os.Getenv(assetsVariable); given != "" {
		folder, missing := givenControlPlane(given)
		if folder != "" {
			return folder, nil
		}
		w.say.line("%s is not used: %s has no %s", assetsVariable, given, strings.Join(missing, ", "))
	}
	var dir bytes.Buffer
	if err := w.goTool(ctx, &dir, controlPlaneArgs(w.root, w.config)...); err != nil {
		return "", fmt.Errorf("getting the control plane: %w", err)
	}
	return strings.TrimSpace(dir.String()), nil
}

func controlPlaneArgs(root string, c config) []string {
	return []string{"-C", filepath.Join(root, "hack", "controlplane"), "run", "./build", "--print-dir", fmt.Sprintf("--download=%t", !c.build)}
}

// goTool runs the developer's Go, with their environment.
func (w *world) goTool(ctx context.Context, stdout io.Writer, args ...string) error {
	path, err := goPath()
	if err != nil {
		return err
	}
	return w.tools.Run(ctx, process.Command{Name: "go", Path: path, Args: args, Stdout: stdout, Stderr: w.say})
}

func goPath() (string, error) {
	path, err := exec.LookPath("go")
	if err != nil {
		return "", fmt.Errorf("finding go: %w; install it and add it to the PATH", err)
	}
	return path, nil
}
