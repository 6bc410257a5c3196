// Package controlplane starts a throw-away Kubernetes control plane: etcd,
// kube-apiserver and kube-controller-manager as processes of this one, on free
// loopback ports, with their data in a temporary folder. It exists because
// namespaces that really terminate, owner references that really collect and
// validation rules that are really evaluated can't be faked.
package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/rest"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

// startTimeout is far above the four seconds a start takes on an idle machine,
// because tests of several packages start control planes at once on small ones.
const startTimeout = 2 * time.Minute

const tempPrefix = "cloudfront-tenant-operator-controlplane-"

// Options says how a control plane differs from the usual one. The zero value
// is the usual one.
type Options struct {
	// BinDir holds the binaries. Empty means KUBEBUILDER_ASSETS if that is set,
	// and what "make controlplane" built otherwise.
	BinDir string
	// LogDir receives one log file per component and keeps it. Empty means the
	// temporary folder, which Stop removes.
	LogDir string
	// WithoutControllerManager leaves out kube-controller-manager: then
	// namespaces stay Terminating and nothing is garbage collected.
	WithoutControllerManager bool
	// Guard, if there is one, kills the processes should we be killed. Linux does
	// that without one.
	Guard *process.Guard
	// Audit records every request, for Audit.
	Audit bool
	// WithoutWatchCache serves every read from etcd. A consistent list waits up to 100 ms for the cache to catch up (the
	// period of the API server's progress requests), which a test that lists between any two steps feels.
	WithoutWatchCache bool
	// NodeAddress, if any, is where a node and its Pods reach the API server, which then treats them as a real cluster
	// does: with service account admission, the rights of nodes, and every controller.
	NodeAddress string
	// APIServerFlags are added after our own and win over them.
	APIServerFlags []string
}

type ports struct{ etcd, apiServer, controllerManager int }

// ControlPlane is a running control plane. Its methods are safe for concurrent use.
type ControlPlane struct {
	binDir, logDir, tempDir string
	ports                   ports
	authority               *authority
	adminToken              string
	controllerToken         string
	nodeAddress             string

	processes *process.Group
	// apiServer is the process, and startAPIServer starts it once more.
	apiServer      *process.Child
	startAPIServer func(context.Context) error
	release        func()
	// ending is closed by Stop, which waits for background.
	ending     chan struct{}
	background sync.WaitGroup
	stop       func() error
}

// Start starts a control plane and returns when it serves. The context bounds
// only the start: a running control plane ends with Stop, or with this process.
func Start(ctx context.Context, opts Options) (*ControlPlane, error) {
	binDir, err := FindBinaries(opts.BinDir)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var cp *ControlPlane
	err = process.RetryInUse(func() (err error) {
		cp, err = start(ctx, binDir, opts)
		return err
	})
	return cp, err
}

func start(ctx context.Context, binDir string, opts Options) (*ControlPlane, error) {
	tempDir, release, err := process.TempDir(tempPrefix)
	if err != nil {
		return nil, fmt.Errorf("making a folder for the control plane: %w", err)
	}
	cp := &ControlPlane{binDir: binDir, tempDir: tempDir, logDir: opts.LogDir, nodeAddress: opts.NodeAddress, release: release, processes: process.NewGroup(opts.Guard), ending: make(chan struct{})}
	cp.stop = sync.OnceValue(cp.stopAll)
	if err := cp.start(ctx, opts); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the control plane: %w", err), cp.Stop())
	}
	return cp, nil
}

