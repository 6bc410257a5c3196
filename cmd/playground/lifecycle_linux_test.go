package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/module"
)

// These tests need Linux for /proc, where they look for what is left behind.

const (
	// marker is in the environment of a playground and of all that it starts.
	marker = "PLAYGROUND_TEST_MARKER"
	// longest bounds a playground; on an idle machine a demo takes a minute.
	longest = 10 * time.Minute
)

// playground is one that runs as a process.
type playground struct {
	t      *testing.T
	cmd    *exec.Cmd
	marker string
	temp   string

	mu     sync.Mutex
	output bytes.Buffer
	lines  chan string
	// ended is closed when it has ended, with waitErr, and all that it printed was read.
	ended   chan struct{}
	waitErr error
}

// launch starts a playground whose caller has settings that must not matter.
func launch(t *testing.T, args ...string) *playground {
	t.Helper()
	module.DependOn("../..")
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	t.Cleanup(cancel)
	p := &playground{t: t, marker: t.Name() + "-" + strconv.Itoa(os.Getpid()), temp: tempDir(t), lines: make(chan string, 1000), ended: make(chan struct{})}
	p.cmd = exec.CommandContext(ctx, os.Args[0], args...)
	p.cmd.Env = append(os.Environ(), asPlayground+"=1", marker+"="+p.marker, "TMPDIR="+p.temp,
		"AWS_PROFILE=nobody", "AWS_CA_BUNDLE=/nowhere", "AWS_REGION=eu-west-9", "AWS_ENDPOINT_URL=http://127.0.0.1:1",
		"KUBECONFIG=/nowhere", "KUBEBUILDER_ASSETS=/nowhere")
	read, write := io.Pipe()
	p.cmd.Stdout, p.cmd.Stderr = write, write
	collected := make(chan struct{})
	go func() {
		defer close(collected)
		p.collect(read)
	}()
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("starting the playground: %v", err)
	}
	go func() {
		defer close(p.ended)
		p.waitErr = p.cmd.Wait()
		_ = write.Close() // ends the wait for a line
		<-collected
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // where the test failed; it ended otherwise
		<-p.ended
		if t.Failed() {
			t.Logf("the playground printed:\n%s", p.printed())
		}
	})
	return p
}

// tempDir is a folder that others may enter, as the usual one for temporary files: PostgreSQL does not run as root.
func tempDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func (p *playground) collect(read io.Reader) {
	scanner := bufio.NewScanner(read)
	for scanner.Scan() {
		p.mu.Lock()
		fmt.Fprintln(&p.output, scanner.Text())
		p.mu.Unlock()
		p.lines <- scanner.Text()
	}
	close(p.lines)
}

func (p *playground) printed() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.String()
}

// until reads on to a line that begins with the text.
func (p *playground) until(text string) {
	p.t.Helper()
	for {
		select {
		case line, more := <-p.lines:
			if strings.HasPrefix(line, text) {
				return
			}
			if !more {
				p.t.Fatalf("it ended without printing %q", text)
			}
		case <-time.After(longest):
			p.t.Fatalf("it did not print %q within %s", text, longest)
		}
	}
}

func (p *playground) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatalf("sending %s: %v", s, err)
	}
}

// endsWith checks the exit status.
func (p *playground) endsWith(status int) {
	p.t.Helper()
	<-p.ended
	var exit *exec.ExitError
	if p.waitErr != nil && !errors.As(p.waitErr, &exit) {
		p.t.Fatalf("waiting for the playground: %v", p.waitErr)
	}
	if got := p.cmd.ProcessState.ExitCode(); got != status {
		p.t.Errorf("exit status %d, want %d", got, status)
	}
}

