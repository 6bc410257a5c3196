// What only these tests show: that a fleet which others have made in AWS is written down so that the operator adopts it
// and changes nothing but tags, on a real API server; and what is said where that is not so.
package importing_test

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
