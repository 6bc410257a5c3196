// Package hostile tests what must not happen: the built operator, on a real control plane and against the simulated AWS,
// with people and systems around it that make mistakes or mean harm.
package hostile_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

var (
	host *stack.Host
	kube client.WithWatch
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "cloudfront-tenant-operator-hostile-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	return controlplane.RunTests(m, controlplane.Options{APIServerFlags: []string{"--allow-privileged"}}, func(cp *controlplane.ControlPlane) (err error) {
		if host, err = stack.NewHost(context.Background(), cp, dir, raceDetector); err != nil {
			return err
		}
		if host.Installation, err = host.Install(context.Background(), install.Options{Values: []string{"tenancy.enabled=true"}}); err != nil {
			return err
		}
		kube, err = host.Client()
		return err
	})
}
