// Package limits shows, on a real API server, what CRDs refuse and what they don't: a table of cases for each kind, each case
// one limit from both sides, and a walk over the schema that finds the limits that no case shows.
package limits

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// Case shows one limit from both sides. Both objects are the least valid one with these fields of
// spec set; a field that is null is taken away.
type Case struct {
	Name     string // metadata.name of both, where it matters
	Stored   string // spec fields of the object before, YAML; empty where both are created
	Accepted string // spec fields, YAML
	Refused  string // spec fields, YAML
	// Says are pieces of the refusal: the field, the value, and what to do.
	Says []string
}

// Kind is a kind whose limits are shown.
type Kind struct {
	schema.GroupVersionKind
	// Least is the spec of the least valid object, YAML.
	Least string
	Cases map[string]Case
	// Elsewhere are fields whose limits another table shows, such as spec.template.
	Elsewhere []string
}

// Show tries each case of the kind, and reports the limits of its schema that none of them shows. The namespace is empty for
// a kind that has none.
func (k Kind) Show(t *testing.T, kube client.Client, namespace string, crd *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	var refusals []string
	for name, tc := range k.Cases {
		t.Run(name, func(t *testing.T) { refusals = append(refusals, k.show(t, kube, namespace, tc)) })
	}
	for _, limit := range ofSchema(t, crd, k.Elsewhere) {
		if !slices.ContainsFunc(refusals, limit.refuses.MatchString) {
			t.Errorf("no object in this table is refused for %s", limit.name)
		}
	}
}

// show tries one case, and returns the refusal.
func (k Kind) show(t *testing.T, kube client.Client, namespace string, tc Case) string {
	t.Helper()
	if err := k.Try(t, kube, namespace, tc, tc.Accepted); err != nil {
		t.Errorf("the object that should be accepted is refused: %v\n%s", err, tc.Accepted)
	}
	err := k.Try(t, kube, namespace, tc, tc.Refused)
	if err == nil {
		t.Fatalf("the object that should be refused is accepted\n%s", tc.Refused)
	}
	if !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
		t.Fatalf("refused for another reason than its content: %v", err)
	}
	for _, piece := range tc.Says {
		if !strings.Contains(err.Error(), piece) {
			t.Errorf("the refusal does not say %q: %v", piece, err)
		}
	}
	return err.Error()
}

// Try asks the API server whether it would take the object with these fields of spec, or the change of the one that is stored before.
func (k Kind) Try(t *testing.T, kube client.Client, namespace string, tc Case, fields string) error {
	t.Helper()
	if tc.Stored == "" {
		return kube.Create(t.Context(), k.Object(t, namespace, cmp.Or(tc.Name, "shop"), fields), client.DryRunAll)
	}
	stored := k.Object(t, namespace, tc.Name, tc.Stored)
	if tc.Name == "" {
		stored.SetGenerateName("shop-")
	}
	if err := kube.Create(t.Context(), stored); err != nil {
		t.Fatalf("storing the object before: %v\n%s", err, tc.Stored)
	}
	changed := k.Object(t, namespace, stored.GetName(), fields)
	changed.SetResourceVersion(stored.GetResourceVersion())
	answer := kube.Update(t.Context(), changed, client.DryRunAll)
	// The next case may have an object of that name, too.
	if err := kube.Delete(t.Context(), stored); err != nil {
		t.Errorf("deleting the object: %v", err)
	}
	return answer
}

// Object is the least valid object of the kind with the given fields of spec set. It is untyped, so that it
// holds exactly what a user could have written.
func (k Kind) Object(t *testing.T, namespace, name, fields string) *unstructured.Unstructured {
	t.Helper()
	spec, given := readFields(t, k.Least), readFields(t, fields)
	for field, value := range given {
		if value == nil {
			delete(spec, field)
			continue
		}
		spec[field] = value
	}
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	obj.SetGroupVersionKind(k.GroupVersionKind)
	obj.SetNamespace(namespace)
	obj.SetName(name)
	return obj
}

func readFields(t *testing.T, text string) map[string]any {
	t.Helper()
	fields := map[string]any{}
	if err := yaml.UnmarshalStrict([]byte(text), &fields); err != nil {
		t.Fatalf("reading the fields of the case: %v\n%s", err, text)
	}
	return fields
}

// CRDs reads those of a group as they are committed, by kind.
func CRDs(t *testing.T, folder, group string) map[string]*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	crds := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(text, crd); err != nil {
			t.Fatal(err)
		}
		if crd.Spec.Group == group {
			crds[crd.Spec.Names.Kind] = crd
		}
	}
	if len(crds) == 0 {
		t.Fatalf("there are no CRDs of %s in %s", group, folder)
	}
	return crds
}

// Merged joins tables of cases.
func Merged(tables ...map[string]Case) map[string]Case {
	all := map[string]Case{}
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}

// About picks the cases of some fields.
func About(cases map[string]Case, fields ...string) map[string]Case {
	picked := map[string]Case{}
	for name, tc := range cases {
		for _, field := range fields {
			if strings.HasPrefix(tc.Accepted, field+": ") {
				picked[name] = tc
			}
		}
	}
	return picked
}

// Padded lengthens a text to n characters.
func Padded(s string, n int) string { return s + strings.Repeat("0", n-len(s)) }

// Quote quotes a text for YAML.
func Quote(s string) string { return fmt.Sprintf("%q", s) }
