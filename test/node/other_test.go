//go:build !linux

package node_test

import "testing"

func TestNode(t *testing.T) { t.Skip("a Kubernetes node needs Linux") }
