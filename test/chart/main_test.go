// Package chart_test renders the chart, has a real API server judge what comes out, and
// installs, upgrades and uninstalls it as people do.
package chart_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/module"
)

const (
	chartDir = "../../charts/cloudfront-tenant-operator"
	// release is also the name of the objects, as it contains the chart's name.
	release = "cloudfront-tenant-operator"
	// namespace enforces the restricted standard for pods.
	namespace = "operator-system"
)

// watched are namespaces that values refer to; the API server wants them to exist.
var watched = []string{"team-a", "team-b"}

// These modules hold the CRDs of the Prometheus Operator and of cert-manager. They are downloaded and not required: their
// code is of no use here.
const (
	monitoringModule  = "github.com/prometheus-operator/prometheus-operator@v0.85.0"
	certManagerModule = "github.com/cert-manager/cert-manager@v1.18.2"
)

// foreign are the CRDs that the chart's objects may need, by the folder in their module.
var foreign = []struct {
	module, folder string
	files, names   []string
}{
	{
		monitoringModule, "example/prometheus-operator-crd",
		[]string{"monitoring.coreos.com_servicemonitors.yaml", "monitoring.coreos.com_podmonitors.yaml", "monitoring.coreos.com_prometheusrules.yaml"},
		[]string{"servicemonitors.monitoring.coreos.com", "podmonitors.monitoring.coreos.com", "prometheusrules.monitoring.coreos.com"},
	},
	{
		certManagerModule, "deploy/crds",
		[]string{"crd-certificates.yaml", "crd-issuers.yaml"},
		[]string{"certificates.cert-manager.io", "issuers.cert-manager.io"},
	},
}

var (
	cluster *controlplane.ControlPlane
	kube    client.Client
)

func TestMain(m *testing.M) {
	os.Exit(controlplane.RunTests(m, controlplane.Options{}, func(cp *controlplane.ControlPlane) (err error) {
		cluster = cp
		scheme, err := operator.Scheme()
		if err != nil {
			return err
		}
		if kube, err = client.New(cp.RESTConfig(), client.Options{Scheme: scheme}); err != nil {
			return err
		}
		ctx := context.Background()
		for _, name := range append([]string{namespace}, watched...) {
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}}}
			if err := kube.Create(ctx, ns); err != nil {
				return err
			}
		}
		return installForeignCRDs(ctx)
	}))
}

func installForeignCRDs(ctx context.Context) error {
	wait := []string{"wait", "--for=condition=Established", "--timeout=60s"}
	for _, f := range foreign {
		dir, err := download(ctx, f.module)
		if err != nil {
			return err
		}
		for _, file := range f.files {
			if err := installCRD(ctx, filepath.Join(dir, f.folder, file)); err != nil {
				return err
			}
		}
		for _, name := range f.names {
			wait = append(wait, "crd/"+name)
		}
	}
	if out, err := run(ctx, "kubectl", nil, wait...); err != nil {
		return fmt.Errorf("waiting for the CRDs of others: %w\n%s", err, out)
	}
	return nil
}

func installCRD(ctx context.Context, path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading a CRD: %w", err)
	}
	crd := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(content, &crd.Object); err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	crd.SetLabels(nil) // those of cert-manager are template expressions
	if err := kube.Create(ctx, crd); err != nil {
		return fmt.Errorf("installing %s: %w", path, err)
	}
	return nil
}

// download returns the folder of a module's source.
func download(ctx context.Context, path string) (string, error) {
	command := exec.CommandContext(ctx, "go", "mod", "download", "-json", path)
	command.Dir = os.TempDir() // where no go.mod or go.sum can be changed
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("downloading %s: %w\n%s", path, err, out)
	}
	var downloaded struct{ Dir string }
	if err := json.Unmarshal(out, &downloaded); err != nil {
		return "", fmt.Errorf("reading the output of go mod download: %w", err)
	}
	return downloaded.Dir, nil
}

