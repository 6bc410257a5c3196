// Package gatekeeper tests what the constraints of a plan refuse where Gatekeeper runs: the real one, with the chart's
// ConstraintTemplates and the built operator, on a real API server. Gatekeeper takes minutes to build, so that only
// "make test-gatekeeper" runs these tests.
package gatekeeper_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/onsi/gomega"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// assetsVariable names the folder that hack/gatekeeper.sh prints.
const assetsVariable = "GATEKEEPER_ASSETS"

// patience ends what hangs. It is far above what anything here takes.
const patience = 3 * time.Minute

var (
	host *stack.Host
	kube client.WithWatch
)

func TestMain(m *testing.M) {
	if os.Getenv(assetsVariable) == "" {
		fmt.Fprintln(os.Stderr, assetsVariable, "is not set: make test-gatekeeper runs these tests")
		os.Exit(0)
	}
	ctrl.SetLogger(logr.Discard())
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "cloudfront-tenant-operator-gatekeeper-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	return controlplane.RunTests(m, controlplane.Options{}, func(cp *controlplane.ControlPlane) (err error) {
		if host, err = stack.NewHost(context.Background(), cp, dir, false); err != nil {
			return err
		}
		kube, err = host.Client()
		return err
	})
}

func eventually(t *testing.T, check func(g gomega.Gomega)) {
	t.Helper()
	gomega.NewWithT(t).Eventually(t.Context(), check).WithTimeout(patience).WithPolling(100 * time.Millisecond).Should(gomega.Succeed())
}
