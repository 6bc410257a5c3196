package controlplane_test

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
)

// The tests of this file are not parallel: they count processes and goroutines.

func TestStopLeavesNothing(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	cp := start(t, controlplane.Options{})
	folder := cp.LogDir()
	if got := len(processesOf(t, folder)); got != 3 {
		t.Errorf("%d processes run, want etcd, kube-apiserver and kube-controller-manager", got)
	}

	stopping := time.Now()
	if err := cp.Stop(); err != nil {
		t.Fatalf("stopping: %v", err)
	}
	t.Logf("stopped in %s", time.Since(stopping))
	if left := processesOf(t, folder); len(left) > 0 {
		t.Errorf("these processes are left:\n%s", strings.Join(left, "\n"))
	}
	if exists(t, folder) {
		t.Errorf("%s is left", folder)
	}
	if err := cp.Stop(); err != nil {
		t.Errorf("stopping again: %v", err)
	}
}

func TestOptions(t *testing.T) {
	logs := t.TempDir()
	cp := start(t, controlplane.Options{LogDir: logs, WithoutControllerManager: true, APIServerFlags: []string{"--v=1"}})
	processes := strings.Join(processesOf(t, filepath.Dir(cp.Kubeconfig())), "\n")
	if !strings.Contains(processes, "--v=1") {
		t.Errorf("the API server lacks the extra flag:\n%s", processes)
	}
	if strings.Contains(processes, "kube-controller-manager") {
		t.Errorf("kube-controller-manager runs:\n%s", processes)
	}
	if err := cp.Stop(); err != nil {
		t.Fatalf("stopping: %v", err)
	}
	for _, name := range []string{"etcd.log", "kube-apiserver.log"} {
		if !exists(t, filepath.Join(logs, name)) {
			t.Errorf("%s is not kept", name)
		}
	}
}

// A killed process can't clean up: its children have to exit on their own, and the next process removes its folder.
func TestKilledParentLeavesNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends children with a killed parent")
	}
	victim := exec.CommandContext(t.Context(), os.Args[0])
	victim.Env = append(os.Environ(), asVictim+"=1")
	victim.Stderr = os.Stderr
	output, err := victim.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Start(); err != nil {
		t.Fatalf("starting the victim: %v", err)
	}
	line, readErr := bufio.NewReader(output).ReadString('\n')
	folder := strings.TrimSpace(line)
	running := processesOf(t, folder)
	if err := victim.Process.Kill(); err != nil {
		t.Fatalf("killing the victim: %v", err)
	}
	_ = victim.Wait() // says that it was killed
	if readErr != nil || len(running) != 3 {
		t.Fatalf("the victim ran %d processes (%v), want 3", len(running), readErr)
	}

	NewWithT(t).Eventually(func() []string { return processesOf(t, folder) }, eventually).Should(BeEmpty())
	if !exists(t, folder) {
		t.Fatal("the victim cleaned up; this test doesn't test what it should")
	}
	start(t, controlplane.Options{WithoutControllerManager: true})
	if exists(t, folder) {
		t.Errorf("%s is left", folder)
	}
	if !exists(t, shared.LogDir()) {
		t.Error("the folder of a running control plane was removed")
	}
}

func TestStartFails(t *testing.T) {
	for name, test := range map[string]struct {
		options controlplane.Options
		assets  string
		want    []string
	}{
		"without binaries it says how to get them": {
			want: []string{`run "make controlplane"`},
		},
		"without binaries in KUBEBUILDER_ASSETS it says whose setting that is": {
			assets: "/nowhere",
			want:   []string{"KUBEBUILDER_ASSETS", "/nowhere"},
		},
		"with a wrong flag it shows what the API server said": {
			options: controlplane.Options{BinDir: shared.BinDir(), APIServerFlags: []string{"--no-such-flag"}},
			want:    []string{"kube-apiserver", "exit status 1", "unknown flag: --no-such-flag"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBEBUILDER_ASSETS", test.assets)
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			t.Setenv("HOME", t.TempDir())
			t.Setenv("TMPDIR", t.TempDir())
			cp, err := controlplane.Start(t.Context(), test.options)
			if err == nil {
				t.Fatalf("it started: %v", cp.Stop())
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error lacks %q: %v", want, err)
				}
			}
			if left, _ := os.ReadDir(os.TempDir()); len(left) > 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
}

// The version is written three times, because the modules that build are not ours to import.
func TestVersionIsWhatIsBuilt(t *testing.T) {
	for _, name := range []string{"controlplane", "node"} {
		module, err := os.ReadFile(filepath.Join("..", "..", "..", "hack", name, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		match := regexp.MustCompile(`k8s\.io/kubernetes (v\S+)`).FindSubmatch(module)
		if match == nil || string(match[1]) != controlplane.KubernetesVersion {
			t.Errorf("hack/%s builds %q, want %s", name, match, controlplane.KubernetesVersion)
		}
	}
}

func start(t *testing.T, opts controlplane.Options) *controlplane.ControlPlane {
	t.Helper()
	starting := time.Now()
	cp, err := controlplane.Start(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("started in %s", time.Since(starting))
	t.Cleanup(func() {
		if err := cp.Stop(); err != nil {
			t.Errorf("stopping: %v", err)
		}
	})
	return cp
}

// processesOf returns the command lines that mention folder.
func processesOf(t *testing.T, folder string) []string {
	t.Helper()
	if folder == "" {
		return nil
	}
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(paths) == 0 {
		t.Skip("there is no /proc to look for processes in")
	}
	var found []string
	for _, path := range paths {
		content, err := os.ReadFile(path) // of a process that is gone meanwhile: an error; of a zombie: nothing
		if err == nil && bytes.Contains(content, []byte(folder)) {
			found = append(found, string(bytes.ReplaceAll(content, []byte{0}, []byte{' '})))
		}
	}
	return found
}

func exists(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}
