package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
)

// otherRelease is a cluster whose only kind is DistributionTenant. Its CRD has a field that this version does not have,
// and lacks one of the spec and one of the status that it has.
func otherRelease(t *testing.T) (*controlplane.ControlPlane, client.Client) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "config", "crd", "cloudfront-tenant-operator.io_distributiontenants.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(text, crd); err != nil {
		t.Fatal(err)
	}
	schema := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	spec, status := schema.Properties["spec"], schema.Properties["status"]
	delete(spec.Properties, "parameters")
	spec.Properties["shield"] = apiextensionsv1.JSONSchemaProps{Type: "boolean"}
	delete(status.Properties, "drift")

	cp, err := controlplane.Start(t.Context(), controlplane.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cp.Stop(); err != nil {
			t.Error(err)
		}
	})
	if _, err := controlplane.InstallCRDs(cp.RESTConfig(), envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{crd}}); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(cp.RESTConfig(), client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{"app.kubernetes.io/name": "cloudfront-tenant-operator", "app.kubernetes.io/version": "0.9.0"}
	for _, o := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}},
		&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "operator", Labels: labels}, Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "operator", Image: "operator"}}}},
		}},
		&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "cloudfront-tenant-operator.io/v1alpha1", "kind": "DistributionTenant",
			"metadata": map[string]any{"namespace": "shop", "name": "acme"},
			"spec":     map[string]any{"distributionId": "E2EXAMPLE1", "shield": true, "domains": []any{map[string]any{"domain": "acme.example.com"}}},
		}},
	} {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	return cp, c
}

func TestAnOperatorOfAnotherVersion(t *testing.T) {
	cp, c := otherRelease(t)
	const head = "apiVersion: cloudfront-tenant-operator.io/v1alpha1\nkind: DistributionTenant\nmetadata: {name: acme}\n" +
		"spec: {distributionId: E2EXAMPLE1, domains: [{domain: acme.example.com}], "
	for name, tt := range map[string]struct {
		input string
		args  []string
		// fails are parts of the failure, shows of what is printed.
		fails, shows []string
	}{
		"a kind that the cluster lacks": {
			"", []string{"explain", "invalidation/acme"},
			[]string{"this cluster has no Invalidations", "the operator is version 0.9.0 and this plugin is version 1.2.3", "Upgrade the operator"}, nil,
		},
		"an object of a kind that the cluster lacks": {
			"", []string{"invalidate", "acme", "/*"},
			[]string{"this cluster has no Invalidations", "the operator is version 0.9.0 and this plugin is version 1.2.3"}, nil,
		},
		"a field that the CRD lacks": {
			head + "parameters: [{name: tier, value: gold}]}\n", []string{"diff", "-f", "-"},
			[]string{`unknown field "spec.parameters"`, "the operator is version 0.9.0 and this plugin is version 1.2.3", "upgrade the operator and its CRDs"}, nil,
		},
		"a field that the plugin lacks": {
			head + "shield: true}\n", []string{"diff", "-f", "-"},
			[]string{`unknown field "shield"`, "the operator is version 0.9.0 and this plugin is version 1.2.3", "use a plugin that is not older than the operator"}, nil,
		},
		"what there is, is shown":                    {"", []string{"status"}, nil, []string{"1 tenant", "operator   0.9.0"}},
		"an object with a field of its own is shown": {"", []string{"explain", "acme"}, nil, []string{"DistributionTenant shop/acme", "NotProcessed"}},
		"and it can be paused":                       {"", []string{"pause", "acme"}, nil, []string{"shop/acme: paused"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := commandAt(t, cp.Kubeconfig(), tt.input, append(tt.args, "-n", "shop")...)
			if len(tt.fails) == 0 && r.failure != nil {
				t.Fatal(r.failure)
			}
			if len(tt.fails) > 0 {
				if r.failure == nil {
					t.Fatalf("it does not fail, and prints %s", r.out)
				}
				shows(t, r.failure.Error(), tt.fails...)
			}
			shows(t, r.out, tt.shows...)
		})
	}
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("cloudfront-tenant-operator.io/v1alpha1")
	o.SetKind("DistributionTenant")
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "acme"}, o); err != nil {
		t.Fatal(err)
	}
	if shield, _, _ := unstructured.NestedBool(o.Object, "spec", "shield"); !shield {
		t.Errorf("the pause has removed the field that the plugin does not know: %v", o.Object["spec"])
	}
	if r := commandAt(t, plane.Kubeconfig(), "", "explain", "nothing"); r.failure == nil || strings.Contains(r.failure.Error(), "version") {
		t.Errorf("an object that is not there has nothing to do with versions: %v", r.failure)
	}
}
