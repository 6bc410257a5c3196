// What only these tests show: that the API server asks the webhook as the chart has it, trusts its certificate, and
// hands its warnings on; and that it continues without it. The tests of internal/domain/advice show the texts.
package webhook_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
)

var (
	// kubeConfig reaches the API server of this package.
	kubeConfig *rest.Config
	// charted is the webhook as the chart has it.
	charted admissionregistrationv1.ValidatingWebhook
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(zap.New(zap.WriteTo(io.Discard)))
	dir, err := os.MkdirTemp("", "cloudfront-tenant-operator-webhook-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := controlplane.RunTests(m, controlplane.Options{WithoutControllerManager: true}, func(cp *controlplane.ControlPlane) error {
		kubeConfig = cp.RESTConfig()
		kubeConfig.QPS, kubeConfig.Burst = -1, 0
		if _, err := controlplane.InstallCRDs(kubeConfig, envtest.CRDInstallOptions{Paths: []string{"../../config/crd"}, ErrorIfPathMissing: true}); err != nil {
			return fmt.Errorf("installing the CRDs: %w", err)
		}
		return readChart(cp, dir)
	})
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func readChart(cp *controlplane.ControlPlane, dir string) error {
	chart, err := install.Render(context.Background(), install.Options{ControlPlane: cp, Root: "../..", Dir: dir, Values: []string{"webhook.enabled=true"}})
	if err != nil {
		return err
	}
	for _, o := range chart.Objects {
		if o.GetKind() != "ValidatingWebhookConfiguration" {
			continue
		}
		var c admissionregistrationv1.ValidatingWebhookConfiguration
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &c); err != nil {
			return fmt.Errorf("reading the chart's webhook: %w", err)
		}
		charted = c.Webhooks[0]
		return nil
	}
	return fmt.Errorf("the chart has no webhook")
}
