package parent_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
)

// kubeConfig reaches the API server of this package.
var kubeConfig *rest.Config

func TestMain(m *testing.M) {
	ctrl.SetLogger(zap.New(zap.WriteTo(io.Discard)))
	os.Exit(controlplane.RunTests(m, controlplane.Options{WithoutControllerManager: true, WithoutWatchCache: true}, func(cp *controlplane.ControlPlane) error {
		kubeConfig = cp.RESTConfig()
		// The tests measure the operator, not a client's patience.
		kubeConfig.QPS, kubeConfig.Burst = -1, 0
		_, err := envtest.InstallCRDs(kubeConfig, envtest.CRDInstallOptions{
			Paths: []string{filepath.Join("..", "..", "..", "config", "crd")}, ErrorIfPathMissing: true,
		})
		if err != nil {
			return fmt.Errorf("installing the CRDs: %w", err)
		}
		return nil
	}))
}
