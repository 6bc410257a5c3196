package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/dnsserver"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

const (
	// folderPattern names the one folder that holds everything we write.
	folderPattern = "cloudfront-tenant-operator-playground-"
	// logsPattern names the folder that --keep-logs leaves.
	logsPattern = "cloudfront-tenant-operator-logs-"
	// sweepInterval is the operator's shortest, so that drift is found while one watches.
	sweepInterval = "10s"
	// clusterID and allowedRole are what the seed's role in another account expects.
	clusterID   = "playground"
	allowedRole = "arn:aws:iam::444455556666:role/tenant-dns"
)

// switches make the simulated AWS quick enough for a viewer: minutes become seconds.
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
	tools          *process.Group
	root, binaries string

	controlPlane *controlplane.ControlPlane
	host         *stack.Host
	stack        *stack.Stack
	aws          *stack.AWS
	// dnsAddress answers for the simulated public DNS.
	dnsAddress string
	cloudflare *cloudflareWorld
	azure      *azureWorld
	// resolver answers for all simulated DNS, and page is the address of the page for customers.
	resolver *dnsserver.Server
	page     string
	// customers is nil where no database can be run.
	customers *customers
	operator  *stack.Operator
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
		tools: process.NewGroup(guard),
	}
	if err := w.makeFolders(); err != nil {
		return nil, errors.Join(err, w.stop())
	}
	return w, nil
}

func (w *world) makeFolders() (err error) {
	temp := filepath.Join(w.dir, "tmp")
	if w.config.keepLogs {
		w.logs, err = os.MkdirTemp("", logsPattern) // outside of the folder that is removed
	} else {
		err = os.Mkdir(w.logs, 0o700)
	}
	err = errors.Join(err, os.Mkdir(temp, 0o700))
	// PostgreSQL refuses root and runs as another user, who has to get to its folder. Names inside can't be listed.
	if os.Geteuid() == 0 {
		err = errors.Join(err, os.Chmod(w.dir, 0o711), os.Chmod(temp, 0o711))
	}
	// Files that the control plane, compilers and linkers leave when they are killed are removed with our folder.
	if err = errors.Join(err, os.Setenv("TMPDIR", temp)); err != nil {
		return fmt.Errorf("making folders: %w", err)
	}
	return nil
}

// start builds what is missing and starts everything.
func (w *world) start(ctx context.Context) error {
	if err := w.build(ctx); err != nil {
		return err
	}
	w.say.heading("Starting a Kubernetes control plane, a simulated AWS, Cloudflare and Azure DNS, and the operator")
	for _, start := range []func(context.Context) error{w.startControlPlane, w.startAWS, w.startCloudflare, w.startAzure, w.startResolver, w.writeAccounts, w.startCustomers, w.startOperator} {
		if err := start(ctx); err != nil {
			return err
		}
	}
	w.say.began = time.Now() // the story's; earlier builds had another
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
	w.host = stack.At(w.controlPlane, w.root, w.bin())
	w.host.Guard = w.guard
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
	w.stack, err = w.host.Start(ctx, stack.Options{DeployDelay: w.config.deployDelay, Seed: seed, Switches: switches, LogDir: w.logs})
	if err != nil {
		return err
	}
	w.aws, w.dnsAddress = w.stack.AWS, w.stack.DNS
	go w.watch(ctx, w.aws.Child)
	w.say.line("%-14s %s, ready after %s", "simulated AWS", w.aws.URL(), since(began))
	w.say.line("%-14s %s, public DNS of the simulated AWS", "", w.dnsAddress)
	return nil
}

// seed writes what AWS holds in the beginning: all that tests have, but for the distributions, which are made by the
// operator, and an account of the customers with a zone.
func (w *world) seed() (path string, err error) {
	path = filepath.Join(w.dir, "seed.yaml")
	text, err := os.ReadFile(filepath.Join(w.root, "cmd", "playground", "seed.yaml"))
	var parts map[string]any
	if err == nil {
		err = yaml.Unmarshal(text, &parts)
	}
	delete(parts, "distributions")
	add := func(part string, value map[string]any) {
		list, _ := parts[part].([]any) // it is empty then
		parts[part] = append(list, value)
	}
	if err == nil {
		add("accounts", map[string]any{"id": customerAccount, "accessKeys": []string{customerKey}})
		add("hostedZones", map[string]any{"name": customerZone, "account": customerAccount})
	}
	if err == nil {
		text, err = yaml.Marshal(parts)
	}
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("writing the seed: %w", err)
	}
	return path, nil
}

func (w *world) kubeconfig() string { return filepath.Join(w.dir, "kubeconfig") }

// bin is the folder of the binaries.
func (w *world) bin() string { return filepath.Join(w.dir, "bin") }

// awsEnv leads every client of AWS, and lookups of names, to the simulated one.
func (w *world) awsEnv() []string {
	return append(w.aws.Env(), dnsVariable+"="+w.dnsAddress, resolverVariable+"="+w.resolver.Address)
}

// startOperator installs the chart and starts what the Deployment's pods would run.
func (w *world) startOperator(ctx context.Context) (err error) {
	began := time.Now()
	if w.host.Installation, err = w.host.Install(ctx, install.Options{Values: values}); err != nil {
		return err
	}
	w.say.line("%-14s applied after %s; the operator runs with its flags and", "chart", since(began))
	w.say.line("%-14s its rights, as %s", "", w.host.Installation.User())
	began = time.Now()
	w.operator, err = w.stack.StartOperator(ctx, stack.OperatorOptions{
		AsInstalled: true,
		Flags: []string{"--sweep-interval=" + sweepInterval, "--zap-encoder=console", "--allowed-roles=" + allowedRole, "--dns-accounts=" + w.accountsFile(),
			"--watch-domains=true", "--dns-resolvers=" + w.resolver.Address},
		// The certificate of the simulated Azure is valid in addition to those in the system's file.
		Env: map[string]string{"SSL_CERT_DIR": w.authorities()},
	})
	if err != nil {
		return err
	}
	go w.watch(ctx, w.operator.Child())
	w.say.line("%-14s %s, ready after %s", "operator", w.metricsURL(), since(began))
	return w.kube.watch(ctx)
}

func (w *world) metricsURL() string { return "http://" + w.operator.MetricsURL() }

// watch makes the end of a server ours.
func (w *world) watch(ctx context.Context, child *process.Child) {
	select {
	case <-ctx.Done():
	case <-child.Ended():
		w.cancel(fmt.Errorf("%s exited unexpectedly: %w; its last log lines:\n%s", child.Name(), endError(child), child.LogTail(15)))
	}
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
	errs = append(errs, w.tools.Stop())
	if w.stack != nil {
		errs = append(errs, w.stack.Stop())
	}
	if w.resolver != nil {
		errs = append(errs, w.resolver.Stop())
	}
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
