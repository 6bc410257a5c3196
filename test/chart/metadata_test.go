package chart_test

import (
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// annotation reads a list in an annotation of Chart.yaml, as Artifact Hub does.
func annotation(t *testing.T, name string) []map[string]any {
	t.Helper()
	text, ok := chartYAML(t)["annotations"].(map[string]any)["artifacthub.io/"+name].(string)
	if !ok {
		t.Fatalf("Chart.yaml has no annotation artifacthub.io/%s", name)
	}
	var out []map[string]any
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("artifacthub.io/%s: %v", name, err)
	}
	if len(out) == 0 {
		t.Fatalf("artifacthub.io/%s is empty", name)
	}
	return out
}

func chartYAML(t *testing.T) map[string]any {
	t.Helper()
	return readYAML(t, filepath.Join(chartDir, "Chart.yaml"))
}

// Artifact Hub shows the CRDs that the chart has, and no others.
func TestAnnotationsListTheCRDs(t *testing.T) {
	var want, got []string
	for _, crd := range render(t, "tenancy: {enabled: true}").find("CustomResourceDefinition") {
		kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
		versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
		for _, v := range versions {
			want = append(want, crd.GetName()+" "+kind+" "+v.(map[string]any)["name"].(string))
		}
	}
	for _, crd := range annotation(t, "crds") {
		got = append(got, crd["name"].(string)+" "+crd["kind"].(string)+" "+crd["version"].(string))
		if crd["displayName"] == nil || crd["description"] == nil {
			t.Errorf("%v has no displayName or description", crd["name"])
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("artifacthub.io/crds (-chart +annotation):\n%s", diff)
	}
}

// The examples are samples, which other tests apply, one for each CRD.
func TestAnnotationsShowSamples(t *testing.T) {
	var samples []map[string]any
	err := fs.WalkDir(os.DirFS("../../config/samples"), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".yaml" {
			return err
		}
		content, err := os.ReadFile(filepath.Join("../../config/samples", name))
		for _, o := range parse(t, string(content)).objects {
			samples = append(samples, o.Object)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[any]bool{}
	for _, example := range annotation(t, "crdsExamples") {
		kinds[example["kind"]] = true
		o := &unstructured.Unstructured{}
		text, err := yaml.Marshal(example)
		if err == nil {
			o = parse(t, string(text)).objects[0] // with the number types of the samples
		}
		if err != nil || !slices.ContainsFunc(samples, func(s map[string]any) bool { return reflect.DeepEqual(s, o.Object) }) {
			t.Errorf("the example %v %v is not in config/samples", example["kind"], o.GetName())
		}
	}
	if crds := annotation(t, "crds"); len(kinds) != len(crds) {
		t.Errorf("there are examples of %d CRDs, want %d", len(kinds), len(crds))
	}
}

func TestAnnotationsNameTheImage(t *testing.T) {
	images := annotation(t, "images")
	if want := render(t, "{}").container(t).Image; len(images) != 1 || images[0]["image"] != want {
		t.Errorf("artifacthub.io/images is %v, want %s", images, want)
	}
}

// Metadata that users look for before they install: Artifact Hub ignores annotations with other values.
func TestChartMetadata(t *testing.T) {
	c := chartYAML(t)
	for _, field := range []string{"description", "home", "icon", "sources", "keywords", "maintainers", "kubeVersion", "appVersion"} {
		if c[field] == nil {
			t.Errorf("Chart.yaml has no %s", field)
		}
	}
	annotations := c["annotations"].(map[string]any)
	for name, want := range map[string]string{
		"category": "networking", "license": "Apache-2.0", "operator": "true", "operatorCapabilities": "Full Lifecycle",
		"prerelease": "true", "containsSecurityUpdates": "false", // v1alpha1
	} {
		if got := annotations["artifacthub.io/"+name]; got != want {
			t.Errorf("artifacthub.io/%s is %v, want %q", name, got, want)
		}
	}
	for _, link := range annotation(t, "links") {
		if page, local := strings.CutPrefix(link["url"].(string), c["home"].(string)+"/blob/main/"); local {
			if _, err := os.Stat(filepath.Join("../..", page)); err != nil {
				t.Errorf("the link %v: %v", link["name"], err)
			}
		}
	}
	for _, change := range annotation(t, "changes") {
		if !slices.Contains([]string{"added", "changed", "deprecated", "removed", "fixed", "security"}, change["kind"].(string)) || change["description"] == nil {
			t.Errorf("%v is no change that Artifact Hub knows", change)
		}
	}
}

func TestIconIsAPicture(t *testing.T) {
	icon := chartYAML(t)["icon"].(string)
	if !strings.HasSuffix(icon, "/main/charts/cloudfront-tenant-operator/icon.svg") {
		t.Errorf("the icon is %s, which is not in the chart", icon)
	}
	decoder := xml.NewDecoder(strings.NewReader(string(read(t, "icon.svg"))))
	elements := 0
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok {
			if elements == 0 && start.Name.Local != "svg" {
				t.Errorf("the icon is a %s, want svg", start.Name.Local)
			}
			elements++
		}
	}
	if elements < 2 {
		t.Error("the icon is empty")
	}
}
