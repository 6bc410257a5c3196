package convert

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

func TestPaused(t *testing.T) {
	t.Parallel()
	if paused, note := Paused(nil); paused || note != "" {
		t.Error("an object without the annotation is paused")
	}
	for value, want := range map[string]bool{"true": true, "false": false} {
		if paused, note := Paused(map[string]string{v1alpha1.AnnotationPaused: value}); paused != want || note != "" {
			t.Errorf("%q: %v, %q", value, paused, note)
		}
	}
	for _, value := range []string{"yes", "True", "1", " true", "", "False"} {
		paused, note := Paused(map[string]string{v1alpha1.AnnotationPaused: value})
		want := fmt.Sprintf(` The annotation cloudfront-tenant-operator.io/paused has the value %q, which is neither "true" nor "false", so it counts as "true". Set it to "true" to keep the object paused.`, value)
		if d := cmp.Diff(want, note); !paused || d != "" {
			t.Errorf("%q: %v (-want +got):\n%s", value, paused, d)
		}
	}
}

func TestIgnoredAnnotations(t *testing.T) {
	t.Parallel()
	heeded := []string{v1alpha1.AnnotationPaused, v1alpha1.AnnotationReconcileNow, v1alpha1.AnnotationAbandonDNS}
	for name, tt := range map[string]struct {
		key, value string
		want       []string
	}{
		"one that the kind heeds":         {key: v1alpha1.AnnotationPaused, value: "yes"},
		"one of another tool":             {key: "example.com/pause", value: "true"},
		"one of the operator":             {key: v1alpha1.AnnotationCreatePending, value: "2026-03-01T12:00:00Z"},
		"a switch that is set":            {key: v1alpha1.AnnotationAbandonDNS, value: "true"},
		"a switch whose value is unclear": {v1alpha1.AnnotationAbandonDNS, "yes", []string{`The annotation cloudfront-tenant-operator.io/abandon-dns has no effect with the value "yes": set it to "true".`}},
		"one that is misspelled": {
			"cloudfront-tenant-operator.io/pause", "true",
			[]string{`The operator does not know the annotation "cloudfront-tenant-operator.io/pause", so it has no effect. Did you mean cloudfront-tenant-operator.io/paused?`},
		},
		"one that resembles none": {
			"cloudfront-tenant-operator.io/owner", "web",
			[]string{`The operator does not know the annotation "cloudfront-tenant-operator.io/owner", so it has no effect.`},
		},
		"one of another kind": {v1alpha1.AnnotationSyncNow, "1", []string{"The annotation cloudfront-tenant-operator.io/sync-now has no effect on objects of this kind."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(tt.want, IgnoredAnnotations(map[string]string{tt.key: tt.value}, heeded)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// An annotation that is added to the API is not taken for a mistake.
func TestEveryAnnotationIsKnown(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "../../api/cloudfront/v1alpha1/metadata.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(v.Names[0].Name, "Annotation") {
			return true
		}
		suffix, err := strconv.Unquote(v.Values[0].(*ast.BinaryExpr).Y.(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		if key := v1alpha1.GroupName + suffix; !slices.Contains(usersAnnotations, key) && !slices.Contains(ownAnnotations, key) {
			t.Errorf("%s is not known", key)
		}
		found++
		return true
	})
	if want := len(usersAnnotations) + len(ownAnnotations); found != want {
		t.Errorf("%d annotations are known, and %d exist", want, found)
	}
}
