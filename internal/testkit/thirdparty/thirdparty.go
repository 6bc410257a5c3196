// Package thirdparty has the kinds of Istio and Gatekeeper, from their own modules, for tests of what the operator
// does on clusters that have them. hack/thirdparty.sh puts them into the user's cache folder.
package thirdparty

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// IstioCRDs returns the kinds of Istio.
func IstioCRDs(t testing.TB) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	return read(t, "istio.yaml")
}

// GatekeeperCRDs returns the kinds of Gatekeeper. Those of constraints are not among them: see ConstraintCRD.
func GatekeeperCRDs(t testing.TB) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	return read(t, "gatekeeper.yaml")
}

// ConstraintCRD returns the kind of the constraints of a ConstraintTemplate, as Gatekeeper makes it.
func ConstraintCRD(t testing.TB, template []byte) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	var stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), asset(t, "constraintcrd"))
	command.Stdin, command.Stderr = bytes.NewReader(template), &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("making the kind of a ConstraintTemplate's constraints: %v: %s", err, stderr.String())
	}
	return parse(t, out)[0]
}

// Install installs kinds, and returns when they are served.
func Install(t testing.TB, config *rest.Config, crds ...*apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	if _, err := envtest.InstallCRDs(config, envtest.CRDInstallOptions{CRDs: crds}); err != nil {
		t.Fatalf("installing kinds: %v", err)
	}
}

// asset returns the path of what hack/thirdparty.sh makes, in THIRDPARTY_ASSETS or in the user's cache folder.
func asset(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("THIRDPARTY_ASSETS")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatalf("finding the cache folder: %v", err)
		}
		dir = filepath.Join(cache, "cloudfront-tenant-operator", "thirdparty", "current")
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("finding the kinds of Istio and Gatekeeper: %v: run hack/thirdparty.sh", err)
	}
	return path
}

func read(t testing.TB, name string) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	text, err := os.ReadFile(asset(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, text)
}

func parse(t testing.TB, text []byte) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	var out []*apiextensionsv1.CustomResourceDefinition
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		switch err := documents.Decode(crd); {
		case errors.Is(err, io.EOF):
			return out
		case err != nil:
			t.Fatalf("reading kinds: %v", err)
		case crd.Name != "":
			out = append(out, crd)
		}
	}
}
