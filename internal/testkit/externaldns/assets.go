package externaldns

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
)

// CRD returns the kind DNSEndpoint, as ExternalDNS has it.
func CRD() (*apiextensionsv1.CustomResourceDefinition, error) {
	path, err := asset("dnsendpoint.yaml")
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the kind of ExternalDNS: %w", err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(text, crd); err != nil {
		return nil, fmt.Errorf("reading the kind of ExternalDNS: %w", err)
	}
	return crd, nil
}

// InstallCRD installs the kind, and returns when it is served. It is for TestMain.
func InstallCRD(config *rest.Config) error {
	crd, err := CRD()
	if err != nil {
		return err
	}
	if _, err := controlplane.InstallCRDs(config, envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{crd}}); err != nil {
		return fmt.Errorf("installing the kind of ExternalDNS: %w", err)
	}
	return nil
}

// Install is InstallCRD for a test.
func Install(tb testing.TB, config *rest.Config) {
	tb.Helper()
	if err := InstallCRD(config); err != nil {
		tb.Fatal(err)
	}
}

// asset returns the path of what hack/dnsservers.sh makes, in DNSSERVER_ASSETS or in the user's cache folder.
func asset(name string) (string, error) {
	dir := os.Getenv("DNSSERVER_ASSETS")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("finding the cache folder: %w", err)
		}
		dir = filepath.Join(cache, "cloudfront-tenant-operator", "dnsservers", "current")
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("finding ExternalDNS: %w: run hack/dnsservers.sh", err)
	}
	return path, nil
}
