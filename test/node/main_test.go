//go:build linux

// Package node_test installs the chart on a real Kubernetes node, and asserts what only Pods can show. "make test-node"
// runs it; without the flag -node, and elsewhere than on Linux, its tests are skipped.
package node_test

import (
	"flag"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/node"
)

var enabled = flag.Bool("node", false, "start a Kubernetes node on this machine, which needs root")

func TestMain(m *testing.M) {
	flag.Parse()
	log.SetLogger(logr.Discard()) // clients say nothing that a test needs
	os.Exit(node.Main(m.Run))
}
