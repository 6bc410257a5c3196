package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/yaml"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

const (
	// folderPattern names the one folder that holds everything we write.
	folderPattern = "cloudfront-tenant-operator-playground-"
	// logsPattern names the folder that --keep-logs leaves.
	logsPattern = "cloudfront-tenant-operator-logs-"
	// startTimeout bounds the start of a process of ours on a busy machine.
	startTimeout = time.Minute
	// sweepInterval is the operator's shortest, so that drift is found while one watches.
	sweepInterval = "10s"
	// clusterID and allowedRole are what the seed's role in another account expects.
	clusterID   = "playground"
	allowedRole = "arn:aws:iam::444455556666:role/tenant-dns"
)

// switches make the simulated AWS as quick as one who watches: minutes become seconds.
var switches = []string{"certificateIssueDelay=2s", "route53SyncDelay=1s"}

// values are those of the chart. The operator may read the Secrets of the samples' namespace, and makes customers'
// namespaces. One sample names a role, and one replaces records: the default grant of the chart allows neither.
var values = []string{
	"controller.clusterID=" + clusterID, "rbac.secretNamespaces={" + namespace + "}", "tenancy.enabled=true", "grants.default.dns.takeover=Any", "grants.default.roles={" + allowedRole + "}",
}

// world is everything that runs.
type world struct {
	config config
	cancel context.CancelCauseFunc
	say    *narrator

	dir, logs      string
	guard          *process.Guard
	tools, servers *process.Group
	root, binaries string

	controlPlane *controlplane.ControlPlane
	awsURL       string
	// dnsAddress answers for the simulated public DNS.
	dnsAddress string
	metricsURL string
	cloudflare *cloudflareWorld
	azure      *azureWorld
	// customers is nil where no database can be run.
	customers *customers
	operator  *process.Child
	kube      *kube
}

// newWorld makes the folder and the guard; nothing runs yet.
func newWorld(c config, cancel context.CancelCauseFunc, say *narrator) (*world, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	guard, err := process.StartGuard(self, guardCommand)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", folderPattern)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("creating a directory: %w", err), guard.Dismiss())
	}
	guard.Folder(dir)
	w := &world{
		config: c, cancel: cancel, say: say, dir: dir, logs: filepath.Join(dir, "logs"), guard: guard,
		tools: process.NewGroup(guard), servers: process.NewGroup(guard),
	}
	if err := w.makeFolders(); err != nil {
		return nil, errors.Join(err, w.stop())
	}
	return w, nil
}

func (w *world) makeFolders() error {
	temp := filepath.Join(w.dir, "tmp")
	if w.config.keepLogs {
		var err error
		// Outside of the folder that is removed.
		if w.logs, err = os.MkdirTemp("", logsPattern); err != nil {
			return fmt.Errorf("creating a directory for the logs: %w", err)
		}
	} else if err := os.Mkdir(w.logs, 0o700); err != nil {
		return fmt.Errorf("creating a directory for the logs: %w", err)
	}
	if err := os.Mkdir(temp, 0o700); err != nil {
		return fmt.Errorf("creating a directory for temporary files: %w", err)
	}
	// PostgreSQL refuses root and runs as another user, who has to get to its folder. Names inside can't be listed.
	if os.Geteuid() == 0 {
		if err := errors.Join(os.Chmod(w.dir, 0o711), os.Chmod(temp, 0o711)); err != nil {
			return fmt.Errorf("opening the directory for the database: %w", err)
		}
	}
	// What the control plane, compilers and linkers leave when they are killed goes with our folder.
	if err := os.Setenv("TMPDIR", temp); err != nil {
		return fmt.Errorf("setting TMPDIR: %w", err)
	}
	return nil
}

// start builds what is missing and starts everything.
func (w *world) start(ctx context.Context) error {
	if err := w.build(ctx); err != nil {
		return err
	}
	w.say.heading("Starting a Kubernetes control plane, a simulated AWS, Cloudflare and Azure DNS, and the operator")
	for _, start := range []func(context.Context) error{w.startControlPlane, w.startAWS, w.startCloudflare, w.startAzure, w.writeAccounts, w.startCustomers, w.startOperator} {
		if err := start(ctx); err != nil {
			return err
		}
	}
	w.say.began = time.Now() // the story's; what was built before is another
	return nil
}

func (w *world) startControlPlane(ctx context.Context) (err error) {
	began := time.Now()
	w.controlPlane, err = controlplane.Start(ctx, controlplane.Options{BinDir: w.binaries, LogDir: w.logs, Guard: w.guard})
	if err != nil {
		return err
	}
	// The control plane's own file is deep in its folder, and people have to type this path.
	if err := controlplane.WriteKubeconfig(w.kubeconfig(), w.controlPlane.RESTConfig()); err != nil {
		return err
	}
	if w.kube, err = newKube(w); err != nil {
		return err
	}
	w.say.line("%-14s %s, ready after %s", "control plane", w.controlPlane.RESTConfig().Host, since(began))
	return nil
}

func (w *world) startAWS(ctx context.Context) error {
	seed, err := w.seed()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := process.RetryInUse(func() error { return w.serveAWS(ctx, seed) }); err != nil {
		return err
	}
	w.say.line("%-14s %s, ready after %s", "simulated AWS", w.awsURL, since(began))
	w.say.line("%-14s %s, public DNS of the simulated AWS", "", w.dnsAddress)
	return nil
}

