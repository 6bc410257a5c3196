//go:build linux

package node_test

import (
	"os"
	"strings"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/node"
)

// The whole test, of which all but this runs inside the node.
func TestNode(t *testing.T) {
	outside(t)
	if err := node.Run(t.Context(), os.Stdout, "-test.run=^TestInside$", "-test.v", "-test.count=1", "-test.timeout=0", "-node"); err != nil {
		t.Error(err)
	}
}

// outside skips a test that can't start a node.
func outside(t *testing.T) {
	t.Helper()
	if !*enabled || node.Inside() {
		t.Skip("it starts a Kubernetes node: run make test-node")
	}
	if missing := node.Missing(); len(missing) > 0 {
		t.Skipf("this machine lacks what a Kubernetes node needs:\n%s", strings.Join(missing, "\n"))
	}
}
