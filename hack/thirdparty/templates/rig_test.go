// Package templates tests the ConstraintTemplates of the chart in Gatekeeper's own engine.
package templates_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	templatesv1 "github.com/open-policy-agent/frameworks/constraint/pkg/apis/templates/v1"
	"github.com/open-policy-agent/frameworks/constraint/pkg/client/reviews"
	"github.com/open-policy-agent/gatekeeper/v3/pkg/gator"
	"github.com/open-policy-agent/gatekeeper/v3/pkg/util"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// review is a request that a constraint judges, its objects in YAML.
type review struct {
	// parameters are those of the constraint; none if empty.
	parameters string
	// object is the new one, empty for a deletion; old is the one before, empty for a creation.
	object, old string
	// want are texts of which each is in a reason of its own; the request passes without any.
	want []string
}

// judge checks what a constraint of the kind says about the request.
func judge(t *testing.T, kind string, r review) {
	t.Helper()
	got := reasons(t, kind, r)
	if len(got) != len(r.want) {
		t.Fatalf("the reasons are %q, want those with %q", got, r.want)
	}
	for _, want := range r.want {
		if !slices.ContainsFunc(got, func(reason string) bool { return strings.Contains(reason, want) }) {
			t.Errorf("the reasons are %q, want one with %q", got, want)
		}
	}
}

// reasons returns why the request is refused.
func reasons(t *testing.T, kind string, r review) []string {
	t.Helper()
	client := newClient(t, kind)
	if _, err := client.AddConstraint(t.Context(), constraint(t, kind, r.parameters)); err != nil {
		t.Fatal(err)
	}
	responses, err := client.Review(t.Context(), request(t, r), reviews.EnforcementPoint(util.GatorEnforcementPoint))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, result := range responses.Results() {
		out = append(out, result.Msg)
	}
	return out
}

func newClient(t *testing.T, kind string) gator.Client {
	t.Helper()
	client, err := gator.NewOPAClient(false, gator.WithK8sCEL())
	if err != nil {
		t.Fatal(err)
	}
	template, err := load(t, kind).ToVersionless()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.AddTemplate(t.Context(), template); err != nil {
		t.Fatal(err)
	}
	return client
}

