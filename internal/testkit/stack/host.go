// Package stack runs what an installation runs: the built operator and the simulated
// AWS as processes, on a control plane of their own. Tests and benchmarks look at it from
// outside only: through the API server, AWS's control API, metrics, logs, and what
// arrives in etcd.
package stack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/module"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

// startTimeout bounds the start of a process on a busy machine. Ours take a second; another operator may take longer.
const startTimeout = 2 * time.Minute

// Host is what stacks share: a control plane with the chart installed, and the built binaries.
type Host struct {
	ControlPlane *controlplane.ControlPlane
	// Installation is who operators are and how they are run, unless set otherwise.
	Installation *install.Installation
	// Guard, if there is one, kills the processes of stacks should we be killed.
	Guard     *process.Guard
	root, dir string
}

// At is a host in a checkout, with binaries in a folder, and nothing installed.
func At(cp *controlplane.ControlPlane, root, dir string) *Host {
	return &Host{ControlPlane: cp, root: root, dir: dir}
}

// NewHost builds the binaries into dir, the operator with the race detector if race is
// true, and installs the chart.
func NewHost(ctx context.Context, cp *controlplane.ControlPlane, dir string, race bool) (*Host, error) {
	root, err := module.Root(ctx)
	if err != nil {
		return nil, err
	}
	h := At(cp, root, dir)
	if err := h.build(ctx, race); err != nil {
		return nil, err
	}
	if h.Installation, err = h.Install(ctx, install.Options{}); err != nil {
		return nil, err
	}
	return h, nil
}

// Install installs the chart, with other values than the usual or once more.
func (h *Host) Install(ctx context.Context, o install.Options) (*install.Installation, error) {
	o.ControlPlane, o.Root, o.Dir = h.ControlPlane, h.root, h.dir
	return install.Install(ctx, o)
}

func (h *Host) build(ctx context.Context, race bool) error {
	for _, name := range []string{"awssim", "operator"} {
		if err := module.Program(ctx, h.root, name, h.Binary(name), race && name == "operator"); err != nil {
			return err
		}
	}
	return nil
}

// Binary returns the path of a built binary: awssim or operator. A test that runs it depends on its sources.
func (h *Host) Binary(name string) string {
	module.DependOn(h.root)
	return filepath.Join(h.dir, name)
}

// Path returns the path of a file of the module.
func (h *Host) Path(elements ...string) string {
	return filepath.Join(append([]string{h.root}, elements...)...)
}

// RESTConfig returns a configuration for the administrator that is not slowed down by the client's own limits, which
// would distort measurements.
func (h *Host) RESTConfig() *rest.Config {
	config := h.ControlPlane.RESTConfig()
	config.QPS = -1
	return config
}

// Client returns a client that knows every kind that the operator handles.
func (h *Host) Client() (client.WithWatch, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme, kleffv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("building the scheme: %w", err)
		}
	}
	c, err := client.NewWithWatch(h.RESTConfig(), client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	return c, nil
}

// Kubectl runs kubectl as the administrator and returns what it prints.
func (h *Host) Kubectl(ctx context.Context, args ...string) (string, error) {
	return h.command(ctx, "kubectl", args...)
}

// Helm runs helm as the administrator and returns what it prints.
func (h *Host) Helm(ctx context.Context, args ...string) (string, error) {
	return h.command(ctx, "helm", args...)
}

func (h *Host) command(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(h.ControlPlane.BinDir(), name), args...)
	cmd.Env = h.Env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// Env is the administrator's environment: the caller's without anything that could lead to another cluster, to the real
// AWS or to the real Cloudflare.
func (h *Host) Env() []string {
	env := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return strings.HasPrefix(name, "AWS_") || strings.HasPrefix(name, "CLOUDFLARE_") || name == "KUBECONFIG" || name == "KUBECACHEDIR"
	})
	return append(env,
		"KUBECONFIG="+h.ControlPlane.Kubeconfig(),
		"KUBECACHEDIR="+filepath.Join(h.dir, "kubectl-cache"),
		// The default profile of a developer may name a role, a proxy's CA bundle or an endpoint.
		"AWS_CONFIG_FILE="+os.DevNull,
		"AWS_SHARED_CREDENTIALS_FILE="+os.DevNull,
		"AWS_EC2_METADATA_DISABLED=true",
	)
}

// await waits until a server answers 200.
func await(ctx context.Context, child *process.Child, url string) error {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	return poll(ctx, child, url, func(ctx context.Context) (bool, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return false, err
		}
		response, err := client.Do(request)
		if err != nil {
			return false, nil //nolint:nilerr // it does not listen yet
		}
		return response.StatusCode == http.StatusOK, response.Body.Close()
	})
}

// awaitListener waits until a server listens.
func awaitListener(ctx context.Context, child *process.Child, address string) error {
	return poll(ctx, child, address, func(ctx context.Context) (bool, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return false, nil //nolint:nilerr // it does not listen yet
		}
		return true, conn.Close()
	})
}

// poll asks until the answer is yes, or the process has ended.
func poll(ctx context.Context, child *process.Child, address string, ask wait.ConditionWithContextFunc) error {
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, startTimeout, true, func(ctx context.Context) (bool, error) {
		select {
		case <-child.Ended():
			return false, errors.Join(errors.New("it ended"), child.Err())
		default:
			return ask(ctx)
		}
	})
	if err != nil {
		return fmt.Errorf("waiting for %s at %s: %w; its last lines were:\n%s", child.Name(), address, err, child.LogTail(15))
	}
	return nil
}
