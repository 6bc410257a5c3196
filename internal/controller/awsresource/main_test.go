// What only these tests show: that the controllers of distributions and connection groups do in Kubernetes and in AWS what
// the domain decides, call by call, whatever AWS answers and whoever meddles between two calls. Each life, stale caches
// and what everything costs are played on a real API server; the many ways to fail are played without one, and a life
// without one has to lead to the same as with one.
package awsresource_test

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