func (w *world) serveAWS(ctx context.Context, seed string) error {
	ports, err := w.servers.Ports(ctx, 2)
	if err != nil {
		return err
	}
	w.awsURL, w.dnsAddress = "http://"+ports.Address(0), ports.Address(1)
	args := []string{
		"--listen", ports.Address(0), "--dns-listen", w.dnsAddress, "--deploy-delay", w.config.deployDelay.String(),
		"--seed", seed,
	}
	for _, s := range switches {
		args = append(args, "--switch", s)
	}
	child, err := w.servers.Start(process.Command{
		Path:    filepath.Join(w.dir, "bin", "awssim"),
		Args:    args,
		LogFile: filepath.Join(w.logs, "awssim.log"),
	})
	if err != nil {
		return err
	}
	return w.await(ctx, child, w.awsURL+"/_sim/health")
}

// seed writes what AWS holds in the beginning: all that tests have, but for the distributions. Those are made by the
// operator.
func (w *world) seed() (string, error) {
	text, err := os.ReadFile(filepath.Join(w.root, "config", "samples", "awssim", "seed.yaml"))
	if err != nil {
		return "", fmt.Errorf("reading the seed: %w", err)
	}
	var parts map[string]any
	if err := yaml.Unmarshal(text, &parts); err != nil {
		return "", fmt.Errorf("reading the seed: %w", err)
	}
	delete(parts, "distributions")
	if text, err = yaml.Marshal(parts); err != nil {
		return "", fmt.Errorf("writing the seed: %w", err)
	}
	path := filepath.Join(w.dir, "seed.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return "", fmt.Errorf("writing the seed: %w", err)
	}
	return path, nil
}

func (w *world) kubeconfig() string { return filepath.Join(w.dir, "kubeconfig") }

// startOperator installs the chart and starts what the Deployment's pods would run.
func (w *world) startOperator(ctx context.Context) error {
	began := time.Now()
	installed, err := install.Install(ctx, install.Options{ControlPlane: w.controlPlane, Root: w.root, Dir: w.dir, Values: values})
	if err != nil {
		return err
	}
	w.say.line("%-14s applied after %s; the operator runs with its flags and", "chart", since(began))
	w.say.line("%-14s its rights, as %s", "", installed.User())
	began = time.Now()
	if err := process.RetryInUse(func() error { return w.serveOperator(ctx, installed) }); err != nil {
		return err
	}
	w.say.line("%-14s %s, ready after %s", "operator", w.metricsURL, since(began))
	return w.kube.watch(ctx)
}

func (w *world) serveOperator(ctx context.Context, installed *install.Installation) error {
	ports, err := w.servers.Ports(ctx, 2)
	if err != nil {
		return err
	}
	probes, metrics := ports.Address(0), ports.Address(1)
	w.metricsURL = "http://" + metrics + "/metrics"
	w.operator, err = w.servers.Start(process.Command{
		Path: filepath.Join(w.dir, "bin", "operator"),
		Args: append(installed.Args(),
			"--health-probe-bind-address="+probes, "--metrics-bind-address="+metrics, "--metrics-secure=false",
			"--sweep-interval="+sweepInterval, "--zap-encoder=console", "--allowed-roles="+allowedRole,
			"--tenantsource-allow-dial=127.0.0.0/8", "--dns-accounts="+w.accountsFile(),
		),
		Env:     w.operatorEnv(installed),
		LogFile: filepath.Join(w.logs, "operator.log"),
	})
	if err != nil {
		return err
	}
	return w.await(ctx, w.operator, "http://"+probes+"/readyz")
}

// await waits until a server answers 200. From then on its end is ours.
func (w *world) await(ctx context.Context, child *process.Child, url string) error {
	client := &http.Client{Timeout: 5 * time.Second}
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, startTimeout, true, func(ctx context.Context) (bool, error) {
		select {
		case <-child.Ended():
			return false, fmt.Errorf("it exited: %w", endError(child))
		default:
		}
		status, err := get(ctx, client, url, nil)
		return err == nil && status == http.StatusOK, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for %s: %w; its last log lines:\n%s", child.Name(), err, child.LogTail(15))
	}
	go func() {
		select {
		case <-ctx.Done():
		case <-child.Ended():
			w.cancel(fmt.Errorf("%s exited unexpectedly: %w; its last log lines:\n%s", child.Name(), endError(child), child.LogTail(15)))
		}
	}()
	return nil
}

func endError(child *process.Child) error {
	if err := child.Err(); err != nil {
		return err
	}
	return errors.New("exit status 0")
}

// stop ends everything in the order in which one thing needs the other, and
// removes what we wrote.
func (w *world) stop() error {
	var errs []error
	if w.kube != nil {
		w.kube.stop()
	}
	errs = append(errs, w.tools.Stop(), w.servers.Stop())
	if w.cloudflare != nil {
		errs = append(errs, w.cloudflare.stop())
	}
	if w.azure != nil {
		errs = append(errs, w.azure.stop())
	}
	if w.controlPlane != nil {
		errs = append(errs, w.controlPlane.Stop())
	}
	if w.customers != nil {
		errs = append(errs, w.customers.engine.Stop())
	}
	errs = append(errs, os.RemoveAll(w.dir), w.guard.Dismiss())
	if w.config.keepLogs {
		w.say.line("The logs are in %s", w.logs)
	}
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(errs) > 0 {
		return fmt.Errorf("stopping: %w", errors.Join(errs...))
	}
	w.say.line("All processes are stopped.")
	return nil
}
