//go:build linux

package node_test

import (
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/node"
)

func TestInside(t *testing.T) {
	if !node.Inside() {
		t.Skip("TestNode runs it")
	}
	n, err := node.Start(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Stop(); err != nil {
		t.Error(err)
	}
}
