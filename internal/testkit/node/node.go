//go:build linux

package node

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

const (
	// Name is that of the Node object.
	Name = "node1"

	pauseImage = "localhost/pause:1"
	socket     = "/run/containerd/containerd.sock"
	// startPatience is far above the seconds that a start takes.
	startPatience = 2 * time.Minute
)

// Node is a running node with its control plane.
type Node struct {
	ControlPlane *controlplane.ControlPlane

	processes *process.Group
}

// Start starts the control plane and the node, and returns when Pods can run. The process has to be inside the
// namespaces. Logs are in the given folder.
func Start(ctx context.Context, logs string) (*Node, error) {
	if !Inside() {
		return nil, errors.New("a node runs in namespaces of its own: see Run")
	}
	n := &Node{processes: process.NewGroup(nil)}
	var err error
	if n.ControlPlane, err = controlplane.Start(ctx, controlplane.Options{NodeAddress: Address, LogDir: logs}); err != nil {
		return nil, err
	}
	if err := n.start(ctx, logs); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the node: %w", err), n.Stop())
	}
	return n, nil
}

// Stop ends all processes but the Pods', which end with the namespaces.
func (n *Node) Stop() error { return errors.Join(n.processes.Stop(), n.ControlPlane.Stop()) }

func (n *Node) start(ctx context.Context, logs string) error {
	if err := n.configure(); err != nil {
		return err
	}
	run := func(program string, args ...string) error {
		_, err := n.processes.Start(process.Command{Path: program, Args: args, LogFile: filepath.Join(logs, filepath.Base(program)+".log")})
		return err
	}
	if err := run("containerd", "--config", inScratch("containerd.toml")); err != nil {
		return err
	}
	if err := n.importPause(ctx); err != nil {
		return err
	}
	asset := func(name string) string { return filepath.Join(os.Getenv(assets), name) }
	err := errors.Join(
		run(asset("kubelet"), "--config="+inScratch("kubelet.yaml"), "--kubeconfig="+inScratch("kubelet.kubeconfig"), "--hostname-override="+Name, "--node-ip="+Address),
		run(asset("kube-scheduler"), "--kubeconfig="+inScratch("scheduler.kubeconfig"), "--leader-elect=false", "--bind-address=127.0.0.1"),
		// Replies between two Pods take the bridge, past the translation of a Service's address, unless they are masqueraded.
		run(asset("kube-proxy"), "--kubeconfig="+inScratch("proxy.kubeconfig"), "--hostname-override="+Name, "--proxy-mode=iptables", "--masquerade-all",
			"--conntrack-max-per-core=0", "--conntrack-tcp-timeout-established=0", "--conntrack-tcp-timeout-close-wait=0"),
	)
	if err != nil {
		return err
	}
	return n.awaitReady(ctx)
}

// importPause waits for containerd with it.
func (n *Node) importPause(ctx context.Context) error {
	pause := Image{Name: pauseImage, Program: filepath.Join(os.Getenv(assets), "pause"), User: "65535:65535"}
	archive := inScratch("pause.tar")
	if _, err := pause.Write(archive); err != nil {
		return err
	}
	var last error
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, startPatience, true, func(ctx context.Context) (bool, error) {
		last = n.Import(ctx, archive)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for containerd: %w", last)
	}
	return nil
}

// Import loads the images of an OCI archive.
func (n *Node) Import(ctx context.Context, archive string) error {
	_, err := n.Ctr(ctx, "images", "import", archive)
	return err
}

// Ctr runs a command of containerd for the containers of Kubernetes.
func (n *Node) Ctr(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "ctr", append([]string{"--address", socket, "--namespace", "k8s.io"}, args...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("ctr %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

func (n *Node) awaitReady(ctx context.Context) error {
	kube, err := kubernetes.NewForConfig(n.ControlPlane.RESTConfig())
	if err != nil {
		return err
	}
	last := errors.New("it is not Ready")
	err = wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, startPatience, true, func(ctx context.Context) (bool, error) {
		node, err := kube.CoreV1().Nodes().Get(ctx, Name, metav1.GetOptions{})
		if err != nil {
			last = err
			return false, nil //nolint:nilerr // the API server may not know it yet
		}
		for _, c := range node.Status.Conditions {
			if c.Type == corev1.NodeReady {
				last = errors.New(c.Message)
				return c.Status == corev1.ConditionTrue, nil
			}
		}
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the node: %w", last)
	}
	return awaitProxy(ctx)
}

// awaitProxy waits until Services lead to their Pods.
func awaitProxy(ctx context.Context) error {
	return wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, startPatience, true, func(ctx context.Context) (bool, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:10256/healthz", nil)
		if err != nil {
			return false, err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return false, nil //nolint:nilerr // it does not listen yet
		}
		return response.StatusCode == http.StatusOK, response.Body.Close()
	})
}

func inScratch(name string) string { return filepath.Join(scratch, name) }

// users are the components of a node, with their names and groups.
var users = map[string][]string{
	"kubelet":   {"system:node:" + Name, "system:nodes"},
	"scheduler": {"system:kube-scheduler"},
	"proxy":     {"system:kube-proxy"},
}

// configure writes what the components read.
func (n *Node) configure() error {
	for component, user := range users {
		config, err := n.ControlPlane.AddUser(user[0], user[1:]...)
		if err != nil {
			return err
		}
		if err := controlplane.WriteKubeconfig(inScratch(component+".kubeconfig"), config); err != nil {
			return err
		}
	}
	files := map[string]string{
		"ca.crt":          string(n.ControlPlane.CA()),
		"resolv.conf":     "nameserver " + Address + "\n",
		"containerd.toml": fmt.Sprintf(containerdConfig, inScratch("containerd"), socket, pauseImage, inScratch("opt"), plugins, inScratch("cni")),
		"cni/10.conflist": fmt.Sprintf(cniConfig, bridge, network, firstPod),
		"kubelet.yaml":    fmt.Sprintf(kubeletConfig, inScratch("ca.crt"), cgroupRoot, Address, inScratch("resolv.conf"), inScratch("volumeplugins"), socket),
	}
	if err := os.MkdirAll(inScratch("cni"), 0o755); err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(inScratch(name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}
