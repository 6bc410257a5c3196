// Package kubectl reads manifests and lists objects as kubectl does.
package kubectl

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// Read reads all objects of a YAML file.
func Read(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		obj := &unstructured.Unstructured{}
		if err := decoder.Decode(&obj.Object); errors.Is(err, io.EOF) {
			return objects
		} else if err != nil {
			t.Fatalf("reading %s: %v", file, err)
		}
		if len(obj.Object) > 0 {
			objects = append(objects, obj)
		}
	}
}

// Given is what is stored without the fields that the manifest doesn't have, which are defaults.
func Given(stored, manifest any) any {
	if items, ok := stored.([]any); ok {
		wanted, isList := manifest.([]any)
		if !isList || len(wanted) != len(items) {
			return stored
		}
		kept := make([]any, len(items))
		for i := range items {
			kept[i] = Given(items[i], wanted[i])
		}
		return kept
	}
	given, isMap := manifest.(map[string]any)
	fields, ok := stored.(map[string]any)
	if !isMap || !ok {
		return stored
	}
	kept := map[string]any{}
	for field, value := range fields {
		if wanted, ok := given[field]; ok {
			kept[field] = Given(value, wanted)
		}
	}
	return kept
}

// Table lists the objects of a namespace, or those of a kind that has none, in the form that kubectl asks for.
func Table(t *testing.T, config *rest.Config, gv schema.GroupVersion, namespace, resource string) *metav1.Table {
	t.Helper()
	path := []string{"apis", gv.Group, gv.Version}
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	text, err := discovery.NewDiscoveryClientForConfigOrDie(config).RESTClient().Get().
		AbsPath(append(path, resource)...).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").
		DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	table := &metav1.Table{}
	if err := json.Unmarshal(text, table); err != nil {
		t.Fatal(err)
	}
	return table
}

// Columns returns those of kubectl get, and the further ones of kubectl get -o wide.
func Columns(table *metav1.Table) (narrow, wide []string) {
	for _, column := range table.ColumnDefinitions {
		if column.Priority == 0 {
			narrow = append(narrow, column.Name)
			continue
		}
		wide = append(wide, column.Name)
	}
	return narrow, wide
}
