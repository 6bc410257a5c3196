package kube_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/thirdparty"
)

// Objects of the domain are stored as they are, by the rules of Kubernetes and of Istio. Additions of the API server
// are no difference: one would be reverted again and again.
func TestWhatIsBuiltIsKept(t *testing.T) {
	crds := thirdparty.IstioCRDs(t)
	thirdparty.Install(t, plane.RESTConfig(), crds...)
	t.Cleanup(func() { thirdparty.Uninstall(t, admin, crds...) })
	for _, kind := range []string{"KleffAllowedRegistries", "KleffPodSecurity"} {
		define(t, plan.ConstraintKind(kind), apiextensionsv1.ClusterScoped, "v1beta1")
	}
	files, err := filepath.Glob("../../domain/plan/testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no golden files: %v", err)
	}
	r := start(t, plane.RESTConfig(), core...)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			for _, o := range manifests(t, file, name) {
				var answer plan.Live
				r.Eventually(func() (err error) { // A kind is served a moment after it was defined.
					answer, err = r.Create(t.Context(), o)
					return err
				}, eventually).Should(Succeed(), o.Ref())
				stored, err := r.Read(t.Context(), o.Kind, o.Namespace, o.Name)
				if err != nil {
					t.Fatal(err)
				}
				if !answer.UpToDate(o) || !stored.UpToDate(o) {
					t.Errorf("%s is not kept (-sent +stored):\n%s", o.Ref(), cmp.Diff(o, stored.Object))
				}
			}
		})
	}
}

// manifests reads objects, and makes them those of a namespace of the test's own.
func manifests(t *testing.T, file, name string) []plan.Object {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []plan.Object
	for decoder := yaml.NewYAMLToJSONDecoder(bytes.NewReader(text)); ; {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		if len(raw) == 0 {
			continue // A document of comments.
		}
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(raw); err != nil {
			t.Fatal(err)
		}
		out = append(out, named(u, name).Marked())
	}
}

func named(u *unstructured.Unstructured, name string) plan.Object {
	gvk := u.GroupVersionKind()
	o := plan.Object{
		Kind: plan.Kind{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind}, Namespace: u.GetNamespace(), Name: u.GetName(),
		Labels: u.GetLabels(), Annotations: u.GetAnnotations(), Body: u.Object,
	}
	for _, key := range []string{"apiVersion", "kind", "metadata"} {
		delete(o.Body, key)
	}
	switch {
	case o.Kind == plan.KindNamespace:
		o.Name = name
	case o.Namespace != "":
		o.Namespace = name
	default: // Constraints are of the whole cluster, where their names have to differ.
		o.Name += "-" + name
	}
	return o
}
