//go:build linux

package node_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/module"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/node"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

const (
	repository = "localhost/cloudfront-tenant-operator"
	firstTag   = "first"
	secondTag  = "second"
	// patience ends what hangs.
	patience = 4 * time.Minute
)

// world is the node with the simulated AWS, and what the scenarios share.
type world struct {
	*figures

	t    *testing.T
	node *node.Node
	host *stack.Host
	kube client.WithWatch
	aws  *simulated
	logs *podLogs
}

// newWorld starts a node with AWS, and nothing in it.
func newWorld(t *testing.T) *world {
	t.Helper()
	root, err := module.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, kind := range []string{"CACHE", "CONFIG", "DATA"} { // helm's own files
		t.Setenv("HELM_"+kind+"_HOME", filepath.Join(dir, "helm"))
	}
	w := &world{t: t, figures: &figures{}, aws: startAWS(t, root)}
	started := time.Now()
	if w.node, err = node.Start(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.node.Stop(); err != nil {
			t.Error(err)
		}
	})
	w.add("start of the node", time.Since(started).Round(10*time.Millisecond).String(), "")
	w.host = stack.At(w.node.ControlPlane, root, dir)
	if w.kube, err = w.host.Client(); err != nil {
		t.Fatal(err)
	}
	w.logs = keepLogs(t)
	w.namespace(install.Namespace)
	return w
}

// on is the world for a subtest.
func (w *world) on(t *testing.T) *world {
	t.Helper()
	out := *w
	out.t = t
	return &out
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) eventually(check func(g gomega.Gomega)) {
	w.t.Helper()
	gomega.NewWithT(w.t).Eventually(w.t.Context(), check).WithTimeout(patience).WithPolling(100 * time.Millisecond).Should(gomega.Succeed())
}

func (w *world) kubectl(args ...string) string {
	w.t.Helper()
	out, err := w.host.Kubectl(w.t.Context(), args...)
	w.must(err)
	return out
}

// helm installs or upgrades the release with values in addition to the chart's, and waits until it is ready.
func (w *world) helm(tag string, values ...string) {
	w.t.Helper()
	w.helmWith(stack.NewAWS(awsAddress).Env(), tag, values...)
}

// helmWith does the same with another environment of the operator.
func (w *world) helmWith(env []string, tag string, values ...string) {
	w.t.Helper()
	args := []string{
		"upgrade", install.Release, w.host.Path("charts", "cloudfront-tenant-operator"), "--install", "--wait", "--timeout", "2m", "--namespace", install.Namespace,
		"--set", "image.repository=" + repository, "--set", "image.tag=" + tag,
	}
	for i, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		args = append(args, "--set-string", fmt.Sprintf("extraEnv[%d].name=%s,extraEnv[%d].value=%s", i, name, i, value))
	}
	for _, value := range values {
		args = append(args, "--set", value)
	}
	_, err := w.host.Helm(w.t.Context(), args...)
	if err != nil {
		w.describe()
	}
	w.must(err)
}

// describe prints the Pods when something failed.
func (w *world) describe() {
	out, _ := w.host.Kubectl(context.Background(), "describe", "pods", "--namespace", install.Namespace)
	w.t.Log(out)
}

// namespace makes one, in which Pods have to be restricted.
func (w *world) namespace(name string) {
	w.t.Helper()
	w.must(w.kube.Create(w.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/warn": "restricted"},
	}}))
}

// pods are those of the operator that are not being deleted.
func (w *world) pods() (out []corev1.Pod) {
	w.t.Helper()
	var list corev1.PodList
	w.must(w.kube.List(w.t.Context(), &list, client.InNamespace(install.Namespace)))
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil {
			out = append(out, pod)
		}
	}
	return out
}

// leader is the Pod that holds the lease.
func (w *world) leader() corev1.Pod {
	w.t.Helper()
	var found corev1.Pod
	w.eventually(func(g gomega.Gomega) {
		var lease coordinationv1.Lease
		g.Expect(w.kube.Get(w.t.Context(), client.ObjectKey{Namespace: install.Namespace, Name: "cloudfront-tenant-operator"}, &lease)).To(gomega.Succeed())
		g.Expect(lease.Spec.HolderIdentity).NotTo(gomega.BeNil())
		name, _, _ := strings.Cut(*lease.Spec.HolderIdentity, "_")
		g.Expect(w.kube.Get(w.t.Context(), client.ObjectKey{Namespace: install.Namespace, Name: name}, &found)).To(gomega.Succeed())
	})
	return found
}

// twoReady waits until both replicas are ready, as before each scenario.
func (w *world) twoReady() {
	w.t.Helper()
	w.kubectl("rollout", "status", "--namespace", install.Namespace, "deployment/"+install.Release, "--timeout=2m")
}

// restarts counts those of the containers of all Pods.
func (w *world) restarts() (count int) {
	w.t.Helper()
	for _, pod := range w.pods() {
		for _, c := range pod.Status.ContainerStatuses {
			count += int(c.RestartCount)
		}
	}
	return count
}

// build compiles the operator with the flags of the Dockerfile.
func build(ctx context.Context, root, path string) error {
	return module.Build(ctx, root, []string{"CGO_ENABLED=0"}, "-trimpath", "-buildvcs=false", "-o", path, "./cmd/operator")
}

// image builds the operator as the Dockerfile does, and gives it to the node under two tags.
func (w *world) image() {
	w.t.Helper()
	program := filepath.Join(w.t.TempDir(), "operator")
	w.must(build(w.t.Context(), w.host.Path(), program))
	image := node.Image{Name: repository + ":" + firstTag, Program: program, User: "65532:65532", Files: node.Base()}
	archive := filepath.Join(w.t.TempDir(), "image.tar")
	size, err := image.Write(archive)
	w.must(err)
	w.must(w.node.Import(w.t.Context(), archive))
	_, err = w.node.Ctr(w.t.Context(), "images", "tag", image.Name, repository+":"+secondTag)
	w.must(err)
	w.must(os.Remove(archive))
	w.megabytes(w.t, "image, compressed", size.Compressed, 22.5)
	w.megabytes(w.t, "image, unpacked", size.Unpacked, 70)
}

// install installs the image, and the chart with its defaults.
func (w *world) install() {
	w.image()
	begun := time.Now()
	w.helm(firstTag)
	w.duration(w.t, "helm install --wait", time.Since(begun), time.Minute)
	w.exactly(w.t, "restarts of containers", w.restarts(), 0)
}
