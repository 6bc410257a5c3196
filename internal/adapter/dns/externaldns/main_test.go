package externaldns_test

import (
	"fmt"
	"os"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	realdns "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/externaldns"
)

var (
	plane *controlplane.ControlPlane
	admin client.Client
)

func TestMain(m *testing.M) {
	os.Exit(controlplane.RunTests(m, controlplane.Options{}, func(cp *controlplane.ControlPlane) (err error) {
		plane = cp
		if err := realdns.InstallCRD(cp.RESTConfig()); err != nil {
			return err
		}
		if admin, err = client.New(cp.RESTConfig(), client.Options{}); err != nil {
			return fmt.Errorf("creating a client: %w", err)
		}
		return nil
	}))
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
