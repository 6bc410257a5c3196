package v1alpha1_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// The introduction of each page of a kind has a complete manifest of it, which the API server takes.
func TestPagesBeginWithAManifest(t *testing.T) {
	namespace := newNamespace(t)
	for _, kind := range []string{"ConnectionGroup", "Distribution", "DistributionTenant", "DomainClaim", "Invalidation", "TenantSource"} {
		t.Run(kind, func(t *testing.T) {
			page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "spec", strings.ToLower(kind)+".md"))
			if err != nil {
				t.Fatal(err)
			}
			introduction, _, _ := strings.Cut(string(page), "\n## ")
			block := yamlBlock.FindStringSubmatch(introduction)
			if block == nil {
				t.Fatal("the page has no manifest before its first section")
			}
			obj := &unstructured.Unstructured{}
			if err := yaml.UnmarshalStrict([]byte(block[1]), &obj.Object); err != nil {
				t.Fatal(err)
			}
			if obj.GetKind() != kind {
				t.Errorf("the manifest is a %s", obj.GetKind())
			}
			if kind != "DomainClaim" {
				obj.SetNamespace(namespace)
			}
			if err := kube.Create(t.Context(), obj, client.DryRunAll); err != nil {
				t.Error(err)
			}
		})
	}
}