func load(t *testing.T, kind string) *templatesv1.ConstraintTemplate {
	t.Helper()
	path := filepath.Join("..", "..", "..", "charts", "cloudfront-tenant-operator", "files", "constrainttemplates", strings.ToLower(kind)+".yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	template := &templatesv1.ConstraintTemplate{}
	if err := yaml.UnmarshalStrict(text, template); err != nil {
		t.Fatal(err)
	}
	return template
}

func constraint(t *testing.T, kind, parameters string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{Object: map[string]any{}}
	if parameters != "" {
		u.Object["spec"] = map[string]any{"parameters": decode(t, parameters)}
	}
	u.SetAPIVersion("constraints.gatekeeper.sh/v1beta1")
	u.SetKind(kind)
	u.SetName("test")
	return u
}

func request(t *testing.T, r review) *admissionv1.AdmissionRequest {
	t.Helper()
	out := &admissionv1.AdmissionRequest{Namespace: "customer", Operation: admissionv1.Update}
	switch "" {
	case r.old:
		out.Operation = admissionv1.Create
	case r.object:
		out.Operation = admissionv1.Delete
	}
	for text, raw := range map[string]*runtime.RawExtension{r.object: &out.Object, r.old: &out.OldObject} {
		if text == "" {
			continue
		}
		object := &unstructured.Unstructured{Object: decode(t, text)}
		object.SetName("test")
		object.SetNamespace(out.Namespace)
		gvk := object.GroupVersionKind()
		out.Name, out.Kind = object.GetName(), metav1.GroupVersionKind{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind}
		var err error
		if raw.Raw, err = json.Marshal(object); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return out
}

// workloads are the kinds that have a pod, around the %s of its spec.
var workloads = map[string]string{
	"Pod":                   `{apiVersion: v1, kind: Pod, spec: %s}`,
	"PodTemplate":           `{apiVersion: v1, kind: PodTemplate, template: {spec: %s}}`,
	"ReplicationController": `{apiVersion: v1, kind: ReplicationController, spec: {template: {spec: %s}}}`,
	"ReplicaSet":            `{apiVersion: apps/v1, kind: ReplicaSet, spec: {template: {spec: %s}}}`,
	"Deployment":            `{apiVersion: apps/v1, kind: Deployment, spec: {template: {spec: %s}}}`,
	"StatefulSet":           `{apiVersion: apps/v1, kind: StatefulSet, spec: {template: {spec: %s}}}`,
	"DaemonSet":             `{apiVersion: apps/v1, kind: DaemonSet, spec: {template: {spec: %s}}}`,
	"Job":                   `{apiVersion: batch/v1, kind: Job, spec: {template: {spec: %s}}}`,
	"CronJob":               `{apiVersion: batch/v1, kind: CronJob, spec: {jobTemplate: {spec: {template: {spec: %s}}}}}`,
}

func pod(spec string) string { return strings.Replace(workloads["Pod"], "%s", spec, 1) }

// TestSamePods shows that both templates find pods by the same words.
func TestSamePods(t *testing.T) {
	variables := func(kind string) []any {
		source := load(t, kind).Spec.Targets[0].Code[0].Source.Value.(map[string]any)
		return source["variables"].([]any)[:2]
	}
	if diff := cmp.Diff(variables("KleffAllowedRegistries"), variables("KleffPodSecurity")); diff != "" {
		t.Errorf("the variables pods and pod differ (-registries +security):\n%s", diff)
	}
}

// TestOtherKinds shows that what has no pod passes, whatever its spec looks like.
func TestOtherKinds(t *testing.T) {
	for name, object := range map[string]string{
		"an object without a spec":              `{apiVersion: v1, kind: ConfigMap, data: {a: b}}`,
		"a kind that looks like a pod":          `{apiVersion: example.com/v1, kind: Pod, spec: {hostNetwork: true, containers: [{name: a, image: evil.example.com/x}]}}`,
		"a scale":                               `{apiVersion: autoscaling/v1, kind: Scale, spec: {replicas: 3}}`,
		"a binding":                             `{apiVersion: v1, kind: Binding, target: {kind: Node, name: a}}`,
		"a spec that is text":                   `{apiVersion: example.com/v1, kind: Odd, spec: text}`,
		"a Deployment that is not complete yet": `{apiVersion: apps/v1, kind: Deployment, spec: {}}`,
		"a pod without a spec":                  `{apiVersion: v1, kind: Pod}`,
		"a pod whose containers are null":       `{apiVersion: v1, kind: Pod, spec: {containers: null}}`,
	} {
		t.Run(name, func(t *testing.T) {
			judge(t, "KleffAllowedRegistries", review{parameters: `{registries: [good.example.com]}`, object: object})
			judge(t, "KleffPodSecurity", review{parameters: `{runAsNonRoot: true}`, object: object})
		})
	}
}

// TestOlder shows what may be done with an object that is older than the constraint.
func TestOlder(t *testing.T) {
	const (
		older = `{containers: [{name: a, image: evil.example.com/x, securityContext: {privileged: true}}]}`
		other = `{containers: [{name: a, image: evil.example.com/y, securityContext: {privileged: true}}]}`
	)
	for kind, parameters := range map[string]string{"KleffAllowedRegistries": `{registries: [good.example.com]}`, "KleffPodSecurity": "{}"} {
		refusal := map[string]string{"KleffAllowedRegistries": "evil.example.com/y", "KleffPodSecurity": "privileged"}[kind]
		for name, template := range workloads {
			object := func(spec string) string { return strings.Replace(template, "%s", spec, 1) }
			finalized := strings.Replace(object(older), "{", "{metadata: {finalizers: [a/b]}, ", 1)
			t.Run(kind+"/"+name, func(t *testing.T) {
				for sentence, r := range map[string]review{
					"it may be deleted":             {old: object(older)},
					"a finalizer may be removed":    {object: object(older), old: finalized},
					"it can't get another image":    {object: object(other), old: object(older), want: []string{refusal}},
					"it can't be made again":        {object: object(older), want: []string{strings.TrimSuffix(refusal, "/y")}},
					"what is good can't become bad": {object: object(other), old: object(`{containers: []}`), want: []string{refusal}},
				} {
					t.Run(sentence, func(t *testing.T) {
						r.parameters = parameters
						judge(t, kind, r)
					})
				}
			})
		}
	}
}
