// What only these tests show: that the controllers of distributions and connection groups do in Kubernetes and in AWS
// what the domain decides, call by call, no matter what AWS answers or what changes between two calls. Each lifecycle,
// stale caches and the cost of everything run on a real API server; the many ways to fail run without one, and a
// lifecycle without one has to lead to the same result as with one.
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