func (cp *ControlPlane) start(ctx context.Context, opts Options) error {
	if err := cp.prepare(ctx); err != nil {
		return err
	}
	if _, err := cp.run(ctx, "etcd", cp.etcdFlags(), cp.EtcdURL()+"/readyz"); err != nil {
		return err
	}
	flags := cp.apiServerFlags()
	if opts.Audit {
		flags = append(flags, cp.auditFlags()...)
	}
	if opts.WithoutWatchCache {
		flags = append(flags, "--watch-cache=false")
	}
	if opts.NodeAddress != "" {
		flags = append(flags, cp.nodeFlags()...)
	} else {
		flags = append(flags, withoutNodeFlags()...)
	}
	flags = append(flags, opts.APIServerFlags...)
	// The API server is ready before it has made these namespaces, and tests take them for granted.
	namespaces := cp.apiServerURL() + "/api/v1/namespaces/"
	cp.startAPIServer = func(ctx context.Context) (err error) {
		cp.apiServer, err = cp.run(ctx, "kube-apiserver", flags, cp.apiServerURL()+"/readyz", namespaces+"kube-system", namespaces+"default")
		return err
	}
	if err := cp.startAPIServer(ctx); err != nil || opts.WithoutControllerManager {
		return err
	}
	_, err := cp.run(ctx, "kube-controller-manager", cp.controllerManagerFlags(), cp.controllerManagerURL()+"/healthz")
	return err
}

// KillAPIServer ends the API server as a power cut does. StartAPIServer starts it again.
func (cp *ControlPlane) KillAPIServer() error {
	if err := cp.apiServer.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-cp.apiServer.Ended()
	return nil
}

// StartAPIServer starts the API server that was killed, and returns when it serves.
func (cp *ControlPlane) StartAPIServer(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	return cp.startAPIServer(ctx)
}

// prepare writes everything the components read.
func (cp *ControlPlane) prepare(ctx context.Context) error {
	if cp.logDir == "" {
		cp.logDir = cp.tempDir
	}
	if err := os.MkdirAll(cp.logDir, 0o755); err != nil {
		return fmt.Errorf("making the log folder: %w", err)
	}
	found, err := cp.processes.Ports(ctx, 3)
	if err != nil {
		return err
	}
	cp.ports = ports{etcd: found[0], apiServer: found[1], controllerManager: found[2]}
	if cp.authority, err = newAuthority(); err != nil {
		return err
	}
	cp.adminToken, cp.controllerToken = newToken(), newToken()
	return cp.writeFiles()
}

// Stop ends all processes and removes the temporary folder. Calling it again
// does nothing and returns the same.
func (cp *ControlPlane) Stop() error { return cp.stop() }

func (cp *ControlPlane) stopAll() error {
	close(cp.ending)
	cp.background.Wait()
	err := cp.processes.Stop()
	if removeErr := os.RemoveAll(cp.tempDir); removeErr != nil {
		err = errors.Join(err, fmt.Errorf("removing the control plane's folder: %w", removeErr))
	}
	cp.release()
	return err
}

// Kubeconfig returns the path of a kubeconfig file for the administrator. It is
// gone after Stop.
func (cp *ControlPlane) Kubeconfig() string { return cp.path("admin.kubeconfig") }

// RESTConfig returns a configuration of its own for the administrator, a member
// of system:masters.
func (cp *ControlPlane) RESTConfig() *rest.Config { return cp.TokenConfig(cp.adminToken) }

// EtcdURL returns the client URL of etcd, for tests that count writes from a
// watch. Kubernetes' keys begin with /registry/.
func (cp *ControlPlane) EtcdURL() string { return fmt.Sprintf("http://127.0.0.1:%d", cp.ports.etcd) }

// BinDir returns the folder of the binaries; it also holds kubectl.
func (cp *ControlPlane) BinDir() string { return cp.binDir }

// LogDir returns the folder with one log file per component.
func (cp *ControlPlane) LogDir() string { return cp.logDir }

func (cp *ControlPlane) apiServerURL() string {
	return fmt.Sprintf("https://127.0.0.1:%d", cp.ports.apiServer)
}

func (cp *ControlPlane) controllerManagerURL() string {
	return fmt.Sprintf("https://127.0.0.1:%d", cp.ports.controllerManager)
}

func (cp *ControlPlane) path(name string) string { return filepath.Join(cp.tempDir, name) }
