//go:build linux

package node_test

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/module"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/node"
)

// only selects scenarios.
var only = flag.String("node.run", "", "a regular expression: run only these scenarios, and the installation")

// hold has TestHold start a node and wait until it is killed.
var hold = flag.Bool("node.hold", false, "start a node and wait; for TestKilled")

// standing is what TestHold prints when there is a node.
const standing = "the node is ready"

// The scenarios run inside the node. After them the machine is as it was.
func TestNode(t *testing.T) {
	outside(t)
	before := look(t)
	run := "-test.run=^TestInside$/^(install|.*(" + *only + "))"
	if err := node.Run(t.Context(), os.Stdout, run, "-test.v", "-test.count=1", "-test.timeout=0", "-node", "-node.tenants="+strconv.Itoa(*tenants)); err != nil {
		t.Error(err)
	}
	wantSame(t, before)
}

// hack/node.sh runs it before it builds what a node needs.
func TestPossible(t *testing.T) { possible(t) }

// A test that is killed leaves nothing either, nor does one that a Ctrl-C ends, not even a process that was frozen.
func TestKilled(t *testing.T) {
	outside(t)
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) { killed(t, signal) })
	}
}

func killed(t *testing.T, signal syscall.Signal) {
	t.Helper()
	before := look(t)
	test := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestHold$", "-test.v", "-test.timeout=0", "-node", "-node.hold")
	test.Stderr = os.Stderr
	output, err := test.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := test.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(output)
	for lines.Scan() && lines.Text() != standing {
		t.Log(lines.Text())
	}
	if lines.Text() != standing {
		t.Fatal("there is no node to kill")
	}
	if cmp.Equal(before, look(t)) {
		t.Error("the machine looks the same with a node on it")
	}
	if err := test.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	// The watcher has our pipe until it has cleaned up.
	_, _ = io.Copy(io.Discard, output)
	_ = test.Wait()
	wantSame(t, before)
}

// TestHold is killed by TestKilled.
func TestHold(t *testing.T) {
	if !*hold {
		t.Skip("TestKilled runs it")
	}
	if !node.Inside() {
		t.Fatal(node.Run(t.Context(), os.Stdout, "-test.run=^TestHold$", "-test.v", "-test.timeout=0", "-node", "-node.hold"))
	}
	w := newWorld(t)
	w.install()
	if _, err := w.node.Ctr(t.Context(), "tasks", "pause", container(w.pods()[0])); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(os.Stdout, standing)
	<-t.Context().Done()
}

// possible is for a test that starts a node.
func possible(t *testing.T) {
	t.Helper()
	if !*enabled || node.Inside() {
		t.Skip("it starts a Kubernetes node: run make test-node")
	}
	if err := node.Possible(t.Context()); err != nil {
		t.Fatalf("there can be no Kubernetes node on this machine:\n%v", err)
	}
}

// outside builds the operator: inside there is no way to download a module.
func outside(t *testing.T) {
	t.Helper()
	possible(t)
	root, err := module.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := build(t.Context(), root, os.DevNull); err != nil {
		t.Fatal(err)
	}
}

func look(t *testing.T) node.Machine {
	t.Helper()
	machine, err := node.Look()
	if err != nil {
		t.Fatal(err)
	}
	return machine
}

func wantSame(t *testing.T, before node.Machine) {
	t.Helper()
	if diff := cmp.Diff(before, look(t)); diff != "" {
		t.Errorf("the machine is not as it was (-before +after):\n%s", diff)
	}
}
