// Package migration plays the moves that docs/migration describes: the world as another
// operator or Terraform leaves it, the documented commands as they are written, and our
// operator on a real API server. It also plays what happens when a step is forgotten.
package migration

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

const (
	moduleRoot = "../.."
	newCRD     = moduleRoot + "/config/crd"
	// patience bounds a block of commands. The objects that it waits for are there before it starts.
	patience = time.Minute
)

// shared is the cluster of all tests that need none of their own.
var shared *cluster

func TestMain(m *testing.M) {
	ctrl.SetLogger(zap.New(zap.WriteTo(io.Discard)))
	os.Exit(controlplane.RunTests(m, controlplane.Options{WithoutControllerManager: true}, func(cp *controlplane.ControlPlane) error {
		shared = &cluster{ControlPlane: cp, config: unhurried(cp)}
		return shared.apply(context.Background(), newCRD)
	}))
}

// cluster is a control plane and what is known of it.
type cluster struct {
	*controlplane.ControlPlane

	config *rest.Config
}

// unhurried lets the test, and not the client, decide on the pace.
func unhurried(cp *controlplane.ControlPlane) *rest.Config {
	config := cp.RESTConfig()
	config.QPS, config.Burst = -1, 0
	return config
}

// newCluster starts a cluster of the test's own, with these CRDs.
func newCluster(t *testing.T, crds ...string) *cluster {
	t.Helper()
	cp, err := controlplane.Start(t.Context(), controlplane.Options{WithoutControllerManager: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cp.Stop(); err != nil {
			t.Error(err)
		}
	})
	c := &cluster{ControlPlane: cp, config: unhurried(cp)}
	if err := c.apply(t.Context(), crds...); err != nil {
		t.Fatal(err)
	}
	return c
}

// apply brings CRDs into the cluster, or replaces them, as the chart does.
func (c *cluster) apply(ctx context.Context, crds ...string) error {
	for _, file := range crds {
		script := fmt.Sprintf("kubectl apply --server-side --force-conflicts -f %[1]s && kubectl wait --for=condition=Established --timeout=60s -f %[1]s", file)
		if out, err := c.bash(ctx, c.Kubeconfig(), ".", script); err != nil {
			return fmt.Errorf("applying %s: %w:\n%s", file, err, out)
		}
	}
	return nil
}

// bash runs a script with the control plane's kubectl, and with nothing that leads elsewhere.
func (c *cluster) bash(ctx context.Context, kubeconfig, dir, script string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", script)
	// The commands of a killed shell would hold its output open.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + c.BinDir() + ":" + os.Getenv("PATH"), "KUBECONFIG=" + kubeconfig, "HOME=" + filepath.Dir(kubeconfig)}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// reader follows a page of the documentation in a namespace of a world.
type reader struct {
	t          *testing.T
	cluster    *cluster
	world      *world.World
	kubeconfig string
	namespace  string
	// dir is where the reader's files are.
	dir string
}

func newReader(t *testing.T, c *cluster, w *world.World) *reader {
	t.Helper()
	config, err := clientcmd.LoadFromFile(c.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	config.Contexts[config.CurrentContext].Namespace = w.Namespace
	r := &reader{t: t, cluster: c, world: w, namespace: w.Namespace, dir: t.TempDir()}
	r.kubeconfig = filepath.Join(t.TempDir(), "config")
	if err := clientcmd.WriteToFile(*config, r.kubeconfig); err != nil {
		t.Fatal(err)
	}
	return r
}

// tried finds the block of commands that follows a marker.
var tried = regexp.MustCompile("(?s)<!-- tried: ([a-z]+/[a-z-]+) -->\n```sh\n(.*?)```\n")

// follow runs a documented block. Only the namespace of the examples is replaced.
func (r *reader) follow(step string) string {
	r.t.Helper()
	return r.run(r.block(step))
}

// followUntilWait runs a documented block up to where it waits for the operator, which
// lives in this very process.
func (r *reader) followUntilWait(step string) {
	r.t.Helper()
	commands, _, waits := strings.Cut(r.block(step), "kubectl wait")
	if !waits {
		r.t.Fatalf("the step %s waits for nothing", step)
	}
	r.run(commands)
}

func (r *reader) block(step string) string {
	r.t.Helper()
	page, _, _ := strings.Cut(step, "/")
	text, err := os.ReadFile(filepath.Join(moduleRoot, "docs", "migration", page+".md"))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, block := range tried.FindAllStringSubmatch(string(text), -1) {
		if block[1] == step {
			return strings.ReplaceAll(block[2], "-n shop", "-n "+r.namespace)
		}
	}
	r.t.Fatalf("no page has the step %s", step)
	return ""
}

func (r *reader) run(script string) string {
	r.t.Helper()
	out, err := r.cluster.bash(r.t.Context(), r.kubeconfig, r.dir, script)
	if err != nil {
		r.t.Fatalf("%s: %v:\n%s", script, err, out)
	}
	r.tell()
	return out
}

// tell makes the world look at what was written past it: it watches only after writes of its own.
func (r *reader) tell() {
	r.t.Helper()
	if r.world == nil {
		return
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.namespace}}
	if err := r.world.Kube.Patch(r.t.Context(), ns, client.RawPatch(types.MergePatchType, []byte("{}"))); err != nil {
		r.t.Fatalf("patching the namespace: %v", err)
	}
}

// write makes a file of the reader's.
func (r *reader) write(name, text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}
