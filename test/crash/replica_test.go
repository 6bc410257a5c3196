package crash_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/rest"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

// replica is an operator that is started again whenever its process has ended, as a
// Deployment does. Its ways out lead through the gate.
type replica struct {
	stage   *stage
	name    string
	dir     string
	flags   []string
	env     []string
	servers []io.Closer
	// states is where it believes the state table to be, nil where there is no source.
	states *tableListener
	// metrics is where metrics are, if they are served.
	metrics process.Ports

	// starting is held while no process may start.
	starting sync.Mutex

	mu      sync.Mutex
	current *proc
	starts  int
	stopped bool
	// expected ends are ours; the others are the operator's own.
	ownEnds []string
	done    chan struct{}
}

// proc is one process of a replica.
type proc struct {
	replica *replica
	name    string
	log     string
	child   *process.Child

	mu       sync.Mutex
	dead     bool
	expected bool
}

// newReplica makes a replica without a process.
func (s *stage) newReplica(n int) (*replica, error) {
	r := &replica{stage: s, name: fmt.Sprintf("r%d", n), dir: s.dir, done: make(chan struct{})}
	aws, err := r.listen(awsSide)
	if err != nil {
		return nil, err
	}
	kube, err := r.listen(kubeSide)
	if err != nil {
		return nil, err
	}
	kubeconfig := filepath.Join(r.dir, r.name+".kubeconfig")
	if err := controlplane.WriteKubeconfig(kubeconfig, &rest.Config{Host: "http://" + kube}); err != nil {
		return nil, err
	}
	r.env = append(cleanEnv(), "KUBECONFIG="+kubeconfig, "AWS_ENDPOINT_URL=http://"+aws, "AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test")
	r.flags = append([]string{
		"--watch-namespaces=" + s.namespace, "--cluster-id=" + clusterID, "--sweep-interval=" + sweepInterval.String(),
		"--metrics-bind-address=0", "--health-probe-bind-address=0", "--zap-log-level=debug", "--watch-domains=false",
		"--deletion-budget", "--deletion-budget-settle=" + budgetSettle.String(), "--leader-election-namespace=" + s.namespace,
	}, append(s.lifecycle.flags, s.options.flags...)...)
	if s.lifecycle.sourced {
		if r.states, err = r.listenTable(); err != nil {
			return nil, err
		}
	}
	if s.elsewhere != nil {
		accounts, err := r.accountsFile()
		if err != nil {
			return nil, err
		}
		r.flags = append(r.flags, "--dns-accounts="+accounts)
	}
	if s.options.metrics {
		if r.metrics, err = process.HoldPorts(s.ctx, 1); err != nil {
			return nil, err
		}
		r.flags = append(r.flags, "--metrics-bind-address="+r.metrics.Address(0))
	}
	if s.options.elect {
		r.flags = append(r.flags, "--leader-elect")
	}
	return r, nil
}

// cleanEnv is our environment without anything that could lead to another cluster or to
// the real AWS.
func cleanEnv() []string {
	env := []string{"AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull, "AWS_EC2_METADATA_DISABLED=true"}
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "AWS_") && !strings.HasPrefix(entry, "KUBECONFIG=") {
			env = append(env, entry)
		}
	}
	return env
}

// listen serves one side on a loopback port of its own.
func (r *replica) listen(s side) (address string, err error) {
	listener, err := (&net.ListenConfig{}).Listen(r.stage.ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listening for %s: %w", s, err)
	}
	server := &http.Server{Handler: r.stage.gate.handler(s, r), ReadHeaderTimeout: time.Minute, ErrorLog: silent}
	go func() { _ = server.Serve(listener) }()
	r.servers = append(r.servers, server)
	return listener.Addr().String(), nil
}

// run keeps a process running until stop.
func (r *replica) run() {
	defer close(r.done)
	for {
		r.starting.Lock()
		p, err := r.start()
		r.starting.Unlock()
		if err != nil {
			r.stage.violate("harness", "starting the operator: %v", err)
			return
		}
		if p == nil {
			return
		}
		<-p.child.Ended()
		r.stage.gate.forget(p.name)
		if reason := p.ended(); reason != "" {
			r.mu.Lock()
			r.ownEnds = append(r.ownEnds, reason)
			r.mu.Unlock()
			r.stage.gate.note("%s exited unexpectedly: %s", p.name, reason)
		}
		r.stage.pause(restartPause)
	}
}

// restartPause is what a kubelet takes at the very least.
const restartPause = 100 * time.Millisecond

func (r *replica) start() (*proc, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return nil, nil
	}
	r.starts++
	p := &proc{replica: r, name: fmt.Sprintf("%s.%d", r.name, r.starts)}
	p.log = filepath.Join(r.dir, p.name+".log")
	child, err := r.stage.processes.Start(process.Command{
		Path: r.stage.options.binary, Args: r.flags, Env: r.env, LogFile: p.log,
	})
	if err != nil {
		return nil, err
	}
	p.child = child
	r.current = p
	return p, nil
}

// running is the process that a call of now comes from.
func (r *replica) running() *proc {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current
}

// stop ends the replica for good.
func (r *replica) stop() {
	r.mu.Lock()
	r.stopped = true
	p := r.current
	r.mu.Unlock()
	if p != nil {
		p.end(syscall.SIGKILL)
		<-r.done
	}
	for _, server := range r.servers {
		_ = server.Close()
	}
	r.metrics.Release()
}

// kill ends the process at once. Meanwhile runs before the next one is started.
func (r *replica) kill(p *proc, meanwhile func()) {
	r.starting.Lock()
	defer r.starting.Unlock()
	r.stage.gate.note("%s is killed", p.name)
	p.end(syscall.SIGKILL)
	if meanwhile != nil {
		meanwhile()
	}
}

// down ends the process and keeps the next one from starting, until up.
func (r *replica) down() {
	r.starting.Lock()
	r.stage.gate.note("%s is taken down", r.name)
	if p := r.running(); p != nil {
		p.end(syscall.SIGKILL)
	}
}

func (r *replica) up() { r.starting.Unlock() }

// end ends the process with a signal and waits for it.
func (p *proc) end(signal syscall.Signal) {
	p.cutOff()
	p.signal(signal)
	<-p.child.Ended()
}

// cutOff makes the gate drop what the process still sends.
func (p *proc) cutOff() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead, p.expected = true, true
}

func (p *proc) isDead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

func (p *proc) signal(signal syscall.Signal) {
	if err := p.child.Signal(signal); err != nil {
		p.replica.stage.violate("harness", "%v", err)
	}
}

// isAsked reports whether the process was asked to end. A second time would end it at once.
func (p *proc) isAsked() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.expected
}

// terminate asks the process to end in order.
func (p *proc) terminate() {
	p.mu.Lock()
	p.expected = true
	p.mu.Unlock()
	p.replica.stage.gate.note("%s is asked to end", p.name)
	p.signal(syscall.SIGTERM)
	p.replica.stage.asked(p)
}

// ended says how the process exited on its own, empty when we ended it.
func (p *proc) ended() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead = true
	if p.expected {
		return ""
	}
	return fmt.Sprintf("%v: %s", errors.Join(p.child.Err()), p.child.LogTail(3))
}