// run runs kubectl or helm as the administrator, without the settings of the user who runs the tests.
func run(ctx context.Context, tool string, stdin []byte, args ...string) (string, error) {
	module.DependOn("../..")
	home := filepath.Join(cluster.LogDir(), "home") // which goes with the control plane
	cmd := exec.CommandContext(ctx, filepath.Join(cluster.BinDir(), tool), args...)
	cmd.Env = []string{"KUBECONFIG=" + cluster.Kubeconfig(), "HOME=" + home, "PATH=" + os.Getenv("PATH")}
	cmd.Stdin = bytes.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stderr.String(), err
	}
	return stdout.String(), nil
}

// helm runs helm with values on stdin, and returns what it prints, or its complaint.
func helm(t *testing.T, values string, args ...string) (string, error) {
	t.Helper()
	return helmOf(t, "helm", values, args...)
}

// helmOf does that with a release of Helm.
func helmOf(t *testing.T, tool, values string, args ...string) (string, error) {
	t.Helper()
	return run(t.Context(), tool, []byte(values), append(args, "--namespace", namespace, "--values", "-")...)
}

// rendering is what comes out of the chart.
type rendering struct {
	text    string
	objects []*unstructured.Unstructured
}

// render renders the chart with values.
func render(t *testing.T, values string) rendering {
	t.Helper()
	out, err := helm(t, values, "template", release, chartDir)
	if err != nil {
		t.Fatalf("rendering with %s: %v\n%s", values, err, out)
	}
	return parse(t, out)
}

func parse(t *testing.T, text string) rendering {
	t.Helper()
	r := rendering{text: text}
	decoder := utilyaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	for {
		o := &unstructured.Unstructured{}
		err := decoder.Decode(o)
		if errors.Is(err, io.EOF) {
			return r
		}
		if err != nil {
			t.Fatalf("what was rendered is no YAML: %v\n%s", err, text)
		}
		if len(o.Object) > 0 {
			r.objects = append(r.objects, o)
		}
	}
}

// separator stands between two manifests.
const separator = "\n---\n"

// without are the manifests that are not the same in another rendering.
func (r rendering) without(other rendering) string {
	same := strings.Split(other.text, separator)
	return strings.Join(slices.DeleteFunc(strings.Split(r.text, separator), func(manifest string) bool { return slices.Contains(same, manifest) }), separator)
}

// names lists the objects as "Kind name", or "Kind namespace/name" outside the release's own.
func (r rendering) names() []string {
	var out []string
	for _, o := range r.objects {
		name := o.GetName()
		if ns := o.GetNamespace(); ns != "" && ns != namespace {
			name = ns + "/" + name
		}
		out = append(out, o.GetKind()+" "+name)
	}
	slices.Sort(out)
	return out
}

func (r rendering) find(kind string) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, o := range r.objects {
		if o.GetKind() == kind {
			out = append(out, o)
		}
	}
	return out
}

func (r rendering) deployment(t *testing.T) *appsv1.Deployment {
	t.Helper()
	found := r.find("Deployment")
	if len(found) != 1 {
		t.Fatalf("%d Deployments, want 1", len(found))
	}
	d := &appsv1.Deployment{}
	as(t, found[0], d)
	return d
}

// testPod is that of helm test.
func (r rendering) testPod(t *testing.T) corev1.Pod {
	t.Helper()
	found := r.find("Pod")
	if len(found) != 1 {
		t.Fatalf("%d Pods, want 1", len(found))
	}
	var p corev1.Pod
	as(t, found[0], &p)
	return p
}

// container is the operator's.
func (r rendering) container(t *testing.T) corev1.Container {
	t.Helper()
	containers := r.deployment(t).Spec.Template.Spec.Containers
	if len(containers) == 0 || containers[0].Name != "operator" {
		t.Fatalf("the containers are %v, want the first to be named operator", containers)
	}
	return containers[0]
}

// as converts an object, and refuses fields that the type doesn't have.
func as(t *testing.T, o *unstructured.Unstructured, into any) {
	t.Helper()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, into, true); err != nil {
		t.Fatalf("%s %s: %v", o.GetKind(), o.GetName(), err)
	}
}
