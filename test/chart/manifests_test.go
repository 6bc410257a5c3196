package chart_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

const (
	operatorYAML = "../../config/install/operator.yaml"
	// withoutHelm is the namespace of the manifests for installations without Helm.
	withoutHelm = "cloudfront-tenant-operator"
)

// The committed manifests are what the chart renders with its defaults, without what only concerns Helm.
func TestManifestsAreTheChart(t *testing.T) {
	out, err := run(t.Context(), "helm", nil, "template", withoutHelm, chartDir, "--namespace", withoutHelm, "--skip-tests", "--set", "crds.install=false")
	if err != nil {
		t.Fatalf("rendering: %v\n%s", err, out)
	}
	want := parse(t, out).objects
	for _, o := range want {
		forgetHelm(o.Object)
	}
	got := readManifests(t, operatorYAML)
	if len(got) == 0 || got[0].GetKind() != "Namespace" || got[0].GetName() != withoutHelm {
		t.Fatalf("%s does not begin with the namespace %s", operatorYAML, withoutHelm)
	}
	if diff := cmp.Diff(want, got[1:]); diff != "" {
		t.Errorf("%s is not the chart; make generate writes it (-chart +file):\n%s", operatorYAML, diff)
	}
}

// forgetHelm removes Helm's labels wherever labels are.
func forgetHelm(value any) {
	switch v := value.(type) {
	case map[string]any:
		delete(v, "helm.sh/chart")
		delete(v, "app.kubernetes.io/managed-by")
		for _, member := range v {
			forgetHelm(member)
		}
	case []any:
		for _, member := range v {
			forgetHelm(member)
		}
	}
}

// The kustomization holds the CRDs that the chart installs with its defaults, and the operator.
func TestKustomizationBuilds(t *testing.T) {
	var want []*unstructured.Unstructured
	for _, crd := range render(t, "{}").find("CustomResourceDefinition") {
		group, plural, _ := strings.Cut(crd.GetName(), ".")
		want = append(want, readManifests(t, "../../config/crd/"+plural+"_"+group+".yaml")...)
	}
	if len(want) != 7 {
		t.Fatalf("the chart installs %d CRDs, want 7", len(want))
	}
	want = append(want, readManifests(t, operatorYAML)...)
	if diff := cmp.Diff(want, kustomize(t, "../../config")); diff != "" {
		t.Errorf("kubectl kustomize config (-want +got):\n%s", diff)
	}
}

// An overlay reaches what people change: the image, the identity in AWS and the flags.
func TestKustomizationIsABase(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "config"), os.DirFS("../../config")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "overlay"), 0o755); err != nil {
		t.Fatal(err)
	}
	overlay := `
resources: [../config]
images:
  - {name: ghcr.io/cloudfront-tenant-operator/cloudfront-tenant-operator, newName: registry.example.com/operator, newTag: v9}
patches:
  - patch: |
      apiVersion: v1
      kind: ServiceAccount
      metadata:
        name: cloudfront-tenant-operator
        namespace: cloudfront-tenant-operator
        annotations:
          eks.amazonaws.com/role-arn: arn:aws:iam::111122223333:role/cloudfront-tenant-operator
  - target: {kind: Deployment, name: cloudfront-tenant-operator}
    patch: |
      - {op: add, path: /spec/template/spec/containers/0/args/-, value: --drift-policy=report}
`
	if err := os.WriteFile(filepath.Join(dir, "overlay", "kustomization.yaml"), []byte(overlay), 0o644); err != nil {
		t.Fatal(err)
	}
	r := rendering{objects: kustomize(t, filepath.Join(dir, "overlay"))}
	c := r.container(t)
	if c.Image != "registry.example.com/operator:v9" || !slices.Contains(c.Args, "--drift-policy=report") {
		t.Errorf("the image is %s, the flags are %v", c.Image, c.Args)
	}
	if account := r.find("ServiceAccount")[0]; account.GetAnnotations()["eks.amazonaws.com/role-arn"] == "" {
		t.Error("the ServiceAccount has no role")
	}
}

func kustomize(t *testing.T, dir string) []*unstructured.Unstructured {
	t.Helper()
	out, err := run(t.Context(), "kubectl", nil, "kustomize", dir)
	if err != nil {
		t.Fatalf("kubectl kustomize %s: %v\n%s", dir, err, out)
	}
	return parse(t, out).objects
}

