package thirdparty_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/thirdparty"
)

var config *rest.Config

func TestMain(m *testing.M) {
	os.Exit(controlplane.RunTests(m, controlplane.Options{WithoutControllerManager: true}, func(cp *controlplane.ControlPlane) error {
		config = cp.RESTConfig()
		return nil
	}))
}

// template has a parameter, so that one sees that it gets into the kind.
const template = `
apiVersion: templates.gatekeeper.sh/v1
kind: ConstraintTemplate
metadata: {name: testneedslabel}
spec:
  crd:
    spec:
      names: {kind: TestNeedsLabel}
      validation:
        openAPIV3Schema:
          type: object
          properties:
            label: {type: string}
  targets:
  - target: admission.k8s.gatekeeper.sh
    rego: |
      package testneedslabel
      violation[{"msg": "label"}] { not input.review.object.metadata.labels[input.parameters.label] }
`

// TestServed stores an object of each origin as one that tests need.
func TestServed(t *testing.T) {
	constraint := thirdparty.ConstraintCRD(t, []byte(template))
	crds := append(thirdparty.IstioCRDs(t), thirdparty.GatekeeperCRDs(t)...)
	if got, want := len(crds), 15+17; got != want {
		t.Errorf("there are %d kinds, want %d", got, want)
	}
	crds = append(crds, constraint)
	thirdparty.Install(t, config, crds...)
	c, err := client.New(config, client.Options{Scheme: scheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { thirdparty.Uninstall(t, c, crds...) })

	for _, o := range []*unstructured.Unstructured{
		object("security.istio.io/v1", "PeerAuthentication", map[string]any{"mtls": map[string]any{"mode": "STRICT"}}),
		object("constraints.gatekeeper.sh/v1beta1", "TestNeedsLabel", map[string]any{
			"enforcementAction": "warn",
			"match":             map[string]any{"namespaceSelector": map[string]any{"matchLabels": map[string]any{"a": "b"}}},
			"parameters":        map[string]any{"label": "owner"},
		}),
	} {
		t.Run(o.GetKind(), func(t *testing.T) {
			want := o.DeepCopy().Object["spec"]
			if err := c.Create(t.Context(), o, client.FieldValidation("Strict")); err != nil {
				t.Fatal(err)
			}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, o.Object["spec"]); diff != "" {
				t.Errorf("the stored spec differs (-want +got):\n%s", diff)
			}
		})
	}
}

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestConstraintCRD shows that the kind has the parameters of the template, and the selectors of Gatekeeper.
func TestConstraintCRD(t *testing.T) {
	crd := thirdparty.ConstraintCRD(t, []byte(template))
	if got, want := crd.Name, "testneedslabel.constraints.gatekeeper.sh"; got != want {
		t.Errorf("the kind is %s, want %s", got, want)
	}
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties
	if got, want := spec["parameters"].Properties["label"], (apiextensionsv1.JSONSchemaProps{Type: "string"}); !cmp.Equal(got, want) {
		t.Errorf("the parameter is %v, want %v", got, want)
	}
	if got := spec["match"].Properties["namespaceSelector"].Type; got != "object" {
		t.Errorf("namespaceSelector is of type %q, want an object", got)
	}
}

func object(apiVersion, kind string, spec map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	u.SetName("thirdparty")
	if kind == "PeerAuthentication" {
		u.SetNamespace("default")
	}
	return u
}
