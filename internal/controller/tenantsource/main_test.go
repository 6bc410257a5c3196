package tenantsource_test

import (
	"os"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/played"
)

// kubeConfig reaches the API server of this package.
var kubeConfig *rest.Config

func TestMain(m *testing.M) { os.Exit(database.RunTests(onControlPlane{m})) }

// onControlPlane runs the tests with a control plane around them.
type onControlPlane struct{ m *testing.M }

func (o onControlPlane) Run() int {
	return played.RunTests(o.m, "../../../config/crd", func(c *rest.Config) { kubeConfig = c })
}
