// Package thirdparty has the kinds of Istio and Gatekeeper, from their own modules, for tests of what the operator
// does on clusters that have them. hack/thirdparty.sh puts them into the user's cache folder.
package thirdparty

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// Istio returns the kinds of Istio.
func Istio() ([]*apiextensionsv1.CustomResourceDefinition, error) { return read("istio.yaml") }

// Gatekeeper returns the kinds of Gatekeeper. Those of constraints are not among them: see Constraint.
func Gatekeeper() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	return read("gatekeeper.yaml")
}

// Constraint returns the kind of the constraints of a ConstraintTemplate, as Gatekeeper makes it.
func Constraint(ctx context.Context, template []byte) (*apiextensionsv1.CustomResourceDefinition, error) {
	path, err := asset("constraintcrd")
	if err != nil {
		return nil, err
	}
	var stderr bytes.Buffer
	command := exec.CommandContext(ctx, path)
	command.Stdin, command.Stderr = bytes.NewReader(template), &stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("making the kind of a ConstraintTemplate's constraints: %w: %s", err, stderr.String())
	}
	crds, err := parse(out)
	if err == nil && len(crds) != 1 {
		err = fmt.Errorf("making the kind of a ConstraintTemplate's constraints: there are %d, want one", len(crds))
	}
	if err != nil {
		return nil, err
	}
	return crds[0], nil
}

// IstioCRDs is Istio for tests.
func IstioCRDs(tb testing.TB) []*apiextensionsv1.CustomResourceDefinition {
	tb.Helper()
	return must(Istio())(tb)
}

// GatekeeperCRDs is Gatekeeper for tests.
func GatekeeperCRDs(tb testing.TB) []*apiextensionsv1.CustomResourceDefinition {
	tb.Helper()
	return must(Gatekeeper())(tb)
}

// ConstraintCRD is Constraint for tests.
func ConstraintCRD(tb testing.TB, template []byte) *apiextensionsv1.CustomResourceDefinition {
	tb.Helper()
	return must(Constraint(tb.Context(), template))(tb)
}

func must[T any](value T, err error) func(testing.TB) T {
	return func(tb testing.TB) T {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return value
	}
}

// Install installs kinds, and returns when they are served.
func Install(tb testing.TB, config *rest.Config, crds ...*apiextensionsv1.CustomResourceDefinition) {
	tb.Helper()
	if _, err := controlplane.InstallCRDs(config, envtest.CRDInstallOptions{CRDs: crds}); err != nil {
		tb.Fatalf("installing kinds: %v", err)
	}
}

// uninstalled bounds the end of a kind, for which the API server waits up to a minute for requests in flight.
const uninstalled = 3 * time.Minute

// Uninstall deletes kinds, and returns when they are gone.
func Uninstall(tb testing.TB, kube client.Client, crds ...*apiextensionsv1.CustomResourceDefinition) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), uninstalled)
	defer cancel()
	for _, crd := range crds {
		if err := client.IgnoreNotFound(kube.Delete(ctx, crd)); err != nil {
			tb.Errorf("deleting the kind %s: %v", crd.Name, err)
		}
	}
	for _, crd := range crds {
		var now apiextensionsv1.CustomResourceDefinition
		err := wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
			now = apiextensionsv1.CustomResourceDefinition{}
			if err := kube.Get(ctx, client.ObjectKeyFromObject(crd), &now); err != nil {
				return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
			}
			return false, client.IgnoreNotFound(retry(ctx, kube, &now))
		})
		if err != nil {
			tb.Errorf("waiting for the end of the kind %s: %v; it says %+v", crd.Name, err, now.Status.Conditions)
		}
	}
}

// retry has the API server try again to delete the objects of a kind. It fails to where it has just begun to store that
// kind; and its own next try gets lost when its cache shows the definition as it was before it said so. Any change of
// the definition but of that condition wakes it.
func retry(ctx context.Context, kube client.Client, crd *apiextensionsv1.CustomResourceDefinition) error {
	for _, c := range crd.Status.Conditions {
		if c.Type == apiextensionsv1.Terminating && c.Reason == "InstanceDeletionFailed" {
			before := crd.DeepCopy()
			metav1.SetMetaDataAnnotation(&crd.ObjectMeta, "retried-at", crd.ResourceVersion)
			return kube.Patch(ctx, crd, client.MergeFrom(before))
		}
	}
	return nil
}

// asset returns the path of what hack/thirdparty.sh makes, in THIRDPARTY_ASSETS or in the user's cache folder.
func asset(name string) (string, error) {
	dir := os.Getenv("THIRDPARTY_ASSETS")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("finding the cache folder: %w", err)
		}
		dir = filepath.Join(cache, "cloudfront-tenant-operator", "thirdparty", "current")
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("finding the kinds of Istio and Gatekeeper: %w: run hack/thirdparty.sh", err)
	}
	return path, nil
}

func read(name string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	path, err := asset(name)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading kinds: %w", err)
	}
	return parse(text)
}

func parse(text []byte) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var out []*apiextensionsv1.CustomResourceDefinition
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		switch err := documents.Decode(crd); {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("reading kinds: %w", err)
		case crd.Name != "":
			out = append(out, crd)
		}
	}
}
