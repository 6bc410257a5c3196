// Package rights tests that the operator works with exactly the rights that its chart gives it:
// none is refused in a run of every feature, none lies idle, and each that is taken away is
// missed in words that say what to do.
package rights_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// patience ends what hangs. It is far above what anything here takes, also where many tests share a slow machine.
const patience = 5 * time.Minute

var (
	host *stack.Host
	kube client.Client
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if err := process.TestsAtOnce(4); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	dir, err := os.MkdirTemp("", "cloudfront-tenant-operator-rights-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	return controlplane.RunTests(withDatabase{m}, controlplane.Options{Audit: true}, func(cp *controlplane.ControlPlane) (err error) {
		if host, err = stack.NewHost(context.Background(), cp, dir, false); err != nil {
			return err
		}
		if kube, err = host.Client(); err != nil {
			return err
		}
		return removeAbandon(context.Background())
	})
}

// withDatabase ends the database that the tests started.
type withDatabase struct{ m *testing.M }

func (w withDatabase) Run() int {
	code := w.m.Run()
	if err := database.StopShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}
