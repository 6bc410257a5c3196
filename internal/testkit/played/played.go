// Package played runs tests that drive a controller's time themselves.
package played

import (
	"fmt"
	"io"
	"path/filepath"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
)

// RunTests runs tests with an API server around them that has the CRDs of the folder, no watch cache to wait for, and no
// controller manager. use is given the way to it.
func RunTests(m interface{ Run() int }, crds string, use func(*rest.Config)) int {
	ctrl.SetLogger(zap.New(zap.WriteTo(io.Discard)))
	return controlplane.RunTests(m, controlplane.Options{WithoutControllerManager: true, WithoutWatchCache: true}, func(cp *controlplane.ControlPlane) error {
		config := cp.RESTConfig()
		// The tests measure the operator, not a client's patience.
		config.QPS, config.Burst = -1, 0
		_, err := controlplane.InstallCRDs(config, envtest.CRDInstallOptions{Paths: []string{filepath.FromSlash(crds)}, ErrorIfPathMissing: true})
		if err != nil {
			return fmt.Errorf("installing the CRDs: %w", err)
		}
		use(config)
		return nil
	})
}