// A release's install.yaml installs that release's image, and its removal without the CRDs leaves all tenants where they are.
func TestReleaseManifestsApply(t *testing.T) {
	const image = "registry.example.com:5000/operator@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	dir := releaseManifests(t, "1.2.3", image)
	l := life{T: t, tool: "helm"}
	t.Cleanup(func() { // the next release of the chart must find no CRDs that are not its own
		for _, file := range []string{"crds.yaml", "crds-tenancy.yaml"} {
			if out, err := run(context.WithoutCancel(t.Context()), "kubectl", nil, "annotate", "-f", filepath.Join(dir, file), allowDeletion+"=true"); err != nil {
				t.Errorf("cleaning up: %v\n%s", err, out)
			}
		}
		if out, err := run(context.WithoutCancel(t.Context()), "kubectl", nil, "delete", "--ignore-not-found", "--wait", "-f", filepath.Join(dir, "install.yaml"), "-f", filepath.Join(dir, "crds-tenancy.yaml")); err != nil {
			t.Errorf("cleaning up: %v\n%s", err, out)
		}
	})
	l.run("kubectl", "apply", "--server-side", "--validate=strict", "-f", filepath.Join(dir, "install.yaml"))
	l.run("kubectl", "apply", "--server-side", "--validate=strict", "-f", filepath.Join(dir, "crds-tenancy.yaml"))
	l.settled()

	d := &appsv1.Deployment{}
	if err := kube.Get(t.Context(), client.ObjectKey{Namespace: withoutHelm, Name: release}, d); err != nil {
		t.Fatal(err)
	}
	if got := d.Spec.Template.Spec.Containers[0].Image; got != image {
		t.Errorf("the image is %s, want %s", got, image)
	}
	if got := d.Labels["app.kubernetes.io/version"]; got != "1.2.3" {
		t.Errorf("the version is %s, want 1.2.3", got)
	}
	if diff := cmp.Diff(names(readManifests(t, operatorYAML)), names(slices.DeleteFunc(readManifests(t, filepath.Join(dir, "install.yaml")), isCRD))); diff != "" {
		t.Errorf("objects of install.yaml besides the CRDs (-%s +install.yaml):\n%s", operatorYAML, diff)
	}

	l.run("kubectl", "apply", "--server-side", "--validate=strict", "-f", filepath.Join(dir, "crds.yaml")) // the same CRDs
	tenant := l.createTenant("acme")
	l.run("kubectl", "delete", "--wait", "-f", operatorYAML)
	l.unharmed(tenant)
	if err := kube.Delete(t.Context(), tenant); err != nil {
		t.Fatal(err)
	}
	NewWithT(t).Eventually(func() bool {
		return apierrors.IsNotFound(kube.Get(t.Context(), client.ObjectKeyFromObject(tenant), &v1alpha1.DistributionTenant{}))
	}).WithTimeout(patience).Should(BeTrue())
}

// Without a tag or a digest it is unknown what would be installed.
func TestReleaseManifestsNeedAnImage(t *testing.T) {
	for _, args := range [][]string{{"1.2.3"}, {"1.2.3", "registry.example.com/operator", t.TempDir()}, {"", "", t.TempDir()}} {
		if out, err := exec.CommandContext(t.Context(), "../../hack/install-manifests.sh", args...).CombinedOutput(); err == nil {
			t.Errorf("with %q it succeeds:\n%s", args, out)
		}
	}
}

// releaseManifests writes a release's manifests into a folder.
func releaseManifests(t *testing.T, version, image string) string {
	t.Helper()
	dir := t.TempDir()
	command := exec.CommandContext(t.Context(), "../../hack/install-manifests.sh", version, image, dir)
	command.Env = append(os.Environ(), "KUBEBUILDER_ASSETS="+cluster.BinDir())
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("writing the release's manifests: %v\n%s", err, out)
	}
	return dir
}

func isCRD(o *unstructured.Unstructured) bool { return o.GetKind() == "CustomResourceDefinition" }

func names(objects []*unstructured.Unstructured) []string {
	return rendering{objects: objects}.names()
}

func readManifests(t *testing.T, path string) []*unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(content)).objects
}
