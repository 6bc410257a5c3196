// What only these tests show: that the controller of invalidations does in Kubernetes and in AWS what the domain decides,
// call by call, and that AWS has exactly one invalidation for each tenant, no matter where the process ends, which answers
// are lost, or what changes between two calls. A lifecycle runs on a real API server; the many ways to fail run without one.
package invalidation_test

import (
	"os"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/played"
)

// kubeConfig reaches the API server of this package.
var kubeConfig *rest.Config

func TestMain(m *testing.M) {
	os.Exit(played.RunTests(m, "../../../config/crd", func(c *rest.Config) { kubeConfig = c }))
}
