package v1_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
)

var (
	// kube talks to the API server of this package and refuses unknown fields, as kubectl does.
	kube client.Client
	// restConfig reaches the same API server.
	restConfig *rest.Config
	// crdFolder has the CRDs as they are committed.
	crdFolder = filepath.Join("..", "..", "..", "config", "crd")
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctx := context.Background()
	cp, err := controlplane.Start(ctx, controlplane.Options{WithoutControllerManager: true})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := cp.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stopping the control plane:", err)
		}
	}()
	if err := connect(cp.RESTConfig()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// connect installs the CRDs, and makes the clients.
func connect(cfg *rest.Config) error {
	restConfig = cfg
	if _, err := controlplane.InstallCRDs(cfg, envtest.CRDInstallOptions{Paths: []string{crdFolder}, ErrorIfPathMissing: true}); err != nil {
		return fmt.Errorf("installing the CRDs: %w", err)
	}
	scheme := runtime.NewScheme()
	if err := kleffv1.AddToScheme(scheme); err != nil {
		return fmt.Errorf("filling the scheme: %w", err)
	}
	c, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	kube = client.WithFieldValidation(c, metav1.FieldValidationStrict)
	return nil
}
