package convert_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
)

const samplesFolder = "../../config/samples"

// sampleFile is a file of samples.
type sampleFile struct {
	name, text string
	objects    []*unstructured.Unstructured
}

// sampleFiles are all that kubectl apply -R reads.
func sampleFiles(t *testing.T) (out []sampleFile) {
	t.Helper()
	err := filepath.WalkDir(samplesFolder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(samplesFolder, path)
		f := sampleFile{name: filepath.ToSlash(name), text: string(text)}
		decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
		for err == nil {
			o := &unstructured.Unstructured{}
			if err = decoder.Decode(&o.Object); err == nil {
				f.objects = append(f.objects, o)
			}
		}
		out = append(out, f)
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// chartDefault is the default grant of the chart's values.
func chartDefault(t *testing.T) *grant.Grant {
	t.Helper()
	g, err := convert.DefaultGrant(string(chartGrant(t)))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func chartGrant(t *testing.T) json.RawMessage {
	t.Helper()
	text, err := os.ReadFile("../../charts/cloudfront-tenant-operator/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var values struct {
		Grants struct{ Default json.RawMessage }
	}
	if err := yaml.Unmarshal(text, &values); err != nil {
		t.Fatal(err)
	}
	return values.Grants.Default
}

// sampleGrant is the EdgeGrant for the namespace of the samples.
func sampleGrant(t *testing.T) *v1alpha1.EdgeGrant {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(samplesFolder, "edgegrant", "samples.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	o := &v1alpha1.EdgeGrant{}
	if err := yaml.UnmarshalStrict(text, o); err != nil {
		t.Fatal(err)
	}
	return o
}

// typed is the object of a sample of a kind that is judged, nil for other kinds.
func typed(t *testing.T, o *unstructured.Unstructured) any {
	t.Helper()
	into := map[string]any{
		"DistributionTenant": &v1alpha1.DistributionTenant{}, "Distribution": &v1alpha1.Distribution{},
		"ConnectionGroup": &v1alpha1.ConnectionGroup{}, "TenantSource": &v1alpha1.TenantSource{},
	}[o.GetKind()]
	if into == nil {
		return nil
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, into); err != nil {
		t.Fatal(err)
	}
	return into
}

// Every sample is allowed as its comment says: by the default grant of the chart, or with the EdgeGrant that it names.
func TestSamplesAreGranted(t *testing.T) {
	t.Parallel()
	const needsMore = "# Needs more than the default grant, "
	byDefault := grant.NewSet(nil, chartDefault(t))
	granted := grant.NewSet(convert.Grants([]v1alpha1.EdgeGrant{*sampleGrant(t)}), chartDefault(t))
	readme := sampleRows(t)
	for _, f := range sampleFiles(t) {
		says := strings.Contains(f.text, needsMore) && strings.Contains(f.text, "# kubectl apply -f config/samples/edgegrant/samples.yaml\n")
		refused := false
		for _, o := range f.objects {
			namespace := grant.Namespace{Name: metav1.NamespaceDefault}
			wants := convert.Wants(typed(t, o))
			refused = refused || byDefault.For(namespace).Judge(namespace.Name, wants, time.Now()) != nil
			if r := granted.For(namespace).Judge(namespace.Name, wants, time.Now()); r != nil {
				t.Errorf("%s: even edgegrant/samples.yaml does not allow it: %s", f.name, r)
			}
		}
		if refused != says {
			t.Errorf("%s is refused by the default grant: %t, and says so: %t", f.name, refused, says)
		}
		if refused != strings.HasPrefix(readme[f.name], "grant") {
			t.Errorf("%s is refused by the default grant: %t, and README.md says that it needs %q", f.name, refused, readme[f.name])
		}
	}
}

// The grant of the samples is the default grant, and what it says that it has in addition.
func TestTheGrantOfTheSamplesExtendsTheDefault(t *testing.T) {
	t.Parallel()
	got, want := sampleGrant(t).Spec, v1alpha1.EdgeGrantSpec{}
	if err := json.Unmarshal(chartGrant(t), &want); err != nil {
		t.Fatal(err)
	}
	if len(got.Roles) == 0 || got.Adopt == nil || got.DNS.Takeover == "" || len(got.Sources.Tables) == 0 {
		t.Errorf("the grant of the samples lacks an addition: %+v", got)
	}
	got.Namespaces, got.Roles, got.Adopt, got.DNS.Takeover, got.Sources.Tables = v1alpha1.GrantedNamespaces{}, nil, nil, "", nil
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-default +samples without the additions:\n%s", d)
	}
}

// A source with a Secret says what the operator needs to read it.
func TestSamplesOfSourcesNameTheRight(t *testing.T) {
	t.Parallel()
	readme := sampleRows(t)
	for _, f := range sampleFiles(t) {
		secret := strings.Contains(f.text, "kind: Secret")
		if secret != strings.Contains(f.text, "--set 'rbac.secretNamespaces={default}'\n") || secret != strings.Contains(readme[f.name], "`rbac.secretNamespaces`") {
			t.Errorf("%s has a Secret: %t. Its comment and README.md have to name rbac.secretNamespaces exactly then", f.name, secret)
		}
	}
}

// kubectl apply -R does not make one sample of another, and no two have the same domain.
func TestSamplesApplyTogether(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	claim := func(f sampleFile, what string) {
		if other := seen[what]; other != "" {
			t.Errorf("%s and %s both have %s", other, f.name, what)
		}
		seen[what] = f.name
	}
	for _, f := range sampleFiles(t) {
		for _, o := range f.objects {
			claim(f, "the "+o.GetKind()+" "+o.GetName())
			if tenant, ok := typed(t, o).(*v1alpha1.DistributionTenant); ok {
				for _, d := range tenant.Spec.Domains {
					claim(f, "the domain "+d.Domain)
				}
			}
		}
	}
}

var sampleRow = regexp.MustCompile(`(?m)^\| \[([^\]]+)\]\(([^)]+)\) \| [^|]+ \| ?([^|]*?) ?\|$`)

// sampleRows are what README.md says that each file needs, and the rows are those of the folder.
func sampleRows(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(samplesFolder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for _, m := range sampleRow.FindAllStringSubmatch(string(text), -1) {
		if m[1] != m[2] {
			t.Errorf("README.md links %s to %s", m[1], m[2])
		}
		rows[m[1]] = m[3]
	}
	files := sampleFiles(t)
	for _, f := range files {
		if _, ok := rows[f.name]; !ok {
			t.Errorf("README.md does not have %s", f.name)
		}
	}
	if len(rows) != len(files) {
		t.Errorf("README.md has %d files, and the folder %d", len(rows), len(files))
	}
	return rows
}