// processes are the command lines of the processes with the marker.
func (p *playground) processes() []string {
	paths, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is valid
	var found []string
	for _, path := range paths {
		// Of a process that is gone meanwhile there is an error, of a zombie nothing.
		environment, err := os.ReadFile(path)
		if err != nil || !slices.Contains(strings.Split(string(environment), "\x00"), marker+"="+p.marker) {
			continue
		}
		line, err := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if err == nil && len(line) > 0 {
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

func (p *playground) files() []string {
	entries, err := os.ReadDir(p.temp)
	if err != nil {
		return []string{err.Error()}
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// leavesNothing checks at once what an orderly end must have cleaned up.
func (p *playground) leavesNothing() {
	p.t.Helper()
	if left := p.processes(); len(left) > 0 {
		p.t.Errorf("these processes are left:\n%s", strings.Join(left, "\n"))
	}
	if left := p.files(); len(left) > 0 {
		p.t.Errorf("these files are left: %v", left)
	}
}

// atCloudflareNow is how the demo shows the record at Cloudflare, before it is changed and after.
const atCloudflareNow = `{"name":"shop.cloudflare.example","content":"d111111abcdef8.cloudfront.net",` +
	`"comment":"cloudfront-tenant-operator cluster=playground object=default/cloudflare"}`

func TestDemo(t *testing.T) {
	t.Parallel()
	began := time.Now()
	p := launch(t, "demo", "--while-pid", strconv.Itoa(os.Getpid()))
	for _, line := range []string{
		"== Getting missing binaries",
		"Cloudflare     http://127.0.0.1:",
		"operator ",
		"== 1. Apply the samples",
		"distributiontenant.cloudfront-tenant-operator.io/minimal created",
		"distributiontenant.cloudfront-tenant-operator.io/cloudflare created",
		"minimal                        False   False    minimal.example.com         ",
		"They reference a distribution that does not exist yet.",
		"connectiongroup.cloudfront-tenant-operator.io/europe created",
		"distribution.cloudfront-tenant-operator.io/platform created",
		"$ kubectl get cfd,cfcg",
		"distribution.cloudfront-tenant-operator.io/platform   Deployed   True    True ",
		"connectiongroup.cloudfront-tenant-operator.io/europe   Deployed   True    True ",
		"tenantplan.kleff.kleff.io/basic created",
		"tenant.kleff.kleff.io/example-tenant created",
		"tenantplan.kleff.kleff.io/pro created",
		"tenant.kleff.kleff.io/acme created",
		"$ kubectl get cfdt self-hosted",
		"The managed certificate is waiting for validation: redirect http://self-hosted.example.net/",
		"== 2. Look at certificates and DNS",
		"TXT _cf-challenge.example.net -> d111111abcdef8.cloudfront.net (Published)",
		"A example.net -> d111111abcdef8.cloudfront.net (Published)",
		"CertificateReady: The managed certificate is issued and attached.",
		"with-dns.example.com.            300   IN   CNAME   d111111abcdef8.cloudfront.net.",
		"managed.example.net.             300   IN   CNAME   d111111abcdef8.cloudfront.net.",
		"example.net.   60   IN   A ",
		`_cf-challenge.example.net.   60   IN   TXT   "d111111abcdef8.cloudfront.net"`,
		"== 3. Change a tenant",
		"generation 2, applied 2",
		`        "Value": "platinum"`,
		"== 4. Disable a tenant in AWS, outside of Kubernetes",
		"false",
		`DriftCorrected   Reverted changes made in AWS: enabled "false" instead of "true".`,
		"true",
		"== 5. Make a mistake",
		`The DistributionTenant "shop" is invalid: spec.domains[0].domain: Invalid value: "Shop.example.com"`,
		"spec.domains: no certificate covers shop.example.org.",
		"taken.example.com already has another record: the zone Z0EXAMPLECOM contains CNAME shops.hoster.example",
		"taken.example.com.   300   IN   CNAME   shops.hoster.example.",
		"== 6. Delete a tenant",
		"$ curl -s $AWS_ENDPOINT_URL/_sim/state | grep -c ",
		"distributiontenant.cloudfront-tenant-operator.io \"managed-certificate\" deleted",
		"An error occurred (EntityNotFound)",
		"managed.example.net: NXDOMAIN",
		"$ curl -s $AWS_ENDPOINT_URL/_sim/state | grep -c ",
		"0",
		"== 7. Count the AWS calls",
		"CreateDistributionTenant            11      0         0",
		"with-dns              1",
		"== 8. Create tenants from a database table",
		"customer-04   customer-04.example.com   gold",
		"secret/customers created",
		"tenantsource.cloudfront-tenant-operator.io/customers created",
		"25 of 25 are Ready",
		"customers   postgres   25           True ",
		"customer-25   Deployed",
		"INSERT 0 1",
		"UPDATE 1",
		"DELETE 1",
		"Delete customer-11: its row no longer exists; confirmed by 1 of 2 polls",
		"customer-26   Deployed",
		`        "Value": "gold"`,
		"$ aws cloudfront get-distribution-tenant --identifier customer-11",
		"An error occurred (EntityNotFound)",
		"DELETE 25",
		"customers   postgres   0            False ",
		"The table has no rows, and 25 tenants had one.",
		"$ aws cloudfront list-distribution-tenants",
		"25",
		"== 9. Give each customer a namespace",
		"$ kubectl get tenantplans,tenants",
		"tenantplan.kleff.kleff.io/basic   1         1         0        True    RolledOut",
		"tenantplan.kleff.kleff.io/pro     1         1         0        True    RolledOut",
		"tenant.kleff.kleff.io/acme             acme         pro     True    Ready",
		"tenant.kleff.kleff.io/example-tenant   user-12345   basic   True    Ready",
		"acme         Active   ",
		"user-12345   Active   ",
		"resourcequota/kleff-plan ",
		"limitrange/kleff-plan ",
		"networkpolicy.networking.k8s.io/kleff-namespace ",
		"resourcequota/kleff-plan ",
		"networkpolicy.networking.k8s.io/kleff-ingress ",
		"rolebinding.rbac.authorization.k8s.io/kleff-owner-edit ",
		"distributiontenant.cloudfront-tenant-operator.io/acme   Deployed   True    True ",
		"yes",
		"no",
		`        "Domain": "acme.example.com"`,
		"tenant.kleff.kleff.io/acme patched",
		`Error from server (Forbidden): pods "web" is forbidden: exceeded quota: kleff-suspended`,
		"== 10. Change a record at Cloudflare, outside of Kubernetes",
		atCloudflareNow,
		`"elsewhere.example"`,
		"distributiontenant.cloudfront-tenant-operator.io/cloudflare annotated",
		"cloudflare   Deployed   True    True     shop.cloudflare.example ",
		"shop.cloudflare.example.   300   IN   CNAME   d111111abcdef8.cloudfront.net.",
		atCloudflareNow,
		"== 11. Delete everything, in any order",
		"distribution.cloudfront-tenant-operator.io \"platform\" deleted",
		"The distribution still has 35 distribution tenants, so it is neither disabled nor deleted.",
		"$ kubectl delete cfts,cfdt --all --wait=false | wc -l", // 37, or less: the source deletes its own at the same time
		"tenantplan.kleff.kleff.io \"basic\" deleted",
		"tenant.kleff.kleff.io \"acme\" deleted",
		"InUse      The distribution still has 35 distribution tenants",
		"Settling   The distribution is disabled. Waiting until the change is deployed to every edge location.",
		"[\"default\"]",
		"[\"www.cloudflare.example\"]",
		`NamespaceCreated    The namespace "user-12345" was created.`,
		`NamespaceDeleting   The namespace "user-12345" is deleted with everything in it.`,
		`NamespaceDeleted    The namespace "user-12345" was deleted.`,
		"Nothing is left of the customers:",
		"No resources found",
		"No resources found",
		"== 12. Your turn",
		"    make playground",
		"All processes are stopped.",
	} {
		p.until(line)
	}
	p.endsWith(0)
	p.leavesNothing()
	t.Logf("the demo took %s", time.Since(began))
}

func TestKilledPlaygroundLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		moment string
		// with is a process that must be there at the moment, or the test tests nothing.
		with string
	}{
		"while it builds":                     {"== Getting missing binaries", "guard"},
		"while the control plane is starting": {"== Starting", "etcd"},
		"while the operator works":            {"$ kubectl get cfdt", "bin/operator"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := launch(t, "up")
			p.until(test.moment)
			NewWithT(t).Eventually(p.processes).WithTimeout(time.Minute).WithPolling(time.Millisecond).Should(ContainElement(ContainSubstring(test.with)))
			p.signal(syscall.SIGKILL)
			p.endsWith(-1)
			NewWithT(t).Eventually(p.processes).WithTimeout(time.Minute).Should(BeEmpty())
			NewWithT(t).Eventually(p.files).WithTimeout(time.Minute).Should(BeEmpty())
		})
	}
}

func TestInterruptedPlaygroundLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		command, moment string
		signal          syscall.Signal
		status          int
		says            string
	}{
		"Ctrl-C is how a playground ends":      {"up --database=mongodb", "metrics ", syscall.SIGINT, 0, "All processes are stopped."},
		"so is the end of its terminal":        {"up", "== Applying", syscall.SIGHUP, 0, "All processes are stopped."},
		"Ctrl-C ends a demo before its end":    {"demo", "== 1.", syscall.SIGINT, 130, "interrupted; all processes are stopped"},
		"SIGTERM ends it while it is building": {"demo", "== Getting", syscall.SIGTERM, 130, "interrupted; all processes are stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := launch(t, strings.Fields(test.command)...)
			p.until(test.moment)
			p.signal(test.signal)
			p.endsWith(test.status)
			p.leavesNothing()
			if !strings.Contains(p.printed(), test.says) {
				t.Errorf("it does not say %q", test.says)
			}
		})
	}
}

