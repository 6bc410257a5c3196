// What only these tests show: that the controller does in Kubernetes and in AWS what the domain decides, pass by pass,
// whatever AWS answers and wherever a process ends. Each life, tampering, stale caches, references, adoption and what
// everything costs are played on a real API server; the many ways in which AWS, DNS and processes fail are played without
// one, and a life without one has to lead to the same as with one. test/model shows what happens when several of these
// meet; test/crash and test/e2e show the binary.
package distributiontenant_test

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
