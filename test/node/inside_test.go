//go:build linux

package node_test

import (
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/node"
)

// The scenarios follow each other on one node: each finds the installation as the previous one left it.
func TestInside(t *testing.T) {
	if !node.Inside() {
		t.Skip("TestNode runs it")
	}
	w := newWorld(t)
	defer w.print()
	t.Run("install", func(t *testing.T) { w.on(t).install() })
	if len(w.pods()) == 0 {
		return
	}
	for _, step := range []struct {
		name string
		run  func(w *world)
	}{
		{"leader deleted", (*world).leaderDeleted},
		{"leader killed", (*world).leaderKilled},
		{"leader frozen", (*world).leaderFrozen},
		{"API server away", (*world).apiServerAway},
		{"roll-outs", (*world).rollout},
		{"table of many rows", (*world).tableOfManyRows},
		{"reader killed", (*world).readerKilled},
		{"projected token", (*world).projectedToken},
		{"many tenants", (*world).manyTenants},
		{"helm test", (*world).helmTest},
		{"uninstall", (*world).uninstall},
		{"every line is JSON", (*world).everyLineIsJSON},
	} {
		t.Run(step.name, func(t *testing.T) { step.run(w.on(t)) })
	}
}