// When make is killed, the playground gets no signal.
func TestPlaygroundEndsWithMake(t *testing.T) {
	t.Parallel()
	caller := exec.CommandContext(t.Context(), "sleep", "600")
	if err := caller.Start(); err != nil {
		t.Fatal(err)
	}
	p := launch(t, "up", "--while-pid", strconv.Itoa(caller.Process.Pid))
	p.until("== Applying")
	if err := caller.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = caller.Wait() // says that it was killed
	p.endsWith(0)
	p.leavesNothing()
}

// An operator that dies must not leave people waiting in front of a dead table.
func TestPlaygroundTellsThatTheOperatorDied(t *testing.T) {
	t.Parallel()
	p := launch(t, "up", "--keep-logs")
	p.until("metrics ")
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is valid
	for _, path := range paths {
		line, err := os.ReadFile(path)
		if err != nil || !strings.HasPrefix(string(line), p.temp) || !strings.Contains(string(line), "bin/operator") {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatalf("killing the operator: %v", err)
		}
	}
	p.endsWith(1)
	if printed := p.printed(); !strings.Contains(printed, "operator exited unexpectedly: signal: killed; its last log lines:") {
		t.Error("it does not say that the operator exited")
	}
	logs, err := filepath.Glob(filepath.Join(p.temp, logsPattern+"*", "operator.log"))
	if err != nil || len(logs) != 1 || len(p.files()) != 1 {
		t.Errorf("kept are %v (%v), want the logs", p.files(), err)
	}
}
